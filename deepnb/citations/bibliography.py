"""The sources that a report cites, for BibTeX."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deepnb.transcript.legible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deepnb.citations.shapes import Citation, Source

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}
_WEB = re.compile(r"(?i)https?://")
_LONGEST = 500


def to_bibtex(sources: Mapping[str, Source], rows: Iterable[Citation]) -> str:
    """Write an entry for each source that is cited."""
    places: dict[str, list[str]] = {}
    for row in rows:
        if row["source"]:
            found = places.setdefault(row["source"], [])
            if row["place"] and not row["found_in"] and row["place"] not in found:
                found.append(row["place"])
    cited = [source for key, source in sources.items() if key in places]
    return "\n".join(_entry(source, places[source["id"]]) for source in cited)


def _entry(source: Source, places: list[str]) -> str:
    read = datetime.fromtimestamp(source["read"], UTC).strftime("%Y-%m-%d")
    note = f"Read on {read}" + (f"; cited: {', '.join(places)}" if places else "")
    fields = {"title": f"{{{_escaped(source['title'])}}}"}
    if _WEB.match(source["location"]):
        fields["howpublished"] = f"\\url{{{_address(source['location'])}}}"
        fields["url"] = _address(source["location"])
        fields["urldate"] = read
    else:
        fields["howpublished"] = _escaped(source["location"])
    fields["note"] = _escaped(note)
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{_key(source)},\n{lines}\n}}\n"


def _key(source: Source) -> str:
    words = re.findall(r"[a-z0-9]+", source["title"].lower())
    return "-".join([source["id"].lower(), *words[:4]])


def _escaped(text: str) -> str:
    line = one_line(text, _LONGEST)
    return "".join(_SPECIAL.get(character, character) for character in line)


def _address(address: str) -> str:
    """An address in which nothing is special to BibTeX: what would be is written as a number."""
    return re.sub(r"[\\{}\s\"]", lambda match: f"%{ord(match[0]):02X}", address)
