// The part of the C++ library that kernels use.
#pragma once

namespace std {
// clang-format off
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
using ::size_t; using ::ptrdiff_t; using ::nullptr_t;
using ::printf; using ::malloc; using ::free; using ::memcpy; using ::memmove; using ::memset; using ::memcmp; using ::strlen;
using ::abs; using ::fabs; using ::fabsf; using ::sqrt; using ::sqrtf; using ::cbrt; using ::hypot; using ::exp; using ::expf;
using ::exp2; using ::expm1; using ::log; using ::logf; using ::log2; using ::log10; using ::log1p; using ::pow; using ::powf;
using ::sin; using ::sinf; using ::cos; using ::cosf; using ::tan; using ::tanf; using ::asin; using ::acos; using ::atan; using ::atan2;
using ::sinh; using ::cosh; using ::tanh; using ::tanhf; using ::asinh; using ::acosh; using ::atanh; using ::erf; using ::erfc;
using ::tgamma; using ::lgamma; using ::floor; using ::floorf; using ::ceil; using ::ceilf; using ::trunc; using ::round; using ::rint;
using ::nearbyint; using ::lround; using ::llround; using ::fmod; using ::fmodf; using ::remainder; using ::copysign; using ::nextafter;
using ::fma; using ::fmaf; using ::fmax; using ::fmaxf; using ::fmin; using ::fminf; using ::fdim; using ::ldexp; using ::frexp;
using ::modf; using ::scalbn; using ::ilogb; using ::logb; using ::isnan; using ::isinf; using ::isfinite; using ::signbit;
// clang-format on

template <class T, T V>
struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return V; }
  constexpr T operator()() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;
template <class T> struct type_identity {
  using type = T;
};
template <class T> struct remove_const : type_identity<T> {};
template <class T> struct remove_const<const T> : type_identity<T> {};
template <class T> struct remove_volatile : type_identity<T> {};
template <class T> struct remove_volatile<volatile T> : type_identity<T> {};
template <class T> struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <class T> struct remove_reference : type_identity<T> {};
template <class T> struct remove_reference<T&> : type_identity<T> {};
template <class T> struct remove_reference<T&&> : type_identity<T> {};
template <class T> struct remove_pointer : type_identity<T> {};
template <class T> struct remove_pointer<T*> : type_identity<T> {};
template <class T> struct remove_pointer<T* const> : type_identity<T> {};
template <class T> struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <class T> struct decay : type_identity<__decay(T)> {};
template <class T> struct add_pointer : type_identity<typename remove_reference<T>::type*> {};
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> using decay_t = typename decay<T>::type;
template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> : type_identity<T> {};
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional : type_identity<T> {};
template <class T, class F> struct conditional<false, T, F> : type_identity<F> {};
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class...> using void_t = void;
template <class A, class B> inline constexpr bool is_same_v = __is_same(A, B);
template <class T> inline constexpr bool is_integral_v = __is_integral(T);
template <class T> inline constexpr bool is_floating_point_v = __is_floating_point(T);
template <class T> inline constexpr bool is_arithmetic_v = __is_arithmetic(T);
template <class T> inline constexpr bool is_signed_v = __is_signed(T);
template <class T> inline constexpr bool is_unsigned_v = __is_unsigned(T);
template <class T> inline constexpr bool is_pointer_v = __is_pointer(T);
template <class T> inline constexpr bool is_void_v = __is_void(T);
template <class T> inline constexpr bool is_enum_v = __is_enum(T);
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class A, class B> inline constexpr bool is_convertible_v = __is_convertible_to(A, B);
template <class B, class D> inline constexpr bool is_base_of_v = __is_base_of(B, D);
#define __BC_TRAIT(name) \
  template <class T> struct name : bool_constant<name##_v<T>> {};
// clang-format off
__BC_TRAIT(is_integral) __BC_TRAIT(is_floating_point) __BC_TRAIT(is_arithmetic) __BC_TRAIT(is_signed) __BC_TRAIT(is_unsigned)
__BC_TRAIT(is_pointer) __BC_TRAIT(is_void) __BC_TRAIT(is_enum) __BC_TRAIT(is_trivially_copyable)
// clang-format on
#undef __BC_TRAIT
template <class A, class B> struct is_same : bool_constant<__is_same(A, B)> {};
template <class A, class B> struct is_convertible : bool_constant<__is_convertible_to(A, B)> {};
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class T> struct make_unsigned : type_identity<__make_unsigned(T)> {};
template <class T> struct make_signed : type_identity<__make_signed(T)> {};
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> T&& declval() noexcept;
template <class T> BC_INLINE constexpr remove_reference_t<T>&& move(T&& x) noexcept { return static_cast<remove_reference_t<T>&&>(x); }
template <class T> BC_INLINE constexpr T&& forward(remove_reference_t<T>& x) noexcept { return static_cast<T&&>(x); }
template <class T> BC_INLINE constexpr T&& forward(remove_reference_t<T>&& x) noexcept { return static_cast<T&&>(x); }
template <class T> BC_INLINE constexpr void swap(T& a, T& b) {
  T c = move(a);
  a = move(b);
  b = move(c);
}
template <class T> BC_INLINE constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> BC_INLINE constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> BC_INLINE constexpr const T& clamp(const T& x, const T& lo, const T& hi) { return x < lo ? lo : (hi < x ? hi : x); }

template <class A, class B>
struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;
  constexpr pair() = default;
  BC_INLINE constexpr pair(const A& a, const B& b) : first(a), second(b) {}
  template <class C, class D>
  requires(__is_constructible(A, C) && __is_constructible(B, D))
  BC_INLINE constexpr pair(C&& c, D&& d) : first(static_cast<A>(static_cast<C&&>(c))), second(static_cast<B>(static_cast<D&&>(d))) {}
  template <class C, class D>
  requires(!__is_same(C, A) || !__is_same(D, B))
  BC_INLINE constexpr pair(const pair<C, D>& p) : first(p.first), second(p.second) {}
  BC_INLINE constexpr void swap(pair& b) {
    pair c = *this;
    *this = b;
    b = c;
  }
};
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class A, class B> BC_INLINE constexpr bool operator==(const pair<A, B>& a, const pair<A, B>& b) {
  return a.first == b.first && a.second == b.second;
}
template <class A, class B> BC_INLINE constexpr bool operator<(const pair<A, B>& a, const pair<A, B>& b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <class A, class B> BC_INLINE constexpr bool operator>(const pair<A, B>& a, const pair<A, B>& b) { return b < a; }
template <class A, class B> BC_INLINE constexpr bool operator<=(const pair<A, B>& a, const pair<A, B>& b) { return !(b < a); }
template <class A, class B> BC_INLINE constexpr bool operator>=(const pair<A, B>& a, const pair<A, B>& b) { return !(a < b); }
template <class A, class B> BC_INLINE constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) { return {a, b}; }
template <class T, size_t N>
struct array {
  T items[N == 0 ? 1 : N];
  BC_INLINE constexpr T& operator[](size_t i) { return items[i]; }
  BC_INLINE constexpr const T& operator[](size_t i) const { return items[i]; }
  BC_INLINE constexpr T* data() { return items; }
  BC_INLINE constexpr const T* data() const { return items; }
  BC_INLINE constexpr T* begin() { return items; }
  BC_INLINE constexpr T* end() { return items + N; }
  BC_INLINE constexpr const T* begin() const { return items; }
  BC_INLINE constexpr const T* end() const { return items + N; }
  BC_INLINE static constexpr size_t size() { return N; }
  BC_INLINE static constexpr size_t max_size() { return N; }
  BC_INLINE static constexpr bool empty() { return N == 0; }
  BC_INLINE constexpr T& at(size_t i) { return items[i]; }
  BC_INLINE constexpr const T& at(size_t i) const { return items[i]; }
  BC_INLINE constexpr T& front() { return items[0]; }
  BC_INLINE constexpr const T& front() const { return items[0]; }
  BC_INLINE constexpr T& back() { return items[N - 1]; }
  BC_INLINE constexpr const T& back() const { return items[N - 1]; }
  BC_INLINE constexpr void fill(const T& v) {
    for (size_t i = 0; i < N; ++i) items[i] = v;
  }
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  using size_type = size_t;
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <class T, size_t N> BC_INLINE constexpr bool operator==(const array<T, N>& a, const array<T, N>& b) {
  for (size_t i = 0; i < N; ++i)
    if (!(a.items[i] == b.items[i])) return false;
  return true;
}
template <class T = void>
struct plus {
  BC_INLINE constexpr T operator()(const T& a, const T& b) const { return a + b; }
};
template <>
struct plus<void> {
  template <class A, class B> BC_INLINE constexpr auto operator()(const A& a, const B& b) const { return a + b; }
};

template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = __is_arithmetic(T), is_integer = __is_integral(T), is_signed = T(-1) < T(0);
  static constexpr bool has_infinity = false, has_quiet_NaN = false;
  static constexpr bool is_exact = is_integer, is_bounded = true, is_modulo = is_integer && !is_signed, is_iec559 = false,
                        has_signaling_NaN = false;
  static constexpr int digits = static_cast<int>(8 * sizeof(T)) - (is_signed ? 1 : 0), digits10 = digits * 3 / 10, radix = 2;
  BC_INLINE static constexpr T infinity() { return T(0); }
  BC_INLINE static constexpr T quiet_NaN() { return T(0); }
  BC_INLINE static constexpr T denorm_min() { return T(0); }
  BC_INLINE static constexpr T max() { return bc::limits<T>::max(); }
  BC_INLINE static constexpr T min() { return bc::limits<T>::lowest(); }
  BC_INLINE static constexpr T lowest() { return bc::limits<T>::lowest(); }
  BC_INLINE static constexpr T epsilon() { return T(0); }
};
#define __BC_LIMITS(T, bits)                                                                                                  \
  template <>                                                                                                                 \
  struct numeric_limits<T> {                                                                                                  \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true;                                        \
    static constexpr bool has_infinity = true, has_quiet_NaN = true;                                                          \
    static constexpr bool is_exact = false, is_bounded = true, is_modulo = false, is_iec559 = true, has_signaling_NaN = true; \
    static constexpr int digits = bits, digits10 = bits == 24 ? 6 : 15, max_digits10 = bits == 24 ? 9 : 17, radix = 2;        \
    static constexpr int max_exponent = bits == 24 ? 128 : 1024, min_exponent = bits == 24 ? -125 : -1021;                    \
    BC_INLINE static constexpr T denorm_min() { return bits == 24 ? static_cast<T>(0x1p-149) : static_cast<T>(0x1p-1074); }   \
    BC_INLINE static constexpr T round_error() { return T(0.5); }                                                             \
    BC_INLINE static constexpr T signaling_NaN() { return bc::limits<T>::nan(); }                                             \
    BC_INLINE static constexpr T max() { return bc::limits<T>::max(); }                                                       \
    BC_INLINE static constexpr T min() { return bc::limits<T>::min(); }                                                       \
    BC_INLINE static constexpr T lowest() { return bc::limits<T>::lowest(); }                                                 \
    BC_INLINE static constexpr T epsilon() { return bc::limits<T>::epsilon(); }                                               \
    BC_INLINE static constexpr T infinity() { return bc::limits<T>::inf(); }                                                  \
    BC_INLINE static constexpr T quiet_NaN() { return bc::limits<T>::nan(); }                                                 \
  };
__BC_LIMITS(float, 24)
__BC_LIMITS(double, 53)
#undef __BC_LIMITS
}  // namespace std

namespace cuda {
namespace std {
using namespace ::std;
}
}  // namespace cuda
