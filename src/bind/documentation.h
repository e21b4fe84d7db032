#pragma once
#include <string>

#include "bind/py.h"

namespace bc::bind {

/// Makes a table that the interpreter keeps known to `_broadcloth.document`; its functions are called `prefix` and their name
/// ("ndarray.sum").
void keep_documented(const std::string& prefix, PyMethodDef* first);

void init_documentation(PyObject* module);

}  // namespace bc::bind
