// The library's text taken apart: what a program gets of it.
#include "codegen/declarations.h"

#include <gtest/gtest.h>

#include "codegen/device_library.h"

namespace bc {
namespace {

constexpr Declarations::Macro kKnown[] = {{"GPU", 1}, {"CLANG", {}}};

std::string used(std::string_view library, std::string_view program, const Declarations* base = nullptr) {
  return Declarations(library, kKnown, base).used_by({&program, 1});
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Declarations, AProgramGetsWhatItNamesAndWhatThatNames) {
  constexpr std::string_view library = R"(
namespace lib {
using word = unsigned int;
constexpr word kMask = 0xffu;
/// Text in a comment names nothing: three.
static word one(word a) { return a & kMask; }
static word two(word a) {
  return one(a) + 1;  // three
}
static word three(word a) { return a; }
}  // namespace lib
)";
  EXPECT_EQ(used(library, "int main() { lib::two(1); }"),
            "namespace lib {\nusing word = unsigned int;\nconstexpr word kMask = 0xffu;\nstatic word one(word a) { return a & kMask; }\n"
            "static word two(word a) {\nreturn one(a) + 1;\n}\n}\n");
  EXPECT_EQ(used(library, "\"two\" 2 two2 // three"), "");
}

TEST(Declarations, OverloadsSpecialisationsAndEnumeratorsComeWithTheirName) {
  constexpr std::string_view library = R"(
template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
template <class T>
struct Traits;
template <>
struct Traits<float> {
  enum : int { kBits = 32 };
};
enum Colour { red, green };
static float size(float a) { return a; }
static double size(double a) { return a; }
template <class T, int N>
static inline auto many(T (&a)[N], T b = T(3)) -> decltype(b) { return a[0] + b; }
)";
  EXPECT_TRUE(has(used(library, "same<int, int>"), "same<A, A>"));
  EXPECT_TRUE(has(used(library, "Traits<float>::kBits"), "kBits = 32"));
  EXPECT_EQ(used(library, "green"), "enum Colour { red, green };\n");
  EXPECT_TRUE(has(used(library, "size(1.0)"), "float size") && has(used(library, "size(1.0)"), "double size"));
  EXPECT_FALSE(has(used(library, "size(1.0)"), "many"));
  EXPECT_TRUE(has(used(library, "many(a)"), "many"));
}

TEST(Declarations, MacrosNameWhatTheyPasteTogether) {
  constexpr std::string_view library = R"(
#define BOTH(name, f) \
  static float name##_near(float a) { return f(a); } \
  static float name(float a) { return name##_near(a); }
static float helper(float a) { return a; }
BOTH(wave, helper)
BOTH(other, helper)
#define SUM(x, ...) add(x, __VA_ARGS__)
static float add(float a, float b) { return a + b; }
static float total(float a) { return SUM(a, a); }
)";
  const std::string wave = used(library, "wave_near(1)");
  EXPECT_TRUE(has(wave, "#define BOTH") && has(wave, "BOTH(wave, helper)") && has(wave, "float helper"));
  EXPECT_FALSE(has(wave, "other"));
  const std::string total = used(library, "total(1)");
  EXPECT_TRUE(has(total, "#define SUM") && has(total, "float add"));
}

TEST(Declarations, ADefinitionAnewComesWithTheEndOfTheOneBefore) {
  constexpr std::string_view library = R"(
#define MAKE(name) static int name() { return 1; }
MAKE(first)
#undef MAKE
#define MAKE(name) static int name() { return 2; }
MAKE(second)
#undef MAKE
)";
  const std::string second = used(library, "second");
  const size_t undefined = second.find("#undef MAKE"), again = second.rfind("#define MAKE");
  ASSERT_NE(again, std::string::npos);
  EXPECT_TRUE(second.find("#define MAKE") == again || undefined < again);
}

TEST(Declarations, ConditionalsOfKnownMacrosAreDecidedAndOthersStay) {
  constexpr std::string_view library = R"(
#if GPU && !defined(CLANG)
#define HERE gpu
static int gpu() { return 1; }
#else
#define HERE cpu
static int cpu() { return 2; }
#endif
static int mixed() {
#if !GPU || LEVEL >= 700
  return 700;
#else
  return gpu();
#endif
}
#if LEVEL >= 2
static long later(long a) { return a; }
#endif
#ifndef CLANG
#ifdef UNKNOWN
static int maybe() { return 3; }
#endif
#endif
)";
  const std::string here = used(library, "HERE");
  EXPECT_TRUE(has(here, "#define HERE gpu") && has(here, "return 1"));
  EXPECT_FALSE(has(here, "cpu"));
  EXPECT_TRUE(has(used(library, "mixed"), "#if !GPU || LEVEL >= 700") && has(used(library, "mixed"), "static int gpu"));
  EXPECT_TRUE(has(used(library, "later"), "#if LEVEL >= 2\nstatic long later"));
  EXPECT_EQ(used(library, "maybe"), "#ifdef UNKNOWN\nstatic int maybe() { return 3; }\n#endif\n");
}

TEST(Declarations, AConditionalThatStaysStandsInItsNamespace) {
  constexpr std::string_view library = R"(
namespace lib {
namespace inner {
static int first() { return 1; }
}  // namespace inner
#if defined(__AVX512F__)
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
}  // namespace lib
)";
  EXPECT_EQ(
      used(library, "lib::inner::first() + lib::kBytes"),
      "namespace lib {\nnamespace inner {\nstatic int first() { return 1; }\n}\n#if defined(__AVX512F__)\nconstexpr int kBytes = 64;\n"
      "#else\nconstexpr int kBytes = 32;\n#endif\n}\n");
}

TEST(Declarations, FunctionsOfComplexAndSmallNumbersComeToThoseWhoSpeakOfThem) {
  constexpr std::string_view library = R"(
struct half { unsigned short bits; };
template <class R>
struct complex { R re, im; };
static half operator+(half a, half b) { return a; }
static float root(float a) { return a; }
static half root(half a) { return a; }
template <class R>
static complex<R> root(complex<R> a) { return a; }
)";
  const std::string plain = used(library, "root(1.0f)"), small = used(library, "half f(half a) { return root(a); }");
  EXPECT_EQ(plain, "static float root(float a) { return a; }\n");
  EXPECT_TRUE(has(small, "half root") && has(small, "operator+"));
  EXPECT_FALSE(has(small, "complex"));
  EXPECT_TRUE(has(used(library, "complex<float> z; root(z);"), "complex<R> root"));
}

TEST(Declarations, ALibraryMayStandOnAnother) {
  const Declarations base("namespace lib {\nstatic int one() { return 1; }\nstatic int two() { return 2; }\n}\n", kKnown);
  EXPECT_EQ(used("namespace lib {\nnamespace more {\nstatic int three() { return two() + 1; }\n}\n}\n", "three()", &base),
            "namespace lib {\nstatic int two() { return 2; }\n}\nnamespace lib {\nnamespace more {\nstatic int three() { return two() + 1; "
            "}\n}\n}\n");
}

TEST(Declarations, TheDeviceLibraryIsTakenApartWhole) {
  const std::string_view everything = {kDeviceLibrary, kDeviceLibrarySize};
  const std::string all = device_library_for(LibraryTarget::Cuda, {&everything, 1});
  for (const char* name : {"load_word", "native_sin_fast", "power(", "random_below", "group_join", "logaddexp2", "kTwoByPi"})
    EXPECT_TRUE(has(all, name)) << name;
  EXPECT_FALSE(has(all, "#if BC_CUDA"));
  const std::string_view none = "int main() {}";
  EXPECT_LT(device_library_for(LibraryTarget::Cuda, {&none, 1}).size(), 300u);
}

}  // namespace
}  // namespace bc
