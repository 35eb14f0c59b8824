"""The tool `check_seminar`: what a document lacks and breaks, by rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from deepnb.agents.tutor.documents import how_many
from deepnb.files.namespace import FILES
from deepnb.tutoring import rules
from deepnb.tutoring.citing import cited, resolve
from deepnb.tutoring.document import parse
from deepnb.tutoring.gaps import FLAWED, gaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.files import Mounts
    from deepnb.tutoring.document import Argument
    from deepnb.tutoring.gaps import Gap

_MOST_LINES = 5_000
_MOST_SHOWN, _LONGEST_QUOTE = 20, 80
RULES = "By rules, which see words and signs and no meaning"


def check_tool(files: Mounts) -> BaseTool:
    """Make the tool for an agent over these files."""

    def check_seminar(path: str) -> str:
        """Check a seminar document by rules: which parts it lacks, and what is wrong with others.

        Args:
            path: The document's path, or its title as [[Title]].
        """
        titles = _titles(files)
        place = _place(path, titles)
        read = files.read(place, 0, _MOST_LINES)
        if read.error or read.file_data is None:
            raise ToolException(read.error or f"There is no text in {place}.")
        argument = parse(str(read.file_data["content"]))
        if read.next_offset is not None:
            argument = replace(argument, is_whole=False)
        return report(argument, titles)

    return StructuredTool.from_function(
        check_seminar, parse_docstring=True, handle_tool_error=lambda error: f"Error: {error}"
    )


def report(argument: Argument, titles: Sequence[str]) -> str:
    """Say in words what the rules find in an argument.

    Args:
        argument: What a document argues.
        titles: Of the files that it can cite.
    """
    found = gaps(argument)
    # The first piece of new evidence is among the gaps.
    broken = [*rules.document_citations(argument, titles), *rules.new_evidence(argument)[1:]]
    lines = [f"- {gap.where}: {_named(gap)}. {gap.why}" for gap in found]
    lines += [f"- line {one.line}: {one.rule} {_quoted(one.text)}. {one.why}" for one in broken]
    shown = lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        shown.append(f"- and {len(lines) - _MOST_SHOWN} more")
    parts = [f"{RULES}, {_count(len(lines))}."]
    if not argument.is_whole:
        parts.append("It is too long to be read to its end, so nothing is said to be missing.")
    if shown:
        parts.append("\n".join(shown))
    if found:
        parts.append(f"To ask next: {found[0].question}")
    return "\n\n".join(parts)


def _count(number: int) -> str:
    if number == 0:
        return "nothing is missing and nothing is wrong"
    return f"{how_many(number)} missing or wrong"


def _named(gap: Gap) -> str:
    """What is lacking, with the words if it is some that are there."""
    is_there = gap.kind in FLAWED or gap.kind == "undefined term"
    return f"{gap.kind} {_quoted(gap.about)}" if is_there else gap.kind


def _quoted(text: str) -> str:
    return f"\u201c{text[:_LONGEST_QUOTE]}\u201d"


def _titles(files: Mounts) -> list[str]:
    """The person's files by their paths, of which a citation names the last part."""
    found = files.glob("**/*", FILES)
    return [entry["path"].removeprefix(FILES) for entry in found.matches or []]


def _place(path: str, titles: Sequence[str]) -> str:
    title = cited(path)[0].title if cited(path) else path
    if title.startswith("/"):
        return title
    matches = resolve(title, titles)
    if len(matches) != 1:
        which = f"Several files are called so: {', '.join(matches[:5])}." if matches else ""
        raise ToolException(which or f"No file is called {title!r:.80}. list_files has them all.")
    return FILES + matches[0]
