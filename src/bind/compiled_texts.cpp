// Texts that the program compiled without a file (`exec` of a string, namedtuples, dataclasses): the compiler reads the text of functions
// that were made of them, when the program itself has let go of it.
#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bind/array.h"

namespace bc::bind {
namespace {

/// The latest ones, within bounds.
struct Texts {
  static constexpr size_t kMost = 512, kMostBytes = size_t{4} << 20;
  struct Text {
    std::string file, text;
  };
  std::mutex mutex;
  std::deque<Text> all;
  size_t bytes = 0;

  void keep(std::string_view file, std::string_view text) {
    if (text.size() > kMostBytes / 4) return;
    const std::lock_guard lock(mutex);
    for (const Text& t : all)
      if (t.text.size() == text.size() && t.text == text && t.file == file) return;
    all.push_back({std::string(file), std::string(text)});
    bytes += text.size();
    while (all.size() > kMost || bytes > kMostBytes) {
      bytes -= all.front().text.size();
      all.pop_front();
    }
  }
};
Texts& texts() {
  static auto& made = *new Texts;
  return made;
}

std::string_view characters(PyObject* o) {
  Py_ssize_t n = 0;
  if (PyUnicode_Check(o)) {
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (s) return {s, static_cast<size_t>(n)};
    PyErr_Clear();
  } else if (PyBytes_Check(o)) {
    char* s = nullptr;
    if (PyBytes_AsStringAndSize(o, &s, &n) == 0) return {s, static_cast<size_t>(n)};
    PyErr_Clear();
  }
  return {};
}

/// Python tells its audit hooks of every text that it compiles; whatever else it tells goes by.
int note(const char* event, PyObject* arguments, void*) noexcept {
  if (event[0] != 'c' || std::strcmp(event, "compile") != 0) return 0;
  if (!arguments || !PyTuple_Check(arguments) || PyTuple_Size(arguments) < 2) return 0;
  const std::string_view file = characters(PyTuple_GetItem(arguments, 1));
  if (file.empty() || file[0] != '<' || file == "<unknown>") return 0;  // files keep their text; "<unknown>" is for syntax trees
  const std::string_view text = characters(PyTuple_GetItem(arguments, 0));
  if (text.find("def ") == text.npos && text.find("lambda") == text.npos) return 0;
  try {
    texts().keep(file, text);
  } catch (...) {  // no memory: the text is not kept
  }
  return 0;
}

/// compiled_texts(file): the texts that were compiled under this name, the latest first.
PyObject* compiled_texts(PyObject*, PyObject* file) {
  return guard([&]() -> PyObject* {
    PyRef list = PyRef::steal(PyList_New(0));
    const std::string name(as_string(file));
    std::vector<std::string> found;
    {
      const std::lock_guard lock(texts().mutex);
      for (auto t = texts().all.rbegin(); t != texts().all.rend(); ++t)
        if (t->file == name) found.push_back(t->text);
    }
    for (const std::string& text : found) check(PyList_Append(list.get(), to_py(text).get()));
    return list.release();
  });
}

/// keep_compiled_texts(): from now on. Called where functions may come to be compiled, as Python has a little more to do while anyone
/// listens.
PyObject* keep_compiled_texts(PyObject*, PyObject*) {
  static bool listens = false;
  if (!std::exchange(listens, true)) {
    // Not in the limited API, but in every Python since 3.8.
    using Hook = int (*)(const char*, PyObject*, void*);
    const auto add = reinterpret_cast<int (*)(Hook, void*)>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
    if (add && add(note, nullptr) != 0) PyErr_Clear();
  }
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"compiled_texts", compiled_texts, METH_O, nullptr}, {"keep_compiled_texts", keep_compiled_texts, METH_NOARGS, nullptr}, {}};

}  // namespace

void init_compiled_texts(PyObject* module) { check(PyModule_AddFunctions(module, functions)); }

}  // namespace bc::bind
