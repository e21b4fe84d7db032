#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/cuda_api.h"

namespace bc::cuda {

/// A few threads that copy together with the caller. They start at the first use and sleep in between.
class CopyThreads {
 public:
  explicit CopyThreads(int most) : most_(most) {}
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  /// The maximum number of threads that run at once, including the caller.
  int most() const { return most_; }
  /// Calls work(0) in the caller's thread and work(1) … work(count - 1) each in another thread; returns when all calls that began have
  /// returned. Calls that have not begun when work(0) returns are skipped, so the calls must share one load. `work` must not throw. Only
  /// one caller at a time.
  void run(int count, const std::function<void(int)>& work);

 private:
  struct Shared;
  const int most_;
  std::shared_ptr<Shared> shared_;
};

/// Copies with non-temporal stores, for blocks that are not read soon. Any alignment.
void copy_streaming(void* dst, const void* src, size_t bytes);

/// Copies between pageable host memory and one device.
///
/// A plain copy of pageable memory makes the driver stage it in one thread (5-9 GB/s seen on an H200 host). Here several threads each own a
/// pair of pinned buffers: while one buffer is on the bus, the other is filled or emptied, so the bus is the limit.
///
/// Small uploads go through a pinned ring and never wait for the device. Small reads, such as a scalar for Python, avoid the copy engine
/// and its synchronisation with the compute engine (CudaFigures in the tests times both): a kernel of one warp writes each 4-byte word
/// together with a 4-byte ticket into mapped host memory, as one 8-byte store, and the host polls the tickets. No fence is needed, since an
/// 8-byte store arrives whole.
class HostCopy {
 public:
  static constexpr size_t kSmallUpload = 64 << 10;  ///< uploads up to this size use the ring
  static constexpr size_t kSmallRead = 4 << 10;     ///< reads up to this size use the read kernel

  explicit HostCopy(CUcontext context);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  /// The context must be current, and the stream not be captured. Returns when `src` may be reused; the device gets the bytes in the
  /// stream's order. `lasting`: the stream cannot be destroyed without a call of forget(stream).
  void upload(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream, bool lasting);
  /// Returns when the bytes are in `dst`.
  void download(void* dst, CUdeviceptr src, size_t bytes, CUstream stream);
  /// Must be called before a stream is destroyed.
  void forget(CUstream stream);

  /// The two methods for small reads, for tests and measurements. Without the driver's PTX compiler read_by_kernel() calls read_by_copy().
  void read_by_kernel(void* dst, CUdeviceptr src, size_t bytes, CUstream stream);
  void read_by_copy(void* dst, CUdeviceptr src, size_t bytes, CUstream stream);

 private:
  struct Segment {
    CUevent event = nullptr;
    CUstream stream = nullptr;  // a segment holds copies of one stream only, so that one event tells when it is free
    size_t used = 0;
    bool recorded = false;  // the event marks all of its copies
  };
  struct Buffer {
    char* data = nullptr;
    CUevent event = nullptr;
    bool busy = false;  // the copy that the event marks may still read the buffer
  };
  struct Lane {
    Buffer buffers[2];
    size_t bytes = 0;
  };

  /// The memory of an interrupted read, to which the device still writes.
  struct LeftRead {
    CUevent event = nullptr;      // after this event the memory is free
    std::function<void()> reuse;  // frees the memory for reuse
  };
  /// Abandons a queued read: a later read calls `reuse` after the device has executed it.
  void leave_read(CUstream stream, std::function<void()> reuse);
  void reclaim_reads();
  char* take_staging();
  bool upload_small(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream, bool lasting);
  void open_ring();
  static void close(Segment& segment);
  bool next_segment();
  void upload_large(CUdeviceptr dst, const char* src, size_t bytes, CUstream stream);
  void download_large(char* dst, CUdeviceptr src, size_t bytes, CUstream stream);
  void run_lanes(size_t bytes, size_t chunk, const char* call, const std::function<CUresult(Lane&, std::atomic<size_t>&)>& lane_work);
  CUresult prepare_lane(Lane& lane, size_t chunk);
  bool open_read_slots();

  static constexpr int kSegments = 8;
  static constexpr size_t kSegmentBytes = 256 << 10;
  static constexpr int kSlots = 64;
  static constexpr size_t kSlotBytes = 2 * kSmallRead;

  const CUcontext context_;

  std::mutex ring_mutex_;
  char* ring_ = nullptr;
  std::array<Segment, kSegments> segments_;
  int segment_ = 0;

  std::mutex lanes_mutex_;  // held by the one large copy that runs
  CopyThreads threads_;
  std::vector<Lane> lanes_;

  std::mutex reads_mutex_;
  std::vector<char*> staging_;  // free staging buffers for reads by the copy engine
  std::vector<LeftRead> left_reads_;
  std::atomic<bool> reads_left_{false};

  std::once_flag slots_once_;
  char* slots_ = nullptr;  // host address
  CUdeviceptr slots_device_ = 0;
  CUmodule read_module_ = nullptr;
  CUfunction read_kernel_ = nullptr;
  std::atomic<uint64_t> free_slots_{~uint64_t{0}};
  std::atomic<unsigned> ticket_{0};
};

/// The read kernel's PTX, for tests.
extern const char* const kReadKernelPtx;

}  // namespace bc::cuda
