#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/linked_code.h"
#include "kernels/syntax.h"

/// From a Python function and the types of its arguments to CUDA C++. This header is all that users of the compiler need.
namespace bc::kernels {

/// How the function is entered.
enum class Entry : uint8_t {
  /// `extern "C" __global__ void NAME(parameters by value …)`: one parameter for each argument that has a value at run time (Type::
  /// has_value; None, functions, strings … have none), then `py::Status* status` where CompiledFunction::reports is set.
  kernel,
  /// `extern "C" int NAME(void* const* arguments, void* result)`: arguments[i] points to argument i's bytes (those without a value are
  /// skipped), the return value is written to `result` (Type::bytes of CompiledFunction::result). Returns 0, or 1 + the index in
  /// `failures` of the exception that was raised. `prange` runs its body through `bc_parallel_for` (see src/device/python/host.h).
  host,
  /// `static __device__ inline R NAME(parameters by value …)` and nothing that is exported: text to put before other text.
  device,
};

struct CompileOptions {
  Entry entry = Entry::kernel;
  bool debug = false;              ///< assertions and raise report (they always do on the host); accesses are checked
  bool bounds = false;             ///< an index out of bounds raises IndexError
  bool check = false;              ///< checked mode: bounds, races, reads before writes, NaNs, through src/device/python/check.h
  bool captures = false;           ///< kernel: arrays on a device that functions name are parameters behind the arguments
  bool entered = true;             ///< host: there is an entry; else the function alone, for text behind it that calls it
  bool polls = true;               ///< host: loops ask whether the user ends them (Ctrl-C)
  bool parallel = false;           ///< host: prange and whole-array expressions run on all threads
  std::string launch_bounds;       ///< kernel: the arguments of __launch_bounds__
  std::vector<LinkedCode> linked;  ///< code that functions which the program calls may be in
  Type result = nullptr;           ///< host: what the entry returns, where its signature says so; nullptr: what it is found to return
  Type callback = nullptr;     ///< host: an entry besides that has the function's own parameters and this result, for C: <name>_callback
  bool inlined = false;        ///< device: all functions are BC_INLINE, as elementwise kernels have them
  bool python_errors = false;  ///< division by zero raises, as in Python (host functions without error_model="numpy")
};

/// An exception that the compiled function may raise.
struct Failure {
  std::string type;  ///< "ValueError"
  std::string message;
  std::string file;
  int line = 0;
  std::string function;
  const void* object = nullptr;     ///< the exception's class, where it was named
  std::vector<Constant> arguments;  ///< that it is made with
  bool computed = false;            ///< its arguments are known when it is raised only
};

/// A block of the function that the interpreter runs: its callable, the types of what it takes and of what it gives.
struct InterpretedBlock {
  const void* callable = nullptr;
  Type inputs = nullptr;  ///< tuples
  Type outputs = nullptr;
  std::vector<std::string> names;  ///< of the outputs
};

/// A place in the program that a finding of checked mode comes from.
struct CheckSite {
  std::string file;
  int line = 0;
  std::string function, text, what;
  bool operator==(const CheckSite&) const = default;
};

/// A function that linked code defines (cuda.declare_device).
struct ForeignFunction {
  std::string symbol;
  FunctionSignature signature;
  bool c_abi =
      false;  ///< returns its value; otherwise a status, with the value written through its first parameter, as Numba's functions do
  bool cooperative = false;       ///< kernels that call it must be launched cooperatively
  const void* address = nullptr;  ///< of a function of this process (ctypes): functions for the CPU call it
  std::vector<LinkedCode> linked;
};

/// An array on a device that a kernel or a function that it calls names: a parameter that the program does not write.
struct CapturedArray {
  std::shared_ptr<const void> object;
  Type type = nullptr;
  std::string name;
  bool writes = false;
};

/// Where a line of Python comes from.
struct SourcePlace {
  std::string file;
  int line = 0;
  std::string function;
  std::vector<std::string> trail;  ///< the calls that led there
};

struct CompiledFunction {
  std::string text;           ///< CUDA C++ for ProgramSource::text with `device_library` set
  size_t library_bytes = 0;   ///< of it, the headers at its start
  std::string readable;       ///< the same without the headers before it and linked CUDA C++ behind it
  std::string functions;      ///< the same without the namespace around it
  bool uses_library = false;  ///< names something of src/device/python
  bool only_numbers = false;  ///< every value is a C++ number: nothing that could be left in memory
  std::string name;           ///< of the entry, in C++
  std::string python_name;    ///< of the function
  std::vector<Type> arguments;
  Type result = nullptr;
  std::vector<Failure> failures;
  std::vector<InterpretedBlock> interpreted;  ///< by the numbers that the text has
  std::vector<const void*> addresses;         ///< what is to be put into bc_foreign_<i> of the code
  std::vector<CheckSite> sites;
  std::map<std::string, SourcePlace> places;  ///< of the lines of Python that the text has as comments
  bool checked = false;                       ///< the status is the head of a zeroed py::CheckState of kCheckBytes
  bool reports = false;                       ///< kernel: takes `py::Status*` last
  /// Kernel: which arguments' memory it may write. An array of which only elements and extents are read is not written.
  std::vector<bool> writes;
  std::vector<CapturedArray> captured;  ///< kernel: what it takes behind its arguments, before the status
  std::vector<LinkedCode> linked;       ///< code that it is linked with; CUDA C++ is in the text already
  bool prints = false;                  ///< host: it calls print, which may let other threads of Python run
  bool uses_grid_sync = false;          ///< must be launched cooperatively
  bool uses_dynamic_shared = false;
};

/// At least the bytes of py::CheckState (src/device/python/check.h): the finding, a scratch place, the table of touches.
constexpr size_t kCheckBytes = 4560 + (size_t{48} << 18);
/// Where in it the arrays of narrow elements stand that nothing has written, by first address and end.
constexpr size_t kFreshOffset = 200, kFreshCount = 16;
/// What checked kernels know unwritten global memory by (py::kUnsetWord of the same header).
constexpr int kUnsetByte = 0xcb;

/// What a function threw that needs to know an argument's value (numba.literally): compiled anew with a literal type it may go through.
class LiteralNeeded : public Error {
 public:
  LiteralNeeded(size_t parameter, std::string message) : Error(ErrorKind::Typing, std::move(message)), parameter(parameter) {}
  const size_t parameter;
};

/// Throws ErrorKind::Typing: the source line, a caret, the types that were inferred, one suggestion. Needs whatever the Function's own
/// methods need (the interpreter's lock).
CompiledFunction compile(const Function& function, std::span<const Type> arguments, const CompileOptions& options = {});

/// The error for a text that the C++ compiler refuses, which is a fault of this compiler: it names the line of Python that the refused text
/// comes from. `name` is what the compiler's messages call the text.
Error refused_text(const Error& error, std::string_view text, std::string_view name, const std::map<std::string, SourcePlace>& places);

/// Every name that a compiled function may call, for documentation and suggestions: "cuda.grid", "numpy.sin", "math.hypot", …
std::vector<std::string> known_names();

}  // namespace bc::kernels
