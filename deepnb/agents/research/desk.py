"""What the nodes of the research graph work with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from deepnb.agents.research.policy_file import is_policy

if TYPE_CHECKING:
    from pathlib import Path

    from deepnb.agents.research.asking import Asker
    from deepnb.agents.research.policy import Policy
    from deepnb.agents.research.tools import ResearchTool
    from deepnb.knowledge import Knowledge, Overview

STEP_SECONDS = 60.0
TRIES = 3

_known: WeakValueDictionary[Path, Knowledge] = WeakValueDictionary()
"""By folder; each as long as somebody uses it."""


def knowledge_in(folder: Path) -> Knowledge:
    """Give the documents of a folder, to all who ask the same ones."""
    from deepnb.knowledge import Knowledge

    folder = folder.resolve()
    known = _known.get(folder)
    if known is None or known.is_closed:
        known = _known[folder] = Knowledge(folder)
    return known


@dataclass(frozen=True)
class Desk:
    """Made once, when the graph is built.

    Attributes:
        asker: Whom to ask for plans, verdicts and reports; None if there is no language model, and
            everything is done by rule.
        tools: What a step can use, by name.
        policy: What plans are checked against.
        knowledge: What the documents hold; None if there are none.
        requests: How many requests have left this machine, by question.
    """

    asker: Asker | None
    tools: dict[str, ResearchTool]
    policy: Policy
    knowledge: Knowledge | None
    requests: dict[str, int] = field(default_factory=dict)

    @property
    def local_tools(self) -> list[str]:
        """Names of the tools that send nothing to other machines."""
        return [name for name, tool in self.tools.items() if not tool.leaves]

    def may_read(self, location: str) -> bool:
        """Whether the policy leaves a document of the knowledge base to be seen."""
        return self.policy.denies_file(location) is None

    def overview(self) -> list[Overview]:
        """What the documents hold that may be seen; a policy is none of them."""
        known = self.knowledge.overview() if self.knowledge else []
        seen = [each for each in known if self.may_read(each.location)]
        return [each for each in seen if not is_policy(each.location)]

    def counted(self) -> tuple[int, int]:
        """How many documents may be seen, and how many the policy leaves out."""
        known = self.knowledge.documents.location if self.knowledge else ()
        may = [self.may_read(each) for each in known if not is_policy(each)]
        return sum(may), len(may) - sum(may)
