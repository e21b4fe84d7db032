#include "backends/cpu/program.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "backends/cpu/capture.h"
#include "backends/cpu/jit_library.h"
#include "backends/cpu/program_headers.h"
#include "codegen/device_library.h"
#include "codegen/kernel_cache.h"
#include "core/error.h"
#include "runtime/interrupt.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr uint64_t kMaxThreads = 1024;
constexpr unsigned kMaxShared = 227u << 10;  // as much as the largest GPUs allow for a block
constexpr int kMultiprocessorThreads = 2048;

// Numbers of CUfunction_attribute in cuda.h.
enum FunctionAttribute {
  kMaxThreadsPerBlock = 0,
  kSharedBytes = 1,
  kConstBytes = 2,
  kLocalBytes = 3,
  kRegisters = 4,
  kPtxVersion = 5,
  kBinaryVersion = 6,
  kMaxDynamicShared = 8,
};

struct LaunchState;
void note_failure(LaunchState* state, const char* what, const char* file, unsigned line, const char* function);
void note_child_shape(LaunchState* state, const unsigned* shape, size_t shared_bytes, const void* stream);
void note_child(LaunchState* state, const char* symbol, void** arguments);

size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

/// A copy of a kernel's argument bytes.
class Arguments {
 public:
  Arguments(std::span<const uint32_t> sizes, void** from) {
    size_t all = 0;
    for (const uint32_t bytes : sizes) all += round_up(bytes, 16);
    bytes_.resize(all);
    size_t at = 0;
    for (const uint32_t bytes : sizes) {
      std::memcpy(bytes_.data() + at, *from++, bytes);
      offsets_.push_back(at);
      at += round_up(bytes, 16);
    }
  }
  /// The pointers that launch() takes. They point into this object, so a copy of the object has other pointers.
  std::vector<void*> pointers() const {
    std::vector<void*> made;
    for (const size_t at : offsets_) made.push_back(const_cast<char*>(bytes_.data()) + at);
    return made;
  }

 private:
  std::vector<char> bytes_;
  std::vector<size_t> offsets_;
};

/// A launch that a kernel has queued (dynamic parallelism).
struct Child {
  std::string symbol;
  KernelLaunch shape;
  Arguments arguments;
};

/// The state of one running launch. Kernels call the functions in its first members: when an assert fails or a kernel traps, and to launch
/// other kernels.
struct LaunchState {
  void (*failed)(LaunchState* state, const char* what, const char* file, unsigned line, const char* function) = note_failure;
  void (*child_shape)(LaunchState* state, const unsigned* shape, size_t shared_bytes, const void* stream) = note_child_shape;
  void (*child)(LaunchState* state, const char* symbol, void** arguments) = note_child;
  const class CpuProgram* program = nullptr;
  std::atomic<bool> interrupted{false};
  std::mutex mutex;                   // guards children and tail
  std::vector<Child> children, tail;  // launches to run after the grid, in order; and launches to run after those
  std::atomic<int> phase{0};          // 0: no failure, 1: message is being written, 2: message is complete
  std::string message;
};

void note_failure(LaunchState* state, const char* what, const char* file, unsigned line, const char* function) {
  int none = 0;
  if (!state->phase.compare_exchange_strong(none, 1)) return;
  state->message = file != nullptr && *file != 0 ? fmt::format("{}:{}: {}: assertion `{}` failed", file, line, function, what)
                                                 : fmt::format("{} was reached", what);
  state->phase.store(2);
}

/// Called by a kernel's loops now and then: whether the launch must end.
int32_t launch_asked(void* launch) {
  auto* state = static_cast<LaunchState*>(launch);
  if (!state->interrupted.load(std::memory_order_relaxed) && interrupt::asked()) state->interrupted.store(true, std::memory_order_relaxed);
  return state->interrupted.load(std::memory_order_relaxed) ? 1 : 0;
}

/// The launch configuration from the angle brackets, kept until the kernel call that follows.
struct ChildShape {
  KernelLaunch shape;
  bool tail = false;
};
thread_local ChildShape child_shape;

void note_child_shape(LaunchState*, const unsigned* shape, size_t shared_bytes, const void* stream) {
  constexpr uintptr_t kTailStream = 3;  // cudaStreamTailLaunch
  child_shape = {};
  std::copy_n(shape, 3, child_shape.shape.grid);
  std::copy_n(shape + 3, 3, child_shape.shape.block);
  child_shape.shape.shared_bytes = static_cast<unsigned>(shared_bytes);
  child_shape.tail = reinterpret_cast<uintptr_t>(stream) == kTailStream;
}

using Entry = int64_t (*)(const bc_jit_frame*, int64_t first, int64_t last, char* shared, char* context);

/// A thread's memory for shared variables and contexts; reused by its next launch.
class Scratch {
 public:
  ~Scratch() { std::free(memory_); }
  char* take(size_t bytes) {
    if (bytes > size_) {
      std::free(memory_);
      size_ = (bytes + 4095) / 4096 * 4096;
      memory_ = static_cast<char*>(std::aligned_alloc(128, size_));
      BC_CHECK(memory_ != nullptr, Memory, "kernel: no memory for the {} bytes that a block needs", bytes);
    }
    return memory_;
  }

 private:
  char* memory_ = nullptr;
  size_t size_ = 0;
};

/// Zeroed memory for the blocks of a launch that run concurrently.
class Mapping {
 public:
  Mapping(size_t bytes, const std::string& kernel)
      : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    BC_CHECK(memory_ != MAP_FAILED, Memory, "kernel {}: no memory for blocks that run at once ({} bytes)", kernel, bytes);
  }
  ~Mapping() { munmap(memory_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  char* begin() const { return static_cast<char*>(memory_); }

 private:
  size_t bytes_;
  void* memory_;
};

/// A kernel compiled for blocks of one shape.
struct Special {
  explicit Special(JitLibrary::Object loaded) : object(std::move(loaded)) {}
  JitLibrary::Object object;
  Entry entry = nullptr;
  bc_jit_kernel facts{};
  std::atomic<int64_t> block_nanoseconds{0};  // measured time of one block; 0: not measured yet
};

/// The state of a program that its kernels share.
struct Loaded {
  Loaded() : data(nullptr, nullptr) {}
  std::string name;
  Hash128 digest;
  std::string target;
  bc_jit_flags flags{};
  std::vector<char> bitcode;
  JitLibrary::Object data;
  class CpuProgram* owner = nullptr;
};

std::string shape(const unsigned* n) { return fmt::format("({}, {}, {})", n[0], n[1], n[2]); }

constexpr unsigned kMaxCluster = 16;

/// The facts about a kernel from the compiler.
struct KernelFacts {
  std::string symbol, name;
  std::vector<uint32_t> parameters;  // bytes of each
  unsigned cluster[3] = {0, 0, 0};   // of __cluster_dims__
};

class CpuProgramKernel final : public ProgramKernel {
 public:
  CpuProgramKernel(std::shared_ptr<Loaded> program, KernelFacts facts)
      : program_(std::move(program)),
        symbol_(std::move(facts.symbol)),
        name_(std::move(facts.name)),
        parameters_(std::move(facts.parameters)) {
    std::copy_n(facts.cluster, 3, cluster_);
  }

  std::span<const uint32_t> parameter_bytes() const override { return parameters_; }
  bool knows_parameters() const override { return true; }

  void launch(const KernelLaunch& launch, void** arguments, Stream stream) override {
    if (maybe_capturing() && capturing(stream)) [[unlikely]]
      return record_launch(launch, arguments, stream);
    const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    if (threads == 0 || blocks == 0 || threads > kMaxThreads || launch.block[2] > 64 || launch.grid[0] > 2147483647u ||
        launch.grid[1] > 65535 || launch.grid[2] > 65535) [[unlikely]]
      refuse(launch);
    Special& special = special_for(launch.block);
    const bc_jit_kernel& facts = special.facts;
    BC_CHECK(uint64_t{facts.user_shared} + launch.shared_bytes <= kMaxShared, Value,
             "kernel {}: {} bytes of dynamic shared memory are asked for; the CPU has {} bytes a block, of which the kernel's own arrays "
             "use {}",
             name_, launch.shared_bytes, kMaxShared, facts.user_shared);
    LaunchState state;
    state.program = program_->owner;
    bc_jit_frame frame{};
    frame.arguments = arguments;
    std::copy_n(launch.grid, 3, frame.grid);
    frame.dynamic_shared = launch.shared_bytes;
    frame.launch = &state;
    frame.tick = reinterpret_cast<const uint32_t*>(&interrupt::word());
    frame.asked = launch_asked;
    const interrupt::Scope scope(interrupt::Mode::run);
    choose_cluster(launch, frame.cluster);
    const size_t shared = round_up(size_t{facts.shared_bytes} + launch.shared_bytes, 128);
    if ((facts.grid_barriers & BC_JIT_CLUSTER) != 0) {
      run_clusters(special, frame, shared);
    } else if ((facts.grid_barriers & BC_JIT_SPINS) != 0) {
      run_waiting(special, frame, static_cast<int64_t>(blocks), shared);
    } else if (facts.grid_barriers != 0) {
      run_together(special, frame, static_cast<int64_t>(blocks), shared);
    } else {
      run(special, frame, static_cast<int64_t>(blocks), shared);
    }
    if (facts.prints != 0) std::fflush(stdout);
    if (state.interrupted.load(std::memory_order_relaxed)) throw Interrupted{};
    if (state.phase.load() != 0) raise(ErrorKind::Runtime, "kernel {}: {}", name_, state.message);
    if (!state.children.empty() || !state.tail.empty()) [[unlikely]]
      run_children(state);
  }

  int attribute(int number) const override {
    switch (number) {
      case kMaxThreadsPerBlock: return kMaxThreads;
      case kSharedBytes: return static_cast<int>(any_facts().user_shared);
      case kLocalBytes: return static_cast<int>(any_facts().local_bytes);
      case kPtxVersion:
      case kBinaryVersion: return 90;
      case kMaxDynamicShared: return max_dynamic_.load();
      default: return 0;
    }
  }
  void set_attribute(int number, int value) override {
    if (number == kMaxDynamicShared) {
      BC_CHECK(value >= 0 && value <= static_cast<int>(kMaxShared), Value, "kernel {}: {} is no value for attribute {}", name_, value,
               number);
      max_dynamic_.store(value);
    }
  }
  int max_active_blocks(int block_threads, size_t shared_bytes) const override {
    if (block_threads <= 0 || block_threads > static_cast<int>(kMaxThreads) || shared_bytes > kMaxShared) return 0;
    const auto by_shared = shared_bytes == 0 ? size_t{32} : kMaxShared / shared_bytes;
    return static_cast<int>(std::min<size_t>({32, by_shared, static_cast<size_t>(kMultiprocessorThreads / block_threads)}));
  }
  std::pair<int, int> best_block(size_t) const override { return {thread_count() * 8, 256}; }

 private:
  static bool interrupted(const bc_jit_frame& frame) {
    return static_cast<const LaunchState*>(frame.launch)->interrupted.load(std::memory_order_relaxed);
  }

  static void run(Special& special, bc_jit_frame& frame, int64_t blocks, size_t shared) {
    const Entry entry = special.entry;
    const size_t context = round_up(special.facts.context_bytes, 128);
    const auto part = [&](int64_t first, int64_t last) {
      thread_local Scratch scratch;
      char* memory = scratch.take(shared + context + 128);
      if (interrupted(frame)) return;
      entry(&frame, first, last, memory, memory + shared);
    };
    // Pieces take at least 20 us, and there are enough of them that the threads end at about the same time.
    const int64_t each = special.block_nanoseconds.load(std::memory_order_relaxed);
    if (each == 0) {
      const auto start = std::chrono::steady_clock::now();
      part(0, 1);
      const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
      special.block_nanoseconds.store(std::max<int64_t>(1, taken), std::memory_order_relaxed);
      if (blocks == 1) return;
      frame_rest(special, blocks, part, std::max<int64_t>(1, taken));
      return;
    }
    const int64_t grain = grain_for(blocks, each);
    if (grain >= blocks) {
      part(0, blocks);
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    parallel_for(blocks, grain, part);
    note(special, start, blocks);
  }

  template <class Part>
  static void frame_rest(Special&, int64_t blocks, const Part& part, int64_t each) {
    const int64_t rest = blocks - 1, grain = grain_for(rest, each);
    parallel_for(rest, grain, [&](int64_t first, int64_t last) { part(first + 1, last + 1); });
  }

  static int64_t grain_for(int64_t blocks, int64_t each) {
    constexpr int64_t kPiece = 20000;
    const int64_t threads = thread_count();
    if (threads == 1 || blocks * each <= kPiece) return blocks;
    const int64_t least = std::max<int64_t>(1, kPiece / each);
    return std::max<int64_t>(least, blocks / (threads * 16));
  }

  static void note(Special& special, std::chrono::steady_clock::time_point start, int64_t blocks) {
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    const int64_t before = special.block_nanoseconds.load(std::memory_order_relaxed);
    const int64_t now = taken * thread_count() / blocks;
    special.block_nanoseconds.store(std::max<int64_t>(1, (3 * before + now) / 4), std::memory_order_relaxed);
  }

  /// Runs blocks that wait for each other at grid barriers: each block has its own memory, and the blocks run in turn up to the next
  /// barrier.
  void run_together(Special& special, bc_jit_frame& frame, int64_t blocks, size_t shared) const {
    const size_t context = round_up(special.facts.context_bytes, 128), all = static_cast<size_t>(blocks) * (shared + context);
    const Mapping memory(all, name_);
    char* const contexts = memory.begin();
    char* const shares = contexts + static_cast<size_t>(blocks) * context;
    frame.shared_stride = shared;
    frame.context_stride = context;
    std::atomic<int64_t> waiting{1};
    const int64_t grain = std::max<int64_t>(1, blocks / (thread_count() * 4));
    while (waiting.exchange(0) != 0 && !interrupted(frame)) {
      interrupt::poll();
      parallel_for(blocks, grain, [&](int64_t first, int64_t last) {
        if (interrupted(frame)) return;
        const int64_t left = special.entry(&frame, first, last, shares + static_cast<size_t>(first) * shared,
                                           contexts + static_cast<size_t>(first) * context);
        if (left != 0) waiting.fetch_add(left);
      });
    }
  }

  /// Runs blocks that wait for each other in loops. As many blocks as there is memory for are started in order; waiting blocks take turns,
  /// and when a block ends, the next block gets its memory.
  void run_waiting(Special& special, bc_jit_frame& frame, int64_t blocks, size_t shared) const {
    constexpr size_t kRoom = size_t{1} << 28;
    constexpr int64_t kLeast = 1024;  // more resident blocks than any GPU has
    const size_t context = round_up(special.facts.context_bytes, 128), each = shared + context;
    const bool whole_grid = (special.facts.grid_barriers & BC_JIT_GRID) != 0;
    const int64_t places = whole_grid ? blocks : std::min(blocks, std::max<int64_t>(kLeast, static_cast<int64_t>(kRoom / each)));
    const Mapping memory(static_cast<size_t>(places) * each, name_);
    struct Place {
      int64_t block;
      bool at_grid = false;
    };
    std::vector<Place> taken(static_cast<size_t>(places));
    for (int64_t i = 0; i < places; ++i) taken[static_cast<size_t>(i)].block = i;
    std::atomic<int64_t> next{places};
    const int64_t grain = std::max<int64_t>(1, places / (thread_count() * 4));
    for (bool release_grid = false;;) {
      interrupt::poll();  // one block's waiting loop comes here at each turn, and asks nobody itself
      std::atomic<int64_t> waiting{0}, at_grid{0};
      parallel_for(places, grain, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          Place& place = taken[static_cast<size_t>(i)];
          char* const own = memory.begin() + static_cast<size_t>(i) * each;
          while (place.block < blocks && (release_grid || !place.at_grid)) {
            if (interrupted(frame)) return;
            if (special.entry(&frame, place.block, place.block + 1, own + context, own) != 0) {
              uint32_t waits = 0;
              std::memcpy(&waits, own, sizeof waits);
              place.at_grid = (waits & BC_JIT_SPINS) == 0;
              break;
            }
            place = {next.fetch_add(1)};
            std::memset(own, 0, 64);
          }
          if (place.block < blocks) (place.at_grid ? at_grid : waiting).fetch_add(1);
        }
      });
      if (interrupted(frame) || (waiting.load() == 0 && at_grid.load() == 0)) return;
      // A grid barrier opens when all blocks have reached it.
      release_grid = waiting.load() == 0;
    }
  }

  void choose_cluster(const KernelLaunch& launch, uint32_t* dims) const {
    const unsigned* wanted = launch.cluster[0] != 0 ? launch.cluster : cluster_;
    std::fill_n(dims, 3, 1u);
    if (wanted[0] == 0) return;
    std::copy_n(wanted, 3, dims);
    for (int d = 0; d < 3; ++d)
      BC_CHECK(wanted[d] != 0 && launch.grid[d] % wanted[d] == 0, Value,
               "kernel {}: expected a grid that is a multiple of the cluster, got grid {} and cluster {}", name_, shape(launch.grid),
               shape(wanted));
    BC_CHECK(uint64_t{wanted[0]} * wanted[1] * wanted[2] <= kMaxCluster, Value, "kernel {}: a cluster can have {} blocks, got {}", name_,
             kMaxCluster, shape(wanted));
  }

  /// The blocks of a cluster, which take turns on one thread up to the cluster's next barrier. Each block has its own memory; these are
  /// adjacent.
  struct Cluster {
    int64_t number = 0;
    uint32_t turn = 0;                     ///< a bit for each block that runs in the next turn
    uint32_t at_cluster = 0, at_grid = 0;  ///< a bit for each block that waits at the barrier
    bool spins = false;                    ///< the blocks of `turn` wait in loops
    bool ended() const { return turn == 0 && at_grid == 0; }
  };

  /// Continues each block of `c.turn` once. The cluster's barrier stays closed while blocks wait for others in loops.
  static void run_turn(Special& special, bc_jit_frame& frame, Cluster& c, size_t shared, size_t context, char* memory) {
    const uint32_t* const in = frame.cluster;
    const uint32_t size = in[0] * in[1] * in[2], columns = frame.grid[0] / in[0], rows = frame.grid[1] / in[1];
    const auto x = static_cast<uint32_t>(c.number % columns), y = static_cast<uint32_t>(c.number / columns % rows),
               z = static_cast<uint32_t>(c.number / columns / rows);
    uint32_t spins = 0;
    for (uint32_t b = 0; b < size; ++b) {
      if ((c.turn >> b & 1u) == 0) continue;
      const int64_t bx = x * in[0] + b % in[0], by = y * in[1] + b / in[0] % in[1], bz = z * in[2] + b / in[0] / in[1];
      const int64_t block = (bz * frame.grid[1] + by) * frame.grid[0] + bx;
      char* const own = memory + size * shared + b * context;
      if (special.entry(&frame, block, block + 1, memory + b * shared, own) == 0) continue;
      uint32_t waits = 0;
      std::memcpy(&waits, own, sizeof waits);
      ((waits & BC_JIT_SPINS) != 0 ? spins : (waits & BC_JIT_WAITS_FOR_CLUSTER) != 0 ? c.at_cluster : c.at_grid) |= 1u << b;
    }
    c.spins = spins != 0;
    c.turn = c.spins ? spins : std::exchange(c.at_cluster, 0);
  }

  /// Runs blocks in clusters. If blocks wait in loops or for the grid, as many clusters as there is memory for are started and take turns,
  /// like the blocks of run_waiting. Otherwise each thread runs one cluster after the other.
  void run_clusters(Special& special, bc_jit_frame& frame, size_t shared) const {
    constexpr size_t kRoom = size_t{1} << 28;
    constexpr int64_t kLeast = 256;  // more resident blocks than any GPU has
    const size_t context = round_up(special.facts.context_bytes, 128);
    const uint32_t* const in = frame.cluster;
    const uint32_t size = in[0] * in[1] * in[2];
    const int64_t clusters = int64_t{frame.grid[0] / in[0]} * (frame.grid[1] / in[1]) * (frame.grid[2] / in[2]);
    const bool whole_grid = (special.facts.grid_barriers & BC_JIT_GRID) != 0;
    const bool waiting_loops = (special.facts.grid_barriers & BC_JIT_SPINS) != 0;
    const size_t bytes = size * (shared + context);  // of a cluster
    const uint32_t all = (1u << size) - 1;
    frame.shared_stride = shared;
    const auto begin = [&](Cluster& c, int64_t number, char* memory) {
      c = {number, number < clusters ? all : 0};
      for (uint32_t b = 0; b < size && context != 0; ++b) std::memset(memory + size * shared + b * context, 0, 64);
    };
    if (!whole_grid && !waiting_loops) {
      parallel_for(clusters, std::max<int64_t>(1, clusters / (thread_count() * 8)), [&](int64_t first, int64_t last) {
        Scratch scratch;
        char* const memory = scratch.take(bytes + 128);
        for (int64_t number = first; number < last; ++number) {
          Cluster c;
          begin(c, number, memory);
          while (c.turn != 0 && !interrupted(frame)) run_turn(special, frame, c, shared, context, memory);
        }
      });
      return;
    }
    const int64_t places =
        whole_grid ? clusters : std::min(clusters, std::max<int64_t>(kLeast, static_cast<int64_t>(kRoom / std::max<size_t>(bytes, 1))));
    const Mapping memory(static_cast<size_t>(places) * bytes, name_);
    const auto memory_of = [&](int64_t place) { return memory.begin() + static_cast<size_t>(place) * bytes; };
    std::vector<Cluster> taken(static_cast<size_t>(places));
    for (int64_t i = 0; i < places; ++i) begin(taken[static_cast<size_t>(i)], i, memory_of(i));
    std::atomic<int64_t> next{places};
    const int64_t grain = std::max<int64_t>(1, places / (thread_count() * 4));
    for (;;) {
      interrupt::poll();
      std::atomic<int64_t> spinning{0}, at_grid{0};
      parallel_for(places, grain, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          Cluster& c = taken[static_cast<size_t>(i)];
          c.spins = false;
          while (c.turn != 0 && !c.spins) {
            if (interrupted(frame)) return;
            run_turn(special, frame, c, shared, context, memory_of(i));
            if (c.ended()) begin(c, next.fetch_add(1), memory_of(i));
          }
          if (c.turn != 0)
            spinning.fetch_add(1);
          else if (c.at_grid != 0)
            at_grid.fetch_add(1);
        }
      });
      if (interrupted(frame) || (spinning.load() == 0 && at_grid.load() == 0)) return;
      // A grid barrier opens when all blocks have reached it.
      if (spinning.load() == 0)
        for (Cluster& c : taken) c.turn = std::exchange(c.at_grid, 0);
    }
  }

  static void run_children(LaunchState& state);
  void record_launch(const KernelLaunch& launch, void** arguments, Stream stream);

  [[noreturn]] void refuse(const KernelLaunch& l) const {
    const uint64_t threads = uint64_t{l.block[0]} * l.block[1] * l.block[2];
    BC_CHECK(threads != 0 && uint64_t{l.grid[0]} * l.grid[1] * l.grid[2] != 0, Value,
             "kernel {}: expected a grid and a block without zeros, got grid {} and block {}", name_, shape(l.grid), shape(l.block));
    BC_CHECK(threads <= kMaxThreads, Value, "kernel {}: a block can have {} threads, got block {} with {}", name_, kMaxThreads,
             shape(l.block), threads);
    raise(ErrorKind::Value,
          "kernel {}: expected a grid of at most (2147483647, 65535, 65535) blocks and a block of at most (1024, 1024, 64) threads, got "
          "grid {} and block {}",
          name_, shape(l.grid), shape(l.block));
  }

  Special& special_for(const unsigned* block) {
    const uint64_t key = uint64_t{block[0]} << 32 | uint64_t{block[1]} << 16 | block[2];
    // Most launches have the same shape as the previous one.
    const Recent* recent = recent_.load(std::memory_order_acquire);
    if (recent != nullptr && recent->key == key) [[likely]]
      return *recent->special;
    const std::lock_guard lock(mutex_);
    auto& place = specials_[key];
    if (place == nullptr) {
      auto recent_made = std::make_unique<Recent>();
      recent_made->special = compile(block);
      recent_made->key = key;
      place = std::move(recent_made);
    }
    recent_.store(place.get(), std::memory_order_release);
    return *place->special;
  }

  std::unique_ptr<Special> compile(const unsigned* block) {
    JitLibrary& library = JitLibrary::get();
    const std::string key = fmt::format("{} {} {} {} {}", to_string(program_->digest), symbol_, block[0], block[1], block[2]);
    const CachedBinary cached = kernel_cache_binary(
        program_->target, digest(key.data(), key.size()),
        [&library, program = program_, symbol = symbol_, dims = std::array<uint32_t, 3>{block[0], block[1], block[2]}]() -> CachedBinary {
          bc_jit_kernel facts{};
          std::vector<char> object = library.specialise(program->bitcode, symbol, dims.data(), program->flags, facts);
          return {std::move(object),
                  {fmt::format("{} {} {} {} {} {}", facts.shared_bytes, facts.user_shared, facts.local_bytes, facts.grid_barriers,
                               facts.prints, facts.context_bytes)}};
        });
    auto special = std::make_unique<Special>(library.load(cached.bytes, program_->data.get()));
    unsigned long long context = 0;
    BC_CHECK(cached.names.size() == 1 &&
                 std::sscanf(cached.names[0].c_str(), "%u %u %u %u %u %llu", &special->facts.shared_bytes, &special->facts.user_shared,
                             &special->facts.local_bytes, &special->facts.grid_barriers, &special->facts.prints, &context) == 6,
             Runtime, "kernel {}: the cache's entry is not one of a kernel", name_);
    special->facts.context_bytes = context;
    special->entry = reinterpret_cast<Entry>(library.symbol(special->object, "bc_entry"));
    BC_CHECK(special->entry != nullptr, Runtime, "kernel {}: its object has no entry", name_);
    return special;
  }

  /// The facts for the last shape used, or for a default shape.
  bc_jit_kernel any_facts() const {
    if (const Recent* recent = recent_.load(std::memory_order_acquire)) return recent->special->facts;
    const unsigned block[3] = {256, 1, 1};
    return const_cast<CpuProgramKernel*>(this)->special_for(block).facts;
  }

  struct Recent {
    uint64_t key = 0;
    std::unique_ptr<Special> special;
  };

  const std::shared_ptr<Loaded> program_;
  const std::string symbol_, name_;
  const std::vector<uint32_t> parameters_;
  unsigned cluster_[3];
  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Recent>> specials_;
  std::atomic<const Recent*> recent_{nullptr};
  std::atomic<int> max_dynamic_{48 << 10};
};

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

class CpuProgram final : public Program, public std::enable_shared_from_this<CpuProgram> {
 public:
  CpuProgram(std::shared_ptr<Loaded> loaded, std::vector<std::string> expressions, const std::string& manifest)
      : loaded_(std::move(loaded)), expressions_(std::move(expressions)), lowered_(expressions_.size()) {
    loaded_->owner = this;
    for (const std::string& line : split(manifest, '\n')) {
      const std::vector<std::string> fields = split(line, '\t');
      if (fields[0] == "kernel" && fields.size() == 5) {
        KernelFacts facts{fields[1], fields[2], {}};
        if (!fields[3].empty()) {
          for (const std::string& one : split(fields[3], ',')) facts.parameters.push_back(static_cast<uint32_t>(std::stoul(one)));
        }
        if (!fields[4].empty()) {
          std::fill_n(facts.cluster, 3, 1u);
          const std::vector<std::string> dims = split(fields[4], ',');
          for (size_t d = 0; d < std::min<size_t>(3, dims.size()); ++d) facts.cluster[d] = static_cast<unsigned>(std::stoul(dims[d]));
        }
        kernels_.push_back({std::move(facts), nullptr});
      } else if (fields[0] == "variable" && fields.size() == 4) {
        variables_.push_back({fields[1], fields[2], std::stoull(fields[3])});
      } else if (fields[0] == "name" && fields.size() == 3) {
        lowered_.at(std::stoull(fields[1])) = fields[2];
      }
    }
  }

  ProgramKernel& kernel(std::string_view name, std::string_view shown) override {
    const std::lock_guard lock(mutex_);
    const std::string symbol = lowered(name);
    Kernel* found = find(symbol);
    if (found == nullptr) {
      // Without extern "C" the symbol is mangled; if only one kernel has this plain name, it is taken.
      int count = 0;
      for (Kernel& kernel : kernels_) {
        if (kernel.facts.name != name) continue;
        found = &kernel;
        ++count;
      }
      if (count != 1) found = nullptr;
    }
    if (found == nullptr) {
      std::vector<std::string> known = expressions_;
      for (const Kernel& kernel : kernels_) {
        if (std::find(lowered_.begin(), lowered_.end(), kernel.facts.symbol) == lowered_.end()) known.push_back(kernel.facts.name);
      }
      raise(ErrorKind::Attribute, "{}: there is no kernel '{}'; the program has {}", loaded_->name, name,
            known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    if (found->made == nullptr) found->facts.name = shown.empty() ? name : shown;  // the name that the user gave
    return made(*found);
  }

  /// The kernel that another kernel launches by its symbol.
  CpuProgramKernel& kernel_of(const std::string& symbol) {
    const std::lock_guard lock(mutex_);
    return made(*find(symbol));
  }
  /// The sizes of its parameters.
  std::span<const uint32_t> parameters_of(std::string_view symbol) const {
    for (const Kernel& kernel : kernels_) {
      if (kernel.facts.symbol == symbol) return kernel.facts.parameters;
    }
    return {};
  }

  std::pair<void*, size_t> variable(std::string_view name) override {
    const std::string symbol = lowered(name);
    for (const Variable& variable : variables_) {
      if (variable.symbol != symbol && variable.name != symbol) continue;
      if (void* address = JitLibrary::get().symbol(loaded_->data, variable.symbol)) return {address, variable.bytes};
    }
    raise(ErrorKind::Attribute,
          "{}: there is no __device__ or __constant__ variable '{}'; one in a namespace or of a template needs a name expression",
          loaded_->name, name);
  }

  const std::string& log() const override { return log_; }

 private:
  struct Kernel {
    KernelFacts facts;
    std::unique_ptr<CpuProgramKernel> made;
  };
  Kernel* find(std::string_view symbol) {
    for (Kernel& kernel : kernels_) {
      if (kernel.facts.symbol == symbol) return &kernel;
    }
    return nullptr;
  }
  CpuProgramKernel& made(Kernel& kernel) {
    if (kernel.made == nullptr) kernel.made = std::make_unique<CpuProgramKernel>(loaded_, kernel.facts);
    return *kernel.made;
  }
  struct Variable {
    std::string symbol, name;
    size_t bytes;
  };

  std::string lowered(std::string_view name) const {
    for (size_t i = 0; i < expressions_.size(); ++i) {
      const std::string& known = expressions_[i];
      if (known == name || (known.starts_with('&') && std::string_view(known).substr(1) == name)) return lowered_[i];
    }
    return std::string(name);
  }

  const std::shared_ptr<Loaded> loaded_;
  const std::vector<std::string> expressions_;
  std::vector<std::string> lowered_;
  std::vector<Kernel> kernels_;
  std::vector<Variable> variables_;
  const std::string log_;
  std::mutex mutex_;
};

/// Queues a launch with the shape from note_child_shape. It runs after the launching grid has ended, which the kernel cannot distinguish
/// from an earlier run.
void note_child(LaunchState* state, const char* symbol, void** arguments) {
  Child child{symbol, child_shape.shape, Arguments(state->program->parameters_of(symbol), arguments)};
  const std::lock_guard lock(state->mutex);
  (child_shape.tail ? state->tail : state->children).push_back(std::move(child));
}

/// Runs the launches that the kernel has queued; a launch is done only when these are done.
void CpuProgramKernel::run_children(LaunchState& state) {
  for (std::vector<Child>* queue : {&state.children, &state.tail}) {
    for (Child& child : *queue) {
      CpuProgramKernel& kernel = const_cast<CpuProgram*>(state.program)->kernel_of(child.symbol);
      kernel.launch(child.shape, child.arguments.pointers().data(), {});
    }
  }
}

void CpuProgramKernel::record_launch(const KernelLaunch& launch, void** arguments, Stream stream) {
  record(stream, [this, program = program_->owner->shared_from_this(), launch, kept = Arguments(parameters_, arguments)] {
    this->launch(launch, kept.pointers().data(), {});
  });
}

bc_jit_flags flags_of(const ProgramSource& source) {
  bc_jit_flags flags{3, 1, 0, 1};
  for (const std::string& option : source.options) {
    if (option == "--use_fast_math" || option == "-use_fast_math") flags.fast_math = 2;
    if (option.ends_with("-fmad=false")) flags.contract = 0;
  }
  return flags;
}

JitLibrary::Parsed parse_text(const ProgramSource& source, std::string_view text, const bc_jit_flags& flags) {
  std::vector<const char*> options, headers, names;
  for (const std::string& option : source.options) options.push_back(option.c_str());
  for (const auto& [name, text] : source.headers) {
    headers.push_back(name.c_str());
    headers.push_back(text.c_str());
  }
  for (const auto& [name, text] : program_headers()) {
    const bool own = std::any_of(source.headers.begin(), source.headers.end(), [&](const auto& header) { return header.first == name; });
    if (own) continue;
    headers.push_back(name);
    headers.push_back(text);
  }
  for (const std::string& name : source.name_expressions) names.push_back(name.c_str());
  bc_jit_program_source from{};
  from.text = text.data();
  from.text_size = text.size();
  from.name = source.name.c_str();
  from.options = options.data();
  from.option_count = options.size();
  from.headers = headers.data();
  from.header_count = headers.size() / 2;
  from.names = names.data();
  from.name_count = names.size();
  return JitLibrary::get().parse(from, flags);
}

JitLibrary::Parsed parse(const ProgramSource& source, const bc_jit_flags& flags) {
  BC_CHECK(source.binary.empty(), NotImplemented, "kernel: {} is machine code for a GPU; the CPU runs CUDA C++ text", source.name);
  if (!source.linked.empty()) {
    const LinkedCode& code = source.linked[0];
    raise(ErrorKind::NotImplemented,
          "kernel: {} is {}, machine code for a GPU; on the CPU kernels are linked with CUDA C++ (a .cu file or cuda.CUSource)", code.name,
          code.kind);
  }
  if (source.library_bytes == 0) return parse_text(source, source.text, flags);
  const std::string_view library = std::string_view(source.text).substr(0, source.library_bytes);
  const std::string_view own = std::string_view(source.text).substr(source.library_bytes);
  try {
    const std::string part = library_part_for(LibraryTarget::Cpu, {&own, 1}, library);
    return parse_text(source, part + "#line 1 \"kernel\"\n" + std::string(own), flags);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Compile) throw;
    return parse_text(source, source.text, flags);  // compiled with the whole library, so that the messages are correct
  }
}

}  // namespace

std::shared_ptr<Program> open_program(const ProgramSource& source) {
  JitLibrary& library = JitLibrary::get();
  static const Hash128 prelude = [] {
    Hasher hasher;
    hasher.add({kDeviceLibrary, kDeviceLibrarySize}).add({kCudaLibrary, kCudaLibrarySize});
    for (const auto& [name, text] : program_headers()) hasher.add(std::string_view(name)).add(std::string_view(text));
    return hasher.finish();
  }();
  auto loaded = std::make_shared<Loaded>();
  loaded->name = source.name;
  loaded->flags = flags_of(source);
  loaded->digest = source.digest();
  loaded->target = fmt::format("cpu program {} {}", library.target(loaded->flags), to_string(prelude));
  CachedBinary cached = kernel_cache_binary(loaded->target, loaded->digest, [source, flags = loaded->flags]() -> CachedBinary {
    JitLibrary::Parsed parsed = parse(source, flags);
    CachedBinary made;
    made.names = {parsed.manifest, std::to_string(parsed.bitcode.size())};
    made.bytes = std::move(parsed.bitcode);
    made.bytes.insert(made.bytes.end(), parsed.data.begin(), parsed.data.end());
    return made;
  });
  BC_CHECK(cached.names.size() == 2, Runtime, "{}: the cache's entry is not one of a program", source.name);
  const size_t size = std::min<size_t>(std::stoull(cached.names[1]), cached.bytes.size());
  if (size < cached.bytes.size())
    loaded->data = library.load(std::span<const char>(cached.bytes).subspan(size), nullptr, /*with_support=*/true);
  cached.bytes.resize(size);
  loaded->bitcode = std::move(cached.bytes);
  return std::make_shared<CpuProgram>(std::move(loaded), source.name_expressions, cached.names[0]);
}

}  // namespace bc::cpu
