#pragma once
#include <bitset>
#include <functional>
#include <vector>

#include "codegen/ir.h"
#include "graph/node.h"

namespace bc {

inline constexpr int kMaxFused = 256;  ///< pending nodes that one plan handles

/// How the axes of a node are walked by a kernel's iteration axes: coordinate k is start[k] + step[k] * x[axis[k]], or start[k] where
/// axis[k] < 0.
using IndexMap = AxisMap;

IndexMap identity_map(const Dims& shape);
/// Tells whether a map over `space` walks `shape` exactly as its own axes (axes of extent 1 do not count).
bool is_identity(const IndexMap& map, const Dims& shape, const Dims& space);

/// The axis map by which a consumer of shape `space` reads `input`; false when the view is no per-axis map.
bool edge_map(const Operand& edge, const Dims& space, IndexMap* map);
/// `inner` read through `outer`: the map of the input over the outer iteration axes.
IndexMap compose_maps(const IndexMap& inner, const IndexMap& outer);

/// A kernel of the plan: the materialized nodes (those that are computed by name) that share one pass.
struct Group {
  enum class Kind : uint8_t { fused, store, library } kind = Kind::fused;
  Walk walk = Walk::map;
  Dims space;         ///< iteration shape
  uint64_t axes = 0;  ///< reduced axes of `space`
  bool segmented = false;
  int stages = 1;
  int fused_nodes = 0;
  std::vector<int> members;  ///< materialized nodes, in program order
};

/// What the planner knows of a pending node.
struct Note {
  bool materialized = false;  ///< computed by name, by one group; other nodes are inlined where they are used
  bool select = false;        ///< a store that is computed as a choice between the old and the new element
  bool stored = false;        ///< a materialized node whose result goes to memory
  bool outer = false;         ///< a materialized node over the kept axes of its group
  int stage = 0;              ///< of its group
  int group = -1;
  int small_stores = 0;                    ///< stores into small regions among what is inlined, one after the other
  int cost = 0;                            ///< rough operations an element of the inlined subtree takes
  std::vector<std::pair<int, int>> users;  ///< (node, operand)
  std::bitset<kMaxFused> inlined;          ///< the subtree that comes along when it is inlined
  int leaves = 0;
};

/// Decides what is computed by name, what is inlined, and which materialized nodes share a kernel. May insert copies into `nodes`.
class Fusion {
 public:
  Fusion(std::vector<Ref<Node>>& nodes, Target target);
  const std::vector<Note>& notes() const { return notes_; }
  const std::vector<Group>& groups() const { return groups_; }
  /// The node's place among the pending ones, or -1 for a leaf or constant.
  int index(const Node* node) const;

 private:
  void find_users();
  void choose_roots();
  void choose_store(int i);
  void protect_readers(int i);
  void assign_groups();
  bool join(int i, Group& g, int g_index);
  int inlined_cost(const Node& node) const;
  bool visit(int i, const IndexMap& map, const Dims& space, const std::function<bool(int dep, const IndexMap&)>& dep) const;
  bool visit(int i, const IndexMap& map, const Dims& space, const std::function<bool(int dep, const IndexMap&)>& dep,
             std::vector<std::pair<int, IndexMap>>* seen) const;
  int last_materialized(int i) const;
  bool pure_chain(int from, int store) const;

  std::vector<Ref<Node>>& nodes_;
  Target target_;
  std::vector<Note> notes_;
  std::vector<Group> groups_;
};

/// The iteration shape of a node's own computation.
const Dims& space_of(const Node& node);

}  // namespace bc
