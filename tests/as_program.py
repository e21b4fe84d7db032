"""Runs programs that know of NumPy only, by Python and by `python -m broadcloth`."""

from __future__ import annotations

import subprocess
import sys

from support import child_environment


def run(*words: str, cwd=None, module: str | None = "broadcloth", stdin: str | None = None) -> subprocess.CompletedProcess:
    """`python -m broadcloth words`, or `python words` where `module` is None."""
    start = [sys.executable, *(("-m", module) if module else ())]
    return subprocess.run(
        [*start, *map(str, words)], cwd=cwd, env=child_environment(), capture_output=True, text=True, timeout=240, input=stdin
    )


def program(folder, text: str, name: str = "program.py"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def both(folder, text: str, *arguments: str):
    """What a program prints under Python and under the command, its standard error and its exit status."""
    path = program(folder, text)
    return [run(path, *arguments, module=m, cwd=folder) for m in (None, "broadcloth")]
