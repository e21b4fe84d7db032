#include "codegen/ir_text.h"

#include "core/error.h"

namespace bc {
namespace {

const char* walk_name(Walk w) { return w == Walk::map ? "map" : w == Walk::rows ? "rows" : "columns"; }

std::string list_of(std::span<const int16_t> values) {
  std::string out;
  for (const int16_t v : values) out += fmt::format(" %{}", v);
  return out;
}

std::string access_text(const Access& a) {
  const char* roles[] = {"load", "store", "coordinate", "gather"};
  const char* steps[] = {"step 0", "step 1", "any step"};
  std::string out = fmt::format("{} {}, {}", roles[static_cast<int>(a.role)], info(a.dtype).name, steps[static_cast<int>(a.step)]);
  if (a.outer) out += ", once a row";
  if (a.vector) out += ", vectors";
  if (a.still) out += ", shared by rows";
  if (a.still_outer) out += ", shared by outer rows";
  if (a.tiled) out += ", through a tile";
  return out;
}

std::string expression(const Ir& ir, const Value& v) {
  switch (v.kind) {
    case Value::Kind::load: return fmt::format("load @{}", v.access);
    case Value::Kind::coordinate: return fmt::format("coordinate @{}", v.access);
    case Value::Kind::constant: return fmt::format("constant {}", v.slot);
    case Value::Kind::gather: return fmt::format("gather @{}{}", v.access, list_of(v.more));
    case Value::Kind::inside: return fmt::format("inside{}", list_of(v.more));
    case Value::Kind::result: return "result";
    case Value::Kind::register_cached: return fmt::format("register %{}", v.args[0]);
    case Value::Kind::op: break;
  }
  if (v.op != Op::user) return info(v.op).name + list_of(std::span(v.args, info(v.op).nin));
  const std::string name = ir.users[static_cast<size_t>(v.slot)]->name;
  return v.args[1] == kNone ? name + list_of(v.more) : fmt::format("{} result {} of %{}", name, v.args[0], v.args[1]);
}

}  // namespace

std::string schedule_text(const Ir& ir) {
  const Schedule& s = ir.schedule;
  std::string out;
  const auto say = [&](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  if (ir.target == Target::cuda) {
    if (ir.walk == Walk::rows)
      say(s.group == 1 ? "a thread a row" : fmt::format("{} threads a row", s.group));
    else
      say(fmt::format("blocks of {} threads", kCudaBlock));
    if (s.vector > 1) say(fmt::format("vectors of {}", s.vector));
    if (ir.walk == Walk::rows && s.unroll > 1) say(fmt::format("{} vectors at a time", s.unroll));
    if (ir.walk == Walk::map && s.unroll > 1) say(fmt::format("{} vectors a thread", s.unroll));
    if (s.rows > 1) say(fmt::format("{} x {} rows together", s.outer_rows, s.rows));
    if (s.cached) say("rows kept in registers");
    if (s.tile) say(fmt::format("tiles of {0} x {0}", s.tile));
    if (s.wide) say("64-bit indices");
  }
  if (s.segmented) say("rows in segments");
  return out.empty() ? "plain" : out;
}

std::string ir_text(const Ir& ir) {
  std::string out =
      fmt::format("{} {}: {} kept and {} reduced axes, {} stage{}{}{}\n", walk_name(ir.walk), kernel_name(ir), ir.kept, ir.reduced,
                  ir.stages, ir.stages == 1 ? "" : "s", ir.in_place ? ", in place" : "", ir.checked ? ", indices are checked" : "");
  out += "  schedule: " + schedule_text(ir) + "\n";
  for (size_t k = 0; k < ir.accesses.size(); ++k) out += fmt::format("  @{}: {}\n", k, access_text(ir.accesses[k]));
  const auto marks = [&](int stage, bool outer, int16_t predicate) {
    std::string m;
    if (outer) m += ", row";
    if (ir.stages > 1) m += fmt::format(", stage {}", stage);
    if (predicate != kNone) m += fmt::format(", where %{}", predicate);
    return m;
  };
  for (size_t i = 0; i < ir.values.size(); ++i) {
    const Value& v = ir.values[i];
    out += fmt::format("  %{} = {} : {}{}\n", i, expression(ir, v), info(v.dtype).name, marks(v.stage, v.outer, v.predicate));
  }
  for (const Accumulator& a : ir.accumulators)
    out += fmt::format("  %{} = {} of %{}, in {} : {}\n", a.result,
                       a.user == kNone ? std::string(info(a.op).name) : ir.users[static_cast<size_t>(a.user)]->name, a.input,
                       info(a.loop).name, info(a.out).name);
  for (const Output& o : ir.outputs) out += fmt::format("  store @{} %{}{}\n", o.access, o.value, marks(o.stage, o.outer, o.predicate));
  return out;
}

}  // namespace bc
