// The CPU skeletons. Entry 0 runs the items [begin, end): elements of a one-axis map, rows of any other map, (row, segment) pairs of a row
// reduction, (outer, column tile, segment) triples of a column reduction. If rows are segmented, entry 1 joins their partial results.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/body.h"

namespace bc {
namespace {

constexpr int kGatherStrip = 256;  // gather offsets that are computed before the elements are read
constexpr int kStrip = 1024;       // elements that are recomputed together when a fast form gets an argument outside its range

/// Ops whose instructions form one long dependency chain, so that a single vector of elements mostly waits for its own results.
bool is_chain(const Value& x) {
  if (x.kind != Value::Kind::op || (x.loop[0] != DType::f32 && x.loop[0] != DType::f64)) return false;
  switch (x.op) {
    case Op::power:
    case Op::float_power:
    case Op::arcsinh:
    case Op::arccosh:
    case Op::arctanh:
    case Op::arctan2:
    case Op::logaddexp:
    case Op::logaddexp2: return true;
    default: return false;
  }
}

class CpuPrinter {
 public:
  explicit CpuPrinter(const Ir& ir) : ir_(ir), p_(param_layout(ir)), body_(ir), vectorize_(vectorize()) {
    // An index out of range sets a local variable, which keeps stores of the error word out of the loops.
    body_.parameter = [this](int word, const char* type) {
      return ir_.checked && word == p_.error ? std::string("&bad_index") : fmt::format("load_word<{}>(p->w + {})", type, word);
    };
    body_.place = [this](int access) { return element(access, index_); };
  }

  KernelSource print() {
    KernelSource out;
    const std::string name = kernel_name(ir_);
    out.entries.push_back(name);
    std::string& t = out.text;
    out.contract = ir_.contract();
    t += user_functions(ir_) + "namespace bc {\n" + params_struct(ir_);
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) t += reduction_struct(ir_, static_cast<int>(k));
    t += fmt::format("extern \"C\" void {}(const P* __restrict__ p, i64 begin, i64 end) {{\n", name) + body_.constants();
    if (ir_.checked) t += "u32 bad_index = 0;\n";
    t += ir_.walk == Walk::map ? map() : ir_.walk == Walk::rows ? rows() : columns();
    if (ir_.checked) t += fmt::format("if (bad_index != 0) *load_word<u32*>(p->w + {}) = 1;\n", p_.error);
    t += "}\n";
    if (ir_.schedule.segmented) {
      out.entries.push_back(name + "_join");
      t += fmt::format("extern \"C\" void {}_join(const P* __restrict__ p, i64 begin, i64 end) {{\n{}{}{}{}}}\n", name,
                       ir_.checked ? "u32 bad_index = 0;\n" : "", body_.constants(), join(),
                       ir_.checked ? fmt::format("if (bad_index != 0) *load_word<u32*>(p->w + {}) = 1;\n", p_.error) : "");
    }
    t += "}\n";
    return out;
  }

  /// The pragma of loops. Long bodies keep the processor busy with one vector at a time, and compile 10 % faster that way.
  std::string vectorize() const {
    if (!only_scalars(ir_)) return "BC_VECTORIZE_CHECKED\n";
    int fast = 0;
    for (int stage = 0; stage < ir_.stages; ++stage) fast += body_.count_fast(stage, false);
    if (fast == 0 && mostly_strided()) return "BC_ONE_BY_ONE\n";
    return fast > 0 ? "BC_VECTORIZE_LONG\n" : "BC_VECTORIZE\n";
  }

  /// Tells whether a map does little but access elements that do not lie side by side: instructions that gather and scatter vectors take
  /// longer than loads and stores one by one.
  bool mostly_strided() const {
    if (ir_.walk != Walk::map) return false;
    const auto strided = std::count_if(ir_.accesses.begin(), ir_.accesses.end(), [](const Access& a) {
      return a.step == Access::Step::any && (a.role == Access::Role::load || a.role == Access::Role::store);
    });
    const auto ops =
        std::count_if(ir_.values.begin(), ir_.values.end(), [](const Value& x) { return x.kind == Value::Kind::op && !x.outer; });
    return strided > 0 && ops < strided;
  }

  /// Tells whether every value is a C++ scalar. A value of class type may stay in a stack slot, for which BC_VECTORIZE would wrongly assert
  /// that iterations are independent.
  static bool only_scalars(const Ir& ir) {
    const auto scalar = [](DType t) { return !is_complex(t) && !is_small_float(t); };
    // A user's function may also keep values in memory.
    for (const Ref<UserOp>& u : ir.users)
      if (!u->simple) return false;
    for (const Value& x : ir.values)
      if (!scalar(x.dtype) || (x.kind == Value::Kind::op && !(scalar(x.loop[0]) && scalar(x.loop[1])))) return false;
    for (const Accumulator& a : ir.accumulators)
      if (!scalar(a.loop) || info(a.op).state == ReduceState::place || info(a.op).state == ReduceState::moments) return false;
    return true;
  }

 private:
  std::string word(int at) const { return fmt::format("p->w[{}]", at); }
  int access_word(int access) const { return p_.access + p_.access_words * access; }

  /// The text of an access at inner index `index` of its pointer (or first coordinate).
  std::string element(int access, const std::string& index) const {
    const Access& a = ir_.accesses[access];
    const bool plain = a.outer && ir_.walk != Walk::map && !columns_end_;
    if (a.role == Access::Role::coordinate)
      return plain || a.step == Access::Step::zero ? fmt::format("q{}", access)
                                                   : fmt::format("(q{} + i64({}) * t{})", access, index, access);
    if (plain || a.step == Access::Step::zero) return fmt::format("q{}[0]", access);
    if (a.step == Access::Step::unit) return fmt::format("q{}[{}]", access, index);
    return fmt::format("q{}[i64({}) * t{}]", access, index, access);
  }

  /// Splits a linear index over axes [first, first + count) of a shape into coordinates PREFIX0, PREFIX1 …
  std::string coordinates(const std::string& linear, const char* prefix, int shape_word, int count) const {
    std::string out;
    if (count == 0) return out;
    out += fmt::format("i64 {}_rest = {};\n", prefix, linear);
    for (int d = count - 1; d > 0; --d)
      out += fmt::format("const i64 {0}{1} = {0}_rest % {2}; {0}_rest /= {2};\n", prefix, d, word(shape_word + d));
    out += fmt::format("const i64 {0}0 = {0}_rest; (void){0}0;\n", prefix);
    return out;
  }

  /// Declares the pointer `TO` of an access at kept coordinates x and reduced coordinates y (as many as given), and its inner step.
  std::string pointer(int access, int kept, int reduced, const std::string& extra = "") const {
    const Access& a = ir_.accesses[access];
    const int w = access_word(access);
    std::string sum = extra;
    for (int d = 0; d < kept; ++d) sum += fmt::format(" + x{} * {}", d, word(w + 1 + d));
    if (!a.outer)
      for (int d = 0; d < reduced; ++d) sum += fmt::format(" + y{} * {}", d, word(w + 1 + ir_.kept + d));
    if (a.role == Access::Role::coordinate) return fmt::format("const i64 q{} = {}{};\n", access, word(w), sum);
    const char* type = info(a.dtype).c_name;
    const char* qualifier = a.role == Access::Role::store ? "" : "const ";
    return fmt::format("{1}{2}* {4} q{0} = load_word<{1}{2}*>(p->w + {3}){5};\n", access, qualifier, type, w,
                       ir_.in_place ? "" : "__restrict__", sum);
  }
  std::string step(int access, int axis) const {
    return ir_.accesses[access].step == Access::Step::any
               ? fmt::format("const i64 t{} = {};\n", access, word(access_word(access) + 1 + axis))
               : "";
  }

  /// Tells whether a stage has exactly one long chain per element. Several interleaved chains would need too many registers.
  bool has_one_chain(int stage) const {
    int chains = 0;
    for (const Value& x : ir_.values) chains += x.stage == stage && !x.outer && is_chain(x);
    return chains == 1 && !vectorize_.empty() && only_scalars(ir_);
  }

  /// The inner loop over index `j` in [0, count): values, stores into outputs and `sink` (statements that use the computed values).
  std::string loop(int stage, const std::string& count, const std::string& sink) {
    index_ = "j";
    const bool fast = body_.has_fast(stage, false);
    auto once = [&](bool use_fast) {
      body_.fast = use_fast;
      const std::string before = body_.values(stage, false, BodyPrinter::Part::invariant);
      const std::string body = body_.values(stage, false, BodyPrinter::Part::varying) + body_.outputs(stage, false) + sink;
      std::string turn;
      if (use_fast == fast && has_one_chain(stage))
        // Four vectors at a time, and the remainder also as vectors: a single element would take as long as a vector of eight.
        turn = fmt::format(
            "{{\nconst i64 whole = {0} & -i64(64);\nBC_VECTORIZE_FOUR\nfor (i64 j = 0; j < whole; ++j) {{\n{1}}}\n"
            "BC_VECTORIZE_REST\nfor (i64 j = whole; j < {0}; ++j) {{\n{1}}}\n}}\n",
            count, body);
      else
        turn = fmt::format("{}for (i64 j = 0; j < {}; ++j) {{\n{}}}\n", vectorize_, count, body);
      return before.empty() ? turn : fmt::format("{{\n{}{}}}\n", before, turn);
    };
    if (!fast) return once(false);
    const std::string attempt = once(true);
    return fmt::format("u32 flag = 0;\n{}if (__builtin_expect(flag != 0, 0)) {{\n{}}}\n", attempt, once(false));
  }

  std::string map() {
    const std::set<int> used = body_.accesses(0, false);
    const int inner = ir_.kept - 1;
    std::string out, open, close, head;
    for (int a : used) head += step(a, inner);
    std::string count = word(p_.kept_shape + inner);
    if (inner == 0) {
      for (int a : used)
        open += pointer(a, 0, 0, ir_.accesses[a].step == Access::Step::zero ? "" : fmt::format(" + begin * {}", word(access_word(a) + 1)));
      count = "(end - begin)";
      close = "";
    } else {
      open = "for (i64 row = begin; row < end; ++row) {\n" + coordinates("row", "x", p_.kept_shape, inner);
      for (int a : used) open += pointer(a, inner, 0);
      close = "}\n";
    }
    out = head + open + fmt::format("const i64 total = {};\n", count);
    if (!body_.has_fast(0, false)) {
      const std::vector<int> gathers = ir_.in_place ? std::vector<int>() : body_.gathers_apart();
      return out + (gathers.empty() ? loop(0, "total", "") : gather_strips(gathers, used)) + close;
    }
    // Strips: a strip whose fast forms get an argument out of range is computed again exactly. Where an output overwrites an input, the
    // strip's results go to a temporary first.
    out += fmt::format("for (i64 s = 0; s < total; s += {0}) {{\nconst i64 n = total - s < {0} ? total - s : {0};\n", kStrip);
    out += shift_to_strip(used);
    if (!ir_.in_place) return out + loop(0, "n", "") + "}\n" + close;
    std::string aside, back;
    for (size_t k = 0; k < ir_.outputs.size(); ++k) {
      aside += fmt::format("alignas(64) {} o{}[{}];\n", info(ir_.accesses[ir_.outputs[k].access].dtype).c_name, k, kStrip);
      back += fmt::format("for (i64 j = 0; j < n; ++j) {} = o{}[j];\n", body_.place(ir_.outputs[k].access), k);
    }
    index_ = "j";
    auto once = [&](bool use_fast) {
      body_.fast = use_fast;
      std::string sink;
      for (size_t k = 0; k < ir_.outputs.size(); ++k) sink += fmt::format("o{}[j] = {};\n", k, body_.output_value(ir_.outputs[k]));
      return fmt::format("{}for (i64 j = 0; j < n; ++j) {{\n{}{}}}\n", vectorize_, body_.values(0, false), sink);
    };
    out += aside + "u32 flag = 0;\n" + once(true) + "if (__builtin_expect(flag != 0, 0)) {\n" + once(false) + "}\n" + back;
    return out + "}\n" + close;
  }

  /// Declares pointers (and first coordinates) to the elements from s on, for the body of a strip.
  std::string shift_to_strip(const std::set<int>& used) {
    std::string shifted;
    for (int a : used) {
      const Access& x = ir_.accesses[a];
      const char* move = x.step == Access::Step::zero ? "" : x.step == Access::Step::unit ? " + s" : " + s * t";
      const std::string by = x.step == Access::Step::any ? fmt::format("{}{}", move, a) : move;
      if (x.role == Access::Role::coordinate)
        shifted += fmt::format("const i64 s{0} = q{0}{1};\n", a, x.step == Access::Step::zero ? "" : fmt::format(" + s * t{}", a));
      else
        shifted += fmt::format("auto* {2} s{0} = q{0}{1};\n", a, by, ir_.in_place ? "" : "__restrict__");
    }
    body_.place = [this](int access) {
      std::string e = element(access, index_);
      const std::string q = fmt::format("q{}", access);
      e.replace(e.find(q), q.size(), fmt::format("s{}", access));
      return e;
    };
    return shifted;
  }

  /// A map with gathers, in strips of three loops: offsets, elements, the rest. In one combined loop, few index tests fit into the
  /// processor's window while it waits for an element; a loop of loads alone keeps many loads in flight.
  std::string gather_strips(const std::vector<int>& gathers, const std::set<int>& used) {
    std::string out =
        fmt::format("for (i64 s = 0; s < total; s += {0}) {{\nconst i64 n = total - s < {0} ? total - s : {0};\n", kGatherStrip);
    out += shift_to_strip(used);
    std::string places, reads;
    body_.held = [&](int value) {
      return std::find(gathers.begin(), gathers.end(), value) == gathers.end() ? std::string()
                                                                               : fmt::format("{}()", info(ir_.values[value].dtype).c_name);
    };
    index_ = "j";
    for (int g : gathers) {
      const char* type = info(ir_.values[g].dtype).c_name;
      out += fmt::format("alignas(64) i64 at{0}[{1}];\nalignas(64) {2} e{0}[{1}];\n", g, kGatherStrip, type);
      places += fmt::format("at{0}[j] = {1};\n", g, body_.gather_offset(g));
      reads +=
          fmt::format("BC_ONE_BY_ONE\nfor (i64 j = 0; j < n; ++j) e{0}[j] = (&{1})[at{0}[j]];\n", g, body_.place(ir_.values[g].access));
    }
    const std::string before = body_.values(0, false, BodyPrinter::Part::invariant);
    out += fmt::format("{{\n{}{}for (i64 j = 0; j < n; ++j) {{\n{}{}}}\n}}\n", before, vectorize_,
                       body_.values(0, false, BodyPrinter::Part::varying), places);
    out += reads;
    body_.held = [&](int value) {
      return std::find(gathers.begin(), gathers.end(), value) == gathers.end() ? std::string() : fmt::format("e{}[j]", value);
    };
    out += loop(0, "n", "") + "}\n";
    body_.held = [](int) { return std::string(); };
    return out;
  }

  std::string state(int k) const { return fmt::format("Red{}::S", k); }

  /// The text of accumulator k's partial result of an item.
  std::string partial(int k, const std::string& item, const std::string& items) const {
    std::string before;  // each accumulator's partials start at a multiple of 16 bytes
    for (int i = 0; i < k; ++i) before += fmt::format(" + (({} * i64({}) + 15) & ~i64(15))", state_bytes(ir_.accumulators[i]), items);
    return fmt::format("(*reinterpret_cast<{}*>(load_word<char*>(p->w + {}){} + ({}) * {}))", state(k), p_.partials, before, item,
                       state_bytes(ir_.accumulators[k]));
  }

  std::string finish(int stage) {
    std::string out;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const Accumulator& a = ir_.accumulators[k];
      if (a.stage == stage)
        out += fmt::format("const {} v{} = Red{}::finish(total{}, double({}), {});\n", info(a.out).c_name, a.result, k, k,
                           word(p_.reduced_size), fmt::format("load_word<double>(p->w + {})", p_.ddof + static_cast<int>(k)));
    }
    body_.fast = false;
    return out + body_.values(stage, true) + body_.outputs(stage, true);
  }

  std::string row_pointers(int stage) {
    std::string out;
    for (int a : body_.accesses(stage, true)) out += pointer(a, ir_.kept, 0);
    return out;
  }

  static std::string pushed(int k, const std::string& from) {
    return fmt::format("const Red{0}::S s{0} = push_state<Red{0}>(tree{0}, {1}, n, r0); (void)s{0};\n", k, from);
  }

  /// The same for a stage that adds up products of elements in memory.
  std::string pushed_products(int k) const {
    const Value& product = ir_.values[ir_.accumulators[k].input];
    return fmt::format("tree{0}.push(block_products(q{1} + r0, q{2} + r0, n));\n", k, ir_.values[product.args[0]].access,
                       ir_.values[product.args[1]].access);
  }

  /// One pass over elements [lo, hi) of a row: fills blocks and pushes them into the accumulators' trees.
  std::string row_stage(int stage) {
    std::string out;
    std::vector<int> mine;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      if (ir_.accumulators[k].stage == stage) mine.push_back(static_cast<int>(k));
    for (int k : mine) out += fmt::format("Pairwise<Red{0}> tree{0};\n", k);
    out += fmt::format("for (i64 r0 = lo; r0 < hi; r0 += {0}) {{\nconst i64 n = hi - r0 < {0} ? hi - r0 : {0};\n", kReduceBlock);
    std::string sink, push;
    bool needs_loop = false;
    for (const Output& o : ir_.outputs) needs_loop |= o.stage == stage && !o.outer;
    std::set<int> buffered;
    for (int k : mine) {
      const Accumulator& a = ir_.accumulators[k];
      if (ir_.adds_products(stage)) {
        push += pushed_products(k);
        continue;
      }
      if (ir_.direct(a)) {
        push += pushed(k, fmt::format("q{} + r0", ir_.values[a.input].access));
        continue;
      }
      needs_loop = true;
      out += fmt::format("alignas(64) Red{0}::T b{0}[{1}];\n", k, kReduceBlock);
      const std::string value = body_.input(a);
      sink += fmt::format("b{}[{}] = {};\n", k, ir_.reduced > 1 ? "done + j" : "j", value);
      push += pushed(k, fmt::format("b{}", k));
    }
    if (needs_loop) {
      const std::set<int> used = body_.accesses(stage, false);
      std::string inner;
      if (ir_.reduced == 1) {
        out += "{\n";
        for (int a : used) inner += shift(a, "r0");
        out += inner + loop(stage, "n", sink) + "}\n";
      } else {
        const std::string extent = word(p_.reduced_shape + ir_.reduced - 1);
        out += "for (i64 done = 0; done < n;) {\n" + coordinates("r0 + done", "y", p_.reduced_shape, ir_.reduced);
        out += fmt::format("const i64 left = {} - y{};\nconst i64 run = n - done < left ? n - done : left;\n", extent, ir_.reduced - 1);
        for (int a : used) inner += shift_reduced(a);
        out += inner + loop(stage, "run", sink) + "done += run;\n}\n";
      }
    }
    out += push;
    if (ir_.may_leave(stage)) {
      std::string all;
      for (int k : mine) all += fmt::format("{}decided<Red{}>(s{})", all.empty() ? "" : " && ", k, k);
      out += "if (" + all + ") break;\n";
    }
    out += "}\n";
    for (int k : mine) out += fmt::format("const {0} total{1} = tree{1}.total(); (void)total{1};\n", state(k), k);
    return out;
  }

  /// Inside a row's loop, an access starts at element r0 of the row (shadowing the row's own pointer).
  std::string shift(int a, const std::string& by) {
    const Access& x = ir_.accesses[a];
    if (x.outer || x.step == Access::Step::zero) return "";
    const std::string move = x.step == Access::Step::unit && x.role != Access::Role::coordinate
                                 ? by
                                 : fmt::format("{} * {}", by, word(access_word(a) + 1 + ir_.kept + ir_.reduced - 1));
    return fmt::format("const auto base{0} = q{0};\nauto q{0} = base{0} + {1};\n", a, move);
  }
  std::string shift_reduced(int a) {
    const Access& x = ir_.accesses[a];
    if (x.outer) return "";
    std::string sum;
    for (int d = 0; d < ir_.reduced; ++d) sum += fmt::format(" + y{} * {}", d, word(access_word(a) + 1 + ir_.kept + d));
    return fmt::format("const auto base{0} = q{0};\nauto q{0} = base{0}{1};\n", a, sum);
  }

  std::string rows() {
    std::string out = "for (i64 item = begin; item < end; ++item) {\n";
    if (ir_.schedule.segmented) {
      // Rows may be interleaved in memory, like the columns of a narrow matrix: items are ordered by segment first, then by row.
      out += fmt::format("const i64 segs = {0}, row = item % {1}, seg = item / {1};\n", word(p_.segments), word(p_.kept_size));
      out +=
          fmt::format("const i64 lo = seg * {0}, hi = lo + {0} < {1} ? lo + {0} : {1};\n", word(p_.segment_length), word(p_.reduced_size));
    } else {
      out += fmt::format("const i64 row = item, lo = 0, hi = {};\n", word(p_.reduced_size));
    }
    out += coordinates("row", "x", p_.kept_shape, ir_.kept);
    std::set<int> declared;
    for (int s = 0; s < ir_.stages; ++s) {
      for (bool outer : {false, true}) {
        if (outer && ir_.schedule.segmented) continue;
        for (int a : body_.accesses(s, outer))
          if (declared.insert(a).second)
            out += pointer(a, ir_.kept, 0) + (ir_.accesses[a].outer ? "" : step(a, ir_.kept + ir_.reduced - 1));
      }
    }
    for (int s = 0; s < ir_.stages; ++s) {
      out += row_stage(s);
      if (ir_.schedule.segmented) {
        for (size_t k = 0; k < ir_.accumulators.size(); ++k)
          out += fmt::format("{} = total{};\n",
                             partial(static_cast<int>(k), "row * segs + seg", fmt::format("{} * segs", word(p_.kept_size))), k);
      } else {
        out += finish(s);
      }
    }
    return out + "}\n";
  }

  std::string columns() {
    const int inner = ir_.kept - 1;
    const int64_t tile = column_tile(ir_);
    std::string out = fmt::format(
        "const i64 segs = {0}, width = {1}, tiles = (width + {2} - 1) / {2};\nfor (i64 item = begin; item < end; ++item) {{\n"
        "const i64 seg = item % segs, tile = item / segs % tiles, outer = item / segs / tiles;\n"
        "const i64 lo = seg * {3}, hi = lo + {3} < {4} ? lo + {3} : {4};\nconst i64 c0 = tile * {2};\n"
        "const i64 n = width - c0 < {2} ? width - c0 : {2};\n",
        word(p_.segments), word(p_.kept_shape + inner), tile, word(p_.segment_length), word(p_.reduced_size));
    out += coordinates("outer", "x", p_.kept_shape, inner);
    const std::set<int> used = body_.accesses(0, false);
    const auto at_tile = [&](int a) {
      return pointer(a, inner, 0, fmt::format(" + c0 * {}", word(access_word(a) + 1 + inner))) + step(a, inner);
    };
    for (int a : used) out += at_tile(a);
    std::string buffers, sink, row, run, climb;
    bool computes = false;
    for (const Output& o : ir_.outputs) computes |= !o.outer;
    for (const Accumulator& a : ir_.accumulators) computes |= !ir_.direct(a);
    const bool whole = !computes && ir_.reduced == 1;  // runs of rows are accumulated directly from memory
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const Accumulator& a = ir_.accumulators[k];
      buffers += fmt::format("alignas(64) Red{0}::S top{0}[{1}], run{0}[{1}];\n", k, tile);
      climb += fmt::format("end_columns<Red{0}>(run{0}, r0, r1 - r0, n, top{0}, r0 == lo);\n", k);
      const int access = ir_.values[a.input].access;
      if (whole) {
        const std::string stride = word(access_word(access) + 1 + ir_.kept);
        run += fmt::format("fold_columns<Red{0}>(run{0}, q{1} + r0 * {2}, {2}, r0, r1 - r0, n, true);\n", k, access, stride);
        continue;
      }
      std::string from = fmt::format("q{}", access);
      if (!ir_.direct(a)) {
        buffers += fmt::format("alignas(64) Red{0}::T b{0}[{1}];\n", k, tile);
        sink += fmt::format("b{}[j] = {};\n", k, body_.input(a));
        from = fmt::format("b{}", k);
      }
      row += fmt::format("fold_columns<Red{0}>(run{0}, {1}, 0, r, 1, n, r == r0);\n", k, from);
    }
    out += buffers;
    out += fmt::format("for (i64 r0 = lo; r0 < hi; r0 += {0}) {{\nconst i64 r1 = r0 + {0} < hi ? r0 + {0} : hi;\n", kColumnRun);
    if (whole) {
      out += run;
    } else {
      out += "for (i64 r = r0; r < r1; ++r) {\n" + coordinates("r", "y", p_.reduced_shape, ir_.reduced) + "{\n";
      for (int a : used) out += shift_reduced(a);
      if (computes) out += loop(0, "n", sink);
      out += row + "}\n}\n";
    }
    out += climb + "}\n";
    if (ir_.schedule.segmented) {
      const std::string items = fmt::format("{} * segs", word(p_.kept_size));
      for (size_t k = 0; k < ir_.accumulators.size(); ++k)
        out += fmt::format("for (i64 j = 0; j < n; ++j) {} = top{}[j];\n",
                           partial(static_cast<int>(k), "(outer * width + c0 + j) * segs + seg", items), k);
      return out + "}\n";
    }
    for (int a : body_.accesses(0, true)) out += at_tile(a);
    out += "for (i64 j = 0; j < n; ++j) {\n";
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      out += fmt::format("const Red{0}::S total{0} = hi > lo ? top{0}[j] : Red{0}::init();\n", k);
    columns_end_ = true;
    index_ = "j";
    out += finish(0) + "}\n";
    columns_end_ = false;
    return out + "}\n";
  }

  std::string join() {
    std::string out = fmt::format("const i64 segs = {};\nfor (i64 row = begin; row < end; ++row) {{\n", word(p_.segments));
    const std::string items = fmt::format("{} * segs", word(p_.kept_size));
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      out += fmt::format(
          "Pairwise<Red{0}> tree{0};\nfor (i64 s = 0; s < segs; ++s) tree{0}.push({1});\nconst {2} total{0} = tree{0}.total();\n", k,
          partial(static_cast<int>(k), "row * segs + s", items), state(static_cast<int>(k)));
    out += coordinates("row", "x", p_.kept_shape, ir_.kept) + row_pointers(0) + finish(0) + "}\n";
    return out;
  }

  const Ir& ir_;
  const ParamLayout p_;
  BodyPrinter body_;
  const std::string vectorize_;
  std::string index_ = "j";
  bool columns_end_ = false;  // outputs for each column advance along the columns like elements
};

}  // namespace

KernelSource print_cpu(const Ir& ir) { return CpuPrinter(ir).print(); }

bool fast_in_place(const Ir& ir) {
  // In place, strips of fast forms need a temporary, and a loop that is vectorized only behind overlap checks would run element by element.
  return ir.target == Target::cuda || (CpuPrinter::only_scalars(ir) && !BodyPrinter(ir).has_fast(0, false));
}

}  // namespace bc
