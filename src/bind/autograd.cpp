// Derivatives: ndarray's requires_grad, grad and backward, and what broadcloth.autograd is made of.
#include "bind/autograd.h"

#include "autograd/backward.h"
#include "autograd/graph.h"
#include "autograd/tracing.h"
#include "bind/args.h"
#include "core/error.h"

namespace bc::bind {
namespace {

using autograd::GradFunction;

// ---- grad_fn, and the handles of hooks -------------------------------------------------------------------------------------------

PyTypeObject* function_type = nullptr;
PyTypeObject* handle_type = nullptr;

/// A function of the graph; of a hook's handle with the hook's number.
struct PyFunction {
  PyObject_HEAD Ref<GradFunction> f;
  int64_t id;
};

PyFunction* as_function(PyObject* o) { return reinterpret_cast<PyFunction*>(o); }

PyRef wrap_function(PyTypeObject* type, Ref<GradFunction> f, int64_t id = 0) {
  PyFunction* self = PyObject_New(PyFunction, type);
  if (!self) throw PythonError();
  new (&self->f) Ref<GradFunction>(std::move(f));
  self->id = id;
  return PyRef::steal(reinterpret_cast<PyObject*>(self));
}

void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  as_function(self)->f.~Ref();
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) {
  return guard([&] { return to_py("<GradFunction " + as_function(self)->f->name() + ">").release(); });
}

PyObject* function_name(PyObject* self, PyObject*) {
  return guard([&] { return to_py(as_function(self)->f->name()).release(); });
}

PyObject* function_next(PyObject* self, void*) {
  return guard([&] {
    const auto& edges = as_function(self)->f->edges;
    PyRef all = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(edges.size())));
    for (size_t k = 0; k < edges.size(); ++k) {
      PyRef one = edges[k].from ? wrap_function(function_type, edges[k].from) : PyRef::borrow(Py_None);
      PyRef pair = tuple_of({one.get(), to_py(int64_t{edges[k].output}).get()});
      check(PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(k), pair.release()));
    }
    return all.release();
  });
}

PyObject* handle_remove(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    remove_hook(*as_function(self)->f, as_function(self)->id);
    Py_RETURN_NONE;
  });
}

PyMethodDef function_methods[] = {{"name", function_name, METH_NOARGS, "name($self, /)\n--\n\nThe op's name."}, {}};
PyGetSetDef function_attributes[] = {
    {"next_functions", function_next, nullptr,
     "For each operand the function that made it (None for a constant) and which of its outputs it is.", nullptr},
    {}};
PyType_Slot function_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
                                {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
                                {Py_tp_methods, function_methods},
                                {Py_tp_getset, function_attributes},
                                {0, nullptr}};
PyType_Spec function_spec = {"broadcloth._broadcloth.GradFunction", sizeof(PyFunction), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, function_slots};
PyMethodDef handle_methods[] = {{"remove", handle_remove, METH_NOARGS, "remove($self, /)\n--\n\nTakes the hook away."}, {}};
PyType_Slot handle_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)}, {Py_tp_methods, handle_methods}, {0, nullptr}};
PyType_Spec handle_spec = {"broadcloth._broadcloth.RemovableHandle", sizeof(PyFunction), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, handle_slots};

// ---- Python's functions in the graph ---------------------------------------------------------------------------------------------

/// A Python object that C++ code keeps, which may let it go in any thread.
class Kept {
 public:
  explicit Kept(PyObject* o) : o_(new_ref(o)) {}
  ~Kept() { release_object(o_); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  PyObject* get() const { return o_; }

 private:
  PyObject* o_;
};

/// What Python gives as a gradient: an array or number, or None.
Array to_gradient(PyObject* o, Device device) {
  if (o == Py_None) return {};
  const Arg given = to_arg(o, device);
  return given.array ? given.array : as_array(given, device);
}

/// Tells whether broadcasting makes `wide` of `shape`.
bool broadcasts_to(const Dims& shape, const Dims& wide) {
  const int lead = wide.size() - shape.size();
  for (int d = 0; d < shape.size(); ++d)
    if (lead < 0 || (shape[d] != 1 && shape[d] != wide[d + lead])) return false;
  return lead >= 0;
}

/// A user's autograd.Function: calls `callback(grad_fn, *gradients)`, which gives a gradient (or None) for each edge.
struct UserFunction final : GradFunction {
  UserFunction(std::string name, PyObject* callback, std::vector<autograd::Value> outputs)
      : GradFunction(std::move(outputs)), called(std::move(name)), call(std::make_shared<Kept>(callback)) {}
  const std::string called;
  std::shared_ptr<Kept> call;

  std::string name() const override { return called; }
  bool release() override {
    call = nullptr;
    return true;
  }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const GilHold gil;
    const std::shared_ptr<Kept> kept = call;
    PyRef args = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(gradients.size() + 1)));
    check(PyTuple_SetItem(args.get(), 0, wrap_function(function_type, Ref<GradFunction>(this)).release()));
    for (size_t k = 0; k < gradients.size(); ++k) check(PyTuple_SetItem(args.get(), static_cast<Py_ssize_t>(k + 1), wrap(gradients[k])));
    PyRef given = PyRef::steal(PyObject_Call(kept->get(), args.get(), nullptr));
    BC_CHECK(PyTuple_Check(given.get()) && PyTuple_Size(given.get()) == static_cast<Py_ssize_t>(edges.size()), Type,
             "{}: expected a tuple of {} gradients", called, edges.size());
    std::vector<Array> made;
    for (size_t k = 0; k < edges.size(); ++k) {
      made.push_back(to_gradient(PyTuple_GetItem(given.get(), static_cast<Py_ssize_t>(k)), edges[k].device));
      // What broadcasting made of the input is summed.
      const Dims& shape = edges[k].layout.shape;
      BC_CHECK(!made.back() || broadcasts_to(shape, made.back().shape()), Value,
               "{}: backward gave a gradient of shape {} for an input of shape {}", called, made.back().shape(), shape);
    }
    return made;
  }
};

std::function<Array(const Array&)> hook_of(PyObject* callable) {
  return [kept = std::make_shared<Kept>(callable)](const Array& g) {
    const GilHold gil;
    PyRef mine = PyRef::steal(wrap(copy(g)));
    PyRef given = bind::call(kept->get(), {mine.get()});
    return to_gradient(given.get(), g.device());
  };
}

// ---- Attributes and methods of arrays ----------------------------------------------------------------------------------------------

PyRef optional_array(Array a) { return a ? PyRef::steal(wrap(std::move(a))) : PyRef::borrow(Py_None); }

PyObject* get_requires_grad(PyObject* self, void*) { return PyBool_FromLong(autograd::requires_grad(array_of(self))); }
int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_AttributeError, "requires_grad cannot be deleted");
    autograd::set_requires_grad(array_of(self), to_bool(value));
    return 0;
  });
}
PyObject* get_is_leaf(PyObject* self, void*) { return PyBool_FromLong(autograd::is_leaf(array_of(self))); }
PyObject* get_grad(PyObject* self, void*) {
  return guard([&] { return optional_array(autograd::gradient_of(array_of(self))).release(); });
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (value && value != Py_None && !is_array(value)) raise(ErrorKind::Type, "grad: expected an array or None, got {}", type_name(value));
    autograd::set_gradient(array_of(self), value && value != Py_None ? array_of(value) : Array());
    return 0;
  });
}
PyObject* get_grad_fn(PyObject* self, void*) {
  return guard([&] {
    const Array& a = array_of(self);
    if (autograd::is_leaf(a)) return new_ref(Py_None);
    return wrap_function(function_type, Ref<GradFunction>(autograd::function_of(a))).release();
  });
}

/// The gradients to start from: ones for numbers, where none are given.
Array seed_of(const Array& output, PyObject* given) {
  if (given != Py_None) {
    const Array g = to_gradient(given, output.device());
    BC_CHECK(g.shape() == output.shape(), Value, "backward: expected a gradient of shape {}, got {}", output.shape(), g.shape());
    return g;
  }
  BC_CHECK(output.size() == 1, Runtime,
           "backward: expected a gradient for an array of shape {}; only an array of one element has 1 by itself", output.shape());
  return ones(output.shape(), output.dtype(), output.device());
}

std::vector<PyObject*> items_of(PyObject* given) {
  std::vector<PyObject*> items;
  if (given == Py_None) return items;
  if (is_array(given)) return {given};
  BC_CHECK(PyTuple_Check(given) || PyList_Check(given), Type, "grad: expected an array or a sequence of arrays, got {}", type_name(given));
  const bool list = PyList_Check(given);
  for (Py_ssize_t k = 0, n = list ? PyList_Size(given) : PyTuple_Size(given); k < n; ++k)
    items.push_back(list ? PyList_GetItem(given, k) : PyTuple_GetItem(given, k));
  return items;
}

std::vector<Array> arrays_of(PyObject* given) {
  std::vector<Array> all;
  for (PyObject* o : items_of(given)) {
    BC_CHECK(is_array(o), Type, "grad: expected arrays, got {}", type_name(o));
    all.push_back(array_of(o));
  }
  return all;
}

/// The gradients of `outputs` for `inputs` (None: all leaves), which are added to `.grad` where `accumulate` says so.
PyRef run_backward(PyObject* outputs, PyObject* gradients, PyObject* inputs, bool retain_graph, bool create_graph, bool accumulate,
                   bool allow_unused) {
  const std::vector<Array> y = arrays_of(outputs), x = arrays_of(inputs);
  const std::vector<PyObject*> given = items_of(gradients);
  BC_CHECK(given.empty() || given.size() == y.size(), Value, "backward: expected {} gradients, one for each output, got {}", y.size(),
           given.size());
  std::vector<Array> seeds;
  {
    const autograd::GradMode mode(create_graph);
    for (size_t k = 0; k < y.size(); ++k) seeds.push_back(seed_of(y[k], given.empty() ? Py_None : given[k]));
  }
  const std::vector<Array> made = autograd::backward(
      y, seeds, x, {.retain_graph = retain_graph, .create_graph = create_graph, .accumulate = accumulate, .allow_unused = allow_unused});
  PyRef all = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(made.size())));
  for (size_t k = 0; k < made.size(); ++k) check(PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(k), optional_array(made[k]).release()));
  return all;
}

/// Makes the outputs of a user's function depend on its inputs; gives the arrays to go on with.
PyRef attach_function(std::string_view name, PyObject* outputs, PyObject* inputs, PyObject* callback) {
  const autograd::GradMode off(false);
  autograd::watch_recording();
  std::vector<Array> made = arrays_of(outputs);
  const std::vector<Array> read = arrays_of(inputs);
  std::vector<autograd::Value> values;
  for (size_t k = 0; k < made.size(); ++k) {
    Array& y = made[k];
    bool shared = static_cast<bool>(y.storage()->history) || !y.contiguous() || y.offset() != 0;
    for (const Array& x : read) shared = shared || x.storage() == y.storage();
    for (size_t i = 0; i < k; ++i) shared = shared || made[i].storage() == y.storage();
    y = (shared ? copy(y) : y).detached(false);
    values.push_back(autograd::value_of(*y.storage()));
  }
  Ref<UserFunction> f = new UserFunction(std::string(name), callback, std::move(values));
  for (const Array& x : read) f->edges.push_back(autograd::edge_to(x));
  PyRef all = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(made.size())));
  for (size_t k = 0; k < made.size(); ++k) {
    if (is_inexact(made[k].dtype())) autograd::attach(made[k], new autograd::OutputOf(Ref<GradFunction>(f.get()), static_cast<int>(k)));
    check(PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(k), wrap(made[k])));
  }
  return all;
}

/// A saved output of a user's function, with its history.
Array output_of(PyObject* function, int64_t output, const Array& saved) {
  BC_CHECK(is_exact(function, function_type), Type, "output_of: expected a GradFunction, got {}", type_name(function));
  Array y = autograd::snapshot(saved, false);
  autograd::attach(y, new autograd::OutputOf(as_function(function)->f, static_cast<int>(output)));
  return y;
}

PyRef detach(PyObject* self) {
  const Array& a = array_of(self);
  return PyRef::steal(wrap_view(a.history() ? a.detached() : a, self));
}

}  // namespace

std::vector<PyMethodDef> autograd_functions() {
  return {
      BC_FUNCTION("is_grad_enabled() Whether this thread records ops for derivatives.", [] { return autograd::grad_enabled(); }),
      BC_FUNCTION("set_grad_enabled(mode) Switches grad mode of this thread; tells what it was.",
                  [](bool mode) { return autograd::set_grad_enabled(mode); }),
      BC_FUNCTION("run_backward(outputs: Sequence[ndarray] | None, gradients: Sequence[ndarray] | None, inputs: Sequence[ndarray] | None, "
                  "retain_graph, create_graph, accumulate, allow_unused) -> tuple[ndarray | None, ...]",
                  run_backward),
      BC_FUNCTION("attach_function(name, outputs: Sequence[ndarray], inputs: Sequence[ndarray], callback: Callable[..., tuple[Any, ...]]) "
                  "-> tuple[ndarray, ...]",
                  attach_function),
      BC_FUNCTION("output_of(function: GradFunction, output, saved)", output_of),
      BC_FUNCTION("begin_trace() Follows ops for vmap from now on.", [] { return static_cast<int64_t>(autograd::begin_trace()); }),
      BC_FUNCTION(
          "differs(a) -> bool Whether the elements of an array differ between the examples of a vmap, so that the host cannot look.",
          [](const Array& a) { return autograd::differs(a); }),
      BC_FUNCTION("end_trace(trace)", [](int64_t trace) { autograd::end_trace(static_cast<uint64_t>(trace)); }),
      BC_FUNCTION("trace_input(a) A copy that the trace follows.", [](const Array& a) { return autograd::trace_input(a); }),
      BC_FUNCTION("replay_trace(trace, outputs: Sequence[ndarray], inputs: Sequence[ndarray], all: Sequence[ndarray]) The outputs for all "
                  "examples.",
                  [](int64_t trace, PyObject* outputs, PyObject* inputs, PyObject* all) {
                    return autograd::replay(static_cast<uint64_t>(trace), arrays_of(outputs), arrays_of(inputs), arrays_of(all));
                  }),
      BC_FUNCTION("snapshot(a) The array as it is now, with its history.", [](const Array& a) { return autograd::snapshot(a); }),
  };
}

void add_autograd_attributes(std::vector<PyGetSetDef>* attributes) {
  attributes->push_back(
      {"requires_grad", get_requires_grad, set_requires_grad, "Whether derivatives are followed through the array.", nullptr});
  attributes->push_back({"grad", get_grad, set_grad, "The gradient that backward() has left here, or None.", nullptr});
  attributes->push_back({"is_leaf", get_is_leaf, nullptr, "Whether the array is the result of no recorded op.", nullptr});
  attributes->push_back({"grad_fn", get_grad_fn, nullptr, "The function of the graph that made the array; None for a leaf.", nullptr});
}

void add_autograd_methods(std::vector<PyMethodDef>* methods) {
  const std::vector<PyMethodDef> mine = {
      BC_METHOD("requires_grad_(requires_grad=True) Sets requires_grad in place; gives the array.",
                [](PyObject* self, bool on) {
                  autograd::set_requires_grad(array_of(self), on);
                  return PyRef::borrow(self);
                }),
      BC_METHOD("backward(gradient=None, retain_graph=None, create_graph=False, inputs=None) Adds the gradients of leaves to their grad.",
                [](PyObject* self, PyObject* gradient, std::optional<bool> retain_graph, bool create_graph, PyObject* inputs) {
                  PyRef outputs = tuple_of({self}), seeds = gradient == Py_None ? PyRef::borrow(Py_None) : tuple_of({gradient});
                  run_backward(outputs.get(), seeds.get(), inputs, retain_graph.value_or(create_graph), create_graph, true, false);
                }),
      BC_METHOD("detach() A view that is a constant for derivatives.", detach),
      BC_METHOD("retain_grad() Keeps the gradient of an array that is no leaf, too.",
                [](PyObject* self) { autograd::retain_gradient(array_of(self)); }),
      BC_METHOD("register_hook(hook) Calls hook(gradient) when the array's gradient is known.",
                [](PyObject* self, PyObject* hook) {
                  BC_CHECK(PyCallable_Check(hook), Type, "register_hook: expected a callable, got {}", type_name(hook));
                  const int64_t id = autograd::add_hook(array_of(self), hook_of(hook));
                  return wrap_function(handle_type, Ref<GradFunction>(autograd::function_of(array_of(self))), id);
                }),
  };
  methods->insert(methods->end(), mine.begin(), mine.end());
}

void init_autograd(PyObject* module) {
  function_type = add_type(module, &function_spec, "GradFunction");
  handle_type = add_type(module, &handle_spec, "RemovableHandle");
}

}  // namespace bc::bind
