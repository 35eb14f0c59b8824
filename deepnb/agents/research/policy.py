"""What research may do: which files, hosts, tools and words, as a person wrote it down.

A policy is a `POLICY.md`; `rules.py` says how it is written. It is asked twice: about a plan before
a person sees it, and about each call right before it is made, because a plan may have been edited
or forged in between. What is not allowed is denied, and a denial outweighs what allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self
from urllib.parse import unquote

from pydantic import ValidationError

from deepnb.agents.research import hosts, notes
from deepnb.agents.research.notes import (
    CONTENT,
    DATA,
    EXTERNAL,
    FETCH,
    READ,
    SEARCH,
    TOOLS,
    WEB_SEARCH,
    Objection,
)
from deepnb.agents.research.policy_file import located
from deepnb.agents.research.rules import LARGEST, About, Rule, read
from deepnb.agents.research.spellings import (
    decoded,
    fold,
    fold_path,
    has_words,
    shown,
    spellings,
)
from deepnb.errors import PolicyError
from deepnb.files.paths import safe_parts
from deepnb.interrupts import Check, EditedPlan, EditedStep, Plan, covers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

LONGEST_INPUT = 2_000

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>(){}\[\],]*")


class ToolFacts(Protocol):
    """What a policy has to know about a tool."""

    @property
    def name(self) -> str:
        """What a plan calls it."""

    @property
    def leaves(self) -> bool:
        """Whether it sends something to other machines."""


class Findings(NamedTuple):
    """What came of checking a plan: one check for each area, and every reason against it."""

    checks: list[Check]
    reasons: list[str]


@dataclass(frozen=True)
class Policy:
    """The rules that apply to a run.

    Attributes:
        name: Which policy it is, in words.
        rules: What it allows and denies.
        text: What it says in prose, for the model that audits a plan after the rules.
    """

    name: str
    rules: tuple[Rule, ...]
    text: str = ""

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """Read a policy.

        Raises:
            PolicyError: Something in it is not understood; it names the line.
        """
        if len(text) > LARGEST:
            raise PolicyError(f"{name} is longer than {LARGEST // 1024} KB. Shorten it.")
        return cls(name, *read(text, name))

    @cached_property
    def most_requests(self) -> int:
        """How many requests may leave this machine in one run."""
        return min(map(int, self._values("at most", "requests")), default=0)

    def check(self, plan: Plan, tools: Mapping[str, ToolFacts]) -> Findings:
        """Check a plan before a person is asked about it; the same plan gives the same result."""
        try:
            steps = EditedPlan.model_validate({"steps": plan.get("steps")}).steps
        except (ValidationError, AttributeError) as error:
            why = f"The plan cannot be carried out: {_explained(error)}"
            return Findings(notes.malformed(why), [why])
        found = [*self._of_question(plan.get("question")), *self._of_steps(steps, tools)]
        leaving = [number for number, step in enumerate(steps, 1) if _leaves(step.tool, tools)]
        checks = notes.checks(steps, leaving, found)
        return Findings(checks, list(dict.fromkeys(objection.why for objection in found)))

    def permits(
        self,
        tool: ToolFacts,
        given: str,
        requests_so_far: int = 0,
        earlier: Collection[str] = (),
    ) -> str | None:
        """Say why a call may not be made, or None; ask right before it is made.

        Args:
            tool: What is called.
            given: Its input.
            requests_so_far: How many have left this machine in this run.
            earlier: Ids of the steps it depends on: `fetch_page` may be given one of them, and then
                has to ask `permits_host` about each page.
        """
        leaves = tool.leaves or tool.name in (WEB_SEARCH, FETCH)
        if leaves and requests_so_far >= self.most_requests:
            return self._too_many()
        objection = next(self._of_call(tool.name, given, earlier, leaves=leaves), None)
        return objection.why if objection else None

    def permits_host(self, host: str, requests_so_far: int | None = None) -> str | None:
        """Say why nothing may be fetched from a host, or None; ask for each redirect as well."""
        if requests_so_far is not None and requests_so_far >= self.most_requests:
            return self._too_many()
        try:
            normal = hosts.normal_host(host)
        except ValueError as error:
            return str(error)
        for pattern in self._values("deny", "hosts"):
            if hosts.is_below(pattern, normal):
                return f"The policy denies the host {normal} ({pattern})."
        if any(hosts.fits(each, normal) for each in self._values("allow", "hosts")):
            return None
        return f"The policy does not allow the host {normal}."

    def permits_file(self, path: str) -> str | None:
        """Say why a file of the workspace may not be read, or None."""
        if why := self.denies_file(path):
            return why
        for spelling in decoded(path, unquote):
            name = "/".join(safe_parts(spelling))
            if not any(covers(pattern, name) for pattern in self._values("allow", "files")):
                return f"The policy does not allow the file {shown(name)}."
        return None

    def denies_file(self, path: str) -> str | None:
        """Say which denial a file falls under, or None; this holds for the knowledge base too.

        A denial holds in every folder and for everything in a folder it names, in any case.
        """
        try:
            names = ["/".join(safe_parts(each)) for each in decoded(path, unquote)]
        except ValueError as error:  # which a PathError is, too
            return str(error)
        if not all(names):
            return "That is a folder and not a file. Name the file."
        for pattern in self._values("deny", "files"):
            if any(covers(f"**/{fold_path(pattern)}/**", fold_path(name)) for name in names):
                return f"The policy denies the file {shown(path)} ({pattern})."
        return None

    def denies_words(self, text: str) -> str | None:
        """Say which words in a text are denied, or None."""
        try:
            seen = [fold(spelling) for spelling in spellings(text)]
        except ValueError as error:
            return str(error)
        for words in self._values("deny", "words"):
            if any(has_words(each, fold(words)) for each in seen):
                return f"The policy denies the words “{words}”."
        return None

    def _values(self, verb: str, about: About) -> Iterator[str]:
        for rule in self.rules:
            if (rule.verb, rule.about) == (verb, about):
                yield from rule.values

    def _of_question(self, question: str | None) -> Iterator[Objection]:
        if why := self.denies_words(question or ""):
            yield Objection(CONTENT, f"The question: {why}")

    def _of_steps(
        self, steps: list[EditedStep], tools: Mapping[str, ToolFacts]
    ) -> Iterator[Objection]:
        leaving = 0
        for number, step in enumerate(steps, 1):
            leaving += _leaves(step.tool, tools)
            found = list(self._of_step(step, tools))
            if _leaves(step.tool, tools) and leaving > self.most_requests:
                found.append(Objection(EXTERNAL, self._too_many()))
            yield from (Objection(area, f"Step {number}: {why}") for area, why in found)

    def _of_step(self, step: EditedStep, tools: Mapping[str, ToolFacts]) -> Iterator[Objection]:
        if step.tool in tools:
            leaves = _leaves(step.tool, tools)
            yield from self._of_call(step.tool, step.input, step.depends_on, leaves=leaves)
        else:
            yield Objection(TOOLS, f"There is no tool {shown(step.tool)}.")
        for text in (step.title, step.rationale):
            if why := self.denies_words(text):
                yield Objection(CONTENT, why)

    def _of_call(
        self, tool: str, given: str, earlier: Collection[str], *, leaves: bool
    ) -> Iterator[Objection]:
        """Everything that speaks against a call, but the number of requests."""
        if why := self._denies_tool(tool):
            yield Objection(TOOLS, why)
        if not given.strip() or len(given) > LONGEST_INPUT:
            said = f"has more than {LONGEST_INPUT} characters" if given.strip() else "is empty"
            yield Objection(TOOLS, f"The input of {shown(tool)} {said}.")
            return
        if why := self.denies_words(given):
            yield Objection(CONTENT, why)
        if tool == SEARCH and (why := self._denies_knowledge()):
            yield Objection(DATA, why)
        if tool == READ and (why := self.permits_file(given.strip())):
            yield Objection(DATA, why)
        if leaves and (why := self._denies_addresses(tool, given.strip(), earlier)):
            yield Objection(EXTERNAL, why)

    def _denies_tool(self, tool: str) -> str | None:
        for pattern in self._values("deny", "tools"):
            if fnmatchcase(tool.casefold(), pattern.casefold()):
                return f"The policy denies the tool {shown(tool)}."
        if any(fnmatchcase(tool, pattern) for pattern in self._values("allow", "tools")):
            return None
        return (
            f"The policy does not allow the tool {shown(tool)}. "
            f"Its owner can write '- allow {shown(tool)}' under 'Allowed tools'."
        )

    def _denies_knowledge(self) -> str | None:
        if any(self._values("deny", "knowledge")):
            return "The policy denies the knowledge base."
        if any(self._values("allow", "knowledge")):
            return None
        return "The policy does not allow the knowledge base."

    def _denies_addresses(self, tool: str, given: str, earlier: Collection[str]) -> str | None:
        try:
            for address in _addresses(tool, given, earlier):
                if why := self.permits_host(hosts.host_of(address)):
                    return why
        except ValueError as error:
            return str(error)
        return None

    def _too_many(self) -> str:
        if self.most_requests:
            return f"The policy allows at most {self.most_requests} external requests."
        return (
            "The policy allows no external requests. "
            "Its owner can write '- at most 10 external requests' under 'External requests'."
        )


def find(given: str | Path | None = None, workspace: Path | None = None) -> Policy:
    """Find the policy that applies: the given one, else beside the notebook, else the workspace's.

    Only where there is none of them does the one apply that comes with deepnb. The name of a policy
    says which one it is.

    Args:
        given: A file, or the text of a policy (which has more than one line).
        workspace: The folder that is worked in.

    Raises:
        PolicyError: It is not there although it was given, or it cannot be read or understood.
    """
    return Policy.parse(*located(given, workspace))


def _explained(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "it is not a plan."
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = " ".join(str(part) for part in problem["loc"])
    what = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {what}." if where else f"{what}."


def _leaves(tool: str, tools: Mapping[str, ToolFacts]) -> bool:
    """Whether a step leaves this machine; of a tool that nobody knows, we have to think so."""
    return tool in (WEB_SEARCH, FETCH) or tool not in tools or tools[tool].leaves


def _addresses(tool: str, given: str, earlier: Collection[str]) -> list[str]:
    """The web addresses that a call names; what a search engine is asked is none."""
    if tool == WEB_SEARCH or (tool == FETCH and given in earlier):
        return []
    if tool == FETCH:
        return [given]
    found = [each for text in spellings(given) for each in _ADDRESS.findall(text)]
    return [address.rstrip(".;:!?") for address in found]
