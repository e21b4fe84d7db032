#!/usr/bin/env bash
# Installs what the build and the tests need: the missing Debian packages, then .venv with the requirements of pyproject.toml's
# `dev` group. Does nothing, quickly, when all is there. Works on Debian 12 and Ubuntu 24.04, as root or with sudo.
#   PYTHON=python3.12 scripts/setup.sh      picks the interpreter of a new .venv
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache                                  # tools
  llvm-19-dev libclang-19-dev libpolly-19-dev lld-19 clang-format-19   # the compiler inside libbroadcloth_jit.so
  libfmt-dev libxxhash-dev libzstd-dev zlib1g-dev libhwy-dev
  libgtest-dev
)

say() { printf '\033[1m%s\033[0m\n' "$*"; }

find_python() {
  local p
  for p in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
    if "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$p"; return; fi
  done
  return 0
}

# Debian's python3 has venv and the C headers in packages of their own; other builds carry them.
python="$(find_python)"
if [ ! -x .venv/bin/python ]; then
  if [ -z "$python" ]; then
    packages+=(python3 python3-venv python3-dev)
  elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    packages+=(python3-venv)
  fi
fi
if [ -n "$python" ] && ! "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'; then
  packages+=(python3-dev)
fi

missing=()
if command -v dpkg-query >/dev/null; then
  # Two columns, status and name; a package never heard of prints to stderr only.
  installed=" $({ dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true; } | sed -n 's/^installed //p' | tr '\n' ' ') "
  for p in "${packages[@]}"; do [[ "$installed" == *" $p "* ]] || missing+=("$p"); done
else
  echo "setup: this is no Debian or Ubuntu; install these yourself: ${packages[*]}" >&2
fi
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  sudo=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; missing packages: ${missing[*]}" >&2; exit 1; }
    sudo=sudo
  fi
  if ! $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    # The package lists may be missing or old.
    $sudo apt-get update -q
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  fi
  python="$(find_python)"
fi
[ -n "$python" ] || { echo "setup: no Python 3.11 or newer found" >&2; exit 1; }

if ! .venv/bin/python -c '' 2>/dev/null; then
  say "making .venv with $("$python" --version)"
  rm -rf .venv
  "$python" -m venv .venv
fi

stamp=.venv/.broadcloth-requirements
want="$(sed -n '/^\[dependency-groups\]/,/^\[tool/p' pyproject.toml)"
if [ "$(cat $stamp 2>/dev/null)" != "$want" ]; then
  say "installing Python packages into .venv"
  mapfile -t requirements < <(.venv/bin/python -c '
import tomllib
with open("pyproject.toml", "rb") as f:
    print(*tomllib.load(f)["dependency-groups"]["dev"], sep="\n")')
  .venv/bin/python -m pip install -q --disable-pip-version-check "${requirements[@]}"
  printf '%s' "$want" >$stamp
fi

# The staging folder of the build, so that `import broadcloth` in .venv is this tree.
pth="$(echo .venv/lib/python3.*/site-packages)/broadcloth-dev.pth"
[ "$(cat "$pth" 2>/dev/null)" = "$PWD/build/python" ] || echo "$PWD/build/python" >"$pth"
