#include "core/time_unit.h"

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <numeric>

#include "core/error.h"

namespace bc {
namespace {

constexpr const char* kBases[] = {"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"};
constexpr int kBaseCount = 14;

/// The units of this process by number: first the base units, then multiples of them in the order of first use.
struct Units {
  std::array<TimeUnit, kTimeUnits> unit;
  std::atomic<int> count{kBaseCount};
  std::mutex mutex;
  Units() {
    for (int i = 0; i < kBaseCount; ++i) unit[i].base = TimeBase(i);
  }
};
Units& units() {
  static Units& u = *new Units;  // never destroyed: threads may outlive the main one's statics
  return u;
}

int number_of(TimeUnit wanted) {
  if (wanted.count == 1 || wanted.base == TimeBase::generic) return static_cast<int>(wanted.base);
  Units& u = units();
  const std::lock_guard lock(u.mutex);
  const int n = u.count.load(std::memory_order_relaxed);
  for (int i = kBaseCount; i < n; ++i)
    if (u.unit[i] == wanted) return i;
  BC_CHECK(n < kTimeUnits, Type, "datetime64: expected at most {} units that are multiples in one process, got [{}] besides",
           kTimeUnits - kBaseCount, to_string(wanted));
  u.unit[n] = wanted;
  u.count.store(n + 1, std::memory_order_release);
  return n;
}

/// How many of the next finer unit make one of `b`; 0 between months and weeks, whose ratio is not constant.
int64_t finer(TimeBase b) {
  constexpr int64_t steps[] = {12, 0, 7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000};
  return steps[static_cast<int>(b)];
}

/// Converts `count` of `from` to the finer base `to`; nullopt where the result does not fit 63 bits, or where one `from` is 2**56 or more
/// `to`, as in NumPy: few values of two such units would fit int64 in the finer one. Both are calendar bases (years, months), or neither
/// is.
std::optional<int64_t> in_base(int64_t count, TimeBase from, TimeBase to) {
  int64_t factor = 1;
  for (int b = static_cast<int>(from); b < static_cast<int>(to); ++b)
    if (__builtin_mul_overflow(factor, finer(TimeBase(b)), &factor) || factor >> 56) return std::nullopt;
  if (__builtin_mul_overflow(count, factor, &count)) return std::nullopt;
  return count;
}

[[noreturn]] void no_common(TimeUnit a, TimeUnit b) {
  raise(ErrorKind::Overflow, "Integer overflow getting a common metadata divisor for NumPy datetime metadata [{}] and [{}].", to_string(a),
        to_string(b));
}
[[noreturn]] void no_factor(TimeUnit a, TimeUnit b) {
  raise(ErrorKind::Overflow, "Integer overflow while computing the conversion factor between NumPy datetime units {} and {}",
        base_name(a.base), base_name(b.base));
}

[[noreturn]] void no_common(DType a, DType b) {
  raise(ErrorKind::Type, "The DTypes {} and {} do not have a common DType", info(a).name, info(b).name);
}

/// How many `unit`s (weeks or finer) one `calendar` unit (years or months) has on average over 400 years, as NumPy computes it.
TimeFactor mean_length(TimeUnit calendar, TimeUnit unit) {
  const bool weeks = unit.base == TimeBase::week;
  const std::optional<int64_t> of_day = weeks ? 1 : in_base(1, TimeBase::day, unit.base);
  int64_t numerator = 0, denominator = calendar.base == TimeBase::year ? 400 : 4800;
  const int64_t common = of_day ? std::gcd(*of_day, denominator) : 1;
  denominator /= common;
  if (!of_day || __builtin_mul_overflow(calendar.count * 146097, *of_day / common, &numerator) ||
      __builtin_mul_overflow(denominator * (weeks ? 7 : 1), unit.count, &denominator))
    no_factor(calendar, unit);
  const int64_t divisor = std::gcd(numerator, denominator);
  return {numerator / divisor, denominator / divisor};
}

/// Whether one `from` is a whole number of `to`.
bool divides(TimeUnit from, TimeUnit to) {
  if (from.base == TimeBase::generic) return true;
  if (to.base == TimeBase::generic) return false;
  if (is_calendar(from) != is_calendar(to)) return true;
  if (from.base > to.base) return false;
  const std::optional<int64_t> step = in_base(from.count, from.base, to.base);
  return step && *step % to.count == 0;
}

}  // namespace

TimeUnit unit_of(DType t) { return units().unit[static_cast<int>(t) % kTimeUnits]; }

DType datetime_type(TimeUnit unit) { return DType(static_cast<int>(DType::first_datetime) + number_of(unit)); }
DType timedelta_type(TimeUnit unit) { return DType(static_cast<int>(DType::first_timedelta) + number_of(unit)); }

const char* base_name(TimeBase base) { return kBases[static_cast<int>(base)]; }

std::optional<TimeBase> base_from_name(std::string_view name) {
  for (int i = 0; i < kBaseCount; ++i)
    if (name == kBases[i]) return TimeBase(i);
  return std::nullopt;
}

std::string to_string(TimeUnit unit) { return unit.count == 1 ? base_name(unit.base) : std::to_string(unit.count) + base_name(unit.base); }

std::optional<DType> time_from_name(std::string_view name) {
  const bool brief = name.starts_with("M8") || name.starts_with("m8"), date = name.starts_with("datetime64") || name.starts_with("M8");
  if (!date && !brief && !name.starts_with("timedelta64")) return std::nullopt;
  name.remove_prefix(brief ? 2 : date ? 10 : 11);
  TimeUnit unit;
  if (!name.empty()) {
    if (name.size() < 3 || name.front() != '[' || name.back() != ']') return std::nullopt;
    name = name.substr(1, name.size() - 2);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), unit.count);
    if (error == std::errc::result_out_of_range || unit.count < 1) return std::nullopt;
    const auto base = base_from_name(name.substr(end - name.data()));
    if (!base) return std::nullopt;
    unit.base = *base;
  }
  return date ? datetime_type(unit) : timedelta_type(unit);
}

bool is_calendar(TimeUnit unit) { return unit.base <= TimeBase::month; }

TimeUnit common_unit(TimeUnit a, TimeUnit b, bool exact) {
  if (a.base == TimeBase::generic) return b;
  if (b.base == TimeBase::generic || a == b) return a;
  if (a.base > b.base) std::swap(a, b);  // b is the finer one
  const TimeUnit given = a;
  if (is_calendar(a) && !is_calendar(b)) {
    BC_CHECK(!exact, Type,
             "Cannot get a common metadata divisor for Numpy datetime metadata [{}] and [{}] because they have incompatible nonlinear base "
             "time units.",
             to_string(a), to_string(b));
    // Months and years have no constant length; NumPy counts them in weeks here.
    a.base = TimeBase::week;
  }
  const std::optional<int64_t> fine = in_base(a.count, a.base, b.base);
  if (!fine) no_common(given, b);
  return {b.base, std::gcd(*fine, b.count)};
}

TimeFactor time_factor(TimeUnit from, TimeUnit to) {
  if (from.base == TimeBase::generic || to.base == TimeBase::generic) return {};
  if (is_calendar(from) && !is_calendar(to)) return mean_length(from, to);
  if (!is_calendar(from) && is_calendar(to)) {
    const TimeFactor f = mean_length(to, from);
    return {f.denominator, f.numerator};
  }
  std::optional<int64_t> numerator = from.count, denominator = to.count;
  if (from.base <= to.base)
    numerator = in_base(from.count, from.base, to.base);
  else
    denominator = in_base(to.count, to.base, from.base);
  if (!numerator || !denominator) no_factor(from, to);
  const int64_t divisor = std::gcd(*numerator, *denominator);
  return {*numerator / divisor, *denominator / divisor};
}

DType promote_time(DType a, DType b) {
  if (a == b) return a;
  if (is_time(a) && is_time(b)) {
    const bool date = is_datetime(a) || is_datetime(b);
    const TimeUnit unit = common_unit(unit_of(a), unit_of(b), !date);
    return date ? datetime_type(unit) : timedelta_type(unit);
  }
  const DType time = is_time(a) ? a : b, other = is_time(a) ? b : a;
  if (!is_timedelta(time) || is_inexact(other) || other == DType::u64) no_common(a, b);
  return time;
}

bool can_cast_time(DType from, DType to, Casting casting) {
  if (from == to || casting == Casting::unsafe) return true;
  if (casting == Casting::no || casting == Casting::equiv) return false;
  if (!is_time(to)) return false;
  if (!is_time(from)) return is_timedelta(to) && !is_inexact(from) && (from != DType::u64 || casting == Casting::same_kind);
  if (is_datetime(from) != is_datetime(to)) return false;
  const TimeUnit a = unit_of(from), b = unit_of(to);
  if (b.base == TimeBase::generic) return a.base == TimeBase::generic;
  if (a.base == TimeBase::generic) return true;
  if (is_timedelta(from) && is_calendar(a) != is_calendar(b)) return false;
  return casting == Casting::same_kind || (a.base <= b.base && divides(a, b));
}

std::optional<std::pair<int64_t, TimeUnit>> date_from_text(std::string_view text) {
  int64_t part[6] = {0, 1, 1, 0, 0, 0};  // year, month, day, hour, minute, second
  constexpr size_t widths[] = {4, 2, 2, 2, 2, 2};
  constexpr std::string_view before[] = {"", "-", "-", "T ", ":", ":"};
  constexpr TimeBase bases[] = {TimeBase::year, TimeBase::month, TimeBase::day, TimeBase::hour, TimeBase::minute, TimeBase::second};
  const auto digits = [&](size_t count, int64_t* value) {
    if (text.size() < count) return false;
    for (char c : text.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      *value = *value * 10 + (c - '0');
    }
    text.remove_prefix(count);
    return true;
  };
  size_t given = 0;
  for (; given < 6 && !text.empty() && text[0] != '.'; ++given) {
    if (given > 0) {
      if (before[given].find(text[0]) == std::string_view::npos) return std::nullopt;
      text.remove_prefix(1);
    }
    part[given] = 0;
    if (!digits(widths[given], &part[given])) return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(part[0])), std::chrono::month(static_cast<unsigned>(part[1])),
                                         std::chrono::day(static_cast<unsigned>(part[2]))};
  if (given == 0 || !date.ok() || part[3] > 23 || part[4] > 59 || part[5] > 59) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  int64_t ticks = given == 1 ? part[0] - 1970 : given == 2 ? (part[0] - 1970) * 12 + part[1] - 1 : days;
  if (given > 3) ticks = ticks * 24 + part[3];
  if (given > 4) ticks = ticks * 60 + part[4];
  if (given > 5) ticks = ticks * 60 + part[5];
  TimeUnit unit{bases[given - 1], 1};
  if (text.empty()) return std::pair{ticks, unit};
  // A fraction of a second: milli-, micro- or nanoseconds by its digits.
  text.remove_prefix(1);
  const size_t count = text.size(), places = (count + 2) / 3 * 3;
  int64_t fraction = 0;
  if (given != 6 || count == 0 || count > 9 || !digits(count, &fraction)) return std::nullopt;
  for (size_t i = count; i < places; ++i) fraction *= 10;
  for (size_t i = 0; i < places; i += 3)
    if (__builtin_mul_overflow(ticks, 1000, &ticks)) return std::nullopt;
  unit.base = places == 3 ? TimeBase::milli : places == 6 ? TimeBase::micro : TimeBase::nano;
  return std::pair{ticks + fraction, unit};
}

}  // namespace bc
