// Functions that other code defines: cuda.declare_device, and pointers for them. CUDA C++ goes into the program's own text, on every
// device; what is compiled already is linked on CUDA.
#include <algorithm>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

/// Tells whether CUDA C++ text has the name as a word.
bool names_symbol(std::string_view text, std::string_view symbol) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(symbol); at != text.npos; at = text.find(symbol, at + 1)) {
    const size_t end = at + symbol.size();
    if ((at == 0 || !word(text[at - 1])) && (end == text.size() || !word(text[end]))) return true;
  }
  return false;
}

}  // namespace

void Unit::link(const LinkedCode& code) {
  if (std::find(linked_.begin(), linked_.end(), code) == linked_.end()) linked_.push_back(code);
}

std::string Unit::foreign_text() const {
  std::string text;
  for (const LinkedCode& code : linked_)
    if (code.kind == "cu") text += fmt::format("#line 1 \"{}\"\n{}\n", code.name, code.bytes);
  if (foreign_.empty()) return text;
  // What no text of these defines is declared, for the linker to find.
  text += "namespace bc { namespace py { namespace linked {\n";
  for (const auto& [symbol, declaration] : foreign_) {
    const bool here =
        std::any_of(linked_.begin(), linked_.end(), [&](const LinkedCode& c) { return c.kind == "cu" && names_symbol(c.bytes, symbol); });
    text += here ? fmt::format("using ::{};\n", symbol) : declaration;
  }
  return text + "}}}\n";
}

Value FunctionCompiler::call_foreign(const ForeignFunction& f, const CallArguments& args, const Node* n) {
  if (f.address && host()) return call_address(f, args, n);
  if (host()) fail(n, fmt::format("{}() is a device function: only kernels can call it", f.symbol));
  const std::vector<Type>& wanted = f.signature.arguments;
  if (args.positional.size() != wanted.size() || !args.keywords.empty())
    fail(n, fmt::format("{}() takes {} arguments, got {}", f.symbol, wanted.size(), args.positional.size() + args.keywords.size()), {},
         "it was declared for " + to_string(f.signature));
  for (const LinkedCode& code : f.linked) unit_.link(code);
  if (f.cooperative) unit_.uses_grid_sync = true;
  const Type result = f.signature.result ? f.signature.result : none_type();
  unit_.need("foreign");

  std::vector<std::string> types;
  std::vector<Code> texts;
  if (!f.c_abi) texts.emplace_back(), types.push_back(result->has_value() ? cpp(result) + "*" : "void*");
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value& v = args.positional[i];
    const Type t = wanted[i];
    if (!v.type || (v.type != t && !converts(v.type, t)))
      fail(n, fmt::format("{}() does not take {} as argument {}", f.symbol, v.type ? v.type->spelling : "this", i + 1),
           {{source_of(args.nodes[i]), v.type}, {"declared", t}}, t->is(Kind::pointer) ? "pass cuda.ffi.from_buffer(array)" : "convert it");
    if (t->is_array()) {
      // As Numba passes arrays: two owners, size, item size, data, shape, strides.
      const Value a = bound(converted(v, t, n), "a");
      for (const char* type : {"void*", "void*", "i64", "i64"}) types.emplace_back(type);
      for (const Code& text : {Code("nullptr"), Code("nullptr"), code("{}.size()", a.text), code("i64({})", t->element->bytes)})
        texts.push_back(text);
      types.push_back((t->read_only ? "const " : "") + cpp(t->element) + "*");
      texts.push_back(code("{}.data", a.text));
      for (const char* part : {"shape", "strides"})
        for (int k = 0; k < t->ndim; ++k) types.emplace_back("i64"), texts.push_back(code("{}.{}[{}]", a.text, part, k));
      continue;
    }
    types.push_back(cpp(t));
    const bool own = t->is_scalar() && (is_complex(t->dtype) || is_small_float(t->dtype));
    texts.push_back(own ? code("py::foreign({})", convert(v, t, n)) : code("{}({})", cpp(t), convert(v, t, n)));
    if (!t->is_scalar()) texts.back() = convert(v, t, n);
    if (t->is(Kind::pointer)) texts.back() = code("py::foreign_place({})", texts.back());
  }
  const auto joined = [](const auto& list) {
    std::decay_t<decltype(list[0])> text;
    for (const auto& item : list) text += (text.empty() ? "" : ", ") + item;
    return text;
  };
  const std::string returns = !f.c_abi ? "int" : result->has_value() ? cpp(result) : "void";
  unit_.declare_foreign(f.symbol, fmt::format("extern \"C\" __device__ {} {}({});\n", returns, f.symbol, joined(types)));
  Value r = Value::known(none_type());
  if (f.c_abi) {
    const Code text = code("py::linked::{}({})", f.symbol, joined(texts));
    if (!result->has_value()) {
      line(text + ";");
      return r;
    }
    r = Value::of(result, code("py::familiar<{}>({})", cpp(result), text));
    r.note(kActs);
    return spill(r, "r");
  }
  const std::string place = temporary("returned");
  linef("{} {}{{}};", result->has_value() ? cpp(result) : "int", place);
  texts[0] = code("py::foreign_place(&{})", place);
  linef("py::linked::{}({});", f.symbol, joined(texts));
  if (!result->has_value()) return r;
  r = Value::of(result, place);
  r.simple = true;
  return r;
}

/// cuda.ffi.from_buffer(array): the address of its first element.
Value FunctionCompiler::pointer_to(const Value& array, const Node* n) {
  if (!array.is_array() || array.lazy) fail(n, "cuda.ffi.from_buffer takes an array", {{"its argument", array.type}});
  const Value a = bound(array, "a");
  const Type t = array.type;
  Value p = Value::of(pointer_type(t->element),
                      t->read_only ? code("const_cast<{}*>({}.data)", cpp(t->element), paren(a)) : code("{}.data", paren(a)));
  p.simple = a.simple;
  return p;
}

Value FunctionCompiler::array_behind(bool fortran, const CallArguments& args, const Node* n) {
  const char* name = fortran ? "farray" : "carray";
  const auto& p = args.positional;
  if (p.size() < 2 || p.size() + args.keywords.size() > 3)
    fail(n, fmt::format("{}() takes 2 to 3 arguments, got {}", name, p.size() + args.keywords.size()));
  Value dtype = p.size() == 3 ? p[2] : Value{};
  for (const auto& [key, v] : args.keywords)
    if (key == "dtype") dtype = v;
  const bool address = p[0].is(Kind::literal) || (p[0].is_scalar() && !is_inexact(p[0].type->dtype));
  if (!p[0].is(Kind::pointer) && !address)
    fail(n, fmt::format("{}() takes a pointer", name), {{source_of(args.nodes[0]), p[0].type}},
         "give the parameter the type types.CPointer(dtype)");
  const Type element = host_dtype(dtype, p[0].is(Kind::pointer) ? p[0].type->element : nullptr, n);
  if (!element) fail(n, fmt::format("{}(): an address needs a dtype", name));
  std::vector<Value> extents = p[1].is(Kind::tuple) ? index_items(p[1]) : std::vector<Value>{p[1]};
  if (fortran) std::reverse(extents.begin(), extents.end());
  Code list;
  for (const Value& e : extents) {
    if (!(e.is_scalar() || e.is(Kind::literal)) || (e.is_scalar() && is_inexact(e.type->dtype)))
      fail(n, fmt::format("a shape is made of ints, not {}", e.type ? e.type->spelling : "an unknown type"), {}, "convert with int()");
    list += ", " + convert(e, int64_type(), n);
  }
  unit_.need("core");
  const int ndim = static_cast<int>(extents.size());
  const Code memory =
      code("py::over<{}>(reinterpret_cast<void*>({}){})", cpp(element), address ? convert(p[0], int64_type(), n) : p[0].text, list);
  const bool turned = fortran && ndim > 1;
  return Value::of(array_type(element, ndim, fortran ? 'F' : 'C'), turned ? code("py::transposed({})", memory) : memory);
}

}  // namespace bc::kernels
