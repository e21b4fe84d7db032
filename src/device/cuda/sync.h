// <cuda/atomic>, <cuda/barrier>, <cuda/pipeline> and related headers. Asynchronous copies are made at once; threads that wait for others
// yield to them.
#pragma once

namespace std {
enum memory_order {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};
}  // namespace std

namespace cuda {
enum thread_scope { thread_scope_system = 0, thread_scope_device = 1, thread_scope_block = 2, thread_scope_thread = 10 };
using ::std::memory_order;
// clang-format off
using ::std::memory_order_relaxed; using ::std::memory_order_consume; using ::std::memory_order_acquire;
using ::std::memory_order_release; using ::std::memory_order_acq_rel; using ::std::memory_order_seq_cst;
// clang-format on
BC_FN void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <int Bytes> struct __bc_word;
// clang-format off
template <> struct __bc_word<1> { using type = unsigned char; };
template <> struct __bc_word<2> { using type = unsigned short; };
template <> struct __bc_word<4> { using type = unsigned int; };
template <> struct __bc_word<8> { using type = unsigned long; };
// clang-format on

/// Operations on an atomic object. Values that are not numbers are handled as their bits.
template <class T>
struct __bc_atomic_of {
  using Bits = typename __bc_word<sizeof(T)>::type;
  BC_INLINE static T of(Bits bits) { return __builtin_bit_cast(T, bits); }
  BC_INLINE static Bits bits(T v) { return __builtin_bit_cast(Bits, v); }
  BC_INLINE static Bits* at(T* p) { return reinterpret_cast<Bits*>(p); }
  BC_INLINE static T load(const T* p) { return of(__atomic_load_n(at(const_cast<T*>(p)), __ATOMIC_SEQ_CST)); }
  BC_INLINE static void store(T* p, T v) { __atomic_store_n(at(p), bits(v), __ATOMIC_SEQ_CST); }
  BC_INLINE static T exchange(T* p, T v) { return of(__atomic_exchange_n(at(p), bits(v), __ATOMIC_SEQ_CST)); }
  BC_INLINE static bool swap(T* p, T& expected, T wanted) {
    Bits seen = bits(expected);
    bool done = __atomic_compare_exchange_n(at(p), &seen, bits(wanted), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    expected = of(seen);
    return done;
  }
  template <class F> BC_INLINE static T change(T* p, F f) {
    T seen = load(p);
    while (!swap(p, seen, f(seen))) {}
    return seen;
  }
};

/// The members of atomic and atomic_ref; Self::__at() returns the address.
template <class T, class Self>
struct __bc_atomic_members {
  using value_type = T;
  using Of = __bc_atomic_of<T>;
  static constexpr bool is_always_lock_free = true;
  BC_INLINE T* place() const { return static_cast<const Self*>(this)->__at(); }
  BC_INLINE bool is_lock_free() const { return true; }
  BC_INLINE T load(memory_order = memory_order_seq_cst) const { return Of::load(place()); }
  BC_INLINE operator T() const { return load(); }
  BC_INLINE void store(T v, memory_order = memory_order_seq_cst) const { Of::store(place(), v); }
  BC_INLINE T exchange(T v, memory_order = memory_order_seq_cst) const { return Of::exchange(place(), v); }
  BC_INLINE bool compare_exchange_strong(T& expected, T wanted, memory_order = memory_order_seq_cst,
                                         memory_order = memory_order_seq_cst) const {
    return Of::swap(place(), expected, wanted);
  }
  BC_INLINE bool compare_exchange_weak(T& expected, T wanted, memory_order = memory_order_seq_cst,
                                       memory_order = memory_order_seq_cst) const {
    return Of::swap(place(), expected, wanted);
  }
  template <class U = T> BC_INLINE T fetch_add(U v, memory_order = memory_order_seq_cst) const {
    if constexpr (__is_integral(T))
      return __atomic_fetch_add(place(), static_cast<T>(v), __ATOMIC_SEQ_CST);
    else
      return Of::change(place(), [=](T old) { return static_cast<T>(old + v); });
  }
  template <class U = T> BC_INLINE T fetch_sub(U v, memory_order = memory_order_seq_cst) const {
    return Of::change(place(), [=](T old) { return static_cast<T>(old - v); });
  }
  BC_INLINE T fetch_and(T v, memory_order = memory_order_seq_cst) const { return __atomic_fetch_and(place(), v, __ATOMIC_SEQ_CST); }
  BC_INLINE T fetch_or(T v, memory_order = memory_order_seq_cst) const { return __atomic_fetch_or(place(), v, __ATOMIC_SEQ_CST); }
  BC_INLINE T fetch_xor(T v, memory_order = memory_order_seq_cst) const { return __atomic_fetch_xor(place(), v, __ATOMIC_SEQ_CST); }
  BC_INLINE T fetch_min(T v, memory_order = memory_order_seq_cst) const {
    return Of::change(place(), [=](T old) { return v < old ? v : old; });
  }
  BC_INLINE T fetch_max(T v, memory_order = memory_order_seq_cst) const {
    return Of::change(place(), [=](T old) { return old < v ? v : old; });
  }
  BC_INLINE T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
  BC_INLINE T operator++(int) const { return fetch_add(1); }
  BC_INLINE T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
  BC_INLINE T operator--(int) const { return fetch_sub(1); }
  template <class U> BC_INLINE T operator+=(U v) const { return static_cast<T>(fetch_add(v) + v); }
  template <class U> BC_INLINE T operator-=(U v) const { return static_cast<T>(fetch_sub(v) - v); }
  BC_INLINE T operator&=(T v) const { return static_cast<T>(fetch_and(v) & v); }
  BC_INLINE T operator|=(T v) const { return static_cast<T>(fetch_or(v) | v); }
  BC_INLINE T operator^=(T v) const { return static_cast<T>(fetch_xor(v) ^ v); }
  BC_INLINE void wait(T old, memory_order = memory_order_seq_cst) const {
    while (__builtin_memcmp(&old, place(), sizeof(T)) == 0 && Of::bits(load()) == Of::bits(old)) __bc_spin();
  }
  BC_INLINE void notify_one() const {}
  BC_INLINE void notify_all() const {}
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic : __bc_atomic_members<T, atomic<T, Scope>> {
  atomic() = default;
  BC_INLINE constexpr atomic(T v) : value_(v) {}
  atomic(const atomic&) = delete;
  BC_INLINE T operator=(T v) {
    this->store(v);
    return v;
  }
  BC_INLINE T* __at() const { return &value_; }

 private:
  mutable T value_;
};
template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref : __bc_atomic_members<T, atomic_ref<T, Scope>> {
  static constexpr size_t required_alignment = sizeof(T);
  BC_INLINE explicit atomic_ref(T& place) : at_(&place) {}
  BC_INLINE T operator=(T v) const {
    this->store(v);
    return v;
  }
  BC_INLINE T* __at() const { return at_; }

 private:
  T* at_;
};
template <thread_scope Scope = thread_scope_system>
struct atomic_flag {
  unsigned set;
  BC_INLINE bool test_and_set(memory_order = memory_order_seq_cst) { return __atomic_exchange_n(&set, 1u, __ATOMIC_SEQ_CST) != 0; }
  BC_INLINE bool test(memory_order = memory_order_seq_cst) const { return __atomic_load_n(&set, __ATOMIC_SEQ_CST) != 0; }
  BC_INLINE void clear(memory_order = memory_order_seq_cst) { __atomic_store_n(&set, 0u, __ATOMIC_SEQ_CST); }
};

// ---- barriers
struct __bc_no_completion {
  BC_INLINE void operator()() const {}
};
template <thread_scope Scope = thread_scope_system, class Completion = __bc_no_completion>
class barrier {
 public:
  using arrival_token = unsigned;
  barrier() = default;
  BC_INLINE barrier(ptrdiff_t expected, Completion completion = {})
      : expected_(static_cast<int>(expected)), left_(static_cast<int>(expected)), phase_(0), completion_(completion) {}
  [[nodiscard]] BC_INLINE arrival_token arrive(ptrdiff_t n = 1) {
    arrival_token token = __atomic_load_n(&phase_, __ATOMIC_SEQ_CST);
    if (__atomic_sub_fetch(&left_, static_cast<int>(n), __ATOMIC_SEQ_CST) == 0) {
      completion_();
      __atomic_store_n(&left_, __atomic_load_n(&expected_, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
      __atomic_store_n(&phase_, token + 1u, __ATOMIC_SEQ_CST);
    }
    return token;
  }
  BC_INLINE bool try_wait(const arrival_token& token) const { return __atomic_load_n(&phase_, __ATOMIC_SEQ_CST) != token; }
  template <class Duration> BC_INLINE bool try_wait_for(const arrival_token& token, const Duration&) const { return try_wait(token); }
  BC_INLINE bool try_wait_parity(bool parity) const {
    return (__atomic_load_n(&phase_, __ATOMIC_SEQ_CST) & 1u) != static_cast<unsigned>(parity);
  }
  BC_INLINE void wait(arrival_token&& token) const { stay(token); }
  BC_INLINE void wait(const arrival_token& token) const { stay(token); }
  BC_INLINE void wait_parity(bool parity) const {
    while (!try_wait_parity(parity)) __bc_yield();
  }
  BC_INLINE void arrive_and_wait() { stay(arrive()); }
  BC_INLINE void arrive_and_drop() {
    __atomic_fetch_sub(&expected_, 1, __ATOMIC_SEQ_CST);
    (void)arrive();
  }
  BC_INLINE static constexpr ptrdiff_t max() { return 1 << 20; }

 private:
  BC_INLINE void stay(arrival_token token) const {
    while (!try_wait(token)) __bc_yield();
  }
  int expected_, left_;
  unsigned phase_;
  [[no_unique_address]] Completion completion_;
};
template <thread_scope Scope, class Completion>
BC_INLINE void init(barrier<Scope, Completion>* b, ptrdiff_t expected, Completion completion = {}) {
  new (b) barrier<Scope, Completion>(expected, completion);
}

template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  BC_INLINE explicit constexpr aligned_size_t(size_t n) : value(n) {}
  BC_INLINE constexpr operator size_t() const { return value; }
};

template <class T, class Size, thread_scope Scope, class Completion>
BC_INLINE void memcpy_async(T* to, const T* from, Size bytes, barrier<Scope, Completion>&) {
  memcpy(static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}
template <class Group, class T, class Size, thread_scope Scope, class Completion>
BC_INLINE void memcpy_async(const Group& group, T* to, const T* from, Size bytes, barrier<Scope, Completion>&) {
  cooperative_groups::memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}
namespace device {
template <thread_scope Scope, class Completion>
BC_INLINE unsigned barrier_arrive_tx(barrier<Scope, Completion>& b, ptrdiff_t n, ptrdiff_t) {
  return b.arrive(n);
}
template <thread_scope Scope, class Completion>
BC_INLINE void barrier_expect_tx(barrier<Scope, Completion>&, ptrdiff_t) {}
template <class T, class Size, thread_scope Scope, class Completion>
BC_INLINE void memcpy_async_tx(T* to, const T* from, Size bytes, barrier<Scope, Completion>&) {
  memcpy(static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}
}  // namespace device

template <thread_scope Scope = thread_scope_system>
class latch {
 public:
  BC_INLINE constexpr explicit latch(ptrdiff_t expected) : left_(static_cast<int>(expected)) {}
  BC_INLINE void count_down(ptrdiff_t n = 1) { __atomic_fetch_sub(&left_, static_cast<int>(n), __ATOMIC_SEQ_CST); }
  BC_INLINE bool try_wait() const { return __atomic_load_n(&left_, __ATOMIC_SEQ_CST) == 0; }
  BC_INLINE void wait() const {
    while (!try_wait()) __bc_yield();
  }
  BC_INLINE void arrive_and_wait(ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }

 private:
  int left_;
};
template <thread_scope Scope = thread_scope_system, ptrdiff_t Most = 0x7fffffff>
class counting_semaphore {
 public:
  BC_INLINE constexpr explicit counting_semaphore(ptrdiff_t n) : left_(static_cast<int>(n)) {}
  BC_INLINE void release(ptrdiff_t n = 1) { __atomic_fetch_add(&left_, static_cast<int>(n), __ATOMIC_SEQ_CST); }
  BC_INLINE bool try_acquire() {
    int seen = __atomic_load_n(&left_, __ATOMIC_SEQ_CST);
    while (seen > 0)
      if (__atomic_compare_exchange_n(&left_, &seen, seen - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
    return false;
  }
  BC_INLINE void acquire() {
    while (!try_acquire()) __bc_spin();
  }

 private:
  int left_;
};
template <thread_scope Scope = thread_scope_system> using binary_semaphore = counting_semaphore<Scope, 1>;

// ---- pipelines
enum class pipeline_role { producer, consumer };
/// How many threads have filled, and released, each stage.
template <thread_scope Scope, unsigned Stages>
struct pipeline_shared_state {
  barrier<Scope> filled[Stages], left[Stages];
};
template <thread_scope Scope>
class pipeline {
 public:
  BC_INLINE pipeline() : filled_(nullptr), left_(nullptr), stages_(1), head_(0), tail_(0) {}
  BC_INLINE pipeline(barrier<Scope>* filled, barrier<Scope>* left, unsigned stages)
      : filled_(filled), left_(left), stages_(stages), head_(0), tail_(0) {}
  BC_INLINE void producer_acquire() {
    // A stage is free when all consumers have released its previous round.
    if (left_ != nullptr && head_ >= stages_) left_[head_ % stages_].wait_parity(((head_ / stages_) - 1u) & 1u);
  }
  BC_INLINE void producer_commit() {
    if (filled_ != nullptr) (void)filled_[head_ % stages_].arrive();
    ++head_;
  }
  BC_INLINE void consumer_wait() {
    if (filled_ != nullptr) filled_[tail_ % stages_].wait_parity((tail_ / stages_) & 1u);
  }
  template <class Duration> BC_INLINE bool consumer_wait_for(const Duration&) {
    consumer_wait();
    return true;
  }
  BC_INLINE void consumer_release() {
    if (left_ != nullptr) (void)left_[tail_ % stages_].arrive();
    ++tail_;
  }
  BC_INLINE bool quit() { return true; }
  template <unsigned Prior> BC_INLINE void __wait_prior() {
    if (filled_ == nullptr || head_ <= Prior) return;
    unsigned last = head_ - Prior - 1u;
    filled_[last % stages_].wait_parity((last / stages_) & 1u);
  }

 private:
  barrier<Scope>*filled_, *left_;
  unsigned stages_, head_, tail_;
};
BC_INLINE pipeline<thread_scope_thread> make_pipeline() { return {}; }
template <class Group, thread_scope Scope, unsigned Stages>
BC_INLINE pipeline<Scope> __bc_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state, ptrdiff_t producers,
                                        ptrdiff_t consumers) {
  if (group.thread_rank() == 0) {
    for (unsigned i = 0; i < Stages; ++i) {
      init(&state->filled[i], producers);
      init(&state->left[i], consumers);
    }
  }
  group.sync();
  return {state->filled, state->left, Stages};
}
template <class Group, thread_scope Scope, unsigned Stages>
BC_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state) {
  return __bc_pipeline(group, state, static_cast<ptrdiff_t>(group.size()), static_cast<ptrdiff_t>(group.size()));
}
template <class Group, thread_scope Scope, unsigned Stages>
BC_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state, size_t producers) {
  return __bc_pipeline(group, state, static_cast<ptrdiff_t>(producers), static_cast<ptrdiff_t>(group.size() - producers));
}
template <class Group, thread_scope Scope, unsigned Stages>
BC_INLINE pipeline<Scope> make_pipeline(const Group& group, pipeline_shared_state<Scope, Stages>* state, pipeline_role role) {
  __shared__ unsigned producers;
  if (group.thread_rank() == 0) producers = 0;
  group.sync();
  if (role == pipeline_role::producer) __atomic_fetch_add(&producers, 1u, __ATOMIC_RELAXED);
  group.sync();
  return __bc_pipeline(group, state, static_cast<ptrdiff_t>(producers), static_cast<ptrdiff_t>(group.size() - producers));
}
template <unsigned Prior, thread_scope Scope>
BC_INLINE void pipeline_consumer_wait_prior(pipeline<Scope>& p) {
  p.template __wait_prior<Prior>();
}
template <class T, class Size, thread_scope Scope>
BC_INLINE void memcpy_async(T* to, const T* from, Size bytes, pipeline<Scope>&) {
  memcpy(static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}
template <class Group, class T, class Size, thread_scope Scope>
BC_INLINE void memcpy_async(const Group& group, T* to, const T* from, Size bytes, pipeline<Scope>&) {
  cooperative_groups::memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}

// ---- hints
struct access_property {
  struct shared {};
  struct global {};
  struct normal {};
  struct streaming {};
  struct persisting {};
  access_property() = default;
  template <class T> BC_INLINE constexpr access_property(T) {}
};
template <class T, class P> BC_INLINE void apply_access_property(const T*, size_t, P) {}
template <class T> BC_INLINE void discard_memory(T*, size_t) {}
template <class T, class P>
struct annotated_ptr {
  T* at;
  BC_INLINE constexpr annotated_ptr(T* p = nullptr) : at(p) {}
  BC_INLINE constexpr annotated_ptr(T* p, access_property) : at(p) {}
  BC_INLINE constexpr T& operator[](ptrdiff_t i) const { return at[i]; }
  BC_INLINE constexpr T& operator*() const { return *at; }
  BC_INLINE constexpr T* operator->() const { return at; }
  BC_INLINE constexpr T* get() const { return at; }
  BC_INLINE constexpr explicit operator bool() const { return at != nullptr; }
};
}  // namespace cuda

namespace std {
template <class T> using atomic = ::cuda::atomic<T, ::cuda::thread_scope_system>;
template <class T> using atomic_ref = ::cuda::atomic_ref<T, ::cuda::thread_scope_system>;
template <class C = ::cuda::__bc_no_completion> using barrier = ::cuda::barrier<::cuda::thread_scope_system, C>;
using ::cuda::atomic_thread_fence;
}  // namespace std

// ---- cuda_pipeline_primitives.h, cuda_awbarrier_primitives.h
BC_FN void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  memcpy(to, from, bytes - zeros);
  memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
}
BC_FN void __pipeline_commit() {}
BC_FN void __pipeline_wait_prior(size_t) {}
typedef ::cuda::barrier<::cuda::thread_scope_block> __mbarrier_t;
typedef unsigned __mbarrier_token_t;
BC_FN void __mbarrier_init(__mbarrier_t* b, unsigned expected) { init(b, static_cast<ptrdiff_t>(expected)); }
BC_FN void __mbarrier_inval(__mbarrier_t*) {}
BC_FN __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* b) { return b->arrive(); }
BC_FN bool __mbarrier_test_wait(__mbarrier_t* b, __mbarrier_token_t token) { return b->try_wait(token); }
BC_FN bool __mbarrier_try_wait(__mbarrier_t* b, __mbarrier_token_t token, unsigned = 0) { return b->try_wait(token); }
