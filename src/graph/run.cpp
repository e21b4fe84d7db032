// Runs plans: allocates the outputs, fills in addresses and constants, launches kernels, and releases values that are no longer read.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
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

class Runner {
 public:
  Runner(Plan& plan, Slots& slots, Tape& tape)
      : plan_(plan),
        slots_(slots),
        tape_(tape),
        device_(tape.device()),
        stream_(tape.stream()),
        backend_(backend(device_)),
        ordered_(many_streams()) {}

  ~Runner() {
    for (const Ref<Node>& constant : captured_) constant->buffer = Ref<Buffer>();
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  void run() {
    const CurrentDevice current(backend_);  // once for all driver calls of the run
    try {
      prepare();
    } catch (...) {
      for (const Ref<Node>& n : slots_.nodes) n->mark = kFailed;
      throw;
    }
    for (Step& step : plan_.steps) {
      bool donated = false;
      try {
        interrupt::poll();
        // find_kernel may wait for the compiler; Ctrl-C can interrupt that wait.
        if (step.kind != Step::Kind::library && !step.launches.empty()) find_kernel(step);
        donated = step.donor >= 0 && donate(*slots_.nodes[step.allocate[0]], *slots_.nodes[step.donor]);
        for (int slot : step.allocate) allocate(*slots_.nodes[slot]);
        for (const auto& [slot, from] : step.take) take(*slots_.nodes[slot], *slots_.nodes[from], step.take_copies);
        // A step that overwrites another value is not interrupted.
        const interrupt::Scope scope(donated || !step.take.empty() ? interrupt::Mode::never : interrupt::Mode::look);
        if (step.kind == Step::Kind::library)
          run_library(step);
        else if (!step.launches.empty())
          run_kernel(step);
      } catch (const Error& error) {
        mark_nodes(step, error.kind() == ErrorKind::Index);
        throw;
      } catch (...) {
        mark_nodes(step, false);
        throw;
      }
      for (const auto& [slot, from] : step.take)
        if (slots_.nodes[from]->buffer == slots_.nodes[slot]->buffer) slots_.nodes[from]->buffer = Ref<Buffer>();
      if (donated) slots_.nodes[step.donor]->buffer = Ref<Buffer>();
      for (int slot : step.release) slots_.nodes[slot]->buffer = Ref<Buffer>();
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// Waits for values of other streams, makes the temporaries, and requests the kernels, before the first step.
  void prepare() {
    if (ordered_) [[unlikely]] {
      // The plan is one submission: it waits for all values that it reads before its first step.
      for (const Ref<Node>& n : slots_.nodes)
        if (n->buffer) use(*n->buffer, false);
    }
    for (const Plan::Temporary& t : plan_.temporaries) {
      Ref<Node> node(new Node);
      node->dtype = t.dtype;
      node->device = device_;
      node->shape = t.shape;
      node->size = product(t.shape);
      slots_.nodes.push_back(std::move(node));
    }
    request_kernels();
  }

  template <class F>
  void for_outputs(const Step& step, F&& f) {
    for (int slot : step.allocate) f(*slots_.nodes[slot]);
    for (const auto& [slot, from] : step.take) f(*slots_.nodes[slot]);
  }

  /// Marks what the steps before the failing one computed. What the failing one should have computed loses its memory and is marked as
  /// failed, but for what an index out of range leaves alone: an array into which such indices store keeps its elements, as in NumPy, and a
  /// kernel computes all its outputs that do not depend on the indices.
  void mark_nodes(const Step& failing, bool index_error) {
    for (const Ref<Node>& n : slots_.nodes) n->mark = 0;
    for (const Step& step : plan_.steps) {
      if (&step == &failing) break;
      for_outputs(step, [](Node& n) { n.mark = kComputed; });
    }
    std::vector<char> indexed(slots_.nodes.size());
    for (int i = 0; index_error && i < plan_.pending; ++i) {
      const Node& n = *slots_.nodes[i];
      if (n.mark == kComputed) continue;
      indexed[i] = n.op == Op::gather;
      for (const Operand& o : n.in) indexed[i] |= indexed[o.node->slot];
    }
    const bool library = failing.kind == Step::Kind::library;
    for_outputs(failing, [&](Node& n) {
      const bool whole = index_error && n.buffer && (library ? !failing.take.empty() : !indexed[n.slot]);
      n.mark = whole ? kComputed : kFailed;
      if (!whole) n.buffer = Ref<Buffer>();
    });
  }

  void use(Buffer& buffer, bool write) {
    tape_.before(buffer, write);
    tape_.after(buffer, write);
  }

  void allocate(Node& node) {
    if (!node.buffer) node.buffer = Buffer::allocate(device_, static_cast<size_t>(node.size) * itemsize(node.dtype));
  }

  /// An in-place step writes to the old value's memory if no other reader needs the old value, else to a copy of it.
  void take(Node& node, Node& old, bool copies) {
    const uint32_t kept = tape_.capture() ? tape_.capture()->count(*old.buffer) : 0;  // the graph's references
    const bool mine = !copies && old.handles == 0 && (old.buffer->refs() == 1 + kept || old.buffer->exposed);
    if (mine) {
      if (ordered_) use(*old.buffer, true);
      node.buffer = old.buffer;  // the step still reads the old value from it; run() resets old.buffer afterwards
      return;
    }
    node.buffer = Buffer::allocate(device_, old.buffer->bytes);
    backend_.copy(node.buffer->ptr, old.buffer->ptr, old.buffer->bytes, copy_kind(device_, device_), stream_);
  }

  /// Gives the input's memory to the result if only nodes of this flush refer to the input. Never in a capture: each launch of the graph
  /// would overwrite its own input.
  bool donate(Node& node, Node& old) {
    if (node.buffer || tape_.capture() || !old.buffer || old.handles > 0 || (old.pending() && old.held)) return false;
    if (old.buffer->refs() != 1 || old.buffer->exposed || old.buffer->release) return false;
    if (old.buffer->bytes != static_cast<size_t>(node.size) * itemsize(node.dtype)) return false;
    uint32_t readers = 1;  // the list of slots
    for (int i = 0; i < plan_.pending; ++i) {
      readers += slots_.nodes[i].get() == &old ? 1u : 0u;
      for (const Operand& o : slots_.nodes[i]->in) readers += o.node.get() == &old ? 1u : 0u;
    }
    if (static_cast<int>(old.slot) < plan_.pending) --readers;  // `old` itself is in slots_ and was counted twice
    if (old.refs() != readers) return false;
    if (ordered_) use(*old.buffer, true);
    node.buffer = old.buffer;
    return true;
  }

  void run_library(Step& step) {
    Node& node = *slots_.nodes[step.library];
    LibraryExtra& extra = static_cast<LibraryExtra&>(*node.extra);
    std::vector<View> inputs;
    for (size_t k = extra.in_place ? 1 : 0; k < node.in.size(); ++k) {
      const Operand& o = node.in[k];
      const Dims& shape = extra.input_shapes[k];
      Node& source = *o.node;
      if (source.op == Op::constant && !source.buffer) fill_constant(source);
      inputs.push_back({source.buffer->ptr, o.dtype, {shape, o.identity ? contiguous_strides(shape) : o.strides, o.offset}});
    }
    const View output{node.buffer->ptr, node.dtype, extra.in_place ? extra.region : contiguous_layout(node.shape)};
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

  void fill_constant(Node& node) {
    alignas(16) char bytes[16];
    node.value.store(node.dtype, bytes);
    const Ref<Buffer> buffer = Buffer::allocate(device_, 16);
    const size_t size = itemsize(node.dtype);
    const bool recorded = tape_.capture() && backend_.record(stream_, [node_bytes = std::to_array(bytes), to = buffer->ptr, size] {
      std::memcpy(to, node_bytes.data(), size);
    });
    if (!recorded) backend_.copy(buffer->ptr, bytes, size, copy_kind(device_, kHost), stream_);
    // In a capture the value is written only when the graph runs, so code outside the graph must not use this buffer as the constant.
    if (tape_.capture()) captured_.push_back(Ref<Node>(&node));
    node.buffer = buffer;
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
    if (!step.kernel || step.kernel->quick.load(std::memory_order_acquire) || !config().jit) choose_engine(step);
  }

  void run_kernel(Step& step) {
    parameters_.assign(step.parameters);
    for (const Step::Patch& patch : step.patches) {
      Node& node = *slots_.nodes[patch.slot];
      if (patch.kind == Step::Patch::Kind::constant) {
        node.value.store(patch.dtype, &parameters_[patch.word]);
        continue;
      }
      if (!node.buffer && node.op == Op::constant) fill_constant(node);
      parameters_[patch.word] = reinterpret_cast<int64_t>(node.buffer->ptr) + patch.offset;
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
        backend_.launch(*step.kernel, launch, parameters_.data(), parameters_.size() * sizeof(int64_t), stream_);
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
      if (const Buffer* buffer = slots_.nodes[patch.slot]->buffer.get(); buffer && patch.kind != Step::Patch::Kind::constant)
        observe(buffer->ptr, buffer->bytes, written(patch.slot));
    if (partials) observe(partials, step.partial_bytes, true);
    if (step.tickets) observe(tape_.status.tickets, tape_.status.count * sizeof(uint32_t), true);
    if (step.ir.checked && tape_.status.error) observe(tape_.status.error, sizeof(uint32_t), true);
  }

  void run_tier0(Step& step) {
    const auto start = Clock::now();
    const int64_t* parameters = parameters_.data();
    for (const Launch& launch : step.launches) {
      cpu::parallel_for(launch.items, launch.grain, [&program = *step.tier0, entry = launch.entry, parameters](int64_t begin, int64_t end) {
        program.run(entry, parameters, begin, end);
      });
    }
    step.tier0_nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  }

  /// Adds a step's launches to the graph being captured, on backends whose work is host calls.
  bool record_kernel(const Step& step, const ParamLayout& p) {
    const Node* node = first_output(step);
    return backend_.record(
        stream_, [&backend = backend_, kernel = on_tier0_ ? nullptr : step.kernel, tier0 = step.tier0, launches = step.launches,
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
      const bool small = step.elements < kSmallStep && step.tier0_runs < kSmallRuns;
      const bool medium = kSmallStep <= step.elements && step.elements < kMediumStep;
      const bool large = step.elements / cpu::thread_count() > kLargeStep;
      const bool only_loops = small || (step.elements < kMediumStep && !kernel_cache_opened(backend_));
      on_tier0_ = !c.jit || (c.background_compile && only_loops) || !backend_.can_compile();
      if (!on_tier0_ && c.background_compile && !large) {
        const auto text = [&] { return print(step.ir); };
        if (medium && step.tier0_nanoseconds < kWorthCompiling)
          step.kernel = step.tier0_runs == 0 ? kernel_cache_load(backend_, step.key, text) : kernel_cache_find(backend_, step.key);
        else
          step.kernel = kernel_cache_try(backend_, step.key, text, std::exchange(step.tier0_nanoseconds, 0));
        on_tier0_ = !step.kernel;
      }
      if (on_tier0_) {
        if (!step.tier0) step.tier0 = std::make_shared<const Tier0Program>(step.ir);
        ++step.tier0_runs;
        return;
      }
    }
    if (step.kernel) {
      // A second run means that the kernel may run often, so the optimized code is requested. A graph keeps the code that was captured, so
      // a capture waits for it.
      const bool wait = tape_.capture() || !config().background_compile;
      if (step.kernel->quick.load(std::memory_order_acquire)) kernel_cache_improve(*step.kernel, wait);
      return;
    }
    step.kernel = &kernel_cache_get(backend_, step.key, [&] { return print(step.ir); }, quick(step));
  }

  bool quick(const Step& step) const { return config().background_compile && step.elements < kQuickElements && !tape_.capture(); }

  /// Lets the kernels for which steps would wait be compiled at the same time, while earlier steps run.
  void request_kernels() {
    const bool waits = traits(device_).asynchronous;  // elsewhere built-in loops run until the kernel is there
    bool first = true;
    for (const Step& step : plan_.steps) {
      if (step.kind == Step::Kind::library || step.launches.empty() || step.kernel || !(waits || step.ir.needs_compiler())) continue;
      // The first kernel is compiled by this thread.
      if (!std::exchange(first, false) && backend_.can_compile())
        kernel_cache_request(backend_, step.key, [&] { return print(step.ir); }, quick(step));
    }
  }

  /// A kernel with users' functions has no built-in loops: it waits for the compiler. Compile errors are reported as errors in the user's
  /// text, unless all functions were printed from Python.
  void compile_user_step(Step& step) {
    if (step.kernel) return;
    BC_CHECK(backend_.can_compile(), NotImplemented,
             "{}: kernels in C++ need the compiler for the CPU, which this build of broadcloth does not have", step.name);
    try {
      step.kernel = &kernel_cache_get(backend_, step.key, [&] { return print(step.ir); });
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
  const bool ordered_;               ///< more than one stream exists
  std::vector<Ref<Node>> captured_;  ///< constants that the captured graph writes
  Parameters parameters_;
  bool on_tier0_ = false;  ///< for the current step
};

}  // namespace

void run_plan(Plan& plan, Slots& slots, Tape& tape) { Runner(plan, slots, tape).run(); }

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
