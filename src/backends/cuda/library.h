#pragma once
#include <span>

#include "primitives/library.h"
#include "primitives/linalg.h"
#include "primitives/sparse.h"

/// CUDA's bodies of the library ops. They queue work on the stream; the same result from run to run.
namespace bc::cuda {

/// Registers all of them.
void register_bodies();
/// Tells where the plans of transforms are; a part of it.
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
