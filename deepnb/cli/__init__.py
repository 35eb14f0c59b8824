"""The `deepnb` command."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from deepnb import __version__
from deepnb.cli import exits
from deepnb.errors import DeepnbError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the result is its exit code."""
    arguments = _parser().parse_args(argv)
    # A question or a document may hold what an old console cannot print.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files here
    try:
        return int(arguments.run(arguments) or exits.DONE)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # Whoever read along, `head` for example, has seen enough; the rest goes nowhere quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.DONE
    except Exception as error:  # noqa: BLE001  # each provider's package has exceptions of its own
        from deepnb.transcript.legible import legible

        known = "" if isinstance(error, DeepnbError) else f"{type(error).__name__}: "
        print(f"deepnb: {known}{' '.join(legible(error).split())}", file=sys.stderr)
        return exits.FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deepnb", description="Deep research agents that live in a notebook."
    )
    parser.add_argument("--version", action="version", version=f"deepnb {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _ask_arguments(
        commands.add_parser(
            "ask",
            help="ask an agent about the documents in a folder",
            description="Ask an agent about the documents in a folder. The answer goes to standard "
            "output, all else to standard error. Ctrl-C stops the run; the thread can go on later.",
            epilog=f"Exit codes: {exits.DONE} answered, {exits.FAILED} an error, "
            f"{exits.WAITING} waits for a person, {exits.INTERRUPTED} stopped.",
        )
    )
    _threads_arguments(
        commands.add_parser(
            "threads",
            help="list the conversations in a folder",
            description="List the conversations in a folder.",
        )
    )
    _show_arguments(
        commands.add_parser(
            "show",
            help="read a conversation",
            description="Read a conversation, also while it is under way elsewhere.",
        )
    )
    commands.add_parser(
        "doctor",
        help="say what this machine can do, and what will be used",
        description="Say what this machine can do, and what will be used.",
    ).set_defaults(run=_doctor)
    _demo_arguments(
        commands.add_parser(
            "demo",
            help="watch a research run over sample documents",
            description="Watch a research run over a dozen invented documents about a small lake; "
            "its report is left in the current folder.",
        )
    )
    return parser


# Each command has its own imports: help and a look at a thread need no language model library.


def _ask_arguments(command: argparse.ArgumentParser) -> None:
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "question", nargs="?", metavar="QUESTION", help="left out: answer what the thread asks"
    )
    what.add_argument(
        "--resume", action="store_true", help="go on where the thread was stopped or cut off"
    )
    command.add_argument(
        "--thread", default="main", metavar="NAME", help="the conversation (default: main)"
    )
    _add_workspace(command)
    command.add_argument("--model", metavar="SPEC", help="such as ollama:llama3.2")
    command.add_argument(
        "--agent", metavar="NAME", help="who answers (default: the thread's own, or deep)"
    )
    decide = command.add_mutually_exclusive_group()
    decide.add_argument(
        "--yes", action="store_const", dest="respond", const="approve", help="approve everything"
    )
    decide.add_argument(
        "--no", action="store_const", dest="respond", const="reject", help="approve nothing"
    )
    command.set_defaults(run=_ask)


def _ask(arguments: argparse.Namespace) -> int:
    from deepnb.cli.ask import Options, ask

    options = Options(
        thread=arguments.thread,
        workspace=arguments.workspace,
        agent=arguments.agent,
        model=arguments.model,
        respond=arguments.respond,
    )
    return ask(arguments.question, options, resume=arguments.resume)


def _threads_arguments(command: argparse.ArgumentParser) -> None:
    _add_workspace(command)
    command.set_defaults(run=_threads)


def _threads(arguments: argparse.Namespace) -> None:
    from deepnb.cli.threads import list_threads

    list_threads(arguments.workspace)


def _show_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("thread", metavar="THREAD")
    _add_workspace(command)
    command.add_argument("--steps", action="store_true", help="show what was done, too")
    command.set_defaults(run=_show)


def _show(arguments: argparse.Namespace) -> None:
    from deepnb.cli.show import show

    show(arguments.thread, arguments.workspace, with_steps=arguments.steps)


def _doctor(arguments: argparse.Namespace) -> None:
    from deepnb.notebook.doctor import doctor

    print(doctor())


def _demo_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("question", nargs="?", metavar="QUESTION", help="a question of your own")
    command.add_argument(
        "--model",
        default="offline",
        metavar="SPEC",
        help="a language model, such as ollama:llama3.2 (default: offline, which costs nothing)",
    )
    command.set_defaults(run=_demo)


def _demo(arguments: argparse.Namespace) -> None:
    from deepnb.cli.demo import QUESTION, demo

    demo(arguments.question or QUESTION, arguments.model)


def _add_workspace(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--workspace", default=".", metavar="DIR", help="where the documents are (default: here)"
    )
