// accumulate, fold and reduceat on the CPU. Long lines of associative rows are split into blocks of a fixed size: block totals are folded
// in order, and each block continues from the total of the blocks before it. The bits depend only on the shape, not on the threads.
#include "backends/cpu/fold_loops.h"
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kBlock = 1 << 16;  // elements of a line in one block; a float64 block fits the second-level cache
constexpr int64_t kManyLines = 64;   // enough lines to distribute to threads without splitting a line
constexpr int64_t kPieceElements = 1 << 15;

const FoldLoops& loops(Op op, DType t) {
  const FoldLoops* l = fold_loops(info(op).name, static_cast<int>(t));
  BC_CHECK(l, UFuncTypeError, "{}: no loop that takes and gives {}", info(op).name, info(t).name);
  return *l;
}

/// A view as outer axes × `axis` × inner axes; the inner axes are collapsed to rows.
struct Lines {
  Dims outer, x_outer, out_outer;  ///< before the axis
  Dims inner, x_inner, out_inner;  ///< after it
  int64_t n, x_step, out_step;     ///< along it

  Lines(const Layout& x, const Layout& out, int axis, bool axis_in_out) {
    n = x.shape[axis];
    x_step = x.strides[axis];
    out_step = axis_in_out ? out.strides[axis] : 0;
    for (int d = 0; d < x.ndim(); ++d) {
      if (d == axis) continue;
      const int od = axis_in_out || d < axis ? d : d - 1;
      Dims &s = d < axis ? outer : inner, &xs = d < axis ? x_outer : x_inner, &os = d < axis ? out_outer : out_inner;
      s.push_back(x.shape[d]), xs.push_back(x.strides[d]), os.push_back(out.strides[od]);
    }
    Dims* a[] = {&x_outer, &out_outer};
    collapse(&outer, a);
    Dims* b[] = {&x_inner, &out_inner};
    collapse(&inner, b);
  }
};

/// Calls f(x, out) for each line, with the offsets of the line's first element.
template <class F>
void each_line(const Lines& l, F f) {
  const int64_t inner = product(l.inner), lines = product(l.outer) * inner;
  parallel_for(lines, std::max<int64_t>(1, kPieceElements / std::max<int64_t>(l.n, 1)), [&](int64_t begin, int64_t end) {
    Walker o(l.outer, {&l.x_outer, &l.out_outer}), i(l.inner, {&l.x_inner, &l.out_inner});
    o.seek(begin / inner);
    i.seek(begin % inner);
    int64_t at = begin % inner;
    for (int64_t line = begin; line < end; ++line) {
      f(o.offset(0) + i.offset(0), o.offset(1) + i.offset(1));
      i.next();
      if (++at == inner) at = 0, o.next();
    }
  });
}

/// Calls f(x, out, row length, x stride, out stride) for pieces of inner rows; f processes the axis row by row.
template <class F>
void each_slab(const Lines& l, F f) {
  const int64_t row = l.inner.back(), rows = product(l.inner) / row * product(l.outer);
  const int64_t width = std::clamp<int64_t>(kPieceElements / std::max<int64_t>(l.n, 1), 512, std::max<int64_t>(row, 512));
  const int64_t pieces = (row + width - 1) / width;
  Dims rest(l.inner.span().first(l.inner.size() - 1)), xs(l.x_inner.span().first(l.inner.size() - 1)),
      os(l.out_inner.span().first(l.inner.size() - 1));
  const int64_t per_outer = product(rest) * pieces;
  parallel_for(rows * pieces, 1, [&](int64_t begin, int64_t end) {
    Walker o(l.outer, {&l.x_outer, &l.out_outer}), i(rest, {&xs, &os});
    for (int64_t p = begin; p < end; ++p) {
      o.seek(p / per_outer);
      i.seek(p % per_outer / pieces);
      const int64_t start = p % pieces * width, count = std::min(width, row - start);
      f(o.offset(0) + i.offset(0) + start * l.x_inner.back(), o.offset(1) + i.offset(1) + start * l.out_inner.back(), count,
        l.x_inner.back(), l.out_inner.back());
    }
  });
}

void scan_blocks(const FoldLoops& f, const char* x, char* out, const Lines& l, int64_t bytes) {
  const int64_t blocks = (l.n + kBlock - 1) / kBlock;
  auto length = [&](int64_t b) { return std::min(kBlock, l.n - b * kBlock); };
  auto x_at = [&](int64_t b) { return x + b * kBlock * l.x_step * bytes; };
  auto out_at = [&](int64_t b) { return out + b * kBlock * l.out_step * bytes; };
  alignas(16) char before[16], total[16], running[16];
  if (thread_count() <= 2) {
    // With two threads, reading each block twice would cost more than it gains: one pass computes the block's total together with its scan.
    f.scan(x, l.x_step, out, l.out_step, length(0), before, false);
    for (int64_t b = 1; b < blocks; ++b) {
      std::memcpy(running, before, 16);
      f.scan_twice(x_at(b), l.x_step, out_at(b), l.out_step, length(b), running, total);
      f.zip(before, 1, total, 1, before, 1, 1);
    }
    return;
  }
  std::vector<char> totals(static_cast<size_t>(blocks) * 16);
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) f.scan(x_at(b), l.x_step, nullptr, 0, length(b), &totals[static_cast<size_t>(b) * 16], false);
  });
  for (int64_t b = 1; b < blocks; ++b)
    f.zip(&totals[static_cast<size_t>(b - 1) * 16], 1, &totals[static_cast<size_t>(b) * 16], 1, &totals[static_cast<size_t>(b) * 16], 1, 1);
  parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      alignas(16) char carry[16];
      if (b > 0) std::memcpy(carry, &totals[static_cast<size_t>(b - 1) * 16], 16);
      f.scan(x_at(b), l.x_step, out_at(b), l.out_step, length(b), carry, b > 0);
    }
  });
}

}  // namespace

void run(const ScanExtra& op, std::span<const View> inputs, const View& output) {
  const FoldLoops& f = loops(op.op, output.dtype);
  const int64_t bytes = itemsize(output.dtype);
  const Lines l(inputs[0].layout, output.layout, op.axis, !op.fold);
  const char* x = first(inputs[0]);
  char* out = first(output);
  const int64_t inner = product(l.inner), lines = product(l.outer) * inner;
  if (lines == 0 || l.n == 0) return;
  if (op.fold) {
    if (!l.inner.empty() && l.inner.back() >= 8) {
      each_slab(l, [&](int64_t xo, int64_t oo, int64_t count, int64_t sx, int64_t so) {
        const char* row = x + xo * bytes;
        char* to = out + oo * bytes;
        const char* second = row + l.x_step * bytes;
        f.zip(row, sx, second, sx, to, so, count);
        for (int64_t i = 2; i < l.n; ++i) f.zip(to, so, row + i * l.x_step * bytes, sx, to, so, count);
      });
      return;
    }
    each_line(l, [&](int64_t xo, int64_t oo) {
      alignas(16) char carry[16];
      f.scan(x + xo * bytes, l.x_step, nullptr, 0, l.n, carry, false);
      std::memcpy(out + oo * bytes, carry, static_cast<size_t>(bytes));
    });
    return;
  }
  if (!l.inner.empty() && l.inner.back() >= 8) {
    each_slab(l, [&](int64_t xo, int64_t oo, int64_t count, int64_t sx, int64_t so) {
      const char* from = x + xo * bytes;
      char* to = out + oo * bytes;
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * so * bytes, from + i * sx * bytes, static_cast<size_t>(bytes));
      for (int64_t i = 1; i < l.n; ++i) {
        const char* before = to + (i - 1) * l.out_step * bytes;
        f.zip(before, so, from + i * l.x_step * bytes, sx, to + i * l.out_step * bytes, so, count);
      }
    });
    return;
  }
  // Where a result does not depend on how elements are grouped, one pass by one thread takes half of the time of two by two threads.
  const bool one_pass = thread_count() <= 2 && (op.op == Op::maximum || op.op == Op::minimum || op.op == Op::fmax || op.op == Op::fmin);
  if (l.n > kBlock && lines < kManyLines && associative(op.op) && !one_pass) {
    Walker o(l.outer, {&l.x_outer, &l.out_outer});
    for (int64_t i = 0; i < product(l.outer); ++i, o.next()) {
      Walker in(l.inner, {&l.x_inner, &l.out_inner});
      for (int64_t j = 0; j < inner; ++j, in.next())
        scan_blocks(f, x + (o.offset(0) + in.offset(0)) * bytes, out + (o.offset(1) + in.offset(1)) * bytes, l, bytes);
    }
    return;
  }
  each_line(l, [&](int64_t xo, int64_t oo) {
    alignas(16) char carry[16];
    f.scan(x + xo * bytes, l.x_step, out + oo * bytes, l.out_step, l.n, carry, false);
  });
}

void run(const ReduceatExtra& op, std::span<const View> inputs, const View& output) {
  const FoldLoops& f = loops(op.op, output.dtype);
  const int64_t bytes = itemsize(output.dtype);
  const Lines l(inputs[0].layout, output.layout, op.axis, true);
  const char* x = first(inputs[0]);
  char* out = first(output);
  const int64_t segments = static_cast<int64_t>(op.at.size());
  auto stop = [&](int64_t j) {
    const int64_t begin = op.at[static_cast<size_t>(j)], end = j + 1 < segments ? op.at[static_cast<size_t>(j) + 1] : l.n;
    return std::max(end, begin + 1);
  };
  if (!l.inner.empty() && l.inner.back() >= 8) {
    each_slab(l, [&](int64_t xo, int64_t oo, int64_t count, int64_t sx, int64_t so) {
      for (int64_t j = 0; j < segments; ++j) {
        const int64_t begin = op.at[static_cast<size_t>(j)];
        const char* row = x + (xo + begin * l.x_step) * bytes;
        char* to = out + (oo + j * l.out_step) * bytes;
        for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * so * bytes, row + i * sx * bytes, static_cast<size_t>(bytes));
        for (int64_t i = 1; i < stop(j) - begin; ++i) f.zip(to, so, row + i * l.x_step * bytes, sx, to, so, count);
      }
    });
    return;
  }
  const int64_t inner = product(l.inner), lines = product(l.outer) * inner;
  const int64_t piece = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, l.n / std::max<int64_t>(segments, 1)));
  const int64_t pieces = (segments + piece - 1) / piece;
  const int64_t grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(1, l.n / pieces));
  parallel_for(lines * pieces, grain, [&](int64_t begin, int64_t end) {
    Walker o(l.outer, {&l.x_outer, &l.out_outer}), i(l.inner, {&l.x_inner, &l.out_inner});
    o.seek(begin / pieces / inner);
    i.seek(begin / pieces % inner);
    for (int64_t p = begin, place = begin / pieces % inner; p < end; ++p) {
      const int64_t j = p % pieces * piece, count = std::min(piece, segments - j);
      f.segments(x + (o.offset(0) + i.offset(0)) * bytes, l.x_step, op.at.data() + j, count, j + count == segments, l.n,
                 out + (o.offset(1) + i.offset(1) + j * l.out_step) * bytes, l.out_step);
      if (j + count < segments) continue;
      i.next();
      if (++place < inner) continue;
      place = 0;
      i.seek(0);
      o.next();
    }
  });
}

}  // namespace bc::cpu
