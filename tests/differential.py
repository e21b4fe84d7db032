"""Random programs over arrays, run in several ways that must agree bit for bit, and against NumPy.

    python tests/differential.py [--seed N] [--start N] [--count N] [--show]

A program is a list of statements over variables v1, v2, …: expressions, views, writes in place, overlaps, casts, reductions, indexing,
flush points. It is made while NumPy runs it, so that each statement is valid. Then broadcloth runs it
  fused     recorded, fused, compiled,
  plain     one op at a time,
  tier0     fused, by the loops that are built in (CPU only),
and all variables at the end must be the same bits (the payload of a NaN aside). What is made only of exactly rounded operations must also
equal NumPy's.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import broadcloth as bc
from null_device import on_device
from program_harness import Programs, Run
from support import configured, host

WAYS = {
    "fused": {"lazy": True, "jit": True, "background_compile": False},
    "plain": {"lazy": False, "jit": True, "background_compile": False},
    "tier0": {"lazy": True, "jit": False, "background_compile": False},
}
# The same planner without the compiler: many more programs a second.
LOOPS = {
    "fused": {"lazy": True, "jit": False, "background_compile": False},
    "plain": {"lazy": False, "jit": False, "background_compile": False},
}
SHAPES = [(), (1,), (7,), (16,), (3, 4), (4, 3), (1, 4), (3, 1), (2, 3, 4), (0,), (0, 3), (5, 5), (33,)]
LARGE = [(1000,), (40, 60), (60, 40), (1, 60), (40, 1), (257,), (8, 9, 10), (4097,)]
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint32", "float16", "float32", "float64", "complex64", "complex128"]
WEIGHTS = [2, 2, 3, 3, 2, 1, 1, 5, 5, 1, 1]

# signbit and copysign are left out: the sign of a NaN is nobody's promise.
UNARY_EXACT = "negative absolute square sqrt floor ceil trunc rint sign isnan isfinite logical_not invert conjugate".split()
UNARY_ROUNDED = ["sin", "cos", "exp", "tanh", "log1p", "arctan", "cbrt", "expm1"]
BINARY_EXACT = (
    "add subtract multiply divide less greater_equal equal not_equal logical_and logical_or bitwise_and bitwise_xor floor_divide remainder"
).split()
BINARY_ROUNDED = ["maximum", "minimum", "fmax", "hypot", "arctan2", "logaddexp"]
OPERATORS = ["+", "-", "*"]


def data(seed: int, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """The input arrays of programs: small numbers, now and then an infinity or a NaN."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        return rng.integers(0 if kind == "u" else -9, 10, shape).astype(dtype)
    real = np.round(rng.standard_normal(shape) * 4, 2)
    if kind == "c":
        return (real + 1j * np.round(rng.standard_normal(shape) * 4, 2)).astype(dtype)
    special = rng.random(shape)
    real = np.where(special < 0.02, np.inf, np.where(special < 0.04, np.nan, real))
    return np.asarray(real).astype(dtype)


def expose(v):
    """A NumPy array (or where memory is not the host's, an array) on the same memory."""
    return v if isinstance(v, np.ndarray) else np.asarray(memoryview(v)) if v.device == "cpu" else v[...]


class Maker:
    """Writes a program while NumPy runs it."""

    def __init__(self, seed: int, length: int) -> None:
        self.rng = random.Random(seed)
        self.shapes = LARGE if self.rng.random() < 0.25 else SHAPES
        self.statements: list[str] = []
        self.names: dict = {"lib": np, "data": data, "fortran": np.asfortranarray, "asarray": np.asarray}
        self.names |= {"look": lambda v: None, "expose": expose}
        self.variables: list[str] = []
        self.group: dict[str, int] = {}  # variables that may share memory
        self.rounded: set[int] = set()  # groups that hold results which NumPy may round otherwise
        self.fresh = 0
        self.expressions: list[tuple[str, tuple[str, ...], bool]] = []  # text, what it reads, whether NumPy may round it otherwise
        for _ in range(self.rng.randint(2, 4)):
            self.source()
        kinds = [self.unary, self.binary, self.scalar, self.view, self.write, self.update, self.overlap, self.masked, self.cast]
        weights = [4, 8, 4, 6, 5, 6, 4, 3, 3]
        kinds += [self.reduction, self.select, self.gather, self.scatter, self.join, self.look, self.drop, self.source, self.swap]
        weights += [5, 3, 3, 2, 2, 2, 2, 1, 1]
        kinds += [self.chain, self.row, self.into, self.at, self.copy, self.expose, self.product]
        weights += [4, 1, 4, 1, 3, 0.5, 1]
        kinds += [self.again, self.rows]
        weights += [4, 2]
        tries = 0
        while len(self.statements) < length and tries < 20 * length:
            tries += 1
            self.rng.choices(kinds, weights)[0]()

    # ---- Bookkeeping ----

    def value(self, name: str) -> np.ndarray:
        return self.names[name]  # an array, or one of NumPy's scalars, which has the same attributes

    def pick(self, *conditions) -> str | None:
        fitting = [v for v in self.variables if all(c(self.value(v)) for c in conditions)]
        # What was made last is used more often, so that chains become long.
        return self.rng.choices(fitting, [1 + k for k in range(len(fitting))])[0] if fitting else None

    def new(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def attempt(
        self,
        statement: str,
        target: str | None = None,
        share: str | None = None,
        reads: tuple[str, ...] = (),
        rounds: bool = False,
        writes: str | None = None,
    ) -> bool:
        """Runs the statement with NumPy and keeps it when that works and the result is fit for more."""
        before = {v: self.value(v).copy() for v in self.variables if self.value(v).flags.writeable} if writes else None
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(statement, self.names)
        except (TypeError, ValueError, IndexError, OverflowError, np.exceptions.AxisError):
            if before:
                for v, old in before.items():
                    self.value(v)[...] = old
            return False
        if target:
            made = np.asarray(self.names[target])
            if (
                made.dtype.name not in DTYPES
                and made.dtype.name not in ("int16", "uint16", "uint64")
                or made.size > 20_000
                or made.ndim > 5
            ):
                del self.names[target]
                return False
            if not isinstance(self.names[target], (np.ndarray, np.generic)):
                del self.names[target]
                return False
            group = self.group[share] if share else self.fresh + 10_000
            self.group[target] = group
            self.variables.append(target)
        else:
            group = self.group[writes] if writes else -1
        if rounds or any(self.group[r] in self.rounded for r in reads):
            self.rounded.add(group)
        self.statements.append(statement)
        if target and not share and reads and re.fullmatch(rf"{target} = [^=]*(==[^=]*)?", statement):
            self.expressions.append((statement.partition(" = ")[2], reads, rounds))
        return True

    def exact(self, name: str) -> bool:
        return self.group[name] not in self.rounded

    # ---- Statements ----

    def source(self) -> None:
        t = self.new()
        dtype = self.rng.choices(DTYPES, WEIGHTS)[0]
        made = f"data({self.rng.randrange(1000)}, {dtype!r}, {self.rng.choice(self.shapes)})"
        self.attempt(f"{t} = asarray({f'fortran({made})' if self.rng.random() < 0.3 else made})", t)

    def unary(self) -> None:
        a, t = self.pick(), self.new()
        rounds = self.rng.random() < 0.3
        name = self.rng.choice(UNARY_ROUNDED if rounds else UNARY_EXACT)
        if a:
            complex_rounds = self.value(a).dtype.kind == "c" and name in ("absolute", "square", "sqrt", "sign")
            self.attempt(f"{t} = lib.{name}({a})", t, reads=(a,), rounds=rounds or complex_rounds)

    def fits(self, a: str):
        def test(b: np.ndarray) -> bool:
            try:
                return np.prod(np.broadcast_shapes(self.value(a).shape, b.shape)) <= 20_000
            except ValueError:
                return False

        return test

    def binary(self) -> None:
        a = self.pick()
        b = self.pick(self.fits(a)) if a else None
        if not a or not b:
            return
        t = self.new()
        rounds = self.rng.random() < 0.2
        name = self.rng.choice(BINARY_ROUNDED if rounds else BINARY_EXACT)
        either_complex = "c" in (self.value(a).dtype.kind, self.value(b).dtype.kind)
        if rounds and name in ("maximum", "minimum", "fmax") and {self.value(a).dtype.kind, self.value(b).dtype.kind} <= set("biu"):
            rounds = False
        self.attempt(f"{t} = lib.{name}({a}, {b})", t, reads=(a, b), rounds=rounds or (either_complex and name in ("multiply", "divide")))

    def number(self, a: str) -> str:
        kind = self.value(a).dtype.kind
        return self.rng.choice(["2", "3", "1", "5"] if kind in "biu" else ["2", "0.5", "-1.25", "3", "1e-3"])

    def scalar(self) -> None:
        a, t = self.pick(), self.new()
        if a:
            left, right = (a, self.number(a)) if self.rng.random() < 0.7 else (self.number(a), a)
            op = self.rng.choice([*OPERATORS, "/", "<", ">=", "=="])
            self.attempt(f"{t} = {left} {op} {right}", t, reads=(a,), rounds=self.value(a).dtype.kind == "c" and op in "*/")

    def chain(self) -> None:
        """Several operators in one statement."""
        a = self.pick()
        b = self.pick(self.fits(a)) if a else None
        c = self.pick(self.fits(a)) if a else None
        if not a or not b or not c:
            return
        t = self.new()
        o, p = self.rng.choice(OPERATORS), self.rng.choice(OPERATORS)
        kinds = {self.value(v).dtype.kind for v in (a, b, c)}
        self.attempt(f"{t} = ({a} {o} {b}) {p} {c}", t, reads=(a, b, c), rounds="c" in kinds and "*" in o + p)

    def again(self) -> None:
        """One or two earlier expressions, recorded anew inside of another, perhaps after their operands were written."""
        known = [e for e in self.expressions if all(v in self.variables for v in e[1])]
        if not known:
            return
        (a, reads, rounds), (b, more, also) = self.rng.choice(known[-6:]), self.rng.choice(known[-6:])
        t = self.new()
        forms = ["lib.negative({a})", "({a}) + ({a})", "({a}) - ({b})", "lib.add({a}, {b})", "lib.minimum({a}, lib.square({a}))"]
        form = self.rng.choice(forms)
        may_round = rounds or also or form == forms[-1]
        if self.attempt(f"{t} = {form.format(a=a, b=b)}", t, reads=reads + more, rounds=may_round):
            self.expressions.pop()

    def rows(self) -> None:
        """Updates of one row after the other: each is a store into a part of what the one before gave."""
        a = self.pick(self.writable, lambda v: v.ndim > 0 and 1 < v.shape[0] <= 10)
        if a:
            op, times = self.rng.choice(["+=", "-=", "*="]), self.rng.randint(1, 4)
            complex_rounds = self.value(a).dtype.kind == "c" and op == "*="
            self.attempt(f"for k in range({times} * len({a})): {a}[k % len({a})] {op} k % 3", writes=a, rounds=complex_rounds)

    def slices(self, shape: tuple[int, ...]) -> str:
        items = []
        for extent in shape:
            kind = self.rng.random()
            if kind < 0.25:
                items.append(":")
            elif kind < 0.45:
                items.append("::-1")
            elif kind < 0.6:
                items.append("::2")
            elif kind < 0.75 and extent > 1:
                items.append(self.rng.choice(["1:", ":-1"]))
            elif kind < 0.85 and extent > 0:
                items.append(str(self.rng.randrange(-extent, extent)))
            else:
                items.append(f"{self.rng.randrange(0, max(1, extent))}:")
            if items[-1].lstrip("-").isdigit() and self.rng.random() < 0.5:
                items[-1] = ":"
        if self.rng.random() < 0.1:
            items.insert(self.rng.randrange(len(items) + 1), "None")
        return ", ".join(items) if items else "..."

    def view(self) -> None:
        a, t = self.pick(lambda v: isinstance(v, np.ndarray)), self.new()
        if not a:
            return
        shape = self.value(a).shape
        kind = self.rng.randrange(8)
        if kind < 4 and shape:
            text = f"{a}[{self.slices(shape)}]"
        elif kind == 4:
            text = f"{a}.T"
        elif kind < 7:
            size = self.value(a).size
            options = [-1, (size, 1), (1, size)] + [s for s in self.shapes if int(np.prod(s)) == size]
            text = f"{a}.reshape({self.rng.choice(options)})"
            if len(shape) != 1:  # NumPy keeps the order of its operands' axes in memory, so it may copy where we do not
                text += ".copy()"
        else:
            text = f"{a}.real" if self.value(a).dtype.kind == "c" else f"{a}[...]"
        if self.attempt(f"{t} = {text}", t, share=a, reads=(a,)) and self.value(t).dtype.kind not in "biufc":
            self.variables.remove(t)

    def within(self, source: str, target_dtype: np.dtype) -> bool:
        """Tells whether a cast is defined for every element."""
        v = self.value(source)
        if target_dtype.kind in "iu" and v.dtype.kind in "fc":
            info = np.iinfo(target_dtype)
            low = 0 if info.min == 0 else -100
            return bool(np.isfinite(v).all()) and bool(((v.real > low) & (v.real < 100)).all())
        return True

    def destination(self, a: str) -> str:
        shape = self.value(a).shape
        return f"{a}[{self.slices(shape) if shape and self.rng.random() < 0.7 else '...'}]"

    def writable(self, v: np.ndarray) -> bool:
        return v.flags.writeable

    def write(self) -> None:
        a = self.pick(self.writable)
        b = self.pick(self.fits(a)) if a else None
        if not a or not b or not self.within(b, self.value(a).dtype):
            return
        source = b if self.rng.random() < 0.6 else (f"{b} + {self.number(b)}" if self.value(a).dtype.kind in "fc" else b)
        self.attempt(f"{self.destination(a)} = {source}", writes=a, reads=(b,))

    def update(self) -> None:
        a = self.pick(self.writable)
        b = self.pick(self.fits(a)) if a else None
        if not a or not b:
            return
        op = self.rng.choice(["+=", "-=", "*=", "+=", "*="])
        source = b if self.rng.random() < 0.6 else self.number(a)
        where = a if self.rng.random() < 0.5 else self.destination(a)
        kinds = self.value(a).dtype.kind + self.value(b).dtype.kind
        self.attempt(f"{where} {op} {source}", writes=a, reads=(b,) if source == b else (), rounds="c" in kinds and op == "*=")

    def overlap(self) -> None:
        a = self.pick(self.writable, lambda v: v.ndim > 0 and v.shape[0] > 1)
        if not a:
            return
        move = self.rng.choice(
            [
                "{a}[1:] = {a}[:-1]",
                "{a}[:-1] = {a}[1:]",
                "{a}[...] = {a}[::-1]",
                "{a}[1:] += {a}[:-1]",
                "{a}[::-1] = {a} + {a}",
                "{a}[1:] = {a}[:-1] - {a}[1:]",
            ]
        )
        self.attempt(move.format(a=a), writes=a, reads=(a,))

    def masked(self) -> None:
        a = self.pick(self.writable, lambda v: v.dtype.kind in "iuf")
        if not a or not self.exact(a):
            return
        what = self.rng.choice(["{a}[{a} > 1] = {n}", "{a}[{a} < 0] *= 2", "{a}[{m}] = {n}"])
        m = self.pick(lambda v: v.dtype.kind == "b" and v.shape == self.value(a).shape)
        if "{m}" in what and (not m or not self.exact(m)):
            return
        self.attempt(what.format(a=a, m=m, n=self.rng.choice(["1", "3", "0"])), writes=a, reads=(a,) if "{m}" not in what else (a, m))

    def cast(self) -> None:
        a, t = self.pick(), self.new()
        dtype = self.rng.choices(DTYPES, WEIGHTS)[0]
        if a and self.within(a, np.dtype(dtype)) and not (self.value(a).dtype.kind == "c" and np.dtype(dtype).kind != "c"):
            self.attempt(f"{t} = {a}.astype({dtype!r})", t, reads=(a,))

    def reduction(self) -> None:
        a, t = self.pick(), self.new()
        if not a:
            return
        v = self.value(a)
        name = self.rng.choice(["sum", "sum", "max", "min", "any", "all", "mean", "argmax", "prod", "std", "cumsum"])
        axis = self.rng.choice(["None", *map(str, range(v.ndim))])
        keep = ", keepdims=True" if self.rng.random() < 0.4 and name != "cumsum" else ""
        rounds = v.dtype.kind in "fc" and name not in ("any", "all", "argmax") or name in ("mean", "std")
        self.attempt(f"{t} = {a}.{name}(axis={axis}{keep})", t, reads=(a,), rounds=rounds)

    def row(self) -> None:
        """A reduction and its broadcast use in one row program."""
        a, t = self.pick(lambda v: v.ndim > 0 and v.size > 0 and v.dtype.kind == "f"), self.new()
        if a:
            text = self.rng.choice(
                [
                    "{a} - {a}.max(axis=-1, keepdims=True)",
                    "{a} / ({a} * {a}).sum(axis=-1, keepdims=True)",
                    "({a} - {a}.mean(axis=-1, keepdims=True)) * 2",
                ]
            )
            self.attempt(f"{t} = " + text.format(a=a), t, reads=(a,), rounds=True)

    def select(self) -> None:
        a = self.pick()
        b = self.pick(self.fits(a)) if a else None
        t = self.new()
        if a and b:
            kind = self.rng.randrange(3)
            if kind == 0:
                self.attempt(f"{t} = lib.where({a} == {b}, {a}, {b})", t, reads=(a, b))
            elif kind == 1:
                self.attempt(f"{t} = lib.where({a}, {b}, {self.number(b)})", t, reads=(a, b))
            elif self.value(a).dtype.kind in "iu":
                self.attempt(f"{t} = lib.clip({a}, 1, 5)", t, reads=(a,))

    def gather(self) -> None:
        a, t = self.pick(lambda v: v.ndim > 0 and v.shape[0] > 0), self.new()
        if a:
            n = self.value(a).shape[0]
            at = [self.rng.randrange(-n, n) for _ in range(self.rng.randint(1, 5))]
            self.attempt(f"{t} = {a}[asarray({at})]", t, reads=(a,))

    def scatter(self) -> None:
        a = self.pick(self.writable, lambda v: v.ndim > 0 and v.shape[0] > 0)
        if not a:
            return
        n = self.value(a).shape[0]
        at = self.rng.sample(range(n), min(n, self.rng.randint(1, 4)))
        if self.rng.random() < 0.3:
            at = at + at[:1]
        b = self.pick(lambda v: v.shape in (self.value(a).shape[1:], (len(at), *self.value(a).shape[1:])))
        if self.rng.random() < 0.5 or not b or not self.within(b, self.value(a).dtype):
            self.attempt(f"{a}[asarray({at})] = {self.rng.choice(['1', '3'])}", writes=a)
        else:
            self.attempt(f"{a}[asarray({at})] = {b}", writes=a, reads=(b,))

    def join(self) -> None:
        a, t = self.pick(lambda v: v.ndim > 0), self.new()
        b = self.pick(lambda v: v.ndim == self.value(a).ndim and v.shape[1:] == self.value(a).shape[1:]) if a else None
        if a and b:
            text = self.rng.choice(
                [
                    f"lib.concatenate([{a}, {b}])",
                    f"lib.roll({a}, 2)",
                    f"lib.flip({a}, 0)",
                    f"lib.stack([{a}, {a}])",
                    f"lib.diff({a}, axis=0)",
                ]
            )
            self.attempt(f"{t} = {text}", t, share=a if "flip" in text else None, reads=(a, b))

    def into(self) -> None:
        """out= and where=, copyto."""
        c = self.pick(self.writable)
        a = self.pick(self.fits(c)) if c else None
        b = self.pick(self.fits(c)) if c else None
        if not c or not a or not b:
            return
        m = self.pick(lambda v: v.dtype.kind == "b", self.fits(c))
        if m and self.group[m] == self.group[c]:
            m = None  # NumPy writes while it reads a mask that is its own destination
        out = c if self.rng.random() < 0.6 else self.destination(c)
        mask = f", where={m}" if m and self.rng.random() < 0.4 else ""
        reads = (a, b, m) if mask else (a, b)
        kinds = {self.value(v).dtype.kind for v in (a, b, c)}
        if self.rng.random() < 0.7:
            name = self.rng.choice(["add", "subtract", "multiply"])
            self.attempt(f"lib.{name}({a}, {b}, out={out}{mask})", writes=c, reads=reads, rounds="c" in kinds)
        elif self.within(a, self.value(c).dtype) and self.group[a] != self.group[c]:
            self.attempt(f"lib.copyto({out}, {a}{mask})", writes=c, reads=reads)

    def at(self) -> None:
        a = self.pick(self.writable, lambda v: v.ndim > 0 and v.shape[0] > 0)
        if a:
            n = self.value(a).shape[0]
            at = [self.rng.randrange(-n, n) for _ in range(self.rng.randint(1, 5))]
            self.attempt(f"lib.add.at({a}, asarray({at}), {self.rng.choice([1, 2, 3])})", writes=a)

    def copy(self) -> None:
        a, t = self.pick(lambda v: isinstance(v, np.ndarray)), self.new()
        if a:
            self.attempt(f"{t} = {a}.copy()", t, reads=(a,))

    def expose(self) -> None:
        """The memory is seen from outside from then on; what is seen is compared at the end."""
        a, t = self.pick(lambda v: isinstance(v, np.ndarray) and v.size > 0), self.new()
        if a and self.attempt(f"{t} = expose({a})", t, share=a, reads=(a,)):
            self.variables.remove(t)

    def product(self) -> None:
        a = self.pick(lambda v: v.ndim == 2)
        b = self.pick(lambda v: v.ndim in (1, 2) and v.shape[0] == self.value(a).shape[1]) if a else None
        t = self.new()
        if a and b:
            kinds = self.value(a).dtype.kind + self.value(b).dtype.kind
            self.attempt(f"{t} = {a} @ {b}", t, reads=(a, b), rounds="f" in kinds or "c" in kinds)

    def look(self) -> None:
        a = self.pick()
        if a:
            self.attempt(f"look({a})")

    def drop(self) -> None:
        if len(self.variables) > 3:
            v = self.rng.choice(self.variables)
            if self.attempt(f"del {v}"):
                self.variables.remove(v)

    def swap(self) -> None:
        a = self.pick()
        b = self.pick(lambda v: v.shape == self.value(a).shape and v.dtype == self.value(a).dtype) if a else None
        if a and b and a != b and self.attempt(f"{a}, {b} = {b}, {a}"):
            self.group[a], self.group[b] = self.group[b], self.group[a]


# ---- Running ----------------------------------------------------------------------------------------------------------------------------


def run(statements: list[str], lib) -> dict:
    """The variables at the end of a program."""

    def look(v):
        if lib is not np and v.size:
            v.tobytes()

    names: dict = {"lib": lib, "data": data, "fortran": np.asfortranarray, "look": look, "expose": expose, "asarray": lib.asarray}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for statement in statements:
            exec(statement, names)
    return {k: v for k, v in names.items() if k.startswith("v") and k[1:].isdigit()}


def bits(a: np.ndarray) -> bytes:
    """The bytes of an array with every NaN made the same."""
    a = np.array(a)
    if a.dtype.kind == "f":
        a[np.isnan(a)] = np.nan
    elif a.dtype.kind == "c":
        a.real[np.isnan(a.real)] = np.nan
        a.imag[np.isnan(a.imag)] = np.nan
    return a.tobytes()


def equal(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(((a == b) | ((a != a) & (b != b))).all())


ELEMENTWISE = "|".join(UNARY_EXACT + UNARY_ROUNDED + BINARY_EXACT + BINARY_ROUNDED)
LAID_OUT = re.compile(
    r"asarray\(.*\)|v\d+\.T|v\d+ [-+*] v\d+|v\d+\.(astype|copy|sum|max|any|mean)\(.*\)|lib\.(" + ELEMENTWISE + r")\(v\d+(, v\d+)?\)"
)


def laid_out(statements: list[str]) -> set[str]:
    """The variables whose strides are NumPy's too: sources, elementwise results, copies, casts, transposes and reductions of such ones."""
    known: set[str] = set()
    for statement in statements:
        target, _, made = statement.partition(" = ")
        if not re.fullmatch(r"v\d+", target):
            if "," in target:
                known -= {v.strip() for v in target.split(",")}
            continue
        if LAID_OUT.fullmatch(made) and set(re.findall(r"\bv\d+", made)) <= known:
            known.add(target)
        else:
            known.discard(target)
    return known


def steps(a) -> list[int]:
    """The strides that count, in elements."""
    return [s // a.itemsize for n, s in zip(a.shape, a.strides) if n > 1] if a.size else []


def difference(statements: list[str], rounded: set[str], device: str = "cpu", ways: dict | None = None) -> str | None:
    """What is wrong with a program; None when all ways agree."""
    try:
        want = run(statements, np)
    except Exception:
        return None  # no program: a statement that it needs was taken out
    results: dict[str, dict[str, np.ndarray]] = {}
    for way, settings in (ways or WAYS).items():
        if way == "tier0" and device != "cpu":
            continue
        try:
            with configured(**settings), on_device(device):
                made = run(statements, bc)
                results[way] = {k: host(v).copy() for k, v in made.items()}
                strides = {k: steps(v) for k, v in made.items()}
        except Exception as error:
            try:
                bc.synchronize()
            except Exception:
                pass
            return f"{way}: {type(error).__name__}: {str(error)[:300]}"
        for name in sorted(laid_out(statements)):
            if name in want and want[name].ndim and strides[name] != steps(want[name]):
                return f"{way}: {name} has strides {strides[name]}, NumPy's {steps(want[name])}"
    first = next(iter(results))
    for name, n in want.items():
        n = np.asarray(n)
        for way, found in results.items():
            g = found[name]
            if g.shape != n.shape or g.dtype != n.dtype:
                return f"{way}: {name} is {g.dtype}{g.shape}, NumPy's {n.dtype}{n.shape}"
            if bits(g) != bits(results[first][name]):
                return f"{name} differs between {first} and {way}:\n{results[first][name]!r}\n{g!r}"
        if name not in rounded and not equal(results[first][name], n):
            return f"{name} differs from NumPy's:\n{results[first][name]!r}\n{n!r}"
    return None


def make(seed: int) -> tuple[list[str], set[str]]:
    maker = Maker(seed, length=4 + seed % 14)
    return maker.statements, {v for v in maker.group if maker.group[v] in maker.rounded}


def wrong(statements: list[str], seed: int | None, run: Run) -> str | None:
    """What is wrong with the program of a seed, or with a part of it."""
    rounded = {f"v{k}" for k in range(1000)} if seed is None else make(seed)[1]
    ways = WAYS if run.device != "cpu" or seed is None or seed % run.every == 0 else LOOPS
    return difference(statements, rounded, run.device, ways)


PROGRAMS = Programs(
    __file__,
    lambda seed: make(seed)[0],
    wrong,
    [
        "import sys; sys.path.insert(0, 'tests')",
        "import broadcloth as bc",
        "from differential import data, expose",
        "lib, asarray, look = bc, bc.asarray, lambda v: v.tobytes()",
    ],
)
check, check_all = PROGRAMS.check, PROGRAMS.check_all

if __name__ == "__main__":
    sys.exit(PROGRAMS.main(__doc__))
