// Fourier transforms on CUDA, by cuFFT: at most three trailing axes, no scaling, and cuFFT's sign of the exponent (ops/fft.cpp builds all
// other transforms from these).
#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <unordered_map>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/library.h"
#include "backends/cuda/library_kernels.h"
#include "core/hash.h"

namespace bc::cuda {
namespace {

const char* text_of(int result) {
  switch (result) {
    case 0x1: return "CUFFT_INVALID_PLAN";
    case 0x2: return "CUFFT_ALLOC_FAILED";
    case 0x3: return "CUFFT_INVALID_TYPE";
    case 0x4: return "CUFFT_INVALID_VALUE";
    case 0x5: return "CUFFT_INTERNAL_ERROR";
    case 0x6: return "CUFFT_EXEC_FAILED";
    case 0x7: return "CUFFT_SETUP_FAILED";
    case 0x8: return "CUFFT_INVALID_SIZE";
    case 0x9: return "CUFFT_UNALIGNED_DATA";
    case 0xb: return "CUFFT_INVALID_DEVICE";
    case 0xd: return "CUFFT_NO_WORKSPACE";
    case 0xe: return "CUFFT_NOT_IMPLEMENTED";
    case 0x10: return "CUFFT_NOT_SUPPORTED";
    case 0x11: return "CUFFT_MISSING_DEPENDENCY";
    case 0x12: return "CUFFT_NVRTC_FAILURE";
    case 0x13: return "CUFFT_NVJITLINK_FAILURE";
    default: return "an unknown error";
  }
}

void check_fft(int result, const char* call) {
  if (result == 0) [[likely]]
    return;
  raise(result == 0x2 ? ErrorKind::Memory : ErrorKind::Runtime, "{}: {} ({})", call, text_of(result), result);
}

constexpr int kMostAxes = 3;

/// Everything on which a plan depends.
struct Key {
  int rank = 0, type = 0;
  std::array<long long, kMostAxes> points{};    ///< points of each axis
  std::array<long long, kMostAxes> embedded{};  ///< the input's extents in memory; the first is not read
  long long stride = 1, distance = 1;           ///< between the input's elements along the last axis, and between its batches
  long long batch = 1;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    Hasher h(static_cast<uint64_t>(k.rank) << 32 | static_cast<uint64_t>(k.type));
    for (int i = 0; i < k.rank; ++i) h.add(static_cast<uint64_t>(k.points[i])).add(static_cast<uint64_t>(k.embedded[i]));
    for (const long long word : {k.stride, k.distance, k.batch}) h.add(static_cast<uint64_t>(word));
    return static_cast<size_t>(h.finish().lo);
  }
};

bool halves_input(int type) { return type == kFftC2R || type == kFftZ2D; }
bool halves_output(int type) { return type == kFftR2C || type == kFftD2Z; }

/// A plan of cuFFT without memory for intermediate results, which each run provides.
struct Plan {
  cufftHandle handle = 0;
  size_t work_bytes = 0;
};

/// cuFFT's state on one device: its plans, most recently used first. Owned by the backend.
class FftState final : public FftPlanCache {
 public:
  explicit FftState(CudaBackend& backend) : backend_(backend) {}
  ~FftState() {
    for (const auto& [key, plan] : order_) unless_gone([&handle = plan.handle] { cufft().cufftDestroy(handle); });
  }

  /// A run sets a plan's stream and memory, so a thread must hold this mutex while it uses a plan.
  std::mutex& mutex() { return mutex_; }

  /// The plan for a problem. Called with mutex() held.
  const Plan& plan(const Key& key) {
    if (const auto at = places_.find(key); at != places_.end()) {
      if (at->second != order_.begin()) order_.splice(order_.begin(), order_, at->second);
      return at->second->second;
    }
    const Plan made = make(key);
    order_.push_front({key, made});
    places_[key] = order_.begin();
    shrink(std::max<size_t>(most_plans_, 1));  // keeps the plan that is used now
    return order_.front().second;
  }

  Facts facts() override {
    const std::lock_guard lock(mutex_);
    return {static_cast<int64_t>(order_.size()), 0, static_cast<int64_t>(most_plans_), -1};
  }
  void clear() override {
    const std::lock_guard lock(mutex_);
    shrink(0);
  }
  void limit(int64_t most_plans, int64_t most_bytes) override {
    BC_CHECK(most_bytes < 0, Value, "fft: cuFFT does not tell how much memory a plan takes; limit the number of plans");
    const std::lock_guard lock(mutex_);
    most_plans_ = static_cast<size_t>(most_plans);
    shrink(most_plans_);
  }

 private:
  void shrink(size_t most) {
    while (order_.size() > most) {
      // Queued work may still use the plan.
      backend_.release_after_work([handle = order_.back().second.handle] { cufft().cufftDestroy(handle); });
      places_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  static Plan make(Key key) {
    const CufftApi& api = cufft();
    const RelaxedCapture relaxed;  // cuFFT allocates tables of factors on the device
    Plan p;
    check_fft(api.cufftCreate(&p.handle), "cufftCreate");
    try {
      check_fft(api.cufftSetAutoAllocation(p.handle, 0), "cufftSetAutoAllocation");
      // The result is contiguous.
      std::array<long long, kMostAxes> out = key.points;
      if (halves_output(key.type)) out[key.rank - 1] = key.points[key.rank - 1] / 2 + 1;
      long long out_distance = 1;
      for (int i = 0; i < key.rank; ++i) out_distance *= out[i];
      check_fft(api.cufftMakePlanMany64(p.handle, key.rank, key.points.data(), key.embedded.data(), key.stride, key.distance, out.data(), 1,
                                        out_distance, key.type, key.batch, &p.work_bytes),
                "cufftMakePlanMany64");
    } catch (...) {
      api.cufftDestroy(p.handle);
      throw;
    }
    return p;
  }

  CudaBackend& backend_;
  std::mutex mutex_;
  size_t most_plans_ = 64;
  std::list<std::pair<Key, Plan>> order_;
  std::unordered_map<Key, std::list<std::pair<Key, Plan>>::iterator, KeyHash> places_;
};

FftState& fft_state(CudaBackend& backend) {
  return *static_cast<FftState*>(
      backend.library_state("cuFFT", [&]() -> std::shared_ptr<void> { return std::make_shared<FftState>(backend); }));
}

int type_of(FftKind kind, bool wide) {
  switch (kind) {
    case FftKind::c2c: return wide ? kFftZ2Z : kFftC2C;
    case FftKind::r2c: return wide ? kFftD2Z : kFftR2C;
    case FftKind::c2r: return wide ? kFftZ2D : kFftC2R;
    default: raise(ErrorKind::Runtime, "fft: cuFFT has no transform of this kind");
  }
}

/// Describes the input's last `rank` axes in cuFFT's advanced layout; false if that is impossible.
bool describe_input(const Layout& in, int rank, Key* key) {
  const int nd = in.ndim(), lead = nd - rank;
  long long step = in.strides[nd - 1];
  if (in.shape[nd - 1] == 1) step = 1;
  if (step <= 0) return false;
  key->stride = step;
  long long below = step, extent = in.shape[nd - 1];  // the stride and the extent of the next inner axis
  for (int i = rank - 1; i > 0; --i) {
    const int d = lead + i - 1;
    const long long stride = in.shape[d] == 1 ? below * extent : in.strides[d];
    if (stride % below != 0 || stride / below < extent) return false;
    key->embedded[i] = stride / below;
    below = stride;
    extent = in.shape[d];
  }
  key->embedded[0] = in.shape[lead];
  return true;
}

void execute(int type, cufftHandle plan, void* in, void* out, bool forward) {
  const CufftApi& api = cufft();
  const int direction = forward ? kFftForward : kFftInverse;
  switch (type) {
    case kFftC2C: check_fft(api.cufftExecC2C(plan, in, out, direction), "cufftExecC2C"); break;
    case kFftZ2Z: check_fft(api.cufftExecZ2Z(plan, in, out, direction), "cufftExecZ2Z"); break;
    case kFftR2C: check_fft(api.cufftExecR2C(plan, in, out), "cufftExecR2C"); break;
    case kFftD2Z: check_fft(api.cufftExecD2Z(plan, in, out), "cufftExecD2Z"); break;
    case kFftC2R: check_fft(api.cufftExecC2R(plan, in, out), "cufftExecC2R"); break;
    default: check_fft(api.cufftExecZ2D(plan, in, out), "cufftExecZ2D"); break;
  }
}

// More calls of one plan than this take longer than copying the input so that one call handles all batches.
constexpr int64_t kMostCalls = 8;

}  // namespace

void register_fft_plans() {
  bc::register_fft_plans(DeviceType::cuda,
                         [](Device device) -> FftPlanCache& { return fft_state(static_cast<CudaBackend&>(backend(device))); });
}

void run(const FftExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output) {
  auto& cuda = static_cast<CudaBackend&>(backend(device));
  const auto current = cuda.make_current();
  Queue queue(device, stream);
  const bool wide = inputs[0].dtype == DType::f64 || inputs[0].dtype == DType::c128;
  const int rank = op.axes.size(), nd = inputs[0].layout.ndim(), lead = nd - rank;
  BC_CHECK(rank <= kMostAxes && op.scale == 1.0, Runtime, "fft: cuFFT transforms at most {} axes and does not scale", kMostAxes);
  for (int i = 0; i < rank; ++i) BC_CHECK(op.axes[i] == lead + i, Runtime, "fft: cuFFT was given axes that are not the last ones");

  Key key;
  key.rank = rank;
  key.type = type_of(op.transform, wide);
  for (int i = 0; i < rank; ++i) key.points[i] = (halves_input(key.type) ? output : inputs[0]).layout.shape[lead + i];

  // Splits the batch axes into those that one call handles and those that need separate calls.
  Layout in = inputs[0].layout;
  const char* data = first(inputs[0]);
  Dims outer, outer_strides;
  const auto batches = [&] {
    outer = Dims(in.shape.span().first(lead));
    outer_strides = Dims(in.strides.span().first(lead));
    Dims* lists[] = {&outer_strides};
    collapse(&outer, lists);
    key.batch = outer.empty() ? 1 : outer.back();
    key.distance = outer.empty() ? 1 : outer_strides.back();
    if (!outer.empty()) outer.resize(outer.size() - 1), outer_strides.resize(outer.size());
  };
  batches();
  // Transforms to real numbers overwrite their input, and cuFFT expects real input to be aligned like complex numbers.
  const int64_t alignment = wide ? 16 : 8, in_bytes = itemsize(inputs[0].dtype);
  bool aligned = reinterpret_cast<uintptr_t>(data) % alignment == 0;
  for (const int64_t stride : outer_strides) aligned = aligned && stride * in_bytes % alignment == 0;
  Ref<Buffer> copy;
  if (halves_input(key.type) || !aligned || key.distance < 0 || (key.batch > 1 && key.distance == 0) || product(outer) > kMostCalls ||
      !describe_input(in, rank, &key)) {
    copy = packed(queue, inputs[0]);
    data = static_cast<const char*>(copy->ptr);
    in.strides = contiguous_strides(in.shape);
    batches();
    describe_input(in, rank, &key);
  }
  if (key.batch == 1) key.distance = 1;

  FftState& state = fft_state(cuda);
  const std::lock_guard lock(state.mutex());
  const Plan& plan = state.plan(key);
  const Ref<Buffer> work = plan.work_bytes ? Buffer::allocate(device, plan.work_bytes) : Ref<Buffer>();
  const CufftApi& api = cufft();
  check_fft(api.cufftSetStream(plan.handle, static_cast<CUstream>(stream.native)), "cufftSetStream");
  check_fft(api.cufftSetWorkArea(plan.handle, work ? work->ptr : nullptr), "cufftSetWorkArea");
  const int64_t calls = product(outer);
  const int64_t out_bytes = output.layout.size() / calls * itemsize(output.dtype);
  for (int64_t i = 0; i < calls; ++i) {
    int64_t rest = i, offset = 0;
    for (int d = outer.size() - 1; d >= 0; --d) {
      offset += rest % outer[d] * outer_strides[d];
      rest /= outer[d];
    }
    execute(key.type, plan.handle, const_cast<char*>(data) + offset * in_bytes, first(output) + i * out_bytes, op.forward);
  }
}

}  // namespace bc::cuda
