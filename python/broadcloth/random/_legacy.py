"""RandomState, and the functions of the module, which are methods of the one that `numpy.random` draws from as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._distributions import LegacyDistributions, few_by_numpy, in_dtype, on_device, on_host
from ._orders import chosen, permutation, shuffle

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike, DTypeLike, ShapeLike

if TYPE_CHECKING:

    class _Base:
        """numpy.random.RandomState, whose methods give NumPy's arrays: to type checkers they would be those of another class."""

        def __init__(self, seed: Any) -> None: ...

else:
    _Base = np.random.RandomState


class RandomState(LegacyDistributions, _Base):
    """NumPy's generator of before 1.17 and its numbers; new programs use `default_rng`.

    Parameters
    ----------
    seed : None, int, array_like of ints, SeedSequence or BitGenerator
        None takes it from the operating system.

    Examples
    --------
    >>> bc.random.RandomState(0).rand(3)
    array([0.5488135 , 0.71518937, 0.60276338])
    """

    def __init__(self, seed: Any = None) -> None:
        self._draw_from(np.random.RandomState(on_host(seed)))

    def _draw_from(self, numpys: Any) -> None:
        super().__init__(numpys._bit_generator)
        # NumPy's RandomState draws, and keeps the second number of each pair of normal ones.
        self._numpy = numpys

    @property
    def _bit_generator(self) -> Any:
        return self._numpy._bit_generator

    def __getstate__(self) -> Any:
        return self.get_state(legacy=False)

    def __setstate__(self, state: Any) -> None:
        self.set_state(state)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._bit_generator,), self.get_state(legacy=False)

    def seed(self, seed: Any = None) -> None:
        """Begins the stream of a seed.

        Examples
        --------
        >>> bc.random.seed(0)
        >>> bc.random.rand(2)
        array([0.5488135 , 0.71518937])
        """
        self._numpy.seed(on_host(seed))

    def get_state(self, legacy: bool = True) -> Any:
        """The state, as a tuple or (`legacy=False`) as a dictionary.

        Examples
        --------
        >>> bc.random.RandomState(0).get_state()[0]
        'MT19937'
        """
        return self._numpy.get_state(legacy)

    def set_state(self, state: Any) -> None:
        """Goes back to where the state was read.

        Examples
        --------
        >>> rng = bc.random.RandomState(0)
        >>> state = rng.get_state()
        >>> x = rng.rand(3)
        >>> rng.set_state(state)
        >>> bool((rng.rand(3) == x).all())
        True
        """
        self._numpy.set_state(state)

    @few_by_numpy(np.random.RandomState.random_sample, -1)
    def random_sample(self, size: ShapeLike | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Any:
        """Numbers in [0, 1), evenly distributed.

        Examples
        --------
        >>> bc.random.RandomState(0).random_sample((2, 3)).shape
        (2, 3)
        """
        return in_dtype(self._numpy.random_sample(size), dtype, device, 1.0)

    @few_by_numpy(np.random.RandomState.random, -1)
    def random(self, size: ShapeLike | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Any:
        """Numbers in [0, 1), evenly distributed; another name of `random_sample`.

        Examples
        --------
        >>> bc.random.RandomState(0).random(2)
        array([0.5488135 , 0.71518937])
        """
        return in_dtype(self._numpy.random(size), dtype, device, 1.0)

    @few_by_numpy(np.random.RandomState.rand, -1)
    def rand(self, *args: int, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
        """Numbers in [0, 1) in an array of these lengths.

        Examples
        --------
        >>> bc.random.RandomState(0).rand(2, 3).shape
        (2, 3)
        """
        return in_dtype(self._numpy.rand(*args), dtype, device, 1.0)

    @few_by_numpy(np.random.RandomState.randn, -1)
    def randn(self, *args: int, dtype: DTypeLike = None, device: DeviceLike = None) -> Any:
        """Standard normal numbers in an array of these lengths.

        Examples
        --------
        >>> bc.random.RandomState(0).randn(2)
        array([1.76405235, 0.40015721])
        """
        return in_dtype(self._numpy.randn(*args), dtype, device)

    @few_by_numpy(np.random.RandomState.randint, -1)
    def randint(
        self,
        low: ArrayLike,
        high: ArrayLike | None = None,
        size: ShapeLike | None = None,
        dtype: DTypeLike = int,
        *,
        device: DeviceLike = None,
    ) -> Any:
        """Integers from `low` up to, but without, `high`; from 0 up to `low` without `high`.

        Examples
        --------
        >>> bc.random.RandomState(0).randint(0, 10, 5)
        array([5, 0, 3, 3, 7])
        """
        return on_device(self._numpy.randint(on_host(low), on_host(high), size, dtype), device)

    def random_integers(
        self, low: ArrayLike, high: ArrayLike | None = None, size: ShapeLike | None = None, *, device: DeviceLike = None
    ) -> Any:
        """Integers from `low` to `high`, with both; deprecated, as in NumPy.

        Examples
        --------
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     bc.random.RandomState(0).random_integers(1, 6, 4).shape
        (4,)
        """
        return on_device(self._numpy.random_integers(on_host(low), on_host(high), size), device)

    def tomaxint(self, size: ShapeLike | None = None, *, device: DeviceLike = None) -> Any:
        """Integers from 0 to the largest of C's `long`.

        Examples
        --------
        >>> bc.random.RandomState(0).tomaxint(3).shape
        (3,)
        """
        return on_device(self._numpy.tomaxint(size), device)

    def bytes(self, length: int) -> bytes:
        """Random bytes.

        Examples
        --------
        >>> len(bc.random.RandomState(0).bytes(10))
        10
        """
        return self._numpy.bytes(length)

    @few_by_numpy(np.random.RandomState.standard_normal, -1)
    def standard_normal(self, size: ShapeLike | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Any:
        """Normally distributed numbers with mean 0 and standard deviation 1.

        Examples
        --------
        >>> bc.random.RandomState(0).standard_normal(2)
        array([1.76405235, 0.40015721])
        """
        return in_dtype(self._numpy.standard_normal(size), dtype, device)

    @few_by_numpy(np.random.RandomState.standard_exponential, -1)
    def standard_exponential(self, size: ShapeLike | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None) -> Any:
        """Waiting times whose mean is 1.

        Examples
        --------
        >>> bc.random.RandomState(0).standard_exponential((2, 2)).shape
        (2, 2)
        """
        return in_dtype(self._numpy.standard_exponential(size), dtype, device)

    @few_by_numpy(np.random.RandomState.standard_gamma, -1)
    def standard_gamma(
        self, shape: ArrayLike, size: ShapeLike | None = None, dtype: DTypeLike = None, *, device: DeviceLike = None
    ) -> Any:
        """Numbers of the gamma distribution with scale 1.

        Examples
        --------
        >>> bc.random.RandomState(0).standard_gamma([1.0, 2.0, 3.0]).shape
        (3,)
        """
        return in_dtype(self._numpy.standard_gamma(on_host(shape), size), dtype, device)

    def multivariate_normal(
        self,
        mean: ArrayLike,
        cov: ArrayLike,
        size: ShapeLike | None = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        dtype: DTypeLike = None,
        *,
        device: DeviceLike = None,
    ) -> Any:
        """Normally distributed vectors with these means and covariances.

        Examples
        --------
        >>> bc.random.RandomState(0).multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 5).shape
        (5, 2)
        """
        drawn = self._numpy.multivariate_normal(on_host(mean), on_host(cov), size, check_valid, tol)
        return in_dtype(drawn, dtype, device)

    def choice(
        self, a: Any, size: ShapeLike | None = None, replace: bool = True, p: ArrayLike | None = None, *, device: DeviceLike = None
    ) -> Any:
        """Elements of a vector, drawn with or without replacement; those of an array of the engine are gathered on its device.

        Examples
        --------
        >>> bc.random.RandomState(0).choice(bc.array([10, 20, 30]), 4)
        array([10, 20, 10, 20])
        """
        if getattr(a, "ndim", 1) > 1:
            raise ValueError("a must be 1-dimensional")
        p = on_host(p)
        if type(a) is int and size is None and device is None:
            return self._numpy.choice(a, None, replace, p)
        return chosen(a, 0, device, lambda pool: self._numpy.choice(pool, size, replace, p))

    @few_by_numpy(np.random.RandomState.permutation, -1)
    def permutation(self, x: Any, *, device: DeviceLike = None) -> Any:
        """A copy of an array with its rows in random order; of a number n, of `arange(n)`.

        Examples
        --------
        >>> bc.random.RandomState(0).permutation(5)
        array([2, 0, 1, 3, 4])
        """
        return permutation(x, 0, device, self._numpy.permutation, self._numpy.shuffle)

    def shuffle(self, x: Any) -> None:
        """Brings the rows of an array, or the elements of a list, into random order, in place.

        Examples
        --------
        >>> x = bc.arange(5)
        >>> bc.random.RandomState(0).shuffle(x)
        >>> x
        array([2, 0, 1, 3, 4])
        """
        shuffle(x, 0, self._numpy.shuffle)


def _numpys_own() -> RandomState:
    """The generator behind the functions of `numpy.random`: a program that seeds it seeds what other libraries draw, as with NumPy."""
    state = RandomState.__new__(RandomState)
    state._draw_from(np.random.rand.__self__)
    return state


shared = _numpys_own()
