"""Columns whose values 32 bits cannot tell apart are ranked, and all others stay as they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment

import odrf
from odrf.design import build_design
from odrf.design.columns import Values
from odrf.design.encoding import Numbers
from odrf.design.ranks import OwnRanks

N = 200
STEP = np.random.default_rng(0).permutation(N)
RESPONSE = np.where(STEP < 80, 0.0, np.where(STEP < 150, 3.0, 1.0))


def times(unit: str) -> pd.Series:
    of_step = np.datetime64("2020-01-01", unit) + STEP.astype(f"timedelta64[{unit}]")
    return pd.Series(np.where(STEP == 0, np.datetime64("1990-01-01", unit), of_step))


TIED = {
    "identifiers": pd.Series(2**60 + STEP),
    "unsigned": pd.Series(2**63 + STEP.astype("uint64") * 3),
    "nullable": pd.Series(2**60 + STEP, dtype="Int64"),
    "arrow": pd.Series(2**60 + STEP, dtype="int64[pyarrow]"),
    "integers of Python": pd.Series([2**90 + int(k) for k in STEP], dtype=object),
    "decimals": pd.Series([Decimal(10) ** 25 + int(k) for k in STEP]),
    "one million and a little": pd.Series(np.r_[0.0, 1e6 + STEP[1:] * 1e-4]),
    "one far away": pd.Series(np.where(STEP == 0, -1e12, STEP)),
    "neighbours": pd.Series(np.where(STEP == 0, -1e6, 1.0 + STEP * 2.0**-52)),
    "single precision": pd.Series(np.where(STEP == 0, -1e6, STEP * 1e-6), dtype="float32"),
    "half precision": pd.Series(np.where(STEP == 0, -65504, STEP * 1e-7), dtype="float16"),
    "times": times("us"),
    "nanoseconds": times("ns"),
    "durations": pd.Series(np.where(STEP == 0, -(10**15), STEP)).astype("timedelta64[ns]"),
}
APART = {
    "normal": pd.Series(np.random.default_rng(1).normal(size=N)),
    "skewed": pd.Series(np.random.default_rng(1).lognormal(sigma=2, size=N)),
    "whole": pd.Series(STEP * 70_000),
    "far from zero": pd.Series(1e6 + STEP * 1e-4),
    "large and coarse": pd.Series(2**55 + STEP * 2**40),
    "tenths": pd.Series(STEP / 10),
    "objects": pd.Series(STEP.tolist(), dtype=object),
    "truth": pd.Series(STEP > 9),
    "days": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(STEP, "D")),
}


def design_of(column: pd.Series, y: object = RESPONSE):
    data = pd.DataFrame({"y": y, "x": column})
    return build_design("y ~ x", data, env=EvalEnvironment.capture())


@pytest.mark.parametrize("column", TIED.values(), ids=TIED)
def test_different_values_stay_different(column):
    design, training = design_of(column)
    assert isinstance(design.recipe.variables[0].encoding, OwnRanks)
    ranks = column.rank(method="dense").to_numpy()
    if column.dtype == object:
        ranks = pd.Series(
            column.map({v: r for r, v in enumerate(sorted(set(column)), 1)})
        ).to_numpy()
    expected = ((ranks - 1) / (ranks.max() - 1)).astype(np.float32)
    np.testing.assert_array_equal(training.X[0], expected)


@pytest.mark.parametrize("column", APART.values(), ids=APART)
def test_columns_whose_values_are_apart_stay_as_they_are(column):
    design, training = design_of(column)
    assert not isinstance(design.recipe.variables[0].encoding, OwnRanks)
    if column.dtype.kind in "iuf":
        numbers = column.to_numpy(dtype=np.float64)
        scaled = (numbers - numbers.min()) / np.ptp(numbers)
        np.testing.assert_array_equal(training.X[0], scaled.astype(np.float32))


@pytest.mark.parametrize("column", TIED.values(), ids=TIED)
def test_a_tree_finds_the_cut_between_any_two_values_and_names_it(column):
    data = pd.DataFrame({"y": RESPONSE, "x": column})
    tree = odrf.odt("y ~ x", data, max_leaves=4, min_leaf=1, alpha=None, seed=1)
    groups = data.groupby("y", observed=True)["x"].count()
    assert len(groups) == 3
    predicted = tree.predict(data)
    assert (predicted == data["y"]).mean() > 0.98
    assert tree.predict(data.iloc[[5]]).iloc[0] == predicted.iloc[5]
    assert tree.row_predictor()([column.iloc[5]]) == predicted.iloc[5]
    threshold = tree.splits["threshold"]
    if column.dtype.kind == "f":
        ascending = np.sort(column.to_numpy(dtype=np.float64))
        assert ((ascending[0] < threshold) & (threshold < ascending[-1])).all()


def test_cuts_are_written_in_the_values_of_the_data():
    def rule(column):
        data = pd.DataFrame({"y": np.where(STEP < 80, "low", "high"), "x": column})
        tree = odrf.odt("y ~ x", data, max_leaves=2, alpha=None, seed=1)
        rule = tree.rules().splitlines()[4].split("  n =")[0].strip()
        return rule, float(tree.splits["threshold"].iloc[0])

    assert rule(TIED["identifiers"]) == (f"1) x <= {2**60 + 79}", float(2**60 + 79))
    assert rule(TIED["one far away"]) == ("1) x <= 79.5", pytest.approx(79.5, abs=1e-3))
    assert rule(TIED["durations"]) == ("1) x <= 7.9e-08 s", pytest.approx(7.9e-08))
    text, threshold = rule(TIED["one million and a little"])
    assert 1e6 + 79 * 1e-4 <= float(text.split()[-1]) < 1e6 + 80 * 1e-4
    assert threshold == pytest.approx(1e6 + 79.5e-4, abs=1e-9)
    text, _ = rule(TIED["times"])
    assert pd.Timestamp(text.split("<= ")[1]) == pd.Timestamp("2020-01-01 00:00:00.000079")


@st.composite
def columns(draw):
    kind = draw(st.sampled_from(["int64", "uint64", "float64", "object"]))
    whole = {
        "int64": st.integers(-(2**63), 2**63 - 1),
        "uint64": st.integers(0, 2**64 - 1),
        "float64": st.floats(-1e299, 1e299),
        "object": st.integers(-(2**80), 2**80),
    }[kind]
    near = draw(whole)
    values = draw(st.lists(st.one_of(whole, st.just(near), _near(near, kind)), min_size=2))
    return pd.Series(values, dtype=kind)


def _near(value, kind):
    if kind == "float64":
        return st.sampled_from(
            [np.nextafter(value, np.inf), np.nextafter(value, -np.inf), value / 2]
        )
    low, high = {
        "int64": (-(2**63), 2**63 - 1),
        "uint64": (0, 2**64 - 1),
        "object": (-(2**81), 2**81),
    }[kind]
    return st.integers(max(low, value - 3), min(high, value + 3))


@given(columns())
def test_no_two_values_of_a_small_table_become_one(column):
    assume_varies = column.nunique() > 1
    if not assume_varies or (column.dtype == "float64" and np.ptp(column.to_numpy()) < 1e-290):
        return
    _, training = design_of(column, [f"class {i % 2}" for i in range(len(column))])
    order = sorted(range(len(column)), key=lambda i: column.iloc[i])
    for i, j in pairwise(order):
        x, z = training.X[0, i], training.X[0, j]
        assert (x < z) if column.iloc[i] < column.iloc[j] else (x == z)


@given(columns(), st.data())
def test_ranks_of_new_values_lie_between_those_of_their_neighbours(column, data):
    known = np.unique(column.to_numpy())
    if len(known) < 2:
        return
    if column.dtype == object:
        known = np.array([Fraction(value) for value in known], dtype=object)
    encoding = OwnRanks(known, Numbers())
    np.testing.assert_array_equal(
        encoding.encode(Values("x", column))[0], np.searchsorted(known, column.to_numpy())
    )
    new = data.draw(columns().filter(lambda other: other.dtype == column.dtype))
    ranks = encoding.encode(Values("x", new))[0]
    for value, rank in zip(new.tolist(), ranks.tolist(), strict=True):
        below = sum(bool(each <= value) for each in known.tolist()) - 1
        assert max(below, 0) <= rank <= max(below, 0) + (0 <= below < len(known) - 1)
        exact = below >= 0 and known.tolist()[below] == value
        assert rank == max(below, 0) if exact or below in (-1, len(known) - 1) else rank < below + 1


def test_products_are_those_of_the_numbers():
    numbers = TIED["one million and a little"]
    data = pd.DataFrame({"y": RESPONSE, "x": numbers, "a": STEP % 7})
    design, training = build_design("y ~ x*a", data, env=EvalEnvironment.capture())
    of_product, _ = build_design("y ~ x:a", data, env=EvalEnvironment.capture())
    assert design.predictors == ("x", "a", "x:a")
    assert len(np.unique(training.X[0])) == N
    product = (numbers * data["a"]).to_numpy()
    np.testing.assert_array_equal(training.X[2], (product / product.max()).astype(np.float32))
    for one, other in (
        (design.keeping([2]), of_product),
        (design.keeping([0]), design_of(numbers)[0]),
    ):
        np.testing.assert_array_equal(one.matrix(data)[0], other.matrix(data)[0])


def test_infinite_new_values_are_refused():
    data = pd.DataFrame({"y": RESPONSE, "x": TIED["one far away"]})
    tree = odrf.odt("y ~ x", data, max_leaves=2, alpha=None, seed=1)
    with pytest.raises(odrf.InputError, match="'x' is infinite"):
        tree.predict(pd.DataFrame({"x": [1.0, np.inf]}))


def test_few_ties_among_many_rows_by_chance_change_nothing():
    rng = np.random.default_rng(2)
    column = pd.Series(rng.normal(size=60_000))
    design, training = design_of(column, rng.normal(size=60_000))
    assert len(np.unique(training.X[0])) < column.nunique()
    assert isinstance(design.recipe.variables[0].encoding, Numbers)


def test_many_ties_among_many_rows_are_found_by_the_sample():
    rng = np.random.default_rng(2)
    column = pd.Series(rng.standard_cauchy(size=60_000))
    design, training = design_of(column, rng.normal(size=60_000))
    assert isinstance(design.recipe.variables[0].encoding, OwnRanks)
    assert len(np.unique(training.X[0])) == column.nunique()


def test_rules_say_what_a_rank_is_in_a_sum():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"id": TIED["identifiers"], "a": rng.normal(size=N)})
    data["y"] = STEP / 60 + data["a"]
    fit = odrf.odt("y ~ .", data, n_singles=1, n_projections=30, alpha=None, seed=1)
    assert "in sums, id counts as its rank, from 0, among the 200 values of the training rows" in (
        fit.rules()
    )


def test_saved_updated_and_combined(tmp_path):
    data = pd.DataFrame({"y": RESPONSE, "x": TIED["identifiers"]})
    fit = odrf.odrf("y ~ x", data, n_trees=5, seed=1)
    fit.save(tmp_path / "forest")
    assert odrf.load(tmp_path / "forest").predict(data).equals(fit.predict(data))
    assert fit.update(data[:20]).nobs == 220
    assert fit.combine(odrf.odrf("y ~ x", data, n_trees=5, seed=2)).n_leaves.shape == (10,)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_ranks_beyond_the_last_are_the_last_value(n):
    known = np.arange(n) * 2.0
    encoding = OwnRanks(known, Numbers())
    assert [encoding.value(rank) for rank in (-1.0, 0.0, 0.5)] == [0, 0, 1]
    assert [encoding.value(rank) for rank in (n - 1.0, n + 3.0)] == [2 * n - 2] * 2
