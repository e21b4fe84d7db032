// The one binder of library functions' arguments: NumPy's signatures, declared in library.def.
#include "kernels/library.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "kernels/compiler.h"

namespace bc::kernels {
namespace {

/// Reads the signatures of library.def, which its head describes.
class RowReader {
 public:
  explicit RowReader(std::string_view text) : text_(text) {}

  LibraryFunction function(std::string name) {
    LibraryFunction f{std::move(name), {}};
    bool keyword_only = false;
    while (!text_.empty()) {
      if (take("*")) {
        keyword_only = true;
        f.variadic |= !until(",").empty();
      } else if (take("/")) {
        for (LibraryParameter& p : f.parameters) p.positional_only = true;
      } else {
        f.parameters.push_back(parameter());
        f.parameters.back().keyword_only = keyword_only;
      }
      BC_CHECK(take(", ") || text_.empty(), Runtime, "library.def: expected ', ' before \"{}\"", text_);
    }
    return f;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  std::string_view until(std::string_view ends) {
    const size_t end = std::min(text_.find_first_of(ends), text_.size());
    const std::string_view part = text_.substr(0, end);
    text_.remove_prefix(end);
    return part;
  }
  LibraryParameter parameter() {
    LibraryParameter p;
    p.name = until("@~=+,");
    p.array = take("@");
    p.matrix = p.array && take("2");
    p.sequence = take("~");
    p.required = !take("=");
    if (!p.required) do
        if (!take("?")) p.absent.push_back(constant());
      while (take("|"));
    p.native = take("+") || p.required;
    return p;
  }
  Constant constant() {
    if (take("'")) {
      const std::string text(until("'"));
      take("'");
      return Constant{text};
    }
    const std::string word(until("|,+"));
    if (word == "None") return Constant{};
    if (word == "True" || word == "False") return Constant{word == "True"};
    if (word.find_first_of(".e") != word.npos) return Constant{std::strtod(word.c_str(), nullptr)};
    return Constant{static_cast<int64_t>(std::strtoll(word.c_str(), nullptr, 10))};
  }

  std::string_view text_;
};

using Rows = std::unordered_map<std::string, LibraryFunction>;

const Rows& rows() {
  static const Rows& known = *new Rows([] {
    Rows made;
#define BC_LIBRARY(name, signature) made[name] = RowReader(signature).function(name);
#include "kernels/library.def"
#undef BC_LIBRARY
    // Methods: what the function takes behind the array.
    for (const char* method :
         {"sum",    "prod",   "min",     "max",      "any",     "all",          "mean",      "var",          "std",
          "argmin", "argmax", "ptp",     "cumsum",   "cumprod", "ravel",        "argsort",   "nonzero",      "take",
          "repeat", "round",  "squeeze", "swapaxes", "trace",   "searchsorted", "partition", "argpartition", "diagonal"}) {
      LibraryFunction f = made.at(std::string("numpy.") + method);
      f.name = std::string("array.") + method;
      if (made.contains(f.name)) continue;
      f.parameters.erase(f.parameters.begin());
      for (LibraryParameter& p : f.parameters) p.positional_only = p.required && f.name == "array.swapaxes";
      made[f.name] = std::move(f);
    }
    return made;
  }());
  return known;
}

/// Whether a value is one of the constants that mean the same as leaving the parameter out.
bool is_absent(const Value& v, const LibraryParameter& p) {
  return std::any_of(p.absent.begin(), p.absent.end(), [&](const Constant& c) {
    if (std::holds_alternative<std::monostate>(c.value)) return v.is_none();
    if (const std::string* s = c.string()) return v.is(Kind::string) && v.type->name == *s;
    if (const bool* b = c.boolean()) return v.constant && v.constant->boolean() && *v.constant->boolean() == *b;
    if (const int64_t* i = c.integer()) return v.integer() == *i && v.type != bool_type();
    return v.constant && *v.constant == c;
  });
}

}  // namespace

const LibraryFunction* library_function(const std::string& name) {
  const auto it = rows().find(name);
  return it == rows().end() ? nullptr : &it->second;
}

std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : rows())
    if (!name.starts_with("array.") && !name.starts_with("str.") && !name.starts_with("ufunc.")) names.push_back(name);
  return names;
}

const LibraryFunction& ufunc_row(int operands) {
  static const auto& known = *new std::vector<LibraryFunction>([] {
    std::vector<LibraryFunction> made;
    for (const char* parameters : {"x~", "x1~, x2~", "x1~, x2~, x3~"})
      made.push_back(RowReader(std::string(parameters) + ", /, out=None+, *, where=True+, casting='same_kind', order='K', dtype=None+, "
                                                         "subok=True|False, signature=None")
                         .function("ufunc"));
    return made;
  }());
  return known[static_cast<size_t>(operands - 1)];
}

namespace {
std::string shown_name(const LibraryFunction& f) {
  for (const std::string_view prefix : {"array.", "ufunc.", "builtins."})
    if (f.name.starts_with(prefix)) return f.name.substr(prefix == "builtins." ? 9 : 5);
  return f.name;
}
}  // namespace

namespace {
/// The number that means the same as None for a parameter.
const Constant* number_for_none(const LibraryParameter& p) {
  const auto find = [&](const auto& is) {
    const auto at = std::find_if(p.absent.begin(), p.absent.end(), is);
    return at == p.absent.end() ? nullptr : &*at;
  };
  const bool none = find([](const Constant& c) { return std::holds_alternative<std::monostate>(c.value); });
  return none ? find([](const Constant& c) { return c.integer() != nullptr; }) : nullptr;
}
}  // namespace

/// The arguments of a library function in the places of its parameters; those that are not given have no type.
std::vector<std::pair<Value, const Node*>> FunctionCompiler::placed_arguments(const LibraryFunction& f, CallArguments args,
                                                                              const std::string& shown, const Node* n) const {
  const auto& parameters = f.parameters;
  std::vector<std::pair<Value, const Node*>> places(parameters.size(), {Value{}, n});
  const auto placed = static_cast<size_t>(
      f.variadic ? 0 : std::count_if(parameters.begin(), parameters.end(), [](const LibraryParameter& p) { return !p.keyword_only; }));
  if (args.positional.size() > placed && !f.variadic)
    fail(n, fmt::format("{}() takes {} argument{} by position, got {}", shown, placed, placed == 1 ? "" : "s", args.positional.size()));
  for (size_t i = 0; i < std::min(args.positional.size(), placed); ++i)
    places[i] = {args.positional[i], i < args.nodes.size() ? args.nodes[i] : n};
  for (auto& [name, v] : args.keywords) {
    const auto at = std::find_if(parameters.begin(), parameters.end(), [&](const LibraryParameter& p) { return p.name == name; });
    if (at == parameters.end()) {
      std::vector<std::string> names;
      for (const LibraryParameter& p : parameters)
        if (!p.positional_only) names.push_back(p.name);
      fail(n, fmt::format("{}() has no parameter '{}'", shown, name), {}, nearest(name, names));
    }
    if (at->positional_only) fail(n, fmt::format("{}() takes '{}' by position only", shown, name));
    Value& place = places[static_cast<size_t>(at - parameters.begin())].first;
    if (place.type) fail(n, fmt::format("{}() got two values for '{}'", shown, name));
    place = std::move(v);
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].required && !places[i].first.type) fail(n, fmt::format("{}() needs an argument for '{}'", shown, parameters[i].name));
  return places;
}

/// The arguments of a library function by its declared signature: what is required in its order, what else is given by name, and nothing
/// for parameters that are given their defaults. Arrays come where arrays are expected.
CallArguments FunctionCompiler::library_arguments(const LibraryFunction& f, CallArguments args, const Node* n) {
  const std::string shown = shown_name(f);
  auto places = placed_arguments(f, std::move(args), shown, n);
  CallArguments bound;
  for (size_t i = 0; i < places.size(); ++i) {
    const LibraryParameter& p = f.parameters[i];
    auto& [v, node] = places[i];
    if (!v.type || (!p.required && is_absent(v, p))) continue;
    if (p.array || p.sequence) v = array_operand(v, p.array, shown, p.name, node);
    if (p.matrix && v.is_array() && v.type->ndim != 2)
      fail(node, fmt::format("{}() takes a matrix as '{}' in compiled functions", shown, p.name), {{source_of(node), v.type}});
    if (p.required) {
      bound.positional.push_back(std::move(v));
      bound.nodes.push_back(node);
    } else {
      bound.keywords.emplace_back(p.name, std::move(v));
    }
  }
  return bound;
}

/// The same for Python's own functions and methods, whose forms look at positions: all by position up to the last that is given, but for
/// those that are given by name alone. What the form does not take is an error.
CallArguments FunctionCompiler::positional_arguments(const LibraryFunction& f, CallArguments args, const Node* n) {
  const std::string shown = shown_name(f);
  CallArguments bound;
  if (f.variadic) bound.positional = args.positional, bound.nodes = args.nodes;
  auto places = placed_arguments(f, std::move(args), shown, n);
  std::vector<std::pair<Value, const Node*>> skipped;
  for (size_t i = 0; i < places.size(); ++i) {
    const LibraryParameter& p = f.parameters[i];
    auto& [v, node] = places[i];
    if (!v.type || (!p.required && is_absent(v, p))) {
      skipped.emplace_back(p.absent.empty() ? Value::known(none_type()) : constant_value(p.absent[0]), n);
      continue;
    }
    if (!p.native) fail(node, fmt::format("{}() takes no argument '{}' in compiled functions", shown, p.name));
    if (const Constant* number = v.is(Kind::optional) ? number_for_none(p) : nullptr) {
      const Value given = v.simple ? v : spill(v);
      v = Value::of(int64_type(),
                    choice(code("{}.there", paren(given)), code("i64({}.value)", paren(given)), literal(*number, int64_type())));
    }
    if (p.keyword_only) {
      bound.keywords.emplace_back(p.name, std::move(v));
      continue;
    }
    for (auto& [value, at] : std::exchange(skipped, {})) bound.positional.push_back(std::move(value)), bound.nodes.push_back(at);
    bound.positional.push_back(std::move(v));
    bound.nodes.push_back(node);
  }
  return bound;
}

/// Whether the C++ form of a function takes all that is given; otherwise it is the Python function's that stands for it.
bool FunctionCompiler::takes_natively(const LibraryFunction& f, const CallArguments& args) const {
  return std::all_of(args.keywords.begin(), args.keywords.end(), [&](const auto& given) {
    return std::any_of(f.parameters.begin(), f.parameters.end(),
                       [&](const LibraryParameter& p) { return p.name == given.first && p.native; });
  });
}

/// What stands where an array is expected, as one. `numbers`: a number becomes an array without dimensions, too.
Value FunctionCompiler::array_operand(const Value& v, bool numbers, const std::string& function, const std::string& parameter,
                                      const Node* n) {
  if (v.is_array()) {
    if (!numbers && v.type->ndim == 0 && !v.lazy) return scalar_of(v, n);
    return v;
  }
  if (v.is(Kind::list) && !v.display) {
    if (is_incomplete(v.type)) return v;
    if (v.type->element->is_scalar()) return list_array(v);
    return bound(call_builtin("numpy.array", {{v}, {n}, {}}, n), "v");
  }
  const bool number = v.is_scalar() || v.is(Kind::literal);
  if (v.is(Kind::tuple) || (number && numbers)) return spill(*host_builtin("numpy.asarray", {{v}, {n}, {}}, n), "v");
  if (number || !v.type->has_value()) {
    if (number || !numbers) return v;
  }
  if (!numbers) return v;
  fail(n, fmt::format("{}() takes an array as '{}', not {}", function, parameter, v.type->spelling), {{source_of(n), v.type}},
       v.is(Kind::set) ? "make an array of the set's items first" : "");
}

namespace {
/// What a ufunc gives for nothing, and whether the order of its operands does not count ("reorderable"), of those of NumPy's whose methods
/// are compiled.
const Constant* numpy_identity(std::string_view name) {
  static const auto& known = *new std::map<std::string_view, Constant>{
      {"numpy.add", {int64_t{0}}},
      {"numpy.multiply", {int64_t{1}}},
      {"numpy.bitwise_and", {int64_t{-1}}},
      {"numpy.bitwise_or", {int64_t{0}}},
      {"numpy.bitwise_xor", {int64_t{0}}},
      {"numpy.subtract", {}},
      {"numpy.divide", {}},
      {"numpy.maximum", {std::string("reorderable")}},
      {"numpy.minimum", {std::string("reorderable")}},
      {"numpy.fmax", {std::string("reorderable")}},
      {"numpy.fmin", {std::string("reorderable")}},
  };
  const auto it = known.find(name);
  return it == known.end() ? nullptr : &it->second;
}
}  // namespace

namespace {
bool has_keyword(const CallArguments& args, std::string_view name) {
  return std::any_of(args.keywords.begin(), args.keywords.end(), [&](const auto& k) { return k.first == name; });
}
}  // namespace

/// Checks what is known of a call of a ufunc's method when it is compiled.
void FunctionCompiler::expect_ufunc_method(const std::string& method, const std::string& ufunc, int operands, const Constant& identity,
                                           const CallArguments& args, const Node* n) {
  if (method == "at") {
    const bool second = !args.keywords.empty();
    if (second && operands == 1) fail(n, "at(): second operand provided when ufunc is unary");
    if (!second && operands == 2) fail(n, "at(): second operand needed for ufunc");
    if (operands > 2) fail(n, "at() is of functions of one or two operands");
    return;
  }
  if (operands != 2) fail(n, fmt::format("{} only supported for binary functions", method));
  const auto axis = std::find_if(args.keywords.begin(), args.keywords.end(), [](const auto& k) { return k.first == "axis"; });
  if (axis == args.keywords.end() || !std::holds_alternative<std::monostate>(identity.value)) return;
  const Value &over = axis->second, &array = args.positional[2];
  if ((over.is_none() && array.is_array() && array.type->ndim > 1) || (over.is(Kind::tuple) && over.type->items.size() > 1))
    fail(n, fmt::format("reduction operation '{}' is not reorderable, so at most one axis may be specified", ufunc));
}

/// Of a function that was declared for some types, dtype= names the loop that gives it: its second operand's type is the elements'.
void FunctionCompiler::take_loop_of_dtype(const Function& f, CallArguments* args, const Node* n) {
  const auto dtype = std::find_if(args->keywords.begin(), args->keywords.end(), [](const auto& k) { return k.first == "dtype"; });
  if (f.declared.empty() || dtype == args->keywords.end()) return;
  const Type wanted = host_dtype(dtype->second, nullptr, n);
  for (const FunctionSignature& s : f.declared) {
    if (s.arguments.size() != 2 || s.arguments[0] != wanted || s.result != wanted) continue;
    args->keywords.erase(dtype);
    Value& a = args->positional[2];
    if (a.type->element != s.arguments[1]) a = call_method(a, "astype", {{Value::known(dtype_type(s.arguments[1]))}, {n}, {}}, n);
    return;
  }
}

/// NumPy's own reductions are what its ufuncs reduce by: of one axis where none is named.
std::optional<Value> FunctionCompiler::numpy_reduction(const std::string& ufunc, CallArguments args, const Node* n) {
  constexpr std::pair<std::string_view, const char*> known[] = {
      {"numpy.add", "numpy.sum"}, {"numpy.multiply", "numpy.prod"}, {"numpy.maximum", "numpy.max"}, {"numpy.minimum", "numpy.min"}};
  for (const auto& [name, reduction] : known) {
    if (name != ufunc) continue;
    if (args.positional.size() < 2 && !has_keyword(args, "axis")) args.keywords.emplace_back("axis", constant_value(Constant{int64_t{0}}));
    return call_builtin(reduction, std::move(args), n);
  }
  return std::nullopt;
}

/// A method of a vectorized function or of one of NumPy's ufuncs; nothing where it has none of that name.
std::optional<Value> FunctionCompiler::ufunc_method(const Value& ufunc, const Node* n) {
  const std::string& method = n->a->text;
  const LibraryFunction* row = library_function("ufunc." + method);
  if (!host() || !row || !ufunc.type) return std::nullopt;
  const auto* f = ufunc.is(Kind::function) ? static_cast<const Function*>(ufunc.type->object) : nullptr;
  const Constant* identity = f && f->elementwise                              ? &f->identity
                             : ufunc.is(Kind::builtin) && ufunc.items.empty() ? numpy_identity(ufunc.type->name)
                                                                              : nullptr;
  if (!identity) return std::nullopt;
  CallArguments args = arguments(n, nullptr, true);
  for (const Value& v : args.positional)
    if (!v.type) return Value{};
  for (const auto& [name, v] : args.keywords)
    if (!v.type) return Value{};
  if (!f && method == "reduce")
    if (const auto r = numpy_reduction(ufunc.type->name, args, n)) return *r;
  const Value none = std::holds_alternative<std::monostate>(identity->value) ? Value::known(none_type()) : constant_value(*identity);
  args.positional.insert(args.positional.begin(), {ufunc, none});
  args.nodes.insert(args.nodes.begin(), {n->a->a, n->a->a});
  args = library_arguments(*row, std::move(args), n);
  for (const Value& v : args.positional)
    if (v.type->is_container() && is_incomplete(v.type)) return Value{};
  if (f) take_loop_of_dtype(*f, &args, n);
  // Sums and products of NumPy's are at least of int64.
  const bool widens =
      !f && method != "at" && method != "outer" && (ufunc.type->name == "numpy.add" || ufunc.type->name == "numpy.multiply");
  if (const Value& a = args.positional[2]; widens && a.is_array() && a.type->element->is_scalar() && a.type->element->bytes < 8 &&
                                           !is_inexact(a.type->dtype) && !has_keyword(args, "dtype"))
    args.keywords.emplace_back("dtype", Value::known(dtype_type(is_unsigned(a.type->dtype) ? scalar_type(DType::u64) : int64_type())));
  const std::string name = f ? f->name() : ufunc.type->name.substr(6);
  expect_ufunc_method(method, name, f ? static_cast<int>(f->syntax().parameters.size()) : 2, *identity, args, n);
  return call_stand_in(*row, std::move(args), n);
}

}  // namespace bc::kernels
