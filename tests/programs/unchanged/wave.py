"""Waves on a membrane: second order in time, a moving source."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 600
steps = 120
c2 = 0.25
now, before = np.zeros((n, n)), np.zeros((n, n))
damping = np.ones((n, n))
edge = max(2, n // 20)
ramp = 1 - 0.02 * (1 - np.arange(edge) / edge)
damping[:edge] *= ramp[:, None]
damping[-edge:] *= ramp[::-1, None]
damping[:, :edge] *= ramp
damping[:, -edge:] *= ramp[::-1]
energies = []
for t in range(steps):
    laplace = np.zeros_like(now)
    laplace[1:-1, 1:-1] = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * now[1:-1, 1:-1]
    after = (2 * now - before + c2 * laplace) * damping
    after[n // 2, n // 4 + t * n // (4 * steps)] += np.sin(0.3 * t)
    before, now = now, after
    if t % 20 == 19:
        energies.append(((now - before) ** 2).sum())
print("energies:", ", ".join(f"{e:.6f}" for e in energies))
print("largest and where: %.6f %s" % (np.abs(now).max(), np.unravel_index(np.abs(now).argmax(), now.shape)))
print("signs change:", np.count_nonzero(np.diff(np.sign(now[n // 2])) != 0))
