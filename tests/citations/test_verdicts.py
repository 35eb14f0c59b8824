"""What each claim is judged to be."""

from __future__ import annotations

import json
import sys
from collections import Counter

import pytest

from deepnb.citations.marks import MARK
from deepnb.citations.registry import register
from deepnb.citations.verdicts import check
from tests.citations.samples import REPORT, reading, sources

PARAPHRASE = "source matched, support not verified"


def judged(text):
    return [
        (row["source"], row["verdict"], row["found_in"])
        for row in check(text, sources())["citations"]
    ]


@pytest.mark.parametrize(
    ("text", "verdict", "found_in"),
    [
        ("It says “Lake Ansel covers 41 hectares” [S1].", "quoted", ""),
        ("Lake Ansel covers 41 hectares [S1].", "quoted", ""),
        ("It says “Lake Ansel covers 14 hectares” [S1].", "not found", ""),
        ("It says “Lake Ansel covers 41 acres” [S1].", "not found", ""),
        ("It says “Lake Ansel covers 41 hectares” [S2].", "misattributed", "S1"),
        ("In 1871 it said “Lake Ansel covers 41 hectares” [S1].", "not found", ""),
        ("The aeration pump started its work on 14 June 2021 [S1].", PARAPHRASE, ""),
        ("The aeration pump started its work on 15 June 2021 [S1].", "not found", ""),
        ("Phosphorus was reduced by 38 % between 2019 and 2023 [S1].", PARAPHRASE, ""),
        ("Phosphorus was reduced by 83 % between 2019 and 2023 [S1].", "not found", ""),
        ("He thinks that mud was never the main thing, but fields [S1].", "misattributed", "S3"),
        ("Step 3: Lake Ansel covers 41 hectares [S1].", "quoted", ""),
        ("Lake Ansel covers 41 hectares (see section 4) [S1].", "quoted", ""),
        ("Lake Ansel covers 41 hectares [S1] (see section 4.1 below).", "quoted", ""),
        ("Lake Ansel covers 41 hectares.[^7] [S1]", "quoted", ""),
        ("Step 3: it says “Lake Ansel covers 41 hectares” [S1].", "quoted", ""),
        ("Lake Ansel covers 41 hectares (see 99 hectares) [S1].", "not found", ""),
        ("Step 3 of 7: Lake Ansel covers 41 hectares [S1].", "not found", ""),
        ("Quantum computers factor large integers quickly [S1].", "not found", ""),
        ("The so-called “aeration pump” began to work in June [S1].", PARAPHRASE, ""),
        ("The “poisoned pump” for aeration began to work in June [S1].", "not found", ""),
        ("The “main thing”, an aeration pump, began to work in June [S1].", "not found", ""),
        ("It says “Lake Ansel covers 41 hectares” of “dead” water [S1].", "not found", ""),
        ("It says “Lake Ansel [barely] covers 41 hectares” [S1].", PARAPHRASE, ""),
        ("It says “[The pond] covers 41 hectares” of Lake Ansel [S1].", PARAPHRASE, ""),
        ("It says “Lake Ansel [barely] covers 14 hectares” [S1].", "not found", ""),
        ("It says “Lake Ansel covers 41 [of 99] hectares” [S1].", "not found", ""),
        ("It says “Lake [Blue] was 41 hectares” [S1].", "not found", ""),
        ("Lake Ansel covers 41 hectares [S1].[^1]", "quoted", ""),
        ("It says “Lake Ansel covers 41 hectares”[^7] [S1].", "quoted", ""),
        ("Quantum computers factor large integers quickly.", "uncited", ""),
        ("> Its mean depth is 4.2 m.\n\n[S1]", "quoted", ""),
        (
            "| lake | hectares |\n|---|---|\n| Lake Ansel covers | 41 hectares [S1] |",
            PARAPHRASE,
            "",
        ),
    ],
)
def test_verdicts(text, verdict, found_in):
    ((_, given, where),) = judged(text)
    assert (given, where) == (verdict, found_in)


def test_a_quote_is_looked_for_in_every_source_beside_it():
    text = "“But if you ask me, the mud was never the main thing” [S1][S3]."
    assert judged(text) == [("S1", "not found", ""), ("S3", "quoted", "")]


def test_rows_lead_to_the_passage_and_the_mark():
    checked = check("Big words first.\n\n“its mean depth is 4.2 m” [S1]. Unknown [S7].", sources())
    (row, *_) = [row for row in checked["citations"] if row["mark"] is not None]
    assert (row["mark"], row["passage"], row["place"]) == (0, 0, "p. 1")
    assert REPORT[0][row["start"] : row["end"]] == "Its mean depth is 4.2 m"
    marks = MARK.findall(checked["text"])
    assert [row["source"] for row in checked["citations"] if row["mark"] is not None] == marks
    assert (checked["removed"], checked["citations"][0]["id"]) == (1, "C1")
    json.dumps(checked)


def test_a_report_ends_with_its_sources_and_the_counts():
    text = (
        "“Lake Ansel covers 41 hectares” [S1]. It began to work in June, the aeration pump [S1]. "
        "Whales swim around lakes daily. Also [S12]."
    )
    end = check(text, sources())["text"].split("## Sources\n\n")[1]
    assert end == (
        "- **S1** report.md · p. 1; p. 2 · cited 2 times, 1 quoted\n\n"
        "Read and not cited: S2 Lake Ansel is back, S3 warden.txt.\n\n"
        "3 claims: 1 quoted, 1 paraphrased (source matched, support not verified), 1 uncited; "
        "1 unknown mark removed."
    )


def test_a_hostile_title_is_no_mark_and_no_link():
    given = sources()
    given["S1"]["title"] = "[S1](http://evil.example) <b>\n# x"
    text = check("Lake Ansel covers 41 hectares [S1].", given)["text"]
    assert len(MARK.findall(text)) == 1
    assert "](" not in text
    assert "<b>" not in text
    assert "http://" not in text


def test_what_is_said_of_the_search_is_no_claim_but_a_model_cannot_say_it():
    checked = check("It is green [S1].", sources(), gaps="- The web did not answer at all.")
    assert "## What was not found\n\n- The web did not answer at all." in checked["text"]
    assert checked["counts"]["uncited"] == 0
    posed = "It is green [S1].\n\n## What was not found\n\nThe mayor took the money for the pump."
    assert check(posed, sources())["counts"]["uncited"] == 1


@pytest.mark.parametrize(
    "before",
    [
        "$x_{[S2]}$ is a formula.",
        "\\`odd [S2]\\` and",
        "&#91;S2&#93; and",
        "`` `[S2] `` and",
        "| a |\n",
    ],
)
def test_where_a_mark_stands_is_told_and_not_left_to_counting(before):
    text = f"{before} It covers 41 hectares [S1].\n\nIt covers 99 acres [S2]."
    checked = check(text, sources())
    rows = {row["mark"]: row for row in checked["citations"] if row["mark"] is not None}
    for number, at in enumerate(checked["marks"]):
        assert checked["text"][at:].startswith(f"[{rows[number]['source']}]")
    false = next(row for row in checked["citations"] if "99 acres" in row["claim"])
    assert false["verdict"] == "not found"
    if checked["marks"]:
        assert checked["text"][: checked["marks"][false["mark"]]].endswith("99 acres ")


def test_code_that_was_left_open_swallows_nothing():
    checked = check("It covers 41 hectares [S1].\n\n```python\nprint(1)", sources())
    assert "```python\nprint(1)\n```\n\n## Sources" in checked["text"]
    closed = check("It covers 41 hectares [S1].\n\n```\nprint(1)\n```", sources())
    assert closed["text"].count("```") == 2


def test_a_label_of_the_source_is_none_of_the_report():
    given = register({}, [reading("a.md", "Step 2: heat the wax to a boil with care.")], 0.0)

    def verdict(text):
        return check(text, given)["citations"][0]["verdict"]

    assert verdict("Step 2: heat the wax to a boil with care [S1].") == "quoted"
    assert verdict("Step 3: heat the wax to a boil with care [S1].") == "not found"
    assert verdict("Section 3: heat the wax to a boil with care [S1].") == "quoted"


def test_each_of_two_quotes_is_looked_for_in_the_sources_of_all_marks():
    text = (
        "They say “Lake Ansel covers 41 hectares” and “the mud was never the main thing” [S1][S3]."
    )
    assert judged(text) == [("S1", "quoted", ""), ("S3", "quoted", "")]
    changed = text.replace("never", "ever")
    assert judged(changed) == [("S1", "not found", ""), ("S3", "not found", "")]
    inserted = text.replace("never", "[never]")
    assert "quoted" not in [verdict for _, verdict, _ in judged(inserted)]


def test_a_cell_without_a_column_takes_no_mark_its_place():
    checked = check("| a | b |\n|---|---|\n| It covers | 41 hectares [S1] | [S3] |", sources())
    (at,) = checked["marks"]
    assert checked["text"][at:].startswith("[S1]")


def work(claims, passages):
    """How often each function of Python is called for so many claims and passages."""
    texts = [f"Lake {n} of the plain is green, as reed {n} says it was." for n in range(passages)]
    given = register({}, [reading(f"{n}.md", *texts[n::5]) for n in range(5)], 0.0)
    said = [f"The pond of farm {n} was found green [S{n % 5 + 1}]." for n in range(claims)]
    calls = Counter()
    sys.setprofile(lambda frame, event, _: calls.update([frame.f_code.co_name] * (event == "call")))
    try:
        assert len(check("\n\n".join(said), given)["citations"]) == claims
    finally:
        sys.setprofile(None)
    return calls


def test_the_work_grows_with_the_claims_and_the_passages_and_not_with_their_product():
    few, many = work(40, 40), work(160, 160)
    assert many.total() < 4.5 * few.total(), "four times as much, and not sixteen times"
    assert many["normal"] <= 160 + 160, "a text is prepared once, however often it is searched"
