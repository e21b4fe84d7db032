#include "codegen/verify.h"

#include "core/error.h"

namespace bc {
namespace {

class Verifier {
 public:
  Verifier(const Ir& ir, const char* phase) : ir_(ir), phase_(phase) {}

  void run() const {
    space();
    schedule();
    for (size_t i = 0; i < ir_.values.size(); ++i) value(static_cast<int16_t>(i));
    for (const Accumulator& a : ir_.accumulators) accumulator(a);
    for (const Output& o : ir_.outputs) output(o);
  }

 private:
  template <class... A>
  void require(bool holds, fmt::format_string<A...> rule, A&&... of) const {
    if (holds) return;
    raise(ErrorKind::Runtime, "IR of {} after {}: {}", kernel_name(ir_), phase_, fmt::format(rule, std::forward<A>(of)...));
  }

  void space() const {
    const bool map = ir_.walk == Walk::map;
    require(ir_.kept >= 1 && ir_.reduced >= (map ? 0 : 1) && (!map || ir_.reduced <= 1), "{} kept and {} reduced axes", ir_.kept,
            ir_.reduced);
    require(map == ir_.accumulators.empty(), "{} accumulators", ir_.accumulators.size());
    require(ir_.stages >= 1 && (ir_.stages == 1 || ir_.walk == Walk::rows), "{} stages", ir_.stages);
    require(!ir_.outputs.empty(), "no output");
    require(ir_.constant_dtypes.size() == static_cast<size_t>(ir_.constants), "{} dtypes of {} constants", ir_.constant_dtypes.size(),
            ir_.constants);
  }

  void schedule() const {
    const Schedule& s = ir_.schedule;
    const bool rows = ir_.walk == Walk::rows, cuda = ir_.target == Target::cuda;
    require(cuda || (s.vector == 1 && s.rows == 1 && s.outer_rows == 1 && !s.cached && !s.tile && !s.wide),
            "a schedule for CUDA on the CPU");
    require(s.vector >= 1 && s.group >= 1 && s.unroll >= 1 && s.rows >= 1 && s.outer_rows >= 1, "a factor of the schedule is not positive");
    require((s.group & (s.group - 1)) == 0 && s.group <= 1024, "groups of {} threads", s.group);
    require(rows || (s.rows == 1 && s.outer_rows == 1 && !s.cached), "a schedule for rows");
    require(ir_.walk == Walk::map || !s.tile, "tiles in a reduction");
    require(ir_.walk != Walk::map || !s.segmented, "segments in a map");
    require(s.outer_rows == 1 || s.rows > 1, "a square of rows without neighbouring rows");
    require(!s.cached || ir_.stages > 1, "values that one stage keeps for none");
    for (size_t k = 0; k < ir_.accesses.size(); ++k) {
      const Access& a = ir_.accesses[k];
      require(!a.vector || s.vector > 1, "access {}: vectors of one element", k);
      require(!a.still || s.rows > 1, "access {}: shared by one row", k);
      require(!a.still_outer || s.outer_rows > 1 || s.rows > 1, "access {}: shared by one row", k);
      require(!a.tiled || s.tile, "access {}: tiled in no tile", k);
    }
  }

  const Access& access(int16_t at, Access::Role role, int16_t user) const {
    require(at >= 0 && static_cast<size_t>(at) < ir_.accesses.size(), "%{}: access {} of {}", user, at, ir_.accesses.size());
    const Access& a = ir_.accesses[static_cast<size_t>(at)];
    require(a.role == role, "%{}: access {} has another role", user, at);
    return a;
  }

  /// Whether value `at` is at hand where `user` is computed, at `stage` and for each element or once a row (`outer`).
  void operand(int16_t at, int16_t user, int stage, bool outer) const {
    require(at >= 0 && at < user, "%{}: operand %{} does not stand before it", user, at);
    const Value& x = ir_.values[static_cast<size_t>(at)];
    if (x.kind == Value::Kind::constant) return;
    require(x.stage <= stage, "%{}: operand %{} comes with stage {}, after stage {}", user, at, x.stage, stage);
    if (x.stage == stage)
      require(x.outer == outer, "%{}: operand %{} is {}", user, at, x.outer ? "not known before the row's end" : "one of each element");
    else
      require(x.outer, "%{}: operand %{} is an element's, of stage {}", user, at, x.stage);
  }

  void value(int16_t i) const {
    const Value& v = ir_.values[static_cast<size_t>(i)];
    const auto uses = [&](int16_t at) { operand(at, i, v.stage, v.outer); };
    require(v.stage < ir_.stages, "%{}: stage {} of {}", i, v.stage, ir_.stages);
    require(!v.outer || ir_.walk != Walk::map, "%{}: once a row in a map", i);
    if (v.predicate != kNone) {
      uses(v.predicate);
      require(ir_.values[static_cast<size_t>(v.predicate)].dtype == DType::b1, "%{}: its predicate is no truth value", i);
    }
    switch (v.kind) {
      case Value::Kind::load:
        require(access(v.access, Access::Role::load, i).outer == v.outer, "%{}: its access walks otherwise", i);
        break;
      case Value::Kind::coordinate: access(v.access, Access::Role::coordinate, i); break;
      case Value::Kind::constant:
        require(v.slot >= 0 && v.slot < ir_.constants && ir_.constant_dtypes[static_cast<size_t>(v.slot)] == v.dtype,
                "%{}: constant {} of {}", i, v.slot, ir_.constants);
        break;
      case Value::Kind::gather:
        access(v.access, Access::Role::gather, i);
        require(v.slot >= 0 && static_cast<size_t>(v.slot) + v.more.size() <= static_cast<size_t>(ir_.gather_slots), "%{}: its extents", i);
        for (const int16_t m : v.more) uses(m);
        break;
      case Value::Kind::inside:
        require(v.slot >= 0 && static_cast<size_t>(v.slot) + v.more.size() <= static_cast<size_t>(ir_.inside_slots), "%{}: its bounds", i);
        for (const int16_t m : v.more) uses(m);
        break;
      case Value::Kind::result: {
        int writers = 0;
        for (const Accumulator& a : ir_.accumulators) writers += a.result == i;
        require(writers == 1 && v.outer, "%{}: the result of {} accumulators", i, writers);
        break;
      }
      case Value::Kind::register_cached: {
        require(v.args[0] >= 0 && v.args[0] < i, "%{}: operand %{} does not stand before it", i, v.args[0]);
        const Value& x = ir_.values[static_cast<size_t>(v.args[0])];
        require(ir_.schedule.cached && !v.outer && !x.outer && x.stage < v.stage, "%{}: %{} is not in a register", i, v.args[0]);
        break;
      }
      case Value::Kind::op: op(v, i); break;
    }
  }

  void op(const Value& v, int16_t i) const {
    const auto uses = [&](int16_t at) { operand(at, i, v.stage, v.outer); };
    if (v.op != Op::user) {
      for (int k = 0; k < info(v.op).nin; ++k) uses(v.args[k]);
      return;
    }
    require(v.slot >= 0 && static_cast<size_t>(v.slot) < ir_.users.size(), "%{}: user's function {} of {}", i, v.slot, ir_.users.size());
    if (v.args[1] != kNone) uses(v.args[1]);
    for (const int16_t m : v.more) uses(m);
  }

  void accumulator(const Accumulator& a) const {
    require(a.input >= 0 && static_cast<size_t>(a.input) < ir_.values.size(), "accumulator of %{}", a.input);
    const Value& x = ir_.values[static_cast<size_t>(a.input)];
    require(x.kind != Value::Kind::constant && !x.outer && x.stage == a.stage, "the input %{} of an accumulator is no element of its stage",
            a.input);
    require(a.result >= 0 && static_cast<size_t>(a.result) < ir_.values.size(), "accumulator into %{}", a.result);
    const Value& r = ir_.values[static_cast<size_t>(a.result)];
    require(r.kind == Value::Kind::result && r.stage == a.stage, "an accumulator writes %{}, which is not its result", a.result);
    require(a.user == kNone || static_cast<size_t>(a.user) < ir_.users.size(), "accumulator: user's function {} of {}", a.user,
            ir_.users.size());
  }

  void output(const Output& o) const {
    require(o.value >= 0 && static_cast<size_t>(o.value) < ir_.values.size(), "output of %{}", o.value);
    require(o.stage < ir_.stages, "output of %{}: stage {} of {}", o.value, o.stage, ir_.stages);
    require(access(o.access, Access::Role::store, o.value).outer == o.outer, "output of %{}: its access walks otherwise", o.value);
    const int16_t end = static_cast<int16_t>(ir_.values.size());
    if (o.predicate != kNone) operand(o.predicate, end, o.stage, o.outer);
    operand(o.value, end, o.stage, o.outer);
  }

  const Ir& ir_;
  const char* phase_;
};

}  // namespace

void verify(const Ir& ir, const char* phase) { Verifier(ir, phase).run(); }

}  // namespace bc
