#pragma once
#include <cstdint>

#include "core/dtype.h"

/// Draws from NumPy's PCG64 and PCG64DXSM on all threads: the numbers, and the state afterwards, are those of NumPy's loops.
namespace bc::pcg {

/// The state of a bit generator as NumPy keeps it: a linear congruential generator of 128 bits (O'Neill 2014), and the upper half of the
/// last word where only its lower half was drawn.
struct State {
  unsigned __int128 state, increment;
  bool dxsm;  ///< PCG64DXSM's multiplier and output, else PCG64's
  bool has_half;
  uint32_t half;
};

enum class Kind { uniform, integers, normal, exponential };

/// NumPy's bitgen_t (numpy/random/bitgen.h), the generator that NumPy's C functions take.
struct BitGenerator {
  void* state;
  uint64_t (*next_uint64)(void*);
  uint32_t (*next_uint32)(void*);
  double (*next_double)(void*);
  uint64_t (*next_raw)(void*);
};

/// The distribution to draw from. Floats are f64 (words of 64 bits) or f32 (halves of words); integers are i64, u64, i32 or u32.
struct Draw {
  Kind kind;
  DType dtype;
  bool affine = false;  ///< floats: low + scale * number instead of the number itself; f64 only
  double low = 0, scale = 1;
  uint64_t first = 0;   ///< integers: the smallest, two's complement
  uint64_t span = 0;    ///< integers: the largest less the smallest
  void* one = nullptr;  ///< normal, exponential: NumPy's C function that draws one number from a BitGenerator
};

/// Whether draw() supports this combination of kind and dtype.
bool can_draw(const Draw& draw);

/// Writes `count` numbers and advances the state past them.
void draw(State& state, const Draw& what, void* out, int64_t count);

}  // namespace bc::pcg
