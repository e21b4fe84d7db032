#pragma once
#include <span>

#include "primitives/library.h"
#include "primitives/linalg.h"
#include "primitives/sparse.h"

/// The CPU's bodies of the library ops. They run in the calling thread and in parallel loops.
namespace bc::cpu {

/// Registers all of them.
void register_bodies();
/// Registers the cache of FFT plans; called by register_bodies().
void register_fft_plans();

void run(const MatmulExtra& op, std::span<const View> inputs, const View& output);
void run(const ScanExtra& op, std::span<const View> inputs, const View& output);
void run_user_scan(const ScanExtra& op, std::span<const View> inputs, const View& output);
void run(const ReduceatExtra& op, std::span<const View> inputs, const View& output);
void run(const NonzeroExtra& op, std::span<const View> inputs, const View& output);
void run(const CompressExtra& op, std::span<const View> inputs, const View& output);
void run(const ScatterExtra& op, std::span<const View> inputs, const View& output);
void run(const SortExtra& op, std::span<const View> inputs, const View& output);
void run(const PartitionExtra& op, std::span<const View> inputs, const View& output);
void run(const SelectExtra& op, std::span<const View> inputs, const View& output);
void run(const SearchsortedExtra& op, std::span<const View> inputs, const View& output);
void run(const LinalgExtra& op, std::span<const View> inputs, const View& output);
void run(const FftExtra& op, std::span<const View> inputs, const View& output);
void run(const SparseExtra& op, std::span<const View> inputs, const View& output);

}  // namespace bc::cpu
