// The loops of the reduction rows as templates.
#pragma once
#include "codegen/tier0/loops.h"

namespace bc::tier0 {
namespace {

// The rows' texts as code, selected by the hash of the text. For a row with a new text, a static_assert asks to add it here.
template <u64 text, class T>
struct IdentityText {
  static_assert(text == 1 && sizeof(T) == 0, "tier 0: a reduction's identity is not among these texts");
};
template <u64 text, class T>
struct MapText {
  static_assert(text == 0 && sizeof(T) == 0, "tier 0: a reduction's map is not among these texts");
};
template <u64 text, class T>
struct JoinText {
  static_assert(text == 0 && sizeof(T) == 0, "tier 0: a reduction's join is not among these texts");
};
template <u64 text, class T>
struct FinishText {
  static_assert(text == 0 && sizeof(T) == 0, "tier 0: a reduction's finish is not among these texts");
};

enum class ReduceState {
#define BC_REDUCE_STATE(name, ...) name,
#include "primitives/reduce.def"
};
template <ReduceState state, class Element>
struct StateOf;
#define BC_REDUCE_STATE(name, ...)       \
  template <class T>                     \
  struct StateOf<ReduceState::name, T> { \
    using type = __VA_ARGS__;            \
  };
#include "primitives/reduce.def"

#define BC_TEXT(...)                          \
  template <class T>                          \
  struct IdentityText<key(#__VA_ARGS__), T> { \
    template <class S>                        \
    BC_INLINE static S run() {                \
      return __VA_ARGS__;                     \
    }                                         \
  };
template <class T>
struct IdentityText<0, T> {
  template <class S>
  BC_INLINE static S run() {
    return S();
  }
};
BC_TEXT(S(0))
BC_TEXT(S(1))
BC_TEXT(var_empty<T>())
BC_TEXT(false)
BC_TEXT(true)
BC_TEXT(0)
BC_TEXT(T(-1))
BC_TEXT(T(0))
BC_TEXT(-limits<S>::inf())
#undef BC_TEXT

#define BC_TEXT(...)                                      \
  template <class T>                                      \
  struct MapText<key(#__VA_ARGS__), T> {                  \
    template <class S, class A>                           \
    BC_INLINE static S run(A a, [[maybe_unused]] i64 i) { \
      return __VA_ARGS__;                                 \
    }                                                     \
  };
BC_TEXT(cast<S>(a))
BC_TEXT(var_of(a))
BC_TEXT(a)
BC_TEXT(S{cast<acc_t<T>>(a), i})
BC_TEXT(cast<bool>(a))
BC_TEXT(i64(cast<bool>(a)))
#undef BC_TEXT

#define BC_TEXT(...)                                 \
  template <class T>                                 \
  struct JoinText<key(#__VA_ARGS__), T> {            \
    template <class S>                               \
    BC_INLINE static S run(const S& p, const S& q) { \
      return __VA_ARGS__;                            \
    }                                                \
  };
BC_TEXT(add(p, q))
BC_TEXT(multiply(p, q))
BC_TEXT(var_join(p, q))
BC_TEXT(maximum(p, q))
BC_TEXT(minimum(p, q))
BC_TEXT(fmax(p, q))
BC_TEXT(fmin(p, q))
BC_TEXT(argmax_join(p, q))
BC_TEXT(argmin_join(p, q))
BC_TEXT((p | q))
BC_TEXT((p & q))
BC_TEXT(p + q)
// clang-format off: it would format this as a reference
BC_TEXT(T(p & q))
// clang-format on
BC_TEXT(T(p | q))
BC_TEXT(T(p ^ q))
BC_TEXT((p != q))
BC_TEXT(gcd(p, q))
BC_TEXT(lcm(p, q))
BC_TEXT(hypot(p, q))
BC_TEXT(logaddexp(p, q))
BC_TEXT(logaddexp2(p, q))
#undef BC_TEXT

#define BC_TEXT(...)                                                                              \
  template <class T>                                                                              \
  struct FinishText<key(#__VA_ARGS__), T> {                                                       \
    template <class R, class S>                                                                   \
    BC_INLINE static R run(const S& p, [[maybe_unused]] double n, [[maybe_unused]] double ddof) { \
      return __VA_ARGS__;                                                                         \
    }                                                                                             \
  };
BC_TEXT(p)
BC_TEXT(gcd(p, T(0)))
BC_TEXT(cast<R>(p))
BC_TEXT(cast<R>(add(p, S(0))))
BC_TEXT(cast<R>(mean_of(add(p, S(0)), n)))
BC_TEXT(cast<R>(var_finish(p, ddof)))
BC_TEXT(cast<R>(sqrt(var_finish(p, ddof))))
BC_TEXT(p.index)
#undef BC_TEXT

enum class Accumulate { same, widen, mean };
enum class Extreme { lowest = -1, none = 0, highest = 1 };

template <ReduceRow row>
struct ReduceCode;
#define BC_REDUCE(name, set, acc, result, state, extreme, identity, map, join, finish, ...)                    \
  template <>                                                                                                  \
  struct ReduceCode<ReduceRow::name> {                                                                         \
    /* Means run in floating point whatever is asked for. */                                                   \
    static constexpr u32 kSet = (set) & (Accumulate::acc == Accumulate::mean ? FLOATS : kTypeBits);            \
    static constexpr Result kResult = Result::result;                                                          \
    static constexpr ReduceState kState = ReduceState::state;                                                  \
    static constexpr int kExtreme = static_cast<int>(Extreme::extreme);                                        \
    static constexpr u64 kIdentity = key(identity), kMap = key(map), kJoin = key(join), kFinish = key(finish); \
  };
#include "primitives/reduce.def"

/// The struct that the device library's reductions need, as reduction_struct() prints it for a compiled kernel.
template <ReduceRow row, class Element>
struct Red {
  using C = ReduceCode<row>;
  using T = Element;
  using S = typename StateOf<C::kState, T>::type;
  using R = typename result_t<C::kResult, T>::type;
  static constexpr int kExtreme = C::kExtreme;
  static constexpr bool kAdds = row == ReduceRow::sum || row == ReduceRow::mean;
  /// A is T, or float as a wider form of T.
  template <class A>
  BC_METHOD S map(A a, i64 i) {
    return MapText<C::kMap, T>::template run<S, A>(a, i);
  }
  BC_METHOD S join(const S& p, const S& q) { return JoinText<C::kJoin, T>::template run<S>(p, q); }
  BC_METHOD S init() { return IdentityText<C::kIdentity, T>::template run<S>(); }
  BC_METHOD R finish(const S& p, double n, double ddof) { return FinishText<C::kFinish, T>::template run<R, S>(p, n, ddof); }
};

template <class Red>
struct Loops {
  using T = typename Red::T;
  using S = typename Red::S;
  using R = typename Red::R;
  static_assert(sizeof(S) <= kMaxState);

  static void init(void* state) { *static_cast<S*>(state) = Red::init(); }
  static void block(const void* x, int64_t n, int64_t i0, void* state) {
    *static_cast<S*>(state) = block_state<Red>(static_cast<const T*>(x), n, i0);
  }
  static void row(const void* x, int64_t lo, int64_t hi, bool may_leave, void* state) {
    *static_cast<S*>(state) = row_state<Red>(static_cast<const T*>(x), lo, hi, may_leave);
  }
  static void products(const void* a, const void* b, int64_t n, void* state) {
    *static_cast<S*>(state) = row_products<Red>(static_cast<const T*>(a), static_cast<const T*>(b), n);
  }
  static bool decided(const void* state) { return bc::decided<Red>(*static_cast<const S*>(state)); }
  static constexpr bool kDecides = std::is_same_v<S, bool> || std::is_same_v<S, ArgState<bool>>;
  static void join(void* into_, const void* from_, int64_t n) {
    S* into = static_cast<S*>(into_);
    const S* from = static_cast<const S*>(from_);
    BC_VECTORIZE
    for (int64_t j = 0; j < n; ++j) into[j] = Red::join(into[j], from[j]);
  }
  static void fold(void* run_, const void* x_, int64_t stride, int64_t r, int64_t rows, int64_t n, bool start) {
    fold_columns<Red>(static_cast<S*>(run_), static_cast<const T*>(x_), stride, r, rows, n, start);
  }
  static void end(void* run, int64_t r, int64_t rows, int64_t n, void* top, bool first) {
    end_columns<Red>(static_cast<S*>(run), r, rows, n, static_cast<S*>(top), first);
  }
  static void finish(const void* state_, double count, double ddof, void* out_, int64_t n) {
    const S* state = static_cast<const S*>(state_);
    R* out = static_cast<R*>(out_);
    for (int64_t j = 0; j < n; ++j) out[j] = Red::finish(state[j], count, ddof);
  }
  static constexpr Reduction table() {
    return {static_cast<int>(sizeof(S)), init, block, row, nullptr, kDecides ? decided : nullptr, join, fold, end, finish};
  }
};

template <ReduceRow row, int D>
void put_reduction(ReductionRow* rows) {
  if constexpr (ReduceCode<row>::kSet >> D & 1) {
    using T = type_of<D>;
    Reduction& made = rows[static_cast<int>(row)][D] = Loops<Red<row, T>>::table();
    if constexpr (row == ReduceRow::sum && (is_same<T, float> || is_same<T, double>)) made.products = Loops<Red<row, T>>::products;
  }
}
template <ReduceRow row, int... D>
void put_reductions(ReductionRow* rows, std::integer_sequence<int, D...>) {
  (put_reduction<row, D>(rows), ...);
}
template <ReduceRow first, int... K>
void put_all(ReductionRow* rows, std::integer_sequence<int, K...>) {
  (put_reductions<static_cast<ReduceRow>(static_cast<int>(first) + K)>(rows, std::make_integer_sequence<int, kTypes>()), ...);
}
/// Builds rows first … last.
template <ReduceRow first, ReduceRow last>
void fill_reductions(ReductionRow* rows) {
  put_all<first>(rows, std::make_integer_sequence<int, static_cast<int>(last) - static_cast<int>(first) + 1>());
}

}  // namespace
}  // namespace bc::tier0
