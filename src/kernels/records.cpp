// Records: an element of an array of records is a reference into it (a 0-d array), as in NumPy; a record in a variable or an argument is a
// value. See compiler.h for the method.
#include "kernels/compiler.h"

namespace bc::kernels {

bool is_natural_record(Type record) {
  uint32_t at = 0, alignment = 1;
  for (size_t i = 0; i < record->items.size(); ++i) {
    const uint32_t a = record->items[i]->alignment;
    alignment = std::max(alignment, a);
    if (record->offsets[i] % a != 0 || record->offsets[i] < at) return false;
    at = record->offsets[i] + record->items[i]->bytes;
  }
  return record->bytes % alignment == 0;
}

bool is_record_reference(const Value& v) {
  return v.is_array() && v.type->ndim == 0 && v.type->element->is(Kind::record) && !is_characters(v.type->element);
}

Value FunctionCompiler::record_reference(const Value& record, const Value& array) {
  const Type t = array_type(record.type, 0, 'C', array.type->read_only, array.type->space);
  Value r = Value::of(
      t, host() ? code("py::host_reference<{}>({}, {})", cpp(t), record.text, array.text) : code("{}{{&{}}}", cpp(t), paren(record)));
  r.items = {record};
  r.field = array.field;
  return r;
}

Value FunctionCompiler::referred(const Value& reference) {
  if (!reference.items.empty()) return reference.items[0];
  Value r = Value::of(reference.type->element, code("{}()", paren(reference)));
  r.note(kReads);
  return r;
}

Value FunctionCompiler::array_field(const Value& record, Value field, const std::string& name, const Node* n) {
  Code extents;
  int ndim = 0;
  Type element = field.type;
  for (; element->is_tuple() && element->is_uniform() && element->fields.empty(); element = element->items[0], ++ndim)
    extents += code(", {}", element->items.size());
  // Processors read what is not aligned; GPUs do not.
  if (!is_natural_record(record.type) && !host())
    fail(n, fmt::format("the field '{}' is an array inside a packed record", name), {}, "make the dtype with align=True");
  unit_.need("core");
  return Value::of(array_type(element, ndim, 'C'), code("py::over<{}>(py::memory({}){})", cpp(element), field.text, extents));
}

Value FunctionCompiler::reference_field(const Value& reference, const std::string& name, const Node* n) {
  Value field = record_field(referred(reference), name, n);
  if (field.is(Kind::record) && !is_characters(field.type)) {
    const Value array = host() && !reference.simple ? spill(reference, "r") : reference;
    return record_reference(record_field(referred(array), name, n), array);
  }
  if (field.is_array() && host()) {
    // The view keeps the memory of the array that the record lies in.
    const Value array = reference.simple || !reference.acts() ? reference : spill(reference, "r");
    field = record_field(referred(array), name, n);
    Value owned = Value::of(field.type, code("py::host_owned<{}>({}, {})", cpp(field.type), field.text, array.text));
    if (!reference.field) owned.items = {std::move(field)};
    field = std::move(owned);
  }
  if (field.is_array() && reference.type->read_only) {
    if (!host()) field.text = code("py::array_cast<{}>({})", cpp(as_read_only(field.type)), field.text);
    field.type = as_read_only(field.type);
  }
  return field_checked(field, reference, Access::read, n);
}

void FunctionCompiler::assign_field(const Value& object, const std::string& name, const Value& value, const Node* target, const Node* at) {
  const bool reference = is_record_reference(object);
  if (reference && object.type->read_only) fail(target, "cannot write to a read-only array", {{source_of(target->a), object.type}});
  Value field = record_field(reference ? referred(object) : object, name, target);
  if (reference) field = field_checked(field, object, Access::write, target);
  if (field.is_array()) return assign_elements(field, value, at);
  if (!value.type) return;
  if (!field.items.empty()) field = field.items[0];  // a text: the characters that it is read from
  const Code text = convert(value, field.type, at);
  linef("{} = {};", field.text, text);
}

}  // namespace bc::kernels
