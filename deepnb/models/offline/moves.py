"""What to do about a request.

Each move reads like a plan carried out at once: tools are asked through `Turn.do`, which interrupts
the move until they have answered (see turn.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.models.offline import results
from deepnb.models.offline.answer import (
    NOTICE,
    PLAIN_NOTICE,
    count,
    listing,
    not_found,
    quote,
    section,
    shown,
)
from deepnb.models.offline.clarify import clarify
from deepnb.models.offline.passages import LONGEST, OMITTED, Passage, passages, shorten
from deepnb.models.offline.request import Request, names_a_file, split_questions, understand
from deepnb.models.offline.search import MOST_MATCHES, Found, files, find, grep
from deepnb.models.offline.vocabulary import concepts, key_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.turn import Turn

_MOST_LISTED = 60
_MOST_SHOWN = 3
_MOST_LINES_SHOWN = 120
_MOST_CHARACTERS_SHOWN = 8_000
_MOST_MENTIONS = 30

_NO_TOOLS = "I have been given no tool to look into files with, so there is nothing I can look up."
_NO_FILES = "There are no files to look into yet. Put some into the workspace folder and ask again."


def reply(turn: Turn) -> str:
    """Answer the turn's request.

    Raises:
        Waiting: If tools have to answer first.
    """
    if not any(turn.can(job) for job in ("search", "grep", "glob", "list", "read")):
        return f"{_NO_TOOLS}\n\n{PLAIN_NOTICE}"
    asked = understand(turn.request, files(turn) if names_a_file(turn.request) else ())
    request = clarify(turn, asked) if asked.kind in ("vague", "about") else asked
    if isinstance(request, str):
        text = request
    elif request.kind == "files":
        text = _list(files(turn))
    elif request.kind in ("show", "outline"):
        text = _show(turn, request)
    elif request.kind == "mentions" and turn.can("grep"):
        text = _mentions(turn, request)
    else:
        text = _research(turn, request)
    failed = [f"Something did not work: {failure}" for failure in turn.failures[:3]]
    return "\n\n".join([text, *failed, NOTICE if "\n> " in f"\n{text}" else PLAIN_NOTICE])


def _research(turn: Turn, request: Request) -> str:
    """Search for each question, and keep the plan up to date when there are several."""
    questions, parts, success = request.questions, [], False
    if request.beyond:
        parts.append(f"I cannot {_deed(request.beyond)} without a language model. What I found:")
    for number, question in enumerate(questions):
        _plan(turn, questions, done=number)
        found = find(turn, question, request.files)
        success = success or bool(found.quotes)
        answer = section(found) if found.quotes else _nothing(turn, found)
        parts.append(f"### {question}\n\n{answer}" if len(questions) > 1 else answer)
    _plan(turn, questions, done=len(questions))
    return _save(turn, request, "\n\n".join(parts), worth_it=success)


def _nothing(turn: Turn, found: Found) -> str:
    known = files(turn)
    can_tell = (turn.can("glob") or turn.can("list")) and not turn.can("search")
    return _NO_FILES if can_tell and not known else not_found(found, len(known))


def _deed(beyond: str) -> str:
    if beyond.startswith(("write", "compose", "draft")):
        return "write that"
    return "judge or compute that" if " " in beyond else f"{beyond} that"


def _plan(turn: Turn, questions: Sequence[str], *, done: int) -> None:
    if len(questions) > 1:
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(questions)
        todos = [
            {"content": question, "status": state}
            for question, state in zip(questions, states, strict=False)
        ]
        turn.do(turn.call("plan", todos=todos))


def _list(known: Sequence[str]) -> str:
    if not known:
        return _NO_FILES
    lines = [f"- `{path}`" for path in known[:_MOST_LISTED]]
    rest = len(known) - len(lines)
    more = [f"- and {count(rest, 'more file')}"] if rest else []
    return "\n".join([f"{count(len(known), 'file')}:", "", *lines, *more])


def _mentions(turn: Turn, request: Request) -> str:
    """Every line that has the words of the topic, by file."""
    topic = request.questions[0]
    wanted = set(key_terms(topic))
    hits = [hit for hit in grep(turn, topic) if wanted <= hit.terms]
    if not hits:
        return _nothing(turn, Found(topic, tuple(key_terms(topic))))
    by_file: dict[str, list[Passage]] = {}
    for hit in sorted(hits, key=lambda hit: (hit.path, hit.line))[:_MOST_MENTIONS]:
        line = Passage(hit.path, hit.line, hit.line, hit.text)
        by_file.setdefault(hit.path, []).append(shorten(line, frozenset(wanted)))
    at_least = "at least " if len(hits) >= MOST_MATCHES else ""
    where = count(len({hit.path for hit in hits}), "file")
    spelled = listing(shown(topic, key_terms(topic)))
    first = f"; the first {_MOST_MENTIONS} of them" if len(hits) > _MOST_MENTIONS else ""
    parts = [f"Mentions of {spelled}: {at_least}{count(len(hits), 'line')} in {where}{first}."]
    for path, lines in by_file.items():
        parts.append(f"**{PurePosixPath(path).name}**")
        parts += [quote(each) for each in lines]
    return _save(turn, request, "\n\n".join(parts), worth_it=True)


def _show(turn: Turn, request: Request) -> str:
    """Show files; or, where a model would summarise, their headings and how they begin."""
    topic = request.questions[0]
    named = list(request.files) or _called(topic, files(turn))
    if not named:
        return _research(turn, replace(request, questions=split_questions(topic)))
    parts = []
    if request.kind == "outline":
        deed = _deed(request.beyond or "summarise")
        parts.append(f"I cannot {deed} without a language model. Headings and opening lines:")
    for path in named[:_MOST_SHOWN]:
        read = turn.do(turn.call("read", path=path, offset=0, limit=_MOST_LINES_SHOWN))
        page = results.page(read[0], path) if read else None
        if page is None:
            parts.append(f"`{path}` could not be read.")
        else:
            parts.append(_outline(page) if request.kind == "outline" else _whole(page))
    return "\n\n".join(parts)


def _called(topic: str, known: Sequence[str]) -> list[str]:
    """The file whose name is in the topic's words: "the press release" is press-release.md."""
    wanted = set(key_terms(topic))
    names = {path: set(concepts(PurePosixPath(path).stem)) for path in known}
    return [path for path, name in names.items() if wanted and wanted <= name][:1]


def _whole(page: results.Page) -> str:
    text = "\n".join(page.lines)[:_MOST_CHARACTERS_SHOWN]
    last = page.first + text.count("\n")
    cut = len(text) == _MOST_CHARACTERS_SHOWN or len(page.lines) == _MOST_LINES_SHOWN
    body = quote(Passage(page.path, page.first, last, text, "code"))
    return f"{body} (the file goes on)" if cut else body


def _outline(page: results.Page) -> str:
    pieces = passages(page)
    headings = dict.fromkeys(piece.heading for piece in pieces if piece.heading)
    parts = [f"**`{page.path}`**"]
    parts += ["\n".join(f"> {heading}" for heading in headings)] if headings else []
    parts += [quote(_capped(piece)) for piece in pieces if concepts(piece.text)][:2]
    return "\n\n".join(parts)


def _capped(piece: Passage) -> Passage:
    if len(piece.text) <= LONGEST:
        return piece
    text = piece.text[:LONGEST]
    last = piece.first + text.count("\n")
    return Passage(piece.path, piece.first, last, f"{text} {OMITTED}", piece.kind, "", piece.header)


def _save(turn: Turn, request: Request, text: str, *, worth_it: bool) -> str:
    """Write what was found to a file, if that was asked for."""
    if not request.save_to:
        return text
    known = files(turn)
    path = _target(request.save_to, known)
    if not worth_it:
        return f"{text}\n\nNothing was saved."
    if path in known:
        return f"{text}\n\n**Not saved:** `{path}` exists already. Name another file."
    content = f"# {request.questions[0]}\n\n{text}\n\n{NOTICE}\n"
    written = turn.do(turn.call("write", path=path, content=content, file_type="note"))
    if not written:
        return f"{text}\n\n**Not saved:** I have been given no tool to write files with."
    if written[0].failed:
        return f"{text}\n\n**Not saved:** writing `{path}` was refused or failed."
    # A person who approves a write may change where it goes; the tool says where it went.
    went = re.search(r"\bfile (/.*\S)\s*$", written[0].text)
    return f"Saved to `{went[1] if went else path}`.\n\n{text}"


def _target(name: str, known: Sequence[str]) -> str:
    """Where to save: as named, or where this person's files are."""
    if name.startswith("/"):
        return name
    homes = {path.split("/")[1] for path in known}
    home = "files" if "files" in homes and "workspace" not in homes else "workspace"
    return f"/{home}/{name}"
