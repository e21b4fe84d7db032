// Tier 0: division with a remainder, and powers.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void BC_TIER0_LEVEL::fill_remainder(LoopRow* rows) { fill<Row::floor_divide, Row::float_power>(rows); }

}  // namespace bc::tier0
