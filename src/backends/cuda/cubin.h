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

/// How many parameters each kernel of a binary has, by its mangled name: of a cubin, of PTX, or of the cubins of a fat binary. Nothing for
/// what cannot be read, as where all of a fat binary is compressed.
std::optional<ParameterCounts> parameter_counts(std::span<const char> binary);

/// The bytes of each parameter of a loaded kernel, whose module was made of a binary with these `counts`. Nothing where the driver does not
/// tell (before CUDA 12.4). compute-sanitizer reports every call that fails, so the driver is asked for parameters that are there; only
/// where neither the binary nor the driver says how many these are (drivers before cuFuncGetParamCount), until it fails.
std::optional<std::vector<uint32_t>> parameter_sizes(CUfunction function, std::string_view symbol,
                                                     const std::optional<ParameterCounts>& counts);

}  // namespace bc::cuda
