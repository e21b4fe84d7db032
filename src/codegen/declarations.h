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

/// A library's C++ text taken apart into its declarations, of which a program then gets those that it uses: a compiler that reads the text
/// at every compile spends more time on a library than on a kernel.
///
/// What uses what goes by names alone: a declaration is taken with all that bear a name which it speaks, whatever they are. So overloads
/// and specialisations come together, and too much may be taken, never too little. Two exceptions: functions of 16-bit floats and functions
/// of complex numbers are left out of programs that speak of no such type. The text keeps to the device library's ways: declarations end
/// their line, namespaces open and close on lines of their own.
class Declarations {
 public:
  /// A macro that the compiler has defined (or, without a value, has not): conditionals are decided by these. Those with other macros stay.
  struct Macro {
    std::string_view name;
    std::optional<int> value;
  };

  /// Reads `text`; names that it lacks are looked for in `base`, which must outlive this.
  Declarations(std::string_view text, std::span<const Macro> macros, const Declarations* base = nullptr);
  ~Declarations();
  Declarations(const Declarations&) = delete;
  Declarations& operator=(const Declarations&) = delete;

  /// The declarations that `programs` use, those of `base` first.
  std::string used_by(std::span<const std::string_view> programs) const;

 private:
  struct Reader;
  /// What a program has to speak of to get a function.
  enum Kind : uint8_t { kAny = 0, kSmallFloats = 1, kComplex = 2 };
  struct Declaration {
    std::string text;
    std::string analysed;                   ///< with its function-like macros expanded; empty where it has none
    std::vector<std::string> names;         ///< what it declares
    std::vector<uint32_t> needs;            ///< declarations here
    std::vector<std::string_view> outside;  ///< words that may be names of the base
    uint32_t scope = 0;
    uint8_t kind = kAny;
    bool always = false;
  };

  void take(std::string_view text, uint8_t kinds, std::vector<char>& taken, std::vector<std::string_view>& outside) const;
  void print(const std::vector<char>& taken, std::string& out) const;

  const Declarations* base_;
  std::vector<Declaration> all_;
  std::vector<std::vector<std::string>> scopes_;  ///< lines that open namespaces
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_name_;
  struct FunctionMacro {
    std::vector<std::string> parameters;
    std::string body;
    bool variadic = false;
  };
  std::map<std::string, FunctionMacro, std::less<>> macros_;
};

}  // namespace bc
