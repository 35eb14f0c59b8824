"""What the tests of the research agent have in common."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import BaseMessage

from deepnb.testing import ScriptedModel

APPROVED = json.dumps({"verdict": "approved", "reasons": []})


def step(identity: str = "1", tool: str = "search_knowledge", given: str = "pump", **more: Any):
    """Make a step of a plan."""
    about = {"title": f"Look for {given}", "rationale": "It is asked for.", "depends_on": []}
    return {"id": identity, "tool": tool, "input": given, **about, **more}


def plan(*steps: dict[str, Any]) -> str:
    """Make a plan as a model writes it."""
    return json.dumps({"steps": list(steps) or [step()]})


def prompt_of(messages: list[BaseMessage]) -> str:
    """Give all that a model was told."""
    return "\n".join(message.text for message in messages)


class Scientist(ScriptedModel):
    """A model with a part for each node: texts, exceptions, or functions of the prompt.

    The last of a part is said again and again.
    """

    def __init__(
        self, *, thinker: Any = None, auditor: Any = None, synthesizer: Any = None
    ) -> None:
        parts = {
            "You plan": thinker or [plan()],
            "You check": auditor or [APPROVED],
            "You write": synthesizer or ["The pump cost a lot [S1]."],
        }
        told = {
            name: list(part) if isinstance(part, list) else [part] for name, part in parts.items()
        }

        def reply(messages: list[BaseMessage]) -> Any:
            role = next(name for name in told if messages[0].text.startswith(name))
            said = told[role].pop(0) if len(told[role]) > 1 else told[role][0]
            return said(prompt_of(messages)) if callable(said) else said

        super().__init__(reply)

    def prompts(self, role: str) -> list[str]:
        """Give what one part was told, each time."""
        calls = [call.messages for call in self.calls]
        return [prompt_of(each) for each in calls if each[0].text.startswith(f"You {role}")]
