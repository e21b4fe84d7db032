"""A bit of everything: complex grids, root finding, quadrature, simplex noise-free optimisation, SIR on a graph, recursive structure, generators."""

import contextlib
import functools
import operator
import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 200


@functools.cache
def gauss(n):
    return np.polynomial.legendre.leggauss(n)


def integrate(f, a, b, n=16):
    x, w = gauss(n)
    mid, half = (a + b) / 2, (b - a) / 2
    return half * np.dot(w, f(mid + half * x))


def newton(f, x, tol=1e-12, h=1e-7):
    for k in range(50):
        step = f(x) / ((f(x + h) - f(x - h)) / (2 * h))
        x = x - step
        if np.all(np.abs(step) < tol):
            break
    return x


def nelder_mead(f, x0, iterations=150):
    n = len(x0)
    sim = np.vstack([x0, x0 + np.eye(n) * 0.5])
    val = np.array([f(v) for v in sim])
    for _ in range(iterations):
        o = val.argsort(kind="stable")
        sim, val = sim[o], val[o]
        c = sim[:-1].mean(axis=0)
        r = c + (c - sim[-1])
        fr = f(r)
        if fr < val[0]:
            e = c + 2 * (c - sim[-1])
            fe = f(e)
            sim[-1], val[-1] = (e, fe) if fe < fr else (r, fr)
        elif fr < val[-2]:
            sim[-1], val[-1] = r, fr
        else:
            k = c + 0.5 * (sim[-1] - c)
            fk = f(k)
            if fk < val[-1]:
                sim[-1], val[-1] = k, fk
            else:
                sim[1:] = sim[0] + 0.5 * (sim[1:] - sim[0])
                val[1:] = [f(v) for v in sim[1:]]
    return sim[0], val[0]


def primes():
    size, found = 64, np.array([], dtype=int)
    while True:
        s = np.ones(size, bool)
        s[:2] = False
        for i in range(2, int(size**0.5) + 1):
            if s[i]:
                s[i * i :: i] = False
        p = np.flatnonzero(s)
        yield from p[len(found) :]
        found = p
        size *= 2


def sir(adj, rng, beta=0.1, gamma=0.1, steps=30):
    state = np.zeros(len(adj), np.int8)
    state[rng.integers(len(adj), size=3)] = 1
    history = np.empty((steps, 3), int)
    for t in range(steps):
        infected = state == 1
        pressure = adj[:, infected].sum(axis=1)
        catch = (state == 0) & (rng.random(len(adj)) < 1 - (1 - beta) ** pressure)
        recover = infected & (rng.random(len(adj)) < gamma)
        state[catch], state[recover] = 1, 2
        history[t] = [np.count_nonzero(state == k) for k in range(3)]
    return history


class Quaternion:
    __array_priority__ = 1000

    def __init__(self, w, v):
        self.w, self.v = w, np.asarray(v, float)

    def __mul__(self, o):
        return Quaternion(self.w * o.w - self.v @ o.v, self.w * o.v + o.w * self.v + np.cross(self.v, o.v))

    def rotate(self, p):
        t = 2 * np.cross(self.v, p)
        return p + self.w * t + np.cross(self.v, t)


@contextlib.contextmanager
def section(title):
    print("==", title)
    yield
    print()


with section("quadrature"):
    print(
        f"{integrate(np.exp, 0, 1):.12f} {integrate(lambda x: np.sqrt(1 - x**2), -1, 1, 64):.6f}",
        np.isclose(integrate(np.sin, 0, np.pi), 2),
    )
    x = np.linspace(0, np.pi, N)
    print(f"{np.trapezoid(np.sin(x), x):.8f}", np.cumulative_sum(np.ones(4), include_initial=True))
with section("roots"):
    print(newton(lambda x: x**3 - 2 * x - 5, np.array([2.0, 3.0])), newton(np.cos, 1.0))
    p = np.poly1d([1, -6, 11, -6])
    print(p, p.r.round(6), p.deriv()(2), np.polyval([1, 0, -1], 3))
    z = np.roots([1, 0, 0, -1])
    print(np.sort_complex(z.round(6) + 0))
with section("simplex"):
    x, v = nelder_mead(lambda p: (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2, np.array([-1.2, 1.0]))
    print(x.round(4), v < 1e-8)
with section("primes"):
    it = primes()
    first = [next(it) for _ in range(40)]
    print(first[-5:], functools.reduce(operator.add, first), np.lcm.reduce(np.arange(1, 11)), np.gcd(first[5] * 12, 18))
with section("epidemic"):
    rng = np.random.default_rng(12)
    adj = np.triu(rng.random((N, N)) < 8 / N, 1)
    adj = adj | adj.T
    h = sir(adj, rng)
    print(h[::6], h.sum(axis=1).min(), h[:, 1].argmax())
with section("quaternions"):
    q = Quaternion(np.cos(np.pi / 8), [0, 0, np.sin(np.pi / 8)])
    print((q * q).rotate(np.array([1.0, 0, 0])).round(6) + 0, q.rotate(np.eye(3)).round(4) + 0)
with section("complex"):
    y, x = np.ogrid[-1:1:5j, -2:1:7j]
    c = x + 1j * y
    z = np.zeros_like(c)
    for _ in range(8):
        z = np.where(np.abs(z) < 4, z * z + c, z)
    print((np.abs(z) < 2).astype(int))
    print(np.angle(c[0, :3], deg=True).round(3), np.real_if_close(np.array([1 + 0j, 2])), c.conj().T.shape, np.iscomplexobj(c))
with section("integers"):
    a = np.arange(-5, 6)
    print(a // 3, a % 3, np.divmod(a, -3)[1], a >> 1, np.bitwise_count(a.astype(np.uint8)), ~a[:3])
    print(np.array([200, 100], np.uint8) + np.uint8(100), np.int8(127) + np.array([1], np.int8), np.float32(1) + a[:2], (a * 1.5).dtype)
    print(np.iinfo(np.int16).max, np.finfo(np.float32).eps, np.uint8(5) - np.int16(9), np.array(7) / 2, np.True_ + 1)
with section("errors"):
    for f in (
        lambda: np.arange(3)[5],
        lambda: np.zeros((2, 3)) @ np.zeros((2, 3)),
        lambda: np.array([1, 2]) + np.array([1, 2, 3]),
        lambda: np.reshape(np.arange(6), (4, 2)),
        lambda: np.concatenate([[1], [[2]]]),
    ):
        try:
            print(f())
        except Exception as e:
            print(type(e).__name__, "|", e)
