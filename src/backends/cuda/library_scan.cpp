// accumulate, fold and reduceat on CUDA. A scan of long lines reads and writes once; the order of joins is fixed.
#include "backends/cuda/library_scan.h"

#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "backends/cuda/library_look_back.h"
#include "codegen/device_library.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int64_t kManyLines = 32 * 1024;  // enough lines for one thread per line
constexpr int64_t kShortLine = 32;
constexpr int64_t kLinesOfWarps = 256;  // enough lines that a warp for each is better than a block
constexpr int64_t kLongColumn = 1024;
// 1e8 float32 on an H200 take 250 us in tiles of 8 rows with 4 blocks per multiprocessor, of which 40 are the wait for the tiles before.
// Without the prefetch (library_look_back.cpp) they take 285 us, 318 with 3 blocks and 310 with 5. Tiles of 4 rows take 295 at best (6
// blocks). Blocks that stay and fetch their next tile before they wait take 362, or 325 if they publish its total first: a tile that is
// fetched early is published late, and all later ones wait for it. Tiles in shared memory, which leave registers for more of them, take
// 279.
constexpr int kTileRows = 8, kTileBlocks = 4;

/// Elements of one 16-byte access, accesses of a thread, and elements of a block's tile.
struct TileShape {
  int vector, rows;
  int64_t tile;
  explicit TileShape(DType t, int rows_ = 4)
      : vector(std::max(1, 16 / itemsize(t))), rows(vector > 4 ? std::min(rows_, 2) : rows_), tile(int64_t{kThreads} * vector * rows) {}
};

// A warp's part of a tile is `kRows` rows of 32 vectors. The joins are those of a tree that depends on the dtype alone: of a vector, of a
// row's vectors, of the rows, of the block's warps, of the tiles (library_look_back.h).
std::string tile_text(const TileShape& shape) {
  return LookBack::text() + fmt::format(R"(
constexpr int kVector = {}, kRows = {}, kRow = 32 * kVector, kTile = kThreads * kVector * kRows;
/// 16 bytes that are read or written once: they need no place in the L1 cache, and leave the L2 cache before what was prefetched.
BC_INLINE Vec<T, kVector> load_once(const T* from) {{
  Vec<T, kVector> v;
#if BC_CUDA
  uint4 words;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {{%0, %1, %2, %3}}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w) : "l"(from));
  memcpy(&v, &words, 16);
#else
  v = *reinterpret_cast<const Vec<T, kVector>*>(from);
#endif
  return v;
}}
BC_INLINE void store_once(T* to, const Vec<T, kVector>& v) {{
#if BC_CUDA
  uint4 words;
  memcpy(&words, &v, 16);
  __stcs(reinterpret_cast<uint4*>(to), words);
#else
  *reinterpret_cast<Vec<T, kVector>*>(to) = v;
#endif
}}
/// Loads the thread's elements; those behind the end are the first element, which later ones alone would see.
BC_INLINE void load_tile(const T* x, i64 step, int count, T (&v)[kRows][kVector], int t) {{
  const int first = t / 32 * (kRow * kRows) + t % 32 * kVector;
  if (step == 1 && first - t % 32 * kVector + kRow * kRows <= count && (reinterpret_cast<u64>(x) & 15) == 0) {{
    BC_UNROLL
    for (int r = 0; r < kRows; ++r) {{
      const Vec<T, kVector> loaded = load_once(x + first + r * kRow);
      BC_UNROLL
      for (int u = 0; u < kVector; ++u) v[r][u] = loaded.v[u];
    }}
  }} else {{
    BC_UNROLL
    for (int r = 0; r < kRows; ++r)
      BC_UNROLL
      for (int u = 0; u < kVector; ++u) {{
        const int i = first + r * kRow + u;
        v[r][u] = x[(i < count ? i : 0) * step];
      }}
  }}
}}
BC_INLINE void store_tile(T* out, i64 step, int count, const T (&v)[kRows][kVector], int t) {{
  const int first = t / 32 * (kRow * kRows) + t % 32 * kVector;
  if (step == 1 && first - t % 32 * kVector + kRow * kRows <= count && (reinterpret_cast<u64>(out) & 15) == 0) {{
    BC_UNROLL
    for (int r = 0; r < kRows; ++r) {{
      Vec<T, kVector> stored;
      BC_UNROLL
      for (int u = 0; u < kVector; ++u) stored.v[u] = v[r][u];
      store_once(out + first + r * kRow, stored);
    }}
  }} else {{
    BC_UNROLL
    for (int r = 0; r < kRows; ++r)
      BC_UNROLL
      for (int u = 0; u < kVector; ++u) {{
        const int i = first + r * kRow + u;
        if (i < count) out[i * step] = v[r][u];
      }}
  }}
}}
/// The running joins of each thread's vectors; `row` becomes the join of a row up to the lane's vector. Gives the join of the warp's part.
BC_INLINE T scan_rows(T (&v)[kRows][kVector], T (&row)[kRows], int lane) {{
  BC_UNROLL
  for (int r = 0; r < kRows; ++r) {{
    BC_UNROLL
    for (int u = 1; u < kVector; ++u) v[r][u] = apply(v[r][u - 1], v[r][u]);
    row[r] = warp_scan(v[r][kVector - 1], lane);
  }}
  T total = shuffled(row[0], 31);
  BC_UNROLL
  for (int r = 1; r < kRows; ++r) total = apply(total, shuffled(row[r], 31));
  return total;
}}
/// Joins what stands before the warp's part (if anything) and before the vector in its part to all elements.
BC_INLINE void join_before(T (&v)[kRows][kVector], const T (&row)[kRows], T before, bool some, int lane) {{
  BC_UNROLL
  for (int r = 0; r < kRows; ++r) {{
    const T left = shuffled(row[r], lane - 1);
    if (some || lane > 0) {{
      const T base = lane == 0 ? before : some ? apply(before, left) : left;
      BC_UNROLL
      for (int u = 0; u < kVector; ++u) v[r][u] = apply(base, v[r][u]);
    }}
    if (r + 1 < kRows) {{
      const T whole = shuffled(row[r], 31);
      before = some ? apply(before, whole) : whole;
      some = true;
    }}
  }}
}}
)",
                                        shape.vector, shape.rows);
}

/// Rows whose text is too long to be inlined into each join of a tile.
bool is_expensive(Op op) { return op == Op::logaddexp || op == Op::logaddexp2 || op == Op::hypot || op == Op::gcd || op == Op::lcm; }

/// A scan of `lines` lines of n elements.
struct Scan {
  Queue& queue;
  Op op;
  DType t;
  const void* x;
  void* out;
  int64_t n, x_step, out_step, lines;
  Dims shape, x_strides, out_strides;
  const UserOp* join = nullptr;  // used instead of `op`

  std::string head(bool tiled = false) const {
    if (!join) return apply_text(op, t, tiled && is_expensive(op));
    return "}\n" + std::string(user_names()) + join->definition() +
           fmt::format("namespace bc {{\nusing T = {};\nBC_INLINE T apply(T a, T b) {{ return {}::join(a, b); }}\n", info(t).c_name,
                       join->scope());
  }
  std::string who() const { return join ? to_string(join->id) : fmt::format("{} {}", info(op).name, info(t).name); }

  std::string variant() const { return fmt::format("{} {}", who(), shape.size()); }

  void serial(bool fold) const {
    Words w;
    w.pointer(x);
    w.pointer(out);
    for (int64_t v : {n, x_step, out_step, lines}) w.integer(v);
    w.walk(shape, {&x_strides, &out_strides});
    queue.run_for(
        "scan_serial", variant() + (fold ? " fold" : ""), head(),
        fmt::format(R"(const i64 line = static_cast<i64>(blockIdx.x) * {0} + t;
if (line >= p.w[5]) return;
i64 o[2];
offsets<{1}, 2>(line, p.w + 6, o);
const T* x = word_as<const T*>(p.w) + o[0];
T* out = word_as<T*>(p.w + 1) + o[1];
T acc = x[0];
{2}
for (i64 i = 1; i < p.w[2]; ++i) {{
  acc = apply(acc, x[i * p.w[3]]);
  {3}
}}
{4})",
                    kThreads, shape.size(), fold ? "" : "out[0] = acc;", fold ? "" : "out[i * p.w[4]] = acc;", fold ? "out[0] = acc;" : ""),
        lines, w);
  }

  void tiled() const {
    const TileShape shape(t, kTileRows);
    const int64_t chunks = (n + shape.tile - 1) / shape.tile;
    const LookBack look_back(queue, lines, chunks, itemsize(t), kTileBlocks * 3 / 4);
    Words w;
    w.pointer(x);
    w.pointer(out);
    for (int64_t v : {n, x_step, out_step}) w.integer(v);
    look_back.words(&w);
    w.walk(this->shape, {&x_strides, &out_strides});
    queue.run("scan_tiles", variant(), head(true) + tile_text(shape),
              fmt::format(R"(__shared__ Shared s;
const Tiles tiles{{p.w + 5}};
const u32 tile = tiles.number(s, t), line = tile / tiles.chunks(), chunk = tile - line * tiles.chunks();
const i64 start = static_cast<i64>(chunk) * kTile, left = p.w[2] - start;
const int count = static_cast<int>(left < kTile ? left : kTile), warp = t / 32, lane = t % 32;
i64 o[2];
offsets<{0}, 2>(line, p.w + 11, o);
T v[kRows][kVector], row[kRows];
load_tile(word_as<const T*>(p.w) + o[0] + start * p.w[3], p.w[3], count, v, t);
const T mine = scan_rows(v, row, lane);
if (lane == 0) s.totals[warp] = mine;
__syncthreads();
T before, total = s.totals[0], in_block = total;
for (int k = 1; k < kWarps; ++k) {{
  if (k == warp) in_block = total;
  total = apply(total, s.totals[k]);
}}
const i64 ahead = tiles.ahead() * kTile;
if (t == 0 && p.w[3] == 1 && left >= ahead + kTile) prefetch(word_as<const T*>(p.w) + o[0] + start + ahead, kTile * sizeof(T));
bool some = tiles.look_back(line, chunk, total, before, s, t);
if (warp > 0) {{
  before = some ? apply(before, in_block) : in_block;
  some = true;
}}
join_before(v, row, before, some, lane);
store_tile(word_as<T*>(p.w + 1) + o[1] + start * p.w[4], p.w[4], count, v, t);)",
                          this->shape.size()),
              lines * chunks, w, itemsize(t) <= 8 ? kTileBlocks : 0);
  }
};

/// Lines too short for a block: one warp scans each line.
void scan_by_warps(const Scan& scan) {
  const TileShape shape(scan.t, 1);
  Words w;
  w.pointer(scan.x);
  w.pointer(scan.out);
  for (int64_t v : {scan.n, scan.x_step, scan.out_step, scan.lines}) w.integer(v);
  w.walk(scan.shape, {&scan.x_strides, &scan.out_strides});
  scan.queue.run_for("scan_lines", scan.variant(), scan.head(true) + tile_text(shape),
                     fmt::format(R"(const int lane = t % 32;
const i64 line = static_cast<i64>(blockIdx.x) * kWarps + t / 32, n = p.w[2];
if (line >= p.w[5]) return;
i64 o[2];
offsets<{0}, 2>(line, p.w + 6, o);
const T* x = word_as<const T*>(p.w) + o[0];
T* out = word_as<T*>(p.w + 1) + o[1];
T before = T();
for (i64 start = 0; start < n; start += kRow * kRows) {{
  const int count = static_cast<int>(n - start < kRow * kRows ? n - start : kRow * kRows);
  T v[kRows][kVector], row[kRows];
  load_tile(x + start * p.w[3], p.w[3], count, v, lane);
  const T total = scan_rows(v, row, lane);
  join_before(v, row, before, start > 0, lane);
  store_tile(out + start * p.w[4], p.w[4], count, v, lane);
  before = start > 0 ? apply(before, total) : total;
}})",
                                 scan.shape.size()),
                     scan.lines * 32, w);
}

/// Interleaved lines: a thread scans a run of one line, and neighbouring threads scan neighbouring lines, so every access is coalesced. The
/// totals of the runs are scanned in the same way.
void scan_columns(const Scan& scan) {
  constexpr int64_t kRun = 64;
  const int64_t runs = (scan.n + kRun - 1) / kRun;
  if (runs <= 4) return scan.serial(false);
  Ref<Buffer> totals = scan.queue.scratch(runs * scan.lines * itemsize(scan.t));
  const std::string head = scan.head();
  const std::string place = fmt::format(R"(constexpr i64 kRun = {0};
const i64 job = static_cast<i64>(blockIdx.x) * {1} + t;
if (job >= p.w[7]) return;
const i64 run = job / p.w[6], line = job - run * p.w[6], start = run * kRun;
const i64 count = p.w[3] - start < kRun ? p.w[3] - start : kRun;
i64 o[2];
offsets<{2}, 2>(line, p.w + 8, o);
const T* x = word_as<const T*>(p.w) + o[0] + start * p.w[4];
T* totals = word_as<T*>(p.w + 2);
)",
                                        kRun, kThreads, scan.shape.size());
  Words w;
  w.pointer(scan.x);
  w.pointer(scan.out);
  w.pointer(totals->ptr);
  for (int64_t v : {scan.n, scan.x_step, scan.out_step, scan.lines, runs * scan.lines}) w.integer(v);
  w.walk(scan.shape, {&scan.x_strides, &scan.out_strides});
  scan.queue.run_for("scan_run_totals", scan.variant(), head, place + R"(T acc = x[0];
for (i64 i = 1; i < count; ++i) acc = apply(acc, x[i * p.w[4]]);
totals[job] = acc;)",
                     runs * scan.lines, w);
  scan_columns({scan.queue, scan.op, scan.t, totals->ptr, totals->ptr, runs, scan.lines, scan.lines, scan.lines, Dims{scan.lines}, Dims{1},
                Dims{1}, scan.join});
  scan.queue.run_for("scan_runs", scan.variant(), head, place + R"(T* out = word_as<T*>(p.w + 1) + o[1] + start * p.w[5];
T acc = x[0];
if (run > 0) acc = apply(totals[job - p.w[6]], acc);
out[0] = acc;
for (i64 i = 1; i < count; ++i) {
  acc = apply(acc, x[i * p.w[4]]);
  out[i * p.w[5]] = acc;
})",
                     runs * scan.lines, w);
}

/// The axes of x without `axis`, with the strides of input and output, collapsed where possible.
void line_axes(const Layout& x, const Layout& out, int axis, bool axis_in_out, Dims* shape, Dims* xs, Dims* os) {
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == axis) continue;
    shape->push_back(x.shape[d]), xs->push_back(x.strides[d]);
    os->push_back(out.strides[axis_in_out || d < axis ? d : d - 1]);
  }
  Dims* lists[] = {xs, os};
  collapse(shape, lists);
}

}  // namespace

std::string apply_text(Op op, DType t, bool called) {
  return fmt::format("using T = {};\n{} T apply(T a, T b) {{ return {}; }}\n", info(t).c_name,
                     called ? "static __device__ __noinline__" : "BC_INLINE", info(op).text);
}

void scan_line(Queue& queue, Op op, DType t, void* data, int64_t n) {
  if (n > 1) Scan{queue, op, t, data, data, n, 1, 1, 1, {}, {}, {}}.tiled();
}

void run(const ScanExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const Layout &x = inputs[0].layout, &out = output.layout;
  const int64_t out_step = op.fold ? 0 : out.strides[op.axis];
  Scan scan{queue, op.op, output.dtype, first(inputs[0]), first(output), x.shape[op.axis], x.strides[op.axis], out_step, 0, {}, {}, {}, {}};
  scan.join = op.join.get();
  line_axes(x, out, op.axis, !op.fold, &scan.shape, &scan.x_strides, &scan.out_strides);
  scan.lines = product(scan.shape);
  if (scan.lines == 0 || scan.n == 0) return;
  const bool side_by_side = !scan.shape.empty() && scan.shape.back() >= 32 && scan.x_strides.back() == 1;
  queue.together([&] {
    if (op.fold || !(op.join || associative(op.op)) || scan.n <= kShortLine ||
        (side_by_side && scan.lines >= kManyLines && scan.n <= kLongColumn))
      scan.serial(op.fold);
    else if (side_by_side)
      scan_columns(scan);
    else if (scan.lines >= kLinesOfWarps && scan.n <= TileShape(scan.t).tile / 2)
      scan_by_warps(scan);
    else
      scan.tiled();
  });
}

void run(const ReduceatExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  Queue queue(device, stream);
  const Layout &x = inputs[0].layout, &out = output.layout;
  Dims shape, xs, os;
  line_axes(x, out, op.axis, true, &shape, &xs, &os);
  const int64_t segments = static_cast<int64_t>(op.at.size()), lines = product(shape), n = x.shape[op.axis];
  if (segments == 0 || lines == 0) return;
  const int64_t bytes = segments * static_cast<int64_t>(sizeof(int64_t));
  Ref<Buffer> at = queue.scratch(bytes);
  backend(device).copy(at->ptr, op.at.data(), static_cast<size_t>(bytes), CopyKind::HostToDevice, queue.stream());
  Words w;
  w.pointer(first(inputs[0]));
  w.pointer(first(output));
  w.pointer(at->ptr);
  for (int64_t v : {segments, n, x.strides[op.axis], out.strides[op.axis], lines}) w.integer(v);
  w.walk(shape, {&xs, &os});
  const std::string variant = fmt::format("{} {} {}", info(op.op).name, info(output.dtype).name, shape.size());
  const std::string place = fmt::format(R"(const i64 segment = job / p.w[7], line = job % p.w[7];
i64 o[2];
offsets<{}, 2>(line, p.w + 8, o);
const i64* at = word_as<const i64*>(p.w + 2);
const i64 begin = at[segment];
i64 end = segment + 1 < p.w[3] ? at[segment + 1] : p.w[4];
if (end <= begin) end = begin + 1;
const T* x = word_as<const T*>(p.w) + o[0];
)",
                                        shape.size());
  if (!associative(op.op) || n / segments < 512) {
    queue.run_for("reduceat", variant, apply_text(op.op, output.dtype),
                  fmt::format("const i64 job = static_cast<i64>(blockIdx.x) * {} + t;\nif (job >= p.w[3] * p.w[7]) return;\n", kThreads) +
                      place +
                      R"(T acc = x[begin * p.w[5]];
for (i64 i = begin + 1; i < end; ++i) acc = apply(acc, x[i * p.w[5]]);
word_as<T*>(p.w + 1)[o[1] + segment * p.w[6]] = acc;)",
                  segments * lines, w);
    return;
  }
  // One block per segment: each thread folds every 256th element, then a tree joins the threads' results.
  queue.run("reduceat_block", variant, apply_text(op.op, output.dtype),
            fmt::format("constexpr int kThreads = {};\n__shared__ T s[kThreads];\nconst i64 job = blockIdx.x;\n", kThreads) + place +
                R"(i64 i = begin + t;
if (i < end) {
  T acc = x[i * p.w[5]];
  for (i += kThreads; i < end; i += kThreads) acc = apply(acc, x[i * p.w[5]]);
  s[t] = acc;
}
const int held = static_cast<int>(end - begin < kThreads ? end - begin : kThreads);
for (int d = kThreads / 2; d > 0; d /= 2) {
  __syncthreads();
  if (t < d && t + d < held) s[t] = apply(s[t], s[t + d]);
}
if (t == 0) word_as<T*>(p.w + 1)[o[1] + segment * p.w[6]] = s[0];)",
            segments * lines, w);
}

}  // namespace bc::cuda
