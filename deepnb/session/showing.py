"""How a session shows itself: the one door that leads up to the widgets.

They are loaded when a session is displayed, and not before.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from deepnb.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from deepnb.record import Record
    from deepnb.session.session import Session
    from deepnb.widgets.panel import Explorer as Explorer  # noqa: PLC0414  # session.py takes them
    from deepnb.widgets.panel import Panel as Panel  # noqa: PLC0414  # from here

PANEL = "panel"
"""Under this name the record knows that a panel has shown the thread."""
_opening: list[Callable[[Session], None]] = []


def on_opening(callback: Callable[[Session], None]) -> Callable[[Session], None]:
    """Have `callback` called with each session that is opened."""
    _opening.append(callback)
    return callback


def tell_opened(session: Session, record: Record) -> None:
    """Tell whoever waits for a session: a panel that showed an earlier one, for example."""
    for callback in _opening:
        with _guard(record):
            callback(session)


def come_back(session: Session, record: Record) -> None:
    """Have a panel for a page that still shows the one of a kernel that has ended."""
    if record.about.get(PANEL) and has_kernel():
        with _guard(record), suppress(MissingExtraError):
            session.panel()


@contextmanager
def _guard(record: Record) -> Iterator[None]:
    """Let a session open, whatever a picture of it does."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # of widgets, and of the host
        text = f"The panel could not be shown: {type(error).__name__}: {error}"
        record.log.append("warning", data={"text": text})


def find_panel(session: Session) -> Panel:
    """Give the panel of a session.

    Raises:
        MissingExtraError: The widgets are not installed.
    """
    with _named_extra():
        from deepnb.widgets.panel import Panel, panel_of
    return panel_of(session, Panel)


def find_explorer(session: Session) -> Explorer:
    """Give the file explorer of a session.

    Raises:
        MissingExtraError: The widgets are not installed.
    """
    with _named_extra():
        from deepnb.widgets.panel import Explorer, panel_of
    return panel_of(session, Explorer)


@contextmanager
def _named_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "'deepnb[widgets]'") from error


def display(session: Session) -> None:
    """Show the panel; without the widgets, how the session stands, and how to get them."""
    from IPython.display import display as show

    try:
        show(session.panel())
    except MissingExtraError as error:
        plain = f"{session!r}\n{error}"
        show({"text/plain": plain, "text/html": session._repr_html_()}, raw=True)


def key_of(*names: str) -> str:
    """Name a thread without saying where it is: the name is saved with the notebook."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def has_kernel() -> bool:
    """Whether this Python is the kernel of a notebook."""
    python = sys.modules.get("IPython")
    return getattr(python.get_ipython() if python else None, "kernel", None) is not None
