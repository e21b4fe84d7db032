#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions about derivatives, which broadcloth.autograd is made of.
std::vector<PyMethodDef> autograd_functions();
void add_autograd_attributes(std::vector<PyGetSetDef>* attributes);
void add_autograd_methods(std::vector<PyMethodDef>* methods);
void init_autograd(PyObject* module);

}  // namespace bc::bind
