#include "backends/cuda/host_copy.h"

#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "backends/cuda/cuda_libraries.h"
#include "backends/cuda/wait.h"
#include "runtime/interrupt.h"

namespace bc::cuda {

// Hand-written PTX needs no NVRTC: a process that only reads scalars compiles nothing, and the driver translates these few lines at once.
// One thread per 4-byte word; an unaligned word and a partial last word are assembled from bytes.
const char* const kReadKernelPtx = R"(
.version 6.3
.target sm_50
.address_size 64
.visible .entry bc_read(.param .u64 src, .param .u64 dst, .param .u32 bytes, .param .u32 ticket)
{
  .reg .pred %p<6>;
  .reg .b32 %index, %stride, %offset, %bytes, %ticket, %rest, %word, %byte, %shift, %low;
  .reg .b64 %src, %dst, %from, %to, %packed, %wide;
  ld.param.u64 %src, [src];
  ld.param.u64 %dst, [dst];
  ld.param.u32 %bytes, [bytes];
  ld.param.u32 %ticket, [ticket];
  cvta.to.global.u64 %src, %src;
  cvta.to.global.u64 %dst, %dst;
  mov.u32 %index, %tid.x;
  mov.u32 %stride, %ntid.x;
  cvt.u32.u64 %low, %src;
  and.b32 %low, %low, 3;
  setp.eq.u32 %p0, %low, 0;
Next:
  shl.b32 %offset, %index, 2;
  setp.ge.u32 %p1, %offset, %bytes;
  @%p1 bra Done;
  sub.u32 %rest, %bytes, %offset;
  cvt.u64.u32 %wide, %offset;
  add.u64 %from, %src, %wide;
  setp.ge.and.u32 %p2, %rest, 4, %p0;
  @!%p2 bra Bytes;
  ld.volatile.global.u32 %word, [%from];
  bra Store;
Bytes:
  mov.u32 %word, 0;
  mov.u32 %shift, 0;
  min.u32 %rest, %rest, 4;
NextByte:
  ld.volatile.global.u8 %byte, [%from];
  shl.b32 %byte, %byte, %shift;
  or.b32 %word, %word, %byte;
  add.u64 %from, %from, 1;
  add.u32 %shift, %shift, 8;
  sub.u32 %rest, %rest, 1;
  setp.ne.u32 %p3, %rest, 0;
  @%p3 bra NextByte;
Store:
  mov.b64 %packed, {%word, %ticket};
  mul.wide.u32 %wide, %index, 8;
  add.u64 %to, %dst, %wide;
  st.volatile.global.u64 [%to], %packed;
  add.u32 %index, %index, %stride;
  bra Next;
Done:
  ret;
}
)";

// ---- Copy threads -------------------------------------------------------------------------------------------------------------------

struct CopyThreads::Shared {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  const std::function<void(int)>* work = nullptr;
  int next = 0;     // the next index to start
  int count = 0;    // number of indices of the current job
  int running = 0;  // started and not finished
  int threads = 0;
  bool stop = false;

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [&] { return stop || next < count; });
      if (stop) return;
      int index = next++;
      ++running;
      lock.unlock();
      (*work)(index);
      lock.lock();
      if (--running == 0 && next >= count) done.notify_one();
    }
  }
};

CopyThreads::~CopyThreads() {
  // The threads are detached and hold the shared state; they end by themselves.
  if (!shared_) return;
  std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->wake.notify_all();
}

void CopyThreads::run(int count, const std::function<void(int)>& work) {
  count = std::min(count, most_);
  if (count <= 1) {
    work(0);
    return;
  }
  if (!shared_) shared_ = std::make_shared<Shared>();
  Shared& s = *shared_;
  {
    std::unique_lock lock(s.mutex);
    while (s.threads < count - 1) {
      std::thread([shared = shared_] { shared->loop(); }).detach();
      ++s.threads;
    }
    s.work = &work;
    s.next = 1;
    s.count = count;
  }
  s.wake.notify_all();
  work(0);
  std::unique_lock lock(s.mutex);
  // Indices that no thread has started are skipped: the lanes share one list of chunks, and the caller has found it empty.
  s.count = s.next;
  s.done.wait(lock, [&] { return s.running == 0; });
  s.work = nullptr;
  s.next = s.count = 0;
}

// ---- Streaming copy -----------------------------------------------------------------------------------------------------------------

namespace {

__attribute__((target("avx"))) void copy_streaming_avx(char* dst, const char* src, size_t bytes) {
  size_t head = (32 - (reinterpret_cast<uintptr_t>(dst) & 31)) & 31;
  head = std::min(head, bytes);
  std::memcpy(dst, src, head);
  dst += head, src += head, bytes -= head;
  size_t blocks = bytes / 128;
  for (size_t i = 0; i < blocks; ++i, dst += 128, src += 128) {
    _mm_prefetch(src + 1024, _MM_HINT_NTA);
    __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
    __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 32));
    __m256i c = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 64));
    __m256i d = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src + 96));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 32), b);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 64), c);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(dst + 96), d);
  }
  _mm_sfence();
  std::memcpy(dst, src, bytes % 128);
}

}  // namespace

void copy_streaming(void* dst, const void* src, size_t bytes) {
  static const bool avx = __builtin_cpu_supports("avx");
  if (avx)
    copy_streaming_avx(static_cast<char*>(dst), static_cast<const char*>(src), bytes);
  else
    std::memcpy(dst, src, bytes);
}

// ---- HostCopy -----------------------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t kMaxChunk = 2 << 20;
constexpr size_t kMinChunk = 256 << 10;
constexpr size_t kKeepInCache = 16 << 20;  // results up to this size are written to the host's caches, because the caller reads them next
constexpr auto kSpin = std::chrono::microseconds(50);

/// BROADCLOTH_COPY_THREADS, else half the cores, at most 8: the bus is saturated before the memory.
int copy_thread_count() {
  if (const char* text = std::getenv("BROADCLOTH_COPY_THREADS"))
    if (int wanted = std::atoi(text); wanted > 0) return std::min(wanted, 64);
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(cores / 2, 1, 8);
}

/// Populates the pages of new memory with one call for each chunk, which costs less than a page fault for each page and overlaps with
/// transfers.
void populate(char* begin, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  constexpr int kPopulateWrite = MADV_POPULATE_WRITE;
#else
  constexpr int kPopulateWrite = 23;  // Linux 5.14; older kernels answer EINVAL
#endif
  static std::atomic<bool> known{true};
  if (!known.load(std::memory_order_relaxed)) return;
  static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) & ~(page - 1);
  uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes) & ~(page - 1);
  if (first < last && madvise(reinterpret_cast<void*>(first), last - first, kPopulateWrite) != 0)
    known.store(false, std::memory_order_relaxed);
}

bool captured(CUstream stream) {
  int status = kCaptureStatusNone;
  const CUresult result = driver().cuStreamIsCapturing(stream, &status);
  return is_capture_error(result) || (result == kSuccess && status != kCaptureStatusNone);
}

/// While a stream that waits for the default stream is captured, work on the default stream would invalidate that capture; raises instead.
void check_default_stream(CUstream stream) {
  BC_CHECK(stream || !captured(stream), Runtime,
           "copy: the default stream cannot be used while a stream that waits for it is captured; make that one with non_blocking=True");
}

}  // namespace

HostCopy::HostCopy(CUcontext context) : context_(context), threads_(copy_thread_count()), lanes_(static_cast<size_t>(threads_.most())) {}

HostCopy::~HostCopy() {
  if (driver_gone()) return;
  const DriverApi& api = driver();
  if (ring_) api.cuMemFreeHost(ring_);
  for (Segment& segment : segments_)
    if (segment.event) api.cuEventDestroy(segment.event);
  for (Lane& lane : lanes_)
    for (Buffer& buffer : lane.buffers) {
      if (buffer.data) api.cuMemFreeHost(buffer.data);
      if (buffer.event) api.cuEventDestroy(buffer.event);
    }
  for (char* data : staging_) api.cuMemFreeHost(data);
  if (slots_) api.cuMemFreeHost(slots_);
  if (read_module_) api.cuModuleUnload(read_module_);
}

void HostCopy::upload(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream, bool lasting) {
  if (bytes == 0) return;
  check_default_stream(stream);
  if (bytes > kSmallUpload || !upload_small(dst, src, bytes, stream, lasting))
    upload_large(dst, static_cast<const char*>(src), bytes, stream);
}

void HostCopy::download(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  if (bytes == 0) return;
  check_default_stream(stream);
  if (bytes <= kSmallRead)
    read_by_kernel(dst, src, bytes, stream);
  else if (bytes <= kSmallUpload)
    read_by_copy(dst, src, bytes, stream);
  else
    download_large(static_cast<char*>(dst), src, bytes, stream);
}

// ---- Small uploads

void HostCopy::open_ring() {
  const RelaxedCapture relaxed;
  for (Segment& segment : segments_)
    if (!segment.event) BC_DRIVER(cuEventCreate, &segment.event, kEventDisableTiming);
  void* memory = nullptr;
  BC_DRIVER(cuMemHostAlloc, &memory, kSegments * kSegmentBytes, kHostAllocPortable);
  ring_ = static_cast<char*>(memory);
}

/// Records the event after a segment's copies. During a capture of the stream, the event would belong to the graph and could not be waited
/// for; then the segment stays open until the capture ends.
void HostCopy::close(Segment& segment) {
  if (!segment.used || segment.recorded || captured(segment.stream)) return;
  BC_DRIVER(cuEventRecord, segment.event, segment.stream);
  segment.recorded = true;
}

/// Moves to the next segment whose copies have ended or can be waited for; false if there is none.
bool HostCopy::next_segment() {
  close(segments_[segment_]);
  for (int k = 1; k <= kSegments; ++k) {
    const int next = (segment_ + k) % kSegments;
    Segment& fresh = segments_[next];
    close(fresh);
    if (fresh.used && !fresh.recorded) continue;
    if (fresh.recorded) BC_DRIVER(cuEventSynchronize, fresh.event);
    fresh.used = 0;
    fresh.recorded = false;
    segment_ = next;
    return true;
  }
  return false;
}

bool HostCopy::upload_small(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream, bool lasting) {
  std::lock_guard lock(ring_mutex_);
  if (!ring_) open_ring();
  const Segment& last = segments_[segment_];
  if ((last.recorded || (last.used && (last.stream != stream || last.used + bytes > kSegmentBytes))) && !next_segment()) return false;
  Segment& segment = segments_[segment_];
  segment.stream = stream;
  char* place = ring_ + segment_ * kSegmentBytes + segment.used;
  std::memcpy(place, src, bytes);
  BC_DRIVER(cuMemcpyHtoDAsync, dst, place, bytes, stream);
  segment.used += (bytes + 63) & ~size_t{63};
  if (!lasting) {
    // Another library owns the stream and may destroy it at any time, so the event is recorded now.
    BC_DRIVER(cuEventRecord, segment.event, stream);
    segment.recorded = true;
  }
  return true;
}

void HostCopy::forget(CUstream stream) {
  std::lock_guard lock(ring_mutex_);
  for (Segment& segment : segments_)
    if (segment.stream == stream) close(segment);
}

// ---- Small reads

bool HostCopy::open_read_slots() {
  std::call_once(slots_once_, [this] {
    const RelaxedCapture relaxed;
    // Fails if the driver's PTX compiler is not installed (libnvidia-ptxjitcompiler) or is switched off; then the copy engine is used.
    if (driver().cuModuleLoadDataEx(&read_module_, kReadKernelPtx, 0, nullptr, nullptr) != kSuccess) {
      read_module_ = nullptr;
      return;
    }
    void* memory = nullptr;
    BC_DRIVER(cuMemHostAlloc, &memory, kSlots * kSlotBytes, kHostAllocPortable | kHostAllocDeviceMap);
    std::memset(memory, 0, kSlots * kSlotBytes);
    slots_ = static_cast<char*>(memory);
    BC_DRIVER(cuMemHostGetDevicePointer, &slots_device_, memory, 0);
    BC_DRIVER(cuModuleGetFunction, &read_kernel_, read_module_, "bc_read");
  });
  return read_kernel_ != nullptr;
}

void HostCopy::leave_read(CUstream stream, std::function<void()> reuse) {
  LeftRead left{nullptr, std::move(reuse)};
  const RelaxedCapture relaxed;
  const DriverApi& api = driver();
  // If no event can be created, the memory is never reused.
  if (api.cuEventCreate(&left.event, kEventDisableTiming) != kSuccess || api.cuEventRecord(left.event, stream) != kSuccess) return;
  const std::lock_guard lock(reads_mutex_);
  left_reads_.push_back(std::move(left));
  reads_left_.store(true, std::memory_order_relaxed);
}

void HostCopy::reclaim_reads() {
  if (!reads_left_.load(std::memory_order_relaxed)) [[likely]]
    return;
  const RelaxedCapture relaxed;
  std::vector<LeftRead> done;
  {
    const std::lock_guard lock(reads_mutex_);
    std::erase_if(left_reads_, [&](LeftRead& left) {
      if (driver().cuEventQuery(left.event) == kErrorNotReady) return false;
      done.push_back(std::move(left));
      return true;
    });
    reads_left_.store(!left_reads_.empty(), std::memory_order_relaxed);
  }
  for (const LeftRead& left : done) {
    driver().cuEventDestroy(left.event);
    left.reuse();
  }
}

void HostCopy::read_by_kernel(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  if (!open_read_slots()) return read_by_copy(dst, src, bytes, stream);
  reclaim_reads();
  // Takes the lowest free slot; if all 64 are in use, the copy engine is used.
  uint64_t free = free_slots_.load(std::memory_order_relaxed);
  do {
    if (free == 0) return read_by_copy(dst, src, bytes, stream);
  } while (!free_slots_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire, std::memory_order_relaxed));
  int slot = std::countr_zero(free);
  const uint64_t bit = uint64_t{1} << slot;
  struct Release {
    std::atomic<uint64_t>* slots;
    uint64_t bit;
    ~Release() {
      if (slots) slots->fetch_or(bit, std::memory_order_release);
    }
  } release{&free_slots_, bit};

  unsigned ticket = ticket_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (ticket == 0) ticket = ticket_.fetch_add(1, std::memory_order_relaxed) + 1;  // fresh slots hold zeros
  unsigned count = static_cast<unsigned>(bytes);
  unsigned words = (count + 3) / 4;
  CUdeviceptr to = slots_device_ + slot * kSlotBytes;
  void* arguments[] = {&src, &to, &count, &ticket};
  unsigned threads = words <= 32 ? 32 : 256;
  BC_DRIVER(cuLaunchKernel, read_kernel_, 1, 1, 1, threads, 1, 1, 0, stream, arguments, nullptr);

  auto* packed = reinterpret_cast<const uint64_t*>(slots_ + slot * kSlotBytes);
  auto arrived = [&](unsigned word) { return static_cast<unsigned>(__atomic_load_n(packed + word, __ATOMIC_ACQUIRE) >> 32) == ticket; };
  const auto deadline = std::chrono::steady_clock::now() + kSpin;
  unsigned word = 0;
  for (unsigned spins = 0; word < words;) {
    if (arrived(word)) {
      ++word;
      continue;
    }
    _mm_pause();
    if (++spins % 64 == 0 && std::chrono::steady_clock::now() > deadline) break;
  }
  if (word < words) {
    // Earlier work takes longer, or has failed: the driver waits more efficiently, and returns the error.
    try {
      check(synchronize_stream(stream), "cuStreamSynchronize");
    } catch (const Interrupted&) {
      release.slots = nullptr;
      leave_read(stream, [this, bit] { free_slots_.fetch_or(bit, std::memory_order_release); });
      throw;
    }
    for (; word < words; ++word)
      BC_CHECK(arrived(word), Runtime, "copy: the device finished its work, but {} of {} bytes did not reach the host", bytes - word * 4,
               bytes);
  }
  auto* out = static_cast<char*>(dst);
  for (unsigned i = 0; i < words; ++i) {
    unsigned value = static_cast<unsigned>(packed[i]);
    std::memcpy(out + i * 4, &value, std::min<size_t>(4, bytes - i * 4));
  }
}

void HostCopy::read_by_copy(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  BC_CHECK(bytes <= kMinChunk, Value, "read_by_copy: expected at most {} bytes, got {}", kMinChunk, bytes);
  reclaim_reads();
  char* const staging = take_staging();
  const auto give_back = [this, staging] {
    const std::lock_guard lock(reads_mutex_);
    staging_.push_back(staging);
  };
  try {
    BC_DRIVER(cuMemcpyDtoHAsync, staging, src, bytes, stream);
    check(synchronize_stream(stream), "cuStreamSynchronize");
  } catch (const Interrupted&) {
    leave_read(stream, give_back);
    throw;
  } catch (...) {
    give_back();
    throw;
  }
  std::memcpy(dst, staging, bytes);
  give_back();
}

char* HostCopy::take_staging() {
  {
    const std::lock_guard lock(reads_mutex_);
    if (!staging_.empty()) {
      char* const free = staging_.back();
      staging_.pop_back();
      return free;
    }
  }
  const RelaxedCapture relaxed;
  void* memory = nullptr;
  BC_DRIVER(cuMemHostAlloc, &memory, kMinChunk, kHostAllocPortable);
  return static_cast<char*>(memory);
}

// ---- Large copies

CUresult HostCopy::prepare_lane(Lane& lane, size_t chunk) {
  const DriverApi& api = driver();
  if (lane.bytes >= chunk) return kSuccess;
  const RelaxedCapture relaxed;
  for (Buffer& buffer : lane.buffers) {
    if (buffer.busy) {
      if (CUresult result = api.cuEventSynchronize(buffer.event)) return result;
      buffer.busy = false;
    }
    if (buffer.data) api.cuMemFreeHost(buffer.data);
    buffer.data = nullptr;
    lane.bytes = 0;
    void* memory = nullptr;
    if (CUresult result = api.cuMemHostAlloc(&memory, chunk, kHostAllocPortable)) return result;
    buffer.data = static_cast<char*>(memory);
    if (!buffer.event)
      if (CUresult result = api.cuEventCreate(&buffer.event, kEventDisableTiming)) return result;
  }
  lane.bytes = chunk;
  return kSuccess;
}

namespace {

/// Chunks large enough to hide a call's cost, small enough that every lane has some.
size_t chunk_bytes(size_t bytes, int lanes) {
  size_t even = (bytes / (2 * static_cast<size_t>(lanes)) + 65535) & ~size_t{65535};
  return std::clamp(even, kMinChunk, kMaxChunk);
}

/// Buffers have one of two sizes, so that each is allocated at most twice.
size_t buffer_bytes(size_t chunk) { return chunk <= kMinChunk ? kMinChunk : kMaxChunk; }

}  // namespace

void HostCopy::run_lanes(size_t bytes, size_t chunk, const char* call,
                         const std::function<CUresult(Lane&, std::atomic<size_t>&)>& lane_work) {
  size_t chunks = (bytes + chunk - 1) / chunk;
  int lanes = static_cast<int>(std::min<size_t>(chunks, lanes_.size()));
  std::atomic<size_t> next{0};
  std::atomic<CUresult> failure{kSuccess};
  threads_.run(lanes, [&](int index) {
    CUresult result = kSuccess;
    if (index != 0) result = driver().cuCtxSetCurrent(context_);
    if (result == kSuccess) result = prepare_lane(lanes_[static_cast<size_t>(index)], buffer_bytes(chunk));
    if (result == kSuccess) result = lane_work(lanes_[static_cast<size_t>(index)], next);
    if (result != kSuccess) {
      next.store(chunks);  // the others stop at their next chunk
      CUresult none = kSuccess;
      failure.compare_exchange_strong(none, result);
    }
  });
  check(failure.load(), call);
}

void HostCopy::upload_large(CUdeviceptr dst, const char* src, size_t bytes, CUstream stream) {
  std::lock_guard lock(lanes_mutex_);
  const size_t chunk = chunk_bytes(bytes, threads_.most());
  run_lanes(bytes, chunk, "cuMemcpyHtoDAsync", [&](Lane& lane, std::atomic<size_t>& next) -> CUresult {
    const DriverApi& api = driver();
    int turn = 0;
    for (;;) {
      size_t begin = next.fetch_add(1, std::memory_order_relaxed) * chunk;
      if (begin >= bytes) return kSuccess;
      size_t count = std::min(chunk, bytes - begin);
      Buffer& buffer = lane.buffers[turn ^= 1];
      if (buffer.busy)
        if (CUresult result = api.cuEventSynchronize(buffer.event)) return result;
      buffer.busy = false;
      copy_streaming(buffer.data, src + begin, count);
      if (CUresult result = api.cuMemcpyHtoDAsync(dst + begin, buffer.data, count, stream)) return result;
      if (CUresult result = api.cuEventRecord(buffer.event, stream)) return result;
      buffer.busy = true;
    }
  });
}

void HostCopy::download_large(char* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  // One thread waits for earlier work first, so that the lanes' waits are short.
  check(synchronize_stream(stream), "cuStreamSynchronize");
  std::lock_guard lock(lanes_mutex_);
  const size_t chunk = chunk_bytes(bytes, threads_.most());
  run_lanes(bytes, chunk, "cuMemcpyDtoHAsync", [&](Lane& lane, std::atomic<size_t>& next) -> CUresult {
    const DriverApi& api = driver();
    auto request = [&](Buffer& buffer, size_t& begin) -> CUresult {
      begin = next.fetch_add(1, std::memory_order_relaxed) * chunk;
      if (begin >= bytes) return kSuccess;
      if (buffer.busy)
        if (CUresult result = api.cuEventSynchronize(buffer.event)) return result;
      buffer.busy = false;
      if (CUresult result = api.cuMemcpyDtoHAsync(buffer.data, src + begin, std::min(chunk, bytes - begin), stream)) return result;
      if (CUresult result = api.cuEventRecord(buffer.event, stream)) return result;
      buffer.busy = true;
      return kSuccess;
    };
    int turn = 0;
    size_t begin = 0;
    if (CUresult result = request(lane.buffers[0], begin)) return result;
    while (begin < bytes) {
      size_t ahead = 0;
      if (CUresult result = request(lane.buffers[turn ^ 1], ahead)) return result;
      size_t count = std::min(chunk, bytes - begin);
      Buffer& buffer = lane.buffers[turn];
      populate(dst + begin, count);
      if (CUresult result = api.cuEventSynchronize(buffer.event)) return result;
      buffer.busy = false;
      if (bytes > kKeepInCache)
        copy_streaming(dst + begin, buffer.data, count);
      else
        std::memcpy(dst + begin, buffer.data, count);
      begin = ahead;
      turn ^= 1;
    }
    return kSuccess;
  });
}

}  // namespace bc::cuda
