#include "runtime/compiled_functions.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "runtime/backend.h"
#include "runtime/compiled_texts.h"
#include "runtime/host_library.h"
#include "runtime/interrupt.h"
#include "runtime/parallel.h"

namespace bc::host {
namespace {

/// What is thrown; the thread says what it is.
struct Unwind {};

/// What a block of bytes == kForeign holds: memory of others.
struct Foreign {
  void* object;
  void (*release)(void* object);
  const void *low, *high;
};
constexpr int64_t kForeign = -1;

struct Thread {
  Call* call = nullptr;
  bool worker = false;  ///< inside a parallel loop: the caller may hold the interpreter's lock, so nothing here may wait for it
  // The exception that is on its way, or was caught last.
  Raised raised = Raised::none;
  std::string message;
  std::vector<Argument> arguments;
  uint32_t seen = 0;  ///< of the word that changes while the user may interrupt
  /// Objects of Python whose last owner went while this thread held the lock of a container: giving them back takes the interpreter's
  /// lock, whose owner may wait for the container.
  std::vector<Foreign> released;
};
/// A caught exception.
struct Exception {
  Raised raised;
  std::string message;
  std::vector<Argument> arguments;
};
/// The thread's own, found without a call; nullptr before the first use.
[[gnu::tls_model("initial-exec")]] constinit thread_local Thread* own_thread = nullptr;
[[gnu::noinline]] Thread& first_self() {
  thread_local Thread t;
  own_thread = &t;
  return t;
}
Thread& self() { return own_thread != nullptr ? *own_thread : first_self(); }

std::atomic<void (*)(const char*, int64_t)> printer{nullptr};
std::atomic<uint64_t (*)(int32_t, uint32_t)> characters{nullptr};
const std::atomic<uint32_t>& tick = interrupt::word();

[[noreturn]] void raise_now(int32_t kind, const char* text, int64_t size, int32_t) {
  raise(static_cast<Raised>(kind), {text, static_cast<size_t>(size)});
}

void add_argument(int32_t tag, uint64_t bits, const char* text, int64_t size) {
  Argument a;
  double real;
  std::memcpy(&real, &bits, sizeof real);
  switch (tag) {
    case 1: a = bits != 0; break;
    case 2: a = bits; break;
    case 3: a = static_cast<int64_t>(bits); break;
    case 4: a = real; break;
    case 5: a = std::string(text, static_cast<size_t>(size)); break;
    default: break;
  }
  self().arguments.push_back(std::move(a));
}

std::string text_of(const Part& p) {
  if (p.shape == nullptr) return std::to_string(p.number);
  std::string text = "(";
  for (int64_t k = 0; k < p.number; ++k) text += (k ? "," : "") + (p.shape[k] < 0 ? "newaxis" : std::to_string(p.shape[k]));
  return text + (p.number == 1 ? ",)" : ")");
}

void raise_of(int32_t kind, const char* text, int64_t size, const Part* parts, int64_t count) {
  std::string message;
  for (int64_t i = 0, used = 0; i < size; ++i) {
    if (text[i] == '%' && used < count)
      message += text_of(parts[used++]);
    else
      message += text[i];
  }
  if (kind != 0) raise(static_cast<Raised>(kind), message);
  self().arguments.push_back(std::move(message));
}

[[noreturn]] void raise_shapes(const Part* shapes, int64_t count) {
  // The message shows the common shape of the operands before the one that does not fit, as NumPy shows its left operand's.
  std::vector<int64_t> joint;
  std::string message = "operands could not be broadcast together with shapes";
  for (int64_t i = 0; i < count; ++i) {
    const auto n = static_cast<size_t>(shapes[i].number);
    const int64_t* extents = shapes[i].shape;
    if (joint.size() < n) joint.insert(joint.begin(), n - joint.size(), 1);
    const std::vector<int64_t> before = joint;
    bool fits = true;
    for (size_t k = 0; k < n; ++k) {
      int64_t& extent = joint[joint.size() - n + k];
      fits = fits && (extent == extents[k] || extent == 1 || extents[k] == 1);
      if (extent == 1) extent = extents[k];
    }
    if (fits) continue;
    message += " " + text_of(Part{static_cast<int64_t>(before.size()), before.data()}) + " " + text_of(shapes[i]) + " ";
    break;
  }
  raise(Raised::value, message);
}

void* caught(int32_t* code) {
  Thread& t = self();
  *code = -static_cast<int32_t>(t.raised);
  return new Exception{t.raised, std::exchange(t.message, {}), std::exchange(t.arguments, {})};
}

[[noreturn]] void raise_again(void* exception, int32_t code) {
  Thread& t = self();
  t.raised = static_cast<Raised>(-code);
  if (exception != nullptr) {
    auto* e = static_cast<Exception*>(exception);
    t.message = std::move(e->message);
    t.arguments = std::move(e->arguments);
    delete e;
  }
  throw Unwind{};
}

[[noreturn]] void end_by_interrupt() {
  Thread& t = self();
  t.raised = Raised::interrupted;
  t.message.clear();
  t.arguments.clear();
  throw Unwind{};
}

/// Callbacks from C have nobody above them who takes the exception.
bool asked() { return self().call != nullptr && interrupt::asked(); }
void poll() {
  if (asked()) end_by_interrupt();
}

std::string text_of(const Argument& a) {
  if (const bool* b = std::get_if<bool>(&a)) return *b ? "True" : "False";
  if (const int64_t* i = std::get_if<int64_t>(&a)) return std::to_string(*i);
  if (const uint64_t* u = std::get_if<uint64_t>(&a)) return std::to_string(*u);
  if (const std::string* s = std::get_if<std::string>(&a)) return *s;
  if (const double* d = std::get_if<double>(&a)) {
    char text[40];
    return {text, static_cast<size_t>(format_float(*d, 0, text))};
  }
  return "None";
}

const char* message_of(void* exception, int64_t* size) {
  auto* e = static_cast<Exception*>(exception);
  *size = 0;
  if (e == nullptr) return "";
  if (e->message.empty() && !e->arguments.empty()) {
    for (const Argument& a : e->arguments) {
      const bool quoted = e->arguments.size() > 1 && std::holds_alternative<std::string>(a);
      e->message += (e->message.empty() ? "" : ", ") + (quoted ? "'" + text_of(a) + "'" : text_of(a));
    }
    if (e->arguments.size() > 1) e->message = "(" + e->message + ")";
  }
  *size = static_cast<int64_t>(e->message.size());
  return e->message.data();
}

void forget(void* exception) { delete static_cast<Exception*>(exception); }

/// body(), true unless an exception of compiled code ended it.
template <class Body>
bool landed(const Body& body) {
  try {
    body();
    return true;
  } catch (const Unwind&) {
    return false;
  } catch (const Interrupted&) {
    self().raised = Raised::interrupted;
    self().message.clear();
    return false;
  }
}

void unlink(Block* block) {
  if (block->previous != nullptr)
    block->previous->next = block->next;
  else if (block->call != nullptr)
    block->call->blocks = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
  block->next = block->previous = nullptr;
}

/// Small blocks that a thread gave back, by their size in units of 64 bytes: most arrays in loops are small, and made again at once.
/// Sanitizers want to see every one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kPooledUnits = 0;
#else
constexpr size_t kPooledUnits = 16;
#endif
struct Pool {
  static constexpr int kMost = 32;
  Block* first[kPooledUnits + 1] = {};
  int count[kPooledUnits + 1] = {};
  ~Pool();
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Pool* own_pool = nullptr;
constinit thread_local bool pool_ended = false;  // blocks may be given back while the thread ends
/// On the heap: there is little room for what every thread has from its start.
[[gnu::noinline]] Pool* first_pool() {
  if (pool_ended) return nullptr;
  thread_local const std::unique_ptr<Pool> p = std::make_unique<Pool>();
  return own_pool = p.get();
}
/// The thread's blocks; nullptr while it ends.
Pool* pool() { return own_pool != nullptr ? own_pool : first_pool(); }
Pool::~Pool() {
  pool_ended = true;
  own_pool = nullptr;
  for (Block* block : first)
    while (block != nullptr) std::free(std::exchange(block, block->next));
}
size_t units(int64_t bytes) { return (static_cast<size_t>(bytes) + sizeof(Block) + 63) / 64; }

void* memory_for(int64_t bytes) {
  const size_t n = units(bytes);
  if (Pool* p = n <= kPooledUnits ? pool() : nullptr)
    if (Block* block = p->first[n]) {
      p->first[n] = block->next;
      --p->count[n];
      return block;
    }
  return std::aligned_alloc(64, n * 64);
}
void give_back(Block* block, int64_t bytes) {
  const size_t n = units(bytes);
  if (Pool* p = n <= kPooledUnits ? pool() : nullptr; p != nullptr && p->count[n] < Pool::kMost) {
    block->next = p->first[n];
    p->first[n] = block;
    ++p->count[n];
    return;
  }
  std::free(block);
}

/// Whether only this thread is at the call's list.
bool alone(const Thread& t, const Call* call) { return t.call == call && !t.worker && call->interpreter == nullptr; }

Block* allocate(int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 47;
  void* memory = bytes < 0 || bytes > kMost ? nullptr : memory_for(bytes);
  if (memory == nullptr) {
    if (bytes < 0) raise(Raised::value, "negative dimensions are not allowed");
    raise(Raised::memory, "an array of this size does not fit into memory");
  }
  Thread& t = self();
  // Asking may wait for the interpreter's lock, whose owner may wait for a container.
  if (const uint32_t now = tick.load(std::memory_order_relaxed); now != t.seen && !holds_container()) [[unlikely]] {
    t.seen = now;
    try {
      poll();
    } catch (...) {
      std::free(memory);
      throw;
    }
  }
  Block* block = new (memory) Block{1, bytes, nullptr, nullptr, t.call != nullptr && !t.call->threads ? t.call : nullptr};
  if (Call* call = block->call) {
    std::unique_lock lock(call->mutex, std::defer_lock);
    if (!alone(t, call)) lock.lock();
    block->next = call->blocks;
    if (block->next != nullptr) block->next->previous = block;
    call->blocks = block;
  }
  return block;
}

void free_block(Block* block) {
  if (block->bytes == kForeign) {
    const Foreign f = *static_cast<Foreign*>(block->data());
    give_back(block, sizeof(Foreign));
    if (holds_container())
      self().released.push_back(f);
    else
      f.release(f.object);
    return;
  }
  give_back(block, block->bytes);
}

/// Objects whose end waits for the end of another one. Recursion would take the thread's stack.
void end_linked(Block* block, void (*end)(Block*)) {
  thread_local std::vector<std::pair<Block*, void (*)(Block*)>> waiting;
  thread_local bool busy = false;
  if (busy) {
    waiting.emplace_back(block, end);
    return;
  }
  busy = true;
  end(block);
  while (!waiting.empty()) {
    const auto [next, its_end] = waiting.back();
    waiting.pop_back();
    its_end(next);
  }
  busy = false;
}

void release(Block* block) {
  if (Call* call = block->call) {
    std::unique_lock lock(call->mutex, std::defer_lock);
    if (!alone(self(), call)) lock.lock();
    unlink(block);
  }
  free_block(block);
}

Block* keep(const void* data) {
  Call* call = self().call;
  if (call == nullptr || call->keeper == nullptr) return nullptr;
  const std::lock_guard lock(call->mutex);
  return call->keeper(call, data);
}

void link_block(Block* block) {
  Call* call = self().call;
  if (call == nullptr || block->call != nullptr) return;
  const std::lock_guard lock(call->mutex);
  if (call->threads) return call->results.push_back(block);  // another thread may return it, too
  block->call = call;
  block->previous = nullptr;
  block->next = call->blocks;
  if (block->next != nullptr) block->next->previous = block;
  call->blocks = block;
}

void enter_container(Shared* object, int32_t writes) { object->lock.enter(writes != 0); }
void leave_container(Shared* object) {
  object->lock.leave();
  Thread& t = self();
  if (t.released.empty() || holds_container()) return;
  for (const Foreign& f : std::exchange(t.released, {})) f.release(f.object);
}

/// What keeps the values of one run of the interpreter, and who knows it.
struct Kept {
  const Interpreter* interpreter;
  void* values;
};

void* interpret(int32_t which, const void* inputs, void* outputs) {
  Call* call = self().call;
  Raised raised = Raised::runtime;
  // Compiled code leaves this function by an exception, past what it has: the text stays with the thread.
  Thread& t = self();
  t.message = "objmode: only functions that Python calls can run the interpreter";
  if (call != nullptr && call->interpreter != nullptr) {
    void* values = nullptr;
    t.message.clear();
    std::string message;
    raised = call->interpreter->run(call, which, inputs, outputs, &values, &message);
    if (raised == Raised::none) return new Kept{call->interpreter, values};
    t.message = std::move(message);
  }
  t.raised = raised;
  t.arguments.clear();
  throw Unwind{};
}
Block* interpreted(void* kept, const void* data) {
  const auto* k = static_cast<const Kept*>(kept);
  return k->interpreter->keep(k->values, data);
}
void forget_interpreted(void* kept) {
  auto* k = static_cast<Kept*>(kept);
  k->interpreter->forget(k->values);
  delete k;
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
    std::vector<Argument> arguments;
  } failed;
  const auto piece = [&](int64_t begin, int64_t end) {
    Thread& t = self();
    Call* const before = t.call;
    const bool was_worker = t.worker;
    t.call = call;
    t.worker = true;
    const bool ended = !landed([&] { body(context, begin, end); });
    const bool by_user = ended && t.raised == Raised::interrupted;
    if (ended && !by_user) {
      // Of several exceptions the one of the earliest piece is raised, so that it does not depend on the threads.
      const std::lock_guard lock(failed.mutex);
      if (!failed.any || begin < failed.first) {
        failed.first = begin;
        failed.raised = t.raised;
        failed.message = t.message;
        failed.arguments = std::exchange(t.arguments, {});
      }
      failed.any = true;
    }
    t.call = before;
    t.worker = was_worker;
    if (by_user) throw Interrupted{};
  };
  bool interrupted = false;
  try {
    cpu::parallel_for(items, grain < 1 ? 1 : grain, piece);
  } catch (const Interrupted&) {
    interrupted = true;
  }
  if (interrupted) end_by_interrupt();
  if (call != nullptr && !self().worker && !call->printed.empty()) {
    const std::string text = std::move(call->printed);
    call->printed.clear();
    print(text.data(), static_cast<int64_t>(text.size()));
  }
  if (failed.any) {
    Thread& t = self();
    t.raised = failed.raised;
    t.message = std::move(failed.message);
    t.arguments = std::move(failed.arguments);
    throw Unwind{};
  }
}

int32_t threads() { return cpu::thread_limit(); }
void set_threads(int64_t wanted) {
  if (wanted >= 1 && wanted <= cpu::thread_count()) return cpu::set_thread_limit(static_cast<int>(wanted));
  raise(Raised::value, fmt::format("set_num_threads: expected 1 to {} threads, got {}", cpu::thread_count(), wanted));
}
int32_t thread_id() { return cpu::thread_id(); }

void ignored(const char* name, int32_t kind, const char* cls, const char* text, int64_t size) {
  std::fprintf(stderr, "Exception ignored in the callback %s: %s: %.*s\n", name,
               cls != nullptr ? cls : exception_name(static_cast<Raised>(-kind)), static_cast<int>(size), text);
}

/// The last quarter of a MiB is for what a deep function calls, and for the exception.
uint64_t stack_of_thread(uint64_t page) {
  static thread_local const uint64_t range = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    size_t size = 0;
    constexpr size_t kKept = 256 << 10, kMost = size_t{4095} << 20;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &size);
      pthread_attr_destroy(&attributes);
    }
    uint64_t first = reinterpret_cast<uint64_t>(low) + std::min(kKept, size / 2), end = reinterpret_cast<uint64_t>(low) + size;
    first = std::max(first, end - std::min<uint64_t>(kMost, end));
    return first >> 12 | (end - first) >> 12 << 44;
  }();
  if (page < (range & ((uint64_t{1} << 44) - 1))) raise(Raised::recursion, "maximum recursion depth exceeded");
  return range;
}

void product(int32_t dtype, int64_t m, int64_t n, int64_t k, const void* a, const int64_t* a_strides, const void* b,
             const int64_t* b_strides, void* c) {
  const int64_t from_a[3] = {0, a_strides[0], a_strides[1]}, from_b[3] = {0, b_strides[0], b_strides[1]};
  // Compiled code knows its own exceptions only.
  std::string failure;
  bool interrupted = false;
  try {
    host_library().matmul(static_cast<DType>(dtype), 1, m, n, k, a, from_a, b, from_b, c);
  } catch (const Interrupted&) {
    interrupted = true;
  } catch (const std::exception& e) {
    failure = e.what();
  }
  if (interrupted) end_by_interrupt();
  if (!failure.empty()) raise(Raised::runtime, failure);
}

}  // namespace

void raise(Raised raised, std::string_view text) {
  Thread& t = self();
  t.raised = raised;
  t.message = text;
  throw Unwind{};
}

namespace {
/// Without an interpreter characters beyond ASCII have no class, and stay as they are.
uint64_t unicode(int32_t question, uint32_t point) {
  constexpr int32_t kClasses = 4;
  const auto answer = characters.load(std::memory_order_acquire);
  return answer ? answer(question, point) : question == kClasses ? 0 : point;
}
}  // namespace

const Table& table() {
  static const Table t = {allocate,
                          release,
                          raise_now,
                          add_argument,
                          caught,
                          raise_again,
                          message_of,
                          forget,
                          parallel,
                          threads,
                          set_threads,
                          thread_id,
                          print,
                          product,
                          random_state,
                          seed_random,
                          refill_random,
                          format_float,
                          format_spec,
                          parse_float,
                          unicode,
                          keep,
                          link_block,
                          interpret,
                          interpreted,
                          forget_interpreted,
                          lapack,
                          ignored,
                          &interrupt::word(),
                          asked,
                          end_by_interrupt,
                          enter_container,
                          leave_container,
                          raise_of,
                          raise_shapes,
                          stack_of_thread,
                          end_linked};
  return t;
}

void drop_shared(Block* block) {
  if (block != nullptr && std::atomic_ref(block->count).fetch_sub(1, std::memory_order_acq_rel) == 1)
    reinterpret_cast<Shared*>(block->data())->end(block);
}

void share(Block* block) {
  // Whoever finds the object shared finds what it holds shared.
  static std::recursive_mutex mutex;
  const std::lock_guard lock(mutex);
  auto* head = static_cast<Shared*>(block->data());
  if (head->shared != 0) return;
  head->share(block);
  std::atomic_ref(head->shared).store(1, std::memory_order_release);
}

Block* new_block(int64_t bytes) {
  Thread& t = self();
  Call* const call = std::exchange(t.call, nullptr);
  Block* block = nullptr;
  const bool ok = landed([&] { block = allocate(bytes); });
  t.call = call;
  if (!ok) throw std::bad_alloc();
  return block;
}

bool run(Entry entry, void* const* arguments, void* result, Call* call) {
  Thread& t = self();
  Call* const before = t.call;
  t.call = call;
  t.arguments.clear();
  const interrupt::Scope scope(interrupt::Mode::run);
  const bool ok = landed([&] {
    // Short functions ask here: somebody may call them in a loop that does not.
    if (const uint32_t now = tick.load(std::memory_order_relaxed); now != t.seen) [[unlikely]] {
      t.seen = now;
      poll();
    }
    call->failure = entry(arguments, result);
  });
  t.call = before;
  if (ok && call->failure == 0) return true;
  call->arguments = std::exchange(t.arguments, {});
  if (!ok && static_cast<int32_t>(t.raised) < 0) {
    call->failure = -static_cast<int32_t>(t.raised);  // of the text's own
  } else if (!ok) {
    call->failure = 0;
    call->raised = t.raised;
    call->message = t.message;
  }
  call->adopt();  // what is left belongs to the arguments
  return false;
}

Block* block_of(const Call& call, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto holds = [at](Block* block) {
    if (block->bytes == kForeign) {
      const auto* f = static_cast<const Foreign*>(block->data());
      return at >= reinterpret_cast<uintptr_t>(f->low) && at <= reinterpret_cast<uintptr_t>(f->high);
    }
    const auto begin = reinterpret_cast<uintptr_t>(block->data());
    return at >= begin && at <= begin + static_cast<uintptr_t>(block->bytes);
  };
  const std::lock_guard lock(call.mutex);
  for (Block* block : call.results)
    if (holds(block)) return block;
  for (Block* block = call.blocks; block != nullptr; block = block->next)
    if (holds(block)) return block;
  return nullptr;
}

void Call::adopt() {
  while (Block* block = blocks) {
    unlink(block);
    block->call = nullptr;
  }
}

void hold(Block* block) { std::atomic_ref(block->count).fetch_add(1, std::memory_order_relaxed); }
void drop(Block* block) {
  if (std::atomic_ref(block->count).fetch_sub(1, std::memory_order_acq_rel) == 1) release(block);
}

Block* new_foreign(void* object, void (*release)(void* object), const void* low, const void* high) {
  Block* block = new_block(sizeof(Foreign));
  *static_cast<Foreign*>(block->data()) = {object, release, low, high};
  block->bytes = kForeign;
  return block;
}

void* foreign_object(const Block* block) {
  return block->bytes == kForeign ? static_cast<const Foreign*>(const_cast<Block*>(block)->data())->object : nullptr;
}

const char* exception_name(Raised raised) {
  constexpr const char* names[] = {"RuntimeError",    "ValueError",        "IndexError",          "ZeroDivisionError",
                                   "TypeError",       "KeyError",          "RuntimeError",        "OverflowError",
                                   "AssertionError",  "MemoryError",       "NotImplementedError", "StopIteration",
                                   "ArithmeticError", "AttributeError",    "LookupError",         "Exception",
                                   "OSError",         "LinAlgError",       "FloatingPointError",  "NameError",
                                   "AxisError",       "KeyboardInterrupt", "RecursionError"};
  return names[static_cast<int>(raised)];
}

void set_unicode(uint64_t (*answer)(int32_t question, uint32_t point)) { characters.store(answer, std::memory_order_release); }

void set_printer(void (*to)(const char* text, int64_t size)) { printer.store(to, std::memory_order_release); }

}  // namespace bc::host
