"""Ising by checkerboard Metropolis and by Wolff clusters; XY spins; annealing of a spin glass; jackknife and autocorrelation."""

import sys
from itertools import product

import numpy as np

L = int(sys.argv[1]) if len(sys.argv) > 1 else 24
rng = np.random.default_rng(4321)


def checkerboard(n):
    return (np.indices((n, n)).sum(axis=0) % 2).astype(bool)


def energy(s):
    return -np.sum(s * (np.roll(s, 1, 0) + np.roll(s, 1, 1)), dtype=np.int64)


def sweep(s, beta, black):
    for colour in (black, ~black):
        field = np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
        accept = rng.random(s.shape) < np.exp(-2 * beta * s * field)
        s[colour & accept] *= -1


def run(t, sweeps=60, burn=20):
    s = np.ones((L, L), dtype=np.int8)
    black = checkerboard(L)
    e, m = [], []
    for k in range(sweeps):
        sweep(s, 1 / t, black)
        if k >= burn:
            e.append(energy(s) / s.size)
            m.append(abs(s.mean()))
    return np.array(e), np.array(m), s


def jackknife(x, f, blocks=8):
    parts = np.array_split(x, blocks)
    estimates = np.array([f(np.concatenate(parts[:i] + parts[i + 1 :])) for i in range(blocks)])
    return f(x), np.sqrt((blocks - 1) * estimates.var())


def wolff(s, beta):
    n = len(s)
    add = 1 - np.exp(-2 * beta)
    seed = tuple(rng.integers(0, n, 2))
    cluster = np.zeros(s.shape, dtype=bool)
    cluster[seed] = True
    stack = [seed]
    spin = s[seed]
    while stack:
        y, x = stack.pop()
        for dy, dx in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            p = (y + dy) % n, (x + dx) % n
            if not cluster[p] and s[p] == spin and rng.random() < add:
                cluster[p] = True
                stack.append(p)
    s[cluster] = -spin
    return cluster.sum()


def autocorrelation(x):
    x = x - x.mean()
    n = len(x)
    f = np.fft.rfft(x, 2 * n)
    c = np.fft.irfft(f * np.conj(f))[:n] / np.arange(n, 0, -1)
    return c / c[0]


def xy(n, beta, steps=15):
    theta = rng.uniform(-np.pi, np.pi, (n, n))
    black = checkerboard(n)
    for _ in range(steps):
        for colour in (black, ~black):
            new = theta + rng.uniform(-1, 1, theta.shape)
            de = np.zeros(theta.shape)
            for ax, sh in product((0, 1), (1, -1)):
                other = np.roll(theta, sh, ax)
                de += np.cos(theta - other) - np.cos(new - other)
            ok = colour & (rng.random(theta.shape) < np.exp(-beta * de))
            theta = np.where(ok, new, theta)
    return theta


def vortices(theta):
    wrap = lambda d: (d + np.pi) % (2 * np.pi) - np.pi
    right, down = np.roll(theta, -1, 1), np.roll(theta, -1, 0)
    diag = np.roll(right, -1, 0)
    total = wrap(right - theta) + wrap(diag - right) + wrap(down - diag) + wrap(theta - down)
    return np.rint(total / (2 * np.pi)).astype(int)


def glass(n=16, steps=400):
    J = np.triu(rng.choice([-1, 1], size=(n, n)), 1)
    J = J + J.T
    s = rng.choice([-1, 1], size=n)
    e = -(s @ J @ s) / 2
    best = e
    for k in range(steps):
        t = 3.0 * 0.99**k
        i = rng.integers(n)
        d = 2 * s[i] * (J[i] @ s)
        if d <= 0 or rng.random() < np.exp(-d / t):
            s[i] = -s[i]
            e += d
            best = min(best, e)
    spins = 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1) - 1
    exact = (-np.einsum("ki,ij,kj->k", spins, J[:12, :12], spins) // 2).min()
    return best, exact, e == -(s @ J @ s) / 2


print("  T      energy    magnet   heat")
for t in np.linspace(1.6, 3.2, 5):
    e, m, s = run(t)
    c, err = jackknife(e, lambda v: v.var() * L * L / t**2)
    print(f"{t:5.2f} {e.mean():10.6f} {m.mean():9.6f} {c:8.4f} +- {err:.4f}  {np.bincount((s.ravel() + 1) // 2, minlength=2)}")
e, m, s = run(2.3, sweeps=150, burn=0)
rho = autocorrelation(e)
window = np.argmax(rho < 0.05)
print("autocorrelation", rho[1:5].round(4), "tau %.3f" % (0.5 + rho[1 : window + 1].sum()))
s = rng.choice(np.array([-1, 1], dtype=np.int8), size=(L, L))
sizes = [wolff(s, 0.5) for _ in range(12)]
print("wolff", sizes, "energy", energy(s), "m", int(s.sum(dtype=int)))
theta = xy(L, 0.9)
v = vortices(theta)
print("xy", np.abs(np.exp(1j * theta).mean()).round(6), "vortices", (v > 0).sum(), (v < 0).sum(), "charge", v.sum())
print("glass", glass())
corr = np.array([(s * np.roll(s, r, axis=1)).mean() for r in range(5)])
print("correlation", corr, s.dtype, corr.dtype)
