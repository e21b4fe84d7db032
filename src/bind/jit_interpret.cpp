// Blocks of compiled functions that the interpreter runs.
#include <cstring>

#include "bind/convert.h"
#include "bind/jit_dispatcher.h"
#include "bind/kernels.h"

namespace bc::bind::jit {
namespace {

/// The results of one run: the objects, and how compiled code sees them.
struct Values {
  Frame frame;
  std::vector<PyRef> objects;
};

/// Python's exception as compiled code knows it: by the nearest class that it has a number for.
host::Raised kind_of(PyObject* error) {
  PyRef classes = attr(reinterpret_cast<PyObject*>(Py_TYPE(error)), "__mro__");
  for (Py_ssize_t i = 0; i < PyTuple_Size(classes.get()); ++i) {
    PyRef name = attr(PyTuple_GetItem(classes.get(), i), "__name__");
    for (int kind = 1; kind <= static_cast<int>(host::Raised::interrupted); ++kind)
      if (as_string(name.get()) == host::exception_name(static_cast<host::Raised>(kind))) return static_cast<host::Raised>(kind);
  }
  return host::Raised::exception;
}

/// Puts a result where compiled code reads it, as the type that was declared.
void put(PyObject* o, kernels::Type t, const std::string& name, char* to, Values* values) {
  using kernels::Kind;
  const auto refuse = [&](const std::string& got) {
    raise(ErrorKind::Type, "objmode: '{}' was declared as {}, the block gives {}", name, t->spelling, got);
  };
  if (t->is(Kind::none)) return;
  if (t->is_scalar()) {
    if (is_complex(t->dtype) ? !PyComplex_Check(o) && !PyNumber_Check(o) : !PyNumber_Check(o)) refuse(std::string(type_name(o)));
    return store_value(o, t, to);
  }
  values->objects.push_back(PyRef::borrow(o));
  if (is_array(o)) values->objects.push_back(call(import_attr("numpy", "asarray").get(), {o}));
  PyObject* given = values->objects.back().get();
  const kernels::Type from = t->is(Kind::text) && PyUnicode_Check(given) ? t : type_of(given);
  if (from != t && !(from->is_array() && kernels::converts(from, t))) {
    if (t->is(Kind::tuple) && from->is(Kind::tuple)) return store_value(given, t, to);
    refuse(from->spelling);
  }
  values->frame.add(given);
  values->frame.share_objects(false);
  std::memcpy(to, values->frame.value(values->frame.count() - 1), t->bytes);
}

}  // namespace

/// The engine's side of it.
struct InterpreterOf {
  static host::Raised run(host::Call* call, int32_t which, const void* inputs, void* outputs, void** kept, std::string* message) {
    GilHold hold;
    auto* self = static_cast<Interpretation*>(call->interpreter_context);
    const auto failed = [&] {
      PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
      PyErr_Fetch(&type, &value, &trace);
      PyErr_NormalizeException(&type, &value, &trace);
      if (trace && value) PyException_SetTraceback(value, trace);
      Py_XDECREF(type);
      Py_XDECREF(trace);
      PyRef error = PyRef::steal(value);
      PyRef text = PyRef::maybe(PyObject_Str(error.get()));
      if (!text) PyErr_Clear();
      *message = text ? std::string(as_string(text.get())) : std::string();
      const host::Raised kind = kind_of(error.get());
      self->error_ = std::move(error);
      self->raised_ = kind;
      self->message_ = *message;
      return kind;
    };
    auto values = std::make_unique<Values>();
    PyObject* done = guard([&]() -> PyObject* {
      const InterpretedBlock& block = self->blocks_[static_cast<size_t>(which)];
      PyRef given = box(block.inputs, static_cast<const char*>(inputs), self->frame_, call);
      PyRef results = PyRef::steal(PyObject_CallObject(block.callable, given.get()));
      for (size_t i = 0; i < block.names.size(); ++i)
        put(PyTuple_GetItem(results.get(), static_cast<Py_ssize_t>(i)), block.outputs->items[i], block.names[i],
            static_cast<char*>(outputs) + block.outputs->offsets[i], values.get());
      return new_ref(Py_None);
    });
    if (!done) return failed();
    Py_DECREF(done);
    *kept = values.release();
    return host::Raised::none;
  }
  static host::Block* keep(void* kept, const void* data) {
    GilHold hold;
    const void *low = nullptr, *high = nullptr;
    PyObject* object = static_cast<Values*>(kept)->frame.holder(data, &low, &high);
    if (!object) return nullptr;
    return host::new_foreign(new_ref(object), [](void* o) { release_object(static_cast<PyObject*>(o)); }, low, high);
  }
  static void forget(void* kept) {
    GilHold hold;
    delete static_cast<Values*>(kept);
  }
};

Interpretation::Interpretation(host::Call* call, const std::vector<InterpretedBlock>& blocks, const Frame& frame)
    : blocks_(blocks), frame_(frame) {
  static constexpr host::Interpreter interpreter{InterpreterOf::run, InterpreterOf::keep, InterpreterOf::forget};
  if (blocks.empty()) return;
  call->interpreter = &interpreter;
  call->interpreter_context = this;
}

void Interpretation::raise_again(const host::Call& call) {
  if (!error_ || call.failure != 0 || call.raised != raised_ || call.message != message_) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.get())), error_.get());
  throw PythonError();
}

}  // namespace bc::bind::jit
