"""A report as a model wrote it, made into one whose marks all lead somewhere.

A mark is `[S1]`. Models write `[S1, S3]`, `[s1]`, `[**S1**]`, `(S1)`, `【S1】` and `&#91;S1]` as
well, and ids that do not exist: whatever looks like a mark to a reader is one, or is gone. They
also write addresses: only one that was really read stays a link, since a made-up reference is worse
than none. For the same reason a list of references by the model is left out; the list below a
report is made from what was read.

What is in code stays as it is, unless whole lines of it cite something. A backtick that neither
begins nor ends code gets a backslash, so that whoever reads the report afterwards, in whatever
pieces, finds the same code in it.
"""

from __future__ import annotations

import re
from functools import partial
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from markdown_it.token import Token

MARK = re.compile(r"\[(S\d{1,6})\]")
# Code, or backticks that are none: from left to right, as a parser reads them.
CODE_SPAN = r"\\[\\`]|(?P<ticks>`++)(?:(?:[^`]++|(?!(?P=ticks)(?!`))`++)*+(?P=ticks)|(?P<lone>))"
_ID = re.compile(r"(?i)(?<![^\W_])S[*_]*(\d{1,6})(?!\d)")
# Nothing here is read twice in another way: a hostile text would take for ever.
_SPACE = r"(?<![ \t])[ \t]*+"
_IDS = r"\^?[\s*_]*+(?:(?:sources?|see|cf\.?):?[\s*_]*+)?S[*_]*+\d{1,6}"
_PLACE = (
    r"(?:[\s,;:&/()*_\u00a7\u00b6\u2013-]|and|pp?\.|pages?|lines?|slides?|rows?|cells?|\u2020\w*|S?\d+)*+"
    r"(?:(?<=[,;:(]\s)[^\[\]\n]{0,80})?+"  # whatever else it says of the place
)
_RANGE = re.compile(r"(?i)S(\d{1,6})\s*[-\u2013]\s*S(\d{1,6})")
_LONGEST_RANGE = 20
_PIECE = re.compile(
    rf"""
    (?P<code>{CODE_SPAN})
  | (?P<mark>{_SPACE}
      (?:\\?(?<!\[)\[++{_IDS}{_PLACE}\\?\]+(?:\([^()\s]{{0,2000}}\))?|\u3010{_IDS}{_PLACE}\u3011))
  | (?P<round>{_SPACE}\({_IDS}(?:[\s,;&]|and|S\d+)*+\))
  | (?P<link>!?\[(?P<label>[^\[\]\n]{{0,300}})\]\((?P<address>[^()\s<>]{{0,2000}})
      (?:\s+["'][^"'\n]{{0,300}}["'])?\))
  | <?(?P<bare>(?:https?://|www\.)[^\s<>\[\]`"\u201c\u201d|]{{1,2000}})>?
  | (?P<tag><(?=[A-Za-z/!?]))
  | (?P<open>\](?=\())
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What is shown as something else than it is written, or not at all.
_WRITTEN = re.compile(
    rf"(?P<code>{CODE_SPAN})|\\.|(?P<entity>&(?:\#\d{{1,7}}|\#x[0-9a-f]{{1,6}}|[a-z]\w{{1,30}});)"
    r"|(?P<wide>[\uff3b\uff3d])|(?P<unseen>[\u00ad\u200b\u2060\ufeff]|[\u200c\u200d](?=[\]sS\d]))",
    re.IGNORECASE,
)
_OF_A_MARK = re.compile(r"[^\W_]|[\[\]()\u3010\u3011\uff3b\uff3d\u00a0^,]")
_WIDE = str.maketrans("\uff3b\uff3d", "[]")
_DEFINITION = re.compile(r"(?m)^([ \t>]*\[[^\]\n]{1,200}\]):")
_ONLY_MARKERS = re.compile(r"[\s>*+\-_=\d.)]*")
_REFERENCES = re.compile(
    r"(?i)(?:sources|references|bibliography|works cited|citations|literature)\s*:?"
)
_CELLS = re.compile(r"((?<!\\)\||\n)")
_CELL_END = re.compile(r"(?<!\\)\|")
# Where something has gone, no backtick meets another one or a backslash, and no mark is a link.
_MEETING = re.compile(r"(?<=[`\\])\0+(?=[`\\])|(?<=\])\0+(?=\()")

_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})[^`\n]*")
_ID_IN_CODE = re.compile(r"(?i)\[[^\]\n]{0,40}\bS\d{1,6}\b")
_MOST_WRAPPERS = 8  # one in another

# Blocks only: what is in a line is found here, by where it stands.
_BLOCKS = MarkdownIt("js-default")
_BLOCKS.core.ruler.disable("inline")


def blocks(text: str) -> list[Token]:
    """The blocks of a Markdown text; what is in them is left as it is written."""
    return _BLOCKS.parse(text)


def _unwrapped(text: str) -> str:
    """Make prose of blocks of code that cite: what they claim would be looked up by nobody."""
    for _ in range(_MOST_WRAPPERS):
        lines, is_same = text.split("\n"), True
        for token in blocks(text):
            is_code = token.type in {"fence", "code_block"} and token.map is not None
            if is_code and _ID_IN_CODE.search(token.content):
                first, last = token.map or (0, 0)
                inside = [line.strip() for line in lines[first:last]]
                lines[first:last] = ["" if _FENCE.fullmatch(line) else line for line in inside]
                is_same = False
        if is_same:
            break
        text = "\n".join(lines)
    return text


def tidy(text: str, ids: Collection[str], locations: Collection[str]) -> tuple[str, int]:
    """Give a report whose marks are all `[S1]`, and how many led nowhere and were taken out.

    Args:
        text: Markdown, as a model wrote it.
        ids: Of the sources.
        locations: Of the sources: addresses that may be links.
    """
    text = _unwrapped("\n".join(text.replace("\0", "").strip().splitlines()))
    lines = _without_references(text).split("\n")
    kept: list[str | None] = [*lines]
    removed = 0
    covered = set[int]()
    for token in blocks("\n".join(lines)):
        if token.map is None:
            continue
        first, last = token.map
        if token.type in {"fence", "code_block", "hr"}:
            covered.update(range(first, last))
        elif token.type in {"paragraph_open", "heading_open", "table_open"}:
            covered.update(range(first, last))
            pieces = ["\n".join(lines[first:last])]
            if token.type == "table_open":
                # Nothing goes from one cell of a table into another, and no code either.
                pieces = _CELLS.split("\n".join(_without_surplus(lines[first:last])))
            tidied = [_tidy_piece(each, ids, locations) for each in pieces]
            whole = "".join(each for each, _ in tidied)
            kept[first:last] = [whole, *[None] * (last - first - 1)]
            removed += sum(unknown for _, unknown in tidied)
    # What no block covers are definitions of links.
    shown = (
        line
        for n, line in enumerate(kept)
        if line is not None and (n in covered or _ONLY_MARKERS.fullmatch(lines[n]))
    )
    return "\n".join(shown).strip("\n"), removed  # no spaces: before code they mean something


def _tidy_piece(piece: str, ids: Collection[str], locations: Collection[str]) -> tuple[str, int]:
    unknown: list[str] = []
    shown = _WRITTEN.sub(_as_shown, piece)
    replaced = _PIECE.sub(partial(_instead, ids, locations, unknown), shown)
    apart = _MEETING.sub(" ", replaced).replace("\0", "")
    return _DEFINITION.sub(r"\1\\:", apart), len(unknown)


def _without_surplus(rows: list[str]) -> Iterator[str]:
    """The rows of a table without cells that no column is there for: nobody shows them."""
    columns = len(re.findall("-+", rows[1]))
    for row in rows:
        cells = _CELL_END.split(row)
        most = columns + (_ONLY_MARKERS.fullmatch(cells[0]) is not None)
        yield "|".join([*cells[:most], ""]) if any(map(str.strip, cells[most:])) else row


def _as_shown(match: re.Match[str]) -> str:
    """What a reader sees, if it could be of a mark; else as it is written."""
    if match.lastgroup == "entity":
        shown = unescape(match[0])
        return shown.translate(_WIDE) if _OF_A_MARK.fullmatch(shown) else match[0]
    if match.lastgroup == "wide":
        return match[0].translate(_WIDE)
    return "" if match.lastgroup == "unseen" else match[0]


def _instead(
    ids: Collection[str], locations: Collection[str], unknown: list[str], match: re.Match[str]
) -> str:
    kind = match.lastgroup
    if kind == "code":
        return match[0] if match["lone"] is None else match[0].replace("`", "\\`")
    if kind == "tag":
        return "&lt;"
    if kind == "open":
        return "] "
    if kind == "link":
        label = _PIECE.sub(partial(_instead, ids, locations, unknown), match["label"])
        made = _link(label, match, locations)
    elif kind == "bare":
        made = _address(match["bare"], locations)
    else:
        made = _marks(match, ids, unknown)
    return f"\0{made}\0"


def _link(label: str, match: re.Match[str], locations: Collection[str]) -> str:
    address = match["address"].replace("`", "")
    if address == match["address"] and address in locations and not match[0].startswith("!"):
        return f"[{label}]({address})"
    return f"{label} (`{address}`)" if address else label


def _marks(match: re.Match[str], ids: Collection[str], unknown: list[str]) -> str:
    written = _RANGE.sub(_spelled_out, match[0])
    found = list(dict.fromkeys(f"S{int(number)}" for number in _ID.findall(written)))
    if match["round"] and not all(key in ids for key in found):
        return written  # perhaps it is no mark at all
    known = [key for key in found if key in ids]
    unknown += [key for key in found if key not in ids]
    space = written[: len(written) - len(written.lstrip())]
    return space + "".join(f"[{key}]" for key in known) if known else ""


def _spelled_out(ends: re.Match[str]) -> str:
    first, last = int(ends[1]), int(ends[2])
    if not 0 < last - first <= _LONGEST_RANGE:
        return ends[0]
    return ", ".join(f"S{number}" for number in range(first, last + 1))


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
