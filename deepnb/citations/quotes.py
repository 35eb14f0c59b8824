"""Whether a source says something in these very words.

A quote is found or it is not: nothing here is nearly found, since a quote in which one digit was
changed is nearly right as well. What may differ is layout (see `deepnb.citations.normal`), the
case of the first letter, a full stop or comma at the end, which belong to the sentence around, and
marks of footnotes in the source.

- A match begins and ends where words do: `toxic waste` is not in `non-toxic waste`. No sign is cut
  off a number: `3` is not in `13`, `.3`, `-3`, `$3`, `3 %`, `3 °C`, `3:1`, `3-5` or `3 ± 2`, nor is
  any part of a number in words: `five` is not in `seventy five`, nor `3` in `3 to 5`. A unit in
  letters is a word, and a quote may end before any word.
- `…` and `[...]` leave something out of a sentence: each part has to be in it, in that order and
  with three words or more; what is left out is short and turns nothing round.
- `[un]polluted` has words of the writer, and with them any meaning: it is not found, unless the
  source has the brackets, too. `[T]he` is the letter in another case.
- One or two words are no evidence of anything (`is_evidence`): the same words are everywhere.

What is found has been said; whether it is quoted fairly is for a reader to judge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from deepnb.citations.borders import has_borders, is_of_a_range
from deepnb.citations.negation import LACK, NOT
from deepnb.citations.normal import HARD, NONE, Normal, normal
from deepnb.keywords import unspaced
from deepnb.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LEAST_WORDS, _LEAST_UNSPACED = 3, 6
_MOST_LEFT_OUT = 400  # characters
_LEAST_OVERLAP, _MOST_OVERLAP = 24, 1_000
_MOST_TRIES = 100  # places where a quote could be, and is not: a longer search is refused

# What must not be left out: a word that turns the rest round, or what may end a sentence.
_TURN = re.compile(rf"(?i)\b(?:{NOT}|{LACK}|but|unless|except)\b|[.!?\u2026][^\w\s]*(?:\s|$)")
_DOTS = r"(?:\u2026|\.\s?\.\s?\.)"
_MOST_PARTS = 8  # what has more holes than that is no quote, and takes long to look for
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
_BEFORE_MARK = 40  # characters
_UNIT = re.compile(
    r"(?i)(?:\d|\bper|/)\W*[^\W\d_]+\Z|(?:met(?:re|er)s?|feet|foot|inch(?:es)?|yards?|miles?|"
    r"seconds?)\Z"
)


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

    def locate(self, quote: str) -> Span | None:
        """Where a passage has a quote, or two that overlap have it together.

        Of a quote that goes on in the next passage, the part in the first one is given.
        """
        ways = _ways(quote)
        if span := self._alone.search(ways):
            return span
        span = self._together.search(ways) if self._together else None
        return span and span._replace(end=min(span.end, len(self._texts[span.passage])))

    @cached_property
    def _alone(self) -> _Shelf:
        return _Shelf(list(enumerate(self._texts)))

    @cached_property
    def _together(self) -> _Shelf | None:
        pairs = list(_overlapping(self._texts))
        return _Shelf(pairs) if pairs else None


class _Shelf:
    """Texts with their numbers, of which only those are searched that can have a quote."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self._texts = texts
        self._forms = [_forms(text) for _, text in texts]
        each = ["\n".join([form.text for form in forms]) for forms in self._forms]
        self._ends = list(accumulate(len(text) + 1 for text in each))
        self._whole = "\n".join(each)  # no form has a line end

    def search(self, ways: Sequence[list[Normal]]) -> Span | None:
        can = {index for first, *_ in ways for index in self._having(first.text[1:] or first.text)}
        for index in sorted(can):
            number, text = self._texts[index]
            if span := _search(ways, self._forms[index], text):
                return Span(number, *span)
        return None

    def _having(self, words: str) -> Iterator[int]:
        """Which texts have some words, whatever is around them."""
        at = self._whole.find(words)
        while at >= 0:
            index = bisect_right(self._ends, at)
            yield index
            at = self._whole.find(words, self._ends[index])


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
        before = text[max(0, mark.start() - _BEFORE_MARK) : mark.start()]
        is_power = not mark[0].startswith("[") and _UNIT.search(before)
        return mark[0] if is_power else "\u200b" * len(mark[0])  # so that the rest stays in place

    bare = _FOOTNOTE.sub(unseen, text)
    return [normal(each) for each in dict.fromkeys([text, bare])]


def _ways(quote: str) -> list[list[Normal]]:
    """How to read a quote: as it is, and if something is left out, in parts."""
    quote = _OTHER_CASE.sub(r"\1", quote)
    pieces = _GAP.split(quote)
    ways = [[quote], pieces] if 1 < len(pieces) <= _MOST_PARTS else [[quote]]
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
            and has_borders(form.text, at, end)
            and not is_of_a_range(text, form.starts[at], form.ends[end - 1])
        ):
            yield at, end
        position = at + 1


def _same_hyphens(some: bytearray, others: bytearray) -> bool:
    if some == others:
        return True
    return not any({one, other} == {NONE, HARD} for one, other in zip(some, others, strict=True))
