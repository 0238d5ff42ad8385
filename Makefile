# Everything runs in its own .venv; nothing needs to be installed beforehand but Python 3.11 or newer.
PYTHON ?= python3
BIN := .venv/bin
TESTS ?=
REPRODUCE ?= all

.NOTPARALLEL:  # two pips in one .venv would meet

# The tests start hundreds of processes. Each would compile the package again where compiled files are not kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-fast test-lowest test-slow test-machines test-mutations check format bench bench-scale bench-collect docs reproduce stub clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# One stamp per purpose: a second call installs nothing. Each installs the package with the extras named here, and the
# dependency group of its name where there is one.
extras_demo := plot
extras_reproduce := plot,conic
extras_spark := spark
extras_test := plot,conic,frames,formula,learn,serve
extras_check := serve
extras_docs := plot,conic,frames,formula,learn,serve
extras_bench := conic,frames,formula,learn
extras_scale := frames,spark
groups := test check docs bench scale

# The pip that comes with Python 3.11 to 3.13 may be too old for dependency groups.
.venv/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	@touch $@

.venv/.%: .venv/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(extras_$*)]' $(if $(filter $*,$(groups)),--group $*)
	@touch $@

demo: .venv/.demo  ## Privatize the Adult data, estimate, audit, save the pictures
	$(BIN)/subsetprivacy demo -o demo-results

# Each process gets neighboring tests, which share a browser, a server or a database, and takes some from others when
# it has done its own.
test: .venv/.test  ## Run the tests (needs only Python; says what it skipped)
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

# The mathematics: what needs no server, browser, database, process or picture.
fast_left_out := $(addprefix tests/unit/test_,draw.py pictures_on_axes.py pictures_without_matplotlib.py processes.py facade.py)
fast_left_out += $(addprefix tests/unit/estimation/test_,solvers_agree.py standard_errors.py)
fast_left_out += tests/laws/test_independence_laws.py tests/unit/mechanism/test_shuffle.py
fast := $(addprefix tests/unit/,design mechanism estimation privacy) $(wildcard tests/unit/test_*.py) tests/laws

test-fast: .venv/.test  ## Run the quick tests of the mathematics: less than a minute
	$(BIN)/python -m pytest -n auto --dist worksteal $(addprefix --ignore=,$(fast_left_out)) $(or $(TESTS),$(filter-out $(fast_left_out),$(fast)))


# The lowest versions that pyproject.toml admits, in a separate environment. Old libraries warn of new ones, so
# warnings are not errors here. Spark is left out: its lowest version needs an old Java.
test-lowest:  ## Run the library's tests with the lowest versions that are declared
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(PYTHON) tests/support/lowest.py > .venv-lowest/floors.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(extras_test)]' --group test -c .venv-lowest/floors.txt
	.venv-lowest/bin/python -m pytest -n auto -o filterwarnings=default $(or $(TESTS),tests/unit tests/laws tests/contracts tests/paper tests/collect)

test-machines: .venv/.test  ## Run what comes from linear algebra as on other processors: kernels, loops, threads
	$(BIN)/python tests/support/machines.py $(TESTS)

test-slow: .venv/.test  ## Run the long forms: simulations, faults, state machines, Spark's cluster
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow $(TESTS)

# ONLY="promise.once T1" for the claims whose names begin so.
test-mutations: .venv/.test  ## Break each promise of the collection service in turn, and see its tests fail (an hour)
	$(BIN)/python tests/support/mutate.py $(if $(ONLY),--only $(ONLY))

check: .venv/.check  ## Check format, lint, types and imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.check  ## Format, and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

stub: .venv/.check  ## Write the list of public names for type checkers and editors (src/subsetprivacy/__init__.pyi)
	$(BIN)/python tests/support/facade.py

bench: .venv/.bench  ## Measure against peers, in one run
	$(BIN)/python benchmarks/run.py $(BENCH)

bench-scale: .venv/.scale  ## Measure files of 10^8 rows and Spark against hand-written code (4 GB of disk)
	$(BIN)/python benchmarks/scale/run.py $(BENCH)

bench-collect: .venv/.test  ## Measure submissions a second on SQLite and PostgreSQL, compared with bare commits; then under attacks
	$(BIN)/python benchmarks/collect/load.py $(BENCH)
	$(BIN)/python benchmarks/collect/attacks.py $(ATTACKS)

reproduce: .venv/.reproduce  ## Reproduce the paper in results/ (REPRODUCE="all --quick" for the short form)
	$(BIN)/subsetprivacy reproduce $(REPRODUCE) -o results

docs: .venv/.docs  ## Build the site in docs/_build/html, every page's code run
	$(BIN)/python -m sphinx -W --keep-going -n -q -j auto docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

clean:  ## Remove what was made
	rm -rf .venv .venv-lowest demo-results results docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
