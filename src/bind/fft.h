#pragma once
#include <vector>

#include "bind/py.h"

namespace bc::bind {

std::vector<PyMethodDef> fft_functions();

}  // namespace bc::bind
