#include "backends/cuda/library_look_back.h"

#include <fmt/format.h>

namespace bc::cuda {

LookBack::LookBack(Queue& queue, int64_t lines, int64_t chunks, int bytes, int ahead)
    : chunks_(chunks), ahead_(int64_t{ahead} * backend(queue.device()).multiprocessors()) {
  if (chunks == 1) return;
  levels_ = 1;
  for (int64_t size = nodes_ = chunks; size > 32; ++levels_) nodes_ += size = (size + 31) / 32;
  const int64_t cell = bytes <= 4 ? 8 : bytes <= 8 ? 16 : 32;
  const int64_t size = 16 + lines * nodes_ * cell;  // the ticket, and the cells
  memory_ = queue.scratch(size);
  backend(queue.device()).fill(memory_->ptr, 0, static_cast<size_t>(size), queue.stream());
}

void LookBack::words(Words* w) const {
  char* base = memory_ ? static_cast<char*>(memory_->ptr) : nullptr;
  w->pointer(base);
  w->pointer(base ? base + 16 : nullptr);
  for (int64_t v : {ahead_, chunks_, levels_, nodes_}) w->integer(v);
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
/// Nodes' totals. A cell says whether its value is there: values of up to four bytes lie in the same word as the flag, those of eight in the
/// word before it, which moves together with it, and for larger ones the writer and the reader wait in between.
struct Cells {{
  static constexpr int kValue = (sizeof(T) + 7) / 8, kCell = sizeof(T) <= 4 ? 1 : sizeof(T) <= 8 ? 2 : 4;
  u64* cells;
  /// Stores and loads of words that other blocks access meanwhile.
  static BC_INLINE void store(u64* word, u64 value) {{
#if BC_CUDA
    *const_cast<volatile u64*>(word) = value;
#else
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
#endif
  }}
  static BC_INLINE u64 load(const u64* word) {{
#if BC_CUDA
    return *const_cast<const volatile u64*>(word);
#else
    return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
  }}
  BC_INLINE void put(i64 at, T v) const {{
    u64 words[kValue] = {{}};
    memcpy(words, &v, sizeof(T));
    u64* cell = cells + at * kCell;
    if constexpr (kCell == 1) {{
      store(cell, u64(1) << 32 | words[0]);
    }} else {{
#if BC_CUDA
      if constexpr (kCell == 2) {{
        asm volatile("st.volatile.global.v2.u64 [%0], {{%1, %2}};" ::"l"(cell), "l"(words[0]), "l"(u64(1)) : "memory");
        return;
      }}
#endif
      for (int k = 0; k < kValue; ++k) store(cell + k, words[k]);
      __threadfence();
      store(cell + kValue, 1);
    }}
  }}
  /// Reads a cell; gives whether its value is there.
  BC_INLINE bool read(i64 at, u64 (&words)[kValue]) const {{
    const u64* cell = cells + at * kCell;
    u64 flag;
    if constexpr (kCell == 1) {{
      flag = words[0] = load(cell);
      return flag >> 32 != 0;
    }}
#if BC_CUDA
    if constexpr (kCell == 2) {{
      asm volatile("ld.volatile.global.v2.u64 {{%0, %1}}, [%2];" : "=l"(words[0]), "=l"(flag) : "l"(cell) : "memory");
      return flag != 0;
    }}
#endif
    flag = load(cell + kValue);
    __threadfence();
    for (int k = 0; k < kValue; ++k) words[k] = load(cell + k);
    return flag != 0;
  }}
  /// The value at `at` once it is there, `other` for lanes that need none. All lanes of the warp call it.
  BC_INLINE T wait(i64 at, bool needed, const T& other) const {{
    u64 words[kValue] = {{}};
    bool there = !needed;
    do {{
      if (!there) there = read(at, words);
    }} while (!__all_sync(0xffffffffu, there));
    T v = other;
    if (needed) memcpy(&v, words, sizeof(T));
    return v;
  }}
}};
/// Asks for `bytes` (a multiple of 16) at `from` to be in the L2 cache soon, where the device can.
BC_INLINE void prefetch(const void* from, u32 bytes) {{
#if BC_CUDA && __CUDA_ARCH__ >= 900
  if ((reinterpret_cast<u64>(from) & 15) == 0) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#endif
}}
/// The block's shared memory.
struct Shared {{
  T totals[kWarps];  ///< of the warps
  T parts[kWarps];   ///< of the tree's levels
  u32 tile;
}};
struct Tiles {{
  const i64* w;
  /// The block's tile. All earlier ones run or have run: a GPU begins blocks in the order of their numbers, on which CUB's scans rely too, and
  /// on the CPU tiles are numbered in the order in which blocks begin.
  BC_INLINE u32 number(Shared& s, int t) const {{
#if BC_CUDA
    return blockIdx.x;
#else
    if (w[4] == 0) return blockIdx.x;
    if (t == 0) s.tile = atomicAdd(word_as<u32*>(w), 1u);
    __syncthreads();
    return s.tile;
#endif
  }}
  BC_INLINE u32 chunks() const {{ return static_cast<u32>(w[3]); }}
  /// How many tiles further the data lies that a block should prefetch. While blocks wait for the tiles before theirs, too few loads would be
  /// under way: 1e8 float32 on an H200 take 20 to 30 us less with it.
  BC_INLINE i64 ahead() const {{ return w[2]; }}
  /// Publishes the tile's total; `before` becomes the join of the tiles before it in its line. Tells whether there are any. All threads of
  /// the block call it. Warp k looks at the nodes of level k.
  BC_INLINE bool look_back(u32 line, u32 chunk, const T& total, T& before, Shared& s, int t) const {{
    const int levels = static_cast<int>(w[4]);
    if (levels == 0) return false;
    Cells cells{{word_as<u64*>(w + 1)}};
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
