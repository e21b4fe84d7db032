#pragma once
#include <optional>
#include <string_view>

#include "runtime/backend.h"

namespace bc {

/// The device that a text names: "cpu", "cuda" or "gpu" (the first one), "cuda:1", "null:0". Nothing for every other text: an index that is
/// missing, negative or no number, or one of the CPU other than 0. Whether the device exists is for backend() to say.
std::optional<Device> parse_device(std::string_view text);

}  // namespace bc
