// More of the C++ library, as <cuda/std/…> has it for kernels: tuples, functions as values, spans, options, algorithms, complex numbers.
#pragma once

namespace std {

// ---- traits
template <bool B> using __bc_bool = bool_constant<B>;
template <class T> struct add_const : type_identity<const T> {};
template <class T> struct add_volatile : type_identity<volatile T> {};
template <class T> struct add_cv : type_identity<const volatile T> {};
template <class T> struct add_lvalue_reference : type_identity<__add_lvalue_reference(T)> {};
template <class T> struct add_rvalue_reference : type_identity<__add_rvalue_reference(T)> {};
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> using add_lvalue_reference_t = __add_lvalue_reference(T);
template <class T> using add_rvalue_reference_t = __add_rvalue_reference(T);
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using type_identity_t = T;
template <class T> struct remove_extent : type_identity<__remove_extent(T)> {};
template <class T> struct remove_all_extents : type_identity<__remove_all_extents(T)> {};
template <class T> using remove_extent_t = __remove_extent(T);
template <class T> struct underlying_type : type_identity<__underlying_type(T)> {};
template <class T> using underlying_type_t = __underlying_type(T);
#define __BC_TRAIT(name, test)                              \
  template <class T> inline constexpr bool name##_v = test; \
  template <class T> struct name : __bc_bool<test> {};
// clang-format off
__BC_TRAIT(is_reference, __is_reference(T)) __BC_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
__BC_TRAIT(is_rvalue_reference, __is_rvalue_reference(T)) __BC_TRAIT(is_const, __is_const(T)) __BC_TRAIT(is_volatile, __is_volatile(T))
__BC_TRAIT(is_array, __is_array(T)) __BC_TRAIT(is_class, __is_class(T)) __BC_TRAIT(is_union, __is_union(T)) __BC_TRAIT(is_empty, __is_empty(T))
__BC_TRAIT(is_function, __is_function(T)) __BC_TRAIT(is_object, __is_object(T)) __BC_TRAIT(is_scalar, __is_scalar(T))
__BC_TRAIT(is_fundamental, __is_fundamental(T)) __BC_TRAIT(is_compound, __is_compound(T)) __BC_TRAIT(is_final, __is_final(T))
__BC_TRAIT(is_trivial, __is_trivial(T)) __BC_TRAIT(is_pod, __is_pod(T)) __BC_TRAIT(is_standard_layout, __is_standard_layout(T))
__BC_TRAIT(is_polymorphic, __is_polymorphic(T)) __BC_TRAIT(is_aggregate, __is_aggregate(T)) __BC_TRAIT(is_abstract, __is_abstract(T))
__BC_TRAIT(is_default_constructible, __is_constructible(T)) __BC_TRAIT(is_copy_constructible, __is_constructible(T, const T&))
__BC_TRAIT(is_move_constructible, __is_constructible(T, T&&)) __BC_TRAIT(is_trivially_destructible, __is_trivially_destructible(T))
__BC_TRAIT(is_trivially_default_constructible, __is_trivially_constructible(T)) __BC_TRAIT(is_destructible, __is_destructible(T))
// clang-format on
#undef __BC_TRAIT
template <class T> struct is_null_pointer : is_same<remove_cv_t<T>, nullptr_t> {};
template <class T, class... A> struct is_constructible : __bc_bool<__is_constructible(T, A...)> {};
template <class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class A, class B> struct is_assignable : __bc_bool<__is_assignable(A, B)> {};
template <class A, class B> inline constexpr bool is_assignable_v = __is_assignable(A, B);
template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T, unsigned I = 0> struct extent : integral_constant<size_t, __array_extent(T, I)> {};
template <class T> inline constexpr size_t rank_v = __array_rank(T);
template <class T, unsigned I = 0> inline constexpr size_t extent_v = __array_extent(T, I);
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class... B> struct conjunction : __bc_bool<(B::value && ...)> {};
template <class... B> struct disjunction : __bc_bool<(B::value || ...)> {};
template <class B> struct negation : __bc_bool<!B::value> {};
template <class... B> inline constexpr bool conjunction_v = (B::value && ...);
template <class... B> inline constexpr bool disjunction_v = (B::value || ...);
template <class B> inline constexpr bool negation_v = !B::value;
template <class F, class... A> struct invoke_result {};
template <class F, class... A> requires requires { declval<F>()(declval<A>()...); }
struct invoke_result<F, A...> : type_identity<decltype(declval<F>()(declval<A>()...))> {};
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class F, class... A> inline constexpr bool is_invocable_v = requires { declval<F>()(declval<A>()...); };
template <class F, class... A> struct is_invocable : __bc_bool<is_invocable_v<F, A...>> {};
template <class... T> struct common_type;
template <class T> struct common_type<T> : type_identity<decay_t<T>> {};
template <class A, class B> struct common_type<A, B> : type_identity<decay_t<decltype(false ? declval<A>() : declval<B>())>> {};
template <class A, class B, class... C> struct common_type<A, B, C...> : common_type<typename common_type<A, B>::type, C...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <size_t Bytes, size_t Align = 16> struct aligned_storage {
  struct type {
    alignas(Align) unsigned char bytes[Bytes];
  };
};
template <size_t Bytes, size_t Align = 16> using aligned_storage_t = typename aligned_storage<Bytes, Align>::type;
BC_INLINE constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

// ---- utility
template <class T, T... I>
struct integer_sequence {
  using value_type = T;
  BC_INLINE static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;
template <class T, class U = T> BC_INLINE constexpr T exchange(T& to, U&& value) {
  T old = move(to);
  to = forward<U>(value);
  return old;
}
template <class T> BC_INLINE constexpr const T& as_const(T& x) { return x; }
template <class T> BC_INLINE constexpr T* addressof(T& x) { return __builtin_addressof(x); }
template <class T, size_t N> BC_INLINE constexpr size_t size(const T (&)[N]) { return N; }
template <class C> BC_INLINE constexpr auto size(const C& c) -> decltype(c.size()) { return c.size(); }
template <class T, size_t N> BC_INLINE constexpr T* begin(T (&a)[N]) { return a; }
template <class T, size_t N> BC_INLINE constexpr T* end(T (&a)[N]) { return a + N; }
template <class C> BC_INLINE constexpr auto begin(C& c) -> decltype(c.begin()) { return c.begin(); }
template <class C> BC_INLINE constexpr auto end(C& c) -> decltype(c.end()) { return c.end(); }
template <class C> BC_INLINE constexpr auto data(C& c) -> decltype(c.data()) { return c.data(); }
struct piecewise_construct_t {};
struct in_place_t {};
inline constexpr in_place_t in_place{};
template <class T> struct tuple_size;
template <size_t I, class T> struct tuple_element;
template <class T> struct tuple_size<const T> : tuple_size<T> {};
template <size_t I, class T> struct tuple_element<I, const T> {
  using type = const typename tuple_element<I, T>::type;
};
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, class T> using tuple_element_t = typename tuple_element<I, T>::type;

// ---- tuple
template <size_t I, class T>
struct __bc_leaf {
  T value;
};
template <class Indices, class... T> struct __bc_leaves;
template <size_t... I, class... T>
struct __bc_leaves<index_sequence<I...>, T...> : __bc_leaf<I, T>... {
  constexpr __bc_leaves() = default;
  template <class... U> requires(sizeof...(U) == sizeof...(T))
  BC_INLINE constexpr explicit __bc_leaves(int, U&&... v) : __bc_leaf<I, T>{static_cast<T>(forward<U>(v))}... {}
};
template <size_t I, class T> BC_INLINE constexpr T& __bc_at(__bc_leaf<I, T>& leaf) { return leaf.value; }
template <size_t I, class T> BC_INLINE constexpr const T& __bc_at(const __bc_leaf<I, T>& leaf) { return leaf.value; }
template <class... T>
struct tuple : __bc_leaves<index_sequence_for<T...>, T...> {
  using __bc_base = __bc_leaves<index_sequence_for<T...>, T...>;
  constexpr tuple() = default;
  template <class... U> requires(sizeof...(U) == sizeof...(T) && sizeof...(T) != 0 && (__is_constructible(T, U) && ...))
  BC_INLINE constexpr tuple(U&&... v) : __bc_base(0, forward<U>(v)...) {}
  template <class... U> requires(sizeof...(U) == sizeof...(T) && !__is_same(tuple<U...>, tuple))
  BC_INLINE constexpr tuple(const tuple<U...>& from) : tuple(from, index_sequence_for<T...>()) {}
  template <class... U> requires(sizeof...(U) == sizeof...(T))
  BC_INLINE constexpr tuple& operator=(const tuple<U...>& from) {
    assign(from, index_sequence_for<T...>());
    return *this;
  }
  template <class A, class B> requires(sizeof...(T) == 2)
  BC_INLINE constexpr tuple& operator=(const pair<A, B>& from) {
    __bc_at<0>(*this) = from.first;
    __bc_at<1>(*this) = from.second;
    return *this;
  }
  BC_INLINE constexpr void swap(tuple& b) {
    tuple c = *this;
    *this = b;
    b = c;
  }

 private:
  template <class... U, size_t... I> BC_INLINE constexpr tuple(const tuple<U...>& from, index_sequence<I...>)
      : __bc_base(0, __bc_at<I>(from)...) {}
  template <class... U, size_t... I> BC_INLINE constexpr void assign(const tuple<U...>& from, index_sequence<I...>) {
    ((__bc_at<I>(*this) = __bc_at<I>(from)), ...);
  }
};
template <> struct tuple<> {};
template <class... T> tuple(T...) -> tuple<T...>;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <size_t I, class... T> struct tuple_element<I, tuple<T...>> {
  using type = __type_pack_element<I, T...>;
};
template <size_t I, class... T> BC_INLINE constexpr __type_pack_element<I, T...>& get(tuple<T...>& t) { return __bc_at<I>(t); }
template <size_t I, class... T> BC_INLINE constexpr const __type_pack_element<I, T...>& get(const tuple<T...>& t) { return __bc_at<I>(t); }
template <size_t I, class... T> BC_INLINE constexpr __type_pack_element<I, T...>&& get(tuple<T...>&& t) {
  return static_cast<__type_pack_element<I, T...>&&>(__bc_at<I>(t));
}
template <class... T> BC_INLINE constexpr tuple<decay_t<T>...> make_tuple(T&&... v) { return tuple<decay_t<T>...>(forward<T>(v)...); }
template <class... T> BC_INLINE constexpr tuple<T&...> tie(T&... v) { return tuple<T&...>(v...); }
template <class... T> BC_INLINE constexpr tuple<T&&...> forward_as_tuple(T&&... v) { return tuple<T&&...>(forward<T>(v)...); }
struct __bc_ignore {
  template <class T> BC_INLINE constexpr const __bc_ignore& operator=(const T&) const { return *this; }
};
inline constexpr __bc_ignore ignore{};
template <class F, class Tuple, size_t... I> BC_INLINE constexpr decltype(auto) __bc_apply(F&& f, Tuple&& t, index_sequence<I...>) {
  return forward<F>(f)(get<I>(forward<Tuple>(t))...);
}
template <class F, class Tuple> BC_INLINE constexpr decltype(auto) apply(F&& f, Tuple&& t) {
  return __bc_apply(forward<F>(f), forward<Tuple>(t), make_index_sequence<tuple_size_v<remove_cvref_t<Tuple>>>());
}
template <class... A, class... B, size_t... I, size_t... J>
BC_INLINE constexpr tuple<A..., B...> __bc_join(const tuple<A...>& a, const tuple<B...>& b, index_sequence<I...>, index_sequence<J...>) {
  return tuple<A..., B...>(get<I>(a)..., get<J>(b)...);
}
template <class... A> BC_INLINE constexpr tuple<A...> tuple_cat(const tuple<A...>& a) { return a; }
template <class... A, class... B, class... More> BC_INLINE constexpr auto tuple_cat(const tuple<A...>& a, const tuple<B...>& b,
                                                                                    const More&... more) {
  return tuple_cat(__bc_join(a, b, index_sequence_for<A...>(), index_sequence_for<B...>()), more...);
}
template <class... A, class... B, size_t... I> BC_INLINE constexpr bool __bc_same(const tuple<A...>& a, const tuple<B...>& b,
                                                                                  index_sequence<I...>) {
  return ((get<I>(a) == get<I>(b)) && ...);
}
template <size_t I, class... A, class... B> BC_INLINE constexpr bool __bc_before(const tuple<A...>& a, const tuple<B...>& b) {
  if constexpr (I < sizeof...(A)) {
    if (get<I>(a) < get<I>(b)) return true;
    if (get<I>(b) < get<I>(a)) return false;
    return __bc_before<I + 1>(a, b);
  } else {
    return false;
  }
}
template <class... A, class... B> requires(sizeof...(A) == sizeof...(B))
BC_INLINE constexpr bool operator==(const tuple<A...>& a, const tuple<B...>& b) {
  return __bc_same(a, b, index_sequence_for<A...>());
}
template <class... A, class... B> BC_INLINE constexpr bool operator<(const tuple<A...>& a, const tuple<B...>& b) {
  return __bc_before<0>(a, b);
}
template <class... A, class... B> BC_INLINE constexpr bool operator>(const tuple<A...>& a, const tuple<B...>& b) { return b < a; }
template <class... A, class... B> BC_INLINE constexpr bool operator<=(const tuple<A...>& a, const tuple<B...>& b) { return !(b < a); }
template <class... A, class... B> BC_INLINE constexpr bool operator>=(const tuple<A...>& a, const tuple<B...>& b) { return !(a < b); }

template <class A, class B> struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <size_t I, class A, class B> struct tuple_element<I, pair<A, B>> : conditional<I == 0, A, B> {};
template <size_t I, class A, class B> BC_INLINE constexpr auto& get(pair<A, B>& p) {
  if constexpr (I == 0)
    return p.first;
  else
    return p.second;
}
template <size_t I, class A, class B> BC_INLINE constexpr const auto& get(const pair<A, B>& p) {
  if constexpr (I == 0)
    return p.first;
  else
    return p.second;
}
template <class T, size_t N> struct tuple_size<array<T, N>> : integral_constant<size_t, N> {};
template <size_t I, class T, size_t N> struct tuple_element<I, array<T, N>> : type_identity<T> {};
template <size_t I, class T, size_t N> BC_INLINE constexpr T& get(array<T, N>& a) { return a.items[I]; }
template <size_t I, class T, size_t N> BC_INLINE constexpr const T& get(const array<T, N>& a) { return a.items[I]; }

// ---- functions as values
#define __BC_FUNCTION(name, expression)                                                                                  \
  template <class T = void> struct name {                                                                                \
    using first_argument_type = T;                                                                                       \
    using second_argument_type = T;                                                                                      \
    BC_INLINE constexpr auto operator()(const T& a, const T& b) const { return expression; }                             \
  };                                                                                                                     \
  template <> struct name<void> {                                                                                        \
    template <class A, class B> BC_INLINE constexpr auto operator()(const A& a, const B& b) const { return expression; } \
  };
// clang-format off
__BC_FUNCTION(minus, a - b) __BC_FUNCTION(multiplies, a * b) __BC_FUNCTION(divides, a / b) __BC_FUNCTION(modulus, a % b)
__BC_FUNCTION(equal_to, a == b) __BC_FUNCTION(not_equal_to, a != b) __BC_FUNCTION(less, a < b) __BC_FUNCTION(greater, a > b)
__BC_FUNCTION(less_equal, a <= b) __BC_FUNCTION(greater_equal, a >= b) __BC_FUNCTION(logical_and, a && b) __BC_FUNCTION(logical_or, a || b)
__BC_FUNCTION(bit_and, a & b) __BC_FUNCTION(bit_or, a | b) __BC_FUNCTION(bit_xor, a ^ b)
// clang-format on
#undef __BC_FUNCTION
#define __BC_FUNCTION(name, expression)                                                             \
  template <class T = void> struct name {                                                           \
    BC_INLINE constexpr auto operator()(const T& a) const { return expression; }                    \
  };                                                                                                \
  template <> struct name<void> {                                                                   \
    template <class A> BC_INLINE constexpr auto operator()(const A& a) const { return expression; } \
  };
// clang-format off
__BC_FUNCTION(negate, -a) __BC_FUNCTION(logical_not, !a) __BC_FUNCTION(bit_not, ~a)
// clang-format on
#undef __BC_FUNCTION
struct identity {
  template <class T> BC_INLINE constexpr T&& operator()(T&& x) const { return static_cast<T&&>(x); }
};
template <class F, class... A> BC_INLINE constexpr decltype(auto) invoke(F&& f, A&&... a) { return forward<F>(f)(forward<A>(a)...); }
template <class T> struct reference_wrapper {
  T* at;
  BC_INLINE constexpr reference_wrapper(T& x) : at(&x) {}
  BC_INLINE constexpr operator T&() const { return *at; }
  BC_INLINE constexpr T& get() const { return *at; }
};
template <class T> BC_INLINE constexpr reference_wrapper<T> ref(T& x) { return x; }
template <class T> BC_INLINE constexpr reference_wrapper<const T> cref(const T& x) { return x; }

// ---- optional, span
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class T>
class optional {
 public:
  using value_type = T;
  BC_INLINE constexpr optional() : none_{}, has_(false) {}
  BC_INLINE constexpr optional(nullopt_t) : none_{}, has_(false) {}
  BC_INLINE constexpr optional(const T& v) : value_(v), has_(true) {}
  BC_INLINE constexpr explicit operator bool() const { return has_; }
  BC_INLINE constexpr bool has_value() const { return has_; }
  BC_INLINE constexpr T& operator*() { return value_; }
  BC_INLINE constexpr const T& operator*() const { return value_; }
  BC_INLINE constexpr T* operator->() { return &value_; }
  BC_INLINE constexpr const T* operator->() const { return &value_; }
  BC_INLINE constexpr const T& value() const {
    if (!has_) __bc_fail("value() of an empty optional", "", 0, "");
    return value_;
  }
  template <class U> BC_INLINE constexpr T value_or(U&& other) const { return has_ ? value_ : static_cast<T>(forward<U>(other)); }
  BC_INLINE constexpr void reset() { has_ = false; }
  template <class... A> BC_INLINE constexpr T& emplace(A&&... a) {
    value_ = T(forward<A>(a)...);
    has_ = true;
    return value_;
  }

 private:
  union {
    char none_;
    T value_;
  };
  bool has_;
};
inline constexpr size_t dynamic_extent = static_cast<size_t>(-1);
template <class T, size_t Extent = dynamic_extent>
class span {
 public:
  using element_type = T;
  using value_type = remove_cv_t<T>;
  using size_type = size_t;
  using iterator = T*;
  static constexpr size_t extent = Extent;
  BC_INLINE constexpr span() : data_(nullptr), size_(0) {}
  BC_INLINE constexpr span(T* data, size_t size) : data_(data), size_(size) {}
  BC_INLINE constexpr span(T* first, T* last) : data_(first), size_(static_cast<size_t>(last - first)) {}
  template <size_t N> BC_INLINE constexpr span(T (&a)[N]) : data_(a), size_(N) {}
  template <class U, size_t N> BC_INLINE constexpr span(array<U, N>& a) : data_(a.items), size_(N) {}
  template <class U, size_t N> BC_INLINE constexpr span(const array<U, N>& a) : data_(a.items), size_(N) {}
  template <class U, size_t N> BC_INLINE constexpr span(const span<U, N>& s) : data_(s.data()), size_(s.size()) {}
  BC_INLINE constexpr T* data() const { return data_; }
  BC_INLINE constexpr size_t size() const { return Extent == dynamic_extent ? size_ : Extent; }
  BC_INLINE constexpr size_t size_bytes() const { return size() * sizeof(T); }
  BC_INLINE constexpr bool empty() const { return size() == 0; }
  BC_INLINE constexpr T& operator[](size_t i) const { return data_[i]; }
  BC_INLINE constexpr T& front() const { return data_[0]; }
  BC_INLINE constexpr T& back() const { return data_[size() - 1]; }
  BC_INLINE constexpr T* begin() const { return data_; }
  BC_INLINE constexpr T* end() const { return data_ + size(); }
  BC_INLINE constexpr span<T> first(size_t n) const { return {data_, n}; }
  BC_INLINE constexpr span<T> last(size_t n) const { return {data_ + size() - n, n}; }
  BC_INLINE constexpr span<T> subspan(size_t at, size_t n = dynamic_extent) const {
    return {data_ + at, n == dynamic_extent ? size() - at : n};
  }

 private:
  T* data_;
  size_t size_;
};
template <class T> span(T*, size_t) -> span<T>;
template <class T, size_t N> span(T (&)[N]) -> span<T, N>;

// ---- bits
template <class To, class From> BC_INLINE constexpr To bit_cast(const From& x) { return __builtin_bit_cast(To, x); }
template <class T> BC_INLINE constexpr int popcount(T x) { return __builtin_popcountll(static_cast<unsigned long long>(x)); }
template <class T> BC_INLINE constexpr int countl_zero(T x) {
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  return x == 0 ? bits : __builtin_clzll(static_cast<unsigned long long>(x)) - (64 - bits);
}
template <class T> BC_INLINE constexpr int countr_zero(T x) {
  return x == 0 ? 8 * static_cast<int>(sizeof(T)) : __builtin_ctzll(static_cast<unsigned long long>(x));
}
template <class T> BC_INLINE constexpr int countl_one(T x) { return countl_zero(static_cast<T>(~x)); }
template <class T> BC_INLINE constexpr int countr_one(T x) { return countr_zero(static_cast<T>(~x)); }
template <class T> BC_INLINE constexpr bool has_single_bit(T x) { return x != 0 && (x & (x - 1)) == 0; }
template <class T> BC_INLINE constexpr int bit_width(T x) { return 8 * static_cast<int>(sizeof(T)) - countl_zero(x); }
template <class T> BC_INLINE constexpr T bit_floor(T x) { return x == 0 ? T(0) : static_cast<T>(T(1) << (bit_width(x) - 1)); }
template <class T> BC_INLINE constexpr T bit_ceil(T x) { return x <= 1 ? T(1) : static_cast<T>(T(1) << bit_width(static_cast<T>(x - 1))); }
template <class T> BC_INLINE constexpr T rotl(T x, int by) {
  constexpr unsigned bits = 8 * sizeof(T);
  const unsigned n = static_cast<unsigned>(by) % bits;
  return n == 0 ? x : static_cast<T>((x << n) | (x >> (bits - n)));
}
template <class T> BC_INLINE constexpr T rotr(T x, int by) { return rotl(x, -by); }

// ---- algorithms
template <class T, class F> BC_INLINE constexpr const T& min(const T& a, const T& b, F less) { return less(b, a) ? b : a; }
template <class T, class F> BC_INLINE constexpr const T& max(const T& a, const T& b, F less) { return less(a, b) ? b : a; }
template <class A, class B> BC_INLINE constexpr void iter_swap(A a, B b) { swap(*a, *b); }
template <class It, class F> BC_INLINE constexpr F for_each(It first, It last, F f) {
  for (; first != last; ++first) f(*first);
  return f;
}
template <class It, class T> BC_INLINE constexpr void fill(It first, It last, const T& v) {
  for (; first != last; ++first) *first = v;
}
template <class It, class N, class T> BC_INLINE constexpr It fill_n(It first, N n, const T& v) {
  for (N i = 0; i < n; ++i, ++first) *first = v;
  return first;
}
template <class It, class Out> BC_INLINE constexpr Out copy(It first, It last, Out out) {
  for (; first != last; ++first, ++out) *out = *first;
  return out;
}
template <class It, class N, class Out> BC_INLINE constexpr Out copy_n(It first, N n, Out out) {
  for (N i = 0; i < n; ++i, ++first, ++out) *out = *first;
  return out;
}
template <class It, class Out, class F> BC_INLINE constexpr Out copy_if(It first, It last, Out out, F f) {
  for (; first != last; ++first)
    if (f(*first)) *out++ = *first;
  return out;
}
template <class It, class Out, class F> BC_INLINE constexpr Out transform(It first, It last, Out out, F f) {
  for (; first != last; ++first, ++out) *out = f(*first);
  return out;
}
template <class It, class It2, class Out, class F> BC_INLINE constexpr Out transform(It first, It last, It2 second, Out out, F f) {
  for (; first != last; ++first, ++second, ++out) *out = f(*first, *second);
  return out;
}
template <class It, class F> BC_INLINE constexpr It find_if(It first, It last, F f) {
  while (first != last && !f(*first)) ++first;
  return first;
}
template <class It, class T> BC_INLINE constexpr It find(It first, It last, const T& v) {
  while (first != last && !(*first == v)) ++first;
  return first;
}
template <class It, class F> BC_INLINE constexpr auto count_if(It first, It last, F f) {
  decltype(last - first) n = 0;
  for (; first != last; ++first) n += f(*first) ? 1 : 0;
  return n;
}
template <class It, class T> BC_INLINE constexpr auto count(It first, It last, const T& v) {
  return count_if(first, last, [&](const auto& x) { return x == v; });
}
template <class It, class F> BC_INLINE constexpr bool all_of(It first, It last, F f) {
  for (; first != last; ++first)
    if (!f(*first)) return false;
  return true;
}
template <class It, class F> BC_INLINE constexpr bool any_of(It first, It last, F f) { return find_if(first, last, f) != last; }
template <class It, class F> BC_INLINE constexpr bool none_of(It first, It last, F f) { return find_if(first, last, f) == last; }
template <class A, class B> BC_INLINE constexpr bool equal(A first, A last, B second) {
  for (; first != last; ++first, ++second)
    if (!(*first == *second)) return false;
  return true;
}
template <class It> BC_INLINE constexpr void reverse(It first, It last) {
  for (; first != last && first != --last; ++first) swap(*first, *last);
}
template <class It, class T> BC_INLINE constexpr void iota(It first, It last, T v) {
  for (; first != last; ++first, ++v) *first = v;
}
template <class It, class F = less<>> BC_INLINE constexpr It min_element(It first, It last, F f = {}) {
  It best = first;
  for (; first != last; ++first)
    if (f(*first, *best)) best = first;
  return best;
}
template <class It, class F = less<>> BC_INLINE constexpr It max_element(It first, It last, F f = {}) {
  It best = first;
  for (; first != last; ++first)
    if (f(*best, *first)) best = first;
  return best;
}
template <class It, class T, class F = less<>> BC_INLINE constexpr It lower_bound(It first, It last, const T& v, F f = {}) {
  for (auto n = last - first; n > 0;) {
    auto half = n / 2;
    if (f(first[half], v)) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}
template <class It, class T, class F = less<>> BC_INLINE constexpr It upper_bound(It first, It last, const T& v, F f = {}) {
  return lower_bound(first, last, v, [&](const auto& x, const T& y) { return !f(y, x); });
}
template <class It, class T, class F = less<>> BC_INLINE constexpr bool binary_search(It first, It last, const T& v, F f = {}) {
  It at = lower_bound(first, last, v, f);
  return at != last && !f(v, *at);
}
template <class It, class F = equal_to<>> BC_INLINE constexpr It unique(It first, It last, F f = {}) {
  if (first == last) return last;
  It to = first;
  while (++first != last)
    if (!f(*to, *first)) *++to = *first;
  return ++to;
}
template <class It, class F> BC_INLINE constexpr It remove_if(It first, It last, F f) {
  It to = first;
  for (; first != last; ++first)
    if (!f(*first)) *to++ = *first;
  return to;
}
/// Moves an element of a heap down until both its children are smaller.
template <class It, class N, class F> BC_INLINE constexpr void __bc_sift(It first, N at, N n, F less) {
  for (N below = 2 * at + 1; below < n; at = below, below = 2 * at + 1) {
    if (below + 1 < n && less(first[below], first[below + 1])) ++below;
    if (!less(first[at], first[below])) return;
    swap(first[at], first[below]);
  }
}
template <class It, class F = less<>> BC_INLINE constexpr void sort(It first, It last, F f = {}) {
  auto n = last - first;
  for (auto i = n / 2; i > 0; --i) __bc_sift(first, i - 1, n, f);
  for (auto i = n - 1; i > 0; --i) {
    swap(first[0], first[i]);
    __bc_sift(first, i - i, i, f);
  }
}
/// Insertion sort, for the short arrays of a thread.
template <class It, class F = less<>> BC_INLINE constexpr void stable_sort(It first, It last, F f = {}) {
  for (It i = first; i != last; ++i) {
    auto v = *i;
    It at = i;
    for (; at != first && f(v, at[-1]); --at) *at = at[-1];
    *at = v;
  }
}
template <class It, class F = less<>> BC_INLINE constexpr bool is_sorted(It first, It last, F f = {}) {
  if (first == last) return true;
  for (It next = first + 1; next != last; ++first, ++next)
    if (f(*next, *first)) return false;
  return true;
}
template <class It, class T, class F = plus<>> BC_INLINE constexpr T accumulate(It first, It last, T v, F f = {}) {
  for (; first != last; ++first) v = f(v, *first);
  return v;
}
template <class It, class T, class F = plus<>> BC_INLINE constexpr T reduce(It first, It last, T v, F f = {}) {
  return accumulate(first, last, v, f);
}
template <class A, class B, class T> BC_INLINE constexpr T inner_product(A first, A last, B second, T v) {
  for (; first != last; ++first, ++second) v = v + *first * *second;
  return v;
}
template <class A, class B, class T, class F, class G> BC_INLINE constexpr T inner_product(A first, A last, B second, T v, F join, G with) {
  for (; first != last; ++first, ++second) v = join(v, with(*first, *second));
  return v;
}
template <class It, class Out, class F = plus<>> BC_INLINE constexpr Out partial_sum(It first, It last, Out out, F f = {}) {
  if (first == last) return out;
  auto sum = *first;
  *out = sum;
  while (++first != last) *++out = sum = f(sum, *first);
  return ++out;
}

}  // namespace std

namespace cuda {
template <class T = void>
struct maximum {
  template <class A> BC_INLINE constexpr A operator()(const A& a, const A& b) const { return a < b ? b : a; }
};
template <class T = void>
struct minimum {
  template <class A> BC_INLINE constexpr A operator()(const A& a, const A& b) const { return b < a ? b : a; }
};
template <class R, class F> BC_INLINE constexpr F proclaim_return_type(F f) { return f; }
template <class A, class B> BC_INLINE constexpr auto ceil_div(A a, B b) { return (a + b - 1) / b; }
template <class A, class B> BC_INLINE constexpr auto round_up(A a, B b) { return (a + b - 1) / b * b; }
template <class A, class B> BC_INLINE constexpr auto round_down(A a, B b) { return a / b * b; }
}  // namespace cuda
