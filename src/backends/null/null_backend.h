#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace bc {

/// A launch that the null device was asked for.
struct NullLaunch {
  std::string entry;
  Device device;
  void* stream = nullptr;
  int64_t items = 0;
  int64_t grain = 1;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  size_t params_bytes = 0;
  std::vector<std::byte> params;
  std::shared_ptr<const std::string> source;  ///< the text that was compiled
};

/// A copy that the null device made.
struct NullCopy {
  CopyKind kind = CopyKind::HostToHost;
  Device device;
  size_t bytes = 0;
};

/// A step in the order of a null device's streams.
struct NullOrder {
  enum class Kind : uint8_t { launch, copy, fill, record, wait, synchronize } kind = Kind::launch;
  Device device;
  void* stream = nullptr;
  int event = 0;  ///< of record and wait: the mark, counted from 1 since the last null_log_clear
};

/// A device that runs nothing: memory is host memory (zeros when fresh) and copies are real, kernels are only written down, so that tests
/// count them. There are kNullDevices of them.
inline constexpr int kNullDevices = 4;
std::unique_ptr<Backend> make_null_backend(int index);
/// Registers bodies of library ops that do nothing.
void register_null_bodies();

/// The launches and copies since the last null_log_clear, in order, of all null devices.
std::vector<NullLaunch> null_log();
std::vector<NullCopy> null_copies();
/// What was queued, marked and waited for, in order, of all null devices.
std::vector<NullOrder> null_order();
/// How often a null device was synchronised since the last null_log_clear.
size_t null_synchronizations();
/// How many sources were compiled since the last null_log_clear.
size_t null_compiles();
/// The sources of array expressions among them.
std::vector<KernelSource> null_sources();
void null_log_clear();

/// "null-cpu" (the first value) or "null-cuda": which skeleton the code generator writes.
void null_set_target(std::string target);
/// Whether kernels of "null-cuda" are run by the CPU, as programs of CUDA C++, after they were written down; false is the first value.
void null_run(bool on);
/// The memory that a null device seems to have, for tests of the pool; 0: 1 TiB (the first value).
void null_set_capacity(size_t bytes);
/// Which launch of array kernels fails next, counted from 0, and which copy; negative (the first value): none. It fails once.
void null_fail_launch(int number);
void null_fail_copy(int number);
/// The size of pages of null devices' virtual memory, for tests of the pool; 0 (the first value): they have none.
void null_set_pages(size_t bytes);
/// Streams that null devices cannot wait for, as CUDA's where a capture forbids it (Backend::wait_for_reuse); with any, nor for a device.
void null_set_captured(std::vector<void*> streams);
/// Called whenever a null device puts memory behind addresses; empty (the first value): nothing is.
void null_on_commit(std::function<void()> f);

}  // namespace bc
