"""Whether a source says something in these very words.

A quote is found or it is not: nothing here is nearly found, since a quote in which one digit was
changed is nearly right as well. What may differ is layout (see `deepnb.citations.normal`), the
case of the first letter, a full stop or comma at the end, which belong to the sentence around, and
marks of footnotes in the source.

- A match begins and ends where words do: `toxic waste` is not in `non-toxic waste`. No sign is cut
  off a number: `3` is not in `13`, `.3`, `-3`, `$3`, `3 %`, `3 °C`, `3:1`, `3-5` or `3 ± 2`. A unit
  in letters is a word, and a quote may end before any word.
- `…` and `[...]` leave something out of a sentence: each part has to be in it, in that order and
  with three words or more; what is left out is short and turns nothing round.
- `[un]polluted` has words of the writer, and with them any meaning: it is not found, unless the
  source has the brackets, too. `[T]he` is the letter in another case.
- One or two words are no evidence of anything (`is_evidence`): the same words are everywhere.

What is found has been said; whether it is quoted fairly is for a reader to judge.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from deepnb.citations.normal import HARD, NONE, Normal, normal
from deepnb.citations.sentences import sentences
from deepnb.keywords import unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LEAST_WORDS, _LEAST_UNSPACED = 3, 6
_MOST_LEFT_OUT = 400  # characters
_LEAST_OVERLAP, _MOST_OVERLAP = 24, 1_000
_MOST_TRIES = 100  # places where a quote could be, and is not: a longer search is refused

# What must not be left out: a word that turns the rest round, or what may end a sentence.
_TURN = re.compile(
    r"(?i)\b(?:not|no|never|none|nor|neither|nobody|nothing|nowhere|cannot|without|hardly|rarely|"
    r"seldom|barely|scarcely|but|unless|except|\w+n['\u2019]t|fail(?:s|ed)? to|lacks?|lacked|"
    r"absence|absent)\b|[.!?\u2026][^\w\s]*(?:\s|$)"
)
_DOTS = r"(?:\u2026|\.\s?\.\s?\.)"
_GAP = re.compile(rf"\[\s*{_DOTS}\s*\]|\(\s*{_DOTS}\s*\)|{_DOTS}")
_OTHER_CASE = re.compile(r"\[([^\W\d_])\](?=[^\W\d_])")
_INSERTION = re.compile(rf"\[(?!\s*{_DOTS}\s*\])[^\[\]]*\]")
_EDGE_BEFORE, _EDGE_BEHIND = ' "|,;:', ' "|,;:.'

# A footnote's digits stand high behind a word or its full stop; behind a unit they are a power.
_HIGH = r"[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]+"
_FOOTNOTE = re.compile(
    r"\[\^[\w-]{1,20}\](?!\d)"
    rf"|(?:(?<=[^\W\d_]{{4}})|(?<=[^\W\d_][.,;:!?\"\u201d])){_HIGH}(?:[,\u207b\u2013-]{_HIGH})*(?!\w)"
)
_UNIT = re.compile(
    r"(?i)(?:\d|\bper|/)\W*[^\W\d_]+\Z|(?:met(?:re|er)s?|feet|foot|inch(?:es)?|yards?|miles?|"
    r"seconds?)\Z"
)

_WORD_BEFORE = re.compile(r"[^\W_][-']?\Z")
_WORD_BEHIND = re.compile(r"[-']?[^\W_]|[\u0300-\u036f]")
# What would be part of the same number, before its first digit and behind its last.
_SIGN = r"[$\u00a2-\u00a5\u20a0-\u20cf<>~^+\\\u00b1\u00d7\u00f7\u2190-\u22ff]"
_NUMBER_BEFORE = re.compile(
    rf"(?i)(?:[-.,/#\u00a7\u2116]|{_SIGN}\s?|\d\s?[/*x\u00b7]\s?|\d(\s?):\1|\bminus\s)\Z"
)
_NUMBER_BEHIND = re.compile(
    rf"(?i)[.,]\d|/|\s?(?:[%\u2030\u00b0\u2032\u2103\u2109]|{_SIGN})|\s?-\d|\s?[/*x\u00b7]\s?\d|(\s?):\1\d"
    r"|[\u00b2\u00b3\u00b9\u2070-\u209c\u00bc-\u00be\u2150-\u215f\u5341\u767e\u5343\u4e07\u842c\u4ebf"
    r"\u5104]|\s?(?:per ?cent|dozen|hundred|thousand|[mb]illion|trillion|mio|mrd|bn)"
)
_GROUP, _GROUP_BEFORE = re.compile(r"\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\s\Z")
_GROUP_BEHIND, _GROUPED = re.compile(r"\s\d{3}(?!\d)"), re.compile(r"(?<![\d.,])\d{1,3}\Z")
# In the source as it is: a dash that begins a line is that of an item in a list.
_DASH = r"[-\u2010-\u2015\u2212]\s*"
_RANGE_BEFORE = re.compile(rf"\d[^\S\n]*{_DASH}\Z")
_RANGE_BEHIND = re.compile(rf"[^\S\n]*{_DASH}\d")
_WINDOW = 40


class Span(NamedTuple):
    """Where a quote stands: in which passage, and from where to where in its text."""

    passage: int
    start: int
    end: int


def is_evidence(quote: str) -> bool:
    """Whether a quote is long enough to say something: three words, or six signs without spaces."""
    words = re.findall(r"\w+(?:[.,'\u2019\u00ad-]\w+)*", quote)
    signs = sum(map(unspaced, quote)) if unspaced(quote) else 0
    return len(words) >= _LEAST_WORDS or signs >= _LEAST_UNSPACED


def without_insertions(quote: str) -> list[str]:
    """What a quote has before, between and behind words of the writer in square brackets."""
    pieces = _INSERTION.split(_OTHER_CASE.sub(r"\1", quote))
    return [piece for piece in pieces if re.search(r"\w", piece)]


def find(quote: str, text: str) -> tuple[int, int] | None:
    """Where a text has a quote, from where to where; None if it has not."""
    span = Texts([text]).locate(quote)
    return span and (span.start, span.end)


class Texts:
    """The passages of one source, to look for quotes in; each is prepared once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._forms: dict[int, list[Normal]] = {}
        self._pairs: list[tuple[int, str, list[Normal]]] | None = None

    def locate(self, quote: str) -> Span | None:
        """Where a passage has a quote, or two that overlap have it together.

        Of a quote that goes on in the next passage, the part in the first one is given.
        """
        ways = _ways(quote)
        for number, text in enumerate(self._texts):
            if number not in self._forms:
                self._forms[number] = _forms(text)
            if span := _search(ways, self._forms[number], text):
                return Span(number, *span)
        if self._pairs is None:
            self._pairs = [(n, text, _forms(text)) for n, text in _overlapping(self._texts)]
        for number, text, forms in self._pairs:
            if span := _search(ways, forms, text):
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


def _forms(text: str) -> list[Normal]:
    """A text as it is compared; if it has footnotes, with and without their marks."""

    def unseen(mark: re.Match[str]) -> str:
        before = text[max(0, mark.start() - _WINDOW) : mark.start()]
        is_power = not mark[0].startswith("[") and _UNIT.search(before)
        return mark[0] if is_power else "\u200b" * len(mark[0])  # so that the rest stays in place

    bare = _FOOTNOTE.sub(unseen, text)
    return [normal(each) for each in dict.fromkeys([text, bare])]


def _ways(quote: str) -> list[list[Normal]]:
    """How to read a quote: as it is, and if something is left out, in parts."""
    quote = _OTHER_CASE.sub(r"\1", quote)
    pieces = _GAP.split(quote)
    ways = [[quote], pieces] if len(pieces) > 1 else [[quote]]
    forms = [[form for each in way if (form := _trimmed(normal(each))).text] for way in ways]
    return [parts for parts in forms if _is_enough(parts)]


def _is_enough(parts: list[Normal]) -> bool:
    return len(parts) == 1 or (bool(parts) and all(is_evidence(part.text) for part in parts))


def _trimmed(form: Normal) -> Normal:
    """Without what belongs to the sentence around."""
    first = len(form.text) - len(form.text.lstrip(_EDGE_BEFORE))
    last = max(first, len(form.text.rstrip(_EDGE_BEHIND).removesuffix(" -")))
    part = slice(first, last)
    return Normal(form.text[part], form.starts[part], form.ends[part], form.hyphens[part])


def _search(
    ways: Iterable[list[Normal]], forms: Iterable[Normal], text: str
) -> tuple[int, int] | None:
    found = (_follow(parts, form, text) for form in forms for parts in ways)
    return next(filter(None, found), None)


def _follow(parts: list[Normal], form: Normal, text: str) -> tuple[int, int] | None:
    """Find the first part, and from there each of the others, nearest first."""
    first, *others = parts
    for begin, end in _occurrences(first, form, text, 0):
        start, stop = form.starts[begin], _end_of(others, form, text, end)
        if stop is not None and (not others or len(sentences(text[start:stop])) == 1):
            return start, stop
    return None


def _end_of(others: Iterable[Normal], form: Normal, text: str, end: int) -> int | None:
    """Where the last part ends in the text, the first one ending at `end` of the form."""
    stop = form.ends[end - 1]
    for part in others:
        following = next(_occurrences(part, form, text, end), None)
        if following is None or not _may_be_left_out(text[stop : form.starts[following[0]]]):
            return None
        end = following[1]
        stop = form.ends[end - 1]
    return stop


def _may_be_left_out(between: str) -> bool:
    return len(between) <= _MOST_LEFT_OUT and not _TURN.search(between)


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
            and _has_borders(form.text, at, end)
            and not _is_of_a_range(text, form.starts[at], form.ends[end - 1])
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


def _is_of_a_range(text: str, start: int, end: int) -> bool:
    """Whether a match begins or ends with one of two numbers between which there is a dash."""
    before, behind = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    return bool(
        (text[start].isdigit() and _RANGE_BEFORE.search(before))
        or (text[end - 1].isdigit() and _RANGE_BEHIND.match(behind))
    )
