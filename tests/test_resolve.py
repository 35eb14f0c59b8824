"""Which model is chosen, by which rule, and what happens when there is none such."""

from __future__ import annotations

import traceback

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI

import deepnb
from deepnb import models
from deepnb.errors import DeepnbError, MissingExtraError, ModelError, UnknownModelError
from deepnb.models.prices import model_name, price, unwrapped
from deepnb.models.resolve import _KEYS_WITHOUT_DEFAULT, _PROVIDER_KEYS
from deepnb.testing import ScriptedModel, allow_model_calls
from tests.loopback import model_server


def test_with_nothing_configured_it_is_offline():
    assert str(models.explain()) == "offline (no model is configured)"
    assert isinstance(models.resolve(), models.OfflineModel)


def test_a_model_is_itself():
    model = ScriptedModel([])
    assert models.resolve(model) is model
    assert models.explain(model).spec == "ScriptedModel"


def test_the_rules_in_their_order(monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "k" * 20)
    assert models.explain() == models.Choice(
        "offline", "GROQ_API_KEY is set, but langchain-groq is not installed"
    )
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    assert models.explain().rule == "OPENAI_API_KEY is set"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    assert models.explain().rule == "ANTHROPIC_API_KEY is set"
    monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "ollama")
    monkeypatch.setenv("OLLAMA_MODEL_NAME", "qwen3")
    assert models.explain().spec == "ollama:qwen3"
    monkeypatch.setenv("DEEPNB_MODEL", "offline")
    assert models.explain() == models.Choice("offline", "DEEPNB_MODEL is set")
    models.roles["main"] = "lm-studio:phi"
    assert models.explain() == models.Choice("lm-studio:phi", "deepnb.models.roles['main']")
    assert models.explain("openai:gpt-5") == models.Choice("openai:gpt-5", "asked for by name")


def test_what_is_explained_is_what_is_resolved(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    assert models.resolve().model == models.explain().spec.partition(":")[2]


def test_an_empty_variable_is_not_set(monkeypatch):
    monkeypatch.setenv("DEEPNB_MODEL", "")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "")
    assert models.explain().spec == "offline"


def test_a_subagent_has_its_own_model_its_roles_or_its_parents():
    parent, given, mapped = ScriptedModel([]), ScriptedModel([]), ScriptedModel([])
    models.roles["critic"] = mapped
    assert models.for_subagent("critic", given, parent) is given
    assert models.for_subagent("critic", None, parent) is mapped
    assert models.for_subagent("researcher", None, parent) is parent


def test_ollama_is_reached_where_its_variables_say(monkeypatch):
    with model_server("hello from ollama") as server, allow_model_calls():
        monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "ollama")
        monkeypatch.setenv("OLLAMA_MODEL_NAME", "qwen3")
        monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
        assert models.resolve().invoke("hi").text == "hello from ollama"
        monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        assert models.resolve("ollama:phi").invoke("hi").text == "hello from ollama"
    assert [request["model"] for request in server.requests] == ["qwen3", "phi"]


def test_lm_studio_is_reached_where_its_variables_say(monkeypatch):
    with model_server("hello from lm studio") as server, allow_model_calls():
        monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "lm-studio")
        monkeypatch.setenv("LM_STUDIO_MODEL_NAME", "phi-4")
        monkeypatch.setenv("LM_STUDIO_BASE_URL", f"{server.url}/v1")
        assert models.resolve().invoke("hi").text == "hello from lm studio"
        monkeypatch.setenv("LM_STUDIO_API_KEY", "secret")
        models.resolve("lm-studio:other").invoke("hi")
    first, second = server.requests
    assert (first["path"], first["model"]) == ("/v1/chat/completions", "phi-4")
    assert (second["model"], second["key"]) == ("other", "Bearer secret")


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("antropic:claude", UnknownModelError, "Did you mean 'anthropic'"),
        ("nonsense", UnknownModelError, "provider:model"),
        ("offlin", UnknownModelError, "Did you mean 'offline'"),
        ("OpenAI:gpt-5", UnknownModelError, "Did you mean 'openai'"),
        ("nope", UnknownModelError, r"called 'nope'\. Write"),
        ("offline:x", UnknownModelError, "takes no name"),
        (123, UnknownModelError, "not int.*'offline'"),
        (b"offline", UnknownModelError, "not bytes"),
        ([], UnknownModelError, "not list"),
        (str, UnknownModelError, "not the class str"),
        ("", UnknownModelError, "names no model"),
        ("anthropic:", UnknownModelError, "names no model"),
        ("ollama:", UnknownModelError, "names no model"),
        ("mistralai:large", MissingExtraError, "pip install langchain-mistralai"),
        ("openai:gpt-5", ModelError, "OPENAI_API_KEY.*'offline' needs none"),
        ("anthropic:claude-sonnet-5-5", ModelError, "ANTHROPIC_API_KEY is not set. Set the"),
        ("claude-sonnet-5-5", ModelError, "ANTHROPIC_API_KEY is not set"),
        ("google_genai:gemini-flash-latest", ModelError, "GOOGLE_API_KEY"),
        ("local:/nowhere/x.gguf", UnknownModelError, "/nowhere/x.gguf"),
    ],
)
def test_what_cannot_be_resolved_is_one_clear_error(spec, error, message):
    with pytest.raises(error, match=message):
        models.resolve(spec)


def test_a_key_that_is_missing_is_said_when_the_session_is_made(tmp_path):
    with pytest.raises(ModelError, match="ANTHROPIC_API_KEY is not set"):
        deepnb.Session("deep", model="anthropic:claude-sonnet-5-5", workspace=tmp_path)


@pytest.mark.parametrize("variable", ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"])
def test_no_key_is_asked_of_whoever_goes_another_way(monkeypatch, variable):
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    assert isinstance(models.resolve("anthropic:claude-sonnet-5-5"), BaseChatModel)


def test_a_model_that_was_made_by_hand_is_not_asked_for_its_key():
    model = ChatAnthropic(model="claude-sonnet-5-5", default_headers={"Authorization": "mine"})
    assert models.resolve(model) is model


def test_a_known_provider_that_refuses_its_settings_is_not_called_unknown(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://[bad")
    with pytest.raises(ModelError, match="ollama:phi cannot be used") as caught:
        models.resolve("ollama:phi")
    assert not isinstance(caught.value, UnknownModelError)


@pytest.mark.parametrize("spec", ["sk-proj-" + "a1B2" * 10, "0123456789abcdef" * 8])
def test_a_key_given_as_the_model_is_not_repeated(spec):
    with pytest.raises(UnknownModelError) as caught:
        models.resolve(spec)
    shown = "".join(traceback.format_exception(caught.value))
    assert spec[:48] not in shown
    assert "sk-proj-a1B2" not in shown


def test_roles_may_be_assigned_as_a_whole(monkeypatch):
    model = ScriptedModel([])
    monkeypatch.setattr(models, "roles", {"main": model, "critic": "offline"})
    assert models.resolve() is model
    assert models.explain(role="critic").rule == "deepnb.models.roles['critic']"
    assert models.for_subagent("critic", None, model) is not model


def test_an_unmapped_role_is_explained_with_its_parent():
    assert models.explain(role="critic").rule.endswith("gets its parent's")
    assert "parent" not in models.explain().rule


def test_a_key_whose_models_are_not_known_asks_for_a_name(monkeypatch):
    monkeypatch.setenv("XAI_API_KEY", "k" * 20)
    assert models.explain() == models.Choice(
        "offline", "XAI_API_KEY is set: name a model, DEEPNB_MODEL='xai:…'"
    )


def test_every_provider_with_a_key_is_one_that_langchain_knows():
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    named = {spec.partition(":")[0] for _, _, spec in _PROVIDER_KEYS}
    assert named | set(_KEYS_WITHOUT_DEFAULT.values()) <= set(_BUILTIN_PROVIDERS)


def test_space_around_a_variable_is_not_part_of_it(monkeypatch):
    monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", " ollama\n")
    monkeypatch.setenv("OLLAMA_MODEL_NAME", " qwen3 ")
    assert models.explain().spec == "ollama:qwen3"
    monkeypatch.setenv("DEEPNB_MODEL", " offline\n")
    assert isinstance(models.resolve(), models.OfflineModel)


def test_lm_studio_is_free_and_a_recorded_model_costs_what_it_wraps(tmp_path):
    studio = models.resolve("lm-studio:gpt-4o")
    paid = ChatOpenAI(model="gpt-4o", api_key="k", base_url="http://localhost:4000/v1")
    recorded = models.record(paid, tmp_path / "tape.yaml")

    assert price(studio, 1000, 1000) == 0
    assert price(models.record(studio, tmp_path / "tape.yaml"), 1000, 1000) == 0
    assert price(recorded, 1000, 1000) == price(paid, 1000, 1000) > 0
    assert model_name(recorded) == "gpt-4o"
    assert unwrapped(recorded) is unwrapped(paid) is paid


def test_an_unknown_provider_variable_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "olama")
    with pytest.raises(UnknownModelError, match="'ollama' or 'lm-studio'"):
        models.resolve()


def test_a_provider_without_a_model_name_is_a_clear_error(monkeypatch):
    monkeypatch.setenv("DEEPAGENTS_MODEL_PROVIDER", "ollama")
    with pytest.raises(UnknownModelError, match="Set OLLAMA_MODEL_NAME"):
        models.explain()


def test_a_key_is_not_in_an_error(monkeypatch):
    monkeypatch.setenv("LM_STUDIO_API_KEY", "very-secret-key")
    monkeypatch.setenv("LM_STUDIO_BASE_URL", "not a url")
    try:
        shown = repr(models.resolve("lm-studio:x"))
    except DeepnbError as error:
        shown = str(error)
    assert "very-secret-key" not in shown


def test_the_default_models_exist_and_are_not_about_to_end():
    from anthropic.resources.messages.messages import DEPRECATED_MODELS
    from langchain_anthropic.data._profiles import _PROFILES as ANTHROPIC
    from langchain_google_genai.data._profiles import _PROFILES as GOOGLE
    from langchain_openai.data._profiles import _PROFILES as OPENAI

    known = {"anthropic": ANTHROPIC, "openai": OPENAI, "google_genai": GOOGLE}
    for _, _, spec in _PROVIDER_KEYS:
        provider, _, name = spec.partition(":")
        if provider in known:
            assert known[provider][name]["tool_calling"]
            assert name not in DEPRECATED_MODELS


def test_resolve_gives_chat_models(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 20)
    assert isinstance(models.resolve("anthropic:claude-sonnet-5-5"), BaseChatModel)
