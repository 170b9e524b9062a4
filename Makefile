# Two commands do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := startup score campaign meta compare coverage errors swapped_answers confident_coverage curve cascade rank cut_at_random cut_elsewhere cut_promises report beyond rejected
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled once, not anew in each of the hundreds of processes that the tests start.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick snapshots fuzz mutants test-spark lint bench docs example clean test-integrations

demo: $(VENV)/installed
	$(BIN)/abstain demo -o demo --force

test: lint
	$(BIN)/python tools/chromium.py
	$(BIN)/python -m pytest -n auto

# For daily work: no browser, nothing slow, few examples of each property.
quick: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n auto -m "not browser and not slow" --hypothesis-profile quick

# Seeded inputs that nobody means: `make fuzz N=200000 FIRST=1000 JOBS=2`.
N ?= 10000
FIRST ?= 0
JOBS ?= 2
fuzz: $(VENV)/installed-dev
	RUST_BACKTRACE=0 $(BIN)/python -m tests.fuzz.fuzzing $(N) --first $(FIRST) --jobs $(JOBS)

# After a change of words: what abstain says is written anew, in tests and in the manual. Read the diff.
snapshots: $(VENV)/installed-dev
	rm -rf .snapshots && mkdir .snapshots
	-ABSTAIN_SNAPSHOTS=$(CURDIR)/.snapshots $(BIN)/python -m pytest -n auto -m "not browser"
	-test ! -d $(VENV)-spark || ABSTAIN_SNAPSHOTS=$(CURDIR)/.snapshots $(SPARK)
	$(BIN)/python -m tests.snapshots .snapshots
	rm -rf .snapshots
	$(BIN)/python tools/examples.py README.md $$(git ls-files 'docs/*.md')

# Small changes to the code that some test must notice: `make mutants MUTANTS=300 SEED=1 JOBS=2`.
MUTANTS ?= 300
SEED ?= 0
JOBS ?= 1
mutants: $(VENV)/installed-dev
	$(BIN)/python tools/mutants.py $(MUTANTS) --seed $(SEED) --jobs $(JOBS)

# Spark is a download of 400 MB and needs Java 17: it has an environment of its own, and
# `make test` skips its tests and says so.
test-spark: $(VENV)-spark/installed
	$(PYTHON) tools/java.py
	$(SPARK)

SPARK := $(VENV)-spark/bin/python -m pytest -n 0 -k "spark or lazy_frames"

$(VENV)-spark/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-spark
	$(VENV)-spark/bin/python -m pip install --quiet --no-compile --editable '.[spark]' \
		$$($(VENV)-spark/bin/python tools/dev_requirements.py)
	touch $@

# The hosts of our plug-ins (Inspect, lm-evaluation-harness without a model's backend, so without
# torch): 200 MB in an environment of their own; `make test` skips their tests and says so.
test-integrations: $(VENV)-hosts/installed
	$(HOSTS) tests/integrations
	$(HOSTS) tests/test_docs.py -k integrations

HOSTS := $(VENV)-hosts/bin/python -m pytest -n 2 -o filterwarnings=ignore

$(VENV)-hosts/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-hosts
	$(VENV)-hosts/bin/python -m pip install --quiet --editable \
		'.[inspect,lm-eval,pandas,sklearn]' inspect_ai==0.3.285 lm_eval==0.4.13 \
		pytest pytest-xdist hypothesis pyyaml
	touch $@

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

# All of them, whatever one finds; in the end it fails if one did.
bench: $(VENV)/installed-dev
	@missed=; for part in $(BENCH); do \
		echo "== benchmarks/$$part.py"; \
		$(BIN)/python benchmarks/$$part.py || missed="$$missed $$part"; \
	done; \
	test -z "$$missed" || { echo "aims missed:$$missed"; exit 1; }

docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

example: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet ortools
	$(BIN)/python tools/qa4mre2013/reconstruct.py --published tests/published \
		--out src/abstain/examples/qa4mre2013
	$(BIN)/python tools/qa4mre2013/check.py --published tests/published \
		--out src/abstain/examples/qa4mre2013

clean:
	rm -rf $(VENV) $(VENV)-spark $(VENV)-hosts dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "abstain needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile $$($(BIN)/python tools/dev_requirements.py)
	touch $@
