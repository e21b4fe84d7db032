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

std::string Unit::Foreign::signature(const std::string& symbol) const {
  std::string text;
  for (size_t i = 0; i < parameters.size(); ++i) text += fmt::format("{}bc_linked_{}_{} bc_p{}", i ? ", " : "", symbol, i, i);
  return fmt::format("bc_linked_{0}_result bc_linked_{0}({1})", symbol, text);
}

std::string Unit::Foreign::call(const std::string& function) const {
  std::string text;
  for (size_t i = 0; i < parameters.size(); ++i) text += fmt::format("{}bc_p{}", i ? ", " : "", i);
  return fmt::format("{}({})", function, text);
}

std::string Unit::foreign_declarations() const {
  std::string text;
  for (const auto& [symbol, f] : foreign_) {
    // Aliases and functions lie outside every namespace, under names that no macro of the user's has.
    std::string aliases = fmt::format("using bc_linked_{}_result = {};\n", symbol, f.result), used;
    for (size_t i = 0; i < f.parameters.size(); ++i) {
      const std::string type = fmt::format("bc_linked_{}_{}", symbol, i);
      aliases += fmt::format("using {} = {};\n", type, f.parameters[i]);
      used += fmt::format("using bc::{};\n", type);
    }
    text += fmt::format("namespace bc {{\n{}}}\nusing bc::bc_linked_{}_result;\n{}", aliases, symbol, used);
    text += fmt::format("static __device__ __forceinline__ {};\n", f.signature(symbol));
    // A function that no linked text defines is declared, for the linker to find.
    if (!defined_here(symbol))
      text += fmt::format("namespace bc {{ namespace py {{ namespace linked {{\n{}}}}}}}\n{} {{ return {}; }}\n", f.declaration,
                          f.signature(symbol), f.call("bc::py::linked::" + symbol));
  }
  return text;
}

std::string Unit::foreign_text() const {
  std::string text;
  for (const LinkedCode& code : linked_)
    if (code.kind == "cu") text += fmt::format("\n#line 1 \"{}\"\n{}\n", code.name, code.bytes);
  if (text.empty()) return text;
  text += "#line 1 \"linked functions\"\n";
  for (const auto& [symbol, f] : foreign_) {
    if (!defined_here(symbol)) continue;
    const std::string call = f.call("::" + symbol);
    text += fmt::format("{} {{ {}; }}\n", f.signature(symbol),
                        f.result == "void" ? call : fmt::format("return bc_linked_value<bc_linked_{}_result>({})", symbol, call));
  }
  return text;
}

bool Unit::defined_here(const std::string& symbol) const {
  return std::any_of(linked_.begin(), linked_.end(), [&](const LinkedCode& c) { return c.kind == "cu" && names_symbol(c.bytes, symbol); });
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

  // `types` are those of the function, `given` those of what stands for them where the function's own text has others of the same bytes.
  std::vector<std::string> types, given;
  std::vector<Code> texts;
  const auto takes = [&](const std::string& type, const std::string& as, Code text) {
    types.push_back(type);
    given.push_back(as);
    texts.push_back(std::move(text));
  };
  const auto takes_place = [&](const std::string& of, Code text) {
    takes(of + "*", fmt::format("py::ForeignPlace<{}>", of), std::move(text));
  };
  if (!f.c_abi) takes_place(result->has_value() ? cpp(result) : "int", Code());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value& v = args.positional[i];
    const Type t = wanted[i];
    if (!v.type || (v.type != t && !converts(v.type, t)))
      fail(n, fmt::format("{}() does not take {} as argument {}", f.symbol, v.type ? v.type->spelling : "this", i + 1),
           {{source_of(args.nodes[i]), v.type}, {"declared", t}}, t->is(Kind::pointer) ? "pass cuda.ffi.from_buffer(array)" : "convert it");
    if (t->is_array()) {
      // As Numba passes arrays: two owners, size, item size, data, shape, strides.
      const Value a = bound(converted(v, t, n), "a");
      for (int owner = 0; owner < 2; ++owner) takes("void*", "void*", "nullptr");
      takes("i64", "i64", code("{}.size()", a.text));
      takes("i64", "i64", code("i64({})", t->element->bytes));
      const std::string data = (t->read_only ? "const " : "") + cpp(t->element) + "*";
      takes(data, data, code("{}.data", a.text));
      for (const char* part : {"shape", "strides"})
        for (int k = 0; k < t->ndim; ++k) takes("i64", "i64", code("{}.{}[{}]", a.text, part, k));
      continue;
    }
    const Code text = convert(v, t, n);
    if (t->is(Kind::pointer))
      takes_place(cpp(t->element), code("py::foreign_place({})", text));
    else if (t->is_scalar() && (is_complex(t->dtype) || is_small_float(t->dtype)))
      takes(cpp(t), fmt::format("py::Foreign<{}>", cpp(t)), code("py::foreign({})", text));
    else
      takes(cpp(t), cpp(t), t->is_scalar() ? code("{}({})", cpp(t), text) : text);
  }
  const auto joined = [](const auto& list) {
    std::decay_t<decltype(list[0])> text;
    for (const auto& item : list) text += (text.empty() ? "" : ", ") + item;
    return text;
  };
  const std::string returns = !f.c_abi ? "int" : result->has_value() ? cpp(result) : "void";
  unit_.declare_foreign(f.symbol, {fmt::format("extern \"C\" __device__ {} {}({});\n", returns, f.symbol, joined(types)), returns, given});
  Value r = Value::known(none_type());
  if (f.c_abi) {
    const Code text = code("bc_linked_{}({})", f.symbol, joined(texts));
    if (!result->has_value()) {
      line(text + ";");
      return r;
    }
    r = Value::of(result, text);
    r.note(kActs);
    return spill(r, "r");
  }
  const std::string place = temporary("returned");
  linef("{} {}{{}};", result->has_value() ? cpp(result) : "int", place);
  texts[0] = code("py::foreign_place(&{})", place);
  linef("bc_linked_{}({});", f.symbol, joined(texts));
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
