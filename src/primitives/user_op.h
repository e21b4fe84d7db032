#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/ref.h"

namespace bc {

/// A user's C++ function that the graph and the kernel compiler can call: an elementwise function, or the join of a reduction.
///
/// `text` is compiled on every device in its own namespace, inside a namespace that offers the device library's functions by their C and
/// CUDA names (src/device/user/names.h). It may contain helper functions. An elementwise function is
///     BC_INLINE void ENTRY(A a, B b, …, R& r, S& s, …)
/// in the device library's types of `in` and `out`; the results are zeros when it is called. A join has one dtype T, and is
///     BC_INLINE T join(T a, T b)         and, with `identity`,         BC_INLINE T init()
struct UserOp final : RefCounted {
  std::string name;   ///< for kernel names and messages; an identifier
  std::string entry;  ///< the name of the elementwise function in `text`
  std::string text;
  std::vector<DType> in, out;
  bool identity = false;
  /// The function uses only scalar variables: no array, no address, no struct. Loops that call it then have no memory dependences.
  bool simple = false;
  bool contract = false;  ///< the user allows a * b + c to be contracted; such a function shares no kernel with others
  bool printed = false;   ///< printed from a Python function, so that compiler messages about the text are not shown to the user
  int cost = 16;          ///< estimated operations for one element
  Hash128 id;             ///< of all of the above

  /// The qualified name of the function's namespace.
  std::string scope() const { return "bc::user::u" + to_string(id).substr(0, 16); }
  /// The text inside its namespace.
  std::string definition() const;
};
void destroy(UserOp* op);

/// The description of a UserOp. make_user_op() returns the same object for equal descriptions; objects are kept for ever.
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

/// A compiler's log without the backend's first line, cut to the lines that fit on a screen.
std::string first_lines(std::string_view log);

/// The error for a user's own C++ that the compiler refused: the function's name, and the first lines of the log in `error`.
Error refused_text(const Error& error, std::string_view name);

/// The error for a Python function whose printed C++ the compiler refused. `place` names the function's position in indented lines.
Error refused_print(const Error& error, std::string_view place);

/// `name` as a C++ identifier.
std::string identifier(std::string_view name);

}  // namespace bc
