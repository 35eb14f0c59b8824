"""What the notebooks of `explorer.py` have in them: an agent that asks for files, and a peer."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget

import deepnb
from benchmarks.panel_notebook import keep_times, soon, times
from deepnb.testing import ScriptedModel, call

if TYPE_CHECKING:
    from deepnb.events import Event

__all__ = ["Bare", "keep_times", "opened", "soon"]

_NOTED = ("interrupt_opened", "interrupt_closed")
_CALLS = {
    "grep": call("grep", pattern="needle", path="/files/", output_mode="content"),
    "read": call("read_file", file_path="/files/note-0007.md"),
}


def opened() -> deepnb.Session:
    """Open a session whose agent does what it is told, as often: "read 20".

    It notes when each question was put and answered, and when a file has arrived.
    """

    def say(messages: list[Any]) -> Any:
        asked = max(i for i, message in enumerate(messages) if message.type == "human")
        what, number = messages[asked].text.split()
        done = sum(message.type == "tool" for message in messages[asked:])
        return _CALLS[what] if done < int(number) else "done"

    session = deepnb.Session("deep", workspace=".", client=True, model=ScriptedModel(say))
    session.subscribe(_note)
    return session


def _note(event: Event) -> None:
    is_file = event.kind == "disclosed" and event.data["what"] != "tool"
    if event.kind in _NOTED or is_file:
        times.append(time.time())


class Bare(anywidget.AnyWidget):
    """The least that takes a file: the same parts, as many of them unanswered, put on disk.

    Nothing is hashed, nothing can be resumed, and nothing is shown.
    """

    _esm = """
    const CHUNK = 1024 * 1024, WINDOW = 3;

    async function send(model, file) {
      let sent = 0, answered = 0, heard = () => {};
      model.on("msg:custom", () => { answered += 1; heard(); });
      const until = async open => {
        while (sent - answered > open) await new Promise(resolve => { heard = resolve; });
      };
      for (let offset = 0; offset < file.size; offset += CHUNK) {
        const bytes = await file.slice(offset, offset + CHUNK).arrayBuffer();
        await until(WINDOW - 1);
        model.send({ offset }, undefined, [bytes]);
        sent += 1;
      }
      await until(0);
    }

    function render({ model, el }) {
      const input = Object.assign(document.createElement("input"), { type: "file" });
      input.className = "bare";
      input.addEventListener("change", async () => {
        const start = performance.now();
        await send(model, input.files[0]);
        input.dataset.took = performance.now() - start;
      });
      el.append(input);
    }
    export default { render };
    """

    def __init__(self) -> None:
        super().__init__()
        self._path = Path("bare.part")
        self._path.touch()
        self.on_msg(self._take)

    def _take(self, _: Any, content: dict[str, int], buffers: list[memoryview]) -> None:
        with self._path.open("r+b") as file:
            file.seek(content["offset"])
            file.write(buffers[0])
        self.send({})
