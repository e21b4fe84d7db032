// Python's functions for the algorithms of broadcloth.scipy.sparse.csgraph.
#include "ops/csgraph.h"

#include "bind/args.h"
#include "bind/csgraph.h"

namespace bc::bind {
namespace {

/// Nothing where there is a cycle of negative length.
std::vector<Array> arrays(const std::optional<csgraph::Paths>& paths) {
  if (!paths) return {};
  std::vector<Array> found{paths->distances, paths->predecessors};
  if (paths->sources) found.push_back(paths->sources);
  return found;
}

}  // namespace

std::vector<PyMethodDef> csgraph_functions() {
  return {
      BC_LOOKING("csgraph_dijkstra(data, indices, indptr, directed, sources, limit) Distances and predecessors, () of a negative cycle.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, const Array& sources, double limit) {
                   return arrays(csgraph::dijkstra({data, indices, indptr, directed}, sources, limit, false));
                 }),
      BC_LOOKING("csgraph_nearest(data, indices, indptr, directed, sources, limit) The same and nearest sources.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, const Array& sources, double limit) {
                   return arrays(csgraph::dijkstra({data, indices, indptr, directed}, sources, limit, true));
                 }),
      BC_LOOKING("csgraph_bellman_ford(data, indices, indptr, directed, sources) Distances and predecessors, () of a negative cycle.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, const Array& sources) {
                   return arrays(csgraph::bellman_ford({data, indices, indptr, directed}, sources));
                 }),
      BC_LOOKING("csgraph_johnson(data, indices, indptr, directed, sources) Distances and predecessors, () of a negative cycle.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, const Array& sources) {
                   return arrays(csgraph::johnson({data, indices, indptr, directed}, sources));
                 }),
      BC_LOOKING("csgraph_yen(data, indices, indptr, directed, source, sink, count) Lengths and predecessors, () of a negative cycle.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, int64_t source, int64_t sink,
                    int64_t count) { return arrays(csgraph::yen({data, indices, indptr, directed}, source, sink, count)); }),
      BC_LOOKING("csgraph_floyd_warshall(lengths) Distances and predecessors between all nodes, () of a negative cycle.",
                 [](const Array& lengths) { return arrays(csgraph::floyd_warshall(lengths)); }),
      BC_LOOKING("csgraph_path_lengths(lengths, predecessors, missing) The sums of lengths along paths.", csgraph::path_lengths),
      BC_LOOKING("csgraph_breadth_first(data, indices, indptr, directed, start) Nodes in order, and predecessors.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, int64_t start) {
                   const csgraph::Tree t = csgraph::breadth_first({data, indices, indptr, directed}, start);
                   return std::vector<Array>{t.order, t.predecessors};
                 }),
      BC_LOOKING("csgraph_depth_first(data, indices, indptr, directed, start) Nodes in order, and predecessors.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed, int64_t start) {
                   const csgraph::Tree t = csgraph::depth_first({data, indices, indptr, directed}, start);
                   return std::vector<Array>{t.order, t.predecessors};
                 }),
      BC_LOOKING("csgraph_components(data, indices, indptr, strong) The label of each node's component.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool strong) {
                   return csgraph::components({data, indices, indptr}, strong).labels;
                 }),
      BC_LOOKING(
          "csgraph_spanning_forest(data, indices, indptr) The places of the edges of a minimum spanning forest.",
          [](const Array& data, const Array& indices, const Array& indptr) { return csgraph::spanning_forest({data, indices, indptr}); }),
      BC_LOOKING("csgraph_reverse_cuthill_mckee(data, indices, indptr, directed) A permutation with small bandwidth.",
                 [](const Array& data, const Array& indices, const Array& indptr, bool directed) {
                   return csgraph::reverse_cuthill_mckee({data, indices, indptr, directed});
                 }),
      BC_LOOKING("csgraph_maximum_flow(data, indices, indptr, source, sink) The flow of each edge, then of each edge's reverse.",
                 [](const Array& data, const Array& indices, const Array& indptr, int64_t source, int64_t sink) {
                   return csgraph::maximum_flow({data, indices, indptr}, source, sink).flow;
                 }),
      BC_LOOKING("csgraph_dense(data, indices, indptr, missing) The shortest edge between each two nodes.",
                 [](const Array& data, const Array& indices, const Array& indptr, double missing) {
                   return csgraph::dense({data, indices, indptr}, missing);
                 }),
      BC_LOOKING(
          "csgraph_bipartite_matching(data, indices, indptr, columns, by_columns) The column matched to each row, or the row to each "
          "column; -1 where there is none.",
          [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, bool by_columns) {
            return csgraph::bipartite_matching({data, indices, indptr}, columns, by_columns);
          }),
      BC_LOOKING("csgraph_weighted_matching(data, indices, indptr, columns) The column matched to each row for the least sum.",
                 [](const Array& data, const Array& indices, const Array& indptr, int64_t columns) {
                   return csgraph::weighted_matching({data, indices, indptr}, columns);
                 }),
  };
}

}  // namespace bc::bind
