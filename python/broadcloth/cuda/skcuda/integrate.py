"""Integrals of samples, as `skcuda.integrate` has them. Results are Python's numbers.

Examples
--------
>>> from broadcloth.cuda.skcuda import integrate
>>> integrate.trapz(bc.array([0.0, 1.0, 4.0]), dx=1.0)
3.0
"""

from __future__ import annotations

from typing import Any

import broadcloth as bc

from ..._namespace import listing
from .misc import init, shutdown

__all__ = ["init", "shutdown", "simps", "trapz", "trapz2d"]


def _floating(x: Any, name: str, axes: int) -> Any:
    if x.dtype.char not in "fdFD":
        raise ValueError(f"{name}: unrecognized type {x.dtype}")
    if x.ndim != axes:
        raise ValueError(f"{name}: input array must be {axes}D, got shape {x.shape}")
    return x


def _trapezoids(x: Any) -> Any:
    """The sums along the last axis by the trapezoidal rule with steps of 1."""
    return x.sum(-1) - (x[..., 0] + x[..., -1]) / 2


def trapz(x_gpu: Any, dx: float = 1.0, handle: Any = None) -> Any:
    """The integral of samples at steps of `dx` by the trapezoidal rule."""
    return (_trapezoids(_floating(x_gpu, "trapz", 1)) * dx).item()


def trapz2d(x_gpu: Any, dx: float = 1.0, dy: float = 1.0, handle: Any = None) -> Any:
    """The integral of samples over a plane by the trapezoidal rule: columns are `dx` apart, rows `dy`."""
    return (_trapezoids(_trapezoids(_floating(x_gpu, "trapz2d", 2))) * (dx * dy)).item()


def simps(x_gpu: Any, dx: float = 1.0, even: str = "avg", handle: Any = None) -> Any:
    """The integral of samples at steps of `dx` by Simpson's rule.

    For an even number of samples the last interval ('first'), the first ('last') or the mean of both ways ('avg') is a trapezoid.
    """
    x = _floating(x_gpu, "simps", 1)
    if even not in ("avg", "first", "last"):
        raise ValueError(f"simps: expected even to be 'avg', 'first' or 'last', got {even!r}")
    if x.size < 2:
        return (x.sum() * 0).item()
    if x.size % 2:
        return (_simpson(x) * dx).item()
    first = _simpson(x[:-1]) + (x[-2] + x[-1]) / 2
    last = _simpson(x[1:]) + (x[0] + x[1]) / 2
    return ((first if even == "first" else last if even == "last" else (first + last) / 2) * dx).item()


def _simpson(x: Any) -> Any:
    """Simpson's rule over an odd number of samples."""
    return bc.sum(x[:-2:2] + 4 * x[1:-1:2] + x[2::2]) / 3

__dir__ = listing(__all__)
