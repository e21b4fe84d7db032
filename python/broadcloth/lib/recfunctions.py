"""Functions of arrays of records, as in numpy.lib.recfunctions: fields stay on the device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.lib.recfunctions as _np_recfunctions

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from .._namespace import listing
from .._records import RecordArray, create

if TYPE_CHECKING:
    from ..typing import ArrayLike, DTypeLike

__all__ = [
    "append_fields",
    "drop_fields",
    "get_names",
    "get_names_flat",
    "merge_arrays",
    "rename_fields",
    "repack_fields",
    "stack_arrays",
    "structured_to_unstructured",
    "unstructured_to_structured",
]


def _records(a: Any, function: str) -> RecordArray:
    found = a if isinstance(a, RecordArray) else _c.asarray(a)
    if not isinstance(found, RecordArray):
        raise ValueError(f"{function}: expected an array of records, got {found.dtype}")
    return found


def _described(dtype: np.dtype[Any]) -> list[tuple[str, Any]]:
    assert dtype.names is not None
    return [(name, dtype[name]) for name in dtype.names]


def get_names(adtype: DTypeLike) -> tuple[Any, ...]:
    """The names of a structured dtype's fields, those of nested ones as (name, names).

    Examples
    --------
    >>> bc.lib.recfunctions.get_names(np.dtype([("a", "i4"), ("b", [("x", "f8")])]))
    ('a', ('b', ('x',)))
    """
    found: Any = np.dtype(adtype)
    return _np_recfunctions.get_names(found)


def get_names_flat(adtype: DTypeLike) -> tuple[str, ...]:
    """The names of a structured dtype's fields, those of nested ones after their own.

    Examples
    --------
    >>> bc.lib.recfunctions.get_names_flat(np.dtype([("a", "i4"), ("b", [("x", "f8")])]))
    ('a', 'b', 'x')
    """
    found: Any = np.dtype(adtype)
    return _np_recfunctions.get_names_flat(found)


def _leaves(a: RecordArray) -> list[ndarray]:
    """The numbers of all fields, each with the records' shape; those of subarrays one after the other."""
    found: list[ndarray] = []
    for name in a.dtype.names or ():
        field = a[name]
        inner = field.shape[a.ndim :]
        for index in np.ndindex(*inner):
            part = field[(Ellipsis, *index)]
            found += _leaves(part) if isinstance(part, RecordArray) else [part]
    return found


def structured_to_unstructured(arr: Any, dtype: DTypeLike = None, copy: bool = False, casting: Any = "unsafe") -> ndarray:
    """The fields of records as one more axis of numbers.

    Parameters
    ----------
    arr : array of records
    dtype : dtype, optional
        Of the result; what the fields have in common unless given.
    copy : bool
        Without effect: the result is a new array.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

    Raises
    ------
    ValueError
        `arr` has no fields.
    TypeError
        `casting` forbids a field's cast.

    Examples
    --------
    >>> a = bc.array([(1, 2.0), (3, 4.0)], dtype=[("n", "i4"), ("x", "f8")])
    >>> bc.lib.recfunctions.structured_to_unstructured(a)
    array([[1., 2.],
           [3., 4.]])
    """
    a = _records(arr, "structured_to_unstructured")
    leaves = _leaves(a)
    if not leaves and dtype is None:
        raise ValueError("arr has no fields. Unable to guess dtype")
    wanted: Any = _c.result_type(*(leaf.dtype for leaf in leaves)) if dtype is None else dtype
    return _c.stack([leaf.astype(wanted, casting=casting) for leaf in leaves], axis=-1)


def unstructured_to_structured(
    arr: ArrayLike,
    dtype: DTypeLike = None,
    names: Sequence[str] | None = None,
    align: bool = False,
    copy: bool = False,
    casting: Any = "unsafe",
) -> RecordArray:
    """Records whose fields are the last axis of an array of numbers.

    Parameters
    ----------
    arr : array_like, at least 1-d
    dtype : structured dtype, optional
        Unless given, a field of the array's type for each of `names`, or for f0, f1, …
    names : sequence of str, optional
    align : bool
        Whether the dtype that is made of names is aligned.
    copy : bool
        Without effect: the result is a new array.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

    Raises
    ------
    ValueError
        The last axis has another length than there are fields, or both `dtype` and `names` are given.

    Examples
    --------
    >>> bc.lib.recfunctions.unstructured_to_structured(bc.arange(4).reshape(2, 2), names=["a", "b"])["b"]
    array([1, 3])
    """
    a = _c.asarray(arr)
    if a.ndim == 0:
        raise ValueError("arr must have at least one dimension")
    if dtype is not None and names is not None:
        raise ValueError("don't supply both dtype and names")
    count = a.shape[-1]
    if dtype is None:
        dtype = np.dtype([(n, a.dtype) for n in (names or [f"f{i}" for i in range(count)])], align=align)
    made = create(a.shape[:-1], dtype, a.device)
    leaves = _leaves(made)
    if len(leaves) != count:
        raise ValueError("The length of the last dimension of arr must be equal to the number of fields in dtype")
    for i, leaf in enumerate(leaves):
        leaf[...] = a[..., i].astype(leaf.dtype, casting=casting)
    return made


def append_fields(
    base: Any,
    names: str | Sequence[str],
    data: Any,
    dtypes: Any = None,
    fill_value: Any = -1,
    usemask: bool = False,
    asrecarray: bool = False,
) -> RecordArray:
    """Records with more fields.

    Parameters
    ----------
    base : array of records
    names : str or sequence of str
    data : array_like or sequence of array_likes
        The values of each new field. Shorter ones are filled up.
    dtypes : dtype or sequence of dtypes, optional
        Unless given, those of `data`.
    fill_value : number
        What fills the records that `data` or `base` do not reach.
    usemask : bool
        Has to be False: there are no masked arrays.
    asrecarray : bool
        Without effect: fields are attributes of all arrays of records.

    Raises
    ------
    ValueError
        Not as many names as arrays.
    NotImplementedError
        `usemask` is true.

    Examples
    --------
    >>> a = bc.array([(1,), (2,)], dtype=[("n", "i4")])
    >>> bc.lib.recfunctions.append_fields(a, "x", [0.5, 1.5])
    array([(1, 0.5), (2, 1.5)], dtype=[('n', '<i4'), ('x', '<f8')])
    """
    if usemask:
        raise NotImplementedError("append_fields: there are no masked arrays; pass usemask=False")
    a = _records(base, "append_fields").ravel()
    given = [names] if isinstance(names, str) else list(names)
    columns = [_c.asarray(d, device=a.device).ravel() for d in ([data] if isinstance(names, str) else data)]
    if len(given) != len(columns):
        raise ValueError("The number of arrays does not match the number of names")
    kinds = [c.dtype for c in columns] if dtypes is None else list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes] * len(given)
    if len(kinds) == 1:
        kinds = kinds * len(given)
    if len(kinds) != len(given):
        raise ValueError("The dtypes argument must be None, a dtype, or a list.")
    n = max([len(a), *(len(c) for c in columns)])
    made = create(n, np.dtype([*_described(a.dtype), *zip(given, kinds)]), a.device)
    for name, column in [*((name, a[name]) for name in a.dtype.names or ()), *zip(given, columns)]:
        made[name][: len(column)] = column
        if len(column) < n:
            made[name][len(column) :] = fill_value
    return made


def drop_fields(base: Any, drop_names: str | Iterable[str], usemask: bool = False, asrecarray: bool = False) -> RecordArray | None:
    """Records without some fields; None where none is left.

    Parameters
    ----------
    base : array of records
    drop_names : str or sequence of str
        Names that are not there are passed over. Fields of nested records are named as they are.
    usemask, asrecarray : bool
        Without effect.

    Examples
    --------
    >>> a = bc.array([(1, 2.0)], dtype=[("n", "i4"), ("x", "f8")])
    >>> bc.lib.recfunctions.drop_fields(a, "n").dtype.names
    ('x',)
    """
    a = _records(base, "drop_fields")
    gone = {drop_names} if isinstance(drop_names, str) else set(drop_names)

    def without(dtype: np.dtype[Any]) -> list[tuple[str, Any]]:
        kept: list[tuple[str, Any]] = []
        for name, t in _described(dtype):
            if name in gone:
                continue
            inner = without(t) if t.names is not None else t
            if inner is t or inner:
                kept.append((name, inner))
        return kept

    def put(to: RecordArray, source: RecordArray) -> None:
        for name in to.dtype.names or ():
            if isinstance(to[name], RecordArray):
                put(to[name], source[name])
            else:
                to[name] = source[name]

    fields = without(a.dtype)
    if not fields:
        return None
    made = create(a.shape, np.dtype(fields), a.device)
    put(made, a)
    return made


def rename_fields(base: Any, namemapper: Mapping[str, str]) -> RecordArray:
    """The same records with fields of other names.

    Parameters
    ----------
    base : array of records
    namemapper : dict
        Old names to new ones, also of nested fields.

    Returns
    -------
    array of records
        A view.

    Examples
    --------
    >>> a = bc.array([(1, 2.0)], dtype=[("n", "i4"), ("x", "f8")])
    >>> bc.lib.recfunctions.rename_fields(a, {"n": "count"}).dtype.names
    ('count', 'x')
    """
    a = _records(base, "rename_fields")

    def renamed(dtype: np.dtype[Any]) -> np.dtype[Any]:
        if dtype.subdtype is not None:
            return np.dtype((renamed(dtype.subdtype[0]), dtype.subdtype[1]))
        if dtype.names is None or dtype.fields is None:
            return dtype
        fields = [(namemapper.get(n, n), renamed(dtype[n]), dtype.fields[n][1]) for n in dtype.names]
        spec: Any = {
            "names": [f[0] for f in fields],
            "formats": [f[1] for f in fields],
            "offsets": [f[2] for f in fields],
            "itemsize": dtype.itemsize,
        }
        return np.dtype(spec)

    return RecordArray(a.shape, renamed(a.dtype), a._bytes, a._offset, a.strides, stored=renamed(a._stored))


def repack_fields(a: Any, align: bool = False, recurse: bool = False) -> Any:
    """Records of a dtype without gaps, or aligned; a dtype so.

    Parameters
    ----------
    a : array of records, or structured dtype
    align : bool
    recurse : bool
        Whether nested records are packed too.

    Examples
    --------
    >>> a = bc.zeros(2, np.dtype([("n", "i1"), ("x", "f8")], align=True))
    >>> bc.lib.recfunctions.repack_fields(a).itemsize
    9
    """
    if isinstance(a, (np.dtype, type)):
        described: Any = np.dtype(a)
        return _np_recfunctions.repack_fields(described, align=align, recurse=recurse)
    found = _records(a, "repack_fields")
    return found.astype(_np_recfunctions.repack_fields(found.dtype, align=align, recurse=recurse), copy=False)


def merge_arrays(
    seqarrays: Any, fill_value: Any = -1, flatten: bool = False, usemask: bool = False, asrecarray: bool = False
) -> RecordArray:
    """Arrays as fields of records, side by side.

    Parameters
    ----------
    seqarrays : array_like or sequence of array_likes
        Arrays of numbers become fields f0, f1, …; arrays of records too, or with `flatten` each of their fields.
    fill_value : number
        What fills the shorter ones up.
    flatten : bool
    usemask : bool
        Has to be False: there are no masked arrays.
    asrecarray : bool
        Without effect.

    Raises
    ------
    NotImplementedError
        `usemask` is true.

    Examples
    --------
    >>> bc.lib.recfunctions.merge_arrays((bc.array([1, 2]), bc.array([0.5, 1.5])))["f1"]
    array([0.5, 1.5])
    """
    if usemask:
        raise NotImplementedError("merge_arrays: there are no masked arrays; pass usemask=False")
    if isinstance(seqarrays, (ndarray, RecordArray, np.ndarray)):
        seqarrays = (seqarrays,)
    columns: list[tuple[str, Any]] = []
    for i, one in enumerate(seqarrays):
        a = _c.asarray(one).ravel()
        if isinstance(a, RecordArray) and (flatten or len(seqarrays) == 1):
            columns += [(name, a[name]) for name in a.dtype.names or ()]
        else:
            columns.append((f"f{len(columns) if flatten else i}", a))
    n = max(len(c) for _, c in columns)
    formats = [(name, np.dtype((c.dtype, c.shape[1:])) if c.ndim > 1 else c.dtype) for name, c in columns]
    made = create(n, np.dtype(formats), columns[0][1].device)
    for name, column in columns:
        made[name][: len(column)] = column
        if len(column) < n:
            made[name][len(column) :] = fill_value
    return made


def stack_arrays(
    arrays: Any, defaults: Mapping[str, Any] | None = None, usemask: bool = False, asrecarray: bool = False, autoconvert: bool = False
) -> RecordArray:
    """Records one after the other; fields that an array has not are filled.

    Parameters
    ----------
    arrays : sequence of arrays of records
    defaults : dict, optional
        What fills a field, by its name; -1 unless given.
    usemask : bool
        Has to be False: there are no masked arrays.
    asrecarray : bool
        Without effect.
    autoconvert : bool
        Whether fields of one name and several types get what they have in common; else that is an error.

    Raises
    ------
    TypeError
        Fields of one name have several types.
    NotImplementedError
        `usemask` is true.

    Examples
    --------
    >>> a = bc.array([(1,)], dtype=[("n", "i4")])
    >>> b = bc.array([(2, 0.5)], dtype=[("n", "i4"), ("x", "f8")])
    >>> bc.lib.recfunctions.stack_arrays((a, b))
    array([(1, -1. ), (2,  0.5)], dtype=[('n', '<i4'), ('x', '<f8')])
    """
    if usemask:
        raise NotImplementedError("stack_arrays: there are no masked arrays; pass usemask=False")
    parts = [_records(a, "stack_arrays").ravel() for a in ([arrays] if isinstance(arrays, RecordArray) else arrays)]
    fields: dict[str, Any] = {}
    for part in parts:
        for name, t in _described(part.dtype):
            known = fields.setdefault(name, t)
            if known != t:
                if not autoconvert:
                    raise TypeError(f"Incompatible type '{known}' <> '{t}'")
                fields[name] = np.promote_types(known, t)
    made = create(sum(len(p) for p in parts), np.dtype(list(fields.items())), parts[0].device)
    at = 0
    for part in parts:
        for name in fields:
            has = name in (part.dtype.names or ())
            made[name][at : at + len(part)] = part[name] if has else (defaults or {}).get(name, -1)
        at += len(part)
    return made

__dir__ = listing(__all__)
