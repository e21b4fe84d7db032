#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cuda/cuda_backend.h"

namespace bc {

/// A range of device addresses that physical memory is put behind piece by piece, so that a block at its end can grow in place and freed
/// neighbours are always neighbours. Not thread-safe; the pool locks.
class VirtualArena {
 public:
  /// Reserves addresses (no memory) for up to `capacity` bytes. nullptr when the device or the driver has no virtual memory management or
  /// no addresses are left.
  static std::unique_ptr<VirtualArena> reserve(CudaBackend& backend, size_t capacity);
  ~VirtualArena();
  VirtualArena(const VirtualArena&) = delete;
  VirtualArena& operator=(const VirtualArena&) = delete;

  void* base() const { return reinterpret_cast<void*>(base_); }
  size_t committed() const { return committed_; }
  size_t capacity() const { return capacity_; }
  size_t granularity() const { return granularity_; }

  /// Puts at least `bytes` more behind the committed end, rounded up to the granularity. False when the device has no more memory or the
  /// range is full; nothing has changed then.
  bool grow(size_t bytes);
  /// Gives up to `bytes` back from the end, in whole pieces as they were grown; returns how many. Waits for the device.
  size_t shrink(size_t bytes);
  /// Lets another device use the range, now and after later growth.
  void grant(const CudaBackend& peer);

 private:
  VirtualArena(CudaBackend& backend, cuda::CUdeviceptr base, size_t capacity, size_t granularity);
  cuda::CUresult set_access(size_t offset, size_t bytes) const;

  CudaBackend& backend_;
  const cuda::CUdeviceptr base_;
  const size_t capacity_;
  const size_t granularity_;
  size_t committed_ = 0;
  std::vector<size_t> pieces_;  // bytes of each mapping, in the order of addresses
  std::vector<int> access_;     // devices that may use the range
};

}  // namespace bc
