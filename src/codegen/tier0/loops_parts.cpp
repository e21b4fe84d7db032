// Tier 0: rounding and the parts of numbers.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void fill_parts(LoopRow* rows) { fill<Row::rint, Row::angle>(rows); }

}  // namespace bc::tier0
