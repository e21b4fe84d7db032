// datetime64 and timedelta64: int64 ticks of a unit that the compiler knows. NaT, "not a time", is the smallest int64.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// Ticks since 1970, or of a difference.
template <bool date>
struct Time {
  i64 t;
  // As keys and in lists.
  BC_INLINE u64 hash() const { return static_cast<u64>(t); }
  BC_INLINE bool equals(Time o) const { return *this == o; }
  BC_INLINE bool less(Time o) const { return *this < o; }
  template <class Writer>
  void write_to(Writer& w) const {
    write(w, t);  // of a key that is missing
  }
};
using Date = Time<true>;
using Delta = Time<false>;

constexpr i64 kNaT = static_cast<i64>(u64{1} << 63);

template <class T>
inline constexpr bool is_time = false;
template <bool date>
inline constexpr bool is_time<Time<date>> = true;

// ---- Comparison: NaT is unequal to all, and neither before nor after anything.

template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator==(T a, T b) {
  return (a.t == b.t) & (a.t != kNaT);
}
template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator!=(T a, T b) {
  return !(a == b);
}
template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator<(T a, T b) {
  return (a.t < b.t) & (a.t != kNaT);
}
template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator>(T a, T b) {
  return b < a;
}
template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator<=(T a, T b) {
  return (a.t <= b.t) & (a.t != kNaT);
}
template <class T, enable_if<is_time<T>> = 0>
BC_INLINE bool operator>=(T a, T b) {
  return b <= a;
}
template <class T>
BC_INLINE bool is_nat(T a) {
  return a.t == kNaT;
}

// ---- Units

BC_FN i64 floor_of(i64 a, i64 b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0
BC_FN i64 wrapped_add(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }
BC_FN i64 wrapped_product(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b)); }

/// Ticks of another unit, rounded down: `numerator / denominator` of it make one of the old.
template <i64 numerator, i64 denominator, class T>
BC_INLINE T in_unit(T a) {
  return a.t == kNaT ? a : T{floor_of(wrapped_product(a.t, numerator), denominator)};
}

/// Days since 1970 of months since 1970, and back, in the proleptic Gregorian calendar, by years that begin in March (Hinnant,
/// "chrono-Compatible Low-Level Date Algorithms", 2013).
BC_FN i64 days_of_months(i64 months) {
  const i64 shifted = months + (1970 * 12 - 2), year = floor_of(shifted, 12), month = shifted - year * 12;
  return year * 365 + floor_of(year, 4) - floor_of(year, 100) + floor_of(year, 400) + (month * 153 + 2) / 5 - 719468;
}
BC_FN i64 months_of_days(i64 days) {
  const i64 z = days + 719468, era = floor_of(z, 146097), of_era = z - era * 146097;
  const i64 year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const i64 of_year = of_era - (year * 365 + year / 4 - year / 100);
  return (year + era * 400) * 12 + (of_year * 5 + 2) / 153 - (1970 * 12 - 2);
}

/// A date that counts months, or years of 12, in another unit: `numerator / denominator` of it make a day.
template <i64 months, i64 numerator, i64 denominator>
BC_INLINE Date from_calendar(Date a) {
  return a.t == kNaT ? a : Date{floor_of(wrapped_product(days_of_months(a.t * months), numerator), denominator)};
}
/// A date in months or years of which `numerator / denominator` days make one tick of the old unit.
template <i64 numerator, i64 denominator, i64 months>
BC_INLINE Date to_calendar(Date a) {
  return a.t == kNaT ? a : Date{floor_of(months_of_days(floor_of(wrapped_product(a.t, numerator), denominator)), months)};
}

// ---- Arithmetic of operands in one unit: NaT where an operand is NaT.

/// Without a branch, so that loops are vectorised.
template <class A, class B>
BC_INLINE bool nat_of_either(A a, B b) {
  return (a.t == kNaT) | (b.t == kNaT);
}
template <class R, class A, class B>
BC_INLINE R time_sum(A a, B b) {
  return {nat_of_either(a, b) ? kNaT : wrapped_add(a.t, b.t)};
}
template <class R, class A, class B>
BC_INLINE R time_difference(A a, B b) {
  return {nat_of_either(a, b) ? kNaT : static_cast<i64>(static_cast<u64>(a.t) - static_cast<u64>(b.t))};
}
BC_FN Delta time_product(Delta a, i64 n) { return {a.t == kNaT ? kNaT : wrapped_product(a.t, n)}; }
/// Truncated to whole ticks; NaN becomes NaT.
BC_FN Delta whole_ticks(bool nat, double ticks) {
  return {nat || !(ticks >= -9223372036854775808.0 && ticks < 9223372036854775808.0) ? kNaT : static_cast<i64>(ticks)};
}
BC_FN Delta time_product(Delta a, double factor) { return whole_ticks(a.t == kNaT, static_cast<double>(a.t) * factor); }
BC_FN Delta time_quotient(Delta a, double divisor) { return whole_ticks(a.t == kNaT, static_cast<double>(a.t) / divisor); }
/// Rounded towards zero; NaT where the divisor is 0.
BC_FN Delta time_quotient(Delta a, i64 n) { return {a.t == kNaT || n == 0 ? kNaT : n == -1 ? -a.t : a.t / n}; }
BC_FN double time_ratio(Delta a, Delta b) {
  return nat_of_either(a, b) ? limits<double>::nan() : static_cast<double>(a.t) / static_cast<double>(b.t);
}
BC_FN i64 time_floor_ratio(Delta a, Delta b) { return a.t == kNaT || b.t == kNaT || b.t == 0 ? 0 : bc::floor_divide(a.t, b.t); }
BC_FN Delta time_remainder(Delta a, Delta b) { return {a.t == kNaT || b.t == kNaT || b.t == 0 ? kNaT : bc::remainder(a.t, b.t)}; }
BC_FN Delta time_negative(Delta a) { return {static_cast<i64>(u64{0} - static_cast<u64>(a.t))}; }
BC_FN Delta time_size(Delta a) { return a.t < 0 ? time_negative(a) : a; }
BC_FN Delta time_sign(Delta a) { return {(a.t > 0 ? 1 : 0) - (a.t < 0 ? 1 : 0)}; }  // -1 of NaT, as NumPy's

/// minimum and maximum give NaT where an operand is NaT; fmin and fmax the other operand.
template <class T>
BC_INLINE T earlier(T a, T b) {
  return a.t < b.t ? a : b;
}
template <class T>
BC_INLINE T later(T a, T b) {
  return a.t == kNaT ? a : b.t == kNaT || a.t < b.t ? b : a;
}
template <class T>
BC_INLINE T earlier_known(T a, T b) {
  return a.t == kNaT ? b : b.t == kNaT || a.t < b.t ? a : b;
}
template <class T>
BC_INLINE T later_known(T a, T b) {
  return a.t < b.t ? b : a;
}

}  // namespace py
}  // namespace bc
