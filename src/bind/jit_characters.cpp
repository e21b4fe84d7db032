// The interpreter's tables of characters beyond ASCII, for the texts of compiled functions (src/device/python/text.h). Compiled code asks
// without Python's lock, on any thread.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>

#include "bind/jit_dispatcher.h"
#include "bind/py.h"

namespace bc::bind::jit {
namespace {

// py::CharacterQuestion.
enum Question : int32_t { to_lower, to_upper, to_title, to_folded, classes };

/// CPython's own functions of single characters. They are not in the limited API, but every version exports them for macros of its headers.
template <class R>
using OfCharacter = R (*)(uint32_t point);
template <class R>
OfCharacter<R> function(const char* name) {
  return reinterpret_cast<OfCharacter<R>>(dlsym(RTLD_DEFAULT, name));
}

uint64_t classes_of(uint32_t point) {
  // In the order of py::CharacterClass.
  static const std::array<OfCharacter<int>, 9> tests = {
      function<int>("_PyUnicode_IsAlpha"),     function<int>("_PyUnicode_IsDecimalDigit"), function<int>("_PyUnicode_IsDigit"),
      function<int>("_PyUnicode_IsNumeric"),   function<int>("_PyUnicode_IsWhitespace"),   function<int>("_PyUnicode_IsLowercase"),
      function<int>("_PyUnicode_IsUppercase"), function<int>("_PyUnicode_IsTitlecase"),    function<int>("_PyUnicode_IsPrintable")};
  uint64_t found = 0;
  for (size_t k = 0; k < tests.size(); ++k)
    if (tests[k] && tests[k](point)) found |= uint64_t{1} << k;
  return found;
}

uint64_t simple_case(int32_t question, uint32_t point) {
  static const std::array<OfCharacter<uint32_t>, 3> cases = {function<uint32_t>("_PyUnicode_ToLowercase"),
                                                             function<uint32_t>("_PyUnicode_ToUppercase"),
                                                             function<uint32_t>("_PyUnicode_ToTitlecase")};
  const auto mapped = cases[question == to_folded ? size_t{to_lower} : static_cast<size_t>(question)];
  return mapped ? mapped(point) : point;
}

/// Where the case of a character is several characters ("ß".upper()), or its folded form is not its lower one.
using Special = std::map<std::pair<int32_t, uint32_t>, uint64_t>;

/// Asks the methods of str about the characters that Unicode lists as special, which is no more than a part of these.
Special special_cases() {
  constexpr std::pair<uint32_t, uint32_t> ranges[] = {{0xb5, 0xb5},     {0xdf, 0xdf},     {0x130, 0x149},   {0x17f, 0x17f},
                                                      {0x1f0, 0x1f0},   {0x345, 0x345},   {0x390, 0x3f5},   {0x587, 0x587},
                                                      {0x13a0, 0x13fd}, {0x1c80, 0x1c8f}, {0x1e96, 0x1e9e}, {0x1f50, 0x1f56},
                                                      {0x1f80, 0x1ffc}, {0xab70, 0xabbf}, {0xfb00, 0xfb17}};
  constexpr const char* methods[] = {"lower", "upper", "title", "casefold"};
  Special found;
  for (const auto& [low, high] : ranges)
    for (uint32_t point = low; point <= high; ++point) {
      const PyRef text = PyRef::steal(PyUnicode_FromFormat("%c", static_cast<int>(point)));
      for (int32_t question = to_lower; question <= to_folded; ++question) {
        const PyRef made = PyRef::steal(PyObject_CallMethod(text.get(), methods[question], nullptr));
        std::array<Py_UCS4, 3> points = {};
        const Py_ssize_t n = PyUnicode_GetLength(made.get());
        if (n > 3 || !PyUnicode_AsUCS4(made.get(), points.data(), 3, 0)) throw PythonError();
        const uint64_t packed = points[0] | uint64_t{points[1]} << 21 | uint64_t{points[2]} << 42;
        if (packed != simple_case(question, point)) found[{question, point}] = packed;
      }
    }
  return found;
}
const Special* special = nullptr;

uint64_t answer(int32_t question, uint32_t point) {
  if (question == classes) return classes_of(point);
  const auto found = special->find({question, point});
  return found == special->end() ? simple_case(question, point) : found->second;
}

}  // namespace

void know_characters() {
  if (special) return;
  special = new Special(special_cases());
  host::set_unicode(answer);
}

}  // namespace bc::bind::jit
