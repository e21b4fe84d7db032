#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/types.h"

namespace bc::kernels {

/// What a row of intrinsics.def may say of its function.
enum RowFlag : unsigned {
  kPure = 0,
  kEffect = 1,    ///< it does something: evaluated once, in order, never dropped
  kIndex = 2,     ///< an index or an extent: not negative, small enough for plain arithmetic
  kValue = 4,     ///< an attribute, not a function: cuda.threadIdx.x
  kGridSync = 8,  ///< the kernel must be launched cooperatively
  kMeets = 16,    ///< all threads of a block meet
};

/// One row: a function of one signature.
struct Row {
  std::string name;
  FunctionSignature signature;
  const char* text;
  unsigned flags;
  const char* header;  ///< of src/device/python, or ""
};

/// The rows of a name, in the order of the file.
const std::vector<const Row*>& rows_of(std::string_view name);
const std::vector<Row>& all_rows();

/// The row that fits the arguments best; nullptr when none does.
const Row* choose_row(std::string_view name, const std::vector<Type>& arguments);

}  // namespace bc::kernels
