// Kernels in Python: the dispatcher from argument types to compiled kernels, and their launch.
#include "bind/kernels.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "backends/cpu/jit_library.h"
#include "bind/convert.h"
#include "bind/kernel_dispatcher.h"
#include "codegen/device_library.h"
#include "graph/tape.h"
#include "runtime/interrupt.h"
#include "runtime/program.h"

namespace bc::bind {
namespace {

using namespace kernels;

/// A kernel for one list of argument types, loaded on the devices that it was launched on.
struct Specialisation {
  CompiledFunction compiled;
  struct Loaded {
    Device device;
    std::shared_ptr<Program> program;
    ProgramKernel* kernel = nullptr;
  };
  std::mutex mutex;
  std::vector<Loaded> loaded;  ///< guarded by the mutex
};

/// The program did not say how much shared memory it prefers; -1 would leave it to the driver.
constexpr int kNoCarveout = -2;

using Key = std::vector<Type>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = key.size();
    for (Type t : key) h = (h ^ reinterpret_cast<uintptr_t>(t)) * 0x9e3779b97f4a7c15u;
    return static_cast<size_t>(h ^ (h >> 29));
  }
};

struct CompilerState {
  PyRef function;
  std::string name;
  CompileOptions options;
  std::vector<std::string> flags;  ///< for the compiler, in NVRTC's spelling
  int carveout = kNoCarveout;      ///< how many percent of a multiprocessor's memory are preferred as shared memory
  // Guarded by the compiler's lock.
  std::unordered_map<Key, std::unique_ptr<Specialisation>, KeyHash> known;
  std::vector<Key> order;
  PyRef link;                                 ///< the `link` option: code that its functions may be in
  std::vector<FunctionSignature> signatures;  ///< given by the user: only these
};

struct PyCompiler {
  PyObject_HEAD CompilerState* s;
};

CompilerState& state_of(PyObject* o) { return *reinterpret_cast<PyCompiler*>(o)->s; }

Specialisation& specialise(CompilerState& k, const Key& key) {
  const PyLock lock(compiler_lock());
  const auto found = k.known.find(key);
  if (found != k.known.end()) return *found->second;
  auto made = std::make_unique<Specialisation>();
  if (k.link) k.options.linked = linked_code(k.link.get());
  made->compiled = compile_function(k.function.get(), key, k.options);
  // What Python ran meanwhile may have compiled the same.
  std::unique_ptr<Specialisation>& place = k.known[key];
  if (!place) {
    place = std::move(made);
    k.order.push_back(key);
  }
  return *place;
}

/// variable(program, name): address and bytes of a variable of a loaded program, for callbacks of linked code.
PyObject* program_variable(PyObject* capsule, PyObject* name) {
  return guard([&]() -> PyObject* {
    const auto& program = *static_cast<std::shared_ptr<Program>*>(PyCapsule_GetPointer(capsule, "broadcloth.program"));
    const auto [address, bytes] = program->variable(as_string(name));
    return tuple_of({to_py(static_cast<int64_t>(reinterpret_cast<intptr_t>(address))).get(), to_py(static_cast<int64_t>(bytes)).get()})
        .release();
  });
}

/// Runs the callbacks of linked code that a program was just loaded with.
void set_up(const std::vector<LinkedCode>& linked, const std::shared_ptr<Program>& program) {
  if (linked.empty()) return;
  static PyMethodDef method = {"variable", program_variable, METH_O, nullptr};
  PyRef capsule = PyRef::steal(PyCapsule_New(new std::shared_ptr<Program>(program), "broadcloth.program", [](PyObject* c) {
    delete static_cast<std::shared_ptr<Program>*>(PyCapsule_GetPointer(c, "broadcloth.program"));
  }));
  PyRef variable = PyRef::steal(PyCFunction_New(&method, capsule.get()));
  for (const LinkedCode& code : linked) {
    PyRef bytes = PyRef::steal(PyBytes_FromStringAndSize(code.bytes.data(), static_cast<Py_ssize_t>(code.bytes.size())));
    call(import_attr("broadcloth.cuda._link", "_set_up").get(),
         {to_py(code.kind).get(), to_py(code.name).get(), bytes.get(), variable.get()});
  }
}

ProgramKernel& load(CompilerState& k, Specialisation& s, Device device, std::shared_ptr<Program>* program = nullptr) {
  const auto find = [&]() -> ProgramKernel* {  // with the mutex held
    for (const auto& l : s.loaded)
      if (l.device == device) {
        if (program) *program = l.program;
        return l.kernel;
      }
    return nullptr;
  };
  {
    const std::lock_guard lock(s.mutex);
    if (ProgramKernel* known = find()) return *known;
  }
  ProgramSource source;
  source.text = s.compiled.text;
  source.name = k.name + ".py";
  source.options = k.flags;
  source.device_library = true;
  for (const LinkedCode& code : s.compiled.linked) {
    if (code.kind == "cu")
      source.foreign_text = true;
    else
      source.linked.push_back(code);
  }
  source.library_bytes = s.compiled.library_bytes;
  std::shared_ptr<Program> made = without_gil([&] {
    try {
      return load_program(device, source);
    } catch (const Error& e) {
      // Text of the user's own is in the program where code is linked: then the compiler's words may be about that.
      if (!s.compiled.linked.empty()) throw;
      throw refused_text(e, s.compiled.text, source.name, s.compiled.places);
    }
  });
  set_up(s.compiled.linked, made);
  ProgramKernel* kernel = &made->kernel(s.compiled.name, k.name);
  constexpr int kCarveoutAttribute = 9;
  if (k.carveout != kNoCarveout && device.type == DeviceType::cuda) kernel->set_attribute(kCarveoutAttribute, k.carveout);
  const std::lock_guard lock(s.mutex);
  if (ProgramKernel* known = find()) return *known;  // another thread was first
  if (program) *program = made;
  s.loaded.push_back({device, std::move(made), kernel});
  return *kernel;
}

/// Raises what a thread of the kernel raised; called without the interpreter's lock.
void raise_failure(const std::vector<Failure>& failures, const int* status, const std::string& name) {
  const Failure& f = failures.at(static_cast<size_t>(status[0] - 1));
  GilHold hold;
  auto* named = static_cast<PyObject*>(const_cast<void*>(f.object));
  PyRef type = named ? PyRef::borrow(named) : PyRef::maybe(PyObject_GetAttrString(import("builtins").get(), f.type.c_str()));
  if (!type || !PyExceptionClass_Check(type.get())) {
    PyErr_Clear();
    type = PyRef::borrow(PyExc_RuntimeError);
  }
  std::string text = f.message.empty() ? "" : f.message + "\n";
  text += fmt::format("  raised at {}:{}, in {}, by thread ({}, {}, {}) of block ({}, {}, {}) of kernel {}", f.file, f.line, f.function,
                      status[1], status[2], status[3], status[4], status[5], status[6], name);
  if (!named) throw_python(type.get(), text.c_str());
  // A class of the user's own may take other arguments than one text: then it gets its own, and the place as a note.
  PyRef message = to_py(text);
  PyRef error = PyRef::maybe(PyObject_CallFunctionObjArgs(type.get(), message.get(), nullptr));
  if (!error) {
    PyErr_Clear();
    error = PyRef::steal(PyObject_Call(type.get(), object_of(f.arguments).get(), nullptr));
    PyRef::steal(PyObject_CallMethod(error.get(), "add_note", "O", message.get()));
  }
  PyErr_SetObject(type.get(), error.get());
  throw PythonError();
}

/// Raises what checked mode found first; called without the interpreter's lock.
void raise_finding(const std::vector<CheckSite>& sites, const char* state, const std::string& name) {
  // py::Finding of src/device/python/check.h.
  int numbers[17];
  int64_t places[16];
  std::memcpy(numbers, state, sizeof(numbers));
  std::memcpy(places, state + 72, sizeof(places));
  const CheckSite& s = sites.at(static_cast<size_t>(numbers[8]));
  GilHold hold;
  PyRef all = PyRef::steal(PyTuple_New(17)), index = PyRef::steal(PyTuple_New(numbers[9])), shape = PyRef::steal(PyTuple_New(numbers[9]));
  for (int i = 0; i < 17; ++i) bc::bind::check(PyTuple_SetItem(all.get(), i, PyLong_FromLong(numbers[i])));
  for (int i = 0; i < numbers[9]; ++i) {
    bc::bind::check(PyTuple_SetItem(index.get(), i, PyLong_FromLongLong(places[i])));
    bc::bind::check(PyTuple_SetItem(shape.get(), i, PyLong_FromLongLong(places[8 + i])));
  }
  PyRef site = tuple_of(
      {to_py(s.file).get(), to_py(static_cast<int64_t>(s.line)).get(), to_py(s.function).get(), to_py(s.text).get(), to_py(s.what).get()});
  PyRef error =
      call(import_attr("broadcloth.cuda._check", "_finding").get(), {to_py(name).get(), site.get(), all.get(), index.get(), shape.get()});
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
  throw PythonError();
}

/// The status of this thread's launch in the making.
thread_local Array the_status;

/// Zeroed words for a launch on `stream` to report to.
void* status_memory(int64_t words, Stream stream) {
  the_status = full(Dims{words}, Scalar::integer(0), DType::i32, stream.device);
  return without_gil([&]() -> void* {
    void* at = data(the_status);
    // They were written on this thread's stream, which another one does not wait for.
    const Stream mine = tape(stream.device).stream();
    if (mine.native != stream.native) backend(stream.device).synchronize(mine);
    return at;
  });
}

/// Waits for a launch and reads what it reported.
void read_status(Stream stream, void* to) {
  try {
    backend(stream.device).synchronize(stream);
  } catch (const Interrupted&) {
    // The kernel goes on, and may still report.
    tape_of(stream).keep([status = std::exchange(the_status, Array())] {});
    throw;
  }
  to_host(std::exchange(the_status, Array()), to);
}

/// How far arguments are from a signature; an address is a pointer to what the signature says.
int signature_cost(const Key& key, const FunctionSignature& s) {
  if (s.arguments.size() != key.size()) return -1;
  int cost = 0;
  for (size_t i = 0; i < key.size() && cost >= 0; ++i) {
    const bool address = s.arguments[i]->is(Kind::pointer) && key[i]->is_scalar() && is_integer(key[i]->dtype);
    const int one = address ? 1 : conversion_cost(key[i], s.arguments[i]);
    cost = one < 0 ? one : cost + one;
  }
  return cost;
}

/// Of a kernel that the user declared signatures for: the types of the one that the arguments fit best.
const Key& declared_key(const CompilerState& k, const Key& key) {
  Choice choice;
  for (size_t i = 0; i < k.signatures.size(); ++i) choice.offer(static_cast<int>(i), signature_cost(key, k.signatures[i]));
  const auto arguments = [&](int i) -> const Key& { return k.signatures[static_cast<size_t>(i)].arguments; };
  const auto spelled = [](const Key& types) { return to_string(FunctionSignature{nullptr, types}); };
  if (choice.best < 0) {
    std::string there;
    for (const FunctionSignature& s : k.signatures) there += "\n  " + spelled(s.arguments);
    raise(ErrorKind::Type, "kernel {}: no signature fits {}; it was declared for{}", k.name, spelled(key), there);
  }
  if (choice.other >= 0 && arguments(choice.best) != arguments(choice.other))
    raise(ErrorKind::Type, "kernel {}: ambiguous, {} fits two signatures as well:\n  {}\n  {}", k.name, spelled(key),
          spelled(arguments(choice.best)), spelled(arguments(choice.other)));
  return arguments(choice.best);
}

/// form(arguments, device): the kernel for these arguments, for KernelDispatcher.
PyObject* compiler_form(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *values = nullptr, *where = nullptr;
    if (!PyArg_ParseTuple(args, "OO", &values, &where)) throw PythonError();
    CompilerState& k = state_of(self);
    PyRef all = PyRef::steal(PySequence_Tuple(values));
    const auto count = static_cast<size_t>(PyTuple_Size(all.get()));
    Key key;
    for (size_t i = 0; i < count; ++i) key.push_back(type_of(PyTuple_GetItem(all.get(), static_cast<Py_ssize_t>(i))));
    if (const PyLock lock(compiler_lock()); !k.signatures.empty()) key = declared_key(k, key);
    Specialisation& s = specialise(k, key);
    auto form = std::make_shared<KernelForm>();
    form->device = to_device(where);
    form->kernel = &load(k, s, form->device, &form->program);
    form->arguments = key;
    form->writes = s.compiled.writes;
    form->captured = s.compiled.captured;
    if (!k.options.launch_bounds.empty()) form->most_threads = static_cast<unsigned>(std::stoul(k.options.launch_bounds));
    form->cooperative = s.compiled.uses_grid_sync;
    form->checked = s.compiled.checked;
    if (s.compiled.checked) {
      form->status = [](Stream stream) { return status_memory(static_cast<int64_t>(kCheckBytes / 4), stream); };
      form->launched = [sites = s.compiled.sites, failures = s.compiled.failures, name = k.name](Stream stream) {
        std::vector<char> state(kCheckBytes);
        read_status(stream, state.data());
        int code[7];
        std::memcpy(code, state.data(), sizeof(code));
        if (code[0] < 0) raise_finding(sites, state.data(), name);
        if (code[0] > 0) raise_failure(failures, code, name);
      };
    } else if (s.compiled.reports) {
      form->status = [](Stream stream) { return status_memory(7, stream); };
      form->launched = [failures = s.compiled.failures, name = k.name](Stream stream) {
        int bytes[7];
        read_status(stream, bytes);
        if (bytes[0]) raise_failure(failures, bytes, name);
      };
    }
    return wrap_form(std::move(form)).release();
  });
}

PyObject* kernel_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    PyObject* function = nullptr;
    PyObject* flags = nullptr;
    int debug = 0, check_accesses = 0, bounds = 0;
    PyObject* link = nullptr;
    const char* launch_bounds = nullptr;
    int carveout = kNoCarveout;
    static const char* names[] = {"function", "flags", "debug", "check", "bounds", "link", "launch_bounds", "carveout", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OpppOzi", const_cast<char**>(names), &function, &flags, &debug, &check_accesses,
                                     &bounds, &link, &launch_bounds, &carveout))
      throw PythonError();
    auto* allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    PyRef made = PyRef::steal(allocate(type, 0));
    auto* k = reinterpret_cast<PyCompiler*>(made.get());
    k->s = new CompilerState;
    k->s->function = PyRef::borrow(function);
    k->s->name = std::string(as_string(attr(function, "__name__").get()));
    k->s->options.debug = debug;
    if (launch_bounds) k->s->options.launch_bounds = launch_bounds;
    k->s->carveout = carveout;
    k->s->options.check = check_accesses;
    if (check_accesses) mark_new_memory(kUnsetByte);
    k->s->options.bounds = bounds;
    k->s->options.captures = true;
    if (link && PyObject_IsTrue(link) == 1) k->s->link = PyRef::borrow(link);
    if (flags)
      for (Py_ssize_t i = 0; i < PyList_Size(flags); ++i) k->s->flags.emplace_back(as_string(PyList_GetItem(flags, i)));
    const auto& all = k->s->flags;
    k->s->options.python_errors = debug && std::find(all.begin(), all.end(), "--use_fast_math") == all.end();
    return made.release();
  });
}

void kernel_dealloc(PyObject* self) {
  delete reinterpret_cast<PyCompiler*>(self)->s;
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

Key key_of(PyObject* signature) { return signature_of_object(signature).arguments; }

/// compile(signature, only=False): compiles for these types; `only` makes them the ones that launches convert their arguments to.
PyObject* kernel_compile(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* signature = nullptr;
    int only = 0;
    if (!PyArg_ParseTuple(args, "O|p", &signature, &only)) throw PythonError();
    CompilerState& k = state_of(self);
    FunctionSignature s = signature_of_object(signature);
    // NumPy's records go by reference, as arrays without dimensions.
    for (Type& t : s.arguments)
      if (t->is(Kind::record) && !t->object && !is_characters(t)) t = array_type(t, 0, 'C');
    if (s.result && !s.result->is(Kind::none))
      raise(ErrorKind::Type, "kernel {}: a kernel returns nothing, its signature says {}", k.name, s.result->spelling);
    specialise(k, s.arguments);
    const PyLock lock(compiler_lock());
    if (only) k.signatures.push_back(std::move(s));
    Py_RETURN_NONE;
  });
}

PyRef key_object(const Key& key) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(key.size())));
  for (size_t i = 0; i < key.size(); ++i) check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(i), to_py(key[i]->spelling).release()));
  return t;
}

PyObject* kernel_signatures(PyObject* self, PyObject*) {
  return guard([&]() -> PyObject* {
    PyRef list = PyRef::steal(PyList_New(0));
    const PyLock lock(compiler_lock());
    for (const Key& key : state_of(self).order) check(PyList_Append(list.get(), key_object(key).get()));
    return list.release();
  });
}

Specialisation& find(CompilerState& k, PyObject* signature) {
  const PyLock lock(compiler_lock());
  if (signature && PyTuple_Check(signature))
    for (const Key& key : k.order)
      if (PyObject_RichCompareBool(key_object(key).get(), signature, Py_EQ) == 1) return *k.known.at(key);
  if (signature && signature != Py_None) return specialise(k, key_of(signature));
  if (k.known.empty()) raise(ErrorKind::Value, "kernel {}: it is not compiled for any types yet; give a signature", k.name);
  return *k.known.at(k.order[0]);
}

/// source(signature=None, whole=False): the CUDA C++ text; `whole` with the headers before it.
PyObject* kernel_source(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* signature = nullptr;
    int whole = 0;
    if (!PyArg_ParseTuple(args, "|Op", &signature, &whole)) throw PythonError();
    const CompiledFunction& c = find(state_of(self), signature).compiled;
    return to_py(whole ? c.text : c.readable).release();
  });
}

/// llvm(signature): the text as LLVM's form, for the CPU.
PyObject* kernel_llvm(PyObject* self, PyObject* signature) {
  return guard([&]() -> PyObject* {
    CompilerState& k = state_of(self);
    const std::string& text = find(k, signature).compiled.text;
    const bool fast = std::find(k.flags.begin(), k.flags.end(), "--use_fast_math") != k.flags.end();
    return to_py(without_gil(
                     [&] { return cpu::JitLibrary::get().inspect(text, {3, 1, fast ? 2 : 0, 1}, "ir", {kCudaLibrary, kCudaLibrarySize}); }))
        .release();
  });
}

/// attribute(number, signature=None): a CUfunction_attribute on the default device.
PyObject* kernel_attribute(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    int number = 0;
    PyObject* signature = nullptr;
    if (!PyArg_ParseTuple(args, "i|O", &number, &signature)) throw PythonError();
    CompilerState& k = state_of(self);
    return PyLong_FromLong(load(k, find(k, signature), default_device()).attribute(number));
  });
}

/// occupancy(block, shared, signature=None): blocks a multiprocessor; best_block(shared, signature): (grid, block).
PyObject* kernel_occupancy(PyObject* self, PyObject* args) {
  return guard([&]() -> PyObject* {
    int block = 0;
    Py_ssize_t shared = 0;
    PyObject* signature = nullptr;
    if (!PyArg_ParseTuple(args, "in|O", &block, &shared, &signature)) throw PythonError();
    CompilerState& k = state_of(self);
    return PyLong_FromLong(load(k, find(k, signature), default_device()).max_active_blocks(block, static_cast<size_t>(shared)));
  });
}
PyObject* kernel_function(PyObject* self, void*) { return new_ref(state_of(self).function.get()); }

PyMethodDef kernel_methods[] = {
    {"form", compiler_form, METH_VARARGS, nullptr},
    {"compile", kernel_compile, METH_VARARGS, nullptr},
    {"signatures", kernel_signatures, METH_NOARGS, nullptr},
    {"source", kernel_source, METH_VARARGS, nullptr},
    {"llvm", kernel_llvm, METH_O, nullptr},
    {"attribute", kernel_attribute, METH_VARARGS, nullptr},
    {"occupancy", kernel_occupancy, METH_VARARGS, nullptr},
    {},
};
PyGetSetDef kernel_attributes[] = {{"function", kernel_function, nullptr, "The Python function.", nullptr}, {}};
PyType_Slot kernel_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(kernel_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(kernel_dealloc)},
    {Py_tp_methods, kernel_methods},
    {Py_tp_getset, kernel_attributes},
    {Py_tp_doc, const_cast<char*>("Compiles one Python function into kernels, one for each list of argument types.")},
    {0, nullptr},
};
PyType_Spec kernel_spec = {"broadcloth._broadcloth.KernelCompiler", sizeof(PyCompiler), 0, Py_TPFLAGS_DEFAULT, kernel_slots};

// ---- for tests and tools --------------------------------------------------------------------------------------------------------------

/// compile_text(function, signature, entry="kernel", python_errors=False): (name, text, result type, headers and text, writes).
PyObject* compile_text(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *function = nullptr, *signature = nullptr;
    const char* entry = "kernel";
    int python_errors = 0;
    if (!PyArg_ParseTuple(args, "OO|sp", &function, &signature, &entry, &python_errors)) throw PythonError();
    CompileOptions options;
    options.entry = std::string_view(entry) == "host" ? Entry::host : std::string_view(entry) == "device" ? Entry::device : Entry::kernel;
    options.python_errors = python_errors;
    const CompiledFunction c = compile_function(function, key_of(signature), options);
    PyRef writes = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(c.writes.size())));
    for (size_t i = 0; i < c.writes.size(); ++i)
      check(PyTuple_SetItem(writes.get(), static_cast<Py_ssize_t>(i), PyBool_FromLong(c.writes[i])));
    return tuple_of({to_py(c.name).get(), to_py(c.readable).get(), to_py(c.result->spelling).get(), to_py(c.text).get(), writes.get()})
        .release();
  });
}
PyObject* type_name_of(PyObject*, PyObject* o) {
  return guard([&] { return to_py(type_of(o)->spelling).release(); });
}
/// An argument's type itself, for signatures: not every type has a spelling that can be read back.
PyObject* type_handle(PyObject*, PyObject* o) {
  return guard([&] { return PyRef::steal(PyCapsule_New(const_cast<TypeInfo*>(type_of(o)), "broadcloth.kernel_type", nullptr)).release(); });
}
/// What a type, a dtype or a type's text means, as type_handle gives it.
PyObject* annotation_handle(PyObject*, PyObject* o) {
  return guard([&] {
    return PyRef::steal(PyCapsule_New(const_cast<TypeInfo*>(type_of_annotation(o)), "broadcloth.kernel_type", nullptr)).release();
  });
}
/// array_handle(element, ndim, layout, readonly): the type of an array.
PyObject* array_handle(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject* element = nullptr;
    int ndim = 0, layout = 'A', read_only = 0;
    if (!PyArg_ParseTuple(args, "OiC|p", &element, &ndim, &layout, &read_only)) throw PythonError();
    const Type made = array_type(type_of_annotation(element), ndim, static_cast<char>(layout), read_only != 0);
    return PyRef::steal(PyCapsule_New(const_cast<TypeInfo*>(made), "broadcloth.kernel_type", nullptr)).release();
  });
}
PyObject* parse_type_text(PyObject*, PyObject* o) {
  return guard([&] { return to_py(type_of_annotation(o)->spelling).release(); });
}
/// parse_signature(text): the result's type, None where it is not given, and those of the arguments; TypeError where it is none.
PyObject* parse_signature_text(PyObject*, PyObject* o) {
  return guard([&] {
    const kernels::FunctionSignature signature = signature_of_object(o);
    PyRef types = PyRef::steal(PyList_New(0));
    const kernels::Type result = signature.result;
    check(PyList_Append(types.get(), result ? to_py(result->is(kernels::Kind::none) ? "void" : result->spelling).get() : Py_None));
    for (const kernels::Type t : signature.arguments) check(PyList_Append(types.get(), to_py(t->spelling).get()));
    return types.release();
  });
}
PyObject* kernel_names(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    PyRef list = PyRef::steal(PyList_New(0));
    for (const std::string& name : known_names()) check(PyList_Append(list.get(), to_py(name).get()));
    return list.release();
  });
}

PyMethodDef functions[] = {
    {"compile_text", compile_text, METH_VARARGS, nullptr},
    {"typeof", type_name_of, METH_O, nullptr},
    {"type_handle", type_handle, METH_O, nullptr},
    {"annotation_handle", annotation_handle, METH_O, nullptr},
    {"array_handle", array_handle, METH_VARARGS, nullptr},
    {"parse_type", parse_type_text, METH_O, nullptr},
    {"parse_signature", parse_signature_text, METH_O, nullptr},
    {"kernel_names", kernel_names, METH_NOARGS, nullptr},
    {},
};

}  // namespace

void init_kernels(PyObject* module) {
  add_type(module, &kernel_spec, "KernelCompiler");
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace bc::bind
