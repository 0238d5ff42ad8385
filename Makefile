# Everything runs in its own .venv; nothing needs to be installed beforehand but Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?=

.NOTPARALLEL:  # two pips in one .venv would meet

.PHONY: help demo test test-slow check format bench clean

help:  ## Say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# One stamp per set of extras: a second call installs nothing.
.venv/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.%: .venv/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

demo: .venv/.plot  ## Privatise the Adult data, estimate, audit, save the pictures
	$(BIN)/subsetprivacy demo -o demo-results

test: .venv/.test  ## Run the tests (needs only Python; says what it skipped)
	$(BIN)/python -m pytest -n auto $(TESTS)

test-slow: .venv/.test  ## Run the long seeded simulations
	$(BIN)/python -m pytest -n auto -m slow $(TESTS)

check: .venv/.check  ## Check format, lint, types and the import law
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.check  ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.bench  ## Measure against peers, side by side in one run
	$(BIN)/python benchmarks/run.py $(BENCH)

clean:  ## Remove what was made
	rm -rf .venv demo-results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
