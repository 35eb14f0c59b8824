"""What the rules have found about a plan, in the four short notes that a person reads first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.interrupts import Check, EditedStep

DATA, EXTERNAL, TOOLS, CONTENT = "Data access", "External requests", "Tools", "Content"
SEARCH, READ, WEB_SEARCH, FETCH = "search_knowledge", "read_file", "web_search", "fetch_page"


class Objection(NamedTuple):
    """Why not, and which area of the policy says so."""

    area: str
    why: str


def checks(
    steps: Sequence[EditedStep], leaving: Sequence[int], found: Sequence[Objection]
) -> list[Check]:
    """Give one check for each area.

    Args:
        steps: The plan.
        leaving: The numbers of the steps that leave this machine, from 1.
        found: Everything that speaks against the plan.
    """
    return [
        _check(DATA, found, _data(steps)),
        _check(EXTERNAL, found, _external(steps, leaving), warns=bool(leaving)),
        _check(TOOLS, found, _tools(steps)),
        _check(CONTENT, found, "Nothing flagged"),
    ]


def malformed(why: str) -> list[Check]:
    """Give the checks of what is not a plan."""
    return [
        {"name": area, "status": "bad", "note": why} for area in (DATA, EXTERNAL, TOOLS, CONTENT)
    ]


def _check(area: str, found: Sequence[Objection], note: str, *, warns: bool = False) -> Check:
    reasons = [objection.why for objection in found if objection.area == area]
    if reasons:
        more = f" And {len(reasons) - 1} more." if len(reasons) > 1 else ""
        return {"name": area, "status": "bad", "note": reasons[0] + more}
    return {"name": area, "status": "warn" if warns else "ok", "note": note}


def _data(steps: Sequence[EditedStep]) -> str:
    used = {step.tool for step in steps}
    places = ((READ, "workspace"), (SEARCH, "knowledge base"))
    read = [place for tool, place in places if tool in used]
    return " and ".join(read).capitalize() or "No documents are read"


def _external(steps: Sequence[EditedStep], leaving: Sequence[int]) -> str:
    if not leaving:
        return "Nothing leaves this machine"
    *others, last = leaving
    if others:
        return f"Steps {', '.join(map(str, others))} and {last} leave this machine"
    does = {
        WEB_SEARCH: "sends the question's words to a search engine",
        FETCH: "fetches a page from the web",
    }
    return f"Step {last} {does.get(steps[last - 1].tool, 'may send its input to other machines')}"


def _tools(steps: Sequence[EditedStep]) -> str:
    tools = len({step.tool for step in steps})
    return f"{_counted(len(steps), 'step')}, {_counted(tools, 'tool')}, all allowed"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
