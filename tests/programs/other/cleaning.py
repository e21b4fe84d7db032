"""Masked data cleaning: sentinels, masked arrays, clipping, imputation, standardisation, duplicates, group statistics, one-hot, text tables."""

import sys
import warnings

import numpy as np
import numpy.ma as ma

N = int(sys.argv[1]) if len(sys.argv) > 1 else 400
rng = np.random.default_rng(2718)
names = ["age", "income", "height", "score"]
data = np.column_stack(
    [
        rng.integers(18, 90, N),
        rng.lognormal(10, 0.6, N).round(2),
        rng.normal(170, 10, N).round(1),
        rng.beta(2, 5, N).round(3) * 100,
    ]
)
bad = rng.random(data.shape) < 0.06
data[bad] = -999
data[rng.integers(N, size=3), 2] *= 10
print("shape", data.shape, "sentinels", np.sum(data == -999), (data == -999).sum(axis=0))
m = ma.masked_values(data, -999)
print("masked", m.count(), m.mask.sum(), m.mean(axis=0).round(3), type(m).__name__)
print(m[:3])
tall = ma.masked_where(m[:, 2] > 300, m[:, 2])
print("tall", tall.count(), f"{tall.mean():.4f} {tall.std():.4f}", tall.max())
clean = np.where(data == -999, np.nan, data)
clean[clean[:, 2] > 300, 2] = np.nan
med = np.nanmedian(clean, axis=0)
q1, q3 = np.nanpercentile(clean, [25, 75], axis=0)
for n, a, b, c in zip(names, med, q1, q3):
    print(f"{n:<8}|{a:>12.3f}|{b:>12.3f}|{c:>12.3f}|")
iqr = q3 - q1
outlier = (clean < q1 - 1.5 * iqr) | (clean > q3 + 1.5 * iqr)
print("outliers by column", outlier.sum(0), "rows", outlier.any(axis=1).sum())
capped = np.clip(clean, q1 - 1.5 * iqr, q3 + 1.5 * iqr)
print("capped", np.nanmin(capped, axis=0).round(2), np.nanmax(capped, axis=0).round(2))
idx = np.where(np.isnan(capped))
imputed = capped.copy()
imputed[idx] = np.take(med, idx[1])
print("imputed", len(idx[0]), np.isfinite(imputed).all(), imputed.sum().round(3))
z = (imputed - imputed.mean(0)) / imputed.std(0, ddof=1)
print("standardised", np.abs(z.mean(0)).max() < 1e-12, z.std(axis=0, ddof=1), np.allclose(np.cov(z.T), np.corrcoef(imputed, rowvar=False)))
with warnings.catch_warnings():
    warnings.simplefilter("error")
    print("safe", np.nanmean(clean[:, 0]).round(4), np.nanvar(clean, axis=0).round(2))
bins = np.array([0, 30, 45, 60, 200])
group = np.digitize(imputed[:, 0], bins) - 1
labels = np.array(["young", "middle", "older", "senior"])
for g in range(4):
    sel = imputed[group == g]
    print(f"{labels[g]:>7}: {len(sel):4d} {sel[:, 1].mean():12.2f} {np.median(sel[:, 3]):8.3f}")
one_hot = np.eye(4, dtype=int)[group]
print("one hot", one_hot.sum(0), one_hot[:2].tolist())
ranks = np.empty(N, int)
ranks[np.argsort(imputed[:, 1], kind="stable")] = np.arange(N)
deciles = ranks * 10 // N
print("deciles", np.bincount(deciles), imputed[deciles == 9, 1].min().round(2))
rounded = np.round(imputed[:, [0, 2]], -1).astype(int)
unique, first, inverse, counts = np.unique(rounded, axis=0, return_index=True, return_inverse=True, return_counts=True)
print("unique rows", len(unique), unique[counts.argmax()], counts.max(), first[:4], inverse.ravel()[:5])
table = np.zeros((4, 5), int)
np.add.at(table, (group, np.clip(deciles // 2, 0, 4)), 1)
print(table)
expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
print("chi2 %.5f" % ((table - expected) ** 2 / expected).sum(), "dof", np.prod(np.subtract(table.shape, 1)))
text = np.array(["%s=%.1f" % (n, v) for n, v in zip(names, imputed[0])])
print(text, text.dtype, "; ".join(text))
print(np.char.replace(text, "=", ": "), np.strings.startswith(text, "s"))
print(np.array_str(imputed[:2], precision=2, suppress_small=True), np.array_repr(rounded[:2]))
pieces = np.array_split(rng.permutation(N), 3)
print("folds", [p.size for p in pieces], [int(p[:2].sum()) for p in pieces], np.intersect1d(pieces[0], pieces[1]).size)
mm = ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])
print(mm.sum(), mm.filled(-1), mm * 2, ma.median(mm), mm.compressed(), np.ma.is_masked(mm))
flags = np.asarray(outlier).astype("u1") @ (1 << np.arange(4))
print("patterns", np.unique(flags, return_counts=True))
print(np.isnan(clean).any(1).nonzero()[0][:6], np.count_nonzero(~np.isnan(clean), axis=0), np.nanargmax(clean, axis=0))
