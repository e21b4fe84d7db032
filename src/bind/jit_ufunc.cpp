// broadcloth.vectorize and guvectorize: a Python function as the loop of a NumPy ufunc, and as an elementwise op of the engine's graph.
#include <xmmintrin.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "array/user.h"
#include "backends/cpu/jit_library.h"
#include "bind/args.h"
#include "bind/jit_dispatcher.h"
#include "codegen/kernel_cache.h"
#include "kernels/host.h"
#include "kernels/python_library.h"
#include "ops/user_kernel.h"
#include "primitives/user_op.h"
#include "runtime/interrupt.h"

namespace bc::bind::jit {
namespace {

using kernels::cpp_name;

// ---- NumPy's side -----------------------------------------------------------------------------------------------------------------

using UfuncLoop = void (*)(char** args, const Py_intptr_t* dims, const Py_intptr_t* steps, void* data);

/// The functions of NumPy's ufunc API that are used, by their places in its table.
struct UfuncApi {
  PyObject* (*make)(UfuncLoop* loops, void* const* data, const char* types, int ntypes, int nin, int nout, int identity, const char* name,
                    const char* doc, int unused, const char* signature, PyObject* identity_value);
};
const UfuncApi& ufunc_api() {
  static constinit Once<UfuncApi> once;
  return once.make([] {
    PyRef module = PyRef::maybe(PyImport_ImportModule("numpy._core._multiarray_umath"));
    if (!module) {
      PyErr_Clear();
      module = import("numpy.core._multiarray_umath");
    }
    PyRef capsule = attr(module.get(), "_UFUNC_API");
    void** table = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
    if (!table) throw PythonError();
    return std::make_unique<UfuncApi>(reinterpret_cast<decltype(UfuncApi::make)>(table[42]));
  });
}

/// One compiled loop. Never freed: ufuncs keep its address.
struct Loop {
  host::Entry entry = nullptr;
  host::Entry chain = nullptr;  ///< of two operands, where a result is the next turn's operand
  std::vector<int> items;       ///< bytes of an element of each operand; empty: the entry takes NumPy's arguments
  int operands = 0;             ///< inputs and outputs
  int core_dims = 0;            ///< extents of an element's own dimensions (guvectorize)
  bool parallel = false;
  int64_t grain = 1;  ///< turns of a thread's piece
  std::vector<kernels::Failure> failures;
  kernels::Type result = nullptr;
  std::vector<char> types;  ///< NumPy's numbers of the operands' dtypes
  std::string text;
};

/// The last failure of a loop: NumPy has no way to hand it on.
struct Failed {
  std::mutex mutex;
  kernels::Failure failure;  ///< no type: none
};
Failed& failed() {
  static auto& f = *new Failed;
  return f;
}

/// Whether a result is the next turn's operand, as reduce and accumulate have it.
bool is_chained(const Loop& loop, char** args, const Py_intptr_t* steps) {
  return loop.core_dims == 0 && loop.operands == 3 && (steps[2] == 0 || (args[2] - args[0] == steps[2] && steps[0] == steps[2]));
}

template <class T>
void strided_of(char* to, int64_t to_step, const char* from, int64_t from_step, int64_t count) {
  constexpr auto kItem = static_cast<int64_t>(sizeof(T));
  if (to_step == kItem && from_step == 0) {
    std::fill_n(reinterpret_cast<T*>(to), count, *reinterpret_cast<const T*>(from));
  } else if (to_step == kItem) {
    for (int64_t i = 0; i < count; ++i) reinterpret_cast<T*>(to)[i] = *reinterpret_cast<const T*>(from + i * from_step);
  } else if (from_step == kItem) {
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * to_step) = reinterpret_cast<const T*>(from)[i];
  } else {
    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * to_step) = *reinterpret_cast<const T*>(from + i * from_step);
  }
}

/// Copies elements of 1, 2, 4, 8 or 16 bytes from and to places with these distances in bytes.
void strided(void* to, int64_t to_step, const void* from, int64_t from_step, int64_t count, int bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  struct Sixteen {
    int64_t words[2];
  };
  switch (bytes) {
    case 1: return strided_of<uint8_t>(t, to_step, f, from_step, count);
    case 2: return strided_of<uint16_t>(t, to_step, f, from_step, count);
    case 4: return strided_of<uint32_t>(t, to_step, f, from_step, count);
    case 8: return strided_of<uint64_t>(t, to_step, f, from_step, count);
    default: return strided_of<Sixteen>(t, to_step, f, from_step, count);
  }
}

/// An elementwise loop: in place where all elements lie side by side, else a block at a time, through buffers.
bool run_blocks(const Loop& loop, char** args, int64_t n, const Py_intptr_t* steps, host::Call* call) {
  constexpr int64_t kBlock = 512, kStrip = 8192;  // each run asks whether the user ends it
  constexpr size_t kRoom = 4 * kBlock * 8;
  const auto operands = static_cast<size_t>(loop.operands);
  Small<void*, 16> places;
  std::copy_n(args, operands, places.add(operands));
  const auto unit = [&](size_t k) { return steps[k] == loop.items[k]; };
  size_t bytes = 0;
  for (size_t k = 0; k < operands; ++k)
    if (!unit(k)) bytes += kBlock * static_cast<size_t>(loop.items[k]);
  const int64_t block = bytes == 0 ? kStrip : kBlock;
  alignas(64) char inside[kRoom];
  const std::unique_ptr<char[]> outside(bytes > kRoom ? new char[bytes] : nullptr);
  char* room = outside ? outside.get() : inside;
  for (size_t k = 0; k < operands; ++k)
    if (!unit(k)) places[k] = std::exchange(room, room + kBlock * loop.items[k]);
  const size_t out = operands - 1;
  for (int64_t at = 0; at < n; at += block) {
    int64_t count = std::min(block, n - at);
    for (size_t k = 0; k < operands; ++k) {
      char* const here = args[k] + at * steps[k];
      if (unit(k))
        places[k] = here;
      else if (k != out && (at == 0 || steps[k] != 0))
        strided(places[k], loop.items[k], here, steps[k], count, loop.items[k]);
    }
    if (!host::run(loop.entry, places.data(), &count, call)) return false;
    if (!unit(out)) strided(args[out] + at * steps[out], steps[out], places[out], loop.items[out], count, loop.items[out]);
  }
  return true;
}

/// False where the user ended it.
bool run_piece(const Loop& loop, char** args, const Py_intptr_t* dims, const Py_intptr_t* steps) {
  host::Call call;
  call.threads = true;
  void* arguments[3] = {args, const_cast<Py_intptr_t*>(dims), const_cast<Py_intptr_t*>(steps)};
  const bool chained = loop.chain && is_chained(loop, args, steps);
  if (loop.items.empty() || chained ? host::run(chained ? loop.chain : loop.entry, arguments, nullptr, &call)
                                    : run_blocks(loop, args, dims[0], steps, &call))
    return true;
  Failed& f = failed();
  const std::lock_guard lock(f.mutex);
  f.failure = failure_of(loop.failures, call);
  return call.failure != 0 || call.raised != host::Raised::interrupted;
}

/// What NumPy calls.
void run_loop(char** args, const Py_intptr_t* dims, const Py_intptr_t* steps, void* data) {
  const Loop& loop = *static_cast<const Loop*>(data);
  // Lanes that are computed and not taken set flags of the processor, which NumPy would warn of.
  const unsigned flags = _mm_getcsr();
  if (!loop.parallel || dims[0] <= loop.grain || is_chained(loop, args, steps)) {
    run_piece(loop, args, dims, steps);
  } else {
    struct Context {
      const Loop& loop;
      char** args;
      const Py_intptr_t *dims, *steps;
    } context{loop, args, dims, steps};
    const auto run_part = [](void* c, int64_t begin, int64_t end) {
      const auto& [loop, args, dims, steps] = *static_cast<const Context*>(c);
      std::vector<char*> moved(args, args + loop.operands);
      for (int k = 0; k < loop.operands; ++k) moved[static_cast<size_t>(k)] += begin * steps[k];
      std::vector<Py_intptr_t> extents(dims, dims + 1 + loop.core_dims);
      extents[0] = end - begin;
      if (!run_piece(loop, moved.data(), extents.data(), steps)) throw Interrupted{};
    };
    try {
      host::table().parallel(dims[0], loop.grain, run_part, &context);
    } catch (...) {
      // The user ended a piece, which has noted it, and so all others.
    }
  }
  _mm_setcsr(flags);
}

int numpy_number(DType t) { return static_cast<int>(to_int(attr(dtype_object(t), "num").get(), "num")); }

/// `made`: the function that the text loops over.
void load_loop(Loop* loop, const std::string& text, const kernels::CompiledFunction& made, bool parallel_arrays, bool fastmath) {
  loop->text = text;
  know_characters();
  without_gil([&] {
    cpu::JitLibrary& library = cpu::JitLibrary::get();
    const bc_jit_flags flags = host_flags(fastmath);
    const std::string& prelude = kernels::host_library(parallel_arrays);
    std::string key = text;
    key += '\0';
    key += prelude;
    const CachedBinary binary = kernel_cache_binary(library.target(flags), digest(key.data(), key.size()),
                                                    [&library, &prelude, flags, text, file = made.name + ".cpp", places = made.places] {
                                                      try {
                                                        return CachedBinary{library.compile(text, file, flags, prelude), {}};
                                                      } catch (const Error& e) {
                                                        throw kernels::refused_text(e, text, file, places);
                                                      }
                                                    });
    auto* object = new cpu::JitLibrary::Object(library.load(binary.bytes));  // lives as long as the process
    loop->entry = reinterpret_cast<host::Entry>(library.symbol(*object, "bc_loop"));
    loop->chain = reinterpret_cast<host::Entry>(library.symbol(*object, "bc_chain"));
    if (auto* place = static_cast<const host::Table**>(library.symbol(*object, "bc_host"))) *place = &host::table();
  });
  BC_CHECK(loop->entry != nullptr, Runtime, "vectorize: the code of {} has no loop", made.python_name);
}

kernels::CompiledFunction compile_body(PyObject* function, const std::vector<kernels::Type>& types, kernels::Entry entry) {
  kernels::CompileOptions options;
  options.entry = entry;
  options.python_errors = false;  // NumPy's division, as in every ufunc
  options.entered = false;
  options.inlined = entry == kernels::Entry::device;
  return compile_function(function, types, options);
}

/// The loop of an elementwise function, over elements that lie side by side.
Loop* make_elementwise(PyObject* function, const std::vector<kernels::Type>& types, bool parallel, bool fastmath) {
  const kernels::CompiledFunction made = compile_body(function, types, kernels::Entry::host);
  const std::string name = made.name.substr(3);  // the entry's name is bc_ and the function's
  if (!made.result || !made.result->is_scalar())
    raise(ErrorKind::Typing, "vectorize: {} must return a number, it returns {}", made.python_name,
          made.result ? made.result->spelling : "none");
  auto loop = std::make_unique<Loop>();
  loop->operands = static_cast<int>(types.size()) + 1;
  loop->parallel = parallel;
  loop->grain = 16384;
  loop->failures = made.failures;
  loop->result = made.result;
  const std::string result = cpp_name(made.result->dtype);
  // One loop over elements that lie side by side is all that is compiled; run_blocks brings other operands there.
  const char* const exported = "extern \"C\" __attribute__((visibility(\"default\"))) int";
  const char* const failure = made.reports ? ", failure" : "";
  std::string text = made.readable;
  text += fmt::format("namespace bc {{\n{} bc_loop(void* const* p, void* items) {{\n  const i64 n = *static_cast<const i64*>(items);\n",
                      exported);
  std::string call;
  for (size_t k = 0; k < types.size(); ++k) {
    const std::string t = cpp_name(types[k]->dtype);
    loop->types.push_back(static_cast<char>(numpy_number(types[k]->dtype)));
    loop->items.push_back(itemsize(types[k]->dtype));
    text += fmt::format("  const {0}* p{1} = static_cast<const {0}*>(p[{1}]);\n", t, k);
    call += fmt::format("{}p{}[j]", k ? ", " : "", k);
  }
  loop->types.push_back(static_cast<char>(numpy_number(made.result->dtype)));
  loop->items.push_back(itemsize(made.result->dtype));
  text += fmt::format("  {0}* o = static_cast<{0}*>(p[{1}]);\n  int failure = 0;\n", result, types.size());
  text += fmt::format("  for (i64 j = 0; j < n; ++j) o[j] = bc::{}({}{});\n  return failure;\n}}\n", name, call,
                      call.empty() && made.reports ? "failure" : failure);
  if (types.size() == 2) {
    // reduce and accumulate: a result is the next turn's operand.
    text += fmt::format(
        "{} bc_chain(void* const* arguments, void*) {{\n  char** const args = static_cast<char**>(arguments[0]);\n"
        "  const i64 n = *static_cast<const i64*>(arguments[1]);\n  const i64* const steps = static_cast<const i64*>(arguments[2]);\n"
        "  int failure = 0;\n  py::Poll poll;\n  for (i64 j = 0; j < n; ++j) *reinterpret_cast<{}*>(args[2] + j * steps[2]) = bc::{}(",
        exported, result, name);
    for (size_t k = 0; k < 2; ++k)
      text += fmt::format("{}*reinterpret_cast<const {}*>(args[{}] + j * steps[{}])", k ? ", " : "", cpp_name(types[k]->dtype), k, k);
    text += fmt::format("{}), poll();\n  return failure;\n}}\n", failure);
  }
  text += "}\n";
  load_loop(loop.get(), text, made, false, fastmath);
  return loop.release();
}

/// The loop of a generalised ufunc: the function is called with views of one core at a time.
Loop* make_generalised(PyObject* function, const std::vector<kernels::Type>& types, const std::vector<std::vector<int>>& cores,
                       bool parallel, bool fastmath) {
  const kernels::CompiledFunction made = compile_body(function, types, kernels::Entry::host);
  if (made.result && made.result->has_value())
    raise(ErrorKind::Typing, "guvectorize: {} returns {}; it must write its results into its last parameters and return nothing",
          made.python_name, made.result->spelling);
  const std::string name = made.name.substr(3);
  auto loop = std::make_unique<Loop>();
  loop->operands = static_cast<int>(types.size());
  loop->parallel = parallel;
  loop->failures = made.failures;
  std::string text = made.readable;
  text +=
      "namespace bc {\nextern \"C\" __attribute__((visibility(\"default"
      "\"))) int bc_loop(void* const* arguments, void*) {\n  char** const args = static_cast<char**>(arguments[0]);\n"
      "  const i64* const dims = static_cast<const i64*>(arguments[1]);\n  const i64* const steps = static_cast<const "
      "i64*>(arguments[2]);\n"
      "  int failure = 0;\n  py::Poll poll;\n  const i64 count = dims[0];\n";
  // NumPy's arguments are copied to locals, which the function's writes cannot change. Cores whose elements lie side by side have a loop
  // of their own, where the compiler knows it.
  std::string call, names, operands, unit_operands, unit;
  const auto named = [&](const std::string& name, const std::string& of) {
    names += fmt::format("  const i64 {} = {};\n", name, of);
    return name;
  };
  size_t step = types.size();
  for (size_t i = 0; i < types.size(); ++i) {
    const kernels::Type t = types[i];
    const kernels::Type element = t->is_array() ? t->element : t;
    loop->types.push_back(static_cast<char>(numpy_number(element->dtype)));
    const std::string e = cpp_name(element->dtype);
    names += fmt::format("  char* const p{0} = args[{0}];\n  const i64 step{0} = steps[{0}];\n", i);
    if (!t->is_array()) {
      const std::string number = fmt::format("    const {0} a{1} = *reinterpret_cast<const {0}*>(p{1} + k * step{1});\n", e, i);
      operands += number, unit_operands += number;
    } else {
      // An operand of no core dimensions may be declared as a vector, of one element then, as Numba has it.
      const size_t ndim = static_cast<size_t>(t->ndim);
      const std::vector<int>& core = cores[i];
      if (core.size() != ndim && !(core.empty() && ndim == 1))
        raise(ErrorKind::Type, "guvectorize: argument {} has {} dimensions, the layout gives it {}", i + 1, ndim, core.size());
      std::string shape, strides, last = std::to_string(element->bytes), outer;
      for (size_t d = 0; d < ndim; ++d) {
        const char* const comma = d ? ", " : "";
        shape += comma + (core.empty() ? "1" : named(fmt::format("n{}_{}", i, d), fmt::format("dims[{}]", core[d] + 1)));
        outer = strides + comma;
        strides = outer + (core.empty() ? last : named(fmt::format("s{}_{}", i, d), fmt::format("steps[{}]", step + d)));
      }
      const auto operand = [&](const std::string& with) {
        return fmt::format(
            "    const py::Host<{0}, {1}, '{2}'> a{3}(reinterpret_cast<const {0}*>(p{3} + k * step{3}), {{{{{4}}}}}, {{{{{5}}}}});\n", e,
            ndim, t->layout, i, shape, with);
      };
      operands += operand(strides), unit_operands += operand(outer + last);
      if (!core.empty()) unit += fmt::format("{}s{}_{} == {}", unit.empty() ? "" : " && ", i, ndim - 1, last);
    }
    step += cores[i].size();
    for (int d : cores[i]) loop->core_dims = std::max(loop->core_dims, d + 1);
    call += fmt::format("{}a{}", i ? ", " : "", i);
  }
  if (made.reports) call += ", failure";
  const auto turns = [&](const std::string& given, const char* how) {
    return fmt::format("  for (i64 k = 0; k < count && failure == 0; ++k, poll()) {{\n{}    {}bc::{}({});\n  }}\n", given, how, name, call);
  };
  text += names;
  if (!unit.empty())
    text += fmt::format("  if ({}) {{\n{}  return failure;\n  }}\n", unit, turns(unit_operands, "[[clang::always_inline]] "));
  text += turns(operands, "") + "  return failure;\n}\n}\n";
  load_loop(loop.get(), text, made, false, fastmath);
  return loop.release();
}

constexpr const char* kCapsule = "broadcloth.loop";
Loop* loop_of(PyObject* capsule) {
  auto* loop = static_cast<Loop*>(PyCapsule_GetPointer(capsule, kCapsule));
  if (!loop) throw PythonError();
  return loop;
}

/// _loop(function, signature, cores or None, parallel, fastmath) -> (loop, result type)
PyObject* loop_function(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *function, *signature, *cores;
    int parallel, fastmath;
    if (!PyArg_ParseTuple(args, "OOOpp", &function, &signature, &cores, &parallel, &fastmath)) throw PythonError();
    const std::vector<kernels::Type> types = signature_of_object(signature).arguments;
    for (kernels::Type t : types)
      if (kernels::holds_time(t))
        raise(ErrorKind::Type,
              "expected numbers as arguments, got {}; functions under njit take times, and a.view('int64') gives their ticks", t->spelling);
    Loop* loop = nullptr;
    if (cores == Py_None) {
      for (kernels::Type t : types)
        if (!t->is_scalar()) raise(ErrorKind::Type, "vectorize: expected numbers as arguments, got {}", t->spelling);
      loop = make_elementwise(function, types, parallel, fastmath);
    } else {
      std::vector<std::vector<int>> lists;
      for (Py_ssize_t i = 0; i < PyTuple_Size(cores); ++i) {
        lists.emplace_back();
        PyObject* list = PyTuple_GetItem(cores, i);
        for (Py_ssize_t d = 0; d < PyTuple_Size(list); ++d)
          lists.back().push_back(static_cast<int>(to_int(PyTuple_GetItem(list, d), "core")));
      }
      if (lists.size() != types.size())
        raise(ErrorKind::Type, "guvectorize: the signature has {} arguments, the layout {}", types.size(), lists.size());
      loop = make_generalised(function, types, lists, parallel, fastmath);
    }
    PyRef capsule = PyRef::steal(PyCapsule_New(loop, kCapsule, nullptr));
    return tuple_of({capsule.get(), to_py(loop->result ? loop->result->spelling : "none").get()}).release();
  });
}

/// _numpy_ufunc(loops, inputs, outputs, identity, name, doc, layout or None): a numpy.ufunc of these loops, in this order.
PyObject* numpy_ufunc(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *loops, *identity;
    int inputs, outputs;
    const char *name, *doc, *layout;
    if (!PyArg_ParseTuple(args, "OiiOssz", &loops, &inputs, &outputs, &identity, &name, &doc, &layout)) throw PythonError();
    const Py_ssize_t n = PyTuple_Size(loops);
    // NumPy keeps these addresses for ever.
    auto* functions = new UfuncLoop[static_cast<size_t>(n)];
    auto* data = new void*[static_cast<size_t>(n)];
    auto* types = new char[static_cast<size_t>(n * (inputs + outputs))];
    for (Py_ssize_t i = 0; i < n; ++i) {
      Loop* loop = loop_of(PyTuple_GetItem(loops, i));
      BC_CHECK(loop->types.size() == static_cast<size_t>(inputs + outputs), Type, "{}: the loops differ in their arguments", name);
      functions[i] = run_loop;
      data[i] = loop;
      std::memcpy(types + i * (inputs + outputs), loop->types.data(), loop->types.size());
    }
    constexpr int kNone = -1, kReorderable = -2, kZero = 0, kOne = 1;
    int number = kNone;
    if (identity != Py_None) {
      if (PyUnicode_Check(identity))
        number = kReorderable;
      else
        number = to_int(identity, "identity") == 0 ? kZero : kOne;
    }
    return ufunc_api().make(functions, data, types, static_cast<int>(n), inputs, outputs, number, strdup(name), strdup(doc), 0,
                            layout ? strdup(layout) : nullptr, nullptr);
  });
}

/// _raise_failed(): raises what a loop failed with since the last call.
PyObject* raise_failed(PyObject*, PyObject*) {
  return guard([&]() -> PyObject* {
    kernels::Failure failure;
    {
      Failed& f = failed();
      const std::lock_guard lock(f.mutex);
      if (f.failure.type.empty()) Py_RETURN_NONE;
      failure = std::exchange(f.failure, {});
    }
    throw_failure(failure);
  });
}

/// _result_type(function, signature): what the function returns for arguments of these types.
PyObject* result_type(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *function, *signature;
    if (!PyArg_ParseTuple(args, "OO", &function, &signature)) throw PythonError();
    const kernels::CompiledFunction made = compile_body(function, signature_of_object(signature).arguments, kernels::Entry::host);
    return to_py(made.result ? made.result->spelling : "none").release();
  });
}

PyObject* loop_text(PyObject*, PyObject* capsule) {
  return guard([&] { return to_py(loop_of(capsule)->text).release(); });
}

// ---- the engine's side ------------------------------------------------------------------------------------------------------------

/// The contents of `namespace bc { … }` in a text.
std::string unwrapped(std::string text) {
  for (const std::string_view line : {"namespace bc {\n", "}  // namespace bc\n"})
    for (size_t at; (at = text.find(line)) != std::string::npos && (at == 0 || text[at - 1] == '\n');) text.erase(at, line.size());
  return text;
}

/// _user_op(function, signature, fastmath) -> (op, result dtype): the function as an elementwise op of the graph.
PyObject* user_op_function(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *function, *signature;
    int fastmath;
    if (!PyArg_ParseTuple(args, "OOp", &function, &signature, &fastmath)) throw PythonError();
    const std::vector<kernels::Type> types = signature_of_object(signature).arguments;
    const kernels::CompiledFunction made = compile_body(function, types, kernels::Entry::device);
    if (!made.result || !made.result->is_scalar())
      raise(ErrorKind::Typing, "vectorize: {} must return a number, it returns {}", made.python_name,
            made.result ? made.result->spelling : "none");
    if (made.reports)
      raise(ErrorKind::Typing, "vectorize: {} raises exceptions, which functions over arrays of the engine cannot", made.python_name);
    UserOpSpec op;
    op.name = made.python_name;
    op.entry = "element";
    // What the function needs of src/device/python stands before it.
    if (made.uses_library) op.text = unwrapped(made.text.substr(0, made.library_bytes));
    op.text += made.functions;
    std::string parameters, values;
    for (size_t k = 0; k < types.size(); ++k) {
      op.in.push_back(types[k]->dtype);
      parameters += fmt::format("{} a{}, ", cpp_name(types[k]->dtype), k);
      values += fmt::format("{}a{}", k ? ", " : "", k);
    }
    op.text += fmt::format("\nBC_INLINE void element({}{}& result) {{ result = {}({}); }}\n", parameters, cpp_name(made.result->dtype),
                           made.name, values);
    op.out.push_back(made.result->dtype);
    op.contract = fastmath != 0;
    op.printed = true;
    op.simple = !made.uses_library && made.only_numbers;
    auto* kept = new Ref<UserOp>(make_user_op(std::move(op)));
    PyRef capsule = PyRef::steal(PyCapsule_New(
        kept, "broadcloth.user_op", [](PyObject* c) { delete static_cast<Ref<UserOp>*>(PyCapsule_GetPointer(c, "broadcloth.user_op")); }));
    return tuple_of({capsule.get(), dtype_object(made.result->dtype)}).release();
  });
}

/// _apply_user_op(op, operands, out or None, where or None, device or None)
PyObject* apply_user_op(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *capsule, *operands, *out, *where, *device;
    if (!PyArg_ParseTuple(args, "OO!OOO", &capsule, &PyTuple_Type, &operands, &out, &where, &device)) throw PythonError();
    auto* op = static_cast<Ref<UserOp>*>(PyCapsule_GetPointer(capsule, "broadcloth.user_op"));
    if (!op) throw PythonError();
    std::vector<PyObject*> objects;
    for (Py_ssize_t i = 0; i < PyTuple_Size(operands); ++i) objects.push_back(PyTuple_GetItem(operands, i));
    const Device on = device != Py_None ? to_device(device)
                      : is_array(out)   ? array_of(out).device()
                                        : device_of(objects.data(), static_cast<Py_ssize_t>(objects.size()));
    std::vector<Arg> list;
    for (PyObject* o : objects) list.push_back(to_arg(o, on));
    UserOptions options;
    options.device = on;
    options.order = 'K';
    if (out != Py_None) options.out.push_back(writable(out, (*op)->name.c_str()));
    if (where != Py_None) options.where = to_array(where, on);
    LineNote line;
    std::vector<Array> made = apply(*op, list, options);
    return out != Py_None ? new_ref(out) : wrap(std::move(made[0]));
  });
}

}  // namespace
}  // namespace bc::bind::jit

namespace bc::bind {

void init_vectorize(PyObject* module) {
  using namespace jit;
  static std::vector<PyMethodDef> functions = {{"_loop", loop_function, METH_VARARGS, nullptr},
                                               {"_numpy_ufunc", numpy_ufunc, METH_VARARGS, nullptr},
                                               {"_raise_failed", raise_failed, METH_NOARGS, nullptr},
                                               {"_result_type", result_type, METH_VARARGS, nullptr},
                                               {"_loop_text", loop_text, METH_O, nullptr},
                                               {"_user_op", user_op_function, METH_VARARGS, nullptr},
                                               {"_apply_user_op", apply_user_op, METH_VARARGS, nullptr},
                                               {}};
  check(PyModule_AddFunctions(module, functions.data()));
}

}  // namespace bc::bind
