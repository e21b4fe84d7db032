// Compaction on CUDA: one kernel counts, ranks and writes. The ticket is the only atomic, so the result is in C order.
#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "backends/cuda/library_look_back.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int kBytes = 16;  // mask bytes of a thread
constexpr int64_t kTile = kThreads * kBytes;

// A thread loads 16 neighbouring bytes of the mask, a warp 16 rows of 32.
constexpr const char* kBits = R"(
constexpr int kBytes = 16;
using Loaded = Vec<u32, kBytes / 4>;
/// The thread's bytes of the mask; behind the end they are 0.
BC_INLINE Loaded load_mask(const u8* mask, i64 at, i64 n) {
  Loaded loaded = {};
  if (at + kBytes <= n && (reinterpret_cast<u64>(mask) & 15) == 0) {
    loaded = *reinterpret_cast<const Loaded*>(mask + at);
  } else {
    _Pragma("unroll 1")
    for (int k = kBytes - 1; k >= 0; --k) {
      const u32 byte = at + k < n ? mask[at + k] : 0;
      loaded = {loaded.v[0] << 8 | loaded.v[1] >> 24, loaded.v[1] << 8 | loaded.v[2] >> 24, loaded.v[2] << 8 | loaded.v[3] >> 24,
                loaded.v[3] << 8 | byte};
    }
    loaded = {loaded.v[3], loaded.v[2], loaded.v[1], loaded.v[0]};
  }
  return loaded;
}
/// One bit for each byte.
BC_INLINE u32 bits_of(const Loaded& loaded) {
  u32 bits = 0;
  BC_UNROLL
  for (int k = 0; k < kBytes / 4; ++k) {
    // Memory of other libraries and views have true values other than 1: each byte's lowest bit becomes whether any of its bits is set.
    const u32 word = loaded.v[k];
    const u32 set = (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
    // Byte j's bit, at 8 j, moves to bit 24 + j by the factor 2^(24 - 7 j); the other products stay away from there.
    bits |= (set * 0x01020408u >> 24 & 15u) << (4 * k);
  }
  return bits;
}
/// The bits of 32 neighbours, and how many are set in the warp's rows before them.
struct Row {
  u32 bits, before;
};
)";

/// The kernel's text for the set elements: text that is before the rows, text that loads data for element `i` of row `k` early, and text
/// that writes the result of rank `r` (the first two may be empty).
struct Selection {
  std::string_view name, variant;
  std::string before, load, store;
};

/// Runs the text for each set byte of the mask. Words 0 and 1 are the mask and its size, words 2 to 8 belong to the tiles, and word 9 is
/// `most`: higher ranks are dropped, because code outside may have changed the mask since it was counted.
class EachSet {
 public:
  EachSet(Queue& queue, const View& mask, int64_t most)
      : queue_(queue),
        n_(mask.layout.size()),
        wide_(n_ > 0x7fffffff - kTile),
        look_back_(queue, 1, (n_ + kTile - 1) / kTile, wide_ ? 8 : 4, kResident) {
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
    queue_.run(what.name, fmt::format("{} {}", wide_, what.variant),
               fmt::format("using T = {};\nusing I = {};\nBC_INLINE T apply(T a, T b) {{ return a + b; }}\n", wide_ ? "u64" : "u32",
                           wide_ ? "i64" : "i32") +
                   LookBack::text() + kBits,
               fmt::format(R"(__shared__ Shared s;
__shared__ Row rows[kWarps][kBytes];
const Tiles tiles{{p.w + 2}};
const int warp = t / 32, lane = t % 32;
const I most = static_cast<I>(p.w[9]);
const I in_tile = warp * 32 * kBytes;
const auto mask_of = [&](u32 tile) {{
  return load_mask(word_as<const u8*>(p.w), static_cast<i64>(tile) * (kThreads * kBytes) + t * kBytes, p.w[1]);
}};
u32 tile = tiles.begin(s, t);
Loaded ahead = {{}};
if (tiles.has(tile)) ahead = mask_of(tile);
while (tiles.has(tile)) {{
  const u32 chunk = tile;
  const I start = static_cast<I>(tile) * (kThreads * kBytes) + in_tile + lane;
  tiles.take_next(tile, s, t);
  const u32 bits = bits_of(ahead);
  // The bits of row k are put together by lane 2 k.
  const u32 two = bits | __shfl_down_sync(0xffffffffu, bits, 1) << 16, held_here = lane % 2 == 0 ? __popc(two) : 0;
  u32 up_to_here = held_here;
  BC_UNROLL
  for (int d = 2; d < 32; d *= 2) {{
    const u32 left = __shfl_up_sync(0xffffffffu, up_to_here, d);
    if (lane >= d) up_to_here += left;
  }}
  if (lane % 2 == 0) rows[warp][lane / 2] = {{two, up_to_here - held_here}};
  if (lane == 30) s.totals[warp] = up_to_here;
  __syncwarp();
  {0}
  __syncthreads();
  T before = 0, total = 0, in_block = 0;
  for (int k = 0; k < kWarps; ++k) {{
    if (k == warp) in_block = total;
    total += s.totals[k];
  }}
  tile = s.next;
  if (tiles.has(tile)) ahead = mask_of(tile);
  if (tiles.look_back(0, chunk, total, before, s, t)) in_block += before;
  BC_UNROLL
  for (int k = 0; k < kBytes; ++k) {{
    const Row row = rows[warp][k];
    const I i = start + 32 * k, r = static_cast<I>(in_block + row.before + __popc(row.bits & ((1u << lane) - 1)));
    if ((row.bits >> lane & 1) && r < most) {{
      (void)i;
      {1}
    }}
  }}
  __syncwarp();
}})",
                           what.load.empty() ? what.before
                                             : fmt::format(R"({}
  BC_UNROLL
  for (int k = 0; k < kBytes; ++k)
    if (rows[warp][k].bits >> lane & 1) {})",
                                                           what.before, what.load),
                           what.store),
               look_back_.blocks(), words, look_back_.resident());
  }

 private:
  Queue& queue_;
  int64_t n_;
  bool wide_;
  Ref<Buffer> held_;
  LookBack look_back_;
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
  EachSet each(queue, inputs[1], count_);
  const std::string type = carrier(output.dtype);
  if (row == 1) {
    each.words.pointer(first(output));
    each.words.pointer(first(inputs[0]));
    each.words.walk(lead, {&lead_strides});
    const std::string out = fmt::format("{0}* const out = word_as<{0}*>(p.w + 10);\n", type);
    if (lead.size() == 1) {  // All loads are issued before the first is used.
      const bool unit = lead_strides[0] == 1;
      each.run(
          {"compress", fmt::format("{} {}", type, unit ? "unit" : "line"),
           out + fmt::format("{0} held[kBytes];\nconst {0}* x = word_as<const {0}*>(p.w + 11) + start{1};", type, unit ? "" : " * p.w[13]"),
           fmt::format("held[k] = x[{}];", unit ? "32 * k" : "32 * k * p.w[13]"), "out[r] = held[k];"});
    } else {
      each.run(
          {"compress", fmt::format("{} {}", type, lead.size()), out, "",
           fmt::format("i64 o[1];\noffsets<{1}, 1>(i, p.w + 12, o);\nout[r] = word_as<const {0}*>(p.w + 11)[o[0]];", type, lead.size())});
    }
    return;
  }
  Ref<Buffer> found = queue.scratch(count_ * static_cast<int64_t>(sizeof(int64_t)));
  each.words.pointer(found->ptr);
  each.run({"positions", "", "i64* const out = word_as<i64*>(p.w + 10);", "", "out[r] = i;"});
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
  if (nd == 1) return each.run({"nonzero", "1", "i64* const out = word_as<i64*>(p.w + 10);", "", "out[r] = i;"});
  each.run({"nonzero", std::to_string(nd), "", "",
            fmt::format(R"(i64* out = word_as<i64*>(p.w + 10) + r;
u64 rest = static_cast<u64>(i);
BC_UNROLL
for (int d = {} - 1; d >= 0; --d) {{
  const u64 extent = static_cast<u64>(p.w[11 + d]);
  const u64 q = d == 0 ? 0 : (rest | extent) >> 32 ? rest / extent : static_cast<u32>(rest) / static_cast<u32>(extent);
  out[d * p.w[9]] = static_cast<i64>(rest - q * extent);
  rest = q;
}})",
                        nd)});
}

void run(const CompressExtra&, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  queue.together([&] { compress(queue, inputs, output); });
}

}  // namespace bc::cuda
