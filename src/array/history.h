#pragma once
#include <atomic>
#include <optional>
#include <span>

#include "array/array.h"
#include "array/user.h"
#include "primitives/library_op.h"

namespace bc {

/// Recording tells src/autograd, which lies above it, by these calls which op made which array from which operands. Only ops that have
/// nothing but arrays and numbers as operands are told; NumPy's rules (`out=`, `where=`, orders of axes, composites) are other ops when
/// they get here.
class HistoryObserver {
 public:
  virtual ~HistoryObserver() = default;
  /// `result` is new, and C-contiguous over its storage. `loop` holds the dtypes that the operands are cast to.
  virtual void ufunc(Op op, std::span<const Term> operands, const Loop& loop, const Array& result) = 0;
  /// `axes` holds a bit for each axis that is reduced.
  virtual void reduce(Op op, const Array& a, uint64_t axes, double ddof, const Array& result) = 0;
  /// A copy, which may have another dtype or lie on another device.
  virtual void copy(const Array& a, const Array& result) = 0;
  virtual void user(const Ref<UserOp>& op, int output, std::span<const Arg> operands, const Array& result) = 0;
  /// These two give the history that the result will have, which is not there yet.
  virtual Ref<History> gather(const Array& source, std::span<const Array> indices, const GatherExtra& extra, const Dims& shape) = 0;
  virtual Ref<History> library(std::span<const Array> inputs, const LibraryExtra& extra, const Dims& shape, DType dtype) = 0;

  /// The history of `target`'s storage after target[...] = value, or after a body has run in place on it; nullopt where it stays
  /// what it is. Called before the write, so that a write that is not allowed raises here.
  virtual std::optional<Ref<History>> store(const Array& target, const Array& value) = 0;
  virtual std::optional<Ref<History>> store_library(const Array& target, std::span<const Array> inputs, const LibraryExtra& extra) = 0;

  /// The memory of `a` is used by what has no derivatives (a kernel of the user's, another library, called `by` in messages); raises where
  /// that would lose them.
  virtual void leave(const Array& a, const char* by) = 0;
  /// The host reads elements of `a`; raises in a trace (vmap), where it has other elements for each example.
  virtual void look(const Array& a) = 0;
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
/// Set once, before the first history is made.
void set_history_observer(HistoryObserver* observer);

/// Tells whether ops on an array may be followed for derivatives: paths that make results without recording them must not be taken.
inline bool has_history(const Array& a) { return history_observer() && a.history(); }

/// Before an array's elements go to what has no derivatives: raises where they would be lost without a word.
inline void leave_history(const Array& a, const char* by) {
  if (HistoryObserver* const observer = history_observer()) [[unlikely]]
    observer->leave(a, by);
}

}  // namespace bc
