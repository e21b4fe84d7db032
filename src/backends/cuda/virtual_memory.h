#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/cuda_api.h"

namespace bc {

/// Virtual memory of a device: addresses are reserved once, and pieces of memory are mapped and unmapped later. Thread-safe; the device's
/// context must be current in the calling thread.
class VirtualMemory {
 public:
  /// Off if `usable` is false (the driver or device lacks it) or if BROADCLOTH_VIRTUAL_MEMORY=0.
  VirtualMemory(int device, bool usable);

  size_t page() const { return page_; }  ///< 0: virtual memory is off
  void* reserve(size_t bytes);
  bool commit(void* at, size_t bytes);
  void decommit(void* at, size_t bytes);
  /// Lets another device access all of the memory, including memory that is committed later.
  void grant(int device);
  /// Whether an address is in a reserved range; such memory has no handle for other processes.
  bool owns(const void* at) const;

 private:
  cuda::CUresult set_access(cuda::CUdeviceptr at, size_t bytes) const;

  const int device_;
  size_t page_ = 0;
  mutable std::mutex mutex_;
  std::map<cuda::CUdeviceptr, size_t> ranges_, pieces_;
  std::vector<int> access_;  ///< devices that may access the memory
};

}  // namespace bc
