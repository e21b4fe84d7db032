#pragma once
#include <atomic>

#include "bind/py.h"
#include "core/dtype.h"

namespace bc::bind {

// Attribute and keyword names that are looked up often, interned once.
// clang-format off
#define BC_NAMES(X) \
  X(dtype) X(out) X(where) X(casting) X(order) X(subok) X(device) X(signature) X(sig) X(item) X(name) X(kind) \
  X(itemsize) X(isnative) X(newbyteorder) X(astype) X(copy) X(stream) X(max_version) X(dl_device) X(id) X(f_back) \
  X(co_filename) X(__name__) X(__array__) X(__array_struct__) X(__array_interface__) X(__array_ufunc__) X(__array_function__) \
  X(__array_priority__) X(__cuda_array_interface__) X(__dlpack__) X(__dlpack_device__)
// clang-format on

struct Names {
#define X(name) PyObject* name = nullptr;
  BC_NAMES(X)
#undef X
};

/// What the module makes when it is loaded and keeps until the process ends. Written before any other thread can call in.
struct State {
  PyTypeObject* array = nullptr;
  PyTypeObject* ufunc = nullptr;
  PyTypeObject* device = nullptr;
  PyTypeObject* pointer = nullptr;
  PyTypeObject* flags = nullptr;
  PyTypeObject* flat = nullptr;
  PyTypeObject* array_iterator = nullptr;
  PyTypeObject* recorder = nullptr;
  PyTypeObject* own_dtype_type = nullptr;
  PyTypeObject* kernel_record = nullptr;
  PyTypeObject* copy_record = nullptr;
  PyObject* ufunc_type_error = nullptr;
  PyObject* no_loop_error = nullptr;  ///< its base, which NumPy raises
  PyObject* compile_error = nullptr;
  PyObject* typing_error = nullptr;
  PyObject* record_error = nullptr;  ///< a TypeError: a dtype has fields
  PyObject* ufuncs = nullptr;        ///< dict: name → ufunc
  PyObject* module = nullptr;

  PyObject* numpy = nullptr;
  PyTypeObject* np_ndarray = nullptr;
  PyTypeObject* np_generic = nullptr;
  PyTypeObject* np_dtype = nullptr;
  PyObject* np_empty = nullptr;
  PyObject* np_asarray = nullptr;
  PyObject* np_no_value = nullptr;
  PyObject* dtypes[kDTypeCount] = {};             ///< numpy.dtype objects; none of types that NumPy does not have by itself
  PyObject* scalar_types[kDTypeCount] = {};       ///< numpy.float32 …; none of those
  PyObject* named_types[kDTypeCount] = {};        ///< broadcloth.float32 …, subclasses of those
  PyObject* own_dtypes[kDTypeCount] = {};         ///< our objects for types that NumPy does not have by itself
  PyObject* time_types[2] = {};                   ///< numpy.timedelta64, numpy.datetime64
  std::atomic<PyObject*> found_dtypes[256] = {};  ///< numpy.dtype objects of those and of times, found at first use
  Names names;
};

namespace detail {
extern State the_state;
}
inline State& state() { return detail::the_state; }

/// The NumPy objects and names above.
void init_state(PyObject* module);

// Each subject adds its types and functions to the module.
void init_errors(PyObject* module);
void init_dtype(PyObject* module);
void init_device(PyObject* module);
void init_array(PyObject* module);
void init_array_iterator(PyObject* module);
void init_attributes(PyObject* module);
void init_ufunc(PyObject* module);
void init_convert(PyObject* module);
void init_interop(PyObject* module);
void init_functions(PyObject* module);
void init_random(PyObject* module);
void init_engine(PyObject* module);
void init_profiler(PyObject* module);
void init_kernels(PyObject* module);
void init_kernel_records(PyObject* module);
void init_jit(PyObject* module);
void init_vectorize(PyObject* module);
void init_compiled_texts(PyObject* module);
void init_raw_kernel(PyObject* module);
void init_kernel_dispatcher(PyObject* module);
void init_user_kernels(PyObject* module);
void init_cuda(PyObject* module);
void init_texture(PyObject* module);
void init_cuda_memory(PyObject* module);
void init_cuda_pool(PyObject* module);
void init_cuda_device(PyObject* module);

/// Makes a heap type, adds it to the module and returns it (kept for ever).
PyTypeObject* add_type(PyObject* module, PyType_Spec* spec, const char* name);

}  // namespace bc::bind
