"""Every example in the docstrings and in the README runs; every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
import linecache
import operator
import re

import numpy as np
import pytest

import broadcloth as bc
from support import ROOT

MODULES = [
    "_creation",
    "_device",
    "_indexing",
    "_manipulation",
    "_math",
    "_portable",
    "_products",
    "_reductions",
    "_types",
    "experimental",
    "linalg",
    "random",
    "typed",
    "profiler",
    "_dispatch",
    "_user_kernels",
    "cuda.pycuda.curandom",
    "cuda.pycuda.elementwise",
    "cuda.pycuda.reduction",
    "cuda.pycuda.scan",
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


def run_examples(text: str, name: str, extra: dict | None = None) -> None:
    globs = {"bc": bc, "np": np, **(extra or {})}
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
        for name, thing in vars(found).items():
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


@pytest.mark.parametrize("path", [*sorted(p.name for p in ROOT.glob("*.md")), "docs/kernels.md"])
def test_code_blocks_of_the_readme(path, tmp_path, monkeypatch):
    file = ROOT / path
    if not file.exists():
        pytest.skip(f"no {path}")
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "__readme__"}
    for number, block in enumerate(re.findall(r"```(?:python|pycon|py)\n(.*?)```", file.read_text(), re.S), 1):
        if ">>>" in block:
            run_examples(block, f"{path} block {number}", names)
        else:
            name = f"{path} block {number}"
            linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)  # compiled functions read their source
            exec(compile(block, name, "exec"), names)
    import_numbers = sum("import broadcloth" in b for b in re.findall(r"```python\n(.*?)```", file.read_text(), re.S))
    assert path != "README.md" or import_numbers
