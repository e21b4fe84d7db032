// Products of sparse matrices and dense operands on CUDA. Several lanes of a warp share a row, depending on the average row length. Sums
// are joined in a fixed order, so results are the same in every run.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

// The functions that multiply, add and shuffle elements. Integers are unsigned, so that they wrap. Booleans are combined by "or" and "and";
// their bytes may differ from 0 and 1.
constexpr const char* kArithmetic = R"(
template <class V> BC_INLINE V product_of(V a, V b) { return a * b; }
template <class V> BC_INLINE V sum_of(V a, V b) { return a + b; }
BC_INLINE u8 product_of(u8 a, u8 b) { return a != 0 && b != 0; }
BC_INLINE u8 sum_of(u8 a, u8 b) { return (a | b) != 0; }
template <class V> BC_INLINE V from_lane(V v, int distance) { return __shfl_down_sync(0xffffffffu, v, distance, kLanes); }
BC_INLINE u8 from_lane(u8 v, int distance) { return static_cast<u8>(from_lane(static_cast<u32>(v), distance)); }
template <class R> BC_INLINE complex<R> from_lane(complex<R> v, int distance) {
  return {from_lane(v.re, distance), from_lane(v.im, distance)};
}
)";

constexpr const char* kOperands = R"(const T* data = word_as<const T*>(p.w);
const I* indices = word_as<const I*>(p.w + 1);
const I* indptr = word_as<const I*>(p.w + 2);
const T* x = word_as<const T*>(p.w + 3);
T* y = word_as<T*>(p.w + 4);
const i64 row = (static_cast<i64>(blockIdx.x) * 256 + t) / kLanes;
const int lane = t % kLanes;
)";

// The lanes of a row process its elements alternately. All lanes of the warp must reach the shuffles.
constexpr const char* kByVector = R"(T sum{};
if (row < p.w[5])
  for (i64 j = indptr[row] + lane, end = indptr[row + 1]; j < end; j += kLanes) sum = sum_of(sum, product_of(data[j], x[indices[j]]));
for (int d = kLanes / 2; d > 0; d /= 2) sum = sum_of(sum, from_lane(sum, d));
if (lane == 0 && row < p.w[5]) y[row] = sum;)";

// The lanes of a row process the contiguous columns of the dense matrix alternately.
constexpr const char* kByMatrix = R"(if (row >= p.w[5]) return;
const i64 width = p.w[6], begin = indptr[row], end = indptr[row + 1];
for (i64 c = lane; c < width; c += kLanes) {
  T sum{};
  for (i64 j = begin; j < end; ++j) sum = sum_of(sum, product_of(data[j], x[static_cast<i64>(indices[j]) * width + c]));
  y[row * width + c] = sum;
})";

/// The element type of the kernels.
const char* element(DType t) {
  switch (t) {
    case DType::b1: return "u8";
    case DType::i32: return "u32";
    case DType::i64: return "u64";
    default: return info(t).c_name;
  }
}

}  // namespace

void run(const SparseExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  BC_CHECK(op.what == Sparse::product && !op.transposed, NotImplemented, "{}: {} has no body for it", op.name, to_string(device));
  Queue queue(device, stream);
  const int64_t rows = inputs[2].layout.size() - 1, elements = inputs[1].layout.size();
  const int64_t width = output.layout.ndim() == 1 ? 1 : output.layout.shape[1];
  // With a dense matrix, the lanes of a warp process its contiguous columns; with a vector, the elements of a row.
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(
      width == 1 ? std::clamp<int64_t>(elements / std::max<int64_t>(rows, 1) / 2, 1, 32) : std::min<int64_t>(width, 32))));
  Words w;
  for (const View& v : inputs) w.pointer(first(v));
  w.pointer(first(output));
  w.integer(rows);
  w.integer(width);
  const char* index = inputs[1].dtype == DType::i32 ? "int" : "i64";
  const std::string head =
      fmt::format("using T = {};\nusing I = {};\nconstexpr int kLanes = {};\n{}", element(output.dtype), index, lanes, kArithmetic);
  const std::string variant = fmt::format("{} {} {}", info(output.dtype).name, index, lanes);
  if (width == 1)
    queue.run_for("sparse_vector", variant, head, std::string(kOperands) + kByVector, rows * lanes, w);
  else
    queue.run_for("sparse_matrix", variant, head, std::string(kOperands) + kByMatrix, rows * lanes, w);
}

}  // namespace bc::cuda
