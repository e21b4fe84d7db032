"""Functions of Python's random module over its own stream of uniform numbers, by CPython's algorithms."""

from __future__ import annotations

import math
import random

from ._table import stands_for


@stands_for("random.choice")
def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[random.randrange(len(seq))]


@stands_for("random.choices")
def choices(population, weights=None, *, k=1):
    if weights is None:
        return [population[math.floor(random.random() * len(population))] for _ in range(k)]
    if len(weights) != len(population):
        raise ValueError("The number of weights does not match the population")
    bounds = [0.0 for _ in weights]
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
        bounds[i] = total
    if not total > 0.0:
        raise ValueError("Total of weights must be greater than zero")
    return [population[_place(bounds, random.random() * total)] for _ in range(k)]


def _place(bounds, x):
    """The first place whose bound is above x."""
    low, high = 0, len(bounds) - 1
    while low < high:
        middle = (low + high) // 2
        if x < bounds[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@stands_for("random.sample")
def sample(population, k):
    pool = list(population)
    if k < 0 or k > len(pool):
        raise ValueError("Sample larger than population or is negative")
    for i in range(k):
        j = i + random.randrange(len(pool) - i)
        kept = pool[i]
        pool[i] = pool[j]
        pool[j] = kept
    return pool[:k]


@stands_for("random.shuffle")
def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = random.randrange(i + 1)
        kept = x[i]
        x[i] = x[j]
        x[j] = kept


@stands_for("random.expovariate")
def expovariate(lambd=1.0):
    return -math.log(1.0 - random.random()) / lambd


@stands_for("random.triangular")
def triangular(low=0.0, high=1.0, mode=None):
    u = random.random()
    if high == low:
        return low * 1.0
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


@stands_for("random.gammavariate")
def gammavariate(alpha, beta):
    """Cheng (1977) above one; below one Ahrens & Dieter (1974)."""
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha == 1.0:
        return -math.log(1.0 - random.random()) * beta
    return (_cheng(alpha) if alpha > 1.0 else _ahrens_dieter(alpha)) * beta


def _cheng(alpha):
    root = math.sqrt(2.0 * alpha - 1.0)
    b = alpha - math.log(4.0)
    c = alpha + root
    while True:
        u = random.random()
        if not 1e-7 < u < 0.9999999:
            continue
        other = 1.0 - random.random()
        v = math.log(u / (1.0 - u)) / root
        x = alpha * math.exp(v)
        z = u * u * other
        r = b + c * v - x
        if r + 1.0 + math.log(4.5) - 4.5 * z >= 0.0 or r >= math.log(z):
            return x


def _ahrens_dieter(alpha):
    b = (math.e + alpha) / math.e
    while True:
        p = b * random.random()
        x = p ** (1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
        u = random.random()
        if u <= (math.exp(-x) if p <= 1.0 else x ** (alpha - 1.0)):
            return x


@stands_for("random.betavariate")
def betavariate(alpha, beta):
    x = gammavariate(alpha, 1.0)
    return x / (x + gammavariate(beta, 1.0)) if x > 0.0 else 0.0


@stands_for("random.lognormvariate")
def lognormvariate(mu, sigma):
    return math.exp(random.gauss(mu, sigma))


@stands_for("random.paretovariate")
def paretovariate(alpha):
    return (1.0 - random.random()) ** (-1.0 / alpha)


@stands_for("random.weibullvariate")
def weibullvariate(alpha, beta):
    return alpha * (-math.log(1.0 - random.random())) ** (1.0 / beta)


@stands_for("random.vonmisesvariate")
def vonmisesvariate(mu, kappa):
    """Best & Fisher (1979)."""
    if kappa <= 1e-6:
        return 2.0 * math.pi * random.random()
    s = 0.5 / kappa
    r = s + math.sqrt(1.0 + s * s)
    while True:
        z = math.cos(math.pi * random.random())
        d = z / (r + z)
        u = random.random()
        if u < 1.0 - d * d or u <= (1.0 - d) * math.exp(d):
            break
    q = 1.0 / r
    turn = math.acos((q + z) / (1.0 + q * z))
    return (mu + turn if random.random() > 0.5 else mu - turn) % (2.0 * math.pi)
