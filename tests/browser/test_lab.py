"""What the other tests take for granted."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.server import end

REPOSITORY = Path(__file__).parents[2]
LEAK = """async () => {
  const image = Object.assign(new Image(), { src: "https://image.example/a.png" });
  const socket = new WebSocket("wss://socket.example/");
  const attempts = [
    image.decode(),
    new Promise((open, fail) => Object.assign(socket, { onopen: open, onerror: fail })),
    fetch("https://fetch.example/"),
    fetch("http://192.0.2.1/"),
  ];
  return (await Promise.allSettled(attempts)).map(attempt => attempt.status);
}"""


def test_nothing_outside_is_reached_and_every_attempt_is_noticed(lab):
    lab.alone()
    lab.page.goto(f"{lab.server.url}login")
    assert lab.strangers == []
    assert lab.page.evaluate(LEAK) == ["rejected"] * 4
    assert sorted(lab.strangers) == [
        "http://192.0.2.1/",
        "https://fetch.example/",
        "https://image.example/a.png",
        "https://socket.example/",
    ]


def test_pages_of_one_notebook_share_a_kernel_and_a_restart_empties_it(lab):
    lab.open_notebook(["import os; print(os.getpid(), 'x' in dir()); x = 1"])
    lab.run_all()
    other = lab.second_view()
    first = other.outputs(0).inner_text().strip()
    assert first.endswith("False")
    other.run_cell(0)
    assert other.outputs(0).inner_text().strip() == first.replace("False", "True")
    lab.restart_kernel()
    lab.run_cell(0)
    assert lab.outputs(0).inner_text().strip().endswith("False")


@pytest.fixture
def started(tmp_path):
    """Start `make lab` as on a machine that nobody has configured; the address that it prints."""
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = ["make", "lab", "LABFLAGS=--no-browser --port=0 --ip=127.0.0.1"]
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=os.environ | places,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = ""
    for line in process.stdout:
        said += line
        if address := re.search(r"http://127\S+token=\w+", line):
            yield address[0]
            break
    else:
        pytest.fail(said)
    end(process)


def test_make_lab_opens_the_first_notebook(started, browser):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(started)
        expect(page.locator(".jp-Notebook h1")).to_contain_text("A deep agent in a notebook")
        expect(page.locator("#jp-main-statusbar")).to_contain_text("Idle")
