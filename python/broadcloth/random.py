"""Random numbers from Philox 4x32-10: number i of a stream depends on the seed and on i only, so every device gives the same values."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import SeedSequence

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._namespace import face

if TYPE_CHECKING:
    from .typing import ArrayLike, DeviceLike, DTypeLike, ShapeLike

__all__ = ["Generator", "Philox", "SeedSequence", "default_rng"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = face(
        __name__, __all__, np.random, "default_rng(seed) makes a generator, whose methods draw; numpy.random.{name} is the host's"
    )

_ufuncs = _c.ufuncs
_MASK = (1 << 64) - 1
# Pieces of a stream that jumped() gives out: 65,536 of them with 2.8e14 numbers each.
_JUMP = 1 << 48


class Philox:
    """The state of a stream of random numbers: a 64-bit key and the index of the next number.

    Parameters
    ----------
    seed : None, int, sequence of ints or SeedSequence
        What the key is made from; None takes it from the operating system.

    Examples
    --------
    >>> bits = bc.random.Philox(1)
    >>> bits.advance(10).state["state"]["counter"]
    10
    """

    def __init__(self, seed: Any = None) -> None:
        self.seed_seq = seed if isinstance(seed, SeedSequence) else SeedSequence(seed)
        self._key = int(self.seed_seq.generate_state(1, np.uint64)[0])
        self._counter = 0

    @property
    def state(self) -> dict[str, Any]:
        """The state as a dictionary; setting it goes back to where it was read."""
        return {"bit_generator": "Philox", "state": {"key": self._key, "counter": self._counter}}

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator") != "Philox" or "key" not in value.get("state", {}):
            raise ValueError("state must be for a Philox bit generator of broadcloth")
        self._key = operator.index(value["state"]["key"]) & _MASK
        self._counter = operator.index(value["state"]["counter"]) & _MASK

    def advance(self, delta: int) -> Philox:
        """Goes `delta` numbers on (or back).

        Examples
        --------
        >>> bc.random.Philox(1).advance(3).state["state"]["counter"]
        3
        """
        self._counter = (self._counter + operator.index(delta)) & _MASK
        return self

    def jumped(self, jumps: int = 1) -> Philox:
        """A new generator, `jumps` times 2**48 numbers further on, for work in parallel.

        Examples
        --------
        >>> bc.random.Philox(1).jumped().state["state"]["counter"] == 2**48
        True
        """
        other = Philox.__new__(Philox)
        other.seed_seq, other._key, other._counter = self.seed_seq, self._key, self._counter
        return other.advance(jumps * _JUMP)

    def spawn(self, n_children: int) -> list[Philox]:
        """New generators with keys of their own, independent of this one.

        Examples
        --------
        >>> len(bc.random.Philox(1).spawn(2))
        2
        """
        return [Philox(child) for child in self.seed_seq.spawn(n_children)]

    def take(self, count: int) -> tuple[int, int]:
        """The key and the index of the first of the next `count` numbers, which now belong to the caller.

        Examples
        --------
        >>> bits = bc.random.Philox(1)
        >>> bits.take(5)[1], bits.take(5)[1]
        (0, 5)
        """
        start = self._counter
        self.advance(count)
        return self._key, start

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.seed_seq, self.state)

    def __repr__(self) -> str:
        return f"Philox(key={self._key:#x}, counter={self._counter})"


def _restored(seed_seq: SeedSequence, state: dict[str, Any]) -> Philox:
    bits = Philox(seed_seq)
    bits.state = state
    return bits


def _shape(size: Any, *parameters: Any) -> tuple[int, ...]:
    """The result's shape: `size`, or what the parameters broadcast to; the parameters must broadcast to `size`."""
    together = _c.broadcast_shapes(*(np.shape(p) if not isinstance(p, ndarray) else p.shape for p in parameters)) if parameters else ()
    if size is None:
        return together
    try:
        shape: tuple[int, ...] = (operator.index(size),)
    except TypeError:
        shape = tuple(operator.index(n) for n in size)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    if together and _c.broadcast_shapes(shape, together) != shape:
        raise ValueError(f"Output size {shape} is not compatible with broadcast dimensions of inputs {together}.")
    return shape


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def _parameter(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else _c.asarray(value)


class Generator:
    """Draws random numbers. `default_rng(seed)` makes one.

    Parameters
    ----------
    bit_generator : Philox
        Where the stream is.

    Notes
    -----
    The methods have the signatures of numpy.random.Generator and a `device=`. The numbers differ from NumPy's. Without a `size` the result
    is a 0-d array.

    Examples
    --------
    >>> rng = bc.random.Generator(bc.random.Philox(7))
    >>> rng.random(3).shape
    (3,)
    """

    def __init__(self, bit_generator: Philox) -> None:
        if not isinstance(bit_generator, Philox):
            raise TypeError(f"Generator: expected a broadcloth.random.Philox, got {type(bit_generator).__name__}")
        self._bits = bit_generator

    @property
    def bit_generator(self) -> Philox:
        """The state."""
        return self._bits

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators, independent of this one.

        Examples
        --------
        >>> len(bc.random.default_rng(1).spawn(3))
        3
        """
        return [Generator(child) for child in self._bits.spawn(n_children)]

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self._bits,)

    def __repr__(self) -> str:
        return f"Generator({self._bits!r})"

    def _draw(self, kind: Any, shape: tuple[int, ...], dtype: Any, out: Any = None, device: Any = None, **bounds: int) -> ndarray:
        if out is not None:
            if not isinstance(out, ndarray):
                raise TypeError(f"out must be a broadcloth.ndarray, got {type(out).__name__}")
            if out.dtype != dtype:
                raise TypeError(f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}")
            device = out.device
        key, first = self._bits.take(_count(shape))
        values = _c.random(kind, key, first, shape, dtype, device=device, **bounds)
        if out is None:
            return values
        out[...] = values
        return out

    def _float(self, kind: str, name: str, size: Any, dtype: Any, out: Any, device: Any) -> ndarray:
        kept = _c.get_dtype(dtype)
        if kept not in (np.float32, np.float64) and not (kept.kind == "f" or kept == _c.bfloat16):
            raise TypeError(f"Unsupported dtype {kept!r} for {name}")
        if out is not None and size is not None and _shape(size) != out.shape:
            raise ValueError("size must match out.shape when used together")
        shape = out.shape if out is not None and size is None else _shape(size)
        return self._draw(kind, shape, kept, out, device)

    def random(
        self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: ndarray | None = None, *, device: DeviceLike = None
    ) -> ndarray:
        """Numbers in [0, 1), evenly distributed.

        Parameters
        ----------
        size : int or tuple of ints, optional
        dtype : float64 or float32 (or a half type)
        out : ndarray, optional
            Where the numbers go.

        Raises
        ------
        TypeError
            Another dtype.

        Examples
        --------
        >>> x = bc.random.default_rng(0).random(1000)
        >>> bool(((x >= 0) & (x < 1)).all())
        True
        """
        return self._float("uniform", "random", size, dtype, out, device)

    def standard_normal(
        self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: ndarray | None = None, *, device: DeviceLike = None
    ) -> ndarray:
        """Normally distributed numbers with mean 0 and standard deviation 1.

        Examples
        --------
        >>> bc.random.default_rng(0).standard_normal((2, 3), dtype=bc.float32).dtype
        dtype('float32')
        """
        return self._float("normal", "standard_normal", size, dtype, out, device)

    def uniform(self, low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: ShapeLike | None = None, *, device: DeviceLike = None) -> ndarray:
        """Numbers in [low, high), evenly distributed.

        Examples
        --------
        >>> x = bc.random.default_rng(0).uniform(5, 6, 100)
        >>> bool(((x >= 5) & (x < 6)).all())
        True
        """
        first, last = _parameter(low), _parameter(high)
        if isinstance(first, (int, float)) and isinstance(last, (int, float)) and not np.isfinite(last - first):
            raise OverflowError("high - low range exceeds valid bounds")
        u = self._draw("uniform", _shape(size, first, last), np.float64, None, device)
        return first + (last - first) * u

    def normal(self, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: ShapeLike | None = None, *, device: DeviceLike = None) -> ndarray:
        """Normally distributed numbers.

        Raises
        ------
        ValueError
            `scale` is negative.

        Examples
        --------
        >>> bc.random.default_rng(0).normal(10, 2, 5).shape
        (5,)
        """
        loc, scale = _parameter(loc), _parameter(scale)
        self._not_negative("scale", scale)
        z = self._draw("normal", _shape(size, loc, scale), np.float64, None, device)
        return loc + scale * z

    def lognormal(
        self, mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: ShapeLike | None = None, *, device: DeviceLike = None
    ) -> ndarray:
        """Numbers whose logarithm is normally distributed.

        Examples
        --------
        >>> bool((bc.random.default_rng(0).lognormal(size=100) > 0).all())
        True
        """
        self._not_negative("sigma", _parameter(sigma))
        return _ufuncs["exp"](self.normal(mean, sigma, size, device=device))

    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.float64,
        method: str = "zig",
        out: ndarray | None = None,
        *,
        device: DeviceLike = None,
    ) -> ndarray:
        """Exponentially distributed numbers with scale 1.

        Examples
        --------
        >>> bool((bc.random.default_rng(0).standard_exponential(100) >= 0).all())
        True
        """
        values = -_ufuncs["log1p"](-self._float("uniform", "standard_exponential", size if out is None else out.shape, dtype, None, device))
        if out is None:
            return values
        if out.dtype != values.dtype:
            raise TypeError(f"Supplied output array has the wrong type. Expected {values.dtype}, got {out.dtype}")
        out[...] = values
        return out

    def exponential(self, scale: ArrayLike = 1.0, size: ShapeLike | None = None, *, device: DeviceLike = None) -> ndarray:
        """Exponentially distributed numbers.

        Examples
        --------
        >>> bc.random.default_rng(0).exponential(2.0, 4).shape
        (4,)
        """
        scale = _parameter(scale)
        self._not_negative("scale", scale)
        return scale * self.standard_exponential(_shape(size, scale), device=device)

    def integers(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.int64,
        endpoint: bool = False,
        *,
        device: DeviceLike = None,
    ) -> ndarray:
        """Integers from `low` up to, but without, `high` (with it when `endpoint`); from 0 up to `low` without `high`.

        Parameters
        ----------
        low, high : int or array_like of ints
        size : int or tuple of ints, optional
        dtype : an integer type or bool
        endpoint : bool

        Raises
        ------
        ValueError
            The interval is empty, or an end does not fit the type.

        Examples
        --------
        >>> x = bc.random.default_rng(0).integers(1, 7, 1000)
        >>> bool(((x >= 1) & (x < 7)).all())
        True
        """
        if high is None:
            low, high = 0, low
        kept = np.dtype(_c.get_dtype(dtype))
        if kept.kind not in "biu":
            raise TypeError(f"Unsupported dtype {kept!r} for integers")
        least, most = (0, 1) if kept.kind == "b" else (int(np.iinfo(kept).min), int(np.iinfo(kept).max))
        host_low, host_high = (np.asarray(v.get() if isinstance(v, ndarray) else v) for v in (low, high))
        first = host_low.astype(object)
        last = host_high.astype(object) if endpoint else host_high.astype(object) - 1
        if np.any(first < least):
            raise ValueError(f"low is out of bounds for {kept.name}")
        if np.any(last > most):
            raise ValueError(f"high is out of bounds for {kept.name}")
        if np.any(first > last):
            raise ValueError("low > high" if endpoint else "low >= high")
        shape = _shape(size, host_low, host_high)
        if host_low.ndim == 0 and host_high.ndim == 0:
            start, stop = int(first), int(last) + 1
            if stop - start <= 1 << 63 and stop < 1 << 63:
                return self._draw("integers", shape, kept, None, device, low=start, high=stop)
        # Every pair of bounds: the remainder of 64 random bits. Its bias, the span over 2**64, is far below what can be seen.
        bits = self._draw("uint64", shape, np.dtype(np.uint64), None, device)
        span = np.array((last - first + 1) % (1 << 64), dtype=np.uint64)
        whole = _c.asarray(span == 0, device=bits.device)
        offset = _c.where(whole, bits, bits % _c.asarray(np.where(span == 0, np.uint64(1), span), device=bits.device))
        start_bits = np.array(first % (1 << 64), dtype=np.uint64)
        return (offset + _c.asarray(start_bits, device=bits.device)).astype(kept)

    def bytes(self, length: int) -> bytes:
        """Random bytes.

        Examples
        --------
        >>> len(bc.random.default_rng(0).bytes(10))
        10
        """
        words = self._draw("uint64", (-(-length // 8),), np.dtype(np.uint64), None, "cpu")
        return words.tobytes()[:length]

    def choice(
        self,
        a: ArrayLike,
        size: ShapeLike | None = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: DeviceLike = None,
    ) -> ndarray:
        """Elements drawn with or without replacement, all with the same probability or with those in `p`.

        Without replacement a random order of all elements is made on the host, and its beginning taken, whatever `shuffle` is.

        Raises
        ------
        ValueError
            Nothing (or, without replacement, not enough) to draw from, or `p` does not fit.

        Examples
        --------
        >>> x = bc.random.default_rng(0).choice([10, 20], 50)
        >>> bool(((x == 10) | (x == 20)).all())
        True
        """
        pool = _c.asarray(a, device=device)
        n = int(pool) if pool.ndim == 0 else pool.shape[axis]
        if n <= 0:
            raise ValueError("a must be a positive integer unless no samples are taken")
        weights = None
        if p is not None:
            weights = np.asarray(_c.asnumpy(p), np.float64)
            if weights.shape != (n,):
                raise ValueError("'a' and 'p' must have same size")
            if np.any(weights < 0) or abs(weights.sum() - 1) > 1e-8:
                raise ValueError("Probabilities do not sum to 1" if not np.any(weights < 0) else "Probabilities are not non-negative")
        if not replace:
            index = _c.asarray(self._some(n, _shape(size), weights), device=pool.device)
        elif weights is None:
            index = self.integers(0, n, size, device=device)
        else:
            bounds = np.cumsum(weights)
            bounds /= bounds[-1]
            u = self.random(size, device=device)
            index = (
                _c.reduce("count_nonzero", u[..., None] >= _c.asarray(bounds[:-1], device=u.device), -1)
                if n > 1
                else _c.zeros(u.shape, np.int64)
            )
        return index if pool.ndim == 0 else _c.take(pool, index, axis)

    def _some(self, n: int, shape: tuple[int, ...], weights: Any) -> np.ndarray:
        """Different indices below `n`: those of the elements whose exponential waiting times (of rate `weights`) end first, in order."""
        count = _count(shape)
        if count > n:
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if weights is None:
            times: np.ndarray = self._draw("uint64", (n,), np.dtype(np.uint64), None, "cpu").get()
        else:
            if count > np.count_nonzero(weights):
                raise ValueError("Fewer non-zero entries in p than size")
            waits = self.standard_exponential(n, device="cpu").get()
            times = np.divide(waits, weights, out=np.full(n, np.inf), where=weights > 0)
        if count < n:
            first = np.argpartition(times, count)[:count]
            return first[np.argsort(times[first], kind="stable")].astype(np.int64).reshape(shape)
        return np.argsort(times, kind="stable").astype(np.int64).reshape(shape)

    @staticmethod
    def _not_negative(name: str, value: Any) -> None:
        if isinstance(value, (int, float)):
            if value < 0 or (value == 0 and np.signbit(value)):
                raise ValueError(f"{name} < 0")
        elif bool(_c.reduce("any", value < 0)):
            raise ValueError(f"{name} < 0")


def default_rng(seed: int | Sequence[int] | SeedSequence | Philox | Generator | None = None) -> Generator:
    """A generator of random numbers.

    Parameters
    ----------
    seed : None, int, sequence of ints, SeedSequence, Philox or Generator
        None takes it from the operating system. A Generator is handed back.

    Examples
    --------
    >>> a, b = bc.random.default_rng(42), bc.random.default_rng(42)
    >>> bool((a.random(5) == b.random(5)).all())
    True
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Philox):
        return Generator(seed)
    return Generator(Philox(seed))
