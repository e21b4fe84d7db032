#include "backends/cuda/library.h"

namespace bc::cuda {
namespace {

template <class E>
void body(const LibraryExtra& op, const LibraryContext& c) {
  cuda::run(static_cast<const E&>(op), c.device, c.stream, c.inputs, c.output);
}

template <class... E>
void add() {
  (register_body(DeviceType::cuda, E::kKind, body<E>), ...);
}

}  // namespace

void register_bodies() {
  add<MatmulExtra, ScanExtra, ReduceatExtra, NonzeroExtra, CompressExtra, ScatterExtra, SortExtra, PartitionExtra, SelectExtra,
      SearchsortedExtra, LinalgExtra, FftExtra, SparseExtra>();
  register_fft_plans();
}

}  // namespace bc::cuda
