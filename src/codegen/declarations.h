#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bc {

/// A library's C++ text, split into its declarations, so that a program gets only those that it uses: compiling the whole library with each
/// kernel would take longer than compiling the kernel.
///
/// Dependencies are found by name only: a declaration needs all declarations of every name that it mentions. So overloads and
/// specialisations are taken together, and the result may contain too much but never too little. Two exceptions: functions of 16-bit floats
/// and functions of complex numbers are left out of programs that mention no such type. The text must follow the device library's style: a
/// declaration ends its line, and namespaces open and close on separate lines.
class Declarations {
 public:
  /// A macro that the compiler defines or, without a value, does not define. Conditionals of these macros are evaluated; conditionals of
  /// other macros stay in the text.
  struct Macro {
    std::string_view name;
    std::optional<int> value;
  };

  /// Reads `text`. Names that it does not declare are looked up in `base`, which must outlive this object.
  Declarations(std::string_view text, std::span<const Macro> macros, const Declarations* base = nullptr);
  ~Declarations();
  Declarations(const Declarations&) = delete;
  Declarations& operator=(const Declarations&) = delete;

  /// The text of the declarations that `programs` use, those of `base` first.
  std::string used_by(std::span<const std::string_view> programs) const;

 private:
  struct Reader;
  /// The types that a program must mention to get a function.
  enum Kind : uint8_t { kAny = 0, kSmallFloats = 1, kComplex = 2 };
  struct Declaration {
    std::string text;
    std::string analysed;                   ///< the text with function-like macros expanded; empty where it uses none
    std::vector<std::string> names;         ///< the names that it declares
    std::vector<uint32_t> needs;            ///< indices of the declarations that it needs
    std::vector<std::string_view> outside;  ///< words that may be names declared in the base
    uint32_t scope = 0;
    uint8_t kind = kAny;
    bool always = false;
  };

  void take(std::string_view text, uint8_t kinds, std::vector<char>& taken, std::vector<std::string_view>& outside) const;
  void print(const std::vector<char>& taken, std::string& out) const;

  const Declarations* base_;
  std::vector<Declaration> all_;
  std::vector<std::vector<std::string>> scopes_;  ///< for each scope, the lines that open its namespaces
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_name_;
  struct FunctionMacro {
    std::vector<std::string> parameters;
    std::string body;
    bool variadic = false;
  };
  std::map<std::string, FunctionMacro, std::less<>> macros_;
};

}  // namespace bc
