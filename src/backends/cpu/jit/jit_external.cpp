// Names that kernels call without defining them.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <iterator>

#include "backends/cpu/jit/jit_blocks.h"
#include "backends/cpu/jit/jit_internal.h"

// Compiler support routines from libgcc's static part, which dlsym cannot find. Only the addresses are used, so the types do not matter.
extern "C" {
void __truncdfhf2();
void __truncsfhf2();
void __extendhfsf2();
void __udivti3();
void __umodti3();
void __divti3();
void __modti3();
void multiply_complex_float() __asm__("__mulsc3");   // the compiler knows the name with another type
void multiply_complex_double() __asm__("__muldc3");  // the compiler knows the name with another type
void divide_complex_float() __asm__("__divsc3");     // the compiler knows the name with another type
void divide_complex_double() __asm__("__divdc3");    // the compiler knows the name with another type
void __popcountdi2();
void __fixsfti();
void __fixdfti();
void __fixunssfti();
void __fixunsdfti();
void __floattisf();
void __floattidf();
void __floatuntisf();
void __floatuntidf();
void __powisf2();
void __powidf2();
}

namespace bc::jit {
namespace {

/// A float whose low half is the 16-bit result, since 16-bit floats are returned in the low half of xmm0.
float low_half(uint16_t bits) {
  const uint32_t wide = bits;
  float out;
  std::memcpy(&out, &wide, sizeof out);
  return out;
}

/// __truncsfbf2 (libgcc has it from GCC 13 on): round to nearest, ties to even.
float float_to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return low_half(static_cast<uint16_t>((bits >> 16) | 0x40u));
  return low_half(static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16));
}

/// __truncdfbf2: through a float rounded to odd, so that the value is rounded once.
float double_to_bfloat16(double value) {
  float narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  if (static_cast<double>(narrow) != value && value == value && (bits & 0x7fffffffu) != 0x7f800000u) {
    const bool grew = (narrow < 0 ? -static_cast<double>(narrow) : narrow) > (value < 0 ? -value : value);
    if (grew) --bits;  // towards zero …
    bits |= 1u;        // … and odd
    std::memcpy(&narrow, &bits, sizeof bits);
  }
  return float_to_bfloat16(narrow);
}

/// One step of cuRAND's XORWOW generator as a matrix over bits: 160 rows of 5 words; row i is the image of bit i of the state.
struct BitMatrix {
  uint32_t rows[160][5];
  void apply(uint32_t* v) const {
    uint32_t out[5] = {};
    for (int i = 0; i < 160; ++i) {
      if ((v[i / 32] >> (i % 32) & 1u) == 0) continue;
      for (int w = 0; w < 5; ++w) out[w] ^= rows[i][w];
    }
    std::memcpy(v, out, sizeof out);
  }
};

BitMatrix squared(const BitMatrix& a) {
  BitMatrix r = a;
  for (auto& row : r.rows) a.apply(row);
  return r;
}

/// Powers 2^0 … 2^63 and 2^67 … 2^130 of one step.
struct XorwowPowers {
  BitMatrix near[64], far[64];
  XorwowPowers() {
    BitMatrix step;
    for (int i = 0; i < 160; ++i) {
      uint32_t v[5] = {};
      v[i / 32] = 1u << (i % 32);
      const uint32_t t = v[0] ^ (v[0] >> 2);
      const uint32_t made[5] = {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
      std::memcpy(step.rows[i], made, sizeof made);
    }
    for (int i = 0; i < 131; ++i, step = squared(step)) {
      if (i < 64) near[i] = step;
      if (i >= 67) far[i - 67] = step;
    }
  }
};

/// Advances by `steps` * 2^power steps, with power 0 or 67.
void xorwow_skip(uint32_t* words, uint64_t steps, int power) {
  static const XorwowPowers& powers = *new XorwowPowers;
  const BitMatrix* table = power == 0 ? powers.near : powers.far;
  for (int i = 0; steps != 0; ++i, steps >>= 1) {
    if ((steps & 1) != 0) table[i].apply(words);
  }
}

struct Routine {
  const char* name;
  void* address;
};

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}

const Routine kRoutines[] = {
    {"__truncdfhf2", address_of(__truncdfhf2)},
    {"__truncsfhf2", address_of(__truncsfhf2)},
    {"__extendhfsf2", address_of(__extendhfsf2)},
    {"__truncsfbf2", address_of(float_to_bfloat16)},
    {"__truncdfbf2", address_of(double_to_bfloat16)},
    {"__udivti3", address_of(__udivti3)},
    {"__umodti3", address_of(__umodti3)},
    {"__divti3", address_of(__divti3)},
    {"__modti3", address_of(__modti3)},
    {"__mulsc3", address_of(multiply_complex_float)},
    {"__muldc3", address_of(multiply_complex_double)},
    {"__divsc3", address_of(divide_complex_float)},
    {"__divdc3", address_of(divide_complex_double)},
    {"__popcountdi2", address_of(__popcountdi2)},
    {"__fixsfti", address_of(__fixsfti)},
    {"__fixdfti", address_of(__fixdfti)},
    {"__fixunssfti", address_of(__fixunssfti)},
    {"__fixunsdfti", address_of(__fixunsdfti)},
    {"__floattisf", address_of(__floattisf)},
    {"__floattidf", address_of(__floattidf)},
    {"__floatuntisf", address_of(__floatuntisf)},
    {"__floatuntidf", address_of(__floatuntidf)},
    {"__powisf2", address_of(__powisf2)},
    {"__powidf2", address_of(__powidf2)},
    {"bc_jit_schedule", address_of(bc_jit_schedule)},
    {"bc_jit_lanes", address_of(bc_jit_lanes)},
    {"bc_jit_xorwow_skip", address_of(xorwow_skip)},
};

}  // namespace

void* find_external(const char* name) {
  for (const Routine& routine : kRoutines) {
    if (std::strcmp(routine.name, name) == 0) return routine.address;
  }
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
#if BC_JIT_THREAD_CHECKS
  // GCC's library has them as the C library's functions that it replaces.
  if (const llvm::StringRef checked = name; checked.starts_with("__tsan_mem")) return dlsym(RTLD_DEFAULT, name + std::strlen("__tsan_"));
#endif
  // The program may have opened this library with local symbols, and may itself use neither libm nor libstdc++. libstdc++ must be the one
  // with which our caller throws; it also finds libgcc's functions.
  for (const char* file : {"libm.so.6", "libstdc++.so.6"}) {
    void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    void* const found = dlsym(library, name);
    if (found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace bc::jit
