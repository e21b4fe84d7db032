"""Least squares, ridge and gradient descent on the same data."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
rng = np.random.default_rng(3)
x = rng.normal(size=(n, 10))
truth = np.array([1.5, -2.0, 0.0, 0.7, 3.0, 0.0, -1.1, 0.3, 0.0, 2.2])
y = x @ truth + 4.0 + rng.normal(scale=0.5, size=n)
design = np.column_stack([np.ones(n), x])

exact = np.linalg.solve(design.T @ design, design.T @ y)
print("normal equations:", np.round(exact, 3))
ridge = np.linalg.solve(design.T @ design + 100.0 * np.eye(11), design.T @ y)
print("ridge:           ", np.round(ridge, 3))

w = np.zeros(11)
for step in range(100):
    residual = design @ w - y
    w -= 0.4 * (design.T @ residual) / n
    if step % 25 == 24:
        print(f"step {step + 1}: loss {(residual**2).mean() / 2:.6f}")
print("descent finds the same:", np.abs(w - exact).max() < 1e-8)
residual = y - design @ exact
r2 = 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()
print(f"R squared {r2:.5f}, sigma {np.sqrt((residual**2).sum() / (n - 11)):.5f}")
