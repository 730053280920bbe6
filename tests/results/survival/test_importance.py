"""Tests of importance for survival times: their size, their power, what they compare."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.factors import with_rows
from odrf.errors import InputError
from odrf.fits.importance_tests import loss_rises
from odrf.fits.survival.validation import brier_losses
from odrf.statistics.importance_tests import evaluated_differences
from odrf.statistics.survival.scores import brier_scores

FORMULA = "Surv(time, event) ~ true + null + other + noise"


def rows(seed, n=250):
    """Rows in which `null` has a correlation of 0.7 with `true`, and no influence beside it."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4))
    z[:, 1] = 0.7 * z[:, 0] + np.sqrt(1 - 0.7**2) * z[:, 1]
    time = rng.exponential(size=n) * np.exp(-z[:, 0] - 0.7 * z[:, 2])
    ends = 2.5 * rng.exponential(size=n)
    data = pd.DataFrame(z, columns=["true", "null", "other", "noise"])
    return data.assign(time=np.minimum(time, ends), event=time <= ends)


def grown(seed, **options):
    return odrf.odrf(FORMULA, rows(seed), n_trees=20, blend=False, seed=seed, n_jobs=1, **options)


@pytest.mark.parametrize("type", ["conditional", "loco"])
@pytest.mark.parametrize("test", ["t", "wilcoxon"])
def test_what_matters_is_found_and_noise_is_not(type, test):
    table = grown(1).importance(type, test=test).set_index("term")
    assert list(table.index[:2]) in (["true", "other"], ["other", "true"])
    assert (table.loc[["true", "other"], "p_adjusted"] < 0.05).all()
    assert (table.loc[["null", "noise"], "p_value"] > 0.01).all()


def test_a_correlated_predictor_without_influence_is_rejected_at_the_level():
    p_values = []
    for seed in range(24):
        losses = loss_rises(grown(seed).fit, [["null"], ["true"]], "conditional", 4)
        ones, units = np.ones(len(losses.rows)), losses.rows
        p_values.append(
            [evaluated_differences(rise, ones, units, "t", 0.95, 1.0)[3] for rise in losses.rises]
        )
    null, true = (np.array(p_values) < 0.05).T
    # of 24 samples more than 4 have a probability of 0.006 at 5 %
    assert null.sum() <= 4
    assert true.mean() > 0.9


def test_the_mean_loss_is_the_integrated_brier_score():
    forest, data = grown(2), rows(2)
    fit = forest.fit
    losses = brier_losses(fit, None)
    every = np.arange(len(data))
    of_rows = losses.of_rows(fit, with_rows(fit.data.X, every), every)
    risk = 1 - forest.predict(data, type="survival", times=losses.at).to_numpy()
    whole = brier_scores(
        data["time"].to_numpy(), data["event"].to_numpy().astype(int), risk, losses.at
    )
    assert of_rows.mean() == pytest.approx(whole.integrated.estimate)


def test_weights_are_left_to_the_test():
    data = rows(3)
    twice = pd.concat([data, data])
    options = {"n_trees": 5, "blend": False, "seed": 1}
    weighted = odrf.odrf(FORMULA, data.assign(w=2.0), weights="w", **options).fit
    repeated = odrf.odrf(FORMULA, twice, **options).fit
    one, other = brier_losses(weighted, None), brier_losses(repeated, None)
    np.testing.assert_allclose(one.at, other.at)
    np.testing.assert_allclose(one.weight, other.weight[: len(data)])


def test_causes_have_losses_of_their_own():
    data = odrf.load_data("melanoma")
    fit = odrf.odrf("Surv(time, event) ~ .", data, n_trees=10, blend=False, seed=1)
    tables = [fit.importance("conditional", cause=cause) for cause in (None, *fit.fit.times.causes)]
    first, *others = [table.set_index("term")["estimate"] for table in tables]
    assert all(not first.equals(each.reindex(first.index)) for each in others)


def test_knockoffs_find_many_and_few_false_ones():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 20))
    time = rng.exponential(size=400) * np.exp(-0.6 * z[:, :10].sum(axis=1))
    ends = 4 * rng.exponential(size=400)
    data = pd.DataFrame(z, columns=[f"x{j}" for j in range(20)])
    data = data.assign(time=np.minimum(time, ends), event=time <= ends)
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=60, blend=False, seed=1)
    selection = forest.select_variables("knockoff", fdr=0.2)
    chosen = set(selection.selected())
    true = {f"x{j}" for j in range(10)}
    assert len(chosen & true) >= 7
    assert len(chosen - true) <= 3
    assert selection.best().predict(data.head(3), type="survival", times=[1.0]).shape == (3, 1)
    table = forest.importance("knockoff")
    assert list(table["term"]) == list(selection.table.index)


def test_refusals():
    forest = grown(1)
    with pytest.raises(InputError, match='"conditional" and "loco"'):
        forest.importance(level=0.9)
    with pytest.raises(InputError, match="cause="):
        forest.importance("conditional", cause="flood")
    with pytest.raises(InputError, match="cause="):
        forest.importance("knockoff", cause="event")
    late = rows(4).assign(start=0.0)
    late["start"] = late["time"] / 2
    entering = odrf.odrf(
        "Surv(start, time, event) ~ true + null", late, n_trees=5, blend=False, seed=1
    )
    with pytest.raises(InputError, match="rows enter late"):
        entering.importance("conditional")


def test_tests_are_drawn_with_intervals():
    ax = grown(1).plot("importance", type="conditional")
    assert {label.get_text() for label in ax.get_yticklabels()} == {
        "true", "null", "other", "noise"
    }  # fmt: skip
    assert ax.collections
