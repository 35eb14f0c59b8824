"""Where two sources may contradict each other.

Two sentences of different sources are put side by side if they speak of the same, in the same words
and under the same circumstances, and

- give different numbers of the same unit, with a word in common right beside the number, or
- one of them says not.

Where one word stands in the place of another, they are about two things: a claim for hail damage is
none for storm damage.

They are called possible, and they are few: what is shown is read by a person. How often the rule is
right is measured by `benchmarks/conflicts.py`. Only sentences that share a rare word are compared,
so that the cost grows with the text and not with its square.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.citations.places import narrowed
from deepnb.citations.shapes import Conflict, Side
from deepnb.citations.statements import concepts, contrast, statements
from deepnb.keywords import words

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from deepnb.citations.shapes import Passage, Source
    from deepnb.citations.statements import Quantity, Statement

Why = Literal["a differing number", "a negation"]

_MOST = 8  # conflicts: more are not read
_MOST_STATEMENTS = 2_000
_RARE = 25  # statements that have a term: a commoner one brings nothing together
_LEAST_SHARED, _LEAST_FOR_NEGATION = 2, 3
_ALIKE, _ALIKE_FOR_NEGATION, _OF_THE_LONGER = 0.5, 0.7, 0.2
_SHOWN_TERMS = 6


class _Said(NamedTuple):
    source: str
    passage: int
    place: str
    statement: Statement


def conflicts(
    sources: Mapping[str, Source], only: Container[tuple[str, int]] | None = None
) -> list[Conflict]:
    """Find pairs of sentences that may contradict each other, the most alike first.

    Args:
        sources: By id.
        only: The passages to look in, by id of the source and number; left out, all of them.
    """
    said = list(_said(sources.values(), only))[:_MOST_STATEMENTS]
    spread = Counter(term for each in said for term in each.statement.about)
    found: list[tuple[float, Conflict]] = []
    for one, other in _candidates(said, spread):
        score, why = compare(one.statement, other.statement)
        if why:
            about = _shared_words(one.statement, other.statement)
            found.append((score, Conflict(about=about, why=why, sides=[_side(one), _side(other)])))
    ordered = sorted(found, key=lambda scored: -scored[0])
    return list(_best(conflict for _, conflict in ordered))


def compare(one: Statement, other: Statement) -> tuple[float, Why | None]:
    """How alike two statements are, and why they may contradict each other, if they may.

    That is a matter of these two alone: what else was read changes nothing about it.
    """
    if one.text == other.text or _other_circumstances(one, other):
        return 0.0, None
    # Of names, that both have some and not the same was seen to above: one that only one of them
    # has, such as that of the lake which all is about, makes them no less alike.
    names = frozenset(one.names ^ other.names)
    alike = max(
        (
            _alike(mine.about - names, theirs.about - names, _LEAST_SHARED)
            for mine, theirs in product(one.quantities, other.quantities)
            if _differ(mine, theirs, one, other)
        ),
        default=0.0,
    )
    if alike >= _ALIKE:
        return alike, "a differing number"
    if _one_says_not(one, other):
        alike = _alike(one.about, other.about, _LEAST_FOR_NEGATION)
        if alike >= _ALIKE_FOR_NEGATION:
            return alike, "a negation"
    return 0.0, None


def _other_circumstances(one: Statement, other: Statement) -> bool:
    """Whether both say when, where or which, and not the same."""
    pairs = zip(one.circumstances.values(), other.circumstances.values(), strict=True)
    return any(mine - theirs and theirs - mine for mine, theirs in pairs)


def _differ(mine: Quantity, theirs: Quantity, one: Statement, other: Statement) -> bool:
    """Whether two quantities are of the same kind and neither statement has the other's value."""
    if (mine.unit, mine.bound) != (theirs.unit, theirs.bound) or not mine.near & theirs.near:
        return False
    if contrast(mine, theirs):
        return False
    here = [each.value for each in one.quantities if each.unit == mine.unit]
    there = [each.value for each in other.quantities if each.unit == mine.unit]
    return not any(_same(a, b) for a, b in product(here, there))


def _same(one: float, other: float) -> bool:
    """Whether one number is the other, or the other rounded."""
    return any(round(one, digits) == round(other, digits) for digits in _decimals(one, other))


def _decimals(*values: float) -> range:
    fewest = min(len(f"{value:.6f}".rstrip("0").partition(".")[2]) for value in values)
    return range(fewest, fewest + 1)


def _one_says_not(one: Statement, other: Statement) -> bool:
    same_numbers = {q[:2] for q in one.quantities} == {q[:2] for q in other.quantities}
    return one.is_negated != other.is_negated and same_numbers and not contrast(one, other)


def _alike(some: frozenset[str], others: frozenset[str], least: int) -> float:
    """Which share of the terms of the shorter of two statements both have; 0 if too little."""
    shared, sizes = len(some & others), (len(some), len(others))
    if shared < least or shared < _OF_THE_LONGER * max(sizes):
        return 0.0
    return shared / min(sizes)


def _said(sources: Iterable[Source], only: Container[tuple[str, int]] | None) -> Iterator[_Said]:
    for source in sources:
        seen = set[str]()
        for number, passage in enumerate(source["passages"]):
            if only is not None and (source["id"], number) not in only:
                continue
            for statement in statements(passage["text"]):
                if statement.text not in seen:  # passages overlap
                    seen.add(statement.text)
                    yield _Said(source["id"], number, _place(passage, statement), statement)


def _place(passage: Passage, statement: Statement) -> str:
    """Where a statement stands, with the sentence that it refers to."""
    text = passage["text"]
    start = max(text.find(statement.context or statement.text), 0)
    end = max(text.find(statement.text, start), 0) + len(statement.text)
    return narrowed(passage["place"], text, start, end)


def _candidates(said: Sequence[_Said], spread: Mapping[str, int]) -> Iterator[tuple[_Said, _Said]]:
    """Pairs of statements of different sources that share a rare term, each once."""
    by_term = defaultdict[str, list[int]](list)
    for index, each in enumerate(said):
        for term in each.statement.about:
            if 1 < spread[term] <= _RARE:
                by_term[term].append(index)
    pairs = {pair for indices in by_term.values() for pair in combinations(indices, 2)}
    for first, second in sorted(pairs):
        if said[first].source != said[second].source:
            yield said[first], said[second]


def _best(found: Iterable[Conflict]) -> Iterator[Conflict]:
    """The first ones, each sentence once."""
    shown = set[str]()
    count = 0
    for conflict in found:
        texts = {side["text"] for side in conflict["sides"]}
        if count < _MOST and not texts & shown:
            shown |= texts
            count += 1
            yield conflict


def _shared_words(one: Statement, other: Statement) -> list[str]:
    """What both are about, as the first one spells it."""
    shared = one.about & other.about
    spelled = {
        term: word
        for word in reversed(words(f"{one.context} {one.text}"))
        for term in concepts(word)
        if term in shared
    }
    return list(dict.fromkeys(reversed(spelled.values())))[:_SHOWN_TERMS]


def _side(said: _Said) -> Side:
    # With the sentence that it refers to, since "that is 38 %" says nothing alone.
    text = " ".join(f"{said.statement.context} {said.statement.text}".split())
    return Side(source=said.source, place=said.place, text=text, passage=said.passage)
