"""Trades in structured arrays: grouping, VWAP, bars, joins, positions, saving and loading."""

import io
import os
import sys
import tempfile

import numpy as np
from numpy.lib import recfunctions as rfn

N = int(sys.argv[1]) if len(sys.argv) > 1 else 500
dtype = np.dtype([("time", "i8"), ("symbol", "U4"), ("side", "i1"), ("price", "f8"), ("size", "i4")])
rng = np.random.default_rng(99)
symbols = np.array(["AAA", "BBB", "CCC", "DDDD"])
trades = np.zeros(N, dtype=dtype)
trades["time"] = np.sort(rng.integers(9 * 3600, 16 * 3600, N))
trades["symbol"] = symbols[rng.integers(0, 4, N)]
trades["side"] = rng.choice([-1, 1], N)
trades["price"] = np.round(100 * np.exp(np.cumsum(rng.normal(0, 1e-3, N))), 2)
trades["size"] = rng.integers(1, 50, N) * 100
print(trades.dtype.names, trades.shape, trades.itemsize, trades.dtype["price"])
print(trades[:3])
print(trades[0]["symbol"], trades[-1]["price"], trades[5].tolist()[1:])
for s in np.unique(trades["symbol"]):
    t = trades[trades["symbol"] == s]
    notional = t["price"] * t["size"]
    vwap = notional.sum() / t["size"].sum()
    net = (t["side"].astype(int) * t["size"]).sum()
    print(f"{s:5} n={t.size:4d} vwap={vwap:.4f} high={t['price'].max():.2f} low={t['price'].min():.2f} net={net:+d}")
hour = trades["time"] // 3600
bars = np.zeros(7, dtype=[("hour", "i4"), ("open", "f8"), ("high", "f8"), ("low", "f8"), ("close", "f8"), ("volume", "i8")])
for i, h in enumerate(range(9, 16)):
    t = trades[hour == h]
    if t.size:
        bars[i] = (h, t["price"][0], t["price"].max(), t["price"].min(), t["price"][-1], t["size"].sum())
print(bars)
print("range", (bars["high"] - bars["low"]).round(2), "biggest hour", bars["hour"][bars["volume"].argmax()])
o = np.argsort(trades, order=("symbol", "price"), kind="stable")
print("sorted", trades[o][["symbol", "price"]][:3])
edges = np.flatnonzero(trades["symbol"][o][1:] != trades["symbol"][o][:-1]) + 1
groups = np.split(trades[o], edges)
print("groups", [len(g) for g in groups], [str(g["symbol"][0]) for g in groups])
sums = np.add.reduceat(trades["size"][o], np.r_[0, edges])
print("volumes", sums, sums.sum() == trades["size"].sum())
big = trades[(trades["size"] > 4000) & (trades["side"] == 1)]
print("big buys", big.size, big["time"][:3].tolist(), f"{big['price'].mean():.4f}")
limits = np.array([("AAA", 1e6), ("CCC", 5e5)], dtype=[("symbol", "U4"), ("limit", "f8")])
which = np.searchsorted(limits["symbol"], trades["symbol"])
hit = (which < 2) & (limits["symbol"][np.minimum(which, 1)] == trades["symbol"])
print("joined", hit.sum(), limits["limit"][which[hit]].sum())
extra = rfn.append_fields(trades[["time", "size"]], "value", trades["price"] * trades["size"], usemask=False)
print(extra.dtype.names, extra["value"][:3].round(2), rfn.structured_to_unstructured(trades[["price", "size"]])[:2])
rec = trades[:4].view(np.recarray)
print(rec.price, rec.size, rec["size"].sum(), type(rec).__name__)
rec2 = np.rec.fromarrays([np.arange(3), np.linspace(0, 1, 3)], names="id,x")
print(rec2.id, rec2.x, rec2[1].x, rec2.dtype)
position = np.zeros(N, dtype=int)
for s in symbols:
    m = trades["symbol"] == s
    position[m] = np.cumsum(trades["side"][m].astype(int) * trades["size"][m])
print("position", position[:6], position.min(), position.max())
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "t.npz")
    np.savez_compressed(path, trades=trades, bars=bars, position=position)
    with np.load(path) as z:
        print(sorted(z.files), z["trades"].dtype == dtype, (z["position"] == position).all(), (z["trades"] == trades).all())
    csv = os.path.join(folder, "t.csv")
    np.savetxt(csv, trades[:5], fmt=["%d", "%s", "%d", "%.2f", "%d"], delimiter=",", header=",".join(dtype.names))
    print(open(csv).read().splitlines()[1])
    back = np.genfromtxt(csv, delimiter=",", names=True, dtype=None, encoding=None)
    print(back.dtype.names, back["price"], back["symbol"][0])
    again = np.loadtxt(csv, delimiter=",", dtype=dtype)
    print((again == trades[:5]).all(), again["size"].sum())
    raw = os.path.join(folder, "raw.bin")
    trades["price"].tofile(raw)
    print(np.fromfile(raw, dtype=float).sum().round(4), os.path.getsize(raw))
buffer = io.BytesIO()
np.save(buffer, bars)
buffer.seek(0)
print(np.load(buffer)["hour"])
returns = np.diff(np.log(trades["price"]))
print("vol %.8f" % returns.std(), "skew %.5f" % (((returns - returns.mean()) ** 3).mean() / returns.std() ** 3))
print("ewma %.8f" % np.convolve(returns[::-1] ** 2, 0.06 * 0.94 ** np.arange(60), "valid")[0])
