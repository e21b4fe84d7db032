#pragma once
#include "ops/composite.h"

/// Einstein sums. Each axis has a label, axes of one label are walked together, and labels that are not in `out` are summed over.
namespace bc {

/// Of one operand; without a sum a view, of its own dtype. Sums are in `t`.
Array einsum(const Array& a, const Axes& labels, const Axes& out, DType t);
/// Of two operands, in `t`; an axis of extent 1 broadcasts to the other operand's axis of its label.
Array einsum(const Array& a, const Axes& a_labels, const Array& b, const Axes& b_labels, const Axes& out, DType t);

}  // namespace bc
