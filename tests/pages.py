"""A page without a browser."""

from __future__ import annotations

import json
from uuid import uuid4

from pydantic import TypeAdapter

from deepnb.widgets import protocol
from deepnb.widgets.switchboard import Switchboard
from tests.sessions import until

NEWS = TypeAdapter(protocol.News)
REPLY = TypeAdapter(protocol.Reply)


class Page:
    """A view that says what a page would say; `beside` are the bytes that came with an answer."""

    def __init__(self, session):
        self.shown = [session]
        self.board = Switchboard(session, self.show, lambda: None)
        self.view = uuid4().hex
        self.beside = []

    def show(self, session, *, is_guest):
        self.shown.append(session)
        self.board.connect(session)

    def say(self, kind, /, *buffers, **fields):
        place = {"id": uuid4().hex, "view": self.view, "thread": self.board.session.thread}
        reply, self.beside = self.board.receive({"type": kind, **place, **fields}, buffers)
        json.dumps(REPLY.validate_python(reply), allow_nan=False).encode()
        return reply

    def do(self, kind, /, *buffers, **fields):
        reply = self.say(kind, *buffers, **fields)
        if reply["later"]:
            reply = until(lambda: self.late(reply["id"]))
        return reply

    def late(self, identity):
        pulled = self.say("pull", since=0, replies_since=0, push=False)
        # Refused in the very moment in which the panel goes on to another thread.
        replies = pulled["result"]["replies"] if pulled["result"] else []
        return next((each for each in replies if each["id"] == identity), None)

    def hello(self):
        return self.say("hello", version=protocol.VERSION, host="test")["result"]

    def pull(self, since=0, replies_since=0):
        reply = self.say("pull", since=since, replies_since=replies_since, push=False)
        return NEWS.validate_python(reply["result"])
