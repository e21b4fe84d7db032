#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/array.h"

/// The graph that derivatives are taken through: each array's storage has the function that made its current value, and each function the
/// values that it was made from. Views are no functions: an edge holds the layout through which a value was read, so that every view of
/// NumPy has its derivative here. A write to a part of a storage is a function of the old value and of what is written.
namespace bc::autograd {

struct GradFunction;

/// The content of a storage: C-contiguous elements.
struct Value {
  DType dtype = DType::f64;
  Dims shape;
  Device device;
};

/// An operand of a function: output `output` of `from`, read through a view.
struct Edge {
  Ref<GradFunction> from;  ///< nullptr: a constant
  bool constant = false;   ///< a constant for derivatives, although a trace follows it
  int output = 0;
  DType dtype = DType::f64;
  Layout layout;
  Device device;
};

/// The hooks and the kept gradient that a program has asked for at one function's value.
struct Watchers {
  struct Hook {
    int64_t id;
    DType dtype;
    Layout layout;                            ///< the view of the array on which it was registered
    std::function<Array(const Array&)> call;  ///< gives the gradient to go on with, or nothing
  };
  std::vector<Hook> hooks;
  bool retain = false;  ///< retain_grad(): the gradient is kept in `gradient`
  Array gradient;       ///< in the value's shape
};

/// What a function reads, of many examples or the same for all.
struct TracedOperand {
  Array array;        ///< empty for a number, or where the function does not read it
  bool many = false;  ///< the examples lie along a first axis
};

/// How a function is computed again for many examples at once, where vmap traces it.
struct Traced {
  std::vector<Array> operands;  ///< what each edge read of the one example
  std::function<Array(std::span<const TracedOperand>)> compute;
};

struct GradFunction : History {
  explicit GradFunction(Value value) : values{std::move(value)}, sequence(next_sequence()) {}
  explicit GradFunction(std::vector<Value> all) : values(std::move(all)), sequence(next_sequence()) {}

  std::vector<Value> values;  ///< its outputs: one, but for a user's Function
  std::vector<Edge> edges;
  const uint64_t sequence;  ///< grows: a function comes after all that it read
  bool released = false;    ///< what it saved is gone
  bool constant = false;    ///< recorded for a trace only: no derivative goes through
  bool example = false;     ///< depends on what a trace follows
  std::unique_ptr<Watchers> watchers;
  std::unique_ptr<Traced> traced;

  /// Tells whether a derivative goes to an edge.
  bool differentiates(const Edge& e) const { return e.from && !e.constant && is_inexact(e.dtype); }

  virtual std::string name() const = 0;
  /// The gradient of each edge that is `needed`, from those of the outputs. An edge's has the shape of its layout, or one that broadcasting
  /// makes of it, in any dtype; an empty one is zero.
  virtual std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>& needed) = 0;
  /// Lets go of what it saved; tells whether that was anything.
  virtual bool release() { return false; }

  static uint64_t next_sequence();
};

/// An array whose gradient a program asked for.
struct Leaf final : GradFunction {
  Leaf(Value value, DType dtype_, Layout layout_) : GradFunction(std::move(value)), dtype(dtype_), layout(std::move(layout_)) {}
  DType dtype;  ///< of the array on which requires_grad was set
  Layout layout;
  Array gradient;  ///< what `.grad` gives, in that layout

  std::string name() const override { return "AccumulateGrad"; }
  std::vector<Array> backward(std::span<const Array>, const std::vector<bool>&) override { return {}; }
  void accumulate(const Array& g);
};

/// One output of a function that has several.
struct OutputOf final : GradFunction {
  OutputOf(Ref<GradFunction> function, int output);
  std::string name() const override { return edges[0].from->name(); }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override { return {gradients[0]}; }
};

// ---- Grad mode: whether ops of this thread are recorded for derivatives ----

bool grad_enabled();
bool set_grad_enabled(bool on);  ///< returns what it was

class GradMode {
 public:
  explicit GradMode(bool on) : before_(set_grad_enabled(on)) {}
  ~GradMode() { set_grad_enabled(before_); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool before_;
};

// ---- Arrays ----

/// The function of the value that an array sees, nullptr for a constant.
GradFunction* function_of(const Array& a);
bool requires_grad(const Array& a);
/// Tells whether the array is one whose gradient backward() leaves in `.grad`, or a constant.
bool is_leaf(const Array& a);
/// Makes an array a leaf, or a leaf a constant. `a` becomes a copy where it is a detached view of an array that has a history.
void set_requires_grad(Array& a, bool on);
/// `.grad`: an empty array where there is none.
Array gradient_of(const Array& a);
void set_gradient(const Array& a, const Array& gradient);
/// From the next backward() on the gradient of what is no leaf is kept, too.
void retain_gradient(const Array& a);
int64_t add_hook(const Array& a, std::function<Array(const Array&)> call);
void remove_hook(GradFunction& function, int64_t id);

/// The content of an array's storage.
Value value_of(const Storage& storage);
/// How an op reads an array.
Edge edge_to(const Array& a);
/// The array itself where it lies C-contiguous from its storage's first element on, else a copy.
Array plain(const Array& a);
/// The view of a storage's gradient (in the value's shape) that belongs to a view of the storage.
Array window(const Array& gradient, DType dtype, const Layout& layout);
/// The array as it is now, whatever is written to it later: storages share values until one is written.
Array snapshot(const Array& a, bool with_history = true);
/// Makes `function` the history of a new array.
void attach(const Array& result, Ref<GradFunction> function);
/// Told before the first array gets a history.
void watch_recording();

}  // namespace bc::autograd
