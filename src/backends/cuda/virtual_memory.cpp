#include "backends/cuda/virtual_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "backends/cuda/cuda_libraries.h"

namespace bc {

using cuda::CUdeviceptr;
using cuda::CUresult;
using cuda::driver;
using cuda::kSuccess;

namespace {

cuda::CUmemAllocationProp device_memory(int device) {
  cuda::CUmemAllocationProp property{};
  property.type = cuda::kMemAllocationPinned;
  property.location.type = cuda::kMemLocationDevice;
  property.location.id = device;
  return property;
}

CUdeviceptr address(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }

}  // namespace

VirtualMemory::VirtualMemory(int device, bool usable) : device_(device), access_{device} {
  const char* wish = std::getenv("BROADCLOTH_VIRTUAL_MEMORY");
  if (!usable || (wish && wish[0] == '0')) return;
  const cuda::CUmemAllocationProp property = device_memory(device);
  size_t page = 0;
  const CUresult known = driver().cuMemGetAllocationGranularity(&page, &property, cuda::kGranularityRecommended);
  if (known == kSuccess && std::has_single_bit(page)) page_ = page;
}

void* VirtualMemory::reserve(size_t bytes) {
  CUdeviceptr base = 0;
  if (!page_ || driver().cuMemAddressReserve(&base, bytes, page_, 0, 0) != kSuccess) return nullptr;
  const std::lock_guard lock(mutex_);
  ranges_[base] = bytes;
  return reinterpret_cast<void*>(base);
}

CUresult VirtualMemory::set_access(CUdeviceptr at, size_t bytes) const {
  std::vector<cuda::CUmemAccessDesc> access;
  for (int device : access_) access.push_back({{cuda::kMemLocationDevice, device}, cuda::kMemAccessReadWrite});
  return driver().cuMemSetAccess(at, bytes, access.data(), access.size());
}

bool VirtualMemory::commit(void* at, size_t bytes) {
  const CUdeviceptr place = address(at);
  const cuda::CUmemAllocationProp property = device_memory(device_);
  cuda::CUmemGenericAllocationHandle handle = 0;
  CUresult result = driver().cuMemCreate(&handle, bytes, &property, 0);
  if (result == cuda::kErrorOutOfMemory) return false;
  cuda::check(result, "cuMemCreate");
  result = driver().cuMemMap(place, bytes, 0, handle, 0);
  driver().cuMemRelease(handle);  // the mapping keeps the memory
  cuda::check(result, "cuMemMap");
  const std::lock_guard lock(mutex_);
  result = set_access(place, bytes);
  if (result != kSuccess) {
    driver().cuMemUnmap(place, bytes);
    if (result == cuda::kErrorOutOfMemory) return false;
    cuda::check(result, "cuMemSetAccess");
  }
  pieces_[place] = bytes;
  return true;
}

void VirtualMemory::decommit(void* at, size_t bytes) {
  const std::lock_guard lock(mutex_);
  pieces_.erase(address(at));
  const CUresult result = driver().cuMemUnmap(address(at), bytes);
  // A lost context has lost its memory too, so only a wrong pointer is an error.
  if (result == cuda::kErrorInvalidValue) cuda::check(result, "cuMemUnmap");
}

void VirtualMemory::grant(int device) {
  const std::lock_guard lock(mutex_);
  if (std::find(access_.begin(), access_.end(), device) != access_.end()) return;
  access_.push_back(device);
  for (const auto& [at, bytes] : pieces_) cuda::check(set_access(at, bytes), "cuMemSetAccess");
}

bool VirtualMemory::owns(const void* at) const {
  const std::lock_guard lock(mutex_);
  const auto after = ranges_.upper_bound(address(at));
  if (after == ranges_.begin()) return false;
  const auto& [base, bytes] = *std::prev(after);
  return address(at) - base < bytes;
}

}  // namespace bc
