"""Call forms of NumPy's functions in compiled functions, against NumPy.

A form is a function, the kinds of its operands (numbers, arrays without dimensions, tuples, lists, empty, F-ordered and strided arrays …)
and its options by position or by name. What may happen: the value that NumPy gives, an error where NumPy has one, or a `TypingError` of
ours. A process of its own runs the forms and is started again behind a form that kills it.

`python tests/call_forms.py --count 2000 --seed 1` runs many; `--form "np.outer(x, y)" --kinds number,list` runs one.
"""

from __future__ import annotations

import argparse
import json
import linecache
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

KINDS = (
    "number",
    "whole",
    "a0",
    "i0",
    "tuple",
    "list",
    "whole_list",
    "empty",
    "a1",
    "i1",
    "b1",
    "f4",
    "reversed",
    "strided",
    "a2",
    "i2",
    "F2",
    "T2",
    "empty2",
    "a3",
    "c1",
)

# Functions of one array, with what may follow it.
ONE = {
    **dict.fromkeys(
        ("sum", "prod", "mean", "any", "all", "min", "max", "amin", "amax", "argmin", "argmax"),
        (
            "",
            ", axis=0",
            ", axis=-1",
            ", 1",
            ", axis=None",
            ", keepdims=True",
            ", axis=0, keepdims=True",
            ", axis=(0, 1)",
            ", None",
            ", out=None",
        ),
    ),
    **dict.fromkeys(("std", "var"), ("", ", axis=0", ", ddof=1", ", 0", ", None, None", ", axis=-1, ddof=1", ", where=True")),
    **dict.fromkeys(
        ("nansum", "nanmean", "nanmin", "nanmax", "nanprod", "nanstd", "nanvar", "nanmedian", "nanargmin", "nanargmax"),
        ("", ", axis=0", ", 0", ", axis=None"),
    ),
    **dict.fromkeys(("cumsum", "cumprod", "nancumsum"), ("", ", axis=0", ", 1", ", axis=None", ", dtype=np.float64")),
    **dict.fromkeys(("sort", "argsort"), ("", ", axis=0", ", 0", ", axis=None", ", -1", ", kind='stable'", ", axis=1")),
    **dict.fromkeys(("zeros_like", "ones_like"), ("", ", dtype=np.int64", ", np.float32", ", order='C'", ", shape=None")),
    "count_nonzero": ("", ", axis=0", ", keepdims=False"),
    "full_like": (", 2", ", fill_value=1.5", ", 2, dtype=np.int32"),
    "ravel": ("", ", order='C'", ", order='F'", ", 'F'"),
    "reshape": (", -1", ", (1, -1)", ", (2, -1)", ", (-1, -1)", ", (3, 2), order='F'", ", (-1,), 'C'"),
    "transpose": ("", ", (1, 0)", ", (-1, 0)", ", (-1, 0, 1)", ", axes=(0, 1)", ", (0, 0)", ", None"),
    "expand_dims": (", 0", ", axis=-1", ", 1", ", (0, 1)"),
    "squeeze": (", 0", ", axis=0"),
    "moveaxis": (", 0, -1", ", source=0, destination=1"),
    "swapaxes": (", 0, 1", ", axis1=0, axis2=-1"),
    "rollaxis": (", 1", ", 1, 0", ", axis=0, start=1"),
    "flip": ("", ", 0", ", axis=-1", ", axis=(0, 1)", ", axis=None"),
    **dict.fromkeys(
        ("fliplr", "flipud", "nonzero", "flatnonzero", "argwhere", "unique", "shape", "ndim", "isscalar", "iscomplexobj"), ("",)
    ),
    "rot90": ("", ", 1", ", k=2", ", k=-1"),
    "roll": (", 1", ", shift=-1", ", 1, axis=0", ", 1, 0"),
    "tile": (", 2", ", (2,)", ", (2, 1)", ", reps=3"),
    "repeat": (", 2", ", repeats=2", ", 2, axis=0", ", 2, 0"),
    "size": ("", ", 0", ", axis=-1"),
    "diff": ("", ", 1", ", n=2", ", axis=0", ", 1, 0"),
    "ediff1d": ("",),
    "ptp": ("", ", axis=0"),
    "median": ("", ", axis=0"),
    "average": ("", ", 0", ", axis=0"),
    **dict.fromkeys(("percentile", "nanpercentile"), (", 50", ", q=25.0", ", (25, 75)", ", 50, 0")),
    "quantile": (", 0.5", ", q=[0.25, 0.75]", ", 0.5, axis=0"),
    "bincount": ("", ", minlength=5", ", None, 5"),
    "histogram": ("", ", 3", ", bins=2", ", density=True"),
    "diag": ("", ", 1", ", k=-1"),
    "diagflat": ("", ", 1"),
    **dict.fromkeys(("tril", "triu"), ("", ", 1", ", k=-1")),
    "trace": ("", ", 1", ", offset=-1", ", axis1=1, axis2=0"),
    "vander": ("", ", 3", ", N=2", ", increasing=True"),
    **dict.fromkeys(("round", "around"), ("", ", 1", ", decimals=2", ", -1", ", decimals=-1")),
    "clip": (", 1, 2", ", a_min=1, a_max=2", ", None, 2", ", min=1", ", 1.5, None"),
    "nan_to_num": ("", ", nan=1.0", ", copy=True"),
    "take": (", 0", ", [0, 1]", ", (0, 1)", ", -1", ", 0, axis=0", ", indices=0"),
    "delete": (", 0", ", [0, 1]", ", obj=1", ", 0, axis=0"),
    "insert": (", 0, 1", ", 1, 2.0"),
    "array": ("", ", dtype=np.float64", ", copy=True"),
    **dict.fromkeys(("asarray", "ascontiguousarray", "copy", "atleast_1d", "atleast_2d"), ("",)),
    "broadcast_to": (", (3,)", ", (2, 3)", ", shape=(2, 3)"),
    "resize": (", (2, 2)",),
    "array_split": (", 2", ", 2, axis=0"),
    "linalg.norm": ("", ", 2", ", ord=1", ", axis=0"),
    **dict.fromkeys(("linalg.inv", "linalg.det", "linalg.cholesky", "linalg.eigvalsh"), ("",)),
    **dict.fromkeys(("sqrt", "abs", "sin", "exp", "isnan", "floor", "negative", "sign"), ("",)),
}
# Functions of two.
TWO = {
    **dict.fromkeys(("outer", "dot", "vdot", "inner", "kron", "matmul", "cross"), ("",)),
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "power", "hypot", "equal", "less"), ("",)),
    "searchsorted": ("", ", side='right'", ", 'left'", ", side='bogus'"),
    "digitize": ("", ", right=True"),
    **dict.fromkeys(("append",), ("", ", axis=0", ", None")),
    **dict.fromkeys(("isclose", "allclose"), ("", ", rtol=0.1", ", 0.0, 1.0", ", equal_nan=True")),
    "array_equal": ("", ", equal_nan=True"),
    **dict.fromkeys(("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"), ("",)),
    **dict.fromkeys(("convolve", "correlate"), ("", ", 'same'", ", mode='valid'", ", mode='bogus'")),
    "linalg.solve": ("",),
    "interp": (", (0.0, 1.0, 2.0)",),
}
JOIN = {
    "concatenate": ("", ", axis=0", ", 1", ", axis=None"),
    "stack": ("", ", axis=1", ", -1"),
    "vstack": ("",),
    "hstack": ("",),
    "column_stack": ("",),
    "dstack": ("",),
}
REDUCING = ("sum", "prod", "mean", "any", "all", "min", "max", "argmin", "argmax", "std", "var", "cumsum", "argsort")
SHAPING = ("ravel", "squeeze", "swapaxes", "take", "repeat", "nonzero", "round", "reshape", "transpose")
METHODS = {
    **{m: ONE[m] for m in REDUCING + SHAPING},
    "flatten": ("", ", order='F'"),
    "astype": (", np.float32", ", np.int64", ", 'float64'", ", np.float64, casting='safe'", ", dtype=np.int32"),
    "copy": ("", ", order='F'"),
    "item": ("",),
    "dot": (", 2.0",),
}  # fmt: skip
OPERATORS = (
    *("x + y", "x * y", "x < y", "x == y", "y in x", "x @ y", "-x", "~x", "x ** 2", "x // 2", "np.where(x > 1, x, y)"),
    *("x[0]", "x[::-1]", "x[-1:]", "len(x)", "sum(x)", "max(x)", "abs(x)", "round(x, 1)", "float(x)", "bool(x)"),
    *("x.T", "x.shape", "x.size", "x.real"),
)


# What compiled functions do otherwise than NumPy: patterns of the form, of its kinds and of the words, with the reason.
KNOWN = (
    (r"np\.searchsorted|np\.interp", r".*", r"gives", "places in a sequence that is not sorted mean nothing"),
    (r"np\.cross", r".*(a3|T2|i2)", r"raises ValueError", "vectors of two elements give numbers: dimensions come before extents"),
    (r"x\.swapaxes\(axis1=", r".*", r"gives .*NumPy raises TypeError", "methods take their parameters by name, too"),
    (r"x\.(T|shape|size|real)", r"number|whole", r"gives .*NumPy raises AttributeError", "numbers have the attributes of NumPy's"),
)


def known(form: tuple[str, tuple[str, ...], str]) -> bool:
    expression, kinds, words = form
    found = (expression, ",".join(kinds), words.replace("\n", " "))
    return any(all(re.match(p, part) for p, part in zip(row, found, strict=False)) for row in KNOWN)


def values() -> dict[str, object]:
    import numpy as np

    a = np.array([3.0, 1.0, 2.0, 0.5, 2.0])
    m = np.array([[4.0, 1.0, 2.0], [0.5, 3.0, 1.0]])
    return {
        "number": 2.5, "whole": 3, "a0": np.array(2.5), "i0": np.array(2), "tuple": (3.0, 1.0, 2.0), "list": [3.0, 1.0, 2.5],
        "whole_list": [3, 1, 2], "empty": np.zeros(0), "a1": a, "i1": np.array([3, 1, 2, 1]), "b1": np.array([True, False, True]),
        "f4": a.astype(np.float32), "reversed": a[::-1], "strided": np.arange(10.0)[::3], "a2": m, "i2": np.array([[3, 1], [2, 5]]),
        "F2": np.asfortranarray(m), "T2": np.array([[2.0, 1.0], [1.0, 3.0]]).T, "empty2": np.zeros((0, 3)),
        "a3": np.arange(12.0).reshape(2, 3, 2) % 5, "c1": np.array([1 + 2j, 3 - 1j, 0.5j]),
        # Beside KINDS.
        "u1": np.array([3, 250, 7], np.uint8), "below": np.array([3, -1, 2]), "b2": np.array([[True, False], [False, False]]),
        "nan1": np.array([np.nan, 1.0, np.nan, 2.0]), "nan2": np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, 5.0]]),
        "inf4": np.array([np.inf, -np.inf, np.nan, 1], np.float32), "one": np.array([7.5]), "z0": np.array(-1.0),
        "mask": np.array([True, False, True, False, True]), "sorted": np.array([1.0, 2.0, 3.0, 4.0]),
    }  # fmt: skip


def forms() -> list[tuple[str, tuple[str, ...]]]:
    """Every form, as an expression of x (and y) and the kinds of these."""
    made: list[tuple[str, tuple[str, ...]]] = []
    for name, options in ONE.items():
        made += [(f"np.{name}(x{o})", (k,)) for o in options for k in KINDS]
    for name, options in TWO.items():
        made += [(f"np.{name}(x, y{o})", (k, j)) for o in options for k in KINDS for j in KINDS]
    for name, options in JOIN.items():
        made += [(f"np.{name}((x, y){o})", (k, j)) for o in options for k in KINDS for j in KINDS]
    for name, options in METHODS.items():
        made += [
            (f"x.{name}({o[2:]})", (k,)) for o in options for k in KINDS if k not in ("number", "whole", "tuple", "list", "whole_list")
        ]
    made += [(e, (k, j)) for e in OPERATORS if "y" in e for k in KINDS for j in KINDS]
    made += [(e, (k,)) for e in OPERATORS if "y" not in e for k in KINDS]
    return made


def sample(count: int, seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """Forms of every function in turn, so that few cover much."""
    chosen = random.Random(seed)
    by_name: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for form in forms():
        by_name.setdefault(form[0].split("(")[0], []).append(form)
    for group in by_name.values():
        chosen.shuffle(group)
    groups = [g for _, g in sorted(by_name.items())]
    made: list[tuple[str, tuple[str, ...]]] = []
    while len(made) < count and any(groups):
        for group in groups:
            if group and len(made) < count:
                made.append(group.pop())
    return made


def same(expected: object, got: object) -> bool:
    import numpy as np

    if isinstance(expected, tuple | list) or isinstance(got, tuple | list):
        if not (isinstance(expected, tuple | list) and isinstance(got, tuple | list)) or len(expected) != len(got):
            return False
        return all(same(e, g) for e, g in zip(expected, got, strict=True))
    if isinstance(expected, str) or expected is None:
        return expected == got
    e, g = np.asarray(expected), np.asarray(got)
    kinds = {"u": "i"}
    if e.shape != g.shape or kinds.get(e.dtype.kind, e.dtype.kind) != kinds.get(g.dtype.kind, g.dtype.kind):
        return False
    tolerance = 1e-5 if np.float32 in (e.dtype, g.dtype) else 1e-9
    return bool(np.allclose(e, g, rtol=tolerance, atol=tolerance, equal_nan=True))


def function(source: str, **names: object) -> Callable[..., object]:
    """The function `f` of a text, which the compiler can read again."""
    import numpy as np

    file = f"<form {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": "forms", **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def outcome(expression: str, kinds: tuple[str, ...]) -> str:
    """ "" where all is well, else what is wrong."""

    import broadcloth as bc
    from broadcloth.exceptions import TypingError

    names = ("x", "y")[: len(kinds)]
    f = function(f"def f({', '.join(names)}):\n    return {expression}\n")
    reference = f
    if "argsort(" in expression and "kind=" not in expression:
        # Equal elements may come in any order, and do in NumPy's; here their order is that of a stable sort.
        stable = (expression[:-1] + ", kind='stable')").replace("(, ", "(")
        reference = function(f"def f({', '.join(names)}):\n    return {stable}\n")
    given = [values()[k] for k in kinds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected, wanted = reference(*given), ""
        except Exception as error:
            expected, wanted = None, type(error).__name__
        try:
            got = bc.njit(f)(*[values()[k] for k in kinds])
        except TypingError as error:
            text = str(error)
            bad = any(word in text for word in ("fault of broadcloth", "error:", "does not compile"))
            return f"refused by the C++ compiler (NumPy: {wanted or repr(expected)}): {text[:2000]}" if bad else ""
        except Exception as error:
            if wanted:
                return ""
            return f"raises {type(error).__name__}: {error}; NumPy gives {expected!r}"
    if wanted:
        return f"gives {got!r}; NumPy raises {wanted}"
    return "" if same(expected, got) else f"gives {got!r}; NumPy {expected!r}"


def run(cases: list[tuple[str, tuple[str, ...]]], timeout: float = 600) -> list[tuple[str, tuple[str, ...], str]]:
    """What is wrong with the forms, each with its words."""
    wrong: list[tuple[str, tuple[str, ...], str]] = []
    left = list(cases)
    while left:
        worker = subprocess.run(
            [sys.executable, __file__, "--worker"], input=json.dumps(left), capture_output=True, text=True, timeout=timeout
        )
        lines = [line[5:] for line in worker.stdout.splitlines() if line.startswith("form ")]
        for form, words in zip(left, map(json.loads, lines), strict=False):
            if words:
                wrong.append((*form, words))
        if len(lines) == len(left):
            break
        wrong.append((*left[len(lines)], f"ends the process ({worker.returncode}): {worker.stderr[-300:]}"))
        left = left[len(lines) + 1 :]
    return wrong


def work() -> None:
    for expression, kinds in json.load(sys.stdin):
        print("form " + json.dumps(outcome(expression, tuple(kinds))), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--form")
    parser.add_argument("--kinds", default="a1")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work()
        return 0
    cases = [(options.form, tuple(options.kinds.split(",")))] if options.form else sample(options.count, options.seed)
    wrong = run(cases, 24 * 3600)
    if not options.form:
        wrong = [form for form in wrong if not known(form)]
    for expression, kinds, words in wrong:
        print(f"{expression} of {', '.join(kinds)}: {words}")
    print(f"{len(cases)} forms, {len(wrong)} wrong beside what is known")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
