// A CUDA driver for tests of order: it runs no kernel and keeps a vector clock for each stream, each event and the host. Every operation is
// logged with its clock, so that a test can ask of any two of them whether the later one waits for the earlier one. Memory is the host's.
// Copies, fills and host functions take place when the host has waited for them, and not before.
//
// Two operations are ordered when the first has ended before the second begins, whatever the streams' speed. An agent is the host (0) or a
// stream; an operation's clock says for each agent how many of its operations have ended by then, its own among them.
//
// The interface of tests is at the end of the file (vc_...), read by tests/stream_order.py. The environment sets the machine:
//   VECTOR_CLOCK_DEVICES  number of devices (1)
//   VECTOR_CLOCK_MEMORY   bytes of a device (4 GiB)
//   VECTOR_CLOCK_VMM      1: addresses and memory are apart (1)
//   VECTOR_CLOCK_PEERS    1: devices can use each other's memory (1)
//   VECTOR_CLOCK_DONE     percentage of queries that find the work done (0)
//   VECTOR_CLOCK_VERSION  what cuDriverGetVersion gives (13000)
//   VECTOR_CLOCK_LOG      1: print every operation
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

using u64 = unsigned long long;
using Time = std::chrono::steady_clock::time_point;

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kPeerAccessAlreadyEnabled = 704,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
};

enum class Kind : int { launch, copy, fill, host_function, record, wait, synchronize, allocate, free, map, unmap, graph_launch, note };
constexpr const char* kKindNames[] = {"launch",   "copy", "fill", "host function", "record",       "wait", "synchronize",
                                      "allocate", "free", "map",  "unmap",         "graph launch", "note"};

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtoll(text, nullptr, 0) : otherwise;
}

/// By agent: the number of its operations that have ended.
class Clock {
 public:
  uint32_t at(int agent) const { return static_cast<size_t>(agent) < ended_.size() ? ended_[agent] : 0; }
  uint32_t tick(int agent) {
    grow(agent);
    return ++ended_[agent];
  }
  void merge(const Clock& other) {
    if (other.ended_.size() > ended_.size()) ended_.resize(other.ended_.size());
    for (size_t i = 0; i < other.ended_.size(); ++i) ended_[i] = std::max(ended_[i], other.ended_[i]);
  }
  /// Tells whether all that `other` has seen is seen here.
  bool covers(const Clock& other) const {
    for (size_t i = 0; i < other.ended_.size(); ++i)
      if (at(static_cast<int>(i)) < other.ended_[i]) return false;
    return true;
  }

 private:
  void grow(int agent) {
    if (static_cast<size_t>(agent) >= ended_.size()) ended_.resize(static_cast<size_t>(agent) + 1);
  }
  std::vector<uint32_t> ended_;
};

struct Context {
  int device = 0;
  std::set<int> peers;            ///< devices whose memory the context may use
  std::set<int> pool_users = {};  ///< devices that may use the memory of its device's stream-ordered pool
};

struct Capture;

struct Stream {
  int agent = 0;
  Context* context = nullptr;
  bool legacy = false;
  bool blocking = false;
  bool destroyed = false;
  Time busy_until = {};  ///< its work is not done before, whoever asks
  Clock clock;           ///< of the last operation
  Capture* capture = nullptr;
  Clock captured;  ///< of the last operation of the capture
};

struct Event {
  Time busy_until = {};
  int number = 0;
  Context* context = nullptr;
  bool recorded = false;
  int capture = 0;  ///< the number of the capture that recorded it last; 0: none
  Clock clock;
};

/// Memory that an operation uses.
struct Access {
  u64 address = 0, bytes = 0;
  int write = 0;
};

/// One operation, as the log has it.
struct Entry {
  Kind kind = Kind::note;
  int agent = 0;
  int device = 0;
  int capture = 0;    ///< written down by this capture and not run; 0: run
  int launch = -1;    ///< the entry of the graph launch that it is a part of
  int captured = -1;  ///< and the entry that the capture wrote down
  int result = kSuccess;
  u64 address = 0, source = 0, bytes = 0;
  std::string name = {};
  std::shared_ptr<const std::string> params = {};  ///< the parameters' bytes, one after the other
  std::shared_ptr<const std::string> text = {};    ///< the kernel's source
  std::vector<uint32_t> sizes = {};                ///< bytes of each parameter
  std::vector<Access> uses = {};                   ///< told by vc_observe
  Clock clock = {};
  std::function<void()> act = {};  ///< what the device does when it comes there
};

/// What a graph owns, by cuGraphRetainUserObject.
using UserObject = std::shared_ptr<void>;

struct Graph {
  std::vector<int> entries;
  std::vector<UserObject> owned = {};
};

struct Capture {
  int number = 0;
  int mode = 0;
  std::thread::id thread;
  Stream* origin = nullptr;
  bool invalid = false;
  std::vector<int> entries;
  std::vector<Stream*> joined;
  Graph graph;  ///< what it owns so far
};

struct GraphExec {
  std::vector<int> entries;
  std::vector<UserObject> owned;
  Clock last;  ///< of its last launch: launches of one executable graph never overlap
};

struct Module {
  std::shared_ptr<const std::string> text;
};

struct Function {
  std::string name;
  Context* context = nullptr;
  std::shared_ptr<const std::string> text;
  std::vector<uint32_t> sizes;
  bool sizes_known = false;
};

struct Block {
  u64 bytes = 0;
  char kind = 'd';  ///< device memory, 'h'ost memory (page-locked), 'r'egistered, 'm'anaged, 'v': mapped to a reserved range
  int device = 0;
};

struct Driver {
  std::recursive_mutex mutex;
  std::deque<Entry> log;
  std::vector<std::string> problems;
  Clock host;
  int agents = 1;
  int events = 0;
  int captures_made = 0;
  std::deque<Context> contexts;
  std::deque<Stream> legacy;  ///< by device
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Capture>> captures;       ///< under way
  std::map<u64, Block> memory;                          ///< what can be used now
  std::map<u64, u64> handles;                           ///< bytes of physical memory
  std::vector<u64> used;                                ///< by device
  std::deque<int> pending;                              ///< entries with something to do that the host has not waited for
  std::map<std::string, std::pair<int, int>> failures;  ///< by call: {result, how often}
  const void* asked = nullptr;                          ///< what was asked about last, when, and how often in a row
  size_t asked_at = 0;
  int times_asked = 0;
  std::atomic<int> user_objects{0};  ///< that graphs own
  int lost = 0;                      ///< the error that every call returns since a kernel failed
  std::mt19937 random{1};
  int devices = static_cast<int>(setting("VECTOR_CLOCK_DEVICES", 1));
  u64 limit = static_cast<u64>(setting("VECTOR_CLOCK_MEMORY", int64_t{4} << 30));
  bool vmm = setting("VECTOR_CLOCK_VMM", 1) != 0;
  bool peers = setting("VECTOR_CLOCK_PEERS", 1) != 0;
  int done = static_cast<int>(setting("VECTOR_CLOCK_DONE", 0));
  bool verbose = setting("VECTOR_CLOCK_LOG", 0) != 0;

  Driver() {
    used.resize(static_cast<size_t>(devices));
    for (int d = 0; d < devices; ++d) {
      contexts.push_back({d, {d}});
      Stream& s = legacy.emplace_back();
      s.agent = agents++;
      s.context = &contexts.back();
      s.legacy = true;
    }
  }
};

Driver& driver() {
  static Driver* const d = new Driver;
  return *d;
}

thread_local Context* current = nullptr;
thread_local int thread_mode = 0;  // of cuThreadExchangeStreamCaptureMode
thread_local std::unique_ptr<Stream*> per_thread;
thread_local std::vector<Access> observed;  // for the thread's next launch

using Guard = std::lock_guard<std::recursive_mutex>;

__attribute__((format(printf, 1, 2))) void problem(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  driver().problems.emplace_back(text);
  if (driver().verbose) std::fprintf(stderr, "[driver] PROBLEM %s\n", text);
}

/// Fails a call that a test has asked to fail, and all later ones where the error is one after which the context is lost.
int injected(const char* call) {
  if (driver().lost) return driver().lost;
  auto& failures = driver().failures;
  const auto found = failures.find(call);
  if (found == failures.end() || found->second.second == 0) return kSuccess;
  --found->second.second;
  const int result = found->second.first;
  if (result >= 700 && result <= 719) driver().lost = result;
  return result;
}

// ---- Memory -------------------------------------------------------------------------------------------------------------------------

/// The piece of memory that an address lies in; nullptr: none.
const std::pair<const u64, Block>* find_block(u64 address) {
  auto& memory = driver().memory;
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return nullptr;
  const auto& found = *std::prev(after);
  return address - found.first < found.second.bytes ? &found : nullptr;
}

/// Mapped pages lie side by side, so that a range may be in several pieces.
bool usable(u64 address, u64 bytes) {
  while (bytes) {
    const auto* block = find_block(address);
    if (!block) return false;
    const u64 rest = block->first + block->second.bytes - address;
    if (rest >= bytes) return true;
    address += rest, bytes -= rest;
  }
  return true;
}

bool is_device(u64 address) {
  const auto* block = find_block(address);
  return block && (block->second.kind == 'd' || block->second.kind == 'v' || block->second.kind == 'm');
}
bool is_pinned(u64 address) {
  const auto* block = find_block(address);
  return block && (block->second.kind == 'h' || block->second.kind == 'r');
}

u64 take_pages(u64 bytes) {
  void* p = mmap(nullptr, (bytes + 4095) & ~u64{4095}, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? 0 : reinterpret_cast<u64>(p);
}

// ---- The log ------------------------------------------------------------------------------------------------------------------------

void print(int index) {
  if (!driver().verbose) return;
  const Entry& e = driver().log[static_cast<size_t>(index)];
  std::fprintf(stderr, "[driver] #%d agent %d%s %s %s %llx %llx %llu", index, e.agent, e.capture ? " [captured]" : "",
               kKindNames[static_cast<int>(e.kind)], e.name.c_str(), e.address, e.source, e.bytes);
  if (e.result) std::fprintf(stderr, " -> %d", e.result);
  std::fputc('\n', stderr);
}

/// Logs what the host does at once.
int host_entry(Entry e) {
  Driver& d = driver();
  d.host.tick(0);
  e.clock = d.host;
  d.log.push_back(std::move(e));
  print(static_cast<int>(d.log.size()) - 1);
  return static_cast<int>(d.log.size()) - 1;
}

/// Does what the host has waited for. Called with the lock held once; host functions are called without it.
void run_ended(std::unique_lock<std::recursive_mutex>& lock) {
  Driver& d = driver();
  for (;;) {
    const auto next = std::find_if(d.pending.begin(), d.pending.end(), [&](int i) { return d.host.covers(d.log[i].clock); });
    if (next == d.pending.end()) return;
    const int index = *next;
    d.pending.erase(next);
    const std::function<void()> act = std::move(d.log[static_cast<size_t>(index)].act);
    const bool call = d.log[static_cast<size_t>(index)].kind == Kind::host_function;
    if (!call) {
      act();
      continue;
    }
    lock.unlock();
    std::thread(act).join();  // the driver calls in a thread of its own
    lock.lock();
  }
}

void host_reaches(const Clock& clock, std::unique_lock<std::recursive_mutex>& lock) {
  driver().host.merge(clock);
  run_ended(lock);
}

// ---- Streams and captures -----------------------------------------------------------------------------------------------------------

Stream* new_stream(Context* context, bool blocking) {
  Driver& d = driver();
  auto s = std::make_unique<Stream>();
  s->agent = d.agents++;
  s->context = context;
  s->blocking = blocking;
  d.streams.push_back(std::move(s));
  return d.streams.back().get();
}

/// The stream of a handle; nullptr where it is none.
Stream* stream_of(void* handle) {
  Driver& d = driver();
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 1) return current ? &d.legacy[static_cast<size_t>(current->device)] : nullptr;
  if (number == 2) {
    if (!per_thread && current) per_thread = std::make_unique<Stream*>(new_stream(current, true));
    return per_thread ? *per_thread : nullptr;
  }
  for (const auto& s : d.streams)
    if (s.get() == handle) return s->destroyed ? nullptr : s.get();
  return nullptr;
}

void invalidate(Capture* capture) {
  if (capture) capture->invalid = true;
}

/// A call that CUDA forbids while a stream is captured, by the modes of the capture and of the thread.
int unsafe_call(const char* call) {
  if (thread_mode == 2) return kSuccess;
  for (const auto& c : driver().captures) {
    const bool mine = c->thread == std::this_thread::get_id();
    if (c->mode == 2) continue;
    if (mine || (thread_mode == 0 && c->mode == 0)) {
      invalidate(c.get());
      if (driver().verbose) std::fprintf(stderr, "[driver] %s is forbidden by capture %d\n", call, c->number);
      return kCaptureUnsupported;
    }
  }
  return kSuccess;
}

/// What an operation of a stream must wait for besides the stream's own: CUDA's legacy default stream and blocking streams wait for each
/// other.
void implicit_order(Stream* s) {
  Driver& d = driver();
  if (s->legacy) {
    for (const auto& other : d.streams)
      if (other->blocking && other->context == s->context) s->clock.merge(other->clock);
  } else if (s->blocking) {
    s->clock.merge(d.legacy[static_cast<size_t>(s->context->device)].clock);
  }
}

/// An operation on the legacy stream would make a captured blocking stream wait for it.
int legacy_during_capture(Stream* s, bool ends_capture = true) {
  if (!s->legacy) return kSuccess;
  int result = kSuccess;
  for (const auto& c : driver().captures)
    for (Stream* joined : c->joined)
      if (joined->blocking && joined->context == s->context) {
        if (ends_capture) invalidate(c.get());
        result = kCaptureImplicit;
      }
  return result;
}

/// Whether the caller holds Python's lock while a host function is queued, which may need it.
bool blocks_host_functions() {
  static const auto held = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  const Driver& d = driver();
  const bool queued =
      std::any_of(d.pending.begin(), d.pending.end(), [&](int i) { return d.log[static_cast<size_t>(i)].kind == Kind::host_function; });
  return held && queued && held();
}

/// A call that waits, as for room in a full queue, must not hold that lock then.
void check_lock(const char* call) {
  if (blocks_host_functions()) problem("%s was called with Python's lock held while a host function is queued", call);
}

/// Queues an operation, or writes it down where the stream is captured. *index gets its place in the log.
int enqueue(void* handle, Entry e, int* index = nullptr) {
  Driver& d = driver();
  Stream* s = stream_of(handle);
  if (!s) return kInvalidHandle;
  check_lock(e.name.c_str());
  if (const int result = legacy_during_capture(s)) return result;
  e.agent = s->agent;
  e.device = s->context->device;
  if (s->capture) {
    if (s->capture->invalid) return kCaptureInvalidated;
    s->captured.tick(s->agent);
    e.clock = s->captured;
    e.capture = s->capture->number;
    s->capture->entries.push_back(static_cast<int>(d.log.size()));
  } else {
    s->clock.merge(d.host);
    implicit_order(s);
    s->clock.tick(s->agent);
    e.clock = s->clock;
  }
  const bool acts = e.act && !e.capture;
  d.log.push_back(std::move(e));
  const int place = static_cast<int>(d.log.size()) - 1;
  if (acts) d.pending.push_back(place);
  if (index) *index = place;
  print(place);
  return kSuccess;
}

/// The clock that waiting for all work of a stream reaches.
Clock end_of(Stream* s) {
  implicit_order(s);
  return s->clock;
}

// ---- Kernels ------------------------------------------------------------------------------------------------------------------------

/// The bytes of a type in a kernel's parameter list; 0: not known.
uint32_t type_bytes(const std::string& text, const std::string& parameter) {
  if (parameter.find('*') != parameter.npos) return 8;
  static const std::map<std::string, uint32_t> known = {{"bool", 1}, {"char", 1},    {"i8", 1},       {"u8", 1},      {"short", 2},
                                                        {"i16", 2},  {"u16", 2},     {"int", 4},      {"float", 4},   {"i32", 4},
                                                        {"u32", 4},  {"int32_t", 4}, {"uint32_t", 4}, {"double", 8},  {"i64", 8},
                                                        {"u64", 8},  {"size_t", 8},  {"long", 8},     {"int64_t", 8}, {"uint64_t", 8},
                                                        {"f32", 4},  {"f64", 8},     {"unsigned", 4}, {"int8_t", 1},  {"uint8_t", 1}};
  uint32_t bytes = 0;
  std::string word;
  for (const char c : parameter + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    if (const auto found = known.find(word); found != known.end()) {
      bytes = std::max(bytes, found->second);
    } else if (!word.empty()) {
      // The engine's own kernels take one struct of words.
      const std::string head = "struct " + word + " { i64 w[";
      if (const size_t at = text.find(head); at != text.npos) return 8 * static_cast<uint32_t>(std::atoi(text.c_str() + at + head.size()));
    }
    word.clear();
  }
  return bytes;
}

/// Reads a kernel's parameters from its text.
void read_signature(Function& f) {
  const std::string& text = *f.text;
  for (size_t at = text.find("__global__"); at != text.npos; at = text.find("__global__", at + 1)) {
    const size_t name = text.find(f.name + "(", at);
    if (name == text.npos) return;
    if (text.find_first_of("{;", at) < name) continue;
    size_t from = name + f.name.size() + 1;
    int depth = 0;
    for (size_t i = from; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '(' || c == '<') ++depth;
      if (c == '>' || (c == ')' && depth > 0)) {
        --depth;
        continue;
      }
      if (depth > 0 || (c != ',' && c != ')')) continue;
      const std::string parameter = text.substr(from, i - from);
      if (parameter.find_first_not_of(" \n\t") != parameter.npos) f.sizes.push_back(type_bytes(text, parameter));
      from = i + 1;
      if (c != ')') continue;
      f.sizes_known = std::find(f.sizes.begin(), f.sizes.end(), 0u) == f.sizes.end();
      return;
    }
  }
}

int launch(void* function, void* stream, void** arguments) {
  const Guard lock(driver().mutex);
  if (const int failed = injected("cuLaunchKernel")) return failed;
  const Function& f = *static_cast<Function*>(function);
  const Stream* s = stream_of(stream);
  if (!s || s->context != f.context || current != f.context) return kInvalidHandle;
  Entry e;
  e.kind = Kind::launch;
  e.name = f.name;
  e.text = f.text;
  std::string bytes;
  for (size_t i = 0; arguments && f.sizes_known && i < f.sizes.size(); ++i)
    bytes.append(static_cast<const char*>(arguments[i]), f.sizes[i]);
  e.sizes = f.sizes;
  e.uses.swap(observed);
  e.params = std::make_shared<const std::string>(std::move(bytes));
  return enqueue(stream, std::move(e));
}

// ---- Copies -------------------------------------------------------------------------------------------------------------------------

/// `staged`: the bytes were taken at the call, because the host's memory is pageable.
void do_copy(u64 to, u64 from, u64 bytes, const std::shared_ptr<const std::string>& taken, bool staged) {
  if (!staged && taken && usable(from, bytes) && std::memcmp(reinterpret_cast<void*>(from), taken->data(), bytes) != 0)
    problem("page-locked memory %llx (%llu bytes) was written while a queued copy read it", from, bytes);
  const bool there = (!is_device(from) && !is_pinned(from) && !staged) || staged || usable(from, bytes);
  if (!there) return problem("a copy reads %llx (%llu bytes), where no memory is any more", from, bytes);
  if (!usable(to, bytes)) return problem("a copy writes %llx (%llu bytes), where no memory is any more", to, bytes);
  std::memmove(reinterpret_cast<void*>(to), staged ? taken->data() : reinterpret_cast<void*>(from), bytes);
}

int copy(const char* call, u64 to, u64 from, u64 bytes, void* stream) {
  std::unique_lock lock(driver().mutex);
  if (const int failed = injected(call)) return failed;
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  const bool from_host = !is_device(from), to_host = !is_device(to);
  const bool pageable = (from_host && !is_pinned(from)) || (to_host && !is_pinned(to));
  if (s->capture && pageable) {
    invalidate(s->capture);
    return kCaptureUnsupported;
  }
  Entry e;
  e.kind = Kind::copy;
  e.name = call;
  e.address = to, e.source = from, e.bytes = bytes;
  if (to_host && pageable) {
    // The call returns when the bytes are there.
    const int result = enqueue(stream, std::move(e));
    if (result) return result;
    host_reaches(end_of(s), lock);
    std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return kSuccess;
  }
  std::shared_ptr<const std::string> taken;
  if (from_host && !s->capture) taken = std::make_shared<const std::string>(reinterpret_cast<const char*>(from), bytes);
  e.act = [=, staged = from_host && pageable] { do_copy(to, from, bytes, taken, staged); };
  return enqueue(stream, std::move(e));
}

int fill(const char* call, u64 to, unsigned value, u64 count, int width, void* stream) {
  const Guard lock(driver().mutex);
  if (const int failed = injected(call)) return failed;
  Entry e;
  e.kind = Kind::fill;
  e.name = call;
  e.address = to, e.bytes = count * static_cast<u64>(width);
  e.act = [=] {
    if (!usable(to, count * static_cast<u64>(width))) return problem("a fill writes %llx, where no memory is any more", to);
    if (width == 1) {
      std::memset(reinterpret_cast<void*>(to), static_cast<int>(value), count);
      return;
    }
    for (u64 i = 0; i < count; ++i) std::memcpy(reinterpret_cast<void*>(to + 4 * i), &value, 4);
  };
  return enqueue(stream, std::move(e));
}

/// A query's answer where the host does not know it: chance decides whether the work is done. Who asks about one thing again and again
/// waits for it, and finds it done at last.
int query(const void* of, const Clock& clock, Time busy_until, int device, std::unique_lock<std::recursive_mutex>& lock) {
  constexpr int kPatience = 40;
  Driver& d = driver();
  if (std::chrono::steady_clock::now() < busy_until) return kNotReady;
  if (d.host.covers(clock)) return kSuccess;
  const bool again = d.asked == of && d.asked_at == d.log.size();
  d.asked = of, d.asked_at = d.log.size();
  d.times_asked = again ? d.times_asked + 1 : 1;
  const bool waits = d.times_asked > kPatience;
  if (!waits && static_cast<int>(d.random() % 100) >= d.done) return kNotReady;
  if (waits) {
    check_lock("a query again and again");
    d.host.merge(clock);
    host_entry({.kind = Kind::synchronize, .device = device, .name = "query"});
  }
  // A query waits for nobody: what stands behind a host function that cannot run yet is not done.
  if (blocks_host_functions()) return kNotReady;
  host_reaches(clock, lock);
  return kSuccess;
}

/// Waits for a busy stream as the hardware would.
void sleep_until(Time busy_until, std::unique_lock<std::recursive_mutex>& lock) {
  lock.unlock();
  std::this_thread::sleep_until(busy_until);
  lock.lock();
}

}  // namespace

// ---- The driver's functions: devices and contexts -----------------------------------------------------------------------------------

API int cuInit(unsigned) { return kSuccess; }
API int cuDriverGetVersion(int* version) { return *version = static_cast<int>(setting("VECTOR_CLOCK_VERSION", 13000)), kSuccess; }
API int cuGetErrorName(int result, const char** name) {
  static thread_local char text[48];
  std::snprintf(text, sizeof(text), "VECTOR_CLOCK_ERROR_%d", result);
  return *name = text, kSuccess;
}
API int cuGetErrorString(int, const char** text) { return *text = "an error of the driver for tests", kSuccess; }
API int cuDeviceGet(int* device, int index) { return *device = index, kSuccess; }
API int cuDeviceGetCount(int* count) { return *count = driver().devices, kSuccess; }
API int cuDeviceGetName(char* text, int bytes, int device) {
  return std::snprintf(text, static_cast<size_t>(bytes), "Vector Clock %d", device), kSuccess;
}
API int cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  return std::snprintf(text, static_cast<size_t>(bytes), "0000:%02x:00.0", device), kSuccess;
}
API int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = driver().limit, kSuccess; }
API int cuDeviceGetAttribute(int* value, int attribute, int) {
  // By CUdevice_attribute: an H100, in what the engine asks.
  static const std::map<int, int> known = {{1, 1024}, {2, 1024},    {5, 2147483647}, {8, 49152},   {10, 32},       {13, 1980000}, {16, 132},
                                           {18, 0},   {32, 1},      {36, 2619000},   {37, 5120},   {38, 52428800}, {39, 2048},    {40, 3},
                                           {41, 1},   {75, 9},      {76, 0},         {81, 233472}, {82, 65536},    {83, 1},       {89, 1},
                                           {95, 1},   {97, 232448}, {106, 32},       {115, 1}};
  const auto found = known.find(attribute);
  *value = attribute == 102 ? driver().vmm : found == known.end() ? 0 : found->second;
  return kSuccess;
}
API int cuDeviceCanAccessPeer(int* can, int, int) { return *can = driver().peers, kSuccess; }
API int cuDevicePrimaryCtxRetain(void** context, int device) {
  return *context = &driver().contexts[static_cast<size_t>(device)], kSuccess;
}
API int cuDevicePrimaryCtxRelease_v2(int) { return kSuccess; }
API int cuCtxSetCurrent(void* context) { return current = static_cast<Context*>(context), kSuccess; }
API int cuCtxGetCurrent(void** context) { return *context = current, kSuccess; }
API int cuCtxGetStreamPriorityRange(int* least, int* greatest) { return *least = 0, *greatest = -5, kSuccess; }
API int cuCtxEnablePeerAccess(void* peer, unsigned) {
  const Guard lock(driver().mutex);
  if (!driver().peers) return 217;
  return current->peers.insert(static_cast<Context*>(peer)->device).second ? kSuccess : kPeerAccessAlreadyEnabled;
}
API int cuCtxSynchronize() {
  std::unique_lock lock(driver().mutex);
  if (!current) return kInvalidContext;
  if (const int failed = injected("cuCtxSynchronize")) return failed;
  check_lock("cuCtxSynchronize");
  Driver& d = driver();
  int result = kSuccess;
  for (const auto& c : d.captures)
    if (c->origin->context == current) invalidate(c.get()), result = kCaptureUnsupported;
  Clock all;
  if (!result) {
    all.merge(d.legacy[static_cast<size_t>(current->device)].clock);
    for (const auto& s : d.streams)
      if (s->context == current) all.merge(s->clock);
    d.host.merge(all);
  }
  host_entry({.kind = Kind::synchronize, .device = current->device, .result = result, .name = "cuCtxSynchronize"});
  if (!result) run_ended(lock);
  return result;
}

// ---- Modules ------------------------------------------------------------------------------------------------------------------------

API int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  const Guard lock(driver().mutex);
  const char* text = static_cast<const char*>(image);
  // The engine's kernel for small reads is polled by the host, which a driver that runs nothing cannot serve.
  if (std::strstr(text, ".entry bc_read")) return 209;
  if (const int result = unsafe_call("cuModuleLoadDataEx")) return result;
  return *module = new Module{std::make_shared<const std::string>(text)}, kSuccess;
}
API int cuModuleUnload(void*) { return kSuccess; }
API int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto f = std::make_unique<Function>();
  f->name = name;
  f->context = current;
  f->text = static_cast<Module*>(module)->text;
  if (f->text->find(f->name + "(") == f->text->npos) return kNotFound;
  read_signature(*f);
  return *function = f.release(), kSuccess;
}
API int cuModuleGetGlobal_v2(u64*, size_t*, void*, const char*) { return kNotFound; }
API int cuFuncGetAttribute(int* value, int attribute, void*) { return *value = attribute == 0 ? 1024 : 0, kSuccess; }
API int cuFuncSetAttribute(void*, int, int) { return kSuccess; }
/// How often a parameter after a kernel's last one was asked for: compute-sanitizer reports each such call as an error of the driver.
std::atomic<int> asked_past_last{0};
API int vc_asked_past_last() { return asked_past_last.load(); }
API int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  const Function& f = *static_cast<Function*>(function);
  if (f.sizes_known && index >= f.sizes.size()) asked_past_last.fetch_add(1);
  if (!f.sizes_known || index >= f.sizes.size()) return kInvalidValue;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    *offset = (*offset + f.sizes[i] - 1) / f.sizes[i] * f.sizes[i];
    if (f.sizes[i] > 8) *offset = (*offset + 7) / 8 * 8;
    if (i < index) *offset += f.sizes[i];
  }
  return *bytes = f.sizes[index], kSuccess;
}
API int cuFuncGetParamCount(void* function, size_t* count) {
  const Function& f = *static_cast<Function*>(function);
  if (!f.sizes_known) return kInvalidValue;
  return *count = f.sizes.size(), kSuccess;
}
API int cuFuncGetName(const char** name, void* function) { return *name = static_cast<Function*>(function)->name.c_str(), kSuccess; }
API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, size_t) { return *blocks = 8, kSuccess; }
API int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, void*, size_t (*)(int), size_t, int) {
  return *grid = 1056, *block = 256, kSuccess;
}

API int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void** arguments,
                       void**) {
  return launch(function, stream, arguments);
}
API int cuLaunchCooperativeKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
                                  void** arguments) {
  return launch(function, stream, arguments);
}

// ---- Memory -------------------------------------------------------------------------------------------------------------------------

namespace {

int allocate(const char* call, u64* address, u64 bytes, char kind) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  if (!current) return kInvalidContext;
  if (const int failed = injected(call)) return failed;
  if (const int result = unsafe_call(call)) return result;
  const bool counted = kind == 'd' || kind == 'm';
  u64& used = d.used[static_cast<size_t>(current->device)];
  if (counted && used + bytes > d.limit) return kOutOfMemory;
  *address = take_pages(bytes);
  if (!*address) return kOutOfMemory;
  if (counted) used += bytes;
  d.memory[*address] = {bytes, kind, current->device};
  host_entry({.kind = Kind::allocate, .device = current->device, .address = *address, .bytes = bytes, .name = call});
  return kSuccess;
}

/// `waits`: the call returns after the device's work.
int release(const char* call, u64 address, bool waits) {
  std::unique_lock lock(driver().mutex);
  Driver& d = driver();
  if (const int result = unsafe_call(call)) return result;
  const auto found = d.memory.find(address);
  if (found == d.memory.end()) return kInvalidValue;
  const Block block = found->second;
  if (waits) {
    check_lock(call);
    for (const auto& s : d.streams) d.host.merge(s->clock);
    for (const Stream& s : d.legacy) d.host.merge(s.clock);
    run_ended(lock);
  }
  if (block.kind == 'd' || block.kind == 'm') d.used[static_cast<size_t>(block.device)] -= block.bytes;
  d.memory.erase(address);
  // Host memory is every device's: who frees it is told.
  const int device = block.kind == 'h' && current ? current->device : block.device;
  host_entry({.kind = Kind::free, .device = device, .address = address, .bytes = block.bytes, .name = call});
  if (block.kind != 'r') munmap(reinterpret_cast<void*>(address), (block.bytes + 4095) & ~u64{4095});
  return kSuccess;
}

}  // namespace

API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  const Guard lock(driver().mutex);
  *total = driver().limit;
  *free = driver().limit - driver().used[static_cast<size_t>(current->device)];
  return kSuccess;
}
API int cuMemAlloc_v2(u64* address, size_t bytes) { return allocate("cuMemAlloc", address, bytes, 'd'); }
API int cuMemFree_v2(u64 address) { return release("cuMemFree", address, true); }
API int cuMemAllocManaged(u64* address, size_t bytes, unsigned) { return allocate("cuMemAllocManaged", address, bytes, 'm'); }
API int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  return allocate("cuMemHostAlloc", reinterpret_cast<u64*>(address), bytes, 'h');
}
API int cuMemFreeHost(void* address) { return release("cuMemFreeHost", reinterpret_cast<u64>(address), true); }
API int cuMemHostGetDevicePointer_v2(u64* device, void* host, unsigned) { return *device = reinterpret_cast<u64>(host), kSuccess; }
API int cuMemHostRegister_v2(void* address, size_t bytes, unsigned) {
  const Guard lock(driver().mutex);
  if (const int result = unsafe_call("cuMemHostRegister")) return result;
  driver().memory[reinterpret_cast<u64>(address)] = {bytes, 'r', current ? current->device : 0};
  return kSuccess;
}
API int cuMemHostUnregister(void* address) { return release("cuMemHostUnregister", reinterpret_cast<u64>(address), false); }
API int cuPointerGetAttribute(void* value, int attribute, u64 address) {
  const Guard lock(driver().mutex);
  const auto* block = find_block(address);
  if (!block) return kInvalidValue;
  const char kind = block->second.kind;
  switch (attribute) {
    case 2: *static_cast<unsigned*>(value) = kind == 'h' || kind == 'r' ? 1 : 2; return kSuccess;
    case 8: *static_cast<unsigned*>(value) = kind == 'm'; return kSuccess;
    case 9: *static_cast<int*>(value) = block->second.device; return kSuccess;
    default: return kInvalidValue;
  }
}

// The device's stream-ordered pool, of which only the access of other devices is of interest.
API int cuDeviceGetMemPool(void** pool, int device) { return *pool = &driver().contexts[static_cast<size_t>(device)], kSuccess; }
API int cuMemPoolSetAccess(void* pool, const void* descriptors, size_t count) {
  const Guard lock(driver().mutex);
  const int* d = static_cast<const int*>(descriptors);  // each: location {type, id}, flags
  for (size_t i = 0; i < count; ++i, d += 3)
    if (d[0] == 1 && d[2] == 3) static_cast<Context*>(pool)->pool_users.insert(d[1]);
  return kSuccess;
}

API int cuMemAddressReserve(u64* address, size_t bytes, size_t alignment, u64, u64) {
  const u64 align = std::max<u64>(alignment, 2 << 20);
  void* p = mmap(nullptr, bytes + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return kOutOfMemory;
  *address = (reinterpret_cast<u64>(p) + align - 1) / align * align;
  return kSuccess;
}
API int cuMemAddressFree(u64, size_t) { return kSuccess; }
API int cuMemCreate(u64* handle, size_t bytes, const void* properties, u64) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  if (const int failed = injected("cuMemCreate")) return failed;
  const int device = static_cast<const int*>(properties)[3];  // type, handle types, location: {type, id}
  u64& used = d.used[static_cast<size_t>(device)];
  if (used + bytes > d.limit) return kOutOfMemory;
  used += bytes;
  static u64 last = 0;
  *handle = ++last;
  d.handles[*handle] = static_cast<u64>(device);
  return kSuccess;
}
API int cuMemRelease(u64) { return kSuccess; }
API int cuMemMap(u64 address, size_t bytes, size_t, u64 handle, u64) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  if (usable(address, 1)) return kInvalidValue;
  mprotect(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE);
  const int device = static_cast<int>(d.handles[handle]);
  d.memory[address] = {bytes, 'v', device};
  host_entry({.kind = Kind::map, .device = device, .address = address, .bytes = bytes, .name = "cuMemMap"});
  return kSuccess;
}
API int cuMemUnmap(u64 address, size_t bytes) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  const auto found = d.memory.find(address);
  if (found == d.memory.end() || found->second.bytes != bytes) return kInvalidValue;
  d.used[static_cast<size_t>(found->second.device)] -= bytes;
  host_entry({.kind = Kind::unmap, .device = found->second.device, .address = address, .bytes = bytes, .name = "cuMemUnmap"});
  d.memory.erase(found);
  madvise(reinterpret_cast<void*>(address), bytes, MADV_DONTNEED);
  mprotect(reinterpret_cast<void*>(address), bytes, PROT_NONE);
  return kSuccess;
}
API int cuMemSetAccess(u64, size_t, const void*, size_t) { return kSuccess; }
API int cuMemGetAllocationGranularity(size_t* bytes, const void*, int) { return *bytes = 2 << 20, kSuccess; }

API int cuMemcpyAsync(u64 to, u64 from, size_t bytes, void* stream) { return copy("cuMemcpyAsync", to, from, bytes, stream); }
API int cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, void* stream) {
  return copy("cuMemcpyHtoDAsync", to, reinterpret_cast<u64>(from), bytes, stream);
}
API int cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, void* stream) {
  return copy("cuMemcpyDtoHAsync", reinterpret_cast<u64>(to), from, bytes, stream);
}
API int cuMemcpyPeerAsync(u64 to, void*, u64 from, void*, size_t bytes, void* stream) {
  return copy("cuMemcpyPeerAsync", to, from, bytes, stream);
}
API int cuMemsetD8Async(u64 to, unsigned char value, size_t count, void* stream) {
  return fill("cuMemsetD8Async", to, value, count, 1, stream);
}
API int cuMemsetD32Async(u64 to, unsigned value, size_t count, void* stream) {
  return fill("cuMemsetD32Async", to, value, count, 4, stream);
}

// ---- Streams and events -------------------------------------------------------------------------------------------------------------

API int cuStreamCreateWithPriority(void** stream, unsigned flags, int) {
  const Guard lock(driver().mutex);
  return *stream = new_stream(current, !(flags & 1)), kSuccess;
}
API int cuStreamDestroy_v2(void* stream) {
  const Guard lock(driver().mutex);
  Stream* s = stream_of(stream);
  if (!s || s->legacy) return kInvalidHandle;
  s->destroyed = true;
  return kSuccess;
}
API int cuStreamSynchronize(void* stream) {
  std::unique_lock lock(driver().mutex);
  if (const int failed = injected("cuStreamSynchronize")) return failed;
  check_lock("cuStreamSynchronize");
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  int result = legacy_during_capture(s);
  if (s->capture) invalidate(s->capture), result = kCaptureUnsupported;
  if (!result) sleep_until(s->busy_until, lock);
  if (!result) driver().host.merge(end_of(s));
  host_entry({.kind = Kind::synchronize, .device = s->context->device, .result = result, .name = "cuStreamSynchronize"});
  if (!result) run_ended(lock);
  return result;
}
API int cuStreamQuery(void* stream) {
  std::unique_lock lock(driver().mutex);
  if (const int failed = injected("cuStreamQuery")) return failed;
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (const int result = legacy_during_capture(s)) return result;
  if (s->capture) return invalidate(s->capture), kCaptureUnsupported;
  return query(s, end_of(s), s->busy_until, s->context->device, lock);
}
API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  if (const int failed = injected("cuStreamWaitEvent")) return failed;
  const Event& e = *static_cast<Event*>(event);
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (!e.recorded) return kSuccess;
  int result = kSuccess;
  if (e.capture) {
    const auto found = std::find_if(d.captures.begin(), d.captures.end(), [&](const auto& c) { return c->number == e.capture; });
    Capture* capture = found == d.captures.end() ? nullptr : found->get();
    if (!capture) {
      result = kCaptureIsolation;
    } else if (s->legacy) {
      result = kCaptureImplicit;
    } else if (s->capture && s->capture != capture) {
      invalidate(s->capture), invalidate(capture);
      result = kCaptureMerge;
    } else if (!s->capture) {
      s->capture = capture;
      s->captured = {};
      capture->joined.push_back(s);
    }
    if (!result) s->captured.merge(e.clock);
  } else if (s->capture) {
    invalidate(s->capture);
    result = kCaptureIsolation;
  } else {
    s->clock.merge(e.clock);
  }
  if (result) {
    host_entry({.kind = Kind::wait, .device = s->context->device, .result = result, .name = "cuStreamWaitEvent"});
    return result;
  }
  return enqueue(stream, {.kind = Kind::wait, .name = "event " + std::to_string(e.number)});
}
API int cuLaunchHostFunc(void* stream, void (*call)(void*), void* data) {
  const Guard lock(driver().mutex);
  if (const int failed = injected("cuLaunchHostFunc")) return failed;
  Entry e;
  e.kind = Kind::host_function;
  e.name = "cuLaunchHostFunc";
  e.act = [=] { call(data); };
  return enqueue(stream, std::move(e));
}

API int cuEventCreate(void** event, unsigned) {
  const Guard lock(driver().mutex);
  auto* e = new Event;
  e->number = ++driver().events;
  e->context = current;
  return *event = e, kSuccess;
}
API int cuEventDestroy_v2(void* event) {
  const Guard lock(driver().mutex);
  delete static_cast<Event*>(event);
  return kSuccess;
}
API int cuEventRecord(void* event, void* stream) {
  const Guard lock(driver().mutex);
  if (const int failed = injected("cuEventRecord")) return failed;
  Event& e = *static_cast<Event*>(event);
  Stream* s = stream_of(stream);
  if (!s || s->context != e.context) return kInvalidHandle;
  if (const int result = enqueue(stream, {.kind = Kind::record, .name = "event " + std::to_string(e.number)})) return result;
  e.recorded = true;
  e.busy_until = s->busy_until;
  e.capture = s->capture ? s->capture->number : 0;
  e.clock = s->capture ? s->captured : s->clock;
  return kSuccess;
}

namespace {

/// A captured event stands for no time; asking for it ends its capture.
int captured_event(const Event& e) {
  if (!e.capture) return kSuccess;
  for (const auto& c : driver().captures)
    if (c->number == e.capture) invalidate(c.get());
  return kCapturedEvent;
}

}  // namespace

API int cuEventQuery(void* event) {
  std::unique_lock lock(driver().mutex);
  if (const int failed = injected("cuEventQuery")) return failed;
  const Event& e = *static_cast<Event*>(event);
  if (!e.recorded) return kSuccess;
  if (const int result = captured_event(e)) return result;
  if (const int result = unsafe_call("cuEventQuery")) return result;
  return query(&e, e.clock, e.busy_until, e.context->device, lock);
}
API int cuEventSynchronize(void* event) {
  std::unique_lock lock(driver().mutex);
  if (const int failed = injected("cuEventSynchronize")) return failed;
  const Event& e = *static_cast<Event*>(event);
  if (const int result = captured_event(e)) {
    host_entry({.kind = Kind::synchronize, .result = result, .name = "cuEventSynchronize"});
    return result;
  }
  if (e.recorded) sleep_until(e.busy_until, lock);
  if (e.recorded) driver().host.merge(e.clock);
  host_entry({.kind = Kind::synchronize, .name = "cuEventSynchronize"});
  run_ended(lock);
  return kSuccess;
}
API int cuEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 1, kSuccess; }

// ---- Captures and graphs ------------------------------------------------------------------------------------------------------------

API int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, thread_mode);
  return kSuccess;
}
API int cuStreamIsCapturing(void* stream, int* status) {
  const Guard lock(driver().mutex);
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (const int result = legacy_during_capture(s, false)) return result;
  *status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
  return kSuccess;
}
API int cuStreamBeginCapture_v2(void* stream, int mode) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (s->legacy || s->capture) return kCaptureUnsupported;
  auto c = std::make_unique<Capture>();
  c->number = ++d.captures_made;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->origin = s;
  c->joined = {s};
  s->capture = c.get();
  s->captured = {};
  d.captures.push_back(std::move(c));
  host_entry({.kind = Kind::note, .name = "begin capture"});
  return kSuccess;
}
API int cuStreamEndCapture(void* stream, void** graph) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  *graph = nullptr;
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (!s->capture) return kInvalidValue;
  if (s->capture->origin != s) return invalidate(s->capture), kCaptureUnmatched;
  if (s->capture->mode != 2 && s->capture->thread != std::this_thread::get_id()) return kCaptureWrongThread;
  Capture* c = s->capture;
  int result = c->invalid ? kCaptureInvalidated : kSuccess;
  for (Stream* joined : c->joined) {
    if (!result && s->captured.at(joined->agent) < joined->captured.at(joined->agent)) result = kCaptureUnjoined;
    joined->capture = nullptr;
  }
  host_entry({.kind = Kind::note, .result = result, .name = "end capture"});
  if (!result) {
    auto* g = new Graph(std::move(c->graph));
    for (const int i : c->entries) {
      const Kind kind = d.log[static_cast<size_t>(i)].kind;
      if (kind == Kind::launch || kind == Kind::copy || kind == Kind::fill || kind == Kind::host_function) g->entries.push_back(i);
    }
    *graph = g;
  }
  std::erase_if(d.captures, [&](const auto& other) { return other.get() == c; });
  return result;
}
API int cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), kSuccess; }
API int cuGraphGetNodes(void* graph, void**, size_t* count) { return *count = static_cast<Graph*>(graph)->entries.size(), kSuccess; }
API int cuGraphInstantiateWithFlags(void** exec, void* graph, u64) {
  const Graph& g = *static_cast<Graph*>(graph);
  return *exec = new GraphExec{g.entries, g.owned, {}}, kSuccess;
}
API int cuGraphExecDestroy(void* exec) { return delete static_cast<GraphExec*>(exec), kSuccess; }
API int cuStreamGetCaptureInfo_v2(void* stream, int* status, u64* id, void** graph, const void***, size_t*) {
  const Guard lock(driver().mutex);
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  *status = !s->capture ? 0 : s->capture->invalid ? 2 : 1;
  if (id && s->capture) *id = static_cast<u64>(s->capture->number);
  if (graph) *graph = s->capture ? &s->capture->graph : nullptr;
  return kSuccess;
}
API int cuUserObjectCreate(void** object, void* data, void (*destroy)(void*), unsigned references, unsigned flags) {
  if (references != 1 || flags != 1) return kInvalidValue;
  driver().user_objects.fetch_add(1);
  *object = new UserObject(data, [destroy](void* d) {
    destroy(d);
    driver().user_objects.fetch_sub(1);
  });
  return kSuccess;
}
API int cuGraphRetainUserObject(void* graph, void* object, unsigned references, unsigned flags) {
  if (references != 1 || flags != 1) return kInvalidValue;  // the caller's one reference goes to the graph
  const std::unique_ptr<UserObject> given(static_cast<UserObject*>(object));
  const Guard lock(driver().mutex);
  static_cast<Graph*>(graph)->owned.push_back(*given);
  return kSuccess;
}
API int cuGraphUpload(void*, void*) { return kSuccess; }
API int cuGraphLaunch(void* exec, void* stream) {
  const Guard lock(driver().mutex);
  Driver& d = driver();
  if (const int failed = injected("cuGraphLaunch")) return failed;
  GraphExec& g = *static_cast<GraphExec*>(exec);
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  if (!s->capture) s->clock.merge(g.last);
  int place = 0;
  if (const int result = enqueue(stream, {.kind = Kind::graph_launch, .name = "cuGraphLaunch"}, &place)) return result;
  if (!s->capture) g.last = s->clock;
  for (const int i : g.entries) {
    Entry e = d.log[static_cast<size_t>(i)];
    const Entry& whole = d.log[static_cast<size_t>(place)];
    e.agent = whole.agent;
    e.device = whole.device;
    e.capture = whole.capture;
    e.clock = whole.clock;
    e.launch = place;
    e.captured = i;
    // A launch that is under way keeps what the graph owns.
    if (e.act && !g.owned.empty()) e.act = [act = std::move(e.act), owned = g.owned] { act(); };
    d.log.push_back(std::move(e));
    const int node = static_cast<int>(d.log.size()) - 1;
    if (s->capture)
      s->capture->entries.push_back(node);
    else if (d.log.back().act)
      d.pending.push_back(node);
    print(node);
  }
  return kSuccess;
}

// ---- What tests ask -----------------------------------------------------------------------------------------------------------------

/// An entry of the log for ctypes.
struct VcEntry {
  int kind, agent, device, capture, launch, result;
  u64 address, source, bytes;
  const char* name;
  const char* params;
  u64 params_bytes;
  const char* text;
};

API int vc_count() {
  const Guard lock(driver().mutex);
  return static_cast<int>(driver().log.size());
}
API int vc_entry(int index, VcEntry* out) {
  const Guard lock(driver().mutex);
  if (index < 0 || static_cast<size_t>(index) >= driver().log.size()) return kInvalidValue;
  const Entry& e = driver().log[static_cast<size_t>(index)];
  *out = {static_cast<int>(e.kind),
          e.agent,
          e.device,
          e.capture,
          e.launch,
          e.result,
          e.address,
          e.source,
          e.bytes,
          e.name.c_str(),
          e.params ? e.params->data() : nullptr,
          e.params ? e.params->size() : 0,
          e.text ? e.text->c_str() : nullptr};
  return kSuccess;
}
/// Memory of the thread's next launch, as the engine's launch observer tells it.
API void vc_observe(const void* memory, size_t bytes, bool write) { observed.push_back({reinterpret_cast<u64>(memory), bytes, write}); }
/// Copies at most `most` of what an entry uses; returns how many it uses.
API int vc_uses(int index, Access* out, int most) {
  const Guard lock(driver().mutex);
  const std::vector<Access>& uses = driver().log.at(static_cast<size_t>(index)).uses;
  for (size_t i = 0; i < uses.size() && static_cast<int>(i) < most; ++i) out[i] = uses[i];
  return static_cast<int>(uses.size());
}
/// 1 when entry `a` has ended before entry `b` begins. Of two parts of one launch of a graph the capture's order decides.
API int vc_ordered(int a, int b) {
  const Guard lock(driver().mutex);
  const auto& log = driver().log;
  const Entry *first = &log.at(static_cast<size_t>(a)), *second = &log.at(static_cast<size_t>(b));
  if (first->launch >= 0 && first->launch == second->launch) {
    first = &log[static_cast<size_t>(first->captured)];
    second = &log[static_cast<size_t>(second->captured)];
  }
  return second->clock.at(first->agent) >= first->clock.at(first->agent);
}
/// Logs something that the host does or knows now; returns its place.
API int vc_note(const char* name, u64 address, u64 bytes) {
  const Guard lock(driver().mutex);
  return host_entry({.kind = Kind::note, .address = address, .bytes = bytes, .name = name});
}
/// Device memory of another library, which the device's limit does not count.
API u64 vc_allocate(u64 bytes, int device) {
  const Guard lock(driver().mutex);
  const u64 address = take_pages(bytes);
  driver().memory[address] = {bytes, 'd', device};
  host_entry({.kind = Kind::allocate, .device = device, .address = address, .bytes = bytes, .name = "vc_allocate"});
  return address;
}
/// Logs that memory of another library, whose own stream is `owner`, is the library's again.
API int vc_release(u64 address, u64 bytes, int owner) {
  const Guard lock(driver().mutex);
  return host_entry({.kind = Kind::note, .address = address, .source = static_cast<u64>(owner), .bytes = bytes, .name = "release"});
}
/// How many objects graphs own.
API int vc_user_objects() { return driver().user_objects.load(); }
/// The stream's work is not done for so long, whoever waits.
API int vc_busy(void* stream, double seconds) {
  const Guard lock(driver().mutex);
  Stream* s = stream_of(stream);
  if (!s) return kInvalidHandle;
  s->busy_until = std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<int64_t>(1e6 * seconds));
  return kSuccess;
}
/// What went wrong in the driver itself; nullptr past the last.
API const char* vc_problem(int index) {
  const Guard lock(driver().mutex);
  return static_cast<size_t>(index) < driver().problems.size() ? driver().problems[static_cast<size_t>(index)].c_str() : nullptr;
}
/// The next `count` calls of a function fail, and with the error of a failed kernel (700 to 719) all calls after them.
API void vc_fail(const char* call, int result, int count) {
  const Guard lock(driver().mutex);
  driver().failures[call] = {result, count};
}
/// How often a query finds work done, in percent, and the seed of the chance.
API void vc_set_done(int percent, unsigned seed) {
  const Guard lock(driver().mutex);
  driver().done = percent;
  driver().random.seed(seed);
}
/// The agent of a stream's handle; -1: there is no such stream.
API int vc_agent(void* stream, int device) {
  const Guard lock(driver().mutex);
  if (reinterpret_cast<uintptr_t>(stream) <= 1) return driver().legacy.at(static_cast<size_t>(device)).agent;
  const Stream* s = stream_of(stream);
  return s ? s->agent : -1;
}
/// 1 where a device may use the memory of another one's stream-ordered pool.
API int vc_pool_access(int owner, int user) {
  const Guard lock(driver().mutex);
  return static_cast<int>(driver().contexts.at(static_cast<size_t>(owner)).pool_users.count(user));
}
