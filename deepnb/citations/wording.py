"""What stands at the end of a report, and verdicts in words and signs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deepnb.transcript.legible import one_line
from deepnb.transcript.rewrite import plain
from deepnb.transcript.wording import moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from deepnb.citations.shapes import Citation, Conflict, Settled, Side, Source

SOURCES, CONFLICTS, CLAIMS = "Sources", "Possible conflicts", "Claims"
CLAIM_HEADS = ("", "claim", "source and place", "verdict")
SIGNS = {
    "quoted": "✓",
    "source matched, support not verified": "≈",
    "misattributed": "⇄",
    "not found": "✗",
    "uncited": "○",
}
WORDS = {verdict: verdict for verdict in SIGNS}
WORDS["source matched, support not verified"] = "paraphrased (source matched, support not verified)"
_MOST_PLACES, _MOST_OTHERS = 8, 12
_LONGEST_TITLE, _LONGEST_LOCATION, _LONGEST_TEXT = 160, 300, 600


def counted(counts: Mapping[str, int], removed: int) -> str:
    """How many claims there are, and of which verdict: "3 claims: 2 quoted, 1 uncited"."""
    total = sum(counts.values())
    parts = [f"{counts[verdict]} {said}" for verdict, said in WORDS.items() if counts.get(verdict)]
    line = f"{total} claim{'' if total == 1 else 's'}"
    line += f": {', '.join(parts)}" if parts else ""
    if removed:
        line += f"; {removed} unknown mark{'' if removed == 1 else 's'} removed"
    return line


def endings(
    sources: Mapping[str, Source], rows: Sequence[Citation], counts: Mapping[str, int], removed: int
) -> str:
    """The end of a report: what it cites, what else was read, and how its claims were judged."""
    cited = [key for key in sources if any(key in (r["source"], r["found_in"]) for r in rows)]
    others = [key for key in sources if key not in cited]
    parts = [f"## {SOURCES}"]
    if cited:
        parts.append("\n".join(_entry(sources[key], rows) for key in cited))
    if others:
        named = ", ".join(f"{key} {_shown(sources[key]['title'])}" for key in others[:_MOST_OTHERS])
        more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
        parts.append(f"Read and not cited: {named}{more}.")
    return "\n\n".join([*parts, f"{counted(counts, removed)}."])


def _entry(source: Source, rows: Iterable[Citation]) -> str:
    key = source["id"]
    mine = [row for row in rows if row["source"] == key]
    elsewhere = [row for row in rows if row["found_in"] == key]
    here = [row for row in mine if not row["found_in"]]
    places = list(dict.fromkeys(r["place"] for r in (*here, *elsewhere) if r["place"]))
    said = [_shown(source["title"])]
    if source["location"] != source["title"]:
        said.append(_location(source["location"]))
    if places:
        more = ", …" if len(places) > _MOST_PLACES else ""
        said.append(f"{_shown('; '.join(places[:_MOST_PLACES]))}{more}")
    quoted = sum(row["verdict"] == "quoted" for row in mine)
    if mine:
        times = "once" if len(mine) == 1 else f"{len(mine)} times"
        said.append(f"cited {times}, {quoted} quoted")
    else:
        said.append("has what another source is cited for")
    return f"- **{key}** {' · '.join(said)}"


def _location(location: str) -> str:
    """Where a source is: an address that was read is a link."""
    is_address = re.fullmatch(r"https?://[^\s<>()\[\]`\\\"]+", location) is not None
    return f"<{location}>" if is_address else _shown(location, _LONGEST_LOCATION)


def place_of(row: Citation, sources: Mapping[str, Source]) -> str:
    """Where a claim was found: the title of the source, and the place in it."""
    source = sources.get(row["found_in"] or row["source"])
    found_in = f"found in {row['found_in']} " if row["found_in"] else ""
    return f"{found_in}{source['title']} {row['place']}".strip() if source else ""


def verdict_of(row: Citation, settled: Settled) -> str:
    """A verdict in words, and whether a person has checked the claim, and what they noted."""
    when, note = settled.get(row["id"], (None, ""))
    if when is None:
        return f"{row['verdict']}; noted by a person: {note}" if note else row["verdict"]
    return f"{row['verdict']}; checked by a person, {moment(when)}{f': {note}' if note else ''}"


def conflicts_section(conflicts: Sequence[Conflict], sources: Mapping[str, Source]) -> str:
    """Possible conflicts side by side, as Markdown; nothing if there are none."""
    if not conflicts:
        return ""
    tables = []
    for conflict in conflicts:
        heads = [_cell(side_of(side, sources)) for side in conflict["sides"]]
        texts = [_cell(side["text"], _LONGEST_TEXT) for side in conflict["sides"]]
        about = _shown(possibly(conflict))
        tables.append(f"{about}\n\n{_row(heads)}\n| --- | --- |\n{_row(texts)}")
    return "\n\n".join([f"## {CONFLICTS}", *tables])


def conflicts_below(conflicts: Sequence[Conflict], sources: Mapping[str, Source]) -> str:
    """The same, one side below the other, for where a table would be too wide."""
    if not conflicts:
        return ""
    parts = [f"## {CONFLICTS}"]
    for conflict in conflicts:
        parts.append(one_line(possibly(conflict)))
        for side in conflict["sides"]:
            parts.append(f"> {one_line(side['text'], _LONGEST_TEXT)}")
            parts.append(f"— {one_line(side_of(side, sources))}")
    return "\n\n".join(parts)


def possibly(conflict: Conflict) -> str:
    """What two sources may disagree about, and why it seems so."""
    return f"Possibly {conflict['why']} about {', '.join(conflict['about'])}:"


def side_of(side: Side, sources: Mapping[str, Source]) -> str:
    """Where one side of a possible conflict stands."""
    return f"{side['source']} {sources[side['source']]['title']} {side['place']}".strip()


def before_sources(text: str, section: str) -> str:
    """A report with a section more, in front of its sources."""
    body, heading, sources = text.rpartition(f"\n## {SOURCES}\n")
    return "\n\n".join(filter(None, [body.strip(), section, f"{heading}{sources}".strip()]))


def claims_table(
    rows: Iterable[Citation],
    sources: Mapping[str, Source],
    settled: Settled,
) -> str:
    """Every claim with its verdict, as Markdown."""
    lines = [
        _row([number, _cell(claim, _LONGEST_TEXT), _cell(where), _cell(verdict, 400)])
        for number, claim, where, verdict in claim_rows(rows, sources, settled)
    ]
    if not lines:
        return ""
    rule = _row(["---"] * len(CLAIM_HEADS))
    return "\n".join([f"## {CLAIMS}", "", _row(CLAIM_HEADS), rule, *lines])


def claim_rows(
    rows: Iterable[Citation], sources: Mapping[str, Source], settled: Settled
) -> list[tuple[str, str, str, str]]:
    """For every claim its id, itself, where it was found, and its verdict."""
    return [
        (
            row["id"],
            row["claim"],
            f"{row['source']} {place_of(row, sources)}".strip(),
            f"{SIGNS[row['verdict']]} {verdict_of(row, settled)}",
        )
        for row in rows
    ]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str, longest: int = 160) -> str:
    return _shown(text, longest).replace("|", "\\|")


def _shown(text: str, longest: int = _LONGEST_TITLE) -> str:
    """A text on one line, in which nothing is Markdown, a link or a mark."""
    line = plain(one_line(text, longest).replace("[", "(").replace("]", ")"))
    return line.replace("://", "\\://").replace("www.", "www\\.")
