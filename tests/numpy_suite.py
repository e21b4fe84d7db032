"""NumPy's own installed test files against broadcloth; nothing of them is kept here.

python tests/numpy_suite.py [--only _core/test_numeric ...] [--mode alone|program|numpy] [--results FILE]

The files are copied out of the installed NumPy, so that they are a program's as `python -m broadcloth` sees them: their `numpy` is
broadcloth under NumPy's names, `numpy.testing` and NumPy's private modules stay NumPy's. In the mode `alone` nothing falls back on NumPy: a
name that broadcloth lacks, or a call that it refuses, fails the test. `program` runs as `python -m broadcloth` does, and `numpy` runs NumPy
itself: tests that do not pass there are left out of the counts. Each file is a process of its own; one that dies loses one test.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDERS = ("_core", "lib", "linalg", "fft", "random", "polynomial")

# Files that are not run: what they are about is NumPy's alone.
NOT_RUN = {
    "NumPy's C code, its build and private modules": (
        "_core/test_argparse _core/test_arraymethod _core/test_casting_unittests _core/test_conversion_utils _core/test_cpu_dispatcher "
        "_core/test_cpu_features _core/test_custom_dtypes _core/test_cython _core/test_extint128 _core/test_hashtable "
        "_core/test_limited_api "
        "_core/test_mem_policy _core/test_simd _core/test_simd_module _core/test__exceptions _core/test_api "
        "_core/test_umath_accuracy _core/test_casting_floatingpoint_errors _core/test_multithreading "
        "random/test_extending lib/test__datasource lib/test__iotools "
        "lib/test__version lib/test_utils"
    ),
    "dtype objects and scalars, which are NumPy's own here": (
        "_core/test_abc _core/test_numerictypes _core/test_dtype _core/test_scalarinherit _core/test_scalar_ctors "
        "_core/test_scalar_methods "
        "_core/test_scalarbuffer _core/test_scalarprint _core/test_print _core/test_array_api_info _core/test_finfo _core/test_getlimits "
        "_core/test_errstate"
    ),
    "iterators over host memory": "_core/test_nditer lib/test_arrayterator _core/test_memmap",
    "texts": "_core/test_defchararray _core/test_strings _core/test_stringdtype _core/test_unicode",
    "long doubles": "_core/test_longdouble",
}

# Why a test cannot pass here: what it names or how it fails. The first that matches counts, and such tests are left out of both shares.
OUTSIDE = {
    "objects": r"Python objects stay on the host|\bgot object|\[.*\b(O|object)\b.*\]",
    "texts": r"strings stay on the host|got [<|>][SU]\d|NumPy datetime\b|NumPy timedelta\b|StringDType|\[.*\bstr\b.*\]",
    "long doubles": r"longdouble|float128|complex256|\[[^]]*\b[gG]\b[^]]*\]",
    "NumPy's internals": (
        r"refcount|check_reference|TestCAPI|CApi|TestTemporaryElide|_warn_on_write|__array_struct__|_multiarray_tests|rational|diophantine|"
        r"internal_overlap|type\(.*\) is (not )?np\.ndarray|_core\b.* has no attribute|TestBaseMath|get_fpu|TestMemEventHook|__signature__|"
        r"TestAddNewdoc|warn_on_write|TestDeprecated|deprecat|inspect|docstring|__doc__|_typelessdata|ndarray\._set_dtype|_nan_mask|"
        r"_replace_nan|consistent_subclass|TestTextSignatures|_newdoc|-> not in list|_ArrayFunctionDispatcher|numpy\._core|GenericAlias|"
        r"\._\w+ runs on the host|has no attribute '_|LowlevelAPI|\bncu\.|\bumt\.|opflag_tests"
    ),
}
# Differences on purpose, which docs/differences.md tells users: they count against the strict share alone.
DOCUMENTED = {
    "records are arrays of their own": (
        r"[Rr]ecords? are in arrays|RecordArray|RecordError|got \|V|np\.void|got \[\(|[Ss]tructured|void|dtype of subarrays|recarray|"
        r"must be a divisor of the size"
    ),
    "matrices and masked arrays are NumPy's": r"matrix|MaskedArray|\bma\.|masked|memmap|numpy\.char|an argument is a \w+, whose",
    "numpy.vectorize of any function calls Python": r"it calls a function of Python for each element",
    "other byte orders": r"got >|byteorder|byteswap|byte_swap",
    "views and strides that are no multiples of the element": r"in multiples of|are multiples of|leaves the array's memory",
    "floating-point errors are not reported, and a NaN warns when it is read": (
        r"errstate|FloatingPointError|RuntimeWarning|_fpe|invalid value|divide by zero|floating point underflow|allnans|len\(w\)"
    ),
    "results without axes are 0-d arrays": (
        r"test_pyscalar_subclasses|"
        r"assert_\(type\(|assert_equal\(type\(|assert type\(|ACTUAL: <class 'broadcloth\.ndarray'>|np\.(False|True)_"
    ),
    "like= of functions that read files is not asked": r"TestArrayLike|like_not_implemented",
    "pickles and buffers are broadcloth's": r"[Pp]ickle|\.base\b|owndata|getsizeof|\.data\b|MemoryPointer",
}
# Reasons of other failures.
REASONS = {
    "what broadcloth lacks": r"FallbackError|broadcloth does not have it",
    "other words in a message": r"does not match|Regex pattern did not match",
    "an exception or a warning that is not raised": r"not raised|DID NOT RAISE|DID NOT WARN|warnings found",
    "masked arrays": r"np\.ma|MaskedArray",
    "time": r"Timeout",
}


# ---- In the process of one file: a plugin of pytest -------------------------------------------------------------------------------------


class Plugin:
    """Writes one line for each test that is not to be skipped, with the failing line in a file below `own`."""

    def __init__(self, results: str, skip: set[str], own: str, every: int = 1) -> None:
        self.out = open(results, "a", buffering=1)  # noqa: SIM115  (open as long as the process)
        self.skip, self.own, self.every = skip, own, every

    def write(self, **fields: Any) -> None:
        self.out.write(json.dumps(fields) + "\n")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [i for i in items[:: self.every] if i.nodeid not in self.skip]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(id=nodeid, outcome="started")

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        if call.when == "call" or call.excinfo is not None:
            info = call.excinfo
            skipped = info is not None and info.typename in ("Skipped", "XFailed")
            outcome = "passed" if info is None else "skipped" if skipped or item.get_closest_marker("xfail") else "failed"
            line = ""
            if outcome == "failed":
                own = [e for e in info.traceback if self.own in str(e.path)]
                line = f"{own[-1].lineno + 1}: {own[-1].statement}" if own else ""
            self.write(
                id=item.nodeid, outcome=outcome, error=info.typename if info else "", text=str(info.value)[:600] if info else "", line=line
            )

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(id=report.nodeid, outcome="uncollected", error="", text=str(report.longrepr)[-600:], line="")


class Alone:
    """Forbids fallbacks while a test runs."""

    def pytest_runtest_setup(self, item: Any) -> None:
        forbid_fallbacks(True)

    def pytest_runtest_teardown(self, item: Any) -> None:
        forbid_fallbacks(False)


def forbid_fallbacks(forbidden: bool) -> None:
    """Whether what broadcloth refuses is an error. Elements of arrays stay NumPy's scalars, as in every program."""
    from broadcloth import _broadcloth as _c
    from broadcloth.run import _fallback

    _fallback.strict = forbidden
    _c.set_program_handler((lambda *_: NotImplemented) if forbidden else _fallback.refused)


def give_assertions_copies() -> None:
    """The assertions of numpy.ma get NumPy's arrays, as those of numpy.testing do in every program."""
    import numpy.ma.testutils as checks

    from broadcloth.run import _fallback
    from broadcloth.testing import ASSERTIONS

    for name in ASSERTIONS & set(vars(checks)):
        setattr(checks, name, _fallback.on_copies(getattr(checks, name)))


def run_file(mode: str, file: str, results: str, skip: set[str]) -> int:
    import pytest

    if mode != "numpy":
        import broadcloth as bc
        from broadcloth import run

        give_assertions_copies()
        bc.config.fallback = "ignore"
        run.enable(run.Owner((str(Path(file).parent),)))
    options = ["-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", "--import-mode=importlib", "--timeout=60"]
    options.append("--continue-on-collection-errors")
    root = str(Path(file).parents[3])  # else the folder random/ would be a module of that name
    plugins: list[Any] = [Plugin(results, skip, "/numpy_tests/"), *([Alone()] if mode == "alone" else [])]
    return pytest.main([file, f"--rootdir={root}", "-c", os.devnull, "-m", "not slow", *options], plugins=plugins)


# ---- All files --------------------------------------------------------------------------------------------------------------------------


def copy_files(to: Path) -> list[str]:
    """Copies the tests of the installed NumPy; gives their names, such as `_core/test_numeric`."""
    import numpy

    installed = Path(numpy.__file__).parent
    shutil.copy(installed / "conftest.py", to / "conftest.py")
    for folder in FOLDERS:
        shutil.copytree(installed / folder / "tests", to / folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    return sorted(f"{p.parts[-3]}/{p.stem}" for p in to.glob("*/tests/test_*.py"))


def read(results: Path) -> dict[str, dict[str, Any]]:
    """The last word on each test."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {entry["id"]: entry for entry in map(json.loads, lines)}


def run_until_done(name: str, command: list[str], file: str, results: Path) -> None:
    """Runs a file, again without what is known where its process died; prints counts."""
    for _ in range(12):
        ended = subprocess.run([*command, "--results", str(results)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        known = read(results)
        died = [e for e in known.values() if e["outcome"] == "started"]
        with results.open("a") as out:
            for entry in died:
                text = f"exit {ended.returncode}"
                out.write(json.dumps({**entry, "outcome": "failed", "error": "Died", "text": text, "line": ""}) + "\n")
        if not died:
            break
    entries = [e for i, e in read(results).items() if file in i]
    print(f"{name:40}", *(f"{k} {v}" for k, v in collections.Counter(e["outcome"] for e in entries).items()), flush=True)


def run_all(mode: str, root: Path, names: list[str], results: Path) -> None:
    for name in names:
        folder, stem = name.split("/")
        file = f"{folder}/tests/{stem}.py"
        run_until_done(name, [sys.executable, __file__, "--file", str(root / file), "--mode", mode], file, results)


# ---- Counts -----------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tables:
    """Reasons for which a test does not pass, and how its name or its failure looks: the first that matches counts."""

    outside: dict[str, str]
    documented: dict[str, str]
    reasons: dict[str, str]


TABLES = Tables(OUTSIDE, DOCUMENTED, REASONS)


def _matching(table: dict[str, str], entry: dict[str, Any]) -> str | None:
    said = f"{entry['id'].rpartition('/')[2]} {entry['error']} {entry['text']} {entry['line']}"
    return next((reason for reason, pattern in table.items() if re.search(pattern, said)), None)


def count(entries: list[dict[str, Any]], tables: Tables = TABLES) -> tuple[int, dict[str, collections.Counter[str]]]:
    """How many pass, and how many do not for each reason of the three tables."""
    passed = sum(e["outcome"] == "passed" for e in entries)
    counts = {title: collections.Counter[str]() for title in ("outside", "documented", "fail")}
    for entry in entries:
        if entry["outcome"] == "passed":
            continue
        for title, table in (("outside", tables.outside), ("documented", tables.documented), ("fail", tables.reasons)):
            if reason := _matching(table, entry) or ("other" if title == "fail" else None):
                counts[title][reason] += 1
                break
    return passed, counts


def report(results: Path, tables: Tables = TABLES) -> str:
    """The share of tests that pass, and why others do not."""
    entries = [e for e in read(results).values() if e["outcome"] in ("passed", "failed", "uncollected")]
    passed, counts = count(entries, tables)
    of = passed + counts["fail"].total()
    strict = of + counts["documented"].total()
    lines = [f"{len(entries)} tests; {passed} of {of} pass that need nothing outside or documented: {100 * passed / max(of, 1):.1f} %"]
    lines.append(f"with what is documented: {passed} of {strict}: {100 * passed / max(strict, 1):.1f} %")
    for title, found in counts.items():
        lines += [f"{title}:", *(f"  {n:5} {reason}" for reason, n in found.most_common())]
    return "\n".join(lines)


def table(results: Path, tables: Tables = TABLES) -> str:
    """The counts of each file as a table of Markdown."""
    files: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for i, entry in read(results).items():
        if entry["outcome"] in ("passed", "failed", "uncollected"):
            folder, _, rest = i.partition(".py")[0].rpartition("/test_")
            files[f"{folder.removesuffix('/tests').rpartition('/')[2]}/{rest}"].append(entry)
    lines = ["| file | passed | failed | documented | outside | share |", "|---|---|---|---|---|---|"]
    for name, entries in sorted(files.items()):
        passed, counts = count(entries, tables)
        fail, documented, outside = (counts[t].total() for t in ("fail", "documented", "outside"))
        lines.append(f"| {name} | {passed} | {fail} | {documented} | {outside} | {100 * passed / max(passed + fail, 1):.1f} % |")
    return "\n".join(lines)


# ---- The command: of this script and of those that run the tests of other libraries -----------------------------------------------------


def parser_of(description: str) -> argparse.ArgumentParser:
    """The options that all such scripts have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=None, help="the names of some files")
    parser.add_argument("--results", default=None, help="a file that keeps the outcomes; what it holds is not run again")
    parser.add_argument("--report", action="store_true", help="prints what --results holds, and runs nothing")
    parser.add_argument("--table", action="store_true", help="prints what --results holds by file, and runs nothing")
    parser.add_argument("--file", help=argparse.SUPPRESS)
    return parser


def run_and_report(options: argparse.Namespace, tables: Tables, run: Callable[[Path, Path], None]) -> int:
    """Calls `run` with an empty folder and the file of results, unless only a report is wanted; prints the counts."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(options.results or f"{folder}/results.jsonl")
        if not options.table and not options.report:
            run(Path(folder), results)
        print(table(results, tables) if options.table else report(results, tables))
    return 0


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--mode", choices=("alone", "program", "numpy"), default="alone")
    options = parser.parse_args()
    if options.file:
        known = read(Path(options.results))
        return run_file(options.mode, options.file, options.results, set(known))

    def run(folder: Path, results: Path) -> None:
        root = folder / "numpy_tests"
        root.mkdir()
        names = copy_files(root)
        internal = {n for files in NOT_RUN.values() for n in files.split()}
        names = [n for n in names if n not in internal] if options.only is None else [n for n in names if n in options.only]
        run_all(options.mode, root, names, results)

    return run_and_report(options, TABLES, run)


if __name__ == "__main__":
    sys.exit(main())
