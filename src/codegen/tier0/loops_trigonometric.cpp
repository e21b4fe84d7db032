// Tier 0: trigonometric functions.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void BC_TIER0_LEVEL::fill_trigonometric(LoopRow* rows) { fill<Row::sin, Row::sinc>(rows); }

}  // namespace bc::tier0
