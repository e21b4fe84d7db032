#pragma once
#include "bind/jit_values.h"

/// Lists, sets and dicts of compiled functions as Python sees them: lists and sets are copied in, and back where they changed; a typed.List
/// or typed.Dict is the object that compiled code works on.
namespace bc::bind::jit {

bool is_typed(PyObject* o);
/// The type of a list, a set or a typed container. Throws TypeError for a list of several types, ValueError for an empty one.
kernels::Type container_type(PyObject* o);
/// The object of a typed container; the caller does not own the count.
host::Block* typed_block(PyObject* o);
/// A list's or a set's items as compiled code's list; the caller owns the count.
host::Block* new_list(PyObject* o, kernels::Type element, Frame* frame);
/// The items of compiled code's list, as a list.
PyRef box_list(host::Block* block, kernels::Type element, const Frame& frame, host::Call* call);
/// A typed.List or typed.Dict of the object, whose count it takes over.
PyRef box_typed(host::Block* block, kernels::Type type);
/// Tells whether compiled code changed the object since it was made.
bool has_changed(host::Block* block);

void init_containers(PyObject* module);

}  // namespace bc::bind::jit
