// States of reductions and their merges. A merge is associative up to rounding; the order is fixed by the kernel, never by atomics.
#pragma once
#include "special.h"

namespace bc {

/// The index of an extreme: its first occurrence, or the first NaN if there is one. A negative index means "no element yet".
template <class T>
struct ArgState {
  T value;
  i64 index;
};
template <class T>
BC_INLINE bool same_rank(T a, T b) {
  return a == b || (isnan(a) && isnan(b));
}
template <class T>
BC_INLINE ArgState<T> pick(ArgState<T> a, ArgState<T> b, bool b_beats_a, bool tie) {
  bool take = b.index >= 0 && (a.index < 0 || b_beats_a || (tie && b.index < a.index));
  return {take ? b.value : a.value, take ? b.index : a.index};
}
template <class T>
BC_INLINE ArgState<T> argmax_join(ArgState<T> a, ArgState<T> b) {
  bool beats = !isnan(a.value) && (isnan(b.value) || b.value > a.value);
  return pick(a, b, beats, same_rank(a.value, b.value));
}
template <class T>
BC_INLINE ArgState<T> argmin_join(ArgState<T> a, ArgState<T> b) {
  bool beats = !isnan(a.value) && (isnan(b.value) || b.value < a.value);
  return pick(a, b, beats, same_rank(a.value, b.value));
}

// Chan, Golub & LeVeque (1979): merges (n, mean, M2) of two parts, so that sum, mean and std read the input once. Always in double.
template <class M>
struct VarState {  // M: double or complex<double>
  double n;
  M mean;
  double m2;  // sum of |x - mean|^2
};
template <class T>
using var_state = VarState<conditional<is_complex<T>, complex128, double>>;

BC_FN double squared_size(double x) { return x * x; }
BC_FN double squared_size(complex128 z) { return z.re * z.re + z.im * z.im; }

template <class T>
BC_INLINE var_state<T> var_empty() {
  return {0.0, cast<decltype(var_state<T>::mean)>(0.0), 0.0};
}
template <class T>
BC_INLINE var_state<T> var_of(T x) {
  const auto mean = cast<decltype(var_state<T>::mean)>(x);
  return {1.0, mean, squared_size(mean - mean)};  // of an infinity NaN, as NumPy's
}
/// Of a block of n values of which the sum and the sum of squares about `shift` are known (shift: any value near the mean).
BC_FN VarState<double> var_of_block(double n, double shift, double sum, double squares) {
  double d = sum / n;
  return {n, shift + d, squares - d * sum};
}
template <class M>
BC_INLINE VarState<M> var_join(VarState<M> a, VarState<M> b) {
  double n = a.n + b.n, share = n > 0 ? b.n / n : 0.0;
  M d = b.mean - a.mean;
  VarState<M> r = {n, a.mean + d * share, a.m2 + b.m2 + squared_size(d) * a.n * share};
  // The mean of an empty part is meaningless and must not be used.
  return a.n == 0 ? b : (b.n == 0 ? a : r);
}
template <class M>
BC_INLINE M var_sum(VarState<M> s) {
  return s.mean * s.n;
}
template <class M>
BC_INLINE M var_mean(VarState<M> s) {
  return s.n > 0 ? s.mean : s.mean * limits<double>::nan();
}
/// The variance with divisor n - ddof; NaN for no elements (0 / 0).
template <class M>
BC_INLINE double var_finish(VarState<M> s, double ddof) {
  double freedom = s.n - ddof;
  return s.m2 / (freedom > 0 ? freedom : 0.0);
}

}  // namespace bc
