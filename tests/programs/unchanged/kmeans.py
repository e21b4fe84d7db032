"""k-means clustering by Lloyd's algorithm."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 150_000
k = 8
rng = np.random.default_rng(42)
centres = rng.uniform(-10, 10, size=(k, 3))
which = rng.integers(0, k, size=n)
points = centres[which] + rng.normal(0, 0.7, size=(n, 3))


def assign(points, means):
    distance = ((points[:, None, :] - means[None, :, :]) ** 2).sum(axis=2)
    return distance.argmin(axis=1), distance.min(axis=1).sum()


means = points[:: n // k][:k].copy()
for step in range(15):
    label, inertia = assign(points, means)
    new = np.array([points[label == c].mean(axis=0) if (label == c).any() else means[c] for c in range(k)])
    moved = np.abs(new - means).max()
    means = new
    print(f"step {step:2d}: inertia {inertia:.3f}, moved {moved:.5f}")
    if moved < 1e-4:
        break
order = np.argsort(means[:, 0])
print(np.round(means[order], 3))
print("sizes", np.bincount(label, minlength=k)[order])
