"""Runs every test and prints one closing line that adds them up: `N passed, N failed, N skipped`.

    scripts/test.py [pytest arguments]        with arguments the C++ tests are left out

Environment: BROADCLOTH_TEST_JOBS (processes for pytest, 2 unless told), BROADCLOTH_BUILD (the build folder, build).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BROADCLOTH_BUILD", "build")


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def count_junit(path: Path, returncode: int) -> Count:
    """What a JUnit file says. A program that died without one, or failed with no failure in it, counts as one failure."""
    count = Count()
    try:
        root = ET.parse(path).getroot()
    except (OSError, ET.ParseError):
        return Count(failed=1)
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            count.failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun" or case.get("result") in ("skipped", "suppressed"):
            count.skipped += 1
        else:
            count.passed += 1
    if returncode != 0 and count.failed == 0:
        count.failed = 1
    return count


def run_cpp(scratch: Path) -> Count:
    program = BUILD / "bin" / "broadcloth_tests"
    if not program.exists():
        return Count()
    print("== C++ tests", flush=True)
    out = scratch / "cpp.xml"
    done = subprocess.run([program, f"--gtest_output=xml:{out}", "--gtest_brief=1"], cwd=ROOT)
    if done.returncode < 0:
        print(f"broadcloth_tests: ended by signal {-done.returncode}")
    return count_junit(out, done.returncode)


def run_python(scratch: Path, arguments: list[str]) -> Count:
    folders = [f for f in ("tests/python", "tests/null", "tests/vector_clock", "tests/cuda_compile") if any((ROOT / f).rglob("test_*.py"))]
    if not folders:
        return Count()
    print("== Python tests", flush=True)
    out = scratch / "python.xml"
    if not any(not a.startswith("-") and (ROOT / a.split("::")[0]).exists() for a in arguments):
        arguments = [*folders, *arguments]
    jobs = os.environ.get("BROADCLOTH_TEST_JOBS", "2")
    spread = [] if jobs in ("0", "1") else ["-n", jobs, "--dist", "worksteal"]
    environment = {**os.environ}
    if spread:
        # Each process would otherwise take every core for itself.
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    command = [sys.executable, "-m", "pytest", *spread, f"--junitxml={out}", "-o", "junit_family=xunit1", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment)
    if done.returncode == 5 and arguments:  # pytest's "no test was selected"
        return Count()
    return count_junit(out, done.returncode)


def main(arguments: list[str]) -> int:
    scratch = Path(tempfile.mkdtemp(prefix="broadcloth-test-"))
    try:
        total = Count() if arguments else run_cpp(scratch)
        total = total + run_python(scratch, arguments)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if total.passed + total.failed == 0:
        print("no test ran")
        total.failed = 1
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
