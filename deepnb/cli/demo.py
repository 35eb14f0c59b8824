"""`deepnb demo`: an agent at work, with no key, no network and no documents of one's own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb.cli.paint import Paint
from deepnb.cli.steps import steps
from deepnb.errors import DeepnbError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.messages import BaseMessage

QUESTIONS = (
    "What did the aeration pump cost?",
    "By how much did phosphorus fall?",
    "What did the dredging cost?",
)
"""A fact, two documents that disagree, and something that no document says."""

_NEXT = 'Your own documents: deepnb ask "…" --workspace your/folder.'


def demo(questions: Sequence[str] = QUESTIONS, model: str = "offline") -> None:
    """Let the deep agent answer questions about the sample documents, and show it at work."""
    paint = Paint(sys.stdout)
    with tempfile.TemporaryDirectory(prefix="deepnb-demo-") as temporary:
        from deepnb import agents, samples
        from deepnb.models.offline.answer import SIGN

        folder = samples.copy(Path(temporary) / "lake")
        # The folder is a copy that is thrown away: nobody needs to approve what is written to it.
        agent = agents.get("deep", model=model, workspace=folder, interrupt_on={})
        notice = ""
        for question in questions:
            print(f"\n{paint.bold(f'? {question}')}\n", flush=True)
            # What answered is the same each time: it is said once, at the end.
            answer, sign, rest = _watched(agent, question, paint).partition(f"\n\n{SIGN}")
            notice = f"{sign}{rest}".strip()
            print(f"\n{paint.markdown(answer)}", flush=True)
    print(f"\n{paint.markdown(notice)}" if notice else "")
    print(paint.dim(paint.wrapped(f"{_NEXT}{_try_the_configured(model)}")))


def _try_the_configured(model: str) -> str:
    """How to see the model that is configured at work, if it was not."""
    from deepnb.models import explain

    try:
        configured = explain().spec
    except DeepnbError:  # it is configured badly, which is no matter of the demonstration
        return ""
    if model != "offline" or configured == "offline":
        return ""
    return f" Written answers: deepnb demo --model {configured}"


def _watched(agent: Any, question: str, paint: Paint) -> str:
    """Show each round of tool calls once it is complete, in the order of the calls; then answer."""
    answer = ""
    calls: list[Any] = []
    results: dict[str, str] = {}
    for message in _messages(agent, question):
        if message.type == "ai":
            answer = message.text or answer
            calls, results = list(getattr(message, "tool_calls", [])), {}
        elif message.type == "tool":
            results[getattr(message, "tool_call_id", "")] = message.text
            if all(call["id"] in results for call in calls):
                for line in steps(calls, results):
                    print(paint.dim(line), flush=True)
    return answer


def _messages(agent: Any, question: str) -> Iterator[BaseMessage]:
    """The messages of a run, as they come."""
    asked = {"messages": [{"role": "user", "content": question}]}
    for update in agent.stream(asked, stream_mode="updates"):
        for change in update.values():
            messages = change.get("messages", []) if isinstance(change, dict) else []
            # A reducer's value may be wrapped; only plain lists are new messages.
            yield from messages if isinstance(messages, list) else []
