"""SciPy's own installed tests of linalg, fft, special and sparse, run with broadcloth's functions in the place of SciPy's.

    python tests/scipy_suite.py                       # everything, then the counts by area
    python tests/scipy_suite.py linalg test_sparse    # test files whose path contains one of these words
    python tests/scipy_suite.py --results FOLDER      # keeps the outcome of each test, and goes on where it stopped

SciPy's test files import from SciPy; here their imports give modules (`Face`) whose public names are broadcloth's. Dense results are handed
to the tests as NumPy arrays. A test counts when it calls at least one of our functions; what never reaches us (tests of SciPy's wrappers of
LAPACK, of its Cython, of its private helpers) is left out, and so are the tests that `OUT_OF_SCOPE` names, each with its reason.
"""

from __future__ import annotations

import argparse
import builtins
import collections
import functools
import importlib
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

AREAS = ("linalg", "fft", "special", "sparse")
SECONDS = 60  # for one test

# Files that test what is not a function on arrays.
FILES_OUT = {
    "test_backend.py": "uarray backends, a protocol of SciPy's",
    "test_lapack.py": "f2py wrappers of LAPACK",
    "test_blas.py": "f2py wrappers of BLAS",
    "test_fblas.py": "f2py wrappers of BLAS",
    "test_cython_lapack.py": "Cython",
    "test_cython_blas.py": "Cython",
    "test_cython_special.py": "Cython",
    "test_cythonized_array_utils.py": "Cython",
    "test_extending.py": "Cython",
    "test_pydata_sparse.py": "another library's arrays",
    "test_support_alternative_backends.py": "other libraries' arrays",
    "test_sparsetools.py": "private C++ of SciPy's",
    "test_sputils.py": "private helpers of SciPy's",
    "test_propack.py": "private Fortran of SciPy's",
    "test_precompute_gammainc.py": "private helpers of SciPy's",
    "test_precompute_expn_asy.py": "private helpers of SciPy's",
    "test_precompute_utils.py": "private helpers of SciPy's",
    "test_dd.py": "private helpers of SciPy's",
    "test_interpolative.py": "scipy.linalg.interpolative, a module that is not built",
}

# (word in the test's name, what the failure says, reason): a failed test of which both are found is out of scope.
OUT_OF_SCOPE: list[tuple[str, str, str]] = [
    ("", "stays? on the host", "longdouble, objects and texts stay on the host"),
    ("", "has no int64; pass one number at a time", "longdouble, objects and texts stay on the host"),
    ("factorial.*(None|object)|test_factorial.*object", "", "longdouble, objects and texts stay on the host"),
    ("", "seterr\\(", "special functions report nothing: their results are NaN or infinite"),
    ("", r"types not equal: <class 'numpy.\w+'>, <class 'numpy.ndarray'>", "0-d results come to the tests as scalars"),
    ("overwrite|non_unit_strides|economic_rank_1_strides", "assert", "operands are never overwritten"),
    ("aplacian|test_sparse_formats", r"allclose(_sparse)?\((sp_)?(laplacian|L), (sp_)?mat\)", "operands are never overwritten"),
    ("", "DID NOT RAISE NotImplementedError", "we compute what SciPy refuses"),
    (
        "test_inv$|test_dtype_check|test_shortest_path_indices|test_zero_diag_error|wikipedia_counter",
        "DID NOT RAISE",
        "we compute what SciPy refuses",
    ),
    ("", "numpy.matrix|todense\\(\\)", "there is no numpy.matrix"),
    ("Matrix::(test_matvec|test_matmat_dense|test_rmatvec|test_sum_out|test_mean_out)", "", "there is no numpy.matrix"),
    ("", r"(== <class 'numpy.int64'>|DESIRED: dtype\('int64'\))", "indices are int32 where they fit"),
    (
        "test_pickle|constructor1_base",
        "AssertionError|ambiguous",
        "NumPy's looks into arrays (isinstance, may_share_memory) do not see ours",
    ),
    ("test_pow|ufuncs|unary_ufunc", "Arrays are not equal", "equality to the last place with NumPy's functions"),
    ("test_definition|test_device", "as the namespace `xp`", "xp= takes our namespace"),
    ("", "missing name: scipy.linalg.(get_lapack_funcs|get_blas_funcs|find_best)", "f2py wrappers of LAPACK"),
    ("Gstrs|test_lu_refcount", "", "private functions of SciPy's"),
    ("test_add_reverse_edges|test_construct_dist|test_b_orthonormalize", "", "private functions of SciPy's"),
    ("longdouble", "constructor usage|invalid input format", "longdouble, objects and texts stay on the host"),
    ("test_.*(init|docstring|iterations|show|callback|precond)", "TFQMR: Linear solve", "words of what is printed"),
    ("", r"don't support 3D|\(1, 2\)\. Got new_shape|>2D is not supported", "sparse arrays have one or two dimensions"),
    ("test_ill_condition_warning", "DID NOT WARN", "solve makes no estimate of the condition"),
]


class Calls:
    """How often the running test called a function of ours, and which public names are missing."""

    count = 0


def to_host(value: Any) -> Any:
    """Dense arrays as NumPy's, also inside tuples, lists and named results."""
    import broadcloth as bc

    if isinstance(value, bc.ndarray):
        host = np.asarray(value.numpy())
        return host if host.ndim else host[()]
    if isinstance(value, tuple):
        items = [to_host(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [to_host(item) for item in value]
    return value


class Function:
    """A function of ours that counts its calls and gives NumPy's arrays. As a key it is SciPy's function: SciPy's tests look up in tables
    what that can do."""

    def __init__(self, function: Any, theirs: Any, name: str) -> None:
        functools.update_wrapper(self, function, updated=())
        self.__name__ = name
        self._function, self._theirs = function, theirs

    def __hash__(self) -> int:
        return hash(self._theirs)

    def __eq__(self, other: Any) -> bool:
        return other is self or other is self._theirs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        Calls.count += 1
        return to_host(self._function(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self if instance is None else types.MethodType(self, instance)


class Missing:
    """Stands for a public name of SciPy's that we have not; says so when it is used."""

    def __init__(self, theirs: Any, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self._theirs = theirs

    __hash__, __eq__ = Function.__hash__, Function.__eq__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        Calls.count += 1
        raise NotImplementedError(f"missing name: {self.__name__}")


def handed_over(method: Any) -> Any:
    """A method whose dense results become NumPy's where a test calls it; the library itself gets its own arrays."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        value = method(*args, **kwargs)
        return to_host(value) if is_test_file(sys._getframe(1).f_globals) else value

    return call


KEPT_METHODS = ("__init__", "__new__", "__getattr__", "__setattr__", "__array__")


def counted_class(cls: type) -> type:
    """The class itself, whose constructor counts and whose methods give tests NumPy's arrays."""
    for base in cls.__mro__:
        if base.__module__.startswith("broadcloth") and "_handed_over" not in vars(base):
            for name, method in list(vars(base).items()):
                if isinstance(method, types.FunctionType) and name not in KEPT_METHODS:
                    setattr(base, name, handed_over(method))
            base._handed_over = True  # type: ignore[attr-defined]
    if "_counts" not in vars(cls):
        plain = cls.__init__

        @functools.wraps(plain)
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            Calls.count += 1
            plain(self, *args, **kwargs)

        try:
            cls.__init__ = __init__  # type: ignore[method-assign]
            cls._counts = True  # type: ignore[attr-defined]
        except TypeError:
            pass
    return cls


class Face(types.ModuleType):
    """A module of SciPy's as its tests see it: our public functions, SciPy's private ones, and `Missing` for the rest."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._theirs = importlib.import_module(name)
        public = name
        while public != "scipy" and ("._" in public or not ours(public)):
            public = public.rpartition(".")[0]
        self._public = importlib.import_module(public)
        self._ours = ours(public)
        self._private = public != name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            return getattr(self._theirs, name)
        value = self._find(name)
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        theirs = getattr(self._theirs, name, None)
        if isinstance(theirs, types.ModuleType):
            return face(theirs.__name__)
        if name == "supported_dtypes":
            # Tests of sparse matrices make one of each dtype when they are collected. longdouble stays on the host.
            return [t for t in theirs if np.dtype(t).char not in "gG"]
        if theirs is None and not hasattr(self._theirs, name):
            try:
                return face(f"{self.__name__}.{name}")
            except ModuleNotFoundError:
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}") from None
        public = not name.startswith("_") and (name in getattr(self._public, "__all__", ()) or hasattr(self._ours, name))
        if self._ours is None or not public:
            return theirs
        found = getattr(self._ours, name, None)
        if found is None:
            error = isinstance(theirs, type) and issubclass(theirs, (Exception, Warning))
            return theirs if error else Missing(theirs, f"{self._public.__name__}.{name}")
        if isinstance(found, type):
            return counted_class(found)
        return Function(found, theirs, name) if callable(found) else found


def ours(name: str) -> types.ModuleType | None:
    if name.split(".")[:2][-1] not in AREAS:
        return None
    try:
        return importlib.import_module(f"broadcloth.{name}")
    except ModuleNotFoundError:
        return None


@functools.cache
def face(name: str) -> Face:
    module = Face(name)
    return module


def is_test_file(frame_globals: Any) -> bool:
    path = (frame_globals or {}).get("__file__") or ""
    return "/scipy/" in path and "/tests/" in path and any(f"/scipy/{area}/" in path for area in AREAS)


def install_imports() -> None:
    plain = builtins.__import__

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.split(".")
        if level or top[0] != "scipy" or not is_test_file(globals) or (len(top) > 1 and top[1] not in AREAS) or ".tests" in name:
            return plain(name, globals, locals, fromlist, level)
        plain(name, globals, locals, fromlist, level)
        return face(name) if fromlist else face("scipy")

    builtins.__import__ = import_


class Plugin:
    """Runs each test under an alarm and writes one line for it to a file."""

    def __init__(self, results: Path, every: int) -> None:
        self.every = every
        self.done = {json.loads(line)["test"] for line in results.read_text().splitlines()} if results.exists() else set()
        self.file = results.open("a")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items[:: self.every] if item.nodeid not in self.done]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        import broadcloth as bc

        self.write(test=item.nodeid, outcome="crashed")
        Calls.count = 0
        self.outcome, self.text = "passed", ""
        yield
        # An error of ops that a failed test left on the tape is raised here and not in the next test.
        try:
            bc.synchronize()
        except Exception:
            pass
        self.write(test=item.nodeid, outcome=self.outcome, calls=Calls.count, text=self.text)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        def late(*_: Any) -> None:
            raise TimeoutError(f"the test took more than {SECONDS} s")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)
        yield
        signal.alarm(0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome == "skipped":
            self.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        elif report.outcome == "failed":
            self.outcome = "failed"
            self.text = str(report.longrepr)[-6000:]

    def write(self, **fields: Any) -> None:
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()


def run_file(path: str, results: Path, every: int) -> int:
    """In a child: one file of SciPy's."""
    import broadcloth as bc

    # One program, the same in every run: the loops that are built in do not wait for a compiler.
    bc.config.jit = bool(int(os.environ.get("SCIPY_SUITE_JIT", "0")))
    install_imports()
    options = [
        "-W",
        "ignore::Warning",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "--tb=short",
        "--rootdir=/",
        "-c",
        os.devnull,
    ]
    return int(pytest.main([*options, path], plugins=[Plugin(results, every)]))


def outcomes(folder: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            record = json.loads(line)
            found[record["test"]] = record  # the last line of a test counts
    return found


def cause(record: dict[str, Any]) -> str:
    """The line of a failure that says what went wrong, without its numbers."""
    lines = [line for line in record.get("text", "").splitlines() if line.startswith("E  ")]
    text = " ".join(line[1:].strip() for line in lines[:3]) or record["outcome"]
    return re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[+-]?\d+)?", "#", text)[:150]


def out_of_scope(record: dict[str, Any]) -> str | None:
    for name, text, reason in OUT_OF_SCOPE:
        if re.search(name, record["test"]) and re.search(text, record.get("text", "")):
            return reason
    return None


def area_of(test: str) -> str:
    return re.search(r"scipy/(\w+)/", test).group(1)  # type: ignore[union-attr]


def report(folder: Path, causes: bool) -> None:
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    reasons: collections.Counter[tuple[str, str]] = collections.Counter()
    failures: collections.Counter[tuple[str, str]] = collections.Counter()
    for test, record in outcomes(folder).items():
        area = area_of(test)
        if record["outcome"] in ("skipped", "xfailed"):
            continue
        if not record.get("calls", 1):
            table[area]["not ours"] += 1
        elif record["outcome"] == "passed":
            table[area]["passed"] += 1
        elif (reason := out_of_scope(record)) is not None:
            table[area]["out of scope"] += 1
            reasons[area, reason] += 1
        else:
            table[area]["failed"] += 1
            failures[area, cause(record)] += 1
    for area, counts in sorted(table.items()):
        total = counts["passed"] + counts["failed"]
        print(
            f"{area:8} {counts['passed']:6} of {total:6} pass ({100 * counts['passed'] / max(total, 1):.1f} %), "
            f"{counts['out of scope']} out of scope, {counts['not ours']} never call us"
        )
    for (area, reason), count in reasons.most_common():
        print(f"  out of scope: {count:5} {area}: {reason}")
    if causes:
        for (area, text), count in failures.most_common():
            print(f"{count:5} {area}: {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="parts of the paths of test files")
    parser.add_argument("--results", type=Path, help="folder for the outcomes; tests that it holds are not run again")
    parser.add_argument("--every", type=int, default=1, help="one test of so many in each file")
    parser.add_argument("--causes", action="store_true", help="also list what failures say, by frequency")
    parser.add_argument("--no-run", action="store_true", help="only report")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        sys.exit(run_file(args.child[0], Path(args.child[1]), args.every))
    folder = args.results or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    import scipy

    package = Path(inspect.getfile(scipy)).parent
    files = sorted(file for area in AREAS for file in (package / area).rglob("tests/test_*.py") if file.name not in FILES_OUT)
    for file in files if not args.no_run else []:
        short = str(file.relative_to(package))
        if args.words and not any(word in short for word in args.words):
            continue
        results = folder / (short.replace("/", ".") + "l.jsonl")
        for _ in range(20):  # a crash ends the child: the next one goes on behind it
            child = subprocess.run(
                [sys.executable, __file__, "--child", str(file), str(results), "--every", str(args.every)], capture_output=True, text=True
            )
            if child.returncode >= 0:
                break
        print(f"{short}: {child.stdout.strip().splitlines()[-1:]}", flush=True)
    report(folder, args.causes)


if __name__ == "__main__":
    main()
