#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions that LAPACK computes.
std::vector<PyMethodDef> linalg_functions();

}  // namespace bc::bind
