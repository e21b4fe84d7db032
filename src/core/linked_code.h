#pragma once
#include <string>

namespace bc {

/// Code of another compiler that a program is linked with.
struct LinkedCode {
  std::string kind;  ///< "cu" (CUDA C++), "ptx", "cubin", "fatbin", "object", "archive", "ltoir"
  std::string name;  ///< in messages
  std::string bytes;
  bool operator==(const LinkedCode&) const = default;
};

}  // namespace bc
