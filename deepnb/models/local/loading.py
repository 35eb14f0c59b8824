"""Which weights are being read, and which could not be: they are shared, and so is this."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Key = tuple[Path, int, int | None]
"""The file, the context size and the number of threads: what an engine is made of."""

under_way: set[Key] = set()
failures: dict[Key, str] = {}
_listeners: list[Callable[[], None]] = []


def key_of(path: str, context: int, threads: int | None) -> Key:
    """Give the key of an engine."""
    return Path(path).expanduser().resolve(), context, threads


def on_loading(callback: Callable[[], None]) -> Callable[[], None]:
    """Have `callback` called when weights begin or end to load; call the result to end that."""
    _listeners.append(callback)

    def end() -> None:
        with suppress(ValueError):
            _listeners.remove(callback)

    return end


@contextmanager
def loading(key: Key) -> Iterator[None]:
    """Say that the weights are read inside."""
    under_way.add(key)
    failures.pop(key, None)
    _tell()
    try:
        yield
    except Exception as error:
        failures[key] = str(error)
        raise
    finally:
        under_way.discard(key)
        _tell()


def _tell() -> None:
    for callback in _listeners.copy():
        with suppress(Exception):  # somebody else's code, and no reason not to load
            callback()
