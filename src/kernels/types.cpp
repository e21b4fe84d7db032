#include "kernels/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <unordered_map>

#include "core/error.h"
#include "core/spelling.h"
#include "core/time_unit.h"

namespace bc::kernels {
namespace {

/// All types, by a key that is their spelling and what the spelling leaves out.
struct Types {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<TypeInfo>> known;
};
Types& types() {
  static Types& all = *new Types;
  return all;
}

Type intern(std::string key, TypeInfo made) {
  Types& all = types();
  std::lock_guard lock(all.mutex);
  std::unique_ptr<TypeInfo>& place = all.known[std::move(key)];
  if (!place) {
    made.id = static_cast<int>(all.known.size());
    place = std::make_unique<TypeInfo>(std::move(made));
  }
  return place.get();
}

/// A type without members of its own.
Type plain(Kind kind, std::string spelling, std::string key = {}) {
  TypeInfo t;
  t.kind = kind;
  t.spelling = spelling;
  return intern(key.empty() ? std::move(spelling) : std::move(key), std::move(t));
}

std::string identity(const void* object) { return fmt::format("@{}", object); }

/// Natural layout of members in order.
void lay_out(TypeInfo* t) {
  uint32_t at = 0;
  for (Type item : t->items) {
    if (!item->bytes) {
      t->offsets.push_back(at);
      continue;
    }
    at = (at + item->alignment - 1) / item->alignment * item->alignment;
    t->offsets.push_back(at);
    at += item->bytes;
    t->alignment = std::max(t->alignment, item->alignment);
  }
  // A struct without members takes a byte in C++.
  if (t->is(Kind::tuple) && at == 0) at = 1;
  t->bytes = (at + t->alignment - 1) / t->alignment * t->alignment;
}

std::string join(std::span<const Type> items) {
  std::string text;
  for (Type item : items) text += (text.empty() ? "" : ", ") + item->spelling;
  return text;
}

/// The items' identities: spellings alone may be equal for different classes.
std::string ids(std::span<const Type> items) {
  std::string text;
  for (Type item : items) text += fmt::format("{},", item->id);
  return text;
}

}  // namespace

bool TypeInfo::is_uniform() const {
  return kind == Kind::tuple && !items.empty() && std::all_of(items.begin(), items.end(), [&](Type t) { return t == items[0]; });
}

Type none_type() {
  static const Type t = plain(Kind::none, "none");
  return t;
}

Type scalar_type(DType d) {
  if (is_time(d)) {
    TypeInfo t;
    t.kind = Kind::time;
    t.dtype = d;
    t.bytes = t.alignment = 8;
    t.spelling = info(d).name;
    return intern(t.spelling, t);
  }
  static const auto all = [] {
    std::vector<Type> made;
    for (int i = 0; i < kDTypeCount; ++i) {
      TypeInfo t;
      t.kind = Kind::scalar;
      t.dtype = static_cast<DType>(i);
      t.bytes = t.alignment = static_cast<uint32_t>(itemsize(t.dtype));
      t.spelling = info(t.dtype).name;
      made.push_back(intern(t.spelling, t));
    }
    return made;
  }();
  return all[static_cast<size_t>(d)];
}
Type bool_type() { return scalar_type(DType::b1); }
Type int64_type() { return scalar_type(DType::i64); }
Type float64_type() { return scalar_type(DType::f64); }

Type array_type(Type element, int ndim, char layout, bool read_only, Space space) {
  BC_CHECK(element && (element->is_single() || element->is(Kind::record) || element->is_tuple()), Type,
           "array type: expected elements of a number or record type, got {}", element ? element->spelling : "an unknown type");
  BC_CHECK(ndim >= 0 && ndim <= 32, Type, "array type: expected 0 to 32 dimensions, got {}", ndim);
  if (ndim == 0) layout = 'C';
  if (ndim == 1 && layout == 'F') layout = 'C';
  TypeInfo t;
  t.kind = Kind::array;
  t.element = element;
  t.dtype = element->dtype;
  t.ndim = ndim;
  t.layout = layout;
  t.read_only = read_only;
  t.space = space;
  t.bytes = static_cast<uint32_t>(8 + 16 * ndim);
  t.alignment = 8;
  constexpr const char* spaces[] = {"", ", shared", ", local", ", constant"};
  t.spelling = fmt::format("array({}, {}d, {}{}{})", element->spelling, ndim, layout, read_only ? ", readonly" : "",
                           spaces[static_cast<int>(space)]);
  return intern(fmt::format("{}#{}", t.spelling, element->id), t);
}

Type bytes_type() {
  static const Type made = [] {
    TypeInfo t = *array_type(scalar_type(DType::u8), 1, 'C', true);
    t.name = t.spelling = "bytes";
    return intern("bytes", t);
  }();
  return made;
}

Type tuple_type(std::span<const Type> items) {
  TypeInfo t;
  t.kind = Kind::tuple;
  t.items.assign(items.begin(), items.end());
  lay_out(&t);
  t.spelling = items.size() == 1 ? fmt::format("({},)", items[0]->spelling) : fmt::format("({})", join(items));
  return intern("tuple:" + ids(items), t);
}
Type uniform_tuple_type(Type item, int n) { return tuple_type(std::vector<Type>(static_cast<size_t>(n), item)); }

Type named_tuple_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items) {
  TypeInfo t;
  t.kind = Kind::tuple;
  t.items.assign(items.begin(), items.end());
  t.fields = std::move(fields);
  t.object = object;
  lay_out(&t);
  for (size_t i = 0; i < items.size(); ++i) t.spelling += fmt::format("{}{}: {}", i ? ", " : "", t.fields[i], items[i]->spelling);
  t.spelling = fmt::format("{}({})", name, t.spelling);
  t.name = std::move(name);
  return intern(fmt::format("named:{}{}", identity(object), ids(items)), t);
}

Type record_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items,
                 std::vector<uint32_t> offsets, uint32_t bytes, uint32_t alignment, std::vector<std::string> titles) {
  TypeInfo t;
  t.kind = Kind::record;
  t.items.assign(items.begin(), items.end());
  t.object = object;
  std::string key = fmt::format("record:{}{}{}", identity(object), name, ids(items));
  if (offsets.empty()) {
    lay_out(&t);
  } else {
    t.offsets = std::move(offsets);
    t.bytes = bytes;
    t.alignment = std::max(alignment, 1u);
    for (uint32_t at : t.offsets) key += fmt::format(":{}", at);
    key += fmt::format("={}/{}", t.bytes, t.alignment);
  }
  for (const std::string& field : fields) key += "." + field;
  for (const std::string& title : titles) key += "/" + title;
  t.titles = std::move(titles);
  for (size_t i = 0; i < items.size(); ++i) t.spelling += fmt::format("{}{}: {}", i ? ", " : "", fields[i], items[i]->spelling);
  t.spelling = fmt::format("{}({})", name.empty() ? "Record" : name, t.spelling);
  t.fields = std::move(fields);
  t.name = std::move(name);
  return intern(std::move(key), t);
}

Type characters_type(bool wide, uint32_t count) {
  TypeInfo t;
  t.kind = Kind::record;
  t.value = wide ? 4 : 1;
  t.bytes = count * static_cast<uint32_t>(t.value);
  t.spelling = fmt::format("[{} x {}]", wide ? "unichr" : "char", count);
  t.name = fmt::format("{}{}", wide ? 'U' : 'S', count);
  return intern(t.spelling, t);
}

std::optional<size_t> field_named(Type record, std::string_view name) {
  for (const auto* names : {&record->fields, &record->titles})
    for (size_t i = 0; i < names->size(); ++i)
      if ((*names)[i] == name && !name.empty()) return i;
  return std::nullopt;
}

Type tuple_like(Type tuple, std::span<const Type> items) {
  return tuple->fields.empty() ? tuple_type(items) : named_tuple_type(tuple->object, tuple->name, tuple->fields, items);
}

Type by_reference(Type t) {
  if (t->is(Kind::record) && !t->object && !is_characters(t)) return array_type(t, 0, 'C');
  if (!t->is(Kind::tuple)) return t;
  std::vector<Type> items;
  for (Type item : t->items) items.push_back(by_reference(item));
  return items == t->items ? t : tuple_like(t, items);
}

Type optional_type(Type of) {
  if (of->is(Kind::optional) || of->is(Kind::none)) return of;
  TypeInfo t;
  t.kind = Kind::optional;
  t.element = of;
  t.alignment = of->alignment;
  t.bytes = (of->bytes + of->alignment) / of->alignment * of->alignment;  // the value, then a bool
  t.spelling = fmt::format("Optional({})", of->spelling);
  return intern(fmt::format("optional:{}", of->id), t);
}

Type range_type(DType d) {
  TypeInfo t;
  t.kind = Kind::range;
  t.dtype = d;
  t.bytes = 24;
  t.alignment = 8;
  t.spelling = fmt::format("range({})", info(d).name);
  return intern(t.spelling, t);
}
Type slice_type(int given, int optional) {
  TypeInfo t;
  t.kind = Kind::slice;
  t.value = given | optional << 3;
  t.bytes = 32;
  t.alignment = 8;
  t.spelling = "slice";
  return intern(fmt::format("slice{}", t.value), t);
}
Type list_type(Type element, bool typed) {
  TypeInfo t;
  t.kind = Kind::list;
  t.element = element;
  t.typed = typed;
  if (element) t.dtype = element->dtype;
  t.bytes = t.alignment = 8;  // where its memory is
  t.spelling = fmt::format("{}({})", typed ? "ListType" : "list", element ? element->spelling : "undefined");
  return intern(fmt::format("list:{}:{}", element ? element->id : -1, typed), t);
}
Type set_type(Type element) {
  TypeInfo t;
  t.kind = Kind::set;
  t.element = element;
  t.bytes = 16;  // as a list of its items; and room for the one that goes back
  t.alignment = 8;
  t.spelling = fmt::format("set({})", element ? element->spelling : "undefined");
  return intern(fmt::format("set:{}", element ? element->id : -1), t);
}
Type dict_type(Type key, Type value) {
  TypeInfo t;
  t.kind = Kind::dict;
  t.items = {key, value};
  t.bytes = t.alignment = 8;
  t.spelling = fmt::format("dict({}, {})", key ? key->spelling : "undefined", value ? value->spelling : "undefined");
  return intern(fmt::format("dict:{}:{}", key ? key->id : -1, value ? value->id : -1), t);
}
Type text_type() {
  static const Type t = [] {
    TypeInfo made;
    made.kind = Kind::text;
    made.bytes = 32;
    made.alignment = 8;
    made.spelling = "str";
    return intern("text", made);
  }();
  return t;
}
Type instance_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items) {
  TypeInfo t;
  t.kind = Kind::instance;
  t.object = object;
  t.items.assign(items.begin(), items.end());
  t.fields = std::move(fields);
  t.bytes = t.alignment = 8;
  t.spelling = fmt::format("instance of {}", name);
  t.name = std::move(name);
  return intern(fmt::format("instance:{}", identity(object)), t);
}
void complete_instance(Type t, std::span<const Type> items) { const_cast<TypeInfo*>(t)->items.assign(items.begin(), items.end()); }
Type generator_type(Type element) {
  TypeInfo t;
  t.kind = Kind::generator;
  t.element = element;
  t.bytes = t.alignment = 8;
  t.spelling = fmt::format("generator({})", element->spelling);
  return intern(fmt::format("generator:{}", element->id), t);
}
bool is_incomplete(Type t) {
  if (!t) return true;
  if (t->is(Kind::list) || t->is(Kind::set)) return is_incomplete(t->element);
  if (t->is(Kind::dict) || t->is_tuple()) return std::any_of(t->items.begin(), t->items.end(), is_incomplete);
  return false;
}
Type ellipsis_type() {
  static const Type t = plain(Kind::ellipsis, "ellipsis");
  return t;
}

Type string_type(std::string text) {
  TypeInfo t;
  t.kind = Kind::string;
  t.spelling = "str";
  std::string key = "string:" + text;
  t.name = std::move(text);
  return intern(std::move(key), t);
}
Type literal_type(int64_t value) {
  TypeInfo t;
  t.kind = Kind::literal;
  t.value = value;
  t.spelling = fmt::format("Literal[int]({})", value);
  return intern(t.spelling, t);
}
Type dtype_type(Type made, std::string name) {
  TypeInfo t;
  const std::string key = fmt::format("dtype:{}{}", made->id, name);
  t.name = std::move(name);
  t.kind = Kind::dtype;
  t.element = made;
  t.dtype = made->dtype;
  t.spelling = fmt::format("class({})", made->spelling);
  return intern(key, t);
}

namespace {
Type named(Kind kind, const void* object, std::string name, const char* what, Type made = nullptr) {
  TypeInfo t;
  t.kind = kind;
  t.object = object;
  t.element = made;
  t.spelling = fmt::format("{}({})", what, name);
  t.name = std::move(name);
  return intern(fmt::format("{}{}{}", t.spelling, identity(object), made ? made->id : 0), t);
}
}  // namespace

Type class_type(const void* object, std::string name, Type made) { return named(Kind::type, object, std::move(name), "class", made); }
Type builtin_type(std::string name) { return named(Kind::builtin, nullptr, std::move(name), "Function"); }
Type foreign_type(const void* function, std::string name) { return named(Kind::builtin, function, std::move(name), "ExternFunction"); }
Type pointer_type(Type element) {
  TypeInfo t;
  t.kind = Kind::pointer;
  t.element = element;
  t.dtype = element->dtype;
  t.bytes = t.alignment = 8;
  t.spelling = fmt::format("CPointer({})", element->spelling);
  return intern(fmt::format("{}#{}", t.spelling, element->id), t);
}
Type random_generator_type() {
  static const Type made = [] {
    const Type state = scalar_type(DType::u64);
    TypeInfo t = *pointer_type(record_type(nullptr, "RandomGenerator", {"state"}, {&state, 1}));
    t.spelling = "Generator";
    return intern("random generator", t);
  }();
  return made;
}
Type function_type(const void* function, std::string name) { return named(Kind::function, function, std::move(name), "Function"); }
Type module_type(const void* object, std::string name) { return named(Kind::module, object, std::move(name), "Module"); }
Type object_type(const void* object, std::string name) { return named(Kind::object, object, std::move(name), "object"); }
Type member_type(const void* object, std::string name, Type enumeration, int64_t place) {
  TypeInfo t;
  t.kind = Kind::object;
  t.object = object;
  t.element = enumeration;
  t.value = place;
  t.spelling = fmt::format("{}.{}", enumeration->name, name);
  t.name = std::move(name);
  return intern(t.spelling + identity(object), t);
}
Type enumeration_type(const void* cls, std::string name, std::vector<std::string> names, bool by_identity) {
  TypeInfo t;
  t.kind = Kind::member;
  t.object = cls;
  t.value = by_identity;
  t.fields = std::move(names);
  t.bytes = t.alignment = 8;
  t.spelling = fmt::format("Enum({})", name);
  t.name = std::move(name);
  return intern(t.spelling + identity(cls), t);
}
Type choice_type(std::vector<Type> functions) {
  TypeInfo t;
  t.kind = Kind::choice;
  t.bytes = t.alignment = 8;
  std::string names, key;
  for (Type f : functions) names += (names.empty() ? "" : ", ") + f->name, key += identity(f);
  t.items = std::move(functions);
  t.spelling = fmt::format("Choice({})", names);
  return intern(t.spelling + key, t);
}
Type enumeration_of(Type t) { return !t ? nullptr : t->is(Kind::member) ? t : t->is(Kind::object) ? t->element : nullptr; }

Type with_layout(Type a, int ndim, char layout) { return array_type(a->element, ndim, layout, a->read_only, a->space); }
Type as_read_only(Type a) { return array_type(a->element, a->ndim, a->layout, true, a->space); }

// ---- rules ------------------------------------------------------------------------------------------------------------------------

DType arithmetic(DType a, DType b) {
  const auto whole = [](DType t) { return is_bool(t) || is_integer(t); };
  if (!whole(a) || !whole(b)) return promote(a, b);
  if (is_unsigned(a) && is_unsigned(b)) return DType::u64;
  if (is_signed_int(a) || is_signed_int(b)) return DType::i64;
  return a == DType::u64 || b == DType::u64 ? DType::u64 : DType::i64;
}

/// The type of two dates or of two differences; nullptr where none has both units.
static Type common_time(Type a, Type b) {
  try {
    return scalar_type(promote(a->dtype, b->dtype));
  } catch (const Error&) {
    return nullptr;
  }
}

namespace {
/// The functions that a value of the type may be; empty for other types.
std::span<const Type> functions_of(const Type& t) {
  if (t->is(Kind::choice)) return t->items;
  const bool of_library = t->is(Kind::builtin) && (t->name.starts_with("numpy.") || t->name.starts_with("math."));
  return {&t, size_t{t->is(Kind::function) || of_library}};
}
}  // namespace

Type unify(Type a, Type b) {
  if (!a || a == b) return b;
  if (!b) return a;
  const auto is_text = [](Type t) { return t->is(Kind::string) || t->is(Kind::text); };
  if (is_text(a) && is_text(b)) return text_type();
  if (a->is(Kind::string) && (b->is(Kind::none) || b->is(Kind::optional))) return unify(text_type(), b);
  if (b->is(Kind::string) && (a->is(Kind::none) || a->is(Kind::optional))) return unify(a, text_type());
  if (a->is_container() && a->kind == b->kind) {
    // Containers are shared, not converted: only what is not known yet gives way.
    const auto parts = [&](Type x, Type y, bool* ok) -> Type {
      if (!x || !y || x == y) return x ? x : y;
      const Type t = x->is_container() || x->is_tuple() || is_text(x) ? unify(x, y) : nullptr;
      *ok = *ok && t;
      return t;
    };
    bool ok = true;
    Type t = nullptr;
    if (a->is(Kind::dict)) {
      const Type key = parts(a->items[0], b->items[0], &ok), value = parts(a->items[1], b->items[1], &ok);
      t = dict_type(key, value);
    } else {
      const Type element = parts(a->element, b->element, &ok);
      t = a->is(Kind::set) ? set_type(element) : list_type(element, a->typed || b->typed);
    }
    return ok ? t : nullptr;
  }
  if (const Type one = enumeration_of(a), other = enumeration_of(b); one || other) {
    if (one == other) return one;
    if (a->is(Kind::none) || b->is(Kind::none)) return optional_type(one ? one : other);
    if (!a->is(Kind::optional) && !b->is(Kind::optional)) return nullptr;
  }
  const auto first = functions_of(a), second = functions_of(b);
  if (a->is(Kind::none) && !second.empty()) return optional_type(choice_type({second.begin(), second.end()}));
  if (b->is(Kind::none) && !first.empty()) return unify(b, a);
  if (!first.empty() && !second.empty()) {
    std::vector<Type> all(first.begin(), first.end());
    std::ranges::copy_if(second, std::back_inserter(all), [&](Type f) { return std::ranges::find(first, f) == first.end(); });
    return choice_type(std::move(all));
  }
  if (a->is(Kind::literal)) return unify(int64_type(), b);
  if (b->is(Kind::literal)) return unify(a, int64_type());
  if (a->is_scalar() && b->is_scalar()) return scalar_type(promote(a->dtype, b->dtype));
  if (a->is(Kind::time) && b->is(Kind::time)) return is_datetime(a->dtype) == is_datetime(b->dtype) ? common_time(a, b) : nullptr;
  if (a->is(Kind::none) && b->has_value()) return optional_type(b);
  if (b->is(Kind::none) && a->has_value()) return optional_type(a);
  if (a->is(Kind::optional) || b->is(Kind::optional)) {
    const Type inner = unify(a->is(Kind::optional) ? a->element : a, b->is(Kind::optional) ? b->element : b);
    return inner && inner->has_value() ? optional_type(inner) : nullptr;
  }
  if ((is_bytes(a) && converts(b, a)) || (is_bytes(b) && converts(a, b))) return bytes_type();
  if (a->kind != b->kind) return nullptr;
  if (is_characters(a) && is_characters(b)) return a->value != b->value ? nullptr : a->bytes < b->bytes ? b : a;
  if (a->is_array() && a->element == b->element && a->ndim == b->ndim)
    return array_type(a->element, a->ndim, a->layout == b->layout ? a->layout : 'A', a->read_only || b->read_only,
                      a->space == b->space ? a->space : Space::generic);
  if (a->is_tuple() && a->items.size() == b->items.size() && a->object == b->object) {
    std::vector<Type> items;
    for (size_t i = 0; i < a->items.size(); ++i) {
      const Type t = unify(a->items[i], b->items[i]);
      if (!t) return nullptr;
      items.push_back(t);
    }
    return a->fields.empty() ? tuple_type(items) : named_tuple_type(a->object, a->name, a->fields, items);
  }
  if (a->is(Kind::range)) return range_type(promote(a->dtype, b->dtype));
  if (a->is(Kind::slice)) {
    // A bound that only one of the two slices has may be None, and so may one that may be None in either.
    const auto x = static_cast<int>(a->value), y = static_cast<int>(b->value);
    return slice_type((x | y) & 7, ((x ^ y) & 7) | (x | y) >> 3);
  }
  return nullptr;
}

bool holds_time(Type t) {
  if (!t || t->is(Kind::instance)) return false;
  return t->is(Kind::time) || (t->element && holds_time(t->element)) || std::any_of(t->items.begin(), t->items.end(), holds_time);
}

bool converts(Type from, Type to) {
  if (!from || !to || from == to) return true;
  if (from->is(Kind::literal)) return converts(int64_type(), to);
  if (from->is(Kind::string) && to->is(Kind::text)) return true;
  if (is_characters(to)) {
    if (is_characters(from)) return from->value == to->value;
    return is_wide(to) ? from->is(Kind::string) || from->is(Kind::text) : is_bytes(from);
  }
  if (is_bytes(to)) return is_characters(from) && !is_wide(from);
  if (to->is(Kind::member)) return enumeration_of(from) == to;
  if (from->is(Kind::time) && to->is(Kind::time)) return can_cast(from->dtype, to->dtype, Casting::safe);
  if (to->is(Kind::choice)) return !functions_of(from).empty() && unify(to, from) == to;
  if (from->is_scalar() && to->is_scalar()) return is_complex(to->dtype) || !is_complex(from->dtype);
  if (to->is(Kind::optional)) return from->is(Kind::none) || converts(from->is(Kind::optional) ? from->element : from, to->element);
  if (from->is(Kind::optional)) return converts(from->element, to);
  if (from->is_array() && from->ndim == 0 && from->element->is(Kind::record) && to == from->element) return true;
  if (from->is_array() && to->is_array())
    return from->element == to->element && from->ndim == to->ndim && (to->layout == 'A' || from->layout == to->layout) &&
           (to->read_only || !from->read_only);
  if (from->is_tuple() && to->is_tuple() && from->items.size() == to->items.size() && (to->fields.empty() || from->object == to->object)) {
    for (size_t i = 0; i < from->items.size(); ++i)
      if (!converts(from->items[i], to->items[i])) return false;
    return true;
  }
  if (from->is(Kind::slice) && to->is(Kind::slice)) return unify(from, to) == to;
  return from->is(Kind::range) && to->is(Kind::range);
}

int conversion_cost(Type from, Type to) {
  if (from == to) return 0;
  if (!converts(from, to)) return -1;
  if (from->is_tuple() && to->is_tuple()) {
    int sum = 0;
    for (size_t i = 0; i < from->items.size(); ++i) sum += conversion_cost(from->items[i], to->items[i]);
    return sum;
  }
  if (!from->is_scalar() || !to->is_scalar()) return 1;
  const DType a = from->dtype, b = to->dtype;
  if (!can_cast(a, b, Casting::safe)) return can_cast(a, b, Casting::same_kind) ? 10000 : 1000000;
  const auto kind = [](DType t) { return is_bool(t) ? 0 : is_unsigned(t) ? 1 : is_integer(t) ? 2 : is_complex(t) ? 4 : 3; };
  const int wider = std::bit_width(static_cast<unsigned>(itemsize(b))) - std::bit_width(static_cast<unsigned>(itemsize(a)));
  return kind(a) == kind(b) ? wider : 100 * (kind(b) - kind(a)) + std::max(0, wider);
}

const char* cpp_name(DType t) { return info(t).c_name; }

// ---- signatures -------------------------------------------------------------------------------------------------------------------

/// "U5" and "S3", with a sign of native byte order or without.
static Type characters_from_name(std::string_view name) {
  if (!name.empty() && std::string_view("<=|").find(name[0]) != name.npos) name.remove_prefix(1);
  if (name.size() < 2 || name.size() > 7 || (name[0] != 'U' && name[0] != 'S')) return nullptr;
  uint32_t count = 0;
  for (char c : name.substr(1)) {
    if (c < '0' || c > '9') return nullptr;
    count = 10 * count + static_cast<uint32_t>(c - '0');
  }
  return count ? characters_type(name[0] == 'U', count) : nullptr;
}

Type type_from_name(std::string_view name) {
  if (const Type characters = characters_from_name(name)) return characters;
  if (const std::optional<DType> time = time_from_name(name)) return scalar_type(*time);
  static const auto& names = *new std::unordered_map<std::string_view, Type>([] {
    std::unordered_map<std::string_view, Type> made;
    for (int i = 0; i < kDTypeCount; ++i) made.emplace(info(static_cast<DType>(i)).name, scalar_type(static_cast<DType>(i)));
    constexpr std::pair<const char*, DType> others[] = {
        {"boolean", DType::b1},   {"bool_", DType::b1},      {"b1", DType::b1},      {"i1", DType::i8},        {"i2", DType::i16},
        {"i4", DType::i32},       {"i8", DType::i64},        {"u1", DType::u8},      {"u2", DType::u16},       {"u4", DType::u32},
        {"u8", DType::u64},       {"f2", DType::f16},        {"f4", DType::f32},     {"f8", DType::f64},       {"c8", DType::c64},
        {"c16", DType::c128},     {"half", DType::f16},      {"float", DType::f32},  {"double", DType::f64},   {"float_", DType::f32},
        {"int_", DType::i64},     {"int", DType::i64},       {"intp", DType::i64},   {"uintp", DType::u64},    {"uint", DType::u64},
        {"intc", DType::i32},     {"uintc", DType::u32},     {"byte", DType::u8},    {"char", DType::i8},      {"uchar", DType::u8},
        {"short", DType::i16},    {"short_", DType::i16},    {"ushort", DType::u16}, {"long_", DType::i64},    {"ulong", DType::u64},
        {"longlong", DType::i64}, {"ulonglong", DType::u64}, {"single", DType::f32}, {"complex", DType::c128}, {"ssize_t", DType::i64},
        {"size_t", DType::u64},   {"long", DType::i64},      {"int_t", DType::i64},  {"?", DType::b1},         {"b", DType::i8},
        {"B", DType::u8},         {"h", DType::i16},         {"H", DType::u16},      {"i", DType::i32},        {"I", DType::u32},
        {"l", DType::i64},        {"L", DType::u64},         {"q", DType::i64},      {"Q", DType::u64},        {"e", DType::f16},
        {"f", DType::f32},        {"d", DType::f64},         {"F", DType::c64},      {"D", DType::c128},
    };
    for (const auto& [text, t] : others) made.emplace(text, scalar_type(t));
    made.emplace("unicode_type", text_type());
    made.emplace("string", text_type());
    made.emplace("bytes", bytes_type());
    made.emplace("str", text_type());
    made.emplace("void", none_type());
    made.emplace("none", none_type());
    made.emplace("None", none_type());
    return made;
  }());
  const auto it = names.find(name);
  return it == names.end() ? nullptr : it->second;
}

namespace {

/// A recursive descent over the text of a signature.
class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  FunctionSignature signature() {
    FunctionSignature s;
    skip();
    if (peek() == '(') {
      // "(int32, float32)": the arguments alone.
      s.arguments = list('(', ')');
      if (peek() == '(') {
        // It was a tuple that is returned.
        s.result = tuple_type(s.arguments);
        s.arguments = list('(', ')');
      }
    } else {
      s.result = type(false);
      if (peek() == ',') return arguments_from(s.result);
      if (peek() != '(') fail("'(' and the argument types");
      s.arguments = list('(', ')');
    }
    end();
    return s;
  }
  /// "int32, float32": the arguments alone.
  FunctionSignature arguments_from(Type first) {
    FunctionSignature s;
    s.arguments.push_back(first);
    while (take(',')) s.arguments.push_back(type(false));
    end();
    return s;
  }
  Type whole_type() {
    const Type t = type(true);
    end();
    return t;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail(std::string_view expected) {
    raise(ErrorKind::Type, "signature '{}': expected {} at column {}, got '{}'", text_, expected, at_ + 1,
          text_.substr(std::min(at_, text_.size())));
  }
  void end() {
    skip();
    if (at_ < text_.size()) fail("the end");
  }
  std::string_view word() {
    skip();
    const size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.')) ++at_;
    std::string_view w = text_.substr(from, at_ - from);
    for (std::string_view prefix : {"types.", "numba.", "bc.", "broadcloth.", "np.", "numpy.", "cuda.", "nb."})
      while (w.starts_with(prefix)) w.remove_prefix(prefix.size());
    return w;
  }
  int64_t number() {
    skip();
    const size_t from = at_;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (from == at_) fail("a number");
    return std::stoll(std::string(text_.substr(from, at_ - from)));
  }
  std::vector<Type> list(char open, char close) {
    std::vector<Type> items;
    if (!take(open)) fail(std::string("'") + open + "'");
    while (!take(close)) {
      items.push_back(type(true));
      if (!take(',') && peek() != close) fail(std::string("',' or '") + close + "'");
    }
    return items;
  }

  /// `brackets`: a '(' after a name is part of the type ("Tuple((int64, float32))"), otherwise it opens the arguments.
  Type type(bool brackets) {
    Type t;
    if (take('[')) {
      // "[unichr x 5]", "[char x 5]": elements of arrays of str and of bytes.
      const bool wide = word() == "unichr";
      if (word() != "x") fail("'x'");
      t = characters_type(wide, static_cast<uint32_t>(number()));
      if (!take(']')) fail("']'");
    } else if (peek() == '(') {
      t = tuple_type(list('(', ')'));
    } else {
      const size_t start = at_;
      std::string_view w = word();
      if (time_from_name(w) && at_ + 1 < text_.size() && text_[at_] == '[' && text_[at_ + 1] != ':') {
        // "datetime64[15m]": the brackets hold a unit.
        at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
        w = text_.substr(static_cast<size_t>(w.data() - text_.data()), at_ - static_cast<size_t>(w.data() - text_.data()));
      }
      if (w == "Tuple" || w == "UniTuple" || w == "Optional" || w == "optional" || w == "Array" || w == "array" || w == "CPointer" ||
          w == "ListType" || w == "List" || w == "list" || w == "set" || w == "Set" || w == "DictType" || w == "dict") {
        if (!take('(')) fail("'('");
        const bool list_inside = w == "Tuple" && peek() == '(';
        if (list_inside) {
          t = tuple_type(list('(', ')'));
        } else if (w == "Tuple") {
          t = tuple_type(list('[', ']'));
        } else if (w == "UniTuple") {
          const Type item = type(true);
          if (!take(',')) fail("','");
          t = uniform_tuple_type(item, static_cast<int>(number()));
        } else if (w == "Array" || w == "array") {
          const Type item = type(true);
          if (!take(',')) fail("','");
          const int ndim = static_cast<int>(number());
          take('d');
          if (!take(',')) fail("','");
          const char quote = peek();
          if (quote == '\'' || quote == '"') ++at_;
          const char layout = peek();
          ++at_;
          if (quote == '\'' || quote == '"') ++at_;
          bool read_only = false;
          if (take(',')) {
            if (word() != "readonly") fail("'readonly'");
            read_only = true;
          }
          t = array_type(item, ndim, layout, read_only);
        } else if (w == "CPointer") {
          t = pointer_type(type(true));
        } else if (w == "DictType" || w == "dict") {
          const Type key = type(true);
          if (!take(',')) fail("','");
          t = dict_type(key, type(true));
        } else if (w == "ListType" || w == "List" || w == "list" || w == "set" || w == "Set") {
          const Type item = type(true);
          if (take(',')) {  // reflected=True
            word();
            if (take('=')) word();
          }
          t = w == "set" || w == "Set" ? set_type(item) : list_type(item, w == "ListType");
        } else {
          t = optional_type(type(true));
        }
        if (!take(')')) fail("')'");
      } else {
        t = w == "voidptr" ? pointer_type(scalar_type(DType::u8)) : type_from_name(w);
        if (!t) {
          at_ = start;
          static const std::vector<std::string> kNumbers = {"boolean",   "int8",       "int16",  "int32",   "int64",   "uint8",
                                                            "uint16",    "uint32",     "uint64", "float16", "float32", "float64",
                                                            "complex64", "complex128", "intp",   "uintp",   "void",    "unicode_type"};
          const std::string meant = nearest_name(w, kNumbers);
          fail(meant.empty() ? "a type" : fmt::format("a type (did you mean '{}'?)", meant));
        }
      }
    }
    while (peek() == '[') t = brackets_of(t);
    while (take('*')) t = pointer_type(t);
    return t;
  }

  /// "[:, ::1]": one item an axis; "::1" last means C order, first means Fortran's.
  Type brackets_of(Type element) {
    take('[');
    int ndim = 0;
    bool first = false, last = false;
    do {
      last = false;
      if (!take(':')) fail("':'");
      if (take(':')) {
        if (number() != 1) fail("'::1'");
        last = true;
        if (ndim == 0) first = true;
      }
      ++ndim;
    } while (take(','));
    if (!take(']')) fail("']'");
    return array_type(element, ndim, last ? 'C' : first ? 'F' : 'A');
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

FunctionSignature parse_signature(std::string_view text) { return SignatureReader(text).signature(); }
Type parse_type(std::string_view text) { return SignatureReader(text).whole_type(); }

std::string to_string(const FunctionSignature& s) {
  return fmt::format("({}){}{}", join(s.arguments), s.result ? " -> " : "", s.result ? s.result->spelling : "");
}

}  // namespace bc::kernels
