"""PageRank of a random web without sparse matrices; hubs and authorities; communities by label propagation; reachability."""

import collections
import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 300


def build(n, seed=5):
    rng = np.random.default_rng(seed)
    out = np.minimum(rng.zipf(1.8, size=n), 20)
    out[rng.choice(n, n // 20, replace=False)] = 0  # dangling
    src = np.repeat(np.arange(n), out)
    dst = (src + np.floor(rng.pareto(1.1, src.size)).astype(np.int64) + 1) % n
    edges = np.unique(np.column_stack([src, dst]), axis=0)
    return edges[edges[:, 0] != edges[:, 1]]


def pagerank(edges, n, d=0.85, tol=1e-12):
    src, dst = edges.T
    degree = np.bincount(src, minlength=n)
    dangling = degree == 0
    weight = 1.0 / degree[src]
    r = np.ones(n) / n
    for k in range(500):
        new = np.zeros(n)
        np.add.at(new, dst, r[src] * weight)
        new = d * (new + r[dangling].sum() / n) + (1 - d) / n
        delta = np.abs(new - r).sum()
        r = new
        if delta < tol:
            break
    return r, k


def hits(edges, n, steps=60):
    A = np.zeros((n, n), dtype=np.uint8)
    A[tuple(edges.T)] = 1
    h = np.ones(n)
    for _ in range(steps):
        a = A.T @ h
        a /= np.linalg.norm(a)
        h = A @ a
        h /= np.linalg.norm(h)
    return h, a, A


def propagate(A, rounds=8):
    n = len(A)
    both = (A | A.T).astype(bool)
    labels = np.arange(n)
    for _ in range(rounds):
        changed = 0
        for v in range(n):
            near = labels[both[v]]
            if near.size:
                names, counts = np.unique(near, return_counts=True)
                best = names[counts.argmax()]
                if best != labels[v]:
                    labels[v] = best
                    changed += 1
        if not changed:
            break
    return labels


def distances(A, source):
    dist = np.full(len(A), -1)
    dist[source] = 0
    front = np.array([source])
    level = 0
    while front.size:
        level += 1
        reach = A[front].any(axis=0) & (dist < 0)
        dist[reach] = level
        front = np.flatnonzero(reach)
    return dist


edges = build(N)
print("edges", len(edges), edges.dtype, edges[:3].tolist())
r, k = pagerank(edges, N)
top = np.argsort(-r)[:6]
print("pagerank converged after", k, "sum", round(float(r.sum()), 10))
for i in top:
    print(f"  page {i:4d}: {r[i]:.8f}")
gini = 1 - 2 * np.trapezoid(np.insert(np.cumsum(np.sort(r)) / r.sum(), 0, 0), dx=1 / N)
print(f"gini {gini:.6f}")
h, a, A = hits(edges, N)
print("hub", h.argmax(), h.max().round(6), "authority", a.argmax(), a.max().round(6))
indegree = A.sum(axis=0, dtype=int)
print("in-degrees", np.bincount(indegree)[:6], "corr with rank %.4f" % np.corrcoef(indegree, r)[0, 1])
labels = propagate(A)
sizes = collections.Counter(labels.tolist()).most_common(4)
print("communities", len(set(labels.tolist())), sizes)
dist = distances(A, int(top[0]))
print("distances", dict(zip(*[u.tolist() for u in np.unique(dist, return_counts=True)])))
P = np.where(A.sum(1, keepdims=True) > 0, A / np.maximum(A.sum(1, keepdims=True), 1), 1 / N)
G = 0.85 * P + 0.15 / N
exact = np.linalg.matrix_power(G.T, 200) @ np.full(N, 1 / N)
print("agrees with the dense power:", np.allclose(exact, r, atol=1e-10), np.array_equal(np.argsort(-exact)[:3], top[:3]))
mask = np.triu(A & A.T, 1)
print("mutual links", np.count_nonzero(mask), list(zip(*np.nonzero(mask)))[:3])
