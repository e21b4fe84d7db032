"""Option prices: binomial and trinomial trees, finite differences by Thomas, implied volatility by bisection, Greeks, barrier by Monte Carlo."""

import math
import sys

import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 200


def norm_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def black_scholes(s, k, t, r, v, call=True):
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    sign = 1 if call else -1
    return sign * (s * norm_cdf(sign * d1) - k * np.exp(-r * t) * norm_cdf(sign * d2))


def binomial(s, k, t, r, v, n, american=False, call=True):
    dt = t / n
    u = np.exp(v * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    sign = 1 if call else -1
    prices = s * u ** np.arange(n, -n - 1, -2.0)
    value = np.maximum(sign * (prices - k), 0)
    for i in range(n - 1, -1, -1):
        value = disc * (p * value[:-1] + (1 - p) * value[1:])
        if american:
            prices = prices[:-1] * d
            np.maximum(value, sign * (prices - k), out=value)
    return value[0]


def trinomial(s, k, t, r, v, n):
    dt = t / n
    u = np.exp(v * np.sqrt(2 * dt))
    e = np.exp(r * dt / 2)
    a, b = np.exp(-v * np.sqrt(dt / 2)), np.exp(v * np.sqrt(dt / 2))
    pu, pd = ((e - a) / (b - a)) ** 2, ((b - e) / (b - a)) ** 2
    pm = 1 - pu - pd
    value = np.maximum(s * u ** np.arange(n, -n - 1, -1) - k, 0)
    for _ in range(n):
        value = np.exp(-r * dt) * (pu * value[:-2] + pm * value[1:-1] + pd * value[2:])
    return value.item()


def thomas(a, b, c, d):
    n = len(d)
    c_, d_ = np.zeros(n), np.zeros(n)
    c_[0], d_[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * c_[i - 1]
        c_[i] = c[i] / m
        d_[i] = (d[i] - a[i] * d_[i - 1]) / m
    x = np.zeros(n)
    x[-1] = d_[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d_[i] - c_[i] * x[i + 1]
    return x


def crank_nicolson(k, t, r, v, m=60, n=30, smax=300.0):
    s = np.linspace(0, smax, m + 1)
    j = np.arange(1, m)
    dt = t / n
    alpha = 0.25 * dt * (v**2 * j**2 - r * j)
    beta = -0.5 * dt * (v**2 * j**2 + r)
    gamma = 0.25 * dt * (v**2 * j**2 + r * j)
    value = np.maximum(s - k, 0)
    for i in range(n):
        rhs = alpha * value[:-2] + (1 + beta) * value[1:-1] + gamma * value[2:]
        top = smax - k * np.exp(-r * (i + 1) * dt)
        rhs[-1] += gamma[-1] * top
        value[1:-1] = thomas(-alpha, 1 - beta, -gamma, rhs)
        value[0], value[-1] = 0, top
    return s, value


def implied(price, s, k, t, r):
    lo, hi = np.full_like(k, 1e-3), np.full_like(k, 3.0)
    for _ in range(60):
        mid = (lo + hi) / 2
        low = black_scholes(s, k, t, r, mid) < price
        lo, hi = np.where(low, mid, lo), np.where(low, hi, mid)
    return (lo + hi) / 2


S, K, T_, R, V = 100.0, 105.0, 1.0, 0.03, 0.25
exact = float(black_scholes(S, K, T_, R, V))
print(f"exact {exact:.8f}")
for n in (10, 50, STEPS):
    print(f"  n={n}: binomial {binomial(S, K, T_, R, V, n):.8f} trinomial {trinomial(S, K, T_, R, V, n):.8f}")
put, amer = (binomial(S, K, T_, R, V, STEPS, american=a, call=False) for a in (False, True))
print(f"put {put:.6f} american {amer:.6f} premium {amer - put:.6f} parity {exact - put - S + K * np.exp(-R * T_):.2e}"[:-9])
strikes = np.arange(80.0, 125.0, 5.0)
vols = 0.2 + 0.1 * ((strikes - 100) / 100) ** 2 - 0.05 * (strikes - 100) / 100
prices = black_scholes(S, strikes, T_, R, vols)
print("smile", implied(prices, S, strikes, T_, R).round(6), np.allclose(implied(prices, S, strikes, T_, R), vols))
h = 0.01
delta = (black_scholes(S + h, strikes, T_, R, V) - black_scholes(S - h, strikes, T_, R, V)) / (2 * h)
print("deltas", delta.round(5))
s, value = crank_nicolson(K, T_, R, V)
print("grid", np.interp(S, s, value).round(5), "gamma max at", s[1:-1][np.argmax(np.diff(value, 2))], len(s))
rng = np.random.default_rng(8)
z = rng.standard_normal((2000, 52))
z = np.vstack((z, -z))
dt = T_ / 52
paths = S * np.exp(np.cumsum((R - V**2 / 2) * dt + V * np.sqrt(dt) * z, axis=1))
payoff = np.maximum(paths[:, -1] - K, 0)
alive = paths.min(axis=1) > 85
down_out = np.exp(-R * T_) * payoff * alive
asian = np.exp(-R * T_) * np.fmax(paths.mean(1) - K, 0)
for name, v in [("european", np.exp(-R * T_) * payoff), ("down-and-out", down_out), ("asian", asian)]:
    print(f"{name:>14}: {v.mean():.5f} +- {v.std(ddof=1) / np.sqrt(v.size):.5f}")
reg = np.polynomial.Polynomial.fit(paths[:, 25], payoff, 2)
print(
    "regression",
    reg.convert().coef.round(5),
    "var 95 %.4f" % np.percentile(payoff, 95),
    "es",
    payoff[payoff >= np.percentile(payoff, 95)].mean().round(4),
)
