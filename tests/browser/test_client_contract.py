"""The contract of the file tools, for files in a real browser; a folder answers the same."""

from __future__ import annotations

import random

import pytest

from deepnb.files import Client, Folder, mounts, wire
from deepnb.interrupts import ClientToolAnswer
from tests.browser.client_page import Browser, Site
from tests.browser.client_requests import FILES, changes, questions
from tests.file_contract import *  # noqa: F403  # the tests
from tests.file_contract import Home

RESULTS = {
    "list_files": wire.Listing,
    "read_file": wire.Content,
    "write_file": wire.Written,
    "patch_file": wire.Patched,
    "glob_files": wire.Files,
    "grep_files": wire.Lines,
    "search_files": wire.Passages,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.close()


@pytest.fixture(scope="module")
def page(browser, site):
    context = browser.new_context()
    page = context.new_page()
    page.goto(site.url)
    yield page
    context.close()


KINDS = {
    "browser, kept": lambda page: Home(Client(), client=Browser(page, "kept")),
    "browser, real folder": lambda page: Home(Client(), "/docs/", client=Browser(page, "real")),
    "/files/ in a browser": lambda page: Home(
        mounts(client=True), "/files/", client=Browser(page, "kept")
    ),
}


@pytest.fixture(params=KINDS)
def home(request, page):
    return KINDS[request.param](page)


@pytest.fixture
def careful_home(home):
    return home


# The same requests to a folder and to a browser


def folder_of(root):
    for path, content in FILES.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return Folder(root)


@pytest.fixture(params=["kept", "real"])
def twin(request, page):
    """A browser that holds the same files as a folder, all of them in /docs."""
    browser = Browser(page, request.param)
    browser.put(FILES)
    return browser


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Every question, and what a folder answers."""
    folder = folder_of(tmp_path_factory.mktemp("asked"))
    return [(request, folder.answer(request)) for request in questions(random.Random(6))]


def timeless(answer):
    """An answer without what may differ: when a file was changed."""
    result = answer.get("result", {})
    for entry in [*result.get("entries", ()), *result.get("matches", ())]:
        entry.pop("modified_at", None)
    return answer


def compare(browser, asked):
    wrong = []
    answers = browser.answer_all([request for request, _ in asked])
    for (request, expected), answer in zip(asked, answers, strict=True):
        if str(tool := request["tool"]) in RESULTS:
            ClientToolAnswer[RESULTS[tool]].model_validate(answer)
        if timeless(answer) != timeless(expected):
            wrong.append((request, answer, expected))
    assert wrong == []


def test_a_browser_answers_every_question_as_a_folder_does(twin, asked):
    compare(twin, asked)


def test_a_browser_changes_files_as_a_folder_does(twin, tmp_path):
    folder = folder_of(tmp_path)
    compare(twin, [(request, folder.answer(request)) for request in changes(random.Random(7))])
    on_disk = {
        "/" + path.relative_to(tmp_path).as_posix(): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert twin.dump() == on_disk


# What a browser has to do beyond what a folder does


def test_a_question_that_was_answered_is_not_carried_out_again(page, browser_kind):
    files = Browser(page, browser_kind)
    files.put({"/docs/a.md": b"a"})
    patch = {"path": "/docs/a.md", "search": "a", "replace": "aa"}
    request = {"tool": "patch_file", "args": patch, "question": "q1"}
    first = files.answer(request)
    assert first == {"result": {"path": "/docs/a.md", "occurrences": 1}}
    page.reload()
    files.open()
    assert files.answer(request) == first
    assert files.dump() == {"/docs/a.md": b"aa"}


@pytest.fixture(params=["kept", "real"])
def browser_kind(request):
    return request.param


def run(page, body, *args):
    """Run statements in the page, with `contract`, `shelf` and the arguments at hand."""
    script = f"async (args) => {{ const shelf = contract.shelf(); {body} }}"
    return page.evaluate(script, list(args))


def test_nothing_is_overwritten_that_the_writer_did_not_expect(page, browser_kind):
    files = Browser(page, browser_kind)
    files.put({"/docs/a.md": b"mine", "/docs/big.bin": b"x" * 300_000})
    attempt = """
        const [none, other] = ["", "0".repeat(64)];
        const tries = [["a.md", none], ["a.md", other], ["new.md", other], ["big.bin", other]];
        const kinds = [];
        for (const [name, expects] of tries) {
          const path = `/docs/${name}`;
          await shelf.write(path, new Blob(["theirs"]), {
            expects, answers: { question: "q", answer: { result: {} } },
          }).catch((error) => kinds.push(error.kind));
        }
        return [kinds, await shelf.answered("q") ?? null];
    """
    assert run(page, attempt) == [["changed"] * 4, None]
    assert files.dump() == {"/docs/a.md": b"mine", "/docs/big.bin": b"x" * 300_000}
    agreed = """
        for (const path of ["/docs/a.md", "/docs/big.bin"])
          await shelf.write(path, new Blob(["new"]), { expects: await shelf.hash(path) });
    """
    run(page, agreed)
    assert files.dump() == {"/docs/a.md": b"new", "/docs/big.bin": b"new"}


def test_what_was_deleted_or_moved_comes_back_whole(page, browser_kind):
    files = Browser(page, browser_kind)
    before = {"/docs/sub/a.md": b"a", "/docs/sub/deep/b.bin": bytes(range(256)) * 2000}
    files.put(before)
    run(page, "globalThis.undo = await shelf.remove('/docs/sub');")
    assert files.dump() == {}
    taken = (
        "return shelf.write('/docs/sub', new Blob(['x'])).then(() => undo()).catch((e) => e.kind)"
    )
    assert run(page, taken) == "exists"
    run(page, "await shelf.remove('/docs/sub'); await undo();")
    assert files.dump() == before
    moves = """
        await shelf.move("/docs/sub", "/docs/moved/here");
        await shelf.move("/docs/moved", "/out");
        return [
          await shelf.move("/out", "/out/in").catch((error) => error.kind),
          await shelf.move("/none", "/x").catch((error) => error.kind),
        ];
    """
    assert run(page, moves) == ["path", "missing"]
    assert files.dump() == {
        "/out/here/a.md": before["/docs/sub/a.md"],
        "/out/here/deep/b.bin": before["/docs/sub/deep/b.bin"],
    }


def test_two_tabs_share_a_store_and_hear_of_each_other(page, site):
    files = Browser(page, "kept")
    other = page.context.new_page()
    other.goto(site.url)
    there = Browser(other, "kept")
    there.name = files.name
    there.open()
    heard = "shelf.subscribe(() => { globalThis.heard = true; }); globalThis.heard = false;"
    run(other, heard)
    files.put({"/a.md": b"from the first tab"})
    other.wait_for_function("() => globalThis.heard")
    assert there.dump() == {"/a.md": b"from the first tab"}
    other.close()


def test_a_store_that_is_cleared_under_the_page_is_seen_and_works_on(page):
    files = Browser(page, "kept")
    files.put({"/a.md": b"a"})
    before = run(page, "return shelf.browser")
    clear = """
        await new Promise((done, fail) => {
          const request = indexedDB.deleteDatabase(`deepnb:${args[0]}`);
          request.onsuccess = done;
          request.onerror = fail;
        });
        return [(await shelf.entries()).length, shelf.trouble, shelf.browser];
    """
    number, trouble, browser = run(page, clear, files.name)
    assert number == 0
    assert "Add the files again" in trouble
    assert browser != before
    files.put({"/b.md": b"b"})
    assert files.dump() == {"/b.md": b"b"}


@pytest.mark.parametrize("broken", ["throw new DOMException('no', 'SecurityError')", "return null"])
def test_a_browser_without_storage_keeps_files_as_long_as_the_page(page, site, broken):
    page.evaluate(f"() => {{ IDBFactory.prototype.open = () => {{ {broken} }}; }}")
    opened = """
        const shelf = await contract.openShelf("blocked");
        await shelf.write("/a/b.md", new Blob(["kept"]));
        const undo = await shelf.remove("/a");
        const gone = (await shelf.entries()).length;
        await undo();
        return [shelf.trouble, gone, await (await shelf.read("/a/b.md")).text()];
    """
    trouble, gone, text = page.evaluate(f"async () => {{ {opened} }}")
    page.goto(site.url)
    assert "gone when the page is closed" in trouble
    assert (gone, text) == (0, "kept")


def test_a_full_disk_leaves_everything_as_it_was(page):
    files = Browser(page, "kept")
    files.put({"/a.md": b"old"})
    fail = """
        const put = IDBObjectStore.prototype.put;
        IDBObjectStore.prototype.put = function (value, key) {
          if (this.name === "answers") throw new DOMException("", "QuotaExceededError");
          return put.call(this, value, key);
        };
        const answers = { question: "q", answer: { result: {} } };
        try {
          return await shelf.write("/a.md", new Blob(["new"]), { answers }).catch((e) => e.kind);
        } finally {
          IDBObjectStore.prototype.put = put;
        }
    """
    assert run(page, fail) == "full"
    assert files.dump() == {"/a.md": b"old"}


def test_a_real_folder_that_may_not_be_read_or_is_gone_says_so(page):
    files = Browser(page, "real")
    files.put({"/docs/a.md": b"a"})
    ask = """
        FileSystemHandle.prototype.queryPermission = async () => "prompt";
        FileSystemHandle.prototype.requestPermission = async () => "denied";
        try {
          return [await shelf.folders(), (await shelf.entries()).length,
                  await shelf.allowFolder("docs"), await shelf.write("/docs/a.md", new Blob(["x"]))
                    .catch((error) => error.kind)];
        } finally {
          FileSystemHandle.prototype.queryPermission = async () => "granted";
        }
    """
    asked = run(page, ask)
    assert asked == [[{"name": "docs", "state": "ask"}], 1, False, "denied"]
    assert files.dump() == {"/docs/a.md": b"a"}
    gone = """
        const root = await navigator.storage.getDirectory();
        await root.removeEntry(args[0], { recursive: true });
        return [await shelf.folders(), await shelf.read("/docs/a.md").catch((error) => error.kind)];
    """
    assert run(page, gone, files.name) == [[{"name": "docs", "state": "gone"}], "missing"]
    page.reload()


def test_many_files_are_listed_and_searched_at_once(page):
    Browser(page, "kept")
    fill = """
        const line = "some words that fill a line of text, nothing else\\n";
        const text = line.repeat(200);
        for (let folder = 0; folder < 3; folder++) {
          await Promise.all(Array.from({ length: 100 }, (_, n) =>
            shelf.write(`/f${folder}/${n}.txt`, new Blob([n === 7 ? text + "needle" : text]))));
        }
        const found = await contract.runTool(shelf, "grep_files", { pattern: "needle" });
        return [(await shelf.entries()).length, found.result.matches.length];
    """
    assert run(page, fill) == [303, 3]
