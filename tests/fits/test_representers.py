"""Averages of the truth: out-of-bag residuals correct the bias of a forest's averages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.fits.effects import grouped_rows
from odrf.fits.representers import out_of_bag_means
from odrf.results.forest import ODRFResults
from odrf.statistics.representers import LEAST_PENALTY, learned_dictionary, regression_on

LEVELS = {"a": 0.0, "b": 0.5, "c": -0.5}


def treated(n: int, seed: int) -> pd.DataFrame:
    """Rows with a treatment of effect 1 that depends on x, and a factor that does as well."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    x[:, 1] += x[:, 0]
    t = (rng.random(n) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    g = np.array(list(LEVELS))[np.digitize(x[:, 1] + rng.normal(size=n), [-1.0, 1.0])]
    y = t + np.sin(2 * x[:, 0]) + [LEVELS[each] for each in g] + rng.normal(size=n)
    return pd.DataFrame({"x": x[:, 0], "z": x[:, 1], "u": x[:, 2], "t": t, "g": g, "y": y})


@pytest.fixture(scope="module")
def forest() -> ODRFResults:
    return odrf.odrf("y ~ .", treated(250, 1), n_trees=100, seed=1)


def table_of(effects) -> pd.DataFrame:
    return effects.table.set_index(["term", "contrast"])


def test_effects_are_those_of_the_truth():
    """The mean of estimates over samples is the truth, and intervals cover it; the forest's not."""
    truth, covered = [], []
    for seed in range(12):
        fit = odrf.odrf("y ~ .", treated(250, seed), n_trees=100, inference=True, seed=seed)
        row = table_of(fit.comparisons("t")).iloc[0]
        truth.append(row["estimate"])
        covered.append(row["conf_low"] <= 1.0 <= row["conf_high"])
    error = np.std(truth) / 12**0.5
    assert abs(np.mean(truth) - 1.0) < 3 * error
    assert sum(covered) >= 9


def test_the_target_is_named(forest):
    truth, plain = forest.comparisons(), forest.comparisons(target="forest")
    assert truth.target == "truth" and "of the truth" in str(truth.summary())
    assert plain.target == "forest" and "of the forest" in str(plain.summary())
    assert not np.allclose(truth.table["estimate"], plain.table["estimate"])


def test_means_of_groups_are_those_of_the_responses(forest):
    """The representer of a group's mean is its indicator."""
    data = treated(250, 1)
    means = forest.predictions(by="g").table.set_index("g")["estimate"]
    pd.testing.assert_series_equal(
        means, data.groupby("g")["y"].mean(), check_names=False, atol=0.02
    )


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda fit, data: fit.comparisons("x", contrast="iqr", target="truth"), "few training"),
        (lambda fit, data: fit.predictions(at={"x": 0.5}, target="truth"), "few training rows"),
        (lambda fit, data: fit.slopes(newdata=data, target="truth"), "new rows have no"),
        (lambda fit, data: fit.comparisons("x", contrast="unit", at={"g": "a"}), None),
    ],
)
def test_where_the_truth_cannot_be_had(forest, call, reason):
    if reason is None:
        assert call(forest, treated(250, 1)).target == "truth"
        return
    with pytest.raises(odrf.InputError, match=reason):
        call(forest, treated(250, 1))


def test_numbers_of_few_values_are_shifted_by_half_a_deviation():
    data = treated(250, 5).assign(k=np.arange(250) % 3)
    data["y"] += data["k"]
    fit = odrf.odrf("y ~ x + k + t", data, n_trees=100, seed=1)
    effects = fit.comparisons()
    assert effects.target == "truth"
    row = effects.table.set_index("term").loc["k"]
    assert row["conf_low"] <= data["k"].std(ddof=0) <= row["conf_high"]


def test_other_fits_say_what_is_averaged():
    data = treated(120, 3)
    tree = odrf.odt("y ~ .", data, seed=1)
    assert tree.comparisons("t").target == "tree"
    with pytest.raises(odrf.InputError, match="only forests"):
        tree.comparisons("t", target="truth")
    with pytest.raises(odrf.InputError, match="target"):
        tree.comparisons("t", target="truths")
    assert odrf.odbt("y ~ .", data, n_trees=5, seed=1).comparisons("t").target == "fit"


def test_classes_and_ratios():
    data = treated(250, 2).assign(y=lambda table: np.where(table["y"] > 0.5, "yes", "no"))
    fit = odrf.odrf("y ~ .", data, n_trees=100, seed=1)
    both = fit.predictions(by="g").table.pivot(index="g", columns="class", values="estimate")
    np.testing.assert_allclose(both.sum(axis=1), 1.0)
    difference = fit.comparisons("t").table["estimate"].iloc[0]
    ratio = fit.comparisons("t", comparison="ratio").table
    yes = ratio.loc[ratio["class"] == "yes", "estimate"].iloc[0]
    at = (
        fit.predictions(at={"t": [0.0, 1.0]}).table.query("`class` == 'yes'")["estimate"].to_numpy()
    )
    assert yes == pytest.approx(at[1] / at[0], rel=1e-9)
    assert difference == pytest.approx(at[1] - at[0], rel=1e-9)


def test_a_population_has_larger_errors(forest):
    here, everywhere = (
        forest.predictions(population=population).table["std_error"].iloc[0]
        for population in (False, True)
    )
    assert everywhere > here
    mean = treated(250, 1)["y"]
    assert everywhere == pytest.approx(mean.std() / len(mean) ** 0.5, rel=0.1)


def test_rows_of_a_group_are_one_unit():
    """Twins in one group tell no more than one of them."""
    data = treated(120, 4)
    twice = pd.concat([data, data], ignore_index=True).assign(who=np.tile(np.arange(120), 2))
    alone = odrf.odrf("y ~ . - who", twice, n_trees=100, seed=1)
    grouped = odrf.odrf("y ~ . - who", twice, groups="who", n_trees=100, seed=1)
    plain, of_groups = (fit.predictions().table["std_error"].iloc[0] for fit in (alone, grouped))
    # rows that have a twin among the trees' rows have too small residuals
    assert of_groups > 1.2 * plain


def test_survival_forests_have_averages_of_the_truth():
    data = odrf.simulate.hazard_jump(p=3).sample(300, seed=1)
    alive = odrf.odrf("Surv(time, event) ~ .", data, n_trees=50, seed=1)
    effects = alive.estimand("survival", time=0.5).comparisons("x1")
    assert effects.target == "truth" and np.isfinite(effects.table["std_error"]).all()


def test_out_of_bag_means_are_those_of_the_results(forest):
    rows = grouped_rows(forest.fit, None, None)
    means = out_of_bag_means(forest.fit, rows.rows.X, forest.fit.draws.all_unseen())
    np.testing.assert_allclose(means[:, 0], forest.predict(), rtol=1e-12)


@given(st.integers(0, 10_000), st.integers(40, 90), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_representers_are_those_of_weighted_ridge_regression(seed, n, p):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p)).round(1)
    weights = rng.uniform(0.5, 2.0, n)
    columns = learned_dictionary(Z, weights).columns(Z)
    regression = regression_on(columns, weights)
    functional = rng.normal(size=(2, columns.shape[1]))
    one = np.array([1.0, 0.0])
    alpha = regression.representers(functional, one)

    share = weights / weights.sum()
    centre = share @ columns
    spread = np.sqrt(share @ (columns - centre) ** 2)
    kept = spread > 1e-9
    S = (columns - centre)[:, kept] / spread[kept]
    gram = S.T @ (share[:, None] * S)
    penalty = LEAST_PENALTY
    while True:
        inverse = np.linalg.inv(gram + penalty * np.eye(len(gram)))
        if 1 + np.trace(gram @ inverse) <= weights.sum() ** 2 / (weights**2).sum() / 5:
            break
        penalty *= 1.5
    target = ((functional - one[:, None] * centre)[:, kept]) / spread[kept]
    np.testing.assert_allclose(alpha, one + S @ inverse @ target.T, rtol=1e-6, atol=1e-8)

    y = rng.normal(size=(n, 1))
    off = y - share @ y
    left = off - S @ inverse @ (S.T @ (share[:, None] * off))
    leverage = share * (1 + np.sum((S @ inverse) * S, axis=1))
    expected = left / np.sqrt(np.maximum(1 - leverage, 0.25))[:, None]
    np.testing.assert_allclose(regression.residuals(y), expected, rtol=1e-6, atol=1e-8)


def test_missing_cells_have_columns_of_their_own():
    Z = np.array([[1.0, 2.0, np.nan, 4.0] * 20, [0.0, 1.0] * 40]).T
    dictionary = learned_dictionary(Z, np.ones(80))
    columns = dictionary.columns(Z)
    assert np.isfinite(columns).all()
    np.testing.assert_array_equal(columns[:, -1], np.isnan(Z[:, 0]))
    assert dictionary.linear(Z)[2, 0] == 0.0
