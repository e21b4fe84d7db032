// Tier 0: extremes, choice and random numbers.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void fill_choice(LoopRow* rows) { fill<Row::maximum, Row::random_below>(rows); }

}  // namespace bc::tier0
