// The CUDA skeletons. A map's thread handles one vector of elements; a row reduction gives each row (or segment of one) to a group of
// threads; a column reduction gives 32 vectors of neighbouring columns to a block of 32 x 8 threads. The last block to finish joins the
// partial results in a fixed order.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/body.h"

namespace bc {
namespace {

constexpr int kColumnThreads = 32, kColumnGroups = 8;
constexpr int kFewFast = 3;  // with fewer ops that have a fast form, memory bandwidth is the limit and a second body is not worth its code
// A tile's early loads (see find_early): bytes of an element, of which a thread has 16, and values of a kernel that is unrolled as often.
// `a + b.T` of 8192² float32 on an H200: 212 us with early loads, 240 without.
constexpr int kEarlyBytes = 8;
constexpr size_t kFewValues = 8;

class CudaPrinter {
 public:
  explicit CudaPrinter(const Ir& ir) : ir_(ir), p_(param_layout(ir)), body_(ir) {
    body_.parameter = [](int word, const char* type) {
      if (std::string_view(type).ends_with('*')) return fmt::format("reinterpret_cast<{}>(p.w[{}])", type, word);
      return fmt::format("load_word<{}>(p.w + {})", type, word);
    };
    body_.place = [this](int access) { return element(access); };
    body_.held = [this](int value) { return held(value); };
  }

  KernelSource print() {
    KernelSource out;
    const std::string name = kernel_name(ir_);
    out.entries.push_back(name);
    std::string& t = out.text;
    out.contract = ir_.contract();
    out.quick = (ir_.walk != Walk::map || ir_.schedule.vector > 1) && ir_.users.empty();
    t += user_functions(ir_) + "namespace bc {\n" + params_struct(ir_) + fmt::format("using I = {};\n", ir_.schedule.wide ? "i64" : "i32");
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) t += reduction_struct(ir_, static_cast<int>(k));
    t += body_.functions();
    const int threads = ir_.walk == Walk::rows ? std::max(ir_.schedule.group, kCudaBlock) : kCudaBlock;
    t += fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}(const __grid_constant__ P p) {{\n", threads, name) +
         body_.constants();
    t += ir_.walk == Walk::map ? map() : ir_.walk == Walk::rows ? rows(threads) : columns();
    t += "}\n}\n";
    return out;
  }

 private:
  std::string word(int at) const { return fmt::format("I(p.w[{}])", at); }
  int access_word(int access) const { return p_.access + p_.access_words * access; }
  bool row_access(int access) const { return ir_.accesses[access].outer && ir_.walk != Walk::map; }
  /// Whether an access is loaded or stored as one vector.
  bool vectorized(int access) const {
    const Access& a = ir_.accesses[access];
    return ir_.schedule.vector > 1 && a.vector && !row_access(access) && a.step == Access::Step::unit &&
           a.role != Access::Role::coordinate && a.role != Access::Role::gather && !predicated_.contains(access);
  }

  std::string element(int access) const {
    const Access& a = ir_.accesses[access];
    const bool plain = row_access(access) || a.step == Access::Step::zero;
    if (a.role == Access::Role::coordinate && !plain)
      return a.step == Access::Step::unit ? fmt::format("(q{} + i64(u))", access) : fmt::format("(q{0} + i64(u) * t{0})", access);
    if (a.role == Access::Role::coordinate) return fmt::format("q{}", access);
    if (a.tiled) return fmt::format("s{}[c][row]", access);
    if (early_.contains(access)) return fmt::format("e{}[k]", access);
    if (plain) return fmt::format("q{}[0]", access);
    if (a.role == Access::Role::store && vectorized(access)) return fmt::format("l{}.v[u]", access);
    return a.step == Access::Step::unit ? fmt::format("q{}[u]", access) : fmt::format("q{0}[u * t{0}]", access);
  }

  std::string held(int value) const {
    const Value& x = ir_.values[value];
    if (x.kind == Value::Kind::register_cached) return fmt::format("h{}[e]", x.args[0]);
    if (x.outer || row_access(x.access)) return "";
    return vectorized(x.access) ? fmt::format("l{}.v[u]", x.access) : "";
  }

  std::string coordinates(const std::string& linear, const char* prefix, int shape_word, int count) const {
    std::string out;
    if (count == 0) return out;
    // Unsigned division is cheaper than signed.
    const char* type = ir_.schedule.wide ? "u64" : "u32";
    out += fmt::format("{} {}_rest = {};\n", type, prefix, linear);
    for (int d = count - 1; d > 0; --d)
      out += fmt::format("const I {0}{1} = I({0}_rest % {3}({2})); {0}_rest /= {3}({2});\n", prefix, d, word(shape_word + d), type);
    out += fmt::format("const I {0}0 = I({0}_rest); (void){0}0;\n", prefix);
    return out;
  }

  /// Declares the pointer of an access at kept coordinates x and reduced coordinates z, and its inner step. (y0 and k0 are Bessel functions
  /// of the library, which device_library_for() would add to the text.)
  std::string pointer(int access, int kept, int reduced, const std::string& extra = "") const {
    const Access& a = ir_.accesses[access];
    const int w = access_word(access);
    std::string sum = extra;
    for (int d = 0; d < kept; ++d) {
      if ((ir_.schedule.rows > 1 && a.still && d == kept - 1) || (ir_.schedule.outer_rows > 1 && a.still_outer && d == kept - 2)) continue;
      const bool unit = ir_.walk == Walk::map && ir_.schedule.vector > 1 && a.step == Access::Step::unit && d == kept - 1 &&
                        !row_access(access) && a.role != Access::Role::coordinate && a.role != Access::Role::gather;
      sum += unit ? fmt::format(" + x{}", d) : fmt::format(" + x{} * {}", d, word(w + 1 + d));
    }
    if (!row_access(access))
      for (int d = 0; d < reduced; ++d) sum += fmt::format(" + z{} * {}", d, word(w + 1 + ir_.kept + d));
    if (a.role == Access::Role::coordinate) return fmt::format("const i64 q{} = p.w[{}]{};\n", access, w, sum);
    const char* type = info(a.dtype).c_name;
    const char* qualifier = a.role == Access::Role::store ? "" : "const ";
    return fmt::format("{1}{2}* {4} q{0} = reinterpret_cast<{1}{2}*>(p.w[{3}]){5};\n", access, qualifier, type, w,
                       ir_.in_place ? "" : "__restrict__", sum);
  }
  std::string step(int access, int axis) const {
    const Access& a = ir_.accesses[access];
    if (row_access(access) || a.step != Access::Step::any) return "";
    return fmt::format("const I t{} = {};\n", access, word(access_word(access) + 1 + axis));
  }

  void find_predicated(int stage) {
    predicated_.clear();
    for (const Value& x : ir_.values)
      if (x.stage == stage && x.access != kNone && x.predicate != kNone) predicated_.insert(x.access);
    for (const Output& o : ir_.outputs)
      if (o.stage == stage && o.predicate != kNone) predicated_.insert(o.access);
  }

  /// The statements for one vector of elements: vector loads, the body for each u, vector stores.
  std::string vector_body(int stage, const std::set<int>& used, const std::string& head, const std::string& sink,
                          const std::string& before_stores = "", const std::string& after_stores = "") const {
    std::string load, store;
    for (int a : used) {
      if (!vectorized(a)) continue;
      const char* type = info(ir_.accesses[a].dtype).c_name;
      if (ir_.accesses[a].role == Access::Role::store) {
        load += fmt::format("Vec<{}, {}> l{};\n", type, ir_.schedule.vector, a);
        store += fmt::format("*reinterpret_cast<Vec<{0}, {1}>*>(q{2}) = l{2};\n", type, ir_.schedule.vector, a);
      } else {
        load += fmt::format("const Vec<{0}, {1}> l{2} = *reinterpret_cast<const Vec<{0}, {1}>*>(q{2});\n", type, ir_.schedule.vector, a);
      }
    }
    return load + body_.random_blocks(stage) +
           fmt::format("#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n{}{}{}{}}}\n", ir_.schedule.vector, head,
                       body_.values(stage, false), body_.outputs(stage, false), sink) +
           before_stores + store + after_stores;
  }

  /// Tells whether a map gets a body of fast forms. Such a body may compute wrong values, which are then computed again. So no address, no
  /// output position and no overwritten input may depend on them.
  bool has_fast_body() const {
    if (body_.count_fast(0, false) < kFewFast || ir_.checked || !ir_.users.empty()) return false;  // a user's function runs once
    for (const Value& x : ir_.values)
      if (x.predicate != kNone || x.kind == Value::Kind::gather) return false;
    for (const Output& o : ir_.outputs)
      if (o.predicate != kNone || (ir_.in_place && !vectorized(o.access))) return false;
    return true;
  }

  /// Finds the operands of a tile that are loaded before the barrier, side by side with the transposed ones: as many as leave enough
  /// registers, in kernels that are short enough to be unrolled.
  void find_early(const std::set<int>& used) {
    int bytes = 0;
    if (ir_.values.size() > kFewValues) return;
    for (int a : used) {
      const Access& x = ir_.accesses[a];
      if (x.role != Access::Role::load || x.tiled || x.step != Access::Step::unit || predicated_.contains(a)) continue;
      if (bytes += itemsize(x.dtype); bytes > kEarlyBytes) return;
      early_.insert(a);
    }
  }

  /// A block handles a square of the last two axes: operands that are contiguous along the axis before the last one are read along it into
  /// shared memory, and then read from there along the last axis.
  std::string tiles(const std::set<int>& used) {
    find_early(used);
    const int inner = ir_.kept - 1, side = ir_.schedule.tile, rows = kCudaBlock / side;
    const char* type = ir_.schedule.wide ? "u64" : "u32";
    std::string out =
        fmt::format("constexpr int kSide = {}, kRows = {};\nconst int c = threadIdx.x % kSide, r = threadIdx.x / kSide;\n", side, rows);
    out += fmt::format("const I width = {}, height = {};\n", word(p_.kept_shape + inner), word(p_.kept_shape + inner - 1));
    out += fmt::format("{} rest = blockIdx.x;\n", type);
    for (const auto& [name, extent] : {std::pair("left", "width"), std::pair("top", "height")})
      out += fmt::format(
          "const {0} {1}_tiles = ({0}({2}) + kSide - 1) / kSide;\nconst I {1} = I(rest % {1}_tiles) * kSide;\nrest /= {1}_tiles;\n", type,
          name, extent);
    out += coordinates("rest", "x", p_.kept_shape, ir_.kept - 2);
    std::string loads, early, pointers;
    const auto each_row = [&](const std::string& row, const std::string& column, const std::string& load) {
      return fmt::format(
          "#pragma unroll\nfor (int k = 0; k < kSide / kRows; ++k) {{\nconst I x{} = {}, x{} = {};\nif (x{} < height && x{} < width) "
          "{{\n{}}}\n}}\n",
          inner - 1, row, inner, column, inner - 1, inner, load);
    };
    for (int a : used) {
      const char* name = info(ir_.accesses[a].dtype).c_name;
      const std::string at = pointer(a, ir_.kept, 0);
      if (early_.contains(a)) {
        early += fmt::format("{} e{}[kSide / kRows];\n", name, a) +
                 each_row("top + r + k * kRows", "left + c", fmt::format("{0}e{1}[k] = q{1}[0];\n", at, a));
      } else if (ir_.accesses[a].tiled) {
        out += fmt::format(
            "__shared__ __align__(16) unsigned char m{0}[sizeof({1}) * kSide * (kSide + 1)];\n"
            "{1} (&s{0})[kSide][kSide + 1] = *reinterpret_cast<{1} (*)[kSide][kSide + 1]>(m{0});\n",
            a, name);
        // A thread issues all its loads before it stores the first.
        loads += fmt::format("{{\n{} held[kSide / kRows];\n", name) +
                 each_row("top + c", "left + r + k * kRows", fmt::format("{}held[k] = q{}[0];\n", at, a)) +
                 fmt::format("#pragma unroll\nfor (int k = 0; k < kSide / kRows; ++k) s{}[r + k * kRows][c] = held[k];\n}}\n", a);
      } else {
        out += step(a, inner);
        pointers += at;
      }
    }
    out += loads + early + fmt::format("__syncthreads();\nconst I x{0} = left + c;\nif (x{0} >= width) return;\n", inner);
    out += fmt::format("#pragma unroll{}\nfor (int k = 0; k < kSide / kRows; ++k) {{\nconst int row = r + k * kRows;\n",
                       early_.empty() ? " 4" : "") +
           fmt::format("const I x{0} = top + row;\nif (x{0} < height) {{\n", inner - 1);
    return out + pointers + vector_body(0, used, "", "") + "}\n}\n";
  }

  std::string map() {
    find_predicated(0);
    const std::set<int> used = body_.accesses(0, false);
    if (ir_.schedule.tile) return tiles(used);
    const int inner = ir_.kept - 1, v = ir_.schedule.vector;
    const bool fast = has_fast_body();
    std::string out;
    for (int a : used) out += step(a, inner);
    auto pointers = [&] {
      std::string all;
      for (int a : used) all += pointer(a, ir_.kept, 0);
      return all;
    };
    // The grid covers all elements. A loop that runs once would be unrolled, which takes half of the compile time.
    const std::string walk = fmt::format("if (const I i = I(blockIdx.x) * {0} + threadIdx.x; i < total) {{\n", kCudaBlock);
    const char* type = ir_.schedule.wide ? "u64" : "u32";
    const bool line = inner == 0 && v > 1;  // the last vector may be partial
    const std::string elements_of_line = fmt::format("i < whole ? {} : int({} - x0)", v, word(p_.kept_size));
    // Handles the elements of a vector one by one.
    auto elements = [&](const std::string& count) {
      predicated_.insert(used.begin(), used.end());  // no access is a vector here
      return fmt::format("const int count = {};\n{}#pragma unroll 1\nfor (int u = 0; u < count; ++u) {{\n{}{}}}\n", count,
                         body_.random_blocks(0), body_.values(0, false), body_.outputs(0, false));
    };
    // Handles the elements of a vector together; where `good` is false, one by one.
    auto body = [&](std::string good, const std::string& count) {
      if (!fast && v == 1) return vector_body(0, used, "", "");
      std::string all = "#ifndef BC_QUICK\n";
      if (fast) {
        // Elements are computed again where a fast form got an argument out of its range.
        body_.fast = true;
        const std::string condition = body_.fast_condition(0, false);
        if (!condition.empty()) good = good == "true" ? condition : good + " && " + condition;
      }
      all += fmt::format("u32 good = {};\nif (good) {{\n", good);
      all += fast ? vector_body(0, used, "", "", "if (good) {\n", "}\n") : vector_body(0, used, "", "");
      body_.fast = false;
      return all + "}\n#else\nconst u32 good = 0;\n#endif\nif (!good) {\n" + elements(count) + "}\n";
    };
    if (v == 1) {
      out += fmt::format("const I total = {};\n", word(p_.kept_size)) + walk;
      return out + coordinates("i", "x", p_.kept_shape, ir_.kept) + pointers() + body("true", "1") + "}\n";
    }
    // Coordinates count vectors along the last axis.
    if (line) {
      out += fmt::format("const I whole = I({2}({0}) / {1}), total = I(({2}({0}) + {1} - 1) / {1});\n", word(p_.kept_size), v, type);
      const std::string place = fmt::format("const I x0 = i * {};\n", v) + pointers();
      if (ir_.schedule.unroll == 1) return out + walk + place + body("i < whole", elements_of_line) + "}\n";
      // A thread of a whole block handles several vectors, and what they have in common once; the last block walks its elements. Two turns
      // of the loop together have more independent instructions (1e8 uniform numbers on an H200: 104 us, one by one 107; normal 172 and
      // 175).
      const int block = kCudaBlock * ir_.schedule.unroll;
      out += fmt::format("const I start = I(blockIdx.x) * {} + threadIdx.x;\n#ifndef BC_QUICK\nif (start + {} < whole) {{\n", block,
                         block - kCudaBlock);
      out += fmt::format("#pragma unroll 2\nfor (int turn = 0; turn < {}; ++turn) {{\nconst I i = start + turn * {};\n",
                         ir_.schedule.unroll, kCudaBlock);
      out += place + body("true", std::to_string(v)) + "}\nreturn;\n}\n#endif\n";
      out += fmt::format("#pragma unroll 1\nfor (I i = start; i < start + {} && i < total; i += {}) {{\n", block, kCudaBlock);
      return out + place + elements(elements_of_line) + "}\n";
    }
    out += fmt::format("const I total = {} / {};\n", word(p_.kept_size), v) + walk;
    out += fmt::format("const {0} width = {0}({1} / {2});\n", type, word(p_.kept_shape + inner), v);
    out += fmt::format("const I x{0} = I({1}(i) % width) * {2};\n", inner, type, v);
    out += coordinates(fmt::format("{}(i) / width", type), "x", p_.kept_shape, inner);
    return out + pointers() + body("true", std::to_string(v)) + "}\n";
  }

  std::string state(int k) const { return fmt::format("Red{}::S", k); }

  std::string partial(int k, const std::string& item, const std::string& items) const {
    std::string before;  // each accumulator's partials start at a multiple of 16 bytes
    for (int i = 0; i < k; ++i) before += fmt::format(" + (({} * i64({}) + 15) & ~i64(15))", state_bytes(ir_.accumulators[i]), items);
    return fmt::format("(*reinterpret_cast<{}*>(reinterpret_cast<char*>(p.w[{}]){} + i64({}) * {}))", state(k), p_.partials, before, item,
                       state_bytes(ir_.accumulators[k]));
  }

  std::string finish(int stage, const std::string& writer) {
    std::string out;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const Accumulator& a = ir_.accumulators[k];
      if (a.stage == stage)
        out += fmt::format("const {} v{} = Red{}::finish(total{}, double(p.w[{}]), load_word<double>(p.w + {}));\n", info(a.out).c_name,
                           a.result, k, k, p_.reduced_size, p_.ddof + static_cast<int>(k));
    }
    out += body_.values(stage, true);
    const std::string stores = body_.outputs(stage, true);
    if (!stores.empty()) out += fmt::format("if ({}) {{\n{}}}\n", writer, stores);
    return out;
  }

  /// The statements that find out whether this block finishes last, using counter `index`.
  std::string ticket(const std::string& index, const std::string& leader) const {
    return fmt::format(
        "__shared__ bool last;\n__threadfence();\n__syncthreads();\nif ({0}) {{\nu32* counter = reinterpret_cast<u32*>(p.w[{1}]) + {2};\n"
        "last = atomicAdd(counter, 1u) == u32({3}) - 1;\nif (last) atomicExch(counter, 0u);\n}}\n__syncthreads();\n"
        "if (!last) return;\n__threadfence();\n",
        leader, p_.tickets, index, word(p_.segments));
  }

  /// A thread's part of a tile: an array for each accumulator of a stage, and the statements that fill element `e`.
  struct Tile {
    std::string buffers, sink;
  };
  Tile tile_of(int stage, int elements) const {
    Tile tile;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const Accumulator& a = ir_.accumulators[k];
      if (a.stage != stage) continue;
      tile.buffers += fmt::format("Red{}::T b{}[{}];\n", k, k, elements);
      tile.sink += fmt::format("b{}[e] = {};\n", k, body_.input(a));
    }
    return tile;
  }
  static bool has_moments(const Accumulator& a) { return a.user == kNone && info(a.op).state == ReduceState::moments; }
  bool has_moments(int stage) const {
    return std::any_of(ir_.accumulators.begin(), ir_.accumulators.end(),
                       [&](const Accumulator& a) { return a.stage == stage && has_moments(a); });
  }
  /// The index of a row's state among those of its group, where a group has several rows.
  const char* of_row() const { return ir_.schedule.rows > 1 ? "[j]" : ""; }
  /// Joins `count` of a thread's elements, whose first vector is at index `at` of the row, into its states.
  std::string join_tile(int stage, int elements, const std::string& count, const std::string& at) const {
    std::string out;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      if (ir_.accumulators[k].stage == stage)
        out += fmt::format("{7}_join<Red{0}, {1}, {2}>(part{0}{6}, empty{0}{6}, b{0}, {3}, {4}, i64({5}) * {2});\n", k, elements,
                           ir_.schedule.vector, count, at, ir_.schedule.group, of_row(),
                           has_moments(ir_.accumulators[k]) ? "moments" : "thread");
    return out;
  }

  /// The coordinates of row `j` of a group's square, which begins at `first` of the last kept axis and `first_outer` of the one before.
  std::string row_of_square(const char* j) const {
    return fmt::format("const I x{} = first + {} % {}, x{} = first_outer + {} / {};\n", ir_.kept - 1, j, ir_.schedule.rows, ir_.kept - 2, j,
                       ir_.schedule.rows);
  }

  /// The squares of a block's groups form a larger square, so that the operands that they share come from the cache.
  std::string square_of_rows() const {
    const int inner = ir_.kept - 1;
    const Schedule::Square groups = ir_.schedule.groups_of_block();
    std::string out = fmt::format("{} rest = blockIdx.x;\n", ir_.schedule.wide ? "u64" : "u32");
    const auto axis = [&](const char* name, const char* sub, int shape_word, int groups_along, int rows) {
      out += fmt::format(
          "const I {0}_extent = {3}, {0}_blocks = ({0}_extent + {2} - 1) / {2}, {0}_here = I(rest % {0}_blocks) * {2} + {1} * {4};\n"
          "rest /= {0}_blocks;\n",
          name, sub, groups_along * rows, word(shape_word), rows);
    };
    axis("first", fmt::format("(sub % {})", groups.across).c_str(), p_.kept_shape + inner, groups.across, ir_.schedule.rows);
    axis("first_outer", fmt::format("(sub / {})", groups.across).c_str(), p_.kept_shape + inner - 1, groups.down, ir_.schedule.outer_rows);
    out +=
        "const bool there = first_here < first_extent && first_outer_here < first_outer_extent;\n"
        "const I first = there ? first_here : 0, first_outer = there ? first_outer_here : 0;\n";
    return out + coordinates("rest", "x", p_.kept_shape, inner - 1);
  }

  /// Computes the totals of a group's square; each lane finishes the rows whose totals it holds.
  std::string join_square() const {
    const int g = ir_.schedule.group, rows = ir_.schedule.rows_of_group(), held = std::max(1, rows / g), lanes = std::max(1, g / rows);
    return fmt::format(
               "const auto totals = rows_join<Red0, {0}, {1}>(part0, lane, active);\n#pragma unroll\nfor (int e = 0; e < {2}; ++e) {{\n"
               "const {3} total0 = totals.state[e];\nconst int j = lane / {4} * {2} + e;\nconst bool writes = there && lane % {4} == 0;\n",
               g, rows, held, state(0), lanes) +
           row_of_square("j");
  }

  /// Finds the row (or segment of one) of a group of threads: the group's lanes walk it from `lo` to `hi`, `active` of them with elements.
  std::string row_of_group(int rows_per_block) const {
    const int g = ir_.schedule.group;
    std::string out = fmt::format("const int lane = threadIdx.x % {0}, sub = threadIdx.x / {0};\n", g);
    if (ir_.schedule.segmented) {
      out += fmt::format("const I segs = {0}, row = I(blockIdx.x) / segs, seg = I(blockIdx.x) % segs;\nconst bool there = true;\n",
                         word(p_.segments));
      out += fmt::format("const I lo = seg * {0}, hi = lo + {0} < {1} ? lo + {0} : {1};\n", word(p_.segment_length), word(p_.reduced_size));
    } else if (ir_.schedule.outer_rows > 1) {
      out += square_of_rows();
    } else {
      out += fmt::format(
          "const I row_here = (I(blockIdx.x) * {0} + sub) * {2};\nconst bool there = row_here < {1};\n"
          "const I row = there ? row_here : {1} - {2};\n",
          rows_per_block, word(p_.kept_size), ir_.schedule.rows);
    }
    if (!ir_.schedule.segmented) out += fmt::format("const I lo = 0, hi = {};\n", word(p_.reduced_size));
    out += fmt::format("const int active = int(hi - lo < I({0}) * {1} ? (hi - lo + {1} - 1) / {1} : {0}); (void)active;\n", g,
                       ir_.schedule.vector);
    if (ir_.schedule.outer_rows > 1) return out;
    out += coordinates("row", "x", p_.kept_shape, ir_.kept);
    return ir_.schedule.rows > 1 ? out + fmt::format("const I first = x{};\n", ir_.kept - 1) : out;
  }

  /// The loop over a group's rows, which are neighbours along the last kept axis and the one before: j counts them. Empty for one row.
  struct Loop {
    std::string head, tail;
  };
  Loop loop_over_rows() const {
    if (ir_.schedule.rows_of_group() == 1) return {};
    const std::string head = fmt::format("#pragma unroll\nfor (int j = 0; j < {}; ++j) {{\n", ir_.schedule.rows_of_group());
    return {head + (ir_.schedule.outer_rows > 1 ? row_of_square("j") : fmt::format("const I x{} = first + j;\n", ir_.kept - 1)), "}\n"};
  }

  /// The values that later stages use again, which a thread keeps in registers.
  std::set<int> cached_values() const {
    std::set<int> cached;
    for (const Value& x : ir_.values)
      if (x.kind == Value::Kind::register_cached) cached.insert(x.args[0]);
    return cached;
  }

  /// Declares a thread's states of a stage's accumulators: of one row, or of each row of its group.
  std::string row_states(int stage) const {
    std::string out;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      if (ir_.accumulators[k].stage != stage) continue;
      if (ir_.schedule.rows == 1)
        out += fmt::format("{} part{}; bool empty{} = true;\n", state(static_cast<int>(k)), k, k);
      else
        out += fmt::format("{0} part{1}[{2}]; bool empty{1}[{2}];\n#pragma unroll\nfor (int j = 0; j < {2}; ++j) empty{1}[j] = true;\n",
                           state(static_cast<int>(k)), k, ir_.schedule.rows_of_group());
    }
    return out;
  }

  bool walks_row(int stage, const std::set<int>& used) const {
    return !used.empty() || std::any_of(ir_.values.begin(), ir_.values.end(), [&](const Value& x) {
      return x.stage == stage && !x.outer && x.kind != Value::Kind::constant && x.kind != Value::Kind::result;
    });
  }

  /// Whether threads past the last row process the last row too: where a row's result is used as an index, they would report a wrong index
  /// without a row.
  bool all_walk() const { return ir_.schedule.segmented || ir_.checked; }

  /// A stage's walk along the row, in the parts that both ways of walking use.
  struct RowWalk {
    int stage;
    std::string pointers;
    std::string index;      // r, the index of a thread's vector k
    std::string vectors;    // the head of the loop over the vectors of a tile
    std::string inside;     // the condition that a vector is in the row
    std::string tile_slot;  // e, an element's index in the tile
  };
  RowWalk row_walk(int stage, const std::set<int>& used) const {
    const int v = ir_.schedule.vector;
    RowWalk walk;
    walk.stage = stage;
    for (int a : used) walk.pointers += pointer(a, ir_.kept, ir_.reduced) + step(a, ir_.kept + ir_.reduced - 1);
    walk.index = fmt::format("const I r = base + (k * {} + lane) * {};\n", ir_.schedule.group, v);
    walk.vectors = fmt::format("#pragma unroll\nfor (int k = 0; k < {}; ++k) {{\n", ir_.schedule.unroll) + walk.index;
    walk.inside = std::string("if (r < hi") + (all_walk() ? "" : " && there") + ") {\n";
    walk.tile_slot = fmt::format("const int e = k * {} + u; (void)e;\n", v);
    return walk;
  }
  /// The statements for the vector at index r of the row.
  std::string row_vector(const RowWalk& walk, const std::set<int>& used, const std::string& slot, const std::string& sink) const {
    return coordinates("r", "z", p_.reduced_shape, ir_.reduced) + walk.pointers + vector_body(walk.stage, used, slot, sink);
  }

  /// Walks a row that one tile covers; its values stay in registers.
  std::string walk_cached_row(const RowWalk& walk, const std::set<int>& used, const std::set<int>& cached) const {
    const int v = ir_.schedule.vector, elements = ir_.schedule.unroll * v;
    const Tile tile = tile_of(walk.stage, elements);
    std::string sink;
    for (int k : cached)
      if (ir_.values[k].stage == walk.stage) sink += fmt::format("h{0}[e] = v{0};\n", k);
    return "{\nconst I base = lo;\nint m = 0;\n" + tile.buffers + walk.vectors + walk.inside +
           row_vector(walk, used, walk.tile_slot, sink + tile.sink) + fmt::format("m += {};\n}}\n}}\n", v) +
           join_tile(walk.stage, elements, all_walk() ? "m" : "there ? m : 0", fmt::format("base + lane * {}", v)) + "}\n";
  }

  /// Walks a row tile by tile. All loads of a full tile are issued before the first is used. The remainder is processed vector by vector,
  /// in the same order, except for moments, which are computed for full tiles. A quick compile processes everything vector by vector.
  std::string walk_long_row(const RowWalk& walk, const std::set<int>& used, const Loop& rows) const {
    const int g = ir_.schedule.group, v = ir_.schedule.vector, elements = ir_.schedule.unroll * v;
    const Tile tile = tile_of(walk.stage, elements), rest = tile_of(walk.stage, v);
    const char* walks_on = all_walk() ? "" : "there && ";
    const bool moments = has_moments(walk.stage);
    // Each of several stages walks in a scope of its own.
    const bool scoped = ir_.stages > 1;
    std::string out = std::string(scoped ? "{\nI base = lo;\n" : "I base = lo;\n") + (moments ? "" : "#ifndef BC_QUICK\n");
    out += fmt::format("for (; {0}base + {1} <= hi; base += {1}) {{\n", walks_on, g * elements);
    out += rows.head + tile.buffers + walk.vectors + row_vector(walk, used, walk.tile_slot, tile.sink) + "}\n";
    out += join_tile(walk.stage, elements, std::to_string(elements), fmt::format("base + lane * {}", v)) + rows.tail + "}\n";
    if (!moments) out += "#endif\n";
    out += fmt::format("#pragma unroll 1\nfor (I k = 0; {}base + k * {} < hi; ++k) {{\n", walks_on, g * v) + walk.index + walk.inside;
    out += rows.head + rest.buffers + row_vector(walk, used, "const int e = u; (void)e;\n", rest.sink);
    return out + join_tile(walk.stage, v, std::to_string(v), "r") + rows.tail + (scoped ? "}\n}\n}\n" : "}\n}\n");
  }

  /// Joins the states of a group's lanes: lane 0 gets the totals.
  std::string join_group(int stage) const {
    const int g = ir_.schedule.group;
    std::string out;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      if (ir_.accumulators[k].stage == stage)
        out +=
            fmt::format("{0} total{1} = group_join<Red{1}, {2}>(part{1}{4}, reinterpret_cast<{0}*>(shared) + sub * {3}, lane, active);\n",
                        state(static_cast<int>(k)), k, g, std::max(1, g / 32), of_row());
    return out;
  }

  /// Stores the totals of a segment; the last block of a row joins those of all its segments.
  std::string join_segments() const {
    const int g = ir_.schedule.group;
    const std::string items = fmt::format("{} * segs", word(p_.kept_size));
    std::string out = "if (lane == 0) {\n";
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      out += fmt::format("{} = total{};\n", partial(static_cast<int>(k), "row * segs + seg", items), k);
    out += "}\n" + ticket("row", "lane == 0");
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      out += fmt::format(
          "{{\n{0} mine; bool none = true;\nfor (I s = lane; s < segs; s += {1}) {{\nconst {0} other = {2};\n"
          "mine = none ? other : Red{3}::join(mine, other);\nnone = false;\n}}\n",
          state(static_cast<int>(k)), g, partial(static_cast<int>(k), "row * segs + s", items), k);
      out +=
          fmt::format("total{1} = group_join<Red{1}, {2}>(mine, reinterpret_cast<{0}*>(shared), lane, int(segs < {2} ? segs : {2}));\n}}\n",
                      state(static_cast<int>(k)), k, g);
    }
    return out;
  }

  std::string rows(int threads) {
    int bytes = 16;
    for (const Accumulator& a : ir_.accumulators) bytes = std::max(bytes, state_bytes(a));
    std::string out = fmt::format("__shared__ __align__(16) unsigned char shared[{}];\n", bytes * std::max(1, threads / 32));
    out += row_of_group(threads / ir_.schedule.group);
    const Loop over_rows = loop_over_rows();
    const std::set<int> cached = cached_values();
    for (int k : cached)
      out += fmt::format("{} h{}[{}];\n", info(ir_.values[k].dtype).c_name, k, ir_.schedule.unroll * ir_.schedule.vector);
    std::set<int> declared;  // per-row accesses that several stages read
    for (int s = 0; s < ir_.stages; ++s) {
      find_predicated(s);
      out += row_states(s);
      if (const std::set<int> used = body_.accesses(s, false); walks_row(s, used)) {
        const RowWalk walk = row_walk(s, used);
        out += ir_.schedule.cached ? walk_cached_row(walk, used, cached) : walk_long_row(walk, used, over_rows);
      }
      if (ir_.schedule.outer_rows > 1) {
        out += join_square();
        for (int a : body_.accesses(s, true)) out += pointer(a, ir_.kept, 0);
        out += finish(s, "writes") + "}\n";
        continue;
      }
      out += over_rows.head + join_group(s);
      if (ir_.schedule.segmented) out += join_segments();
      for (int a : body_.accesses(s, true))
        if (declared.insert(a).second) out += pointer(a, ir_.kept, 0);
      out += finish(s, "lane == 0 && there") + over_rows.tail;
    }
    return out;
  }

  std::string columns() {
    find_predicated(0);
    const int v = ir_.schedule.vector, inner = ir_.kept - 1;
    const std::set<int> used = body_.accesses(0, false);
    int bytes = 16;
    for (const Accumulator& a : ir_.accumulators) bytes = std::max(bytes, state_bytes(a));
    std::string out = fmt::format("__shared__ __align__(16) unsigned char shared[{}];\n", bytes * v * kColumnThreads * kColumnGroups);
    out += fmt::format(
        "const I segs = {0}, width = {1}, tiles = (width + {2} - 1) / {2};\n"
        "const I seg = I(blockIdx.x) % segs, tile = I(blockIdx.x) / segs % tiles, outer = I(blockIdx.x) / segs / tiles;\n"
        "const I lo = seg * {3}, hi = lo + {3} < {4} ? lo + {3} : {4};\nconst int lane = threadIdx.x, group = threadIdx.y;\n"
        "const I column = tile * {2} + lane * {5};\nconst bool there = column < width;\n",
        word(p_.segments), word(p_.kept_shape + inner), kColumnThreads * v, word(p_.segment_length), word(p_.reduced_size), v);
    out += fmt::format("const int active = int(hi - lo < {0} ? hi - lo : {0});\n", kColumnGroups);
    out += coordinates("outer", "x", p_.kept_shape, inner);
    std::string sink, totals;
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) {
      const Accumulator& a = ir_.accumulators[k];
      out += fmt::format("{} part{}[{}]; (void)part{};\n", state(static_cast<int>(k)), k, v, k);
      const std::string value = body_.input(a);
      sink += fmt::format("{{ const {0} s = Red{1}::map({2}, i64(r)); part{1}[u] = r == lo + group ? s : Red{1}::join(part{1}[u], s); }}\n",
                          state(static_cast<int>(k)), k, value);
    }
    out += fmt::format("{{\nconst I x{} = there ? column : 0;\n", inner);
    for (int a : used) out += step(a, inner);
    out += fmt::format("if (there) {{\n#pragma unroll 4\nfor (I r = lo + group; r < hi; r += {}) {{\n", kColumnGroups);
    out += coordinates("r", "z", p_.reduced_shape, ir_.reduced);
    for (int a : used) out += pointer(a, ir_.kept, ir_.reduced);
    out += vector_body(0, used, "", sink) + "}\n}\n}\n";
    // Partial results of neighbouring columns are adjacent, so that neighbouring threads access neighbouring memory.
    const std::string items = fmt::format("{} * segs", word(p_.kept_size));
    const auto place = [&](size_t k, const char* seg) {
      return partial(static_cast<int>(k), fmt::format("i64({}) * {} + i64(outer) * width + column + u", seg, word(p_.kept_size)), items);
    };
    for (size_t k = 0; k < ir_.accumulators.size(); ++k) out += group_tree(static_cast<int>(k), "active");
    if (ir_.schedule.segmented) {
      out += fmt::format("if (group == 0 && there) {{\n#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n", v);
      for (size_t k = 0; k < ir_.accumulators.size(); ++k) out += fmt::format("{} = part{}[u];\n", place(k, "seg"), k);
      out += "}\n}\n" + ticket("outer * tiles + tile", "threadIdx.x == 0 && threadIdx.y == 0");
      out += fmt::format("if (there)\nfor (I s = group; s < segs; s += {}) {{\n#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n",
                         kColumnGroups, v);
      for (size_t k = 0; k < ir_.accumulators.size(); ++k)
        out += fmt::format("{{ const {0} other = {1};\npart{2}[u] = s == group ? other : Red{2}::join(part{2}[u], other); }}\n",
                           state(static_cast<int>(k)), place(k, "s"), k);
      out += "}\n}\n";
      for (size_t k = 0; k < ir_.accumulators.size(); ++k)
        out += group_tree(static_cast<int>(k), fmt::format("int(segs < {0} ? segs : {0})", kColumnGroups));
    }
    out += fmt::format("if (group != 0 || !there) return;\n#pragma unroll\nfor (int u = 0; u < {}; ++u) {{\n", v);
    for (size_t k = 0; k < ir_.accumulators.size(); ++k)
      out += fmt::format("const {0} total{1} = hi > lo ? part{1}[u] : Red{1}::init();\n", state(static_cast<int>(k)), k);
    out += fmt::format("const I x{} = column + u;\n", inner);
    for (int a : body_.accesses(0, true)) out += pointer(a, ir_.kept, 0);
    return out + finish(0, "true") + "}\n";
  }

  /// Joins all columns' states of accumulator k across the block's groups; group 0 gets the totals.
  std::string group_tree(int k, const std::string& active) const {
    return fmt::format(
        "{{\n{0}* sh = reinterpret_cast<{0}*>(shared) + (group * {2} + lane) * {4};\n__syncthreads();\nif (group < {1})\n"
        "#pragma unroll\nfor (int u = 0; u < {4}; ++u) sh[u] = part{5}[u];\n"
        "for (int w = {3}; w > 0; w /= 2) {{\n__syncthreads();\nif (group < w && group + w < {1})\n"
        "#pragma unroll\nfor (int u = 0; u < {4}; ++u) sh[u] = Red{5}::join(sh[u], sh[w * {2} * {4} + u]);\n}}\n"
        "if (group == 0)\n#pragma unroll\nfor (int u = 0; u < {4}; ++u) part{5}[u] = sh[u];\n}}\n",
        state(k), active, kColumnThreads, kColumnGroups / 2, ir_.schedule.vector, k);
  }

  const Ir& ir_;
  const ParamLayout p_;
  BodyPrinter body_;
  std::set<int> early_;  ///< see find_early()
  std::set<int> predicated_;
};

}  // namespace

KernelSource print_cuda(const Ir& ir) { return CudaPrinter(ir).print(); }

}  // namespace bc
