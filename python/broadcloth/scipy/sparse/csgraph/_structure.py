"""Trees, components, orders, flows and matchings of graphs, and their Laplacians."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ...._sorting import unique
from ...._warnings import warn
from .. import coo_array
from .._rows import Rows
from ..linalg import LinearOperator
from ..linalg._operators import is_sparse, ours
from ._graphs import NONE, Graph, on_host


def propagated(g: Graph) -> ndarray:
    """The smallest node of each node's component, as array operations: labels fall along edges, and each jumps to its label's label."""
    rows, columns = g.rows(), g.indices
    labels = _c.arange(g.n, dtype=np.int32, device=g.device)
    while rows.size:
        before = labels
        labels = before.copy()
        least = _c.ufuncs["minimum"](before[rows], before[columns])
        # The labels' own labels fall too, so that a chain of n nodes takes log n rounds as a rule.
        for ends in (rows, columns, before[rows], before[columns]):
            labels.scatter_min(ends, least)
        labels = labels[labels]
        if not bool((labels < before).any()):
            break
    return labels


def connected_components(csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True) -> Any:
    """The components of a graph.

    Parameters
    ----------
    csgraph : sparse matrix or array_like, (n, n)
    directed : bool
        Whether an edge goes one way; else `connection` does not matter.
    connection : {'weak', 'strong'}
        Whether nodes are connected by an edge in either direction, or by paths in both. On a GPU the second runs on the host.
    return_labels : bool

    Returns
    -------
    n_components : int
    labels : ndarray, (n,), int32
        The number of each node's component, in the order of the components' first nodes.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.connected_components(bc.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    (2, array([0, 0, 1], dtype=int32))
    """
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    g = Graph(csgraph)
    strong = directed and connection.lower() == "strong"
    if strong or g.device.type == "cpu":
        if strong:
            on_host("connected_components", g.device)
        labels = _c.csgraph_components(*g.parts, strong)
    else:
        least = propagated(g)
        first = least == _c.arange(g.n, dtype=np.int32, device=g.device)
        labels = (_c.cumsum(first)[least] - 1).astype(np.int32)
    count = int(labels.max()) + 1 if g.n else 0
    return (count, labels) if return_labels else count


def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Nodes in the order of their distance in edges from a node. Runs on the host.

    Returns
    -------
    node_array : ndarray, int32
    predecessors : ndarray, (n,), int32
        The node from which each was reached; -9999 for the first one and where there is none.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.breadth_first_order(bc.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)
    (array([0, 1, 2], dtype=int32), array([-9999,     0,     0], dtype=int32))
    """
    g = Graph(csgraph)
    on_host("breadth_first_order", g.device)
    order, predecessors = _c.csgraph_breadth_first(*g.parts, directed, g.node("breadth_first_order", i_start))
    return (order, predecessors) if return_predecessors else order


def depth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Nodes in the order in which a search that goes deeper first reaches them. Runs on the host.

    Results are those of `breadth_first_order`.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.depth_first_order(bc.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)
    (array([0, 1, 2], dtype=int32), array([-9999,     0,     1], dtype=int32))
    """
    g = Graph(csgraph)
    on_host("depth_first_order", g.device)
    order, predecessors = _c.csgraph_depth_first(*g.parts, directed, g.node("depth_first_order", i_start))
    return (order, predecessors) if return_predecessors else order


def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> Any:
    """The tree that predecessors describe, with the edges' lengths, in compressed rows.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.reconstruct_path(bc.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]), bc.array([-9999, 0, 1])).toarray()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    g = Graph(csgraph)
    before = _c.asarray(predecessors, device=g.device).astype(np.int64)
    if before.shape != (g.n,):
        raise ValueError(f"expected predecessors of {g.n} nodes, got shape {before.shape}")
    (nodes,) = (before >= 0).nonzero()
    starts = before[nodes]
    data = _lengths(g, starts, nodes, directed)
    indptr, order = _c.sparse_group(starts.astype(np.int32), g.n)
    return g.matrix(data[order], nodes[order].astype(np.int32), indptr)


def _lengths(g: Graph, starts: ndarray, ends: ndarray, directed: bool) -> ndarray:
    """The shortest edge of each pair of nodes."""
    indices, indptr, lengths = g.indices, g.indptr, g.data
    if not g.canonical:
        keys = g.rows().astype(np.int64) * g.n + indices
        distinct, places = unique(keys, return_inverse=True)
        lengths = _c.full(distinct.shape, np.inf, np.float64, device=g.device)
        lengths.scatter_min(places.reshape(-1), g.data)
        indices, indptr = (distinct % g.n).astype(np.int32), _c.sparse_pointers((distinct // g.n).astype(np.int32), g.n)
    if not lengths.size:
        return _c.full(starts.shape, np.inf, np.float64, device=g.device)

    def along(first: ndarray, second: ndarray) -> ndarray:
        place = _c.sparse_places(indices, indptr, g.n, first, second)
        return _c.where(place < 0, np.inf, lengths[place])

    return along(starts, ends) if directed else _c.ufuncs["minimum"](along(starts, ends), along(ends, starts))


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of `breadth_first_order`, in compressed rows.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.breadth_first_tree(bc.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]), 0).toarray()
    array([[0., 1., 4.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    return reconstruct_path(csgraph, breadth_first_order(csgraph, i_start, directed)[1], directed)


def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of `depth_first_order`, in compressed rows.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.depth_first_tree(bc.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]), 0).toarray()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    return reconstruct_path(csgraph, depth_first_order(csgraph, i_start, directed)[1], directed)


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """The edges of least total length that connect all nodes of each component, in compressed rows. Runs on the host.

    Edges go both ways. The matrix is never overwritten.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.minimum_spanning_tree(bc.array([[0, 1, 3], [0, 0, 2], [0, 0, 0]])).toarray()
    array([[0., 1., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    g = Graph(csgraph)
    on_host("minimum_spanning_tree", g.device)
    kept = _c.csgraph_spanning_forest(*g.parts)
    indptr = _c.sparse_group(g.rows()[kept].astype(np.int32), g.n)[0]
    return g.matrix(g.data[kept], g.indices[kept], indptr)


def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> ndarray:
    """A permutation after which a matrix has a small bandwidth. Runs on the host.

    Parameters
    ----------
    graph : sparse matrix, (n, n)
    symmetric_mode : bool
        Whether the matrix' pattern is symmetric; else that of A + A.T is taken.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.reverse_cuthill_mckee(bc.scipy.sparse.csr_array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]), True)
    array([2, 0, 1], dtype=int32)
    """
    if not is_sparse(graph) or ours(graph).format not in ("csc", "csr"):
        raise TypeError("Input graph must be in CSC or CSR sparse format.")
    g = Graph(graph)
    on_host("reverse_cuthill_mckee", g.device)
    return _c.csgraph_reverse_cuthill_mckee(*g.parts, symmetric_mode)


class MaximumFlowResult:
    """What `maximum_flow` gives: `flow_value`, and `flow`, whose element (i, j) flows from i to j and its opposite from j to i."""

    def __init__(self, flow_value: int, flow: Any) -> None:
        self.flow_value = flow_value
        self.flow = flow

    def __repr__(self) -> str:
        return f"MaximumFlowResult with value of {self.flow_value}"


def maximum_flow(csgraph: Any, source: int, sink: int, *, method: str = "dinic") -> MaximumFlowResult:
    """The greatest flow from a source to a sink, by Dinitz' method. Runs on the host.

    Parameters
    ----------
    csgraph : sparse matrix in compressed rows, (n, n)
        Capacities, integers.
    source, sink : int
    method : {'dinic', 'edmonds_karp'}
        Both are Dinitz' method.

    Returns
    -------
    MaximumFlowResult
        With `flow_value` and `flow`.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.maximum_flow(bc.scipy.sparse.csr_array([[0, 5], [0, 0]]), 0, 1).flow_value
    5
    """
    if not (is_sparse(csgraph) and ours(csgraph).format == "csr"):
        raise TypeError("graph must be in CSR format")
    if np.dtype(csgraph.dtype).kind not in "iu":
        raise ValueError("graph capacities must be integers")
    if method not in ("dinic", "edmonds_karp"):
        raise ValueError(f"{method} method is not supported yet.")
    g = Graph(csgraph)
    for name, node in (("source", source), ("sink", sink)):
        if not 0 <= node < g.n:
            raise ValueError(f"{name} value ({node}) must be between 0 and {g.n - 1}")
    if source == sink:
        raise ValueError("source and sink vertices must differ")
    on_host("maximum_flow", g.device)
    flow = _c.csgraph_maximum_flow(*g.parts, source, sink)
    rows = g.rows()
    both = (_c.concatenate([rows, g.indices]), _c.concatenate([g.indices, rows]))
    found = g.kind(coo_array((flow.astype(np.int32), both), shape=(g.n, g.n)))
    found.sum_duplicates()
    leaving = rows == source
    arriving = g.indices == source
    part = flow[: rows.size]
    return MaximumFlowResult(int(part[leaving].sum()) - int(part[arriving].sum()), found)


def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> ndarray:
    """As many pairs of a row and a column with an element as there can be, none twice (Hopcroft & Karp, 1973). Runs on the host.

    Parameters
    ----------
    graph : sparse matrix, (m, n)
    perm_type : {'row', 'column'}
        'row' gives the row of each column, 'column' the column of each row; -1 where there is none.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.maximum_bipartite_matching(bc.scipy.sparse.csr_array([[1, 1], [1, 0]]), "column")
    array([1, 0], dtype=int32)
    """
    if perm_type not in ("row", "column"):
        raise ValueError(f"expected perm_type 'row' or 'column', got {perm_type!r}")
    if not is_sparse(graph):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    g = Graph(graph, square=False)
    on_host("maximum_bipartite_matching", g.device)
    return _c.csgraph_bipartite_matching(*g.parts, g.columns, perm_type == "row")


def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> tuple[ndarray, ndarray]:
    """Pairs of a row and a column, none twice and as many as the lesser of both, with the least sum of elements (Jonker & Volgenant, 1987).

    Runs on the host.

    Parameters
    ----------
    biadjacency : sparse matrix, (m, n)
        Zeros are no edges, with a warning where they are stored.
    maximize : bool
        Whether the greatest sum is looked for.

    Returns
    -------
    row_ind, col_ind : ndarray, int32
        The pairs, in the order of the rows.

    Raises
    ------
    ValueError
        There are not so many pairs.

    Examples
    --------
    >>> graph = bc.scipy.sparse.csr_array([[4.0, 1.0], [2.0, 3.0]])
    >>> bc.scipy.sparse.csgraph.min_weight_full_bipartite_matching(graph)
    (array([0, 1]), array([1, 0], dtype=int32))
    """
    if not is_sparse(biadjacency):
        raise TypeError("graph must be in CSC, CSR, or COO format.")
    matrix = ours(biadjacency).tocsr()
    if not (np.issubdtype(matrix.dtype, np.number) or matrix.dtype == bool) or matrix.dtype.kind == "c":
        raise ValueError(f"expected a real matrix, got {matrix.dtype}")
    if matrix.nnz and bool((matrix.data == 0).any()):
        warn("explicit zero weights are removed before matching", UserWarning)
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    turned = matrix.shape[0] > matrix.shape[1]
    g = Graph(matrix.T.tocsr() if turned else matrix, square=False)
    on_host("min_weight_full_bipartite_matching", g.device)
    at = _c.arange(g.n, device=g.device)
    columns = _c.csgraph_weighted_matching(-g.data if maximize else g.data, *g.parts[1:], g.columns)
    if bool((columns == NONE).any()):
        raise ValueError("no full matching exists")
    if not turned:
        return at, columns
    order = columns.argsort()
    return columns[order], order


def structural_rank(graph: Any) -> int:
    """The greatest rank of a matrix with elements in these places.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.structural_rank(bc.scipy.sparse.csr_array([[1, 1], [0, 0]]))
    1
    """
    return int((maximum_bipartite_matching(graph, "column") >= 0).sum())


def _sparse_laplacian(a: Any, roots: ndarray | None, diagonal: ndarray) -> Any:
    """-a, over the roots of both ends' degrees if those are given, with a new diagonal."""
    made = a if a.format in ("csr", "csc") else a.tocsr()
    coo, data, n = made.tocoo(copy=False), made.data, made.shape[0]
    if roots is not None:
        data = data / roots[coo.row] / roots[coo.col]  # in SciPy's order, as whole numbers are cut off
    data = _c.where(coo.row == coo.col, _c.zeros((), data.dtype, device=data.device), -data)
    i = _c.arange(n + 1, dtype=made.indices.dtype, device=data.device)
    laid = Rows(diagonal.astype(data.dtype), i[:n], i, n, True)
    found = made._from_rows_of(made._own_rows().with_data(data), made.shape) + made._from_rows_of(laid, made.shape)
    return found.tocoo()


def laplacian(
    csgraph: Any,
    normed: bool = False,
    return_diag: bool = False,
    use_out_degree: bool = False,
    *,
    copy: bool = True,
    form: str = "array",
    dtype: Any = None,
    symmetrized: bool = False,
) -> Any:
    """The Laplacian matrix of a graph: the nodes' degrees on the diagonal, less the edges.

    Parameters
    ----------
    csgraph : sparse matrix or array_like, (n, n)
    normed : bool
        Whether it is scaled to ones on the diagonal, by the roots of the degrees.
    return_diag : bool
        Whether the degrees, or their roots, are a result too.
    use_out_degree : bool
        Whether degrees are sums of rows, else of columns.
    copy : bool
        The matrix is never overwritten.
    form : {'array', 'function', 'lo'}
        A matrix of the operand's form, a function of vectors, or a LinearOperator.
    dtype : dtype, optional
        That of the edges unless given.
    symmetrized : bool
        Whether the Laplacian of A + A.conj().T is computed.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.laplacian(bc.array([[0, 1], [1, 0]]))
    array([[ 1, -1],
           [-1,  1]])
    """
    if form not in ("array", "function", "lo"):
        raise ValueError(f"Invalid form: {form!r}, must be one of 'array', 'function', 'lo'")
    sparse = is_sparse(csgraph)
    a: Any = ours(csgraph) if sparse else _c.asarray(csgraph)
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise ValueError("csgraph must be a square matrix or array")
    kind = np.dtype(a.dtype)
    # Roots of whole numbers are no whole numbers, so that the results are cast at the end.
    wanted = np.dtype(dtype) if dtype is not None else np.dtype(np.float64) if normed and kind.kind in "iub" else kind
    a = a.astype(np.promote_types(np.float64, wanted) if normed and wanted.kind in "iub" else wanted)
    if symmetrized:
        a = a + (a.conj() if kind.kind == "c" else a).T
    n = a.shape[0]
    diagonal = _c.asarray(a.diagonal()) if sparse else _c.diagonal(a)
    # Loops do not count. As in SciPy, the sums of a dense matrix leave them out: an infinite one cannot be subtracted again.
    leave_out = form == "array" and not sparse
    counted = _c.where(_c.eye(n, dtype=bool, device=a.device), _c.zeros((), a.dtype, device=a.device), a) if leave_out else a
    degree = _c.asarray(counted.sum(axis=1 if use_out_degree else 0)).reshape(-1)
    if not leave_out:
        degree = degree - diagonal
    isolated = degree == 0
    if normed:
        w = _c.where(isolated, 1, _c.ufuncs["sqrt"](degree))
        ones = _c.where(isolated, 0, 1).astype(w.dtype)
        result_diagonal = w
    else:
        result_diagonal = degree
    if form != "array":
        shift = diagonal

        def apply(v: Any) -> ndarray:
            x = _c.asarray(v)
            column = (lambda d: d[:, None]) if x.ndim == 2 else (lambda d: d)
            if not normed:
                return x * column(degree + shift) - a @ x
            over = column(1 / w)
            scaled = x * over
            return over * (scaled * column(degree + shift) - a @ scaled)

        found: Any = apply
        if form == "lo":
            found = LinearOperator((n, n), matvec=apply, matmat=apply, dtype=wanted)
    elif sparse:
        found = _sparse_laplacian(a, w if normed else None, ones if normed else degree)
    else:
        found = _c.ascontiguousarray(-(a / w / w[:, None] if normed else a))
        found.reshape(-1)[:: n + 1] = (ones if normed else degree).astype(found.dtype)
    if form == "array":
        found = found.astype(wanted)
    return (found, result_diagonal.astype(wanted)) if return_diag else found
