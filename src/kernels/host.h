#pragma once
#include <string>
#include <vector>

namespace bc::kernels {

/// The names that only functions compiled for the CPU may call.
std::vector<std::string> host_names();

/// The headers before the text of every function for the CPU, to be compiled ahead; `parallel`: memory may be shared by threads.
const std::string& host_library(bool parallel);

}  // namespace bc::kernels
