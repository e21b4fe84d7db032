"""A time series by dates: gaps, weekdays, monthly means, resampling, seasonality, business days, outliers, forecasts."""

import sys
from datetime import date, datetime, timedelta

import numpy as np

DAYS = int(sys.argv[1]) if len(sys.argv) > 1 else 800
rng = np.random.default_rng(365)
start = np.datetime64("2022-11-15")
days = start + np.arange(DAYS)
print(days.dtype, days[0], days[-1], len(days), days[:3])
t = np.arange(DAYS)
values = 20 + 0.01 * t + 8 * np.sin(2 * np.pi * t / 365.25) + rng.normal(0, 1.5, DAYS)
weekday = (days.astype("datetime64[D]").view("int64") - 4) % 7
values[weekday >= 5] -= 3
gone = rng.choice(DAYS, DAYS // 25, replace=False)
values[gone] = np.nan
print("missing", np.isnan(values).sum(), "first", days[np.isnan(values)][:2])
months = days.astype("datetime64[M]")
names, inverse, counts = np.unique(months, return_inverse=True, return_counts=True)
ok = ~np.isnan(values)
means = np.bincount(inverse[ok], values[ok]) / np.bincount(inverse[ok])
for m, c, v in list(zip(names, counts, means))[:4]:
    print(f"  {m}: {c} days, mean {v:.4f}")
years = days.astype("M8[Y]").astype(int) + 1970
for y in np.unique(years):
    print(f"  {y}: {np.nanmean(values[years == y]):.4f} {np.nanmax(values[years == y]):.4f}")
day_of_year = (days - days.astype("datetime64[Y]")).astype(int)
print("day of year", day_of_year[:3], day_of_year.max())
print("by weekday", [round(float(np.nanmean(values[weekday == d])), 3) for d in range(7)])
filled = values.copy()
filled[~ok] = np.interp(t[~ok], t[ok], values[ok])
window = 28
kernel = np.ones(window) / window
smooth = np.convolve(filled, kernel, mode="valid")
print("smooth", smooth.shape, smooth[:4].round(4), smooth.argmax(), days[smooth.argmax() + window - 1])
weeks = filled[: DAYS // 7 * 7].reshape(-1, 7)
print("weekly", weeks.shape, weeks.mean(axis=1)[:4].round(4), np.median(weeks, axis=0).round(3))
design = np.column_stack([np.ones(DAYS), t, np.sin(2 * np.pi * t / 365.25), np.cos(2 * np.pi * t / 365.25), weekday >= 5])
coef, *_ = np.linalg.lstsq(design, filled, rcond=None)
residual = filled - design @ coef
print("fit", coef.round(4), "r2 %.6f" % (1 - residual.var() / filled.var()))
z = np.abs(residual - np.median(residual)) / (1.4826 * np.median(np.abs(residual - np.median(residual))))
print("outliers", days[z > 2.8][:5], (z > 2.8).sum())
ahead = days[-1] + np.arange(1, 4)
print("next", ahead, np.datetime_as_string(ahead), np.is_busday(ahead))
print("business days", np.busday_count(days[0], days[-1]), np.busday_offset("2023-01-01", 0, roll="forward"))
steps = np.diff(days[ok])
print("gaps", np.unique(steps, return_counts=True), steps.max(), steps.mean())
hours = np.arange("2023-03-01T00", "2023-03-02T00", 6, dtype="datetime64[h]")
print(hours, hours.astype("datetime64[D]"), (hours - hours[0]) / np.timedelta64(1, "h"))
print("mean day", days[:5].astype("int64").mean(), np.datetime64(int(days.astype("int64").mean()), "D"))
print(days[3].item(), days[3].astype(object) + timedelta(days=1), np.datetime64(date(2024, 2, 29)) + np.timedelta64(1, "D"))
nat = np.array(["2024-01-01", "NaT", "2023-05-05"], dtype="M8[D]")
print(np.isnat(nat), np.sort(nat), nat.max(), np.nanmax(nat) if hasattr(np, "nanmax") else None)
print("later", (days > np.datetime64("2024-06-01")).sum(), np.searchsorted(days, np.datetime64("2023-12-31")))
delta = np.timedelta64(90, "m")
print(delta, delta.astype("m8[s]"), delta / np.timedelta64(1, "h"), np.timedelta64(1, "D") // delta, hours[1] + delta)
stamps = np.array([datetime(2024, 1, 1, 12, 30), datetime(2024, 1, 2, 8, 15, 30)], dtype="datetime64[s]")
print(stamps, stamps[1] - stamps[0], stamps.astype("M8[m]"), stamps.dtype.str)
table = {str(m): round(float(v), 2) for m, v in zip(names, means)}
print(list(table.items())[-2:])
acf = np.correlate(residual, residual, "full")[DAYS - 1 :]
print("acf", (acf / acf[0])[[1, 7, 30]].round(4))
seasons = ((days.astype("M8[M]").astype(int) % 12) + 1) % 12 // 3
print("seasons", [f"{n}: {np.nanmean(values[seasons == k]):.2f}" for k, n in enumerate(["winter", "spring", "summer", "autumn"])])
print(np.array2string(values[:6], formatter={"float_kind": lambda v: "%.1f" % v}), repr(days[:2]), f"{days[0]}")
