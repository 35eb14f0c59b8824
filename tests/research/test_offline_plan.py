"""Plans that are made with no language model."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from deepnb.agents.research.offline import plan
from deepnb.interrupts import PlanAnswer, check_order

LOCAL = ("search_knowledge", "read_file")
ALL = (*LOCAL, "web_search", "fetch_page")


class Document(NamedTuple):
    title: str
    location: str
    headings: tuple[str, ...] = ()


DOCUMENTS = [
    Document(
        "Cells", "cells.md", ("Cells", "Cells \u203a 2. Cycle life and the polysulfide shuttle")
    ),
    Document("Lake Ansel is back", "press-release.md"),
    Document("measurements", "data/measurements.csv"),
    Document("report", "report.md"),
]


def steps(question, tools=LOCAL, documents=DOCUMENTS, **more):
    made = plan(question, documents, tools, **more)["steps"]
    check_order([(step["id"], step["depends_on"]) for step in made])
    if made:
        PlanAnswer.model_validate({"approved": True, "plan": {"steps": made}})
    assert len(made) <= 6
    return made


def tools(made):
    return [step["tool"] for step in made]


@pytest.mark.parametrize("question", ["Who is the warden?", "What is the power of the pump?"])
def test_a_simple_question_is_one_search(question):
    [step] = steps(question)
    assert (step["id"], step["tool"], step["input"]) == ("1", "search_knowledge", question)


def test_each_part_of_a_question_is_a_step_that_knows_what_it_is_about():
    first, second = steps("Why did the pump fail in 2022, and who repaired it?")
    assert first["title"] == "Why did the pump fail in 2022?"
    assert second["title"] == "Who repaired it?"
    assert "pump" in second["input"]
    assert second["rationale"] == "The question asks for two things; this is the second."


def test_one_thing_asked_in_two_ways_is_one_step():
    assert len(steps("How and why did the pump stop?")) == 1


def test_things_that_are_compared_are_looked_for_one_by_one():
    one, other = steps("Compare sodium with lithium")
    assert (one["input"], other["input"]) == ("sodium", "lithium")


def test_other_words_for_the_same_are_looked_for_too():
    [step] = steps("How deep is the lake?")
    assert step["input"] == "How deep is the lake? (depth)"


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("What does report.md say about fish?", "report.md"),
        ("What does the press release say about fish?", "press-release.md"),
    ],
)
def test_a_document_that_is_named_is_read(question, path):
    read, search = steps(question)
    assert (read["tool"], read["input"]) == ("read_file", path)
    assert read["rationale"] == f"The question names {path}."
    assert search["tool"] == "search_knowledge"
    assert tools(steps(question, ["search_knowledge"])) == ["search_knowledge"]


def test_a_section_that_fits_lends_its_words():
    *_, section, _ = steps("What limits cycle life?")
    assert section["rationale"] == (
        "Cells has a section called “Cycle life and the polysulfide shuttle”."
    )
    assert "polysulfide" in section["input"]


def test_a_number_is_looked_for_in_tables_if_there_are_any():
    question = "How many fish were counted?"
    _, numbers = steps(question)
    assert (
        numbers["rationale"] == "The question asks for a number, and measurements.csv is a table."
    )
    assert "measurements" in numbers["input"]
    assert len(steps(question, documents=DOCUMENTS[:2])) == 1


@pytest.mark.parametrize("question", ["Did the dredging help?", "Dredging restores small lakes."])
def test_what_could_be_otherwise_is_doubted(question):
    _, against = steps(question)
    assert against["title"] == "What may speak against it"
    assert "however" in against["input"]


def test_pages_are_fetched_after_they_were_found():
    *_, search, fetch = steps("Who is the warden?", ALL)
    assert (search["tool"], fetch["tool"]) == ("web_search", "fetch_page")
    assert fetch["input"] == search["id"]
    assert fetch["depends_on"] == [search["id"]]
    assert tools(steps("Who is the warden?", ["web_search"])) == ["web_search"]


def test_an_address_in_the_question_is_fetched_and_not_searched_for():
    first, *others = steps("What does https://example.org/a?b=1 say about fish?", ALL)
    assert (first["tool"], first["input"]) == ("fetch_page", "https://example.org/a?b=1")
    assert not any("example.org" in step["input"] for step in others)


def test_a_question_that_points_back_takes_its_subject_from_the_one_before():
    [step] = steps("And who built it?", earlier=["How old is the harbour bridge?"])
    assert "harbour bridge" in step["input"]
    assert (
        "harbour bridge" in plan("And who built it?", [], LOCAL, ["The harbour bridge"])["question"]
    )


def test_a_question_that_names_something_takes_nothing_from_the_one_before():
    question = "How much was spent in 2022 and was it more than the budget?"
    made = plan(question, [], LOCAL, ["Which supplier is the best?"])
    assert made["question"] == question
    assert [step["title"] for step in made["steps"]] == [
        "How much was spent in 2022?",
        "Was it more than the budget?",
    ]
    assert not any("supplier" in step["input"] for step in made["steps"])


def test_what_a_question_takes_from_the_one_before_is_in_no_title():
    made = steps("Who built it and why did it fail?", earlier=["How old is the bridge?"])
    assert [step["title"] for step in made] == ["Who built it?", "Why did it fail?"]
    assert all("bridge" in step["input"] for step in made)


def test_a_question_about_the_documents_looks_how_each_begins():
    made = steps("Which documents are here?", earlier=["How old is the bridge?"])
    assert [step["input"] for step in made] == [
        *("cells.md", "press-release.md", "report.md", "data/measurements.csv")  # prose first
    ]
    assert set(tools(made)) == {"read_file"}


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("Summarise the report.", ["report.md"]),
        ("What does report.md say?", ["report.md"]),
        ("Compare the press release with the final report.", ["press-release.md", "report.md"]),
        ("Where do the press release and the report disagree?", ["press-release.md", "report.md"]),
    ],
)
def test_documents_that_are_named_as_such_are_opened(question, paths):
    made = steps(question)
    assert [(step["tool"], step["input"]) for step in made] == [("read_file", p) for p in paths]


def test_a_document_is_meant_by_what_it_is_and_by_the_words_that_tell_it_from_others():
    minutes = [Document("Minutes", f"minutes-{month}.txt") for month in ("april", "june", "july")]
    question = "What do the {}minutes say about the roof?"
    [read, _] = steps(question.format("June "), documents=minutes)
    assert read["input"] == "minutes-june.txt"
    assert tools(steps(question.format(""), documents=minutes)) == ["search_knowledge"]


def test_a_word_that_is_no_kind_of_document_names_none():
    trees = [Document("Trees", "trees.xlsx")]
    assert tools(steps("Why did the trees die?", documents=trees)) == ["search_knowledge"]


def test_where_documents_disagree_is_looked_for_in_those_that_have_something_in_common():
    others = [Document(f"Note {n}", f"{n}.md") for n in range(9)]
    made = steps("Where do the documents disagree?", documents=[*others, *DOCUMENTS[::-1]])
    assert len(made) == 6
    assert set(tools(made)) == {"read_file"}
    kin = [Document("Lake Ansel", "z1.md"), Document("The fish of Lake Ansel", "z2.md")]
    made = steps("Where do the documents disagree?", documents=[*DOCUMENTS[:2], *kin, *others])
    assert {"press-release.md", "z1.md", "z2.md"} <= {step["input"] for step in made}


def test_where_documents_disagree_about_something_is_searched_for():
    [step] = steps("Where do the documents disagree about oxygen?")
    assert step["tool"] == "search_knowledge"
    assert "oxygen" in step["input"]
    assert "disagree" not in step["input"]


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("When was the pump installed?", True),
        ("Since when are fish counted?", True),
        ("How deep is it, and when did it freeze?", True),
        ("Who pays when a fish dies?", False),
        ("Who decides when the beach is closed?", False),
    ],
)
def test_a_date_is_looked_for_where_when_asks_for_one(question, is_asked):
    assert ("Dates" in [step["title"] for step in steps(question)]) is is_asked


def test_nothing_can_be_planned_without_tools():
    assert steps("Who is the warden?", []) == []


def test_long_and_many_questions_stay_a_short_plan():
    many = " ".join(f"What is thing{n}? Did thing{n} help report.md?" for n in range(50))
    assert len(steps(many, ALL)) == 6
    assert all(len(step["input"]) <= 500 and len(step["title"]) <= 200 for step in steps(many, ALL))


class TestObjections:
    QUESTION = "Did the dredging help, as report.md says?"

    def steps(self, *objections):
        return steps(self.QUESTION, ALL, objections=objections)

    def test_without_any_there_are_five_steps(self):
        assert tools(self.steps()) == [
            *("read_file", "search_knowledge", "search_knowledge", "web_search", "fetch_page")
        ]

    def test_a_step_that_is_named_is_dropped(self):
        made = self.steps("Steps 1 and 2: no.")
        assert tools(made) == ["search_knowledge", "web_search", "fetch_page"]
        assert [step["id"] for step in made] == ["1", "2", "3"]
        assert (made[2]["input"], made[2]["depends_on"]) == ("2", ["2"])

    def test_each_reason_is_about_the_plan_that_was_shown(self):
        made = self.steps("Step 1 is rude.", "Step 1 is rude, too.")
        assert tools(made) == ["search_knowledge", "web_search", "fetch_page"]

    def test_an_audit_gives_a_reason_for_each_step_of_one_plan(self):
        allow = "Its owner can write '- allow web_search' under 'Allowed tools'."
        made = self.steps("Step 1: The policy denies it.", f"Step 4: Not allowed. {allow}")
        assert tools(made) == ["search_knowledge", "search_knowledge"]

    def test_what_waits_for_a_dropped_step_goes_with_it(self):
        assert "fetch_page" not in tools(self.steps("Step 4 asks a search engine for names."))

    @pytest.mark.parametrize(
        "objection",
        [
            "web_search is not allowed.",
            "Please do not use the web.",
            "No external requests: the internet is off limits",
        ],
    )
    def test_a_tool_is_dropped_by_its_name_or_in_words(self, objection):
        assert tools(self.steps(objection)) == ["read_file", "search_knowledge", "search_knowledge"]

    def test_a_file_that_may_not_be_read_is_not_read(self):
        made = self.steps("report.md is private.")
        assert "report.md" not in [step["input"] for step in made]
        assert "search_knowledge" not in tools(made), "a search could find it"

    def test_what_is_asked_for_instead_is_added(self):
        made = self.steps("Leave out the web, but look at press-release.md as well")
        assert made[-1]["input"] == "press-release.md"
        assert made[-1]["rationale"] == "You asked for it: “look at press-release.md as well”."
        assert "web_search" not in tools(made)

    def test_words_to_look_for_are_searched_with_the_subject(self):
        *_, added = self.steps("Also look for copper")
        assert added["tool"] == "search_knowledge"
        assert {"copper", "dredging"} <= set(added["input"].split())

    def test_a_wish_cannot_bring_in_a_file_that_is_no_document(self):
        made = self.steps("Also read /etc/passwd.txt")
        assert not any(
            step["input"] == "/etc/passwd.txt" for step in made if step["tool"] == "read_file"
        )

    @pytest.mark.parametrize(
        ("objection", "read"),
        [
            ("only cells.md please", ["cells.md"]),
            ("Use cells.md only", ["cells.md"]),
            ("No. Just read `papers/Cells.md`!", ["cells.md"]),
            ("nothing but cells.md", ["cells.md"]),
            ("only cells.md, measurements.csv", ["cells.md", "data/measurements.csv"]),
            ("only cells.md and report.md, not the web", ["cells.md", "report.md"]),
        ],
    )
    def test_only_what_is_named_is_read(self, objection, read):
        made = self.steps(objection)
        assert [(step["tool"], step["input"]) for step in made] == [
            ("read_file", path) for path in read
        ]
        assert made[0]["rationale"].startswith("You asked for it: “")

    def test_only_a_file_and_the_web(self):
        made = self.steps("only cells.md and the web")
        assert tools(made) == ["web_search", "fetch_page", "read_file"]

    @pytest.mark.parametrize(
        "objection",
        [
            "not cells.md",
            "everything but cells.md",
            "Please leave out 'cells.md'.",
            "skip cells.md",
        ],
    )
    def test_what_is_not_wanted_is_not_found_by_a_search_either(self, objection):
        made = steps("Who is the warden?", objections=[objection])
        assert [step["input"] for step in made] == [
            *("press-release.md", "data/measurements.csv", "report.md")
        ]
        assert tools(made) == ["read_file"] * 3

    def test_it_stays_out_until_it_is_asked_for(self):
        made = steps("Who is the warden?", objections=["not cells.md", "also look for copper"])
        assert "search_knowledge" not in tools(made)
        assert "“also look for copper”" in made[0]["rationale"]
        made = steps("Who is the warden?", objections=["not cells.md", "cells.md too"])
        assert made[-1]["input"] == "cells.md"

    def test_where_the_others_are_too_many_to_read_it_says_so(self):
        many = [Document(str(number), f"{number}.md") for number in range(9)]
        [step] = steps("Who is the warden?", documents=many, objections=["not 3.md"])
        assert step["tool"] == "search_knowledge"
        assert "It may still find what you want left out" in step["rationale"]

    @pytest.mark.parametrize("objection", ["cells.md too", "Also cells.md", "what about cells.md?"])
    def test_a_file_more(self, objection):
        before, after = self.steps(), self.steps(objection)
        assert after[:-1] == before
        assert (after[-1]["tool"], after[-1]["input"]) == ("read_file", "cells.md")

    def test_one_file_instead_of_another(self):
        made = self.steps("Read cells.md instead of report.md")
        assert made[-1]["input"] == "cells.md"
        assert "report.md" not in [step["input"] for step in made]

    def test_what_is_asked_for_has_room_in_a_full_plan(self):
        question = "How many fish? Did it help report.md? Was the press release right?"
        assert len(steps(question, ALL)) == 6
        *_, last = steps(question, ALL, objections=["cells.md too"])
        assert last["input"] == "cells.md"

    def test_a_step_can_be_meant_by_its_title(self):
        question = "How many fish were counted?"
        assert [step["title"] for step in steps(question)][1:] == ["Numbers"]
        assert len(steps(question, objections=["skip the numbers"])) == 1

    @pytest.mark.parametrize(
        "objection", ["Make it nicer.", "not only cells.md", "only nowhere.md", "skip the weather"]
    )
    def test_what_it_cannot_use_it_says(self, objection):
        before, after = self.steps(), self.steps(objection)
        assert after[1:] == before[1:]
        shown = f"I could not make use of: “{objection}”; edit the plan instead."
        assert after[0]["rationale"] == f"{shown} {before[0]['rationale']}"

    @pytest.mark.parametrize(
        "objection",
        ["Read the report, section Prices", "look at the report's prices", "report.md: prices too"],
    )
    def test_what_is_to_be_read_and_what_to_be_looked_for_there(self, objection):
        *_, read, search = steps("Who is the warden?", objections=[objection])
        assert (read["tool"], read["input"]) == ("read_file", "report.md")
        assert search["input"].lower().startswith("prices")

    def test_a_list_of_words_is_one_wish(self):
        *_, added = self.steps("Also look for copper, zinc and tin")
        assert {"copper,", "zinc", "tin"} <= set(added["input"].split())

    def test_a_document_is_left_out_by_what_it_is(self):
        assert "report.md" not in [step["input"] for step in self.steps("Leave out the report")]

    def test_fewer_steps_are_the_first_ones(self):
        assert self.steps("fewer steps, please") == self.steps()[:2]
        [first] = steps("Who is the warden?", objections=["fewer steps"])
        assert first["rationale"].startswith("I could not make use of: “fewer steps”")

    def test_what_a_reason_says_does_nothing_in_a_rationale(self):
        [first, *_] = self.steps("Nicer [S1](http://x) <b>`\u202e\n" + "x" * 500)
        assert not set("[]<>`\u202e\n") & set(first["rationale"])
        assert len(first["rationale"]) < 260

    def test_everything_can_be_refused(self):
        assert self.steps("Steps 1, 2, 3, 4 and 5 are forbidden") == []


def test_names_that_documents_chose_do_nothing_in_a_title():
    evil = "Cycle life [S1](http://x) <b>`\x00\u202e\nshuttle " + "x" * 500
    documents = [Document(evil, f"{evil}.md", (f"T \u203a {evil}",))]
    for step in steps("What limits cycle life?", documents=documents):
        for text in (step["title"], step["rationale"]):
            assert not set("[]<>`\x00\u202e\n") & set(text)
            assert len(text) < 260


ISLE = [
    Document("Seabird census of Skerry Holm 2024", "census-2024.pdf"),
    Document("budget", "budget.xlsx"),
    Document("grant-letter", "grant-letter.txt"),
    Document("Interview with the warden", "papers/interview.txt"),
]


def isle(question, **more):
    return [(step["tool"], step["input"]) for step in steps(question, documents=ISLE, **more)]


@pytest.mark.parametrize(
    "question", ["Summarise nosuch.md.", "What does nosuch.md say about rats?", "Sum up nosuch.md"]
)
def test_no_other_document_is_taken_for_a_file_that_is_not_there(question):
    [step] = steps(question, documents=ISLE)
    assert (step["tool"], step["input"]) == ("read_file", "nosuch.md")
    assert "No document that may be read is called “nosuch.md”." in step["rationale"]


def test_of_two_files_the_one_that_is_there_is_read():
    made = isle("Compare papers/interview.txt with nosuch.md")
    assert made == [("read_file", "papers/interview.txt"), ("read_file", "nosuch.md")]
    paths = {path for _, path in isle("Compare budget.xlsx with interview.txt")}
    assert "interview.txt" not in paths, "it is there, in a folder"


@pytest.mark.parametrize(
    "question",
    ["What is Node.js?", "Who runs ansel.org?", "What does https://x.example/a.html say?"],
)
def test_what_only_looks_like_a_file_is_searched_for(question):
    assert [tool for tool, _ in isle(question)] == ["search_knowledge"]


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("Summarise the census.", ["census-2024.pdf"]),
        ("Summarise seabird census", ["census-2024.pdf"]),
        ("What does the seabird census say?", ["census-2024.pdf"]),
        ("Give me a summary of the budget.", ["budget.xlsx"]),
        ("Compare the grant letter with the budget.", ["grant-letter.txt", "budget.xlsx"]),
        ("Compare the census with the budget.xlsx", ["census-2024.pdf", "budget.xlsx"]),
        ("Compare the census with nosuch.md", ["census-2024.pdf", "nosuch.md"]),
        ("Compare the census and the interview", ["census-2024.pdf", "papers/interview.txt"]),
    ],
)
def test_a_document_is_meant_by_words_of_its_file_or_of_its_title(question, paths):
    assert sorted(isle(question)) == sorted(("read_file", path) for path in paths)


@pytest.mark.parametrize(
    "question",
    ["What was the budget of the pump?", "Compare budget with census", "Is a census due?"],
)
def test_a_word_of_a_title_is_a_word_where_no_document_is_spoken_of(question):
    assert {tool for tool, _ in isle(question)} == {"search_knowledge"}


def test_what_is_called_like_no_document_is_said():
    [step] = steps("Compare the grant letter with the lease.", documents=ISLE)
    assert step["input"] == "grant-letter.txt"
    assert step["rationale"].startswith("No document that may be read is called “the lease”.")
    minutes = [Document("Minutes", f"minutes-{month}.txt") for month in ("april", "june", "july")]
    [step] = steps("What do the minutes say about the roof?", documents=minutes)
    assert step["rationale"].startswith("It is not clear which document “the minutes” is.")
    [step] = steps("Summarise the newsletter.", documents=ISLE)
    assert step["rationale"].startswith("No document that may be read is called “the newsletter”.")


@pytest.mark.parametrize(
    "reason",
    [
        "Only use budget.xlsx and the census-2024.pdf.",
        "only the budget.xlsx, the census-2024.pdf",
    ],
)
def test_the_before_a_file_changes_nothing(reason):
    made = isle("Who is the warden?", objections=[reason])
    assert made == [("read_file", "budget.xlsx"), ("read_file", "census-2024.pdf")]


def test_a_wish_is_quoted_in_the_words_of_the_person():
    reason = "Use the interview and the grant letter."
    *_, one, other = steps("Who is the warden?", documents=ISLE, objections=[reason])
    assert (one["input"], other["input"]) == ("papers/interview.txt", "grant-letter.txt")
    assert one["rationale"] == other["rationale"] == f"You asked for it: “{reason}”."
