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

_NEXT = 'Your own documents: deepnb.agents.get("deep", workspace="your/folder").'
_INTERRUPTED = 130  # 128 and the number of the signal, as shells report it
_WIDEST = 100
_LONGEST_REMARK = 60
_SAYS_WHAT = ("pattern", "file_path", "path", "query")
_WINDOW = re.compile(r"@@ (lines? [\d-]+ of \d+)")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the result is its exit code."""
    arguments = _parser().parse_args(argv)
    # A question or a document may hold what an old console cannot print.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files here
    try:
        demo([arguments.question] if arguments.question else QUESTIONS, arguments.model)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read along, `head` for example, has seen enough; the rest goes nowhere quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:  # noqa: BLE001  # each provider's package has exceptions of its own
        known = "" if isinstance(error, DeepnbError) else f"{type(error).__name__}: "
        print(f"deepnb: {known}{' '.join(str(error).split())}", file=sys.stderr)
        return 2
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
        from deepnb.models.offline.answer import SIGN

        folder = samples.copy(Path(temporary) / "lake")
        # The folder is a copy that is thrown away: nobody needs to approve what is written to it.
        agent = agents.get("deep", model=model, workspace=folder, interrupt_on={})
        notice = ""
        for question in questions:
            print(f"\n{paint.bold(f'? {question}')}\n", flush=True)
            # What answered is the same each time: it is said once, at the end.
            answer, sign, rest = _watched(agent, question, paint).partition(f"\n\n{SIGN}")
            notice = f"{sign}{rest}".strip()
            print(f"\n{paint.markdown(answer)}", flush=True)
    print(f"\n{paint.markdown(notice)}" if notice else "")
    print(paint.dim(paint.wrapped(f"{_NEXT}{_try_the_configured(model)}")))


def _try_the_configured(model: str) -> str:
    """How to see the model that is configured at work, if it was not."""
    from deepnb.models import explain

    try:
        configured = explain().spec
    except DeepnbError:  # it is configured badly, which is no matter of the demonstration
        return ""
    if model != "offline" or configured == "offline":
        return ""
    return f" Written answers: deepnb demo --model {configured}"


def _watched(agent: Any, question: str, paint: Paint) -> str:
    """Show each round of tool calls once it is complete, in the order of the calls; then answer."""
    answer = ""
    calls: list[Any] = []
    results: dict[str, str] = {}
    for message in _messages(agent, question):
        if message.type == "ai":
            answer = message.text or answer
            calls, results = list(getattr(message, "tool_calls", [])), {}
        elif message.type == "tool":
            results[getattr(message, "tool_call_id", "")] = message.text
            if all(call["id"] in results for call in calls):
                for line in _steps(calls, results):
                    print(paint.dim(line), flush=True)
    return answer


def _messages(agent: Any, question: str) -> Iterator[BaseMessage]:
    """The messages of a run, as they come."""
    asked = {"messages": [{"role": "user", "content": question}]}
    for update in agent.stream(asked, stream_mode="updates"):
        for change in update.values():
            messages = change.get("messages", []) if isinstance(change, dict) else []
            # A reducer's value may be wrapped; only plain lists are new messages.
            yield from messages if isinstance(messages, list) else []


def _steps(calls: Iterable[Any], results: dict[str, str]) -> Iterator[str]:
    """What was looked for and what came back, a line each; spellings of one word are one line."""
    found: dict[str, list[str]] = {}
    for call in calls:
        args = call["args"]
        wanted = next((args[key] for key in _SAYS_WHAT if args.get(key)), "")
        step = f"{call['name']} {_short(str(wanted))}".rstrip()
        result = results[call["id"]]
        if "todos" in args:
            done = [todo for todo in args["todos"] if todo["status"] == "completed"]
            result = f"{len(done)} of {len(args['todos'])} done"
        found.setdefault(step.lower() if "pattern" in args else step, []).append(result)
    for step, texts in found.items():
        yield f"  {step} → {_remark(texts)}"


def _remark(texts: Sequence[str]) -> str:
    """How much came back: lines read, or lines and files found."""
    windows = [match[1] for match in map(_WINDOW.match, texts) if match]
    if windows:
        return ", ".join(dict.fromkeys(windows))
    path = ""
    lines: set[tuple[str, str]] = set()
    files: set[str] = set()
    for row in "\n".join(texts).split("\n"):
        if re.match(r" {2}\d+: ", row):
            lines.add((path, row))
        elif row.startswith("/") and row.endswith(":"):
            path = row
            files.add(row)
        else:
            files.update(re.findall(r"'/[^']*'", row))
    found = [f"{len(lines)} line{'s'[: len(lines) > 1]}"] * bool(lines)
    found += [f"{len(files)} file{'s'[: len(files) > 1]}"] * bool(files)
    return " in ".join(found) or _short(texts[0])


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

    def wrapped(self, text: str) -> str:
        """Break into lines that fit the terminal."""
        return textwrap.fill(text, self._width, break_long_words=False, break_on_hyphens=False)

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
            lines = self._rewrapped([line.strip() for line in lines])
        return [f"  {self._code('36', '>')} {line}" for line in lines]

    def _rewrapped(self, lines: list[str]) -> list[str]:
        """Fit the lines of a paragraph; a short first line is a heading, and stays one."""
        is_heading = len(lines) > 1 and len(lines[0]) < len(lines[1]) / 2
        head, body = (lines[:1], lines[1:]) if is_heading else ([], lines)
        width = self._width - 4
        return [*textwrap.wrap(" ".join(head), width), *textwrap.wrap(" ".join(body), width)]

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
