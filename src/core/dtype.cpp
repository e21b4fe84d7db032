#include "core/dtype.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "core/time_unit.h"

namespace bc {
namespace {

constexpr bool NUMPY = true, ML_DTYPES = false;

constexpr DTypeInfo kInfo[kDTypeCount] = {
#define BC_DTYPE(id, name, type, kind, code, bytes, typestr, format, rank, digits, exponent, owner) \
  {#name, #type, kind, code, bytes, typestr, format, owner},
#include "core/dtypes.def"
#undef BC_DTYPE
};

// The value range of a type, as far as safe casts compare it: the bits of exact integers (mantissa) and of the exponent.
struct Range {
  bool sign, complex, floating;
  int integer_bits, exponent;
};
constexpr Range kRange[kDTypeCount] = {
#define BC_DTYPE(id, name, type, kind, code, bytes, typestr, format, rank, digits, exponent, owner) \
  {kind == 'i' || kind == 'f' || kind == 'c', kind == 'c', exponent != 0, digits, exponent},
#include "core/dtypes.def"
#undef BC_DTYPE
};
constexpr Range range(DType t) { return kRange[static_cast<int>(t)]; }

constexpr bool safe(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::b1) return true;
  if (to == DType::b1) return false;
  // As in ml_dtypes: only 8-bit integers cast safely to an 8-bit float, and an 8-bit float casts safely only to float32 and wider types.
  if (is_float8(to)) return from == DType::i8 || from == DType::u8;
  if (is_float8(from)) return range(to).integer_bits >= 24 && range(to).floating;
  const Range f = range(from), t = range(to);
  if (f.complex && !t.complex) return false;
  if (f.floating && !t.floating) return false;
  if (f.floating) return f.integer_bits <= t.integer_bits && f.exponent <= t.exponent;
  if (!t.floating) return (!f.sign || t.sign) && f.integer_bits <= t.integer_bits;
  // NumPy lets 64-bit integers cast safely to float64 and complex128.
  if (t.integer_bits == 53) return true;
  return f.integer_bits <= t.integer_bits;
}

/// Smallest first; the first type that both cast to safely is the promoted one.
constexpr auto by_rank() {
  constexpr int ranks[kDTypeCount] = {
#define BC_DTYPE(id, name, type, kind, code, bytes, typestr, format, rank, ...) rank,
#include "core/dtypes.def"
#undef BC_DTYPE
  };
  std::array<DType, kDTypeCount> order{};
  for (int i = 0; i < kDTypeCount; ++i) order[ranks[i]] = DType(i);
  return order;
}

constexpr auto promote_table() {
  std::array<std::array<DType, kDTypeCount>, kDTypeCount> table{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      for (DType t : by_rank())
        if (safe(DType(a), t) && safe(DType(b), t)) {
          table[a][b] = t;
          break;
        }
  return table;
}
constexpr auto kPromote = promote_table();

/// For each type the set of those it casts to safely.
constexpr auto safe_sets() {
  std::array<DTypeSet, kDTypeCount> sets{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      if (safe(DType(a), DType(b))) sets[a] |= dtype_bit(DType(b));
  return sets;
}
constexpr auto kSafe = safe_sets();

int kind_rank(DType t) { return is_bool(t) ? 0 : is_unsigned(t) ? 1 : is_signed_int(t) ? 2 : is_real_float(t) ? 3 : 4; }

}  // namespace

constexpr std::array<DType, kDTypeCount> kDTypesByRank = by_rank();

const DTypeInfo& info(DType t) {
  if (!is_time(t)) [[likely]]
    return kInfo[static_cast<int>(t)];
  static std::atomic<const DTypeInfo*> known[256];
  std::atomic<const DTypeInfo*>& place = known[static_cast<uint8_t>(t)];
  if (const DTypeInfo* found = place.load(std::memory_order_acquire)) return *found;
  // Each unit's names are built once, at the first request of any thread, and kept until the process ends.
  struct Named {
    std::string name, typestr;
    DTypeInfo info{};
  };
  const TimeUnit unit = unit_of(t);
  const std::string brackets = unit.base == TimeBase::generic ? "" : "[" + to_string(unit) + "]";
  const bool date = is_datetime(t);
  const char kind = date ? 'M' : 'm';
  auto named = std::make_unique<Named>(Named{(date ? "datetime64" : "timedelta64") + brackets, (date ? "<M8" : "<m8") + brackets});
  named->info = DTypeInfo{named->name.c_str(), "i64", kind, kind, 8, named->typestr.c_str(), nullptr, true};
  const DTypeInfo* none = nullptr;
  if (place.compare_exchange_strong(none, &named->info, std::memory_order_acq_rel)) return named.release()->info;
  return *none;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kInfo[i].name) return DType(i);
  return time_from_name(name);
}

DType promote(DType a, DType b) {
  if (is_time(a) || is_time(b)) [[unlikely]]
    return promote_time(a, b);
  return kPromote[static_cast<int>(a)][static_cast<int>(b)];
}

bool can_cast(DType from, DType to, Casting casting) {
  if (is_time(from) || is_time(to)) [[unlikely]]
    return can_cast_time(from, to, casting);
  switch (casting) {
    case Casting::no:
    case Casting::equiv: return from == to;
    case Casting::safe: return kSafe[static_cast<int>(from)] & dtype_bit(to);
    case Casting::same_kind: return (kSafe[static_cast<int>(from)] & dtype_bit(to)) || kind_rank(from) <= kind_rank(to);
    case Casting::unsafe: return true;
  }
  return false;
}

DType promote(std::span<const DType> types) {
  std::optional<DType> all;
  for (const bool floats : {true, false})
    for (const DType t : types)
      if (is_inexact(t) == floats) all = all ? promote(*all, t) : t;
  return *all;
}

std::string_view to_string(Casting casting) {
  constexpr std::string_view names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return names[static_cast<int>(casting)];
}

DType default_dtype(Weak kind) {
  switch (kind) {
    case Weak::boolean: return DType::b1;
    case Weak::integer: return DType::i64;
    case Weak::real: return DType::f64;
    default: return DType::c128;
  }
}

DType promote_weak(DType t, Weak kind) {
  if (is_time(t)) [[unlikely]]
    return kind == Weak::none ? t : promote_time(t, default_dtype(kind));
  switch (kind) {
    case Weak::none:
    case Weak::boolean: return t;
    case Weak::integer: return is_bool(t) ? DType::i64 : t;
    case Weak::real: return is_inexact(t) ? t : DType::f64;
    case Weak::complex: return is_complex(t) ? t : (t == DType::f32 || is_small_float(t)) ? DType::c64 : DType::c128;
  }
  return t;
}

}  // namespace bc
