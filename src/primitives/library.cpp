// The keys of library ops, and the table of their bodies.
#include "primitives/library.h"

#include <atomic>
#include <bit>

#include "core/error.h"
#include "core/hash.h"

namespace bc {
namespace {

uint64_t hash_of(std::span<const int64_t> words, uint64_t seed) { return Hasher(seed).add(words).finish().lo; }

std::atomic<LibraryBody> g_bodies[kDeviceTypes][kLibraryKinds];

std::atomic<FftPlanCache& (*)(Device)> g_fft_plans[kDeviceTypes];

std::atomic<LibraryBody>& body_of(DeviceType type, LibraryKind kind) { return g_bodies[static_cast<int>(type)][static_cast<int>(kind)]; }

}  // namespace

void register_body(DeviceType type, LibraryKind kind, LibraryBody body) { body_of(type, kind).store(body, std::memory_order_release); }

bool has_body(const LibraryExtra& op, Device device) {
  if (body_of(device.type, op.kind).load(std::memory_order_acquire)) [[likely]]
    return true;
  // Opening the device registers its bodies, if nothing has opened it yet.
  backend(device);
  return body_of(device.type, op.kind).load(std::memory_order_acquire) != nullptr;
}

void require_body(const LibraryExtra& op, Device device) {
  BC_CHECK(has_body(op, device), NotImplemented,
           "{}: {} cannot compute it; copy the array to another device first, for instance with .to_device('cpu')", op.name,
           to_string(device));
}

void run_library(const LibraryExtra& op, const LibraryContext& context) {
  const LibraryBody body = body_of(context.device.type, op.kind).load(std::memory_order_acquire);
  const UserOp* join = op.kind == LibraryKind::scan ? static_cast<const ScanExtra&>(op).join.get() : nullptr;
  if (!join) return body(op, context);
  try {
    body(op, context);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Runtime && e.kind() != ErrorKind::Compile) throw;
    throw refused_text(e, join->name);
  }
}

ReduceatExtra::ReduceatExtra(Op op_, int axis_, std::vector<int64_t> at_) : LibraryExtra(kKind), op(op_), axis(axis_), at(std::move(at_)) {
  name = "reduceat";
  key = hash_of(at, static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(axis));
}

ScatterExtra::ScatterExtra(Op op_, Dims axis_, Dims index_axis_)
    : LibraryExtra(kKind), op(op_), axis(std::move(axis_)), index_axis(std::move(index_axis_)) {
  name = op == Op::leaf ? "scatter" : "at";
  moves_elements = op == Op::leaf;
  key = hash_of(index_axis.span(), hash_of(axis.span(), static_cast<uint64_t>(op)));
}

PartitionExtra::PartitionExtra(bool places_, std::vector<int64_t> ranks_) : LibraryExtra(kKind), places(places_), ranks(std::move(ranks_)) {
  name = places ? "argpartition" : "partition";
  key = hash_of(ranks, places);
}

SelectExtra::SelectExtra(std::vector<int64_t> ranks_) : LibraryExtra(kKind), ranks(std::move(ranks_)) {
  name = "select";
  key = hash_of(ranks, 2);
}

FftExtra::FftExtra(FftKind transform_, bool forward_, Dims axes_, double scale_, int threads_, int type_, bool orthogonal_)
    : LibraryExtra(kKind),
      transform(transform_),
      forward(forward_),
      orthogonal(orthogonal_),
      type(type_),
      threads(threads_),
      scale(scale_),
      axes(std::move(axes_)) {
  name = transform == FftKind::dct ? "dct" : transform == FftKind::dst ? "dst" : "fft";
  const uint64_t flags = static_cast<uint64_t>(transform) | uint64_t{forward} << 4 | uint64_t{orthogonal} << 5 |
                         static_cast<uint64_t>(type) << 8 | static_cast<uint64_t>(threads) << 16;
  key = Hasher(flags).add(std::bit_cast<uint64_t>(scale)).add(axes.span()).finish().lo;
}

void register_fft_plans(DeviceType type, FftPlanCache& (*cache)(Device device)) {
  g_fft_plans[static_cast<int>(type)].store(cache, std::memory_order_release);
}

FftPlanCache& fft_plans(Device device) {
  backend(device);  // opening the device registers its plan cache
  const auto cache = g_fft_plans[static_cast<int>(device.type)].load(std::memory_order_acquire);
  BC_CHECK(cache, NotImplemented, "fft: {} has no transforms", to_string(device));
  return cache(device);
}

}  // namespace bc
