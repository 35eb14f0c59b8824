"""The panel in a real JupyterLab, in a real browser.

A test asks for `lab` (see `lab.Lab`), writes a notebook, and does what a person would:

    @pytest.mark.essentials
    def test_the_answer_is_shown(lab):
        lab.open_notebook(["import deepnb; session = ...", "session"])
        lab.run_all()
        panel = lab.panel(1)
        panel.get_by_role("textbox").fill("hello")
        panel.get_by_role("textbox").press("Enter")
        expect(panel).to_contain_text("answer to hello")  # playwright's: it waits

Every test runs on the environment's own kernel, and one that is marked `essentials` also on the
older kernels that people have, or on those that the mark names; `lab.kernel` is the kernel spec's
name. One server and one browser serve all tests; a folder, a notebook and its kernel are each
test's own. To load JupyterLab takes longer than most tests, so they have one page, each after the
other, which is put back in order in between; a test that does to its page what cannot be undone
begins with `lab.alone()`. Nothing outside the server can be reached, and
`lab.strangers` says what was tried. When a test fails, a picture and the console's log are in
build/browser.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser import chromium
from tests.browser.lab import PATIENCE, VIEWPORT, Lab
from tests.browser.server import KERNELS, OVERLAYS, Server

REPORTS = Path(__file__).parents[2] / "build" / "browser"
expect.set_options(timeout=PATIENCE)


def pytest_generate_tests(metafunc):
    if "kernel" in metafunc.fixturenames:
        everywhere = metafunc.definition.get_closest_marker("essentials")
        versions = (everywhere.args or list(KERNELS)) if everywhere else list(KERNELS)[:1]
        metafunc.parametrize("kernel", versions)


# Of the package, not of the session: while Playwright runs, no test can have a loop of its own.
@pytest.fixture(scope="package")
def server(tmp_path_factory):
    missing = [
        v for v, name in KERNELS.items() if name != "python3" and not (OVERLAYS / v).is_dir()
    ]
    if missing:
        pytest.fail(f"No ipykernel {' and '.join(missing)}: run `make kernels`.")
    server = Server(tmp_path_factory.mktemp("jupyter"))
    yield server
    server.close()


@pytest.fixture(scope="package")
def browser():
    path = chromium.find()
    if path is None:
        pytest.fail("No Chromium or Chrome: run `make chromium`, or set CHROME to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def shared():
    """The browser context that the tests share, if there is one."""
    contexts = []
    yield contexts
    for context in contexts:
        context.close()


@pytest.fixture
def lab(server, browser, shared, kernel, request):
    name = re.sub(r"\W+", "-", request.node.name).strip("-")
    request.node.stash[FAILED] = False  # it may be tried a second time
    folder = server.root / name
    if folder.exists():
        folder = server.root / f"{name}-again"
    folder.mkdir()
    if not shared:
        shared.append(browser.new_context(viewport=VIEWPORT))
    lab = Lab(server, folder, shared[0], KERNELS[kernel])
    yield lab
    failed = request.node.stash.get(FAILED, False)
    if failed:
        lab.diagnose(REPORTS / name)
        print(*lab.errors, sep="\n")  # noqa: T201 (pytest shows it with the failure)
    if not lab.leave() or failed:
        shared.pop().close()
    server.end_kernels()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report
