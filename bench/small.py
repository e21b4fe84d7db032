"""Calls on arrays of 10 and 1,000 elements on the CPU beside NumPy: what Python, dispatch and recording cost.

    python bench/small.py [--only bincount,sort] [--sizes 10,1000] [--seconds 0.01] [--worst 40] [--json small.json] [--wait]

Each row is an expression, compiled once and called in both libraries in turn in this process; the least of the rounds counts. The results
of a region are kept and computed at its end, so that nothing is left out; `--wait` computes each result before the next call. `ratio` is
broadcloth's time by NumPy's. The bar is 1.5. Rows are shown worst first, with their median and how many are above the bar.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

BAR = 1.5
ROUNDS = 7
KEPT = 100  # results before they are computed
NAMES = ("numpy", "broadcloth")

# ---- The rows: expressions of `np`, `n` and the arrays of `operands` --------------------------------------------------------------------

UFUNCS_1 = """negative absolute sqrt square exp log log2 log10 log1p expm1 sin cos tan arcsin arctan sinh cosh tanh floor ceil rint
trunc sign
isnan isinf isfinite signbit reciprocal cbrt exp2 fabs degrees radians logical_not spacing positive conjugate"""
UFUNCS_2 = """add subtract multiply divide power maximum minimum fmax fmin arctan2 hypot copysign less less_equal greater equal not_equal
logical_and logical_or floor_divide remainder fmod nextafter logaddexp"""
INTEGER_2 = """add subtract multiply floor_divide remainder bitwise_and bitwise_or bitwise_xor left_shift gcd maximum less equal divide
power"""
REDUCTIONS = "sum prod max min mean std var any all argmax argmin ptp median count_nonzero cumsum cumprod"
NAN_REDUCTIONS = "nansum nanprod nanmax nanmin nanmean nanstd nanvar nanargmax nanargmin nanmedian nancumsum"
METHODS = """sum() mean() max() min() std() argmax() cumsum() any() all() prod() argsort() copy() ravel() flatten() tolist() round(2)
astype('f4') astype('i8') clip(0.2,0.8) nonzero() take(few) repeat(2) tobytes() searchsorted(y) dot(y) view('i8') reshape(-1,5)
reshape(2,-1)
var() conj() item(3) partition(3) sort() fill(1.5) compress(mask) choose dot(y).item()"""

GROUPS: dict[str, str] = {
    "creation": """np.zeros(n)|np.ones(n)|np.empty(n)|np.full(n, 2.5)|np.arange(n)|np.arange(0, n, 2)|np.arange(float(n))
        |np.linspace(0, 1, n)
        |np.logspace(0, 1, n)|np.geomspace(1, 10, n)|np.eye(5)|np.identity(5)|np.zeros_like(x)|np.ones_like(x)|np.empty_like(x)
        |np.full_like(x, 3)
        |np.array(l)|np.asarray(l)|np.array([1, 2, 3])|np.array([1.5, 2.5, 3.5])|np.array([[1, 2], [3, 4]])|np.array(x)|np.asarray(x)
        |np.copy(x)|np.ascontiguousarray(x)|np.tri(5)|np.diag(few)|np.diag(m)|np.tril(m)|np.triu(m)|np.vander(few, 3)
        |np.meshgrid(few, few)
        |np.indices((3, 3))|np.zeros((n, 2))|np.ones((2, n), 'f4')|np.fromiter(range(n), 'i8')|np.array(5.0)|np.asarray(3)
        |np.zeros(n, bool)
        |np.full((2, n), 1)|np.frombuffer(raw)|np.array(l, dtype='f4')|np.fromfunction(lambda a, b: a + b, (3, 3))|np.zeros(())
        |np.empty(n, 'i4')""",
    "shape": """x.reshape(2, -1)|m.T|np.transpose(m)|np.ravel(m)|x[:, None]|np.expand_dims(x, 0)|np.squeeze(x[None])|np.swapaxes(m, 0, 1)
        |np.moveaxis(m, 0, 1)|np.broadcast_to(x, (3, n))|np.broadcast_arrays(x, x)|np.flip(x)|np.fliplr(m)|np.flipud(m)|np.rot90(m)
        |np.roll(x, 2)
        |np.roll(m, 1, 0)|np.tile(x, 2)|np.repeat(x, 2)|np.repeat(few, few)|np.atleast_1d(x)|np.atleast_2d(x)|np.resize(x, n + 5)
        |np.append(x, 1.0)
        |np.insert(x, 2, 1.0)|np.delete(x, 2)|np.pad(x, 2)|np.pad(x, 1, 'edge')|np.concatenate([x, y])|np.concatenate((x, y, x))
        |np.stack([x, y])
        |np.vstack([x, y])|np.hstack([x, y])|np.column_stack([x, y])|np.dstack([x, y])|np.split(x, 2)|np.array_split(x, 3)
        |np.hsplit(x, 2)|np.block([[m, m], [m, m]])
        |np.concatenate([m, m], 1)|np.trim_zeros(x)|np.shape(x)|np.ndim(x)|np.size(x)|np.unravel_index(5, (3, 4))
        |np.ravel_multi_index((1, 2), (3, 4))
        |np.ix_(few, few)|np.unravel_index(few, (3, 4))|x.shape|x.size|x.dtype|len(x)|m.T.copy()|np.r_[x, 1.0]|np.c_[x, y]
        |np.array_split(x, [2, 5])|np.unstack(m)|np.permute_dims(m, (1, 0))""",
    "indexing": """x[3]|x[-1]|x[2:7]|x[::2]|x[::-1]|x[few]|x[mask]|x[mask].sum()|x[x > 0.5]|m[1]|m[1, 2]|m[:, 1]|m[1:3, 1:3]
        |m[few, few]|m[few]|m[..., None]|x[None, :]|float(x[3])|int(i[3])
        |x[3] + 1|x[3] * x[4]|x[3] > 0.5|i[3] + i[4]|x.item(3)|m.item(1, 2)|np.take(x, few)|np.take(m, few, 1)|np.compress(mask, x)
        |np.extract(mask, x)|np.take_along_axis(x, order, 0)|np.choose(few % 2, [few, few])
        |np.nonzero(x)|np.nonzero(mask)|np.flatnonzero(mask)|np.argwhere(mask)|np.where(mask)|np.where(mask, x, y)|np.where(mask, x, 0)
        |np.where(x > 0.5, 1, 0)|np.select([x > 0.5, x > 0.2], [x, y], 0.0)|np.diagonal(m)
        |np.triu_indices(4)|np.diag_indices(4)|x.flat[3]|x[[1, 2, 3]]|m[[0, 1], [1, 0]]|m[mask3]|np.piecewise(x, [x < 0.5], [0, 1])""",
    "writes": """z.__setitem__(3, 1.5)|z.__setitem__(slice(None), 0)|z.__setitem__(slice(None), x)|z.__setitem__(slice(2, 7), 1.0)
        |z.__setitem__(mask, 0.0)|z.__setitem__(few, 1.0)|z.__setitem__(few, few)
        |z.__setitem__(x > 0.5, 1.0)|z.__setitem__(slice(None, None, 2), 2.0)|z.__iadd__(1.0)|z.__imul__(0.5)|z.__iadd__(x)
        |w.__setitem__((1, 2), 5.0)|w.__setitem__(1, 3.0)|w.__setitem__((slice(None), 1), 2.0)|z.fill(1.0)|np.put(z, few, 1.0)
        |np.copyto(z, x)|np.putmask(z, mask, 0.0)|np.add.at(z, few, 1.0)|np.place(z, mask, [1.0])|np.fill_diagonal(w, 1.0)
        |np.add(x, y, out=z)|np.multiply(x, 2, out=z)|np.put_along_axis(z, order, 1.0, 0)""",
    "iteration": """[v for v in x]|list(x)|sum(x)|max(x)|[v + 1 for v in x]|[float(v) for v in x]|for_loop(x)|enumerate_loop(x)
        |zip_loop(x, y)|[r.sum() for r in m]|list(m)|[int(v) for v in i]|index_loop(x)|store_loop(z)|list(np.ndenumerate(m))
        |list(np.ndindex(3, 3))|x.tolist()
        |[v for v in x.flat]|set(i)|dict(zip(i, x))|sorted(x)|list(zip(x, y))|{v: 1 for v in i}|any(v > 2 for v in x)|f"{x[0]:.3f}"
        |str(x[0])|repr(x[:5])|str(x[:5])""",
    "sorting": """np.sort(x)|np.sort(i)|np.argsort(x)|np.argsort(i)|np.argsort(x, kind='stable')|np.sort(x)[::-1]|np.partition(x, 3)
        |np.argpartition(x, 3)|np.lexsort((x, i))|np.searchsorted(s, x)|np.searchsorted(s, 0.5)|np.searchsorted(s, few)
        |np.searchsorted(s, x, 'right')
        |np.digitize(x, edges)|np.unique(i)|np.unique(x)|np.unique(i, return_counts=True)|np.unique(i, return_inverse=True)
        |np.unique(i, return_index=True)|np.unique_values(i)|np.unique_counts(i)|np.isin(i, few)|np.intersect1d(i, few)
        |np.union1d(i, few)|np.setdiff1d(i, few)|np.setxor1d(i, few)
        |np.sort(m, axis=0)|np.sort(m, axis=1)|np.argsort(m, axis=1)|np.sort_complex(x)|np.median(x)|np.median(i)|np.percentile(x, 50)
        |np.percentile(x, [25, 75])|np.quantile(x, 0.3)|np.median(m, axis=0)|np.median(m, axis=1)|np.nanpercentile(x, 50)
        |np.quantile(x, [0.1, 0.5])|np.argmax(i)|np.argmin(i)|np.sort(x.astype('f4'))|np.sort(b)""",
    "counting": """np.bincount(few)|np.bincount(i % 50)|np.bincount(c)|np.bincount(c, minlength=20)|np.bincount(c, weights=x)
        |np.histogram(x)|np.histogram(x, 20)|np.histogram(x, 5, (0, 1))|np.histogram(x, edges)|np.histogram(i)
        |np.histogram(x, density=True)|np.histogram_bin_edges(x, 10)|np.histogram2d(x, y, 5)|np.histogramdd(xy, 4)
        |np.histogram(x, weights=y)
        |np.count_nonzero(mask)|np.count_nonzero(x)|np.interp(x, s, y)|np.interp(0.5, s, y)|np.diff(x)|np.diff(x, 2)|np.ediff1d(x)
        |np.gradient(x)|np.trapezoid(x)|np.convolve(x, few, 'same')|np.convolve(x, few)|np.correlate(x, few)|np.cumsum(x)|np.cumprod(x)
        |np.maximum.accumulate(x)|np.add.reduce(x)|np.add.accumulate(x)|np.add.reduceat(x, at)|np.add.outer(few, few)
        |np.multiply.outer(few, few)|np.cov(x, y)|np.corrcoef(x, y)|np.average(x)|np.average(x, weights=y)|np.polyfit(few, few, 1)
        |np.polyval(few, x)|np.roots(few)|np.poly1d(few)|np.unwrap(x)|np.nan_to_num(x)|np.clip(x, 0.2, 0.8)|np.clip(i, 3, 50)
        |np.round(x, 2)|np.around(x)|np.angle(x)|np.real(x)|np.imag(x)|np.sinc(x)|np.i0(x)|np.allclose(x, y)|np.isclose(x, y)
        |np.array_equal(x, y)|np.array_equal(x, x)|np.packbits(b)|np.unpackbits(b)|np.fft.fft(x)|np.fft.rfft(x)|np.fft.fftfreq(n)
        |np.fft.ifft(x)|np.fft.fft2(m)|np.hamming(n)|np.hanning(n)|np.heaviside(x, 0.5)|np.apply_along_axis(np.sum, 0, m)
        |np.ptp(x)""",
    "linalg": """a3 @ a3|np.dot(a3, a3)|np.dot(x, y)|x @ y|np.inner(x, y)|np.outer(few, few)|np.vdot(x, y)|np.matmul(a3, a3)|a3 @ v3
        |np.linalg.inv(a3)|np.linalg.det(a3)|np.linalg.solve(a3, v3)|np.linalg.norm(x)|np.linalg.norm(a3)|np.linalg.norm(m, axis=1)
        |np.linalg.eig(a3)|np.linalg.eigh(h3)|np.linalg.eigvals(a3)|np.linalg.eigvalsh(h3)|np.linalg.svd(a3)|np.linalg.qr(a3)
        |np.linalg.cholesky(h3)|np.linalg.lstsq(a3, v3, None)
        |np.linalg.pinv(a3)|np.linalg.matrix_rank(a3)|np.linalg.matrix_power(a3, 3)|np.linalg.slogdet(a3)|np.linalg.cond(a3)
        |np.trace(a3)|np.cross(v3, v3)|np.kron(a3, a3)|np.einsum('ij,jk->ik', a3, a3)|np.einsum('i,i->', x, y)|np.tensordot(a3, a3, 1)
        |np.linalg.multi_dot([a3, a3, a3])|m @ m.T|np.linalg.norm(x, 1)|np.linalg.norm(x, np.inf)|np.vecdot(x, y)
        |np.linalg.vector_norm(x)|np.trace(m)|np.linalg.matrix_transpose(a3)""",
    "random": """rng.random()|rng.random(n)|rng.normal()|rng.normal(size=n)|rng.standard_normal(n)|rng.uniform(0, 1, n)
        |rng.integers(10)|rng.integers(0, 10, n)|rng.exponential(1.0, n)|rng.choice(x)|rng.choice(10, 3)|rng.choice(x, 3)
        |rng.choice(n, 5, replace=False)|rng.permutation(n)|rng.permutation(x)|rng.shuffle(z)|rng.poisson(3, n)
        |rng.binomial(10, 0.5, n)|rng.gamma(2, 1, n)|rng.beta(1, 2, n)
        |rng.standard_exponential(n)|np.random.rand(n)|np.random.randn(n)|np.random.randint(0, 10, n)|np.random.random()
        |np.random.random(n)|np.random.uniform(0, 1, n)|np.random.normal(0, 1, n)|np.random.choice(x)|np.random.permutation(n)
        |np.random.shuffle(z)|np.random.seed(3)|np.random.default_rng(3)|rng.multinomial(10, [0.5, 0.5])|rng.uniform()
        |np.random.randint(10)|np.random.rand()""",
    "operators": """x + y|x - y|x * y|x / y|x ** 2|x ** 0.5|x // 2|x % 3|-x|abs(x)|x + 1|1 + x|x * 2.0|2.0 / x|x > 0.5|x == y
        |(x > 0.2) & (x < 0.8)|~mask|mask & mask|mask.sum()|(x > 0.5).sum()|x @ y|i + 1|i // 3|i % 7|i * i|i ** 2|i & 3|i << 1|i == 5
        |x + y * 2 - 1|((x - y) ** 2).sum()|np.sqrt(x ** 2 + y ** 2)|x.sum() / n|(x - x.mean()) / x.std()|np.exp(-x ** 2 / 2)|x + i
        |m + x5|m.sum(axis=0)|m.sum(axis=1)|m.mean(0)|m.max(1)|m.argmax(1)|m.std(0)
        |np.dot(m, x5)|bool((x > 2).any())|float(x.sum())|int(mask.sum())|x.max() - x.min()|np.all(x > 0)|np.any(x > 5)
        |np.abs(x - y).max()|np.maximum(x, 0)|np.minimum(x, y)|np.sum(x * y)|np.mean(x)|np.sum(m, axis=0, keepdims=True)|np.power(x, 3)
        |np.mod(i, 3)|np.add(x, 1)|np.add(x, y, where=mask)|divmod(i, 3)|z1 * z1|abs(z1)|z1.real|z1.conj()|np.exp(z1)|(x - 0.5).clip(0)
        |x.astype('f4') + 1|f4 + 1|f4 * f4|np.exp(f4)|f4.sum()|f4.mean()|np.float64(3.0) * x|np.sqrt(2.0)|np.sin(0.5)|np.maximum(1, 2)
        |np.abs(-3)|np.float64(2.5)|np.isscalar(3)|np.result_type(x, i)|np.dtype('f8')|np.finfo('f8').eps|np.can_cast('i4', 'i8')""",
    "dates": """d + 1|d - d|d[1:] - d[:-1]|d > d[0]|d.astype('i8')|np.diff(d)|np.sort(d)|d.astype('datetime64[M]')|np.isnat(d)|d.max()
        |(d - d[0]).astype(int)""",
}


def row_texts() -> Iterator[tuple[str, str]]:
    for name in UFUNCS_1.split():
        yield "ufuncs", f"np.{name}(x)"
    for name in UFUNCS_2.split():
        yield "ufuncs", f"np.{name}(x, y)"
    for name in INTEGER_2.split():
        yield "ufuncs", f"np.{name}(i, c)"
    for name in REDUCTIONS.split():
        yield "reductions", f"np.{name}(x)"
        yield "reductions", f"np.{name}(m, axis=0)"
    for name in ["sum", "max", "mean", "argmax", "cumsum"]:
        yield "reductions", f"np.{name}(i)"
        yield "reductions", f"np.{name}(m, axis=1)"
    for name in NAN_REDUCTIONS.split():
        yield "reductions", f"np.{name}(x)"
    for name in METHODS.split():
        if name not in ("choose", "partition(3)", "sort()", "fill(1.5)"):
            yield "methods", f"x.{name}"
    yield "methods", "z.partition(3)"
    yield "methods", "z.sort()"
    for group, texts in GROUPS.items():
        for text in texts.split("|"):
            yield group, " ".join(text.split())


def operands(xp: Any, n: int) -> dict[str, Any]:
    """The names that the expressions use, the same values in either library."""
    random = np.random.default_rng(1)
    x, y = random.random(n), random.random(n)
    a3 = random.random((3, 3))
    host: dict[str, Any] = {
        "x": x, "y": y, "z": x.copy(), "s": np.sort(x), "i": random.integers(0, 100, n), "c": random.integers(1, 10, n), "m":
random.random((5, n // 5)).T[:5].copy(),
        "mask": x > 0.5, "few": np.array([1, 2, 3, 2]), "order": np.argsort(x), "b": random.integers(0, 255, n).astype("u1"), "edges":
np.linspace(0, 1, 6),
        "at": np.array([0, 3, 6]), "a3": a3, "v3": a3[0].copy(), "h3": a3 @ a3.T + np.eye(3), "f4": x.astype("f4"), "z1": x + 1j * y,
"xy": random.random((n, 2)),
        "w": random.random((5, 5)), "d": np.datetime64("2020-01-01") + random.integers(0, 1000, n),
    }  # fmt: skip
    host["x5"] = random.random(host["m"].shape[1])
    host["m"] = random.random((5, 5)) if n < 100 else random.random((20, 50))
    host["x5"] = random.random(host["m"].shape[1])
    host["mask3"] = host["m"] > 0.5
    if n >= 100:
        host["w"] = host["m"].copy()
    made = {name: xp.array(v) for name, v in host.items()}
    return {**made, "n": n, "l": x.tolist(), "raw": x.tobytes(), "rng": xp.random.default_rng(1), "np": xp, **LOOPS}


def for_loop(x: Any) -> float:
    total = 0.0
    for v in x:
        total += v
    return total


def enumerate_loop(x: Any) -> float:
    total = 0.0
    for k, v in enumerate(x):
        total += k * v
    return total


def zip_loop(x: Any, y: Any) -> float:
    total = 0.0
    for v, u in zip(x, y, strict=True):
        total += v * u
    return total


def index_loop(x: Any) -> float:
    total = 0.0
    for k in range(len(x)):
        if x[k] > 0.5:
            total += x[k]
    return total


def store_loop(z: Any) -> None:
    for k in range(1, len(z)):
        z[k] = z[k - 1] * 0.5 + 0.25


LOOPS = {f.__name__: f for f in (for_loop, enumerate_loop, zip_loop, index_loop, store_loop)}

# ---- Timing -----------------------------------------------------------------------------------------------------------------------------


def region(call: Callable[[], Any], wait: Callable[[], Any], count: int, kept: int) -> float:
    """Seconds of `count` calls whose results are kept until they are computed, `kept` at a time."""
    results: list[Any] = []
    keep = results.append
    start = time.perf_counter()
    while count > 0:
        for _ in range(min(kept, count)):
            keep(call())
        wait()
        results.clear()
        count -= kept
    return time.perf_counter() - start


def compiled(text: str, names: dict[str, Any]) -> Callable[[], Any]:
    return eval(f"lambda: {text}", names)  # the table's own texts


def measure(
    text: str, spaces: dict[str, dict[str, Any]], waits: dict[str, Callable[[], Any]], seconds: float, kept: int
) -> dict[str, float]:
    """The least seconds of a call in each library."""
    calls = {name: compiled(text, dict(space)) for name, space in spaces.items()}
    counts: dict[str, int] = {}
    for name, call in calls.items():
        for _ in range(3):
            region(call, waits[name], 2 * kept if kept < 10 else kept, kept)
        once = region(call, waits[name], 20, kept) / 20
        counts[name] = max(5, min(20_000, math.ceil(seconds / max(once, 1e-8))))
    best = dict.fromkeys(calls, math.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            best[name] = min(best[name], region(call, waits[name], counts[name], kept) / counts[name])
    return best


def measure_all(given: argparse.Namespace) -> list[dict[str, Any]]:
    import broadcloth as bc

    bc.set_default_device("cpu")
    bc.config.background_compile = False  # each kernel is compiled before its row is timed
    modules = {"numpy": np, "broadcloth": bc}
    waits: dict[str, Callable[[], Any]] = {"numpy": lambda: None, "broadcloth": bc.synchronize}
    rows = []
    words = given.only.split(",") if given.only else []
    gc.disable()
    for n in map(int, given.sizes.split(",")):
        for group, text in row_texts():
            if words and not any(w in text or w == group for w in words):
                continue
            spaces = {name: operands(modules[name], n) for name in NAMES}
            try:
                times = measure(text, spaces, waits, given.seconds, 1 if given.wait else KEPT)
            except Exception as error:
                print(f"{text} of {n} failed: {type(error).__name__}: {str(error)[:100]}", file=sys.stderr)
                continue
            rows.append({"group": group, "text": text, "n": n, **times, "ratio": times["broadcloth"] / times["numpy"]})
            gc.collect()
    return sorted(rows, key=lambda row: -row["ratio"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="groups, or parts of expressions")
    parser.add_argument("--sizes", default="10,1000")
    parser.add_argument("--seconds", type=float, default=0.004, help="what a timed region lasts")
    parser.add_argument("--worst", type=int, default=1000, help="rows to show")
    parser.add_argument("--json")
    parser.add_argument("--wait", action="store_true", help="each result is computed before the next call")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = measure_all(given)
    print(f"{'ratio':>6} {'broadcloth':>11} {'numpy':>9}  {'n':>5} expression (µs)")
    for row in rows[: given.worst]:
        print(f"{row['ratio']:6.2f} {row['broadcloth'] * 1e6:11.2f} {row['numpy'] * 1e6:9.2f}  {row['n']:5} {row['text']}")
    ratios = [row["ratio"] for row in rows]
    above = sum(r > BAR for r in ratios)
    print(f"{len(rows)} rows: median {statistics.median(ratios):.2f}, {above} above {BAR}, {sum(r > 2 for r in ratios)} above 2")
    if given.json:
        with open(given.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
