#pragma once
#include <string>

#include "codegen/ir.h"

namespace bc {

/// The schedule in one line: "blocks of 256 threads; vectors of 4".
std::string schedule_text(const Ir& ir);

/// A kernel's IR for people, a line for each value: "%3 = add %1 %2 : float64". Values that belong to a whole row are marked "row",
/// those of a later stage "stage 1".
std::string ir_text(const Ir& ir);

}  // namespace bc
