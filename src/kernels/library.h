#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/syntax.h"

namespace bc::kernels {

/// A parameter of a function that library.def declares.
struct LibraryParameter {
  std::string name;
  bool keyword_only = false;
  bool required = false;
  bool array = false;            ///< numbers, tuples and lists become arrays
  bool sequence = false;         ///< tuples and lists become arrays
  bool native = false;           ///< the function's C++ form takes it
  std::vector<Constant> absent;  ///< values that mean the same as leaving it out
};

/// A function or method that library.def declares.
struct LibraryFunction {
  std::string name;
  std::vector<LibraryParameter> parameters;
};

/// The row of a function ("numpy.sort") or of a method ("array.sort"); nullptr where there is none.
const LibraryFunction* library_function(const std::string& name);

}  // namespace bc::kernels
