"""Which machines may be reached, and how an address is shown.

A name is no protection: `localhost`, `2130706433` and a stranger's domain can all lead to this
machine. So it is the number that a name leads to that is judged, after it was looked up.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from deepnb.errors import FetchError

if TYPE_CHECKING:
    import httpx

_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")  # all that is given out to machines so far
# Blocks with special duties that Python counts as public.
_SPECIAL = (ip_network("192.0.0.0/24"), ip_network("192.88.99.0/24"))
_USERINFO = re.compile(r"//[^/?#]*@")
_LONGEST = 4096
_LAST_PORT = 65535


def is_public(number: str) -> bool:
    """Whether an IP address is one of a machine that anybody can reach.

    Not public are this machine, its neighbours, private and shared networks, groups of machines,
    and whatever is reserved, also when an IPv6 address only wraps such an IPv4 address.
    """
    address = _unwrapped(ip_address(number.partition("%")[0]))
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, IPv6Address):
        return address in _UNICAST
    return not any(address in block for block in _SPECIAL)


def _unwrapped(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address inside an IPv6 address that leads to one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


def parse(address: str) -> httpx.URL:
    """Take an address apart, and refuse what is no plain address of a page.

    Raises:
        FetchError: It is malformed, not of the web, or has a password in it.
    """
    import httpx

    try:
        url = httpx.URL(address.strip() if len(address) <= _LONGEST else "")
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host or (url.port or 0) > _LAST_PORT:
        raise FetchError(
            f"{shown(address)!r} is not the address of a web page. Write it in full, such as "
            "'https://example.org/page'."
        )
    if url.userinfo:
        raise FetchError(
            f"{shown(address)} has a name or a password in it, and those are not sent. "
            "Leave out what stands before the '@'."
        )
    return url


def shown(address: str) -> str:
    """An address as people may see it: without passwords, and without what is asked of a page."""
    place, query, _ = _USERINFO.sub("//", address.strip()).partition("?")
    visible = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in place)
    return visible.partition("#")[0][:200] + ("?…" if query else "")
