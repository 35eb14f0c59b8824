"""The file of a recording.

Long things are said once. Tools and messages have a name each and stand in lists of their own; an
exchange refers to them, and so reads like the table of contents of the conversation. The parts of
the file are only ever added to, which keeps a diff of two recordings short.
"""

from __future__ import annotations

import re
import secrets
import threading
import weakref
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml  # type: ignore[import-untyped]  # PyYAML ships no types

from deepnb.errors import ModelError, UnknownModelError
from deepnb.models.cassette.exchange import Plain, key_of

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = 1
_LISTS = ("tools", "messages", "exchanges")

Listed: TypeAlias = dict[str, list[Plain]]


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # untyped, as said above
    """PyYAML's safe dumper, in Python: the one in C writes no emoji as it is."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    names = all(isinstance(item, str) and _NAME.fullmatch(item) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=names)


_NAME = re.compile(r"[mt]\d+")
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

    def __init__(self, path: Path, header: Plain, listed: Listed | None = None) -> None:
        self.path = path
        self.header = header
        self._lock = threading.Lock()
        self._lists: Listed = {name: list((listed or {}).get(name, [])) for name in _LISTS}
        # Rendering is what takes time, so each entry is rendered once.
        self._rendered = {
            name: [render([entry]) for entry in entries] for name, entries in self._lists.items()
        }
        self._position = {key_of(self._resolve(each)): i for i, each in enumerate(self.exchanges)}
        self._names: dict[str, str] = {
            key_of(_without_id(entry)): entry["id"]
            for name in ("tools", "messages")
            for entry in self._lists[name]
        }

    @classmethod
    def read(cls, path: Path) -> Tape:
        """Read a recording.

        Raises:
            UnknownModelError: There is no such file.
            ModelError: It is not a recording, is damaged, or comes from a newer deepnb.
        """
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
            return cls(path, header, {name: data.get(name) or [] for name in _LISTS})
        except (KeyError, TypeError, AttributeError) as error:
            raise _damaged(path, f"missing {error}") from error

    @property
    def exchanges(self) -> list[Plain]:
        """The exchanges, as they stand in the file."""
        return self._lists["exchanges"]

    def requests(self) -> list[Plain]:
        """Every recorded request in full."""
        return [self._resolve(exchange) for exchange in self.exchanges]

    def replies(self, request: Plain) -> list[Plain]:
        """The replies to this request, in recorded order."""
        position = self._position.get(key_of(request))
        return [] if position is None else self.exchanges[position]["replies"]

    def add(self, request: Plain, reply: Plain, about: Plain, asked: set[str]) -> None:
        """Record an exchange, and save the file.

        Args:
            request: What was asked.
            reply: What was answered.
            about: The model's name and profile, for the header of a new file.
            asked: The keys this recording has asked already; replies to others are replaced.
        """
        key = key_of(request)
        with self._lock:
            if not self.header:
                self.header = {
                    "deepnb-cassette": FORMAT,
                    "recorded": date.today().isoformat(),  # noqa: DTZ011  # the reader's own date
                    **about,
                }
            if key in self._position:
                exchange = self.exchanges[self._position[key]]
                earlier = exchange["replies"] if key in asked else []
                exchange["replies"] = [*earlier, reply]
                self._rendered["exchanges"][self._position[key]] = render([exchange])
            else:
                self._position[key] = len(self.exchanges)
                self._append("exchanges", {**self._refer(request), "replies": [reply]})
            asked.add(key)
            self._save()

    def _refer(self, request: Plain) -> Plain:
        exchange = dict(request)
        exchange["messages"] = [self._name("messages", "m", each) for each in request["messages"]]
        if "tools" in request:
            exchange["tools"] = [self._name("tools", "t", each) for each in request["tools"]]
        return exchange

    def _name(self, table: str, letter: str, entry: Plain) -> str:
        key = key_of(entry)
        if key not in self._names:
            self._names[key] = f"{letter}{len(self._lists[table]) + 1}"
            self._append(table, {"id": self._names[key], **entry})
        return self._names[key]

    def _resolve(self, exchange: Plain) -> Plain:
        request = dict(exchange)
        del request["replies"]
        for table in ("messages", "tools"):
            if table in request:
                by_id = {entry["id"]: _without_id(entry) for entry in self._lists[table]}
                request[table] = [by_id[name] for name in request[table]]
        return request

    def _append(self, table: str, entry: Plain) -> None:
        self._lists[table].append(entry)
        self._rendered[table].append(render([entry]))

    def _save(self) -> None:
        """Replace the file as a whole: whoever is killed half-way leaves the one before."""
        parts = [render(self.header)]
        for name, entries in self._rendered.items():
            if entries:
                parts += [f"\n{name}:\n", *entries]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f".{self.path.name}-{secrets.token_hex(4)}")
        try:
            temporary.write_text("".join(parts), encoding="utf-8", newline="\n")
            temporary.replace(self.path)
        finally:
            temporary.unlink(missing_ok=True)


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
