// Functions that several library bodies share: launching, packing, and the scan of one line of numbers.
#include "backends/cuda/library_kernels.h"

#include <fmt/format.h>

#include "backends/cuda/library_scan.h"
#include "core/error.h"
#include "graph/config.h"
#include "graph/tape.h"
#include "runtime/program.h"

namespace bc::cuda {
namespace {

// The offsets of a linear index under K stride lists over N axes: the shape is w[0, N), list k is w[(k + 1) * N, (k + 2) * N).
constexpr const char* kPrelude = R"(
template <class T> BC_INLINE T word_as(const i64* word) { return reinterpret_cast<T>(*word); }
template <int N, int K> BC_INLINE void offsets(i64 linear, const i64* w, i64* o) {
  for (int k = 0; k < K; ++k) o[k] = 0;
  u64 rest = static_cast<u64>(linear);
  BC_UNROLL
  for (int d = N - 1; d >= 0; --d) {
    const u64 extent = static_cast<u64>(w[d]);
    u64 q = 0;
    if (d > 0) q = (rest | extent) >> 32 ? rest / extent : static_cast<u32>(rest) / static_cast<u32>(extent);
    const i64 c = static_cast<i64>(rest - q * extent);
    for (int k = 0; k < K; ++k) o[k] += c * w[(k + 1) * N + d];
    rest = q;
  }
}
)";

/// Runs a kernel as a CUDA C++ program on the CPU, so that tests can check the kernels without a GPU.
void run_on_cpu(const KernelSource& source, int64_t blocks, const Words& words) {
  ProgramSource program;
  program.text = source.text;
  program.device_library = true;
  KernelLaunch launch;
  launch.grid[0] = static_cast<unsigned>(blocks);
  launch.block[0] = kThreads;
  void* arguments[] = {const_cast<int64_t*>(words.all().data()), nullptr};
  load_program({DeviceType::cpu, 0}, program)->kernel(source.entries[0]).launch(launch, arguments, {});
}

}  // namespace

void Queue::run(std::string_view name, std::string_view variant, const std::string& head, const std::string& body, int64_t blocks,
                const Words& words, int resident) {
  if (blocks <= 0) return;
  BC_CHECK(blocks <= 0x7fffffff, Value, "{}: expected at most 2147483647 blocks of work, got {}", name, blocks);
  Backend& b = backend(device_);
  const size_t n = words.all().size();
  const auto print = [&] {
    KernelSource source;
    source.entries.push_back("bc_" + std::string(name));
    source.quick = true;
    source.text = fmt::format(
        "namespace bc {{\nstruct P {{ i64 w[{}]; }};\n{}{}\nextern \"C\" __global__ void __launch_bounds__({}{}) bc_{}(const "
        "__grid_constant__ P p) {{\nconst int t = threadIdx.x;\n(void)t;\n{}\n}}\n}}\n",
        n, kPrelude, head, kThreads, resident ? fmt::format(", {}", resident) : "", name, body);
    return source;
  };
  if (device_.type == DeviceType::cpu) return run_on_cpu(print(), blocks, words);
  const Hash128 key = Hasher(0x6c696272617279).add(name).add(variant).add(static_cast<uint64_t>(n)).finish();
  if (!together_ || (kept_.empty() && kernel_cache_find(b, key))) return launch(key, print, blocks, words);
  kept_.push_back({key, print(), blocks, words});
  kernel_cache_request(b, key, [&] { return kept_.back().source; }, quick());
}

bool Queue::quick() const { return config().background_compile && !tape(device_).capture(); }

void Queue::launch(const Hash128& key, const SourcePrinter& print, int64_t blocks, const Words& words) {
  Backend& b = backend(device_);
  LoadedKernel& kernel = kernel_cache_get(b, key, print, quick());
  // A second launch means that the kernel may run often, so its optimized code is requested. A graph keeps the code that was captured, so a
  // capture waits for it.
  const bool captured = tape(device_).capture() != nullptr;
  if (kernel.quick.load(std::memory_order_acquire) && (kernel.launched.exchange(true, std::memory_order_relaxed) || captured))
    kernel_cache_improve(kernel, captured || !config().background_compile);
  Launch launch;
  launch.grid[0] = static_cast<unsigned>(blocks);
  launch.block[0] = kThreads;
  b.launch(kernel, launch, words.all().data(), words.all().size() * sizeof(int64_t), stream_);
  release_scratch();
}

void Queue::launch_kept() {
  const std::vector<Kept> kept = std::exchange(kept_, {});
  const std::vector<Ref<Buffer>> in_use = scratch_;
  for (const Kept& k : kept) launch(k.key, [&] { return k.source; }, k.blocks, k.words);
}

/// Memory that the body still holds stays: it can be a parameter of launches that come later.
void Queue::release_scratch() {
  if (kept_.empty()) std::erase_if(scratch_, [](const Ref<Buffer>& b) { return b->refs() == 1; });
}

void Queue::together(const std::function<void()>& work) {
  together_ = true;
  work();
  launch_kept();
  scratch_.clear();
  together_ = false;
}

Ref<Buffer> Queue::scratch(int64_t bytes) {
  Ref<Buffer> memory = Buffer::allocate(device_, static_cast<size_t>(bytes));
  if (together_) scratch_.push_back(memory);
  return memory;
}

const char* carrier(DType t) {
  switch (itemsize(t)) {
    case 1: return "u8";
    case 2: return "u16";
    case 4: return "u32";
    case 8: return "u64";
    default: return "complex128";
  }
}

Ref<Buffer> packed(Queue& queue, const View& v) {
  const int64_t n = v.layout.size();
  Ref<Buffer> out = queue.scratch(n * itemsize(v.dtype));
  Dims shape = v.layout.shape, strides = v.layout.strides;
  Dims* lists[] = {&strides};
  collapse(&shape, lists);
  Words w;
  w.pointer(out->ptr);
  w.pointer(first(v));
  w.integer(n);
  w.walk(shape, {&strides});
  const std::string type = carrier(v.dtype);
  queue.run_for("pack", fmt::format("{} {}", type, shape.size()), "",
                fmt::format(R"(const i64 i = static_cast<i64>(blockIdx.x) * {1} + t;
if (i >= p.w[2]) return;
i64 o[1];
offsets<{2}, 1>(i, p.w + 3, o);
word_as<{0}*>(p.w)[i] = word_as<const {0}*>(p.w + 1)[o[0]];)",
                            type, kThreads, shape.size()),
                n, w);
  return out;
}

void inclusive_sum(Queue& queue, void* data, int64_t n) { scan_line(queue, Op::add, DType::i64, data, n); }

}  // namespace bc::cuda
