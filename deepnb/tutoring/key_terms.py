"""The terms that an argument leans on, and whether it says what they mean.

A key term is one that the thesis or a clause marks (bold, italics, quotation marks), two words of
the thesis that come again together, or an abstract noun of the thesis that comes again. That is a
rule about words: "wild meadows" is a key term to it, and a term that is never repeated is none.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from deepnb.citations.negation import NOT
from deepnb.keywords import STOP_WORDS, stem, words
from deepnb.sentences import sentences
from deepnb.tutoring.citing import CITATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_TERMS = 20
_LONGEST = 4_000  # characters of a thesis
_MOST_MARKED_WORDS = 3
_FIRST_WORDS = 8  # of a definition: there it says what it defines
_MARKED = re.compile(
    r"(?<![\w*])(\*{1,2})(?=\S)([^*\n]{2,60}?)\1(?![\w*])|"
    r"(?<![\w_])(_{1,2})(?=\S)([^_\n]{2,60}?)\3(?!\w)"
    r"|[\"\u201c](?=\S)([^\"\u201c\u201d\n]{2,40})[\"\u201d]"
)
_ABSTRACT = re.compile(
    r"(?!city|party|county|country|nation|station|question)[a-z]{2,}"
    r"(?:ty|[ts]ion|ism|ness|cy|omy|dom|ship|hood)"
    r"|welfare|culture|progress|wealth|virtue|merit|goods?|luck"
    r"|justice|truth|power|values?|harm|consent|trust|sacrifice|rights?|dignity|intelligence|"
    r"violence"
)
# Two nouns are mostly the name of a thing that all know: street trees. A quality may be a matter of
# dispute: fair trade.
_QUALITY = re.compile(
    r"[a-z]+(?:al|ic|ive|ous|ary|ed|ible|able|ful|ent|ant|ern|ian|ory|ized|ised)"
    r"|sound|free|open|common|fair|just|hard|human|true|real|equal|good|high|low|soft|deep|"
    r"strong|direct"
)
_ARTICLE = r"(?:an?|the|one['\u2019]s)\s+"
_NO_NOUN = (
    rf"(?:{NOT}|more|less|very|too|so|only|also|always|often|\w+(?:ed|ing|ful|ous|able|ive))\b"
)
_IS = rf"(?:is|are)\s+(?!{_NO_NOUN})\w"
_BEHIND = re.compile(
    rf"(?i)[*_\"\u201d]*(?:\s*,[^,.;]{{0,40}},)?\s*"
    rf"(?:{_IS}|(?:is|are) nothing (?:but|other)\b|(?:is|occurs|exists) (?:when|where|if)\b"
    r"|(?:here |in what follows |would |shall |will )?means?\b|refers? to\b|denotes?\b"
    r"|stands? for\b|consists? (?:of|in)\b|here is\b)"
    r"|[*_\"\u201d]*\s*(?::|\s[\u2013\u2014-]\s)"
)
_APPOSITION = re.compile(
    r"(?i)[*_\"\u201d]*\s*(?:,\s*(?:that is|i\.e\.|meaning|in other words)|\(|\s[\u2013\u2014]\s)"
)
_BEFORE = re.compile(
    rf"(?i)(?:\bby\s+(?:{_ARTICLE})?|\bcall(?:ed|s)?\s+(?:it |this |that )?(?:{_ARTICLE})?"
    rf"|\b(?:when|where) (?:i|we) (?:say|speak of|write)\s+(?:{_ARTICLE})?|"
    rf"\bdefine\s+(?:{_ARTICLE})?)[*_\"\u201c]*\Z"
)
_TO_DO_IT = re.compile(r"(?i)\bto \w+\s+\Z"), re.compile(r"(?i)\s+(?:is|means) to\b")
_DEFINITION = re.compile(
    r"(?i)(?:by\s+[^,.;]{2,60}\s(?:i|we)\s+mean\b|when (?:i|we) (?:say|speak of)\b"
    r"|(?:an?\s|the\s)?[^,.;:]{2,60}\s(?:means|refers to|denotes|is defined as|stands for)\s)"
)
_WORD = re.compile(r"[^\W_]+(?:['\u2019\u2010\u2011-][^\W_]+)*")


def is_definition(text: str) -> bool:
    """Whether a paragraph begins as definitions do."""
    return _DEFINITION.match(text.lstrip('*_"\u201c ')) is not None


def key_terms(thesis: str, others: Sequence[str]) -> list[str]:
    """The terms that an argument leans on, as they are written there.

    Args:
        thesis: What is claimed.
        others: The clauses, one by one.
    """
    marked = [term for text in [thesis, *others] for term in _marked(text)]
    rest = {key for text in others for key in _runs(CITATION.sub(" ", text))}
    # A noun alone comes again as a noun: who speaks of deletion has not said it with "deleted".
    again = [
        term
        for term in _phrases(thesis[:_LONGEST])
        if (_key(term) if " " in term else (term.removesuffix("s"),)) in rest
    ]
    found: dict[tuple[str, ...], str] = {}
    for term in [*marked, *again]:
        key = _key(term)
        if key and len(found) < _MOST_TERMS and not any(set(key) <= set(k) for k in found):
            found[key] = term
    return list(found.values())


def is_defined(term: str, definitions: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a text says what a term means.

    Args:
        term: The term.
        definitions: Paragraphs that say they are definitions.
        others: The clauses, where a sentence may define in passing.
    """
    key = set(_key(term))
    if any(key <= {stem(w) for w in words(text)[:_FIRST_WORDS]} for text in definitions):
        return True
    return any(_defines(sentence, term) for text in others for sentence in sentences(text))


def _defines(sentence: str, term: str) -> bool:
    key = list(_key(term))
    found = [(match.span(), stem(match[0].lower())) for match in _WORD.finditer(sentence)]
    for n in range(len(found) - len(key) + 1):
        if [stemmed for _, stemmed in found[n : n + len(key)]] != key:
            continue
        before = sentence[max(0, found[n][0][0] - 60) : found[n][0][0]]
        behind = sentence[found[n + len(key) - 1][0][1] :][:120]
        if (
            _BEFORE.search(before)
            or _APPOSITION.match(behind)
            or (_is_subject(before) and _BEHIND.match(behind))
        ):
            return True
        if _TO_DO_IT[0].search(before) and _TO_DO_IT[1].match(behind):
            return True
    return False


def _is_subject(before: str) -> bool:
    """Whether a term that stands behind these words is what the sentence is about."""
    return re.fullmatch(rf"(?i)\W*(?:{_ARTICLE})?\W*", before) is not None


def _marked(text: str) -> Iterator[str]:
    for match in _MARKED.finditer(text):
        term = next(filter(None, (match[2], match[4], match[5]))).strip(" .,;:")
        said = words(term)
        is_name = term[:1].isupper() and match[5] is None and match.start() > 0
        if 0 < len(said) <= _MOST_MARKED_WORDS and not is_name and not set(said) <= STOP_WORDS:
            yield term.lower() if match.start() == 0 or match[5] else term


def _phrases(thesis: str) -> Iterator[str]:
    """Two words that mean something, side by side, and abstract nouns."""
    for sentence in sentences(CITATION.sub(" ", thesis)):
        found = [match[0].lower() for match in _WORD.finditer(sentence)]
        for one, other in pairwise(found):
            is_verb = one.endswith("s") and not one.endswith(("ss", "us", "is"))
            is_term = _QUALITY.fullmatch(one) or _ABSTRACT.fullmatch(other)
            are_words = is_term and not is_verb and not {one, other} & STOP_WORDS
            if are_words and f"{one} {other}" in sentence.lower():
                yield f"{one} {other}"
        yield from (word for word in found if _ABSTRACT.fullmatch(word))


def _key(term: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words(term))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Every two words of a text that stand side by side, and every noun alone."""
    said = words(text)
    yield from pairwise(stem(word) for word in said)
    yield from ((word.removesuffix("s"),) for word in said)
