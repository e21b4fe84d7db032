#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/cuda_api.h"

namespace bc::cuda {

using ParameterCounts = std::map<std::string, size_t, std::less<>>;

/// How many parameters each kernel of a binary has, by its mangled name: of a cubin or of PTX. Nothing for what is neither (a fat binary),
/// or cannot be read.
std::optional<ParameterCounts> parameter_counts(std::span<const char> binary);

/// The bytes of each parameter of a loaded kernel, whose module was made of a binary with these `counts`. Nothing where the driver does not
/// tell (before CUDA 12.4). Drivers do not say how many there are, and compute-sanitizer reports every call that fails: so the driver is
/// asked for parameters that are there; only where the binary does not say it either, until it fails.
std::optional<std::vector<uint32_t>> parameter_sizes(CUfunction function, std::string_view symbol,
                                                     const std::optional<ParameterCounts>& counts);

}  // namespace bc::cuda
