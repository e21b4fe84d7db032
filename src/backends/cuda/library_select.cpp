// Compaction on CUDA: count the set bytes of each chunk, scan the counts, write at the places that follow. No atomics, so the order is C's.
#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int kBytes = 16;  // of a thread
constexpr int64_t kChunk = kThreads * kBytes;

constexpr const char* kCount = R"(
constexpr int kThreads = 256, kBytes = 16;
/// The thread's bytes of the mask, one bit each.
BC_INLINE u32 load_bits(const u8* mask, i64 at, i64 n) {
  u32 bits = 0;
  if (at + kBytes <= n && (reinterpret_cast<u64>(mask + at) & 3) == 0) {
    for (int k = 0; k < kBytes / 4; ++k) {
      // Memory of other libraries and views have true values other than 1: each byte's lowest bit becomes whether any of its bits is set.
      const u32 word = reinterpret_cast<const u32*>(mask + at)[k];
      const u32 set = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
      // Byte j's bit, at 8 j, moves to bit 24 + j by the factor 2^(24 - 7 j); the other products stay away from there.
      bits |= (set * 0x01020408u >> 24 & 15u) << (4 * k);
    }
    return bits;
  }
  for (int k = 0; k < kBytes; ++k)
    if (at + k < n && mask[at + k] != 0) bits |= 1u << k;
  return bits;
}
)";

/// The mask's bytes, packed, and the running counts of its chunks.
struct Counted {
  const void* mask;
  Ref<Buffer> held, counts;
  int64_t n, chunks;
};

Counted count(Queue& queue, const View& mask) {
  Counted c;
  c.n = mask.layout.size();
  c.chunks = (c.n + kChunk - 1) / kChunk;
  c.mask = first(mask);
  if (!is_contiguous(mask.layout.shape, mask.layout.strides)) {
    c.held = packed(queue, mask);
    c.mask = c.held->ptr;
  }
  c.counts = queue.scratch(c.chunks * static_cast<int64_t>(sizeof(int64_t)));
  Words w;
  w.pointer(c.mask);
  w.pointer(c.counts->ptr);
  w.integer(c.n);
  queue.run("count_mask", "", kCount, R"(__shared__ int total;
if (t == 0) total = 0;
__syncthreads();
const i64 at = (static_cast<i64>(blockIdx.x) * kThreads + t) * kBytes;
const int found = at < p.w[2] ? __popc(load_bits(word_as<const u8*>(p.w), at, p.w[2])) : 0;
if (found > 0) atomicAdd(&total, found);
__syncthreads();
if (t == 0) word_as<i64*>(p.w + 1)[blockIdx.x] = total;)",
            c.chunks, w);
  inclusive_sum(queue, c.counts->ptr, c.chunks);
  return c;
}

/// Calls `text` for each set byte, with its position `i` and its rank `r`. Words 0 to 2 are the mask, its counts and its size.
void each_set(Queue& queue, std::string_view name, std::string_view variant, const Counted& c, const Words& w, const std::string& text) {
  queue.run(name, variant, kCount, R"(__shared__ int s[kThreads];
const i64 at = (static_cast<i64>(blockIdx.x) * kThreads + t) * kBytes;
u32 bits = at < p.w[2] ? load_bits(word_as<const u8*>(p.w), at, p.w[2]) : 0;
const int found = __popc(bits);
s[t] = found;
__syncthreads();
for (int d = 1; d < kThreads; d *= 2) {
  const int left = t >= d ? s[t - d] : 0;
  __syncthreads();
  s[t] += left;
  __syncthreads();
}
i64 r = s[t] - found;
if (blockIdx.x > 0) r += word_as<const i64*>(p.w + 1)[blockIdx.x - 1];
for (; bits != 0; bits &= bits - 1, ++r) {
  const i64 i = at + __ffs(bits) - 1;
)" + text + "\n}",
            c.chunks, w);
}

Words words_of(const Counted& c) {
  Words w;
  w.pointer(c.mask);
  w.pointer(c.counts->ptr);
  w.integer(c.n);
  return w;
}

}  // namespace

void run(const NonzeroExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const int nd = inputs[0].layout.ndim();
  const int64_t count_ = output.layout.shape[1];
  if (count_ == 0) return;
  const Counted c = count(queue, inputs[0]);
  Words w = words_of(c);
  w.pointer(first(output));
  w.integer(count_);
  w.walk(inputs[0].layout.shape, {});
  // The mask may have changed since it was counted only if somebody outside writes it; ranks past the result are dropped.
  each_set(queue, "nonzero", std::to_string(nd), c, w,
           fmt::format(R"(if (r >= p.w[4]) break;
i64* out = word_as<i64*>(p.w + 3) + r;
u64 rest = static_cast<u64>(i);
BC_UNROLL
for (int d = {} - 1; d >= 0; --d) {{
  const u64 extent = static_cast<u64>(p.w[5 + d]);
  const u64 q = d == 0 ? 0 : (rest | extent) >> 32 ? rest / extent : static_cast<u32>(rest) / static_cast<u32>(extent);
  out[d * p.w[4]] = static_cast<i64>(rest - q * extent);
  rest = q;
}})",
                       nd));
}

void run(const CompressExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const int64_t count_ = output.layout.shape[0];
  if (output.layout.size() == 0) return;
  const int64_t row = output.layout.size() / count_;
  const int leading = inputs[1].layout.ndim();
  const Layout& x = inputs[0].layout;
  Dims lead(x.shape.span().first(leading)), lead_strides(x.strides.span().first(leading));
  Dims rest(x.shape.span().subspan(leading)), rest_strides(x.strides.span().subspan(leading));
  Dims* a[] = {&lead_strides};
  collapse(&lead, a);
  Dims* b[] = {&rest_strides};
  collapse(&rest, b);
  const Counted c = count(queue, inputs[1]);
  Words w = words_of(c);
  const std::string type = carrier(output.dtype);
  if (row == 1) {
    w.pointer(first(output));
    w.integer(count_);
    w.pointer(first(inputs[0]));
    w.walk(lead, {&lead_strides});
    each_set(queue, "compress", fmt::format("{} {}", type, lead.size()), c, w,
             fmt::format(R"(if (r >= p.w[4]) break;
i64 o[1];
offsets<{1}, 1>(i, p.w + 6, o);
word_as<{0}*>(p.w + 3)[r] = word_as<const {0}*>(p.w + 5)[o[0]];)",
                         type, lead.size()));
    return;
  }
  Ref<Buffer> found = queue.scratch(count_ * static_cast<int64_t>(sizeof(int64_t)));
  w.pointer(found->ptr);
  w.integer(count_);
  each_set(queue, "positions", "", c, w, "if (r >= p.w[4]) break;\nword_as<i64*>(p.w + 3)[r] = i;");
  Words g;
  g.pointer(found->ptr);
  g.pointer(first(inputs[0]));
  g.pointer(first(output));
  g.integer(row);
  g.integer(count_ * row);
  const int lead_at = g.walk(lead, {&lead_strides}), rest_at = g.walk(rest, {&rest_strides});
  queue.run_for("take_rows", fmt::format("{} {} {}", type, lead.size(), rest.size()), "",
                fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e >= p.w[4]) return;
const i64 r = e / p.w[3];
i64 o[1], q[1];
offsets<{2}, 1>(word_as<const i64*>(p.w)[r], p.w + {3}, o);
offsets<{4}, 1>(e - r * p.w[3], p.w + {5}, q);
word_as<{0}*>(p.w + 2)[e] = word_as<const {0}*>(p.w + 1)[o[0] + q[0]];)",
                            type, kThreads, lead.size(), lead_at, rest.size(), rest_at),
                count_ * row, g);
}

}  // namespace bc::cuda
