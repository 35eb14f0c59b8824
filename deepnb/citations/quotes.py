"""Whether a source says something in these very words.

A quote is found or it is not: nothing here is nearly found, since a quote in which one digit was
changed is nearly right as well. What may differ is layout (see `deepnb.citations.normal`), the
case of the first letter, and a full stop or comma at the end, which belong to the sentence around.

- A match begins and ends where words do: `toxic waste` is not in `non-toxic waste`, nor `5` in
  `15`, `5.2`, `5 %` or `-5`.
- `…` and `[...]` leave something out: each part has to be there, in that order and in one passage,
  with three words or more; what is left out is short and has no negation.
- `[the lake]` are the writer's own words. They may stand for a pronoun or for nothing, and have
  neither a number nor a negation. `[T]he` is the letter in another case.
- One or two words are no evidence of anything (`is_evidence`): the same words are everywhere.

What is found has been said; whether it is quoted fairly is for a reader to judge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.citations.normal import HARD, NONE, Normal, normal
from deepnb.keywords import unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Gap = Literal["", "left out", "own words"]

_LEAST_WORDS, _LEAST_UNSPACED = 3, 6
_MOST_LEFT_OUT = 400  # characters
_LEAST_OVERLAP, _MOST_OVERLAP = 24, 1_000
_MOST_TRIES = 100  # places where a quote could be, and is not: a longer search is refused

NEGATION = re.compile(
    r"(?i)\b(?:not|no|never|none|nor|neither|nobody|nothing|nowhere|cannot|without|hardly|"
    r"\w+n['\u2019]t|fail(?:s|ed)? to|lacks?|lacked|absence|absent)\b"
)
_DOTS = r"(?:\u2026|\.\s?\.\s?\.)"
_GAP = re.compile(
    rf"\[\s*{_DOTS}\s*\]|\(\s*{_DOTS}\s*\)|{_DOTS}|\[(?P<own>[^\[\]\u2026]{{1,80}})\]"
)
_OTHER_CASE = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
_PRONOUN = (
    r"(?:it|its|he|his|him|she|hers?|they|their|them|we|our|us|i|my|me|you|your|this|that|these|"
    r"those|who|which|the former|the latter)"
)
_FOR_A_PRONOUN = {
    "before": re.compile(rf"(?i)(?:^|[.!?:;\n][\"\u201d')\]]*\s*|(?<!\w){_PRONOUN}\s)\s*$"),
    "between": re.compile(rf"(?i)[\s,]*(?:{_PRONOUN}\b[\s,]*)?"),
    "behind": re.compile(rf"(?i)\s*(?:{_PRONOUN}\b\s*)?(?:$|[.!?:;,\n])"),
}
_EDGE_BEFORE, _EDGE_BEHIND = ' "|,;:', ' "|,;:.'

_WORD_BEFORE = re.compile(r"[^\W_][-\u2010-\u2013\u2212'\u2019]?\Z")
_WORD_BEHIND = re.compile(r"[-\u2010-\u2013\u2212'\u2019]?[^\W_]|[\u0300-\u036f]")
# What would be part of the same number, before its first digit and behind its last.
_NUMBER_BEFORE = re.compile(
    r"\d[.,/]\Z|(?<![^\s(])\.\Z|[-\u2010-\u2015\u2212]\Z|[<>\u2264\u2265\u00b1~\u2248^]\s?\Z"
)
_NUMBER_BEHIND = re.compile(
    r"[.,/]\d|[\u00b2\u00b3\u00b9\u2070-\u209c\u00bc-\u00be\u2150-\u215f^\u5341\u767e\u5343\u4e07"
    r"\u842c\u4ebf\u5104]|\s?(?:%|\u2030|per ?cent|hundred|thousand|million|billion|trillion)"
)
_GROUP, _GROUP_BEFORE = re.compile(r"\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\s\Z")
_GROUP_BEHIND, _GROUPED = re.compile(r"\s\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\Z")
_WINDOW = 40


class Span(NamedTuple):
    """Where a quote stands: in which passage, and from where to where in its text."""

    passage: int
    start: int
    end: int


class _Part(NamedTuple):
    """A piece of a quote without gaps, and what stands before it."""

    form: Normal
    gap: Gap


def is_evidence(quote: str) -> bool:
    """Whether a quote is long enough to say something: three words, or six signs without spaces."""
    words = re.findall(r"\w+(?:[.,'\u2019\u00ad-]\w+)*", quote)
    signs = sum(map(unspaced, quote)) if unspaced(quote) else 0
    return len(words) >= _LEAST_WORDS or signs >= _LEAST_UNSPACED


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text has a quote, from where to where; None if it has not."""
    span = Texts([text]).locate(quote)
    return span and (span.start, span.end)


class Texts:
    """The passages of one source, to look for quotes in; each is prepared once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._forms: dict[int, Normal] = {}
        self._pairs: list[tuple[int, str, Normal]] | None = None

    def locate(self, quote: str) -> Span | None:
        """Where a passage has a quote, or two that overlap have it together.

        Of a quote that goes on in the next passage, the part in the first one is given.
        """
        ways = _ways(quote)
        for number, text in enumerate(self._texts):
            if number not in self._forms:
                self._forms[number] = normal(text)
            if span := _search(ways, self._forms[number], text):
                return Span(number, *span)
        if self._pairs is None:
            self._pairs = [(n, text, normal(text)) for n, text in _overlapping(self._texts)]
        for number, text, form in self._pairs:
            if span := _search(ways, form, text):
                return Span(number, span[0], min(span[1], len(self._texts[number])))
        return None


def _overlapping(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each two passages of which one begins with the end of the other, as one text.

    Passages that only follow each other are not joined: nobody knows what is between them.
    """
    heads = {text[:_LEAST_OVERLAP]: index for index, text in enumerate(texts)}
    for number, text in enumerate(texts):
        for start in range(max(1, len(text) - _MOST_OVERLAP), len(text) - _LEAST_OVERLAP + 1):
            following = heads.get(text[start : start + _LEAST_OVERLAP], number)
            if following != number and texts[following].startswith(text[start:]):
                yield number, text[:start] + texts[following]
                break


def _ways(quote: str) -> list[list[_Part]]:
    """How to read a quote: as it is, and if it has gaps, in parts."""
    quote = _OTHER_CASE.sub(r"\1", quote)
    whole = _trimmed(normal(quote))
    ways = [[_Part(whole, "")]] if whole.text else []
    if _GAP.search(quote) and (parts := _parts(quote)):
        ways.append(parts)
    return ways


def _parts(quote: str) -> list[_Part]:
    """Cut a quote at its gaps; an empty list if they hide what they must not."""
    parts: list[_Part] = []
    gap: Gap = ""
    position = 0
    for match in _GAP.finditer(quote):
        piece = quote[position : match.start()]
        parts.append(_Part(_trimmed(normal(piece)), gap))
        own = match["own"]
        if own and (NEGATION.search(own) or re.search(r"\d", own)):
            return []
        gap = "own words" if own else "left out"
        position = match.end()
    parts.append(_Part(_trimmed(normal(quote[position:])), gap))
    inner = [part for part in parts if part.form.text]
    needs_length = len(inner) > 1 and any(part.gap == "left out" for part in parts)
    if not inner or (needs_length and not all(is_evidence(part.form.text) for part in inner)):
        return []
    return parts


def _trimmed(form: Normal) -> Normal:
    """Without what belongs to the sentence around."""
    first = len(form.text) - len(form.text.lstrip(_EDGE_BEFORE))
    last = max(first, len(form.text.rstrip(_EDGE_BEHIND).removesuffix(" -")))
    part = slice(first, last)
    return Normal(form.text[part], form.starts[part], form.ends[part], form.hyphens[part])


def _search(ways: Iterable[list[_Part]], form: Normal, text: str) -> tuple[int, int] | None:
    return next((span for parts in ways if (span := _follow(parts, form, text))), None)


def _follow(parts: list[_Part], form: Normal, text: str) -> tuple[int, int] | None:
    """Find the first part, and from there each of the others, nearest first."""
    first, *others = [part for part in parts if part.form.text]
    leads = not parts[0].form.text and parts[1].gap == "own words"
    trails = not parts[-1].form.text and parts[-1].gap == "own words"
    for begin, end in _occurrences(first.form, form, text, 0):
        start, stop = form.starts[begin], _end_of(others, form, text, end)
        if (
            stop is not None
            and (
                not leads or _FOR_A_PRONOUN["before"].search(text[max(0, start - _WINDOW) : start])
            )
            and (not trails or _FOR_A_PRONOUN["behind"].match(text[stop : stop + _WINDOW]))
        ):
            return start, stop
    return None


def _end_of(others: Iterable[_Part], form: Normal, text: str, end: int) -> int | None:
    """Where the last part ends in the text, the first one ending at `end` of the form."""
    stop = form.ends[end - 1]
    for part in others:
        following = next(_occurrences(part.form, form, text, end), None)
        if following is None or not _fits(text[stop : form.starts[following[0]]], part.gap):
            return None
        end = following[1]
        stop = form.ends[end - 1]
    return stop


def _fits(between: str, gap: Gap) -> bool:
    """Whether a gap may stand for this."""
    if gap == "own words":
        return _FOR_A_PRONOUN["between"].fullmatch(between) is not None
    return len(between) <= _MOST_LEFT_OUT and not NEGATION.search(between)


def _occurrences(part: Normal, form: Normal, text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Where a part stands, from where to where in the form; the first letter in either case."""
    head, tail = part.text[:1], part.text[1:]
    if not tail:
        head, tail = "", part.text
    position = begin
    for _ in range(_MOST_TRIES):
        at = form.text.find(tail, position + len(head)) - len(head)
        if at < position:
            return
        end = at + len(part.text)
        if (
            form.text[at : at + len(head)] in {head, head.swapcase()}
            and _same_hyphens(part.hyphens[1:], form.hyphens[at + 1 : end])
            and form.hyphens[at] == NONE
            and not any(form.hyphens[end : end + 1])
            and _has_borders(text, form.starts[at], form.ends[end - 1])
        ):
            yield at, end
        position = at + 1


def _same_hyphens(some: bytearray, others: bytearray) -> bool:
    if some == others:
        return True
    return not any({one, other} == {NONE, HARD} for one, other in zip(some, others, strict=True))


def _has_borders(text: str, start: int, end: int) -> bool:
    """Whether a match begins and ends where words and numbers do."""
    before, behind = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    match = text[start:end]
    return not (
        (_is_letter(match[0]) and _WORD_BEFORE.search(before) and not unspaced(before[-1]))
        or (_is_letter(match[-1]) and _WORD_BEHIND.match(behind) and not unspaced(behind[0]))
        or (match[0].isdigit() and _goes_on_before(match, before))
        or (match[-1].isdigit() and _goes_on_behind(match, behind))
    )


def _is_letter(character: str) -> bool:
    return character.isalnum() and not unspaced(character)


def _goes_on_before(match: str, before: str) -> bool:
    is_group = _GROUP.match(match) and _GROUP_BEFORE.search(before)
    return bool(is_group or _NUMBER_BEFORE.search(before))


def _goes_on_behind(match: str, behind: str) -> bool:
    is_group = _GROUPED.search(match[-_WINDOW:]) and _GROUP_BEHIND.match(behind)
    return bool(is_group or _NUMBER_BEHIND.match(behind))
