// CUDA's short vectors (float32x4, uint3, …) as values with fields x, y, z, w, and loads and stores with a word to the caches. See
// compiler.h for the method.
#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

constexpr DType kBases[] = {DType::i8,  DType::i16, DType::i32, DType::i64, DType::u8,
                            DType::u16, DType::u32, DType::u64, DType::f32, DType::f64};

constexpr const char* kLoads[] = {"ldca", "ldcg", "ldcs", "ldlu", "ldcv"};
constexpr const char* kStores[] = {"stwb", "stcg", "stcs", "stwt"};

}  // namespace

std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const DType base : kBases)
    for (int n = 1; n <= 4; ++n) names.push_back(fmt::format("cuda.{}x{}", info(base).name, n));
  for (const char* n : kLoads) names.push_back(std::string("cuda.") + n);
  for (const char* n : kStores) names.push_back(std::string("cuda.") + n);
  return names;
}

std::optional<Value> FunctionCompiler::vector_call(const std::string& name, const CallArguments& args, const Node* n) {
  if (!name.starts_with("cuda.")) return std::nullopt;
  const std::string plain = name.substr(5);
  for (const DType base : kBases) {
    const std::string_view spelled = info(base).name;
    if (plain.size() != spelled.size() + 2 || !plain.starts_with(spelled) || plain[spelled.size()] != 'x') continue;
    const size_t count = static_cast<size_t>(plain.back() - '0');
    if (count < 1 || count > 4) continue;
    const Type t = scalar_type(base);
    // Numbers and vectors one after another.
    std::vector<Value> items;
    for (size_t i = 0; i < args.positional.size(); ++i) {
      const Value& v = args.positional[i];
      if (v.is(Kind::tuple)) {
        const Value whole = v.items.empty() && !v.simple ? spill(v) : v;
        for (size_t k = 0; k < v.type->items.size(); ++k) items.push_back(converted(tuple_item(whole, k), t, n));
      } else if (v.is_scalar() || v.is(Kind::literal)) {
        items.push_back(converted(v, t, n));
      } else {
        fail(n, fmt::format("{} takes numbers and vectors", name), {{source_of(args.nodes[i]), v.type}});
      }
    }
    if (items.empty()) items.assign(count, converted(constant_value(Constant{int64_t{0}}), t, n));
    if (items.size() != count || !args.keywords.empty()) fail(n, fmt::format("{} takes {} numbers, got {}", name, count, items.size()));
    Value v = tuple_of(std::move(items));
    std::vector<std::string> fields{"x", "y", "z", "w"};
    fields.resize(count);
    static const char identity = 0;
    v.type = named_tuple_type(&identity, plain, fields, v.type->items);
    return v;
  }
  for (const char* load : kLoads) {
    if (plain != load) continue;
    if (args.positional.size() != 2 || !args.positional[0].is_array() || !args.positional[0].type->element->is_scalar())
      fail(n, fmt::format("{} takes (array, index)", name));
    const Value a = bound(args.positional[0]);
    const Type t = a.type->element;
    const Code place = element(a, index_items(args.positional[1]), n);
    const DType d = t->dtype;
    // The hint exists for numbers that the hardware loads; others are read plainly.
    if (is_small_float(d) || is_bool(d) || is_complex(d)) return Value::of(t, place);
    return Value::fetched(t, code("{}(__{}(&{}))", cpp(t), plain, place));
  }
  for (const char* store : kStores) {
    if (plain != store) continue;
    if (args.positional.size() != 3 || !args.positional[0].is_array() || !args.positional[0].type->element->is_scalar())
      fail(n, fmt::format("{} takes (array, index, value)", name));
    const Value a = bound(args.positional[0]);
    if (a.type->read_only) fail(n, fmt::format("{} cannot write to a read-only array", name), {{source_of(args.nodes[0]), a.type}});
    const Type t = a.type->element;
    access_ = Access::write;
    const Code place = element(a, index_items(args.positional[1]), n), value = convert(args.positional[2], t, n);
    const DType d = t->dtype;
    if (is_small_float(d) || is_bool(d) || is_complex(d))
      linef("{} = {};", place, value);
    else
      linef("__{}(&{}, {}({}));", plain, place, cpp(t), value);
    return Value::known(none_type());
  }
  return std::nullopt;
}

}  // namespace bc::kernels
