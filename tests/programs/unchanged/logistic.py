"""Logistic regression by Newton's method, and how good it is."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
rng = np.random.default_rng(5)
x = np.hstack([np.ones((n, 1)), rng.normal(size=(n, 5))])
w_true = np.array([-0.5, 1.0, -2.0, 0.5, 0.0, 1.5])
y = (rng.random(n) < 1 / (1 + np.exp(-x @ w_true))).astype(float)

w = np.zeros(6)
for step in range(8):
    p = 1 / (1 + np.exp(-(x @ w)))
    gradient = x.T @ (y - p)
    hessian = (x * (p * (1 - p))[:, None]).T @ x
    change = np.linalg.solve(hessian, gradient)
    w = w + change
    likelihood = np.mean(y * np.log(p) + (1 - y) * np.log1p(-p))
    print(f"step {step}: log likelihood {likelihood:.6f}, change {np.abs(change).max():.6f}")
    if np.abs(change).max() < 1e-8:
        break
p = 1 / (1 + np.exp(-(x @ w)))
said = p > 0.5
table = np.array([[np.sum(~said & (y == 0)), np.sum(said & (y == 0))], [np.sum(~said & (y == 1)), np.sum(said & (y == 1))]])
print("weights", np.round(w, 3))
print("confusion matrix")
print(table)
print(f"accuracy {np.trace(table) / table.sum():.4f}, precision {table[1, 1] / table[:, 1].sum():.4f}, recall {table[1, 1] / table[1].sum():.4f}")
