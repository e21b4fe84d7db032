"""pandas takes our arrays as columns, as operands and as what it compares with; it selects and groups by their host copies."""

from __future__ import annotations

import numpy as np
import pytest

pd = pytest.importorskip("pandas")


@pytest.fixture
def frame(xp):
    return pd.DataFrame({"a": xp.arange(6), "b": xp.linspace(0, 1, 6, dtype="float32")})


def test_arrays_are_columns(xp, frame):
    assert frame.dtypes.astype(str).tolist() == ["int64", "float32"]
    frame["c"] = xp.arange(6) > 2
    made = frame.assign(d=xp.ones(6))
    assert made["c"].dtype == bool and made["d"].tolist() == [1.0] * 6
    assert pd.DataFrame(xp.eye(2), columns=["x", "y"])["y"].tolist() == [0, 1]
    assert pd.Series(xp.arange(3), index=list("abc"))["b"] == 1 and pd.Index(xp.arange(3)).tolist() == [0, 1, 2]
    assert pd.DataFrame({"m": xp.stack([frame["b"].sum(), xp.ones(2).mean()])}).dtypes["m"].kind == "f"


def test_columns_are_arrays(xp, frame):
    assert xp.asarray(frame["a"]).tolist() == [0, 1, 2, 3, 4, 5] and xp.asarray(frame).shape == (6, 2)
    assert float(xp.sqrt(frame["a"]).sum()) == pytest.approx(np.sqrt(np.arange(6)).sum())


def test_columns_calculate_with_arrays(xp, frame):
    x = xp.arange(6)
    for made in (frame["a"] + x, x + frame["a"]):
        assert np.asarray(made).tolist() == [0, 2, 4, 6, 8, 10]
    assert (frame["a"] * xp.array([2.0]).sum()).dtype == np.float64
    assert (frame["b"] > frame["b"].mean()).sum() == 3 and frame["a"].isin(x[:2]).sum() == 2
    assert frame["a"].where((x > 2).get(), x * 10).tolist() == [0, 10, 20, 3, 4, 5]
    assert len(pd.cut(frame["b"], bins=xp.array([0.0, 0.5, 1.0]))) == 6


def test_rows_are_chosen_and_grouped_by_host_copies(xp, frame):
    x = xp.arange(6)
    assert frame[(x > 2).get()]["a"].tolist() == frame.loc[(x > 2).get(), "a"].tolist() == [3, 4, 5]
    assert frame.iloc[x[:2]]["a"].tolist() == [0, 1]
    assert frame.groupby((x % 2).get())["a"].sum().tolist() == [6, 9]
