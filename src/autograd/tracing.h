#pragma once
#include <span>
#include <vector>

#include "array/user.h"
#include "autograd/graph.h"
#include "primitives/library_op.h"
#include "primitives/ops.h"

/// Traces: what vmap follows. A trace runs a function on one example, with every op recorded that depends on it, of any dtype and also
/// where grad mode is off, and then computes the ops again for all examples, which lie along a first axis.
namespace bc::autograd {

/// How indices address a storage's elements.
struct Addressing {
  DType dtype = DType::f64;
  Layout base;  ///< the storage's axes that are walked along the index space, then those that are indexed
  Dims shape;   ///< of the index space
  Dims axis, index_axis;
  std::vector<Array> indices;

  /// The elements of a storage that lies C-contiguous.
  Array picked(const Array& from) const;
  /// Writes to them, or joins `value` to them by a row.
  void put(Op op, const Array& into, const Array& value) const;
};

/// Whether this thread traces.
bool tracing();
/// Begins a trace inside those that there are; gives what to end it with.
uint64_t begin_trace();
void end_trace(uint64_t trace);
/// An example that the trace follows: a copy of `a`.
Array trace_input(const Array& a);
/// The outputs for all examples, along a first axis, from `inputs` (as trace_input gave them) for which `all` holds the examples.
std::vector<Array> replay(uint64_t trace, std::span<const Array> outputs, std::span<const Array> inputs, std::span<const Array> all);
/// Raises where Python asks for the value of an array that a trace follows: it has one for each example.
void check_look(const Array& a);
/// Tells whether the elements of an array differ between the examples of a trace.
bool differs(const Array& a);
/// Notes of a function of a trace whether derivatives go through.
void mark(GradFunction& f);

// What the functions of ops need to be computed again.
void trace_ufunc(GradFunction& f, Op op, std::span<const Term> operands, const Loop& loop);
void trace_reduce(GradFunction& f, Op op, const Array& a, uint64_t axes, double ddof);
void trace_copy(GradFunction& f, const Array& a);
void trace_user(GradFunction& f, const Ref<UserOp>& op, int output, std::span<const Arg> operands);
void trace_gather(GradFunction& f, const Array& source, const Addressing& at);
void trace_library(GradFunction& f, std::span<const Array> inputs, const LibraryExtra& extra);
void trace_store(GradFunction& f, const Array& target, const Array& value);
void trace_scatter(GradFunction& f, Op op, const Array& target, const Array& value, const Addressing& at);

}  // namespace bc::autograd
