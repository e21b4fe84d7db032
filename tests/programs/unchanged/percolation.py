"""Which share of open sites lets water through: clusters by label propagation."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 400


def percolates(open_sites):
    wet = np.zeros_like(open_sites)
    wet[0] = open_sites[0]
    while True:
        grown = wet.copy()
        grown[1:] |= wet[:-1]
        grown[:-1] |= wet[1:]
        grown[:, 1:] |= wet[:, :-1]
        grown[:, :-1] |= wet[:, 1:]
        grown &= open_sites
        if np.array_equal(grown, wet):
            return bool(wet[-1].any()), wet.sum()
        wet = grown


rng = np.random.default_rng(99)
sites = rng.random((size, size))
for p in (0.5, 0.55, 0.6, 0.65, 0.7):
    through, wet = percolates(sites < p)
    print(f"p = {p:.2f}: {'through' if through else 'blocked'}, {wet} wet, {(sites < p).sum()} open")
