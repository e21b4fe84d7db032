"""Times: what NumPy computes of arrays of them by way of sums, and their texts."""

from __future__ import annotations

import numpy as np

from ._table import stands_for
from .shapes import one_axis


@stands_for("numpy.time_differences")
def time_differences(a):
    """diff() of times: the differences of dates have another type than dates."""
    return a[..., 1:] - a[..., :-1]


@stands_for("numpy.mean_of_times")
def mean(a, axis=None):
    """Rounded to whole ticks towards zero; NaT of nothing and of what holds a NaT."""
    if axis is None:
        return np.sum(a) / a.size
    return np.sum(a, axis) / a.shape[axis]


@stands_for("numpy.median_of_times")
def median(a):
    ordered = np.sort(a.ravel())
    n = ordered.size
    if n == 0 or np.isnat(ordered[n - 1]):  # NaT is sorted behind all others
        return np.sum(ordered) / 0
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


@stands_for("numpy.cumsum_of_times")
def cumsum(a, axis=None):
    if axis is None:
        return cumsum(a.ravel(), 0)
    sums = np.empty_like(a)
    given, made = np.moveaxis(a, one_axis(axis), 0), np.moveaxis(sums, one_axis(axis), 0)
    if len(given) > 0:
        made[0] = given[0]
    for i in range(1, len(given)):
        made[i] = made[i - 1] + given[i]
    return sums


def _civil(days):
    """Year, month and day of days since 1970: Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013)."""
    days += 719468
    era = days // 146097
    of_era = days - era * 146097
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month, day


def _year_text(year):
    return f"-{-year:04d}" if year < 0 else f"{year:04d}"


@stands_for("builtins.date_text")
def date_text(ticks, unit, parts):
    """The text of a date of `ticks`; `unit`: "Y", "M", "D", "h", "m" or "s", of which `parts` ticks make one where it is "s"."""
    if unit == "Y":
        return _year_text(ticks + 1970)
    if unit == "M":
        return f"{_year_text(ticks // 12 + 1970)}-{ticks % 12 + 1:02d}"
    whole, fraction = ticks // parts, ticks % parts
    in_day = 1 if unit == "D" else 24 if unit == "h" else 1440 if unit == "m" else 86400
    days = whole // in_day
    rest = whole - days * in_day
    year, month, day = _civil(days)
    date = f"{_year_text(year)}-{month:02d}-{day:02d}"
    if unit == "D":
        return date
    if unit == "h":
        return f"{date}T{rest:02d}"
    if unit == "m":
        return f"{date}T{rest // 60:02d}:{rest % 60:02d}"
    time = f"{date}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return time + "." + str(parts + fraction)[1:] if parts > 1 else time
