#include "backends/cuda/library.h"

namespace bc::cuda {
namespace {

template <class E>
void body(const LibraryExtra& op, const LibraryContext& c) {
  cuda::run(static_cast<const E&>(op), c.device, c.stream, c.inputs, c.output);
}

template <class... E>
void add(DeviceType type) {
  (register_body(type, E::kKind, body<E>), ...);
}

}  // namespace

void register_kernel_bodies(DeviceType type) {
  add<ScanExtra, ReduceatExtra, NonzeroExtra, CompressExtra, ScatterExtra, SortExtra, PartitionExtra, SelectExtra, SearchsortedExtra>(type);
}

void register_bodies() {
  register_kernel_bodies(DeviceType::cuda);
  add<MatmulExtra, LinalgExtra, FftExtra>(DeviceType::cuda);
  register_fft_plans();
}

}  // namespace bc::cuda
