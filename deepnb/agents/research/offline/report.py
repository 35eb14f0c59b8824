"""A report in verbatim quotes: the best of them first, then step by step, then what is missing.

It says nothing of its own about the subject. What stands before a quote is where it is from; what
stands between “ and ” is exactly what stands there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from deepnb.agents.research.offline.choose import Evidence, Scored, distinct
from deepnb.agents.research.offline.clashes import asks_for_clashes, clashes, without_clashes
from deepnb.agents.research.offline.excerpts import BY_RULE, Excerpts
from deepnb.agents.research.offline.naming import unresolved
from deepnb.agents.research.offline.openings import is_about_documents, written
from deepnb.agents.research.offline.steps import safe
from deepnb.models.offline.answer import count, listing, shown
from deepnb.models.offline.request import is_sum

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from deepnb.agents.research.state import StepResult
    from deepnb.citations.shapes import Source
    from deepnb.interrupts import Plan, PlanStep
    from deepnb.knowledge import Overview

NOTHING = "**Nothing was found that answers this, so there is no report.**"
NO_DOCUMENTS = (
    "**There are no documents to search, so there is no report.** Put some into the folder, or "
    "look in another one."
)
UNREAD = "**No step could be carried out, so nothing was read and there is no report.**"
_NO_CLASH = "- No possible conflict was found in what was read."
_MOST_IN_SHORT = 3
_NEARLY_AS_GOOD = 0.85


class Written(NamedTuple):
    """A report, and what is to be said beside it.

    Attributes:
        report: With a mark for every sentence; empty if nothing that was read answers.
        rest: What was not found; without a report, what was looked for, and where.
    """

    report: str
    rest: str


def write(
    question: str,
    plan: Plan,
    results: Mapping[str, StepResult],
    sources: dict[str, Source],
    documents: int | None = None,
    *,
    overview: Sequence[Overview] = (),
    left_out: int = 0,
) -> Written:
    """Write the report; or, where nothing that was read answers, say what was looked for.

    Args:
        question: What was asked.
        plan: What was done about it.
        results: What came of each step, by its id.
        sources: Everything that was read, by id.
        documents: How many documents were searched, if that is known.
        overview: What documents there are, for a question about them as such.
        left_out: How many documents the policy has left out of it.
    """
    # A question that points back at an earlier one is told in full by the plan.
    told = plan.get("question") or question
    if is_about_documents(told, overview):
        report, rest = written(told, plan, results, sources, overview)
        if report or rest:
            open_ = "\n".join(filter(None, [*_lost(told, overview), failures(plan, results)]))
            return Written(report, "\n\n".join(filter(None, [open_, rest])))
    evidence = Evidence(without_clashes(told), plan, sources)
    found = {
        step["id"]: _worth_quoting(evidence, step, results[step["id"]])
        for step in plan["steps"]
        if results.get(step["id"], {}).get("status") == "ok"
    }
    best = [] if is_sum(told) else _best(evidence, plan, found)
    if not best:
        return Written("", _nothing(evidence, plan, results, documents, left_out))
    quoted = Excerpts(sources, [each.sentence for each in best])
    sections = [quoted.section(step, found.get(step["id"], [])) for step in plan["steps"]]
    if not any("[S" in each for each in sections):  # all is in short already
        sections = []
    in_short = "\n".join(quoted.line(each.sentence) for each in best)
    gaps = [*_lost(told, overview), *_gaps(evidence, plan, results, found, quoted.terms)]
    clash = ""
    if asks_for_clashes(told):
        read = [result.get("found", []) for result in results.values()]
        clash = clashes(sources, {(id_, number) for some in read for id_, number in some})
        gaps += [] if clash else [_NO_CLASH]
    parts = [clash, f"## In short\n\n{BY_RULE}\n\n{in_short}", *sections]
    return Written("\n\n".join(filter(None, parts)), "\n".join(gaps))


def failures(plan: Plan, results: Mapping[str, StepResult]) -> str:
    """List the steps of which nothing came, and why."""
    reasons = [(step, _failure(results.get(step["id"], {}))) for step in plan["steps"]]
    return "\n".join(f"- {safe(step['title'])}: {reason}" for step, reason in reasons if reason)


def _lost(question: str, overview: Sequence[Overview]) -> list[str]:
    return [f"- {said}" for said in unresolved(question, overview)]


def _worth_quoting(evidence: Evidence, step: PlanStep, result: StepResult) -> list[Scored]:
    """The sentences that answer a step alone; if none does, the best, if it names what is asked."""
    found, wanted = evidence.of(step, result), evidence.wanted(step)
    alone = [each for each in found if evidence.answers(wanted, each.sentence)]
    return alone or [each for each in found[:1] if evidence.is_named_in(wanted, each.sentence)]


def _best(evidence: Evidence, plan: Plan, found: Mapping[str, list[Scored]]) -> list[Scored]:
    """The best sentence on each thing that is asked for, and others that are nearly as good."""
    by_thing: dict[frozenset[str], list[Scored]] = {}
    for step in plan["steps"]:
        wanted = frozenset(evidence.wanted(step))
        by_thing.setdefault(wanted, []).extend(found.get(step["id"], ()))
    for wanted, all_ in by_thing.items():
        alone = [each for each in all_ if evidence.answers(wanted, each.sentence)]
        by_thing[wanted] = alone or all_[:1]
    ranked = [sorted(each, key=lambda one: -one.score) for each in by_thing.values() if each]
    first = distinct([each[0] for each in ranked])
    top = max((each.score for each in first), default=0.0)
    others = sorted((one for each in ranked for one in each[1:]), key=lambda one: -one.score)
    near = [one for one in others if one.score >= _NEARLY_AS_GOOD * top]
    return distinct([*first, *near])[:_MOST_IN_SHORT]


def _gaps(
    evidence: Evidence,
    plan: Plan,
    results: Mapping[str, StepResult],
    found: Mapping[str, Sequence[Scored]],
    said: Collection[str],
) -> list[str]:
    """What has no evidence: terms of the question, and steps, with the reason if there is one."""
    lines = []
    unsaid = [term for term in evidence.asked if term not in said]
    for term in unsaid:
        if where := evidence.where(term):
            [word] = shown(evidence.question, [term])
            lines.append(f"- *{word}* is mentioned in {where}, but in nothing that is quoted.")
    if absent := [term for term in unsaid if term in evidence.absent]:
        lines.append(
            f"- Nothing that was read mentions {listing(shown(evidence.question, absent))}."
        )
    answered = {frozenset(evidence.wanted(s)) for s in plan["steps"] if found.get(s["id"])}
    for step in plan["steps"]:
        result, wanted = results.get(step["id"], {}), frozenset(evidence.wanted(step))
        if reason := _failure(result):
            lines.append(f"- {safe(step['title'])}: {reason}")
        elif wanted not in answered:
            if wanted == frozenset[str]().union(*(each for each in answered if each < wanted)):
                continue  # it looked for several things at once, and each was found by itself
            spelled = f"{step['input']} {evidence.question}"
            looked = listing(shown(spelled, evidence.wanted(step)))
            lines.append(f"- {safe(step['title'])}: no passage has enough of {looked} together.")
        elif not found.get(step["id"]):
            lines.append(f"- {safe(step['title'])}: nothing that fits, beside what is quoted.")
    return lines


def _failure(result: StepResult) -> str:
    error = safe(result.get("error", "")) or "no reason was given"
    if not result:
        return "this step was not carried out."
    if result.get("status") == "failed":
        return f"this step failed: {error}"
    return f"this step was not allowed: {error}" if result.get("status") == "refused" else ""


def _nothing(
    evidence: Evidence,
    plan: Plan,
    results: Mapping[str, StepResult],
    documents: int | None,
    left_out: int,
) -> str:
    """Say what was looked for, in which words and where, and what came nearest."""
    question = evidence.question
    steps = [
        f"- {safe(step['title'])} ({step['tool']}: {safe(step['input'])}): "
        f"{_outcome(results.get(step['id'], {}))}"
        for step in plan["steps"]
    ]
    if all(_failure(results.get(step["id"], {})) for step in plan["steps"]):
        return "\n\n".join([UNREAD, "\n".join(steps)]).strip() + "\n"
    if documents == 0:
        return "\n\n".join([NO_DOCUMENTS, "\n".join(steps)]).strip() + "\n"
    looked = listing(shown(question, evidence.asked)) or f"*{safe(question)}*"
    where = f" in {count(documents, 'document')}" if documents is not None else ""
    said = f"{NOTHING} I looked for {looked}{where}."
    if left_out:
        were = "was" if left_out == 1 else "were"
        said += f" {count(left_out, 'document')} {were} left out by the policy."
    if evidence.absent:
        said += f" In nothing that was read: {listing(shown(question, evidence.absent))}."
    if is_sum(question):
        said += " It is a sum, and to calculate takes a language model, or Python."
    elif nearest := evidence.nearest():
        said += f" Nearest by its words, which may be about something else: {nearest}."
    return "\n\n".join([said, "\n".join(steps)]).strip() + "\n"


def _outcome(result: StepResult) -> str:
    if reason := _failure(result):
        return reason
    number = len(result.get("found", []))
    return (
        f"{count(number, 'passage')} read, none with enough of these words together"
        if number
        else "nothing"
    )
