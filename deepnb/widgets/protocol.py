"""What the panel's two sides say to each other.

The browser sends a request, with an id of its own making, and is always answered: with a result or
with the reason why not. Whatever happened in the session comes as `News`: as the answer to `pull`,
which is all that a host needs to support, and unasked where the host lets a background thread
speak. News say after which event they begin, so that a view notices when it has missed some and
pulls; first paint, a reload and a missed message are the same thing.

The TypeScript types of the browser's side are made from this module, by `make protocol`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict  # typing's own is beyond pydantic on 3.11

from deepnb.events import Kind  # noqa: TC001  # pydantic reads it
from deepnb.widgets.file_protocol import FileFacts, FileRequest, FileWire
from deepnb.widgets.money_protocol import MoneyRequest, MoneyWire, PaymentFacts
from deepnb.widgets.request import Id, Name, Request, Seq, Words

VERSION = 1
"""Raised when an older page could misunderstand the kernel, or the other way round."""

RunStatus = Literal["queued", "running", "waiting", "stopped", "failed", "done"]
SessionStatus = Literal["idle", "running", "waiting", "stopped", "failed", "done", "closed"]


# From the browser


class Hello(Request):
    """A view has come up; answered with `News` from the beginning."""

    type: Literal["hello"]
    version: int
    host: Annotated[str, StringConstraints(max_length=64)]


class Pull(Request):
    """Asks for what has happened after `since`; answered with `News`.

    `replies_since` is the number of the last late reply that has arrived, and `push` whether
    anything ever came unasked, which `deepnb.doctor` likes to know.
    """

    type: Literal["pull"]
    since: Seq
    replies_since: Seq
    push: bool


class Ask(Request):
    """Asks the agent; queued if it is at work."""

    type: Literal["ask"]
    text: Words


class Steer(Request):
    """Tells the run under way something; refused if that is another one by now."""

    type: Literal["steer"]
    text: Words
    run: Id | None


class Unqueue(Request):
    """Takes back what was asked and has not begun."""

    type: Literal["unqueue"]
    run: Id


class Respond(Request):
    """Answers a question, by its id."""

    type: Literal["respond"]
    question: Id
    answer: JsonValue


class Preview(Request):
    """Asks what an action would do with other arguments; answered with `Previewed`."""

    type: Literal["preview"]
    question: Id
    action: Seq
    args: dict[str, JsonValue]


class Stop(Request):
    """Stops the run, or one subagent by the id of its call; refused if it is another run by now."""

    type: Literal["stop"]
    run: Id | None
    subagent: Name | None = None


class Resume(Request):
    """Goes on with a run that has failed or was cut off."""

    type: Literal["resume"]


class Resend(Request):
    """Asks again, in a branch that begins where a run did: a retry, or an edited question."""

    type: Literal["resend"]
    run: Id
    text: Words


class Fork(Request):
    """Branches off at a step, and asks there if there is a text; the panel shows the branch."""

    type: Literal["fork"]
    step: int | None = None
    text: Words | None = None


class WireTodo(BaseModel):
    """One todo of a list that a person has edited."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    content: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
    status: Literal["pending", "in_progress", "completed"]


class EditTodos(Request):
    """Replaces the todo list; refused if the agent has changed it after the event `seen`."""

    type: Literal["edit_todos"]
    todos: list[WireTodo]
    seen: Seq


class Settle(Request):
    """Says that the person has checked a claim of a run's report themselves, or takes that back.

    An empty note leaves the one that they have made before.
    """

    type: Literal["settle"]
    run: Id
    citation: Id
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)]
    checked: bool


class SetModel(Request):
    """Has another model answer from now on."""

    type: Literal["set_model"]
    spec: Name


class Threads(Request):
    """Asks for the threads of the workspace; answered with `Listed`."""

    type: Literal["threads"]


class OpenThread(Request):
    """Has the panel show another thread."""

    type: Literal["open_thread"]
    name: Name


class NewThread(Request):
    """Has the panel show a thread that is begun now."""

    type: Literal["new_thread"]


class Export(Request):
    """Asks for the conversation as a text; answered with `Exported`."""

    type: Literal["export"]
    format: Literal["md", "html"]


class ExportReport(Request):
    """Asks for a run's report as a file; answered with `Download`."""

    type: Literal["export_report"]
    run: Id
    format: Literal["md", "html", "docx", "ipynb", "bib"]


class Transcribe(Request):
    """Asks for what a notebook keeps beside a panel; answered with `Exported`."""

    type: Literal["transcribe"]
    panel: Id


AnyRequest = Annotated[
    Hello
    | Pull
    | Ask
    | Steer
    | Unqueue
    | Respond
    | Preview
    | Stop
    | Resume
    | Resend
    | Fork
    | EditTodos
    | Settle
    | SetModel
    | Threads
    | OpenThread
    | NewThread
    | Export
    | ExportReport
    | Transcribe
    | MoneyRequest
    | FileRequest,
    Field(discriminator="type"),
]
REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)


# From the kernel


class WireEvent(TypedDict):
    """An `Event`; what is empty is left out. `line` says in one plain line what happened."""

    seq: int
    time: float
    kind: Kind
    run: NotRequired[str]
    agent: NotRequired[str]
    parent: NotRequired[str]
    call: NotRequired[str]
    node: NotRequired[str]
    step: NotRequired[int]
    name: NotRequired[str]
    line: NotRequired[str]
    data: dict[str, Any]


class Model(TypedDict):
    """The model that answers, how it was chosen, and whether it can.

    `progress` is a share of 1 while it loads, null if nobody knows. `offline` is deepnb's own,
    which quotes and needs nothing.
    """

    name: str
    rule: str
    state: Literal["offline", "ready", "loading", "failed"]
    detail: str
    progress: float | None
    can_switch: bool


class KnowledgeWork(TypedDict):
    """What is being done to the documents that are searched; `total` is 0 if nobody knows."""

    phase: Literal["reading", "waiting", "loading", "embedding"]
    done: int
    total: int


class ModelOption(TypedDict):
    """A model that could be switched to."""

    spec: str
    rule: str


class Limit(TypedDict):
    """One limit of the session's budget."""

    unit: Literal["calls", "tokens", "usd"]
    limit: float
    spent: float


class Starter(TypedDict):
    """A card in the empty state; a click puts `text` into the input."""

    title: str
    text: str


class QuickAction(TypedDict):
    """A chip under the input; a click asks `text`."""

    label: str
    text: str


class Facts(TypedDict):
    """How the session stands, beside its events.

    `opening` is Python that opens the thread in a new kernel; empty where nobody can tell.
    `knowledge` is null when nothing is done to the documents that it searches, if there are any;
    `files` is while the session is closed, and `payment` also if nobody pays for it.
    """

    version: int
    agent: str
    thread: str
    title: str
    workspace: str
    opening: str
    forked_from: str
    status: SessionStatus
    waiting_for: str
    can_resume: bool
    model: Model | None
    models: list[ModelOption]
    knowledge: KnowledgeWork | None
    files: FileFacts | None
    budget: list[Limit]
    payment: PaymentFacts | None
    starters: list[Starter]
    actions: list[QuickAction]
    takes_messages: bool
    has_todos: bool
    kept: bool


class Refusal(TypedDict):
    """Why a request was not carried out; `kind` is the name of an error of `deepnb.errors`."""

    kind: str
    text: str


class Reply(TypedDict):
    """The answer to a request.

    `error` is null if it was carried out. `later` is true if that takes a while: then another
    reply follows, by itself or with news, and `number` counts those.
    """

    type: Literal["reply"]
    id: str
    view: str
    later: bool
    number: int
    result: Any
    error: Refusal | None


class News(TypedDict):
    """What has happened after the event `after`, up to `last`; `more` if there is more to pull.

    What is told by a later event of the same news is left out, so numbers may have gaps. `facts`
    are null if they are what they were.
    """

    thread: str
    after: int
    last: int
    more: bool
    events: list[WireEvent]
    facts: Facts | None
    replies: list[Reply]


class Push(TypedDict):
    """News that nobody has asked for."""

    type: Literal["push"]
    news: News


class Previewed(TypedDict):
    """What an action would do, in the form of an action's description."""

    description: str


class Thread(TypedDict):
    """A thread of the workspace."""

    name: str
    title: str
    status: str
    agent: str
    runs: int
    updated: float | None
    forked_from: str
    can_open: bool


class Listed(TypedDict):
    """The threads of the workspace, the latest first."""

    threads: list[Thread]


class Exported(TypedDict):
    """The conversation as a text."""

    name: str
    text: str


class Download(TypedDict):
    """A file to be downloaded; its bytes are in base64, for messages are text."""

    name: str
    content: str


class Wire(TypedDict):
    """Everything, for the browser's types to be made from."""

    request: AnyRequest
    reply: Reply
    push: Push
    previewed: Previewed
    listed: Listed
    exported: Exported
    download: Download
    money: MoneyWire
    files: FileWire


class _WithoutTitles(GenerateJsonSchema):
    """Names no field: each would become a type of its own in TypeScript."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Say no."""
        return False


def schema() -> dict[str, Any]:
    """Give the JSON schema of all that crosses."""
    return TypeAdapter(Wire).json_schema(schema_generator=_WithoutTitles)
