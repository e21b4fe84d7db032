#pragma once
#include <span>
#include <utility>

namespace bc::cuda {

/// Headers of the C and C++ library that kernels include and NVRTC lacks: name and text for device code. They are passed to NVRTC from
/// memory.
std::span<const std::pair<const char*, const char*>> standard_headers();

/// The header to include before texts that use Thrust; Thrust's device system must be its C++ one ("-DTHRUST_DEVICE_SYSTEM=…").
inline constexpr const char* kThrustPrelude = "broadcloth_thrust_prelude.h";

}  // namespace bc::cuda
