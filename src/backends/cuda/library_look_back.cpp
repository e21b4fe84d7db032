#include "backends/cuda/library_look_back.h"

#include <fmt/format.h>

namespace bc::cuda {

LookBack::LookBack(Queue& queue, int64_t lines, int64_t chunks, int bytes) : chunks_(chunks) {
  if (chunks == 1) return;
  levels_ = 1;
  for (int64_t size = nodes_ = chunks; size > 32; ++levels_) nodes_ += size = (size + 31) / 32;
  // Memory layout: the ticket, the flags (with the value in the same word if it fits), and the other values, which need no clearing.
  const int64_t flags = 16 + lines * nodes_ * 8;
  values_at_ = (flags + 15) / 16 * 16;
  memory_ = queue.scratch(values_at_ + (bytes > 4 ? lines * nodes_ * bytes : 0));
  backend(queue.device()).fill(memory_->ptr, 0, static_cast<size_t>(flags), queue.stream());
}

void LookBack::words(Words* w) const {
  char* base = memory_ ? static_cast<char*>(memory_->ptr) : nullptr;
  w->pointer(base);
  w->pointer(base ? base + 16 : nullptr);
  w->pointer(base ? base + values_at_ : nullptr);
  for (int64_t v : {chunks_, levels_, nodes_}) w->integer(v);
}

std::string LookBack::text() {
  return fmt::format(R"(
constexpr int kThreads = {}, kWarps = kThreads / 32;
/// The value that another lane holds.
template <class S> BC_INLINE S shuffled(const S& s, int lane) {{
  constexpr int kWords = (sizeof(S) + 3) / 4;
  u32 words[kWords] = {{}};
  memcpy(words, &s, sizeof(S));
  BC_UNROLL
  for (int k = 0; k < kWords; ++k) words[k] = __shfl_sync(0xffffffffu, words[k], lane & 31);
  S out;
  memcpy(&out, words, sizeof(S));
  return out;
}}
/// The join of the values of lanes 0 to `lane`.
BC_INLINE T warp_scan(T v, int lane) {{
  BC_UNROLL
  for (int d = 1; d < 32; d *= 2) {{
    const T left = shuffled(v, lane - d);
    if (lane >= d) v = apply(left, v);
  }}
  return v;
}}
constexpr int kWords = sizeof(T) > 8 ? sizeof(T) / 8 : 1;
/// Nodes' totals. A flag that is set says that the value is there; values of up to four bytes lie in the same word.
struct Cells {{
  u64* flags;
  unsigned char* values;
  BC_INLINE void put(i64 at, T v) const {{
    if constexpr (sizeof(T) <= 4) {{
      u32 bits = 0;
      memcpy(&bits, &v, sizeof(T));
      *static_cast<volatile u64*>(flags + at) = u64(1) << 32 | bits;
    }} else {{
      u64 words[kWords];
      memcpy(words, &v, sizeof(T));
      volatile u64* to = reinterpret_cast<volatile u64*>(values + at * static_cast<i64>(sizeof(T)));
      for (int k = 0; k < kWords; ++k) to[k] = words[k];
      __threadfence();
      *static_cast<volatile u64*>(flags + at) = u64(1) << 32;
    }}
  }}
  /// The value at `at` once it is there, `other` for lanes that need none. All lanes of the warp call it.
  BC_INLINE T wait(i64 at, bool needed, const T& other) const {{
    volatile u64* flag = flags + at;
    u64 seen = 0;
    do {{
      if (needed) seen = *flag;
    }} while (!__all_sync(0xffffffffu, !needed || seen >> 32 != 0));
    T v = other;
    if (!needed) return v;
    if constexpr (sizeof(T) <= 4) {{
      const u32 bits = static_cast<u32>(seen);
      memcpy(&v, &bits, sizeof(T));
    }} else {{
      __threadfence();
      u64 words[kWords];
      volatile u64* from = reinterpret_cast<volatile u64*>(values + at * static_cast<i64>(sizeof(T)));
      for (int k = 0; k < kWords; ++k) words[k] = from[k];
      memcpy(&v, words, sizeof(T));
    }}
    return v;
  }}
}};
/// The block's shared memory.
struct Shared {{
  T totals[kWarps];  ///< of the warps
  T parts[kWarps];   ///< of the tree's levels
  u32 tile;
}};
struct Tiles {{
  const i64* w;
  /// The block's tile. Tiles are numbered in the order in which blocks begin, so that all earlier ones run or have run.
  BC_INLINE u32 number(Shared& s, int t) const {{
    if (w[4] == 0) return blockIdx.x;
    if (t == 0) s.tile = atomicAdd(word_as<u32*>(w), 1u);
    __syncthreads();
    return s.tile;
  }}
  BC_INLINE u32 chunks() const {{ return static_cast<u32>(w[3]); }}
  /// Publishes the tile's total; `before` becomes the join of the tiles before it in its line. Tells whether there are any. All threads of
  /// the block call it. Warp k looks at the nodes of level k.
  BC_INLINE bool look_back(u32 line, u32 chunk, const T& total, T& before, Shared& s, int t) const {{
    const int levels = static_cast<int>(w[4]);
    if (levels == 0) return false;
    Cells cells{{word_as<u64*>(w + 1), word_as<unsigned char*>(w + 2)}};
    const int level = t / 32, lane = t % 32;
    u32 at = chunk, size = chunks();
    i64 first = static_cast<i64>(line) * w[5];
    if (t == 0) cells.put(first + chunk, total);
    bool ends = true;  // the tile is the last one below node `at`
    for (int k = 0; k < level && k < levels; ++k) {{
      ends = ends && (at & 31) == 31;
      first += size;
      at >>= 5;
      size = (size + 31) >> 5;
    }}
    const int place = static_cast<int>(at & 31);
    // The last tile below 32 nodes publishes their join, for the tiles that come after.
    const bool joins = ends && place == 31 && at + 1 < size;
    if (level < levels && (place > 0 || joins)) {{
      const T part = warp_scan(cells.wait(first + at - place + lane, lane < place || joins, total), lane);
      if (lane == place - 1) s.parts[level] = part;
      if (lane == 31 && joins) cells.put(first + size + (at >> 5), part);
    }}
    __syncthreads();
    bool some = false;
    for (int k = levels - 1; k >= 0; --k)
      if ((chunk >> (5 * k)) & 31) {{
        before = some ? apply(before, s.parts[k]) : s.parts[k];
        some = true;
      }}
    return some;
  }}
}};
)",
                     kThreads);
}

}  // namespace bc::cuda
