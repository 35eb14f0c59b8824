"""A vague request is asked about with choices, a clear one is not, a plain question is answered."""

from __future__ import annotations

import pytest

from deepnb.tutoring import rules
from deepnb.tutoring.intent import asks_for_help, asks_to_be_told, claim, intent, order
from tests.tutoring.labelled import examples

VAGUE = ["Help me with my argument", "I want to write about economics", "Improve this"]


@pytest.mark.parametrize("request_", VAGUE)
def test_a_vague_request_is_asked_about(request_):
    found = intent(request_)
    assert found.kind == "clarify"
    assert found.question.count("?") == 1
    assert len(found.options) >= 2


@pytest.mark.parametrize(
    "request_",
    [
        "Create a new document titled 'Bitcoin Thesis' with an introduction about sound money",
        "Search my files for mentions of inflation",
        "I want to argue that sound money needs a fixed supply.",
    ],
)
def test_a_clear_request_is_not(request_):
    assert intent(request_) == ("clear", "", ())


def test_the_choices_fit_what_was_left_open():
    assert "Its clarity" in [option["label"] for option in intent("Improve this").options]
    topic = intent("I want to write about economics")
    assert all("economics" in option["label"] for option in topic.options)
    files = intent("Summarise my notes", ["Zoo essay", "Trams"])
    assert [option["label"] for option in files.options][:2] == ["[[Zoo essay]]", "[[Trams]]"]


def test_the_choices_are_such_as_can_be_answered():
    for example in examples("intent"):
        found = intent(example["request"], ["x" * 500, "Zoo essay"])
        ids = [option["id"] for option in found.options]
        assert len(set(ids)) == len(ids)
        assert bool(ids) == bool(found.question) == (found.kind == "clarify")
        assert rules.one_question(found.question) == []
        assert all(0 < len(option["label"]) <= 120 for option in found.options)


def test_a_long_text_is_not_repeated_in_the_question():
    found = intent("Something about " + "the many kinds of rain and snow " * 200)
    assert len(found.question) < 120


def test_who_has_asked_a_question_of_fact_has_asked_to_be_told():
    assert asks_to_be_told("When was the Bank of England founded?")
    assert asks_to_be_told("I give up.")
    assert not asks_to_be_told("Zoos should close.")
    assert not asks_to_be_told("Help me find an objection to my thesis that zoos should close")


def test_what_is_held_is_told_from_the_words_that_say_so():
    assert claim("I think that zoos should close.") == "Zoos should close."
    assert claim("I want to convince my teacher that zoos should close") == "Zoos should close"
    assert claim("My thesis is that zoos should close.") == "Zoos should close."
    assert claim("I defend zoos") == "I defend zoos", "what is left would be no claim"
    assert claim("Zoos should close.") == "Zoos should close."


@pytest.mark.parametrize(
    "said", ["I don't know", "no idea", "Hint?", "a hint, please", "I'm not sure.", "None of them"]
)
def test_a_call_for_help_is_one(said):
    assert asks_for_help(said)


@pytest.mark.parametrize(
    "said", ["No idea survives war.", "Nothing grows there.", "I don't know that. Zoos close.", ""]
)
def test_an_answer_is_no_call_for_help(said):
    assert not asks_for_help(said)


def test_an_order_is_told_by_its_verb():
    assert order("Please search my files for rain") == "search"
    assert order("Searching is hard.") == ""


@pytest.mark.parametrize("said", ["Rain is good.", "Zoos are bad", "Chess has advantages for all"])
def test_a_short_claim_is_no_topic(said):
    assert intent(said).kind == "clear"


@pytest.mark.parametrize("said", ["Rain", "Free will", "The role of rain in art", "It is bad."])
def test_a_topic_is_no_claim(said):
    assert intent(said).kind == "clarify"
