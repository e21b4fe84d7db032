#pragma once
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"

/// The compiler of Python functions: types, syntax, typing, and CUDA C++ text.
namespace bc::kernels {

enum class Kind : uint8_t {
  none,    ///< None
  scalar,  ///< one number of the engine's dtypes
  time,    ///< a datetime64 or a timedelta64, of `dtype`
  array,
  tuple,     ///< also named tuples (`fields` is set, `name` is the class)
  record,    ///< structured dtypes and dataclasses
  optional,  ///< None or `element`
  range,     ///< range(...), of `dtype`
  slice,
  pointer,  ///< to `element`, for functions of linked code; kernels only
  // Functions for the CPU only. Lists, sets and dicts share their memory between all their names; `element` is not known (nullptr) until
  // something is put into one.
  list,       ///< of `element`
  set,        ///< of `element`
  dict,       ///< `items` are the key's and the value's type
  text,       ///< a str whose characters are known at run time
  instance,   ///< an object of a jitclass: `fields`, `items`; `object` is the class
  generator,  ///< what a function that yields gives: of `element`
  member,     ///< one of the members of an enumeration: its place; `object` is the class, `fields` are the names. For kernels too
  choice,     ///< one of the functions `items`: its place. For kernels too
  // What follows has no bytes: it is known when the function is compiled and is part of its type.
  string,    ///< a str literal: `name`
  literal,   ///< an int literal that an argument carries in its type: `value`
  dtype,     ///< numpy.dtype objects, scalar types and int, float, bool, complex; `element` is what they make
  type,      ///< any other class: named tuples, dataclasses, exceptions; `element` is what it makes, if that is a value
  builtin,   ///< a function that the compiler knows, by its name: "numpy.sin", "cuda.atomic.add", "builtins.len"
  function,  ///< a Python function: `object` is its kernels::Function
  module,    ///< `object`
  object,    ///< any other Python object; only its attributes can be used. A member of an enumeration: `element` is its type where it is
             ///< not known which, `value` its place
  ellipsis,
};

/// Where an array's elements lie. Only shared and local arrays are told apart; the others are generic pointers.
enum class Space : uint8_t { generic, shared, local, constant };

struct TypeInfo;
/// Types are interned: one address for each type, never destroyed, so that pointers compare. nullptr: not known yet.
using Type = const TypeInfo*;

/// A type. Made by the functions below only.
struct TypeInfo {
  Kind kind = Kind::none;
  DType dtype = DType::i64;  ///< scalar, time, range; of an array its elements' when those are numbers or times
  Type element = nullptr;    ///< array: scalar, time, record or tuple; optional, dtype and type: see Kind
  int ndim = 0;
  char layout = 'A';       ///< array: 'C', 'F' or 'A'
  bool read_only = false;  ///< array
  bool typed = false;      ///< list: Python sees a typed.List, not a list
  Space space = Space::generic;
  std::vector<Type> items;          ///< tuple, record
  std::vector<std::string> fields;  ///< named tuple, record
  std::vector<std::string> titles;  ///< record: other names of the fields, where it has such
  std::vector<uint32_t> offsets;    ///< record
  std::string name;                 ///< named tuple, record, string, builtin, function, module, type
  int64_t value = 0;                ///< literal
  const void* object = nullptr;     ///< the identity of what has one (a Python class or module, a kernels::Function)
  uint32_t bytes = 0;               ///< size in memory; 0: not passed at run time
  uint32_t alignment = 1;
  int id = 0;  ///< dense, in the order of creation; differs from process to process

  std::string spelling;  ///< as messages write it: "int64", "array(float32, 2d, C)", "(int64, float64)"

  bool is(Kind k) const { return kind == k; }
  bool is_scalar() const { return kind == Kind::scalar; }
  /// One value of the engine's dtypes: a number or a time.
  bool is_single() const { return kind == Kind::scalar || kind == Kind::time; }
  bool is_array() const { return kind == Kind::array; }
  bool is_container() const { return kind == Kind::list || kind == Kind::set || kind == Kind::dict; }
  bool is_tuple() const { return kind == Kind::tuple; }
  /// A tuple whose items have one type (not empty).
  bool is_uniform() const;
  /// Tells whether a value of the type exists at run time (None and what follows `string` does not).
  bool has_value() const { return kind != Kind::none && kind < Kind::string; }
};

// ---- making types -----------------------------------------------------------------------------------------------------------------

Type none_type();
/// Of times too, whose kind is `time`.
Type scalar_type(DType t);
Type bool_type();
Type int64_type();
Type float64_type();
/// A record must be made through record_type; `element` may be a scalar, a record or a tuple.
Type array_type(Type element, int ndim, char layout = 'A', bool read_only = false, Space space = Space::generic);
Type tuple_type(std::span<const Type> items);
Type uniform_tuple_type(Type item, int n);
/// A named tuple; `object` is the Python class, `name` its name.
Type named_tuple_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items);
/// A tuple of other items with the fields of another tuple.
Type tuple_like(Type tuple, std::span<const Type> items);
/// The type with elements of arrays in the place of records, in tuples too.
Type by_reference(Type t);
/// A struct with the given offsets (a structured dtype, or a dataclass with natural alignment where `offsets` is empty). `object` is the
/// dataclass, nullptr for dtypes. `titles` are other names of fields, empty where a field has none.
Type record_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items,
                 std::vector<uint32_t> offsets = {}, uint32_t bytes = 0, uint32_t alignment = 0, std::vector<std::string> titles = {});
/// An element of NumPy's arrays of str (`wide`) or of bytes, of `count` characters: a record without fields, so that arrays of it are what
/// arrays of records are. Where a str is read it becomes a text; bytes stay what they are. `value` has the bytes of one character.
Type characters_type(bool wide, uint32_t count);
inline bool is_characters(Type t) { return t && t->is(Kind::record) && t->value != 0; }
inline bool is_wide(Type characters) { return characters->value == 4; }
/// The place of the field of this name or title.
std::optional<size_t> field_named(Type record, std::string_view name);
Type optional_type(Type t);
Type range_type(DType t);
/// `given`: which of start (1), stop (2) and step (4) a slice has; the others are None. `optional`: which of these may be None at run time.
Type slice_type(int given = 0, int optional = 0);
Type pointer_type(Type element);
/// A numpy.random.Generator: the address of its bit generator, NumPy's bitgen_t. Functions for the CPU only.
Type random_generator_type();
/// nullptr: what it holds is not known yet.
Type list_type(Type element, bool typed = false);
Type set_type(Type element);
Type dict_type(Type key, Type value);
Type text_type();
/// Python's bytes, in functions for the CPU: in C++ and for its elements a read-only array of uint8, which Python sees as bytes.
Type bytes_type();
Type generator_type(Type element);
/// `items` may be empty until complete_instance, since the fields of a class may hold its own objects.
Type instance_type(const void* object, std::string name, std::vector<std::string> fields, std::span<const Type> items);
void complete_instance(Type t, std::span<const Type> items);
/// Tells whether a container's type, or that of something in it, is not known yet.
bool is_incomplete(Type t);
Type string_type(std::string text);
Type literal_type(int64_t value);
/// `name`: "int", "float", "complex" for Python's own, which keep the width of their argument.
Type dtype_type(Type made, std::string name = {});
Type class_type(const void* object, std::string name, Type made = nullptr);
Type builtin_type(std::string name);
/// A function of linked code; `function` is its kernels::ForeignFunction, kept for ever.
Type foreign_type(const void* function, std::string name);
Type function_type(const void* function, std::string name);
Type module_type(const void* object, std::string name);
Type object_type(const void* object, std::string name);
/// A member of an enumeration that is known when a function is compiled, and one that is not.
Type member_type(const void* object, std::string name, Type enumeration, int64_t place);
/// `by_identity`: members are equal to themselves alone, as enum.Enum compares them.
Type enumeration_type(const void* cls, std::string name, std::vector<std::string> names, bool by_identity);
/// One of several functions, which it is not known when a function is compiled.
Type choice_type(std::vector<Type> functions);
/// The enumeration that a value of the type is a member of, or nullptr.
Type enumeration_of(Type t);
Type ellipsis_type();

/// Tells whether a time is part of a value of the type.
bool holds_time(Type t);

/// The same array type with another layout, rank or right to write.
Type with_layout(Type array, int ndim, char layout);
Type as_read_only(Type array);

// ---- rules ------------------------------------------------------------------------------------------------------------------------

/// The type that a variable has where values of both types reach it (Numba's unification): the wider number, a tuple item by item, an
/// array of the looser layout, an optional for None and a type. nullptr when there is none. An unknown type (nullptr) gives the other.
Type unify(Type a, Type b);
/// The type of `a op b` for + - * and the like on numbers: NumPy's promotion, but integers are 64 bits wide, and signed where one of them
/// is, as in Numba.
DType arithmetic(DType a, DType b);
/// Tells whether a value converts to the other type without being asked to (an assignment, a call with a given signature).
bool converts(Type from, Type to);
inline bool is_bytes(Type t) { return t && t == bytes_type(); }
/// How far a conversion goes, for a choice among signatures: 0 for none, one for each doubling of a number's bits, more where the kind
/// changes, most where something may be lost; -1: there is none.
int conversion_cost(Type from, Type to);
/// The choice among signatures: the first that costs least, and another that costs the same.
struct Choice {
  int best = -1, other = -1, cost = 0;
  /// `cost` negative: the arguments do not convert to signature `i`.
  void offer(int i, int cost_of) {
    if (cost_of < 0 || (best >= 0 && cost_of > cost)) return;
    other = best >= 0 && cost_of == cost ? i : -1;
    if (other < 0) best = i, cost = cost_of;
  }
};

// ---- C++ --------------------------------------------------------------------------------------------------------------------------

/// A dtype's C++ type in the text: "float", "i64", "complex<double>".
const char* cpp_name(DType t);

// ---- signatures -------------------------------------------------------------------------------------------------------------------

/// "float32(float32, float32)", "void(int64[:], f4[:, ::1])", "(int32[:],)", "UniTuple(float64, 3)".
struct FunctionSignature {
  Type result = nullptr;  ///< nullptr: not given; none_type() for void
  std::vector<Type> arguments;
};
/// Throws ErrorKind::Type with the place in the text.
FunctionSignature parse_signature(std::string_view text);
/// One type in the same language: "int64[:, ::1]".
Type parse_type(std::string_view text);
/// The scalar of one of the names that NumPy and Numba give it ("float32", "f4", "double", "intp", "boolean"); nullptr for others.
Type type_from_name(std::string_view name);
std::string to_string(const FunctionSignature& signature);

}  // namespace bc::kernels
