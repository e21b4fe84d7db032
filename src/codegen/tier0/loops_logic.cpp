// Tier 0: comparisons, logic, bits and classes of numbers.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void fill_logic(LoopRow* rows) { fill<Row::equal, Row::signbit>(rows); }

}  // namespace bc::tier0
