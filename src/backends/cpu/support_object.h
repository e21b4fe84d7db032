#pragma once
#include <span>

namespace bc::cpu {

/// An object file with the device library's rare functions, made when broadcloth was built for processors with AVX2, FMA and F16C; empty on
/// others. The first kernel that calls one then waits for no compiler.
std::span<const char> support_object();

}  // namespace bc::cpu
