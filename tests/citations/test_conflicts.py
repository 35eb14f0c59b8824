"""Possible conflicts are few, and mostly are some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deepnb.citations.conflicts import compare, conflicts
from deepnb.citations.registry import register
from deepnb.citations.statements import Statement
from tests.citations.samples import reading, sources

PAIRS = json.loads(Path(__file__).with_name("conflict_pairs.json").read_text("utf-8"))


def test_the_rule_is_as_good_as_the_docs_say():
    floors = {
        "tuned": (0.95, 0.9),
        "held out": (0.9, 0.8),
        "fresh": (0.9, 0.8),
        "later": (0.9, 0.7),
    }
    assert {pair["set"] for pair in PAIRS} == set(floors)
    for name, (precision, recall) in floors.items():
        pairs = [pair for pair in PAIRS if pair["set"] == name]
        both = [(Statement(pair["one"], ""), Statement(pair["other"], "")) for pair in pairs]
        found = [p for p, two in zip(pairs, both, strict=True) if compare(*two)[1]]
        right = sum(pair["conflict"] for pair in found)
        assert right >= precision * len(found)
        assert right >= recall * sum(pair["conflict"] for pair in pairs)


def test_two_sources_that_disagree_are_put_side_by_side():
    (conflict,) = conflicts(sources())
    one, other = conflict["sides"]
    assert conflict["why"] == "a differing number"
    assert "phosphorus" in conflict["about"]
    assert (one["source"], other["source"]) == ("S1", "S2")
    assert one["text"].endswith("That is a reduction of 38 %."), "with what it refers to"


def test_what_else_was_read_neither_makes_a_conflict_nor_hides_one():
    two = [
        reading("a", "Of this, £21,500 is for bait and bait stations and £30,000 for wages."),
        reading("b", "Bait and bait stations cost £23,900 in the end, more than was foreseen."),
    ]
    others = [
        reading("c", "The boat took bait to the island. The wages of the wardens were paid."),
        reading("d", "Stations of the ferry are painted. Nobody saw the end of the storm."),
    ]
    alone = conflicts(register({}, two, 0.0))
    assert [conflict["why"] for conflict in alone] == ["a differing number"]
    assert conflicts(register({}, [*two, *others], 0.0)) == alone


def test_a_passage_that_is_left_out_hides_no_sentence_of_one_that_is_not():
    first, second = "The pump of the lake cost EUR 46,500.", "The pump of the lake cost EUR 51,200."
    given = register({}, [reading("a", first), reading("b", second)], 0.0)
    earlier, *_ = given["S1"]["passages"]
    given["S1"]["passages"].append({**earlier, "text": f"It hums. {first}"})
    (found,) = conflicts(given, {("S1", 1), ("S2", 0)})
    assert [(side["source"], side["passage"]) for side in found["sides"]] == [("S1", 1), ("S2", 0)]
    assert conflicts(given, {("S1", 1)}) == []


PUFFINS = "In 2024 puffins on Skerry Holm reached {} breeding pairs{}."


@pytest.mark.parametrize(
    "more",
    [
        ", an increase of 14 % over 2023",
        " (95 % interval 1,100 to 1,380), an increase of 14 % over 2023",
        ", up 14 % on 2023",
    ],
)
def test_a_number_that_is_added_behind_a_comma_hides_nothing(more):
    plain, longer = PUFFINS.format("1,420", ""), PUFFINS.format("1,240", more)
    assert compare(Statement(plain, ""), Statement(longer, ""))[1] == "a differing number"
    same = PUFFINS.format("1,420", more)
    assert compare(Statement(plain, ""), Statement(same, ""))[1] is None


@pytest.mark.parametrize("more", [", an increase of {} % over 2023", ", up {} % on 2023"])
def test_what_is_added_behind_a_comma_is_compared_too(more):
    one, other = (PUFFINS.format("1,240", more.format(number)) for number in (14, 19))
    assert compare(Statement(one, ""), Statement(other, ""))[1] == "a differing number"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("82 % of the saplings survived.", "91 % of the saplings planted since 2021 survived."),
        (
            "The sewage plant of the town cost 7 million euros.",
            "In 2019 the town built a sewage plant, which cost 5 million euros.",
        ),
    ],
)
def test_a_longer_sentence_is_about_the_same(one, other):
    (found,) = conflicts(register({}, [reading("a", one), reading("b", other)], 0.0))
    assert found["why"] == "a differing number"


def test_a_negation_is_a_conflict_and_a_source_has_none_with_itself():
    allowed, forbidden = "Motor boats are allowed here.", "Motor boats are not allowed here."
    (found,) = conflicts(register({}, [reading("a", allowed), reading("b", forbidden)], 0.0))
    assert found["why"] == "a negation"
    assert conflicts(register({}, [reading("a", allowed, forbidden)], 0.0)) == []


def test_many_sentences_that_share_everyday_words_are_not_all_compared():
    texts = [" ".join(f"The lake has {n + m} fish in it." for m in range(300)) for n in range(10)]
    assert conflicts(register({}, [reading(f"{n}", t) for n, t in enumerate(texts)], 0.0)) == []


def test_a_name_that_only_one_of_them_has_makes_them_no_less_alike():
    report = (
        "Total phosphorus, as the mean of June to August over both stations, fell from 84 µg/l in "
        "2019 to 52 µg/l in 2023. That is a reduction of 38 %."
    )
    release = "Phosphorus in Lake Ansel has fallen by 62 %, the town of Ansel announced today."
    texts = {"report.md": report, "release.md": release}
    readings = [
        {"kind": "file", "title": name, "location": name, "passages": [{"text": text, "place": ""}]}
        for name, text in texts.items()
    ]
    [found] = conflicts(register({}, readings, 0.0))
    assert found["why"] == "a differing number"
    assert "phosphorus" in [word.lower() for word in found["about"]]
