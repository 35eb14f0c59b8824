"""What the notebooks of `panel.py` have in them: sessions to look at, and bare widgets as peers."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import aiosqlite
import anywidget
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

import deepnb
from deepnb.testing import ScriptedModel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
    from concurrent.futures import Future

    from deepnb.events import Event

PACE = 500
"""Tokens per second."""
PAUSE = 6.0
"""Seconds until something begins that is measured."""
_PART = [
    *("## {} ", "{}\n\n"),
    *["{} "] * 20,
    *("**{}** ", "`{}` "),
    *["{} "] * 20,
    "{}.\n\n",
    *("- {} ", "{} ", "{}\n", "- {} ", "{} ", "{}\n\n"),
    *("```python\n{} = ", "{}(", "{})\n```\n\n"),
    *("| {} ", "| {} |\n|---|---|\n", "| {} ", "| {} |\n\n"),
]
"""Markdown as models write it, one token each."""

times: list[float] = []
"""When each thing happened that `panel.py` asks for."""


def keep_times() -> None:
    """Write down the times, and begin anew."""
    Path("times.json").write_text(json.dumps(times))
    times.clear()


def soon(work: Callable[[Any], object], given: Any) -> None:
    """Begin when the notebook is at rest: to run a cell costs the browser a lot by itself."""
    timer = threading.Timer(PAUSE, work, [given])
    timer.daemon = True
    timer.start()


def pieces(number: int) -> Iterator[str]:
    """Give so many tokens, each with its own number in it: w0, w1, ..."""
    for index in range(number):
        yield _PART[index % len(_PART)].format(f"w{index}")


class Talker(ScriptedModel):
    """Says as many tokens as it is told to, at a steady pace, and notes when."""

    async def _astream(
        self, messages: list[Any], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        begin = time.perf_counter()
        for index, piece in enumerate(pieces(int(messages[-1].text))):
            await asyncio.sleep(max(0.0, begin + index / PACE - time.perf_counter()))
            times.append(time.time())
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))


def talking() -> deepnb.Session:
    """Open a session whose model is told how much to say."""
    return deepnb.Session(create_agent(Talker(script=[])), thread="talking")


class Bare(anywidget.AnyWidget):
    """The least that shows a stream: one message for each token, put behind the others.

    It shows the Markdown as it is, and stays at the end without a line of script, so it costs next
    to nothing but the messages.
    """

    _esm = """
    function render({ model, el }) {
      const log = document.createElement("div");
      log.style = "display: flex; flex-direction: column-reverse; height: 500px; overflow: auto";
      const text = document.createElement("pre");
      text.className = "bare";
      text.style = "white-space: pre-wrap";
      log.append(text);
      el.append(log);
      model.on("msg:custom", ({ token }) => text.append(token));
    }
    export default { render };
    """

    def talk(self, number: int) -> None:
        """Say so many tokens, at the same pace."""
        begin = time.perf_counter()
        for index, piece in enumerate(pieces(number)):
            time.sleep(max(0.0, begin + index / PACE - time.perf_counter()))
            self.send({"token": piece})


def long_thread(messages: int) -> None:
    """Leave a thread behind with so many messages, half of them answers."""
    with long_session() as session:
        for index in range(messages // 2):
            _happen(session, str(index))


def _happen(session: deepnb.Session, run: str) -> None:
    """Let a run have happened; to have a thousand of them happen would take minutes."""
    log = session._record.log  # noqa: SLF001  # there is no other way to write it
    place: dict[str, Any] = {"run": run, "agent": session.agent}
    answer = f"### Answer {run}\n\n{''.join(pieces(60))}end of {run}"
    usage = {"id": f"a{run}", "model": "m", "tokens_in": 900, "tokens_out": 80, "cost": 0.01}
    log.append("run_started", **place, data={"text": f"Question {run}", "resumed": False})
    log.append("message", **place, data={"id": run, "role": "user", "text": f"Question {run}"})
    log.append("usage", **place, node="model", name="m", data=usage)
    log.append("node", **place, node="model", name="model", data={"seconds": 0.3})
    message = {"id": f"a{run}", "role": "assistant", "text": answer}
    log.append("message", **place, node="model", step=int(run), data=message)
    log.append("run_ended", **place, data={"status": "done", "text": "", "seconds": 0.3})


def long_session() -> deepnb.Session:
    """Open that thread."""
    return deepnb.Session(create_agent(ScriptedModel([])), thread="long")


class _Round(TypedDict):
    number: int


def _asker() -> StateGraph[_Round]:
    """Build a graph that does nothing but ask, and notes when it goes on."""

    def ask(state: _Round) -> _Round:
        action = {"name": "go", "args": {"number": state["number"]}, "description": ""}
        review = {"action_name": "go", "allowed_decisions": ["approve", "reject"]}
        interrupt(
            {"type": "tool_approval", "action_requests": [action], "review_configs": [review]}
        )
        times.append(time.time())
        return {"number": state["number"] - 1}

    builder = StateGraph(_Round)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_conditional_edges("ask", lambda state: "ask" if state["number"] else END)
    return builder


def asking(number: int) -> deepnb.Session:
    """Open a session of that graph, which notes as well when it has an answer."""
    session = deepnb.Session(_asker().compile(), thread="asking")
    session.subscribe(_note_answer)
    session.ask({"number": number})
    return session


def _note_answer(event: Event) -> None:
    if event.kind == "interrupt_closed":
        times.append(time.time())


class Button(anywidget.AnyWidget):
    """The least that resumes a graph: a click is a message, and its handler sets off the graph.

    It notes when the message comes; the graph, as before, when it goes on. It answers, as the panel
    does: ipykernel 7.4 takes the next message on the thread that has sent the last one.
    """

    _esm = """
    function render({ model, el }) {
      const button = document.createElement("button");
      button.className = "bare";
      button.addEventListener("click", () => model.send({}));
      el.append(button);
    }
    export default { render };
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._start(self._open(number)).result()
        self.on_msg(self._clicked)

    def _clicked(self, *_: Any) -> None:
        times.append(time.time())
        self._start(self._advance(Command(resume="yes")))
        self.send({})

    def _start(self, work: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _open(self, number: int) -> None:
        saver = AsyncSqliteSaver(await aiosqlite.connect("bare.sqlite"))
        self._graph = _asker().compile(checkpointer=saver)
        await self._advance({"number": number})

    async def _advance(self, given: Any) -> None:
        async for _ in self._graph.astream(given, {"configurable": {"thread_id": "bare"}}):
            pass
