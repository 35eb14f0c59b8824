"""Counting tokens once per message."""

from __future__ import annotations

import gc

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately
from langchain_core.tools import tool

from deepnb.middleware import tokens
from deepnb.middleware.tokens import TokenCounter


@tool
def look(where: str) -> str:
    """Look somewhere."""
    return where


MESSAGES = [
    SystemMessage("You study lakes."),
    HumanMessage("How deep is it?"),
    AIMessage("", tool_calls=[{"name": "look", "args": {"where": "report.md"}, "id": "1"}]),
    ToolMessage("14 m", tool_call_id="1"),
    AIMessage("14 metres."),
]


def test_it_counts_what_langchain_counts():
    counter = TokenCounter()
    assert counter(MESSAGES) == sum(count_tokens_approximately([m]) for m in MESSAGES)
    with_tools = counter(MESSAGES, tools=[look])
    assert with_tools == counter(MESSAGES) + count_tokens_approximately([], tools=[look])


def test_tools_given_as_schemas_are_told_apart():
    counter = TokenCounter()
    short, long = {"type": "web_search"}, {"type": "web_search", "notes": "word " * 100}
    assert counter([], tools=[long]) > counter([], tools=[short])


def test_a_message_is_read_once_however_often_it_is_counted(monkeypatch):
    read = []
    monkeypatch.setattr(
        tokens,
        "count_tokens_approximately",
        lambda m, **k: read.append(m) or count_tokens_approximately(m, **k),
    )
    counter = TokenCounter()
    for length in (2, 3, 5, 5):
        counter(MESSAGES[:length], tools=[look])
    assert len(read) == len(MESSAGES) + 1


def test_a_message_that_is_replaced_is_counted_anew():
    counter = TokenCounter()
    before = counter(MESSAGES)
    longer = HumanMessage("How deep is it at its very deepest place in a dry summer?")
    changed = [MESSAGES[0], longer, *MESSAGES[2:]]
    assert counter(changed) == sum(count_tokens_approximately([m]) for m in changed) > before


def test_a_count_is_forgotten_with_its_message():
    counter = TokenCounter()
    for number in range(100):
        counter([HumanMessage("x" * number)])
    gc.collect()
    assert len(counter._counts) <= 1
    assert len(counter._refs) == len(counter._counts)
