#!/usr/bin/env bash
# Makes dist/broadcloth-VERSION-cp311-abi3-manylinux_*.whl: one file that holds the engine, the CPU compiler and OpenBLAS, for
# CPython from 3.11 up. glibc is that of the machine it is built on (2.36 on Debian 12).
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
raw=build-wheel/raw
rm -rf "$raw" && mkdir -p "$raw" dist
python -m pip wheel . -q --disable-pip-version-check --no-deps --no-build-isolation -w "$raw" \
  --config-settings=cmake.define.Python_EXECUTABLE="$PWD/.venv/bin/python" || { echo "wheel: the build failed" >&2; exit 1; }
rm -f dist/broadcloth-*.whl
# Puts the libraries that a bare machine lacks into the wheel, under names that no other package uses, and checks the glibc symbols.
python -m auditwheel repair --strip --plat auto -w dist "$raw"/broadcloth-*.whl
python scripts/check_wheel.py dist/broadcloth-*.whl
