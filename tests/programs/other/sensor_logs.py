"""A pipeline of files: generate sensor logs as text, genfromtxt and loadtxt, clean, save npz, reload, filter, report with formats."""

import io
import json
import pickle
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 300


def write_log(path, rng):
    with open(path, "w") as f:
        f.write("# sensor log\n# time, temp, pressure, humidity, status\n")
        for i in range(ROWS):
            temp = 20 + 5 * np.sin(i / 20) + rng.normal()
            press = 1013 + rng.normal(0, 2)
            hum = "" if rng.random() < 0.05 else f"{rng.uniform(30, 60):.1f}"
            f.write(f"{i * 0.5:.1f},{temp:.3f},{press:.2f},{hum},{rng.integers(0, 4)}\n")


def load(path):
    a = np.genfromtxt(path, delimiter=",", comments="#", filling_values=np.nan)
    return a


def lowpass(x, n=31, cutoff=0.05):
    k = np.arange(n) - (n - 1) / 2
    h = 2 * cutoff * np.sinc(2 * cutoff * k) * np.hamming(n)
    return np.convolve(x, h / h.sum(), mode="same")


class Summary:
    def __init__(self, **arrays):
        self.arrays = arrays

    def rows(self):
        for name, a in self.arrays.items():
            yield name, a.min(), a.max(), a.mean(), a.std()

    def __str__(self):
        return "\n".join("%-10s %10.4f %10.4f %10.4f %10.4f" % row for row in self.rows())


rng = np.random.default_rng(55)
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    write_log(folder / "log.csv", rng)
    a = load(folder / "log.csv")
    print("loaded", a.shape, a.dtype, np.isnan(a).sum(axis=0), a[:2])
    t, temp, press, hum, status = a.T
    hum = np.where(np.isnan(hum), np.nanmean(hum), hum)
    print(Summary(temp=temp, press=press, hum=hum))
    cols = np.loadtxt(folder / "log.csv", delimiter=",", usecols=(0, 1, 4), skiprows=2, unpack=True)
    print("loadtxt", cols.shape, np.array_equal(cols[1], temp), cols[2].astype(int)[:12])
    typed = np.genfromtxt(
        folder / "log.csv", delimiter=",", dtype="f8,f4,f4,f4,i4", names=["t", "temp", "p", "h", "s"], missing_values="", filling_values=-1
    )
    print(typed.dtype.names, typed["temp"].dtype, typed["s"].sum(), typed[0])
    np.savez(folder / "clean.npz", t=t, temp=temp, press=press, hum=hum, status=status.astype(np.uint8))
    with np.load(folder / "clean.npz") as z:
        print({k: (z[k].dtype.str, z[k].shape) for k in z.files})
        total = sum(float(z[k].sum()) for k in z.files)
        print(f"total {total:.4f}")
    np.save(folder / "m.npy", np.asfortranarray(a[:, :3]))
    m = np.load(folder / "m.npy")
    print("order", m.flags.f_contiguous, m.flags["C_CONTIGUOUS"], np.array_equal(m, a[:, :3]))
    mm = np.load(folder / "m.npy", mmap_mode="r")
    print("mapped", mm.shape, mm[3:5, 0], float(mm[:, 1].max()) == float(temp.max()))
    smooth = lowpass(temp)
    print("smooth", smooth[50:55].round(4), "rms %.5f" % np.sqrt(np.mean((smooth - temp)[20:-20] ** 2)))
    np.savetxt(folder / "out.txt", np.c_[t, smooth][:4], fmt="%8.3f", header="t smooth", footer="end", comments="% ")
    print((folder / "out.txt").read_text())
    back = np.loadtxt(folder / "out.txt", comments="%")
    print(back, back.sum().round(3))
    counts = np.bincount(status.astype(int), minlength=4)
    summary = {
        "n": len(t),
        "mean": float(temp.mean().round(6)),
        "counts": counts.tolist(),
        "ok": bool((temp < 40).all()),
        "max": int(counts.max()),
    }
    print(json.dumps(summary))
    copy = pickle.loads(pickle.dumps({"a": a, "h": hum.astype(np.float32)}))
    print(type(copy["a"]).__name__, copy["h"].dtype, np.array_equal(copy["a"], a, equal_nan=True))
    text = io.StringIO("1 2 3\n4 5 6\n\n7 8 9")
    print(np.loadtxt(text, dtype=int).T, np.loadtxt(["1.5;2", "3;4"], delimiter=";"))
    print(np.fromstring("1, 2, 3", sep=",", dtype=int), np.genfromtxt(io.StringIO("a b\n1 2\n3 x"), names=True)["b"])
runs = np.flatnonzero(np.diff(np.r_[-1, status, -1]) != 0)
lengths = np.diff(runs)
print("runs", lengths.max(), np.bincount(lengths.astype(int)))
trans = np.zeros((4, 4), int)
np.add.at(trans, (status[:-1].astype(int), status[1:].astype(int)), 1)
with np.printoptions(formatter={"float": "{:.3f}".format}):
    print(trans / trans.sum(1, keepdims=True))
peaks = np.flatnonzero((smooth[1:-1] > smooth[:-2]) & (smooth[1:-1] > smooth[2:])) + 1
print("peaks", peaks, "at", t[peaks].tolist(), f"{smooth[peaks].mean():.4f}")
print(
    f"{temp[0]:.2f} {temp.mean():10.3e} {int(counts[0]):>5d} {temp.max():+.1f} {'%d/%d' % (counts[1], counts.sum())}",
    np.float32(temp[0]),
    repr(temp[1]),
    str(counts[2]),
)
print(
    np.format_float_positional(temp.std(), precision=4),
    np.format_float_scientific(press.var(), precision=3, exp_digits=3),
    np.base_repr(counts[3], 16),
    np.binary_repr(int(counts[3]), 12),
)
