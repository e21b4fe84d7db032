#include "backends/cpu/jit/jit.h"

#include <clang/Basic/Version.h>
#include <llvm/Support/raw_ostream.h>
#include <pthread.h>

#include <cstdlib>
#include <cstring>

#include "backends/cpu/jit/jit_internal.h"
#include "backends/cpu/jit/jit_load.h"

// Destructors of this library's static objects are never run: a background thread may still be inside clang while the process ends. This
// definition also replaces the calls from LLVM's archives; the version script hides it from other libraries.
extern "C" int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }

#if BC_JIT_THREAD_CHECKS
#define BC_JIT_CHECKS_NAME "-thread"
#else
#define BC_JIT_CHECKS_NAME ""
#endif

struct bc_jit_object {
  std::unique_ptr<bc::jit::Object> object;
};

namespace bc::jit {
namespace {

// Held over a fork, otherwise only briefly. The child can unlock it like the parent, which is not possible with a read-write lock.
pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
int gate_inside = 0;  // number of running compiles and loads
int gate_forks = 0;   // waiting or running forks: no compile begins then, or a steady flow of them could block a fork for ever

int finish(bool ok, llvm::StringRef out, const std::string& log, bc_jit_buffer* out_buffer, bc_jit_buffer* log_buffer) {
  give(out_buffer, out.data(), ok ? out.size() : 0);
  give(log_buffer, log.data(), log.size());
  return ok ? 0 : 1;
}

}  // namespace

void give(bc_jit_buffer* buffer, const char* data, size_t size) {
  if (buffer == nullptr) return;
  *buffer = {};
  if (size == 0) return;
  buffer->data = static_cast<char*>(std::malloc(size + 1));
  if (buffer->data == nullptr) return;
  std::memcpy(buffer->data, data, size);
  buffer->data[size] = 0;
  buffer->size = size;
}

Gate::Gate() {
  pthread_mutex_lock(&gate_mutex);
  while (gate_forks > 0) pthread_cond_wait(&gate_changed, &gate_mutex);
  ++gate_inside;
  pthread_mutex_unlock(&gate_mutex);
}
Gate::~Gate() {
  pthread_mutex_lock(&gate_mutex);
  if (--gate_inside == 0) pthread_cond_broadcast(&gate_changed);
  pthread_mutex_unlock(&gate_mutex);
}

}  // namespace bc::jit

using bc::jit::Gate;
using bc::jit::Source;
using bc::jit::Unit;

extern "C" {

int bc_jit_abi(void) { return BC_JIT_ABI; }

const char* bc_jit_version(void) {  // the last number counts changes in our use of clang
  return "clang-" CLANG_VERSION_STRING "-7" BC_JIT_CHECKS_NAME;
}

void bc_jit_set_cpu(const char* cpu) { bc::jit::set_cpu(cpu); }

const char* bc_jit_cpu(void) {
  const Gate gate;
  return bc::jit::host().cpu.c_str();
}

const char* bc_jit_features(void) {
  const Gate gate;
  return bc::jit::host().features.c_str();
}

int bc_jit_command_line(const bc_jit_flags* flags, bc_jit_buffer* out) {
  const Gate gate;
  std::string line;
  for (const std::string& option : bc::jit::command_line(*flags)) line += (line.empty() ? "" : " ") + option;
  return bc::jit::finish(true, line, {}, out, nullptr);
}

int bc_jit_precompile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, bc_jit_buffer* out,
                      bc_jit_buffer* log) {
  const Gate gate;
  bc::jit::host();
  llvm::SmallVector<char, 0> bytes;
  std::string messages;
  const bool ok = bc::jit::precompile({text, text_size}, name, *flags, bytes, messages);
  return bc::jit::finish(ok, {bytes.data(), bytes.size()}, messages, out, log);
}

int bc_jit_compile(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch, size_t pch_size,
                   bc_jit_buffer* object, bc_jit_buffer* log) {
  const Gate gate;
  bc::jit::host();
  llvm::SmallVector<char, 0> bytes;
  std::string messages;
  Unit unit = bc::jit::parse(Source{{text, text_size}, name, {pch, pch_size}}, *flags, messages);
  const bool ok =
      unit.module != nullptr && bc::jit::optimise(unit, *flags, messages) && bc::jit::emit(*unit.module, *flags, false, bytes, messages);
  return bc::jit::finish(ok, {bytes.data(), bytes.size()}, messages, object, log);
}

int bc_jit_inspect(const char* text, size_t text_size, const char* name, const bc_jit_flags* flags, const char* pch, size_t pch_size,
                   const char* stage, bc_jit_buffer* out, bc_jit_buffer* log) {
  const Gate gate;
  bc::jit::host();
  const bool assembly = std::strcmp(stage, "asm") == 0;
  llvm::SmallVector<char, 0> bytes;
  std::string messages;
  Unit unit = bc::jit::parse(Source{{text, text_size}, name, {pch, pch_size}}, *flags, messages);
  bool ok = unit.module != nullptr && bc::jit::optimise(unit, *flags, messages);
  if (ok && assembly) ok = bc::jit::emit(*unit.module, *flags, true, bytes, messages);
  if (ok && !assembly) {
    llvm::raw_svector_ostream stream(bytes);
    unit.module->print(stream, nullptr);
  }
  return bc::jit::finish(ok, {bytes.data(), bytes.size()}, messages, out, log);
}

bc_jit_object* bc_jit_load(const char* object, size_t object_size, const bc_jit_object* support, bc_jit_buffer* log) {
  const Gate gate;
  std::string messages;
  auto loaded = bc::jit::Object::load({object, object_size}, support == nullptr ? nullptr : support->object.get(), messages);
  bc::jit::give(log, messages.data(), messages.size());
  return loaded == nullptr ? nullptr : new bc_jit_object{std::move(loaded)};
}

void* bc_jit_symbol(const bc_jit_object* object, const char* name) { return object->object->symbol(name); }

void bc_jit_unload(bc_jit_object* object) { delete object; }

void bc_jit_fork(int phase) {
  using namespace bc::jit;
  if (phase == 0) {
    pthread_mutex_lock(&gate_mutex);
    ++gate_forks;
    while (gate_inside > 0) pthread_cond_wait(&gate_changed, &gate_mutex);
    return;
  }
  --gate_forks;
  if (phase == 2) {
    // Waiting threads exist only in the parent.
    gate_forks = 0;
    gate_changed = PTHREAD_COND_INITIALIZER;
  }
  pthread_cond_broadcast(&gate_changed);
  pthread_mutex_unlock(&gate_mutex);
}

void bc_jit_free(bc_jit_buffer* buffer) {
  std::free(buffer->data);
  buffer->data = nullptr;
  buffer->size = 0;
}

}  // extern "C"
