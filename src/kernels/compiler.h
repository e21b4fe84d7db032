#pragma once
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "kernels/compile.h"
#include "kernels/library.h"
#include "kernels/value.h"

/// The compiler's inside. A function is walked statement by statement with the types that its variables have at that point (`Env`); each
/// expression becomes a Value, whose tree (code.h) is typed here and printed when the function is done. Loops are walked until the types at
/// their head are stable, and then once more for their statements. A variable that has several types is several C++ variables, with a
/// conversion where the paths meet.
namespace bc::kernels {

/// Whether an expression reads a variable with one of these names.
bool reads_any(const Node* n, const std::set<std::string>& names);
/// The names that statements bind.
void bound_names(const Node* n, std::set<std::string>* names);
void bound_names(const std::vector<Node*>& body, std::set<std::string>* names);

/// Whether there is a node of a kind, functions inside apart.
bool holds(const Node* n, NodeKind kind);
bool holds(const std::vector<Node*>& body, NodeKind kind);
bool has_finally(const FunctionSyntax& f);
/// Whether statements bind a name after a line, or (`loops`) in a loop that it is in.
bool binds_after(const std::vector<Node*>& body, const std::string& name, int line, bool loops = true);
/// What a loop or a call can walk over, and no variable can hold.
bool is_passing(const Value& v);
/// Whether a loop over a value leaves a generator that has a `finally`: it runs behind the loop.
bool ends_with_finally(const Value& v);
/// Adds the variables that generators in a value read when they run.
void read_later(const Value& v, std::vector<std::string>* names);

class FunctionCompiler;

/// What is known of a local variable at one point.
struct Local {
  Type type = nullptr;
  Type conflict = nullptr;  ///< the other type, where paths with types that do not unify meet
  bool maybe_undefined = false;
  bool non_negative = false;
  uint8_t least = 0;  ///< as in Value, of a loop's variable
  bool index = false;
  bool there = false;     ///< of an optional: a test has told that it is not None
  bool several = false;   ///< as in Value
  bool of_numpy = false;  ///< as in Value
  std::shared_ptr<const Constant> constant;
  bool operator==(const Local&) const = default;
};

struct Env {
  std::vector<std::optional<Local>> locals;
  bool reachable = true;
  bool operator==(const Env&) const = default;
};
/// What holds where two paths meet.
Env join(const Env& a, const Env& b);

/// A function for one list of argument types, within one program.
struct Specialised {
  const Function* function = nullptr;
  const FunctionSyntax* syntax = nullptr;
  std::vector<Type> arguments;  ///< of the parameters, then of captured variables
  std::vector<std::string> captured;
  bool each = false;  ///< a generator that calls `bc_each` with its values, where others are coroutines (generators.cpp)
  std::string name;
  Type result = nullptr;
  bool fails = false;        ///< may raise: takes `int& failure` last
  std::set<int> captures;    ///< arrays on devices that it names, or functions that it calls: parameters behind its own
  std::vector<bool> writes;  ///< of the entry
  bool recursive = false;    ///< calls itself, directly or through others
  bool done = false;
  bool final_types = false;  ///< its result is known, though its text may be in the making
  int depth = -1;            ///< its place in the stack of functions that are being compiled
  std::string declaration, text;
  Facts facts;               ///< of its body
  bool only_numbers = true;  ///< as in CompiledFunction
};

/// The kinds of things that a Python program names; each value begins the C++ name. Names of the device library, of CUDA, of the C library
/// and of the text that is printed around begin otherwise, and so do keywords and macros: no name of a user's can be one of theirs. (A test
/// holds the device library to that.)
enum class Named : char { variable = 'u', function = 'f', type = 'T', field = 'm', captured = 'c' };
/// The C++ name of a Python one; another name for each `nth`, where one Python name is several things. Any text may be a name (a record's
/// field), and different ones have different C++ names.
std::string user_name(Named kind, std::string_view python, int nth = 1);

/// One program: the functions that an entry calls, and the structs and constants that they need.
class Unit {
 public:
  Unit(const Function& entry, const CompileOptions& options) : options(options), entry_(entry) {}
  CompiledFunction compile(std::span<const Type> arguments);

  /// The function for these types; compiles it when it is not there. Its result is nullptr while a recursion has not found it yet.
  Specialised& specialise(const Function& function, const FunctionSyntax& syntax, std::vector<Type> arguments,
                          std::vector<std::string> captured, bool each = false);
  /// The C++ type; defines structs as needed.
  std::string cpp(Type t);
  std::string cpp_object(Type t);
  std::string cpp_instance(Type t);
  std::string cpp_struct(Type t);
  std::string record_members(Type t, const std::vector<std::string>& members, bool* natural_offsets);
  /// Statements that write a result of the type where the caller reads it, and the text of an argument that it wrote.
  std::string host_store(Type t, const std::string& at, uint32_t offset, const std::string& value);
  /// `keeper`: what keeps the memory of arrays there.
  std::string host_load(Type t, const std::string& at, uint32_t offset, const std::string& keeper = {});
  /// The address of a constant array with these elements.
  Code table(Type element, const ConstantArray& array);
  /// Puts the tables that an expression names into CUDA's constant memory; gives the bytes of all tables there, 0 where it names none.
  size_t to_constant_memory(const Facts& facts);
  /// Puts a header of src/device/python before the text.
  void need(const char* header) { headers_.insert(header); }
  /// Tells whether a body has a loop, or calls a function of the unit that has one.
  bool loops(const Facts& facts, int depth = 0) const;
  /// Tells whether a turn of a loop with this body may take long: the body has a loop, or calls what may have one. (polls.cpp)
  bool may_take_long(const Facts& facts, int depth = 0) const;
  int failure(Failure f);
  /// The number of an array on a device that a function names.
  int capture(const Entity& e, std::string_view name);
  // ---- linked.cpp
  void link(const LinkedCode& code);
  /// How a linked function is called: its own declaration, and the types of bc_linked_<symbol>, which calls it.
  struct Foreign {
    std::string declaration, result;
    std::vector<std::string> parameters;
    /// The head of bc_linked_<symbol>, and a call of another function with its parameters.
    std::string signature(const std::string& symbol) const;
    std::string call(const std::string& function) const;
  };
  void declare_foreign(const std::string& symbol, Foreign f) { foreign_[symbol] = std::move(f); }
  std::string foreign_declarations() const;
  /// The linked CUDA C++, which stands behind all that is printed and behind the library, so that its macros change neither, and the bodies
  /// of the functions that call it.
  std::string foreign_text() const;
  bool defined_here(const std::string& symbol) const;
  /// The place in the code that holds the address of a function of this process.
  Code address(const void* function);
  std::string address_text() const;
  /// The entry for C.
  std::string callback_text(const Specialised& s, const std::string& name);
  std::string printed_functions(const Specialised& s);
  std::string entry_text(const Specialised& s, const std::string& name);
  std::string next_text(const Specialised& s, const std::string& name);
  /// The function that tells whether a failure's code is of an exception class.
  std::string matcher(Type cls);
  int site(CheckSite s);
  /// The number of a block that the interpreter runs.
  int interpret(InterpretedBlock b);

  const CompileOptions& options;
  bool uses_grid_sync = false, uses_dynamic_shared = false;
  /// Checked mode: the functions that give the shared arrays, and the arrays' bytes.
  std::map<std::string, std::pair<std::string, int64_t>> shared_arrays;
  bool orders_blocks = false;  ///< fences or the grid's barrier are used: checked mode does not compare blocks
  /// Inner functions and lambdas by their syntax.
  std::unordered_map<const void*, std::pair<const Function*, const FunctionSyntax*>> inner;
  /// What inner functions that were given away read of the functions around them: constants.
  struct ClosedOver {
    Constant value;
    bool used = false, varies = false;
  };
  std::map<std::pair<const void*, std::string>, ClosedOver> closed_over;
  std::map<const FunctionSyntax*, size_t> carried_functions;  ///< inner functions whose variables go along with them, by number
  /// The text changes containers that it did not just make (a loop over a dict moves its entries together): threads of a parallel loop
  /// then need their locks.
  bool changes_containers = false;
  bool prints = false;
  bool names_library_types = false;           ///< cpp() gave a type of src/device/python
  std::vector<std::string> trail;             ///< the calls that led here, for messages
  std::map<std::string, SourcePlace> places;  ///< of the lines of Python that the text has as comments

 private:
  friend class FunctionCompiler;
  friend class BuiltinCall;
  void run(Specialised* s);
  std::string unique(Named kind, std::string_view python);
  std::string unique(const std::string& own);
  std::string matcher_declarations() const;
  std::string matcher_texts() const;

  const Function& entry_;
  std::map<std::string, std::unique_ptr<Specialised>> functions_;
  std::vector<Specialised*> order_;  ///< in the order of their first use
  std::vector<Specialised*> stack_;
  static constexpr int kNone = 1 << 30;
  int lowest_used_ = kNone;  ///< the outermost unfinished function that was called
  std::unordered_map<Type, std::string> structs_;
  std::string struct_text_;
  struct Table {
    std::string key, name, address, words;
    size_t count = 0;
    bool constant_memory = false;
  };
  std::vector<Table> tables_;
  std::set<std::string> headers_;
  std::map<std::string, int> names_;
  std::vector<Failure> failures_;
  std::vector<LinkedCode> linked_;
  std::map<std::string, Foreign> foreign_;  ///< by their symbols
  struct BySpelling {
    bool operator()(Type a, Type b) const { return a->spelling != b->spelling ? a->spelling < b->spelling : a->id < b->id; }
  };
  std::map<Type, std::string, BySpelling> matchers_;  ///< in an order that each process finds anew
  std::vector<CheckSite> sites_;
  std::vector<InterpretedBlock> interpreted_;
  std::vector<const void*> addresses_;
  struct Capture {
    CapturedArray array;
    std::string text;  ///< the parameter's name
    std::function<Entity()> frozen;
    int uses = 0, reads = 0;  ///< how often it is named, and how often only to read an element or its shape
  };
  std::vector<Capture> captures_;
};

/// What to write in the place of a construct that compiled functions have not, by its name in Python's ast.
std::string instead_of(std::string_view construct);
/// The same for a function, for a class whose objects cannot be made, and for a method (empty: nothing is known).
std::string instead_of_call(const std::string& name);
std::string instead_of_class(std::string_view name);
std::string instead_of_method(std::string_view name);
/// The type that a value has inside a container, or where it leaves a function: literals are values.
Type stored_type(Type t);
/// The type that holds both: numbers inside containers are widened, too; nullptr: there is none.
Type widened(Type a, Type b);
bool can_be_held(Type t);
bool can_be_key(Type t);
bool has_order(Type t);

/// C++ literals of a text: of its bytes, and of a py::Str.
std::string quoted_text(std::string_view s);
std::string literal_text(std::string_view s);

/// How `for` walks over something: an element for each index in [0, length).
struct Iteration {
  Code length;  ///< i64
  std::function<Value(const std::string& index)> item;
  /// Where items are not counted: the C++ test before each turn, which goes on to the item.
  std::function<Code(const std::string& index)> more = {};
  /// Where a generator calls the loop's body: the call up to the body, which returns 0 where others go on by `continue`.
  Code call = {};
  /// The head of the C++ loop. `grows`: what is walked may change its length meanwhile.
  Code head(const std::string& index, bool grows = false) const;
};

/// The names that random_call, complex_call and vector_call know.
std::vector<const char*> random_names();
std::vector<std::string> complex_names();
std::vector<std::string> vector_names();

/// Tells whether the value is a record inside an array.
bool is_record_reference(const Value& v);
/// Tells whether a text is an element of an array of texts, which is `items[0]`.
const Value* unowned_view(const Value& v);
bool is_method_of_bytes(std::string_view name);
inline bool read_from_characters(const Value& v) { return v.is(Kind::text) && v.items.size() == 1 && is_characters(v.items[0].type); }
/// Tells whether the C++ struct needs no packing, so that references to members may be taken.
bool is_natural_record(Type record);

/// What an access to an element does, for checked mode.
enum class Access : uint8_t { read, write, atomic, bounds };

struct CallArguments {
  std::vector<Value> positional;
  std::vector<const Node*> nodes;
  std::vector<std::pair<std::string, Value>> keywords;
  /// The same behind another argument, as a method's function has them.
  CallArguments behind(const Value& self, const Node* at) const {
    CallArguments all = *this;
    all.positional.insert(all.positional.begin(), self);
    all.nodes.insert(all.nodes.begin(), at);
    return all;
  }
};
/// The types of arguments, for messages.
std::string spelled(const CallArguments& args);
/// The names of the table in builtin_calls.cpp.
std::vector<std::string> builtin_names();
/// The dtype that a sum or product of a dtype has.
DType sum_dtype(DType d);
/// Kinds of reductions, by their names.
inline bool averages(std::string_view name) { return name == "mean" || name == "var" || name == "std"; }
std::optional<int> row_of_comparison(Operator op);
std::string_view extreme_function_of_times(std::string_view name);
/// Whether values of the type count references in functions for the CPU.
inline bool is_counted(Type t) { return t->is_array() || t->is_container() || t->is(Kind::instance) || t->is(Kind::text); }
inline bool finds_place(std::string_view name) { return name == "argmin" || name == "argmax"; }
inline bool finds_extreme(std::string_view name) { return finds_place(name) || name == "min" || name == "max"; }

class FunctionCompiler {
 public:
  FunctionCompiler(Unit& unit, Specialised& s) : unit_(unit), spec_(s), function_(*s.function), syntax_(*s.syntax) {}
  /// Walks the function until its types are stable, then prints it.
  void run();
  Type found_result(Type declared);
  void settle_types();
  void declare_kernel(std::string list);
  void declare_function(std::string list);

 private:
  // ---- statements.cpp
  void pass(bool emitting);
  /// What the signature that the function is compiled for says it returns, or nullptr.
  Type declared_result() const;
  void block(const std::vector<Node*>& body);
  void statement(const Node* n);
  void if_statement(const Node* n);
  const char* rolled(const Facts& body, bool steps_vary = false);

  // ---- polls.cpp
  /// A counted loop, from its head's parts and its body: `step` is a number. On the host it asks now and then whether the user ends it.
  void counted_loop(const Node* n, const std::string& type, const std::string& counter, const Value& start, const Value& stop, int64_t step,
                    const Block& body);
  /// A loop over what may grow meanwhile, up to its `length`, likewise.
  void growing_loop(const Node* n, const std::string& counter, const Code& length, const Block& body);
  bool keeps_lists(const std::vector<Node*>& body) const;
  bool keeps_lists(const Node* n) const;
  bool is_number(const std::string& local) const;
  /// `while test: body`, likewise.
  void tested_loop(const Node* n, const Code& test, const Block& body);
  /// What a loop's head does after each turn to ask; "" in kernels. A `while` loop that writes nothing may wait for what others write.
  Code poll_after(const Node* n);
  bool has_few_turns(const Node* loop) const;
  bool waits(const Node* n) const;
  /// A loop's head, its body and its end.
  void body_of_loop(const Code& head, const Block& body);
  /// The elements in a test that a loop's own turns do not change: another thread does, so each turn reads them again.
  std::set<const Node*> waited_for(const Node* test, const Node* loop) const;
  bool polls_ = false;             ///< a loop of the function asks
  std::set<const Node*> rereads_;  ///< elements of the test that is walked
  void while_statement(const Node* n);
  Value held(Value v);
  Value walked(const Value& v, const Node* loop, const Node* whole);
  void for_statement(const Node* n);
  void range_for(const Node* n, const Value& range);
  void walk_for(const Node* n, const Value& v);
  void unrolled_for(const Node* n, const std::vector<Value>& items);
  void return_statement(const Node* n);
  bool aug_assign_field(const Node* n);
  void aug_assign(const Node* n);
  void aug_assign_name(const Node* n);
  void aug_assign_item(const Node* n);
  void aug_assign_pointer(const Value& pointer, const Node* n);
  void aug_assign_element(const Value& object, const std::vector<Value>& items, const Node* n);
  void update_shared(const Value& old, const Node* n);
  void assign(const Node* target, Value value, const Node* at);
  void assign_name(const std::string& name, Value value, const Node* at);
  void expect_count(size_t names, const Code& count, const Node* at);
  std::vector<Value> list_items(const Value& list, size_t n, size_t star, const Node* at);
  void unpack(const Node* target, const Value& value, const Node* at);
  void loop(const Node* n, const std::function<void()>& head, const std::function<void(const Block& body)>& print,
            const std::function<void()>& before_body);
  void set_local(int index, const Value& v);
  Value iterable_of(const Node* loop);
  Type container_of_names(const std::vector<Node*>& targets) const;
  void emit_edge(const Env& from, const Env& to);
  void comment(const Node* n);
  std::optional<Iteration> iteration(const Value& v, const Node* at);
  void find_free_loads();

  // ---- expressions.cpp
  Value expression(const Node* n);
  Value expression_of(const Node* n);
  void note_type(Type t);
  std::vector<Value> ordered(const std::vector<const Node*>& nodes);
  void settle(size_t place, bool acts, std::span<Value* const> earlier);
  void settle(Value* v, bool acts);
  void perform(const Value& v);
  Value constant_value(const Constant& c);
  Value entity_value(const Entity& e, std::string_view name);
  Value name(const Node* n);
  Value builtin_value(const std::string& name, const Node* n);
  Value attribute(const Node* n);
  Value member_attribute(const Value& member, const std::string& name, const Node* n);
  Value attribute_of(const Value& object, const std::string& name, const Node* n);
  Value builtin_attribute(const Value& object, const std::string& name, const Node* n);
  Value binary(Operator op, const Value& a, const Value& b, const Node* n);
  Value scalar_binary(Operator op, const Value& a, const Value& b, const Node* n);
  Value folded(Operator op, const Value& a, const Value& b);
  DType binary_dtype(Operator op, const Value& a, const Value& b, const Node* n);
  Code quotient(const Value& p, const Value& q, bool known, const Node* n);
  Code floored(Operator op, const Value& p, const Value& q, bool checked, bool both, bool positive, const Node* n);
  Value power(const Value& a, const Value& b, const Node* n);
  Value unary(Operator op, const Value& a, const Node* n);
  Value compare(const Node* n);
  Value compare_from(size_t at, const Value& left, const Value& given, const Node* n);
  Value compare_two(Operator op, const Value& a, const Value& b, const Node* n);
  Value within_range(const Value& a, const Value& b, bool negated, const Node* n);
  Value within_tuple(const Value& a, const Value& b, bool negated, const Node* n);
  Value compare_optional(Operator op, const Value& a, const Value& b, const Node* n);
  Value compare_tuples(Operator op, const Value& a, const Value& b, const Node* n);
  Value compare_numbers(Operator op, const Value& a, const Value& b, const Node* n);
  Value boolean(const Node* n);
  Type container_of_both(const Value& a, const Value& b, const Node* n);
  Value if_else(const Node* n);
  void expect_defaults_stay(const Node* n) const;
  Value inner_function(const Node* n);
  void note_closure(const Value& v, const Node* n);
  Value number_limit(Type t, const std::string& name, const Node* n);
  Value tuple_of(std::vector<Value> items, bool displays = false);
  Value list_of(const Node* n);
  Value starred_display(const Node* n);
  /// The truth of an expression, as C++ writes conditions; `known` is set when it is decided already.
  Code condition(const Node* n, std::optional<bool>* known);
  void narrow(const Node* test, bool holds);
  Value truth(const Value& v, const Node* n);
  Value tuple_item(const Value& t, size_t i);
  Code struct_text(const Value& v);  ///< a tuple's display as one C++ value

  // ---- calls.cpp
  Value call(const Node* n);
  Value call_with_arguments(const Value& callee, const Node* n);
  CallArguments arguments(const Node* n, Value* object = nullptr, bool all = false);
  Value call_choice(const Value& callee, CallArguments args, const Node* n);
  Value call_value(const Value& callee, CallArguments args, const Node* n);
  [[noreturn]] void need_literal(const Node* value, const Node* n);
  /// The signature among those that a function was declared for that takes these types best; fails where none does.
  const FunctionSignature& declared_for(const Function& f, const std::vector<Type>& types, const Node* n);
  std::vector<Value> parameter_values(const Function& f, const FunctionSyntax& syntax, CallArguments args, const Node* n);
  std::string carried_name(const FunctionSyntax& inner, const std::string& name);
  Value variable_named(std::string name, const Node* n);
  void carry_variables(std::vector<Value>* values, std::vector<std::string>* captured, const Node* n);
  std::vector<std::string> captured_values(const FunctionSyntax& syntax, std::vector<Value>* values, const Node* n);
  Value call_function(const Function& f, const FunctionSyntax& syntax, CallArguments args, const Node* n);
  Value map_function(const Function& f, CallArguments args, const Node* n);
  const FunctionSignature& loop_for(const Function& f, const std::vector<Value>& operands, const Node* n);
  Value call_class(Type t, CallArguments args, const Node* n);
  Value elements_in_turn(const Value& arrays, const Node* n);
  Value complex_of(Type t, const Value& re, const Value& im, const Node* n);
  Value number_of_class(Type t, CallArguments args, const Node* n);
  Value fields_of_class(Type t, const CallArguments& args, const Node* n);
  static Value numpy_scalar(Value r, std::string_view function, const std::vector<Value>& arguments);
  Value call_builtin(const std::string& name, CallArguments args, const Node* n);
  Value call_method(const Value& self, const std::string& name, CallArguments args, const Node* n);
  Value array_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  Value number_method(const Value& self, const std::string& name, const std::vector<Value>& p, const Node* n);
  Value search_tuple(const Value& self, const std::string& name, const Value& wanted, const Node* n);
  Value cast_to(Type to, const Value& v, const Node* n);
  std::optional<Value> call_row(const std::string& name, const CallArguments& args, const Node* n);
  std::optional<Value> call_elementwise(const std::string& op, const CallArguments& args, const Node* n);
  Value math_operand(const std::string& name, Value v, bool integral, const Node* at, const Node* n);
  Value elementwise(int op, const std::vector<Value>& args, const Node* n);
  // times.cpp
  Value elementwise_of_times(int op, const std::vector<Value>& args, const Node* n);
  Value unary_of_time(int op, const Value& x, const Node* n);
  Value sum_of_times(int op, Value x, Value y, const Node* n);
  Value product_of_time(int op, const Value& x, const Value& y, const Node* n);
  Value quotient_of_times(int op, Value x, Value y, const Node* n);
  Value compared_times(int op, Value x, Value y, const Node* n);
  Value extreme_of_times(int op, Value x, Value y, const Node* n);
  DType meet_of_times(int op, Value* x, Value* y, const Node* n);
  [[noreturn]] void no_loop_of_times(int op, const std::vector<Value>& x, const Node* n);
  Value ticks_of_times(const Value& v, int64_t less, const Node* n);
  Value reduction_of_times(const std::string& name, const Value& v, const Node* n,
                           const std::function<Value(const std::string&, const Value&)>& reduce);
  std::optional<Value> function_of_times(const std::string& name, const CallArguments& args, const Node* n);
  std::optional<Value> method_of_times(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  Value text_of_time(const Value& v, const Node* n);
  Value stored_time(const Value& v, Type element, const Node* n);
  Code time_in(const Value& v, Type to, const Node* n);
  Value time_constant(int64_t ticks, Type t);
  Value cast_time(Type to, const Value& v, const Node* n);
  Value time_of_class(Type to, const CallArguments& args, const Node* n);
  /// The name of a device function in the form that this entry calls for operands of a type.
  std::string form_of(std::string_view function, DType operand) const;
  Value print_call(const CallArguments& args, const Node* n);
  Value min_max(bool max, const CallArguments& args, const Node* n);
  Value round_call(const CallArguments& args, const Node* n);
  Value atomic(const std::string& name, const CallArguments& args, const Node* n);
  Value make_array(const std::string& space, const CallArguments& args, const Node* n);
  /// What a call of cuda.shared.array or cuda.local.array says.
  struct FixedArray {
    Type element;
    std::vector<int64_t> extents;
    int64_t alignment = 0;
  };
  FixedArray fixed_array(const std::string& space, const CallArguments& args, const Node* n);
  int64_t array_alignment(const std::string& space, const Value& v, const Node* n);
  Value dynamic_shared_array(const Type& array, const Node* n);
  Value checked_shared_array(const Type& array, const std::string& memory, const std::string& declared, const std::string& extents,
                             int64_t count);
  Value reduction(const std::string& name, const Value& a, const Node* n);
  /// What the loops of a reduction name; empty where it needs none.
  struct ReductionNames {
    std::string result, count, place, mean;
  };
  void reduction_turn(const std::string& name, Value x, const ReductionNames& r, Type t, const Node* n);
  /// random.cpp: the functions of cuda.random that have a state.
  std::optional<Value> random_call(const std::string& name, const CallArguments& args, const Node* n);
  /// complex_calls.cpp: cmath.
  std::optional<Value> complex_call(const std::string& name, const CallArguments& args, const Node* n);
  /// vectors.cpp: cuda.float32x4 and its kin, cuda.ldcg and its kin.
  std::optional<Value> vector_call(const std::string& name, const CallArguments& args, const Node* n);

  // ---- linked.cpp
  Value call_foreign(const ForeignFunction& f, const CallArguments& args, const Node* n);
  Value pointer_to(const Value& array, const Node* n);
  /// carray and farray in kernels: the memory behind a pointer or an address as an array.
  Value array_behind(bool fortran, const CallArguments& args, const Node* n);

  // ---- records.cpp
  Value record_reference(const Value& record, const Value& array);
  Value referred(const Value& reference);
  Value array_field(const Value& record, Value field, const std::string& name, const Node* n);
  Value reference_field(const Value& reference, const std::string& name, const Node* n);
  void assign_field(const Value& object, const std::string& name, const Value& value, const Node* target, const Node* at);

  // ---- characters.cpp
  Value characters_read(Value raw, const Node* n);
  Code convert_characters(const Value& v, Type to, const Node* n);
  std::optional<Value> characters_compare(Operator op, const Value& a, const Value& b, const Node* n);
  std::optional<Value> bytes_binary(Operator op, const Value& a, const Value& b, const Node* n);
  Value new_bytes(const CallArguments& args, const Node* n);
  Value characters_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);

  // ---- checks.cpp; without CompileOptions::check they give what they get
  int site(const Node* n, std::string what);
  /// The C++ lvalue of an element whose indices are texts.
  Code place(const Value& array, const Code& indices, Access access, const Node* n);
  /// The field of a record in an array, noted in checked mode (a record's fields may belong to different threads).
  Value field_checked(const Value& field, const Value& reference, Access access, const Node* n);
  Value nan_checked(const Value& r, const std::vector<Value>& operands, const Node* n);
  std::vector<Value> evaluated(const std::vector<Value>& operands);
  void check_barrier(const std::string& row, const Node* n);
  /// Whether a variable of the type starts as a pattern that tells that nothing was assigned to it.
  bool checks_variable(Type t) const { return unit_.options.check && t && t->is_scalar() && t->bytes % 4 == 0; }
  using Handler = Value (FunctionCompiler::*)(const std::string& name, CallArguments& args, const Node* n);
  friend struct Handlers;

  // ---- arrays.cpp
  Value subscript(const Node* n);
  Value subscript_of(const Value& object, const Value& index, const Node* n);
  Value array_subscript(const Value& object, const Value& index, const Node* n);
  Value tuple_subscript(const Value& object, const Value& index, const Node* n);
  Value tuple_slice(const Value& object, const Value& index, const Node* n);
  Value item_at(const Value& object, const Value& whole, const Value& index, const Node* n);
  Value range_item(const Value& object, const Value& index, const Node* n);
  Value bound_for_element(const Value& v, const std::vector<Value>& indices);
  std::vector<Value> index_items(const Value& index);
  /// The same for an array, where lists are arrays.
  std::vector<Value> array_indices(const Value& index, const Node* n);
  /// Whether arrays are among the indices.
  static bool picks(const std::vector<Value>& indices);
  /// The element of an array without dimensions; other values as they are.
  Value scalar_of(const Value& v, const Node* n);
  /// The C++ lvalue of one element; checks, where they are asked for, are added here and only here.
  Code element(const Value& array, const std::vector<Value>& indices, const Node* n);
  Code index_inside(const Code& at, const Code& array, int axis, const Node* n);
  Code index_text(const Value& index, const Code& array, int axis, const Node* n);
  Value view(const Value& array, const std::vector<Value>& items, const Node* n);
  void assign_subscript(const Node* target, const Value& value, const Node* at);
  void assign_elements(const Value& array, const Value& value, const Node* at);
  Value without_leading_axes(const Value& value, int ndim, const Node* at);
  void assign_tuple(const Value& array, const Value& value, const Node* at);
  void assign_loops(const Value& array, LazyArray lazy, const Node* at);
  void assign_by_copy(const Value& array, LazyArray lazy, const Node* at);
  void walk_elements(const LazyArray& lazy, const Value& array, bool backward, const Node* at,
                     const std::function<void(const Value& element, const std::string& indices)>& body);
  void assign_in_order(const LazyArray& lazy, const Value& array, bool backward, const Node* at);
  Value lift(const std::vector<Value>& operands, std::function<Value(std::span<const Value>)> f, const Node* n);
  Code flat_place(const Value& flat, const Value& index, const Node* n);
  Value array_attribute(const Value& a, const std::string& name, const Node* n);
  Value part_of_array(const Value& a, const std::string& name, const Node* n);
  Value field_of_array(const Value& a, size_t field, const Node* n);
  Value viewed_as(const Value& a, Type element, const Node* n);
  Value present(const Value& v, const Node* n);
  Value slice(const Node* n);
  Value record_field(const Value& record, const std::string& name, const Node* n);
  /// Binds an array (a variable stays as it is) so that its text may be written several times.
  Value bound(const Value& v, const char* hint = "t");
  /// Opens loops over the elements of the leaves, broadcast together; returns the element's value inside the innermost one.
  Value open_loops(const LazyArray& lazy, int ndim, const Code& shape, std::vector<std::string>* indices, const Node* n,
                   bool backward = false);
  bool may_alias(const Value& target, const Value& leaf) const;
  void close_loops(int count);
  bool is_arraylike(const Value& v) const { return v.is_array(); }
  std::shared_ptr<const LazyArray> lazy_of(const Value& v);
  /// An array, or a value that stands for every element.
  LazyArray as_lazy(const Value& v);

  // ---- host.cpp
  bool host() const { return unit_.options.entry == Entry::host; }
  Code host_lambda(const LazyArray& lazy, Type result, Code* leaves, const Node* n);
  Value materialise(const Value& v, const Node* n);
  std::optional<int> host_operator(Operator op, const Value& a, const Value& b) const;
  std::vector<Value> host_weak(int op, const std::vector<Value>& args, const Node* n);
  /// Fails where a constant is out of the bounds of the integers that it would become, as NumPy does.
  void expect_fits(const Value& v, Type to, const Node* n) const;
  void host_assign(const Value& out, const Value& value, const Node* n);
  Value host_array(const Value& v, const Node* n);
  Value raveled(const Value& v, const Node* n);
  Code shape_text(const Value& array);
  Code whole_number(const Value& v, const char* what, const Node* n);
  Value reduced_axes(const std::string& name, const Value& v, const Value& axes, const CallArguments& rest, const Node* n);
  Value kept_axes(const Value& a, const Value& axis, const Value& reduced, const Node* n);
  Value nan_reduction(const std::string& name, const Value& v, const Node* n);
  Value sorted_along(const std::string& f, const Value& v, const Value& axis, const Node* n);
  Value same_elements(const Value& x, const Value& y, const Node* n);
  // ---- library.cpp
  std::vector<std::pair<Value, const Node*>> placed_arguments(const LibraryFunction& f, CallArguments args, const std::string& shown,
                                                              const Node* n) const;
  CallArguments library_arguments(const LibraryFunction& f, CallArguments args, const Node* n);
  CallArguments positional_arguments(const LibraryFunction& f, CallArguments args, const Node* n);
  Value call_stand_in(const LibraryFunction& f, CallArguments args, const Node* n);
  void expect_ufunc_method(const std::string& method, const std::string& ufunc, int operands, const Constant& identity,
                           const CallArguments& args, const Node* n);
  void take_loop_of_dtype(const Function& f, CallArguments* args, const Node* n);
  std::optional<Value> numpy_reduction(const std::string& ufunc, CallArguments args, const Node* n);
  std::optional<Value> ufunc_method(const Value& ufunc, const Node* n);
  /// Calls the Python function of python/broadcloth/_overloads that stands for a library function; nothing where there is none.
  std::optional<Value> call_python(const std::string& name, CallArguments args, const Node* n);
  Value call_ufunc(const std::string& name, int op_number, CallArguments args, const Node* n);
  std::vector<Value> loop_operands(const std::string& name, int op_number, std::vector<Value> operands, Type dtype, const Node* n);
  Value whole_divisors(const std::string& name, const CallArguments& args, const Node* n);
  Value whole_function(const std::string& name, CallArguments args, const Node* n);
  bool takes_natively(const LibraryFunction& f, const CallArguments& args) const;
  Value array_operand(const Value& v, bool numbers, const std::string& function, const std::string& parameter, const Node* n);
  struct ReductionOptions {
    Value axis, dtype, ddof;
    bool keepdims = false;
  };
  ReductionOptions reduction_options(const std::string& name, const CallArguments& rest, const Node* n);
  DType wanted_dtype(const std::string& name, const Value& v, const Value& dtype, DType otherwise, const Node* n);
  Value reduced_axis(const std::string& name, const Value& v, const Value& axis, Type t, const Code& freedom, const Node* n);
  Value reduced_whole(const std::string& name, const Value& v, Type t, const Code& freedom, const Node* n);
  Value host_reduction(const std::string& name, const Value& v, const CallArguments& rest, const Node* n);
  Code host_shape(const Value& shape, int* ndim, const Node* n);
  Type host_dtype(const Value& v, Type otherwise, const Node* n);
  Value host_array_of(const Value& v, Type element, const Node* n);
  std::optional<Value> array_of_rows(const CallArguments& args, const Node* n);
  friend class NamedCall;
  friend class BuiltinCall;
  friend class HostCall;
  std::optional<Value> builtin_with_rules(const std::string& name, const CallArguments& args, const Node* n);
  std::optional<Value> host_builtin(const std::string& name, const CallArguments& args, const Node* n);
  /// A slice of these bounds, as a value that a variable may hold.
  Value slice_of(std::vector<Value> bounds, const Node* n);
  Code slice_text(const Value& slice, const Node* n);
  /// A slice that comes from a variable, a tuple or a call, with its bounds.
  Value with_bounds(Value v);
  std::optional<Value> host_numba(const std::string& name, const CallArguments& args, const Node* n);
  Value call_address(const ForeignFunction& f, const CallArguments& args, const Node* n);
  std::optional<Value> overloaded_member(const char* table, const Value& self, const std::string& name, CallArguments args, const Node* n);
  std::optional<Value> random_order(const std::string& what, const std::vector<Value>& p, const Node* n);
  std::optional<Value> host_random(const std::string& f, bool python, const CallArguments& args, const Node* n);
  void expect_cast(Type from, Type to, const Value& casting, const Node* n) const;
  Value item_of_array(const Value& self, const std::vector<Value>& p, const Node* n);
  std::optional<Value> host_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  Value host_product(const Value& x, const Value& y, const Node* n, bool as_dot = false);
  std::optional<Value> host_axes(const std::string& f, const CallArguments& args, const Node* n);
  Value host_index(const Value& object, const Value& index, const Node* n);
  bool host_assign_index(const Value& object, const Value& index, const Value& value, const Node* n);
  /// Arrays of indices beside other indices.
  struct Picked {
    Code view, axes, offsets;  ///< as py::take_at takes them
    int place = 0;             ///< of the indices' axes among those of the result
    int ndim = 0;              ///< of the result
  };
  Picked host_pick(const Value& a, const std::vector<Value>& given, const Node* n);
  Value host_picked(const Value& a, const std::vector<Value>& given, const Node* n);
  void host_pick_assign(const Value& a, const std::vector<Value>& given, const Value& value, const Node* n);
  Value host_print(const CallArguments& args, const Node* n);
  bool is_prange(const Node* n);
  // ---- host_interpret.cpp
  void with_statement(const Node* n);
  // ---- host_parallel.cpp
  /// A name that the turns of a parallel loop sum up.
  struct ParallelReduction {
    int index;
    std::string op;
    bool rebinds;
  };
  /// A parallel loop as it is printed: what comes before it, in each piece before and behind its turns, and behind the loop.
  struct ParallelText {
    Block head, shadows, out, joins;
    Code sizes;
    std::string k, first, last, length, grain;
  };
  void share_objects(const std::set<std::string>& bound, const std::vector<std::optional<Local>>& before, Block* head);
  Code joined_pieces(const std::string& op, Type element, const Code& x, const Code& y);
  void reduce_pieces(const ParallelReduction& r, ParallelText* t, const Node* n);
  void parallel_for(const Node* n, const Value& range);
  bool differs_by_turn(const Node* index, int depth) const;
  bool meets_other_turns(const Node* target) const;
  // ---- containers.cpp
  void refine(const Node* target, Type t, const Node* n);
  Type container_of(const Node* n);
  Value made(const Value& v, Type hint, const Node* n);
  Value kept(const Value& v, Type hint, const Node* n);
  void expect_no_mixed_list(const Value& v, const Node* n) const;
  Value finished(const Value& display, const Node* n);
  Code display_text(const Value& v, Type to, const Node* n);
  Value table_display(const Node* n);
  Value call_container(const std::string& name, const CallArguments& args, const Node* n);
  Value list_from(const Value& v, const Node* n);
  bool walk_items(const Value& given, const Node* n, const std::function<void(Type)>& begin,
                  const std::function<void(const Value& item, const char* next, const char* stop)>& turn);
  Value collected(const std::string& what, const Value& over, const Value* keep, const Node* n);
  using Test = std::function<Value(Value)>;
  /// Whether any or all values of an iterable pass a test: it asks for no more than it needs.
  Value tested(bool any, const Value& over, const Test& test, const Node* n);
  Value list_array(const Value& list);
  // ---- comprehensions.cpp
  friend class DryWalk;
  friend class Comprehension;
  friend class ArrayComprehension;
  Value comprehension(const Node* n);
  std::optional<Value> array_of_comprehension(const Value& callee, const Node* n);
  std::set<const Node*> as_lists_;  ///< generator expressions whose values are all taken at once
  // ---- containers.cpp
  Value container_call(Value object, const Node* n);
  Value list_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  Value set_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  Value dict_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  void sort_list(const Value& list, const CallArguments& args, const Node* n);
  void expect_order(Type t, const Node* n) const;
  std::optional<Value> container_binary(Operator op, const Value& a, const Value& b, const Node* n);
  bool container_update(const Node* target, Operator op, const Value& a, const Value& b, const Node* n);
  std::optional<Value> container_compare(Operator op, const Value& a, const Value& b, const Node* n);
  std::optional<Value> contained(Operator op, const Value& x, const Value& y, const Node* n);
  std::optional<Value> text_compare(Operator op, const Value& x, const Value& y, const Node* n);
  std::optional<Value> tuple_order(Operator op, const Value& x, const Value& y, const Node* n);
  std::optional<Value> container_order(Operator op, const Value& a, const Value& b);
  std::optional<Value> container_item(const Value& object, const Value& index, const Node* n);
  bool container_store(const Node* target, const Value& object, const Value& index, const Value& value, const Node* at);
  bool container_update_item(const Node* n);
  void delete_statement(const Node* n);
  std::optional<Iteration> container_iteration(const Value& v, const Node* at);
  Iteration keys_iteration(const Value& v);
  Iteration dict_view_iteration(const Value& v);
  Iteration text_iteration(const Value& v, const Node* at);
  std::optional<Iteration> indices_iteration(const Value& v, const Node* at);
  Iteration generator_iteration(const Value& v);
  std::map<std::string, Type> container_types_;  ///< of names, as far as known
  std::set<const Node*> walked_calls_;           ///< calls whose result a `for` walks over, alone or by enumerate() or zip()
  bool lists_changed_ = false;                   ///< in this walk
  Type hint_ = nullptr;                          ///< what the display that comes next is to be
  // ---- generators.cpp
  Value yield_expression(const Node* n);
  bool keeps_generator(const std::string& name) const;
  void expect_bound_once(const Value& v, const Node* at) const;
  bool yields_each_turn(const Node* loop) const;
  /// How a generator calls the body of a loop over a call of its function; none where a coroutine is needed.
  std::optional<Iteration> called_iteration(const Value& generator, const Node* loop);
  void called_loop(const Node* n, const Iteration& walk);
  void end_of_call(const Block& body, const Code& end);
  /// Prints the statements that leave the function; `result` is empty where it has none. The body of a loop that a generator calls tells by
  /// 0 that the loop goes on, by 1 that `break` left it, and by 2 that the function is to be left with bc_result.
  void leave_with(const Code& result);
  int bodies_ = 0;               ///< loops around that generators call the bodies of
  bool leaves_ = false;          ///< such a body leaves the function
  bool body_is_called_ = false;  ///< the next loop's
  // ---- classes.cpp
  Value instance_attribute(const Value& self, const std::string& name, const Node* n);
  const Function* instance_method(Type self, const std::string& name) const;
  std::optional<Value> instance_operator(const std::string& name, const std::vector<Value>& values, const Node* n);
  std::optional<Value> instance_operator(Operator op, const Value& a, const Value& b, const Node* n);
  Value new_instance(Type t, CallArguments args, const Node* n);
  void assign_instance_field(const Value& self, const std::string& name, const Value& value, const Node* n);
  std::optional<Iteration> side_by_side(std::span<const Value> parts, const Node* at,
                                        const std::function<Value(std::vector<Value>)>& together, bool strict = false);
  Type yielded_ = nullptr;  ///< what the generator gives
  // ---- texts.cpp
  Code text_operand(const Value& v, const Node* n);
  std::optional<Value> text_of_arrays(const Value& given, const char* function, const Node* n);
  /// A part of a formatted text: itself, or a value with its conversion ('r', 's' or 0) and its specification, whose type is nullptr where
  /// there is none.
  struct TextPart {
    std::string text;
    Value value;
    char conversion = 0;
    Value specification;
  };
  Value text_of_parts(const std::vector<TextPart>& parts, const Node* n);
  Value formatted_text(const Node* n);
  std::vector<TextPart> replacement_fields(std::string_view pattern, const CallArguments& args, size_t* next, const Node* n);
  std::vector<TextPart> percent_fields(std::string_view pattern, const Value& operand, const Node* n);
  std::optional<Value> text_class(const std::string& name, const CallArguments& args, const Node* n);
  std::optional<Value> text_method(const Value& self, const std::string& name, const CallArguments& args, const Node* n);
  // ---- exceptions.cpp
  struct Protection {
    int loops = 0;                  ///< around the try statement
    const Node* finally = nullptr;  ///< what is done last
    std::string caught, label, left;
    uintptr_t number = 0;  ///< of the label
    Env seen;              ///< what holds wherever something may be raised
  };
  void raise_statement(const Node* n);
  void assert_statement(const Node* n);
  void try_statement(const Node* n);
  void enter_try(const std::map<int, Type>& pins);
  void walk_try(const Node* n, const std::map<int, Type>& pins, Protection* p);
  void pin_types(const Node* n, const Protection& p, std::map<int, Type>* pins);
  void finally_part(const std::vector<Node*>& body, const Protection& p, const Env& after, const Env& seen);
  /// A branch behind a try statement's body.
  struct Branch {
    Code test;
    Block text;
    Env end;
  };
  Branch handler_branch(const Node* handler, const Protection& p, const Env& seen, bool* catches_all);
  void except_parts(const Node* n, const Protection& p, const Env& after, const Env& seen);
  static Code jump(const Protection& p);
  void label(const std::string& name) { line(code("{}:;", name).with(kLabelled)); }
  void fail_with(int code);
  void raise_where(const Code& test, const Block& raising);
  void fail_if(const Code& test, const char* type, std::string message, const Node* n);
  void fail_if_of(const Code& test, const char* type, std::string message, const Code& parts, const Node* n);
  void pass_failure();
  void pin(const std::set<std::string>& names, const Env& before, const Env& seen, std::map<int, Type>* pins);
  void leave_protections(int loops, bool returning);
  Type caught_type(const std::string& caught);
  std::vector<Protection> protections_;    ///< the try statements around
  std::vector<std::map<int, Type>> pins_;  ///< the types of variables in them
  std::map<std::string, std::map<int, Type>> try_types_;
  std::vector<std::string> handled_;  ///< the handlers around
  std::vector<std::pair<std::string, std::string>> caught_names_;
  bool in_map_ = false;  ///< inside the elements of a vectorized function's call
  int throws_ = 0;       ///< inside a function that gives a value to the library: failures are thrown
  /// Failures that no handler around takes are thrown: no jump leaves the function that the statements are in, or it has no `failure`.
  bool throws() const { return in_parallel_ || throws_ > 0 || bodies_ > 0 || syntax_.yields; }

  bool in_elements_ = false;  ///< inside an array expression: NumPy's division, which does not raise
  bool in_parallel_ = false;
  size_t parallel_loops_ = 0;                           ///< how many loops there are up to the parallel one, itself included
  std::string parallel_counter_;                        ///< the parallel loop's variable
  std::set<std::string> parallel_own_;                  ///< names that each piece of it has for itself
  std::map<std::string, const Node*> parallel_values_;  ///< names that its body assigns, with the value where there is one alone

  // ---- print.cpp
  Code place_of_function(const Value& v, Type to);
  Code convert(const Value& v, Type to, const Node* n);
  Value converted(const Value& v, Type to, const Node* n);
  std::string literal(const Constant& c, Type t);
  Code paren(const Value& v) const { return operand(v.text); }
  std::string temporary(const char* hint = "t");
  /// Evaluates into a constant variable now.
  Value spill(const Value& v, const char* hint = "t");
  /// A tuple as one C++ variable, for an index that is known at run time only.
  Value stored(const Value& v);
  std::string variable(int local, Type t, bool* declare_here = nullptr);
  /// A statement that does something.
  void line(Code statement) {
    Facts facts = statement.facts();
    facts |= Facts(kActs);
    out_.line(depth_, std::move(statement), facts);
  }
  /// One that does no more than its expressions do: a new variable's.
  void quiet_line(Code statement) { out_.line(depth_, std::move(statement)); }
  template <class... A>
  void linef(fmt::format_string<std::conditional_t<true, std::string_view, A>...> pattern, A&&... operands) {
    line(code(pattern, std::forward<A>(operands)...));
  }
  /// The statements that `f` makes, apart from those so far.
  template <class F>
  Block captured(F&& f) {
    Block outer = std::exchange(out_, {});
    ++depth_;
    f();
    --depth_;
    return std::exchange(out_, std::move(outer));
  }
  std::string cpp(Type t) { return unit_.cpp(t); }

  // ---- errors.cpp
  [[noreturn]] void fail(const Node* n, std::string message, std::vector<std::pair<std::string, Type>> types = {},
                         std::string suggestion = {}) const;
  std::vector<std::string> members_of(Type t) const;
  std::string nearest(const std::string& name, const std::vector<std::string>& among) const;
  std::string source_of(const Node* n) const;

  struct Loop {
    const Node* node;
    std::string key;
    bool unrolled = false;
    bool called = false;  ///< its body is a function that a generator calls
    std::string broke;    ///< the flag that a `break` sets, for else
    std::string break_label, continue_label;
    Env continues{{}, false}, breaks{{}, false};
    const Env *head = nullptr, *exit = nullptr;  ///< where to convert to
  };
  struct LoopTypes {
    Env head{{}, false}, exit{{}, false};
  };

  Unit& unit_;
  Specialised& spec_;
  const Function& function_;
  const FunctionSyntax& syntax_;

  Env env_;
  bool emitting_ = false;
  Block out_;
  int depth_ = 1;
  int temporaries_ = 0, labels_ = 0;
  Type returned_ = nullptr;
  bool falls_off_ = false;
  bool fails_ = false;
  bool needs_failure_ = false;  ///< calls something that fails, though it does not itself
  std::vector<Loop> loops_;
  std::map<std::string, LoopTypes> loop_types_;
  std::string unrolled_;  ///< which copy of an unrolled body this is
  std::map<std::pair<int, Type>, std::string> variables_;
  std::string declarations_;
  std::set<std::string> taken_;
  /// Host: the variables that may be read before they are bound, of which the text knows by has_<index> whether they are. Parallel loops
  /// give each piece its own variables, so what they bind is not asked about.
  std::set<int> unbound_reads_, bound_in_parallel_;
  bool asks_whether_bound(int index) const { return emitting_ && unbound_reads_.contains(index) && !bound_in_parallel_.contains(index); }
  void note_bound(int index, bool bound);
  std::set<std::string> free_loads_;  ///< loop variables that are read outside their loop or assigned inside it
  bool declared_dynamic_ = false;
  std::vector<int> uses_, reads_;  ///< of each parameter: how often it is named, and how often only to read an element or its shape
  std::set<int> captures_;
  std::map<std::string, int> captured_names_;  ///< which array on a device a name of this function is
  void note_read(const Node* array);
  std::string last_comment_;
  Access access_ = Access::read;  ///< what the next element() is for
  std::string poisons_;           ///< fills arrays of this function with the pattern of checked mode
  bool poisons_shared_ = false;
};

}  // namespace bc::kernels
