"""The model calls that no middleware sees: in subagents somebody compiled, and inside tools.

A callback travels with a run into everything it calls. While a tool runs, this one notes each
model call that the budget has not reserved itself, and enters what it cost.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from langchain_core.messages import BaseMessage
    from langchain_core.outputs import LLMResult

reserved: ContextVar[frozenset[int]] = ContextVar("deepnb_reserved", default=frozenset())
"""The meters whose budgets have reserved the model call that is under way here."""

_active: ContextVar[Meter | None] = ContextVar("deepnb_meter", default=None)
register_configure_hook(_active, inheritable=True)


class Meter(BaseCallbackHandler):
    """Tells `enter` of each unreserved call: its parameters, its messages and its reply, if any."""

    raise_error = True  # what cannot be charged must not go on
    run_inline = True  # in the context of the call, which says whether it is reserved

    def __init__(
        self, enter: Callable[[dict[str, Any], list[BaseMessage], BaseMessage | None], None]
    ) -> None:
        self._enter = enter
        self._open: dict[UUID, tuple[dict[str, Any], list[BaseMessage]]] = {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Listen to what is called inside."""
        token = _active.set(self)
        try:
            yield
        finally:
            _active.reset(token)

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """Note a call, unless it is reserved."""
        if id(self) not in reserved.get():
            known = {**kwargs.get("invocation_params", {}), "metadata": kwargs.get("metadata")}
            self._open[run_id] = (known, messages[0])

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        """Enter what a call cost."""
        if call := self._open.pop(run_id, None):
            generation = response.generations[0][0]
            self._enter(*call, getattr(generation, "message", None))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Enter a call that failed."""
        if call := self._open.pop(run_id, None):
            self._enter(*call, None)
