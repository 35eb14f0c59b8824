"""The web: pages fetched safely, and searches for them.

Addresses come from models, documents and other people's pages, so none of them is trusted. This
room decides which machines may be reached, and is where a connection to them is opened. There is
no agent in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.web.addresses import is_public, shown
    from deepnb.web.engines import Engine, Hit, asearch, engine, search
    from deepnb.web.pages import Page, afetch, fetch

__all__ = [
    "Engine",
    "Hit",
    "Page",
    "afetch",
    "asearch",
    "engine",
    "fetch",
    "is_public",
    "search",
    "shown",
]

__getattr__ = lazy(
    __name__,
    {
        "Engine": "engines",
        "Hit": "engines",
        "Page": "pages",
        "afetch": "pages",
        "asearch": "engines",
        "engine": "engines",
        "fetch": "pages",
        "is_public": "addresses",
        "search": "engines",
        "shown": "addresses",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
