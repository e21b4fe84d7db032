#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions that algorithms over graphs are.
std::vector<PyMethodDef> csgraph_functions();

}  // namespace bc::bind
