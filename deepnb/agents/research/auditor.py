"""The auditor: a plan against the policy, by rule first and then by the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage
from langgraph.graph import END

from deepnb.agents.research import prompts
from deepnb.agents.research.asking import NoUsableReplyError
from deepnb.agents.research.audit import ModelVerdict, audit_rules, combine
from deepnb.agents.research.plans import step_in_words
from deepnb.agents.research.state import ResearchState, entry

if TYPE_CHECKING:
    from deepnb.agents.research.desk import Desk
    from deepnb.agents.research.policy import Policy
    from deepnb.interrupts import Audit, Plan

MOST_REFUSALS = 5


async def audit(desk: Desk, state: ResearchState) -> dict[str, Any]:
    """Check the plan; what cannot be read as an approval is none."""
    plan = state["plan"]
    assert plan  # noqa: S101  # the thinker has made it
    if why := desk.policy.denies_words(state["question"]):
        return _unaskable(desk.policy, why)
    result = audit_rules(plan, desk.policy, desk.tools)
    if result["passed"] and desk.asker:
        result = await _with_model(desk, plan, result)
    refused = {} if result["passed"] else _refused(state, result)
    return {"audit": result, "reasoning": entry("auditor", _in_words(result)), **refused}


async def _with_model(desk: Desk, plan: Plan, rules: Audit) -> Audit:
    assert desk.asker  # noqa: S101  # for the type checker
    steps = "\n".join(step_in_words(n, step) for n, step in enumerate(plan["steps"], start=1))
    prompt = prompts.auditor(_rules(desk.policy), steps)
    try:
        verdict, _ = await desk.asker.form(ModelVerdict, prompts.AUDITOR, prompt)
    except NoUsableReplyError as error:
        return combine(rules, None, f"The auditor's verdict could not be had: {error}")
    return combine(rules, verdict, None)


def _rules(policy: Policy) -> str:
    rules = [f"- {rule.verb} {rule.about}: {', '.join(rule.values)}" for rule in policy.rules]
    return "\n".join([*rules, policy.text])


def _unaskable(policy: Policy, why: str) -> dict[str, Any]:
    """End where no other plan would help: it is the question that the policy is against."""
    text = f"{why} It is {policy.name}. Ask without them, and it can be looked into."
    said = f"The question may not be asked: {why}"
    return {
        "plan": None,
        "todos": [],
        "messages": [AIMessage(text)],
        "reasoning": entry("auditor", said, aside=True),
    }


def _refused(state: ResearchState, audit: Audit) -> dict[str, Any]:
    return {
        "refusals": state["refusals"] + 1,
        "objections": [*state["objections"], *(audit["remarks"] or [audit["summary"]])],
    }


def _in_words(audit: Audit) -> str:
    remarks = f" {' '.join(audit['remarks'])}" if audit["remarks"] else ""
    return f"{audit['summary']} By {audit['policy']}.{remarks}"


def after_audit(state: ResearchState) -> str:
    """Have another plan made, have the person decide, or end."""
    if state["plan"] is None:
        return END
    audit = state["audit"]
    if audit and not audit["passed"] and state["refusals"] < MOST_REFUSALS:
        return "thinker"
    return "human_gate"
