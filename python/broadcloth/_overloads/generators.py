"""Methods of `numpy.random.Generator` in compiled functions: NumPy's own library draws, so that streams are NumPy's.

The compiler imports this module when a function is first given a generator, which is then the address of its bit generator.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ._table import stands_for

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


# ---- distributions over the reals -------------------------------------------------------------------------------------

_normal_of, _gamma_of, _beta_of = _c("random_normal", _d, _d, _d), _c("random_gamma", _d, _d, _d), _c("random_beta", _d, _d, _d)
_exponential_of, _chisquare_of, _f_of = _c("random_exponential", _d, _d), _c("random_chisquare", _d, _d), _c("random_f", _d, _d, _d)
_cauchy, _pareto_of, _weibull_of = _c("random_standard_cauchy", _d), _c("random_pareto", _d, _d), _c("random_weibull", _d, _d)
_power_of, _laplace_of, _gumbel_of = _c("random_power", _d, _d), _c("random_laplace", _d, _d, _d), _c("random_gumbel", _d, _d, _d)
_logistic_of, _lognormal_of = _c("random_logistic", _d, _d, _d), _c("random_lognormal", _d, _d, _d)
_rayleigh_of, _t_of, _wald_of = _c("random_rayleigh", _d, _d), _c("random_standard_t", _d, _d), _c("random_wald", _d, _d, _d)
_noncentral_chisquare_of = _c("random_noncentral_chisquare", _d, _d, _d)
_noncentral_f_of, _triangular_of = _c("random_noncentral_f", _d, _d, _d, _d), _c("random_triangular", _d, _d, _d, _d)
_vonmises_of = _c("random_vonmises", _d, _d, _d)


@stands_for("generator.normal")
def normal(rng, loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_2(_normal_of, rng, loc, scale, size)


@stands_for("generator.exponential")
def exponential(rng, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_1(_exponential_of, rng, scale, size)


@stands_for("generator.gamma")
def gamma(rng, shape, scale=1.0, size=None):
    if shape < 0:
        raise ValueError("shape < 0")
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_2(_gamma_of, rng, shape, scale, size)


@stands_for("generator.standard_gamma")
def standard_gamma(rng, shape, size=None, dtype=np.float64):
    if shape < 0:
        raise ValueError("shape < 0")
    if np.finfo(dtype).bits == 32:
        return _drawn_1(_one_gamma_f, rng, np.float32(shape), size, dtype)
    return _drawn_1(_one_gamma, rng, shape, size)


@stands_for("generator.beta")
def beta(rng, a, b, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    if not b > 0:
        raise ValueError("b <= 0")
    return _drawn_2(_beta_of, rng, a, b, size)


@stands_for("generator.chisquare")
def chisquare(rng, df, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    return _drawn_1(_chisquare_of, rng, df, size)


@stands_for("generator.f")
def f(rng, dfnum, dfden, size=None):
    if not dfnum > 0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0:
        raise ValueError("dfden <= 0")
    return _drawn_2(_f_of, rng, dfnum, dfden, size)


@stands_for("generator.standard_cauchy")
def standard_cauchy(rng, size=None):
    if size is None:
        return _cauchy(rng)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _cauchy(rng)
    return out


@stands_for("generator.pareto")
def pareto(rng, a, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    return _drawn_1(_pareto_of, rng, a, size)


@stands_for("generator.weibull")
def weibull(rng, a, size=None):
    if a < 0:
        raise ValueError("a < 0")
    return _drawn_1(_weibull_of, rng, a, size)


@stands_for("generator.power")
def power(rng, a, size=None):
    if not a > 0:
        raise ValueError("a <= 0")
    return _drawn_1(_power_of, rng, a, size)


@stands_for("generator.laplace")
def laplace(rng, loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_2(_laplace_of, rng, loc, scale, size)


@stands_for("generator.gumbel")
def gumbel(rng, loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_2(_gumbel_of, rng, loc, scale, size)


@stands_for("generator.logistic")
def logistic(rng, loc=0.0, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_2(_logistic_of, rng, loc, scale, size)


@stands_for("generator.lognormal")
def lognormal(rng, mean=0.0, sigma=1.0, size=None):
    if sigma < 0:
        raise ValueError("sigma < 0")
    return _drawn_2(_lognormal_of, rng, mean, sigma, size)


@stands_for("generator.rayleigh")
def rayleigh(rng, scale=1.0, size=None):
    if scale < 0:
        raise ValueError("scale < 0")
    return _drawn_1(_rayleigh_of, rng, scale, size)


@stands_for("generator.standard_t")
def standard_t(rng, df, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    return _drawn_1(_t_of, rng, df, size)


@stands_for("generator.wald")
def wald(rng, mean, scale, size=None):
    if not mean > 0:
        raise ValueError("mean <= 0")
    if not scale > 0:
        raise ValueError("scale <= 0")
    return _drawn_2(_wald_of, rng, mean, scale, size)


@stands_for("generator.vonmises")
def vonmises(rng, mu, kappa, size=None):
    if kappa < 0:
        raise ValueError("kappa < 0")
    return _drawn_2(_vonmises_of, rng, mu, kappa, size)


@stands_for("generator.noncentral_chisquare")
def noncentral_chisquare(rng, df, nonc, size=None):
    if not df > 0:
        raise ValueError("df <= 0")
    if nonc < 0:
        raise ValueError("nonc < 0")
    return _drawn_2(_noncentral_chisquare_of, rng, df, nonc, size)


@stands_for("generator.noncentral_f")
def noncentral_f(rng, dfnum, dfden, nonc, size=None):
    if not dfnum > 0:
        raise ValueError("dfnum <= 0")
    if not dfden > 0:
        raise ValueError("dfden <= 0")
    if nonc < 0:
        raise ValueError("nonc < 0")
    return _drawn_3(_noncentral_f_of, rng, dfnum, dfden, nonc, size)


@stands_for("generator.triangular")
def triangular(rng, left, mode, right, size=None):
    if left > mode:
        raise ValueError("left > mode")
    if mode > right:
        raise ValueError("mode > right")
    if left == right:
        raise ValueError("left == right")
    return _drawn_3(_triangular_of, rng, left, mode, right, size)


# ---- distributions over whole numbers ---------------------------------------------------------------------------------

_poisson_of, _geometric_of, _zipf_of = _c("random_poisson", _i, _d), _c("random_geometric", _i, _d), _c("random_zipf", _i, _d)
_logseries_of, _negative_binomial_of = _c("random_logseries", _i, _d), _c("random_negative_binomial", _i, _d, _d)
_hypergeometric_of = _c("random_hypergeometric", _i, _i, _i, _i)
_binomial_of = _c("random_binomial", _i, _d, _i, _p)


@stands_for("generator.poisson")
def poisson(rng, lam=1.0, size=None):
    if lam < 0 or lam != lam:
        raise ValueError("lam < 0 or lam is NaN")
    return _drawn_1(_poisson_of, rng, lam, size, np.int64)


@stands_for("generator.geometric")
def geometric(rng, p, size=None):
    if not 0.0 < p <= 1.0:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _drawn_1(_geometric_of, rng, p, size, np.int64)


@stands_for("generator.zipf")
def zipf(rng, a, size=None):
    if not a > 1.0:
        raise ValueError("a <= 1 or a is NaN")
    return _drawn_1(_zipf_of, rng, a, size, np.int64)


@stands_for("generator.logseries")
def logseries(rng, p, size=None):
    if not 0.0 <= p < 1.0:
        raise ValueError("p < 0, p >= 1 or p is NaN")
    return _drawn_1(_logseries_of, rng, p, size, np.int64)


@stands_for("generator.negative_binomial")
def negative_binomial(rng, n, p, size=None):
    if not n > 0:
        raise ValueError("n <= 0")
    if not 0.0 < p <= 1.0:
        raise ValueError("p <= 0, p > 1 or p contains NaNs")
    return _drawn_2(_negative_binomial_of, rng, n, p, size, np.int64)


@stands_for("generator.hypergeometric")
def hypergeometric(rng, ngood, nbad, nsample, size=None):
    if ngood < 0 or nbad < 0 or nsample < 0:
        raise ValueError("ngood, nbad or nsample < 0")
    if ngood + nbad < nsample:
        raise ValueError("ngood + nbad < nsample")
    return _drawn_3(_hypergeometric_of, rng, ngood, nbad, nsample, size, np.int64)


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
