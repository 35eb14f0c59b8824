"""Documents in, passages out.

What makes a pile of documents searchable by words and by meaning, and gives passages that know
where they stand. There is no agent in it: it is of use with a notebook and a question alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy

if TYPE_CHECKING:
    from deepnb.knowledge.knowledge import Knowledge
    from deepnb.knowledge.passages import Note, Overview, Passage
    from deepnb.knowledge.worker import Progress

__all__ = ["Knowledge", "Note", "Overview", "Passage", "Progress"]

__getattr__ = lazy(
    __name__,
    {
        "Knowledge": "knowledge",
        "Note": "passages",
        "Overview": "passages",
        "Passage": "passages",
        "Progress": "worker",
    },
)


def __dir__() -> list[str]:
    return list(__all__)
