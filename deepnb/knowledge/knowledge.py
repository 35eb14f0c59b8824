"""A pile of documents that can be searched."""

from __future__ import annotations

import shutil
import sqlite3
import weakref
from contextlib import suppress
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from deepnb.errors import KnowledgeError
from deepnb.knowledge import catalog, embed, opening, showing
from deepnb.knowledge.gather import item, location_of, text_of
from deepnb.knowledge.search import View
from deepnb.knowledge.store import is_damage
from deepnb.knowledge.worker import Worker
from deepnb.knowledge.write import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self

    import pandas as pd
    from langchain_core.embeddings import Embeddings

    from deepnb.knowledge.minilm import Matrix
    from deepnb.knowledge.opening import Pathlike
    from deepnb.knowledge.passages import Kind, Note, Overview, Passage
    from deepnb.knowledge.store import Store
    from deepnb.knowledge.worker import Progress

Result = TypeVar("Result")

_PATIENCE = 1.0  # seconds before a progress bar is shown


class Knowledge:
    """Documents, searchable by words at once and by meaning a little later.

    `Knowledge("papers/")` reads the folder in the background and returns at once. Its index is
    kept in `papers/.deepnb/knowledge`: the next time only what has changed is read.

    Args:
        documents: A folder, a file, or several; none to begin with nothing.
        embeddings: Any LangChain embeddings; None for the model that comes with
            `deepnb[knowledge]` or `deepnb[light]`, False for keyword search alone.
        at: Folder for the index. Without it, the index of a folder is beside its documents, and
            any other is gone when it is closed.
        private: Whether pages may be fetched from this machine and private networks.

    Raises:
        KnowledgeError: There is no such folder or file, or a newer deepnb made the index.
    """

    def __init__(
        self,
        documents: Pathlike | Sequence[Pathlike] | None = None,
        *,
        embeddings: Embeddings | Literal[False] | None = None,
        at: Pathlike | None = None,
        private: bool = False,
    ) -> None:
        starts = opening.starts(documents)
        self._root = starts[0] if len(starts) == 1 and starts[0].is_dir() else None
        self._embedder = embed.chosen(embeddings)
        self._store, notice, scratch = opening.opened(opening.home(at, self._root))
        self._view = View(self._store, self._embedder.name if self._embedder else "")
        self._worker = Worker(
            self._store, self._view, self._embedder, self._root, starts, private=private
        )
        self._worker.notices |= notice
        # Also when nobody closes it: at the end of the process, or when it is let go of.
        self._end = weakref.finalize(self, _close, self._worker, self._store, scratch)

    # What goes in

    def add(self, *things: Pathlike | Note) -> Knowledge:
        """Add files, folders, addresses of pages, and notes; they are read in the background.

        Raises:
            KnowledgeError: There is no such file, or it is no path; nothing was added then.
        """
        for each in [item(thing, self._root) for thing in things]:
            self._worker.submit(partial(self._worker.texts.add, each))
        return self

    def remove(self, location: Pathlike) -> None:
        """Take a document out, and leave it out until it is added again.

        The file itself is not touched.

        Raises:
            KnowledgeError: There is no such document.
        """
        self._wait_for_text()
        known = self._known(location)
        self._worker.submit(partial(self._worker.texts.remove, known))
        self._wait_for_text()

    def refresh(self) -> Knowledge:
        """Look for files that are new, changed or gone, and go on embedding if that had failed.

        A page is fetched again when it is added again.
        """
        for about in ("embeddings", "index"):
            self._worker.notices.pop(about, None)
        self._worker.submit(self._worker.texts.scan)
        return self

    # What comes out

    def search(self, query: str, k: int = 8) -> pd.DataFrame:
        """Find passages, as a DataFrame, best first.

        Waits until the text of all documents is read, with a progress bar if that takes long, but
        not for their vectors: until those are made, words alone decide.

        Raises:
            KnowledgeError: The query is no text.
            ValueError: k is not how many.
        """
        return catalog.ranked(self._found(query, k, show=True))

    def find(
        self, query: str, k: int = 8, *, among: Callable[[Kind, str], bool] | None = None
    ) -> list[Passage]:
        """Find passages, best first. May be called from any thread; blocks like `search`.

        Args:
            query: What to look for.
            k: How many passages.
            among: Tells by its kind and location whether a document counts; left out, all do.
        """
        return self._found(query, k, among)

    def _found(
        self,
        query: str,
        k: int,
        among: Callable[[Kind, str], bool] | None = None,
        *,
        show: bool = False,
    ) -> list[Passage]:
        if not isinstance(query, str):
            raise KnowledgeError(
                f"{query!r:.80} cannot be searched for. Pass a text: kb.search('oxygen', k=8)."
            )
        if not isinstance(k, Integral) or k < 1:
            raise ValueError(
                f"k is how many passages you want: a whole number, at least 1, not {k!r:.40}."
            )
        self._wait_for_text(show=show)
        query = plain(query)
        vector = self._vector(query)

        def read() -> list[Passage]:
            chosen = catalog.chosen(self._store, among) if among else None
            return catalog.found(self._store, self._view.find(query, vector, k, chosen))

        return self._undamaged(read)

    def _vector(self, query: str) -> Matrix | None:
        if not (self._embedder and self._worker.is_ready_to_embed and self._view.has_vectors):
            return None
        try:
            return self._embedder.query(query)
        except Exception as error:  # noqa: BLE001  # a remote service must not take words with it
            self._worker.notices["embeddings"] = (
                f"The query could not be embedded ({error}). Search went by words alone; "
                "kb.refresh() tries again."
            )
            return None

    def read(self, location: Pathlike) -> list[Passage]:
        """Every passage of a document, in order; neighbours overlap a little.

        Raises:
            KnowledgeError: There is no such document.
        """
        self._wait_for_text()
        return catalog.passages(self._store, self._known(location))

    @property
    def documents(self) -> pd.DataFrame:
        """One row for each document that could be read; waits like `search`."""
        self._wait_for_text(show=True)
        return self._undamaged(lambda: catalog.documents(self._store))

    @property
    def problems(self) -> pd.DataFrame:
        """What could not be read, or not wholly, and why; waits like `search`."""
        self._wait_for_text(show=True)
        return self._undamaged(self._problems)

    @property
    def folder(self) -> Path | None:
        """The folder whose documents these are; None if they are of several places, or none."""
        return self._root.resolve() if self._root else None

    def unread(self) -> list[str]:
        """Where the documents are that could not be read, or not wholly."""
        self._wait_for_text()
        return self._undamaged(lambda: list(catalog.problems(self._store, ()).location))

    def _problems(self) -> pd.DataFrame:
        return catalog.problems(self._store, self._worker.notices.items())

    def overview(self, documents: int = 40, headings: int = 8) -> list[Overview]:
        """What the documents are about, in short, for whoever plans a search."""
        self._wait_for_text()
        return self._undamaged(lambda: catalog.overview(self._store, documents, headings))

    def _known(self, location: Pathlike) -> str:
        """The location of a document, from what people call it."""
        text = text_of(location)
        names = [text, location_of(Path(text).expanduser().absolute(), self._root)]
        for name in names:
            if self._store.rows("SELECT 1 FROM document WHERE location = ?", name):
                return name
        raise KnowledgeError(
            f"There is no document {text!r} here. kb.documents lists the locations of all."
        )

    # Waiting

    @property
    def progress(self) -> Progress:
        """What is being done in the background, and how far it is."""
        return self._worker.progress

    def on_progress(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called when `progress` has changed; call the result to end that.

        On whichever thread that happens, so it must return at once.
        """
        listeners = self._worker.listeners
        listeners.append(callback)

        def end() -> None:
            with suppress(ValueError):
                listeners.remove(callback)

        return end

    def wait(self) -> Knowledge:
        """Wait until everything is read and embedded, with a progress bar if that takes long."""
        self._wait(self._worker.wait, show=True)
        return self

    def _wait_for_text(self, *, show: bool = False) -> None:
        self._wait(self._worker.wait_for_text, show=show)

    def _wait(self, wait: Callable[[float], bool], *, show: bool) -> None:
        if not self._end.alive:
            raise KnowledgeError(
                "This knowledge base is closed. Open it again: deepnb.Knowledge(…)"
            )
        if wait(_PATIENCE):
            return
        if not show:
            while not wait(60.0):
                pass
            return
        from tqdm.auto import tqdm  # type: ignore[import-untyped]  # it has no types

        with tqdm(leave=False, bar_format="{desc} {bar} {n_fmt}/{total_fmt}") as bar:
            shown = None
            while not wait(0.2):
                now = self.progress
                if str(now) != shown:  # a log file need not be told five times a second
                    shown = str(now)
                    bar.total, bar.n = now.total or None, now.done
                    bar.set_description_str(shown.partition(" of ")[0].rstrip("0123456789, "))

    def _undamaged(self, read: Callable[[], Result]) -> Result:
        """Read; if the index turns out to be damaged, have it made anew and read that."""
        try:
            return read()
        except sqlite3.Error as error:
            if not is_damage(error):
                raise KnowledgeError(
                    f"The index in {self._store.folder} cannot be read ({error}). Close whatever "
                    "else uses it, then call kb.refresh()."
                ) from error
            self._worker.submit(partial(self._worker.start_over, error))
            self._wait_for_text()
            return read()

    # Its end, and how it looks

    def close(self) -> None:
        """Stop working; what is not done is done when it is opened again."""
        self._end()

    @property
    def is_closed(self) -> bool:
        """Whether it can be searched no more."""
        return not self._end.alive

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Knowledge({', '.join(self._summary())})"

    def _repr_html_(self) -> str:
        return showing.as_html(
            self._summary(),
            *self._undamaged(lambda: (catalog.documents(self._store), self._problems())),
        )

    def _summary(self) -> list[str]:
        if not self._end.alive:
            return ["closed"]
        counts = self._undamaged(lambda: self._store.rows(showing.COUNTS))[0]
        return showing.summary(counts, self.progress, self._worker.notices)


def _close(worker: Worker, opened: Store, scratch: Path | None) -> None:
    worker.stop()
    opened.close()
    if scratch:
        shutil.rmtree(scratch, ignore_errors=True)
