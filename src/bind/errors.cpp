// The one place where C++ exceptions become Python's.
#include <cstring>
#include <new>

#include "bind/interrupts.h"
#include "bind/state.h"
#include "bind/warnings.h"
#include "runtime/interrupt.h"

namespace bc::bind {
namespace {

/// NumPy's UFuncTypeError, so that programs which catch it catch ours; it is private in NumPy, hence the fallback.
PyRef numpy_ufunc_type_error() {
  for (const char* module : {"numpy._core._exceptions", "numpy.core._exceptions"}) {
    PyRef m = PyRef::maybe(PyImport_ImportModule(module));
    if (m) {
      PyRef e = PyRef::maybe(PyObject_GetAttrString(m.get(), "UFuncTypeError"));
      if (e) return e;
    }
    PyErr_Clear();
  }
  return PyRef::borrow(PyExc_TypeError);
}

/// A class of NumPy that is looked up at the first error of its kind; `fallback` where NumPy lacks it.
PyObject* numpy_class(const char* module, const char* name, PyObject* fallback) {
  PyRef m = PyRef::maybe(PyImport_ImportModule(module));
  PyRef c = m ? PyRef::maybe(PyObject_GetAttrString(m.get(), name)) : nullptr;
  if (!c) PyErr_Clear();
  return c ? c.release() : new_ref(fallback);
}

PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Value: return new_ref(PyExc_ValueError);
    case ErrorKind::Type: return new_ref(PyExc_TypeError);
    case ErrorKind::Index: return new_ref(PyExc_IndexError);
    case ErrorKind::Axis: return numpy_class("numpy.exceptions", "AxisError", PyExc_ValueError);
    case ErrorKind::LinAlg: return numpy_class("numpy.linalg", "LinAlgError", PyExc_ValueError);
    case ErrorKind::Memory: return new_ref(PyExc_MemoryError);
    case ErrorKind::Overflow: return new_ref(PyExc_OverflowError);
    case ErrorKind::ZeroDivision: return new_ref(PyExc_ZeroDivisionError);
    case ErrorKind::UFuncTypeError: return new_ref(state().ufunc_type_error);
    case ErrorKind::Runtime: return new_ref(PyExc_RuntimeError);
    case ErrorKind::NotImplemented: return new_ref(PyExc_NotImplementedError);
    case ErrorKind::Import: return new_ref(PyExc_ImportError);
    case ErrorKind::Attribute: return new_ref(PyExc_AttributeError);
    case ErrorKind::Compile: return new_ref(state().compile_error);
    case ErrorKind::Typing: return new_ref(state().typing_error);
  }
  return new_ref(PyExc_RuntimeError);
}

}  // namespace

void init_errors(PyObject* module) {
  PyRef base = numpy_ufunc_type_error();
  PyRef type = PyRef::steal(PyErr_NewExceptionWithDoc(
      "broadcloth.UFuncTypeError", "A ufunc has no loop for the operands' types, or the casting rule forbids the way to one.", base.get(),
      nullptr));
  state().ufunc_type_error = type.get();
  state().no_loop_error = base.get() == PyExc_TypeError ? type.get() : base.get();
  check(PyModule_AddObjectRef(module, "UFuncTypeError", type.release()));
  const auto add = [&](const char* name, const char* doc, PyObject* parent) {
    PyRef made = PyRef::steal(PyErr_NewExceptionWithDoc(name, doc, parent, nullptr));
    check(PyModule_AddObjectRef(module, std::strrchr(name, '.') + 1, made.get()));
    return made.release();
  };
  state().compile_error =
      add("broadcloth.CompileError", "The compiler refused a kernel's CUDA C++; the message is its log.", PyExc_RuntimeError);
  state().typing_error = add("broadcloth.TypingError", "A compiled Python function has no types that fit.", PyExc_TypeError);
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "broadcloth: an error was lost");
  } catch (const Interrupted&) {
    raise_interrupt();
  } catch (const Error& e) {
    PyRef type = PyRef::maybe(exception_of(e.kind()));
    PyErr_SetString(type.get(), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "broadcloth: an unknown C++ exception");
  }
}

void warn(PyObject* category, const char* text) {
  call(import_attr("broadcloth._warnings", "warn").get(), {PyRef::steal(PyUnicode_FromString(text)).get(), category});
}

PyObject* performance_warning() {
  static constinit OnceObject once;
  return once.make([] {
    PyRef found = PyRef::maybe(PyObject_GetAttrString(import("broadcloth.exceptions").get(), "PerformanceWarning"));
    if (!found) PyErr_Clear();
    return found ? found : PyRef::borrow(PyExc_RuntimeWarning);
  });
}

void throw_python(PyObject* type, const char* message) {
  PyErr_SetString(type, message);
  throw PythonError();
}

std::string_view as_string(PyObject* unicode) {
  Py_ssize_t n = 0;
  const char* s = PyUnicode_AsUTF8AndSize(unicode, &n);
  if (!s) throw PythonError();
  return {s, static_cast<size_t>(n)};
}

PyRef attr_or_null(PyObject* o, PyObject* name) {
  PyRef value = PyRef::maybe(PyObject_GetAttr(o, name));
  if (!value) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw PythonError();
    PyErr_Clear();
  }
  return value;
}

PyRef import_attr(const char* module, const char* name) { return attr(import(module).get(), name); }

PyRef tuple_of(std::initializer_list<PyObject*> items) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  Py_ssize_t i = 0;
  for (PyObject* item : items) check(PyTuple_SetItem(t.get(), i++, new_ref(item)));
  return t;
}

PyRef call(PyObject* f, std::initializer_list<PyObject*> args, PyObject* kwargs) {
  return PyRef::steal(PyObject_Call(f, tuple_of(args).get(), kwargs));
}

const char* type_name(PyObject* o) {
  // tp_name is out of the limited API's reach; the string lives as long as the type keeps it, which is long enough for a message.
  PyRef name = PyRef::maybe(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__name__"));
  if (!name) {
    PyErr_Clear();
    return "object";
  }
  thread_local std::string kept;
  kept = as_string(name.get());
  return kept.c_str();
}

}  // namespace bc::bind
