"""Two hundred arrays through copies and a kernel on a few streams, timed with events."""

import numpy as np

from broadcloth import cuda


@cuda.jit
def square(x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = x[i] * x[i]


arrays = [np.full(1000, k, dtype=np.float32) for k in range(200)]
streams = [cuda.stream() for _ in range(4)]
start, stop = cuda.event(), cuda.event()
start.record()
out = []
for k, array in enumerate(arrays):
    stream = streams[k % len(streams)]
    pinned = cuda.pinned_array(array.shape, array.dtype)
    pinned[:] = array
    d = cuda.to_device(pinned, stream=stream)
    square[4, 128, stream](d)
    out.append(d.copy_to_host(stream=stream))
for stream in streams:
    stream.synchronize()
stop.record()
stop.synchronize()
assert cuda.event_elapsed_time(start, stop) >= 0
for k, result in enumerate(out):
    np.testing.assert_array_equal(result, np.full(1000, k * k, np.float32))
