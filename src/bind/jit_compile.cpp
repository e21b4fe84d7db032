// From a Python function to code for the CPU that a call can enter.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "backends/cpu/jit_library.h"
#include "bind/convert.h"
#include "bind/jit_dispatcher.h"
#include "bind/kernels.h"
#include "codegen/kernel_cache.h"
#include "kernels/compile.h"
#include "kernels/host.h"

namespace bc::bind::jit {
namespace {

void add_digest(std::string* key, std::string_view part) {
  *key += std::to_string(part.size());
  *key += ':';
  *key += part;
}

/// The optimiser's level of compiled functions, 0 to 3: tests that run many functions once ask for less.
int optimisation_level() {
  static const int level = [] {
    const char* text = std::getenv("BROADCLOTH_JIT_LEVEL");
    return text != nullptr && *text >= '0' && *text <= '3' ? *text - '0' : 3;
  }();
  return level;
}

/// How a value of the type lies in memory and becomes an object.
Box box_of(kernels::Type t) {
  Box b;
  using kernels::Kind;
  if (!t || t->is(Kind::none)) return b;
  switch (t->kind) {
    case Kind::scalar:
    case Kind::time:
      b.kind = Box::Kind::scalar;
      b.dtype = t->dtype;
      return b;
    case Kind::array:
      b.kind = Box::Kind::array;
      b.dtype = t->dtype;
      b.ndim = t->ndim;
      b.read_only = t->read_only;
      b.record = !t->element->is_single();
      b.bytes_object = is_bytes(t);
      b.value_type = t->element;
      return b;
    case Kind::text: b.kind = Box::Kind::text; return b;
    case Kind::generator:
      b.kind = Box::Kind::generator;
      b.members.push_back(box_of(t->element));
      b.members[0].place(0);
      return b;
    case Kind::list:
    case Kind::set:
    case Kind::dict:
    case Kind::instance:
      b.kind = t->is(Kind::dict) || t->is(Kind::instance) || t->typed ? Box::Kind::typed
               : t->is(Kind::set)                                     ? Box::Kind::set
                                                                      : Box::Kind::list;
      b.value_type = t;
      return b;
    case Kind::string: b.kind = Box::Kind::text; return b;
    case Kind::member:
      b.kind = Box::Kind::member;
      b.type = PyRef::borrow(static_cast<PyObject*>(const_cast<void*>(t->object)));
      return b;
    case Kind::pointer:
      if (t != kernels::random_generator_type()) raise(ErrorKind::Typing, "a compiled function cannot return {} to Python", t->spelling);
      b.kind = Box::Kind::random;
      return b;
    case Kind::slice:
      b.kind = Box::Kind::slice;
      b.value_type = t;
      return b;
    case Kind::tuple:
      b.kind = t->fields.empty() ? Box::Kind::tuple : Box::Kind::named;
      if (!t->fields.empty()) b.type = PyRef::borrow(static_cast<PyObject*>(const_cast<void*>(t->object)));
      for (kernels::Type item : t->items) b.members.push_back(box_of(item));
      return b;
    case Kind::optional:
      b.kind = Box::Kind::optional;
      b.members.push_back(box_of(t->element));
      return b;
    case Kind::record:
      b.kind = Box::Kind::record;
      b.bytes = t->bytes;
      b.alignment = t->alignment;
      b.value_type = t;
      return b;
    default: raise(ErrorKind::Typing, "a compiled function cannot return {} to Python", t->spelling);
  }
}

}  // namespace

bc_jit_flags host_flags(int fastmath) { return {optimisation_level(), fastmath != 0 ? 1 : 0, fastmath, 0, 1}; }

const Compiled* compile(PyDispatcher* self, const std::vector<kernels::Type>& arguments, kernels::Type result, bool threads) {
  const auto find = [&]() -> const Compiled* {
    for (const Compiled* c : *self->compiled)
      if (c->arguments == arguments) return threads && !c->threads ? c->with_threads : c;
    return nullptr;
  };
  {
    const PyLock lock(compiler_lock());
    if (const Compiled* known = find()) return known;
  }
  know_characters();
  const auto start = std::chrono::steady_clock::now();
  kernels::CompileOptions options;
  options.entry = kernels::Entry::host;
  options.python_errors = self->options->python_errors;
  options.bounds = self->options->boundscheck;
  options.parallel = self->options->parallel;
  if (const char* polls = std::getenv("BROADCLOTH_POLLS")) options.polls = std::string_view(polls) != "0";
  options.callback = self->options->callback;
  options.result = result;
  const kernels::CompiledFunction made = compile_function(self->function, arguments, options);

  auto c = std::make_unique<Compiled>();
  c->arguments = arguments;
  c->result = made.result;
  c->text = made.readable;
  c->failures = made.failures;
  c->writes = made.writes;
  for (const kernels::InterpretedBlock& b : made.interpreted) {
    c->interpreted.push_back({static_cast<PyObject*>(const_cast<void*>(b.callable)), box_of(b.inputs), b.outputs, b.names});
    c->interpreted.back().inputs.place(0);
  }
  c->box = box_of(made.result);
  c->box.place(0);
  // While the interpreter runs a block or prints, other threads of Python may take the objects that this one works on.
  const auto is_object = [](kernels::Type t) {
    return t->is(kernels::Kind::dict) || t->is(kernels::Kind::instance) || (t->is(kernels::Kind::list) && t->typed);
  };
  c->lets_go = made.prints || !c->interpreted.empty();
  const bool lets_go = made.prints && std::any_of(arguments.begin(), arguments.end(), is_object);
  c->threads = threads || self->options->parallel || !c->interpreted.empty() || lets_go;
  without_gil([&] {
    cpu::JitLibrary& library = cpu::JitLibrary::get();
    const bc_jit_flags flags = host_flags(self->options->fastmath);
    const std::string& prelude = kernels::host_library(c->threads);
    std::string text;
    add_digest(&text, c->text);
    add_digest(&text, prelude);
    add_digest(&text, made.name);
    const auto compiled = std::make_shared<std::atomic<bool>>(false);
    const auto make = [&library, &prelude, flags, compiled, text = c->text, file = made.name + ".cpp", places = made.places] {
      *compiled = true;
      try {
        return CachedBinary{library.compile(text, file, flags, prelude), {}};
      } catch (const Error& e) {
        throw kernels::refused_text(e, text, file, places);
      }
    };
    const CachedBinary binary = kernel_cache_binary(library.target(flags), digest(text.data(), text.size()), make);
    c->from_disk = !*compiled;
    auto* object = new cpu::JitLibrary::Object(library.load(binary.bytes));  // lives as long as the process
    c->entry = reinterpret_cast<host::Entry>(library.symbol(*object, made.name));
    c->next = reinterpret_cast<host::Entry>(library.symbol(*object, made.name + "_next"));
    c->callback = library.symbol(*object, made.name + "_callback");
    for (size_t i = 0; i < made.addresses.size(); ++i)
      if (auto* place = static_cast<const void**>(library.symbol(*object, "bc_foreign_" + std::to_string(i)))) *place = made.addresses[i];
    if (auto* place = static_cast<const host::Table**>(library.symbol(*object, "bc_host"))) *place = &host::table();
  });
  BC_CHECK(c->entry != nullptr, Runtime, "jit: the code of {} has no entry", made.python_name);
  c->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const PyLock lock(compiler_lock());
  if (const Compiled* known = find()) return known;  // another thread was first
  for (const Compiled* plain : *self->compiled)
    if (plain->arguments == arguments) return plain->with_threads = c.release();
  self->compiled->push_back(c.release());
  return self->compiled->back();
}

std::string inspect(PyDispatcher* self, const Compiled& compiled, const char* stage) {
  return cpu::JitLibrary::get().inspect(compiled.text, host_flags(self->options->fastmath), stage, kernels::host_library(compiled.threads));
}

}  // namespace bc::bind::jit
