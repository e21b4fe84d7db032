"""Arrays as chunks of dask's: what dask looks up by an array's type, and the backend `dask.config.set({"array.backend": "broadcloth"})`.

Nothing here imports dask before dask asks. The lookups are made when dask first names (tokenizes) an array of ours, or loads the backend by
its entry point, `dask.array.backends`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray


def _count(x: ndarray, axis: Any = None, keepdims: bool = False, dtype: Any = np.float64, **_: Any) -> Any:
    """How many elements a reduction along `axis` meets, in the shape of its result."""
    axes = range(x.ndim) if axis is None else {a % x.ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,))}
    shape = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
    return _c.full(tuple(shape), math.prod(x.shape[d] for d in axes), dtype=dtype, device=x.device)


def _percentile(a: ndarray, q: Any, method: str = "linear") -> tuple[ndarray | None, int]:
    """The percentiles of one chunk, and how many elements it has."""
    from ._quantiles import percentile

    return (percentile(a, list(q) if hasattr(q, "__next__") else q, method=method) if len(a) else None), len(a)


@functools.cache
def register() -> Any:
    """Tells dask which functions to call for arrays of ours; the function that makes them of other arrays."""
    from dask.array import dispatch
    from dask.utils import Dispatch

    from ._einsum import einsum
    from ._products import tensordot

    functions = {
        "concatenate_lookup": _c.concatenate,
        "take_lookup": _c.take,
        "tensordot_lookup": tensordot,
        "einsum_lookup": einsum,
        "empty_lookup": _c.empty,
        "percentile_lookup": _percentile,
        "numel_lookup": _count,
        "to_numpy_dispatch": lambda data, **kwargs: data.get(),
    }
    for name, function in functions.items():
        lookup = getattr(dispatch, name, None)  # dask before 2024 has not all of them
        if lookup is not None:
            lookup.register(ndarray, function)
    to_ours = Dispatch("to_broadcloth")
    to_ours.register((object, ndarray), lambda data, **kwargs: _c.asarray(data))
    return to_ours


def tokenize(a: ndarray) -> Any:
    """What dask names an array by: its values, dtype, shape and device."""
    from dask.base import normalize_token

    register()
    return "broadcloth.ndarray", str(a.device), normalize_token(a.get())


class ChunkBits(np.random.PCG64):
    """NumPy's generator of bits under a name of ours: dask takes the library that draws a chunk from the module of its bits."""


def _maker(name: str, example: str) -> Any:
    """dask's function for NumPy, told by an array of ours what its chunks are."""

    def make(*args: Any, **kwargs: Any) -> Any:
        import dask
        import dask.array

        if kwargs.get(example) is None:
            kwargs[example] = _c.empty(0)
        with dask.config.set({"array.backend": "numpy"}):
            return getattr(dask.array, name)(*args, **kwargs)

    return staticmethod(make)


def backend() -> Any:
    """dask's array backend `broadcloth`; dask calls this by the entry point."""
    from dask.array.backends import ArrayBackendEntrypoint

    from . import random

    to_ours = register()

    class Backend(ArrayBackendEntrypoint):  # type: ignore[misc]
        """Creates collections whose chunks are arrays of ours."""

        RandomState = random.RandomState
        default_bit_generator = ChunkBits
        ones, zeros, empty = (_maker(name, "meta") for name in ("ones", "zeros", "empty"))
        full, arange = _maker("full", "meta"), _maker("arange", "like")

        @classmethod
        def to_backend_dispatch(cls) -> Any:
            return to_ours

        @classmethod
        def to_backend(cls, data: Any, **kwargs: Any) -> Any:
            return data if isinstance(data._meta, ndarray) else data.map_blocks(to_ours, **kwargs)

    return Backend()
