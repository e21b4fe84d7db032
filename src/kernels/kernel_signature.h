#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"

namespace bc {

/// A parameter of a __global__ function, as far as the text determines it.
struct KernelParameter {
  enum class Kind : uint8_t {
    unknown,  ///< a type that cannot be resolved from the text: a struct, a macro, a template parameter
    scalar,   ///< a number of type `dtype`
    pointer,
  };
  Kind kind = Kind::unknown;
  DType dtype = DType::i32;
  bool read_only = false;  ///< a pointer to const
  std::string name;        ///< empty where the parameter has no name
};

/// Reads the parameters of the kernel `name` from CUDA C++ text: plain types, pointers, typedefs, `using`, macros and template arguments
/// that are plain types ("scale<float>"). nullopt when the text has no such kernel, or several. `options` are the compiler's options, of
/// which -D is used.
std::optional<std::vector<KernelParameter>> kernel_parameters(std::string_view text, std::string_view name,
                                                              const std::vector<std::string>& options = {});

}  // namespace bc
