// Transforms as the package calls them; broadcloth.fft and broadcloth.scipy.fft hold NumPy's and SciPy's conventions.
#include "bind/fft.h"

#include "bind/args.h"
#include "ops/compose.h"
#include "ops/fft.h"

namespace bc::bind {
namespace {

/// NumPy's checks of `out`.
Array delivered(const Array& result, const Array& out) {
  if (!out) return result;
  BC_CHECK(out.shape() == result.shape(), Value, "output array has wrong shape.");
  return compose::deliver("fft", result, out);
}

}  // namespace

std::vector<PyMethodDef> fft_functions() {
  return {
      BC_FUNCTION("fft(a, kind, lengths, axes, forward, norm, out=None) A transform by NumPy's rules; kind and norm are the numbers of "
                  "FftKind and FftNorm.",
                  [](const Array& a, int64_t kind, const std::optional<Axes>& lengths, const Axes& axes, bool forward, int64_t norm,
                     const Array& out) {
                    FftOptions o;
                    o.forward = forward;
                    o.norm = static_cast<FftNorm>(norm);
                    return delivered(fft(a, static_cast<FftKind>(kind), lengths, axes, o), out);
                  }),
      BC_FUNCTION(
          "fft_scipy(a, kind, lengths, axes, forward, norm, threads=0, type=2, orthogonal=None, composed=False) The same by SciPy's.",
          [](const Array& a, int64_t kind, const std::optional<Axes>& lengths, const Axes& axes, bool forward, int64_t norm,
             int64_t threads, int64_t type, const std::optional<bool>& orthogonal, bool composed) {
            FftOptions o;
            o.forward = forward;
            o.norm = static_cast<FftNorm>(norm);
            o.threads = static_cast<int>(threads);
            o.type = static_cast<int>(type);
            o.orthogonal = orthogonal;
            o.scipy = true;
            o.composed = composed;
            return fft(a, static_cast<FftKind>(kind), lengths, axes, o);
          }),
      BC_FUNCTION("fft_plans(device=None) -> tuple[int, int, int, int] (plans, bytes, most plans, most bytes) of what a device keeps for "
                  "transforms.",
                  [](Device device) {
                    const FftPlanCache::Facts f = fft_plans(device).facts();
                    return tuple_of({to_py(f.plans).get(), to_py(f.bytes).get(), to_py(f.most_plans).get(), to_py(f.most_bytes).get()});
                  }),
      BC_FUNCTION("fft_forget_plans(device=None)", [](Device device) { fft_plans(device).clear(); }),
      BC_FUNCTION("fft_limit_plans(plans, bytes, device=None)",
                  [](int64_t plans, int64_t bytes, Device device) { fft_plans(device).limit(plans, bytes); }),
  };
}

}  // namespace bc::bind
