"""An epidemic on a grid of towns: susceptible, infected, recovered."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
s = np.full((n, n), 1000.0) * (1 + 0.2 * np.sin(np.arange(n))[:, None] * np.cos(np.arange(n)))
i, r = np.zeros((n, n)), np.zeros((n, n))
i[n // 2, n // 3] = 100
people = s + i + r
for day in range(1, 121):
    pressure = 0.6 * i.copy()
    pressure[1:] += 0.1 * i[:-1]
    pressure[:-1] += 0.1 * i[1:]
    pressure[:, 1:] += 0.1 * i[:, :-1]
    pressure[:, :-1] += 0.1 * i[:, 1:]
    new = np.minimum(s, 0.35 * s * pressure / people)
    healed = 0.1 * i
    s, i, r = s - new, i + new - healed, r + healed
    if day % 30 == 0:
        print(f"day {day}: ill {i.sum():.1f}, healed {r.sum():.1f}, towns reached {(i + r > 1).sum()}")
worst = np.unravel_index(i.argmax(), i.shape)
print("worst town", tuple(int(k) for k in worst), f"{i.max():.2f} of {people[worst]:.2f}")
print("people kept:", np.isclose((s + i + r).sum(), people.sum()))
