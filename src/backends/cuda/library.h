#pragma once
#include <span>

#include "primitives/library.h"
#include "primitives/linalg.h"
#include "primitives/sparse.h"

/// CUDA's bodies of the library ops. They queue work on the stream; the same result from run to run.
namespace bc::cuda {

/// Registers all of them.
void register_bodies();
/// Registers the bodies that launch only their own kernels. On the CPU these kernels run as CUDA C++ programs, and null devices record
/// their launches, so that tests can check them without a GPU.
void register_kernel_bodies(DeviceType type);
/// Registers the cache of FFT plans; called by register_bodies().
void register_fft_plans();

void run(const MatmulExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const ScanExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const ReduceatExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const NonzeroExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const CompressExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const ScatterExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const SortExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const PartitionExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const SelectExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const SearchsortedExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const FftExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const SparseExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);
void run(const LinalgExtra& op, Device device, Stream stream, std::span<const View> inputs, const View& output);

}  // namespace bc::cuda
