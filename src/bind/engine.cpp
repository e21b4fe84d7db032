// The module's functions about the engine itself: running, devices, memory, the kernel cache, and facts for the doctor.
#include "array/placement.h"
#include "backends/cpu/jit_library.h"
#include "backends/cpu/library.h"
#include "backends/cpu/openblas.h"
#include "backends/cuda/cuda_libraries.h"
#include "backends/cuda/library.h"
#include "backends/cuda/nvrtc.h"
#include "backends/null/null_backend.h"
#include "bind/args.h"
#include "bind/list.h"
#include "bind/waits.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"
#include "core/error.h"
#include "graph/show_plan.h"
#include "graph/tape.h"
#include "runtime/exit.h"
#include "runtime/pool.h"
#include "runtime/profiler.h"

namespace bc::bind {
namespace {

/// A dict that is filled key by key.
class Dict {
 public:
  Dict() : d_(PyRef::steal(PyDict_New())) {}
  void put(const char* key, const PyRef& value) { check(PyDict_SetItemString(d_.get(), key, value.get())); }
  void put(const char* key, std::string_view text) { put(key, to_py(text)); }
  void put(const char* key, const std::string& text) { put(key, to_py(text)); }
  void put(const char* key, const char* text) { put(key, to_py(text)); }
  void put(const char* key, bool v) { put(key, PyRef::borrow(v ? Py_True : Py_False)); }
  void put(const char* key, double v) { put(key, PyRef::steal(PyFloat_FromDouble(v))); }
  template <class I>
  requires std::is_integral_v<I>
  void put(const char* key, I v) {
    put(key, PyRef::steal(PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(v))));
  }
  PyRef take() { return std::move(d_); }

 private:
  PyRef d_;
};

// ---- Configuration ---------------------------------------------------------------------------------------------------------------

struct Option {
  const char* name;
  bool Config::* field;
};
constexpr Option options[] = {{"lazy", &Config::lazy}, {"jit", &Config::jit}, {"background_compile", &Config::background_compile}};

PyRef get_config() {
  Dict d;
  for (const Option& o : options) d.put(o.name, config().*o.field);
  return d.take();
}

PyObject* set_config(PyObject*, PyObject* args, PyObject* kwargs) {
  return guard([&]() -> PyObject* {
    if (PyTuple_Size(args)) throw_python(PyExc_TypeError, "set_config() takes keyword arguments only");
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t at = 0;
    while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
      const Option* found = nullptr;
      for (const Option& o : options)
        if (PyUnicode_CompareWithASCIIString(key, o.name) == 0) found = &o;
      if (!found) raise(ErrorKind::Type, "set_config: there is no option '{}'", as_string(key));
      const bool v = to_bool(value);
      // What was recorded before runs as it was meant to.
      if (config().*found->field != v) without_gil([] { synchronize(); });
      config().*found->field = v;
    }
    Py_RETURN_NONE;
  });
}

// ---- Devices and memory ----------------------------------------------------------------------------------------------------------

PyRef device_info(Device d) {
  Dict info;
  Backend& b = backend(d);
  info.put("name", b.device_name());
  info.put("target", b.target());
  info.put("multiprocessors", b.multiprocessors());
  const MemoryInfo memory = b.memory_info();
  info.put("memory_free", memory.free);
  info.put("memory_total", memory.total);
  return info.take();
}

int64_t count_devices(std::string_view kind) {
  const std::optional<DeviceType> type = device_type(kind);
  BC_CHECK(type, Value, "device_count: expected 'cpu', 'cuda' or 'null', got '{}'", kind);
  return device_count(*type);
}

PyRef pool_facts(Device d) {
  const PoolStats s = pool_stats(d);
  Dict facts;
  facts.put("used", s.used);
  facts.put("held", s.held);
  facts.put("peak", s.peak);
  facts.put("limit", s.limit);
  facts.put("allocations", s.allocations);
  facts.put("frees", s.frees);
  facts.put("chunk_allocations", s.chunk_allocations);
  facts.put("free_blocks", s.free_blocks);
  return facts.take();
}

int64_t pool_limit(Device d, std::optional<uint64_t> bytes) {
  if (bytes) pool_set_limit(d, *bytes);
  return static_cast<int64_t>(pool_stats(d).limit);
}

int64_t trim(Device d, uint64_t keep) {
  const size_t before = pool_stats(d).held;
  if (before > keep) pool_trim(d);
  const size_t after = pool_stats(d).held;
  return static_cast<int64_t>(before > after ? before - after : 0);
}

// ---- The kernel cache and the doctor ---------------------------------------------------------------------------------------------

PyRef cache_stats() {
  const CacheStats s = without_gil([] { return kernel_cache_stats(); });
  Dict d;
  d.put("memory_hits", s.memory_hits);
  d.put("disk_hits", s.disk_hits);
  d.put("compiles", s.compiles);
  d.put("compile_seconds", s.compile_seconds);
  d.put("disk_bytes", s.disk_bytes);
  d.put("disk_files", s.disk_files);
  d.put("disk_limit", s.disk_limit);
  d.put("folder", s.folder);
  d.put("warning", s.warning);
  d.put("shipped_hits", s.shipped_hits);
  d.put("replaced", s.replaced);
  d.put("shipped_bytes", s.shipped_bytes);
  d.put("shipped_files", s.shipped_files);
  d.put("shipped_folder", s.shipped_folder);
  return d.take();
}

PyRef library_status() {
  PyRef list = PyRef::steal(PyList_New(0));
  auto add = [&](std::string_view name, const std::string& path, const std::string& version, const std::string& error) {
    Dict d;
    d.put("name", name);
    d.put("found", error.empty());
    d.put("path", path);
    d.put("version", version);
    d.put("error", error);
    check(PyList_Append(list.get(), d.take().get()));
  };
  try {
    cpu::JitLibrary::get();
    add("broadcloth_jit", "", backend({DeviceType::cpu, 0}).target(), "");
  } catch (const Error& e) {
    add("broadcloth_jit", "", "", e.what());
  }
  try {
    add("openblas", "", cpu::openblas().description, "");
  } catch (const Error& e) {
    add("openblas", "", "", e.what());
  }
  for (const cuda::LibraryStatus& s : without_gil([] { return cuda::cuda_library_status(); })) add(s.name, s.path, s.version, s.error);
  return list;
}

void set_paths(PyObject* folders) {
  PyRef items = PyRef::steal(PySequence_Tuple(folders));
  std::vector<std::string> paths;
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) paths.emplace_back(as_string(PyTuple_GetItem(items.get(), i)));
  cuda::set_library_paths(std::move(paths));
}

// ---- The null device -------------------------------------------------------------------------------------------------------------

PyRef extents(const unsigned (&e)[3]) {
  return tuple_of({to_py(int64_t{e[0]}).get(), to_py(int64_t{e[1]}).get(), to_py(int64_t{e[2]}).get()});
}

PyRef null_launches() {
  return list_of(null_log(), [](const NullLaunch& l) {
    Dict d;
    d.put("entry", l.entry);
    d.put("device", to_string(l.device));
    d.put("items", l.items);
    d.put("grain", l.grain);
    d.put("grid", extents(l.grid));
    d.put("block", extents(l.block));
    d.put("shared_bytes", l.shared_bytes);
    d.put("source", l.source ? *l.source : std::string());
    d.put("params", PyRef::steal(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(l.params.data()),
                                                           static_cast<Py_ssize_t>(l.params.size()))));
    return d.take();
  });
}

/// Library ops of "cpu" or "null" devices run the kernels that CUDA's bodies write, or their own bodies again.
void use_cuda_bodies(std::string_view type, bool on) {
  BC_CHECK(type == "cpu" || type == "null", Value, "use_cuda_bodies: expected 'cpu' or 'null', got '{}'", type);
  const DeviceType device = type == "cpu" ? DeviceType::cpu : DeviceType::null;
  backend({device, 0});  // which registers its own when it is opened
  if (on) return cuda::register_kernel_bodies(device);
  device == DeviceType::cpu ? cpu::register_bodies() : register_null_bodies();
}

PyRef null_copy_list() {
  return list_of(null_copies(),
                 [](const NullCopy& c) { return tuple_of({to_py(to_string(c.kind)).get(), to_py(static_cast<int64_t>(c.bytes)).get()}); });
}

PyRef null_order_list() {
  constexpr const char* kinds[] = {"launch", "copy", "fill", "record", "wait", "synchronize"};
  return list_of(null_order(), [&](const NullOrder& o) {
    return tuple_of({to_py(kinds[static_cast<int>(o.kind)]).get(), to_py(to_string(o.device)).get(),
                     to_py(static_cast<int64_t>(reinterpret_cast<intptr_t>(o.stream))).get(), to_py(int64_t{o.event}).get()});
  });
}

const Array& ours(PyObject* o, const char* function) {
  if (!is_array(o)) raise(ErrorKind::Type, "{}: expected a broadcloth.ndarray, got {}", function, type_name(o));
  return array_of(o);
}

}  // namespace

void init_engine(PyObject* module) {
#ifndef Py_GIL_DISABLED
  set_alone([] { return !GilRelease::any(); });
#endif
  add_functions(
      module,
      {
          BC_FUNCTION("flush(device=None)", [](Device d) { without_gil([&] { flush(d); }); }),
          BC_FUNCTION("synchronize()",
                      [] {
                        check_wait_allowed("synchronize()");
                        without_gil_unless(short_running(), [] { synchronize(); });
                      }),
          BC_FUNCTION("show_plan(a: ndarray, plan, ir, source) -> str The named phases of the plan that computes a pending array.",
                      [](PyObject* a, bool plan, bool ir, bool source) {
                        const Array& array = ours(a, "show_plan");
                        return to_py(without_gil([&] { return show_plan(array, {plan, ir, source}); }));
                      }),
          BC_FUNCTION("is_pending(a: ndarray)", [](PyObject* a) { return storage_facts(ours(a, "is_pending")).pending; }),
          BC_FUNCTION("get_config() -> dict[str, Any]", get_config),
          {"set_config", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(set_config)), METH_VARARGS | METH_KEYWORDS,
           "set_config(**options): changes options of get_config()."},
          BC_FUNCTION("default_device() -> device", [] { return device_object(default_device()); }),
          BC_FUNCTION("set_default_device(device: DeviceLike)",
                      [](PyObject* device) {
                        const bool by_size = PyUnicode_Check(device) && as_string(device) == "auto";
                        const Device d = by_size ? Device{} : to_device(device);
                        set_default_device(d);
                        set_placement(by_size ? kAcceleratedElements : 0, std::nullopt, kOpening);
                      }),
          BC_FUNCTION("_set_placement(elements: int, accelerator: DeviceLike=None, patience: int=0) Arrays of so many elements and more "
                      "lie on the accelerator, smaller ones in host memory; 0: all on the default device. The accelerator is opened when "
                      "ops over large arrays have taken the host `patience` ns.",
                      [](int64_t elements, PyObject* accelerator, int64_t patience) {
                        set_placement(elements, accelerator == Py_None ? std::nullopt : std::optional(to_device(accelerator)), patience);
                      }),
          BC_FUNCTION(
              "_placement() -> tuple[int, device | None] The size that _set_placement() was given, or 0, and the accelerator, when it "
              "was worth to be opened.",
              [] {
                const std::optional<Device> known = known_accelerator();
                const PyRef device = known ? device_object(*known) : PyRef::borrow(Py_None);
                return tuple_of({to_py(accelerated_elements()).get(), device.get()});
              }),
          BC_FUNCTION("device_count(kind: Literal['cpu', 'cuda', 'null']='cuda')", count_devices),
          BC_FUNCTION("device_info(device=None) -> dict[str, Any]", device_info),
          BC_FUNCTION("set_trace(enabled)", [](bool enabled) { LineNote::trace.store(enabled); }),
          BC_FUNCTION("pool_stats(device=None) -> dict[str, int]", pool_facts),
          BC_FUNCTION("pool_reset_peak(device=None)", pool_reset_peak),
          BC_FUNCTION("pool_limit(device=None, bytes=None)", pool_limit),
          BC_FUNCTION("pool_trim(device=None, keep=0)", [](Device d, uint64_t keep) { return without_gil([&] { return trim(d, keep); }); }),
          BC_FUNCTION("device_library_for(text, more='')",
                      [](std::string_view text, std::string_view more) {
                        const std::string_view texts[] = {text};
                        return to_py(std::string_view(device_library_for(LibraryTarget::Cuda, texts, more)));
                      }),
          BC_FUNCTION("cache_stats() -> dict[str, Any]", cache_stats),
          BC_FUNCTION("compile_seconds() -> float", [] { return PyRef::steal(PyFloat_FromDouble(kernel_compile_seconds())); }),
          BC_FUNCTION("cache_clear(disk=True)", [](bool disk) { without_gil([&] { kernel_cache_clear(disk); }); }),
          BC_FUNCTION("cache_export(path: str)",
                      [](PyObject* path) {
                        const std::string p(as_string(PyRef::steal(PyOS_FSPath(path)).get()));
                        return static_cast<int64_t>(without_gil([&] { return kernel_cache_export(p); }));
                      }),
          BC_FUNCTION("cache_import(path: str, trust=False)",
                      [](PyObject* path, bool trust) {
                        const std::string p(as_string(PyRef::steal(PyOS_FSPath(path)).get()));
                        BC_CHECK(trust, Value,
                                 "cache import: kernels are native code, and whoever made {} can run code as you; say that you trust it "
                                 "(--trust, or trust=True)",
                                 p);
                        return static_cast<int64_t>(without_gil([&] { return kernel_cache_import(p); }));
                      }),
          BC_FUNCTION("cache_write(folder, arch)",
                      [](std::string_view folder, std::string_view arch) {
                        const std::vector<KernelSource> sources = null_sources();
                        without_gil([&] { cuda::write_kernels(std::string(folder), std::string(arch), sources); });
                        return static_cast<int64_t>(sources.size());
                      }),
          BC_LOOKING("cache_pack(folder)", [](std::string_view folder) { kernel_cache_pack(std::string(folder)); }),
          BC_FUNCTION("cache_set_folder(path)", [](std::string_view path) { kernel_cache_set_folder(std::string(path)); }),
          BC_FUNCTION("cache_set_limit(bytes)", [](uint64_t bytes) { kernel_cache_set_limit(bytes); }),
          BC_LOOKING("cache_wait()", kernel_cache_wait),
          BC_LOOKING("_shutdown()",
                     [] {
                       ending_thread = pthread_self();
                       interpreter_ends.store(true, std::memory_order_release);
                       kernel_cache_close();
                       finish_opening();
                       // Once more, after all that the libraries registered when they were used.
                       arm_exit_barrier();
                     }),
          BC_FUNCTION("library_status() -> list[dict[str, Any]]", library_status),
          BC_FUNCTION("set_library_paths(folders: Sequence[str])", set_paths),
          BC_FUNCTION("observe_launches(address)",
                      [](uint64_t address) { launch_observer.store(reinterpret_cast<LaunchObserver>(address)); }),  // NOLINT
          BC_FUNCTION("null_log() -> list[dict[str, Any]]", null_launches),
          BC_FUNCTION("null_run(on)", [](bool on) { null_run(on); }),
          BC_FUNCTION("use_cuda_bodies(type: Literal['cpu', 'null'], on)", use_cuda_bodies),
          BC_FUNCTION("null_copies() -> list[tuple[str, int]]", null_copy_list),
          BC_FUNCTION("null_order()", null_order_list),
          BC_FUNCTION("null_log_clear()", null_log_clear),
          BC_FUNCTION("null_set_target(target: Literal['null-cpu', 'null-cuda'])",
                      [](std::string_view target) { null_set_target(std::string(target)); }),
      });
  // The compiling thread must end while the interpreter still stands.
  PyRef hook = attr(module, "_shutdown");
  call(import_attr("atexit", "register").get(), {hook.get()});
  // Not by os.register_at_fork: hooks of other modules run after ours there, and may let another thread have Python's lock, which would
  // then wait for a tape's.
  watch_forks();
}

}  // namespace bc::bind
