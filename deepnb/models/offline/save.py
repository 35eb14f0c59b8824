"""Writing quotes to a file, and telling what became of that."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from deepnb.models.offline.answer import SAVED_NOTICE, SIGN
from deepnb.models.offline.reach import reach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.request import Request
    from deepnb.models.offline.turn import Turn


def save_earlier(turn: Turn, request: Request) -> str:
    """Save the quotes of the answer before."""
    question, answer = turn.earlier[-1] if turn.earlier else ("", "")
    text = answer.partition(f"\n\n{SIGN}")[0]
    if "\n> " not in f"\n{text}":
        return "There is no answer with quotes before this that I could save. Ask a question first."
    return save(turn, replace(request, questions=(question,)), text, found=True)


def save(turn: Turn, request: Request, text: str, *, found: bool) -> str:
    """Write what was found to a file."""
    known = reach(turn)
    path = _target(request.save_to, known.files)
    if not found:
        return f"{text}\n\nNothing was saved."
    if path in [*known.files, *known.others]:
        return f"{text}\n\n**Not saved:** `{path}` exists already. Name another file."
    title = request.questions[0] if request.questions else request.text
    content = f"# {title.strip()}\n\n{text}\n\n{SAVED_NOTICE}\n"
    place, problem = put(turn, path, content)
    return f"{text}\n\n**Not saved:** {problem}" if problem else f"Saved to `{place}`.\n\n{text}"


def put(turn: Turn, path: str, content: str) -> tuple[str, str]:
    """Write a file; gives where it went, and, if it did not, why."""
    call = turn.call("write", path=path, content=content, file_type="note")
    written = turn.do(call, note=False)
    if not written:
        return "", "I have been given no tool to write files with."
    if written[0].text.startswith("User rejected the tool call"):
        return "", "you declined it."
    if written[0].failed:
        reason = written[0].text.partition("\n")[0].removeprefix("Error: ")
        return "", f"writing `{path}` failed: {reason}"
    # A person who approves a write may change where it goes; the tool says where it went.
    went = re.search(r"\bfile (/.*\S)\s*$", written[0].text)
    return went[1] if went else path, ""


def _target(name: str, known: Sequence[str]) -> str:
    """Where to save: as named, or where this person's files are."""
    if name.startswith("/"):
        return name
    homes = {path.split("/")[1] for path in known}
    home = "files" if "files" in homes and "workspace" not in homes else "workspace"
    return f"/{home}/{name}"
