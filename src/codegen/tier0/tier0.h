#pragma once
#include <cstdint>
#include <memory>

#include "codegen/ir.h"

namespace bc {

namespace tier0 {
struct Program;
}

/// A kernel as a list of built-in loops, which the host compiler has built. Its items, blocks, lanes and trees are those of the kernel that
/// print_cpu prints, so the results have the same bits. It needs no run-time compiler, so it runs small kernels and kernels that are not
/// compiled yet.
class Tier0Program {
 public:
  explicit Tier0Program(const Ir& ir);
  ~Tier0Program();
  Tier0Program(Tier0Program&&) noexcept;
  Tier0Program& operator=(Tier0Program&&) noexcept;

  /// Runs items [begin, end) of an entry (see print_cpu) with the parameter block `parameters`. Safe from several threads for disjoint
  /// items.
  void run(int entry, const int64_t* parameters, int64_t begin, int64_t end) const;

  /// Tells whether this processor has the instructions that the loops need: AVX2, FMA and F16C.
  static bool supported();

 private:
  std::unique_ptr<const tier0::Program> program_;
};

/// out[i] = row(a[i], b[i], c[i]) for i in [0, n).
using Tier0Loop = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);
/// The loop of an elementwise row over elements of `type`, and the loop of a cast; nullptr where there is none, or where supported() is
/// false. The results have the same bits as in every kernel.
Tier0Loop tier0_loop(Op op, DType type);
Tier0Loop tier0_cast(DType from, DType to);
/// Reduces n >= 1 contiguous elements of `type`, at most tier0::kReduceBlock, by a reduction row that accumulates in that type, with the
/// bits of every kernel. Returns false, and leaves `out` alone, where there is no such loop.
bool tier0_reduce(Op op, DType type, const void* from, int64_t n, double ddof, void* out);
/// The sum of the products of n >= 1 contiguous elements of `type`, with the bits of every kernel. Returns false, and leaves `out` alone,
/// where there is no such loop: it is there for float32 and float64.
bool tier0_dot(DType type, const void* a, const void* b, int64_t n, void* out);

}  // namespace bc
