"""The scripts that run NumPy's and SciPy's own tests (docs/testing.md) run: a small file of each library's, and its counts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def run(script: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(TESTS / script), *arguments], capture_output=True, text=True, timeout=250, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def share(text: str) -> tuple[int, int]:
    found = re.search(r"(\d+) of +(\d+)", text)
    assert found is not None, text
    return int(found[1]), int(found[2])


def test_numpys_tests_of_joining_and_splitting_pass(tmp_path: Path) -> None:
    pytest.importorskip("hypothesis", reason="NumPy's tests need hypothesis")
    pytest.importorskip("pytest_timeout", reason="the script ends tests that hang by pytest-timeout")
    text = run("numpy_suite.py", "--only", "lib/test_shape_base", "--results", str(tmp_path / "outcomes"))
    passed, of = share(text.partition(";")[2])
    assert of > 50 and passed >= 0.95 * of, text


def test_scipys_tests_of_boxcox_pass(tmp_path: Path) -> None:
    pytest.importorskip("scipy", reason="SciPy is not installed")
    text = run("scipy_suite.py", "special/tests/test_boxcox.py", "--results", str(tmp_path))
    passed, of = share(text.rpartition("special ")[2])
    assert of > 5 and passed == of, text
