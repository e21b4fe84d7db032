#include "backends/cuda/library.h"

#include "primitives/linalg.h"

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
  if (type == DeviceType::null) add<LinalgExtra>(type);  // without the libraries' calls
  add<ScanExtra, ReduceatExtra, NonzeroExtra, CompressExtra, ScatterExtra, SortExtra, PartitionExtra, SelectExtra, SearchsortedExtra>(type);
}

void register_bodies() {
  register_kernel_bodies(DeviceType::cuda);
  add<MatmulExtra, LinalgExtra, FftExtra, SparseExtra>(DeviceType::cuda);
  register_fft_plans();
  // cuSOLVER's svd of one matrix leaves the device mostly idle, and its batched routine supports matrices up to 32 x 32.
  register_linalg_traits(DeviceType::cuda, {.svd_by_eigh_from = 33});
}

}  // namespace bc::cuda
