#pragma once
#include <cstdint>
#include <string>

#include "core/dtype.h"
#include "graph/plan.h"

namespace bc {

/// The phases of a plan that can be printed.
struct PlanPhases {
  bool plan = false;    ///< a line or two for each kernel and library call
  bool ir = false;      ///< the kernels' IR
  bool source = false;  ///< the text that the compiler gets
};

/// The phases of a plan for people, kernel by kernel.
std::string plan_text(const Plan& plan, const PlanPhases& phases);

/// The phases that BROADCLOTH_DUMP names: "plan", "ir" and "source", separated by commas. Each plan that is made writes them to the
/// standard error. Throws ErrorKind::Value when the variable names something else.
const PlanPhases& dumped_phases();

}  // namespace bc
