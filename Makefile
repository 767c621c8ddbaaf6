# One obvious command for everything. A fresh machine needs Python 3.11+ and make; the rest is set up on first use.

WORKERS ?= 2
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup --doctest-modules tests conceptpubsub
READY := .venv/.ready
READY_DEV := .venv/.ready-dev

.PHONY: help demo test test-long check bench docs pin clean distclean java

help:
	@echo "make demo       set up what is needed and show conceptpubsub at work"
	@echo "make test       set up everything and run the tests"
	@echo "make test-long  the tests that take minutes, too"
	@echo "make check      ruff, mypy --strict, import-linter, tests: run it before each commit"
	@echo "make bench      the benchmarks, short (TOPIC=name for one of them)"
	@echo "make docs       write docs/api anew from the docstrings"
	@echo "make pin        write constraints.txt anew from .venv"
	@echo "make clean      remove what was built; make distclean removes .venv too"

$(READY): pyproject.toml constraints.txt tools/setup.sh
	@sh tools/setup.sh "" $@

$(READY_DEV): pyproject.toml constraints.txt tools/setup.sh
	@sh tools/setup.sh "dev,plot,spark" $@
	@touch $(READY)

java:
	@sh tools/java.sh

demo: $(READY)
	@$(BIN)/conceptpubsub demo

test: $(READY_DEV) java
	@$(PYTEST) -m "not long"

test-long: $(READY_DEV) java
	@$(PYTEST)

check: $(READY_DEV) java
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(PYTEST) -m "not long"

bench: $(READY_DEV)
	@for file in benchmarks/$(or $(TOPIC),*).py; do \
	    [ -f "$$file" ] || { echo "no benchmark $$file" >&2; exit 1; }; \
	    topic=$$(basename $$file .py); \
	    case $$topic in _*|calibrate) continue;; esac; \
	    echo "== $$topic"; $(BIN)/python -m benchmarks.$$topic --quick || exit 1; \
	done

docs: $(READY_DEV)
	@$(BIN)/python tools/api.py

pin: $(READY_DEV)
	@sh tools/pin.sh

clean:
	rm -rf build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
