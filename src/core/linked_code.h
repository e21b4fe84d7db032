#pragma once
#include <string>

namespace bc {

/// Compiled or source code of another origin that a program is linked with.
struct LinkedCode {
  std::string kind;  ///< "cu" (CUDA C++), "ptx", "cubin", "fatbin", "object", "archive", "ltoir"
  std::string name;  ///< for error messages
  std::string bytes;
  bool operator==(const LinkedCode&) const = default;
};

}  // namespace bc
