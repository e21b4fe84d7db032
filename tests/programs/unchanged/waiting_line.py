"""A queue with one server, customer by customer and with arrays."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
rng = np.random.default_rng(123)
arrive = np.cumsum(rng.exponential(1.0, n))
serve = rng.exponential(0.8, n)
leave = np.zeros(n)
last = 0.0
for i in range(n):
    last = max(last, arrive[i]) + serve[i]
    leave[i] = last
wait = leave - serve - arrive
print(f"mean wait {wait.mean():.4f}, longest {wait.max():.4f}, waited {np.mean(wait > 1e-9):.4f}")
# The same by a running maximum.
total = np.cumsum(serve)
also = np.maximum.accumulate(arrive - np.concatenate([[0.0], total[:-1]])) + total
print("the two agree:", np.allclose(also, leave))
print(f"the server is busy {serve.sum() / leave[-1]:.4f} of the time")
events = np.concatenate([arrive, leave])
change = np.concatenate([np.ones(n), -np.ones(n)])
length = np.cumsum(change[np.argsort(events, kind="stable")])
print("longest queue:", int(length.max()))
