"""What the array API standard asks of the namespace itself; the functions are tested with the rest of NumPy's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import broadcloth as bc


def test_the_namespace_says_what_it_can_do(xp):
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert xp.zeros((1,) * 64).ndim == 64
    assert info.default_device() == xp.zeros(1).device and info.default_device() in info.devices()
    kinds = info.default_dtypes(device=info.default_device())
    assert kinds["real floating"] == xp.ones(1).dtype == xp.asarray(1.5).dtype
    assert kinds["integral"] == xp.asarray(1).dtype and kinds["complex floating"] == xp.asarray(1j).dtype
    assert kinds["indexing"] == xp.argmax(xp.ones(2)).dtype == xp.nonzero(xp.ones(2))[0].dtype


@pytest.mark.parametrize(
    "kind",
    [None, "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric", ("bool", "integral")],
)
def test_dtypes_of_a_kind_are_numpys(kind):
    ours = bc.__array_namespace_info__().dtypes(kind=kind)
    assert ours == np.__array_namespace_info__().dtypes(kind=kind)
    assert all(bc.zeros(2, dtype).dtype == dtype for dtype in ours.values())


def test_what_is_not_there_is_refused():
    info = bc.__array_namespace_info__()
    with pytest.raises(ValueError, match="expected a kind among"):
        info.dtypes(kind="floating")
    with pytest.raises((ValueError, RuntimeError), match="meta|cuda"):
        info.dtypes(device="cuda:99")


@pytest.mark.parametrize("version", [None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"])
def test_arrays_name_their_namespace(version):
    assert bc.ones(2).__array_namespace__(api_version=version) is bc
    assert bc.__array_api_version__ == "2025.12"


def test_versions_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="expected api_version among 2021.12.*got '1999.12'"):
        bc.ones(2).__array_namespace__(api_version="1999.12")


# The keyword-only parameters of the standard, 2025.12, that NumPy has under no other name.
KEYWORDS = {
    "sort": ("axis", "descending", "stable"),
    "argsort": ("axis", "descending", "stable"),
    "fft.fftfreq": ("d", "dtype", "device"),
    "fft.rfftfreq": ("d", "dtype", "device"),
    "std": ("axis", "correction", "keepdims"),
    "var": ("axis", "correction", "keepdims"),
    "cumulative_sum": ("axis", "dtype", "include_initial"),
    "cumulative_prod": ("axis", "dtype", "include_initial"),
    "astype": ("copy", "device"),
    "asarray": ("dtype", "device", "copy"),
    "from_dlpack": ("device", "copy"),
    "unstack": ("axis",),
    "searchsorted": ("side", "sorter"),
    "take_along_axis": ("axis",),
    "linalg.vector_norm": ("axis", "keepdims", "ord"),
    "linalg.matrix_rank": ("rtol",),
    "linalg.pinv": ("rtol",),
    "linalg.cross": ("axis",),
    "linalg.tensordot": ("axes",),
}


@pytest.mark.parametrize("name", KEYWORDS)
def test_the_standards_keywords_are_taken(name):
    function = bc
    for part in name.split("."):
        function = getattr(function, part)
    assert set(KEYWORDS[name]) <= set(inspect.signature(function).parameters)


def test_sample_frequencies_have_the_dtype_that_is_asked_for(xp):
    for name in ("fftfreq", "rfftfreq"):
        for dtype in ("float32", "float64"):
            ours = getattr(xp.fft, name)(9, d=0.5, dtype=dtype)
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours.get(), getattr(np.fft, name)(9, d=0.5), rtol=1e-6)
        with pytest.raises(ValueError, match="dtype"):
            getattr(xp.fft, name)(9, dtype="int32")
