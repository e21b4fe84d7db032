#pragma once
#include <bitset>
#include <functional>
#include <vector>

#include "codegen/ir.h"
#include "graph/node.h"

namespace bc {

inline constexpr int kMaxFused = 256;  ///< maximum number of pending nodes in one plan
inline constexpr int kMaxLeafNumbers = 512;

/// A node's coordinates as a function of a kernel's iteration axes: coordinate k is start[k] + step[k] * x[axis[k]], or start[k] where
/// axis[k] < 0.
using IndexMap = AxisMap;

IndexMap identity_map(const Dims& shape);
/// Tells whether a map over `space` is the identity on `shape`, apart from axes of extent 1.
bool is_identity(const IndexMap& map, const Dims& shape, const Dims& space);

/// Finds the map by which a consumer of shape `space` reads the node of `edge`; false when the view has no such map.
bool edge_map(const Operand& edge, const Dims& space, IndexMap* map);
/// The composition of two maps: `inner` maps to a node's axes, `outer` to the axes of its consumer.
IndexMap compose_maps(const IndexMap& inner, const IndexMap& outer);

/// One kernel of the plan: the materialized nodes that share one pass. A node is materialized when its own value is computed, not inlined.
struct Group {
  enum class Kind : uint8_t { fused, store, library } kind = Kind::fused;
  Walk walk = Walk::map;
  Dims space;         ///< iteration shape
  uint64_t axes = 0;  ///< reduced axes of `space`
  bool segmented = false;
  int stages = 1;
  std::bitset<kMaxFused> inlined;  ///< the nodes that the kernel computes
  int values = 0;                  ///< Note::expanded of the members
  std::vector<int> members;        ///< materialized nodes, in program order
};

/// The planner's data about one pending node.
struct Note {
  bool materialized = false;  ///< computed once, in one group; other nodes are inlined into their users
  bool select = false;        ///< a store that is computed as a select between the old and the new element
  bool stored = false;        ///< a materialized node whose result is written to memory
  bool outer = false;         ///< a materialized node over the kept axes of its group
  int stage = 0;              ///< the stage inside its group
  int group = -1;
  int small_stores = 0;                    ///< number of successive stores into small regions in the inlined subtree
  int cost = 0;                            ///< estimated operations for one element of the inlined subtree
  int leaves = 0;                          ///< what the inlined subtree reads from memory; several views of a node count
  int values = 1;                          ///< of a kernel that computes the inlined subtree: a node counts for each view
  std::vector<std::pair<int, int>> users;  ///< (node, operand)
  int expanded = 1;                   ///< the same with the members of its kernel that it reads: they may be computed anew under a select
  std::bitset<kMaxFused> inlined;     ///< the nodes that are inlined together with this node
  std::bitset<kMaxFused> same_place;  ///< of them, those that are computed for this node's own element only
  // The node's own share, with the subtrees that it reads through views.
  int own_cost = 0, own_values = 1, view_leaves = 0;
  std::vector<size_t> own_leaves;  ///< by leaf_number()
};

/// Decides which nodes are materialized, which are inlined, and which materialized nodes share a kernel. May insert copies into `nodes`.
class Fusion {
 public:
  Fusion(std::vector<Ref<Node>>& nodes, Target target);
  const std::vector<Note>& notes() const { return notes_; }
  const std::vector<Group>& groups() const { return groups_; }
  /// The node's index among the pending nodes, or -1 for a leaf or constant.
  int index(const Node* node) const;

 private:
  void merge_equal();
  void find_users();
  int collect_inlined(int i);
  bool too_large(const Note& note) const;
  size_t leaf_number(const Operand& operand);
  void choose_materialized();
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
  std::vector<const Operand*> leaves_;  // one operand for each leaf number
  std::vector<Group> groups_;
};

/// The iteration shape of a node's own computation.
const Dims& space_of(const Node& node);

}  // namespace bc
