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

/// The number of parameters of each kernel by its mangled name, read from a cubin, PTX or the cubins of a fat binary. nullopt for a binary
/// that cannot be read, such as a fat binary that is compressed completely.
std::optional<ParameterCounts> parameter_counts(std::span<const char> binary);

/// The size of each parameter of a loaded kernel, whose binary has these `counts`. nullopt where the driver cannot tell (before CUDA 12.4).
/// compute-sanitizer reports every failing call, so only existing parameters are queried. If neither the binary nor the driver gives their
/// number (drivers before cuFuncGetParamCount), parameters are queried until a call fails.
std::optional<std::vector<uint32_t>> parameter_sizes(CUfunction function, std::string_view symbol,
                                                     const std::optional<ParameterCounts>& counts);

}  // namespace bc::cuda
