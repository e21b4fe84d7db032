"""Writes the type stubs that come from tables: python scripts/stubs.py [--check]

The packages `broadcloth` and `broadcloth.cuda` find most of their names at run time (rows of ufuncs, modules that are loaded when they
are used), which no type checker can follow. Their stubs say of every public name where it is; the types themselves stand in the modules'
annotations and, for the extension, in `_broadcloth.pyi`: its classes are those of `src/bind/types.pyi`, its functions have the signatures
that they are bound with and the types of their C++ parameters. `--check` writes nothing and fails when a stub is not what would be written.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import broadcloth
import broadcloth.cuda
from broadcloth.cuda._jit import Intrinsic
from broadcloth.random._distributions import DISTRIBUTIONS, Distribution, parameters_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "broadcloth"
_KINDS = {(1, 1): "_UnaryUfunc", (2, 1): "_BinaryUfunc", (1, 2): "_UnaryPairUfunc", (2, 2): "_BinaryPairUfunc"}
# Names of the kernel language that are values; the others are functions, and modules of functions.
_LANGUAGE = {"threadIdx": "_Dim3", "blockIdx": "_Dim3", "blockDim": "_Dim3", "gridDim": "_Dim3", "laneid": "int", "warpsize": "int"}
# Types of the extension's parameters that hold None already.
_WITH_NONE = ("Any", "DTypeLike", "AxisLike", "DeviceLike", "Order")
_HEADER = '# ruff: noqa\n"""Written by scripts/stubs.py from the tables of the package."""\n'


def imports(modules: dict[str, set[str]]) -> list[str]:
    """`from .module import name as name`: what a stub gives on."""
    lines = []
    for module, names in sorted((m, n) for m, n in modules.items() if n):
        together = ", ".join(f"{name} as {name}" for name in sorted(names))
        one = f"from {module} import {together}"
        lines.append(one if len(one) <= 120 else f"from {module} import (\n    " + together.replace(", ", ",\n    ") + ",\n)")
    return lines


def written(lines: list[str], names: Any) -> str:
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"
    return "\n".join([_HEADER, *lines, "", exported])


def main_namespace() -> str:
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    public = set(broadcloth.__all__)
    modules: dict[str, set[str]] = defaultdict(set)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            modules[f".{node.module}"] |= {a.name for a in node.names if a.name in public}
    for name, module in broadcloth._LAZY.items():
        modules[f".{module}"].add(name)
    modules["."] |= set(broadcloth._MODULES)
    lines = ["import numpy as _np", *imports(modules), "from ._broadcloth import __version__ as __version__"]
    kinds = sorted(set(_KINDS.values()))
    lines += [f"from ._broadcloth import {', '.join(kinds)}", ""]
    placed = set().union(*modules.values())
    for name in sorted(public - placed):
        value = getattr(broadcloth, name)
        if isinstance(value, broadcloth.ufunc):
            lines.append(f"{name}: {_KINDS[value.nin, value.nout]}")
        elif name in ("True_", "False_"):
            lines.append(f"{name}: _np.bool_")
        else:
            lines.append(f"{name} = _np.{'bool_' if name == 'bool' else name}")
    return written(lines, public)


def cuda_namespace() -> str:
    cuda = broadcloth.cuda
    modules: dict[str, set[str]] = defaultdict(set)
    for name, module in cuda._NAMES.items():
        modules[f".{module}"].add(name)
    for name, module in cuda._ELSEWHERE.items():
        if name not in cuda._NAMES:
            modules[".." + module.removeprefix("broadcloth.")].add(name)
    modules["."] |= set(cuda._MODULES)
    language = {name for name in modules["._jit"] if isinstance(getattr(cuda, name), Intrinsic)}
    modules["._jit"] -= language
    names = set().union(*modules.values()) | language | set(cuda._ALIASES)
    lines = [*imports(modules), "", *(f"{name}: _ModuleType" for name in sorted(set(cuda._ALIASES) - set(cuda._NAMES)))]
    lines += [f"{name}: {_LANGUAGE.get(name, '_Intrinsic')}" for name in sorted(language)]
    lines = ["from types import ModuleType as _ModuleType", "", "from ._jit import Dim3 as _Dim3, Intrinsic as _Intrinsic", *lines]
    return written(lines, names)


def distributions() -> str:
    """Methods that give an array where they are given a `size`."""
    lines = [
        _HEADER,
        "from collections.abc import Callable",
        "from typing import Any, TypeVar, overload",
        "",
        "import numpy as np",
        "",
        "from .._broadcloth import ndarray",
        "from ..typing import ArrayLike, DeviceLike, ShapeLike",
        "",
        '_F = TypeVar("_F", bound=Callable[..., Any])',
    ]
    for name, numpy_class in (("Distributions", np.random.Generator), ("LegacyDistributions", np.random.RandomState)):
        lines += ["", f"class {name}:"]
        for row in DISTRIBUTIONS:
            if not hasattr(numpy_class, row.name):
                continue
            found = [p for p in parameters_of(row) if p.name not in ("size", "device", "method")]
            given = ["self", *(f"{p.name}: ArrayLike" for p in found)]
            optional = ["self", *(f"{p.name}: ArrayLike" + ("" if p.default is p.empty else f" = {p.default}") for p in found)]
            method = ["method: str = ..."] if row.name == "multivariate_hypergeometric" else []
            forms = [([*optional, "size: None = None", *method, "*"], "Any"), ([*given, "size: ShapeLike", *method, "*"], "ndarray")]
            if optional != given:
                forms.append(([*optional, "*", "size: ShapeLike"], "ndarray"))
            for parameters, result in forms:
                lines += ["    @overload", f"    def {row.name}({', '.join(parameters)}, device: DeviceLike = None) -> {result}: ..."]
    rows = ["", "class Distribution:", *(f"    {name}: str" for name in Distribution._fields)]
    functions = [
        "",
        "DISTRIBUTIONS: list[Distribution]",
        "def parameters_of(row: Distribution) -> list[Any]: ...",
        "def binder(row: Distribution) -> Any: ...",
        "def on_host(value: Any) -> Any: ...",
        "def on_device(drawn: Any, device: Any) -> Any: ...",
        "def few_by_numpy(numpys: Any, place: int) -> Callable[[_F], _F]: ...",
        "",
    ]
    return "\n".join([*lines, *rows, *functions])


def annotation(given: ast.expr | None, type: str, optional: bool, default: ast.expr | None, name: str) -> str:
    """A parameter's type: what its signature says, else what its C++ type says."""
    if given is not None:
        return ast.unparse(given)
    if name == "out" and type == "ArrayLike":
        return "ndarray | None"
    none = optional or (isinstance(default, ast.Constant) and default.value is None)
    return f"{type} | None" if none and type not in _WITH_NONE and "None" not in type else type


def function(text: str, types: list[str], optional: list[bool], returned: str) -> str:
    """The stub of a function of the extension, with the first line of its documentation."""
    name, rest = text.split("(", 1)
    parameters = rest.split(")", 1)[0]
    (node,) = ast.parse(f"def f({parameters}): ...").body
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    places = iter(zip(types, optional, strict=True))
    items = []
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    for group, values in ((positional, defaults), (given.kwonlyargs, given.kw_defaults)):
        if group is given.kwonlyargs and group:
            items.append("*")
        for arg, default in zip(group, values, strict=True):
            item = f"{arg.arg}: {annotation(arg.annotation, *next(places), default, arg.arg)}"
            items.append(item + (f" = {ast.unparse(default)}" if default is not None else ""))
            if given.posonlyargs and arg is given.posonlyargs[-1]:
                items.append("/")
    line = f"def {name}({', '.join(items)}) -> {returned}:"
    if len(line) > 130:
        line = f"def {name}(\n    " + ",\n    ".join(items) + f",\n) -> {returned}:"
    said = (getattr(broadcloth._c, name).__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    return f'{line}\n    """{said}"""\n' if said else f"{line} ..."


def extension() -> str:
    own = (ROOT / "src" / "bind" / "types.pyi").read_text()
    known = {node.name for node in ast.parse(own).body if isinstance(node, ast.FunctionDef)}
    found = {signature[0].split("(", 1)[0]: signature for signature in broadcloth._c.signatures()}
    functions = [function(*found[name]) for name in sorted(found.keys() - known)]
    return "\n".join(["# ruff: noqa", own, "# Written by scripts/stubs.py from the signatures of src/bind.", "", *functions, ""])


def main() -> int:
    stubs = {
        PACKAGE / "_broadcloth.pyi": extension(),
        PACKAGE / "__init__.pyi": main_namespace(),
        PACKAGE / "cuda" / "__init__.pyi": cuda_namespace(),
        PACKAGE / "random" / "_distributions.pyi": distributions(),
    }
    if "--check" not in sys.argv:
        for path, text in stubs.items():
            path.write_text(text)
        return 0
    stale = [path for path, text in stubs.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        print(f"{path.relative_to(PACKAGE.parent.parent)} is not what scripts/stubs.py writes: run it", file=sys.stderr)
    return len(stale) > 0


if __name__ == "__main__":
    sys.exit(main())
