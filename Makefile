# make run     set up, then reproduce the paper's tables and figures in paper-results/ (under a minute)
# make test    set up all that the tests need, then run them all
# make test-fast  the same without the tests marked slow (two minutes)
# make coverage  all tests, with the share of lines and branches that they reach
# make check   lint, types, spelling, and the one direction of imports
# make docs    build the documentation site in site/
# make bench   benchmarks; each checks its answer before it takes the time
# make fuzz    inputs that a fuzzer makes up, FUZZ_SECONDS for each of four targets (fuzz/README.md)
# make audit   look up the installed packages among known holes; needs the network, so it is no part of the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

FUZZ_SECONDS ?= 60

.PHONY: run test test-fast coverage check docs bench fuzz audit clean

# One environment in two steps: what the paper's experiments need, and on top of it what developing needs, which is
# seven times as large.
INSTALLED_TO_RUN := $(VENV)/.installed-to-run
INSTALLED_TO_DEVELOP := $(VENV)/.installed-to-develop

$(INSTALLED_TO_RUN): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[paper]"
	touch $@

$(INSTALLED_TO_DEVELOP): $(INSTALLED_TO_RUN) benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --editable "./benchmarks[certainty]"
	touch $@

run: $(INSTALLED_TO_RUN)
	$(BIN)/semikpca paper

test: $(INSTALLED_TO_DEVELOP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto

test-fast: $(INSTALLED_TO_DEVELOP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto -m "not slow"

coverage: $(INSTALLED_TO_DEVELOP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --cov --cov-report=term --cov-fail-under=95

check: $(INSTALLED_TO_DEVELOP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(INSTALLED_TO_DEVELOP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(INSTALLED_TO_DEVELOP)
	$(BIN)/python benchmarks/bench_dense_fit.py
	$(BIN)/python benchmarks/bench_paper.py

fuzz: $(INSTALLED_TO_DEVELOP)
	$(BIN)/python -m pip install --quiet --editable ".[fuzz]"
	for target in tables models labels matrices; do \
		$(BIN)/python fuzz/fuzz_$$target.py -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# A package that cannot be looked up is an error (--strict), not a package without holes. The part of a version after
# "+" says who built it; it is known nowhere else.
audit: $(INSTALLED_TO_DEVELOP)
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+.*//' > $(VENV)/audit/installed.txt
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --no-deps --requirement $(VENV)/audit/installed.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis site
