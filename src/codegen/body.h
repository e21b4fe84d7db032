#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir.h"

namespace bc {

/// Prints the statements of a kernel's body; the skeletons around it differ, this does not.
class BodyPrinter {
 public:
  explicit BodyPrinter(const Ir& ir) : ir_(ir) {}

  /// How the skeleton spells an access: the element's lvalue, or a coordinate's value.
  std::function<std::string(int access)> place;
  /// A load, gather or register-cached value that the skeleton holds already ("" if not).
  std::function<std::string(int value)> held = [](int) { return std::string(); };
  /// Spells a parameter word, as the type asked for.
  std::function<std::string(int word, const char* type)> parameter;
  bool fast = false;  ///< use the branch-free forms, which set `flag` (CPU) or clear `good` (CUDA) where the plain ones must run

  /// The statements that define the constants, for the kernel's top.
  std::string constants() const;
  /// Which of a loop's values: those that are the same in all its turns stand before it.
  enum class Part { all, invariant, varying };
  /// The statements that define the values of a stage and scope.
  std::string values(int stage, bool outer, Part part = Part::all) const;
  /// The statements that store a stage's outputs of a scope.
  std::string outputs(int stage, bool outer) const;
  std::string output_value(const Output& o) const;

  /// CUDA: declarations, to stand before a loop over neighbouring elements, of what it keeps of random numbers: neighbours share words.
  std::string random_blocks(int stage) const;
  /// CUDA: the types and functions that its own forms of values need, for the kernel's top.
  std::string functions() const;

  /// The accesses that a stage's values and outputs of a scope use.
  std::set<int> accesses(int stage, bool outer) const;
  /// An accumulator's input, cast to its loop's dtype.
  std::string input(const Accumulator& a) const { return argument(a.input, a.loop); }

  /// The gathers of a map whose places change along its inner loop, where these depend on no other gather and on nothing that must run
  /// once: so that places can be computed before elements are read.
  std::vector<int> gathers_apart() const;
  /// The offset of what a gather reads, from its indices.
  std::string gather_offset(int index) const;
  /// How many values of the scope have a fast form.
  int count_fast(int stage, bool outer) const;
  bool has_fast(int stage, bool outer) const { return count_fast(stage, outer) > 0; }
  /// CUDA: the condition on the scalars of the scope under which its fast forms may be used at all.
  std::string fast_condition(int stage, bool outer) const;

 private:
  std::string expression(int index) const;
  std::string user_call(int index) const;
  /// CUDA: the text of a random value by the words that its neighbours share, nullptr where it has one of its own.
  const char* shared_random_text(const Value& x) const;
  /// CUDA: how the magnitude of a complex64 number is compared with another number, empty where `x` is no such comparison.
  std::string magnitude_test(const Value& x) const;
  std::string argument(int value, DType as) const;
  /// A value's fast form on the target, nullptr where it has none.
  const char* fast_text(const Value& x) const;
  /// CUDA: a quotient whose dividend is a scalar, which is looked at once and not for each element.
  bool divides_scalar(const Value& x) const;
  /// CUDA: a quotient of which only logarithms are taken, whose own check finds what the quotient's would.
  bool only_for_logs(int index) const;
  /// Tells for each value whether it stays the same along the inner loop of a stage.
  std::vector<bool> invariants(int stage) const;
  const Ir& ir_;
  mutable std::set<int> settled_;  ///< gathers whose offset `w` stands before the loop that is printed
};

/// Replaces whole identifiers of a row's text.
std::string substitute(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> names);

/// The users' functions that the kernel calls, for the text's top.
std::string user_functions(const Ir& ir);

/// The struct that describes accumulator `k` to the device library's reductions: T, S, R, map, join, init, finish.
std::string reduction_struct(const Ir& ir, int k);

/// The `struct P` of words that a kernel receives.
std::string params_struct(const Ir& ir);

inline std::string v(int index) { return "v" + std::to_string(index); }

}  // namespace bc
