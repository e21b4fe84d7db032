"""Derivatives: every differentiable row and op against central differences, the graph's rules, and functions of functions."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import autograd
from broadcloth.autograd import gradcheck

# ---- Rows --------------------------------------------------------------------------------------------------------------------------------

# Where a row is smooth: points for each operand, away from kinks, poles and the ends of the domain.
ANYWHERE = (0.3, -1.2, 2.6, 0.7)
POSITIVE = (0.3, 1.2, 2.6, 0.7)
INSIDE = (0.3, -0.6, 0.9, 0.1)
OVER_ONE = (1.3, 2.2, 1.7, 4.0)
ROWS = {
    **dict.fromkeys(
        "negative positive square absolute fabs sign exp exp2 expm1 sin cos tan arctan deg2rad rad2deg sinc sinh cosh tanh arcsinh i0 "
        "bessel_i1 rint floor ceil trunc conjugate modf frexp real imag angle "
        "modf_fraction modf_integer frexp_mantissa".split(),
        (ANYWHERE,),
    ),
    **dict.fromkeys("sqrt cbrt log log2 log10 log1p reciprocal".split(), (POSITIVE,)),
    **dict.fromkeys("arcsin arccos arctanh".split(), (INSIDE,)),
    "arccosh": (OVER_ONE,),
    **dict.fromkeys(
        "add subtract multiply divide hypot arctan2 logaddexp logaddexp2 maximum minimum fmax fmin copysign heaviside".split(),
        (ANYWHERE, (1.1, 0.4, -2.0, 3.3)),
    ),
    **dict.fromkeys("power float_power".split(), (POSITIVE, (1.1, 0.4, -2.0, 3.3))),
    **dict.fromkeys("remainder fmod floor_divide divmod".split(), (ANYWHERE, (1.1, 0.7, -2.0, 3.3))),
    "clip": (ANYWHERE, (-1.0, -0.5, 3.0, -2.0), (0.2, 1.0, 4.0, 0.1)),
}
COMPLEX = (
    "add subtract multiply divide power negative positive square reciprocal sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin "
    "arccos arctan sinh cosh tanh arcsinh arccosh arctanh sinc absolute sign conjugate real imag angle".split()
)
# Rows of integers and truth values, those without operands of floats, and those whose derivative takes a rounding step (their own tests).
CONSTANT = set(
    "gcd lcm equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or "
    "bitwise_xor invert left_shift right_shift bit_count isfinite isinf isnan isposinf isneginf signbit bitwise_count "
    "frexp_exponent".split()
)
OWN = {"nextafter", "spacing", "ldexp", "where"}


def row(name):
    return bc._c.ufuncs[name]


def test_every_row_has_points():
    # The rows of scipy.special alone are held to differences by tests/cpp/derivatives_test.cpp.
    special = {name for name in bc._c.ufuncs if not hasattr(bc, name)}
    assert set(bc._c.ufuncs) - CONSTANT - OWN - special == set(ROWS) - special


@pytest.mark.parametrize("name", ROWS)
def test_rows_against_differences(name, device):
    operands = [bc.array(points) for points in ROWS[name]]
    assert gradcheck(row(name), operands)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_rows_against_differences(name, device):
    points = [np.array([0.3 + 0.4j, -0.7 + 0.2j, 0.5 - 1.1j]), np.array([1.2 - 0.3j, 0.4 + 0.9j, 2.0 + 0.1j])]
    operands = [bc.array(points[k]) for k in range(row(name).nin)]
    assert gradcheck(row(name), operands)


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power", "maximum"])
@pytest.mark.parametrize("shapes", [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((1,), (1, 1))])
def test_what_was_broadcast_is_summed(name, shapes, device):
    rng = np.random.default_rng(0)
    assert gradcheck(row(name), [bc.array(rng.uniform(0.5, 2.0, shape)) for shape in shapes])


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, 2.5])
def test_powers_with_numbers(exponent, device):
    assert gradcheck(lambda x: x**exponent, bc.array(POSITIVE))
    assert gradcheck(lambda x: exponent**x if exponent > 0 else x, bc.array(POSITIVE))


def test_rows_with_rules_of_their_own(device):
    x = bc.array(POSITIVE)
    assert gradcheck(lambda x: bc.ldexp(x, bc.array([1, 2, -1, 0])), x)
    assert gradcheck(lambda x, y: bc.where(bc.array([True, False, True, False]), x, y), [x, 2 * x])
    assert gradcheck(lambda x: bc.clip(x, 0.5, 2.0), x)
    assert gradcheck(lambda x: bc.where(x > 1, x * x, -x), x)


def test_mixed_dtypes_give_gradients_of_their_own(device):
    x = bc.array([1.0, 2.0], dtype="float32").requires_grad_()
    y = bc.array([3.0, 4.0], dtype="float64").requires_grad_()
    (x * y * bc.array([1, 2])).sum().backward()
    assert x.grad.dtype == np.float32 and y.grad.dtype == np.float64
    assert x.grad.tolist() == [3.0, 8.0] and y.grad.tolist() == [1.0, 4.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_gradients_have_the_dtype_of_the_array(dtype, device):
    x = bc.array([1.0, 2.0, 3.0]).astype(dtype).requires_grad_()
    (x * x).sum().backward(bc.array(1.0).astype(dtype))
    assert x.grad.dtype == x.dtype
    assert x.grad.astype("complex128").tolist() == [2.0, 4.0, 6.0]


# ---- Reductions, scans, products ---------------------------------------------------------------------------------------------------------

MATRIX = np.array([[0.3, -1.2, 2.5], [0.7, 1.9, -0.4]])
REDUCTIONS = {
    "sum": lambda a, **k: a.sum(**k),
    "prod": lambda a, **k: a.prod(**k),
    "mean": lambda a, **k: a.mean(**k),
    "var": lambda a, **k: a.var(**k),
    "std": lambda a, **k: a.std(**k),
    "std ddof": lambda a, **k: a.std(ddof=1, **k),
    "max": lambda a, **k: a.max(**k),
    "min": lambda a, **k: a.min(**k),
    "fmax": lambda a, **k: bc.fmax.reduce(a, **{"axis": None, **k}),
    "logaddexp": lambda a, **k: bc.logaddexp.reduce(a, **{"axis": None, **k}),
    "logaddexp2": lambda a, **k: bc.logaddexp2.reduce(a, **{"axis": None, **k}),
    "hypot": lambda a, **k: bc.hypot.reduce(a, **{"axis": None, **k}),
    "nansum": lambda a, **k: bc.nansum(a, **k),
    "nanmean": lambda a, **k: bc.nanmean(a, **k),
    "ptp": lambda a, **k: bc.ptp(a, **k),
    "norm": lambda a, **k: bc.linalg.norm(a, **k),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_against_differences(name, axis, keepdims, device):
    if name == "logaddexp2" and isinstance(axis, tuple):
        pytest.skip("one form of each is enough")
    assert gradcheck(lambda a: REDUCTIONS[name](a, axis=axis, keepdims=keepdims), bc.array(MATRIX))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "reversed", "broadcast"])
def test_reductions_of_views(layout, device):
    view = {
        "transposed": lambda a: a.T,
        "sliced": lambda a: a[:, ::2],
        "reversed": lambda a: a[::-1, ::-1],
        "broadcast": lambda a: bc.broadcast_to(a[:, None, :], (2, 4, 3)),
    }[layout]
    assert gradcheck(lambda a: (view(a) ** 2).sum(axis=0), bc.array(MATRIX))
    assert gradcheck(lambda a: view(a).std(axis=-1), bc.array(MATRIX))


def test_equal_extremes_share_the_gradient(device):
    x = bc.array([1.0, 3.0, 3.0]).requires_grad_()
    x.max().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]
    x.grad = None
    bc.maximum(x, 3.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_with_zeros(zeros, device):
    a = MATRIX.copy()
    a[0, :zeros] = 0
    assert gradcheck(lambda x: x.prod(axis=1), bc.array(a))
    assert gradcheck(lambda x: bc.cumprod(x, axis=1), bc.array(a))


def test_masked_reductions(device):
    mask = bc.array([[True, False, True], [False, True, True]])
    for f in (
        lambda a: a.sum(axis=1, where=mask),
        lambda a: a.mean(where=mask),
        lambda a: a.std(axis=1, where=mask),
        lambda a: a.max(where=mask, initial=-9.0),
        lambda a: a.sum(initial=3.0),
        lambda a: a.prod(axis=0, initial=2.0),
    ):
        assert gradcheck(f, bc.array(MATRIX))


SCANS = {
    "cumsum": bc.cumsum,
    "cumprod": bc.cumprod,
    "maximum": lambda a, axis: bc.maximum.accumulate(a, axis),
    "minimum": lambda a, axis: bc.minimum.accumulate(a, axis),
    "reduceat": lambda a, axis: bc.add.reduceat(a, [0, 1, 1], axis),
    "reduceat backwards": lambda a, axis: bc.add.reduceat(a, [1, 0], axis),
    "multiply.reduceat": lambda a, axis: bc.multiply.reduceat(a, [1, 0, 1], axis),
    "maximum.reduceat": lambda a, axis: bc.maximum.reduceat(a, [0, 1], axis),
    "subtract.reduceat": lambda a, axis: bc.subtract.reduceat(a, [0, 1, 0], axis),
    "logaddexp": lambda a, axis: bc.logaddexp.accumulate(a, axis),
    "subtract": lambda a, axis: bc.subtract.accumulate(a, axis),
    "divide": lambda a, axis: bc.divide.accumulate(a, axis),
    "subtract.reduce": lambda a, axis: bc.subtract.reduce(a, axis),
    "divide.reduce": lambda a, axis: bc.divide.reduce(a, axis),
    "arctan2.reduce": lambda a, axis: bc.arctan2.reduce(a, axis),
}


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("axis", [0, 1])
def test_scans_against_differences(name, axis, device):
    assert gradcheck(lambda a: SCANS[name](a, axis=axis), bc.array(MATRIX))


@pytest.mark.parametrize(
    "shapes",
    [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (3, 2)), ((2, 1, 2, 3), (4, 3, 1)), ((1, 1), (1, 1))],
)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_matrix_products(shapes, dtype, device):
    rng = np.random.default_rng(1)
    operands = [rng.normal(size=s) + (1j * rng.normal(size=s) if dtype == "complex128" else 0) for s in shapes]
    assert gradcheck(bc.matmul, [bc.array(o) for o in operands])


def test_products_of_other_names(device):
    rng = np.random.default_rng(2)
    a, b, v = (bc.array(rng.normal(size=s)) for s in ((2, 3), (3, 4), (3,)))
    assert gradcheck(bc.dot, [a, b])
    assert gradcheck(bc.inner, [a, v])
    assert gradcheck(bc.outer, [v, v + 1])
    assert gradcheck(lambda a, b: bc.tensordot(a, b, 1), [a, b])
    assert gradcheck(lambda a, b: bc.einsum("ij,jk->ki", a, b), [a, b])
    assert gradcheck(lambda a: bc.einsum("ij->i", a), a)
    assert gradcheck(bc.kron, [a, b])
    assert gradcheck(lambda a: bc.trace(a), a)
    assert gradcheck(lambda a: a @ a.T, a)


# ---- Views, gathers, joins ---------------------------------------------------------------------------------------------------------------

VIEWS = {
    "reshape": lambda a: a.reshape(3, 2),
    "reshape of T": lambda a: a.T.reshape(6),
    "ravel": lambda a: a.T.ravel(),
    "T": lambda a: a.T,
    "moveaxis": lambda a: bc.moveaxis(a[None], 0, 2),
    "slice": lambda a: a[:, 1:],
    "reversed": lambda a: a[::-1, ::-2],
    "element": lambda a: a[1, 2],
    "row": lambda a: a[-1],
    "newaxis": lambda a: a[:, None],
    "broadcast": lambda a: bc.broadcast_to(a, (4, 2, 3)),
    "diagonal": lambda a: a.diagonal(),
    "flip": lambda a: bc.flip(a, 1),
    "rot90": lambda a: bc.rot90(a),
    "windows": lambda a: bc.lib.stride_tricks.sliding_window_view(a, 2, axis=1),
    "split": lambda a: bc.split(a, 3, axis=1)[1],
    "squeeze": lambda a: bc.squeeze(a[:, :1], 1),
    "take": lambda a: bc.take(a, bc.array([2, 0, 2]), axis=1),
    "index": lambda a: a[bc.array([1, 0, 1])],
    "two indices": lambda a: a[bc.array([1, 0, 1]), bc.array([-1, 0, -1])],
    "index of a view": lambda a: a.T[bc.array([2, 2])],
    "mixed": lambda a: a[:, bc.array([[0, 1], [2, 0]])],
    "mask": lambda a: a[a.detach() > 0],
    "mask of rows": lambda a: a[bc.array([False, True])],
    "take_along_axis": lambda a: bc.take_along_axis(a, bc.array([[0, 0], [2, 1]]), 1),
    "compress": lambda a: bc.compress(bc.array([True, False, True]), a, axis=1),
    "concatenate": lambda a: bc.concatenate([a, 2 * a, a[:1]]),
    "stack": lambda a: bc.stack([a, a * a], axis=1),
    "tile": lambda a: bc.tile(a, (2, 2)),
    "repeat": lambda a: bc.repeat(a, 2, axis=1),
    "roll": lambda a: bc.roll(a, 1, axis=1),
    "pad": lambda a: bc.pad(a, 1),
    "pad edge": lambda a: bc.pad(a, 1, mode="edge"),
    "diff": lambda a: bc.diff(a, axis=1),
    "tril": lambda a: bc.tril(a),
    "diag": lambda a: bc.diag(a[0]),
    "sort": lambda a: bc.sort(a, axis=1),
    "sort axis 0": lambda a: bc.sort(a, axis=0),
    "partition": lambda a: bc.partition(a, 1, axis=1),
    "median": lambda a: bc.median(a, axis=1),
    "quantile": lambda a: bc.quantile(a, 0.3, axis=1),
    "astype": lambda a: a.astype("complex128"),
    "copy": lambda a: a.T.copy(),
    "where": lambda a: bc.where(bc.array([True, False, True]), a, -a),
    "trapezoid": lambda a: bc.trapezoid(a, axis=1),
    "cross": lambda a: bc.cross(a[0], a[1]),
    "interp": lambda a: bc.interp(bc.array([0.5, 1.5]), bc.array([0.0, 1.0, 2.0]), a[0]),
    "meshgrid": lambda a: bc.meshgrid(a[0], a[1])[1],
    "nan_to_num": lambda a: bc.nan_to_num(a),
    "average": lambda a: bc.average(a, axis=1, weights=bc.array([1.0, 2.0, 3.0])),
    "cov": lambda a: bc.cov(a),
    "polyval": lambda a: bc.polyval(a[0], a[1]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_and_selections_against_differences(name, device):
    assert gradcheck(lambda a: VIEWS[name](a) * 2, bc.array(MATRIX))
    # The gradient of a sum is one number, broadcast.
    assert gradcheck(lambda a: VIEWS[name](a).sum(), bc.array(MATRIX))
    # Through an op on either side, so that the view reads what is not a leaf.
    assert gradcheck(lambda a: VIEWS[name](a * a) ** 2, bc.array(MATRIX))


def test_parts_of_complex_numbers_are_views(device):
    z = bc.array([1 + 2j, -0.5 + 0.3j])
    assert gradcheck(lambda z: z.real * z.imag, z)
    assert gradcheck(lambda z: (z * z).imag[::-1], z)
    assert gradcheck(lambda z: z[1:].real, z)


def written(write, end=lambda y: y * y):
    """A function that writes into what it computes, for gradcheck."""

    def f(x, *rest):
        y = x * 1
        write(y, *rest)
        return end(y)

    return f


WRITES = {
    "all": lambda y, v: y.__setitem__(Ellipsis, v[0] * 2),
    "slice": lambda y, v: y.__setitem__((slice(None), slice(1, None)), v[:, :2]),
    "broadcast": lambda y, v: y.__setitem__(slice(None), v[0]),
    "number": lambda y, v: y.__setitem__(0, 3.0),
    "element": lambda y, v: y.__setitem__((1, 2), v[0, 0]),
    "transposed": lambda y, v: y.T.__setitem__(slice(1, 3), v.T[:2]),
    "shifted": lambda y, v: y.__setitem__((slice(None), slice(1, None)), y[:, :-1]),
    "in place": lambda y, v: y.__imul__(v),
    "in place of a view": lambda y, v: y[:, ::2].__iadd__(v[:, :2]),
    "index": lambda y, v: y.__setitem__((slice(None), bc.array([0, 2])), v[:, :2]),
    "index twice": lambda y, v: y.__setitem__((bc.array([0, 0, 1]), bc.array([1, 1, 0])), v[0]),
    "mask": lambda y, v: y.__setitem__(bc.array([[True, False, True], [False, True, False]]), 0.5),
    "mask of values": lambda y, v: y.__setitem__(bc.array([[True, False, True], [False, True, False]]), v[0]),
    "out": lambda y, v: bc.multiply(y, v, out=y),
    "out of a view": lambda y, v: bc.sin(v[0], out=y[1]),
    "where": lambda y, v: bc.add(y, v, out=y, where=bc.array([True, False, True])),
    "add.at": lambda y, v: bc.add.at(y, (bc.array([0, 0, 1]), bc.array([1, 1, 0])), v[1]),
    "subtract.at": lambda y, v: bc.subtract.at(y, bc.array([1, 1]), v[0]),
    "put": lambda y, v: bc.put(y, bc.array([0, 4]), v[0, :2]),
    "put_along_axis": lambda y, v: bc.put_along_axis(y, bc.array([[1], [2]]), v[:, :1], 1),
    "copyto": lambda y, v: bc.copyto(y, v),
    "fill": lambda y, v: y.fill(2.0),
    "fill_diagonal": lambda y, v: bc.fill_diagonal(y, v[0, 0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_in_place_against_differences(name, device):
    rng = np.random.default_rng(3)
    operands = [bc.array(MATRIX), bc.array(rng.normal(size=(2, 3)))]
    assert gradcheck(written(WRITES[name]), operands)
    # The gradient of a sum is one number, broadcast.
    assert gradcheck(written(WRITES[name], lambda y: y.sum()), operands)


def test_writes_to_parts_of_complex_numbers(device):
    def f(z, x):
        y = z * 1
        y.real = x
        y.imag[1] = x[0]
        return y * y

    assert gradcheck(f, [bc.array([1 + 2j, 3 - 1j]), bc.array([0.5, -2.0])])


def test_a_write_to_an_array_without_derivatives_starts_to_follow_it(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    y = bc.zeros(3)
    y[1:] = x * x
    assert y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_values_that_were_saved_do_not_change_with_the_array(device):
    """Values are immutable inside: a write makes a new one, and the gradient is taken where the op was computed."""
    x = bc.array([1.0, 2.0]).requires_grad_()
    w = bc.array([3.0, 4.0])
    y = x * 2
    z = y * y * w
    y += 100
    w[...] = -1
    z.sum().backward()
    assert x.grad.tolist() == [24.0, 64.0]


def test_memory_that_others_write_is_copied_when_it_is_saved(device):
    if device != "cpu":
        pytest.skip("NumPy shares host memory only")
    host = np.array([3.0, 4.0])
    w = bc.asarray(host, copy=False)
    x = bc.array([1.0, 2.0]).requires_grad_()
    y = x * w
    host[:] = 0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


# ---- Leaves, modes, the graph ------------------------------------------------------------------------------------------------------------


def test_scalar_autograd(device):
    x = bc.array(3.0, dtype="float64")
    x.requires_grad = True
    y = x**2 + 2 * x + 1
    y.backward()
    assert y.item() == 16.0 and x.grad.item() == 8.0


def test_attributes_tell_what_an_array_is(device):
    x = bc.array([1.0, 2.0])
    assert not x.requires_grad and x.is_leaf and x.grad is None and x.grad_fn is None
    assert x.requires_grad_() is x and x.requires_grad and x.is_leaf and x.grad_fn is None
    y = bc.exp(x)
    assert y.requires_grad and not y.is_leaf and y.grad_fn.name() == "exp" and repr(y.grad_fn) == "<GradFunction exp>"
    assert y.grad_fn.next_functions[0][0].name() == "AccumulateGrad"
    assert not (y > 1).requires_grad and not bc.argmax(y).requires_grad and not y.astype("int64").requires_grad
    x.requires_grad = False
    assert not x.requires_grad
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="floating or complex"):
        bc.array([1, 2]).requires_grad_()
    with pytest.raises(AttributeError):
        y.is_leaf = True


def test_gradients_add_up_until_they_are_cleared(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0] and first.tolist() == [4.0, 8.0]
    x.grad = None
    assert x.grad is None
    x.grad = bc.array([10.0, 10.0])
    x.sum().backward()
    assert x.grad.tolist() == [11.0, 11.0]
    with pytest.raises(ValueError, match="shape"):
        x.grad = bc.zeros(3)
    with pytest.raises(TypeError):
        x.grad = 3


def test_two_leaves_do_not_share_the_memory_of_their_gradients(device):
    x, y = bc.array([1.0]).requires_grad_(), bc.array([2.0]).requires_grad_()
    (x + y).sum().backward()
    x.grad[...] = 7
    assert y.grad.tolist() == [1.0]


def test_backward_needs_what_it_needs(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    with pytest.raises(RuntimeError, match=r"shape \(2,\)"):
        (x * x).backward()
    with pytest.raises(ValueError, match="shape"):
        (x * x).backward(bc.ones(3))
    with pytest.raises(RuntimeError, match="does not require grad"):
        bc.ones(()).backward()
    (x * x).backward(bc.array([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]


def test_a_second_run_needs_retain_graph(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    y = bc.exp(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert np.allclose(x.grad.detach().numpy(), 2 * np.exp([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="retain_graph"):
        y.backward()


def test_leaves_are_not_written_in_grad_mode(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    for write in (lambda: x.__setitem__(0, 5.0), lambda: x.__iadd__(1), lambda: x[1:].fill(0), lambda: bc.add.at(x, [0], 1.0)):
        with pytest.raises(RuntimeError, match="leaf"):
            write()
    assert x.tolist() == [1.0, 2.0]
    with autograd.no_grad():
        x[0] = 5.0
        x -= 1
    assert x.tolist() == [4.0, 1.0] and x.requires_grad and x.is_leaf


def test_no_grad_records_nothing(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    with autograd.no_grad():
        assert not autograd.is_grad_enabled()
        y, view, copied = x * x, x[1:], x.copy()
        with autograd.enable_grad():
            assert (x * x).requires_grad
    assert autograd.is_grad_enabled()
    assert not y.requires_grad and not view.requires_grad and not copied.requires_grad

    @autograd.no_grad()
    def f(x):
        return x * x

    assert not f(x).requires_grad
    # A view from no_grad is a constant beside the array itself.
    ((x[:1] - view) ** 2).sum().backward()
    assert x.grad.tolist() == [-2.0, 0.0]


def test_set_grad_enabled_works_both_ways():
    autograd.set_grad_enabled(False)
    assert not autograd.is_grad_enabled()
    autograd.set_grad_enabled(True)
    with autograd.set_grad_enabled(False):
        assert not autograd.is_grad_enabled()
    assert autograd.is_grad_enabled()


def test_detach_is_a_view_that_is_a_constant(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    d = x.detach()
    assert not d.requires_grad and d.base is x and not d[1:].requires_grad and not d.T.requires_grad
    d[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    (x * d).sum().backward()
    assert x.grad.tolist() == [5.0, 2.0]
    with pytest.raises(RuntimeError, match="detached"):
        d[0] = x[1]
    fresh = x.detach().requires_grad_()
    assert fresh.is_leaf and fresh.grad is None
    (fresh * 3).sum().backward()
    assert fresh.grad.tolist() == [3.0, 3.0] and x.grad.tolist() == [5.0, 2.0]
    plain = bc.ones(2)
    assert np.shares_memory(plain.detach().numpy(), plain.numpy()) or plain.detach().base is plain


def test_views_of_a_leaf_follow_it(device):
    x = bc.arange(6.0).reshape(2, 3).requires_grad_()
    v = x[:, 1:].T
    assert v.requires_grad and v.grad is None
    (v * v).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [0.0, 8.0, 10.0]]


def test_a_leaf_may_lie_in_any_order(device):
    x = bc.array(np.asfortranarray(MATRIX)).requires_grad_()
    (x * bc.array(MATRIX)).sum().backward()
    assert x.grad.shape == x.shape and np.array_equal(x.grad.numpy(), MATRIX)


def test_kept_gradients_and_hooks(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    y = x * x
    y.retain_grad()
    seen = []
    first = y.register_hook(lambda g: seen.append(g.tolist()))
    second = x.register_hook(lambda g: g * 10)
    (3 * y).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0] and seen == [[3.0, 3.0]] and x.grad.tolist() == [60.0, 120.0]
    first.remove()
    second.remove()
    x.grad = None
    y = x * x
    y.sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="requires grad"):
        bc.ones(2).register_hook(print)
    with pytest.raises(TypeError):
        x.register_hook(3)


def test_an_error_in_a_hook_reaches_the_caller(device):
    x = bc.array([1.0]).requires_grad_()
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()
    x2 = bc.array([1.0]).requires_grad_()
    x2.register_hook(lambda g: bc.ones(3))
    with pytest.raises(ValueError, match="shape"):
        (x2 * 2).sum().backward()


def test_values_do_not_leave_without_a_word(device):
    x = bc.array([1.0, 2.0]).requires_grad_()
    for leave in (lambda: np.asarray(x), x.numpy, lambda: bc.asnumpy(x), x.__dlpack__, x.get):
        with pytest.raises(RuntimeError, match="detach"):
            leave()
    kernel = bc.ElementwiseKernel("float64 a", "float64 b", "b = 2 * a", "twice")
    with pytest.raises(NotImplementedError, match=r"twice.*detach"):
        kernel(x)
    with pytest.raises(NotImplementedError, match=r"multiply\.at|multiply"):
        bc.multiply.at(x * 1, [0], 2.0)
    with pytest.raises(NotImplementedError, match=r"logaddexp\.at"):
        bc.logaddexp.at(x * 1, [0], 2.0)
    assert x.tolist() == [1.0, 2.0] and float(x[0]) == 1.0 and "1." in repr(x)
    assert np.asarray(x.detach()).tolist() == [1.0, 2.0] and kernel(x.detach()).tolist() == [2.0, 4.0]
    with autograd.no_grad():
        assert np.asarray(x).tolist() == [1.0, 2.0] and kernel(x).tolist() == [2.0, 4.0]


def test_every_way_out_is_closed_or_followed(device, tmp_path):
    x = bc.array([1.0, 2.0, 3.0]).requires_grad_()
    with pytest.raises(RuntimeError, match=r"resize.*detach"):
        x.resize(5)
    with pytest.raises(RuntimeError, match=r"int64.*no_grad"):
        (x * 1).view("int64")[0] = 0
    if device == "cpu":
        with pytest.raises(RuntimeError, match="detach"):
            memoryview(x)
        with pytest.raises(RuntimeError, match="detach"):
            bc.njit(lambda a: a * 2)(x)
    # What is written to a file or printed says nothing of derivatives.
    bc.save(tmp_path / "x.npy", x)
    assert bc.load(tmp_path / "x.npy").tolist() == x.tolist() == [1.0, 2.0, 3.0]
    # Sequences of arrays, and the functions of NumPy and Python, are followed.
    for y in (bc.array([x[0], x[1]]), bc.full(3, x[0]), sum(x), np.sin(x), np.ones(3) * x, bc.linspace(x[0], x[1], 3), x.flat[1]):
        assert y.requires_grad
    assert all(y.requires_grad for y in x)


def test_sorting_in_place(device):
    x = bc.array([3.0, 1.0, 2.0]).requires_grad_()
    y = x * 1
    y.sort()
    (y * bc.array([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [100.0, 1.0, 10.0]


def test_rounding_has_gradient_zero(device):
    x = bc.array([1.3, 2.7]).requires_grad_()
    (bc.floor(x) + bc.sign(x)).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_long_chains(device):
    x = bc.array(1.0).requires_grad_()
    y = x
    for _ in range(20000):
        y = y + x
    y.backward()
    assert x.grad.item() == 20001.0
    z = x * 1
    for _ in range(20000):
        z = z * 1.0
    del z  # the destruction of a chain does not recurse


def test_empty_arrays(device):
    x = bc.zeros((0, 3)).requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)


# ---- grad of arrays, higher order --------------------------------------------------------------------------------------------------------


def test_grad_of_arrays(device):
    x, w = bc.array([1.0, 2.0]).requires_grad_(), bc.array([3.0, 4.0]).requires_grad_()
    y = x * x
    z = (y * w).sum()
    dy, dw = autograd.grad(z, [y, w], retain_graph=True)
    assert dy.tolist() == [3.0, 4.0] and dw.tolist() == [1.0, 4.0] and x.grad is None
    (dx,) = autograd.grad([z], [x], [bc.array(2.0)])
    assert dx.tolist() == [12.0, 32.0]
    other = bc.ones(2).requires_grad_()
    with pytest.raises(RuntimeError, match="allow_unused"):
        autograd.grad((x * x).sum(), other)
    assert autograd.grad((x * x).sum(), [x, other], allow_unused=True)[1] is None
    with pytest.raises(RuntimeError, match="require grad"):
        autograd.grad((x * x).sum(), bc.ones(2))
    x.grad = None
    (x * w).sum().backward(inputs=[x])
    assert x.grad.tolist() == [3.0, 4.0] and w.grad is None


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_of_any_order(order, device):
    x = bc.array([0.3, 1.1, -0.7]).requires_grad_()
    y = bc.sin(x) * bc.exp(x)
    for _ in range(order):
        (y,) = autograd.grad(y.sum(), x, create_graph=True)
    # (sin x e^x)' is sqrt(2) e^x sin(x + pi/4), and so on.
    at = x.detach().numpy()
    assert np.allclose(y.detach().numpy(), 2 ** (order / 2) * np.exp(at) * np.sin(at + order * np.pi / 4), rtol=1e-13)


SECOND = {
    "tanh": lambda x: bc.tanh(x).sum(),
    "power": lambda x: (x**3).sum(),
    "prod": lambda x: x.prod(),
    "std": lambda x: x.std(),
    "max": lambda x: (x.max() * x).sum(),
    "matmul": lambda x: ((x @ x.T) ** 2).sum(),
    "slices": lambda x: ((x[:, 1:] - x[:, :-1]) ** 3).sum(),
    "index": lambda x: (x[bc.array([0, 1, 1])] ** 3).sum(),
    "store": lambda x: written(WRITES["slice"])(x, x * x).sum(),
    "scatter": lambda x: written(WRITES["index twice"])(x, x * x).sum(),
    "sort": lambda x: (bc.sort(x) ** 3).sum(),
    "cumsum": lambda x: (bc.cumsum(x, 0) ** 3).sum(),
    "cumprod": lambda x: (bc.cumprod(x, 1) ** 2).sum(),
    "concatenate": lambda x: (bc.concatenate([x, x * x]) ** 2).sum(),
    "logaddexp": lambda x: bc.logaddexp.reduce(x, axis=None),
    "norm": lambda x: bc.linalg.norm(x),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_against_differences(name, device):
    assert gradcheck(autograd.grad(SECOND[name]), bc.array(MATRIX))


def test_create_graph_leaves_gradients_that_can_be_differentiated(device):
    x = bc.array(2.0).requires_grad_()
    (x**3).backward(create_graph=True)
    g = x.grad
    assert g.item() == 12.0
    x.grad = None
    g.backward()
    assert x.grad.item() == 12.0


# ---- Functions of functions --------------------------------------------------------------------------------------------------------------


def test_value_and_grad(device):
    def f(x, y, scale=1.0):
        return (x * y).sum() * scale

    x, y = bc.array([1.0, 2.0]), bc.array([3.0, 4.0])
    value, (dx, dy) = autograd.value_and_grad(f, (0, 1))(x, y, scale=2.0)
    assert value.item() == 22.0 and dx.tolist() == [6.0, 8.0] and dy.tolist() == [2.0, 4.0]
    assert not value.requires_grad and not dx.requires_grad and not x.requires_grad
    assert autograd.grad(f, -1)(x, y).tolist() == [1.0, 2.0]
    (value, aux), gradient = autograd.value_and_grad(lambda x: ((x * x).sum(), "rest"), has_aux=True)(x)
    assert aux == "rest" and value.item() == 5.0 and gradient.tolist() == [2.0, 4.0]
    assert autograd.grad(lambda x: ((x * x).sum(), "rest"), has_aux=True)(x)[1] == "rest"
    assert autograd.grad(lambda x: bc.array(1.0))(x).tolist() == [0.0, 0.0]
    with pytest.raises(TypeError, match=r"shape \(2,\)"):
        autograd.grad(lambda x: x)(x)
    with pytest.raises(TypeError, match="int64"):
        autograd.grad(lambda x: x.sum())(bc.arange(3))
    with pytest.raises(ValueError, match="argnums"):
        autograd.grad(f, 5)(x, y)
    with autograd.no_grad():
        assert autograd.grad(f)(x, y).tolist() == [3.0, 4.0]


def test_grad_of_grad_and_of_followed_arguments(device):
    cube = lambda x: x**3  # noqa: E731
    assert autograd.grad(autograd.grad(cube))(bc.array(2.0)).item() == 12.0
    x = bc.array(2.0).requires_grad_()
    autograd.grad(cube)(x).backward()
    assert x.grad.item() == 12.0


def test_vjp_and_jvp_agree(device):
    rng = np.random.default_rng(4)
    f = lambda x, y: (bc.sin(x) @ y, bc.exp(y).sum(axis=0) * x[0])  # noqa: E731
    x, y = (bc.array(rng.normal(size=(3, 3))) for _ in range(2))
    u, v = (bc.array(rng.normal(size=(3, 3))) for _ in range(2))
    value, (t0, t1) = autograd.jvp(f, (x, y), (u, v))
    again, pull = autograd.vjp(f, x, y)
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(value, again, strict=True))
    c0, c1 = bc.array(rng.normal(size=t0.shape)), bc.array(rng.normal(size=t1.shape))
    for _ in range(2):
        gx, gy = pull((c0, c1))
        left = (c0 * t0).sum() + (c1 * t1).sum()
        right = (gx * u).sum() + (gy * v).sum()
        assert np.isclose(left.item(), right.item(), rtol=1e-12)
    h = 1e-6
    moved = [a.numpy() for a in f(x + h * u, y + h * v)], [a.numpy() for a in f(x - h * u, y - h * v)]
    for t, up, down in zip((t0, t1), *moved, strict=True):
        assert np.allclose(t.numpy(), (up - down) / (2 * h), rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="tangents"):
        autograd.jvp(f, (x, y), (u,))


def test_jacobian_and_hessian(device):
    a = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x = bc.array([0.5, -1.0, 2.0])
    assert np.array_equal(autograd.jacobian(lambda x: bc.array(a) @ x)(x).numpy(), a)
    square = autograd.jacobian(lambda x, y: x[:, None] * y, (0, 1))(x, bc.array([2.0, 3.0]))
    assert [j.shape for j in square] == [(3, 2, 3), (3, 2, 2)]
    assert np.array_equal(square[0].numpy()[1], [[0, 2, 0], [0, 3, 0]])
    h = autograd.hessian(lambda x: (x**3).sum() + x[0] * x[1])(x)
    assert np.allclose(h.numpy(), np.diag(6 * x.numpy()) + [[0, 1, 0], [1, 0, 0], [0, 0, 0]])


def test_jacobians_of_what_and_for_what(device):
    x = bc.array([0.5, -1.0, 2.0])
    assert autograd.jacobian(lambda x: x[:0])(x).shape == (0, 3)
    assert autograd.jacobian(lambda x: x.sum())(x).tolist() == [1.0, 1.0, 1.0]
    assert np.array_equal(autograd.jacobian(lambda x: bc.ones(2))(x).get(), np.zeros((2, 3)))
    # Functions of the user's take one gradient at a time.
    twice = autograd.custom_vjp(lambda x: x * x, lambda g, y, x: g * 2 * x)
    assert np.array_equal(autograd.jacobian(twice)(x).get(), np.diag([1.0, -2.0, 4.0]))
    # The Jacobian of an array that is followed is followed.
    x.requires_grad = True
    autograd.jacobian(lambda x: x**3)(x).sum().backward()
    assert x.grad.tolist() == [3.0, -6.0, 12.0]
    z = bc.array([1 + 2j, 0.5 - 1j])
    assert np.allclose(autograd.jacobian(lambda z: z * z)(z).get(), np.diag(np.conj(2 * z.get())))


# ---- vmap --------------------------------------------------------------------------------------------------------------------------------

EXAMPLES = np.random.default_rng(5).normal(size=(4, 2, 3))
OTHER = np.random.default_rng(6).normal(size=(3, 3))
MAPPED = {
    **VIEWS,
    **{f"reduce {name}": (lambda a, f=f: f(a, axis=1)) for name, f in REDUCTIONS.items()},
    **{f"scan {name}": (lambda a, f=f: f(a, axis=1)) for name, f in SCANS.items()},
    **{f"write {name}": (lambda a, w=w: written(w)(a, a[::-1] * 2)) for name, w in WRITES.items()},
    "expression": lambda a: bc.where(a > 0, a**2, -a) + bc.arange(3),
    "closed over": lambda a: a @ bc.array(OTHER) + 1,
    "closed over, left": lambda a: bc.array(OTHER) @ a.T,
    "argmax": lambda a: bc.argmax(a, axis=1) + bc.argsort(a, axis=1)[:, 0],
    "index by values": lambda a: a[:, bc.argmin(a[0])],
    "index of a constant": lambda a: bc.array(OTHER)[bc.argmax(a, axis=1)],
    "integers": lambda a: a.astype("int64") // 2,
    "constant": lambda a: bc.ones(2),
    "itself": lambda a: a,
    "without grad mode": autograd.no_grad()(lambda a: a.T * 2),
    "detached": lambda a: a * a.detach()[:, :1],
    "parts": lambda a: (a * (1 + 2j)).imag + (a * 1j).real,
    "masked": lambda a: a.sum(axis=1, where=a > 0),
    "mixed lengths": lambda a: a[0] * a[:, :1] + a[1, 2],
    "gradient": autograd.grad(lambda a: (bc.sin(a) * a[0]).sum()),
    "second derivatives": autograd.hessian(lambda a: (bc.sin(a) * a[0]).sum()),
    "directional": lambda a: autograd.jvp(lambda x: x[0] * bc.exp(x), (a,), (a + 1,))[1],
    "twice": lambda a: autograd.vmap(lambda row: row * row.sum() + a[0, 0])(a),
    "twice, other axis": lambda a: autograd.vmap(lambda column: bc.cumsum(column), 1, 1)(a),
}
# What has another shape or place for each example.
NOT_MAPPED = {"mask", "interp", "quantile", "median"}


@pytest.mark.parametrize("name", [n for n in MAPPED if n not in NOT_MAPPED])
def test_vmap_gives_what_a_loop_gives(name, device):
    f = MAPPED[name]
    x = bc.array(EXAMPLES)
    want = np.stack([f(bc.array(e)).get() for e in EXAMPLES])
    got = autograd.vmap(f)(x)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["sin", "slices", "matmul", "store", "cumprod", "sort"])
def test_derivatives_of_vmap(name, device):
    f = {**SECOND, "sin": lambda x: bc.sin(x).sum()}[name]
    if name == "store":
        f = lambda x: written(WRITES["slice"])(x, x * x).sum()  # noqa: E731
    assert gradcheck(lambda x: autograd.vmap(f)(x) ** 2, bc.array(EXAMPLES))
    assert gradcheck(autograd.grad(lambda x: autograd.vmap(autograd.grad(f))(x).sum()), bc.array(EXAMPLES))


def test_gradients_of_each_example_for_shared_parameters(device):
    w = bc.array(OTHER).requires_grad_()
    x = bc.array(EXAMPLES[:, 0])
    loss = lambda w, x: (bc.tanh(x @ w) ** 2).sum()  # noqa: E731
    each = autograd.vmap(autograd.grad(loss), (None, 0))(w.detach(), x)
    want = np.stack([autograd.grad(loss)(w.detach(), row).get() for row in x])
    np.testing.assert_allclose(each.get(), want, rtol=1e-12)
    autograd.vmap(lambda x: loss(w, x))(x).sum().backward()
    np.testing.assert_allclose(w.grad.get(), want.sum(0), rtol=1e-12)


def test_axes_of_vmap(device):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    got = autograd.vmap(lambda x, y: (x.sum() * y, x), (1, 0), (1, 0))(bc.array(a), bc.array(b))
    assert np.array_equal(got[0].get(), (a.sum(0)[:, None] * b).T) and np.array_equal(got[1].get(), a.T)
    assert np.array_equal(autograd.vmap(lambda x, n, scale=1.0: x * n * scale, (0, None))(bc.array(a), 2, scale=3.0).get(), a * 6)
    for wrong, match in [((0,), "arguments"), ((None, None), "examples"), ((0, 0), "examples")]:
        with pytest.raises(ValueError, match=match):
            autograd.vmap(lambda x, y: x, wrong)(bc.array(a), bc.array(b))
    with pytest.raises(ValueError, match="at least one"):
        autograd.vmap(lambda x: x)(bc.ones((0, 2)))
    with pytest.raises(TypeError, match="arrays"):
        autograd.vmap(lambda x: 3)(bc.array(a))


def test_vmap_says_what_it_cannot_follow(device):
    x = bc.array(EXAMPLES)
    kernel = bc.ElementwiseKernel("float64 a", "float64 b", "b = 2 * a", "twice")
    assert np.array_equal(autograd.vmap(kernel)(x).get(), 2 * EXAMPLES)
    for f in (
        lambda a: a if a[0, 0] > 0 else -a,
        lambda a: a * float(a.sum()),
        lambda a: a[a > 0],
        lambda a: bc.array(a.tolist()),
        lambda a: bc.array(np.asarray(a)),
        lambda a: bc.nonzero(a)[0],
    ):
        with pytest.raises(RuntimeError, match="vmap"):
            autograd.vmap(f)(x)
    # What is not an example's may be looked at, and nothing stays of a trace that ended in an error.
    assert autograd.vmap(lambda a: a * float(bc.ones(3).sum()))(x).shape == x.shape
    assert float(x.sum()) == pytest.approx(EXAMPLES.sum())


# ---- Functions of the user's -------------------------------------------------------------------------------------------------------------


class Scaled(autograd.Function):
    """x * y ** 2 and x + y, with the backward of PyTorch's form."""

    @staticmethod
    def forward(ctx, x, y, note=None):
        ctx.note = note
        ctx.save_for_backward(x, y)
        return x * y**2, x + y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        gradients = g * y**2 + h, g * 2 * x * y + h
        return gradients if ctx.note is None else (*gradients, None)


def test_functions_of_the_users(device):
    x, y = bc.array([1.0, 2.0]), bc.array([3.0, -1.0])
    assert gradcheck(lambda x, y: Scaled.apply(x, y, "note"), [x, y])
    assert gradcheck(autograd.grad(lambda x, y: (Scaled.apply(x, y)[0] ** 2).sum()), [x, y])
    assert not Scaled.apply(x, y)[0].requires_grad
    x.requires_grad = True
    out = Scaled.apply(x, y)[0]
    assert out.grad_fn.name() == "Scaled"
    out.sum().backward()
    assert x.grad.tolist() == [9.0, 1.0]
    with pytest.raises(RuntimeError, match="retain_graph"):
        out.sum().backward()


def test_functions_save_their_results(device):
    class Exp(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert not autograd.is_grad_enabled()
            y = bc.asarray(np.exp(x.numpy()), device=x.device)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_arrays[0]

    assert gradcheck(Exp.apply, bc.array([0.5, 1.0]))
    assert gradcheck(autograd.grad(lambda x: Exp.apply(x).sum()), bc.array([0.5, 1.0]))


def test_functions_say_what_is_wrong(device):
    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x, kind):
            ctx.kind = kind
            return x if kind == "same" else (x * 2, x > 0) if kind == "constant" else x * 2

        @staticmethod
        def backward(ctx, g, *rest):
            return {"few": g, "shape": (bc.ones(5), None), "none": (None, None)}.get(ctx.kind, (g, None))

    x = bc.array([1.0, 2.0]).requires_grad_()
    with pytest.raises(TypeError, match="2 gradients"):
        Wrong.apply(x, "few").sum().backward()
    with pytest.raises(ValueError, match=r"\(5,\)"):
        Wrong.apply(x, "shape").sum().backward()
    Wrong.apply(x, "none").sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    same = Wrong.apply(x, "same")
    assert same is not x and not same.is_leaf
    y, positive = Wrong.apply(x, "constant")
    assert y.requires_grad and not positive.requires_grad
    with pytest.raises(NotImplementedError):
        autograd.Function.apply(x)


def test_kernels_and_ufuncs_of_ones_own_with_a_rule(device):
    kernel = bc.ElementwiseKernel("float64 x, float64 y", "float64 z", "z = x * y * y", "scaled")
    scaled = autograd.custom_vjp(kernel, lambda g, z, x, y: (g * y * y, g * 2 * x * y))
    x, y = bc.array([[0.5], [2.0]]), bc.array([1.0, -3.0, 0.7])
    assert gradcheck(scaled, [x, y])
    assert gradcheck(autograd.grad(lambda x, y: (scaled(x, y) ** 2).sum(), (0, 1)), [x, y])
    ufunc = bc.vectorize(["float64(float64)"])(lambda x: x * x + 1)
    assert gradcheck(autograd.custom_vjp(ufunc, lambda g, y, x: g * 2 * x), y)
    both = autograd.custom_vjp(lambda x, n: (x * n, bc.exp(x)), lambda g, y, x, n: (g[0] * n + g[1] * y[1], None))
    assert gradcheck(lambda x: both(x, 3), y)
    assert gradcheck(autograd.grad(lambda x: (both(x, 3)[1] ** 2).sum()), y)


# ---- Threads -----------------------------------------------------------------------------------------------------------------------------


def test_grad_mode_belongs_to_the_thread():
    seen = []
    with autograd.no_grad():
        thread = threading.Thread(target=lambda: seen.append(autograd.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_threads_differentiate_at_once(device):
    wrong = []

    def work(k):
        for _ in range(20):
            x = bc.array(np.linspace(0, 1, 50), device=device).requires_grad_()
            (bc.sin(x * k) ** 2).sum().backward()
            at = np.linspace(0, 1, 50) * k
            if not np.allclose(x.grad.detach().get(), 2 * k * np.sin(at) * np.cos(at)):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_gradcheck_finds_what_is_wrong():
    class Off(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, g):
            return g * 3.1

    x = bc.array([1.0, 2.0])
    assert not gradcheck(Off.apply, x, raise_exception=False)
    with pytest.raises(AssertionError, match="by differences"):
        gradcheck(Off.apply, x)
    with pytest.raises(ValueError, match="float64"):
        gradcheck(bc.sin, x.astype("float32"))


@pytest.mark.parametrize("x", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [4.0, 2.0, 3.0]])
def test_second_derivatives_of_products_with_zeros(x, device):
    n = len(x)
    others = [[np.prod([x[m] for m in range(n) if m not in (i, k)]) if i != k else 0.0 for k in range(n)] for i in range(n)]
    assert autograd.hessian(bc.prod)(bc.array(x, device=device)).get().tolist() == others
    # The last element of a cumulative product is the product.
    assert autograd.hessian(lambda a: bc.cumprod(a)[-1])(bc.array(x, device=device)).get().tolist() == others


def test_second_derivatives_where_a_form_has_none(device):
    """At 0, where a quotient is 0/0, and of functions whose derivatives are functions of other names."""
    from broadcloth.scipy import special

    x = bc.array([0.0, 1e-6, 0.0078, 0.0079, 0.5], device=device)
    exact = [-3.2898681336964529, -3.2898681336867119, -3.2892755179683406, -3.2892602258483507, -1.1902271282389357]
    found = autograd.hessian(lambda a: bc.sinc(a).sum())(x).get()
    np.testing.assert_allclose(np.diag(found), exact, rtol=1e-8)
    assert np.count_nonzero(found - np.diag(np.diag(found))) == 0
    second = autograd.grad(lambda a: autograd.grad(lambda b: special.digamma(b).sum())(a).sum())(bc.array([0.5, 1.5], device=device))
    np.testing.assert_allclose(second.get(), [-16.828796644234316, -0.8287966442343201], rtol=1e-13)


@pytest.mark.parametrize("order", [None, 2, 3, 1.5])
def test_a_norm_of_zeros_has_the_derivative_zero(order, device):
    a = bc.array([[0.0, 0.0], [3.0, 4.0]], device=device)
    gradient = autograd.grad(lambda x: bc.linalg.norm(x, order, axis=1).sum())(a).get()
    assert gradient[0].tolist() == [0, 0] and np.isfinite(gradient).all() and gradient[1].min() > 0
