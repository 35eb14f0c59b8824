"""What a run can ask a person, and what counts as an answer.

Requests are plain JSON objects, `type` first, so that any client can show them. Answers are
strict models: LangGraph checks one against its question before anything is saved, so that a
malformed answer is refused with a reason and the question stays open.

    tool_approval          ->  {"decisions": [{"type": "approve" | "reject" | "edit" | ...}, ...]};
                               "approve" may come with "always": a pattern, see `covers`
    client_tool_execution  ->  {"result": ...} | {"error": "..."}
    clarification_request  ->  {"response": "..."} | {"selected": [...], "freeform"?: "..."}
    plan_approval          ->  {"approved": true, "plan"?: {"steps": [...]}} as it is, or edited
                               {"approved": false, "reason"?: "..."}
    budget_exhausted       ->  {"raise_to": 2.5} | {"stop": true}
    payment_exhausted      ->  {"token": handle of a deposit} | {"stop": true}
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NotRequired,
    Self,
    TypedDict,
    TypeVar,
    cast,
)

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    model_validator,
)
from typing_extensions import TypeVar as DefaultTypeVar

from deepnb.errors import AnswerError, NobodyToAskError

if TYPE_CHECKING:
    from collections.abc import Sequence

Result = DefaultTypeVar("Result", default=JsonValue)
AnswerType = TypeVar("AnswerType", bound="Answer")
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Pattern = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
_WRAP = r"[ \t]*(?:\r?\n|(?:\\r)?\\n)[ ]*(?:\d+(?:\t|\\t))?[ \t>]*"
_CODE = "[A-Za-z0-9_+/-]"
MONEY = re.compile(
    f"cashu[AB](?:{_CODE}{{16,80}}(?:{_WRAP}{_CODE}{{60,}})*{_WRAP}{_CODE}+|{_CODE}{{16,}})=*"
)
"""What looks like a Cashu token: whoever has read it can spend it, so that nothing may hold it.

It may be wrapped, as mails are, and shown with the numbers of its lines.
"""
HANDLE = re.compile("cashu:[0-9a-f]{32}")
"""What a deposit goes by, which is worth nothing."""


class ClientToolRequest(TypedDict):
    """A tool that only the client can run, since the files are with the client."""

    type: Literal["client_tool_execution"]
    tool: str
    tool_call_id: str
    args: dict[str, JsonValue]


class Option(TypedDict):
    """One of the choices that a clarification offers."""

    id: str
    label: str


class ClarificationRequest(TypedDict):
    """A question to the person; `options` is empty for `ask_user`."""

    type: Literal["clarification_request"]
    tool: Literal["ask_user", "ask_choices"]
    tool_call_id: str
    question: str
    options: list[Option]
    allow_multiple: bool
    allow_freeform: bool


class Action(TypedDict):
    """A tool call that waits for approval."""

    name: str
    args: dict[str, Any]
    description: str


class Review(TypedDict):
    """What may be decided about the action at the same place.

    `always` is what a pattern has to cover if the action is to be approved for good: the path of
    a file, or "*" for a tool that has none. Without it, an approval is for this action alone.
    `args_schema` is the JSON schema of what the tool takes, for whoever edits its arguments.
    """

    action_name: str
    allowed_decisions: list[str]
    always: NotRequired[str]
    args_schema: NotRequired[dict[str, Any]]


class ApprovalRequest(TypedDict):
    """Tool calls of one turn that a person decides about, each on its own."""

    type: Literal["tool_approval"]
    action_requests: list[Action]
    review_configs: list[Review]


class PlanStep(TypedDict):
    """One step of a plan; `depends_on` has the ids of those that come before it."""

    id: str
    title: str
    tool: str
    input: str
    rationale: str
    depends_on: list[str]


class Plan(TypedDict):
    """What is to be done, and for which question."""

    question: NotRequired[str]
    steps: list[PlanStep]


class Check(TypedDict):
    """One thing that was looked at before a person is asked about a plan."""

    name: str
    status: Literal["ok", "warn", "bad"]
    note: str


class Audit(TypedDict):
    """What came of looking at a plan, by which policy."""

    passed: bool
    summary: str
    policy: str
    checks: list[Check]
    remarks: list[str]


class PlanRequest(TypedDict):
    """A plan that a person approves, as it is or with changes, before it is carried out.

    An edited plan may use the tools that the plan itself uses, and those in `tools`. `refusals` is
    how many plans the audit has refused before.
    """

    type: Literal["plan_approval"]
    plan: Plan
    audit: Audit | None
    tools: NotRequired[list[str]]
    refusals: NotRequired[int]


class BudgetRequest(TypedDict):
    """The run has spent what it may spend, counted in `unit`."""

    type: Literal["budget_exhausted"]
    unit: Literal["calls", "tokens", "usd"]
    limit: float
    spent: float


class PaymentRequest(TypedDict):
    """What was paid in, in sat, does not cover the next model call; `mints` are those taken."""

    type: Literal["payment_exhausted"]
    price: int
    balance: int
    mints: list[str]


Request = (
    ApprovalRequest
    | ClientToolRequest
    | ClarificationRequest
    | PlanRequest
    | BudgetRequest
    | PaymentRequest
)


class Answer(BaseModel):
    """What every answer has in common: no extra fields, no coercion, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def fit(self, request: Any) -> None:
        """Raise a ValueError that says why this answer does not fit `request`."""


class EditedAction(Answer):
    """The call to make in place of the one that was asked about."""

    name: str
    args: dict[str, Any]


class Decision(Answer):
    """What a person decided about one action.

    `always` is a pattern of later calls of the same tool that need not be asked about.
    """

    type: Literal["approve", "edit", "reject", "respond"]
    message: str | None = None
    edited_action: EditedAction | None = None
    always: Pattern | None = None

    @model_validator(mode="after")
    def _says_what_it_needs(self) -> Self:
        if (self.edited_action is not None) != (self.type == "edit"):
            raise ValueError("'edited_action' goes with type 'edit', and with no other")
        if self.type == "respond" and self.message is None:
            raise ValueError("'respond' needs a 'message'")
        if self.always is not None and self.type != "approve":
            raise ValueError("'always' goes with type 'approve', and with no other")
        return self


class ApprovalAnswer(Answer):
    """One decision for each action, in their order."""

    decisions: list[Decision]

    def fit(self, request: ApprovalRequest) -> None:
        """Decide about everything that was asked, in ways that were offered."""
        actions, reviews = request["action_requests"], request["review_configs"]
        if len(self.decisions) != len(actions):
            plural = "s" if len(actions) > 1 else ""
            raise ValueError(f"send {len(actions)} decision{plural}, one for each action")
        for decision, action, review in zip(self.decisions, actions, reviews, strict=True):
            if decision.type not in review["allowed_decisions"]:
                allowed = ", ".join(review["allowed_decisions"])
                raise ValueError(f"{action['name']} can be decided by: {allowed}")
            if decision.edited_action and decision.edited_action.name != action["name"]:
                raise ValueError(f"an edit of {action['name']} cannot call another tool")
            if decision.always is not None:
                _check_always(decision.always, action["name"], review.get("always"))


def _check_always(pattern: str, tool: str, target: str | None) -> None:
    if target is None:
        raise ValueError(f"this call of {tool} can only be approved by itself; leave 'always' out")
    if not covers(pattern, target):
        raise ValueError(f"'always' must be a pattern that covers this call, such as {target!r}")


def covers(pattern: str, target: str) -> bool:
    """Whether a pattern of what is always approved fits.

    Args:
        pattern: Of paths, where `*` and `?` stand for what a name may hold and `**` for any number
            of folders; or "*", for all calls of a tool without a path.
        target: A path in its one spelling, or "*".
    """
    if target == "*":
        return pattern == "*"
    names = target.split("/")
    ends = {0}  # how many names the pattern can have used up so far
    for part in pattern.split("/"):
        if part == "**":
            ends = set(range(min(ends), len(names) + 1)) if ends else ends
        else:
            literal = part.replace("[", "[[]")  # brackets are nothing special in a path
            ends = {n + 1 for n in ends if n < len(names) and fnmatchcase(names[n], literal)}
    return len(names) in ends


class ClientToolAnswer(Answer, Generic[Result]):
    """What the tool gave, or why it could not; the parameter is the shape of the result."""

    result: Result = None  # type: ignore[assignment]  # absent; model_fields_set tells it from null
    error: Text | None = None

    @model_validator(mode="after")
    def _either_result_or_error(self) -> Self:
        if len(self.model_fields_set) != 1 or ("error" in self.model_fields_set and not self.error):
            raise ValueError("send either 'result' or 'error', exactly one of them")
        return self


class TextAnswer(Answer):
    """The answer to `ask_user`."""

    response: Text


class ChoiceAnswer(Answer):
    """The answer to `ask_choices`: ids of options, words of one's own, or both."""

    selected: list[str]
    freeform: Text | None = None

    def fit(self, request: ClarificationRequest) -> None:
        """Choose what was offered, and as many as were asked for."""
        offered = [option["id"] for option in request["options"]]
        if unknown := [choice for choice in self.selected if choice not in offered]:
            raise ValueError(f"{unknown[0]!r} is not an option; choose from {', '.join(offered)}")
        if len(set(self.selected)) != len(self.selected):
            raise ValueError("an option was selected twice; send each id once")
        if len(self.selected) > 1 and not request["allow_multiple"]:
            raise ValueError("select one option only")
        if self.freeform and not request["allow_freeform"]:
            raise ValueError("this question takes no free text; select an option")
        if not self.selected and not self.freeform:
            raise ValueError("nothing was selected")


class EditedStep(Answer):
    """A step of the plan to carry out; see `PlanStep`."""

    id: Name
    title: Text
    tool: str
    input: str = ""
    rationale: str = ""
    depends_on: list[str] = []


class EditedPlan(Answer):
    """The plan to carry out in place of the one that was asked about."""

    question: str | None = None
    steps: list[EditedStep] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Self:
        check_order([(step.id, step.depends_on) for step in self.steps])
        return self


def check_order(steps: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Check that steps can be carried out one after another.

    Args:
        steps: Their ids, and the ids of those that come before each.

    Raises:
        ValueError: They cannot; it says why.
    """
    ids = [identity for identity, _ in steps]
    if len(set(ids)) != len(ids):
        raise ValueError("two steps have the same id")
    for identity, before in steps:
        if unknown := [other for other in before if other not in ids]:
            raise ValueError(f"step {identity!r} depends on {unknown[0]!r:.60}, which is none")
    try:
        TopologicalSorter(dict(steps)).prepare()
    except CycleError as error:
        raise ValueError(f"steps wait for each other: {', '.join(error.args[1])}") from None


class PlanAnswer(Answer):
    """Yes, to the plan as it is or as it was edited; or no, and why."""

    approved: bool
    plan: EditedPlan | None = None
    reason: Text | None = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.plan is not None and not self.approved:
            raise ValueError("'plan' goes with 'approved': true; leave it out to reject")
        if self.reason is not None and self.approved:
            raise ValueError("'reason' goes with 'approved': false")
        return self

    def fit(self, request: PlanRequest) -> None:
        """Use the tools that there are."""
        tools = {step["tool"] for step in request["plan"]["steps"]} | {*request.get("tools", ())}
        for step in self.plan.steps if self.plan else ():
            if step.tool not in tools:
                known = ", ".join(sorted(tools))
                raise ValueError(f"there is no tool {step.tool!r:.60} here; choose from {known}")


class BudgetAnswer(Answer):
    """A new limit, or the end of the run.

    Whether the limit is high enough is not a matter of the answer's form: by the time the run
    goes on, others may have spent more, and then the question is simply asked again.
    """

    raise_to: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    stop: Literal[True] | None = None

    @model_validator(mode="after")
    def _either_raise_or_stop(self) -> Self:
        if (self.raise_to is None) == (self.stop is None):
            raise ValueError("send either 'raise_to' or 'stop': true, exactly one of them")
        return self


def _is_handle(token: str) -> str:
    if not HANDLE.fullmatch(token):
        raise ValueError(
            "send the handle of a deposit, and not the money, which goes to session.fund(token), "
            "or to till.deposit(thread_id, token) where there is no session"
        )
    return token


class PaymentAnswer(Answer):
    """The handle of a deposit that was made meanwhile, or the end of the run.

    As with a budget, whether it is enough is found out when the run goes on.
    """

    token: Annotated[str, AfterValidator(_is_handle)] | None = None
    stop: Literal[True] | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_money(cls, answer: Any) -> Any:
        # An answer that is refused is repeated in the error, which is shown and kept.
        return {"token": "…"} if MONEY.search(str(answer)) else answer

    @model_validator(mode="after")
    def _either_token_or_stop(self) -> Self:
        if (self.token is None) == (self.stop is None):
            raise ValueError("send either 'token' or 'stop': true, exactly one of them")
        return self


def ask(request: Request, answer_type: type[AnswerType]) -> AnswerType:
    """Pause the run until someone gives an answer of `answer_type` that fits `request`.

    Call it inside a graph that has a checkpointer. The node runs again from its start when the
    answer comes, so side effects belong after this call. A malformed answer makes the resuming
    call raise; `refusal` turns what it raised into an explanation.

    Raises:
        NobodyToAskError: The run could never be continued with an answer.
    """
    from langgraph.runtime import get_runtime
    from langgraph.types import interrupt

    execution = get_runtime().execution_info
    if execution is None or execution.thread_id is None:
        raise NobodyToAskError(
            "This needs an answer from a person, and a run without a checkpointer cannot wait for "
            "one. Build the agent with checkpointer=..., and run it with a thread_id."
        )

    def check(answer: AnswerType) -> AnswerType:
        answer.fit(request)
        return answer

    schema = Annotated.__class_getitem__((answer_type, AfterValidator(check)))  # type: ignore[attr-defined]  # a type made at run time
    return cast("AnswerType", interrupt(request, response_schema=schema))


def refusal(error: BaseException) -> AnswerError | None:
    """Explain an exception of a resumed run, if a malformed answer caused it."""
    from langgraph.errors import is_invalid_resume

    if not is_invalid_resume(error) or not isinstance(error, ValidationError):
        return None
    return explain_invalid(error)


def explain_invalid(error: ValueError) -> AnswerError:
    """Explain what is wrong with an answer that was checked."""
    reasons = []
    if isinstance(error, ValidationError):
        for problem in error.errors(include_url=False, include_input=False, include_context=False):
            where = ".".join(str(part) for part in problem["loc"])
            what = problem["msg"].removeprefix("Value error, ")
            reasons.append(f"{where}: {what}" if where else what)
    return AnswerError(
        "The answer was refused and the question is still open: "
        f"{'; '.join(reasons) or str(error)}."
    )
