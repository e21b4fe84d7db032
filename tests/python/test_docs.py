"""Every example in docstrings, README and guides runs; every public callable has a docstring, a signature and an example."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import linecache
import operator
import re

import numpy as np
import pytest

import broadcloth as bc
from broadcloth._types import _ScalarType
from support import ROOT

MODULES = [
    "_apply",
    "_bits",
    "_convolution",
    "_creation",
    "_cupy_names",
    "_device",
    "_einsum",
    "_histograms",
    "_interpolation",
    "_indexing",
    "_manipulation",
    "_math",
    "_polynomials",
    "_portable",
    "_products",
    "_reductions",
    "_types",
    "_windows",
    "experimental",
    "autograd",
    "lib.array_utils",
    "lib.stride_tricks",
    "fft",
    "fft.config",
    "linalg",
    "random",
    "random._bit_generators",
    "random._distributions",
    "random._generator",
    "random._legacy",
    "run",
    "run._imports",
    "scipy.fft",
    "scipy.linalg",
    "scipy.linalg._bands",
    "scipy.linalg._decompositions",
    "scipy.linalg._equations",
    "scipy.linalg._forms",
    "scipy.linalg._functions",
    "scipy.linalg._matrices",
    "scipy.linalg._solvers",
    "scipy.sparse.csgraph._graphs",
    "scipy.sparse.csgraph._paths",
    "scipy.sparse.csgraph._structure",
    "scipy.sparse.linalg._direct",
    "scipy.sparse.linalg._eigen",
    "scipy.sparse.linalg._functions",
    "scipy.sparse.linalg._krylov",
    "scipy.sparse.linalg._least_squares",
    "scipy.sparse.linalg._operators",
    "scipy.sparse",
    "scipy.sparse._construct",
    "scipy.sparse._files",
    "typed",
    "profiler",
    "_dispatch",
    "_files",
    "typing",
    "_user_kernels",
    "cuda.pycuda.curandom",
    "cuda.pycuda.elementwise",
    "cuda.pycuda.reduction",
    "cuda.pycuda.scan",
    "cuda.skcuda.cublas",
    "cuda.skcuda.cusolver",
    "cuda.skcuda.fft",
    "cuda.skcuda.integrate",
    "cuda.skcuda.linalg",
    "cuda.skcuda.misc",
    "cupyx._errors",
    "cupyx._functions",
    "cupyx._gufunc",
    "cupyx.jit",
    "cuda",
    "cuda._attributes",
    "cuda._device",
    "cuda._event",
    "cuda._managers",
    "cuda._memory",
    "cuda._stream",
    "cuda.nvtx",
    "cuda.profiler",
    "cuda.runtime",
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_examples(text: str, name: str, extra: dict | None = None, given: bool = True) -> None:
    globs = {**({"bc": bc, "np": np} if given else {}), **(extra or {})}
    test = doctest.DocTestParser().get_doctest(text, globs, name, name, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    if extra is not None:
        extra.update(test.globs)
    assert not runner.failures, "".join(report)


def documented():
    """(name, docstring) of every public function, class and method written in Python."""
    for module in MODULES:
        found = importlib.import_module(f"broadcloth.{module}")
        for name, thing in list(vars(found).items()):  # an example may load a submodule
            if name.startswith("_") or getattr(thing, "__module__", None) != found.__name__:
                continue
            if inspect.isfunction(thing) or inspect.isclass(thing):
                yield f"{module}.{name}", thing.__doc__
            if inspect.isclass(thing):
                for method, f in vars(thing).items():
                    if inspect.isfunction(f) and not method.startswith("_"):
                        yield f"{module}.{name}.{method}", f.__doc__


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    with bc.device("cpu"):
        for name, doc in documented():
            if name.startswith(module + ".") and doc and ">>>" in doc:
                run_examples(doc, name)


@pytest.mark.parametrize("module", [m for m in MODULES if m.startswith("cuda.skcuda")])
def test_examples_of_modules(module):
    with bc.device("cpu"):
        run_examples(importlib.import_module(f"broadcloth.{module}").__doc__, module)


def test_examples_of_ufuncs():
    with bc.device("cpu"):
        for name, f in bc._c.ufuncs.items():
            if f.__doc__ and ">>>" in f.__doc__:
                run_examples(f.__doc__, name)


@pytest.mark.parametrize("name", ["ElementwiseKernel", "ReductionKernel", "ndarray.byteswap"])
def test_examples_of_types_of_the_extension(name):
    with bc.device("cpu"):
        run_examples(operator.attrgetter(name)(bc).__doc__, name)


def test_every_public_name_has_a_docstring():
    missing = [name for name, doc in documented() if not doc and name.split(".")[-1] not in ("show", "clear")]
    missing += [name for name in bc._docs.TABLE if not bc._c.ufuncs[name].__doc__]
    assert not missing


def test_the_package_says_what_it_is():
    run_examples(bc.__doc__, "broadcloth")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", bc.__version__)
    assert set(bc.__all__) <= set(dir(bc))
    for name in bc.__all__:
        assert getattr(bc, name, None) is not None or name == "newaxis", name


BLOCK = re.compile(r"```(python|pycon)( gpus=\d)?\n(.*?)```", re.S)
PAGES = [
    *sorted(p.name for p in ROOT.glob("*.md")),
    *(f"docs/{name}.md" for name in ("autograd", "kernels", "programs", "random")),
]
SECTIONS = [
    pytest.param(path, number, section, id=f"{path}-{section.splitlines()[0].strip('# ')}")
    for path in PAGES
    for number, section in enumerate(re.split(r"(?m)^(?=## )", (ROOT / path).read_text()))
    if BLOCK.search(section)
]


def lacks(block: str) -> str | None:
    """A library that a block imports and this machine has not."""
    names = re.findall(r"^(?:>>> )?import (\w+)", block, re.M)
    return next((name for name in names if importlib.util.find_spec(name) is None), None)


@pytest.mark.parametrize(("path", "number", "section"), SECTIONS)
def test_code_of_a_section_runs_by_itself(path, number, section, tmp_path, monkeypatch):
    """A section is what a reader pastes: its code imports and makes all that it uses."""
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__readme__"}
    for found in BLOCK.finditer(section):
        kind, gpus, block = found.groups()
        if gpus and bc.device_count("cuda") < int(gpus.split("=")[1]):
            continue
        if missing := lacks(block):
            pytest.skip(f"no {missing}")
        name = f"{path} section {number} at {found.start()}"
        if kind == "pycon":
            run_examples(block, name, names, given=False)
        else:
            linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)  # compiled functions read their source
            exec(compile(block, name, "exec"), names)


def test_the_readme_says_how_to_begin():
    text = (ROOT / "README.md").read_text()
    assert "import broadcloth as bc" in text.split("## ")[0] and "synchronize" in text.split("## Programs")[0]


# ---- Every public callable ---------------------------------------------------------------------------------------------------------------

# NumPy's own, Numba's types and exceptions need no example here.
THEIRS = ("numpy", "builtins")
WITHOUT_EXAMPLE = {
    "CompileError", "TypingError", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "profiler.CopyRecord", "profiler.KernelRecord", "ndarray.get_ipc_handle",
    "scipy.linalg.LinAlgWarning", "scipy.sparse.SparseEfficiencyWarning", "scipy.sparse.SparseWarning", "scipy.sparse.sparray",
    "scipy.sparse.spmatrix",
}  # fmt: skip
PUBLIC = [
    "", "fft", "linalg", "random", "scipy.fft", "scipy.linalg", "scipy.sparse", "scipy.sparse.csgraph", "scipy.sparse.linalg",
    "scipy.special", "profiler",
]  # fmt: skip


def public_callables():
    """(name, object) of the functions and classes of the namespace and its modules, and of methods of arrays, ufuncs and generators."""
    for module in PUBLIC:
        found = importlib.import_module(f"broadcloth.{module}".rstrip("."))
        for name in found.__all__ if hasattr(found, "__all__") else dir(found):
            thing = getattr(found, name)
            home = getattr(thing, "__module__", None) or "broadcloth"
            if callable(thing) and not home.startswith(THEIRS) and not isinstance(thing, bc.types.Type | _ScalarType):
                yield f"{module}.{name}".lstrip("."), thing
    for owner in (bc.ndarray, bc.ufunc, bc.random.Generator, bc.random.Philox, bc.random.RandomState):
        for name in dir(owner):
            if not name.startswith("_") and callable(getattr(owner, name)):
                yield f"{owner.__name__}.{name}", getattr(owner, name)


def signature_of(thing) -> inspect.Signature | None:
    try:
        return inspect.signature(thing)
    except (TypeError, ValueError):
        return None


CALLABLES = dict(public_callables())


def test_every_public_callable_has_a_signature():
    classes = {"CompileError", "TypingError", "flatiter", "ufunc", "bfloat16", "float8_e4m3fn", "float8_e5m2", "scipy.linalg.LinAlgWarning"}
    classes |= {"scipy.sparse.csgraph.NegativeCycleError", "scipy.sparse.linalg.ArpackError", "scipy.sparse.linalg.MatrixRankWarning"}
    classes |= {"scipy.sparse.SparseEfficiencyWarning", "scipy.sparse.SparseWarning"}
    assert not [name for name, thing in CALLABLES.items() if signature_of(thing) is None and name not in classes]


def test_every_public_callable_has_a_docstring_with_an_example():
    later = {f"ndarray.{name}" for name in ("argpartition", "argsort", "partition", "searchsorted", "sort")}
    # A type whose objects have docstrings of their own has none.
    documented = {name: inspect.getdoc(thing) or "" for name, thing in CALLABLES.items() if thing is not bc.ufunc}
    assert not [name for name, text in documented.items() if len(text) < 10]
    without = {name for name, text in documented.items() if ">>>" not in text}
    assert without == later | (WITHOUT_EXAMPLE & documented.keys())


@pytest.mark.parametrize("owner", ["functions", "ndarray", "ufunc", "Generator", "Philox", "RandomState"])
def test_examples_of_public_callables(owner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with bc.device("cpu"):
        for name, thing in CALLABLES.items():
            if name.partition(".")[0] == owner or (
                owner == "functions" and name.partition(".")[0] not in ("ndarray", "ufunc", "Generator", "Philox", "RandomState")
            ):
                if ">>>" in (text := inspect.getdoc(thing) or ""):
                    run_examples(text, name)


@pytest.mark.parametrize("module", ["fft", "linalg", "random", "scipy.fft", "scipy.special"])
def test_modules_show_what_is_public(module):
    found = importlib.import_module(f"broadcloth.{module}")
    assert dir(found) == sorted(found.__all__)


def test_missing_names_say_what_to_do_and_suggest_nothing_wrong():
    for text, words in (("emath", "numpy.emath"), ("linalg.test", "numpy.linalg.test"), ("random.test", "numpy.random")):
        with pytest.raises(AttributeError, match=words) as caught:
            operator.attrgetter(text)(bc)
        # Python suggests names of `obj` that are like `name`.
        assert caught.value.name == text.split(".")[-1] and caught.value.obj is None
    with pytest.raises(AttributeError) as caught:
        bc.arrange  # noqa: B018
    assert caught.value.obj is bc


def test_rows_that_are_parts_of_other_functions_are_not_public():
    assert not {"bessel_i1", "frexp_exponent", "frexp_mantissa", "modf_fraction", "modf_integer"} & set(bc.__all__)
