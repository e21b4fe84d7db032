// Sorts, selections and searches on CUDA. Elements become unsigned keys with the same order. A line that fits a block is sorted in shared
// memory by a bitonic network (Batcher, 1968); longer lines by a least-significant-digit radix sort whose passes read and write once
// (Adinarayan & Merrill, "Onesweep", 2022). Digits are counted in integers, so results do not depend on which block is first.
#include <fmt/format.h>

#include <bit>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int64_t kBlockLine = 2048;  // elements that a block sorts in shared memory
constexpr int64_t kFewLines = 8;      // long lines that are sorted one after the other
constexpr int kItems = 16;            // elements of a thread in a radix pass
constexpr int64_t kTile = kThreads * kItems;
constexpr int64_t kDigits = 256;

/// The kernel text for a dtype's order: B, key(B), bits(B) and equal_key(B); see backends/cpu/sort_orders.h.
std::string order_text(DType t) {
  const char* bits[] = {"u8", "u16", "u32", "u64"};
  const int width = std::countr_zero(static_cast<unsigned>(itemsize(t)));
  std::string text = fmt::format("using B = {};\nconstexpr B kSign = static_cast<B>(B(1) << (sizeof(B) * 8 - 1));\n", bits[width]);
  if (is_real_float(t)) {
    const char* infinity = t == DType::f16 ? "0x7c00" : t == DType::bf16 ? "0x7f80" : t == DType::f32 ? "0x7f800000" : "0x7ff0000000000000";
    text += fmt::format(R"(BC_INLINE B key(B b) {{
  const B magnitude = static_cast<B>(b & ~kSign), k = static_cast<B>(b & kSign ? ~b : b | kSign);
  return magnitude > B({}) ? static_cast<B>(~B(0)) : k;
}}
BC_INLINE B bits(B k) {{ return static_cast<B>(k & kSign ? k ^ kSign : ~k); }}
BC_INLINE B equal_key(B b) {{ return key(b == kSign ? B(0) : b); }}
)",
                        infinity);
  } else if (is_signed_int(t)) {
    text +=
        "BC_INLINE B key(B b) { return static_cast<B>(b ^ kSign); }\nBC_INLINE B bits(B k) { return key(k); }\n"
        "BC_INLINE B equal_key(B b) { return key(b); }\n";
  } else {
    text += "BC_INLINE B key(B b) { return b; }\nBC_INLINE B bits(B k) { return k; }\nBC_INLINE B equal_key(B b) { return b; }\n";
  }
  return text;
}

/// Lines of a contiguous or strided view, along its last axis.
struct Lines {
  Dims shape, strides;
  const void* base;
  int64_t n, step;

  explicit Lines(const View& v) : shape(v.layout.shape), strides(v.layout.strides), base(first(v)), n(shape.back()), step(strides.back()) {
    shape.resize(shape.size() - 1), strides.resize(strides.size() - 1);
    Dims* lists[] = {&strides};
    collapse(&shape, lists);
  }
  int64_t count() const { return product(shape); }
};

/// One block per line: a bitonic network over keys and indices in shared memory.
void sort_in_blocks(Queue& queue, const View& in, void* out, bool places) {
  const Lines lines(in);
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(lines.n)));
  Words w;
  w.pointer(lines.base);
  w.pointer(out);
  for (int64_t v : {lines.n, lines.step, padded}) w.integer(v);
  w.walk(lines.shape, {&lines.strides});
  queue.run("sort_block", fmt::format("{} {} {}", info(in.dtype).name, places, lines.shape.size()), order_text(in.dtype),
            fmt::format(R"(__shared__ B keys[{0}];
__shared__ u16 from[{0}];
i64 o[1];
offsets<{1}, 1>(blockIdx.x, p.w + 5, o);
const B* x = word_as<const B*>(p.w) + o[0];
const int n = static_cast<int>(p.w[2]), padded = static_cast<int>(p.w[4]);
for (int i = t; i < padded; i += {2}) {{
  keys[i] = i < n ? {3}(x[i * p.w[3]]) : static_cast<B>(~B(0));
  from[i] = static_cast<u16>(i);
}}
for (int size = 2; size <= padded; size *= 2)
  for (int stride = size / 2; stride > 0; stride /= 2) {{
    __syncthreads();
    for (int i = t; i < padded / 2; i += {2}) {{
      const int a = 2 * i - (i & (stride - 1)), b = a + stride;
      const bool greater = keys[a] > keys[b] || (keys[a] == keys[b] && from[a] > from[b]);
      if (greater == ((a & size) == 0)) {{
        const B k = keys[a];
        keys[a] = keys[b], keys[b] = k;
        const u16 f = from[a];
        from[a] = from[b], from[b] = f;
      }}
    }}
  }}
__syncthreads();
{4}* out = word_as<{4}*>(p.w + 1) + static_cast<i64>(blockIdx.x) * n;
for (int i = t; i < n; i += {2}) out[i] = {5};)",
                        kBlockLine, lines.shape.size(), kThreads, places ? "equal_key" : "key", places ? "i64" : "B",
                        places ? "from[i]" : "bits(keys[i])"),
            lines.count(), w);
}

/// A radix sort of all lines of contiguous elements at once: by the digits of the key, then by the digits of the line's number. Elements
/// carry their indices if there are several lines or the result is the indices. A pass whose digit is the same everywhere returns at once:
/// the passes see from the counts which of them moves elements first and which last.
class RadixSort {
 public:
  RadixSort(Queue& queue, DType t, const void* in, void* out, int64_t n, int64_t lines, bool places)
      : queue_(queue), t_(t), in_(in), out_(out), n_(n), total_(n * lines), lines_(lines), places_(places) {
    carry_ = places || lines > 1;
    wide_ = total_ >= int64_t{1} << 30;
    key_passes_ = itemsize(t);
    for (int64_t rest = lines - 1; rest > 0; rest >>= 8) ++line_passes_;
    tiles_ = (total_ + kTile - 1) / kTile;
  }

  void run() {
    const int passes = key_passes_ + line_passes_;
    const int64_t word = wide_ ? 8 : 4;
    // Memory for each pass' digit counts, then for whether it moves elements; for each pass the number of tiles begun, and for each tile
    // and digit the count in earlier tiles.
    counts_ = queue_.scratch(passes * (kDigits + 1) * 8);
    const int64_t states = tiles_ * kDigits + 2;  // even, so that they can be cleared as 64-bit words
    states_ = queue_.scratch(passes * states * word);
    clear(counts_, passes * (kDigits + 1) * 8);
    clear(states_, passes * states * word);
    count_digits(passes);
    Ref<Buffer> keys[2], from[2];  // elements between passes
    for (int side = 0; side < 2 && side < passes - 1; ++side) {
      keys[side] = queue_.scratch(total_ * itemsize(t_));
      if (carry_) from[side] = queue_.scratch(total_ * word);
    }
    for (int p = 0; p < passes; ++p) {
      Words w;
      w.pointer(in_);
      w.pointer(out_);
      for (const Ref<Buffer>& between : {keys[0], keys[1], from[0], from[1]}) w.pointer(between ? between->ptr : nullptr);
      w.pointer(counts_->ptr);
      w.pointer(static_cast<char*>(states_->ptr) + p * states * word);
      for (int64_t v : {total_, n_, int64_t{p < key_passes_ ? p : p - key_passes_} * 8, int64_t{p}, int64_t{passes}}) w.integer(v);
      queue_.run("sort_pass", fmt::format("{} {}{}{}{}{}", info(t_).name, carry_, places_, wide_, lines_ > 1, p < key_passes_), head(),
                 pass_text(p < key_passes_), tiles_, w);
    }
  }

 private:
  Queue& queue_;
  DType t_;
  const void* in_;
  void* out_;
  int64_t n_, total_, lines_, tiles_;
  bool places_, carry_, wide_;
  int key_passes_ = 0, line_passes_ = 0;
  Ref<Buffer> counts_, states_;

  std::string head() const { return order_text(t_) + fmt::format("using I = {};\n", wide_ ? "u64" : "u32"); }

  void clear(const Ref<Buffer>& memory, int64_t bytes) {
    Words w;
    w.pointer(memory->ptr);
    w.integer((bytes + 7) / 8);
    queue_.run_for(
        "sort_clear", "", "",
        fmt::format("const i64 i = static_cast<i64>(blockIdx.x) * {} + t;\nif (i < p.w[1]) word_as<u64*>(p.w)[i] = 0;", kThreads),
        (bytes + 7) / 8, w);
  }

  /// Reads all keys once and counts each digit of each pass; then computes where each digit begins in the sorted list.
  void count_digits(int passes) {
    constexpr int64_t kBlocks = 1056;
    Words w;
    w.pointer(in_);
    w.pointer(counts_->ptr);
    for (int64_t v : {total_, n_}) w.integer(v);
    queue_.run("sort_count", fmt::format("{} {} {} {}", info(t_).name, places_, wide_, passes), head(),
               fmt::format(R"(__shared__ u32 counts[{0}][256];
for (int k = 0; k < {0}; ++k) counts[k][t] = 0;
__syncthreads();
const B* x = word_as<const B*>(p.w);
for (i64 i = static_cast<i64>(blockIdx.x) * {1} + t; i < p.w[2]; i += static_cast<i64>(gridDim.x) * {1}) {{
  const B k = {2}(x[i]);
  BC_UNROLL
  for (int d = 0; d < {3}; ++d) atomicAdd(&counts[d][(k >> (8 * d)) & 255], 1u);
  if ({0} > {3}) {{
    const I line = static_cast<I>(i) / static_cast<I>(p.w[3]);
    for (int d = {3}; d < {0}; ++d) atomicAdd(&counts[d][(line >> (8 * (d - {3}))) & 255], 1u);
  }}
}}
__syncthreads();
for (int k = 0; k < {0}; ++k)
  if (counts[k][t]) atomicAdd(word_as<unsigned long long*>(p.w + 1) + k * 256 + t, static_cast<unsigned long long>(counts[k][t]));)",
                           passes, kThreads, places_ ? "equal_key" : "key", key_passes_),
               std::min(kBlocks, (total_ + kThreads - 1) / kThreads), w);
    Words o;
    o.pointer(counts_->ptr);
    o.integer(total_);
    queue_.run("sort_begins", "", "", R"(__shared__ u64 s[256];
u64* counts = word_as<u64*>(p.w) + static_cast<i64>(blockIdx.x) * 256;
const u64 mine = counts[t];
s[t] = mine;
for (int d = 1; d < 256; d *= 2) {
  __syncthreads();
  const u64 left = t >= d ? s[t - d] : 0;
  __syncthreads();
  s[t] += left;
}
counts[t] = s[t] - mine;
const int moves = __syncthreads_and(mine != static_cast<u64>(p.w[1]));
if (t == 0) word_as<u64*>(p.w)[static_cast<i64>(gridDim.x) * 256 + blockIdx.x] = moves;)",
               passes, o);
  }

  /// Words: 0 in, 1 out, 2 and 3 keys between passes, 4 and 5 their indices, 6 counts, 7 states, 8 total, 9 n, 10 shift, 11 pass, 12
  /// passes.
  std::string pass_text(bool by_key) const {
    const char* digit =
        by_key ? "static_cast<u32>(k >> p.w[10]) & 255u" : "static_cast<u32>((f / static_cast<I>(p.w[9])) >> p.w[10]) & 255u";
    const char* index = R"(const I f = from[i];
  (void)f;)";
    return fmt::format(R"(constexpr int kItems = {0}, kTile = kItems * {1};
constexpr I kValue = ~I(0) >> 2;
constexpr int kFlag = sizeof(I) * 8 - 2;
__shared__ __align__(16) unsigned char exchange[kTile * (sizeof(B) > sizeof(I) ? sizeof(B) : sizeof(I))];
__shared__ u8 digits[kTile];
__shared__ u32 counts[8][256];
__shared__ I bases[256];
__shared__ u32 sums[8];
__shared__ I begun;
// Which passes move elements, a bit for each; if none does, the last one copies them.
const u64* moves = word_as<const u64*>(p.w + 6) + p.w[12] * 256;
const int lane = t & 31, warp = t >> 5, pass = static_cast<int>(p.w[11]);
const u32 moving = __ballot_sync(0xffffffffu, lane < p.w[12] && moves[lane] != 0);
const int earlier_passes = __popc(moving & ((1u << pass) - 1));
const bool first = earlier_passes == 0, last = moving >> pass <= 1;
if (!(moving >> pass & 1) && !(moving == 0 && pass == p.w[12] - 1)) return;
const B* keys_in = first ? word_as<const B*>(p.w) : word_as<const B*>(p.w + 2 + (earlier_passes + 1) % 2);
B* keys_out = last ? word_as<B*>(p.w + 1) : word_as<B*>(p.w + 2 + earlier_passes % 2);
I* states = word_as<I*>(p.w + 7);
if (t == 0) begun = atomicAdd({2}, 1);
BC_UNROLL
for (int k = 0; k < 8; ++k) counts[k][t] = 0;
__syncthreads();
// Tiles are numbered in the order in which blocks begin, so that all earlier ones run or have run.
const i64 tile = static_cast<i64>(begun), start = tile * kTile;
const int count = static_cast<int>(p.w[8] - start < kTile ? p.w[8] - start : kTile);
B key_of[kItems];
{3}
u32 rank[kItems];
BC_UNROLL
for (int i = 0; i < kItems; ++i) {{
  const int at = warp * 32 * kItems + i * 32 + lane;
  key_of[i] = static_cast<B>(~B(0));
  if (at < count) {{
    const B raw = keys_in[start + at];
    key_of[i] = first ? {4}(raw) : raw;
    {5}
  }}
}}
// How often each warp has each digit. What later tiles wait for, the tile's sums, is told before anything is ranked. What pads the last
// tile comes last.
BC_UNROLL
for (int i = 0; i < kItems; ++i) {{
  const B k = key_of[i];
  {6}
  atomicAdd(&counts[warp][warp * 32 * kItems + i * 32 + lane < count ? {7} : 255u], 1u);
}}
__syncthreads();
u32 total = 0;
BC_UNROLL
for (int k = 0; k < 8; ++k) {{
  const u32 c = counts[k][t];
  counts[k][t] = total;
  total += c;
}}
volatile I* state = states + 1 + tile * 256 + t;
*state = static_cast<I>(total) | I(tile == 0 ? 2 : 1) << kFlag;
u32 sum = total;
BC_UNROLL
for (int d = 1; d < 32; d *= 2) {{
  const u32 left = __shfl_up_sync(0xffffffffu, sum, d);
  if (lane >= d) sum += left;
}}
if (lane == 31) sums[warp] = sum;
__syncthreads();
u32 begin = sum - total;
for (int k = 0; k < warp; ++k) begin += sums[k];
BC_UNROLL
for (int k = 0; k < 8; ++k) counts[k][t] += begin;
__syncthreads();
// Each element's place in the tile: counts[warp][d] is where the warp's next element of digit d goes.
BC_UNROLL
for (int i = 0; i < kItems; ++i) {{
  const B k = key_of[i];
  {6}
  const u32 d = warp * 32 * kItems + i * 32 + lane < count ? {7} : 255u;
  // The lanes of the same digit, bit by bit: eight votes take less time than one match.
  u32 same = 0xffffffffu;
  BC_UNROLL
  for (int bit = 0; bit < 8; ++bit) {{
    const u32 votes = __ballot_sync(0xffffffffu, d >> bit & 1u);
    same &= d >> bit & 1u ? votes : ~votes;
  }}
  const u32 below = __popc(same & ((1u << lane) - 1));
  u32 before = 0;
  if (below == 0) {{
    before = counts[warp][d];
    counts[warp][d] = before + __popc(same);
  }}
  const u32 at = __shfl_sync(0xffffffffu, before, __ffs(same) - 1) + below;
  __syncwarp();
  reinterpret_cast<B*>(exchange)[at] = k;
  digits[at] = static_cast<u8>(d);
  rank[i] = at;
}}
// What earlier tiles hold of this thread's digit: sums of the tiles before, until one knows them all.
I earlier = 0;
if (tile > 0) {{
  for (i64 look = tile - 1;; --look) {{
    volatile I* other = states + 1 + look * 256 + t;
    I v = *other;
    while (!(v >> kFlag)) v = *other;
    earlier += v & kValue;
    if (v >> kFlag == 2) break;
  }}
  *state = (earlier + total) | I(2) << kFlag;
}}
bases[t] = static_cast<I>(word_as<const u64*>(p.w + 6)[pass * 256 + t]) + earlier - begin;
__syncthreads();
{8})",
                       kItems, kThreads, wide_ ? "reinterpret_cast<unsigned long long*>(states)" : "states",
                       carry_ ? "I from[kItems];\nconst I* from_in = word_as<const I*>(p.w + 4 + (earlier_passes + 1) % 2);" : "",
                       places_ ? "equal_key" : "key", carry_ ? "from[i] = first ? static_cast<I>(start + at) : from_in[start + at];" : "",
                       carry_ ? index : "", digit, scatter_text());
  }

  /// The text that writes a tile in the order of its digits, so that neighbouring threads write neighbouring elements. The last pass writes
  /// results.
  std::string scatter_text() const {
    const std::string keys = fmt::format(R"(BC_UNROLL
for (int i = 0; i < kItems; ++i) {{
  const int at = i * {0} + t;
  if (at >= count{1}) continue;
  const B k = reinterpret_cast<const B*>(exchange)[at];
  keys_out[bases[digits[at]] + static_cast<I>(at)] = {2};
}}
)",
                                         kThreads, places_ ? " || last" : "", places_ ? "k" : "last ? bits(k) : k");
    if (!carry_) return keys;
    const char* place = lines_ > 1 ? "static_cast<i64>(f % static_cast<I>(p.w[9]))" : "static_cast<i64>(f)";
    return keys + fmt::format(R"({0}{{
I* from_out = word_as<I*>(p.w + 4 + earlier_passes % 2);
__syncthreads();
BC_UNROLL
for (int i = 0; i < kItems; ++i) reinterpret_cast<I*>(exchange)[rank[i]] = from[i];
__syncthreads();
BC_UNROLL
for (int i = 0; i < kItems; ++i) {{
  const int at = i * {1} + t;
  if (at >= count) continue;
  const I f = reinterpret_cast<const I*>(exchange)[at];
  const I to = bases[digits[at]] + static_cast<I>(at);
  {2}from_out[to] = f;
}}
}})",
                              places_ ? "" : "if (!last) ", kThreads,
                              places_ ? fmt::format("if (last) word_as<i64*>(p.w + 1)[to] = {};\n  else ", place) : std::string());
  }
};

/// Sorts all lines of a view into `out`: the values, or their int64 indices.
void sort_lines(Queue& queue, const View& in, void* out, bool places) {
  const Lines lines(in);
  if (lines.n <= kBlockLine) return sort_in_blocks(queue, in, out, places);
  Ref<Buffer> copy;
  const char* from = first(in);
  if (!is_contiguous(in.layout.shape, in.layout.strides)) {
    copy = packed(queue, in);
    from = static_cast<const char*>(copy->ptr);
  }
  const int64_t count = lines.count();
  if (count > kFewLines) return RadixSort(queue, in.dtype, from, out, lines.n, count, places).run();
  for (int64_t i = 0; i < count; ++i)
    RadixSort(queue, in.dtype, from + i * lines.n * itemsize(in.dtype),
              static_cast<char*>(out) + i * lines.n * (places ? 8 : itemsize(in.dtype)), lines.n, 1, places)
        .run();
}

/// The elements of a sorted copy at the ranks.
void select(Queue& queue, const SelectExtra& op, std::span<const View> inputs, const View& output) {
  const Layout& x = inputs[0].layout;
  const int64_t n = x.shape.back(), count = static_cast<int64_t>(op.ranks.size()), lines = x.size() / n;
  const Ref<Buffer> ranks = queue.scratch(count * 8);
  backend(queue.device()).copy(ranks->ptr, op.ranks.data(), static_cast<size_t>(count) * 8, CopyKind::HostToDevice, queue.stream());
  const Ref<Buffer> sorted = queue.scratch(x.size() * itemsize(output.dtype));
  sort_lines(queue, inputs[0], sorted->ptr, false);
  Words w;
  w.pointer(sorted->ptr);
  w.pointer(first(output));
  w.pointer(ranks->ptr);
  for (int64_t v : {n, count, lines * count}) w.integer(v);
  const std::string type = carrier(output.dtype);
  queue.run_for("select_ranks", type, "",
                fmt::format(R"(const i64 i = static_cast<i64>(blockIdx.x) * {1} + t;
if (i >= p.w[5]) return;
word_as<{0}*>(p.w + 1)[i] = word_as<const {0}*>(p.w)[i / p.w[4] * p.w[3] + word_as<const i64*>(p.w + 2)[i % p.w[4]]];)",
                            type, kThreads),
                lines * count, w);
}

}  // namespace

void run(const SortExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { sort_lines(queue, inputs[0], first(output), op.places); });
}

/// Sorts: a sorted line is also a partitioned line.
void run(const PartitionExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { sort_lines(queue, inputs[0], first(output), op.places); });
}

void run(const SelectExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { select(queue, op, inputs, output); });
}

void run(const SearchsortedExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const View &sorted = inputs[0], &values = inputs[1];
  const int64_t count = values.layout.size();
  Dims shape = values.layout.shape, strides = values.layout.strides;
  Dims* lists[] = {&strides};
  collapse(&shape, lists);
  Words w;
  w.pointer(first(sorted));
  w.pointer(first(values));
  w.pointer(first(output));
  for (int64_t v : {sorted.layout.shape[0], sorted.layout.strides[0], count}) w.integer(v);
  w.walk(shape, {&strides});
  const DType t = sorted.dtype;
  const std::string head = is_complex(t) ? fmt::format(R"(struct B {{ {0} re, im; }};
BC_INLINE int parts_nan(B a) {{ return 2 * (a.re != a.re) + (a.im != a.im); }}
BC_INLINE bool less(B a, B b) {{
  const int p = parts_nan(a), q = parts_nan(b);
  if (p != q) return p < q;
  if (p == 3) return false;
  if (p == 2) return a.im < b.im;
  return a.re < b.re || (p == 0 && a.re == b.re && a.im < b.im);
}}
)",
                                                       t == DType::c64 ? "float" : "double")
                                         : order_text(t) + "BC_INLINE bool less(B a, B b) { return equal_key(a) < equal_key(b); }\n";
  queue.run_for("searchsorted", fmt::format("{} {} {}", info(t).name, op.right, shape.size()), head,
                fmt::format(R"(const i64 i = static_cast<i64>(blockIdx.x) * {0} + t;
if (i >= p.w[5]) return;
i64 o[1];
offsets<{1}, 1>(i, p.w + 6, o);
const B* s = word_as<const B*>(p.w);
const B v = word_as<const B*>(p.w + 1)[o[0]];
i64 low = 0, rest = p.w[3];
while (rest > 0) {{
  const i64 half = rest / 2;
  const B middle = s[(low + half) * p.w[4]];
  if ({2}) {{
    low += half + 1;
    rest -= half + 1;
  }} else {{
    rest = half;
  }}
}}
word_as<i64*>(p.w + 2)[i] = low;)",
                            kThreads, shape.size(), op.right ? "!less(v, middle)" : "less(middle, v)"),
                count, w);
}

}  // namespace bc::cuda
