#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/jit/jit.h"
#include "bind/jit_values.h"
#include "bind/kernels.h"
#include "bind/vectorcall.h"
#include "kernels/compile.h"

/// Functions under broadcloth.jit: from Python arguments to compiled code and back.
namespace bc::bind::jit {

/// What broadcloth.jit was asked for.
struct Options {
  bool nogil = false;
  bool parallel = false;
  int fastmath = 0;  ///< as bc_jit_flags::fast_math
  bool boundscheck = false;
  bool python_errors = true;  ///< error_model="python": a division by zero raises
  bool cache = false;
  kernels::Type callback = nullptr;                  ///< cfunc: what C takes back
  std::vector<kernels::FunctionSignature> declared;  ///< given before anything was called
};

/// A block that the interpreter runs.
struct InterpretedBlock {
  PyObject* callable;
  Box inputs;
  kernels::Type outputs;
  std::vector<std::string> names;
};

/// What one call has for the blocks that the interpreter runs.
class Interpretation {
 public:
  Interpretation(host::Call* call, const std::vector<InterpretedBlock>& blocks, const Frame& frame);
  /// Raises what a block raised, where that is what ended the call.
  void raise_again(const host::Call& call);

 private:
  friend struct InterpreterOf;
  const std::vector<InterpretedBlock>& blocks_;
  const Frame& frame_;
  PyRef error_;
  host::Raised raised_ = host::Raised::none;
  std::string message_;
};

/// A function compiled for the types of its arguments. Never freed: other functions may hold its address.
struct Compiled {
  std::vector<kernels::Type> arguments;
  kernels::Type result = nullptr;
  host::Entry entry = nullptr;
  host::Entry next = nullptr;                      ///< of a generator: its next value
  std::vector<bool> writes;                        ///< which arguments' memory it may write
  bool lets_go = false;                            ///< it prints or calls the interpreter, so that other Python threads may run meanwhile
  bool threads = false;                            ///< counts are atomic, and shared containers are locked
  mutable const Compiled* with_threads = nullptr;  ///< the same once more, where it was needed; guarded by the compiler's lock
  void* callback = nullptr;                        ///< the entry for C, where one was asked for
  Box box;
  std::vector<kernels::Failure> failures;
  std::vector<InterpretedBlock> interpreted;
  std::string text;    ///< the C++ that was compiled
  double seconds = 0;  ///< spent in the compiler
  bool from_disk = false;
};

/// A compiled function as a call finds it: the words of a call's key, and what must be done to its arguments. Never changed once made.
struct Overload {
  std::vector<uint64_t> words;
  const Compiled* compiled = nullptr;
  std::vector<int8_t> convert;                     ///< for each argument the dtype it is converted to, or -1; empty: none is
  std::vector<PyRef> kept;                         ///< objects that the words name by address
  std::vector<std::pair<size_t, PyRef>> literals;  ///< arguments whose values it was compiled for
  const Overload* next = nullptr;
};

/// What Python loops over: a generator of compiled code, whose count it takes over, and the arguments that it reads.
PyRef new_generator(const Compiled* compiled, host::Block* block, PyRef arguments);
void init_generators(PyObject* module);

struct PyDispatcher {
  PyObject_HEAD Vectorcall vectorcall;
  PyObject* function;  ///< the Python function
  PyObject* dict;
  PyObject* weakrefs;
  PyObject* names;                         ///< tuple: its parameters
  PyObject* defaults;                      ///< tuple or nullptr: of the last parameters
  std::atomic<const Overload*> overloads;  ///< a list that only grows, the newest first; calls walk it without a lock
  const Overload* forgotten;               ///< lists that were dropped: calls of other threads may still be at them
  std::vector<const Compiled*>* compiled;  ///< guarded by the compiler's lock
  Options* options;
  int keyword_only;          ///< how many of the last parameters are only given by name
  bool rest;                 ///< the function has *args, which come as a tuple after its parameters
  std::atomic<bool> closed;  ///< signatures were given: nothing else is compiled
};
bool is_dispatcher(PyObject* o);
PyDispatcher* as_dispatcher(PyObject* o);

/// The optimised code as "ir" or "asm".
std::string inspect(PyDispatcher* self, const Compiled& compiled, const char* stage);

/// Lets compiled functions ask the interpreter about characters beyond ASCII. Called with Python's lock before one is compiled.
void know_characters();
/// How the text of compiled functions is compiled.
bc_jit_flags host_flags(int fastmath);
/// Compiles the function for the types, or finds it compiled. Throws TypingError and what the compiler says.
/// `result`: what it returns, where a signature says so. `threads`: other threads may hold the objects that it takes.
const Compiled* compile(PyDispatcher* self, const std::vector<kernels::Type>& arguments, kernels::Type result = nullptr,
                        bool threads = false);
/// The signatures that were given, of a function that is compiled for no other types.
std::vector<kernels::FunctionSignature> declared_signatures(PyObject* dispatcher);

}  // namespace bc::bind::jit
