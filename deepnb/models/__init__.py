"""A name becomes a chat model.

Everything above asks this room for models and never a provider, so that one argument or one
environment variable moves a whole session to another model, and so that there is always one:
with nothing configured, the offline model answers with quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deepnb._lazy import lazy
from deepnb.models.resolve import Choice, explain, for_subagent, resolve, roles

if TYPE_CHECKING:
    from deepnb.models.cassette import record, replay
    from deepnb.models.local import LocalModel
    from deepnb.models.offline import OfflineModel

__all__ = [
    "Choice",
    "LocalModel",
    "OfflineModel",
    "explain",
    "for_subagent",
    "record",
    "replay",
    "resolve",
    "roles",
]

__getattr__ = lazy(
    __name__,
    {"LocalModel": "local", "OfflineModel": "offline", "record": "cassette", "replay": "cassette"},
)


def __dir__() -> list[str]:
    return list(__all__)
