"""Learning curves: nested samples, the same test rows, the law of the means."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.evaluation.learning_curve import fit_power_law
from odrf.sklearn import AutoRegressor

# Pruned trees take ten times as long, and are evaluated by the same code.
grown = partial(odrf.odt, alpha=None)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.random((160, 2)), columns=list("ab"))
    frame["y"] = frame.a + 2 * frame.b + rng.normal(size=160) / 4
    frame["side"] = np.where(frame.y > 1.9, "over", "below")
    return frame


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


class Seen:
    """A model that keeps the rows it was given."""

    def __init__(self):
        self.rows = []

    def __call__(self, formula, data):
        tested = []
        self.rows.append((set(data.index), tested))

        class Fit:
            def predict(self, newdata):
                tested.extend(newdata.index)
                return np.repeat(data[formula.split(" ~ ")[0]].iloc[0], len(newdata))

        return Fit()


@pytest.mark.parametrize("formula", ["y ~ a + b", "side ~ a + b"])
def test_samples_are_nested_and_tested_on_the_same_rows(data, formula):
    seen = Seen()
    odrf.learning_curve(formula, data, {"m": seen}, sizes=[10, 30, 90], repeats=2, seed=1, n_jobs=1)
    assert [len(rows) for rows, _ in seen.rows] == [10, 30, 90] * 2
    for first in (0, 3):
        small, middle, large = (rows for rows, _ in seen.rows[first : first + 3])
        assert small < middle < large
        tested = [set(rows) for _, rows in seen.rows[first : first + 3]]
        assert tested[0] == tested[1] == tested[2]
        assert len(tested[0]) == 40
        assert not tested[0] & large
    assert seen.rows[0][0] != seen.rows[3][0]


def test_classes_keep_their_shares(data):
    seen = Seen()
    odrf.learning_curve("side ~ a", data, {"m": seen}, sizes=[12, 40, 100], repeats=3, n_jobs=1)
    share = (data["side"] == "over").mean()
    for rows, _ in seen.rows:
        assert abs((data["side"][list(rows)] == "over").mean() - share) < 1.5 / len(rows) + 0.02


def test_errors_table_and_law(data):
    models = {"tree": grown, "stump": partial(odrf.odt, max_leaves=2)}
    curve = odrf.learning_curve("y ~ a + b", data, models, sizes=[15, 40, 110], repeats=3, seed=4)
    assert curve.errors.shape == (9, 2)
    assert curve.n.tolist() == [15, 40, 110]
    means = curve.errors["tree"].groupby(level="n").mean()
    np.testing.assert_allclose(curve.table.loc["tree"]["error"], means)
    law = fit_power_law(curve.n, means.to_numpy())
    np.testing.assert_allclose(curve.law.loc["tree", ["a", "b", "c"]].astype(float), law)
    assert (curve.law["c_conf_low"] <= curve.law["c_conf_high"]).all()
    far = curve.extrapolate(10_000)
    assert far["error"]["tree"] == pytest.approx(float(law.error(10_000)))
    assert (far["conf_low"] <= far["conf_high"]).all()


def test_empty_cells_are_kept_and_rows_without_a_response_are_not(data):
    holes = data.mask(np.random.default_rng(4).random(data.shape) < 0.1)
    curve = odrf.learning_curve("y ~ a + b", holes, {"tree": grown}, repeats=2, seed=1)
    assert np.isfinite(curve.errors.to_numpy()).all()
    assert curve.n_test == round(0.25 * holes["y"].notna().sum())


def test_threads_change_nothing(data):
    curves = [
        odrf.learning_curve("side ~ a + b", data, {"t": odrf.odt}, repeats=2, seed=7, n_jobs=jobs)
        for jobs in (1, 3)
    ]
    assert curves[0].errors.equals(curves[1].errors)
    assert len(curves[0].n) == 8
    assert curves[0].n[-1] == 120


def test_functions_of_the_user_and_the_default_model(data):
    def doubled(column):
        return 2 * column

    curve = odrf.learning_curve(
        "y ~ doubled(a) + b", data, {"m": partial(odrf.odrf, n_trees=3)}, sizes=[10, 20, 40]
    )
    assert curve.models == ("m",)
    assert odrf.learning_curve("y ~ a", data, sizes=[5, 6, 7], repeats=1).models == ("odrf",)


@pytest.mark.usefixtures("quick_stacks")
def test_stacks_of_models_have_curves(data):
    models = {"function": partial(odrf.auto, n_trees=20), "estimator": AutoRegressor(n_trees=20)}
    curve = odrf.learning_curve("y ~ a + b", data, models, sizes=[20, 50, 120], repeats=1, seed=1)
    for name in models:
        error = curve.table.loc[name, "error"]
        assert error[120] < error[20]


def test_summary_and_drawing(data):
    models = {"tree": grown, "stump": partial(odrf.odt, max_leaves=2)}
    curve = odrf.learning_curve("side ~ a + b", data, models, repeats=2, seed=1)
    text = str(curve.summary())
    for words in ("ten times the rows", "Power law", "error rate", "Repeats"):
        assert words in text
    assert "at an end of this range" not in " ".join(text.split())
    ax = curve.plot()
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["largest sample", "tree", "stump"]
    assert ax.get_xscale() == "log"
    given = plt.subplots()[1]
    assert curve.plot(ax=given) is given
    assert repr(curve).startswith("Learning curve: error = a + b·n^(-c)")


def test_a_rate_at_the_end_of_its_range_is_pointed_out():
    cars = odrf.load_data("auto_mpg").dropna()
    curve = odrf.learning_curve("mpg ~ weight + horsepower", cars, {"tree": odrf.odt}, seed=1)
    assert curve.law.loc["tree", "c"] > 1.999
    text = " ".join(str(curve.summary()).split())
    assert "c is sought from 0.02 to 2, and is at an end of this range for tree" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": "linear"}, "sizes='linear': use \"geometric\""),
        ({"sizes": [10, 20]}, "use 3 or more whole numbers of rows from 2 to 120"),
        ({"sizes": [10, 20, 121]}, "from 2 to 120"),
        ({"sizes": [1, 20, 30]}, "from 2 to 120"),
        ({"sizes": [10.5, 20, 30]}, "whole numbers"),
        ({"repeats": 0}, "repeats=0"),
        ({"metric": "r2"}, "metric='r2' grows with accuracy"),
        ({"models": {}}, "name at least 1"),
        (
            {"models": {"m": "b ~ a"}},
            "model 'm': formula 'b ~ a' has another response than 'y ~ a'",
        ),
        (
            {"models": {"m": grown}, "metric": lambda y, predicted: np.nan},
            "metric '<lambda>' is nan for model 'm' on 20 rows: use another metric",
        ),
    ],
)
def test_bad_requests(data, options, message):
    with pytest.raises(InputError, match=message):
        odrf.learning_curve("y ~ a", data, **options)


def test_few_rows_need_sizes_of_their_own(data):
    with pytest.raises(InputError, match="20 training rows are too few for sizes from 20 on: give"):
        odrf.learning_curve("y ~ a", data[:26], {"t": grown})
    curve = odrf.learning_curve("y ~ a", data[:26], {"t": grown}, sizes=[5, 10, 20], repeats=1)
    assert curve.n.tolist() == [5, 10, 20]


def test_a_model_that_fails_is_named(data):
    def broken(formula, data):
        raise RuntimeError("no")

    with pytest.raises(InputError, match="model 'broken' fails on 10 rows: RuntimeError: no"):
        odrf.learning_curve("y ~ a", data, {"broken": broken}, sizes=[10, 20, 30])


def test_no_error_at_no_rows(data):
    curve = odrf.learning_curve("y ~ a", data, {"t": grown}, sizes=[10, 20, 30], repeats=1)
    with pytest.raises(InputError, match="n=0: use a number of rows above 0"):
        curve.extrapolate(0)


@pytest.mark.parametrize("formula", ["side ~ a", "steps ~ a"])
def test_a_model_that_makes_no_error(data, formula):
    frame = data.assign(side=np.where(data.a > 0.5, "over", "below"), steps=(data.a > 0.5) * 3.0)
    frame["a"] = frame["steps"]
    models = {"tree": partial(odrf.odt, min_leaf=1), "mean": partial(odrf.odt, max_leaves=1)}
    for chosen in (models, {"tree": models["tree"]}):
        curve = odrf.learning_curve(formula, frame, chosen, sizes=[20, 50, 100], repeats=3, seed=1)
        assert (curve.table.loc["tree", "error"] == 0).all()
        assert (curve.extrapolate(1e4).loc["tree"] == 0).all()
        assert "tree" in repr(curve) and "tree" in str(curve.summary())
        curve.plot()


def test_one_repeat_has_no_intervals(data):
    one, two = (
        odrf.learning_curve("y ~ a", data, {"t": grown}, sizes=[10, 20, 30], repeats=k, seed=1)
        for k in (1, 2)
    )
    ends = ["conf_low", "conf_high"]
    assert one.law[[f"a_{end}" for end in ends]].isna().all(axis=None)
    assert one.extrapolate(300)[ends].isna().all(axis=None)
    assert two.extrapolate(300)[ends].notna().all(axis=None)
    for text in (str(one.summary()), repr(one)):
        assert "conf_low" not in text and "bootstrap" not in text
    assert "there is one repeat only" in str(one.summary())
    one.plot()


def test_a_metric_below_0_is_refused():
    data = odrf.simulate.friedman1().sample(80, seed=1)
    with pytest.raises(InputError, match=r"metric '<lambda>' is -1 for model 'tree' on 10 rows"):
        odrf.learning_curve(
            "y ~ .", data, {"tree": odrf.odt}, sizes=[10, 20, 30], metric=lambda y, p: -1.0
        )
