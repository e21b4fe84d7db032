"""Which root Newton's method finds from each point of the plane."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 700
x = np.linspace(-1.5, 1.5, size)
z = x[None, :] + 1j * x[:, None] + 1e-9
for _ in range(25):
    z = z - (z**3 - 1) / (3 * z**2)
roots = np.exp(2j * np.pi * np.arange(3) / 3)
nearest = np.abs(z[..., None] - roots).argmin(axis=-1)
print("points by root:", np.bincount(nearest.ravel()))
print("all settled:", bool((np.abs(z**3 - 1) < 1e-6).all()))
border = (nearest[1:, :-1] != nearest[:-1, :-1]) | (nearest[:-1, 1:] != nearest[:-1, :-1])
print(f"on the border: {border.mean():.5f}")
for row in nearest[:: max(1, size // 16), :: max(1, size // 32)]:
    print("".join(".o#"[k] for k in row))
