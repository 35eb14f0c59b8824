"""The thinker: from a question to a plan."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langgraph.types import Overwrite

from deepnb.agents.research import prompts
from deepnb.agents.research.asking import NoUsableReplyError
from deepnb.agents.research.offline import plan as plan_by_rule
from deepnb.agents.research.plans import draft_for, to_plan
from deepnb.agents.research.state import ResearchState, entry
from deepnb.errors import KnowledgeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.messages import AnyMessage

    from deepnb.agents.research.desk import Desk
    from deepnb.agents.research.state import Todo
    from deepnb.interrupts import Plan, PlanStep
    from deepnb.knowledge import Overview

_MOST_EARLIER = 3
_MOST_HEADINGS = 3
_LONGEST_LIST = 2_500
"""Characters about the documents: a small model reads slowly, and loses sight of the question."""


def listen(state: ResearchState) -> dict[str, Any]:
    """Take in a new question; what was of the one before is cleared away."""
    messages = _named(state["messages"])
    asked = [message for message in messages if isinstance(message, HumanMessage)][-1]
    return {
        **({} if messages == state["messages"] else {"messages": Overwrite(messages)}),
        "question": str(asked.text),
        "asked": asked.id,
        "plan": None,
        "audit": None,
        "objections": [],
        "refusals": 0,
        "results": None,
        "todos": [],
        "draft": "",
        "gaps": "",
        "report": None,
    }


def _named(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Give an id to what has none: a question that came as a pair, or as a mere text."""
    return [
        message if message.id else message.model_copy(update={"id": uuid4().hex})
        for message in messages
    ]


async def think(desk: Desk, state: ResearchState) -> dict[str, Any]:
    """Plan: by the model, or by rule where there is none or it gives nothing usable."""
    known, said = await _known(desk)
    plan: Plan | None = None
    if desk.asker:
        try:
            plan, repairs = await _by_model(desk, state, known)
            said += f" It took {repairs} corrections." if repairs else ""
        except NoUsableReplyError as error:
            said += f" The model gave no usable plan ({error}), so it was made by rule."
    plan = plan or _by_rule(desk, state, known)
    steps = plan["steps"]
    number = f"{len(steps)} step{'' if len(steps) == 1 else 's'}"
    again = " Planned anew, since the plan before was refused." if state["objections"] else ""
    titles = "; ".join(step["title"] for step in steps)
    return {
        "plan": plan,
        "todos": todos(steps),
        "reasoning": entry("thinker", f"Planned {number}: {titles}.{again}{said}"),
    }


async def _known(desk: Desk) -> tuple[list[Overview], str]:
    """Give what the documents hold, or why that cannot be known."""
    try:
        return await asyncio.to_thread(desk.overview), ""
    except KnowledgeError as error:
        return [], f" The documents could not be looked into: {error}"


def _by_rule(desk: Desk, state: ResearchState, known: Sequence[Overview]) -> Plan:
    tools = desk.local_tools if desk.asker else list(desk.tools)
    wishes = [*state["objections"], *remarks(state)]
    plan = plan_by_rule(state["question"], known, tools, _earlier(state), wishes)
    # If everything was refused, the person is shown the last plan, with what speaks against it.
    return plan if plan["steps"] or not state["plan"] else state["plan"]


async def _by_model(
    desk: Desk, state: ResearchState, known: Sequence[Overview]
) -> tuple[Plan, int]:
    tools = {name: tool.description for name, tool in desk.tools.items()}
    prompt = prompts.thinker(
        state["question"],
        tools,
        _listed(known),
        _earlier(state),
        [*state["objections"], *remarks(state)],
    )
    assert desk.asker  # noqa: S101  # for the type checker
    draft, repairs = await desk.asker.form(draft_for(tools), prompts.THINKER, prompt)
    return to_plan(state["question"], draft), repairs


def todos(steps: Sequence[PlanStep]) -> list[Todo]:
    """Make the todo list of a plan that has not begun."""
    return [{"content": step["title"], "status": "pending"} for step in steps]


def _listed(known: Sequence[Overview]) -> str:
    """Say what the documents hold: their titles, and what stands above their parts."""
    lines: list[str] = []
    for each in known:
        headings = "; ".join(each.headings[:_MOST_HEADINGS])
        line = f"- {each.location}: {each.title}{f' ({headings})' if headings else ''}"
        if sum(map(len, lines)) + len(line) > _LONGEST_LIST:
            return "\n".join([*lines, f"- and {len(known) - len(lines)} more"])
        lines.append(line)
    return "\n".join(lines)


def _earlier(state: ResearchState) -> list[str]:
    """Give what was asked before, in the same conversation."""
    before = []
    for message in state["messages"]:
        if message.id == state["asked"]:
            break
        if isinstance(message, HumanMessage):
            before.append(str(message.text))
    return before[-_MOST_EARLIER:]


def remarks(state: ResearchState) -> list[str]:
    """Give what the person has said since the question was asked."""
    ids = [message.id for message in state["messages"]]
    after = state["messages"][ids.index(state["asked"]) + 1 :] if state["asked"] in ids else []
    return [str(message.text) for message in after if isinstance(message, HumanMessage)]
