"""Whose run it is, and where their memories are kept."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from langgraph.config import get_config

from deepnb.errors import RunConfigError

if TYPE_CHECKING:
    from langgraph.runtime import Runtime


def checked_tenant(value: object) -> str | None:
    """The tenant that a run's configuration names, None if it names none.

    Raises:
        RunConfigError: If it is not a name; a guess could mix up the memories of two tenants.
    """
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise RunConfigError(
            f"tenant must be a printable name, not {value!a:.80}. Pass a text that is not empty "
            'in config={"configurable": {"tenant": ...}}.'
        )
    return value


def memories_of_tenant(runtime: Runtime[Any]) -> tuple[str, ...]:
    """The namespace of memories in the run's store: apart for each tenant.

    Raises:
        RunConfigError: If the run has no store, or its tenant is malformed.
    """
    if runtime.store is None:
        raise RunConfigError("/memories/ needs a store: pass store= to the agent.")
    tenant = checked_tenant(get_config().get("configurable", {}).get("tenant"))
    if tenant is None:
        return ("memories",)
    # A hash, since stores allow few characters in a namespace and match it by its beginning.
    return ("tenants", hashlib.sha256(tenant.encode()).hexdigest(), "memories")
