"""From a question to ranked passages, by way of the tools.

Find the lines that have the question's words, read round the best of them, rank what was read.
The caps keep all of it small in a workspace of any size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.keywords import bm25, coverage, idf, terms, words
from deepnb.models.offline import results
from deepnb.models.offline.passages import Passage, passages, shorten
from deepnb.models.offline.vocabulary import LONG_TASK, MONEY, NEGATIONS, concepts, key_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.models.offline.results import Hit
    from deepnb.models.offline.turn import Turn

MARK = "verbatim passages found by keyword"
"""Stands in every file of quotes that was saved, so that quotes are not quoted again."""

MOST_MATCHES = 40
_MOST_READS = 10
_MOST_QUOTES = 5
_SHORT_WORD = 3
_MARKS = ".,;:?!()[]\"'"
_BEFORE, _AFTER, _LONGEST_WINDOW = 12, 14, 80
_GAP = 10
# How much of a question one passage must cover, by the number of its terms. Of two terms the rare
# one decides, of more the number counts as well: people ask in more words than documents answer in.
_ENOUGH = {1: 0.7, 2: 0.7, 3: 0.6, 4: 0.5, 5: 0.5, 6: 0.5}
_ENOUGH_OF_MANY = 0.4
_FEW = 2
_ALIKE = 0.8
# What an answer looks like, by how the question begins: a number, a name.
_HINTS = (
    (
        re.compile(r"\bhow (?:many|much|long|old|often|deep|high|large|big)\b", re.IGNORECASE),
        re.compile(r"\d"),
    ),
    (
        re.compile(r"\bwhen\b|\bwhat (?:year|date|percent\w*|number)\b", re.IGNORECASE),
        re.compile(r"\d"),
    ),
    (re.compile(r"\bwho\b", re.IGNORECASE), re.compile(r"\b[A-Z]\w+ [A-Z]\w+")),
)


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    question: str
    wanted: tuple[str, ...]
    quotes: tuple[Passage, ...] = ()
    nearest: tuple[Passage, ...] = ()
    absent: tuple[str, ...] = ()


def files(turn: Turn) -> list[str]:
    """The files within reach that may be quoted."""
    if turn.can("glob"):
        listed = [p for r in turn.do(turn.call("glob", pattern="**/*")) for p in results.paths(r)]
    else:
        top = [p for r in turn.do(turn.call("list", path="/")) for p in results.paths(r)]
        folders = [p for p in top if p.endswith("/") and results.is_source(p)][:_MOST_READS]
        below = turn.do(call for folder in folders for call in turn.call("list", path=folder))
        listed = top + [p for r in below for p in results.paths(r)]
    return sorted({p for p in listed if not p.endswith("/") and results.is_source(p)})


def find(turn: Turn, question: str, within: Sequence[str] = ()) -> Found:
    """Search the files for what answers a question.

    Args:
        turn: The turn, for its tools.
        question: The question.
        within: The files to look into; all of them if empty.
    """
    found = Found(question, tuple(key_terms(question)))
    if turn.can("search"):
        ranked = turn.do(turn.call("search", query=question, top_k=_MOST_READS))
        hits = _foreign(turn, [hit for result in ranked for hit in results.hits(result)])
        found = _rank(found, _read(turn, hits, found.wanted, within))
    if not found.quotes and turn.can("grep"):
        hits = grep(turn, question)
        found = _rank(found, _read(turn, hits, found.wanted, within))
        present = {term for hit in hits for term in hit.terms}
        found = replace(found, absent=tuple(t for t in found.wanted if t not in present))
    elif not found.quotes and not turn.can("search"):
        found = _rank(found, _read(turn, [], found.wanted, within or files(turn)))
    return found


def grep(turn: Turn, question: str) -> list[Hit]:
    """The lines that have a term of the question, from any file that may be quoted."""
    wanted = frozenset(key_terms(question))
    patterns = _patterns(question)
    options: dict[str, object] = {"output_mode": "content", "max_count": MOST_MATCHES}
    if "case_sensitive" in turn.parameters("grep"):
        patterns = {pattern.lower(): about for pattern, about in patterns.items()}
        options["case_sensitive"] = False
    calls = [call for each in patterns for call in turn.call("grep", pattern=each, **options)]
    found: dict[tuple[str, int], Hit] = {}
    for result, about in zip(turn.do(calls), patterns.values(), strict=True):
        for hit in results.hits(result):
            place = (hit.path, hit.line)
            has = wanted.intersection(concepts(hit.text)).union(about if hit.cut else ())
            if place in found:
                has |= found[place].terms
            if has:
                found[place] = replace(hit, terms=has)
    return _foreign(turn, list(found.values()))


def _foreign(turn: Turn, hits: list[Hit]) -> list[Hit]:
    """The hits without those in quotes that were saved earlier."""
    if not turn.can("grep") or not any(hit.text.startswith(">") for hit in hits):
        return hits
    mark = turn.call("grep", pattern=MARK, output_mode="content", max_count=MOST_MATCHES)
    saved = {hit.path for result in turn.do(mark) for hit in results.hits(result)}
    return [hit for hit in hits if hit.path not in saved]


def _patterns(question: str) -> dict[str, list[str]]:
    """Literal strings to search for, and the terms that each stands for.

    They are word stems, small, capitalised and as typed, and pairs of words. A pair is rare where
    its words are not, and so finds the place in a workspace where each word alone has more matches
    than anybody wants to see.
    """
    wanted = set(key_terms(question))
    asked = [word for word in words(question) if wanted.intersection(concepts(word))]
    typed = [word.strip(_MARKS) for word in question.split()]
    as_typed = {word.casefold(): word for word in typed}
    patterns: dict[str, list[str]] = {}
    for word in sorted(dict.fromkeys(asked), key=len, reverse=True):
        base = _literal(word)
        forms = [base, base.capitalize(), as_typed.get(word, base)[: len(base)]]
        forms += [word.upper()] if len(word) <= _SHORT_WORD else []
        patterns |= dict.fromkeys(forms, concepts(word))
    pairs = [f"{a} {b}" for a, b in pairwise(asked) if f"{a} {b}" in question.lower()]
    return patterns | {pair: concepts(pair) for pair in pairs[:3]}


def _literal(word: str) -> str:
    """The beginning that the forms of a word have in common."""
    stem = terms(word)[0] if "-" not in word else word
    while not word.startswith(stem):
        stem = stem[:-1]
    return stem if len(stem) > _SHORT_WORD or len(word) <= len(stem) + 1 else word


def _read(
    turn: Turn, hits: Sequence[Hit], wanted: Sequence[str], within: Sequence[str]
) -> list[Passage]:
    """Read round the hits that promise most, and cut what was read into passages."""
    hits = [hit for hit in hits if not within or hit.path in within]
    windows = _windows(hits, wanted) or _openings(wanted, within)
    if not turn.can("read"):
        return [Passage(hit.path, hit.line, hit.line, hit.text) for hit in hits]
    headers = {p for p, first, _ in windows if first > 1 and p.lower().endswith((".csv", ".tsv"))}
    calls = {p: turn.call("read", path=p, offset=0, limit=1) for p in sorted(headers)}
    reads = [(p, turn.call("read", path=p, offset=a - 1, limit=b - a + 1)) for p, a, b in windows]
    everything = [call for each in [*calls.values(), *(call for _, call in reads)] for call in each]
    turn.do(everything)
    tops = {p: results.page(turn.do(call)[0], p) for p, call in calls.items()}
    found: list[Passage] = []
    for path, call in reads:
        top = tops.get(path)
        if page := results.page(turn.do(call)[0], path):
            found += passages(page, top.lines[0] if top else "")
    return list(dict.fromkeys(found))


def _windows(hits: Sequence[Hit], wanted: Sequence[str]) -> list[tuple[str, int, int]]:
    """Which lines of which files to read: (path, first, last), the most promising ones."""
    have = {hit: hit.terms or frozenset(wanted).intersection(concepts(hit.text)) for hit in hits}
    weight = idf([sorted(each) for each in have.values()])
    groups: dict[str, list[list[Hit]]] = defaultdict(list)
    for hit in sorted(hits, key=lambda hit: (hit.path, hit.line)):
        last = groups[hit.path][-1] if groups[hit.path] else None
        if last and hit.line - last[-1].line <= _GAP and hit.line - last[0].line < _LONGEST_WINDOW:
            last.append(hit)
        else:
            groups[hit.path].append([hit])

    def promise(group: list[Hit]) -> float:
        together = frozenset[str]().union(*(have[hit] for hit in group))
        best = max(coverage(wanted, have[hit], weight) for hit in group)
        named = coverage(wanted, concepts(PurePosixPath(group[0].path).stem), weight)
        return best + coverage(wanted, together, weight) + 0.5 * named

    scored = []
    for clusters in groups.values():
        for nth, group in enumerate(sorted(clusters, key=promise, reverse=True)):
            # The next place in the same file has to be better to be read before another file.
            scored.append((promise(group) * 0.8**nth, group))
    scored.sort(key=lambda each: (-each[0], each[1][0].path, each[1][0].line))
    return _merged(
        (group[0].path, max(1, group[0].line - _BEFORE), group[-1].line + _AFTER)
        for _, group in scored[:_MOST_READS]
    )


def _merged(windows: Iterable[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Stretches that overlap as one, so that no paragraph is read in two halves."""
    merged: list[tuple[str, int, int]] = []
    for path, first, last in sorted(windows):
        if merged and merged[-1][0] == path and first <= merged[-1][2] + 1:
            merged[-1] = (path, merged[-1][1], max(last, merged[-1][2]))
        else:
            merged.append((path, first, last))
    return merged


def _openings(wanted: Sequence[str], known: Sequence[str]) -> list[tuple[str, int, int]]:
    """The beginnings of files, best names first: what is left to do without a search tool."""
    named = [index for index, _ in bm25(wanted, [concepts(path) for path in known])]
    order = dict.fromkeys([*named, *range(len(known))])
    return [(known[index], 1, _LONGEST_WINDOW) for index in list(order)[:_MOST_READS]]


def _rank(found: Found, read: Sequence[Passage]) -> Found:
    """Choose the quotes: those that cover the question, from several files, none twice."""
    wanted = frozenset(found.wanted)
    bags = [passage.words for passage in read]
    wide = [[*bag, *passage.context] for bag, passage in zip(bags, read, strict=True)]
    weight = {term: value * _importance(term) for term, value in idf(wide).items()}
    hint = next((sign for asked, sign in _HINTS if asked.search(found.question)), None)
    order = bm25(found.wanted, bags)
    scored: list[tuple[float, Passage]] = []
    enough: list[tuple[float, Passage]] = []
    for index, strength in order:
        share = (coverage(wanted, bags[index], weight) + coverage(wanted, wide[index], weight)) / 2
        score = share + 0.3 * strength / order[0][1]
        if hint and hint.search(read[index].text):
            score += 0.15
        scored.append((score, read[index]))
        if _answers(wanted, wide[index], weight):
            enough.append(scored[-1])
    return replace(
        found,
        quotes=tuple(shorten(each, wanted) for each in _choose(enough, _MOST_QUOTES)),
        nearest=tuple(shorten(each, wanted) for each in _choose(scored, 2)),
    )


def _importance(term: str) -> float:
    """Names with digits (N3, 2.4, ISO-9001) are what a question turns on."""
    return 1.5 if any(char.isdigit() for char in term) else 1.0


def _answers(wanted: frozenset[str], present: Sequence[str], weight: dict[str, float]) -> bool:
    """Whether a passage has enough of a question's terms, and the one that must not be missing."""
    if MONEY in wanted and MONEY not in present:
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
        if best[0] >= floor and not any(_alike(best[1], other) for other in chosen):
            chosen.append(best[1])
            taken[best[1].path] += 1
    return chosen


def _alike(one: Passage, other: Passage) -> bool:
    """Whether two passages say the same; a differing number or "not" makes all the difference."""
    a, b = set(words(one.text)), set(words(other.text))
    differ = a ^ b
    telling = any(word[0].isdigit() or word in NEGATIONS for word in differ)
    return not telling and bool(a | b) and len(differ) / len(a | b) < 1 - _ALIKE
