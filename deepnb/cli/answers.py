"""An answer as a terminal shows it: a report says also where its sources may disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.events import Event


def with_conflicts(answer: str, events: Sequence[Event], run: str) -> str:
    """Give the answer of a run, with possible conflicts before the sources if it is a report."""
    if not any(event.kind == "report" and event.run == run for event in events):
        return answer
    from deepnb.agents.research.views import report_of
    from deepnb.citations.wording import before_sources, conflicts_below

    report = report_of(events, run)
    return before_sources(answer, conflicts_below(report.conflicts, report.sources))
