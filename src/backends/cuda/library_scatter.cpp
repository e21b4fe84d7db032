// Scatters on CUDA, with the same result from run to run. Assignment: the last place that names an element is found by a maximum over places.
// Operators that commute exactly (integers) are atomics; the others sort the places by element, stably, and fold each element's run.
#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "backends/cuda/library_scan.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int kSortItems = 16;  // of a thread
constexpr int64_t kSortTile = kThreads * kSortItems;

/// The index space of one scatter, cut in places (axes along which an index changes) and elements of a place.
struct Space {
  Dims outer, value_outer, walk_outer, key_outer;
  Dims inner, value_inner, target_inner;
  std::vector<Dims> index_outer;
  int64_t places = 1, count = 1;
  int64_t keys = 1;  ///< different places of the target

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
    // Axes that are walked and indexed along count in the key as they are.
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

/// at[place]: the target's offset, -1 where an index is out of range; key[place]: the number of the element, `keys` where out of range.
void resolve_places(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s, void* at, void* key,
                    const char* key_type) {
  const size_t indices = s.index_outer.size();
  Words w;
  w.pointer(at);
  w.pointer(key);
  w.integer(s.places);
  w.integer(s.keys);
  const int walk = w.integer(0) + 1;
  Dims walk_outer = s.walk_outer;
  w.walk(s.outer, {&walk_outer, &s.key_outer});
  for (const Dims& d : s.index_outer)
    for (int64_t stride : d) w.integer(stride);
  int64_t base = 1;
  for (int d = 0; d < s.outer.size(); ++d)
    if (s.key_outer[d] != 0) base *= s.outer[d];
  std::string text = fmt::format(R"(const i64 place = static_cast<i64>(blockIdx.x) * {0} + t;
if (place >= p.w[2]) return;
i64 o[{2}];
offsets<{1}, {2}>(place, p.w + {3}, o);
i64 at = o[0], key = o[1], scale = {4};
bool bad = false;
)",
                                 kThreads, s.outer.size(), indices + 2, walk, "p.w[4]");
  Words all;
  for (size_t i = 0; i < w.all().size(); ++i) all.integer(static_cast<int>(i) == walk - 1 ? base : w.all()[i]);
  for (size_t k = 0; k < indices; ++k) {
    const int axis = static_cast<int>(op.index_axis[static_cast<int>(k)]);
    const int word = all.pointer(first(inputs[k + 1]));
    all.integer(output.layout.shape[axis]);
    all.integer(output.layout.strides[axis]);
    text += fmt::format(R"({{
  const i64 extent = p.w[{0} + 1];
  i64 i = word_as<const i64*>(p.w + {0})[o[{1}]];
  if (i < 0) i += extent;
  bad |= i < 0 || i >= extent;
  at += i * p.w[{0} + 2];
  key += i * scale;
  scale *= extent;
}}
)",
                        word, k + 2);
  }
  text += fmt::format("word_as<i64*>(p.w)[place] = bad ? -1 : at;\nif (p.w[1] != 0) word_as<{0}*>(p.w + 1)[place] = static_cast<{0}>(bad ? p.w[3] : key);",
                      key_type);
  queue.run_for("places", fmt::format("{} {} {}", s.outer.size(), indices, key_type), "", text, s.places, all);
}

/// Words from `at` on: the value, the target, count, then the walks of the value's places and of both sides' elements. Defines v and to.
int value_words(Words& w, const Space& s, const View& value, const View& output) {
  const int at = w.pointer(first(value));
  w.pointer(first(output));
  w.integer(s.count);
  w.walk(s.outer, {&s.value_outer});
  w.walk(s.inner, {&s.value_inner, &s.target_inner});
  return at;
}
std::string value_text(const Space& s, int at, const char* type) {
  return fmt::format(R"(i64 vo[1], io[2];
offsets<{1}, 1>(place, p.w + {2}, vo);
offsets<{3}, 2>(e, p.w + {4}, io);
const {0}* v = word_as<const {0}*>(p.w + {5}) + vo[0] + io[0];
{0}* to = word_as<{0}*>(p.w + {6}) + io[1];
)",
                     type, s.outer.size(), at + 3, s.inner.size(), at + 3 + 2 * s.outer.size(), at, at + 1);
}
std::string variant(const Space& s, const std::string& what) { return fmt::format("{} {} {}", what, s.outer.size(), s.inner.size()); }

void assign(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s) {
  Ref<Buffer> at = queue.scratch(s.places * 8), key, owner;
  const bool owners = !s.uniform_value();
  const char* wide = s.places > 0x7fffffff ? "u64" : "u32";
  if (owners) key = queue.scratch(s.places * 8);
  resolve_places(queue, op, inputs, output, s, at->ptr, owners ? key->ptr : nullptr, "u64");
  if (owners) {
    owner = queue.scratch((s.keys + 1) * (wide[1] == '6' ? 8 : 4));
    Words w;
    w.pointer(key->ptr);
    w.pointer(owner->ptr);
    w.integer(s.places);
    const std::string head = fmt::format("const i64 place = static_cast<i64>(blockIdx.x) * {} + t;\nif (place >= p.w[2]) return;\n", kThreads);
    // The first store leaves some place that names the element, so the table needs no clearing before the maximum.
    queue.run_for("claim", wide, "", head + fmt::format("word_as<{0}*>(p.w + 1)[word_as<const u64*>(p.w)[place]] = static_cast<{0}>(place);", wide),
                  s.places, w);
    queue.run_for("settle", wide, "",
                  head + fmt::format("atomicMax(word_as<{0}*>(p.w + 1) + word_as<const u64*>(p.w)[place], static_cast<{0}>(place));", wide), s.places,
                  w);
  }
  Words w;
  w.pointer(at->ptr);
  w.pointer(key ? key->ptr : nullptr);
  w.pointer(owner ? owner->ptr : nullptr);
  w.integer(s.places * s.count);
  const int base = value_words(w, s, inputs[0], output);
  const char* type = carrier(output.dtype);
  queue.run_for("assign", variant(s, fmt::format("{} {} {}", type, wide, owners)), "",
                fmt::format(R"(const i64 job = static_cast<i64>(blockIdx.x) * {0} + t;
if (job >= p.w[3]) return;
const i64 place = job / p.w[{1}], e = job - place * p.w[{1}];
const i64 at = word_as<const i64*>(p.w)[place];
if (at < 0) return;
{2}{3}to[at] = *v;)",
                            kThreads, base + 2,
                            owners ? fmt::format("if (word_as<const {}*>(p.w + 2)[word_as<const u64*>(p.w + 1)[place]] != place) return;\n", wide) : "",
                            value_text(s, base, type)),
                s.places * s.count, w);
}

/// The atomic form of a row that commutes exactly in an integer type; empty where there is none.
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

void apply_atomics(Queue& queue, const ScatterExtra& op, std::span<const View> inputs, const View& output, const Space& s, const std::string& head) {
  Ref<Buffer> at = queue.scratch(s.places * 8);
  resolve_places(queue, op, inputs, output, s, at->ptr, nullptr, "u64");
  Words w;
  w.pointer(at->ptr);
  w.integer(s.places * s.count);
  const int base = value_words(w, s, inputs[0], output);
  queue.run_for("at_atomic", variant(s, fmt::format("{} {}", info(op.op).name, info(output.dtype).name)), head,
                fmt::format(R"(const i64 job = static_cast<i64>(blockIdx.x) * {0} + t;
if (job >= p.w[1]) return;
const i64 place = job / p.w[{1}], e = job - place * p.w[{1}];
const i64 at = word_as<const i64*>(p.w)[place];
if (at < 0) return;
{2}atomic_apply(to + at, *v);)",
                            kThreads, base + 2, value_text(s, base, "T")),
                s.places * s.count, w);
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
  Ref<Buffer> at = queue.scratch(s.places * 8), key = queue.scratch(s.places * (narrow ? 4 : 8));
  resolve_places(queue, op, inputs, output, s, at->ptr, key->ptr, key_type);
  auto [keys, places] = sort_places(queue, key, s.places, s.keys, key_type, narrow ? 4 : 8);
  Words w;
  w.pointer(keys->ptr);
  w.pointer(places->ptr);
  w.pointer(at->ptr);
  w.integer(s.places);
  const int base = value_words(w, s, inputs[0], output);
  const std::string head = apply_text(op.op, output.dtype) + fmt::format("using K = {};\n", key_type);
  const std::string kind = variant(s, fmt::format("{} {} {}", info(op.op).name, info(output.dtype).name, key_type));
  const std::string value = value_text(s, base, "T");
  if (s.count > 1 || !associative(op.op)) {
    queue.run_for("at_runs", kind, head,
                  fmt::format(R"(const i64 job = static_cast<i64>(blockIdx.x) * {0} + t;
const i64 j = job / p.w[{1}], e = job - j * p.w[{1}];
if (j >= p.w[3]) return;
const K* keys = word_as<const K*>(p.w);
const u32* places = word_as<const u32*>(p.w + 1);
if (j > 0 && keys[j - 1] == keys[j]) return;
const i64 at = word_as<const i64*>(p.w + 2)[places[j]];
if (at < 0) return;
T acc;
for (i64 k = j; k < p.w[3] && keys[k] == keys[j]; ++k) {{
  const i64 place = places[k];
  {2}if (k == j) acc = to[at];
  acc = apply(acc, *v);
}}
word_as<T*>(p.w + {3})[at + [&] {{ i64 io[2]; offsets<{4}, 2>(e, p.w + {5}, io); return io[1]; }}()] = acc;)",
                              kThreads, base + 2, value, base + 1, s.inner.size(), base + 3 + 2 * s.outer.size()),
                  s.places * s.count, w);
    return;
  }
  // A block looks at 256 sorted places; a thread folds a short run by itself, all threads together a long one, by a fixed tree.
  queue.run_for("at_runs_block", kind, head,
                fmt::format(R"(constexpr int kThreads = {0};
constexpr i64 kShort = 32;
__shared__ i64 starts[kThreads], ends[kThreads];
__shared__ bool is_long[kThreads];
__shared__ T s[kThreads];
const K* keys = word_as<const K*>(p.w);
const u32* places = word_as<const u32*>(p.w + 1);
const i64* at = word_as<const i64*>(p.w + 2);
const i64 j = static_cast<i64>(blockIdx.x) * kThreads + t, n = p.w[3], e = 0;
auto value_of = [&](i64 k) {{
  const i64 place = places[k];
  {1}(void)to;
  return *v;
}};
T* target = word_as<T*>(p.w + {2});
is_long[t] = false;
if (j < n && (j == 0 || keys[j - 1] != keys[j]) && at[places[j]] >= 0) {{
  i64 end = j + 1;
  while (end < n && end - j <= kShort && keys[end] == keys[j]) ++end;
  if (end - j > kShort) {{
    // The run's end, by bisection.
    i64 low = end, high = n;
    while (low < high) {{
      const i64 middle = low + (high - low) / 2;
      if (keys[middle] == keys[j]) low = middle + 1; else high = middle;
    }}
    starts[t] = j, ends[t] = low, is_long[t] = true;
  }} else {{
    T acc = target[at[places[j]]];
    for (i64 k = j; k < end; ++k) acc = apply(acc, value_of(k));
    target[at[places[j]]] = acc;
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
  if (t == 0) target[at[places[begin]]] = apply(target[at[places[begin]]], s[0]);
  __syncthreads();
}})",
                            kThreads, value, base + 1),
                s.places, w);
}

}  // namespace

void run(const ScatterExtra& op, Device device, Stream stream, std::span<const View> inputs_in, const View& output) {
  Queue queue(device, stream);
  // A value that is a part of the target is read as it was. (Indices are read before anything is written.)
  Ref<Buffer> held;
  std::vector<View> inputs(inputs_in.begin(), inputs_in.end());
  if (inputs[0].ptr == output.ptr) {
    held = packed(queue, inputs[0]);
    inputs[0] = {held->ptr, inputs[0].dtype, contiguous_layout(inputs[0].layout.shape)};
  }
  const Space s(op, inputs, output);
  if (s.places == 0 || s.count == 0 || s.keys == 0) return;
  if (op.op == Op::leaf) return assign(queue, op, inputs, output, s);
  if (const std::string head = atomic_text(op.op, output.dtype); !head.empty()) return apply_atomics(queue, op, inputs, output, s, head);
  apply_sorted(queue, op, inputs, output, s);
}

}  // namespace bc::cuda
