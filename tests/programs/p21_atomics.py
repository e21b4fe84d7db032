"""Every atomic, on the types that it supports."""

import numpy as np

from broadcloth import cuda

N = 1024


def run(kernel, start, *rest):
    x = cuda.to_device(np.array([start]) if not isinstance(start, np.ndarray) else start)
    kernel[N // 128, 128](x, *rest)
    return x.copy_to_host()


@cuda.jit
def add(x):
    cuda.atomic.add(x, 0, 1)


@cuda.jit
def subtract(x):
    cuda.atomic.sub(x, 0, 1)


@cuda.jit
def maximum(x, v):
    cuda.atomic.max(x, 0, v[cuda.grid(1)])


@cuda.jit
def minimum(x, v):
    cuda.atomic.min(x, 0, v[cuda.grid(1)])


@cuda.jit
def nan_maximum(x, v):
    cuda.atomic.nanmax(x, 0, v[cuda.grid(1)])


@cuda.jit
def nan_minimum(x, v):
    cuda.atomic.nanmin(x, 0, v[cuda.grid(1)])


@cuda.jit
def bit_and(x, v):
    cuda.atomic.and_(x, 0, v[cuda.grid(1)])


@cuda.jit
def bit_or(x, v):
    cuda.atomic.or_(x, 0, v[cuda.grid(1)])


@cuda.jit
def bit_xor(x, v):
    cuda.atomic.xor(x, 0, v[cuda.grid(1)])


@cuda.jit
def exchange(x, v):
    v[cuda.grid(1)] = cuda.atomic.exch(x, 0, v[cuda.grid(1)])


@cuda.jit
def increment(x):
    cuda.atomic.inc(x, 0, 99)


@cuda.jit
def decrement(x):
    cuda.atomic.dec(x, 0, 99)


@cuda.jit
def swap_if(x, won):
    i = cuda.grid(1)
    if cuda.atomic.cas(x, 0, -1, i) == -1:
        cuda.atomic.add(won, 0, 1)


@cuda.jit
def swap_if_1d(x, won):
    i = cuda.grid(1)
    if cuda.atomic.compare_and_swap(x, -1, i) == -1:
        cuda.atomic.add(won, 0, 1)


@cuda.jit
def histogram(bins, v):
    cuda.atomic.add(bins, (v[cuda.grid(1)] % 4, 1), 1)


rng = np.random.default_rng(0)
for dtype in (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64):
    assert run(add, np.zeros(1, dtype))[0] == N
    v = rng.integers(0, 1 << 20, N).astype(dtype)
    assert run(maximum, np.zeros(1, dtype), cuda.to_device(v))[0] == v.max()
    assert run(minimum, np.full(1, 1 << 21, dtype), cuda.to_device(v))[0] == v.min()
for dtype in (np.int32, np.uint32, np.float32, np.float64):
    assert run(subtract, np.full(1, 2 * N, dtype))[0] == N
for dtype in (np.float32, np.float64):
    v = rng.random(N).astype(dtype)
    v[7] = np.nan
    assert run(nan_maximum, np.zeros(1, dtype), cuda.to_device(v))[0] == np.nanmax(v)
    assert run(nan_minimum, np.ones(1, dtype), cuda.to_device(v))[0] == np.nanmin(v)
for dtype in (np.int32, np.uint32, np.int64, np.uint64):
    v = rng.integers(0, 1 << 30, N).astype(dtype)
    assert run(bit_and, np.full(1, (1 << 31) - 1, dtype), cuda.to_device(v))[0] == np.bitwise_and.reduce(v) & ((1 << 31) - 1)
    assert run(bit_or, np.zeros(1, dtype), cuda.to_device(v))[0] == np.bitwise_or.reduce(v)
    assert run(bit_xor, np.zeros(1, dtype), cuda.to_device(v))[0] == np.bitwise_xor.reduce(v)
    d = cuda.to_device(v)
    last = run(exchange, np.full(1, 5, dtype), d)[0]
    assert sorted([*d.copy_to_host(), last]) == sorted([*v, dtype(5)])
for dtype in (np.uint32, np.uint64):
    assert run(increment, np.zeros(1, dtype))[0] == N % 100
    assert run(decrement, np.zeros(1, dtype))[0] == (-N) % 100
for dtype in (np.int32, np.int64):
    for kernel in (swap_if, swap_if_1d):
        won = cuda.to_device(np.zeros(1, np.int32))
        assert 0 <= run(kernel, np.full(1, -1, dtype), won)[0] < N
        assert won.copy_to_host()[0] == 1
bins = run(histogram, np.zeros((4, 2), np.int32), cuda.to_device(np.arange(N)))
assert (bins[:, 1] == N // 4).all() and (bins[:, 0] == 0).all()
