"""A thread's folder may come from anybody: opening it runs nothing that its files name."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Annotated

import ormsgpack
import pytest
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

import deepnb
from deepnb.errors import DeepnbError
from deepnb.testing import ScriptedModel

CONSTRUCTOR = 0  # LangGraph's code for "call this with one argument"


def hostile(path):
    call = ormsgpack.packb(("os", "system", f"touch {path}"))
    return ormsgpack.packb(ormsgpack.Ext(CONSTRUCTOR, call))


@pytest.mark.parametrize(
    ("file", "statement"),
    [
        ("checkpoints.sqlite", "UPDATE checkpoints SET type = 'msgpack', checkpoint = ?"),
        ("checkpoints.sqlite", "UPDATE writes SET type = 'msgpack', value = ?"),
        ("record.sqlite", "INSERT INTO answer VALUES ('q', 'msgpack' || x'0A' || ?)"),
        ("record.sqlite", "UPDATE ask SET state = 'started', input = 'msgpack' || x'0A' || ?"),
    ],
)
def test_nothing_that_its_files_name_is_called(tmp_path, file, statement):
    def opened():
        model = ScriptedModel(lambda messages: "hello")
        return deepnb.Session("deep", model=model, workspace=tmp_path)

    with opened() as session:
        session.ask("hi").wait()
    with sqlite3.connect(tmp_path / ".deepnb" / "threads" / "main" / file) as db:
        db.execute(statement, (hostile(tmp_path / "pwned"),))
    db.close()
    try:
        with opened() as session:
            if session.can_resume:
                session.resume().wait()
            session.ask("and now?").wait()
    except DeepnbError:
        pass  # it is refused, which is as good
    assert not (tmp_path / "pwned").exists()


@dataclass
class Lake:
    name: str


class Lakes(TypedDict):
    lakes: Annotated[list[Lake], lambda old, new: old + new]


def test_a_graphs_own_classes_come_back_as_they_were(tmp_path):
    builder = StateGraph(Lakes)
    builder.add_node("look", lambda state: {"lakes": [Lake("Ansel")]})
    builder.add_edge(START, "look")
    with deepnb.Session(builder.compile(), workspace=tmp_path) as session:
        assert session.ask({"lakes": []}).wait().status == "done"
    with deepnb.Session(builder.compile(), workspace=tmp_path) as session:
        assert session.state["lakes"] == [Lake("Ansel")]
