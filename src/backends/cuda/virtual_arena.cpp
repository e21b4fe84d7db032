#include "backends/cuda/virtual_arena.h"

#include <algorithm>

namespace bc {

using cuda::CUdeviceptr;
using cuda::CUresult;
using cuda::driver;
using cuda::driver_gone;
using cuda::kSuccess;

namespace {

cuda::CUmemAllocationProp device_memory(int device) {
  cuda::CUmemAllocationProp property{};
  property.type = cuda::kMemAllocationPinned;
  property.location.type = cuda::kMemLocationDevice;
  property.location.id = device;
  return property;
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::unique_ptr<VirtualArena> VirtualArena::reserve(CudaBackend& backend, size_t capacity) {
  if (!backend.properties().virtual_memory || capacity == 0) return nullptr;
  backend.make_current();
  cuda::CUmemAllocationProp property = device_memory(backend.device().index);
  size_t granularity = 0;
  if (driver().cuMemGetAllocationGranularity(&granularity, &property, cuda::kGranularityRecommended) != kSuccess || granularity == 0)
    return nullptr;
  capacity = round_up(capacity, granularity);
  CUdeviceptr base = 0;
  if (driver().cuMemAddressReserve(&base, capacity, 0, 0, 0) != kSuccess) return nullptr;
  return std::unique_ptr<VirtualArena>(new VirtualArena(backend, base, capacity, granularity));
}

VirtualArena::VirtualArena(CudaBackend& backend, CUdeviceptr base, size_t capacity, size_t granularity)
    : backend_(backend), base_(base), capacity_(capacity), granularity_(granularity), access_{backend.device().index} {}

VirtualArena::~VirtualArena() {
  if (driver_gone()) return;
  driver().cuCtxSetCurrent(backend_.context());
  driver().cuCtxSynchronize();
  size_t offset = 0;
  for (size_t piece : pieces_) {
    driver().cuMemUnmap(base_ + offset, piece);
    offset += piece;
  }
  driver().cuMemAddressFree(base_, capacity_);
}

CUresult VirtualArena::set_access(size_t offset, size_t bytes) const {
  std::vector<cuda::CUmemAccessDesc> access;
  for (int device : access_) access.push_back({{cuda::kMemLocationDevice, device}, cuda::kMemAccessReadWrite});
  return driver().cuMemSetAccess(base_ + offset, bytes, access.data(), access.size());
}

bool VirtualArena::grow(size_t bytes) {
  if (bytes == 0) return true;
  if (bytes > capacity_ - committed_) return false;
  backend_.make_current();
  size_t piece = std::min(round_up(bytes, granularity_), capacity_ - committed_);
  cuda::CUmemAllocationProp property = device_memory(backend_.device().index);
  cuda::CUmemGenericAllocationHandle handle = 0;
  CUresult result = driver().cuMemCreate(&handle, piece, &property, 0);
  if (result == cuda::kErrorOutOfMemory) return false;
  cuda::check(result, "cuMemCreate");
  result = driver().cuMemMap(base_ + committed_, piece, 0, handle, 0);
  driver().cuMemRelease(handle);  // the mapping keeps the memory
  cuda::check(result, "cuMemMap");
  result = set_access(committed_, piece);
  if (result != kSuccess) {
    driver().cuMemUnmap(base_ + committed_, piece);
    if (result == cuda::kErrorOutOfMemory) return false;
    cuda::check(result, "cuMemSetAccess");
  }
  pieces_.push_back(piece);
  committed_ += piece;
  return true;
}

size_t VirtualArena::shrink(size_t bytes) {
  size_t freed = 0;
  while (!pieces_.empty() && pieces_.back() <= bytes - freed) {
    if (freed == 0) backend_.synchronize_device();
    size_t piece = pieces_.back();
    BC_DRIVER(cuMemUnmap, base_ + committed_ - piece, piece);
    pieces_.pop_back();
    committed_ -= piece;
    freed += piece;
  }
  return freed;
}

void VirtualArena::grant(const CudaBackend& peer) {
  int device = peer.device().index;
  if (std::find(access_.begin(), access_.end(), device) != access_.end()) return;
  backend_.make_current();
  access_.push_back(device);
  size_t offset = 0;
  for (size_t piece : pieces_) {
    cuda::check(set_access(offset, piece), "cuMemSetAccess");
    offset += piece;
  }
}

}  // namespace bc
