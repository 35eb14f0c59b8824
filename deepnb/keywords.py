"""Which words a text is about, and which passages a question is about.

Plain keyword ranking (BM25) with nothing but the standard library: what deepnb falls back on
when there is neither a language model nor an embedding model, and what it mixes with vectors
when there is. Every function is linear in its input, whatever that input is.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# A word, with the joints that belong to it: 2.5, 1,200, well-known, don't, total_p.
# (\u2019 is the curly apostrophe, \u2010 and \u2011 are the typographic hyphens.)
_WORD = re.compile(r"[^\W_]+(?:[.'\u2019_\-\u2010\u2011][^\W_]+|(?<=\d),\d{3}(?!\d))*")
_JOINT = re.compile(r"['\u2019_\-\u2010\u2011]|\.(?!\d)|(?<!\d)\.")
_POSSESSIVE = re.compile(r"['\u2019]s$")
# Scripts that put no space between words: Thai to Burmese, Khmer, kana, Han.
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003134f]+)"
)
_LONGEST_WORD = 64

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don down during
    each else ever every few for from further get gets give got had hadn has hasn have haven having
    he her here hers herself him himself his how i if in into is isn it its itself just let ll me
    more most much must my myself no nor not of off on once only or other our ours ourselves out
    over own per please re same shall she should shouldn so some such than that the their theirs
    them themselves then there these they this those through to too under until up upon us use used
    using ve very was wasn we were weren what when where whether which while who whom whose why
    will with within without won would wouldn yet you your yours yourself yourselves
    """.split()  # noqa: SIM905  # a line of words is easier to read
)

_DOUBLED = re.compile(r"([bdfglmnprst])\1$")
_VOWEL = re.compile(r"[aeiouy]")
_KEEPS_S = ("ss", "us", "is")
# An ending goes only when what stays is at least this long.
_ENDINGS = {"ingly": 3, "edly": 3, "ment": 5, "tion": 4, "ing": 3, "ed": 3, "ly": 5}
_SHORT = 4


def terms(text: str) -> list[str]:
    """The words of a text that carry meaning, stemmed, in order, repeats kept.

    A hyphenated word counts as itself and as its parts, so that `low-oxygen` and `low oxygen`
    find each other; a number keeps its decimals. Where a script has no spaces, every two
    neighbouring characters count as a word, so that a text is found by any piece of it.
    """
    return [term for word in words(text) for term in word_terms(word)]


@lru_cache(maxsize=1 << 15)  # most words of a text have been seen before
def word_terms(written: str) -> tuple[str, ...]:
    """The terms of one word, as `words` gives it."""
    word = _POSSESSIVE.sub("", written)
    parts = [part for part in _JOINT.split(word) if _means_something(part)]
    # "what's" and "don't" are made of nothing that means something, and so mean nothing.
    found = [word, *parts] if parts and parts != [word] else parts
    return tuple(stem(term) for each in found for term in _pairs(each))


def _means_something(word: str) -> bool:
    is_letter = len(word) == 1 and word.isascii() and word.isalpha()
    return bool(word) and word not in STOP_WORDS and not is_letter


def _pairs(word: str) -> list[str]:
    """The word, or, for characters that stand without spaces, each two of them."""
    if not unspaced(word):
        return [word]
    found: list[str] = []
    for run in filter(None, _UNSPACED.split(word)):
        alone = len(run) == 1 or not unspaced(run)
        found += [run[:_LONGEST_WORD]] if alone else [a + b for a, b in pairwise(run)]
    return found


def unspaced(word: str) -> bool:
    """Whether a word has characters of a script that puts no space between words."""
    return _UNSPACED.search(word) is not None


def words(text: str) -> list[str]:
    """Every word of a text as written, but normalised (NFKC) and without case."""
    is_plain = text.isascii()  # as most texts are; then there is nothing to normalise
    normal = text.lower() if is_plain else unicodedata.normalize("NFKC", text).casefold()
    found = _WORD.findall(normal)
    if max(map(len, found), default=0) <= _LONGEST_WORD:
        return found
    if is_plain or not unspaced(normal):
        return [word[:_LONGEST_WORD] for word in found]
    return [word if unspaced(word) else word[:_LONGEST_WORD] for word in found]


def stem(word: str) -> str:
    """A conservative stem of an English word: plurals, -ing, -ed, -ly, -ment, -tion.

    It prefers leaving a word alone to merging two that differ, and touches no word with a
    digit, a joint or a letter outside a to z. Stems compare; they are not meant to be read.
    """
    if len(word) < _SHORT or not (word.isascii() and word.isalpha()):
        return word
    word = _without_ending(_singular(word))
    if len(word) > _SHORT and word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    if len(word) >= _SHORT and word.endswith("e"):
        return word[:-1]
    return word[:-1] if len(word) >= _SHORT and _DOUBLED.search(word) else word


def _without_ending(word: str) -> str:
    if word.endswith("eed"):  # speed, exceed: there the ending is part of the word
        return word
    for ending, least in _ENDINGS.items():
        base = word.removesuffix(ending)
        if base != word and len(base) >= least and _VOWEL.search(base):
            return base + "t" if ending == "tion" else base
    return word


def _singular(word: str) -> str:
    if len(word) > _SHORT and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(_KEEPS_S):
        return word[:-1]
    return word


def idf(documents: Sequence[Sequence[str]]) -> dict[str, float]:
    """How rare each term is: the weight BM25 gives it, always above zero."""
    spread = Counter(term for document in documents for term in set(document))
    total = len(documents)
    return {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in spread.items()
    }


def coverage(query: Collection[str], document: Collection[str], weight: dict[str, float]) -> float:
    """Which share of the query's weight occurs in the document, from 0 to 1.

    A term with no weight of its own occurs nowhere: it counts as the rarest of all.
    """
    wanted = set(query)
    rarest = max(weight.values(), default=1.0)
    total = sum(weight.get(term, rarest) for term in wanted)
    found = sum(weight.get(term, rarest) for term in wanted.intersection(document))
    return found / total if total else 0.0


def rank(query: str, passages: Sequence[str]) -> list[tuple[int, float]]:
    """The passages that share a term with the query, best first, as (index, score)."""
    return bm25(terms(query), [terms(passage) for passage in passages])


def bm25(
    query: Sequence[str], documents: Sequence[Sequence[str]], *, k1: float = 1.2, b: float = 0.75
) -> list[tuple[int, float]]:
    """Like `rank`, for texts that are terms already."""
    wanted = set(query)
    weight = idf(documents)
    average = sum(map(len, documents)) / len(documents) if documents else 0.0
    scores = []
    for index, document in enumerate(documents):
        counts = Counter(term for term in document if term in wanted)
        if counts:
            length = k1 * (1 - b + b * len(document) / average)
            score = sum(weight[t] * n * (k1 + 1) / (n + length) for t, n in counts.items())
            scores.append((index, score))
    return sorted(scores, key=lambda scored: (-scored[1], scored[0]))
