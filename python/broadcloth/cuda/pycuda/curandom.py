"""PyCUDA's random arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadcloth as bc

from ..._namespace import listing

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PseudoRandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "rand",
    "seed_getter_unique",
    "seed_getter_uniform",
]

_shared: list[Any] = []


def _uniform(generator: Any, shape: Any, dtype: Any) -> bc.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return generator.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
    return generator.random(shape, dtype=dtype)


def rand(shape: Any, dtype: Any = np.float32, stream: Any = None) -> bc.ndarray:
    """Uniform numbers in [0, 1), or integers of their whole range.

    Examples
    --------
    >>> from broadcloth.cuda.pycuda.curandom import rand
    >>> a = rand((100, 100))
    >>> a.shape, a.dtype
    ((100, 100), dtype('float32'))
    """
    if not _shared:
        _shared.append(bc.random.default_rng())
    return _uniform(_shared[0], shape, dtype)


def seed_getter_uniform(count: int) -> np.ndarray:
    """One seed for all."""
    return np.zeros(count, "int32")


def seed_getter_unique(count: int) -> np.ndarray:
    """A seed for each."""
    return np.arange(count, dtype="int32")


class XORWOWRandomNumberGenerator:
    """A stream of random numbers; the engine's generator, whatever the name says."""

    def __init__(self, seed_getter: Any = None, offset: int = 0) -> None:
        seed = None if seed_getter is None else [int(s) for s in np.asarray(seed_getter(1)).ravel()] + [int(offset)]
        self._generator = bc.random.Generator(bc.random.Philox(seed))

    def gen_uniform(self, shape: Any, dtype: Any, stream: Any = None) -> bc.ndarray:
        """Uniform numbers in a new array."""
        return _uniform(self._generator, shape, dtype)

    def gen_normal(self, shape: Any, dtype: Any, stream: Any = None) -> bc.ndarray:
        """Normal numbers in a new array."""
        return self._generator.standard_normal(shape, dtype=np.dtype(dtype))

    def fill_uniform(self, data: bc.ndarray, stream: Any = None) -> None:
        """Uniform numbers into an array."""
        data[...] = self.gen_uniform(data.shape, data.dtype)

    def fill_normal(self, data: bc.ndarray, stream: Any = None) -> None:
        """Normal numbers into an array."""
        data[...] = self.gen_normal(data.shape, data.dtype)


PseudoRandomNumberGenerator = MRG32k3aRandomNumberGenerator = XORWOWRandomNumberGenerator

__dir__ = listing(__all__)
