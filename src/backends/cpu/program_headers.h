#pragma once
#include <span>
#include <utility>

namespace bc::cpu {

/// The headers that programs may include, with their texts on the CPU. Most are empty, because their names are declared before the text
/// begins.
std::span<const std::pair<const char*, const char*>> program_headers();

}  // namespace bc::cpu
