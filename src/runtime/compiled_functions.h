#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/container_lock.h"

/// What compiled Python functions need of the engine while they run on the CPU: memory that arrays own, exceptions, parallel loops,
/// matrix products and printing. Compiled code reaches it through a table of functions, whose C layout is repeated in
/// src/device/python/host.h.
namespace bc::host {

/// Memory that arrays made by compiled code share. The bytes follow the header.
struct alignas(64) Block {
  int64_t count;  ///< arrays that own it
  int64_t bytes;
  Block* next;  ///< in its call's list, so that an exception can free what it jumps over
  Block* previous;
  struct Call* call;  ///< nullptr: outlives the call
  void* data() { return this + 1; }
};

/// Kinds of Python exceptions, by the numbers that compiled code passes.
enum class Raised : int32_t {
  none,
  value,
  index,
  zero_division,
  type,
  key,
  runtime,
  overflow,
  assertion,
  memory,
  not_implemented,
  stop_iteration,
  arithmetic,
  attribute,
  lookup,
  exception,
  os,
  linalg,
  floating_point,
  name,
  axis,
  interrupted,  ///< by the user (runtime/interrupt.h)
  recursion
};

/// An argument of an exception: None, or a value.
using Argument = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string>;

/// What begins the memory of a list, a set, a dict or another object of compiled code, after its Block.
struct Shared {
  void (*end)(Block*);    ///< gives back what the object holds, and its memory
  void (*share)(Block*);  ///< marks the objects in it as shared
  int64_t changed;
  int64_t shared;  ///< several threads may hold the object: who reads or changes it takes the lock
  ContainerLock lock;
};
/// Gives back one count of such an object.
void drop_shared(Block* block);
/// Marks an object that only this thread uses so far, and what it holds, as one that several threads may hold.
void share(Block* block);
/// Memory that no call owns.
Block* new_block(int64_t bytes);
/// A block without elements that stands for memory of others: `release(object)` ends it.
Block* new_foreign(void* object, void (*release)(void* object), const void* low, const void* high);

/// Runs the interpreter's blocks of compiled functions. The binding has it.
struct Interpreter {
  /// 0 and what keeps the results, or the kind of the exception that was raised and its message.
  Raised (*run)(struct Call* call, int32_t which, const void* inputs, void* outputs, void** kept, std::string* message);
  Block* (*keep)(void* kept, const void* data);
  void (*forget)(void* kept);
};

/// One call of a compiled function from Python. What it made and did not free lives on after it.
struct Call {
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { adopt(); }
  /// Takes all blocks out of the call; whoever owns a count of one gives it back with drop().
  void adopt();

  Block* blocks = nullptr;
  mutable std::mutex mutex;  ///< of the list: threads of a parallel loop allocate, too
  int32_t failure = 0;       ///< the entry's answer
  Raised raised = Raised::none;
  std::string message;
  std::vector<Argument> arguments;                           ///< of the failure, where they are not constants
  Block* (*keeper)(Call* call, const void* data) = nullptr;  ///< what keeps an argument's memory alive
  void* keeper_context = nullptr;
  const Interpreter* interpreter = nullptr;
  void* interpreter_context = nullptr;
  bool threads = false;  ///< other threads may give back what the call makes: its blocks are in no list, results are noted in `results`
  std::vector<Block*> results;
  std::string printed;  ///< by threads of a parallel loop, for the thread that called it to print
};

/// A generator of random numbers: MT19937 (Matsumoto & Nishimura 1998), as numpy.random and random have it. Each thread has its own.
struct RandomState {
  static constexpr uint32_t kWords = 624;
  uint32_t at;  ///< the next of `words`; kWords: they are used up
  int32_t has_normal;
  double normal;           ///< the second of a pair, where there is one
  uint32_t words[kWords];  ///< tempered
  uint32_t state[kWords];
};
/// A thread's states: numpy.random's is 0, random's is 1. Seeded by the system where the program did not.
RandomState* random_state(int32_t which);
/// As numpy.random.seed does it.
void seed_random(RandomState* s, uint64_t seed);
/// Makes the next words.
void refill_random(RandomState* s);

/// Of a message: a number, or a shape with so many axes (-1 in it is the extent that was left open).
struct Part {
  int64_t number;
  const int64_t* shape;
};

/// What compiled code calls. The order is fixed: src/device/python/host.h has the same.
struct Table {
  Block* (*allocate)(int64_t bytes);
  void (*release)(Block* block);
  [[noreturn]] void (*raise)(int32_t kind, const char* text, int64_t size, int32_t line);
  /// One argument of the exception that is raised next, by a tag (py::Tag).
  void (*argument)(int32_t tag, uint64_t bits, const char* text, int64_t size);
  /// Takes the exception that is on its way; `code` is the number of a failure of the text, or minus a kind.
  void* (*caught)(int32_t* code);
  /// Raises it again.
  [[noreturn]] void (*again)(void* exception, int32_t code);
  const char* (*message)(void* exception, int64_t* size);
  void (*forget)(void* exception);
  void (*parallel)(int64_t items, int64_t grain, void (*body)(void* context, int64_t begin, int64_t end), void* context);
  int32_t (*threads)();
  void (*set_threads)(int64_t threads);
  int32_t (*thread_id)();
  void (*print)(const char* text, int64_t size);
  /// c = a @ b for m x k and k x n elements of a DType's number; strides (row, column) in elements, c row-major.
  void (*product)(int32_t dtype, int64_t m, int64_t n, int64_t k, const void* a, const int64_t* a_strides, const void* b,
                  const int64_t* b_strides, void* c);
  RandomState* (*random)(int32_t which);
  void (*seed_random)(RandomState* s, uint64_t seed);
  void (*refill_random)(RandomState* s);
  /// Writes a float as Python prints it; gives the length (at most 32).
  int64_t (*format)(double value, int32_t single, char* to);
  /// format(value, spec); gives the bytes written.
  int64_t (*format_spec)(int32_t tag, uint64_t bits, const char* text, int64_t text_size, const char* spec, int64_t spec_size, char* to,
                         int64_t room);
  /// float(text); 0: it is none.
  int32_t (*parse)(const char* text, int64_t size, double* value);
  /// What the interpreter knows of a character; see py::CharacterQuestion. Takes no lock.
  uint64_t (*unicode)(int32_t question, uint32_t point);
  /// A count of the block that keeps an argument's memory alive, nullptr where there is none.
  Block* (*keep)(const void* data);
  /// Makes a block that outlives calls one of this call's results.
  void (*link)(Block* block);
  /// Lets the interpreter run block `which` of the function; gives what keeps its values.
  void* (*interpret)(int32_t which, const void* inputs, void* outputs);
  /// A count of the block that keeps an array of these values, nullptr where there is none.
  Block* (*interpreted)(void* kept, const void* data);
  void (*forget_interpreted)(void* kept);
  /// LAPACK in double precision, complex for `complex`; see compiled_lapack.cpp. Gives its info.
  int64_t (*lapack)(int32_t what, int32_t complex, int64_t m, int64_t n, void* a, void* s, void* u, void* v);
  /// An exception in a callback (cfunc): nobody is there to take it.
  void (*ignored)(const char* name, int32_t kind, const char* cls, const char* text, int64_t size);
  /// The word that loops compare (runtime/interrupt.h), what tells them where it has changed whether the user ends the call, and what
  /// raises then.
  const std::atomic<uint32_t>* tick;
  bool (*asked)();
  [[noreturn]] void (*end)();
  /// Around what a thread does with a shared object.
  void (*enter)(Shared* object, int32_t writes);
  void (*leave)(Shared* object);
  /// As raise, with a part in place of each % of the text. Kind 0: what it says becomes the argument of a failure of the text.
  void (*raise_of)(int32_t kind, const char* text, int64_t size, const Part* parts, int64_t count);
  /// Raises what NumPy says of shapes that do not broadcast.
  [[noreturn]] void (*raise_shapes)(const Part* shapes, int64_t count);
  /// The calling thread's stack: its lowest page that may be used in the low 44 bits, and the number of pages. Raises RecursionError where
  /// `page` is below.
  uint64_t (*stack)(uint64_t page);
  /// Calls `end` for a block; where it is called meanwhile, for blocks that this one refers to, it does so afterwards.
  void (*end_linked)(Block* block, void (*end)(Block*));
};
const Table& table();
/// As Table::lapack.
int64_t lapack(int32_t what, int32_t complex, int64_t m, int64_t n, void* a, void* s, void* u, void* v);

/// An entry point of compiled code: 0, or the number of the failure that it ended with.
using Entry = int32_t (*)(void* const* arguments, void* result);

/// The object behind such a block, nullptr for others.
void* foreign_object(const Block* block);

/// Calls an entry. False when it raised; `call` tells what. What the call made and did not return is free again: exceptions are C++'s.
bool run(Entry entry, void* const* arguments, void* result, Call* call);

/// The block among those that the call left that holds the address, or nullptr. (What a call leaves is what it returns.)
Block* block_of(const Call& call, const void* address);
void hold(Block* block);
void drop(Block* block);

/// Ends the compiled function that calls the engine by an exception.
[[noreturn]] void raise(Raised raised, std::string_view text);

/// Python's name of a raised kind: "ValueError".
const char* exception_name(Raised raised);

/// Where print goes; the binding sends it to sys.stdout.
void set_printer(void (*print)(const char* text, int64_t size));
/// Sets the function that answers Table::unicode; the binding sets it before a function is compiled.
void set_unicode(uint64_t (*answer)(int32_t question, uint32_t point));

}  // namespace bc::host
