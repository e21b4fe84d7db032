"""Random walks: how far they get and when they first come back."""

import sys

import numpy as np

walks = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
steps = 1000
rng = np.random.default_rng(11)
moves = rng.choice([-1, 1], size=(walks, steps))
paths = moves.cumsum(axis=1)
print("mean end:", paths[:, -1].mean(), "variance:", round(paths[:, -1].var(), 3))
print("farthest:", np.abs(paths).max(), "by walk", np.abs(paths).max(axis=1).argmax())
home = paths == 0
returned = home.any(axis=1)
first = home.argmax(axis=1)[returned] + 1
print(f"{returned.sum()} of {walks} came back, half of them within {int(np.median(first))} steps")
print("always above:", (paths > 0).all(axis=1).sum())
quantiles = np.percentile(paths[:, -1], [5, 25, 50, 75, 95])
print("percentiles of the end:", quantiles)
hist, edges = np.histogram(paths[:, -1], bins=8)
for h, left, right in zip(hist, edges[:-1], edges[1:]):
    print(f"{left:8.2f} to {right:8.2f}: {'*' * int(60 * h / walks)} {h}")
