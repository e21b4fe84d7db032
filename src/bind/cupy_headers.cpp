#include "bind/cupy_headers.h"

#include <algorithm>

#include "codegen/device_library.h"

namespace bc::bind {

void add_cupy_headers(ProgramSource* source) {
  constexpr std::string_view kName = "cupy/complex.cuh";
  if (source->text.find(kName) == std::string::npos) return;
  const auto is_it = [&](const auto& header) { return header.first == kName; };
  if (std::ranges::any_of(source->headers, is_it)) return;
  source->headers.emplace_back(*std::ranges::find_if(kCudaHeaders, is_it));
}

}  // namespace bc::bind
