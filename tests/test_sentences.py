"""One answer to where a sentence ends, for passages, quotes and reports."""

from __future__ import annotations

import pytest

from deepnb.chunks import Block, chunks
from deepnb.models.offline.passages import spans
from deepnb.sentences import sentences

WHOLE = [
    "Seen by H. Strand of Nordluft Ltd. and others, see Fig. 2 there.",
    "Brief von J\u00fcrgen M\u00fcller, G\u00e4rtnerei S\u00fcd, 3. M\u00e4rz 2025.",
    "Im 19. Jahrhundert war es anders, z.B. am 3. Mai.",
    "See No. 5 (e.g. Prof. Y et al. 2003).",
    "On p. 5 of it, of Sept. 5.",
    "1. The first item of a list.",
]
SEVERAL = [
    ["It was 30 \u00b0C.", "Then it fell to 20 C.", "It rained."],
    ["It rose to 3.", "Then it fell."],
    ["I said no.", "Then I went."],
    ["Is it so?", "Yes!", "It is\u2026", "Or is it?"],
    ["The pump failed.", "The valve held [S1].", "So it was [S2]."],
    ["He said: \u201cGo.\u201d", "She went."],
]


@pytest.mark.parametrize("text", WHOLE)
def test_no_sentence_ends_at_an_abbreviation_an_initial_or_an_ordinal(text):
    assert sentences(f"{text} Another one.") == [text, "Another one."]


@pytest.mark.parametrize("parts", SEVERAL)
def test_a_sentence_ends_where_it_does(parts):
    assert sentences(" ".join(parts)) == parts


def test_a_sentence_ends_where_the_space_was_lost_but_not_within_a_name():
    assert sentences("The pump failed.The valve held.") == ["The pump failed.", "The valve held."]
    assert sentences("Use deepnb.Session here.") == ["Use deepnb.Session here."]


def test_lists_and_empty_lines_part_sentences():
    assert sentences("One\n\ntwo\n- three\n- four\n| five |") == [
        *("One", "two", "- three", "- four", "| five |")
    ]


@pytest.mark.parametrize("text", WHOLE)
def test_passages_and_quotes_end_where_sentences_do(text):
    both = f"{text} {'Another one ' * 8}."
    first, *_ = chunks([Block(both)], size=len(text) + 40)
    assert first.text == text
    assert both[slice(*spans(both)[0])] == text


@pytest.mark.parametrize(
    "text", ["." * 20_000 + "x", ".\n" * 9_000, ". [S1]" * 5_000, "\n " * 9_000, ".)" * 9_000]
)
def test_any_text_has_an_end(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
