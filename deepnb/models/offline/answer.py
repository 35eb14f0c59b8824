"""Passages as Markdown: quotes with their place, and what may be wrong between them."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.errors import DeepnbError
from deepnb.keywords import words
from deepnb.models.offline.passages import OMITTED, Passage
from deepnb.models.offline.search import MARK
from deepnb.models.offline.vocabulary import NEGATIONS, concepts
from deepnb.models.resolve import Choice, explain
from deepnb.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deepnb.models.offline.reach import Reach
    from deepnb.models.offline.search import Found

SIGN = "*Answered without a language model"
SAVED_NOTICE = f"{SIGN}: these are {MARK}.*"

# A number and its unit: 38 %, 4.1 m, EUR 40,000, 12 µg/l. One that counts nothing is a name as
# often as not: of a year, a station, a page.
_UNITS = (
    r"%|percent|per cent|°[CF]|[kMG]?W(?:h|att)?|[kmµμ]?V|[kMG]?Hz|[kMGT]B|"
    r"(?:[kmµμn]?g|mol)(?:/(?:l|L|kg|m[²³23]))?|[cdkmµμn]?m[²³23]?|m/s|km/h|ha|hectares?|acres?|"
    r"m?[lL]|lit(?:er|re)s?|(?:kilo|centi|milli)?met(?:er|re)s?|feet|miles?|tonnes?|tons?|kilos?|"
    r"(?:milli|kilo)?grams?|degrees?|points?|seconds?|minutes?|min|hours?|h|days?|weeks?|months?|"
    r"years?|cents?|euros?|dollars?|pounds?|times|people|persons?"
)
_QUANTITY = re.compile(
    r"(?P<money>EUR|USD|GBP|CHF|€|\$|£)?\s?(?P<number>\d+(?:[.,]\d+)*)\s?"
    rf"(?:(?P<unit>{_UNITS})(?![\w/]))?"
)
_MOST_NAMED = 5
_SHARED, _SHARED_FOR_NEGATION = 2, 4


def quote(passage: Passage) -> str:
    """A block quote of the passage, and where it stands."""
    body = _fenced(passage) if passage.kind in ("row", "code", "cell") else passage.text
    lines = "\n".join(f"> {line}" if line else ">" for line in body.split("\n"))
    return f"{lines}\n\n— {place(passage)}"


def place(passage: Passage) -> str:
    """Path and lines of a passage, or its page."""
    if passage.place:
        return f"`{passage.path}`, {passage.place}"
    if passage.first == passage.last:
        return f"`{passage.path}`, line {passage.first}"
    return f"`{passage.path}`, lines {passage.first}–{passage.last}"  # noqa: RUF001  # a range


def _fenced(passage: Passage) -> str:
    """Lines that must stay lines, in a code fence that they cannot close."""
    text = passage.text
    if passage.kind == "row":
        text = f"{passage.header}\n{OMITTED}\n{text}" if passage.header else text
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = PurePosixPath(passage.path).suffix.removeprefix(".")
    return f"{fence}{language if language != 'ipynb' else ''}\n{text}\n{fence}"


def section(found: Found) -> str:
    """The answer to one question that has one."""
    parts = []
    quoted = list(found.quotes)
    if clash := disagreement(found):
        one, other, why = clash
        parts.append(f"**These may disagree** ({why}; possible, judged by their words only):")
        parts += [quote(one), quote(other)]
        quoted = [each for each in quoted if each not in (one, other)]
        if quoted:
            parts.append("Also found:")
    parts += [quote(each) for each in quoted]
    have = {term for each in found.quotes for term in [*each.words, *each.context]}
    if lacking := [term for term in found.wanted if term not in have]:
        missing = listing(shown(found.question, lacking))
        parts.append(f"These passages do not mention {missing}: they may answer something else.")
    return "\n\n".join(parts)


def not_found(found: Found, there: Reach) -> str:
    """Say plainly that it is not there, what was looked for, and what comes nearest."""
    looked = listing(shown(found.question, found.wanted))
    files = f" in {_how_many(there)}" if there.files else ""
    text = f"**Not found in your files.** I looked for {looked}{files}"
    if found.nearest and len(found.wanted) > 1:
        text += "; no passage has enough of these words together"
    text += "."
    # Of a word with several terms (low-oxygen) one may occur: then it is not nowhere.
    occur = shown(found.question, [term for term in found.wanted if term not in found.absent])
    nowhere = [word for word in shown(found.question, found.absent) if word not in occur]
    if nowhere and occur:
        text += f" Nowhere in them: {listing(nowhere)}."
    if found.meant:
        text += f" Did you mean {listing(list(found.meant.values()))}?"
    text += not_searched(there)
    if not found.nearest:
        return text
    nearest = "\n\n".join(quote(each) for each in found.nearest)
    return f"{text}\n\nNearest by keyword, which may be about something else:\n\n{nearest}"


def too_long(found: Found) -> str:
    """Say where it stands, when the line cannot be shown."""
    lines = [f"line {hit.line} of `{hit.path}`" for hit in found.too_long]
    words_ = listing(shown(found.question, found.wanted))
    return f"I found {words_} in {' and in '.join(lines)}, but the line is too long to be quoted."


def _how_many(there: Reach) -> str:
    """How many files were searched; where not all are known, a number that is surely reached."""
    return f"{'' if there.complete else 'at least '}{count(len(there.files), 'file')}"


def not_searched(there: Reach) -> str:
    """Which files were not searched, as a sentence to add to others."""
    if not there.others:
        return ""
    names = [f"`{PurePosixPath(path).name}`" for path in there.others[:_MOST_NAMED]]
    names += ["…"] if len(there.others) > _MOST_NAMED else []
    number = count(len(there.others), "file")
    return f" {number} could not be searched, being no text or hidden: {', '.join(names)}."


def notice(*, quoted: bool) -> str:
    """What answered; and how to have another answer, where nobody has chosen this one."""
    what = f"these are {MARK}" if quoted else "I find and quote, I do not write"
    try:
        choice = explain()
    except DeepnbError:  # something is configured, if badly; whoever uses it will be told
        return f"{SIGN}: {what}.*"
    advice = ""
    if choice == Choice("offline", "no model is configured"):
        advice = " For written answers set `DEEPNB_MODEL` or an API key."
    elif choice.spec == "offline" and "not installed" in choice.rule:
        advice = f" {choice.rule}."
    return f"{SIGN}: {what}.{advice}*"


def shown(question: str, wanted: Sequence[str]) -> list[str]:
    """Terms as the question spells them, each spelling once."""
    spelled = {term: word for word in reversed(words(question)) for term in concepts(word)}
    return list(dict.fromkeys(spelled.get(term, term) for term in wanted))


def listing(items: Sequence[str]) -> str:
    """Words in a row: *a*, *b* and *c*."""
    marked = [f"*{item}*" for item in items]
    return " and ".join([", ".join(marked[:-1]), marked[-1]] if len(marked) > 1 else marked)


def count(number: int, noun: str) -> str:
    """1 file, 2 files."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def disagreement(found: Found) -> tuple[Passage, Passage, str] | None:
    """Two quotes of different files that may contradict each other, and why."""
    prose = [each for each in found.quotes if each.kind in ("prose", "html")]
    for one, other in combinations(prose, 2):
        if one.path != other.path and (why := _clash(one, other, set(found.wanted))):
            return one, other, why
    return None


def _clash(one: Passage, other: Passage, wanted: set[str]) -> str:
    mine, theirs = _quantities(one.text), _quantities(other.text)
    settled = {unit for unit in mine if mine[unit] & theirs.get(unit, frozenset())}
    for about_a, a in _statements(one.text):
        for about_b, b in _statements(other.text):
            topic = {term for term in about_a & about_b if not term[0].isdigit()}
            if len(topic) < _SHARED or not topic & wanted:
                continue
            for unit, here, there in _differing(a, b):
                if unit not in settled:
                    return f"{here} {unit} and {there} {unit}"
            negated = bool(NEGATIONS & set(words(a))) != bool(NEGATIONS & set(words(b)))
            if negated and len(topic) >= _SHARED_FOR_NEGATION:
                return "one of them says not"
    return ""


def _statements(text: str) -> list[tuple[set[str], str]]:
    """Each sentence, and what it is about: its own words and those of the sentence before."""
    said = ["", *sentences(text)]
    return [(set(concepts(f"{before} {here}")), here) for before, here in pairwise(said)]


def _differing(a: str, b: str) -> Iterator[tuple[str, str, str]]:
    """Quantities of one unit that the two sentences give differently."""
    mine, theirs = _quantities(a), _quantities(b)
    for unit in sorted(mine.keys() & theirs.keys()):
        if not mine[unit] & theirs[unit]:
            yield unit, min(mine[unit]), min(theirs[unit])


def _quantities(text: str) -> dict[str, frozenset[str]]:
    """The numbers of a text by what they count."""
    found: dict[str, frozenset[str]] = {}
    for match in _QUANTITY.finditer(text):
        unit = match["money"] or match["unit"] or ""
        unit = "%" if unit in ("percent", "per cent") else unit
        if unit:
            found[unit] = found.get(unit, frozenset()) | {match["number"]}
    return found
