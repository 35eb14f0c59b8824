"""What a tutor's reply, or a document, breaks of the rules of a seminar.

Each rule is a function of texts that gives findings. They are rules: what they find is words and
signs, and docs/tutoring.md says how often each is right.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from deepnb.citations.numbers import NUMBER_WORD, SPELLED, numbers
from deepnb.citations.quotes import Texts, is_evidence
from deepnb.keywords import words
from deepnb.tutoring import told
from deepnb.tutoring.asked import asked
from deepnb.tutoring.citing import CITATION, cited, resolve, same_title
from deepnb.tutoring.claims import why_straw_man, why_vague
from deepnb.tutoring.document import Row
from deepnb.tutoring.english import is_foreign
from deepnb.tutoring.key_terms import is_defined, key_terms
from deepnb.tutoring.own_words import NAME, blank, quotations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deepnb.tutoring.document import Argument
    from deepnb.tutoring.told import Dialogue

Rule = Literal[
    "one question",
    "given away",
    "undefined term",
    "citation",
    "new evidence",
    "vague thesis",
    "straw man",
]

_SHOWN = 5
_LABEL = re.compile(
    r"(?i)\b(?:clauses?|reasons?|points?|premises?|steps?|objections?|arguments?|sections?)"
    r"\s+\d+(?:\s*(?:,|and|to|-)\s*\d+)*|(?<![\w.,])1(?=\s+[a-z])"
)
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = SPELLED | {
    **{word: n for n, word in enumerate(_TEENS.split(), 13)},
    **{word: 10 * n for n, word in enumerate(_TENS.split(), 2)},
}
_SPELLED = re.compile(
    rf"(?i)\b(?P<word>{NUMBER_WORD})[\s-]"
    r"(?:percent|per cent|hundred|thousand|million|billion|times|kilo\w*|tons?|met(?:re|er)s?|"
    r"miles?|years?|months?|days|hours?|degrees?|euros?|dollars?|cents?)\b"
    r"|\b(?P<share>half|(?:a|one|two|three) (?:third|quarter|fifth|tenth)s?) of (?:all|the|those)\b"
    r"|\ba (?P<dozen>dozen)\b"
)
_SOURCE = re.compile(
    r"""(?x)
    \b(?P<source>(?i:stud(?:y|ies)|surveys?|experiments?|research|researchers|\w*scientists|
      historians|data|census|polls?|trials?|statistics|letters|records|reports?|articles?|
      forecasts?))\b
      (?:\s(?!(?i:may|might|could|would|will|should|not)\b)[\w,'\u2019]+){0,6}?
      \s(?i:shows?|showed|shown|found|finds?|proves?|proved|suggests?|says?|reports?|reported|
      confirms?)\b
  | \b(?i:according\ to)\s(?!(?i:the\ )?(?i:\w+\ )?(?i:clause|thesis|objection|critics?|
      definition|refutation|opponent))
  | \b(?i:as)\s(?P<name>[A-Z]\w+)(?:\s(?:and\s)?[A-Z]\w+)*\s(?i:wrote|writes|said|says|put|puts|
      noted|argued|warned)\b
  | \b(?P<author>[A-Z]\w+)\s(?:wrote|warned|said|noted|argued)\sthat\b
  | \bI\s(?:(?:have|had|once|myself)\s)?(?:interviewed|asked|counted|measured|saw|seen|watched|
      tested)\b
  | \b(?i:my)\sown\s(?:students|data|experience)\b
    """
)


class Finding(NamedTuple):
    """Something that breaks a rule.

    Attributes:
        rule: Which one.
        text: The words.
        start: Where they begin in the reply, or in the text of the row.
        end: Where they end there.
        why: What is wrong with them.
        line: Where the row begins in its document; 0 for a reply.
    """

    rule: Rule
    text: str
    start: int
    end: int
    why: str
    line: int = 0


def one_question(reply: str) -> list[Finding]:
    """Find what a reply asks besides its first question."""
    why = "A tutor asks one thing at a time."
    return [
        Finding("one question", reply[start:end].strip(), start, end, why)
        for start, end in asked(reply)[1:]
    ]


def given_away(reply: str, dialogue: Dialogue) -> list[Finding]:
    """Find what the person was to find themselves, and had not asked to be told."""
    return [
        Finding("given away", reply[start:end], start, end, why)
        for start, end, why in told.given_away(reply, dialogue)
    ]


def citations(text: str, titles: Sequence[str], line: int = 0) -> list[Finding]:
    """Find citations that lead to no file, or to several."""
    found = []
    for each in cited(text):
        files = resolve(each.title, titles)
        if len(files) == 1:
            continue
        several = f"Several files have this title: {', '.join(files[:_SHOWN])}."
        why = several if files else "No file has this title."
        found.append(Finding("citation", each.title, each.start, each.end, why, line))
    return found


def document_citations(argument: Argument, titles: Sequence[str]) -> list[Finding]:
    """The same for each row of a document."""
    return [found for row in argument.rows for found in citations(row.text, titles, row.line)]


def undefined_terms(argument: Argument) -> list[Finding]:
    """Find terms that an argument leans on and never says the meaning of."""
    clauses = argument.of("clause")
    definitions = [row.text for row in argument.of("definition")]
    texts = [row.text for row in clauses]
    found: list[Finding] = []
    if is_foreign(argument.text("thesis", "clause")):
        return found
    for term in key_terms(argument.text("thesis"), texts):
        if not is_defined(term, definitions, texts):
            row, start = _first(term, [*argument.of("thesis"), *clauses])
            why = "The argument leans on this term and never says what it means."
            found.append(Finding("undefined term", term, start, start + len(term), why, row.line))
    return found


def new_evidence(argument: Argument) -> list[Finding]:
    """Find what a reply brings that nothing before it has: sources, numbers, quotations."""
    before = [row.text for row in argument.rows if row.kind not in ("reply", "conclusion")]
    return [found for row in argument.of("reply") for found in _new(row, before)]


def has_evidence(text: str) -> bool:
    """Whether a text has something to show: a file, a number, a quotation, a source, a name."""
    return is_foreign(text) or any(_new(Row("evidence", text), []))


def vague_thesis(argument: Argument) -> list[Finding]:
    """Find a thesis that is no claim."""
    return [
        Finding("vague thesis", row.text, 0, len(row.text), why, row.line)
        for row in argument.of("thesis")[:1]
        if (why := why_vague(row.text))
    ]


def straw_man(argument: Argument) -> list[Finding]:
    """Find a refutation that is easier to meet than a real one, all of it taken together."""
    rows = argument.of("refutation")
    side = argument.text("thesis", "clause", "evidence")
    why = why_straw_man(side, argument.text("refutation"))
    if not rows or not why:
        return []
    return [Finding("straw man", rows[0].text, 0, len(rows[0].text), why, rows[0].line)]


def _first(term: str, rows: Sequence[Row]) -> tuple[Row, int]:
    """Where a term stands first; key terms are taken from these rows."""
    places = ((row, row.text.lower().find(term.lower())) for row in rows)
    return next(((row, start) for row, start in places if start >= 0), (rows[0], 0))


def _new(row: Row, before: Sequence[str]) -> Iterator[Finding]:
    known = {same_title(each.title) for text in before for each in cited(text)}
    all_before = "\n".join(before)
    words_before = set(words(all_before))

    def finding(start: int, end: int, why: str) -> Finding:
        return Finding("new evidence", row.text[start:end], start, end, why, row.line)

    for each in cited(row.text):
        if same_title(each.title) not in known:
            yield finding(each.start, each.end, "No clause cites this file.")
    texts = Texts(before)
    for start, end, said in quotations(row.text):
        if is_evidence(said) and texts.locate(said) is None:
            yield finding(start, end, "No clause has this quotation.")
    yield from (
        finding(*span, "No clause has this number.") for span in _numbers(row.text, all_before)
    )
    for match in _SOURCE.finditer(row.text):
        named = match["source"] or match["name"] or match["author"]
        if named is None or named.lower() not in words_before:
            yield finding(*match.span(), "It calls on a source that no clause has.")
    bare = CITATION.sub(blank, row.text)
    for match in () if is_foreign(bare) else NAME.finditer(bare):  # German nouns are no names
        if match[0].lower() not in words_before:
            yield finding(*match.span(), "It names what no clause names.")


def _numbers(text: str, before: str) -> Iterator[tuple[int, int]]:
    """Where a text has numbers that the text before has not, in digits or in words."""
    in_words = {str(_VALUES[word]) for word in words(before) if word in _VALUES}
    have = numbers(before) | in_words
    for match in re.finditer(r"(?<![\w.])\d+(?:[.,'\u2019]\d+)*", _LABEL.sub(blank, text)):
        if not numbers(match[0]) <= have:
            yield match.span()
    for match in _SPELLED.finditer(text):
        word = match[match.lastgroup or 0].lower()
        value = str(_VALUES.get(word, word))
        if value not in have and word not in before.lower():
            yield match.span()
