// NumPy's streams of random numbers, whose state Python keeps.
#include "bind/random.h"

#include "bind/args.h"
#include "ops/random_stream.h"

namespace bc::bind {
namespace {

pcg::Kind kind_of(std::string_view name) {
  if (name == "uniform") return pcg::Kind::uniform;
  if (name == "integers") return pcg::Kind::integers;
  if (name == "normal") return pcg::Kind::normal;
  if (name == "exponential") return pcg::Kind::exponential;
  raise(ErrorKind::Value, "pcg: expected 'uniform', 'integers', 'normal' or 'exponential', got '{}'", name);
}

unsigned __int128 joined(uint64_t high, uint64_t low) { return static_cast<unsigned __int128>(high) << 64 | low; }

/// (array, the state's upper and lower 64 bits, whether half a word is left, this half)
PyRef draw_pcg(std::string_view kind, const Dims& shape, DType dtype, bool dxsm, uint64_t state_high, uint64_t state_low,
               uint64_t increment_high, uint64_t increment_low, bool has_half, uint64_t half, bool affine, double low, double scale,
               uint64_t first, uint64_t span, uint64_t one, Device device) {
  pcg::State state{joined(state_high, state_low), joined(increment_high, increment_low), dxsm, has_half, static_cast<uint32_t>(half)};
  pcg::Draw what{kind_of(kind), dtype};
  what.affine = affine;
  what.low = low;
  what.scale = scale;
  what.first = first;
  what.span = span;
  what.one = reinterpret_cast<void*>(one);
  Array drawn;
  {
    const GilRelease released;
    drawn = random_stream(state, what, shape, device);
  }
  const auto number = [](uint64_t n) { return PyRef::steal(PyLong_FromUnsignedLongLong(n)); };
  return tuple_of({PyRef::steal(wrap(std::move(drawn))).get(), number(static_cast<uint64_t>(state.state >> 64)).get(),
                   number(static_cast<uint64_t>(state.state)).get(), number(state.has_half ? 1 : 0).get(), number(state.half).get()});
}

}  // namespace

std::vector<PyMethodDef> random_functions() {
  return {
      BC_FUNCTION(
          "draw_pcg(kind, shape, dtype, dxsm, state_high, state_low, increment_high, increment_low, has_half, half, affine=False, "
          "low=0.0, scale=1.0, first=0, span=0, one=0, *, device=None) NumPy's numbers of a PCG64 or PCG64DXSM, and its next state.",
          draw_pcg),
  };
}

}  // namespace bc::bind
