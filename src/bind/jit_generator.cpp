// Generators of compiled functions as Python's iterators.
#include "bind/args.h"
#include "bind/convert.h"
#include "bind/jit_dispatcher.h"

namespace bc::bind::jit {
namespace {

struct PyGenerator {
  PyObject_HEAD host::Block* block;
  const Compiled* compiled;
  PyObject* arguments;  ///< what the generator reads must stay
  bool done;
};
PyTypeObject* generator_class = nullptr;
PyGenerator* as_generator(PyObject* o) { return reinterpret_cast<PyGenerator*>(o); }

void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  PyGenerator* self = as_generator(o);
  if (self->block) host::drop_shared(self->block);
  Py_CLEAR(self->arguments);
  auto* free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(o);
  Py_DECREF(type);
}

PyObject* iterate(PyObject* o) { return new_ref(o); }

PyObject* next(PyObject* o) {
  return guard([&]() -> PyObject* {
    PyGenerator* self = as_generator(o);
    if (self->done) return nullptr;
    const Compiled& c = *self->compiled;
    const Box& plan = c.box.members[0];
    ResultRoom room(plan.bytes);
    char* const result = room.get();
    void* arguments[1] = {&self->block};
    host::Call call;
    call.threads = c.threads;
    static const auto& none = *new Frame;  // its arguments were read when it began
    Interpretation interpretation(&call, c.interpreted, none);
    if (!host::run(c.next, arguments, result, &call)) {
      self->done = true;
      if (call.failure == -1) return nullptr;
      interpretation.raise_again(call);
      throw_failure(failure_of(c.failures, call));
    }
    return box(plan, result, none, &call).release();
  });
}

}  // namespace

PyRef new_generator(const Compiled* compiled, host::Block* block, PyRef arguments) {
  auto* alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(generator_class, Py_tp_alloc));
  PyRef made = PyRef::maybe(alloc(generator_class, 0));
  if (!made) {
    host::drop_shared(block);
    throw PythonError();
  }
  as_generator(made.get())->block = block;
  as_generator(made.get())->compiled = compiled;
  as_generator(made.get())->arguments = arguments.release();
  return made;
}

void init_generators(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_iter, reinterpret_cast<void*>(iterate)},
                         {Py_tp_iternext, reinterpret_cast<void*>(next)},
                         {0, nullptr}};
  PyType_Spec spec = {"broadcloth.Generator", sizeof(PyGenerator), 0, Py_TPFLAGS_DEFAULT, slots};
  generator_class = add_type(module, &spec, "Generator");
}

}  // namespace bc::bind::jit
