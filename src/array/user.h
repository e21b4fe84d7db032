#pragma once
#include <optional>
#include <span>
#include <vector>

#include "array/array.h"

namespace bc {

struct UserOptions {
  std::vector<Array> out;             ///< outputs that are written and returned: none, or one for each result (null handle: a new array)
  Array where;                        ///< a bool mask; where it is false, elements of `out` keep their values and new arrays are zero
  std::optional<Device> device;       ///< device of the results if all operands are scalars; the default device unless given
  std::optional<Dims> shape;          ///< broadcast with the operands (functions without array operands)
  Casting casting = Casting::unsafe;  ///< from a result's dtype to that of `out`
  bool computed_first = false;        ///< results are computed before `out` is written, so that a compiler's error leaves it alone
  char order = 'C';                   ///< memory order of new results: 'C', or 'K' for the operands' order
};

/// Records a user's elementwise function: operands are broadcast and cast to its dtypes, and it fuses like any elementwise op. Unused
/// results are not computed. Returns one array for each result.
std::vector<Array> apply(const Ref<UserOp>& op, std::span<const Arg> args, const UserOptions& options = {});

}  // namespace bc
