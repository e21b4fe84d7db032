"""The public classes: each format as a matrix, whose `*` is the product of matrices, and as an array, whose `*` is elementwise."""

from __future__ import annotations

from ._assembly import _dok, _lil
from ._base import sparray, spmatrix
from ._blocks import _bsr, _dia
from ._compressed import _csc, _csr
from ._coo import _coo


class bsr_matrix(spmatrix, _bsr):
    """Blocks in compressed rows, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, indices, indptr) with blocks data[j] of one shape.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import bsr_matrix
    >>> bsr_matrix([[1, 2, 0, 0], [3, 4, 0, 0]], blocksize=(2, 2)).data.shape
    (1, 2, 2)
    """


class bsr_array(_bsr, sparray):
    """Blocks in compressed rows, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, indices, indptr) with blocks data[j] of one shape.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import bsr_array
    >>> bsr_array([[1, 2, 0, 0], [3, 4, 0, 0]], blocksize=(2, 2)).data.shape
    (1, 2, 2)
    """


class coo_matrix(spmatrix, _coo):
    """Coordinates and values; elements of one place are added up, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, (row, column)).
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import coo_matrix
    >>> coo_matrix(([1, 2, 3], ([0, 1, 1], [0, 1, 1])), shape=(2, 2)).toarray()
    array([[1, 0],
           [0, 5]])
    """


class coo_array(_coo, sparray):
    """Coordinates and values; elements of one place are added up, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape of any dimensions, or tuple
        A tuple holds (data, coordinates), the coordinates a tuple of an array for each axis.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import coo_array
    >>> coo_array(([1, 2, 3], ([0, 1, 1], [0, 1, 1])), shape=(2, 2)).toarray()
    array([[1, 0],
           [0, 5]])
    """


class csc_matrix(spmatrix, _csc):
    """Compressed columns, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, (row, column)), or (data, indices, indptr) where column j has the elements data[indptr[j]:indptr[j + 1]].
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import csc_matrix
    >>> csc_matrix([[0, 1], [2, 0]]) @ bc.array([1, 10])
    array([10,  2])
    """


class csc_array(_csc, sparray):
    """Compressed columns, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, (row, column)), or (data, indices, indptr) where column j has the elements data[indptr[j]:indptr[j + 1]].
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import csc_array
    >>> csc_array([[0, 1], [2, 0]]) @ bc.array([1, 10])
    array([10,  2])
    """


class csr_matrix(spmatrix, _csr):
    """Compressed rows, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, (row, column)), or (data, indices, indptr) where row i has the elements data[indptr[i]:indptr[i + 1]].
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import csr_matrix
    >>> csr_matrix([[0, 1], [2, 0]]) @ bc.array([1, 10])
    array([10,  2])
    """


class csr_array(_csr, sparray):
    """Compressed rows, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape of one or two dimensions, or tuple
        A tuple holds (data, (row, column)), or (data, indices, indptr) where row i has the elements data[indptr[i]:indptr[i + 1]].
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import csr_array
    >>> csr_array([[0, 1], [2, 0]]) @ bc.array([1, 10])
    array([10,  2])
    """


class dia_matrix(spmatrix, _dia):
    """Diagonals, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, offsets) with the element of column j of a diagonal at data[k, j], and a shape.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import dia_matrix
    >>> dia_matrix(([[1, 2, 3]], [1]), shape=(3, 3)).toarray()
    array([[0, 2, 0],
           [0, 0, 3],
           [0, 0, 0]])
    """


class dia_array(_dia, sparray):
    """Diagonals, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds (data, offsets) with the element of column j of a diagonal at data[k, j], and a shape.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import dia_array
    >>> dia_array(([[1, 2, 3]], [1]), shape=(3, 3)).toarray()
    array([[0, 2, 0],
           [0, 0, 3],
           [0, 0, 0]])
    """


class dok_matrix(spmatrix, _dok):
    """A dictionary of elements in host memory, to put a matrix together, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds no arrays of elements.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import dok_matrix
    >>> a = dok_matrix((2, 2))
    >>> a[0, 1] = 5
    >>> a.toarray()
    array([[0., 5.],
           [0., 0.]])
    """


class dok_array(_dok, sparray):
    """A dictionary of elements in host memory, to put a matrix together, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape of one or two dimensions, or tuple
        A tuple holds no arrays of elements.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import dok_array
    >>> a = dok_array((2, 2))
    >>> a[0, 1] = 5
    >>> a.toarray()
    array([[0., 5.],
           [0., 0.]])
    """


class lil_matrix(spmatrix, _lil):
    """Lists of elements for each row in host memory, to put a matrix together, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds no arrays of elements.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import lil_matrix
    >>> a = lil_matrix((2, 2))
    >>> a[0, 1] = 5
    >>> a.rows[0], a.nnz
    ([1], 1)
    """


class lil_array(_lil, sparray):
    """Lists of elements for each row in host memory, to put a matrix together, as SciPy's class of this name.

    Parameters
    ----------
    arg1 : array-like, sparse matrix or array (SciPy's too), shape, or tuple
        A tuple holds no arrays of elements.
    shape : tuple of int, optional
        Found from the elements' places unless given.
    dtype : dtype, optional
    copy : bool
        Whether arrays that are given are copied.
    device : optional
        Where the elements go.

    Raises
    ------
    ValueError, TypeError
        The arrays do not fit together or the shape.

    Examples
    --------
    >>> from broadcloth.scipy.sparse import lil_array
    >>> a = lil_array((2, 2))
    >>> a[0, 1] = 5
    >>> a.rows[0], a.nnz
    ([1], 1)
    """
