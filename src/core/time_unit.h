#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.h"

/// The units of datetime64 and timedelta64, and NumPy's rules between them.
namespace bc {

/// NumPy's order: the finer, the greater; a generic time has no unit yet.
enum class TimeBase : uint8_t { year, month, week, day, hour, minute, second, milli, micro, nano, pico, femto, atto, generic };

/// `count` times a base unit: 15 minutes.
struct TimeUnit {
  TimeBase base = TimeBase::generic;
  int64_t count = 1;
  bool operator==(const TimeUnit&) const = default;
};

/// The smallest int64 is "not a time".
inline constexpr int64_t kNaT = INT64_MIN;

/// The unit of a time's dtype.
TimeUnit unit_of(DType t);
DType datetime_type(TimeUnit unit);
DType timedelta_type(TimeUnit unit);
/// A dtype of the same kind of time in another unit.
DType with_unit(DType t, TimeUnit unit);
/// "15m", "D"; "generic" for none.
std::string to_string(TimeUnit unit);
/// NumPy's name of a base unit: "Y", "ms".
const char* base_name(TimeBase base);
std::optional<TimeBase> base_from_name(std::string_view name);
bool is_calendar(TimeUnit unit);  ///< years or months, whose lengths in days differ

/// The unit in which both are whole numbers. Throws TypeError for differences where one counts years or months and the other does not
/// (`exact`), OverflowError where it would be too fine.
TimeUnit common_unit(TimeUnit a, TimeUnit b, bool exact);

/// from = numerator / denominator of to, for units that differ by a number.
struct TimeFactor {
  int64_t numerator = 1, denominator = 1;
};
/// Years and months count as their mean length beside other units. Throws OverflowError where a factor does not fit 64 bits.
TimeFactor time_factor(TimeUnit from, TimeUnit to);

/// The dtype of "datetime64[15m]", "timedelta64" and so on; nullopt for other names.
std::optional<DType> time_from_name(std::string_view name);

/// promote() and can_cast() where one of the two is a time.
DType promote_time(DType a, DType b);
bool can_cast_time(DType from, DType to, Casting casting);

}  // namespace bc
