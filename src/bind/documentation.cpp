// Docstrings of the extension's functions and methods: the package keeps them in Python, beside the examples that run as tests.
#include "bind/documentation.h"

#include <string_view>
#include <unordered_map>

#include "bind/args.h"

namespace bc::bind {
namespace {

std::unordered_map<std::string, PyMethodDef*>& documented() {
  static auto* table = new std::unordered_map<std::string, PyMethodDef*>;
  return *table;
}

/// Replaces what a function says of itself behind its signature.
void document(std::string_view name, std::string_view text) {
  const auto found = documented().find(std::string(name));
  if (found == documented().end()) raise(ErrorKind::Value, "document: expected a function of the extension, got {}", name);
  PyMethodDef* def = found->second;
  const std::string_view old = def->ml_doc ? def->ml_doc : "";
  constexpr std::string_view kEnd = "\n--\n\n";
  const size_t end = old.find(kEnd);
  // The interpreter reads the text whenever somebody asks, so it is kept for ever.
  auto* kept = new std::string(end == std::string_view::npos ? std::string_view() : old.substr(0, end + kEnd.size()));
  *kept += text;
  def->ml_doc = kept->c_str();
}

/// Each function's signature as written, the types of its parameters, which of them may be None, and the type of its result.
PyRef signatures() {
  PyRef list = PyRef::steal(PyList_New(0));
  for (const Bound& b : bound_functions()) {
    PyRef types = PyRef::steal(PyList_New(0)), optional = PyRef::steal(PyList_New(0));
    for (int k = 0; k < b.parameters; ++k) {
      check(PyList_Append(types.get(), to_py(std::string_view(b.types[k])).get()));
      check(PyList_Append(optional.get(), b.optional[k] ? Py_True : Py_False));
    }
    check(PyList_Append(list.get(),
                        tuple_of({to_py(std::string_view(b.text)).get(), types.get(), optional.get(), to_py(b.result()).get()}).get()));
  }
  return list;
}

}  // namespace

void keep_documented(const std::string& prefix, PyMethodDef* first) {
  for (PyMethodDef* def = first; def->ml_name; ++def) documented().insert_or_assign(prefix + def->ml_name, def);
}

void init_documentation(PyObject* module) {
  add_functions(module, {BC_FUNCTION("document(name, text, /) Replaces the documentation of a function ('dot') or method ('ndarray.sum') "
                                     "of the extension, all but its signature.",
                                     document),
                         BC_FUNCTION("signatures() -> list[tuple[str, list[str], list[bool], str]] Each function's signature, the types "
                                     "of its parameters, which of them may be None, and the type of its result.",
                                     signatures)});
}

}  // namespace bc::bind
