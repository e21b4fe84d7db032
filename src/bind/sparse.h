#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions that sparse matrices are computed by.
std::vector<PyMethodDef> sparse_functions();

}  // namespace bc::bind
