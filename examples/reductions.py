"""Sum, mean and standard deviation of one array: broadcloth reads it once for all three.

    python examples/reductions.py [--sizes N,…] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import broadcloth as bc


def statistics(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    return xp.sum(x), xp.mean(x), xp.std(x)


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--sizes", default="100,1000,4000", help="edges of the square arrays (100,1000,4000)")
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(5)

    with common.use_device(arguments.device) as device:
        print(f"sum, mean and std of float32, on {device}")
        for n in (int(s) for s in arguments.sizes.split(",")):
            host = rng.random((n, n), dtype="float32")
            x = bc.asarray(host)
            with bc.profiler.record() as record:
                results = statistics(bc, x)
            ours = common.clock(bc, lambda x=x: statistics(bc, x))
            theirs = None
            if not arguments.no_numpy:
                exact = statistics(np, host.astype("float64"))
                for got, want in zip(results, exact):
                    np.testing.assert_allclose(float(got), want, rtol=1e-6)
                theirs = common.clock(np, lambda x=host: statistics(np, x))
            print(f"{common.compare(f'{n} x {n}', ours, theirs)}   {len(record.kernels)} kernel(s)   mean {float(results[1]):.6f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
