#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "array/array.h"

namespace bc {

// Selections and products of a few elements that lie computed in host memory. Recording and running a kernel would take longer than they
// do, so they are made at once. Each answers nothing (or false) where the elements are not there, are many, or something is wrong: then the
// usual way is taken, which says what.

/// The value of one element of the CPU's, apart from any array.
struct Element {
  DType dtype = DType::f64;
  alignas(8) char bytes[16] = {};

  Scalar scalar() const { return Scalar::load(dtype, bytes); }
};
/// An operand of apply_one: an element, or a Python number where `weak` says so.
struct ElementTerm {
  const Element* element = nullptr;
  Weak weak = Weak::none;
  Scalar value;
};

// Elements are written where the caller keeps them: to copy one that was written just now takes longer than all else here.

/// Gives the element that an index of an integer for each axis names. Tells whether it was done.
bool pick_one(const Array& a, std::span<const SliceItem> items, Element* made);
/// The same of an array without axes.
bool pick_one(const Array& a, Element* made);
/// Its value, also while a profiler counts kernels.
std::optional<Scalar> read_one(const Array& a, std::span<const SliceItem> items);
/// Stores into that element. Tells whether it was done.
bool put_one(const Array& a, std::span<const SliceItem> items, const Arg& value);
bool put_one(const Array& a, std::span<const SliceItem> items, const Element& value);
/// Stores into a 1-d place of a few elements: an array of as many or of one, or a Python number. Tells whether it was done.
bool put_row(const Array& place, const Arg& value);
/// Tells whether a program seems to read or write `a`, which is not computed yet, element by element: several nodes wait for that. To
/// compute `a` is faster then than to record a node for each.
bool loops_over_elements(const Array& a);
/// An array without axes that holds an element.
Array array_of_one(const Element& element);
/// An elementwise row of elements and Python numbers, at least one of them an element: dtypes and bits are those that recording gives.
/// Tells whether it was done.
bool apply_one(Op op, std::span<const ElementTerm> terms, Element* made);
/// a[index] of a 1-d array by a 1-d array of integers or truth values, or by a mask of all its elements.
std::optional<Array> pick_few(const Array& a, const Array& index);
/// a[index] = value likewise. Tells whether it was done.
bool put_few(const Array& a, const Array& index, const Arg& value);
/// The places of what is true in a 1-d array of integers or truth values.
std::optional<Array> places_few(const Array& a);
/// How often each integer from 0 on occurs in a 1-d array, at least `least` counts, or the sums of their `weights` in the order of the
/// elements. Computes the arrays if they are not yet.
std::optional<Array> count_few(const Array& a, const Array& weights, int64_t least);
/// The line through points at each of `x`, as numpy.interp; the first and the last value beyond the points unless given.
std::optional<Array> interpolate_few(const Array& x, const Array& xp, const Array& fp, std::optional<double> left,
                                     std::optional<double> right);
/// numpy.correlate of two vectors, and numpy.convolve where `reversed` says that `v` is read from its end.
std::optional<Array> correlate_few(const Array& a, const Array& v, std::string_view mode, bool reversed);
/// f of each element of an int64 array.
std::optional<Array> map_few(const Array& a, int64_t (*f)(int64_t, const void*), const void* context);
/// f of each pair of elements of two int64 arrays, of which one may have no axes; int64 or booleans.
std::optional<Array> zip_few(const Array& a, const Array& b, DType result, int64_t (*f)(int64_t, int64_t, Op), Op op);
/// numpy.place: 1-d `values` in turn where a mask holds. Tells whether it was done.
bool place_few(const Array& a, const Array& mask, const Array& values);
/// The bits of 1-d uint8, the highest first, and bytes of so many booleans.
std::optional<Array> unpack_few(const Array& a);
std::optional<Array> pack_few(const Array& a);
/// 1-d arrays of one type, one after the other.
std::optional<Array> join_few(std::span<const Array> arrays, DType dtype);
/// A reduction row over all of a 1-d array, where the order of the elements does not matter. Tells whether it was done.
bool reduce_few(Op op, const Array& a, Element* made);
/// A 1-d array sorted, NaN last, or the places that sort it, of equal elements the first first.
std::optional<Array> sort_few(const Array& a);
std::optional<Array> argsort_few(const Array& a);
/// a · b of two small matrices whose product is one of float32 or of float64.
std::optional<Array> multiply_few(const Array& a, const Array& b);

}  // namespace bc
