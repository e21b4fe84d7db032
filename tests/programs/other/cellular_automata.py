"""Cellular automata: rule 110, Brian's brain, HighLife, Wireworld, a sandpile, Langton's ant, forest fire."""

import hashlib
import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 64


def digest(a):
    return hashlib.sha1(np.ascontiguousarray(a).tobytes()).hexdigest()[:10]


def elementary(rule, width, steps):
    table = np.array([(rule >> i) & 1 for i in range(8)], dtype=np.uint8)
    row = np.zeros(width, dtype=np.uint8)
    row[width // 2] = 1
    rows = [row]
    for _ in range(steps):
        idx = (np.roll(row, 1) << 2) | (row << 1) | np.roll(row, -1)
        row = table[idx]
        rows.append(row)
    return np.array(rows)


def neighbours(alive):
    a = alive.astype(np.int8)
    return sum(np.roll(a, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))


def highlife(grid, steps):
    for _ in range(steps):
        k = neighbours(grid)
        grid = (grid & ((k == 2) | (k == 3))) | (~grid & ((k == 3) | (k == 6)))
    return grid


def brain(grid, steps):
    for _ in range(steps):
        k = neighbours(grid == 1)
        new = np.zeros_like(grid)
        new[(grid == 0) & (k == 2)] = 1
        new[grid == 1] = 2
        grid = new
    return grid


def wireworld(grid, steps):
    heads = []
    for _ in range(steps):
        k = neighbours(grid == 1)
        grid = np.select([grid == 1, grid == 2, (grid == 3) & ((k == 1) | (k == 2))], [2, 3, 1], default=grid)
        heads.append(int((grid == 1).sum()))
    return grid, heads


def sandpile(n, grains):
    g = np.zeros((n, n), dtype=int)
    g[n // 2, n // 2] = grains
    topples = 0
    while (g >= 4).any():
        t = g // 4
        g %= 4
        g[1:] += t[:-1]
        g[:-1] += t[1:]
        g[:, 1:] += t[:, :-1]
        g[:, :-1] += t[:, 1:]
        topples += t.sum()
    return g, topples


def ant(n, steps):
    grid = np.zeros((n, n), dtype=bool)
    y = x = n // 2
    dy, dx = -1, 0
    for _ in range(steps):
        if grid[y, x]:
            dy, dx = -dx, dy
        else:
            dy, dx = dx, -dy
        grid[y, x] = not grid[y, x]
        y, x = (y + dy) % n, (x + dx) % n
    return grid, (y, x)


def forest(rng, n, steps, grow=0.02, strike=0.0005):
    tree, fire = 1, 2
    g = (rng.random((n, n)) < 0.5).astype(np.int8)
    burnt = []
    for _ in range(steps):
        near = np.zeros(g.shape, bool)
        burning = g == fire
        near[1:] |= burning[:-1]
        near[:-1] |= burning[1:]
        near[:, 1:] |= burning[:, :-1]
        near[:, :-1] |= burning[:, 1:]
        u = rng.random(g.shape)
        ignite = (g == tree) & (near | (u < strike))
        sprout = (g == 0) & (u < grow)
        g[burning] = 0
        g[ignite] = fire
        g[sprout] = tree
        burnt.append(np.count_nonzero(ignite))
    return g, burnt


rows = elementary(110, 2 * N + 1, N)
print("rule 110", rows.shape, rows.sum(), digest(rows))
for r in elementary(30, 31, 8):
    print("".join(np.where(r, "#", ".")))
rng = np.random.default_rng(9)
start = rng.random((N, N)) < 0.35
end = highlife(start, 40)
print("highlife", end.dtype, int(start.sum()), "->", int(end.sum()), digest(end))
b = brain(rng.integers(0, 3, (N, N), dtype=np.uint8), 30)
print("brain", b.dtype, np.bincount(b.ravel(), minlength=3), digest(b))
w = np.zeros((7, 12), dtype=np.int64)
w[2, 1:11] = w[4, 1:11] = 3
w[3, 1] = w[3, 10] = 3
w[2, 3], w[2, 2] = 1, 2
w, heads = wireworld(w, 22)
print("wireworld", heads, "\n" + "\n".join("".join(" @*."[c] for c in line) for line in w.tolist()))
g, topples = sandpile(41, 2000)
print("sandpile", np.bincount(g.ravel()).tolist(), "topples", topples, "symmetric", (g == g.T).all() and (g == g[::-1]).all())
grid, where = ant(32, 3000)
print("ant", grid.sum(), where, digest(grid))
g, burnt = forest(rng, N, 50)
print("forest", np.unique(g, return_counts=True), "burnt", sum(burnt), "largest", max(burnt), "at", int(np.argmax(burnt)))
