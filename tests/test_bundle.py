"""What the browser gets is what its sources say, and it is in the wheel."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from deepnb.widgets import protocol

REPOSITORY = Path(__file__).parents[1]
WIDGETS = REPOSITORY / "deepnb" / "widgets"
FRONTEND = WIDGETS / "frontend"
STATIC = WIDGETS / "static"
BUNDLE = STATIC / "panel.js"


def npm(*arguments, **options):
    if not (FRONTEND / "node_modules").is_dir() or not shutil.which("npm"):
        pytest.fail(
            "The panel's tools are missing: install Node.js 20 or newer, then `make panel`."
        )
    command = ["npm", "--prefix", str(FRONTEND), "run", "--silent", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def test_both_sides_speak_the_same_protocol():
    made = npm("protocol", input=json.dumps(protocol.schema()))
    assert made == (FRONTEND / "src" / "protocol.ts").read_text(), "Run `make protocol`."


def test_the_bundle_is_made_from_its_sources(tmp_path):
    npm("build", "--", str(tmp_path))
    for name in ("panel.js", "files.js", "qr.js", "licences.txt"):
        # Not `==`: pytest would try to show how half a megabyte differs.
        assert not _differs(tmp_path / name, STATIC / name), "Run `make panel`."


def _differs(one, other):
    return one.read_bytes() != other.read_bytes()


def test_the_bundle_is_small_enough_to_be_in_every_notebook():
    assert BUNDLE.stat().st_size <= 450_000


def test_the_lock_file_names_no_host():
    assert "://" not in "".join(
        line for line in (FRONTEND / "package-lock.json").open() if '"resolved"' in line
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return folder


def test_the_wheel_has_the_bundle_and_not_what_it_is_made_from(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        for name in ("panel.js", "files.js", "qr.js"):
            path = f"deepnb/widgets/static/{name}"
            assert files.read(path) == (STATIC / name).read_bytes()
        assert "deepnb/widgets/protocol.py" in files.namelist()
        assert "deepnb/widgets/static/licences.txt" in files.namelist()
        assert not [name for name in files.namelist() if "/frontend/" in name]


def test_the_source_distribution_has_both(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {
        "deepnb/widgets/static/panel.js",
        "deepnb/widgets/frontend/src/protocol.ts",
        "deepnb/widgets/frontend/package-lock.json",
    } <= names
    assert not [name for name in names if "node_modules" in name]
