"""What is said of oneself, one's work or the tutor is told from what is said to the matter."""

from __future__ import annotations

import pytest

from deepnb.tutoring.beside import asks_of_the_answer, hear

BESIDE = {
    "self": [
        "I can't do this.",
        "I'll never manage that, I am so stupid",
        "Sorry, I think I'm not clever enough for this.",
        "This is too difficult for me!",
        "I feel like giving up.",
        "i hate my homework",
        "Honestly, I\u2019m overwhelmed and I am lost",
    ],
    "work": ["My whole essay is rubbish.", "My reasons aren't very convincing.", "My text is good"],
    "tutor": ["You're annoying.", "You never listen to me", "Your rules make no sense."],
}


@pytest.mark.parametrize(
    ("whom", "said"), [(whom, s) for whom, all_ in BESIDE.items() for s in all_]
)
def test_a_verdict_on_a_person_or_their_work_is_none_on_the_matter(whom, said):
    assert hear(said) == ("", "", whom)


@pytest.mark.parametrize(
    "said",
    [
        "I am too poor to buy gold.",
        "I cannot find a bank that keeps its word.",
        "I want to give up meat.",
        "We give up on the poor when prices rise.",
        "This is too much money for a small town.",
        "My thesis is that money must be scarce.",
        "My argument is weak because prices fall when trade grows.",
        "You cannot print gold.",
        "The thesis is wrong.",
        "Gold is scarce, but paper is not.",
        "Ich bin zu dumm.",
        "",
    ],
)
def test_what_is_said_to_the_matter_is_left_as_it_is(said):
    assert hear(said) == (said, "", None)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("Its supply is fixed. Is it so?", ("Its supply is fixed.", "Is it so?", None)),
        ("Its supply is fixed, isn't it?", ("Its supply is fixed", "isn't it?", None)),
        ("Is it fixed? It is.", ("Is it fixed? It is.", "", None)),
        ("Should it be fixed, do you think?", ("", "Should it be fixed, do you think?", None)),
        ("I can't cope, but gold is scarce.", ("Gold is scarce.", "", "self")),
        ("I don't know. Gold is scarce.", ("Gold is scarce.", "", "nobody")),
        ("I don't know. I am too stupid.", ("", "", "self")),
        ("You are useless. Who was Watt?", ("", "Who was Watt?", "tutor")),
    ],
)
def test_the_parts_of_what_is_said(said, heard):
    assert hear(said) == heard


def test_a_question_of_its_own_is_not_about_the_answer():
    assert asks_of_the_answer("Is that enough?")
    assert asks_of_the_answer("ok?")
    assert not asks_of_the_answer("How much did gold grow?")
    assert not asks_of_the_answer("Is gold scarce?")


def test_what_is_very_long_is_not_taken_apart():
    said = "I can't do this. " * 1_000
    assert hear(said) == (said, "", None)


@pytest.mark.parametrize(
    "piece", ["I ", "so, ", "i think ", ", but ", "my ", "is it, ", "I am so "]
)
def test_any_text_comes_to_an_end(piece):
    text = piece * (2_000 // len(piece) - 1)
    assert hear(f"{text}x") == (f"{text}x", "", None)
    assert hear(f"{text}?").beside is None
