"""Matrices made small by random projections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _broadcloth as _c


def _projection(rows: int, columns: int, rng: Any) -> Any:
    """The Clarkson-Woodruff matrix: each column has one element, 1 or -1, in a random row. NumPy's generator draws them, so that a seed
    gives SciPy's matrix."""
    from ..sparse import csc_matrix

    if not isinstance(rng, (np.random.Generator, np.random.RandomState)):
        rng = np.random.default_rng(rng)
    draw = rng.integers if isinstance(rng, np.random.Generator) else rng.randint
    index = draw(0, rows, columns)
    return csc_matrix((rng.choice([1, -1], columns), index, np.arange(columns + 1)), shape=(rows, columns))


def clarkson_woodruff_transform(input_matrix: Any, sketch_size: int, rng: Any = None, *, seed: Any = None) -> Any:
    """A matrix with fewer rows whose products with vectors have about the lengths of the matrix' (Clarkson & Woodruff, 2013).

    Parameters
    ----------
    input_matrix : array_like, (..., m, n), or sparse matrix
    sketch_size : int
        Rows of the result.
    rng : int or numpy.random.Generator, optional
        What draws the projection: NumPy's generator or the seed of one.
    seed : int or numpy.random.RandomState, optional
        The older way to say it: a seed of `numpy.random.RandomState`.

    Returns
    -------
    ndarray or sparse matrix, (..., sketch_size, n)

    Examples
    --------
    >>> bc.scipy.linalg.clarkson_woodruff_transform(bc.ones((100, 3)), 5, rng=0).shape
    (5, 3)
    """
    from ..sparse import issparse

    if seed is not None:
        if rng is not None:
            raise TypeError("clarkson_woodruff_transform: expected rng or seed, got both")
        rng = seed if isinstance(seed, (np.random.Generator, np.random.RandomState)) else np.random.RandomState(seed)
    matrix = input_matrix if hasattr(input_matrix, "shape") and not isinstance(input_matrix, np.ndarray) else _c.asarray(input_matrix)
    projection = _projection(int(sketch_size), matrix.shape[-2], rng)
    if issparse(matrix) or matrix.ndim <= 2:
        return projection @ matrix
    stack = matrix.shape[:-2]
    flat = matrix.reshape(-1, *matrix.shape[-2:])
    return _c.stack([projection @ flat[i] for i in range(flat.shape[0])]).reshape(*stack, int(sketch_size), matrix.shape[-1])
