#pragma once
#include <cstdint>
#include <type_traits>

#include "core/dtype.h"
#include "core/error.h"

/// NumPy's order of each dtype, as an order of unsigned integers: ascending, NaN last.
namespace bc::cpu {

enum class Numbers { Unsigned, Signed, Floats };

/// An element's bits as a key of the same size. For floats `kInfinity` is the pattern of infinity.
template <class B, Numbers kNumbers, B kInfinity = 0>
struct Order {
  using Bits = B;
  using Key = B;
  using Signed = std::make_signed_t<B>;
  /// The C++ type whose built-in order is the elements' order; void for floats, because of NaN.
  using Number = std::conditional_t<kNumbers == Numbers::Signed, Signed, std::conditional_t<kNumbers == Numbers::Unsigned, B, void>>;
  /// The C++ type of floats; void for other numbers and for 16-bit floats.
  using Float = std::conditional_t<kNumbers != Numbers::Floats || sizeof(B) < 4, void, std::conditional_t<sizeof(B) == 8, double, float>>;
  static constexpr B kLargest = kInfinity;  ///< of floats, the pattern beyond which NaNs lie
  static constexpr B kSign = static_cast<B>(B{1} << (sizeof(B) * 8 - 1));

  /// -0.0 comes before 0.0, so that bits() restores the element. All NaNs have the same, largest key.
  static Key key(Bits b) {
    if constexpr (kNumbers == Numbers::Unsigned) return b;
    if constexpr (kNumbers == Numbers::Signed) return static_cast<B>(b ^ kSign);
    const B negative = static_cast<B>(static_cast<Signed>(b) >> (sizeof(B) * 8 - 1));
    const B k = static_cast<B>(b ^ (negative | kSign));
    return static_cast<B>(b & ~kSign) > kInfinity ? static_cast<B>(~B{0}) : k;
  }
  static Bits bits(Key k) {
    if constexpr (kNumbers == Numbers::Unsigned) return k;
    if constexpr (kNumbers == Numbers::Signed) return static_cast<B>(k ^ kSign);
    const B negative = static_cast<B>(~(static_cast<Signed>(k) >> (sizeof(B) * 8 - 1)));
    return static_cast<B>(k ^ (negative | kSign));
  }
  /// Like key(), but -0.0 and 0.0 have equal keys, as in comparisons.
  static Key equal_key(Bits b) {
    if constexpr (kNumbers == Numbers::Floats)
      if (b == kSign) b = 0;
    return key(b);
  }
  static bool less(Bits a, Bits b) { return equal_key(a) < equal_key(b); }
};

/// The order of float or double.
template <class R>
using FloatOrder =
    std::conditional_t<sizeof(R) == 8, Order<uint64_t, Numbers::Floats, 0x7ff0000000000000>, Order<uint32_t, Numbers::Floats, 0x7f800000>>;

/// Complex numbers: by real part, then by imaginary part; (x, NaN) follows all numbers, then come (NaN, y) and (NaN, NaN).
template <class R>
struct ComplexOrder {
  struct Bits {
    R re, im;
  };
  static int parts_nan(const Bits& a) { return 2 * (a.re != a.re) + (a.im != a.im); }
  static bool less(const Bits& a, const Bits& b) {
    const int p = parts_nan(a), q = parts_nan(b);
    if (p != q) return p < q;
    if (p == 3) return false;
    if (p == 2) return a.im < b.im;
    return a.re < b.re || (p == 0 && a.re == b.re && a.im < b.im);
  }
};

/// Calls f with the order of a real dtype: f.operator()<Order>().
template <class F>
decltype(auto) with_real_order(DType t, F&& f) {
  switch (t) {
    case DType::u16: return f.template operator()<Order<uint16_t, Numbers::Unsigned>>();
    case DType::u32: return f.template operator()<Order<uint32_t, Numbers::Unsigned>>();
    case DType::u64: return f.template operator()<Order<uint64_t, Numbers::Unsigned>>();
    case DType::i8: return f.template operator()<Order<uint8_t, Numbers::Signed>>();
    case DType::i16: return f.template operator()<Order<uint16_t, Numbers::Signed>>();
    case DType::i32: return f.template operator()<Order<uint32_t, Numbers::Signed>>();
    case DType::i64: return f.template operator()<Order<uint64_t, Numbers::Signed>>();
    case DType::f16: return f.template operator()<Order<uint16_t, Numbers::Floats, 0x7c00>>();
    case DType::bf16: return f.template operator()<Order<uint16_t, Numbers::Floats, 0x7f80>>();
    case DType::f32: return f.template operator()<FloatOrder<float>>();
    case DType::f64: return f.template operator()<FloatOrder<double>>();
    default: break;
  }
  BC_CHECK(t == DType::b1 || t == DType::u8, Runtime, "sort: expected real numbers, got {}", info(t).name);
  return f.template operator()<Order<uint8_t, Numbers::Unsigned>>();
}

/// Like with_real_order(), for every dtype.
template <class F>
decltype(auto) with_order(DType t, F&& f) {
  if (t == DType::c64) return f.template operator()<ComplexOrder<float>>();
  if (t == DType::c128) return f.template operator()<ComplexOrder<double>>();
  return with_real_order(t, f);
}

}  // namespace bc::cpu
