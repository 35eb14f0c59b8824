"""Searches of the web.

With nothing configured it is DuckDuckGo's page for browsers without scripts, which needs no key.
Google is used when GOOGLE_CSE_API_KEY and GOOGLE_CSE_CX are set, Tavily when TAVILY_API_KEY is.
DEEPNB_SEARCH_ADDRESS replaces the engine's address, for example by that of an institute's relay.
Keys travel in headers, where no log and no error shows them, and never to a second host.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from deepnb.errors import FetchError, MissingExtraError, WebSearchError
from deepnb.web.addresses import is_public
from deepnb.web.pages import Page, Request, wait

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_QUERY = 400
_MOST_HITS = 20
_CLIP = 800
_INSTEAD = (
    "Try again later, set TAVILY_API_KEY (or GOOGLE_CSE_API_KEY and GOOGLE_CSE_CX) to use another "
    "search engine, or leave the web out."
)


@dataclass(frozen=True)
class Hit:
    """A page that a search has found, and what the search engine shows of it."""

    title: str
    address: str
    snippet: str


@dataclass(frozen=True)
class Engine:
    """A search engine: who it is, where it is, and what it knows us by."""

    name: Literal["DuckDuckGo", "Google", "Tavily"]
    address: str
    key: str = field(default="", repr=False)
    cx: str = field(default="", repr=False)


def engine() -> Engine:
    """Which search engine is used, by what the environment says.

    Raises:
        WebSearchError: Google is configured by half.
    """
    given = os.environ.get
    key, cx, tavily = given("GOOGLE_CSE_API_KEY"), given("GOOGLE_CSE_CX"), given("TAVILY_API_KEY")
    if bool(key) != bool(cx):
        raise WebSearchError(
            "Of GOOGLE_CSE_API_KEY and GOOGLE_CSE_CX only one is set. Set both to search with "
            "Google, or none."
        )
    if key and cx:
        chosen = Engine("Google", "https://customsearch.googleapis.com/customsearch/v1", key, cx)
    elif tavily:
        chosen = Engine("Tavily", "https://api.tavily.com/search", tavily)
    else:
        chosen = Engine("DuckDuckGo", "https://html.duckduckgo.com/html/")
    return replace(chosen, address=given("DEEPNB_SEARCH_ADDRESS") or chosen.address)


def search(
    query: str, *, count: int = 8, private: bool = False, using: Engine | None = None
) -> list[Hit]:
    """Search the web; see `asearch`."""
    return wait(asearch(query, count=count, private=private, using=using))


async def asearch(
    query: str, *, count: int = 8, private: bool = False, using: Engine | None = None
) -> list[Hit]:
    """Search the web.

    Args:
        query: What to look for. It is sent to the search engine as it is.
        count: How many hits there should be at most.
        private: Also reach a search engine in a private network.
        using: The search engine; left out, the one that `engine` gives.

    Raises:
        WebSearchError: There is no answer; it says why and what to do.
    """
    words = " ".join(query.split())[:_LONGEST_QUERY]
    if not words:
        raise WebSearchError("There is nothing to search for. Write a few words.")
    count = max(1, min(count, _MOST_HITS))
    chosen = using or engine()
    try:
        page = await _request(chosen, words, count).send(None if private else is_public)
    except FetchError as error:
        raise _explained(chosen, error) from None
    found = _duckduckgo(page) if chosen.name == "DuckDuckGo" else _listed(chosen, page)
    return _distinct(found)[:count]


def _request(chosen: Engine, words: str, count: int) -> Request:
    if chosen.name == "Google":
        asked = urlencode({"q": words, "cx": chosen.cx, "num": min(count, 10)})
        return Request(f"{chosen.address}?{asked}", headers={"X-Goog-Api-Key": chosen.key})
    if chosen.name == "Tavily":
        headers = {"Authorization": f"Bearer {chosen.key}", "Content-Type": "application/json"}
        body = json.dumps({"query": words, "max_results": count}).encode()
        return Request(chosen.address, headers=headers, body=body)
    return Request(f"{chosen.address}?{urlencode({'q': words})}", redirects=2)


def _duckduckgo(page: Page) -> Iterable[Hit]:
    """Read the page as a browser shows it: titles that are links, and a text below each."""
    try:
        from lxml import html  # type: ignore[import-untyped]  # its stubs are years behind it
    except ImportError:
        raise MissingExtraError("lxml", "lxml") from None
    try:
        tree = html.document_fromstring(page.content, parser=html.HTMLParser(encoding="utf-8"))
    except (ValueError, html.etree.ParserError):
        raise WebSearchError(f"DuckDuckGo sent an empty page. {_INSTEAD}") from None
    results = tree.find_class("result__body")
    challenge = "//*[contains(@class, 'anomaly') or @id = 'challenge-form']"
    if not results and tree.xpath(challenge):
        raise WebSearchError(f"DuckDuckGo takes us for a robot and does not answer. {_INSTEAD}")
    if not results and not tree.find_class("no-results"):
        raise WebSearchError(f"DuckDuckGo sent a page that deepnb cannot read. {_INSTEAD}")
    for result in results:
        for link in result.find_class("result__a")[:1]:
            snippets = [each.text_content() for each in result.find_class("result__snippet")[:1]]
            yield Hit(link.text_content(), _target(link.get("href", "")), "".join(snippets))


def _target(link: str) -> str:
    """Where a link of DuckDuckGo's leads in the end; advertisements lead nowhere."""
    parts = urlsplit(urljoin("https://duckduckgo.com/", link))
    if parts.hostname and parts.hostname.endswith("duckduckgo.com"):
        return parse_qs(parts.query).get("uddg", [""])[0]
    return parts.geturl()


def _listed(chosen: Engine, page: Page) -> Iterable[Hit]:
    """Read an answer in JSON."""
    found, address, snippet = {
        "Google": ("items", "link", "snippet"),
        "Tavily": ("results", "url", "content"),
    }[chosen.name]
    try:
        answer = json.loads(page.content)
        rows: list[Any] = answer.get(found) or []
        return [
            Hit(str(row.get("title", "")), str(row.get(address, "")), str(row.get(snippet, "")))
            for row in rows
        ]
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise WebSearchError(
            f"{chosen.name} sent an answer that deepnb cannot read. {_INSTEAD}"
        ) from None


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Hits that lead to a page, once each, their texts on one line."""
    found: dict[str, Hit] = {}
    for hit in hits:
        if hit.address.startswith(("http://", "https://")):
            title, snippet = (" ".join(text.split())[:_CLIP] for text in (hit.title, hit.snippet))
            found.setdefault(hit.address, Hit(title or hit.address, hit.address, snippet))
    return list(found.values())


def _explained(chosen: Engine, error: FetchError) -> WebSearchError:
    if chosen.key and error.status in {400, 401, 403}:
        return WebSearchError(
            f"{chosen.name} does not accept the key (it answered {error.status}). Check "
            f"{'TAVILY_API_KEY' if chosen.name == 'Tavily' else 'GOOGLE_CSE_API_KEY'}."
        )
    if error.status in {403, 418, 429}:
        return WebSearchError(f"{chosen.name} refuses to answer just now. {_INSTEAD}")
    return WebSearchError(f"{chosen.name} could not be asked. {error}")
