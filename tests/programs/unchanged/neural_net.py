"""A small network learns two spirals; written out with arrays."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
np.random.seed(0)
t = np.linspace(0.2, 3.0, n // 2)
spiral = np.stack([t * np.cos(3 * t), t * np.sin(3 * t)], axis=1)
x = np.vstack([spiral, -spiral]) + 0.02 * np.random.randn(2 * (n // 2), 2)
y = np.repeat([0, 1], n // 2)
w1, b1 = np.random.randn(2, 64) * 0.8, np.zeros(64)
w2, b2 = np.random.randn(64, 2) * 0.3, np.zeros(2)
for step in range(150):
    h = np.tanh(x @ w1 + b1)
    logits = h @ w2 + b2
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    loss = -np.log(p[np.arange(len(y)), y]).mean()
    d = p.copy()
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    dh = (d @ w2.T) * (1 - h**2)
    w2 -= 0.5 * (h.T @ d)
    b2 -= 0.5 * d.sum(axis=0)
    w1 -= 0.5 * (x.T @ dh)
    b1 -= 0.5 * dh.sum(axis=0)
    if step % 50 == 49:
        print(f"step {step + 1}: loss {loss:.4f}, right {np.mean(p.argmax(axis=1) == y):.3f}")
