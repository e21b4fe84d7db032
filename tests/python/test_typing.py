"""The type stubs: they say what the run-time package has, and type checkers find mistakes by them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import broadcloth as bc
from support import ROOT

PROGRAMS = ROOT / "tests" / "typing"
PACKAGE = Path(bc.__file__).parent
MARK = "# mistake"


def run(*command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "MYPY_FORCE_COLOR": "0"}
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, env=environment, cwd=cwd)


def marked(path: Path) -> set[int]:
    return {number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith(MARK)}


def lines(path: Path, numbers: set[int]) -> list[str]:
    text = path.read_text().splitlines()
    return [f"{number}: {text[number - 1]}" for number in sorted(numbers)]


def test_stubs_are_what_the_tables_give():
    done = run(ROOT / "scripts" / "stubs.py", "--check")
    assert done.returncode == 0, done.stderr


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "__init__.pyi").exists()


def test_the_program_without_mistakes_runs():
    done = run(PROGRAMS / "correct.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_mypy_finds_each_mistake_and_nothing_else(tmp_path):
    pytest.importorskip("mypy")
    strict = ("-m", "mypy", "--strict", "--config-file=", "--cache-dir", tmp_path)
    done = run(*strict, PROGRAMS / "correct.py")
    assert done.returncode == 0, done.stdout
    path = PROGRAMS / "mistakes.py"
    done = run(*strict, path)
    found = {int(n) for n in re.findall(r"mistakes\.py:(\d+): error", done.stdout)}
    assert not lines(path, marked(path) - found), "not found"
    assert not lines(path, found - marked(path)), done.stdout


@pytest.mark.slow
def test_pyright_finds_each_mistake_and_nothing_else(tmp_path):
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    for path in PROGRAMS.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text())
    settings = {"typeCheckingMode": "standard", "pythonVersion": "3.11", "extraPaths": [str(PACKAGE.parent)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    done = run("-m", "basedpyright", "--pythonpath", sys.executable, "--outputjson", cwd=tmp_path)
    errors = [d for d in json.loads(done.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    found = {name: {d["range"]["start"]["line"] + 1 for d in errors if d["file"].endswith(name)} for name in ("correct.py", "mistakes.py")}
    assert not found["correct.py"], errors
    path = PROGRAMS / "mistakes.py"
    assert not lines(path, marked(path) - found["mistakes.py"]), "not found"
    assert not lines(path, found["mistakes.py"] - marked(path)), errors


# What the stub of the extension says otherwise than the run-time class, on purpose.
ALLOWED = r"""
broadcloth._broadcloth.(Copy|Kernel|Wait)Record.*   # NamedTuple says it shortest
broadcloth._broadcloth.(CpuDispatcher|MemoryPointer).__getattr__
broadcloth._broadcloth.ndarray.(argpartition|argsort|partition|searchsorted|sort)   # there is no function of the name yet
broadcloth._broadcloth._(Unary|Binary)(Pair)?Ufunc   # ufuncs by their operands
"""


@pytest.mark.slow
def test_the_stub_of_the_extension_has_its_signatures(tmp_path):
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("\n".join(line.split("#")[0].strip() for line in ALLOWED.strip().splitlines()))
    config = ROOT / "pyproject.toml"
    done = run("-m", "mypy.stubtest", "broadcloth._broadcloth", "--concise", "--ignore-missing-stub", "--mypy-config-file", config,
               "--allowlist", allowed, "--ignore-unused-allowlist", "--ignore-disjoint-bases", cwd=tmp_path)  # fmt: skip
    ours = [line for line in done.stdout.splitlines() if "cannot be subclassed" not in line]
    assert not ours, "\n".join(ours)
