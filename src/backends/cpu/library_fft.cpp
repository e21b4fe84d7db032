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

/// Plans by type and length; those that were not used for longest go first. A plan that goes lives on where it is in use.
class PlanCache {
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
    if (made.bytes > kMostBytes) return made.plan;
    order_.push_front({key, made});
    places_[key] = order_.begin();
    bytes_ += made.bytes;
    while (bytes_ > kMostBytes || order_.size() > kMostPlans) {
      bytes_ -= order_.back().second.bytes;
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return made.plan;
  }
  std::mutex& mutex() { return mutex_; }

 private:
  static constexpr size_t kMostBytes = size_t{128} << 20;
  static constexpr size_t kMostPlans = 1024;

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

  std::mutex mutex_;
  std::list<Entry> order_;
  std::unordered_map<Key, std::list<Entry>::iterator, KeyHash> places_;
  size_t bytes_ = 0;
};

PlanCache& plan_cache() {
  static PlanCache& it = *[] {
    auto* made = new PlanCache;  // leaked: a thread may compute while the process ends
    at_fork(ForkLevel::Plans, [] { plan_cache().mutex().lock(); }, [](bool) { plan_cache().mutex().unlock(); });
    return made;
  }();
  return it;
}

/// Lets a transform use so many threads at most while it lives.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads) : before_(thread_limit()) {
    if (threads > 0) set_thread_limit(std::min(threads, before_));
  }
  ~ThreadLimit() { set_thread_limit(before_); }
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  const int before_;
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

/// The second half of a real signal's spectrum along the last of the axes: the conjugates of the first half, in the reverse order of every
/// axis of the transform.
template <class T>
void mirror(T* out, const Dims& shape, const Dims& axes) {
  const int nd = shape.size(), last = static_cast<int>(axes.back());
  const Dims strides = contiguous_strides(shape);
  const int64_t n = shape[last], step = strides[last], half = n / 2 + 1;
  if (half >= n) return;
  std::array<bool, 64> turned{};
  for (int64_t d : axes) turned[static_cast<size_t>(d)] = true;
  // Lines along `last`; elements beside each other are walked in the inner loop where the last axis of the array is another one.
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

int fft_threads() { return thread_limit(); }

std::shared_ptr<void> fft_plan(const void* kind, size_t length, bool vectorized, FftPlan (*make)(size_t, bool)) {
  return plan_cache().get(kind, length, vectorized, make);
}

void run(const FftExtra& op, std::span<const View> inputs, const View& output) {
  const View& in = inputs[0];
  const ThreadLimit limit(op.threads);
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
  call.threads = op.threads;
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
