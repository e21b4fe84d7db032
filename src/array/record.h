#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "array/array.h"

namespace bc {

/// The array that an assignment to an array of `dtype` stores: an array unchanged, a Python number as a 0-d array by the rules of
/// stored_value.
Array stored(const Arg& value, DType dtype, Device device);

/// The dtype of a fold or scan if the caller gave `out` but no dtype: as in NumPy, the promoted dtype of `out` and the operand.
inline std::optional<DType> folding_dtype(std::optional<DType> dtype, DType operand, const Array& out) {
  return dtype || !out || !is_plain(out.dtype()) ? dtype : std::optional(promote(out.dtype(), operand));
}

/// Records a gather: source elements at the index arrays (int64, broadcastable to `result_shape`).
Array record_gather(const Array& source, std::vector<Array> indices, GatherExtra extra, Dims result_shape);

/// Records a library op; input k is read under `shapes[k]`, broadcast.
Array record_library(std::vector<Array> inputs, std::vector<Dims> shapes, std::unique_ptr<LibraryExtra> extra, Dims shape, DType dtype,
                     Device device);

/// Changes the target in place by a library op. The body's output View is the target's view in a buffer: the old buffer if its value is not
/// needed elsewhere, else a copy. `inputs` are read under their own shapes.
void record_store_library(const Array& target, std::vector<Array> inputs, std::unique_ptr<LibraryExtra> extra);

/// Creates a node with the current Python line; record() puts it on the tape.
Ref<Node> new_node(Op op, DType dtype, Device device, const Dims& shape);

/// An array with its axes in another order.
inline Array transposed(const Array& a, const Dims& axes) { return a.with_layout(transposed(a.layout(), axes)); }

/// Throws unless an array may be written: its memory is not read-only, and no element of it has two places.
void check_writable(const char* op, const Array& a);
/// Throws unless `out` may take a ufunc's result of `dtype`, broadcast to `shape`.
void check_ufunc_output(const char* name, DType dtype, const Dims& shape, const Array& out, Casting casting);

/// The operand that reads an array, broadcast to `shape`; used by all recording functions.
Operand make_operand(const char* op, const Array& a, const Dims& shape);

/// A view of booleans as bytes, for ops that must not change the bytes of other elements in an array with loose booleans.
Array as_bytes(const Array& a);
/// The truth of a value that is assigned to booleans, as bytes 0 and 1.
Array as_bytes(const Arg& value, Device device);
Operand make_constant(const Scalar& value, DType dtype, Device device);

/// Appends a node to its device's tape and wraps it in a new array. Runs it at once in plain execution, or if it uses exposed memory.
Array record(Ref<Node> node);
/// The same as an array of `dtype`, whose storage_type() the node has.
inline Array record(Ref<Node> node, DType dtype) {
  Array a = record(std::move(node));
  return dtype == a.dtype() ? a : a.seen_as(dtype, a.layout());
}

/// Stores a ufunc's result by `where=` and `out=`, and a reduction's by `out=`; returns the array that the caller gets.
Array deliver_ufunc(Op op, const Array& result, const UfuncOptions& options);
Array deliver_reduced(const char* op, const Array& result, const Array& out);

}  // namespace bc
