"""Moments, quantiles, a bootstrap and a permutation test."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
rng = np.random.default_rng(8)
a = rng.normal(10, 2, size=n)
b = rng.normal(10.2, 2.5, size=n)
for name, s in (("a", a), ("b", b)):
    z = (s - s.mean()) / s.std()
    print(f"{name}: mean {s.mean():.4f} std {s.std(ddof=1):.4f} skew {(z**3).mean():.4f} kurtosis {(z**4).mean():.4f}")
    print("   quartiles", np.round(np.quantile(s, [0.25, 0.5, 0.75]), 4))
index = rng.integers(0, n, size=(500, n))
means = a[index].mean(axis=1)
print("95 % interval of a's mean:", np.round(np.percentile(means, [2.5, 97.5]), 4))
both = np.concatenate([a, b])
seen = b.mean() - a.mean()
larger = 0
for _ in range(200):
    mixed = rng.permutation(both)
    if abs(mixed[:n].mean() - mixed[n:].mean()) >= abs(seen):
        larger += 1
print(f"difference {seen:.4f}, p = {larger / 200:.3f}")
t = seen / np.sqrt(a.var(ddof=1) / n + b.var(ddof=1) / n)
print(f"t = {t:.4f}, correlation {np.corrcoef(a, b)[0, 1]:.5f}")
print("covariance", np.cov(a, b).round(4).tolist())
