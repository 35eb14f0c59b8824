"""Which machine an address leads to, in the one spelling that rules are compared with.

Addresses come from models and from web pages. Programs disagree about what an odd one means, and
that is how a forbidden host passes for an allowed one; so an odd one is refused, not guessed at.
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from urllib.parse import urlsplit

from deepnb.agents.research.spellings import shown

_ODD = re.compile(r"[\x00-\x20\x7f-\xa0\\@]|\s")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_HOST = 253


def host_of(address: str) -> str:
    """Give the host of a web address, as `normal_host` spells it.

    Raises:
        ValueError: It is no plain http or https address; the message says why.
    """
    scheme, _, rest = address.partition("://")
    if scheme.lower() not in ("http", "https") or not rest:
        raise ValueError(
            f"'{shown(address)}' is not a web address; it begins with https:// or http://."
        )
    server = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if _ODD.search(server) or _ODD.search(address.replace("@", "")):
        raise ValueError(
            f"'{shown(address)}' has a user name, a blank or a backslash in it; leave that out."
        )
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises if it is no number
    except ValueError:
        raise ValueError(f"'{shown(address)}' has a host or a port that cannot be read.") from None
    return normal_host(parts.hostname or "")


def normal_host(host: str) -> str:
    """Give the one spelling of a host: lower case, ASCII, no last dot, addresses in short form.

    Raises:
        ValueError: There is none; the message says why.
    """
    with suppress(ValueError):
        return _normal_address(host.removeprefix("[").removesuffix("]"))
    try:
        name = _to_ascii(host).removesuffix(".")
    except ValueError:
        raise ValueError(f"'{shown(host)}' is not the name of a host.") from None
    # Browsers read 2130706433, 0x7f.1 and 0177.0.0.1 as addresses: these would hide one.
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        return _spelled_address(name)
    return name


def fits(pattern: str, host: str) -> bool:
    """Whether a host is what a pattern allows: a host, `*.` before one, or `*` for all."""
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    return pattern in ("*", host)


def is_below(pattern: str, host: str) -> bool:
    """Whether a host is what a pattern denies: a denial holds for all below a host as well."""
    return fits(pattern if pattern.startswith("*") else f"*.{pattern}", host)


def _to_ascii(host: str) -> str:
    import idna

    if len(host) > _LONGEST_HOST or _ODD.search(host):
        raise ValueError("too long, or not a name")
    return idna.encode(host, uts46=True).decode("ascii")


def _spelled_address(name: str) -> str:
    try:
        return _normal_address(name)
    except ValueError:
        raise ValueError(f"'{shown(name)}' is an odd spelling of a network address.") from None


def _normal_address(text: str) -> str:
    """The short form of a network address; the two forms of one IPv4 address are the same."""
    if "%" in text:
        raise ValueError("a zone is no part of an address on the web")
    address = ipaddress.ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
