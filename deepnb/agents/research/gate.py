"""The gate: nothing is carried out that a person has not approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import AIMessage
from langgraph.graph import END

from deepnb.agents.research.audit import audit_rules
from deepnb.agents.research.state import ResearchState, entry
from deepnb.agents.research.thinker import todos
from deepnb.interrupts import Plan, PlanAnswer, PlanRequest, ask

if TYPE_CHECKING:
    from deepnb.agents.research.desk import Desk

_REJECTED = "You did not approve the plan, so nothing was looked up."


def gate(desk: Desk, state: ResearchState) -> dict[str, Any]:
    """Show plan and audit, and wait.

    A plan that a person has edited is checked by the rules again; one that they forbid is shown
    again with the reason, and not carried out.
    """
    plan, audit = state["plan"], state["audit"]
    assert plan  # noqa: S101  # the thinker has made it
    while True:
        request: PlanRequest = {
            "type": "plan_approval",
            "plan": plan,
            "audit": audit,
            "tools": list(desk.tools),
            "refusals": state["refusals"],
        }
        answer = ask(request, PlanAnswer)
        if not answer.approved:
            return _rejected(state, answer.reason)
        if answer.plan is None:
            break
        plan = cast("Plan", {"question": state["question"], **answer.plan.model_dump()})
        audit = audit_rules(plan, desk.policy, desk.tools)
        if audit["passed"]:
            break
    edited = " with changes" if plan != state["plan"] else ""
    against = "" if audit and audit["passed"] else ", against the audit"
    return {
        "plan": plan,
        "audit": audit,
        "todos": todos(plan["steps"]),
        "objections": [],
        "reasoning": entry("human_gate", f"The plan was approved{edited}{against}.", aside=True),
    }


def _rejected(state: ResearchState, reason: str | None) -> dict[str, Any]:
    if reason:
        why = f"The plan was rejected: {reason}"
        return {
            "objections": [*state["objections"], reason],
            "refusals": 0,
            "reasoning": entry("human_gate", why, aside=True),
        }
    return {
        "plan": None,
        "todos": [],
        "messages": [AIMessage(_REJECTED)],
        "reasoning": entry("human_gate", "The plan was rejected, without a reason.", aside=True),
    }


def after_gate(state: ResearchState) -> str:
    """Carry out what was approved, plan anew what was rejected with a reason, or end."""
    if state["plan"] is None:
        return END
    return "thinker" if state["objections"] else "tool_executor"
