// Loops with calls that few elements need: vectorised, and right for the elements that need them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/cpu/jit_library.h"

namespace bc::cpu {
namespace {

constexpr const char* kText = R"(
using namespace bc;
extern "C" __attribute__((visibility("default"))) void sines(const double* a, double* o, i64 n) {
  for (i64 i = 0; i < n; ++i) o[i] = loop_sin(a[i]);
}
)";

TEST(JitRare, LoopsAreVectorisedAroundTheCalls) {
  if (!JitLibrary::available()) GTEST_SKIP() << "no compiler here";
  const std::string ir = JitLibrary::get().inspect(kText, {3, 0, 0}, "ir");
  EXPECT_NE(ir.find("x double>"), std::string::npos);
  EXPECT_NE(ir.find("@bc_rare_sin_d("), std::string::npos);
}

TEST(JitRare, FarElementsAreRight) {
  if (!JitLibrary::available()) GTEST_SKIP() << "no compiler here";
  JitLibrary& library = JitLibrary::get();
  const std::vector<char> bytes = library.compile(kText, "sines.cpp", {3, 0, 0});
  const JitLibrary::Object object = library.load(bytes);
  auto* sines = reinterpret_cast<void (*)(const double*, double*, long long)>(library.symbol(object, "sines"));
  ASSERT_NE(sines, nullptr);
  std::vector<double> a(1003), o(a.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = i % 7 == 3 ? 1e12 * static_cast<double>(i) : 0.37 * static_cast<double>(i);
  sines(a.data(), o.data(), static_cast<long long>(a.size()));
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(o[i], std::sin(a[i]), 4e-16) << a[i];
}

}  // namespace
}  // namespace bc::cpu
