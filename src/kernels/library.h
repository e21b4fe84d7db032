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
  bool positional_only = false;
  bool required = false;
  bool array = false;            ///< numbers, tuples and lists become arrays
  bool matrix = false;           ///< of two dimensions, no stack of such
  bool sequence = false;         ///< tuples and lists become arrays
  bool native = false;           ///< the function's C++ form takes it
  std::vector<Constant> absent;  ///< values that mean the same as leaving it out
};

/// A function or method that library.def declares.
struct LibraryFunction {
  std::string name;
  std::vector<LibraryParameter> parameters;
  bool variadic = false;  ///< takes any number of arguments by position, in front of the parameters
};

/// The row of a function ("numpy.sort") or of a method ("array.sort", "str.split"); nullptr where there is none.
const LibraryFunction* library_function(const std::string& name);
/// The functions, without the methods.
std::vector<std::string> library_names();
/// The row of all ufuncs of one, two or three operands.
const LibraryFunction& ufunc_row(int operands);

}  // namespace bc::kernels
