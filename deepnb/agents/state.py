"""The state of an agent's graph, in channels that store what was added and not the whole again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Required, cast

from deepagents.graph import DeepAgentState
from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Sequence


def merge_messages(state: list[AnyMessage] | None, writes: Sequence[Any]) -> list[AnyMessage]:
    """Append messages; one with a known id takes the place of the other, or removes it."""
    # LangGraph gives ids to whatever is checkpointed; what has none is like no other.
    merged: dict[str | int, BaseMessage] = {m.id or id(m): m for m in state or ()}
    for write in writes:
        for message in convert_to_messages(write if isinstance(write, list) else [write]):
            if not isinstance(message, RemoveMessage):
                merged[message.id or id(message)] = message
            elif message.id == REMOVE_ALL_MESSAGES:
                merged.clear()
            else:
                merged.pop(message.id or "", None)
    return cast("list[AnyMessage]", list(merged.values()))


class State(DeepAgentState):
    """deepagents' state, with rarer snapshots.

    A snapshot holds the whole conversation, so that frequent ones make checkpoints grow with the
    square of its length; between two of them LangGraph replays what was added.
    """

    messages: Required[
        Annotated[list[AnyMessage], DeltaChannel(merge_messages, snapshot_frequency=1_000)]
    ]
