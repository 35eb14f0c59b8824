"""How a session stands, as the panel shows it beside the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from deepnb import models
from deepnb.errors import DeepnbError, SessionError
from deepnb.events import plain
from deepnb.models.cassette.masking import mask
from deepnb.models.readiness import Readiness
from deepnb.widgets.protocol import VERSION

if TYPE_CHECKING:
    from deepnb.knowledge import Knowledge
    from deepnb.session.session import Session
    from deepnb.widgets.file_protocol import FileFacts
    from deepnb.widgets.money_protocol import PaymentFacts
    from deepnb.widgets.protocol import (
        Facts,
        KnowledgeWork,
        Model,
        ModelOption,
        QuickAction,
        Starter,
    )


def searched(session: Session) -> Knowledge | None:
    """Give the documents that a session searches, if it has some."""
    if session.is_closed:
        return None
    try:
        found: Knowledge = session.knowledge
    except (AttributeError, SessionError):  # its agent searches none, or was given none
        return None
    return found


def facts_of(
    session: Session,
    starters: list[Starter],
    actions: list[QuickAction],
    knowledge: Knowledge | None = None,
) -> Facts:
    """Say how a session stands, and how what it searches does."""
    facts: Facts = {
        "version": VERSION,
        "agent": session.agent,
        "thread": session.thread,
        "title": session.title,
        "workspace": session.workspace.name,
        "opening": session.opening,
        "forked_from": session.forked_from,
        "status": "closed" if session.is_closed else session.status,
        "waiting_for": session.waiting_for,
        "can_resume": not session.is_closed and session.can_resume,
        "model": _model(session),
        "models": _options(session),
        "knowledge": _work(knowledge) if knowledge else None,
        "files": None if session.is_closed else _files(session, can_index=knowledge is not None),
        "budget": [] if session.is_closed else [limit._asdict() for limit in session.limits],  # type: ignore[misc]  # its fields are the same
        "payment": _payment(session),
        "starters": starters,
        "actions": actions,
        "takes_messages": session.takes_messages,
        "has_todos": session.has_todos,
        "kept": session.is_kept,
    }
    cleaned: Facts = plain(facts)
    return cleaned


def _model(session: Session) -> Model | None:
    choice = session.choice
    if choice is None:
        return None
    readiness = Readiness("ready") if session.is_closed else session.readiness
    return {
        "name": str(mask(choice.spec)),
        "rule": choice.rule,
        "state": readiness.state,
        "detail": readiness.detail,
        "progress": readiness.progress,
        "can_switch": not session.is_closed,
    }


def _work(knowledge: Knowledge) -> KnowledgeWork | None:
    now = knowledge.progress
    match now.phase:
        case "ready" | "closed":
            return None
        case phase:
            return {"phase": phase, "done": now.done, "total": now.total}


def _files(session: Session, *, can_index: bool) -> FileFacts:
    exchange = session.exchange
    try:
        mappings = list(exchange.mappings())
    except DeepnbError:  # whoever maps something is told what is wrong; the chat goes on
        mappings = []
    return {
        "shelf": session.shelf,
        "version": exchange.changes.version,
        "mappings": mappings,
        "agent_reads": session.reads_client,
        "can_index": can_index,
    }


def _payment(session: Session) -> PaymentFacts | None:
    try:
        paid = session.payment
    except DeepnbError:  # whoever pays is told what is wrong with the wallet; the chat goes on
        paid = None
    if paid is None:
        return None
    facts = {**vars(paid), "mints": list(paid.mints)}
    facts["refund"] = vars(paid.refund) if paid.refund else None
    return cast("PaymentFacts", facts)


def _options(session: Session) -> list[ModelOption]:
    """Name the models that are at hand: the configured one, and the one that needs nothing."""
    if session.choice is None:
        return []
    try:
        configured = models.explain()
    except DeepnbError:  # a variable that says nothing sensible
        configured = None
    found = {"offline": "quotes your documents; needs no key and no network"}
    if configured:
        found = {configured.spec: configured.rule, **found}
    # Who puts a key where a model's name belongs must not see it on the page.
    return [{"spec": spec, "rule": rule} for spec, rule in found.items() if mask(spec) == spec]
