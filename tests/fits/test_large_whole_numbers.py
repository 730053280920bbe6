"""Whole numbers that floats do not tell apart: no step or grid is made of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

K = np.random.default_rng(0).integers(0, 50, 200)
EFFECTS = {
    "sd": lambda fit: fit.comparisons("x", contrast="sd"),
    "iqr": lambda fit: fit.comparisons("x", contrast="iqr"),
    "unit": lambda fit: fit.comparisons("x", contrast="unit"),
    "slopes": lambda fit: fit.slopes("x"),
    "partial": lambda fit: fit.partial("x"),
    "two": lambda fit: fit.partial(["x", "z"]),
    "ice": lambda fit: fit.ice("x"),
    "ale": lambda fit: fit.ale("x"),
}


def fitted(x):
    z = np.random.default_rng(1).normal(size=len(K))
    return odrf.odrf("y ~ x + z", pd.DataFrame({"x": x, "z": z, "y": 1.0 * K}), seed=1, n_trees=5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64"])
def test_steps_and_grids_are_refused(dtype):
    fit = fitted(pd.Series(2**60 + K).astype(dtype))
    for effect in EFFECTS.values():
        with pytest.raises(InputError, match=r"'x' has whole numbers beyond 2\*\*53.*less the"):
            effect(fit)


@pytest.mark.filterwarnings("ignore")
def test_two_values_are_compared_exactly_and_smaller_numbers_as_ever():
    x = pd.Series(2**60 + K)
    pair = (2**60 + 2, 2**60 + 40)
    large = fitted(x).comparisons("x", contrast=pair).table["estimate"]
    small = fitted(x - 2**60).comparisons("x", contrast=(2, 40)).table["estimate"]
    assert large.tolist() == pytest.approx(small.tolist()) and large[0] > 10
    assert all(effect(fitted(x - 2**60)) is not None for effect in EFFECTS.values())


@pytest.mark.filterwarnings("ignore")
def test_among_all_variables_they_are_left_out_as_dates_are():
    large, small = fitted(pd.Series(2**60 + K)), fitted(pd.Series(K))
    assert set(large.comparisons().table["term"]) == {"z"} == set(large.slopes().table["term"])
    assert set(small.comparisons().table["term"]) == {"x", "z"} == set(small.slopes().table["term"])
    row = pd.DataFrame({"x": [2**60 + 3], "z": [0.5]})
    found = large.explain(row)
    assert list(found.slopes.index) == ["z"]
    assert not found.changes["variables"].str.contains("x").any()
    alone = odrf.odt("y ~ x", pd.DataFrame({"x": 2**60 + K, "y": 1.0 * K}), seed=1)
    for effect in (alone.comparisons, alone.slopes):
        with pytest.raises(InputError, match=r"'x' has whole numbers beyond"):
            effect()


@pytest.mark.filterwarnings("ignore")
def test_large_numbers_are_set_exactly_and_shared_out_as_small_ones():
    large, small = fitted(pd.Series(2**60 + K)), fitted(pd.Series(K))
    values = [2**60 + 2, 2**60 + 40]
    at = large.predictions(at={"x": values}).table["estimate"]
    assert at.tolist() == pytest.approx(
        small.predictions(at={"x": [2, 40]}).table["estimate"].tolist()
    )
    rows = pd.DataFrame({"x": [2**60 + 3, 2**60 + 44], "z": [0.5, -1.0]})
    values = [fit.shap(rows.assign(x=rows["x"] - less)).values
              for fit, less in ((large, 0), (small, 2**60))]  # fmt: skip
    assert values[0] == pytest.approx(values[1], abs=0.1)


@pytest.mark.filterwarnings("ignore")
def test_interactions_tell_them_apart():
    found = []
    for least in (0, 2**60):
        data = pd.DataFrame(
            {"x": least + K % 2, "z": K // 2 % 2, "y": 1.0 * (K % 2) * (K // 2 % 2)}
        )
        fit = odrf.odt("y ~ x + z", data, seed=1, alpha=None, projection="axis")
        found.append(fit.interactions(permutations=0).table["strength"][0])
    assert found[0] == pytest.approx(found[1]) and found[0] > 0.1


@pytest.mark.parametrize("first", [2**60, 2**63])
def test_whole_numbers_may_come_as_objects(first):
    numbers = [first + k for k in range(60)]
    kind = np.uint64 if first >= 2**63 else np.int64
    data = pd.DataFrame({"x": np.array(numbers, dtype=kind), "y": np.arange(60.0)})
    tree = odrf.odt("y ~ x", data, alpha=None, seed=1)
    told = tree.predict(data)
    assert told.nunique() > 4
    objects = data.assign(x=pd.Series(numbers, dtype=object))
    pd.testing.assert_series_equal(tree.predict(objects), told)
