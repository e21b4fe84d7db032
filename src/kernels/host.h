#pragma once
#include <set>
#include <string>
#include <vector>

namespace bc::kernels {

/// The names that only functions compiled for the CPU may call.
std::vector<std::string> host_names();

/// The headers before the text of every function for the CPU, to be compiled ahead; `parallel`: memory may be shared by threads.
const std::string& host_library(bool parallel);
/// The headers that a text needs beyond those.
std::string host_headers(const std::set<std::string>& wanted);

}  // namespace bc::kernels
