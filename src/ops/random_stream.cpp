#include "ops/random_stream.h"

#include <memory>

#include "graph/tape.h"

namespace bc {

Array random_stream(pcg::State& state, const pcg::Draw& what, const Dims& shape, Device device) {
  if (traits(device).on_host) {
    Array result = empty(shape, what.dtype, device);
    // No other thread knows the new array yet.
    pcg::draw(state, what, result.storage()->current->buffer->ptr, result.size());
    return result;
  }
  const Layout layout = contiguous_layout(shape);
  const int64_t count = layout.size();
  const std::unique_ptr<char[]> numbers(new char[static_cast<size_t>(count) * itemsize(what.dtype)]);
  pcg::draw(state, what, numbers.get(), count);
  return from_host(numbers.get(), what.dtype, layout, device);
}

}  // namespace bc
