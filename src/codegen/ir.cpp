#include "codegen/ir.h"

#include <algorithm>

namespace bc {

ParamLayout param_layout(const Ir& ir) {
  ParamLayout p{};
  int at = 0;
  auto take = [&](int words) {
    const int first = at;
    at += words;
    return first;
  };
  p.kept_size = take(1);
  p.reduced_size = take(1);
  p.kept_shape = take(ir.kept);
  p.reduced_shape = take(ir.reduced);
  p.segments = take(1);
  p.segment_length = take(1);
  p.partials = take(1);
  p.tickets = take(1);
  p.error = take(1);
  p.ddof = take(static_cast<int>(ir.accumulators.size()));
  p.access_words = 1 + ir.kept + ir.reduced;
  p.access = take(p.access_words * static_cast<int>(ir.accesses.size()));
  p.constant = take(2 * ir.constants);
  p.gather = take(2 * ir.gather_slots);
  p.inside = take(3 * ir.inside_slots);
  p.words = at;
  return p;
}

Hash128 structure_hash(const Ir& ir) {
  Hasher h(static_cast<uint64_t>(ir.target) + 1);
  h.add(static_cast<uint64_t>(ir.walk) | uint64_t(ir.kept) << 8 | uint64_t(ir.reduced) << 16 | uint64_t(ir.stages) << 24 |
        uint64_t(ir.schedule.wide) << 32 | uint64_t(ir.in_place) << 33 | uint64_t(ir.schedule.segmented) << 34 |
        uint64_t(ir.checked) << 35 | uint64_t(ir.schedule.cached) << 36 | uint64_t(ir.schedule.vector) << 40 |
        uint64_t(ir.schedule.unroll) << 48 | uint64_t(ir.schedule.tile) << 56);
  h.add(uint64_t(ir.schedule.group) | uint64_t(ir.constants) << 16 | uint64_t(ir.gather_slots) << 32 | uint64_t(ir.inside_slots) << 48);
  h.add(uint64_t(ir.accesses.size()) | uint64_t(ir.accumulators.size()) << 20 | uint64_t(ir.outputs.size()) << 40 |
        uint64_t(ir.schedule.rows) << 56 | uint64_t(ir.schedule.outer_rows) << 60);
  for (DType t : ir.constant_dtypes) h.add(static_cast<uint64_t>(t));
  for (const Access& a : ir.accesses)
    h.add(static_cast<uint64_t>(a.role) | uint64_t(a.dtype) << 8 | uint64_t(a.step) << 16 | uint64_t(a.outer) << 24 |
          uint64_t(a.vector) << 25 | uint64_t(a.tiled) << 26 | uint64_t(a.still) << 27 | uint64_t(a.still_outer) << 28);
  h.add(ir.values.size());
  for (const Value& v : ir.values) {
    h.add(static_cast<uint64_t>(v.kind) | uint64_t(v.op) << 8 | uint64_t(v.dtype) << 24 | uint64_t(v.loop[0]) << 32 |
          uint64_t(v.loop[1]) << 40 | uint64_t(v.loop[2]) << 48 | uint64_t(v.stage) << 56 | uint64_t(v.outer) << 63);
    h.add(uint64_t(uint16_t(v.args[0])) | uint64_t(uint16_t(v.args[1])) << 16 | uint64_t(uint16_t(v.args[2])) << 32 |
          uint64_t(uint16_t(v.access)) << 48);
    h.add(uint64_t(uint16_t(v.slot)) | uint64_t(uint16_t(v.predicate)) << 16 | uint64_t(v.more.size()) << 32);
    for (int16_t m : v.more) h.add(uint64_t(uint16_t(m)));
  }
  for (const Ref<UserOp>& u : ir.users) h.add(u->id);
  for (const Accumulator& a : ir.accumulators)
    h.add(uint64_t(a.op) | uint64_t(a.loop) << 16 | uint64_t(a.out) << 24 | uint64_t(uint16_t(a.input)) << 32 |
          uint64_t(uint16_t(a.result)) << 48)
        .add(uint64_t(a.stage) | uint64_t(uint16_t(a.user)) << 8);
  for (const Output& o : ir.outputs)
    h.add(uint64_t(uint16_t(o.value)) | uint64_t(uint16_t(o.access)) << 16 | uint64_t(o.stage) << 32 | uint64_t(o.outer) << 40 |
          uint64_t(uint16_t(o.predicate)) << 48);
  return h.finish();
}

std::string kernel_name(const Ir& ir) {
  std::string name = ir.walk == Walk::map ? "map" : ir.walk == Walk::rows ? "rows" : "columns";
  int shown = 0, hidden = 0;
  auto say = [&](const std::string& word) {
    if (shown++ < 6)
      name += "_" + word;
    else
      ++hidden;
  };
  for (const Value& v : ir.values) {
    if (v.kind != Value::Kind::op || v.op == Op::cast) continue;
    if (v.op != Op::user)
      say(info(v.op).name);
    else if (v.args[1] == kNone)
      say(ir.users[v.slot]->name);
  }
  for (const Accumulator& a : ir.accumulators) say(a.user == kNone ? info(a.op).name : ir.users[a.user]->name);
  if (hidden) name += "_" + std::to_string(hidden) + "_more";
  return name;
}

bool Ir::may_leave(int stage) const {
  if (checked) return false;
  for (const Output& o : outputs)
    if (o.stage == stage && !o.outer) return false;
  bool some = false;
  for (const Accumulator& a : accumulators) {
    if (a.stage != stage) continue;
    if (a.user != kNone || !may_be_known_early(info(a.op), a.loop)) return false;
    some = true;
  }
  return some;
}

bool Ir::direct(int value, DType dtype, int stage) const {
  const Value& x = values[value];
  return (reduced == 1 || walk == Walk::columns) && x.kind == Value::Kind::load && x.predicate == kNone && x.dtype == dtype &&
         accesses[x.access].step == Access::Step::unit && !accesses[x.access].outer && x.stage == stage;
}

bool Ir::adds_products(int stage) const {
  const Accumulator* only = nullptr;
  for (const Accumulator& a : accumulators) {
    if (a.stage != stage) continue;
    if (only) return false;
    only = &a;
  }
  if (!only || only->op != Op::reduce_sum || (only->loop != DType::f32 && only->loop != DType::f64) || walk != Walk::rows) return false;
  for (const Output& o : outputs)
    if (o.stage == stage && !o.outer) return false;
  const Value& x = values[only->input];
  return x.kind == Value::Kind::op && x.op == Op::multiply && x.dtype == only->loop && x.stage == stage && !x.outer &&
         direct(x.args[0], x.dtype, stage) && direct(x.args[1], x.dtype, stage);
}

int64_t column_tile(const Ir& ir) {
  int64_t bytes = 4;
  for (const Accumulator& a : ir.accumulators) {
    if (!ir.direct(a)) return 512;
    bytes = std::max<int64_t>(bytes, state_bytes(a));
  }
  return std::max<int64_t>(512, 16384 / bytes / 256 * 256);
}

int state_bytes(const Accumulator& a) { return a.user != kNone ? itemsize(a.loop) : state_bytes(info(a.op).state, a.loop); }

}  // namespace bc
