// Tier 0: arithmetic.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void fill_arithmetic(LoopRow* rows) {
  fill<Row::add, Row::divide>(rows);
  fill<Row::negative, Row::lcm>(rows);
}

}  // namespace bc::tier0
