"""Fictitious play in zero-sum games, and a population by replicator dynamics."""

import sys

import numpy as np

rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30_000
game = np.array([[0, -1, 2, 1], [1, 0, -1, 0], [-2, 1, 0, -1], [0, 0, 1, -2]])
row, column = np.zeros(4), np.zeros(4)
row[0] = column[0] = 1
for _ in range(rounds):
    row[np.argmax(game @ column)] += 1
    column[np.argmin(row @ game)] += 1
p, q = row / row.sum(), column / column.sum()
print("row plays", np.round(p, 3), "column plays", np.round(q, 3))
print(f"value between {(p @ game).min():.4f} and {(game @ q).max():.4f}")

x = np.array([0.4, 0.3, 0.2, 0.1])
fitness = np.array([[1, 3, 0, 1], [0, 1, 3, 1], [3, 0, 1, 1], [1, 1, 1, 1.2]])
for _ in range(200):
    f = fitness @ x
    x = x * f / (x @ f)
print("population", np.round(x, 4), "sum", round(x.sum(), 12))
power = np.linalg.matrix_power(np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]]), 50)
print("long run", power[0].round(5))
