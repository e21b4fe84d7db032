"""Runs every test and prints one closing line that adds them up: `N passed, N failed, N skipped`.

    scripts/test.py [pytest arguments]        with arguments the C++ tests are left out
    scripts/test.py --levels [arguments]      only the numeric tests, at every instruction set that this machine has

Environment: BROADCLOTH_TEST_JOBS (processes for pytest, 2 unless told), BROADCLOTH_BUILD (the build folder, build),
BROADCLOTH_TEST_LEVELS=1 (all tests, and then those of --levels).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BROADCLOTH_BUILD", "build")

# Levels of x86-64 with the flags of /proc/cpuinfo that each needs beside the last one's, and OpenBLAS's kernels that were written for it.
# BROADCLOTH_CPU=LEVEL chooses the embedded compiler's target, tier 0, the integer products and the first of these kernels.
LEVELS = (
    ("x86-64", "sse2", ("Prescott",)),
    ("x86-64-v2", "ssse3 sse4_1 sse4_2 popcnt cx16", ("Nehalem",)),
    ("x86-64-v3", "avx avx2 fma f16c bmi1 bmi2 abm movbe", ("Haswell", "Sandybridge", "Zen")),
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl", ("SkylakeX",)),
)
ENGINE_LEVELS = ("x86-64", "x86-64-v3", "x86-64-v4")
# The C++ tests whose results come from loops, products or generated code. In Python they have the mark `numeric`.
NUMERIC_CPP = "Matmul.*:OpenBlas.*:Tier0.*:Derivatives*:Composite*:Graph*"


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


def run_cpp(scratch: Path, title: str = "C++ tests", chosen: str = "*", settings: dict[str, str] | None = None) -> Count:
    program = BUILD / "bin" / "broadcloth_tests"
    if not program.exists():
        return Count()
    print(f"== {title}", flush=True)
    out = scratch / "cpp.xml"
    out.unlink(missing_ok=True)
    command = [program, f"--gtest_filter={chosen}", f"--gtest_output=xml:{out}", "--gtest_brief=1"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(settings or {})})
    if done.returncode < 0:
        print(f"broadcloth_tests: ended by signal {-done.returncode}")
    return count_junit(out, done.returncode)


def run_python(scratch: Path, arguments: list[str], title: str = "Python tests", settings: dict[str, str] | None = None) -> Count:
    folders = [f for f in ("tests/python", "tests/null", "tests/vector_clock", "tests/cuda_compile") if any((ROOT / f).rglob("test_*.py"))]
    if not folders:
        return Count()
    print(f"== {title}", flush=True)
    out = scratch / "python.xml"
    out.unlink(missing_ok=True)
    if not any(not a.startswith("-") and (ROOT / a.split("::")[0]).exists() for a in arguments):
        arguments = [*folders, *arguments]
    jobs = os.environ.get("BROADCLOTH_TEST_JOBS", "2")
    spread = [] if jobs in ("0", "1") else ["-n", jobs, "--dist", "worksteal"]
    environment = {**os.environ, **(settings or {})}
    if spread:
        # Each process would otherwise take every core for itself.
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    command = [sys.executable, "-m", "pytest", *spread, f"--junitxml={out}", "-o", "junit_family=xunit1", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment)
    if done.returncode == 5 and arguments:  # pytest's "no test was selected"
        return Count()
    return count_junit(out, done.returncode)


def run_levels(scratch: Path, arguments: list[str]) -> Count:
    """The numeric tests at every level of this processor, and the products with each of OpenBLAS's kernels that it can run."""
    try:
        flags = set(next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")).split())
    except (OSError, StopIteration):
        print("== this is no x86-64: no levels")
        return Count()
    total = Count()
    for level, needed, kernels in LEVELS:
        if not flags.issuperset(needed.split()):
            print(f"== {level}: this processor lacks {' '.join(sorted(set(needed.split()) - flags))}")
            break
        settings = {"BROADCLOTH_CPU": level, "OPENBLAS_CORETYPE": kernels[0], "BROADCLOTH_DIFFERENTIAL": "30"}
        if level in ENGINE_LEVELS:
            total += run_cpp(scratch, f"C++ tests at {level}", NUMERIC_CPP, settings)
            total += run_python(scratch, ["tests/python", "-m", "numeric and not slow", *arguments], f"Python tests at {level}", settings)
        for core in kernels[level in ENGINE_LEVELS :]:
            total += run_cpp(scratch, f"products with OpenBLAS for {core}", "Matmul.*", {"OPENBLAS_CORETYPE": core})
    return total


def main(arguments: list[str]) -> int:
    # A shell that starts this script in the background ignores Ctrl-C, and all processes below would inherit that; some tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    scratch = Path(tempfile.mkdtemp(prefix="broadcloth-test-"))
    try:
        if arguments[:1] == ["--levels"]:
            total = run_levels(scratch, arguments[1:])
        else:
            total = Count() if arguments else run_cpp(scratch)
            total += run_python(scratch, arguments)
            if os.environ.get("BROADCLOTH_TEST_LEVELS"):
                total += run_levels(scratch, arguments)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if total.passed + total.failed == 0:
        print("no test ran")
        total.failed = 1
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
