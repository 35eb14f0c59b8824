"""How fast the file explorer is in a real browser, and what it costs the kernel.

A real JupyterLab, a Chromium without a window, and the panel as a reader has it. Upload has a peer
in the same run: a bare anywidget that sends the same parts, as many of them unanswered.

    python benchmarks/explorer.py [upload] [listing] [grep] [read] [sync]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psutil  # type: ignore[import-untyped]  # it has no types

from benchmarks.panel import CLICK, Bench, Row, run, times_of, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator

    from tests.browser.lab import Lab

MB = 1024 * 1024
LARGE = 50 * MB
MANY = 10_000
GREPPED, GREPPED_SIZE, FOUND = 1_000, 10_000, 20
READS = 20
SYNCED, SYNCED_SIZE = 500, 4096
ROUNDS = 3

UPLOAD_LIMIT = 5.0  # seconds: 10 MB in each
MEMORY_LIMIT = 60.0
LISTING_LIMIT = 200.0
GREP_LIMIT = 500.0
WIRE_LIMIT = 1.0
READ_LIMIT = 50.0
FIRST_LIMIT = 10.0
UNCHANGED_LIMIT = 1.0

IMPORT = "from benchmarks import explorer_notebook as bench"
EXPLORER = [IMPORT, "session = bench.opened(); session.explorer()"]
PANEL = [IMPORT, "session = bench.opened(); session"]
KEEP = "bench.keep_times()"

# All that crosses the wire from now on, in both directions.
LISTEN = """() => {
  const latin = new TextDecoder("latin1");
  const heard = new WeakSet();
  window.wire = [];
  const note = (way, time, data) => {
    const bytes = data.byteLength ?? data.length;
    const isShort = bytes < 200_000;
    const text = isShort ? (typeof data === "string" ? data : latin.decode(data)) : "";
    window.wire.push({ way, time, bytes, text });
  };
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    if (!heard.has(this)) {
      heard.add(this);
      this.addEventListener("message", ({ timeStamp, data }) => note("came", timeStamp, data));
    }
    note("sent", performance.now(), data);
    return send.call(this, data);
  };
}"""

# Adds files to My computer, as if they had been picked.
ADD = """([names, texts]) => {
  const data = new DataTransfer();
  names.forEach((name, at) => data.items.add(new File([texts[at % texts.length]], name)));
  const input = document.querySelector("[data-pick=files]");
  input.files = data.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}"""

# Milliseconds from a click on the tab to a frame with rows.
LIST = """async tab => {
  const frame = () => new Promise(requestAnimationFrame);
  const start = performance.now();
  tab.click();
  while (!document.querySelector("[data-home=mine] [role=treeitem]")) await frame();
  await frame();
  return performance.now() - start;
}"""

# Milliseconds from a click to a frame in which a row of My computer says this.
TIED = """async ([button, path, words]) => {
  const frame = () => new Promise(requestAnimationFrame);
  const start = performance.now();
  button.click();
  const row = `[data-home=mine] [data-path="${path}"] .dn-tie`;
  while (document.querySelector(row)?.textContent.trim() !== words) await frame();
  await frame();
  return performance.now() - start;
}"""


class Peak:
    """The most memory that a process has had, more than at first, in MB."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._first = self._most = process.memory_info().rss
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def growth(self) -> float:
        """How much it was."""
        return float(self._most - self._first) / MB

    def _look(self) -> None:
        while not self._is_over.wait(0.01):
            self._most = max(self._most, self._process.memory_info().rss)


# In the page


def add(lab: Lab, names: list[str], texts: list[str]) -> float:
    """Add files to My computer; gives the seconds that it takes until all are there."""
    start = time.monotonic()
    lab.page.locator("[data-pick=files]").wait_for(state="attached")
    lab.page.evaluate(ADD, [names, texts])
    note = f"Added {len(names):,} files." if len(names) > 1 else f"Added {names[0]}."
    wait_for(lambda: note.replace(",", "") in notes(lab).replace(",", ""))
    return time.monotonic() - start


def notes(lab: Lab) -> str:
    """Give what the panel has told last."""
    return str(lab.page.locator(".dn-files-notes").first.text_content())


def row(lab: Lab, path: str) -> Locator:
    """Give the row of a file of My computer."""
    found: Locator = lab.page.locator(f'[data-home=mine] [data-path="{path}"]')
    return found


def pick(lab: Lab, path: str, command: str) -> Locator:
    """Open the menu of a row; gives one of its commands."""
    row(lab, path).get_by_role("button", name="More about").click()
    found: Locator = lab.page.get_by_role("menuitem", name=command)
    return found


def wire(lab: Lab) -> list[dict[str, Any]]:
    """Give what has crossed the wire since the last look."""
    crossed: list[dict[str, Any]] = lab.page.evaluate("() => window.wire.splice(0)")
    return crossed


def rest(lab: Lab, seconds: float = 4) -> None:
    """Let what was done before come to its end."""
    lab.page.wait_for_timeout(1000 * seconds)


@contextmanager
def random_file(size: int) -> Iterator[Path]:
    """Make a file that nobody can compress."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.bin")
        path.write_bytes(os.urandom(size))
        yield path


# Parts


def upload(bench: Bench) -> list[Row]:
    """Copy a large file to the workspace: from the click to the kernel's having it in its place."""
    ours, theirs, grown, bare_grown = [], [], [], []
    with random_file(LARGE) as path:
        for _ in range(ROUNDS):
            seconds, memory = upload_by_panel(bench, path)
            bare_seconds, bare_memory = upload_bare(bench, path)
            ours.append(seconds)
            theirs.append(bare_seconds)
            grown.append(memory)
            bare_grown.append(bare_memory)
    took, bare = statistics.median(ours), statistics.median(theirs)
    print(
        f"{LARGE // MB} MB: panel {LARGE / MB / took:.1f} MB/s, {max(grown):.0f} MB more memory in "
        f"the kernel; bare widget {LARGE / MB / bare:.1f} MB/s, {max(bare_grown):.0f} MB"
    )
    return [
        (f"upload of {LARGE // MB} MB", took, UPLOAD_LIMIT, "s"),
        ("kernel's memory meanwhile, at most", max(grown), MEMORY_LIMIT, "MB"),
    ]


def upload_by_panel(bench: Bench, path: Path) -> tuple[float, float]:
    """Give seconds, and MB of memory."""
    with bench.notebook([*EXPLORER, KEEP]) as lab:
        lab.page.locator("[data-pick=files]").set_input_files(path)
        row(lab, f"/{path.name}").wait_for()
        rest(lab)
        pick(lab, f"/{path.name}", "Map to the workspace").click()
        button = lab.page.get_by_role("button", name="Copy", exact=True)
        rest(lab, 1)
        with Peak(kernel_of(lab)) as peak:
            start = button.evaluate(CLICK)
            target = lab.folder / path.name
            wait_for(lambda: target.exists() and target.stat().st_size == LARGE)
        rest(lab, 1)
        lab.run_cell(2)
        assert target.read_bytes() == path.read_bytes()
        return times_of(lab)[-1] - start, peak.growth


def upload_bare(bench: Bench, path: Path) -> tuple[float, float]:
    """Give the same of the bare widget."""
    with bench.notebook([IMPORT, "bench.Bare()"]) as lab:
        rest(lab)
        entry = lab.page.locator("input.bare")
        with Peak(kernel_of(lab)) as peak:
            entry.set_input_files(path)
            wait_for(lambda: bool(entry.get_attribute("data-took")))
        assert (lab.folder / "bare.part").read_bytes() == path.read_bytes()
        return float(entry.get_attribute("data-took")) / 1000, peak.growth


def kernel_of(lab: Lab) -> psutil.Process:
    """Give the process of a notebook's kernel."""
    return psutil.Process(lab.server.pid(lab._kernel_id()))  # noqa: SLF001  # it is the tests' own


def listing(bench: Bench) -> list[Row]:
    """Open the Files tab of a page that has just been loaded, from the click to rows.

    At rest the page has read the files already, for whoever has some; right away it has to load
    the explorer's code, open the store and read it, all of which counts.
    """
    names = [f"note-{index:05}.md" for index in range(MANY)]
    with bench.notebook(PANEL) as lab:
        lab.panel(1).get_by_role("tab", name="Files").click()
        added = add(lab, names, ["# A note\n"])
        at_once, at_rest = (
            statistics.median(listed(lab, pause) for _ in range(ROUNDS)) for pause in (0, 4)
        )
    print(f"{MANY:,} files: added in {added:.1f} s; listed right away in {at_once:.0f} ms")
    return [(f"listing {MANY:,} files, from click to rows", at_rest, LISTING_LIMIT, "ms")]


def listed(lab: Lab, pause: float) -> float:
    """Load the page anew; gives the milliseconds that the tab takes, so many seconds later."""
    lab.reload()
    tab = lab.panel(1).get_by_role("tab", name="Files")
    tab.wait_for()
    rest(lab, pause)
    took: float = tab.evaluate(LIST)
    return took


def grep(bench: Bench) -> list[Row]:
    """Search many files: from the question's arrival in the page to the answer's being sent."""
    line = "The quick brown fox jumps over the lazy dog, and nobody knows why it does so.\n"
    plain = (line * GREPPED_SIZE)[:GREPPED_SIZE]
    every = GREPPED // FOUND
    texts = [plain[:-7] + "needle\n", *[plain] * (every - 1)]
    with bench.notebook([*EXPLORER, f"bench.soon(session.ask, 'grep {ROUNDS}')"]) as lab:
        add(lab, [f"note-{index:04}.md" for index in range(GREPPED)], texts)
        rest(lab)
        lab.page.evaluate(LISTEN)
        lab.run_cell(2)
        wait_for(lambda: len(answers(lab)) == ROUNDS)
        rest(lab, 1)
        crossed = wire(lab)
    asked = [each["time"] for each in crossed if is_question(each, "grep_files")]
    given = [each for each in crossed if is_answer(each)]
    assert all(each["text"].count("note-") == FOUND for each in given)
    took = [each["time"] - max(at for at in asked if at < each["time"]) for each in given]
    sent = sum(
        each["bytes"] for each in crossed if each["way"] == "sent" and each["time"] > asked[0]
    )
    share = 100 * sent / ROUNDS / (GREPPED * GREPPED_SIZE)
    print(f"grep: {took} ms; {sent / ROUNDS / 1000:.1f} KB were sent for each")
    return [
        (f"grep over {GREPPED:,} files", statistics.median(took), GREP_LIMIT, "ms"),
        ("of their bytes on the wire", share, WIRE_LIMIT, "%"),
    ]


def answers(lab: Lab) -> list[Any]:
    """Give the answers that the page has sent."""
    crossed = lab.page.evaluate("() => window.wire")
    return [each for each in crossed if is_answer(each)]


def is_question(crossed: dict[str, Any], tool: str) -> bool:
    """Whether it puts a question to the page."""
    text = crossed["text"]
    return crossed["way"] == "came" and "interrupt_opened" in text and tool in text


def is_answer(crossed: dict[str, Any]) -> bool:
    """Whether it answers one."""
    return crossed["way"] == "sent" and "client_answer" in crossed["text"]


def read(bench: Bench) -> list[Row]:
    """Read a file again and again: from the kernel's question to its having the answer."""
    with bench.notebook([*EXPLORER, f"bench.soon(session.ask, 'read {READS}')", KEEP]) as lab:
        add(lab, ["note-0007.md"], ["# A note\n" * 50])
        rest(lab)
        lab.page.evaluate(LISTEN)
        lab.run_cell(2)
        wait_for(lambda: len(answers(lab)) == READS)
        rest(lab, 1)
        lab.run_cell(3)
        times = times_of(lab)
        origin = lab.page.evaluate("() => performance.timeOrigin")
        crossed = wire(lab)
    took = [1000 * (end - start) for start, end in zip(times[::2], times[1::2], strict=True)]
    came = [each["time"] + origin for each in crossed if is_question(each, "read_file")]
    there = statistics.median(at - 1000 * put for at, put in zip(came, times[::2], strict=True))
    print(
        f"{READS} reads: {min(took):.0f} to {max(took):.0f} ms, of which {there:.0f} ms until the "
        "question is in the page"
    )
    return [("a read, there and back", statistics.median(took), READ_LIMIT, "ms")]


def sync(bench: Bench) -> list[Row]:
    """Keep a folder in step: from the click to the row's saying so; and look once more."""
    with (
        tempfile.TemporaryDirectory() as home,
        bench.notebook([*EXPLORER]) as lab,
    ):
        folder = Path(home, "papers")
        folder.mkdir()
        for index in range(SYNCED):
            (folder / f"paper-{index:03}.bin").write_bytes(os.urandom(SYNCED_SIZE))
        lab.page.locator("[data-pick=folder]").set_input_files(folder)
        wait_for(lambda: "Added" in notes(lab))
        rest(lab)
        pick(lab, "/papers", "Map to the workspace").click()
        lab.page.get_by_text("Keep in step both ways").click()
        button = lab.page.get_by_role("button", name="Keep in step", exact=True).element_handle()
        first = lab.page.evaluate(TIED, [button, "/papers", "in step"]) / 1000
        there = {path.name: path.read_bytes() for path in (lab.folder / "papers").iterdir()}
        assert there == {path.name: path.read_bytes() for path in folder.iterdir()}
        rest(lab, 8)
        lab.page.evaluate(LISTEN)
        took = [compared(lab) for _ in range(ROUNDS)]
    return [
        (f"first sync of {SYNCED} files", first, FIRST_LIMIT, "s"),
        ("an unchanged one", statistics.median(took), UNCHANGED_LIMIT, "s"),
    ]


def compared(lab: Lab) -> float:
    """Have a mapping compared; gives the seconds from the click until the page knows the result."""
    wire(lab)
    start = pick(lab, "/papers", "Compare both sides now").evaluate(
        "item => { const now = performance.now(); item.click(); return now; }"
    )
    rest(lab, 3)
    crossed = wire(lab)
    assert not any("send_file" in e["text"] or "upload" in e["text"] for e in crossed)
    result = next(e for e in crossed if e["way"] == "came" and '"same"' in e["text"])
    return float(result["time"] - start) / 1000


if __name__ == "__main__":
    sys.exit(run([upload, listing, grep, read, sync]))
