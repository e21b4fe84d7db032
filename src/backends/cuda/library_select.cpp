// Compaction on CUDA: one kernel counts, ranks and writes. The ticket is the only atomic, so the result is in C order.
#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "backends/cuda/library_look_back.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

// Copies from global to shared memory that a thread asks for, and later waits for, all at once.
constexpr const char* kFetch = R"(
/// Pointers made of this one, to global memory, are computed from its value, not each from the kernel's parameters.
template <class S> BC_INLINE S* computed(S* p) {
#if BC_CUDA
  asm("" : "+l"(p));
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}
template <class S> BC_INLINE void fetch(S* to, const S* from) {
#if BC_CUDA && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(S) == 4 || sizeof(S) == 8) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from),
                 "n"(static_cast<int>(sizeof(S)))
                 : "memory");
    return;
  }
#endif
  *to = *from;
}
BC_INLINE void wait_for_fetched() {
#if BC_CUDA && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
)";

// Loads the mask bytes of a thread, after kBytes, their number: 16 or 32.
constexpr const char* kBits = R"(
/// The thread's bytes of the mask, one bit each.
BC_INLINE u32 load_bits(const u8* mask, i64 at, i64 n) {
  u32 bits = 0;
  if (at + kBytes <= n && (reinterpret_cast<u64>(mask + at) & 15) == 0) {
    Vec<u32, 4> loaded[kBytes / 16];
    BC_UNROLL
    for (int k = 0; k < kBytes / 16; ++k) loaded[k] = reinterpret_cast<const Vec<u32, 4>*>(mask + at)[k];
    BC_UNROLL
    for (int k = 0; k < kBytes / 4; ++k) {
      // Memory of other libraries and views have true values other than 1: each byte's lowest bit becomes whether any of its bits is set.
      const u32 word = loaded[k / 4].v[k % 4];
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
/// The bits of the 32 neighbours of row k, of the warp's kBytes rows.
BC_INLINE u32 row_of(u32 bits, int k) {
  if constexpr (kBytes == 32) return __shfl_sync(0xffffffffu, bits, k);
  return __shfl_sync(0xffffffffu, bits, 2 * k) | __shfl_sync(0xffffffffu, bits, 2 * k + 1) << 16;
}
)";

/// The kernel's text for the set elements: the results' type; text that asks early for the data of element `i` of row `k` and text that
/// waits for it (both may be empty); text that writes the result `to[r]`; and whether the loop over the rows is unrolled.
struct Selection {
  std::string_view name, variant, type;
  std::string before, load, wait, store;
  bool unrolled = false;
};

/// Runs the text for each set byte of the mask. Words 0 and 1 are the mask and its size, words 2 to 7 belong to the tiles, word 8 is
/// `most`: higher ranks are dropped, because code outside may have changed the mask since it was counted. Word 9 is the memory of the
/// results. `of_thread`: bytes of the mask.
class EachSet {
 public:
  EachSet(Queue& queue, const View& mask, int64_t most, int of_thread = 32, int resident = kResident)
      : queue_(queue),
        bytes_(of_thread),
        n_(mask.layout.size()),
        tiles_((n_ + kThreads * of_thread - 1) / (kThreads * of_thread)),
        wide_(n_ > 0xffffffff),
        look_back_(queue, 1, tiles_, wide_ ? 8 : 4, resident / 2),
        resident_(resident) {
    const void* bytes = first(mask);
    if (!is_contiguous(mask.layout.shape, mask.layout.strides)) {
      held_ = packed(queue, mask);
      bytes = held_->ptr;
    }
    words.pointer(bytes);
    words.integer(n_);
    look_back_.words(&words);
    words.integer(most);
  }

  Words words;  ///< the text's own words follow

  void run(const Selection& what) {
    const char* unroll = what.unrolled ? "BC_UNROLL" : "_Pragma(\"unroll 1\")";
    queue_.run(what.name, fmt::format("{} {} {}", wide_, bytes_, what.variant),
               fmt::format("using T = {};\nBC_INLINE T apply(T a, T b) {{ return a + b; }}\nconstexpr int kBytes = {};\n",
                           wide_ ? "u64" : "u32", bytes_) +
                   LookBack::text() + kFetch + kBits,
               fmt::format(R"(__shared__ Shared s;
const Tiles tiles{{p.w + 2}};
const u32 tile = tiles.number(s, t);
const int warp = t / 32, lane = t % 32;
const i64 start = (static_cast<i64>(tile) * kThreads + warp * 32) * kBytes;
const u32 bits = load_bits(word_as<const u8*>(p.w), start + lane * kBytes, p.w[1]);
const i64 ahead = start + tiles.ahead() * kThreads * kBytes;
if (t == 0 && ahead + kThreads * kBytes <= p.w[1]) prefetch(word_as<const u8*>(p.w) + ahead, kThreads * kBytes);
{1}
{0}
for (int k = 0; k < kBytes; ++k) {{
  const u32 row = row_of(bits, k);
  (void)row;
  {2}
}}
// The set bytes of the warp before the thread's own. Counting bits is slow (16 a cycle and multiprocessor), so each is counted once.
const u32 mine = __popc(bits), until = static_cast<u32>(warp_scan(static_cast<T>(mine), lane)), in_warp = shuffled(until, 31);
if (lane == 0) s.totals[warp] = in_warp;
__syncthreads();
T before = 0, total = 0, r_warp = 0;
for (int k = 0; k < kWarps; ++k) {{
  if (k == warp) r_warp = total;
  total += s.totals[k];
}}
if (tiles.look_back(0, tile, total, before, s, t)) r_warp += before;
const i64 left = p.w[8] - static_cast<i64>(r_warp);
const u32 most = static_cast<u32>(left < 0 ? 0 : left < in_warp ? left : in_warp);
{3}* const to = computed(word_as<{3}*>(p.w + 9) + r_warp);
{4}
{0}
for (int k = 0; k < kBytes; ++k) {{
  const u32 row = row_of(bits, k), r = shuffled(until - mine, 32 * k / kBytes) + __popc(row & ((1u << lane) - 1));
  if ((row >> lane & 1) && r < most) {{
    const i64 i = start + 32 * k + lane;
    (void)i;
    {5}
  }}
}})",
                           unroll, what.before, what.load, what.type, what.wait, what.store),
               tiles_, words, resident_);
  }

 private:
  Queue& queue_;
  int bytes_;
  int64_t n_, tiles_;
  bool wide_;
  Ref<Buffer> held_;
  LookBack look_back_;
  int resident_;  ///< blocks per multiprocessor
};

void compress(Queue& queue, std::span<const View> inputs, const View& output) {
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
  // Elements on their way are in shared memory, of which a block gets 48 KB, or in registers.
  const int size = itemsize(output.dtype);
  const bool in_shared = size <= 8;
  EachSet each(queue, inputs[1], count_, size > 4 ? 16 : 32, row == 1 && in_shared && size > 4 ? 5 : kResident);
  const std::string type = carrier(output.dtype);
  if (row == 1) {
    each.words.pointer(first(output));
    each.words.pointer(first(inputs[0]));
    each.words.walk(lead, {&lead_strides});
    const bool unit = lead.size() == 1 && lead_strides[0] == 1;
    const std::string variant = fmt::format("{} {}{}", type, lead.size(), unit ? " unit" : "");
    const std::string from =
        fmt::format("const i64 step = {1};\nconst {0}* const from = computed(word_as<const {0}*>(p.w + 10) + (start + lane) * step);\n",
                    type, unit ? "1" : "p.w[12]");
    if (lead.size() == 1 && in_shared)
      each.run({"compress", variant, type,
                from + fmt::format("__shared__ {0} held[kThreads * kBytes];\n{0}* const mine_at = held + t;", type),
                "if (row >> lane & 1) fetch(mine_at + k * kThreads, from + 32 * k * step);", "wait_for_fetched();",
                "to[r] = mine_at[k * kThreads];", true});
    else if (lead.size() == 1)
      each.run({"compress", variant, type, from + type + " held[kBytes];", "if (row >> lane & 1) held[k] = from[32 * k * step];", "",
                "to[r] = held[k];", true});
    else
      each.run(
          {"compress", variant, type, "", "", "",
           fmt::format("i64 o[1];\noffsets<{1}, 1>(i, p.w + 11, o);\nto[r] = word_as<const {0}*>(p.w + 10)[o[0]];", type, lead.size())});
    return;
  }
  Ref<Buffer> found = queue.scratch(count_ * static_cast<int64_t>(sizeof(int64_t)));
  each.words.pointer(found->ptr);
  each.run({"positions", "", "i64", "", "", "", "to[r] = i;"});
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

}  // namespace

void run(const NonzeroExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const int nd = inputs[0].layout.ndim();
  const int64_t count_ = output.layout.shape[1];
  if (count_ == 0) return;
  EachSet each(queue, inputs[0], count_);
  each.words.pointer(first(output));
  each.words.walk(inputs[0].layout.shape, {});
  each.run({"nonzero", std::to_string(nd), "i64", "", "", "",
            fmt::format(R"(i64* out = to + r;
u64 rest = static_cast<u64>(i);
BC_UNROLL
for (int d = {} - 1; d >= 0; --d) {{
  const u64 extent = static_cast<u64>(p.w[10 + d]);
  const u64 q = d == 0 ? 0 : (rest | extent) >> 32 ? rest / extent : static_cast<u32>(rest) / static_cast<u32>(extent);
  out[d * p.w[8]] = static_cast<i64>(rest - q * extent);
  rest = q;
}})",
                        nd)});
}

void run(const CompressExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { compress(queue, inputs, output); });
}

}  // namespace bc::cuda
