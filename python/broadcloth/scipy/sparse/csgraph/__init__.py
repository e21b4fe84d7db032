"""Graphs as sparse matrices: paths, trees, components, orders, flows and matchings, under SciPy's names.

Components, Laplacians, and shortest paths by the methods of Bellman and Ford and of Floyd and Warshall run where the graph lies. Other
algorithms go from node to node, and run in C++ on the host: for a graph on a GPU on a copy, with a `PerformanceWarning`."""

from __future__ import annotations

from ...._namespace import listing
from ._graphs import csgraph_from_dense, csgraph_from_masked, csgraph_masked_from_dense, csgraph_to_dense, csgraph_to_masked
from ._paths import NegativeCycleError, bellman_ford, construct_dist_matrix, dijkstra, floyd_warshall, johnson, shortest_path, yen
from ._structure import (
    breadth_first_order,
    breadth_first_tree,
    connected_components,
    depth_first_order,
    depth_first_tree,
    laplacian,
    maximum_bipartite_matching,
    maximum_flow,
    min_weight_full_bipartite_matching,
    minimum_spanning_tree,
    reconstruct_path,
    reverse_cuthill_mckee,
    structural_rank,
)

__all__ = [
    "NegativeCycleError",
    "bellman_ford",
    "breadth_first_order",
    "breadth_first_tree",
    "connected_components",
    "construct_dist_matrix",
    "csgraph_from_dense",
    "csgraph_from_masked",
    "csgraph_masked_from_dense",
    "csgraph_to_dense",
    "csgraph_to_masked",
    "depth_first_order",
    "depth_first_tree",
    "dijkstra",
    "floyd_warshall",
    "johnson",
    "laplacian",
    "maximum_bipartite_matching",
    "maximum_flow",
    "min_weight_full_bipartite_matching",
    "minimum_spanning_tree",
    "reconstruct_path",
    "reverse_cuthill_mckee",
    "shortest_path",
    "structural_rank",
    "yen",
]

__dir__ = listing(__all__)
