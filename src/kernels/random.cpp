// cuda.random: functions that advance a generator's state in an array of records. See compiler.h for the method.
#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

struct StateRow {
  const char* name;
  const char* text;
  DType result;
  bool seeded;  ///< takes a third argument
  bool returns;
};
constexpr StateRow kStates[] = {
    {"cuda.random.xoroshiro128p_next", "xoroshiro_next", DType::u64, false, true},
    {"cuda.random.xoroshiro128p_uniform_float32", "xoroshiro_uniform_float", DType::f32, false, true},
    {"cuda.random.xoroshiro128p_uniform_float64", "xoroshiro_uniform_double", DType::f64, false, true},
    {"cuda.random.xoroshiro128p_normal_float32", "xoroshiro_normal_float", DType::f32, false, true},
    {"cuda.random.xoroshiro128p_normal_float64", "xoroshiro_normal_double", DType::f64, false, true},
    {"cuda.random.xoroshiro128p_jump", "xoroshiro_jump", DType::u64, false, false},
    {"cuda.random.init_xoroshiro128p_state", "xoroshiro_seed", DType::u64, true, false},
};

}  // namespace

std::vector<const char*> random_names() {
  std::vector<const char*> names;
  for (const StateRow& r : kStates) names.push_back(r.name);
  return names;
}

std::optional<Value> FunctionCompiler::random_call(const std::string& name, const CallArguments& args, const Node* n) {
  for (const StateRow& row : kStates) {
    if (name != row.name) continue;
    const size_t wanted = row.seeded ? 3 : 2;
    if (args.positional.size() != wanted || !args.keywords.empty())
      fail(n, fmt::format("{} takes (states, index{}), got {} arguments", name, row.seeded ? ", seed" : "",
                          args.positional.size() + args.keywords.size()));
    const Value& states = args.positional[0];
    const Type record = states.is_array() ? states.type->element : nullptr;
    const bool fits = record && record->is(Kind::record) && record->fields == std::vector<std::string>{"s0", "s1"} &&
                      record->items[0] == scalar_type(DType::u64) && record->items[1] == scalar_type(DType::u64);
    if (!fits || states.type->ndim != 1)
      fail(n, fmt::format("{}: expected an array of generator states", name), {{source_of(args.nodes[0]), states.type}},
           "make one with cuda.random.create_xoroshiro128p_states(n, seed)");
    if (states.type->read_only)
      fail(n, fmt::format("{} cannot advance a read-only array", name), {{source_of(args.nodes[0]), states.type}});
    unit_.need("random");
    access_ = Access::write;
    const Code place = element(bound(states), {args.positional[1]}, n);
    Code text = code("py::{}({}", row.text, place);
    if (row.seeded) text += ", " + convert(args.positional[2], scalar_type(DType::u64), n);
    Value r = Value::of(row.returns ? scalar_type(row.result) : none_type(), text + ")");
    r.note(kActs);
    r.non_negative = row.returns && row.result == DType::u64;
    return r;
  }
  return std::nullopt;
}

}  // namespace bc::kernels
