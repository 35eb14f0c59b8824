"""How a dialogue begins: with a claim, or with a request that is asked about first."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deepnb.agents.tutor.dialogue import (
    HOW_TO_CHANGE,
    aside,
    beside,
    checked,
    looked_up,
    take,
    taken,
)
from deepnb.agents.tutor.reaching import read, titles
from deepnb.tutoring.choices import COLLECT, CURRENT, DRAFT, PASTE, SIDES
from deepnb.tutoring.citing import cited, resolve
from deepnb.tutoring.document import parse
from deepnb.tutoring.intent import asks_for_help, intent, order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deepnb.agents.tutor.standing import Standing
    from deepnb.models.offline.turn import Turn

_GO_THROUGH = re.compile(
    r"(?i)\W*(?:(?:please|let['\u2019]?s|can we|can you)\s+)*"
    r"(?:go (?:through|over)|review|discuss|use|(?:start|begin) (?:from|with))\s+"
    r"(?:\[\[|(?:my|the|this|a)\s+(?:draft|essay|text|paper))"
)
_TAKE, _KEEP = "The draft", "My argument as it is"
_TEXTS = (".md", ".txt", ".rst", ".tex")
_MOST_CHOICES = 10


def open_with(turn: Turn, now: Standing, *, may_ask: bool = True) -> str:
    """Reply to a request before which nothing was said.

    Args:
        turn: With the request.
        now: Where the dialogue stands.
        may_ask: Whether the person may be asked what is meant; once is enough.
    """
    if asks_for_help(turn.request):
        return _clarified(turn.asking("Help"), now)
    if reply := beside(turn, now):
        return reply
    found = intent(turn.request)
    if found.kind == "clarify":
        return _clarified(turn, now) if may_ask else now.question
    if found.kind == "factual" or order(turn.request) or turn.request.endswith("?"):
        return aside(turn, now)
    return take(turn, now)


def _clarified(turn: Turn, now: Standing) -> str:
    """Ask what was meant, and go on from there."""
    found = intent(turn.request, [PurePosixPath(title).stem for title in titles(turn)])
    labels = [option["label"] for option in found.options]
    chosen, own = _choose(turn, found.question, labels)
    if own:
        return open_with(turn.asking(own), now, may_ask=False)
    if not chosen:  # nobody could be asked
        return "\n".join([found.question, "", *(f"- {label}" for label in labels)])
    return _chosen(turn, now, chosen)


def _choose(turn: Turn, question: str, labels: Sequence[str]) -> tuple[str, str]:
    """Which answer a person has chosen, or what they have written of their own."""
    options = [{"id": f"choice_{n}", "label": label} for n, label in enumerate(labels, 1)]
    call = turn.call("choose", question=question, options=options, allow_freeform=True)
    answers = turn.do(call, note=False)
    if not answers or answers[0].failed:
        return "", ""
    chosen, _, own = answers[0].text.partition(" | ")
    return (chosen, own) if chosen in labels else ("", answers[0].text)


def _chosen(turn: Turn, now: Standing, chosen: str) -> str:
    if chosen.startswith(COLLECT):
        return looked_up(turn.asking(f"Every mention of {chosen.removeprefix(COLLECT)}"))
    if chosen in (*SIDES, DRAFT, CURRENT):
        return go_through(turn, now, chosen)
    if chosen == PASTE:
        return "Then paste it here. I go by headings such as \u201c## Thesis\u201d."
    if not cited(chosen):
        return now.question
    if order(turn.request) == "check":
        return checked(turn.asking(f"Check {chosen}"), now)
    name = resolve(cited(chosen)[0].title, titles(turn))[0]
    return looked_up(turn.asking(f"Outline of {PurePosixPath(name).name}"))


def wants_to_go_through(said: str) -> bool:
    """Whether a request is to begin from a text that the person has."""
    return _GO_THROUGH.match(said) is not None


def go_through(turn: Turn, now: Standing, said: str) -> str:
    """Take down the argument of a text that the person has, and go on from there."""
    texts = [title for title in titles(turn) if title.lower().endswith(_TEXTS)]
    if not texts:
        return f"There is no text in your files yet.\n\n{now.question}"
    name = _which(turn, said, texts)
    if not name:
        return f"No file of yours is called so.\n\n{now.question}"
    argument, title = parse(read(turn, name)), PurePosixPath(name).stem
    blind = "Of style and clarity no rule knows anything. " if said in SIDES[:2] else ""
    if not argument.rows:
        none = f"In [[{title}]] no heading names a part of an argument, such as a thesis."
        return f"{blind}{none}\n\n{now.question}"
    if now.argument.rows and not _may_replace(turn, title):
        instead = f"To go on with [[{title}]], say \u201cStart over\u201d first."
        return f"Your argument is as it was. {instead}\n\n{now.question or HOW_TO_CHANGE}"
    return taken(turn, f"{blind}I have taken down what [[{title}]] argues.", argument.rows)


def _may_replace(turn: Turn, title: str) -> bool:
    """Ask whether the argument so far may go; where nobody can be asked, it stays."""
    question = f"What [[{title}]] argues would replace your argument. Which shall we go on with?"
    return _choose(turn, question, (_TAKE, _KEEP))[0] == _TAKE


def _which(turn: Turn, said: str, texts: Sequence[str]) -> str:
    """The text that is meant; the person is asked if that was not said."""
    if named := cited(said):
        found = resolve(named[0].title, texts)
    elif len(texts) == 1:
        found = list(texts)
    else:
        answer = _choose(turn, "Which text should that be?", texts[:_MOST_CHOICES])
        found = resolve("".join(answer), texts)
    return found[0] if len(found) == 1 else ""
