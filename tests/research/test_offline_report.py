"""Reports that are made with no language model: real documents, really searched and checked."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import deepnb
from deepnb.agents.research.offline import plan, write
from deepnb.citations.registry import register
from deepnb.citations.verdicts import NOT_FOUND, check
from tests.lake_questions import GAPS, QUESTIONS

TOOLS = ("search_knowledge", "read_file")
ANSWERED = 43
"""For how many questions one of the first two quotes is from a right file, when last measured."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = deepnb.samples.copy(tmp_path_factory.mktemp("lake"))
    with deepnb.Knowledge(folder, embeddings=False) as knowledge:
        yield knowledge


def carried_out(knowledge, made):
    """What the steps of a plan find."""
    sources, results = {}, {}
    for step in made["steps"]:
        if step["tool"] == "read_file":
            hits = knowledge.read(step["input"])
        else:
            hits = knowledge.find(step["input"])
        readings = [
            {
                "kind": hit.kind,
                "title": hit.title,
                "location": hit.location,
                "passages": [{"text": hit.text, "place": hit.place}],
            }
            for hit in hits
        ]
        sources = register(sources, readings, 0.0)
        ids = {source["location"]: source["id"] for source in sources.values()}
        found = []
        for reading in readings:
            source = sources[ids[reading["location"]]]
            found.append((source["id"], source["passages"].index(reading["passages"][0])))
        results[step["id"]] = {"status": "ok", "found": found}
    return results, sources


def whole(written):
    """What a person sees of it, but for the sources."""
    return f"\n\n## {NOT_FOUND}\n\n".join(filter(None, written))


def report(knowledge, question):
    made = plan(question, knowledge.overview(), TOOLS)
    results, sources = carried_out(knowledge, made)
    return whole(write(question, made, results, sources, len(knowledge.documents))), sources


def quoted_files(text, sources):
    return [sources[mark]["location"] for mark in re.findall(r"\[(S\d+)\]", text)]


def told(texts, question, tool="search_knowledge", title="What is said", **result):
    """A report from texts by name, all found by one step."""
    readings = [
        {"kind": "file", "title": name, "location": name, "passages": [{"text": text, "place": ""}]}
        for name, text in texts.items()
    ]
    sources = register({}, readings, 0.0)
    step = {"id": "1", "title": title, "tool": tool, "input": question, "rationale": ""}
    found = [(identity, 0) for identity in sources]
    results = {"1": {"status": "ok", "found": found, **result}}
    made = {"question": question, "steps": [{**step, "depends_on": []}]}
    return whole(write(question, made, results, sources)), sources


def verdicts(text, sources):
    checked = check(text.partition(f"## {NOT_FOUND}")[0], sources)
    assert checked["removed"] == 0
    return [row["verdict"] for row in checked["citations"]]


def test_questions_are_answered_from_the_right_documents_in_quotes_that_hold(lake):
    right, verdicts_ = [], Counter()
    for question, files in QUESTIONS.items():
        text, sources = report(lake, question)
        if set(quoted_files(text, sources)[:2]) & set(files.split()):
            right.append(question)
            verdicts_.update(verdicts(text, sources))
        assert len(text) < 4_000
    assert len(right) >= ANSWERED, set(QUESTIONS) - set(right)
    # Of a line of JSON there is too little to count as a quote.
    assert set(verdicts_) <= {"quoted", "source matched, support not verified"}
    assert verdicts_["quoted"] > 0.95 * verdicts_.total()


def test_what_no_document_says_gives_no_report(lake):
    reported = [question for question in GAPS if "[S" in report(lake, question)[0]]
    # The minutes do say that this account was discussed in closed session.
    assert reported == ["How much did the town pay Holm & Veer?"]


def test_a_statement_says_what_was_looked_for_in_which_words_and_where(lake):
    text, _ = report(lake, "What is the salary of the mayor?")
    assert text.startswith("**Nothing was found that answers this, so there is no report.**")
    assert "I looked for *salary* and *mayor* in 14 documents." in text
    assert "In nothing that was read: *salary*." in text
    assert "(search_knowledge: What is the salary of the mayor?)" in text


def test_a_report_begins_with_the_best_and_goes_on_step_by_step(lake):
    text, _ = report(lake, "Why did the pump fail in 2022 and what did it cost?")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == [
        "In short",
        "Why did the pump fail in 2022?",
        "What did it cost?",
        "What was not found",
    ]
    short = text.partition("\n## ")[0]
    assert "EUR 46,500" in short
    assert "TF: Lightning." in text  # the answer goes with what was asked


def test_both_sides_of_a_contradiction_are_quoted_first(lake):
    text, sources = report(lake, "By how much did phosphorus fall?")
    assert set(quoted_files(text, sources)[:2]) == {"report.md", "press-release.md"}


def test_a_row_of_a_table_comes_with_the_names_of_its_columns(lake):
    text, _ = report(lake, "How many days was the beach closed in 2021?")
    assert "(summer, total phosphorus (µg/l), days with bathing ban) “2021 | 66 | 12” [S" in text
    text, _ = report(lake, "What was the Secchi depth at the south station on 2022-07-12?")
    assert "“date: 2022-07-12; station: south;" in text.partition("\n## ")[0]


def test_instructions_to_a_model_are_no_answer(lake):
    text, _ = report(lake, "Is AlgaClear approved for bathing lakes?")
    assert "not permitted in the county" in text
    assert "ignore previous instructions" not in text.partition("\n## ")[0]


def test_what_says_the_same_is_quoted_once_but_not_if_a_number_differs():
    said = "The harbour bridge was built of {} tonnes of grey steel."
    texts = {"a.md": said.format(40), "b.md": said.format(40), "c.md": said.format(70)}
    text, sources = told(texts, "How many tonnes of steel has the harbour bridge?")
    assert quoted_files(text, sources) == ["a.md", "c.md"]


@pytest.mark.parametrize(
    "sentence",
    [
        'He said: "the bridge was closed in spring", and went.',
        "\u201cThe bridge,\u201d he said, \u201cwas closed in spring for good.\u201d",
        "As shown before [S1] the bridge was closed in spring (S2).",
        "See [the bridge](http://example.org/x) that was closed in spring.",
        "The bridge <b>was closed</b> in spring <script>alert(1)</script> it seems.",
        "Call `bridge.close()` and ``more` of it`` in the spring of the bridge.",
        "The *bridge* was **closed** in_the_spring, # and | so * on.",
        "The bridge was closed\nin spring, and there\nwere no ferries.",
        "> The bridge was closed\n> in spring, and there\n> were no ferries.",
        "- The bridge was closed in spring for repairs.",
        "3. The bridge was closed in spring for repairs.",
        "The bridge was closed in spring by H. Strand, Nordluft Ltd. and others, see Fig. 2 there.",
    ],
)
def test_whatever_a_document_says_is_quoted_as_it_stands(sentence):
    text, sources = told(
        {"a.md": f"Before it.\n\n{sentence}\n\nBehind it."}, "bridge closed spring"
    )
    assert "## In short" in text
    assert verdicts(text, sources) == ["quoted"]


def test_the_only_marks_of_a_report_are_its_own():
    text, sources = told({"[S9](x) <b>.md": "The bridge was closed in spring."}, "bridge spring")
    assert re.findall(r"S\d+", text.replace("[S1]", "")) == ["S9"]
    assert verdicts(text, sources) == ["quoted"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("failed", "this step failed: The page did not answer."),
        ("refused", "this step was not allowed: The page did not answer."),
    ],
)
def test_a_step_that_failed_is_named_with_its_reason(lake, status, words):
    question = "How deep is Lake Ansel?"
    made = plan(question, lake.overview(), [*TOOLS, "web_search"])
    results, sources = carried_out(lake, {"steps": made["steps"][:1]})
    results["2"] = {"status": status, "error": "The page did not answer."}
    text = whole(write(question, made, results, sources))
    assert f"- What a web search finds: {words}" in text.partition("## What was not found")[2]
    del results["1"]
    statement = whole(write(question, made, results, sources))
    assert words in statement
    assert "this step was not carried out" in statement


def test_what_a_report_leaves_open_is_said(lake):
    text, _ = report(lake, "Why did the pump fail in 2022?")
    assert "- Nothing that was read mentions *fail*." in text


def test_a_report_of_a_named_document_looks_for_what_is_asked_of_it(lake):
    text, sources = report(lake, "What does the press release say about the kiosk?")
    assert "a kiosk run by the rowing club" in text
    assert quoted_files(text, sources) == ["press-release.md"]


def test_passages_that_are_none_are_passed_over():
    text, _ = told(
        {"a.md": "The bridge was closed in spring."}, "bridge", found=[("S9", 0), ("S1", 7)]
    )
    assert text.startswith("**Nothing was found")


@pytest.mark.parametrize("text", ["", "\0", ">  ", "- \n\n1. ", "|\n|\n", "?" * 500, "𠀀" * 3000])
def test_odd_passages_break_nothing(text):
    for name in ("a.md", "a.csv", "a.json", "a.bib"):
        made, sources = told({name: f"{text}\nbridge {text}", "b.md": text}, "bridge")
        if "[S" in made:
            check(made, sources)
