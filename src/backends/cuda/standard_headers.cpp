#include "backends/cuda/standard_headers.h"

namespace bc::cuda {

namespace {

// The definitions are spelled as in libcu++ under NVRTC, so that both may be included.
#define BC_STDINT                                                                                                                         \
  "#pragma once\n"                                                                                                                        \
  "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;\n"                                  \
  "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t; typedef unsigned long long uint64_t;\n" \
  "typedef int8_t int_least8_t; typedef int16_t int_least16_t; typedef int32_t int_least32_t; typedef int64_t int_least64_t;\n"           \
  "typedef uint8_t uint_least8_t; typedef uint16_t uint_least16_t; typedef uint32_t uint_least32_t; typedef uint64_t uint_least64_t;\n"   \
  "typedef int8_t int_fast8_t; typedef int16_t int_fast16_t; typedef int32_t int_fast32_t; typedef int64_t int_fast64_t;\n"               \
  "typedef uint8_t uint_fast8_t; typedef uint16_t uint_fast16_t; typedef uint32_t uint_fast32_t; typedef uint64_t uint_fast64_t;\n"       \
  "typedef long long intptr_t; typedef unsigned long long uintptr_t; typedef long long intmax_t; typedef unsigned long long uintmax_t;\n" \
  "#ifndef INT8_MAX\n"                                                                                                                    \
  "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"                                                                \
  "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"                                                       \
  "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX 4294967295U\n"                                   \
  "#define INT64_MIN (-9223372036854775807LL - 1)\n#define INT64_MAX 9223372036854775807LL\n#define UINT64_MAX 18446744073709551615ULL\n" \
  "#define SIZE_MAX UINT64_MAX\n"                                                                                                         \
  "#endif\n"

#define BC_STDDEF "#pragma once\ntypedef decltype(sizeof(0)) size_t;\ntypedef decltype((char*)0 - (char*)0) ptrdiff_t;\n"

#define BC_LIMITS                                                                                                               \
  "#pragma once\n#ifndef INT_MAX\n#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n" \
  "#define CHAR_MIN SCHAR_MIN\n#define CHAR_MAX SCHAR_MAX\n#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n"                 \
  "#define USHRT_MAX 65535\n#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n#define UINT_MAX 4294967295U\n"         \
  "#define LONG_MAX 9223372036854775807L\n#define LONG_MIN (-LONG_MAX - 1L)\n#define ULONG_MAX 18446744073709551615UL\n"        \
  "#define LLONG_MAX 9223372036854775807LL\n#define LLONG_MIN (-LLONG_MAX - 1LL)\n#define ULLONG_MAX 18446744073709551615ULL\n#endif\n"

#define BC_FLOAT                                                                                                              \
  "#pragma once\n#ifndef FLT_MAX\n#define FLT_RADIX 2\n#define FLT_MANT_DIG 24\n#define DBL_MANT_DIG 53\n#define FLT_DIG 6\n" \
  "#define DBL_DIG 15\n#define FLT_MIN_EXP (-125)\n#define FLT_MAX_EXP 128\n#define DBL_MIN_EXP (-1021)\n"                    \
  "#define DBL_MAX_EXP 1024\n#define FLT_MAX 3.402823466e+38F\n#define FLT_MIN 1.175494351e-38F\n"                            \
  "#define FLT_EPSILON 1.192092896e-07F\n#define DBL_MAX 1.7976931348623157e+308\n#define DBL_MIN 2.2250738585072014e-308\n"  \
  "#define DBL_EPSILON 2.2204460492503131e-16\n#endif\n"

#define BC_MATH                                                                                                                          \
  "#pragma once\n#ifndef M_PI\n#define M_E 2.71828182845904523536\n#define M_LOG2E 1.44269504088896340736\n"                             \
  "#define M_LOG10E 0.434294481903251827651\n#define M_LN2 0.693147180559945309417\n#define M_LN10 2.30258509299404568402\n"             \
  "#define M_PI 3.14159265358979323846\n#define M_PI_2 1.57079632679489661923\n#define M_PI_4 0.785398163397448309616\n"                 \
  "#define M_1_PI 0.318309886183790671538\n#define M_2_PI 0.636619772367581343076\n#define M_2_SQRTPI 1.12837916709551257390\n"          \
  "#define M_SQRT2 1.41421356237309504880\n#define M_SQRT1_2 0.707106781186547524401\n#endif\n"                                          \
  "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n" \
  "#ifndef HUGE_VAL\n#define HUGE_VAL ((double)INFINITY)\n#define HUGE_VALF INFINITY\n#endif\n"

// The functions themselves are built into NVRTC, in the global namespace.
#define BC_CMATH                                                                                                                    \
  BC_MATH                                                                                                                           \
  "namespace std {\n"                                                                                                               \
  "using ::abs; using ::fabs; using ::fabsf; using ::sqrt; using ::sqrtf; using ::cbrt; using ::hypot; using ::exp;\n"              \
  "using ::expf; using ::exp2; using ::expm1; using ::log; using ::logf; using ::log2; using ::log10; using ::log1p;\n"             \
  "using ::pow; using ::powf; using ::sin; using ::sinf; using ::cos; using ::cosf; using ::tan; using ::tanf; using ::asin;\n"     \
  "using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using ::tanhf; using ::asinh;\n"            \
  "using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::tgamma; using ::lgamma; using ::floor; using ::floorf;\n"       \
  "using ::ceil; using ::ceilf; using ::trunc; using ::round; using ::rint; using ::nearbyint; using ::lround; using ::llround;\n"  \
  "using ::fmod; using ::fmodf; using ::remainder; using ::copysign; using ::nextafter; using ::fma; using ::fmaf; using ::fmax;\n" \
  "using ::fmaxf; using ::fmin; using ::fminf; using ::fdim; using ::ldexp; using ::frexp; using ::modf; using ::scalbn;\n"         \
  "using ::ilogb; using ::logb; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;\n"                                 \
  "}\n"

#define BC_STD(names) "#pragma once\nnamespace std {\n" names "}\n"

#define BC_CSTDINT                                                                                                          \
  BC_STDINT                                                                                                                 \
  "namespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::uint8_t; using ::uint16_t;\n" \
  "using ::uint32_t; using ::uint64_t; using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t; }\n"

// The rest of the C++ library comes from libcu++, where the toolkit's headers are installed.
#define BC_LIBCUXX(name) {name, "#pragma once\n#include <cuda/std/" name ">\nnamespace std { using namespace ::cuda::std; }\n"}

// Declarations that Thrust's headers mention but device code never calls.
#define BC_STREAMS                                                                                           \
  "#pragma once\nnamespace std { template <class C> struct char_traits;\n"                                   \
  "template <class C, class T = char_traits<C>> class basic_ostream; typedef basic_ostream<char> ostream;\n" \
  "template <class C, class T = char_traits<C>> class basic_istream; typedef basic_istream<char> istream; }\n"

#define BC_EXCEPTION                                                                  \
  "#pragma once\nnamespace std { class exception { public: virtual ~exception() {}\n" \
  "virtual const char* what() const { return \"\"; } }; }\n"

#define BC_STRING                                                                                                        \
  "#pragma once\nnamespace std { class string { const char* text_; public: string(const char* t = \"\") : text_(t) {}\n" \
  "string& operator=(const char* t) { text_ = t; return *this; } string& operator+=(const char*) { return *this; }\n"    \
  "string& operator+=(const string&) { return *this; } const char* c_str() const { return text_; }\n"                    \
  "bool empty() const { return !*text_; } }; inline string operator+(const string& a, const string&) { return a; } }\n"

#define BC_STDEXCEPT                                                                                              \
  "#pragma once\n#include <exception>\n#include <string>\nnamespace std {\n"                                      \
  "class runtime_error : public exception { string text_; public: runtime_error(const string& t) : text_(t) {}\n" \
  "runtime_error(const char* t) : text_(t) {} const char* what() const override { return text_.c_str(); } };\n"   \
  "class logic_error : public runtime_error { public: using runtime_error::runtime_error; };\n"                   \
  "class out_of_range : public logic_error { public: using logic_error::logic_error; };\n"                        \
  "class invalid_argument : public logic_error { public: using logic_error::logic_error; };\n"                    \
  "class length_error : public logic_error { public: using logic_error::logic_error; };\n}\n"

#define BC_NOTHING "#pragma once\n"

constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"stdint.h", BC_STDINT},
    {"cstdint", BC_CSTDINT},
    {"stddef.h", BC_STDDEF},
    {"cstddef", BC_STDDEF "namespace std { using ::size_t; using ::ptrdiff_t; typedef decltype(nullptr) nullptr_t; }\n"},
    {"limits.h", BC_LIMITS},
    {"climits", BC_LIMITS},
    {"float.h", BC_FLOAT},
    {"cfloat", BC_FLOAT},
    {"math.h", BC_MATH},
    {"cmath", BC_CMATH},
    {"stdbool.h", "#pragma once\n"},
    {"stdio.h", "#pragma once\n"},
    {"cstdio", BC_STD("using ::printf;\n")},
    {"stdlib.h", "#pragma once\n"},
    {"cstdlib", BC_STD("using ::abs; using ::malloc; using ::free;\n")},
    {"string.h", "#pragma once\n"},
    {"cstring", BC_STD("using ::memcpy; using ::memset;\n")},
    {"assert.h", "#pragma once\n"},
    {"cassert", "#pragma once\n"},
    BC_LIBCUXX("algorithm"),
    BC_LIBCUXX("array"),
    BC_LIBCUXX("atomic"),
    BC_LIBCUXX("bit"),
    BC_LIBCUXX("complex"),
    BC_LIBCUXX("functional"),
    BC_LIBCUXX("initializer_list"),
    {"iterator",
     "#pragma once\n#include <cuda/std/iterator>\nnamespace std { using namespace ::cuda::std;\n"
     "template <class T> struct iterator_traits : ::cuda::std::iterator_traits<T> {}; }\n"},
    BC_LIBCUXX("limits"),
    BC_LIBCUXX("numeric"),
    BC_LIBCUXX("optional"),
    BC_LIBCUXX("tuple"),
    BC_LIBCUXX("type_traits"),
    BC_LIBCUXX("utility"),
    BC_LIBCUXX("variant"),
    {"memory",
     "#pragma once\n#include <cuda/std/__memory/addressof.h>\n#include <cuda/std/__memory/pointer_traits.h>\n"
     "#include <cuda/std/__memory/allocator_traits.h>\n#include <cuda/std/__memory/allocator.h>\n"
     "namespace std { using namespace ::cuda::std; }\n"},
    {"exception", BC_EXCEPTION},
    {"new", BC_NOTHING "#include <exception>\nnamespace std { class bad_alloc : public exception {}; }\n"},
    {"string", BC_STRING},
    {"stdexcept", BC_STDEXCEPT},
    {"iosfwd", BC_STREAMS},
    {"ios", BC_STREAMS},
    {"iostream", BC_STREAMS},
    {"istream", BC_STREAMS},
    {"ostream", BC_STREAMS},
    {"sstream", BC_STREAMS},
    {"cstdarg", BC_NOTHING},
    {"cerrno", BC_NOTHING},
    {"mutex", BC_NOTHING},
    {"vector", BC_NOTHING},
    {kThrustPrelude,
     // Thrust marks functions as the host's that nothing here calls; as the device's they compile.
     "#undef __host__\n#define __host__\n#include <iterator>\n#include <cstddef>\n#include <stdexcept>\n#include <new>\n"
     "#include <cuda/std/utility>\nnamespace std { using ::cuda::std::declval; }\n"},
};

}  // namespace

std::span<const std::pair<const char*, const char*>> standard_headers() { return kHeaders; }

}  // namespace bc::cuda
