// C++ names for what a Python program names.
#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string user_name(Named kind, std::string_view python, int nth) {
  std::string name(1, static_cast<char>(kind));
  if (nth > 1) name += std::to_string(nth);
  bool plain = true;
  for (char c : python) plain &= is_letter(c) || c == '_';
  if (plain) return name.append("_").append(python);
  // Other characters are written as their bytes, and so are underscores, or two names could be spelled alike. The x is no number, so that
  // no plain name looks like this.
  name += "x_";
  for (char c : python) {
    if (is_letter(c))
      name += c;
    else
      name += fmt::format("_{:02x}", static_cast<unsigned char>(c));
  }
  return name;
}

std::string Unit::unique(Named kind, std::string_view python) {
  const std::string base = user_name(kind, python);
  return user_name(kind, python, ++names_[base]);
}

std::string Unit::unique(const std::string& own) {
  const int n = ++names_[own];
  return n == 1 ? own : fmt::format("{}_{}", own, n);
}

}  // namespace bc::kernels
