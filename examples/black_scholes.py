"""Prices of European options by Black and Scholes: about sixty operations an option, and one kernel for all of them.

    python examples/black_scholes.py [--count N] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

from typing import Any

import common
import numpy as np

import broadcloth as bc

RATE, VOLATILITY = 0.02, 0.30


def normal_cdf(xp: Any, x: Any) -> Any:
    """The normal distribution function by Abramowitz and Stegun's formula 26.2.17, good to 7.5e-8."""
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * xp.exp(-0.5 * x * x) * tail
    return xp.where(x >= 0.0, 1.0 - tail, tail)


def black_scholes(xp: Any, spot: Any, strike: Any, years: Any) -> tuple[Any, Any]:
    """The prices of a call and of a put."""
    deviation = VOLATILITY * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (RATE + 0.5 * VOLATILITY**2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * xp.exp(-RATE * years)
    call = spot * normal_cdf(xp, d1) - discounted * normal_cdf(xp, d2)
    put = call + discounted - spot  # put-call parity
    return call, put


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--count", type=int, default=1_000_000, help="options (1,000,000)")
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(7)
    ranges = ((5.0, 30.0), (1.0, 100.0), (0.25, 10.0))  # spot, strike, years
    host = [rng.uniform(lo, hi, arguments.count).astype("float32") for lo, hi in ranges]

    with common.use_device(arguments.device) as device:
        data = [bc.asarray(x) for x in host]
        with bc.profiler.record() as record:
            call, put = black_scholes(bc, *data)
        print(f"{arguments.count:,} options, float32, on {device}: {len(record.kernels)} kernel(s) for the call and the put prices")
        spot, strike, years = (x[0] for x in host)
        print(f"spot {spot:.2f}, strike {strike:.2f}, {years:.2f} years: call {float(call[0]):.4f}, put {float(put[0]):.4f}")
        ours = common.clock(bc, lambda: black_scholes(bc, *data))
    theirs = None
    if not arguments.no_numpy:
        expected = black_scholes(np, *(x.astype("float64") for x in host))
        worst = max(np.abs(np.asarray(got) - want).max() for got, want in zip((call, put), expected))
        print(f"largest difference from NumPy in float64: {worst:.1e}")
        if not worst < 1e-3:
            print("ERROR: the prices differ")
            return 1
        theirs = common.clock(np, lambda: black_scholes(np, *host))
    print(common.compare("call and put prices", ours, theirs))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
