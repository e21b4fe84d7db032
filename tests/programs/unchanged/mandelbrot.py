"""The Mandelbrot set: how often each point is iterated before it escapes."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 700
limit = 60
x = np.linspace(-2.0, 0.6, size)
y = np.linspace(-1.3, 1.3, size)
c = x[None, :] + 1j * y[:, None]
z = np.zeros_like(c)
count = np.zeros(c.shape, dtype=int)
for step in range(limit):
    inside = z.real**2 + z.imag**2 <= 4.0
    z = np.where(inside, z * z + c, z)
    count += inside
print("points of the set:", (count == limit).sum())
print("mean count: %.4f" % count.mean())
values, how_many = np.unique(count, return_counts=True)
for v, h in list(zip(values, how_many))[:8]:
    print(v, h)
middle = count[size // 2]
print("".join(" .:-=+*#%@"[min(9, c // 6)] for c in middle[:: max(1, size // 60)]))
