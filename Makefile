# Every target first makes or repairs the private environment .venv:
# tools/bootstrap.sh.
SHELL := /bin/sh
.DEFAULT_GOAL := help

# Worker processes of the tests, and options added to pytest:
#   make test WORKERS=4 ARGS="-k copeland -x"
WORKERS ?= 2
ARGS ?=

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Modules of other projects must not leak in.
unexport PYTHONPATH
unexport PYTHONHOME

# The type checker takes Node.js from its own package and looks for no newer release.
export PYRIGHT_PYTHON_GLOBAL_NODE := 0
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help venv demo test test-slow test-oldest test-newest lint format types docs bench \
	build release-check constraints clean distclean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

venv: ## Make or repair the environment in .venv
	@sh tools/bootstrap.sh

demo: venv ## Run a small experiment and draw its regret beside the lower bound
	@$(BIN)/bayesduel demo

# Most of the time goes into compiling programs that run for a moment: hardly optimized,
# they compile in half of the time. Those of slow tests run longer: level 1 of XLA saves
# a quarter of the time of compiling their loops and costs nothing on so few arms. Fast
# tests, which overrule the level, name it as well, for a program is only found again
# under the same flags, and slow tests of many short programs compile them alike. Rules
# compile in two thirds to four fifths of the time by level 1 of LLVM, to the same digits.
FAST := test test-oldest test-newest
$(FAST) test-slow docs: export XLA_FLAGS := $(XLA_FLAGS) --xla_backend_optimization_level=1
$(FAST) test-slow docs: export NUMBA_OPT := 1
$(FAST): export JAX_DISABLE_MOST_OPTIMIZATIONS := 1
# Matrices are small: threads of BLAS wait for one another longer than they work.
$(FAST) test-slow docs: export OPENBLAS_NUM_THREADS ?= 1
test: venv ## Run the tests, without the slow ones
	@$(PYTEST) -m "not slow" $(ARGS)

# pytest ends with code 5 when it has selected no test.
test-slow: venv ## Run the slow tests
	@$(PYTEST) -m slow $(ARGS) || { code=$$?; test $$code -eq 5 \
		&& echo "no slow test in this selection" || exit $$code; }

lint: venv ## Check style, formatting and spelling
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@git ls-files -z 2>/dev/null | xargs -0 $(BIN)/codespell
	@$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb

format: venv ## Format the code and repair what the linter can
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

types: venv ## Check types
	@$(BIN)/pyright

# Notebooks play the policies of the tests: each is compiled once for both.
docs: export BAYESDUEL_CACHE ?= $(CURDIR)/.pytest_cache/kernels
docs: venv ## Build the documentation (warnings are errors)
	@$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: venv ## Run the benchmarks
	@if test -f benchmarks/__main__.py; then $(BIN)/python -m benchmarks $(ARGS); \
	else echo "no benchmarks yet"; fi

build: venv ## Build the source distribution and the wheel into dist
	@$(BIN)/python -m build --no-isolation --outdir dist

release-check: venv ## Try the wheel in empty environments of Python 3.12, 3.13 and 3.14
	@sh tools/release_check.sh $(ARGS)

constraints: venv ## Pin the newest versions that fit pyproject.toml
	@$$(sh tools/bootstrap.sh uv) pip compile pyproject.toml --universal \
		--python-version 3.12 --upgrade --all-extras --group dev --quiet --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links \
		--output-file constraints.txt >/dev/null

# An environment of its own, .venv.oldest or .venv.newest, without constraints.txt.
other_venv = uv=$$(sh tools/bootstrap.sh uv) && \
	$$uv venv --quiet --clear --no-project --python "$(3)" .venv.$(1) && \
	$$uv pip install --quiet --python .venv.$(1)/bin/python --editable '.[distributed,page,verify,zarr]' \
		--group test --group build --resolution $(2)
other_pytest = .venv.$(1)/bin/python -m pytest -n $(WORKERS) --dist worksteal \
	-m "not slow" $(ARGS)

# Old releases may warn about what they use themselves, and know no newer Python.
test-oldest: venv ## Run the tests with the oldest versions that pyproject.toml allows
	@$(call other_venv,oldest,lowest-direct,$$(BAYESDUEL_PYTHON=3.12 \
		sh tools/bootstrap.sh python))
	@$(call other_pytest,oldest) -W ignore

test-newest: venv ## Run the tests with the newest versions there are
	@$(call other_venv,newest,highest,$(BIN)/python)
	@$(call other_pytest,newest)

clean: ## Remove what tests, builds and caches leave behind
	@rm -rf build dist docs/_build .hypothesis .pytest_cache .ruff_cache
	@find bayesduel theory tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## Remove the environment as well
	@rm -rf .venv .venv.old .venv.oldest .venv.newest .tools
