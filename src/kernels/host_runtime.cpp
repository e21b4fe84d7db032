#include "kernels/host_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "runtime/backend.h"
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
Thread& self() {
  thread_local Thread t;
  return t;
}

std::atomic<void (*)(const char*, int64_t)> printer{nullptr};
const std::atomic<uint32_t>& tick = interrupt::word();

[[noreturn]] void raise_now(int32_t kind, const char* text, int64_t size, int32_t) {
  Thread& t = self();
  t.raised = static_cast<Raised>(kind);
  t.message.assign(text, static_cast<size_t>(size));
  throw Unwind{};
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
  if (kind != 0) raise_now(kind, message.data(), static_cast<int64_t>(message.size()), 0);
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
  raise_now(static_cast<int32_t>(Raised::value), message.data(), static_cast<int64_t>(message.size()), 0);
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

int64_t format_float(double value, int32_t single, char* to);

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
constinit thread_local bool pool_ended = false;  // blocks may be given back while the thread ends
/// On the heap: there is little room for what every thread has from its start.
Pool& pool() {
  thread_local const std::unique_ptr<Pool> p = std::make_unique<Pool>();
  return *p;
}
Pool::~Pool() {
  pool_ended = true;
  for (Block* block : first)
    while (block != nullptr) std::free(std::exchange(block, block->next));
}
size_t units(int64_t bytes) { return (static_cast<size_t>(bytes) + sizeof(Block) + 63) / 64; }

void* memory_for(int64_t bytes) {
  const size_t n = units(bytes);
  if (n <= kPooledUnits && !pool_ended) {
    Pool& p = pool();
    if (Block* block = p.first[n]) {
      p.first[n] = block->next;
      --p.count[n];
      return block;
    }
  }
  return std::aligned_alloc(64, n * 64);
}
void give_back(Block* block, int64_t bytes) {
  const size_t n = units(bytes);
  if (n <= kPooledUnits && !pool_ended) {
    Pool& p = pool();
    if (p.count[n] < Pool::kMost) {
      block->next = p.first[n];
      p.first[n] = block;
      ++p.count[n];
      return;
    }
  }
  std::free(block);
}

/// Whether only this thread is at the call's list.
bool alone(const Thread& t, const Call* call) { return t.call == call && !t.worker && call->interpreter == nullptr; }

Block* allocate(int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 47;
  void* memory = bytes < 0 || bytes > kMost ? nullptr : memory_for(bytes);
  if (memory == nullptr) {
    const std::string_view text = "an array of this size does not fit into memory";
    raise_now(static_cast<int32_t>(bytes < 0 ? Raised::value : Raised::memory),
              bytes < 0 ? "negative dimensions are not allowed" : text.data(), bytes < 0 ? 35 : static_cast<int64_t>(text.size()), 0);
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
  char text[96];
  const int size = std::snprintf(text, sizeof text, "set_num_threads: expected 1 to %d threads, got %lld", cpu::thread_count(),
                                 static_cast<long long>(wanted));
  raise_now(static_cast<int32_t>(Raised::value), text, size, 0);
}
int32_t thread_id() { return cpu::thread_id(); }

void ignored(const char* name, int32_t kind, const char* cls, const char* text, int64_t size) {
  std::fprintf(stderr, "Exception ignored in the callback %s: %s: %.*s\n", name,
               cls != nullptr ? cls : exception_name(static_cast<Raised>(-kind)), static_cast<int>(size), text);
}

void product(int32_t dtype, int64_t m, int64_t n, int64_t k, const void* a, const int64_t* a_strides, const void* b,
             const int64_t* b_strides, void* c) {
  const int64_t from_a[3] = {0, a_strides[0], a_strides[1]}, from_b[3] = {0, b_strides[0], b_strides[1]};
  // Compiled code knows its own exceptions only.
  static constexpr int kRoom = 512;
  char text[kRoom];
  int64_t size = -1;
  bool interrupted = false;
  try {
    host_library().matmul(static_cast<DType>(dtype), 1, m, n, k, a, from_a, b, from_b, c);
  } catch (const Interrupted&) {
    interrupted = true;
  } catch (const std::exception& e) {
    size = std::snprintf(text, kRoom, "%s", e.what());
  }
  if (interrupted) end_by_interrupt();
  if (size >= 0) raise_now(static_cast<int32_t>(Raised::runtime), text, size < kRoom ? size : kRoom - 1, 0);
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

/// The parts of a format: [[fill]align][sign][z][#][0][width][grouping][.precision][type].
struct Spec {
  std::string fill = " ";
  char align = 0, sign = 0, group = 0, type = 0;
  bool no_minus_zero = false, alternate = false;
  size_t width = 0;
  int precision = -1;
};
[[noreturn]] void bad_format(const std::string& text) {
  raise_now(static_cast<int32_t>(Raised::value), text.data(), static_cast<int64_t>(text.size()), 0);
}
Spec read_spec(std::string_view s, bool of_text) {
  Spec r;
  const auto take = [&](std::string_view of) -> char {
    if (s.empty() || of.find(s[0]) == of.npos) return 0;
    const char c = s[0];
    s.remove_prefix(1);
    return c;
  };
  const auto number = [&] {
    size_t n = 0;
    while (const char c = take("0123456789")) n = std::min<size_t>(n * 10 + static_cast<size_t>(c - '0'), 1 << 20);
    return n;
  };
  size_t first = 1;
  while (first < s.size() && (static_cast<unsigned char>(s[first]) & 0xc0) == 0x80) ++first;
  const bool filled = s.size() > first && std::strchr("<>^=", s[first]) != nullptr;
  if (filled) r.fill = s.substr(0, first), s.remove_prefix(first);
  r.align = take("<>^=");
  r.sign = take("+- ");
  r.no_minus_zero = take("z") != 0;
  r.alternate = take("#") != 0;
  if (!filled && take("0")) {
    r.fill = "0";
    if (r.align == 0 && !of_text) r.align = '=';
  }
  r.width = number();
  r.group = take(",_");
  if (r.group && take(",_")) bad_format("Cannot specify both ',' and '_'.");
  if (take(".")) {
    if (s.empty() || s[0] < '0' || s[0] > '9') bad_format("Format specifier missing precision");
    r.precision = static_cast<int>(number());
  }
  if (!s.empty()) r.type = s[0], s.remove_prefix(1);
  if (!s.empty()) bad_format("Invalid format specifier");
  if (r.group && r.type && std::strchr(r.group == ',' ? "defgEG%F" : "defgEG%Fboxx", r.type == 'X' ? 'x' : r.type) == nullptr)
    bad_format(fmt::format("Cannot specify '{}' with '{}'.", r.group, r.type));
  return r;
}

std::string digits_of(const char* how, int precision, double v) {
  std::string r(static_cast<size_t>(std::snprintf(nullptr, 0, how, precision, v)) + 1, '\0');
  std::snprintf(r.data(), r.size(), how, precision, v);
  r.pop_back();
  return r;
}
/// A number that is not negative, as a format of floats has it.
std::string float_body(double v, const Spec& spec) {
  const char type = spec.type == 'n' ? 'g' : spec.type;
  if (type && std::strchr("feEFgG%", type) == nullptr) bad_format(fmt::format("Unknown format code '{}' for object of type 'float'", type));
  std::string r;
  if (!std::isfinite(v)) {
    r = std::isnan(v) ? "nan" : "inf";
    if (type && std::strchr("EFG", type)) std::transform(r.begin(), r.end(), r.begin(), [](char c) { return static_cast<char>(c - 32); });
  } else if (type) {
    const char how[] = {'%', spec.alternate ? '#' : '-', '.', '*', type == '%' ? 'f' : type, '\0'};
    r = digits_of(how, spec.precision < 0 ? 6 : spec.precision, type == '%' ? v * 100 : v);
  } else if (spec.precision < 0) {
    char text[32];
    r.assign(text, static_cast<size_t>(format_float(v, 0, text)));
    if (const size_t e = r.find('e'); spec.alternate && e != r.npos && r.find('.') == r.npos) r.insert(e, 1, '.');
  } else {
    // As 'g', with an exponent where no digit would follow the point.
    const int precision = std::max(spec.precision, 1);
    const std::string e = digits_of(spec.alternate ? "%#.*e" : "%.*e", precision - 1, v);
    const int exponent = std::atoi(e.c_str() + e.find('e') + 1);
    const bool scientific = exponent < -4 || exponent >= precision - 1;
    r = scientific ? e : digits_of("%#.*f", precision - 1 - exponent, v);
    const size_t end = std::min(r.find('e'), r.size());
    size_t last = end;
    if (!spec.alternate && r.find('.') != r.npos) {
      while (r[last - 1] == '0') --last;
      if (r[last - 1] == '.') last += end == r.size() ? 1 : -1;
    }
    r.erase(last, end - last);
  }
  return type == '%' ? r + '%' : r;
}

int64_t format_spec(int32_t tag, uint64_t bits, const char* text, int64_t text_size, const char* given, int64_t given_size, char* to,
                    int64_t room) {
  Spec spec = read_spec({given, static_cast<size_t>(given_size)}, tag == 5);
  std::string sign, body;
  size_t grouped = 0, zeros = 0;  // the digits that stand in groups, and the width that zeros fill up to
  const auto refuse = [](bool what, const char* words) {
    if (what) bad_format(words);
  };
  if (tag == 5) {
    body.assign(text, static_cast<size_t>(text_size));
    if (spec.type && spec.type != 's') bad_format(fmt::format("Unknown format code '{}' for object of type 'str'", spec.type));
    refuse(spec.sign, "Sign not allowed in string format specifier");
    refuse(spec.no_minus_zero, "Negative zero coercion (z) not allowed in string format specifier");
    refuse(spec.alternate, "Alternate form (#) not allowed in string format specifier");
    refuse(spec.align == '=', "'=' alignment not allowed in string format specifier");
    refuse(spec.group, "Cannot specify ',' with 's'.");
    if (spec.precision >= 0) {
      size_t at = 0;
      for (int n = 0; at < body.size(); ++at)
        if ((static_cast<unsigned char>(body[at]) & 0xc0) != 0x80 && n++ == spec.precision) break;
      body.resize(at);
    }
  } else {
    bool negative = tag == 3;
    if (tag != 4 && (spec.type == 0 || std::strchr("dxXobnc", spec.type) != nullptr)) {
      refuse(spec.precision >= 0, "Precision not allowed in integer format specifier");
      refuse(spec.no_minus_zero, "Negative zero coercion (z) not allowed in format specifier with integer");
      if (spec.type == 'c') {
        refuse(spec.sign, "Sign not allowed with integer format specifier 'c'");
        refuse(spec.alternate, "Alternate form (#) not allowed with integer format specifier 'c'");
        if (negative || bits > 0x10ffff) raise_now(static_cast<int32_t>(Raised::overflow), "%c arg not in range(0x110000)", 29, 0);
        const auto put = [&](uint64_t c) { body += static_cast<char>(c); };
        const uint64_t c = bits;
        if (c < 0x80)
          put(c);
        else if (c < 0x800)
          put(0xc0 | c >> 6);
        else if (c < 0x10000)
          put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 63));
        else
          put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 63)), put(0x80 | (c >> 6 & 63));
        if (c >= 0x80) put(0x80 | (c & 63));
      } else {
        const int base = spec.type == 'x' || spec.type == 'X' ? 16 : spec.type == 'o' ? 8 : spec.type == 'b' ? 2 : 10;
        char digits[72];
        body.assign(digits, std::to_chars(digits, digits + sizeof digits, bits, base).ptr);
        if (spec.type == 'X')
          std::transform(body.begin(), body.end(), body.begin(), [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
        if (spec.alternate && base != 10) sign = std::string("0") + spec.type;
        grouped = body.size();
      }
    } else {
      double v = static_cast<double>(bits);
      if (tag == 4) std::memcpy(&v, &bits, sizeof v), negative = std::signbit(v) && !std::isnan(v);
      body = float_body(std::fabs(v), spec);
      if (spec.no_minus_zero && body.find_first_of("123456789in") == body.npos) negative = false;
      grouped = std::min(body.find_first_not_of("0123456789"), body.size());
    }
    sign.insert(0, negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "");
    if (spec.align == '=' && spec.fill == "0") zeros = spec.width - std::min(spec.width, sign.size() + body.size() - grouped);
  }
  if (spec.group && grouped) {
    const size_t size = spec.type && std::strchr("boxX", spec.type) ? 4 : 3;
    size_t groups = (grouped - 1) / size;
    // Zeros in front stand in groups too, and no group is empty.
    while (grouped + groups < zeros) {
      if (grouped % size == 0) ++groups;
      body.insert(0, 1, '0'), ++grouped;
    }
    for (size_t i = grouped; i > size; i -= size) body.insert(i - size, 1, spec.group);
  }
  if (spec.align == 0) spec.align = tag == 5 ? '<' : '>';
  size_t points = sign.size();
  for (char c : body) points += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  const size_t missing = spec.width > points ? spec.width - points : 0;
  const size_t left = spec.align == '>' ? missing : spec.align == '^' ? missing / 2 : 0;
  const auto filled = [&](size_t n) {
    std::string r;
    for (; n > 0; --n) r += spec.fill;
    return r;
  };
  const std::string all = filled(left) + sign + (spec.align == '=' ? filled(missing) : "") + body +
                          (std::strchr("<^", spec.align) ? filled(missing - left) : "");
  if (all.size() > static_cast<size_t>(room)) bad_format("the formatted text is too long");
  std::memcpy(to, all.data(), all.size());
  return static_cast<int64_t>(all.size());
}

int32_t parse_float(const char* text, int64_t size, double* value) {
  std::string s(text, static_cast<size_t>(size));
  s.erase(std::remove(s.begin(), s.end(), '_'), s.end());
  if (s.empty() || s.find_first_of("xXpP") != std::string::npos) return 0;
  char* end = nullptr;
  *value = std::strtod(s.c_str(), &end);
  return end == s.c_str() + s.size() ? 1 : 0;
}

}  // namespace

const Table& table() {
  static const Table t = {allocate,     release,          raise_now,       add_argument,       caught,      raise_again, message_of,
                          forget,       parallel,         threads,         set_threads,        thread_id,   print,       product,
                          random_state, seed_random,      refill_random,   format_float,       format_spec, parse_float, keep,
                          link_block,   interpret,        interpreted,     forget_interpreted, lapack,      ignored,     &interrupt::word(),
                          asked,        end_by_interrupt, enter_container, leave_container,    raise_of,    raise_shapes};
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
  constexpr const char* names[] = {
      "RuntimeError",     "ValueError",     "IndexError",  "ZeroDivisionError",   "TypeError",          "KeyError",        "RuntimeError",
      "OverflowError",    "AssertionError", "MemoryError", "NotImplementedError", "StopIteration",      "ArithmeticError", "AttributeError",
      "LookupError",      "Exception",      "OSError",     "LinAlgError",         "FloatingPointError", "NameError",       "AxisError",
      "KeyboardInterrupt"};
  return names[static_cast<int>(raised)];
}

void set_printer(void (*to)(const char* text, int64_t size)) { printer.store(to, std::memory_order_release); }

}  // namespace bc::host
