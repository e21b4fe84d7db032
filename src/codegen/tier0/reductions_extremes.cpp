// Tier 0: extremes and where they are.
#include "codegen/tier0/reductions.h"

namespace bc::tier0 {

void fill_extremes(ReductionRow* rows) { fill_reductions<ReduceRow::max, ReduceRow::argmin>(rows); }

}  // namespace bc::tier0
