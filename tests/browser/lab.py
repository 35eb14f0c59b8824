"""A notebook in a real browser, as a person has it before them."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from copy import copy

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Error

PATIENCE = 30_000
"""Milliseconds within which a page does what it should, on a slow machine that does much else."""

VIEWPORT = {"width": 1280, "height": 900}

OPEN = """async path => {
  await window.jupyterapp.commands.execute("docmanager:open", { path, factory: "Notebook" });
}"""

# A page that is loaded again restores its notebook, and then opens the one in its address.
FOLLOW = """() => {
  const commands = window.jupyterapp?.commands;
  commands?.commandExecuted.connect((_, { id, result }) => {
    if (id === "filebrowser:open-path") result.finally(() => { window.hasArrived = true; });
  });
  return Boolean(commands);
}"""

# Gives whether the page is as it was before a notebook was opened in it.
CLEAR = """() => {
  for (const widget of [...window.jupyterapp.shell.widgets("main")]) widget.dispose();
  localStorage.clear();
  sessionStorage.clear();
  return !document.querySelector(".jp-Dialog");
}"""

READY = """() => {
  const panel = window.jupyterapp?.shell?.currentWidget;
  const context = panel?.sessionContext;
  return Boolean(
    context?.isReady && panel.content?.widgets?.length && context.session?.kernel?.status === "idle"
  );
}"""

RUN = """async ([index, patience]) => {
  const { content } = window.jupyterapp.shell.currentWidget;
  content.deselectAll();
  content.activeCellIndex = index;
  const end = window.jupyterapp.commands.execute("notebook:run-cell");
  await Promise.race([end, new Promise(resolve => setTimeout(resolve, patience))]);
}"""

BEGUN = """index =>
  Boolean(window.jupyterapp.shell.currentWidget.content.widgets[index].outputArea.future)
"""

ERROR = """index => {
  const { outputs } = window.jupyterapp.shell.currentWidget.content.widgets[index].model;
  for (let i = 0; i < outputs.length; i++) {
    const output = outputs.get(i).toJSON();
    if (output.output_type === "error") return output.traceback.join("\\n");
  }
  return "";
}"""

RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
KERNEL_ID = "() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.id"


class Lab:
    """One page of JupyterLab, or of Notebook 7, with one notebook in it."""

    def __init__(self, server, folder, context, kernel):
        self.server = server
        self.folder = folder
        """Where its notebooks are, and where their kernels work: inside the server's root."""
        self.kernel = kernel
        self.path = None
        self.console = []
        """What the page and its mistakes have said: (kind, text)."""
        self.strangers = []
        """The addresses, outside this server, that a page asked for in vain."""
        self._ears = {
            "console": lambda message: self.console.append((message.type, message.text)),
            "weberror": lambda error: self.console.append(("pageerror", str(error.error))),
            "request": lambda request: self._notice(request.url),
        }
        self._own = None
        self._enter(context)

    def _enter(self, context):
        self.context = context
        context.set_default_timeout(PATIENCE)
        for event, ear in self._ears.items():
            context.on(event, ear)
        self.page = self._listen(context.pages[0]) if context.pages else self._new_page()

    def alone(self):
        """Leave the page that tests share for one that nobody had before and nobody has after."""
        self.leave()
        self._own = self.context.browser.new_context(viewport=VIEWPORT)
        self._enter(self._own)

    def leave(self):
        """Put the page back in order; gives whether the next test can have it."""
        for event, ear in self._ears.items():
            self.context.remove_listener(event, ear)
        if self._own:
            self._own.close()
            return True
        self.page.remove_listener("websocket", self._hear_socket)
        for page in self.context.pages[1:]:
            page.close()
        self.context.clear_permissions()
        try:
            return self.page.url == "about:blank" or self.page.evaluate(CLEAR)
        except Error:  # it has crashed, or is not JupyterLab
            return False

    # Opening

    def open_notebook(self, cells, *, name="test.ipynb", kernel=None, app="lab"):
        """Write a notebook with these cells and open it, in "lab" or in "notebook"."""
        self.path = self.folder / name
        notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
        kernel = kernel or self.kernel
        notebook.metadata.kernelspec = {"name": kernel, "display_name": kernel}
        nbformat.write(notebook, self.path)
        if app == "lab" and self.page.evaluate("() => 'jupyterapp' in window"):
            self.page.evaluate(OPEN, self.path.relative_to(self.server.root).as_posix())
            self._wait_until_ready()
        else:
            # A workspace is one page's: another that has it restores what that one has left in it.
            lab = "lab/workspaces/own/tree" if self._own else "lab/tree"
            self._go({"lab": lab, "notebook": "notebooks"}[app])

    def second_view(self):
        """Save, and open the same notebook in another page of the same browser."""
        self.save()
        other = copy(self)
        other.page = other._new_page()
        other._go("lab/workspaces/second/tree")
        return other

    def _go(self, door):
        name = self.path.relative_to(self.server.root)
        self.page.goto(f"{self.server.url}{door}/{name}?reset&token={self.server.token}")
        self._wait_until_ready()

    def reload(self, *, save=True):
        """Reload the page, as F5 does."""
        if save:
            self.save()
        self.page.reload()
        if self._own:
            self._wait_until_ready()
        else:  # nothing must be opened any more when the next test has the page
            self.page.wait_for_function(FOLLOW)
            self._wait_until_ready()
            self.page.wait_for_function("() => window.hasArrived")

    # Cells

    def run_cell(self, index, *, wait=True):
        """Run a cell; unless `wait` is false, to its end, which must be no error."""
        self.page.evaluate(RUN, [index, PATIENCE if wait else 0])
        if wait:
            self.wait_for_prompt(index)
            assert not (error := self.page.evaluate(ERROR, index)), error
        else:  # what is clicked from now on comes to the kernel after it
            self.page.wait_for_function(BEGUN, arg=index)

    def run_all(self):
        """Run every cell, one after the other."""
        for index in range(self.page.locator(".jp-Notebook .jp-Cell").count()):
            self.run_cell(index)

    def wait_for_prompt(self, index):
        """Wait until a cell has a number, which is when it has ended."""
        numbered = "i => /\\[\\d+\\]/.test(document.querySelectorAll('.jp-Notebook .jp-Cell')[i]"
        numbered += "?.querySelector('.jp-InputPrompt')?.textContent ?? '')"
        self.page.wait_for_function(numbered, arg=index)

    def cell(self, index):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def outputs(self, index):
        return self.cell(index).locator(".jp-OutputArea-output")

    def panel(self, index=0):
        """Give the panel in a cell's output."""
        return self.cell(index).locator(".dn[role=region]")

    # The file

    def save(self):
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    def saved(self):
        """Give the notebook as it is on disk."""
        return nbformat.read(self.path, as_version=4)

    # The kernel

    def restart_kernel(self):
        """Restart the kernel as the menu does."""
        self.page.evaluate(RESTART)
        self._wait_until_ready()

    def kill_kernel(self):
        """Have the kernel die in the middle of things; the server then starts another."""
        os.kill(self.server.pid(self._kernel_id()), signal.SIGKILL)
        self.page.locator(".jp-Dialog").get_by_role("button", name="Ok").click()
        self._wait_until_ready()

    @contextmanager
    def frozen_kernel(self):
        """Have the kernel stand still meanwhile: it neither hears nor says anything."""
        pid = self.server.pid(self._kernel_id())
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def shut_down_kernel(self):
        """End the kernel for good."""
        self.server.api("DELETE", f"kernels/{self._kernel_id()}")

    # The page

    @property
    def errors(self):
        """What went wrong in the page."""
        return [text for kind, text in self.console if kind in ("error", "pageerror")]

    def diagnose(self, path):
        """Keep what the page shows and what it said, for whoever looks into a failure."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(Exception):  # a page that has crashed has no picture
            self.page.screenshot(path=path.with_suffix(".png"), full_page=True)
        said = [f"{kind}: {text}" for kind, text in self.console]
        path.with_suffix(".log").write_text("\n".join(said))

    def _new_page(self):
        return self._listen(self.context.new_page())

    def _listen(self, page):
        page.on("websocket", self._hear_socket)
        return page

    def _hear_socket(self, socket):
        self._notice(socket.url.replace("ws", "http", 1))

    def _notice(self, url):
        if not url.startswith((self.server.url, "data:", "blob:", "about:")):
            self.strangers.append(url)

    def _wait_until_ready(self):
        self.page.wait_for_function(READY, timeout=2 * PATIENCE)

    def _kernel_id(self):
        return self.page.evaluate(KERNEL_ID)


def say(panel, text):
    """Type a message into a panel and send it."""
    box = panel.get_by_role("textbox", name="Message")
    box.fill(text)
    box.press("Enter")


def replies(panel):
    """Give the agent's side of the conversation, a reply each."""
    return panel.get_by_role("article", name="Reply")


def approve_button(panel):
    return panel.get_by_role("button", name="Approve", exact=True)
