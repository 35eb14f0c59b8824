"""One tree of paths over several homes: who owns what, and who is asked."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from langgraph.graph import START, StateGraph
from langgraph.store.memory import InMemoryStore

from deepnb.errors import PathError
from deepnb.files import Folder, Mounts, mounts
from deepnb.testing import call
from tests.test_backend_contract import Home, listed


@pytest.fixture
def disk(tmp_path) -> Folder:
    (tmp_path / "workspace").mkdir()
    return Folder(tmp_path / "workspace")


@pytest.fixture
def browser(tmp_path) -> Folder:
    (tmp_path / "browser").mkdir()
    return Folder(tmp_path / "browser")


@pytest.fixture
def home(disk, browser) -> Home:
    """A file of the same name in every home."""
    home = Home(mounts(workspace=disk, client=True, store=True), client=browser)
    for folder in (disk, browser):
        folder.write("a.md", "needle\n")
        folder.write("sub/b.md", "needle\n")
    home.write("scratch/a.md", "needle\n")
    home.write("memories/a.md", "needle\n")
    return home


EVERYWHERE = ["/files/a.md", "/memories/a.md", "/scratch/a.md", "/workspace/a.md"]


def test_a_workspace_is_a_folder_or_where_one_is(tmp_path):
    for given in (tmp_path, str(tmp_path), Folder(tmp_path)):
        assert mounts(workspace=given).routes["/workspace/"].root == tmp_path.resolve()
    with pytest.raises(PathError, match="not a folder"):
        mounts(workspace=tmp_path / "missing")


def test_the_root_lists_every_mount_and_the_agents_own_places(home):
    assert listed(home.one("ls", path="/"), "") == [
        "/analysis/",
        "/files/",
        "/memories/",
        "/scratch/",
        "/summaries/",
        "/workspace/",
    ]
    assert home.asked == 0


def test_each_prefix_is_its_own_home(home, disk, browser):
    home.run(
        call("write_file", file_path="/workspace/x.md", content="disk"),
        call("write_file", file_path="/files/x.md", content="browser"),
        call("write_file", file_path="/summaries/x.md", content="state"),
    )
    assert (disk.root / "x.md").read_text() == "disk"
    assert (browser.root / "x.md").read_text() == "browser"
    assert listed(home.one("glob", pattern="x.md"), "") == [
        "/files/x.md",
        "/summaries/x.md",
        "/workspace/x.md",
    ]


@pytest.mark.parametrize(
    ("pattern", "found", "asked"),
    [
        ("a.md", EVERYWHERE, 1),
        ("**/a.md", EVERYWHERE, 1),
        ("*/a.md", EVERYWHERE, 1),
        ("/{files,scratch}/*.md", ["/files/a.md", "/scratch/a.md"], 1),
        ("**/sub/*.md", ["/files/sub/b.md", "/workspace/sub/b.md"], 1),
        ("/files/*.md", ["/files/a.md"], 1),
        ("files/**/*.md", ["/files/a.md", "/files/sub/b.md"], 1),
        ("./workspace/*.md", ["/workspace/a.md"], 0),
        ("scratch/*.md", ["/scratch/a.md"], 0),
        ("/w*/*.md", ["/workspace/a.md"], 0),
        ("/*.md", [], 0),
        ("/sub/*.md", [], 0),
    ],
)
def test_a_pattern_reaches_what_it_names_and_asks_nobody_else(home, pattern, found, asked):
    assert listed(home.one("glob", pattern=pattern), "") == found
    assert home.asked == asked
    grep = home.one("grep", pattern="needle", glob=pattern, path="/")
    assert grep.content == ("\n".join(found) or "No matches found")
    assert home.asked == 2 * asked


def test_grep_at_the_root_is_capped_over_all_homes(home):
    capped = home.one("grep", pattern="needle", max_count=2, output_mode="content").content
    assert capped.count("needle") == 2
    assert "stopped early" in capped


def test_one_failing_home_does_not_hide_the_others(tmp_path, disk, browser):
    home = Home(mounts(workspace=disk, client=browser))
    disk.write("a.md", "needle\n")
    shutil.rmtree(browser.root)
    grep = home.one("grep", pattern="needle")
    assert "/files: '/' does not exist" in grep.content
    assert "/workspace/a.md" in grep.content
    glob = home.one("glob", pattern="*.md")
    assert "/workspace/a.md" in glob.content
    assert "could not be read" in glob.content


@pytest.mark.parametrize(
    "path",
    [
        "/Workspace/x",
        "/WORKSPACE/x",
        "/\uff37ORKSPACE/x",
        "/workspace /x",
        "/workspace\u0301/x",
        "/workspac\u0435/x",
        "/w\u03bfrkspace/x",
    ],
)
def test_a_misspelled_mount_is_refused_and_not_kept_in_state(home, path):
    write, read, ls, grep, glob, pattern = home.run(
        call("write_file", file_path=path, content="x"),
        call("read_file", file_path=path),
        call("ls", path=path),
        call("grep", pattern="x", path=path),
        call("glob", pattern="*", path=path),
        call("glob", pattern=f"{path}/*.md"),
    )
    for message in (write, read, ls, grep, glob, pattern):
        assert message.status == "error"
        assert "Did you mean /workspace/?" in message.content


def test_a_mount_is_not_a_file(home):
    for path in ("/", "/workspace", "/memories/"):
        for message in home.run(
            call("write_file", file_path=path, content="x"),
            call("read_file", file_path=path),
            call("edit_file", file_path=path, old_string="a", new_string="b"),
        ):
            assert "is a folder" in message.content


class TestOwnership:
    @pytest.fixture
    def table(self, disk) -> Mounts:
        return mounts(workspace=disk, client=True, store=True)

    def test_a_person_owns_the_workspace_and_the_client_files(self, table, disk):
        assert table.owned == ("/workspace/", "/files/")
        assert mounts(workspace=disk).owned == ("/workspace/",)
        assert mounts().owned == ()

    @pytest.mark.parametrize(
        "path",
        [
            "/workspace/x",
            "workspace/x",
            "//workspace/x",
            "/./workspace/x",
            "/workspace",
            "/workspace/../workspace/x",
            "/scratch/../workspace/x",
            "\\workspace\\x",
            "/Workspace/x",
            "/workspace\u200b/x",
            "/workspace\ufe0f/x",
            "/workspace\u034f/x",
            "/workspace\u3164/x",
            "/\u115fworkspace/x",
            "/workspace\u0301/x",
            "/workspac\u0435/x",
            "/\uff57orkspace/x",
            "/files/a/b",
            "C:/workspace/x",
            None,
        ],
    )
    def test_every_spelling_of_an_owned_path_is_owned(self, table, path):
        assert table.is_owned(path)

    @pytest.mark.parametrize(
        "path", ["/scratch/x", "/memories/x", "/workspace.md", "/scratch/workspace/x", "/x", "/"]
    )
    def test_the_agents_own_memory_is_not(self, table, path):
        assert not table.is_owned(path)

    def test_a_workspace_that_is_not_mounted_is_nobodys(self):
        assert not mounts().is_owned("/workspace/x")


def in_a_graph(work, *, store=None, **configurable: Any) -> Any:
    """Run `work` inside a node, where graph state and store can be reached."""
    result: list[Any] = []
    builder = StateGraph(dict)
    builder.add_node("node", lambda _state: result.append(work()) or {})
    builder.add_edge(START, "node")
    builder.compile(store=store).invoke({}, {"configurable": configurable})
    return result[0]


def test_memories_of_tenants_are_apart():
    store = InMemoryStore()
    table = mounts(store=True)
    for tenant in ("ann", "ann.b@example.org", "*", None):
        configurable = {} if tenant is None else {"tenant": tenant}
        empty = in_a_graph(lambda: table.glob("*", "/memories"), store=store, **configurable)
        assert empty.matches == []
        in_a_graph(lambda: table.write("/memories/x.md", "mine"), store=store, **configurable)
    again = in_a_graph(lambda: table.read("/memories/x.md"), store=store, tenant="ann")
    assert again.file_data["content"] == "mine"


def every_call(table: Mounts, path: str) -> list[Any]:
    """What each method makes of one path."""
    return [
        table.ls(path),
        table.read(path),
        table.write(path, "x"),
        table.edit(path, "x", "y"),
        table.delete(path),
        table.glob("*", path),
        table.grep("x", path),
        *table.upload_files([(path, b"x")]),
        *table.download_files([path]),
    ]


def test_memories_without_a_store_say_what_is_missing(disk):
    disk.write("a.md", "needle")
    table = mounts(workspace=disk, store=True)
    results = in_a_graph(lambda: every_call(table, "/memories/x.md"))
    assert {result.error for result in results} == {
        "/memories/ needs a store: pass store= to the agent."
    }
    home = Home(table, store=None)
    for message in home.run(call("grep", pattern="needle"), call("glob", pattern="*.md")):
        assert "/workspace/a.md" in message.content


@pytest.mark.parametrize("tenant", [5, "", " ", "a\nb", ["ann"], {"name": "ann"}, b"ann", False])
def test_a_malformed_tenant_has_no_memories(tenant):
    store = InMemoryStore()
    table = mounts(store=True)
    results = in_a_graph(lambda: every_call(table, "/memories/x.md"), store=store, tenant=tenant)
    assert all("tenant must be a printable name" in result.error for result in results)
    assert store.search(()) == []


def test_whole_files_are_routed_and_their_paths_checked(disk):
    table = mounts(workspace=disk)
    sent = table.upload_files([("/workspace/x.bin", b"\0"), ("/workspace/../y", b"\0")])
    assert [each.error for each in sent] == [None, "invalid_path"]
    got = table.download_files(["//workspace/x.bin", "/workspace/.deepnb/log"])
    assert (got[0].content, got[1].error) == (b"\0", "invalid_path")


def test_only_the_agents_own_memory_can_be_deleted(home, disk):
    for path, status in (
        ("/workspace/a.md", "error"),
        ("/", "error"),
        ("/scratch/a.md", "success"),
    ):
        assert home.one("delete", file_path=path).status == status
    assert (disk.root / "a.md").exists()


@pytest.mark.parametrize("workspace", [5, b"here", ["."]])
def test_a_workspace_that_is_no_path_is_one_clear_error(workspace):
    with pytest.raises(PathError, match="named by its path"):
        mounts(workspace=workspace)


def test_it_shows_its_homes(tmp_path):
    assert repr(mounts(workspace=tmp_path, client=True)) == (
        f"Mounts(/workspace/: Folder({str(tmp_path)!r}), /files/: Client())"
    )
    assert repr(mounts()) == "Mounts(graph state only)"
