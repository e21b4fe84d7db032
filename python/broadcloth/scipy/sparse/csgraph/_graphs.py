"""Graphs as dense and as compressed sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ...._warnings import warn
from ....exceptions import PerformanceWarning
from .. import csr_array, csr_matrix, spmatrix
from .._rows import Rows
from ..linalg._operators import is_sparse, ours

if TYPE_CHECKING:
    from ....typing import ArrayLike

NONE = -9999


def on_host(name: str, device: Any) -> None:
    """Says that an algorithm runs on copies in host memory."""
    if device.type != "cpu":
        warn(f"{name} runs on a copy of the graph in host memory", PerformanceWarning)


class Graph:
    """A square matrix of lengths in compressed rows: float64 data, int32 indices and pointers."""

    def __init__(self, csgraph: Any, square: bool = True) -> None:
        self.kind: Any = csr_array
        if type(csgraph) in (csr_array, csr_matrix):
            matrix = csgraph
            self.kind = type(csgraph)
        elif is_sparse(csgraph):
            matrix = ours(csgraph)
            self.kind = csr_matrix if isinstance(matrix, spmatrix) else csr_array
            matrix = matrix.tocsr()
        else:
            matrix = csgraph_from_dense(csgraph)
        if len(matrix.shape) != 2:
            raise ValueError("compressed-sparse graph must be 2-D")
        if square and matrix.shape[0] != matrix.shape[1]:
            raise ValueError("compressed-sparse graph must be shape (N, N)")
        self.n, self.columns = matrix.shape
        if max(matrix.nnz, self.n, self.columns) >= 2**30:
            raise ValueError(f"a graph has fewer than 2**30 nodes and edges here, got shape {matrix.shape} with {matrix.nnz} elements")
        self.data = matrix.data.astype(np.float64, copy=False)
        self.indices, self.indptr = matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False)
        self.device = self.data.device
        self.canonical: bool = matrix.has_canonical_format

    @property
    def parts(self) -> tuple[ndarray, ndarray, ndarray]:
        """What the engine's functions take."""
        return self.data, self.indices, self.indptr

    def unweighted(self) -> Graph:
        """The same edges, all of length 1."""
        self.data = self.data * 0 + 1
        return self

    def matrix(self, data: Any, indices: Any, indptr: Any) -> Any:
        """A matrix of the graph's kind and shape."""
        return self.kind((data, indices, indptr), shape=(self.n, self.columns))

    def rows(self) -> ndarray:
        """The row of each element."""
        return _c.sparse_expand(self.indptr, self.indices.size)

    def dense(self, missing: float = np.inf) -> ndarray:
        """The lengths as a matrix, `missing` where there is no edge; of several edges the shortest."""
        if self.device.type == "cpu":
            return _c.csgraph_dense(*self.parts, missing)
        whole = _c.full((self.n, self.n), np.inf, np.float64, device=self.device)
        whole.scatter_min((self.rows(), self.indices), self.data)
        if missing == np.inf:
            return whole
        edge = _c.zeros((self.n, self.n), bool, device=self.device)
        edge[self.rows(), self.indices] = True
        return _c.where(edge, whole, missing)

    def node(self, name: str, i: Any) -> int:
        """A checked node."""
        at = int(i)
        if not -self.n <= at < self.n:
            raise ValueError(f"{name}: expected a node below {self.n}, got {i}")
        return at % self.n

    def nodes(self, indices: Any) -> tuple[ndarray, tuple[int, ...]]:
        """Nodes as int32, and the shape in which they were given; all nodes for None."""
        if indices is None:
            return _c.arange(self.n, dtype=np.int32, device=self.device), (self.n,)
        given = np.asarray(_c.asnumpy(indices) if isinstance(indices, ndarray) else indices)
        if given.size and given.dtype.kind not in "iu":
            raise ValueError(f"expected indices to be integers, got {given.dtype}")
        given = given.astype(np.int64)
        shifted = np.where(given < 0, given + self.n, given)
        if ((shifted < 0) | (shifted >= self.n)).any():
            raise ValueError("indices out of range 0...N")
        return _c.asarray(shifted.reshape(-1).astype(np.int32), device=self.device), given.shape


def _is_null(a: ndarray, null_value: Any, nan_null: bool, infinity_null: bool) -> ndarray:
    isnan, isinf = _c.ufuncs["isnan"], _c.ufuncs["isinf"]
    null = isnan(a) if null_value is not None and np.isnan(null_value) else _c.zeros(a.shape, bool, device=a.device)
    if null_value is not None and not np.isnan(null_value):
        null = null | (a == null_value)
    if nan_null:
        null = null | isnan(a)
    if infinity_null:
        null = null | isinf(a)
    return null


def _square(graph: Any) -> ndarray:
    a = _c.asarray(graph).astype(np.float64)
    if a.ndim != 2:
        raise ValueError("graph should have two dimensions")
    if a.shape[0] != a.shape[1]:
        raise ValueError("graph should be a square array")
    return a


def csgraph_from_dense(graph: ArrayLike, null_value: float = 0, nan_null: bool = True, infinity_null: bool = True) -> Any:
    """A dense matrix of lengths in compressed rows.

    Parameters
    ----------
    graph : array_like, (n, n)
    null_value : float or None
        Stands for no edge.
    nan_null, infinity_null : bool
        Whether NaN, and infinity, stand for no edge.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.csgraph_from_dense([[0, 2], [0, 0]]).toarray()
    array([[0., 2.],
           [0., 0.]])
    """
    a = _square(graph)
    edge = ~_is_null(a, null_value, nan_null, infinity_null)
    if a.device.type == "cpu":
        return _of_edges(_c.asnumpy(a), _c.asnumpy(edge), a.device)
    rows, columns = edge.nonzero()
    counts = _c.sparse_group(rows.astype(np.int32), a.shape[0])[0]
    return csr_array((a[rows, columns], columns.astype(np.int32), counts), shape=a.shape)


def _of_edges(lengths: np.ndarray, edge: np.ndarray, device: Any) -> Any:
    """Compressed rows of the elements of a mask, in host memory."""
    n = len(lengths)
    if n >= 2**15 and np.count_nonzero(edge) >= 2**30:
        raise ValueError(f"a graph has fewer than 2**30 edges here, got shape {lengths.shape}")
    places = np.flatnonzero(edge)
    ends = places.searchsorted(np.arange(n + 1) * n).astype(np.int32)
    columns = (places - np.arange(n).repeat(np.diff(ends)) * n).astype(np.int32)
    data, indices, indptr = (_c.asarray(x, device=device) for x in (lengths.reshape(-1)[places], columns, ends))
    return csr_array._from_rows_of(Rows(data, indices, indptr, n, True), lengths.shape)


def csgraph_to_dense(csgraph: Any, null_value: float = 0) -> ndarray:
    """A graph as a dense matrix, `null_value` where there is no edge; of several edges the shortest.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.csgraph_to_dense(bc.scipy.sparse.csr_array([[0.0, 2.0], [0.0, 0.0]]), null_value=bc.inf)
    array([[inf,  2.],
           [inf, inf]])
    """
    if not is_sparse(csgraph):
        raise ValueError("csgraph must be sparse")
    return Graph(csgraph).dense(null_value)


def csgraph_masked_from_dense(
    graph: ArrayLike, null_value: float = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> np.ma.MaskedArray:
    """A dense matrix of lengths as NumPy's masked array, in host memory: masked where there is no edge.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.csgraph_masked_from_dense([[0, 2], [0, 0]]).count()
    np.int64(1)
    """
    a = _square(graph)
    null = _is_null(a, null_value, nan_null, infinity_null)
    return np.ma.masked_array(_c.asnumpy(a), _c.asnumpy(null), copy=copy)


def csgraph_from_masked(graph: np.ma.MaskedArray) -> Any:
    """NumPy's masked array in compressed rows: an edge where it is not masked.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.csgraph_from_masked(np.ma.masked_equal([[0.0, 2.0], [0.0, 0.0]], 0)).nnz
    1
    """
    a = np.ma.asarray(graph)
    lengths = _c.asarray(a.data)
    host = _c.asnumpy(_square(lengths))
    return _of_edges(host, ~np.ma.getmaskarray(a), lengths.device)


def csgraph_to_masked(csgraph: Any) -> np.ma.MaskedArray:
    """A graph as NumPy's masked array, in host memory.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.csgraph_to_masked(bc.scipy.sparse.csr_array([[0.0, 2.0], [0.0, 0.0]])).count()
    np.int64(1)
    """
    return np.ma.masked_invalid(_c.asnumpy(csgraph_to_dense(csgraph, np.nan)))
