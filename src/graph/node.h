#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/dtype.h"
#include "core/ref.h"
#include "core/scalar.h"
#include "core/shape.h"
#include "primitives/library_op.h"
#include "primitives/ops.h"
#include "primitives/user_op.h"
#include "runtime/backend.h"

namespace bc {

class Tape;

/// A point in a stream's order: the stream's work up to the submission with this number.
struct Use {
  Tape* tape = nullptr;
  uint64_t tick = 0;
};

/// The last uses of a buffer: the last write, and the reads since then. Empty while only the device's default stream has used the buffer,
/// before another stream was created.
struct Uses {
  Use write, read;
  std::unique_ptr<std::vector<Use>> reads;  ///< reads of further streams
};

/// A piece of device memory. If `release` is empty, the memory came from the pool and returns to it.
struct Buffer final : OwnedCounted {
  Device device;
  void* ptr = nullptr;
  size_t bytes = 0;
  bool exposed = false;           ///< visible outside (DLPack, NumPy, a raw kernel): never rebound, ordered at call time; see expose()
  bool exposed_for_good = false;  ///< an address was told
  uint32_t loans = 0;             ///< others that use the memory now and then give it back
  bool read_only = false;         ///< borrowed from a read-only exporter
  Uses uses;                      ///< guarded by the device's lock
  std::function<void()> release;  ///< returns foreign memory to its owner

  static void* operator new(size_t);
  static void operator delete(void* p);
  /// Memory for work of the thread's current stream.
  static Ref<Buffer> allocate(Device device, size_t bytes);
  static Ref<Buffer> foreign(Device device, void* ptr, size_t bytes, std::function<void()> release);
  /// Exposes the memory from now on, or no longer. Called with the device's lock, as are the two below.
  void expose(bool on);
  /// Exposes the memory until the loan ends.
  void lend();
  void end_loan();
  /// How much memory of host devices is exposed. While there is any, all flushes keep the device's lock: others may read and write such
  /// memory between any two statements, so that ops on it must be done when their statement ends, in the order of all threads' statements.
  static std::atomic<int64_t> exposed_on_host;

 private:
  void update_exposed();
};
void destroy(Buffer* buffer);

struct Node;
void destroy(Node* node);

/// How a node reads another: the element at iteration index x is at offset + Σ x[d] * strides[d] of the input's own C-contiguous elements
/// (of its buffer, for a leaf), as `dtype`. `identity` means the same linear index, and `strides` is then empty.
struct Operand {
  Ref<Node> node;
  DType dtype = DType::f64;
  bool identity = true;
  int64_t offset = 0;
  Dims strides;
};

/// A node's operands. Up to two are stored inside the node, which is enough for most nodes.
class Operands {
 public:
  Operands() = default;
  Operands(const Operands& o) {
    for (const Operand& x : o) push_back(x);
  }
  Operands& operator=(const Operands& o) {
    if (this != &o) {
      clear();
      for (const Operand& x : o) push_back(x);
    }
    return *this;
  }
  ~Operands() = default;

  void push_back(Operand o) {
    if (size_ < kInline)
      inline_[size_] = std::move(o);
    else
      more_.push_back(std::move(o));
    ++size_;
  }
  /// Adds an operand that is read in its own order (Operand::identity).
  void push_whole(const Ref<Node>& node, DType dtype) {
    Operand& o = size_ < kInline ? inline_[size_] : more_.emplace_back();
    o.node = node;
    o.dtype = dtype;
    ++size_;
  }
  void clear() {
    for (size_t k = 0; k < std::min(size_, kInline); ++k) {
      if (inline_[k].identity)
        inline_[k].node = Ref<Node>();
      else
        inline_[k] = Operand();
    }
    more_.clear();
    size_ = 0;
  }
  size_t size() const { return size_; }
  Operand& operator[](size_t k) { return k < kInline ? inline_[k] : more_[k - kInline]; }
  const Operand& operator[](size_t k) const { return k < kInline ? inline_[k] : more_[k - kInline]; }

  template <class Self>
  struct Iterator {
    Self* all;
    size_t k;
    std::conditional_t<std::is_const_v<Self>, const Operand&, Operand&> operator*() const { return (*all)[k]; }
    Iterator& operator++() {
      ++k;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return k != o.k; }
  };
  Iterator<Operands> begin() { return {this, 0}; }
  Iterator<Operands> end() { return {this, size_}; }
  Iterator<const Operands> begin() const { return {this, 0}; }
  Iterator<const Operands> end() const { return {this, size_}; }

 private:
  static constexpr size_t kInline = 2;
  size_t size_ = 0;
  Operand inline_[kInline];
  std::vector<Operand> more_;
};

/// A reduction walks `shape` and keeps the axes that are not in `axes`, in order.
struct ReduceExtra final : Extra {
  Dims shape;
  uint64_t axes = 0;  ///< bit d: axis d of `shape` is reduced
  double ddof = 0;
  Ref<UserOp> join;  ///< the join of Op::reduce_user
};

/// One result of a user's function.
struct UserExtra final : Extra {
  Ref<UserOp> op;
  int output = 0;
};

/// A store replaces `region` (a layout over in[0]'s elements) by in[1], which is walked over region.shape.
struct StoreExtra final : Extra {
  Layout region;
};

/// A gather reads in[0] (a leaf or a materialised node) at offset + Σ_d x[d] * base_strides[d] + Σ_k wrap(index_k) * index_strides[k].
struct GatherExtra final : Extra {
  int64_t offset = 0;
  Dims base_strides;   ///< over the result's shape
  Dims index_extents;  ///< the extent of each indexed axis; an index lies in [-extent, extent)
  Dims index_strides;  ///< the stride of each indexed axis in the source
};

/// An immutable value. Its elements lie C-contiguous over `shape` once it is computed.
///
/// A node is computed (`buffer`), pending on a tape (`tape`), or running: pending(), but taken off the tape by a flush, which computes it
/// without the device's lock. A node that is none of these was lost in an error. The states change under the lock, and so do `handles` and
/// who refers to a node. Of a running node only the flush uses `in` and `extra`; its buffer is set when the flush has ended. Others may
/// record ops that read it, and wait for the flush before they run those or read the value. A flush writes to memory of an older value only
/// if nobody but its own nodes could reach that value when they were taken, so nobody can begin to read it meanwhile; any other reader
/// keeps the value in place, and the flush writes to a copy.
struct Node final : RefCounted {
  Op op = Op::leaf;
  DType dtype = DType::f64;
  DType loop[3] = {};  ///< the input dtypes of the row's loop
  Device device;
  Dims shape;
  int64_t size = 1;
  Operands in;
  Scalar value;  ///< the value of a constant
  std::unique_ptr<Extra> extra;
  Ref<Buffer> buffer;    ///< set once computed (or a leaf)
  Tape* tape = nullptr;  ///< the tape on which the node is pending or from which a flush took it; nullptr once computed
  uint32_t tape_index = 0;
  uint32_t handles = 0;   ///< number of storages whose current value this node is
  bool held = false;      ///< set at a flush: a reference other than those of the flush's nodes exists, so the value must be kept
  bool running = false;   ///< a flush has taken the node from its tape and computes it
  uint16_t recorder = 0;  ///< of the thread that recorded it; two threads may have one number
  int32_t line = 0;       ///< line in the Python program, for errors that appear later
  const char* file = nullptr;
  const char* label = nullptr;  ///< the kernel's name in profiles, if the recording function sets one; interned
  uint32_t mark = 0;            ///< scratch of the planner: index among the pending nodes
  uint32_t slot = 0;            ///< scratch of the planner: slot in the plan

  static void* operator new(size_t);
  static void operator delete(void* p);
  bool pending() const { return tape != nullptr; }
};

/// The nodes of one flush by slot, in a plan's order.
struct Slots {
  std::vector<Ref<Node>> nodes;
  /// While the plan runs: the memory of pending nodes, temporaries and constants, which other threads do not see before the flush has
  /// ended. Leaves have none here but their own (Node::buffer).
  std::vector<Ref<Buffer>> buffers;
};

/// The recorded computation of a storage's value, for derivatives: src/autograd creates and walks it. While no history exists, recording an
/// op does not check its operands for one.
struct History : RefCounted {
  History() { live.fetch_add(1, std::memory_order_relaxed); }
  virtual ~History() { live.fetch_sub(1, std::memory_order_relaxed); }
  static std::atomic<int64_t> live;  ///< number of histories that exist
};
/// Destroys a history and the histories that only it owns, without recursion, so that a chain may be long.
void destroy(History* history);

/// A storage's bytes in host memory, of a device where each look at an element is a wait. They belong to one value of the storage.
struct HostMirror {
  int accesses = 0;  ///< small parts that were read or stored one by one, of all values
  int meetings = 0;  ///< ops with arrays of the host
  const Node* value = nullptr;
  uint64_t version = 0;
  int reads = 0;            ///< elements of this value that the host has asked for
  std::vector<char> bytes;  ///< empty until they are worth a copy
};

/// A mutable cell that all views of an array share. It holds the current immutable value (a node).
struct Storage final : OwnedCounted {
  Device device;
  Ref<Node> current;
  Ref<History> history;  ///< the history of the current value; null where no derivative is recorded
  uint64_t version = 0;
  std::atomic<const char*> notice{nullptr};  ///< a warning to issue when the host first reads a NaN of the value
  bool unset = false;  ///< created by Python's empty(): checked kernels know that nothing was written while `version` is 0
  bool early = waiting.load(std::memory_order_relaxed);  ///< made while `waiting` was set
  bool marked = false;  ///< and its memory was filled with the byte by which checked kernels recognise unset elements
  /// Booleans in this storage may have bytes other than 0 and 1, because it is also viewed as another dtype or its bytes came from outside.
  /// Ops then read the booleans as bytes and treat every nonzero byte as true.
  std::atomic<bool> loose_booleans{false};
  std::unique_ptr<HostMirror> mirror;

  /// An accelerator is not worth to be opened yet (array/placement.h); early storages move there when it is.
  static inline std::atomic<bool> waiting{false};

  static void* operator new(size_t);
  static void operator delete(void* p);
  explicit Storage(Ref<Node> value);
  ~Storage();
  /// Makes `value` the current value, for all views of the storage.
  void rebind(Ref<Node> value);
  bool exposed() const { return current->buffer && current->buffer->exposed; }
};
void destroy(Storage* storage);

}  // namespace bc
