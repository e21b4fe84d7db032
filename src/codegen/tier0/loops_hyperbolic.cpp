// Tier 0: hyperbolic and special functions.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void BC_TIER0_LEVEL::fill_hyperbolic(LoopRow* rows) { fill<Row::sinh, Row::bessel_i1>(rows); }

}  // namespace bc::tier0
