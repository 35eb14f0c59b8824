"""What a person does with the file explorer, and what they see of their own files in it."""

from __future__ import annotations

from playwright.sync_api import expect

DROP = """async (target, [files, texts]) => {
  const data = new DataTransfer();
  for (const { name, text } of files) data.items.add(new File([text], name));
  for (const [type, text] of Object.entries(texts)) if (text) data.setData(type, text);
  for (const kind of ["dragover", "drop"])
    target.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true }));
}"""

PASTE = """(target, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  target.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
}"""


def show(lab, setup, *cells):
    """Open the file explorer in the second cell, and give the panel that it is in."""
    lab.open_notebook([setup, "session.explorer()", *cells])
    lab.run_cell(0)
    lab.run_cell(1)
    panel = lab.panel(1)
    expect(my_computer(panel)).to_be_visible()
    return panel


def my_computer(panel):
    return panel.get_by_role("region", name="My computer")


def item(panel, name):
    """Give the row of a file or folder of one's own; `name` may be a path."""
    return my_computer(panel).locator(f"[data-path={_quoted(f'/{name}')}]")


def names(panel):
    """Give the paths that are seen, from the top down, without the first slash."""
    rows = my_computer(panel).locator("[data-path]").all()
    return [row.get_attribute("data-path")[1:] for row in rows]


def add(panel, *files):
    """Pick files, as the person does who has clicked on Add; each is a name and its bytes."""
    chosen = [{"name": name, "mimeType": "", "buffer": content} for name, content in files]
    panel.locator("[data-pick=files]").set_input_files(chosen)


def drop(place, *files, text="", address=""):
    """Drop files, which are names and texts, or a text, or an address, onto a place."""
    given = [{"name": name, "text": content} for name, content in files]
    place.evaluate(DROP, [given, {"text/plain": text, "text/uri-list": address}])


def drop_from_disk(place, *paths):
    """Drop what is on the disk, folders too, as the browser itself does it."""
    box = place.bounding_box()
    at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    devtools = place.page.context.new_cdp_session(place.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
    devtools.detach()


def paste(place, text):
    place.evaluate(PASTE, text)


def dialog(panel, title):
    return panel.get_by_role("dialog", name=title)


def told(panel, words):
    expect(panel.locator(".dn-files-notes")).to_contain_text(words)


def _quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
