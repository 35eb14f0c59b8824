"""Which sentences say most about what a step looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.research.notes import READ
from deepnb.agents.research.offline.sentences import Sentence, sentences
from deepnb.agents.research.offline.steps import ASKED_FOR, DATES, DOUBT, FIGURES, safe
from deepnb.keywords import coverage, idf, words
from deepnb.models.offline.answer import listing, shown
from deepnb.models.offline.rank import answers, says_the_same, sign_of_an_answer, weights
from deepnb.models.offline.vocabulary import concepts, key_terms, subjects

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from deepnb.agents.research.state import StepResult
    from deepnb.citations.shapes import Source
    from deepnb.interrupts import Plan, PlanStep

_CONTRAST = frozenset(
    [
        "although",
        "but",
        "cannot",
        "despite",
        "failed",
        "fails",
        "however",
        "little",
        "limited",
        "never",
        "no",
        "nobody",
        "none",
        "not",
        "only",
        "unless",
        "without",
        "yet",
    ]
)
_FROM_THE_SEARCH, _LOOKS_RIGHT = 0.25, 0.15
# What a document is about as a whole tells little about one of its sentences.
_IN_TITLE = 0.4
_ITSELF, _ASKS, _TITLE, _POINTS_BACK = 0.7, 0.4, 0.4, 0.05
_THE_YEAR, _OTHER_YEARS = 0.2, -0.4
# A name within a question, which is what it turns on, and a year.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'\u2019-]+(?: [A-Z][\w'\u2019-]+)*")
_A_NAME = 1.5
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# What was read is the little that has the question's words. Judged by it alone, they would seem
# common; so it is weighed as a part of something larger.
_UNREAD = 100
# What is written for whoever reads by machine is no answer to a person's question.
_TO_A_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions?|prompts?)\b|\bAI assistants?\b",
    re.IGNORECASE | re.DOTALL,
)
_BACK = re.compile(
    r"^\W*(?:it|its|they|their|this|that|these|those|he|she|his|her|but|and|so)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Scored:
    """A sentence and how much it says, about 0 to 1.5."""

    score: float
    sentence: Sentence


class Evidence:
    """Everything that was read, seen from one question."""

    def __init__(self, question: str, plan: Plan, sources: dict[str, Source]) -> None:
        self.question = question
        self._sources = sources
        named = [step["input"] for step in plan["steps"] if step["tool"] == READ]
        named_in = {term for path in named for term in concepts(PurePosixPath(path).stem)}
        # What a named document is called says where to look, not what for.
        self.asked = [term for term in key_terms(question) if term not in named_in]
        texts = [
            concepts(f"{source['title']} {passage['text']}")
            for source in sources.values()
            for passage in source["passages"]
        ]
        self._weight = weights([*texts, *[[]] * _UNREAD])
        rarest = max(idf([["once"], *[[]] * (len(texts) + _UNREAD)]).values())
        self.absent = [term for term in self.asked if term not in self._weight]
        self._weight |= dict.fromkeys(self.absent, rarest)
        self._names = set(concepts(" ".join(_NAME.findall(question))))
        self._subjects = frozenset(concepts(" ".join(subjects(question))))
        self._years = set(_YEAR.findall(question))

    def wanted(self, step: PlanStep) -> list[str]:
        """The terms that what a step has found must have: its own, as far as they are asked for.

        A plan adds words to find more: of a heading, of doubt. They are no part of the question.
        """
        own = set(concepts(step["input"]))
        if step["title"] == ASKED_FOR:
            added = [term for term in key_terms(step["input"]) if term not in self._subjects]
            return added or self.asked
        return [term for term in self.asked if term in own] or self.asked

    def of(self, step: PlanStep, result: StepResult) -> list[Scored]:
        """The sentences that a step has found and that answer it, best first."""
        wanted = frozenset(self.wanted(step))
        found = list(dict.fromkeys((id_, number) for id_, number in result.get("found", [])))
        sign = sign_of_an_answer(f"{self.question} {step['input']}")
        scored: list[Scored] = []
        for place, (id_, number) in enumerate(found):
            passage = sentences(self._sources[id_], number) if id_ in self._sources else []
            if not self._answers(wanted, passage):
                continue
            rank = _FROM_THE_SEARCH * place / len(found)
            scored += [
                Scored(self._score(wanted, each, sign) - rank, each)
                for each in passage
                if _is_sought(step, each.text)
            ]
        relevant = [
            one
            for one in scored
            if one.sentence.says_something
            and self._is_about(wanted, one.sentence)
            and (commands(self.question) or not commands(one.sentence.text))
        ]
        return sorted(relevant, key=lambda each: -each.score)

    def answers(self, wanted: Collection[str], sentence: Sentence) -> bool:
        """Whether a sentence has, with what stands over it, enough of what is wanted."""
        return not wanted or answers(frozenset(wanted), sentence.wide, self._weight)

    def is_named_in(self, wanted: Collection[str], sentence: Sentence) -> bool:
        """Whether a sentence itself has something of what is wanted, and no other word for it."""
        return not wanted or not self._subjects.intersection(wanted).isdisjoint(sentence.words)

    def nearest(self) -> str:
        """Where the passage is that has most of the question's terms, and which; "" if none has."""
        wanted = self.asked
        best = max(
            (
                (coverage(wanted, concepts(passage["text"]), self._weight), source, passage)
                for source in self._sources.values()
                for passage in source["passages"]
            ),
            key=lambda each: each[0],
            default=None,
        )
        if best is None or not best[0]:
            return ""
        _, source, passage = best
        has = listing(shown(passage["text"], [t for t in wanted if t in concepts(passage["text"])]))
        return f"{_named(source, passage['place'])} (which has {has})"

    def where(self, term: str) -> str:
        """The first place that mentions a term; "" if none does."""
        for source in self._sources.values():
            for passage in source["passages"]:
                if term in concepts(passage["text"]):
                    return _named(source, passage["place"])
        return ""

    def _answers(self, wanted: frozenset[str], passage: Sequence[Sentence]) -> bool:
        """Whether a passage has enough of it, and not by its title alone."""
        near = {term for each in passage for term in each.near}
        present = [*near, *(term for each in passage[:1] for term in each.wide)]
        untitled = wanted.difference(self.absent, *(concepts(each.about) for each in passage[:1]))
        if untitled and untitled.isdisjoint(near):
            return False
        return not wanted or answers(wanted, present, self._weight)

    def _is_about(self, wanted: frozenset[str], sentence: Sentence) -> bool:
        """Whether it has something of what is wanted, and not only another word for it.

        Everyday words have others that count as the same, and these mean many things.
        """
        own = wanted & self._subjects
        is_near = not wanted or not wanted.isdisjoint(sentence.near)
        return is_near and (not own or not own.isdisjoint(sentence.wide))

    def _of_the_year(self, text: str) -> float:
        """What it is worth to tell of a year that the question names, or of others only."""
        years = set(_YEAR.findall(text)) if self._years else set()
        if not years:
            return 0.0
        return _OTHER_YEARS if years.isdisjoint(self._years) else _THE_YEAR

    def _score(self, wanted: frozenset[str], each: Sentence, sign: re.Pattern[str] | None) -> float:
        about = set(concepts(each.about))
        weight = {
            t: self._weight.get(t, 0.0)
            * (_IN_TITLE if t in about else 1)
            * (_A_NAME if t in self._names else 1)
            for t in wanted
        }
        own = coverage(wanted, each.words, weight)
        wide = coverage(wanted, each.wide, weight)
        score = _ITSELF * own + (1 - _ITSELF) * wide
        score += _LOOKS_RIGHT if sign and sign.search(each.text) else 0.0
        score -= _ASKS if each.text.rstrip("\"'\u201d\u2019)").endswith("?") else 0.0
        score -= _TITLE if each.is_a_title else 0.0
        score += self._of_the_year(each.text)
        score -= _POINTS_BACK if points_back(each.text) else 0.0
        return score


def _named(source: Source, place: str) -> str:
    return ", ".join(filter(None, [safe(source["title"]), place]))


def points_back(text: str) -> bool:
    """Whether a sentence begins with a word for something that was said before it."""
    return _BACK.search(text) is not None


def commands(text: str) -> bool:
    """Whether a text speaks to, or of, a model that reads it."""
    return _TO_A_MODEL.search(text) is not None


def _is_sought(step: PlanStep, text: str) -> bool:
    """Whether a sentence doubts, counts or dates, where that is what a step is there for."""
    if DOUBT in step["input"]:
        return not _CONTRAST.isdisjoint(words(text))
    counts = FIGURES in step["input"] or DATES in step["input"]
    return not counts or any(char.isdigit() for char in text)


def distinct(scored: Sequence[Scored], taken: Sequence[str] = ()) -> list[Scored]:
    """The sentences without those that say what a better one, or one taken already, says."""
    kept: list[Scored] = []
    for each in scored:
        said = [*taken, *(other.sentence.text for other in kept)]
        if not any(says_the_same(each.sentence.text, text) for text in said):
            kept.append(each)
    return kept
