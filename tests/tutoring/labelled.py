"""Examples that were labelled by hand, and how often each rule is right about them.

The rules were made with the first of them at hand, and mended with more. Those that are `held_out`
were written when the rules were done, and the rules were not changed for them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from deepnb.tutoring import rules
from deepnb.tutoring.claims import why_straw_man, why_vague
from deepnb.tutoring.document import Argument, Row, parse
from deepnb.tutoring.intent import intent
from deepnb.tutoring.told import Dialogue

EXAMPLES = Path(__file__).with_name("examples")
KINDS = ("clarify", "clear", "factual")


class Score(NamedTuple):
    """How many examples there are, and how many findings are right, were made, and should be."""

    examples: int
    right: int
    found: int
    real: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.real if self.real else 0.0


def examples(name: str) -> list[dict]:
    return [
        json.loads(line) for line in (EXAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]


def replying(example: dict) -> Argument:
    return Argument((Row("clause", example["before"], clause=1), Row("reply", example["reply"])))


def dialogue(example: dict) -> Dialogue:
    return Dialogue([example["person"]], example["gap"], example["level"])


# What a rule finds in an example; where the label is only whether something is wrong, whether it
# finds anything.
FOUND = {
    "one_question": lambda e: bool(rules.one_question(e["reply"])),
    "given_away": lambda e: bool(rules.given_away(e["reply"], dialogue(e))),
    "undefined_terms": lambda e: {f.text for f in rules.undefined_terms(parse(e["document"]))},
    "citations": lambda e: {
        f.text.partition("|")[0].partition("#")[0] for f in rules.citations(e["text"], e["titles"])
    },
    "new_evidence": lambda e: bool(rules.new_evidence(replying(e))),
    "vague_thesis": lambda e: bool(why_vague(e["thesis"])),
    "straw_man": lambda e: bool(why_straw_man(e["side"], e["refutation"])),
    "intent": lambda e: intent(e["request"]).kind,
}


def judged(name: str) -> list[tuple[dict, set, set]]:
    """Each example with what should be found in it and what is."""
    label = {"undefined_terms": "terms", "citations": "wrong", "intent": "kind"}.get(name, "broken")
    return [(e, _as_set(e[label]), _as_set(FOUND[name](e))) for e in examples(name)]


def _as_set(value: object) -> set:
    if isinstance(value, bool):
        return {value} - {False}
    return {value} if isinstance(value, str) else set(value)


def scores(name: str, *, held_out: bool) -> dict[str, Score]:
    """The score of a rule; of `intent`, one for each kind."""
    rows = [(real, found) for e, real, found in judged(name) if e["held_out"] is held_out]
    if name != "intent":
        return {name: _score(rows)}
    return {f"intent: {k}": _score([(r & {k}, f & {k}) for r, f in rows]) for k in KINDS}


def _score(rows: list[tuple[set, set]]) -> Score:
    right = sum(len(real & found) for real, found in rows)
    return Score(len(rows), right, sum(len(f) for _, f in rows), sum(len(r) for r, _ in rows))
