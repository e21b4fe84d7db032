#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/cuda_api.h"

namespace bc {

/// Device memory whose addresses and pages are apart: addresses are reserved once, and pieces of memory put behind them and taken away.
/// Thread-safe; the device's context is current in the calling thread.
class VirtualMemory {
 public:
  /// Switched off by `usable` false (a driver or device without it) or the environment's BROADCLOTH_VIRTUAL_MEMORY=0.
  VirtualMemory(int device, bool usable);

  size_t page() const { return page_; }  ///< 0: there is none
  void* reserve(size_t bytes);
  bool commit(void* at, size_t bytes);
  void decommit(void* at, size_t bytes);
  /// Lets another device use all of it, now and from now on.
  void grant(int device);
  /// Whether an address lies in a reserved range: such memory has no handle for other processes.
  bool owns(const void* at) const;

 private:
  cuda::CUresult set_access(cuda::CUdeviceptr at, size_t bytes) const;

  const int device_;
  size_t page_ = 0;
  mutable std::mutex mutex_;
  std::map<cuda::CUdeviceptr, size_t> ranges_, pieces_;
  std::vector<int> access_;  ///< devices that may use the memory
};

}  // namespace bc
