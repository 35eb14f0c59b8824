"""The two sides of the file explorer, what ties them, and what really is on each of them."""

from __future__ import annotations

import time

from playwright.sync_api import expect

from tests.browser.lab import PATIENCE

# What the browser keeps of a workspace: the text of each file, or its hash if it is large.
SHELF = """async name => {
  const done = request => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const database = await done(indexedDB.open(`deepnb:${name}`));
  const tables = database.transaction(["entries", "contents"]);
  const [rows, contents] = await Promise.all(
    ["entries", "contents"].map(table => done(tables.objectStore(table).getAll())),
  );
  database.close();
  const kept = new Map(contents.map(({ name, data }) => [name, data]));
  const found = {};
  for (const { path, isDir, sha256, content } of rows) {
    const data = kept.get(content);
    if (!isDir) found[path] = data instanceof Blob ? sha256 : new TextDecoder().decode(data);
  }
  return found;
}"""


def side(panel, home):
    """Give one of the two trees: "mine" or "workspace"."""
    return panel.locator(f"[data-home={home}]")


def row(panel, home, path):
    return side(panel, home).locator(f"[role=treeitem][data-path='{path}']")


def tie(panel, home, path):
    """Give what a row says about the other side."""
    return row(panel, home, path).locator(".dn-tie")


def transfer(panel, name):
    """Give the line of a file that is on its way."""
    return panel.get_by_role("group", name=f"of {name}")


def add_folder(panel, folder):
    """Pick a folder with all that is in it."""
    panel.locator("[data-pick=folder]").set_input_files(folder)


def replace(panel):
    """Say that what was just picked takes the place of what has the same name."""
    panel.get_by_role("dialog").get_by_role("button", name="Replace").click()


def unfold(panel, home, path):
    """Look into a folder, unless it is open."""
    if row(panel, home, path).get_attribute("aria-expanded") == "false":
        row(panel, home, path).click()


def choose(panel, home, path, command):
    """Open the menu of a row and choose from it."""
    row(panel, home, path).hover()
    row(panel, home, path).get_by_role("button", name="More about").click()
    panel.page.get_by_role("menuitem", name=command).click()


def map_to(panel, path, target, *, mode="Keep in step both ways"):
    """Map a file or folder through the dialog."""
    choose(panel, "mine", path, "Map to the workspace")
    dialog = panel.get_by_role("dialog")
    dialog.get_by_label("Where in the workspace").fill(target)
    dialog.get_by_label(mode).check()
    dialog.locator("[type=submit]").click()
    expect(dialog).to_have_count(0)


def shelf(lab):
    """Give what the browser keeps for the workspace in the lab's folder."""
    name = (lab.folder / ".deepnb" / "shelf").read_text().strip()
    return lab.page.evaluate(SHELF, name)


def disk(folder):
    """Give the texts of a folder's files, by path."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def write(folder, files):
    """Write texts into a folder, by path; gives the folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def until(lab, condition, patience=PATIENCE):
    """Wait for something that no locator sees; gives what came of it."""
    end = time.monotonic() + patience / 1000
    while not (found := condition()):
        assert time.monotonic() < end, "It has not happened."
        lab.page.wait_for_timeout(50)
    return found
