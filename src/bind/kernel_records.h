#pragma once
#include "bind/array.h"

/// Arrays of records on a device: broadcloth.cuda's RecordArray holds their bytes in a uint8 array, with NumPy's dtype, shape and strides.
namespace bc::bind {

bool is_record_array(PyObject* o);

/// What a RecordArray says of itself. Refers to it.
struct RecordParts {
  PyRef tuple;
  const Array* bytes = nullptr;  ///< from the first element on
  PyObject* dtype = nullptr;
  Dims shape, strides;  ///< in bytes
  char layout = 'C';
};
RecordParts record_parts(PyObject* record_array);

}  // namespace bc::bind
