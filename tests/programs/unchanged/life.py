"""Conway's game of life on a torus."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
steps = 40


def neighbours(board):
    total = np.zeros_like(board)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                total += np.roll(np.roll(board, dy, axis=0), dx, axis=1)
    return total


board = np.zeros((size, size), dtype=np.int32)
i, j = np.indices(board.shape)
board[(i * 7 + j * 13 + (i * j) % 11) % 5 == 0] = 1
glider = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]])
board[:10, :10] = 0
board[3:6, 3:6] = glider

print("alive at first:", board.sum())
for step in range(steps):
    n = neighbours(board)
    board = ((n == 3) | ((board == 1) & (n == 2))).astype(np.int32)
    if step % 10 == 9:
        print(f"after {step + 1:3d} steps: {board.sum()} alive, fullest row {board.sum(axis=1).argmax()}")
print(board[:4, :12])
