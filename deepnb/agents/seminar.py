"""The seminar: a whole seminar document from a topic or a text, in the person's files."""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.tutor import documents
from deepnb.agents.tutor.graph import assemble
from deepnb.agents.tutor.offline import introduced
from deepnb.agents.tutor.prompts import SEMINAR
from deepnb.agents.tutor.reaching import read, titles
from deepnb.files.namespace import FILES
from deepnb.keywords import terms
from deepnb.models.offline import OfflineModel
from deepnb.models.offline.request import understand
from deepnb.models.offline.save import put
from deepnb.tutoring.citing import cited, resolve
from deepnb.tutoring.claims import subject, why_vague
from deepnb.tutoring.document import Argument, Row, parse
from deepnb.tutoring.gaps import gaps
from deepnb.tutoring.intent import claim

if TYPE_CHECKING:
    from deepnb.models.offline.turn import Turn

_ABOUT = re.compile(
    r"(?is)\W*(?:please\s+)?(?:(?:can|could) you\s+)?(?:write|hold|make|create|conduct|give|"
    r"prepare|draft|do)\b.{0,60}?\b(?:seminar|document|essay)\b\W*(?:about|on|of|that|from|for)?\W*"
    r"(?P<topic>.*)"
)
_LONGEST = 2_000  # characters of a thesis
_ASK = "What should the seminar be about?"


class OfflineSeminar(OfflineModel):
    """Writes down what it was given as a seminar document, and names what is missing."""

    def _say(self, turn: Turn) -> str:
        return introduced(turn, _answer(turn))


def _answer(turn: Turn) -> str:
    wanted = documents.to_create(turn.request)
    argument, topic = (Argument(), wanted.title) if wanted else _given(turn, turn.request)
    if not argument.rows and not terms(topic):
        answers = turn.do(turn.call("ask", question=_ASK), note=False)
        if not answers or answers[0].failed:
            return _ASK
        argument, topic = _given(turn, answers[0].text)
    wanted = wanted or documents.Wanted(documents.name_of(topic))
    path = documents.path_of(wanted.title)
    if path.removeprefix(FILES) in titles(turn):
        return f"**Not written:** `{path}` exists already. Give the seminar another title."
    text = f"{documents.skeleton(wanted, argument.rows)}\n{documents.still_missing(argument)}"
    place, problem = put(turn, path, text)
    if problem:
        return f"**Not written:** {problem}"
    return f"Written to `{place}`. {_what_is_missing(argument)}"


def _given(turn: Turn, said: str) -> tuple[Argument, str]:
    """What a request gives to begin with: an argument, and what to call it."""
    known = titles(turn)
    paths = [FILES + title for title in known]
    named = [path for each in cited(said) for path in resolve(each.title, known)]
    named += [path for path in understand(said, paths).files if path in paths]
    if named:
        return parse(read(turn, named[0])), f"{PurePosixPath(named[0]).stem} seminar"
    if rows := parse(said).rows:
        return Argument(rows), documents.title_of(Argument(rows))
    about = _ABOUT.fullmatch(said)
    held = claim(about["topic"] if about else said).strip()
    topic = held[:1].upper() + held[1:]
    is_claim = terms(subject(topic)) or not why_vague(topic)
    is_thesis = 0 < len(topic) <= _LONGEST and is_claim
    rows = (Row("thesis", topic),) if is_thesis else ()
    return Argument(rows), topic


def _what_is_missing(argument: Argument) -> str:
    found = gaps(argument)
    if not found:
        return "Nothing is missing by the rules, which is no praise."
    return (
        "It holds what you have given and nothing else: without a language model I can write no "
        f"more. By the rules, {documents.how_many(len(found))} missing; its end names them all. "
        f"The first: {found[0].question}"
    )


build = partial(assemble, "seminar", SEMINAR, OfflineSeminar)
