"""Between a session and the pages that show it: every request is answered, nothing is missed."""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict, deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from deepnb.errors import DeepnbError
from deepnb.events import plain
from deepnb.session.failures import described
from deepnb.widgets.facts import facts_of, searched
from deepnb.widgets.file_protocol import DownloadChunk, FileRequest, ListWorkspace
from deepnb.widgets.filing import Bytes, Filing
from deepnb.widgets.money_protocol import RevealRefund
from deepnb.widgets.news import page_of
from deepnb.widgets.protocol import REQUEST, VERSION, Hello, Pull, Transcribe
from deepnb.widgets.service import SLOW, Service

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from deepnb.events import Event
    from deepnb.knowledge import Knowledge
    from deepnb.session.session import Session
    from deepnb.widgets.protocol import (
        AnyRequest,
        Facts,
        News,
        QuickAction,
        Refusal,
        Reply,
        Starter,
    )
    from deepnb.widgets.service import Show

_REMEMBERED = 256
_LONGEST_ID = 64
_OTHER_VERSION: Refusal = {
    "kind": "VersionError",
    "text": "This page was made by another version of deepnb than the kernel has. Reload the page.",
}
_LOOK = 0.2  # seconds between two looks at how the session stands, while it is busy
_STARTERS: tuple[Starter, ...] = (
    {"title": "Look around", "text": "Which documents are here, and what are they about?"},
    {"title": "Find a passage", "text": "Where is it said that "},
    {"title": "Compare sources", "text": "Where do these documents disagree about "},
    {"title": "Sum it up", "text": "What are the main findings, each with its source?"},
)
"""For an agent of deepnb's, which has documents; of a graph it is not known what it is for."""
_STARTERS_OF: dict[str, tuple[Starter, ...]] = {
    "tutor": (
        {"title": "Make a claim", "text": "I want to argue that "},
        {"title": "Find a thesis", "text": "I want to write about "},
        {"title": "Go through a draft", "text": "Go through my draft "},
        {"title": "Look something up", "text": "Search my files for mentions of "},
    )
}


@dataclass
class View:
    """A page that shows the panel.

    Attributes:
        host: What it says it is.
        push: Whether anything has reached it unasked; None if it has not said.
        buffers: Whether bytes have come from it, beside a message.
    """

    host: str
    push: bool | None = None
    buffers: bool = False


class Switchboard:
    """Answers the requests of all views of a panel, and has news for them.

    Requests are answered at once, in the calling thread: there are hosts that show nothing which
    another thread sends. What takes a while is done elsewhere, and its reply goes with the news.

    Args:
        session: What is shown first.
        show: Has the panel show another session, see `Service`.
        poke: Called when there may be news.
    """

    def __init__(self, session: Session, show: Show, poke: Callable[[], None]) -> None:
        self.starters: list[Starter] = []
        if session.choice:
            self.starters += _STARTERS_OF.get(session.agent, _STARTERS)
        self.actions: list[QuickAction] = []
        self.keeps_transcript = True
        self.views: dict[str, View] = {}
        self._show, self._poke = show, poke
        self._lock = threading.RLock()  # a kernel may call handlers on several threads at once
        self._answered: OrderedDict[tuple[str, str], Reply] = OrderedDict()
        self._late: deque[Reply] = deque(maxlen=_REMEMBERED)
        self._listings: dict[str, str] = {}
        self._number = 0
        self.connect(session)

    def connect(self, session: Session) -> None:
        """Be about this session from now on."""
        with self._lock:
            self.session = session
            # Whoever else lets go of the documents may do so, also while this shows the session.
            documents = searched(session)
            self._knowledge: Callable[[], Knowledge | None] = (
                weakref.ref(documents) if documents is not None else lambda: None
            )
            self._service = Service(session, self._show)
            self._filing = Filing(session, self._takes_bytes)
            # What was before, views ask for when they come up.
            self._told, self._told_replies = _last(session), self._number
            self._told_facts: Facts | None = None
            self._are_facts_old, self._looked = True, 0.0

    def close(self) -> None:
        """Have the workspace watched no longer."""
        self._filing.close()

    def notice(self, event: Event | None = None) -> None:
        """Hear that something has happened: an event, or a change that is none."""
        if event is None or event.kind not in ("token", "reasoning"):
            self._are_facts_old = True

    # Asked

    def receive(self, content: Any, buffers: Sequence[Any] = ()) -> tuple[Reply, list[bytes]]:
        """Answer a message from a page, whatever it is; with bytes that go beside the answer."""
        with self._lock:
            try:
                request = REQUEST.validate_python(content)
            except ValidationError as error:
                return _reply(_identity(content), error=_misunderstood(error)), []
            self.session.attend()
            if known := self._answered.get((request.view, request.id)):
                return known, []  # a host may deliver twice, and nothing is done twice
            try:
                reply = self._answer(request, buffers)
                if buffers and (view := self.views.get(request.view)):
                    view.buffers = True
            except Exception as error:  # noqa: BLE001  # whatever it is, the page is answered
                return _reply(request, error=_refusal(error, described(error))), []
            if isinstance(reply["result"], Bytes):
                return {**reply, "result": reply["result"].result}, [reply["result"].data]
            # Those can be done again; and money is not kept.
            if not isinstance(request, Hello | Pull | DownloadChunk | RevealRefund):
                self._answered[request.view, request.id] = reply
                while len(self._answered) > _REMEMBERED:
                    self._answered.popitem(last=False)
            return reply, []

    def _answer(self, request: AnyRequest, buffers: Sequence[Any]) -> Reply:
        if isinstance(request, Hello):
            return self._greet(request)
        if request.thread != self.session.thread:
            return _reply(request, error=_elsewhere(self.session.thread))
        if isinstance(request, Pull):
            if view := self.views.get(request.view):
                view.push = request.push
            self._forget(request)
            return _reply(
                request, result=self._news(request.since, request.replies_since, request.view)
            )
        if isinstance(request, Transcribe) and not self.keeps_transcript:
            return _reply(request, result={"name": "", "text": ""})
        do: Callable[[Any], Any] = self._service.do
        is_slow = isinstance(request, SLOW)
        if isinstance(request, FileRequest):
            do, is_slow = partial(self._filing.do, buffers=buffers), self._filing.is_slow(request)
        if is_slow:
            threading.Thread(target=self._work, args=(request, do), daemon=True).start()
            return _reply(request, later=True)
        return self._done(request, do)

    def _greet(self, request: Hello) -> Reply:
        if request.version != VERSION:
            return _reply(request, error=_OTHER_VERSION)
        self.views[request.view] = View(request.host)
        self._told_facts, self._are_facts_old = None, True  # something to push, as a greeting
        return _reply(request, result=self._news(0, 0, request.view))

    def _takes_bytes(self, view: str) -> bool:
        known = self.views.get(view)
        return known is not None and known.buffers

    def _forget(self, pull: Pull) -> None:
        """Let go of the late replies that a view says it has."""
        for reply in [r for r in self._late if r["view"] == pull.view]:
            if reply["number"] <= pull.replies_since:
                self._late.remove(reply)

    def _work(self, request: AnyRequest, do: Callable[[Any], Any]) -> None:
        reply = self._done(request, do)
        with self._lock:
            self._number += 1
            if isinstance(request, ListWorkspace):  # it may be long, and only the last one counts
                before = self._listings.get(request.view)
                self._listings[request.view] = request.id
                for old in [each for each in self._late if each["id"] == before]:
                    self._late.remove(old)
            self._late.append({**reply, "number": self._number})
        self._poke()

    @staticmethod
    def _done(request: AnyRequest, do: Callable[[Any], Any]) -> Reply:
        try:
            result = do(request)
            return _reply(request, result=result if isinstance(result, Bytes) else plain(result))
        except DeepnbError as error:
            return _reply(request, error=_refusal(error, str(error)))
        except Exception as error:  # noqa: BLE001  # somebody's graph or disk: the page is told
            return _reply(request, error=_refusal(error, described(error)))

    # Unasked

    def news(self, *, everything: bool, settled: bool) -> News | None:
        """Give what no view was told yet, or None if there is nothing.

        Args:
            everything: Begin from the beginning.
            settled: Nothing has happened for a moment, so look how the session stands.
        """
        with self._lock:
            if everything:
                self._told_facts, self._are_facts_old = None, True
            facts = self._new_facts(at_once=settled or everything)
            replies = [each for each in self._late if each["number"] > self._told_replies]
            news = self._page(0 if everything else self._told, facts, replies)
            self._told, self._told_replies = max(self._told, news["last"]), self._number
        return news if news["events"] or facts or replies or everything else None

    def _new_facts(self, *, at_once: bool) -> Facts | None:
        if not self._are_facts_old:
            return None
        if not at_once and time.monotonic() - self._looked < _LOOK:
            return None
        self._are_facts_old, self._looked = False, time.monotonic()
        facts = self._facts()
        if facts == self._told_facts:
            return None
        self._told_facts = facts
        return facts

    def _news(self, since: int, replies_since: int, view: str) -> News:
        replies = [r for r in self._late if r["view"] == view and r["number"] > replies_since]
        return self._page(since, self._facts(), replies)

    def _facts(self) -> Facts:
        return facts_of(self.session, self.starters, self.actions, self._knowledge())

    def _page(self, after: int, facts: Facts | None, replies: list[Reply]) -> News:
        events, last, more = page_of(self.session.events(after))
        return {
            "thread": self.session.thread,
            "after": after,
            "last": after if last is None else last,
            "more": more,
            "events": events,
            "facts": facts,
            "replies": replies,
        }


def _last(session: Session) -> int:
    events = session.events()
    return events[-1].seq if events else 0


def _reply(
    request: AnyRequest | tuple[str, str],
    *,
    result: Any = None,
    error: Refusal | None = None,
    later: bool = False,
) -> Reply:
    identity, view = request if isinstance(request, tuple) else (request.id, request.view)
    return {
        "type": "reply",
        "id": identity,
        "view": view,
        "later": later,
        "number": 0,
        "result": result,
        "error": error,
    }


def _identity(content: Any) -> tuple[str, str]:
    """Whose message it was that nobody understands, as far as it says so."""
    said = content if isinstance(content, dict) else {}
    given = (said.get("id"), said.get("view"))
    identity, view = (g if isinstance(g, str) and len(g) <= _LONGEST_ID else "" for g in given)
    return plain(identity), plain(view)


def _refusal(error: Exception, text: str) -> Refusal:
    return {"kind": type(error).__name__, "text": plain(text)}


def _misunderstood(error: ValidationError) -> Refusal:
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return {
        "kind": "ProtocolError",
        "text": plain(
            f"The kernel does not understand this page ({where or 'message'}: {problem['msg']}). "
            "Nothing was done. Reload the page; if that does not help, restart the kernel."
        ),
    }


def _elsewhere(thread: str) -> Refusal:
    return {
        "kind": "OtherThreadError",
        "text": plain(f"The panel shows the thread {thread!r} by now. Nothing was done."),
    }
