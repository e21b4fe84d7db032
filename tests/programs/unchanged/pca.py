"""Principal components of correlated measurements."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
rng = np.random.default_rng(7)
sources = rng.standard_normal((n, 4)) * np.array([3.0, 2.0, 1.5, 1.0])
mixing = np.sin(1.7 * np.arange(48)).reshape(4, 12) + 0.3 * np.cos(np.arange(48) ** 1.5).reshape(4, 12)
data = sources @ mixing + 0.05 * rng.standard_normal((n, 12))

centred = data - data.mean(axis=0)
scaled = centred / centred.std(axis=0)
covariance = scaled.T @ scaled / (n - 1)
values, vectors = np.linalg.eigh(covariance)
values, vectors = values[::-1], vectors[:, ::-1]
share = values / values.sum()
for i, s in enumerate(share[:5]):
    print(f"component {i}: {100 * s:6.2f} % of the variance")
needed = int(np.searchsorted(np.cumsum(share), 0.95)) + 1
print("components for 95 %:", needed)
projected = scaled @ vectors[:, :needed]
back = projected @ vectors[:, :needed].T
print(f"root mean square error: {np.sqrt(((scaled - back) ** 2).mean()):.5f}")
print("correlation of the first two:", abs(np.round(np.corrcoef(projected[:, 0], projected[:, 1])[0, 1], 6)))
