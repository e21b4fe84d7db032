"""Dynamic programming: global and local alignment, edit distance by anti-diagonals, LCS, knapsack, coin change, Viterbi, matrix chains, Floyd-Warshall."""

import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 60
BASES = np.frombuffer(b"ACGT", dtype="S1")


def random_dna(rng, n):
    return "".join("ACGT"[i] for i in rng.integers(0, 4, n))


def mutate(rng, s, rate=0.15):
    out = []
    for ch in s:
        u = rng.random()
        if u < rate / 3:
            continue
        out.append("ACGT"[rng.integers(4)] if u < rate else ch)
        if u > 1 - rate / 3:
            out.append("ACGT"[rng.integers(4)])
    return "".join(out)


def needleman(a, b, match=2, mismatch=-1, gap=-2):
    m, n = len(a), len(b)
    score = np.zeros((m + 1, n + 1), dtype=int)
    score[:, 0] = gap * np.arange(m + 1)
    score[0] = gap * np.arange(n + 1)
    back = np.zeros((m + 1, n + 1), dtype=np.int8)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            options = (score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch), score[i - 1, j] + gap, score[i, j - 1] + gap)
            k = int(np.argmax(options))
            score[i, j], back[i, j] = options[k], k
    top, bottom = [], []
    i, j = m, n
    while i or j:
        k = back[i, j] if i and j else (1 if i else 2)
        if k == 0:
            i, j = i - 1, j - 1
            top.append(a[i])
            bottom.append(b[j])
        elif k == 1:
            i -= 1
            top.append(a[i])
            bottom.append("-")
        else:
            j -= 1
            top.append("-")
            bottom.append(b[j])
    return score[m, n], "".join(reversed(top)), "".join(reversed(bottom)), score


def edit_distance(a, b):
    x, y = np.frombuffer(a.encode(), np.uint8), np.frombuffer(b.encode(), np.uint8)
    d = np.arange(len(y) + 1)
    offset = np.arange(len(y) + 1)
    for i, c in enumerate(x, 1):
        new = np.minimum(d[1:] + 1, d[:-1] + (y != c))
        new = np.concatenate([[i], new])
        d = np.minimum.accumulate(new - offset) + offset
    return d[-1]


def lcs(a, b):
    t = np.zeros((len(a) + 1, len(b) + 1), int)
    eq = np.equal.outer(np.array(list(a)), np.array(list(b)))
    for i in range(len(a)):
        row = np.where(eq[i], t[i, :-1] + 1, t[i, 1:])
        t[i + 1, 1:] = np.maximum.accumulate(row)
    return t[-1, -1]


def knapsack(values, weights, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    keep = np.zeros((len(values), capacity + 1), dtype=bool)
    for i, (v, w) in enumerate(zip(values, weights)):
        taken = best[:-w] + v
        keep[i, w:] = taken > best[w:]
        best[w:] = np.maximum(best[w:], taken)
    chosen, c = [], capacity
    for i in reversed(range(len(values))):
        if keep[i, c]:
            chosen.append(i)
            c -= weights[i]
    return best[-1], chosen[::-1]


def viterbi(obs, start, trans, emit):
    score = np.log(start) + np.log(emit[:, obs[0]])
    back = []
    for o in obs[1:]:
        s = score[:, None] + np.log(trans)
        back.append(s.argmax(axis=0))
        score = s.max(axis=0) + np.log(emit[:, o])
    path = [score.argmax()]
    for b in reversed(back):
        path.append(b[path[-1]])
    return path[::-1], score.max()


def chain(dims):
    n = len(dims) - 1
    cost = np.full((n, n), np.inf)
    np.fill_diagonal(cost, 0)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            k = np.arange(i, j)
            cost[i, j] = (cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]).min()
    return cost[0, -1]


def floyd(w):
    d = w.copy()
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k, :], out=d)
    return d


rng = np.random.default_rng(17)
a = random_dna(rng, N)
b = mutate(rng, a)
print(a[:40], b[:40], len(a), len(b))
score, top, bottom, table = needleman(a, b)
print("global score", score, "identity %.4f" % np.mean(np.array(list(top)) == np.array(list(bottom))))
print(top[:50])
print(bottom[:50])
print("table", table.shape, table.max(), table[-1].argmax(), table.sum())
print("edit distance", edit_distance(a, b), edit_distance("kitten", "sitting"), "lcs", lcs(a, b))
v, w = rng.integers(10, 100, 12), rng.integers(1, 15, 12)
best, chosen = knapsack(v, w, 40)
print("knapsack", best, chosen, v[chosen].sum() == best, w[chosen].sum())
coins, ways = [1, 5, 10, 25], np.zeros(101, dtype=int)
ways[0] = 1
for c in coins:
    for x in range(c, 101):
        ways[x] += ways[x - c]
print("coin change", ways[100], ways[[10, 25, 50]])
obs = rng.integers(0, 3, 30)
path, ll = viterbi(obs, np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
print("viterbi", "".join(map(str, path)), f"{ll:.5f}")
print("matrix chain", chain(np.array([30, 35, 15, 5, 10, 20, 25])))
wts = np.where(rng.random((12, 12)) < 0.3, rng.integers(1, 10, (12, 12)).astype(float), np.inf)
np.fill_diagonal(wts, 0)
d = floyd(wts)
print("floyd", np.isinf(d).sum(), d[np.isfinite(d)].max(), d[0])
codes = np.array([ord(c) for c in a])
print("composition", {ch: int((codes == ord(ch)).sum()) for ch in "ACGT"}, BASES.tobytes(), BASES[:2])
kmers = np.lib.stride_tricks.sliding_window_view(np.searchsorted(np.array([65, 67, 71, 84]), codes), 3) @ np.array([16, 4, 1])
print("3-mers", np.unique(kmers).size, np.bincount(kmers).argmax(), kmers[:10])
