"""The `deepnb` command: a demonstration that needs no key, no network and no documents."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
import textwrap
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepnb import __version__
from deepnb.errors import DeepnbError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from langchain_core.messages import BaseMessage

QUESTIONS = (
    "What did the aeration pump cost?",
    "By how much did phosphorus fall?",
    "What did the dredging cost?",
)
"""A fact, two documents that disagree, and something that no document says."""

_NEXT = (
    'Your own documents: deepnb.agents.get("deep", workspace="your/folder"). '
    "Written answers: set DEEPNB_MODEL or an API key."
)
_WIDEST = 100
_LONGEST_REMARK = 60


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the result is its exit code."""
    arguments = _parser().parse_args(argv)
    # A question or a document may hold what an old console cannot print.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files here
    try:
        demo([arguments.question] if arguments.question else QUESTIONS, arguments.model)
    except DeepnbError as error:
        print(f"deepnb: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read along, `head` for example, has seen enough; the rest goes nowhere quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deepnb", description="Deep research agents that live in a notebook."
    )
    parser.add_argument("--version", action="version", version=f"deepnb {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "demo",
        help="watch an agent answer from sample documents",
        description="Watch an agent answer from a dozen invented documents about a small lake.",
    )
    command.add_argument("question", nargs="?", metavar="QUESTION", help="a question of your own")
    command.add_argument(
        "--model",
        default="offline",
        metavar="SPEC",
        help="a language model, such as ollama:llama3.2 (default: offline, which costs nothing)",
    )
    return parser


def demo(questions: Sequence[str], model: str = "offline") -> None:
    """Let the deep agent answer questions about the sample documents, and show it at work."""
    paint = Paint()
    with tempfile.TemporaryDirectory(prefix="deepnb-demo-") as temporary:
        from deepnb import agents, samples

        folder = samples.copy(Path(temporary) / "lake")
        # The folder is a copy that is thrown away: nobody needs to approve what is written to it.
        agent = agents.get("deep", model=model, workspace=folder, interrupt_on={})
        for question in questions:
            print(f"\n{paint.bold(f'? {question}')}\n", flush=True)
            calls: dict[str, Any] = {}
            answer = ""
            for message in _messages(agent, question):
                if message.type == "tool":
                    call = calls.get(getattr(message, "tool_call_id", ""))
                    print(paint.dim(_step(call, message.text)), flush=True)
                elif message.type == "ai":
                    calls |= {call["id"]: call for call in getattr(message, "tool_calls", [])}
                    answer = message.text or answer
            print(f"\n{paint.markdown(answer)}", flush=True)
    print(f"\n{paint.dim(_NEXT)}")


def _messages(agent: Any, question: str) -> Iterator[BaseMessage]:
    """The messages of a run, as they come."""
    asked = {"messages": [{"role": "user", "content": question}]}
    for update in agent.stream(asked, stream_mode="updates"):
        for change in update.values():
            messages = change.get("messages", []) if isinstance(change, dict) else []
            # A reducer's value may be wrapped; only plain lists are new messages.
            yield from messages if isinstance(messages, list) else []


def _step(call: Any, result: str) -> str:
    """One tool call in one line: what it looked for, and what came back."""
    if call is None:
        return f"  {_remark(result)}"
    args = call["args"]
    if "todos" in args:
        done = [todo for todo in args["todos"] if todo["status"] == "completed"]
        return f"  {call['name']} → {len(done)} of {len(args['todos'])} done"
    wanted = args.get("pattern") or args.get("file_path") or args.get("path") or args.get("query")
    return f"  {call['name']} {_short(str(wanted or ''))}".rstrip() + f" → {_remark(result)}"


def _remark(result: str) -> str:
    if window := re.match(r"@@ (lines? [\d-]+ of \d+)", result):
        return window[1]
    lines = len(re.findall(r"^ {2}\d+: ", result, re.MULTILINE))
    files = len(re.findall(r"^/.*:$|'/[^']*'", result, re.MULTILINE))
    found = [f"{lines} line{'s'[: lines > 1]}"] * (lines > 0)
    found += [f"{files} file{'s'[: files > 1]}"] * (files > 0)
    return " in ".join(found) or _short(result)


def _short(text: str) -> str:
    return textwrap.shorten(text, _LONGEST_REMARK, placeholder=" …")


class Paint:
    """Markdown for a terminal: in colour where there is one, else plain."""

    def __init__(self) -> None:
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._width = min(shutil.get_terminal_size().columns, _WIDEST)

    def _code(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def bold(self, text: str) -> str:
        """Emphasise."""
        return self._code("1", text)

    def dim(self, text: str) -> str:
        """Put into the background."""
        return self._code("2", text)

    def markdown(self, text: str) -> str:
        """Wrap an answer; quotes stay quotes, and what would steer the terminal is left out."""
        harmless = re.sub(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", "", text)
        groups = groupby(harmless.split("\n"), key=lambda row: row.startswith(">"))
        lines: list[str] = []
        for quoted, rows in groups:
            lines += self._quote(list(rows)) if quoted else self._rows(rows)
        return "\n".join(lines)

    def _quote(self, rows: list[str]) -> list[str]:
        lines = [row[1:].removeprefix(" ") for row in rows]
        if lines[0].startswith("```"):  # a fence is for renderers; its lines stay as they are
            lines = lines[1:-1]
        else:
            lines = textwrap.wrap(" ".join(line.strip() for line in lines), self._width - 4)
        return [f"  {self._code('36', '>')} {line}" for line in lines]

    def _rows(self, rows: Iterable[str]) -> Iterator[str]:
        for row in rows:
            plain = re.sub(r"\*([^*]+)\*", r"\1", row.replace("**", "").replace("`", ""))
            lines = textwrap.wrap(plain.lstrip("#").strip(), self._width) or [""]
            if row.startswith("— "):
                yield from (self.dim(f"    {line}") for line in lines)
            else:
                emphasised = row.startswith(("**", "#"))
                yield from (self.bold(line) if emphasised else line for line in lines)


if __name__ == "__main__":
    sys.exit(main())
