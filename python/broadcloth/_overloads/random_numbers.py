"""Distributions over the uniform and normal numbers that the compiler has."""

from __future__ import annotations

import math
import random

import numpy as np

from ._table import stands_for


@stands_for("numpy.random.choice")
def choice(a, size=None, replace=True):
    if isinstance(a, np.ndarray):
        pool = a.ravel()
    else:
        pool = np.arange(a)
    if pool.size == 0:
        raise ValueError("a must not be empty")
    if size is None:
        return pool[np.random.randint(0, pool.size)]
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


def _one_exponential():
    return -math.log1p(-np.random.random())


def _one_gamma(shape):
    """Marsaglia & Tsang (2000)."""
    if shape < 1.0:
        u = np.random.random()
        while u == 0.0:
            u = np.random.random()
        return _one_gamma_from_one(shape + 1.0) * u ** (1.0 / shape)
    return _one_gamma_from_one(shape)


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
        if u < 1.0 - 0.0331 * x * x * x * x or (u > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))):
            return d * v


def _one_poisson(lam):
    if lam < 0:
        raise ValueError("lam < 0")
    count = 0
    # Sums of independent Poisson numbers are Poisson: large means are halved by gamma times (Ahrens & Dieter 1974).
    while lam > 20.0:
        m = int(lam * 0.875)
        x = _one_gamma(float(m))
        if x > lam:
            return count + _one_binomial(m - 1, lam / x)
        count += m
        lam -= x
    limit = math.exp(-lam)
    product = np.random.random()
    while product > limit:
        count += 1
        product *= np.random.random()
    return count


def _one_binomial(n, p):
    if n < 0:
        raise ValueError("n < 0")
    if p < 0.0 or p > 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    count = 0
    # The middle of n uniforms is beta; what is left is a smaller binomial (Devroye 1986, X.4.3).
    while n > 40:
        i = (n + 1) // 2
        a = _one_gamma(float(i))
        b = _one_gamma(float(n + 1 - i))
        x = a / (a + b)
        if x <= p:
            count += i
            n -= i
            p = (p - x) / (1.0 - x)
        else:
            n = i - 1
            p = p / x
    for _ in range(n):
        if np.random.random() < p:
            count += 1
    return count


@stands_for("numpy.random.exponential")
def exponential(scale=1.0, size=None):
    if size is None:
        return scale * _one_exponential()
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * _one_exponential()
    return out


@stands_for("numpy.random.standard_exponential")
def standard_exponential(size=None):
    return exponential(1.0, size)


@stands_for("numpy.random.gamma")
def gamma(shape, scale=1.0, size=None):
    if shape < 0 or scale < 0:
        raise ValueError("gamma: expected a shape and a scale of at least zero")
    if size is None:
        return scale * _one_gamma(shape * 1.0)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * _one_gamma(shape * 1.0)
    return out


@stands_for("numpy.random.standard_gamma")
def standard_gamma(shape, size=None):
    return gamma(shape, 1.0, size)


@stands_for("numpy.random.beta")
def beta(a, b, size=None):
    if size is None:
        x = _one_gamma(a * 1.0)
        return x / (x + _one_gamma(b * 1.0))
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        x = _one_gamma(a * 1.0)
        flat[i] = x / (x + _one_gamma(b * 1.0))
    return out


@stands_for("numpy.random.chisquare")
def chisquare(df, size=None):
    return gamma(df / 2.0, 2.0, size)


@stands_for("numpy.random.standard_t")
def standard_t(df, size=None):
    if size is None:
        return np.random.standard_normal() / math.sqrt(2.0 * _one_gamma(df / 2.0) / df)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = np.random.standard_normal() / math.sqrt(2.0 * _one_gamma(df / 2.0) / df)
    return out


@stands_for("numpy.random.poisson")
def poisson(lam=1.0, size=None):
    if size is None:
        return _one_poisson(lam * 1.0)
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_poisson(lam * 1.0)
    return out


@stands_for("numpy.random.binomial")
def binomial(n, p, size=None):
    if size is None:
        return _one_binomial(n, p * 1.0)
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_binomial(n, p * 1.0)
    return out


@stands_for("numpy.random.geometric")
def geometric(p, size=None):
    if size is None:
        return math.ceil(math.log1p(-np.random.random()) / math.log1p(-p)) if p < 1.0 else 1
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = math.ceil(math.log1p(-np.random.random()) / math.log1p(-p)) if p < 1.0 else 1
    return out


@stands_for("numpy.random.lognormal")
def lognormal(mean=0.0, sigma=1.0, size=None):
    if size is None:
        return math.exp(np.random.normal(mean, sigma))
    return np.exp(np.random.normal(mean, sigma, size))


@stands_for("numpy.random.laplace")
def laplace(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc + scale * (_one_exponential() - _one_exponential())
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = loc + scale * (_one_exponential() - _one_exponential())
    return out


@stands_for("numpy.random.weibull")
def weibull(a, size=None):
    if size is None:
        return _one_exponential() ** (1.0 / a)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_exponential() ** (1.0 / a)
    return out


@stands_for("numpy.random.pareto")
def pareto(a, size=None):
    if size is None:
        return math.expm1(_one_exponential() / a)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = math.expm1(_one_exponential() / a)
    return out


@stands_for("numpy.random.rayleigh")
def rayleigh(scale=1.0, size=None):
    if size is None:
        return scale * math.sqrt(2.0 * _one_exponential())
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * math.sqrt(2.0 * _one_exponential())
    return out


@stands_for("numpy.random.triangular")
def triangular(left, mode, right):
    u = np.random.random()
    c = (mode - left) / (right - left)
    if u < c:
        return left + math.sqrt(u * (right - left) * (mode - left))
    return right - math.sqrt((1.0 - u) * (right - left) * (right - mode))


@stands_for("random.choice")
def random_choice(values):
    return values[random.randrange(len(values))]


@stands_for("random.shuffle")
def random_shuffle(values):
    for i in range(len(values) - 1, 0, -1):
        j = random.randrange(i + 1)
        kept = values[i]
        values[i] = values[j]
        values[j] = kept


@stands_for("random.expovariate")
def expovariate(rate):
    return _one_exponential() / rate
