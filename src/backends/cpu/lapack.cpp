#include "backends/cpu/lapack.h"

#include <mutex>
#include <string>

#include "backends/cpu/openblas.h"
#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

std::mutex g_threads_mutex;
int g_large_calls = 0;

void set_openblas_threads(int threads) {
  static auto* const set = reinterpret_cast<void (*)(int)>(openblas_symbol("openblas_set_num_threads"));
  if (set) set(threads);
}

}  // namespace

void* lapack_routine(char letter, const char* name) {
  const std::string symbol = std::string(1, letter) + name + "_";
  void* const found = openblas_symbol(symbol.c_str());
  BC_CHECK(found != nullptr, Runtime, "linalg: expected the function {} in {}, got a library without LAPACK", symbol,
           openblas().description);
  return found;
}

LapackThreads::LapackThreads(bool large) : large_(large && thread_limit() > 1) {
  if (!large_) return;
  const std::lock_guard lock(g_threads_mutex);
  if (g_large_calls++ == 0) set_openblas_threads(thread_limit());
}

LapackThreads::~LapackThreads() {
  if (!large_) return;
  const std::lock_guard lock(g_threads_mutex);
  if (--g_large_calls == 0) set_openblas_threads(1);
}

}  // namespace bc::cpu
