"""Distributions of numpy.random over the uniform and normal numbers that the compiler has."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from ._table import distribution, stands_for


def _c(name, count):
    """The C library's function, as NumPy calls it: the same bits, and for one number after the other faster than those made for vectors."""
    function = getattr(ctypes.CDLL(None), name)
    function.argtypes, function.restype = [ctypes.c_double] * count, ctypes.c_double
    return function


_pow, _exp, _log, _log1p = _c("pow", 2), _c("exp", 1), _c("log", 1), _c("log1p", 1)
_cos, _acos, _expm1 = _c("cos", 1), _c("acos", 1), _c("expm1", 1)


@stands_for("numpy.random.choice")
def choice(a, size=None, replace=True, p=None):
    if p is not None:
        return _weighted_choice(a, size, replace, np.asarray(p))
    if size is None:
        if isinstance(a, np.ndarray):
            if a.size == 0:
                raise ValueError("a must not be empty")
            return a[np.random.randint(0, a.size)]
        if a <= 0:
            raise ValueError("a must not be empty")
        return np.random.randint(0, a)
    if isinstance(a, np.ndarray):
        pool = a.ravel()
    else:
        pool = np.arange(a)
    if pool.size == 0:
        raise ValueError("a must not be empty")
    shape = np.empty(size, dtype=pool.dtype)
    flat = shape.ravel()
    if replace:
        for i in range(flat.size):
            flat[i] = pool[np.random.randint(0, pool.size)]
    else:
        if flat.size > pool.size:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        order = np.random.permutation(pool.size)
        for i in range(flat.size):
            flat[i] = pool[order[i]]
    return flat.reshape(shape.shape)


def _weighted_choice(a, size, replace, p):
    pool = a.ravel() if isinstance(a, np.ndarray) else np.arange(a)
    if p.size != pool.size:
        raise ValueError("'a' and 'p' must have same size")
    if (p < 0).any():
        raise ValueError("probabilities are not non-negative")
    if not abs(p.sum() - 1.0) <= 1e-8:
        raise ValueError("probabilities do not sum to 1")
    if size is None:
        return pool[_chosen(p, np.random.random())]
    out = np.empty(size, dtype=pool.dtype)
    flat = out.ravel()
    if replace:
        bounds = _cumulative(p)
        for i in range(flat.size):
            flat[i] = pool[np.searchsorted(bounds, np.random.random(), side="right")]
    else:
        if flat.size > pool.size:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        if np.count_nonzero(p > 0) < flat.size:
            raise ValueError("Fewer non-zero entries in p than size")
        flat[:] = pool[_chosen_once(p.copy(), flat.size)]
    return flat.reshape(out.shape)


def _cumulative(p):
    bounds = np.cumsum(p)
    return bounds / bounds[-1]


def _chosen(p, u):
    return np.searchsorted(_cumulative(p), u, side="right")


def _chosen_once(p, count):
    """Different places, as NumPy draws them: as many as are missing at a time, with what was found taken out of the probabilities."""
    found = np.empty(count, dtype=np.int64)
    n = 0
    while n < count:
        x = np.random.random(count - n)
        for i in range(n):
            p[found[i]] = 0.0
        bounds = _cumulative(p)
        before = n
        for u in x:
            place = np.searchsorted(bounds, u, side="right")
            if place not in found[before:n]:
                found[n] = place
                n += 1
    return found


def _drawn(one, arguments, size, dtype=np.float64):
    """One number, or an array of them."""
    if size is None:
        return one(*arguments)
    out = np.empty(size, dtype=dtype)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = one(*arguments)
    return out


def drawn(name: str, parameters: str, *refused: str | tuple[str, str], dtype: str = "float64") -> Any:
    """Defines a function of numpy.random of the function that draws one number."""

    def define(one: Any) -> Any:
        names = [p.split("=")[0] for p in parameters.split(", ")]
        body = f"_drawn({one.__name__}, ({', '.join(names)},), size, np.{dtype})"
        stands_for(f"numpy.random.{name}")(distribution(name, parameters, refused, body, globals()))
        return one

    return define


def _one_exponential():
    return -_log(1.0 - np.random.random())


def _one_gamma(shape):
    """Marsaglia & Tsang (2000); below one Ahrens & Dieter (1974)."""
    if shape >= 1.0:
        return _one_exponential() if shape == 1.0 else _one_gamma_from_one(shape)
    if shape == 0.0:
        return 0.0
    while True:
        u = np.random.random()
        v = _one_exponential()
        if u <= 1.0 - shape:
            x = _pow(u, 1.0 / shape)
            if x <= v:
                return x
        else:
            y = -_log((1.0 - u) / shape)
            x = _pow(1.0 - shape + shape * y, 1.0 / shape)
            if x <= v + y:
                return x


def _one_gamma_from_one(shape):
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = np.random.standard_normal()
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = np.random.random()
        if u < 1.0 - 0.0331 * x * x * x * x or (u > 0.0 and _log(u) < 0.5 * x * x + d * (1.0 - v + _log(v))):
            return d * v


def _one_poisson(lam):
    if lam < 0:
        raise ValueError("lam < 0")
    if lam >= 10.0:
        return _one_large_poisson(lam)
    if lam == 0.0:
        return 0
    limit = _exp(-lam)
    count = 0
    product = np.random.random()
    while product > limit:
        count += 1
        product *= np.random.random()
    return count


def _one_large_poisson(lam):
    """Hörmann (1993): PTRS, transformed rejection with squeeze."""
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2.0)
    log_lam = _log(lam)
    while True:
        u = np.random.random() - 0.5
        v = np.random.random()
        us = 0.5 - abs(u)
        if us == 0.0 or v == 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= sure:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if _log(v) + _log(inverse_alpha) - _log(a / (us * us) + b) <= k * log_lam - lam - math.lgamma(k + 1.0):
            return k


def _one_binomial(n, p):
    if n < 0:
        raise ValueError("n < 0")
    if p < 0.0 or p > 1.0 or p != p:
        raise ValueError("p < 0, p > 1 or p is NaN")
    q = p if p <= 0.5 else 1.0 - p
    if n == 0 or q == 0.0:
        count = 0
    elif n * q < 30.0:
        count = _one_small_binomial(n, q)
    else:
        count = _one_large_binomial(n, q)
    return count if p <= 0.5 else n - count


def _one_small_binomial(n, p):
    """By inversion: probabilities are added up until they pass a uniform number."""
    q = 1.0 - p
    first = _exp(n * _log(q))
    bound = min(float(n), n * p + 10.0 * math.sqrt(n * p * q + 1.0))
    count = 0
    probability = first
    u = np.random.random()
    while u > probability:
        count += 1
        if count > bound:
            count = 0
            probability = first
            u = np.random.random()
        else:
            u -= probability
            probability = ((n - count + 1) * p * probability) / (count * q)
    return count


def _one_large_binomial(n, p):
    """Hörmann (1993): BTRS, transformed rejection with squeeze."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    sure = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    log_odds = _log(p / (1.0 - p))
    middle = math.floor((n + 1) * p)
    height = math.lgamma(middle + 1.0) + math.lgamma(n - middle + 1.0)
    while True:
        u = np.random.random() - 0.5
        v = np.random.random()
        us = 0.5 - abs(u)
        if us == 0.0 or v == 0.0:
            continue
        k = math.floor((2.0 * a / us + b) * u + c)
        if us >= 0.07 and v <= sure:
            return k
        if k < 0 or k > n:
            continue
        if _log(v * alpha / (a / (us * us) + b)) <= height - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0) + (k - middle) * log_odds:
            return k


@drawn("exponential", "scale=1.0", "scale < 0")
def _one_scaled_exponential(scale):
    return scale * _one_exponential()


@stands_for("numpy.random.standard_exponential")
def standard_exponential(size=None):
    return _drawn(_one_exponential, (), size)


@drawn("gamma", "shape, scale=1.0", "shape < 0", "scale < 0")
def _one_scaled_gamma(shape, scale):
    return scale * _one_gamma(shape * 1.0)


@drawn("standard_gamma", "shape", "shape < 0")
def _one_standard_gamma(shape):
    return _one_gamma(shape * 1.0)


def _one_beta(a, b):
    """Below one Jöhnk (1964), by logarithms where powers are too small."""
    if a > 1.0 or b > 1.0:
        x = _one_gamma(a)
        return x / (x + _one_gamma(b))
    while True:
        u, v = np.random.random(), np.random.random()
        x, y = _pow(u, 1.0 / a), _pow(v, 1.0 / b)
        if x + y <= 1.0 and u + v > 0.0:
            if x + y > 0.0:
                return x / (x + y)
            log_x, log_y = _log(u) / a, _log(v) / b
            most = max(log_x, log_y)
            log_x -= most
            log_y -= most
            return _exp(log_x - _log(_exp(log_x) + _exp(log_y)))


@stands_for("numpy.random.beta")
def beta(a, b, size=None):
    if a <= 0:
        raise ValueError("a <= 0")
    if b <= 0:
        raise ValueError("b <= 0")
    return _drawn(_one_beta, (a * 1.0, b * 1.0), size)


@drawn("chisquare", "df", "df <= 0")
def _one_chisquare(df):
    return 2.0 * _one_gamma(df / 2.0)


@drawn("standard_t", "df", "df <= 0")
def _one_t(df):
    x = np.random.standard_normal()
    return math.sqrt(df / 2.0) * x / math.sqrt(_one_gamma(df / 2.0))


@stands_for("numpy.random.poisson")
def poisson(lam=1.0, size=None):
    return _drawn(_one_poisson, (lam * 1.0,), size, np.int64)


@stands_for("numpy.random.binomial")
def binomial(n, p, size=None):
    return _drawn(_one_binomial, (n, p * 1.0), size, np.int64)


@drawn("geometric", "p", ("not (p > 0 and p <= 1)", "p <= 0, p > 1 or p contains NaNs"), dtype="int64")
def _one_geometric(p):
    return math.ceil(_log1p(-np.random.random()) / _log1p(-p)) if p < 1.0 else 1


@drawn("lognormal", "mean=0.0, sigma=1.0", "sigma < 0")
def _one_lognormal(mean, sigma):
    return _exp(np.random.normal(mean, sigma))


@drawn("laplace", "loc=0.0, scale=1.0", "scale < 0")
def _one_laplace(loc, scale):
    u = np.random.random()
    while u == 0.0:
        u = np.random.random()
    return loc - scale * _log(2.0 - u - u) if u >= 0.5 else loc + scale * _log(u + u)


@drawn("weibull", "a", "a < 0")
def _one_weibull(a):
    if a == 0.0:
        return 0.0
    return _pow(_one_exponential(), 1.0 / a)


@drawn("pareto", "a", "a <= 0")
def _one_pareto(a):
    return _exp(_one_exponential() / a) - 1.0


@drawn("rayleigh", "scale=1.0", "scale < 0")
def _one_rayleigh(scale):
    return scale * math.sqrt(-2.0 * _log1p(-np.random.random()))


@drawn("triangular", "left, mode, right", "left > mode", "mode > right", "left == right")
def _one_triangular(left, mode, right):
    u = np.random.random()
    c = (mode - left) / (right - left)
    if u < c:
        return left + math.sqrt(u * (right - left) * (mode - left))
    return right - math.sqrt((1.0 - u) * (right - left) * (right - mode))


@drawn("gumbel", "loc=0.0, scale=1.0", "scale < 0")
def _one_gumbel(loc, scale):
    e = _one_exponential()
    while e == 0.0:
        e = _one_exponential()
    return loc - scale * _log(e)


@drawn("logistic", "loc=0.0, scale=1.0", "scale < 0")
def _one_logistic(loc, scale):
    u = np.random.random()
    while u == 0.0:
        u = np.random.random()
    return loc + scale * _log(u / (1.0 - u))


def _one_standard_cauchy():
    return np.random.standard_normal() / np.random.standard_normal()


@stands_for("numpy.random.standard_cauchy")
def standard_cauchy(size=None):
    return _drawn(_one_standard_cauchy, (), size)


@drawn("power", "a", "a <= 0")
def _one_power(a):
    return _pow(1.0 - _exp(-_one_exponential()), 1.0 / a)


@drawn("f", "dfnum, dfden", "dfnum <= 0", "dfden <= 0")
def _one_f(dfnum, dfden):
    x = 2.0 * _one_gamma(dfnum / 2.0)
    return (x * dfden) / (2.0 * _one_gamma(dfden / 2.0) * dfnum)


@drawn("noncentral_chisquare", "df, nonc", "df <= 0", "nonc < 0")
def _one_noncentral_chisquare(df, nonc):
    if nonc == 0.0:
        return 2.0 * _one_gamma(df / 2.0)
    if df > 1.0:
        rest = 2.0 * _one_gamma((df - 1.0) / 2.0)
        x = np.random.standard_normal() + math.sqrt(nonc)
        return rest + x * x
    return 2.0 * _one_gamma(df / 2.0 + _one_poisson(nonc / 2.0))


@drawn("noncentral_f", "dfnum, dfden, nonc", "dfnum <= 0", "dfden <= 0", "nonc < 0")
def _one_noncentral_f(dfnum, dfden, nonc):
    x = _one_noncentral_chisquare(dfnum, nonc) * dfden
    return x / (2.0 * _one_gamma(dfden / 2.0) * dfnum)


@drawn("wald", "mean, scale", "mean <= 0", "scale <= 0")
def _one_wald(mean, scale):
    """Michael, Schucany & Haas (1976)."""
    y = np.random.standard_normal()
    y = mean * y * y
    x = mean + mean / (2.0 * scale) * (y - math.sqrt(4.0 * scale * y + y * y))
    return x if np.random.random() <= mean / (mean + x) else mean * mean / x


@drawn("vonmises", "mu, kappa", "kappa < 0")
def _one_vonmises(mu, kappa):
    """Best & Fisher (1979)."""
    if kappa < 1e-8:
        return math.pi * (2.0 * np.random.random() - 1.0)
    if kappa < 1e-5:
        s = 1.0 / kappa + kappa
    else:
        r = 1.0 + math.sqrt(1.0 + 4.0 * kappa * kappa)
        rho = (r - math.sqrt(2.0 * r)) / (2.0 * kappa)
        s = (1.0 + rho * rho) / (2.0 * rho)
    while True:
        z = _cos(math.pi * np.random.random())
        w = (1.0 + s * z) / (s + z)
        y = kappa * (s - w)
        v = np.random.random()
        if y * (2.0 - y) - v >= 0.0 or (v > 0.0 and _log(y / v) + 1.0 - y >= 0.0):
            break
    turn = _acos(w)
    turn = mu - turn if np.random.random() < 0.5 else mu + turn
    around = math.fmod(abs(turn) + math.pi, 2.0 * math.pi) - math.pi
    return -around if turn < 0.0 else around


@drawn("logseries", "p", ("not (p >= 0 and p < 1)", "p < 0, p >= 1 or p is NaN"), dtype="int64")
def _one_logseries(p):
    """Kemp (1981)."""
    r = _log1p(-p)
    while True:
        v = np.random.random()
        if v >= p:
            return 1
        q = -_expm1(r * np.random.random())
        if v <= q * q:
            if v == 0.0:
                continue
            k = math.floor(1.0 + _log(v) / _log(q))
            if k >= 1:
                return k
            continue
        return 1 if v >= q else 2


@drawn("negative_binomial", "n, p", "n <= 0", ("not (p > 0 and p <= 1)", "p <= 0, p > 1 or p contains NaNs"), dtype="int64")
def _one_negative_binomial(n, p):
    return _one_poisson(_one_gamma(n * 1.0) * (1.0 - p) / p)


@drawn("zipf", "a", ("not a > 1", "a <= 1 or a is NaN"), dtype="int64")
def _one_zipf(a):
    """Devroye (1986), X.6.1."""
    b = _pow(2.0, a - 1.0)
    while True:
        u = 1.0 - np.random.random()
        v = np.random.random()
        x = math.floor(_pow(u, -1.0 / (a - 1.0)))
        if x > 9e18 or x < 1.0:
            continue
        t = _pow(1.0 + 1.0 / x, a - 1.0)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return int(x)


@drawn(
    "hypergeometric",
    "ngood, nbad, nsample",
    ("ngood < 0 or nbad < 0 or nsample < 0", "ngood, nbad or nsample < 0"),
    "ngood + nbad < nsample",
    dtype="int64",
)
def _one_hypergeometric(good, bad, sample):
    if sample > 10:
        return _one_large_hypergeometric(good, bad, sample)
    if sample == 0:
        return 0
    others, few = good + bad - sample, min(good, bad) * 1.0
    rest, left = few, sample
    while rest > 0.0:
        rest -= math.floor(np.random.random() + rest / (others + left))
        left -= 1
        if left == 0:
            break
    drawn = int(few - rest)
    return sample - drawn if good > bad else drawn


def _one_large_hypergeometric(good, bad, sample):
    """Stadlober (1989): HRUA*, the ratio of uniforms under the table mountain hat."""
    few, many, total = min(good, bad), max(good, bad), good + bad
    m = min(sample, total - sample)
    p = few / total
    centre = m * p + 0.5
    spread = math.sqrt((total - m) * sample * p * (1.0 - p) / (total - 1) + 0.5)
    width = 1.7155277699214135 * spread + 0.8989161620588988  # 2 sqrt(2 / e), 3 - 2 sqrt(3 / e)
    mode = math.floor((m + 1) * (few + 1) / (total + 2))
    most = _hypergeometric_weight(mode, few, many, m)
    end = min(min(m, few) + 1.0, math.floor(centre + 16 * spread))
    while True:
        x, y = np.random.random(), np.random.random()
        w = centre + width * (y - 0.5) / x
        if w < 0.0 or w >= end:
            continue
        drawn = math.floor(w)
        t = most - _hypergeometric_weight(drawn, few, many, m)
        if x * (4.0 - x) - 3.0 <= t:
            break
        if x * (x - t) >= 1.0:
            continue
        if 2.0 * _log(x) <= t:
            break
    if good > bad:
        drawn = m - drawn
    return good - drawn if m < sample else drawn


def _hypergeometric_weight(k, few, many, m):
    return math.lgamma(k + 1.0) + math.lgamma(few - k + 1.0) + math.lgamma(m - k + 1.0) + math.lgamma(many - m + k + 1.0)


@stands_for("numpy.random.multinomial")
def multinomial(n, pvals, size=None):
    p = np.asarray(pvals)
    rows = 1
    if size is not None:
        rows = np.empty(size, dtype=np.int8).size
    out = np.zeros((rows, p.size), dtype=np.int64)
    for i in range(rows):
        left, rest = n, 1.0
        for k in range(p.size - 1):
            if left == 0:
                break
            count = _one_binomial(left, min(1.0, p[k] / rest))
            out[i, k] = count
            left -= count
            rest -= p[k]
        if left > 0:
            out[i, p.size - 1] = left
    if size is None:
        return out[0]
    return out.reshape(np.empty(size, dtype=np.int8).shape + (p.size,))


@stands_for("numpy.random.dirichlet")
def dirichlet(alpha, size=None):
    a = np.asarray(alpha)
    rows = 1
    if size is not None:
        rows = np.empty(size, dtype=np.int8).size
    out = np.empty((rows, a.size))
    for i in range(rows):
        total = 0.0
        for k in range(a.size):
            out[i, k] = _one_gamma(a[k] * 1.0)
            total += out[i, k]
        out[i] *= 1.0 / total
    if size is None:
        return out[0]
    return out.reshape(np.empty(size, dtype=np.int8).shape + (a.size,))
