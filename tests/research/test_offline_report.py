"""Reports that are made with no language model: real documents, really searched and checked."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import deepnb
from deepnb.agents.research.offline import plan, write
from deepnb.agents.research.tools import MOST_PASSAGES
from deepnb.citations.registry import register
from deepnb.citations.verdicts import NOT_FOUND, check
from deepnb.knowledge import Overview
from tests.lake_questions import GAPS, QUESTIONS
from tests.research import small_collections as small

TOOLS = ("search_knowledge", "read_file")
ANSWERED = 43
"""For how many questions one of the first two quotes is from a right file, when last measured."""
SMALL_ANSWERED, SMALL_UNANSWERED = 41, 16
"""Of 44 and 18 questions to small collections: those whose right sentence is in the first two
quotes, and those that rightly get no report, when last measured."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = deepnb.samples.copy(tmp_path_factory.mktemp("lake"))
    with deepnb.Knowledge(folder, embeddings=False) as knowledge:
        yield knowledge


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Give a knowledge base of a small collection; one for each."""
    made = {}

    def knowledge(documents):
        if id(documents) not in made:
            folder = tmp_path_factory.mktemp("small")
            for name, text in documents.items():
                (folder / name).write_text(text, "utf-8")
            made[id(documents)] = deepnb.Knowledge(folder, embeddings=False)
        return made[id(documents)]

    yield knowledge
    for each in made.values():
        each.close()


def carried_out(knowledge, made):
    """What the steps of a plan find."""
    sources, results = {}, {}
    for step in made["steps"]:
        if step["tool"] == "read_file":
            hits = knowledge.read(step["input"])
        else:
            hits = knowledge.find(step["input"], MOST_PASSAGES)
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
    known = {"documents": len(knowledge.documents), "overview": knowledge.overview()}
    return whole(write(question, made, results, sources, **known)), sources


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


def first_quotes(text):
    body = text.partition(f"## {NOT_FOUND}")[0]
    return [" ".join(line.split()) for line in body.splitlines() if "[S" in line][:2]


def test_other_collections_are_answered_by_the_sentence_that_does(collection):
    missed = [
        question
        for documents, question, has in small.ANSWERED
        if not any(
            has in quote for quote in first_quotes(report(collection(documents), question)[0])
        )
    ]
    assert len(small.ANSWERED) - len(missed) >= SMALL_ANSWERED, missed


def test_other_collections_give_no_report_of_what_they_do_not_say(collection):
    reported = [
        question
        for documents, question in small.UNANSWERED
        if "[S" in report(collection(documents), question)[0]
    ]
    assert len(small.UNANSWERED) - len(reported) >= SMALL_UNANSWERED, reported


def test_each_part_of_a_question_has_the_sentence_that_answers_it_in_short(collection):
    question = "What share of the saplings survived, and why did trees on Station Road die?"
    text, sources = report(collection(small.TREES), question)
    short = text.partition("\n## What share")[0]
    assert "a survival rate of 82 %" in short
    assert "91 % of the saplings had survived" in short  # they differ, and both are shown
    assert "mostly from drought" in short
    assert "share" not in text.partition(NOT_FOUND)[2]
    assert set(verdicts(text, sources)) == {"quoted"}  # what says how it was made is no claim


def test_another_word_for_it_in_another_language_is_no_answer(collection):
    text, _ = report(collection(small.TREES), "Who pays for the dead maples?")
    assert "[S" not in text
    text, _ = told({"a.txt": "Die Linden wurden im Mai auf dem Platz gepflanzt."}, "dead maples")
    assert "[S" not in text


def test_the_year_that_is_asked_for_comes_first_and_others_are_left_out(collection):
    question = "How much was spent in 2022 and was it more than the budget?"
    text, _ = report(collection(small.TREES), question)
    assert "103500" in first_quotes(text)[0]
    assert "year: 2021" not in text
    assert "year: 2023" not in text


def test_a_word_that_was_read_but_not_quoted_is_said_to_be_there():
    texts = {"a.md": "The bridge was closed in spring.", "b.md": "A ferry ran.\n\nNobody came."}
    text, _ = told(texts, "Was the bridge closed in spring, by ferry or by tram?")
    gaps = text.partition(NOT_FOUND)[2]
    assert "- *ferry* is mentioned in b.md, but in nothing that is quoted." in gaps
    assert "- Nothing that was read mentions *tram*." in gaps


def test_if_no_step_was_carried_out_nothing_is_said_to_have_been_read():
    text, _ = told({}, "Was the bridge closed?", status="refused", error="Not this.")
    assert text.startswith("**No step could be carried out, so nothing was read")
    assert "this step was not allowed: Not this." in text
    assert "I looked for" not in text


def test_a_report_says_that_no_model_chose_its_quotes_and_claims_nothing_by_it():
    text, sources = told({"a.md": "The bridge was closed in spring."}, "bridge spring")
    assert "Verbatim quotes, chosen by rule and not by a language model:" in text
    assert verdicts(text, sources) == ["quoted"]


def test_a_step_whose_quotes_are_all_in_short_has_no_section(collection):
    question = "What share of the saplings survived, and why did trees on Station Road die?"
    text, _ = report(collection(small.TREES), question)
    assert "## What share of the saplings survived?" in text
    assert "## Why did trees on Station Road die?" not in text
    assert text.count("mostly from drought") == 1


def test_what_does_not_answer_a_part_is_not_quoted_for_it(lake):
    text, _ = report(lake, "Why did the pump fail in 2022 and what did it cost?")
    assert "EUR 46,500" in text
    assert "modern aeration pump" not in text  # no price in it


@pytest.mark.parametrize(
    "question",
    [
        "Which documents are here, and what are they about?",
        "What are the main findings, each with its source?",
        "Sum it up.",
        "Please summarise the main points.",
    ],
)
def test_of_documents_as_such_it_is_told_how_they_begin(lake, question):
    text, sources = report(lake, question)
    assert text.startswith("## How the documents begin")
    assert verdicts(text, sources) == ["quoted"] * 6
    assert "to sum up what they say takes a language model" in text
    rest = text.partition("## Other documents")[2]
    for location in lake.documents["location"]:
        assert (location in rest) is (location not in quoted_files(text, sources))


def test_other_documents_are_nothing_that_was_not_found(lake):
    made = plan("Which documents are here?", lake.overview(), TOOLS)
    results, sources = carried_out(lake, made)
    written = write(made["question"], made, results, sources, overview=lake.overview())
    text = check(written.report, sources, written.rest)["text"]
    assert "## Other documents" in text
    assert NOT_FOUND not in text


def test_of_one_document_it_is_told_how_its_parts_begin(lake):
    text, sources = report(lake, "Summarise the report.")
    assert set(quoted_files(text, sources)) == {"report.md"}
    assert "Lake Ansel covers 41 hectares." in text
    assert "Keep the pump running" in text  # the last part
    assert verdicts(text, sources) == ["quoted"] * 8
    assert "Other documents" not in text


@pytest.mark.parametrize(
    "question",
    [
        "Where do the documents disagree?",
        "Where do they contradict each other?",
        "Compare the press release with the report.",
        "What do the documents disagree about on phosphorus?",
    ],
)
def test_where_documents_may_disagree_both_sides_are_named(lake, question):
    text, sources = report(lake, question)
    section = text.partition("## Where the documents may disagree")[2].partition("\n## ")[0]
    assert "fallen by 62 %" in section
    assert "a reduction of 38 %" in section
    assert "possible" in section
    assert set(verdicts(text, sources)) == {"quoted"}
    assert "disagree*" not in text  # it is no word to look for


def test_if_nothing_disagrees_it_is_said_what_was_compared(collection):
    text, _ = report(collection(small.CONTRACT), "Are there any discrepancies?")
    assert text.startswith("**No possible conflict was found, so there is no report.**")
    assert "of 2 documents" in text


@pytest.mark.parametrize("question", ["What is 2+2?", "2 + 2", "How much is 12 * 4?"])
def test_a_sum_is_no_question_to_documents(lake, question):
    text, _ = report(lake, question)
    assert "[S" not in text
    assert "It is a sum" in text


def test_what_is_nearest_is_told_by_the_words_that_are_there():
    text, _ = told({"a.md": "The town pays for the pier."}, "What did the ferry to Holm cost?")
    assert "a.md (which has *pays*)" in text


def test_a_gap_is_told_in_words_and_not_in_stems():
    texts = {"a.md": "The lake froze in spring."}
    step = {"id": "2", "title": "Notes", "tool": "read_file", "input": "notes.md"}
    readings = [
        {"kind": "file", "title": n, "location": n, "passages": [{"text": t, "place": ""}]}
        for n, t in texts.items()
    ]
    question = "What pollutes lakes?"
    made = {"question": question, "steps": [{**step, "rationale": "", "depends_on": []}]}
    results = {"2": {"status": "ok", "found": [("S1", 0)]}}
    text = whole(write(question, made, results, register({}, readings, 0.0)))
    assert "*pollutes* and *lakes*" in text
    assert "*pollut*" not in text


@pytest.mark.parametrize(
    ("text", "question", "quote"),
    [
        (
            "Nine in ten limes thrive\nThe mayor said that most of the limes are alive and well.",
            "Do the limes thrive?",
            "The mayor said that most of the limes are alive and well.",
        ),
        (
            "A bridge for all of us\n\nThe bridge was opened in spring by the mayor of the town.",
            "When was the bridge opened?",
            "The bridge was opened in spring by the mayor of the town.",
        ),
        (
            "*In force since 1 April 2018. Unofficial wording for the public.*",
            "Since when is it in force?",
            "In force since 1 April 2018.",
        ),
        (
            "Brief von Jürgen Müller, Gärtnerei Süd, 3. März 2025",
            "Who is Jürgen Müller?",
            "Brief von Jürgen Müller, Gärtnerei Süd, 3. März 2025",
        ),
        (
            "- Mill Lane: the hornbeams are fine.\n- Quay Street: the limes are dry.",
            "How are the hornbeams of Mill Lane?",
            "Mill Lane: the hornbeams are fine.",
        ),
    ],
)
def test_what_is_quoted_is_a_whole_sentence_and_no_headline(text, question, quote):
    made, sources = told({"a.md": text}, question)
    assert re.findall("“(.+?)”", made)[0] == quote
    assert set(verdicts(made, sources)) == {"quoted"}


def test_of_json_a_whole_object_is_quoted():
    text = '{\n  "id": 7,\n  "alarm": {\n    "sensor": "oxygen",\n    "below": 3.0\n  }\n}'
    made, sources = told({"buoy.json": text}, "What is the oxygen alarm?")
    assert '“`"alarm": { "sensor": "oxygen", "below": 3.0 }`” [S1]' in made
    assert verdicts(made, sources) == ["quoted"]


def test_the_names_of_columns_are_no_row():
    rows = "year; street; trees\nyear: 2021; street: Quay Street; trees: 40"
    made, _ = told({"t.csv": rows}, "How many trees has which street?")
    assert "“year; street; trees”" not in made


def test_what_a_person_asked_for_is_quoted_though_the_question_has_other_words(collection):
    documents = collection(small.CONTRACT)
    question, wish = "Who maintains the windows?", "Also look at the lease, section Deposit"
    made = plan(question, documents.overview(), TOOLS, objections=[wish])
    results, sources = carried_out(documents, made)
    assert "5,550 euros" in write(question, made, results, sources).report


def test_a_document_that_is_not_there_is_said_to_be_not_there(lake):
    made = plan("Summarise nosuch.md.", lake.overview(), TOOLS)
    results = {"1": {"status": "failed", "error": "It does not exist."}}
    report_, rest = write(made["question"], made, results, {}, 9, overview=lake.overview())
    assert not report_
    assert "What nosuch.md says (read_file: nosuch.md): this step failed" in rest


def test_what_is_called_like_no_document_is_something_not_found(lake):
    text, sources = report(lake, "Compare the report with the lease.")
    assert set(quoted_files(text, sources)) == {"report.md"}
    assert "- No document that may be read is called “the lease”." in text.partition(NOT_FOUND)[2]


def test_documents_that_the_policy_leaves_out_are_counted_and_not_searched():
    step = {"id": "1", "title": "X", "tool": "search_knowledge", "input": "yeti", "rationale": ""}
    made = {"question": "Where is the yeti?", "steps": [{**step, "depends_on": []}]}
    results = {"1": {"status": "ok", "found": []}}
    for left_out, words in [(1, "1 document was left"), (2, "2 documents were left")]:
        _, rest = write(made["question"], made, results, {}, 9, left_out=left_out)
        assert f"in 9 documents. {words} out by the policy." in rest
    assert "left out" not in write(made["question"], made, results, {}, 9).rest


def test_the_parts_of_a_document_are_told_in_their_order():
    told_of = {"12\u201314": "third", "3": "first", "7\u20139": "second"}
    places = [(f"lines {n}", f"The {nth} part is about the pump.") for n, nth in told_of.items()]
    passages = [{"text": text, "place": place} for place, text in places]
    reading = {"kind": "file", "title": "A", "location": "a.md", "passages": passages}
    sources = register({}, [reading], 0.0)
    overview = [Overview("A", "a.md", ())]
    made = plan("Summarise a.md.", overview, TOOLS)
    results = {"1": {"status": "ok", "found": [("S1", n) for n in range(3)]}}
    text = write(made["question"], made, results, sources, overview=overview).report
    assert re.findall("first|second|third", text) == ["first", "second", "third"]


def test_numbers_for_two_things_are_no_gap_if_each_was_found(tmp_path):
    (tmp_path / "a.md").write_text("The bait cost 23,900 pounds.\n", "utf-8")
    (tmp_path / "b.md").write_text("In 2024 there were 1,240 pairs of puffins.\n", "utf-8")
    (tmp_path / "c.csv").write_text("year,cats\n2024,3\n", "utf-8")
    with deepnb.Knowledge(tmp_path, embeddings=False) as knowledge:
        question = "How much did the bait cost, and how many pairs of puffins were there in 2024?"
        assert "Numbers" in [
            s["title"] for s in plan(question, knowledge.overview(), TOOLS)["steps"]
        ]
        text, _ = report(knowledge, question)
    assert "23,900" in text
    assert "1,240" in text
    assert "Numbers:" not in text


@pytest.mark.parametrize("date", ["12 August 2023.", "Saturday, August 12, 2023:", "2023-08-12."])
def test_a_date_goes_with_the_sentence_behind_it(date):
    diary = f"August\n{date} Ingrid saw a rat by the boat house. Traps were set.\n"
    text, sources = told({"diary.txt": diary}, "When did Ingrid see a rat?")
    assert f"“{date} Ingrid saw a rat by the boat house.”" in text
    assert set(verdicts(text, sources)) == {"quoted"}


def test_a_document_that_the_policy_denies_is_neither_read_nor_counted(tmp_path):
    (tmp_path / "secret.md").write_text("The yeti lives in Ulm.\n", "utf-8")
    (tmp_path / "lake.md").write_text("The lake is deep and cold.\n", "utf-8")
    policy = "## Data access\n- allow the knowledge base\n- allow files `**`\n"
    policy += "- deny files `secret.md`\n\n## External requests\n\n## Content\n\n"
    policy += "## Allowed tools\n- allow search_knowledge, read_file\n"
    with deepnb.Knowledge(tmp_path, embeddings=False) as knowledge:
        knowledge.wait()
        given = {"knowledge": knowledge, "policy": policy, "persist": False}
        with deepnb.Session("research", workspace=tmp_path, **given) as session:
            answers = []
            for question in ("Summarise secret.md.", "Where is the helicopter?"):
                run = session.ask(question).wait()
                session.respond(session.pending["id"][0], "approve")
                answers.append(run.wait().answer)
    assert not any("yeti" in answer or "deep and cold" in answer for answer in answers)
    assert "this step was not allowed" in answers[0]
    assert "in 1 document. 1 document was left out by the policy." in answers[1]
    assert "secret" not in answers[1]
