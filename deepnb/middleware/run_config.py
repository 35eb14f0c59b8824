"""The configuration of a run, wherever in the run one stands.

A caller says once, in `config["configurable"]`, for whom and where a run works; every tool and
every subagent at any depth reads the same from its runtime. It travels in LangGraph's own config,
which each call is handed explicitly: not in graph state, of which subagents get copies, and not
in a context variable, which another thread does not see. Nothing a model writes can change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from langchain.agents.middleware import AgentMiddleware
from langgraph.config import get_config

from deepnb.errors import PathError, RunConfigError
from deepnb.files.paths import join, safe_parts
from deepnb.files.tenant import checked_tenant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langchain_core.runnables import RunnableConfig
    from langgraph.runtime import Runtime


@dataclass(frozen=True)
class RunConfig:
    """Where a run works, and for whom.

    Attributes:
        workspace_root: The folder or prefix all of the run's files are under, as `/a/b/`.
        tenant: Whose run it is.
    """

    workspace_root: str | None = None
    tenant: str | None = None

    @classmethod
    def of(cls, config: RunnableConfig | Mapping[str, Any] | None = None) -> Self:
        """Read and check the run's configuration.

        Args:
            config: What a tool has as `runtime.config`; left out, the config of the node or tool
                this is called from.

        Raises:
            RunConfigError: A value is malformed, or there is no run here to ask.
        """
        if config is None:
            try:
                config = get_config()
            except RuntimeError as error:
                raise RunConfigError(
                    "There is no run here. Call this in a tool or a node, or pass its config."
                ) from error
        values = config.get("configurable") or {}
        return cls(
            workspace_root=_root(values.get("workspace_root")),
            tenant=checked_tenant(values.get("tenant")),
        )


class RunConfigMiddleware(AgentMiddleware[Any, Any, Any]):
    """Refuse a run whose configuration is malformed or lacks what the agent needs.

    Args:
        require: Names of `RunConfig`'s attributes without which nothing may start.
    """

    def __init__(self, *, require: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.require = require

    def before_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """Check once, before the first model call; subagents check again, each for itself."""
        config = RunConfig.of()
        for name in self.require:
            if getattr(config, name) is None:
                raise RunConfigError(
                    f"This agent needs to know its {name}. Run it with "
                    f'config={{"configurable": {{"{name}": ...}}}}.'
                )

    async def abefore_agent(self, state: Any, runtime: Runtime[Any]) -> None:
        """As `before_agent`: nothing here waits."""
        self.before_agent(state, runtime)


def _root(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise RunConfigError(f"workspace_root must be a path, not {type(value).__name__}.")
    try:
        segments = safe_parts(value)
    except PathError as error:
        raise RunConfigError(f"workspace_root is not usable: {error}") from error
    if not segments:
        raise RunConfigError("workspace_root is the root of everything. Name a folder below it.")
    return join(segments) + "/"
