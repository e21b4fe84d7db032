#pragma once
#include <atomic>
#include <optional>
#include <span>

#include "array/array.h"
#include "array/user.h"
#include "primitives/library_op.h"

namespace bc {

/// The interface by which recording reports to src/autograd, a higher layer, which op computed which array from which operands. Only ops on
/// arrays and numbers are reported; `out=`, `where=`, orders of axes and composites have been reduced to such ops before.
class HistoryObserver {
 public:
  virtual ~HistoryObserver() = default;
  /// `result` is new, and C-contiguous over its storage. `loop` holds the dtypes that the operands are cast to.
  virtual void ufunc(Op op, std::span<const Term> operands, const Loop& loop, const Array& result) = 0;
  /// `axes` has a bit for each reduced axis.
  virtual void reduce(Op op, const Array& a, uint64_t axes, double ddof, const Array& result) = 0;
  /// A copy, possibly to another dtype or device.
  virtual void copy(const Array& a, const Array& result) = 0;
  virtual void user(const Ref<UserOp>& op, int output, std::span<const Arg> operands, const Array& result) = 0;
  /// These two are called before the result exists and return its history.
  virtual Ref<History> gather(const Array& source, std::span<const Array> indices, const GatherExtra& extra, const Dims& shape) = 0;
  virtual Ref<History> library(std::span<const Array> inputs, const LibraryExtra& extra, const Dims& shape, DType dtype) = 0;

  /// Returns the history of `target`'s storage after target[...] = value, or after an in-place library op; nullopt if it does not change.
  /// Called before the write, so that a forbidden write raises here.
  virtual std::optional<Ref<History>> store(const Array& target, const Array& value) = 0;
  virtual std::optional<Ref<History>> store_library(const Array& target, std::span<const Array> inputs, const LibraryExtra& extra) = 0;

  /// Called before code without derivatives uses the memory of `a` (a user's kernel or another library, named `by` in messages); raises if
  /// derivatives would be lost.
  virtual void leave(const Array& a, const char* by) = 0;
  /// Called before the host reads elements of `a`; raises in a trace (vmap), where the elements differ between examples.
  virtual void look(const Array& a) = 0;
  /// Tells whether look(a) would not raise.
  virtual bool known(const Array& a) const = 0;
};

namespace detail {
extern std::atomic<HistoryObserver*> history_observer;
}

/// The observer while any array has a history, else nullptr: one load and one branch for programs without derivatives.
inline HistoryObserver* history_observer() {
  if (History::live.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  return detail::history_observer.load(std::memory_order_acquire);
}
/// Called once, before the first history is created.
void set_history_observer(HistoryObserver* observer);

/// Tells whether ops on an array may need derivatives: then results must not be computed without recording.
inline bool has_history(const Array& a) { return history_observer() && a.history(); }

/// Must be called before an array's elements are passed to code without derivatives: raises if derivatives would be lost silently.
inline void leave_history(const Array& a, const char* by) {
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->leave(a, by);
}

}  // namespace bc
