#pragma once
#include <optional>
#include <string_view>

#include "runtime/backend.h"

namespace bc {

/// The device that a text names: "cpu", "cuda" or "gpu" (the first one), "cuda:1", "null:0". nullopt for any other text, for example where
/// the index is missing, negative or not a number, or an index of the CPU other than 0. Does not check that the device exists; backend()
/// does.
std::optional<Device> parse_device(std::string_view text);

}  // namespace bc
