#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

/// The module's functions that sort, search and make sets.
std::vector<PyMethodDef> sorting_functions();

}  // namespace bc::bind
