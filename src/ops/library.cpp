// Sends each library op to the body of its device. The null device records and runs nothing.
#include "ops/library.h"

#include "backends/cpu/library.h"
#include "backends/cuda/library.h"
#include "codegen/hash.h"

namespace bc {
namespace {

uint64_t hash_of(std::span<const int64_t> words, uint64_t seed) { return Hasher(seed).add(words).finish().lo; }

}  // namespace

ReduceatExtra::ReduceatExtra(Op op_, int axis_, std::vector<int64_t> at_) : op(op_), axis(axis_), at(std::move(at_)) {
  name = "reduceat";
  key = hash_of(at, static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(axis));
}

ScatterExtra::ScatterExtra(Op op_, Dims axis_, Dims index_axis_) : op(op_), axis(std::move(axis_)), index_axis(std::move(index_axis_)) {
  name = op == Op::leaf ? "scatter" : "at";
  key = hash_of(index_axis.span(), hash_of(axis.span(), static_cast<uint64_t>(op)));
}

PartitionExtra::PartitionExtra(bool places_, std::vector<int64_t> ranks_) : places(places_), ranks(std::move(ranks_)) {
  name = places ? "argpartition" : "partition";
  key = hash_of(ranks, places);
}

SelectExtra::SelectExtra(std::vector<int64_t> ranks_) : ranks(std::move(ranks_)) {
  name = "select";
  key = hash_of(ranks, 2);
}

#define BC_LIBRARY_BODY(Extra)                                                                      \
  void Extra::run(Device device, Stream stream, std::span<const View> inputs, const View& output) { \
    if (device.type == DeviceType::cpu) cpu::run(*this, inputs, output);                            \
    if (device.type == DeviceType::cuda) cuda::run(*this, device, stream, inputs, output);          \
  }
BC_LIBRARY_BODY(MatmulExtra)
BC_LIBRARY_BODY(ReduceatExtra)
BC_LIBRARY_BODY(NonzeroExtra)
BC_LIBRARY_BODY(CompressExtra)
BC_LIBRARY_BODY(ScatterExtra)
BC_LIBRARY_BODY(SortExtra)
BC_LIBRARY_BODY(PartitionExtra)
BC_LIBRARY_BODY(SelectExtra)
BC_LIBRARY_BODY(SearchsortedExtra)
#undef BC_LIBRARY_BODY

void ScanExtra::run(Device device, Stream stream, std::span<const View> inputs, const View& output) {
  try {
    if (device.type == DeviceType::cpu && join)
      cpu::run_user_scan(*this, inputs, output);
    else if (device.type == DeviceType::cpu)
      cpu::run(*this, inputs, output);
    if (device.type == DeviceType::cuda) cuda::run(*this, device, stream, inputs, output);
  } catch (const Error& e) {
    if (!join || (e.kind() != ErrorKind::Runtime && e.kind() != ErrorKind::Compile)) throw;
    throw Error(ErrorKind::Compile, fmt::format("{}: the C++ does not compile:\n{}", join->name, first_lines(e.what())));
  }
}

}  // namespace bc
