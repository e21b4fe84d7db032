#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/dtype.h"

/// The units of datetime64 and timedelta64, and NumPy's rules to combine them.
namespace bc {

/// In NumPy's order: a finer unit has a larger number. `generic`: no unit is known yet.
enum class TimeBase : uint8_t { year, month, week, day, hour, minute, second, milli, micro, nano, pico, femto, atto, generic };

/// `count` times a base unit: 15 minutes.
struct TimeUnit {
  TimeBase base = TimeBase::generic;
  int64_t count = 1;
  bool operator==(const TimeUnit&) const = default;
};

/// NaT, "not a time", is the smallest int64.
inline constexpr int64_t kNaT = INT64_MIN;

/// The unit of a time's dtype.
TimeUnit unit_of(DType t);
DType datetime_type(TimeUnit unit);
DType timedelta_type(TimeUnit unit);

/// "15m", "D"; "generic" for no unit.
std::string to_string(TimeUnit unit);
/// NumPy's name of a base unit: "Y", "ms".
const char* base_name(TimeBase base);
std::optional<TimeBase> base_from_name(std::string_view name);
bool is_calendar(TimeUnit unit);  ///< years or months, whose lengths in days differ

/// The coarsest unit of which both units are whole multiples. With `exact` (time differences) throws TypeError where one unit counts years
/// or months and the other does not. Throws OverflowError where the common unit is too fine for int64.
TimeUnit common_unit(TimeUnit a, TimeUnit b, bool exact);

/// One `from` is numerator / denominator of a `to`.
struct TimeFactor {
  int64_t numerator = 1, denominator = 1;
};
/// Next to other units, years and months have their mean length. Throws OverflowError where a factor does not fit 64 bits.
TimeFactor time_factor(TimeUnit from, TimeUnit to);

/// The dtype of "datetime64[15m]", "M8[15m]", "timedelta64" and so on; nullopt for other names.
std::optional<DType> time_from_name(std::string_view name);

/// A date in ISO 8601's form, "2020-02", "2020-02-29T12:30:15.5": its ticks in the unit of its last part, from years to nanoseconds.
/// nullopt for other texts.
std::optional<std::pair<int64_t, TimeUnit>> date_from_text(std::string_view text);

/// promote() and can_cast() for two dtypes of which at least one is a time.
DType promote_time(DType a, DType b);
bool can_cast_time(DType from, DType to, Casting casting);

}  // namespace bc
