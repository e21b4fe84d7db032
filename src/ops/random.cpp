// Random numbers. `counter` counts numbers: element i of a draw is number counter + i of its stream, however the draws are cut. 32-bit and
// 64-bit numbers come from Philox streams of their own, so that they never share bits.
#include "ops/compose.h"

namespace bc {
using namespace compose;

namespace {

Arg seed_of(uint64_t seed) { return {Weak::integer, Scalar::uinteger(seed)}; }

/// The linear index of each element, plus `first`.
Array stream(const Dims& shape, uint64_t first, Device device) {
  return add(cast(iota(shape, device), DType::u64), Arg(Weak::integer, Scalar::uinteger(first)));
}

Array draw(Op op, uint64_t seed, uint64_t counter, const Dims& shape, DType dtype, Device device) {
  BC_CHECK(is_real_float(dtype), Type, "Unsupported dtype dtype('{}') for {}", info(dtype).name,
           op == Op::random_uniform ? "random" : "standard_normal");
  UfuncOptions o;
  o.dtype = dtype;
  o.casting = Casting::unsafe;
  return ufunc(op, {seed_of(seed), stream(shape, counter, device)}, o);
}

/// The integer as 64 bits, two's complement.
uint64_t bits_of(const Scalar& s) { return s.dtype == DType::u64 ? s.u : static_cast<uint64_t>(s.i); }
bool below(const Scalar& a, const Scalar& b) {
  const bool negative_a = a.dtype != DType::u64 && a.i < 0, negative_b = b.dtype != DType::u64 && b.i < 0;
  return negative_a != negative_b ? negative_a : bits_of(a) < bits_of(b);
}

}  // namespace

Array random_uniform(uint64_t seed, uint64_t counter, const Dims& shape, DType dtype, Device device) {
  return draw(Op::random_uniform, seed, counter, shape, dtype, device);
}

Array random_standard_normal(uint64_t seed, uint64_t counter, const Dims& shape, DType dtype, Device device) {
  return draw(Op::random_normal, seed, counter, shape, dtype, device);
}

Array random_integers(uint64_t seed, uint64_t counter, const Scalar& low, const Scalar& high, const Dims& shape, DType dtype, bool endpoint,
                      Device device) {
  BC_CHECK(is_integer(dtype) || is_bool(dtype), Type, "Unsupported dtype dtype('{}') for integers", info(dtype).name);
  // The last number that may come. (high - 1 of the lowest number wraps, and is caught by the comparison before.)
  BC_CHECK(endpoint ? !below(high, low) : below(low, high), Value, "low {} high", endpoint ? ">" : ">=");
  Scalar last = high;
  if (!endpoint) {
    if (high.dtype == DType::u64)
      --last.u;
    else
      --last.i;
  }
  auto fits = [&](const Scalar& s) { return is_bool(dtype) ? bits_of(s) <= 1 : s.fits(dtype); };
  BC_CHECK(fits(low), Value, "low is out of bounds for {}", info(dtype).name);
  BC_CHECK(fits(last), Value, "high is out of bounds for {}", info(dtype).name);
  const uint64_t range = bits_of(last) - bits_of(low) + 1;  // 0: all 2^64
  UfuncOptions o;
  o.dtype = DType::u64;
  o.casting = Casting::unsafe;
  const Array offset =
      ufunc(Op::random_below, {seed_of(seed), stream(shape, counter, device), Arg(Weak::integer, Scalar::uinteger(range))}, o);
  return cast(add(offset, Arg(Weak::integer, Scalar::uinteger(bits_of(low)))), dtype);
}

}  // namespace bc
