// Loops that carry a value from element to element, for every binary row. Includes the device library and no other header of the engine:
// the two use some names with different meanings. With BC_SPECIAL_FOLDS it has the rows of special functions, which few programs fold and
// whose code is kept small, else all others.
#include "backends/cpu/fold_loops.h"

#include <cstddef>
#include <utility>

#include "codegen/tier0/dtype_numbers.h"
#include "device/device.h"

namespace bc::cpu {
namespace {

using tier0::type_t;
using namespace dtype_sets;
[[maybe_unused]] constexpr u32 DIVIDE = FLOATS, DIVIDE_REAL = REALS, LDEXP = 0, WHERE = 0, RANDOM = 0;
enum class Result { SAME, BOOL, REAL, I32, U8, INDEX };

/// The dtypes for which the result has the operands' dtype.
constexpr u32 closed(u32 set, Result result) { return result == Result::SAME ? set : result == Result::BOOL ? set & BOOLS : 0; }

// Rows of few instructions are inlined into each loop, and have one for elements that lie side by side; the others are called, so that the
// code stays small.
constexpr bool cheap(std::string_view name) {
  for (std::string_view s : {"add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or",
                             "bitwise_xor", "logical_and", "logical_or", "logical_xor"})
    if (s == name) return true;
  return false;
}

/// Rows of floats that take many fused multiply-adds, which without the processor's instruction are calls of the C library.
constexpr bool fuses(std::string_view name) {
  for (std::string_view s : {"power", "float_power", "arctan2", "logaddexp", "logaddexp2"})
    if (s == name) return true;
  return false;
}

/// Where a row gives its first operand: powers of 1, whole powers of 0, the angle of (x, 0), and sums of exponentials of which the other is
/// below the last place. Folds of long lines get there.
enum class Fixed { None, Power, Angle, Exponentials };
constexpr Fixed fixed(std::string_view name) {
  if (name == "power" || name == "float_power") return Fixed::Power;
  if (name == "logaddexp" || name == "logaddexp2") return Fixed::Exponentials;
  return name == "arctan2" ? Fixed::Angle : Fixed::None;
}
template <Fixed kFixed, class T> inline bool stays(T a, T b) {
  if constexpr (kFixed == Fixed::None || is_complex<T>)
    return false;
  else if constexpr (kFixed == Fixed::Angle)
    return a == T(0) && b > T(0);
  else if constexpr (kFixed == Fixed::Exponentials)
    return a > T(1) && a - b > T(60);
  else
    return a == T(1) || (!is_float<T> && a == T(0) && b > T(0));
}

/// Rows whose fold may join elements in any order.
constexpr bool any_order(std::string_view name) { return cheap(name) && name != "subtract" && name != "divide"; }

/// Whether a row gives the larger of two values (1), the smaller (-1) or neither (0), where NaN wins.
constexpr int extreme(std::string_view name) { return name == "maximum" ? 1 : name == "minimum" ? -1 : 0; }

template <class T, class F>
void scan(const void* x_, int64_t sx, void* out_, int64_t so, int64_t n, void* carry, bool started) {
  const T* x = static_cast<const T*>(x_);
  T* out = static_cast<T*>(out_);
  if (n == 0) return;
  T acc = started ? F::apply(*static_cast<const T*>(carry), x[0]) : x[0];
  if (out) {
    out[0] = acc;
    if constexpr (F::kExtreme != 0 && is_native_float<T>) {
      // The extreme changes seldom: a branch that is foreseen costs less than a comparison that each element waits for.
      for (int64_t i = 1; i < n; ++i) {
        const T v = x[i * sx];
        const bool stays = (F::kExtreme > 0 ? v < acc : acc < v) || acc != acc;
        if (__builtin_expect(!stays, 0)) acc = v;
        out[i * so] = acc;
      }
    } else if (F::kCheap && sx == 1 && so == 1) {
      for (int64_t i = 1; i < n; ++i) out[i] = acc = F::apply(acc, x[i]);
    } else {
      for (int64_t i = 1; i < n; ++i) out[i * so] = acc = F::apply(acc, x[i * sx]);
    }
  } else {
    for (int64_t i = 1; i < n; ++i) acc = F::apply(acc, x[i * sx]);
  }
  *static_cast<T*>(carry) = acc;
}

template <class T, class F>
void scan_twice(const void* x_, int64_t sx, void* out_, int64_t so, int64_t n, void* running_, void* total_) {
  const T* x = static_cast<const T*>(x_);
  T* out = static_cast<T*>(out_);
  T running = *static_cast<const T*>(running_), total = x[0];
  out[0] = running = F::apply(running, total);
  for (int64_t i = 1; i < n; ++i) {
    const T v = x[i * sx];
    total = F::apply(total, v);
    out[i * so] = running = F::apply(running, v);
  }
  *static_cast<T*>(running_) = running;
  *static_cast<T*>(total_) = total;
}

template <class T, class F>
void zip(const void* a_, int64_t sa, const void* b_, int64_t sb, void* out_, int64_t so, int64_t n) {
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T* out = static_cast<T*>(out_);
  if (F::kCheap && sa == 1 && sb == 1 && so == 1) {
    // `out` is equal to `a`, or overlaps neither operand.
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = F::apply(a[i], b[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i * so] = F::apply(a[i * sa], b[i * sb]);
}

constexpr int kLanes = 16;

/// The maximum or minimum of n >= kLanes floats. Lanes compare plainly, as vector instructions do, and remember whether they met a NaN: the
/// first one is then the result.
template <class T, class F>
T extreme_of_floats(const T* x, int64_t n) {
  using V = typename VectorOf<T, 16>::type;
  constexpr int kVectors = 4, kWidth = 16 / sizeof(T), kStep = kVectors * kWidth;
  const auto join = [](auto a, auto b) { return (F::kExtreme > 0 ? a > b : a < b) ? a : b; };
  V most[kVectors];
  decltype(V() != V()) nan = {};
  BC_UNROLL for (int v = 0; v < kVectors; ++v) {
    most[v] = load_vector<V>(x + v * kWidth);
    nan |= most[v] != most[v];
  }
  const auto meet = [&](const T* at) {
    BC_UNROLL for (int v = 0; v < kVectors; ++v) {
      const V a = load_vector<V>(at + v * kWidth);
      most[v] = join(most[v], a);
      nan |= a != a;
    }
  };
  for (int64_t i = kStep; i + kStep <= n; i += kStep) meet(x + i);
  if (n % kStep != 0) meet(x + n - kStep);  // again some that were met
  bool any = false;
  for (int l = 0; l < kWidth; ++l) any |= nan[l] != 0;
  if (any)
    for (int64_t i = 0;; ++i)
      if (x[i] != x[i]) return x[i];
  T result = most[0][0];
  for (const V& v : most)
    for (int l = 0; l < kWidth; ++l) result = join(result, v[l]);
  return result;
}

/// The fold of n >= kWidth elements in kWidth lanes, which are then joined in a tree.
template <class T, class F, int kWidth>
inline T fold_lanes(const T* x, int64_t step, int64_t n) {
  T lane[kWidth];
  for (int l = 0; l < kWidth; ++l) lane[l] = x[l * step];
  int64_t i = kWidth;
  for (; i + kWidth <= n; i += kWidth)
    for (int l = 0; l < kWidth; ++l) lane[l] = F::apply(lane[l], x[(i + l) * step]);
  for (int w = kWidth / 2; w > 0; w /= 2)
    for (int l = 0; l < w; ++l) lane[l] = F::apply(lane[l], lane[l + w]);
  for (; i < n; ++i) lane[0] = F::apply(lane[0], x[i * step]);
  return lane[0];
}

/// The fold of n >= 1 elements: in order, or if any order is allowed, in lanes, of pieces that are joined in a tree. `kStep` is the step
/// where it is known (1), which vectorises the lanes, else 0.
template <class T, class F, int64_t kStep>
T fold_by(const T* x, int64_t sx, int64_t n) {
  const int64_t step = kStep ? kStep : sx;
  if constexpr (F::kExtreme != 0 && kStep == 1 && is_native_float<T>)
    if (n >= 2 * kLanes) return extreme_of_floats<T, F>(x, n);
  if constexpr (F::kAssociative) {
    constexpr int64_t kPiece = 1024;
    if (n > kPiece) {
      const int64_t half = n / 2 / kLanes * kLanes;
      const T left = fold_by<T, F, kStep>(x, step, half);
      return F::apply(left, fold_by<T, F, kStep>(x + half * step, step, n - half));
    }
    if (n >= 4 * kLanes) return fold_lanes<T, F, kLanes>(x, step, n);
    if (n >= 8) return fold_lanes<T, F, 4>(x, step, n);
  }
  T acc = x[0];
  for (int64_t i = 1; i < n; ++i) acc = F::apply(acc, x[i * step]);
  return acc;
}

template <class T, class F>
T fold(const T* x, int64_t sx, int64_t n) {
  if constexpr (F::kCheap)
    if (sx == 1) return fold_by<T, F, 1>(x, 1, n);
  return fold_by<T, F, 0>(x, sx, n);
}

template <class T, class F>
void segments(const void* x_, int64_t sx, const int64_t* at, int64_t count, bool last, int64_t n, void* out_, int64_t so) {
  const T* x = static_cast<const T*>(x_);
  T* out = static_cast<T*>(out_);
  for (int64_t j = 0; j < count; ++j) {
    const int64_t begin = at[j], end = last && j + 1 == count ? n : at[j + 1];
    out[j * so] = fold<T, F>(x + begin * sx, sx, end > begin ? end - begin : 1);
  }
}

template <class T, class F>
void at_loop(void* base_, const int64_t* at, const void* v_, int64_t sv, int64_t n) {
  T* base = static_cast<T*>(base_);
  const T* v = static_cast<const T*>(v_);
  for (int64_t i = 0; i < n; ++i) base[at[i]] = F::apply(base[at[i]], v[i * sv]);
}

struct Row {
  std::string_view name;
  FoldLoops loops[kTypes];
};

template <class T, class F> constexpr FoldLoops loops_of() {
  return {scan<T, F>, scan_twice<T, F>, zip<T, F>, segments<T, F>, at_loop<T, F>};
}

template <template <class> class F, u32 set, int D> constexpr FoldLoops loops_in() {
  if constexpr ((set >> D & 1) != 0)
    return loops_of<typename type_t<D>::type, F<typename type_t<D>::type>>();
  else
    return {};
}
template <template <class> class F, u32 set, size_t... D> constexpr Row row_of(std::string_view name, std::index_sequence<D...>) {
  return {name, {loops_in<F, set, static_cast<int>(D)>()...}};
}

// `float_power` is the one row whose function has another name.
BC_TFN T float_power(T a, T b) { return power(a, b); }
#ifdef BC_SPECIAL_FOLDS
#define BC_BINARY(...)
#define BC_SPECIAL_OF2(name_, set, ...)                                                      \
  template <class T> struct Apply_##name_ {                                                  \
    static constexpr bool kCheap = false, kAssociative = false;                              \
    static constexpr int kExtreme = 0;                                                       \
    __attribute__((noinline)) static T apply(T a, T b) { return special_rows::name_(a, b); } \
  };
#else
// Rows that are not T, T -> T refer to functions that are never instantiated here.
#define BC_BINARY(name_, set, result, ...)                                                         \
  template <class T> struct Apply_##name_ {                                                        \
    static constexpr bool kCheap = cheap(#name_), kAssociative = any_order(#name_);                \
    static constexpr int kExtreme = extreme(#name_);                                               \
    __attribute__((noinline)) static T called(T a, T b) { return name_(a, b); }                    \
    __attribute__((noinline, target("avx2,fma"))) static T fused(T a, T b) { return name_(a, b); } \
    static inline T apply(T a, T b) {                                                              \
      if constexpr (cheap(#name_)) return name_(a, b);                                             \
      if (stays<fixed(#name_)>(a, b)) return a;                                                    \
      if constexpr (fuses(#name_) && (is_same<T, float> || is_same<T, double>))                    \
        if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return fused(a, b);   \
      return called(a, b);                                                                         \
    }                                                                                              \
  };
#define BC_SPECIAL_OF2(...)
#endif
#define BC_UNARY(...)
#define BC_TERNARY(...)
#define BC_FAST(...)
#include "primitives/elementwise.def"

#ifdef BC_SPECIAL_FOLDS
#define BC_BINARY(...)
#define BC_SPECIAL_OF2(name_, set, ...) row_of<Apply_##name_, set>(#name_, std::make_index_sequence<kTypes>()),
#else
#define BC_BINARY(name_, set, result, ...) row_of<Apply_##name_, closed(set, Result::result)>(#name_, std::make_index_sequence<kTypes>()),
#define BC_SPECIAL_OF2(...)
#endif
#define BC_UNARY(...)
#define BC_TERNARY(...)
#define BC_FAST(...)
constexpr Row kRows[] = {
#include "primitives/elementwise.def"
};

}  // namespace

#ifdef BC_SPECIAL_FOLDS
const FoldLoops* special_fold_loops(std::string_view name, int dtype) {
#else
const FoldLoops* fold_loops(std::string_view name, int dtype) {
#endif
  for (const Row& row : kRows)
    if (row.name == name) return row.loops[dtype].scan ? &row.loops[dtype] : nullptr;
#ifdef BC_SPECIAL_FOLDS
  return nullptr;
#else
  return special_fold_loops(name, dtype);
#endif
}

}  // namespace bc::cpu
