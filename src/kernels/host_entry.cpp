// How values get into functions compiled for the CPU and out of them: arguments and results lie in memory as structs of the engine's ABI,
// where arrays have no owner; inside they are py::Host, which has one.
#include "kernels/compiler.h"
#include "kernels/host.h"
#include "kernels/python_library.h"

namespace bc::kernels {
namespace {

bool holds_array(Type t) {
  if (t->is_array() || t->is_container() || t->is(Kind::text) || t->is(Kind::generator) || t->is(Kind::instance)) return true;
  if (t->is(Kind::optional)) return holds_array(t->element);
  for (Type item : t->items)
    if (holds_array(item)) return true;
  return false;
}

const std::set<std::string>& kHostHeaders = *new std::set<std::string>{"alone",   "core",  "host",   "host_numpy", "libm",      "text",
                                                                       "objects", "lists", "tables", "containers", "generators"};

}  // namespace

std::string host_headers(const std::set<std::string>& wanted) {
  for (const std::string& header : wanted)
    if (!kHostHeaders.contains(header)) return python_library(wanted, kHostHeaders);
  return {};
}

std::string Unit::host_load(Type t, const std::string& at, uint32_t offset, const std::string& keeper) {
  const std::string place = offset ? fmt::format("{} + {}", at, offset) : at;
  if (t->is_array() && !keeper.empty()) return fmt::format("{}.array<{}>({})", keeper, cpp(t), place);
  if (t->is_array()) return fmt::format("py::load<{}>({})", cpp(t), place);
  if (t->is(Kind::instance)) return fmt::format("py::load_shared<{}>({})", cpp(t), place);
  if (t->is_container()) return fmt::format("py::load_{}<{}>({})", t->is(Kind::set) ? "set" : "shared", cpp(t), place);
  if (t->is(Kind::text)) return fmt::format("py::load_text({})", place);
  if (!holds_array(t)) return fmt::format("*reinterpret_cast<{} const*>({})", cpp(t), place);
  if (t->is(Kind::optional))
    return fmt::format("*({0} + {1}) ? {2}{{{3}, true}} : {2}{{}}", at, offset + t->element->bytes, cpp(t),
                       host_load(t->element, at, offset, keeper));
  std::string items;
  for (size_t i = 0; i < t->items.size(); ++i)
    if (t->items[i]->has_value()) items += (items.empty() ? "" : ", ") + host_load(t->items[i], at, offset + t->offsets[i], keeper);
  return t->is_uniform() ? fmt::format("{}{{{{{}}}}}", cpp(t), items) : fmt::format("{}{{{}}}", cpp(t), items);
}

std::string Unit::host_store(Type t, const std::string& at, uint32_t offset, const std::string& value) {
  const std::string place = offset ? fmt::format("{} + {}", at, offset) : at;
  if (t->is_array()) return fmt::format("  py::store({}, {});\n", place, value);
  if (t->is_container() || t->is(Kind::text) || t->is(Kind::generator) || t->is(Kind::instance))
    return fmt::format("  py::store({}, {});\n", place, value);
  if (!holds_array(t)) return fmt::format("  *reinterpret_cast<{}*>({}) = {};\n", cpp(t), place, value);
  if (t->is(Kind::optional))
    return fmt::format("  if ({0}.there) {{\n{1}  }}\n  *({2} + {3}) = {0}.there;\n", value,
                       host_store(t->element, at, offset, value + ".value"), at, offset + t->element->bytes);
  std::string text;
  for (size_t i = 0; i < t->items.size(); ++i)
    if (t->items[i]->has_value())
      text += host_store(t->items[i], at, offset + t->offsets[i],
                         t->is_uniform() ? fmt::format("{}[{}]", value, i) : fmt::format("{}.f{}", value, i));
  return text;
}

const std::string& host_library(bool parallel) {
  static const std::string& plain = *new std::string(python_library(kHostHeaders));
  static const std::string& threaded = *new std::string("#define BC_PYTHON_PARALLEL 1\n" + plain);
  return parallel ? threaded : plain;
}

/// The function that gives the next value of a generator; it returns -1 where there is none.
std::string Unit::next_text(const Specialised& s, const std::string& name) {
  std::string text;
  text += fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) int {}_next(void* const* arguments, void* result) {{\n", name);
  text += fmt::format("  const {0} generator = py::load_shared<{0}>(arguments[0]);\n  if (!generator.next()) return -1;\n", cpp(s.result));
  if (s.result->element->has_value())
    text += fmt::format("  const {} value = generator.value();\n", cpp(s.result->element)) +
            host_store(s.result->element, "static_cast<char*>(result)", 0, "value");
  text += "  return 0;\n}\n";
  return text;
}

/// The function that the engine calls: it loads the arguments and stores the result.
std::string Unit::entry_text(const Specialised& s, const std::string& name) {
  std::string text;
  std::string call, sets, back;
  int at = 0;
  for (Type t : s.arguments)
    if (t->has_value()) {
      std::string value = host_load(t, fmt::format("static_cast<const char*>(arguments[{}])", at), 0);
      if (t->is(Kind::set)) {
        sets += fmt::format("  const {} bc_set{} = {};\n", cpp(t), at, value);
        back += fmt::format("  py::give_back(arguments[{0}], bc_set{0});\n", at);
        value = fmt::format("bc_set{}", at);
      }
      call += (call.empty() ? "" : ", ") + value;
      ++at;
    } else if (!t->has_value()) {
      ++at;
    }
  text += fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) int {}(void* const* arguments, void* result) {{\n", name);
  text += sets;
  if (s.fails) text += "  int failure = 0;\n", call += call.empty() ? "failure" : ", failure";
  if (s.result->has_value()) {
    text += fmt::format("  {} const bc_value = {}({});\n", cpp(s.result), s.name, call);
    const std::string stored = host_store(s.result, "static_cast<char*>(result)", 0, "bc_value");
    text += s.fails ? "  if (failure == 0) {\n" + stored + "  }\n" : stored;
  } else {
    text += fmt::format("  {}({});\n", s.name, call);
  }
  text += back;
  text += s.fails ? "  return failure;\n}\n" : "  return 0;\n}\n";
  if (options.callback) text += callback_text(s, name);
  return s.result->is(Kind::generator) ? text + next_text(s, name) : text;
}

}  // namespace bc::kernels
