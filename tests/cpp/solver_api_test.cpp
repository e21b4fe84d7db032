// The declarations of cuSOLVER's and cuBLAS's functions against NVIDIA's headers, where those are installed.
#include <gtest/gtest.h>

#if __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <string>
#include <type_traits>

#include "backends/cuda/solver.h"

namespace {

/// How an argument is passed: all pointers are alike, and enumerations are ints.
template <class T>
constexpr char kind() {
  if (std::is_pointer_v<T>) return 'p';
  if (std::is_enum_v<T> || std::is_same_v<T, int>) return 'i';
  if (std::is_same_v<T, signed char>) return 'c';
  if (std::is_same_v<T, size_t>) return 'z';
  if (std::is_integral_v<T> && sizeof(T) == 8) return 'l';
  return '?';
}

template <class F>
struct Passed;
template <class R, class... A>
struct Passed<R(A...)> {
  static std::string text() { return std::string{kind<R>(), '(', kind<std::decay_t<A>>()..., ')'}; }
};

TEST(SolverApi, DeclarationsAreThoseOfNvidiasHeaders) {
#define BC_SAME(name, parameters) EXPECT_EQ((Passed<int parameters>::text()), (Passed<decltype(name)>::text())) << #name;
#define BC_ALL_SAME(name, s, d, c, z, parameters) \
  BC_SAME(s, parameters) BC_SAME(d, parameters) BC_SAME(c, parameters) BC_SAME(z, parameters)
  using namespace bc::cuda;
  BC_CUSOLVER_API(BC_SAME)
  BC_CUSOLVER_OPTIONAL_API(BC_SAME)
  BC_CUSOLVER_TYPED_API(BC_ALL_SAME)
  BC_CUBLAS_API(BC_SAME)
  BC_CUBLAS_TYPED_API(BC_ALL_SAME)
}

}  // namespace
#endif
