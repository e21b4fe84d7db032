#include "kernels/host_runtime.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <string_view>

#include "backends/cpu/blas.h"
#include "backends/cpu/parallel.h"
#include "runtime/backend.h"

namespace bc::host {
namespace {

/// Where an exception goes: the innermost attempt of this thread.
struct Landing {
  jmp_buf place;
  Landing* outer;
};

struct Thread {
  Call* call = nullptr;
  Landing* landing = nullptr;
  uint64_t random[2] = {0, 0};
  bool seeded = false;
  bool worker = false;  ///< inside a parallel loop: the caller may hold the interpreter's lock, so nothing here may wait for it
  // The exception that is on its way, or was caught last.
  Raised raised = Raised::none;
  std::string message;
  int32_t line = 0;
};
Thread& self() {
  thread_local Thread t;
  return t;
}

std::atomic<void (*)(const char*, int64_t)> printer{nullptr};

[[noreturn]] void throw_now() {
  Landing* landing = self().landing;
  if (landing == nullptr) std::abort();  // compiled code runs in run(), in a parallel loop or in an attempt
  _longjmp(landing->place, 1);
}

[[noreturn]] void raise_now(int32_t kind, const char* text, int64_t size, int32_t line) {
  Thread& t = self();
  t.raised = static_cast<Raised>(kind);
  t.message.assign(text, static_cast<size_t>(size));
  t.line = line;
  throw_now();
}

[[noreturn]] void raise_again() { throw_now(); }

/// Runs body() with a landing of its own. Nothing with a destructor lives in this frame or in those that a longjmp passes, which are
/// compiled code's.
template <class Body>
bool landed(Thread& t, const Body& body) {
  Landing landing;
  landing.outer = t.landing;
  if (_setjmp(landing.place) == 0) {
    t.landing = &landing;
    body();
    t.landing = landing.outer;
    return true;
  }
  t.landing = landing.outer;
  return false;
}

int32_t attempt(void (*body)(void*), void* context) {
  Thread& t = self();
  return landed(t, [&] { body(context); }) ? 0 : static_cast<int32_t>(t.raised);
}

void unlink(Block* block) {
  if (block->previous != nullptr)
    block->previous->next = block->next;
  else if (block->call != nullptr)
    block->call->blocks = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
  block->next = block->previous = nullptr;
}

Block* allocate(int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 47;
  void* memory = bytes < 0 || bytes > kMost ? nullptr : std::aligned_alloc(64, (static_cast<size_t>(bytes) + sizeof(Block) + 63) / 64 * 64);
  if (memory == nullptr) {
    const std::string_view text = "an array of this size does not fit into memory";
    raise_now(static_cast<int32_t>(bytes < 0 ? Raised::value : Raised::memory),
              bytes < 0 ? "negative dimensions are not allowed" : text.data(), bytes < 0 ? 35 : static_cast<int64_t>(text.size()), 0);
  }
  Block* block = new (memory) Block{1, bytes, nullptr, nullptr, self().call};
  if (Call* call = block->call) {
    const std::lock_guard lock(call->mutex);
    block->next = call->blocks;
    if (block->next != nullptr) block->next->previous = block;
    call->blocks = block;
  }
  return block;
}

void release(Block* block) {
  if (Call* call = block->call) {
    const std::lock_guard lock(call->mutex);
    unlink(block);
  }
  std::free(block);
}

void print(const char* text, int64_t size) {
  Thread& t = self();
  if (t.worker && t.call != nullptr) {
    const std::lock_guard lock(t.call->mutex);
    t.call->printed.append(text, static_cast<size_t>(size));
    return;
  }
  if (auto* to = printer.load(std::memory_order_acquire))
    to(text, size);
  else
    std::fwrite(text, 1, static_cast<size_t>(size), stdout);
}

void parallel(int64_t items, int64_t grain, void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (items <= 0) return;
  Call* call = self().call;
  struct Failed {
    std::mutex mutex;
    std::atomic<bool> any{false};
    int64_t first = 0;
    Raised raised = Raised::none;
    std::string message;
    int32_t line = 0;
  } failed;
  cpu::parallel_for(items, grain < 1 ? 1 : grain, [&](int64_t begin, int64_t end) {
    Thread& t = self();
    Call* const before = t.call;
    const bool was_worker = t.worker;
    t.call = call;
    t.worker = true;
    if (!landed(t, [&] { body(context, begin, end); })) {
      // Of several exceptions the one of the earliest piece is raised, so that it does not depend on the threads.
      const std::lock_guard lock(failed.mutex);
      if (!failed.any || begin < failed.first) {
        failed.first = begin;
        failed.raised = t.raised;
        failed.message = t.message;
        failed.line = t.line;
      }
      failed.any = true;
    }
    t.call = before;
    t.worker = was_worker;
  });
  if (call != nullptr && !self().worker && !call->printed.empty()) {
    const std::string text = std::move(call->printed);
    call->printed.clear();
    print(text.data(), static_cast<int64_t>(text.size()));
  }
  if (failed.any) {
    Thread& t = self();
    t.raised = failed.raised;
    t.message = std::move(failed.message);
    t.line = failed.line;
    throw_now();
  }
}

int32_t threads() { return cpu::thread_count(); }

void product(int32_t dtype, int64_t m, int64_t n, int64_t k, const void* a, const int64_t* a_strides, const void* b,
             const int64_t* b_strides, void* c) {
  const int64_t from_a[3] = {0, a_strides[0], a_strides[1]}, from_b[3] = {0, b_strides[0], b_strides[1]};
  // A C++ exception must not pass compiled frames, and a longjmp not the handler's.
  static constexpr int kRoom = 512;
  char text[kRoom];
  int64_t size = -1;
  try {
    cpu::matmul(static_cast<DType>(dtype), 1, m, n, k, a, from_a, b, from_b, c);
  } catch (const std::exception& e) {
    size = std::snprintf(text, kRoom, "%s", e.what());
  }
  if (size >= 0) raise_now(static_cast<int32_t>(Raised::runtime), text, size < kRoom ? size : kRoom - 1, 0);
}

uint64_t* random_state() {
  Thread& t = self();
  if (!t.seeded) {
    std::random_device device;
    t.random[0] = (static_cast<uint64_t>(device()) << 32) | device();
    t.random[1] = 0;
    t.seeded = true;
  }
  return t.random;
}

int64_t format_float(double value, int32_t single, char* to) {
  const auto put = [&](std::string_view s) {
    s.copy(to, s.size());
    return static_cast<int64_t>(s.size());
  };
  if (std::isnan(value)) return put("nan");
  if (std::isinf(value)) return put(value < 0 ? "-inf" : "inf");
  const double size = std::fabs(value);
  // Python writes an exponent below 1e-4 and from 1e16 on.
  const auto form = value != 0 && (size < 1e-4 || size >= 1e16) ? std::chars_format::scientific : std::chars_format::fixed;
  char* end = single ? std::to_chars(to, to + 32, static_cast<float>(value), form).ptr : std::to_chars(to, to + 32, value, form).ptr;
  if (form == std::chars_format::fixed && std::find(to, end, '.') == end) end = std::copy_n(".0", 2, end);
  return end - to;
}

}  // namespace

const Table& table() {
  static const Table t = {allocate, release, raise_now, attempt,      raise_again, parallel,
                          threads,  print,   product,   random_state, format_float};
  return t;
}

bool run(Entry entry, void* const* arguments, void* result, Call* call) {
  Thread& t = self();
  Call* const before = t.call;
  t.call = call;
  const bool ok = landed(t, [&] { call->failure = entry(arguments, result); });
  t.call = before;
  if (ok && call->failure == 0) return true;
  if (!ok && static_cast<int32_t>(t.raised) < 0) {
    call->failure = -static_cast<int32_t>(t.raised);  // of the text's own, from inside a parallel loop
  } else if (!ok) {
    call->failure = 0;
    call->raised = t.raised;
    call->message = t.message;
    call->line = t.line;
  }
  while (Block* block = call->blocks) {
    unlink(block);
    std::free(block);
  }
  return false;
}

Block* block_of(const Call& call, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (Block* block = call.blocks; block != nullptr; block = block->next) {
    const auto begin = reinterpret_cast<uintptr_t>(block->data());
    if (at >= begin && at <= begin + static_cast<uintptr_t>(block->bytes)) return block;
  }
  return nullptr;
}

void adopt(Call* call) {
  while (Block* block = call->blocks) {
    unlink(block);
    block->call = nullptr;
  }
}

void drop(Block* block) {
  if (std::atomic_ref(block->count).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  unlink(block);
  std::free(block);
}

const char* exception_name(Raised raised) {
  constexpr const char* names[] = {
      "RuntimeError",  "ValueError",     "IndexError",  "ZeroDivisionError",   "TypeError",          "KeyError",        "RuntimeError",
      "OverflowError", "AssertionError", "MemoryError", "NotImplementedError", "StopIteration",      "ArithmeticError", "AttributeError",
      "LookupError",   "Exception",      "OSError",     "LinAlgError",         "FloatingPointError", "NameError"};
  return names[static_cast<int>(raised)];
}

void set_printer(void (*to)(const char* text, int64_t size)) { printer.store(to, std::memory_order_release); }

}  // namespace bc::host
