"""Writes docs/coverage.md, what broadcloth has of NumPy's and CuPy's public names: python scripts/coverage.py [--check]

NumPy's names are those of the installed NumPy; CuPy's are in scripts/cupy_names.txt. `--check` writes nothing and fails when the page is
not what would be written.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import broadcloth as bc

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "coverage.md"

# Names that make no sense here, with the reason.
_HOST = "holds what lives on the host only; `numpy`'s own, see programs.md"
REASONS: dict[str, str] = {
    **dict.fromkeys(
        [
            "numpy.bytes_",
            "numpy.str_",
            "numpy.character",
            "numpy.flexible",
            "numpy.void",
            "numpy.object_",
            "numpy.record",
        ],
        _HOST,
    ),
    **dict.fromkeys(
        [
            "numpy.char",
            "numpy.strings",
            "numpy.ma",
            "numpy.memmap",
            "numpy.matrix",
            "numpy.bmat",
            "numpy.asmatrix",
            "numpy.mat",
        ],
        _HOST,
    ),
    **dict.fromkeys(
        ["numpy.longdouble", "numpy.clongdouble", "numpy.float128", "numpy.float96", "numpy.complex256", "numpy.complex192"],
        "no GPU has such numbers",
    ),
    **dict.fromkeys(
        [
            "numpy.core",
            "numpy.f2py",
            "numpy.ctypeslib",
            "numpy.test",
            "numpy.version",
            "numpy.get_include",
            "numpy.typing",
        ],
        "NumPy's own machinery",
    ),
    **dict.fromkeys(
        ["numpy.info", "numpy.show_runtime", "numpy.dtypes", "numpy.exceptions", "numpy.emath", "numpy.nested_iters", "numpy.nditer"],
        "NumPy's own machinery",
    ),
    **dict.fromkeys(
        ["numpy.getbufsize", "numpy.setbufsize", "numpy.geterrcall", "numpy.seterrcall", "numpy.ufunc_at", "numpy.frompyfunc"],
        "NumPy's own machinery",
    ),
    **dict.fromkeys(["numpy.ScalarType", "numpy.sctypeDict", "numpy.typecodes", "numpy.flatiter"], "NumPy's own tables of types"),
    **dict.fromkeys(
        ["numpy.fft.test", "numpy.linalg.test", "numpy.random.test", "numpy.polynomial.test", "numpy.polynomial.set_default_printstyle"],
        "NumPy's own machinery",
    ),
}
# Keywords that functions have not, with the reason.
KEYWORD_REASONS = {
    ("broadcast_arrays", "subok"): "subclasses are NumPy's",
    ("matmul", "axis"): "NumPy refuses it, too: a matrix has two",
    ("matmul", "keepdims"): "NumPy refuses it, too",
}
_REMOVED = "removed from NumPy 2, and from CuPy with it"
CUPY_REASONS: dict[str, str] = dict.fromkeys(
    [
        "find_common_type",
        "get_array_wrap",
        "issctype",
        "issubclass_",
        "issubsctype",
        "obj2sctype",
        "safe_eval",
        "sctype2char",
        "set_string_function",
        "who",
    ],
    _REMOVED,
)

# NumPy's modules and classes, and ours; None where a module is not there yet.
SPACES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "numpy": lambda: (np, bc),
    "numpy.ndarray": lambda: (np.ndarray, bc.ndarray),
    "numpy.ufunc": lambda: (np.ufunc, bc.ufunc),
    "numpy.linalg": lambda: (np.linalg, _module("linalg")),
    "numpy.fft": lambda: (np.fft, _module("fft")),
    "numpy.random": lambda: (np.random, _module("random")),
    "numpy.random.Generator": lambda: (np.random.Generator, getattr(_module("random"), "Generator", None)),
    "numpy.polynomial": lambda: (np.polynomial, _module("polynomial")),
    "numpy.lib.stride_tricks": lambda: (np.lib.stride_tricks, _module("lib.stride_tricks")),
}


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"broadcloth.{name}")
    except ImportError:
        return None


def public_names(space: Any) -> list[str]:
    names = getattr(space, "__all__", None) or dir(space)
    return sorted({n for n in names if not n.startswith("_")} - {"annotations"})


def _parameters(thing: Any) -> list[str] | None:
    """The names of a callable's parameters; None where nothing is known of them."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values()):
        return None
    return [p.name for p in signature.parameters.values() if p.kind in kinds and p.name != "self"]


def missing_keywords(theirs: Any, ours: Any) -> list[str]:
    """Keywords of NumPy's function that ours does not take."""
    wanted, have = _parameters(theirs), _parameters(ours)
    if wanted is None or have is None or isinstance(theirs, type):
        return []
    return [name for name in wanted if name not in have]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{n}`" for n in names) or "-"


def _because(name: str, keyword: str) -> str:
    reason = KEYWORD_REASONS.get((name, keyword))
    return f" ({reason})" if reason else ""


def section(title: str, theirs: Any, ours: Any) -> list[str]:
    """The lines of one module or class."""
    names = public_names(theirs)
    has = [n for n in names if ours is not None and hasattr(ours, n)]
    without_reason = [n for n in names if n not in has and f"{title}.{n}" not in REASONS]
    reasons: dict[str, list[str]] = {}
    for n in names:
        if n not in has and f"{title}.{n}" in REASONS:
            reasons.setdefault(REASONS[f"{title}.{n}"], []).append(n)
    lines = [f"## {title}", "", f"{len(has)} of {len(names)} names; {len(names) - len(has) - len(without_reason)} make no sense here.", ""]
    lines += [f"Has: {_listed(has)}", "", f"Has not: {_listed(without_reason)}", ""]
    lines += [f"Not here, {reason}: {_listed(found)}\n" for reason, found in reasons.items()]
    keywords = {n: missing_keywords(getattr(theirs, n), getattr(ours, n)) for n in has}
    if any(keywords.values()):
        lines += ["Without a keyword of NumPy's:", ""]
        lines += [f"- `{n}`: {', '.join(f'`{k}`' + _because(n, k) for k in missing)}" for n, missing in keywords.items() if missing]
        lines.append("")
    return lines


def cupy_section() -> list[str]:
    wanted: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "cupy_names.txt").read_text().splitlines():
        space, _, names = line.partition(": ")
        wanted[space] = names.split()
    lines = ["## CuPy", ""]
    for space, names in wanted.items():
        ours = {"cupy": bc, "cupy.ndarray": bc.ndarray}.get(space) or _module("cupyx" if space == "cupyx" else space.replace("cupy.", ""))
        has = [n for n in names if ours is not None and hasattr(ours, n)]
        gone = [n for n in names if n not in has and n in CUPY_REASONS]
        left = [n for n in names if n not in has and n not in CUPY_REASONS]
        lines += [f"`{space}`: {len(has)} of {len(names)} names. Has not: {_listed(left)}"]
        lines += [f"{_REMOVED.capitalize()}: {_listed(gone)}"] if gone else []
        lines.append("")
    return lines


_HEAD = """# Coverage

Written by `scripts/coverage.py`; a test fails when a name disappears or this page is not what the script writes.
Names are those of NumPy {version} and CuPy. Each name here works on the CPU and on a GPU, unless its documentation says otherwise; what is
missing runs on the host where a program runs by `python -m broadcloth` ([programs.md](programs.md)).
"""


def page() -> str:
    lines = [_HEAD.format(version=".".join(np.__version__.split(".")[:2]))]
    for title, spaces in SPACES.items():
        lines += section(title, *spaces())
    return "\n".join([*lines, *cupy_section()]).rstrip() + "\n"


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        print("docs/coverage.md is not what scripts/coverage.py writes: run it", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
