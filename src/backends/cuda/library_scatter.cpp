// Scatters on CUDA, with the same result in every run. A "place" is a position in the index space. Assignment: a maximum over places finds
// the last place that addresses an element. Operators that commute exactly (integers) use atomics. For the others the places are sorted
// stably by element, and each element's run is folded.
#include <fmt/format.h>

#include <bit>
#include <optional>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "backends/cuda/library_scan.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int kSortItems = 16;  // elements of a thread
constexpr int64_t kSortTile = kThreads * kSortItems;

/// The index space of one scatter, split into places (axes along which an index changes) and the elements of each place.
struct Space {
  Dims outer, value_outer, walk_outer, key_outer;
  Dims inner, value_inner, target_inner;
  std::vector<Dims> index_outer;
  int64_t places = 1, count = 1;
  int64_t keys = 1;  ///< different addressed positions of the target

  Space(const ScatterExtra& op, std::span<const View> inputs, const View& output) : index_outer(inputs.size() - 1) {
    const View& value = inputs[0];
    const Dims& shape = value.layout.shape;
    for (int d = 0; d < shape.size(); ++d) {
      bool moves = op.axis[d] < 0;
      for (size_t k = 0; k < index_outer.size(); ++k) moves |= shape[d] > 1 && inputs[k + 1].layout.strides[d] != 0;
      const int64_t walks = op.axis[d] < 0 ? 0 : output.layout.strides[static_cast<int>(op.axis[d])];
      if (moves) {
        outer.push_back(shape[d]), value_outer.push_back(value.layout.strides[d]), walk_outer.push_back(walks);
        key_outer.push_back(op.axis[d] < 0 ? 0 : shape[d]);
        for (size_t k = 0; k < index_outer.size(); ++k) index_outer[k].push_back(inputs[k + 1].layout.strides[d]);
      } else {
        inner.push_back(shape[d]), value_inner.push_back(value.layout.strides[d]), target_inner.push_back(walks);
      }
    }
    // Axes of the index space that step along a target axis directly enter the key with their own strides.
    for (int64_t& k : key_outer)
      if (k != 0) {
        const int64_t extent = k;
        k = keys;
        keys *= extent;
      }
    for (int64_t axis : op.index_axis) keys *= output.layout.shape[static_cast<int>(axis)];
    places = product(outer);
    count = product(inner);
    Dims* lists[] = {&value_inner, &target_inner};
    collapse(&inner, lists);
  }
  bool uniform_value() const {
    for (int d = 0; d < outer.size(); ++d)
      if (outer[d] > 1 && value_outer[d] != 0) return false;
    return true;
  }
};

/// Text that computes a place's address: `at`, the offset in the target; `key`, the number of the element; and `bad`, whether an index is
/// out of range.
class Places {
 public:
  Places(Words& w, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s) {
    const size_t indices = s.index_outer.size();
    const int walk = w.walk(s.outer, {&s.walk_outer, &s.key_outer});
    for (const Dims& d : s.index_outer)
      for (int64_t stride : d) w.integer(stride);
    int64_t walked = 1;
    for (int d = 0; d < s.outer.size(); ++d)
      if (s.key_outer[d] != 0) walked *= s.outer[d];
    const int scale = w.integer(walked);
    text_ = fmt::format(R"(i64 po[{1}];
offsets<{0}, {1}>(place, p.w + {2}, po);
i64 at = po[0], key = po[1], scale = p.w[{3}];
bool bad = false;
)",
                        s.outer.size(), indices + 2, walk, scale);
    for (size_t k = 0; k < indices; ++k) {
      const int axis = static_cast<int>(op.index_axis[static_cast<int>(k)]);
      const int word = w.pointer(first(inputs[k + 1]));
      w.integer(output.layout.shape[axis]);
      w.integer(output.layout.strides[axis]);
      text_ += fmt::format(R"({{
  const i64 extent = p.w[{0} + 1];
  i64 i = word_as<const i64*>(p.w + {0})[po[{1}]];
  if (i < 0) i += extent;
  bad |= i < 0 || i >= extent;
  at += i * p.w[{0} + 2];
  key += i * scale;
  scale *= extent;
}}
)",
                           word, k + 2);
    }
    // An index out of range is reported by the kernel that checks the indices; nothing is written for it.
    text_ += "(void)at, (void)key;\n";
    variant_ = fmt::format("{} {} {}", s.outer.size(), s.inner.size(), indices);
  }
  const std::string& text() const { return text_; }
  /// Everything on which the text depends; a part of the kernel's key.
  std::string variant(const std::string& rest) const { return variant_ + " " + rest; }

 private:
  std::string text_, variant_;
};

/// Text for the value and the target of a place's element `e`: defines v and to.
class Elements {
 public:
  Elements(Words& w, const Space& s, const View& value, const View& output, const char* type, const char* target_type = nullptr) {
    if (!target_type) target_type = type;
    const int at = w.pointer(first(value));
    target_ = w.pointer(first(output));
    count_ = w.integer(s.count);
    const int outer = w.walk(s.outer, {&s.value_outer}), inner = w.walk(s.inner, {&s.value_inner, &s.target_inner});
    text_ = fmt::format(R"(i64 vo[1], io[2];
offsets<{1}, 1>(place, p.w + {2}, vo);
offsets<{3}, 2>(e, p.w + {4}, io);
const {0}* v = word_as<const {0}*>(p.w + {5}) + vo[0] + io[0];
{7}* to = word_as<{7}*>(p.w + {6}) + io[1];
(void)to;
)",
                        type, s.outer.size(), outer, s.inner.size(), inner, at, target_, target_type);
  }
  const std::string& text() const { return text_; }
  int target_word() const { return target_; }
  /// The text that splits the thread's `job` into place and element.
  std::string split(const char* job, const char* place) const {
    return fmt::format("const i64 {1} = {0} / p.w[{2}], e = {0} - {1} * p.w[{2}];\n(void)e;\n", job, place, count_);
  }

 private:
  std::string text_;
  int target_, count_;
};

const std::string kJob = fmt::format("const i64 job = static_cast<i64>(blockIdx.x) * {} + t;\nif (job >= p.w[0]) return;\n", kThreads);

/// Finds the last place that addresses each element; only that place assigns it.
class LastPlaces {
 public:
  LastPlaces(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s)
      : wide_(s.places > 0x7fffffff ? "u64" : "u32"), hashed_(s.keys / kSparse >= s.places) {
    const int64_t word = wide_[1] == '6' ? 8 : 4;
    Words w;
    w.integer(s.places);
    if (!hashed_) {
      table_ = queue.scratch(s.keys * word);
      words(&w);
      const Places places(w, op, inputs, output, s);
      const std::string head = kJob + "const i64 place = job;\n" + places.text() +
                               fmt::format("if (bad) return;\n{0}* owner = word_as<{0}*>(p.w + 1) + key;\n", wide_);
      // The first kernel stores some place that addresses each element, so the table needs no clearing before the maximum.
      queue.run_for("claim", places.variant(wide_), "", head + fmt::format("*owner = static_cast<{}>(place);", wide_), s.places, w);
      queue.run_for("settle", places.variant(wide_), "",
                    head + fmt::format("if (*owner < place) atomicMax(owner, static_cast<{}>(place));", wide_), s.places, w);
      return;
    }
    // For few places in a large target: a hash table of the addressed elements, at most half full. Places are stored as complements, so
    // that one fill clears both columns.
    const auto slots = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * s.places)));
    bits_ = std::countr_zero(static_cast<uint64_t>(slots));
    table_ = queue.scratch(slots * (8 + word));
    backend(queue.device()).fill(table_->ptr, 0xff, static_cast<size_t>(slots * (8 + word)), queue.stream());
    words(&w);
    const Places places(w, op, inputs, output, s);
    queue.run_for("claim_hashed", places.variant(wide_), "",
                  kJob + "const i64 place = job;\n" + places.text() + "if (bad) return;\n" + find() +
                      fmt::format(R"(for (;;) {{
  const u64 seen = atomicCAS(elements + slot, kEmpty, static_cast<u64>(key));
  if (seen == kEmpty || seen == static_cast<u64>(key)) break;
  slot = (slot + 1) & mask;
}}
atomicMin(last + slot, ~static_cast<{}>(place));)",
                                  wide_),
                  s.places, w);
  }

  /// Adds the two parameter words that the text reads.
  void words(Words* w) const {
    w->pointer(table_->ptr);
    w->integer(bits_);
  }
  /// Statements that leave the kernel if another place assigns the element `key`.
  std::string text() const {
    if (!hashed_) return fmt::format("if (word_as<const {}*>(p.w + 1)[key] != place) return;\n", wide_);
    return find() + fmt::format(R"(while (elements[slot] != static_cast<u64>(key)) slot = (slot + 1) & mask;
if (last[slot] != ~static_cast<{}>(place)) return;
)",
                                wide_);
  }
  std::string variant() const { return fmt::format("{} {}", wide_, hashed_ ? "hashed" : "direct"); }

 private:
  /// The text that defines the table's columns and the first slot of `key`, by multiplicative hashing.
  std::string find() const {
    return fmt::format(R"(constexpr u64 kEmpty = ~0ull;
(void)kEmpty;
u64* elements = word_as<u64*>(p.w + 1);
{0}* last = reinterpret_cast<{0}*>(elements + (1ll << p.w[2]));
const u64 mask = (1ull << p.w[2]) - 1;
u64 slot = static_cast<u64>(key) * 0x9e3779b97f4a7c15ull >> (64 - p.w[2]);
)",
                       wide_);
  }

  static constexpr int64_t kSparse = 64;  // with more elements per place than this, a table of all elements would waste memory
  const char* const wide_;
  const bool hashed_;
  int bits_ = 0;
  Ref<Buffer> table_;
};

void assign(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s) {
  std::optional<LastPlaces> last;
  if (!s.uniform_value()) last.emplace(queue, op, inputs, output, s);
  Words w;
  w.integer(s.places * s.count);
  if (last) last->words(&w);
  const char* type = carrier(output.dtype);
  const Places places(w, op, inputs, output, s);
  const Elements elements(w, s, inputs[0], output, type);
  queue.run_for("assign", places.variant(fmt::format("{} {}", type, last ? last->variant() : "any")), "",
                kJob + elements.split("job", "place") + places.text() + "if (bad) return;\n" + (last ? last->text() : std::string()) +
                    elements.text() + "to[at] = *v;",
                s.places * s.count, w);
}

/// The atomic form of a row that commutes exactly in an integer type; empty if there is none.
std::string atomic_text(Op op, DType t) {
  if (is_inexact(t)) return "";
  const int bytes = itemsize(t);
  const char* sign = is_unsigned(t) ? "u" : "i";
  std::string native;
  if (bytes >= 4) {
    const std::string plain = bytes == 4 ? "u32" : "u64", own = sign + std::to_string(8 * bytes);
    auto call = [&](const char* name, const std::string& type, const char* value) {
      return fmt::format("{0}(reinterpret_cast<{1}*>(to), static_cast<{1}>({2}));", name, type, value);
    };
    switch (op) {
      case Op::add: native = call("atomicAdd", plain, "v"); break;
      case Op::subtract: native = call("atomicAdd", plain, "negative(v)"); break;
      case Op::bitwise_and: native = call("atomicAnd", plain, "v"); break;
      case Op::bitwise_or: native = call("atomicOr", plain, "v"); break;
      case Op::bitwise_xor: native = call("atomicXor", plain, "v"); break;
      case Op::maximum:
      case Op::fmax: native = call("atomicMax", own, "v"); break;
      case Op::minimum:
      case Op::fmin: native = call("atomicMin", own, "v"); break;
      default: break;
    }
  }
  const bool commutes = associative(op) || op == Op::subtract;
  if (!commutes || op == Op::hypot || op == Op::logaddexp || op == Op::logaddexp2 || op == Op::gcd || op == Op::lcm) return "";
  std::string text = apply_text(op, t) + "BC_INLINE void atomic_apply(T* to, T v) {\n";
  if (!native.empty()) {
    text += native;
  } else if (bytes >= 4) {
    text += fmt::format(R"(auto* word = reinterpret_cast<{0}*>(to);
{0} old = *word, seen;
do {{
  seen = old;
  old = atomicCAS(word, seen, static_cast<{0}>(apply(static_cast<T>(seen), v)));
}} while (old != seen);)",
                        bytes == 4 ? "u32" : "u64");
  } else {
    // A part of a 32-bit word; the bytes beside it stay.
    text += R"(const u64 address = reinterpret_cast<u64>(to);
u32* word = reinterpret_cast<u32*>(address & ~3ull);
const u32 shift = 8 * static_cast<u32>(address & 3), mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
u32 old = *word, seen;
do {
  seen = old;
  const T r = apply(static_cast<T>((seen & mask) >> shift), v);
  old = atomicCAS(word, seen, (seen & ~mask) | (static_cast<u32>(static_cast<unsigned_of<T>>(r)) << shift));
} while (old != seen);)";
  }
  return text + "\n}\n";
}

void apply_atomics(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s,
                   const std::string& head) {
  Words w;
  w.integer(s.places * s.count);
  const Places places(w, op, inputs, output, s);
  const Elements elements(w, s, inputs[0], output, "T");
  queue.run_for(
      "at_atomic", places.variant(fmt::format("{} {}", info(op.op).name, info(output.dtype).name)), head,
      kJob + elements.split("job", "place") + places.text() + "if (bad) return;\n" + elements.text() + "atomic_apply(to + at, *v);",
      s.places * s.count, w);
}

constexpr int64_t kMostBins = 12 * 1024;  // the number of 32-bit counts in 48 KiB of shared memory

/// Counting (as in bincount): a constant is added at each index of a contiguous list, to few different elements.
bool counts_places(const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s) {
  const DType t = output.dtype;
  return op.op == Op::add && inputs[0].dtype == t && is_integer(t) && itemsize(t) >= 4 && s.uniform_value() && s.count == 1 &&
         inputs.size() == 2 && s.keys <= kMostBins && s.places >= 4096 && inputs[1].layout.ndim() == 1 && inputs[1].layout.strides[0] == 1;
}

/// Counts in each block's shared memory first.
void count_in_blocks(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s,
                     const std::string& head) {
  constexpr int64_t kBlocks = 264, kPairs = 4;  // two blocks per multiprocessor: each adds all its counts at the end
  const int axis = static_cast<int>(op.index_axis[0]);
  const int64_t room = s.keys <= 1024 ? 1024 : s.keys <= 4096 ? 4096 : kMostBins, step = kThreads * 2 * kPairs;
  Words w;
  w.pointer(first(inputs[1]));
  w.pointer(first(inputs[0]));
  w.pointer(first(output));
  for (int64_t v : {s.places, s.keys, output.layout.strides[axis]}) w.integer(v);
  queue.run("count_places", fmt::format("{} {}", info(output.dtype).name, room), head,
            fmt::format(R"(__shared__ u32 counts[{0}];
const i64* places = word_as<const i64*>(p.w);
const i64 n = p.w[3];
const int bins = static_cast<int>(p.w[4]);
for (int k = t; k < bins; k += {1}) counts[k] = 0;
__syncthreads();
// Places out of range are reported where they are checked.
auto count = [&](i64 place) {{
  if (place < 0) place += bins;
  if (static_cast<u64>(place) < static_cast<u64>(bins)) atomicAdd(counts + place, 1u);
}};
i64 whole = 0;
if ((reinterpret_cast<u64>(places) & 15) == 0) {{
  whole = n / {2} * {2};
  for (i64 at = static_cast<i64>(blockIdx.x) * {2}; at < whole; at += static_cast<i64>(gridDim.x) * {2}) {{
    Vec<i64, 2> pair[{3}];
    BC_UNROLL
    for (int k = 0; k < {3}; ++k) pair[k] = *reinterpret_cast<const Vec<i64, 2>*>(places + at + 2 * (k * {1} + t));
    BC_UNROLL
    for (int k = 0; k < {3}; ++k) {{
      count(pair[k].v[0]);
      count(pair[k].v[1]);
    }}
  }}
}}
for (i64 at = whole + static_cast<i64>(blockIdx.x) * {1} + t; at < n; at += static_cast<i64>(gridDim.x) * {1}) count(places[at]);
__syncthreads();
const T value = *word_as<const T*>(p.w + 1);
// Blocks begin at different elements, so that they do not wait for each other's atomics.
const int begin = static_cast<int>(blockIdx.x * 61u % static_cast<u32>(bins));
for (int k = t; k < bins; k += {1}) {{
  const int bin = begin + k < bins ? begin + k : begin + k - bins;
  if (counts[bin]) atomic_apply(word_as<T*>(p.w + 2) + bin * p.w[5], static_cast<T>(static_cast<unsigned_of<T>>(value) * counts[bin]));
}})",
                        room, kThreads, step, kPairs),
            std::min(kBlocks, (s.places + step - 1) / step), w);
}

// A stable radix sort, eight bits a pass. Each warp ranks 32 neighbours at a time among those of the same digit.
constexpr const char* kSortHead = R"(
constexpr int kThreads = 256, kItems = 16, kWarps = kThreads / 32, kRow = 32 * kItems;
BC_INLINE u32 digit_of(K key, i64 shift) { return static_cast<u32>(key >> shift) & 255u; }
)";

/// Sorts keys (of type `type`) with their places; returns the buffers that hold the result.
std::pair<Ref<Buffer>, Ref<Buffer>> sort_places(Queue& queue, Ref<Buffer> keys, int64_t n, int64_t largest, const char* type, int bytes) {
  Ref<Buffer> places, other_keys = queue.scratch(n * bytes), other_places = queue.scratch(n * 4);
  const int64_t blocks = (n + kSortTile - 1) / kSortTile;
  Ref<Buffer> counts = queue.scratch(256 * blocks * 8);
  const std::string head = fmt::format("using K = {};\n", type) + kSortHead;
  for (int shift = 0; shift == 0 || (shift < 64 && largest >> shift); shift += 8) {
    Words w;
    w.pointer(keys->ptr);
    w.pointer(places ? places->ptr : nullptr);
    w.pointer(other_keys->ptr);
    w.pointer(other_places->ptr);
    w.pointer(counts->ptr);
    for (int64_t v : {n, static_cast<int64_t>(shift), blocks}) w.integer(v);
    queue.run("sort_count", type, head, R"(__shared__ u32 s[256];
s[t] = 0;
__syncthreads();
const i64 start = static_cast<i64>(blockIdx.x) * kThreads * kItems;
for (int k = 0; k < kItems; ++k) {
  const i64 i = start + k * kThreads + t;
  if (i < p.w[5]) atomicAdd(&s[digit_of(word_as<const K*>(p.w)[i], p.w[6])], 1u);
}
__syncthreads();
word_as<i64*>(p.w + 4)[t * p.w[7] + blockIdx.x] = s[t];)",
              blocks, w);
    inclusive_sum(queue, counts->ptr, 256 * blocks);
    queue.run("sort_move", type, head, R"(__shared__ u32 s[kWarps][256];
__shared__ i64 base[256];
const int warp = t / 32, lane = t % 32;
for (int k = 0; k < kWarps; ++k) s[k][t] = 0;
__syncthreads();
const i64 start = static_cast<i64>(blockIdx.x) * kThreads * kItems + warp * kRow + lane;
const K* keys = word_as<const K*>(p.w);
const u32* places = word_as<const u32*>(p.w + 1);
const u32 before = (1u << lane) - 1u;
for (int k = 0; k < kItems; ++k) {
  const i64 i = start + 32 * k;
  const u32 d = i < p.w[5] ? digit_of(keys[i], p.w[6]) : 256u;
  const u32 peers = __match_any_sync(0xffffffffu, d);
  if (d < 256u && (peers & before) == 0) s[warp][d] += __popc(peers);
  __syncwarp();
}
__syncthreads();
u32 sum = 0;
for (int k = 0; k < kWarps; ++k) {
  const u32 here = s[k][t];
  s[k][t] = sum;
  sum += here;
}
const i64 at = t * p.w[7] + blockIdx.x;
base[t] = at > 0 ? word_as<const i64*>(p.w + 4)[at - 1] : 0;
__syncthreads();
for (int k = 0; k < kItems; ++k) {
  const i64 i = start + 32 * k;
  const bool in = i < p.w[5];
  const K key = in ? keys[i] : K(0);
  const u32 d = in ? digit_of(key, p.w[6]) : 256u;
  const u32 peers = __match_any_sync(0xffffffffu, d);
  if (in) {
    const i64 to = base[d] + s[warp][d] + __popc(peers & before);
    word_as<K*>(p.w + 2)[to] = key;
    word_as<u32*>(p.w + 3)[to] = places ? places[i] : static_cast<u32>(i);
  }
  __syncwarp();
  if (in && (peers & before) == 0) s[warp][d] += __popc(peers);
  __syncwarp();
})",
              blocks, w);
    if (!places) places = queue.scratch(n * 4);
    std::swap(keys, other_keys);
    std::swap(places, other_places);
  }
  return {keys, places};
}

void apply_sorted(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s) {
  BC_CHECK(s.places <= 0xffffffff, Value, "{}.at: expected at most 4294967295 indices, got {}", info(op.op).name, s.places);
  const bool narrow = s.keys < 0xffffffff;
  const char* key_type = narrow ? "u32" : "u64";
  Ref<Buffer> key = queue.scratch(s.places * (narrow ? 4 : 8));
  {
    Words w;
    w.integer(s.places);
    w.pointer(key->ptr);
    w.integer(s.keys);
    const Places places(w, op, inputs, output, s);
    queue.run_for("keys", places.variant(key_type), "",
                  kJob + "const i64 place = job;\n" + places.text() +
                      fmt::format("word_as<{0}*>(p.w + 1)[place] = static_cast<{0}>(bad ? p.w[2] : key);", key_type),
                  s.places, w);
  }
  auto [keys, sorted] = sort_places(queue, key, s.places, s.keys, key_type, narrow ? 4 : 8);
  const DType loop = inputs[0].dtype;
  const bool by_block = s.count == 1 && associative(op.op) && loop == output.dtype;
  Words w;
  w.integer(by_block ? s.places : s.places * s.count);
  w.pointer(keys->ptr);
  w.pointer(sorted->ptr);
  w.integer(s.places);
  const Places places(w, op, inputs, output, s);
  const Elements elements(w, s, inputs[0], output, "T", "A");
  // The row runs in T; an element of another type A is cast to T and back each time.
  const std::string head = apply_text(op.op, loop) + fmt::format("using K = {};\nusing A = {};\n", key_type, info(output.dtype).c_name);
  const std::string variant =
      places.variant(fmt::format("{} {} {} {}", info(op.op).name, info(loop).name, info(output.dtype).name, key_type));
  const std::string common = R"(const K* keys = word_as<const K*>(p.w + 1);
const u32* sorted = word_as<const u32*>(p.w + 2);
const i64 n = p.w[3];
)";
  if (!by_block) {
    // One thread folds the whole run of an element.
    queue.run_for("at_runs", variant, head,
                  kJob + elements.split("job", "j") + common + R"(if (j > 0 && keys[j - 1] == keys[j]) return;
A acc;
A* target = nullptr;
for (i64 k = j; k < n && keys[k] == keys[j]; ++k) {
  const i64 place = sorted[k];
)" + elements.text() + "if (k == j) {\n" +
                      places.text() + R"(if (bad) return;
    target = to + at;
    acc = *target;
  }
  acc = cast<A>(apply(cast<T>(acc), *v));
}
*target = acc;)",
                  s.places * s.count, w);
    return;
  }
  // A block handles 256 sorted places: one thread folds a short run; all threads fold a long run together, by a fixed tree.
  queue.run_for("at_runs_block", variant, head,
                common + fmt::format(R"(constexpr int kThreads = {0};
constexpr i64 kShort = 32;
__shared__ i64 starts[kThreads], ends[kThreads];
__shared__ T* targets[kThreads];
__shared__ bool is_long[kThreads];
__shared__ T s[kThreads];
const i64 j = static_cast<i64>(blockIdx.x) * kThreads + t, e = 0;
auto value_of = [&](i64 k) {{
  const i64 place = sorted[k];
  {1}return *v;
}};
auto target_of = [&](i64 k) -> T* {{
  const i64 place = sorted[k];
  {2}return bad ? nullptr : word_as<T*>(p.w + {3}) + at;
}};
is_long[t] = false;
if (j < n && (j == 0 || keys[j - 1] != keys[j])) {{
  T* target = target_of(j);
  i64 end = j + 1;
  while (end < n && end - j <= kShort && keys[end] == keys[j]) ++end;
  if (target && end - j > kShort) {{
    // The run's end, by bisection.
    i64 low = end, high = n;
    while (low < high) {{
      const i64 middle = low + (high - low) / 2;
      if (keys[middle] == keys[j]) low = middle + 1; else high = middle;
    }}
    starts[t] = j, ends[t] = low, targets[t] = target, is_long[t] = true;
  }} else if (target) {{
    T acc = *target;
    for (i64 k = j; k < end; ++k) acc = apply(acc, value_of(k));
    *target = acc;
  }}
}}
__syncthreads();
for (int run = 0; run < kThreads; ++run) {{
  if (!is_long[run]) continue;
  const i64 begin = starts[run], end = ends[run];
  if (begin + t < end) {{
    T acc = value_of(begin + t);
    for (i64 k = begin + t + kThreads; k < end; k += kThreads) acc = apply(acc, value_of(k));
    s[t] = acc;
  }}
  const int held = static_cast<int>(end - begin < kThreads ? end - begin : kThreads);
  for (int d = kThreads / 2; d > 0; d /= 2) {{
    __syncthreads();
    if (t < d && t + d < held) s[t] = apply(s[t], s[t + d]);
  }}
  if (t == 0) *targets[run] = apply(*targets[run], s[0]);
  __syncthreads();
}})",
                                     kThreads, elements.text(), places.text(), elements.target_word()),
                s.places, w);
}

void scatter(Queue& queue, const ScatterExtra& op, std::span<const View> inputs_in, const View& output) {
  // If the value is a part of the target, it is copied first, so that its old elements are read. (Indices are read before anything is
  // written.)
  Ref<Buffer> held;
  std::vector<View> inputs(inputs_in.begin(), inputs_in.end());
  if (inputs[0].ptr == output.ptr) {
    held = packed(queue, inputs[0]);
    inputs[0] = {held->ptr, inputs[0].dtype, contiguous_layout(inputs[0].layout.shape)};
  }
  const Space s(op, inputs, output);
  if (s.places == 0 || s.count == 0 || s.keys == 0) return;
  if (op.op == Op::leaf) return assign(queue, op, inputs, output, s);
  if (const std::string head = atomic_text(op.op, output.dtype); inputs[0].dtype == output.dtype && !head.empty())
    return counts_places(op, inputs, output, s) ? count_in_blocks(queue, op, inputs, output, s, head)
                                                : apply_atomics(queue, op, inputs, output, s, head);
  apply_sorted(queue, op, inputs, output, s);
}

}  // namespace

void run(const ScatterExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { scatter(queue, op, inputs, output); });
}

}  // namespace bc::cuda
