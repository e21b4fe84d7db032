#pragma once
#include <span>
#include <string>
#include <string_view>

namespace bc {

/// The candidate that is nearest to a name in letters that were changed, added, left out or exchanged with a neighbour (Damerau 1964);
/// empty where none is near enough to have been meant.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace bc
