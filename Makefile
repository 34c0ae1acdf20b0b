# Everything starts here; only Python 3.11 or later is needed.
PY ?= python3
V := .venv
UV = $(shell command -v uv 2>/dev/null || echo $(V)/bin/uv)
PURCHASES ?= 10000
PORT ?= 8501
T ?= tests
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
PYTEST = $(V)/bin/python -m pytest -n $(WORKERS) --dist worksteal

# Code that is compiled once starts in seconds; some machines forbid Python to keep it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run setup lint types quick test exhaustive test-everything e2e check format format-check bench pictures house fuzz crash hostile dishonest advisories lock image-check release clients

help: ## every target, with a line on each
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-17s%s\n", $$1, $$2}' Makefile

setup: $(V)/.done ## only what the other targets need: .venv from the lock

# What the installers say goes into a file; a person reads what happens, and one sentence when it cannot.
SETUP_LOG = $(V)/setup.log
define STOP
{ if grep -qiE 'connect|resolve|network|timed out|unreachable|no matching distribution' $(SETUP_LOG); \
  then echo 'Setting up needs a network: the package index cannot be reached, so connect this machine or name a mirror in PIP_INDEX_URL and UV_INDEX_URL, and run make again.' >&2; \
  else echo 'Setting up failed: the end of $(SETUP_LOG) says why.' >&2; fi; exit 1; }
endef

# The machine's own pip puts the installer into the environment: a pip for the environment would take longer than that.
define INSTALL_UV
{ if $(PY) -c 'import pip; assert [int(part) for part in pip.__version__.split(".")[:2]] >= [22, 3]' 2>$(SETUP_LOG); \
  then $(PY) -m pip --python $(V)/bin/python install -q uv; \
  else $(V)/bin/python -m ensurepip && $(V)/bin/python -m pip install -q uv; fi >$(SETUP_LOG) 2>&1; }
endef

$(V)/.done: pyproject.toml requirements.lock
	@$(PY) -c 'import sys; sys.exit("Coverdesk needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up Coverdesk in $(V); packages that this machine does not have yet are downloaded:"
	@echo "  1. an environment of its own for Python"
	@test -x $(V)/bin/python || $(PY) -m venv --without-pip $(V)
	@echo "  2. the installer"
	@command -v uv >/dev/null || test -x $(V)/bin/uv || $(INSTALL_UV) || $(STOP)
	@echo "  3. $$(grep -c == requirements.lock) packages, each checked against the hash in requirements.lock; and Coverdesk, compiled"
	@$(V)/bin/python -m compileall -q -j 0 core pages app.py >/dev/null & \
		VIRTUAL_ENV=$(V) $(UV) pip install -q --require-hashes -r requirements.lock >$(SETUP_LOG) 2>&1 && \
		VIRTUAL_ENV=$(V) $(UV) pip install -q --no-deps -e . >$(SETUP_LOG) 2>&1 || $(STOP); wait
	@echo "  Done."
	@touch $@

run: setup ## the working app with a demonstration portfolio; PORT=8501 PURCHASES=10000
	@COVERDESK_DEMO=true $(V)/bin/coverdesk run --purchases $(PURCHASES) --port $(PORT)

test: setup ## every test that this machine can run, without those of `make exhaustive`
	@echo "Running the tests in $(WORKERS) processes: they collect them first, then a line shows each result."
	@echo "Left out are long journeys in a browser and those that try every case: make exhaustive"
	@$(PYTEST) -m "not exhaustive"

exhaustive: setup ## the tests that `make test` leaves out: long journeys in a browser, every case
	@$(PYTEST) -m exhaustive

test-everything: setup ## every test, the exhaustive ones too, on both databases
	@COVERDESK_TESTS_DATABASES=both $(PYTEST)

e2e: setup ## the tests in a real browser
	@$(V)/bin/python -m pytest -m browser

lint: setup ## form, rules and import contracts
	@$(V)/bin/ruff format --check .
	@$(V)/bin/ruff check .
	@$(V)/bin/lint-imports

types: setup ## types of the core, the screens and the one process
	@$(V)/bin/mypy

quick: setup ## the tests of one file one after the other, or of one folder without the long ones: make quick T=tests/api
	@$(V)/bin/python -m pytest -q $(if $(findstring .py,$(T)),-n 0,-n $(WORKERS) --dist worksteal -m "not long") $(T)

check: lint types test ## before a commit: form, rules, import contracts, types, the ordinary tests; .ci/run adds the exhaustive ones

format: setup ## put the source in form, and mend what can be mended by itself
	@$(V)/bin/ruff check --fix .
	@$(V)/bin/ruff format .

format-check: setup ## form and rules of the source
	@$(V)/bin/ruff format --check .
	@$(V)/bin/ruff check .

# Ratios to hand-written code on the same data; COVERDESK_BENCH_SIZES, _STORE, _ONLY and _FOLDER: docs/performance.md.
bench: setup ## ratios to hand-written code on the same data (docs/performance.md)
	@$(V)/bin/python -m tests.bench

pictures: setup ## a picture of each screen of the demonstration into docs/screens; of some: make pictures S="staff keys"
	@$(V)/bin/python -m tests.bench.pictures $(S)

house: setup ## size of the source, and how much of it runs for one sale and one list
	@$(V)/bin/python -m tests.bench.house

# Every operation fuzzed with 20,000 cases; the ordinary suite tries some 1,000.
fuzz: setup ## every operation fuzzed with 20,000 cases
	@COVERDESK_FUZZ_CASES=20000 $(V)/bin/python -m pytest tests/api/test_fuzz.py

# Node makes the client in TypeScript, which make check has too; Java and Go make the one in Go.
CLIENT_GENERATOR = openapi-generator-cli==7.26.0
clients: setup ## clients in Python, TypeScript and Go made of the OpenAPI document; each lodges a claim
	@COVERDESK_GENERATE_CLIENT="$(abspath $(UV)) tool run --from $(CLIENT_GENERATOR) openapi-generator-cli" \
		$(V)/bin/python -m pytest -n 0 -q -rs tests/api/test_generated_client.py tests/api/test_clients_of_other_languages.py

# The full size: servers and PostgreSQL killed 100 times each, 1,000 rounds of requests that meet; most of an hour.
crash: setup ## servers and PostgreSQL killed 100 times each, 1,000 races; most of an hour
	@COVERDESK_CRASHES=100 COVERDESK_RACES=1000 $(V)/bin/python -m pytest -n 0 -s tests/crash

# Tenancy, hostile bodies, headers, files and sabotage at full size; the ordinary suite tries a part of them.
hostile: setup ## tenancy, hostile bodies, headers, files and sabotage at full size
	@COVERDESK_TENANCY_TRIES=20000 COVERDESK_CORPUS_TRIES=1000000 $(V)/bin/python -m pytest tests/hostile

# People in league who try everything that might take money out; an hour, with a summary of what was done and refused.
DISHONEST = $(V)/bin/python -m pytest -n 0 -q -s tests/services/controls/test_model_of_an_office.py
DISHONEST_STEPS = $(or $(COVERDESK_DISHONEST_STEPS),$(1))
dishonest: setup ## a model of people in league: 100,000 steps on SQLite, 20,000 on PostgreSQL
	@COVERDESK_DISHONEST_STEPS=$(call DISHONEST_STEPS,100000) $(DISHONEST) -k sqlite
	@COVERDESK_DISHONEST_STEPS=$(call DISHONEST_STEPS,20000) $(DISHONEST) -k postgres

# Needs the internet: asks the public databases for known weaknesses of what is pinned.
advisories: setup ## known weaknesses of what is pinned; needs the internet
	@$(UV) tool run pip-audit --strict --require-hashes --disable-pip -r requirements.lock

# The second is what a server installs: the same versions, without the tools of development.
COMPILE = $(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-header pyproject.toml
lock: ## renew the locks within the ranges of pyproject.toml
	@$(COMPILE) --extra otel --group dev -o requirements.lock
	@$(COMPILE) --constraint requirements.lock -o requirements.production.lock

image-check: setup ## the steps of deploy/Dockerfile without a container engine, as an unprivileged user, served and replayed
	@sh deploy/image-check.sh

# A wheel, what is inside it (CycloneDX) and their hashes, into dist/.
release: setup ## wheel, bill of materials and hashes into dist/
	@sh deploy/release.sh
