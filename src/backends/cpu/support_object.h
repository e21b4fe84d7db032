#pragma once
#include <span>

namespace bc::cpu {

/// An object file with the device library's rare functions, compiled when broadcloth was built, for processors with AVX2, FMA and F16C;
/// empty on other processors. With it the first kernel that calls a rare function need not wait for the compiler.
std::span<const char> support_object();

}  // namespace bc::cpu
