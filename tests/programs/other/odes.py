"""ODE systems: adaptive Dormand-Prince on van der Pol, Lotka-Volterra, a stiff linear system by implicit Euler, a double pendulum."""

import sys
import time
from dataclasses import dataclass, field

import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400

A = [
    np.array(r)
    for r in (
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    )
]
C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
B5 = np.append(A[6], 0)
B4 = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])


@dataclass
class Solution:
    t: list = field(default_factory=list)
    y: list = field(default_factory=list)
    rejected: int = 0

    def arrays(self):
        return np.array(self.t), np.stack(self.y)


def dopri(f, t0, t1, y0, rtol=1e-6, atol=1e-9):
    sol = Solution([t0], [np.asarray(y0, dtype=float)])
    t, y, h = t0, sol.y[0], 1e-3
    while t < t1:
        h = min(h, t1 - t)
        K = np.zeros((7, y.size))
        for i in range(7):
            K[i] = f(t + C[i] * h, y + h * (A[i] @ K[:i] if i else 0))
        new = y + h * B5 @ K
        error = h * (B5 - B4) @ K
        scale = atol + rtol * np.maximum(np.abs(y), np.abs(new))
        err = np.sqrt(np.mean((error / scale) ** 2))
        if err <= 1:
            t, y = t + h, new
            sol.t.append(t)
            sol.y.append(y)
        else:
            sol.rejected += 1
        h *= float(np.clip(0.9 * (1 / max(err, 1e-10)) ** 0.2, 0.2, 5))
    return sol


def van_der_pol(t, y, mu=2.0):
    return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


def lotka(t, y):
    a, b, c, d = 1.1, 0.4, 0.4, 0.1
    return np.array([a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]])


def pendulum(state, g=9.81):
    th1, th2, w1, w2 = state
    d = th2 - th1
    den = 2 - np.cos(d) ** 2
    a1 = (w1**2 * np.sin(d) * np.cos(d) + g * np.sin(th2) * np.cos(d) + w2**2 * np.sin(d) - 2 * g * np.sin(th1)) / den
    a2 = (-(w2**2) * np.sin(d) * np.cos(d) + 2 * g * np.sin(th1) * np.cos(d) - 2 * w1**2 * np.sin(d) - 2 * g * np.sin(th2)) / den
    return np.stack([w1, w2, a1, a2])


def energy(s, g=9.81):
    th1, th2, w1, w2 = s
    kin = 0.5 * w1**2 + 0.5 * (w1**2 + w2**2 + 2 * w1 * w2 * np.cos(th1 - th2))
    pot = -2 * g * np.cos(th1) - g * np.cos(th2)
    return kin + pot


def main():
    start = time.perf_counter()
    sol = dopri(van_der_pol, 0.0, 12.0, [2.0, 0.0])
    t, y = sol.arrays()
    print("van der Pol:", len(t) - 1, "steps,", sol.rejected, "rejected; end", np.round(y[-1], 5), "max", y.max(axis=0).round(4))
    grid = np.linspace(0, 12, 7)
    print("  x(t):", np.interp(grid, t, y[:, 0]).round(3))
    cross = np.flatnonzero(np.diff(np.signbit(y[:, 0])))
    print("  zero crossings:", cross.size, "period %.3f" % (2 * np.diff(t[cross]).mean()))
    sol = dopri(lotka, 0.0, 20.0, (10, 5))
    t, y = sol.arrays()
    v = 0.1 * y[:, 0] - 0.4 * np.log(y[:, 0]) + 0.4 * y[:, 1] - 1.1 * np.log(y[:, 1])
    print(f"Lotka-Volterra: {len(t)} points, prey {y[:, 0].min():.4f}..{y[:, 0].max():.4f}, drift {np.ptp(v) < 1e-4}")
    print("  mean of prey over time %.4f" % (np.trapezoid(y[:, 0], t) / t[-1]))
    n = 12
    L = -2 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    M = np.eye(n) - 50 * L
    u = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
    for _ in range(5):
        u = np.linalg.solve(M, u)
    print("implicit:", np.array2string(u, precision=3, separator=","))
    rng = np.random.RandomState(3)
    s = np.stack([np.full(50, 1.2) + 1e-3 * rng.randn(50), np.full(50, -0.6), np.zeros(50), np.zeros(50)])
    e0 = energy(s)
    dt = 0.002
    for _ in range(STEPS):
        k1 = pendulum(s)
        k2 = pendulum(s + dt / 2 * k1)
        k3 = pendulum(s + dt / 2 * k2)
        k4 = pendulum(s + dt * k3)
        s += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    print("pendula: energy kept", np.allclose(energy(s), e0, rtol=1e-6), "spread %.3e" % s[0].std(), s[:, 0].round(4).tolist())
    assert time.perf_counter() > start


main()
