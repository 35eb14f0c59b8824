"""Quotes as a reader wants them: in their context, once, with the place they are from."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from deepnb.agents.research.offline.choose import commands, distinct, points_back
from deepnb.agents.research.offline.sentences import sentences
from deepnb.agents.research.offline.steps import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.agents.research.offline.choose import Scored
    from deepnb.agents.research.offline.sentences import Sentence
    from deepnb.citations.shapes import Source
    from deepnb.interrupts import PlanStep

# It ends in a colon, as what leads to something and claims nothing.
BY_RULE = "Verbatim quotes, chosen by rule and not by a language model:"
_MOST, _MOST_IN_A_STEP = 8, 4
_LONGEST, _LONGEST_CODE = 420, 160
_WORTH, _SAME_SOURCE = 0.5, 0.85
_ADDS = 60
_NUMBER = re.compile(r"\d+")
# Line ends and what Markdown puts before a quoted line.
_LAYOUT = re.compile(r"\s*\n[ \t]*(?:>[ \t]*)+|\s+")
_OBEYED = re.compile(r"<[a-zA-Z/!?]|\]\(|[\[(【]\s*\^?\s*(?:sources?:?\s*)?S\d", re.IGNORECASE)
_OPENING, _STRAIGHT = re.compile(r'(?:^|(?<=[\s(]))"'), re.compile('"')
_SINGLE = str.maketrans("“”„", "‘’‚")  # noqa: RUF001  # quotation marks are what it is about


class Excerpts:
    """What is quoted in a report; nothing is quoted twice."""

    def __init__(self, sources: dict[str, Source], best: Sequence[Sentence]) -> None:
        self._sources = sources
        self._best = [_flat(each.text) for each in best]
        self._quoted: list[Sentence] = []
        self.terms = {term for each in best for term in each.wide}

    def section(self, step: PlanStep, found: Sequence[Scored]) -> str:
        """What a step adds to what was quoted, under its title; nothing if it adds nothing."""
        if not found or len(self._quoted) >= _MOST:
            return ""
        chosen = self._chosen(found)
        return f"## {safe(step['title'])}\n\n{self.items(chosen)}" if chosen else ""

    def items(self, quoted: Sequence[Sentence]) -> str:
        """Quotes as a list, those of one source together."""
        order = list(dict.fromkeys(each.source for each in quoted))
        sort = sorted(
            quoted, key=lambda each: (order.index(each.source), *self._place(each), each.start)
        )
        groups = [list(group) for _, group in groupby(sort, key=lambda each: each.source)]
        return "\n".join(self._item(group) for group in groups)

    def line(self, quoted: Sentence) -> str:
        """What a quote is from, the quote, and the mark.

        Where it stands there is told by the citation. A number here would be one of the claim's.
        """
        return f"- {self._title(quoted)}: {_quote(quoted)}"

    def _item(self, quoted: Sequence[Sentence]) -> str:
        if len(quoted) == 1:
            return self.line(quoted[0])
        return "\n".join(
            [f"- {self._title(quoted[0])}:", *(f"  - {_quote(each)}" for each in quoted)]
        )

    def _title(self, quoted: Sentence) -> str:
        return safe(self._sources[quoted.source]["title"])

    def _place(self, quoted: Sentence) -> tuple[int, int]:
        return place_of(self._sources[quoted.source], quoted.number), quoted.number

    def _chosen(self, found: Sequence[Scored]) -> list[Sentence]:
        chosen: list[Sentence] = []
        left = distinct([each for each in found if each.score >= _WORTH * found[0].score])
        while left and len(chosen) < _MOST_IN_A_STEP and len(self._quoted) < _MOST:
            taken = [each.source for each in chosen]
            best = max(
                left, key=lambda one: one.score * _SAME_SOURCE ** taken.count(one.sentence.source)
            )
            left.remove(best)
            excerpt = self._in_context(best.sentence)
            if self._is_new(excerpt):
                chosen.append(excerpt)
                self._quoted.append(excerpt)
                self.terms.update(excerpt.wide)
        return chosen

    def _is_new(self, excerpt: Sentence) -> bool:
        """Whether an excerpt adds something to what was quoted."""
        text = rest = _flat(excerpt.text)
        for best in self._best:
            rest = rest.replace(best, "")
        if rest != text and len(rest.strip()) < _ADDS:
            return False
        return not any(excerpt.overlaps(each) or text in _flat(each.text) for each in self._quoted)

    def _in_context(self, sentence: Sentence) -> Sentence:
        """A sentence and what follows it, and what it points back at.

        Passages overlap: where it stands in several, it is the one in which most follows.
        """
        source = self._sources[sentence.source]
        having = [n for n, each in enumerate(source["passages"]) if sentence.text in each["text"]]
        same = [
            _stretched(each, others, source["passages"][number]["text"])
            for number in having
            for others in [sentences(source, number)]
            for each in others
            if each.text == sentence.text
        ]
        return max(same, key=lambda each: (len(each.text), bool(each.header)))


def _stretched(sentence: Sentence, others: Sequence[Sentence], text: str) -> Sentence:
    start, end = sentence.start, sentence.end
    longest = _LONGEST_CODE if sentence.kind == "code" else _LONGEST
    first, last = sentence.around
    beside = [each for each in others if first <= each.start and each.end <= last]
    at = next(n for n, each in enumerate(beside) if each.start == start)
    for each in beside[at + 1 :]:
        if each.end - start > longest or commands(each.text):
            break
        end = each.end
    while at and points_back(beside[at].text) and end - beside[at - 1].start <= longest:
        at -= 1
        start = beside[at].start
    return replace(sentence, start=start, end=end, text=text[start:end])


def place_of(source: Source, number: int) -> int:
    """Where a passage stands in its source: its first line, its page, its row."""
    passages = source["passages"]
    place = passages[number]["place"] if 0 <= number < len(passages) else ""
    match = _NUMBER.search(place.rpartition(", ")[2])  # a sheet may have a number in its name
    return int(match[0]) if match else 0


def _flat(text: str) -> str:
    return _LAYOUT.sub(" ", f"\n{text}").strip()


def _quote(each: Sentence) -> str:
    """The quote and its mark; a row of a table comes after the names of its columns."""
    cells = [cell.strip() for cell in each.header.strip("| ").split("|")]
    columns = f"({safe(', '.join(cells))}) " if each.header else ""
    return f"{columns}{in_quotes(each.text, each.kind)} [{each.source}]"


def in_quotes(said: str, kind: str = "prose") -> str:
    """A quote that is shown, and can be found again, as it is; its own quotation marks are single.

    What Markdown would obey, or what looks like a mark of the report, is shown as code.
    """
    text = _flat(said).translate(_SINGLE)
    text = text.strip("| ") if kind == "row" else text
    if kind in {"code", "data"} or _OBEYED.search(text):
        ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
        pad = " " if "`" in text else ""
        return f"“{ticks}{pad}{text}{pad}{ticks}”"
    return f"“{_STRAIGHT.sub('’', _OPENING.sub('‘', text))}”"  # noqa: RUF001  # as typeset
