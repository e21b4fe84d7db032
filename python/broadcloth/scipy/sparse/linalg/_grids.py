"""The Laplacian of a grid, as an operator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ._operators import LinearOperator

_CONDITIONS = ("neumann", "dirichlet", "periodic")


class LaplacianNd(LinearOperator):
    """The Laplacian on a rectangular grid of step 1 in any number of dimensions, as an operator whose products are a stencil.

    Parameters
    ----------
    grid_shape : tuple of ints
        The points along each axis; the matrix has their product as rows and columns.
    boundary_conditions : {'neumann', 'dirichlet', 'periodic'}
    dtype : dtype
        That of the elements, which are small integers. Products have the dtype of the operand, if that is wider.

    Examples
    --------
    >>> L = bc.scipy.sparse.linalg.LaplacianNd((3,), boundary_conditions="dirichlet")
    >>> L @ bc.ones(3)
    array([-1.,  0., -1.])
    >>> L.eigenvalues(2).round(3)
    array([-2.   , -0.586])
    """

    def __init__(self, grid_shape: Any, *, boundary_conditions: str = "neumann", dtype: Any = np.int8) -> None:
        if boundary_conditions not in _CONDITIONS:
            raise ValueError(
                f"Unknown value {boundary_conditions!r} is given for 'boundary_conditions' parameter. "
                f"The valid options are {', '.join(map(repr, _CONDITIONS))}."
            )
        self.grid_shape = tuple(int(n) for n in grid_shape)
        self.boundary_conditions = boundary_conditions
        n = math.prod(self.grid_shape)
        super().__init__(dtype=dtype, shape=(n, n))

    def _matvec(self, x: Any) -> ndarray:
        x = _c.asarray(x)
        x = x.astype(np.result_type(x.dtype, self.dtype), copy=False)
        grid = x.reshape(*self.grid_shape, -1)
        found = -2 * len(self.grid_shape) * grid
        for axis, n in enumerate(self.grid_shape):
            part = lambda begin, end, axis=axis: (slice(None),) * axis + (slice(begin, end),)
            found[part(1, n)] += grid[part(0, n - 1)]
            found[part(0, n - 1)] += grid[part(1, n)]
            if self.boundary_conditions != "dirichlet":
                # The neighbour outside of the grid is the point itself, or the point of the other end.
                first, last = part(0, 1), part(n - 1, n)
                periodic = self.boundary_conditions == "periodic"
                found[first] += grid[last if periodic else first]
                found[last] += grid[first if periodic else last]
        return found.reshape(x.shape)

    def _matmat(self, X: Any) -> ndarray:
        return self._matvec(X)

    def _adjoint(self) -> LinearOperator:
        return self

    def _transpose(self) -> LinearOperator:
        return self

    def toarray(self) -> ndarray:
        """The matrix.

        Returns
        -------
        ndarray
        """
        made = np.zeros(self.shape, self.dtype)
        for rows, columns, value in self._links():
            made[rows, columns] += value
        return _c.asarray(made)

    def _links(self) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """Places without repetition, and what is added to each."""
        place = np.arange(self.shape[0])
        yield place, place, -2 * len(self.grid_shape)
        stride = self.shape[0]
        for n in self.grid_shape:
            stride //= n
            along = place // stride % n
            first, last = place[along == 0], place[along == n - 1]
            inner = place[along < n - 1]
            yield inner, inner + stride, 1
            yield inner + stride, inner, 1
            if self.boundary_conditions == "dirichlet":
                continue
            periodic = self.boundary_conditions == "periodic"
            yield first, last if periodic else first, 1
            yield last, first if periodic else last, 1

    def tosparse(self) -> Any:
        """The matrix by diagonals.

        Returns
        -------
        dia_array
        """
        from .. import coo_array

        links = [*self._links()]
        coordinates = (np.concatenate([rows for rows, _, _ in links]), np.concatenate([columns for _, columns, _ in links]))
        values = [np.full(rows.size, value) for rows, _, value in links]
        made = coo_array((np.concatenate(values), coordinates), shape=self.shape)
        made.sum_duplicates()
        return made.todia().astype(self.dtype)

    def eigenvalues(self, m: int | None = None) -> ndarray:
        """The m greatest eigenvalues in ascending order; all unless m is given.

        Returns
        -------
        ndarray, (m,), float64
        """
        return _c.asarray(self._ordered(m)[0])

    def eigenvectors(self, m: int | None = None) -> ndarray:
        """Orthonormal eigenvectors of the m greatest eigenvalues, as columns.

        Returns
        -------
        ndarray, (n, m), float64
        """
        order = self._ordered(m)[1]
        bases = [self._basis(n) for n in self.grid_shape]
        vectors = np.ones((1, order.size))
        for basis, numbers in zip(bases, np.unravel_index(order, self.grid_shape), strict=True):
            vectors = (vectors[:, None, :] * basis[:, numbers]).reshape(-1, order.size)
        return _c.asarray(vectors)

    def _ordered(self, m: int | None) -> tuple[np.ndarray, np.ndarray]:
        total: Any = np.zeros(())
        for n in self.grid_shape:
            j = np.arange(n)
            if self.boundary_conditions == "dirichlet":
                angle = np.pi * (j + 1) / (2 * (n + 1))
            else:
                angle = np.pi * j / (2 * n) if self.boundary_conditions == "neumann" else np.pi * ((j + 1) // 2) / n
            total = total[..., None] - 4 * np.sin(angle) ** 2
        total = total.ravel()
        order = np.argsort(total, kind="stable")[-m if m else None :]
        return total[order], order

    def _basis(self, n: int) -> np.ndarray:
        """The eigenvectors of one axis, as columns."""
        i, j = np.arange(n)[:, None], np.arange(n)
        if self.boundary_conditions == "dirichlet":
            return np.sqrt(2 / (n + 1)) * np.sin(np.pi * (i + 1) * (j + 1) / (n + 1))
        if self.boundary_conditions == "neumann":
            return np.where(j == 0, 1, np.sqrt(2)) / np.sqrt(n) * np.cos(np.pi * (i + 0.5) * j / n)
        angle = 2 * np.pi * i * ((j + 1) // 2) / n
        waves = np.sqrt(2 / n) * np.where(j % 2 == 1, np.sin(angle), np.cos(angle))
        alternating = (-1.0) ** i / np.sqrt(n)
        return np.where(j == 0, 1 / np.sqrt(n), np.where((n % 2 == 0) & (j == n - 1), alternating, waves))
