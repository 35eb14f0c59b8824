"""What the panel costs in a real browser, and how soon it shows and does things.

A real JupyterLab and a Chromium without a window. The peers are bare anywidgets in the same run:
one that is sent every token by itself, and one that sends a message when it is clicked. CPU is that
of all the browser's processes; rounds alternate, and medians are compared.

    python benchmarks/panel.py [tokens] [thread] [clicks]
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped]  # it has no types
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tests.browser.lab import Lab
from tests.browser.server import KERNELS, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Row = tuple[str, float, float, str]
"""What was measured, its value, its limit and its unit."""

FEW, MANY = 5_000, 50_000
MESSAGES = 2_000
ROUNDS = 3
CLICKS = 21
LAG_LIMIT = 150.0
CPU_LIMIT = 0.25
GROWTH_LIMIT = 12.0
OPEN_LIMIT = 1.0
FRAME_LIMIT = 50.0
CLICK_LIMIT = 1.3

IMPORT = "from benchmarks import panel_notebook as bench"
PANEL = [IMPORT, "session = bench.talking(); session", "bench.soon(session.ask, '{}')"]
KEEP = "bench.keep_times()"
OPENED = "session = bench.long_session(); session"
BARE = [IMPORT, "bare = bench.Bare(); bare", "bench.soon(bare.talk, {})"]

LAST = """() => {
  const shown = [...document.querySelectorAll("pre.bare, .dn-block")].slice(-2);
  const end = shown.map(element => element.textContent.slice(-200)).join(" ");
  return Number(/w(\\d+)\\D*$/.exec(end)?.[1] ?? -1);
}"""

WATCH = f"""() => {{
  const last = {LAST};
  window.seen = [];
  const look = () => {{
    const number = last();
    if (number !== window.seen.at(-1)?.[0]) window.seen.push([number, Date.now()]);
    requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}}"""

OPEN = """async ([index, text]) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.deselectAll();
  content.activeCellIndex = index;
  const frame = () => new Promise(requestAnimationFrame);
  while (document.querySelector(".dn-log")) await frame();
  const start = performance.now();
  void window.jupyterapp.commands.execute("notebook:run-cell");
  while (!document.querySelector(".dn-log")?.textContent.includes(text)) await frame();
  await frame();
  return performance.now() - start;
}"""

SCROLL = """async () => {
  const STEP = 500; // pixels per frame: as fast as a finger flings
  const log = document.querySelector(".dn-log");
  const frames = [], tasks = [];
  const note = list => tasks.push(...list.getEntries().map(entry => entry.duration));
  new PerformanceObserver(note).observe({ type: "longtask" });
  let before = performance.now();
  const frame = async () => {
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - before);
    before = performance.now();
  };
  for (let resting = 0; resting < 10; resting = log.scrollTop ? 0 : resting + 1) {
    log.scrollTop -= STEP;
    await frame();
  }
  const isAll = log.textContent.includes("Answer 0");
  while (log.scrollHeight - log.scrollTop - log.clientHeight > 1) {
    log.scrollTop += STEP;
    await frame();
  }
  return { frames, tasks, isAll };
}"""

CLICK = """button => {
  const time = performance.timeOrigin + performance.now();
  button.click();
  return time / 1000;
}"""


class Bench:
    """Notebooks in one browser.

    Args:
        server: Where they run.
        browser: Where they are shown.
    """

    def __init__(self, server: Server, browser: Browser) -> None:
        self._server, self._browser = server, browser

    @contextmanager
    def notebook(self, cells: list[str], kernel: str = "7.4") -> Iterator[Lab]:
        """Open a notebook in a page of its own, and run its first two cells."""
        context = self._browser.new_context(viewport={"width": 1280, "height": 900})
        folder = Path(tempfile.mkdtemp(dir=self._server.root))
        lab = Lab(self._server, folder, context, KERNELS[kernel])
        lab.open_notebook(cells)
        lab.run_cell(0)
        lab.run_cell(1)
        yield lab
        context.close()
        self._server.end_kernels()

    # Tokens

    def cpu(self, cells: list[str], number: int) -> float:
        """Measure the browser's CPU seconds for so many tokens."""
        with self.notebook([cell.format(number) for cell in cells]) as lab:
            lab.run_cell(2)
            lab.page.wait_for_timeout(3000)
            start = browser_cpu()
            wait_for(lambda: lab.page.evaluate(LAST) == number - 1)
            lab.page.wait_for_timeout(3000)  # what is done when all has been said is part of it
            return browser_cpu() - start

    def lags(self) -> list[float]:
        """Measure, for each token, the milliseconds from the kernel to a frame that shows it."""
        with self.notebook([*(cell.format(FEW) for cell in PANEL), KEEP]) as lab:
            lab.page.evaluate(WATCH)
            lab.run_cell(2)
            wait_for(lambda: lab.page.evaluate(LAST) == FEW - 1)
            lab.run_cell(3)
            said = times_of(lab)
            lags, at = [], 0
            for number, shown in lab.page.evaluate("() => window.seen"):
                lags += [shown - 1000 * each for each in said[at : number + 1]]
                at = max(at, number + 1)
        assert len(lags) == FEW
        return lags

    # A long thread

    def thread(self) -> tuple[list[float], dict[str, Any]]:
        """Measure the seconds until a long thread is on the screen, and how it scrolls."""
        cells = [
            IMPORT,
            f"bench.long_thread({MESSAGES})",
            "session = bench.long_session(); session",
        ]
        last = f"end of {MESSAGES // 2 - 1}"
        with self.notebook([*cells, OPENED, "session.close()"]) as lab:
            opened = []
            for _ in range(ROUNDS):
                opened.append(lab.page.evaluate(OPEN, [2, last]) / 1000)
                lab.page.wait_for_timeout(3000)
                scrolled = lab.page.evaluate(SCROLL)
                assert scrolled["isAll"]
                lab.run_cell(3)
                lab.page.evaluate(
                    "() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"
                )
        return opened, scrolled

    # Clicks

    def clicks(self, kernel: str) -> list[list[float]]:
        """Measure the seconds from clicks to what follows, for the panel and for a bare widget.

        Gives two lists for each: of when the kernel has it, and of when the graph goes on.
        """
        panel, peer = f"session = bench.asking({CLICKS}); session", f"bench.Button({CLICKS})"
        with self.notebook([IMPORT, panel, peer, KEEP], kernel) as lab:
            lab.run_cell(2)
            approve = lab.panel(1).get_by_role("button", name="Approve", exact=True)
            bare = lab.page.locator("button.bare")
            sent = []
            for _ in range(CLICKS):
                for button in (approve, bare):
                    button.and_(lab.page.locator(":enabled")).wait_for()
                    lab.page.wait_for_timeout(800)  # nobody reads faster
                    sent += [button.evaluate(CLICK)] * 2
            lab.page.wait_for_timeout(800)
            lab.run_cell(3)
            taken = [heard - each for each, heard in zip(sent, times_of(lab), strict=True)]
        return [taken[kind::4] for kind in range(4)]


def times_of(lab: Lab) -> list[float]:
    """Read what the notebook has written down."""
    times: list[float] = json.loads((lab.folder / "times.json").read_text())
    return times


def browser_cpu() -> float:
    """Give the CPU seconds that the browser's processes have taken so far."""
    total = 0.0
    for process in psutil.Process(os.getpid()).children(recursive=True):
        if re.search("chrom", process.name()):
            spent = process.cpu_times()
            total += spent.user + spent.system
    return total


def wait_for(condition: Callable[[], bool], seconds: float = 300) -> None:
    """Look twice per second, so that looking costs nothing."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("The page has not shown what it should.")
        time.sleep(0.5)


def p95(values: list[float]) -> float:
    """Give the 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def tokens(bench: Bench) -> list[Row]:
    """Compare the costs of tokens."""
    lag = statistics.median(p95(bench.lags()) for _ in range(ROUNDS))
    pairs = [(bench.cpu(PANEL, FEW), bench.cpu(BARE, FEW)) for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    many = bench.cpu(PANEL, MANY)
    print(
        f"{FEW:,} tokens: panel {ours:.2f} s, one message each {theirs:.2f} s of the browser's "
        f"CPU; {MANY:,}: {many:.2f} s"
    )
    return [
        (f"kernel to screen, 95th percentile of {FEW:,} tokens", lag, LAG_LIMIT, "ms"),
        ("CPU, to one message per token", ours / theirs, CPU_LIMIT, "x"),
        (f"CPU of {MANY:,} tokens, to {FEW:,}", many / ours, GROWTH_LIMIT, "x"),
    ]


def thread(bench: Bench) -> list[Row]:
    """Open a long thread, and scroll to its beginning and back."""
    opened, scrolled = bench.thread()
    frames, tasks = scrolled["frames"], scrolled["tasks"]
    print(f"scrolling: {len(frames)} frames, longest task {max(tasks, default=0):.0f} ms")
    return [
        (f"opening {MESSAGES:,} messages", statistics.median(opened), OPEN_LIMIT, "s"),
        ("a frame while scrolling, 95th percentile", p95(frames), FRAME_LIMIT, "ms"),
    ]


def clicks(bench: Bench) -> list[Row]:
    """Click on Approve, on each kernel."""
    rows: list[Row] = []
    for kernel in KERNELS:
        taken, on, bare_taken, bare_on = (1000 * statistics.median(c) for c in bench.clicks(kernel))
        print(
            f"a click, ipykernel {kernel}: taken after {taken:.1f} ms, the graph goes on after "
            f"{on:.1f} ms; bare widget {bare_taken:.1f} ms, with a bare graph {bare_on:.1f} ms"
        )
        rows += [
            (f"click to answer taken, {kernel}", taken / bare_taken, CLICK_LIMIT, "x"),
            (f"click to the graph's going on, {kernel}", on / bare_on, CLICK_LIMIT, "x"),
        ]
    return rows


def run(parts: list[Callable[[Bench], list[Row]]]) -> int:
    """Run those that are named, or all; print every number with its limit. 1 if one is missed."""
    wanted = [part for part in parts if part.__name__ in sys.argv[1:]] or parts
    path = chromium.find()
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        server = Server(Path(home))
        try:
            bench = Bench(server, browser)
            rows = [row for part in wanted for row in part(bench)]
        finally:
            browser.close()
            server.close()
    for what, value, limit, unit in rows:
        print(f"{what}: {value:.3f} {unit} (limit {limit} {unit})")
    return int(any(value > limit for _, value, limit, _ in rows))


if __name__ == "__main__":
    sys.exit(run([tokens, thread, clicks]))
