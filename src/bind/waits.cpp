#include "bind/waits.h"

#include <chrono>
#include <map>
#include <mutex>
#include <tuple>

#include "bind/args.h"
#include "bind/list.h"

namespace bc::bind {
namespace {

struct Totals {
  int64_t count = 0, bytes = 0;
  double seconds = 0;
};
/// What, whether it is hidden, file and line (both names live for ever), device.
using Place = std::tuple<const char*, bool, const char*, int, std::string>;

std::mutex mutex;
std::map<Place, Totals>& totals() {
  static auto* all = new std::map<Place, Totals>;
  return *all;
}
std::atomic<bool> noting{false}, hidden_forbidden{false};
PyTypeObject* record_type = nullptr;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void raise_forbidden(const char* what) {
  PyRef type = import_attr("broadcloth.exceptions", "SynchronizationError");
  PyErr_Format(type.get(), "%s waits for the device, which is forbidden here; x.item() and bc.synchronize() say that a program waits",
               what);
  throw PythonError();
}

void set_watched() { Wait::watched.store(noting || hidden_forbidden, std::memory_order_relaxed); }

PyRef real(double v) { return PyRef::steal(PyFloat_FromDouble(v)); }

/// What was noted since watch_waits(True).
PyRef waits() {
  std::vector<std::pair<Place, Totals>> seen;
  {
    std::lock_guard lock(mutex);
    seen.assign(totals().begin(), totals().end());
  }
  return list_of(seen, [](const auto& entry) {
    const auto& [what, hidden, file, line, device] = entry.first;
    const Totals& t = entry.second;
    PyRef made = PyRef::steal(PyStructSequence_New(record_type));
    Py_ssize_t i = 0;
    for (const PyRef& field : {to_py(std::string_view(what)), PyRef::steal(PyBool_FromLong(hidden)), to_py(device), to_py(t.count),
                               to_py(t.bytes), real(t.seconds), to_py(int64_t{line}), to_py(std::string_view(file ? file : ""))})
      PyStructSequence_SetItem(made.get(), i++, new_ref(field.get()));
    return made;
  });
}

PyStructSequence_Field fields[] = {{"what", nullptr},
                                   {"hidden", nullptr},
                                   {"device", nullptr},
                                   {"times", nullptr},
                                   {"bytes", nullptr},
                                   {"time", "seconds"},
                                   {"line", "of the program, 0 when not known"},
                                   {"file", nullptr},
                                   {nullptr, nullptr}};
PyStructSequence_Desc description = {"broadcloth._broadcloth.WaitRecord", "Looks at values from one line.", fields, 8};

}  // namespace

void check_wait_allowed(const char* what) {
  if (Wait::forbidden_here) raise_forbidden(what);
}

void Wait::begin(const Array& a) {
  if (a.device().type == DeviceType::null) return;
  // Values that lie computed in host memory are there already.
  const bool waits = a.size() > 0 && (a.device().type != DeviceType::cpu || storage_facts(a).pending);
  if (!waits) return;
  const char* hidden = HiddenWait::current();
  if (forbidden_here || (hidden && hidden_forbidden)) raise_forbidden(hidden ? hidden : "a look at the array's values");
  if (!noting) return;
  begun_ = true;
  device_ = a.device();
  bytes_ = a.size() * itemsize(a.dtype());
  at_ = program_line();
  start_ = now();
}

void Wait::end() {
  const double seconds = now() - start_;
  const char* hidden = HiddenWait::current();
  std::lock_guard lock(mutex);
  Totals& t =
      totals()[{hidden ? hidden : "a look at values (print, item, float)", hidden != nullptr, at_.file, at_.line, to_string(device_)}];
  ++t.count;
  t.bytes += bytes_;
  t.seconds += seconds;
}

void init_waits(PyObject* module) {
  PyRef type = PyRef::steal(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&description)));
  check(PyModule_AddObjectRef(module, "WaitRecord", type.get()));
  record_type = reinterpret_cast<PyTypeObject*>(type.release());
  add_functions(module, {BC_FUNCTION("watch_waits(on)",
                                     [](bool on) {
                                       if (on) {
                                         std::lock_guard lock(mutex);
                                         totals().clear();
                                       }
                                       noting = on;
                                       set_watched();
                                     }),
                         BC_FUNCTION("waits() -> list[WaitRecord]", waits),
                         BC_FUNCTION("forbid_hidden_waits(on)",
                                     [](bool on) {
                                       hidden_forbidden = on;
                                       set_watched();
                                     }),
                         BC_FUNCTION("forbid_waits(on)", [](bool on) { return std::exchange(Wait::forbidden_here, on); })});
}

}  // namespace bc::bind
