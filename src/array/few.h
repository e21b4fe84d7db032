#pragma once
#include <optional>
#include <span>

#include "array/array.h"

namespace bc {

// Selections and products of a few elements that lie computed in host memory. Recording and running a kernel would take longer than they
// do, so they are made at once. Each answers nothing (or false) where the elements are not there, are many, or something is wrong: then the
// usual way is taken, which says what.

/// The element that an index of an integer for each axis names, as an array of its own.
std::optional<Array> pick_one(const Array& a, std::span<const SliceItem> items);
/// Its value alone.
std::optional<Scalar> read_one(const Array& a, std::span<const SliceItem> items);
/// Stores into that element. Tells whether it was done.
bool put_one(const Array& a, std::span<const SliceItem> items, const Arg& value);
/// a[index] of a 1-d array by a 1-d array of integers or truth values.
std::optional<Array> pick_few(const Array& a, const Array& index);
/// a[index] = value likewise. Tells whether it was done.
bool put_few(const Array& a, const Array& index, const Arg& value);
/// The places of what is true in a 1-d array of integers or truth values.
std::optional<Array> places_few(const Array& a);
/// 1-d arrays of one type, one after the other.
std::optional<Array> join_few(std::span<const Array> arrays, DType dtype);
/// a · b of two small matrices of float32 or of float64.
std::optional<Array> multiply_few(const Array& a, const Array& b);

}  // namespace bc
