// Tier 0: reductions of truth values and bits, and folds of binary rows.
#include "codegen/tier0/reductions.h"

namespace bc::tier0 {

void fill_folds(ReductionRow* rows) { fill_reductions<ReduceRow::any, ReduceRow::logaddexp2>(rows); }

}  // namespace bc::tier0
