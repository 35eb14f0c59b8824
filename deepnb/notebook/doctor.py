"""What this place can do, and what deepnb makes of it.

Nothing is loaded or written to find out, and nothing here fails: what cannot be found is said to be
not known.
"""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb import __version__
from deepnb.errors import DeepnbError
from deepnb.session import serving
from deepnb.transcript.legible import legible

if TYPE_CHECKING:
    from collections.abc import Callable

_HOSTS = {
    "COLAB_RELEASE_TAG": "Colab",
    "BINDER_REPO_URL": "Binder",
    "VSCODE_PID": "VS Code",
    "JPY_PARENT_PID": "a Jupyter server",
}
"""What an environment variable tells; the first that is set counts."""
_WIDGETS = ("anywidget", "ipywidgets")
_GET_WIDGETS = "pip install 'deepnb[widgets]', then restart the kernel"
_LOOK_AGAIN = "show a panel, then look again"


@dataclass(frozen=True)
class Row:
    """One finding.

    Attributes:
        what: What was looked at.
        found: How it is.
        use: What deepnb makes of that, or what you can do.
    """

    what: str
    found: str
    use: str


@dataclass(frozen=True, repr=False)
class Findings:
    """What `doctor` has found, as a table."""

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        whats = max(len(row.what) for row in self.rows)
        founds = max(len(row.found) for row in self.rows)
        return "\n".join(
            f"{row.what:{whats}}  {row.found:{founds}}  {row.use}".rstrip() for row in self.rows
        )

    def _repr_html_(self) -> str:
        # Notebooks set cells to the right, for numbers.
        cells = '<td style="text-align: left">'
        rows = (
            f"<tr>{cells}<b>{escape(row.what)}</b></td>{cells}{escape(row.found)}</td>"
            f"{cells}{escape(row.use)}</td></tr>"
            for row in self.rows
        )
        return f"<table>{''.join(rows)}</table>"


def doctor() -> Findings:
    """Say what this host can do, and what will be used.

    In a cell it knows the kernel, and once a panel was shown, the page.
    """
    looks = {"deepnb": _versions, "Kernel": _kernel, "Widgets": _widgets}
    if _this_kernel() is not None:
        looks |= {
            "Host": _host,
            "Push": _push,
            "Buffers": _buffers,
            "Subshells": _subshells,
            "run.wait()": _waiting,
        }
    looks |= {"Storage": _storage, "Model": _model, "Extras": _extras}
    return Findings(tuple(_row(what, look) for what, look in looks.items()))


def _row(what: str, look: Callable[[], tuple[str, str]]) -> Row:
    try:
        found, use = look()
    except DeepnbError as error:
        found, use = "cannot be used", str(error)
    except Exception as error:  # noqa: BLE001  # a strange host is what this is for
        found, use = "not known", f"looking for it failed: {type(error).__name__}"
    return Row(what, *(" ".join(legible(text).split()) for text in (found, use)))


def _versions() -> tuple[str, str]:
    return __version__, f"Python {platform.python_version()} on {platform.system()}"


def _this_kernel() -> Any:
    python = sys.modules.get("IPython")
    return getattr(python.get_ipython() if python else None, "kernel", None)


def _kernel() -> tuple[str, str]:
    if _this_kernel() is None:
        return "none: plain Python", "sessions work; the panel needs a notebook"
    known = _version("ipykernel")
    return f"ipykernel {known}" if known else "not ipykernel", "runs go on beside the cells"


def _widgets() -> tuple[str, str]:
    versions = {name: _version(name) for name in _WIDGETS}
    found = ", ".join(f"{name} {known or 'not installed'}" for name, known in versions.items())
    if not all(versions.values()):
        return found, f"a static card in place of the panel; for the panel: {_GET_WIDGETS}"
    return found, "the panel" if _this_kernel() else "the panel, once you are in a notebook"


def _views() -> list[Any]:
    module = sys.modules.get("deepnb.widgets.panel")  # else there is no panel, and no need for it
    return list(chain.from_iterable(p.views for p in module.panels())) if module else []


def _host() -> tuple[str, str]:
    if hosts := sorted({view.host for view in _views()}):
        return ", ".join(hosts), "as the pages say that show a panel"
    for variable, host in _HOSTS.items():
        if variable in os.environ:
            return f"probably {host}", f"{variable} is set"
    return "not known yet", _LOOK_AGAIN


def _push() -> tuple[str, str]:
    heard = {view.push for view in _views()}
    if True in heard:
        return "yes, measured", "the panel is told what happens"
    if False in heard:
        return "no, measured", "the panel asks what has happened, a few times a second"
    return "not known yet", _LOOK_AGAIN


def _buffers() -> tuple[str, str]:
    unused = "not needed: the panel sends text only"
    if views := _views():
        return "yes, measured" if any(v.buffers for v in views) else "not seen", unused
    return "not known yet", f"{unused}; {_LOOK_AGAIN}"


def _subshells() -> tuple[str, str]:
    after = "a click while a cell runs is taken when the cell has ended"
    if not getattr(_this_kernel(), "_supports_kernel_subshells", False):
        return "no", after
    return "yes", f"where the page uses them, a click is taken at once; else: {after}"


def _waiting() -> tuple[str, str]:
    if serving.is_possible():
        return "serves the panel", "clicks are taken at once while a cell waits for a run"
    return "waits only", "`await run` lets the panel work meanwhile, if anything does"


def _storage() -> tuple[str, str]:
    folder = Path(".deepnb")
    if os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return "this folder is writable", "threads are kept in .deepnb/"
    return "this folder is read-only", "give another with workspace=…, or persist=False"


def _model() -> tuple[str, str]:
    from deepnb.models import explain

    choice = explain()
    if choice.spec == "offline":
        return choice.spec, f"{choice.rule}; it answers in quotes from your files"
    # A key is easily given where a name belongs.
    from deepnb.models.cassette.masking import mask

    return str(mask(choice.spec)), choice.rule


def _extras() -> tuple[str, str]:
    from packaging.requirements import Requirement

    extras = [name for name in metadata("deepnb").get_all("Provides-Extra") or [] if name != "all"]
    needed = [Requirement(text) for text in requires("deepnb") or []]
    lacking = {
        extra
        for extra in extras
        for need in needed
        if need.marker
        and need.marker.evaluate({"extra": extra})
        and not need.marker.evaluate({"extra": ""})
        and not _version(need.name)
    }
    missing = ",".join(extra for extra in extras if extra in lacking)
    more = f"for the others: pip install 'deepnb[{missing}]'" if missing else ""
    return f"{len(extras) - len(lacking)} of {len(extras)} installed", more


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
