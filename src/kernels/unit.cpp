// A program: its functions, structs and constants, put together.
#include <algorithm>

#include "kernels/compiler.h"
#include "kernels/host.h"
#include "kernels/python_library.h"

namespace bc::kernels {

int Unit::failure(Failure f) {
  for (size_t i = 0; i < failures_.size(); ++i)
    if (failures_[i].line == f.line && failures_[i].type == f.type && failures_[i].message == f.message && failures_[i].file == f.file &&
        failures_[i].object == f.object && failures_[i].arguments == f.arguments && failures_[i].computed == f.computed)
      return static_cast<int>(i) + 1;
  failures_.push_back(std::move(f));
  return static_cast<int>(failures_.size());
}

int Unit::capture(const Entity& e, std::string_view name) {
  for (size_t i = 0; i < captures_.size(); ++i)
    if (captures_[i].array.object.get() == e.captured.get()) return static_cast<int>(i);
  captures_.push_back({{e.captured, e.type, std::string(name), false}, unique(Named::captured, name), e.frozen});
  return static_cast<int>(captures_.size()) - 1;
}

/// Whether objects of a class, or what a value of the type holds, may refer to objects of another or the same class.
static bool leads_to(Type from, Type to) {
  std::set<Type> seen;
  std::vector<Type> left(from->items.begin(), from->items.end());
  if (from->element) left.push_back(from->element);
  while (!left.empty()) {
    const Type t = left.back();
    left.pop_back();
    if (!t || !seen.insert(t).second) continue;
    if (t == to) return true;
    left.insert(left.end(), t->items.begin(), t->items.end());
    left.push_back(t->element);
  }
  return false;
}

std::string Unit::cpp_instance(Type t) {
  const auto found = structs_.find(t);
  if (found != structs_.end()) return found->second;
  const std::string fields = unique(Named::type, t->name), made = fmt::format("py::Instance<{}>", fields);
  structs_[t] = made;  // its own objects may be in its fields
  struct_text_ += fmt::format("struct {};\n", fields);
  std::string members;
  for (size_t i = 0; i < t->items.size(); ++i)
    if (t->items[i]->has_value()) members += fmt::format(" {} {}{{}};", cpp(t->items[i]), user_name(Named::field, t->fields[i]));
  std::string share;
  for (size_t i = 0; i < t->items.size(); ++i)
    if (t->items[i]->has_value() && !t->items[i]->is_scalar())
      share += fmt::format(" py::share_value({});", user_name(Named::field, t->fields[i]));
  const char* const linked = leads_to(t, t) ? "  static constexpr bool kLinked = true;\n" : "";
  struct_text_ +=
      fmt::format("struct {} {{{}\n{}  template <class = void> void share() const {{{} }}\n}};\n", fields, members, linked, share);
  return made;
}

/// A class of what only functions for the CPU have.
std::string Unit::cpp_object(Type t) {
  if (options.entry != Entry::host)
    raise(ErrorKind::Typing, "{} is not supported in kernels and elementwise functions; only functions under jit have it; pass an array",
          t->spelling);
  if (is_incomplete(t)) return "void*";  // it is in the making
  if (t->is(Kind::text)) return "py::Str";
  if (t->is(Kind::instance)) return cpp_instance(t);
  if (t->is(Kind::generator)) return fmt::format("py::Generator<{}>", cpp(t->element));
  if (t->is(Kind::dict)) return fmt::format("py::Dict<{}, {}>", cpp(t->items[0]), cpp(t->items[1]));
  return fmt::format("py::{}<{}>", t->is(Kind::set) ? "Set" : "List", cpp(t->element));
}

/// The members of a record. Offsets that are not the natural ones are reached by padding; where what is not aligned makes the struct
/// packed, `natural` becomes false.
std::string Unit::record_members(Type t, const std::vector<std::string>& members, bool* natural_offsets) {
  std::string body;
  bool natural = true;
  uint32_t at = 0, alignment = 1;
  for (size_t i = 0; i < t->items.size(); ++i) {
    const uint32_t a = t->items[i]->alignment;
    alignment = std::max(alignment, a);
    natural &= t->offsets[i] % a == 0 && t->offsets[i] >= at;
    at = t->offsets[i] + t->items[i]->bytes;
  }
  natural &= t->bytes % alignment == 0;
  uint32_t end = 0;
  int pads = 0;
  std::vector<size_t> order(t->items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return t->offsets[a] < t->offsets[b]; });
  for (size_t i : order) {
    const uint32_t a = natural ? t->items[i]->alignment : 1;
    const uint32_t here = (end + a - 1) / a * a;
    if (t->offsets[i] > here) body += fmt::format(" char pad{}[{}];", pads++, t->offsets[i] - end);
    if (!members[i].empty()) body += fmt::format(" {} {};", members[i], user_name(Named::field, t->fields[i]));
    end = t->offsets[i] + t->items[i]->bytes;
  }
  const uint32_t a = natural ? alignment : 1;
  if (t->bytes > (end + a - 1) / a * a) body += fmt::format(" char pad{}[{}];", pads, t->bytes - end);
  *natural_offsets = natural;
  return body;
}

namespace {

/// What lists, sets and dicts do with their items that are tuples.
std::string tuple_methods(Type t, const std::vector<std::string>& members) {
  std::string equals, less, hash, write, keep, share;
  bool first = true;
  for (size_t i = 0; i < t->items.size(); ++i) {
    write += first ? "" : " w.put(\", \", 2);";
    first = false;
    if (members[i].empty()) {
      write += " w.put(\"None\", 4);";
      continue;
    }
    equals += fmt::format(" && py::equal_to(f{0}, o.f{0})", i);
    if (t->items[i]->is(Kind::optional)) less += fmt::format(" if (!py::both_none(f{0}, o.f{0}))", i);
    less += fmt::format(" if (py::less_than(f{0}, o.f{0})) return true; else if (py::less_than(o.f{0}, f{0})) return false;", i);
    hash += fmt::format(" h = py::mixed(h + py::hash_of(f{}));", i);
    write += fmt::format(" py::write(w, f{});", i);
    if (t->items[i]->is_scalar()) continue;
    keep += fmt::format(" py::keep_value(f{});", i);
    share += fmt::format(" py::share_value(f{});", i);
  }
  std::string body = fmt::format("\n  template <class S> bool equals(const S& o) const {{ return true{}; }}", equals);
  body += fmt::format("\n  template <class S> bool less(const S& o) const {{{} return false; }}", less);
  body += fmt::format("\n  template <class H = u64> H hash() const {{ H h = {};{} return h; }}", t->items.size(), hash);
  if (!keep.empty())
    body +=
        fmt::format("\n  template <class = void> void keep() {{{} }}\n  template <class = void> void share() const {{{} }}", keep, share);
  body += fmt::format("\n  template <class W> void write_to(W& w) const {{ w.put(\"(\", 1);{} w.put({}); }}\n", write,
                      t->items.size() == 1 ? "\",)\", 2" : "\")\", 1");
  return body;
}

}  // namespace

/// The struct of a tuple or a record.
std::string Unit::cpp_struct(Type t) {
  if (is_characters(t)) {
    need("characters");
    names_library_types = true;
    return fmt::format("py::Characters<{}, {}>", is_wide(t) ? "u32" : "u8", t->bytes / t->value);
  }
  const auto found = structs_.find(t);
  if (found != structs_.end()) return found->second;
  std::vector<std::string> members;
  for (Type item : t->items) members.push_back(item->has_value() ? cpp(item) : "");
  const std::string name = t->name.empty() ? unique(t->is(Kind::record) ? "Record" : "Tuple") : unique(Named::type, t->name);
  structs_[t] = name;
  bool natural = true;
  std::string body = t->is(Kind::record) ? record_members(t, members, &natural) : "";
  if (!t->is(Kind::record)) {
    for (size_t i = 0; i < t->items.size(); ++i)
      if (!members[i].empty()) body += fmt::format(" {} f{};", members[i], i);
    if (options.entry == Entry::host) body += tuple_methods(t, members);
  }
  struct_text_ += natural ? fmt::format("struct {} {{{} }};\n", name, body)
                          : fmt::format("#pragma pack(push, 1)\nstruct {} {{{} }};\n#pragma pack(pop)\n", name, body);
  return name;
}

std::string Unit::cpp(Type t) {
  if (!t) return "void";
  names_library_types |= !t->is_scalar() && !t->is(Kind::literal) && !t->is(Kind::record) && !t->is(Kind::none);
  switch (t->kind) {
    case Kind::scalar: return cpp_name(t->dtype);
    case Kind::array:
      need("core");
      if (options.entry == Entry::host && is_bytes(t)) need("character_texts");
      if (options.entry == Entry::host) return fmt::format("py::Host<{}, {}, '{}'>", cpp(t->element), t->ndim, t->layout);
      return fmt::format("py::Array<{}{}, {}, '{}'>", t->read_only ? "const " : "", cpp(t->element), t->ndim, t->layout);
    case Kind::optional: need("core"); return fmt::format("py::Optional<{}>", cpp(t->element));
    case Kind::range: need("core"); return "py::Range";
    case Kind::slice: need("core"); return "py::Slice";
    case Kind::pointer: return cpp(t->element) + "*";
    case Kind::list:
    case Kind::set:
    case Kind::dict:
    case Kind::text:
    case Kind::instance:
    case Kind::generator: return cpp_object(t);
    case Kind::time: need("times"); return is_datetime(t->dtype) ? "py::Date" : "py::Delta";
    case Kind::literal:
    case Kind::choice:
    case Kind::member: return "i64";
    case Kind::tuple:
      if (t->is_uniform() && t->items[0]->has_value()) {
        need("core");
        return fmt::format("py::Tuple<{}, {}>", cpp(t->items[0]), t->items.size());
      }
      [[fallthrough]];
    case Kind::record: return cpp_struct(t);
    default: return "void";
  }
}

Code Unit::table(Type element, const ConstantArray& array) {
  const auto named = [&](size_t i) { return Code(tables_[i].address).with(Facts(Mention{Mention::Kind::table, i})); };
  Table t;
  t.key = fmt::format("{}:{}", element->id, std::string_view(array.bytes.data(), array.bytes.size()));
  for (size_t i = 0; i < tables_.size(); ++i)
    if (tables_[i].key == t.key) return named(i);
  t.name = unique("table");
  // The bytes themselves, as 64-bit words: every element type, every value (NaN, -0.0), exactly.
  const size_t n = (array.bytes.size() + 7) / 8;
  for (size_t i = 0; i < n; ++i) {
    uint64_t w = 0;
    std::memcpy(&w, array.bytes.data() + 8 * i, std::min<size_t>(8, array.bytes.size() - 8 * i));
    t.words += fmt::format("{}{:#x}ull,", i % 8 == 0 ? "\n  " : " ", w);
  }
  t.count = std::max<size_t>(n, 1);
  t.address = fmt::format("reinterpret_cast<const {}*>({}_words)", cpp(element), t.name);
  tables_.push_back(t);
  return named(tables_.size() - 1);
}

size_t Unit::to_constant_memory(const Facts& facts) {
  size_t bytes = 0;
  bool found = false;
  for (size_t i = 0; i < tables_.size(); ++i) {
    Table& t = tables_[i];
    if (facts.names({Mention::Kind::table, i})) found = t.constant_memory = true;
    if (t.constant_memory) bytes += 8 * t.count;
  }
  return found ? bytes : 0;
}

Specialised& Unit::specialise(const Function& function, const FunctionSyntax& syntax, std::vector<Type> arguments,
                              std::vector<std::string> captured, bool each) {
  std::string key = fmt::format("{}:{}{}", static_cast<const void*>(&syntax), static_cast<const void*>(&function), each ? ":each" : "");
  for (Type t : arguments) key += fmt::format(",{}", t->id);
  std::unique_ptr<Specialised>& place = functions_[key];
  if (!place) {
    place = std::make_unique<Specialised>();
    place->function = &function;
    place->syntax = &syntax;
    place->arguments = std::move(arguments);
    place->captured = std::move(captured);
    place->each = each;
    place->name = unique(Named::function, syntax.name[0] == '<' ? syntax.name.substr(1, syntax.name.size() - 2) : syntax.name);
    order_.push_back(place.get());
  }
  Specialised& s = *place;
  if (s.done) return s;
  if (s.depth >= 0) {  // it is being compiled: a recursion
    s.recursive = true;
    if (!s.final_types) lowest_used_ = std::min(lowest_used_, s.depth);
    return s;
  }
  if (stack_.size() > 200) raise(ErrorKind::Typing, "{}: calls are nested more than 200 deep", syntax.name);
  run(&s);
  return s;
}

void Unit::run(Specialised* s) {
  s->depth = static_cast<int>(stack_.size());
  s->final_types = false;
  stack_.push_back(s);
  const int outside = std::exchange(lowest_used_, kNone);
  FunctionCompiler compiler(*this, *s);
  try {
    compiler.run();
  } catch (...) {
    stack_.pop_back();
    s->depth = -1;
    throw;
  }
  stack_.pop_back();
  s->done = lowest_used_ >= s->depth;
  s->depth = -1;
  lowest_used_ = s->done ? outside : std::min(outside, lowest_used_);
}

bool Unit::loops(const Facts& facts, int depth) const {
  if (facts.has(kLoops)) return true;
  const std::vector<const Specialised*> calls = facts.calls();
  return depth <= 8 && std::any_of(calls.begin(), calls.end(), [&](const Specialised* f) { return f->done && loops(f->facts, depth + 1); });
}

/// All that the functions need, and the functions.
std::string Unit::printed_functions(const Specialised& s) {
  std::string text = struct_text_;
  if (!foreign_.empty()) text += "}\n" + foreign_declarations() + "namespace bc {\n";
  text += matcher_declarations() + address_text();
  for (const Table& t : tables_)
    text +=
        fmt::format("{} u64 {}_words[{}] = {{{}\n}};\n", t.constant_memory ? "BC_PY_CONSTANT" : "BC_PY_TABLE", t.name, t.count, t.words);
  for (const auto& [name, array] : shared_arrays) text += array.first;
  // Of a generator only the forms that are called.
  std::set<const Specialised*> called{&s};
  for (std::vector<const Specialised*> left{&s}; !left.empty();) {
    const Specialised* f = left.back();
    left.pop_back();
    for (const Specialised* callee : f->facts.calls())
      if (called.insert(callee).second) left.push_back(callee);
  }
  const auto is_printed = [&](const Specialised* f) { return !f->syntax->yields || called.contains(f); };
  for (const Specialised* f : order_)
    if ((f != &s || options.entry != Entry::kernel) && !f->declaration.empty() && is_printed(f)) text += f->declaration + ";\n";
  for (const Specialised* f : order_)
    if (!f->text.empty() && is_printed(f)) text += "\n" + f->text;
  return text + matcher_texts();
}

CompiledFunction Unit::compile(std::span<const Type> arguments) {
  need("core");
  for (const LinkedCode& code : options.linked) link(code);
  Specialised& s = specialise(entry_, entry_.syntax(), {arguments.begin(), arguments.end()}, {});
  CompiledFunction made;
  made.name = s.name;
  made.python_name = s.syntax->name;
  made.arguments = s.arguments;
  made.result = s.result;
  made.reports = s.fails;
  made.writes = s.writes;
  for (int i : s.captures) {
    const Capture& c = captures_[static_cast<size_t>(i)];
    made.captured.push_back(c.array);
    made.captured.back().writes = c.uses != c.reads && !c.array.type->read_only;
  }
  made.uses_grid_sync = uses_grid_sync;
  made.uses_dynamic_shared = uses_dynamic_shared;
  made.failures = failures_;
  made.sites = sites_;
  made.places = places;
  made.interpreted = interpreted_;
  made.prints = prints;
  made.checked = options.check;
  made.addresses = addresses_;

  std::string text = printed_functions(s);
  if (options.entry == Entry::host) {
    made.name = "bc_" + s.name;
    text += "\nnamespace py { extern \"C\" { __attribute__((visibility(\"default\"))) const Table* bc_host = nullptr; } }\n";
  }
  if (options.entry == Entry::host && options.entered) text += entry_text(s, made.name);
  made.readable = (options.entry == Entry::host ? host_headers(headers_) : "") + "namespace bc {\n" + text + "}\n";
  made.functions = std::move(text);
  made.uses_library = names_library_types || !tables_.empty();
  made.only_numbers = struct_text_.empty() && !made.uses_library;
  for (const Specialised* f : order_) {
    made.uses_library |= f->facts.has(kLibrary);
    made.only_numbers &= f->only_numbers;
  }
  made.text = python_library(headers_);
  made.library_bytes = made.text.size();
  made.text += made.readable + foreign_text();
  made.linked = linked_;
  return made;
}

CompiledFunction compile(const Function& function, std::span<const Type> arguments, const CompileOptions& options) {
  Unit unit(function, options);
  return unit.compile(arguments);
}

}  // namespace bc::kernels
