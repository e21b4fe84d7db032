// The small host path's products: correlations, dot products, products of matrices.
#include <algorithm>
#include <utility>
#include <vector>

#include "array/small_host.h"
#include "array/small_near.h"
#include "codegen/tier0/tier0.h"
#include "runtime/host_library.h"

namespace bc {

using namespace small;

namespace {

/// A vector of T, of float64 or int64 elements, where they lie or cast into `room`.
template <class T>
struct Vector {
  const T* first = nullptr;
  int64_t count = 0;
};
template <class T>
Vector<T> vector_of(const Array& a, std::vector<T>* room, bool reversed = false) {
  const char* from = first_element(a);
  const int64_t n = a.size(), step = a.strides()[0] * 8;
  const bool same = std::is_same_v<T, double> == (a.dtype() == DType::f64);
  if (same && step == 8 && !reversed) return {reinterpret_cast<const T*>(from), n};
  room->resize(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const char* at = from + (reversed ? n - 1 - k : k) * step;
    (*room)[static_cast<size_t>(k)] = same ? get<T>(at) : static_cast<T>(get<int64_t>(at));
  }
  return {room->data(), n};
}

/// The sums of a[i - before + j] * v[j] over j, each in the order of j. Those over all of v go side by side in registers.
template <class T>
void add_products(Vector<T> a, Vector<T> v, int64_t before, int64_t count, T* to) {
  constexpr int64_t kSide = 8;
  const int64_t whole = std::clamp<int64_t>(a.count - v.count + 1 + before, before, count);  // the end of the sums over all of v
  const auto some = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T sum(0);
      for (int64_t j = std::max<int64_t>(0, before - i); j < std::min(v.count, a.count + before - i); ++j)
        sum += a.first[i - before + j] * v.first[j];
      to[i] = sum;
    }
  };
  some(0, std::min(before, count));
  int64_t i = std::min(before, count);
  typedef T Pair __attribute__((vector_size(16)));
  for (; i + kSide <= whole; i += kSide) {
    const T* from = a.first + (i - before);
    Pair s0{}, s1{}, s2{}, s3{};
    for (int64_t j = 0; j < v.count; ++j, ++from) {
      Pair p0, p1, p2, p3;
      std::memcpy(&p0, from, 16), std::memcpy(&p1, from + 2, 16), std::memcpy(&p2, from + 4, 16), std::memcpy(&p3, from + 6, 16);
      const T factor = v.first[j];
      s0 += p0 * factor, s1 += p1 * factor, s2 += p2 * factor, s3 += p3 * factor;
    }
    std::memcpy(to + i, &s0, 16), std::memcpy(to + i + 2, &s1, 16), std::memcpy(to + i + 4, &s2, 16), std::memcpy(to + i + 6, &s3, 16);
  }
  some(i, count);
}

template <class T>
Array correlated(const Array& a, const Array& v, bool reversed, int64_t before, int64_t count) {
  std::vector<T> room, factors;
  Array made = empty(Dims{count}, std::is_same_v<T, double> ? DType::f64 : DType::i64, a.device());
  add_products(vector_of(a, &room), vector_of(v, &factors, reversed), before, count, static_cast<T*>(made.storage()->current->buffer->ptr));
  return made;
}

}  // namespace

std::optional<Array> correlate_small(const Array& a, const Array& v, std::string_view mode, bool reversed) {
  constexpr int64_t kMostWork = 1 << 17, kMostFactors = 31;  // longer sums are added in several parts by kernels
  const Device device = a.device();
  const auto known = [](DType t) { return t == DType::f64 || t == DType::i64; };
  if (!open(device) || a.ndim() != 1 || v.ndim() != 1 || !(v.device() == device) || !known(a.dtype()) || !known(v.dtype()))
    return std::nullopt;
  if (reversed && v.size() > a.size()) return correlate_small(v, a, mode, true);
  const int64_t n = a.size(), k = v.size(), least = n - k + 1;
  if (k == 0 || least < 1 || k > kMostFactors || n * k > kMostWork || has_history(a) || has_history(v)) return std::nullopt;
  const bool full = mode == "full", same = mode == "same";
  if (!full && !same && mode != "valid") return std::nullopt;
  const int64_t before = full ? k - 1 : same ? k / 2 : 0, count = full ? n + k - 1 : same ? n : least;
  const bool real = a.dtype() == DType::f64 || v.dtype() == DType::f64;
  return real ? correlated<double>(a, v, reversed, before, count) : correlated<uint64_t>(a, v, reversed, before, count);
}

namespace {

/// Makes the elements of a vector lie side by side: where they do not and are few, they are copied to `room`. Returns whether they do.
bool side_by_side(Near* vector, char* room) {
  if (vector->step == vector->item) return true;
  if (vector->count > kFew) return false;
  for (int64_t k = 0; k < vector->count; ++k) std::memcpy(room + k * vector->item, vector->at(k), static_cast<size_t>(vector->item));
  vector->first = room;
  vector->step = vector->item;
  return true;
}

}  // namespace

std::optional<Array> dot_small(const Array& a, const Array& b, DType dtype) {
  constexpr int64_t kBlock = 1024;    // one block of a kernel's sum
  constexpr int64_t kMost = 1 << 17;  // of more elements a kernel with several threads is faster
  const bool known = dtype == DType::f64 || dtype == DType::f32 || dtype == DType::i64 || dtype == DType::c128;
  if (!known || a.dtype() != dtype || b.dtype() != dtype || a.ndim() != 1 || b.ndim() != 1 || a.size() == 0 || a.size() != b.size())
    return std::nullopt;
  if (!open(a.device()) || !(b.device() == a.device()) || has_history(a) || has_history(b)) return std::nullopt;
  const Tier0Loop multiply = tier0_loop(Op::multiply, dtype);
  const TapeLock lock(tape(a.device()));
  Near x, y;
  if (!multiply || !find(a, &x, kMost) || !find(b, &y, kMost)) return std::nullopt;
  alignas(64) char rows[2][kFew * 16];
  if (!side_by_side(&x, rows[0]) || !side_by_side(&y, rows[1])) return std::nullopt;
  alignas(16) char total[16] = {};  // aligned to 16 for complex numbers
  if (!tier0_dot(dtype, x.first, y.first, x.count, total)) {
    if (x.count > kBlock) return std::nullopt;
    alignas(64) char products[kBlock * 16];
    multiply(x.first, y.first, nullptr, products, x.count);
    if (!tier0_reduce(Op::reduce_sum, dtype, products, x.count, 0, total)) return std::nullopt;
  }
  Element sum;
  sum.dtype = dtype;
  std::memcpy(sum.bytes, total, sizeof(total));
  return array_of_one(sum);
}

namespace {

/// A small matrix in the form for the CPU's product.
struct Factor {
  const char* first = nullptr;
  int64_t strides[3] = {};
  alignas(64) char cast[kFew * 8];  ///< the cast elements, if their dtype differs from the product's
};

/// Sets `made` to the elements of a computed matrix of `rows` x `columns` with strides `row` and `column`; casts them to `dtype` if they
/// are few.
bool find_factor(const Array& a, DType dtype, int64_t rows, int64_t columns, int64_t row, int64_t column, Factor* made) {
  const Node& node = *a.storage()->current;
  if (node.pending() || !node.buffer || a.has_loose_booleans()) return false;
  const int item = itemsize(a.dtype());
  made->first = first_byte(a, node);
  made->strides[1] = row;
  made->strides[2] = column;
  if (a.dtype() == dtype) return true;
  const Tier0Loop cast = rows * columns <= kFew ? tier0_cast(a.dtype(), dtype) : nullptr;
  if (!cast) return false;
  const char* const from = std::exchange(made->first, made->cast);
  made->strides[1] = columns;
  made->strides[2] = 1;
  if (columns == 1) {  // handled as a row
    std::swap(rows, columns);
    std::swap(row, column);
  }
  char* to = made->cast;
  const int64_t n = column == 1 ? columns : 1;  // elements a call
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; j += n, to += n * itemsize(dtype)) cast(from + (i * row + j * column) * item, nullptr, nullptr, to, n);
  return true;
}

}  // namespace

std::optional<Array> matmul_small(const Array& a, const Array& b) {
  // Recording and running a product takes 1 us more, which is negligible with more multiplications than this.
  constexpr int64_t kMostWork = 128 * 128 * 128, kMostElements = 512 * 512;
  const DType dtype = promote(a.dtype(), b.dtype());
  if (dtype != DType::f32 && dtype != DType::f64) return std::nullopt;
  // A vector is a row on the left and a column on the right. (A product of two is a sum, which fuses with what is around it.)
  const bool row = a.ndim() == 1, column = b.ndim() == 1;
  if (a.ndim() > 2 || b.ndim() > 2 || a.ndim() + b.ndim() < 3) return std::nullopt;
  const int64_t m = row ? 1 : a.shape()[0], k = a.shape().back(), n = column ? 1 : b.shape()[1];
  if (b.shape()[0] != k || a.size() == 0 || b.size() == 0 || a.size() > kMostElements || b.size() > kMostElements ||
      a.size() * n > kMostWork)
    return std::nullopt;
  if (!open(a.device()) || !(b.device() == a.device()) || has_history(a) || has_history(b)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Factor left, right;
  if (!find_factor(a, dtype, m, k, row ? 0 : a.strides()[0], a.strides().back(), &left)) return std::nullopt;
  if (!find_factor(b, dtype, k, n, b.strides()[0], column ? 0 : b.strides()[1], &right)) return std::nullopt;
  Array made = empty(row ? Dims{n} : column ? Dims{m} : Dims{m, n}, dtype, a.device());
  host_library().matmul(dtype, 1, m, n, k, left.first, left.strides, right.first, right.strides, made.storage()->current->buffer->ptr);
  return made;
}

}  // namespace bc
