"""What a step of a plan can use, and what comes of it.

A tool is given a text and gives what it has read, as passages: the text of a passage is exactly
what was seen, so that a quotation of it can be found again. Whether a tool may be used at all is
not decided here but by the policy.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from deepnb.agents.research.exports import reports
from deepnb.agents.research.foreign import call_langchain
from deepnb.agents.research.policy_file import is_policy
from deepnb.chunks import Block, chunks
from deepnb.citations.shapes import Passage, Reading
from deepnb.errors import (
    AgentError,
    DeepnbError,
    FetchError,
    KnowledgeError,
    StepError,
    UnreadableError,
)
from deepnb.files.paths import safe_parts
from deepnb.keywords import rank

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from langchain_core.tools import BaseTool

    from deepnb.citations.shapes import SourceKind
    from deepnb.knowledge import Knowledge
    from deepnb.knowledge.readers import Document
    from deepnb.web import Page

MOST_PASSAGES = 12
"""Of one reading: what a small model can still take in."""
MOST_PAGES = 3
"""How many of an earlier step's pages are fetched."""
_MOST_CHUNKS = 5000
"""How much of one text is looked through: some 800 pages."""


def _permit_all(host: str) -> None:
    return None


@dataclass(frozen=True)
class Context:
    """What a tool knows besides its input.

    Attributes:
        question: What is being answered; it decides which passages of a long text come first.
        results: What the steps have read that this one depends on, by their ids.
        permits: Asked before every request to a host that a plan or a page has named, redirects
            included: why not, or None.
        problems: What went wrong beside the result, in words; tools append to it.
    """

    question: str
    results: Mapping[str, Sequence[Reading]] = field(default_factory=dict)
    permits: Callable[[str], str | None] = _permit_all
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ResearchTool:
    """Something that a step of a plan can use.

    Attributes:
        name: What a plan calls it.
        description: What its input is and what it gives, for whoever plans.
        leaves: Whether it sends something to other machines.
        run: Does it. Raises a `DeepnbError` that says why it cannot.
    """

    name: str
    description: str
    leaves: bool
    run: Callable[[str, Context], Awaitable[list[Reading]]]


def available(
    *,
    knowledge: Knowledge | None = None,
    workspace: Path | None = None,
    web: bool = True,
    tools: Iterable[BaseTool | ResearchTool] = (),
    private: bool = False,
) -> dict[str, ResearchTool]:
    """Give the tools that there are, by name.

    Args:
        knowledge: What `search_knowledge` searches; without it there is no such tool.
        workspace: The folder that `read_file` reads, besides the documents of `knowledge`; without
            both there is no such tool.
        web: Whether there are `web_search` and `fetch_page`.
        tools: More of them, LangChain's or MCP's.
        private: Whether addresses in private networks may be fetched.

    Raises:
        AgentError: Two tools have one name.
    """
    found: list[ResearchTool] = []
    if knowledge is not None:
        found.append(
            ResearchTool(
                "search_knowledge",
                "Search the documents. Input: the words to look for. Gives passages.",
                leaves=False,
                run=partial(_search_knowledge, knowledge, workspace),
            )
        )
    if workspace is not None or knowledge is not None:
        found.append(
            ResearchTool(
                "read_file",
                "Read one document. Input: its path. Gives what fits the question best.",
                leaves=False,
                run=partial(_read_file, workspace, knowledge),
            )
        )
    if web:
        found += [
            ResearchTool(
                "web_search",
                "Search the web. Input: a few words. Gives pages with a short text of each.",
                leaves=True,
                run=partial(_web_search, private=private),
            ),
            ResearchTool(
                "fetch_page",
                f"Read web pages. Input: one address, or the id of a web_search step that this "
                f"step depends on, whose first {MOST_PAGES} pages are then read.",
                leaves=True,
                run=partial(_fetch_page, private=private),
            ),
        ]
    found += [each if isinstance(each, ResearchTool) else from_langchain(each) for each in tools]
    named = {tool.name: tool for tool in found}
    if len(named) < len(found):
        names = [tool.name for tool in found]
        twice = next(name for name in names if names.count(name) > 1)
        raise AgentError(f"Two tools are called {twice!r}. Rename yours, or leave it out.")
    return named


def from_langchain(tool: BaseTool, *, leaves: bool = True) -> ResearchTool:
    """Make any LangChain tool, such as an MCP server's, one that a plan can use.

    Args:
        tool: It is given plain text if it takes one text, and a JSON object otherwise.
        leaves: Whether it sends something to other machines; unless you know better, it does.
    """

    async def run(given: str, context: Context) -> list[Reading]:
        text = await call_langchain(tool, given)
        asked = " ".join(given.split())[:60]  # the place of what it has answered
        passages = [Passage(text=each.text, place=asked) for each in chunks([Block(text)])]
        return _reading("tool", tool.name, tool.name, passages, context)

    return ResearchTool(tool.name, tool.description, leaves, run)


async def _search_knowledge(
    knowledge: Knowledge, workspace: Path | None, given: str, context: Context
) -> list[Reading]:
    own = reports(workspace)
    folder = knowledge.folder or Path()

    def is_document(_: str, location: str) -> bool:
        return not is_policy(location) and (folder / location).resolve() not in own

    found = await asyncio.to_thread(knowledge.find, given, MOST_PASSAGES, among=is_document)
    readings: dict[tuple[str, str], Reading] = {}
    for each in found:
        begun = Reading(kind=each.kind, title=each.title, location=each.location, passages=[])
        reading = readings.setdefault((each.kind, each.location), begun)
        reading["passages"].append(Passage(text=each.text, place=each.place))
    return list(readings.values())


async def _read_file(
    workspace: Path | None, knowledge: Knowledge | None, given: str, context: Context
) -> list[Reading]:
    path = given.strip()
    location = "/".join(safe_parts(path))

    def read() -> list[Reading]:
        known = _read_known(knowledge, path, context) if knowledge else []
        return known or _read_in(workspace, location, context)

    return await asyncio.to_thread(read)


def _read_known(knowledge: Knowledge, path: str, context: Context) -> list[Reading]:
    """Read a document of the knowledge base, under the name that a search gives it."""
    try:
        found = knowledge.read(path)
    except KnowledgeError:
        return []
    if not found:
        return []
    passages = [Passage(text=each.text, place=each.place) for each in found]
    return _reading(found[0].kind, found[0].location, found[0].title, passages, context)


def _read_in(workspace: Path | None, location: str, context: Context) -> list[Reading]:
    """Read a file of the workspace, and of nowhere else."""
    from deepnb.files.folder import Folder
    from deepnb.knowledge import readers

    if workspace is None:
        raise StepError(f"There is no document {location!r}. Use a path that a search has given.")
    try:
        document = readers.read(Folder(workspace).locate(location), location)
        return _read("file", location, document, context)
    except UnreadableError as error:
        raise StepError(str(error)) from None


async def _web_search(given: str, context: Context, *, private: bool) -> list[Reading]:
    from deepnb.web import asearch

    return [
        Reading(
            kind="page",
            title=hit.title,
            location=hit.address,
            passages=[Passage(text=hit.snippet or hit.title, place="search result")],
        )
        for hit in await asearch(given, private=private)
    ]


async def _fetch_page(given: str, context: Context, *, private: bool) -> list[Reading]:
    wanted = _addresses(given.strip(), context)
    outcomes = await asyncio.gather(*(_try_page(each, context, private=private) for each in wanted))
    problems = [each for each in outcomes if isinstance(each, DeepnbError)]
    readings = [page for each in outcomes if isinstance(each, list) for page in each]
    said = list(map(str, problems))
    if len(problems) == len(wanted):
        again = any(isinstance(each, FetchError) and each.again for each in problems)
        raise FetchError(" ".join(said), again=True) if again else StepError(" ".join(said))
    context.problems.extend(said)
    return readings


def _addresses(given: str, context: Context) -> list[str]:
    """What is to be fetched: the address itself, or the first pages that a step has found."""
    if given not in context.results:
        return [given]
    found = [each["location"] for each in context.results[given] if each["kind"] == "page"]
    if not found:
        raise StepError(f"Step {given} has found no web pages, so there is none to fetch.")
    return list(dict.fromkeys(found))[:MOST_PAGES]


async def _try_page(
    address: str, context: Context, *, private: bool
) -> list[Reading] | DeepnbError:
    from deepnb.web import afetch

    try:
        page = await afetch(address, private=private, permits=context.permits)
        return await asyncio.to_thread(_read_page, page, context)
    except DeepnbError as error:
        return error


def _read_page(page: Page, context: Context) -> list[Reading]:
    from deepnb.knowledge.readers import read_page

    document = read_page(page.content, page.address, page.content_type, page.charset or None)
    return _read("page", page.address, document, context)


def _read(kind: SourceKind, location: str, document: Document, context: Context) -> list[Reading]:
    """Read a document as far as it is looked through."""
    pieces = list(islice(chunks(document.blocks), _MOST_CHUNKS + 1))
    if len(pieces) > _MOST_CHUNKS:
        last = pieces[_MOST_CHUNKS - 1].place
        context.problems.append(f"{location} is long, and was read only to {last}.")
    context.problems.extend(f"{location}: {remark}" for remark in document.remarks)
    passages = [Passage(text=each.text, place=each.place) for each in pieces[:_MOST_CHUNKS]]
    return _reading(kind, location, document.title or location, passages, context)


def _reading(
    kind: SourceKind, location: str, title: str, passages: list[Passage], context: Context
) -> list[Reading]:
    """Keep the passages that fit the question best, those first; if few do, also how it begins."""
    fitting = [number for number, _ in rank(context.question, [each["text"] for each in passages])]
    order = dict.fromkeys([*fitting, *range(len(passages))])
    kept = [passages[number] for number in islice(order, MOST_PASSAGES)]
    return [Reading(kind=kind, title=title, location=location, passages=kept)] if kept else []
