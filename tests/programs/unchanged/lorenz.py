"""Many Lorenz systems at once by Runge-Kutta; how they part."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
steps, h = 150, 0.01


def rate(s):
    x, y, z = s
    return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


state = np.array([np.full(n, 1.0), np.full(n, 1.0), 20 + np.linspace(0, 1e-3, n)])
for step in range(1, steps + 1):
    k1 = rate(state)
    k2 = rate(state + h / 2 * k1)
    k3 = rate(state + h / 2 * k2)
    k4 = rate(state + h * k3)
    state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    if step % 50 == 0:
        x, y, z = state
        print(f"t = {step * h:.2f}: centre ({x.mean():.4f}, {y.mean():.4f}, {z.mean():.4f}), spread {state.std(axis=1).max():.3e}")
