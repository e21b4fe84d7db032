#pragma once
#include <cstdint>
#include <memory>

#include "codegen/ir.h"

namespace bc {

namespace tier0 {
struct Program;
}

/// A kernel as a list of loops that the host compiler built. Runs the items, blocks, lanes and trees of the kernel that print_cpu prints,
/// and gives the same bits. Needs no compiler, so that it runs what is small or not compiled yet.
class Tier0Program {
 public:
  explicit Tier0Program(const Ir& ir);
  ~Tier0Program();
  Tier0Program(Tier0Program&&) noexcept;
  Tier0Program& operator=(Tier0Program&&) noexcept;

  /// Runs items [begin, end) of an entry (see print_cpu) with the parameter block `parameters`. Safe from several threads for disjoint
  /// items.
  void run(int entry, const int64_t* parameters, int64_t begin, int64_t end) const;

  /// Tells whether this processor has what the loops are built for: AVX2, FMA and F16C.
  static bool supported();

 private:
  std::unique_ptr<const tier0::Program> program_;
};

/// out[i] = row(a[i], b[i], c[i]) for i in [0, n).
using Tier0Loop = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);
/// The loop of an elementwise row over elements of `type`, and the one that casts; nullptr where there is none, or where this processor
/// lacks what the loops need. Their results have the bits of every kernel's.
Tier0Loop tier0_loop(Op op, DType type);
Tier0Loop tier0_cast(DType from, DType to);

/// Tier0Program, once.
void interpret(const Ir& ir, int entry, const int64_t* parameters, int64_t begin, int64_t end);

}  // namespace bc
