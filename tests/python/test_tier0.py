"""The loops that the host compiler built against the kernels that the JIT compiles: the same bits, whatever the row, dtype and layout.

Many results are recorded before one is looked at, so that the compiler works on few kernels.
"""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, configured, host

JIT = next((library["found"] for library in bc._c.library_status() if library["name"] == "broadcloth_jit"), False)
pytestmark = pytest.mark.skipif(not JIT, reason="built without the JIT, there is nothing to compare with")

ALL = [*DTYPES, "bfloat16"]
KINDS = {
    "bool": "b",
    "bfloat16": "f",
}


def kind(dtype: str) -> str:
    return KINDS.get(dtype) or np.dtype(dtype).kind


def values(dtype: str, seed: int, shape=(7, 331)) -> bc.ndarray:
    """Special values, then ordinary ones of very different sizes; more of them than one block holds."""
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    if kind(dtype) == "b":
        x = rng.random(size) < 0.5
    elif kind(dtype) in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, size, dtype=dtype, endpoint=True)
        x[::3] = rng.integers(max(info.min, -9), 10, x[::3].size).astype(dtype)
        special = np.array([0, 1, info.max, info.min, info.max - 1, 2, 3, 100], dtype=dtype)
        x[: special.size] = np.roll(special, seed)[:size]
    else:
        x = rng.standard_normal(size) * np.exp(rng.uniform(-12, 12, size))
        x[1::4] = rng.uniform(-1, 1, x[1::4].size)
        special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-320, 1e-40, 1e300, 0.5, -2.5, 1e22, 3e5, -7.0, 1e-7])
        x[: special.size] = np.roll(special, 5 * seed)[:size]
        if kind(dtype) == "c":
            x = x + 1j * np.roll(x, 17 + seed)
        with np.errstate(all="ignore"):
            x = x.astype(np.float32 if dtype == "bfloat16" else dtype)
    return bc.asarray(x.reshape(shape)).astype(dtype)


UPDATES = {
    "add": lambda a, x: a.__iadd__(x),
    "of_itself": lambda a, x: a.__imul__(a),
    "by_an_element": lambda a, x: a.__isub__(a[3:4]),
    "shifted": lambda a, x: a.__setitem__(slice(1, None), a[:-1] + x[1:]),
    "reversed": lambda a, x: a.__iadd__(a[::-1]),
    "strided": lambda a, x: a[::3].__imul__(2),
    "chain": lambda a, x: a.__setitem__(slice(None), bc.where(a > 0, a * 2 + x, -a)),
    "masked": lambda a, x: a.__setitem__(x > 1, a[:1]),
    # Rows that compute a block again where an element is outside of their fast form's range.
    "power": lambda a, x: a[1:].__ipow__(x[1:]),
    "remainder": lambda a, x: a[1:].__imod__(x[1:]),
    "sin": lambda a, x: bc.sin(a[1:], out=a[1:]),
    "converted": lambda a, x: a.view(f"i{a.itemsize}").__setitem__(slice(None), a),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UPDATES)
def test_updates_in_place(name, dtype):
    found = []
    for jit in (True, False):
        with configured(jit=jit, background_compile=False):
            for count in (9, 1030, 20_003):
                a, x = values(dtype, 1, (count,)), values(dtype, 2, (count,))
                a += 0
                bc.synchronize()  # memory of its own
                UPDATES[name](a, x)
                found.append(bits(a))
    for compiled, built_in in zip(found[:3], found[3:], strict=True):
        np.testing.assert_array_equal(built_in, compiled)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_products_that_are_not_stored(dtype):
    rng = np.random.default_rng(3)
    shapes = [(n,) for n in (1, 31, 63, 64, 65, 1023, 1025, 4099, 131_072, 200_003)] + [(3, 1000), (70, 33), (5, 2049), (2, 131_075)]
    operands = [(bc.asarray(rng.normal(size=s).astype(dtype)), bc.asarray(rng.normal(size=s).astype(dtype))) for s in shapes]
    found = {}
    for way, settings in (("jit", {"jit": True, "background_compile": False}), ("tier0", {"jit": False})):
        with configured(**settings):
            sums = [(a * b).sum(-1) for a, b in operands]
            sums += [r for a, b in operands for r in ((a * a).sum(-1), (a[..., ::-1] * b).sum(-1), (b * b[..., :1]).sum(-1))]
            sums += [r for a, b in operands for r in ((a * b).mean(-1), (a * b).sum(), (a * b).sum(-1) + (a * b).max(-1))]
            found[way] = [bits(r) for r in sums]
    for compiled, built_in in zip(found["jit"], found["tier0"], strict=True):
        np.testing.assert_array_equal(compiled, built_in)
    for (a, b), s in zip(operands, found["jit"], strict=False):
        np.testing.assert_allclose(s, (host(a).astype("f8") * host(b)).sum(-1), rtol=1e-3, atol=1e-2)


def bits(x) -> np.ndarray:
    """The bytes of an array; every NaN is written the same way, for its sign and payload depend on the order of operands."""
    if x.dtype == bc.bfloat16:
        x = x.astype("float32")
    x = host(x).copy()
    if x.dtype.kind == "f":
        x[np.isnan(x)] = np.nan
    elif x.dtype.kind == "c":
        for part in (x.real, x.imag):
            part[np.isnan(part)] = np.nan
    return x


def same_bits(program, where: str = "", lazy: bool = True) -> None:
    """Runs a program (a dict of arrays) by the JIT and by the loops, and compares every array. Not `lazy`: each op is compiled alone."""
    results = []
    for jit in (True, False):
        with configured(lazy=lazy or not jit, jit=jit, background_compile=False):
            made = program()
            bc.synchronize()
            results.append({name: bits(x) for name, x in made.items()})
    compiled, loops = results
    wrong = []
    for name in compiled:
        a, b = compiled[name], loops[name]
        assert a.shape == b.shape and a.dtype == b.dtype, name
        if a.tobytes() != b.tobytes():
            raw = a.view(np.uint8).reshape(a.shape + (-1,)) != b.view(np.uint8).reshape(b.shape + (-1,)) if a.ndim else None
            at = np.argwhere(raw.any(-1)) if raw is not None else [()]
            i = tuple(at[0])
            wrong.append(f"{name}: {len(at)} of {a.size} differ, at {i} the JIT has {a[i]!r}, tier 0 {b[i]!r}")
    assert not wrong, f"{where}\n" + "\n".join(wrong)


def rows(nin: int):
    return {name: f for name, f in bc._c.ufuncs.items() if f.nin == nin and f.nout == 1}


# A kernel of one op is vectorised where one of a hundred is not.
@pytest.mark.parametrize("dtype, lazy", [(t, True) for t in ALL] + [(t, False) for t in ("float32", "complex64", "complex128")])
def test_every_elementwise_row(dtype, lazy):
    a, b, c = (values(dtype, s) for s in range(3))
    exponent = b % 8 if kind(dtype) == "i" else b

    def program():
        made = {}
        for name, f in rows(1).items():
            try:
                made[name] = f(a)
            except TypeError:
                pass
        for name, f in rows(2).items():
            if name == "ldexp":
                continue
            # Shifts by anything are tried too: what they give is defined.
            try:
                made[name] = f(a, exponent if name == "power" else b)
            except TypeError:
                pass
        made["clip"] = bc.clip(a, b, c)
        made["where"] = bc.where(a < b, b, c)
        for name in ("real", "imag", "angle", "sinc", "i0"):
            try:
                made[name] = getattr(bc, name)(a)
            except TypeError:
                pass
        if kind(dtype) == "f":
            made["ldexp"] = bc.ldexp(a, values("int32", 9) % 300)
            made["mantissa"], made["exponent"] = bc.frexp(a)
            made["fraction"], made["integer"] = bc.modf(a)
        return made

    same_bits(program, dtype, lazy)


@pytest.mark.parametrize("dtype", ALL)
def test_casts_and_layouts(dtype):
    a = values(dtype, 3, (12, 5, 41))

    def program():
        made = {f"to {t}": a.astype(t) for t in ALL}
        one = a[:1, :1, :1] if dtype == "bool" else values(dtype, 4, (1, 5, 1))
        layouts = {
            "transposed": a.T,
            "stepped": a[::2, ::-1, 1::3],
            "short rows": a[:, :, :3],
            "one element rows": a[:, :, 7:8],
            "broadcast": bc.broadcast_to(a[:1], (4, 5, 41)),
            "reversed": a[::-1, ::-1, ::-1],
            "empty": a[:0],
            "scalar": a[1, 2, 3],
        }
        for name, x in layouts.items():
            made[name] = bc.maximum(x, x[:1] if x.ndim else x)
        made["outer"] = bc.equal(a[:, :, :1], a[:1, :, :])
        made["repeated"] = bc.where(one == one, a, one)
        made["mixed"] = bc.add(a.transpose(1, 0, 2), a[:, 1, :])
        made["constants"] = bc.where(a == 1, a, bc.asarray(1, dtype=dtype)) + a
        return made

    same_bits(program, dtype)


REDUCTIONS = bc._c.reductions


# Every dtype over rows and columns of more than one block; the other shapes with the dtypes whose states differ.
REDUCED = [(dtype, shape) for shape in [(3, 2500), (130, 300)] for dtype in ALL]
REDUCED += [
    (dtype, shape) for shape in [(3, 40), (700, 3), (4, 9, 6, 11)] for dtype in ("bool", "int16", "float16", "float64", "complex64")
]


@pytest.mark.parametrize("dtype, shape", REDUCED, ids=str)
def test_every_reduction(dtype, shape):
    a = values(dtype, 5, shape)

    def program():
        made = {}
        for name in REDUCTIONS:
            for axis in [None, *range(len(shape)), *([(0, 2), (1, 3)] if len(shape) == 4 else [])]:
                for label, x in (("", a), (" of a view", a.T[::-1])):
                    if label and not isinstance(axis, int):
                        continue
                    if name.startswith("arg") and isinstance(axis, tuple):
                        continue
                    try:
                        made[f"{name} over {axis}{label}"] = bc._c.reduce(name, x, axis)
                    except TypeError:
                        pass
        return made

    same_bits(program, f"{dtype} {shape}")


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "float64", "complex64", "complex128"])
def test_reductions_in_segments(dtype):
    a = values(dtype, 6, (3, 70_001))
    tall = values(dtype, 7, (90_001, 3))

    def program():
        made = {}
        for name in ("sum", "prod", "mean", "var", "max", "argmin", "any", "count_nonzero"):
            made[f"{name} of all"] = bc._c.reduce(name, a, None)
            made[f"{name} of rows"] = bc._c.reduce(name, a, 1)
            made[f"{name} of columns"] = bc._c.reduce(name, tall, 0)
        return made

    same_bits(program, dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"])
def test_extremes_of_every_length(dtype):
    rng = np.random.default_rng(11)
    lengths = [*range(1, 70), 95, 96, 127, 128, 129, 255, 256, 257, 500, 511, 512, 513, 1000, 1023, 1024, 1025, 2500]
    n = rng.integers(-9, 10, 2500).astype(dtype)
    n[rng.integers(0, 2500, 400)] = np.array([-0.0 if dtype[0] == "f" else 0], dtype)
    a = bc.asarray(n)

    def program():
        return {f"{name} of {k}": bc._c.reduce(name, a[:k], None) for name in ("max", "min", "argmax", "argmin") for k in lengths}

    same_bits(program, dtype)
    with configured(jit=False):
        for k in lengths:
            for name in ("max", "min", "argmax", "argmin"):
                assert host(bc._c.reduce(name, a[:k], None)) == getattr(n[:k], name)(), (name, k)
            if dtype[0] != "f":
                continue
            for at in {0, k // 2, k - 1}:  # one NaN anywhere wins
                x = n[:k].copy()
                x[at] = np.nan
                b = bc.asarray(x)
                assert np.isnan(host(b.max())) and np.isnan(host(b.min())) and host(b.argmax()) == host(b.argmin()) == at, (k, at)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("shape", [(9, 37), (4, 3000), (3, 5, 130)], ids=str)
def test_rows_that_are_walked_more_than_once(dtype, shape):
    a = values(dtype, 8, shape)

    def program():
        x = bc.where(bc.isfinite(a), bc.clip(a, -9, 9), bc.zeros_like(a))
        e = bc.exp(x - x.max(axis=-1, keepdims=True))
        centred = x - x.mean(axis=-1, keepdims=True)
        return {
            "softmax": e / e.sum(axis=-1, keepdims=True),
            "layer norm": centred / bc.sqrt(x.var(axis=-1, keepdims=True) + 1e-5) * 2 + 1,
            "logsumexp": bc.log(e.sum(axis=-1)) + x.max(axis=-1),
            "columns": (x - x.mean(axis=0)) / (x.std(axis=0) + 1),
            "distance": ((x[..., None, :] - x[..., None, :, :][..., :1, :]) ** 2).sum(-1) if len(shape) == 2 else x.sum((0, 2)),
            "mixed": (x.sum(-1) + x.max(-1)).astype("int32"),
        }

    same_bits(program, f"{dtype} {shape}")


@pytest.mark.parametrize("dtype", ["int16", "float64", "complex128"])
def test_gathers_and_stores(dtype):
    a = values(dtype, 10, (40, 50))
    index = bc.asarray(np.random.default_rng(0).integers(-40, 40, (33, 5)))
    columns = bc.asarray(np.random.default_rng(1).integers(-50, 50, (33, 5)).astype(np.int16))

    def program():
        made = {"rows": a[index], "points": a[index, columns], "columns": a[:, columns[0]] + a[:, :5], "masked": bc.where(a == a, a, 1)}
        x = a + 1
        x[3:20:2, 5:] = 7
        x[1:9] = x[11:19] * 2
        x[::-3, 1] = a[:14, 0]
        x[a == 1] = 5
        made["stored"] = x + 1
        y = a.copy()
        y[1:] += y[:-1]
        y[2:30] = y[5:33]
        made["shifted"] = y
        made["sum of a gather"] = a[index, columns].sum(0)
        made["coordinates"] = bc.arange(2000).reshape(40, 50) * 3 % 7 + a.real
        return made

    same_bits(program, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_fast_forms_give_the_exact_forms_bits(dtype):
    """Arguments inside and outside the range of the branch-free forms, next to each other and alone."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 20_000) * np.exp(rng.uniform(-5, 60, 20_000))
    a = bc.asarray(x.astype(np.float32)).astype(dtype)
    inside = bc.asarray(rng.uniform(-1000, 1000, 20_000)).astype(dtype)
    b = bc.asarray(rng.uniform(-40, 40, 20_000)).astype(dtype)

    def program():
        made = {}
        for label, v in (("any", a), ("inside", inside)):
            for name in ("sin", "cos", "tan", "sinc"):
                made[f"{name} {label}"] = getattr(bc, name)(v)
            for name in ("remainder", "fmod", "floor_divide"):
                made[f"{name} {label}"] = getattr(bc, name)(v, b)
        made["chain"] = bc.sin(bc.cos(inside) * 3) + bc.tan(inside)
        return made

    same_bits(program, dtype)


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "int64", "float16", "float32", "float64", "bfloat16"])
def test_random_numbers(dtype):
    def program():
        made = {}
        for k in ("uint32", "uint64", "uniform", "normal", "integers"):
            try:
                made[k] = bc._c.random(k, 5, 11, (37, 101), dtype, **({"low": 3, "high": 999} if k == "integers" else {}))
            except (TypeError, ValueError):
                pass
        return made

    same_bits(program, dtype)


def test_index_errors_are_raised():
    with configured(jit=False):
        a = bc.arange(10)
        with pytest.raises(IndexError):
            host(a[bc.asarray([1, 10])])
        assert host(a[bc.asarray([-10, 9])]).tolist() == [0, 9]


def test_small_work_does_not_start_the_compiler():
    with bc.device("cpu"), configured(jit=True, background_compile=True, lazy=True):
        bc._c.cache_wait()
        before = bc._c.cache_stats()["compiles"]
        for k in range(5):
            x = bc.arange(10) * 3 + k
            assert host(x).tolist() == [3 * i + k for i in range(10)]
        bc._c.cache_wait()
        assert bc._c.cache_stats()["compiles"] == before


def test_large_work_runs_before_and_after_its_kernel_is_there():
    with configured(jit=True, background_compile=True, lazy=True):
        a = bc.asarray(np.linspace(0, 50, 300_000))
        first = bits(bc.sin(a) * 1.25 + bc.sqrt(a) - 0.375)
        bc._c.cache_wait()
        second = bits(bc.sin(a) * 1.25 + bc.sqrt(a) - 0.375)
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers_divided_by_one_number(dtype):
    """Blocks with one divisor are multiplied by a reciprocal: right to the last bit at the ends of the range."""
    info = np.iinfo(dtype)
    rng = np.random.default_rng(5)
    divisors = {1, 2, 3, 5, 7, 10, 100, 127, info.max, info.max - 1, info.max // 2, info.max // 2 + 1, info.max // 3, -1, -3, info.min}
    divisors |= {d for k in range(1, info.bits - 1) for d in ((1 << k) - 1, 1 << k, (1 << k) + 1)}
    n = rng.integers(info.min, info.max, 5000, dtype=dtype, endpoint=True)
    n[:6] = [info.min, info.max, 0, 1, info.max - 1, info.min + 1]
    n[6:2000] = rng.integers(max(info.min, -50), 50, 1994).astype(dtype)
    with configured(jit=False):
        x = bc.asarray(n, device="cpu")
        for d in sorted(d for d in divisors if info.min <= d <= info.max and d != 0):
            by = np.asarray(d, dtype)
            near = np.asarray([k * d + j for k in (-3, -2, -1, 1, 2, 3) for j in (-1, 0, 1) if info.min <= k * d + j <= info.max], dtype)
            for values_, ours in ((n, x), (near, bc.asarray(near, device="cpu"))):
                if values_.size:
                    with np.errstate(over="ignore"):
                        np.testing.assert_array_equal(host(ours // by), values_ // by, err_msg=f"// {d}")
                        np.testing.assert_array_equal(host(ours % by), values_ % by, err_msg=f"% {d}")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(5000,), (3, 2500), (40, 300), (300, 40), (6, 5, 200)])
def test_stores_into_parts_of_pending_arrays(dtype, shape):
    """Such a store chooses between the old and the new element: blocks inside, outside, and across the part's edges."""
    rng = np.random.default_rng(6)
    n = rng.integers(0, 9, shape).astype(dtype)
    parts = [
        (slice(1, -1),) * len(shape),
        (slice(None, None, 2),) * len(shape),
        (*(slice(None),) * (len(shape) - 1), slice(3, 17)),
        (slice(1, 2), *(slice(2, 9),) * (len(shape) - 1)),
        (*(slice(None),) * (len(shape) - 1), slice(7, 8)),
        (slice(2, 2),) * len(shape),
        (slice(-2, 0, -3),) * len(shape),
    ]
    with configured(jit=False):
        for part in parts:
            x = bc.asarray(n, device="cpu") * 2
            x[part] = x[part] + bc.asarray(n, device="cpu")[part] * 3
            expected = n * n.dtype.type(2)
            expected[part] += n[part] * n.dtype.type(3)
            np.testing.assert_array_equal(host(x), expected, err_msg=str(part))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(1024, 40), (1500, 2048), (2048, 9)], ids=str)
def test_transposed_operands_whose_lines_meet_in_few_sets(dtype, shape):
    base = np.random.default_rng(9).integers(0, 90, (shape[0], max(shape[1], 8192 // np.dtype(dtype).itemsize))).astype(dtype)
    with configured(jit=False):
        for view in (lambda v: v[:, : shape[1]], lambda v: v[:, 3:], lambda v: v[5:, :7], lambda v: v):
            n, x = view(base), view(bc.asarray(base, device="cpu"))
            plain = np.ascontiguousarray(n.T)
            for got, want in (
                (x.T.copy(), plain),
                (x.T + bc.asarray(plain, device="cpu"), n.T + plain),
                (bc.where(x.T > 40, x.T, bc.zeros((), dtype, device="cpu")), np.where(plain > 40, plain, np.zeros((), dtype))),
            ):
                np.testing.assert_array_equal(host(got), want)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_copies_with_steps(dtype):
    n = np.random.default_rng(7).integers(0, 90, (60, 70)).astype(dtype)
    with configured(jit=False):
        x = bc.asarray(n, device="cpu")
        for step in (-7, -4, -3, -2, -1, 2, 3, 4, 5):
            for got, want in (
                (x[:, ::step].copy(), n[:, ::step]),
                (x.ravel()[::step] + x.ravel()[::step], n.ravel()[::step] + n.ravel()[::step]),
                (x.T[::step].copy(), n.T[::step]),
                (x.T[:, ::step] * x[::step].T, n.T[:, ::step] * n[::step].T),
            ):
                np.testing.assert_array_equal(host(got), want)
