"""Shortest paths. On a GPU Bellman's and Ford's method and Floyd's and Warshall's run there, as array operations; Dijkstra's and Johnson's
on a copy of the graph in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ...._warnings import warn
from ._graphs import NONE, Graph, on_host


class NegativeCycleError(Exception):
    """A graph has a cycle of negative length, so that no path is the shortest.

    Examples
    --------
    >>> try:
    ...     bc.scipy.sparse.csgraph.johnson(bc.array([[0, 1.0], [-2.0, 0]]))
    ... except bc.scipy.sparse.csgraph.NegativeCycleError as e:
    ...     print(e)
    Negative cycle detected
    """


def _graph(csgraph: Any, unweighted: bool) -> Graph:
    g = Graph(csgraph)
    return g.unweighted() if unweighted else g


def _check(found: Any) -> None:
    if not found:
        raise NegativeCycleError("Negative cycle detected")


def _given(found: Any, shape: tuple[int, ...], n: int, return_predecessors: bool) -> Any:
    """Rows in the shape in which the sources were given."""
    _check(found)
    distances, predecessors = (x.reshape(*shape, n) for x in found)
    return (distances, predecessors) if return_predecessors else distances


def dijkstra(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
    limit: float = np.inf,
    min_only: bool = False,
) -> Any:
    """Lengths of the shortest paths by Dijkstra's method, fast where no edge is negative. Runs on the host.

    Parameters
    ----------
    csgraph : sparse matrix or array_like, (n, n)
        Lengths of edges; zeros, NaN and infinities of dense ones are no edges.
    directed : bool
        Whether an edge goes one way.
    indices : int or array_like, optional
        The sources; all nodes unless given.
    return_predecessors : bool
        Whether the node before the last on each path is a result too; -9999 where there is none.
    unweighted : bool
        Whether all edges count 1.
    limit : float
        Longer paths are none.
    min_only : bool
        Whether the result is one row, of the paths from the nearest source; with `return_predecessors` the sources are the third result.

    Returns
    -------
    dist_matrix, predecessors, sources : ndarray
        Infinite lengths where there is no path. (k, n) for k sources.

    Raises
    ------
    NegativeCycleError
        A cycle that a source reaches has a negative length. (SciPy's function may run on for ever.)

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.dijkstra(bc.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]]), indices=0)
    array([0., 1., 3.])
    """
    g = _graph(csgraph, unweighted)
    if limit < 0:
        raise ValueError("limit must be >= 0")
    if g.data.size and bool((g.data < 0).any()):
        warn("Graph has negative weights: dijkstra will give inaccurate results if the graph contains negative cycles. "
             "Consider johnson or bellman_ford.", UserWarning)  # fmt: skip
    on_host("dijkstra", g.device)
    sources, shape = g.nodes(indices)
    if not min_only:
        return _given(_c.csgraph_dijkstra(*g.parts, directed, sources, limit), shape, g.n, return_predecessors)
    found = _c.csgraph_nearest(*g.parts, directed, sources, limit)
    _check(found)
    distances, predecessors, nearest = found
    return (distances.reshape(-1), predecessors.reshape(-1), nearest) if return_predecessors else distances.reshape(-1)


def _edges_both_ways(g: Graph, directed: bool) -> tuple[ndarray, ndarray, ndarray]:
    rows, columns, data = g.rows(), g.indices, g.data
    if directed:
        return rows, columns, data
    return _c.concatenate([rows, columns]), _c.concatenate([columns, rows]), _c.concatenate([data, data])


def relaxed(g: Graph, directed: bool, sources: ndarray) -> tuple[ndarray, ndarray] | tuple[()]:
    """Bellman's and Ford's method as array operations: all edges at once, until nothing changes; () of a negative cycle."""
    rows, columns, data = _edges_both_ways(g, directed)
    k = sources.size
    distances = _c.full((k, g.n), np.inf, np.float64, device=g.device)
    at = _c.arange(k, device=g.device)
    distances[at, sources] = 0
    for round in range(g.n + 1):
        before = distances
        distances = before.copy()
        if rows.size:
            distances.scatter_min((slice(None), columns), before[:, rows] + data)
        if not bool((distances < before).any()):
            break
        if round == g.n:
            return ()
    if rows.size == 0:
        return distances, _c.full((k, g.n), NONE, np.int32, device=g.device)
    # A node comes before another where its edge makes up the distance. Edges of length 0 could make a ring of such nodes, so the first
    # round in which a node is reached by such edges counts.
    predecessors = _c.full((k, g.n), NONE, np.int32, device=g.device)
    reached = _c.zeros((k, g.n), bool, device=g.device)
    reached[at, sources] = True
    tight = (distances[:, rows] + data == distances[:, columns]) & (distances[:, columns] < np.inf)
    edge = _c.arange(rows.size, dtype=np.int64, device=g.device)
    for _ in range(g.n):
        usable = tight & reached[:, rows] & ~reached[:, columns]
        first = _c.full((k, g.n), rows.size, np.int64, device=g.device)
        first.scatter_min((slice(None), columns), _c.where(usable, edge, rows.size))
        new = first < rows.size
        if not bool(new.any()):
            break
        predecessors = _c.where(new, rows[_c.where(new, first, 0)].astype(np.int32), predecessors)
        reached = reached | new
    return distances, predecessors


def bellman_ford(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False, unweighted: bool = False
) -> Any:
    """Lengths of the shortest paths by Bellman's and Ford's method, for edges of any sign.

    Parameters and results are those of `dijkstra`.

    Raises
    ------
    NegativeCycleError
        A cycle that a source reaches has a negative length.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.bellman_ford(bc.array([[0, 4, 5], [0, 0, 0], [0, -3, 0]]), indices=0)
    array([0., 2., 5.])
    """
    g = _graph(csgraph, unweighted)
    sources, shape = g.nodes(indices)
    if g.device.type == "cpu":
        found = _c.csgraph_bellman_ford(*g.parts, directed, sources)
    else:
        found = relaxed(g, directed, sources)
    return _given(found, shape, g.n, return_predecessors)


def johnson(csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False, unweighted: bool = False) -> Any:
    """Lengths of the shortest paths by Johnson's method, for edges of any sign: Dijkstra's after Bellman's and Ford's. Runs on the host.

    Parameters and results are those of `dijkstra`, errors those of `bellman_ford`.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.johnson(bc.array([[0, 4, 5], [0, 0, 0], [0, -3, 0]]), indices=0)
    array([0., 2., 5.])
    """
    g = _graph(csgraph, unweighted)
    on_host("johnson", g.device)
    sources, shape = g.nodes(indices)
    return _given(_c.csgraph_johnson(*g.parts, directed, sources), shape, g.n, return_predecessors)


def all_pairs(lengths: ndarray) -> tuple[ndarray, ndarray] | tuple[()]:
    """Floyd's and Warshall's method as array operations, a node at a time; () of a negative cycle."""
    n = lengths.shape[0]
    i = _c.arange(n, dtype=np.int32, device=lengths.device)
    itself = i[:, None] == i
    predecessors = _c.where((lengths < np.inf) & ~itself, i[:, None], np.int32(NONE))
    distances = _c.where(itself, _c.ufuncs["minimum"](lengths, 0), lengths)
    for k in range(n):
        through = distances[:, k : k + 1] + distances[k]
        shorter = through < distances
        predecessors = _c.where(shorter, predecessors[k], predecessors)
        distances = _c.where(shorter, through, distances)
    return () if n and bool((_c.diagonal(distances) < 0).any()) else (distances, predecessors)


def floyd_warshall(
    csgraph: Any, directed: bool = True, return_predecessors: bool = False, unweighted: bool = False, overwrite: bool = False
) -> Any:
    """Lengths of the shortest paths between all nodes by Floyd's and Warshall's method. The matrix is never overwritten.

    Parameters and results are those of `dijkstra`, errors those of `bellman_ford`.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.floyd_warshall(bc.array([[0, 1], [0, 0]]))
    array([[ 0.,  1.],
           [inf,  0.]])
    """
    lengths = _graph(csgraph, unweighted).dense()
    if not directed:
        lengths = _c.ufuncs["minimum"](lengths, lengths.T)
    found = _c.csgraph_floyd_warshall(lengths) if lengths.device.type == "cpu" else all_pairs(lengths)
    return _given(found, lengths.shape[:1], lengths.shape[0], return_predecessors)


def shortest_path(
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> Any:
    """Lengths of the shortest paths.

    Parameters
    ----------
    csgraph : sparse matrix or array_like, (n, n)
    method : {'auto', 'FW', 'D', 'BF', 'J'}
        `floyd_warshall`, `dijkstra`, `bellman_ford` or `johnson`; 'auto' takes the first for a matrix with more than n**2 / 4 edges and no
        `indices`, the third or the fourth where a length is negative, and else the second.
    directed, return_predecessors, unweighted, indices : optional
        As `dijkstra`'s.
    overwrite : bool
        The matrix is never overwritten.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.shortest_path(bc.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]]), indices=[0, 1])
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.]])
    """
    if method not in ("auto", "FW", "D", "BF", "J"):
        raise ValueError(f"unrecognized method '{method}'")
    if method == "auto":
        g = Graph(csgraph)
        negative = not unweighted and g.data.size > 0 and bool((g.data < 0).any())
        few = g.n and indices is not None and np.size(_c.asnumpy(indices) if isinstance(indices, ndarray) else indices) < g.n
        if not few and g.data.size > g.n * g.n / 4:
            method = "FW"
        elif negative:
            method = "BF" if few else "J"
        else:
            method = "D"
    if method == "FW":
        if indices is not None:
            # All are computed, some are the result.
            found = floyd_warshall(csgraph, directed, True, unweighted)
            sources, shape = Graph(csgraph).nodes(indices)
            return _given([x[sources] for x in found], shape, found[0].shape[1], return_predecessors)
        return floyd_warshall(csgraph, directed, return_predecessors, unweighted)
    run = {"D": dijkstra, "BF": bellman_ford, "J": johnson}[method]
    return run(csgraph, directed, indices, return_predecessors, unweighted)


def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: float = np.inf) -> ndarray:
    """Lengths of the paths that predecessors describe, by adding up their edges.

    Parameters
    ----------
    graph : sparse matrix or array_like, (n, n)
    predecessors : array_like, (n, n)
        As `shortest_path` gives them.
    directed : bool
        Whether an edge goes one way.
    null_value : float
        Where there is no path.

    Examples
    --------
    >>> graph = bc.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]])
    >>> _, before = bc.scipy.sparse.csgraph.shortest_path(graph, return_predecessors=True)
    >>> bc.scipy.sparse.csgraph.construct_dist_matrix(graph, before)[0]
    array([0., 1., 3.])
    """
    lengths = Graph(graph).dense()
    if not directed:
        lengths = _c.ufuncs["minimum"](lengths, lengths.T)
    before = _c.asarray(predecessors, device=lengths.device).astype(np.int64)
    n = lengths.shape[0]
    if before.shape != (n, n):
        raise ValueError("graph and predecessors must have the same shape")
    if lengths.device.type == "cpu":
        return _c.csgraph_path_lengths(lengths, before.astype(np.int32), float(null_value))
    i = _c.arange(n, device=lengths.device)
    node = _c.broadcast_to(i, (n, n))
    total = _c.zeros((n, n), np.float64, device=lengths.device)
    known = (before >= 0) | (i[:, None] == i)
    # All paths go back by one edge at a time.
    for _ in range(n):
        previous = before[i[:, None], node]
        moving = previous >= 0
        if not bool(moving.any()):
            break
        safe = _c.where(moving, previous, 0)
        total = total + _c.where(moving, lengths[safe, node], 0)
        node = _c.where(moving, safe, node)
    return _c.where(known, total, null_value)


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """The K shortest paths without loops between two nodes (Yen, 1971). Runs on the host.

    Parameters
    ----------
    csgraph : sparse matrix or array_like, (n, n)
    source, sink : int
        The first and the last node.
    K : int
        How many paths are looked for.
    directed : bool
        Whether an edge goes one way.
    return_predecessors : bool
        Whether the node before each one on each path is a result too; -9999 for the first one and for nodes that are not on it.
    unweighted : bool
        Whether all edges count 1.

    Returns
    -------
    dist_array : ndarray, (k,)
        The lengths in ascending order, of as many paths as there are, at most K.
    predecessors : ndarray, (k, n), int32

    Raises
    ------
    NegativeCycleError
        The graph has a cycle of negative length.

    Examples
    --------
    >>> bc.scipy.sparse.csgraph.yen(bc.array([[0, 1, 5], [0, 0, 2], [0, 0, 0]]), 0, 2, 2)
    array([3., 5.])
    """
    g = _graph(csgraph, unweighted)
    n, K = g.n, int(K)
    for name, node in (("source", source), ("sink", sink)):
        if not 0 <= node < n:
            raise ValueError(f"{name} must have 0 <= {name} < {n}, got {node}")
    if K < 0:
        raise ValueError(f"K must be >= 0, got {K}")
    on_host("yen", g.device)
    found = _c.csgraph_yen(*g.parts, directed, int(source), int(sink), K)
    if not found:
        raise NegativeCycleError("Negative cycle detected")
    return tuple(found) if return_predecessors else found[0]
