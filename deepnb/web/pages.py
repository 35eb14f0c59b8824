"""Pages, fetched.

Every request looks its host up once, judges the numbers it gets, and connects to one of those:
between the judgement and the connection no name is looked up again, so nobody can change where
it leads. What a server sends is bounded in size and in time, whatever it does.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import httpx

from deepnb import __version__
from deepnb.errors import FetchError
from deepnb.web.addresses import is_public, parse, shown

if TYPE_CHECKING:
    import ssl
    from collections.abc import Coroutine, Mapping

Result = TypeVar("Result")
Judge = Callable[[str], bool]
"""Whether an IP address may be connected to."""
Permit = Callable[[str], str | None]
"""Why a host may not be asked, or None."""

LARGEST = 20_000_000
PATIENCE = 20.0
MOST_REDIRECTS = 5
_MOST_NUMBERS = 4  # of one host that are tried
_CONNECT = 5.0
_AGENT = f"Mozilla/5.0 (compatible; deepnb/{__version__}; reads single pages for a person)"
_HEADERS = {"User-Agent": _AGENT, "Accept-Encoding": "gzip", "Accept": "*/*", "Connection": "close"}
_READABLE = re.compile(
    r"text/.*|application/(.*(pdf|json|xml|officedocument|yaml|latex|csv|markdown|javascript).*"
    r"|x-tex|rtf|octet-stream)"
)
_REDIRECTS = {301, 302, 303, 307, 308}
_SAVE_IT = "Open it in a browser, save it, and add the file instead."
_ADVICE = {
    401: f"It wants a login. {_SAVE_IT}",
    403: f"It does not let programs in, or wants a login. {_SAVE_IT}",
    404: "There is no such page. Check the address.",
    410: "The page is gone. Look for it elsewhere.",
    429: "It has had too many requests. Try again later.",
    451: f"It may not be shown here. {_SAVE_IT}",
}


@dataclass(frozen=True)
class Page:
    """What was at an address.

    Attributes:
        address: Where it was in the end, after redirects.
        content: Its bytes, uncompressed.
        content_type: Such as "text/html"; empty if the server has not said.
        charset: As the server has said, such as "utf-8"; often empty.
    """

    address: str
    content: bytes
    content_type: str = ""
    charset: str = ""


def fetch(
    address: str,
    *,
    private: bool = False,
    permits: Permit | None = None,
    timeout: float = PATIENCE,
    largest: int = LARGEST,
) -> Page:
    """Fetch a page, with nobody's cookies and passwords; see `afetch`."""
    work = afetch(address, private=private, permits=permits, timeout=timeout, largest=largest)
    return wait(work)


async def afetch(
    address: str,
    *,
    private: bool = False,
    permits: Permit | None = None,
    timeout: float = PATIENCE,  # noqa: ASYNC109  # a bound on all of it, redirects included
    largest: int = LARGEST,
) -> Page:
    """Fetch a page, with nobody's cookies and passwords.

    Proxies that the environment names are not used: what they connect to could not be judged.

    Args:
        address: Of http or https.
        private: Also reach this machine and private networks.
        permits: Asked for every host, also those of redirects, before it is looked up: why it
            may not be asked, or None.
        timeout: In seconds, for all of it.
        largest: In bytes, after decompression.

    Raises:
        FetchError: The page was refused or could not be had; it says why and what to do.
    """
    request = Request(address, permits or _permit_all, MOST_REDIRECTS, timeout, largest)
    return await request.send(None if private else is_public)


def wait(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end on a thread of its own: a notebook has a running loop already."""
    with ThreadPoolExecutor(1, "deepnb-web") as pool:
        return pool.submit(asyncio.run, work).result()


def _permit_all(host: str) -> None:
    return None


@dataclass(frozen=True)
class Request:
    """A page to be fetched, and the bounds within which it is."""

    address: str
    permits: Permit = _permit_all
    redirects: int = 0
    timeout: float = PATIENCE
    largest: int = LARGEST
    headers: Mapping[str, str] | None = None
    body: bytes | None = None

    async def send(self, judge: Judge | None) -> Page:
        """Fetch it from wherever it is, as long as every machine on the way passes `judge`."""
        try:
            async with (
                asyncio.timeout(self.timeout),
                httpx.AsyncHTTPTransport(verify=_tls()) as transport,
            ):
                return await self._follow(transport, judge)
        except (TimeoutError, httpx.TimeoutException):
            raise FetchError(
                f"{shown(self.address)} was not there after {self.timeout:g} seconds. "
                "Try again later.",
                again=True,
            ) from None
        except (httpx.HTTPError, zlib.error) as error:
            raise FetchError(
                f"{shown(self.address)} could not be fetched: {_reason(error)}. Check the address "
                "and the connection.",
                again=True,
            ) from None

    async def _follow(self, transport: httpx.AsyncHTTPTransport, judge: Judge | None) -> Page:
        url = parse(self.address)
        for _ in range(self.redirects + 1):
            response = await self._ask(transport, url, judge)
            try:
                if response.status_code not in _REDIRECTS or "Location" not in response.headers:
                    return await self._read(url, response)
                url = parse(_joined(url, response.headers["Location"]))
            finally:
                await response.aclose()
        raise FetchError(
            f"{shown(self.address)} leads on to other addresses again and again. Use the address "
            "that a browser ends at."
        )

    async def _ask(
        self, transport: httpx.AsyncHTTPTransport, url: httpx.URL, judge: Judge | None
    ) -> httpx.Response:
        """Send the request to one of the numbers of its host, each of which was judged."""
        host = url.raw_host.decode()
        if reason := self.permits(host):
            raise FetchError(f"{shown(str(url))} was not fetched: {reason}")
        numbers = await _look_up(host, url)
        if judge and not all(map(judge, numbers)):
            raise FetchError(
                f"{shown(str(url))} was refused: {host} leads to this machine or to a private "
                "network, which pages and plans may not reach. If you trust it, allow private "
                "addresses with private=True; in a cell, deepnb.web.fetch(address, private=True) "
                "gives the page."
            )
        for number in numbers[:-1]:
            try:
                return await self._ask_number(transport, url, number)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._ask_number(transport, url, numbers[-1])

    async def _ask_number(
        self, transport: httpx.AsyncHTTPTransport, url: httpx.URL, number: str
    ) -> httpx.Response:
        bounds = httpx.Timeout(self.timeout, connect=min(self.timeout, _CONNECT))
        request = httpx.Request(
            "GET" if self.body is None else "POST",
            url.copy_with(host=number),
            headers={**_HEADERS, **(self.headers or {}), "Host": url.netloc.decode()},
            content=self.body,
            # The certificate has to be the host's, though it is the number that is called.
            extensions={"timeout": bounds.as_dict(), "sni_hostname": url.raw_host.decode()},
        )
        return await transport.handle_async_request(request)

    async def _read(self, url: httpx.URL, response: httpx.Response) -> Page:
        if not response.is_success:
            raise _explained(url, response.status_code)
        content_type, charset = _kind(response)
        if content_type and not _READABLE.fullmatch(content_type):
            raise FetchError(
                f"{shown(str(url))} is of the kind {content_type!r:.60}, in which there is no text "
                "to read. Use the address of a page or a document."
            )
        return Page(str(url), await self._content(url, response), content_type, charset)

    async def _content(self, url: httpx.URL, response: httpx.Response) -> bytes:
        coding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if coding not in {"identity", "gzip", "x-gzip"}:
            raise FetchError(
                f"{shown(str(url))} is compressed as {coding!r:.20}, which was not asked for. "
                f"{_SAVE_IT}"
            )
        inflate = None if coding == "identity" else zlib.decompressobj(31)  # 31: gzip
        content, sent = bytearray(), 0
        async for piece in response.aiter_raw():
            # Never more than what may still come: a small piece can hold a thousand times its size.
            room = self.largest - len(content) + 1
            sent += len(piece)
            content += inflate.decompress(piece, room) if inflate else piece
            if len(content) > self.largest:
                raise FetchError(
                    f"{shown(str(url))} is larger than {self.largest // 1_000_000} MB. Download "
                    "it yourself, and add the part that matters."
                )
        if inflate and not inflate.eof and sent:
            raise FetchError(f"{shown(str(url))} broke off. Try again.", again=True)
        return bytes(content)


def _tls() -> ssl.SSLContext:
    """Whose certificates are believed: the environment may name an institute's own."""
    return _tls_of(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=1)
def _tls_of(file: str | None, folder: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()  # it reads both, which takes a while


async def _look_up(host: str, url: httpx.URL) -> list[str]:
    """The numbers of a host; a slow answer can be given up, though the asking thread goes on."""
    ask = partial(socket.getaddrinfo, host, url.port or 80, type=socket.SOCK_STREAM)
    try:
        found = await anyio.to_thread.run_sync(ask, abandon_on_cancel=True)
    except (OSError, UnicodeError):
        raise FetchError(
            f"{shown(str(url))} could not be fetched: there is no host {host!r:.80}, or no "
            "connection. Check the address and the connection.",
            again=True,
        ) from None
    return list(dict.fromkeys(str(each[4][0]) for each in found))[:_MOST_NUMBERS]


def _joined(url: httpx.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except httpx.InvalidURL:
        return location  # which is then refused as what it is


def _explained(url: httpx.URL, status: int) -> FetchError:
    is_theirs = status // 100 == 5  # noqa: PLR2004  # 500 to 599
    general = "The server has a problem. Try again later." if is_theirs else "Check the address."
    advice = _ADVICE.get(status, general)
    message = f"{shown(str(url))} answered {status}. {advice}"
    return FetchError(message, status, again=is_theirs or status == 429)  # noqa: PLR2004


def _reason(error: Exception) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "its certificate is not valid, so it may not be what it says"
    if isinstance(error, httpx.ConnectError):
        return "nobody answers there"
    return "the server broke off, or sent what is no web page"


def _kind(response: httpx.Response) -> tuple[str, str]:
    content_type, _, rest = response.headers.get("Content-Type", "").partition(";")
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", rest, re.IGNORECASE)
    return content_type.strip().lower(), charset[1].lower() if charset else ""
