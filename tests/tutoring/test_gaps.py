"""What is missing is asked for in the order of a seminar, one question at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from deepnb.tutoring import rules
from deepnb.tutoring.document import Argument, Row, parse
from deepnb.tutoring.frames import argument_frame
from deepnb.tutoring.gaps import DONE, GapKind, gaps, next_question
from deepnb.tutoring.hints import LAST, hint
from deepnb.tutoring.told import Dialogue
from tests.tutoring.test_document import LABELLED, OUTLINE, SEMINAR

STEPS = {
    "no clause": "## Thesis\n\nSound money needs a fixed supply.\n",
    "undefined term": "## Clause 1\n\nA fixed supply keeps money scarce.\n",
    "no evidence": "**Definition:** A fixed supply is one that nobody can raise.\n",
    "no refutation": "**Evidence:** It says so in [[Gold]].\n",
    "straw man": "## Refutation\n\nThis is wrong.\n",
}
"""What is missing first when the document has got these parts, one after the other."""
REFUTED = "## Refutation\n\nPrices fall when trade grows, so that debts weigh more each year.\n"


def kinds(text):
    return [gap.kind for gap in gaps(parse(text))]


def test_a_seminar_goes_from_gap_to_gap():
    text = ""
    assert kinds(text)[0] == "no thesis"
    assert kinds("## Thesis\n\nMoney\n")[0] == "vague thesis"
    for kind, part in STEPS.items():
        text += f"\n{part}"
        assert kinds(text)[0] == kind
    text = text.replace(STEPS["straw man"], REFUTED)
    assert kinds(text)[0] == "no reply"
    assert kinds(f"{text}\n## Reply\n\nIn 1873 they fell by half.\n")[0] == "new evidence"
    text += "\n## Reply\n\nScarce money is what the thesis asks for.\n"
    assert kinds(text) == ["no conclusion"]
    text += "\n## Conclusion\n\nSo a fixed supply is worth its price.\n"
    assert kinds(text) == []
    assert next_question(parse(text)) == DONE


def test_a_gap_says_where_it_is_and_asks_about_it():
    gap = next(gap for gap in gaps(parse(SEMINAR)) if gap.kind == "no evidence")
    assert (gap.where, gap.clause) == ("clause 2", 2)
    assert "A fixed supply cannot be diluted" in gap.question


def test_of_a_text_that_was_cut_off_nothing_is_said_to_be_missing():
    argument = parse(SEMINAR.partition("## Refutation")[0])
    assert "no refutation" in [gap.kind for gap in gaps(argument)]
    cut = [gap.kind for gap in gaps(replace(argument, is_whole=False))]
    assert cut
    assert not any(kind.startswith("no ") for kind in cut)


def every_gap():
    hostile = 'Is it? "Who?" [[What?]] **Why?** ' * 20
    arguments = [parse(text) for text in ("", SEMINAR, LABELLED, OUTLINE, "## Thesis\n\nMoney\n")]
    arguments += [
        Argument((Row("thesis", hostile), Row("clause", hostile, clause=1), Row("reply", hostile))),
        Argument((Row("refutation", "It is wrong."), Row("reply", "In 1990 it was not."))),
    ]
    return [gap for argument in arguments for gap in gaps(argument)]


def test_there_is_an_example_of_every_gap():
    assert {gap.kind for gap in every_gap()} == set(get_args(GapKind))


@pytest.mark.parametrize("level", range(LAST + 1))
def test_help_asks_one_thing_and_gives_nothing_away_before_the_last_step(level):
    for gap in every_gap():
        text = hint(gap, level)
        assert "{" not in text
        assert rules.one_question(text) == []
        if level < LAST:
            assert rules.given_away(text, Dialogue([gap.about], gap.kind, level)) == []


def test_help_rises_in_steps():
    for gap in every_gap():
        steps = [hint(gap, level) for level in range(LAST + 1)]
        assert len(set(steps)) == LAST + 1
        assert "___" not in steps[0] + steps[1]
        assert "___" in steps[2]
        assert hint(gap, -1) == steps[0] == gap.question
        assert hint(gap, 99) == steps[LAST]


def test_an_argument_is_a_frame_with_its_gaps_in_their_places():
    argument = parse(SEMINAR.partition("## Reply")[0])
    frame = argument_frame(argument, gaps(argument))
    assert list(frame.columns) == ["kind", "clause", "text", "citations", "missing"]
    assert list(frame["kind"]) == [
        *("thesis", "clause", "definition", "evidence", "clause", "definition", "evidence"),
        *("refutation", "reply", "conclusion"),
    ]
    lacking = frame[frame["text"].isna()]
    assert list(lacking["missing"]) == [
        "undefined term: fixed supply",
        "no evidence",
        "no reply",
        "no conclusion",
    ]
    assert list(lacking["clause"][:2]) == [2, 2]
    assert frame["citations"][1] == "History of paper"


def test_what_is_wrong_with_a_part_stands_beside_it():
    argument = parse("## Thesis\n\nMoney\n")
    frame = argument_frame(argument, gaps(argument))
    assert frame["missing"][0].startswith("vague thesis: ")


def test_an_empty_argument_is_a_frame_of_what_is_missing():
    frame = argument_frame(Argument(), gaps(Argument()))
    assert list(frame["kind"]) == ["thesis", "clause", "refutation", "reply", "conclusion"]
