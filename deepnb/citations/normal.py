"""A text as it is compared: without its layout, and with every number as it is.

Line ends, hyphenation, the shape of quotation marks and dashes, ligatures and Markdown's emphasis
say nothing: the same sentence has others in a PDF, on a page and in a report. Digits and what
stands between them say everything, so nothing here brings two digits together that were apart:
ten squared stays ten squared, and a half stays a half.

Hyphens inside of words need care. `phos-` at the end of a line may go on as `phosphorus`, and
`well-` as `well-known`; nobody can tell which. So words are compared without hyphens, and for each
letter it is kept whether a hyphen stands before it, or may.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from typing import NamedTuple

from deepnb.keywords import unspaced

NONE, MAYBE, HARD = 0, 1, 2
"""Whether there is a hyphen before a letter: none, one that may only end a line, or one."""

_HYPHENS = "-\u2010\u2011\u2012\u2013\u2212"
_SINGLE = "'\u2018\u2019\u201a\u201b\u00b4"
_DOUBLE = '"\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a'
_LETTER = r"[^\W\d_]"
_PIECE = re.compile(
    rf"""
    (?P<plain>(?:[A-Za-z0-9,;:()/=+]+|\.(?!\s?\.)|(?<![\u20ac$\u00a3])[ ](?=[A-Za-z0-9(]))+)
    # a word that goes on in the next line; pdfium writes U+0002 or U+FFFE for such a hyphen
  | (?P<maybe>(?<={_LETTER})(?:[-\u2010\u00ad]\s+|[{_HYPHENS}]\s*\n\s*|[\x02\ufffe\u00ad]\s*)
      (?={_LETTER}))
  | (?P<hard>(?<={_LETTER})[{_HYPHENS}](?={_LETTER}))
  | (?P<numbers>(?<=\w)[{_HYPHENS}\x02\ufffe]\s*\n\s*(?=\w))
  | (?P<dash>\s+(?:[{_HYPHENS}\u2014\u2015]|--+)\s+|\s*(?:[\u2014\u2015]|--+)\s*)
  | (?P<minus>[{_HYPHENS}])
  | (?P<unseen>[\u00ad\u200b-\u200d\u2060\ufeff\x02\ufffe]+)
  | (?P<more>\u2026|\.\s?\.\s?\.)
  | (?P<double>''|``|(?<![\w.,!?])[\u00ab\u2039]\s+|\s+[\u00bb\u203a](?!\w)|[{_DOUBLE}])
  | (?P<space>(?:\A|\s*\n)[ \t]*(?:>(?![ \t]*[\d=])[ \t]*)+|\s+)
  | (?P<apostrophe>(?<=\w)[{_SINGLE}](?=\w)|(?<=\d)[{_SINGLE}])
  | (?P<single>[{_SINGLE}])
  | (?P<mark>\\(?=[^\w\s])|`|(?<![^\W_])[*_]+(?=\S)|(?<=\S)[*_]+(?![^\W_]))
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_INSTEAD = {"numbers": "-", "dash": " - ", "minus": "-", "more": "\u2026", "double": '"'}
_INSTEAD |= {"single": '"', "apostrophe": "'", "unseen": "", "mark": ""}
_DROPPED_SPACE = re.compile(r"\d[%\u2030\u00b0]|[\u20ac$\u00a3]\d")
# Kinds of compatibility that only say how a character is drawn; superscripts and fractions are
# not among them.
_DRAWN = ("<compat>", "<wide>", "<narrow>", "<font>", "<noBreak>")


class Normal(NamedTuple):
    """A text as it is compared.

    Attributes:
        text: The text.
        starts: Of each of its characters, where what it stands for begins in the original.
        ends: And where that ends.
        hyphens: And whether there is a hyphen before it: `NONE`, `MAYBE` or `HARD`.
    """

    text: str
    starts: array[int]
    ends: array[int]
    hyphens: bytearray


def normal(original: str) -> Normal:
    """Give a text as it is compared, in a time that grows with its length."""
    parts: list[str] = []
    made = Normal("", array("L"), array("L"), bytearray())
    hyphen = NONE
    for match in _PIECE.finditer(original):
        kind, start, end = match.lastgroup or "", match.start(), match.end()
        if kind in {"maybe", "hard"}:
            hyphen = MAYBE if kind == "maybe" else HARD
            continue
        if kind == "plain":
            piece = match[0]
            made.starts.extend(range(start, end))
            made.ends.extend(range(start + 1, end + 1))
        else:
            piece = _piece(kind, match, original)
            made.starts.extend([start] * len(piece))
            made.ends.extend([end] * len(piece))
        if piece:
            made.hyphens.append(hyphen)
            made.hyphens.extend(bytes(len(piece) - 1))
            parts.append(piece)
            hyphen = NONE
    return _composed(made._replace(text="".join(parts)))


def _piece(kind: str, match: re.Match[str], original: str) -> str:
    if kind == "other":
        return _drawn(match[0])
    if kind != "space":
        return _INSTEAD[kind]
    around = original[match.start() - 1 : match.start()] + original[match.end() : match.end() + 1]
    if _DROPPED_SPACE.fullmatch(around):
        return ""  # 38 % and 38%
    is_inside = len(around) > 1 and unspaced(around[0]) and unspaced(around[1])
    return "" if is_inside else " "


def _drawn(character: str) -> str:
    if character.isascii():
        return character
    kind, _, codes = unicodedata.decomposition(character).partition(" ")
    if kind not in _DRAWN or (character.isnumeric() and not character.isdecimal()):
        return character
    return "".join(chr(int(code, 16)) for code in codes.split())


def _composed(made: Normal) -> Normal:
    """Put accents that stand behind their letter onto it."""
    if unicodedata.is_normalized("NFC", made.text):
        return made
    parts: list[str] = []
    whole = Normal("", array("L"), array("L"), bytearray())
    for match in _CLUSTER.finditer(made.text):
        piece = unicodedata.normalize("NFC", match[0])
        first, last = match.start(), match.end() - 1
        parts.append(piece)
        whole.starts.extend([made.starts[first]] * len(piece))
        whole.ends.extend([made.ends[last]] * len(piece))
        whole.hyphens.append(made.hyphens[first])
        whole.hyphens.extend(bytes(len(piece) - 1))
    return whole._replace(text="".join(parts))


# The blocks that hold nothing but marks which combine with the character before them.
_CLUSTER = re.compile(
    r"(?s).[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]*"
)
