#include <algorithm>
#include <unordered_map>

#include "codegen/device_library.h"

namespace bc {
namespace {

/// What no kernel does without.
constexpr std::string_view kAlways[] = {"types.h", "access.h", "cast.h", "complex.h", "arith.h"};
/// Overloads for complex numbers have the names of the real ones: a kernel needs them that has complex numbers and any of those names.
/// Complex arithmetic alone is in complex.h and arith.h; with the mathematics NVRTC reads twice as long.
constexpr std::string_view kComplexMath = "complex_math.h", kComplexWords[] = {"complex", "complex64", "complex128"};

class Names {
 public:
  Names() {
    for (size_t i = 0; i < kDeviceSections.size(); ++i) {
      const DeviceSection& s = kDeviceSections[i];
      for (std::string_view header : kAlways)
        if (s.header == header) always_ |= s.needs;
      std::string_view rest = s.names;
      while (!rest.empty()) {
        const size_t end = std::min(rest.find(' '), rest.size());
        needs_[rest.substr(0, end)] |= s.needs;
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      if (s.header != kComplexMath) continue;
      complex_ = uint32_t{1} << i;
      complex_needs_ = s.needs;
    }
  }
  /// The sections that a text needs.
  uint32_t of(std::string_view text) const {
    uint32_t all = always_;
    bool complex = false;
    const auto inside = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && inside(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      if (end - i > 1)
        if (const auto found = needs_.find(word); found != needs_.end()) all |= found->second;
      complex |= std::find(std::begin(kComplexWords), std::end(kComplexWords), word) != std::end(kComplexWords);
      i = end + 1;
    }
    return complex ? all | kSpeaksOfComplex : all;
  }
  /// The sections for what all of a kernel's texts need together.
  uint32_t together(uint32_t all) const {
    const bool complex = (all & kSpeaksOfComplex) != 0;
    all &= ~kSpeaksOfComplex;
    return complex && all != always_ ? all | complex_needs_ : all;
  }
  bool complex_in(uint32_t mask) const { return (mask & complex_) != 0; }

 private:
  std::unordered_map<std::string_view, uint32_t> needs_;
  uint32_t always_ = 0, complex_ = 0, complex_needs_ = 0;
  static constexpr uint32_t kSpeaksOfComplex = uint32_t{1} << 31;  // no section's
};

}  // namespace

std::string device_library_for(std::span<const std::string_view> texts) {
  static const Names& names = *new Names;  // never destroyed: a compile may run while the process ends
  uint32_t mask = 0;
  for (std::string_view text : texts) mask |= names.of(text);
  mask = names.together(mask);
  std::string out = names.complex_in(mask) ? "" : "#define BC_SKIP_COMPLEX_MATH 1\n";
  for (size_t i = 0; i < kDeviceSections.size(); ++i)
    if (mask >> i & 1) out += kDeviceSections[i].text;
  return out;
}

}  // namespace bc
