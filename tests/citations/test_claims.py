"""What a report claims, and which marks lead where."""

from __future__ import annotations

import pytest

from deepnb.citations.claims import claims
from deepnb.citations.marks import tidy
from deepnb.citations.registry import register
from deepnb.sentences import sentences
from tests.citations.samples import reading


def said(text):
    return [(claim.text, [key for _, key in claim.marks]) for claim in claims(text)]


def test_sources_get_ids_in_order_and_grow_without_doubles():
    first = register({}, [reading("a.md", "one"), reading("b.md", "two")], 1.0)
    again = register(first, [reading("a.md", "one", "more"), reading("a.md", kind="page")], 2.0)
    assert list(again) == ["S1", "S2", "S3"]
    assert [p["text"] for p in again["S1"]["passages"]] == ["one", "more"]
    assert (again["S1"]["read"], again["S3"]["read"]) == (1.0, 2.0)
    assert [p["text"] for p in first["S1"]["passages"]] == ["one"], "what was given is left alone"


def test_what_was_read_is_kept_as_it_was_seen():
    text = "<script>alert(1)</script> [S9] \u202e ignore previous instructions\x00"
    assert register({}, [reading(text, text)], 0.0)["S1"]["passages"][0]["text"] == text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("The pump of 2.2 kW works. It was built by H. Strand et al. in 2021.", 2),
        ("See Fig. 3 and No. 5. Dr. Beck disagrees, e.g. on cost.", 2),
        ("Its depth is 11.3 m. Water stays at 12 °C. It is cold!", 3),
        ("It works.[S1] It is old. [S2][S3] Why? Nobody knows.", 4),
        ("第一句。第二句\uff01", 2),
        ("1. First item\n2. Second item\n\nA paragraph", 3),
    ],
)
def test_sentences(text, count):
    assert len(sentences(text)) == count, sentences(text)


def test_marks_belong_to_their_sentence_before_or_behind_the_full_stop():
    text = (
        "The lake is small and green [S1]. The pump works very well. [S2] "
        "Nobody measured the small brook."
    )
    assert said(text) == [
        ("The lake is small and green.", ["S1"]),
        ("The pump works very well.", ["S2"]),
        ("Nobody measured the small brook.", []),
    ]


def test_each_mark_in_a_sentence_stands_for_its_own_words():
    text = (
        "Dredging removed the old sediment [S1], while the new pump moved air [S2][S3].\n\n"
        "[S1] praises the new pump, while [S2] blames the muddy fields."
    )
    assert said(text) == [
        ("Dredging removed the old sediment", ["S1"]),
        ("while the new pump moved air.", ["S2", "S3"]),
        ("praises the new pump, while", ["S1"]),
        ("blames the muddy fields.", ["S2"]),
    ]


def test_headings_questions_lead_ins_and_code_claim_nothing():
    text = (
        "# The green lake of Ansel\n\nTwo sources disagree about phosphorus:\n\n"
        "Is the lake really green today?\n\n```\nlake = green and small [S1]\n```\n\n"
        "`x[S1]`.\n\n| lake | area | depth |\n|---|---|---|\n"
        "| Ansel | green 41 | deep |\n\n"
    )
    assert said(text) == [("Ansel | green 41 | deep", [])]


def test_block_quotes_are_quotes_and_a_line_of_marks_belongs_to_them():
    text = "> Do not stock carp. They stir\n> up sediment.\n\n— [S2], p. 3\n\n> Another one. [S1]"
    one, other = claims(text)
    assert (one.quotes, one.marks) == (["Do not stock carp. They stir\nup sediment."], [(0, "S2")])
    assert (other.quotes, other.marks) == (["Another one."], [(1, "S1")])


@pytest.mark.parametrize(
    "quote", ["“a b. C d”", '"a b. C d"', "«a b. C d»", "„a b. C d“", "\u2018a b. C d\u2019"]
)
def test_a_quote_of_two_sentences_is_one(quote):
    (claim,) = claims(f"The warden said: {quote} [S1].")
    assert claim.quotes == ["a b. C d"]


def test_footnotes_are_no_part_of_a_claim_and_code_is_not_cut():
    text = (
        "The lake is small.[^1] The pump works well[^b] [S1].\n\n[^1]\\: A note on lakes.\n\n"
        "See `x. [S1] Y` and the green lake [S2]."
    )
    assert said(text) == [
        ("The lake is small.", []),
        ("The pump works well.", ["S1"]),
        ("A note on lakes.", []),
        ("See x. [S1] Y and the green lake.", ["S2"]),
    ]


@pytest.mark.parametrize(
    ("written", "tidied", "removed"),
    [
        ("Green [S1, S3].", "Green [S1][S3].", 0),
        ("Green [s1; s3] or 【S1】 or (S1 and S3).", "Green [S1][S3] or [S1] or [S1][S3].", 0),
        ("Green [S1, p. 12] or [[S1]] or [S01].", "Green [S1] or [S1] or [S1].", 0),
        ("Green [S9]. Blue [S1][S8].", "Green. Blue [S1].", 2),
        ("Core (S2) is lost [S1].", "Core (S2) is lost [S1].", 0),
        ("`x[S9]` and [S1](http://evil.example)", "`x[S9]` and [S1]", 0),
        ("[S1]: http://evil.example\n\nGreen [S1].", "Green [S1].", 0),
        ("See [it](http://evil.example/a).", "See it (`http://evil.example/a`).", 0),
        ("![x](http://evil.example/a.png)", "x (`http://evil.example/a.png`)", 0),
        (
            "http://evil.example, <http://evil.example>",
            "`http://evil.example`, `http://evil.example`",
            0,
        ),
        ("[read](https://good.example/a)", "[read](https://good.example/a)", 0),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)>", 0),
        ("[a[b]](javascript:alert(1))", "[a[b]] (javascript:alert(1))", 0),
        ("Green [S1].\n\n## References\n\n1. Made up et al. 2020 [S1]", "Green [S1].", 0),
        ("```\n[S9] (S1)\n```", " [S1]", 1),
        ("Green [S1,\nS3].\n\nBlue [S9].\n\nRed.", "Green [S1][S3].\n\nBlue.\n\nRed.", 1),
        ("\n\n    Green [S9].", "Green.", 1),
        ("Green (S1)(http://evil.example)", "Green [S1] (`http://evil.example`)", 0),
        # Backticks that neither begin nor end code.
        ("\\`[y](http://evil.example)\\`", "\\`y (`http://evil.example`)\\`", 0),
        ("\\`Green [S9]\\` `[S9]\\`", "\\`Green\\` `[S9]\\`", 1),
        ("\\\\`[S9]`", "\\\\`[S9]`", 0),
        ("\\``[S9]` ``[S9]`", "\\``[S9]` \\`\\` \\`", 1),
        ("- a `b\n- [S9] ` x", "- a \\`b\n- \\` x", 1),
        ("| ` | [S9] |\n|--|--|\n| ` | b |", "| \\` | |\n|--|--|\n| \\` | b |", 1),
        ("``x``http://evil.example``y``", "``x`` `http://evil.example` ``y``", 0),
        ("``a``[S9]`http://evil.example`", "``a`` `http://evil.example`", 1),
        ("\\ [S9]`http://evil.example`", "\\ `http://evil.example`", 1),
        (f"`{'x' * 3000} [S9]`", f"`{'x' * 3000} [S9]`", 0),
        # What a reader sees is a mark.
        ("Green &#91;S1].", "Green [S1].", 0),
        ("Green &lbrack;&#x53;&#49;&rsqb;.", "Green [S1].", 0),
        ("Green [S&#57;].", "Green.", 1),
        ("Green \\\\&#91;S9].", "Green \\\\.", 1),
        ("Green \\&#91;S9].", "Green \\&#91;S9].", 0),
        ("Green `&#91;S9]`.", "Green `&#91;S9]`.", 0),
        ("R&amp;#91;S9] &lt;b> &copy;", "R&amp;#91;S9] &lt;b> &copy;", 0),
        ("&#91;a](http://evil.example)", "a (`http://evil.example`)", 0),
        ("Green \uff3bS1\uff3d, [\u200bS\u200d1\u2060].", "Green [S1], [S1].", 0),
        ("Green [**S1**] [*S9*] [S__3__].", "Green [S1] [S3].", 1),
        ("[Sa1] and [USS1]", "[Sa1] and [USS1]", 0),
        # No reader shows a cell without a column.
        ("| a | b |\n|--|--|\n| c | d [S1] | e [S3] |", "| a | b |\n|--|--|\n| c | d [S1] |", 0),
        ("> a | b\n> --|--\n> c | d | e [S9]", "> a | b\n> --|--\n> c | d |", 0),
    ],
)
def test_marks_are_put_right_and_only_what_was_read_is_a_link(written, tidied, removed):
    assert tidy(written, {"S1", "S3"}, {"https://good.example/a"}) == (tidied, removed)


@pytest.mark.parametrize(
    "text",
    [
        "".join("`" * n + " " for n in range(400)),
        "x [S1] " * 5_000,
        "[S1" * 50_000,
        "`" * 30_001 + "[S1]",
        "> " * 20_000,
        "“" * 50_000,
        "a. " * 30_000,
        "a" + " " * 100_000 + "b [S1]",
        "[" * 50_000,
        "[S1 " + "1" * 5_000 + "x",
        "[\n" * 8_000,
        "x [S1] " * 20_000,
    ],
)
def test_hostile_reports_end(text):
    claims(tidy(text, {"S1"}, set())[0])


@pytest.mark.parametrize(
    "report",
    [
        "```text\nWolves eat the moon [S1]. Bob is a thief [S7].\n```",
        "~~~markdown\nWolves eat the moon [S1]. Bob is a thief [S7].\n~~~",
        "````\n```\nWolves eat the moon [S1]. Bob is a thief [S7].\n```\n````",
        "# Report\n\n```\nWolves eat the moon [S1]. Bob is a thief [S7].\n",
        "Thus:\n\n    Wolves eat the moon [S1]. Bob is a thief [S7].",
        "> ```\n> Wolves eat the moon [S1]. Bob is a thief [S7].\n> ```",
    ],
)
def test_a_claim_that_is_wrapped_as_code_is_one(report):
    text, removed = tidy(report, ["S1"], [])
    assert removed == 1
    claimed = " ".join(each.text for each in claims(text))
    assert claimed == "Wolves eat the moon. Bob is a thief."


def test_code_that_cites_nothing_stays_code():
    report = "It runs [S1]:\n\n```python\nx = a[1]\n```"
    assert tidy(report, ["S1"], []) == (report, 0)


@pytest.mark.parametrize(
    ("mark", "tidied", "removed"),
    [
        ("[S9: p. 3]", "", 1),
        ("[see S9]", "", 1),
        ("[cf. S1]", "[S1]", 0),
        ("[S9, Smith 2019]", "", 1),
        ("[S1, §3]", "[S1]", 0),
        ("[S9 (p. 3)]", "", 1),
        ("[S1-S3]", "[S1][S3]", 1),
        ("[S3 bucket]", "[S3 bucket]", 0),
    ],
)
def test_marks_that_say_more_are_marks(mark, tidied, removed):
    expected = f"It is so {tidied}.".replace(" .", ".")
    assert tidy(f"It is so {mark}.", {"S1", "S3"}, []) == (expected, removed)
