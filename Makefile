# make run     set up, then reproduce the paper's tables and figures in paper-results/ (under a minute)
# make test    set up, then run all tests
# make coverage  the same with the share of lines and branches that the tests reach
# make check   lint, types, spelling, and the one direction of imports
# make docs    build the documentation site in site/
# make bench   benchmarks; each checks its answer before it takes the time
# make fuzz    inputs that a fuzzer makes up, FUZZ_SECONDS for each of four targets (fuzz/README.md)
# make audit   look up the installed packages among known holes; needs the network, so it is no part of the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

FUZZ_SECONDS ?= 60

.PHONY: run test coverage check docs bench fuzz audit clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

run: $(VENV)/.installed
	$(BIN)/semikpca paper

test: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto

coverage: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --cov --cov-report=term --cov-fail-under=95

check: $(VENV)/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/bench_dense_fit.py
	$(BIN)/python benchmarks/bench_paper.py

fuzz: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable ".[fuzz]"
	for target in tables models labels matrices; do \
		$(BIN)/python fuzz/fuzz_$$target.py -max_total_time=$(FUZZ_SECONDS) || exit 1; done

# A package that cannot be looked up is an error (--strict), not a package without holes. The part of a version after
# "+" says who built it; it is known nowhere else.
audit: $(VENV)/.installed
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/python -m pip install --quiet pip-audit
	$(BIN)/python -m pip freeze --exclude-editable | sed 's/+.*//' > $(VENV)/audit/installed.txt
	$(VENV)/audit/bin/pip-audit --strict --disable-pip --no-deps --requirement $(VENV)/audit/installed.txt

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis site
