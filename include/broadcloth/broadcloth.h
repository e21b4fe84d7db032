/// broadcloth for C++: NumPy's arrays, on every device. Ops are recorded, and run fused in few kernels when a value is read.
///
///     namespace bw = broadcloth;
///     bw::array x = bw::linspace(0.0, 1.0, 1'000'000);
///     double area = (bw::sin(x) * bw::exp(-x)).sum().item<double>() / 1e6;   // one kernel
///
/// Every error is a std::runtime_error whose text says the op, what was expected and what came. Link with -lbroadcloth.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace broadcloth {

enum class dtype : uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,
  complex128,
  float8_e4m3fn,
  float8_e5m2,
};

/// The dtype of a C++ type.
template <class T>
inline constexpr dtype dtype_of = [] {
  static_assert(sizeof(T) == 0, "broadcloth has no dtype for this type");
  return dtype{};
}();
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of<int8_t> = dtype::int8;
template <>
inline constexpr dtype dtype_of<int16_t> = dtype::int16;
template <>
inline constexpr dtype dtype_of<int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of<int64_t> = dtype::int64;
template <>
inline constexpr dtype dtype_of<uint8_t> = dtype::uint8;
template <>
inline constexpr dtype dtype_of<uint16_t> = dtype::uint16;
template <>
inline constexpr dtype dtype_of<uint32_t> = dtype::uint32;
template <>
inline constexpr dtype dtype_of<uint64_t> = dtype::uint64;
template <>
inline constexpr dtype dtype_of<float> = dtype::float32;
template <>
inline constexpr dtype dtype_of<double> = dtype::float64;
template <>
inline constexpr dtype dtype_of<std::complex<float>> = dtype::complex64;
template <>
inline constexpr dtype dtype_of<std::complex<double>> = dtype::complex128;

using shape_t = std::vector<int64_t>;
inline constexpr int64_t npos = INT64_MIN;  ///< a start or stop that is not given

/// start:stop:step along one axis, as in Python.
struct slice {
  int64_t start = npos, stop = npos, step = 1;
};

/// A handle to a view of an array, like NumPy's ndarray: copies of the handle and views share one memory.
class array {
 public:
  array(double value);  ///< a Python number: in an op it takes the dtype of the other operand

  const shape_t& shape() const;
  int64_t size() const;
  dtype type() const;
  std::string device() const;  ///< "cpu", "cuda:0"

  // Views
  array operator[](int64_t index) const;  ///< along the first axis
  /// One slice for each axis, from the first on.
  array operator()(std::initializer_list<slice> slices) const;
  array reshape(const shape_t& shape) const;  ///< a view if NumPy returns a view, else a copy; one extent may be -1
  array transpose() const;
  array astype(dtype type) const;
  array copy() const;
  /// a[...] = value, broadcast; overlaps behave as if the value were copied first.
  void assign(const array& value) const;

  // Reductions over all axes or the given ones
  array sum(std::optional<shape_t> axes = {}, bool keepdims = false) const { return reduce("sum", std::move(axes), keepdims); }
  array mean(std::optional<shape_t> axes = {}, bool keepdims = false) const { return reduce("mean", std::move(axes), keepdims); }
  array max(std::optional<shape_t> axes = {}, bool keepdims = false) const { return reduce("max", std::move(axes), keepdims); }
  array min(std::optional<shape_t> axes = {}, bool keepdims = false) const { return reduce("min", std::move(axes), keepdims); }
  /// Any of sum prod max min mean var std any all argmax argmin count_nonzero …
  array reduce(std::string_view name, std::optional<shape_t> axes = {}, bool keepdims = false) const;

  // Reading values: runs pending ops
  /// The one element of an array of size 1.
  template <class T>
  T item() const {
    T value;
    astype(dtype_of<T>).reshape({1}).to_host(&value, 1);
    return value;
  }
  /// The elements in C order.
  template <class T>
  std::vector<T> to_vector() const {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no memory to copy to: ask for uint8_t");
    std::vector<T> values(static_cast<size_t>(size()));
    astype(dtype_of<T>).to_host(values.data(), values.size());
    return values;
  }

  struct impl;  ///< the engine's data
  explicit array(std::shared_ptr<const impl> p) : p_(std::move(p)) {}
  const impl& get() const { return *p_; }

 private:
  void to_host(void* to, size_t count) const;
  std::shared_ptr<const impl> p_;
};

// ---- Creation
array empty(const shape_t& shape, dtype type = dtype::float64);
array full(const shape_t& shape, double value, dtype type = dtype::float64);
inline array zeros(const shape_t& shape, dtype type = dtype::float64) { return full(shape, 0.0, type); }
inline array ones(const shape_t& shape, dtype type = dtype::float64) { return full(shape, 1.0, type); }
array arange(int64_t start, int64_t stop, int64_t step = 1);
array linspace(double start, double stop, int64_t count);
/// Copies C-contiguous host memory.
array from_memory(const void* data, dtype type, const shape_t& shape);
template <class T>
array from(std::span<const T> values, shape_t shape = {}) {
  return from_memory(values.data(), dtype_of<T>, shape.empty() ? shape_t{static_cast<int64_t>(values.size())} : shape);
}
template <class T>
array from(const std::vector<T>& values, shape_t shape = {}) {
  return from(std::span<const T>(values), std::move(shape));
}

// ---- Elementwise functions; they broadcast and promote as in NumPy
/// Any ufunc by NumPy's name: apply("hypot", {x, y}).
array apply(std::string_view ufunc, std::initializer_list<array> operands);
inline array operator+(const array& a, const array& b) { return apply("add", {a, b}); }
inline array operator-(const array& a, const array& b) { return apply("subtract", {a, b}); }
inline array operator*(const array& a, const array& b) { return apply("multiply", {a, b}); }
inline array operator/(const array& a, const array& b) { return apply("divide", {a, b}); }
inline array operator-(const array& a) { return apply("negative", {a}); }
inline array operator<(const array& a, const array& b) { return apply("less", {a, b}); }
inline array operator<=(const array& a, const array& b) { return apply("less_equal", {a, b}); }
inline array operator>(const array& a, const array& b) { return apply("greater", {a, b}); }
inline array operator>=(const array& a, const array& b) { return apply("greater_equal", {a, b}); }
inline array operator==(const array& a, const array& b) { return apply("equal", {a, b}); }
inline array operator!=(const array& a, const array& b) { return apply("not_equal", {a, b}); }
inline array sin(const array& a) { return apply("sin", {a}); }
inline array cos(const array& a) { return apply("cos", {a}); }
inline array tanh(const array& a) { return apply("tanh", {a}); }
inline array exp(const array& a) { return apply("exp", {a}); }
inline array log(const array& a) { return apply("log", {a}); }
inline array sqrt(const array& a) { return apply("sqrt", {a}); }
inline array abs(const array& a) { return apply("abs", {a}); }
inline array pow(const array& a, const array& b) { return apply("power", {a, b}); }
inline array maximum(const array& a, const array& b) { return apply("maximum", {a, b}); }
inline array minimum(const array& a, const array& b) { return apply("minimum", {a, b}); }
inline array where(const array& condition, const array& a, const array& b) { return apply("where", {condition, a, b}); }
array matmul(const array& a, const array& b);

// ---- Devices and order
/// Sets the device of this thread's new arrays: "cpu", "cuda", "cuda:1".
void set_default_device(std::string_view device);
/// Runs all pending ops on all devices and waits for them.
void synchronize();

}  // namespace broadcloth
