#pragma once
#include <memory>

#include "bind/py.h"
#include "kernels/syntax.h"

namespace bc::bind {

/// Reads a function's tree of Python's `ast` (a FunctionDef or Lambda). A line in the file is `offset` more than the node's.
std::shared_ptr<const kernels::FunctionSyntax> read_syntax(PyObject* node, std::string file, int line, int offset,
                                                           std::vector<std::string> source);

}  // namespace bc::bind
