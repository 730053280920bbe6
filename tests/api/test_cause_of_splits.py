"""Trees and forests whose splits are about one of several causes of events."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.options.tree import Control

FORMULA = "Surv(time, event) ~ ."


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    """Two causes along x1, which makes the first one more likely, and x2 the second."""
    rng = np.random.default_rng(1)
    n = 400
    X = pd.DataFrame(rng.random((n, 3)), columns=["x1", "x2", "x3"])
    rates = np.exp(3 * X[["x1", "x2"]].to_numpy() - 1.5)
    first = rng.exponential(1 / rates)
    time, end = first.min(axis=1), rng.exponential(2, n)
    cause = np.where(time <= end, 1 + first.argmin(axis=1), 0)
    event = pd.Categorical.from_codes(cause, ["no", "relapse", "death"])
    return X.assign(time=np.minimum(time, end), event=event)


def splits(fit):
    forest = fit.fit.forest
    return [getattr(forest, name) for name in ("left", "index", "coef", "threshold")]


@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
def test_splits_about_a_cause_are_those_with_the_others_censored(data, criterion):
    alone = data.assign(event=data["event"] == "death")
    options = {"criterion": criterion, "n_trees": 5, "seed": 2}
    about = odrf.odrf(FORMULA, data, cause="death", **options)
    usual = odrf.odrf(FORMULA, alone, **options)
    for found, expected in zip(splits(about), splits(usual), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("criterion", ["log_rank", "gray"])
@pytest.mark.parametrize(("cause", "predictor"), [("relapse", "x1"), ("death", "x2")])
def test_a_tree_splits_on_what_matters_for_its_cause(data, criterion, cause, predictor):
    tree = odrf.odt(
        FORMULA, data, criterion=criterion, cause=cause, projection="axis", max_leaves=2, seed=1
    )
    assert str(tree.rules()).count(predictor) > 0
    assert (tree.fit.control.criterion, tree.fit.control.cause) == (criterion, cause)
    assert f"cause {cause}" in str(tree.summary())


@pytest.mark.parametrize("criterion", ["log_rank", "gray"])
def test_blends_save_load_and_grow_on(data, criterion, tmp_path):
    options = {"criterion": criterion, "cause": "death", "blend": True, "seed": 1}
    forest = odrf.odrf(FORMULA, data, n_trees=30, **options)
    forest.save(tmp_path / "forest.odrf")
    loaded = odrf.load(tmp_path / "forest.odrf")
    assert loaded.fit.control.criterion == criterion
    new = data.head(5)
    asked = {"type": "incidence", "cause": "relapse", "times": [0.5, 1.0]}
    np.testing.assert_array_equal(loaded.predict(new, **asked), forest.predict(new, **asked))
    incidence = forest.predict(new, type="incidence", times=[1.0]).sum(axis=1)
    alive = forest.predict(new, type="survival", times=[1.0]).iloc[:, 0]
    np.testing.assert_allclose(incidence + alive, 1.0)


def test_causes_that_are_numbers(data):
    numbered = data.assign(event=data["event"].cat.rename_categories([0, 1, 2]))
    control: Control = odrf.odrf(FORMULA, numbered, cause=2, n_trees=2, seed=1).fit.control
    assert control.cause == "2"


def without_deaths(data):
    rows = data[data["event"] != "death"]
    return rows.assign(event=rows["event"].cat.set_categories(["no", "relapse", "death"]))


def test_what_cannot_be_said_is_refused(data):
    late = data.assign(start=0.5 * data["time"])
    for rows, formula, options, message in [
        (data, FORMULA, {"cause": "flu"}, "cause='flu'.*'relapse', 'death'"),
        (data, FORMULA, {"criterion": "gray"}, "name it by cause=, one of 'relapse', 'death'"),
        (
            late, "Surv(start, time, event) ~ x1", {"criterion": "gray", "cause": "death"},
            "rows that enter late.*criterion=\"log_rank\" with cause='death'",
        ),
        (without_deaths(data), FORMULA, {"cause": "death"}, "'death' is not known: use"),
        (
            data.assign(w=1 * (data["event"] != "death")), FORMULA,
            {"cause": "death", "weights": "w"}, "cause='death' is not known: use one of 'relapse'",
        ),
        (data, "x1 ~ x2", {"cause": "death"}, "cause='death' is for times to events of several"),
    ]:  # fmt: skip
        for function in (odrf.odt, odrf.odrf):
            with pytest.raises(InputError, match=message):
                function(formula, rows, **options)
