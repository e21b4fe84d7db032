#pragma once
#include "array/array.h"
#include "ops/pcg_stream.h"

namespace bc {

/// NumPy's numbers of this state in a new array; the state is then behind them. The host draws them, on all its threads, and copies them to
/// a device of another type.
Array random_stream(pcg::State& state, const pcg::Draw& what, const Dims& shape, Device device);

}  // namespace bc
