"""Chunks end where sentences do, know their places, and end on any input."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from deepnb.chunks import Block, chunks, place

PROSE = [
    "Lithium-sulfur cells lose capacity within a few hundred cycles.",
    "Polysulfides dissolve in the electrolyte (see Fig. 3) and wander to the anode.",
    "Smith et al. measured 2.5 mg/cm2 of sulfur, i.e. less than half of what was expected.",
    "Is that the only cause?",
    "It is not!",
    "The anode corrodes as well, and gas is set free.",
]


def lines_of(text: str) -> list[Block]:
    return [Block(text, "line", 1, text.count("\n") + 1)]


def without_space(text: str) -> str:
    return "".join(text.split())


def sample(sentences: int, seed: int = 0) -> str:
    """Prose with line ends at random places, so that sentences run over lines."""
    chance = random.Random(seed)
    words = " ".join(chance.choice(PROSE) for _ in range(sentences)).split(" ")
    return "".join(word + chance.choice([" "] * 9 + ["\n", "\n\n"]) for word in words).strip()


class TestBorders:
    def test_chunks_have_about_the_size_and_end_with_a_sentence(self):
        found = list(chunks([Block(" ".join(PROSE * 40))]))
        assert all(len(chunk.text) <= 500 for chunk in found)
        assert all(len(chunk.text) > 300 for chunk in found[:-1])
        assert all(any(chunk.text.endswith(end) for end in PROSE) for chunk in found)

    def test_they_begin_with_a_sentence_too_abbreviations_are_no_end(self):
        found = list(chunks([Block(" ".join(PROSE * 40))]))
        assert all(any(chunk.text.startswith(start) for start in PROSE) for chunk in found)

    def test_neighbours_overlap_by_whole_sentences(self):
        found = list(chunks([Block(" ".join(f"{n}: {PROSE[n % 6]}" for n in range(100)))]))
        for before, after in pairwise(found):
            shared = max(n for n in range(200) if before.text.endswith(after.text[:n]))
            assert 0 < shared <= 160
            assert before.text[-shared:].endswith((".", "?", "!"))

    def test_a_heading_is_a_border_that_nothing_reaches_across(self):
        blocks = [
            Block("One thing.", "line", 1, 1, "", "A"),
            Block("Another.", "line", 2, 2, "", "A"),
            Block("A third.", "line", 3, 3, "", "B"),
        ]
        assert [(c.text, c.first, c.last, c.heading) for c in chunks(blocks)] == [
            ("One thing.\nAnother.", 1, 2, "A"),
            ("A third.", 3, 3, "B"),
        ]

    def test_items_of_a_list_and_lines_of_code_stay_whole(self):
        items = "\n".join(f"- item {n} of a list without full stops" for n in range(100))
        for chunk in chunks(lines_of(items)):
            assert all(line.startswith("- item") for line in chunk.text.split("\n"))
            assert chunk.text.endswith("stops")
        code = "\n".join(f"    total_{n} = compute(argument_{n}, other={n})" for n in range(100))
        for chunk in chunks(lines_of(code)):
            assert set(chunk.text.split("\n")) <= set(code.split("\n"))

    def test_long_sentences_are_cut_between_words(self):
        words = [f"word{n}" for n in range(500)]
        found = [word for chunk in chunks([Block(" ".join(words))]) for word in chunk.text.split()]
        assert found == words


@pytest.mark.parametrize(
    "text",
    [
        "a " + "x" * 5000,
        "x" * 5000,
        "short " + "".join(map(str, range(2000))),
        "\n" * 5000,
        " " * 5000 + "end",
        "\0" * 1500,
        "e" + "\u0301" * 3000,
        "\u6f22\u5b57" * 1000,
        "\u6f22\u5b57\u3002" * 800,
        ". " * 2000,
        ".'" * 2000,
        "- \n" * 1000,
        "\n \n\t\n x \r\n" * 300,
        "x" * 500 + " " * 700 + "y" * 500,
        "\U0001f469\u200d\U0001f52c" * 600,
        "",
        sample(300),
    ],
    ids=lambda text: repr(text[:6]),
)
@pytest.mark.parametrize(("size", "overlap"), [(500, 80), (2, 0), (50, 500)])
def test_it_ends_on_any_input_and_loses_nothing(text, size, overlap):
    found = list(chunks(lines_of(text), size, overlap))
    assert all(chunk.text.strip() and len(chunk.text) <= size for chunk in found)
    covered = 0
    plain = without_space(text)
    for chunk in found:  # each begins at or before where the ones before it have come to
        piece = without_space(chunk.text)
        start = plain.rfind(piece, 0, covered + len(piece))
        assert start >= 0
        covered = max(covered, start + len(piece))
    assert covered == len(plain)


def test_accents_stay_with_their_letters():
    found = list(chunks([Block("o\u0308\u0323" * 1000)]))
    assert all(chunk.text.startswith("o") for chunk in found)


class TestPlaces:
    @pytest.mark.parametrize("seed", range(5))
    def test_lines_are_exact(self, seed):
        text = sample(400, seed)
        lines = text.split("\n")
        found = list(chunks(lines_of(text)))
        assert len(found) > 20
        for chunk in found:
            inside = [line.strip() for line in lines[chunk.first - 1 : chunk.last]]
            shown = [line.strip() for line in chunk.text.split("\n")]
            assert len(inside) == len(shown)
            assert inside[0].endswith(shown[0]) or shown[0] in inside[0]
            assert inside[1:-1] == shown[1:-1]
            assert shown[-1] in inside[-1]

    def test_empty_lines_between_blocks_are_kept(self):
        blocks = [Block("a", "line", 1, 1), Block("b\nc", "line", 4, 5)]
        (chunk,) = chunks(blocks)
        assert (chunk.text, chunk.first, chunk.last) == ("a\n\n\nb\nc", 1, 5)

    def test_what_is_far_apart_is_not_put_together(self):
        blocks = [Block("a", "line", 1, 1), Block("b", "line", 90, 90)]
        assert [chunk.place for chunk in chunks(blocks)] == ["line 1", "line 90"]

    def test_only_an_unfinished_sentence_joins_two_pages(self):
        ends = [Block("It ends.", "page", 1, 1), Block("Next.", "page", 2, 2)]
        assert [chunk.place for chunk in chunks(ends)] == ["p. 1", "p. 2"]
        goes_on = [Block("It goes", "page", 1, 1), Block("on here.", "page", 2, 2)]
        assert [(c.text, c.place) for c in chunks(goes_on)] == [
            ("It goes\non here.", "pp. 1\u20132")
        ]

    def test_pages_are_exact_however_chunks_fall(self):
        pages = [
            f"Page {n} begins. " + " ".join(PROSE * 3) + f" Marker{n} is" for n in range(1, 30)
        ]
        for chunk in chunks(Block(text, "page", n, n) for n, text in enumerate(pages, 1)):
            for n in range(1, 30):
                if f"Page {n} begins" in chunk.text or f"Marker{n} " in chunk.text:
                    assert chunk.first <= n <= chunk.last

    def test_slides_and_cells_stand_alone_and_rows_and_paragraphs_together(self):
        for unit, count in {"slide": 3, "cell": 3, "row": 1, "paragraph": 1}.items():
            assert len(list(chunks(Block("text", unit, n, n) for n in (1, 2, 3)))) == count

    def test_other_parts_are_borders(self):
        blocks = [Block("a", "row", 9, 9, "Prices"), Block("b", "row", 10, 10, "Costs")]
        assert [chunk.place for chunk in chunks(blocks)] == ["Prices, row 9", "Costs, row 10"]

    @pytest.mark.parametrize(
        ("where", "shown"),
        [
            (("page", 12, 12), "p. 12"),
            (("page", 12, 13), "pp. 12\u201313"),
            (("line", 4, None), "line 4"),
            (("line", 4, 9), "lines 4\u20139"),
            (("slide", 3, 3), "slide 3"),
            (("row", 12, 12, "Prices"), "Prices, row 12"),
            (("cell", 4, 4), "cell 4"),
            (("paragraph", 7, 7), "\u00b6 7"),
            (("", None, None), ""),
            (("", None, None, "Footnotes"), "Footnotes"),
        ],
    )
    def test_places_for_people(self, where, shown):
        assert place(*where) == shown


def test_blocks_are_taken_one_after_the_other():
    def blocks():
        for n in range(1, 4):
            taken.append(n)
            yield Block("A sentence. " * 60, "page", n, n)

    taken: list[int] = []
    next(chunks(blocks()))
    assert taken == [1]


def test_a_size_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="size"):
        list(chunks([Block("text")], 1))
