// What names in compiled functions mean: Python objects become types and constants.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

#include "bind/convert.h"
#include "bind/jit_containers.h"
#include "bind/jit_dispatcher.h"
#include "bind/jit_values.h"
#include "bind/kernel_records.h"
#include "bind/kernels.h"
#include "bind/kernels_syntax.h"
#include "runtime/fork.h"

namespace bc::bind {

RecursiveLock& compiler_lock() {
  static RecursiveLock* const lock = [] {
    static RecursiveLock made;
    at_fork(
        ForkLevel::Python, [] {},
        [](bool child) {
          if (!child) return;
          // Another thread's is nobody's in the child; this thread's own stays.
          if (made.try_lock())
            made.unlock();
          else
            new (&made) RecursiveLock;
        });
    return &made;
  }();
  return *lock;
}

namespace {

using namespace kernels;

/// Types refer to objects for ever.
PyObject* keep(PyObject* o) {
  static auto& kept = *new std::set<PyObject*>;
  const PyLock lock(compiler_lock());
  if (kept.insert(o).second) Py_INCREF(o);
  return o;
}

/// A reference that may be given back by any thread.
std::shared_ptr<const void> shared_object(PyObject* o) {
  return {new_ref(o), [](PyObject* object) {
            const GilHold hold;
            Py_DECREF(object);
          }};
}

/// A function written in Python (the limited API has no macro for it).
bool is_function(PyObject* o) {
  static constinit OnceObject type;
  return reinterpret_cast<PyObject*>(Py_TYPE(o)) == type.make([] { return import_attr("types", "FunctionType"); });
}

std::string string_attr(PyObject* o, const char* name) {
  PyRef v = PyRef::maybe(PyObject_GetAttrString(o, name));
  if (!v || !PyUnicode_Check(v.get())) {
    PyErr_Clear();
    return {};
  }
  return std::string(as_string(v.get()));
}
PyRef attr_or_null(PyObject* o, const char* name) {
  PyRef v = PyRef::maybe(PyObject_GetAttrString(o, name));
  if (!v) PyErr_Clear();
  return v;
}

/// Whether a module is `package` or lies in it: a user's "numpy_helpers" does not.
bool is_in(std::string_view module, std::string_view package) {
  return module.starts_with(package) && (module.size() == package.size() || module[package.size()] == '.');
}

/// Whether an attribute of a module that was imported is this very object.
bool is_attribute(const char* module, const std::string& name, PyObject* o) {
  PyObject* found = PyDict_GetItemString(PyImport_GetModuleDict(), module);  // borrowed
  return found && attr_or_null(found, name.c_str()).get() == o;
}

/// The name by which the compiler knows a function of NumPy's; "" where it is none. The object decides: functions of other modules may have
/// the same name, and functools.wraps() gives a user's function NumPy's name and module.
std::string numpy_name(PyObject* o) {
  const std::string name = string_attr(o, "__name__");
  if (name.empty()) return {};
  if (is_attribute("numpy", name, o) || is_attribute("numpy.lib.stride_tricks", name, o)) return "numpy." + name;
  // Not numpy.linalg.trace and its kin, which are others than numpy's own.
  if (is_attribute("numpy.linalg", name, o)) {
    PyObject* numpy = state().numpy;
    return (attr_or_null(numpy, name.c_str()) ? "numpy.linalg." : "numpy.") + name;
  }
  // Its coefficients begin with the lowest power, unlike that of numpy.polyadd and its kin.
  if (is_attribute("numpy.polynomial.polynomial", name, o) || is_attribute("numpy.polynomial.polyutils", name, o))
    return "numpy.polynomial." + name;
  return {};
}

/// The name of the module whose text defines a function written in Python.
std::string defining_module(PyObject* function) {
  const PyRef globals = attr_or_null(function, "__globals__");
  PyObject* name = globals ? PyDict_GetItemString(globals.get(), "__name__") : nullptr;  // borrowed
  return name && PyUnicode_Check(name) ? std::string(as_string(name)) : std::string();
}

/// Records' dtypes by identity: reading the fields of one takes microseconds, which each call with a record would pay.
struct RecordTypes {
  std::unordered_map<PyObject*, Type> of_dtype;
  std::unordered_map<Type, PyObject*> dtype_of;
};
RecordTypes& record_types = *new RecordTypes;
constinit std::mutex record_types_mutex;

/// NumPy's record dtypes: fields at their offsets.
Type type_of_dtype(PyObject* dtype) {
  {
    const std::lock_guard lock(record_types_mutex);
    if (const auto known = record_types.of_dtype.find(dtype); known != record_types.of_dtype.end()) return known->second;
  }
  PyRef fields = attr_or_null(dtype, "fields");
  if (fields && fields.get() != Py_None) {
    PyRef names = attr(dtype, "names");
    std::vector<std::string> texts;
    std::vector<Type> items;
    std::vector<uint32_t> offsets;
    // NumPy's record arrays forget the alignment of an aligned struct, but not that it is one.
    auto alignment = static_cast<uint32_t>(to_int(attr(dtype, "alignment").get(), "alignment"));
    const bool aligned = PyObject_IsTrue(attr(dtype, "isalignedstruct").get()) == 1;
    std::vector<std::string> titles;
    for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) {
      PyObject* name = PyTuple_GetItem(names.get(), i);
      PyRef field = PyRef::steal(PyObject_GetItem(fields.get(), name));
      texts.emplace_back(as_string(name));
      PyObject* const of_field = PyTuple_GetItem(field.get(), 0);
      items.push_back(type_of_dtype(of_field));
      if (aligned) alignment = std::max(alignment, static_cast<uint32_t>(to_int(attr(of_field, "alignment").get(), "alignment")));
      offsets.push_back(static_cast<uint32_t>(PyLong_AsLong(PyTuple_GetItem(field.get(), 1))));
      PyObject* title = PyTuple_Size(field.get()) > 2 ? PyTuple_GetItem(field.get(), 2) : nullptr;
      if (title && PyUnicode_Check(title)) titles.resize(offsets.size()), titles.back() = as_string(title);
    }
    const Type made = record_type(nullptr, "Record", std::move(texts), items, std::move(offsets),
                                  static_cast<uint32_t>(to_int(attr(dtype, "itemsize").get(), "itemsize")), alignment, std::move(titles));
    PyObject* const kept = keep(dtype);
    const std::lock_guard lock(record_types_mutex);
    record_types.dtype_of.emplace(made, kept);
    return record_types.of_dtype.emplace(kept, made).first->second;
  }
  PyRef sub = attr_or_null(dtype, "subdtype");
  if (sub && sub.get() != Py_None) {
    const Type item = type_of_dtype(PyTuple_GetItem(sub.get(), 0));
    PyObject* shape = PyTuple_GetItem(sub.get(), 1);
    Type made = item;
    for (Py_ssize_t i = PyTuple_Size(shape); i-- > 0;)
      made = uniform_tuple_type(made, static_cast<int>(PyLong_AsLong(PyTuple_GetItem(shape, i))));
    return made;
  }
  const std::string kind = string_attr(dtype, "kind");
  if (kind == "O")
    raise(ErrorKind::Typing, "compiled functions take no arrays of Python objects; convert them to numbers, as in x.astype('float64')");
  const auto count = static_cast<uint32_t>(to_int(attr(dtype, "itemsize").get(), "itemsize")) / (kind == "U" ? 4 : 1);
  if (kind == "T" || (kind == "U" && string_attr(dtype, "byteorder") == ">") || ((kind == "U" || kind == "S") && count == 0))
    raise(ErrorKind::Typing, "compiled functions take no arrays of {}; pass a list of the strings, as x.tolist() gives it",
          string_attr(dtype, "name"));
  if (kind == "U" || kind == "S") return characters_type(kind == "U", count);
  return scalar_type(to_dtype(dtype));
}

/// A dataclass as a record of its annotations; of an instance, fields whose annotation is no type of ours have their values' types.
Type type_of_dataclass(PyObject* cls, PyObject* instance = nullptr) {
  static auto& known = *new std::unordered_map<PyObject*, Type>;
  const PyLock lock(compiler_lock());
  const auto it = known.find(cls);
  if (it != known.end()) return it->second;
  bool by_values = false;
  PyRef fields = attr(cls, "__dataclass_fields__");
  PyRef hints = call(import_attr("typing", "get_type_hints").get(), {cls});
  PyRef names = PyRef::steal(PyMapping_Keys(fields.get()));
  std::vector<std::string> texts;
  std::vector<Type> items;
  for (Py_ssize_t i = 0; i < PyList_Size(names.get()); ++i) {
    PyObject* name = PyList_GetItem(names.get(), i);
    PyRef hint = PyRef::steal(PyObject_GetItem(hints.get(), name));
    Type t = nullptr;
    try {
      t = type_of_annotation(hint.get());
    } catch (...) {
      PyErr_Clear();
    }
    if (instance && (!t || !t->has_value())) {
      t = type_of(PyRef::steal(PyObject_GetAttr(instance, name)).get());
      by_values = true;
    } else if (!t || !t->has_value())
      raise(ErrorKind::Typing, "{}.{}: a record's fields need annotations of numbers", string_attr(cls, "__name__"), as_string(name));
    texts.emplace_back(as_string(name));
    items.push_back(t);
  }
  const Type made = record_type(keep(cls), string_attr(cls, "__name__"), std::move(texts), items);
  return by_values ? made : known[cls] = made;
}

std::vector<std::string> tuple_fields(PyObject* cls) {
  std::vector<std::string> fields;
  PyRef names = attr_or_null(cls, "_fields");
  if (!names || !PyTuple_Check(names.get())) return fields;
  for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) fields.emplace_back(as_string(PyTuple_GetItem(names.get(), i)));
  return fields;
}

/// The type of a jitclass's objects. While its fields' types are found, those that hold its own objects get it without fields.
Type type_of_instances(PyObject* cls, const std::string& name, PyObject* fields) {
  static auto& in_the_making = *new std::set<Type>;
  const PyLock lock(compiler_lock());
  std::vector<std::string> texts;
  const Py_ssize_t n = PyTuple_Size(fields);
  for (Py_ssize_t i = 0; i < n; ++i) texts.emplace_back(as_string(PyTuple_GetItem(PyTuple_GetItem(fields, i), 0)));
  const Type made = instance_type(cls, name, std::move(texts), {});
  if (!made->items.empty() || !in_the_making.insert(made).second) return made;
  struct Done {
    Type made;
    ~Done() { in_the_making.erase(made); }
  } done{made};
  std::vector<Type> items;
  for (Py_ssize_t i = 0; i < n; ++i) items.push_back(type_of_annotation(PyTuple_GetItem(PyTuple_GetItem(fields, i), 1)));
  complete_instance(made, items);
  return made;
}

const char* const kBuiltinTypes[] = {"range", "enumerate", "zip", "reversed", "tuple", "slice", "type", "map", "filter"};

Type type_of_class(PyObject* cls) {
  // Python's numbers.
  if (cls == reinterpret_cast<PyObject*>(&PyFloat_Type)) return dtype_type(float64_type(), "float");
  if (cls == reinterpret_cast<PyObject*>(&PyLong_Type)) return dtype_type(int64_type(), "int");
  if (cls == reinterpret_cast<PyObject*>(&PyBool_Type)) return dtype_type(bool_type(), "bool");
  if (cls == reinterpret_cast<PyObject*>(&PyComplex_Type)) return dtype_type(scalar_type(DType::c128), "complex");
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().scalar_types[i] == cls || state().named_types[i] == cls) return dtype_type(scalar_type(static_cast<DType>(i)));
  const std::string name = string_attr(cls, "__name__"), module = string_attr(cls, "__module__");
  if (PyRef stands_for = attr_or_null(cls, "__kernel_name__"); stands_for && PyUnicode_Check(stands_for.get()))
    return builtin_type(std::string(as_string(stands_for.get())));
  if (module == "builtins")
    for (const char* known : kBuiltinTypes)
      if (name == known) return builtin_type("builtins." + name);
  if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), state().np_generic)) {
    // Other spellings of a scalar type (intp, longlong).
    try {
      return dtype_type(scalar_type(to_dtype(cls)));
    } catch (...) {
      PyErr_Clear();
    }
  }
  if (cls == reinterpret_cast<PyObject*>(state().np_dtype)) return builtin_type("numpy.dtype");
  if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), &PyTuple_Type)) {
    std::vector<std::string> fields = tuple_fields(cls);
    if (!fields.empty()) {
      const std::vector<Type> nothing(fields.size(), none_type());
      return class_type(keep(cls), name, named_tuple_type(cls, name, std::move(fields), nothing));
    }
  }
  if (PyRef fields = attr_or_null(cls, "__jitclass_fields__")) {
    return class_type(keep(cls), name, type_of_instances(cls, name, fields.get()));
  }
  if (attr_or_null(cls, "__dataclass_fields__")) {
    try {
      return class_type(keep(cls), name, type_of_dataclass(cls));
    } catch (...) {
      PyErr_Clear();  // only its instances have types
    }
  }
  // A user's class may have the name of an abstract one.
  if (module == "numbers" || module == "collections.abc") return class_type(keep(cls), module + "." + name);
  return class_type(keep(cls), name);
}

std::optional<Constant> constant_of(PyObject* o) {
  Constant c;
  if (o == Py_None) return c;
  if (PyBool_Check(o)) {
    c.value = o == Py_True;
    return c;
  }
  if (PyLong_Check(o)) {
    if (!PyLong_CheckExact(o) && attr_or_null(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__members__")) c.member = keep(o);
    int overflow = 0;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) {
      c.value = static_cast<int64_t>(v);
      return c;
    }
    const unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) {
      c.value = static_cast<uint64_t>(u);
      return c;
    }
    PyErr_Clear();
    return std::nullopt;
  }
  if (PyFloat_Check(o)) {
    c.value = PyFloat_AsDouble(o);
    return c;
  }
  if (PyComplex_Check(o)) {
    c.value = std::complex<double>(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
    return c;
  }
  if (PyUnicode_Check(o)) {
    c.value = std::string(as_string(o));
    return c;
  }
  if (PyTuple_Check(o)) {
    ConstantTuple items;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) {
      auto item = constant_of(PyTuple_GetItem(o, i));
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    c.value = std::move(items);
    return c;
  }
  if (is_numpy_scalar(o)) {
    PyRef item = PyRef::steal(PyObject_CallMethodObjArgs(o, state().names.item, nullptr));
    return item.get() == o || is_numpy_scalar(item.get()) ? std::nullopt : constant_of(item.get());
  }
  return std::nullopt;
}

}  // namespace

std::vector<LinkedCode> linked_code(PyObject* items) {
  PyRef list = call(import_attr("broadcloth.cuda._link", "_load").get(), {items});
  std::vector<LinkedCode> codes;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    PyObject* item = PyList_GetItem(list.get(), i);
    char* bytes = nullptr;
    Py_ssize_t n = 0;
    check(PyBytes_AsStringAndSize(PyTuple_GetItem(item, 2), &bytes, &n));
    codes.push_back({std::string(as_string(PyTuple_GetItem(item, 0))), std::string(as_string(PyTuple_GetItem(item, 1))),
                     std::string(bytes, static_cast<size_t>(n))});
  }
  return codes;
}

PyRef object_of(const kernels::Constant& c) {
  if (const bool* b = c.boolean()) return PyRef::borrow(*b ? Py_True : Py_False);
  if (const int64_t* i = c.integer()) return to_py(*i);
  if (const auto* u = std::get_if<uint64_t>(&c.value)) return PyRef::steal(PyLong_FromUnsignedLongLong(*u));
  if (const auto* d = std::get_if<double>(&c.value)) return PyRef::steal(PyFloat_FromDouble(*d));
  if (const auto* z = std::get_if<std::complex<double>>(&c.value)) return PyRef::steal(PyComplex_FromDoubles(z->real(), z->imag()));
  if (const std::string* s = c.string()) return to_py(*s);
  if (const auto* items = std::get_if<kernels::ConstantTuple>(&c.value)) return object_of(*items);
  return PyRef::borrow(Py_None);
}
PyRef object_of(const std::vector<kernels::Constant>& items) {
  PyRef made = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) check(PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i), object_of(items[i]).release()));
  return made;
}

namespace {

/// The compiler's Function over a Python one.
class PythonFunction : public Function {
 public:
  explicit PythonFunction(PyObject* f) : function_(PyRef::borrow(f)), globals_(attr(f, "__globals__")) {
    PyRef found = call(import_attr("broadcloth._source", "find").get(), {f});
    PyObject* node = PyTuple_GetItem(found.get(), 0);
    PyObject* lines = PyTuple_GetItem(found.get(), 2);
    std::vector<std::string> source;
    for (Py_ssize_t i = 0; i < PyList_Size(lines); ++i) source.emplace_back(as_string(PyList_GetItem(lines, i)));
    PyRef code = attr(f, "__code__");
    syntax_ = read_syntax(node, std::string(as_string(attr(code.get(), "co_filename").get())),
                          static_cast<int>(to_int(attr(code.get(), "co_firstlineno").get(), "line")),
                          static_cast<int>(PyLong_AsLong(PyTuple_GetItem(found.get(), 1))), std::move(source));
    PyRef names = attr(code.get(), "co_freevars"), cells = attr(f, "__closure__");
    if (cells.get() != Py_None)
      for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i)
        cells_.emplace_back(as_string(PyTuple_GetItem(names.get(), i)), PyRef::borrow(PyTuple_GetItem(cells.get(), i)));
  }

  std::optional<Entity> global(std::string_view name) const override {
    for (const auto& [cell_name, cell] : cells_)
      if (cell_name == name) {
        PyRef value = attr_or_null(cell.get(), "cell_contents");
        if (!value) return std::nullopt;
        return entity_of(value.get());
      }
    PyRef key = to_py(name);
    // Not borrowed from the dict: the program may bind the name anew meanwhile.
    if (PyRef value = PyRef::maybe(PyObject_GetItem(globals_.get(), key.get()))) return entity_of(value.get());
    if (!PyErr_ExceptionMatches(PyExc_KeyError)) throw PythonError();
    PyErr_Clear();
    static constinit OnceObject builtins;
    PyRef value = PyRef::maybe(PyObject_GetAttr(builtins.make([] { return import("builtins"); }), key.get()));
    if (!value) {
      PyErr_Clear();
      return std::nullopt;
    }
    return entity_of(value.get());
  }

  std::optional<Entity> attribute(Type object, std::string_view name) const override {
    if (!object->object) return std::nullopt;
    auto* o = static_cast<PyObject*>(const_cast<void*>(object->object));
    if (object->is(Kind::function)) return std::nullopt;
    PyRef value = PyRef::maybe(PyObject_GetAttr(o, to_py(name).get()));
    if (!value) {
      PyErr_Clear();
      return std::nullopt;
    }
    return entity_of(value.get());
  }

  std::vector<std::string> names(Type object) const override {
    std::vector<std::string> all;
    PyRef list = object ? PyRef::maybe(PyObject_Dir(static_cast<PyObject*>(const_cast<void*>(object->object))))
                        : PyRef::steal(PyDict_Keys(globals_.get()));
    if (!list) {
      PyErr_Clear();
      return all;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i)
      if (PyUnicode_Check(PyList_GetItem(list.get(), i))) all.emplace_back(as_string(PyList_GetItem(list.get(), i)));
    if (!object)
      for (const char* b : {"abs", "bool", "complex", "divmod", "enumerate", "float", "int", "len", "max", "min", "pow", "print", "range",
                            "round", "sum", "tuple", "zip"})
        all.emplace_back(b);
    for (const auto& [name, cell] : cells_)
      if (!object) all.push_back(name);
    return all;
  }

  std::optional<Entity> default_value(int parameter) const override {
    const Parameter& p = syntax_->parameters[static_cast<size_t>(parameter)];
    if (p.keyword_only) {
      PyRef defaults = attr(function_.get(), "__kwdefaults__");
      if (defaults.get() == Py_None) return std::nullopt;
      PyRef value = PyRef::maybe(PyObject_GetItem(defaults.get(), to_py(p.name).get()));
      if (!value) PyErr_Clear();
      return value ? std::optional(entity_of(value.get())) : std::nullopt;
    }
    PyRef defaults = attr(function_.get(), "__defaults__");
    if (defaults.get() == Py_None) return std::nullopt;
    int positional = 0;
    for (const Parameter& q : syntax_->parameters) positional += !q.keyword_only;
    const Py_ssize_t n = PyTuple_Size(defaults.get()), at = parameter - (positional - n);
    return at >= 0 && at < n ? std::optional(entity_of(PyTuple_GetItem(defaults.get(), at))) : std::nullopt;
  }

  bool is_exception(Type cls, std::string_view builtin, Type base) const override {
    PyRef derived =
        cls && cls->object ? PyRef::borrow(static_cast<PyObject*>(const_cast<void*>(cls->object))) : jit::exception_named(builtin);
    if (!derived) derived = import_attr("builtins", "Exception");
    const int is = base->object ? PyObject_IsSubclass(derived.get(), static_cast<PyObject*>(const_cast<void*>(base->object))) : 0;
    if (is < 0) throw PythonError();
    return is == 1;
  }
  const Function* stand_in(const std::string& name) const override {
    if (name.starts_with("generator.")) import("broadcloth._overloads.generators");
    static PyObject* const table = import_attr("broadcloth._overloads", "OVERLOADS").release();
    PyObject* f = PyDict_GetItemWithError(table, to_py(name).get());
    return f ? &function_of(f) : nullptr;
  }

  const Function* overloaded(const std::vector<Type>& types, const std::vector<std::string>& names, bool host) const override {
    if (gufunc_) return loop_of_gufunc(types, names);
    PyObject* module = extending();
    if (!module) return nullptr;
    if (PyRef table = attr(module, "_TABLE"); PyDict_Contains(table.get(), function_.get()) != 1) return nullptr;
    // Chosen once for the same types: the walks of one compile must meet the same function.
    const std::tuple key(types, names, host);
    if (const auto it = chosen_.find(key); it != chosen_.end()) return it->second;
    const auto [arguments, keywords] = described(types, names);
    PyRef body = call(attr(module, "_chosen").get(), {function_.get(), arguments.get(), keywords.get(), target_name(host).get()});
    return chosen_[key] = body.get() == Py_None ? nullptr : &function_of(keep(body.get()));
  }

  const Function* overloaded_member(const char* table, const std::string& name, const std::vector<Type>& types,
                                    const std::vector<std::string>& names, bool host) const override {
    PyObject* module = extending();
    if (!module) return nullptr;
    const PyRef members = attr(module, table);
    PyRef key = to_py(name);
    if (PyDict_Contains(members.get(), key.get()) != 1) return nullptr;
    // Chosen once for the same types: the walks of one compile must meet the same function.
    static auto& chosen =
        *new std::map<std::tuple<std::string, std::string, std::vector<Type>, std::vector<std::string>, bool>, const Function*>;
    const std::tuple at(std::string(table), name, types, names, host);
    if (const auto it = chosen.find(at); it != chosen.end()) return it->second;
    PyObject* rows = PyDict_GetItem(members.get(), key.get());
    const auto [arguments, keywords] = described(types, names);
    PyRef body = call(attr(module, "_member").get(), {rows, arguments.get(), keywords.get(), target_name(host).get()});
    if (body.get() == Py_None) return nullptr;  // another may be registered later
    return chosen[at] = &function_of(keep(body.get()));
  }

  Interpreted interpreted(const kernels::Node* with, const std::vector<std::string>& locals) const override {
    static auto& known = *new std::unordered_map<const kernels::Node*, Interpreted>;
    if (const auto it = known.find(with); it != known.end()) return it->second;
    PyRef names = PyRef::steal(PyList_New(0));
    for (const std::string& name : locals) check(PyList_Append(names.get(), to_py(name).get()));
    auto* node = static_cast<PyObject*>(const_cast<void*>(with->python));
    PyRef offset = to_py(static_cast<int64_t>(with->line) - to_int(attr(node, "lineno").get(), "line"));
    PyRef made = call(import_attr("broadcloth._objmode", "block_of").get(), {function_.get(), node, offset.get(), names.get()});
    Interpreted b;
    b.callable = keep(PyTuple_GetItem(made.get(), 0));
    const auto texts = [&](Py_ssize_t at, std::vector<std::string>* to) {
      PyObject* list = PyTuple_GetItem(made.get(), at);
      for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) to->emplace_back(as_string(PyList_GetItem(list, i)));
    };
    texts(1, &b.inputs);
    PyObject* outputs = PyTuple_GetItem(made.get(), 2);
    for (Py_ssize_t i = 0; i < PyList_Size(outputs); ++i) {
      PyObject* item = PyList_GetItem(outputs, i);
      b.outputs.emplace_back(as_string(PyTuple_GetItem(item, 0)), type_of_annotation(PyTuple_GetItem(item, 1)));
    }
    texts(3, &b.lost);
    return known[with] = b;
  }

  void set_inline() { force_inline = true; }
  void set_elementwise(PyObject* o) {
    elementwise = true;
    if (PyRef given = attr_or_null(o, "_identity")) identity = constant_of(given.get()).value_or(Constant{});
  }
  void set_gufunc(PyObject* o) {
    gufunc_ = PyRef::borrow(o);
    generalised = true;
  }

 private:
  /// The function that calls a generalised ufunc's core for every core of arrays of these types.
  const Function* loop_of_gufunc(const std::vector<Type>& types, const std::vector<std::string>& names) const {
    const std::tuple key(types, names, true);
    if (const auto it = chosen_.find(key); it != chosen_.end()) return it->second;
    PyRef operands = PyRef::steal(PyList_New(0)), keywords = PyRef::steal(PyList_New(0));
    for (Type t : types) {
      const bool number = t->is_scalar(), array = t->is_array() && t->element->is_scalar();
      PyRef operand = PyRef::borrow(Py_None);
      if (number || array) operand = PyRef::steal(Py_BuildValue("(is)", array ? t->ndim : 0, std::string(info(t->dtype).name).c_str()));
      check(PyList_Append(operands.get(), operand.get()));
    }
    for (const std::string& name : names) check(PyList_Append(keywords.get(), to_py(name).get()));
    PyRef body = call(attr(gufunc_.get(), "_loop_over").get(), {operands.get(), keywords.get()});
    return chosen_[key] = &function_of(keep(body.get()));
  }
  static PyRef target_name(bool host) { return to_py(std::string(host ? "cpu" : "cuda")); }
  /// broadcloth.extending where it was imported: elsewhere nothing was registered.
  static PyObject* extending() {
    static constinit OnceObject modules;
    static std::atomic<PyObject*> known{nullptr};
    if (PyObject* module = known.load(std::memory_order_acquire)) return module;
    PyObject* loaded = modules.make([] { return import_attr("sys", "modules"); });
    PyRef module = PyRef::maybe(PyObject_GetItem(loaded, to_py("broadcloth.extending").get()));
    if (!module) {
      PyErr_Clear();
      return nullptr;
    }
    known.store(new_ref(module.get()), std::memory_order_release);
    return known;
  }
  static std::pair<PyRef, PyRef> described(const std::vector<Type>& types, const std::vector<std::string>& names) {
    PyRef arguments = PyRef::steal(PyList_New(0)), keywords = PyRef::steal(PyList_New(0));
    for (Type t : types) {
      PyRef handle = PyRef::steal(PyCapsule_New(const_cast<TypeInfo*>(t), "broadcloth.kernel_type", nullptr));
      check(PyList_Append(arguments.get(), handle.get()));
    }
    for (const std::string& name : names) check(PyList_Append(keywords.get(), to_py(name).get()));
    return {std::move(arguments), std::move(keywords)};
  }

  PyRef function_, globals_, gufunc_;
  mutable std::map<std::tuple<std::vector<Type>, std::vector<std::string>, bool>, const Function*> chosen_;
  std::vector<std::pair<std::string, PyRef>> cells_;
};

}  // namespace

const Function& function_of(PyObject* o) {
  PyRef inner;
  bool force_inline = false;
  PyObject* declared = jit::is_dispatcher(o) && jit::as_dispatcher(o)->closed ? o : nullptr;
  PyRef signatures;  // of a device function
  std::string kind;  // "elementwise" or "generalised": what vectorize and guvectorize made
  if (!is_function(o)) {
    if (!declared && (signatures = attr_or_null(o, "_signatures")) && PyList_Check(signatures.get()) && PyList_Size(signatures.get()) > 0)
      declared = o;
    kind = string_attr(o, "__kernel_kind__");
    if (!kind.empty() && !declared) declared = o;
    inner = attr_or_null(o, "__compiled_as__");
    if (!inner) inner = attr_or_null(o, "py_func");
    if (!inner) raise(ErrorKind::Type, "expected a Python function, got {}", type_name(o));
    if (PyRef flag = attr_or_null(o, "_force_inline")) force_inline = PyObject_IsTrue(flag.get()) == 1;
    o = inner.get();
  }
  static auto& known = *new std::unordered_map<PyObject*, std::unique_ptr<PythonFunction>>;
  const PyLock lock(compiler_lock());
  PyObject* const key = declared ? declared : o;  // the function itself may be compiled for any types
  if (!known.contains(key)) {
    auto made = std::make_unique<PythonFunction>(o);  // may throw, and may need itself
    if (declared) keep(declared);
    if (kind == "elementwise") made->set_elementwise(declared);
    if (kind == "generalised") made->set_gufunc(declared);
    known.try_emplace(key, std::move(made));
  }
  auto& f = *known.at(key);
  if (declared && jit::is_dispatcher(declared)) {
    f.declared = jit::declared_signatures(declared);
  } else if (declared && signatures && PyList_Check(signatures.get()) &&
             f.declared.size() != static_cast<size_t>(PyList_Size(signatures.get()))) {
    f.declared.clear();
    for (Py_ssize_t i = 0; i < PyList_Size(signatures.get()); ++i)
      f.declared.push_back(signature_of_object(PyList_GetItem(signatures.get(), i)));
  }
  if (force_inline) f.set_inline();
  return f;
}

CompiledFunction compile_function(PyObject* function, const std::vector<Type>& arguments, const CompileOptions& options) {
  const PyLock lock(compiler_lock());
  return compile(function_of(function), arguments, options);
}

namespace {

/// The types of what a program names, kind by kind: each gives nullptr where the object is of another one.
using EntityType = Type (*)(PyObject*);

Type dtype_entity(PyObject* o) {
  if (PyObject_TypeCheck(o, state().own_dtype_type)) return dtype_type(scalar_type(to_dtype(o)));
  return PyType_IsSubtype(Py_TYPE(o), state().np_dtype) ? dtype_type(type_of_dtype(o)) : nullptr;
}

/// Our own objects that say what they are.
Type marked_entity(PyObject* o) {
  if (const std::string known = string_attr(o, "__kernel_name__"); !known.empty()) return builtin_type(known);
  if (const PyRef handle = attr_or_null(o, "__kernel_handle__"))
    return dtype_type(static_cast<Type>(PyCapsule_GetPointer(handle.get(), "broadcloth.kernel_type")));
  return attr_or_null(o, "__kernel_parts__") || attr_or_null(o, "__kernel_deferred__") ? dtype_type(type_of_annotation(o)) : nullptr;
}

/// The one description of a function that is called as C calls it; `fill` makes it when the object is new.
template <class Fill>
kernels::ForeignFunction* foreign_function(PyObject* o, const Fill& fill) {
  static auto& known = *new std::unordered_map<PyObject*, kernels::ForeignFunction*>;
  kernels::ForeignFunction*& f = known[keep(o)];
  if (!f) {
    auto made = std::make_unique<kernels::ForeignFunction>();
    fill(*made);
    f = made.release();
  }
  return f;
}

Type declared_entity(PyObject* o) {
  const PyRef foreign = attr_or_null(o, "__foreign_function__");
  if (!foreign) return nullptr;
  const auto part = [&](Py_ssize_t i) { return PyTuple_GetItem(foreign.get(), i); };
  kernels::ForeignFunction* f = foreign_function(o, [&](kernels::ForeignFunction& made) {
    made.symbol = std::string(as_string(part(0)));
    made.signature = signature_of_object(part(1));
    made.c_abi = as_string(part(2)) == "c";
    made.cooperative = PyObject_IsTrue(part(3)) == 1;
  });
  f->linked = linked_code(part(4));  // a file may have been edited
  return foreign_type(f, f->symbol);
}

Type named_type_entity(PyObject* o) {
  const std::string spelled = string_attr(o, "__kernel_type__");
  return spelled.empty() ? nullptr : dtype_type(parse_type(spelled));
}

/// A function of ctypes; objects that are none have such attributes, too.
Type ctypes_entity(PyObject* o) {
  if (!attr_or_null(o, "argtypes") || !attr_or_null(o, "restype")) return nullptr;
  const PyRef described = call(import_attr("broadcloth._callbacks", "described").get(), {o});
  if (described.get() == Py_None) return nullptr;
  const auto part = [&](Py_ssize_t i) { return PyTuple_GetItem(described.get(), i); };
  kernels::ForeignFunction* f = foreign_function(o, [](kernels::ForeignFunction& made) { made.c_abi = true; });
  f->symbol = std::string(as_string(part(0)));
  f->signature = signature_of_object(part(1));
  f->address = PyLong_AsVoidPtr(part(2));
  return foreign_type(f, f->symbol);
}

Type function_entity(PyObject* o) {
  if (!is_function(o)) return nullptr;
  const std::string module = string_attr(o, "__module__"), name = string_attr(o, "__name__");
  // Our own functions that stand for NumPy's.
  if (module.starts_with("broadcloth._") && !module.starts_with("broadcloth._overloads")) return builtin_type("numpy." + name);
  const bool numpy = is_in(defining_module(o), "numpy");
  if (numpy || is_in(module, "numpy")) {
    std::string known = numpy_name(o);
    if (known.empty() && numpy) known = module + "." + name;  // one that the compiler does not know
    if (!known.empty()) return builtin_type(known);
  }
  if (module == "heapq") return builtin_type("heapq." + name);
  const Function& f = function_of(o);
  return function_type(&f, f.name());
}

Type ufunc_entity(PyObject* o) {
  const bool ufunc = Py_TYPE(o) == state().ufunc;
  if (!ufunc && std::string_view(type_name(o)) != "ufunc" && std::string_view(type_name(o)) != "_ArrayFunctionDispatcher") return nullptr;
  if (attr_or_null(o, "py_func")) return nullptr;
  const std::string name = string_attr(o, "__name__");
  const std::string known = ufunc || is_attribute("scipy.special", name, o) ? "numpy." + name : numpy_name(o);
  return builtin_type(known.empty() ? string_attr(o, "__module__") + ".(" + std::string(type_name(o)) + ")." + name : known);
}

/// Methods of the generators behind numpy.random and random, and of cffi's libraries.
Type method_entity(PyObject* o) {
  if (std::string_view(type_name(o)) == "cython_function_or_method" && is_in(string_attr(o, "__module__"), "numpy.random") &&
      !attr_or_null(o, "__self__"))
    return builtin_type("numpy.random." + string_attr(o, "__name__"));
  const PyRef self = attr_or_null(o, "__self__");
  if (!self || PyModule_Check(self.get())) return nullptr;
  const std::string_view owner = type_name(self.get());
  const std::string name = string_attr(o, "__name__");
  if ((owner == "FFI" || owner == "CompiledFFI") && name == "from_buffer") return builtin_type("cuda.ffi.from_buffer");
  if (owner == "Generator") return object_type(keep(o), type_name(o));
  if (owner == "RandomState" || owner == "Random") return builtin_type((owner == "Random" ? "random." : "numpy.random.") + name);
  return nullptr;
}

Type c_function_entity(PyObject* o) {
  if (!PyCFunction_Check(o)) return nullptr;
  std::string module = string_attr(o, "__module__");
  const std::string name = string_attr(o, "__name__"), known = is_in(module, "numpy") ? numpy_name(o) : "";
  if (!known.empty()) return builtin_type(known);
  if (module == "_operator" || module == "_functools") module.erase(0, 1);
  if (is_in(module, "broadcloth")) module = "numpy";
  return builtin_type(module + "." + name);
}

Type compiled_entity(PyObject* o) {
  if (!attr_or_null(o, "py_func")) return nullptr;
  const Function& f = function_of(o);
  return function_type(&f, f.name());
}

constexpr EntityType kEntityTypes[] = {dtype_entity,    marked_entity, declared_entity, named_type_entity, ctypes_entity,
                                       function_entity, ufunc_entity,  method_entity,   c_function_entity, compiled_entity};

/// A number, text or tuple as a constant.
Entity constant_entity(PyObject* o, Constant constant) {
  Entity e;
  e.constant = std::move(constant);
  if (is_numpy_scalar(o)) e.type = scalar_type(to_dtype(PyRef::steal(PyObject_GetAttr(o, state().names.dtype)).get()));
  if (!PyTuple_Check(o) || is_exact(o, &PyTuple_Type)) return e;
  std::vector<std::string> fields = tuple_fields(reinterpret_cast<PyObject*>(Py_TYPE(o)));
  if (fields.empty()) return e;
  std::vector<Type> items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) items.push_back(type_of(PyTuple_GetItem(o, i)));
  e.type = named_tuple_type(keep(reinterpret_cast<PyObject*>(Py_TYPE(o))), type_name(o), std::move(fields), items);
  return e;
}

Entity constant_array_entity(Type element, std::vector<int64_t> shape, PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t n = 0;
  check(PyBytes_AsStringAndSize(bytes, &data, &n));
  Entity e;
  e.type = array_type(element, static_cast<int>(shape.size()), 'C', true, Space::constant);
  e.array = std::make_shared<ConstantArray>(ConstantArray{std::move(shape), std::vector<char>(data, data + n)});
  return e;
}

/// The elements that a NumPy array holds now.
Entity frozen_entity(PyObject* o) {
  std::vector<int64_t> shape;
  const PyRef extents = attr(o, "shape");
  for (Py_ssize_t i = 0; i < PyTuple_Size(extents.get()); ++i) shape.push_back(PyLong_AsLongLong(PyTuple_GetItem(extents.get(), i)));
  if (shape.empty()) return entity_of(PyRef::steal(PyObject_CallMethodObjArgs(o, state().names.item, nullptr)).get());
  const Type element = type_of_dtype(PyRef::steal(PyObject_GetAttr(o, state().names.dtype)).get());
  const PyRef bytes = PyRef::steal(PyObject_CallMethod(o, "tobytes", nullptr));
  if (const Py_ssize_t n = PyBytes_Size(bytes.get()); n > (1 << 20))
    raise(ErrorKind::Typing, "a global array of {} bytes is too large to become a constant of a compiled function; pass it as an argument",
          n);
  return constant_array_entity(element, std::move(shape), bytes.get());
}

}  // namespace

namespace {
/// Of a member of an enumeration; nullptr for other objects.
Type type_of_member(PyObject* o) {
  PyObject* cls = reinterpret_cast<PyObject*>(Py_TYPE(o));
  const PyRef members = attr_or_null(cls, "__members__");
  if (!members) return nullptr;
  PyRef items = PyRef::steal(PyMapping_Items(members.get()));
  std::vector<std::string> names;
  int64_t place = -1;
  std::string name;
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject* item = PyList_GetItem(items.get(), i);
    names.emplace_back(as_string(PyTuple_GetItem(item, 0)));
    if (place < 0 && PyTuple_GetItem(item, 1) == o) place = i, name = names.back();
  }
  if (place < 0) return nullptr;
  const bool by_identity = attr(cls, "__eq__").get() == attr(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__eq__").get();
  return member_type(keep(o), name, enumeration_type(keep(cls), string_attr(cls, "__name__"), std::move(names), by_identity), place);
}
}  // namespace

Entity entity_of(PyObject* o) {
  Entity e;
  if (PyModule_Check(o)) {
    std::string name = string_attr(o, "__name__");
    e.type = module_type(keep(o), std::move(name));
    return e;
  }
  if (PyType_Check(o)) {
    e.type = type_of_class(o);
    return e;
  }
  if (const auto time = jit::time_scalar(o)) {
    e.type = scalar_type(time->second);
    e.constant = Constant{time->first};
    return e;
  }
  if (auto c = constant_of(o)) return constant_entity(o, std::move(*c));
  if (is_exact(o, &PyTuple_Type)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) e.items.push_back(entity_of(PyTuple_GetItem(o, i)));
    return e;
  }
  for (const EntityType kind : kEntityTypes)
    if ((e.type = kind(o))) return e;
  if (void* bits = random_generator(o)) {
    e.type = random_generator_type();
    keep(o);
    e.address = bits;
    return e;
  }
  if (is_array(o)) {
    const Array& a = array_of(o);
    e.type = type_of_array(a.dtype(), a.shape(), a.strides(), as_py_array(o)->read_only);
    e.captured = shared_object(o);
    e.frozen = [object = e.captured] {
      return entity_of(to_numpy(array_of(static_cast<PyObject*>(const_cast<void*>(object.get())))).get());
    };
    return e;
  }
  if (is_record_array(o)) {
    e.type = type_of(o);
    e.captured = shared_object(o);
    return e;
  }
  if (PyBytes_Check(o)) {
    Entity bytes = constant_array_entity(scalar_type(DType::u8), {PyBytes_Size(o)}, o);
    bytes.type = kernels::bytes_type();
    return bytes;
  }
  if (is_numpy_array(o)) return frozen_entity(o);
  if (attr_or_null(o, "__cuda_array_interface__")) {
    // Of another library.
    if (const auto a = import_foreign(o)) {
      e.type = type_of_array(a->dtype(), a->shape(), a->strides(), storage_facts(*a).read_only);
      e.captured = shared_object(o);
      return e;
    }
  }
  if (const Type member = type_of_member(o))
    e.type = member;
  else
    e.type = object_type(keep(o), type_name(o));
  return e;
}

Type type_of_array(DType dtype, const Dims& shape, const Dims& strides, bool read_only) {
  const int n = static_cast<int>(shape.size());
  bool c = true, f = true;
  int64_t expected = 1;
  for (int i = n - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) c = false;
    expected *= shape[i];
  }
  expected = 1;
  for (int i = 0; i < n; ++i) {
    if (shape[i] != 1 && strides[i] != expected) f = false;
    expected *= shape[i];
  }
  if (is_time(dtype)) return array_type(scalar_type(dtype), n, c ? 'C' : f ? 'F' : 'A', read_only);
  // The types of plain arrays, without a lookup by text.
  static std::atomic<Type> table[kDTypeCount][5][3][2] = {};
  const int layout = c ? 0 : f ? 1 : 2;
  if (n < 5) {
    std::atomic<Type>& place = table[static_cast<int>(dtype)][n][layout][read_only];
    Type known = place.load(std::memory_order_acquire);
    if (!known) place.store(known = array_type(scalar_type(dtype), n, "CFA"[layout], read_only), std::memory_order_release);
    return known;
  }
  return array_type(scalar_type(dtype), n, "CFA"[layout], read_only);
}

Type type_of(PyObject* o) {
  if (is_array(o)) {
    const Array& a = array_of(o);
    return type_of_array(a.dtype(), a.shape(), a.strides(), as_py_array(o)->read_only);
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow < 0) throw_python(PyExc_OverflowError, "int too large for a compiled function's int64");
    return overflow ? scalar_type(DType::u64) : int64_type();
  }
  if (PyFloat_CheckExact(o)) return float64_type();
  if (PyBool_Check(o)) return bool_type();
  if (o == Py_None) return none_type();
  for (int i = 0; i < kDTypeCount; ++i)
    if (state().scalar_types[i] == reinterpret_cast<PyObject*>(Py_TYPE(o))) return scalar_type(static_cast<DType>(i));
  if (PyFloat_Check(o)) return float64_type();
  if (PyLong_Check(o)) return int64_type();
  if (PyComplex_Check(o)) return scalar_type(DType::c128);
  if (PyTuple_Check(o)) {
    std::vector<Type> items;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) items.push_back(type_of(PyTuple_GetItem(o, i)));
    if (!is_exact(o, &PyTuple_Type)) {
      std::vector<std::string> fields = tuple_fields(reinterpret_cast<PyObject*>(Py_TYPE(o)));
      if (!fields.empty()) return named_tuple_type(keep(reinterpret_cast<PyObject*>(Py_TYPE(o))), type_name(o), std::move(fields), items);
    }
    return tuple_type(items);
  }
  if (is_numpy_array(o)) {
    PyRef dtype = PyRef::steal(PyObject_GetAttr(o, state().names.dtype));
    const Type element = type_of_dtype(dtype.get());
    PyRef flags = attr(o, "flags");
    const auto flag = [&](const char* name) {
      return PyObject_IsTrue(PyRef::steal(PyObject_GetItem(flags.get(), to_py(name).get())).get()) == 1;
    };
    const int ndim = static_cast<int>(to_int(attr(o, "ndim").get(), "ndim"));
    return array_type(element, ndim, flag("C_CONTIGUOUS") ? 'C' : flag("F_CONTIGUOUS") ? 'F' : 'A', !flag("WRITEABLE"));
  }
  if (is_record_array(o)) {
    const RecordParts p = record_parts(o);
    return array_type(type_of_dtype(p.dtype), static_cast<int>(p.shape.size()), p.layout);
  }
  if (random_generator(o)) return random_generator_type();
  if (is_slice(o)) return slice_type(slice_parts(o).given);
  if (PyBytes_Check(o)) return kernels::bytes_type();
  if (is_buffer(o)) return type_of(array_over(o).get());
  if (is_numpy_scalar(o)) return type_of_dtype(PyRef::steal(PyObject_GetAttr(o, state().names.dtype)).get());
  if (PyUnicode_Check(o)) return string_type(std::string(as_string(o)));
  if (PyList_Check(o) || PyAnySet_Check(o) || jit::is_typed(o)) return jit::container_type(o);
  PyObject* cls = reinterpret_cast<PyObject*>(Py_TYPE(o));
  if (attr_or_null(cls, "__dataclass_fields__")) return type_of_dataclass(cls, o);
  const Entity e = entity_of(o);
  if (e.type && !e.type->is(Kind::object) && !e.array) return e.type;
  // A member of an enumeration: code compares it with others.
  if (attr_or_null(cls, "__members__")) return e.type;
  raise(ErrorKind::Type,
        "a compiled function cannot take an argument of type {}; it takes numbers, arrays, texts, lists, sets, tuples of them, dataclasses "
        "and "
        "objects of a jitclass",
        type_name(o));
}

void* random_generator(PyObject* o) {
  if (std::string_view(type_name(o)) != "Generator") return nullptr;
  PyRef bits = attr_or_null(o, "bit_generator");
  PyRef capsule = bits ? attr_or_null(bits.get(), "capsule") : PyRef();
  if (!capsule || !PyCapsule_IsValid(capsule.get(), "BitGenerator")) return nullptr;
  return PyCapsule_GetPointer(capsule.get(), "BitGenerator");
}

PyObject* record_dtype(Type t) {
  {
    const std::lock_guard lock(record_types_mutex);
    const auto known = record_types.dtype_of.find(t);
    if (known != record_types.dtype_of.end()) return known->second;
  }
  if (!is_characters(t)) return nullptr;
  PyObject* const made = keep(call(import_attr("numpy", "dtype").get(), {to_py(t->name).get()}).get());
  const std::lock_guard lock(record_types_mutex);
  return record_types.dtype_of.emplace(t, made).first->second;
}

SliceParts slice_parts(PyObject* slice) {
  SliceParts parts;
  constexpr const char* kNames[] = {"start", "stop", "step"};
  for (int i = 0; i < 3; ++i) {
    PyRef bound = attr(slice, kNames[i]);
    if (bound.get() == Py_None) continue;
    parts.given |= 1 << i;
    parts.bounds[i] = to_int(bound.get(), "slice");
  }
  return parts;
}

bool is_buffer(PyObject* o) {
  if (PyBytes_Check(o) || PyByteArray_Check(o) || PyMemoryView_Check(o)) return true;
  return std::string_view(type_name(o)) == "array" && string_attr(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__module__") == "array";
}

PyRef array_over(PyObject* buffer) {
  if (!PyBytes_Check(buffer) && !PyByteArray_Check(buffer)) return call(import_attr("numpy", "asarray").get(), {buffer});
  return call(import_attr("numpy", "frombuffer").get(),
              {buffer, reinterpret_cast<PyObject*>(state().scalar_types[static_cast<int>(DType::u8)])});
}

/// A type that no text says, of a family and its parts (types._Composed).
static Type type_of_parts(PyObject* family, PyObject* parts) {
  std::vector<Type> types;
  for (Py_ssize_t i = 0; i < PyTuple_Size(parts); ++i) types.push_back(type_of_annotation(PyTuple_GetItem(parts, i)));
  const std::string_view name = as_string(family);
  if (name == "Optional") return optional_type(types[0]);
  if (name == "list" || name == "ListType") return list_type(types[0], name == "ListType");
  if (name == "set") return set_type(types[0]);
  if (name == "DictType") return dict_type(types[0], types[1]);
  return tuple_type(types);
}

Type type_of_annotation(PyObject* o) {
  if (o == Py_None) return none_type();
  if (const PyRef parts = attr_or_null(o, "__kernel_parts__"))
    return type_of_parts(PyTuple_GetItem(parts.get(), 0), PyTuple_GetItem(parts.get(), 1));
  if (attr_or_null(o, "__kernel_deferred__")) return type_of_annotation(PyRef::steal(PyObject_CallMethod(o, "get", nullptr)).get());
  if (PyUnicode_Check(o)) return parse_type(as_string(o));
  if (PyCapsule_IsValid(o, "broadcloth.kernel_type")) return static_cast<Type>(PyCapsule_GetPointer(o, "broadcloth.kernel_type"));
  if (const PyRef handle = attr_or_null(o, "__kernel_handle__")) return type_of_annotation(handle.get());
  const std::string spelled = string_attr(o, "__kernel_type__");
  if (!spelled.empty()) return parse_type(spelled);
  if (PyTuple_Check(o)) {
    std::vector<Type> items;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) items.push_back(type_of_annotation(PyTuple_GetItem(o, i)));
    return tuple_type(items);
  }
  const Entity e = entity_of(o);
  if (e.type && (e.type->is(Kind::dtype) || e.type->is(Kind::type)) && e.type->element) return e.type->element;
  // A C++ type of ours: a wrapped Type (types.Array …) has __kernel_type__; other objects are no types.
  raise(ErrorKind::Type, "expected a type (broadcloth.types.float32, \"float32[:]\", a dtype), got {}", type_name(o));
}

FunctionSignature signature_of_object(PyObject* o) {
  FunctionSignature s;
  if (PyUnicode_Check(o)) return parse_signature(as_string(o));
  PyRef result = attr_or_null(o, "__kernel_result__");
  if (result) {
    s.result = type_of_annotation(result.get());
    o = PyRef(attr(o, "__kernel_arguments__")).release();
  }
  if (!PyTuple_Check(o) && !PyList_Check(o))
    raise(ErrorKind::Type, "expected a signature (a string, a tuple of types, or a type that is called), got {}", type_name(o));
  PyRef items = PyRef::steal(PySequence_Tuple(o));
  for (Py_ssize_t i = 0; i < PyTuple_Size(items.get()); ++i) s.arguments.push_back(type_of_annotation(PyTuple_GetItem(items.get(), i)));
  return s;
}

// ---- values as bytes --------------------------------------------------------------------------------------------------------------

void store_value(PyObject* o, Type t, void* to) {
  switch (t->kind) {
    case Kind::time: {
      const auto time = jit::time_scalar(o);
      if (!time || time->second != t->dtype) raise(ErrorKind::Type, "expected {}, got {}", t->spelling, type_name(o));
      std::memcpy(to, &time->first, sizeof time->first);
      return;
    }
    case Kind::scalar: {
      if (is_numpy_scalar(o)) {
        Scalar s;
        PyRef item = PyRef::steal(PyObject_CallMethodObjArgs(o, state().names.item, nullptr));
        return store_value(item.get(), t, to);
      }
      if (is_array(o)) {
        look(array_of(o)).store(t->dtype, to);
        return;
      }
      const auto value = python_scalar(o);
      if (!value) {
        PyRef number = PyRef::steal(PyNumber_Float(o));
        Scalar::real(PyFloat_AsDouble(number.get())).store(t->dtype, to);
        return;
      }
      if (is_complex(value->second.dtype) && !is_complex(t->dtype))
        raise(ErrorKind::Type, "expected {}, got a complex number", t->spelling);
      value->second.store(t->dtype, to);
      return;
    }
    case Kind::tuple: {
      if (!PyTuple_Check(o) || PyTuple_Size(o) != static_cast<Py_ssize_t>(t->items.size()))
        raise(ErrorKind::Type, "expected {}, got {}", t->spelling, type_name(o));
      for (size_t i = 0; i < t->items.size(); ++i)
        if (t->items[i]->has_value())
          store_value(PyTuple_GetItem(o, static_cast<Py_ssize_t>(i)), t->items[i], static_cast<char*>(to) + t->offsets[i]);
      return;
    }
    case Kind::record: {
      if (is_characters(t)) raise(ErrorKind::Type, "{} is not passed by value", t->spelling);
      if (is_numpy_scalar(o)) {
        Py_buffer view;
        check(PyObject_GetBuffer(o, &view, PyBUF_SIMPLE));
        std::memcpy(to, view.buf, std::min<size_t>(static_cast<size_t>(view.len), t->bytes));
        PyBuffer_Release(&view);
        return;
      }
      for (size_t i = 0; i < t->items.size(); ++i)
        store_value(attr(o, t->fields[i].c_str()).get(), t->items[i], static_cast<char*>(to) + t->offsets[i]);
      return;
    }
    case Kind::optional: {
      auto* there = static_cast<char*>(to) + t->element->bytes;
      *there = o != Py_None;
      if (o != Py_None) store_value(o, t->element, to);
      return;
    }
    default: raise(ErrorKind::Type, "{} has no value at run time", t->spelling);
  }
}

/// A record with NumPy's dtype; a tuple of its values where no dtype of it was seen.
static PyRef record_of(Type t, const void* from, PyRef values) {
  PyObject* descr = record_dtype(t);
  if (!descr) return values;
  PyRef bytes = PyRef::steal(PyByteArray_FromStringAndSize(static_cast<const char*>(from), t->bytes));
  PyRef array = call(import_attr("numpy", "ndarray").get(), {PyRef::steal(PyTuple_New(0)).get(), descr, bytes.get()});
  return PyRef::steal(PyObject_GetItem(array.get(), PyRef::steal(PyTuple_New(0)).get()));
}

static PyRef load_characters(Type t, const char* from) {
  const auto unit = static_cast<uint32_t>(t->value);
  uint32_t bytes = t->bytes;
  while (bytes && std::all_of(from + bytes - unit, from + bytes, [](char c) { return c == 0; })) bytes -= unit;
  int order = std::endian::native == std::endian::little ? -1 : 1;
  return PyRef::steal(is_wide(t) ? PyUnicode_DecodeUTF32(from, bytes, "replace", &order) : PyBytes_FromStringAndSize(from, bytes));
}

PyRef load_value(Type t, const void* from) {
  switch (t->kind) {
    case Kind::none: return PyRef::borrow(Py_None);
    case Kind::scalar: return to_python(Scalar::load(t->dtype, from), t->dtype);
    case Kind::time: return jit::box_time(t->dtype, from);
    case Kind::tuple: {
      PyRef made = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(t->items.size())));
      for (size_t i = 0; i < t->items.size(); ++i)
        check(PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i),
                              load_value(t->items[i], static_cast<const char*>(from) + t->offsets[i]).release()));
      if (!t->object) return made;
      return PyRef::steal(PyObject_Call(static_cast<PyObject*>(const_cast<void*>(t->object)), made.get(), nullptr));
    }
    case Kind::record: {
      if (is_characters(t)) return load_characters(t, static_cast<const char*>(from));
      PyRef values = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(t->items.size())));
      for (size_t i = 0; i < t->items.size(); ++i)
        check(PyTuple_SetItem(values.get(), static_cast<Py_ssize_t>(i),
                              load_value(t->items[i], static_cast<const char*>(from) + t->offsets[i]).release()));
      if (!t->object) return record_of(t, from, std::move(values));
      return PyRef::steal(PyObject_Call(static_cast<PyObject*>(const_cast<void*>(t->object)), values.get(), nullptr));
    }
    case Kind::optional: return static_cast<const char*>(from)[t->element->bytes] ? load_value(t->element, from) : PyRef::borrow(Py_None);
    case Kind::string: return to_py(t->name);
    default: raise(ErrorKind::Type, "{} is no value that Python can have", t->spelling);
  }
}

}  // namespace bc::bind
