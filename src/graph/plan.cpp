#include "graph/plan.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "codegen/verify.h"
#include "graph/fuse.h"
#include "graph/schedule.h"

namespace bc {
namespace {

// The size in bytes from which a result overwrites an input that is not needed any more. On the CPU it saves cache; on CUDA it only saves
// memory, since writing to other memory is not slower there.
constexpr int64_t kWorthTaking = int64_t{32} << 10, kWorthTakingCuda = int64_t{1} << 30;

/// Builds one group's kernel: the body over the group's space, then the parameters over collapsed axes.
class KernelBuilder {
 public:
  KernelBuilder(const Fusion& fusion, const std::vector<Ref<Node>>& nodes, const Slots& slots, Target target)
      : fusion_(fusion), nodes_(nodes), slots_(slots) {
    ir_.target = target;
  }

  void build(const Group& g, int g_index, Step* step) {
    group_ = &g;
    group_index_ = g_index;
    ir_.walk = g.walk;
    ir_.stages = g.stages;
    caches_in_registers_ =
        ir_.target == Target::cuda && g.walk == Walk::rows && g.stages > 1 && reduce_shape(g.space, g.axes, ir_.target).cached;
    if (g.kind == Group::Kind::store) {
      build_store(g, step);
    } else {
      for (int i : g.members) build_materialized(i, step);
    }
    finish(step);
  }

 private:
  struct Walked {  ///< an access before its axes are collapsed, with strides over the group's space
    int slot = -1;
    DType dtype;
    Access::Role role;
    bool outer;
    int64_t offset;  ///< in elements; of a coordinate: its first value
    Dims strides;
    bool operator==(const Walked&) const = default;
  };
  struct Memo {
    const Node* node;
    IndexMap map;
    int stage;
    bool outer;
    int16_t predicate;
    int16_t value;
  };
  struct Scope {
    int stage = 0;
    bool outer = false;
    int16_t predicate = kNone;
  };

  int16_t add(Value v) {
    BC_CHECK(ir_.values.size() < std::numeric_limits<int16_t>::max(), Runtime, "plan: a kernel has more than {} values",
             std::numeric_limits<int16_t>::max());
    ir_.values.push_back(std::move(v));
    return static_cast<int16_t>(ir_.values.size() - 1);
  }

  int16_t access(Walked w) {
    // The stride along an axis of extent 1 has no effect.
    for (int d = 0; d < w.strides.size(); ++d)
      if (group_->space[d] == 1) w.strides[d] = 0;
    for (size_t k = 0; k < walked_.size(); ++k)
      if (walked_[k] == w) return static_cast<int16_t>(k);
    walked_.push_back(std::move(w));
    return static_cast<int16_t>(walked_.size() - 1);
  }

  int16_t add_value(Value v, const Scope& scope) {
    v.stage = static_cast<uint8_t>(scope.stage);
    v.outer = scope.outer;
    return add(std::move(v));
  }

  /// Sets the offset and strides of `w` over the group's space, for an access with `strides` over the axes that `map` maps.
  void walk(const IndexMap& map, const Dims& strides, Walked* w) const {
    w->strides = Dims(group_->space.size(), 0);
    for (int c = 0; c < map.axis.size(); ++c) {
      w->offset += map.start[c] * strides[c];
      if (map.axis[c] >= 0) w->strides[static_cast<int>(map.axis[c])] += map.step[c] * strides[c];
    }
  }

  int16_t load(const Node& node, DType dtype, int64_t offset, const IndexMap& map, const Dims& strides, const Scope& scope) {
    Walked w{static_cast<int>(node.slot), dtype, Access::Role::load, scope.outer, offset, {}};
    walk(map, strides, &w);
    Value v;
    v.kind = Value::Kind::load;
    v.dtype = dtype;
    v.access = access(std::move(w));
    v.predicate = scope.predicate;
    for (size_t k = 0; k < ir_.values.size(); ++k) {
      const Value& o = ir_.values[k];
      if (o.kind != v.kind || o.access != v.access || o.predicate != v.predicate || o.outer != scope.outer) continue;
      if (o.stage == scope.stage) return static_cast<int16_t>(k);
      if (caches_in_registers_ && !scope.outer && v.predicate == kNone && o.stage < scope.stage)
        return cache_in_register(static_cast<int16_t>(k), scope);
    }
    return add_value(std::move(v), scope);
  }

  /// Reads a value of an earlier stage from the register that still holds it.
  int16_t cache_in_register(int16_t from, const Scope& scope) {
    for (size_t k = 0; k < ir_.values.size(); ++k)
      if (ir_.values[k].kind == Value::Kind::register_cached && ir_.values[k].args[0] == from && ir_.values[k].stage == scope.stage)
        return static_cast<int16_t>(k);
    Value v;
    v.kind = Value::Kind::register_cached;
    v.dtype = ir_.values[from].dtype;
    v.args[0] = from;
    return add_value(std::move(v), scope);
  }

  int16_t coordinate(int64_t start, const Dims& strides, const Scope& scope) {
    Value v;
    v.kind = Value::Kind::coordinate;
    v.dtype = DType::i64;
    v.access = access({-1, DType::i64, Access::Role::coordinate, scope.outer, start, strides});
    return add_value(std::move(v), scope);
  }

  /// The value of operand `edge` for a consumer of shape `space`, which is accessed through `map`.
  int16_t operand(const Operand& edge, const Dims& space, const IndexMap& map, const Scope& scope) {
    const Node& node = *edge.node;
    if (node.op == Op::constant) return constant(node, edge.dtype);
    const int j = fusion_.index(&node);
    const bool leaf = j < 0;
    const bool elsewhere = !leaf && fusion_.notes()[j].materialized && fusion_.notes()[j].group != group_index_;
    if (leaf || elsewhere) {
      const Dims strides = edge.identity ? contiguous_strides(space) : edge.strides;
      return load(node, edge.dtype, edge.offset, map, strides, scope);
    }
    IndexMap through;
    if (!edge_map(edge, space, &through)) raise(ErrorKind::Runtime, "planner: a view that no kernel can walk was inlined");
    return value(j, compose_maps(through, map), scope);
  }

  int16_t constant(const Node& node, DType dtype) {
    for (size_t k = 0; k < constants_.size(); ++k)
      if (constants_[k].first == static_cast<int>(node.slot) && ir_.constant_dtypes[k] == dtype) return constants_[k].second;
    Value v;
    v.kind = Value::Kind::constant;
    v.dtype = dtype;
    v.slot = static_cast<int16_t>(ir_.constants++);
    ir_.constant_dtypes.push_back(dtype);
    const int16_t at = add(std::move(v));
    constants_.emplace_back(static_cast<int>(node.slot), at);
    return at;
  }

  int16_t value(int i, const IndexMap& map, const Scope& scope) {
    const Node& node = *nodes_[i];
    const Note& note = fusion_.notes()[i];
    // The result of a reduction, and an op on it, exist once per row.
    if (note.materialized && note.group == group_index_)
      for (const auto& [materialized, v] : row_values_)
        if (materialized == i) return v;
    for (const Memo& m : memo_)
      if (m.node == &node && m.stage == scope.stage && m.outer == scope.outer && m.predicate == scope.predicate &&
          m.map.start == map.start && m.map.step == map.step && m.map.axis == map.axis)
        return m.value;
    if (caches_in_registers_ && !scope.outer && scope.predicate == kNone)
      for (const Memo& m : memo_)
        if (m.node == &node && m.stage < scope.stage && !m.outer && m.predicate == kNone && m.map.start == map.start &&
            m.map.step == map.step && m.map.axis == map.axis) {
          const Value& x = ir_.values[m.value];
          if (x.outer || x.kind == Value::Kind::constant || x.kind == Value::Kind::coordinate) break;
          return cache_in_register(x.kind == Value::Kind::register_cached ? x.args[0] : m.value, scope);
        }
    const int16_t v = compute(node, map, scope);
    memo_.push_back({&node, map, scope.stage, scope.outer, scope.predicate, v});
    return v;
  }

  int16_t compute(const Node& node, const IndexMap& map, const Scope& scope) {
    Value v;
    v.op = node.op;
    v.dtype = node.dtype;
    if (node.op == Op::iota) {
      Walked w{-1, DType::i64, Access::Role::coordinate, scope.outer, 0, {}};
      walk(map, contiguous_strides(node.shape), &w);
      return coordinate(w.offset, w.strides, scope);
    }
    if (node.op == Op::store) return choose(node, map, scope);
    if (node.op == Op::gather) {
      const GatherExtra& extra = static_cast<const GatherExtra&>(*node.extra);
      const Node& source = *node.in[0].node;
      Walked w{static_cast<int>(source.slot), node.in[0].dtype, Access::Role::gather, scope.outer, extra.offset, {}};
      walk(map, extra.base_strides, &w);
      v.kind = Value::Kind::gather;
      v.access = access(std::move(w));
      v.predicate = scope.predicate;
      // The (extent, stride) pairs of one gather must be adjacent: the indices are compiled first, because an index that is itself a gather
      // adds its own pairs.
      for (size_t k = 1; k < node.in.size(); ++k) v.more.push_back(operand(node.in[k], node.shape, map, scope));
      v.slot = static_cast<int16_t>(ir_.gather_slots);
      for (size_t k = 1; k < node.in.size(); ++k) {
        gathers_.push_back(extra.index_extents[static_cast<int>(k) - 1]);
        gathers_.push_back(extra.index_strides[static_cast<int>(k) - 1]);
        ++ir_.gather_slots;
      }
      ir_.checked = true;
      return add_value(std::move(v), scope);
    }
    bool rows = false, elements = false;
    int stage = 0;
    const bool user = node.op == Op::user;
    for (size_t k = 0; k < node.in.size(); ++k) {
      const int16_t at = operand(node.in[k], node.shape, map, scope);
      if (user) {
        v.more.push_back(at);
      } else {
        v.loop[k] = node.loop[k];
        v.args[k] = at;
      }
      const Value& arg = ir_.values[at];
      if (arg.kind == Value::Kind::constant) continue;
      (arg.outer ? rows : elements) = true;
      if (arg.outer) stage = std::max<int>(stage, arg.stage);
    }
    if (node.op == Op::cast && node.in.size() == 1 && ir_.values[v.args[0]].dtype == node.dtype) return v.args[0];
    Scope at = scope;
    // A value that depends on row results only is computed once per row, not once per element.
    if (!scope.outer && rows && !elements) {
      at.outer = true;
      at.stage = stage;
    }
    if (user) return user_value(node, std::move(v), at);
    return add_value(std::move(v), at);
  }

  int16_t user_slot(const Ref<UserOp>& op) {
    for (size_t k = 0; k < ir_.users.size(); ++k)
      if (ir_.users[k] == op) return static_cast<int16_t>(k);
    ir_.users.push_back(op);
    return static_cast<int16_t>(ir_.users.size() - 1);
  }

  /// One result of a user's function; results with the same arguments share one call.
  int16_t user_value(const Node& node, Value v, const Scope& scope) {
    const UserExtra& extra = static_cast<const UserExtra&>(*node.extra);
    v.slot = user_slot(extra.op);
    v.args[0] = static_cast<int16_t>(extra.output);
    v.predicate = scope.predicate;
    for (size_t k = 0; k < ir_.values.size(); ++k) {
      const Value& o = ir_.values[k];
      if (o.kind == v.kind && o.op == v.op && o.slot == v.slot && o.args[1] == kNone && o.more == v.more && o.stage == scope.stage &&
          o.outer == scope.outer && o.predicate == v.predicate) {
        v.args[1] = static_cast<int16_t>(k);
        break;
      }
    }
    return add_value(std::move(v), scope);
  }

  /// A store as a select: the new element inside the region, the old element elsewhere.
  int16_t choose(const Node& node, const IndexMap& map, const Scope& scope) {
    const StoreExtra& extra = static_cast<const StoreExtra&>(*node.extra);
    IndexMap region;
    axis_map(node.shape, extra.region, &region);
    const Dims& inner = extra.region.shape;
    Value test;
    test.kind = Value::Kind::inside;
    test.dtype = DType::b1;
    test.slot = static_cast<int16_t>(ir_.inside_slots);
    IndexMap into{Dims(inner.size(), 0), Dims(inner.size(), 0), Dims(inner.size(), -1)};
    for (int c = 0; c < node.shape.size(); ++c) {
      const int r = static_cast<int>(region.axis[c]);
      const int64_t count = r < 0 ? 1 : inner[r];
      int64_t lower = region.start[c], step = r < 0 ? 1 : region.step[c];
      if (step < 0) {
        lower += step * (count - 1);
        step = -step;
      }
      if (r >= 0) {
        // The value is inlined only for regions of step 1; otherwise stepped_value reads it from memory.
        into.start[r] = map.start[c] - region.start[c];
        into.step[r] = map.step[c];
        into.axis[r] = map.axis[c];
      }
      if (lower == 0 && step == 1 && count == node.shape[c]) continue;
      Dims strides(group_->space.size(), 0);
      if (map.axis[c] >= 0) strides[static_cast<int>(map.axis[c])] = map.step[c];
      test.more.push_back(coordinate(map.start[c], strides, scope));
      insides_.insert(insides_.end(), {lower, count, step});
      ++ir_.inside_slots;
    }
    const bool everywhere = test.more.empty();
    const int16_t inside = everywhere ? kNone : add_value(std::move(test), scope);
    const int16_t old = operand(node.in[0], node.shape, map, scope);
    Scope within = scope;
    if (!everywhere) within.predicate = scope.predicate == kNone ? inside : both(scope.predicate, inside, scope);
    const int16_t fresh = stepped(region) ? stepped_value(node, region, map, within) : operand(node.in[1], inner, into, within);
    if (everywhere) return fresh;
    Value v;
    v.op = Op::where;
    v.dtype = node.dtype;
    v.loop[0] = DType::b1;
    v.loop[1] = v.loop[2] = node.dtype;
    v.args[0] = inside;
    v.args[1] = fresh;
    v.args[2] = old;
    return add_value(std::move(v), scope);
  }

  static bool stepped(const IndexMap& region) {
    for (int c = 0; c < region.axis.size(); ++c)
      if (region.axis[c] >= 0 && region.step[c] != 1) return true;
    return false;
  }

  /// The value of a region that steps over elements: a gather from memory at (coordinate - start) / step.
  int16_t stepped_value(const Node& node, const IndexMap& region, const IndexMap& map, const Scope& scope) {
    const Operand& edge = node.in[1];
    const Layout& to = static_cast<const StoreExtra&>(*node.extra).region;
    if (edge.node->op == Op::constant) return constant(*edge.node, edge.dtype);
    const Dims strides = edge.identity ? contiguous_strides(to.shape) : edge.strides;
    Value v;
    v.kind = Value::Kind::gather;
    v.dtype = edge.dtype;
    v.predicate = scope.predicate;
    v.slot = static_cast<int16_t>(ir_.gather_slots);
    v.access = access(
        {static_cast<int>(edge.node->slot), edge.dtype, Access::Role::gather, scope.outer, edge.offset, Dims(group_->space.size(), 0)});
    for (int c = 0; c < region.axis.size(); ++c) {
      const int r = static_cast<int>(region.axis[c]);
      if (r < 0) continue;
      Dims along(group_->space.size(), 0);
      if (map.axis[c] >= 0) along[static_cast<int>(map.axis[c])] = map.step[c];
      const int16_t x = coordinate(map.start[c] - region.start[c], along, scope);
      v.more.push_back(divided(x, region.step[c], scope));
      gathers_.push_back(to.shape[r]);
      gathers_.push_back(strides[r]);
      ++ir_.gather_slots;
    }
    ir_.checked = true;
    return add_value(std::move(v), scope);
  }

  int16_t divided(int16_t x, int64_t step, const Scope& scope) {
    if (step == 1) return x;
    Value c;
    c.kind = Value::Kind::constant;
    c.dtype = DType::i64;
    c.slot = static_cast<int16_t>(ir_.constants++);
    ir_.constant_dtypes.push_back(DType::i64);
    const int16_t by = add(std::move(c));
    fixed_.emplace_back(ir_.constants - 1, step);
    Value v;
    v.op = Op::floor_divide;
    v.dtype = v.loop[0] = v.loop[1] = DType::i64;
    v.args[0] = x;
    v.args[1] = by;
    return add_value(std::move(v), scope);
  }

  int16_t both(int16_t a, int16_t b, const Scope& scope) {
    Value v;
    v.op = Op::logical_and;
    v.dtype = v.loop[0] = v.loop[1] = DType::b1;
    v.args[0] = a;
    v.args[1] = b;
    Scope at = scope;
    at.predicate = kNone;
    return add_value(std::move(v), at);
  }

  void output(int i, int16_t value, const Scope& scope, const IndexMap& node_axes, Step* step) {
    const Node& node = *nodes_[i];
    Walked w{static_cast<int>(node.slot), node.dtype, Access::Role::store, scope.outer, 0, {}};
    walk(node_axes, contiguous_strides(node.shape), &w);
    ir_.outputs.push_back({value, access(std::move(w)), static_cast<uint8_t>(scope.stage), scope.outer, kNone});
    step->allocate.push_back(static_cast<int>(node.slot));
  }

  void build_materialized(int i, Step* step) {
    const Node& node = *nodes_[i];
    const Note& note = fusion_.notes()[i];
    Scope scope{note.stage, note.outer, kNone};
    if (info(node.op).kind == OpKind::reduce) {
      const ReduceExtra& extra = static_cast<const ReduceExtra&>(*node.extra);
      Accumulator a;
      a.op = node.op;
      a.loop = node.loop[0];
      a.out = node.dtype;
      a.stage = static_cast<uint8_t>(note.stage);
      if (extra.join) a.user = user_slot(extra.join);
      int16_t input = operand(node.in[0], extra.shape, identity_map(extra.shape), scope);
      // An accumulator needs a value per element: a constant or a row's result is copied to each element.
      const Value& x = ir_.values[input];
      if (x.kind == Value::Kind::constant || x.outer || x.stage != note.stage) {
        Value copy;
        copy.op = Op::cast;
        copy.dtype = copy.loop[0] = x.dtype;
        copy.args[0] = input;
        input = add_value(std::move(copy), scope);
      }
      a.input = input;
      Value result;
      result.kind = Value::Kind::result;
      result.dtype = node.dtype;
      a.result = add_value(std::move(result), {note.stage, true, kNone});
      ir_.accumulators.push_back(a);
      ddofs_.push_back(extra.ddof);
      row_values_.emplace_back(i, a.result);
      if (note.stored) output(i, a.result, {note.stage, true, kNone}, kept_map(node.shape), step);
      return;
    }
    const IndexMap map = note.outer ? kept_map(node.shape) : identity_map(node.shape);
    int16_t v = compute(node, map, scope);
    if (note.outer) {
      const Value& x = ir_.values[v];
      if (!x.outer || x.kind == Value::Kind::constant || x.stage != note.stage) {
        Value copy;
        copy.op = Op::cast;
        copy.dtype = copy.loop[0] = x.dtype;
        copy.args[0] = v;
        v = add_value(std::move(copy), scope);
      }
      row_values_.emplace_back(i, v);
    } else {
      const Value& x = ir_.values[v];
      if (x.kind != Value::Kind::constant && x.outer) {
        Value copy;
        copy.op = Op::cast;
        copy.dtype = copy.loop[0] = x.dtype;
        copy.args[0] = v;
        v = add_value(std::move(copy), scope);
      }
      memo_.push_back({&node, map, scope.stage, scope.outer, kNone, v});
    }
    if (note.stored) output(i, v, scope, map, step);
  }

  /// The map of a node over the group's kept axes.
  IndexMap kept_map(const Dims& shape) const {
    IndexMap m{Dims(shape.size(), 0), Dims(shape.size(), 0), Dims(shape.size(), -1)};
    int next = 0;
    for (int d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      while (next < group_->space.size() && ((group_->axes >> next & 1) || group_->space[next] == 1)) ++next;
      m.step[d] = 1;
      m.axis[d] = next++;
    }
    return m;
  }

  void build_store(const Group& g, Step* step) {
    const Node& node = *nodes_[g.members[0]];
    const StoreExtra& extra = static_cast<const StoreExtra&>(*node.extra);
    ir_.in_place = true;
    const int16_t v = operand(node.in[1], extra.region.shape, identity_map(extra.region.shape), {});
    Walked w{static_cast<int>(node.slot), node.dtype, Access::Role::store, false, extra.region.offset, {}};
    walk(identity_map(extra.region.shape), extra.region.strides, &w);
    ir_.outputs.push_back({v, access(std::move(w)), 0, false, kNone});
    step->take.emplace_back(static_cast<int>(node.slot), static_cast<int>(node.in[0].node->slot));
  }

  /// The slot whose memory a map's only output may be written into: an input of the same size and type that is read at the place that is
  /// written and nowhere else; kNone where there is none. Later steps may still need its value; make_plan checks that.
  int donor() const {
    if (group_->walk != Walk::map || ir_.outputs.size() != 1 || ir_.checked || ir_.outputs[0].predicate != kNone) return kNone;
    const Walked& to = walked_[static_cast<size_t>(ir_.outputs[0].access)];
    if (to.slot >= static_cast<int>(slots_.nodes.size())) return kNone;  // a copy that the planner added
    const Node& node = *slots_.nodes[static_cast<size_t>(to.slot)];
    const int64_t worth = ir_.target == Target::cpu ? kWorthTaking : kWorthTakingCuda;
    if (node.size * itemsize(node.dtype) < worth || !fast_in_place(ir_)) return kNone;
    for (const Walked& from : walked_) {
      if (from.role != Access::Role::load || from.slot >= static_cast<int>(slots_.nodes.size())) continue;
      const Node& old = *slots_.nodes[static_cast<size_t>(from.slot)];
      if (old.op == Op::constant || old.dtype != node.dtype || old.size != node.size) continue;
      if ((old.pending() && old.held) || old.handles > 0 || (old.buffer && old.buffer->exposed)) continue;
      bool same = true;
      for (const Walked& w : walked_)
        same = same && (w.slot != from.slot ||
                        (w.role == Access::Role::load && w.dtype == to.dtype && w.offset == to.offset && w.strides == to.strides));
      if (same) return from.slot;
    }
    return kNone;
  }

  /// The accesses over the group's kept and reduced axes. The two sets of axes are collapsed separately.
  AccessWalks collapsed_walks() const {
    const Group& g = *group_;
    AccessWalks walks;
    walks.kept_strides.resize(walked_.size());
    walks.reduced_strides.resize(walked_.size());
    for (int d = 0; d < g.space.size(); ++d) {
      const bool inner = g.walk != Walk::map && (g.axes >> d & 1);
      (inner ? walks.reduced : walks.kept).push_back(g.space[d]);
      for (size_t k = 0; k < walked_.size(); ++k) (inner ? walks.reduced_strides : walks.kept_strides)[k].push_back(walked_[k].strides[d]);
    }
    const auto collapse_all = [](Dims* shape, std::vector<Dims>* strides) {
      std::vector<Dims*> list;
      for (Dims& s : *strides) list.push_back(&s);
      collapse(shape, list);
      if (shape->empty()) {
        shape->push_back(1);
        for (Dims& s : *strides) s.push_back(0);
      }
    };
    collapse_all(&walks.kept, &walks.kept_strides);
    if (g.walk != Walk::map) collapse_all(&walks.reduced, &walks.reduced_strides);
    for (const Walked& w : walked_) {
      walks.offsets.push_back(w.offset);
      walks.base_aligned.push_back(w.slot >= 0 && base_aligned(w.slot));
    }
    return walks;
  }

  /// Sets the accesses' steps along the skeleton's innermost axis.
  void set_steps(const AccessWalks& walks) {
    const bool rows = group_->walk == Walk::rows;
    const int inner = (rows ? ir_.reduced : ir_.kept) - 1;
    for (size_t k = 0; k < walked_.size(); ++k) {
      const int64_t s = (rows ? walks.reduced_strides : walks.kept_strides)[k][inner];
      // On the CPU the step of a coordinate is always a parameter.
      const bool knows_unit = walked_[k].role != Access::Role::coordinate || ir_.target == Target::cuda;
      ir_.accesses[k].step = s == 0 ? Access::Step::zero : s == 1 && knows_unit ? Access::Step::unit : Access::Step::any;
    }
  }

  void finish(Step* step) {
    const Group& g = *group_;
    AccessWalks walks = collapsed_walks();
    for (const Walked& w : walked_) {
      Access a;
      a.role = w.role;
      a.dtype = w.dtype;
      a.outer = w.outer;
      ir_.accesses.push_back(a);
    }
    choose_tiles(&ir_, &walks);
    choose_columns(ir_, &walks);
    const Dims &kept = walks.kept, &reduced = walks.reduced;
    ir_.kept = kept.size();
    ir_.reduced = reduced.size();
    set_steps(walks);
    const ReduceShape shape = g.walk == Walk::map ? ReduceShape() : reduce_shape(g.space, g.axes, ir_.target);
    choose_schedule(&ir_, walks, shape);
    const int64_t m = product(kept), n = product(reduced);

    const ParamLayout p = param_layout(ir_);
    step->parameters.assign(p.words, 0);
    auto& parameters = step->parameters;
    parameters[p.kept_size] = m;
    parameters[p.reduced_size] = n;
    for (int d = 0; d < ir_.kept; ++d) parameters[p.kept_shape + d] = kept[d];
    for (int d = 0; d < ir_.reduced; ++d) parameters[p.reduced_shape + d] = reduced[d];
    parameters[p.segments] = shape.segments;
    parameters[p.segment_length] = shape.segment_length;
    for (size_t k = 0; k < ddofs_.size(); ++k) std::memcpy(&parameters[p.ddof + static_cast<int>(k)], &ddofs_[k], 8);
    for (size_t k = 0; k < walked_.size(); ++k) {
      const Walked& w = walked_[k];
      const int at = p.access + p.access_words * static_cast<int>(k);
      if (w.role == Access::Role::coordinate)
        parameters[at] = w.offset;
      else
        step->patches.push_back({Step::Patch::Kind::address, at, w.slot, w.offset * itemsize(w.dtype), w.dtype});
      for (int d = 0; d < ir_.kept; ++d) parameters[at + 1 + d] = walks.kept_strides[k][d];
      for (int d = 0; d < ir_.reduced; ++d) parameters[at + 1 + ir_.kept + d] = walks.reduced_strides[k][d];
      if (w.role != Access::Role::coordinate) step->bytes += (w.outer ? m : m * n) * itemsize(w.dtype);
    }
    for (const auto& [slot, v] : constants_)
      step->patches.push_back({Step::Patch::Kind::constant, p.constant + 2 * ir_.values[v].slot, slot, 0, ir_.values[v].dtype});
    for (const auto& [slot, v] : fixed_) parameters[p.constant + 2 * slot] = v;
    std::copy(gathers_.begin(), gathers_.end(), parameters.begin() + p.gather);
    std::copy(insides_.begin(), insides_.end(), parameters.begin() + p.inside);
    step->elements = m * n;
    step->name = kernel_name(ir_);
    if (product(g.space) > 0 || (g.walk != Walk::map && m > 0)) {
      Launches launches = launches_of(ir_, walks, shape, step->name);
      step->launches = std::move(launches.list);
      step->tickets = launches.tickets;
    }
    if (ir_.schedule.segmented)
      for (const Accumulator& a : ir_.accumulators)
        step->partial_bytes += (static_cast<size_t>(state_bytes(a)) * m * shape.segments + 63) / 64 * 64;
    if (g.kind == Group::Kind::fused) step->donor = donor();
    step->key = structure_hash(ir_);
    step->ir = std::move(ir_);
  }

  bool base_aligned(int slot) const {
    const Node* node = slot < static_cast<int>(slots_.nodes.size()) ? slots_.nodes[slot].get() : nullptr;
    const Buffer* memory = node ? memory_of(*node) : nullptr;
    return !memory || reinterpret_cast<uintptr_t>(memory->ptr) % 16 == 0;
  }

  const Fusion& fusion_;
  const std::vector<Ref<Node>>& nodes_;
  const Slots& slots_;
  const Group* group_ = nullptr;
  int group_index_ = 0;
  bool caches_in_registers_ = false;  // elements stay in registers between stages
  Ir ir_;
  std::vector<Walked> walked_;
  std::vector<Memo> memo_;
  std::vector<std::pair<int, int16_t>> constants_;   // (slot of the constant node, value)
  std::vector<std::pair<int, int64_t>> fixed_;       // (constant number, value) of constants that the planner added
  std::vector<std::pair<int, int16_t>> row_values_;  // (node, value)
  std::vector<int64_t> gathers_, insides_;
  std::vector<double> ddofs_;
};

}  // namespace

Target target_of(Device device) { return backend(device).runs_grids() ? Target::cuda : Target::cpu; }

bool writes_in_place(const Node& node) {
  return node.op == Op::store || (node.op == Op::library && static_cast<const LibraryExtra&>(*node.extra).in_place);
}

const Buffer* memory_of(const Node& node) {
  const Node* at = &node;
  while (!at->buffer) {
    if (!writes_in_place(*at) || at->in.size() == 0) return nullptr;
    at = at->in[0].node.get();
  }
  return at->buffer.get();
}

Plan make_plan(const Slots& slots, int pending, Target target) {
  Plan plan;
  plan.pending = pending;
  plan.slots = static_cast<int>(slots.nodes.size());
  std::vector<Ref<Node>> nodes(slots.nodes.begin(), slots.nodes.begin() + pending);
  const Fusion fusion(nodes, target);
  for (const Ref<Node>& n : nodes)
    if (static_cast<int>(n->slot) >= pending || slots.nodes[n->slot].get() != n.get()) {
      n->slot = static_cast<uint32_t>(plan.slots + plan.temporaries.size());
      plan.temporaries.push_back({n->dtype, n->shape});
    }

  std::vector<int> last_use(plan.slots + plan.temporaries.size(), -1);
  for (size_t g = 0; g < fusion.groups().size(); ++g) {
    const Group& group = fusion.groups()[g];
    Step step;
    if (group.kind == Group::Kind::library) {
      const Node& node = *nodes[group.members[0]];
      step.kind = Step::Kind::library;
      step.library = static_cast<int>(node.slot);
      for (const Operand& o : node.in) step.inputs.push_back(static_cast<int>(o.node->slot));
      const LibraryExtra& extra = static_cast<const LibraryExtra&>(*node.extra);
      step.name = extra.name;
      step.elements = node.size;
      if (extra.in_place)
        step.take.emplace_back(static_cast<int>(node.slot), static_cast<int>(node.in[0].node->slot));
      else
        step.allocate.push_back(static_cast<int>(node.slot));
      for (const Operand& o : node.in) last_use[o.node->slot] = static_cast<int>(plan.steps.size());
      last_use[node.slot] = std::max(last_use[node.slot], static_cast<int>(plan.steps.size()));
    } else {
      KernelBuilder builder(fusion, nodes, slots, target);
      builder.build(group, static_cast<int>(g), &step);
      const char* label = nodes[group.members[0]]->label;
      for (int member : group.members)
        if (nodes[member]->label != label) label = nullptr;
      if (label) step.name = label;
      const auto cost = [&](int member) { return fusion.notes()[member].cost; };
      step.costliest = static_cast<int>(nodes[std::ranges::max(group.members, {}, cost)]->slot);
      for (const Step::Patch& patch : step.patches)
        if (patch.kind == Step::Patch::Kind::address) last_use[patch.slot] = static_cast<int>(plan.steps.size());
      for (const auto& [slot, from] : step.take) last_use[from] = static_cast<int>(plan.steps.size());
    }
    plan.steps.push_back(std::move(step));
  }
  for (size_t i = 0; i < plan.steps.size(); ++i)
    for (const auto& [slot, from] : plan.steps[i].take) plan.steps[i].take_copies |= last_use[from] > static_cast<int>(i);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    Step& step = plan.steps[i];
    if (step.donor < 0) continue;
    if (last_use[step.donor] > static_cast<int>(i)) {
      step.donor = kNone;
      continue;
    }
    step.ir.in_place = true;
    step.key = structure_hash(step.ir);
  }
  for (const Ref<Node>& n : nodes)
    if (last_use[n->slot] >= 0 && !n->held) plan.steps[last_use[n->slot]].release.push_back(static_cast<int>(n->slot));
  if constexpr (kVerifiesPlans)
    for (const Step& step : plan.steps)
      if (step.kind == Step::Kind::kernel) verify(step.ir, "planning");
  return plan;
}

Hash128 tape_hash(size_t pending, Slots* slots) {
  for (size_t i = 0; i < pending; ++i) slots->nodes[i]->slot = static_cast<uint32_t>(i);
  Hasher h(pending);
  auto dims = [&](const Dims& d) { h.add(d.span()); };
  std::vector<uint32_t> constants;
  // Equal constants have one slot, whether they are one node or not: which of them are, depends on what was recorded before
  // (make_constant), and a loop with a new number in each turn would never find its plan.
  auto place_constant = [&](Node* node) {
    constexpr size_t kLooked = 64;
    for (size_t k = constants.size(); k > 0 && constants.size() - k < kLooked; --k) {
      const Node& other = *slots->nodes[constants[k - 1]];
      if (!(other.value == node->value) || other.dtype != node->dtype) continue;
      node->slot = constants[k - 1];
      return true;
    }
    constants.push_back(static_cast<uint32_t>(slots->nodes.size()));
    return false;
  };
  auto place = [&](const Ref<Node>& node) {
    const bool known = node->slot < slots->nodes.size() && slots->nodes[node->slot] == node;
    if (!known && !(node->op == Op::constant && place_constant(node.get()))) {
      node->slot = static_cast<uint32_t>(slots->nodes.size());
      slots->nodes.push_back(node);
      h.add(static_cast<uint64_t>(node->op) | uint64_t(node->dtype) << 16);
      if (node->buffer && node->buffer->exposed) {
        // Two imports of one array are different buffers; the bytes that they share decide the order of reads and writes.
        for (size_t i = pending; i + 1 < slots->nodes.size(); ++i) {
          const Buffer *a = slots->nodes[i]->buffer.get(), *b = node->buffer.get();
          if (a && a->exposed && share_memory(*a, *b))
            h.add(i).add(static_cast<uint64_t>(static_cast<const char*>(b->ptr) - static_cast<const char*>(a->ptr)));
        }
      }
      if (node->buffer)
        h.add(uint64_t(node->buffer->exposed) | uint64_t(reinterpret_cast<uintptr_t>(node->buffer->ptr) % 16 == 0) << 1 |
              uint64_t(node->handles > 0) << 2)
            .add(static_cast<uint64_t>(node->size));
    }
    h.add(uint64_t{node->slot} | uint64_t{1} << 40);
  };
  for (size_t i = 0; i < pending; ++i) {
    const Node* node = slots->nodes[i].get();
    h.add(static_cast<uint64_t>(node->op) | uint64_t(node->dtype) << 16 | uint64_t(node->loop[0]) << 24 | uint64_t(node->loop[1]) << 32 |
          uint64_t(node->loop[2]) << 40 | uint64_t(node->held) << 48 | uint64_t(node->handles > 0) << 49 | uint64_t(node->in.size()) << 56);
    if (node->label) h.add(reinterpret_cast<uintptr_t>(node->label));
    dims(node->shape);
    for (const Operand& o : node->in) {
      place(o.node);
      h.add(uint64_t(o.dtype) | uint64_t(o.identity) << 8);
      if (o.identity) continue;
      h.add(static_cast<uint64_t>(o.offset));
      dims(o.strides);
    }
    if (!node->extra) continue;
    if (const auto* r = dynamic_cast<const ReduceExtra*>(node->extra.get())) {
      dims(r->shape);
      h.add(r->axes);
      uint64_t bits;
      std::memcpy(&bits, &r->ddof, 8);
      h.add(bits);
      if (r->join) h.add(r->join->id);
    } else if (const auto* s = dynamic_cast<const StoreExtra*>(node->extra.get())) {
      dims(s->region.shape);
      dims(s->region.strides);
      h.add(static_cast<uint64_t>(s->region.offset));
    } else if (const auto* g = dynamic_cast<const GatherExtra*>(node->extra.get())) {
      h.add(static_cast<uint64_t>(g->offset));
      dims(g->base_strides);
      dims(g->index_extents);
      dims(g->index_strides);
    } else if (const auto* u = dynamic_cast<const UserExtra*>(node->extra.get())) {
      h.add(u->op->id).add(static_cast<uint64_t>(u->output));
    } else if (const auto* l = dynamic_cast<const LibraryExtra*>(node->extra.get())) {
      h.add(std::string_view(l->name)).add(l->key).add(uint64_t(l->in_place));
    }
  }
  return h.finish();
}

}  // namespace bc
