"""What a reply asks: its questions, and its requests to explain something.

A question that is quoted, cited, in code or in brackets is not asked. Neither is one that the
writer answers at once, says again in other words, or offers as a choice of the one before.
"""

from __future__ import annotations

import re

from deepnb.sentences import spans
from deepnb.tutoring.citing import CITATION
from deepnb.tutoring.own_words import blank, without_quotations

_WH = r"(?:what|why|how|who|whom|whose|which|when|where)\b"
_IN_BRACKETS = re.compile(r"\([^()\n]{0,500}\?\s*\)")
_MARK = re.compile(r"[?\uff1f]+")
_SECOND = re.compile(
    rf"(?i)(?:,|\s[-\u2013\u2014])\s*and\s+(?:{_WH}"
    r"|(?:can|could|do|does|did|would|will|should|is|are|was|were)\s(?:you|it|they|we|he|she|"
    r"there)\b)"
)
_LETTERED = re.compile(r"(?:[:?]\s*|\?\s+)\(?[a-z1-9]\)\s")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\(?[\da-z]{1,2}[.)])\s")
_AGAIN = re.compile(
    r"(?i)\W*(?:or\b|in other words|that is\b|that is to say|put differently|i mean\b|i\.e\.|"
    r"for (?:instance|example)\b)"
)
_ANSWERED = re.compile(r"(?i)\W*because\b")
_REQUEST = re.compile(
    r"(?i)\W*(?:(?:and|also|then|now|please|first|next|finally|could you|can you)\b[\s,]*)*"
    r"(?:try this:\s*)?(?:(?:tell me|let me know|explain|define|describe|name|state|give me)\b"
    r"|i(?: would|['\u2019]d) like (?:you to (?:say|explain|define|describe)|to know|to hear)\b"
    rf"|(?:i wonder|i(?: am|['\u2019]m) (?:also )?curious)\s+(?:if|whether|{_WH}))"
)


def asked(reply: str) -> list[tuple[int, int]]:
    """Where each thing that a reply asks begins and ends."""
    own = _IN_BRACKETS.sub(blank, CITATION.sub(blank, without_quotations(reply)))
    found: list[tuple[int, int]] = []
    sentences = spans(own)
    for number, (start, end) in enumerate(sentences):
        sentence = own[start:end]
        if not _MARK.search(sentence):
            found += _parts(own, start, end) if _REQUEST.match(sentence) else []
            continue
        following = own[slice(*sentences[number + 1])] if number + 1 < len(sentences) else ""
        is_choice = bool(found) and _is_choice(own, start, end, found[-1])
        is_same = bool(found) and _AGAIN.match(sentence)
        if not (is_choice or is_same or _ANSWERED.match(following)):
            found += _parts(own, start, end)
    return found


def _parts(own: str, start: int, end: int) -> list[tuple[int, int]]:
    """One question, or those that a sentence joins by "and"."""
    borders = [match.start() for match in _SECOND.finditer(own, start, end)]
    return list(zip([start, *borders], [*borders, end], strict=True))


def _is_choice(own: str, start: int, end: int, before: tuple[int, int]) -> bool:
    """Whether a question is one of those answers that the question before offers."""
    line = own[own.rfind("\n", 0, start) + 1 : end]
    first = own[own.rfind("\n", 0, before[0]) + 1 : before[1]]
    if _LETTERED.search(own, before[0], end):
        return True
    return bool(_ITEM.match(line)) and not _ITEM.match(first)
