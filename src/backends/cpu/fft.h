#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

/// The interface between the engine and its copies of DUCC's FFT, one for each instruction set. Each copy exports only its entry point, so
/// that C++ library templates that it instantiates are never used by code for older processors.
namespace bc::cpu {

enum class FftStep : uint8_t { c2c, r2c, c2r, dct, dst };

/// A transform of arrays that do not overlap.
struct FftCall {
  FftStep step;
  bool wide;        ///< double precision
  bool forward;     ///< the exponent is negative
  bool orthogonal;  ///< dct and dst
  int type;         ///< dct and dst
  double scale;
  int ndim;
  const void* in;
  const int64_t* in_shape;
  const int64_t* in_strides;  ///< in elements
  void* out;
  const int64_t* out_shape;
  const int64_t* out_strides;
  int axis_count;
  const int64_t* axes;
};

using FftEntry = void (*)(const FftCall& call);

/// Calls `body(context, i)` for i in [0, pieces) in the engine's threads.
void fft_parallel(int pieces, void (*body)(void* context, int i), void* context);
/// The number of pieces of a step of this thread's transform, unless the step is small.
int fft_pieces();

/// The cached plan for a length. `kind` is an address that identifies the type of plan; `make` creates a plan and returns its size in
/// bytes.
struct FftPlan {
  std::shared_ptr<void> plan;
  size_t bytes = 0;
};
std::shared_ptr<void> fft_plan(const void* kind, size_t length, bool vectorized, FftPlan (*make)(size_t length, bool vectorized));

}  // namespace bc::cpu

extern "C" {
void broadcloth_fft_baseline(const bc::cpu::FftCall& call);
void broadcloth_fft_v3(const bc::cpu::FftCall& call);
}
