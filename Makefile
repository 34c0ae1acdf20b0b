# Everything starts here; only Python 3.11 or later is needed.
PY ?= python3
V := .venv
UV = $(shell command -v uv 2>/dev/null || echo $(V)/bin/uv)
PURCHASES ?= 20000
PORT ?= 8501
PYTEST = $(V)/bin/python -m pytest -n auto --dist worksteal

.PHONY: run setup test check format format-check e2e bench fuzz lock help

help:
	@echo "make run    the working app with a demonstration portfolio on http://127.0.0.1:$(PORT)"
	@echo "make test   every test that this machine can run"
	@echo "make check  the one gate: format, lint, types, import contracts, tests"

setup: $(V)/.done

$(V)/.done: pyproject.toml requirements.lock
	@$(PY) -c 'import sys; sys.exit("Coverdesk needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	@test -x $(V)/bin/python || $(PY) -m venv $(V)
	@command -v uv >/dev/null || test -x $(V)/bin/uv || $(V)/bin/python -m pip install -q uv
	@VIRTUAL_ENV=$(V) $(UV) pip install -q --require-hashes -r requirements.lock
	@VIRTUAL_ENV=$(V) $(UV) pip install -q --no-deps -e .
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

# Ratios to hand-written SQL on the same data; COVERDESK_BENCH_PURCHASES sets the size.
bench: setup
	@$(V)/bin/python -m tests.bench

# Every operation fuzzed with 20,000 cases; the ordinary suite tries some 2,000.
fuzz: setup
	@COVERDESK_FUZZ_CASES=20000 $(V)/bin/python -m pytest tests/api/test_fuzz.py

lock:
	@$(UV) pip compile --universal --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml -o requirements.lock
