"""Call forms of NumPy's functions in compiled functions, against NumPy.

A form is a function, the kinds of its operands (numbers, arrays without dimensions, tuples, lists, empty, F-ordered and strided arrays …)
and its options by position or by name. What may happen: the value that NumPy gives, an error where NumPy has one, or a `TypingError` of
ours. A process of its own runs the forms and is started again behind a form that kills it.

`python tests/call_forms.py --all --jobs 2` runs the matrix (call_form_matrix.py), `--count 2000 --seed 1` a part of it,
`--only np.sort,x.sort` that of some functions; `--form "np.outer(x, y)" --kinds number,list` runs one form.
"""

from __future__ import annotations

import argparse
import json
import linecache
import random
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import call_form_matrix
from call_form_matrix import Form

# What may happen. `memory`: the result is a view where NumPy's is none, or the other way around.
RIGHT = ("equal", "both raise", "refused")
OUTCOMES = (*RIGHT, "value", "type", "memory", "accepted", "raises", "compiler", "crash")

_NUMBER = r"^(number|whole|negative|true|f4s|z|i32s|u8s|nan|inf|zero|half)\b"

# What compiled functions do otherwise than NumPy: patterns of the outcome, the form, its kinds and the words, with the reason.
KNOWN = (
    ("value", r"(np|x)\.searchsorted|np\.interp", "", "", "places in a sequence that is not sorted mean nothing"),
    ("raises", r"np\.cross", "a3|T2|i2", "ValueError", "vectors of two elements give numbers: dimensions come before extents"),
    ("raises", r"np\.(roots|linalg\.eigvals)", "", "complex", "whether results are complex is known before values are"),
    ("raises|accepted", r"np\.squeeze|np\.vsplit", "", "", "dimensions are known before extents"),
    ("accepted", r"x\.", _NUMBER, "NumPy raises AttributeError", "numbers have the attributes of NumPy's"),
    ("accepted", r".*x(\.flat)?\[", "", "NumPy raises IndexError", "bounds of single elements are looked at with boundscheck=True"),
    ("accepted", r"math\.", "", "NumPy raises (ValueError|OverflowError)", "NaN and infinity where Python raises, as in Numba"),
    ("accepted", r"math\.", "f4s|i32s|u8s|a0|i0", "NumPy raises TypeError", "NumPy's scalars and 0-d arrays are taken as numbers"),
    ("accepted", r"np\.u?int\d+\(|math\.(ceil|floor|trunc)", "nan|inf|negative", "", "conversions of what does not fit wrap around"),
    ("value", r"np\.random\.binomial\(.*100", "", "", "only the distribution is NumPy's"),
    ("value", r"np\.(arg)?partition|x\.(arg)?partition", "", "", "the order on both sides of the kth element means nothing"),
    (
        "type",
        r"",
        r"f4.*,(number|negative|nan|inf|half|z)|(number|negative|nan|inf|half|z).*,f4",
        "",
        "numbers are float64 as arguments, not weak",
    ),
    ("type", r"np\.(nan)?(quantile|percentile)", "", "", "quantiles of integers are floats"),
    ("accepted", r".*(/|%|divmod|\*\*|pow)", "", "gives np.*ZeroDivisionError", "kernels divide as CUDA does"),
    ("accepted", r"math\.log\(x, ", "true|inf", "gives np.*ZeroDivisionError", "kernels divide as CUDA does, by the logarithm of 1 too"),
    ("type", r"sum\(x(, 1)?\)", "empty", r"gives [01]\.0; NumPy [01]", "the type of a sum is known before whether anything is added"),
    ("value", r"np\.nextafter", "u8s", "gives np.float16", "whole numbers are int64 as arguments, not weak: the step is float64's"),
    ("value", r"x is (not )?y", "(nan|inf|half),", "", "whether equal numbers are one object means nothing"),
    (
        "accepted",
        r"(x|y|2) *\*\*|pow|divmod|int\(|round\(|x //|x %",
        "",
        "NumPy raises (ValueError|Over)",
        "NaN, infinity: no error",
    ),
    ("value|type", r"x \*\*|pow\(", "negative|whole|zero|true", "", "the type of a power is that of its operands: (-8) ** 0.5 is NaN"),
    ("value|type", r"(min|max)\(|x (and|or) |x if ", "", "", "the type is that of all operands"),
    ("raises", r"math\.(perm|comb|factorial|isqrt)", "", "OverflowError", "integers have 64 bits: what does not fit is an error"),
    ("value|raises|accepted", r".*<<|.*\*\*|pow\(", "", "", "integers have 64 bits, and wrap around as NumPy's"),
    ("value", r"sum\(|math\.prod", "u1|u8s", "", "Python's sum and product of NumPy's narrow integers are computed in 64 bits"),
    ("raises", r"divmod|x (%|//)", "", "raises ZeroDivisionError", "NumPy's numbers divide as Python's: by zero is an error"),
    ("raises", r"np\.(nan)?(quantile|percentile)", "b1", "booleans cannot be interpolated", "NumPy takes them at the ends only"),
    ("raises", r"np\.matmul\(.*out=", "", "shape of out", "the result goes into an out of its shape, and is not spread over a larger one"),
    ("raises", r"np\.gradient", _NUMBER, "at least two", "a number has no gradient; NumPy gives an empty tuple"),
    ("accepted", r"np\.(\w*split|take_along_axis|rollaxis)", "", "NumPy raises AttributeError", "lists and numbers are taken as arrays"),
    ("type", r"np\.(cov|corrcoef)", "c1", "", "the variance of complex numbers is real"),
    ("type|raises", r"np\.(cov|corrcoef)\(.*dtype", "empty2", "", "the type of a result is known before the extents"),
    (
        "memory",
        r"np\.(rot90|diag|diff|flip|squeeze|atleast_|broadcast|\w*\d+\(|bool_\()|x\.(diagonal|astype|flat)",
        "",
        "",
        "copies where NumPy gives views",
    ),
    ("memory", r"np\.(array|asarray|real)\(", "a0|i0", "", "arrays without dimensions are read as numbers, so they are copied"),
    ("memory", r"(np|x)\.(reshape|ravel|\w*split)", "reversed|strided|T2|S2|F2", "", "reshaped arrays are contiguous, so they are copies"),
    ("type", r"np\.(float32|uint8|int32|bool_|complex64|int64|float64)\(", "", "", "numbers come back as Python's"),
    ("value", r"~x$", "^true$", "", "the opposite of a boolean, as NumPy's, where Python gives an integer"),
    ("type", r"x\.(real|imag)$|abs\(x\)$", "^true$", "", "what NumPy's booleans give, booleans"),
    ("value", r"np\.cov|sum\(x(\)|, 1|, start)", "empty2", "", "dimensions are known before extents"),
    ("value", r"[-~]x$|x [-+*] ", "u8s|i32s", "", "numbers are computed in 64 bits, as Numba's"),
    (
        "value|type",
        r"",
        r"u1.*,(number|whole|negative|zero)|(number|whole|negative|zero).*,u1",
        "",
        "numbers are int64 as arguments, not weak",
    ),
    ("value", r"np\.linalg\.svd", "", "", "the signs of singular vectors mean nothing"),
    ("raises", r"np\.linalg\.matrix_rank", "a3", "no stack of them", "one matrix, which the words say"),
    ("value", r"np\.(nan)?(median|quantile|percentile)", "", "^leaves", "nothing is overwritten, which NumPy may do"),
    ("accepted", r"(np|x)\.(arg)?sort", "", "NumPy raises ValueError", "kind= and stable= together, which say the same"),
    ("raises", r"np\.nan_to_num", "a0|i0", "cannot be changed in place", "arrays without dimensions are read as numbers"),
    ("type", r"np\.polyval", "^empty$", "", "the type of a polynomial without coefficients"),
    ("accepted", r"np\.(power|ldexp)", "i32s|negative", "NumPy raises ValueError", "kernels raise nothing"),
    ("value", r"x is y$", "f4s|i32s|u8s", "", "numbers are values, which have no identity"),
    ("value", r"isinstance\(", "f4s|i32s|u8s", "", "numbers of every width are instances of float and int"),
    ("value", r"hash\(", "tuple|nan", "", "hashes of tuples are others, and Python's of a NaN is its address"),
)


def known(form: Form, what: str, words: str) -> bool:
    """Whether the outcome of a form is one of KNOWN."""
    found = (what, form[0].removeprefix("kernel "), ",".join(form[1]), words.replace("\n", " "))
    return any(
        re.fullmatch(row[0], found[0]) and re.match(row[1], found[1]) and re.search(row[2], found[2]) and re.search(row[3], found[3])
        for row in KNOWN
    )


NAMES = ("x", "y", "z")


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
        "S2": np.arange(24.0).reshape(4, 6)[::2, ::-2] % 5, "negative": -2.5, "true": True, "f4s": np.float32(1.5), "z": 1 + 2j,
        "i32s": np.int32(-7), "u8s": np.uint8(200), "nan": float("nan"), "inf": float("inf"), "zero": 0, "half": 0.5, "seed": 7,
        # For single forms.
        "u1": np.array([3, 250, 7], np.uint8), "below": np.array([3, -1, 2]), "b2": np.array([[True, False], [False, False]]),
        "nan1": np.array([np.nan, 1.0, np.nan, 2.0]), "nan2": np.array([[np.nan, 1.0, 2.0], [3.0, np.nan, 5.0]]),
        "inf4": np.array([np.inf, -np.inf, np.nan, 1], np.float32), "one": np.array([7.5]), "z0": np.array(-1.0),
        "c3": np.arange(18.0).reshape(2, 3, 3)[:, :2, :2] % 5,
        "mask": np.array([True, False, True, False, True]), "sorted": np.array([1.0, 2.0, 3.0, 4.0]),
    }  # fmt: skip


def sample(count: int, seed: int) -> list[Form]:
    """Forms of every function in turn, so that few cover much; those of one function then stand together, which compiles faster."""
    by_name: dict[str, list[Form]] = {}
    for form in call_form_matrix.forms(seed=seed) + call_form_matrix.kernel_forms(seed=seed):
        by_name.setdefault(form[0].split("(")[0], []).append(form)
    chosen = random.Random(seed)
    for group in by_name.values():
        chosen.shuffle(group)
    groups = [g for _, g in sorted(by_name.items())]
    made: list[Form] = []
    while len(made) < count and any(groups):
        for group in groups:
            if group and len(made) < count:
                made.append(group.pop())
    return sorted(made, key=lambda form: form[0].split("(")[0])


def differs(expected: object, got: object, narrow: bool = False) -> str:
    """ "" where both are the same, else what is not: "value" or "type"."""
    import numpy as np

    if isinstance(expected, Iterator) and isinstance(got, Iterator):
        expected, got = list(expected), list(got)
    if isinstance(expected, tuple | list) or isinstance(got, tuple | list):
        if isinstance(expected, tuple) != isinstance(got, tuple) or not isinstance(got, tuple | list):
            return "type"
        if len(expected) != len(got):  # type: ignore[arg-type]
            return "value"
        found = [differs(e, g, narrow) for e, g in zip(expected, got, strict=True)]  # type: ignore[call-overload]
        return "value" if "value" in found else max(found, default="")
    if isinstance(expected, str | None | type | np.dtype) or isinstance(got, str | None | type | np.dtype):
        return "" if expected == got else "value"
    if not isinstance(expected, np.ndarray | np.generic | bool | int | float | complex):
        return "" if type(expected).__name__ == type(got).__name__ else "type"
    e, g = np.asarray(expected), np.asarray(got)
    if e.shape != g.shape:
        return "value"
    if e.dtype.kind != g.dtype.kind and {e.dtype.kind, g.dtype.kind} != {"i", "u"}:
        return "type" if "O" not in (e.dtype.kind, g.dtype.kind) and np.allclose(e, g, rtol=1e-5, equal_nan=True) else "value"
    if "O" in (e.dtype.kind, g.dtype.kind):  # integers of more than 64 bits
        return "" if expected == got else "value"
    tolerance = 1e-5 if narrow or e.dtype.itemsize < 8 or g.dtype.itemsize < 8 or np.complex64 in (e.dtype, g.dtype) else 1e-9
    if not np.allclose(e, g, rtol=tolerance, atol=tolerance, equal_nan=True):
        return "value"
    arrays = isinstance(expected, np.ndarray), isinstance(got, np.ndarray)
    # Numbers come back as Python's, and an array without dimensions stands where NumPy gives a number.
    return "type" if all(arrays) and e.dtype != g.dtype or (arrays[0] and not arrays[1] and e.ndim > 0) else ""


def shared(result: object, operands: list[Any]) -> list[bool]:
    """Which operands an array shares memory with."""
    import numpy as np

    if not isinstance(result, np.ndarray) or result.size == 0:
        return [False] * len(operands)
    return [isinstance(x, np.ndarray) and np.shares_memory(result, x) for x in operands]


def function(source: str, **names: object) -> Callable[..., object]:
    """The function `f` of a text, which the compiler can read again."""
    import functools
    import math
    import operator

    import numpy as np

    file = f"<form {len(linecache.cache)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "math": math, "functools": functools, "operator": operator, "__name__": "forms", **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def element_of_kernel(expression: str, names: tuple[str, ...], operands: list[Any], expected: object) -> object:
    """What a `cuda.jit` kernel writes, on the CPU."""
    import numpy as np

    import broadcloth as bc

    dtype = np.asarray(expected).dtype
    out = np.zeros(1, dtype if dtype.kind in "biufc" else np.float64)
    f = function(f"def f(out, {', '.join(names)}):\n    out[0] = {expression}\n")
    with bc.device("cpu"):
        bc.cuda.jit(f)[1, 1](out, *operands)
    return out[0]


def form_function(expression: str, kinds: tuple[str, ...]) -> Callable[..., object]:
    seeded = "    np.random.seed(x)\n" if kinds[0] == "seed" else ""
    return function(f"def f({', '.join(NAMES[: len(kinds)])}):\n{seeded}    return {expression}\n")


def reference(expression: str, kinds: tuple[str, ...], operands: list[Any]) -> tuple[object, str]:
    """What NumPy gives, or the name of what it raises."""
    tried = [expression]
    if "argsort(" in expression and "kind=" not in expression:
        # Equal elements may come in any order, and do in NumPy's; here their order is that of a stable sort.
        tried.insert(0, (expression[:-1] + ", kind='stable')").replace("(, ", "("))
    wanted = ""
    for each in tried:
        try:
            return form_function(each, kinds)(*operands), ""
        except Exception as error:
            wanted = type(error).__name__
    return None, wanted


def outcome(expression: str, kinds: tuple[str, ...]) -> tuple[str, str]:
    """What happened, one of OUTCOMES, and its words."""
    import broadcloth as bc
    from broadcloth.exceptions import TypingError

    kernel = expression.startswith("kernel ")
    expression = expression.removeprefix("kernel ")
    theirs, ours = [values()[k] for k in kinds], [values()[k] for k in kinds]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, wanted = reference(expression, kinds, theirs)
        try:
            if kernel:
                got = element_of_kernel(expression, NAMES[: len(kinds)], ours, expected)
            else:
                got = bc.njit(form_function(expression, kinds))(*ours)
        except TypingError as error:
            text = str(error)
            if any(word in text for word in ("fault of broadcloth", "error:", "does not compile")):
                return "compiler", f"refused by the C++ compiler (NumPy: {wanted or repr(expected)}): {text[:2000]}"
            return ("both raise", "") if wanted else ("refused", text.split("\n")[0])
        except Exception as error:
            if wanted:
                return "both raise", ""
            return "raises", f"raises {type(error).__name__}: {error}; NumPy gives {expected!r}"
    if wanted:
        return "accepted", f"gives {got!r}; NumPy raises {wanted}"
    return compared(expression, kinds, (expected, theirs), (got, ours), kernel)


def compared(
    expression: str, kinds: tuple[str, ...], numpy: tuple[object, list[Any]], compiled: tuple[object, list[Any]], kernel: bool = False
) -> tuple[str, str]:
    """The outcome of a form that gave a result: results and operands, NumPy's and ours."""
    import numpy as np

    (expected, theirs), (got, ours) = numpy, compiled
    if expression.startswith("np.empty"):  # their elements mean nothing
        expected, got = (a.shape + (str(a.dtype),) if isinstance(a, np.ndarray) else a for a in (expected, got))
    different = differs(expected, got, any(k in ("f4s", "f4") for k in kinds))
    if different:
        return different, f"gives {got!r}; NumPy {expected!r}"
    if any(differs(e, g) for e, g in zip(theirs, ours, strict=True)):
        return "value", f"leaves {ours!r}; NumPy {theirs!r}"
    if not kernel and shared(expected, theirs) != shared(got, ours):
        return "memory", f"shares memory with operands: {shared(got, ours)}; NumPy's {shared(expected, theirs)}"
    return "equal", ""


def equal_together(cases: list[Form]) -> set[int]:
    """The places of forms that are found equal when all that NumPy takes are compiled in one text, which is faster than each alone."""
    import broadcloth as bc
    from broadcloth.exceptions import TypingError

    tried = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place, (expression, kinds) in enumerate(cases):
            if expression.startswith("kernel ") or kinds[0] == "seed":
                continue
            theirs = [values()[k] for k in kinds]
            expected, wanted = reference(expression, kinds, theirs)
            if not wanted:
                tried.append((place, form_function(expression, kinds), (expected, theirs)))
        while tried:
            ours = [[values()[k] for k in cases[place][1]] for place, _, _ in tried]
            names = [[f"x{i}_{j}" for j in range(len(operands))] for i, operands in enumerate(ours)]
            calls = ", ".join(f"f{i}({', '.join(n)})" for i, n in enumerate(names))
            every = ", ".join(n for each in names for n in each)
            f = function(f"def f({every}):\n    return ({calls},)\n", **{f"f{i}": bc.njit(t[1]) for i, t in enumerate(tried)})
            try:
                results: Any = bc.njit(f)(*(v for operands in ours for v in operands))
            except TypingError as error:
                left = [t for t in tried if t[1].__code__.co_filename not in str(error)]
                if len(left) == len(tried):
                    return set()
                tried = left
                continue
            except Exception:
                return set()
            return {
                place
                for (place, _, numpy), got, operands in zip(tried, results, ours, strict=True)
                if compared(*cases[place], numpy, (got, operands))[0] == "equal"
            }
    return set()


TOGETHER = 12  # forms in one compiled text
Report = Callable[[Form, tuple[str, str]], None]


def outcomes(cases: list[Form], timeout: float = 600, jobs: int = 1, report: Report | None = None) -> list[tuple[str, str]]:
    """The outcome of each form, by processes of their own."""
    if jobs > 1:
        with ThreadPoolExecutor(jobs) as pool:
            parts = list(pool.map(lambda k: outcomes(cases[k::jobs], timeout, 1, report), range(jobs)))
        return [parts[i % jobs][i // jobs] for i in range(len(cases))]
    found: list[tuple[str, str]] = []
    alone = 0  # forms before this one are run one by one
    while len(found) < len(cases):
        left = cases[len(found) :][:240]  # a process does not grow without end
        given = json.dumps([left, alone - len(found)])
        worker = subprocess.run([sys.executable, __file__, "--worker"], input=given, capture_output=True, text=True, timeout=timeout)
        lines = worker.stdout.splitlines()
        new: list[tuple[str, str]] = [tuple(json.loads(line[5:])) for line in lines if line.startswith("form ")]
        if lines and lines[-1] == "together" and worker.returncode:
            alone = len(found) + len(new) + TOGETHER
        elif len(new) < len(left):
            new.append(("crash", f"ends the process ({worker.returncode}): {worker.stderr[-300:]}"))
        for form, what in zip(left, new, strict=False):
            if report:
                report(form, what)
        found += new
    return found


def run(cases: list[Form], timeout: float = 600, jobs: int = 1) -> list[tuple[str, tuple[str, ...], str]]:
    """What is wrong with the forms beside what is known, each with its words."""
    found = zip(cases, outcomes(cases, timeout, jobs), strict=True)
    return [(*form, words) for form, (what, words) in found if what not in RIGHT and not known(form, what, words)]


def work() -> None:
    cases, alone = json.load(sys.stdin)
    cases = [(expression, tuple(kinds)) for expression, kinds in cases]
    for first in range(0, len(cases), TOGETHER):
        group = cases[first : first + TOGETHER]
        equal = set()
        if first >= alone and len(group) > 1:
            signal.alarm(300)
            print("together", flush=True)
            equal = equal_together(group)
        for place, form in enumerate(group):
            signal.alarm(120)  # ends the process, wherever it is
            print("form " + json.dumps(("equal", "") if place in equal else outcome(*form)), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="every form of the matrix")
    parser.add_argument("--kernels", action="store_true", help="the forms in kernels of cuda.jit, which are those of numbers")
    parser.add_argument("--only", default="", help="functions whose forms begin with these words, by commas")
    parser.add_argument("--refused", action="store_true", help="shows what is refused, too")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--form")
    parser.add_argument("--kinds", default="a1")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work()
        return 0
    if options.form:
        cases: list[Form] = [(options.form, tuple(options.kinds.split(",")))]
    elif options.kernels:
        cases = call_form_matrix.kernel_forms(seed=options.seed)
    elif options.all or options.only:
        cases = call_form_matrix.forms(seed=options.seed)
    else:
        cases = sample(options.count, options.seed)
    cases = [form for form in cases if form[0].startswith(tuple(options.only.split(",")))]
    counts = dict.fromkeys(OUTCOMES, 0)
    wrong = 0

    def report(form: Form, outcome: tuple[str, str]) -> None:
        nonlocal wrong
        what, words = outcome
        counts[what] += 1
        expected = what in RIGHT or (not options.form and known(form, what, words))
        wrong += not expected
        if not expected or (options.refused and what == "refused"):
            print(f"[{what}] {form[0]} of {', '.join(form[1])}: {words}", flush=True)

    outcomes(cases, 24 * 3600, options.jobs, report)
    print(f"{len(cases)} forms, {wrong} wrong beside what is known: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
