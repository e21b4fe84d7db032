#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/config.h"
#include "graph/node.h"

namespace bc {

struct PlanPhases;

/// The array: a handle to a view of a storage. Copying it copies the handle. Ops on it are recorded and run when a value is read.
class Array {
 public:
  Array() = default;
  Array(Ref<Storage> storage, DType dtype, Layout layout) : storage_(std::move(storage)), dtype_(dtype), layout_(std::move(layout)) {}

  explicit operator bool() const { return static_cast<bool>(storage_); }
  const Ref<Storage>& storage() const { return storage_; }
  const Layout& layout() const { return layout_; }
  const Dims& shape() const { return layout_.shape; }
  const Dims& strides() const { return layout_.strides; }  ///< in elements
  int64_t offset() const { return layout_.offset; }        ///< in elements
  int ndim() const { return layout_.ndim(); }
  int64_t size() const { return layout_.size(); }
  DType dtype() const { return dtype_; }
  Device device() const { return storage_->device; }
  bool contiguous() const { return is_contiguous(layout_.shape, layout_.strides); }
  /// Tells whether the elements are booleans whose bytes may differ from 0 and 1.
  bool has_loose_booleans() const { return dtype_ == DType::b1 && storage_->loose_booleans.load(std::memory_order_relaxed); }
  /// A view of the same storage under another layout (and dtype of another size only through view_dtype).
  Array with_layout(Layout layout) const { return seen_as(dtype_, std::move(layout)); }
  Array seen_as(DType dtype, Layout layout) const {
    Array view(storage_, dtype, std::move(layout));
    view.detached_ = detached_;
    return view;
  }
  /// The same view; with `constant`, ops that read it treat it as a constant for derivatives, whatever its storage's history is.
  Array detached(bool constant = true) const {
    Array view = *this;
    view.detached_ = constant;
    return view;
  }
  bool is_detached() const { return detached_; }
  /// The history of the array's value, for derivatives; nullptr if it is a constant.
  History* history() const { return detached_ ? nullptr : storage_->history.get(); }

 private:
  Ref<Storage> storage_;
  DType dtype_ = DType::f64;
  bool detached_ = false;
  Layout layout_;
};

/// An operand of an op: an array, or a Python scalar, of which only the kind takes part in promotion (NEP 50).
struct Arg {
  Array array;
  Weak weak = Weak::none;
  Scalar value;

  Arg(Array a) : array(std::move(a)) {}
  Arg(Weak kind, Scalar v) : weak(kind), value(v) {}
  Arg(double v) : weak(Weak::real), value(Scalar::real(v)) {}
  Arg(int64_t v) : weak(Weak::integer), value(Scalar::integer(v)) {}
  Arg(int v) : Arg(static_cast<int64_t>(v)) {}
};

/// An operand without ownership: an array that must live during the call, or a Python scalar.
struct Term {
  const Array* array = nullptr;
  Weak weak = Weak::none;
  Scalar value;
};

// ---- Recording ------------------------------------------------------------------------------------------------------------------

struct UfuncOptions {
  std::optional<DType> dtype;
  Casting casting = Casting::same_kind;
  Array out;                     ///< written and returned when given
  Array where;                   ///< a bool mask; where it is false, elements of `out` keep their values
  std::optional<Device> device;  ///< device of the result if all operands are scalars; the default device unless given
  char order = 'K';  ///< memory order of a new result: 'C', 'F', 'A' (F if all operands are F) or 'K' (from the operands' strides)
};

/// Records one elementwise row. Shapes broadcast and dtypes promote as in NumPy; errors are raised here.
Array ufunc(Op op, std::span<const Arg> args, const UfuncOptions& options = {});
Array ufunc(Op op, std::initializer_list<Arg> args, const UfuncOptions& options = {});
Array ufunc(Op op, std::span<const Term> terms, const UfuncOptions& options);

struct ReduceOptions {
  std::optional<std::vector<int64_t>> axes;  ///< nullopt: all; may be negative
  bool keepdims = false;
  std::optional<DType> dtype;
  std::optional<Arg> initial;
  bool no_identity = false;  ///< NumPy's initial=None: starts from the first element, so an empty reduction is an error
  Array where;
  Array out;
  double ddof = 0;
  Ref<UserOp> join;  ///< the join of Op::reduce_user, for an array of its dtype
};
/// Records one reduction row (Op::reduce_sum …). An empty reduction without identity or `initial` is a ValueError.
Array reduce(Op op, const Array& a, const ReduceOptions& options = {});

/// Casts. Returns `a` itself if nothing changes and `copy` is false; a new array has the memory order of `a` (NumPy's order 'K').
Array astype(const Array& a, DType dtype, bool copy = true, Casting casting = Casting::unsafe);
/// A new array with the same elements, C-contiguous.
Array copy(const Array& a);
/// A copy in NumPy's order 'C', 'F', 'A' or 'K'.
Array copy(const Array& a, char order);
/// The memory order of axes of a copy of `a` in NumPy's order 'C', 'F', 'A' or 'K'.
Dims copy_order(const Array& a, char order);
/// `a` itself when it is C-contiguous (offset 0 not needed), else a copy.
Array ascontiguous(const Array& a);

/// dst[...] = src with broadcasting and an unsafe cast (as assignment casts); overlaps behave as if src were copied first.
void assign(const Array& dst, const Array& src);
void assign(const Array& dst, const Arg& value);
/// dst[mask] = value where `mask` broadcasts to dst and value broadcasts to dst (a where).
void assign_where(const Array& dst, const Array& mask, const Arg& value);

// ---- Creation -------------------------------------------------------------------------------------------------------------------

Array empty(const Dims& shape, DType dtype, Device device);
/// empty() for users' arrays: checked kernels report reads of elements that were never written.
Array unset(const Dims& shape, DType dtype, Device device);
/// From now on unset() fills new memory with `byte`; called when the program has checked kernels.
void mark_new_memory(int byte);
/// The byte set by mark_new_memory(), or -1.
int new_memory_byte();
/// For checked kernels: fills the memory of an array from unset() with a byte, once, if nothing was written to it yet. Returns the begin
/// and the end of the memory if nothing was written to it yet.
std::pair<uintptr_t, uintptr_t> mark_unset(const Array& a, int byte);
Array full(const Dims& shape, const Scalar& value, DType dtype, Device device);
/// start + step * index, computed in `dtype` like NumPy.
Array arange(const Scalar& start, const Scalar& step, int64_t n, DType dtype, Device device);
/// The linear C-order index of each element, int64.
Array iota(const Dims& shape, Device device);
/// Copies host memory of any layout into a new array; `data` points to the element at offset 0.
Array from_host(const void* data, DType dtype, const Layout& layout, Device device);
/// Wraps memory of another owner (NumPy buffers on the CPU, DLPack, CUDA arrays), which is exposed from the start.
Array from_foreign(void* data, DType dtype, const Layout& layout, Device device, bool read_only, std::function<void()> release);

// ---- Views (never copy) ---------------------------------------------------------------------------------------------------------

struct SliceItem {
  enum class Kind : uint8_t { index, slice, newaxis, ellipsis } kind = Kind::slice;
  int64_t start = 0, stop = 0, step = 1;     ///< index: start
  bool has_start = false, has_stop = false;  ///< Python's None where false
};
/// Basic indexing. Throws IndexError with NumPy's message.
Array slice(const Array& a, std::span<const SliceItem> items);
Array transpose(const Array& a, const Dims& axes);  ///< axes may be negative
Array transpose(const Array& a);                    ///< all axes reversed
/// An array of `shape` whose axes are in memory in the given order (outermost first): calls `make` with the permuted shape and returns a
/// transposed view.
template <class Make>
Array laid_out(const Dims& shape, const Dims& order, Make make) {
  if (is_ascending(order)) return make(shape);
  Dims permuted(shape.size());
  for (int d = 0; d < shape.size(); ++d) permuted[d] = shape[static_cast<int>(order[d])];
  const Array made = make(permuted);
  return made.with_layout(transposed(made.layout(), inverse_axes(order)));
}
Array broadcast_to(const Array& a, const Dims& shape);
/// A view if NumPy's reshape returns a view, else a copy. One extent may be -1.
Array reshape(const Array& a, const Dims& shape);
/// A view without a copy, or nullopt.
std::optional<Array> reshape_view(const Array& a, const Dims& shape);
Array real(const Array& a);  ///< view for complex input, the array itself otherwise
Array imag(const Array& a);  ///< view for complex input, zeros otherwise
/// ndarray.view(dtype): the last axis grows or shrinks if the item sizes differ.
Array view_dtype(const Array& a, DType dtype);

// ---- Advanced indexing ----------------------------------------------------------------------------------------------------------

/// One index of a NumPy indexing expression: a basic item, or an integer or boolean array.
struct IndexItem {
  SliceItem basic;
  Array array;  ///< when set, an advanced index
};
/// a[items] by NumPy's rules for basic and advanced indices (boolean arrays become nonzero()).
Array getitem(const Array& a, std::span<const IndexItem> items);
/// a[items] = value. For repeated indices the last value wins, as in NumPy.
void setitem(const Array& a, std::span<const IndexItem> items, const Arg& value);
/// The indices where `a` is not zero, one int64 array for each axis (synchronises, because the count is needed).
std::vector<Array> nonzero(const Array& a);

// ---- Looking --------------------------------------------------------------------------------------------------------------------

/// Facts about an array's storage that are known without running anything.
struct StorageFacts {
  bool pending = false;
  bool exposed = false;
  bool read_only = false;      ///< memory of a read-only exporter
  const void* base = nullptr;  ///< nullptr: no memory yet
  int64_t bytes = 0;
};
StorageFacts storage_facts(const Array& a);

/// Runs all pending nodes of the array's device, so that its storage has memory; returns the address of element `offset` 0.
void* data(const Array& a);
/// Like data(), but the memory is not shared with another array (as after a lazy copy), so that it may be written.
void* own(const Array& a);
/// Like own(), and marks the memory as exposed (visible outside) from now on.
void* expose(const Array& a);
/// Like expose(), until Buffer::end_loan() of the memory that the storage then has.
void* lend(const Array& a);
/// Copies the elements, C-contiguous, to host memory.
void to_host(const Array& a, void* host);
/// The one element of an array of size 1. Throws ValueError otherwise.
Scalar item(const Array& a);
/// A copy on another device.
Array to_device(const Array& a, Device device);

/// Runs all pending nodes of one device's tape.
void flush(Device device);
/// Runs all pending nodes on all devices and waits for them; raises their errors.
void synchronize();
/// The phases of the plan that a flush would run to compute `a` (graph/show_plan.h).
std::string show_plan(const Array& a, const PlanPhases& phases);

/// The device that creation functions use: BROADCLOTH_DEVICE, else cuda:0 if it exists, else cpu. Per thread.
Device default_device();
void set_default_device(Device device);

/// Sets the Python line of nodes that this thread records from now on. `file` must be an interned pointer.
void set_source_location(const char* file, int line);
/// Sets the name of kernels in profiles for ops that this thread records from now on; nullptr: named after their ops. Returns the previous
/// name.
const char* set_kernel_label(const char* label);
/// An immortal copy of a text; equal texts give the same pointer.
const char* interned(std::string_view text);

}  // namespace bc
