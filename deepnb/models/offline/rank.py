"""Which passages answer a question, by the words they share with it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from deepnb.keywords import bm25, coverage, idf, words
from deepnb.models.offline.passages import shorten
from deepnb.models.offline.vocabulary import LONG_TASK, MONEY, NEGATIONS, concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.passages import Passage

    Passages = tuple[Passage, ...]

MOST_QUOTES = 5
_MOST_NEAREST = 2
# How much of a question one passage must cover, by the number of its terms. Of two terms the rare
# one decides, of more the number counts as well: people ask in more words than documents answer in.
_ENOUGH = {1: 0.7, 2: 0.7, 3: 0.6, 4: 0.5, 5: 0.5, 6: 0.5}
_ENOUGH_OF_MANY = 0.4
_FEW = 2
_ALIKE = 0.8
_SMALL_NUMBER = re.compile(r"\d{1,3}(?:[.,]\d+)?")  # a longer one may be a year
# "When" asks before a verb. Before anything else it is a condition: "Who pays when a pump fails?"
_DATE = re.compile(
    r"\bwhen\s+(?:exactly\s+)?(?:is|are|was|were|do|does|did|can|could|may|must|has|have|had|shall|"
    r"should|will|would)\b|\b(?:since|until|till|by|know|say|tell me|find out)\s+when\b"
    r"|\b(?:what|which)\s+(?:year|date|day|month)\b|^\W*when\W*$",
    re.IGNORECASE,
)
# What an answer looks like, by how the question begins: a share, a number, a name, a cause.
_HINTS = (
    (
        re.compile(r"\b(?:what|which) (?:share|percentage|proportion|fraction)\b", re.IGNORECASE),
        re.compile(r"\d\s?%|\bper\s?cent\b|\d of (?:the )?\d|\bhalf\b|\bthirds?\b|\bquarters?\b"),
    ),
    (
        re.compile(r"\bhow (?:many|much|long|old|often|deep|high|large|big)\b", re.IGNORECASE),
        re.compile(r"\d"),
    ),
    (_DATE, re.compile(r"\d")),
    (re.compile(r"\bwhat (?:percent\w*|number)\b", re.IGNORECASE), re.compile(r"\d")),
    (re.compile(r"\bwho\b", re.IGNORECASE), re.compile(r"\b[A-Z]\w+ [A-Z]\w+")),
    (
        re.compile(r"\bwhy\b|\bwhat caused?\b", re.IGNORECASE),
        re.compile(
            r"\b(?:because|since|due to|owing to|caused?|as a result|"
            r"(?:mostly|mainly) (?:from|by))\b",
            re.IGNORECASE,
        ),
    ),
)


def rank(question: str, terms: Sequence[str], read: Sequence[Passage]) -> tuple[Passages, Passages]:
    """Choose the quotes: those that cover the question, from several files, none twice.

    Returns:
        The passages that answer the question, and those that come nearest to it.
    """
    wanted = frozenset(terms)
    bags = [passage.words for passage in read]
    wide = [[*bag, *passage.context] for bag, passage in zip(bags, read, strict=True)]
    weight = weights(wide)
    hint = sign_of_an_answer(question)
    order = bm25(terms, bags)
    # What stands under a heading is about what the heading names, whether it repeats that or not;
    # and so is a table's row, if the names of its columns are all that is asked for.
    matched = {index for index, _ in order}
    order += [
        (index, 0.0)
        for index, passage in enumerate(read)
        if index not in matched
        and (wanted & {*concepts(passage.heading)} or wanted <= {*concepts(passage.header)})
    ]
    scored: list[tuple[float, Passage]] = []
    enough: list[tuple[float, Passage]] = []
    for index, strength in order:
        share = (coverage(wanted, bags[index], weight) + coverage(wanted, wide[index], weight)) / 2
        score = share + 0.3 * strength / (order[0][1] or 1)
        if hint and hint.search(read[index].text):
            score += 0.15
        scored.append((score, read[index]))
        if answers(wanted, wide[index], weight):
            enough.append(scored[-1])
    quotes, nearest = _choose(enough, MOST_QUOTES), _choose(scored, _MOST_NEAREST)
    return tuple(shorten(p, wanted) for p in quotes), tuple(shorten(p, wanted) for p in nearest)


def weights(documents: Sequence[Sequence[str]]) -> dict[str, float]:
    """How much each term tells; names with digits (N3, 2.4, 2022) are what a question turns on."""
    return {
        term: value * (1.5 if any(char.isdigit() for char in term) else 1.0)
        for term, value in idf(documents).items()
    }


def answers(wanted: frozenset[str], present: Sequence[str], weight: dict[str, float]) -> bool:
    """Whether a passage has enough of a question's terms, and the one that must not be missing."""
    if MONEY in wanted and MONEY not in present:
        return False
    # A number alone is a coincidence.
    names = {term for term in wanted if not term[0].isdigit()}
    if names and names.isdisjoint(present):
        return False
    if wanted and all(_SMALL_NUMBER.fullmatch(term) for term in wanted):
        return False
    if len(wanted) > LONG_TASK:  # not every word of a long task can matter
        wanted = wanted.intersection(weight)
    enough = _ENOUGH.get(len(wanted), _ENOUGH_OF_MANY)
    weighed = coverage(wanted, present, weight)
    if len(wanted) <= _FEW:
        return weighed >= enough
    return (weighed + len(wanted.intersection(present)) / len(wanted)) / 2 >= enough


def _choose(scored: list[tuple[float, Passage]], most: int) -> list[Passage]:
    chosen: list[Passage] = []
    left = list(scored)
    taken: dict[str, int] = defaultdict(int)
    floor = 0.5 * max((score for score, _ in scored), default=0.0)
    while left and len(chosen) < most:
        best = max(left, key=lambda each: each[0] * 0.8 ** taken[each[1].path])
        left.remove(best)
        said = any(says_the_same(best[1].text, other.text) for other in chosen)
        if best[0] >= floor and not said:
            chosen.append(best[1])
            taken[best[1].path] += 1
    return chosen


def asks_for_a_date(question: str) -> bool:
    """Whether a question is, in whole or in part, one for a time."""
    return _DATE.search(question) is not None


def sign_of_an_answer(question: str) -> re.Pattern[str] | None:
    """What an answer to a question is likely to have in it: a number, a name, a cause."""
    return next((sign for asked, sign in _HINTS if asked.search(question)), None)


def says_the_same(one: str, other: str) -> bool:
    """Whether two texts say the same; a differing number or "not" makes all the difference."""
    a, b = set(words(one)), set(words(other))
    differ = a ^ b
    telling = any(word[0].isdigit() or word in NEGATIONS for word in differ)
    return not telling and bool(a | b) and len(differ) / len(a | b) < 1 - _ALIKE
