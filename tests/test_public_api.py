"""What `import deepnb` shows, and what it does not load."""

from __future__ import annotations

import subprocess
import sys

import deepnb
import deepnb.models

HEAVY = ("langchain", "langchain_core", "langgraph", "deepagents", "pandas", "torch", "faiss")


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_deepnb_loads_nothing_heavy():
    assert not loaded_after("import deepnb").intersection(HEAVY)


def test_a_knowledge_base_needs_no_agent_and_no_model():
    loaded = loaded_after("from deepnb.knowledge import Knowledge; Knowledge().close()")
    assert "deepnb.knowledge.worker" in loaded
    assert not loaded.intersection({*HEAVY, "langsmith", "sentence_transformers"})
    assert not loaded.intersection({"httpx", "markdown_it"})


def test_explaining_the_model_loads_nothing_heavy():
    assert not loaded_after("import deepnb; deepnb.models.explain()").intersection(HEAVY)


def test_the_deep_agent_needs_no_torch_faiss_or_pandas():
    loaded = loaded_after("import deepnb; deepnb.create_deep_agent(model='offline')")
    assert "langgraph" in loaded
    assert not loaded.intersection({"torch", "faiss", "pandas"})


def test_all_names_every_public_name_and_each_can_be_had():
    assert dir(deepnb) == deepnb.__all__
    for name in deepnb.__all__:
        assert getattr(deepnb, name) is not None
    for package in (deepnb.models, deepnb.middleware, deepnb.files):
        for name in package.__all__:
            assert getattr(package, name) is not None


def test_a_name_that_does_not_exist_is_an_attribute_error():
    assert not hasattr(deepnb, "creat_deep_agent")


def test_the_version_is_the_one_that_is_installed():
    from importlib.metadata import version

    assert deepnb.__version__ == version("deepnb")
