"""Random numbers in kernels: xoroshiro128+ with a state for each thread, and Philox from counters alone.

The xoroshiro128+ functions have Numba's names and give Numba's numbers. Philox needs no states: a number is a function of a seed, a
sequence and an offset, and each sequence holds 2**66 numbers of 32 bits.

Examples
--------
>>> from broadcloth import cuda
>>> from broadcloth.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
>>> @cuda.jit
... def points_inside(states, n, out):
...     i = cuda.grid(1)
...     inside = 0
...     for _ in range(n):
...         x = xoroshiro128p_uniform_float32(states, i)
...         y = xoroshiro128p_uniform_float32(states, i)
...         inside += x * x + y * y <= 1
...     out[i] = 4.0 * inside / n
>>> states = create_xoroshiro128p_states(64, seed=1)
>>> out = bc.zeros(64)
>>> points_inside[2, 32](states, 1000, out)
>>> abs(out.mean() - 3.1416) < 0.02
array(True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._namespace import listing
from .._records import RecordArray
from ._jit import Intrinsic

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

_KERNEL_NAMES = """
    init_xoroshiro128p_state xoroshiro128p_jump xoroshiro128p_next xoroshiro128p_normal_float32 xoroshiro128p_normal_float64
    xoroshiro128p_uniform_float32 xoroshiro128p_uniform_float64
    philox4x32 philox_normal_float32 philox_normal_float64 philox_uint32 philox_uint64 philox_uniform_float32 philox_uniform_float64
""".split()  # noqa: SIM905
globals().update({_name: Intrinsic(f"cuda.random.{_name}") for _name in _KERNEL_NAMES})

__all__ = ["create_xoroshiro128p_states", "init_xoroshiro128p_states", "xoroshiro128p_dtype", *_KERNEL_NAMES]


def create_xoroshiro128p_states(n: int, seed: int, subsequence_start: int = 0, stream: Any = 0) -> RecordArray:
    """States of n generators for threads to use, one each.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        All states come from one sequence that it chooses, 2**64 steps apart.
    subsequence_start : int
        How many times 2**64 steps the first one is ahead.
    stream
        Accepted; the states are there when a kernel needs them.

    Returns
    -------
    RecordArray
        Of `xoroshiro128p_dtype`, on the current device.

    Examples
    --------
    >>> from broadcloth.cuda.random import create_xoroshiro128p_states
    >>> create_xoroshiro128p_states(2, seed=1).copy_to_host()["s0"]
    array([10451216379200822465,  8341117667364343960], dtype=uint64)
    """
    states = RecordArray(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


def init_xoroshiro128p_states(states: Any, seed: int, subsequence_start: int = 0, stream: Any = 0) -> None:
    """Writes new states into an array of them, as create_xoroshiro128p_states makes them.

    Parameters
    ----------
    states : RecordArray, or NumPy array
        One dimension, of `xoroshiro128p_dtype`.
    seed, subsequence_start, stream
        As for create_xoroshiro128p_states.
    """
    if states.ndim != 1 or states.dtype != xoroshiro128p_dtype:
        raise TypeError(f"init_xoroshiro128p_states: expected an array of states in one dimension, got {states.ndim} of {states.dtype}")
    made = np.frombuffer(_c.xoroshiro_states(states.shape[0], seed, subsequence_start), xoroshiro128p_dtype)
    if isinstance(states, RecordArray):
        states.copy_to_device(made, stream)
    else:
        states[:] = made

__dir__ = listing(__all__)
