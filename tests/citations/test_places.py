"""A quote stands on a line of its passage, and that is where it is said to stand."""

from __future__ import annotations

import pytest

from deepnb.citations.conflicts import conflicts
from deepnb.citations.places import narrowed
from deepnb.citations.registry import register
from deepnb.citations.verdicts import check
from deepnb.knowledge import Knowledge

LINES = "The pier.\nIt was closed\nin spring. It\nis open."


@pytest.mark.parametrize(
    ("where", "quote", "place"),
    [
        ("lines 4\u20137", "The pier.", "line 4"),
        ("lines 4\u20137", "It was closed\nin spring.", "lines 5\u20136"),
        ("Part, one, rows 4\u20137", "is open.", "Part, one, row 7"),
        ("lines 4\u20139", "is open.", "lines 4\u20139"),  # it has other lines than the document
        ("line 4", "is open.", "line 4"),
        ("pp. 4\u20137", "is open.", "pp. 4\u20137"),
        ("", "is open.", ""),
    ],
)
def test_the_place_of_a_stretch(where, quote, place):
    start = LINES.index(quote)
    assert narrowed(where, LINES, start, start + len(quote)) == place


def test_a_quote_has_one_place_whichever_passage_it_was_found_in(tmp_path):
    paragraphs = [
        f"Line {n} tells what happened on pier number {n} of the harbour." for n in range(1, 31)
    ]
    (tmp_path / "log.txt").write_text("\n".join(paragraphs) + "\n")
    with Knowledge(tmp_path, embeddings=False) as knowledge:
        read = knowledge.read("log.txt")
    reading = {"kind": "file", "title": "Log", "location": "log.txt"}
    passages = [{"text": each.text, "place": each.place} for each in read]
    sources = register({}, [{**reading, "passages": passages}], 0.0)
    text = "\n\n".join(f"\u201c{each}\u201d [S1]" for each in paragraphs)
    places = [row["place"] for row in check(text, sources)["citations"]]
    assert places == [f"line {n}" for n in range(1, 31)]


def test_each_side_of_a_conflict_has_the_line_of_its_sentence():
    texts = [
        "Pier log.\n\nThe bridge cost 7 million euros.",
        "The bridge cost 9 million euros.\n\nEnd.",
    ]
    readings = [
        {
            "kind": "file",
            "title": n,
            "location": n,
            "passages": [{"text": t, "place": "lines 1\u20133"}],
        }
        for n, t in zip("ab", texts, strict=True)
    ]
    [found] = conflicts(register({}, readings, 0.0))
    assert sorted(side["place"] for side in found["sides"]) == ["line 1", "line 3"]


def test_a_sentence_that_points_back_stands_with_the_one_before():
    report = "Results.\n\nPhosphorus fell from 84 µg/l to 52 µg/l.\nThat is a reduction of 38 %."
    release = "Good news.\n\nThe phosphorus has fallen by 62 %.\n\nEnd."
    readings = [
        {"kind": "file", "title": n, "location": n, "passages": [{"text": t, "place": place}]}
        for n, t, place in [("a", report, "lines 1\u20134"), ("b", release, "lines 1\u20135")]
    ]
    [found] = conflicts(register({}, readings, 0.0))
    assert sorted(side["place"] for side in found["sides"]) == ["line 3", "lines 3\u20134"]
