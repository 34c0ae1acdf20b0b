# Everything starts here; only Python 3.11 or later is needed.
PY ?= python3
V := .venv
UV = $(shell command -v uv 2>/dev/null || echo $(V)/bin/uv)
PURCHASES ?= 20000
PORT ?= 8501
PYTEST = $(V)/bin/python -m pytest -n auto --dist worksteal

# Code that is compiled once starts in seconds; some machines forbid Python to keep it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run setup test check format format-check e2e bench fuzz crash hostile advisories lock help

help:
	@echo "make run    the working app with a demonstration portfolio on http://127.0.0.1:$(PORT)"
	@echo "make test   every test that this machine can run"
	@echo "make check  the one gate: format, lint, types, import contracts, tests"

setup: $(V)/.done

# What the installers say goes into a file; a person reads what happens, and one sentence when it cannot.
SETUP_LOG = $(V)/setup.log
define STOP
{ if grep -qiE 'connect|resolve|network|timed out|unreachable|no matching distribution' $(SETUP_LOG); \
  then echo 'Setting up needs a network: the package index cannot be reached, so connect this machine or name a mirror in PIP_INDEX_URL and UV_INDEX_URL, and run make again.' >&2; \
  else echo 'Setting up failed: the end of $(SETUP_LOG) says why.' >&2; fi; exit 1; }
endef

$(V)/.done: pyproject.toml requirements.lock
	@$(PY) -c 'import sys; sys.exit("Coverdesk needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@echo "Setting up Coverdesk in $(V), which takes some minutes the first time:"
	@echo "  1. an environment of its own for Python"
	@test -x $(V)/bin/python || $(PY) -m venv $(V)
	@echo "  2. the installer"
	@command -v uv >/dev/null || test -x $(V)/bin/uv || $(V)/bin/python -m pip install -q uv >$(SETUP_LOG) 2>&1 || $(STOP)
	@echo "  3. $$(grep -c == requirements.lock) packages, each checked against the hash in requirements.lock"
	@VIRTUAL_ENV=$(V) $(UV) pip install -q --require-hashes -r requirements.lock >$(SETUP_LOG) 2>&1 || $(STOP)
	@VIRTUAL_ENV=$(V) $(UV) pip install -q --no-deps -e . >$(SETUP_LOG) 2>&1 || $(STOP)
	@echo "  Done."
	@touch $@

run: setup
	@COVERDESK_DEMO=true $(V)/bin/coverdesk demo --purchases $(PURCHASES)
	@COVERDESK_DEMO=true $(V)/bin/coverdesk serve --port $(PORT)

test: setup
	@$(PYTEST)

e2e: setup
	@$(V)/bin/python -m pytest -m browser

check: setup
	@$(V)/bin/ruff format --check .
	@$(V)/bin/ruff check .
	@$(V)/bin/mypy
	@$(V)/bin/lint-imports
	@$(PYTEST)

format: setup
	@$(V)/bin/ruff check --fix .
	@$(V)/bin/ruff format .

format-check: setup
	@$(V)/bin/ruff format --check .
	@$(V)/bin/ruff check .

# Ratios to hand-written code on the same data; COVERDESK_BENCH_SIZES, _STORE, _ONLY and _FOLDER: docs/performance.md.
bench: setup
	@$(V)/bin/python -m tests.bench

# Every operation fuzzed with 20,000 cases; the ordinary suite tries some 1,000.
fuzz: setup
	@COVERDESK_FUZZ_CASES=20000 $(V)/bin/python -m pytest tests/api/test_fuzz.py

# The full size: servers and PostgreSQL killed 100 times each, 1,000 rounds of requests that meet; most of an hour.
crash: setup
	@COVERDESK_CRASHES=100 COVERDESK_RACES=1000 $(V)/bin/python -m pytest -n 0 -s tests/crash

# Tenancy, hostile bodies, headers, files and sabotage at full size; the ordinary suite tries a part of them.
hostile: setup
	@COVERDESK_TENANCY_TRIES=20000 COVERDESK_CORPUS_TRIES=1000000 $(V)/bin/python -m pytest tests/hostile

# Needs the internet: asks the public databases for known weaknesses of what is pinned.
advisories: setup
	@$(UV) tool run pip-audit --strict --require-hashes --disable-pip -r requirements.lock

lock:
	@$(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml -o requirements.lock
