"""`deepnb demo`: a research run, with no key, no network and no documents of one's own."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb.cli.answers import with_conflicts
from deepnb.cli.paint import Paint
from deepnb.cli.steps import steps
from deepnb.errors import DeepnbError, RunError
from deepnb.transcript.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deepnb.events import Event
    from deepnb.session import Session
    from deepnb.session.questions import Question
    from deepnb.session.run import Run

QUESTION = (
    "By how much did phosphorus fall? What did the aeration pump cost? What did the dredging cost?"
)
"""Two documents that disagree, a fact, and something that no document says."""

REPORT = "deepnb-report"
_NEXT = 'Your own documents: deepnb ask "…" --agent research --workspace your/folder.'
_TICK = 0.1
_SIGNS = {"ok": "✓", "warn": "!", "bad": "✗"}


def demo(question: str = QUESTION, model: str = "offline") -> None:
    """Research a question in the sample documents, show it all, and leave a report behind."""
    from deepnb import samples
    from deepnb.knowledge import Knowledge
    from deepnb.session.session import Session

    paint = Paint(sys.stdout)
    with ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="deepnb-demo-"))
        folder = samples.copy(Path(temporary) / "lake")
        # So few documents are searched by their words at once; an embedding model takes a while.
        knowledge = stack.enter_context(Knowledge(folder, embeddings=False))
        session = stack.enter_context(
            Session("research", model=model, workspace=folder, knowledge=knowledge, respond=_decide)
        )
        print(f"\n{paint.bold(f'? {question}')}", flush=True)
        run = session.ask(question)
        _Watch(paint).follow(session, run)
        report = _written(session, run)
        answer = with_conflicts(run.answer, session.events(), run.id)
        print(f"\n{paint.markdown(answer)}")
        if report:
            print(f"\nThe report is in {report}")
    print(f"\n{paint.dim(paint.wrapped(f'{_NEXT}{_how_it_was_written(model)}'))}")


def _decide(question: Question) -> dict[str, Any]:
    """Approve what the audit has found nothing against; a session would ask its person."""
    audit = question.request.get("audit") or {}
    return {"approved": bool(audit.get("passed"))}


def _written(session: Session, run: Run) -> Path | None:
    """Write the report where no file is; without one, say why if something went wrong."""
    if run.status != "done":
        raise RunError(run.reason)
    audit = session.state.get("audit") or {}
    if not audit.get("passed"):
        remarks = one_line(" ".join([audit.get("summary", ""), *audit.get("remarks", [])]), 500)
        raise RunError(f"The plan was not approved. {remarks}")
    if not session.state.get("report"):
        return None
    names = (f"{REPORT}{number}.md" for number in ("", *(f"-{n}" for n in range(2, 10_000))))
    free = next(path for name in names if not (path := Path.cwd() / name).exists())
    return Path(run.report.write(free))


class _Watch:
    """Prints what a run says it does."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._order: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._results: dict[str, str] = {}

    def follow(self, session: Session, run: Run) -> None:
        """Print it as it comes, until the run has ended."""
        seen, has_ended = 0, False
        while not has_ended:
            has_ended = run.status in ("done", "stopped", "failed")
            for event in session.events(seen):
                seen = event.seq
                for line in self._lines(event):
                    print(line, flush=True)
            if not has_ended:
                run.wait(_TICK)

    def _lines(self, event: Event) -> Iterator[str]:
        data = event.data
        if event.kind == "interrupt_opened":
            yield from self._plan(data["request"])
        elif event.kind == "tool_call":
            self._calls.append({"id": data["id"], "name": event.name, "args": data["args"]})
        elif event.kind == "tool_result":
            self._results[data["id"]] = data["text"]
            yield from self._round()
        elif event.kind == "node" and data.get("text") and not data.get("aside"):
            yield ""
            yield self._paint.dim(self._paint.wrapped(one_line(data["text"], 500)))

    def _plan(self, request: Any) -> Iterator[str]:
        """The plan and its audit, as a person at the gate would see them."""
        yield ""
        for number, step in enumerate(request["plan"]["steps"], start=1):
            self._order.append(step["input"])
            yield f"  {number}  {one_line(step['title'])}"
            yield self._paint.dim(f"     {one_line(step['rationale'])}")
        yield ""
        for check in (request.get("audit") or {}).get("checks", []):
            told = f"{one_line(check['name'])}: {one_line(check['note'])}"
            yield f"  {_SIGNS[check['status']]} {told}"
        yield ""
        yield "  A session waits here for you to approve, edit or reject the plan."
        yield ""

    def _round(self) -> Iterator[str]:
        """Steps that ran at the same time, once all of them are done, in the order of the plan."""
        if any(call["id"] not in self._results for call in self._calls):
            return
        self._calls.sort(key=self._place)
        yield from map(self._paint.dim, steps(self._calls, self._results))
        self._calls = []

    def _place(self, call: dict[str, Any]) -> int:
        wanted = next(iter(call["args"].values()), "") if isinstance(call["args"], dict) else ""
        return self._order.index(wanted) if wanted in self._order else len(self._order)


def _how_it_was_written(model: str) -> str:
    """How to have another report, by a model that writes."""
    from deepnb.models import explain

    if model != "offline":
        return ""
    try:
        configured = explain().spec
    except DeepnbError:  # it is configured badly, which is no matter of the demonstration
        return ""
    if configured != "offline":
        return f" A written report: deepnb demo --model {configured}"
    return " These are quotes; for a written report set DEEPNB_MODEL or an API key."
