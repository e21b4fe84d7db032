#include "ops/csgraph.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "runtime/interrupt.h"

namespace bc::csgraph {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

template <class T>
std::vector<T> values_of(const Array& a) {
  std::vector<T> host(static_cast<size_t>(a.size()));
  if (!host.empty()) to_host(a, host.data());
  return host;
}

template <class T>
Array array_of(const std::vector<T>& host, const Dims& shape, Device device) {
  constexpr DType dtype = std::is_same_v<T, double> ? DType::f64 : DType::i32;
  return from_host(host.data(), dtype, contiguous_layout(shape), device);
}

/// A graph's rows in host memory.
struct Rows {
  std::vector<int32_t> indptr, indices;
  std::vector<double> data;

  /// Without `lengths` the graph's lengths are not read, and not computed if they are pending.
  explicit Rows(const Graph& g, bool lengths = true) : indptr(values_of<int32_t>(g.indptr)), indices(values_of<int32_t>(g.indices)) {
    if (lengths)
      data = values_of<double>(g.data);
    else if (!g.directed)
      data.resize(indices.size());
    if (!g.directed) add_reverses();
  }
  Rows() = default;
  int32_t size() const { return static_cast<int32_t>(indptr.size()) - 1; }
  auto places(int32_t node) const { return std::pair(indptr[node], indptr[node + 1]); }

  /// The row of each edge.
  std::vector<int32_t> starts() const {
    std::vector<int32_t> rows(indices.size());
    for (int32_t i = 0; i < size(); ++i) std::fill(rows.begin() + indptr[i], rows.begin() + indptr[i + 1], i);
    return rows;
  }

  Rows reversed() const {
    Rows r;
    r.indptr.assign(indptr.size(), 0);
    r.indices.resize(indices.size());
    r.data.resize(data.size());
    for (int32_t j : indices) ++r.indptr[j + 1];
    std::partial_sum(r.indptr.begin(), r.indptr.end(), r.indptr.begin());
    std::vector<int32_t> next(r.indptr.begin(), r.indptr.end() - 1);
    for (int32_t i = 0; i < size(); ++i)
      for (int32_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        const int32_t at = next[indices[e]]++;
        r.indices[at] = i;
        r.data[at] = data[e];
      }
    return r;
  }

  /// Each row's edges, followed by the edges that end in the row's node.
  void add_reverses() {
    const Rows back = reversed();
    Rows both;
    both.indptr.push_back(0);
    for (int32_t i = 0; i < size(); ++i) {
      for (const Rows* from : {static_cast<const Rows*>(this), &back}) {
        both.indices.insert(both.indices.end(), from->indices.begin() + from->indptr[i], from->indices.begin() + from->indptr[i + 1]);
        both.data.insert(both.data.end(), from->data.begin() + from->indptr[i], from->data.begin() + from->indptr[i + 1]);
      }
      both.indptr.push_back(static_cast<int32_t>(both.indices.size()));
    }
    *this = std::move(both);
  }
};

/// One row of distances and predecessors, and where paths come from.
struct Reached {
  double* distance;
  int32_t* predecessor;
  int32_t* source = nullptr;
  int32_t last = kNone;  ///< the node whose distance is asked for, where it is only one
};

/// Dijkstra's method from the nodes that `reached` has at a finite distance, to no node of a distance of -infinity. Outdated entries stay
/// in the heap and are skipped.
void settle(const Rows& g, const std::vector<int32_t>& from, double limit, const Reached& reached) {
  using Entry = std::pair<double, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  for (int32_t s : from) heap.emplace(reached.distance[s], s);
  while (!heap.empty()) {
    interrupt::poll();
    const auto [distance, node] = heap.top();
    heap.pop();
    if (distance > reached.distance[node]) continue;
    if (node == reached.last) return;
    const auto [begin, end] = g.places(node);
    for (int32_t e = begin; e < end; ++e) {
      const double there = distance + g.data[e];
      const int32_t next = g.indices[e];
      if (there <= limit && there < reached.distance[next]) {
        reached.distance[next] = there;
        reached.predecessor[next] = node;
        if (reached.source) reached.source[next] = reached.source[node];
        heap.emplace(there, next);
      }
    }
  }
}

/// Rows of results, one for each source.
struct Table {
  std::vector<int32_t> sources;
  int32_t n;
  std::vector<double> distances;
  std::vector<int32_t> predecessors;

  Table(const Array& from, int32_t nodes, bool one_row = false) : sources(values_of<int32_t>(from)), n(nodes) {
    const size_t rows = one_row ? 1 : sources.size();
    distances.assign(rows * n, kFar);
    predecessors.assign(rows * n, kNone);
  }
  Reached row(size_t i) { return {distances.data() + i * n, predecessors.data() + i * n}; }
  Paths paths(Device device) const {
    const Dims shape{n ? static_cast<int64_t>(distances.size()) / n : static_cast<int64_t>(sources.size()), n};
    return {array_of(distances, shape, device), array_of(predecessors, shape, device), {}};
  }
};

/// Relaxes all edges until no distance falls; false if there is a negative cycle, so that this does not end.
bool relax(const Rows& g, const std::vector<int32_t>& starts, const Reached& reached) {
  for (int32_t round = 0; round <= g.size(); ++round) {
    interrupt::poll();
    bool changed = false;
    for (size_t e = 0; e < starts.size(); ++e) {
      const double there = reached.distance[starts[e]] + g.data[e];
      if (there < reached.distance[g.indices[e]]) {
        reached.distance[g.indices[e]] = there;
        reached.predecessor[g.indices[e]] = starts[e];
        changed = true;
      }
    }
    if (!changed) return true;
  }
  return false;
}

/// Adds differences of heights to the lengths, after which none is negative (Johnson, 1977); false if there is a negative cycle.
bool lift(Rows& g, std::vector<double>& height) {
  const std::vector<int32_t> starts = g.starts();
  std::vector<int32_t> unused(g.size());
  if (!relax(g, starts, {height.data(), unused.data()})) return false;
  // By rounding a length may be a little below zero.
  for (size_t e = 0; e < starts.size(); ++e) g.data[e] = std::max(0.0, g.data[e] + height[starts[e]] - height[g.indices[e]]);
  return true;
}

/// A path, ordered by length, and the place from which on it is not that of the path that it deviates from.
struct Path {
  double length;
  std::vector<int32_t> nodes;
  size_t deviates;
  auto operator<=>(const Path&) const = default;
};

/// The search of one path to `sink` after another.
struct Deviations {
  const Rows& g;
  int32_t sink;
  std::vector<double> distance = std::vector<double>(g.size());
  std::vector<int32_t> before = std::vector<int32_t>(g.size());

  /// The shortest edge.
  double edge(int32_t from, int32_t to) const {
    double least = kFar;
    for (auto [e, end] = g.places(from); e < end; ++e)
      if (g.indices[e] == to) least = std::min(least, g.data[e]);
    return least;
  }
  /// The shortest path that begins with the first `count` nodes of `start` and whose next node is none of `taken`; no node comes twice.
  std::optional<Path> find(const std::vector<int32_t>& start, size_t count, const std::vector<int32_t>& taken) {
    std::fill(distance.begin(), distance.end(), kFar);
    for (size_t i = 0; i < count; ++i) distance[start[i]] = -kFar;
    const int32_t spur = start[count - 1];
    std::vector<int32_t> from;
    for (auto [e, end] = g.places(spur); e < end; ++e) {
      const int32_t next = g.indices[e];
      if (g.data[e] >= distance[next] || std::find(taken.begin(), taken.end(), next) != taken.end()) continue;
      distance[next] = g.data[e];
      before[next] = spur;
      from.push_back(next);
    }
    settle(g, from, kFar, {distance.data(), before.data(), nullptr, sink});
    if (!(std::fabs(distance[sink]) < kFar)) return std::nullopt;
    Path path{0, {}, count - 1};
    for (int32_t node = sink; node != spur; node = before[node]) path.nodes.push_back(node);
    path.nodes.insert(path.nodes.end(), std::reverse_iterator(start.begin() + count), start.rend());
    std::reverse(path.nodes.begin(), path.nodes.end());
    for (size_t i = 1; i < path.nodes.size(); ++i) path.length += edge(path.nodes[i - 1], path.nodes[i]);
    return path;
  }
};

/// Yen's method (1971) with Lawler's addition (1972): a path's deviations begin where it deviates itself.
std::vector<Path> shortest_paths(const Rows& g, int32_t source, int32_t sink, int64_t count) {
  Deviations search{g, sink};
  std::set<Path> candidates;
  if (source == sink)
    candidates.insert({0, {source}, 0});
  else if (std::optional<Path> first = search.find({source}, 1, {}))
    candidates.insert(std::move(*first));
  std::vector<Path> found;
  while (static_cast<int64_t>(found.size()) < count && !candidates.empty()) {
    found.push_back(std::move(candidates.extract(candidates.begin()).value()));
    const Path last = found.back();
    for (size_t i = last.deviates; i + 1 < last.nodes.size(); ++i) {
      std::vector<int32_t> taken;
      for (const Path& path : found)
        if (path.nodes.size() > i + 1 && std::equal(last.nodes.begin(), last.nodes.begin() + i + 1, path.nodes.begin()))
          taken.push_back(path.nodes[i + 1]);
      if (std::optional<Path> next = search.find(last.nodes, i + 1, taken)) candidates.insert(std::move(*next));
    }
  }
  return found;
}

/// The root of a node's set, which nodes on the way are then joined to directly.
int32_t root_of(std::vector<int32_t>& parent, int32_t node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

/// Labels in the order of each component's first node.
Components labelled(const std::vector<int32_t>& group, Device device) {
  std::vector<int32_t> label(group.size(), kNone), labels(group.size());
  int32_t count = 0;
  for (size_t i = 0; i < group.size(); ++i) {
    int32_t& of_group = label[group[i]];
    if (of_group == kNone) of_group = count++;
    labels[i] = of_group;
  }
  return {count, array_of(labels, {static_cast<int64_t>(labels.size())}, device)};
}

/// Tarjan's strong components, without recursion; each is named by one of its nodes.
std::vector<int32_t> strong_groups(const Rows& g) {
  const int32_t n = g.size();
  std::vector<int32_t> number(n, -1), low(n), group(n, -1), open, path, next(g.indptr.begin(), g.indptr.end() - 1);
  int32_t counter = 0;
  for (int32_t start = 0; start < n; ++start) {
    if (number[start] >= 0) continue;
    path.push_back(start);
    while (!path.empty()) {
      const int32_t node = path.back();
      if (number[node] < 0) {
        number[node] = low[node] = counter++;
        open.push_back(node);
      }
      if (next[node] < g.indptr[node + 1]) {
        const int32_t to = g.indices[next[node]++];
        if (number[to] < 0)
          path.push_back(to);
        else if (group[to] < 0)
          low[node] = std::min(low[node], number[to]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[node]);
      if (low[node] != number[node]) continue;
      for (int32_t member = -1; member != node;) {
        member = open.back();
        open.pop_back();
        group[member] = node;
      }
    }
  }
  return group;
}

}  // namespace

std::optional<Paths> dijkstra(const Graph& graph, const Array& sources, double limit, bool nearest) {
  const Rows g(graph);
  // Dijkstra's method would go round a cycle of negative length for ever.
  std::vector<int32_t> starts;
  if (std::any_of(g.data.begin(), g.data.end(), [](double length) { return length < 0; })) starts = g.starts();
  Table table(sources, g.size(), nearest);
  std::vector<int32_t> nearest_source(nearest ? g.size() : 0, kNone);
  const size_t searches = nearest ? 1 : table.sources.size();
  for (size_t i = 0; i < searches; ++i) {
    Reached row = table.row(i);
    const std::vector<int32_t> from = nearest ? table.sources : std::vector<int32_t>{table.sources[i]};
    for (int32_t s : from) row.distance[s] = 0;
    if (!starts.empty()) {
      std::vector<double> distance(row.distance, row.distance + g.size());
      std::vector<int32_t> unused(g.size());
      if (!relax(g, starts, {distance.data(), unused.data()})) return std::nullopt;
    }
    if (nearest) {
      row.source = nearest_source.data();
      for (int32_t s : from) nearest_source[s] = s;
    }
    settle(g, from, limit, row);
  }
  Paths paths = table.paths(graph.data.device());
  if (nearest) paths.sources = array_of(nearest_source, {g.size()}, graph.data.device());
  return paths;
}

std::optional<Paths> bellman_ford(const Graph& graph, const Array& sources) {
  const Rows g(graph);
  const std::vector<int32_t> starts = g.starts();
  Table table(sources, g.size());
  for (size_t i = 0; i < table.sources.size(); ++i) {
    const Reached row = table.row(i);
    row.distance[table.sources[i]] = 0;
    if (!relax(g, starts, row)) return std::nullopt;
  }
  return table.paths(graph.data.device());
}

std::optional<Paths> johnson(const Graph& graph, const Array& sources) {
  Rows g(graph);
  std::vector<double> height(g.size(), 0);
  if (!lift(g, height)) return std::nullopt;
  Table table(sources, g.size());
  for (size_t i = 0; i < table.sources.size(); ++i) {
    const Reached row = table.row(i);
    const int32_t source = table.sources[i];
    row.distance[source] = 0;
    settle(g, {source}, kFar, row);
    for (int32_t node = 0; node < g.size(); ++node) row.distance[node] += height[node] - height[source];
  }
  return table.paths(graph.data.device());
}

std::optional<Paths> yen(const Graph& graph, int64_t source, int64_t sink, int64_t count) {
  Rows g(graph);
  std::vector<double> height(g.size(), 0);
  const bool has_negative = std::any_of(g.data.begin(), g.data.end(), [](double x) { return x < 0; });
  if (has_negative && !lift(g, height)) return std::nullopt;
  const std::vector<Path> found = shortest_paths(g, static_cast<int32_t>(source), static_cast<int32_t>(sink), count);
  const int64_t rows = static_cast<int64_t>(found.size());
  std::vector<double> lengths;
  std::vector<int32_t> before(rows * g.size(), kNone);
  for (const Path& path : found) {
    for (size_t i = 1; i < path.nodes.size(); ++i) before[lengths.size() * g.size() + path.nodes[i]] = path.nodes[i - 1];
    lengths.push_back(path.length + height[sink] - height[source]);
  }
  return Paths{array_of(lengths, {rows}, graph.data.device()), array_of(before, {rows, g.size()}, graph.data.device()), {}};
}

namespace {

/// Takes the way over another node to each of a row's nodes where it is shorter. Few are: several nodes are looked at together.
void shorten(double to, const double* via, const int32_t* via_last, double* row, int32_t* last, int64_t n) {
  typedef double Pair __attribute__((vector_size(16)));
  typedef int64_t Mask __attribute__((vector_size(16)));
  constexpr int64_t kBlock = 8;
  const auto pair = [](const double* from) {
    Pair p;
    std::memcpy(&p, from, sizeof(p));
    return p;
  };
  const auto step = [&](int64_t j) {
    if (to + via[j] < row[j]) {
      row[j] = to + via[j];
      last[j] = via_last[j];
    }
  };
  int64_t j = 0;
  for (; j + kBlock <= n; j += kBlock) {
    Mask any{};
    for (int64_t l = 0; l < kBlock; l += 2) any |= to + pair(via + j + l) < pair(row + j + l);
    if (any[0] | any[1])
      for (int64_t l = 0; l < kBlock; ++l) step(j + l);
  }
  for (; j < n; ++j) step(j);
}

}  // namespace

std::optional<Paths> floyd_warshall(const Array& lengths) {
  const int64_t n = lengths.shape()[0];
  std::vector<double> d = values_of<double>(lengths);
  std::vector<int32_t> before(d.size(), kNone);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      if (i != j && d[i * n + j] < kFar) before[i * n + j] = static_cast<int32_t>(i);
    d[i * n + i] = std::min(d[i * n + i], 0.0);
  }
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < n; ++i) {
      const double to = d[i * n + k];
      if (to == kFar) continue;
      shorten(to, d.data() + k * n, before.data() + k * n, d.data() + i * n, before.data() + i * n, n);
    }
  for (int64_t i = 0; i < n; ++i)
    if (d[i * n + i] < 0) return std::nullopt;
  return Paths{array_of(d, {n, n}, lengths.device()), array_of(before, {n, n}, lengths.device()), {}};
}

Array path_lengths(const Array& lengths, const Array& predecessors, double missing) {
  const auto n = static_cast<size_t>(lengths.shape()[0]);
  const std::vector<double> edges = values_of<double>(lengths);
  const std::vector<int32_t> before = values_of<int32_t>(predecessors);
  std::vector<double> sums(n * n, missing);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      if (i != j && before[i * n + j] < 0) continue;
      double sum = 0;
      size_t node = j;
      // A path has fewer edges than there are nodes; predecessors that go around in a circle are none of a path.
      for (size_t steps = 0; node != i && before[i * n + node] >= 0 && steps < n; ++steps) {
        const auto previous = static_cast<size_t>(before[i * n + node]);
        BC_CHECK(previous < n, Value, "construct_dist_matrix: expected predecessors below {}, got {}", n, previous);
        sum += edges[previous * n + node];
        node = previous;
      }
      sums[i * n + j] = sum;
    }
  return array_of(sums, lengths.shape(), lengths.device());
}

Tree breadth_first(const Graph& graph, int64_t start) {
  const Rows g(graph, false);
  std::vector<int32_t> order(g.size()), before(g.size(), kNone);
  std::vector<char> seen(g.size());
  order[0] = static_cast<int32_t>(start);
  seen[start] = true;
  int64_t count = 1;
  for (int64_t at = 0; at < count; ++at) {
    const int32_t from = order[at];
    const auto [begin, end] = g.places(from);
    for (int32_t e = begin; e < end; ++e) {
      const int32_t node = g.indices[e];
      if (seen[node]) continue;
      seen[node] = true;
      before[node] = from;
      order[count++] = node;
    }
  }
  const Device device = graph.data.device();
  return {array_of(order, {count}, device), array_of(before, {g.size()}, device)};
}

Tree depth_first(const Graph& graph, int64_t start) {
  const Rows g(graph, false);
  std::vector<int32_t> order(g.size()), before(g.size(), kNone), next(g.indptr.begin(), g.indptr.end() - 1);
  std::vector<char> seen(g.size());
  auto node = static_cast<int32_t>(start);
  order[0] = node;
  seen[node] = true;
  int64_t count = 1;
  while (node != kNone) {  // the nodes before one are the way back to the start
    const int32_t end = g.indptr[node + 1];
    int32_t e = next[node];
    while (e < end && seen[g.indices[e]]) ++e;
    next[node] = e;
    if (e == end) {
      node = before[node];
      continue;
    }
    const int32_t to = g.indices[e];
    seen[to] = true;
    before[to] = node;
    order[count++] = to;
    node = to;
  }
  const Device device = graph.data.device();
  return {array_of(order, {count}, device), array_of(before, {g.size()}, device)};
}

Components components(const Graph& graph, bool strong) {
  const Rows g(graph);
  if (strong) return labelled(strong_groups(g), graph.data.device());
  std::vector<int32_t> parent(g.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (int32_t i = 0; i < g.size(); ++i)
    for (int32_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
      const int32_t a = root_of(parent, i), b = root_of(parent, g.indices[e]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  for (int32_t i = 0; i < g.size(); ++i) parent[i] = root_of(parent, i);
  return labelled(parent, graph.data.device());
}

Array spanning_forest(const Graph& graph) {
  const Rows g(graph);
  const std::vector<int32_t> starts = g.starts();
  std::vector<int32_t> order(starts.size()), parent(g.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::iota(parent.begin(), parent.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return g.data[a] < g.data[b]; });
  for (int32_t e : order) {
    const int32_t a = root_of(parent, starts[e]), b = root_of(parent, g.indices[e]);
    if (a == b) continue;
    parent[std::max(a, b)] = std::min(a, b);
    kept.push_back(e);
  }
  std::sort(kept.begin(), kept.end());
  return array_of(kept, {static_cast<int64_t>(kept.size())}, graph.data.device());
}

Array reverse_cuthill_mckee(const Graph& graph) {
  const Rows g(graph);
  const int32_t n = g.size();
  std::vector<int32_t> degree(n), by_degree(n), order;
  for (int32_t i = 0; i < n; ++i) degree[i] = g.indptr[i + 1] - g.indptr[i];
  std::iota(by_degree.begin(), by_degree.end(), 0);
  const auto lower = [&](int32_t a, int32_t b) { return degree[a] < degree[b]; };
  std::stable_sort(by_degree.begin(), by_degree.end(), lower);
  std::vector<bool> seen(n);
  for (int32_t start : by_degree) {
    if (seen[start]) continue;
    seen[start] = true;
    order.push_back(start);
    for (size_t at = order.size() - 1; at < order.size(); ++at) {
      const size_t first = order.size();
      const auto [begin, end] = g.places(order[at]);
      for (int32_t e = begin; e < end; ++e)
        if (!seen[g.indices[e]]) {
          seen[g.indices[e]] = true;
          order.push_back(g.indices[e]);
        }
      std::stable_sort(order.begin() + static_cast<int64_t>(first), order.end(), lower);
    }
  }
  std::reverse(order.begin(), order.end());
  return array_of(order, {n}, graph.data.device());
}

namespace {

/// Edges with their reverses (edge e ^ 1) and their residual capacities.
struct Residual {
  std::vector<std::vector<int32_t>> edges;
  std::vector<int32_t> to, level;
  std::vector<int64_t> capacity;
  std::vector<size_t> next;

  explicit Residual(const Rows& g) : edges(g.size()) {
    for (int32_t i = 0; i < g.size(); ++i)
      for (int32_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
        edges[i].push_back(2 * e);
        edges[g.indices[e]].push_back(2 * e + 1);
        to.insert(to.end(), {g.indices[e], i});
        capacity.insert(capacity.end(), {static_cast<int64_t>(g.data[e]), 0});
      }
  }

  /// Computes each node's distance from the source over edges with residual capacity; tells whether the sink is reached.
  bool find_levels(int32_t source, int32_t sink) {
    level.assign(edges.size(), -1);
    level[source] = 0;
    std::vector<int32_t> queue{source};
    for (size_t at = 0; at < queue.size(); ++at)
      for (int32_t e : edges[queue[at]])
        if (capacity[e] > 0 && level[to[e]] < 0) {
          level[to[e]] = level[queue[at]] + 1;
          queue.push_back(to[e]);
        }
    return level[sink] >= 0;
  }

  /// Augments the flow along one path of ascending levels; returns the added flow, 0 if there is no such path.
  int64_t send(int32_t source, int32_t sink) {
    std::vector<int32_t> path;
    int32_t node = source;
    while (node != sink) {
      if (next[node] < edges[node].size()) {
        const int32_t e = edges[node][next[node]];
        if (capacity[e] > 0 && level[to[e]] == level[node] + 1) {
          path.push_back(e);
          node = to[e];
        } else {
          ++next[node];
        }
      } else {
        if (path.empty()) return 0;
        node = to[path.back() ^ 1];
        path.pop_back();
        ++next[node];
      }
    }
    int64_t amount = std::numeric_limits<int64_t>::max();
    for (int32_t e : path) amount = std::min(amount, capacity[e]);
    for (int32_t e : path) {
      capacity[e] -= amount;
      capacity[e ^ 1] += amount;
    }
    return amount;
  }
};

}  // namespace

Flow maximum_flow(const Graph& graph, int64_t source, int64_t sink) {
  const Rows g(graph);
  Residual network(g);
  int64_t value = 0;
  while (network.find_levels(static_cast<int32_t>(source), static_cast<int32_t>(sink))) {
    network.next.assign(network.edges.size(), 0);
    while (const int64_t amount = network.send(static_cast<int32_t>(source), static_cast<int32_t>(sink))) value += amount;
  }
  const size_t count = g.data.size();
  std::vector<double> flow(2 * count);
  for (size_t e = 0; e < count; ++e) {
    flow[e] = static_cast<double>(network.capacity[2 * e + 1]);
    flow[count + e] = -flow[e];
  }
  return {value, array_of(flow, {static_cast<int64_t>(flow.size())}, graph.data.device())};
}

Array dense(const Graph& graph, double missing) {
  const Rows g(graph);
  const int64_t n = g.size();
  std::vector<double> made(n * n, missing);
  std::vector<int32_t> row_of(n, -1);  // the last row that had an element in a column
  for (int32_t i = 0; i < n; ++i)
    for (int32_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
      const int32_t j = g.indices[e];
      double& to = made[i * n + j];
      to = row_of[j] == i ? std::min(to, g.data[e]) : g.data[e];
      row_of[j] = i;
    }
  return array_of(made, {n, n}, graph.data.device());
}

Array bipartite_matching(const Graph& graph, int64_t columns, bool by_columns) {
  const Rows g(graph, false);
  const int32_t rows = g.size();
  std::vector<int32_t> of_row(rows, kNone), of_column(columns, kNone), level(rows), next, queue;
  // Unmatched rows are at level 0; the rows matched to the columns that a row could have are one level further.
  const auto find_levels = [&] {
    bool found = false;
    queue.clear();
    for (int32_t i = 0; i < rows; ++i) {
      level[i] = of_row[i] == kNone ? 0 : -1;
      if (level[i] == 0) queue.push_back(i);
    }
    for (size_t at = 0; at < queue.size(); ++at)
      for (int32_t e = g.indptr[queue[at]]; e < g.indptr[queue[at] + 1]; ++e) {
        const int32_t partner = of_column[g.indices[e]];
        if (partner == kNone) {
          found = true;
        } else if (level[partner] < 0) {
          level[partner] = level[queue[at]] + 1;
          queue.push_back(partner);
        }
      }
    return found;
  };
  const auto augment = [&](int32_t start) {
    std::vector<int32_t> path{start};
    while (!path.empty()) {
      const int32_t row = path.back();
      if (next[row] == g.indptr[row + 1]) {
        path.pop_back();
        if (!path.empty()) ++next[path.back()];
        continue;
      }
      const int32_t partner = of_column[g.indices[next[row]]];
      if (partner == kNone) {
        for (int32_t i : path) {
          of_row[i] = g.indices[next[i]];
          of_column[of_row[i]] = i;
        }
        return;
      }
      if (level[partner] == level[row] + 1)
        path.push_back(partner);
      else
        ++next[row];
    }
  };
  while (find_levels()) {
    next.assign(g.indptr.begin(), g.indptr.end() - 1);
    for (int32_t i = 0; i < rows; ++i)
      if (of_row[i] == kNone) augment(i);
  }
  std::vector<int32_t>& found = by_columns ? of_column : of_row;
  std::replace(found.begin(), found.end(), kNone, -1);
  return array_of(found, {by_columns ? columns : rows}, graph.data.device());
}

namespace {

/// Pairs that cost little, before any path is searched: each row in turn takes its cheapest column, whose price falls by what the second
/// cheapest costs more, and the row that had it looks again (Jonker & Volgenant's augmenting row reduction).
void match_cheaply(const Rows& g, std::vector<int32_t>& of_row, std::vector<int32_t>& of_column, std::vector<double>& row_price,
                   std::vector<double>& column_price) {
  std::vector<int32_t> waiting(static_cast<size_t>(g.size()));
  std::iota(waiting.rbegin(), waiting.rend(), 0);
  // Rounding could make rows take a column from one another without end.
  for (int64_t steps = 40 * static_cast<int64_t>(g.size()); steps > 0 && !waiting.empty(); --steps) {
    const int32_t row = waiting.back();
    waiting.pop_back();
    double first = kFar, second = kFar;
    int32_t column = kNone;
    for (int32_t e = g.indptr[row]; e < g.indptr[row + 1]; ++e) {
      const double cost = g.data[e] - column_price[g.indices[e]];
      if (cost < first) {
        second = first;
        first = cost;
        column = g.indices[e];
      } else if (cost < second) {
        second = cost;
      }
    }
    if (column == kNone) continue;
    row_price[row] = first;
    const int32_t before = of_column[column];
    if (before != kNone && !(first < second && second < kFar)) continue;
    if (second < kFar) {
      row_price[row] = second;
      column_price[column] -= second - first;
    }
    of_row[row] = column;
    of_column[column] = row;
    if (before == kNone) continue;
    of_row[before] = kNone;
    waiting.push_back(before);
  }
}

}  // namespace

Array weighted_matching(const Graph& graph, int64_t columns) {
  const Rows g(graph);
  const int32_t rows = g.size();
  std::vector<int32_t> of_row(rows, kNone), of_column(columns, kNone), from(columns), scanned;
  // Prices make every edge's reduced length, data - row price - column price, not negative, and that of matched edges zero.
  std::vector<double> row_price(rows, 0.0), column_price(columns, 0.0), distance(columns, kFar);
  std::vector<char> settled(columns, 0);
  for (int32_t i = 0; i < rows; ++i) {
    const auto [begin, end] = g.places(i);
    if (begin < end) row_price[i] = *std::min_element(g.data.begin() + begin, g.data.begin() + end);
  }
  match_cheaply(g, of_row, of_column, row_price, column_price);
  using Entry = std::pair<double, int32_t>;
  for (int32_t start = 0; start < rows; ++start) {
    if (of_row[start] != kNone) continue;
    // Dijkstra's method over reduced lengths, from a row without a partner to the nearest column without one.
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    scanned.clear();
    int32_t row = start, free = kNone;
    double base = 0, nearest_free = kFar;  // what is not nearer than a free column is of no use
    for (;;) {
      for (int32_t e = g.indptr[row]; e < g.indptr[row + 1]; ++e) {
        const int32_t column = g.indices[e];
        const double there = base + g.data[e] - row_price[row] - column_price[column];
        if (settled[column] || !(there < distance[column]) || !(there < nearest_free)) continue;
        if (of_column[column] == kNone) nearest_free = there;
        if (distance[column] == kFar) scanned.push_back(column);
        distance[column] = there;
        from[column] = row;
        heap.emplace(there, column);
      }
      while (!heap.empty() && (settled[heap.top().second] || heap.top().first > distance[heap.top().second])) heap.pop();
      if (heap.empty()) break;
      const auto [nearest, column] = heap.top();
      base = nearest;
      if (of_column[column] == kNone) {
        free = column;
        break;
      }
      settled[column] = 1;
      row = of_column[column];
    }
    if (free != kNone) {
      row_price[start] += base;
      for (const int32_t column : scanned)
        if (settled[column]) {
          row_price[of_column[column]] += base - distance[column];
          column_price[column] -= base - distance[column];
        }
      for (int32_t column = free; column != kNone;) {
        const int32_t partner = from[column], next = of_row[partner];
        of_row[partner] = column;
        of_column[column] = partner;
        column = partner == start ? kNone : next;
      }
    }
    for (const int32_t column : scanned) {
      distance[column] = kFar;
      settled[column] = 0;
    }
    if (free == kNone) break;
  }
  return array_of(of_row, {rows}, graph.data.device());
}

}  // namespace bc::csgraph
