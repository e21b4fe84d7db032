#include "backends/cpu/library.h"

namespace bc::cpu {
namespace {

template <class E>
void body(const LibraryExtra& op, const LibraryContext& c) {
  cpu::run(static_cast<const E&>(op), c.inputs, c.output);
}
template <>
void body<ScanExtra>(const LibraryExtra& op, const LibraryContext& c) {
  const auto& scan = static_cast<const ScanExtra&>(op);
  scan.join ? run_user_scan(scan, c.inputs, c.output) : cpu::run(scan, c.inputs, c.output);
}

template <class... E>
void add() {
  (register_body(DeviceType::cpu, E::kKind, body<E>), ...);
}

}  // namespace

void register_bodies() {
  add<MatmulExtra, ScanExtra, ReduceatExtra, NonzeroExtra, CompressExtra, ScatterExtra, SortExtra, PartitionExtra, SelectExtra,
      SearchsortedExtra, LinalgExtra, FftExtra, SparseExtra>();
  register_fft_plans();
}

}  // namespace bc::cpu
