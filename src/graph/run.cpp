// Runs plans: allocates the outputs, fills in addresses and constants, launches kernels, and releases values that are no longer read.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/kernel_cache.h"
#include "graph/config.h"
#include "graph/plan.h"
#include "graph/tape.h"
#include "runtime/copy_kind.h"
#include "runtime/interrupt.h"
#include "runtime/parallel.h"
#include "runtime/pool.h"
#include "runtime/profiler.h"

namespace bc {
namespace {

// A step of fewer than kSmallStep elements is compiled only after kSmallRuns runs.
constexpr int64_t kSmallStep = 2048;
constexpr int kSmallRuns = 64;
// A step of fewer elements does not wait until the compiler is open, and is compiled only after it has taken kWorthCompiling nanoseconds.
constexpr int64_t kMediumStep = int64_t{1} << 18;
constexpr int64_t kWorthCompiling = 2'000'000;
// Below this many elements, a quickly compiled kernel loses less time than its quick compile saves.
constexpr int64_t kQuickElements = int64_t{1} << 29;
// Above this many elements per thread, the built-in loops would lose more time than a compile takes.
constexpr int64_t kLargeStep = int64_t{4} << 20;

[[noreturn]] void raise_index_error(const char* file, int line) {
  if (file) raise(ErrorKind::Index, "index out of bounds, in an operation recorded at {}:{}", file, line);
  raise(ErrorKind::Index, "index is out of bounds for the axis that it indexes");
}

/// A kernel's parameter block; up to kInside words need no heap memory.
class Parameters {
 public:
  void assign(const std::vector<int64_t>& from) {
    size_ = from.size();
    if (size_ > kInside) more_.resize(size_);
    std::copy(from.begin(), from.end(), data());
  }
  int64_t* data() { return size_ > kInside ? more_.data() : inside_; }
  int64_t& operator[](int at) { return data()[at]; }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kInside = 64;
  size_t size_ = 0;
  int64_t inside_[kInside];
  std::vector<int64_t> more_;
};

/// A step's field that several flushes may use at the same time.
template <class T>
std::atomic_ref<T> shared(T& field) {
  return std::atomic_ref<T>(field);
}

/// Adds to a count that need not be exact when flushes add at the same time: an atomic addition takes longer.
template <class T>
void add(T& field, T more) {
  shared(field).store(shared(field).load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// The built-in loops of a step, made at their first use.
const Tier0Program& loops_of(Step& step) {
  static constinit std::mutex making;
  if (const Tier0Program* made = shared(step.loops).load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(making);
  if (!step.tier0) {
    step.tier0 = std::make_shared<const Tier0Program>(step.ir);
    shared(step.loops).store(step.tier0.get(), std::memory_order_release);
  }
  return *step.tier0;
}

class Runner {
 public:
  Runner(Plan& plan, Slots& slots, Tape& tape, bool apart)
      : plan_(plan),
        slots_(slots),
        tape_(tape),
        device_(tape.device()),
        stream_(tape.stream()),
        backend_(backend(device_)),
        ordered_(many_streams()),
        apart_(apart) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void run() {
    const CurrentDevice current(backend_);  // once for all driver calls of the run
    std::optional<TapeUnlock> unlocked;
    Step* at = nullptr;
    try {
      begin();
      if (apart_) unlocked.emplace(tape_);
      request_kernels();
      for (Step& step : plan_.steps) run_step(*(at = &step));
    } catch (const Error& error) {
      unlocked.reset();
      mark_nodes(at, error.kind() == ErrorKind::Index);
      throw;
    } catch (...) {
      unlocked.reset();
      mark_nodes(at, false);
      throw;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Whether a step may write to the memory of an older value, by what was known when the nodes were taken: later nobody but this flush can
  /// reach a value that only its nodes referred to.
  enum class Writable : char { no, yes, exposed };

  /// Called with the lock held, before the first step: waits for values of other streams, makes the temporaries, and looks who refers to
  /// values that steps overwrite.
  void begin() {
    if (ordered_) [[unlikely]] {
      // The plan is one submission: it waits for all values that it reads before its first step.
      for (const Ref<Node>& n : slots_.nodes)
        if (n->buffer) use(*n->buffer, false);
    }
    const size_t given = slots_.nodes.size();
    for (const Plan::Temporary& t : plan_.temporaries) {
      Ref<Node> node(new Node);
      node->dtype = t.dtype;
      node->device = device_;
      node->shape = t.shape;
      node->size = product(t.shape);
      slots_.nodes.push_back(std::move(node));
    }
    slots_.buffers.resize(slots_.nodes.size());
    for (size_t i = static_cast<size_t>(plan_.pending); i < given; ++i)
      if (const Node& n = *slots_.nodes[i]; n.op == Op::constant) slots_.buffers[i] = n.buffer;
    for (const Step& step : plan_.steps) {
      for (const auto& [slot, from] : step.take) note_writable(from);
      if (step.donor >= 0) note_writable(step.donor);
    }
  }

  /// What memory_of() says of a slot before the first step. The steps of a chain of stores each ask for the one before, whose answer is
  /// kept: walking the chain for each would take the square of its length.
  const Buffer* memory_before(int slot) {
    origins_.resize(slots_.nodes.size());
    const Node* at = slots_.nodes[slot].get();
    const Buffer* found = nullptr;
    while (!(found = at->buffer.get()) && writes_in_place(*at) && at->in.size() > 0) {
      at = at->in[0].node.get();
      if (at->slot >= origins_.size() || slots_.nodes[at->slot].get() != at || !origins_[at->slot]) continue;
      found = *origins_[at->slot];
      break;
    }
    origins_[slot] = found;
    return found;
  }

  void note_writable(int slot) {
    writable_.resize(slots_.nodes.size());
    const Buffer* const memory = memory_before(slot);
    const Node& old = *slots_.nodes[slot];
    if (old.handles > 0) return;
    if (memory && memory->exposed) {
      writable_[slot] = Writable::exposed;
      return;
    }
    const bool mine =
        slot < plan_.pending ? !old.held : memory && memory->refs(std::memory_order_acquire) == 1 + kept(*memory) && sole(old);
    if (mine) writable_[slot] = Writable::yes;
  }

  /// Whether only nodes of this flush refer to a leaf, and the list of slots.
  bool sole(const Node& leaf) const {
    uint32_t readers = 1;
    for (int i = 0; i < plan_.pending; ++i)
      for (const Operand& o : slots_.nodes[i]->in) readers += o.node.get() == &leaf ? 1u : 0u;
    return leaf.refs(std::memory_order_acquire) == readers;
  }

  /// How many references a graph that is being captured keeps to a buffer.
  uint32_t kept(const Buffer& buffer) const { return tape_.capture() ? tape_.capture()->count(buffer) : 0; }

  /// A slot's memory; nullptr before it is allocated.
  const Ref<Buffer>& memory(int slot) const {
    const Ref<Buffer>& own = slots_.buffers[slot];
    return own ? own : slots_.nodes[slot]->buffer;
  }
  /// Lets go of the memory of a slot whose value nobody else can reach.
  void forget(int slot) {
    if (slots_.buffers[slot])
      slots_.buffers[slot] = Ref<Buffer>();
    else if (slot >= plan_.pending)
      slots_.nodes[slot]->buffer = Ref<Buffer>();
  }

  void run_step(Step& step) {
    interrupt::poll();
    // find_kernel may wait for the compiler; Ctrl-C can interrupt that wait.
    if (step.kind != Step::Kind::library && !step.launches.empty()) find_kernel(step);
    const bool donated = step.donor >= 0 && donate(step.allocate[0], step.donor);
    for (int slot : step.allocate) allocate(slot);
    for (const auto& [slot, from] : step.take) take(slot, from, step.take_copies);
    {
      // A step that overwrites another value is not interrupted.
      const interrupt::Scope scope(donated || !step.take.empty() ? interrupt::Mode::never : interrupt::Mode::look);
      if (step.kind == Step::Kind::library)
        run_library(step);
      else if (!step.launches.empty())
        run_kernel(step);
    }
    for (const auto& [slot, from] : step.take)
      if (memory(from) == memory(slot)) forget(from);
    if (donated) forget(step.donor);
    for (int slot : step.release) forget(slot);
  }

  template <class F>
  void for_outputs(const Step& step, F&& f) {
    for (int slot : step.allocate) f(slot);
    for (const auto& [slot, from] : step.take) f(slot);
  }

  /// Marks what the steps before the failing one computed. What the failing one should have computed loses its memory and is marked as
  /// failed, but for what an index out of range leaves alone: an array into which such indices store keeps its elements, as in NumPy, and a
  /// kernel computes all its outputs that do not depend on the indices.
  /// Where no step had begun, all have failed. Called with the lock held.
  void mark_nodes(const Step* failing, bool index_error) {
    for (const Ref<Node>& n : slots_.nodes) n->mark = failing ? 0 : kFailed;
    if (!failing) return;
    for (const Step& step : plan_.steps) {
      if (&step == failing) break;
      for_outputs(step, [&](int slot) { slots_.nodes[slot]->mark = kComputed; });
    }
    std::vector<char> indexed(slots_.nodes.size());
    for (int i = 0; index_error && i < plan_.pending; ++i) {
      const Node& n = *slots_.nodes[i];
      if (n.mark == kComputed) continue;
      indexed[i] = n.op == Op::gather;
      for (const Operand& o : n.in)
        if (o.node->running) indexed[i] |= indexed[o.node->slot];
    }
    const bool library = failing->kind == Step::Kind::library;
    for_outputs(*failing, [&](int slot) {
      const bool whole = index_error && slots_.buffers[slot] && (library ? !failing->take.empty() : !indexed[slot]);
      slots_.nodes[slot]->mark = whole ? kComputed : kFailed;
      if (!whole) slots_.buffers[slot] = Ref<Buffer>();
    });
  }

  void use(Buffer& buffer, bool write) {
    tape_.before(buffer, write);
    tape_.after(buffer, write);
  }

  void allocate(int slot) {
    const Node& node = *slots_.nodes[slot];
    Ref<Buffer>& buffer = slots_.buffers[slot];
    if (!buffer) buffer = Buffer::allocate(device_, static_cast<size_t>(node.size) * itemsize(node.dtype));
  }

  /// An in-place step writes to the old value's memory if no other reader needs the old value, else to a copy of it.
  void take(int slot, int from, bool copies) {
    const Ref<Buffer>& old = memory(from);
    const Writable may = copies ? Writable::no : writable_[from];
    if (may == Writable::exposed || (may == Writable::yes && old->refs() == 1 + kept(*old))) {
      if (ordered_) use(*old, true);
      slots_.buffers[slot] = old;  // the step still reads the old value from it; run_step() resets that afterwards
      return;
    }
    Ref<Buffer> own = Buffer::allocate(device_, old->bytes);
    backend_.copy(own->ptr, old->ptr, old->bytes, copy_kind(device_, device_), stream_);
    slots_.buffers[slot] = std::move(own);
  }

  /// Gives the input's memory to the result if only nodes of this flush refer to the input. Never in a capture: each launch of the graph
  /// would overwrite its own input.
  bool donate(int slot, int from) {
    if (writable_[from] != Writable::yes || slots_.buffers[slot] || tape_.capture()) return false;
    const Ref<Buffer>& old = memory(from);
    const Node& node = *slots_.nodes[slot];
    if (!old || old->refs() != 1 || old->exposed || old->release) return false;
    if (old->bytes != static_cast<size_t>(node.size) * itemsize(node.dtype)) return false;
    if (ordered_) use(*old, true);
    slots_.buffers[slot] = old;
    return true;
  }

  void run_library(Step& step) {
    Node& node = *slots_.nodes[step.library];
    LibraryExtra& extra = static_cast<LibraryExtra&>(*node.extra);
    std::vector<View> inputs;
    for (size_t k = extra.in_place ? 1 : 0; k < node.in.size(); ++k) {
      const Operand& o = node.in[k];
      const Dims& shape = extra.input_shapes[k];
      inputs.push_back({address(step.inputs[k]), o.dtype, {shape, o.identity ? contiguous_strides(shape) : o.strides, o.offset}});
    }
    const View output{memory(step.library)->ptr, node.dtype, extra.in_place ? extra.region : contiguous_layout(node.shape)};
    if (tape_.capture() && backend_.capturing(stream_) && traits(device_).on_host) [[unlikely]] {
      // A node's arguments are released after its run, but the graph runs them again, so it takes ownership.
      backend_.record(stream_, [kept = std::shared_ptr<Extra>(std::move(node.extra)), &extra, device = device_, inputs, output] {
        bc::run_library(extra, {device, {device}, inputs, output});
      });
      return;
    }
    const auto start = begin_timing();
    bc::run_library(extra, {device_, stream_, inputs, output});
    end_timing(step, start, &node);
  }

  /// The address of a slot's value. A constant is put into memory if it is in none.
  void* address(int slot) {
    if (slots_.nodes[slot]->op == Op::constant && !slots_.buffers[slot]) fill_constant(slot);
    return memory(slot)->ptr;
  }

  void fill_constant(int slot) {
    const Node& node = *slots_.nodes[slot];
    alignas(16) char bytes[16];
    node.value.store(node.dtype, bytes);
    const Ref<Buffer> buffer = Buffer::allocate(device_, 16);
    const size_t size = itemsize(node.dtype);
    const bool recorded = tape_.capture() && backend_.record(stream_, [node_bytes = std::to_array(bytes), to = buffer->ptr, size] {
      std::memcpy(to, node_bytes.data(), size);
    });
    if (!recorded) backend_.copy(buffer->ptr, bytes, size, copy_kind(device_, kHost), stream_);
    slots_.buffers[slot] = buffer;
  }

  /// Memory for a step's partial results, freed when the work that uses it is queued or the step has failed.
  class Partials {
   public:
    Partials(const Runner& r, size_t bytes) : device_(r.device_), stream_(r.stream_) {
      if (bytes == 0) return;
      if (r.tape_.capture())
        kept_ = Buffer::allocate(device_, bytes);  // a capture keeps what its kernels use
      else
        owned_ = pool_allocate(device_, bytes, stream_.native);
    }
    ~Partials() {
      if (owned_) pool_free(device_, owned_, stream_.native);
    }
    Partials(const Partials&) = delete;
    Partials& operator=(const Partials&) = delete;
    void* get() const { return kept_ ? kept_->ptr : owned_; }

   private:
    const Device device_;
    const Stream stream_;
    void* owned_ = nullptr;
    Ref<Buffer> kept_;
  };

  void find_kernel(Step& step) {
    on_tier0_ = false;
    kernel_ = shared(step.kernel).load(std::memory_order_acquire);
    if (kernel_ && !kernel_->quick.load(std::memory_order_acquire) && config().jit) return;
    choose_engine(step);
    if (kernel_) shared(step.kernel).store(kernel_, std::memory_order_release);
  }

  void run_kernel(Step& step) {
    parameters_.assign(step.parameters);
    for (const Step::Patch& patch : step.patches) {
      if (patch.kind == Step::Patch::Kind::constant) {
        slots_.nodes[patch.slot]->value.store(patch.dtype, &parameters_[patch.word]);
        continue;
      }
      parameters_[patch.word] = reinterpret_cast<int64_t>(address(patch.slot)) + patch.offset;
    }
    const ParamLayout p = param_layout(step.ir);
    const Partials partials(*this, step.partial_bytes);
    if (step.partial_bytes) parameters_[p.partials] = reinterpret_cast<int64_t>(partials.get());
    if (tape_.capture() && record_kernel(step, p)) [[unlikely]]
      return;
    uint32_t error = 0;
    const bool on_device = traits(device_).asynchronous;
    if (step.tickets) parameters_[p.tickets] = reinterpret_cast<int64_t>(tape_.tickets(step.tickets));
    if (step.ir.checked) {
      parameters_[p.error] = reinterpret_cast<int64_t>(on_device ? tape_.error_word() : &error);
      if (on_device) {
        StreamStatus& w = tape_.status;
        if (!w.watched) note_line(&w);
        w.watched = true;
      }
    }
    const auto start = begin_timing();
    if (on_tier0_) {
      run_tier0(step);
    } else {
      for (const Launch& launch : step.launches) {
        if (const LaunchObserver observe = launch_observer.load(std::memory_order_relaxed)) [[unlikely]]
          report_memory(observe, step, partials.get());
        backend_.launch(*kernel_, launch, parameters_.data(), parameters_.size() * sizeof(int64_t), stream_);
      }
    }
    end_timing(step, start, step.costliest >= 0 ? slots_.nodes[step.costliest].get() : first_output(step));
    if (error) {
      const Node* node = first_output(step);
      raise_index_error(node ? node->file : nullptr, node ? node->line : 0);
    }
  }

  /// Reports the memory that a step's kernel uses to the observer.
  void report_memory(LaunchObserver observe, const Step& step, const void* partials) {
    const auto written = [&](int slot) {
      if (std::find(step.allocate.begin(), step.allocate.end(), slot) != step.allocate.end()) return true;
      return std::any_of(step.take.begin(), step.take.end(), [&](const auto& t) { return t.first == slot; });
    };
    for (const Step::Patch& patch : step.patches)
      if (const Buffer* buffer = memory(patch.slot).get(); buffer && patch.kind != Step::Patch::Kind::constant)
        observe(buffer->ptr, buffer->bytes, written(patch.slot));
    if (partials) observe(partials, step.partial_bytes, true);
    if (step.tickets) observe(tape_.status.tickets, tape_.status.count * sizeof(uint32_t), true);
    if (step.ir.checked && tape_.status.error) observe(tape_.status.error, sizeof(uint32_t), true);
  }

  void run_tier0(Step& step) {
    const auto start = Clock::now();
    const int64_t* parameters = parameters_.data();
    for (const Launch& launch : step.launches) {
      cpu::parallel_for(launch.items, launch.grain, [&program = *loops_, entry = launch.entry, parameters](int64_t begin, int64_t end) {
        program.run(entry, parameters, begin, end);
      });
    }
    add(step.tier0_nanoseconds, std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  }

  /// Adds a step's launches to the graph being captured, on backends whose work is host calls.
  bool record_kernel(const Step& step, const ParamLayout& p) {
    const Node* node = first_output(step);
    return backend_.record(
        stream_, [&backend = backend_, kernel = on_tier0_ ? nullptr : kernel_, tier0 = step.tier0, launches = step.launches,
                  parameters = std::vector<int64_t>(parameters_.data(), parameters_.data() + parameters_.size()),
                  error_word = step.ir.checked ? p.error : -1, file = node ? node->file : nullptr, line = node ? node->line : 0]() mutable {
          uint32_t error = 0;
          if (error_word >= 0) parameters[static_cast<size_t>(error_word)] = reinterpret_cast<int64_t>(&error);
          for (const Launch& launch : launches) {
            if (kernel) {
              backend.launch(*kernel, launch, parameters.data(), parameters.size() * sizeof(int64_t), {backend.device()});
              continue;
            }
            cpu::parallel_for(launch.items, launch.grain,
                              [&](int64_t begin, int64_t end) { tier0->run(launch.entry, parameters.data(), begin, end); });
          }
          if (error) raise_index_error(file, line);
        });
  }

  /// Decides how to run a step without a final kernel: on the CPU small steps, and steps whose kernel is still being compiled, use the
  /// built-in loops.
  void choose_engine(Step& step) {
    const bool loops = Tier0Program::supported();
    if (step.ir.needs_compiler()) {
      compile_user_step(step);
      return;
    }
    if (traits(device_).on_host && loops) {
      const Config& c = config();
      // Even repeated runs of a small step take less time than its compile. A medium one takes less than to open the compiler, and is
      // compiled once the built-in loops have spent as long on it as a part of a compile takes: many programs run most of their kernels
      // once.
      const int runs = shared(step.tier0_runs).load(std::memory_order_relaxed);
      const bool small = step.elements < kSmallStep && runs < kSmallRuns;
      const bool medium = kSmallStep <= step.elements && step.elements < kMediumStep;
      const bool large = step.elements / cpu::thread_count() > kLargeStep;
      const bool only_loops = small || (step.elements < kMediumStep && !kernel_cache_opened(backend_));
      on_tier0_ = !c.jit || (c.background_compile && only_loops) || !backend_.can_compile();
      if (!on_tier0_ && c.background_compile && !large) {
        const auto text = [&] { return print(step.ir); };
        if (medium && shared(step.tier0_nanoseconds).load(std::memory_order_relaxed) < kWorthCompiling)
          kernel_ = runs == 0 ? kernel_cache_load(backend_, step.key, text) : kernel_cache_find(backend_, step.key);
        else
          kernel_ = kernel_cache_try(backend_, step.key, text, shared(step.tier0_nanoseconds).exchange(0, std::memory_order_relaxed));
        on_tier0_ = !kernel_;
      }
      if (on_tier0_) {
        loops_ = &loops_of(step);
        add(step.tier0_runs, 1);
        return;
      }
    }
    if (kernel_) {
      // A second run means that the kernel may run often, so the optimized code is requested. A graph keeps the code that was captured, so
      // a capture waits for it.
      const bool wait = tape_.capture() || !config().background_compile;
      if (kernel_->quick.load(std::memory_order_acquire)) kernel_cache_improve(*kernel_, wait);
      return;
    }
    kernel_ = &kernel_cache_get(backend_, step.key, [&] { return print(step.ir); }, quick(step));
  }

  bool quick(const Step& step) const { return config().background_compile && step.elements < kQuickElements && !tape_.capture(); }

  /// Lets the kernels for which steps would wait be compiled at the same time, while earlier steps run.
  void request_kernels() {
    const bool waits = traits(device_).asynchronous;  // elsewhere built-in loops run until the kernel is there
    bool first = true;
    for (Step& step : plan_.steps) {
      if (step.kind == Step::Kind::library || step.launches.empty() || shared(step.kernel).load() || !(waits || step.ir.needs_compiler()))
        continue;
      // The first kernel is compiled by this thread.
      if (!std::exchange(first, false) && backend_.can_compile())
        kernel_cache_request(backend_, step.key, [&] { return print(step.ir); }, quick(step));
    }
  }

  /// A kernel with users' functions has no built-in loops: it waits for the compiler. Compile errors are reported as errors in the user's
  /// text, unless all functions were printed from Python.
  void compile_user_step(Step& step) {
    if (kernel_) return;
    BC_CHECK(backend_.can_compile(), NotImplemented,
             "{}: kernels in C++ need the compiler for the CPU, which this build of broadcloth does not have", step.name);
    try {
      kernel_ = &kernel_cache_get(backend_, step.key, [&] { return print(step.ir); });
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::Runtime && e.kind() != ErrorKind::Compile) throw;
      const std::vector<Ref<UserOp>>& users = step.ir.users;
      if (std::all_of(users.begin(), users.end(), [](const Ref<UserOp>& u) { return u->printed; }))
        throw refused_print(e, fmt::format("  in {}, over arrays\n", users[0]->name));
      throw refused_text(e, users[0]->name);
    }
  }

  const Node* first_output(const Step& step) const {
    const int slot = !step.allocate.empty() ? step.allocate[0] : !step.take.empty() ? step.take[0].first : -1;
    return slot >= 0 ? slots_.nodes[slot].get() : nullptr;
  }
  void note_line(StreamStatus* w) const {
    w->file = nullptr;
    for (const Ref<Node>& n : slots_.nodes)
      if (n->op == Op::gather) {
        w->file = n->file;
        w->line = n->line;
        return;
      }
  }

  Clock::time_point begin_timing() {
    if (!profiling()) return {};
    backend_.synchronize(stream_);
    return Clock::now();
  }
  void end_timing(const Step& step, Clock::time_point start, const Node* node) {
    if (!profiling()) return;
    backend_.synchronize(stream_);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    profile_kernel({step.name, device_, step.elements, step.bytes, seconds, node ? node->line : 0, node && node->file ? node->file : "",
                    steady_seconds(start)});
  }

  Plan& plan_;
  Slots& slots_;
  Tape& tape_;
  const Device device_;
  const Stream stream_;
  Backend& backend_;
  const bool ordered_;  ///< more than one stream exists
  const bool apart_;
  std::vector<Writable> writable_;                     ///< by slot; empty where no step overwrites a value
  std::vector<std::optional<const Buffer*>> origins_;  ///< by slot: what memory_before() has found
  Parameters parameters_;
  // For the current step:
  LoadedKernel* kernel_ = nullptr;
  const Tier0Program* loops_ = nullptr;
  bool on_tier0_ = false;
};

}  // namespace

void run_plan(Plan& plan, Slots& slots, Tape& tape, bool apart) { Runner(plan, slots, tape, apart).run(); }

bool is_ready(Plan& plan) {
  return std::all_of(plan.steps.begin(), plan.steps.end(), [](Step& step) {
    return step.kind == Step::Kind::library || step.launches.empty() || shared(step.kernel).load(std::memory_order_relaxed) ||
           shared(step.loops).load(std::memory_order_relaxed);
  });
}

uint32_t* Tape::tickets(int64_t count) {
  if (status.count < count) {
    // Queued kernels may still use the old counters, so they are never freed. In a capture the counters belong to the graph, which zeroes
    // them in each launch.
    status.count = std::max<int64_t>(count, capture_ ? 1 << 10 : 1 << 16);
    const size_t bytes = static_cast<size_t>(status.count) * sizeof(uint32_t);
    status.tickets =
        static_cast<uint32_t*>(capture_ ? Buffer::allocate(device(), bytes)->ptr : pool_allocate(device(), bytes, stream_.native));
    backend(device()).fill(status.tickets, 0, bytes, stream_);
  }
  return status.tickets;
}

uint32_t* Tape::error_word() {
  if (!status.error) {
    status.error = static_cast<uint32_t*>(pool_allocate(device(), 256, stream_.native));
    backend(device()).fill(status.error, 0, 256, stream_);
  }
  return status.error;
}

void Tape::check_errors() {
  if (!traits(device()).asynchronous || capture_) return;
  const Stream by = unowned() ? default_tape(device()).stream() : stream_;
  const interrupt::Scope scope(interrupt::Mode::never);  // an error read from the device must be raised
  const auto check = [&](StreamStatus& w) {
    if (!w.watched) return;
    w.watched = false;
    uint32_t error = 0;
    backend(device()).copy(&error, w.error, sizeof(error), CopyKind::DeviceToHost, by);
    if (!error) return;
    backend(device()).fill(w.error, 0, sizeof(error), by);
    raise_index_error(w.file, w.line);
  };
  check(status);
  for (const std::vector<Tape*> origins = std::exchange(graphs_, {}); Tape * origin : origins) check(origin->status);
}

}  // namespace bc
