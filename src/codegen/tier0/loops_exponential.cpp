// Tier 0: exponentials and logarithms.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void BC_TIER0_LEVEL::fill_exponential(LoopRow* rows) { fill<Row::exp, Row::logaddexp2>(rows); }

}  // namespace bc::tier0
