"""Asking back when a request is too vague to act on."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from deepnb.models.offline.reach import files
from deepnb.models.offline.request import Request, understand
from deepnb.models.offline.search import grep
from deepnb.models.offline.vocabulary import key_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.models.offline.turn import Turn

_MOST_CHOICES = 5
CAN = (
    "I can search your files and quote what they say with path and line, list them, show one, find "
    "every mention of a word, and save quotes to a file."
)


def clarify(turn: Turn, request: Request) -> Request | str:
    """The clearer request; or, where there is no way to ask for one, the question as an answer."""
    question, choices = _question(turn, request)
    if choices and turn.can("choose"):
        options = _options(turn, choices)
        asked = turn.call(
            "choose", question=question, options=options, allow_multiple=False, allow_freeform=True
        )
    else:
        asked = turn.call("ask", question=question)
    answers = turn.do(asked)
    if not answers or answers[0].failed:
        offered = "\n".join(f"- {choice}" for choice in choices)
        return f"{CAN}\n\n{question}\n\n{offered}".strip()
    said = _said(answers[0].text, choices)
    clearer = understand(said, files(turn))
    if clearer.kind not in ("vague", "about"):
        return clearer
    topic = " ".join([*request.questions, said])
    if not key_terms(topic):
        return f"That is still too little to search for. {CAN}"
    return Request(topic, "question", (topic,))


def _question(turn: Turn, request: Request) -> tuple[str, list[str]]:
    """What to ask, and choices drawn from the files."""
    if request.kind == "about":
        return _about(turn, request.questions[0])
    known = files(turn)
    outlines = [f"Outline of {PurePosixPath(path).name}" for path in known[: _MOST_CHOICES - 1]]
    choices = [*outlines, "List my files"] if known else []
    question = "What should I look for? Name a topic, a question or a file."
    if request.beyond:
        cannot = f"I cannot {request.beyond} anything without a language model, but I can look up "
        return f"{cannot}what your files say. {question}", choices
    return question, choices


def _about(turn: Turn, topic: str) -> tuple[str, list[str]]:
    hits = grep(turn, topic) if turn.can("grep") else []
    having = list(dict.fromkeys(PurePosixPath(hit.path).name for hit in hits))
    if not having:
        return f"None of your files mentions {topic}. What should I look for instead?", []
    choices = [f"What {name} says about {topic}" for name in having[: _MOST_CHOICES - 1]]
    return f"What about {topic} do you want to know?", [*choices, f"Every mention of {topic}"]


def _options(turn: Turn, labels: Sequence[str]) -> list[Any]:
    """Choices as the tool takes them: with an id each, or plain."""
    items = turn.parameters("choose").get("options", {}).get("items", {})
    if items.get("type") == "string":
        return list(labels)
    return [{"id": f"choice_{n}", "label": label} for n, label in enumerate(labels, 1)]


def _said(text: str, choices: Sequence[str]) -> str:
    """What the person answered, whichever way the tool reports it."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if isinstance(data, dict):
        parts = [data.get("response"), data.get("freeform"), *(data.get("selected") or [])]
        text = " ".join(str(part) for part in parts if part)
    for number, label in enumerate(choices, 1):
        text = text.replace(f"choice_{number}", label)
    return text
