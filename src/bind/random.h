#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions that draw NumPy's random numbers.
std::vector<PyMethodDef> random_functions();

}  // namespace bc::bind
