// Linear algebra on CUDA: stacks of matrices are packed in column-major order and passed to cuSOLVER and cuBLAS: in one call where a
// batched routine exists, else one by one. Everything is queued; `info` stays on the device.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "backends/cuda/solver.h"
#include "core/error.h"
#include "graph/tape.h"

namespace bc::cuda {
namespace {

// cuSOLVER's and cuBLAS's enumerations.
constexpr int kNo = 0, kTranspose = 1, kConjugate = 2;
constexpr int kLower = 0, kUpper = 1;
constexpr int kLeft = 0;
constexpr int kUnit = 1, kNonUnit = 0;
constexpr int kVectors = 1, kNoVectors = 0;

/// The batched routines are for matrices up to this size: one block handles each matrix.
constexpr int64_t kBatchedSize = 256;
/// gesvdjBatched supports no larger matrices.
constexpr int64_t kJacobiSize = 32;

// The libraries' functions in a Stack `s`.
#define BC_SOLVE(...)                       \
  do {                                      \
    if (s.solver) BC_CUSOLVER(__VA_ARGS__); \
  } while (false)
#define BC_MULTIPLY(...)                  \
  do {                                    \
    if (s.solver) BC_CUBLAS(__VA_ARGS__); \
  } while (false)

/// The elements of a matrix that are kept; the others become zero.
enum class Keep { all, lower, upper };

const char* type_name(DType t) {
  switch (t) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::c64: return "complex64";
    case DType::c128: return "complex128";
    case DType::i32: return "i32";
    default: return "i64";
  }
}

int size_of(int64_t extent) {
  BC_CHECK(extent <= (int64_t{1} << 30), Value, "linalg: expected matrices of at most 2**30 rows and columns, got {}", extent);
  return static_cast<int>(extent);
}
int leading(int64_t rows) { return std::max(size_of(rows), 1); }

/// A contiguous stack of column-major matrices.
struct Columns {
  Ref<Buffer> held;
  DType dtype;
  int64_t rows, columns;

  int64_t matrix_bytes() const { return rows * columns * itemsize(dtype); }
  void* at(int64_t i) const { return static_cast<char*>(held->ptr) + i * matrix_bytes(); }
  int ld() const { return leading(rows); }
};

/// Memory of the device and of the host for one routine.
struct Workspace {
  Ref<Buffer> device;
  size_t device_bytes = 0;
  std::vector<char> host;

  void make(Queue& queue, size_t on_device, size_t on_host) {
    device_bytes = on_device;
    device = queue.scratch(static_cast<int64_t>(std::max<size_t>(on_device, 16)));
    host.resize(on_host + 1);
  }
  void* host_memory() { return host.data(); }
  size_t host_bytes() const { return host.size() - 1; }
};

class Stack {
 public:
  Stack(const LinalgExtra& op_, Device device, Stream stream, std::span<const View> inputs, const View& output)
      : op(op_),
        queue(device, stream),
        backend(bc::backend(device)),
        libraries_(device.type == DeviceType::cuda ? std::make_unique<Libraries>(backend, stream) : nullptr),
        solver(libraries_ ? &libraries_->solver : nullptr),
        inputs_(inputs),
        out_(first(output)),
        count(product(op.batch)),
        type(typed_index(op.dtype)),
        data_type(cuda_type(op.dtype)),
        real_data_type(cuda_type(real_type(op.dtype))) {
    m = extent(0, 0);
    n = extent(0, 1);
    if (!solver) std::fill_n(info(), count, 0);  // the null device's memory is the host's, and no library reports errors there
  }

  int64_t extent(size_t k, int axis) const {
    const Dims& shape = inputs_[k].layout.shape;
    const int at = op.batch.size() + axis;
    return at < shape.size() ? shape[at] : 1;
  }
  /// A copy of input k that routines may overwrite.
  Columns columns_of(size_t k) { return {packed(queue, transposed_view(k)), op.dtype, extent(k, 0), extent(k, 1)}; }
  /// The transposes of input k.
  Columns transposes_of(size_t k) { return {packed(queue, inputs_[k]), op.dtype, extent(k, 1), extent(k, 0)}; }
  Columns make(int64_t rows, int64_t columns) {
    return {queue.scratch(std::max<int64_t>(count * rows * columns, 1) * itemsize(op.dtype)), op.dtype, rows, columns};
  }
  Columns identities(int64_t size) {
    Columns made = make(size, size);
    set_identity(made.held->ptr, size);
    return made;
  }

  char* part(size_t k, int64_t i = 0) const {
    const LinalgExtra::Part& p = op.parts[k];
    int64_t size = itemsize(p.dtype);
    for (int d = op.batch.size(); d < p.shape.size(); ++d) size *= p.shape[d];
    return out_ + p.offset + i * size;
  }
  int* info(int64_t i = 0) const { return reinterpret_cast<int*>(part(op.parts.size() - 1, i)); }
  const View& input(size_t k) const { return inputs_[k]; }

  void zero(void* at, int64_t bytes) {
    if (bytes > 0) backend.fill(at, 0, static_cast<size_t>(bytes), queue.stream());
  }
  void zero_info() { zero(info(), count * static_cast<int64_t>(sizeof(int))); }

  /// Writes the first rows and columns of column-major matrices to a part, whose matrices are row-major.
  void place(size_t k, const Columns& from, int64_t rows, int64_t columns, Keep keep = Keep::all) {
    write(part(k), from, rows, columns, 1, from.rows, keep, false, false);
  }
  void place_transposes(size_t k, const Columns& from, int64_t rows, int64_t columns, Keep keep) {
    write(part(k), from, rows, columns, from.rows, 1, keep, false, false);
  }
  /// Writes the conjugate transposes of the first columns.
  void place_daggers(size_t k, const Columns& from, int64_t rows, int64_t columns) {
    write(part(k), from, rows, columns, from.rows, 1, Keep::all, true, false);
  }
  /// Like place(), but matrices whose `info` is not zero become NaN.
  void place_if_done(size_t k, const Columns& from, int64_t rows, int64_t columns) {
    write(part(k), from, rows, columns, 1, from.rows, Keep::all, false, true);
  }
  void set_identity(void* to, int64_t size) {
    Words w;
    w.pointer(to);
    w.integer(size);
    w.integer(count * size * size);
    queue.run_for("linalg_identity", type_name(op.dtype), "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e >= p.w[2]) return;
const i64 within = e % (p.w[1] * p.w[1]);
word_as<{0}*>(p.w)[e] = {0}(within / p.w[1] == within % p.w[1] ? 1 : 0);)",
                              type_name(op.dtype), kThreads),
                  count * size * size, w);
  }
  /// The addresses of matrices, on the device.
  Ref<Buffer> addresses(const Columns& of) {
    Ref<Buffer> made = queue.scratch(count * static_cast<int64_t>(sizeof(void*)));
    Words w;
    w.pointer(made->ptr);
    w.pointer(of.held->ptr);
    w.integer(of.matrix_bytes());
    w.integer(count);
    queue.run_for("linalg_addresses", "", "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {} + t;
if (e < p.w[3]) word_as<i64*>(p.w)[e] = p.w[1] + e * p.w[2];)",
                              kThreads),
                  count, w);
    return made;
  }

  const LinalgExtra& op;
  Queue queue;
  Backend& backend;

 private:
  struct Libraries {
    const CurrentContext current;  // declared before what calls libraries
    Solver& solver;
    Libraries(Backend& backend, Stream stream)
        : current(static_cast<CudaBackend&>(backend).make_current()),
          solver(solver_of(static_cast<CudaBackend&>(backend), static_cast<CUstream>(stream.native))) {}
  };
  const std::unique_ptr<Libraries> libraries_;

 public:
  Solver* const solver;  ///< nullptr on the null device, which records the kernels and calls no library

 private:
  const std::span<const View> inputs_;
  char* const out_;

 public:
  const int64_t count;
  const int type, data_type, real_data_type;
  int64_t m, n;  ///< extents of input 0

 private:
  View transposed_view(size_t k) const {
    View v = inputs_[k];
    const int d = op.batch.size();
    if (v.layout.ndim() < d + 2) return v;
    std::swap(v.layout.shape[d], v.layout.shape[d + 1]);
    std::swap(v.layout.strides[d], v.layout.strides[d + 1]);
    return v;
  }

  void write(void* to, const Columns& from, int64_t rows, int64_t columns, int64_t row_step, int64_t column_step, Keep keep, bool conjugate,
             bool if_done) {
    Words w;
    w.pointer(to);
    w.pointer(from.held->ptr);
    for (const int64_t v : {count * rows * columns, rows, columns, from.rows * from.columns, row_step, column_step}) w.integer(v);
    w.pointer(info());
    const char* name = type_name(op.dtype);
    const std::string value = conjugate && is_complex(op.dtype) ? "conj(v)" : "v";
    const char* kept = keep == Keep::all ? "true" : keep == Keep::lower ? "j <= i" : "j >= i";
    const std::string failed =
        if_done ? fmt::format("if (word_as<const i32*>(p.w + 8)[b] != 0) v = {}(limits<double>::nan());\n", name) : "";
    queue.run_for("linalg_place", fmt::format("{} {} {} {}", name, value, kept, if_done), "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e >= p.w[2]) return;
const i64 j = e % p.w[4], i = e / p.w[4] % p.w[3], b = e / p.w[4] / p.w[3];
{0} v = ({2}) ? word_as<const {0}*>(p.w + 1)[b * p.w[5] + i * p.w[6] + j * p.w[7]] : {0}(0);
{3}word_as<{0}*>(p.w)[e] = {4};)",
                              name, kThreads, kept, failed, value),
                  count * rows * columns, w);
  }
};

// ---- LU -----------------------------------------------------------------------------------------------------------------------------

/// Row exchanges, numbered from 1: int32 if a batched routine factorized the stack, else int64.
struct Pivots {
  Ref<Buffer> held;
  bool wide;
  int64_t least;  ///< pivots of each matrix

  int64_t* wide_at(int64_t i) const { return static_cast<int64_t*>(held->ptr) + i * least; }
};

bool as_stack(const Stack& s, int64_t size) { return s.count > 1 && size <= kBatchedSize; }

/// For each matrix an int32 on the device that tells whether it contains a NaN. cuSOLVER's LU can lose a NaN (it gives -1 as the
/// determinant of [[nan, 1], [1, 2]]).
Ref<Buffer> find_nan(Stack& s, const Columns& a) {
  const Ref<Buffer> found = s.queue.scratch(std::max<int64_t>(s.count, 1) * static_cast<int64_t>(sizeof(int)));
  s.zero(found->ptr, s.count * static_cast<int64_t>(sizeof(int)));
  const char* real = type_name(real_type(s.op.dtype));
  const int64_t each = a.matrix_bytes() / itemsize(real_type(s.op.dtype));
  Words w;
  w.pointer(found->ptr);
  w.pointer(a.held->ptr);
  w.integer(each);
  w.integer(s.count * each);
  s.queue.run_for("linalg_find_nan", real, "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e >= p.w[3]) return;
const {0} v = word_as<const {0}*>(p.w + 1)[e];
if (!(v == v)) word_as<i32*>(p.w)[e / p.w[2]] = 1;)",
                              real, kThreads),
                  s.count * each, w);
  return found;
}

/// Fills the factors of matrices with NaN (find_nan) with NaN and sets their `info` to 0, as LAPACK's elimination would.
void spread_nan(Stack& s, const Columns& a, const Ref<Buffer>& found) {
  const char* real = type_name(real_type(s.op.dtype));
  const int64_t each = a.matrix_bytes() / itemsize(real_type(s.op.dtype));
  Words w;
  w.pointer(found->ptr);
  w.pointer(a.held->ptr);
  w.integer(each);
  w.integer(s.count * each);
  w.pointer(s.info());
  s.queue.run_for("linalg_spread_nan", real, "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e >= p.w[3]) return;
const i64 b = e / p.w[2];
if (word_as<const i32*>(p.w)[b] == 0) return;
word_as<{0}*>(p.w + 1)[e] = limits<{0}>::nan();
if (e % p.w[2] == 0) word_as<i32*>(p.w + 4)[b] = 0;)",
                              real, kThreads),
                  s.count * each, w);
}

/// Factorizes in place, and fills `info`.
Pivots factorize(Stack& s, const Columns& a) {
  const Ref<Buffer> nan = find_nan(s, a);
  const int64_t least = std::min(a.rows, a.columns);
  const bool stack = a.rows == a.columns && as_stack(s, a.rows);
  Pivots pivots{s.queue.scratch(std::max<int64_t>(s.count * least, 1) * 8), !stack, least};
  if (stack) {
    const Ref<Buffer> addresses = s.addresses(a);
    BC_MULTIPLY(getrfBatched[s.type], s.solver->blas, size_of(a.rows), static_cast<void* const*>(addresses->ptr), a.ld(),
                static_cast<int*>(pivots.held->ptr), s.info(), size_of(s.count));
    spread_nan(s, a, nan);
    return pivots;
  }
  size_t on_device = 0, on_host = 0;
  BC_SOLVE(cusolverDnXgetrf_bufferSize, s.solver->handle, s.solver->params, a.rows, a.columns, s.data_type, a.held->ptr, a.ld(),
           s.data_type, &on_device, &on_host);
  Workspace work;
  work.make(s.queue, on_device, on_host);
  for (int64_t i = 0; i < s.count; ++i)
    BC_SOLVE(cusolverDnXgetrf, s.solver->handle, s.solver->params, a.rows, a.columns, s.data_type, a.at(i), a.ld(), pivots.wide_at(i),
             s.data_type, work.device->ptr, work.device_bytes, work.host_memory(), work.host_bytes(), s.info(i));
  spread_nan(s, a, nan);
  return pivots;
}

/// b becomes the solution of op(a) x = b, from a's factors.
void solve_factorized(Stack& s, const Columns& a, const Pivots& pivots, const Columns& b, int transposed) {
  if (b.columns == 0) return;
  if (!pivots.wide) {
    const Ref<Buffer> left = s.addresses(a), right = s.addresses(b);
    int wrong = 0;  // error about the arguments, on the host
    BC_MULTIPLY(getrsBatched[s.type], s.solver->blas, transposed, size_of(a.rows), size_of(b.columns),
                static_cast<const void* const*>(left->ptr), a.ld(), static_cast<const int*>(pivots.held->ptr),
                static_cast<void* const*>(right->ptr), b.ld(), &wrong, size_of(s.count));
    return;
  }
  const Ref<Buffer> ignored = s.queue.scratch(sizeof(int));
  for (int64_t i = 0; i < s.count; ++i)
    BC_SOLVE(cusolverDnXgetrs, s.solver->handle, s.solver->params, transposed, a.rows, b.columns, s.data_type, a.at(i), a.ld(),
             pivots.wide_at(i), s.data_type, b.at(i), b.ld(), static_cast<int*>(ignored->ptr));
}

void solve(Stack& s) {
  const Columns a = s.columns_of(0), b = s.columns_of(1);
  const Pivots pivots = factorize(s, a);
  solve_factorized(s, a, pivots, b, kNo);
  s.place(0, b, b.rows, b.columns);
}

void inverse(Stack& s) {
  const Columns a = s.columns_of(0), x = s.identities(s.n);
  const Pivots pivots = factorize(s, a);
  solve_factorized(s, a, pivots, x, kNo);
  s.place_if_done(0, x, s.n, s.n);
}

/// One block reduces the diagonal of each matrix's factors in a fixed order.
void determinant(Stack& s) {
  const Columns a = s.columns_of(0);
  Pivots pivots{{}, true, 0};
  if (s.n > 0) pivots = factorize(s, a);
  Words w;
  for (const void* pointer : {static_cast<const void*>(s.part(0)), static_cast<const void*>(s.part(1)), static_cast<const void*>(s.part(2)),
                              static_cast<const void*>(s.info()), static_cast<const void*>(a.held->ptr),
                              static_cast<const void*>(pivots.held ? pivots.held->ptr : nullptr)})
    w.pointer(pointer);
  w.integer(s.n);
  const char *name = type_name(s.op.dtype), *real = type_name(real_type(s.op.dtype)), *pivot = pivots.wide ? "i64" : "i32";
  const bool complex = is_complex(s.op.dtype);
  s.queue.run(
      "linalg_determinant", fmt::format("{} {}", name, pivot), "",
      fmt::format(R"(__shared__ {0} signs[{3}];
__shared__ {1} sums[{3}];
const i64 b = blockIdx.x, n = p.w[6];
const {0}* a = word_as<const {0}*>(p.w + 4) + b * n * n;
const {2}* pivots = word_as<const {2}*>(p.w + 5) + b * n;
{0} sign = {0}(1);
{1} sum = 0;
for (i64 k = t; k < n; k += {3}) {{
  const {0} d = a[k + k * n];
  const {1} size = abs(d);
  if (pivots[k] != k + 1) sign = -sign;
  {4}
  sum += log(size);
}}
signs[t] = sign;
sums[t] = sum;
__syncthreads();
for (int half = {3} / 2; half > 0; half /= 2) {{
  if (t < half) {{
    signs[t] = signs[t] * signs[t + half];
    sums[t] = sums[t] + sums[t + half];
  }}
  __syncthreads();
}}
if (t == 0) {{
  const bool singular = n > 0 && word_as<const i32*>(p.w + 3)[b] > 0;
  const {0} whole = singular ? {0}(0) : signs[0];
  const {1} logarithm = singular ? -limits<{1}>::inf() : sums[0];
  word_as<{0}*>(p.w)[b] = whole;
  word_as<{1}*>(p.w + 1)[b] = logarithm;
  word_as<{0}*>(p.w + 2)[b] = singular ? {0}(0) : whole * {0}(exp(logarithm));
  word_as<i32*>(p.w + 3)[b] = 0;
}})",
                  name, real, pivot, kThreads,
                  complex ? fmt::format("sign = sign * {}(d.re / size, d.im / size);", name) : std::string("if (d < 0) sign = -sign;")),
      s.count, w);
}

void lu(Stack& s) {
  const Columns a = s.columns_of(0);
  const Pivots pivots = factorize(s, a);
  s.place(0, a, s.m, s.n);
  Words w;
  w.pointer(s.part(1));
  w.pointer(pivots.held->ptr);
  w.integer(s.count * pivots.least);
  const char* type = pivots.wide ? "i64" : "i32";
  s.queue.run_for("linalg_pivots", type, "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {1} + t;
if (e < p.w[2]) word_as<i32*>(p.w)[e] = static_cast<i32>(word_as<const {0}*>(p.w + 1)[e]) - 1;)",
                              type, kThreads),
                  s.count * pivots.least, w);
}

void lu_solve(Stack& s) {
  const Columns a = s.columns_of(0), b = s.columns_of(2);
  Ref<Buffer> given = packed(s.queue, s.input(1));
  const Pivots pivots{s.queue.scratch(s.count * s.n * 8), true, s.n};
  Words w;
  w.pointer(pivots.held->ptr);
  w.pointer(given->ptr);
  w.integer(s.count * s.n);
  s.queue.run_for("linalg_wide_pivots", "", "",
                  fmt::format(R"(const i64 e = static_cast<i64>(blockIdx.x) * {} + t;
if (e < p.w[2]) word_as<i64*>(p.w)[e] = static_cast<i64>(word_as<const i32*>(p.w + 1)[e]) + 1;)",
                              kThreads),
                  s.count * s.n, w);
  s.zero_info();
  const int how = s.op.transposed == Transposed::no ? kNo : s.op.transposed == Transposed::transpose ? kTranspose : kConjugate;
  solve_factorized(s, a, pivots, b, how);
  s.place(0, b, b.rows, b.columns);
}

void triangular_solve(Stack& s) {
  const Columns a = s.columns_of(0), b = s.columns_of(1);
  s.zero_info();
  if (!s.op.unit_diagonal) {
    // Sets `info` to the number of the first zero on the diagonal, as LAPACK does.
    Words w;
    w.pointer(s.info());
    w.pointer(a.held->ptr);
    w.integer(s.n);
    w.integer(s.count);
    s.queue.run_for("linalg_zero_diagonal", type_name(s.op.dtype), "",
                    fmt::format(R"(const i64 b = static_cast<i64>(blockIdx.x) * {1} + t;
if (b >= p.w[3]) return;
const i64 n = p.w[2];
const {0}* a = word_as<const {0}*>(p.w + 1) + b * n * n;
i64 k = 0;
while (k < n && a[k + k * n] != {0}(0)) ++k;
if (k < n) word_as<i32*>(p.w)[b] = static_cast<i32>(k + 1);)",
                                type_name(s.op.dtype), kThreads),
                    s.count, w);
  }
  if (b.columns == 0) return;
  const double one64[2] = {1, 0};
  const float one32[2] = {1, 0};
  const bool wide = s.op.dtype == DType::f64 || s.op.dtype == DType::c128;
  const void* one = wide ? static_cast<const void*>(one64) : one32;
  const int uplo = s.op.lower ? kLower : kUpper, diagonal = s.op.unit_diagonal ? kUnit : kNonUnit;
  const int how = s.op.transposed == Transposed::no ? kNo : s.op.transposed == Transposed::transpose ? kTranspose : kConjugate;
  if (as_stack(s, s.n)) {
    const Ref<Buffer> left = s.addresses(a), right = s.addresses(b);
    BC_MULTIPLY(trsmBatched[s.type], s.solver->blas, kLeft, uplo, how, diagonal, size_of(s.n), size_of(b.columns), one,
                static_cast<const void* const*>(left->ptr), a.ld(), static_cast<void* const*>(right->ptr), b.ld(), size_of(s.count));
  } else {
    for (int64_t i = 0; i < s.count; ++i)
      BC_MULTIPLY(trsm[s.type], s.solver->blas, kLeft, uplo, how, diagonal, size_of(s.n), size_of(b.columns), one, a.at(i), a.ld(), b.at(i),
                  b.ld());
  }
  s.place(0, b, b.rows, b.columns);
}

// ---- Cholesky -----------------------------------------------------------------------------------------------------------------------

/// The upper factor of a matrix is the transpose of the lower factor of its transpose. cuSOLVER takes 1912 us for an upper factor of 2048 x
/// 2048 float32 on an H200, and 763 us for a lower one.
void cholesky(Stack& s) {
  const Columns a = s.op.lower ? s.columns_of(0) : s.transposes_of(0);
  constexpr int uplo = kLower;
  if (as_stack(s, s.n)) {
    const Ref<Buffer> addresses = s.addresses(a);
    BC_SOLVE(potrfBatched[s.type], s.solver->handle, uplo, size_of(s.n), static_cast<void**>(addresses->ptr), a.ld(), s.info(),
             size_of(s.count));
  } else {
    size_t on_device = 0, on_host = 0;
    BC_SOLVE(cusolverDnXpotrf_bufferSize, s.solver->handle, s.solver->params, uplo, s.n, s.data_type, a.held->ptr, a.ld(), s.data_type,
             &on_device, &on_host);
    Workspace work;
    work.make(s.queue, on_device, on_host);
    for (int64_t i = 0; i < s.count; ++i)
      BC_SOLVE(cusolverDnXpotrf, s.solver->handle, s.solver->params, uplo, s.n, s.data_type, a.at(i), a.ld(), s.data_type, work.device->ptr,
               work.device_bytes, work.host_memory(), work.host_bytes(), s.info(i));
  }
  if (s.op.lower)
    s.place(0, a, s.n, s.n, Keep::lower);
  else
    s.place_transposes(0, a, s.n, s.n, Keep::upper);
}

void cholesky_solve(Stack& s) {
  const Columns a = s.columns_of(0), b = s.columns_of(1);
  s.zero_info();
  if (b.columns == 0) return;
  for (int64_t i = 0; i < s.count; ++i)
    BC_SOLVE(cusolverDnXpotrs, s.solver->handle, s.solver->params, s.op.lower ? kLower : kUpper, s.n, b.columns, s.data_type, a.at(i),
             a.ld(), s.data_type, b.at(i), b.ld(), s.info(i));
  s.place(0, b, b.rows, b.columns);
}

// ---- Orthogonal factorizations --------------------------------------------------------------------------------------------------------

/// Replaces the matrices by their reflectors; `tau` has min(m, n) elements for each matrix.
void reflect(Stack& s, const Columns& a, char* tau) {
  size_t on_device = 0, on_host = 0;
  BC_SOLVE(cusolverDnXgeqrf_bufferSize, s.solver->handle, s.solver->params, a.rows, a.columns, s.data_type, a.held->ptr, a.ld(),
           s.data_type, tau, s.data_type, &on_device, &on_host);
  Workspace work;
  work.make(s.queue, on_device, on_host);
  const int64_t step = std::min(a.rows, a.columns) * itemsize(s.op.dtype);
  for (int64_t i = 0; i < s.count; ++i)
    BC_SOLVE(cusolverDnXgeqrf, s.solver->handle, s.solver->params, a.rows, a.columns, s.data_type, a.at(i), a.ld(), s.data_type,
             tau + i * step, s.data_type, work.device->ptr, work.device_bytes, work.host_memory(), work.host_bytes(), s.info(i));
}

void qr(Stack& s) {
  const int64_t least = std::min(s.m, s.n), size = itemsize(s.op.dtype);
  const bool wanted = s.op.vectors != Vectors::none;
  const int64_t columns = s.op.vectors == Vectors::full ? s.m : least;
  const Columns a = s.columns_of(0);
  const Ref<Buffer> tau = s.queue.scratch(s.count * least * size);
  reflect(s, a, static_cast<char*>(tau->ptr));
  s.place(wanted ? 1 : 0, a, columns, s.n, Keep::upper);
  if (!wanted) return;
  // The reflectors are copied to the first columns of Q.
  const Columns q = s.make(s.m, columns);
  const size_t kept = static_cast<size_t>(s.m * std::min(columns, s.n) * size);
  const int rows = size_of(s.m), across = size_of(columns), reflectors = size_of(least);
  int elements = 0;
  BC_SOLVE(orgqr_bufferSize[s.type], s.solver->handle, rows, across, reflectors, q.held->ptr, q.ld(), tau->ptr, &elements);
  const Ref<Buffer> work = s.queue.scratch(std::max<int64_t>(elements, 1) * size), ignored = s.queue.scratch(sizeof(int));
  for (int64_t i = 0; i < s.count; ++i) {
    s.backend.copy(q.at(i), a.at(i), kept, CopyKind::DeviceToDevice, s.queue.stream());
    BC_SOLVE(orgqr[s.type], s.solver->handle, rows, across, reflectors, q.at(i), q.ld(), static_cast<char*>(tau->ptr) + i * least * size,
             work->ptr, elements, static_cast<int*>(ignored->ptr));
  }
  s.place(0, q, s.m, columns);
}

void qr_raw(Stack& s) {
  const Columns a = s.columns_of(0);
  reflect(s, a, s.part(1));
  // The part holds the transposes in row-major order, so a plain copy is enough.
  s.backend.copy(s.part(0), a.held->ptr, static_cast<size_t>(s.count * a.matrix_bytes()), CopyKind::DeviceToDevice, s.queue.stream());
}

/// Sets `info` of matrices with NaN among their singular values: cuSOLVER does not report that it did not converge.
void refuse_nan(Stack& s, size_t values, int64_t each) {
  Words w;
  w.pointer(s.info());
  w.pointer(s.part(values));
  w.integer(each);
  w.integer(s.count);
  const char* real = type_name(real_type(s.op.dtype));
  s.queue.run_for("linalg_refuse_nan", real, "",
                  fmt::format(R"(const i64 b = static_cast<i64>(blockIdx.x) * {1} + t;
if (b >= p.w[3]) return;
const {0}* values = word_as<const {0}*>(p.w + 1) + b * p.w[2];
for (i64 k = 0; k < p.w[2]; ++k)
  if (!(values[k] == values[k])) word_as<i32*>(p.w)[b] = 1;)",
                              real, kThreads),
                  s.count, w);
}

/// Stacks of small matrices, by Jacobi's method: U and V are square.
void svd_jacobi(Stack& s) {
  const bool vectors = s.op.vectors != Vectors::none;
  const int64_t least = std::min(s.m, s.n);
  const int rows = size_of(s.m), columns = size_of(s.n), job = vectors ? kVectors : kNoVectors;
  const Columns a = s.columns_of(0), u = s.make(s.m, s.m), v = s.make(s.n, s.n);
  const size_t values = vectors ? 1 : 0;
  int elements = 0;
  BC_SOLVE(gesvdjBatched_bufferSize[s.type], s.solver->handle, job, rows, columns, a.held->ptr, a.ld(), s.part(values), u.held->ptr, u.ld(),
           v.held->ptr, v.ld(), &elements, s.solver->jacobi, size_of(s.count));
  const Ref<Buffer> work = s.queue.scratch(std::max<int64_t>(elements, 1) * itemsize(s.op.dtype));
  BC_SOLVE(gesvdjBatched[s.type], s.solver->handle, job, rows, columns, a.held->ptr, a.ld(), s.part(values), u.held->ptr, u.ld(),
           v.held->ptr, v.ld(), work->ptr, elements, s.info(), s.solver->jacobi, size_of(s.count));
  refuse_nan(s, values, least);
  if (!vectors) return;
  const bool full = s.op.vectors == Vectors::full;
  s.place(0, u, s.m, full ? s.m : least);
  s.place_daggers(2, v, full ? s.n : least, s.n);
}

/// gesvd supports no matrix with more columns than rows, so it gets the transpose of a wide matrix. The transpose's U and V^H are the
/// transposes of the matrix's V^H and U: their column-major output is the row-major result.
void svd(Stack& s) {
  const int64_t least = std::min(s.m, s.n);
  const bool vectors = s.op.vectors != Vectors::none, full = s.op.vectors == Vectors::full;
  const size_t values = vectors ? 1 : 0;
  if (least == 0) {
    s.zero_info();
    if (!vectors) return;
    if (full && s.m > 0) s.set_identity(s.part(0), s.m);
    if (full && s.n > 0) s.set_identity(s.part(2), s.n);
    return;
  }
  if (s.count > 1 && std::max(s.m, s.n) <= kJacobiSize) return svd_jacobi(s);
  const bool wide = s.m < s.n;
  const Columns a = wide ? s.transposes_of(0) : s.columns_of(0);
  const int64_t u_columns = full ? a.rows : least, size = itemsize(s.op.dtype);
  const Columns u = vectors && !wide ? s.make(a.rows, u_columns) : Columns{{}, s.op.dtype, a.rows, u_columns};
  const Columns v = vectors && !wide ? s.make(a.columns, a.columns) : Columns{{}, s.op.dtype, a.columns, a.columns};
  const auto u_at = [&](int64_t i) -> void* { return !vectors ? nullptr : wide ? s.part(2) + i * a.rows * u_columns * size : u.at(i); };
  const auto v_at = [&](int64_t i) -> void* { return !vectors ? nullptr : wide ? s.part(0) + i * a.columns * a.columns * size : v.at(i); };
  const signed char job = !vectors ? 'N' : full ? 'A' : 'S';
  size_t on_device = 0, on_host = 0;
  BC_SOLVE(cusolverDnXgesvd_bufferSize, s.solver->handle, s.solver->params, job, job, a.rows, a.columns, s.data_type, a.held->ptr, a.ld(),
           s.real_data_type, s.part(values), s.data_type, u_at(0), u.ld(), s.data_type, v_at(0), v.ld(), s.data_type, &on_device, &on_host);
  Workspace work;
  work.make(s.queue, on_device, on_host);
  for (int64_t i = 0; i < s.count; ++i)
    BC_SOLVE(cusolverDnXgesvd, s.solver->handle, s.solver->params, job, job, a.rows, a.columns, s.data_type, a.at(i), a.ld(),
             s.real_data_type, s.part(values, i), s.data_type, u_at(i), u.ld(), s.data_type, v_at(i), v.ld(), s.data_type, work.device->ptr,
             work.device_bytes, work.host_memory(), work.host_bytes(), s.info(i));
  refuse_nan(s, values, least);
  if (!vectors || wide) return;
  s.place(0, u, s.m, u_columns);
  s.place(2, v, s.n, s.n);
}

/// Sets eigenvalues that were not computed to NaN, so that later ops on the device need not check `info`.
void mark_failed(Stack& s, size_t values, int64_t each) {
  Words w;
  w.pointer(s.info());
  w.pointer(s.part(values));
  w.integer(each);
  w.integer(s.count * each);
  const char* real = type_name(real_type(s.op.dtype));
  s.queue.run_for("linalg_mark_failed", real, "",
                  fmt::format(R"(const i64 i = static_cast<i64>(blockIdx.x) * {1} + t;
if (i < p.w[3] && word_as<const i32*>(p.w)[i / p.w[2]] != 0) word_as<{0}*>(p.w + 1)[i] = static_cast<{0}>(limits<double>::nan());)",
                              real, kThreads),
                  s.count * each, w);
}

void eigh(Stack& s) {
  const bool vectors = s.op.vectors != Vectors::none;
  const int job = vectors ? kVectors : kNoVectors, uplo = s.op.lower ? kLower : kUpper;
  const Columns a = s.columns_of(0);
  size_t on_device = 0, on_host = 0;
  Workspace work;
  if (s.count > 1 && s.solver && cusolver().cusolverDnXsyevBatched && cusolver().cusolverDnXsyevBatched_bufferSize) {
    BC_SOLVE(cusolverDnXsyevBatched_bufferSize, s.solver->handle, s.solver->params, job, uplo, s.n, s.data_type, a.held->ptr, a.ld(),
             s.real_data_type, s.part(0), s.data_type, &on_device, &on_host, s.count);
    work.make(s.queue, on_device, on_host);
    BC_SOLVE(cusolverDnXsyevBatched, s.solver->handle, s.solver->params, job, uplo, s.n, s.data_type, a.held->ptr, a.ld(), s.real_data_type,
             s.part(0), s.data_type, work.device->ptr, work.device_bytes, work.host_memory(), work.host_bytes(), s.info(), s.count);
  } else {
    BC_SOLVE(cusolverDnXsyevd_bufferSize, s.solver->handle, s.solver->params, job, uplo, s.n, s.data_type, a.held->ptr, a.ld(),
             s.real_data_type, s.part(0), s.data_type, &on_device, &on_host);
    work.make(s.queue, on_device, on_host);
    for (int64_t i = 0; i < s.count; ++i)
      BC_SOLVE(cusolverDnXsyevd, s.solver->handle, s.solver->params, job, uplo, s.n, s.data_type, a.at(i), a.ld(), s.real_data_type,
               s.part(0, i), s.data_type, work.device->ptr, work.device_bytes, work.host_memory(), work.host_bytes(), s.info(i));
  }
  mark_failed(s, 0, s.n);
  if (vectors) s.place(1, a, s.n, s.n);
}

/// Writes the results of empty matrices, for which no library is called.
bool is_empty(Stack& s) {
  if (s.count == 0) return true;
  const int64_t least = std::min(s.m, s.n);
  if (least > 0 || s.op.what == Linalg::svd || s.op.what == Linalg::determinant) return false;
  s.zero_info();
  if (s.op.what == Linalg::qr && s.op.vectors == Vectors::full && s.m > 0) s.set_identity(s.part(0), s.m);
  return true;
}

}  // namespace

void run(const LinalgExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  BC_CHECK(!tape(device).capture(), NotImplemented, "{}: it cannot be captured into a graph on CUDA; compute it before the capture",
           op.name);
  Stack s(op, device, stream, inputs, output);
  if (is_empty(s)) return;
  switch (op.what) {
    case Linalg::solve: return solve(s);
    case Linalg::inverse: return inverse(s);
    case Linalg::determinant: return determinant(s);
    case Linalg::lu: return lu(s);
    case Linalg::lu_solve: return lu_solve(s);
    case Linalg::cholesky: return cholesky(s);
    case Linalg::cholesky_solve: return cholesky_solve(s);
    case Linalg::triangular_solve: return triangular_solve(s);
    case Linalg::qr:
      if (op.pivoted) break;
      return qr(s);
    case Linalg::qr_raw: return qr_raw(s);
    case Linalg::svd: return svd(s);
    case Linalg::eigh: return eigh(s);
    case Linalg::eig:
    case Linalg::lstsq:
    case Linalg::schur:
    case Linalg::schur_ordered:
    case Linalg::generalized_eig:
    case Linalg::qz:
    case Linalg::qz_ordered:
    case Linalg::balanced:
    case Linalg::hessenberg:
    case Linalg::ldl:
    case Linalg::banded_solve:
    case Linalg::banded_definite_solve:
    case Linalg::banded_cholesky:
    case Linalg::banded_cholesky_solve:
    case Linalg::toeplitz_solve:
    case Linalg::tridiagonal_eigh:
    case Linalg::triangular_sqrt:
    case Linalg::parlett:
    case Linalg::complex_schur:
    case Linalg::square_root:
    case Linalg::qr_changed:
    case Linalg::eigh_range:
    case Linalg::banded_eigh:
    case Linalg::definite_eigh:
    case Linalg::known_inverse:
    case Linalg::exponential:
    case Linalg::sylvester: break;
  }
  raise(ErrorKind::NotImplemented, "{}: {} cannot compute it; copy the array to another device first, for instance with .to_device('cpu')",
        op.name, to_string(device));
}

}  // namespace bc::cuda
