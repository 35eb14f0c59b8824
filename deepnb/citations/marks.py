"""A report as a model wrote it, made into one whose marks all lead somewhere.

A mark is `[S1]`. Models write `[S1, S3]`, `[s1]`, `(S1)` and `【S1】` as well, and ids that do not
exist. They also write addresses: only one that was really read stays a link, since a made-up
reference is worse than none. For the same reason a list of references by the model is left out;
the list below a report is made from what was read.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Collection

    from markdown_it.token import Token

MARK = re.compile(r"\[(S\d{1,6})\]")
CODE_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)[^\0]{1,2000}?(?<!`)(?P=ticks)(?!`)"
_ID = re.compile(r"(?i)\bS(\d{1,6})\b")
_IDS = r"\^?\s*(?:sources?:?\s*)?S\d{1,6}"
_PLACE = (
    r"(?:[\s,;&/]|and|pp?\.|pages?|lines?|slides?|rows?|cells?|\u00b6|\u2020\w*|[-\u2013]|S?\d+)*"
)
_PIECE = re.compile(
    rf"""
    (?P<code>{CODE_SPAN})
  | (?P<mark>[ \t]*
      (?:\\?\[+{_IDS}{_PLACE}\\?\]+(?:\([^()\s]{{0,2000}}\))?|\u3010{_IDS}{_PLACE}\u3011))
  | (?P<round>[ \t]*\({_IDS}(?:[\s,;&]|and|S\d+)*\))
  | (?P<link>!?\[(?P<label>[^\[\]\n]{{0,300}})\]\((?P<address>[^()\s<>]{{0,2000}})
      (?:\s+["'][^"'\n]{{0,300}}["'])?\))
  | <?(?P<bare>(?:https?://|www\.)[^\s<>\[\]`"\u201c\u201d|]{{1,2000}})>?
  | (?P<tag><(?=[A-Za-z/!?]))
  | (?P<open>\](?=\())
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DEFINITION = re.compile(r"(?m)^([ \t>]*\[[^\]\n]{1,200}\]):")
_ONLY_MARKERS = re.compile(r"[\s>*+\-_=\d.)]*")
_REFERENCES = re.compile(
    r"(?i)(?:sources|references|bibliography|works cited|citations|literature)\s*:?"
)
_MOST_BRACKETS = 10_000

# Blocks only: what is in a line is found here, by where it stands.
_BLOCKS = MarkdownIt("js-default")
_BLOCKS.core.ruler.disable("inline")


def blocks(text: str) -> list[Token]:
    """The blocks of a Markdown text; what is in them is left as it is written."""
    return _BLOCKS.parse(text)


def tidy(text: str, ids: Collection[str], locations: Collection[str]) -> tuple[str, int]:
    """Give a report whose marks are all `[S1]`, and how many led nowhere and were taken out.

    Args:
        text: Markdown, as a model wrote it.
        ids: Of the sources.
        locations: Of the sources: addresses that may be links.
    """
    lines = _without_references("\n".join(text.replace("\0", "").splitlines())).split("\n")
    kept, removed = list(lines), 0
    covered = set[int]()
    for token in blocks("\n".join(lines)):
        if token.map is None:
            continue
        first, last = token.map
        if token.type in {"fence", "code_block", "hr"}:
            covered.update(range(first, last))
        elif token.type in {"paragraph_open", "heading_open", "table_open"}:
            covered.update(range(first, last))
            piece, unknown = _tidy_piece("\n".join(lines[first:last]), ids, locations)
            kept[first:last] = piece.split("\n")
            removed += unknown
    # What no block covers are definitions of links.
    shown = (
        line for n, line in enumerate(kept) if n in covered or _ONLY_MARKERS.fullmatch(lines[n])
    )
    return "\n".join(shown).strip(), removed


def _tidy_piece(piece: str, ids: Collection[str], locations: Collection[str]) -> tuple[str, int]:
    if piece.count("[") > _MOST_BRACKETS:
        return "", 0
    unknown: list[str] = []
    replaced = _PIECE.sub(partial(_instead, ids, locations, unknown), piece)
    return _DEFINITION.sub(r"\1\\:", replaced), len(unknown)


def _instead(
    ids: Collection[str], locations: Collection[str], unknown: list[str], match: re.Match[str]
) -> str:
    kind = match.lastgroup
    if kind in {"mark", "round"}:
        return _marks(match, ids, unknown)
    if kind == "bare":
        return _address(match["bare"], locations)
    if kind == "link":
        label = _PIECE.sub(partial(_instead, ids, locations, unknown), match["label"])
        if match["address"] in locations and not match[0].startswith("!"):
            return f"[{label}]({match['address']})"
        return f"{label} (`{match['address'].replace('`', '')}`)" if match["address"] else label
    if kind == "tag":
        return "&lt;"
    return "] " if kind == "open" else match[0]


def _marks(match: re.Match[str], ids: Collection[str], unknown: list[str]) -> str:
    written = match[0]
    found = list(dict.fromkeys(f"S{int(number)}" for number in _ID.findall(written)))
    if match["round"] and not all(key in ids for key in found):
        return written  # perhaps it is no mark at all
    known = [key for key in found if key in ids]
    unknown += [key for key in found if key not in ids]
    space = written[: len(written) - len(written.lstrip())]
    return space + "".join(f"[{key}]" for key in known) if known else ""


def _address(written: str, locations: Collection[str]) -> str:
    address = written.rstrip(".,;:!?)'*_")
    if address in locations:
        return written
    return f"`{address}`{written[len(address) :]}"


def _without_references(text: str) -> str:
    """Leave out the last section if it is the model's own list of sources."""
    headings = [
        (first.map[0], second.content)
        for first, second in pairwise(blocks(text))
        if first.type == "heading_open" and first.map
    ]
    if headings and _REFERENCES.fullmatch(headings[-1][1].strip(" *_")):
        return "\n".join(text.split("\n")[: headings[-1][0]])
    return text
