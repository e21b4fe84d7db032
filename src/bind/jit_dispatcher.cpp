#include "bind/jit_dispatcher.h"

#include <algorithm>
#include <cstring>

#include "bind/args.h"
#include "bind/jit_containers.h"
#include "runtime/parallel.h"

namespace bc::bind::jit {
namespace {

PyTypeObject* dispatcher_type = nullptr;

// ---- Calls ------------------------------------------------------------------------------------------------------------------------

bool matches(const Overload& o, const Small<uint64_t, 32>& words, PyObject* const* args) {
  return o.words.size() == words.size() && std::equal(o.words.begin(), o.words.end(), words.data()) &&
         std::all_of(o.literals.begin(), o.literals.end(),
                     [&](const auto& literal) { return PyObject_RichCompareBool(args[literal.first], literal.second.get(), Py_EQ) == 1; });
}

/// The type that holds an argument's value, or nullptr.
kernels::Type literal_of(PyObject* o) {
  if (PyUnicode_Check(o)) return kernels::string_type(std::string(as_string(o)));
  if (!PyLong_Check(o)) return nullptr;
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow ? nullptr : kernels::literal_type(v);
}

std::string spell(const std::vector<kernels::Type>& types) {
  std::string text;
  for (kernels::Type t : types) text += (text.empty() ? "" : ", ") + t->spelling;
  return "(" + text + ")";
}

/// Whether a tuple has numbers and such tuples alone: what is made anew for a signature of other members.
bool holds_numbers(kernels::Type t) {
  return t->is_tuple() && std::all_of(t->items.begin(), t->items.end(), [](kernels::Type m) { return m->is_scalar() || holds_numbers(m); });
}

/// Whether a function of a record takes this one in its place: it has the same fields at the same places, and more behind them. In tuples,
/// too.
bool has_fields_of(kernels::Type from, kernels::Type to) {
  if (from == to) return true;
  if (from->is_tuple() && to->is_tuple()) return from->object == to->object && std::ranges::equal(from->items, to->items, has_fields_of);
  const auto reference = [](kernels::Type t) {
    return t->is_array() && t->ndim == 0 && t->element->is(kernels::Kind::record) && !is_characters(t->element);
  };
  if (!reference(from) || !reference(to) || (from->read_only && !to->read_only)) return false;
  const kernels::Type more = from->element, less = to->element;
  for (size_t i = 0; i < less->fields.size(); ++i) {
    const auto k = kernels::field_named(more, less->fields[i]);
    if (!k || more->items[*k] != less->items[i] || more->offsets[*k] != less->offsets[i]) return false;
  }
  return less->bytes <= more->bytes;
}
constexpr int8_t kTuple = 127, kOptional = 126;

/// How far the argument types are from a signature's; -1 when they do not convert. Numba's order: exact, then promotion, then the rest.
int distance(const std::vector<kernels::Type>& from, const std::vector<kernels::Type>& to) {
  if (from.size() != to.size()) return -1;
  int sum = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    if (has_fields_of(from[i], to[i])) {
      ++sum;
      continue;
    }
    if (!kernels::converts(from[i], to[i])) return -1;
    if (to[i]->is(kernels::Kind::optional)) {
      // A value goes to a signature of values first.
      const int value = from[i]->is(kernels::Kind::none) ? 0 : distance({from[i]}, {to[i]->element});
      if (value < 0) return -1;
      sum += value + 1;
    } else if (from[i]->is_scalar() && to[i]->is_scalar())
      sum += kernels::conversion_cost(from[i], to[i]);
    else if (from[i]->is_array())
      sum += 1;
    else if (holds_numbers(from[i]) && holds_numbers(to[i]))
      sum += distance(from[i]->items, to[i]->items);
    else
      return -1;  // tuples of other members would have another layout
  }
  return sum;
}

/// Keeps the objects that a key names by their addresses.
void keep_alive(PyObject* o, std::vector<PyRef>* kept) {
  if (is_array(o)) return;
  if (PyObject_TypeCheck(o, state().np_ndarray)) return kept->push_back(PyRef::borrow(numpy_fields(o)->descr));
  if (PyTuple_Check(o)) {
    kept->push_back(PyRef::borrow(reinterpret_cast<PyObject*>(Py_TYPE(o))));
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) keep_alive(PyTuple_GetItem(o, i), kept);
    return;
  }
  if (is_record(o)) return kept->push_back(PyRef::borrow(reinterpret_cast<const NumpyRecordFields*>(o)->descr));
  if (PyLong_CheckExact(o) || PyFloat_Check(o) || PyComplex_Check(o) || PyList_Check(o) || PyAnySet_Check(o) || is_typed(o) ||
      is_slice(o) || random_generator(o))
    return;
  kept->push_back(PyRef::borrow(o));
}

/// Calls `f` for the i-th argument; its errors name the function and the argument.
template <class F>
auto of_argument(PyDispatcher* self, size_t i, const F& f) {
  try {
    return f();
  } catch (const Error& e) {
    const auto at = static_cast<Py_ssize_t>(i);
    raise(e.kind(), "{}: argument '{}': {}", as_string(attr(self->function, "__name__").get()),
          at < PyTuple_Size(self->names) ? as_string(PyTuple_GetItem(self->names, at)) : "*args", e.what());
  }
}

/// The type of an argument or of a tuple's item. A record comes as an element of an array, so that what is written is written there.
kernels::Type type_by_reference(PyObject* o) {
  if (is_number_elsewhere(o)) return kernels::scalar_type(array_of(o).dtype());
  if (is_record(o))
    return kernels::array_type(type_of(o), 0, 'C', !(reinterpret_cast<const NumpyRecordFields*>(o)->flags & kNumpyWriteable));
  const kernels::Type t = type_of(o);
  if (!PyTuple_Check(o) || kernels::by_reference(t) == t) return t;
  std::vector<kernels::Type> items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) items.push_back(type_by_reference(PyTuple_GetItem(o, i)));
  return kernels::tuple_like(t, items);
}

kernels::Type argument_type(PyObject* o) {
  if (PyUnicode_Check(o)) return kernels::text_type();
  if (PyDict_Check(o)) raise(ErrorKind::Typing, "a compiled function cannot take a {}; pass broadcloth.typed.Dict(x)", type_name(o));
  return type_by_reference(o);
}

/// Writes the i-th argument, a number, as one of another dtype.
void convert_number(Frame& frame, size_t i, DType from, DType to) {
  const Scalar value = Scalar::load(from, frame.value(i));
  if (is_integer(from) && is_integer(to) && !value.fits(to))
    raise(ErrorKind::Overflow, "expected a whole number that {} holds, got {}", kernels::scalar_type(to)->spelling,
          value.dtype == DType::u64 ? fmt::format("{}", value.u) : fmt::format("{}", value.i));
  char bytes[16];
  value.store(to, bytes);
  std::memcpy(frame.replace(i, 16), bytes, 16);
}

/// Writes the i-th argument as a signature's optional value: its bytes and whether it is there.
void convert_optional(Frame& frame, size_t i, PyObject* o, kernels::Type to) {
  const kernels::Type value = to->element;
  if (o != Py_None && value->is_scalar()) convert_number(frame, i, type_of(o)->dtype, value->dtype);
  std::string bytes(to->bytes, 0);
  if (o != Py_None) {
    if (value->is_tuple())
      store_value(o, value, bytes.data());
    else
      std::memcpy(bytes.data(), frame.value(i), value->bytes);
    bytes[value->bytes] = 1;
  }
  std::memcpy(frame.replace(i, to->bytes), bytes.data(), to->bytes);
}

/// Makes the overload of a call whose key is new.
const Overload* make_overload(PyDispatcher* self, PyObject* const* args, size_t n, const Frame& frame, bool threads) {
  auto made = std::make_unique<Overload>();
  made->words.assign(frame.words().data(), frame.words().data() + frame.words().size());
  std::vector<kernels::Type> types;
  for (size_t i = 0; i < n; ++i) {
    types.push_back(of_argument(self, i, [&] { return argument_type(args[i]); }));
    if (!PyUnicode_Check(args[i])) keep_alive(args[i], &made->kept);
  }
  if (self->closed) {
    const Compiled* best = nullptr;
    {
      const PyLock lock(compiler_lock());
      const auto& all = *self->compiled;
      kernels::Choice choice;
      for (size_t i = 0; i < all.size(); ++i) choice.offer(static_cast<int>(i), distance(types, all[i]->arguments));
      const auto arguments = [&](int i) -> const std::vector<kernels::Type>& { return all[static_cast<size_t>(i)]->arguments; };
      const std::string name(as_string(attr(self->function, "__name__").get()));
      if (choice.best < 0) {
        std::string known;
        for (const Compiled* c : all) known += "\n    " + spell(c->arguments);
        raise(ErrorKind::Type, "{}: no signature takes {}. Signatures:{}", name, spell(types), known);
      }
      if (choice.other >= 0 && arguments(choice.best) != arguments(choice.other))
        raise(ErrorKind::Type, "{}: ambiguous, {} fits two signatures as well:\n    {}\n    {}", name, spell(types),
              spell(arguments(choice.best)), spell(arguments(choice.other)));
      best = all[static_cast<size_t>(choice.best)];
    }
    if (threads && !best->threads) best = compile(self, best->arguments, best->result, true);
    made->compiled = best;
    made->convert.assign(n, -1);
    for (size_t i = 0; i < n; ++i) {
      const kernels::Type to = best->arguments[i];
      if (types[i] != to && types[i]->is_scalar()) made->convert[i] = static_cast<int8_t>(to->dtype);
      if (types[i] != to && holds_numbers(types[i])) made->convert[i] = kTuple;
      if (types[i] != to && to->is(kernels::Kind::optional)) made->convert[i] = kOptional;
    }
  } else {
    while (!made->compiled) {
      try {
        made->compiled = compile(self, types, nullptr, threads);
      } catch (const kernels::LiteralNeeded& needed) {
        const size_t i = needed.parameter;
        const kernels::Type literal = i < n ? literal_of(args[i]) : nullptr;
        if (!literal || types[i] == literal) throw;
        types[i] = literal;
        made->literals.emplace_back(i, PyRef::borrow(args[i]));
      }
    }
  }
  const Overload* result = made.release();
  const_cast<Overload*>(result)->next = self->overloads.load(std::memory_order_relaxed);
  while (!self->overloads.compare_exchange_weak(const_cast<Overload*>(result)->next, result, std::memory_order_acq_rel)) {}
  return result;
}

/// Puts keywords and defaults into their places. `full` gets the borrowed arguments.
void bind_arguments(PyDispatcher* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames, std::vector<PyObject*>* full, PyRef* rest) {
  const Py_ssize_t wanted = PyTuple_Size(self->names);
  const auto name = [&] { return std::string(as_string(attr(self->function, "__name__").get())); };
  const Py_ssize_t placed = wanted - self->keyword_only;
  if (n > placed && !self->rest) raise(ErrorKind::Type, "{}: expected at most {} arguments, got {}", name(), placed, n);
  full->assign(static_cast<size_t>(wanted), nullptr);
  for (Py_ssize_t i = 0; i < n && i < placed; ++i) (*full)[static_cast<size_t>(i)] = args[i];
  for (Py_ssize_t k = 0; kwnames && k < PyTuple_Size(kwnames); ++k) {
    PyObject* key = PyTuple_GetItem(kwnames, k);
    Py_ssize_t at = 0;
    while (at < wanted && PyUnicode_Compare(key, PyTuple_GetItem(self->names, at)) != 0) ++at;
    if (at == wanted) raise(ErrorKind::Type, "{}: got an unexpected keyword argument '{}'", name(), as_string(key));
    if ((*full)[static_cast<size_t>(at)]) raise(ErrorKind::Type, "{}: got multiple values for argument '{}'", name(), as_string(key));
    (*full)[static_cast<size_t>(at)] = args[n + k];
  }
  const Py_ssize_t defaults = self->defaults ? PyTuple_Size(self->defaults) : 0;
  for (Py_ssize_t i = 0; i < wanted; ++i) {
    PyObject*& place = (*full)[static_cast<size_t>(i)];
    if (!place && i >= wanted - defaults) place = PyTuple_GetItem(self->defaults, i - (wanted - defaults));
    if (!place) raise(ErrorKind::Type, "{}: missing the argument '{}'", name(), as_string(PyTuple_GetItem(self->names, i)));
  }
  if (!self->rest) return;
  *rest = PyRef::steal(PyTuple_New(std::max<Py_ssize_t>(n - placed, 0)));
  for (Py_ssize_t i = placed; i < n; ++i) check(PyTuple_SetItem(rest->get(), i - placed, new_ref(args[i])));
  full->push_back(rest->get());
}

PyObject* call_dispatcher(PyObject* o, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    PyDispatcher* self = as_dispatcher(o);
    Py_ssize_t n = positional_count(nargsf);
    const Py_ssize_t wanted = PyTuple_Size(self->names);
    std::vector<PyObject*> full;
    PyRef rest;
    const auto bind = [&] {
      bind_arguments(self, args, n, kwnames, &full, &rest);
      args = full.data();
      n = static_cast<Py_ssize_t>(full.size());
    };
    // A call that gives all parameters and more needs no tuple of *args for an overload that takes them as they are.
    bool spread = self->rest && !kwnames && !self->keyword_only && n >= wanted;
    if (!spread && (kwnames || self->rest || self->keyword_only || n != wanted)) bind();
    const auto bind_spread = [&] {
      if (std::exchange(spread, false)) bind();
    };
    Frame frame;
    frame.allow_copies();
    const Py_ssize_t alone = spread ? wanted : n;
    for (Py_ssize_t i = 0; i < alone; ++i) of_argument(self, static_cast<size_t>(i), [&] { frame.add(args[i]); });
    if (spread) of_argument(self, static_cast<size_t>(wanted), [&] { frame.add_rest(args + wanted, n - wanted); });
    const bool unlocked = self->options->nogil || kFreeThreaded;
    const bool threads = frame.share_objects(unlocked);
    const Overload* found = nullptr;
    for (const Overload* o = self->overloads.load(std::memory_order_acquire); o && !found; o = o->next) {
      if (!o->literals.empty()) bind_spread();
      if (matches(*o, frame.words(), args)) found = o;
    }
    if (!found) bind_spread();
    if (!found) frame.share_arrays();  // the compiler lets the interpreter's lock go
    if (!found) found = make_overload(self, args, static_cast<size_t>(n), frame, threads);
    const Compiled& c = *found->compiled;
    for (size_t i = 0; i < found->convert.size(); ++i) {
      if (found->convert[i] < 0) continue;
      bind_spread();
      if (found->convert[i] == kTuple) {
        store_value(args[i], c.arguments[i], frame.replace(i, c.arguments[i]->bytes));
        continue;
      }
      if (found->convert[i] == kOptional)
        convert_optional(frame, i, args[i], c.arguments[i]);
      else
        of_argument(self, i, [&] { convert_number(frame, i, type_of(args[i])->dtype, static_cast<DType>(found->convert[i])); });
    }
    if (c.box.kind == Box::Kind::generator && frame.has_copies())
      raise(ErrorKind::Type, "{}: a generator takes arrays on the CPU, got one on a GPU: pass a.to('cpu')",
            as_string(attr(self->function, "__name__").get()));
    ResultRoom room(c.box.bytes);
    char* const result = room.get();
    host::Call call;
    call.threads = c.threads;
    call.keeper_context = &frame;
    call.keeper = [](host::Call* c, const void* data) -> host::Block* {
      const void *low = nullptr, *high = nullptr;
      PyObject* object = static_cast<Frame*>(c->keeper_context)->holder(data, &low, &high);
      if (!object) return nullptr;
      GilHold hold;
      return host::new_foreign(new_ref(object), [](void* o) { release_object(static_cast<PyObject*>(o)); }, low, high);
    };
    void** arguments = frame.pointers();
    // Where threads run at once nobody is kept out by it, and who collects garbage need not wait for the function.
    Interpretation interpretation(&call, c.interpreted, frame);
    // Other threads of a loop may run the interpreter, too.
    const bool others = self->options->parallel && !c.interpreted.empty();
    if (unlocked || c.lets_go) frame.share_arrays();
    if (c.box.kind == Box::Kind::generator) frame.expose_arrays();
    const bool ok = unlocked || others ? without_gil([&] { return host::run(c.entry, arguments, result, &call); })
                                       : host::run(c.entry, arguments, result, &call);
    if (!ok) {
      frame.reflect(&call);
      frame.bring_back(c.writes);
      interpretation.raise_again(call);
      throw_failure(failure_of(c.failures, call));
    }
    if (c.box.kind == Box::Kind::generator) {
      host::Block* block;
      std::memcpy(&block, result, sizeof block);
      PyRef kept = PyRef::steal(PyTuple_New(n));
      for (Py_ssize_t i = 0; i < n; ++i) check(PyTuple_SetItem(kept.get(), i, new_ref(args[i])));
      return new_generator(&c, block, std::move(kept)).release();
    }
    PyRef made = box(c.box, result, frame, &call);
    frame.reflect(&call);
    frame.bring_back(c.writes);
    return made.release();
  });
}

// ---- The type ---------------------------------------------------------------------------------------------------------------------

PyObject* new_dispatcher(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    static const char* names[] = {"function",    "names",         "defaults", "nogil", "parallel", "fastmath",
                                  "boundscheck", "python_errors", "cache",    "rest",  nullptr};
    PyObject *function = nullptr, *parameters = nullptr, *defaults = nullptr;
    int nogil = 0, parallel = 0, fastmath = 0, boundscheck = 0, python_errors = 1, cache = 0, rest = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O|ppipppp", const_cast<char**>(names), &function, &PyTuple_Type, &parameters,
                                     &defaults, &nogil, &parallel, &fastmath, &boundscheck, &python_errors, &cache, &rest))
      throw PythonError();
    auto* alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyRef made = PyRef::steal(alloc(type, 0));
    auto* self = as_dispatcher(made.get());
    self->vectorcall = call_dispatcher;
    self->function = new_ref(function);
    self->names = new_ref(parameters);
    self->rest = rest != 0;
    if (PyRef code = PyRef::maybe(PyObject_GetAttrString(function, "__code__")); code)
      self->keyword_only = static_cast<int>(to_int(attr(code.get(), "co_kwonlyargcount").get(), "keyword-only"));
    else
      PyErr_Clear();
    self->defaults = defaults == Py_None ? nullptr : new_ref(defaults);
    self->compiled = new std::vector<const Compiled*>;
    self->options = new Options{nogil != 0, parallel != 0, fastmath, boundscheck != 0, python_errors != 0, cache != 0};
    return made.release();
  });
}

int traverse(PyObject* o, visitproc visit, void* arg) {
  PyDispatcher* self = as_dispatcher(o);
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(self->function);
  Py_VISIT(self->dict);
  return 0;
}

int clear(PyObject* o) {
  PyDispatcher* self = as_dispatcher(o);
  Py_CLEAR(self->function);
  Py_CLEAR(self->dict);
  return 0;
}

void delete_list(const Overload* o) {
  while (o) delete std::exchange(o, o->next);
}

void dealloc(PyObject* o) {
  PyObject_GC_UnTrack(o);
  PyDispatcher* self = as_dispatcher(o);
  PyTypeObject* type = Py_TYPE(o);
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  clear(o);
  Py_CLEAR(self->names);
  Py_CLEAR(self->defaults);
  delete_list(self->overloads.load());
  delete_list(self->forgotten);
  delete self->compiled;
  delete self->options;
  PyObject_GC_Del(o);
  Py_DECREF(type);
}

PyObject* descr_get(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || instance == Py_None) return new_ref(self);
  return guard([&] {
    static constinit OnceObject method;
    return call(method.make([] { return import_attr("types", "MethodType"); }), {self, instance}).release();
  });
}

PyObject* repr(PyObject* self) {
  return guard([&] { return PyUnicode_FromFormat("CPUDispatcher(%R)", as_dispatcher(self)->function); });
}

/// Names that the type lacks are looked up in the package, where the rarely used ones are written.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  const std::string text = PyUnicode_Check(name) ? std::string(as_string(name)) : "";
  if (text.substr(0, 2) == "__") return nullptr;
  PyErr_Clear();
  return guard([&] { return call(import_attr("broadcloth._jit", "_attribute").get(), {self, name}).release(); });
}

PyObject* compile_method(PyObject* self, PyObject* types) {
  return guard([&]() -> PyObject* {
    kernels::FunctionSignature signature = signature_of_object(types);
    std::vector<kernels::Type>& arguments = signature.arguments;
    for (kernels::Type& t : arguments) t = kernels::by_reference(t);
    PyDispatcher* d = as_dispatcher(self);
    const Py_ssize_t wanted = PyTuple_Size(d->names) + d->rest;  // *args is a tuple
    if (static_cast<Py_ssize_t>(arguments.size()) != wanted)
      raise(ErrorKind::Type, "{}: expected a signature of {} arguments, got {}", as_string(attr(d->function, "__name__").get()), wanted,
            kernels::to_string(signature));
    const Compiled* c = compile(d, arguments, signature.result);
    {
      const PyLock lock(compiler_lock());
      d->options->declared.push_back(signature);
    }
    return to_py(c->result ? c->result->spelling : "none").release();
  });
}

/// _callback(signature): the address of a function that C can call.
PyObject* callback_method(PyObject* self, PyObject* types) {
  return guard([&]() -> PyObject* {
    PyDispatcher* d = as_dispatcher(self);
    const kernels::FunctionSignature signature = signature_of_object(types);
    d->options->callback = signature.result ? signature.result : kernels::none_type();
    return PyLong_FromVoidPtr(compile(d, signature.arguments)->callback);
  });
}

PyObject* close_method(PyObject* self, PyObject* on) {
  as_dispatcher(self)->closed = on == Py_True;
  Py_RETURN_NONE;
}

/// [(argument types, result type, C++ text, seconds, from disk), …]
PyObject* overloads_method(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    PyRef list = PyRef::steal(PyList_New(0));
    const PyLock lock(compiler_lock());
    for (const Compiled* c : *as_dispatcher(self)->compiled) {
      PyRef types = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(c->arguments.size())));
      for (size_t i = 0; i < c->arguments.size(); ++i)
        check(PyTuple_SetItem(types.get(), static_cast<Py_ssize_t>(i), to_py(c->arguments[i]->spelling).release()));
      PyRef seconds = PyRef::steal(PyFloat_FromDouble(c->seconds));
      PyRef row = tuple_of({types.get(), to_py(c->result ? c->result->spelling : "none").get(), to_py(c->text).get(), seconds.get(),
                            c->from_disk ? Py_True : Py_False});
      check(PyList_Append(list.get(), row.get()));
    }
    return list.release();
  });
}

/// _inspect(i, "ir" or "asm"): the optimised code of the i-th overload.
PyObject* inspect_method(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    int i = 0;
    const char* stage = "ir";
    if (!PyArg_ParseTuple(args, "is", &i, &stage)) throw PythonError();
    const PyLock lock(compiler_lock());
    const auto& all = *as_dispatcher(self)->compiled;
    if (i < 0 || static_cast<size_t>(i) >= all.size()) raise(ErrorKind::Index, "inspect: there are {} overloads", all.size());
    return to_py(inspect(as_dispatcher(self), *all[static_cast<size_t>(i)], stage)).release();
  });
}

PyObject* threads_function(PyObject*, PyObject*) { return PyLong_FromLong(host::table().threads()); }
PyObject* thread_id_function(PyObject*, PyObject*) { return PyLong_FromLong(host::table().thread_id()); }
PyObject* set_threads_function(PyObject*, PyObject* wanted) {
  return guard([&]() -> PyObject* {
    const int64_t threads = to_int(wanted, "set_num_threads");
    if (threads < 1 || threads > cpu::thread_count())
      raise(ErrorKind::Value, "set_num_threads: expected 1 to {} threads, got {}", cpu::thread_count(), threads);
    cpu::set_thread_limit(static_cast<int>(threads));
    Py_RETURN_NONE;
  });
}

PyObject* forget_method(PyObject* self, PyObject*) {
  const PyLock lock(compiler_lock());
  PyDispatcher* d = as_dispatcher(self);
  if (const Overload* first = d->overloads.exchange(nullptr, std::memory_order_acq_rel)) {
    const Overload* last = first;
    while (last->next) last = last->next;
    const_cast<Overload*>(last)->next = d->forgotten;
    d->forgotten = first;
  }
  d->compiled->clear();
  Py_RETURN_NONE;
}

}  // namespace

std::vector<kernels::FunctionSignature> declared_signatures(PyObject* dispatcher) { return as_dispatcher(dispatcher)->options->declared; }
bool is_dispatcher(PyObject* o) { return Py_TYPE(o) == dispatcher_type; }
PyDispatcher* as_dispatcher(PyObject* o) { return reinterpret_cast<PyDispatcher*>(o); }

}  // namespace bc::bind::jit

namespace bc::bind {

void init_jit(PyObject* module) {
  using namespace jit;
  init_containers(module);
  init_generators(module);
  static PyMethodDef methods[] = {{"_compile", compile_method, METH_O, "Compiles for a signature; gives the result's type."},
                                  {"_callback", callback_method, METH_O, "The address of a function for C."},
                                  {"_close", close_method, METH_O, "Whether only the signatures compiled so far are taken."},
                                  {"_overloads", overloads_method, METH_NOARGS, "What was compiled so far."},
                                  {"_inspect", inspect_method, METH_VARARGS, "The code of an overload, as \"ir\" or \"asm\"."},
                                  {"_forget", forget_method, METH_NOARGS, "Drops what was compiled."},
                                  {}};
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyDispatcher, vectorcall), READONLY, nullptr},
                                  {"__dictoffset__", T_PYSSIZET, offsetof(PyDispatcher, dict), READONLY, nullptr},
                                  {"__weaklistoffset__", T_PYSSIZET, offsetof(PyDispatcher, weakrefs), READONLY, nullptr},
                                  {"py_func", T_OBJECT, offsetof(PyDispatcher, function), READONLY, "The Python function."},
                                  {}};
  static PyGetSetDef attributes[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr}, {}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_dispatcher)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_dispatcher>)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(descr_get)},
                         {Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  // A method descriptor: a call c.add(1) passes c before 1 and makes no bound method.
  PyType_Spec spec = {
      "broadcloth.CpuDispatcher", sizeof(PyDispatcher), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_METHOD_DESCRIPTOR,
      slots};
  dispatcher_type = add_type(module, &spec, "CpuDispatcher");
  static std::vector<PyMethodDef> functions = {{"_jit_threads", threads_function, METH_NOARGS, nullptr},
                                               {"_jit_thread_id", thread_id_function, METH_NOARGS, nullptr},
                                               {"_jit_set_threads", set_threads_function, METH_O, nullptr},
                                               {}};
  check(PyModule_AddFunctions(module, functions.data()));
  host::set_printer([](const char* text, int64_t size) {
    GilHold hold;
    PyRef sys = PyRef::maybe(PyImport_ImportModule("sys"));
    PyRef out = sys ? PyRef::maybe(PyObject_GetAttrString(sys.get(), "stdout")) : PyRef();
    PyRef written = out ? PyRef::maybe(PyObject_CallMethod(out.get(), "write", "s#", text, static_cast<Py_ssize_t>(size))) : PyRef();
    if (!written) PyErr_Clear();
  });
}

}  // namespace bc::bind
