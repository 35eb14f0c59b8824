"""What the README shows works, in its order, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCKS, start=1):
        exec(compile(block, f"README example {number}", "exec"), names)
    printed = capsys.readouterr().out
    assert "a reduction of 38 %" in printed
    assert "Create /workspace/pump.md" in printed
    assert "waiting for approval of write_file" in printed
    assert "I have looked." in printed
    assert re.search(r"<Report .* \d+ quoted", printed)
    assert re.search(r"S\d +lines \S+ +quoted", printed)
    assert (tmp_path / "lake" / "pump.md").exists()
    assert (tmp_path / "lake" / "cost.md").exists()
    assert "## Sources" in (tmp_path / "report.md").read_text()


def test_the_first_example_is_short():
    assert len(BLOCKS[0].strip().splitlines()) <= 10


NAMED = re.findall(r"`(notebooks/[^`]+|[a-z]+\.txt)`", README)
PICTURES = re.findall(r'src(?:set)?="([^"]+)"', README)
BADGES = re.findall(r"\]\(https://\S+?/main\S*?/(notebooks/\S+)\)", README)


@pytest.mark.parametrize("link", [*NAMED, *PICTURES, *BADGES])
def test_the_files_it_names_exist(link):
    assert (Path(__file__).parents[1] / link).exists()


def test_its_pictures_are_small_and_its_badges_open_a_notebook():
    assert len(BADGES) == 2
    assert all((Path(__file__).parents[1] / path).stat().st_size < 150_000 for path in PICTURES)
