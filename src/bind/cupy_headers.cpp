#include "bind/cupy_headers.h"

#include "codegen/cupy_complex.h"

namespace bc::bind {

void add_cupy_headers(ProgramSource* source) {
  constexpr std::string_view kName = "cupy/complex.cuh";
  if (source->text.find(kName) == std::string::npos) return;
  for (const auto& [name, text] : source->headers)
    if (name == kName) return;
  source->headers.emplace_back(kName, kCupyComplex);
}

}  // namespace bc::bind
