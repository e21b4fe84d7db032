"""The sine of many numbers: a loop in Python, NumPy, broadcloth.

    python examples/sine.py [--sizes N,…] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

import math
import time

import common
import numpy as np

import broadcloth as bc


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--sizes", default="1e5,1e6,1e7", help="how many numbers (1e5,1e6,1e7)")
    parser.add_argument("--loop", default="1e5", help="how many in the loop in Python (1e5; 0: leave it out)")
    arguments = parser.parse_args(argv)

    loop = int(float(arguments.loop))
    if loop:
        numbers = [0.001 * i for i in range(loop)]
        start = time.perf_counter()
        for x in numbers:
            math.sin(x)
        seconds = time.perf_counter() - start
        print(f"a loop in Python: {common.show(seconds)} for {loop:,} numbers, {common.show(seconds / loop)} each")

    with common.use_device(arguments.device) as device:
        print(f"float64, on {device}")
        for n in (int(float(s)) for s in arguments.sizes.split(",")):
            x = bc.linspace(0.0, 1000.0, n)
            y = bc.sin(x)
            ours = common.clock(bc, lambda x=x: bc.sin(x))
            theirs = None
            if not arguments.no_numpy:
                host = x.get()
                np.testing.assert_allclose(y.get(), np.sin(host), rtol=1e-15, atol=1e-15)
                theirs = common.clock(np, lambda x=host: np.sin(x))
            print(f"{common.compare(f'{n:,} numbers', ours, theirs)}   {common.show(ours / n)} each")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
