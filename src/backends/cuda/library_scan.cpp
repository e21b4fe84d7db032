// accumulate, fold and reduceat on CUDA. Reduce, scan the totals, scan again: three reads and writes for two, but the order of joins is
// fixed, which a look-back that takes whatever predecessor is ready cannot promise for floating point.
#include "backends/cuda/library_scan.h"

#include <fmt/format.h>

#include "backends/cuda/library.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

constexpr int kItems = 8;  // of a thread
constexpr int64_t kTile = kThreads * kItems;
constexpr int64_t kManyLines = 32 * 1024;  // enough for one thread a line
constexpr int64_t kShortLine = 64;
constexpr int64_t kLongColumn = 1024;

// A tile of kTile elements: thread t holds items [t * kItems, (t + 1) * kItems).
std::string tile_text() {
  return fmt::format(R"(
constexpr int kThreads = {}, kItems = {}, kTile = kThreads * kItems;
BC_INLINE int padded(int i) {{ return i + i / 32; }}
struct Shared {{
  T tile[kTile + kTile / 32];
  T totals[kThreads];
}};
/// Loads `count` elements so that neighbours in memory are read by neighbouring threads.
BC_INLINE void load_tile(const T* x, i64 step, int count, Shared& s, int t) {{
  for (int k = 0; k < kItems; ++k) {{
    const int i = k * kThreads + t;
    if (i < count) s.tile[padded(i)] = x[i * step];
  }}
  __syncthreads();
}}
BC_INLINE void store_tile(T* out, i64 step, int count, Shared& s, int t) {{
  __syncthreads();
  for (int k = 0; k < kItems; ++k) {{
    const int i = k * kThreads + t;
    if (i < count) out[i * step] = s.tile[padded(i)];
  }}
  __syncthreads();
}}
/// s.totals[t] becomes the join of all elements of threads 0 … t; `full` writes the running values back to the tile, after `carry`.
BC_INLINE void scan_tile(int count, bool full, bool have, T carry, Shared& s, int t) {{
  const int begin = t * kItems, end = begin + kItems < count ? begin + kItems : count;
  const bool active = begin < count;
  if (active) {{
    T acc = s.tile[padded(begin)];
    for (int i = begin + 1; i < end; ++i) {{
      acc = apply(acc, s.tile[padded(i)]);
      if (full) s.tile[padded(i)] = acc;
    }}
    s.totals[t] = acc;
  }}
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {{
    T left;
    const bool take = active && t >= d;
    if (take) left = s.totals[t - d];
    __syncthreads();
    if (take) s.totals[t] = apply(left, s.totals[t]);
    __syncthreads();
  }}
  if (full && active && (t > 0 || have)) {{
    const T before = t == 0 ? carry : have ? apply(carry, s.totals[t - 1]) : s.totals[t - 1];
    for (int i = begin; i < end; ++i) s.tile[padded(i)] = apply(before, s.tile[padded(i)]);
  }}
}}
)",
                     kThreads, kItems);
}

/// Words: 0 x, 1 out, 2 totals, 3 n, 4 x step, 5 out step, 6 chunks, then the lines' walk over x and out.
struct Scan {
  Queue& queue;
  Op op;
  DType t;
  const void* x;
  void* out;
  int64_t n, x_step, out_step, lines;
  Dims shape, x_strides, out_strides;
  const UserOp* join = nullptr;  // in the place of `op`

  std::string head() const {
    if (!join) return apply_text(op, t);
    return "}\n" + std::string(user_names()) + join->definition() +
           fmt::format("namespace bc {{\nusing T = {};\nBC_INLINE T apply(T a, T b) {{ return {}::join(a, b); }}\n", info(t).c_name,
                       join->scope());
  }
  std::string who() const { return join ? to_string(join->id) : fmt::format("{} {}", info(op).name, info(t).name); }

  Words words(const void* totals, int64_t chunks) const {
    Words w;
    w.pointer(x);
    w.pointer(out);
    w.pointer(totals);
    for (int64_t v : {n, x_step, out_step, chunks}) w.integer(v);
    w.walk(shape, {&x_strides, &out_strides});
    return w;
  }
  std::string variant() const { return fmt::format("{} {}", who(), shape.size()); }

  void serial(bool fold) const {
    Words w = words(nullptr, lines);
    queue.run_for(
        "scan_serial", variant() + (fold ? " fold" : ""), head(),
        fmt::format(R"(const i64 line = static_cast<i64>(blockIdx.x) * {0} + t;
if (line >= p.w[6]) return;
i64 o[2];
offsets<{1}, 2>(line, p.w + 7, o);
const T* x = word_as<const T*>(p.w) + o[0];
T* out = word_as<T*>(p.w + 1) + o[1];
T acc = x[0];
{2}
for (i64 i = 1; i < p.w[3]; ++i) {{
  acc = apply(acc, x[i * p.w[4]]);
  {3}
}}
{4})",
                    kThreads, shape.size(), fold ? "" : "out[0] = acc;", fold ? "" : "out[i * p.w[5]] = acc;", fold ? "out[0] = acc;" : ""),
        lines, w);
  }

  void tiled() const {
    const int64_t chunks = (n + kTile - 1) / kTile;
    Ref<Buffer> totals;
    const std::string head = this->head() + tile_text();
    const std::string place = fmt::format(R"(__shared__ Shared s;
const i64 line = blockIdx.x / p.w[6], chunk = blockIdx.x % p.w[6], start = chunk * kTile;
const int count = static_cast<int>(p.w[3] - start < kTile ? p.w[3] - start : kTile);
i64 o[2];
offsets<{}, 2>(line, p.w + 7, o);
load_tile(word_as<const T*>(p.w) + o[0] + start * p.w[4], p.w[4], count, s, t);
)",
                                          shape.size());
    if (chunks > 1) {
      totals = queue.scratch(lines * chunks * itemsize(t));
      queue.run("scan_totals", variant(), head, place + R"(scan_tile(count, false, false, s.tile[0], s, t);
if (t == (count - 1) / kItems) word_as<T*>(p.w + 2)[blockIdx.x] = s.totals[t];)",
                lines * chunks, words(totals->ptr, chunks));
      // One block a line walks the totals.
      Words w;
      w.pointer(totals->ptr);
      w.integer(chunks);
      queue.run("scan_carry", who(), head, R"(__shared__ Shared s;
T* data = word_as<T*>(p.w) + static_cast<i64>(blockIdx.x) * p.w[1];
T carry = data[0];
for (i64 start = 0; start < p.w[1]; start += kTile) {
  const int count = static_cast<int>(p.w[1] - start < kTile ? p.w[1] - start : kTile);
  load_tile(data + start, 1, count, s, t);
  scan_tile(count, true, start > 0, carry, s, t);
  __syncthreads();
  carry = s.tile[padded(count - 1)];
  store_tile(data + start, 1, count, s, t);
})",
                lines, w);
    }
    queue.run("scan_chunks", variant(), head, place + R"(const bool have = chunk > 0;
const T carry = have ? word_as<const T*>(p.w + 2)[blockIdx.x - 1] : s.tile[0];
scan_tile(count, true, have, carry, s, t);
store_tile(word_as<T*>(p.w + 1) + o[1] + start * p.w[5], p.w[5], count, s, t);)",
              lines * chunks, words(totals ? totals->ptr : nullptr, chunks));
  }
};

/// Lines that lie side by side: a thread walks a run of one line, and neighbouring threads neighbouring lines, so every access is
/// coalesced. Totals of the runs are scanned the same way.
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

/// The axes of x but `axis`, with the strides of both sides, joined where they can be.
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

std::string apply_text(Op op, DType t) {
  return fmt::format("using T = {};\nBC_INLINE T apply(T a, T b) {{ return {}; }}\n", info(t).c_name, info(op).text);
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
  if (op.fold || !(op.join || associative(op.op)) || scan.n <= kShortLine ||
      (side_by_side && scan.lines >= kManyLines && scan.n <= kLongColumn))
    scan.serial(op.fold);
  else if (side_by_side)
    scan_columns(scan);
  else
    scan.tiled();
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
  backend(device).copy(at->ptr, op.at.data(), static_cast<size_t>(bytes), CopyKind::HostToDevice, stream);
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
  // A block a segment: each thread folds every 256th element, then a tree joins the threads.
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
