#include "codegen/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "codegen/device_library.h"

namespace bc {

std::string substitute(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> names) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool starts = std::isalpha(static_cast<unsigned char>(text[i])) || text[i] == '_';
    if (!starts) {
      out += text[i++];
      // Copies a number with its suffix: the suffix is not an identifier.
      if (std::isdigit(static_cast<unsigned char>(out.back())))
        while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '.')) out += text[i++];
      continue;
    }
    size_t j = i;
    while (j < text.size() && (std::isalnum(static_cast<unsigned char>(text[j])) || text[j] == '_')) ++j;
    const std::string_view word = text.substr(i, j - i);
    const bool member = i > 0 && text[i - 1] == '.';
    const std::string* found = nullptr;
    for (const auto& [name, with] : names)
      if (!member && name == word) found = &with;
    if (found)
      out += *found;
    else
      out += word;
    i = j;
  }
  return out;
}

namespace {

/// Whether C++ has the type, with its operators and conversions. Kernels for CUDA are printed with these where they do the same as the
/// library's functions: the text before a kernel holds what it names of the library, and to read that would take most of a first call.
bool is_native(DType t) { return is_plain(t) && !is_complex(t) && (!is_real_float(t) || t == DType::f32 || t == DType::f64); }

/// The plain C++ operator of a row that needs no special cases for float and double, so that the compiler reads no declaration for it; else
/// nullptr.
const char* float_operator(Op op, DType loop) {
  if (loop != DType::f32 && loop != DType::f64) return nullptr;
  switch (op) {
    case Op::add: return "a + b";
    case Op::subtract: return "a - b";
    case Op::multiply: return "a * b";
    case Op::divide: return "a / b";
    case Op::negative: return "-a";
    case Op::less: return "a < b";
    case Op::less_equal: return "a <= b";
    case Op::greater: return "a > b";
    case Op::greater_equal: return "a >= b";
    case Op::equal: return "a == b";
    case Op::not_equal: return "a != b";
    default: return nullptr;
  }
}

/// The same for rows that choose (arith.h), on CUDA: for the CPU the library's choose() has a form that clang makes vectors of.
const char* choice(Op op, DType loop) {
  if (!is_native(loop)) return nullptr;
  const bool nan = is_real_float(loop);
  switch (op) {
    case Op::maximum: return nan ? "((a > b) | (a != a) ? a : b)" : "(a > b ? a : b)";
    case Op::minimum: return nan ? "((a < b) | (a != a) ? a : b)" : "(a < b ? a : b)";
    case Op::fmax: return nan ? "((a > b) | (b != b) ? a : b)" : "(a > b ? a : b)";
    case Op::fmin: return nan ? "((a < b) | (b != b) ? a : b)" : "(a < b ? a : b)";
    case Op::isnan: return "(a != a)";
    default: return nullptr;
  }
}

}  // namespace

std::string BodyPrinter::argument(int value, DType as) const {
  const std::string name = v(value);
  const DType from = ir_.values[value].dtype;
  if (from == as) return name;
  if (ir_.target == Target::cuda && is_native(from) && is_native(as)) {
    if (is_bool(as)) return fmt::format("({} != 0)", name);
    if (!is_real_float(from) || is_real_float(as)) return fmt::format("static_cast<{}>({})", info(as).c_name, name);
  }
  return fmt::format("cast<{}>({})", info(as).c_name, name);
}

std::string BodyPrinter::expression(int index) const {
  const Value& x = ir_.values[index];
  const ParamLayout p = param_layout(ir_);
  switch (x.kind) {
    case Value::Kind::load: {
      if (std::string have = held(index); !have.empty()) return have;
      const std::string at = place(x.access);
      return x.predicate == kNone ? at : fmt::format("{} ? {} : {}()", v(x.predicate), at, info(x.dtype).c_name);
    }
    case Value::Kind::coordinate: return place(x.access);
    case Value::Kind::constant: {
      const int word = p.constant + 2 * x.slot;
      if (is_complex(x.dtype)) {
        const char* part = x.dtype == DType::c64 ? "float" : "double";
        // complex64 packs both parts into the first word.
        if (x.dtype == DType::c64) return fmt::format("{}", parameter(word, "complex<float>"));
        return fmt::format("complex<double>({}, {})", parameter(word, part), parameter(word + 1, part));
      }
      return parameter(word, info(x.dtype).c_name);
    }
    case Value::Kind::gather: {
      if (std::string have = held(index); !have.empty()) return have;
      const std::string at = settled_.count(index) ? fmt::format("(w{})", index) : gather_offset(index);
      const std::string element = fmt::format("(&{})[{}]", place(x.access), at);
      return x.predicate == kNone ? element : fmt::format("{} ? {} : {}()", v(x.predicate), element, info(x.dtype).c_name);
    }
    case Value::Kind::inside: {
      // Inside a region: along each tested axis the coordinate c has 0 <= (c - lower), lies on the step, and is below the count.
      std::string all;
      for (size_t k = 0; k < x.more.size(); ++k) {
        const int word = p.inside + 3 * (x.slot + static_cast<int>(k));
        all += fmt::format("{}in_range({}, {}, {}, {})", k ? " & " : "", v(x.more[k]), parameter(word, "i64"), parameter(word + 1, "i64"),
                           parameter(word + 2, "i64"));
      }
      return all.empty() ? "true" : all;
    }
    case Value::Kind::op: {
      if (x.op == Op::cast) return argument(x.args[0], x.dtype);
      if (x.op == Op::user) return fmt::format("v{}_{}", x.args[1] == kNone ? index : x.args[1], x.args[0]);
      const OpInfo& spec = info(x.op);
      const DType t = x.loop[spec.signature == Signature::where ? 1 : 0];
      const DType loop_type = spec.signature == Signature::random ? x.dtype : t;
      std::string a[3];
      for (int k = 0; k < spec.nin; ++k) a[k] = argument(x.args[k], x.loop[k]);
      const char* quick = !fast ? nullptr : divides_scalar(x) ? "quotient_fast(a, b, good)" : fast_text(x);
      if (quick && x.op == Op::divide && !divides_scalar(x) && only_for_logs(index)) quick = "quotient_unchecked(a, b, good)";
      if (!quick) quick = float_operator(x.op, x.loop[0]);
      if (!quick && ir_.target == Target::cuda) quick = choice(x.op, x.loop[0]);
      if (const char* shared = shared_random_text(x)) quick = shared;
      if (std::string test = magnitude_test(x); !test.empty()) return test;
      return substitute(quick ? quick : spec.text, {{"a", a[0]},
                                                    {"b", a[1]},
                                                    {"c", a[2]},
                                                    {"T", info(loop_type).c_name},
                                                    {"R", info(x.dtype).c_name},
                                                    {"words", fmt::format("words{}", index)}});
    }
    case Value::Kind::register_cached: return held(index);
    case Value::Kind::result: return "";
  }
  return "";
}

const char* BodyPrinter::shared_random_text(const Value& x) const {
  if (ir_.target != Target::cuda || ir_.schedule.vector < 2 || x.kind != Value::Kind::op || x.outer) return nullptr;
  const bool wide = x.dtype == DType::f64;
  if (!wide && x.dtype != DType::f32) return nullptr;
  switch (x.op) {
    case Op::random_uniform: return wide ? "uniform_of(neighbour_u64(words, u, a, b))" : "uniform_of(neighbour_bits(words, u, a, b))";
    case Op::random_normal: return wide ? "normal_of(neighbour_u64(words, u, a, b))" : "bits_as<float>(neighbour_normal(words, u, a, b))";
    default: return nullptr;
  }
}

std::string BodyPrinter::random_blocks(int stage) const {
  std::string out;
  for (size_t i = 0; i < ir_.values.size(); ++i)
    if (ir_.values[i].stage == stage && shared_random_text(ir_.values[i])) out += fmt::format("RandomWords words{};\n", i);
  return out;
}

std::string BodyPrinter::magnitude_test(const Value& x) const {
  if (ir_.target != Target::cuda || x.kind != Value::Kind::op || x.loop[0] != DType::f32 || x.loop[1] != DType::f32) return "";
  const bool less = x.op == Op::less || x.op == Op::less_equal, greater = x.op == Op::greater || x.op == Op::greater_equal;
  if (!less && !greater) return "";
  const auto is_magnitude = [&](int16_t value) {
    const Value& a = ir_.values[value];
    return a.kind == Value::Kind::op && a.op == Op::abs && a.loop[0] == DType::c64 && a.dtype == DType::f32 && a.stage == x.stage &&
           a.outer == x.outer;
  };
  const int side = is_magnitude(x.args[0]) ? 0 : 1;
  if (side == 1 && !is_magnitude(x.args[1])) return "";
  return fmt::format("magnitude_{}({}, {}, {})", less == (side == 0) ? "less" : "greater",
                     argument(ir_.values[x.args[side]].args[0], DType::c64), argument(x.args[1 - side], DType::f32),
                     x.op == Op::less_equal || x.op == Op::greater_equal);
}

std::string BodyPrinter::functions() const {
  bool wide = false, uniform = false, normal = false, magnitudes = false;
  for (const Value& x : ir_.values) {
    if (shared_random_text(x)) (x.dtype == DType::f64 ? wide : x.op == Op::random_uniform ? uniform : normal) = true;
    magnitudes |= !magnitude_test(x).empty();
  }
  std::string out;
  // Compares the squares. Where they are so close that rounding could matter, or out of range, it computes the magnitude.
  if (magnitudes)
    out += R"(BC_INLINE bool magnitude_less(complex64 z, float r, bool or_equal) {
  const float s = z.re * z.re + z.im * z.im, q = r * r;
  if (r > 0.0f && q >= 0x1p-100f) {
    if (s < q * 0x1.ffffep-1f) return true;
    if (s > q * 0x1.00001p0f) return false;
  }
  const float a = abs(z);
  return or_equal ? a <= r : a < r;
}
BC_INLINE bool magnitude_greater(complex64 z, float r, bool or_equal) {
  const float s = z.re * z.re + z.im * z.im, q = r * r;
  if (r > 0.0f && q >= 0x1p-100f) {
    if (s > q * 0x1.00001p0f) return true;
    if (s < q * 0x1.ffffep-1f) return false;
  }
  const float a = abs(z);
  return or_equal ? a >= r : a > r;
}
)";
  if (!wide && !uniform && !normal) return out;
  // The random words, or the bits of normal numbers, for a block of numbers. If neighbours have consecutive numbers, which the compiler
  // sees in most programs, each takes its word of the shared block; otherwise each computes its own block. Only what the kernel uses is
  // printed, since it would be compiled.
  out += fmt::format("constexpr int kNeighbours = {};\n", ir_.schedule.vector) + R"(struct RandomWords {
  u64 seed, first;
  u32x4 words;
};
)";
  const auto of_four = [](const char* name, const char* block, const char* alone) {
    return fmt::format(R"(BC_INLINE u32 {0}(RandomWords& held, int u, u64 seed, u64 index) {{
  const int place = u & 3;
  if (place == 0) {{
    held.seed = seed;
    held.first = index;
    const u32x4 a = {1}(seed, index >> 2);
    const int skipped = int(index) & 3;
    held.words = a;
    if (skipped != 0) {{
      u32x4 b = a;
      if (skipped > 4 - kNeighbours) b = {1}(seed, (index >> 2) + 1);
      held.words = skipped == 1 ? u32x4{{a.y, a.z, a.w, b.x}} : skipped == 2 ? u32x4{{a.z, a.w, b.x, b.y}} : u32x4{{a.w, b.x, b.y, b.z}};
    }}
  }} else if (index - held.first != u64(place) || seed != held.seed) {{
    return {2};
  }}
  const u32x4& w = held.words;
  return place == 0 ? w.x : place == 1 ? w.y : place == 2 ? w.z : w.w;
}}
)",
                       name, block, alone);
  };
  if (uniform) out += of_four("neighbour_bits", "random_block", "random_u32(seed, index)");
  if (normal) out += of_four("neighbour_normal", "normal_block", "bits_as<u32>(normal_of(words_of_normals(seed, index >> 2), index))");
  if (!wide) return out;
  return out + R"(BC_INLINE u64 neighbour_u64(RandomWords& held, int u, u64 seed, u64 index) {
  const int place = u & 1;
  if (place == 0) {
    held.seed = seed;
    held.first = index;
    const u32 key0 = u32(seed), key1 = u32(seed >> 32);
    const u32x4 a = random_u32x4(key0, key1, index >> 1, 1);
    held.words = a;
    if ((index & 1) != 0) {
      const u32x4 b = random_u32x4(key0, key1, (index >> 1) + 1, 1);
      held.words = {a.z, a.w, b.x, b.y};
    }
  } else if (index - held.first != 1 || seed != held.seed) {
    return random_u64(seed, index);
  }
  const u32x4& w = held.words;
  return place == 0 ? (u64(w.x) << 32) | w.y : (u64(w.z) << 32) | w.w;
}
)";
}

std::string BodyPrinter::gather_offset(int index) const {
  const Value& x = ir_.values[index];
  const ParamLayout p = param_layout(ir_);
  std::string at = "(0";
  for (size_t k = 0; k < x.more.size(); ++k) {
    const int word = p.gather + 2 * (x.slot + static_cast<int>(k));
    const std::string safe = x.predicate == kNone ? argument(x.more[k], DType::i64)
                                                  : fmt::format("({} ? {} : i64(0))", v(x.predicate), argument(x.more[k], DType::i64));
    at +=
        fmt::format(" + wrap_index({}, {}, {}) * {}", safe, parameter(word, "i64"), parameter(p.error, "u32*"), parameter(word + 1, "i64"));
  }
  return at + ")";
}

std::vector<int> BodyPrinter::gathers_apart() const {
  std::vector<int> found;
  const std::vector<bool> same = invariants(0);
  std::vector<bool> reads(ir_.values.size());  // marks gathers and the values that depend on one
  for (size_t i = 0; i < ir_.values.size(); ++i) {
    const Value& x = ir_.values[i];
    const bool gather = x.kind == Value::Kind::gather;
    if (gather && x.predicate != kNone) return {};
    bool depends = false;
    for (int16_t a : x.args) depends |= x.kind == Value::Kind::op && a != kNone && reads[static_cast<size_t>(a)];
    for (int16_t m : x.more) depends |= reads[static_cast<size_t>(m)];
    if (gather && depends) return {};
    reads[i] = gather || depends;
    if (gather && !std::all_of(x.more.begin(), x.more.end(), [&](int16_t m) { return same[static_cast<size_t>(m)]; }))
      found.push_back(static_cast<int>(i));
  }
  return ir_.users.empty() ? found : std::vector<int>();
}

std::vector<bool> BodyPrinter::invariants(int stage) const {
  std::vector<bool> same(ir_.values.size());
  for (size_t i = 0; i < ir_.values.size(); ++i) {
    const Value& x = ir_.values[i];
    if (x.kind == Value::Kind::constant || x.kind == Value::Kind::result || x.outer || x.stage != stage) {
      same[i] = x.kind != Value::Kind::register_cached;
      continue;
    }
    const auto held_still = [&](int value) { return value == kNone || same[value]; };
    same[i] = x.kind != Value::Kind::register_cached && x.op != Op::user && held_still(x.predicate) &&
              (x.access == kNone || ir_.accesses[x.access].step == Access::Step::zero);
    if (x.kind == Value::Kind::op)
      for (int k = 0; k < info(x.op).nin; ++k) same[i] = same[i] && held_still(x.args[k]);
    for (int16_t m : x.more) same[i] = same[i] && held_still(m);
  }
  return same;
}

/// The statements that call a user's function, with all of its results.
std::string BodyPrinter::user_call(int index) const {
  const Value& x = ir_.values[index];
  const UserOp& op = *ir_.users[x.slot];
  std::string out, list;
  for (size_t k = 0; k < x.more.size(); ++k) list += fmt::format("{}{}", list.empty() ? "" : ", ", argument(x.more[k], op.in[k]));
  for (size_t k = 0; k < op.out.size(); ++k) {
    out += fmt::format("{} v{}_{}{{}};\n", info(op.out[k]).c_name, index, k);
    list += fmt::format("{}v{}_{}", list.empty() ? "" : ", ", index, k);
  }
  // Where the result is not used, the operands are zeros, for which the function might not terminate.
  const std::string only_if = x.predicate == kNone ? "" : fmt::format("if ({}) ", v(x.predicate));
  return out + fmt::format("{}{}::{}({});\n", only_if, op.scope(), op.entry, list);
}

std::string BodyPrinter::constants() const {
  std::string out;
  for (size_t i = 0; i < ir_.values.size(); ++i)
    if (ir_.values[i].kind == Value::Kind::constant)
      out += fmt::format("const {} v{} = {};\n", info(ir_.values[i].dtype).c_name, i, expression(static_cast<int>(i)));
  return out;
}

std::string BodyPrinter::values(int stage, bool outer, Part part) const {
  std::string out;
  const std::vector<bool> same = part == Part::all ? std::vector<bool>() : invariants(stage);
  settled_.clear();
  for (size_t n = 0; n < ir_.values.size(); ++n) {
    const Value& x = ir_.values[n];
    const int i = static_cast<int>(n);
    if (x.stage != stage || x.outer != outer || x.kind == Value::Kind::result || x.kind == Value::Kind::constant) continue;
    if (part != Part::all && same[n] != (part == Part::invariant)) {
      // If an index selects a whole row, its offset is computed once before the loop, and the elements are then read like those of any row.
      const bool row_of = x.kind == Value::Kind::gather && (x.predicate == kNone || same[x.predicate]) &&
                          std::all_of(x.more.begin(), x.more.end(), [&](int16_t m) { return same[m]; });
      if (row_of && part == Part::invariant) out += fmt::format("const i64 w{} = {};\n", i, gather_offset(i));
      continue;
    }
    if (part == Part::varying && x.kind == Value::Kind::gather && (x.predicate == kNone || same[x.predicate]) &&
        std::all_of(x.more.begin(), x.more.end(), [&](int16_t m) { return same[m]; }))
      settled_.insert(i);
    if (x.op == Op::user && x.kind == Value::Kind::op && x.args[1] == kNone) out += user_call(i);
    out += fmt::format("const {} v{} = {};\n", info(x.dtype).c_name, i, expression(i));
  }
  settled_.clear();
  return out;
}

std::string BodyPrinter::output_value(const Output& o) const { return argument(o.value, ir_.accesses[o.access].dtype); }

std::string BodyPrinter::outputs(int stage, bool outer) const {
  std::string out;
  for (const Output& o : ir_.outputs) {
    if (o.stage != stage || o.outer != outer) continue;
    if (o.predicate != kNone) out += fmt::format("if ({}) ", v(o.predicate));
    out += fmt::format("{} = {};\n", place(o.access), output_value(o));
  }
  return out;
}

std::set<int> BodyPrinter::accesses(int stage, bool outer) const {
  std::set<int> used;
  for (const Value& x : ir_.values)
    if (x.access != kNone && x.stage == stage && x.outer == outer) used.insert(x.access);
  for (const Output& o : ir_.outputs)
    if (o.stage == stage && o.outer == outer) used.insert(o.access);
  return used;
}

const char* BodyPrinter::fast_text(const Value& x) const {
  const OpInfo& spec = info(x.op);
  const bool cpu = ir_.target == Target::cpu;
  return (cpu ? spec.fast_set : spec.cuda_fast_set) & dtype_bit(x.loop[0]) ? (cpu ? spec.fast_text : spec.cuda_fast_text) : nullptr;
}

bool BodyPrinter::divides_scalar(const Value& x) const {
  return ir_.target == Target::cuda && x.kind == Value::Kind::op && x.op == Op::divide && x.loop[0] == DType::f32 &&
         ir_.values[x.args[0]].kind == Value::Kind::constant;
}

bool BodyPrinter::only_for_logs(int index) const {
  if (ir_.target != Target::cuda || ir_.values[index].dtype != DType::f32 || !ir_.accumulators.empty()) return false;
  for (const Output& o : ir_.outputs)
    if (o.value == index || o.predicate == index) return false;
  bool used = false;
  for (const Value& x : ir_.values) {
    if (x.predicate == index || std::find(x.more.begin(), x.more.end(), index) != x.more.end()) return false;
    if (std::find(std::begin(x.args), std::end(x.args), index) == std::end(x.args)) continue;
    if (x.kind != Value::Kind::op || x.op != Op::log || x.loop[0] != DType::f32) return false;
    used = true;
  }
  return used;
}

std::string BodyPrinter::fast_condition(int stage, bool outer) const {
  std::set<int> scalars;
  for (const Value& x : ir_.values)
    if (x.stage == stage && x.outer == outer && divides_scalar(x)) scalars.insert(x.args[0]);
  std::string all;
  for (int s : scalars) all += fmt::format("{}may_divide({})", all.empty() ? "" : " && ", argument(s, DType::f32));
  return all;
}

int BodyPrinter::count_fast(int stage, bool outer) const {
  int count = 0;
  for (const Value& x : ir_.values) count += x.kind == Value::Kind::op && x.stage == stage && x.outer == outer && fast_text(x);
  return count;
}

std::string user_functions(const Ir& ir) {
  if (ir.users.empty()) return "";
  std::string out(ir.for_reading ? "// after user/names.h: C's and CUDA's names\n" : user_names());
  std::vector<Hash128> printed;
  for (const Ref<UserOp>& u : ir.users) {
    if (std::find(printed.begin(), printed.end(), u->id) != printed.end()) continue;
    printed.push_back(u->id);
    out += u->definition();
  }
  return out + "\n#line 1 \"kernel\"\n";
}

namespace {

std::string user_reduction(const UserOp& op, const Accumulator& a, int k) {
  return fmt::format(
      "struct Red{0} {{\n  using T = {1};\n  using S = {1};\n  using R = {1};\n  static constexpr bool kIdentity = {2};\n"
      "  BC_METHOD S map(T a, i64) {{ return a; }}\n  BC_METHOD S join(const S& p, const S& q) {{ return {3}::join(p, q); }}\n"
      "  BC_METHOD S init() {{ return {4}; }}\n  BC_METHOD R finish(const S& p, double, double) {{ return p; }}\n}};\n",
      k, info(a.loop).c_name, op.identity ? "true" : "false", op.scope(), op.identity ? op.scope() + "::init()" : "S()");
}

/// The text of a reduction on CUDA without the library's general forms where the types need none.
std::string plain(const Accumulator& a, std::string_view source) {
  const bool is_float = a.loop == DType::f32 || a.loop == DType::f64;
  std::string text(source);
  const auto replace = [&](std::string_view what, std::string_view with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
  };
  if (!is_native(a.loop)) return text;
  replace("acc_t<T>", "T");
  replace("cast<T>(a)", "a");
  replace("cast<bool>(a)", is_bool(a.loop) ? "a" : "(a != T(0))");
  replace("var_state<T>", "VarState<double>");
  replace("var_empty<T>()", "S{0.0, 0.0, 0.0}");
  replace("var_of(a)", "S{1.0, wide(a), 0.0}");
  // As in reduce.h.
  const char *beats = "q.value > p.value", *tie = "p.value == q.value";
  for (const char* name : {"argmax_join(p, q)", "argmin_join(p, q)"}) {
    replace(name, is_float ? fmt::format("pick(p, q, p.value == p.value && (q.value != q.value || {}), {} || (p.value != p.value && "
                                         "q.value != q.value))",
                                         beats, tie)
                           : fmt::format("pick(p, q, {}, {})", beats, tie));
    beats = "q.value < p.value";
  }
  const ReduceState state = info(a.op).state;
  if (state == ReduceState::moments && a.out == DType::f64) replace("cast<R>", "");
  if (state == ReduceState::moments && a.out == DType::f32) replace("cast<R>", "static_cast<R>");
  if (state != ReduceState::accumulator && state != ReduceState::element) return text;
  replace("cast<S>(a)", "a");
  // NaN wins; of equal numbers the second (maximum() in arith.h).
  replace("maximum(p, q)", is_float ? "((p > q) | (p != p) ? p : q)" : "(p > q ? p : q)");
  replace("minimum(p, q)", is_float ? "((p < q) | (p != p) ? p : q)" : "(p < q ? p : q)");
  replace("add(p, S(0))", is_float ? "(p + S(0))" : "p");
  if (is_float) {
    replace("mean_of((p + S(0)), n)", "((p + S(0)) / S(n))");
    replace("add(p, q)", "p + q");
    replace("multiply(p, q)", "p * q");
  }
  if (a.out == a.loop) {
    replace("cast<R>(p)", "p");
    replace("cast<R>((p + S(0)))", "p + S(0)");
    replace("cast<R>(((p + S(0)) / S(n)))", "(p + S(0)) / S(n)");
  }
  return text;
}

}  // namespace

std::string reduction_struct(const Ir& ir, int k) {
  const Accumulator& a = ir.accumulators[k];
  if (a.user != kNone) return user_reduction(*ir.users[a.user], a, k);
  const OpInfo& spec = info(a.op);
  const char* t = info(a.loop).c_name;
  const auto text = [&](std::string_view source) { return ir.target == Target::cuda ? plain(a, source) : std::string(source); };
  const std::string state = substitute(text(state_type(spec.state)), {{"T", t}});
  const char* r = info(a.out).c_name;
  std::string out = fmt::format("struct Red{} {{\n  using T = {};\n  using S = {};\n  using R = {};\n", k, t, state, r);
  out += fmt::format("  static constexpr bool kIdentity = {};\n", spec.identity ? "true" : "false");
  if (ir.target == Target::cpu && spec.extreme != Extreme::none)
    out += fmt::format("  static constexpr int kExtreme = {};\n", static_cast<int>(spec.extreme));
  if (ir.target == Target::cpu && (a.op == Op::reduce_sum || a.op == Op::reduce_mean)) out += "  static constexpr bool kAdds = true;\n";
  if (ir.target == Target::cuda && spec.state == ReduceState::moments) {
    const bool simple = is_native(a.loop);
    out += "  using M = decltype(S::mean);\n";
    out += fmt::format("  BC_METHOD M wide(T a) {{ return {}; }}\n", simple ? "static_cast<double>(a)" : "cast<M>(a)");
    out += fmt::format("  BC_METHOD M mean(M sum, double n) {{ return {}; }}\n", simple ? "sum / n" : "mean_of(sum, n)");
  }
  // A is T, or float as a wider form of T.
  out += fmt::format("  template <class A> BC_METHOD S map(A a, i64 i) {{ (void)i; return {}; }}\n", text(spec.map));
  out += fmt::format("  BC_METHOD S join(const S& p, const S& q) {{ return {}; }}\n", text(spec.join));
  out += fmt::format("  BC_METHOD S init() {{ return {}; }}\n", spec.identity ? text(spec.identity) : "S()");
  out += fmt::format("  BC_METHOD R finish(const S& p, double n, double ddof) {{ (void)n; (void)ddof; return {}; }}\n}};\n",
                     text(spec.finish));
  return out;
}

std::string params_struct(const Ir& ir) { return fmt::format("struct P {{ i64 w[{}]; }};\n", param_layout(ir).words); }

}  // namespace bc
