// CUDA's short vectors (float32x4, uint3, …) as values with fields x, y, z, w, and loads and stores with a word to the caches. See
// compiler.h for the method.
#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

struct VectorBase {
  const char* name;
  DType dtype;
  bool crossed;  ///< float32x4, not float4
};
constexpr VectorBase kBases[] = {
    {"int8", DType::i8, true},     {"int16", DType::i16, true},   {"int32", DType::i32, true},     {"int64", DType::i64, true},
    {"uint8", DType::u8, true},    {"uint16", DType::u16, true},  {"uint32", DType::u32, true},    {"uint64", DType::u64, true},
    {"float32", DType::f32, true}, {"float64", DType::f64, true}, {"char", DType::i8, false},      {"short", DType::i16, false},
    {"int", DType::i32, false},    {"long", DType::i64, false},   {"longlong", DType::i64, false}, {"uchar", DType::u8, false},
    {"ushort", DType::u16, false}, {"uint", DType::u32, false},   {"ulong", DType::u64, false},    {"ulonglong", DType::u64, false},
    {"float", DType::f32, false},  {"double", DType::f64, false},
};

constexpr const char* kLoads[] = {"ldca", "ldcg", "ldcs", "ldlu", "ldcv"};
constexpr const char* kStores[] = {"stwb", "stcg", "stcs", "stwt"};

}  // namespace

std::vector<std::string> vector_names() {
  std::vector<std::string> names;
  for (const VectorBase& b : kBases)
    for (int n = 1; n <= 4; ++n) names.push_back(fmt::format("cuda.{}{}{}", b.name, b.crossed ? "x" : "", n));
  for (const char* n : kLoads) names.push_back(std::string("cuda.") + n);
  for (const char* n : kStores) names.push_back(std::string("cuda.") + n);
  return names;
}

std::optional<Value> FunctionCompiler::vector_call(const std::string& name, const CallArguments& args, const Node* n) {
  if (!name.starts_with("cuda.")) return std::nullopt;
  const std::string plain = name.substr(5);
  for (const VectorBase& b : kBases) {
    if (!plain.starts_with(b.name)) continue;
    const std::string tail = plain.substr(std::string_view(b.name).size());
    if (tail.size() != (b.crossed ? 2u : 1u) || (b.crossed && tail[0] != 'x') || tail.back() < '1' || tail.back() > '4') continue;
    const size_t count = static_cast<size_t>(tail.back() - '0');
    const Type t = scalar_type(b.dtype);
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
    v.type = named_tuple_type(&identity, fmt::format("{}x{}", scalar_type(b.dtype)->spelling, count), fields, v.type->items);
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
