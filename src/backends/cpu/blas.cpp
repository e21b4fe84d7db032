#include "backends/cpu/blas.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <semaphore>
#include <vector>

#include "backends/cpu/block_product.h"
#include "backends/cpu/openblas.h"
#include "backends/cpu/small_product.h"
#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kIntMax = int64_t{1} << 30;
/// Below this number of multiplications a second thread costs more than it gains.
constexpr double kParallelWork = 1 << 19;
/// A product with a vector reads an element for each multiplication, so that one takes as long as several of other products.
constexpr double kVectorWork = 4;
constexpr double kLongestTile = 4e10;  // multiplications of a tile, times the bytes of an element: a tenth of a second or two
constexpr int64_t kShortestSum = 512;  // minimum length to which the sums of a long product are split
/// If the sums are this long and there are few outputs, the sums are split into pieces that run in parallel and are added in a tree.
constexpr int64_t kSplitDepth = 1 << 15;
constexpr int64_t kSplitOutputs = 256 * 256;
/// The same for products of a tall matrix and few columns (normal equations, gradients): each piece of it is read once, by one thread,
/// while tiles of outputs read all of it. BLAS multiplies pieces that fit its caches twice as fast.
constexpr int64_t kTallDepth = 1 << 11, kTallVectorDepth = 1 << 13;
constexpr int64_t kTallOutputs = 32 * 32;

// ---- one tile through OpenBLAS

/// Limits concurrent calls: OpenBLAS has 128 work buffers and terminates the process when they run out.
std::counting_semaphore<64>& buffers() {
  static auto& made = *new std::counting_semaphore<64>(64);
  return made;
}

/// How a row-major view is passed to BLAS: unchanged ('N'), transposed ('T'), or only after a copy.
struct Layout {
  char trans = 0;
  int ld = 0;
};

Layout layout(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  const int64_t plain = rows == 1 ? columns : row_stride;
  if ((columns == 1 || column_stride == 1) && plain >= columns && plain <= kIntMax) return {'N', static_cast<int>(plain)};
  const int64_t turned = columns == 1 ? rows : column_stride;
  if ((rows == 1 || row_stride == 1) && turned >= rows && turned <= kIntMax) return {'T', static_cast<int>(turned)};
  return {};
}

template <class T>
struct Packed {
  const T* data;
  Layout layout;
  std::unique_ptr<T[]> copy;
};

template <class T>
Packed<T> packed(const T* data, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  Packed<T> out{data, layout(rows, columns, row_stride, column_stride), nullptr};
  if (out.layout.trans != 0) return out;
  out.copy = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(rows * columns));
  T* to = out.copy.get();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) *to++ = data[i * row_stride + j * column_stride];
  }
  out.data = out.copy.get();
  out.layout = {'N', static_cast<int>(columns)};
  return out;
}

template <class R>
struct Pair {
  R re = 0, im = 0;
};
template <class T, int Index>
struct BlasType {
  static constexpr int kIndex = Index;
  using Element = T;
};

/// Multiplies a tile whose sizes all fit an int. Row-major matrices are column-major ones transposed: cᵀ = bᵀ · aᵀ.
template <class Type>
void blas_tile(const TileShape& s, const void* a_data, const void* b_data, void* c_data) {
  using T = typename Type::Element;
  const OpenBlas& library = openblas();
  const T one{1};
  const T zero{s.adds ? T{1} : T{0}};
  const auto m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
  if constexpr (Type::kIndex < 2) {
    if (n == 1 && m == 1 && s.a_column > 0 && s.b_row > 0 && s.a_column * k <= kIntMax && s.b_row * k <= kIntMax) {
      const auto step_a = static_cast<int>(s.a_column), step_b = static_cast<int>(s.b_row);
      const T *x = static_cast<const T*>(a_data), *y = static_cast<const T*>(b_data);
      T& sum = *static_cast<T*>(c_data);
      if constexpr (Type::kIndex == 0)
        sum = library.sdot(&k, x, &step_a, y, &step_b);
      else
        sum = library.ddot(&k, x, &step_a, y, &step_b);
      return;
    }
  }
  const Packed<T> a = packed(static_cast<const T*>(a_data), s.m, s.k, s.a_row, s.a_column);
  const Packed<T> b = packed(static_cast<const T*>(b_data), s.k, s.n, s.b_row, s.b_column);
  buffers().acquire();
  if (s.n == 1) {
    const char trans = a.layout.trans == 'N' ? 'T' : 'N';
    const int step = b.layout.trans == 'N' ? b.layout.ld : 1;
    const int c_step = static_cast<int>(s.c_row);
    const int rows = trans == 'T' ? k : m, columns = trans == 'T' ? m : k;
    library.gemv[Type::kIndex](&trans, &rows, &columns, &one, a.data, &a.layout.ld, b.data, &step, &zero, c_data, &c_step);
  } else if (s.m == 1) {
    const char trans = b.layout.trans;
    const int step = a.layout.trans == 'N' ? 1 : a.layout.ld;
    const int c_step = 1;
    const int rows = trans == 'T' ? k : n, columns = trans == 'T' ? n : k;
    library.gemv[Type::kIndex](&trans, &rows, &columns, &one, b.data, &b.layout.ld, a.data, &step, &zero, c_data, &c_step);
  } else {
    const int ldc = static_cast<int>(s.c_row);
    library.gemm[Type::kIndex](&b.layout.trans, &a.layout.trans, &n, &m, &k, &one, b.data, &b.layout.ld, a.data, &a.layout.ld, &zero,
                               c_data, &ldc);
  }
  buffers().release();
}

template <class T>
T times(T a, T b) {
  return a * b;
}
template <class R>
Pair<R> times(Pair<R> a, Pair<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
T plus(T a, T b) {
  return a + b;
}
template <class R>
Pair<R> plus(Pair<R> a, Pair<R> b) {
  return {a.re + b.re, a.im + b.im};
}

/// Very small products that small_product() does not support: a call of BLAS would take 100 ns by itself.
template <class Type>
void small_tile(const TileShape& s, const void* a_data, const void* b_data, void* c_data) {
  using T = typename Type::Element;
  const T* a = static_cast<const T*>(a_data);
  const T* b = static_cast<const T*>(b_data);
  T* c = static_cast<T*>(c_data);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      T sum = times(a[i * s.a_row], b[j * s.b_column]);
      for (int64_t p = 1; p < s.k; ++p) sum = plus(sum, times(a[i * s.a_row + p * s.a_column], b[p * s.b_row + j * s.b_column]));
      c[i * s.c_row + j] = sum;
    }
  }
}
constexpr int64_t kSmallWork = 128;

bool is_small(int64_t m, int64_t n, int64_t k) { return m <= kSmallWork && n <= kSmallWork && k <= kSmallWork && m * n * k <= kSmallWork; }

template <class Type>
TileFunction blas_or_small(bool small) {
  if (small) return &small_tile<Type>;
  openblas();  // opens the library here, so that an error is not thrown in a worker thread
  return &blas_tile<Type>;
}

/// The function that multiplies the tiles of a product; `whole` may be a single tile.
TileFunction tile_function(DType dtype, const TileShape& whole) {
  if (const TileFunction tile = small_product(dtype, whole)) return tile;
  const bool small = is_small(whole.m, whole.n, whole.k);
  switch (dtype) {
    case DType::f32: return blas_or_small<BlasType<float, 0>>(small);
    case DType::f64: return blas_or_small<BlasType<double, 1>>(small);
    case DType::c64: return blas_or_small<BlasType<Pair<float>, 2>>(small);
    case DType::c128: return blas_or_small<BlasType<Pair<double>, 3>>(small);
    default: return block_product(dtype);
  }
}

// ---- tiles of a product

/// Splits m x n into about `parts` tiles that are nearly square, since a tile reads m·k + k·n elements for its m·n·k multiplications.
/// Of two grids that cost the same, `rows_first` takes the one with more rows.
struct Grid {
  int64_t rows = 1, columns = 1;
};

Grid make_grid(int64_t m, int64_t n, int64_t parts, bool rows_first) {
  Grid best;
  double best_cost = 0;
  for (int64_t i = 1; i <= parts; ++i) {
    const int64_t rows = rows_first ? parts + 1 - i : i;
    const Grid grid{std::min(rows, m), std::min((parts + rows - 1) / rows, n)};
    const double tile_m = std::ceil(static_cast<double>(m) / static_cast<double>(grid.rows));
    const double tile_n = std::ceil(static_cast<double>(n) / static_cast<double>(grid.columns));
    // The largest tile determines the time; its border stands for the cost of packing.
    const double cost = tile_m * tile_n * (1 + 16 / tile_m + 16 / tile_n);
    if (i == 1 || cost < best_cost) {
      best = grid;
      best_cost = cost;
    }
  }
  return best;
}

/// The beginning of part i of `parts`, a multiple of 16 elements if no part becomes empty.
int64_t cut(int64_t size, int64_t parts, int64_t i) {
  const int64_t unit = size >= parts * 64 ? 16 : 1;
  const int64_t units = (size + unit - 1) / unit;
  return std::min(size, units * i / parts * unit);
}

const char* at(const void* data, int64_t elements, int item) { return static_cast<const char*>(data) + elements * item; }

template <class R>
void add_into(void* to, const void* from, int64_t count) {
  R* x = static_cast<R*>(to);
  const R* y = static_cast<const R*>(from);
  for (int64_t i = 0; i < count; ++i) x[i] += y[i];
}

void add_elements(DType dtype, void* to, const void* from, int64_t count) {
  switch (dtype) {
    case DType::f32: return add_into<float>(to, from, count);
    case DType::f64: return add_into<double>(to, from, count);
    case DType::c64: return add_into<float>(to, from, 2 * count);
    case DType::c128: return add_into<double>(to, from, 2 * count);
    case DType::i8:
    case DType::u8: return add_into<uint8_t>(to, from, count);
    case DType::i16:
    case DType::u16: return add_into<uint16_t>(to, from, count);
    case DType::i32:
    case DType::u32: return add_into<uint32_t>(to, from, count);
    case DType::i64:
    case DType::u64: return add_into<uint64_t>(to, from, count);
    default: {  // bool
      auto* x = static_cast<uint8_t*>(to);
      const auto* y = static_cast<const uint8_t*>(from);
      for (int64_t i = 0; i < count; ++i) x[i] |= y[i];
    }
  }
}

struct Problem {
  DType dtype;
  int64_t batch, m, n, k;
  const void* a;
  const int64_t* sa;
  const void* b;
  const int64_t* sb;
  void* c;
};

/// The length of the pieces into which the sums of a product are split; 0: they are not.
int64_t piece_of_sums(const Problem& p) {
  const int64_t outputs = p.m * p.n;
  const bool vector = p.m == 1 || p.n == 1;
  // The rows of a matrix whose sums lie along its rows are apart anyway.
  const bool apart = vector && (p.n == 1 ? std::abs(p.sa[2]) <= std::abs(p.sa[1]) : std::abs(p.sb[1]) <= std::abs(p.sb[2]));
  const int64_t tall = vector ? kTallVectorDepth : kTallDepth;
  if (outputs <= kTallOutputs && outputs > 1 && p.k >= 2 * tall && !apart) return tall;
  return (outputs <= kSplitOutputs && p.k >= 2 * kSplitDepth) || p.k > kIntMax ? kSplitDepth : 0;
}

/// Few outputs with long sums. The pieces depend only on the sizes, so the result does not depend on the number of threads.
void split_depth(const Problem& p, TileFunction tile, int64_t piece) {
  const int item = itemsize(p.dtype);
  const int64_t outputs = p.m * p.n;
  const int64_t most = std::clamp<int64_t>((int64_t{1} << 22) / outputs, 2, 256);
  const int64_t wanted = std::clamp<int64_t>(p.k / piece, 2, most);
  const int64_t depth = std::min(kIntMax, ((p.k + wanted - 1) / wanted + 63) / 64 * 64);  // pieces begin at cache lines
  const int64_t parts = (p.k + depth - 1) / depth;
  const auto sums = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(parts * outputs * item));
  for (int64_t z = 0; z < p.batch; ++z) {
    const char* a = at(p.a, z * p.sa[0], item);
    const char* b = at(p.b, z * p.sb[0], item);
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t from = i * depth;
        const TileShape shape{p.m, p.n, std::min(depth, p.k - from), p.sa[1], p.sa[2], p.sb[1], p.sb[2], p.n};
        tile(shape, at(a, from * p.sa[2], item), at(b, from * p.sb[1], item), sums.get() + i * outputs * item);
      }
    });
    for (int64_t step = 1; step < parts; step *= 2) {
      for (int64_t i = 0; i + step < parts; i += 2 * step) {
        add_elements(p.dtype, sums.get() + i * outputs * item, sums.get() + (i + step) * outputs * item, outputs);
      }
    }
    std::memcpy(const_cast<char*>(at(p.c, z * outputs, item)), sums.get(), static_cast<size_t>(outputs * item));
  }
}

void run(const Problem& p) {
  const TileShape whole{p.m, p.n, p.k, p.sa[1], p.sa[2], p.sb[1], p.sb[2], p.n};
  const TileFunction tile = tile_function(p.dtype, whole);
  const int item = itemsize(p.dtype);
  const int64_t outputs = p.m * p.n;
  if (const int64_t piece = piece_of_sums(p)) return split_depth(p, tile, piece);

  const double work = static_cast<double>(outputs) * static_cast<double>(p.k);
  const double cost = p.m == 1 || p.n == 1 ? work * kVectorWork : work;
  const int64_t threads = thread_count();
  int64_t parts = 1;
  if (p.batch < 2 * threads) parts = (threads + p.batch - 1) / p.batch;
  parts = std::clamp(static_cast<int64_t>(cost / kParallelWork), int64_t{1}, parts);
  // An interrupt waits for running tiles, so tiles must not be too long. Sums are split first, since smaller tiles pack their operands
  // again and again.
  auto pieces = static_cast<int64_t>(work * item / kLongestTile);
  int64_t depth = p.k;
  if (pieces > 1 && is_inexact(p.dtype)) {
    depth = std::max(kShortestSum, ((p.k + pieces - 1) / pieces + 63) / 64 * 64);
    pieces /= (p.k + depth - 1) / depth;
  }
  if (pieces > parts) parts = (pieces + threads - 1) / threads * threads;
  // OpenBLAS packs the rows of b faster than its columns: each thread packs all of a b with contiguous rows, else a part of it. (Measured
  // with 2 threads, 256 to 1024: halves by rows take 0.93 to 1 of halves by columns, and 1.03 to 1.1 if b is transposed.)
  const bool rows_first = p.sb[2] == 1;
  Grid grid = make_grid(p.m, p.n, parts, rows_first);
  grid.rows = std::max(grid.rows, (p.m + kIntMax - 1) / kIntMax);
  grid.columns = std::max(grid.columns, (p.n + kIntMax - 1) / kIntMax);
  const int64_t tiles = grid.rows * grid.columns;
  const auto grain = static_cast<int64_t>(std::max(1.0, kParallelWork / std::max(1.0, cost / static_cast<double>(tiles))));
  if (tiles == 1 && depth >= p.k) {
    parallel_for(p.batch, grain, [&](int64_t begin, int64_t end) {
      for (int64_t z = begin; z < end; ++z)
        tile(whole, at(p.a, z * p.sa[0], item), at(p.b, z * p.sb[0], item), const_cast<char*>(at(p.c, z * outputs, item)));
    });
    return;
  }
  for (int64_t k0 = 0; k0 < p.k; k0 += depth) {
    parallel_for(p.batch * tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t z = i / tiles, row = i % tiles / grid.columns, column = i % grid.columns;
        const int64_t m0 = cut(p.m, grid.rows, row), m1 = cut(p.m, grid.rows, row + 1);
        const int64_t n0 = cut(p.n, grid.columns, column), n1 = cut(p.n, grid.columns, column + 1);
        if (m0 == m1 || n0 == n1) continue;
        const TileShape shape{m1 - m0, n1 - n0, std::min(depth, p.k - k0), p.sa[1], p.sa[2], p.sb[1], p.sb[2], p.n, k0 > 0};
        tile(shape, at(p.a, z * p.sa[0] + m0 * p.sa[1] + k0 * p.sa[2], item), at(p.b, z * p.sb[0] + k0 * p.sb[1] + n0 * p.sb[2], item),
             const_cast<char*>(at(p.c, z * outputs + m0 * p.n + n0, item)));
      }
    });
  }
}

// ---- 16-bit floats, by way of float

float half_to_float(uint16_t h) {
  const uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31u, fraction = h & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((size >> 13) & 0x3ffu));
  if (size >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (size < 0x38800000u) {  // the addition rounds to the subnormal's last bit
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3f000000u));
  }
  return static_cast<uint16_t>(sign | ((size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13));
}

float bfloat16_to_float(uint16_t h) { return std::bit_cast<float>(static_cast<uint32_t>(h) << 16); }

uint16_t float_to_bfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Widens the distinct matrices of an operand; a broadcast batch is widened once. Gives the new strides.
std::unique_ptr<float[]> widen(bool bfloat, const void* data, int64_t batch, int64_t rows, int64_t columns, const int64_t strides[3],
                               int64_t new_strides[3]) {
  const int64_t count = strides[0] == 0 ? 1 : batch;
  auto out = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count * rows * columns));
  const auto* from = static_cast<const uint16_t*>(data);
  parallel_for(count * rows, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, columns)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint16_t* row = from + i / rows * strides[0] + i % rows * strides[1];
      float* to = out.get() + i * columns;
      for (int64_t j = 0; j < columns; ++j) to[j] = bfloat ? bfloat16_to_float(row[j * strides[2]]) : half_to_float(row[j * strides[2]]);
    }
  });
  new_strides[0] = strides[0] == 0 ? 0 : rows * columns;
  new_strides[1] = columns;
  new_strides[2] = 1;
  return out;
}

void run_small_floats(const Problem& p) {
  const bool bfloat = p.dtype == DType::bf16;
  int64_t sa[3], sb[3];
  const auto a = widen(bfloat, p.a, p.batch, p.m, p.k, p.sa, sa);
  const auto b = widen(bfloat, p.b, p.batch, p.k, p.n, p.sb, sb);
  const int64_t count = p.batch * p.m * p.n;
  const auto c = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(count));
  run({DType::f32, p.batch, p.m, p.n, p.k, a.get(), sa, b.get(), sb, c.get()});
  auto* out = static_cast<uint16_t*>(p.c);
  parallel_for(count, 65536, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = bfloat ? float_to_bfloat16(c[i]) : float_to_half(c[i]);
  });
}

}  // namespace

void matmul(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a, const int64_t a_strides[3], const void* b,
            const int64_t b_strides[3], void* c) {
  BC_CHECK(batch >= 0 && m >= 0 && n >= 0 && k >= 0, Value, "matmul: expected sizes of at least 0, got {} matrices of {}x{} by {}x{}",
           batch, m, k, k, n);
  if (batch == 0 || m == 0 || n == 0) return;
  if (k == 0) {
    std::memset(c, 0, static_cast<size_t>(batch * m * n) * static_cast<size_t>(itemsize(dtype)));
    return;
  }
  const Problem problem{dtype, batch, m, n, k, a, a_strides, b, b_strides, c};
  if (dtype == DType::f16 || dtype == DType::bf16) return run_small_floats(problem);
  run(problem);
}

}  // namespace bc::cpu
