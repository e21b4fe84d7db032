#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/ir.h"
#include "codegen/tier0/tier0.h"
#include "graph/node.h"

namespace bc {

/// One thing that a plan runs.
struct Step {
  enum class Kind : uint8_t { kernel, library };
  Kind kind = Kind::kernel;

  /// A parameter word that holds an address or a constant of this run.
  struct Patch {
    enum class Kind : uint8_t { address, constant } kind = Kind::address;
    int word = 0;
    int slot = 0;        ///< whose buffer or value
    int64_t offset = 0;  ///< bytes
    DType dtype = DType::f64;
  };
  std::vector<int> allocate;  ///< slots whose buffer is made before the step
  /// (slot, from): the slot takes over the buffer of `from`; where somebody else still needs that, a copy of it.
  std::vector<std::pair<int, int>> take;
  bool take_copies = false;  ///< a later step reads what is taken over
  int donor = -1;            ///< the slot whose memory the only output may be written into, where nobody else needs its value
  int library = -1;          ///< the slot of a library node

  Ir ir;
  Hash128 key;
  std::string name;
  std::vector<int64_t> parameters;  ///< the parameter block, but for what the patches fill in
  std::vector<Patch> patches;
  std::vector<Launch> launches;
  std::vector<int> release;  ///< slots that nothing reads after this step and nobody holds
  size_t partial_bytes = 0;  ///< scratch for a segmented reduction
  int64_t tickets = 0;       ///< CUDA: counters of finished blocks
  int64_t elements = 0, bytes = 0;
  LoadedKernel* kernel = nullptr;
  std::shared_ptr<const Tier0Program> tier0;  ///< CPU: the loops that run it while there is no kernel
  int tier0_runs = 0;
  int64_t tier0_nanoseconds = 0;  ///< that they took since the compiler was last asked for the kernel
};

/// What a flush runs, in order. Slots [0, pending) are the tape's nodes, the rest leaves and constants in the order they are met; a plan
/// holds no pointer to them, so that an equal tape can run it again.
struct Plan {
  struct Temporary {
    DType dtype;
    Dims shape;
  };
  int pending = 0;
  int slots = 0;
  std::vector<Temporary> temporaries;  ///< values that the planner added; their slots follow the others
  std::vector<Step> steps;
};

/// Plans the pending nodes (in program order, all of them needed). `target` picks the skeletons.
Plan make_plan(const Slots& slots, int pending, Target target);

/// Node::mark of what an interrupted run has computed.
inline constexpr uint32_t kComputed = ~uint32_t{0};

/// Runs a plan on the stream of its nodes' tape. Throws what the compiler, the device or an index out of range raises; Interrupted between
/// steps, and inside those that write to no memory which had a value before.
void run_plan(Plan& plan, Slots& slots, Tape& tape);

/// A digest of all that make_plan looks at; equal digests mean that a plan fits. `slots` holds the `pending` nodes and gets the others that
/// they read.
Hash128 tape_hash(size_t pending, Slots* slots);

/// The memory that a node's value lies in, or will lie in where it is another value changed in place; nullptr: memory that the flush makes.
const Buffer* memory_of(const Node& node);

/// Tells whether two buffers are different ones with memory in common: imports of other libraries' arrays.
inline bool share_memory(const Buffer& a, const Buffer& b) {
  const auto *from = static_cast<const char*>(a.ptr), *other = static_cast<const char*>(b.ptr);
  return &a != &b && from < other + b.bytes && other < from + a.bytes;
}

/// How many plans a device keeps before its cache of plans starts anew, for tests; returns the number before.
size_t set_plan_limit(size_t count);

/// The skeletons that a device runs.
Target target_of(Device device);

}  // namespace bc
