"""The tool executor: the steps of an approved plan, those side by side that need not wait."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from langchain_core.tools import StructuredTool
from langgraph.types import Send

from deepnb.agents.research.desk import STEP_SECONDS, TRIES
from deepnb.agents.research.notes import FETCH
from deepnb.agents.research.state import ResearchState, StepResult, entry
from deepnb.agents.research.tools import Context
from deepnb.citations.registry import register
from deepnb.errors import DeepnbError, FetchError, PathError, StepError
from deepnb.events import plain
from deepnb.models.cassette.masking import mask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deepnb.agents.research.desk import Desk
    from deepnb.agents.research.state import Errand, Todo
    from deepnb.agents.research.tools import ResearchTool
    from deepnb.citations.shapes import Reading, Source
    from deepnb.interrupts import Plan, PlanStep

_ARGUMENTS = {
    "search_knowledge": "query",
    "web_search": "query",
    "read_file": "file_path",
    "fetch_page": "url",
}
"""What the input of a tool is called where its calls are shown."""
_PAUSE = 0.5  # seconds before a second try, and twice as many before a third


def execute(state: ResearchState) -> dict[str, Any]:
    """Register what steps have read, and give up on those whose own needs have failed."""
    plan, results = _plan(state), state["results"]
    sources, registered = state["sources"], {}
    for step in plan["steps"]:
        result = results.get(step["id"], {})
        if "readings" in result:
            sources, registered[step["id"]] = _register(sources, result)
    lost = _lost(plan, results)
    update = {**registered, **lost}
    whole = {**results, **update}
    return {
        "results": list(update.items()),
        "sources": _changed(state["sources"], sources),
        "todos": _todos(plan, whole),
        "reasoning": entry("tool_executor", _in_words(plan, whole, sources), aside=True),
    }


def next_steps(state: ResearchState) -> list[Send] | Literal["synthesizer"]:
    """Send out the steps that can begin; when none is left, have the report written."""
    plan, results = _plan(state), state["results"]
    external = sum(result.get("external", 0) for result in results.values())
    ready = [Send("run_step", _errand(state, step, external)) for step in _ready(plan, results)]
    return ready or "synthesizer"


async def run_step(desk: Desk, errand: Errand) -> dict[str, Any]:
    """Carry out one step; whatever goes wrong is its result, and sinks no other."""
    step, requests = errand["step"], _Requests(desk, errand)
    if reason := _forbidden(desk, step, requests.before):
        result: StepResult = {"status": "refused", "error": reason}
        said = f"Not carried out: {reason}"
    else:
        result, said = await _tried(desk, errand, requests)
    return {
        "results": [(step["id"], result)],
        "reasoning": entry("run_step", f"{step['title']}: {said}", aside=True),
    }


def _forbidden(desk: Desk, step: PlanStep, requests: int) -> str | None:
    """Say why a step may not be carried out: a plan may have been edited since it was audited."""
    if step["tool"] not in desk.tools:
        return f"There is no tool {step['tool']!r}."
    tool = desk.tools[step["tool"]]
    return desk.policy.permits(tool, step["input"], requests, step["depends_on"])


async def _tried(desk: Desk, errand: Errand, requests: _Requests) -> tuple[StepResult, str]:
    """Call the tool, again if that may help."""
    tool = desk.tools[errand["step"]["tool"]]
    tries = TRIES if tool.name in _ARGUMENTS else 1  # others may do more than read
    context = Context(errand["question"], errand["given"], requests.permits)
    began = time.monotonic()
    for number in range(1, tries + 1):
        if tool.leaves and tool.name != FETCH:  # which asks about each page, and counts them
            requests.count()
        try:
            async with asyncio.timeout(STEP_SECONDS):
                readings = await _call(tool, errand["step"]["input"], context)
        except Exception as problem:  # noqa: BLE001  # a tool may be anybody's
            error, final = _explained(problem)
        else:
            readings = _permitted(desk, readings, context)
            result: StepResult = {"status": "ok", "error": " ".join(context.problems)}
            result |= {"readings": readings, "external": requests.sent}
            return result, _found(readings, context, began)
        if final or number == tries or _forbidden(desk, errand["step"], requests.before):
            break
        await asyncio.sleep(_PAUSE * number)
    again = f" It was tried {number} times." if number > 1 else ""
    failed: StepResult = {"status": "failed", "error": error, "external": requests.sent}
    return failed, f"Failed: {error}{again}"


def _explained(problem: Exception) -> tuple[str, bool]:
    """Say what went wrong, and whether it is no use to try again."""
    if isinstance(problem, TimeoutError):
        return f"It took longer than {STEP_SECONDS:.0f} seconds.", False
    if isinstance(problem, FetchError):
        return str(problem), not problem.again
    if isinstance(problem, DeepnbError):
        return str(problem), isinstance(problem, PathError | StepError)
    return mask(f"{type(problem).__name__}: {problem}"), False


class _Requests:
    """Counts what leaves this machine for a question, also in steps that run side by side."""

    def __init__(self, desk: Desk, errand: Errand) -> None:
        self._desk, self._question = desk, errand["asked"]
        self.sent = 0
        desk.requests[self._question] = max(self.before, errand["external"])

    @property
    def before(self) -> int:
        """How many there were so far."""
        return self._desk.requests.get(self._question, 0)

    def permits(self, host: str) -> str | None:
        """Say why no request may be sent to a host, or None; then it counts as sent."""
        reason = self._desk.policy.permits_host(host, self.before)
        if reason is None:
            self.count()
        return reason

    def count(self) -> None:
        """Note a request."""
        self.sent += 1
        self._desk.requests[self._question] = self.before + 1


async def _call(tool: ResearchTool, given: str, context: Context) -> list[Reading]:
    """Call it as LangChain calls tools, so that whoever watches the run sees it."""
    name = _ARGUMENTS.get(tool.name, "input")

    async def run(**args: str) -> tuple[str, list[Reading]]:
        readings = await tool.run(args[name], context)
        return _summary(readings), readings

    shown = StructuredTool.from_function(
        coroutine=run,
        name=tool.name,
        description=tool.description,
        args_schema={
            "type": "object",
            "properties": {name: {"type": "string"}},
            "required": [name],
        },
        response_format="content_and_artifact",
    )
    call = {"type": "tool_call", "id": uuid4().hex, "name": tool.name, "args": {name: given}}
    message = await shown.ainvoke(call)
    found: list[Reading] = message.artifact
    return found


def _permitted(desk: Desk, readings: list[Reading], context: Context) -> list[Reading]:
    """Leave out what the knowledge base has read and the policy denies."""
    kept = [
        reading
        for reading in readings
        if reading["kind"] != "file" or desk.may_read(reading["location"])
    ]
    if denied := len(readings) - len(kept):
        context.problems.append(f"The policy denies {denied} of the documents that were found.")
    return kept


def _found(readings: list[Reading], context: Context, began: float) -> str:
    seconds = time.monotonic() - began
    return " ".join([f"{_summary(readings)} in {seconds:.1f} s.", *context.problems])


def _summary(readings: Sequence[Reading]) -> str:
    passages = sum(len(reading["passages"]) for reading in readings)
    if not passages:
        return "Nothing found"
    titles = ", ".join(dict.fromkeys(reading["title"] for reading in readings))
    return f"{passages} passage{'' if passages == 1 else 's'} from {titles}"


def _register(
    sources: dict[str, Source], result: StepResult
) -> tuple[dict[str, Source], StepResult]:
    """Give what a step has read its ids."""
    readings: list[Reading] = plain(result["readings"])
    sources = register(sources, readings, time.time())
    places = {(each["kind"], each["location"]): each for each in sources.values()}
    found = []
    for reading in readings:
        source = places[reading["kind"], reading["location"]]
        found += [(source["id"], source["passages"].index(each)) for each in reading["passages"]]
    rest: StepResult = {"status": result["status"], "error": result["error"]}
    return sources, {**rest, "found": found, "external": result["external"]}


def _changed(old: Mapping[str, Source], new: Mapping[str, Source]) -> dict[str, Source]:
    """Give the sources that were read for the first time, or further than before."""
    return {
        identity: source
        for identity, source in new.items()
        if identity not in old or len(source["passages"]) > len(old[identity]["passages"])
    }


def _plan(state: ResearchState) -> Plan:
    plan = state["plan"]
    assert plan  # noqa: S101  # it was approved
    return plan


def _ready(plan: Plan, results: Mapping[str, StepResult]) -> list[PlanStep]:
    return [
        step
        for step in plan["steps"]
        if step["id"] not in results and all(other in results for other in step["depends_on"])
    ]


def _lost(plan: Plan, results: Mapping[str, StepResult]) -> dict[str, StepResult]:
    """Find the steps that can never begin, since what they need has not come."""
    bad = {identity for identity, result in results.items() if result["status"] != "ok"}
    lost: dict[str, StepResult] = {}
    for _ in plan["steps"]:  # each may be lost through the one before
        for step in plan["steps"]:
            needed = [other for other in step["depends_on"] if other in bad]
            if needed and step["id"] not in results:
                error = f"It needs step {needed[0]}, which gave nothing."
                lost[step["id"]] = {"status": "failed", "error": error}
                bad.add(step["id"])
    return lost


def _errand(state: ResearchState, step: PlanStep, external: int) -> Errand:
    given = {
        other: _readings(state["results"][other], state["sources"]) for other in step["depends_on"]
    }
    return {
        "step": step,
        "question": state["question"],
        "asked": state["asked"],
        "given": given,
        "external": external,
    }


def _readings(result: StepResult, sources: Mapping[str, Source]) -> list[Reading]:
    """Give what a step has read, from what was kept of it."""
    passages: dict[str, list[int]] = {}
    for identity, number in result.get("found", []):
        passages.setdefault(identity, []).append(number)
    return [
        {
            "kind": sources[identity]["kind"],
            "title": sources[identity]["title"],
            "location": sources[identity]["location"],
            "passages": [sources[identity]["passages"][number] for number in numbers],
        }
        for identity, numbers in passages.items()
    ]


def _todos(plan: Plan, results: Mapping[str, StepResult]) -> list[Todo]:
    ready = {step["id"] for step in _ready(plan, results)}
    return [
        {
            "content": step["title"],
            "status": "completed"
            if step["id"] in results
            else "in_progress"
            if step["id"] in ready
            else "pending",
        }
        for step in plan["steps"]
    ]


def _in_words(plan: Plan, results: Mapping[str, StepResult], sources: Mapping[str, Source]) -> str:
    if not results:
        first = len(_ready(plan, results))
        return f"Began {first} of {len(plan['steps'])} steps{' at once' if first > 1 else ''}."
    failed = [step["id"] for step in plan["steps"] if results.get(step["id"], {}).get("error")]
    trouble = f" Trouble with step {', '.join(failed)}." if failed else ""
    return f"{len(results)} of {len(plan['steps'])} steps done, {len(sources)} sources.{trouble}"
