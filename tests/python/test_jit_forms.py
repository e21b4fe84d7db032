"""Call forms of NumPy's functions in compiled functions: NumPy's value, an error, or a `TypingError`, and never another.

BROADCLOTH_FORMS=5000 sets how many forms run (400), BROADCLOTH_FORMS_SEED which. `python tests/call_forms.py` runs forms alone.
"""

from __future__ import annotations

import collections.abc
import numbers
import os

import numpy as np
import pytest

import broadcloth as bc
import call_forms
from broadcloth.exceptions import TypingError

COUNT = int(os.environ.get("BROADCLOTH_FORMS", "400"))
SEED = int(os.environ.get("BROADCLOTH_FORMS_SEED", "1"))


@pytest.mark.timeout(3600)
def test_call_forms_agree_with_numpy():
    wrong = call_forms.run(call_forms.sample(COUNT, SEED), 3000)
    assert not wrong, "\n".join(f"{e} of {', '.join(k)}: {words}" for e, k, words in wrong[:20])


# What was wrong once, each as the form that showed it.
ONCE_WRONG = [
    ("np.outer(x, y)", ("whole", "a1")),
    ("np.outer(x, y)", ("list", "list")),
    ("np.outer(x, y)", ("whole_list", "tuple")),
    ("np.transpose(x, (-1, 0, 1))", ("a3",)),
    ("1.0 in x", ("a0",)),
    ("2.5 in x", ("a0",)),
    ("np.array_equal(x, 2.5)", ("a0",)),
    ("np.array_equal(x, y)", ("a1", "i1")),
    ("np.nansum(x)", ("number",)),
    ("np.nansum(x)", ("a0",)),
    ("np.zeros_like(x)", ("a0",)),
    ("np.flip(x)", ("a0",)),
    ("np.expand_dims(x, 0)", ("a0",)),
    ("np.stack((x, y))", ("a0", "a0")),
    ("np.searchsorted(x, 2.5)", ("i1",)),
    ("np.round(x, 1)", ("c1",)),
    ("np.sort(x, axis=0)", ("a2",)),
    ("np.sort(x, axis=None)", ("a2",)),
    ("np.argsort(x, axis=0)", ("a2",)),
    ("np.round(x, -1)", ("i2",)),
    ("np.tile(x, 2)", ("a2",)),
    ("np.append(x, (1, 2))", ("a1",)),
    ("np.concatenate((x, x), axis=None)", ("a2",)),
    ("np.sum(x, axis=0, keepdims=True)", ("a2",)),
    ("sum(x)", ("a2",)),
    ("np.unique(np.array([np.nan, 1.0, np.nan]))[:x]", ("whole",)),
    ("np.max(x, axis=0)", ("empty2",)),
    ("np.dot(x, y)", ("number", "a1")),
    ("np.take(x, 0, axis=0)", ("empty2",)),
    ("np.equal(x, y)", ("i1", "i0")),
    ("np.less(x, y)", ("i1", "i1")),
    ("np.greater_equal(x, 2)", ("i2",)),
    ("np.bitwise_count(x * 300)", ("i1",)),
    ("np.take(x, 2, axis=0)", ("a2",)),
    ("np.take(x, 0, axis=0)", ("a0",)),
    ("np.take(x, -3, axis=0)", ("a2",)),
    ("np.take(x, -2, axis=0)", ("a2",)),
    ("np.take(x, (0, 3), axis=1)", ("a2",)),
    ("np.take(x, (0, -1), axis=1)", ("a2",)),
    ("np.take(x, np.array([0, 7]), axis=0)", ("i1",)),
    ("np.nan_to_num(x)", ("whole",)),
    ("np.nan_to_num(x)", ("number",)),
    ("np.nan_to_num(x)", ("b1",)),
    ("np.round(x)", ("i1",)),
    ("np.round(x)", ("whole",)),
    ("x.round(1)", ("a2",)),
    ("x.item()", ("one",)),
    ("x.item()", ("a1",)),
    ("x.item(4)", ("a2",)),
    ("x.item(-1)", ("a2",)),
    ("x.item(1, 2)", ("a2",)),
    ("x.item(7)", ("a1",)),
    ("x.tolist()", ("a3",)),
    ("x.tolist()", ("a0",)),
    ("np.swapaxes(x, 0, 1)", ("a1",)),
    ("np.moveaxis(x, 0, 2)", ("a1",)),
    ("np.rollaxis(x, 1)", ("a1",)),
    ("np.cumsum(x, 1)", ("a1",)),
    ("np.cumsum(x, axis=0)", ("number",)),
    ("np.size(x, axis=-1)", ("i0",)),
    ("np.column_stack((x, y))", ("a1", "i1")),
    ("np.column_stack((x, y))", ("i0", "whole")),
    ("np.column_stack((x, y))", ("a2", "i2")),
    ("np.dstack((x, y))", ("a3", "a3")),
    ("np.linalg.norm(x, 2)", ("a3",)),
    ("np.tile(x, (2, 1, 2))", ("a1",)),
    ("np.tile(x, (2, 1))", ("a3",)),
    ("np.tile(x, 2)", ("number",)),
    ("np.tril(x)", ("i1",)),
    ("np.triu(x, 1)", ("list",)),
    ("np.kron(x, y)", ("b1", "a2")),
    ("np.kron(x, y)", ("a3", "i2")),
    ("np.inner(x, y)", ("whole", "empty2")),
    ("np.intersect1d(x, y)", ("whole", "f4")),
    ("np.repeat(x, [2])", ("a1",)),
    ("np.repeat(x, 2, axis=0)", ("a2",)),
    ("np.repeat(x, (1, 2), 0)", ("a2",)),
    ("np.delete(x, 0, axis=1)", ("a2",)),
    ("np.roll(x, -1, 1)", ("a2",)),
    ("np.diff(x, axis=0)", ("a2",)),
    ("np.digitize(x, (3.0, 1.0, 2.0))", ("a1",)),
    ("np.ascontiguousarray(x)", ("whole",)),
    ("np.ascontiguousarray(x)", ("a0",)),
    ("np.nanmean(x, 0)", ("nan2",)),
    ("np.nanmean(x)", ("c1",)),
    ("np.asarray(x, None, 'C')", ("strided",)),
    ("np.asarray_chkfinite(x, None, 'C')", ("strided",)),
    ("np.nansum(x, axis=1)", ("nan2",)),
    ("np.nanmax(x, -1)", ("nan2",)),
    ("np.nanmin(x, 0)", ("nan1",)),
    ("np.nanstd(x, 0)", ("nan2",)),
    ("np.nanvar(x, 1, ddof=1)", ("nan2",)),
    ("np.nanmedian(x, 1)", ("nan2",)),
    ("np.nanprod(x, 0)", ("nan2",)),
    ("np.nanargmax(x, 1)", ("nan2",)),
    ("np.median(x, axis=0)", ("a2",)),
    ("np.ptp(x, 0)", ("a2",)),
    ("np.average(x, 1, (1.0, 2.0, 3.0))", ("a2",)),
    ("np.array_equal(x, y, equal_nan=True)", ("nan1", "nan1")),
    ("np.nan_to_num(x, copy=False)", ("nan1",)),
    ("np.nan_to_num(x, posinf=3.0)", ("inf4",)),
    ("np.correlate(x, y, 'full')", ("c1", "a1")),
    ("np.bincount(x, minlength=-1)", ("i1",)),
    ("np.histogram(x, 0)", ("a1",)),
    ("np.histogram(x)", ("nan1",)),
    ("2 ** x", ("below",)),
    ("x ** y", ("i1", "below")),
    ("~(x > 0)", ("z0",)),
    ("~(x > 0)", ("a1",)),
    ("x == y", ("whole_list", "strided")),
    ("x == y", ("list", "i0")),
    ("x.searchsorted(2.0, 'right')", ("sorted",)),
    ("np.delete(x, y)", ("a1", "mask")),
    ("np.unique(x)", ("nan1",)),
    ("np.rot90(x)", ("a3",)),
    ("np.clip(x, 5, 200)", ("u1",)),
    ("np.ravel(x, order='F')", ("a2",)),
    ("np.ravel(x, order='F')", ("T2",)),
    ("x.ravel('F')", ("a3",)),
    ("x.flatten('F')", ("a3",)),
    ("np.reshape(x, (3, -1), order='F')", ("a2",)),
    ("np.reshape(x, -1, 'F')", ("a3",)),
    ("x.copy('F').strides", ("a2",)),
    ("np.copy(x, order='F').strides", ("a3",)),
    ("np.zeros((2, 3), order='F').strides", ("a1",)),
    ("np.ones((2, 3), np.float32, 'F').strides", ("a1",)),
    ("np.full((2, 3), 1.5, order='F').strides", ("a1",)),
    ("np.empty((2, 3), np.int16, 'F').strides", ("a1",)),
    ("np.ravel(x, 'K')", ("T2",)),
    ("np.ravel(x, 'A')", ("F2",)),
    ("np.reshape(x, 6, 'A')", ("F2",)),
    ("x.reshape(3, 2, order='F')", ("a2",)),
    ("x.flatten(None)", ("S2",)),
    ("np.clip(x, a_min=1)", ("a1",)),
    ("np.clip(x, 1)", ("a1",)),
    ("np.clip(x)", ("a1",)),
    ("np.clip(x, min=1)", ("a1",)),
    ("np.flip(x, axis=(0, 0))", ("a2",)),
    ("np.vander(x, 3)", ("b1",)),
    ("np.vander(x)", ("a2",)),
    ("np.meshgrid(x)", ("a2",)),
    ("np.meshgrid(x, y)", ("a2", "i1")),
    ("np.meshgrid(x, y, indexing='bogus')", ("a1", "a1")),
    ("np.frombuffer(x)", ("strided",)),
    ("np.vsplit(x, 1)", ("a1",)),
    ("np.linalg.matrix_power(x, 0)", ("a2",)),
    ("np.linalg.cond(x)", ("empty2",)),
    ("np.add(x, x, x)", ("a1",)),
    ("np.multiply(x, y, out=x)", ("a1", "i0")),
    ("np.add(x, y, None)", ("a1", "list")),
    ("np.exp(x, where=True, casting='same_kind')", ("tuple",)),
    ("x.conj()", ("strided",)),
    ("np.real(x)", ("reversed",)),
    ("math.gcd(x, 6, 4)", ("whole",)),
    ("math.gcd()", ("whole",)),
    ("math.lcm(x, 4, 6)", ("whole",)),
    ("math.comb(x, 2)", ("u8s",)),
    ("math.isqrt(x)", ("number",)),
    ("math.factorial(x)", ("half",)),
    ("math.perm(x)", ("whole",)),
    ("math.remainder(x, 2)", ("number",)),
    ("math.prod([x, 2.0], start=3)", ("number",)),
    ("math.isclose(x, 2.4, rel_tol=-1.0)", ("number",)),
    ("isinstance(x, (int, float))", ("true",)),
    ("sum([x, 2], start=5)", ("whole",)),
    ("sum((x, 2), start=5)", ("whole",)),
    ("list(enumerate(x, start=2))", ("list",)),
    ("list(enumerate(iterable=x, start=2))", ("whole_list",)),
    ("round(number=x, ndigits=1)", ("number",)),
    ("round(x, None)", ("number",)),
    ("pow(base=x, exp=2)", ("whole",)),
    ("'a,b,c'.split(sep=',', maxsplit=1)", ("whole",)),
    ("'a b c'.split(maxsplit=1)", ("whole",)),
    ("'a b c'.rsplit()", ("whole",)),
    ("'abcabc'.find('b', 2)", ("whole",)),
    ("'abcabc'.startswith('b', None)", ("whole",)),
    ("np.random.hypergeometric(10, 5, 3, 50)", ("seed",)),
    ("np.random.hypergeometric(5, 10, 9, 50)", ("seed",)),
    ("np.random.hypergeometric(100, 50, 30, 50)", ("seed",)),
    ("np.random.hypergeometric(40, 70, 100, 50)", ("seed",)),
    ("np.random.noncentral_chisquare(2.0, 1.0, 20)", ("seed",)),
    ("np.random.triangular(0.0, 1.0, 2.0, 3)", ("seed",)),
    ("int('ff', base=16)", ("whole",)),
    ("x.sum((0, 1))", ("a3",)),
    ("np.sum(x, axis=(0, 2))", ("a3",)),
    ("np.max(x, (0, -1))", ("a3",)),
    ("x.std((1, 2))", ("a3",)),
    ("np.mean(x, axis=(0, 1))", ("F2",)),
    ("np.any(x, axis=(0, 0))", ("a2",)),
    ("np.cumsum(x, dtype=np.int32)", ("f4",)),
    ("np.cumsum(x, 0, np.float32)", ("a2",)),
    ("x.cumprod(dtype=np.float64)", ("i1",)),
    ("np.broadcast_arrays(x, 2.0)", ("u1",)),
    ("np.broadcast_arrays(x, y)", ("whole", "whole")),
    ("np.zeros(3, order=None)", ("a1",)),
    ("np.gradient(x)", ("f4",)),
    ("np.cov(x, None, True, False, 0)", ("empty",)),
    ("np.unwrap(x, axis=5)", ("a1",)),
    ("np.unwrap(x * 5)", ("a3",)),
    ("np.unwrap(x * 5, axis=0)", ("S2",)),
    ("np.frombuffer(x)", ("f4",)),
    ("x.cumprod(axis=(0,))", ("a2",)),
    ("np.repeat(x, 2, axis=(0,))", ("a2",)),
    ("np.fill_diagonal(x, 7)", ("a3",)),
    ("math.erfc(x)", ("true",)),
    ("kernel math.erfc(x)", ("true",)),
    ("kernel math.isqrt(x)", ("whole",)),
    ("kernel round(x, ndigits=1)", ("number",)),
    ("np.random.exponential(-1.0)", ("seed",)),
    ("np.random.logseries(1.5)", ("seed",)),
    ("np.random.zipf(0.5)", ("seed",)),
    ("np.random.geometric(0.0)", ("seed",)),
    ("np.random.normal(scale=-1.0)", ("seed",)),
    ("np.random.normal(0.0, x - 8)", ("seed",)),
    ("math.frexp(x)", ("a1",)),
    ("math.frexp(x)", ("a0",)),
    ("math.modf(x)", ("f4",)),
    ("math.modf(x)", ("tuple",)),
    ("math.log(x, 2)", ("a1",)),
    ("math.log(x, 2)", ("z",)),
    ("math.hypot(x, x, 1)", ("a1",)),
    ("math.hypot(x * 1e200, 1e200, 1)", ("number",)),
    ("math.isqrt(x)", ("i32s",)),
    ("math.isqrt(-4 * x)", ("whole",)),
    ("math.comb(x + 59, 31)", ("whole",)),
    ("x.view(np.int16)", ("u1",)),
    ("x.view(np.complex128)", ("a1",)),
    ("x.view(np.complex128)", ("a2",)),
    ("x.view(np.int64)", ("strided",)),
    ("x.view(np.float32)", ("reversed",)),
    ("x.view(np.float32)", ("S2",)),
    ("x[:, :2].view(np.complex128)", ("a2",)),
    ("x.view(np.complex128)", ("empty2",)),
    ("x.view(np.int64)", ("a0",)),
    ("x.view(np.int32)", ("a0",)),
    ("x.view(np.int32)", ("F2",)),
    ("str(x)", ("a1",)),
    ("str(x)", ("a0",)),
    ("str(x)", ("a3",)),
    ("str(x)", ("b1",)),
    ("repr(x * 2)", ("f4",)),
    ("repr(x)", ("empty2",)),
    ("str([x, x])", ("i1",)),
    ("str((x, 1))", ("c1",)),
    ("f'{x} and {x!r}'", ("i2",)),
    ("kernel np.clip(a=x)", ("number",)),
    ("kernel np.clip(x, 1, max=2)", ("number",)),
    ("kernel np.clip(x, 1)", ("number",)),
    ("kernel np.clip(x, out=None)", ("number",)),
    ("kernel np.clip(x, max=None)", ("true",)),
    ("np.clip(x, a_min=None, a_max=None)", ("b1",)),
    ("x.fill(x)", ("c1",)),
    ("np.bool_(x)", ("whole_list",)),
    ("np.float64(x)", ("tuple",)),
    ("np.rollaxis(x, 0, start=0.5)", ("strided",)),
    ("np.moveaxis(x, 0, 0.5)", ("a2",)),
    ("np.asfortranarray(x)", ("F2",)),
    ("np.asfortranarray(x)", ("reversed",)),
    ("np.asfortranarray(x)", ("T2",)),
    ("np.correlate(x, y, 'full')", ("b1", "b1")),
    ("np.extract(x, y)", ("a1", "i2")),
    ("np.extract(x, y)", ("true", "a1")),
    ("np.histogram(x, (0, 1, 2))", ("b1",)),
    ("np.histogram(x, np.array([2.0, 1.0, 0.0]))", ("a1",)),
    ("np.histogram(x, 7)", ("f4",)),
    ("np.linalg.matrix_rank(x)", ("empty2",)),
    ("np.linalg.norm(x, -1)", ("whole_list",)),
    ("np.linalg.norm(x, 3)", ("i1",)),
    ("np.polyval(x, x)", ("u1",)),
    ("np.polyval(x, 3)", ("u1",)),
    ("np.polyval(x, y)", ("i1", "f4")),
    ("np.tril_indices_from(x)", ("a3",)),
    ("np.triu_indices_from(x, k=5)", ("a3",)),
    ("np.tril_indices(-1)", ("a1",)),
    ("np.gradient(x)", ("u1",)),
    ("np.gradient(x, 2)", ("u1",)),
    ("np.interp(1.5, np.arange(3), x)", ("u1",)),
    ("np.interp(x, np.array([1, 9, 255], np.uint8), x)", ("u1",)),
    ("np.trim_zeros(x, 'x')", ("a1",)),
    ("np.trim_zeros(x, 'bf')", ("i1",)),
    ("np.ptp(x)", ("b1",)),
    ("np.std(x, dtype=int)", ("a1",)),
    ("np.mean(x, dtype=np.bool_)", ("empty",)),
    ("list(map(abs, x))", ("a3",)),
    ("[float(u) for u in x * 2.0]", ("a1",)),
    ("(x + 1.0)[1]", ("a1",)),
    ("+x", ("u1",)),
    ("x ** 2", ("b1",)),
    ("np.angle(x)", ("b1",)),
    ("x.argmin((0, 1))", ("S2",)),
    ("np.argmax(x, axis=(0,))", ("i1",)),
    ("x.any(None, None, False)", ("F2",)),
    ("x[[0, 1]]", ("a0",)),
    ("x[np.array([1, 0])]", ("i0",)),
    ("x[y]", ("empty2", "true")),
    ("x.clip(None, 2)", ("u1",)),
    ("np.arange()", ("a1",)),
    ("np.vander(x)", ("u1",)),
    ("np.vander(x)", ("f4",)),
    ("np.unwrap(x)", ("u1",)),
    ("np.linalg.svd(x)", ("empty2",)),
    ("np.linalg.lstsq(x, y, rcond=None)", ("empty2", "empty2")),
    ("hash(x)", ("z",)),
    ("np.ediff1d(x, None, 9.5)", ("i0",)),
    ("np.ediff1d(x, to_end=9)", ("u1",)),
    ("np.ediff1d(x, [8, 9], x)", ("a1",)),
    ("np.trapezoid(x)", ("u1",)),
    ("np.trapezoid(x)", ("a2",)),
    ("np.trapezoid(x, x)", ("f4",)),
    ("x.squeeze(1)", ("a0",)),
    ("x.reshape(shape=(3, 2))", ("F2",)),
    ("np.cov(x, ddof=0.5)", ("i1",)),
    ("'' > 'a' or 'a' < 'b'", ("a1",)),
    ("np.iinfo('i4').min", ("a1",)),
    ("np.finfo('f4').eps", ("a1",)),
    ("np.indices((2, 3))", ("a1",)),
    ("np.indices((4, 0, 2), np.float32)", ("a1",)),
    ("np.indices(())", ("a1",)),
    ("operator.iadd(x, [1.0])", ("list",)),
    ("operator.contains(x, 2.0)", ("a1",)),
    ("operator.setitem(x, 0, 2.0)", ("a1",)),
    ("operator.imul(x, 2.0)", ("a1",)),
    ("functools.reduce(lambda p, q: p * q, x, 2.0)", ("a1",)),
    ("functools.reduce(operator.add, x)", ("list",)),
    ("functools.reduce(max, x)", ("empty",)),
    ("[p * q for p, q in np.nditer((x, x[0]))]", ("a2",)),
    ("np.allclose(x, y)", ("c1", "c1")),
    ("np.isclose(x, y * (1 + 1e-9))", ("c1", "z")),
    ("np.isclose(x, y)", ("a1", "z")),
    ("np.isclose(x * complex(1, np.nan), x * complex(1, np.nan), equal_nan=True)", ("c1",)),
    ("np.isclose(x * complex(0, np.inf), x * complex(0, np.inf))", ("c1",)),
]


@pytest.fixture(scope="module")
def wrong_again():
    """What is wrong with these forms, in one process for all."""
    return {(expression, tuple(kinds)): words for expression, kinds, words in call_forms.run(ONCE_WRONG)}


@pytest.mark.parametrize(("expression", "kinds"), ONCE_WRONG)
def test_forms_that_were_wrong(expression, kinds, wrong_again):
    assert (expression, kinds) not in wrong_again, wrong_again[expression, kinds]


@pytest.mark.parametrize(
    ("expression", "kind", "named"),
    [
        ("np.sort(x, order='name')", "a1", "order"),
        ("np.min(x, ddof=1)", "a1", "ddof"),
        ("x.astype(np.int64, casting='safe')", "a1", "'safe'"),
        ("np.array(x, copy=False)", "list", "copy=False"),
        ("x.squeeze()", "a2", "name the axes"),
        ("np.searchsorted(x, 1.0, side='bogus')", "a1", "side"),
        ("np.linalg.solve(x, x)", "a3", "matrix"),
        ("np.isin(x, {1, 2})", "i1", "set"),
        ("np.random.randint(3, 4, dtype=np.uint8)", "a1", "dtype"),
        ("np.round(x)", "b1", "bool"),
        ("round(x)", "a1", "numpy.round"),
        ("float(x)", "a1", "element"),
        ("int(x)", "a2", "element"),
        ("bool(x)", "a1", "any"),
        ("complex(x)", "a1", "element"),
        ("-x", "b1", "~"),
        ("+x", "b1", "~"),
        ("np.matmul(x, 2.0)", "a1", "products"),
        ("x @ x", "a0", "products"),
        ("x in [1.0, 2.0]", "a1", "isin"),
        ("x ** -1", "i1", "negative"),
        ("np.power(x, -2)", "whole", "negative"),
        ("(-8) ** (1 / 3)", "a1", "complex"),
        ("np.full(3, 300, np.uint8)", "a1", "300"),
        ("np.full_like(x, -1)", "u1", "-1"),
        ("np.array([1, 300], dtype=np.uint8)", "a1", "300"),
        ("np.clip(x, -1, 200)", "u1", "-1"),
        ("np.add(x, x, casting='unsafe')", "a1", "casting"),
        ("np.exp(x, out=x)", "i2", "same_kind"),
        ("np.ldexp(x, x)", "a1", "integers"),
        ("np.reshape(a=x, shape=3)", "a1", "position"),
        ("x.swapaxes(axis1=0, axis2=1)", "a2", "position"),
        ("np.isreal(x, bogus=1)", "a1", "bogus"),
        ("np.arange(5, dtype=np.bool_)", "a1", "bool"),
        ("math.gcd(x, 2)", "number", "integers"),
        ("math.lgamma(x)", "a1", "lgamma"),
        ("math.sin(x=x)", "number", "x|argument"),
        ("hash(x)", "a1", "hash"),
        ("sorted(x)", "a2", "sorted"),
        ("str(x, encoding='utf-8')", "number", "encoding"),
        ("math.ldexp(x, x)", "number", "integers"),
        ("np.linalg.cond(x)", "a3", "matrix"),
        ("np.linalg.svd(x)", "a3", "matrix"),
        ("np.ndindex(shape=(2, 3))", "a1", "shape"),
        ("x.fill(value=0)", "a1", "position"),
        ("max(x, x, default=1)", "number", "one iterable"),
        ("pow(x, 2, 5)", "number", "modulus"),
        ("sorted(x, order=1)", "list", "order"),
        ("[1, 2].index(value=2)", "a1", "value"),
        ("{1: 2}.get(1, default=3)", "a1", "default"),
        ("'ab'.upper(1)", "a1", "upper"),
        ("np.random.rand(d0=2)", "a1", "d0"),
        ("math.frexp(x)", "a1", "give one element"),
        ("math.lgamma(x)", "a1", "float64"),
        ("math.isqrt(x)", "number", r"int\(\)"),
        ("math.comb(5, x)", "number", "integers"),
        ("x.fill(x)", "a1", r"a\[\.\.\.\] = b"),
        ("np.var(x, dtype=np.int64)", "a1", "convert the result"),
        # What to write instead.
        ("np.einsum('i,i', x, x)", "a1", "tensordot"),
        ("np.block([[x, x]])", "a2", "hstack"),
        ("np.piecewise(x, [x > 1], [1.0])", "a1", "np.where|numpy.where"),
        ("np.histogram2d(x, x)", "a1", "searchsorted"),
        ("np.apply_along_axis(np.sum, 0, x)", "a2", "for i in range"),
        ("np.save('x', x)", "a1", "objmode"),
        ("bytearray(3)", "a1", "uint8"),
        ("tuple(x)", "a1", "part of its type"),
        ("np.finfo(np.float64).precision", "a1", "eps"),
        ("np.nditer(3)", "a1", "an array or a tuple"),
    ],
)
def test_what_is_not_taken_is_an_error_with_its_name(expression, kind, named):
    f = call_forms.function(f"def f(x):\n    return {expression}\n")
    with pytest.raises(TypingError, match=named) as caught:
        bc.njit(f)(call_forms.values()[kind])
    assert "error:" not in str(caught.value)


def test_the_state_of_random_takes_its_parameters_by_name():
    import random

    @bc.njit
    def f():
        random.seed(3)
        return random.gauss(mu=100.0, sigma=0.001), random.uniform(b=6.0, a=5.0), random.randrange(start=7, stop=8)

    about, between, seven = f()
    assert abs(about - 100) < 0.1 and 5 <= between <= 6 and seven == 7


@pytest.mark.parametrize("store", ["x[:] = 300", "x[1] = 300", "x[x > 3] = -1", "x[1:] = -1"])
def test_a_constant_that_its_array_cannot_hold_is_an_error(store):
    f = call_forms.function(f"def f(x):\n    {store}\n    return x\n")
    with pytest.raises(TypingError, match="out of bounds for uint8"):
        bc.njit(f)(np.array([3, 250, 7], np.uint8))


def test_the_rank_of_a_stack_of_matrices_is_an_error():
    with pytest.raises(ValueError, match="call it in a loop"):
        bc.njit(lambda x: np.linalg.matrix_rank(x))(np.ones((2, 3, 3)))


def test_integers_beyond_64_bits_are_an_error():
    import math

    for f in (lambda n: math.comb(n, 31), lambda n: math.perm(n, 40), lambda n: math.factorial(n)):
        with pytest.raises(OverflowError, match="64 bits"):
            bc.njit(f)(72)


@pytest.mark.parametrize("debug", [False, True])
def test_isqrt_of_negative_numbers_in_kernels(debug):
    import math

    @bc.cuda.jit(debug=debug, opt=False)
    def f(out, x):
        out[0] = math.isqrt(x)

    out = np.zeros(1, np.int64)
    with bc.device("cpu"):
        f[1, 1](out, 17)
        assert out[0] == 4
        if debug:
            with pytest.raises(ValueError, match="isqrt"):
                f[1, 1](out, -4)
        else:  # what the conversion of a NaN to an integer gives
            f[1, 1](out, -4)
            assert out[0] == np.iinfo(np.int64).min


def test_boolean_quantiles_are_refused_as_numpy_does():
    with pytest.raises(TypeError):
        bc.njit(lambda x: np.quantile(x, 0.5))(np.array([True, False]))


# ---- which function a name stands for


def test_functions_are_known_by_what_they_are_not_by_their_names():
    import functools
    import types

    def mean(x):
        return 42.0

    helpers = types.ModuleType("numpy_helpers")
    mean.__module__ = "numpy_helpers"
    helpers.mean = mean

    @functools.wraps(np.mean)
    def wrapped(x):
        return 43.0

    assert (wrapped.__module__, wrapped.__name__) == ("numpy", "mean")
    assert bc.njit(lambda x: helpers.mean(x))(np.ones(3)) == 42
    assert bc.njit(lambda x: wrapped(x))(np.ones(3)) == 43
    assert bc.njit(lambda x: np.mean(x))(np.ones(3)) == 1


@pytest.mark.parametrize("expression", ["np.emath.sqrt(x)", "np.ma.average(x)", "np.linalg.trace(x)", "np.fft.fft(x)"])
def test_functions_of_the_same_name_elsewhere_in_numpy_are_not_taken_for_it(expression):
    f = call_forms.function(f"def f(x):\n    return {expression}\n")
    with pytest.raises(TypingError, match="cannot be called"):
        bc.njit(f)(-np.ones((2, 2)))


# ---- ufuncs of the user's


def test_vectorize_maps_over_arrays_in_compiled_functions():
    @bc.vectorize
    def inc(x):
        x += 1
        return x

    @bc.vectorize
    def one(x):
        return 1.0

    @bc.vectorize
    def clipped(x, top):
        if x > top:
            return top
        return x

    @bc.njit
    def f(a, b):
        return inc(a), one(a), clipped(a, 1.5), clipped(a, b)

    a, b = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    x, y, z, w = f(a, b)
    np.testing.assert_array_equal(a, np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(x, a + 1)
    np.testing.assert_array_equal(y, np.ones((2, 3)))
    np.testing.assert_array_equal(z, np.minimum(a, 1.5))
    np.testing.assert_array_equal(w, np.minimum(a, b))


def test_vectorize_in_compiled_functions_gives_numbers_of_numbers_and_fills_out():
    @bc.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
    def mean(x, y):
        return (x + y) / 2

    @bc.njit
    def numbers(x, y):
        return mean(x, y)

    assert numbers(1, 2) == 1.5 and isinstance(numbers(1.0, 2.0), float)
    assert numbers(np.ones(2, np.float32), np.ones(2, np.float32)).dtype == np.float32

    @bc.njit
    def filled(a, out):
        return mean(a, 2.0, out), mean(a, a, out=out).shape

    out = np.zeros(3)
    made, shape = filled(np.arange(3.0), out)
    np.testing.assert_array_equal(made, np.arange(3.0))
    np.testing.assert_array_equal(out, np.arange(3.0))
    assert shape == (3,)
    with pytest.raises(TypingError, match="no loop"):
        bc.njit(lambda a: mean(a, a))(np.ones(2, np.complex128))


def test_vectorize_in_compiled_functions_raises_what_the_function_raises():
    @bc.vectorize
    def positive(x):
        if x < 0:
            raise ValueError("below zero")
        return x

    @bc.njit
    def f(a):
        return positive(a).sum()

    assert f(np.arange(4.0)) == 6
    with pytest.raises(ValueError, match="below zero"):
        f(-np.arange(4.0))

    @bc.njit
    def caught(a):
        try:
            return positive(a).sum()
        except ValueError:
            return -1.0

    assert caught(-np.arange(4.0)) == -1


def test_guvectorize_in_compiled_functions():
    @bc.guvectorize(["void(float64[:], float64, float64[:])"], "(n),()->(n)")
    def shifted(x, by, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + by

    @bc.guvectorize("(m,n),(n,p)->(m,p)")
    def product(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = 0
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    @bc.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def total(x, out):
        out[0] = x.sum()

    @bc.njit
    def f(x, by, out):
        shifted(x, by, out)
        return shifted(x, 1.0), total(x), product(x, x.T)

    x, by, out = np.arange(6.0).reshape(2, 3), np.array([10.0, 20.0]), np.zeros((2, 3))
    a, b, c = f(x, by, out)
    np.testing.assert_array_equal(out, x + by[:, None])
    np.testing.assert_array_equal(a, x + 1)
    np.testing.assert_array_equal(b, x.sum(1))
    np.testing.assert_array_equal(c, x @ x.T)


# ---- refusals


def test_a_global_cannot_be_assigned():
    f = call_forms.function("def f(x):\n    global G\n    G = x\n    return x\n", G=1)
    with pytest.raises(TypingError, match="'G'"):
        bc.njit(f)(2)
    g = call_forms.function("def f(x):\n    global G\n    return G + x\n", G=1)
    assert bc.njit(g)(2) == 3


def test_a_global_cannot_be_deleted():
    with pytest.raises(TypingError, match="'G' belongs outside"):
        bc.njit(call_forms.function("def f(x):\n    global G\n    del G\n    return x\n", G=1))(2)


CLASSES = (
    "object int float bool complex str list tuple dict set (int,float) int|float range slice type np.ndarray numbers.Number "
    "numbers.Integral numbers.Real numbers.Complex"
).split()
VALUES = "3 2.5 True 1j 'abc' None (1,2) [1.0,2.0] {1:2} {1,2} range(3) slice(1) np.arange(3) np.float64(2) x".split()


@pytest.mark.parametrize("value", VALUES)
def test_isinstance_answers_as_in_python(value):
    asked = call_forms.function("def f(x):\n    return " + ", ".join(f"isinstance({value}, {c})" for c in CLASSES) + "\n", numbers=numbers)
    assert dict(zip(CLASSES, bc.njit(asked)(3))) == dict(zip(CLASSES, asked(3)))


def test_isinstance_of_numpys_abstract_classes():
    names = "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split()
    asked = call_forms.function("def f(x):\n    return " + ", ".join(f"isinstance(x, np.{name})" for name in names) + "\n")
    for x in (np.int8(1), np.uint16(1), np.float32(1), np.float64(1), np.complex64(1)):
        assert bc.njit(asked)(x) == asked(x), type(x)


@pytest.mark.parametrize("cls", ["3", "None", "'a'", "len", "np.sin", "x", "(int, 3)", "abc.Sequence"])
def test_isinstance_refuses_what_is_no_class_that_it_knows(cls):
    f = call_forms.function(f"def f(x):\n    return isinstance(x, {cls})\n", abc=collections.abc)
    with pytest.raises(TypingError, match="isinstance"):
        bc.njit(f)(2)


@pytest.mark.parametrize("form", ["a == 'x'", "a != 'x'", "'x' == a", "a < 'x'"])
def test_arrays_are_not_compared_with_texts(form):
    with pytest.raises(TypingError, match="no operator"):
        bc.njit(call_forms.function(f"def f(a):\n    return {form}\n"))(np.arange(3))


def test_a_list_of_several_types_cannot_be_returned():
    def f():
        return [1, "a"]

    def g():
        items = [1, "a"]
        return items

    for function in (f, g):
        with pytest.raises(TypingError, match="several types"):
            bc.njit(function)()


# ---- strings


def test_len_of_a_literal_counts_characters():
    assert bc.njit(lambda: len("日本"))() == 2


def test_characters_of_long_texts_are_found_at_once():
    text = "日本é€𝄞a" * 5000

    @bc.njit
    def backwards(s):
        out = 0
        for i in range(len(s) - 1, -1, -1):
            out = (out * 31 + ord(s[i])) % 1000000007
        return out

    expected = 0
    for ch in reversed(text):
        expected = (expected * 31 + ord(ch)) % 1000000007
    assert backwards(text) == expected

    @bc.njit
    def parts(s):
        middle = s[1000:20000]
        return middle[0], middle[-1], middle[7:12], s[29990:], middle[5000:][17], s[::-1][3], (s + s)[31007]

    def plain(s):
        middle = s[1000:20000]
        return middle[0], middle[-1], middle[7:12], s[29990:], middle[5000:][17], s[::-1][3], (s + s)[31007]

    assert parts(text) == plain(text)
    f = bc.njit(call_forms.function("def f(i):\n    return S[i], S[i:i + 3], len(S)\n", S=text[:3000]))
    for i in (0, 1, 15, 16, 17, 100, 2996, -1, -2999):
        assert f(i) == (text[:3000][i], text[:3000][i : i + 3], 3000)
