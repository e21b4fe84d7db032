# ruff: noqa: F401
"""broadcloth: GPU computing for Python. One array, one kernel compiler, every device.

`import broadcloth as bc` gives NumPy's names. Array expressions are recorded and run as few fused kernels when somebody looks at a
value: on an NVIDIA GPU where there is one, on the CPU otherwise.

Examples
--------
>>> import broadcloth as bc
>>> a = bc.arange(5)
>>> a * 2 + 1
array([1, 3, 5, 7, 9])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

# First: where the process cannot have it (a subinterpreter), this says why.
from . import _broadcloth as _c

# isort: split
import numpy as _np

from . import _cuda_paths, _docs, _docs_functions, _json
from ._broadcloth import (
    CompileError,
    TypingError,
    __version__,
    default_device,
    device,
    device_count,
    flush,
    ndarray,
    set_default_device,
    synchronize,
    ufunc,
)
from ._device import (
    Config,
    config,
    device_info,
    devices,
    memory_stats,
    set_memory_limit,
    show_plan,
    show_source,
    trim_memory,
)
from ._namespace import missing as _missing
from ._namespace import on_host as _on_host

# ---- The ufuncs, by their names ----------------------------------------------------------------------------------------------------------

_docs.document()
_docs_functions.document()
_ALIASES = {
    "abs": "absolute",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_not": "invert",
    "bitwise_right_shift": "right_shift",
    "conj": "conjugate",
    "degrees": "rad2deg",
    "mod": "remainder",
    "pow": "power",
    "radians": "deg2rad",
    "true_divide": "divide",
}
# Rows without a line in the table of documentation are parts of other functions.
_ufunc_names = {name for name in _docs.TABLE if name in _c.ufuncs}
globals().update({name: _c.ufuncs[name] for name in _ufunc_names})
globals().update({alias: _c.ufuncs[name] for alias, name in _ALIASES.items() if name in _c.ufuncs})

# What NumPy programs set and read about printing and floating-point errors. Arrays print through NumPy; kernels give no warnings.
printoptions, set_printoptions, get_printoptions = _np.printoptions, _np.set_printoptions, _np.get_printoptions
errstate, seterr, geterr = _np.errstate, _np.seterr, _np.geterr
format_float_positional, format_float_scientific = _np.format_float_positional, _np.format_float_scientific

bool = _np.bool_
True_, False_ = _np.True_, _np.False_

_cuda_paths.install()
_json.install()



def _dask_token(a: ndarray) -> _Any:
    return _import_module(f"{__name__}._dask").tokenize(a)


def _compilers_message(error: CompileError, f: _Any = None) -> str | None:
    """CuPy's methods of its CompileException: the message, or (`dump`) the message written to a file."""
    if f is None:
        return str(error)
    f.write(f"{error}\n")
    return None


CompileError.get_message = CompileError.dump = _compilers_message  # type: ignore[attr-defined]
ndarray.__dask_tokenize__ = _dask_token  # type: ignore[attr-defined]  # dask's own type of arrays has it too

# ---- Modules that are loaded when they are first used ---------------------------------------------------------------------------------

_MODULES = (
    "autograd",
    "core",
    "cuda",
    "cupyx",
    "exceptions",
    "experimental",
    "extending",
    "fft",
    "lib",
    "linalg",
    "polynomial",
    "profiler",
    "random",
    "rec",
    "run",
    "scipy",
    "testing",
    "typed",
    "types",
    "typing",
)
# Names of modules that are loaded when one of the names is first used. A short program uses few of them, and loading all takes as long
# as its work does.
_TABLE: dict[str, str] = {
    "_apply": "apply_along_axis apply_over_axes block broadcast piecewise",
    "_bits": "base_repr binary_repr packbits unpackbits",
    "_convolution": "convolve correlate",
    "_creation": "arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asnumpy c_ copy diag diag_indices"
    " diag_indices_from diagflat empty empty_like eye from_dlpack frombuffer fromfunction fromiter full full_like geomspace"
    " identity indices linspace logspace mask_indices meshgrid mgrid ogrid ones ones_like r_ require tri tril tril_indices"
    " tril_indices_from triu triu_indices triu_indices_from vander zeros zeros_like",
    "_einsum": "einsum einsum_path",
    "_files": "NpzFile fromfile fromregex fromstring genfromtxt load loadtxt save savetxt savez savez_compressed",
    "_histograms": "histogram histogram2d histogram_bin_edges histogramdd",
    "_indexing": "argwhere array2string array_repr array_str astype choose compress extract fill_diagonal flatnonzero index_exp isfortran"
    " iterable ix_ may_share_memory ndenumerate ndim ndindex nonzero place put put_along_axis putmask ravel_multi_index s_"
    " shape shares_memory size take take_along_axis unravel_index",
    "_interpolation": "interp",
    "_manipulation": "append array_split atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_shapes broadcast_to column_stack"
    " concat concatenate copyto delete diagonal dsplit dstack expand_dims flip fliplr flipud hsplit hstack insert matrix_transpose"
    " moveaxis pad permute_dims ravel repeat reshape resize roll rollaxis rot90 split squeeze stack swapaxes tile transpose"
    " trim_zeros unstack vsplit vstack",
    "_math": "allclose angle around array_equal array_equiv clip cross diff ediff1d fix gradient i0 imag isclose iscomplex isneginf"
    " isposinf isreal nan_to_num real real_if_close round select sinc trapezoid unwrap where",
    "_polynomials": "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots",
    "_products": "dot inner kron matmul matvec outer tensordot trace vdot vecdot vecmat",
    "_quantiles": "median nanmedian nanpercentile nanquantile percentile quantile",
    "_records": "recarray",
    "_reductions": "all amax amin any argmax argmin average bincount corrcoef count_nonzero cov cumprod cumsum cumulative_prod"
    " cumulative_sum max mean min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar"
    " prod ptp std sum var",
    "_sorting": "argpartition argsort digitize in1d intersect1d isin lexsort msort partition searchsorted setdiff1d setxor1d sort"
    " sort_complex union1d unique unique_all unique_counts unique_inverse unique_values",
    "_times": "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat timedelta64",
    "_types": "bfloat16 bool_ byte can_cast cdouble common_type complex64 complex128 complexfloating csingle double dtype e euler_gamma"
    " finfo float8_e4m3fn float8_e5m2 float16 float32 float64 floating generic half iinfo inexact inf int8 int16 int32 int64"
    " int_ intc integer intp iscomplexobj isdtype isrealobj isscalar issubdtype little_endian longlong min_scalar_type nan"
    " newaxis number pi promote_types result_type short signedinteger single ubyte uint uint8 uint16 uint32 uint64 uintc uintp"
    " ulonglong unsignedinteger ushort",
    "_windows": "bartlett blackman hamming hanning kaiser",
    "cuda._memory": "get_default_memory_pool get_default_pinned_memory_pool",
    "_broadcloth": "flatiter",
    "_cupy_names": "DataSource alltrue asfarray byte_bounds cfloat complex_ cumproduct disp format_parser fromDlpack long"
    " make_aligned_dtype mintypecode"
    " product round_ row_stack show_config singlecomplex sometrue trapz typename",
    "_array_api": "__array_api_version__ __array_namespace_info__",
    "_callbacks": "carray cfunc farray",
    "_jit": "get_num_threads get_thread_id jit literal_unroll literally njit objmode parallel_chunksize pndindex prange set_num_threads"
    " threading_layer",
    "_portable": "clear_memo get_array_module is_available memoize",
    "_guvectorize": "guvectorize",
    "_stencil": "stencil",
    "_vectorize": "vectorize",
    "_raw_kernels": "RawKernel RawModule",
    "_user_kernels": "ElementwiseKernel ReductionKernel fuse",
    "types": "b1 boolean c16 c8 char deferred_type f4 f8 float_ from_dtype i1 i2 i4 i8 long_ none optional size_t ssize_t typeof u1 u2 u4"
    " u8 uchar ulong void",
}
_LAZY: dict[str, str] = {name: module for module, names in _TABLE.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    if name in _LAZY:
        value = getattr(_import_module(f"{__name__}.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    if (function := _on_host(name, _np)) is not None:
        return function
    what = f"numpy.{name} takes" if callable(getattr(_np, name, None)) else f"the functions of numpy.{name} take"
    raise _missing(__name__, name, _np, f"{what} the array too, on a host copy, and the result is NumPy's")


def load_ipython_extension(shell: _Any) -> None:
    """What `%load_ext broadcloth` calls; see `broadcloth.run`."""
    _import_module(f"{__name__}.run").load_ipython_extension(shell)


def unload_ipython_extension(shell: _Any) -> None:
    """What `%unload_ext broadcloth` calls."""
    _import_module(f"{__name__}.run").unload_ipython_extension(shell)


def __dir__() -> list[str]:
    return sorted({*(n for n in globals() if not n.startswith("_") and n != "annotations"), *_MODULES, *_LAZY, "__version__"})


_NOT_LISTED = {"annotations", "load_ipython_extension", "unload_ipython_extension"}
__all__ = sorted({*(n for n in globals() if not n.startswith("_") and n not in _NOT_LISTED), *_MODULES, *_LAZY})
