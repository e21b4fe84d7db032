#include "graph/fuse.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "graph/plan.h"
#include "graph/schedule.h"

namespace bc {
namespace {

// Limits of one kernel, so that its parameters fit CUDA's 4 KB and compiles stay short. NVRTC takes 0.2 ms for a cheap node, so there a
// whole tape of them (Tape::kMaxNodes) becomes one kernel: 50 steps of a Mandelbrot set with 1024² points are 3 kernels on an H200, not 11.
constexpr int kMaxInlined[] = {96, 192};  // CPU, CUDA
constexpr int kMaxCost = 256;             // Note::cost, where there are more nodes than the CPU's limit
constexpr int kMaxLeaves = 32;
constexpr int kMaxValues[] = {256, 768};      // of one node, of a kernel: Note::values
constexpr int kMaxGroupNodes[] = {160, 256};  // CPU, CUDA
constexpr size_t kMaxMembers = 20;
// Bytes: a value of this size that only other kernels read is computed where it is first needed, not beside independent values in an
// earlier kernel. In a loop of `v = (0.85 * A) @ v` all products with A would have to be in memory together. New memory costs
// the CPU page faults; on a GPU a kernel less is worth more.
constexpr int64_t kLargeTemporary[] = {int64_t{8} << 20, int64_t{64} << 20};  // CPU, CUDA
constexpr int kMaxStages = 5;
// The maximum cost of a node that several readers compute again for different elements; a costlier node is materialized. The limit is
// higher on a GPU, where recomputing is cheaper than a write and a read.
constexpr int kMaxRepeated[] = {12, 32};  // CPU, CUDA
// A store into less than 1/kSmallRegion of a pending array is small. At most kMaxSmallStores successive small stores become selects in the
// kernel that computes the array.
constexpr int64_t kSmallRegion = 8;
constexpr int kMaxSmallStores = 3;

uint64_t non_unit_axes(const Dims& space) {
  uint64_t bits = 0;
  for (int d = 0; d < space.size(); ++d)
    if (space[d] != 1) bits |= uint64_t{1} << d;
  return bits;
}

/// The axes of extent other than 1 that a reduction keeps, in order.
std::vector<int> kept_axes(const Dims& space, uint64_t axes) {
  std::vector<int> kept;
  for (int d = 0; d < space.size(); ++d)
    if (space[d] != 1 && !(axes >> d & 1)) kept.push_back(d);
  return kept;
}

/// The map of a node over the kept axes of a group; false when the node's shape differs from the extents of those axes.
bool row_map(const Dims& shape, const Group& g, IndexMap* map) {
  const std::vector<int> kept = kept_axes(g.space, g.axes);
  map->start = map->step = Dims(shape.size(), 0);
  map->axis = Dims(shape.size(), -1);
  size_t next = 0;
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (next == kept.size() || g.space[kept[next]] != shape[d]) return false;
    map->step[d] = 1;
    map->axis[d] = kept[next++];
  }
  return next == kept.size();
}

/// The user's function of a node if it may contract a * b + c, else nullptr. Such a function gets a kernel of its own, so that array
/// expressions in other kernels keep the bits of plain execution.
const UserOp* isolated_function(const Node& node) {
  if (node.op == Op::user) {
    const UserOp& op = *static_cast<const UserExtra&>(*node.extra).op;
    return op.contract ? &op : nullptr;
  }
  if (node.op != Op::reduce_user) return nullptr;
  const UserOp& op = *static_cast<const ReduceExtra&>(*node.extra).join;
  return op.contract ? &op : nullptr;
}

bool same_map(const IndexMap& a, const IndexMap& b, const Dims& shape) {
  for (int d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (a.start[d] != b.start[d] || a.axis[d] != b.axis[d] || (a.axis[d] >= 0 && a.step[d] != b.step[d])) return false;
  }
  return true;
}

}  // namespace

IndexMap identity_map(const Dims& shape) {
  IndexMap m;
  m.start = Dims(shape.size(), 0);
  m.step = Dims(shape.size(), 1);
  m.axis = Dims(shape.size(), 0);
  for (int d = 0; d < shape.size(); ++d) m.axis[d] = d;
  return m;
}

bool is_identity(const IndexMap& map, const Dims& shape, const Dims& space) {
  return shape == space && same_map(map, identity_map(shape), shape);
}

bool edge_map(const Operand& edge, const Dims& space, IndexMap* map) {
  const Node& node = *edge.node;
  if (edge.identity && node.shape == space) {
    *map = identity_map(space);
    return true;
  }
  Layout view;
  view.shape = space;
  view.strides = edge.identity ? contiguous_strides(space) : edge.strides;
  view.offset = edge.offset;
  return axis_map(node.shape, view, map);
}

IndexMap compose_maps(const IndexMap& inner, const IndexMap& outer) {
  IndexMap m = inner;
  for (int k = 0; k < m.axis.size(); ++k) {
    if (inner.axis[k] < 0) continue;
    const int c = static_cast<int>(inner.axis[k]);
    m.start[k] = inner.start[k] + inner.step[k] * outer.start[c];
    m.step[k] = inner.step[k] * outer.step[c];
    m.axis[k] = outer.axis[c];
  }
  return m;
}

const Dims& space_of(const Node& node) {
  if (info(node.op).kind == OpKind::reduce) return static_cast<const ReduceExtra&>(*node.extra).shape;
  return node.shape;
}

Fusion::Fusion(std::vector<Ref<Node>>& nodes, Target target) : nodes_(nodes), target_(target) {
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->mark = static_cast<uint32_t>(i);
  notes_.resize(nodes_.size());
  merge_equal();
  find_users();
  choose_materialized();
  assign_groups();
}

int Fusion::index(const Node* node) const {
  return !node->buffer && node->mark < nodes_.size() && nodes_[node->mark].get() == node ? static_cast<int>(node->mark) : -1;
}

namespace {

bool same_operand(const Operand& a, const Operand& b) {
  return a.node.get() == b.node.get() && a.dtype == b.dtype && a.identity == b.identity && a.offset == b.offset && a.strides == b.strides;
}

/// Tells whether two nodes compute the same elements of the same operands.
bool same_value(const Node& a, const Node& b) {
  if (a.op != b.op || a.dtype != b.dtype || a.in.size() != b.in.size() || a.shape != b.shape || !std::ranges::equal(a.loop, b.loop))
    return false;
  for (size_t k = 0; k < a.in.size(); ++k)
    if (!same_operand(a.in[k], b.in[k])) return false;
  return true;
}

}  // namespace

/// Readers of a value that was recorded twice (`abs(z)` at the end of a loop's step and at the beginning of the next one) read the first.
void Fusion::merge_equal() {
  std::unordered_map<const Node*, std::vector<int>> readers;  // the elementwise nodes so far by their first operand
  std::vector<int> first(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node& node = *nodes_[i];
    first[i] = static_cast<int>(i);
    for (size_t k = 0; k < node.in.size(); ++k)
      if (const int j = index(node.in[k].node.get()); j >= 0 && first[j] != j) node.in[k].node = nodes_[first[j]];
    // A value read before a store can differ from the same read after it, since two leaves can share memory.
    if (writes_in_place(node)) readers.clear();
    if (node.extra || node.in.size() == 0 || info(node.op).kind != OpKind::elementwise) continue;
    std::vector<int>& earlier = readers[node.in[0].node.get()];
    const auto found = std::ranges::find_if(earlier, [&](int u) { return !node.held && same_value(node, *nodes_[u]); });
    if (found != earlier.end())
      first[i] = *found;
    else
      earlier.push_back(static_cast<int>(i));
  }
}

void Fusion::find_users() {
  for (size_t i = 0; i < nodes_.size(); ++i)
    for (size_t k = 0; k < nodes_[i]->in.size(); ++k)
      if (const int j = index(nodes_[i]->in[k].node.get()); j >= 0) notes_[j].users.emplace_back(static_cast<int>(i), static_cast<int>(k));
}

int Fusion::inlined_cost(const Node& node) const {
  const OpInfo& spec = info(node.op);
  if (node.op == Op::user) return static_cast<const UserExtra&>(*node.extra).op->cost;
  if (spec.kind != OpKind::elementwise) return node.op == Op::gather ? 2 : 0;
  if (node.op == Op::cast) return 0;
  if (node.op == Op::divide || node.op == Op::sqrt) return 2;
  if (node.op == Op::remainder || node.op == Op::floor_divide || node.op == Op::fmod) return 6;
  const bool transcendental = spec.result != Result::BOOL && !(spec.set & dtype_bit(DType::i32));
  return transcendental ? 8 : 1;
}

namespace {

/// Whether a node reads the operand at its own place. Values that are read so are computed once for all their readers in a kernel; a value
/// that is read through a view is computed again for that view.
bool reads_same_place(const Node& reader, size_t k) {
  const Operand& o = reader.in[k];
  const Dims& space = reader.op == Op::store && k == 1 ? static_cast<const StoreExtra&>(*reader.extra).region.shape : space_of(reader);
  return o.identity && o.node->shape == space && (k == 0 || reader.op != Op::store || space == reader.shape);
}

/// Sums that grow with each view of a view end here.
constexpr int kVeryMany = 1 << 20;

}  // namespace

/// Sets what is inlined together with node i, and what it reads and costs. Gives the inlined operand with the largest subtree, or -1.
int Fusion::collect_inlined(int i) {
  const Node& node = *nodes_[i];
  Note& note = notes_[i];
  note.inlined.reset();
  note.same_place.reset();
  std::bitset<kMaxLeafNumbers> leaves;
  note.own_leaves.clear();
  note.own_cost = inlined_cost(node);
  note.own_values = 1;
  note.view_leaves = 0;
  int heaviest = -1;
  for (size_t k = 0; k < node.in.size(); ++k) {
    const int j = index(node.in[k].node.get());
    if (j < 0 || notes_[j].materialized) {
      note.own_leaves.push_back(leaf_number(node.in[k]));
      continue;
    }
    const Note& operand = notes_[j];
    note.inlined |= operand.inlined;
    if (reads_same_place(node, k)) {
      note.same_place |= operand.same_place;
    } else {
      note.own_cost = std::min(note.own_cost + operand.cost, kVeryMany);
      note.own_values = std::min(note.own_values + operand.values, kVeryMany);
      note.view_leaves = std::min(note.view_leaves + operand.leaves, kVeryMany);
    }
    if (heaviest < 0 || operand.inlined.count() > notes_[heaviest].inlined.count()) heaviest = j;
  }
  note.inlined.set(i % kMaxFused);
  note.same_place.set(i % kMaxFused);
  note.cost = note.leaves = note.values = 0;
  for (int u = 0; u < std::min(i + 1, kMaxFused); ++u) {
    if (!note.same_place[u]) continue;
    note.cost = std::min(note.cost + notes_[u].own_cost, kVeryMany);
    note.values = std::min(note.values + notes_[u].own_values, kVeryMany);
    note.leaves = std::min(note.leaves + notes_[u].view_leaves, kVeryMany);
    for (const size_t leaf : notes_[u].own_leaves) leaves.set(leaf);
  }
  // Few nodes read few places, whatever the sums say.
  note.leaves = std::min(note.leaves + static_cast<int>(leaves.count()), 2 * static_cast<int>(note.inlined.count()) + 1);
  return heaviest;
}

bool Fusion::too_large(const Note& note) const {
  const bool cuda = target_ == Target::cuda;
  const int count = static_cast<int>(note.inlined.count());
  return count > kMaxInlined[cuda] || (count > kMaxInlined[0] && note.cost > kMaxCost) || note.leaves > kMaxLeaves ||
         note.values > kMaxValues[0];
}

/// A number of what an operand reads from memory: views of one node have several.
size_t Fusion::leaf_number(const Operand& operand) {
  size_t k = 0;
  while (k < leaves_.size() && !same_operand(*leaves_[k], operand)) ++k;
  if (k == leaves_.size()) leaves_.push_back(&operand);
  return k % kMaxLeafNumbers;
}

void Fusion::choose_materialized() {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const int i = static_cast<int>(n);
    const Node& node = *nodes_[i];
    Note& note = notes_[i];
    const OpKind kind = info(node.op).kind;
    if (node.op == Op::store) {
      choose_store(i);
      if (nodes_[i].get() != &node) {  // choose_store inserted a copy at i: process the copy first
        --n;
        continue;
      }
    }
    if (isolated_function(node)) {
      note.materialized = true;
      for (const Operand& o : node.in)
        if (const int j = index(o.node.get()); j >= 0) notes_[j].materialized = true;
    }
    if (kind == OpKind::library || kind == OpKind::reduce || node.held || (node.op == Op::store && !note.select) || i >= kMaxFused)
      note.materialized = true;
    for (size_t k = 0; k < node.in.size(); ++k) {
      const int j = index(node.in[k].node.get());
      if (j < 0) continue;
      // A library body, a gather and an in-place store read this operand from memory.
      if (kind == OpKind::library || ((node.op == Op::gather || (node.op == Op::store && !note.select)) && k == 0))
        notes_[j].materialized = true;
      IndexMap map;
      if (!notes_[j].materialized &&
          !edge_map(node.in[k], node.op == Op::store && k == 1 ? static_cast<const StoreExtra&>(*node.extra).region.shape : space_of(node),
                    &map))
        notes_[j].materialized = true;
    }
    // Collect the nodes to inline; while they are too many, materialize the operand with the largest subtree.
    for (int heaviest = collect_inlined(i); heaviest >= 0 && too_large(note); heaviest = collect_inlined(i))
      notes_[heaviest].materialized = true;
    if (note.materialized) continue;
    // Several readers, or a reader that repeats elements, would compute the node's elements several times.
    const bool cheap = note.cost <= 1, expensive = note.cost > kMaxRepeated[target_ == Target::cuda];
    bool shifted = false, part = false;
    int64_t reads = 0;
    for (const auto& [u, k] : note.users) {
      const Node& user = *nodes_[u];
      const bool region = user.op == Op::store && k == 1;
      const Dims& space = region ? static_cast<const StoreExtra&>(*user.extra).region.shape : space_of(user);
      const int64_t size = product(space);
      reads += size;
      part |= region && size != user.size;
      if (size > 2 * std::max<int64_t>(node.size, 1) && note.cost >= 4) note.materialized = true;
      if (!(user.in[k].identity && node.shape == space)) shifted = true;
    }
    if (note.users.size() > 1 && !cheap) {
      // Readers of different parts (the pieces of a roll) together compute each element about once.
      if (shifted && (2 * reads > 3 * node.size || expensive)) note.materialized = true;
      // A loop that writes each of its steps into a row of a table must not compute all steps again for each row.
      if (part && expensive) note.materialized = true;
    }
  }
}

namespace {

/// For two buffers that share memory: tells whether a read of `seen` can see elements that a write of `region` changes, other than the
/// element that is being computed.
bool reads_region(const Buffer& from, const Layout& seen, DType read, const Buffer& to, const Layout& region, DType written) {
  const auto first = [](const Buffer& b, const Layout& l, int item) { return static_cast<const char*>(b.ptr) + l.offset * item; };
  const int r = itemsize(read), w = itemsize(written);
  if (r == w && seen.shape == region.shape && seen.strides == region.strides && first(from, seen, r) == first(to, region, w)) return false;
  int64_t seen_low, seen_high, region_low, region_high;
  bounds(seen, &seen_low, &seen_high);
  bounds(region, &region_low, &region_high);
  if (seen_low > seen_high || region_low > region_high) return false;
  const auto *a = static_cast<const char*>(from.ptr), *b = static_cast<const char*>(to.ptr);
  return a + seen_low * r < b + (region_high + 1) * w && b + region_low * w < a + (seen_high + 1) * r;
}

bool share_memory(const Node& a, const Node& b) {
  const Buffer *first = memory_of(a), *second = memory_of(b);
  return first && second && share_memory(*first, *second);
}

}  // namespace

void Fusion::choose_store(int i) {
  Node& node = *nodes_[i];
  Note& note = notes_[i];
  const StoreExtra& extra = static_cast<const StoreExtra&>(*node.extra);
  const Node& old = *node.in[0].node;
  const int j = index(&old);
  const Layout& region = extra.region;
  IndexMap map;
  const bool selectable = axis_map(node.shape, region, &map) && old.dtype == node.dtype && old.size == node.size;
  const bool exposed = old.buffer && old.buffer->exposed;
  const bool large = 2 * region.size() >= node.size;
  const bool inlined_old = j >= 0 && !notes_[j].materialized;
  bool reads_old = false;  // through a view other than the region itself
  std::vector<bool> seen_node(nodes_.size());
  std::function<void(const Node&, int)> look = [&](const Node& reader, int k) {
    const Operand& o = reader.in[k];
    if (reader.op == Op::gather && k == 0) {
      // The elements that a gather reads are known only when it runs.
      reads_old |= o.node.get() == &old || share_memory(*o.node, old);
      return;
    }
    if (o.node.get() == &old) {
      const Layout seen{reader.op == Op::store ? region.shape : space_of(reader),
                        o.identity ? contiguous_strides(space_of(reader)) : o.strides, o.offset};
      reads_old |= o.dtype != node.dtype || (!(seen == region) && may_overlap(seen, region));
      return;
    }
    if (share_memory(*o.node, old)) {
      const Layout seen{reader.op == Op::store ? region.shape : space_of(reader),
                        o.identity ? contiguous_strides(space_of(reader)) : o.strides, o.offset};
      reads_old |= reads_region(*memory_of(*o.node), seen, o.dtype, *memory_of(old), region, node.dtype);
    }
    const int at = index(o.node.get());
    if (at < 0 || notes_[at].materialized || seen_node[at]) return;
    seen_node[at] = true;
    for (size_t m = 0; m < o.node->in.size(); ++m) look(*o.node, static_cast<int>(m));
  };
  look(node, 1);
  const bool shared = old.handles > 0;
  // A select tests every element of the array, even for a store of one row: after a few small stores the array is materialized instead.
  const bool small = kSmallRegion * region.size() < node.size;
  const int small_stores = (inlined_old ? notes_[j].small_stores : 0) + small;
  // The test whether a coordinate is in a strided region needs an integer division, which CPU vector units lack: on the CPU the array is
  // materialized instead.
  bool steps = false;
  for (int c = 0; selectable && c < map.axis.size(); ++c) steps |= map.axis[c] >= 0 && std::abs(map.step[c]) > 1;
  const bool divides = steps && traits(node.device).on_host;
  note.select =
      selectable && !exposed && ((inlined_old && small_stores <= kMaxSmallStores && !divides) || ((reads_old || shared) && large));
  note.small_stores = note.select ? small_stores : 0;
  if (note.select) return;
  if (j >= 0) notes_[j].materialized = true;
  if (!reads_old) return;
  // NumPy reads all elements before it writes: a value that reads other old elements is first computed into its own memory.
  const int value = index(node.in[1].node.get());
  if (value >= 0 && !notes_[value].materialized) {
    notes_[value].materialized = true;
    return;
  }
  if (shared) return;  // the store works on a copy, the value reads the original
  Ref<Node> copy(new Node);
  copy->op = Op::cast;
  copy->dtype = copy->loop[0] = node.dtype;
  copy->device = node.device;
  copy->shape = region.shape;
  copy->size = region.size();
  copy->in.push_back(node.in[1]);
  Operand through;
  through.node = copy;
  through.dtype = node.dtype;
  node.in[1] = std::move(through);
  nodes_.insert(nodes_.begin() + i, std::move(copy));
  notes_.insert(notes_.begin() + i, Note());
  for (size_t k = 0; k < nodes_.size(); ++k) nodes_[k]->mark = static_cast<uint32_t>(k);
  for (Note& n : notes_) n.users.clear();
  find_users();
  notes_[i].materialized = true;
}

int Fusion::last_materialized(int i) const {
  // A node's readers come after it in program order, so one sweep finds all nodes into which it is inlined.
  std::vector<bool> reached(nodes_.size());
  reached[i] = true;
  int last = -1;
  for (size_t n = i; n < nodes_.size(); ++n) {
    if (!reached[n]) continue;
    if (notes_[n].materialized) {
      last = static_cast<int>(n);
      continue;
    }
    for (const auto& [u, k] : notes_[n].users) reached[u] = true;
  }
  return last;
}

bool Fusion::pure_chain(int from, int store) const {
  std::vector<bool> reached(nodes_.size());
  reached[from] = true;
  for (size_t n = from; n < nodes_.size(); ++n) {
    if (!reached[n] || static_cast<int>(n) == store) continue;
    if (notes_[n].materialized) return false;
    for (const auto& [u, k] : notes_[n].users) {
      if (!nodes_[u]->in[k].identity || (u == store && k != 1)) return false;
      reached[u] = true;
    }
  }
  return true;
}

/// A store in place overwrites elements that pending readers of the old value still need: those readers are materialized, so that they run
/// before it.
void Fusion::protect_readers(int i) {
  const Node& node = *nodes_[i];
  const Node* old = node.in[0].node.get();
  if (old->handles > 0 && !(old->buffer && old->buffer->exposed)) return;  // works on a copy
  const Layout* region = node.op == Op::store ? &static_cast<const StoreExtra&>(*node.extra).region : nullptr;
  for (int n = 0; n < i; ++n) {
    if (notes_[n].materialized) continue;
    for (const Operand& o : nodes_[n]->in) {
      const bool same = o.node.get() == old;
      if (!same && !share_memory(*o.node, *old)) continue;
      const bool walks_region = same && region && o.dtype == node.dtype && nodes_[n]->shape == region->shape;
      const bool same_place = walks_region && !o.identity && o.strides == region->strides && o.offset == region->offset;
      const bool whole_place = walks_region && o.identity && region->offset == 0 && is_contiguous(region->shape, region->strides);
      if ((same_place || whole_place) && pure_chain(n, i)) continue;
      if (last_materialized(n) >= i) notes_[n].materialized = true;
    }
  }
}

bool Fusion::visit(int i, const IndexMap& map, const Dims& space, const std::function<bool(int, const IndexMap&)>& dep) const {
  std::vector<std::pair<int, IndexMap>> seen;
  return visit(i, map, space, dep, &seen);
}

bool Fusion::visit(int i, const IndexMap& map, const Dims& space, const std::function<bool(int, const IndexMap&)>& dep,
                   std::vector<std::pair<int, IndexMap>>* seen) const {
  const Node& node = *nodes_[i];
  for (const auto& [n, m] : *seen)
    if (n == i && m.start == map.start && m.step == map.step && m.axis == map.axis) return true;
  seen->emplace_back(i, map);
  for (size_t k = 0; k < node.in.size(); ++k) {
    const int j = index(node.in[k].node.get());
    if (j < 0) continue;
    IndexMap edge;
    Dims through = space_of(node);
    IndexMap outer = map;
    bool stepping = false;
    if (node.op == Op::store && k == 1) {
      // The axes of the region: its coordinate is (c - start) / step, where c is the storage's coordinate.
      const StoreExtra& extra = static_cast<const StoreExtra&>(*node.extra);
      through = extra.region.shape;
      if (notes_[i].select) {
        IndexMap region;
        axis_map(node.shape, extra.region, &region);
        outer = IndexMap{Dims(through.size(), 0), Dims(through.size(), 0), Dims(through.size(), -1)};
        for (int c = 0; c < region.axis.size(); ++c) {
          const int r = static_cast<int>(region.axis[c]);
          if (r < 0) continue;
          // For a region of step other than 1 the value's coordinate is not affine in c, so the value is read from memory.
          stepping |= region.step[c] != 1;
          outer.start[r] = map.start[c] - region.start[c];
          outer.step[r] = map.step[c];
          outer.axis[r] = map.axis[c];
        }
      }
    }
    // A view without a per-axis map, the source of a gather, and the operands of a library op, which have shapes of their own, must be in
    // memory: a map of too many axes tells `dep` that.
    const bool own_shape = (node.op == Op::gather && k == 0) || node.op == Op::library;
    const bool mapped = !stepping && !own_shape && edge_map(node.in[k], through, &edge);
    const int too_many = nodes_[j]->shape.size() + 1;
    const IndexMap whole = mapped ? compose_maps(edge, outer) : IndexMap{Dims(too_many), Dims(too_many), Dims(too_many)};
    if (notes_[j].materialized) {
      if (!dep(j, whole)) return false;
    } else if (!visit(j, whole, space, dep, seen)) {
      return false;
    }
  }
  return true;
}

void Fusion::assign_groups() {
  // A store whose region steps over elements needs its value in memory (see visit).
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = *nodes_[i];
    if (node.op != Op::store) continue;
    if (!notes_[i].select) {
      protect_readers(static_cast<int>(i));
      continue;
    }
    IndexMap region;
    axis_map(node.shape, static_cast<const StoreExtra&>(*node.extra).region, &region);
    bool unit = true;
    for (int c = 0; c < region.axis.size(); ++c) unit &= region.axis[c] < 0 || region.step[c] == 1;
    if (!unit)
      if (const int j = index(node.in[1].node.get()); j >= 0) notes_[j].materialized = true;
  }
  for (size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i]->op == Op::library && static_cast<const LibraryExtra&>(*nodes_[i]->extra).in_place) protect_readers(static_cast<int>(i));

  for (size_t n = 0; n < nodes_.size(); ++n) {
    const int i = static_cast<int>(n);
    const Node& node = *nodes_[i];
    Note& note = notes_[i];
    if (!note.materialized) continue;
    Group fresh;
    const bool reduce = info(node.op).kind == OpKind::reduce;
    if (node.op == Op::library || (node.op == Op::store && !note.select)) {
      fresh.kind = node.op == Op::library ? Group::Kind::library : Group::Kind::store;
      fresh.space = node.op == Op::store ? static_cast<const StoreExtra&>(*node.extra).region.shape : node.shape;
    } else {
      int last_dep = -1;
      visit(i, identity_map(space_of(node)), space_of(node), [&](int d, const IndexMap&) {
        last_dep = std::max(last_dep, notes_[d].group);
        return true;
      });
      const int count = static_cast<int>(groups_.size());
      const bool large = !node.held && node.size >= kLargeTemporary[target_ == Target::cuda] / itemsize(node.dtype);
      bool joined = false;
      for (int g = std::max({last_dep, large ? count - 1 : 0, 0}); g < count && !joined; ++g) joined = join(i, groups_[g], g);
      if (joined) continue;
      fresh.space = space_of(node);
      if (reduce) {
        fresh.axes = static_cast<const ReduceExtra&>(*node.extra).axes;
        const ReduceShape shape = reduce_shape(fresh.space, fresh.axes, target_);
        fresh.walk = shape.walk;
        fresh.segmented = shape.segments > 1;
      }
    }
    fresh.inlined = note.inlined;
    fresh.values = note.expanded = note.values;
    fresh.members.push_back(i);
    note.group = static_cast<int>(groups_.size());
    groups_.push_back(std::move(fresh));
  }

  // A result is written to memory when an array or an op being recorded holds it, or when another kernel reads it.
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const int i = static_cast<int>(n);
    Note& note = notes_[i];
    if (!note.materialized) continue;
    note.stored |= nodes_[i]->held || groups_[note.group].kind != Group::Kind::fused;
    visit(i, identity_map(space_of(*nodes_[i])), space_of(*nodes_[i]), [&](int d, const IndexMap&) {
      if (notes_[d].group != note.group) notes_[d].stored = true;
      return true;
    });
  }
}

bool Fusion::join(int i, Group& g, int g_index) {
  const Node& node = *nodes_[i];
  Note& note = notes_[i];
  // Several results of one isolated function may share its kernel.
  if (isolated_function(node) != isolated_function(*nodes_[g.members[0]])) return false;
  if (g.kind != Group::Kind::fused || g.members.size() >= kMaxMembers ||
      static_cast<int>((g.inlined | note.inlined).count()) > kMaxGroupNodes[target_ == Target::cuda])
    return false;
  const bool reduce = info(node.op).kind == OpKind::reduce;
  const Dims& space = space_of(node);

  auto row_dep = [&](int d, const IndexMap& map) {
    IndexMap want;
    return row_map(nodes_[d]->shape, g, &want) && static_cast<int>(map.axis.size()) == nodes_[d]->shape.size() &&
           same_map(map, want, nodes_[d]->shape);
  };
  auto is_row = [&](int d) { return notes_[d].outer || info(nodes_[d]->op).kind == OpKind::reduce; };

  if (space == g.space) {
    uint64_t axes = g.axes;
    Walk walk = g.walk;
    bool segmented = g.segmented;
    if (reduce) {
      const uint64_t units = non_unit_axes(space), mine = static_cast<const ReduceExtra&>(*node.extra).axes;
      if (g.walk == Walk::map) {
        axes = mine;
        const ReduceShape shape = reduce_shape(space, axes, target_);
        walk = shape.walk;
        segmented = shape.segments > 1;
      } else if ((mine & units) != (g.axes & units)) {
        return false;
      }
    }
    int stage = 0;
    note.expanded = note.values;
    const bool fits = visit(i, identity_map(space), space, [&](int d, const IndexMap& map) {
      if (notes_[d].group != g_index) return true;
      note.expanded += notes_[d].expanded;
      if (is_row(d)) {
        if (!row_dep(d, map)) return false;
        stage = std::max(stage, notes_[d].stage + 1);
        return true;
      }
      stage = std::max(stage, notes_[d].stage);
      return static_cast<int>(map.axis.size()) == nodes_[d]->shape.size() && is_identity(map, nodes_[d]->shape, space);
    });
    if (fits && g.values + note.expanded <= kMaxValues[1] && !(stage > 0 && (walk != Walk::rows || segmented)) && stage < kMaxStages) {
      g.axes = axes;
      g.walk = walk;
      g.segmented = segmented;
      g.stages = std::max(g.stages, stage + 1);
      g.inlined |= note.inlined;
      g.values += note.expanded;
      g.members.push_back(i);
      note.group = g_index;
      note.stage = stage;
      return true;
    }
  }
  // An op on a reduction's result, over the kept axes, is computed once per row, in the same kernel.
  if (reduce || g.walk == Walk::map || node.op == Op::store || node.op == Op::gather) return false;
  IndexMap start;
  if (!row_map(node.shape, g, &start)) return false;
  int stage = -1;
  note.expanded = note.values;
  const bool fits = visit(i, start, g.space, [&](int d, const IndexMap& map) {
    if (notes_[d].group != g_index) return true;
    note.expanded += notes_[d].expanded;
    if (!is_row(d) || !row_dep(d, map)) return false;
    stage = std::max(stage, notes_[d].stage);
    return true;
  });
  if (!fits || stage < 0 || g.values + note.expanded > kMaxValues[1]) return false;
  g.inlined |= note.inlined;
  g.values += note.expanded;
  g.members.push_back(i);
  note.group = g_index;
  note.stage = stage;
  note.outer = true;
  return true;
}

}  // namespace bc
