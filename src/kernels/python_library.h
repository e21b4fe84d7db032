#pragma once
#include <set>
#include <string>

namespace bc::kernels {

/// The headers of src/device/python that a text needs (by their names without ".h"), in the order of their dependence.
std::string python_library(const std::set<std::string>& headers, const std::set<std::string>& present = {});

}  // namespace bc::kernels
