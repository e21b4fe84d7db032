"""Einstein sums against NumPy: subscripts, lists of axes, ellipses, paths, dtypes, outputs, errors."""

from __future__ import annotations

import numpy as np
import pytest

from support import assert_close_to_numpy

# Subscripts and the shapes of their operands; some do not fit.
SUMS = [
    ("ij,jk", (2, 3), (4, 5)),
    ("ii", (2, 3)),
    ("ij", (3,)),
    ("i", (2, 3)),
    ("ij,", (2, 3)),
    ("ij", (2, 3), (3,)),
    ("i,i", (3,)),
    ("i->k", (3,)),
    ("i->ii", (3,)),
    ("i1->", (3, 3)),
    ("i-", (3,)),
    ("i->i->i", (3,)),
    ("...i...", (3, 3)),
    ("i->...", (3,)),
    ("...i->i", (3, 3)),
    ("...i", (2, 3)),
    (". i", (3,)),
    ("i, i", (3,), (3,)),
    ("i,i->", (3,), (1,)),
    ("ij,ij->ij", (2, 3), (1, 3)),
    ("ii->i", (1, 3)),
    ("ii", (1, 3)),
    ("i,j", (3,), (2,)),
    ("...,...", (3,), (2, 3)),
    ("...->", (3,)),
    ("->", ()),
    (",", (), ()),
    ("...a,...b->...ab", (2, 1, 3), (2, 4)),
    ("...i,...i->...", (2, 3), (4, 3)),
    ("ij...,jk...->ik...", (2, 3, 1), (3, 2, 5)),
    ("...,...", (3,), (2, 4)),
    ("a...b,b...->...", (2, 3, 4), (4, 2)),
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ij,kj->ik", (2, 3), (4, 3)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("bij,bjk->ibk", (5, 2, 3), (5, 3, 4)),
    ("bij,jk->bik", (5, 2, 3), (3, 4)),
    ("ij,j->i", (2, 3), (3,)),
    ("ij,i->j", (2, 3), (2,)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij->j", (2, 3)),
    ("ij->", (2, 3)),
    ("ijk->ki", (2, 3, 4)),
    ("iij->j", (3, 3, 2)),
    ("iji->ij", (3, 2, 3)),
    ("iji", (3, 2, 3)),
    ("ij,ji->", (2, 3), (3, 2)),
    ("i,j,k->ijk", (2,), (3,), (4,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 5), (5, 2)),
    ("ea,fb,abcd,gc,hd->efgh", (2, 3), (2, 3), (3, 3, 3, 3), (2, 3), (2, 3)),
    ("i,i,i->", (4,), (4,), (4,)),
    ("ij,j,j->i", (2, 3), (3,), (3,)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("ij,kl->jl", (2, 3), (4, 5)),
    ("ab,ab,c->", (2, 3), (2, 3), (4,)),
    ("ij,ij,ij->ij", (2, 3), (2, 3), (2, 3)),
    ("ij,jk", (0, 3), (3, 4)),
    ("ij,jk", (2, 0), (0, 4)),
    ("ii->i", (3, 3)),
    ("ij->ji", (2, 3)),
    ("AaB,c", (1, 2, 3), (2,)),
    ("i...->...", (3, 2)),
    ("ijk,ilm,njm,nlk,abc->", (2, 3, 4), (2, 5, 3), (6, 3, 3), (6, 5, 4), (2, 2, 2)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("aij,ajk->aik", (1, 3, 4), (5, 4, 2)),
    ("ij,jk", (2, 1), (3, 4)),
    ("aab,b->a", (2, 2, 3), (3,)),
    ("...ij,...jk->...ik", (4, 2, 3), (3, 5)),
    ("...ij,...jk->...ik", (4, 1, 2, 3), (6, 3, 5)),
    ("i,ij,j", (3,), (3, 4), (4,)),
    ("ij,jk->", (2, 3), (3, 4)),
    ("xyz->...", (2, 3, 4)),
    ("...x->x...", (2, 3, 4)),
]


def operands(shapes: tuple, dtype: str) -> dict[str, np.ndarray]:
    """Whole numbers, so that every order of the sum gives the same."""
    rng = np.random.default_rng(0)
    made = {}
    for i, shape in enumerate(shapes):
        x = rng.integers(-2, 3, shape) + (1j * rng.integers(0, 3, shape) if dtype == "complex128" else 0)
        made[f"x{i}"] = np.asarray(x).astype(dtype)
    return made


@pytest.mark.parametrize("row", SUMS, ids=lambda row: row[0])
def test_sums_match_numpy(xp, row):
    subscripts, *shapes = row
    for dtype in ("float64", "int64", "complex128", "bool", "float16", "int8"):
        given = operands(shapes, dtype)
        assert_close_to_numpy(xp, f"xp.einsum({subscripts!r}, {', '.join(given)})", 1e-3 if dtype == "float16" else 0, **given)


@pytest.mark.parametrize("row", [row for row in SUMS if "," in row[0]], ids=lambda row: row[0])
def test_paths_change_nothing(xp, row):
    subscripts, *shapes = row
    given = operands(shapes, "float64")
    try:
        want = np.einsum(subscripts, *given.values())
    except ValueError:
        return
    for options in ({"optimize": True}, {"optimize": "optimal"}, {"optimize": ("greedy", 100)}, {"order": "F"}, {"order": "C"}):
        got = xp.einsum(subscripts, *map(xp.asarray, given.values()), **options)
        np.testing.assert_array_equal(got.get(), want)
        if "order" in options:
            assert got.flags.f_contiguous if options["order"] == "F" else got.flags.c_contiguous


def test_operands_of_other_layouts(xp):
    x = np.arange(24.0).reshape(2, 3, 4)
    for form in (
        "xp.einsum('kji,jl->il', x, x[0, :, ::-1])",
        "xp.einsum('ijk,kji->j', x, x.T)",
        "xp.einsum('ij,ij->i', x[:, ::-1, 0], x[:, ::2, 0][:, [0, 1, 0]])",
        "xp.einsum('ijk,ijk->', x, xp.broadcast_to(x[:1], x.shape))",
    ):
        assert_close_to_numpy(xp, form, 1e-13, x=x)


@pytest.mark.parametrize(
    "form",
    [
        "xp.einsum(a,[0,1])",
        "xp.einsum(a,[0,1],[1,0])",
        "xp.einsum(a,[0,52])",
        "xp.einsum(a,[0,'a'])",
        "xp.einsum(a,[0])",
        "xp.einsum(a,[0,Ellipsis],v,[2],[2,...])",
        "xp.einsum(a,[1.5,2])",
        "xp.einsum(a,[0,-1])",
        "xp.einsum()",
        "xp.einsum('i')",
        "xp.einsum(3)",
        "xp.einsum(b'i',v)",
        "xp.einsum('i',v,foo=1)",
        "xp.einsum('i',[1,2,3],optimize='bad')",
        "xp.einsum('i,i',v,v,optimize=3)",
        "xp.einsum('i,i',v,v,optimize=['einsum_path',(0,1)])",
        "xp.einsum('i,i,i',v,v,v,optimize=['einsum_path',(0,1)])",
        "xp.einsum('i,i,i',v,v,v,optimize=['einsum_path',(0,4)])",
        "xp.einsum('i,i,i',v,v,v,optimize=['einsum_path',(0,1,2)])",
        "xp.einsum('i,i,i',v,v,v,optimize=('greedy',100))",
        "xp.einsum('i,i,i',v,v,v,optimize='bad')",
        "xp.einsum('i,i->',v.astype('f'),v.astype('f'),out=xp.zeros((),dtype='d'))",
        "xp.einsum('i,i->',v,v.astype('f'),out=xp.zeros((),dtype='f'))",
        "xp.einsum('i,i->',v,v.astype('f'),out=xp.zeros((),dtype='f'),casting='same_kind')",
        "xp.einsum('i->i',v,dtype='f')",
        "xp.einsum('i->',v,dtype='f')",
        "xp.einsum('i->',v,dtype='f',casting='same_kind')",
        "xp.einsum('i->i',v,out=xp.ones(2))",
        "xp.einsum('i->',v,out=xp.ones(2))",
        "xp.einsum('i->',v,casting='foo')",
        "xp.einsum('i->',v,order='X')",
        "xp.einsum('i->',v,order=None)",
        "xp.einsum('ij->',a,dtype=complex)",
        "xp.einsum('i,i->',v,v,out=[0])",
        "xp.einsum(['ij'],v)",
        "xp.einsum('ij,ij',[[1,2]],[[3],[4]])",
        "xp.einsum('i,->i',v,2.0)",
        "xp.einsum('ij->ji',a).flags.writeable",
        "xp.einsum('i,i->i',v,v,out=xp.zeros(3)).sum()",
        "xp.einsum_path('ij,jk,kl->il',a,xp.ones((3,4)),xp.ones((4,5)))",
        "xp.einsum_path('ij,jk,kl->il',a,xp.ones((3,4)),xp.ones((4,5)),optimize='optimal')",
        "xp.einsum_path('ij,jk->ik',a,xp.ones((3,4)),optimize=False)[0]",
        "xp.einsum_path(a,[0,1],v,[1])",
        "xp.einsum_path(a,[0,1],v,[1],[0])",
    ],
)
def test_forms_of_einsum(xp, form):
    rng = np.random.default_rng(0)
    assert_close_to_numpy(xp, form, 1e-12, a=rng.random((2, 3)), v=rng.random(3))


def test_diagonals_and_transposes_are_views(xp):
    x = xp.zeros((3, 3))
    xp.einsum("ii->i", x)[...] = 5
    assert x.tolist() == (np.eye(3) * 5).tolist()
    xp.einsum("ij->ji", x)[0, 1] = 7
    assert x[1, 0] == 7
    assert xp.einsum("ij->ji", x).base is x


def test_a_result_goes_to_out(xp):
    x, out = xp.arange(6.0).reshape(2, 3), xp.zeros((3, 2))
    assert xp.einsum("ij->ji", x, out=out) is out
    assert out.tolist() == x.T.tolist()
    with pytest.raises(ValueError, match="shape"):
        xp.einsum("ij->j", x, out=xp.zeros(2))


def test_errors_name_the_shapes(xp):
    with pytest.raises(ValueError, match=r"remapped shapes \[original->remapped\]: \(2,3\)->\(2,newaxis,3\) \(4,5\)->\(5,4\)"):
        xp.einsum("ij,jk", xp.ones((2, 3)), xp.ones((4, 5)))
    with pytest.raises(ValueError, match=r"collapsing index 'i' don't match \(2 != 3\)"):
        xp.einsum("ii", xp.ones((2, 3)))


def test_numpys_einsum_gives_our_arrays(xp):
    x = xp.ones((2, 3))
    assert isinstance(np.einsum("ij,kj", x, x), xp.ndarray)
    assert np.einsum_path("ij,kj", x, x)[0] == ["einsum_path", (0, 1)]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "u2", "i8", "?"])
def test_products_at_once_are_those_of_numpy(xp, dtype):
    rng = np.random.default_rng(2)
    for n in (0, 1, 3, 40):
        m, v = (np.multiply(rng.integers(0, 5, s), 1 + 1j if dtype[0] == "c" else 1).astype(dtype) for s in ((n,) * 2, (n,)))
        a, x = xp.asarray(m), xp.asarray(v)
        for subscripts in ("i,i->", "ij,j->i", "i,ij->j", "i,j->ij", "ij,ij->", "ij,jk->ik", "ij,ij->i", "ii->"):
            for text in (subscripts, subscripts.partition("->")[0]):
                terms = text.partition("->")[0].split(",")
                want = np.einsum(text, *(m if len(t) == 2 else v for t in terms))
                got = xp.einsum(text, *(a if len(t) == 2 else x for t in terms))
                assert got.dtype == want.dtype and got.shape == want.shape, (text, n)
                tolerance = 0.0 if np.dtype(dtype).kind in "iub" else 40 * n * float(np.finfo(want.dtype).eps)
                np.testing.assert_allclose(got.get(), want, rtol=tolerance, err_msg=f"{text} {n}")
    one = xp.asarray(np.ones((1, 3)))
    assert xp.einsum("ij,ij->i", one, xp.asarray(np.ones((4, 3)))).shape == (4,)
    for text, operands in (("ii", (one,)), ("ij,j", (one, one[0, :2])), ("ij,ij", (one, xp.asarray(np.ones((2, 2)))))):
        with pytest.raises(ValueError):
            xp.einsum(text, *operands)
