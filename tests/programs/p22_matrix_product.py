"""The matrix product as a kernel: one thread an element, then tiles in shared memory."""

import numpy as np

from broadcloth import cuda, float32

TILE = 16


@cuda.jit
def naive(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@cuda.jit
def tiled(a, b, c):
    a_tile = cuda.shared.array((TILE, TILE), dtype=float32)
    b_tile = cuda.shared.array((TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for t in range((a.shape[1] + TILE - 1) // TILE):
        a_tile[tx, ty] = 0
        b_tile[tx, ty] = 0
        if x < a.shape[0] and ty + t * TILE < a.shape[1]:
            a_tile[tx, ty] = a[x, ty + t * TILE]
        if y < b.shape[1] and tx + t * TILE < b.shape[0]:
            b_tile[tx, ty] = b[tx + t * TILE, y]
        cuda.syncthreads()
        for k in range(TILE):
            total += a_tile[tx, k] * b_tile[k, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = total


rng = np.random.default_rng(0)
for m, k, n in ((64, 64, 64), (50, 33, 70)):
    a, b = rng.random((m, k), dtype=np.float32), rng.random((k, n), dtype=np.float32)
    expected = a.astype(np.float64) @ b
    blocks = ((m + TILE - 1) // TILE, (n + TILE - 1) // TILE)
    for kernel in (naive, tiled):
        c = cuda.device_array((m, n), np.float32)
        kernel[blocks, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
        np.testing.assert_allclose(c.copy_to_host(), expected, rtol=1e-5)
