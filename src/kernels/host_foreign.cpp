// How compiled functions and C meet: functions of this process by their address (ctypes), memory behind a pointer as an array, callbacks
// (cfunc); and Numba's functions about threads, and methods and attributes that a program registered.
#include <algorithm>

#include "kernels/compiler.h"

namespace bc::kernels {

Code Unit::address(const void* function) {
  size_t i = 0;
  while (i < addresses_.size() && addresses_[i] != function) ++i;
  if (i == addresses_.size()) addresses_.push_back(function);
  return code("py::bc_foreign_{}", i);
}

/// Whoever loads the code puts the addresses there, so that it can be kept on disk.
std::string Unit::address_text() const {
  std::string text;
  for (size_t i = 0; i < addresses_.size(); ++i)
    text +=
        fmt::format("namespace py {{ extern \"C\" {{ __attribute__((visibility(\"default\"))) void* bc_foreign_{} = nullptr; }} }}\n", i);
  return text;
}

std::string Unit::callback_text(const Specialised& s, const std::string& name) {
  const Type back = options.callback;
  const bool value = back->has_value();
  const std::string result = value ? cpp(back) : "void";
  std::string parameters, call;
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    if (!s.arguments[i]->is_scalar() && !s.arguments[i]->is(Kind::pointer))
      throw Error(ErrorKind::Typing,
                  fmt::format("cfunc: C passes numbers and pointers, not {}: take a CPointer, and carray() in the function",
                              s.arguments[i]->spelling));
    parameters += fmt::format("{}{} a{}", i ? ", " : "", cpp(s.arguments[i]), i);
    call += fmt::format("{}a{}", i ? ", " : "", i);
  }
  if (value &&
      (!(back->is_scalar() || back->is(Kind::pointer)) || !s.result->has_value() || !(s.result == back || converts(s.result, back))))
    throw Error(ErrorKind::Typing, fmt::format("cfunc: the signature says that {} returns {}, it returns {}; C takes numbers and pointers",
                                               s.syntax->name, back->spelling, s.result->spelling));
  if (s.fails) call += call.empty() ? "failure" : ", failure";
  std::string text = fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) {} {}_callback({}) {{\n", result, name, parameters);
  text += "  py::Caught caught;\n  try {\n";
  if (s.fails) text += "    int failure = 0;\n";
  text += fmt::format("    {}{}({});\n", value ? "const auto value = " : "", s.name, call);
  const std::string done = !value ? "return;" : s.result == back ? "return value;" : fmt::format("return bc::cast<{}>(value);", result);
  text += s.fails ? fmt::format("    if (failure == 0) {}\n    caught.take(failure, bc_failure_computed(failure));\n", done)
                  : "    " + done + "\n";
  text += "  } catch (...) { caught.take(); }\n";
  std::string classes;
  for (size_t i = 0; i < failures_.size(); ++i)
    classes += fmt::format("  if (caught.code == {}) cls = {};\n", i + 1, quoted_text(failures_[i].type));
  text += fmt::format(
      "  const py::Str text = py::caught_text(caught, &bc_failure_text);\n  const char* cls = nullptr;\n{}"
      "  py::bc_host->ignored({}, caught.code, cls, text.data, text.size);\n{}}}\n",
      classes, quoted_text(s.syntax->name), value ? fmt::format("  return {}{{}};\n", result) : "");
  return text;
}

Value FunctionCompiler::call_address(const ForeignFunction& f, const CallArguments& args, const Node* n) {
  const std::vector<Type>& wanted = f.signature.arguments;
  if (args.positional.size() != wanted.size() || !args.keywords.empty())
    fail(n, fmt::format("{}() takes {} arguments, got {}", f.symbol, wanted.size(), args.positional.size() + args.keywords.size()), {},
         "its argtypes are " + to_string(f.signature));
  const Type byte = scalar_type(DType::u8);
  Code types, texts;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value& v = args.positional[i];
    const Type t = wanted[i];
    if (!v.type) return {};
    Code text;
    if (t->is(Kind::pointer)) {
      const bool any = t->element == byte;
      if (v.is(Kind::pointer) && (any || v.type->element == t->element))
        text = code("reinterpret_cast<{}>({})", cpp(t), v.text);
      else if (any && (v.is(Kind::literal) || (v.is_scalar() && !is_inexact(v.type->dtype))))
        text = code("reinterpret_cast<{}>({})", cpp(t), convert(v, int64_type(), n));
      else
        fail(n, fmt::format("{}() does not take {} as argument {}", f.symbol, v.type->spelling, i + 1),
             {{source_of(args.nodes[i]), v.type}, {"declared", t}}, "pass array.ctypes");
    } else {
      if (!converts(v.type, t))
        fail(n, fmt::format("{}() does not take {} as argument {}", f.symbol, v.type->spelling, i + 1),
             {{source_of(args.nodes[i]), v.type}, {"declared", t}});
      text = convert(v, t, n);
    }
    types += (i ? ", " : "") + cpp(t);
    texts += (i ? ", " : "") + text;
  }
  const Type result = f.signature.result ? f.signature.result : none_type();
  const Code call =
      code("reinterpret_cast<{} (*)({})>({})({})", result->has_value() ? cpp(result) : "void", types, unit_.address(f.address), texts);
  if (!result->has_value()) {
    line(call + ";");
    return Value::known(none_type());
  }
  Value r = Value::of(result, call);
  r.note(kActs);
  return spill(r, "r");
}

/// Numba's own functions.
std::optional<Value> FunctionCompiler::host_numba(const std::string& name, const CallArguments& args, const Node* n) {
  const auto& p = args.positional;
  const auto takes = [&](size_t low, size_t high) {
    if (p.size() < low || p.size() + args.keywords.size() > high)
      fail(n, fmt::format("{}() takes {} to {} arguments, got {}", name.substr(6), low, high, p.size() + args.keywords.size()));
  };
  if (name == "numba.get_num_threads" || name == "numba.get_thread_id") {
    takes(0, 0);
    Value r = Value::of(int64_type(), code("i64(py::bc_host->{}())", name == "numba.get_thread_id" ? "thread_id" : "threads"));
    r.note(kActs);
    return spill(r, "threads");
  }
  if (name == "numba.set_num_threads") {
    takes(1, 1);
    linef("py::bc_host->set_threads({});", convert(p[0], int64_type(), n));
    return Value::known(none_type());
  }
  if (name == "numba.carray" || name == "numba.farray") {
    takes(2, 3);
    Value dtype = p.size() == 3 ? p[2] : Value{};
    for (const auto& [key, v] : args.keywords)
      if (key == "dtype") dtype = v;
    const bool whole = p[0].is(Kind::literal) || (p[0].is_scalar() && !is_inexact(p[0].type->dtype));
    if (!p[0].is(Kind::pointer) && !whole)
      fail(n, fmt::format("{}() takes a pointer", name.substr(6)), {{source_of(args.nodes[0]), p[0].type}},
           "give the parameter the type types.CPointer(dtype)");
    const Type element = host_dtype(dtype, p[0].is(Kind::pointer) ? p[0].type->element : nullptr, n);
    if (!element) fail(n, fmt::format("{}(): an address needs a dtype", name.substr(6)));
    int ndim = 0;
    const Code shape = host_shape(p[1], &ndim, n);
    const Type t = array_type(element, ndim, name == "numba.carray" ? 'C' : 'F');
    return Value::called(t, code("py::foreign_array<{}, {}, '{}'>(reinterpret_cast<void*>({}), {})", cpp(element), ndim, t->layout,
                                 whole ? convert(p[0], int64_type(), n) : p[0].text, shape));
  }
  if (name == "numba.lapack") {
    // For stand-ins: which routine, m, n, and four arrays, the first of which says whether they are complex.
    takes(7, 7);
    Code text = code("py::bc_host->lapack({}, {}", convert(p[0], int64_type(), n), is_complex(p[3].type->dtype) ? 1 : 0);
    for (size_t i = 1; i < 3; ++i) text += ", " + convert(p[i], int64_type(), n);
    for (size_t i = 3; i < 7; ++i) text += code(", {}.data", host_array(p[i], n).text);
    Value r = Value::of(int64_type(), text + ")");
    r.note(kActs);
    return spill(r, "info");
  }
  return std::nullopt;
}

/// A method or an attribute that the program registered for values of self's type.
std::optional<Value> FunctionCompiler::overloaded_member(const char* table, const Value& self, const std::string& name, CallArguments args,
                                                         const Node* n) {
  const auto type = [](const Value& v) { return v.is(Kind::literal) ? int64_type() : v.type; };
  std::vector<Type> types{type(self)};
  std::vector<std::string> names;
  for (const Value& v : args.positional) types.push_back(type(v));
  for (const auto& [key, v] : args.keywords) types.push_back(type(v)), names.push_back(key);
  if (std::find(types.begin(), types.end(), nullptr) != types.end()) return std::nullopt;
  const Function* f = function_.overloaded_member(table, name, types, names, host());
  if (!f) return std::nullopt;
  args.positional.insert(args.positional.begin(), self.lazy ? materialise(self, n) : self);
  args.nodes.insert(args.nodes.begin(), n);
  return call_function(*f, f->syntax(), std::move(args), n);
}

}  // namespace bc::kernels
