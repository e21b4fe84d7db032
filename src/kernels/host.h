#pragma once
#include <set>
#include <string>
#include <vector>

namespace bc::kernels {

/// The headers before the text of every function for the CPU, to be compiled ahead; `parallel`: memory may be shared by threads.
const std::string& host_library(bool parallel);
/// The headers that a text needs beyond those.
std::string host_headers(const std::set<std::string>& wanted);

}  // namespace bc::kernels
