#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/ir.h"
#include "codegen/tier0/tier0.h"
#include "graph/node.h"

namespace bc {

/// One step of a plan: a kernel or a library op.
struct Step {
  enum class Kind : uint8_t { kernel, library };
  Kind kind = Kind::kernel;

  /// A parameter word that each run fills with an address or a constant.
  struct Patch {
    enum class Kind : uint8_t { address, constant } kind = Kind::address;
    int word = 0;
    int slot = 0;        ///< the slot whose buffer or value is used
    int64_t offset = 0;  ///< bytes
    DType dtype = DType::f64;
  };
  std::vector<int> allocate;  ///< slots whose buffers are allocated before the step
  /// (slot, from): the slot takes over the buffer of `from`, or a copy of it where the old value is still needed.
  std::vector<std::pair<int, int>> take;
  bool take_copies = false;  ///< a later step reads the old value, so `take` copies
  int donor = -1;            ///< the input slot into whose memory the only output may be written, if its value is not needed any more
  int library = -1;          ///< the slot of a library node
  std::vector<int> inputs;   ///< the slots of its operands
  int costliest = -1;        ///< the slot of the node with most of a kernel's operations: reports name its line

  Ir ir;
  Hash128 key;
  std::string name;
  std::vector<int64_t> parameters;  ///< the parameter block without the words that `patches` fill in
  std::vector<Patch> patches;
  std::vector<Launch> launches;
  std::vector<int> release;  ///< slots that no later step reads and no array holds
  size_t partial_bytes = 0;  ///< scratch for a segmented reduction
  int64_t tickets = 0;       ///< CUDA: the number of counters of finished blocks
  int64_t elements = 0, bytes = 0;

  // Several flushes may run the step at the same time, so these are read and written atomically (std::atomic_ref).
  LoadedKernel* kernel = nullptr;
  const Tier0Program* loops = nullptr;  ///< CPU: the built-in loops that run the step while it has no kernel
  int tier0_runs = 0;
  int64_t tier0_nanoseconds = 0;  ///< run time of the built-in loops since the kernel was last requested from the compiler

  std::shared_ptr<const Tier0Program> tier0;  ///< owns `loops`; set once
};

/// The steps of a flush in order. Slots [0, pending) are the tape's nodes; the other slots are leaves and constants in the order in which
/// tape_hash finds them. A plan holds no pointers to nodes, so that a tape of equal structure can run it again.
struct Plan {
  struct Temporary {
    DType dtype;
    Dims shape;
  };
  int pending = 0;
  int slots = 0;
  std::vector<Temporary> temporaries;  ///< values that the planner added; their slots follow the other slots
  std::vector<Step> steps;
};

/// Plans the pending nodes, which are in program order and all needed. `target` selects the kernel skeletons. It may insert copies before
/// stores and change the operands of the nodes that it is given.
Plan make_plan(const Slots& slots, int pending, Target target);

/// The Node::mark, after a run that threw, of nodes that have their values and of nodes that the failing step should have computed.
inline constexpr uint32_t kComputed = ~uint32_t{0}, kFailed = kComputed - 1;

/// Raises if a node that is not pending has no value, because its computation failed.
void require_value(const Node& node);

/// Runs a plan on the stream of its nodes' tape; `apart`: without the lock, which it lets go and takes again. The results are in
/// slots.buffers. Throws errors of the compiler and the device, and IndexError for an index out of range. Throws Interrupted between steps,
/// and inside steps that do not overwrite an older value. Whenever it throws it sets the nodes' marks.
void run_plan(Plan& plan, Slots& slots, Tape& tape, bool apart);

/// Whether every kernel of the plan can be launched, or run by built-in loops, without a wait for a compiler.
bool is_ready(Plan& plan);

/// A digest of everything that make_plan reads: tapes of equal digests can share a plan. `slots` holds the `pending` nodes; the leaves and
/// constants that they read are appended.
Hash128 tape_hash(size_t pending, Slots* slots);

/// The buffer of a node's value. For a pending in-place change it is the buffer of the value that is changed. nullptr: the flush will
/// allocate it.
const Buffer* memory_of(const Node& node);
/// Whether a node changes the memory of its first operand.
bool writes_in_place(const Node& node);

/// Tells whether two different buffers share memory, as imports of other libraries' arrays may.
inline bool share_memory(const Buffer& a, const Buffer& b) {
  const auto *from = static_cast<const char*>(a.ptr), *other = static_cast<const char*>(b.ptr);
  return &a != &b && from < other + b.bytes && other < from + a.bytes;
}

/// For tests: sets how many plans a device keeps before its plan cache is cleared; returns the previous number.
size_t set_plan_limit(size_t count);

/// The kernel skeletons that a device runs.
Target target_of(Device device);

}  // namespace bc
