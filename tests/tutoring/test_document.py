"""A seminar document is read whatever its headings, written back, and never too much to read."""

from __future__ import annotations

import random

import pytest

from deepnb.tutoring.document import KINDS, Row, parse, write

SEMINAR = """# Bitcoin Thesis

Some words before it.

## Thesis

Sound money needs a fixed supply.

## Clause 1

What can be printed is printed. [[History of paper]]

**Definition:** Sound money is money that keeps its value.

> "They printed day and night."

## Clause 2

A fixed supply cannot be diluted.

## Refutation

A supply that cannot grow makes prices fall when trade grows.

## Reply

Prices that fall are no harm to savers.

## Conclusion

So it does.
"""

LABELLED = """Thesis: Zoos should close.

**First premise.** Animals suffer there.

Evidence: [[Zoo report]] counts it.

Premise 2: Visitors learn little.

Counterargument: Zoos keep species alive.

Reply: Keeping is not saving.

**Conclusion** \u2013 Close them.
"""

OUTLINE = """Zoos
====

### 1. The thesis

Zoos should close.

### 2. Reasons

#### Animals suffer

They pace. [[Zoo report]]

##### Definitions

Suffering: what one would end if one could.

#### Visitors learn little

They look for a minute.

### What speaks against it

Zoos keep species alive.

### Background

This is of no part.

### Response to the objection

Keeping is not saving.
"""


def told(argument):
    return [(row.kind, row.clause, row.text) for row in argument.rows]


def test_each_paragraph_has_its_part_its_clause_its_citations_and_its_line():
    rows = parse(SEMINAR).rows
    assert [(row.kind, row.clause) for row in rows] == [
        ("thesis", None),
        ("clause", 1),
        ("definition", 1),
        ("evidence", 1),
        ("clause", 2),
        ("refutation", None),
        ("reply", None),
        ("conclusion", None),
    ]
    assert rows[1].citations == ("History of paper",)
    lines = SEMINAR.split("\n")
    assert all(row.text in lines[row.line - 1] for row in rows)


def test_labels_do_as_well_as_headings():
    assert told(parse(LABELLED)) == [
        ("thesis", None, "Zoos should close."),
        ("clause", 1, "Animals suffer there."),
        ("evidence", 1, "[[Zoo report]] counts it."),
        ("clause", 2, "Visitors learn little."),
        ("refutation", None, "Zoos keep species alive."),
        ("reply", None, "Keeping is not saving."),
        ("conclusion", None, "Close them."),
    ]


def test_headings_may_have_any_level_and_wording():
    assert told(parse(OUTLINE)) == [
        ("thesis", None, "Zoos should close."),
        ("clause", 1, "Animals suffer"),
        ("clause", 1, "They pace. [[Zoo report]]"),
        ("definition", 1, "Suffering: what one would end if one could."),
        ("clause", 2, "Visitors learn little"),
        ("clause", 2, "They look for a minute."),
        ("refutation", None, "Zoos keep species alive."),
        ("reply", None, "Keeping is not saving."),
    ]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Thesis: it holds", "thesis"),
        ("My claim: it holds", "thesis"),
        ("Claim 2: it holds", "clause"),
        ("III. Premise III \u2013 it holds", "clause"),
        ("Third premise: it holds", "clause"),
        ("Counter-argument: it holds", "refutation"),
        ("Steel-manned objection: it holds", "refutation"),
        ("Rebuttal: it holds", "reply"),
        ("Bitcoin thesis", None),
        ("An argument for trams", None),
        ("Fazit: es gilt", None),
    ],
)
def test_a_heading_says_which_part_it_is_or_nothing_is_read(heading, kind):
    assert [row.kind for row in parse(f"## {heading}").rows] == ([kind] if kind else [])


def test_flat_headings_belong_to_the_clause_before_them_unless_in_the_plural():
    text = "## Clause 4\n\na b\n\n## Evidence\n\nc d\n\n## Definitions\n\ne f\n"
    assert [(row.kind, row.clause) for row in parse(text).rows] == [
        ("clause", 4),
        ("evidence", 4),
        ("definition", None),
    ]


def test_items_of_a_list_are_clauses():
    rows = parse("## Clauses\n\n1. One thing.\n2. Another.\n\n   By thing I mean a tool.\n").rows
    assert [(row.kind, row.clause) for row in rows] == [
        ("clause", 1),
        ("clause", 2),
        ("definition", 2),
    ]


def test_code_is_left_out():
    assert parse("## Thesis\n\n```\nIt holds.\n```\n").rows == ()


@pytest.mark.parametrize("text", [SEMINAR, LABELLED, OUTLINE])
def test_what_is_written_reads_the_same(text):
    rows = parse(text).rows
    assert told(parse(write(rows))) == told(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "# no heading",
        "- no item",
        "> no quote",
        "Reply: no label",
        "**Conclusion.** none either",
        "```no code",
        "<div>no tag",
        "1. not first",
        "[x]: /no-link",
        "===",
        "By this I mean no definition.",
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_no_text_escapes_from_its_row(text, kind):
    clause = 1 if kind in ("clause", "definition", "evidence") else None
    rows = [Row(kind, text, clause=clause), Row(kind, text, clause=clause)]
    assert told(parse(write(rows))) == [(row.kind, row.clause, row.text) for row in rows]


def test_a_citation_that_the_text_has_not_is_written_behind_it():
    written = write([Row("evidence", "It is so.", ("Zoo report",), clause=2)])
    assert parse(written).rows[0].citations == ("Zoo report",)


PIECES = [
    *("# ", "## Clause 1", "\n", "\n\n", "- ", "> ", "**", "[[", "]]", "A", "text", "Thesis:"),
    *("**Reply:**", "`", "```", "|", "---", "\0", "\ud800", "1. ", "    ", "<div>", "\\", "==="),
    *("_", "é", "字", "?", "Evidence:", "Definition of x: ", "(", "&#35;", "\r", "\t", "Clauses\n"),
]


def test_any_text_is_read_and_reads_the_same_when_written():
    rng = random.Random(3)
    for _ in range(400):
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 60)))
        argument = parse(text)
        assert told(parse(write(argument.rows))) == told(argument), repr(text)


@pytest.mark.parametrize(
    "text",
    [
        "## Clauses\n\n" + "- a\n" * 3_000,
        "## Thesis\n\n" + "[" * 300_000,
        "> " * 200_000,
        "## Thesis\n\n" + "**a " * 100_000,
    ],
)
def test_a_huge_text_is_read_up_to_a_bound_and_says_so(text):
    argument = parse(text)
    assert not argument.is_whole
    assert len(argument.rows) <= 500
