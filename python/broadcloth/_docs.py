"""One table for the documentation of all ufuncs: what each does, and an example with its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _broadcloth as _c

if TYPE_CHECKING:
    import inspect

# name: (summary, example, result)
TABLE: dict[str, tuple[str, str, str]] = {
    "add": ("x1 + x2.", "bc.add([1, 2], [10, 20])", "array([11, 22])"),
    "subtract": ("x1 - x2.", "bc.subtract([5, 6], 1)", "array([4, 5])"),
    "multiply": ("x1 * x2.", "bc.multiply([2, 3], 4)", "array([ 8, 12])"),
    "divide": ("x1 / x2; integers divide as float64.", "bc.divide([1, 2], 2)", "array([0.5, 1. ])"),
    "floor_divide": ("x1 / x2 rounded down; integers divided by zero give 0.", "bc.floor_divide([7, -7], 2)", "array([ 3, -4])"),
    "remainder": (
        "The remainder with the sign of x2, so that x1 == floor_divide(x1, x2) * x2 + remainder.",
        "bc.remainder([7, -7], 3)",
        "array([1, 2])",
    ),
    "fmod": ("The remainder with the sign of x1, as C's fmod.", "bc.fmod([7, -7], 3)", "array([ 1, -1])"),
    "divmod": ("floor_divide and remainder together.", "bc.divmod([7, -7], 3)", "(array([ 2, -3]), array([1, 2]))"),
    "power": ("x1 to the power x2. Integers to negative integer powers are an error.", "bc.power([2, 3], 2)", "array([4, 9])"),
    "float_power": ("x1 to the power x2, in float64 or complex128.", "bc.float_power([2, 4], -1)", "array([0.5 , 0.25])"),
    "negative": ("-x.", "bc.negative([1, -2])", "array([-1,  2])"),
    "positive": ("+x, a copy.", "bc.positive([1, -2])", "array([ 1, -2])"),
    "square": ("x * x.", "bc.square([3, -4])", "array([ 9, 16])"),
    "reciprocal": ("1 / x, in x's own type.", "bc.reciprocal([2.0, 4.0])", "array([0.5 , 0.25])"),
    "sqrt": ("The square root; NaN for negative reals.", "bc.sqrt([4.0, 9.0])", "array([2., 3.])"),
    "cbrt": ("The cube root.", "bc.cbrt([8.0, -27.0])", "array([ 2., -3.])"),
    "hypot": ("sqrt(x1**2 + x2**2) without overflow on the way.", "bc.hypot([3.0], [4.0])", "array([5.])"),
    "absolute": ("The absolute value; of a complex number its length.", "bc.absolute([-2, 3])", "array([2, 3])"),
    "fabs": ("The absolute value, always floating.", "bc.fabs([-2, 3])", "array([2., 3.])"),
    "sign": ("-1, 0 or 1; of a complex number x / abs(x).", "bc.sign([-2.5, 0.0, 7.0])", "array([-1.,  0.,  1.])"),
    "copysign": ("x1 with the sign of x2.", "bc.copysign([1.0, 2.0], -0.0)", "array([-1., -2.])"),
    "heaviside": ("0 for negative x1, 1 for positive, x2 for 0.", "bc.heaviside([-1.5, 0.0, 2.0], 0.5)", "array([0. , 0.5, 1. ])"),
    "gcd": ("The greatest common divisor.", "bc.gcd([12, 18], 8)", "array([4, 2])"),
    "lcm": ("The least common multiple.", "bc.lcm([4, 6], 10)", "array([20, 30])"),
    "exp": ("e to the power x.", "bc.exp([0.0, 1.0])", "array([1.        , 2.71828183])"),
    "exp2": ("2 to the power x.", "bc.exp2([0.0, 3.0])", "array([1., 8.])"),
    "expm1": ("exp(x) - 1, exact near 0.", "bc.expm1([0.0, 1e-10])", "array([0.e+00, 1.e-10])"),
    "log": ("The natural logarithm.", "bc.log([1.0, 10.0])", "array([0.        , 2.30258509])"),
    "log2": ("The logarithm to base 2.", "bc.log2([1.0, 8.0])", "array([0., 3.])"),
    "log10": ("The logarithm to base 10.", "bc.log10([1.0, 1000.0])", "array([0., 3.])"),
    "log1p": ("log(1 + x), exact near 0.", "bc.log1p([0.0, 1e-10])", "array([0.e+00, 1.e-10])"),
    "logaddexp": ("log(exp(x1) + exp(x2)) without overflow on the way.", "bc.logaddexp([1000.0], [1000.0])", "array([1000.69314718])"),
    "logaddexp2": ("log2(2**x1 + 2**x2) without overflow on the way.", "bc.logaddexp2([5.0], [5.0])", "array([6.])"),
    "sin": ("The sine of an angle in radians.", "bc.sin([0.0, 1.0])", "array([0.        , 0.84147098])"),
    "cos": ("The cosine of an angle in radians.", "bc.cos([0.0, 1.0])", "array([1.        , 0.54030231])"),
    "tan": ("The tangent of an angle in radians.", "bc.tan([0.0, 1.0])", "array([0.        , 1.55740772])"),
    "arcsin": ("The inverse sine, in [-pi/2, pi/2].", "bc.arcsin([0.0, 1.0])", "array([0.        , 1.57079633])"),
    "arccos": ("The inverse cosine, in [0, pi].", "bc.arccos([1.0, 0.0])", "array([0.        , 1.57079633])"),
    "arctan": ("The inverse tangent, in [-pi/2, pi/2].", "bc.arctan([0.0, 1.0])", "array([0.        , 0.78539816])"),
    "arctan2": (
        "The angle of the point (x2, x1), in [-pi, pi].",
        "bc.arctan2([1.0, -1.0], [0.0, 1.0])",
        "array([ 1.57079633, -0.78539816])",
    ),
    "deg2rad": ("Degrees to radians.", "bc.deg2rad([180.0])", "array([3.14159265])"),
    "rad2deg": ("Radians to degrees.", "bc.rad2deg([0.5])", "array([28.64788976])"),
    "sinh": ("The hyperbolic sine.", "bc.sinh([0.0, 1.0])", "array([0.        , 1.17520119])"),
    "cosh": ("The hyperbolic cosine.", "bc.cosh([0.0, 1.0])", "array([1.        , 1.54308063])"),
    "tanh": ("The hyperbolic tangent.", "bc.tanh([0.0, 1.0])", "array([0.        , 0.76159416])"),
    "arcsinh": ("The inverse hyperbolic sine.", "bc.arcsinh([0.0, 1.0])", "array([0.        , 0.88137359])"),
    "arccosh": ("The inverse hyperbolic cosine.", "bc.arccosh([1.0, 2.0])", "array([0.       , 1.3169579])"),
    "arctanh": ("The inverse hyperbolic tangent.", "bc.arctanh([0.0, 0.5])", "array([0.        , 0.54930614])"),
    "rint": ("Rounded to the nearest integer, halves to even.", "bc.rint([0.5, 1.5, 2.6])", "array([0., 2., 3.])"),
    "floor": ("Rounded down.", "bc.floor([1.7, -1.7])", "array([ 1., -2.])"),
    "ceil": ("Rounded up.", "bc.ceil([1.2, -1.2])", "array([ 2., -1.])"),
    "trunc": ("Rounded towards zero.", "bc.trunc([1.7, -1.7])", "array([ 1., -1.])"),
    "nextafter": ("The next representable number from x1 towards x2.", "bc.nextafter([0.0], [1.0])", "array([5.e-324])"),
    "spacing": ("The distance to the next representable number.", "bc.spacing([1.0])", "array([2.22044605e-16])"),
    "ldexp": ("x1 * 2**x2.", "bc.ldexp([0.5, 3.0], [2, 1])", "array([2., 6.])"),
    "frexp": (
        "Mantissas in [0.5, 1) and int32 exponents with x == m * 2**e.",
        "bc.frexp([8.0, 0.75])",
        "(array([0.5 , 0.75]), array([4, 0], dtype=int32))",
    ),
    "modf": (
        "The fractions and the whole parts, both with the sign of x.",
        "bc.modf([1.5, -2.25])",
        "(array([ 0.5 , -0.25]), array([ 1., -2.]))",
    ),
    "conjugate": ("The complex conjugate.", "bc.conjugate([1 + 2j])", "array([1.-2.j])"),
    "equal": ("x1 == x2.", "bc.equal([1, 2], [1, 3])", "array([ True, False])"),
    "not_equal": ("x1 != x2.", "bc.not_equal([1, 2], [1, 3])", "array([False,  True])"),
    "less": ("x1 < x2; complex numbers in the order of their parts.", "bc.less([1, 2], 2)", "array([ True, False])"),
    "less_equal": ("x1 <= x2.", "bc.less_equal([1, 3], 2)", "array([ True, False])"),
    "greater": ("x1 > x2.", "bc.greater([1, 3], 2)", "array([False,  True])"),
    "greater_equal": ("x1 >= x2.", "bc.greater_equal([1, 2], 2)", "array([False,  True])"),
    "logical_and": ("Both are true.", "bc.logical_and([True, True], [True, False])", "array([ True, False])"),
    "logical_or": ("One or both are true.", "bc.logical_or([True, False], [False, False])", "array([ True, False])"),
    "logical_xor": ("Exactly one is true.", "bc.logical_xor([True, True], [True, False])", "array([False,  True])"),
    "logical_not": ("Not true.", "bc.logical_not([0, 2])", "array([ True, False])"),
    "bitwise_and": ("Bits set in both.", "bc.bitwise_and([6, 3], 5)", "array([4, 1])"),
    "bitwise_or": ("Bits set in one or both.", "bc.bitwise_or([6, 3], 8)", "array([14, 11])"),
    "bitwise_xor": ("Bits set in exactly one.", "bc.bitwise_xor([6, 3], 5)", "array([3, 6])"),
    "invert": ("All bits flipped; of a bool, not.", "bc.invert([0, 5])", "array([-1, -6])"),
    "left_shift": ("x1 shifted to the left by x2 bits.", "bc.left_shift([1, 3], 2)", "array([ 4, 12])"),
    "right_shift": ("x1 shifted to the right by x2 bits, keeping the sign.", "bc.right_shift([8, -8], 1)", "array([ 4, -4])"),
    "bitwise_count": ("How many bits of abs(x) are set.", "bc.bitwise_count([7, 8])", "array([3, 1], dtype=uint8)"),
    "isfinite": ("Neither infinite nor NaN.", "bc.isfinite([1.0, bc.inf, bc.nan])", "array([ True, False, False])"),
    "isinf": ("Infinite, of either sign.", "bc.isinf([1.0, bc.inf, bc.nan])", "array([False,  True, False])"),
    "isnan": ("NaN.", "bc.isnan([1.0, bc.inf, bc.nan])", "array([False, False,  True])"),
    "signbit": ("The sign bit is set; true for -0.0 too.", "bc.signbit([0.0, -0.0])", "array([False,  True])"),
    "maximum": ("The larger; NaN where one is NaN.", "bc.maximum([1, 5], [4, 2])", "array([4, 5])"),
    "minimum": ("The smaller; NaN where one is NaN.", "bc.minimum([1, 5], [4, 2])", "array([1, 2])"),
    "fmax": ("The larger; the other where one is NaN.", "bc.fmax([1.0, bc.nan], [4.0, 2.0])", "array([4., 2.])"),
    "fmin": ("The smaller; the other where one is NaN.", "bc.fmin([1.0, bc.nan], [4.0, 2.0])", "array([1., 2.])"),
}

_SIGNATURE = "({inputs}, /, {outs}*, where=True, dtype=None, casting='same_kind', order='K', subok=True, signature=None, device=None)"

_FORM = """{name}{signature}

{summary}

Parameters
----------
{inputs} : array_like
    {shapes}
out : ndarray{tuple_of}, optional
    Where the result goes; it must have the result's shape, and a type that the result casts to.
where : array_like of bool, optional
    Where it is false, `out` keeps its elements.
dtype : dtype, optional
    The type to compute in.
casting : {{'no', 'equiv', 'safe', 'same_kind', 'unsafe'}}
    Which casts of the inputs and of the result are allowed.
order, subok
    For programs written for NumPy.
signature : str or tuple of dtypes, optional
    The types of the inputs and of the result: 'dd->d', or a dtype or None for each.
device : device or str, optional
    Where the result of numbers and lists lives.

Returns
-------
{returns}
    On the device of the inputs.

Raises
------
UFuncTypeError
    No loop for the types of the inputs.
ValueError
    The shapes do not broadcast.

Examples
--------
>>> {example}
{result}
"""


def _parts(f: _c.ufunc) -> tuple[str, str]:
    """The names of a ufunc's inputs and its signature."""
    inputs = "x" if f.nin == 1 else ", ".join(f"x{i + 1}" for i in range(f.nin))
    outs = "out=(None, None), " if f.nout == 2 else "out=None, "
    return inputs, _SIGNATURE.format(inputs=inputs, outs=outs)


def signature(f: _c.ufunc) -> inspect.Signature:
    """What `inspect.signature` tells of a ufunc."""
    import inspect

    return inspect.signature(eval(f"lambda {_parts(f)[1][1:-1]}: None"))


# The rows of documented ufuncs, by their identity: texts are made when somebody reads them.
_ROWS: dict[int, tuple[str, tuple[str, str, str]]] = {}


def document(table: dict[str, tuple[str, str, str]] = TABLE) -> None:
    """Documents every ufunc in a table."""
    _ROWS.update({id(f): (name, row) for name, row in table.items() if (f := _c.ufuncs.get(name)) is not None})


def documentation(f: _c.ufunc) -> str | None:
    """The docstring of a ufunc; the extension asks for it once."""
    if id(f) not in _ROWS:
        return None
    name, (summary, example, result) = _ROWS[id(f)]
    two = f.nout == 2
    inputs, call = _parts(f)
    return _FORM.format(
        name=name,
        inputs=inputs,
        signature=call,
        summary=summary,
        shapes="Any shape." if f.nin == 1 else "Shapes that broadcast.",
        tuple_of=" or tuple of two" if two else "",
        returns="tuple of two ndarrays" if two else "ndarray",
        example=example,
        result=result,
    )
