"""What a research session shows of itself, and what a person can do with its report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from deepnb.agents.research import exports
from deepnb.agents.research.desk import knowledge_in
from deepnb.errors import ExportError, SessionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import pandas as pd

    from deepnb.citations.report import Report
    from deepnb.citations.shapes import Checked, Source
    from deepnb.events import Event
    from deepnb.knowledge import Knowledge

# fmt: off
_PLAN = {
    "id": "str", "title": "str", "tool": "str", "input": "str", "rationale": "str",
    "depends_on": "str", "status": "str", "passages": "Int64", "problem": "str",
}
# fmt: on
_NO_REPORT = "There is no report yet. Ask something, and approve the plan."
_NOTHING_FOUND = (
    "Nothing was found that answers this question, so it has no report; run.answer says what was "
    "looked for."
)
_ENDED = {"failed": "failed", "stopped": "been stopped"}
_ENDED_EARLY = "This question has no report, for its run has {}. session.resume() goes on with it."


def plan(session: Any) -> pd.DataFrame:
    """Give the plan of the last question, and what came of each step."""
    from deepnb.frames import frame

    state = session.state
    results = state.get("results") or {}
    rows = []
    for step in (state.get("plan") or {}).get("steps", []):
        result = results.get(step["id"], {})
        rows.append(
            {
                **step,
                "depends_on": ", ".join(step["depends_on"]),
                "status": result.get("status", "pending"),
                "passages": len(result.get("found", [])) if result else None,
                "problem": result.get("error", ""),
            }
        )
    return frame(_PLAN, rows)


def sources(session: Any) -> pd.DataFrame:
    """Give everything that was read."""
    from deepnb.citations.frames import sources_frame

    events = session.events()
    checked = _last_report(events)
    return sources_frame(_sources(events), checked["citations"] if checked else [])


def citations(session: Any) -> pd.DataFrame:
    """Give the claims of the last report, and what came of looking each up."""
    from deepnb.citations.frames import citations_frame

    events = session.events()
    checked = _last_report(events)
    run = _run_of_last_report(events)
    return citations_frame(checked["citations"] if checked else [], _settled(events, run))


def report(session: Any) -> Report:
    """Give the report of the last question that was answered.

    Raises:
        SessionError: It has none.
    """
    events = session.events()
    return report_of(events, _last_run(events))


def report_of(events: Sequence[Event], run: str) -> Report:
    """Give the report of a run.

    Raises:
        SessionError: It has none.
    """
    from deepnb.citations.report import Report

    own = [event for event in events if event.run == run]
    checked = _last_report(own)
    if checked is None:
        raise SessionError(_why_none(own))
    question = next((e.data["text"] for e in own if e.kind == "run_started"), "")
    return Report(checked, _sources(events), question=question, settled=_settled(events, run))


def _why_none(events: Sequence[Event]) -> str:
    """Say why a run has no report."""
    ended = next((e.data["status"] for e in reversed(events) if e.kind == "run_ended"), None)
    if ended is None:
        return _NO_REPORT
    return _NOTHING_FOUND if ended == "done" else _ENDED_EARLY.format(_ENDED[ended])


def settle(session: Any) -> Callable[..., None]:
    """Give the function that settles a claim."""
    return partial(_settle, session)


def _settle(
    session: Any, citation: str, note: str = "", *, checked: bool = True, run: str | None = None
) -> None:
    """Record that a person has checked a claim themselves, or take that back.

    Without arguments, `session.settle()` is about money instead: see `Session.settle`.

    Args:
        session: Whose report it is in.
        citation: Its id, as `session.citations` has it.
        note: What they have found; left out, what they have noted before stays.
        checked: False takes back that they have checked it.
        run: The run whose report it is in; left out, the last one with a report.

    Raises:
        SessionError: There is no such claim, or nobody has settled what is to be taken back.
    """
    events = session.events()
    run = run or _run_of_last_report(events)
    found = _last_report([event for event in events if event.run == run])
    known = [row["id"] for row in found["citations"]] if found else []
    if citation not in known:
        raise SessionError(
            f"There is no claim {citation!r:.60} in that report. session.citations has the ids."
        )
    when, noted = _settled(events, run).get(citation, (None, ""))
    if when is None and not checked:
        raise SessionError(f"Nobody has settled {citation}, so there is nothing to take back.")
    kept = str(note) or noted
    session.note("settled", run=run, citation=citation, by="person", note=kept, checked=checked)


def knowledge(session: Any) -> Knowledge:
    """Give what the session searches.

    Raises:
        SessionError: It was given nothing to search.
    """
    given = session.options.get("knowledge")
    if given is not None:
        from deepnb.knowledge import Knowledge

        if isinstance(given, Knowledge):
            return given
    if session.agent == "research":
        return knowledge_in(session.workspace)
    raise SessionError(
        "This session has no knowledge base. Make it with knowledge=deepnb.Knowledge('papers/')."
    )


def export(session: Any, path: Path, overwrite: bool) -> Path | None:  # noqa: FBT001  # as registered
    """Write the report of the last question; if it has none, have the conversation written."""
    try:
        found = report(session)
    except SessionError as error:
        if path.suffix.lower() in {".docx", ".bib"}:
            raise ExportError(str(error)) from None
        return None
    written = found.write(path, overwrite=overwrite)
    exports.remember(session.workspace, written)
    return written


def _last_report(events: Sequence[Event]) -> Checked | None:
    found: Any = next((event.data for event in reversed(events) if event.kind == "report"), None)
    return found  # type: ignore[no-any-return]  # as `check` has made it


def _last_run(events: Sequence[Event]) -> str:
    """Give the last run that has ended."""
    return next((event.run for event in reversed(events) if event.kind == "run_ended"), "")


def _run_of_last_report(events: Sequence[Event]) -> str:
    return next((event.run for event in reversed(events) if event.kind == "report"), "")


def _sources(events: Sequence[Event]) -> dict[str, Source]:
    found: dict[str, Any] = {event.name: event.data for event in events if event.kind == "source"}
    return found


def _settled(events: Sequence[Event], run: str) -> dict[str, tuple[float | None, str]]:
    """Give when a person has settled which claims, and what they have noted."""
    return {
        event.data["citation"]: (
            event.time if event.data.get("checked", True) else None,
            event.data["note"],
        )
        for event in events
        if event.kind == "settled" and event.run == run
    }
