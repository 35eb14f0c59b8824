"""No test reaches a real model, and none sees the machine's own configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from deepnb import models
from deepnb.testing import forbid_model_calls

pytest.register_assert_rewrite("tests.file_contract")


@pytest.fixture(autouse=True)
def _no_real_models() -> Iterator[None]:
    with forbid_model_calls():
        yield


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes = (
        "DEEPNB_",
        "DEEPAGENTS_",
        "OLLAMA_",
        "LM_STUDIO_",
        "LANGSMITH_",
        "LANGCHAIN_",
        "ANTHROPIC_",
    )
    for name in os.environ:
        if name.startswith(prefixes) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(models, "roles", models.roles)
    models.roles.clear()
