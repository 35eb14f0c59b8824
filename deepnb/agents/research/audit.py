"""What the auditor says about a plan: the rules first, then a model, and the stricter one wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deepnb.agents.research.policy import Policy, ToolFacts
    from deepnb.interrupts import Audit, Plan

# Few and short, for a small model that is held to a form writes until the form is full.
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class ModelVerdict(BaseModel):
    """Whether a plan keeps to the policy."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    verdict: Literal["approved", "rejected"]
    reasons: list[Reason] = Field(max_length=6)


def audit_rules(plan: Plan, policy: Policy, tools: Mapping[str, ToolFacts]) -> Audit:
    """Check a plan against the rules of a policy, with no model."""
    checks, reasons = policy.check(plan, tools)
    passed = not reasons and all(check["status"] != "bad" for check in checks)
    count = len(policy.rules)
    kept = f"The plan keeps to the policy's {count} rule{'' if count == 1 else 's'}."
    summary = kept if passed else "The plan breaks the policy's rules."
    return {
        "passed": passed,
        "summary": summary,
        "policy": policy.name,
        "checks": checks,
        "remarks": reasons,
    }


def combine(rules: Audit, verdict: ModelVerdict | None, failure: str | None) -> Audit:
    """Add what a model has said; it can refuse what the rules approve, and never the reverse.

    Args:
        rules: What came of the rules.
        verdict: What the model has said; None, without a failure, if no model was asked.
        failure: Why its verdict could not be had or read. That is a refusal.
    """
    if verdict is None and failure is None:
        return rules
    remarks = list(rules["remarks"])
    if failure is not None or not isinstance(verdict, ModelVerdict):
        remarks.append(" ".join((failure or "The verdict is malformed.").split()))
        said = "The auditor's verdict could not be read, so the plan is not approved."
        approved = False
    else:
        approved = verdict.verdict == "approved"
        remarks += verdict.reasons
        if not approved and not verdict.reasons:
            remarks.append("The auditor has rejected the plan and gives no reason.")
        said = f"The model {'approves' if approved else 'rejects'} it."
    passed = rules["passed"] is True and approved
    return {**rules, "passed": passed, "summary": f"{rules['summary']} {said}", "remarks": remarks}
