#pragma once
#include <span>
#include <string>
#include <string_view>

namespace bc {

/// The candidate with the smallest edit distance to a name, counting changed, added, missing and swapped letters (Damerau 1964); empty
/// where no candidate is close enough.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace bc
