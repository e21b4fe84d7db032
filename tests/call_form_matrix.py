"""The matrix of call forms: every function that compiled functions may call, each parameter of NumPy's (Python's) own signature by position
and by name, with values that are legal and values that are not.

`forms()` gives expressions of `x`, `y` and `z` and the kinds of these, which `call_forms.values()` makes.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Form = tuple[str, tuple[str, ...]]

NUMBERS = ("number", "whole", "negative", "true", "f4s", "z")
SEQUENCES = ("tuple", "list", "whole_list")
ARRAYS = ("a0", "i0", "empty", "a1", "i1", "b1", "f4", "u1", "reversed", "strided", "a2", "i2", "F2", "T2", "S2", "empty2", "a3", "c1")
KINDS = (*NUMBERS[:2], *SEQUENCES, *ARRAYS)


def _listed(text: str) -> list[str]:
    return " ".join(text.split()).split("; ")


# What is tried for a parameter, by its name; names that are not here are operands.
VALUES: dict[str, tuple[str, ...]] = {
    "axis": ("0", "-1", "1", "None", "2", "-3", "(0, 1)", "(0,)"),
    "axis1": ("0", "1", "-1", "3"),
    "axis2": ("0", "1", "-1", "-3"),
    "axisa": ("0",),
    "axisb": ("0",),
    "axisc": ("0",),
    "axes": ("None", "(1, 0)", "(-1, 0)", "(0, 0)", "(2, 0, 1)"),
    "dtype": ("np.float64", "np.int32", "np.float32", "np.complex128", "np.bool_", "'f4'", "int", "float", "None"),
    "out": ("None",),
    "keepdims": ("True", "False"),
    "initial": ("1", "2.5"),
    "where": ("True",),
    "order": ("'C'", "'F'", "'A'", "'K'", "None", "'bogus'"),
    "kind": ("None", "'stable'", "'quicksort'", "'bogus'"),
    "stable": ("None", "True", "False"),
    "casting": ("'same_kind'", "'safe'", "'unsafe'", "'bogus'"),
    "subok": ("True", "False"),
    "copy": ("True", "False", "None"),
    "device": ("None", "'cpu'"),
    "like": ("None",),
    "ndmin": ("0", "2"),
    "ndmax": ("0",),
    "decimals": ("0", "1", "-1", "2"),
    "a_min": ("1", "1.5", "None", "x"),
    "a_max": ("2", "2.5", "None"),
    "min": ("1", "None"),
    "max": ("2", "None"),
    "k": ("0", "1", "-1", "5"),
    "n": ("0", "1", "2", "3", "-1"),
    "N": ("0", "1", "3", "-1", "2.5"),
    "M": ("None", "2", "0"),
    "m": ("None", "2", "3"),
    "shape": ("3", "(2, 3)", "(3,)", "-1", "(3, -1)", "(1, -1)", "[3, 2]", "()", "(-1, -1)", "2.0"),
    "new_shape": ("4", "(2, 2)", "(2, -1)"),
    "fill_value": ("0", "1.5", "1", "-1", "1j", "True", "x"),
    "start": ("0", "1", "0.5", "-1", "3"),
    "stop": ("5", "2.5", "-3", "0", "1", "None"),
    "start_or_stop": ("5", "2.5", "0", "-1", "1"),
    "step": ("1", "2", "-1", "0.5", "0"),
    "num": ("0", "1", "5", "-1"),
    "endpoint": ("True", "False"),
    "retstep": ("False", "True"),
    "base": ("2", "10.0"),
    "shift": ("0", "1", "-1", "7", "(1,)", "(1, 2)"),
    "reps": ("0", "2", "(2,)", "(2, 1)", "[1, 2]", "-1"),
    "repeats": ("0", "2", "[2]", "(1, 2, 0)", "-1"),
    "indices": ("0", "-1", "1", "7", "[0, 1]", "(0, 1)", "np.array([0, 2])", "np.array([[0, 1], [1, 0]])", "[]"),
    "obj": ("0", "-1", "7", "[0, 1]", "(0, 1)", "np.array([0, 2])", "slice(0, 2)"),
    "indices_or_sections": ("1", "2", "3", "0", "(1,)", "[1, 2]", "np.array([1, 2])"),
    "source": ("0", "-1", "(0, 1)", "3"),
    "destination": ("-1", "0", "(1, 0)", "-4"),
    "bins": ("3", "1", "0", "[0.0, 1.0, 2.0]", "np.array([0.0, 1.0, 2.0])", "(0, 1, 2)", "'auto'"),
    "range": ("None", "(0.0, 2.0)", "(2.0, 0.0)"),
    "density": ("None", "False", "True"),
    "weights": ("None", "np.array([1.0, 2.0, 3.0])", "[1, 2, 3]", "x"),
    "minlength": ("0", "5", "-1"),
    "side": ("'left'", "'right'", "'bogus'"),
    "sorter": ("None",),
    "right": ("True", "False"),
    "rtol": ("0.1", "0.0"),
    "atol": ("1.0", "0"),
    "equal_nan": ("True", "False"),
    "mode": ("'full'", "'same'", "'valid'", "'raise'", "'clip'", "'bogus'"),
    "q": ("0", "1", "0.5", "0.25", "50", "[0.25, 0.75]", "(0.5,)", "np.array([0.0, 1.0])", "-1", "2"),
    "method": ("'linear'", "'nearest'", "'lower'", "'bogus'"),
    "overwrite_input": ("False", "True"),
    "ddof": ("0", "1", "2", "0.5"),
    "correction": ("1",),
    "mean": ("1.0",),
    "rowvar": ("True", "False"),
    "bias": ("True", "False"),
    "fweights": ("None",),
    "aweights": ("None",),
    "returned": ("False", "True"),
    "return_index": ("False", "True"),
    "return_inverse": ("False", "True"),
    "return_counts": ("False", "True"),
    "sorted": ("True", "False"),
    "assume_unique": ("False", "True"),
    "invert": ("False", "True"),
    "return_indices": ("False",),
    "to_end": ("None", "9", "[8, 9]"),
    "to_begin": ("None", "9.5", "x"),
    "prepend": ("0",),
    "append": ("0",),
    "left": ("None", "-1.0"),
    "period": ("None", "360.0"),
    "nan": ("1.0", "0"),
    "posinf": ("None", "3.0"),
    "neginf": ("None", "-3.0"),
    "offset": ("0", "1", "-1"),
    "ord": ("None", "1", "2", "-1", "np.inf", "'fro'", "'nuc'", "3", "'bogus'"),
    "p": ("None", "1", "2", "'fro'"),
    "UPLO": ("'L'", "'U'", "'X'"),
    "upper": ("False", "True"),
    "full_matrices": ("True", "False"),
    "compute_uv": ("True", "False"),
    "hermitian": ("False", "True"),
    "rcond": ("None", "1e-10"),
    "rtol_or_none": ("None",),
    "tol": ("None", "0.5"),
    "increasing": ("False", "True"),
    "wrap": ("False", "True"),
    "val": ("7", "1.5", "[1, 2]", "x"),
    "trim": ("'fb'", "'f'", "'B'", "'x'"),
    "kth": ("0", "1", "-1", "9", "(0, 1)"),
    "discont": ("None",),
    "deg": ("True", "False"),
    "indexing": ("'xy'", "'ij'", "'bogus'"),
    "sparse": ("False",),
    "edge_order": ("1", "2"),
    "dx": ("1.0", "0.5"),
    "count": ("-1", "1"),
    "value": ("0", "1.5", "True", "x"),
    "default": ("0", "1.5"),
    "beta": ("2.0", "0"),
    "choices": ("[x, x]",),
    "mask": ("x",),
    "sections": ("2",),
}
# The same of one function's parameter.
OWN: dict[tuple[str, str], tuple[str, ...]] = {
    ("np.flip", "axis"): ("0", "-1", "1", "None", "2", "(0, 1)", "(0, 0)"),
    ("np.linspace", "axis"): ("0", "-1"),
    ("np.expand_dims", "axis"): ("0", "-1", "1", "2", "(0, 1)", "(0, 0)", "5", "None"),
    ("np.trapezoid", "x"): ("None", "x"),
    ("np.histogram", "weights"): ("None", "x"),
    ("np.polyval", "x"): ("2.0", "x", "3"),
    ("np.diag", "k"): ("0", "1", "-1", "5"),
    ("np.tri", "N"): ("0", "3", "2"),
    ("np.random.choice", "a"): ("5", "x", "0"),
    ("np.linalg.cond", "p"): ("None", "1", "2", "-2", "'fro'", "np.inf"),
    ("np.eye", "N"): ("0", "3", "-1"),
    ("np.random.randint", "dtype"): ("int", "np.int64", "np.uint8"),
    ("np.linalg.pinv", "rtol"): ("1e-10",),
    ("np.linalg.matrix_rank", "rtol"): ("1e-10",),
    ("np.select", "default"): ("0",),
    ("np.reshape", "copy"): ("None", "True"),
    ("np.gradient", "axis"): ("None", "0"),
    ("np.percentile", "q"): ("0", "50", "25.0", "[25, 75]", "(50,)", "np.array([0.0, 100.0])", "101"),
    ("np.nanpercentile", "q"): ("0", "50", "25.0", "[25, 75]", "(50,)", "101"),
}

# NumPy's functions beside ufuncs. A name that NumPy lacks is left out.
FUNCTIONS = """
    zeros ones empty_like full zeros_like ones_like full_like arange linspace logspace geomspace eye identity array asarray
    ascontiguousarray asfortranarray asarray_chkfinite copy frombuffer diag diagflat tri tril triu vander reshape ravel transpose
    expand_dims squeeze moveaxis swapaxes rollaxis broadcast_to flip fliplr flipud rot90 roll tile repeat resize append insert
    delete array_split split hsplit vsplit dsplit shape size ndim fill_diagonal trim_zeros sum prod min max amin amax any all mean
    var std argmin argmax count_nonzero ptp median average quantile percentile nanquantile nanpercentile nansum nanprod nanmean
    nanmin nanmax nanmedian nanstd nanvar nanargmin nanargmax cumsum cumprod nancumsum nancumprod diff ediff1d bincount histogram
    digitize cov corrcoef sort argsort partition argpartition searchsorted unique nonzero flatnonzero argwhere take take_along_axis
    extract isin union1d intersect1d setdiff1d setxor1d round around clip nan_to_num isclose allclose array_equal interp dot vdot
    inner outer kron cross trace convolve correlate gradient trapezoid polyval bartlett blackman hamming hanning kaiser unwrap
    atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_arrays tril_indices triu_indices tril_indices_from triu_indices_from
    select meshgrid roots fix angle where real imag isscalar iscomplexobj isrealobj iscomplex isreal linalg.norm linalg.solve
    linalg.inv linalg.det linalg.slogdet linalg.cholesky linalg.qr linalg.eigvals linalg.eigh linalg.eigvalsh linalg.svd linalg.pinv
    linalg.matrix_rank linalg.matrix_power linalg.lstsq linalg.cond lexsort isneginf isposinf nan_to_num sinc i0 column_stack
    polyadd polymul
""".split()
UFUNCS_1 = """
    negative positive absolute fabs sign conj exp exp2 log log2 log10 expm1 log1p sqrt cbrt square reciprocal rint floor ceil trunc
    sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians deg2rad rad2deg invert logical_not isnan
    isinf isfinite signbit spacing modf frexp bitwise_count
""".split()
UFUNCS_2 = """
    add subtract multiply divide floor_divide remainder fmod power float_power hypot arctan2 logaddexp logaddexp2 maximum minimum
    fmax fmin copysign nextafter ldexp heaviside gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift logical_and
    logical_or logical_xor greater less equal not_equal greater_equal less_equal divmod matmul
""".split()
UFUNC_OPTIONS = ("", ", None", ", out=None", ", where=True", ", dtype=np.float32", ", casting='same_kind'", ", order='K'", ", subok=True")
METHODS = """
    all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot fill flatten item max mean min nonzero
    prod ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take tolist trace transpose var view partition
    argpartition
""".split()
# What methods take beside what their signatures say.
MORE = {
    **dict.fromkeys(("np.ndarray.sum", "np.ndarray.prod", "np.ndarray.min", "np.ndarray.max"), ("keepdims", "initial", "where", "ddof")),
    **dict.fromkeys(("np.ndarray.mean", "np.ndarray.var", "np.ndarray.std"), ("keepdims", "where")),
}
STARRED = {
    "np.atleast_1d": ("x", "x, y", "x, 2.0"),
    "np.atleast_2d": ("x", "x, y"),
    "np.atleast_3d": ("x", "x, y"),
    "np.broadcast_shapes": ("(2, 1), (3,)", "3, (1,)", "(2,), (3,)", "()"),
    "np.broadcast_arrays": ("x, y", "x, 2.0", "x"),
    "np.meshgrid": ("x", "x, y", "x, y, indexing='ij'", "x, y, indexing='bogus'", "x, y, sparse=True", "x, y, copy=False"),
    "np.gradient": ("x", "x, 2.0", "x, axis=0", "x, x", "x, edge_order=2", "x, 1"),
    "np.where": ("x > 1", "x > 1, x, 0", "x, x, y", "x > 1, 1, 0", "x > 1, x, None", "x"),
    "np.lexsort": ("(x, x)", "(x, y)", "keys=(x,)", "x"),
    "np.column_stack": ("(x, y)", "[x, y]", "tup=(x, x)", "x", "()", "(x,)", "(x, y), 1"),
    "np.ndarray.reshape": ("-1", "(1, -1)", "1, -1", "3, 2", "(3, 2), order='F'", "shape=(3, 2)", "2.0", "()", "-1, order='C'", "-2"),
    "np.ndarray.transpose": ("", "(1, 0)", "1, 0", "None", "(0, 0)", "2, 0, 1", "axes=(1, 0)", "0", "(-1, 0)", "(5, 0)"),
    "np.ndarray.item": ("", "0", "-1", "1, 1", "(0, 1)", "7", "1.5", "args=0", "None"),
    "np.ndarray.view": ("", "np.int64", "np.float64", "dtype=np.int64", "np.uint8", "'i8'", "np.complex128"),
    "np.select": ("[x > 1, x > 2], [x, x * 2]", "[x > 1], [x], 5", "[x > 1], [x], default=-1", "(x > 1,), (x,)"),
}  # fmt: skip
JOIN_FORMS = ("({})", "[{}]")
JOINS = {
    "concatenate": ("", ", 0", ", axis=0", ", 1", ", axis=-1", ", axis=None", ", axis=5", ", dtype=np.float32", ", out=None", ", 0, None"),
    "stack": ("", ", axis=1", ", -1", ", axis=5", ", dtype=np.float32", ", casting='safe'"),
    "vstack": ("", ", dtype=np.float32", ", 0"),
    "hstack": ("", ", dtype=np.float32", ", 0"),
    "dstack": ("", ", 0"),
}
MATH_1 = """
    acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs factorial floor frexp gamma isfinite
    isinf isnan isqrt lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh trunc ulp prod fsum
""".split()
MATH_2 = """
    atan2 comb copysign dist fmod gcd hypot isclose lcm ldexp log nextafter perm pow remainder
""".split()
MATH_FORMS = _listed("""
    math.gcd(); math.gcd(x); math.gcd(x, 6, 4); math.lcm(x, 4, 6); math.hypot(); math.hypot(x); math.hypot(x, 2, 3.0);
    math.isclose(x, 2.4, rel_tol=0.1); math.isclose(x, 2.4, abs_tol=1); math.isclose(x, 2.4, 0.1); math.log(x, 2);
    math.log(x, base=2); math.prod((x, 2)); math.prod([x, 2.0], start=3); math.prod((), start=2); math.perm(x); math.sin(x=x);
    math.pow(2, x); math.ldexp(x, 3); math.dist((x, 1.0), (2.0, x)); math.fsum([x, 0.1]); math.nextafter(x, 0.0, steps=2);
    math.pi * x; math.sumprod([x], [2]); math.comb(5, x); math.comb(x, 2); math.copysign(1, x); math.atan2(x, -1)
""")
SCALARS = (*NUMBERS, "i32s", "u8s", "nan", "inf", "zero", "half", "tuple", "a0", "a1")
BUILTINS = _listed("""
    abs(x); abs(x, 1); all(x); any(x); bool(x); bool(); complex(x); complex(x, 2); complex(real=x, imag=1); divmod(x, 2);
    divmod(x, -2.5); divmod(x, 0); enumerate(x); list(enumerate(x, 1)); list(enumerate(x, start=2)); float(x); float(); int(x);
    int(); int(x, 10); len(x); list(x); list(map(abs, x)); max(x); max(x, 2); max(x, 2, 1.5); max(x, key=abs); max(x, default=3);
    min(x); min(x, 2); min(2, x, 7); min(x, key=abs); min((), default=x); pow(x, 2); pow(x, 2, 5); pow(x, -1); pow(2, x);
    pow(base=x, exp=2); list(range(x)); list(range(1, x, 2)); list(range(x, 0, -1)); range(x)[1]; list(range(stop=x));
    list(reversed(x)); round(x); round(x, 1); round(x, -1); round(x, None); round(x, ndigits=1); round(number=x); sorted(x);
    sorted(x, reverse=True); sorted(x, key=abs); sorted(x, None); sum(x); sum(x, 1); sum(x, start=1.5); sum((x, x));
    sum([x, 2], 3); tuple(x); list(zip(x, x)); list(zip(x)); list(zip(x, x, strict=True)); isinstance(x, int);
    isinstance(x, (int, float)); isinstance(x, np.ndarray); str(x); hash(x); len(range(x)); list(filter(None, x)); -x; +x; ~x;
    not x; x + 1; x * 2.5; x // 2; x % 3; x ** 2; x ** -1; x ** 0.5; x / 0.5; x << 1; x & 3; x == 2; x != x; x < 2; 1 < x < 3;
    x and 2; x or 2; x if x else 1; x in (1, 2.5); 2 in x; x is None; x[0]; x[-1]; x[::2]; x[1:]; x[5]; x[None]; x[...]; x.T;
    x.shape; x.size; x.ndim; x.dtype == np.float64; x.itemsize; x.nbytes; x.real; x.imag; x.strides; x.flat[1]; x.base is None;
    x[x > 1]; x[[0, 1]]; x[(0, 1)]; x[np.array([1, 0])]; x[0, 1]; x[:, 0]; x[0][0]; x[-1:]; np.float32(x); np.int32(x);
    np.uint8(x); np.bool_(x); np.complex64(x); np.int64(x); np.float64(x); np.sum([x, 2]); np.array([x, 2]);
    np.array([[x, 1], [2, 3]]); np.array((x, x), np.float32); np.asarray([x]); (x > 1).sum(); x.sum() / x.size; np.dtype(np.int8);
    x.dtype.itemsize; x.item() + 1; np.finfo(np.float32).eps; x.copy()[::-1]
""")
BUILTINS_2 = _listed("""
    x + y; x - y; x * y; x / y; x // y; x % y; x ** y; x @ y; x & y; x | y; x ^ y; x << y; x >> y; x < y; x <= y; x == y; x != y;
    x and y; x or y; divmod(x, y); pow(x, y); min(x, y); max(x, y); complex(x, y); y in x; x is y; list(zip(x, y)); x[y];
    np.where(x, y, x); round(x, y)
""")
RANDOM = {
    "beta": ("2.0, 3.0", "a=0.5, b=1.5, size=3", "2.0, 3.0, (2, 2)"),
    "binomial": ("10, 0.3", "n=10, p=0.7, size=3", "100, 0.5, (2,)", "10, 1.5", "0, 0.5", "1000, 0.01"),
    "chisquare": ("2", "df=3.0, size=2", "-1"),
    "choice": ("5", "5, 3", "5, size=(2, 2)", "5, 3, False", "5, 3, replace=False", "5, 9, False", "a=4", "5, 3, True, None", "0"),
    "dirichlet": ("(1.0, 2.0)", "np.array([1.0, 2.0]), 2", "[1.0, 2.0], size=(2,)"),
    "exponential": ("", "2.0", "scale=2.0, size=3", "1.0, (2, 2)", "-1.0"),
    "f": ("2.0, 3.0", "dfnum=2, dfden=3, size=2"),
    "gamma": ("2.0", "2.0, 3.0", "shape=0.5, scale=1.0, size=2", "1.0, 1.0, 3", "-1.0"),
    "geometric": ("0.3", "p=0.5, size=3", "0.0"),
    "gumbel": ("", "1.0, 2.0", "loc=0.0, scale=1.0, size=2"),
    "hypergeometric": ("10, 5, 3", "ngood=10, nbad=5, nsample=12, size=3", "100, 50, 30, (2,)", "1, 1, 5"),
    "laplace": ("", "1.0, 2.0", "0.0, 1.0, 3", "size=2"),
    "logistic": ("", "1.0, 2.0", "size=(2, 2)"),
    "lognormal": ("", "1.0, 2.0", "mean=0.0, sigma=1.0, size=3"),
    "logseries": ("0.5", "p=0.3, size=2", "1.5"),
    "multinomial": ("10, [0.2, 0.3, 0.5]", "10, np.array([0.5, 0.5]), 2", "n=10, pvals=(0.5, 0.5), size=(2,)"),
    "negative_binomial": ("5, 0.5", "n=5, p=0.5, size=2"),
    "noncentral_chisquare": ("2.0, 1.0", "df=0.5, nonc=1.0, size=2"),
    "normal": ("", "1.0, 2.0", "loc=1.0, scale=2.0, size=3", "0, 1, (2, 2)", "size=()", "scale=-1.0", "size=None"),
    "pareto": ("2.0", "a=2.0, size=3"),
    "permutation": ("5", "np.arange(4.0)", "[1, 2, 3]", "np.arange(6).reshape(3, 2)", "x=4"),
    "poisson": ("", "3.0", "lam=20.0, size=3", "0.0, 2", "-1.0"),
    "power": ("2.0", "a=2.0, size=2"),
    "rand": ("", "2", "2, 3", "d0=2", "0", "-1"),
    "randint": ("5", "2, 7", "low=2, high=7", "5, size=3", "0, 5, (2, 2)", "5, 2", "0", "5, None, 2", "10, dtype=np.int64", "3.5"),
    "randn": ("", "2", "2, 3"),
    "random": ("", "3", "size=(2, 2)", "None"),
    "random_sample": ("", "3", "size=3"),
    "ranf": ("", "3"),
    "rayleigh": ("", "2.0", "scale=2.0, size=2"),
    "sample": ("", "3"),
    "standard_cauchy": ("", "3", "size=3"),
    "standard_exponential": ("", "3", "size=(2,)"),
    "standard_gamma": ("2.0", "shape=2.0, size=3", "2.0, 2"),
    "standard_normal": ("", "3", "size=(2, 2)"),
    "standard_t": ("3", "df=3.0, size=2"),
    "triangular": ("0.0, 1.0, 2.0", "left=0.0, mode=1.0, right=2.0, size=3"),
    "uniform": ("", "1.0, 2.0", "low=1.0, high=2.0, size=3", "0, 1, (2, 2)", "size=3", "2.0, 1.0"),
    "vonmises": ("0.0, 1.0", "mu=0.0, kappa=4.0, size=2"),
    "wald": ("1.0, 2.0", "mean=1.0, scale=2.0, size=2"),
    "weibull": ("2.0", "a=2.0, size=3"),
    "zipf": ("2.0", "a=3.0, size=2", "0.5"),
}


def tried(function: str, parameter: str, place: int) -> tuple[str, ...]:
    """What is given for a parameter; operands are `x`, `y`, `z` by their place."""
    own = OWN.get((function, parameter))
    if own:
        return own
    if parameter in VALUES and not (place == 0 and parameter not in ("shape", "start", "stop", "n", "N", "M", "start_or_stop")):
        return VALUES[parameter]
    return ("xyz"[min(place, 2)],)


def by_signature(shown: str, function: str, callee: Callable[..., Any], first: int) -> Iterator[str]:
    """Calls by the callee's own signature: each parameter left out, by position and by name. `shown` is what is called; `first`: the
    place of the first parameter among the operands (1 behind a method's array)."""
    parameters = [p for p in inspect.signature(callee).parameters.values() if p.name != "self"]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    parameters = [p for p in parameters if p.kind is not p.VAR_KEYWORD]
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
    choices = {p.name: tried(function, p.name, first + i) for i, p in enumerate(parameters)}
    base = [choices[p.name][0] for p in required]
    plain = ", ".join(base)
    yield f"{shown}({plain})"
    for i, p in enumerate(required):
        for value in choices[p.name][1:]:
            yield f"{shown}({', '.join([*base[:i], value, *base[i + 1 :]])})"
        named = [*base[:i], *(f"{q.name}={b}" for q, b in zip(required[i:], base[i:], strict=True))]
        yield f"{shown}({', '.join(named)})"
    before = list(base)
    for p in parameters:
        if p in required:
            continue
        for value in choices[p.name]:
            yield f"{shown}({', '.join([*base, f'{p.name}={value}'])})"
            if p.kind is not p.KEYWORD_ONLY:
                yield f"{shown}({', '.join([*before, value])})"
        before.append(repr(p.default) if isinstance(p.default, int | float | str | type(None)) else choices[p.name][0])
    for name in MORE.get(function, ()):
        yield f"{shown}({', '.join([*base, f'{name}={VALUES[name][0]}'])})"
    yield f"{shown}({', '.join([*base, 'bogus=1'])})"
    if base:
        yield f"{shown}()"
    options = [(p.name, value) for p in parameters if p not in required for value in choices[p.name]]
    chosen = random.Random(function)
    for _ in range(min(6, len(options) // 2)):
        (a, one), (b, other) = chosen.sample(options, 2)
        if a != b:
            yield f"{shown}({', '.join([*base, f'{a}={one}', f'{b}={other}'])})"


def attribute(path: str) -> Any:
    found: Any = np
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def expressions() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(function, expression, kinds of x that are tried)."""
    for name in FUNCTIONS:
        shown = f"np.{name}"
        if attribute(name) is None:
            continue
        if shown in STARRED:
            yield from ((shown, f"{shown}({arguments})", KINDS) for arguments in STARRED[shown])
        else:
            yield from ((shown, e, KINDS) for e in by_signature(shown, shown, attribute(name), 0))
    for name in METHODS:
        shown, full = f"x.{name}", f"np.ndarray.{name}"
        if full in STARRED:
            yield from ((shown, f"{shown}({arguments})", ARRAYS) for arguments in STARRED[full])
        else:
            yield from ((shown, e, ARRAYS) for e in by_signature(shown, full, attribute(f"ndarray.{name}"), 1))
    for name in UFUNCS_1:
        yield from ((f"np.{name}", f"np.{name}(x{option})", (*KINDS, "z", "true", "f4s")) for option in UFUNC_OPTIONS)
        yield f"np.{name}", f"np.{name}(x, x)", ARRAYS
        yield f"np.{name}", f"np.{name}(x, out=x)", ARRAYS
        yield f"np.{name}", f"np.{name}()", ("a1",)
    for name in UFUNCS_2:
        yield from ((f"np.{name}", f"np.{name}(x, y{option})", (*KINDS, "z", "true", "f4s")) for option in UFUNC_OPTIONS)
        yield f"np.{name}", f"np.{name}(x, y, x)", ARRAYS
        yield f"np.{name}", f"np.{name}(x, y, out=x)", ARRAYS
        yield f"np.{name}", f"np.{name}(x)", ("a1",)
    for name, options in JOINS.items():
        for option in options:
            for pair in ("(x, y)", "[x, y]", "(x,)", "x", "(x, 2.0)"):
                yield f"np.{name}", f"np.{name}({pair}{option})", KINDS
    for name in MATH_1:
        if hasattr(__import__("math"), name):
            yield f"math.{name}", f"math.{name}(x)", SCALARS
    for name in MATH_2:
        yield f"math.{name}", f"math.{name}(x, y)", SCALARS
    for e in MATH_FORMS:
        yield e.split("(")[0], e, SCALARS
    for e in BUILTINS:
        yield e, e, (*KINDS, *SCALARS[2:])
    for e in BUILTINS_2:
        yield e, e, (*KINDS, *SCALARS[2:])
    for name, all_arguments in RANDOM.items():
        for arguments in all_arguments:
            yield f"np.random.{name}", f"np.random.{name}({arguments})", ("seed",)


def forms(kinds_of_each: int = 3, seed: int = 0) -> list[Form]:
    """Every expression with some kinds of its operands: the first expressions of each function with more."""
    chosen = random.Random(seed)
    made: list[Form] = []
    seen: dict[str, int] = {}
    for function, expression, kinds in dict.fromkeys(expressions()):
        many = seen.setdefault(function, 0) == 0
        seen[function] += 1
        words = set("".join(c if c.isalnum() or c == "_" else " " for c in expression).split())
        count = 3 if "z" in words else 2 if "y" in words else 1
        some = list(kinds) if many else chosen.sample(kinds, min(kinds_of_each, len(kinds)))
        if kinds == ("seed",) or not words & {"x", "y", "z"}:
            some = ["seed"] if kinds == ("seed",) else ["a1"]
        for kind in some:
            others = tuple(chosen.choice(kinds if chosen.random() < 0.5 else (kind,)) for _ in range(count - 1))
            made.append((expression, (kind, *others)))
    return made


def kernel_forms(kinds_of_each: int = 3, seed: int = 0) -> list[Form]:
    """The forms of numbers in kernels of `cuda.jit`, which write the result to an element."""
    chosen = random.Random(seed)
    kinds = (*NUMBERS, "i32s", "u8s", "nan", "inf", "zero", "half", "a0")
    made: list[Form] = []
    for _, expression, _ in dict.fromkeys(expressions()):
        first = expression.split("(")[0]
        ufunc = first.startswith("np.") and first[3:] in {*UFUNCS_1, *UFUNCS_2, "where", "clip", "round", "isclose", "real", "sum", "max"}
        if not (ufunc or expression.startswith("math.") or expression in BUILTINS or expression in BUILTINS_2) or "random" in expression:
            continue
        count = 2 if "y" in "".join(c if c.isalnum() else " " for c in expression).split() else 1
        for kind in chosen.sample(kinds, kinds_of_each):
            made.append(("kernel " + expression, (kind, *(chosen.choice(kinds) for _ in range(count - 1)))))
    return made


if __name__ == "__main__":
    everything = forms()
    print(len(everything), "forms of", len({function for function, _, _ in expressions()}), "functions")
