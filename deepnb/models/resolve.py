"""Which model, and why that one.

The rules, first match wins: what was asked for; what its role is mapped to in `roles`;
`DEEPNB_MODEL`; `DEEPAGENTS_MODEL_PROVIDER` with its variables; the first provider whose key is
set and whose package is installed; the offline model. `explain` tells the outcome without
loading anything.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from deepnb.errors import MissingExtraError, ModelError, UnknownModelError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

roles: dict[str, str | BaseChatModel] = {}
"""The one place that maps a role to a model: `"main"`, or a subagent's name."""

_PROVIDER_KEYS = (
    ("ANTHROPIC_API_KEY", "langchain_anthropic", "anthropic:claude-sonnet-5-5"),
    ("OPENAI_API_KEY", "langchain_openai", "openai:gpt-6.1-sol"),
    ("GOOGLE_API_KEY", "langchain_google_genai", "google_genai:gemini-flash-latest"),
    ("GEMINI_API_KEY", "langchain_google_genai", "google_genai:gemini-flash-latest"),
    ("MISTRAL_API_KEY", "langchain_mistralai", "mistralai:mistral-large-latest"),
    ("GROQ_API_KEY", "langchain_groq", "groq:llama-3.3-70b-versatile"),
    ("DEEPSEEK_API_KEY", "langchain_deepseek", "deepseek:deepseek-chat"),
    ("OPENROUTER_API_KEY", "langchain_openrouter", "openrouter:openrouter/auto"),
)
"""Variable, package, and the model that its provider is asked for by default."""


@dataclass(frozen=True)
class Choice:
    """A model and the rule that chose it."""

    spec: str
    rule: str

    def __str__(self) -> str:
        return f"{self.spec} ({self.rule})"


def explain(spec: str | BaseChatModel | None = None, *, role: str = "main") -> Choice:
    """Say which model `resolve` would give for the same arguments, and which rule chose it."""
    if spec is not None:
        return Choice(_shown(spec), "asked for by name")
    if role in roles:
        return Choice(_shown(roles[role]), f"deepnb.models.roles[{role!r}]")
    if named := os.environ.get("DEEPNB_MODEL"):
        return Choice(named, "DEEPNB_MODEL is set")
    if provider := os.environ.get("DEEPAGENTS_MODEL_PROVIDER"):
        return _from_provider(provider)
    return _from_keys()


def resolve(spec: str | BaseChatModel | None = None, *, role: str = "main") -> BaseChatModel:
    """Give the chat model that `spec` names, or the configured one.

    Args:
        spec: A chat model (returned as it is), `provider:model` for any provider langchain
            knows, `ollama:NAME`, `lm-studio:NAME`, `local:PATH.gguf`, or `offline`.
        role: Whose model it is, for the mapping in `roles`.

    Raises:
        UnknownModelError: No such provider or file; the message suggests what was meant.
        MissingExtraError: The provider's package is not installed.
        ModelError: The provider refused its configuration, for example for want of a key.
    """
    chosen = roles.get(role) if spec is None else spec
    if chosen is None:
        chosen = explain(role=role).spec
    return _load(chosen) if isinstance(chosen, str) else chosen


def for_subagent(
    name: str, spec: str | BaseChatModel | None, parent: BaseChatModel
) -> BaseChatModel:
    """Give a subagent's model: its own, its role's, else its parent's."""
    return parent if spec is None and name not in roles else resolve(spec, role=name)


def _shown(spec: str | BaseChatModel) -> str:
    return spec if isinstance(spec, str) else type(spec).__name__


def _from_provider(provider: str) -> Choice:
    variables = {"ollama": "OLLAMA_MODEL_NAME", "lm-studio": "LM_STUDIO_MODEL_NAME"}
    if provider not in variables:
        raise UnknownModelError(
            f"DEEPAGENTS_MODEL_PROVIDER is {provider!r}. Set it to 'ollama' or 'lm-studio', or set "
            "DEEPNB_MODEL to a provider:model string instead."
        )
    variable = variables[provider]
    name = os.environ.get(variable)
    if not name:
        raise UnknownModelError(
            f"DEEPAGENTS_MODEL_PROVIDER is {provider!r}, but {variable} does not say which model. "
            f"Set {variable}."
        )
    return Choice(f"{provider}:{name}", f"DEEPAGENTS_MODEL_PROVIDER and {variable} are set")


def _from_keys() -> Choice:
    lacking = []
    for variable, package, spec in _PROVIDER_KEYS:
        if not os.environ.get(variable):
            continue
        if find_spec(package):
            return Choice(spec, f"{variable} is set")
        lacking.append(f"{variable} is set, but {package.replace('_', '-')} is not installed")
    return Choice("offline", "; ".join(lacking) or "no model is configured")


def _load(spec: str) -> BaseChatModel:
    provider, _, name = spec.partition(":")
    if spec == "offline":
        from deepnb.models.offline import OfflineModel

        return OfflineModel()
    if provider == "local":
        from deepnb.models.local import LocalModel

        return LocalModel(path=name)
    if provider == "lm-studio":
        return _init("openai", name, _lm_studio_settings(), shown=spec)
    if provider == "ollama":
        return _init("ollama", name, _ollama_settings(), shown=spec)
    return _init(None, spec, {}, shown=spec)


def _lm_studio_settings() -> dict[str, Any]:
    return {
        "base_url": os.environ.get("LM_STUDIO_BASE_URL", "http://localhost:1234/v1"),
        # LM Studio asks for none, but the OpenAI client insists on one.
        "api_key": os.environ.get("LM_STUDIO_API_KEY", "lm-studio"),
        # The only part of OpenAI's API that every compatible server has.
        "use_responses_api": False,
    }


def _ollama_settings() -> dict[str, Any]:
    url = os.environ.get("OLLAMA_BASE_URL") or os.environ.get("OLLAMA_HOST")
    return {"base_url": url} if url else {}


def _init(
    provider: str | None, name: str, settings: dict[str, Any], *, shown: str
) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    if not name.rpartition(":")[2].strip():
        raise UnknownModelError(f"{shown!r} names no model. Write it as provider:model.")
    try:
        model: BaseChatModel = init_chat_model(name, model_provider=provider, **settings)
    except ImportError as error:
        package = str(error).rpartition("pip install ")[2].strip("`. \n") or shown
        raise MissingExtraError(package, package) from error
    except Exception as error:  # each provider's package has exceptions of its own
        # A plain ValueError is langchain's for an unknown provider; pydantic's are subclasses.
        if type(error) is ValueError:
            raise UnknownModelError(_unknown(shown)) from error
        raise ModelError(f"{shown} cannot be used. {_reason(error)}") from error
    return model


def _reason(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        # Its own text quotes the input, and with it a key.
        return " ".join(
            problem["msg"].removeprefix("Value error, ")
            for problem in error.errors(include_input=False, include_context=False)
        )
    return str(error)


def _unknown(spec: str) -> str:
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    known = [*_BUILTIN_PROVIDERS, "lm-studio", "local", "offline"]
    near = get_close_matches(spec.partition(":")[0], known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"No model provider is called {spec.partition(':')[0]!r}.{hint} Write a model as "
        f"provider:model; the providers are {', '.join(sorted(known))}."
    )
