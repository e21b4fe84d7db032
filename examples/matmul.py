"""Matrix products, checked against NumPy.

    python examples/matmul.py [--sizes N,…] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

import common
import numpy as np

import broadcloth as bc


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--sizes", default="256,512,1024", help="edges of the square matrices (256,512,1024)")
    parser.add_argument("--rectangle", default="1024,2048,512", help="rows, inner and columns of the first product (1024,2048,512)")
    arguments = parser.parse_args(argv)
    shapes = [tuple(int(n) for n in arguments.rectangle.split(","))] + [(int(n),) * 3 for n in arguments.sizes.split(",") if n]
    rng = np.random.default_rng(3)

    with common.use_device(arguments.device) as device:
        print(f"on {device}")
        for dtype in ("float32", "float64"):
            for rows, inner, columns in shapes:
                a_host, b_host = rng.random((rows, inner)).astype(dtype), rng.random((inner, columns)).astype(dtype)
                a, b = bc.asarray(a_host), bc.asarray(b_host)
                c = a @ b
                ours = common.clock(bc, lambda a=a, b=b: a @ b)
                theirs = None
                if not arguments.no_numpy:
                    # A sum of `inner` products of numbers in [0, 1) is known to about that many roundings.
                    np.testing.assert_allclose(c.get(), a_host @ b_host, rtol=inner * np.finfo(dtype).eps)
                    theirs = common.clock(np, lambda a=a_host, b=b_host: a @ b)
                rate = 2e-9 * rows * inner * columns / ours
                print(f"{common.compare(f'{rows}x{inner} · {inner}x{columns} {dtype}', ours, theirs)}   {rate:8.1f} GFLOP/s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
