"""From a question to ranked passages, by way of the tools.

Find the lines that have the question's words, read round the best of them, rank what was read.
The caps keep all of it small in a workspace of any size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.keywords import bm25, coverage, idf, terms, unspaced, words
from deepnb.models.offline import results
from deepnb.models.offline.passages import Passage, passages
from deepnb.models.offline.rank import MOST_QUOTES, answers, rank
from deepnb.models.offline.reach import files
from deepnb.models.offline.results import Page
from deepnb.models.offline.vocabulary import concepts, key_terms, relatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from deepnb.models.offline.results import Hit
    from deepnb.models.offline.turn import Turn

MARK = "verbatim passages found by keyword"
"""Stands in every file of quotes that was saved, so that quotes are not quoted again."""

MOST_MATCHES = 40
_MOST_READS = 10
_SHORT_WORD = 3
_BEGINNING, _LIKE = 4, 0.8
_MARKS = ".,;:?!()[]\"'"
_BEFORE, _AFTER, _LONGEST_WINDOW = 12, 14, 80
_NEAR = 3
_GAP = 10
_LINES = re.compile(r"lines? (\d+)(?:\u2013\d+)?")
_FEW = 2
_WORKSPACE, _CLIENT = "/workspace/", "/files/"


@dataclass(frozen=True)
class Found:
    """What a search came to.

    Attributes:
        question: What was asked.
        wanted: Its terms.
        quotes: The passages that answer it.
        nearest: Those that come nearest, if none does.
        absent: Terms that occur nowhere.
        meant: Words that occur, by the absent ones that may be misspellings of them.
        too_long: Lines that have the terms but are too long for the tools to show.
    """

    question: str
    wanted: tuple[str, ...]
    quotes: tuple[Passage, ...] = ()
    nearest: tuple[Passage, ...] = ()
    absent: tuple[str, ...] = ()
    meant: dict[str, str] = field(default_factory=dict)
    too_long: tuple[Hit, ...] = ()


def find(turn: Turn, question: str, within: Sequence[str] = ()) -> Found:
    """Search the files for what answers a question.

    Args:
        turn: The turn, for its tools.
        question: The question.
        within: The files to look into; all of them if empty.
    """
    found = Found(question, tuple(key_terms(question)))
    if turn.can("knowledge"):
        found = _ranked(found, _known(turn, question, within))
    if not found.quotes and turn.can("search"):
        ranked = turn.do(turn.call("search", query=question, top_k=MOST_QUOTES))
        hits = _foreign(turn, [hit for result in ranked for hit in results.hits(result)])
        if "grep" in turn.tools:  # then the search is of the client's files, and these are others
            hits += grep(turn, question, path=_WORKSPACE)
        found = _ranked(found, _read(turn, hits, found.wanted, within, near=_CLIENT))
    if not found.quotes and turn.can("grep"):
        hits = grep(turn, question)
        found = _ranked(found, _read(turn, hits, found.wanted, within))
        found = found if found.quotes else _explained(turn, found, hits, within)
    elif not found.quotes and not turn.can("search") and not turn.can("knowledge"):
        found = _ranked(found, _read(turn, [], found.wanted, within or files(turn)))
    return found


def _known(turn: Turn, question: str, within: Sequence[str]) -> list[Passage]:
    """What the knowledge base has on a question, cut into what is worth quoting."""
    wanted = " ".join([question, *relatives(question)])
    answers_ = turn.do(turn.call("knowledge", query=wanted, k=_MOST_READS))
    found = [
        piece
        for answer in answers_
        for each in results.found(answer)
        if not within or any(f"/{path}".endswith(f"/{each.path}") for path in within)
        for piece in _pieces(each)
    ]
    # Neighbours overlap: what stands in two is quoted from the one that has it whole.
    return [
        each
        for each in dict.fromkeys(found)
        if not any(other is not each and each.is_part_of(other) for other in found)
    ]


def _pieces(found: results.Found) -> list[Passage]:
    """Paragraphs with their own lines, or, where there are pages and not lines, with the page."""
    if lines := _LINES.fullmatch(found.place):
        return passages(Page(found.path, int(lines[1]), found.lines))
    pieces = passages(Page("document.md", 1, found.lines))
    return [replace(each, path=found.path, place=found.place or found.title) for each in pieces]


def _ranked(found: Found, read: Sequence[Passage]) -> Found:
    quotes, nearest = rank(found.question, found.wanted, read)
    return replace(found, quotes=quotes, nearest=nearest)


def _explained(turn: Turn, found: Found, hits: Sequence[Hit], within: Sequence[str]) -> Found:
    """Why nothing can be quoted: words that are nowhere, lines that are too long to be shown."""
    present = {term for hit in hits for term in hit.terms}
    absent = tuple(term for term in found.wanted if term not in present)
    weight = idf([sorted(hit.terms) for hit in hits])
    too_long = [
        hit
        for hit in hits
        if hit.cut
        and (not within or hit.path in within)
        and answers(frozenset(found.wanted), sorted(hit.terms), weight)
    ]
    meant = _meant(turn, found.question, set(absent), [hit.text for hit in hits])
    return replace(found, absent=absent, meant=meant, too_long=tuple(too_long[:_FEW]))


def _meant(turn: Turn, question: str, absent: set[str], lines: list[str]) -> dict[str, str]:
    """Words of these lines, or that begin alike, which absent words may be misspellings of."""
    strange = [w for w in words(question) if absent.intersection(concepts(w)) and w.isascii()]
    strange = [word for word in dict.fromkeys(strange) if len(word) > _BEGINNING][:_FEW]
    starts = [word[:_BEGINNING] for word in strange]
    begin_alike = turn.do(
        call
        for start in [*starts, *map(str.capitalize, starts)]
        for call in turn.call("grep", pattern=start, output_mode="content", max_count=MOST_MATCHES)
    )
    lines = lines + [hit.text for result in begin_alike for hit in results.hits(result)]
    seen = sorted({word for line in lines for word in words(line)})
    near = {word: get_close_matches(word, seen, 1, _LIKE) for word in strange}
    return {word: match[0] for word, match in near.items() if match}


def grep(turn: Turn, question: str, **where: str) -> list[Hit]:
    """The lines that have a term of the question, from any file that may be quoted."""
    wanted = frozenset(key_terms(question))
    patterns = _patterns(question)
    options: dict[str, object] = {"output_mode": "content", "max_count": MOST_MATCHES, **where}
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
        if unspaced(word):
            patterns |= {term: [term] for term in concepts(word) if term in wanted}
            continue
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
    turn: Turn, hits: Sequence[Hit], wanted: Sequence[str], within: Sequence[str], near: str = ""
) -> list[Passage]:
    """Read round the hits that promise most, and cut what was read into passages.

    Below the folder `near` only a few lines are read: what is there leaves a person's computer.
    """
    hits = [hit for hit in hits if not within or hit.path in within]
    windows = _windows(hits, wanted, near) or _openings(wanted, within)
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


def _windows(hits: Sequence[Hit], wanted: Sequence[str], near: str) -> list[tuple[str, int, int]]:
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
    return _merged(_window(group, near) for _, group in scored[:_MOST_READS])


def _window(group: Sequence[Hit], near: str) -> tuple[str, int, int]:
    path, first, last = group[0].path, group[0].line, group[-1].line
    is_near = near and path.startswith(near)
    before, after = (_NEAR, _NEAR) if is_near else (_BEFORE, _AFTER)
    return path, max(1, first - before), last + after


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
