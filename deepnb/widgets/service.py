"""Does what the browser asks for: each request is one call of a session's method.

Nothing here knows of widgets. What takes a while is marked as such, so that whoever calls can do it
elsewhere: a kernel that is asked something must be free again at once.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from deepnb import transcript
from deepnb.errors import SessionError
from deepnb.session.listing import thread_list
from deepnb.session.session import open_session
from deepnb.widgets import money_protocol, protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from deepnb.session.session import Session
    from deepnb.widgets.request import Request

_QR = Path(__file__).parent / "static" / "qr.js"
SLOW = (
    protocol.Stop
    | protocol.Unqueue
    | protocol.EditTodos
    | protocol.Settle
    | protocol.Resume
    | protocol.Resend
    | protocol.Fork
    | protocol.SetModel
    | protocol.Preview
    | protocol.Threads
    | protocol.OpenThread
    | protocol.NewThread
    | protocol.Export
    | protocol.ExportReport
    | protocol.Transcribe
    | money_protocol.Fund
    | money_protocol.SettlePayment
)
"""What may take longer than a moment: it reads files, or waits for the run or for a mint."""


class Show(Protocol):
    """Has a panel show another session, which is a guest if it was opened for that alone."""

    def __call__(self, session: Session, *, is_guest: bool) -> None:
        """Show it."""


class Service:
    """Answers requests about a session.

    Args:
        session: The one that is shown.
        show: Has the panel show another one.
    """

    def __init__(self, session: Session, show: Show) -> None:
        self._session = session
        self._show = show
        self._do: dict[str, Callable[[Any], Any]] = {
            "ask": self._ask,
            "steer": self._steer,
            "unqueue": lambda request: self._session.withdraw(request.run),
            "respond": lambda request: self._session.respond(request.question, request.answer),
            "preview": self._preview,
            "stop": self._stop,
            "resume": lambda _: self._resume(),
            "resend": self._resend,
            "fork": self._fork,
            "edit_todos": self._edit_todos,
            "settle": self._settle,
            "set_model": lambda request: self._session.use(request.spec),
            "threads": self._threads,
            "open_thread": lambda request: self._open(request.name),
            "new_thread": lambda _: self._open(None),
            "export": self._export,
            "export_report": self._export_report,
            "transcribe": self._transcribe,
            "fund": self._fund,
            "settle_payment": lambda _: self._settle_payment(),
            "reveal_refund": lambda _: self._reveal_refund(),
            "load_qr": lambda _: {"code": _QR.read_text(encoding="utf-8")},
        }

    def do(self, request: Request) -> Any:
        """Do what a request asks for, and give the result, or None.

        Raises:
            DeepnbError: It cannot be done; the message says why and what to do.
        """
        return self._do[request.type](request)  # type: ignore[attr-defined]  # all kinds have one

    def _ask(self, request: protocol.Ask) -> None:
        self._session.ask(request.text)

    def _steer(self, request: protocol.Steer) -> None:
        self._check_run(request.run)
        self._session.steer(request.text)

    def _stop(self, request: protocol.Stop) -> None:
        self._check_run(request.run)
        self._session.stop(request.subagent)

    def _check_run(self, identity: str | None) -> None:
        """Refuse what was meant for a run that is over: it is not for the next one."""
        run = self._session.under_way
        if identity is not None and (run is None or run.id != identity):
            raise SessionError("That run has ended by now, so nothing was done.")

    def _open(self, name: str | None) -> None:
        known = name and open_session(self._session.workspace, name)
        self._show(known or self._session.sibling(name), is_guest=not known)

    def _resume(self) -> None:
        self._session.resume()

    def _preview(self, request: protocol.Preview) -> protocol.Previewed:
        args = dict(request.args)
        text = self._session.preview(request.question, request.action, args)
        return {"description": text}

    def _resend(self, request: protocol.Resend) -> None:
        self._branch(self._session.fork(before=request.run), request.text)

    def _fork(self, request: protocol.Fork) -> None:
        self._branch(self._session.fork(request.step), request.text)

    def _branch(self, branch: Session, text: str | None) -> None:
        self._show(branch, is_guest=True)
        if text:
            branch.ask(text)

    def _edit_todos(self, request: protocol.EditTodos) -> None:
        changes = [e for e in self._session.events(request.seen) if e.kind == "todos"]
        if changes:
            raise SessionError(
                "The agent has changed its plan meanwhile, so yours was not saved. Look at the new "
                "one, and change that."
            )
        content = [todo.content for todo in request.todos]
        status = [todo.status for todo in request.todos]
        self._session.edit_todos({"content": content, "status": status})

    def _settle(self, request: protocol.Settle) -> None:
        claim, note = request.citation, request.note
        self._session.settle(claim, note, checked=request.checked, run=request.run)

    def _threads(self, request: protocol.Threads) -> protocol.Listed:
        rows = thread_list(self._session.workspace)
        return {"threads": [_thread(row, self._session.agent) for row in rows]}

    def _export(self, request: protocol.Export) -> protocol.Exported:
        session = self._session
        turns, title = transcript.turns(session.events()), f"{session.agent}: {session.thread}"
        write = transcript.to_markdown if request.format == "md" else transcript.to_html
        return {"name": f"{session.thread}.{request.format}", "text": write(turns, title)}

    def _export_report(self, request: protocol.ExportReport) -> protocol.Download:
        run = next((run for run in self._session.runs if run.id == request.run), None)
        report = getattr(run, "report", None)
        if report is None:
            raise SessionError("This session has no such report.")
        name = f"{self._session.thread}-report.{request.format}"
        with TemporaryDirectory() as folder:
            content = report.write(Path(folder, f"report.{request.format}")).read_bytes()
        return {"name": name, "content": b64encode(content).decode()}

    def _transcribe(self, request: protocol.Transcribe) -> protocol.Exported:
        turns, before = transcript.latest(self._session.events())
        return {"name": "", "text": transcript.to_fragment(turns, request.panel, before)}

    def _fund(self, request: money_protocol.Fund) -> None:
        self._session.fund(request.token)

    def _settle_payment(self) -> None:
        self._session.settle()

    def _reveal_refund(self) -> money_protocol.Revealed:
        refund = self._session.refund
        if refund is None or not refund.amount:
            raise SessionError("There is nothing to give back. Settle first, if money is left.")
        return {"tokens": refund.token.splitlines()}


def _thread(row: dict[str, Any], agent: str) -> protocol.Thread:
    return {
        "name": row["thread"],
        "title": row.get("title") or "",
        "status": row.get("status") or "",
        "agent": row.get("agent") or "",
        "runs": row.get("runs") or 0,
        "updated": row["updated"],
        "forked_from": row.get("forked_from") or "",
        "can_open": row.get("agent") == agent and not row["elsewhere"],
    }
