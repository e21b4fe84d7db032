/// Vectorcall: what the limited API of 3.11 does not name; every CPython from 3.8 on has it with these values and this layout.
#pragma once
#include "bind/py.h"

#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif
#ifndef Py_TPFLAGS_METHOD_DESCRIPTOR
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#endif

#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030C0000
extern "C" PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames);
#endif

namespace bc::bind {

using Vectorcall = PyObject* (*)(PyObject* callable, PyObject* const* args, size_t nargsf, PyObject* kwnames);

/// How many arguments are positional.
inline Py_ssize_t positional_count(size_t nargsf) { return static_cast<Py_ssize_t>(nargsf & ~(size_t{1} << (8 * sizeof(size_t) - 1))); }

}  // namespace bc::bind
