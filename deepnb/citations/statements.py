"""Sentences as what they say: about what, how much of it, when, where, and whether not.

A small and careful reading. What it does not understand it leaves out, so that a comparison says
too little rather than too much.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from deepnb.citations.negation import NOT
from deepnb.citations.numbers import SCALES, SPELLED
from deepnb.keywords import STOP_WORDS, stem, terms
from deepnb.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST, _MOST_NUMBERS = 400, 6
_SIGN = "\u00b5\u03bc"
_QUANTITY = re.compile(
    r"(?i)(?P<money>\b(?:EUR|USD|GBP|CHF)|[\u20ac$\u00a3])?\s?(?<![\w.,\u2212-])"
    rf"(?P<number>\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|{'|'.join(SPELLED)})"
    rf"(?![\w.,]*\d)(?:\s(?P<scale>{'|'.join(SCALES)}))?"
    rf"(?:\s?(?P<unit>[%\u2030]|per ?cent|\u00b0\s?[CF]|[{_SIGN}A-Za-z][\w{_SIGN}\u00b2\u00b3/]*))?"
)
_UNITS = {
    "percent": "%", "per cent": "%", "hour": "h", "hours": "h", "hrs": "h", "minutes": "min",
    "minute": "min", "metre": "m", "metres": "m", "meter": "m", "meters": "m", "kilometres": "km",
    "kilometers": "km", "kilometre": "km", "hectares": "ha", "hectare": "ha", "€": "eur",
    "$": "usd", "£": "gbp", "euros": "eur", "euro": "eur", "dollars": "usd", "pounds": "gbp",
    "kilograms": "kg", "kilogram": "kg", "grams": "g", "tonnes": "t", "tons": "t", "litres": "l",
    "liters": "l", "litre": "l",
}  # fmt: skip
_NO_UNIT = STOP_WORDS | {
    "times",
    "fold",
    "fig",
    "table",
    "ci",
    "vs",
    "versus",
    "st",
    "nd",
    "rd",
    "th",
}
_BOUND = re.compile(
    r"(?i)\b(?P<low>at least|more than|over|above|exceed\w*|greater than|minimum of|older than)\s+$"
    r"|\b(?P<high>at most|less than|fewer than|up to|no more than|below|under|within|maximum of|"
    r"younger than)\s+(?:EUR |USD |[\u20ac$\u00a3])?$"
)
_NOT_A_VALUE = re.compile(
    r"(?i)(?:\b[pn]\s*[<>=\u2264\u2265]\s*|\bCI\b[^;.]{0,12}|[\u00b1+/-]\s?)$"
)
_YEAR = re.compile(r"(?<![\d.,])(?:1[6-9]|20)\d\d(?![\d.,]\d)(?!\s?[\u00b5\u03bc%])")
_DAY = re.compile(
    r"\b(?:\d{1,2} )?(January|February|March|April|May|June|July|August|September|October|November|"
    r"December)\b"
)
_LABEL = re.compile(
    r"\b(?:[A-Z]{1,3}-?\d{1,3}|(?i:type|phase|group|station|site|core|net|sample|class|bus|room)"
    r" (?:[A-Z]|[IVX]+|\d+))\b"
)
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w-]+|\b[A-Z]{2,}\w*\b")
_PROSE = re.compile(r"[^#|{][^|{]*[.!?][\"\u201d')\]]*")
# The head of a part of an abstract.
_HEAD = re.compile(r"^(?:[A-Z]{4,}(?: AND [A-Z]{4,})?[:.]?\s+)+")
# Who took part in a study is different in every study.
_OF_A_STUDY = re.compile(
    r"(?i)\b(?:random(?:ly|i[sz]ed)|enrol\w+|recruited|participants?|years of age|aged|cohort|"
    r"follow-up|sample size|diagnosed)\b"
)
# "…, an increase of 14 % over 2023": a number of its own about what stands before.
_APPENDED = r"an? (?:[\w-]+ ){1,3}of [\u20ac$\u00a3]?\d"
_CLAUSE = re.compile(
    r"[;:]\s|,\s(?=(?:and|but|while|whereas|although|though|which|who)\b)|\s[\u2013\u2014]\s"
    r"|,\s(?=[^,;]{0,60}\b(?:said|says|announced|reported|according|wrote|writes|told)\b)"
    rf"|(?<=\d),\s(?=[a-z])|,\s(?={_APPENDED})"
)
_RELATIVE = re.compile(rf"(?:which|who)\b|{_APPENDED}")
# What comes before the subject of a sentence.
_LEAD_IN = re.compile(
    r"(?:According to|In|On|At|During|After|Before|Since|With|From|Of|For|By|Under|Over)\b"
    r"[^,;:]{1,80},\s"
)
_ANAPHOR = re.compile(r"(?i)(?:that|this|these|those|it|its|they|their)\b")
_NEGATION = re.compile(
    rf"(?i)\b(?:{NOT}|(?:is|are|was|were|be|been) (?:forbidden|prohibited|banned|absent))\b"
)
_NO_NEGATION = re.compile(
    r"(?i)\b(?:not only|no more than|no less than|no fewer than|whether or not)\b"
)

_FAMILIES = (
    "fall fell fallen decrease decline drop reduce reduction lower shrink shrank dropped",
    "rise rose risen increase grow grew grown growth raise",
    "cost price paid pay payment",
    "begin began begun start started launch",
    "forbid forbidden allow allowed permit permitted permission prohibit prohibited ban banned",
)
_CONCEPTS = {stem(w): stem(f.split()[0]) for f in _FAMILIES for w in f.split()}
_LITTLE = (
    "roughly nearly almost approximately around overall however also together altogether already "
    "never nobody nothing none neither nowhere hardly rarely seldom barely scarcely fail failed "
    "refuse refused according"
)
# A unit and a scale are compared with the number that they belong to.
_SAYS_LITTLE = frozenset(
    map(stem, [*_LITTLE.split(), *_UNITS, *_UNITS.values(), *SCALES, *SPELLED])
)


def _families(*lines: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, line.split())) for line in lines)


# Words of which two statements about the same have the same, or neither has any.
_CONTRASTS = _families(
    "mean average median maximum max minimum min greatest highest lowest largest smallest",
    "final initial first second third last",
    "male female men women boy girl child children adult infant elderly",
    "treatment treated untreated control placebo baseline",
    "mouse mice rat human patient",
    "target limit goal plan planned expected estimated forecast proposed",
    "surface bottom shallow deep",
    "fall rise",
    "small large big new old early late",
    "without lack lacking absence absent",
)
# And those of which one may have one that the other leaves out: where and when.
_WHERE_AND_WHEN = _families(
    "north south east west northern southern eastern western upper lower left right",
    "before after until since",
    "summer winter spring autumn morning evening night daily weekly monthly yearly annual",
)
_LONGEST_SWAP = 2  # words


class Quantity(NamedTuple):
    """A number and what it counts.

    Attributes:
        value: The number.
        unit: What it counts.
        bound: "low" if it is a least, "high" if it is a most, else empty.
        near: The words around it.
        own: The words of the part of the sentence that it stands in, in their order.
        about: The same, with what that part refers to.
    """

    value: float
    unit: str
    bound: str
    near: frozenset[str]
    own: tuple[str, ...]
    about: frozenset[str]


@dataclass(frozen=True)
class Statement:
    """A sentence, and the words of the one before where it begins with "that" or "its"."""

    text: str
    context: str

    @cached_property
    def about(self) -> frozenset[str]:
        """What it is about, in concepts."""
        return frozenset([*concepts(self.context), *self.own])

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The same without the sentence before, in the order of the words, the subject first."""
        return _in_order(self.text)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The numbers that count something."""
        found: list[Quantity] = []
        context, before = concepts(self.context), ""
        for clause in _CLAUSE.split(self.text):
            # A relative clause is about what stands before it.
            antecedent = concepts(before) if _RELATIVE.match(clause) else []
            found += _quantities(clause, [*context, *antecedent])
            before = clause
        return found

    @cached_property
    def is_negated(self) -> bool:
        """Whether it says not."""
        return _NEGATION.search(_NO_NEGATION.sub("", self.text)) is not None

    @cached_property
    def circumstances(self) -> dict[str, frozenset[str]]:
        """The years, months, labels and names in it."""
        whole = f"{self.context} {self.text}"
        return {
            "years": frozenset(_YEAR.findall(whole)),
            "months": frozenset(_DAY.findall(self.text)),
            "labels": frozenset(_LABEL.findall(self.text)),
            "names": frozenset(_NAME.findall(self.text)) - frozenset(_DAY.findall(self.text)),
        }

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, in concepts."""
        return frozenset(concepts(" ".join(self.circumstances["names"])))


def concepts(text: str) -> list[str]:
    """The terms of a text, without numbers, and with a few families of words made one."""
    found = [_CONCEPTS.get(term, term) for term in terms(text) if not term[0].isdigit()]
    return [term for term in found if term not in _SAYS_LITTLE]


def statements(text: str) -> list[Statement]:
    """The sentences of a passage that are worth comparing: no tables, no code, no lists of data."""
    found, before = [], ""
    for written in sentences(text):
        sentence = _HEAD.sub("", written)
        numbers = len(re.findall(r"\d+(?:[.,]\d+)*", sentence))
        is_prose = _PROSE.fullmatch(sentence) and not _OF_A_STUDY.search(sentence)
        if is_prose and numbers <= _MOST_NUMBERS and len(sentence) <= _LONGEST:
            context = before if _ANAPHOR.match(sentence) else ""
            found.append(Statement(sentence, context))
        before = sentence
    return found


def contrast(one: Statement | Quantity, other: Statement | Quantity) -> bool:
    """Whether two statements begin with different things, or are about north and south."""
    some, others = one.own, other.own
    if not some or not others or some[0] not in other.about or others[0] not in one.about:
        return True
    pairs = [(f.intersection(some), f.intersection(others)) for f in _WHERE_AND_WHEN]
    return (
        any(mine - theirs and theirs - mine for mine, theirs in pairs)
        or any(family.intersection(some) != family.intersection(others) for family in _CONTRASTS)
        or _is_swapped(some, others)
    )


def _is_swapped(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one word or two stand in the place of as many others, between the same words."""
    changes = SequenceMatcher(None, some, others, autojunk=False).get_opcodes()
    return any(
        kind == "replace"
        and first
        and last - first == end - start <= _LONGEST_SWAP
        and not {*some[first:last]} & {*others}
        and not {*others[start:end]} & {*some}
        for kind, first, last, start, end in changes
    )


def _in_order(text: str) -> tuple[str, ...]:
    """The concepts of a text, those of a lead-in last."""
    lead_in = _LEAD_IN.match(text)
    cut = lead_in.end() if lead_in else 0
    return (*concepts(text[cut:]), *concepts(text[:cut]))


def _quantities(text: str, context: Sequence[str]) -> Iterator[Quantity]:
    own = _in_order(text)
    for match in _QUANTITY.finditer(text):
        written = (match["unit"] or "").strip()
        unit = (match["money"] or written).lower().replace("per cent", "percent")
        before = text[max(0, match.start() - 40) : match.start("number")]
        if not unit or _NOT_A_VALUE.search(before):
            continue
        if unit in _NO_UNIT or (match["money"] is None and _YEAR.fullmatch(match["number"])):
            continue
        bound = _BOUND.search(before)
        number = match["number"].lower().replace(",", "")
        value = float(SPELLED.get(number, number))
        value *= SCALES.get((match["scale"] or "").lower(), 1.0)
        near = [*concepts(before)[-3:], *concepts(text[match.end("number") :])[:2]]
        yield Quantity(
            value,
            _UNITS.get(unit, stem(unit)),
            (bound.lastgroup or "") if bound else "",
            frozenset(near),
            own,
            frozenset([*own, *context]),
        )
