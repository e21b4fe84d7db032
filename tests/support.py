"""What the Python tests share: dtypes, layouts, values, comparisons in units of the last place."""

from __future__ import annotations

import contextlib
import linecache
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import broadcloth as bc

ROOT = Path(__file__).resolve().parent.parent

BOOL = ["bool"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
REALS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = BOOL + INTS + REALS + COMPLEX  # what NumPy has too; bfloat16 has tests of its own


def base_values(dtype: str, seed: int = 0, shape: tuple[int, ...] = (6, 8)) -> np.ndarray:
    """A C-contiguous array with the values that break things (signed zeros, infinities, NaN, denormals, extremes) and ordinary numbers."""
    rng = np.random.default_rng([seed, DTYPES.index(dtype)])
    dt = np.dtype(dtype)
    size = int(np.prod(shape))
    if dt.kind == "b":
        values = rng.random(size) < 0.5
    elif dt.kind in "iu":
        info = np.iinfo(dt)
        values = rng.integers(max(info.min, -9), min(info.max, 10), size, dtype=dt, endpoint=False)
        special = [0, 1, info.max, info.min, info.max - 1, 2, 3, min(info.max, 100)]
        values[: len(special)] = np.array(special, dtype=dt)
    elif dt.kind == "f":
        values = (rng.standard_normal(size) * np.exp(rng.uniform(-3, 3, size))).astype(dt)
        special = float_specials(dt)
        values[: len(special)] = special
    else:
        part = np.dtype(f"f{dt.itemsize // 2}")
        values = np.empty(size, dt)
        values.real = rng.standard_normal(size).astype(part)
        values.imag = rng.standard_normal(size).astype(part)
        values[:6] = [0, 1, -1, 1j, -1j, 0.5 + 0.25j]
    return values.reshape(shape)


def float_specials(dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    return np.array(
        [
            0.0,
            -0.0,
            1.0,
            -1.0,
            np.inf,
            -np.inf,
            np.nan,
            info.smallest_subnormal,
            info.tiny,
            info.max / 2,
            info.eps,
            0.5,
            2.0,
            -2.5,
            1.5,
            3.0,
        ],
        dtype=dtype,
    )


def _broadcast(a, xp):
    return xp.broadcast_to(a[:1], (4,) + tuple(a.shape[1:]))


# Each turns a base array of shape (6, 8) into one of the named layout by the same calls on NumPy and on broadcloth.
LAYOUTS = {
    "contiguous": lambda a, xp: a,
    "transposed": lambda a, xp: a.T,
    "stepped": lambda a, xp: a[::2, 1::3],
    "reversed": lambda a, xp: a[::-1, ::-1],
    "offset": lambda a, xp: a[1:, 2:],
    "broadcast": _broadcast,
    "zero_dim": lambda a, xp: a[1:2, 3:4].reshape(()),
    "empty": lambda a, xp: a[:0],
}


def host(x) -> np.ndarray:
    """NumPy's array of a broadcloth array; other things pass through np.asarray."""
    return x.get() if isinstance(x, bc.ndarray) else np.asarray(x)


def dense(x) -> np.ndarray:
    """The same of a sparse matrix of either library, too."""
    return host(x.toarray() if hasattr(x, "toarray") else x)


@contextlib.contextmanager
def configured(**settings):
    """Sets fields of broadcloth's configuration (lazy, jit, background_compile) for a block."""
    old = {name: getattr(bc.config, name) for name in settings}
    bc.synchronize()
    try:
        for name, value in settings.items():
            setattr(bc.config, name, value)
        yield
    finally:
        try:
            bc.synchronize()
        finally:
            for name, value in old.items():
                setattr(bc.config, name, value)


def run_python(code: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 240) -> subprocess.CompletedProcess:
    """Runs a program in a fresh interpreter that imports the same broadcloth; fails the test with its output unless it exits with 0."""
    done = start_python(code, *arguments, env=env, timeout=timeout)
    assert done.returncode == 0, f"exit status {done.returncode}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
    return done


def child_environment(env: dict[str, str] | None = None) -> dict[str, str]:
    package = str(Path(bc.__file__).parent.parent)
    merged = {**os.environ, **(env or {})}
    merged["PYTHONPATH"] = os.pathsep.join([package] + [p for p in merged.get("PYTHONPATH", "").split(os.pathsep) if p and p != package])
    return merged


def start_python(code: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 240) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], env=child_environment(env), capture_output=True, text=True, timeout=timeout
    )


# ---- Comparison ---------------------------------------------------------------------------------------------------------------------


def assert_same(got, want, context: str = "") -> None:
    """Shape, dtype and every element equal; NaN equals NaN, NaT equals NaT, and zeros have the same sign."""
    got, want = host(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{context}: dtype {got.dtype}, NumPy's is {want.dtype}"
    assert got.shape == want.shape, f"{context}: shape {got.shape}, NumPy's is {want.shape}"
    if want.dtype.kind in "fc":
        parts = [(got.real, want.real), (got.imag, want.imag)] if want.dtype.kind == "c" else [(got, want)]
        same = np.ones(want.shape, bool)
        for g, w in parts:
            same &= ((g == w) & (np.signbit(g) == np.signbit(w))) | (np.isnan(g) & np.isnan(w))
    else:
        same = (got == want) | ((got != got) & (want != want))
    _fail_unless(same, got, want, context)


def outcome(code: str, xp, **names):
    """What the last expression of statements parted by ";" gives, or the exception that one of them raises."""
    *statements, last = (part.strip() for part in code.split(";"))
    scope = {"xp": xp, "np": np, **names}
    try:
        exec("\n".join(statements), scope)
        return eval(last, scope)
    except Exception as error:
        return error


def late_error() -> Exception | None:
    """What waiting for all work raises: on a GPU an index out of range is found only then."""
    try:
        bc.synchronize()
    except Exception as error:
        return error
    return None


def builtin_class(error: BaseException) -> type:
    """The built-in exception that NumPy's own classes are kinds of."""
    return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def assert_like_numpy(xp, code: str) -> None:
    """Statements parted by ";" end in the same value, type and writeability, or the same built-in exception, as with NumPy."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = outcome(code, np), outcome(code, xp)
    if isinstance(want, Exception):
        if not isinstance(got, Exception):
            got = late_error() or got
        assert isinstance(got, Exception), f"{code}: gives {got!r}, NumPy raises {want!r}"
        assert isinstance(got, builtin_class(want)), f"{code}: raises {got!r}, NumPy {want!r}"
        return
    assert not isinstance(got, Exception), f"{code}: raises {got!r}, NumPy gives {want!r}"
    if not isinstance(want, np.ndarray | np.generic):
        assert type(got) is type(want) and got == want, f"{code}: gives {got!r}, NumPy {want!r}"
        return
    assert_same(got, want, code)
    if isinstance(want, np.ndarray):
        assert got.flags.writeable == want.flags.writeable, f"{code}: writeable is {got.flags.writeable}"


def assert_close_to_numpy(xp, code: str, rtol: float = 0.0, **operands) -> None:
    """An expression over `xp` and the operands, whose NumPy arrays become arrays of `xp`, gives what NumPy gives, in the same dtypes and
    shapes and to `rtol` of the largest element; or it raises the same built-in exception. Tuples and lists are compared item by item."""
    results = []
    for m in (np, xp):
        names = {name: m.array(v) if isinstance(v, np.ndarray) else v for name, v in operands.items()}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(outcome(code, m, **names))
    _assert_close(results[1], results[0], rtol, f"{code} {operands}")


def _assert_close(got, want, rtol: float, context: str) -> None:
    if isinstance(want, Exception):
        assert isinstance(got, builtin_class(want)), f"{context}: gives {got!r}, NumPy raises {want!r}"
        return
    assert not isinstance(got, Exception), f"{context}: raises {got!r}, NumPy gives {want!r}"
    if isinstance(want, tuple | list):
        assert type(got) is type(want) and len(got) == len(want), f"{context}: gives {got!r}, NumPy {want!r}"
        for g, w in zip(got, want, strict=True):
            _assert_close(g, w, rtol, context)
        return
    if not isinstance(want, np.ndarray | np.generic):
        assert type(got) is type(want) and got == want, f"{context}: gives {got!r}, NumPy {want!r}"
        return
    g, w = host(got), np.asarray(want)
    assert (g.dtype, g.shape) == (w.dtype, w.shape), f"{context}: gives {g.dtype} {g.shape}, NumPy {w.dtype} {w.shape}"
    if rtol == 0 or w.dtype.kind not in "fc":
        np.testing.assert_array_equal(g, w, context)
        return
    finite = np.abs(w[np.isfinite(w)].astype(np.complex128))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=rtol * finite.max(initial=0.0), err_msg=context)


def assert_ulp(got, want, ulp: float, dtype=None, context: str = "", loose_sign: bool = False, floor: float = 0.0) -> None:
    """Each element within `ulp` units in the last place of `want`, which may be of a wider type than the result's `dtype`.

    Infinities and NaN must agree; a result may differ by `floor` in any case.
    """
    got, want = host(got), np.asarray(want)
    dtype = np.dtype(dtype if dtype is not None else want.dtype)
    assert got.dtype == dtype, f"{context}: dtype {got.dtype}, expected {dtype}"
    assert got.shape == want.shape, f"{context}: shape {got.shape}, NumPy's is {want.shape}"
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            _assert_complex_ulp(got, want, ulp, dtype, context, floor)
            return
        rounded = want.astype(dtype)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 0)).astype(dtype)).astype(want.dtype)
        close = np.abs(got.astype(want.dtype) - want) <= ulp * unit + floor
        same = np.where(np.isfinite(rounded), close, (got == rounded) | (np.isnan(got) & np.isnan(rounded)))
        # A value next to the largest may round to infinity, or not.
        near_top = np.abs(want) >= np.finfo(dtype).max * (1 - 4 * np.finfo(dtype).eps)
        same |= near_top & np.isinf(got) & (np.sign(got.astype(want.dtype)) == np.sign(want))
        same |= np.isinf(rounded) & np.isfinite(want) & (np.abs(got) >= np.finfo(dtype).max)
        if not loose_sign:
            same &= ~((rounded == 0) & (got == 0) & (np.signbit(got) != np.signbit(rounded)))
    _fail_unless(same, got, want, context)


def _assert_complex_ulp(got, want, ulp, dtype, context, floor) -> None:
    part = np.finfo(dtype).dtype
    size = np.abs(want)
    finite = np.isfinite(want) & np.isfinite(size.astype(part))
    unit = np.spacing(np.where(finite, size, 0).astype(part)).astype(size.dtype)
    close = np.abs(got.astype(want.dtype) - want) <= ulp * unit + floor
    # Where NumPy's result is not finite, ours must not be either; which part holds what is tested one by one elsewhere.
    same = np.where(finite, close, ~np.isfinite(got))
    _fail_unless(same, got, want, context)


def _fail_unless(same, got, want, context) -> None:
    same = np.asarray(same)
    if same.all():
        return
    wrong = np.argwhere(~same)
    lines = [f"{context}: {len(wrong)} of {same.size} elements differ"]
    for index in map(tuple, wrong[:8]):
        lines.append(f"  at {index}: got {got[index]!r}, expected {want[index]!r}")
    raise AssertionError("\n".join(lines))


def wide(a: np.ndarray) -> np.ndarray:
    """The same values in a type with many more bits, in which a reference is computed: double for single, extended for double."""
    kinds = {
        "float16": np.float64,
        "float32": np.float64,
        "float64": np.longdouble,
        "complex64": np.complex128,
        "complex128": np.clongdouble,
    }
    return a.astype(kinds.get(a.dtype.name, a.dtype))


def in_threads(count, function):
    """Runs function(k) in `count` threads that start together; raises the first error."""
    barrier = threading.Barrier(count)

    def work(k):
        barrier.wait()
        return function(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def device_of(xp):
    return str(xp.default_device())


def function_of_text(text, name="f"):
    """The function of a text, which the compiler can read again."""
    file = f"<made {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict = {}
    exec(compile(text, file, "exec"), names)
    return names[name]
