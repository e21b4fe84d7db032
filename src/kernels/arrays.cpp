// Arrays: elements, views, elementwise expressions, reductions. See compiler.h for the method.
#include <algorithm>
#include <array>

#include "kernels/compiler.h"
#include "primitives/ops.h"

namespace bc::kernels {
namespace {
// x["T"] of an array of numbers is no transposed array.
constexpr const char* kNoFields = "an array of numbers is indexed by integers, slices, masks and arrays of integers, not by a str";
constexpr const char* kWhatHasFields = "structured arrays have fields that are named so";

/// Tells whether two views of one variable may share elements in unlike places. Each is written by view() as "|,axis,axis…" a view.
bool may_overlap(std::string_view a, std::string_view b) {
  if (a == b) return false;
  bool differ = std::count(a.begin(), a.end(), ',') != std::count(b.begin(), b.end(), ',');
  const bool comparable = !differ;
  while (comparable && !a.empty() && !b.empty()) {
    const size_t n = std::min(a.find(',', 1), a.size()), m = std::min(b.find(',', 1), b.size());
    const std::string_view x = a.substr(0, n), y = b.substr(0, m);
    a.remove_prefix(n);
    b.remove_prefix(m);
    if (x == y) continue;
    const bool integers = x.starts_with(",i") && y.starts_with(",i");
    if (integers && x.size() > 2 && y.size() > 2) return false;  // rows 0 and 1
    if (!integers) differ = true;
  }
  return differ;
}

}  // namespace

Value FunctionCompiler::bound(const Value& v, const char* hint) {
  if (v.simple || v.lazy || !v.is_array()) return v;
  return spill(v, hint);
}

/// The same to read or write one element of it at once: a field is not held by a count while nothing can give it another array.
/// The same elements without a reference to their memory, of a view into an array that is a variable: it lives as long as a statement.
const Value* unowned_view(const Value& v) { return v.is_array() && v.type->ndim > 0 && !v.items.empty() ? v.items.data() : nullptr; }

Value FunctionCompiler::bound_for_element(const Value& v, const std::vector<Value>& indices) {
  const bool acts = std::ranges::any_of(indices, [](const Value& i) { return i.acts(); });
  if (const Value* view = unowned_view(v)) return bound(*view, "a");
  if (!v.field || v.simple || acts) return bound(v, "a");
  Value r = v;
  r.text = temporary("a");
  r.simple = true;
  quiet_line(code("const auto& {} = {};", r.text, v.text));
  return r;
}

std::vector<Value> FunctionCompiler::index_items(const Value& index) {
  if (!index.is(Kind::tuple)) return {index};
  if (!index.items.empty() || index.type->items.empty()) return index.items;
  const Value whole = index.simple ? index : spill(index);
  std::vector<Value> items;
  for (size_t i = 0; i < index.type->items.size(); ++i) items.push_back(tuple_item(whole, i));
  return items;
}

std::vector<Value> FunctionCompiler::array_indices(const Value& index, const Node* n) {
  std::vector<Value> items = index_items(index);
  for (Value& i : items) {
    i = present(i, n);
    i = host() && i.is(Kind::list) ? list_array(i) : host() && i.display ? spill(host_array_of(i, nullptr, n)) : scalar_of(i, n);
    if (i.is_scalar() && is_bool(i.type->dtype))
      fail(n, "an array cannot be indexed by one boolean", {{source_of(n->a ? n->a : n), i.type}}, "convert it with int()");
  }
  return items;
}

bool FunctionCompiler::picks(const std::vector<Value>& indices) {
  return std::any_of(indices.begin(), indices.end(), [](const Value& i) { return i.is_array() && i.type->ndim > 0; });
}

Value FunctionCompiler::scalar_of(const Value& v, const Node* n) {
  if (!v.is_array() || v.lazy || v.type->ndim != 0 || !v.type->element->is_single()) return v;
  Value r = Value::of(v.type->element, element(bound(v, "a"), {}, n));
  r.note(kReads);
  return r;
}

Value FunctionCompiler::slice(const Node* n) {
  std::vector<Value> bounds;
  const Value none = Value::known(none_type());
  for (const Node* part : {n->a, n->b, n->c}) bounds.push_back(part ? expression(part) : none);
  return slice_of(std::move(bounds), n);
}

Value FunctionCompiler::slice_of(std::vector<Value> bounds, const Node* n) {
  int given = 0, optional = 0;
  bool known = true;
  for (int k = 0; k < 3; ++k) {
    Value& part = bounds[static_cast<size_t>(k)];
    if (part.is_array()) part = scalar_of(part, n);
    known &= part.type != nullptr;
    if (!part.type || part.is_none()) continue;
    const Type t = part.is(Kind::optional) ? part.type->element : part.type;
    if (!(t->is_scalar() || t->is(Kind::literal)) || is_inexact(t->dtype))
      fail(n, fmt::format("slices take integers, not {}", t->spelling));
    given |= 1 << k;
    if (!part.is(Kind::optional)) continue;
    optional |= 1 << k;
    if (!part.simple) part = spill(part, "bound");
  }
  Value v = Value::known(slice_type(given, optional));
  v.items = std::move(bounds);
  if (known) v.text = slice_text(v, n), v.simple = false;
  return v;
}

/// A slice with its bounds as the device library's. Whether an optional bound is missing is known at run time.
Code FunctionCompiler::slice_text(const Value& slice, const Node* n) {
  Code numbers, flags;
  for (size_t k = 0; k < 3; ++k) {
    const Value& part = slice.items[k];
    const char* otherwise = k == 2 ? "1" : "0";
    flags += k ? ", " : "";
    if (part.is(Kind::optional)) {
      const Code number = code("i64({}.value)", paren(part));
      numbers += k == 2 ? code("({}.there ? {} : 1)", paren(part), number) : number;
      flags += code("{}.there", paren(part));
    } else {
      numbers += part.is_none() ? Code(otherwise) : "i64(" + convert(part, int64_type(), n) + ")";
      flags += part.is_none() ? "false" : "true";
    }
    numbers += ", ";
  }
  return code("py::Slice{{{}{}}}", numbers, flags);
}

Value FunctionCompiler::with_bounds(Value v) {
  if (!v.is(Kind::slice) || !v.items.empty()) return v;
  if (!v.simple) v = spill(v, "slice");
  constexpr const char* kParts[] = {"start", "stop", "step"};
  for (size_t k = 0; k < 3; ++k) {
    v.items.push_back(Value::known(none_type()));
    if ((v.type->value >> k & 1) == 0) continue;
    v.items.back() = (v.type->value >> k & 8) != 0
                         ? Value::of(optional_type(int64_type()), code("py::Optional<i64>{{{0}.{1}, {0}.has_{1}}}", paren(v), kParts[k]))
                         : Value::of(int64_type(), paren(v) + "." + kParts[k]);
    v.items.back().simple = true;
  }
  return v;
}

Value FunctionCompiler::subscript(const Node* n) {
  const Access access = std::exchange(access_, Access::read);
  const std::vector<Value> both = ordered({n->a, n->b});
  access_ = access;
  const Value v = subscript_of(both[0], both[1], n);
  if (both[0].is_array() && v.is_scalar()) note_read(n->a);
  access_ = Access::read;
  return v;
}

Code FunctionCompiler::index_text(const Value& index, const Code& array, int axis, const Node* n) {
  if (!index.type) return "0";
  if (!(index.is_scalar() || index.is(Kind::literal)) || is_inexact(index.type->dtype))
    fail(n, fmt::format("an index must be an integer, not {}", index.type->spelling), {{n && n->b ? source_of(n->b) : "index", index.type}},
         index.is_scalar() && is_real_float(index.type->dtype) ? "convert with int(), or divide by //" : "");
  const Code text =
      convert(index,
              is_unsigned(index.type->dtype) || is_bool(index.type->dtype) || index.type->dtype == DType::i64 || index.is(Kind::literal)
                  ? (index.type->dtype == DType::i64 || index.is(Kind::literal) ? int64_type() : index.type)
                  : index.type,
              n);
  if (host() && unit_.options.check) return code("py::checked_index({0}, {1}.shape[{2}], {2})", text, array, axis);
  if (index.non_negative) return text;
  return code("py::wrap({}, {}.shape[{}])", text, array, axis);
}

/// The index `at`, counted from the front, after a test that it is one of an array's axis.
Code FunctionCompiler::index_inside(const Code& at, const Code& array, int axis, const Node* n) {
  const Value index = spill(Value::of(int64_type(), "i64(" + at + ")"), "i");
  const Code extent = code("{}.shape[{}]", array, axis);
  const Code test = code("static_cast<u64>({}) >= static_cast<u64>({})", index.text, extent);
  if (host())
    fail_if_of(test, "IndexError", fmt::format("index % is out of bounds for axis {} with size %", axis),
               code("py::written_index({0}, {1}), i64({1})", index.text, extent), n);
  else
    fail_if(test, "IndexError", fmt::format("index out of bounds for axis {} of {}", axis, n && n->a ? source_of(n->a) : "an array"), n);
  return index.text;
}

Code FunctionCompiler::element(const Value& array, const std::vector<Value>& indices, const Node* n) {
  const Code a = paren(array);
  const Access access = std::exchange(access_, Access::read);
  Code list;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (unit_.options.check) {
      index_text(indices[i], a, static_cast<int>(i), n);  // its errors
      list += (i ? ", " : "") + (indices[i].type ? convert(indices[i], int64_type(), n) : "0");
      continue;
    }
    Code at = index_text(indices[i], a, static_cast<int>(i), n);
    if (unit_.options.bounds && indices[i].type) at = index_inside(at, a, static_cast<int>(i), n);
    list += (i ? ", " : "") + at;
  }
  return place(array, list, access, n);
}

Value FunctionCompiler::view(const Value& array, const std::vector<Value>& given, const Node* n) {
  const Type t = array.type;
  std::vector<Value> items = given;
  int used = 0;
  size_t ellipsis = items.size();
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].is(Kind::ellipsis)) {
      if (ellipsis != items.size()) fail(n, "an index holds one ellipsis at most");
      ellipsis = i;
    } else if (!items[i].is_none()) {
      ++used;
    }
  }
  if (used > t->ndim) fail(n, fmt::format("too many indices: {} for an array of {} dimensions", used, t->ndim), {{source_of(n->a), t}});
  const auto place = items.begin() + static_cast<std::ptrdiff_t>(ellipsis);
  items.insert(ellipsis < items.size() ? items.erase(place) : place, static_cast<size_t>(t->ndim - used), Value::whole_slice());
  if (host() && t->ndim == 0) {
    if (items.empty()) return array;
    std::string ones;
    for (size_t k = 0; k < items.size(); ++k) ones += k ? ", 1" : "1";
    unit_.need("host_numpy");
    return Value::called(array_type(t->element, static_cast<int>(items.size()), 'C', t->read_only),
                         code("py::reshape<{0}>({1}, py::Tuple<i64, {0}>{{{{{2}}}}})", items.size(), array.text, ones));
  }
  unit_.need("core");
  for (Value& i : items) {
    if (!host() || !i.is(Kind::slice) || !i.items[2].is_scalar() || i.items[2].integer()) continue;
    if (!i.items[2].simple) i.items[2] = spill(i.items[2], "step");
    fail_if(code("{} == 0", paren(i.items[2])), "ValueError", "slice step cannot be zero", n);
  }
  const Value a = array;
  const Code name = paren(a);
  Code list;
  int ndim = 0, axis = 0;
  bool contiguous = t->layout == 'C', sliced = false;
  for (const Value& i : items) {
    list += ", ";
    if (i.is_none()) {
      list += code("py::NewAxis{{}}");
      ++ndim;
      contiguous = false;
      continue;
    }
    if (i.is(Kind::slice)) {
      const bool whole = i.items[0].is_none() && i.items[1].is_none() && i.items[2].is_none();
      const bool unit_step = i.items[2].is_none() || i.items[2].integer() == 1;
      // Rows of a C array, from the first sliced axis on whole, are contiguous.
      if (sliced && !whole) contiguous = false;
      if (!unit_step) contiguous = false;
      sliced = true;
      list += whole ? code("py::All{{}}") : slice_text(i, n);
      ++ndim;
    } else if (i.is_scalar() || i.is(Kind::literal)) {
      if (unit_.options.check) {
        unit_.need("check");
        list += code("py::index_inside(bc_checker, {}, {}, {}.shape[{}])", site(n, n && n->a ? source_of(n->a) : "array"),
                     convert(i, int64_type(), n), name, axis);
      } else {
        const Code at = index_text(i, name, axis, n);
        list += host() && unit_.options.bounds ? index_inside(at, name, axis, n) : code("i64({})", at);
      }
      if (sliced) contiguous = false;
    } else {
      fail(n, fmt::format("an array cannot be indexed by {} in compiled functions", i.type ? i.type->spelling : "this"),
           {{source_of(n->a), t}});
    }
    ++axis;
  }
  Type made = with_layout(t, ndim, contiguous ? 'C' : 'A');
  // One axis with unit stride stays contiguous where it was the last.
  Value v = Value::of(made, code("py::{}<{}>({}{})", host() ? "host_view" : "view", cpp(made), name, list));
  v.root = array.root;
  v.part = array.part + "|";
  for (const Value& i : items) {
    // Different integers pick disjoint parts, equal ones the same: only slices count.
    v.part += ",";
    if (i.is(Kind::slice))
      for (const Value& bound : i.items) v.part += ":" + bound.text.text();
    else
      v.part += i.integer() ? fmt::format("i{}", *i.integer()) : "i";
  }
  return v;
}

/// The value of what may be None where only a value will do: an error at run time where there is none.
Value FunctionCompiler::present(const Value& v, const Node* n) { return v.is(Kind::optional) ? converted(v, v.type->element, n) : v; }

/// a[i, j], a part of it, or what an array of places takes.
Value FunctionCompiler::array_subscript(const Value& object, const Value& index, const Node* n) {
  if (object.lazy && host()) return subscript_of(host_array(object, n), index, n);
  if (object.lazy) {
    // An element of an array expression: its operands' elements.
    fail(n, "an array expression cannot be indexed in compiled functions", {{source_of(n->a), object.type}}, "index its operands");
  }
  std::vector<Value> items = array_indices(index, n);
  bool scalars = static_cast<int>(items.size()) == object.type->ndim;
  for (const Value& i : items) {
    if (!i.type) return {};
    scalars &= i.is_scalar() || i.is(Kind::literal);
  }
  const Value a = scalars ? bound_for_element(object, items) : bound(object, "a");
  if (host() && picks(items)) return host_picked(a, items, n);
  if (!scalars && is_bytes(object.type) && items.size() == 1 && items[0].is(Kind::slice)) {
    unit_.need("character_texts");
    const Value part = view(a, items, n);
    return Value::called(bytes_type(), part.type->layout == 'C' ? part.text : code("py::memory_of({})", part.text));
  }
  if (!scalars) return view(a, items, n);
  Value r = Value::of(object.type->element, element(a, items, n));
  r.note(kReads);
  if (r.is_scalar() && rereads_.contains(n)) r.text = code("py::reread({})", r.text);
  if (is_characters(r.type)) return characters_read(std::move(r), n);
  if (r.is(Kind::record) && object.type->ndim > 0) return record_reference(r, a);
  if (r.is_scalar() && (is_unsigned(r.type->dtype) || is_bool(r.type->dtype))) r.non_negative = true;
  return r;
}

/// t[i:j:k] of a tuple: its bounds are known.
Value FunctionCompiler::tuple_slice(const Value& object, const Value& index, const Node* n) {
  const auto count = static_cast<int64_t>(object.type->items.size());
  const auto part = [&](size_t k, int64_t otherwise) {
    if (index.items[k].is_none()) return otherwise;
    if (!index.items[k].integer()) fail(n, "a tuple's slice must be known when the function is compiled");
    return *index.items[k].integer();
  };
  const int64_t step = part(2, 1);
  if (step == 0) fail(n, "a slice's step cannot be zero");
  const auto clamp = [&](int64_t i) {
    return i < 0 ? std::max<int64_t>(i + count, step < 0 ? -1 : 0) : std::min(i, step < 0 ? count - 1 : count);
  };
  const int64_t start = index.items[0].is_none() ? (step > 0 ? 0 : count - 1) : clamp(part(0, 0));
  const int64_t stop = index.items[1].is_none() ? (step > 0 ? count : -1) : clamp(part(1, 0));
  const Value whole = object.items.empty() && !object.simple ? spill(object) : object;
  std::vector<Value> items;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) items.push_back(tuple_item(whole, static_cast<size_t>(i)));
  return tuple_of(std::move(items));
}

/// t[i] of a tuple of one type, `whole` in C++, whose index is known when it runs.
Value FunctionCompiler::item_at(const Value& object, const Value& whole, const Value& index, const Node* n) {
  const auto count = static_cast<int64_t>(object.type->items.size());
  const char* what = object.display ? "a list's index" : "a tuple's index";
  if (is_inexact(index.type->dtype)) fail(n, fmt::format("{} must be an integer, not {}", what, index.type->spelling));
  Code at = index.non_negative ? convert(index, int64_type(), n) : code("py::wrap({}, {})", convert(index, int64_type(), n), count);
  if (host() || unit_.options.debug || unit_.options.bounds) {
    const Value place = spill(Value::of(int64_type(), "i64(" + at + ")"), "i");
    fail_if(code("static_cast<u64>({}) >= {}u", place.text, count), "IndexError",
            object.display ? "list index out of range" : "tuple index out of range", n);
    at = place.text;
  }
  Value r = Value::of(whole.type->items[0], code("{}[{}]", whole.text, at));
  r.non_negative = r.index = object.index;
  return r;
}

Value FunctionCompiler::tuple_subscript(const Value& object, const Value& index, const Node* n) {
  const int64_t count = static_cast<int64_t>(object.type->items.size());
  if (const auto i = index.integer()) {
    const int64_t at = *i < 0 ? *i + count : *i;
    if (at < 0 || at >= count)
      fail(n, fmt::format("the tuple's index {} is out of range: it has {} items", *i, count), {{source_of(n->a), object.type}});
    return tuple_item(object.items.empty() && !object.simple ? spill(object) : object, static_cast<size_t>(at));
  }
  if (index.is(Kind::slice)) return tuple_slice(object, index, n);
  const bool texts =
      host() && index.is_scalar() && count > 0 && stored_type(object.type) == uniform_tuple_type(text_type(), static_cast<int>(count));
  if (index.is_scalar() && (object.type->is_uniform() || texts))
    return item_at(object, stored(texts ? converted(object, stored_type(object.type), n) : object), index, n);
  Type functions = nullptr;
  for (size_t i = 0; i < object.type->items.size() && (i == 0 || functions); ++i) functions = unify(functions, object.type->items[i]);
  if (index.is_scalar() && functions && functions->is(Kind::choice)) {
    std::vector<Value> items;
    for (int64_t i = 0; i < count; ++i) {
      const Value item = tuple_item(object, static_cast<size_t>(i));
      items.push_back(Value::of(functions, convert(item, functions, n)));
    }
    const Value all = tuple_of(std::move(items));
    return item_at(all, stored(all), index, n);
  }
  fail(n, "a tuple of several types needs an index that is known when the function is compiled",
       {{source_of(n->a), object.type}, {source_of(n->b), index.type}}, "loop over it with literal_unroll()");
}

Value FunctionCompiler::range_item(const Value& object, const Value& index, const Node* n) {
  const Value r = object.simple && object.items.empty() ? object : spill(Value::of(object.type, convert(object, object.type, n)), "r");
  const Code length = code("py::range_length({0}.start, {0}.stop, {0}.step)", r.text);
  const Value i = spill(Value::of(int64_type(), code("py::wrap({}, {})", convert(index, int64_type(), n), length)), "i");
  fail_if(code("static_cast<u64>({}) >= static_cast<u64>({})", i.text, length), "IndexError", "range object index out of range", n);
  return Value::of(int64_type(), code("({0}.start + {1} * {0}.step)", r.text, i.text));
}

Value FunctionCompiler::subscript_of(const Value& object, const Value& index, const Node* n) {
  if (!object.type || !index.type) return {};
  if (object.is(Kind::optional) || index.is(Kind::optional)) return subscript_of(present(object, n), present(index, n), n);
  if (auto r = instance_operator("getitem", {object, index}, n)) return *r;
  if (host() && object.is_array() && index.is(Kind::tuple) && index.display && !index.type->items.empty())
    return subscript_of(object, spill(host_array_of(index, nullptr, n)), n);  // a[[0, 2]] takes rows
  if (auto r = container_item(object, index, n)) return *r;
  if (is_record_reference(object)) {
    if (index.is(Kind::string)) return reference_field(object, index.type->name, n);
    if (const auto i = index.integer(); i && *i >= 0 && *i < static_cast<int64_t>(object.type->element->fields.size()))
      return reference_field(object, object.type->element->fields[static_cast<size_t>(*i)], n);
  }
  if (object.is_array() && index.is(Kind::string)) {
    if (object.type->element->is_scalar()) fail(n, kNoFields, {{source_of(n->a), object.type}}, kWhatHasFields);
    return array_attribute(object, index.type->name, n);
  }
  if (object.is_array()) return array_subscript(object, index, n);
  if (object.is(Kind::tuple)) return tuple_subscript(object, index, n);
  if (host() && object.is(Kind::range) && (index.is_scalar() || index.is(Kind::literal)) && !is_inexact(index.type->dtype))
    return range_item(object, index, n);
  if (is_characters(object.type) && host() && index.is(Kind::slice))
    return array_subscript(Value::called(bytes_type(), convert_characters(object, bytes_type(), n)), index, n);
  if (is_characters(object.type))
    return Value::fetched(int64_type(), code("py::byte_at({}, {})", object.text, whole_number(index, "an index", n)));
  if (object.is(Kind::record) && index.is(Kind::string)) return record_field(object, index.type->name, n);
  if (object.is(Kind::record) && index.integer()) {
    const auto i = *index.integer();
    if (i >= 0 && i < static_cast<int64_t>(object.type->fields.size()))
      return record_field(object, object.type->fields[static_cast<size_t>(i)], n);
  }
  if (object.is(Kind::builtin) && object.type->name == "flat" && (index.is_scalar() || index.is(Kind::literal))) {
    Value r = Value::of(object.items[0].type->element, flat_place(object, index, n));
    r.note(kReads);
    return is_characters(r.type) ? characters_read(std::move(r), n) : r;
  }
  // A member of an enumeration by its name.
  if (object.is(Kind::type) && index.is(Kind::string)) return attribute_of(object, index.type->name, n);
  if (object.is(Kind::pointer) && (index.is_scalar() || index.is(Kind::literal))) {
    Value r = Value::of(object.type->element, code("{}[{}]", paren(object), convert(index, int64_type(), n)));
    r.note(kReads);
    return r;
  }
  if (object.is(Kind::dtype) && object.type->element->is_scalar()) {
    // float32[:, ::1]: a type.
    const std::vector<Value> items = index_items(index);
    bool slices = true;
    for (const Value& i : items) slices &= i.is(Kind::slice);
    if (!slices || items.empty()) return object;
    const char layout = items.back().items[2].integer() == 1 ? 'C' : items.front().items[2].integer() == 1 ? 'F' : 'A';
    return Value::known(dtype_type(array_type(object.type->element, static_cast<int>(items.size()), layout)));
  }
  fail(n, fmt::format("{} cannot be indexed", object.type->spelling), {{source_of(n->a), object.type}},
       object.type->spelling == "object(dict)" ? "compiled functions do not read dicts from outside: pass it as a broadcloth.typed.Dict"
                                               : "");
}

/// x.flat[i], as C++ names the element.
Code FunctionCompiler::flat_place(const Value& flat, const Value& index, const Node* n) {
  const Code& a = flat.items[0].text;
  const Code i = convert(index, int64_type(), n);
  return code("py::element_at({}, {})", a, index.non_negative ? i : code("py::wrap({}, {}.size())", i, a));
}

Value FunctionCompiler::record_field(const Value& given, const std::string& name, const Node* n) {
  const Value record = given.acts() ? spill(given) : given;
  if (const auto i = field_named(record.type, name)) {
    Value v = Value::of(record.type->items[*i], code("{}.{}", paren(record), user_name(Named::field, record.type->fields[*i])));
    v.simple = record.simple;
    if (!record.type->object && v.type->is_uniform()) return array_field(record, v, name, n);
    return is_characters(v.type) ? characters_read(std::move(v), n) : v;
  }
  fail(n, fmt::format("{} has no field '{}'", record.type->spelling, name), {}, nearest(name, record.type->fields));
}

/// a.real and a.imag.
Value FunctionCompiler::part_of_array(const Value& object, const std::string& name, const Node* n) {
  const Type t = object.type;
  if (!t->element->is_scalar()) fail(n, fmt::format("{} has no attribute '{}'", t->spelling, name));
  if (!is_complex(t->dtype)) {
    if (name == "real") return object;
    if (host()) return call_builtin("numpy.zeros_like", {{object}, {n}, {}}, n);
    fail(n, "the imaginary part of a real array is nothing that can be written or read here");
  }
  const Type part = scalar_type(real_type(t->dtype));
  const Type made = array_type(part, t->ndim, 'A', t->read_only, t->space);
  if (t->ndim == 0) fail(n, "0-d arrays of complex numbers: use [()] first");
  if (host()) return Value::of(made, code("py::host_part<{}>({}, {})", cpp(made), object.text, name == "imag" ? 1 : 0));
  return Value::of(made, code("py::part<{}{}>({}, {})", t->read_only ? "const " : "", cpp(part), object.text, name == "imag" ? 1 : 0));
}

/// A field of all records of an array: a strided view.
Value FunctionCompiler::field_of_array(const Value& object, size_t i, const Node* n) {
  const Type t = object.type;
  const Type field = t->element->items[i];
  const auto view_of = [&](Type made, const char* how, const Code& extents) {
    const Value plain = Value::of(made, code("py::{}<{}{}>({}, {}{})", how, t->read_only && !host() ? "const " : "", cpp(made->element),
                                             object.text, t->element->offsets[i], extents));
    if (!host()) return plain;
    Value owned = Value::of(
        made, code("py::host_field<{}, {}>({}, {}{})", cpp(made), cpp(made->element), object.text, t->element->offsets[i], extents));
    if (object.simple && !object.field) owned.items = {plain};
    return owned;
  };
  if (field->is_uniform() && !t->element->object) {
    // An array in each record: its axes come last.
    Code extents;
    Type inner = field;
    int ndim = t->ndim;
    for (; inner->is_uniform() && inner->fields.empty(); inner = inner->items[0], ++ndim) extents += code(", {}", inner->items.size());
    unit_.need("core");
    return view_of(array_type(inner, ndim, 'A', t->read_only, t->space), "field_array", extents);
  }
  const Type made = array_type(field, t->ndim, 'A', t->read_only, t->space);
  if (t->ndim == 0) fail(n, "a 0-d array of records: use [()] first");
  return view_of(made, "field", {});
}

Value FunctionCompiler::array_attribute(const Value& object, const std::string& name, const Node* n) {
  const Type t = object.type;
  if (is_record_reference(object) && field_named(t->element, name)) return reference_field(object, name, n);
  const auto number = [&](Code text) {
    Value v = Value::of(int64_type(), std::move(text));
    v.simple = v.index = v.non_negative = true;
    return v;
  };
  if (name == "ndim") return constant_value(Constant{static_cast<int64_t>(t->ndim)});
  if (name == "dtype") return Value::known(dtype_type(t->element));
  if (name == "itemsize") return constant_value(Constant{static_cast<int64_t>(t->element->bytes)});
  if (object.lazy && host()) return array_attribute(bound(materialise(object, n), "a"), name, n);
  if (object.lazy && (name == "T" || name == "shape" || name == "size"))
    fail(n, fmt::format("'{}' of an array expression is not supported", name), {}, "ask one of its operands");
  if (object.lazy) return elementwise(static_cast<int>(name == "imag" ? Op::imag : Op::real), {object}, n);
  if (name == "shape" || name == "strides") {
    if (t->ndim == 0) return tuple_of({});
    Value v = Value::of(uniform_tuple_type(int64_type(), t->ndim), paren(bound(object)) + "." + name);
    v.simple = true;
    v.index = name == "shape";
    return v;
  }
  if (name == "ctypes" && host()) return pointer_to(object, n);
  if (name == "ctypes") {
    Value v = Value::known(builtin_type("ctypes"));
    v.items = {pointer_to(object, n)};
    return v;
  }
  if (name == "flat") {
    Value v = Value::known(builtin_type("flat"));
    v.items = {bound(object, "a")};
    return v;
  }
  if (name == "flags") {
    Value v = Value::known(builtin_type("flags"));
    v.items = {object};
    return v;
  }
  // What a memoryview has.
  if (host() && name == "readonly") return constant_value(Constant{t->read_only});
  if (host() && (name == "c_contiguous" || name == "f_contiguous" || name == "contiguous")) {
    Value flags = Value::known(builtin_type("flags"));
    flags.items = {bound(object, "a")};
    const Value c = builtin_attribute(flags, name == "f_contiguous" ? name : "c_contiguous", n);
    return name == "contiguous" ? binary(Operator::bit_or, c, builtin_attribute(flags, "f_contiguous", n), n) : c;
  }
  if (name == "size") return number(code("{}.size()", paren(bound(object))));
  if (name == "nbytes") return number(code("{}.size() * {}", paren(bound(object)), t->element->bytes));
  unit_.need("core");
  if (name == "T") {
    if (t->ndim < 2) return object;
    const Type made = with_layout(t, t->ndim, t->layout == 'C' ? 'F' : t->layout == 'F' ? 'C' : 'A');
    return Value::of(made, host() ? code("py::host_transposed<{}>({})", cpp(made), object.text) : code("py::transposed({})", object.text));
  }
  if (name == "real" || name == "imag") return part_of_array(object, name, n);
  if (t->element->is(Kind::record))
    if (const auto i = field_named(t->element, name)) return field_of_array(object, *i, n);
  const bool method = name == "sum" || name == "min" || name == "max" || name == "fill" || name == "mean";
  fail(n,
       method ? fmt::format("'{}' is a method: call it", name) : fmt::format("arrays have no attribute '{}' in compiled functions", name),
       {{source_of(n->a), t}},
       nearest(name, {"shape", "size", "ndim", "strides", "dtype", "flat", "T", "real", "imag", "nbytes", "itemsize"}));
}

// ---- elementwise ------------------------------------------------------------------------------------------------------------------

LazyArray FunctionCompiler::as_lazy(const Value& v) {
  if (v.is_array()) return *lazy_of(v);
  const Value scalar = v.simple ? v : spill(v, "s");
  return {{}, [scalar](std::span<const Value>) { return scalar; }};
}

std::shared_ptr<const LazyArray> FunctionCompiler::lazy_of(const Value& v) {
  if (v.lazy) return v.lazy;
  auto lazy = std::make_shared<LazyArray>();
  lazy->leaves = {bound(v, "v")};
  lazy->element = [](std::span<const Value> x) { return x[0]; };
  return lazy;
}

/// f over the elements of arrays and scalars, computed when somebody takes them.
Value FunctionCompiler::lift(const std::vector<Value>& operands, std::function<Value(std::span<const Value>)> f, const Node* n) {
  // Arrays without dimensions are numbers in expressions, as in NumPy.
  if (std::none_of(operands.begin(), operands.end(), [](const Value& v) { return v.is_array() && (v.type->ndim > 0 || v.lazy); })) {
    std::vector<Value> numbers;
    for (const Value& v : operands) numbers.push_back(scalar_of(v, n));
    if (std::none_of(numbers.begin(), numbers.end(), [](const Value& v) { return v.is_array(); })) return f(numbers);
  }
  auto lazy = std::make_shared<LazyArray>();
  struct Part {
    std::shared_ptr<const LazyArray> lazy;  ///< or a scalar
    size_t from = 0;
    Value scalar;
  };
  std::vector<Part> parts;
  int ndim = 0;
  for (const Value& v : operands) {
    Part p;
    if (v.is_array()) {
      p.lazy = lazy_of(v);
      p.from = lazy->leaves.size();
      lazy->leaves.insert(lazy->leaves.end(), p.lazy->leaves.begin(), p.lazy->leaves.end());
      ndim = std::max(ndim, v.type->ndim);
    } else {
      p.scalar = v.simple || !v.type || !v.type->has_value() ? v : spill(v, "s");
    }
    parts.push_back(std::move(p));
  }
  lazy->element = [parts, f](std::span<const Value> leaves) {
    std::vector<Value> x;
    for (const Part& p : parts) x.push_back(p.lazy ? p.lazy->element(leaves.subspan(p.from, p.lazy->leaves.size())) : p.scalar);
    return f(x);
  };
  // The element's type, from operands without text.
  std::vector<Value> dummies;
  for (const Value& leaf : lazy->leaves) {
    Value v = Value::of(leaf.type->element, "x");
    v.simple = true;
    dummies.push_back(v);
  }
  Value probe;
  const bool emitting = std::exchange(emitting_, false);
  captured([&] { probe = lazy->element(dummies); });
  emitting_ = emitting;
  if (!probe.type) return {};
  if (!probe.type->is_single()) fail(n, fmt::format("the elements of this array expression are {}", probe.type->spelling));
  Value r;
  r.type = array_type(probe.type, ndim, 'C');
  r.lazy = std::move(lazy);
  return r;
}

Value FunctionCompiler::open_loops(const LazyArray& lazy, int ndim, const Code& shape, std::vector<std::string>* indices, const Node* n,
                                   bool backward) {
  unit_.need("core");
  std::vector<Value> elements;
  std::vector<std::string> names;
  for (const Value& leaf : lazy.leaves) {
    if (leaf.type->ndim > ndim) fail(n, fmt::format("an array of {} dimensions does not broadcast to {}", leaf.type->ndim, ndim));
    // One dimension that all share needs no stretching.
    const std::string name = temporary("v");
    linef("const auto {} = py::stretched({}, {});", name, leaf.text, shape);
    names.push_back(name);
  }
  std::string list;
  for (int k = 0; k < ndim; ++k) {
    const std::string i = temporary("i");
    indices->push_back(i);
    if (backward)
      linef("for (i64 {} = {}[{}] - 1; {} >= 0; --{}) {{", i, shape, k, i, i);
    else
      linef("for (i64 {} = 0; {} < {}[{}]; ++{}) {{", i, i, shape, k, i);
    ++depth_;
    list += (k ? ", " : "") + i;
  }
  for (size_t k = 0; k < lazy.leaves.size(); ++k) {
    Value leaf = lazy.leaves[k];
    leaf.text = names[k];
    Value v = Value::of(lazy.leaves[k].type->element, place(leaf, list, Access::read, n));
    v.simple = true;
    if (unit_.options.check) v = spill(Value::of(v.type, v.text), "e");
    elements.push_back(v);
  }
  return lazy.element(elements);
}

void FunctionCompiler::close_loops(int count) {
  for (int k = 0; k < count; ++k) {
    --depth_;
    line("}");
  }
}

/// All items of the tuple are read before the first element is written.
void FunctionCompiler::assign_tuple(const Value& a, const Value& value, const Node* at) {
  if (a.type->ndim != 1) fail(at, "a tuple is assigned to arrays of one dimension only");
  const Value whole = value.items.empty() && !value.simple ? spill(value) : value;
  const size_t count = value.type->items.size();
  if (count == 1) return assign_elements(a, tuple_item(whole, 0), at);
  fail_if_of(code("{}.shape[0] != {}", a.text, count), "ValueError",
             fmt::format("could not broadcast input array from shape ({},) into shape (%,)", count), code("{}.shape[0]", a.text), at);
  std::vector<Value> items;
  for (size_t i = 0; i < count; ++i) {
    const Value item = tuple_item(whole, i);
    items.push_back(item.reads() && !item.constant ? spill(item) : item);
  }
  for (size_t i = 0; i < items.size(); ++i)
    linef("{} = {};", place(a, code("{}", i), Access::write, at), convert(items[i], a.type->element, at));
}

/// Loops over the elements that are assigned to an array; `body` gets each with its indices.
void FunctionCompiler::walk_elements(const LazyArray& lazy, const Value& a, bool backward, const Node* at,
                                     const std::function<void(const Value& element, const std::string& indices)>& body) {
  std::vector<std::string> indices;
  const Value x = open_loops(lazy, a.type->ndim, code("{}.shape", a.text), &indices, at, backward);
  std::string list;
  for (const std::string& i : indices) list += (list.empty() ? "" : ", ") + i;
  body(x, list);
  close_loops(a.type->ndim);
}

void FunctionCompiler::assign_in_order(const LazyArray& lazy, const Value& a, bool backward, const Node* at) {
  walk_elements(lazy, a, backward, at, [&](const Value& x, const std::string& list) {
    const Code text = convert(x, a.type->element, at);
    linef("{} = {};", place(a, list, Access::write, at), text);
  });
}

/// Assigns by a copy of all elements, where no order of loops reads each element before it is written.
void FunctionCompiler::assign_by_copy(const Value& a, LazyArray lazy, const Node* at) {
  const std::string copy = temporary("copy"), next = temporary("next"), type = cpp(a.type->element);
  linef("{0}* const {1} = static_cast<{0}*>(py::copy_memory({2}.size() * static_cast<i64>(sizeof({0}))));", type, copy, a.text);
  linef("{}* {} = {};", type, next, copy);
  walk_elements(lazy, a, false, at,
                [&](const Value& x, const std::string&) { linef("*{}++ = {};", next, convert(x, a.type->element, at)); });
  linef("{} = {};", next, copy);
  lazy = LazyArray{};
  const Value read = Value::of(a.type->element, "*" + next + "++");
  lazy.element = [read](std::span<const Value>) { return read; };
  assign_in_order(lazy, a, false, at);
  linef("free({});", copy);
}

/// What may lie in the target's memory in other places is read before it is written: the order is chosen when it is known where all lies.
void FunctionCompiler::assign_loops(const Value& a, LazyArray lazy, const Node* at) {
  const Code shape = code("{}.shape", a.text);
  bool related = false;
  std::string order;
  for (Value& leaf : lazy.leaves) {
    if (!may_alias(a, leaf)) continue;
    related |= leaf.root == a.root;
    if (order.empty()) {
      unit_.need("overlap");
      const std::string target = temporary("target");
      linef("const auto {} = py::stretched({}, {});", target, a.text, shape);
      order = temporary("order");
      linef("py::Order {} = py::kAnyOrder;", order);
      linef("{0} = py::both({0}, py::order_of({1}, py::stretched({2}, {3})));", order, target, leaf.text, shape);
    } else {
      linef("{0} = py::both({0}, py::order_of(py::stretched({1}, {3}), py::stretched({2}, {3})));", order, a.text, leaf.text, shape);
    }
  }
  if (order.empty()) return assign_in_order(lazy, a, false, at);
  linef("if ({} > 0) {{", order);
  assign_in_order(lazy, a, false, at);
  if (related) {
    linef("}} else if ({} < 0) {{", order);
    assign_in_order(lazy, a, true, at);
  }
  line("} else {");
  assign_by_copy(a, std::move(lazy), at);
  line("}");
}

/// An array without the axes in front of its last `ndim`, which must be of one element.
Value FunctionCompiler::without_leading_axes(const Value& value, int ndim, const Node* at) {
  const Value whole = host_array(value, at);
  std::vector<Value> firsts(static_cast<size_t>(value.type->ndim - ndim), constant_value(Constant{int64_t{0}}));
  for (size_t d = 0; d < firsts.size(); ++d)
    fail_if_of(code("{}.shape[{}] != 1", whole.text, d), "ValueError",
               fmt::format("could not broadcast input array: its axis {} has % elements, and the target has no such axis", d),
               code("{}.shape[{}]", whole.text, d), at);
  return subscript_of(whole, tuple_of(std::move(firsts)), at);
}

void FunctionCompiler::assign_elements(const Value& target, const Value& value, const Node* at) {
  if (!value.type) return;
  if (target.lazy) fail(at, "cannot assign to an array expression");
  if (target.type->read_only) fail(at, "cannot write to a read-only array", {{"target", target.type}});
  expect_fits(value, target.type->element, at);
  if (const Value stored = stored_time(value, target.type->element, at); stored.type) return assign_elements(target, stored, at);
  const Value a = bound(target, "v");
  if (host() && (value.is(Kind::list) || (value.is(Kind::tuple) && a.type->ndim != 1)) && !is_incomplete(value.type))
    return assign_elements(a, array_operand(value, false, "an assignment", "value", at), at);
  if (value.is(Kind::tuple)) return assign_tuple(a, value, at);
  if (a.type->ndim == 0) {
    linef("{} = {};", place(a, "", Access::write, at),
          convert(value.is_array() ? subscript_of(value, tuple_of({}), at) : value, a.type->element, at));
    return;
  }
  if (host() && value.is_array() && value.type->ndim > a.type->ndim)
    return host_assign(a, without_leading_axes(value, a.type->ndim, at), at);
  if (host()) return host_assign(a, value, at);
  LazyArray lazy = as_lazy(value);
  line("{");
  ++depth_;
  assign_loops(a, std::move(lazy), at);
  --depth_;
  line("}");
}

/// Whether an assignment to `target` may change what is read of `leaf` in another place.
bool FunctionCompiler::may_alias(const Value& target, const Value& leaf) const {
  if (!target.root.empty() && leaf.root == target.root) return may_overlap(leaf.part, target.part);
  const Space a = target.type->space, b = leaf.type->space;
  if (a == b) return b != Space::constant;
  if (a == Space::constant || b == Space::constant) return false;
  // An argument of a kernel lies in no array of the kernel itself; one of another function may.
  const bool entry = spec_.depth == 0 && unit_.options.entry == Entry::kernel;
  return !entry && (a == Space::generic || b == Space::generic);
}

void FunctionCompiler::assign_subscript(const Node* target, const Value& given, const Node* at) {
  // Python evaluates the value, then the array, then the index.
  Value value = given;
  const size_t place = out_.size();
  std::vector<Value> both = ordered({target->a, target->b});
  if (!value.simple) settle(place, both[0].acts() || both[1].acts(), std::array{&value});
  if (!both[0].type || !both[1].type) return;
  both[0] = present(both[0], target);
  if (!both[0].is(Kind::dict)) both[1] = present(both[1], target);
  const Value& object = both[0];
  if (object.is(Kind::instance))
    if (auto r = instance_operator("setitem", {object, made(both[1], nullptr, at), kept(value, nullptr, at)}, at)) {
      perform(*r);
      return;
    }
  if (host() && container_store(target, object, made(both[1], nullptr, at), value, at)) return;
  if (host() && object.is_array() && both[1].is(Kind::tuple) && both[1].display && !both[1].type->items.empty() &&
      host_assign_index(bound(object, "a"), spill(host_array_of(both[1], nullptr, at)), value, at))
    return;
  if ((object.is(Kind::record) || is_record_reference(object)) && both[1].is(Kind::string))
    return assign_field(object, both[1].type->name, value, target, at);
  if (object.is_array() && both[1].is(Kind::string)) {
    if (object.type->element->is_scalar()) fail(target, kNoFields, {{source_of(target->a), object.type}}, kWhatHasFields);
    return assign_elements(array_attribute(object, both[1].type->name, target), value, at);
  }
  if (object.is(Kind::builtin) && object.type->name == "flat" && (both[1].is_scalar() || both[1].is(Kind::literal))) {
    if (object.items[0].type->read_only) fail(target, "cannot write to a read-only array", {{source_of(target->a), object.items[0].type}});
    linef("{} = {};", flat_place(object, both[1], target), convert(value, object.items[0].type->element, at));
    return;
  }
  if (object.is(Kind::pointer)) {
    linef("{}[{}] = {};", paren(object), convert(both[1], int64_type(), target), convert(value, object.type->element, at));
    return;
  }
  if (!object.is_array())
    fail(target, fmt::format("cannot assign to items of {}", object.type->spelling), {{source_of(target->a), object.type}},
         object.is(Kind::tuple)                             ? "a tuple does not change: make a new one, or use an array or a list"
         : object.is(Kind::text) || object.is(Kind::string) ? "a str does not change: make a new one of its parts, s[:i] + c + s[i + 1:]"
                                                            : "");
  if (object.type->read_only) fail(target, "cannot write to a read-only array", {{source_of(target->a), object.type}});
  const std::vector<Value> items = array_indices(both[1], at);
  bool scalars = static_cast<int>(items.size()) == object.type->ndim;
  for (const Value& i : items) scalars &= i.is_scalar() || i.is(Kind::literal);
  const Value a = scalars && !value.acts() ? bound_for_element(object, items) : bound(object, "a");
  if (host() && picks(items)) return host_pick_assign(a, items, value, at);
  if (!scalars) return assign_elements(view(a, items, target), value, at);
  access_ = Access::write;
  const Code place_text = element(a, items, target);
  if (!value.type) return;
  const Type t = a.type->element;
  expect_fits(value, t, at);
  if (Value stored = stored_time(value, t, at); stored.type) value = std::move(stored);
  if (value.is_array() && value.type->ndim > 0 && !converts(value.type, t))
    fail(at, fmt::format("an element cannot hold {}", value.type->spelling), {{source_of(target), t}});
  if (!converts(value.type, t) && !(value.is_array() && value.type->ndim == 0))
    fail(at, fmt::format("{} cannot be stored in an array of {}", value.type->spelling, t->spelling),
         {{source_of(target->a), a.type}, {"value", value.type}},
         value.is_scalar() && is_complex(value.type->dtype) ? "store its .real or abs()" : "");
  linef("{} = {};", place_text, convert(value, t, at));
}

// ---- reductions -------------------------------------------------------------------------------------------------------------------

/// What a reduction does with one element.
void FunctionCompiler::reduction_turn(const std::string& name, Value x, const ReductionNames& r, Type t, const Node* n) {
  const DType d = t->dtype;
  const auto joined = [&](const char* function, const char* sign) {
    linef("{} = {};", r.result,
          is_integer(d) ? code("bc::{}<{}>({}, {})", function, cpp(t), r.result, convert(x, t, n))
                        : code("{} {} {}", r.result, sign, paren(converted(x, t, n))));
  };
  if (name == "any" || name == "all") {
    const Value test = truth(x, n);
    linef("{0} = {0} {1} {2};", r.result, name == "any" ? "||" : "&&", paren(test));
  } else if (name == "count_nonzero") {
    linef("{} += {} ? 1 : 0;", r.result, paren(truth(x, n)));
  } else if (finds_extreme(name)) {
    x = spill(converted(x, t, n), "x");
    const Code nan = is_inexact(d) ? code(" || ({0} != {0} && {1} == {1})", x.text, r.result) : "";
    linef("if ({} == 0 || {} {} {}{}) {{", r.count, x.text, name.ends_with("max") ? ">" : "<", r.result, nan);
    linef("  {} = {};", r.result, x.text);
    if (!r.place.empty()) linef("  {} = {};", r.place, r.count);
    line("}");
    linef("++{};", r.count);
  } else if (!r.mean.empty()) {
    x = spill(converted(x, t, n), "x");
    linef("{0} = {0} + ({1} - {2}) * ({1} - {2});", r.result, x.text, r.mean);
  } else if (name == "prod") {
    joined("multiply", "*");
  } else {
    joined("add", "+");
    if (!r.count.empty()) linef("++{};", r.count);
  }
}

Value FunctionCompiler::reduction(const std::string& asked, const Value& v, const Node* n) {
  if (!v.type) return {};
  if (host()) return host_reduction(asked, v, {}, n);
  if (v.type->element->is(Kind::time))
    return reduction_of_times(asked, v, n, [&](const std::string& name, const Value& x) { return reduction(name, x, n); });
  if (!v.type->element->is_scalar()) fail(n, fmt::format("{}() does not take {}", asked, v.type->spelling));
  const bool numbers_only = asked.starts_with("nan");
  const std::string name = numbers_only ? asked.substr(3) : asked;
  const bool skips = numbers_only && is_inexact(v.type->dtype);
  const auto lazy = lazy_of(v);
  const DType from = v.type->dtype;
  const int ndim = v.type->ndim;
  const bool argument = finds_place(name), order = finds_extreme(name);
  if (order && is_complex(from)) fail(n, fmt::format("{}() does not take complex numbers", name));
  DType d = from;
  if (name == "sum" || name == "prod") {
    if (!is_inexact(d)) d = is_unsigned(d) ? DType::u64 : DType::i64;
  } else if (averages(name)) {
    if (!is_inexact(d)) d = DType::f64;
  } else if (name == "any" || name == "all") {
    d = DType::b1;
  } else if (name == "count_nonzero") {
    d = DType::i64;
  }
  const Type t = scalar_type(d);
  ReductionNames names;
  names.result = temporary(name.c_str());
  const auto c = [&](int64_t x) { return literal(Constant{x}, t); };
  if (ndim == 0) {
    std::vector<Value> elements;
    for (const Value& leaf : lazy->leaves) elements.push_back(subscript_of(leaf, tuple_of({}), n));
    const Value x = lazy->element(elements);
    if (name == "count_nonzero") return converted(truth(x, n), t, n);
    if (numbers_only) fail(n, fmt::format("{}() takes arrays with dimensions in kernels", asked));
    return name == "any" || name == "all" ? truth(x, n) : argument ? constant_value(Constant{int64_t{0}}) : converted(x, t, n);
  }
  if (order || averages(name)) names.count = temporary("n");
  if (argument) names.place = temporary("at");
  const Code none = skips && order ? code("bc::limits<{}>::nan()", cpp(t)) : name == "prod" || name == "all" ? c(1) : c(0);
  linef("{} {} = {};", cpp(t), names.result, none);
  // Checked mode: a NaN that is made here, of elements that are none.
  const bool follows = unit_.options.check && is_inexact(d) && !skips && !order && name != "any" && name != "all";
  const std::string nan = follows ? temporary("nan") : "";
  if (follows) {
    unit_.need("check");
    linef("bool {} = false;", nan);
  }
  for (const std::string& number : {names.count, names.place})
    if (!number.empty()) linef("i64 {} = 0;", number);
  const int passes = name == "var" || name == "std" ? 2 : 1;
  for (int pass = 0; pass < passes; ++pass) {
    line("{");
    ++depth_;
    const std::string shape = temporary("shape");
    Code leaves;
    for (const Value& leaf : lazy->leaves) leaves += (leaves.empty() ? "" : ", ") + leaf.text;
    unit_.need("core");
    linef("const auto {} = py::common_shape<{}>({});", shape, ndim, leaves);
    std::vector<std::string> indices;
    Value x = open_loops(*lazy, ndim, shape, &indices, n);
    if (follows) {
      x = spill(converted(x, t, n), "x");
      linef("{0} = {0} || py::is_nan({1});", nan, x.text);
    }
    if (skips) {
      x = spill(x, "x");
      linef("if ({0} == {0}) {{", x.text);
    }
    reduction_turn(name, x, names, t, n);
    if (skips) line("}");
    close_loops(ndim);
    --depth_;
    line("}");
    if (passes == 2 && pass == 0) {
      if (is_complex(d)) fail(n, fmt::format("{}() does not take complex numbers", name));
      names.mean = temporary("mean");
      linef("const {} {} = {} / {}({});", cpp(t), names.mean, names.result, cpp(t), names.count);
      linef("{} = {};", names.result, c(0));
    }
  }
  if (name == "mean" || passes == 2)
    linef("{0} = {0} / {1}({2});", names.result, cpp(is_complex(d) ? scalar_type(real_type(d)) : t), names.count);
  if (name == "std") linef("{0} = bc::sqrt({0});", names.result);
  if (follows) linef("if (!{}) py::nan_made(bc_checker, {}, {});", nan, site(n, n ? source_of(n) : ""), names.result);
  Value r = argument ? Value::of(int64_type(), names.place) : Value::of(t, names.result);
  r.simple = true;
  r.non_negative = argument || name == "any" || name == "all" || name == "count_nonzero" || (r.is_scalar() && is_unsigned(r.type->dtype));
  r.index = argument;
  return r;
}

/// a.view(dtype): the same bytes as other elements. Kernels raise where they were made with debug=True.
Value FunctionCompiler::viewed_as(const Value& self, Type element, const Node* n) {
  const Type t = self.type;
  const uint32_t from = t->element->bytes, to = element->bytes;
  const Value a = bound(self);
  char layout = t->layout;
  if (from != to) {
    if (t->ndim == 0) fail(n, ".view() keeps the size of the elements of an array without dimensions", {{source_of(n->a->a), t}});
    if (to < from && from % to != 0)
      fail(n, fmt::format(".view() splits elements of {} bytes into whole ones, not into those of {} bytes", from, to));
    const bool raises = host() || unit_.options.debug;
    const Code extent = code("{}.shape[{}]", paren(a), t->ndim - 1);
    if (layout != 'C') {
      if (!raises) fail(n, ".view() with elements of another size works on C-contiguous arrays", {{source_of(n->a->a), t}});
      fail_if(code("{0} != 1 && {1}.size() != 0 && {1}.strides[{2}] != {3}", extent, paren(a), t->ndim - 1, from), "ValueError",
              "To change to a dtype of a different size, the last axis must be contiguous", n);
      layout = 'A';
    }
    if (to > from && raises)
      fail_if(code("{} * {} % {} != 0", extent, from, to), "ValueError",
              "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.", n);
  }
  unit_.need("core");
  const Type made = array_type(element, t->ndim, layout, t->read_only, t->space);
  const std::string cpp_element = (!host() && t->read_only ? "const " : "") + cpp(element);
  return Value::of(made, code("py::{}<{}, '{}'>({})", host() ? "host_viewed" : "viewed", cpp_element, layout, paren(a)));
}

}  // namespace bc::kernels
