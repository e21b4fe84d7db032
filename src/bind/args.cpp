#include "bind/args.h"

#include <charconv>
#include <cstring>

#include "bind/documentation.h"
#include "bind/program.h"

namespace bc::bind {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// A default as written in a signature: None, True, False, ..., a number or a string. Kept for ever.
PyObject* literal(std::string_view s) {
  if (s == "None") return new_ref(Py_None);
  if (s == "True") return new_ref(Py_True);
  if (s == "False") return new_ref(Py_False);
  if (s == "...") return new_ref(Py_Ellipsis);
  if (s.front() == '\'') return to_py(s.substr(1, s.size() - 2)).release();
  if (s.find_first_of(".e") != std::string_view::npos) return PyFloat_FromDouble(std::stod(std::string(s)));
  int64_t v = 0;
  std::from_chars(s.data(), s.data() + s.size(), v);
  return to_py(v).release();
}

/// Takes the first parameter off a list of them. Commas inside brackets belong to an annotation.
std::string_view next_item(std::string_view& rest) {
  int depth = 0;
  size_t end = 0;
  for (; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) depth += rest[end] == '[' ? 1 : rest[end] == ']' ? -1 : 0;
  const std::string_view item = trim(rest.substr(0, end));
  rest = end == rest.size() ? std::string_view() : rest.substr(end + 1);
  return item;
}

/// "axis: int | None = None" without its annotation: "axis=None".
std::string without_annotation(std::string_view item) {
  const size_t colon = item.find(':'), equals = item.find('=');
  if (colon > equals || colon == std::string_view::npos) return std::string(item);
  std::string plain(item.substr(0, colon));
  if (equals != std::string_view::npos) plain.append("=").append(trim(item.substr(equals + 1)));
  return plain;
}

/// The end of a signature's text, behind the parameters: the result's type, empty where none is written, and the documentation.
struct Ending {
  std::string_view result, documentation;
};

/// Splits " -> int | None Waits." into "int | None" and "Waits.": the type ends at the first space that is neither inside brackets nor
/// beside a bar.
Ending split_ending(std::string_view signature) {
  std::string_view text = trim(signature.substr(signature.find(')') + 1));
  if (!text.starts_with("->")) return {{}, text};
  text = trim(text.substr(2));
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth == 0 && (text[at] == ' ' || text[at] == '\n') && text.substr(at, 3) != " | " && text[at - 1] != '|')
      return {text.substr(0, at), trim(text.substr(at))};
  }
  return {text, {}};
}

}  // namespace

std::vector<Bound>& bound_functions() {
  static std::vector<Bound> all;
  return all;
}

std::string_view Bound::result() const {
  const std::string_view written = split_ending(text).result;
  return written.empty() ? types[parameters] : written;
}

void CallSignature::parse(const char* text, bool method) {
  const std::string_view all(text);
  const size_t open = all.find('(');
  name_text = all.substr(0, open);
  name = name_text.c_str();
  const size_t close = all.find(')');
  std::string_view rest = all.substr(open + 1, close - open - 1);
  std::string plain;  // the parameters without annotations
  bool by_position = true;
  while (!rest.empty()) {
    const std::string item_text = without_annotation(next_item(rest));
    const std::string_view item = item_text;
    plain.append(plain.empty() ? "" : ", ").append(item);
    if (item == "*") {
      by_position = false;
      continue;
    }
    if (item == "/") {
      for (PyObject*& n : names) Py_CLEAR(n);
      continue;
    }
    const size_t equals = item.find('=');
    const std::string parameter(item.substr(0, equals));
    if (parameter == "out") out = size();
    if (parameter == "device") device = size();
    names.push_back(PyRef::steal(PyUnicode_InternFromString(parameter.c_str())).release());
    defaults.push_back(equals == std::string_view::npos ? nullptr : literal(item.substr(equals + 1)));
    if (by_position) ++positional;
  }
  // inspect.signature reads "name($self, …)\n--\n\n".
  doc_text = name_text + (method ? "($self" : "(");
  const std::string inside = plain + ")";
  if (method) doc_text += inside.front() == ')' ? "" : ", ";
  if (method && inside.front() != ')' && inside.find('/') == std::string_view::npos) doc_text = name_text + "($self, /, ";
  doc_text += inside;
  doc_text += "\n--\n\n";
  doc_text += split_ending(all).documentation;
}

const char* Context::parameter_name() const {
  PyObject* n = signature->names[parameter];
  return n ? as_string(n).data() : "argument";
}

VectorArguments::VectorArguments(PyObject* args, PyObject* kwargs) : positional(PyTuple_Size(args)) {
  for (Py_ssize_t i = 0; i < positional; ++i) all.push_back(PyTuple_GetItem(args, i));
  if (!kwargs || PyDict_Size(kwargs) == 0) return;
  names = PyRef::steal(PyList_AsTuple(PyRef::steal(PyDict_Keys(kwargs)).get()));
  for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) all.push_back(PyDict_GetItem(kwargs, PyTuple_GetItem(names.get(), i)));
}

void CallSignature::bind(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values) const {
  const int n = size();
  if (nargs > positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", name, positional, nargs);
    throw PythonError();
  }
  std::copy_n(args, nargs, values);
  std::fill(values + nargs, values + n, nullptr);
  const Py_ssize_t keywords = kwnames ? PyTuple_Size(kwnames) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* key = PyTuple_GetItem(kwnames, k);
    int at = 0;
    while (at < n && names[at] != key) ++at;
    if (at == n) {
      // Names that were built at run time are not the interned objects.
      for (at = 0; at < n; ++at)
        if (names[at] && PyUnicode_Compare(names[at], key) == 0) break;
    }
    if (at == n) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", name, key);
      throw PythonError();
    }
    if (values[at]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", name, key);
      throw PythonError();
    }
    values[at] = args[nargs + k];
  }
  for (auto at = static_cast<int>(nargs); at < n; ++at) {
    if (values[at]) continue;
    values[at] = defaults[at];
    if (!values[at]) {
      if (names[at])
        PyErr_Format(PyExc_TypeError, "%s() missing required argument: '%U' (pos %d)", name, names[at], at + 1);
      else
        PyErr_Format(PyExc_TypeError, "%s() takes at least %d positional arguments (%zd given)", name, at + 1, nargs);
      throw PythonError();
    }
  }
}

Device device_of_call(const CallSignature& s, PyObject* const* arguments, PyObject* const* all, Py_ssize_t n) {
  if (s.device >= 0 && arguments[s.device] != Py_None) return to_device(arguments[s.device]);
  if (s.out >= 0 && is_array(arguments[s.out])) return array_of(arguments[s.out]).device();
  return device_of(all, n);
}

Array From<Array>::get(PyObject* o, const Context& c) {
  if (c.parameter == c.signature->out) {
    if (o == Py_None) return {};
    return writable(o, c.signature->name);
  }
  return to_array(o, c.device);
}

Scalar From<Scalar>::get(PyObject* o, const Context& c) {
  if (const auto s = python_scalar(o)) {
    if (s->first == Weak::integer && s->second.dtype == DType::f64)
      throw_python(PyExc_OverflowError, "Python int too large to convert to C long");
    return s->second;
  }
  return look(to_array(o, c.device));
}

std::vector<Array> From<std::vector<Array>>::get(PyObject* o, const Context& c) {
  std::vector<Array> list;
  if (is_array(o)) {
    const Array& a = array_of(o);
    if (a.ndim() == 0) raise(ErrorKind::Type, "{}: expected a sequence of arrays, got a 0-d array", c.signature->name);
    return unstack(a, 0);
  }
  PyRef items = PyRef::maybe(PySequence_Tuple(o));
  if (!items) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s: expected a sequence of arrays for '%s', got %s", c.signature->name, c.parameter_name(),
                   type_name(o));
    throw PythonError();
  }
  const Py_ssize_t n = PyTuple_Size(items.get());
  list.reserve(n);
  for (Py_ssize_t i = 0; i < n; ++i) list.push_back(to_array(PyTuple_GetItem(items.get(), i), c.device));
  return list;
}

NormOrder From<NormOrder>::get(PyObject* o, const Context&) {
  NormOrder order;
  if (o == Py_None) return order;
  const double p = PyUnicode_Check(o) ? 0 : PyFloat_AsDouble(o);
  if (!PyUnicode_Check(o) && !PyErr_Occurred()) return p;
  PyErr_Clear();
  order.name = as_string(PyRef::steal(PyObject_Str(o)).get());
  order.kind = order.name == "fro" || order.name == "f" ? NormOrder::Kind::frobenius
               : order.name == "nuc"                    ? NormOrder::Kind::nuclear
                                                        : NormOrder::Kind::unknown;
  return order;
}

Indices From<Indices>::get(PyObject* o, const Context& c) {
  if (!PyList_Check(o) && !PyTuple_Check(o)) return {to_array(o, c.device)};
  bool same = false;
  return {as_array(o, DType::i64, std::nullopt, c.device, &same)};
}

PyObject* result(const std::vector<Array>& list, PyObject* first) {
  PyRef t = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) check(PyTuple_SetItem(t.get(), static_cast<Py_ssize_t>(i), result(list[i], first)));
  return t.release();
}

PyObject* of_records(const char* name, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (!PyErr_ExceptionMatches(state().record_error)) return nullptr;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* made = guard([&]() -> PyObject* {
    PyRef table = attr(PyRef::steal(PyImport_ImportModule("broadcloth._records")).get(), "FUNCTIONS");
    PyObject* function = PyDict_GetItemString(table.get(), name);
    if (!function) {
      PyErr_Restore(type, value, trace);
      type = value = trace = nullptr;
      throw PythonError();
    }
    const TupleArguments given(args, nargs, kwnames);
    return PyObject_Call(function, given.positional.get(), given.named.get());
  });
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return made;
}

void add_functions(PyObject* module, std::vector<PyMethodDef> functions) {
  functions.push_back({});
  // The interpreter keeps pointers to the definitions.
  auto* kept = new std::vector<PyMethodDef>(std::move(functions));
  check(PyModule_AddFunctions(module, kept->data()));
  keep_documented("", kept->data());
}

}  // namespace bc::bind
