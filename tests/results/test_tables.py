"""The page vignettes/results.md tells what each kind of fit has, and why some lack it."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_quick_stacks
from hostile import small_table
from odrf import InputError
from odrf.results import ODRFResults
from odrf.results.unsupported import ABSENT
from tables_of_results import CLASSES, FUNCTIONS, OPTIONS_ABSENT, PAGE, marked, members, tables

DATA = small_table()
FORMULAS = {"numbers": "y ~ a + b + f", "classes": "c ~ a + b + f"}
SMALL = {
    "odt": {},
    "odrf": {"n_trees": 30},
    "odbt": {"n_trees": 5, "n_runs": 9},
    "graf": {},
    "auto": {"n_trees": 20},
}


def of_numbers(fit):
    """A fit without factors, which have no knockoffs."""
    small = {"n_trees": 5, "seed": 1}
    return odrf.odrf("y ~ a + b", DATA, **small) if isinstance(fit, ODRFResults) else fit


CALLS = {
    "predict(interval=)": lambda fit: fit.predict(DATA, interval="prediction", level=0.8),
    'predict(type="quantile")': lambda fit: fit.predict(DATA, type="quantile"),
    'importance("out_of_bag")': lambda fit: fit.importance("out_of_bag"),
    'importance("permutation")': lambda fit: fit.importance("permutation"),
    'importance("knockoff")': lambda fit: of_numbers(fit).importance("knockoff"),
}


@pytest.fixture(scope="module", params=CLASSES)
def named(request):
    """The name of a function, and its fits to numbers and to classes."""
    name = request.param
    with with_quick_stacks():
        return name, {
            response: getattr(odrf, name)(formula, DATA, seed=1, **SMALL[name])
            for response, formula in FORMULAS.items()
        }


def test_the_page_has_the_tables():
    assert marked(PAGE.read_text(encoding="utf-8")) == tables()


def test_every_gap_has_a_reason_and_every_reason_a_gap():
    has = members()
    for attribute in set.union(*has.values()):
        kinds = {one.__name__ for name, one in CLASSES.items() if attribute in has[name]}
        lacking = {one.__name__ for one in CLASSES.values()} - kinds
        if len(kinds) > 1 or attribute in ABSENT:
            assert lacking == set(ABSENT.get(attribute, {})), attribute
    known = set.union(*has.values()) | set(CALLS)
    assert set(ABSENT) <= known


@pytest.mark.parametrize("words", CALLS)
def test_what_a_call_answers(named, words):
    name, fits = named
    lacks = CLASSES[name].__name__ in ABSENT[words]
    if lacks:
        with pytest.raises((InputError, TypeError)):
            CALLS[words](fits["numbers"])
    else:
        assert len(CALLS[words](fits["numbers"]))


def test_every_option_that_a_function_lacks_has_a_reason():
    has = {name: set(inspect.signature(getattr(odrf, name)).parameters) for name in FUNCTIONS}
    everything = set.union(*has.values())
    for option in everything:
        lacking = {name for name in FUNCTIONS if option not in has[name]}
        assert lacking == set(OPTIONS_ABSENT.get(option, {})), option
    assert set(OPTIONS_ABSENT) <= everything


def test_what_is_absent_says_why(named):
    name, fits = named
    own = CLASSES[name].__name__
    for attribute, reasons in ABSENT.items():
        if own in reasons and attribute.isidentifier():
            with pytest.raises(AttributeError, match=f"^{own} has no '{attribute}': ") as caught:
                getattr(fits["numbers"], attribute)
            assert str(caught.value).endswith(reasons[own])
    with pytest.raises(AttributeError, match="has no 'predictt'; did you mean 'predict'"):
        fits["numbers"].predictt()
    with pytest.raises(AttributeError) as caught:
        fits["numbers"].feature_importances_  # noqa: B018 - it raises
    assert "did you mean '_" not in str(caught.value)
    assert not hasattr(fits["numbers"], "_no_such_thing")


def test_every_fit_has_scores_of_its_training_rows(named):
    name, fits = named
    numbers, classes = fits["numbers"], fits["classes"]
    in_bag = numbers.predict(DATA)
    assert numbers.training_error == pytest.approx(((DATA["y"] - in_bag) ** 2).mean())
    known = numbers.predict().notna()
    error = ((DATA["y"] - numbers.predict())[known] ** 2).mean()
    assert numbers.r_squared == pytest.approx(1 - error / DATA["y"].var(ddof=0))
    predicted = classes.predict()
    rows = predicted.notna()
    expected = pd.crosstab(DATA["c"][rows], predicted[rows].astype(object))
    found = classes.confusion_matrix.drop(columns="error")
    np.testing.assert_array_equal(found, expected.reindex(columns=["p", "q"], fill_value=0))
    with pytest.raises(InputError, match="confusion_matrix needs classes"):
        _ = numbers.confusion_matrix
    with pytest.raises(InputError, match="r_squared needs a regression"):
        _ = classes.r_squared
    grades = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)
    data = DATA.assign(o=pd.cut(DATA["y"], 3, labels=["low", "mid", "top"]).astype(grades))
    ordered = getattr(odrf, name)("o ~ a + b", data, seed=1, **SMALL[name])
    ranks = ordered.predict().cat.codes.where(ordered.predict().notna())
    expected = (ranks - data["o"].cat.codes).abs().mean()
    assert ordered.mean_rank_error == pytest.approx(expected)


@pytest.mark.parametrize("response", FORMULAS)
def test_splits_of_all_trees_are_those_of_each(response):
    forest = odrf.odrf(FORMULAS[response], DATA, n_trees=4, seed=1)
    for fit in (forest, forest.prune(0.01)):
        for b in range(4):
            rows = fit.splits[fit.splits["tree"] == b].drop(columns="tree").reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, fit.tree(b).splits)
    boosted = odrf.odbt(FORMULAS[response], DATA, n_trees=3, projection="axis", seed=1)
    leaves = boosted.predict(DATA, type="leaf")
    for b in range(3):
        rows = boosted.splits[boosted.splits["tree"] == b].set_index("node")
        root = rows.loc[0]
        value = (
            pd.get_dummies(DATA[["a", "b", "f"]], prefix_sep="[").rename(
                columns=lambda name: f"{name}]" if "[" in name else name
            )[root["column"]]
            * root["coefficient"]
        )
        left, right = (
            set(leaves.iloc[:, b][side])
            for side in (value <= root["threshold"], value > root["threshold"])
        )
        assert left and right and not left & right


def test_pixels_of_boosted_trees():
    data = odrf.simulate.bars(size=8).sample(60, seed=1)
    fit = odrf.odbt("y ~ .", data, projection=odrf.Patch(shape=(8, 8)), n_trees=4, seed=1)
    found = fit.pixel_importance()
    assert found.images.shape[-2:] == (8, 8)
    assert found.n_splits == int((fit.n_leaves - 1).sum())
