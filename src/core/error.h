#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace bc {

/// The exception type that Python raises; the binding maps each kind to one NumPy or built-in type.
// clang-format off
enum class ErrorKind {
  Value, Type, Index, Axis, LinAlg, Memory, Overflow, ZeroDivision, UFuncTypeError, Runtime, NotImplemented, Import, Attribute,
  Compile,  ///< a compiler refused a user's CUDA C++; the message is its log
  Typing,   ///< a Python function has no types that fit (Numba's TypingError)
};
// clang-format on

/// An error of broadcloth. Its message has the form "op: expected X, got Y".
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string message) : std::runtime_error(std::move(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

template <class... Args>
[[noreturn]] void raise(ErrorKind kind, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(kind, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace bc

/// Throws `bc::Error` of ErrorKind::`kind` unless `condition` holds; the message is formatted only when it throws.
#define BC_CHECK(condition, kind, ...)                 \
  do {                                                 \
    if (!(condition)) [[unlikely]]                     \
      ::bc::raise(::bc::ErrorKind::kind, __VA_ARGS__); \
  } while (0)
