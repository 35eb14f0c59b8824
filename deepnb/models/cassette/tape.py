"""The file of a recording.

Long things are said once. Tools and messages have a name each and stand in lists of their own; an
exchange refers to them, and so reads like the table of contents of the conversation. The parts of
the file are only ever added to, which keeps a diff of two recordings short.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import weakref
from contextlib import contextmanager, suppress
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml  # type: ignore[import-untyped]  # PyYAML ships no types

from deepnb.errors import ModelError, UnknownModelError
from deepnb.models.cassette.exchange import Plain, key_of
from deepnb.models.cassette.masking import MASK, same_but_for_masks

try:
    import fcntl
except ImportError:  # Windows has no such module
    fcntl = None  # type: ignore[assignment]  # told apart where it is used

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMAT = 1
_LISTS = ("tools", "messages", "exchanges")

Listed: TypeAlias = dict[str, list[Plain]]
State: TypeAlias = tuple[int, ...] | None


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # untyped, as said above
    """PyYAML's safe dumper, in Python: the one in C writes no emoji as it is."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style='"' if _QUOTED.search(text) else style
    )


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    names = all(isinstance(item, str) and _NAME.fullmatch(item) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=names)


_NAME = re.compile(r"[mt]\d+")
# PyYAML ends the document after a text with an empty last line; Unicode's other line breaks, and
# a byte order mark, do not come back as they were.
_QUOTED = re.compile(r"(?:^|\n)\n\Z|[\x85\u2028\u2029\ufeff]")
_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)
_Dumper.ignore_aliases = lambda *_: True  # repeats are rare, and anchors hard to read

_opening = threading.Lock()
_open: weakref.WeakValueDictionary[Path, Tape] = weakref.WeakValueDictionary()


def open_tape(path: Path) -> Tape:
    """The tape at this path, to record on; several models of a process may share one."""
    path = path.expanduser().resolve()
    with _opening:
        tape = _open.get(path)
        if tape is None:
            tape = _open[path] = Tape.read(path) if path.exists() else Tape(path, {})
        return tape


class Tape:
    """What is recorded in one file; safe to use from several threads.

    Attributes:
        path: The file.
        header: The format, the model's name and profile, the date.
    """

    def __init__(
        self, path: Path, header: Plain, listed: Listed | None = None, state: State = None
    ) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._state = state
        self._load(header, listed or {})

    def _load(self, header: Plain, listed: Listed) -> None:
        self.header = header
        self._lists: Listed = {name: list(listed.get(name, [])) for name in _LISTS}
        # Rendering is what takes time, so each entry is rendered once, and only to be written.
        self._rendered: dict[str, list[str | None]] = {
            name: [None] * len(entries) for name, entries in self._lists.items()
        }
        self._entries: dict[str, Plain] = {}
        self._names: dict[str, str] = {}
        for table in ("tools", "messages"):
            for entry in self._lists[table]:
                self._entries[entry["id"]] = _without_id(entry)
                self._names.setdefault(key_of(_without_id(entry)), entry["id"])
        self._position: dict[str, int] = {}
        for position, exchange in enumerate(self.exchanges):
            self._position[self._key(self._resolve(exchange))] = position

    @classmethod
    def read(cls, path: Path) -> Tape:
        """Read a recording.

        Raises:
            UnknownModelError: There is no such file.
            ModelError: It is not a recording, is damaged, or comes from a newer deepnb.
        """
        # Before the file is read: a change in between is then noticed, and not overwritten.
        state = _state(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise UnknownModelError(
                f"The recording {path} could not be read ({error.strerror}). Check the path, or "
                "make it with deepnb.models.record(model, path)."
            ) from error
        except UnicodeDecodeError as error:
            raise _damaged(path, error) from error
        try:
            # The same as yaml.safe_load, ten times as fast where PyYAML was built with its C part.
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            data = yaml.load(text, Loader=loader)  # noqa: S506  # both loaders are the safe ones
        except yaml.YAMLError as error:
            raise _damaged(path, error) from error
        if not isinstance(data, dict) or not isinstance(data.get("deepnb-cassette"), int):
            raise _damaged(path, "it has no line `deepnb-cassette: 1`")
        if data["deepnb-cassette"] > FORMAT:
            raise ModelError(
                f"The recording {path} has format {data['deepnb-cassette']}, and this deepnb reads "
                f"up to {FORMAT}. Run: pip install -U deepnb"
            )
        header = {name: value for name, value in data.items() if name not in _LISTS}
        try:
            return cls(path, header, {name: data.get(name) or [] for name in _LISTS}, state)
        except (KeyError, TypeError, AttributeError) as error:
            raise _damaged(path, f"missing {error}") from error

    @property
    def exchanges(self) -> list[Plain]:
        """The exchanges, as they stand in the file."""
        return self._lists["exchanges"]

    def requests(self) -> Iterator[Plain]:
        """Every recorded request in full."""
        return map(self._resolve, self.exchanges)

    def find(self, request: Plain) -> int | None:
        """Where this request is among the exchanges, also if only other texts were masked."""
        key = self._key(request)
        if key in self._position:
            return self._position[key]
        if not any(MASK in each for each in (key_of(request), *self._names)):
            return None
        length = len(request["messages"])
        for position, exchange in enumerate(self.exchanges):
            if len(exchange["messages"]) == length and same_but_for_masks(
                request, self._resolve(exchange)
            ):
                return position
        return None

    def add(self, request: Plain, reply: Plain, about: Plain, asked: set[str]) -> None:
        """Record an exchange, and save the file.

        Args:
            request: What was asked.
            reply: What was answered.
            about: The model's name and profile, for the header of a new file.
            asked: The keys this recording has asked already; replies to others are replaced.
        """
        asked_key = key_of(request)
        with self._lock, _alone(self.path):
            self._catch_up()
            if not self.header:
                self.header = {
                    "deepnb-cassette": FORMAT,
                    "recorded": date.today().isoformat(),  # noqa: DTZ011  # the reader's own date
                    **about,
                }
            position = self._position.get(self._key(request))
            if position is not None:
                exchange = self.exchanges[position]
                earlier = exchange["replies"] if asked_key in asked else []
                exchange = {**exchange, "replies": [*earlier, reply]}
                self._rendered["exchanges"][position] = render([exchange])
                self.exchanges[position] = exchange
            else:
                self._append("exchanges", {**self._refer(request), "replies": [reply]})
                self._position[self._key(request)] = len(self.exchanges) - 1
            asked.add(asked_key)
            self._save()

    def _catch_up(self) -> None:
        """Take over what another process recorded; what this one did is in the file already."""
        if _state(self.path) == self._state:
            return
        now = Tape.read(self.path) if self.path.exists() else Tape(self.path, {})
        self._load(now.header, now._lists)  # noqa: SLF001  # of the same class

    def _key(self, request: Plain) -> str:
        """Equal for equal requests; short, since what is long goes by its name."""
        named: Plain = {
            table: [self._names.get(key_of(each)) or key_of(each) for each in request[table]]
            for table in ("messages", "tools")
            if table in request
        }
        return key_of({**request, **named})

    def _refer(self, request: Plain) -> Plain:
        exchange = dict(request)
        exchange["messages"] = [self._name("messages", "m", each) for each in request["messages"]]
        if "tools" in request:
            exchange["tools"] = [self._name("tools", "t", each) for each in request["tools"]]
        return exchange

    def _name(self, table: str, letter: str, entry: Plain) -> str:
        key = key_of(entry)
        if key not in self._names:
            name = f"{letter}{len(self._lists[table]) + 1}"
            self._append(table, {"id": name, **entry})
            self._names[key], self._entries[name] = name, entry
        return self._names[key]

    def _resolve(self, exchange: Plain) -> Plain:
        request = dict(exchange)
        del request["replies"]
        for table in ("messages", "tools"):
            if table in request:
                request[table] = [self._entries[name] for name in request[table]]
        return request

    def _append(self, table: str, entry: Plain) -> None:
        # Rendered first: what cannot be must not keep all else from being saved.
        self._rendered[table].append(render([entry]))
        self._lists[table].append(entry)

    def _save(self) -> None:
        """Replace the file as a whole: whoever is killed half-way leaves the one before."""
        parts = [render(self.header)]
        for name, entries in self._lists.items():
            rendered = [
                text or render([entry])
                for text, entry in zip(self._rendered[name], entries, strict=True)
            ]
            self._rendered[name] = list(rendered)
            if rendered:
                parts += [f"\n{name}:\n", *rendered]
        temporary = self.path.with_name(f".{self.path.name}-{secrets.token_hex(4)}")
        try:
            temporary.write_text("".join(parts), encoding="utf-8", newline="\n")
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)
        self._state = _state(self.path)


def _state(path: Path) -> State:
    """What changes whenever somebody writes the file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from writing the recording at the same time.

    The folder is locked, as the file is replaced and a lock file would be left behind by whoever
    is killed. Where folders cannot be locked, only the change of the file gives others away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def render(data: Any) -> str:
    """YAML as people like to read it."""
    return str(yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=100))


def _without_id(entry: Plain) -> Plain:
    return {name: value for name, value in entry.items() if name != "id"}


def _damaged(path: Path, reason: object) -> ModelError:
    return ModelError(
        f"{path} is not a recording that can be replayed: {reason}. Restore the file, or delete it "
        "and record again with deepnb.models.record(model, path)."
    )
