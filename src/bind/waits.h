#pragma once
#include <atomic>

#include "bind/array.h"

/// Waits for a device: where a program looks at values, what for, and how long it took. `python -m broadcloth --report` prints them,
/// `--strict` and cupyx.allow_synchronize forbid them.
namespace bc::bind {

/// A line of the program; `file` is kept for ever, nullptr when the line is not known.
struct SourceLine {
  const char* file = nullptr;
  int line = 0;
};
/// The innermost line outside of the package that the calling thread runs.
SourceLine program_line();

/// Says that values are looked at because of how the program is written, without a word like `item`, `get` or `print`.
class HiddenWait {
 public:
  explicit HiddenWait(const char* what) : before_(std::exchange(current_, what)) {}
  ~HiddenWait() { current_ = before_; }
  HiddenWait(const HiddenWait&) = delete;
  HiddenWait& operator=(const HiddenWait&) = delete;
  static const char* current() { return current_; }

 private:
  inline static thread_local const char* current_ = nullptr;
  const char* before_;
};

/// A look at an array's values, from its construction to its end.
class Wait {
 public:
  /// Throws SynchronizationError where the values are not there yet and waits are forbidden.
  explicit Wait(const Array& a) {
    if (watched.load(std::memory_order_relaxed) || forbidden_here) [[unlikely]]
      begin(a);
  }
  ~Wait() {
    if (begun_) [[unlikely]]
      end();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  static inline std::atomic<bool> watched{false};  ///< waits are noted, or hidden ones are forbidden
  static inline thread_local bool forbidden_here = false;

 private:
  void begin(const Array& a);
  void end();
  bool begun_ = false;
  double start_ = 0;
  Device device_;
  int64_t bytes_ = 0;
  SourceLine at_;
};

/// Throws SynchronizationError where this thread may not wait at all.
void check_wait_allowed(const char* what);

void init_waits(PyObject* module);

}  // namespace bc::bind
