"""Pages are fetched within bounds, and never from where they must not be."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import socket
import ssl
import time
import tracemalloc
from pathlib import Path

import pytest

from deepnb.errors import FetchError
from deepnb.web import Page, afetch, fetch
from deepnb.web.pages import MOST_REDIRECTS, Request
from tests.web.server import Web, web_server


def refused(address: str, **options) -> str:
    with pytest.raises(FetchError) as error:
        fetch(address, **options)
    return str(error.value)


def test_a_page_comes_with_its_kind_and_its_final_address(web: Web):
    web.page("/new", "<p>Grüße", "Text/HTML; Charset=UTF-8")
    page = fetch(web.redirect("/old", "/new"), private=True)
    assert page == Page(f"{web.url}/new", "<p>Grüße".encode(), "text/html", "utf-8")


async def test_it_works_where_a_loop_is_running_as_in_a_notebook(web: Web):
    address = web.page("/", "here")
    assert fetch(address, private=True).content == b"here"
    assert (await afetch(address, private=True)).content == b"here"


def test_it_says_who_it_is_and_brings_nothing_along(web: Web):
    web.answers["/start"] = (302, {"Location": "/end", "Set-Cookie": "a=b"}, b"")
    web.page("/end", "x")
    fetch(f"{web.url}/start", private=True)
    for _, headers, _ in web.requests:
        assert headers["Host"] == f"127.0.0.1:{web.port}"
        assert "deepnb" in headers["User-Agent"]
        assert not {"Cookie", "Authorization", "Referer"} & set(headers)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "2130706433", "0x7f000001",
     "0177.0.0.1", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "[::1]", "[::ffff:7f00:1]"],
)  # fmt: skip
def test_this_machine_is_not_even_connected_to(web: Web, host):
    web.page("/", "secret")
    said = refused(f"http://{host}:{web.port}/")
    known = ("private=True", "no host", "not the address of a web page")  # by whom it is resolved
    assert any(words in said for words in known)
    assert web.connections == 0


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.2:{port}/", "//127.0.0.2:{port}/", "http://10.0.0.1/", "http://[::1]:{port}/",
     "http://169.254.169.254/latest/meta-data/", "http://2130706434:{port}/"],
)  # fmt: skip
@pytest.mark.parametrize("status", [301, 307])
async def test_a_redirect_is_judged_like_any_address(target, status):
    # Seen from here, 127.0.0.1 takes the part of the public web and all else that of a private net.
    with web_server() as public, web_server("127.0.0.2") as hidden:
        hidden.page("/", "secret")
        address = public.redirect("/", target.format(port=hidden.port), status)
        request = Request(address, redirects=MOST_REDIRECTS)
        with pytest.raises(FetchError, match="private network"):
            await request.send("127.0.0.1".__eq__)
        assert (public.connections, hidden.connections) == (1, 0)


async def test_one_private_number_among_a_hosts_numbers_is_one_too_many(web: Web, monkeypatch):
    real = socket.getaddrinfo

    def both(host, port, *args, **kwargs):
        if host != "two-faced.example":
            return real(host, port, *args, **kwargs)
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (number, port)) for number in ("127.0.0.1", "127.0.0.2")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with pytest.raises(FetchError, match="two-faced.example leads to"):
        await Request(f"http://two-faced.example:{web.port}/").send("127.0.0.1".__eq__)
    assert web.connections == 0


async def test_a_name_that_changes_its_mind_is_looked_up_once(web: Web, monkeypatch):
    web.page("/", "public")
    asked = []
    real = socket.getaddrinfo

    def rebinding(host, port, *args, **kwargs):
        if host != "rebind.example":
            return real(host, port, *args, **kwargs)
        asked.append(host)
        number = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    page = await Request(f"http://rebind.example:{web.port}/").send("127.0.0.1".__eq__)
    assert page.content == b"public"
    assert asked == ["rebind.example"]
    assert web.requests[0][1]["Host"] == f"rebind.example:{web.port}"


def test_every_host_on_the_way_needs_a_permit(web: Web):
    with web_server("127.0.0.2") as other:
        other.page("/", "x")
        asked = []

        def permits(host):
            asked.append(host)
            return "The policy denies it." if host == "127.0.0.2" else None

        address = web.redirect("/", f"{other.url}/")
        assert "The policy denies it." in refused(address, private=True, permits=permits)
        assert asked == ["127.0.0.1", "127.0.0.2"]
        assert other.connections == 0


@pytest.mark.parametrize("target", ["file:///etc/passwd", "http://u:p@127.0.0.1/", "http://[x/"])
def test_a_redirect_leads_to_plain_web_addresses_only(web: Web, target):
    said = refused(web.redirect("/", target), private=True)
    assert "u:p" not in said
    assert web.connections == 1


def test_redirects_in_a_circle_end(web: Web):
    assert "again and again" in refused(web.redirect("/", "/"), private=True)
    assert len(web.requests) == MOST_REDIRECTS + 1


def test_proxies_of_the_environment_are_not_asked(web: Web, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, web.url)
    refused("http://127.0.0.2:1/")
    refused("http://127.0.0.2:1/", private=True)
    assert web.connections == 0


def test_a_page_that_is_too_large_is_given_up(web: Web):
    address = web.page("/", b"x" * 300_000)
    assert len(fetch(address, private=True, largest=300_000).content) == 300_000
    assert "larger than" in refused(address, private=True, largest=299_999)


def test_a_gzip_bomb_is_counted_by_what_comes_out_of_it(web: Web):
    web.page("/small", gzip.compress(b"hello"), Content_Encoding="gzip")
    assert fetch(f"{web.url}/small", private=True).content == b"hello"
    bomb = web.page("/bomb", gzip.compress(bytes(100_000_000), 9), Content_Encoding="gzip")
    tracemalloc.start()
    assert "larger than 2 MB" in refused(bomb, private=True, largest=2_000_000)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("headers", "content", "said"),
    [
        ({"Content_Encoding": "gzip"}, b"no gzip at all", "broke off"),
        ({"Content_Encoding": "gzip"}, gzip.compress(b"abc" * 999)[:-20], "broke off"),
        ({"Content_Encoding": "br"}, b"x", "compressed as 'br'"),
        ({"Content_Encoding": "gzip, gzip"}, b"x", "compressed as"),
    ],
)
def test_broken_compression_is_said(web: Web, headers, content, said):
    assert said in refused(web.page("/", content, **headers), private=True)


def drip(start: bytes):
    def answer(handler):
        handler.wfile.write(start)
        for _ in range(600):
            time.sleep(0.02)
            handler.wfile.write(b"a")
            handler.wfile.flush()

    return answer


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_server_that_drips_is_given_up(web: Web, start):
    web.answers["/"] = drip(start)
    assert "after 0.3 seconds" in refused(f"{web.url}/", private=True, timeout=0.3)


def test_a_server_that_breaks_off_or_talks_nonsense_is_said(web: Web):
    web.answers["/cut"] = lambda handler: (
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc") and None
    )
    web.answers["/nonsense"] = lambda handler: handler.wfile.write(b"SMTP ready\r\n\r\n") and None
    assert "broke off" in refused(f"{web.url}/cut", private=True)
    assert "no web page" in refused(f"{web.url}/nonsense", private=True)


@pytest.mark.parametrize(
    ("status", "said", "again"),
    [(404, "no such page", False), (403, "login", False), (429, "later", True),
     (500, "later", True), (418, "Check the address", False)],
)  # fmt: skip
def test_an_error_says_what_to_do(web: Web, status, said, again):
    web.answers["/"] = (status, {}, b"")
    with pytest.raises(FetchError, match=said) as error:
        fetch(f"{web.url}/?token=abc", private=True)
    assert (error.value.status, error.value.again) == (status, again)
    assert "abc" not in str(error.value)


@pytest.mark.parametrize("kind", ["image/png", "video/mp4", "application/zip", "font/woff2"])
def test_what_has_no_text_is_not_downloaded(web: Web, kind):
    assert kind in refused(web.page("/", b"x", kind), private=True)


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/pdf", "application/json", "application/ld+json", "text/csv",
     "application/xhtml+xml", "application/octet-stream", "",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
)  # fmt: skip
def test_documents_are(web: Web, kind):
    assert fetch(web.page("/", b"x", kind), private=True).content_type == kind


def test_a_host_that_is_not_there_or_does_not_answer_is_said():
    assert "no host" in refused("http://nowhere.invalid/")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    assert "nobody answers" in refused(f"http://127.0.0.1:{port}/", private=True)


def test_giving_up_reaches_the_server(web: Web):
    web.answers["/"] = drip(b"HTTP/1.1 200 OK\r\n\r\n")

    async def give_up():
        async with asyncio.timeout(0.2):
            await afetch(f"{web.url}/", private=True)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())


def certificate(name: str, folder: Path) -> Path:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder(who, who, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.mark.parametrize(("name", "works"), [("localhost", True), ("other.example", False)])
def test_the_certificate_has_to_be_the_hosts(tmp_path, monkeypatch, name, works):
    path = certificate(name, tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(path)
    with web_server(tls=tls) as web:
        web.page("/", "sealed")
        address = f"https://localhost:{web.port}/"
        if works:
            assert fetch(address, private=True).content == b"sealed"
        else:
            assert "certificate" in refused(address, private=True)
