// broadcloth.RawKernel and the programs behind broadcloth.RawModule: kernels written in CUDA C++.
#include <atomic>
#include <cstddef>
#include <mutex>

#include "backends/cuda/nvrtc.h"
#include "backends/cuda/program.h"
#include "bind/args.h"
#include "bind/cuda_stream.h"
#include "bind/cupy_headers.h"
#include "bind/kernels.h"
#include "bind/launch.h"
#include "bind/vectorcall.h"

namespace bc::bind {
namespace {

// ---- Programs -----------------------------------------------------------------------------------------------------------------------

/// A source with the programs that it became, one a device.
class Compiled {
 public:
  explicit Compiled(ProgramSource source) : source_(std::move(source)) {}
  const ProgramSource& source() const { return source_; }

  /// Compiles at the first call for a device. Without the interpreter's lock.
  std::shared_ptr<Program> on(Device device) {
    {
      std::lock_guard lock(mutex_);
      for (const auto& [where, program] : programs_)
        if (where == device) return program;
    }
    std::shared_ptr<Program> made = load_program(device, source_);
    std::lock_guard lock(mutex_);
    programs_.emplace_back(device, made);
    return made;
  }

 private:
  const ProgramSource source_;
  std::mutex mutex_;
  std::vector<std::pair<Device, std::shared_ptr<Program>>> programs_;
};

std::vector<std::string> string_list(PyObject* o, const char* what) {
  std::vector<std::string> list;
  if (!o || o == Py_None) return list;
  if (PyUnicode_Check(o)) raise(ErrorKind::Type, "{}: expected a tuple of strings, got a string", what);
  PyRef items = PyRef::steal(PySequence_Tuple(o));
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) {
    PyObject* item = PyTuple_GetItem(items.get(), i);
    if (!PyUnicode_Check(item)) raise(ErrorKind::Type, "{}: expected a tuple of strings, got {} in it", what, type_name(item));
    list.emplace_back(as_string(item));
  }
  return list;
}

bool wants_nvcc(PyObject* compiler) {
  const std::string_view name = PyUnicode_Check(compiler) ? as_string(compiler) : std::string_view();
  if (name == "nvcc") return true;
  if (name == "nvrtc") return false;
  raise(ErrorKind::Value, "backend: expected 'nvrtc' or 'nvcc', got {}", PyUnicode_Check(compiler) ? name : type_name(compiler));
}

PyRef string_tuple(const std::vector<std::string>& list) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(i), to_py(list[i]).release()));
  return t;
}

// ---- RawKernel ----------------------------------------------------------------------------------------------------------------------

/// A kernel on one device. Never changed once made.
struct Loaded {
  Device device;
  std::shared_ptr<Program> program;
  ProgramKernel* kernel = nullptr;
  std::vector<RawParameter> parameters;
  bool known = false;  ///< the number of parameters is known
  const Loaded* next = nullptr;
};

struct KernelState {
  std::shared_ptr<Compiled> compiled;
  std::string name;
  bool cooperative = false;
  std::atomic<const Loaded*> first{nullptr};  ///< a list that only grows
  std::mutex mutex;

  ~KernelState() {
    for (const Loaded* l = first.load(); l;) delete std::exchange(l, l->next);
  }
};

struct PyRawKernel {
  PyObject_HEAD Vectorcall vectorcall;
  KernelState* state;
  PyObject* weakrefs;
};

PyTypeObject* kernel_type = nullptr;

PyRawKernel* as_kernel(PyObject* o) { return reinterpret_cast<PyRawKernel*>(o); }
KernelState& state_of(PyObject* o) {
  KernelState* s = as_kernel(o)->state;
  if (!s) throw_python(PyExc_TypeError, "RawKernel: __init__ has not run");
  return *s;
}

const Loaded& load(KernelState& s, Device device) {
  for (const Loaded* l = s.first.load(std::memory_order_acquire); l; l = l->next)
    if (l->device == device) [[likely]]
      return *l;
  return *without_gil([&]() -> const Loaded* {
    auto made = std::make_unique<Loaded>();
    made->device = device;
    made->program = s.compiled->on(device);
    made->kernel = &made->program->kernel(s.name);
    const ProgramSource& source = s.compiled->source();
    const std::span<const uint32_t> sizes = made->kernel->parameter_bytes();
    made->known = made->kernel->knows_parameters();
    made->parameters.resize(sizes.size());
    for (size_t i = 0; i < sizes.size(); ++i) made->parameters[i].bytes = sizes[i];
    // The text tells numbers from pointers, and what is only read; the compiler's word on the count and the sizes goes first.
    if (const auto read = kernel_parameters(source.text, s.name, source.options)) {
      if (!made->known) {
        made->parameters.resize(read->size());
        made->known = true;
      }
      if (read->size() == made->parameters.size()) {
        for (size_t i = 0; i < read->size(); ++i) {
          const KernelParameter& from = (*read)[i];
          RawParameter& to = made->parameters[i];
          to.described = true;
          const uint32_t bytes = from.kind == KernelParameter::Kind::scalar    ? static_cast<uint32_t>(itemsize(from.dtype))
                                 : from.kind == KernelParameter::Kind::pointer ? 8u
                                                                               : 0u;
          if (bytes == 0 || (to.bytes && to.bytes != bytes)) continue;
          to.kind = from.kind;
          to.dtype = from.dtype;
          to.write = !from.read_only;
          to.bytes = bytes;
        }
      }
    }
    std::lock_guard lock(s.mutex);
    for (const Loaded* l = s.first.load(); l; l = l->next)
      if (l->device == device) return l;
    made->next = s.first.load();
    s.first.store(made.get(), std::memory_order_release);
    return made.release();
  });
}

/// The kernel on the default device, for its attributes.
const Loaded& loaded(PyObject* self) { return load(state_of(self), default_device()); }

/// Arguments of a call as a span: a tuple or a list.
class ArgumentSpan {
 public:
  explicit ArgumentSpan(PyObject* args, const char* kernel) {
    if (PyTuple_Check(args))
      items_ = PyRef::borrow(args);
    else if (PyList_Check(args))
      items_ = PyRef::steal(PyList_AsTuple(args));
    else
      raise(ErrorKind::Type, "kernel {}: expected a tuple for the kernel's arguments, got {}", kernel, type_name(args));
    n_ = PyTuple_Size(items_.get());
  }
  Py_ssize_t size() const { return n_; }
  PyObject* operator[](Py_ssize_t i) const { return PyTuple_GetItem(items_.get(), i); }

 private:
  PyRef items_;
  Py_ssize_t n_ = 0;
};

void launch_raw(KernelState& s, const KernelLaunch& shape, const ArgumentSpan& args, PyObject* stream, int64_t times = 1) {
  const char* name = s.name.c_str();
  const Py_ssize_t n = args.size();
  ForeignArrays foreign;
  std::optional<Device> where;
  for (Py_ssize_t i = 0; i < n && !where; ++i)
    if (is_array(args[i])) where = array_of(args[i]).device();
  for (Py_ssize_t i = 0; i < n && !where; ++i) where = launch_device(args[i], &foreign);
  const Device device = where ? *where : default_device();
  const Loaded& loaded = load(s, device);
  if (loaded.known && static_cast<size_t>(n) != loaded.parameters.size()) [[unlikely]]
    raise(ErrorKind::Type, "kernel {}: expected {} argument{}, got {}", name, loaded.parameters.size(),
          loaded.parameters.size() == 1 ? "" : "s", n);
  LaunchArguments arguments;
  const RawParameter unknown;
  for (Py_ssize_t i = 0; i < n; ++i)
    add_raw_argument(&arguments, &foreign, args[i], loaded.known ? loaded.parameters[static_cast<size_t>(i)] : unknown, name,
                     static_cast<int>(i), device);
  arguments.launch(*loaded.kernel, shape, stream_of(stream, device), times);
}

PyObject* call_kernel(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guard([&]() -> PyObject* {
    static constinit Once<CallSignature> signature_once;
    const CallSignature& signature = signature_once.get(
        "RawKernel.__call__(grid, block, args, shared_mem=0, stream=None, enable_cooperative_groups=None, cluster=None)");
    PyObject* values[7];
    signature.bind(args, positional_count(nargsf), kwnames, values);
    KernelState& s = state_of(self);
    KernelLaunch shape;
    read_dims(values[0], shape.grid, s.name.c_str(), "grid");
    read_dims(values[1], shape.block, s.name.c_str(), "block");
    shape.shared_bytes = static_cast<unsigned>(to_int(values[3], "shared_mem"));
    shape.cooperative = values[5] == Py_None ? s.cooperative : to_bool(values[5]);
    if (values[6] != Py_None) read_dims(values[6], shape.cluster, s.name.c_str(), "cluster");
    launch_raw(s, shape, ArgumentSpan(values[2], s.name.c_str()), values[4]);
    Py_RETURN_NONE;
  });
}

PyRef linear_launch(PyObject* self, int64_t size, PyObject* args, int64_t shared_mem, int64_t block_max_size, PyObject* stream) {
  KernelState& s = state_of(self);
  KernelLaunch shape;
  const int64_t block = std::max<int64_t>(1, std::min(block_max_size, size));
  shape.block[0] = static_cast<unsigned>(block);
  shape.grid[0] = static_cast<unsigned>(std::max<int64_t>(1, (size + block - 1) / block));
  shape.shared_bytes = static_cast<unsigned>(shared_mem);
  shape.cooperative = s.cooperative;
  launch_raw(s, shape, ArgumentSpan(args, s.name.c_str()), stream);
  return PyRef::borrow(Py_None);
}

PyObject* make_kernel(std::shared_ptr<Compiled> compiled, std::string name, bool cooperative);

PyObject* kernel_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guard([&] {
    static constinit Once<CallSignature> signature_once;
    const CallSignature& signature = signature_once.get(
        "RawKernel(code, name, options=None, backend='nvrtc', translate_cucomplex=False, *, enable_cooperative_groups=False, "
        "jitify=False)");
    PyObject* values[7];
    VectorArguments(args, kwargs).bind(signature, values);
    if (!PyUnicode_Check(values[0])) raise(ErrorKind::Type, "RawKernel: expected a string for 'code', got {}", type_name(values[0]));
    if (!PyUnicode_Check(values[1])) raise(ErrorKind::Type, "RawKernel: expected a string for 'name', got {}", type_name(values[1]));
    ProgramSource source;
    source.text = as_string(values[0]);
    const std::string name(as_string(values[1]));
    source.name = name.substr(0, name.find('<')) + ".cu";
    source.options = string_list(values[2], "options");
    source.nvcc = wants_nvcc(values[3]);
    add_cupy_headers(&source);
    // A template is named by its expression.
    if (name.find_first_of("<:") != std::string::npos) source.name_expressions = {name};
    return make_kernel(std::make_shared<Compiled>(std::move(source)), name, to_bool(values[5]));
  });
}

/// Compiles a kernel's program for a GPU, which need not be there, into a folder that a wheel ships.
void write_program(std::string_view folder, std::string_view arch, PyObject* kernel) {
  if (!is_exact(kernel, kernel_type)) raise(ErrorKind::Type, "cache_write_program: expected a RawKernel, got {}", type_name(kernel));
  const ProgramSource& source = state_of(kernel).compiled->source();
  without_gil([&] { cuda::write_program(std::string(folder), std::string(arch), source); });
}

/// One launch many times over, its parameters made once: what the driver takes, for measurements.
PyRef repeat_launch(PyObject* kernel, PyObject* grid, PyObject* block, PyObject* args, int64_t times) {
  if (!is_exact(kernel, kernel_type)) raise(ErrorKind::Type, "repeat_launch: expected a RawKernel, got {}", type_name(kernel));
  KernelState& s = state_of(kernel);
  KernelLaunch shape;
  read_dims(grid, shape.grid, s.name.c_str(), "grid");
  read_dims(block, shape.block, s.name.c_str(), "block");
  launch_raw(s, shape, ArgumentSpan(args, s.name.c_str()), nullptr, times);
  return PyRef::borrow(Py_None);
}

void kernel_dealloc(PyObject* self) {
  PyRawKernel* k = as_kernel(self);
  if (k->weakrefs) PyObject_ClearWeakRefs(self);
  PyTypeObject* type = Py_TYPE(self);
  if (KernelState* s = std::exchange(k->state, nullptr)) {
    // Unloading a program waits for the device.
    GilRelease released;
    delete s;
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* kernel_repr(PyObject* self) {
  return guard([&] { return PyUnicode_FromFormat("<broadcloth.RawKernel '%s'>", state_of(self).name.c_str()); });
}

template <PyRef (*F)(PyObject* self)>
PyObject* getter(PyObject* self, void*) {
  return guard([&] { return F(self).release(); });
}

template <int Number>
PyObject* attribute_getter(PyObject* self, void*) {
  return guard([&] {
    const Loaded& l = loaded(self);
    return to_py(static_cast<int64_t>(l.kernel->attribute(Number))).release();
  });
}
template <int Number>
int attribute_setter(PyObject* self, PyObject* value, void*) {
  return guard(-1, [&] {
    if (!value) throw_python(PyExc_AttributeError, "attributes of a kernel cannot be deleted");
    loaded(self).kernel->set_attribute(Number, static_cast<int>(to_int(value, "attribute")));
    return 0;
  });
}

struct AttributeRow {
  const char* name;
  int number;
};
// CUfunction_attribute's numbers.
constexpr AttributeRow attribute_rows[] = {{"max_threads_per_block", 0},
                                           {"shared_size_bytes", 1},
                                           {"const_size_bytes", 2},
                                           {"local_size_bytes", 3},
                                           {"num_regs", 4},
                                           {"ptx_version", 5},
                                           {"binary_version", 6},
                                           {"cache_mode_ca", 7},
                                           {"max_dynamic_shared_size_bytes", 8},
                                           {"preferred_shared_memory_carveout", 9}};

PyRef get_attributes(PyObject* self) {
  const Loaded& l = loaded(self);
  PyRef d = PyRef::steal(PyDict_New());
  for (const AttributeRow& row : attribute_rows)
    check(PyDict_SetItemString(d.get(), row.name, to_py(static_cast<int64_t>(l.kernel->attribute(row.number))).get()));
  return d;
}

PyRef get_code(PyObject* self) {
  const ProgramSource& source = state_of(self).compiled->source();
  return source.binary.empty() ? to_py(source.text) : PyRef::borrow(Py_None);
}
PyRef get_name(PyObject* self) { return to_py(state_of(self).name); }
PyRef get_options(PyObject* self) { return string_tuple(state_of(self).compiled->source().options); }
PyRef get_backend(PyObject* self) { return to_py(state_of(self).compiled->source().nvcc ? "nvcc" : "nvrtc"); }
PyRef get_file_path(PyObject*) { return PyRef::borrow(Py_None); }
PyRef get_cooperative(PyObject* self) { return PyRef::borrow(state_of(self).cooperative ? Py_True : Py_False); }
PyRef get_kernel(PyObject* self) {
  loaded(self);
  return PyRef::borrow(self);
}
PyRef get_parameters(PyObject* self) {
  const Loaded& l = loaded(self);
  if (!l.known) return PyRef::borrow(Py_None);
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(l.parameters.size())));
  for (size_t i = 0; i < l.parameters.size(); ++i)
    check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(i), to_py(static_cast<int64_t>(l.parameters[i].bytes)).release()));
  return t;
}

PyGetSetDef kernel_attributes[] = {
    {"code", getter<get_code>, nullptr, "The CUDA C++ text; None for a kernel of a binary.", nullptr},
    {"name", getter<get_name>, nullptr, "The kernel's name in the text.", nullptr},
    {"options", getter<get_options>, nullptr, "What the compiler was told.", nullptr},
    {"backend", getter<get_backend>, nullptr, "The CUDA compiler: 'nvrtc' or 'nvcc'.", nullptr},
    {"file_path", getter<get_file_path>, nullptr, "None: programs of files are made by RawModule.", nullptr},
    {"enable_cooperative_groups", getter<get_cooperative>, nullptr, "Launches are cooperative: the grid may synchronise.", nullptr},
    {"kernel", getter<get_kernel>, nullptr, "The kernel itself, compiled for the default device.", nullptr},
    {"attributes", getter<get_attributes>, nullptr, "All of the kernel's attributes on the default device, in a dict.", nullptr},
    {"parameter_bytes", getter<get_parameters>, nullptr, "Bytes of each parameter; None where the device does not tell.", nullptr},
    {"max_threads_per_block", attribute_getter<0>, nullptr, "Threads that a block of the kernel can have.", nullptr},
    {"shared_size_bytes", attribute_getter<1>, nullptr, "Bytes of static shared memory of a block.", nullptr},
    {"const_size_bytes", attribute_getter<2>, nullptr, "Bytes of constant memory.", nullptr},
    {"local_size_bytes", attribute_getter<3>, nullptr, "Bytes of local memory of a thread: arrays and spills.", nullptr},
    {"num_regs", attribute_getter<4>, nullptr, "Registers of a thread.", nullptr},
    {"ptx_version", attribute_getter<5>, nullptr, "The PTX version that it was compiled to.", nullptr},
    {"binary_version", attribute_getter<6>, nullptr, "The architecture that it was compiled for: 90 for sm_90.", nullptr},
    {"cache_mode_ca", attribute_getter<7>, nullptr, "Whether loads go through the first-level cache by the compiler's order.", nullptr},
    {"max_dynamic_shared_size_bytes", attribute_getter<8>, attribute_setter<8>,
     "The limit of dynamic shared memory; a launch that asks for more raises it by itself.", nullptr},
    {"preferred_shared_memory_carveout", attribute_getter<9>, attribute_setter<9>,
     "The part of the first-level cache to use as shared memory, in percent; -1: the driver's choice.", nullptr},
    {}};

PyRef compile_method(PyObject* self, PyObject* log_stream) {
  const Loaded& l = loaded(self);
  if (log_stream != Py_None) {
    PyRef write = attr(log_stream, "write");
    call(write.get(), {to_py(l.program->log()).get()});
  }
  return PyRef::borrow(Py_None);
}

PyRef max_blocks_method(PyObject* self, int64_t block_threads, int64_t shared_mem) {
  return to_py(
      static_cast<int64_t>(loaded(self).kernel->max_active_blocks(static_cast<int>(block_threads), static_cast<size_t>(shared_mem))));
}

PyRef best_block_method(PyObject* self, int64_t shared_mem) {
  const auto [grid, block] = loaded(self).kernel->best_block(static_cast<size_t>(shared_mem));
  return tuple_of({to_py(static_cast<int64_t>(grid)).get(), to_py(static_cast<int64_t>(block)).get()});
}

PyMemberDef kernel_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyRawKernel, vectorcall), READONLY, nullptr},
                                {"__weaklistoffset__", T_PYSSIZET, offsetof(PyRawKernel, weakrefs), READONLY, nullptr},
                                {}};

PyObject* make_kernel(std::shared_ptr<Compiled> compiled, std::string name, bool cooperative) {
  PyRawKernel* self = PyObject_New(PyRawKernel, kernel_type);
  if (!self) throw PythonError();
  self->vectorcall = call_kernel;
  self->weakrefs = nullptr;
  self->state = nullptr;
  PyRef owned = PyRef::steal(reinterpret_cast<PyObject*>(self));
  self->state = new KernelState;
  self->state->compiled = std::move(compiled);
  self->state->name = std::move(name);
  self->state->cooperative = cooperative;
  return owned.release();
}

constexpr const char* kKernelDoc =
    "RawKernel(code, name, options=(), backend='nvrtc', translate_cucomplex=False, *, enable_cooperative_groups=False, "
    "jitify=False)\n--\n\n"
    "A kernel written in CUDA C++, for every device.\n\n"
    "It is compiled when it is first launched on a device: by NVRTC (or nvcc) on CUDA, by the embedded clang on the CPU; compiled code is\n"
    "kept on disk. Calling it launches it.\n\n"
    "Parameters\n----------\n"
    "code : str\n    The text. Without extern \"C\" a kernel is found by its plain name where there is one of that name.\n"
    "name : str\n    The kernel; a template by its expression: \"scale<float>\".\n"
    "options : tuple of str\n    For the compiler: \"-DN=4\", \"-I/path\", \"--use_fast_math\", \"-std=c++20\".\n"
    "backend : {'nvrtc', 'nvcc'}\n    The CUDA compiler; without meaning on the CPU.\n"
    "translate_cucomplex, jitify : bool\n    Taken as CuPy takes them; nothing needs them here.\n"
    "enable_cooperative_groups : bool\n    Launches are cooperative, so that the whole grid may synchronise.\n\n"
    "Raises\n------\n"
    "CompileError\n    At the first launch; the message has the compiler's lines, which count the text's own.\n\n"
    "Examples\n--------\n"
    ">>> add = bc.RawKernel(r'''\n"
    "... extern \"C\" __global__ void add(const float* a, const float* b, float* out, int n) {\n"
    "...     int i = blockDim.x * blockIdx.x + threadIdx.x;\n"
    "...     if (i < n) out[i] = a[i] + b[i];\n"
    "... }''', 'add')\n"
    ">>> a, out = bc.arange(4, dtype='float32'), bc.empty(4, 'float32')\n"
    ">>> add((1,), (32,), (a, a, out, 4))\n"
    ">>> out\n"
    "array([0., 2., 4., 6.], dtype=float32)\n";

// ---- KernelProgram ------------------------------------------------------------------------------------------------------------------

struct PyProgram {
  PyObject_HEAD std::shared_ptr<Compiled> compiled;
};

std::shared_ptr<Compiled>& compiled_of(PyObject* o) { return reinterpret_cast<PyProgram*>(o)->compiled; }

PyTypeObject* program_type = nullptr;

PyRef new_program(PyObject* text, PyObject* options, PyObject* name_expressions, std::string_view name, PyObject* headers, PyObject* binary,
                  PyObject* compiler) {
  ProgramSource source;
  if (text != Py_None) source.text = as_string(text);
  source.options = string_list(options, "options");
  source.name_expressions = string_list(name_expressions, "name_expressions");
  source.name = name;
  source.nvcc = wants_nvcc(compiler);
  if (headers != Py_None) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (PyDict_Next(headers, &at, &key, &value)) source.headers.emplace_back(as_string(key), as_string(value));
  }
  add_cupy_headers(&source);
  if (binary != Py_None) {
    Py_buffer view;
    check(PyObject_GetBuffer(binary, &view, PyBUF_SIMPLE));
    const char* bytes = static_cast<const char*>(view.buf);
    source.binary.assign(bytes, bytes + view.len);
    PyBuffer_Release(&view);
    if (source.binary.empty()) raise(ErrorKind::Value, "{}: the file is empty", name);
  }
  PyProgram* self = PyObject_New(PyProgram, program_type);
  if (!self) throw PythonError();
  new (&self->compiled) std::shared_ptr<Compiled>(std::make_shared<Compiled>(std::move(source)));
  return PyRef::steal(reinterpret_cast<PyObject*>(self));
}

void program_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    GilRelease released;
    compiled_of(self).~shared_ptr();
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

PyRef program_kernel(PyObject* self, std::string_view name, bool cooperative) {
  return PyRef::steal(make_kernel(compiled_of(self), std::string(name), cooperative));
}

PyRef program_variable(PyObject* self, std::string_view name, Device device) {
  const auto [address, bytes] = without_gil([&] { return compiled_of(self)->on(device)->variable(name); });
  return tuple_of({PyRef::steal(PyLong_FromVoidPtr(address)).get(), to_py(static_cast<int64_t>(bytes)).get()});
}

PyRef program_compile(PyObject* self, Device device) {
  return to_py(without_gil([&] { return compiled_of(self)->on(device)->log(); }));
}

// ---- Compiling without a device -------------------------------------------------------------------------------------------------------

PyRef compile_for_arch(PyObject* text, std::string_view arch, PyObject* options, PyObject* name_expressions, std::string_view name,
                       PyObject* compiler, bool device_library, bool linked, PyObject* link) {
  ProgramSource source;
  source.text = as_string(text);
  source.options = string_list(options, "options");
  source.name_expressions = string_list(name_expressions, "name_expressions");
  source.name = name;
  source.nvcc = wants_nvcc(compiler);
  source.device_library = device_library;
  add_cupy_headers(&source);
  if (link != Py_None) source.linked = linked_code(link);
  const cuda::ProgramBinary made = without_gil([&] { return cuda::compile_source(source, arch, linked); });
  return tuple_of({PyRef::steal(PyBytes_FromStringAndSize(made.bytes.data(), static_cast<Py_ssize_t>(made.bytes.size()))).get(),
                   string_tuple(made.lowered).get(), to_py(made.log).get()});
}

PyRef parameters_of(std::string_view text, std::string_view name, PyObject* options) {
  const auto read = kernel_parameters(text, name, string_list(options, "options"));
  if (!read) return PyRef::borrow(Py_None);
  PyRef list = PyRef::steal(PyList_New(0));
  for (const KernelParameter& p : *read) {
    const char* kind = p.kind == KernelParameter::Kind::scalar    ? info(p.dtype).name
                       : p.kind == KernelParameter::Kind::pointer ? (p.read_only ? "const pointer" : "pointer")
                                                                  : "unknown";
    check(PyList_Append(list.get(), tuple_of({to_py(std::string_view(kind)).get(), to_py(p.name).get()}).get()));
  }
  return list;
}

}  // namespace

void init_raw_kernel(PyObject* module) {
  static std::vector<PyMethodDef> kernel_methods = {
      BC_METHOD("compile(log_stream=None) Compiles for the default device now instead of at the first launch; warnings go to log_stream.",
                compile_method),
      BC_METHOD(
          "linear_launch(size, args, shared_mem=0, block_max_size=128, stream=None) Launches at least `size` threads in one dimension.",
          linear_launch),
      BC_METHOD("max_active_blocks(block_threads, shared_mem=0) Blocks of a launch that one multiprocessor runs at once.",
                max_blocks_method),
      BC_METHOD("best_block(shared_mem=0) Grid and block with the highest occupancy.", best_block_method),
      {},
  };
  PyType_Slot kernel_slots[] = {{Py_tp_new, reinterpret_cast<void*>(kernel_new)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(kernel_dealloc)},
                                {Py_tp_repr, reinterpret_cast<void*>(kernel_repr)},
                                {Py_tp_call, reinterpret_cast<void*>(tuple_call<call_kernel>)},
                                {Py_tp_getset, kernel_attributes},
                                {Py_tp_methods, kernel_methods.data()},
                                {Py_tp_members, kernel_members},
                                {Py_tp_doc, const_cast<char*>(kKernelDoc)},
                                {0, nullptr}};
  PyType_Spec kernel_spec = {"broadcloth.RawKernel", sizeof(PyRawKernel), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE, kernel_slots};
  kernel_type = add_type(module, &kernel_spec, "RawKernel");

  static std::vector<PyMethodDef> program_methods = {
      BC_METHOD("kernel(name, cooperative=False) The kernel of that name.", program_kernel),
      BC_METHOD("variable(name, device=None) Address and bytes of a __device__ or __constant__ variable.", program_variable),
      BC_METHOD("compile(device=None) Compiles now; returns the compiler's warnings.", program_compile),
      {},
  };
  PyType_Slot program_slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(program_dealloc)}, {Py_tp_methods, program_methods.data()}, {0, nullptr}};
  PyType_Spec program_spec = {"broadcloth._broadcloth.KernelProgram", sizeof(PyProgram), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, program_slots};
  program_type = add_type(module, &program_spec, "KernelProgram");
  add_functions(
      module,
      {BC_FUNCTION(
           "kernel_program(text: str | None, options: Sequence[str] | None=None, name_expressions: Sequence[str] | None=None, "
           "name='module.cu', headers: dict[str, str] | None=None, binary: bytes | None=None, compiler: str='nvrtc') -> KernelProgram",
           new_program),
       BC_FUNCTION("compile_cuda(text: str, arch='sm_90', options: Sequence[str] | None=None, name_expressions: Sequence[str] | None=None, "
                   "name='kernel.cu', compiler: str='nvrtc', "
                   "device_library=False, linked=True, link=None) -> tuple[bytes, tuple[str, ...], str] CUDA C++ "
                   "compiled without a GPU: the binary, the mangled names of the name expressions, and the warnings.",
                   compile_for_arch),
       BC_FUNCTION("repeat_launch(kernel: RawKernel, grid, block, args: tuple[Any, ...], times) -> None", repeat_launch),
       BC_FUNCTION("cache_write_program(folder, arch, kernel: RawKernel)", write_program),
       BC_FUNCTION("kernel_parameters(text, name, options: Sequence[str] | None=None) -> list[tuple[str, str]] | None", parameters_of)});
}

}  // namespace bc::bind
