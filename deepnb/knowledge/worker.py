"""The thread that keeps an index up to date: text first, then vectors.

It alone writes. One worker of one process works at a time: a lock file is held for each task,
so that two notebooks on one folder take turns, and share what either has done.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from filelock import FileLock, Timeout

from deepnb.errors import DeepnbError
from deepnb.knowledge import write
from deepnb.knowledge.store import about, damage_notice, is_damage
from deepnb.knowledge.update import Texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from deepnb.knowledge.embed import Embedder
    from deepnb.knowledge.search import View
    from deepnb.knowledge.store import Store

_PATIENCE = 10.0  # seconds for whatever embeds to come back, when all is closed
_POLITE = 3.0  # seconds that a search waits for another process
_GAP = 0.01  # seconds between two batches, in which another process can take its turn


@dataclass(frozen=True)
class Progress:
    """What a knowledge base is doing, and how far it is."""

    phase: Literal["reading", "waiting", "loading", "embedding", "ready", "closed"]
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        words = {
            "waiting": "waiting for another process that is updating this index",
            "loading": "loading the embedding model",
        }.get(self.phase, self.phase)
        return f"{words} {self.done:,} of {self.total:,}" if self.total else words


class Worker:
    """See the module.

    Args:
        store: The index.
        view: What searches it.
        embedder: Makes vectors; None for none.
        root: The folder whose documents are meant, if there is one.
        starts: Files and folders to look for documents in.
        private: Whether pages of private networks may be fetched.
    """

    def __init__(
        self,
        store: Store,
        view: View,
        embedder: Embedder | None,
        root: Path | None,
        starts: Iterable[Path],
        *,
        private: bool,
    ) -> None:
        self._store = store
        self._view = view
        self._embedder = embedder
        self._lock = FileLock(store.folder / "lock")
        self._changed = threading.Condition()
        self.texts = Texts(
            store,
            root,
            starts,
            private=private,
            told=self._tell_reading,
            stopping=lambda: self._stopping,
        )
        """What to submit, to change what is read."""
        self._tasks: deque[Callable[[], None]] = deque([self.texts.scan])
        self._busy = False  # with a task: a search waits for its end
        self._stopping = False
        self._is_kept_waiting = False  # by another process, for long
        self.progress = Progress("reading")
        self.notices: dict[str, str] = {}
        """What else people should know, by what it is about."""
        self.listeners: list[Callable[[], None]] = []
        """Called after each progress, so they must return at once."""
        self.is_ready_to_embed = False
        self._thread = threading.Thread(target=self._run, name="deepnb-knowledge", daemon=True)
        self._thread.start()

    # What other threads call

    def submit(self, task: Callable[[], None]) -> None:
        """Have something done to the text, after what was asked for before."""
        with self._changed:
            self._tasks.append(task)
            self._changed.notify_all()

    def wait_for_text(self, seconds: float) -> bool:
        """Wait until all is read that was asked for; False if that takes longer.

        If another process is at work for long, what there is so far has to do.
        """
        return self._wait(lambda: self._is_kept_waiting or not (self._tasks or self._busy), seconds)

    def wait(self, seconds: float) -> bool:
        """Wait until there is nothing left to do; False if that takes longer."""
        return self._wait(self._is_done, seconds)

    def _is_done(self) -> bool:
        return self.progress.phase == "ready" and not self._tasks and not self._busy

    def _wait(self, is_done: Callable[[], bool], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(
                lambda: self._stopping or not self._thread.is_alive() or is_done(), seconds
            )

    def stop(self) -> None:
        """Give up after the current passage or batch; what is not done is done next time."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(_PATIENCE)
        self._show("closed")

    # The thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                self._step()
            except write.Stopped:
                return
            except sqlite3.Error as error:
                self._recover(error)
            except Exception as error:  # noqa: BLE001  # the thread outlives whatever happens
                self.notices["index"] = write.reason_of(error)
                self._rest()

    def _step(self) -> None:
        with self._changed:
            task = self._tasks.popleft() if self._tasks else None
            self._busy = task is not None
        if task is None and not self._embed_more() and not self._view.link_some():
            self._rest()
        if task is not None:
            try:
                with self._turn():
                    task()
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
        self._view.refresh()

    def _rest(self) -> None:
        with self._changed:
            if not self._tasks and not self._stopping:
                self._show("ready")
                self._changed.wait_for(lambda: self._tasks or self._stopping)

    def _show(
        self,
        phase: Literal["reading", "waiting", "loading", "embedding", "ready", "closed"],
        done: int = 0,
        total: int = 0,
    ) -> None:
        with self._changed:
            self.progress = Progress(phase, done, total)
            self._changed.notify_all()
        for listener in self.listeners.copy():
            listener()

    def _tell_reading(self, done: int, total: int) -> None:
        self._show("reading", done, total)
        self._view.refresh()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Be the only one who writes."""
        since = time.monotonic()
        while not self._stopping:
            try:
                self._lock.acquire(timeout=0.2, poll_interval=_GAP / 2)
                break
            except Timeout:
                self._is_kept_waiting = time.monotonic() - since > _POLITE
                self._show("waiting")
        else:
            raise write.Stopped
        self._is_kept_waiting = False
        try:
            yield
        finally:
            self._lock.release()

    def _recover(self, error: sqlite3.Error) -> None:
        """Make a damaged index anew; whatever else it is, say so and go on later."""
        if is_damage(error):
            self.submit(partial(self.start_over, error))
        else:
            self.notices["index"] = f"It could not be written ({error}). kb.refresh() tries again."
            self._rest()

    def start_over(self, error: sqlite3.Error) -> None:
        """Make a damaged index anew."""
        aside = self._store.start_over()
        self._view.forget()
        self.notices["index"] = damage_notice(error, aside)
        self.is_ready_to_embed = False
        self.texts.scan()

    # Vectors

    def _embed_more(self) -> bool:
        """Embed one batch; False if there is none, or none can be embedded."""
        if self._embedder is None or "embeddings" in self.notices:
            return False
        ((total,),) = self._store.rows("SELECT count(*) FROM chunk")
        if not total:
            return False
        try:
            return self._embed_batch(self._embedder, total)
        except (DeepnbError, ImportError) as error:
            self.notices["embeddings"] = f"{error} Until then, search goes by words alone."
        except sqlite3.Error:
            raise
        except Exception as error:  # noqa: BLE001  # somebody else's service may fail in any way
            self.notices["embeddings"] = (
                f"Embedding failed ({write.reason_of(error)}). Search goes by words, and by what "
                "has been embedded; kb.refresh() tries again."
            )
        return False

    def _embed_batch(self, embedder: Embedder, total: int) -> bool:
        if not self.is_ready_to_embed:
            self._show("loading")
            embedder.load()
            with self._turn(), self._store.transaction() as cursor:
                write.adopt_model(cursor, embedder.name)
            self.is_ready_to_embed = True
            self._view.refresh()
        with self._turn():
            ((left,),) = self._store.rows("SELECT count(*) FROM chunk WHERE waiting")
            if not left:
                return False
            self._show("embedding", total - left, total)
            with self._store.snapshot() as cursor:
                if about(cursor, "model") != embedder.name:
                    raise OtherModelError
                batch = write.waiting(cursor, embedder.batch)
            vectors = embedder.documents([text for _, text in batch])
            with self._store.transaction() as cursor:
                write.keep_vectors(cursor, [chunk for chunk, _ in batch], vectors)
        time.sleep(_GAP)
        return True


class OtherModelError(DeepnbError):
    """Somebody else embeds the same documents otherwise."""

    def __init__(self) -> None:
        super().__init__(
            "Another process embeds these documents with another model. Close it, then call "
            "kb.refresh(), or pass at= to keep an index of your own."
        )
