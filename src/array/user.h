#pragma once
#include <optional>
#include <span>
#include <vector>

#include "array/array.h"

namespace bc {

struct UserOptions {
  std::vector<Array> out;             ///< written and returned where given: none, or one a result (null handles: a new array)
  Array where;                        ///< a bool mask; elements of `out` where it is false keep their value, new arrays have zeros there
  std::optional<Device> device;       ///< where results live when all operands are scalars; the default device unless given
  std::optional<Dims> shape;          ///< broadcast with the operands (functions without array operands)
  Casting casting = Casting::unsafe;  ///< from a result's dtype to that of `out`
  char order = 'C';                   ///< how new results lie in memory: 'C', or 'K' as the operands do
};

/// Records a user's elementwise function: operands broadcast and are cast to its dtypes, and it fuses as any elementwise op does. Results
/// that are not used are not computed. One array a result.
std::vector<Array> apply(const Ref<UserOp>& op, std::span<const Arg> args, const UserOptions& options = {});

}  // namespace bc
