#include "bind/jit_containers.h"

#include <cstring>

#include "bind/args.h"
#include "bind/convert.h"
#include "bind/kernels.h"

namespace bc::bind::jit {
namespace {

using kernels::Kind;
using kernels::Type;

struct PyContainer {
  PyObject_HEAD host::Block* block;
  Type type;
};
PyTypeObject* container_class = nullptr;
PyContainer* as_container(PyObject* o) { return reinterpret_cast<PyContainer*>(o); }

/// py::ListBody.
struct ListBody {
  host::Shared head;
  host::Block* memory;
  int64_t size, room;
  host::Block* outgrown;
};
/// py::Str.
struct Text {
  host::Block* owner;
  const char* data;
  int64_t size, length;
};

/// Where a value of compiled code lies in memory: arrays carry their owner there.
struct Place {
  size_t size, alignment;
};
size_t align(size_t at, size_t alignment) { return (at + alignment - 1) / alignment * alignment; }
Place place_of(Type t) {
  switch (t->kind) {
    case Kind::array: return {static_cast<size_t>(16 + 16 * t->ndim), 8};
    case Kind::text: return {sizeof(Text), 8};
    case Kind::list:
    case Kind::set:
    case Kind::instance:
    case Kind::dict: return {8, 8};
    case Kind::tuple: {
      Place p{0, 1};
      for (Type item : t->items) {
        if (!item->has_value()) continue;
        const Place i = place_of(item);
        p.size = align(p.size, i.alignment) + i.size;
        p.alignment = std::max(p.alignment, i.alignment);
      }
      return {align(std::max<size_t>(p.size, 1), p.alignment), p.alignment};
    }
    default: return {t->bytes, t->alignment};
  }
}

/// The members of a tuple with their places.
template <class F>
void each_item(Type t, char* at, const F& f) {
  size_t offset = 0;
  for (size_t i = 0; i < t->items.size(); ++i) {
    const Type item = t->items[i];
    if (!item->has_value()) {
      f(i, item, static_cast<char*>(nullptr));
      continue;
    }
    const Place p = place_of(item);
    offset = align(offset, p.alignment);
    f(i, item, at + offset);
    offset += p.size;
  }
}

/// Gives back what a value holds.
void end_value(Type t, char* at) {
  switch (t->kind) {
    case Kind::array: {
      host::Block* owner;
      std::memcpy(&owner, at + 8 + 16 * t->ndim, sizeof owner);
      if (owner) host::drop(owner);
      return;
    }
    case Kind::text: {
      const auto* s = reinterpret_cast<Text*>(at);
      if (s->owner) host::drop(s->owner);
      return;
    }
    case Kind::list:
    case Kind::set:
    case Kind::instance:
    case Kind::dict: {
      host::Block* block;
      std::memcpy(&block, at, sizeof block);
      host::drop_shared(block);
      return;
    }
    case Kind::tuple:
      each_item(t, at, [](size_t, Type item, char* place) {
        if (place) end_value(item, place);
      });
      return;
    default: return;
  }
}

ListBody* body_of(host::Block* block) { return static_cast<ListBody*>(block->data()); }
/// A list made here keeps its element's type behind its body.
Type* element_place(host::Block* block) { return reinterpret_cast<Type*>(static_cast<char*>(block->data()) + sizeof(ListBody)); }

void end_list(host::Block* block) {
  ListBody* b = body_of(block);
  const Type element = *element_place(block);
  const size_t step = place_of(element).size;
  for (int64_t i = 0; i < b->size; ++i) end_value(element, static_cast<char*>(b->memory->data()) + static_cast<size_t>(i) * step);
  if (b->memory) host::drop(b->memory);
  for (host::Block* m = b->outgrown; m != nullptr;) host::drop(std::exchange(m, m->next));
  host::table().release(block);
}
/// Shares the objects in a value.
void share_value(Type t, char* at) {
  if (t->is(Kind::list) || t->is(Kind::set) || t->is(Kind::instance) || t->is(Kind::dict)) {
    host::Block* block;
    std::memcpy(&block, at, sizeof block);
    host::share(block);
  } else if (t->is(Kind::tuple)) {
    each_item(t, at, [](size_t, Type item, char* place) {
      if (place) share_value(item, place);
    });
  }
}
void share_list(host::Block* block) {
  ListBody* b = body_of(block);
  const Type element = *element_place(block);
  const size_t step = place_of(element).size;
  for (int64_t i = 0; i < b->size; ++i) share_value(element, static_cast<char*>(b->memory->data()) + static_cast<size_t>(i) * step);
}

Type item_type(PyObject* o) {
  if (PyUnicode_Check(o)) return kernels::text_type();
  if (PyList_Check(o) || is_typed(o)) return container_type(o);
  if (PyTuple_Check(o)) {
    if (!is_exact(o, &PyTuple_Type)) return type_of(o);
    std::vector<Type> items;
    for (Py_ssize_t i = 0; i < PyTuple_Size(o); ++i) items.push_back(item_type(PyTuple_GetItem(o, i)));
    return kernels::tuple_type(items);
  }
  return type_of(o);
}

void put_item(PyObject* o, Type t, char* at, Frame* frame) {
  switch (t->kind) {
    case Kind::text: {
      Py_ssize_t size = 0;
      const char* data = PyUnicode_AsUTF8AndSize(o, &size);
      if (!data) throw PythonError();
      Text s{host::new_block(std::max<Py_ssize_t>(size, 1)), nullptr, size, PyUnicode_GetLength(o)};
      std::memcpy(s.owner->data(), data, static_cast<size_t>(size));
      s.data = static_cast<const char*>(s.owner->data());
      std::memcpy(at, &s, sizeof s);
      return;
    }
    case Kind::list: {
      host::Block* block;
      if (is_typed(o)) {
        block = typed_block(o);
        frame->note_object(block);
      } else {
        block = frame->list_block(o, t);
      }
      host::hold(block);
      std::memcpy(at, &block, sizeof block);
      return;
    }
    case Kind::instance:
    case Kind::dict: {
      host::Block* block = typed_block(o);
      frame->note_object(block);
      host::hold(block);
      std::memcpy(at, &block, sizeof block);
      return;
    }
    case Kind::array: {
      frame->put_array_at(o, at);
      host::Block* none = nullptr;
      std::memcpy(at + 8 + 16 * t->ndim, &none, sizeof none);
      return;
    }
    case Kind::tuple:
      if (!PyTuple_Check(o) || PyTuple_Size(o) != static_cast<Py_ssize_t>(t->items.size()))
        raise(ErrorKind::Type, "expected {}, got {}", t->spelling, type_name(o));
      each_item(t, at, [&](size_t i, Type item, char* place) {
        if (place) put_item(PyTuple_GetItem(o, static_cast<Py_ssize_t>(i)), item, place, frame);
      });
      return;
    default: store_value(o, t, at);
  }
}

PyRef box_item(Type t, const char* at, const Frame& frame, host::Call* call) {
  switch (t->kind) {
    case Kind::none: return PyRef::borrow(Py_None);
    case Kind::scalar: return box_scalar(t->dtype, at);
    case Kind::text: {
      Text s;
      std::memcpy(&s, at, sizeof s);
      return PyRef::steal(PyUnicode_DecodeUTF8(s.data, static_cast<Py_ssize_t>(s.size), "replace"));
    }
    case Kind::list: {
      host::Block* block;
      std::memcpy(&block, at, sizeof block);
      if (PyObject* given = frame.list_of(block)) return PyRef::borrow(given);
      if (!t->typed) return box_list(block, t->element, frame, call);
      host::hold(block);
      return box_typed(block, t);
    }
    case Kind::instance:
    case Kind::dict: {
      host::Block* block;
      std::memcpy(&block, at, sizeof block);
      host::hold(block);
      return box_typed(block, t);
    }
    case Kind::array: {
      Box plan;
      plan.kind = Box::Kind::array;
      plan.dtype = t->dtype;
      plan.ndim = t->ndim;
      plan.read_only = t->read_only;
      plan.record = !t->element->is_single();
      plan.bytes_object = is_bytes(t);
      host::Block* owner;
      std::memcpy(&owner, at + 8 + 16 * t->ndim, sizeof owner);
      return box_array(plan, at, frame, call, owner);
    }
    case Kind::tuple: {
      PyRef made = PyRef::steal(PyTuple_New(static_cast<Py_ssize_t>(t->items.size())));
      each_item(t, const_cast<char*>(at), [&](size_t i, Type item, char* place) {
        check(PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i),
                              (place ? box_item(item, place, frame, call) : load_value(item, nullptr)).release()));
      });
      if (t->fields.empty()) return made;
      return PyRef::steal(PyObject_CallObject(static_cast<PyObject*>(const_cast<void*>(t->object)), made.get()));
    }
    case Kind::optional: {
      if (!at[place_of(t->element).size]) return PyRef::borrow(Py_None);
      return box_item(t->element, at, frame, call);
    }
    default: return load_value(t, at);
  }
}

}  // namespace

bool is_typed(PyObject* o) { return container_class && PyObject_TypeCheck(o, container_class); }

Type container_type(PyObject* o) {
  if (is_typed(o)) {
    const Type t = as_container(o)->type;
    if (!t)
      raise(ErrorKind::Type,
            "a typed container needs a type before a compiled function takes it: put something in, or use typed.List.empty_list, "
            "typed.Dict.empty");
    return t;
  }
  const bool list = PyList_Check(o);
  const Py_ssize_t n = list ? PyList_Size(o) : PyObject_Size(o);
  if (n == 0)
    raise(ErrorKind::Value,
          "a compiled function cannot tell what an empty {} holds; pass broadcloth.typed.List.empty_list(type), or an array",
          list ? "list" : "set");
  Type t = nullptr;
  const auto add = [&](PyObject* item) {
    if (t) {
      // Most lists are of one class.
      if (PyFloat_CheckExact(item) && t == kernels::float64_type()) return;
      if (PyLong_CheckExact(item) && t == kernels::int64_type()) return;
      if (PyUnicode_Check(item) && t == kernels::text_type()) return;
    }
    const Type one = item_type(item);
    if (!t || one == t) {
      t = one;
      return;
    }
    const Type both = one->is_scalar() && t->is_scalar()   ? kernels::unify(t, one)
                      : one->is_array() || one->is_tuple() ? kernels::unify(t, one)
                                                           : nullptr;
    if (!both)
      raise(ErrorKind::Type, "a compiled function takes lists and sets of one type, got one with {} and {}", t->spelling, one->spelling);
    t = both;
  };
  if (list) {
    for (Py_ssize_t i = 0; i < n; ++i) add(PyList_GetItem(o, i));
    return kernels::list_type(t);
  }
  PyRef iterator = PyRef::steal(PyObject_GetIter(o));
  while (PyRef item = PyRef::maybe(PyIter_Next(iterator.get()))) add(item.get());
  if (PyErr_Occurred()) throw PythonError();
  return kernels::set_type(t);
}

host::Block* typed_block(PyObject* o) { return as_container(o)->block; }
bool has_changed(host::Block* block) { return body_of(block)->head.changed != 0; }

host::Block* new_list(PyObject* o, Type element, Frame* frame) {
  const bool list = PyList_Check(o);
  const Py_ssize_t n = list ? PyList_Size(o) : PyObject_Size(o);
  const Place p = place_of(element);
  host::Block* block = host::new_block(sizeof(ListBody) + sizeof(Type));
  ListBody* b = new (block->data()) ListBody{};
  b->head.end = end_list;
  b->head.share = share_list;
  b->room = std::max<Py_ssize_t>(n, 4);
  *element_place(block) = element;
  struct Guard {
    host::Block* block;
    ~Guard() {
      if (block) host::drop_shared(block);
    }
  } guard{block};
  b->memory = host::new_block(b->room * static_cast<int64_t>(p.size));
  char* at = static_cast<char*>(b->memory->data());
  const auto add = [&](PyObject* item) {
    if (element == kernels::int64_type() && PyLong_CheckExact(item)) {
      const long long v = PyLong_AsLongLong(item);
      if (v == -1 && PyErr_Occurred()) throw PythonError();
      std::memcpy(at, &v, 8);
    } else if (element == kernels::float64_type() && PyFloat_CheckExact(item)) {
      const double v = PyFloat_AsDouble(item);
      std::memcpy(at, &v, 8);
    } else {
      put_item(item, element, at, frame);
    }
    at += p.size;
    ++b->size;
  };
  if (list) {
    for (Py_ssize_t i = 0; i < n && i < PyList_Size(o); ++i) add(PyList_GetItem(o, i));
  } else {
    PyRef iterator = PyRef::steal(PyObject_GetIter(o));
    while (PyRef item = PyRef::maybe(PyIter_Next(iterator.get()))) add(item.get());
    if (PyErr_Occurred()) throw PythonError();
  }
  guard.block = nullptr;
  return block;
}

PyRef box_list(host::Block* block, Type element, const Frame& frame, host::Call* call) {
  const ListBody* b = body_of(block);
  const size_t step = place_of(element).size;
  PyRef made = PyRef::steal(PyList_New(static_cast<Py_ssize_t>(b->size)));
  for (int64_t i = 0; i < b->size; ++i)
    check(PyList_SetItem(
        made.get(), static_cast<Py_ssize_t>(i),
        box_item(element, static_cast<const char*>(b->memory->data()) + static_cast<size_t>(i) * step, frame, call).release()));
  return made;
}

PyRef box_typed(host::Block* block, Type type) {
  PyRef cls = type->is(Kind::instance) ? PyRef::borrow(static_cast<PyObject*>(const_cast<void*>(type->object)))
                                       : import_attr("broadcloth.typed", type->is(Kind::dict) ? "Dict" : "List");
  auto* class_type = reinterpret_cast<PyTypeObject*>(cls.get());
  PyRef made = PyRef::maybe(reinterpret_cast<allocfunc>(PyType_GetSlot(class_type, Py_tp_alloc))(class_type, 0));
  if (!made) {
    host::drop_shared(block);
    throw PythonError();
  }
  as_container(made.get())->block = block;
  as_container(made.get())->type = type;
  return made;
}

namespace {

PyObject* new_container(PyTypeObject* type, PyObject*, PyObject*) {
  auto* alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  return alloc(type, 0);
}
void dealloc(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (as_container(o)->block) host::drop_shared(as_container(o)->block);
  auto* free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(o);
  Py_DECREF(type);
}
/// _adopt(other): becomes what the other is.
PyObject* adopt_method(PyObject* self, PyObject* other) {
  return guard([&]() -> PyObject* {
    if (!is_typed(other)) raise(ErrorKind::Type, "expected a typed container, got {}", type_name(other));
    host::Block* old = as_container(self)->block;
    as_container(self)->block = as_container(other)->block;
    as_container(self)->type = as_container(other)->type;
    if (as_container(self)->block) host::hold(as_container(self)->block);
    if (old) host::drop_shared(old);
    Py_RETURN_NONE;
  });
}
PyObject* type_attribute(PyObject* self, void*) {
  return guard([&]() -> PyObject* {
    const Type t = as_container(self)->type;
    return t ? to_py(t->spelling).release() : new_ref(Py_None);
  });
}

}  // namespace

void init_containers(PyObject* module) {
  static PyMethodDef methods[] = {{"_adopt", adopt_method, METH_O, "Becomes what another one is."}, {}};
  static PyGetSetDef attributes[] = {{"_type", type_attribute, nullptr, "The type, None while nothing was put in.", nullptr}, {}};
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_container)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, attributes},
                         {0, nullptr}};
  PyType_Spec spec = {"broadcloth.Container", sizeof(PyContainer), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  container_class = add_type(module, &spec, "Container");
}

}  // namespace bc::bind::jit
