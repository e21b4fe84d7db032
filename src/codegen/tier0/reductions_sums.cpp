// Tier 0: sums, products, means and variances.
#include "codegen/tier0/reductions.h"

namespace bc::tier0 {

void fill_sums(ReductionRow* rows) { fill_reductions<ReduceRow::sum, ReduceRow::std>(rows); }

}  // namespace bc::tier0
