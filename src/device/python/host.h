// Functions compiled for the CPU have more than kernels: arrays that own their memory, whole-array expressions, exceptions from inside
// the library, parallel loops. An array expression is printed as one lambda over elements, so `np.sum(a * b + np.sin(a))` is one loop.
#pragma once
#include "alone.h"
#include "core.h"

#if !BC_CUDA

namespace bc {
namespace py {

// ---- the engine -------------------------------------------------------------------------------------------------------------------

/// As bc::host::Block; the elements follow it.
struct alignas(64) Block {
  i64 count;
  i64 bytes;
  Block *next, *previous;
  void* call;
};
/// The first members of bc::host::RandomState.
struct RandomState {
  static constexpr u32 kWords = 624;
  u32 at;
  i32 has_normal;
  double normal;
  u32 words[kWords];
};
/// A part of an exception's message: a number, or a shape (-1: an extent that was not given).
struct Part {
  i64 number;  ///< a shape's number of axes
  const i64* shape;
};
/// As bc::host::Table.
struct Table {
  Block* (*allocate)(i64 bytes);
  void (*release)(Block* block);
  __attribute__((noreturn)) void (*raise)(i32 kind, const char* text, i64 size, i32 line);
  /// Sets an argument of the next exception: a Tag, and its bits or its text.
  void (*argument)(i32 tag, u64 bits, const char* text, i64 size);
  /// In a handler: takes over the current exception. `code` is the number of a failure that the text defines, or a kind with a minus sign.
  void* (*caught)(i32* code);
  /// Raises it again.
  __attribute__((noreturn)) void (*again)(void* exception, i32 code);
  /// str() of the exception.
  const char* (*message)(void* exception, i64* size);
  void (*forget)(void* exception);
  void (*parallel)(i64 items, i64 grain, void (*body)(void* context, i64 begin, i64 end), void* context);
  i32 (*threads)();
  void (*set_threads)(i64 threads);
  i32 (*thread_id)();
  void (*print)(const char* text, i64 size);
  void (*product)(i32 dtype, i64 m, i64 n, i64 k, const void* a, const i64* a_strides, const void* b, const i64* b_strides, void* c);
  /// The thread's state of numpy.random (`which` = 0) or random (1).
  RandomState* (*random)(i32 which);
  void (*seed_random)(RandomState* s, u64 seed);
  void (*refill_random)(RandomState* s);
  /// Writes a float as Python prints it; returns the length (at most 32).
  i64 (*format)(double value, i32 single, char* to);
  /// format(value, spec). An int is passed as its magnitude, with kUintTag, or with kIntTag if it is negative. Returns the bytes written.
  i64 (*format_spec)(i32 tag, u64 bits, const char* text, i64 text_size, const char* spec, i64 spec_size, char* to, i64 room);
  /// float(text); returns 0 for a text that is no number.
  i32 (*parse)(const char* text, i64 size, double* value);
  /// What the interpreter knows of a character: a CharacterQuestion (text.h) and its answer.
  u64 (*unicode)(i32 question, u32 point);
  /// Returns the block that owns an argument's memory, with one more reference, or nullptr.
  Block* (*keep)(const void* data);
  /// Registers a block that outlives the call, because the call returns a part of it.
  void (*link)(Block* block);
  /// Lets the interpreter run block `which` of the function; returns the owner of its results.
  void* (*interpret)(i32 which, const void* inputs, void* outputs);
  /// Returns the block that owns an array among these results, with one more reference, or nullptr.
  Block* (*interpreted)(void* kept, const void* data);
  void (*forget_interpreted)(void* kept);
  /// A LAPACK routine in double precision, complex if `complex`; returns its info.
  i64 (*lapack)(i32 what, i32 complex, i64 m, i64 n, void* a, void* s, void* u, void* v);
  /// Reports an exception in a callback, which has no caller that could handle it.
  void (*ignored)(const char* name, i32 kind, const char* cls, const char* text, i64 size);
  /// A word that changes every 50 ms while Ctrl-C can end the computation; `asked` tells whether it must end, and `end` then raises.
  const u32* tick;
  bool (*asked)();
  __attribute__((noreturn)) void (*end)();
  /// Lock and unlock an object that several threads hold (Guard in objects.h).
  void (*enter)(void* object, i32 writes);
  void (*leave)(void* object);
  /// raise() with a part for each % of the text. Kind 0: the message becomes the argument of a failure that the text defines.
  void (*raise_of)(i32 kind, const char* text, i64 size, const Part* parts, i64 count);
  /// Raises NumPy's error for shapes that do not broadcast.
  __attribute__((noreturn)) void (*raise_shapes)(const Part* shapes, i64 count);
  /// The thread's stack: its lowest page in the low 44 bits, and the number of pages. Raises RecursionError if `page` is below.
  u64 (*stack)(u64 page);
  /// Calls `end` for a block, or for those that it leads to after it: a long chain of objects ends one by one.
  void (*end_linked)(Block* block, void (*end)(Block*));
};
extern "C" {
/// Set when the code is loaded; defined by the entry's text.
extern __attribute__((visibility("default"))) const Table* bc_host;
}

/// Kinds of exceptions, as bc::host::Raised; negative: the number of a failure that the text defines.
enum Raised : i32 {
  kNone,
  kValue,
  kIndex,
  kZeroDivision,
  kType,
  kKey,
  kRuntime,
  kOverflow,
  kAssertion,
  kMemory,
  kNotImplemented,
  kStopIteration,
  kArithmetic,
  kAttribute,
  kLookup,
  kException,
  kOs,
  kLinAlg,
  kFloatingPoint,
  kName,
  kAxis,
  kInterrupted,
  kRecursion
};
template <int N>
__attribute__((noinline, cold, noreturn)) static void raise(i32 kind, const char (&text)[N]) {
  bc_host->raise(kind, text, N - 1, 0);
  __builtin_unreachable();
}
/// The value of what may be None.
template <class T>
BC_INLINE const T& given(const Optional<T>& x) {
  if (!x.there) raise(kType, "expected a value, got None");
  return x.value;
}
BC_INLINE Part message_part(const i64& number) { return {number, nullptr}; }
template <int N>
BC_INLINE Part message_part(const Tuple<i64, N>& shape) {
  return {N, shape.items};
}
/// A message with numbers and shapes, which are copied when it is raised, so that arrays stay in registers in other places.
template <int N, class... P>
__attribute__((noinline, cold, noreturn)) static void raise_of(i32 kind, const char (&text)[N], P... parts) {
  const Part all[] = {message_part(parts)...};
  bc_host->raise_of(kind, text, N - 1, all, sizeof...(P));
  __builtin_unreachable();
}
template <class... S>
__attribute__((noinline, cold, noreturn)) static void raise_shapes(S... shapes) {
  const Part all[] = {message_part(shapes)...};
  bc_host->raise_shapes(all, sizeof...(S));
  __builtin_unreachable();
}
/// An index as the program wrote it; `i` may have been converted to count from the front.
BC_FN i64 written_index(i64 i, i64 extent) { return i < 0 ? i - extent : i; }
/// Sets the message of the next failure.
template <int N, class... P>
__attribute__((noinline, cold)) static void say(const char (&text)[N], P... parts) {
  const Part all[] = {message_part(parts)...};
  bc_host->raise_of(kNone, text, N - 1, all, sizeof...(P));
}
/// Raises a failure where no number can be returned: in a parallel loop, a generator, a key function.
__attribute__((noinline, cold, noreturn)) static inline void raise_failure(i32 number) {
  bc_host->raise(-number, "", 0, 0);
  __builtin_unreachable();
}

/// Loops call this to find out whether Ctrl-C must end the function. Loops of many short turns call it between strips of turns, so that
/// they are vectorised as before. The call preserves the general registers, so that loops need not spill them. The function that raises
/// does not, since only callee-saved registers survive an exception. Vector registers must not be preserved too (preserve_all): on
/// processors with AVX2, LLVM 19 loses the upper halves of vectors that live across such a call. Asking raises nothing: a call that could
/// would keep in memory, for the whole loop, what the loop has in vector registers.
__attribute__((noinline, cold, preserve_most, nothrow)) static inline bool is_asked() { return bc_host->asked(); }
BC_INLINE void ask_to_go_on() {
  if (is_asked()) bc_host->end();
}
struct Poll {
  const volatile u32* tick;
  u32 seen;
  BC_INLINE Poll() : tick(bc_host->tick), seen(*const_cast<const u32*>(tick)) {}  // optimised away if no loop asks
  BC_INLINE void operator()() {
    const u32 now = *tick;
    if (__builtin_expect(now != seen, 0)) {
      seen = now;
      ask_to_go_on();
    }
  }
};
/// Polls at the entry of recursive functions. If several threads run one, any of them may see a change of the word first; after a few
/// changes the main thread, which alone can end, has seen one.
static u32 seen_at_entry;
/// The stack of the thread that entered such a function last.
static u64 stack_at_entry;
BC_INLINE void poll_at_entry() {
  const u64 page = reinterpret_cast<u64>(__builtin_frame_address(0)) >> 12, known = __atomic_load_n(&stack_at_entry, __ATOMIC_RELAXED);
  if (__builtin_expect(page - (known & ((u64{1} << 44) - 1)) >= known >> 44, 0))
    __atomic_store_n(&stack_at_entry, bc_host->stack(page), __ATOMIC_RELAXED);
  const u32 now = *const_cast<const volatile u32*>(bc_host->tick);
  if (__builtin_expect(now != __atomic_load_n(&seen_at_entry, __ATOMIC_RELAXED), 0)) {
    __atomic_store_n(&seen_at_entry, now, __ATOMIC_RELAXED);
    ask_to_go_on();
  }
}
/// Turns of the library's loops between two polls. Short loops never poll; a turn may take 100 ns.
constexpr i64 kLongLoop = 1 << 16;
/// Polls if the word has changed since the last call with `seen` (0: no call yet).
static __attribute__((noinline)) inline void poll_between(u32* seen) {
  const u32 now = *const_cast<const volatile u32*>(bc_host->tick) | u32{1} << 31;
  const bool changed = *seen != 0 && now != *seen;
  *seen = now;
  if (changed) ask_to_go_on();
}
/// body(begin, end) for strips of [0, n), between which the user may end the loop.
template <class F>
BC_INLINE void in_strips(i64 n, const F& body) {
  u32 seen = 0;
  for (i64 at = 0;;) {
    const i64 end = n - at > kLongLoop ? at + kLongLoop : n;
    body(at, end);
    if (end == n) return;
    at = end;
    poll_between(&seen);
  }
}
/// Whether a loop of short turns takes long enough to poll.
template <class T, class U>
BC_INLINE bool takes_long(T start, U stop, i64 step) {
  const i64 left = static_cast<i64>(u64(i64(stop)) - u64(i64(start)));
  return (step > 0 ? left : -left) > (i64{1} << 20) * (step > 0 ? step : -step);
}
/// The end of the strip that begins at `at`, of a loop to `stop` by `step`.
constexpr i64 kStrip = 8192;
template <class T>
BC_INLINE T strip(T at, T stop, i64 step) {
  const u64 left = step > 0 ? u64(i64(stop)) - u64(i64(at)) : u64(i64(at)) - u64(i64(stop));
  return left > u64(kStrip) * u64(step > 0 ? step : -step) ? T(i64(at) + kStrip * step) : stop;
}
/// A `for` of so few turns that a loop around it counts as one without a loop inside (polls.cpp).
#define BC_FEW_TURNS for
/// Other threads may have written to memory.
BC_INLINE void expect_writes() { __asm__ volatile("" ::: "memory"); }

/// Kinds of an exception's arguments.
enum Tag : i32 { kNoneTag, kBoolTag, kUintTag, kIntTag, kFloatTag, kTextTag };

struct Taken {
  void* exception;
  i32 code;
};
// A static function instead of a member: the object's address is never taken, so its members stay in registers.
__attribute__((noinline, cold)) static inline Taken take_exception() {
  i32 code = 0;
  void* e = bc_host->caught(&code);
  return {e, code};
}
__attribute__((noinline, cold, noreturn)) static inline void raise_again(void* exception, i32 code) {
  bc_host->again(exception, code);
  __builtin_unreachable();
}

/// The exception of a try statement. `code`: 0 while there is none.
struct Caught {
  i32 code = 0;
  void* exception = nullptr;
  BC_INLINE Caught() = default;
  Caught(const Caught&) = delete;
  BC_INLINE ~Caught() { clear(); }
  BC_INLINE void clear() {
    if (exception) bc_host->forget(exception);
    exception = nullptr;
    code = 0;
  }
  /// In catch (...).
  BC_INLINE void take() {
    const Taken t = take_exception();
    clear();
    exception = t.exception, code = t.code;
  }
  /// A failure that was returned as a number; the engine holds its arguments.
  BC_INLINE void take(i32 number, bool arguments) {
    clear();
    if (arguments) exception = take_exception().exception;
    code = number;
  }
  __attribute__((noreturn)) BC_INLINE void again() {
    void* e = exception;
    const i32 n = code;
    exception = nullptr;
    code = 0;
    raise_again(e, n);
  }
};

// ---- memory -----------------------------------------------------------------------------------------------------------------------

/// Whether several threads may use the program's objects, those of one call or of several. Reference counts are then atomic.
#if BC_PYTHON_PARALLEL
constexpr bool kThreads = true;
BC_FN void own(Block* b) {
  if (b) __atomic_fetch_add(&b->count, 1, __ATOMIC_RELAXED);
}
/// Drops a reference; true if it was the last.
BC_FN bool is_last(Block* b) { return b && __atomic_fetch_sub(&b->count, 1, __ATOMIC_ACQ_REL) == 1; }
BC_FN void disown(Block* b) {
  if (b && __atomic_fetch_sub(&b->count, 1, __ATOMIC_ACQ_REL) == 1) bc_host->release(b);
}
#else
constexpr bool kThreads = false;
BC_FN void own(Block* b) {
  if (b) ++b->count;
}
/// Drops a reference; true if it was the last.
BC_FN bool is_last(Block* b) { return b && --b->count == 0; }
BC_FN void disown(Block* b) {
  if (b && --b->count == 0) bc_host->release(b);
}
#endif

/// An array that owns a reference to its memory; without an owner it is the caller's memory or a constant.
template <class T, int N, char L>
struct Host : Array<T, N, L> {
  using Plain = Array<T, N, L>;
  Block* owner = nullptr;

  BC_INLINE Host() : Plain{} {}
  BC_INLINE Host(const Plain& a, Block* block) : Plain(a), owner(block) { own(owner); }
  /// An array over memory that needs no owner.
  BC_INLINE Host(const Plain& a) : Plain(a) {}
  /// A constant's elements.
  BC_INLINE Host(const T* data, const Tuple<i64, N>& shape, const Tuple<i64, N>& strides) : Plain{const_cast<T*>(data), shape, strides} {}
  BC_INLINE Host(const Host& o) : Plain(o), owner(o.owner) { own(owner); }
  BC_INLINE Host(Host&& o) : Plain(o), owner(o.owner) { o.owner = nullptr; }
  BC_INLINE Host& operator=(const Host& o) {
    own(o.owner);
    Block* old = owner;
    Plain::operator=(o);
    owner = o.owner;
    disown(old);
    return *this;
  }
  BC_INLINE Host& operator=(Host&& o) {
    Block* old = owner;
    Plain::operator=(o);
    owner = o.owner;
    o.owner = nullptr;
    if (this != &o) disown(old);
    return *this;
  }
  BC_INLINE ~Host() { disown(owner); }
};
template <class T, char L>
struct Host<T, 0, L> : Array<T, 0, L> {
  using Plain = Array<T, 0, L>;
  Block* owner = nullptr;
  BC_INLINE Host() : Plain{} {}
  BC_INLINE Host(const Plain& a, Block* block) : Plain(a), owner(block) { own(owner); }
  BC_INLINE Host(const Plain& a) : Plain(a) {}
  BC_INLINE Host(const Host& o) : Plain(o), owner(o.owner) { own(owner); }
  BC_INLINE Host(Host&& o) : Plain(o), owner(o.owner) { o.owner = nullptr; }
  BC_INLINE Host& operator=(const Host& o) {
    own(o.owner);
    Block* old = owner;
    Plain::operator=(o);
    owner = o.owner;
    disown(old);
    return *this;
  }
  BC_INLINE ~Host() { disown(owner); }
};

template <class A>
BC_INLINE Block* owner_of(const A&) {
  return nullptr;
}
template <class T, int N, char L>
BC_INLINE Block* owner_of(const Host<T, N, L>& a) {
  return a.owner;
}

/// A reference to an element of `a`, with a reference to the same memory.
template <class V, class T, class A>
BC_INLINE V host_reference(T& element, const A& a) {
  return V(typename V::Plain{const_cast<conditional<is_same<T, const T>, T, T>*>(&element)}, owner_of(a));
}
/// The array under another type of the same elements: a looser layout, or read-only.
template <class To, class T, int N, char L>
BC_INLINE To host_cast(const Host<T, N, L>& a) {
  typename To::Plain r;
  __builtin_memcpy(&r, static_cast<const Array<T, N, L>*>(&a), sizeof r);
  return To(r, a.owner);
}
/// a[items], a.T, a.real: a view with a reference to the same memory.
template <class V, class A, class... Items>
BC_INLINE V host_view(const A& a, Items... items) {
  return V(view<typename V::Plain>(a, items...), owner_of(a));
}
template <class V, class T, int N, char L>
BC_INLINE V host_transposed(const Host<T, N, L>& a) {
  return V(transposed(static_cast<const Array<T, N, L>&>(a)), a.owner);
}
template <class V, class T, int N, char L, int M>
BC_INLINE V host_strided(const Host<T, N, L>& a, Tuple<i64, M> shape, Tuple<i64, M> strides) {
  Array<T, M, 'A'> r{};
  r.data = a.data;
  for (int k = 0; k < M; ++k) r.shape[k] = shape[k], r.strides[k] = strides[k];
  return V(r, a.owner);
}
/// Windows of `width` along an axis of the first `axes`, as a last axis of their own.
template <class V, class T, int N, char L>
BC_INLINE V host_windowed(const Host<T, N, L>& a, i64 width, i64 axis, i64 axes) {
  if (axis < 0) axis += axes;
  if (axis < 0 || axis >= axes) raise(kValue, "sliding_window_view: the axis is out of bounds");
  if (width < 0) raise(kValue, "`window_shape` cannot contain negative values");
  if (width > a.shape[axis]) raise(kValue, "window shape cannot be larger than input array shape");
  Array<T, N + 1, 'A'> r{};
  r.data = a.data;
  for (int k = 0; k < N; ++k) r.shape[k] = a.shape[k], r.strides[k] = a.strides[k];
  r.shape[axis] -= width - 1;
  r.shape[N] = width;
  r.strides[N] = a.strides[axis];
  return V(r, a.owner);
}
/// A view of memory that belongs to `a`.
template <class V, class A>
BC_INLINE V host_owned(const typename V::Plain& view, const A& a) {
  return V(view, owner_of(a));
}
/// A field of all records of an array, which keeps the array's memory.
template <class V, class F, class A, class... E>
BC_INLINE V host_field(const A& a, int offset, E... extents) {
  if constexpr (sizeof...(E) > 0)
    return V(field_array<F>(a, offset, extents...), owner_of(a));
  else
    return V(field<F>(a, offset), owner_of(a));
}
template <class V, class T, int N, char L>
BC_INLINE V host_part(const Host<T, N, L>& a, int which) {
  return V(part<real_of<T>>(static_cast<const Array<T, N, L>&>(a), which), a.owner);
}

template <class U, char M, class T, int N, char L>
BC_INLINE Host<U, N, M> host_viewed(const Host<T, N, L>& a) {
  return Host<U, N, M>(viewed<U, M>(static_cast<const Array<T, N, L>&>(a)), a.owner);
}

/// A value in the layout that the caller in Python uses.
template <class A>
BC_INLINE A load(const void* at) {
  typename A::Plain plain;
  __builtin_memcpy(&plain, at, sizeof plain);
  return A(plain);
}
/// Stores an array as a result and passes on its reference.
template <class T, int N, char L>
BC_INLINE void store(void* at, const Host<T, N, L>& a) {
  const Array<T, N, L>& plain = a;
  __builtin_memcpy(at, &plain, sizeof plain);
  if (a.owner && !a.owner->call) bc_host->link(a.owner);
  own(a.owner);
}

/// One run of a block by the interpreter.
struct Interpreted {
  void* kept;
  BC_INLINE Interpreted(i32 which, const void* inputs, void* outputs) : kept(bc_host->interpret(which, inputs, outputs)) {}
  Interpreted(const Interpreted&) = delete;
  ~Interpreted() { bc_host->forget_interpreted(kept); }
  /// An array of its results.
  template <class A>
  BC_INLINE A array(const void* at) const {
    typename A::Plain plain;
    __builtin_memcpy(&plain, at, sizeof plain);
    A a(plain);
    a.owner = bc_host->interpreted(kept, plain.data);
    return a;
  }
};

template <int N>
BC_INLINE i64 count_of(const Tuple<i64, N>& shape) {
  i64 n = 1;
  for (int k = 0; k < N; ++k) {
    if (shape[k] < 0) raise(kValue, "negative dimensions are not allowed");
    if (__builtin_mul_overflow(n, shape[k], &n)) raise(kValue, "array is too big");
  }
  return n;
}

/// A new array, its elements not set.
template <class T, int N, char L = 'C'>
BC_INLINE Host<T, N, L> fresh(const Tuple<i64, N>& shape) {
  i64 bytes;
  if (__builtin_mul_overflow(count_of(shape), static_cast<i64>(sizeof(T)), &bytes)) raise(kValue, "array is too big");
  Host<T, N, L> a;
  a.owner = bc_host->allocate(bytes);
  a.data = reinterpret_cast<T*>(a.owner + 1);
  if constexpr (N > 0) {
    a.shape = shape;
    i64 stride = sizeof(T);
    if constexpr (L == 'F') {
      for (int k = 0; k < N; ++k) a.strides[k] = stride, stride *= shape[k];
    } else {
      for (int k = N - 1; k >= 0; --k) a.strides[k] = stride, stride *= shape[k];
    }
  }
  return a;
}
template <class T, int N, char L = 'C'>
BC_INLINE Host<T, N, L> zeros(const Tuple<i64, N>& shape) {
  Host<T, N, L> a = fresh<T, N, L>(shape);
  __builtin_memset(static_cast<void*>(a.data), 0, static_cast<unsigned long>(a.owner->bytes));
  return a;
}
template <class T, int N, char L = 'C'>
BC_INLINE Host<T, N, L> full(const Tuple<i64, N>& shape, T value) {
  Host<T, N, L> a = fresh<T, N, L>(shape);
  const i64 n = a.owner->bytes / static_cast<i64>(sizeof(T));
  in_strips(n, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) a.data[i] = value;
  });
  return a;
}

/// Memory of others as an array: numba.carray and farray.
template <class T, int N, char L>
BC_INLINE Host<T, N, L> foreign_array(void* at, const Tuple<i64, N>& shape) {
  Host<T, N, L> a;
  a.data = static_cast<T*>(at);
  if constexpr (N > 0) {
    a.shape = shape;
    i64 stride = sizeof(T);
    for (int k = 0; k < N; ++k) {
      const int d = L == 'F' ? k : N - 1 - k;
      a.strides[d] = stride, stride *= shape[d];
    }
  }
  return a;
}

/// Whether the elements lie one after the other in C order.
template <class T, int N, char L>
BC_INLINE bool packed(const Array<T, N, L>& a) {
  if constexpr (L == 'C' || N == 0) {
    return true;
  } else {
    i64 stride = sizeof(T);
    for (int k = N - 1; k >= 0; --k) {
      if (a.shape[k] != 1 && a.strides[k] != stride) return false;
      stride *= a.shape[k];
    }
    return true;
  }
}

/// A new array of the values, in C order.
template <class T, int N, class... V>
BC_INLINE Host<T, N, 'C'> of_values(const Tuple<i64, N>& shape, V... values) {
  Host<T, N, 'C'> a = fresh<T, N>(shape);
  T* to = a.data;
  ((*to++ = values), ...);
  return a;
}

// ---- print ------------------------------------------------------------------------------------------------------------------------

/// The decimal digits of a whole number, at the end of `digits`; gives the place of the first.
template <class T>
inline i64 write_digits(T x, char (&digits)[40]) {
  u64 left = x < 0 ? 0 - static_cast<u64>(x) : static_cast<u64>(x);
  i64 at = sizeof digits;
  do digits[--at] = static_cast<char>('0' + left % 10), left /= 10;
  while (left != 0);
  if (x < 0) digits[--at] = '-';
  return at;
}

/// A number as Python writes it, to a text or to what print() shows.
template <class W, class T>
inline void write_number(W& w, T x) {
  char digits[40];
  if constexpr (is_bool<T>) {
    x ? w.put("True", 4) : w.put("False", 5);
  } else if constexpr (is_int<T>) {
    const i64 at = write_digits(x, digits);
    w.put(digits + at, static_cast<i64>(sizeof digits) - at);
  } else if constexpr (is_complex<T>) {
    const auto part = [&](auto v) {
      // Complex numbers leave ".0" out.
      i64 n = bc_host->format(cast<double>(v), is_same<decltype(v), float>, digits);
      if (n > 2 && digits[n - 1] == '0' && digits[n - 2] == '.') n -= 2;
      w.put(digits, n);
    };
    const bool both = !(x.re == 0 && !signbit(x.re));
    if (both) {
      w.put("(", 1);
      part(x.re);
      if (!signbit(x.im)) w.put("+", 1);
    }
    part(x.im);
    both ? w.put("j)", 2) : w.put("j", 1);
  } else {
    w.put(digits, bc_host->format(cast<double>(x), is_same<T, float>, digits));
  }
}
/// One call of print(): the text is written when it is complete.
struct Printer {
  char text[1024];
  i64 used = 0;
  ~Printer() { flush(); }
  void flush() {
    if (used > 0) bc_host->print(text, used);
    used = 0;
  }
  Printer& put(const char* s, i64 n) {
    for (i64 i = 0; i < n; ++i) {
      if (used == sizeof text) flush();
      text[used++] = s[i];
    }
    return *this;
  }
  template <class T>
  Printer& put(T x) {
    write_number(*this, x);
    return *this;
  }
  template <class T, char L>
  Printer& put_array(const Array<T, 1, L>& a) {
    put("[", 1);
    for (i64 i = 0; i < a.shape[0]; ++i) {
      if (i > 0) put(" ", 1);
      put(a(i));
    }
    return put("]", 1);
  }
};

// ---- parallel loops ---------------------------------------------------------------------------------------------------------------

/// body(begin, end) over pieces of [0, n), on all threads; each piece has a copy of the body and so of what it captured by value.
template <class F>
BC_INLINE void parallel(i64 n, i64 grain, F& body) {
  bc_host->parallel(
      n, grain,
      [](void* context, i64 begin, i64 end) {
        F mine(*static_cast<F*>(context));
        mine(begin, end);
      },
      &body);
}
/// The length of the pieces of a loop of n turns: it depends on n alone, so that sums are joined in one order whatever the threads.
BC_FN i64 grain_of(i64 n) { return n <= 64 ? 1 : (n + 63) / 64; }
/// The number of elements from which waking a thread pays off.
constexpr i64 kParallelElements = 16384;

// ---- whole-array expressions ------------------------------------------------------------------------------------------------------

/// One array of an expression, broadcast to its shape: the address of a row, and the steps.
template <class T, int N>
struct Operand {
  char* at;
  i64 strides[N ? N : 1];
  using Element = T;
};
template <int M, class T, int N, char L>
BC_INLINE Operand<T, M> operand(const Array<T, N, L>& a, const Tuple<i64, M>& shape) {
  Operand<T, M> o;
  o.at = const_cast<char*>(reinterpret_cast<const volatile char*>(a.data));
  for (int k = 0; k < M; ++k) {
    if (k < M - N) {
      o.strides[k] = 0;
      continue;
    }
    if constexpr (N > 0) {
      const int d = k - (M - N);
      o.strides[k] = a.shape[d] == 1 ? 0 : a.strides[d];
    }
  }
  return o;
}
/// The shape of an array; of one without dimensions a row of one element, which broadcasts as it does.
template <class T, int N, char L>
BC_INLINE auto shape_as_tuple(const Array<T, N, L>& a) {
  if constexpr (N > 0) {
    return a.shape;
  } else {
    return Tuple<i64, 1>{{1}};
  }
}
/// Widens a shape by an array's; false where they do not broadcast.
template <int M, class T, int N, char L>
BC_INLINE bool match_shape(Tuple<i64, M>& shape, const Array<T, N, L>& a) {
  if constexpr (N > 0) {
    for (int k = 0; k < N; ++k) {
      i64& s = shape[M - N + k];
      if (a.shape[k] == s || a.shape[k] == 1) continue;
      if (s != 1) return false;
      s = a.shape[k];
    }
  }
  return true;
}
/// The shape of an expression over arrays.
template <int M, class... A>
BC_INLINE Tuple<i64, M> shape_of(const A&... a) {
  Tuple<i64, M> shape;
  for (int k = 0; k < M; ++k) shape[k] = 1;
  if (!(match_shape(shape, a) && ...)) raise_shapes(shape_as_tuple(a)...);
  return shape;
}

/// Loops: merges axes that all operands walk through without a gap, so that contiguous arrays are one row.
template <int M>
struct Walk {
  int axes = 0;
  i64 extent[M ? M : 1];
  int axis[M ? M : 1];  ///< the innermost of the merged axes
};
template <class T, int M>
BC_INLINE bool joins(const Operand<T, M>& o, int outer, int inner, i64 extent) {
  return o.strides[outer] == o.strides[inner] * extent;
}
template <int M, class... O>
BC_INLINE Walk<M> walk(const Tuple<i64, M>& shape, const O&... o) {
  Walk<M> w;
  if constexpr (M == 1) {
    w.axes = 1;
    w.extent[0] = shape[0];
    w.axis[0] = 0;
    return w;
  }
  for (int k = 0; k < M; ++k) {
    if (shape[k] == 1 && !(k == M - 1 && w.axes == 0)) continue;
    if (w.axes > 0 && (joins(o, w.axis[w.axes - 1], k, shape[k]) && ...)) {
      w.extent[w.axes - 1] *= shape[k];
      w.axis[w.axes - 1] = k;
    } else {
      w.extent[w.axes] = shape[k];
      w.axis[w.axes] = k;
      ++w.axes;
    }
  }
  return w;
}
template <int M>
BC_INLINE i64 rows_of(const Walk<M>& w) {
  if constexpr (M == 1) return 1;
  i64 n = 1;
  for (int k = 0; k + 1 < w.axes; ++k) n *= w.extent[k];
  return n;
}
/// The address of an operand's row.
template <class T, int M>
BC_INLINE char* row_of(const Operand<T, M>& o, const Walk<M>& w, i64 row) {
  char* at = o.at;
  if constexpr (M == 1) return at;
  for (int k = w.axes - 2; k >= 0; --k) {
    at += row % w.extent[k] * o.strides[w.axis[k]];
    row /= w.extent[k];
  }
  return at;
}
template <class T, int M>
BC_INLINE i64 step_of(const Operand<T, M>& o, const Walk<M>& w) {
  return o.strides[w.axis[w.axes - 1]];
}
/// One row of an operand.
template <class T>
struct Row {
  char* at;
  i64 step;
  BC_INLINE T& operator[](i64 j) const { return *reinterpret_cast<T*>(at + j * step); }
  BC_INLINE T* unit() const { return reinterpret_cast<T*>(at); }
  BC_INLINE bool is_unit() const { return step == static_cast<i64>(sizeof(T)); }
};
template <class T, int M>
BC_INLINE Row<T> row_at(const Operand<T, M>& o, const Walk<M>& w, i64 row, i64 begin) {
  const i64 step = M == 1 ? o.strides[0] : o.strides[w.axis[w.axes - 1]];
  return {row_of(o, w, row) + begin * step, step};
}
template <class T>
constexpr bool is_plain = !is_complex<T> && !is_small_float<T>;

/// out[j] = f(in[j]…). The output is no input, or the same elements of one.
template <class R, class F, class... T>
BC_INLINE void map_row(Row<R> out, i64 n, const F& f, Row<T>... in) {
  if (out.is_unit() && (in.is_unit() && ...)) {
    R* o = out.unit();
    if constexpr (is_plain<R> && (is_plain<T> && ...)) {
      BC_VECTORIZE for (i64 j = 0; j < n; ++j) o[j] = f(in.unit()[j]...);
    } else {
      for (i64 j = 0; j < n; ++j) o[j] = f(in.unit()[j]...);
    }
  } else {
    _Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)") for (i64 j = 0; j < n; ++j) out[j] = f(in[j]...);
  }
}
/// The elements [begin, end) of a walk, in order, row by row or parts of long rows: f(row, first, count).
template <int M, class F>
BC_INLINE void each_row(const Walk<M>& w, i64 begin, i64 end, F f) {
  if constexpr (M == 1) {
    if (begin < end) in_strips(end - begin, [&](i64 from, i64 to) { f(0, begin + from, to - from); });
    return;
  }
  const i64 length = w.extent[w.axes - 1];
  if (begin >= end || length == 0) return;
  i64 row = begin / length, at = begin % length, turns = 0;
  u32 seen = 0;
  while (begin < end) {
    const i64 n = least(least(length - at, end - begin), kLongLoop);
    f(row, at, n);
    begin += n, at += n;
    if (at == length) at = 0, ++row;
    if ((turns += n) >= kLongLoop && begin < end) {
      turns = 0;
      poll_between(&seen);
    }
  }
}
template <int M, class R, class F, class... T>
BC_INLINE void map_all(const Tuple<i64, M>& shape, const F& f, const Operand<R, M>& out, const Operand<T, M>&... in) {
  const Walk<M> w = walk(shape, out, in...);
  const i64 n = rows_of(w) * (M == 1 ? w.extent[0] : w.extent[w.axes - 1]);
  auto piece = [=](i64 begin, i64 end) {
    each_row(w, begin, end, [&](i64 row, i64 at, i64 count) { map_row(row_at(out, w, row, at), count, f, row_at(in, w, row, at)...); });
  };
#if BC_PYTHON_PARALLEL
  if (n > kParallelElements) return parallel(n, kParallelElements, piece);
#endif
  piece(0, n);
}

/// The new array of f over the elements of arrays.
template <class R, int M, class F, class... A>
BC_INLINE Host<R, M, 'C'> map(const F& f, const A&... a) {
  const Tuple<i64, M> shape = shape_of<M>(a...);
  Host<R, M, 'C'> out = fresh<R, M>(shape);
  if constexpr (M == 0)
    *out.data = f(*a.data...);
  else
    map_all(shape, f, operand(out, shape), operand(a, shape)...);
  return out;
}

/// The bytes between the first and behind the last element.
template <class T, int N, char L>
BC_INLINE void span_of(const Array<T, N, L>& a, const char*& low, const char*& high) {
  low = high = reinterpret_cast<const char*>(a.data);
  if constexpr (N > 0) {
    for (int k = 0; k < N; ++k) {
      const i64 reach = (a.shape[k] - 1) * a.strides[k];
      (reach < 0 ? low : high) += reach;
    }
  }
  high += sizeof(T);
}
template <class T, int N, char L, class U, int M, char K>
BC_INLINE bool collides(const Array<T, N, L>& out, const Array<U, M, K>& in) {
  const char *a, *b, *c, *d;
  span_of(out, a, b);
  span_of(in, c, d);
  if (b <= c || d <= a) return false;
  if constexpr (is_same<T, conditional<is_same<const T, U>, T, U>> && N == M) {
    bool same = static_cast<const void*>(out.data) == static_cast<const void*>(in.data);
    if constexpr (N > 0)
      for (int k = 0; k < N; ++k) same = same && out.shape[k] == in.shape[k] && out.strides[k] == in.strides[k];
    if (same) return false;
  }
  return true;
}
/// out[…] = f over the elements of arrays, as if all were read before the first is written.
template <class T, int N, char L, class F, class... A>
BC_INLINE void assign(const Array<T, N, L>& out, const F& f, const A&... a) {
  if constexpr (N == 0) {
    *out.data = f(*a.data...);
  } else {
    Tuple<i64, N> shape = out.shape;
    const auto fits = [&](const auto& x) {
      if constexpr (requires { x.shape; }) {  // an array without dimensions has none
        constexpr int kRank = sizeof(x.shape) / sizeof(i64);
        for (int k = 0; k < kRank; ++k)
          if (x.shape[k] != 1 && x.shape[k] != shape[N - kRank + k])
            raise_of(kValue, "could not broadcast input array from shape % into shape %", x.shape, out.shape);
      }
    };
    (fits(a), ...);
    if ((collides(out, a) || ...)) {
      const auto kept = map<T, N>(f, a...);
      map_all(shape, [](T x) { return x; }, operand(out, shape), operand(kept, shape));
    } else {
      map_all(shape, f, operand(out, shape), operand(a, shape)...);
    }
  }
}

// ---- reductions -------------------------------------------------------------------------------------------------------------------

#define BC_HOST_REDUCTION(Name, State, identity, mapped, joined) \
  template <class Element, class Accumulator>                    \
  struct Name {                                                  \
    using T = Element;                                           \
    using A = Accumulator;                                       \
    using S = State;                                             \
    BC_METHOD S init() { return identity; }                      \
    template <class Q>                                           \
    BC_METHOD S map(Q a, i64 i) {                                \
      return (void)i, mapped;                                    \
    }                                                            \
    BC_METHOD S join(S p, S q) { return joined; }                \
  };
BC_HOST_REDUCTION(Sum, A, A(0), cast<A>(a), add(p, q))
BC_HOST_REDUCTION(Product, A, A(1), cast<A>(a), multiply(p, q))
BC_HOST_REDUCTION(Maximum, A, A(0), a, maximum(p, q))
BC_HOST_REDUCTION(Minimum, A, A(0), a, minimum(p, q))
BC_HOST_REDUCTION(AnyOf, bool, false, cast<bool>(a), (p | q))
BC_HOST_REDUCTION(AllOf, bool, true, cast<bool>(a), (p & q))
BC_HOST_REDUCTION(Count, i64, 0, i64(cast<bool>(a)), p + q)
BC_HOST_REDUCTION(ArgMaximum, ArgState<T>, (S{T(0), -1}), (S{a, i}), argmax_join(p, q))
BC_HOST_REDUCTION(ArgMinimum, ArgState<T>, (S{T(0), -1}), (S{a, i}), argmin_join(p, q))
BC_HOST_REDUCTION(Moments, var_state<T>, var_empty<T>(), var_of(a), var_join(p, q))
#undef BC_HOST_REDUCTION

constexpr i64 kReduceBlock = 1024;  ///< elements that are reduced to one state before states are joined in a tree
constexpr i64 kReducePiece =
    64 * 1024;  ///< elements of a thread's piece: a power of two of blocks, so that the tree does not depend on the threads

/// The identity, with which an array is read without an expression.
struct Same {
  template <class T>
  BC_INLINE T operator()(T x) const {
    return x;
  }
};

template <class Red>
constexpr bool sums_floats = is_same<Red, Sum<double, double>> || is_same<Red, Sum<float, float>>;
template <class T>
BC_INLINE T sum_in_order(const Operand<T, 1>& in, i64 n) {
  const Row<T> x{in.at, in.strides[0]};
  T s = T(-0.0);  // what changes no first element
  for (i64 k = 0; k < n; ++k) s += x[k];
  return s;
}
/// Sums of integers do not depend on the order: their blocks have any length.
template <class Red>
constexpr bool adds_integers = false;
template <class T, class A>
constexpr bool adds_integers<Sum<T, A>> = is_int<A> && (is_int<T> || is_bool<T>);

/// Not inlined: there are three calls, and the vectorised loop takes long to compile.
template <class Red>
static __attribute__((noinline)) void push_block(Pairwise<Red>& tree, const typename Red::T* x, i64 n, i64 first) {
  if constexpr (sums_floats<Red>)
    tree.push(block_sum(x, n));
  else if constexpr (adds_integers<Red>) {
    typename Red::S s = Red::init();
    for (i64 k = 0; k < n; ++k) s = Red::join(s, Red::map(x[k], 0));
    tree.push(s);
  } else
    push_state<Red>(tree, x, n, first);
}
template <class Red, int M, class F, class... T>
BC_INLINE typename Red::S reduce_piece(const Walk<M>& w, i64 begin, i64 end, const F& f, const Operand<T, M>&... in) {
  Pairwise<Red> tree;
  alignas(64) typename Red::T buffer[kReduceBlock];
  i64 fill = 0, first = begin;
  each_row(w, begin, end, [&](i64 row, i64 at, i64 count) {
    while (count > 0) {
      i64 n = least(count, kReduceBlock - fill);
      if constexpr (is_same<F, Same>) {
        // Blocks that lie in memory as the buffer would: whole ones, and the last.
        const auto direct = [&](auto r) {
          if (fill == 0 && (n == kReduceBlock || first + n == end) && r.is_unit()) {
            if (adds_integers<Red>) n = count;
            push_block(tree, r.unit(), n, first);
            return true;
          }
          return false;
        };
        if ((direct(row_at(in, w, row, at)) && ...)) {
          first += n, at += n, count -= n;
          continue;
        }
      }
      map_row(Row<typename Red::T>{reinterpret_cast<char*>(buffer + fill), sizeof(typename Red::T)}, n, f, row_at(in, w, row, at)...);
      fill += n, at += n, count -= n;
      if (fill == kReduceBlock) {
        push_block(tree, buffer, fill, first);
        first += fill;
        fill = 0;
      }
    }
  });
  if (fill > 0) push_block(tree, buffer, fill, first);
  return tree.total();
}

/// The state of f over all elements of arrays, in one loop.
template <class Red, int M, class F, class... A>
BC_INLINE typename Red::S reduce(i64& count, const F& f, const A&... a) {
  if constexpr (M == 0) {
    count = 1;
    return Red::map(f(*a.data...), 0);
  } else {
    const Tuple<i64, M> shape = shape_of<M>(a...);
    if constexpr (M == 1 && is_same<F, Same> && sums_floats<Red>) {
      // Few elements, which add_up takes one after the other too.
      count = shape[0];
      if (count > 0 && count < kSums) return sum_in_order(operand(a, shape)..., count);
    }
    const auto all = [&](const auto&... in) {
      const Walk<M> w = walk(shape, in...);
      const i64 n = rows_of(w) * (M == 1 ? w.extent[0] : w.extent[w.axes - 1]);
      count = n;
#if BC_PYTHON_PARALLEL
      if (n > kReducePiece) {
        using S = typename Red::S;
        const Host<S, 1, 'C'> parts = fresh<S, 1>(Tuple<i64, 1>{{(n + kReducePiece - 1) / kReducePiece}});
        S* to = parts.data;
        auto piece = [=](i64 begin, i64 end) { to[begin / kReducePiece] = reduce_piece<Red>(w, begin, end, f, in...); };
        parallel(n, kReducePiece, piece);
        Pairwise<Red> tree;
        for (i64 i = 0; i < parts.shape[0]; ++i) tree.push(to[i]);
        return tree.total();
      }
#endif
      return reduce_piece<Red>(w, 0, n, f, in...);
    };
    return all(operand(a, shape)...);
  }
}
/// A sum begins with zero, so that negative zeros add up to a positive one; the pieces that it is made of begin with their first elements.
template <class S>
BC_INLINE S from_zero(S sum) {
  return add(S(0), sum);
}
template <class Acc, int M, class F, class... A>
BC_INLINE Acc sum(const F& f, const A&... a) {
  using T = decltype(f(*a.data...));
  i64 n;
  return cast<Acc>(from_zero(reduce<Sum<T, acc_t<Acc>>, M>(n, f, a...)));
}
template <class Acc, int M, class F, class... A>
BC_INLINE Acc product(const F& f, const A&... a) {
  using T = decltype(f(*a.data...));
  i64 n;
  return cast<Acc>(reduce<Product<T, acc_t<Acc>>, M>(n, f, a...));
}
template <class Acc, int M, class F, class... A>
BC_INLINE Acc mean(const F& f, const A&... a) {
  using T = decltype(f(*a.data...));
  i64 n;
  const auto s = from_zero(reduce<Sum<T, acc_t<Acc>>, M>(n, f, a...));
  return cast<Acc>(mean_of(s, static_cast<double>(n)));
}
template <class S, class T, char L>
BC_INLINE S sum_in_order(const Host<T, 1, L>& a, S sum) {
  for (i64 i = 0; i < a.shape[0]; ++i) sum = static_cast<S>(sum + cast<S>(a(i)));
  return sum;
}
template <class Acc, int M, class F, class... A>
BC_INLINE Acc variance(double ddof, const F& f, const A&... a) {
  using T = decltype(f(*a.data...));
  i64 n;
  return cast<Acc>(var_finish(reduce<Moments<T, T>, M>(n, f, a...), ddof));
}
#define BC_HOST_EXTREME(name, Red, text)             \
  template <int M, class F, class... A>              \
  BC_INLINE auto name(const F& f, const A&... a) {   \
    using T = decltype(f(*a.data...));               \
    i64 n;                                           \
    const auto s = reduce<Red<T, T>, M>(n, f, a...); \
    if (n == 0) raise(kValue, text);                 \
    return s;                                        \
  }
BC_HOST_EXTREME(largest, Maximum, "zero-size array to reduction operation maximum which has no identity")
BC_HOST_EXTREME(smallest, Minimum, "zero-size array to reduction operation minimum which has no identity")
BC_HOST_EXTREME(largest_at, ArgMaximum, "attempt to get argmax of an empty sequence")
BC_HOST_EXTREME(smallest_at, ArgMinimum, "attempt to get argmin of an empty sequence")
#undef BC_HOST_EXTREME
template <template <class, class> class Red, int M, class F, class... A>
BC_INLINE auto fold(const F& f, const A&... a) {
  using T = decltype(f(*a.data...));
  i64 n;
  return reduce<Red<T, T>, M>(n, f, a...);
}

}  // namespace py
}  // namespace bc
#endif
