// Discrete Fourier, cosine and sine transforms on the CPU, by DUCC's FFT.
#include <array>
#include <complex>
#include <list>
#include <mutex>
#include <unordered_map>

#include "backends/cpu/fft.h"
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"
#include "core/cpu_level.h"
#include "runtime/fork.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

FftEntry fft_entry() {
#if defined(__x86_64__)
  if (cpu_level() >= CpuLevel::v3) return broadcloth_fft_v3;
#endif
  return broadcloth_fft_baseline;
}

/// Plans by type and length. A removed plan stays alive while it is in use.
class PlanCache final : public FftPlanCache {
 public:
  std::shared_ptr<void> get(const void* kind, size_t length, bool vectorized, FftPlan (*make)(size_t, bool)) {
    const Key key{kind, length << 1 | (vectorized ? 1u : 0u)};
    {
      const std::lock_guard lock(mutex_);
      if (std::shared_ptr<void> found = find(key)) return found;
    }
    FftPlan made = make(length, vectorized);
    const std::lock_guard lock(mutex_);
    if (std::shared_ptr<void> found = find(key)) return found;  // another thread made it meanwhile
    if (made.bytes > most_bytes_ || most_plans_ == 0) return made.plan;
    order_.push_front({key, made});
    places_[key] = order_.begin();
    bytes_ += made.bytes;
    shrink();
    return made.plan;
  }

  Facts facts() override {
    const std::lock_guard lock(mutex_);
    return {static_cast<int64_t>(order_.size()), static_cast<int64_t>(bytes_), static_cast<int64_t>(most_plans_),
            most_bytes_ == SIZE_MAX ? -1 : static_cast<int64_t>(most_bytes_)};
  }
  void clear() override {
    const std::lock_guard lock(mutex_);
    places_.clear();
    order_.clear();
    bytes_ = 0;
  }
  void limit(int64_t most_plans, int64_t most_bytes) override {
    const std::lock_guard lock(mutex_);
    most_plans_ = static_cast<size_t>(most_plans);
    most_bytes_ = most_bytes < 0 ? SIZE_MAX : static_cast<size_t>(most_bytes);
    shrink();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  struct Key {
    const void* kind;
    size_t length;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const { return std::hash<const void*>()(k.kind) * 31 + k.length * 0x9e3779b97f4a7c15u; }
  };
  using Entry = std::pair<Key, FftPlan>;

  std::shared_ptr<void> find(const Key& key) {
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    if (at->second != order_.begin()) order_.splice(order_.begin(), order_, at->second);
    return at->second->second.plan;
  }
  void shrink() {
    while (!order_.empty() && (bytes_ > most_bytes_ || order_.size() > most_plans_)) {
      bytes_ -= order_.back().second.bytes;
      places_.erase(order_.back().first);
      order_.pop_back();
    }
  }

  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> places_;
  size_t bytes_ = 0, most_bytes_ = size_t{128} << 20, most_plans_ = 1024;
};

PlanCache& plan_cache() {
  static PlanCache& it = *[] {
    auto* made = new PlanCache;  // leaked: a thread may use it while the process ends
    at_fork(ForkLevel::Plans, [] { plan_cache().mutex().lock(); }, [](bool) { plan_cache().mutex().unlock(); });
    return made;
  }();
  return it;
}

thread_local int t_pieces = 1;

// A piece of this many points takes at most a fraction of a second; interrupts are checked between pieces.
constexpr int64_t kMostPoints = int64_t{1} << 20;
// With fewer points the transform ends before other threads could start.
constexpr int64_t kFewPoints = 16384;
// More pieces than threads, so that no thread waits long for another.
constexpr int kPiecesPerThread = 4;

/// For its scope, sets into how many pieces this thread's transforms are divided: by the number of points, and for at most `threads`
/// threads (0: all).
class Division {
 public:
  Division(int threads, int64_t points) : limit_before_(thread_limit()), pieces_before_(t_pieces) {
    if (threads > 0) set_thread_limit(std::min(threads, limit_before_));
    const int64_t pieces = thread_limit() == 1 || points < kFewPoints ? 1 : thread_limit() * kPiecesPerThread;
    t_pieces = static_cast<int>(std::max(pieces, std::min<int64_t>(points / kMostPoints, 1 << 16)));
  }
  ~Division() {
    set_thread_limit(limit_before_);
    t_pieces = pieces_before_;
  }
  Division(const Division&) = delete;
  Division& operator=(const Division&) = delete;

 private:
  const int limit_before_, pieces_before_;
};

FftStep step_of(FftKind kind) {
  switch (kind) {
    case FftKind::c2c: return FftStep::c2c;
    case FftKind::full:
    case FftKind::r2c: return FftStep::r2c;
    case FftKind::c2r: return FftStep::c2r;
    case FftKind::dct: return FftStep::dct;
    case FftKind::dst: break;
  }
  return FftStep::dst;
}

/// Writes the second half of a real signal's spectrum along the last of the axes: the conjugates of the first half, reversed along every
/// axis of the transform.
template <class T>
void mirror(T* out, const Dims& shape, const Dims& axes) {
  const int nd = shape.size(), last = static_cast<int>(axes.back());
  const Dims strides = contiguous_strides(shape);
  const int64_t n = shape[last], step = strides[last], half = n / 2 + 1;
  if (half >= n) return;
  std::array<bool, 64> turned{};
  for (int64_t d : axes) turned[static_cast<size_t>(d)] = true;
  // Processes lines along `last`. If the array's last axis is another axis, the inner loop runs along that axis, so that memory is read
  // contiguously.
  Dims outer = shape;
  outer[last] = 1;
  const int inner = last == nd - 1 ? -1 : nd - 1;
  const int64_t width = inner < 0 ? 1 : shape[inner];
  if (inner >= 0) outer[inner] = 1;
  const int64_t lines = product(outer);
  parallel_for(lines, std::max<int64_t>(1, 32768 / ((n - half) * width)), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      int64_t rest = line, to = 0, from = 0;
      for (int d = nd - 1; d >= 0; --d) {
        const int64_t i = rest % outer[d];
        rest /= outer[d];
        to += i * strides[d];
        from += (turned[static_cast<size_t>(d)] && i > 0 ? shape[d] - i : i) * strides[d];
      }
      if (inner < 0) {
        for (int64_t k = half; k < n; ++k) out[to + k] = std::conj(out[from + n - k]);
        continue;
      }
      for (int64_t k = half; k < n; ++k) {
        T* const row = out + to + k * step;
        const T* const other = out + from + (n - k) * step;
        if (turned[static_cast<size_t>(inner)]) {
          row[0] = std::conj(other[0]);
          for (int64_t j = 1; j < width; ++j) row[j] = std::conj(other[width - j]);
        } else {
          for (int64_t j = 0; j < width; ++j) row[j] = std::conj(other[j]);
        }
      }
    }
  });
}

}  // namespace

void fft_parallel(int pieces, void (*body)(void* context, int i), void* context) {
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(context, static_cast<int>(i));
  });
}

int fft_pieces() { return t_pieces; }

std::shared_ptr<void> fft_plan(const void* kind, size_t length, bool vectorized, FftPlan (*make)(size_t, bool)) {
  return plan_cache().get(kind, length, vectorized, make);
}

void register_fft_plans() {
  bc::register_fft_plans(DeviceType::cpu, [](Device) -> FftPlanCache& { return plan_cache(); });
}

void run(const FftExtra& op, std::span<const View> inputs, const View& output) {
  const View& in = inputs[0];
  const Division division(op.threads, std::max(in.layout.size(), output.layout.size()));
  Dims out_shape = output.layout.shape;
  const bool full = op.transform == FftKind::full;
  const int last = static_cast<int>(op.axes.back());
  if (full) out_shape[last] = out_shape[last] / 2 + 1;
  FftCall call{};
  call.step = step_of(op.transform);
  call.wide = in.dtype == DType::f64 || in.dtype == DType::c128;
  call.forward = op.forward;
  call.orthogonal = op.orthogonal;
  call.type = op.type;
  call.scale = op.scale;
  call.ndim = in.layout.ndim();
  call.in = first(in);
  call.in_shape = in.layout.shape.begin();
  call.in_strides = in.layout.strides.begin();
  call.out = first(output);
  call.out_shape = out_shape.begin();
  call.out_strides = output.layout.strides.begin();
  call.axis_count = op.axes.size();
  call.axes = op.axes.begin();
  static const FftEntry entry = fft_entry();
  entry(call);
  if (!full) return;
  if (call.wide)
    mirror(static_cast<std::complex<double>*>(call.out), output.layout.shape, op.axes);
  else
    mirror(static_cast<std::complex<float>*>(call.out), output.layout.shape, op.axes);
}

}  // namespace bc::cpu
