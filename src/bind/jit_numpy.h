#pragma once
#include <cstdint>

#include "bind/state.h"

/// NumPy's arrays and scalars as its C API lays them out in memory (NPY_ABI_VERSION 0x02000000 and the one before have the same fields). A
/// compiled function reads its arguments here: asking an array for its buffer or its interface costs several times as much as the call.
namespace bc::bind {

struct NumpyArrayFields {
  PyObject_HEAD char* data;
  int ndim;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  PyObject* base;
  PyObject* descr;
  int flags;
};

/// A record: an element of an array refers to the array's memory.
struct NumpyRecordFields {
  PyObject_VAR_HEAD char* data;
  PyObject* descr;
  int flags;
  PyObject* base;
};

enum NumpyFlags : int { kNumpyC = 0x1, kNumpyF = 0x2, kNumpyAligned = 0x100, kNumpyWriteable = 0x400 };

inline const NumpyArrayFields* numpy_fields(PyObject* o) { return reinterpret_cast<const NumpyArrayFields*>(o); }

/// Where a NumPy scalar keeps its value: right after the object's head, at the value's own alignment.
inline const void* numpy_scalar_value(PyObject* o, size_t alignment) {
  const size_t head = (sizeof(PyObject) + alignment - 1) / alignment * alignment;
  return reinterpret_cast<const char*>(o) + head;
}

/// The functions of NumPy's C API that are used, by their places in its table.
struct NumpyApi {
  /// Steals `descr`.
  PyObject* (*new_from_descr)(PyTypeObject* type, PyObject* descr, int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides,
                              void* data, int flags, PyObject* like);
  /// Steals `base`.
  int (*set_base)(PyObject* array, PyObject* base);
};
const NumpyApi& numpy_api();

}  // namespace bc::bind
