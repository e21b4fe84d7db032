#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "array/array.h"

namespace bc {

/// What assignment to an array of `dtype` stores of a value: an array as it is, a Python number as a 0-d array by stored_value's rules.
Array stored(const Arg& value, DType dtype, Device device);

/// The dtype that a fold or a scan runs in where the caller gave `out` and perhaps a dtype: as NumPy's, out and the operand promote.
inline std::optional<DType> folding_dtype(std::optional<DType> dtype, DType operand, const Array& out) {
  return dtype || !out || !is_plain(out.dtype()) ? dtype : std::optional(promote(out.dtype(), operand));
}

/// Records a gather: source elements at the index arrays (int64, broadcastable to `result_shape`).
Array record_gather(const Array& source, std::vector<Array> indices, GatherExtra extra, Dims result_shape);

/// Records a library op; input k is read under `shapes[k]`, broadcast.
Array record_library(std::vector<Array> inputs, std::vector<Dims> shapes, std::unique_ptr<LibraryExtra> extra, Dims shape, DType dtype,
                     Device device);

/// Replaces target's storage content by running the body in place on it. The body's output View is the target's view in the buffer,
/// which is the old one when nobody else still needs it, else a copy. `inputs` are read under their own shapes.
void record_store_library(const Array& target, std::vector<Array> inputs, std::unique_ptr<LibraryExtra> extra);

/// A node that notes the Python line; record() puts it on the tape.
Ref<Node> new_node(Op op, DType dtype, Device device, const Dims& shape);

/// A node read under `shape` through the layout of an array (broadcast); used by every recorder.
Operand make_operand(const char* op, const Array& a, const Dims& shape);

/// Booleans as the bytes that they are: what ops that keep the other elements of an array with loose booleans work on.
Array as_bytes(const Array& a);
/// The bytes 0 and 1 for the truth of what is assigned to booleans.
Array as_bytes(const Arg& value, Device device);
Operand make_constant(const Scalar& value, DType dtype, Device device);

/// Appends a node to its device's tape and wraps it in a new array; runs it at once where the mode or exposed memory asks for it.
Array record(Ref<Node> node);
/// The same as an array of `dtype`, whose storage_type() the node has.
inline Array record(Ref<Node> node, DType dtype) {
  Array a = record(std::move(node));
  return dtype == a.dtype() ? a : a.seen_as(dtype, a.layout());
}

/// Gives a ufunc's result where `where=` and `out=` want it, and a reduction's where `out=` does.
Array deliver_ufunc(Op op, const Array& result, const UfuncOptions& options);
Array deliver_reduced(const char* op, const Array& result, const Array& out);

}  // namespace bc
