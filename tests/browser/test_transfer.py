"""Files on their way between the browser and the workspace, whatever becomes of the connection."""

from __future__ import annotations

import hashlib
import random
import re
from array import array

import pytest
from playwright.sync_api import Error, expect

from tests.browser.explorer import choose, map_to, row, shelf, side, tie, transfer, until
from tests.browser.lab import PATIENCE
from tests.browser.shelf import add, told

SETUP = """
import deepnb
from deepnb.testing import ScriptedModel

session = deepnb.Session("deep", workspace=".", model=ScriptedModel(["hello"]))
"""
MEGABYTE = 1024 * 1024

# Counts the bytes of files that the page sends.
COUNT = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  window.sentBytes = 0;
  kernel.anyMessage.connect((_, { msg, direction }) => {
    const said = msg.content?.data?.content;
    if (direction !== "send" || said?.type !== "upload_chunk") return;
    for (const each of msg.buffers ?? []) window.sentBytes += each.byteLength;
    window.sentBytes += (said.data?.length ?? 0) * 3 / 4;
  });
}"""

# Cuts the connection to the kernel as it is cut when the net is gone: with nobody saying goodbye.
CUT = """() => {
  const socket = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel._ws;
  socket.close();
  socket.onclose(new CloseEvent("close"));
}"""

RECONNECT = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.reconnect().catch(() => {});
}"""
CONNECTED = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  return kernel.connectionStatus === "connected";
}"""

# Has bytes beside messages get lost both ways, as some hosts lose them.
DROP_BUFFERS = """() => {
  const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
  const [send, take] = [kernel.sendShellMessage.bind(kernel), kernel._handleMessage.bind(kernel)];
  const bare = message => ({ ...message, buffers: [] });
  kernel.sendShellMessage = (message, ...more) => send(bare(message), ...more);
  kernel._handleMessage = message => take(bare(message));
}"""


def opened(lab, *more, show="session.explorer()", before=COUNT):
    lab.open_notebook([SETUP, show, *more])
    lab.run_cell(0)
    lab.page.evaluate(before)
    lab.run_cell(1)
    return lab.panel(1)


def reconnect(lab, tries=10):
    """Have the net back. JupyterLab sees it by itself; but a socket begun without may hang."""
    lab.context.set_offline(False)
    lab.page.evaluate(RECONNECT)
    try:
        lab.page.wait_for_function(CONNECTED, timeout=5_000)
    except Error:
        assert tries
        reconnect(lab, tries - 1)


def made(folder, name, size):
    """Make a file that nothing makes shorter; gives it and its hash."""
    data = random.Random(size).randbytes(size)
    (folder / name).write_bytes(data)
    return folder / name, hashlib.sha256(data).hexdigest()


def hash_of(path):
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest()


def sent(lab):
    """Give how much the page has sent."""
    return lab.page.evaluate("() => window.sentBytes")


def arrived(lab):
    """Give how much is there of what is on its way."""
    return sum(part.stat().st_size for part in (lab.folder / ".deepnb" / "uploads").glob("*.part"))


@pytest.mark.essentials("7.4", "6.31")
def test_an_upload_of_50_mb_is_cut_off_and_goes_on_where_it_was(lab, tmp_path):
    file, sha256 = made(tmp_path, "big.bin", 50 * MEGABYTE)
    panel = opened(lab)
    panel.locator("[data-pick=files]").set_input_files(file)
    expect(row(panel, "mine", "/big.bin")).to_be_visible()
    map_to(panel, "/big.bin", "data/big.bin", mode="Copy once")
    line = transfer(panel, "big.bin")
    expect(line.get_by_role("progressbar")).to_be_visible()
    expect(line).to_contain_text(re.compile(r"of 52 MB, \d.*B/s, \d.* left"))
    until(lab, lambda: arrived(lab) > 3 * MEGABYTE)
    with lab.frozen_kernel():  # or else it may be over before the click
        line.get_by_role("button", name="Pause").click()
        expect(line).to_contain_text("paused")
    until(lab, lambda: arrived(lab) == sent(lab))  # what was on its way
    before = sent(lab)
    lab.page.wait_for_timeout(300)
    assert arrived(lab) == sent(lab) == before < 45 * MEGABYTE

    line.get_by_role("button", name="Go on").click()
    until(lab, lambda: arrived(lab) > before + 3 * MEGABYTE)
    with lab.frozen_kernel():
        lab.context.set_offline(True)
        lab.page.evaluate(CUT)
        expect(line).to_contain_text("waiting for the kernel")
    assert not (lab.folder / "data" / "big.bin").exists()
    reconnect(lab)
    until(lab, lambda: hash_of(lab.folder / "data" / "big.bin") == sha256, 3 * PATIENCE)
    expect(tie(panel, "mine", "/big.bin")).to_have_text("copied")
    # What was on its way when it was stopped was sent again, and no more.
    assert sent(lab) <= (50 + 2 * 4) * MEGABYTE
    assert not arrived(lab)


def test_an_upload_is_cancelled_and_one_of_nothing_arrives(lab, tmp_path):
    file, _ = made(tmp_path, "big.bin", 30 * MEGABYTE)
    panel = opened(lab, "print(session.disclosures.bytes.sum())")
    panel.locator("[data-pick=files]").set_input_files(file)
    map_to(panel, "/big.bin", "big.bin", mode="Copy once")
    line = transfer(panel, "big.bin")
    until(lab, lambda: arrived(lab) > 2 * MEGABYTE)
    with lab.frozen_kernel():
        line.get_by_role("button", name="Cancel").click()
        expect(line).to_have_count(0)
    until(lab, lambda: not arrived(lab))
    assert not (lab.folder / "big.bin").exists()

    def disclosed():
        lab.run_cell(2)
        return int(lab.outputs(2).inner_text())

    until(lab, lambda: disclosed() >= sent(lab))  # all of it has left the browser

    add(panel, ("empty.txt", b""))
    map_to(panel, "/empty.txt", "empty.txt", mode="Copy once")
    until(lab, (lab.folder / "empty.txt").is_file)
    assert (lab.folder / "empty.txt").read_bytes() == b""
    assert not (lab.folder / "big.bin").exists()


# The same piece again and again, since a page takes long to make up others.
DROP_LARGE = """(place, [words, count]) => {
  const piece = Uint32Array.from({ length: words }, (_, number) => number);
  const data = new DataTransfer();
  data.items.add(new File(Array(count).fill(piece), "big.bin"));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
}"""


def test_a_file_of_200_mb_is_given_up_and_then_arrives_at_a_server_as_it_is(lab):
    words, count = 2 * MEGABYTE, 25
    sha256 = hashlib.sha256(array("I", range(words)).tobytes() * count).hexdigest()
    panel = opened(lab)
    mine = side(panel, "mine")
    expect(mine).to_be_visible()
    mine.evaluate(DROP_LARGE, [words, count])
    line = transfer(panel, "big.bin")
    expect(line).to_contain_text("of 210 MB")
    line.get_by_role("button", name="Cancel").click()
    told(panel, "big.bin was not added. You have cancelled")
    expect(line).to_have_count(0)
    assert shelf(lab) == {}

    mine.evaluate(DROP_LARGE, [words, count])
    told(panel, "Added big.bin.")
    map_to(panel, "/big.bin", "data/big.bin", mode="Copy once")
    until(lab, lambda: hash_of(lab.folder / "data" / "big.bin") == sha256, 3 * PATIENCE)
    expect(tie(panel, "mine", "/big.bin")).to_have_text("copied")
    assert sent(lab) == 4 * words * count


@pytest.mark.essentials("7.4", "6.31")
def test_a_kernel_that_dies_in_mid_download_leaves_nothing_half_written(lab, tmp_path):
    panel = opened(lab)
    add(panel, ("data.bin", b"old"))
    map_to(panel, "/data.bin", "data.bin")
    expect(tie(panel, "mine", "/data.bin")).to_have_text("in step")
    hashes = {}
    for name, size in (("once.bin", 40), ("data.bin", 41)):
        file, hashes[name] = made(tmp_path, name, size * MEGABYTE)
        file.replace(lab.folder / name)  # at once: what is being written is not taken
    choose(panel, "workspace", "/once.bin", "Copy to My computer")
    lines = [transfer(panel, name) for name in hashes]
    for line in lines:
        expect(line).to_contain_text(re.compile(r"\d (MB )?of 4\d MB"))
    with lab.frozen_kernel():
        for line in lines:
            expect(line.get_by_role("button", name="Cancel")).to_be_visible()  # or it was no test
    lab.kill_kernel()
    for line in lines:
        expect(line).to_contain_text("waiting for the kernel")
    assert shelf(lab) == {"/data.bin": "old"}
    lab.run_cell(0)
    lab.run_cell(1)
    until(lab, lambda: shelf(lab) == {"/data.bin": hashes["data.bin"]})
    expect(tie(panel, "mine", "/data.bin")).to_have_text("in step")
    choose(panel, "workspace", "/once.bin", "Copy to My computer")
    until(lab, lambda: shelf(lab).get("/once.bin") == hashes["once.bin"])


@pytest.mark.essentials("7.4", "6.31")
def test_files_arrive_where_a_host_drops_bytes_and_pushes_nothing(lab, tmp_path):
    file, sha256 = made(tmp_path, "photo.bin", 5 * MEGABYTE)
    panel = opened(lab, show="session.panel(push=False)", before=DROP_BUFFERS)
    panel.get_by_role("tab", name="Files").click()
    expect(side(panel, "mine")).to_be_visible()
    panel.locator("[data-pick=files]").set_input_files(file)
    map_to(panel, "/photo.bin", "photo.bin")
    expect(tie(panel, "mine", "/photo.bin")).to_have_text("in step")
    assert hash_of(lab.folder / "photo.bin") == sha256
    _, changed = made(lab.folder, "photo.bin", 6 * MEGABYTE)
    until(lab, lambda: shelf(lab).get("/photo.bin") == changed)

    _, other = made(lab.folder, "other.bin", 2 * MEGABYTE)
    expect(row(panel, "workspace", "/other.bin")).to_be_visible()
    choose(panel, "workspace", "/other.bin", "Copy to My computer")
    until(lab, lambda: shelf(lab).get("/other.bin") == other)
