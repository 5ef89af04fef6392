# make run     set up, then reproduce the paper's tables and figures in paper-results/ (under a minute)
# make test    set up, then run all tests
# make check   lint, types, spelling, and the one direction of imports
# make docs    build the documentation site in site/
# make bench   benchmarks; each checks its answer before it takes the time
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test check docs bench clean

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

run: $(VENV)/.installed
	$(BIN)/semikpca paper

test: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto

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

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis site
