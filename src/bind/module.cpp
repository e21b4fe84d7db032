// The extension module broadcloth._broadcloth.
#include <cstdlib>

#include "bind/array.h"
#include "bind/autograd.h"
#include "bind/documentation.h"
#include "bind/interrupts.h"
#include "bind/program.h"
#include "bind/waits.h"
#include "core/cpu_level.h"

namespace bc::bind {

namespace detail {
State the_state;
}

void init_state(PyObject* module) {
  State& s = state();
  s.module = new_ref(module);
#define X(text) s.names.text = PyRef::steal(PyUnicode_InternFromString(#text)).release();
  BC_NAMES(X)
#undef X
  PyRef numpy = import("numpy");
  auto type = [&](const char* name) { return reinterpret_cast<PyTypeObject*>(attr(numpy.get(), name).release()); };
  s.np_ndarray = type("ndarray");
  s.np_generic = type("generic");
  s.np_dtype = type("dtype");
  s.np_empty = attr(numpy.get(), "empty").release();
  s.np_asarray = attr(numpy.get(), "asarray").release();
  PyRef no_value = PyRef::maybe(PyObject_GetAttrString(numpy.get(), "_NoValue"));
  if (!no_value) PyErr_Clear();
  s.np_no_value = no_value.release();
  s.numpy = numpy.release();
}

namespace {

/// The import of NumPy makes objects that stay; the collector would go through them dozens of times (10 ms), and once more afterwards (3
/// ms) if they were young then. Objects that are frozen and freed again belong to the oldest generation, without a look at any.
struct CollectorOff {
  const int was = PyGC_Disable();
  ~CollectorOff() {
    if (!was) return;
    if (!PyErr_Occurred()) make_all_old();  // the import has not failed
    PyGC_Enable();
  }
  static void make_all_old() {
    PyRef gc = PyRef::maybe(PyImport_ImportModule("gc"));
    PyRef frozen = gc ? PyRef::maybe(PyObject_CallMethod(gc.get(), "get_freeze_count", nullptr)) : PyRef();
    // Objects that the program has frozen stay frozen.
    if (frozen && PyObject_IsTrue(frozen.get()) == 0)
      for (const char* step : {"freeze", "unfreeze"}) PyRef::maybe(PyObject_CallMethod(gc.get(), step, nullptr));
    PyErr_Clear();
  }
};

int exec_module(PyObject* module) {
  return guard(-1, [&] {
    // Types and NumPy's objects are one set a process, and belong to the interpreter that made them.
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
      throw_python(PyExc_ImportError,
                   "broadcloth cannot be imported in a subinterpreter: arrays and their types belong to the main one, as NumPy's do; use "
                   "threads, or processes (multiprocessing)");
    if (state().module) {
      // Types are one set a process, or arrays of two loads would not know each other: a second load shares the first one's.
      PyObject *key = nullptr, *value = nullptr;
      Py_ssize_t at = 0;
      while (PyDict_Next(PyModule_GetDict(state().module), &at, &key, &value))
        if (as_string(key).substr(0, 2) != "__") check(PyObject_SetAttr(module, key, value));
      check(PyModule_AddStringConstant(module, "__version__", BC_VERSION));
      return 0;
    }
    const CollectorOff off;
    cpu_level();  // a wrong BROADCLOTH_CPU ends the import, not the first computation
    init_state(module);
    for (auto* init :
         {init_errors,  init_interrupts, init_dtype,          init_device,       init_attributes, init_array,      init_array_iterator,
          init_ufunc,   init_convert,    init_interop,        init_functions,    init_random,     init_raw_kernel, init_kernel_dispatcher,
          init_texture, init_profiler,   init_engine,         init_user_kernels, init_cuda,       init_kernels,    init_kernel_records,
          init_jit,     init_vectorize,  init_compiled_texts, init_autograd,     init_program,    init_waits,      init_documentation})
      init(module);
    check(PyModule_AddStringConstant(module, "__version__", BC_VERSION));
    const char* trace = std::getenv("BROADCLOTH_TRACE");
    LineNote::trace.store(trace && *trace && *trace != '0');
    return 0;
  });
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(exec_module)},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_broadcloth",
    "broadcloth's engine. Programs use the package broadcloth.",
    0,
    nullptr,
    slots,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace
}  // namespace bc::bind

PyMODINIT_FUNC PyInit__broadcloth() { return PyModuleDef_Init(&bc::bind::definition); }
