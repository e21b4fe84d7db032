#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir.h"

namespace bc {

/// Prints the statements of a kernel's body, which are the same in all skeletons.
class BodyPrinter {
 public:
  explicit BodyPrinter(const Ir& ir) : ir_(ir) {}

  /// Set by the skeleton: the text of an access, as an lvalue of the element or the value of a coordinate.
  std::function<std::string(int access)> place;
  /// Set by the skeleton: the text of a load, gather or register-cached value that is in a variable already, else "".
  std::function<std::string(int value)> held = [](int) { return std::string(); };
  /// Set by the skeleton: the text of a parameter word as the given type.
  std::function<std::string(int word, const char* type)> parameter;
  bool fast = false;  ///< use the branch-free forms, which set `flag` (CPU) or clear `good` (CUDA) where the plain ones must run

  /// The statements that define the constants, for the kernel's top.
  std::string constants() const;
  /// Selects the values of a loop: `invariant` ones are the same in all iterations and are printed before the loop.
  enum class Part { all, invariant, varying };
  /// The statements that define the values of a stage and scope.
  std::string values(int stage, bool outer, Part part = Part::all) const;
  /// The statements that store a stage's outputs of a scope.
  std::string outputs(int stage, bool outer) const;
  std::string output_value(const Output& o) const;

  /// CUDA: declarations before a loop over neighbouring elements, of the words of random numbers that neighbours share.
  std::string random_blocks(int stage) const;
  /// CUDA: the types and functions that CUDA's own forms of values need, for the kernel's top.
  std::string functions() const;

  /// The accesses that a stage's values and outputs of a scope use.
  std::set<int> accesses(int stage, bool outer) const;
  /// An accumulator's input, cast to its loop's dtype.
  std::string input(const Accumulator& a) const { return argument(a.input, a.loop); }

  /// The gathers of a map whose offsets change along its inner loop, if the offsets depend on no other gather and on no value that must be
  /// computed only once: such offsets can be computed before the elements are read.
  std::vector<int> gathers_apart() const;
  /// The offset of the element that a gather reads, computed from its indices.
  std::string gather_offset(int index) const;
  /// How many values of the scope have a fast form.
  int count_fast(int stage, bool outer) const;
  bool has_fast(int stage, bool outer) const { return count_fast(stage, outer) > 0; }
  /// CUDA: the condition on the scalars of the scope under which its fast forms may be used at all.
  std::string fast_condition(int stage, bool outer) const;

 private:
  std::string expression(int index) const;
  std::string user_call(int index) const;
  /// CUDA: the text of a random value that uses words shared with its neighbours; nullptr where the value has its own words.
  const char* shared_random_text(const Value& x) const;
  /// CUDA: the text that compares the magnitude of a complex64 number with another number; empty where `x` is no such comparison.
  std::string magnitude_test(const Value& x) const;
  std::string argument(int value, DType as) const;
  /// A value's fast form on the target, nullptr where it has none.
  const char* fast_text(const Value& x) const;
  /// CUDA: tells whether a quotient's dividend is a scalar, which is checked once and not for each element.
  bool divides_scalar(const Value& x) const;
  /// CUDA: tells whether a quotient is used by logarithms only, whose check also covers the quotient's.
  bool only_for_logs(int index) const;
  /// Tells for each value whether it stays the same along the inner loop of a stage.
  std::vector<bool> invariants(int stage) const;
  const Ir& ir_;
  mutable std::set<int> settled_;  ///< gathers whose offset `w` was printed before the current loop
};

/// Replaces whole identifiers of a row's text.
std::string substitute(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> names);

/// The text of the users' functions that the kernel calls, for the top of its source.
std::string user_functions(const Ir& ir);

/// The struct that describes accumulator `k` to the device library's reductions: T, S, R, map, join, init, finish.
std::string reduction_struct(const Ir& ir, int k);

/// The `struct P` of words that a kernel receives.
std::string params_struct(const Ir& ir);

inline std::string v(int index) { return "v" + std::to_string(index); }

}  // namespace bc
