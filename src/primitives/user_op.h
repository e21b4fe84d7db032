#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/ref.h"

namespace bc {

/// A user's function in C++, known to the graph and to the kernel compiler: an elementwise function, or the join of a reduction.
///
/// `text` is compiled on every device in a namespace of its own, inside one that has C's and CUDA's names for what the device library has
/// (user_names), and may hold helpers besides. An elementwise function is
///     BC_INLINE void ENTRY(A a, B b, …, R& r, S& s, …)
/// in the device library's types of `in` and `out`; the results are zeros when it is called. A join has one dtype T, and is
///     BC_INLINE T join(T a, T b)         and, with `identity`,         BC_INLINE T init()
struct UserOp final : RefCounted {
  std::string name;   ///< in kernels' names and messages; an identifier
  std::string entry;  ///< of an elementwise function
  std::string text;
  std::vector<DType> in, out;
  bool identity = false;
  /// Numbers in registers are all that it has: no array, no address, no struct (loops over it are free of dependences).
  bool simple = false;
  bool contract = false;  ///< the user lets a * b + c become one rounding; such a function shares no kernel with others
  bool printed = false;   ///< from Python: what a compiler says of the text is not for the user
  int cost = 16;          ///< rough operations an element takes
  Hash128 id;             ///< of all of the above

  /// The namespace that it is in, from the outside.
  std::string scope() const { return "bc::user::u" + to_string(id).substr(0, 16); }
  /// The text in its namespace.
  std::string definition() const;
};
void destroy(UserOp* op);

/// The function of a description; equal descriptions give one object, kept for ever.
struct UserOpSpec {
  std::string name, entry, text;
  std::vector<DType> in, out;
  bool identity = false;
  bool simple = false;
  bool contract = false;
  bool printed = false;
  int cost = 16;
};
Ref<UserOp> make_user_op(UserOpSpec spec);

/// The header that users' text is compiled after: C's and CUDA's names over the device library (namespace bc::user).
std::string_view user_names();

/// A compiler's log without the backend's own first line, and no longer than a screen has room for.
std::string first_lines(std::string_view log);

/// The error for a user's own C++ that the compiler refused: the function's name, and the first lines of the log in `error`.
Error refused_text(const Error& error, std::string_view name);

/// What a user reads where a compiler refuses the C++ that was printed for a Python function. `place`: where that is, in indented lines.
Error refused_print(const Error& error, std::string_view place);

/// `name` as a C++ identifier.
std::string identifier(std::string_view name);

}  // namespace bc
