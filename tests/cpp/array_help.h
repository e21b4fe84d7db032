#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <vector>

#include "array/array.h"

/// Arrays from and to vectors. The tests run on the CPU, or on a GPU where BC_TEST_DEVICE is "cuda".
namespace bc::test {

inline Device device() {
  static const char* const wanted = std::getenv("BC_TEST_DEVICE");
  return {wanted && std::string_view(wanted) == "cuda" ? DeviceType::cuda : DeviceType::cpu, 0};
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::b1;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::u64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else
    return DType::f64;
}

template <class T>
Array make(const std::vector<T>& values, const Dims& shape) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_host(bytes.data(), DType::b1, contiguous_layout(shape), device());
  } else {
    return from_host(values.data(), dtype_of<T>(), contiguous_layout(shape), device());
  }
}
template <class T>
Array make(const std::vector<T>& values) {
  return make<T>(values, Dims{static_cast<int64_t>(values.size())});
}
inline Array ints(const std::vector<int64_t>& v) { return make<int64_t>(v); }
inline Array doubles(const std::vector<double>& v) { return make<double>(v); }
/// 0, 1, … as int64 or another type.
inline Array count(const Dims& shape, DType t = DType::i64) { return astype(iota(shape, device()), t); }

template <class T>
std::vector<T> values(const Array& a) {
  EXPECT_EQ(a.dtype(), dtype_of<T>()) << info(a.dtype()).name;
  if (a.dtype() != dtype_of<T>()) return {};
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<uint8_t> bytes(static_cast<size_t>(a.size()));
    to_host(a, bytes.data());
    return {bytes.begin(), bytes.end()};
  } else {
    std::vector<T> v(static_cast<size_t>(a.size()));
    to_host(a, v.data());
    return v;
  }
}

template <class T>
void expect(const Array& a, const Dims& shape, const std::vector<T>& expected) {
  EXPECT_EQ(a.shape(), shape) << to_string(a.shape()) << " instead of " << to_string(shape);
  EXPECT_EQ(values<T>(a), expected);
}

/// Runs f, which must throw an error of the kind whose text holds `text`.
template <class F>
void expect_error(ErrorKind kind, const std::string& text, F f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what() << "\nexpected: " << text;
  }
}

}  // namespace bc::test
