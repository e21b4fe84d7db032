"""Generator: NumPy's generators draw, and the arrays are the engine's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from . import _parallel as parallel
from ._bit_generators import Philox
from ._distributions import Distributions, few_by_numpy, on_device, on_host
from ._orders import chosen, permutation, permuted, shuffle

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike, DTypeLike, ShapeLike

if TYPE_CHECKING:

    class _Base:
        """numpy.random.Generator, whose methods give NumPy's arrays: to type checkers they would be those of another class."""

        def __new__(cls, bit_generator: Any) -> Any: ...

        def __init__(self, bit_generator: Any) -> None: ...

        @property
        def bit_generator(self) -> Any:
            """Where the numbers come from."""

else:
    _Base = np.random.Generator


def into(out: Any, device: Any, draw: Callable[..., Any], layouts: str = "contiguous") -> Any:
    """What `draw(out=host)` draws, in `out` or in an array of its own; `layouts` names in errors what NumPy's method takes for `out`."""
    if out is None:
        return on_device(draw(out=None), device)
    if device is not None:
        raise ValueError("out and device: expected one of them, since out has a device")
    if not isinstance(out, ndarray):
        return draw(out=out)
    # An array of the same order in memory: NumPy fills arrays in Fortran's order along their columns, and refuses others.
    if not (out.flags.c_contiguous or out.flags.f_contiguous):
        raise ValueError(f"Supplied output array must be {layouts}, writable, aligned, and in machine byte-order.")
    host = np.empty(out.shape, out.dtype, order="C" if out.flags.c_contiguous else "F")
    host.flags.writeable = out.flags.writeable
    draw(out=host)
    out[...] = host
    return out


class Generator(Distributions, _Base):
    """Draws random numbers. `default_rng(seed)` makes one.

    Parameters
    ----------
    bit_generator : BitGenerator
        Where the numbers come from. Those of NumPy give NumPy's numbers, bit for bit; with `Philox` the generator is counter-based.

    Notes
    -----
    The methods have the signatures of `numpy.random.Generator` and a `device=`, where the result lies. Without a `size`, and with numbers
    as parameters, the result is a number, as in NumPy. Parameters may be arrays of any device.

    Examples
    --------
    >>> rng = bc.random.Generator(bc.random.PCG64(42))
    >>> rng.random(3)
    array([0.77395605, 0.43887844, 0.85859792])
    """

    def __new__(cls, bit_generator: Any) -> Generator:
        if cls is Generator and isinstance(bit_generator, Philox):
            from ._counter_based import CounterBasedGenerator

            cls = CounterBasedGenerator
        made: Generator = super().__new__(cls, bit_generator)
        return made

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        # The generator that draws. NumPy's methods call each other, so those of this object would get the engine's arrays.
        self._numpy: Any = np.random.Generator(bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.bit_generator,)

    def spawn(self, n_children: int) -> list[Generator]:
        """New generators, independent of this one, of the same kind.

        Examples
        --------
        >>> len(bc.random.default_rng(1).spawn(3))
        3
        """
        return [type(self)(child.bit_generator) for child in self._numpy.spawn(n_children)]

    def _floats(self, kind: str, size: Any, dtype: Any, out: Any, device: Any, draw: Callable[..., Any]) -> Any:
        """What the engine draws where it can, else what `draw(out=)` does with NumPy's code."""
        if out is None:
            drawn = parallel.floats(self.bit_generator, kind, size, dtype, device)
            return into(None, device, draw) if drawn is None else drawn
        same_size = size is None or (type(size) is tuple and size == out.shape)
        plain = isinstance(out, ndarray) and out.dtype == dtype and out.flags.c_contiguous and out.flags.writeable
        if plain and same_size and device is None:
            drawn = parallel.floats(self.bit_generator, kind, out.shape, dtype, out.device)
            if drawn is not None:
                out[...] = drawn
                return out
        return into(out, device, draw)

    @few_by_numpy(np.random.Generator.random, 0)
    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: Any = None, *, device: DeviceLike = None) -> Any:
        """Numbers in [0, 1), evenly distributed.

        Parameters
        ----------
        size : int or tuple of ints, optional
        dtype : float64 or float32
        out : ndarray, optional
            Where the numbers go.

        Raises
        ------
        TypeError
            Another dtype.

        Examples
        --------
        >>> bc.random.default_rng(42).random(2)
        array([0.77395605, 0.43887844])
        """
        if size is None and out is None and device is None:
            return self._numpy.random() if dtype is np.float64 else self._numpy.random(None, dtype)
        if type(size) is int and size < parallel.LEAST and out is None and device is None:
            return on_device(self._numpy.random(size, dtype), None)
        return self._floats("uniform", size, dtype, out, device, lambda out: self._numpy.random(size, dtype, out))

    @few_by_numpy(np.random.Generator.standard_normal, 0)
    def standard_normal(
        self, size: ShapeLike | None = None, dtype: DTypeLike = np.float64, out: Any = None, *, device: DeviceLike = None
    ) -> Any:
        """Normally distributed numbers with mean 0 and standard deviation 1.

        Examples
        --------
        >>> bc.random.default_rng(0).standard_normal((2, 3), dtype=bc.float32).dtype
        dtype('float32')
        """
        if size is None and out is None and device is None:
            return self._numpy.standard_normal() if dtype is np.float64 else self._numpy.standard_normal(None, dtype)
        if type(size) is int and size < parallel.LEAST and out is None and device is None:
            return on_device(self._numpy.standard_normal(size, dtype), None)
        return self._floats("normal", size, dtype, out, device, lambda out: self._numpy.standard_normal(size, dtype, out))

    @few_by_numpy(np.random.Generator.standard_exponential, 0)
    def standard_exponential(
        self,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.float64,
        method: str = "zig",
        out: Any = None,
        *,
        device: DeviceLike = None,
    ) -> Any:
        """Waiting times whose mean is 1, by the ziggurat method or by inversion (`method="inv"`).

        Examples
        --------
        >>> bool((bc.random.default_rng(0).standard_exponential(100) >= 0).all())
        True
        """

        def draw(out: Any) -> Any:
            return self._numpy.standard_exponential(size, dtype, method, out)

        return self._floats("exponential", size, dtype, out, device, draw) if method == "zig" else into(out, device, draw)

    def standard_gamma(
        self,
        shape: ArrayLike,
        size: ShapeLike | None = None,
        dtype: DTypeLike = np.float64,
        out: Any = None,
        *,
        device: DeviceLike = None,
    ) -> Any:
        """Numbers of the gamma distribution with scale 1.

        Examples
        --------
        >>> bc.random.default_rng(0).standard_gamma([1.0, 2.0, 3.0]).shape
        (3,)
        """
        shape = on_host(shape)
        return into(out, device, lambda out: self._numpy.standard_gamma(shape, size, dtype, out), "C-contiguous")

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
        >>> bc.random.default_rng(42).integers(1, 7, 10)
        array([1, 5, 4, 3, 3, 6, 1, 5, 2, 1])
        """
        if size is None and device is None and type(low) is int and (high is None or type(high) is int):
            return self._numpy.integers(low, high, None, dtype, endpoint)
        drawn = parallel.integers(self.bit_generator, low, high, size, dtype, endpoint, device)
        if drawn is not None:
            return drawn
        return on_device(self._numpy.integers(on_host(low), on_host(high), size, dtype, endpoint), device)

    def bytes(self, length: int) -> bytes:
        """Random bytes.

        Examples
        --------
        >>> len(bc.random.default_rng(0).bytes(10))
        10
        """
        return self._numpy.bytes(length)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: ShapeLike | None = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        device: DeviceLike = None,
    ) -> Any:
        """Normally distributed vectors with these means and covariances.

        Examples
        --------
        >>> bc.random.default_rng(0).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 5).shape
        (5, 2)
        """
        drawn = self._numpy.multivariate_normal(on_host(mean), on_host(cov), size, check_valid, tol, method=method)
        return on_device(drawn, device)

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
        """Elements drawn with or without replacement, all with the same probability or with those in `p`.

        Parameters
        ----------
        a : int or array_like
            What is drawn from; a number stands for `arange(a)`. Elements of an array of the engine are gathered on its device.
        size : int or tuple of ints, optional
        replace : bool
            Whether an element can come twice.
        p : array_like, optional
            A probability for each element.
        axis : int
            The axis of `a` along which parts are drawn.
        shuffle : bool
            Without replacement: whether the order is random as well.

        Raises
        ------
        ValueError
            Nothing (or, without replacement, not enough) to draw from, or `p` does not fit.

        Examples
        --------
        >>> bc.random.default_rng(42).choice([10, 20, 30], 5)
        array([10, 30, 20, 20, 20])
        """
        p = on_host(p)
        of_array = isinstance(a, ndarray)
        if replace and p is None and not of_array and not isinstance(a, int):
            pool = np.asarray(a)
            if pool.dtype.char in "?bhilqBHILQefdFD" and -pool.ndim <= axis < pool.ndim and 0 < pool.shape[axis] < 2**31:
                # The draws that NumPy makes as well; 32 bits are all that it takes from its stream for each.
                places = parallel.integers(self.bit_generator, 0, pool.shape[axis], size, np.int32, False, device)
                if places is not None:
                    return _c.take(_c.asarray(pool, device=places.device), places, axis)

        def draw(pool: Any) -> Any:
            if replace and p is None and type(pool) is int:
                # The draws that NumPy makes as well.
                places = parallel.integers(self.bit_generator, 0, pool, size, np.int64, False, a.device if of_array else device)
                if places is not None:
                    return places
            return self._numpy.choice(pool, size, replace, p, 0 if of_array else axis, shuffle)

        return chosen(a, axis, device, draw)

    @few_by_numpy(np.random.Generator.permutation, 0)
    def permutation(self, x: Any, axis: int = 0, *, device: DeviceLike = None) -> Any:
        """A copy of an array with its parts along an axis in random order; of a number n, of `arange(n)`.

        Examples
        --------
        >>> bc.random.default_rng(42).permutation(5)
        array([4, 2, 3, 1, 0])
        """
        numpys, along = self._numpy, 0 if isinstance(x, ndarray) else axis
        return permutation(x, axis, device, lambda n: numpys.permutation(n, along), numpys.shuffle)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Brings the parts of an array along an axis, or the elements of a list, into random order, in place.

        Examples
        --------
        >>> x = bc.arange(5)
        >>> bc.random.default_rng(42).shuffle(x)
        >>> x
        array([4, 2, 3, 1, 0])
        """
        shuffle(x, axis, lambda order: self._numpy.shuffle(order, 0 if isinstance(x, ndarray) else axis))

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None, device: DeviceLike = None) -> Any:
        """A copy of an array in which each slice along an axis has an order of its own; without an axis all elements are mixed.

        Examples
        --------
        >>> x = bc.random.default_rng(42).permuted([[1, 2, 3], [4, 5, 6]], axis=1)
        >>> bc.sort(x, axis=1)
        array([[1, 2, 3],
               [4, 5, 6]])
        """
        return permuted(x, out, device, lambda host, out: self._numpy.permuted(host, axis=axis, out=out))
