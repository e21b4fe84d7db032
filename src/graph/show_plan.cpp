#include "graph/show_plan.h"

#include <cstdlib>
#include <string_view>

#include "codegen/ir_text.h"
#include "core/error.h"

namespace bc {
namespace {

std::string counted(size_t n, const char* thing) { return fmt::format("{} {}{}", n, thing, n == 1 ? "" : "s"); }

std::string shape_text(const Step& step) {
  const ParamLayout p = param_layout(step.ir);
  std::string out;
  const auto extents = [&](int first, int count) {
    for (int d = 0; d < count; ++d) out += fmt::format("{}{}", d ? " x " : "", step.parameters[static_cast<size_t>(first + d)]);
  };
  extents(p.kept_shape, step.ir.kept);
  if (step.ir.walk != Walk::map) {
    out += step.ir.walk == Walk::rows ? " rows of " : " columns over ";
    extents(p.reduced_shape, step.ir.reduced);
    const int64_t segments = step.parameters[static_cast<size_t>(p.segments)];
    if (segments > 1) out += fmt::format(", in {} segments of {}", segments, step.parameters[static_cast<size_t>(p.segment_length)]);
  }
  return out;
}

std::string kernel_text(const Step& step) {
  size_t loads = 0, stores = 0;
  for (const Access& a : step.ir.accesses) {
    loads += a.role == Access::Role::load || a.role == Access::Role::gather;
    stores += a.role == Access::Role::store;
  }
  std::string out = fmt::format("{}\n", shape_text(step));
  out += fmt::format("  {}, {}, {} bytes; {}\n", counted(loads, "read"), counted(stores, "write"), step.bytes, schedule_text(step.ir));
  for (const Launch& l : step.launches) {
    if (step.ir.target == Target::cuda)
      out += fmt::format("  grid {} x {}, block {} x {}\n", l.grid[0], l.grid[1], l.block[0], l.block[1]);
    else
      out += fmt::format("  {}, at least {} a thread\n", counted(static_cast<size_t>(l.items), "item"), l.grain);
  }
  if (step.launches.empty()) out += "  nothing to run\n";
  if (step.partial_bytes) out += fmt::format("  {} bytes of partial results\n", step.partial_bytes);
  return out;
}

PlanPhases phases_of_environment() {
  PlanPhases phases;
  const char* text = std::getenv("BROADCLOTH_DUMP");
  std::string_view rest = text ? text : "";
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    bool* phase = name == "plan" ? &phases.plan : name == "ir" ? &phases.ir : name == "source" ? &phases.source : nullptr;
    BC_CHECK(phase, Value, "BROADCLOTH_DUMP: expected plan, ir and source, separated by commas, got '{}'", name);
    *phase = true;
  }
  return phases;
}

}  // namespace

std::string plan_text(const Plan& plan, const PlanPhases& phases) {
  std::string out;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind == Step::Kind::library) {
      if (phases.plan) out += fmt::format("library {}: {}, {}\n", i, step.name, counted(static_cast<size_t>(step.elements), "element"));
      if (phases.source && !phases.plan) out += fmt::format("// library: {}\n", step.name);
      continue;
    }
    if (phases.plan) out += fmt::format("kernel {}: {}, {}", i, step.name, kernel_text(step));
    if (phases.ir) out += ir_text(step.ir);
    if (phases.source) {
      Ir readable = step.ir;
      readable.for_reading = true;
      out += fmt::format("// kernel: {}\n", step.name) + print(readable).text;
    }
  }
  return out;
}

const PlanPhases& dumped_phases() {
  static const PlanPhases phases = phases_of_environment();
  return phases;
}

}  // namespace bc
