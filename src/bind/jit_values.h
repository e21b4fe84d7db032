#pragma once
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "array/access.h"
#include "bind/array.h"
#include "bind/jit_numpy.h"
#include "kernels/compile.h"
#include "kernels/types.h"
#include "runtime/compiled_functions.h"

/// Python values on their way into compiled functions and out of them.
namespace bc::bind::jit {

/// A growing array whose first elements need no heap.
template <class T, size_t N>
class Small {
 public:
  Small() = default;
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  ~Small() {
    if (data_ != inside_) delete[] data_;
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  void resize(size_t n) { n > size_ ? (void)add(n - size_) : void(size_ = n); }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  void push(T value) { *add(1) = value; }
  /// Room for n more elements, whose values are not set.
  T* add(size_t n) {
    if (size_ + n > room_) grow(size_ + n);
    T* at = data_ + size_;
    size_ += n;
    return at;
  }

 private:
  void grow(size_t wanted) {
    const size_t room = wanted * 2;
    T* wider = new T[room];
    for (size_t i = 0; i < size_; ++i) wider[i] = data_[i];
    if (data_ != inside_) delete[] data_;
    data_ = wider;
    room_ = room;
  }
  alignas(16) T inside_[N];
  T* data_ = inside_;
  size_t size_ = 0, room_ = N;
};

/// Lists and sets of Python that one call works on.
struct Borrowed {
  PyObject* object;
  host::Block* block;
  kernels::Type type;
  uint32_t offset;  ///< of a set's argument slot
};

/// The arguments of one call: what they are (words that name their types) and what they hold (bytes in the layout of compiled code).
class Frame {
 public:
  Frame() = default;
  Frame(const Frame&) = delete;
  ~Frame();
  /// Adds the next argument. Throws TypeError for an object that has no type here.
  void add(PyObject* o);
  /// Adds the tuple of some objects as the next argument.
  void add_rest(PyObject* const* items, Py_ssize_t n);
  const Small<uint64_t, 32>& words() const { return words_; }
  size_t count() const { return offsets_.size(); }
  /// The pointers that an entry takes; valid until the next add.
  void** pointers();
  void* value(size_t i) { return bytes_.data() + offsets_[i]; }
  /// Lets arrays of an accelerator take part, on copies in host memory that bring_back() ends.
  void allow_copies() { allows_copies_ = true; }
  bool has_copies() const { return !copies_.empty(); }
  /// Ends the access to arrays of ours. What the call wrote into copies goes into the accelerator's arrays; `writes` tells of which
  /// arguments it may have written the memory.
  void bring_back(const std::vector<bool>& writes);
  /// The array argument that the memory at `data` belongs to, or nullptr, and the address of its first element. An argument that is this
  /// very array is preferred.
  PyObject* owner(const void* data, int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides, bool* same, const void** first) const;
  /// Writes an array as compiled code has it, without its owner.
  void put_array_at(PyObject* o, char* to);
  /// Changes that the call made to lists and sets go into Python's.
  void reflect(host::Call* call);
  /// The object whose memory holds an address, or nullptr.
  PyObject* holder(const void* data, const void** from, const void** to);
  /// The random generator among the arguments that has this bit generator, or nullptr.
  PyObject* generator(const void* bits) const;
  /// The block of a list: one for each object, however often it comes, so that what is done through one name is seen through the other.
  host::Block* list_block(PyObject* o, kernels::Type t);
  /// The list that a block was made of, or nullptr.
  PyObject* list_of(const host::Block* block) const;
  /// Notes a typed container or an object of a jitclass among the arguments.
  void note_object(host::Block* block) { objects_.push_back(block); }
  /// Lets the noted objects be shared by threads where some function runs without the interpreter's lock; `unlocked` says that one will.
  /// True where they are: the function must then be one that takes their locks.
  bool share_objects(bool unlocked);
  /// Lets other threads use the arrays of ours while the function runs, as they use memory that other code sees.
  void share_arrays() {
    if (access_) access_->share();
  }
  /// Exposes the arrays of ours for good: what the function makes (a generator) keeps their addresses.
  void expose_arrays();
  bool ours() const { return ours_; }  ///< some array is one of ours
  /// Replaces a scalar argument's bytes.
  char* replace(size_t i, size_t bytes);

 private:
  void read(PyObject* o);
  void read_int(PyObject* o);
  void read_container(PyObject* o);
  void read_tuple(PyObject* o);
  template <class Get>
  void read_items(Py_ssize_t n, PyTypeObject* named, Get item);
  void begin_argument();
  void read_slice(PyObject* o);
  void read_record(PyObject* o);
  void read_array(PyObject* o);
  void read_own_array(PyObject* o);
  PyObject* copy_to_host(PyObject* o);
  void put_array(PyObject* o, void* data, int ndim, const Py_intptr_t* shape, const Py_intptr_t* strides, int64_t scale, int64_t item);
  template <class T>
  void put(T value, uint64_t word);
  char* room(size_t bytes, size_t alignment);

  Small<uint64_t, 32> words_;
  Small<char, 1536> bytes_;
  Small<uint32_t, 16> offsets_;
  Small<void*, 16> pointers_;
  struct Given {
    PyObject* object;
    uint32_t offset;  ///< where in the bytes the array is
    int ndim;
    int64_t item;       ///< bytes of an element
    const char* place;  ///< instead of the offset, where it lies in a list
  };
  /// A word of an array's description: its address, its extents, its strides.
  int64_t word(const Given& g, int i) const;
  /// Where its elements lie, from the first byte to behind the last one.
  std::pair<uintptr_t, uintptr_t> extent(const Given& g) const;
  Small<Given, 16> arrays_;
  const Borrowed* find_borrowed(const void* object_or_block) const;
  void borrow(Borrowed b);
  std::vector<Borrowed> borrowed_;
  std::unordered_map<const void*, size_t> borrowed_places_;  ///< by object and by block, of those behind the first few
  std::vector<host::Block*> objects_;
  std::vector<std::pair<const void*, PyObject*>> generators_;
  std::vector<PyRef> made_;  ///< arrays over bytes and the like
  std::optional<ArrayAccess> access_;
  bool ours_ = false;
  /// An argument, or an item of one, that lies on an accelerator, and what the call works on.
  struct Copy {
    PyObject* object;
    PyRef here;       ///< an array in host memory
    size_t argument;  ///< the number of the argument
    int64_t first;    ///< of the copied elements, in the accelerator's storage
  };
  std::vector<Copy> copies_;
  bool allows_copies_ = false;
};

/// How a result's bytes become a Python object.
struct Box {
  enum class Kind : uint8_t {
    none,
    scalar,
    array,
    tuple,
    named,
    optional,
    record,
    text,
    list,
    set,
    typed,
    generator,
    slice,
    random,
    member
  };
  Kind kind = Kind::none;
  DType dtype = DType::f64;
  int ndim = 0;
  size_t offset = 0;  ///< in the result
  size_t bytes = 0, alignment = 1;
  std::vector<Box> members;
  PyRef type;                          ///< of a named tuple, or an enumeration
  bool record = false;                 ///< an array's elements are records
  bool bytes_object = false;           ///< an array that Python sees as bytes
  bool read_only = false;              ///< an array is not to be stored into
  kernels::Type value_type = nullptr;  ///< of a record, a list, a set or a typed container
  /// Sets offsets, size and alignment, for a value that starts at `at`.
  void place(size_t at);
};

/// Where a call's result is written: on the stack where it is small.
class ResultRoom {
 public:
  explicit ResultRoom(size_t bytes) : large_(bytes > sizeof small_ ? new char[bytes + 16] : nullptr) {}
  char* get() { return large_ ? large_.get() + (16 - reinterpret_cast<uintptr_t>(large_.get()) % 16) : small_; }

 private:
  alignas(16) char small_[256];
  std::unique_ptr<char[]> large_;
};

PyRef box_scalar(DType t, const char* at);
/// Tells whether an object is an array of ours without dimensions on a GPU, as its elements are: functions for the CPU get its number.
bool is_number_elsewhere(PyObject* o);
/// The dtype of a NumPy dtype object of dates or differences in native byte order. Each array has a dtype object of its own.
std::optional<DType> native_time(PyObject* descr);
/// The ticks of a numpy.datetime64 or timedelta64 and their dtype; nullopt for other objects. And back.
std::optional<std::pair<int64_t, DType>> time_scalar(PyObject* o);
PyRef box_time(DType t, const void* at);
/// An array over memory that the call made, that an argument has, or that `owner` keeps.
PyRef box_array(const Box& plan, const char* at, const Frame& frame, host::Call* call, host::Block* owner = nullptr);
/// Whether the object is a record of NumPy's.
bool is_record(PyObject* o);
/// The object; takes over the memory of arrays that the call made.
PyRef box(const Box& plan, const char* result, const Frame& frame, host::Call* call);

/// What a call ended with: one of its text's failures, or what the library raised.
kernels::Failure failure_of(const std::vector<kernels::Failure>& failures, const host::Call& call);
/// Throws a built-in exception by its name.
/// Python's class of an exception that compiled code raises by its name, null where neither Python nor NumPy has it.
PyRef exception_named(std::string_view name);
[[noreturn]] void throw_named(const std::string& type, const std::string& message);
/// What the function raised: its own class, with its own arguments.
[[noreturn]] void throw_failure(const kernels::Failure& failure);

}  // namespace bc::bind::jit
