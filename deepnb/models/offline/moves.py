"""What to do about a request.

Each move reads like a plan carried out at once: tools are asked through `Turn.do`, which interrupts
the move until they have answered (see turn.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.models.offline import results
from deepnb.models.offline.answer import (
    count,
    listing,
    not_found,
    not_searched,
    notice,
    quote,
    section,
    shown,
    too_long,
)
from deepnb.models.offline.clarify import CAN, clarify
from deepnb.models.offline.passages import LONGEST, OMITTED, Passage, passages, shorten
from deepnb.models.offline.reach import Reach, files, locate, reach
from deepnb.models.offline.request import (
    Request,
    leaves_the_folder,
    names_a_file,
    split_questions,
    understand,
)
from deepnb.models.offline.save import save, save_earlier
from deepnb.models.offline.search import MOST_MATCHES, Found, find, grep
from deepnb.models.offline.vocabulary import concepts, key_terms, subjects

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
_MORE = (
    "The last answer had the best of what I found. For all lines that have a word ask for every "
    "mention of it; for the whole of a file say show and its name."
)
# A question that points back at the one before: "and when was it built?"
_POINTS_BACK = re.compile(
    r"^\W*(?:and|what about|how about)\b|\b(?:it|its|they|them|their|he|him|his|she|her)\b",
    re.IGNORECASE,
)
_FEW = 2
_LOOKING = ("knowledge", "search", "grep", "glob", "list", "read")


def reply(turn: Turn) -> str:
    """Answer the turn's request.

    Raises:
        Waiting: If tools have to answer first.
    """
    if not any(turn.can(job) for job in _LOOKING):
        return f"{_NO_TOOLS}\n\n{notice(quoted=False)}"
    text = _answer(turn)
    failed = [f"Something did not work: {failure}" for failure in turn.failures[:3]]
    return "\n\n".join([text, *failed, notice(quoted="\n> " in f"\n{text}")])


def _answer(turn: Turn) -> str:
    target = understand(turn.request).save_to
    if leaves_the_folder(target):
        return f"I cannot save to `{target}`: name a file in your own folder, such as `notes.md`."
    there = reach(turn) if names_a_file(turn.request) else Reach([], [], complete=False)
    asked = understand(turn.request, [*there.files, *there.others])
    request = clarify(turn, asked) if asked.kind in ("vague", "about") else asked
    if isinstance(request, str):
        return request
    if request.kind in _PLAIN:
        text = _plain(turn, request)
        listed = request.kind == "files"
        return save(turn, request, text, found=listed) if request.save_to else text
    if request.kind == "save":
        return save_earlier(turn, request)
    known, unknown = _named(turn, request)
    if unknown and not known:
        return "\n\n".join(unknown)
    text, found = _carried_out(turn, replace(_in_context(turn, request), files=tuple(known)))
    text = "\n\n".join([*unknown, text])
    return save(turn, request, text, found=found) if request.save_to else text


_PLAIN = ("cannot", "thanks", "more", "count", "files")


def _plain(turn: Turn, request: Request) -> str:
    """What takes no search."""
    if request.kind == "cannot":
        return f"I cannot {request.beyond} anything: I find and quote. {CAN}"
    if request.kind == "thanks":
        return "You are welcome."
    if request.kind == "more":
        return _MORE
    there = reach(turn)
    if there.complete and not there.files and not there.others:
        return _NO_FILES
    if request.kind == "count":
        return f"{_total(there)}.{not_searched(there)}"
    return _list(there)


def _carried_out(turn: Turn, request: Request) -> tuple[str, bool]:
    """The answer, and whether anything was found."""
    if request.kind in ("show", "outline"):
        return _show(turn, request)
    if request.kind == "mentions" and turn.can("grep"):
        return _mentions(turn, request)
    return _research(turn, request)


def _named(turn: Turn, request: Request) -> tuple[list[str], list[str]]:
    """The files that a request names and that can be read, and what is wrong with the others."""
    known: list[str] = []
    wrong: list[str] = []
    for name in request.files:
        there = reach(turn)
        paths = [name] if name in [*there.files, *there.others] else locate(turn, name)
        if not paths:
            near = get_close_matches(name, [PurePosixPath(path).name for path in there.files], 1)
            meant = f" Did you mean `{near[0]}`?" if near else ""
            where = "in every folder" if turn.can("glob") else "among the files that I can list"
            wrong.append(f"There is no file `{name}`; I looked {where}.{meant}")
        elif len(paths) > 1:
            several = ", ".join(f"`{path}`" for path in paths[:_MOST_SHOWN])
            wrong.append(f"{len(paths)} files are called `{name}`: {several}. Say which one.")
        elif kind := results.binary(paths[0]):
            wrong.append(f"`{paths[0]}` is {kind}, which I cannot read as text.")
        else:
            known += paths
    return known, wrong


def _in_context(turn: Turn, request: Request) -> Request:
    """The request, and what the question before was about where it points back at that."""
    topics = (text for text, _ in reversed(turn.earlier) if understand(text).kind == "question")
    before = " ".join(subjects(next(topics, "")))
    asked = request.questions[0] if request.questions else ""
    points_back = request.kind == "question" and _POINTS_BACK.search(asked)
    if not before or not points_back or len(key_terms(asked)) > _FEW:
        return request
    return replace(request, questions=(f"{asked} ({before})", *request.questions[1:]))


def _research(turn: Turn, request: Request) -> tuple[str, bool]:
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
    return "\n\n".join(parts), success


def _nothing(turn: Turn, found: Found) -> str:
    if found.too_long:
        return too_long(found)
    there = reach(turn)
    elsewhere = turn.can("search") or turn.can("knowledge")
    can_tell = (turn.can("glob") or turn.can("list")) and not elsewhere
    empty = can_tell and there.complete and not there.files and not there.others
    return _NO_FILES if empty else not_found(found, there)


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


def _list(there: Reach) -> str:
    everything = sorted([*there.files, *there.others])
    lines = [
        f"- `{path}`" + (f" ({why}, not searched)" if (why := results.unsearched(path)) else "")
        for path in everything[:_MOST_LISTED]
    ]
    rest = len(everything) - len(lines)
    more = [f"- and {count(rest, 'more file')}"] if rest else []
    return "\n".join([f"{_total(there)}:", "", *lines, *more])


def _total(there: Reach) -> str:
    number = count(len(there.files) + len(there.others), "file")
    return number if there.complete else f"At least {number}; the tools did not list all"


def _mentions(turn: Turn, request: Request) -> tuple[str, bool]:
    """Every line that has the words of the topic, by file."""
    topic = request.questions[0]
    wanted = set(key_terms(topic))
    hits = [hit for hit in grep(turn, topic) if wanted <= hit.terms]
    if not hits:
        return _nothing(turn, Found(topic, tuple(key_terms(topic)))), False
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
    return "\n\n".join(parts), True


def _show(turn: Turn, request: Request) -> tuple[str, bool]:
    """Show files; or, where a model would summarise, their headings and how they begin."""
    topic = request.questions[0]
    named = list(request.files) or _called(topic, files(turn))
    if not key_terms(topic) and not named:  # "summarise all documents"
        named = files(turn)
    if not named:
        return _research(turn, replace(request, questions=split_questions(topic)))
    parts = []
    if request.kind == "outline":
        deed = _deed(request.beyond or "summarise")
        many = len(named) > _MOST_SHOWN
        parts.append(f"I cannot {deed} without a language model.{f' {CAN}' if many else ''}")
        parts.append(f"Headings and opening lines{f' of {_MOST_SHOWN} files' if many else ''}:")
    for path in named[:_MOST_SHOWN]:
        read = turn.do(turn.call("read", path=path, offset=0, limit=_MOST_LINES_SHOWN))
        page = results.page(read[0], path) if read else None
        if page is None:
            parts.append(f"`{path}` could not be read.")
        elif not any(page.lines):
            parts.append(f"`{path}` is empty.")
        else:
            parts.append(_outline(page) if request.kind == "outline" else _whole(page))
    return "\n\n".join(parts), True


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
