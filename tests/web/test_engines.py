"""The web is searched by whichever engine is configured, and keys stay where they belong."""

from __future__ import annotations

import html
import json
import logging
import sys
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from deepnb.errors import MissingExtraError, WebSearchError
from deepnb.web import Engine, Hit, asearch, engine, search
from tests.web.server import Web, web_server

KEY = "sk-very-secret-0123456789"


def result(title: str, href: str, snippet: str, kind: str = "web-result") -> str:
    return f"""
      <div class="result results_links results_links_deep {kind}">
        <div class="links_main links_deep result__body">
          <h2 class="result__title"><a class="result__a" href="{href}">{title}</a></h2>
          <div class="result__extras"><a class="result__url" href="{href}">a.example</a></div>
          <a class="result__snippet" href="{href}">{snippet}</a>
        </div>
      </div>"""


def through(address: str) -> str:
    return html.escape(f"//duckduckgo.com/l/?uddg={quote(address, safe='')}&rut=0123abcd")


def page(*results: str) -> str:
    return f"<html><body><div id='links' class='results'>{''.join(results)}</div></body></html>"


def duckduckgo(web: Web) -> Engine:
    return Engine("DuckDuckGo", f"{web.url}/html/")


def look(web: Web, text: str, **options) -> list[Hit]:
    web.page("/html/", text, "text/html; charset=UTF-8")
    return search("lake depth", private=True, using=duckduckgo(web), **options)


def failed(**options) -> str:
    with pytest.raises(WebSearchError) as error:
        search("lake depth", **options)
    return str(error.value)


def test_without_what_reads_the_page_it_says_what_to_install(web: Web, monkeypatch):
    monkeypatch.setitem(sys.modules, "lxml", None)
    with pytest.raises(MissingExtraError, match="pip install lxml$"):
        look(web, page())


def test_hits_are_read_as_a_browser_shows_them(web: Web):
    found = look(
        web,
        page(
            result("Lake <b>depth</b> &amp; more", through("https://a.example/x?y=1&z=ü"),
                   "A lake&rsquo;s <b>depth</b>\n is 25 m."),
            result("Buy a lake", "https://duckduckgo.com/y.js?ad_domain=b.example", "Now!",
                   "result--ad"),
            result("Twice", through("https://a.example/x?y=1&z=ü"), "the same again"),
            result("Script", through("javascript:alert(1)"), "no page"),
            result("Direct", "https://c.example/", ""),
        ),
    )  # fmt: skip
    assert found == [
        Hit("Lake depth & more", "https://a.example/x?y=1&z=ü", "A lake\u2019s depth is 25 m."),
        Hit("Direct", "https://c.example/", ""),
    ]
    path, headers, _ = web.requests[0]
    assert parse_qs(urlsplit(path).query) == {"q": ["lake depth"]}
    assert "deepnb" in headers["User-Agent"]


def test_as_many_hits_as_were_asked_for(web: Web):
    many = [result(f"T{n}", through(f"https://{n}.example/"), "s") for n in range(12)]
    assert [hit.title for hit in look(web, page(*many), count=3)] == ["T0", "T1", "T2"]


def test_nothing_found_is_no_error(web: Web):
    assert look(web, page('<div class="no-results">No results.</div>')) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('<div class="anomaly-modal__title">Are you human?</div>', "robot"),
        ('<form id="challenge-form"></form>', "robot"),
        ("<p>We have a new design!</p>", "cannot read"),
        ("", "empty page"),
    ],
)
def test_what_is_no_answer_is_said_with_what_to_do(web: Web, text, said):
    with pytest.raises(WebSearchError, match=said) as error:
        look(web, text)
    assert "TAVILY_API_KEY" in str(error.value)


@pytest.mark.parametrize(("status", "said"), [(403, "refuses"), (429, "refuses"), (503, "later")])
def test_a_refusal_is_said(web: Web, status, said):
    web.answers["/html/"] = (status, {}, b"")
    assert said in failed(private=True, using=duckduckgo(web))


def test_no_network_is_said():
    nowhere = Engine("DuckDuckGo", "http://nowhere.invalid/html/")
    assert "DuckDuckGo could not be asked" in failed(using=nowhere)


def test_an_engine_in_a_private_network_has_to_be_allowed(web: Web):
    assert "private network" in failed(using=duckduckgo(web))
    assert web.connections == 0


async def test_an_empty_search_is_not_sent(web: Web):
    with pytest.raises(WebSearchError, match="nothing to search for"):
        await asearch(" \n ", private=True, using=duckduckgo(web))
    assert web.connections == 0


def test_which_engine_is_used_is_told(monkeypatch):
    monkeypatch.delenv("GOOGLE_CSE_CX", raising=False)
    assert engine().name == "DuckDuckGo"
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    assert engine().name == "Tavily"
    monkeypatch.setenv("GOOGLE_CSE_API_KEY", KEY)
    with pytest.raises(WebSearchError, match="only one is set"):
        engine()
    monkeypatch.setenv("GOOGLE_CSE_CX", "me")
    assert engine().name == "Google"
    assert KEY not in repr(engine())


def test_google_is_asked_as_its_api_wants_it(web: Web, monkeypatch):
    monkeypatch.setenv("GOOGLE_CSE_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_CSE_CX", "me")
    items = [{"title": "A", "link": "https://a.example/", "snippet": "x\n y"}, {"title": "B"}]
    address = web.page("/v1", json.dumps({"items": items}), "application/json")
    monkeypatch.setenv("DEEPNB_SEARCH_ADDRESS", address)
    assert search("lake & depth", private=True) == [Hit("A", "https://a.example/", "x y")]
    path, headers, _ = web.requests[0]
    asked = {"q": ["lake & depth"], "cx": ["me"], "num": ["8"]}
    assert parse_qs(urlsplit(path).query) == asked
    assert headers["X-Goog-Api-Key"] == KEY
    web.page("/v1", "{}", "application/json")
    assert search("nothing", private=True) == []


def test_tavily_is_asked_as_its_api_wants_it(web: Web, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    rows = [{"title": "A", "url": "https://a.example/", "content": "x", "score": 0.9}]
    monkeypatch.setenv(
        "DEEPNB_SEARCH_ADDRESS",
        web.page("/search", json.dumps({"results": rows}), "application/json"),
    )
    assert search("lake", count=5, private=True) == [Hit("A", "https://a.example/", "x")]
    _, headers, body = web.requests[0]
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert json.loads(body) == {"query": "lake", "max_results": 5}


@pytest.mark.parametrize("name", ["Google", "Tavily"])
@pytest.mark.parametrize("status", [200, 302, 400, 401, 429, 500])
def test_a_key_is_in_no_error_and_no_log_and_goes_to_nobody_else(web: Web, caplog, name, status):
    caplog.set_level(logging.DEBUG)
    with web_server() as other:
        web.answers["/"] = (status, {"Location": other.url}, b"[not json")
        said = failed(private=True, using=Engine(name, f"{web.url}/", KEY, "me"))
        assert other.connections == 0
    assert KEY not in said
    if status in {400, 401}:
        assert "does not accept the key" in said
    shown = [record.getMessage() for record in caplog.records]
    assert KEY not in "".join(shown)
