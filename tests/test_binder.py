"""Binder makes of this repository what `binder/` says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
COPY = "COPY --chown=0:0 src/ ${REPO_DIR}/"
INSTALL = 'pip install --no-cache-dir -r "binder/requirements.txt"'


def test_binder_installs_the_lab_extra_from_the_repository():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    dockerfile = done.stdout
    assert 0 < dockerfile.index(COPY) < dockerfile.index(INSTALL)  # "." has to be there by then
    assert "python=3.11" in done.stderr
    assert ".[lab]" in (REPOSITORY / "binder" / "requirements.txt").read_text().splitlines()
