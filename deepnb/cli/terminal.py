"""A person at a terminal: what they are shown, and what they type."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from deepnb.cli.paint import Paint
from deepnb.transcript.legible import legible
from deepnb.transcript.questions import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping


class Terminal:
    """Shows and reads.

    Args:
        stream: Where to show; not standard output, which is for the answer alone.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.paint = Paint(stream)

    def show(self, *lines: str) -> None:
        """Print lines, which must be harmless."""
        self._stream.write("".join(f"{line}\n" for line in lines))
        self._stream.flush()

    def read(self, prompt: str) -> str:
        """Read a line.

        Raises:
            EOFError: There will be none.
        """
        _forget_what_was_typed()
        self._stream.write(f"{prompt} {self.paint.bold('>')} ")
        self._stream.flush()
        _wait_for_typing()
        line = sys.stdin.readline()
        if not line:
            self.show("")
            raise EOFError
        return line.strip()

    def words(self, prompt: str = "Your answer") -> str:
        """Read a line that is not empty."""
        while not (words := self.read(prompt)):
            pass
        return words

    def choose(self, labels: Mapping[str, str]) -> str:
        """Read the beginning of one of the labels; Enter alone decides nothing.

        Args:
            labels: By what is given for them, such as `{"y": "[y]es"}`.
        """
        while True:
            typed = self.words("  ".join(labels.values())).lower()
            for key, label in labels.items():
                if label.replace("[", "").replace("]", "").startswith(typed):
                    return key

    def instead_of(self, value: Any, name: str) -> Any:
        """Read what shall take a value's place; Enter keeps it. Long texts go to an editor."""
        if isinstance(value, str) and ("\n" in value or len(value) > self.paint.columns):
            return _edited(value, self._stream)
        shown = value if isinstance(value, str) else as_json(value)
        while typed := self.read(f"{legible(name)} (Enter: {legible(shown)})"):
            if isinstance(value, str):
                return typed
            try:
                return json.loads(typed)
            except ValueError:
                self.show(f"This must be JSON, as {legible(shown)} is.")
        return value


def _forget_what_was_typed() -> None:
    """Drop what was typed before the question was there to be read: it is no answer to it."""
    try:
        import termios
    except ImportError:  # Windows has other terminals
        return
    termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _wait_for_typing() -> None:
    """Wait for a line in short sleeps: a Ctrl-C just before a long one would be missed."""
    if os.name == "posix":
        while not select.select([sys.stdin], [], [], 0.2)[0]:
            pass


def _edited(text: str, terminal: TextIO) -> str:
    """Let a person change a text in the editor of their choice."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="deepnb-") as folder:
        file = Path(folder) / "edit.md"
        file.write_bytes(text.encode("utf-8", "replace"))
        # Ctrl-C is the editor's while it is open; a handler, unlike SIG_IGN, is not inherited.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            command = [*shlex.split(editor), str(file)]
            subprocess.run(command, check=True, stdout=terminal)  # noqa: S603  # the person's own
        finally:
            signal.signal(signal.SIGINT, before)
        return file.read_bytes().decode("utf-8", "replace")
