"""Keyword ranking: what counts as a word, and which passage comes first."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from deepnb.keywords import bm25, coverage, idf, rank, stem, terms

FAMILIES = [
    "measure measures measured measuring measurement measurements",
    "dredge dredges dredged dredging",
    "study studies studied",
    "supply supplies supplied",
    "plan plans planned planning",
    "call calls called calling",
    "process processes processed processing",
    "exceed exceeds exceeded exceeding",
    "pollute polluted pollution",
    "treat treats treated treatment",
    "city cities",
    "lake lakes",
    "fish fishes",
    "box boxes",
]
STRANGERS = [("bus", "bush"), ("speed", "spend"), ("string", "strand"), ("station", "state")]


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_of_a_word_share_a_stem(family):
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(("one", "other"), STRANGERS)
def test_different_words_keep_different_stems(one, other):
    assert stem(one) != stem(other)


@pytest.mark.parametrize("word", ["größe", "水質", "n3", "2.5", "co2", "naïve", "don't", "is", ""])
def test_what_is_not_plain_english_is_left_alone(word):
    assert stem(word) == word


def test_terms_drop_stop_words_and_keep_numbers_and_hyphens():
    found = terms("How much of the 2.5 mg/l was in low-oxygen water? 18,400 m³ in TP_total!")
    assert {"2.5", "mg", "low-oxygen", "low", "oxygen", "18,400", "tp", "total"} <= set(found)
    assert not {"how", "much", "of", "the", "was", "in"} & set(found)


def test_case_width_and_typography_do_not_matter():
    assert terms("PHOSPHORUS \uff2cake ﬁsh") == terms("phosphorus lake fish")
    assert terms("low\u2011oxygen")[1:] == ["low", "oxygen"]


def test_a_row_of_a_table_falls_into_its_cells():
    found = terms("2022-07-12,south,1.0,21.4,8.2,56,1.7")
    assert {"2022-07-12", "south", "21.4", "56"} <= set(found)


PASSAGES = [
    "The council met on Tuesday and approved the minutes.",
    "Phosphorus fell by 38 % after the dredging of the north basin.",
    "Phosphorus is an element.",
    "",
    "The basin is deep.",
]


def test_the_passage_that_has_most_of_the_question_comes_first():
    order = [index for index, _ in rank("phosphorus after dredging the basin", PASSAGES)]
    assert order[0] == 1
    assert set(order) == {1, 2, 4}


def test_only_passages_that_share_a_word_are_ranked_and_scores_fall():
    scores = [score for _, score in rank("phosphorus basin", PASSAGES)]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    assert rank("telephone", PASSAGES) == []
    assert rank("", PASSAGES) == rank("the of", PASSAGES) == rank("lake", []) == []


def test_a_rare_word_outweighs_a_common_one():
    passages = ["lake lake lake", "lake pike", "lake", "lake perch", "lake eel"]
    assert rank("lake pike", passages)[0][0] == 1


def test_rank_is_bm25_over_terms():
    documents = [terms(passage) for passage in PASSAGES]
    assert rank("deep basin", PASSAGES) == bm25(terms("deep basin"), documents)


def test_coverage_counts_a_word_that_is_nowhere_as_the_rarest():
    documents = [["lake", "pump"], ["lake"], ["lake", "fish"]]
    weight = idf(documents)
    assert coverage(["lake", "pump"], ["lake", "pump"], weight) == 1
    assert coverage(["lake", "telephone"], ["lake"], weight) < 0.5
    assert coverage([], ["lake"], weight) == 0


HOSTILE = [
    "a" * 1_000_000,
    "a-" * 500_000,
    "1,234" * 200_000,
    "." * 1_000_000,
    "'" * 500_000 + "a",
    "ing" * 300_000,
    "\x00\ud800\u202e" * 1000,
    "ﷺ" * 20_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_ranked_like_any_other(text):
    rank(text[:1000], [text, "lake"])
    assert all(len(term) <= 64 for term in terms(text))


def test_random_text_never_breaks_it():
    dice = random.Random(7)
    for _ in range(300):
        text = "".join(
            chr(dice.choice([dice.randrange(32, 127), dice.randrange(0x2FFF)])) for _ in range(60)
        )
        assert rank(text, [text, "x"]) == [] or rank(text, [text, "x"])[0][0] == 0


def test_it_needs_nothing_but_the_standard_library():
    code = (
        "import sys, deepnb.keywords; print([m for m in sys.modules if m.startswith('langchain')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("text", ["What's", "who\u2019s", "don't", "it'll", "I'd", "e.g."])
def test_contractions_mean_nothing(text):
    assert terms(text) == []


def test_what_belongs_to_a_thing_is_about_the_thing():
    assert terms("the pump's motor") == terms("pump motor")
    assert {"o'brien", "brien"} == set(terms("O'Brien"))


def test_a_text_without_spaces_is_found_by_any_piece_of_it():
    assert set(terms("工作量")) < set(terms("老师们认为工作量太大。"))
    assert terms("PCB板") == ["pcb", "板"]
    assert len(terms("水" * 1000)) == 999
