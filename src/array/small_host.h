#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "array/array.h"

namespace bc {

// Selections and products of few elements that are computed and in host memory. They are computed at once, because recording and running a
// kernel would take longer. Each function returns nullopt (or false) if the elements are not computed or too many, or the arguments are
// wrong; then the caller records the op, which also raises errors.

/// The most elements of a mask that is used at once.
inline constexpr int64_t kMaskedFew = 1 << 14;

/// The value of one element in host memory, without an array.
struct Element {
  DType dtype = DType::f64;
  alignas(8) char bytes[16] = {};

  Scalar scalar() const { return Scalar::load(dtype, bytes); }
};
/// An operand of apply_one: an element, or a Python number if `weak` is not none.
struct ElementTerm {
  const Element* element = nullptr;
  Weak weak = Weak::none;
  Scalar value;
};

// Results are written to the caller's Element: copying a value that was just written (a store-forwarding stall) would take longer than the
// rest.

/// Reads the element at one integer index for each axis. Returns whether it was done.
bool pick_one(const Array& a, std::span<const SliceItem> items, Element* made);
/// The same for an array without axes.
bool pick_one(const Array& a, Element* made);
/// Elements of a vector that an iterator reads ahead of their use, valid while nothing is written to the vector.
struct ReadAhead {
  static constexpr int64_t kCount = 16;
  const Storage* storage = nullptr;
  uint64_t version = 0;
  DType dtype = DType::f64;
  int item = 0;
  int64_t offset = 0, stride = 0;
  int64_t first = 0, count = 0;  ///< the elements that were read
  alignas(8) char bytes[16 * kCount];
};
/// Reads element `at` of a vector, several at a time. Returns whether it was done.
bool pick_next(const Array& a, int64_t at, ReadAhead* ahead, Element* made);
/// The same also while a profiler counts kernels.
bool read_one(const Array& a, std::span<const SliceItem> items, Element* made);
/// The same of an array that is placed by size and lies on an accelerator, after some elements of it were asked for: all of a small storage
/// is copied to the host then, and later elements of the same value are read there. `items` are integers, one for each axis.
bool read_mirrored(const Array& a, std::span<const SliceItem> items, Element* made);
/// Element `at` of a vector of 8-byte numbers on the CPU, which loops read and write most: a third of the instructions of read_one() and
/// put_one(). Negative `at` count from the end. They return whether it was done.
bool read_number(const Array& a, int64_t at, Element* made);
bool put_number(const Array& a, int64_t at, const void* bytes);
/// Stores into the element at one integer index for each axis. Returns whether it was done.
bool put_one(const Array& a, std::span<const SliceItem> items, const Arg& value);
bool put_one(const Array& a, std::span<const SliceItem> items, const Element& value);
/// Copies the elements of a view of few computed elements, in C order. Returns whether it was done.
bool read_small(const Array& a, void* to);
/// Stores into a view of few elements: an array of the same shape or of one element, or a Python number. Returns whether it was done.
bool put_row(const Array& place, const Arg& value);
/// Tells whether the program seems to access the pending array `a` element by element, because several pending nodes do. Then computing `a`
/// is faster than recording a node for each element.
bool loops_over_elements(const Array& a);
/// Tells whether the pending array `a` without axes is the last of several rows over arrays without axes, as in a loop that computes with
/// numbers. Then computing `a` is faster than recording the rows that follow.
bool chains_numbers(const Array& a);
/// An array of few elements that are all `value`.
std::optional<Array> full_small(const Dims& shape, const Scalar& value, DType dtype, Device device);
/// An elementwise row over operands that are broadcast to `shape`, by the loop that resolve() gave.
std::optional<Array> ufunc_small(Op op, std::span<const Term> terms, const Loop& loop, const Dims& shape, Device device);
/// The elements of an array with axes as `dtype`, in C order.
std::optional<Array> cast_small(const Array& a, DType dtype);
/// An array of few elements, not booleans, that are copied from `data` in C order.
std::optional<Array> copy_small(const void* data, const Dims& shape, DType dtype, Device device);
/// An array without axes that holds an element.
Array array_of_one(const Element& element);
/// Computes an elementwise row of elements and Python numbers on the CPU. The dtype and bits are the same as with recording. Returns
/// whether it was done.
bool apply_one(Op op, std::span<const ElementTerm> terms, Element* made);
/// a[index] of a 1-d array by a 1-d array of integers or truth values, or by a mask of all its elements.
std::optional<Array> pick_small(const Array& a, const Array& index);
std::optional<Array> pick_small(const Array& a, std::span<const int64_t> index);
/// The rows, along the first axis, of an array of several axes that lies in C order, by a 1-d array of integers or truth values.
std::optional<Array> pick_rows_small(const Array& a, const Array& index);
/// Stores a number, one row for all, or as many rows there. Returns whether it was done.
bool put_rows_small(const Array& a, const Array& index, const Arg& value);
/// a[index] = value for the same indices as pick_small(). Returns whether it was done.
bool put_small(const Array& a, const Array& index, const Arg& value);
/// The indices of the nonzero elements in a 1-d array of integers or truth values.
std::optional<Array> nonzero_small(const Array& a);
/// numpy.bincount: counts of each integer in a 1-d array, with at least `least` counts, or sums of their `weights` in the order of the
/// elements. Computes the arrays if they are pending.
std::optional<Array> bincount_small(const Array& a, const Array& weights, int64_t least);

/// numpy.histogram of a 1-d array in host memory, on all threads: how many elements lie in each bin of one width between `low` and `high`,
/// the first and the last of the float64 `edges`. nullopt for arrays whose elements are no plain numbers in host memory.
std::optional<Array> histogram_near(const Array& a, const Array& edges, double low, double high);
/// numpy.interp at each element of `x`; `left` and `right` default to the first and the last value.
std::optional<Array> interp_small(const Array& x, const Array& xp, const Array& fp, std::optional<double> left,
                                  std::optional<double> right);
/// numpy.correlate of two vectors, and numpy.convolve where `reversed` says that `v` is read from its end.
std::optional<Array> correlate_small(const Array& a, const Array& v, std::string_view mode, bool reversed);
/// f of each element of an int64 array.
std::optional<Array> map_small(const Array& a, int64_t (*f)(int64_t, const void*), const void* context);
/// f of each pair of elements of two int64 arrays, one of which may have no axes; the result is int64 or boolean.
std::optional<Array> zip_small(const Array& a, const Array& b, DType result, int64_t (*f)(int64_t, int64_t, Op), Op op);
/// numpy.place: 1-d `values` in turn where a mask holds. Returns whether it was done.
bool place_small(const Array& a, const Array& mask, const Array& values);
/// numpy.unpackbits of a 1-d uint8 array (highest bit first), and numpy.packbits of a 1-d array.
std::optional<Array> unpackbits_small(const Array& a);
std::optional<Array> packbits_small(const Array& a);
/// The concatenation of arrays of one dtype along an axis, whose shape is `shape`: vectors, or contiguous arrays.
std::optional<Array> concatenate_small(std::span<const Array> arrays, DType dtype, int axis, const Dims& shape);
/// Reduces all elements of an array, which is 1-d or contiguous, by a row whose result does not depend on their order; adds and multiplies
/// contiguous ones of int64 and float64. Returns whether it was done.
bool reduce_small(Op op, const Array& a, Element* made);
/// Sorts a vector in its memory. Returns whether it was done.
bool sort_in_place_small(const Array& a);
/// numpy.sort of a 1-d array, and numpy.argsort with kind="stable".
std::optional<Array> sort_small(const Array& a);
std::optional<Array> argsort_small(const Array& a);
/// The positions that sort by several vectors of one length: the last first, then the one before it among equal elements, and so on.
std::optional<Array> lexsort_small(std::span<const Array> keys);
/// The positions that sort the rows of a contiguous matrix by their first elements, then by their second ones, and so on. Computes the
/// matrix if it is pending.
std::optional<Array> argsort_rows_small(const Array& rows);
/// The distinct elements of a 1-d array in ascending order; `counts`, if not null, receives how often each occurs.
std::optional<Array> unique_small(const Array& a, Array* counts);
/// The places where `values` go in the ascending vector `a`: the first one, or the last one with `right`.
std::optional<Array> searchsorted_small(const Array& a, const Array& values, bool right);
/// How the elements of a vector go: 1 if none is less than the one before it, else -1 if none is greater, else 0.
std::optional<int> direction_small(const Array& a);
/// a[index] = row(a[index], value) for each index in turn, of an arithmetic row of two operands. Returns whether it was done.
bool change_small(Op op, const Array& a, const Array& index, const Arg& value);
/// Each element of a contiguous array `count` times, in 1-d.
std::optional<Array> repeat_small(const Array& a, int64_t count);
/// The sum of the products of two vectors of `dtype`.
std::optional<Array> dot_small(const Array& a, const Array& b, DType dtype);
/// a · b of two small matrices whose product has dtype float32 or float64.
std::optional<Array> matmul_small(const Array& a, const Array& b);

}  // namespace bc
