"""Random programs over arrays against NumPy itself: each statement must give what NumPy's gives, or raise what it raises.

    python tests/array_programs.py [--seed N] [--start N] [--count N] [--way WAY] [--show]

A program is a list of statements over variables v1, v2, …: views, indices of every kind, stores through them, ufuncs with out=, where=,
dtype= and casting=, Python numbers that do not fit, NumPy's scalars, lists, empty and 0-d arrays, in-place operators, reductions, and
places where a value is looked at. Statements may fail: they are kept, and must fail alike. After each statement dtype, shape and
writeability are compared, so that nothing is computed earlier than a user's program would have it computed; values are compared where a
statement looks, and at the end. A program runs in one of the ways of WAYS, chosen by its seed or by --way.

What is rounded is not compared here (`differential.py` does that): floats are multiples of 1/8 wherever the order of additions counts.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import broadcloth as bc
from null_device import on_device
from program_harness import Programs, Run
from support import builtin_class, configured, host, late_error

WAYS = {
    "default": {"lazy": True, "jit": True, "background_compile": True},
    "jit": {"lazy": True, "jit": True, "background_compile": False},
    "tier0": {"lazy": True, "jit": False, "background_compile": False},
    "plain": {"lazy": False, "jit": False, "background_compile": False},
}
# Compiled programs take tens of milliseconds a kernel, so most run by the built-in loops.
ORDER = ["tier0", "plain", "tier0", "default", "tier0", "plain", "tier0", "tier0", "plain", "jit"]

SHAPES = [(), (1,), (3,), (5,), (8,), (2, 3), (3, 2), (4, 4), (1, 3), (3, 1), (2, 2, 3), (2, 1, 2), (0,), (0, 3), (3, 0), (2, 0, 2), (20,)]
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
NUMBERS = (
    "0 1 2 3 -1 -2 5 7 127 128 255 256 300 -128 -129 32768 65535 2**31 -2**31 2**32 2**63-1 2**63 2**64-1 2**64 -2**63 -2**63-1 10**30 "
    "-10**30 True False 0.0 -0.0 0.5 1.0 -2.5 2.0 3.75 300.0 -1.0 1e10 1e300 1e-320 float('nan') float('inf') float('-inf') 1j 2+0j "
    "np.int8(3) np.uint8(200) np.int64(-5) np.uint64(2**63) np.float16(1.5) np.float32(2.5) np.float64(-1.5) np.bool_(True) "
    "np.complex64(1+2j) np.float64('nan') np.array(3) np.array(2.5,'f4') np.array([2])"
).split()
SMALL = ["0", "1", "2", "3", "-1", "0.5", "2.5", "True", "5"]

UNARY = (
    "negative positive absolute square sqrt floor ceil trunc rint sign isnan isfinite isinf logical_not invert conjugate signbit "
    "reciprocal isposinf"
).split()
BINARY = (
    "add subtract multiply divide true_divide floor_divide remainder fmod power maximum minimum fmax fmin less less_equal greater "
    "greater_equal equal not_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm "
    "copysign heaviside"
).split()
COMPARISONS = BINARY[13:19]
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum", "negative", "absolute", "square")
OPERATORS = "+ - * / // % ** & | ^ << >> < <= > >= == !=".split()
IN_PLACE = "+= -= *= /= //= %= **= &= |= ^= <<= >>=".split()
# Of complex numbers these are rounded otherwise, as is a power that no multiplication makes.
ROUNDED_COMPLEX = (
    "absolute",
    "sqrt",
    "divide",
    "true_divide",
    "reciprocal",
    "sign",
    "power",
    "/",
    "**",
    "/=",
    "**=",
    "multiply",
    "*",
    "*=",
)
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]


def data(seed: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The input arrays of programs: small numbers, among floats now and then a zero with a sign, an infinity or a NaN."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        made = rng.integers(0 if kind == "u" else -4, 8, shape)
        info = np.iinfo(dtype)
        return np.where(rng.random(shape) < 0.04, rng.choice([info.min, info.max]), made).astype(dtype)
    made = rng.integers(-16, 24, shape) / 4
    if kind == "c":
        return (made + 1j * rng.integers(-16, 24, shape) / 4).astype(dtype)
    if seed % 3 == 0:
        special = rng.random(shape)
        made = np.where(special < 0.04, np.inf, np.where(special < 0.08, np.nan, np.where(special < 0.12, -0.0, made)))
    return np.asarray(made).astype(dtype)


class Maker:
    """Writes a program while NumPy runs it, to know the shapes and dtypes of what there is."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.statements: list[str] = []
        self.names: dict = {"lib": np, "np": np, "data": data}
        self.variables: list[str] = []
        self.fresh = 0
        for _ in range(self.rng.randint(1, 3)):
            self.source()
        kinds: list[tuple[Callable[[], str | None], float]] = [
            (self.source, 1), (self.view, 5), (self.get, 6), (self.store, 8), (self.in_place, 4), (self.operator, 4), (self.ufunc, 7),
            (self.reduction, 5), (self.look, 4), (self.function, 6), (self.convert, 3), (self.fill, 3), (self.method, 2), (self.flags, 0.5),
        ]  # fmt: skip
        makers, weights = zip(*kinds)
        for _ in range(3 + seed % 9):
            statement = self.rng.choices(makers, weights)[0]()
            if statement:
                self.attempt(statement)

    # ---- Bookkeeping ----

    def attempt(self, statement: str) -> None:
        """Keeps the statement, also where NumPy refuses it, unless its result is nobody's promise."""
        arrays = {v: self.names[v] for v in self.variables}
        before = {v: (a, np.array(a)) for v, a in arrays.items()}
        target = statement.partition(" = ")[0]
        kept = True
        with np.errstate(all="warn"), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            # NumPy copies the bytes of booleans, also those other than 0 and 1.
            used = [before[v][1] for v in re.findall(r"\bv\d+\b", statement) if v in before]
            odd = any(a.dtype == bool and not self.plain_bytes(a) for a in used)
            try:
                exec(statement, self.names)
            except Exception:
                # NumPy may have stored the first elements of a list when it meets one that does not fit.
                kept = all(same_bytes(a, old) for a, old in before.values())
            # What is cast out of a type's range is the processor's choice, and a deprecated form ours. A ufunc with casting='unsafe' casts
            # without a word.
            undefined = "invalid value|divide by zero|overflow" if "casting='unsafe'" in statement else "in cast"
            kept &= not any(re.search(undefined, str(w.message)) or issubclass(w.category, DeprecationWarning) for w in warned)
        kept &= not odd or re.fullmatch(r"v\d+", target) is not None
        made = self.names.get(target)
        if kept and made is not None and re.fullmatch(r"v\d+", target):
            a = np.asarray(made)
            kept = isinstance(made, np.ndarray | np.generic) and a.dtype.name in DTYPES and a.size <= 300 and a.ndim <= 6
        if not kept:
            for v, (a, old) in before.items():
                self.names[v] = a
                if isinstance(a, np.ndarray) and a.flags.writeable and a.shape == old.shape and a.dtype == old.dtype:
                    a[...] = old
            if target not in before:
                self.names.pop(target, None)
            return
        if re.fullmatch(r"v\d+", target) and target in self.names and target not in self.variables:
            self.variables.append(target)
        self.statements.append(statement)

    def value(self, name: str):
        return self.names[name]

    def pick(self, *conditions) -> str | None:
        fitting = [v for v in self.variables if all(c(self.value(v)) for c in conditions)]
        return self.rng.choices(fitting, [1 + k for k in range(len(fitting))])[0] if fitting else None

    def array(self, *conditions) -> str | None:
        return self.pick(lambda v: isinstance(v, np.ndarray), *conditions)

    def new(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def exact(self, v) -> bool:
        """Whether sums of the elements are the same in any order."""
        v = np.asarray(v)
        if v.dtype.kind in "biu":
            return True
        parts = [v.real, v.imag] if v.dtype.kind == "c" else [v]
        with np.errstate(all="ignore"):
            return all(bool(((np.abs(p) <= 64) & (p * 8 == np.round(p * 8)) | np.isinf(p) | np.isnan(p)).all()) for p in parts)

    def plain_bytes(self, v) -> bool:
        """Whether the bytes of an array are ours too: the sign of a NaN is not, nor what stands for True beside 1."""
        v = np.asarray(v)
        with np.errstate(all="ignore"):
            return not (v != v).any() and (v.dtype != bool or bool((v.view("uint8") <= 1).all()))

    # ---- Parts of statements ----

    def number(self) -> str:
        return self.rng.choice(SMALL if self.chance(0.45) else NUMBERS)

    def dtype(self) -> str:
        return repr(self.rng.choice(DTYPES))

    def listed(self, shape: tuple[int, ...]) -> str:
        if not shape:
            return self.rng.choice(SMALL)
        return "[" + ", ".join(self.listed(shape[1:]) for _ in range(shape[0])) + "]"

    def axis(self, ndim: int) -> str:
        r = self.rng.random()
        if r < 0.25 or (ndim == 0 and r < 0.8):
            return "None"
        if r < 0.75 and ndim:
            return str(self.rng.randrange(-ndim, ndim))
        if r < 0.9 and ndim:
            return repr(tuple(self.rng.sample(range(ndim), self.rng.randint(1, ndim))))
        return self.rng.choice(["()", str(ndim), "(0, 0)", "-1"])

    def operand(self, shape: tuple[int, ...] | None = None) -> str:
        """An array, number or list that may be met by one of `shape`."""
        r = self.rng.random()
        if r < 0.5 and self.variables:
            v = self.pick(lambda v: shape is None or broadcasts(v.shape, shape)) if self.chance(0.9) else self.pick()
            if v:
                return v
        if r < 0.85 or shape is None:
            return self.number()
        return self.listed(shape[max(0, len(shape) - self.rng.randint(0, 2)) :])

    def items(self, shape: tuple[int, ...]) -> str:
        """An index of any kind."""
        items: list[str] = []
        axes = list(shape)
        fancy: tuple[int, ...] | None = None
        while axes and self.chance(0.85):
            n = axes[0]
            r = self.rng.random()
            if r < 0.3:
                items.append(self.slice(n))
            elif r < 0.5:
                at = self.rng.randrange(-n, n) if n and self.chance(0.95) else n
                items.append(str(at) if self.chance(0.8) else f"np.int32({at})")
            elif r < 0.72:
                fancy = fancy if fancy is not None and self.chance(0.85) else self.rng.choice([(2,), (3,), (1,), (2, 2), (0,), (), (2, 1)])
                items.append(self.places(n, fancy))
            elif r < 0.85:
                dims = min(len(axes), self.rng.choice([1, 1, 2]))
                sizes = tuple(axes[:dims])
                if self.chance(0.05):
                    sizes = (sizes[0] + 1, *sizes[1:])
                mask = np.array([self.chance(0.5) for _ in range(int(np.prod(sizes)))], bool).reshape(sizes)
                items.append(self.wrapped(repr(mask.tolist()) if mask.size else f"np.zeros({sizes}, bool)", 0.7))
                del axes[: dims - 1]
            elif r < 0.92 and "..." not in items:
                items.append("...")
                del axes[: self.rng.randint(0, len(axes)) or 1]
                continue
            else:
                items.append(self.rng.choice(["None", "None", "True", "False", "np.bool_(True)"]))
                continue
            del axes[0]
        if not items:
            return self.rng.choice(["...", "()", "None", ":"]) if shape else self.rng.choice(["...", "()", "None", "True"])
        if len(items) == 1 and self.chance(0.9):
            return items[0]
        return ", ".join(items) + ("," if len(items) == 1 else "")

    def slice(self, n: int) -> str:
        start = self.rng.choice(["", "", str(self.rng.randint(-n - 1, n + 1))])
        stop = self.rng.choice(["", "", str(self.rng.randint(-n - 1, n + 1))])
        step = self.rng.choice(["", "", "", ":-1", ":2", ":-2", ":3"])
        return f"{start}:{stop}{step}"

    def places(self, n: int, shape: tuple[int, ...]) -> str:
        count = int(np.prod(shape))
        at = np.array([self.rng.randrange(-n, n) if n else 0 for _ in range(count)], int).reshape(shape)
        if count and self.chance(0.04):
            at.flat[0] = n + 1
        return self.wrapped(repr(at.tolist()), 0.3 if shape and count else 1.0)

    def wrapped(self, literal: str, arrays: float) -> str:
        if not self.chance(arrays):
            return literal
        make = self.rng.choice(["lib.asarray", "lib.asarray", "np.array"])
        kind = ", 'int64'" if "True" not in literal and "False" not in literal and "zeros" not in literal else ""
        return f"{make}({literal}{kind})"

    # ---- Statements ----

    def source(self) -> str:
        shape, dtype = self.rng.choice(SHAPES), self.rng.choice(DTYPES)
        made = f"data({self.rng.randrange(1000)}, {dtype!r}, {shape})"
        if self.chance(0.2):
            made = f"np.asfortranarray({made})" if len(shape) > 1 else made
        statement = f"{self.new()} = lib.array({made})"
        if not self.statements:
            self.attempt(statement)
            return ""
        return statement

    def view(self) -> str | None:
        a = self.array()
        if not a:
            return None
        v = self.value(a)
        nd = v.ndim
        seen_as = self.rng.choice(DTYPES) if self.plain_bytes(v) else v.dtype.name
        ways = [
            f"{a}.T", f"{a}[...]", f"{a}.reshape({self.shape_for(v.size)})", f"{a}.ravel()", f"{a}.squeeze()",
            f"{a}.view({seen_as!r})", f"{a}.real", f"{a}.imag", f"{a}[::-1]", f"{a}[{self.items(v.shape)}]",
            f"lib.broadcast_to({a}, {(2, *v.shape)})", f"lib.expand_dims({a}, {self.rng.randint(-nd - 1, nd)})",
            f"{a}.swapaxes({self.rng.randint(-2, 2)}, {self.rng.randint(-2, 2)})", f"lib.diagonal({a})", f"lib.flip({a})",
            f"lib.moveaxis({a}, 0, -1)", f"lib.atleast_2d({a})", f"{a}.transpose({', '.join(map(str, self.rng.sample(range(nd), nd)))})",
            f"lib.squeeze({a}, {self.axis(nd)})", f"lib.diag({a})", f"lib.rot90({a})", f"lib.asarray({a})", f"{a}.view()",
        ]  # fmt: skip
        way = self.rng.choice(ways)
        return f"{self.new()} = {f'{a}.copy()' if re.search('ravel|reshape', way) and self.unordered(v) else way}"

    def unordered(self, v) -> bool:
        """Whether the array may lie in an order that is not promised, so that NumPy and broadcloth need not both copy to flatten it."""
        return not v.flags.c_contiguous and not any(v.base is x for x in self.names.values())

    def shape_for(self, size: int) -> str:
        fitting = [s for s in SHAPES if int(np.prod(s)) == size]
        more = [(-1,), (size, 1), (-1, 1), (1, -1), (2, -1), (3, -1), (size,), (0, -1), (2, 3)]
        return repr(self.rng.choice(fitting + more))

    def get(self) -> str | None:
        a = self.array()
        return f"{self.new()} = {a}[{self.items(self.value(a).shape)}]" if a else None

    def destination(self, a: str) -> tuple[str, tuple[int, ...]]:
        """A place in an array, and its shape."""
        key = self.items(self.value(a).shape)
        try:
            return f"{a}[{key}]", np.shape(eval(f"{a}[{key}]", self.names))
        except Exception:
            return f"{a}[{key}]", ()

    def store(self) -> str | None:
        a = self.array()
        if not a:
            return None
        place, shape = self.destination(a)
        r = self.rng.random()
        if r < 0.08:
            value = self.rng.choice(["None", "'3'", "'2.5'", "'x'", "[]", "[[1]]", "[1, 2]", "[[1, 2], [3]]"])
        elif r < 0.25:
            value = self.listed(shape)
        else:
            value = self.operand(shape)
        return f"{place} = {value}"

    def in_place(self) -> str | None:
        a = self.array()
        if not a:
            return None
        place, shape = self.destination(a) if self.chance(0.5) else (a, self.value(a).shape)
        op = self.rng.choice(IN_PLACE)
        operand = self.operand(shape)
        return f"{place} {op} {operand}" if self.sound(op, a, operand) else None

    def sound(self, op: str, *operands: str) -> bool:
        """Whether NumPy and we must give the same bits."""
        with np.errstate(all="ignore"):
            try:
                values = [np.asarray(eval(o, dict(self.names))) for o in operands]
            except Exception:
                return True
        if any(v.dtype == object for v in values):
            return op in ("add", "+", "less", "equal", "<", "==", "logical_and")
        if op in ROUNDED_COMPLEX and any(v.dtype.kind == "c" for v in values):
            return False
        if op in ("power", "**", "**="):
            exponent = values[-1]
            return all(v.dtype.kind in "biu" for v in values) or exponent.ndim == 0 and exponent in (0, 1, 2)
        return True

    def unsigned(self, operand: str) -> bool:
        return operand not in self.names or not np.any(np.asarray(self.value(operand)) < 0)

    def operator(self) -> str | None:
        a = self.pick()
        if not a:
            return None
        op, b = self.rng.choice(OPERATORS), self.operand(self.value(a).shape)
        left, right = (a, b) if self.chance(0.7) else (b, a)
        return f"{self.new()} = {left} {op} {right}" if self.sound(op, left, right) else None

    def ufunc(self) -> str | None:
        unary = self.chance(0.35)
        name = self.rng.choice(UNARY if unary else BINARY)
        a = self.pick()
        if not a:
            return None
        operands = [a] if unary else [a, self.operand(self.value(a).shape)]
        if not unary and self.chance(0.3):
            operands.reverse()
        if not self.sound(name, *operands) or (name in ("signbit", "copysign") and not self.plain_bytes(self.value(a))):
            return None
        options = []
        if self.chance(0.2):
            options.append(f"dtype={self.dtype()}")
        if self.chance(0.15):
            options.append(f"casting={self.rng.choice(CASTINGS)!r}")
        out = None
        if self.chance(0.35):
            out = self.array(lambda v: v.shape == np.shape(self.value(a))) if self.chance(0.8) else self.array()
            if out:
                options.append(f"out={out if self.chance(0.8) else self.destination(out)[0]}")
        if out and self.chance(0.5):
            # Without `out` elements where the mask is false are not set.
            shape = self.value(out).shape
            mask = self.pick(lambda v: v.dtype == bool and broadcasts(v.shape, shape))
            # NumPy writes while it reads a mask that is its own destination, and crashes where it compares with a number out of range.
            # Where it casts an output that shares memory with an operand it writes also what the mask leaves out.
            if name in COMPARISONS and not all(o in self.names for o in operands):
                return None
            inside = [np.asarray(self.value(o)) for o in operands if o in self.names and np.shares_memory(self.value(o), self.value(out))]
            changed = any(o.dtype != self.value(out).dtype for o in inside) or self.value(out).dtype == bool or len(options) > 1
            if inside and (changed or name not in ARITHMETIC):
                return None
            if mask and not np.shares_memory(self.value(mask), self.value(out)):
                options.append(f"where={mask}")
            else:
                options.append(f"where={self.rng.choice(['True', 'False'])}")
        call = f"lib.{name}({', '.join(operands + options)})"
        if name == "power" and re.search(r"dtype='(float|complex)", call) and (call.count("-") > 0 or not self.unsigned(operands[1])):
            return None  # rounded, unlike powers of integers
        if any("dtype=" in o for o in options) and any(np.asarray(self.value(v)).dtype.kind == "c" for v in operands if v in self.names):
            return None
        return call if out else f"{self.new()} = {call}"

    def reduction(self) -> str | None:
        a = self.pick()
        if not a:
            return None
        v = self.value(a)
        name = self.rng.choice("sum prod max min any all argmax argmin count_nonzero mean cumsum cumprod ptp".split())
        if name in ("sum", "mean", "cumsum") and not self.exact(v):
            return None
        if name in ("prod", "cumprod") and (v.dtype.kind in "fc"):
            return None
        if name == "mean" and v.dtype.kind == "c":
            return None
        options = [f"axis={self.axis(v.ndim)}"]
        if self.chance(0.3) and name not in ("cumsum", "cumprod"):
            options.append("keepdims=True")
        if self.chance(0.25) and name in ("sum", "prod", "max", "min"):
            options.append(f"initial={self.number()}")
        if self.chance(0.2) and name in ("sum", "prod", "max", "min", "any", "all", "mean"):
            mask = self.pick(lambda m: m.dtype == bool and broadcasts(m.shape, v.shape))
            options.append(f"where={mask or 'True'}")
        if self.chance(0.15) and name in ("sum", "cumsum", "prod"):
            options.append(f"dtype={self.dtype()}")
            if "1e300" in "".join(options):
                return None
        # A NaN or infinity as an integer is what NumPy's loop for the place in memory makes of it.
        if re.search("dtype='?u?int", "".join(options)) and v.dtype.kind in "fc" and not np.isfinite(v).all():
            return None
        # Infinite complex products are rounded otherwise, and the sign of a zero hangs on which factor comes first.
        if "complex" in "".join(options) and re.search("initial=.*(inf|nan|1e|-)", "".join(options)):
            return None
        if self.chance(0.15) and name not in ("count_nonzero",):
            # NumPy crashes where a scan's output is too small.
            out = self.array(lambda o: v.ndim == 1 and o.shape == v.shape) if name.startswith("cum") else self.array()
            if out and not np.shares_memory(np.asarray(self.value(out)), np.asarray(v)):
                return f"lib.{name}({a}, {', '.join([*options, f'out={out}'])})"
        if self.chance(0.2):
            ufuncs = ["add", "maximum", "minimum", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor", "subtract"]
            name = self.rng.choice(ufuncs)
            if name in ("add", "subtract") and not self.exact(v):
                return None
            how = self.rng.choice(["reduce", "reduce", "accumulate"])
            return f"{self.new()} = lib.{name}.{how}({a}, axis={self.rng.randrange(-1, max(1, v.ndim))})"
        return f"{self.new()} = lib.{name}({a}, {', '.join(options)})"

    def look(self) -> str | None:
        a = self.pick()
        if not a:
            return None
        v = self.value(a)
        at = ", ".join(str(self.rng.randrange(-n, n)) if n else "0" for n in v.shape)
        ways = [
            f"{a}.item()", f"{a}.tolist()", f"float({a})", f"int({a})", f"bool({a})", f"complex({a})", f"len({a})",
            f"{a}.item({self.rng.randint(-3, 8)})", f"{a}.item({at})", f"{a}[{at or '()'}].item()", f"float({a}[{at or '()'}])",
            f"int({a}[{at or '...'}])", f"[x.tolist() for x in {a}]", f"{self.number()} in {a}", f"range(4)[{a}]", f"[1, 2] * {a}",
            f"{a}.tobytes()" if self.plain_bytes(v) else f"{a}.tolist()", f"lib.array_equal({a}, {self.pick()})", f"lib.shape({a})",
            f"lib.size({a})", f"{a}.nbytes",
            f"{a}.flat[{self.rng.randint(-2, 4)}].tolist()", f"[x.tolist() for x in lib.nonzero({a})]", f"str({a}.dtype)",
            f"{a}.__index__()", f"round(float({a}), 1)", f"lib.ndim({a})", f"{a}.T.copy().item({self.rng.randint(0, 4)})",
        ]  # fmt: skip
        return self.rng.choice(ways)

    def convert(self) -> str | None:
        a = self.pick()
        if not a:
            return None
        ways = [
            f"{a}.astype({self.dtype()})", f"{a}.astype({self.dtype()}, casting={self.rng.choice(CASTINGS)!r})", f"{a}.copy()",
            f"lib.array({self.number()})", f"lib.array({self.number()}, dtype={self.dtype()})", f"lib.array({a}, dtype={self.dtype()})",
            f"lib.full({self.rng.choice(SHAPES)}, {self.number()}, dtype={self.dtype()})", f"lib.full_like({a}, {self.number()})",
            f"lib.full({self.rng.choice(SHAPES)}, {self.number()})", f"lib.zeros_like({a})", f"lib.ones_like({a}, {self.dtype()})",
            f"lib.array({self.listed(self.rng.choice(SHAPES))})", f"lib.asarray({self.listed((3,))}, dtype={self.dtype()})",
            f"lib.arange({self.rng.choice(SMALL)}, {self.rng.choice(SMALL)})", f"lib.asarray({a}, dtype={self.dtype()})",
            f"lib.array({a}, ndmin={self.rng.randint(0, 4)})", f"lib.array([{a}, {a}])", f"{a}.flatten()",
            f"lib.arange({self.rng.randint(0, 6)}, dtype={self.dtype()})", f"lib.copy({a})",
        ]  # fmt: skip
        return f"{self.new()} = {self.rng.choice(ways)}"

    def fill(self) -> str | None:
        a = self.array()
        if not a:
            return None
        v = self.value(a)
        b = self.operand(v.shape)
        mask = self.array(lambda m: m.shape == v.shape and m.dtype == bool and not np.shares_memory(m, v))
        mask = mask or f"lib.zeros({v.shape}, bool)"
        indices = repr([self.rng.randrange(-v.size, v.size) if v.size else 0 for _ in range(self.rng.randint(0, 3))])
        added = self.rng.choice(SMALL if v.dtype.kind in "fc" else "0123")
        ways = [
            f"{a}.fill({self.number()})", f"{a}.flat = {self.number()}", f"{a}.flat[{self.slice(4)}] = {self.number()}",
            f"lib.copyto({a}, {b}, casting={self.rng.choice(CASTINGS)!r})", f"lib.copyto({a}, {b}, where={mask})",
            f"lib.putmask({a}, {mask}, {b})", f"lib.put({a}, {indices}, {self.number()})", f"lib.place({a}, {mask}, [{self.number()}])",
            f"lib.fill_diagonal({a}, {self.number()})", f"{a}.real = {self.number()}", f"{a}.imag = {self.number()}",
            f"lib.put({a}, {indices}, {self.listed((2,))}, mode={self.rng.choice(['raise', 'wrap', 'clip'])!r})", f"{a}.sort()",
            # NumPy adds to uint64 in float64.
            f"{a}.sort()" if v.dtype == "uint64" else f"lib.add.at({a}, {self.places(v.shape[0] if v.ndim else 0, (3,))}, {added})",
        ]  # fmt: skip
        return self.rng.choice([w for w in ways if there_is(w)])

    def function(self) -> str | None:
        a = self.pick()
        if not a:
            return None
        v = self.value(a)
        b = self.pick(lambda w: w.ndim == v.ndim) or a
        same = self.pick(lambda w: broadcasts(w.shape, v.shape)) or a
        nd, width = v.ndim, self.rng.randint(0, 2)
        ax = str(self.rng.randrange(-nd, nd)) if nd and self.chance(0.9) else "0"
        mode = self.rng.choice(["edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "constant"])
        n = v.shape[int(ax)] if nd and -nd <= int(ax) < nd else 1
        ways = [
            f"lib.concatenate([{a}, {b}], {ax})", f"lib.stack([{a}, {b}], {ax})", f"lib.concatenate([{a}, {b}], None)",
            f"lib.where({same}, {a}, {self.operand(v.shape)})", f"lib.where({a} == {same}, {self.number()}, {a})",
            f"lib.clip({a}, {self.number()}, {self.number()})", f"lib.roll({a}, {self.rng.randint(-3, 3)}, {ax})",
            f"lib.repeat({a}, {self.rng.randint(0, 3)}, {ax})", f"lib.tile({a}, {self.rng.choice(['2', '(2, 1)', '(0,)', '()'])})",
            f"lib.take({a}, {self.places(n, (2,))}, axis={ax})", f"lib.pad({a}, {width}, mode={mode!r})",
            f"lib.sort({a}, axis={ax})",
            f"lib.argsort({a}, axis={ax}, kind='stable')", f"lib.unique({a})", f"lib.flip({a}, {ax})", f"lib.diff({a}, axis={ax})",
            f"lib.tril({a})", f"lib.triu({a}, 1)", f"lib.diag({a}, 1)",
            f"lib.choose({self.listed((2,))}, [{a}, {self.rng.choice('0123')}])",
            f"lib.delete({a}, {self.rng.randint(-2, 2)}, axis={ax})", f"lib.insert({a}, 0, {self.rng.choice(SMALL)}, axis={ax})",
            f"lib.append({a}, {b}, axis={ax})", f"lib.resize({a}, {self.rng.choice(SHAPES)})", f"lib.nan_to_num({a})",
            f"lib.searchsorted(lib.arange(5), {a})", f"lib.compress([True, False, True], {a}, axis={ax})", f"lib.trace({a})",
            f"lib.isin({a}, [1, 2])", f"lib.outer({a}, [1, 2])", f"lib.argwhere({a})", f"lib.flatnonzero({a})",
            f"lib.ravel({f'{a}.copy()' if self.unordered(self.value(a)) else a}, 'F')",
            f"lib.hstack([{a}, {b}])", f"lib.vstack([{a}, {b}])", f"lib.split({a}, 2)[0]", f"lib.array_split({a}, 2)[1]",
            f"lib.maximum.outer({a}, [1, 2])", f"lib.cumsum({a}, axis={ax})",
            f"lib.take_along_axis({a}, lib.argsort({a}, axis={ax}, kind='stable'), {ax})", f"lib.select([{a} == {a}], [{a}], 0)",
            f"lib.broadcast_arrays({a}, {same})[1]", f"lib.ediff1d({a})", f"lib.isclose({a}, {same})", f"lib.round({a})",
        ]  # fmt: skip
        chosen = self.rng.choice([w for w in ways if there_is(w)])
        if re.match(r"lib\.(cumsum|trace|outer|ediff1d|diff|nan_to_num|isclose)", chosen) and not self.exact(v):
            return None
        if v.dtype.kind == "c" and re.match(r"lib\.(outer|isclose|sort|argsort|unique|take_along|searchsorted|clip|maximum|pad)", chosen):
            return None
        return f"{self.new()} = {chosen}"

    def method(self) -> str | None:
        a = self.array()
        if not a:
            return None
        v = self.value(a)
        # Which order a copy that is neither C's nor Fortran's lies in, and what an index array gives, is not promised; nor whether the
        # places that nonzero finds are parts of one array, which ravel() would have to copy.
        flat = f"{a}.copy()" if self.unordered(v) else f"{a}.ravel()"
        ways = [
            f"{a}.ravel('K')" if v.flags.c_contiguous else flat,
            f"{a}.clip(0, 3)", f"{a}.round()", f"{a}.nonzero()[0].copy()",
            f"{a}.cumsum()" if self.exact(self.value(a)) else f"{a}.copy('F')",
            f"{a}.dot([1])" if self.value(a).dtype.kind in "biu" else f"{a}.conj()", f"{a}.argmax()", f"{a}.take([0])", f"{a}.repeat(2)",
        ]  # fmt: skip
        return f"{self.new()} = {self.rng.choice(ways)}"

    def flags(self) -> str | None:
        a = self.array()
        return f"{a}.setflags(write={self.rng.choice(['False', 'False', 'True'])})" if a else None


def same_bytes(a, b) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


def there_is(code: str) -> bool:
    """Whether all functions that an expression calls are in this library."""
    return all(hasattr(bc, name) for name in re.findall(r"lib\.(\w+)", code)) and not (".sort()" in code and not hasattr(bc, "sort"))


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(a, b) == tuple(b)
    except ValueError:
        return False


# ---- Comparing --------------------------------------------------------------------------------------------------------------------------

# What stays different, and why: a test of (statement, NumPy's outcome, ours). See docs/differences.md. No test looks at our values, which
# would compute them.
KNOWN: list[tuple[str, Callable[[str, object, object], bool]]] = []


def known(reason: str):
    def add(test: Callable[[str, object, object], bool]):
        KNOWN.append((reason, test))
        return test

    return add


def is_error(o: object) -> bool:
    return isinstance(o, Exception)


def says(o: object, words: str) -> bool:
    return is_error(o) and words in str(o)


FAULTS = (
    "broadcast|shape mismatch|cast|not supported|out of bounds|too large|convert|NaN|loop|axis|read-only|sequence|not 'complex'|boolean|"
    "argument must be|must be real|invalid literal|malformed string|cannot replace elements|does not have an identity|negative integer|"
    "wrong number of dimensions|wrong shape|at least 2-d|interpreted as an integer|too many indices|has no elements|does not match result"
)


@known("A number that is stored into no element is checked in some places only, by NumPy 2.5 in others than by NumPy 2.4.")
def nothing_is_stored(statement: str, want: object, got: object) -> bool:
    if isinstance(got, OverflowError):
        return (want is None and bool(re.search(r"\.(real|imag|flat\[.*\]) =", statement))) or getattr(want, "size", 1) == 0
    without_elements = ".real =" in statement or ("out=" in statement and "(0,)" in describe(got))
    return isinstance(want, OverflowError | ValueError | TypeError) and not is_error(got) and without_elements


@known("A statement that is wrong in two ways raises one error or the other.")
def two_errors(statement: str, want: object, got: object) -> bool:
    faults = [re.search(FAULTS, str(e)) if is_error(e) else None for e in (want, got)]
    return all(faults) and (builtin_class(want) is not builtin_class(got) or faults[0][0] != faults[1][0])  # type: ignore[arg-type, index]


@known("The truth of an integer past 64 bits is taken; NumPy refuses it beside bools and in numpy.full of bools.")
def truth_of_big_integers(statement: str, want: object, got: object) -> bool:
    big = any(n in statement for n in ("10**30", "2**64", "2**63"))
    compares = any(f"lib.{name}(" in statement for name in COMPARISONS)
    truth = "logical_" in statement or " in v" in statement or "bool" in describe(got) or compares
    return big and isinstance(want, OverflowError) and not is_error(got) and truth


@known("ufunc.at refuses read-only arrays; NumPy 2.4 writes them.")
def at_of_read_only(statement: str, want: object, got: object) -> bool:
    return ".at(" in statement and not is_error(want) and says(got, "read-only")


@known("The truth of a list that is no array, and of an array in initial=, is taken for a boolean only by NumPy.")
def truth_of_arrays(statement: str, want: object, got: object) -> bool:
    return not is_error(want) and (says(got, "inhomogeneous") or (says(got, "with a sequence") and "initial=" in statement))


@known("copyto refuses a read-only array also where there is nothing to write.")
def copy_to_read_only(statement: str, want: object, got: object) -> bool:
    return "copyto" in statement and not is_error(want) and says(got, "read-only")


@known("Arrays that broadcast_arrays stretched are read-only, as NumPy announces that they will be.")
def broadcast_is_read_only(statement: str, want: object, got: object) -> bool:
    return "broadcast_arrays" in statement and not is_error(want) and not is_error(got) and want.shape == got.shape  # type: ignore[attr-defined]


@known("A tile of nothing is an array of its own; NumPy gives a view of what was read-only.")
def tile_of_nothing(statement: str, want: object, got: object) -> bool:
    return "lib.tile(" in statement and not is_error(want) and not is_error(got) and want.size == 0  # type: ignore[attr-defined]


@known("Elements and results of reductions are 0-d arrays: they can be written, be outputs, be searched and have every method.")
def elements_are_arrays(statement: str, want: object, got: object) -> bool:
    scalars = ("return arrays must be of ArrayType", "does not support item assignment", "is not iterable", "no attribute '__index__'")
    return any(says(want, words) for words in scalars)


@known("What an element or the result of a reduction holds is not looked at where it is stored: it is cast as an element of an array is.")
def stored_elements(statement: str, want: object, got: object) -> bool:
    refused = says(want, "cannot convert float") or says(want, "out of bounds for") or says(want, "too large to convert")
    of_element = re.search(r"(\S= |fill\(| = )-?v\d+\)?$", statement) or re.search(r" (//?|%|\*\*?|\+|-)= |initial=np\.", statement)
    return refused and bool(of_element) and not is_error(got)


@known("putmask and place take an element or the result of a reduction as the 0-d array that it is: its dtype must fit.")
def masked_elements(statement: str, want: object, got: object) -> bool:
    return bool(re.match(r"lib\.(putmask|place)\(", statement)) and says(got, "Cannot cast array data") and not is_error(want)


@known("The power of a boolean scalar is what an array's is; NumPy makes of it an integer as wide as Python's.")
def powers_of_booleans(statement: str, want: object, got: object) -> bool:
    return "**" in statement and "int64()" in describe(want) and "int8()" in describe(got)


@known("What broadcast_to stretched stays read-only.")
def broadcasts_stay_read_only(statement: str, want: object, got: object) -> bool:
    return "setflags" in statement and says(got, "cannot set WRITEABLE") and not is_error(want)


@known("A scan's output has the scan's shape; NumPy stretches a scan of one element over it.")
def scans_of_one_element(statement: str, want: object, got: object) -> bool:
    return bool(re.match(r"lib\.cum(sum|prod)\(.*out=", statement)) and says(got, "wrong shape") and not is_error(want)


@known("casting='equiv' refuses Python integers in comparisons too, where NumPy takes those out of the array's range.")
def equivalent_integers(statement: str, want: object, got: object) -> bool:
    return "casting='equiv'" in statement and says(got, "with casting rule 'equiv'") and not is_error(want)


@known("take and compress check their indices also where the array has no elements.")
def indices_into_nothing(statement: str, want: object, got: object) -> bool:
    return says(got, "out of bounds") and isinstance(got, IndexError) and getattr(want, "size", 1) == 0


@known("ptp of booleans is refused with any output; NumPy subtracts in the output's dtype.")
def ptp_of_booleans(statement: str, want: object, got: object) -> bool:
    return "lib.ptp(" in statement and "out=" in statement and says(got, "boolean subtract") and not is_error(want)


@known("Signed integers and uint64 are compared exactly, whatever casting= says: no cast is needed for it.")
def exact_comparisons(statement: str, want: object, got: object) -> bool:
    compares = any(f"lib.{name}(" in statement for name in COMPARISONS)
    return compares and "casting=" in statement and says(want, "Cannot cast ufunc") and "uint64" in statement and not is_error(got)


@known("A value of another shape is refused also where the index selects nothing.")
def values_of_nothing(statement: str, want: object, got: object) -> bool:
    return want is None and is_error(got) and bool(re.search(r"not be broadcast to indexing result of shape \(.*\b0\b", str(got)))


@known("Index arrays, and the places that nonzero finds, lie in C's order; NumPy's in one that it does not promise.")
def order_of_places(statement: str, want: object, got: object) -> bool:
    return ".view(" in statement and says(want, "the last axis must be contiguous") and not is_error(got)


@known("A view of a wider dtype begins and steps at multiples of its size (differences.md); NumPy gives unaligned ones.")
def unaligned_views(statement: str, want: object, got: object) -> bool:
    return ".view(" in statement and not is_error(want) and says(got, "offset and strides are multiples of")


WORDS = ["out of bounds", "read-only", "too many indices", "zero-size", "negative integer powers", "only have a single ellipsis"]


def alike(want, got) -> str | None:
    """How what a statement gave differs, as far as it is known without computing anything; None when it does not."""
    if is_error(want) or is_error(got):
        if not is_error(got):
            return f"gives {describe(got)}, NumPy raises {want!r}"
        if not is_error(want):
            return f"raises {got!r}, NumPy gives {describe(want)}"
        if not isinstance(got, builtin_class(want)) and not isinstance(got, type(want)):
            return f"raises {got!r}, NumPy {want!r}"
        for word in WORDS:
            if word in str(want) and word not in str(got):
                return f"raises {got!r}, NumPy {want!r}"
        return None
    if isinstance(want, np.ndarray | np.generic):
        if not isinstance(got, bc.ndarray):
            return f"gives {type(got)}, NumPy {describe(want)}"
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"gives {got.dtype}{got.shape}, NumPy {want.dtype}{want.shape}"
        if isinstance(want, np.ndarray) and want.ndim and got.flags.writeable != want.flags.writeable:
            return f"writeable is {got.flags.writeable}, NumPy's {want.flags.writeable}"
        return None
    if isinstance(got, bc.ndarray):
        got = got.tolist()
    if type(got) is not type(want) or without_signs(got) != without_signs(want):
        return f"gives {got!r}, NumPy {want!r}"
    return None


def without_signs(o: object) -> str:
    """The text of a value without the signs of zeros and NaNs, which compare equal."""
    return re.sub(r"-(nan|0\.0(?!\d)|0j)", r"\1", repr(o))


def describe(o) -> str:
    return f"{o.dtype}{o.shape}" if hasattr(o, "dtype") else repr(o)


def execute(statement: str, names: dict):
    """What a statement gives: the value of an expression, of what is assigned, or the exception."""
    target, assigned, _ = statement.partition(" = ")
    try:
        if re.fullmatch(r"v\d+", target) and assigned:
            exec(statement, names)
            return names[target]
        try:
            code = compile(statement, "<program>", "eval")
        except SyntaxError:
            exec(statement, names)
            return None
        made = eval(code, names)
        return made
    except Exception as error:
        return error


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return bool(((a == b) | ((a != a) & (b != b))).all())


def sharing(names: set[str], variables: dict) -> set[str]:
    """The variables that may share memory with some."""
    arrays = {v: a for v, a in variables.items() if isinstance(a, np.ndarray) and re.fullmatch(r"v\d+", v)}
    return {v for v, a in arrays.items() if any(np.may_share_memory(a, arrays[n]) for n in names if n in arrays)}


def stores_a_view_by_mask(statement: str, names: dict) -> bool:
    """Whether an array gets a view of itself where a mask holds: NumPy reads what it has already written, broadcloth what was there."""
    found = re.match(r"(v\d+)\[(?:lib\.asarray\(|np\.array\()?\[+(?:True|False)\b.*\] = (v\d+)$", statement)
    arrays = [names.get(name) for name in found.groups()] if found else []
    return bool(arrays) and all(isinstance(a, np.ndarray) for a in arrays) and np.may_share_memory(*arrays)


def difference(statements: list[str], way: str, device: str = "cpu") -> str | None:
    """What is wrong with a program; None when nothing is."""
    want_names: dict = {"lib": np, "np": np, "data": data}
    got_names: dict = {"lib": bc, "np": np, "data": data}
    excused: set[str] = set()
    with configured(**WAYS[way]), on_device(device), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in statements:
            used = set(re.findall(r"\bv\d+\b", statement))
            if used & excused:
                excused |= used & set(want_names) if " = " in statement or "=" in statement else set()
                target = statement.partition(" = ")[0]
                if re.fullmatch(r"v\d+", target):
                    excused.add(target)
                continue
            unlike = stores_a_view_by_mask(statement, want_names)
            want = execute(statement, want_names)
            if isinstance(want, NameError):
                continue  # a part of a program: what made the variable was taken out
            got = execute(statement, got_names)
            if is_error(want) and not is_error(got) and device != "cpu":
                got = late_error() or got
                unseen = isinstance(want, IndexError) or says(want, "negative integer powers")
                if unseen and not is_error(got) and not bc._c.device_count("cuda"):
                    excused |= used | sharing(used, want_names)  # the null device reports neither a scatter's indices nor exponents
                    continue
            wrong = alike(want, got)
            if wrong:
                if any(test(statement, want, got) for _, test in KNOWN):
                    excused |= used | sharing(used, want_names)
                    continue
                return f"{way}: {statement}\n    {wrong}"
            if unlike:
                excused |= used | sharing(used, want_names)
        for name, n in want_names.items():
            if not re.fullmatch(r"v\d+", name) or name in excused:
                continue
            try:
                g = host(got_names[name])
            except Exception as error:
                return f"{way}: {name} raises {error!r} when it is read"
            n = np.asarray(n)
            if g.dtype != n.dtype or g.shape != n.shape:
                return f"{way}: {name} is {g.dtype}{g.shape}, NumPy's {n.dtype}{n.shape}"
            if not equal(g, n):
                return f"{way}: {name} is\n{g!r}\nNumPy's is\n{n!r}"
    return None


def make(seed: int) -> list[str]:
    return Maker(seed).statements


def wrong(statements: list[str], seed: int | None, run: Run) -> str | None:
    ways = [run.way] if run.way else WAYS if seed is None else [ORDER[seed % len(ORDER)]]
    for way in ways:
        # There are no built-in loops on a GPU.
        found = difference(statements, "default" if way == "tier0" and run.device != "cpu" else way, run.device)
        if found:
            return found
    return None


PROGRAMS = Programs(
    __file__,
    make,
    wrong,
    [
        "import sys; sys.path.insert(0, 'tests')",
        "import numpy as np, broadcloth as bc",
        "from array_programs import data",
        "lib = bc",
    ],
    tuple(WAYS),
)
check, check_all = PROGRAMS.check, PROGRAMS.check_all

if __name__ == "__main__":
    sys.exit(PROGRAMS.main(__doc__))
