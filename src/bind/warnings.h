#pragma once
#include "bind/py.h"

namespace bc::bind {

/// Warns at the line of the program, whatever functions of the package lie between (python/broadcloth/_warnings.py).
void warn(PyObject* category, const char* text);
/// broadcloth.exceptions.PerformanceWarning; RuntimeWarning where it cannot be imported.
PyObject* performance_warning();

}  // namespace bc::bind
