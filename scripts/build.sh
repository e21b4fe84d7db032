#!/usr/bin/env bash
# Configures FOLDER when it is new and builds it, or the targets that are named:  scripts/build.sh FOLDER [-jN] [-DNAME=VALUE ...] [TARGET ...]
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$1"; shift
jobs="-j$(nproc)"; defines=(); targets=()
for a in "$@"; do case "$a" in -j*) jobs="$a";; -*) defines+=("$a");; *) targets+=("$a");; esac; done

if [ ! -f "$folder/build.ninja" ]; then
  cmake -S . -B "$folder" -G Ninja -DPython_EXECUTABLE="$PWD/.venv/bin/python" "${defines[@]}" >"$folder.log" 2>&1 ||
    { cat "$folder.log"; rm -rf "$folder" "$folder.log"; exit 1; }
  mv "$folder.log" "$folder/configure.log"
fi
# Says nothing when nothing was to be done.
exec ninja -C "$folder" "$jobs" --quiet "${targets[@]}"
