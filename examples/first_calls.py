"""First array calls: arange, *, add, sum and a norm; what waits, what runs, and the C++ that is made of it.

    python examples/first_calls.py [--count N] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import broadcloth as bc


def calls(xp: Any, x: Any) -> tuple[Any, Any, Any]:
    doubled = x * 2
    total = xp.add(x, doubled)
    return total, total.sum(), xp.linalg.norm(x)


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="elements (100,000)")
    arguments = parser.parse_args(argv)

    with common.use_device(arguments.device) as device:
        x = bc.arange(arguments.count)
        print(f"x: {x.dtype}, {x.size:,} elements on {x.device} (default device: {device})")

        # Nothing is computed by these lines; broadcloth writes down what is to be done.
        y = bc.sqrt(x * 2 + 1)
        print("\nthe kernel that would compute sqrt(x * 2 + 1):\n")
        bc.show_source(y)

        # To look at a value computes it: print, float(), y.get(), an element.
        print("\nits first elements:", y[:4])

        with bc.profiler.record() as record:
            total, summed, norm = calls(bc, x)
        print(f"\nadd, sum and norm took {len(record.kernels)} kernel(s), {len(record.copies)} copies")
        print(f"sum {int(summed):,}   norm {float(norm):.6g}")
        ours = common.clock(bc, lambda: calls(bc, x), 0.1)
    theirs = None
    if not arguments.no_numpy:
        host = np.arange(arguments.count)
        expected = calls(np, host)
        np.testing.assert_array_equal(total.get(), expected[0])  # .get() copies to a NumPy array
        assert int(summed) == int(expected[1])
        np.testing.assert_allclose(float(norm), expected[2], rtol=1e-12)
        theirs = common.clock(np, lambda: calls(np, host), 0.1)
    print(common.compare(f"three calls on {arguments.count:,}", ours, theirs))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
