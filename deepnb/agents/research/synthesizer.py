"""The synthesizer and the citation check: from passages to a report whose claims were looked up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage
from langgraph.graph import END

from deepnb.agents.research import offline, prompts
from deepnb.agents.research.asking import NoUsableReplyError
from deepnb.agents.research.state import ResearchState, entry
from deepnb.agents.research.thinker import remarks
from deepnb.citations.verdicts import check
from deepnb.errors import KnowledgeError
from deepnb.transcript.legible import one_line
from deepnb.transcript.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deepnb.agents.research.desk import Desk
    from deepnb.citations.shapes import Source

_MOST_NAMED = 10
_CHARACTERS = 24_000
_CHARACTERS_PER_TOKEN = 2
"""Few, to be safe: a passage too many is left out, and a prompt that is too long fails."""


async def synthesize(desk: Desk, state: ResearchState) -> dict[str, Any]:
    """Write the report: by the model, or from verbatim sentences where there is none."""
    plan, found = state["plan"], _found(state)
    assert plan  # noqa: S101  # it was carried out
    text, gaps, said = "", offline.failures(plan, state["results"]), ""
    unread = await asyncio.to_thread(_unread, desk)
    if desk.asker and found:
        try:
            text = await desk.asker.prose(prompts.SYNTHESIZER, _prompt(desk, state, found))
        except NoUsableReplyError as error:
            said = f" The model wrote none ({error}), so it is made of quotes."
    if not text:
        sources = {identity: state["sources"][identity] for identity, _ in found}
        facts = await asyncio.to_thread(_documents, desk)
        text, gaps = offline.write(state["question"], plan, state["results"], sources, **facts)
        if not text:
            why = "Nothing was found that answers the question, so there is no report."
            reasoning = entry("synthesizer", why, aside=True)
            said = "\n\n".join(filter(None, [gaps.strip(), unread]))
            return {"messages": [AIMessage(said)], "reasoning": reasoning}
        gaps = f"- The model wrote no report, so these are quotes.\n{gaps}" if said else gaps
    number = len({identity for identity, _ in found})
    read = f"{number_of(len(found), 'passage')} of {number_of(number, 'source')}"
    summary = f"Wrote a report from {read}.{said}"
    gaps = "\n".join(filter(None, [gaps.strip(), unread]))
    return {"draft": text, "gaps": gaps, "reasoning": entry("synthesizer", summary)}


def _unread(desk: Desk) -> str:
    """Name the documents that could not be read: the answer may be in one of them."""
    try:
        problems = desk.knowledge.unread() if desk.knowledge else []
    except KnowledgeError:  # it was closed meanwhile
        return ""
    names = [one_line(name) for name in problems if "://" in name or desk.may_read(name)]
    if not names:
        return ""
    listed = ", ".join(names[:_MOST_NAMED]) + (", …" if len(names) > _MOST_NAMED else "")
    return f"- Not read, or not wholly: {listed}. `session.knowledge.problems` says why."


def _documents(desk: Desk) -> dict[str, Any]:
    """Give how many documents may be read, how many may not, and what they are about."""
    try:
        overview = desk.overview()
        number, left_out = desk.counted() if desk.knowledge else (None, 0)
    except KnowledgeError:  # it was closed meanwhile
        return {}
    return {"documents": number, "left_out": left_out, "overview": overview}


def after_synthesis(state: ResearchState) -> str:
    """Check what was written, if something was."""
    return "citation_check" if state["draft"] else END


def check_citations(state: ResearchState) -> dict[str, Any]:
    """Look every claim up in what was read for this question."""
    found = _found(state)
    read = {identity: state["sources"][identity] for identity, _ in found}
    # A source may have passages that an earlier question has found: those are not compared.
    checked = check(state["draft"], read, state["gaps"], compared=set(found))
    identity = uuid4().hex
    checked["message"] = identity
    counts = ", ".join(
        f"{number} {verdict}" for verdict, number in checked["counts"].items() if number
    )
    return {
        "draft": "",
        "report": checked,
        "messages": [AIMessage(checked["text"], id=identity)],
        "reasoning": entry(
            "citation_check",
            f"Looked up {number_of(len(checked['citations']), 'claim') or 'no claims'}: {counts}.",
            aside=True,
        ),
    }


def _found(state: ResearchState) -> list[tuple[str, int]]:
    """Give the passages that the steps have found, the first of each step first."""
    lists = [list(result.get("found", [])) for result in state["results"].values()]
    longest = max(map(len, lists), default=0)
    mixed = [each[place] for place in range(longest) for each in lists if place < len(each)]
    return list(dict.fromkeys((identity, number) for identity, number in mixed))


def _prompt(desk: Desk, state: ResearchState, found: list[tuple[str, int]]) -> str:
    passages = _passages(desk, state["sources"], found)
    return prompts.synthesizer(state["question"], passages, remarks(state))


def _passages(desk: Desk, sources: Mapping[str, Source], found: list[tuple[str, int]]) -> str:
    """List as many passages as the model can take in, those of one source together."""
    room = _room(desk)
    chosen: list[tuple[str, int]] = []
    for identity, number in found:
        room -= len(sources[identity]["passages"][number]["text"])
        if room < 0 and chosen:
            break
        chosen.append((identity, number))
    order = list(dict.fromkeys(identity for identity, _ in chosen))
    chosen.sort(key=lambda each: (order.index(each[0]), each[1]))
    return "\n\n".join(_passage(sources[identity], number) for identity, number in chosen)


def _room(desk: Desk) -> int:
    profile = desk.asker.model.profile if desk.asker else None
    window = (profile or {}).get("max_input_tokens")
    return min(_CHARACTERS, window * _CHARACTERS_PER_TOKEN) if window else _CHARACTERS


def _passage(source: Source, number: int) -> str:
    passage = source["passages"][number]
    return f"[{source['id']}] {source['title']}, {passage['place']}:\n{passage['text']}"
