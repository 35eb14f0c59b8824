"""Names that load their module when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Make a package's `__getattr__`: `homes` says which module each public name lives in.

    A name that is its own home is a submodule.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{homes[name]}")
        return module if name == homes[name] else getattr(module, name)

    return load
