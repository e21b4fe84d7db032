"""Copies and kernels of many arrays, one after the other and overlapped on streams.

    python examples/streams.py [--arrays N] [--elements N] [--streams N] [--device cpu|cuda]

On a GPU the copies of one array go on while another one is computed. On the CPU streams are names and the two times are alike.
"""

from __future__ import annotations

import math

import common
import numpy as np

from broadcloth import cuda


@cuda.jit
def smooth(x, y):
    """y[i] is a mean of three, 50 times over."""
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        value = x[i]
        for _ in range(50):
            value = (x[i - 1] + value + x[i + 1]) / 3
        y[i] = value


def run(inputs: list[np.ndarray], outputs: list[np.ndarray], streams: list[cuda.Stream]) -> float:
    """Sends every array through a stream: to the device, through the kernel, back. Gives milliseconds."""
    start, end = cuda.Event(), cuda.Event()
    start.record()
    for stream in streams:
        stream.wait_event(start)
    for i, (x, y) in enumerate(zip(inputs, outputs, strict=True)):
        stream = streams[i % len(streams)]
        d = cuda.to_device(x, stream=stream)
        out = cuda.device_array_like(d, stream=stream)
        smooth[math.ceil(x.size / 256), 256, stream](d, out)
        with stream:
            out = out * 2 + d  # array expressions go to the stream too
        out.copy_to_host(y, stream=stream)
    for stream in streams:
        cuda.Stream.null.wait_event(stream.record())
    end.record(cuda.Stream.null)
    end.synchronize()
    return cuda.get_elapsed_time(start, end)


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--arrays", type=int, default=200, help="how many arrays (200)")
    parser.add_argument("--elements", type=int, default=1 << 18, help="of how many elements (262144)")
    parser.add_argument("--streams", type=int, default=4, help="on how many streams (4)")
    arguments = parser.parse_args(argv)

    with common.use_device(arguments.device):
        inputs = [cuda.pinned_array(arguments.elements, np.float32) for _ in range(arguments.arrays)]
        outputs = [cuda.pinned_array(arguments.elements, np.float32) for _ in range(arguments.arrays)]
        for i, x in enumerate(inputs):
            x[:] = i
        run(inputs[:2], outputs[:2], [cuda.Stream()])  # compiles
        one = run(inputs, outputs, [cuda.Stream()])
        many = run(inputs, outputs, [cuda.Stream(non_blocking=True) for _ in range(arguments.streams)])
        right = all((y[1:-1] == 3 * i).all() for i, y in enumerate(outputs))
        device = cuda.get_current_device()
        where = f"{device.type}:{device.id}, {device.name.decode()}"
    print(f"{arguments.arrays} arrays of {arguments.elements:,} float32 on {where}")
    print(f"one stream: {common.show(one / 1e3)}; {arguments.streams} streams: {common.show(many / 1e3)}")
    print("the results are right" if right else "ERROR: the results are wrong")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
