#pragma once
#include <cstdint>
#include <optional>

#include "array/array.h"

/// Algorithms over graphs in compressed rows, which run on the host: arrays of any device are read, results are made on it. An element
/// data[j] in row i and column indices[j] is an edge of that length. Without `directed` each edge goes both ways.
namespace bc::csgraph {

/// float64, int32 and int32.
struct Graph {
  Array data, indices, indptr;
  bool directed = true;
};

/// Stands for a missing node.
inline constexpr int32_t kNone = -9999;

struct Paths {
  Array distances;     ///< float64, (sources, n): infinite where there is no path
  Array predecessors;  ///< int32, (sources, n): the node before the last on the way, kNone where there is none
  Array sources;       ///< int32: the source of each path; only of `nearest`
};

/// Shortest paths from nodes (Dijkstra, 1959). Paths longer than `limit` are left out. With `nearest` the result is one row: the path to
/// each node from its nearest source. Fast where no edge is negative; nullopt if a source reaches a cycle of negative length.
std::optional<Paths> dijkstra(const Graph& graph, const Array& sources, double limit, bool nearest);
/// The same for edges of any sign; nullopt if there is a cycle of negative length.
std::optional<Paths> bellman_ford(const Graph& graph, const Array& sources);
/// The same, by Dijkstra's method over lengths that the Bellman-Ford method has made non-negative (Johnson, 1977).
std::optional<Paths> johnson(const Graph& graph, const Array& sources);
/// The `count` shortest paths without loops between two nodes, or as many as there are, for edges of any sign: their lengths (one axis),
/// and a row of predecessors for each.
std::optional<Paths> yen(const Graph& graph, int64_t source, int64_t sink, int64_t count);
/// Paths between all nodes of a dense (n, n) matrix of lengths, infinite where there is no edge; nothing where there is a negative cycle.
std::optional<Paths> floyd_warshall(const Array& lengths);

/// The sums of the edges' lengths (dense, (n, n)) along the paths that predecessors (int32, (n, n)) describe; `missing` where there is
/// none.
Array path_lengths(const Array& lengths, const Array& predecessors, double missing);

struct Tree {
  Array order;         ///< int32: the nodes in the order in which they are reached
  Array predecessors;  ///< int32, (n)
};
Tree breadth_first(const Graph& graph, int64_t start);
Tree depth_first(const Graph& graph, int64_t start);

struct Components {
  int64_t count;
  Array labels;  ///< int32, (n)
};
/// Components of nodes that edges connect: in either direction, or `strong` in both (Tarjan, 1972). Labels ascend with the first nodes.
Components components(const Graph& graph, bool strong);

/// The places of the edges of a minimum spanning forest, int32 in ascending order (Kruskal, 1956).
Array spanning_forest(const Graph& graph);
/// A permutation with small bandwidth of a symmetric matrix (Cuthill & McKee, 1969; George, 1971).
Array reverse_cuthill_mckee(const Graph& graph);

struct Flow {
  int64_t value;
  Array flow;  ///< float64, whole numbers: of each edge and then of each edge's reverse
};
/// The greatest flow from a source to a sink (Dinitz, 1970). Capacities are whole numbers.
Flow maximum_flow(const Graph& graph, int64_t source, int64_t sink);
/// The lengths as a matrix, `missing` where there is no edge; of several edges the shortest.
Array dense(const Graph& graph, double missing);

/// The column matched to each of the rows, or with `by_columns` the row of each of the columns, -1 where there is none: as many pairs as
/// can be (Hopcroft & Karp, 1973).
Array bipartite_matching(const Graph& graph, int64_t columns, bool by_columns);
/// The column matched to each of the rows for the least sum of lengths, by shortest augmenting paths (Jonker & Volgenant, 1987); kNone for
/// some rows where they cannot all be matched.
Array weighted_matching(const Graph& graph, int64_t columns);

}  // namespace bc::csgraph
