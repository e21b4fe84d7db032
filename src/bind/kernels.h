#pragma once
#include <memory>
#include <vector>

#include "bind/array.h"
#include "kernels/compile.h"

/// Python functions and Python values, as the compiler of functions sees them.
namespace bc::bind {

/// The compiler's view of a Python function (or of a dispatcher over one: its py_func). One object for each function, kept for ever.
/// Throws TypeError when its source cannot be found.
const kernels::Function& function_of(PyObject* function);
/// The C++ text of a Python function for these types. Threads take turns: the compiler asks Python what names mean, and remembers it.
kernels::CompiledFunction compile_function(PyObject* function, const std::vector<kernels::Type>& arguments,
                                           const kernels::CompileOptions& options);

/// What a Python object means inside a compiled function; nullopt never: what is not known is a Kind::object.
kernels::Entity entity_of(PyObject* o);

/// The type of an argument. An int is int64, a float float64, NumPy's scalars and arrays have their dtypes. Throws TypeError for objects
/// that no function takes.
kernels::Type type_of(PyObject* o);
/// The dtype that a record type was made of (borrowed), nullptr for other types.
PyObject* record_dtype(kernels::Type t);
/// The bit generator of a numpy.random.Generator, nullptr for other objects.
void* random_generator(PyObject* o);
/// A slice with bounds that are whole numbers or None: which it has, as kernels::slice_type says, and start, stop and step.
struct SliceParts {
  int given = 0;
  int64_t bounds[3] = {0, 0, 1};
};
SliceParts slice_parts(PyObject* slice);
inline bool is_slice(PyObject* o) { return Py_TYPE(o) == &PySlice_Type; }
/// Bytes, a bytearray or a memoryview as a NumPy array over their memory.
PyRef array_over(PyObject* buffer);
/// Whether a compiled function takes the object as an array: bytes, a bytearray, a memoryview or an array.array.
bool is_buffer(PyObject* o);
/// The type that an annotation or a signature's item means: a type of broadcloth.types, a dtype, a string; nullptr for None.
kernels::Type type_of_annotation(PyObject* o);
/// A signature: a string, a call of a type (float32(float32, float32)), a tuple of types.
kernels::FunctionSignature signature_of_object(PyObject* o);

/// An array's type: dtype, dimensions, layout.
kernels::Type type_of_array(DType dtype, const Dims& shape, const Dims& strides, bool read_only);

/// Writes a value that is no array (a number, tuple, record …) as type_of's layout has it; `to` has room for type->bytes.
void store_value(PyObject* o, kernels::Type type, void* to);
/// The Python object of a value at `from`: numbers become Python's own (bool, int, float, complex) as Numba returns them.
PyRef load_value(kernels::Type type, const void* from);

/// The `link` option: paths of files and cuda.LinkableCode objects, read now.
std::vector<LinkedCode> linked_code(PyObject* items);

/// The Python object that a constant is, and a tuple of several.
PyRef object_of(const kernels::Constant& c);
PyRef object_of(const std::vector<kernels::Constant>& items);

void init_kernels(PyObject* module);

}  // namespace bc::bind
