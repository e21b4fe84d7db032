"""Methods of `numpy.random.Generator` in compiled functions: NumPy's own library draws, so that streams are NumPy's.

The compiler imports this module when a function is first given a generator, which is then the address of its bit generator.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._table import distribution, stands_for

_library = ctypes.CDLL(np.random._generator.__file__)  # type: ignore[attr-defined]


def _c(name: str, result: Any, *types: Any) -> Any:
    """One of the functions that NumPy exports for other languages (numpy/random/distributions.h)."""
    function = getattr(_library, name)
    function.argtypes = [ctypes.c_void_p, *types]
    function.restype = result
    return function


_d, _f, _i, _u, _p, _b = ctypes.c_double, ctypes.c_float, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_bool

_uniform, _uniform_f = _c("random_standard_uniform", _d), _c("random_standard_uniform_f", _f)
_uniforms, _uniforms_f = _c("random_standard_uniform_fill", None, _i, _p), _c("random_standard_uniform_fill_f", None, _i, _p)
_normal, _normal_f = _c("random_standard_normal", _d), _c("random_standard_normal_f", _f)
_normals, _normals_f = _c("random_standard_normal_fill", None, _i, _p), _c("random_standard_normal_fill_f", None, _i, _p)
_exponential, _exponential_f = _c("random_standard_exponential", _d), _c("random_standard_exponential_f", _f)
_exponentials, _exponentials_f = (
    _c("random_standard_exponential_fill", None, _i, _p),
    _c("random_standard_exponential_fill_f", None, _i, _p),
)
_inverted, _inverted_f = (
    _c("random_standard_exponential_inv_fill", None, _i, _p),
    _c("random_standard_exponential_inv_fill_f", None, _i, _p),
)
_one_gamma, _one_gamma_f = _c("random_standard_gamma", _d, _d), _c("random_standard_gamma_f", _f, _f)
_bounded = _c("random_bounded_uint64", _u, _u, _u, _u, _b)
_bounded_32 = _c("random_buffered_bounded_uint32", ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, _b, _p, _p)
_interval = _c("random_interval", _u, _u)
_bounded_fill_64 = _c("random_bounded_uint64_fill", None, _u, _u, _i, _b, _p)
_bounded_fill_32 = _c("random_bounded_uint32_fill", None, ctypes.c_uint32, ctypes.c_uint32, _i, _b, _p)
_bounded_fill_16 = _c("random_bounded_uint16_fill", None, ctypes.c_uint16, ctypes.c_uint16, _i, _b, _p)
_bounded_fill_8 = _c("random_bounded_uint8_fill", None, ctypes.c_uint8, ctypes.c_uint8, _i, _b, _p)


def _drawn_1(one, rng, a, size, dtype=np.float64):
    if size is None:
        return one(rng, a)
    out = np.empty(size, dtype=dtype)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = one(rng, a)
    return out


def _drawn_2(one, rng, a, b, size, dtype=np.float64):
    if size is None:
        return one(rng, a, b)
    out = np.empty(size, dtype=dtype)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = one(rng, a, b)
    return out


def _drawn_3(one, rng, a, b, c, size, dtype=np.float64):
    if size is None:
        return one(rng, a, b, c)
    out = np.empty(size, dtype=dtype)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = one(rng, a, b, c)
    return out


def _standard(one, one_f, fill, fill_f, rng, size, dtype):
    """A number, or an array that the library fills."""
    if size is None:
        if np.finfo(dtype).bits == 32:
            return one_f(rng)
        return one(rng)
    out = np.empty(size, dtype=dtype)
    if np.finfo(dtype).bits == 32:
        fill_f(rng, out.size, out.ctypes)
    else:
        fill(rng, out.size, out.ctypes)
    return out


@stands_for("generator.random")
def random(rng, size=None, dtype=np.float64):
    return _standard(_uniform, _uniform_f, _uniforms, _uniforms_f, rng, size, dtype)


@stands_for("generator.standard_normal")
def standard_normal(rng, size=None, dtype=np.float64):
    return _standard(_normal, _normal_f, _normals, _normals_f, rng, size, dtype)


@stands_for("generator.standard_exponential")
def standard_exponential(rng, size=None, dtype=np.float64, method="zig"):
    if method == "zig":
        return _standard(_exponential, _exponential_f, _exponentials, _exponentials_f, rng, size, dtype)
    if size is None:
        one = np.empty(1, dtype=dtype)
        if np.finfo(dtype).bits == 32:
            _inverted_f(rng, 1, one.ctypes)
        else:
            _inverted(rng, 1, one.ctypes)
        return one[0]
    return _standard(_exponential, _exponential_f, _inverted, _inverted_f, rng, size, dtype)


@stands_for("generator.uniform")
def uniform(rng, low=0.0, high=1.0, size=None):
    return _drawn_2(_uniform_between, rng, low, high - low, size)


_uniform_between = _c("random_uniform", _d, _d, _d)


def _whole(dtype, low, last):
    """Refuses bounds that no number of the type can meet."""
    if low > last:
        raise ValueError("low >= high")
    if low < np.iinfo(dtype).min:
        raise ValueError("low is out of bounds for the dtype")
    if last > 0 and np.uint64(last) > np.uint64(np.iinfo(dtype).max):
        raise ValueError("high is out of bounds for the dtype")


@stands_for("generator.integers")
def integers(rng, low, high=None, size=None, dtype=np.int64, endpoint=False):
    if high is None:
        first, last = np.int64(0), np.int64(low)
    else:
        first, last = np.int64(low), np.int64(high)
    if not endpoint:
        last -= 1
    _whole(dtype, first, last)
    span = np.uint64(last) - np.uint64(first)
    if size is None:
        if np.iinfo(dtype).bits == 64:
            return dtype(_bounded(rng, np.uint64(first), span, np.uint64(0), False))
        if np.iinfo(dtype).bits == 32:
            return dtype(_bounded_32(rng, np.uint32(first), np.uint32(span), np.uint32(0), False, 0, 0))
    if size is None:
        out = np.empty(1, dtype=dtype)
    else:
        out = np.empty(size, dtype=dtype)
    if np.iinfo(dtype).bits == 64:
        _bounded_fill_64(rng, np.uint64(first), span, out.size, False, out.ctypes)
    elif np.iinfo(dtype).bits == 32:
        _bounded_fill_32(rng, np.uint32(first), np.uint32(span), out.size, False, out.ctypes)
    elif np.iinfo(dtype).bits == 16:
        _bounded_fill_16(rng, np.uint16(first), np.uint16(span), out.size, False, out.ctypes)
    else:
        _bounded_fill_8(rng, np.uint8(first), np.uint8(span), out.size, False, out.ctypes)
    if size is None:
        return out[0]
    return out


@stands_for("generator.shuffle")
def shuffle(rng, x, axis=0):
    if axis != 0:
        x = np.swapaxes(x, 0, axis)
    for i in range(len(x) - 1, 0, -1):
        j = np.int64(_interval(rng, np.uint64(i)))
        if i != j:
            if x.ndim == 1:
                kept = x[i]
                x[i] = x[j]
                x[j] = kept
            else:
                row = x[i].copy()
                x[i] = x[j]
                x[j] = row


@stands_for("generator.permutation")
def permutation(rng, x, axis=0):
    if isinstance(x, np.ndarray):
        if x.ndim == 1:
            made = x.copy()
            shuffle(rng, made)
            return made
        order = np.arange(x.shape[axis])
        shuffle(rng, order)
        return np.take(x, order, axis)
    made = np.arange(x)
    shuffle(rng, made)
    return made


# ---- distributions ----------------------------------------------------------------------------------------------------

_cauchy = _c("random_standard_cauchy", _d)
_binomial_of = _c("random_binomial", _i, _d, _i, _p)

# A row is a method, its parameters, and what NumPy refuses: a test, which is also what is said, or a test and the words. The function is
# NumPy's "random_" and the method's name, of real numbers.
_REALS: list[Any] = [
    ("normal", "loc=0.0, scale=1.0", "scale < 0"),
    ("exponential", "scale=1.0", "scale < 0"),
    ("gamma", "shape, scale=1.0", "shape < 0", "scale < 0"),
    ("beta", "a, b", ("not a > 0", "a <= 0"), ("not b > 0", "b <= 0")),
    ("chisquare", "df", ("not df > 0", "df <= 0")),
    ("f", "dfnum, dfden", ("not dfnum > 0", "dfnum <= 0"), ("not dfden > 0", "dfden <= 0")),
    ("pareto", "a", ("not a > 0", "a <= 0")),
    ("weibull", "a", "a < 0"),
    ("power", "a", ("not a > 0", "a <= 0")),
    ("laplace", "loc=0.0, scale=1.0", "scale < 0"),
    ("gumbel", "loc=0.0, scale=1.0", "scale < 0"),
    ("logistic", "loc=0.0, scale=1.0", "scale < 0"),
    ("lognormal", "mean=0.0, sigma=1.0", "sigma < 0"),
    ("rayleigh", "scale=1.0", "scale < 0"),
    ("standard_t", "df", ("not df > 0", "df <= 0")),
    ("wald", "mean, scale", ("not mean > 0", "mean <= 0"), ("not scale > 0", "scale <= 0")),
    ("vonmises", "mu, kappa", "kappa < 0"),
    ("noncentral_chisquare", "df, nonc", ("not df > 0", "df <= 0"), "nonc < 0"),
    ("noncentral_f", "dfnum, dfden, nonc", ("not dfnum > 0", "dfnum <= 0"), ("not dfden > 0", "dfden <= 0"), "nonc < 0"),
    ("triangular", "left, mode, right", "left > mode", "mode > right", "left == right"),
]
# The same with whole numbers as results.
_WHOLE: list[Any] = [
    ("poisson", "lam=1.0", ("lam < 0 or lam != lam", "lam < 0 or lam is NaN")),
    ("geometric", "p", ("not 0.0 < p <= 1.0", "p <= 0, p > 1 or p contains NaNs")),
    ("zipf", "a", ("not a > 1.0", "a <= 1 or a is NaN")),
    ("logseries", "p", ("not 0.0 <= p < 1.0", "p < 0, p >= 1 or p is NaN")),
    ("negative_binomial", "n, p", ("not n > 0", "n <= 0"), ("not 0.0 < p <= 1.0", "p <= 0, p > 1 or p contains NaNs")),
]


def _define(dtype: str, number: Any, name: str, parameters: str, *refused: str | tuple[str, str]) -> None:
    """Defines the method of a row."""
    names = [p.split("=")[0] for p in parameters.split(", ")]
    globals()[f"_{name}_of"] = _c(f"random_{name}", number, *[_d] * len(names))
    body = f"_drawn_{len(names)}(_{name}_of, rng, {', '.join(names)}, size, np.{dtype})"
    stands_for(f"generator.{name}")(distribution(name, f"rng, {parameters}", refused, body, globals()))


for _row in _REALS:
    _define("float64", _d, *_row)
for _row in _WHOLE:
    _define("int64", _i, *_row)

_hypergeometric_of = _c("random_hypergeometric", _i, _i, _i, _i)


@stands_for("generator.hypergeometric")
def hypergeometric(rng, ngood, nbad, nsample, size=None):
    if ngood < 0 or nbad < 0 or nsample < 0:
        raise ValueError("ngood, nbad or nsample < 0")
    if ngood + nbad < nsample:
        raise ValueError("ngood + nbad < nsample")
    return _drawn_3(_hypergeometric_of, rng, ngood, nbad, nsample, size, np.int64)


@stands_for("generator.standard_gamma")
def standard_gamma(rng, shape, size=None, dtype=np.float64):
    if shape < 0:
        raise ValueError("shape < 0")
    if np.finfo(dtype).bits == 32:
        return _drawn_1(_one_gamma_f, rng, np.float32(shape), size, dtype)
    return _drawn_1(_one_gamma, rng, shape, size)


@stands_for("generator.standard_cauchy")
def standard_cauchy(rng, size=None):
    if size is None:
        return _cauchy(rng)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _cauchy(rng)
    return out


@stands_for("generator.binomial")
def binomial(rng, n, p, size=None):
    if n < 0:
        raise ValueError("n < 0")
    if not 0.0 <= p <= 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    kept = np.zeros(64, dtype=np.int64)  # what the library keeps of n and p from one number to the next
    if size is None:
        return _binomial_of(rng, p, n, kept.ctypes)
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _binomial_of(rng, p, n, kept.ctypes)
    return out
