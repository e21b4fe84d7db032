// Products of sparse matrices and dense operands on CUDA. The lanes of a warp share rows: as many for a row as its elements ask for on
// average. Sums are joined in a fixed order, so results are the same from run to run.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "core/error.h"

namespace bc::cuda {
namespace {

/// T, the sums and products of T, and what another lane holds. Integers wrap; booleans are sets, and their bytes may be other than 0 and 1.
std::string arithmetic_text(DType t) {
  std::string type = info(t).c_name;
  if (t == DType::b1) type = "u8";
  if (t == DType::i32) type = "u32";
  if (t == DType::i64) type = "u64";
  std::string text = fmt::format("using T = {};\n", type);
  text += t == DType::b1 ? "BC_INLINE T product_of(T a, T b) { return a != 0 && b != 0; }\n"
                           "BC_INLINE T sum_of(T a, T b) { return (a | b) != 0; }\n"
                         : "BC_INLINE T product_of(T a, T b) { return a * b; }\nBC_INLINE T sum_of(T a, T b) { return a + b; }\n";
  const char* shuffle = "__shfl_down_sync(0xffffffffu, {}, distance, kLanes)";
  const auto moved = [&](const char* value) { return fmt::format(fmt::runtime(shuffle), value); };
  const std::string other = is_complex(t)     ? "T{" + moved("v.re") + ", " + moved("v.im") + "}"
                            : t == DType::b1  ? "static_cast<T>(" + moved("static_cast<u32>(v)") + ")"
                            : t == DType::i64 ? "static_cast<T>(" + moved("static_cast<unsigned long long>(v)") + ")"
                                              : moved("v");
  return text + "BC_INLINE T from_lane(T v, int distance) { return " + other + "; }\n";
}

}  // namespace

void run(const SparseExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  BC_CHECK(op.what == Sparse::product && !op.transposed, NotImplemented, "{}: {} has no body for it", op.name, to_string(device));
  Queue queue(device, stream);
  const int64_t rows = inputs[2].layout.size() - 1, elements = inputs[1].layout.size();
  const int64_t width = output.layout.ndim() == 1 ? 1 : output.layout.shape[1];
  // With a dense matrix the lanes of a warp walk its columns, which lie side by side; with a vector the elements of a row.
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(
      width == 1 ? std::clamp<int64_t>(elements / std::max<int64_t>(rows, 1) / 2, 1, 32) : std::min<int64_t>(width, 32))));
  Words w;
  for (const View& v : inputs) w.pointer(first(v));
  w.pointer(first(output));
  w.integer(rows);
  w.integer(width);
  const char* index = inputs[1].dtype == DType::i32 ? "int" : "i64";
  const std::string head = fmt::format("using I = {};\nconstexpr int kLanes = {};\n", index, lanes) + arithmetic_text(output.dtype);
  const char* common = R"(const T* data = word_as<const T*>(p.w);
const I* indices = word_as<const I*>(p.w + 1);
const I* indptr = word_as<const I*>(p.w + 2);
const T* x = word_as<const T*>(p.w + 3);
T* y = word_as<T*>(p.w + 4);
const i64 row = (static_cast<i64>(blockIdx.x) * 256 + t) / kLanes;
const int lane = t % kLanes;
)";
  const std::string variant = fmt::format("{} {} {}", info(output.dtype).name, index, lanes);
  if (width == 1)
    queue.run_for("sparse_vector", variant, head, std::string(common) + R"(T sum{};
if (row < p.w[5])
  for (i64 j = indptr[row] + lane, end = indptr[row + 1]; j < end; j += kLanes) sum = sum_of(sum, product_of(data[j], x[indices[j]]));
for (int d = kLanes / 2; d > 0; d /= 2) sum = sum_of(sum, from_lane(sum, d));
if (lane == 0 && row < p.w[5]) y[row] = sum;)",
                  rows * lanes, w);
  else
    queue.run_for("sparse_matrix", variant, head, std::string(common) + R"(if (row >= p.w[5]) return;
const i64 width = p.w[6], begin = indptr[row], end = indptr[row + 1];
for (i64 c = lane; c < width; c += kLanes) {
  T sum{};
  for (i64 j = begin; j < end; ++j) sum = sum_of(sum, product_of(data[j], x[static_cast<i64>(indices[j]) * width + c]));
  y[row * width + c] = sum;
})",
                  rows * lanes, w);
}

}  // namespace bc::cuda
