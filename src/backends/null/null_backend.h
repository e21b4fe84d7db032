#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace bc {

/// A recorded launch of a null device.
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

/// A recorded copy of a null device.
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

/// A device that runs no kernels: its memory is host memory (new memory is zero) and copies are real, but kernels are only recorded, so
/// that tests can count them. There are kNullDevices of them.
inline constexpr int kNullDevices = 4;
std::unique_ptr<Backend> make_null_backend(int index);
/// Registers bodies of library ops that do nothing.
void register_null_bodies();

/// The launches and copies since the last null_log_clear, in order, of all null devices.
std::vector<NullLaunch> null_log();
std::vector<NullCopy> null_copies();
/// All queued work, recorded events and waits of all null devices, in order.
std::vector<NullOrder> null_order();
/// How often a null device was synchronised since the last null_log_clear.
size_t null_synchronizations();
/// How many sources were compiled since the last null_log_clear.
size_t null_compiles();
/// The sources of array expressions that were compiled since the last null_log_clear.
std::vector<KernelSource> null_sources();
void null_log_clear();

/// "null-cpu" (the first value) or "null-cuda": which skeleton the code generator writes.
void null_set_target(std::string target);
/// Whether kernels of "null-cuda" also run on the CPU, as CUDA C++ programs, after they were recorded; false at first.
void null_run(bool on);
/// Sets the memory size that a null device reports, for tests of the pool; 0: 1 TiB (the initial value).
void null_set_capacity(size_t bytes);
/// Makes a launch of an array kernel, or a copy, fail once, counted from 0; negative (the initial value): none fails.
void null_fail_launch(int number);
void null_fail_copy(int number);
/// Sets the page size of null devices' virtual memory, for tests of the pool; 0 (the initial value): no virtual memory.
void null_set_pages(size_t bytes);
/// Sets the streams for which null devices cannot wait, as if captures forbade it (Backend::wait_for_reuse). If there are any, waiting for
/// the device fails too.
void null_set_captured(std::vector<void*> streams);
/// Sets a function that is called whenever a null device commits memory; empty (the initial value): none.
void null_on_commit(std::function<void()> f);

}  // namespace bc
