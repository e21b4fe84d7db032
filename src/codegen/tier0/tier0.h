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

  /// Runs items [begin, end) of an entry (see print_cpu) with the parameter block `words`. Safe from several threads for disjoint items.
  void run(int entry, const int64_t* words, int64_t begin, int64_t end) const;

  /// Tells whether this processor has what the loops are built for: AVX2, FMA and F16C.
  static bool supported();

 private:
  std::unique_ptr<const tier0::Program> program_;
};

/// Tier0Program, once.
void interpret(const Ir& ir, int entry, const int64_t* words, int64_t begin, int64_t end);

}  // namespace bc
