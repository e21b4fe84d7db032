"""Generator over Philox 4x32-10: number i of a stream depends on the key and on i only, so any number of threads draw at once, inside the
expression that uses the numbers, and every device gives the same values.

What has no such form (rejection takes a number of words that nobody knows before) is drawn by NumPy's code on the host, from the same
`Philox`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from ._distributions import DISTRIBUTIONS, Distribution, binder, on_host
from ._generator import Generator

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike, DTypeLike, ShapeLike

_ufuncs = _c.ufuncs


# Raises NumPy's errors; its numbers are not used.
_CHECKS = np.random.default_rng(0)
_NUMBERS = (int, float, np.number)
# The largest double below 2**63.
_LARGEST_INT64 = 9223372036854774784.0


def _shape(size: Any, together: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The result's shape: `size`, to which the parameters must broadcast, or what they broadcast to `together`."""
    if size is None:
        return together
    if type(size) is int and size >= 0 and not together:
        return (size,)
    try:
        shape: tuple[int, ...] = (operator.index(size),)
    except TypeError:
        shape = tuple(operator.index(n) for n in size)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if together and _c.broadcast_shapes(shape, together) != shape:
        raise ValueError(f"Output size {shape} is not compatible with broadcast dimensions of inputs {together}.")
    return shape


class CounterBasedGenerator(Generator):
    """What `Generator(Philox(seed))` is."""

    @property
    def _numpy(self) -> Any:
        self.bit_generator.catch_up()
        return self._host

    @_numpy.setter
    def _numpy(self, host: Any) -> None:
        self._host = host

    def _draw(self, kind: Any, shape: tuple[int, ...], dtype: Any, device: Any, **bounds: Any) -> ndarray:
        key, first = self.bit_generator.take(math.prod(shape))
        return _c.random(kind, key, first, shape, dtype, device=device, **bounds)

    def _float(self, kind: str, name: str, size: Any, dtype: Any, out: Any, device: Any) -> Any:
        kept = _c.get_dtype(dtype)
        if kept.kind != "f" and kept != _c.bfloat16:
            raise TypeError(f"Unsupported dtype {kept!r} for {name}")
        if out is None:
            return self._draw(kind, _shape(size), kept, device)
        if device is not None:
            raise ValueError("out and device: expected one of them, since out has a device")
        if not isinstance(out, ndarray | np.ndarray):
            raise TypeError(f"out must be an array, got {type(out).__name__}")
        if out.dtype != kept:
            raise TypeError(f"Supplied output array has the wrong type. Expected {kept}, got {out.dtype}")
        if size is not None and _shape(size) != out.shape:
            raise ValueError("size must match out.shape when used together")
        values = self._draw(kind, out.shape, kept, out.device)
        out[...] = values if isinstance(out, ndarray) else values.get()
        return out

    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: Any = None, *, device: DeviceLike = None) -> Any:
        if size is None and out is None and device is None:
            return super().random(dtype=dtype)
        return self._float("uniform", "random", size, dtype, out, device)

    def standard_normal(
        self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: Any = None, *, device: DeviceLike = None
    ) -> Any:
        if size is None and out is None and device is None:
            return super().standard_normal(dtype=dtype)
        return self._float("normal", "standard_normal", size, dtype, out, device)

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.float64,
        method: str = "zig",
        out: Any = None,
        *,
        device: DeviceLike = None,
    ) -> Any:
        if size is None and out is None and device is None:
            return super().standard_exponential(dtype=dtype, method=method)
        values = -_ufuncs["log1p"](-self._float("uniform", "standard_exponential", size if out is None else out.shape, dtype, None, device))
        if out is None:
            return values
        if size is not None and _shape(size) != out.shape:
            raise ValueError("size must match out.shape when used together")
        if out.dtype != values.dtype:
            raise TypeError(f"Supplied output array has the wrong type. Expected {values.dtype}, got {out.dtype}")
        out[...] = values if isinstance(out, ndarray) else values.get()
        return out

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
        *,
        device: DeviceLike = None,
    ) -> Any:
        if size is None and device is None and isinstance(low, _NUMBERS) and (high is None or isinstance(high, _NUMBERS)):
            return super().integers(low, high, None, dtype, endpoint)
        if high is None:
            low, high = 0, low
        first, last = np.asarray(on_host(low)), np.asarray(on_host(high))
        together = np.broadcast_shapes(first.shape, last.shape)
        shape = _shape(size, together)
        _CHECKS.integers(first, last, None, dtype, endpoint)
        kept = np.dtype(_c.get_dtype(dtype))
        first = first.astype(object)
        last = last.astype(object) - (0 if endpoint else 1)
        if not together:
            start, stop = int(first), int(last) + 1
            if stop - start <= 1 << 63 and stop < 1 << 63:
                return self._draw("integers", shape, kept, device, low=start, high=stop)
        # Every pair of bounds: the remainder of 64 random bits. Its bias, the span over 2**64, is far below what can be seen.
        bits = self._draw("uint64", shape, np.dtype(np.uint64), device)
        span = np.array((last - first + 1) % (1 << 64), dtype=np.uint64)
        whole = _c.asarray(span == 0, device=bits.device)
        offset = _c.where(whole, bits, bits % _c.asarray(np.where(span == 0, np.uint64(1), span), device=bits.device))
        start_bits = np.array(first % (1 << 64), dtype=np.uint64)
        return (offset + _c.asarray(start_bits, device=bits.device)).astype(kept)

    def choice(
        self,
        a: Any,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: DeviceLike = None,
    ) -> Any:
        if not replace or size is None:
            return super().choice(a, size, replace, p, axis, shuffle, device=device)
        if not isinstance(a, ndarray):
            host = np.asarray(a)
            if host.dtype.kind not in "biufc":
                return super().choice(a, size, replace, p, axis, shuffle, device=device)
            a = host if host.ndim == 0 else _c.asarray(host, device=device)
        weights: Any = on_host(p)
        pool: Any = on_host(a) if a.ndim == 0 else np.broadcast_to(np.int8(0), a.shape)
        n = int(pool) if pool.ndim == 0 else pool.shape[axis]
        _CHECKS.choice(pool, min(1, math.prod(_shape(size))), p=weights, axis=axis)
        where = device if a.ndim == 0 else a.device
        if weights is None:
            places = self.integers(0, max(n, 1), size, device=where)
        else:
            bounds = np.cumsum(weights, dtype=np.float64)
            bounds /= bounds[-1]
            u = self.random(size, device=where)
            places = _c.searchsorted(_c.asarray(bounds, device=u.device), u, "right")
        found = places if a.ndim == 0 else _c.take(a, places, axis)
        return found if device is None else found.to_device(device)


# It is printed, and taken by compiled functions, under the name of what a program makes.
CounterBasedGenerator.__name__ = "Generator"


class _Draw:
    """One number of the stream for each element of a result."""

    def __init__(self, generator: CounterBasedGenerator, shape: tuple[int, ...], device: Any) -> None:
        self._generator, self._shape, self._device = generator, shape, device

    def uniform(self) -> ndarray:
        """In [0, 1)."""
        return self._generator._draw("uniform", self._shape, np.float64, self._device)

    def symmetric(self) -> ndarray:
        """In (-1, 1), as odd multiples of 2**-53: never 0."""
        return self.uniform() * 2 - (1 - 2.0**-53)

    def normal(self) -> ndarray:
        return self._generator._draw("normal", self._shape, np.float64, self._device)

    def exponential(self) -> ndarray:
        return -_ufuncs["log1p"](-self.uniform())


def _laplace(draw: _Draw, loc: Any, scale: Any) -> Any:
    t = draw.symmetric()
    return loc - scale * _ufuncs["copysign"](_ufuncs["log1p"](-abs(t)), -t)


def _triangular(draw: _Draw, left: Any, mode: Any, right: Any) -> Any:
    u, whole, rising = draw.uniform(), right - left, mode - left
    low = left + _ufuncs["sqrt"](u * whole * rising)
    return _c.where(u * whole <= rising, low, right - _ufuncs["sqrt"]((1 - u) * whole * (right - mode)))


def _geometric(draw: _Draw, p: Any) -> Any:
    trials = _ufuncs["ceil"](draw.exponential() / -_ufuncs["log1p"](-_c.asarray(p, np.float64)))
    return _ufuncs["minimum"](_ufuncs["maximum"](trials, 1.0), _LARGEST_INT64).astype(np.int64)


# Distributions that are a function of one uniform or normal number, mostly the inverse of their distribution function.
_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "exponential": lambda draw, scale: scale * draw.exponential(),
    "geometric": _geometric,
    "gumbel": lambda draw, loc, scale: loc - scale * _ufuncs["log"](-_ufuncs["log"](0.5 + 0.5 * draw.symmetric())),
    "laplace": _laplace,
    "logistic": lambda draw, loc, scale: loc + scale * 2 * _ufuncs["arctanh"](draw.symmetric()),
    "lognormal": lambda draw, mean, sigma: _ufuncs["exp"](mean + sigma * draw.normal()),
    "normal": lambda draw, loc, scale: loc + scale * draw.normal(),
    "pareto": lambda draw, a: _ufuncs["expm1"](draw.exponential() / a),
    "power": lambda draw, a: _ufuncs["power"](-_ufuncs["expm1"](-draw.exponential()), 1.0 / a),
    "rayleigh": lambda draw, scale: scale * _ufuncs["sqrt"](2.0 * draw.exponential()),
    "standard_cauchy": lambda draw: _ufuncs["tan"](draw.symmetric() * (np.pi / 2)),
    "triangular": _triangular,
    "uniform": lambda draw, low, high: low + (high - low) * draw.uniform(),
    "weibull": lambda draw, a: _ufuncs["power"](draw.exponential(), 1.0 / a),
}


def _method(row: Distribution, transform: Callable[..., Any]) -> Callable[..., Any]:
    by_numpy = getattr(Generator, row.name)
    check = getattr(np.random.Generator, row.name)
    bound = binder(row)

    def method(self: CounterBasedGenerator, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        values = bound(args, kwargs)
        if values is None:
            return check(_CHECKS, *args, **kwargs)  # not the method's parameters: NumPy says which
        *parameters, size = values
        if size is None and device is None and all(isinstance(p, _NUMBERS) for p in parameters):
            return by_numpy(self, *parameters)
        arrays = [p if isinstance(p, _NUMBERS) else _c.asarray(p) for p in parameters]
        together = _c.broadcast_shapes(*(a.shape for a in arrays if isinstance(a, ndarray)))
        check(_CHECKS, *map(on_host, parameters), size=(0, *together))
        if device is None:
            device = next((a.device for a in arrays if isinstance(a, ndarray)), None)
        return transform(_Draw(self, _shape(size, together), device), *arrays)

    method.__name__, method.__qualname__ = row.name, f"CounterBasedGenerator.{row.name}"
    method.__doc__ = by_numpy.__doc__
    method.__signature__ = by_numpy.__signature__  # type: ignore[attr-defined]
    return method


for _row in DISTRIBUTIONS:
    if _row.name in _TRANSFORMS:
        setattr(CounterBasedGenerator, _row.name, _method(_row, _TRANSFORMS[_row.name]))
