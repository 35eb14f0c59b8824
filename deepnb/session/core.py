"""What a session is made of, put together and taken apart again."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from deepnb import agents
from deepnb.errors import DeepnbError, PathError, PaymentError, SessionError, ThreadError
from deepnb.files import Folder
from deepnb.middleware.budget import Budget
from deepnb.middleware.payment import IN_RUN as ACCOUNT
from deepnb.middleware.payment import Account
from deepnb.middleware.supervision import IN_RUN as SUPERVISOR
from deepnb.middleware.supervision import Supervisor
from deepnb.models import Choice, explain, resolve
from deepnb.models.prices import model_name, unwrapped
from deepnb.payments import Cashu
from deepnb.record import Record, ThreadFolder
from deepnb.record.database import damaged
from deepnb.record.database import explain as explain_sqlite
from deepnb.record.record import IN_RUN as RECORD
from deepnb.record.thread import FOLDER
from deepnb.session.engine import Engine
from deepnb.session.graph import ThreadGraph
from deepnb.session.loop import Loop
from deepnb.session.paying import PAYMENT, Purse
from deepnb.session.questions import Policy
from deepnb.session.restore import BRANCHED, CUT_OFF, restore
from deepnb.session.secrets import Secrets
from deepnb.session.watch import ModelWatch

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from langchain_core.language_models import BaseChatModel

    from deepnb.exchange import Exchange
    from deepnb.session.graph import Graph, Past
    from deepnb.session.questions import Respond


_BORN = "born"
"""Under this name the record knows what tells it from another one of its thread's name."""


@dataclass(frozen=True)
class Recipe:
    """How to make a session; the fields are `Session`'s arguments."""

    agent: str | Graph
    model: str | BaseChatModel | None
    workspace: str | os.PathLike[str]
    thread: str
    persist: bool
    respond: Respond
    tool_timeout: float | None
    subagent_timeout: float | None
    options: dict[str, Any] = field(default_factory=dict)

    def for_thread(self, thread: str) -> Self:
        """Give the recipe for a thread, which has a budget of its own."""
        options = dict(self.options)
        if isinstance(budget := options.get("budget"), Budget):
            options["budget"] = budget.twin()
        return replace(self, thread=thread, options=options)

    def graph(self, workspace: Path) -> Graph:
        """Build the graph.

        Raises:
            AgentError: No agent is called so, or it takes no such option.
            SessionError: What was given is no graph, or has options that are for agents by name.
        """
        if isinstance(self.agent, str):
            return agents.get(self.agent, model=self.model, workspace=workspace, **self.options)
        given = [*self.options, *(["model"] if self.model is not None else [])]
        if given:
            raise SessionError(f"{given[0]}= is for agents by name; a graph is made with its own.")
        if not hasattr(self.agent, "astream") or not hasattr(self.agent, "checkpointer"):
            raise SessionError(
                f"{type(self.agent).__name__} is no compiled LangGraph graph. Pass the name of an "
                f"agent ({', '.join(agents.names())}), or builder.compile()."
            )
        return self.agent

    @property
    def cashu(self) -> Cashu | None:
        """How model calls are paid for."""
        payment = self.options.get("payment")
        return payment if isinstance(payment, Cashu) else None

    @property
    def helper_models(self) -> list[Any]:
        """The models of subagents that have their own."""
        helpers = self.options.get("subagents") or ()
        return [helper.get("model") for helper in helpers if isinstance(helper, dict)]

    @property
    def choice(self) -> Choice | None:
        """The model and what chose it; None for a graph, which may have any number of them."""
        if not isinstance(self.agent, str):
            return None
        if self.model is None or isinstance(self.model, str):
            return explain(self.model)
        return Choice(model_name(self.model), "given as an object")

    def chat(self) -> BaseChatModel | None:
        """Make the model once more, to look at; None if nobody can tell which it is."""
        if isinstance(self.agent, str):
            with suppress(DeepnbError):  # an agent may take what `resolve` does not know
                return unwrapped(resolve(self.model))
        return None


@dataclass(frozen=True)
class Heritage:
    """What a branch begins with; without a past, it is a thread that has not begun."""

    past: Past | None
    record: Record
    events: int
    origin: str


class Core:
    """The parts of an open session: its folder, record, graph, engine and the loop they run on.

    Args:
        recipe: What to make.
        heritage: What a new thread begins with.
        let_go: Closes an earlier session of the thread in this kernel.

    Raises:
        ThreadError: The thread cannot be opened; the message says why and what to do.
        PaymentError: What is paid in would not be safe.
    """

    def __init__(
        self,
        recipe: Recipe,
        heritage: Heritage | None = None,
        let_go: Callable[[Path, str], None] | None = None,
    ) -> None:
        self.recipe = recipe = recipe.for_thread(recipe.thread)
        self.workspace = checked_workspace(recipe.workspace)
        policy = Policy(recipe.respond)
        graph = recipe.graph(self.workspace)
        if recipe.cashu:
            _check_safe(recipe.cashu, self.workspace, is_kept=recipe.persist)
        self.choice = recipe.choice  # as it is now: variables may change later
        given = recipe.agent
        self.agent = agents.name_of(given) if isinstance(given, str) else str(graph.name)
        self.folder = ThreadFolder(self.workspace, recipe.thread) if recipe.persist else None
        self._graph_is_open = False
        self._scratch: TemporaryDirectory[str] | None = None
        if let_go:  # only now: what cannot be made is no reason to close what is open
            let_go(self.workspace, recipe.thread)
        if self.folder:
            self.folder.lock(is_new=heritage is not None)
        self.loop = Loop(f"deepnb {recipe.thread}")
        self.record: Record | None = None
        self.purse: Purse | None = None
        self.watch = ModelWatch(recipe.chat)
        try:
            self.secrets = secrets = Secrets(recipe.model, *recipe.helper_models)
            self.record = Record(self.folder.record if self.folder else None, secrets)
            self.supervisor = Supervisor(self.record, recipe.tool_timeout, recipe.subagent_timeout)
            in_run: dict[str, Any] = {RECORD: self.record, SUPERVISOR: self.supervisor}
            known = self._checked_about(self.record.about)
            self.born = known.get(_BORN) or uuid4().hex
            if recipe.cashu:
                in_run[ACCOUNT] = account = Account(recipe.cashu.open(), self.born)
                self.purse = Purse(account, self.record)
            self.graph = ThreadGraph(graph, known.get("thread", recipe.thread), secrets, in_run)
            prices = self.budget.prices if self.budget else {}
            self.engine = Engine(
                self.graph,
                self.record,
                self.supervisor,
                policy,
                self.agent,
                prices=prices,
                purse=self.purse,
            )
            self.record.log.subscribe(self.watch.hear)
            if self.folder and self.budget:
                _keep(self.budget, self.folder.budget)
            self.loop.wait(self._start(self.record, heritage))
            if self.folder:
                self.folder.complete()
        except BaseException:
            self.close()
            raise

    @cached_property
    def files_record(self) -> Path:
        """Where to keep what is known of the workspace's files beside the files themselves."""
        if self.folder:
            return self.workspace / FOLDER
        self._scratch = TemporaryDirectory(prefix="deepnb-")
        return Path(self._scratch.name)

    @cached_property
    def exchange(self) -> Exchange:
        """The workspace's files, as pages reach them."""
        from deepnb.exchange import exchange_of

        return exchange_of(Folder(self.workspace), self.files_record)

    @property
    def budget(self) -> Budget | None:
        """The thread's budget, if it has one."""
        budget = self.recipe.options.get("budget")
        return budget if isinstance(budget, Budget) else None

    def use(self, model: str | BaseChatModel | None) -> None:
        """Have another model answer from now on.

        Raises:
            ModelError: There is no such model.
            SessionError: The agent is a graph, or is at work.
        """
        if not isinstance(self.recipe.agent, str):
            raise SessionError("This session's graph has models of its own. Make it with another.")
        recipe = replace(self.recipe, model=model)
        graph = recipe.graph(self.workspace)  # not on the loop: it may take a while
        self.loop.wait(self._change_to(recipe, graph))

    async def _change_to(self, recipe: Recipe, graph: Graph) -> None:
        if run := self.engine.under_way:
            raise SessionError(
                f"The model cannot be changed while a run is {run.status}. Wait, or stop it first."
            )
        choice = recipe.choice
        self.engine.record.note({"model": choice.spec if choice else ""})
        self.secrets.add(recipe.model)  # before anything that it says can be kept
        self.graph.change_to(graph)
        self.recipe, self.choice = recipe, choice
        self.watch.change_to(recipe.chat)

    def _checked_about(self, about: dict[str, str]) -> dict[str, str]:
        """Refuse a thread of another agent, which would take its questions for its own.

        And one that is paid for, to whoever would go on with it for nothing.
        """
        if (other := about.get("agent", self.agent)) != self.agent:
            raise ThreadError(
                f"The thread {self.recipe.thread!r} is of the agent {other!r}. Open it with that "
                f"one, or use another thread, for example thread={self.agent + '-1'!r}."
            )
        if PAYMENT in about and not self.recipe.cashu:
            raise ThreadError(
                f"The thread {self.recipe.thread!r} is paid for. Open it with "
                'payment=deepnb.Cashu(mints=["https://…"]), as before, or use another thread.'
            )
        return about

    async def _start(self, record: Record, heritage: Heritage | None) -> None:
        # The name it was made under is that of its checkpoints, also if its folder was renamed.
        made_as = {"thread": self.recipe.thread, **record.about}["thread"]
        model = self.choice.spec if self.choice else ""
        facts = {"thread": made_as, "agent": self.agent, "model": model, _BORN: self.born}
        if self.purse:
            facts[PAYMENT] = record.about.get(PAYMENT, "")
        record.note(facts)
        try:
            await self.graph.open(self.folder.checkpoints if self.folder else None)
            self._graph_is_open = True
            if heritage:
                if heritage.past:
                    own = self.purse.account.keys() if self.purse else {}
                    await self.graph.write_past(heritage.past, own)
                record.copy_from(heritage.record, heritage.events)
                record.note({"forked from": heritage.origin})
            await restore(self.engine, BRANCHED if heritage else CUT_OFF)
        except DeepnbError:
            raise
        except sqlite3.Error as error:
            raise explain_sqlite(error, "The thread's checkpoints") from error
        except Exception as error:  # whatever LangGraph makes of bytes that are none of its own
            raise damaged("The thread", error) from error

    def close(self) -> None:
        """Let go of everything."""
        self.watch.close()
        if self._graph_is_open:
            self.loop.wait(self.graph.close())
        if self.record:
            self.record.close()
        if self.budget:
            self.budget.close()
        if self.purse:
            self.purse.till.close()
        self.loop.close()
        if self.folder:
            self.folder.unlock()
        if self._scratch:
            self._scratch.cleanup()


def _check_safe(cashu: Cashu, workspace: Path, *, is_kept: bool) -> None:
    """Check that money is neither shown to the agent nor forgotten with the kernel.

    Raises:
        PaymentError: It would be.
    """
    if not is_kept:
        raise PaymentError(
            "A thread that is not kept cannot be paid for: when its kernel ends, nobody would "
            "find its money again. Leave out persist=False."
        )
    if cashu.folder.resolve().is_relative_to(workspace):
        raise PaymentError(
            f"The wallet {cashu.folder} is in the workspace, whose files the agent and the panel "
            "can read, and what is in it is money. Choose another place for it, with "
            "Cashu(…, wallet=folder), or a workspace that does not hold it."
        )


def _keep(budget: Budget, path: Path) -> None:
    try:
        budget.keep_in(path)
    except sqlite3.Error as error:
        raise explain_sqlite(error, str(path)) from error


def checked_workspace(workspace: str | os.PathLike[str]) -> Path:
    """Give the folder.

    Raises:
        PathError: It is none.
    """
    path = Path(workspace).expanduser()
    if not path.is_dir():
        raise PathError(f"{str(path)!r} is not a folder. Create it, or name another workspace.")
    return path.resolve()
