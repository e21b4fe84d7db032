#pragma once
#include <span>
#include <utility>

namespace bc::cpu {

/// Headers that programs include and what they hold on the CPU: mostly nothing, as the names are there before the text begins.
std::span<const std::pair<const char*, const char*>> program_headers();

}  // namespace bc::cpu
