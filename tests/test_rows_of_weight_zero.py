"""The law that a row of weight 0 has no influence: with it and without it a fit has the same bits.

The rows that are added are between the others.  They have what no other row has: classes, levels,
causes, groups, strata, times, missing and infinite values.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import odrf

ADDED = [0, 1, 31, 60, 119, 125]
"""Where the rows of weight 0 stand."""


@cache
def table() -> pd.DataFrame:
    """Rows with weights above 0, which are whole numbers."""
    rng = np.random.default_rng(3)
    n = 120
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    data["x"] = rng.normal(size=n)
    data["f"] = rng.choice(list("uvw"), n)
    data["many"] = rng.choice([f"level {i}" for i in range(9)], n)
    data["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), "D")
    data["y"] = data["a"] + (data["f"] == "u") + rng.normal(size=n) / 2
    data["c"] = np.where(data["y"] > 0.3, "yes", "no")
    data["rank"] = pd.Categorical(
        np.array(["low", "mid", "top"])[data["y"].rank(pct=True).mul(2.99).astype(int)],
        ["low", "mid", "top", "never"],
        ordered=True,
    )
    data["time"] = rng.exponential(size=n) * np.exp(data["a"])
    data["event"] = rng.random(n) < 0.7
    data["cause"] = pd.Categorical(
        rng.choice(["none", "one", "two"], n), ["none", "one", "two", "three"]
    )
    data["group"] = np.repeat([f"g{i}" for i in range(24)], 5)
    data["stratum"] = np.arange(n) // 5 % 3
    data["w"] = rng.choice([1.0, 2.0], n)
    data.loc[::13, "a"] = np.nan
    return data


@cache
def with_rows() -> pd.DataFrame:
    """The table with rows of weight 0."""
    odd = table().iloc[[0, 1, 2, 0, 1, 2]].copy()
    odd["w"] = 0.0
    odd["a"] = [1e6, -np.inf, np.nan, 0.0, 5.0, 6.0]
    odd["x"] = np.nan
    odd["f"], odd["many"], odd["c"] = "odd", "odd level", "perhaps"
    odd["y"] = [1e9, -np.inf, 0.0, np.nan, 3.0, 1e-9]
    odd["rank"] = "never"
    odd["time"], odd["event"], odd["cause"] = [99.0, -1.0, 1e-3, 2.0, 3.0, 4.0], True, "three"
    odd["day"] = pd.Timestamp("1990-01-01")
    odd["group"] = ["g0", "new", "g3", "other", "g23", "g7"]
    odd["stratum"] = [0, 7, 1, 8, 2, 0]
    odd = odd.astype({"rank": table()["rank"].dtype, "cause": table()["cause"].dtype})
    odd.index = range(1000, 1000 + len(odd))
    data = pd.concat([table(), odd])
    places = np.setdiff1d(np.arange(len(data)), ADDED)
    data = data.iloc[np.argsort(np.concatenate([places, ADDED]))]
    assert np.flatnonzero(data["w"] == 0).tolist() == ADDED
    return data


NUMBER, CLASS, RANK = "y ~ a + b + f", "c ~ a + b + many", "rank ~ a + b + f"
TIME, CAUSES = "Surv(time, event) ~ a + b + f", "Surv(time, cause) ~ a + b"
FITS: dict[str, Callable[..., Any]] = {
    "tree": partial(odrf.odt, NUMBER),
    "tree, 1se": partial(odrf.odt, CLASS, alpha="1se"),
    "tree, leaves": partial(odrf.odt, NUMBER, max_leaves="sqrt"),
    "tree, given folds": partial(odrf.odt, NUMBER, alpha="cv", missing="drop"),
    "tree, median": partial(odrf.odt, NUMBER, missing="median"),
    "tree, raise": partial(odrf.odt, "y ~ b + f", missing="raise", unseen="raise"),
    "tree, surrogates": partial(odrf.odt, NUMBER, missing="surrogate"),
    "tree, groups": partial(odrf.odt, NUMBER, groups="group"),
    "tree, strata": partial(odrf.odt, CLASS, strata="stratum"),
    "tree, order": partial(odrf.odt, NUMBER, order="day"),
    "tree of times": partial(odrf.odt, TIME),
    "tree of causes": partial(odrf.odt, CAUSES),
    "tree of one cause": partial(odrf.odt, CAUSES, cause="one"),
    "forest": partial(odrf.odrf, NUMBER, n_trees=12),
    "forest of numbers": partial(odrf.odrf, "y ~ b + x + time", n_trees=12),
    "forest of classes": partial(odrf.odrf, CLASS, n_trees=12, class_weights="balanced"),
    "forest of ranks": partial(odrf.odrf, RANK, n_trees=12, criterion="ordinal"),
    "honest forest": partial(odrf.odrf, NUMBER, n_trees=12, inference=True, groups="group"),
    "forest, strata": partial(odrf.odrf, CLASS, n_trees=12, strata="stratum"),
    "forest, pruned": partial(odrf.odrf, NUMBER, n_trees=12, alpha="oob"),
    "blend": partial(odrf.odrf, NUMBER, n_trees=60),
    "forest of times": partial(odrf.odrf, TIME, n_trees=8),
    "forest of causes": partial(odrf.odrf, CAUSES, n_trees=8),
    "boosted": partial(odrf.odbt, NUMBER, n_trees=8, validation=0.3, patience=2),
    "boosted classes": partial(odrf.odbt, CLASS, n_trees=8, validation=0.3, strata="stratum"),
    "boosted runs": partial(odrf.odbt, NUMBER, n_trees=8, n_runs=4, validation="oob"),
    "boosted groups": partial(odrf.odbt, NUMBER, n_trees=8, validation=0.3, groups="group"),
    "boosted, order": partial(odrf.odbt, NUMBER, n_trees=8, validation=0.3, order="day"),
    "boosted, offset": partial(odrf.odbt, "y ~ a + f", n_trees=8, offset="b"),
    "boosted times": partial(odrf.odbt, TIME, n_trees=8, validation=0.3),
    "boosted times of failure": partial(odrf.odbt, TIME, n_trees=8, loss="weibull"),
    "guided": partial(odrf.graf, NUMBER, n_trees=6),
    "guided classes": partial(odrf.graf, CLASS, n_trees=6),
    "stack": partial(odrf.auto, NUMBER),
    "stack of classes": partial(odrf.auto, CLASS),
}
NEW = slice(0, 4)
ASKED: dict[str, Callable[[Any], Any]] = {
    "summary": lambda fit: fit.summary(detail=True),
    "importance": lambda fit: fit.importance(),
    "conditional": lambda fit: fit.importance("conditional"),
    "pruning": lambda fit: fit.pruning_path().table,
    "growth": lambda fit: fit.growth_path().table,
    "calibration": lambda fit: fit.calibration().table,
    "calibrate": lambda fit: fit.calibrate().predict(table(), type="prob"),
    "score": lambda fit: fit.score(),
    "rules": lambda fit: fit.rules(),
    "slopes": lambda fit: fit.slopes().table,
    "consistency": lambda fit: fit.consistency(),
    "strength": lambda fit: fit.strength_correlation().table,
    "sensitivity": lambda fit: fit.sensitivity().table,
    "proximity": lambda fit: fit.proximity().matrix.toarray(),
    "knockoffs": lambda fit: fit.select_variables("knockoff").table,
    "partial": lambda fit: fit.partial("b").table,
    "ale": lambda fit: fit.ale("b").table,
    "interval": lambda fit: fit.predict(table()[NEW], interval="prediction"),
    "confidence": lambda fit: fit.predict(table()[NEW], interval="confidence"),
    "curves": lambda fit: fit.predict(table()[NEW], type="incidence", times=[0.5, 1.0]),
    "bands": lambda fit: fit.bands(table()[NEW], times=[0.5, 1.0]).table,
    "loss path": lambda fit: fit.loss_path,
    "updated": lambda fit: fit.update(with_rows()[:40]).predict(table()),
}


def grown(fit: Callable[..., Any], data: pd.DataFrame) -> tuple[Any, list[str]]:
    """Return a fit, and what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = fit(data, weights="w", seed=1)
    return found, [str(each.message) for each in said]


def told(fit: Any, question: str) -> str:
    """Return the answer as text, to the last digit; or why there is none."""
    try:
        found = ASKED[question](fit)
    except (odrf.InputError, AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    with pd.option_context("display.precision", 17, "display.max_rows", None):
        return str(found.to_string() if hasattr(found, "to_string") else found)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FITS)
def test_no_bit_changes(name):
    (without, said), (among, also_said) = (
        grown(FITS[name], data) for data in (table(), with_rows())
    )
    assert said == also_said
    kind = {"type": "prob"} if without.kind == "classification" else {}
    one, other = (fit.predict(table(), **kind) for fit in (without, among))
    assert one.equals(other)
    for question in ASKED:
        assert told(among, question) == told(without, question), question


ANSWERING = (
    *("tree, 1se", "forest of numbers", "forest of classes"),
    *("forest of causes", "boosted", "guided"),
)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_questions_are_answered():
    """A law about questions that nobody answers would always hold."""
    answered = set()
    for name in ANSWERING:
        fit, _ = grown(FITS[name], table())
        answered |= {question for question in ASKED if "Error: " not in told(fit, question)[:40]}
    assert answered == ASKED.keys()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["tree", "forest"])
def test_no_bit_changes_of_rows_in_chunks(name):
    function = odrf.odt if name == "tree" else odrf.odrf
    options = {} if name == "tree" else {"n_trees": 6}
    one, other = (
        function(NUMBER, [data[:50], data[50:]], weights="w", seed=2, **options)
        for data in (table(), with_rows())
    )
    assert one.predict(table()).equals(other.predict(table()))
    assert str(one.summary()) == str(other.summary())


RESULTS = ("tree", "tree, 1se", "forest", "forest of classes", "boosted", "boosted runs", "stack")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", RESULTS)
def test_results_of_rows_have_those_of_weight_zero_among_them(name):
    data = with_rows().assign(a=table()["a"].mean(), y=1.0)
    data.loc[table().index, ["a", "y"]] = table()[["a", "y"]]
    without, among = grown(FITS[name], table())[0], grown(FITS[name], data)[0]
    added = data[data["w"] == 0]
    predicted = among.predict(added)
    results = ["fittedvalues", "resid", "predict"]
    results += ["oob_prediction"] if "forest" in name or name in ("boosted runs", "stack") else []
    for result in results:
        found, own = getattr(among, result), getattr(without, result)
        if callable(found):
            found, own = found(), own()
        assert found.index.equals(data.index)
        assert found.loc[table().index].equals(own)
        if result != "resid":
            assert found.loc[added.index].equals(predicted)
        elif among.kind == "regression":
            assert found.loc[added.index].equals((added["y"] - predicted).rename("resid"))
        else:  # no row of weight has their class
            assert found.loc[added.index].isna().all()


def test_rows_of_weight_zero_of_drawn_groups_and_of_times_have_no_out_of_bag_prediction():
    data = with_rows().assign(y=0.5, a=1.0)
    data.loc[table().index, ["a", "y"]] = table()[["a", "y"]]
    for structure in ({"groups": "group"}, {"order": "day"}):
        fit = odrf.odrf(NUMBER, data, weights="w", n_trees=30, seed=1, **structure)
        added = data.index[data["w"] == 0]
        assert fit.oob_prediction.loc[added].isna().all()
        assert fit.predict(training="in-bag").loc[added].notna().all()
        assert fit.predict(type="leaf").loc[added].notna().all(axis=None)
    strata = odrf.odrf(NUMBER, data, weights="w", n_trees=30, seed=1, strata="stratum")
    assert strata.oob_prediction.loc[added].notna().all()


def test_probabilities_of_their_own_class_count_in_residuals():
    data = with_rows().assign(c=lambda rows: rows["c"].replace("perhaps", "yes"), a=0.0)
    fit = odrf.odt("c ~ a + f", data, weights="w", seed=1)
    added = data.index[data["w"] == 0]
    with pytest.warns(UserWarning, match="no training row has"):
        expected = 1 - fit.predict(data.loc[added], type="prob")["yes"]
    assert fit.resid.loc[added].equals(expected.rename("resid"))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_saved_fit_has_them_too(tmp_path):
    fit, _ = grown(partial(odrf.odrf, "y ~ b + f", n_trees=4), with_rows())
    fit.save(tmp_path / "fit.odrf")
    loaded = odrf.load(tmp_path / "fit.odrf")
    assert loaded.fittedvalues.equals(fit.fittedvalues)
    assert loaded.fit.data.n_dropped == fit.fit.data.n_dropped == 0


@pytest.mark.parametrize("weights", [np.eye(1, 126, 3)[0], np.zeros(126)])
def test_fewer_than_two_rows_that_count_are_refused(weights):
    with pytest.raises(odrf.InputError, match=r"weights are (0 in all rows but one|all zero)"):
        odrf.odt(NUMBER, with_rows(), weights=weights)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_folds_of_tune_leave_them_out():
    one, other = (
        odrf.tune(
            NUMBER, data, {"min_leaf": [5, 20]}, model=odrf.odt, method="cv", cv=4, alpha=None,
            weights="w", seed=1,
        ).table
        for data in (table(), with_rows())
    )  # fmt: skip
    assert one.equals(other)
