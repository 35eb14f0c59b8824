"""What ties places in browsers to places in the workspace, and what both sides agreed on last.

One SQLite file in the workspace's record, so that a mapping outlives the page and the kernel. If a
process dies between changing a file and noting it, nothing is lost: both sides then hold the same,
which the next comparison finds out.
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.errors import DeepnbError, PathError
from deepnb.exchange.steps import Comparison, Mode, Seen, checked, compare, folded, parents
from deepnb.files.paths import join, safe_parts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from collections.abc import Mapping as Map

    from deepnb.exchange.ledger import Ledger
    from deepnb.exchange.steps import Verdict

TABLES = """
CREATE TABLE IF NOT EXISTS mapping (id TEXT PRIMARY KEY, browser TEXT NOT NULL,
    source TEXT NOT NULL, target TEXT NOT NULL, is_folder INTEGER NOT NULL, mode TEXT NOT NULL,
    made REAL NOT NULL, done INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS file (mapping TEXT NOT NULL, path TEXT NOT NULL, agreed TEXT NOT NULL,
    size INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (mapping, path));
"""
_KEEP_FILE = (
    "INSERT OR REPLACE INTO file (mapping, path, agreed, state, size) VALUES (?, ?, ?, ?, ?)"
)
_DROP_FILE = "DELETE FROM file WHERE mapping = ? AND path = ?"
_SETTLED = {"copy": "copied", "sync": "in step"}
_STATES = {
    "send": "to be sent",
    "take": "to be fetched",
    "conflict": "conflict",
    "gone_here": "deleted in the browser",
    "gone_there": "deleted in the workspace",
}


class Mapping(TypedDict):
    """What ties a place in a browser to a place in the workspace; a copy may be `done`."""

    id: str
    browser: str
    source: str
    target: str
    is_folder: bool
    mode: Mode
    done: bool


class MappedFile(TypedDict):
    """A file of a mapping, as it was when the sides were last compared."""

    mapping: str
    source: str
    target: str
    mode: Mode
    size: int
    state: str


class _Standing(NamedTuple):
    agreed: str
    state: str
    size: int


class Mappings:
    """The mappings of a workspace; any thread and any process may call.

    Args:
        ledger: What they are kept in, with `TABLES`.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    # Mappings

    def add(
        self, browser: str, source: str, target: str, *, is_folder: bool, mode: Mode
    ) -> Mapping:
        """Tie two places; the same tie again is the one that is there, or a new copy.

        Raises:
            PathError: A path is malformed, or another mapping keeps the place in step already.
        """
        source, target = join(safe_parts(source)), join(safe_parts(target))
        with self._ledger.transaction() as db:
            for other in _all(db):
                if other["browser"] != browser:
                    continue
                same = (other["source"], other["target"]) == (source, target)
                if same and mode == other["mode"] == "sync" and is_folder == other["is_folder"]:
                    return other
                if same and other["mode"] == "copy":
                    _delete(db, other["id"])
                elif mode == other["mode"] == "sync":
                    _refuse_overlap("My computer", source, other["source"])
                    _refuse_overlap("the workspace", target, other["target"])
            name = secrets.token_hex(8)
            db.execute(
                "INSERT INTO mapping VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                (name, browser, source, target, is_folder, mode, time.time()),
            )
        return self.get(name)

    def remove(self, mapping: str) -> None:
        """Untie them; both sides keep their files."""
        if self._ledger.exists:
            with self._ledger.transaction() as db:
                _delete(db, mapping)

    def count(self, mapping: str) -> int:
        """How many files of a mapping are known."""
        with self._ledger.reading() as db:
            row = db.execute("SELECT count(*) FROM file WHERE mapping = ?", (mapping,)).fetchone()
        return int(row[0])

    def finish(self, mapping: str) -> None:
        """Note that all of a copy is there: from now on there is nothing to be done for it."""
        with self._ledger.transaction() as db:
            db.execute("UPDATE mapping SET done = 1 WHERE id = ? AND mode = 'copy'", (mapping,))

    def all(self) -> list[Mapping]:
        """All of them, oldest first."""
        if not self._ledger.exists:
            return []
        with self._ledger.reading() as db:
            return _all(db)

    def get(self, mapping: str) -> Mapping:
        """Find one.

        Raises:
            DeepnbError: There is none.
        """
        for each in self.all():
            if each["id"] == mapping:
                return each
        raise DeepnbError("These files are not mapped any more. Map them again to go on.")

    # Their files

    def compare(
        self,
        mapping: Mapping,
        here: Iterable[Seen],
        there: Map[str, Seen],
        unreadable: Map[str, str] | None = None,
    ) -> Comparison:
        """Say what has to be done, and remember how the files stand.

        Args:
            mapping: Whose files they are.
            here: The browser's, as it says: whatever is wrong with them is told.
            there: The workspace's, by path below the mapping.
            unreadable: What is in the workspace but could not be looked at, with the reason.
        """
        usable, unusable = checked(here, is_folder=mapping["is_folder"])
        with self._ledger.transaction() as db:
            known = {
                path: _Standing(agreed, state, size)
                for path, agreed, state, size in db.execute(
                    "SELECT path, agreed, state, size FROM file WHERE mapping = ?",
                    (mapping["id"],),
                )
            }
            agreed = {path: standing.agreed for path, standing in known.items() if standing.agreed}
            unusable |= _hidden({*agreed, *usable, *there}, unreadable or {})
            verdict = compare(mapping["mode"], usable, there, agreed, unusable)
            now = _standings(mapping["mode"], verdict, known, {**there, **usable})
            gone = [(mapping["id"], path) for path in known.keys() - now.keys()]
            new = [path for path in now if now[path] != known.get(path)]
            db.executemany(_DROP_FILE, gone)
            db.executemany(_KEEP_FILE, [(mapping["id"], path, *now[path]) for path in new])
        settled = _SETTLED[mapping["mode"]]
        return {
            "steps": verdict.steps,
            "same": sum(standing.state == settled for standing in now.values()),
            "unusable": [
                f"{path} {why}.".strip() for path, why in sorted(verdict.unusable.items())
            ],
        }

    def agree(self, mapping: Mapping, path: str, sha256: str, size: int) -> None:
        """Note that both sides of a file have had this content, or that none is left."""
        with self._ledger.transaction() as db:
            if sha256:
                db.execute(
                    _KEEP_FILE, (mapping["id"], path, sha256, _SETTLED[mapping["mode"]], size)
                )
            else:
                db.execute(_DROP_FILE, (mapping["id"], path))

    def rows(self) -> list[MappedFile]:
        """Every mapped file that is known, as it was when it was last looked at."""
        mappings = {each["id"]: each for each in self.all()}
        if not mappings:
            return []
        with self._ledger.reading() as db:
            found = db.execute(
                "SELECT mapping, path, size, state FROM file ORDER BY mapping, path"
            ).fetchall()
        return [
            {
                "mapping": name,
                "source": below(mappings[name]["source"], path),
                "target": below(mappings[name]["target"], path),
                "mode": mappings[name]["mode"],
                "size": size,
                "state": state,
            }
            for name, path, size, state in found
            if name in mappings
        ]


def below(place: str, path: str) -> str:
    """The path of a file of a mapping; `path` is empty for the mapped file itself."""
    return join((*safe_parts(place), *safe_parts(path)))


def part_below(place: str, path: str) -> str | None:
    """What `below` has put together; None for what is not at or below that place."""
    top, parts = safe_parts(place), safe_parts(path)
    return "/".join(parts[len(top) :]) if parts[: len(top)] == top else None


def _all(db: sqlite3.Cursor) -> list[Mapping]:
    found = db.execute(
        "SELECT id, browser, source, target, is_folder, mode, done FROM mapping ORDER BY made, id"
    )
    return [
        {
            "id": name,
            "browser": browser,
            "source": source,
            "target": target,
            "is_folder": bool(is_folder),
            "mode": mode,
            "done": bool(done),
        }
        for name, browser, source, target, is_folder, mode, done in found
    ]


def _delete(db: sqlite3.Cursor, mapping: str) -> None:
    db.execute("DELETE FROM file WHERE mapping = ?", (mapping,))
    db.execute("DELETE FROM mapping WHERE id = ?", (mapping,))


def _refuse_overlap(where: str, path: str, other: str) -> None:
    one, two = (tuple(map(folded, safe_parts(each))) for each in (path, other))
    shorter = min(len(one), len(two))
    if one[:shorter] == two[:shorter]:
        raise PathError(
            f"{path!r} and {other!r} in {where} are the same or one is in the other, and {other!r} "
            "is kept in step already. Unmap that first, or make a copy."
        )


def _hidden(paths: set[str], unreadable: Map[str, str]) -> dict[str, str]:
    """What cannot be told of files in folders that cannot be read: they are not gone."""
    hidden = dict(unreadable)
    for path in paths if unreadable else ():
        for top in parents(path):
            if top in unreadable:
                hidden[path] = unreadable[top]
    return hidden


def _standings(
    mode: Mode, verdict: Verdict, known: Map[str, _Standing], seen: Map[str, Seen]
) -> dict[str, _Standing]:
    """How each file stands after a comparison; what is left out is forgotten."""
    settled = _SETTLED[mode]
    now = {path: was._replace(state=settled) for path, was in known.items() if was.agreed}
    for path in verdict.forgotten:
        now.pop(path, None)
    for path, sha256 in verdict.agreed.items():
        now[path] = _Standing(sha256, settled, seen[path].size)
    for step in verdict.steps:
        now[step["path"]] = _Standing(step["agreed"], _STATES[step["do"]], step["size"])
    for path in verdict.unusable.keys() & (seen.keys() | now.keys()):
        before = now.get(path, _Standing("", "", 0))
        size = seen[path].size if path in seen else before.size
        now[path] = _Standing(before.agreed, "cannot be mapped", size)
    return now
