"""`%%ask` and `%deepnb`, which `%load_ext deepnb` adds to a notebook."""

# IPython's decorators have no types.
# mypy: disable-error-code="no-untyped-call, untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from deepnb.session import Run, Session

_HELP = """\
%%ask [NAME]     asks what the cell says; its run is in _ask. NAME is a variable that holds a
                 session; without one, the latest session is asked, or a new one.
%deepnb status   shows how the latest session stands
%deepnb          shows this"""


@magics_class
class DeepnbMagics(Magics):
    """The magics."""

    shell: InteractiveShell
    _own: Session | None = None
    """The session that `%%ask` has made; nobody else would keep it."""

    @magic_arguments()
    @argument("name", nargs="?", metavar="NAME", help="A variable that holds a session.")
    @cell_magic
    def ask(self, line: str, cell: str) -> Run:
        """Ask the agent what the cell says; returns at once, with the run, which is also in _ask.

        Without NAME, the latest session is asked, or a new one if there is none.
        """
        name = parse_argstring(self.ask, line).name
        question = cell.strip()
        if not question:
            raise UsageError("Write your question into the cell, below %%ask.")
        run = self._session(name).ask(question)
        self.shell.user_ns["_ask"] = run
        return run

    def _session(self, name: str | None) -> Session:
        from deepnb.session import Session, latest

        if name is None:
            if found := latest():
                return found
            self._own = Session()
            return self._own
        session = self.shell.user_ns.get(name)
        if not isinstance(session, Session):
            raise UsageError(
                f"{name!r} is no session. Make one first: {name} = deepnb.Session(), or leave the "
                "name out."
            )
        return session

    @magic_arguments()
    @argument("command", nargs="?", metavar="COMMAND", help="status; without one: help.")
    @line_magic
    def deepnb(self, line: str) -> None:
        """Show how the latest session stands, with `status`; else say what there is."""
        command = parse_argstring(self.deepnb, line).command
        if command == "status":
            from deepnb.session import latest

            if session := latest():
                card = {"text/plain": repr(session), "text/html": session._repr_html_()}
                display(card, raw=True)
            else:
                print("There is no session yet. Make one: session = deepnb.Session(), or %%ask.")  # noqa: T201  # what a magic says
            return
        if command is not None:
            raise UsageError(f"%deepnb has no {command!r}. There is: status.")
        print(_HELP)  # noqa: T201  # as above


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magics, as `%load_ext deepnb` does."""
    shell.register_magics(DeepnbMagics)
