"""Which machines may be reached, and what is shown of an address."""

from __future__ import annotations

import pytest

from deepnb.errors import FetchError
from deepnb.web import is_public, shown
from deepnb.web.addresses import parse

PRIVATE = """
    127.0.0.1 127.255.0.1 0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
    169.254.169.254 100.64.0.1 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.7 203.0.113.9
    224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 fe80::1 fe80::1%lo fec0::1 fc00::1 fd12:3456::1 ff02::1 100::1 2001:db8::1 2001::1
    5f00::1    ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254
    64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::8.8.8.8 2002:7f00:1:: 2002:a00:1::1
""".split()  # noqa: SIM905  # a line of numbers is easier to read
PUBLIC = """
    8.8.8.8 1.1.1.1 93.184.216.34 172.32.0.1 100.63.255.255 2606:4700::1111 2001:4860:4860::8888
    ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
""".split()  # noqa: SIM905  # a line of numbers is easier to read


@pytest.mark.parametrize("number", PRIVATE)
def test_private_numbers_are_not_public(number):
    assert not is_public(number)


@pytest.mark.parametrize("number", PUBLIC)
def test_public_numbers_are(number):
    assert is_public(number)


@pytest.mark.parametrize(
    "address",
    ["", "notes.md", "file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "//x/",
     "http:///x", "http://", "javascript:alert(1)", "http://h:0x/", "http://h:99999/",
     "http://①.com/", "http://a\x00b/",
     "https://example.org/" + "x" * 5000],
)  # fmt: skip
def test_what_is_no_web_address_is_refused(address):
    with pytest.raises(FetchError, match="not the address of a web page"):
        parse(address)


def test_a_password_is_neither_sent_nor_shown():
    with pytest.raises(FetchError) as refused:
        parse("https://me:hunter2@example.org/page?key=abc")
    assert "hunter2" not in str(refused.value)
    assert "abc" not in str(refused.value)
    assert "https://example.org/page" in str(refused.value)


def test_an_address_is_shown_without_what_may_be_secret():
    assert shown("https://u:p@host.org:8/a/b?token=1#x") == "https://host.org:8/a/b?…"
    assert shown("https://u:p@x@host.org/a#token") == "https://host.org/a"
    assert "\n" not in shown("https://host.org/a\nb")
    assert len(shown("https://host.org/" + "a" * 4000)) < 300
