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
from deepnb.models.prices import PROVIDER

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

_KEYS_WITHOUT_DEFAULT = {
    "XAI_API_KEY": "xai",
    "COHERE_API_KEY": "cohere",
    "FIREWORKS_API_KEY": "fireworks",
    "TOGETHER_API_KEY": "together",
    "PPLX_API_KEY": "perplexity",
    "NVIDIA_API_KEY": "nvidia",
    "UPSTAGE_API_KEY": "upstage",
    "BASETEN_API_KEY": "baseten",
}
"""Providers whose models come and go, or call no tools: there the person names one."""

_NO_KEY = (
    "Set the variable before Python starts, or here with os.environ[...] = ...; or make the model "
    "yourself, with its key, and give that in place of its name. The model 'offline' needs none."
)
_OWN_NAMES = ("lm-studio", "local", "offline")
_NEAR = 0.75
_LONGEST_ECHO = 40


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
    if role in _roles():
        return Choice(_shown(_roles()[role]), f"deepnb.models.roles[{role!r}]")
    choice = _configured()
    if role == "main":
        return choice
    parents = "a subagent without a model of its own gets its parent's"
    return Choice(choice.spec, f"{choice.rule}; {parents}")


def _configured() -> Choice:
    if named := _variable("DEEPNB_MODEL"):
        return Choice(named, "DEEPNB_MODEL is set")
    if provider := _variable("DEEPAGENTS_MODEL_PROVIDER"):
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
    chosen = _roles().get(role) if spec is None else spec
    if chosen is None:
        chosen = _configured().spec
    return _load(chosen.strip()) if isinstance(chosen, str) else _checked(chosen)


def for_subagent(
    name: str, spec: str | BaseChatModel | None, parent: BaseChatModel
) -> BaseChatModel:
    """Give a subagent's model: its own, its role's, else its parent's."""
    return parent if spec is None and name not in _roles() else resolve(spec, role=name)


def _roles() -> dict[str, str | BaseChatModel]:
    # Looked up each time, so that `deepnb.models.roles = {...}` has the effect one expects.
    from deepnb import models

    return models.roles


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _checked(model: object) -> BaseChatModel:
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return model
    kind = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
    raise UnknownModelError(
        f"A model was expected, not {kind}. Give a langchain chat model, or a text such as "
        "'anthropic:claude-sonnet-5-5', 'ollama:qwen3', 'local:model.gguf' or 'offline'."
    )


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
    name = _variable(variable)
    if not name:
        raise UnknownModelError(
            f"DEEPAGENTS_MODEL_PROVIDER is {provider!r}, but {variable} does not say which model. "
            f"Set {variable}."
        )
    return Choice(f"{provider}:{name}", f"DEEPAGENTS_MODEL_PROVIDER and {variable} are set")


def _from_keys() -> Choice:
    lacking = []
    for variable, package, spec in _PROVIDER_KEYS:
        if not _variable(variable):
            continue
        if find_spec(package):
            return Choice(spec, f"{variable} is set")
        lacking.append(f"{variable} is set, but {package.replace('_', '-')} is not installed")
    lacking += [
        f"{variable} is set: name a model, DEEPNB_MODEL='{provider}:…'"
        for variable, provider in _KEYS_WITHOUT_DEFAULT.items()
        if _variable(variable)
    ]
    return Choice("offline", "; ".join(lacking) or "no model is configured")


def _load(spec: str) -> BaseChatModel:
    provider, _, name = spec.partition(":")
    if spec == "offline":
        from deepnb.models.offline import OfflineModel

        return OfflineModel()
    if provider == "offline":
        raise UnknownModelError("The offline model takes no name. Write 'offline'.")
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
        "base_url": _variable("LM_STUDIO_BASE_URL") or "http://localhost:1234/v1",
        # LM Studio asks for none, but the OpenAI client insists on one.
        "api_key": _variable("LM_STUDIO_API_KEY") or "lm-studio",
        # The only part of OpenAI's API that every compatible server has.
        "use_responses_api": False,
        # The class says OpenAI, whose prices do not apply.
        "metadata": {PROVIDER: "lm-studio"},
    }


def _ollama_settings() -> dict[str, Any]:
    url = _variable("OLLAMA_BASE_URL") or _variable("OLLAMA_HOST")
    return {"base_url": url} if url else {}


def _init(
    provider: str | None, name: str, settings: dict[str, Any], *, shown: str
) -> BaseChatModel:
    from langchain.chat_models import init_chat_model

    if not name.rpartition(":")[2].strip():
        raise UnknownModelError(f"{_echo(shown)!r} names no model. Write it as provider:model.")
    try:
        model: BaseChatModel = init_chat_model(name, model_provider=provider, **settings)
    except ImportError as error:
        package = str(error).rpartition("pip install ")[2].strip("`. \n") or _echo(shown)
        raise MissingExtraError(package, package) from error
    except Exception as error:  # each provider's package has exceptions of its own
        # A plain ValueError may be langchain's for an unknown provider, or a known one's own.
        if type(error) is ValueError and not _is_known(provider, name):
            # Not from the error: that one quotes what may be a key.
            raise UnknownModelError(_unknown(shown)) from None
        raise _unusable(shown, _reason(error)) from error
    if variable := _missing_key(model):
        raise _unusable(shown, f"{variable} is not set.")
    return model


def _missing_key(model: BaseChatModel) -> str:
    """Give the variable of a key that a model was made without; its first call would fail."""
    from pydantic import SecretStr

    for field, variable in model.lc_secrets.items():
        key = getattr(model, field, None)
        if isinstance(key, SecretStr) and not key.get_secret_value().strip():
            # A token, a server of one's own, headers: whoever has set any of it may need no key.
            prefix = variable.removesuffix("API_KEY")
            if not any(name.startswith(prefix) and _variable(name) for name in os.environ):
                return variable
    return ""


def _unusable(spec: str, reason: str) -> ModelError:
    what_to_do = f" {_NO_KEY}" if "API_KEY" in reason else ""
    return ModelError(f"{_echo(spec)} cannot be used. {reason}{what_to_do}")


def _reason(error: Exception) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        # Its own text quotes the input, and with it a key.
        return " ".join(
            problem["msg"].removeprefix("Value error, ")
            for problem in error.errors(include_input=False, include_context=False)
        )
    return str(error)


def _is_known(provider: str | None, name: str) -> bool:
    from langchain.chat_models.base import _BUILTIN_PROVIDERS, _attempt_infer_model_provider

    named = provider or name.partition(":")[0]
    return named in _BUILTIN_PROVIDERS or _attempt_infer_model_provider(name) is not None


def _unknown(spec: str) -> str:
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    known = [*_BUILTIN_PROVIDERS, *_OWN_NAMES]
    provider = spec.partition(":")[0]
    near = get_close_matches(provider.lower(), known, n=1, cutoff=_NEAR)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"No model provider is called {_echo(provider)!r}.{hint} Write a model as "
        f"provider:model; the providers are {', '.join(sorted(known))}."
    )


def _echo(spec: str) -> str:
    """What was given, for a message: not whole, and no key, which is easily given by mistake."""
    from deepnb.models.cassette.masking import mask

    masked = str(mask(spec))
    return masked if len(masked) <= _LONGEST_ECHO else f"{masked[: _LONGEST_ECHO - 1]}…"
