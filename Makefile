# broadcloth: `make demo` and `make test` are all that a newcomer needs; each sets up and builds what is missing first.
SHELL := bash
PY := .venv/bin/python
JOBS ?= $(shell nproc)
BUILD := build
# Extra arguments: make test ARGS="-k hypot", make bench ARGS="--only chain10_1e8"
ARGS ?=

.PHONY: help setup build demo test levels ctest wheel asan ubsan tsan tsan-python lint format tidy bench clean distclean

help:
	@echo "make demo | test | levels | build | bench | wheel | lint | format | tidy | asan | ubsan | tsan | tsan-python | clean"

setup:
	@scripts/setup.sh

build: setup
	@scripts/build.sh $(BUILD) -j$(JOBS)

demo: build
	$(PY) examples/heat.py $(ARGS)

test: build
	@$(PY) scripts/test.py $(ARGS)

# The numeric tests at every instruction set of this machine: the embedded compiler's, tier 0's, OpenBLAS's.
levels: build
	@$(PY) scripts/test.py --levels $(ARGS)

ctest: build
	@ctest --test-dir $(BUILD) --output-on-failure

# PYTHON=python3.13t: for a free-threaded interpreter, beside the wheel for all others.
wheel: setup
	@scripts/wheel.sh

# One-command sanitizer builds: the C++ tests, then Python tests (SAN_TESTS, SAN_MARK in scripts/sanitize.sh) on that build.
# asan: AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer in one; ubsan: the last alone, which is faster.
asan: setup
	@scripts/sanitize.sh address,undefined build-asan -j$(JOBS)
ubsan: setup
	@scripts/sanitize.sh undefined build-ubsan -j$(JOBS)
tsan: setup
	@scripts/sanitize.sh thread build-tsan -j$(JOBS)
tsan-python: setup
	@scripts/sanitize.sh thread-python build-tsan-python -j$(JOBS)

CXX_FILES = $(shell find src include tests -name '*.h' -o -name '*.cpp')
PY_DIRS = $(wildcard python tests bench examples scripts cmake)
lint: setup
	clang-format-19 --dry-run --Werror $(CXX_FILES)
	.venv/bin/ruff check $(PY_DIRS)
	.venv/bin/mypy
	$(PY) scripts/layers.py
format: setup
	clang-format-19 -i $(CXX_FILES)
	.venv/bin/ruff check --fix $(PY_DIRS)
# Slow: one analysis a file. apt-get install clang-tidy-19 first.
tidy: build
	run-clang-tidy-19 -quiet -p $(BUILD) $(or $(ARGS),'/src/(?!device)')

bench: build
	$(PY) bench/run.py $(ARGS)

clean:
	rm -rf build build-wheel* build-asan build-ubsan build-tsan build-tsan-python dist .pytest_cache .mypy_cache .ruff_cache
distclean: clean
	rm -rf .venv
