// Tier 0: special functions.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {

void fill_special(LoopRow* rows) { fill<Row::gamma, Row::gdtrc>(rows); }

}  // namespace bc::tier0
