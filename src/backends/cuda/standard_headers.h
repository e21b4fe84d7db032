#pragma once
#include <span>
#include <utility>

namespace bc::cuda {

/// Headers of the C and C++ library that kernels include and NVRTC lacks: the name, and a text for device code. They are served from
/// memory.
std::span<const std::pair<const char*, const char*>> standard_headers();

/// Included before texts that use Thrust, whose own system must be the C++ one ("-DTHRUST_DEVICE_SYSTEM=…").
inline constexpr const char* kThrustPrelude = "broadcloth_thrust_prelude.h";

}  // namespace bc::cuda
