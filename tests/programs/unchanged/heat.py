"""Heat in a plate with fixed edges, explicit steps."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 700
steps = 150
u = np.zeros((n, n))
u[0, :] = 100.0
u[:, 0] = np.linspace(100, 0, n)
u[n // 4 : n // 2, n // 4 : n // 2] = 50.0
k = 0.2
for step in range(1, steps + 1):
    u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    if step % 50 == 0:
        print(f"step {step}: mean {u.mean():.5f}, hottest inside {u[1:-1, 1:-1].max():.4f}")
profile = u[n // 2, :: max(1, n // 8)]
print("profile:", " ".join(f"{v:.3f}" for v in profile))
gy, gx = np.gradient(u)
print("steepest:", np.unravel_index(np.argmax(gx**2 + gy**2), u.shape))
