"""a * b + sin(a) + cos(b): five passes over memory in NumPy, one in broadcloth.

    python examples/elementwise.py [--sizes N,…] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import broadcloth as bc


def expression(xp: Any, a: Any, b: Any) -> Any:
    return a * b + xp.sin(a) + xp.cos(b)


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--sizes", default="100,1000,3000", help="edges of the square arrays (100,1000,3000)")
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(1)

    with common.use_device(arguments.device) as device:
        print(f"a * b + sin(a) + cos(b), float32, on {device}")
        for n in (int(s) for s in arguments.sizes.split(",")):
            a_host, b_host = (rng.random((n, n), dtype="float32") for _ in range(2))
            a, b = bc.asarray(a_host), bc.asarray(b_host)
            c = expression(bc, a, b)
            ours = common.clock(bc, lambda a=a, b=b: expression(bc, a, b))
            theirs = None
            if not arguments.no_numpy:
                np.testing.assert_allclose(c.get(), expression(np, a_host, b_host), rtol=1e-6)
                theirs = common.clock(np, lambda a=a_host, b=b_host: expression(np, a, b))
            # Two arrays are read and one is written, however long the expression is.
            print(f"{common.compare(f'{n} x {n}', ours, theirs)}   {3 * c.nbytes / ours / 1e9:7.1f} GB/s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
