"""What a graph streams, told in deepnb's vocabulary.

LangGraph's stream says everything, some of it several times: tools start again after an
interrupt, a subagent's question appears at every level above it, and the files a subagent wrote
come back with its parent. Here each thing is said once.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.types import Command, Interrupt, Overwrite

from deepnb.events import short
from deepnb.middleware.diffs import diff
from deepnb.models.cassette.masking import mask
from deepnb.session.words import Words, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from langgraph.types import StateSnapshot

    from deepnb.events import Event, Kind
    from deepnb.models.prices import Prices
    from deepnb.record.log import Log

MODES = ["messages", "updates", "tasks", "tools", "checkpoints"]
Namespace = tuple[str, ...]

_LONGEST_TODO = 2_000
_LONGEST_REASONING = 2_000

_SWALLOWED = "Error: glob failed: (Interrupt(value={'type': 'client_tool_execution'"
"""How deepagents' glob tells that it has caught a pause for the client: it will be called again."""


@dataclass
class Scope:
    """An agent in the stream: the graph itself, or one that a tool call or node has started."""

    agent: str
    parent: str = ""
    call: str = ""
    since: float = field(default_factory=time.monotonic)


class Translator:
    """Turns the chunks of a run's streams into events.

    Args:
        log: Where events go.
        agent: What the graph is called.
        run: Id of the run; its streams, if it was interrupted, are all fed to one translator.
        prices: Of models that the price list does not know.
    """

    def __init__(self, log: Log, agent: str, run: str, prices: Prices) -> None:
        self._log = log
        self._run = run
        self._scopes: dict[Namespace, Scope] = {(): Scope(agent)}
        self._calls: dict[str, dict[str, Any]] = {}  # tool calls, by namespace and id, and by task
        self._began: dict[str, float] = {}  # when tasks and tool calls began
        self._told: set[tuple[Kind, Namespace, str]] = set()
        self._files: dict[str, str] = {}
        self._todos: dict[Namespace, Any] = {}
        self._sources: dict[str, Any] = {}
        self._held: list[Callable[[], Event]] = []
        self._words = Words(self._tell_words, prices)
        self.outputs: dict[str, Any] = {}
        """What the root's tools have given since the last checkpoint, by call."""
        self.step: int | None = None
        self.checkpoint = ""
        self._ended: dict[str, str] = {}
        self.last_tasks: dict[str, str] = {}
        """The root's tasks that the last checkpoint is the result of: their nodes, by namespace."""
        self._questions: dict[str, tuple[Interrupt, Scope]] = {}
        self._nameless = False  # whether the root has said something that has no id yet

    def feed(self, namespace: Namespace, mode: str, chunk: Any) -> None:
        """Take one chunk of `astream(stream_mode=MODES, subgraphs=True)`."""
        if mode == "messages":
            self._words.add(namespace, *chunk)
        elif mode == "tasks":
            self._task(namespace, chunk)
        elif mode == "tools":
            self._tool(namespace, chunk)
        elif mode == "updates":
            self._updates(namespace, chunk)
        elif mode == "checkpoints" and not namespace:
            self._checkpoint(chunk)

    def _checkpoint(self, chunk: Mapping[str, Any]) -> None:
        identity = chunk["config"]["configurable"]["checkpoint_id"]
        if identity != self.checkpoint:  # else a stream only says where it begins
            self.step, self.checkpoint = chunk["metadata"]["step"], identity
            if self._nameless:
                self.catch_up(chunk["values"])
            self.last_tasks, self._ended = self._ended, {}
            self.outputs.clear()

    def finish(self) -> None:
        """Say what was held back: the stream has ended."""
        self._words.finish()
        self._release()

    def break_off(self) -> None:
        """Drop what was held back: the stream has broken off, and no checkpoint has it."""
        self._held.clear()
        self.finish()

    @property
    def partial(self) -> dict[str, str]:
        """Text of the root's messages that are not complete, by message."""
        return {identity: "".join(words) for identity, words in self._words.partial.items()}

    def caller_of(self, call: str) -> str:
        """Give the call that started the agent which made a call; empty for the root's."""
        for namespace, scope in self._scopes.items():
            if namespace and scope.call == call:
                return self._scopes[namespace[:-1]].call if namespace[:-1] in self._scopes else ""
        return ""

    @property
    def is_nested(self) -> bool:
        """Whether a subagent is under way."""
        return len(self._scopes) > 1

    def take_questions(self) -> list[tuple[Interrupt, Scope]]:
        """Give the questions that have come up since this was called last, with who asks."""
        questions, self._questions = self._questions, {}
        return list(questions.values())

    def say(self, kind: Kind, namespace: Namespace = (), **fields: Any) -> Event:
        """Append an event of the agent at `namespace`."""
        self._words.flush()
        return self._append(kind, self._scope(namespace), **fields)

    def _tell_words(self, kind: Kind, namespace: Namespace, **fields: Any) -> None:
        self._append(kind, self._scope(namespace), **fields)

    def _append(self, kind: Kind, scope: Scope, **fields: Any) -> Event:
        fields = {"step": self.step, "checkpoint": self.checkpoint, **fields}
        return self._log.append(
            kind,
            run=self._run,
            agent=scope.agent,
            parent=scope.parent,
            call=scope.call,
            **fields,
        )

    # Nodes and subagents

    def _task(self, namespace: Namespace, task: Mapping[str, Any]) -> None:
        if "input" in task:
            if not namespace:
                self._release()
            self._began[task["id"]] = time.monotonic()
            if call := _tool_call(task["input"]):
                self._calls[task["id"]] = call
            self._scope(namespace, task.get("metadata"))
        else:
            self._end_task(namespace, task)

    def _end_task(self, namespace: Namespace, task: Mapping[str, Any]) -> None:
        self._words.count(namespace)
        seconds = time.monotonic() - self._began.pop(task["id"], time.monotonic())
        place = f"{task['name']}:{task['id']}"
        below = (*namespace, place)
        if task.get("interrupts"):
            return  # it will go on
        if not namespace:
            self._ended[place] = task["name"]
        if below in self._scopes:
            self._end_subagent(below, task)
        error = task.get("error")
        if error or task.get("result") or "." not in task["name"]:  # a hook that did nothing
            data = {"seconds": seconds, **({"error": short(mask(str(error)))} if error else {})}
            data |= _reasoning(task.get("result"))
            if drafts := self._words.take_drafts(namespace, task["name"]):
                data["drafts"] = drafts
            self.say("node", namespace, node=task["name"], name=task["name"], data=data)

    def _scope(self, namespace: Namespace, metadata: Mapping[str, Any] | None = None) -> Scope:
        if namespace not in self._scopes:
            above = self._scope(namespace[:-1])
            node, _, task = namespace[-1].partition(":")
            call = self._calls.get(task, {})
            args = call.get("args") or {}
            name = args.get("subagent_type") or (metadata or {}).get("lc_agent_name") or node
            scope = Scope(str(name), above.agent, str(call.get("id") or task))
            self._scopes[namespace] = scope
            if self._is_new("subagent_started", namespace, scope.call):
                data = {"id": scope.call, "text": short(str(args.get("description", "")))}
                self._append("subagent_started", scope, name=scope.agent, data=data)
        return self._scopes[namespace]

    def _end_subagent(self, namespace: Namespace, task: Mapping[str, Any]) -> None:
        result = next(_tool_messages(task.get("result")), None)
        failed = task.get("error") or (result and result.status == "error")
        stopped = failed and result and result.additional_kwargs.get("stopped")
        self._leave(namespace, "stopped" if stopped else "error" if failed else "ok")

    def end_subagents(self, status: str) -> None:
        """Tell that the run has ended with what is still under way in it."""
        for namespace in [namespace for namespace in self._scopes if len(namespace) == 1]:
            self._leave(namespace, status)

    def _leave(self, namespace: Namespace, status: str) -> None:
        self._words.flush()
        inner = [key for key in self._scopes if key[: len(namespace)] == namespace]
        for key in sorted(inner, key=len, reverse=True):
            self._words.count(key)  # what was said later would be of a subagent that has ended
            scope = self._scopes.pop(key)
            seconds = time.monotonic() - scope.since
            data = {"id": scope.call, "status": status, "seconds": seconds}
            self._append("subagent_ended", scope, name=scope.agent, data=data)

    # Tools

    def _tool(self, namespace: Namespace, event: Mapping[str, Any]) -> None:
        identity = event["tool_call_id"]
        if event["event"] == "tool-started":
            self._call(namespace, identity, event["tool_name"], event.get("input"))
        elif event["event"] == "tool-error":
            self._result(namespace, identity, "", mask(event["message"]), "error")
        elif event["event"] == "tool-finished":
            messages = list(_tool_messages(event["output"]))
            if any(message.text.startswith(_SWALLOWED) for message in messages):
                return
            if not namespace:
                self.outputs[identity] = event["output"]
            for message in messages:
                self._tool_message(namespace, message)

    def _tool_message(self, namespace: Namespace, message: ToolMessage) -> None:
        status = "error" if message.status == "error" else "ok"
        name = message.name or ""
        self._result(namespace, message.tool_call_id, name, message.text, status)

    def _call(self, namespace: Namespace, identity: str, name: str, args: Any) -> None:
        if self._is_new("tool_call", namespace, identity):
            self._began[f"{namespace} {identity}"] = time.monotonic()
            data = {"id": identity, "args": short(args or {})}
            self.say("tool_call", namespace, node="tools", name=name, data=data)

    def _result(
        self, namespace: Namespace, identity: str, name: str, text: str, status: str
    ) -> None:
        if not self._is_new("tool_result", namespace, identity):
            return
        known = self._calls.get(f"{namespace} {identity}", {})
        name = name or str(known.get("name", ""))
        # A call of no known tool, and one that a person rejected, are never started.
        self._call(namespace, identity, name, known.get("args"))
        began = self._began.pop(f"{namespace} {identity}", time.monotonic())
        seconds = time.monotonic() - began
        data = {"id": identity, "status": status, "text": short(text), "seconds": seconds}
        self.say("tool_result", namespace, node="tools", name=name, data=data)

    def _is_new(self, kind: Kind, namespace: Namespace, identity: str) -> bool:
        new = (kind, namespace, identity) not in self._told
        self._told.add((kind, namespace, identity))
        return new

    # State

    def _updates(self, namespace: Namespace, chunk: Mapping[str, Any]) -> None:
        for node, update in chunk.items():
            if node == "__interrupt__":
                self._interrupts(namespace, update)
                continue
            for change in update if isinstance(update, list) else [update]:
                if isinstance(change, dict):
                    self._change(namespace, node, change)

    def _interrupts(self, namespace: Namespace, interrupts: Iterable[Interrupt]) -> None:
        for interrupt in interrupts:
            # It is told at every level, the deepest first.
            self._questions.setdefault(interrupt.id, (interrupt, self._scope(namespace)))

    def _change(self, namespace: Namespace, node: str, change: Mapping[str, Any]) -> None:
        for message in listed(change.get("messages")):
            if isinstance(message, ToolMessage):
                self._tool_message(namespace, message)
            elif isinstance(message, AIMessage):
                self._said(namespace, node, message)
        if isinstance(todos := change.get("todos"), list):
            self._plan(namespace, node, todos)
        files = change.get("files")
        if isinstance(files, dict):
            for path, file in files.items():
                self._file(namespace, node, str(path), _content(file))
        if not namespace:
            self._research(node, change)

    def _research(self, node: str, change: Mapping[str, Any]) -> None:
        """Tell what was read, and what came of checking a report against it."""
        for identity, source in _sources(change).items():
            if source != self._sources.get(identity):
                self._sources[identity] = source
                self.say("source", node=node, name=identity, data=source)
        if isinstance(report := change.get("report"), dict):
            self.say("report", node=node, data=report)

    def catch_up(self, values: Any) -> None:
        """Tell what the graph has said in a form that only the state shows as a message."""
        for message in messages_of(values):
            if isinstance(message, AIMessage):
                self._said((), "", message)
        self._nameless = False

    def cut_off(self, messages: Iterable[BaseMessage]) -> None:
        """Tell what a thread was closed off with."""
        for message in messages:
            if isinstance(message, ToolMessage):
                self._tool_message((), message)
            else:
                data = {"id": message.id, "role": "assistant", "text": str(message.text)}
                self.say("message", data={**data, "cut_off": True})

    def _said(self, namespace: Namespace, node: str, message: AIMessage) -> None:
        identity = str(message.id)
        thought = self._words.complete(identity)
        if not message.id and not namespace:
            self._nameless = True  # the state will have it under an id
            return
        if not self._is_new("message", namespace, identity):
            return  # a node may give back more than it has added
        for call in message.tool_calls:
            self._calls[f"{namespace} {call['id']}"] = dict(call)
            for kind in ("tool_call", "tool_result"):  # some models use an id again
                self._told.discard((kind, namespace, str(call["id"])))
        _, text = parts_of(message)
        data = {"id": identity, "role": "assistant", "text": text}
        if thought:
            data["reasoning"] = thought
        if not text and not thought:
            return
        if namespace:
            self.say("message", namespace, node=node, data=data)
        else:
            self._words.flush()
            self._hold(node, data)

    def hold(self, kind: Kind, **data: Any) -> None:
        """Tell something of the root's as soon as the checkpoint has it.

        Told earlier, it would be in the log after a kill and not in the conversation.
        """
        self._hold("", data, kind)

    def _hold(self, node: str, data: dict[str, Any], kind: Kind = "message") -> None:
        place: dict[str, Any] = {"step": self.step, "checkpoint": self.checkpoint}
        self._held.append(lambda: self.say(kind, node=node, data=data, **place))

    def _release(self) -> None:
        held, self._held = self._held, []
        for say in held:
            say()

    def _plan(self, namespace: Namespace, node: str, todos: list[Any]) -> None:
        if todos != self._todos.get(namespace):
            self._todos[namespace] = todos
            by = self._scope(namespace).agent
            data = {"todos": shown_plan(todos), "by": by}
            self.say("todos", namespace, node=node, data=data)

    def _file(self, namespace: Namespace, node: str, path: str, content: str | None) -> None:
        before = self._files.get(path)
        if content == before:
            return
        action = "deleted" if content is None else "created" if before is None else "changed"
        if content is None:
            self._files.pop(path, None)
        else:
            self._files[path] = content
        data = {
            "path": path,
            "action": action,
            "diff": diff(before or "", content or "", path),
            "size": len((content or "").encode("utf-8", "replace")),
        }
        self.say("file", namespace, node=node, name=path, data=data)

    def know(self, state: StateSnapshot) -> None:
        """Take note of a state that is there already, so that only changes are told."""
        metadata, values = state.metadata or {}, state.values
        self.step = metadata.get("step")
        self.checkpoint = str(state.config["configurable"].get("checkpoint_id", ""))
        if not isinstance(values, dict):
            return
        known = messages_of(values)
        self._told |= {("message", (), str(message.id)) for message in known}
        self._todos[()] = values.get("todos")
        self._sources = _sources(values)
        files = values.get("files")
        for path, file in files.items() if isinstance(files, dict) else ():
            if (content := _content(file)) is not None:
                self._files[str(path)] = content


def _tool_call(given: Any) -> dict[str, Any] | None:
    """Find the tool call that a task is for, in the forms that langgraph's tool node is given."""
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    if isinstance(given, dict) and isinstance(given.get("tool_call"), dict):
        given = given["tool_call"]
    if isinstance(given, dict) and given.get("type") == "tool_call":
        return given
    return None


def messages_of(values: Any) -> list[BaseMessage]:
    """Give the conversation in a state, if it has one."""
    found = values.get("messages") if isinstance(values, dict) else None
    return [m for m in found if isinstance(m, BaseMessage)] if isinstance(found, list) else []


def listed(value: Any) -> list[BaseMessage]:
    """Give the messages in an update of a state."""
    if isinstance(value, Overwrite):
        value = value.value
    found = value if isinstance(value, list) else [value]
    return [message for message in found if isinstance(message, BaseMessage)]


def _tool_messages(output: Any) -> Iterator[ToolMessage]:
    """Find the tool messages in whatever a tool or a tool node gives."""
    if isinstance(output, ToolMessage):
        yield output
    elif isinstance(output, Command):
        yield from _tool_messages(output.update)
    elif isinstance(output, list):
        for part in output:
            yield from _tool_messages(part)
    elif isinstance(output, dict):
        yield from _tool_messages(output.get("messages"))


def shown_plan(todos: list[Any]) -> Any:
    """Give a todo list as the log has it."""
    return short(todos, _LONGEST_TODO)


def told_plan(events: list[Event]) -> Any:
    """Give the todo list of the session's own agent that the log has told last."""
    own = (event for event in reversed(events) if event.kind == "todos" and not event.parent)
    return next((event.data["todos"] for event in own), None)


def _sources(values: Mapping[str, Any]) -> dict[str, Any]:
    """Give what was read, by id, in a state or an update of one."""
    found = values.get("sources")
    sources = found.items() if isinstance(found, dict) else ()
    return {str(identity): each for identity, each in sources if isinstance(each, dict)}


def _reasoning(result: Any) -> dict[str, Any]:
    """Give what a node says of its reasoning, if it does."""
    found = result.get("reasoning") if isinstance(result, dict) else None
    entries = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    if not entries:
        return {}
    text = " ".join(str(each.get("summary", "")) for each in entries)
    aside = {"aside": True} if all(each.get("aside") for each in entries) else {}
    return {"text": short(text, _LONGEST_REASONING), **aside}


def _content(file: Any) -> str | None:
    content = file.get("content") if isinstance(file, dict) else None
    return "\n".join(map(str, content)) if isinstance(content, list) else content
