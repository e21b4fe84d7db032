"""Pi, a volume and an integral by random points."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 6_000_000
rng = np.random.default_rng(2024)
x, y = rng.random(n), rng.random(n)
inside = (x * x + y * y) < 1
print(f"pi is about {4 * inside.mean():.5f}")
points = rng.uniform(-1, 1, size=(n // 4, 4))
ball = (points**2).sum(axis=1) <= 1
print(f"volume of the 4-ball: {16 * ball.mean():.5f} (exact {np.pi**2 / 2:.5f})")
u = rng.random(n)
values = np.exp(-u * u)
print(f"integral of exp(-x^2): {values.mean():.6f} +- {values.std() / np.sqrt(n):.6f}")
running = np.cumsum(inside) / np.arange(1, n + 1)
print("on the way:", [round(float(4 * running[i]), 4) for i in (n // 100, n // 10, n - 1)])
