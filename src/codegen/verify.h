#pragma once
#include "codegen/ir.h"

namespace bc {

/// Checks that a kernel's IR is well formed: operands stand before their uses and are at hand in their stage, accesses have the roles that
/// their uses need, and the schedule fits the walk. Throws ErrorKind::Runtime, naming `phase`, the value or access, and the rule.
void verify(const Ir& ir, const char* phase);

/// Whether plans are verified when they are made: in debug and sanitizer builds.
#ifdef BROADCLOTH_VERIFY
inline constexpr bool kVerifiesPlans = true;
#else
inline constexpr bool kVerifiesPlans = false;
#endif

}  // namespace bc
