"""Einstein sums: subscripts are read on the host, once for each form, and run as products of two operands at a time."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import Casting, DTypeLike, Order

_Shape = tuple[int, ...]
# One label an axis: a letter's code, or the place of an ellipsis' axis counted from its end (-1 is the last one).
_Labels = tuple[int, ...]


class _Step(NamedTuple):
    """The operands at `places` go, and what is made of them comes behind the others."""

    places: tuple[int, ...]
    labels: tuple[_Labels, ...]
    out: _Labels


class _Plan(NamedTuple):
    steps: tuple[_Step, ...]
    shape: _Shape
    sums: bool  # false: the result is a view of the one operand


# ---- Subscripts -------------------------------------------------------------------------------------------------------------------------


def _letters(sublist: Any) -> str:
    """Subscripts of a list of numbers and ellipses."""
    parts = []
    for item in sublist:
        if item is Ellipsis:
            parts.append("...")
            continue
        try:
            number = operator.index(item)
        except TypeError:
            raise TypeError("each subscript must be either an integer or an ellipsis") from None
        if not 0 <= number < 52:
            raise ValueError("subscript is not within the valid range [0, 52)")
        parts.append(chr(number + (ord("A") if number < 26 else ord("a") - 26)))
    return "".join(parts)


def _arguments(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """The subscripts as a string, and the operands."""
    if not args:
        raise ValueError(
            "must specify the einstein sum subscripts string and at least one operand, "
            "or at least one operand and its corresponding subscripts list"
        )
    if isinstance(args[0], str | bytes):
        subscripts = args[0] if isinstance(args[0], str) else args[0].decode("ascii")
        if len(args) == 1:
            raise ValueError("must specify the einstein sum subscripts string and at least one operand")
        return subscripts.replace(" ", ""), list(args[1:])
    if len(args) == 1:
        raise ValueError("must provide at least an operand and a subscripts list to einsum")
    pairs = len(args) // 2
    subscripts = ",".join(_letters(args[2 * i + 1]) for i in range(pairs))
    if len(args) % 2:
        subscripts += "->" + _letters(args[-1])
    return subscripts, [args[2 * i] for i in range(pairs)]


def _split(subscripts: str, count: int) -> tuple[list[str], str | None]:
    """The subscripts of each of `count` operands, and of the output if they are given."""
    given, arrow, output = subscripts.partition("->")
    terms = given.split(",")
    for letter in given.replace(",", "").replace(".", ""):
        if letter == "-":
            raise ValueError("einstein sum subscript string does not contain proper '->' output specified")
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters")
    if len(terms) != count:
        # NumPy's words, which count the terms of the subscripts.
        which = "more" if len(terms) > count else "fewer"
        raise ValueError(f"{which} operands provided to einstein sum function than specified in the subscripts string")
    return terms, output if arrow else None


def _around_ellipsis(term: str, what: str) -> tuple[str, str] | None:
    """What stands before and behind an ellipsis, or None where there is none."""
    if "." not in term:
        return None
    before, dots, behind = term.partition("...")
    if not dots or "." in before + behind:
        raise ValueError(f"einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') in {what}")
    return before, behind


def _operand_labels(term: str, shape: _Shape, i: int) -> _Labels:
    around = _around_ellipsis(term, f"operand {i}")
    before, behind = (term, "") if around is None else around
    broadcast = len(shape) - len(before) - len(behind)
    if broadcast < 0:
        raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {i}")
    if broadcast and around is None:
        raise ValueError(
            "operand has more dimensions than subscripts given in einstein sum, "
            "but no '...' ellipsis provided to broadcast the extra dimensions."
        )
    labels = (*map(ord, before), *range(-broadcast, 0), *map(ord, behind))
    for d, label in enumerate(labels):
        first = labels.index(label)
        if shape[first] != shape[d]:
            raise ValueError(f"dimensions in operand {i} for collapsing index '{chr(label)}' don't match ({shape[first]} != {shape[d]})")
    return labels


def _output_labels(output: str | None, operands: Sequence[_Labels]) -> _Labels:
    counts = Counter(label for labels in operands for label in labels)
    broadcast = tuple(sorted(label for label in counts if label < 0))
    if output is None:
        return broadcast + tuple(sorted(label for label, count in counts.items() if label >= 0 and count == 1))
    around = _around_ellipsis(output, "the output")
    before, behind = (output, "") if around is None else around
    for i, letter in enumerate(before + behind):
        if not (letter.isascii() and letter.isalpha()):
            raise ValueError(f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters")
        if letter in (before + behind)[:i]:
            raise ValueError(f"einstein sum subscripts string includes output subscript '{letter}' multiple times")
        if ord(letter) not in counts:
            raise ValueError(f"einstein sum subscripts string included output subscript '{letter}' which never appeared in an input")
    if broadcast and around is None:
        raise ValueError(
            "output has more dimensions than subscripts given in einstein sum, "
            "but no '...' ellipsis provided to broadcast the extra dimensions."
        )
    return (*map(ord, before), *broadcast, *map(ord, behind))


def _extents(operands: Sequence[_Labels], shapes: Sequence[_Shape], out: _Labels) -> dict[int, int]:
    """The extent of each label; axes of extent 1 broadcast."""
    extents: dict[int, int] = {}
    fits = True
    for labels, shape in zip(operands, shapes, strict=True):
        for label, extent in zip(labels, shape, strict=True):
            known = extents.get(label, 1)
            fits &= 1 in (known, extent) or known == extent
            extents[label] = extent if known == 1 else known
    if not fits:
        axes = [*out, *sorted(label for label in extents if label not in out)]
        remapped = "".join(f"{_tight(shape)}->{_remapped(labels, shape, axes)} " for labels, shape in zip(operands, shapes, strict=True))
        raise ValueError(f"operands could not be broadcast together with remapped shapes [original->remapped]: {remapped}")
    return extents


def _tight(extents: Sequence[Any]) -> str:
    return f"({','.join(map(str, extents))}{',' if len(extents) == 1 else ''})"


def _remapped(labels: _Labels, shape: _Shape, axes: Sequence[int]) -> str:
    places = [shape[labels.index(label)] if label in labels else "newaxis" for label in axes]
    while places and places[0] == "newaxis":
        del places[0]
    return f"({','.join(map(str, places))})"


# ---- Plans ------------------------------------------------------------------------------------------------------------------------------


def _host_path(subscripts: str, shapes: Sequence[_Shape], optimize: Any) -> tuple[list[Any], str]:
    """NumPy's path and its description for arrays of these shapes, which have no memory."""
    element = np.empty(())
    return np.einsum_path(subscripts, *(np.broadcast_to(element, shape) for shape in shapes), optimize=optimize)


def _pairs(places: Sequence[int], labels: list[_Labels], out: _Labels) -> list[_Step]:
    """Contracts the operands at `places`, two at a time; `labels` are those of all operands, and are changed to those afterwards."""
    wanted = sorted(places, reverse=True)
    steps = []
    while True:
        pair = tuple(wanted[:2])
        taken = [labels.pop(place) for place in pair]
        last = not labels
        needed = {*out, *(label for other in labels for label in other)}
        first, second = taken[0], taken[1] if len(taken) > 1 else ()
        both = [label for label in first if label in second]
        made = (*both, *(label for label in first if label not in second), *(label for label in second if label not in first))
        kept = out if last else tuple(dict.fromkeys(label for label in made if label in needed))
        steps.append(_Step(pair, tuple(taken), kept))
        labels.append(kept)
        wanted = [len(labels) - 1, *wanted[2:]]
        if len(wanted) == 1:
            return steps


@functools.lru_cache(maxsize=512)
def _plan(subscripts: str, shapes: tuple[_Shape, ...], path: tuple[tuple[int, ...], ...] | str | tuple[str, float] | None) -> _Plan:
    terms, output = _split(subscripts, len(shapes))
    operands = [_operand_labels(term, shape, i) for i, (term, shape) in enumerate(zip(terms, shapes, strict=True))]
    out = _output_labels(output, operands)
    extents = _extents(operands, shapes, out)
    places: Any = path
    if len(shapes) <= 2 and not isinstance(path, tuple):
        places = [tuple(range(len(shapes)))]
    elif path is None or isinstance(path, str) or isinstance(path[0], str):
        places = _host_path(subscripts, shapes, path or "greedy")[0][1:]
    steps: list[_Step] = []
    left = list(operands)
    for group in places:
        if any(not -len(left) <= place < len(left) for place in group):
            raise IndexError("pop index out of range")
        steps += _pairs([place % len(left) for place in group], left, out)
    if len(left) != 1:
        raise RuntimeError(f"Invalid einsum_path is specified: {len(left) - 1} more operands has to be contracted.")
    if left[0] != out:
        raise RuntimeError("Invalid einsum_path is specified: the operands are contracted before the path ends.")
    sums = len(shapes) > 1 or {*operands[0]} != {*out}
    return _Plan(tuple(steps), tuple(extents[label] for label in out), sums)


def _path_key(optimize: Any) -> Any:
    """`optimize` as a key of plans: None for the default, a name, a name and a limit, or the places of an explicit path."""
    if optimize is None or isinstance(optimize, bool | str):
        return optimize if isinstance(optimize, str) else None
    if len(optimize) and optimize[0] == "einsum_path":
        return tuple(tuple(map(operator.index, group)) for group in optimize[1:])
    return tuple(optimize)


# ---- The functions ----------------------------------------------------------------------------------------------------------------------


def _check_casting(casting: Any) -> None:
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '{casting}')")


def _common_dtype(arrays: Sequence[ndarray], out: Any, dtype: DTypeLike, casting: Casting) -> np.dtype[Any]:
    """The dtype of the sums; with `dtype` or `out`, `casting` must allow the ways to it and from it."""
    types = [a.dtype for a in arrays]
    common = _c.get_dtype(dtype) if dtype is not None else _c.result_type(*types, *(() if out is None else (out.dtype,)))
    for i, t in enumerate(types):
        if t != common and not _c.can_cast(t, common, casting):
            raise TypeError(f"Iterator operand {i} dtype could not be cast from {t!r} to {common!r} according to the rule '{casting}'")
    if out is not None and out.dtype != common and not _c.can_cast(common, out.dtype, casting):
        raise TypeError(
            f"Iterator requested dtype could not be cast from {common!r} to {out.dtype!r}, the operand {len(arrays)} dtype, "
            f"according to the rule '{casting}'"
        )
    return common


def _delivered(made: ndarray, shape: _Shape, out: Any) -> Any:
    if out.ndim != len(shape):
        raise ValueError(f"out parameter does not have the correct number of dimensions, has {out.ndim} but should have {len(shape)}")
    if out.shape != shape:
        raise ValueError(f"einsum: expected an output of shape {shape}, got {out.shape}")
    _c.copyto(out, made, "unsafe")
    return out


def _order_letter(order: Any) -> str:
    """'C', 'F', 'A' or 'K'; None is 'K'. Letters may be small, as in NumPy."""
    if order is None:
        return "K"
    if not isinstance(order, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return order.upper()


def _ordered(made: ndarray, arrays: Sequence[ndarray], order: str) -> ndarray:
    fortran = order == "A" and all(a.flags.f_contiguous for a in arrays)
    if order == "C" or (order == "A" and not fortran):
        return _c.array(made, order="C", copy=None)
    if order == "F" or fortran:
        return _c.array(made, order="F", copy=None)
    return made


def _sum_of(axis: int | None) -> Any:
    return lambda a: _c.reduce("sum", a, axis)


def _diagonal_sum(a: ndarray) -> ndarray | None:
    return a.trace() if a.shape[0] == a.shape[1] else None


def _meet(a: ndarray, b: ndarray) -> bool:
    return bool(a.shape[-1] == b.shape[0])


# Elements up to which a product at once is faster than one pass over operands that may still have to be computed.
_FEW = 1024

# Products that need no plan: the kinds of dtypes, the dimensions of both operands, what holds for their shapes, and the function.
_Direct = tuple[str, int, int, Callable[[ndarray, ndarray], bool], Any]


def _few_meet(a: ndarray, b: ndarray) -> bool:
    return a.size <= _FEW and b.size <= _FEW and _meet(a, b)


def _few_agree(a: ndarray, b: ndarray) -> bool:
    return bool(a.size <= _FEW and a.shape == b.shape)


_MATRICES: _Direct = ("fciu", 2, 2, _meet, _c.matmul)
_DIRECT: dict[str, _Direct] = {
    "i,i->": ("fciu", 1, 1, _meet, _c.dot), "i,j->ij": ("fciu", 1, 1, lambda a, b: True, _c.outer),
    "ij,jk->ik": _MATRICES, "ij,jk": _MATRICES,
    "ij,j->i": ("fciu", 2, 1, _few_meet, _c.matmul), "i,ij->j": ("fciu", 1, 2, _few_meet, _c.matmul),
    # Of complex numbers these conjugate.
    "ij,ij->": ("fiu", 2, 2, _few_agree, _c.vdot), "ij,ij->i": ("fiu", 2, 2, _few_agree, _c.vecdot),
}  # fmt: skip
_DIRECT |= {subscripts.partition("->")[0]: _DIRECT[subscripts] for subscripts in ("i,i->", "ij,j->i", "i,ij->j", "i,j->ij", "ij,ij->")}
# Of one operand, whose dtype is that of its sums; what gives None needs a plan.
_DIRECT_OF_ONE: dict[Any, tuple[int, Any]] = {
    "i->": (1, _sum_of(None)), "ij->": (2, _sum_of(None)), "ij->i": (2, _sum_of(1)), "ij->j": (2, _sum_of(0)),
    "ij->ji": (2, _c.transpose), "ji": (2, _c.transpose), "ii": (2, _diagonal_sum), "ii->": (2, _diagonal_sum),
}  # fmt: skip


def _of_one_dtype(subscripts: Any, *arrays: Any) -> ndarray | None:
    """The sums over arrays of one dtype, without options; None of anything else."""
    first = arrays[0]
    if type(subscripts) is not str or type(first) is not ndarray:
        return None
    t = first.dtype
    for a in arrays[1:]:
        if type(a) is not ndarray or a.dtype != t:
            return None
    if len(arrays) == 2:
        if (direct := _DIRECT.get(subscripts)) is not None and t.kind in direct[0]:
            _, m, n, fits, function = direct
            if first.ndim == m and arrays[1].ndim == n and fits(first, arrays[1]):
                return function(first, arrays[1])
    elif len(arrays) == 1 and t.char in "dfDF":
        ndim, of_one = _DIRECT_OF_ONE.get(subscripts, (None, None))
        if first.ndim == ndim and of_one is not None and (made := of_one(first)) is not None:
            return made
    plan = _plan(subscripts.replace(" ", ""), tuple([a.shape for a in arrays]), None)
    made = _computed(plan, list(arrays), t)
    if plan.sums:
        return _c.as_result(made)
    return made if made.ndim else made[()]


def _computed(plan: _Plan, left: list[Any], t: Any) -> ndarray:
    """The result of a plan. A view of the operand where one operand is not summed over."""
    for places, labels, out in plan.steps:
        taken = [left.pop(place) for place in places]
        if len(taken) == 1:
            left.append(_c.einsum_one(taken[0], labels[0], out, t))
        else:
            left.append(_c.einsum_two(taken[0], labels[0], taken[1], labels[1], out, t))
    return left[0]


def einsum(
    *operands: Any,
    out: ndarray | None = None,
    optimize: Any = False,
    dtype: DTypeLike = None,
    order: Order = "K",
    casting: Casting = "safe",
) -> ndarray:
    """Sums of products of elements, by Einstein's convention.

    Parameters
    ----------
    *operands : str, then array_likes; or an array_like and a list of ints for each operand, then a list for the result
        Letters name axes ("ij,jk->ik"); axes of one name are walked together, and names that the result does not have are summed over.
        Without "->" the result has the names that occur once, in order. "..." stands for axes that broadcast. Lists name axes by the
        numbers 0 to 51.
    out : ndarray, optional
        Where the result goes.
    optimize : bool, str, (str, number) or path
        The order in which three and more operands are multiplied: 'greedy' or 'optimal', or a path of `einsum_path`. Without it the order
        is 'greedy' here: the result is that of any order but for rounding.
    dtype : dtype, optional
        The type in which products are added.
    order : {'K', 'C', 'F', 'A'}
        How the result lies in memory.
    casting : {'safe', 'no', 'equiv', 'same_kind', 'unsafe'}
        Which conversions to `dtype` and `out` are allowed.

    Returns
    -------
    ndarray
        A view of the operand where one operand is not summed over.

    Raises
    ------
    ValueError
        The subscripts do not fit the operands, or their extents differ.
    TypeError
        A conversion is not allowed.

    Examples
    --------
    >>> a = bc.arange(6).reshape(2, 3)
    >>> bc.einsum("ij,kj->ik", a, a)
    array([[ 5, 14],
           [14, 50]])
    >>> bc.einsum("ii", bc.eye(3))
    array(3.)
    >>> bc.einsum(a, [0, 1], [1])
    array([3, 5, 7])
    """
    if len(operands) > 1 and out is None and dtype is None and optimize is False and order == "K" and casting == "safe":
        sums = _of_one_dtype(*operands)
        if sums is not None:
            return sums
    if dtype is not None:
        dtype = _c.get_dtype(dtype)
    subscripts, given = _arguments(operands)
    letter = _order_letter(order)
    device = next((v.device for v in given if isinstance(v, ndarray)), None)
    arrays = [_c.asarray(v, device=device) for v in given]
    plan = _plan(subscripts, tuple(a.shape for a in arrays), _path_key(optimize))
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is not None and not isinstance(out, ndarray):
        raise TypeError("keyword parameter out must be an array for einsum")
    _check_casting(casting)
    if out is None and not plan.sums:
        view = _computed(plan, arrays, arrays[0].dtype)
        return view if view.ndim else view[()]
    t = _common_dtype(arrays, out, dtype, casting)
    # A cast that loses imaginary parts says so.
    left = [a.astype(t) if a.dtype.kind == "c" and t.kind in "iuf" else a for a in arrays]
    made = _computed(plan, left, t)
    return _c.as_result(_ordered(made, arrays, letter)) if out is None else _delivered(made, plan.shape, out)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order in which `einsum` multiplies operands, and a description of what it costs. Only shapes count; nothing is computed.

    Parameters
    ----------
    *operands
        As in `einsum`.
    optimize : bool, str, (str, number) or path
        'greedy' takes the cheapest product next, 'optimal' tries all orders; a number beside the name limits the size of what is held
        between the products.

    Returns
    -------
    path : list
        To be given to `einsum` as `optimize`.
    text : str

    Examples
    --------
    >>> a, b, c = bc.ones((2, 9)), bc.ones((9, 9)), bc.ones((9, 3))
    >>> bc.einsum_path("ij,jk,kl->il", a, b, c)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise ValueError("einsum_path: expected einsum_call=False, which is for NumPy's own use")
    subscripts, given = _arguments(operands)
    return _host_path(subscripts, [np.shape(v) for v in given], optimize)
