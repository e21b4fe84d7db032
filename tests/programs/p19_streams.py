"""Streams, as Numba and as CuPy spell them."""

import numpy as np

import broadcloth as cp
from broadcloth import cuda


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


n = 10_000
host = np.arange(n, dtype=np.float32)
streams = [cuda.stream() for _ in range(3)]
results = []
for k, stream in enumerate(streams):
    d = cuda.to_device(host + k, stream=stream)
    add_one[(n + 255) // 256, 256, stream](d)
    results.append(d.copy_to_host(stream=stream))
for stream in streams:
    stream.synchronize()
for k, result in enumerate(results):
    np.testing.assert_array_equal(result, host + k + 1)

with cuda.stream().auto_synchronize() as stream:
    d = cuda.to_device(host, stream=stream)
    add_one[(n + 255) // 256, 256, stream](d)

first, second = cp.cuda.Stream(), cp.cuda.Stream(non_blocking=True)
with first:
    a = cp.arange(n, dtype=cp.float64) * 2
    done = first.record()
with second:
    second.wait_event(done)
    b = a + 1
second.synchronize()
np.testing.assert_array_equal(cp.asnumpy(b), np.arange(n) * 2.0 + 1)
start, stop = cp.cuda.Event(), cp.cuda.Event()
start.record()
c = cp.sqrt(b).sum()
stop.record()
stop.synchronize()
assert cp.cuda.get_elapsed_time(start, stop) >= 0
assert abs(float(c) - np.sqrt(np.arange(n) * 2.0 + 1).sum()) < 1e-6 * float(c)
