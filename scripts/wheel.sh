#!/usr/bin/env bash
# Makes dist/broadcloth-VERSION-cp311-abi3-manylinux_*.whl: one file that holds the engine, the CPU compiler and OpenBLAS, for
# CPython from 3.11 up. Built on Debian 12 it is manylinux_2_34 (cmake/Portable.cmake); on a newer system it needs that system's glibc.
#   PYTHON=python3.13t scripts/wheel.sh      for a free-threaded interpreter, which needs a binding of its own: …-cp313-cp313t-….whl
set -euo pipefail
cd "$(dirname "$0")/.."
build=.venv/bin/python
folder=build-wheel
kind=abi3
python="${PYTHON:-$build}"
if "$python" -c 'import sys, sysconfig; sys.exit(not sysconfig.get_config_var("Py_GIL_DISABLED"))'; then
  kind="$("$python" -c 'import sys; print(f"cp{sys.version_info.major}{sys.version_info.minor}t")')"
  folder="build-wheel-$kind"
  if [ "$python" != "$build" ]; then
    [ -x "$folder/venv/bin/python" ] || "$python" -m venv "$folder/venv"
    build="$folder/venv/bin/python"
    "$build" -c 'import hatch_fancy_pypi_readme, scikit_build_core, scipy_openblas32' 2>/dev/null ||
      "$build" -m pip install -q --disable-pip-version-check 'scikit-build-core>=0.10,<2' hatch-fancy-pypi-readme 'scipy-openblas32>=0.3.34'
  fi
fi
export PATH="$PWD/.venv/bin:$PATH"
export CXX="${CXX:-c++}"   # the name that CMake finds for the build, so that ccache has its objects for the wheel too
raw="$folder/raw"
rm -rf "$raw" && mkdir -p "$raw" dist
"$build" -m pip wheel . -q --disable-pip-version-check --no-deps --no-build-isolation -w "$raw" \
  --config-settings=build-dir="$folder" --config-settings=cmake.define.Python_EXECUTABLE="$PWD/$build" ||
  { echo "wheel: the build failed" >&2; exit 1; }
rm -f dist/broadcloth-*-"$kind"-*.whl
# Puts the libraries that a bare machine lacks into the wheel, under names that no other package uses, and names the oldest glibc that has
# all symbols.
.venv/bin/python -m auditwheel repair --strip --zip-compression-level 9 --plat auto -w dist "$raw"/broadcloth-*.whl
.venv/bin/python scripts/repack_wheel.py dist/broadcloth-*-"$kind"-*.whl
.venv/bin/python scripts/check_wheel.py dist/broadcloth-*-"$kind"-*.whl
