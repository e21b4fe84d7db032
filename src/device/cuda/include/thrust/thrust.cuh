// Thrust's algorithms as a thread of a kernel on the CPU runs them (thrust::seq, thrust::device): each in a loop of the thread that calls it.
#pragma once
#include <thrust/complex.h>

namespace thrust {

template <class A, class B> using pair = ::std::pair<A, B>;
using ::std::make_pair;
template <class... T> using tuple = ::std::tuple<T...>;
using ::std::get; using ::std::make_tuple; using ::std::tie; using ::std::swap; using ::std::ignore; using ::std::tuple_cat;
using ::std::tuple_size; using ::std::tuple_element;
template <class T = void> using plus = ::std::plus<T>;
template <class T = void> using minus = ::std::minus<T>;
template <class T = void> using multiplies = ::std::multiplies<T>;
template <class T = void> using divides = ::std::divides<T>;
template <class T = void> using modulus = ::std::modulus<T>;
template <class T = void> using negate = ::std::negate<T>;
template <class T = void> using equal_to = ::std::equal_to<T>;
template <class T = void> using not_equal_to = ::std::not_equal_to<T>;
template <class T = void> using greater = ::std::greater<T>;
template <class T = void> using less = ::std::less<T>;
template <class T = void> using greater_equal = ::std::greater_equal<T>;
template <class T = void> using less_equal = ::std::less_equal<T>;
template <class T = void> using logical_and = ::std::logical_and<T>;
template <class T = void> using logical_or = ::std::logical_or<T>;
template <class T = void> using logical_not = ::std::logical_not<T>;
template <class T = void> using bit_and = ::std::bit_and<T>;
template <class T = void> using bit_or = ::std::bit_or<T>;
template <class T = void> using bit_xor = ::std::bit_xor<T>;
template <class T = void> using maximum = ::cuda::maximum<T>;
template <class T = void> using minimum = ::cuda::minimum<T>;
template <class T = void> using identity = ::std::identity;
template <class T = void> struct square {
  template <class A> constexpr A operator()(const A& a) const { return a * a; }
};
template <class A = void, class B = void> struct project1st {
  template <class X, class Y> constexpr X operator()(const X& x, const Y&) const { return x; }
};
template <class A = void, class B = void> struct project2nd {
  template <class X, class Y> constexpr Y operator()(const X&, const Y& y) const { return y; }
};
template <class F> struct unary_negate {
  F f;
  template <class A> constexpr bool operator()(const A& a) const { return !f(a); }
};
template <class F> constexpr unary_negate<F> not_fn(F f) { return {f}; }
using ::std::min; using ::std::max;

// ---- policies: a thread of a kernel has one way to run an algorithm
struct __bc_policy {
  template <class T> constexpr const __bc_policy& operator()(const T&) const { return *this; }
  template <class T> constexpr const __bc_policy& on(const T&) const { return *this; }
};
inline constexpr __bc_policy seq{};
inline constexpr __bc_policy device{};
inline constexpr __bc_policy host{};
namespace system { namespace detail { namespace sequential { using ::thrust::seq; } } }
template <class T> inline constexpr bool __bc_is_policy = __is_same(::std::remove_cvref_t<T>, __bc_policy);

// ---- pointers and iterators
template <class T>
struct device_ptr {
  using value_type = T;
  T* at;
  constexpr device_ptr() : at(nullptr) {}
  constexpr explicit device_ptr(T* p) : at(p) {}
  constexpr T* get() const { return at; }
  constexpr T& operator*() const { return *at; }
  constexpr T* operator->() const { return at; }
  constexpr T& operator[](ptrdiff_t i) const { return at[i]; }
  constexpr device_ptr& operator++() { ++at; return *this; }
  constexpr device_ptr operator++(int) { return device_ptr(at++); }
  constexpr device_ptr& operator--() { --at; return *this; }
  constexpr device_ptr& operator+=(ptrdiff_t n) { at += n; return *this; }
  constexpr friend device_ptr operator+(device_ptr p, ptrdiff_t n) { return device_ptr(p.at + n); }
  constexpr friend device_ptr operator-(device_ptr p, ptrdiff_t n) { return device_ptr(p.at - n); }
  constexpr friend ptrdiff_t operator-(device_ptr a, device_ptr b) { return a.at - b.at; }
  constexpr friend bool operator==(device_ptr a, device_ptr b) { return a.at == b.at; }
  constexpr friend bool operator!=(device_ptr a, device_ptr b) { return a.at != b.at; }
  constexpr friend bool operator<(device_ptr a, device_ptr b) { return a.at < b.at; }
};
template <class T> constexpr device_ptr<T> device_pointer_cast(T* p) { return device_ptr<T>(p); }
template <class T> constexpr T* raw_pointer_cast(T* p) { return p; }
template <class T> constexpr T* raw_pointer_cast(device_ptr<T> p) { return p.at; }

/// The operators of iterators that consist of a position and a function that reads a value there: Self has `at` and `read(position)`.
template <class Self, class Place>
struct __bc_iterator {
  using difference_type = ptrdiff_t;
  Place at{};
  constexpr const Self& self() const { return static_cast<const Self&>(*this); }
  constexpr Self& self() { return static_cast<Self&>(*this); }
  constexpr decltype(auto) operator*() const { return self().read(at); }
  template <class N> constexpr decltype(auto) operator[](N n) const { return self().read(at + n); }
  constexpr Self& operator++() { ++at; return self(); }
  constexpr Self operator++(int) { Self old = self(); ++at; return old; }
  constexpr Self& operator--() { --at; return self(); }
  template <class N> constexpr Self& operator+=(N n) { at = at + n; return self(); }
  template <class N> constexpr Self& operator-=(N n) { at = at - n; return self(); }
  template <class N> requires(__is_integral(N)) friend constexpr Self operator+(Self it, N n) { it.at = it.at + n; return it; }
  template <class N> requires(__is_integral(N)) friend constexpr Self operator-(Self it, N n) { it.at = it.at - n; return it; }
  friend constexpr ptrdiff_t operator-(const Self& a, const Self& b) { return static_cast<ptrdiff_t>(a.at - b.at); }
  friend constexpr bool operator==(const Self& a, const Self& b) { return a.at == b.at; }
  friend constexpr bool operator!=(const Self& a, const Self& b) { return !(a.at == b.at); }
  friend constexpr bool operator<(const Self& a, const Self& b) { return a.at < b.at; }
};
template <class T, class = void, class = void, class = void>
struct counting_iterator : __bc_iterator<counting_iterator<T>, T> {
  using value_type = T;
  constexpr counting_iterator(T v = T()) { this->at = v; }
  template <class N> constexpr T read(N v) const { return static_cast<T>(v); }
};
template <class T> constexpr counting_iterator<T> make_counting_iterator(T v) { return {v}; }
template <class T, class = void, class = void>
struct constant_iterator : __bc_iterator<constant_iterator<T>, ptrdiff_t> {
  using value_type = T;
  T value;
  constexpr constant_iterator(const T& v, ptrdiff_t i = 0) : value(v) { this->at = i; }
  constexpr const T& read(ptrdiff_t) const { return value; }
};
template <class T> constexpr constant_iterator<T> make_constant_iterator(T v, ptrdiff_t i = 0) { return {v, i}; }
struct discard_iterator : __bc_iterator<discard_iterator, ptrdiff_t> {
  constexpr decltype(auto) read(ptrdiff_t) const { return (::std::ignore); }
};
inline constexpr discard_iterator make_discard_iterator() { return {}; }
template <class F, class It, class = void, class = void>
struct transform_iterator : __bc_iterator<transform_iterator<F, It>, It> {
  F f;
  constexpr transform_iterator(It it, F g) : f(g) { this->at = it; }
  constexpr decltype(auto) read(It it) const { return f(*it); }
};
template <class F, class It> constexpr transform_iterator<F, It> make_transform_iterator(It it, F f) { return {it, f}; }
template <class It, class Map>
struct permutation_iterator : __bc_iterator<permutation_iterator<It, Map>, Map> {
  It base;
  constexpr permutation_iterator(It it, Map map) : base(it) { this->at = map; }
  constexpr decltype(auto) read(Map map) const { return base[*map]; }
};
template <class It, class Map> constexpr permutation_iterator<It, Map> make_permutation_iterator(It it, Map map) { return {it, map}; }
template <class It>
struct reverse_iterator : __bc_iterator<reverse_iterator<It>, ptrdiff_t> {
  It end;
  constexpr explicit reverse_iterator(It it) : end(it) {}
  constexpr decltype(auto) read(ptrdiff_t i) const { return end[-1 - i]; }
};
template <class It> constexpr reverse_iterator<It> make_reverse_iterator(It it) { return reverse_iterator<It>(it); }
template <class Tuple> struct zip_iterator;
template <class... It>
struct zip_iterator<::std::tuple<It...>> : __bc_iterator<zip_iterator<::std::tuple<It...>>, ptrdiff_t> {
  ::std::tuple<It...> base;
  constexpr zip_iterator(const ::std::tuple<It...>& its) : base(its) {}
  constexpr auto read(ptrdiff_t i) const { return read_all(i, ::std::index_sequence_for<It...>()); }
  template <size_t... I> constexpr auto read_all(ptrdiff_t i, ::std::index_sequence<I...>) const {
    return ::std::tuple<decltype(::std::get<I>(base)[i])...>(::std::get<I>(base)[i]...);
  }
};
template <class... It> constexpr zip_iterator<::std::tuple<It...>> make_zip_iterator(const ::std::tuple<It...>& its) { return {its}; }
template <class... It> requires(sizeof...(It) > 1) constexpr zip_iterator<::std::tuple<It...>> make_zip_iterator(It... its) { return {::std::tuple<It...>(its...)}; }
template <class F> struct zip_function {
  F f;
  template <class Tuple> constexpr decltype(auto) operator()(Tuple&& t) const { return ::std::apply(f, t); }
};
template <class F> constexpr zip_function<F> make_zip_function(F f) { return {f}; }
template <class It> constexpr auto distance(It a, It b) { return b - a; }
template <class It, class N> constexpr void advance(It& it, N n) { it += n; }
template <class It> constexpr It next(It it, ptrdiff_t n = 1) { return it + n; }
template <class It> constexpr It prev(It it, ptrdiff_t n = 1) { return it - n; }

// ---- algorithms; each may be given a policy first
#define __BC_ALGORITHM(name)                                                                    \
  template <class P, class... A> requires(__bc_is_policy<P>)                                    \
  constexpr decltype(auto) name(const P&, A&&... a) { return name(static_cast<A&&>(a)...); }
#define __BC_FROM_STD(name)                                                                                          \
  template <class It, class... A> requires(!__bc_is_policy<It>)                                                      \
  constexpr decltype(auto) name(It first, A&&... a) { return ::std::name(first, static_cast<A&&>(a)...); }            \
  __BC_ALGORITHM(name)
__BC_FROM_STD(for_each) __BC_FROM_STD(fill) __BC_FROM_STD(fill_n) __BC_FROM_STD(copy) __BC_FROM_STD(copy_n) __BC_FROM_STD(transform)
__BC_FROM_STD(find_if) __BC_FROM_STD(find) __BC_FROM_STD(count_if) __BC_FROM_STD(count) __BC_FROM_STD(all_of) __BC_FROM_STD(any_of)
__BC_FROM_STD(none_of) __BC_FROM_STD(equal) __BC_FROM_STD(reverse) __BC_FROM_STD(min_element) __BC_FROM_STD(max_element)
__BC_FROM_STD(lower_bound) __BC_FROM_STD(upper_bound) __BC_FROM_STD(binary_search) __BC_FROM_STD(unique) __BC_FROM_STD(remove_if)
__BC_FROM_STD(sort) __BC_FROM_STD(stable_sort) __BC_FROM_STD(is_sorted) __BC_FROM_STD(inner_product)
#undef __BC_FROM_STD

template <class It, class N, class F> requires(!__bc_is_policy<It>) constexpr It for_each_n(It first, N n, F f) {
  for (N i = 0; i < n; ++i, ++first) f(*first);
  return first;
}
template <class It> requires(!__bc_is_policy<It>) constexpr auto reduce(It first, It last) {
  ::std::remove_cvref_t<decltype(*first)> sum{};
  for (; first != last; ++first) sum = sum + *first;
  return sum;
}
template <class It, class T, class F = ::std::plus<>> requires(!__bc_is_policy<It>) constexpr T reduce(It first, It last, T v, F f = {}) {
  for (; first != last; ++first) v = f(v, *first);
  return v;
}
template <class It, class G, class T, class F> requires(!__bc_is_policy<It>) constexpr T transform_reduce(It first, It last, G g, T v, F f) {
  for (; first != last; ++first) v = f(v, g(*first));
  return v;
}
template <class It, class Out, class F = ::std::plus<>> requires(!__bc_is_policy<It>) constexpr Out inclusive_scan(It first, It last, Out out, F f = {}) {
  if (first == last) return out;
  ::std::remove_cvref_t<decltype(*first)> sum = *first;
  *out = sum;
  for (++first, ++out; first != last; ++first, ++out) *out = sum = f(sum, *first);
  return out;
}
template <class It, class Out, class T, class F = ::std::plus<>> requires(!__bc_is_policy<It>)
constexpr Out exclusive_scan(It first, It last, Out out, T v, F f = {}) {
  for (; first != last; ++first, ++out) {
    T next = f(v, *first);
    *out = v;
    v = next;
  }
  return out;
}
template <class It, class Out> requires(!__bc_is_policy<It>) constexpr Out exclusive_scan(It first, It last, Out out) {
  return exclusive_scan(first, last, out, ::std::remove_cvref_t<decltype(*first)>{});
}
template <class It, class Out, class G, class F> requires(!__bc_is_policy<It>) constexpr Out transform_inclusive_scan(It first, It last, Out out, G g, F f) {
  return inclusive_scan(transform_iterator<G, It>(first, g), transform_iterator<G, It>(last, g), out, f);
}
template <class It, class Out, class G, class T, class F> requires(!__bc_is_policy<It>)
constexpr Out transform_exclusive_scan(It first, It last, Out out, G g, T v, F f) {
  return exclusive_scan(transform_iterator<G, It>(first, g), transform_iterator<G, It>(last, g), out, v, f);
}
template <class It> requires(!__bc_is_policy<It>) constexpr void sequence(It first, It last) {
  ::std::iota(first, last, ::std::remove_cvref_t<decltype(*first)>{});
}
template <class It, class T> requires(!__bc_is_policy<It>) constexpr void sequence(It first, It last, T v) { ::std::iota(first, last, v); }
template <class It, class T> requires(!__bc_is_policy<It>) constexpr void sequence(It first, It last, T v, T step) {
  for (; first != last; ++first, v = v + step) *first = v;
}
template <class It, class F> requires(!__bc_is_policy<It>) constexpr void generate(It first, It last, F f) {
  for (; first != last; ++first) *first = f();
}
template <class It, class F> requires(!__bc_is_policy<It>) constexpr void tabulate(It first, It last, F f) {
  for (ptrdiff_t i = 0; first != last; ++first, ++i) *first = f(i);
}
template <class It, class F, class T> requires(!__bc_is_policy<It>) constexpr void replace_if(It first, It last, F f, const T& v) {
  for (; first != last; ++first)
    if (f(*first)) *first = v;
}
template <class It, class T> requires(!__bc_is_policy<It>) constexpr void replace(It first, It last, const T& old, const T& v) {
  replace_if(first, last, [&](const auto& x) { return x == old; }, v);
}
template <class It, class Out, class F> requires(!__bc_is_policy<It>) constexpr Out copy_if(It first, It last, Out out, F f) {
  for (; first != last; ++first)
    if (f(*first)) *out++ = *first;
  return out;
}
template <class It, class Stencil, class Out, class F> requires(!__bc_is_policy<It>) constexpr Out copy_if(It first, It last, Stencil s, Out out, F f) {
  for (; first != last; ++first, ++s)
    if (f(*s)) *out++ = *first;
  return out;
}
template <class It, class T> requires(!__bc_is_policy<It>) constexpr It remove(It first, It last, const T& v) {
  return ::std::remove_if(first, last, [&](const auto& x) { return x == v; });
}
template <class It, class Map, class Out> requires(!__bc_is_policy<It>) constexpr Out gather(It first, It last, Map from, Out out) {
  for (; first != last; ++first, ++out) *out = from[*first];
  return out;
}
template <class It, class Map, class Out> requires(!__bc_is_policy<It>) constexpr void scatter(It first, It last, Map map, Out out) {
  for (; first != last; ++first, ++map) out[*map] = *first;
}
template <class It, class Out> requires(!__bc_is_policy<It>) constexpr Out reverse_copy(It first, It last, Out out) {
  while (first != last) *out++ = *--last;
  return out;
}
template <class It, class Out, class F = ::std::minus<>> requires(!__bc_is_policy<It>) constexpr Out adjacent_difference(It first, It last, Out out, F f = {}) {
  if (first == last) return out;
  auto before = *first;
  *out++ = before;
  while (++first != last) {
    auto here = *first;
    *out++ = f(here, before);
    before = here;
  }
  return out;
}
template <class It, class It2> requires(!__bc_is_policy<It>) constexpr pair<It, It2> mismatch(It first, It last, It2 second) {
  for (; first != last && *first == *second; ++first) ++second;
  return {first, second};
}
template <class It, class F = ::std::less<>> requires(!__bc_is_policy<It>) constexpr pair<It, It> minmax_element(It first, It last, F f = {}) {
  return {::std::min_element(first, last, f), ::std::max_element(first, last, f)};
}
template <class It, class It2> requires(!__bc_is_policy<It>) constexpr It2 swap_ranges(It first, It last, It2 second) {
  for (; first != last; ++first, ++second) {
    auto old = *first;
    *first = *second;
    *second = old;
  }
  return second;
}
/// Sorts keys with their values by insertion, for the short arrays of a thread.
template <class K, class V, class F = ::std::less<>> requires(!__bc_is_policy<K>) constexpr void stable_sort_by_key(K first, K last, V values, F f = {}) {
  for (auto i = last - last; i < last - first; ++i) {
    auto key = first[i];
    auto value = values[i];
    auto at = i;
    for (; at > 0 && f(key, first[at - 1]); --at) {
      first[at] = first[at - 1];
      values[at] = values[at - 1];
    }
    first[at] = key;
    values[at] = value;
  }
}
template <class K, class V, class F = ::std::less<>> requires(!__bc_is_policy<K>) constexpr void sort_by_key(K first, K last, V values, F f = {}) {
  stable_sort_by_key(first, last, values, f);
}
template <class A, class B, class Out, class F = ::std::less<>> requires(!__bc_is_policy<A>)
constexpr Out merge(A a, A a_end, B b, B b_end, Out out, F f = {}) {
  while (a != a_end || b != b_end) {
    const bool second = a == a_end || (b != b_end && f(*b, *a));
    if (second) *out++ = *b++;
    else *out++ = *a++;
  }
  return out;
}
template <class K, class V, class KOut, class VOut, class E = ::std::equal_to<>, class F = ::std::plus<>> requires(!__bc_is_policy<K>)
constexpr pair<KOut, VOut> reduce_by_key(K first, K last, V values, KOut keys_out, VOut values_out, E same = {}, F f = {}) {
  while (first != last) {
    auto key = *first;
    auto sum = *values;
    for (++first, ++values; first != last && same(key, *first); ++first, ++values) sum = f(sum, *values);
    *keys_out++ = key;
    *values_out++ = sum;
  }
  return {keys_out, values_out};
}
template <class It, class F> requires(!__bc_is_policy<It>) constexpr It partition(It first, It last, F f) {
  It to = first;
  for (; first != last; ++first)
    if (f(*first)) ::std::swap(*to++, *first);
  return to;
}
__BC_ALGORITHM(for_each_n) __BC_ALGORITHM(reduce) __BC_ALGORITHM(transform_reduce) __BC_ALGORITHM(inclusive_scan) __BC_ALGORITHM(exclusive_scan)
__BC_ALGORITHM(transform_inclusive_scan) __BC_ALGORITHM(transform_exclusive_scan) __BC_ALGORITHM(sequence) __BC_ALGORITHM(generate)
__BC_ALGORITHM(tabulate) __BC_ALGORITHM(replace_if) __BC_ALGORITHM(replace) __BC_ALGORITHM(copy_if) __BC_ALGORITHM(remove) __BC_ALGORITHM(gather)
__BC_ALGORITHM(scatter) __BC_ALGORITHM(reverse_copy) __BC_ALGORITHM(adjacent_difference) __BC_ALGORITHM(mismatch) __BC_ALGORITHM(minmax_element)
__BC_ALGORITHM(swap_ranges) __BC_ALGORITHM(stable_sort_by_key) __BC_ALGORITHM(sort_by_key) __BC_ALGORITHM(merge) __BC_ALGORITHM(reduce_by_key)
__BC_ALGORITHM(partition)
#undef __BC_ALGORITHM

// ---- random numbers: thrust::minstd_rand and its distributions
namespace random {
template <class U, U A, U C, U M>
struct linear_congruential_engine {
  using result_type = U;
  static constexpr U min = C == 0 ? 1 : 0, max = M - 1, default_seed = 1;
  U state;
  constexpr explicit linear_congruential_engine(U s = default_seed) { seed(s); }
  constexpr void seed(U s = default_seed) { state = C % M == 0 && s % M == 0 ? 1 : s % M; }
  constexpr U operator()() {
    state = static_cast<U>((static_cast<unsigned long long>(state) * A + C) % M);
    return state;
  }
  /// n steps at once, by squaring.
  constexpr void discard(unsigned long long n) {
    unsigned long long a = A, c = C, to_a = 1, to_c = 0;
    for (; n != 0; n >>= 1) {
      if (n & 1) {
        to_a = to_a * a % M;
        to_c = (to_c * a + c) % M;
      }
      c = (a + 1) * c % M;
      a = a * a % M;
    }
    state = static_cast<U>((to_a * state + to_c) % M);
  }
};
using minstd_rand0 = linear_congruential_engine<unsigned, 16807, 0, 2147483647>;
using minstd_rand = linear_congruential_engine<unsigned, 48271, 0, 2147483647>;
using default_random_engine = minstd_rand;
template <class T = double>
struct uniform_real_distribution {
  T low, high;
  constexpr explicit uniform_real_distribution(T a = 0, T b = 1) : low(a), high(b) {}
  template <class E> constexpr T operator()(E& e) {
    T unit = static_cast<T>(e() - E::min) / static_cast<T>(static_cast<T>(E::max - E::min) + T(1));
    return unit * (high - low) + low;
  }
};
template <class T = int>
struct uniform_int_distribution {
  T low, high;
  constexpr explicit uniform_int_distribution(T a = 0, T b = bc::limits<T>::max()) : low(a), high(b) {}
  template <class E> constexpr T operator()(E& e) {
    uniform_real_distribution<double> real(static_cast<double>(low), static_cast<double>(high) + 1.0);
    return static_cast<T>(real(e));
  }
};
/// Samples by the inverse of the distribution function.
template <class T = double>
struct normal_distribution {
  T mean, deviation;
  constexpr explicit normal_distribution(T m = 0, T s = 1) : mean(m), deviation(s) {}
  template <class E> T operator()(E& e) {
    constexpr double kHalfRoot = 1.4142135623730951;
    double unit = (static_cast<double>(e() - E::min) + 0.5) / (static_cast<double>(E::max - E::min) + 1.0);
    return static_cast<T>(mean + deviation * -kHalfRoot * erfcinv(2.0 * unit));
  }
};
}  // namespace random
using namespace random;

}  // namespace thrust
