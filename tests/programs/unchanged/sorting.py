"""Sorting, ranking and selecting."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500_000
rng = np.random.default_rng(17)
values = rng.integers(0, 1_000_000, size=n)
ordered = np.sort(values)
print("smallest", ordered[:5], "largest", ordered[-3:])
order = np.argsort(values, kind="stable")
assert (values[order] == ordered).all()
rank = np.empty(n, dtype=int)
rank[order] = np.arange(n)
print("rank of the first:", rank[0], "median", np.median(values))
print("third smallest by partition:", np.partition(values, 2)[2])
names, first, counts = np.unique(values // 10_000, return_index=True, return_counts=True)
print("groups", len(names), "most", counts.max(), "in", names[counts.argmax()], "first seen", first[:4])
scores = rng.normal(size=n)
table = np.lexsort((scores, values // 100_000))
print("lexsort:", (values // 100_000)[table][:3], np.round(scores[table][:3], 4))
where = np.searchsorted(ordered, [1000, 500_000, 999_000])
print("below:", where)
a, b = values[:20_000], values[20_000:40_000]
print("common:", len(np.intersect1d(a, b)), "only first:", len(np.setdiff1d(a, b)), "all:", len(np.union1d(a, b)))
