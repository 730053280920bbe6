"""What training rows are predicted by: one convention for all results and responses."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots, with_quick_stacks
from hostile import small_table
from odrf import InputError
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import AbsentError
from odrf.results import ODRFResults
from odrf.results.absent import NEED, why_absent
from odrf.statistics.theorems import normal_quantiles
from tables_of_results import (
    CALLS_ABSENT,
    CLASSES,
    FUNCTIONS,
    OF_TIMES,
    OPTIONS_ABSENT,
    absent,
    marked,
    members,
    tables,
)
from tables_of_results import PAGE as PAGE_OF_TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "training-rows.md").read_text(encoding="utf-8")
ORDERED = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)
RESPONSES = ("y", "two", "c", "o")
# by the words of the table in docs/training-rows.md
FITS = {
    "`odt(…)`": partial(odrf.odt, max_leaves=6),
    "`odrf(…)`": partial(odrf.odrf, n_trees=14),
    "`odrf(…, blend=True)`": partial(odrf.odrf, n_trees=40, blend=True),
    '`odrf(…, resample="none")`': partial(odrf.odrf, n_trees=3, resample="none"),
    "`odbt(…)`": partial(odrf.odbt, n_trees=3),
    "`odbt(…, n_runs=M)`": partial(odrf.odbt, n_trees=2, n_runs=7),
    "`graf(…)`": partial(odrf.graf, n_trees=3),
}
LEAVE_OUT = ("`odrf(…)`", "`odrf(…, blend=True)`", "`odbt(…, n_runs=M)`")


@pytest.fixture(scope="module")
def rows(table):
    two = np.where(table["y"] > 0.4, "above", "below")
    return table.assign(two=two, o=table["c"].astype(ORDERED))


@pytest.fixture(scope="module")
def fits(rows):
    with with_few_pilots():
        return {
            (name, response): fit(f"{response} ~ a + b + f", rows, seed=1)
            for name, fit in FITS.items()
            for response in RESPONSES
        }


@pytest.fixture(params=[(name, response) for name in FITS for response in RESPONSES])
def named_fit(request, fits):
    return request.param[0], fits[request.param]


def quiet(function, *arguments, **options):
    """The result of a call that may warn of rows without an out-of-bag prediction."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def test_the_default_is_out_of_bag_where_rows_are_left_out(named_fit, rows):
    name, fit = named_fit
    default = quiet(fit.predict)
    in_bag = fit.predict(training="in-bag")
    assert in_bag.equals(fit.predict(rows))
    if name in LEAVE_OUT:
        assert default.equals(quiet(fit.predict, training="out-of-bag"))
        assert default.equals(fit.oob_prediction)
        assert not default.equals(in_bag)
    else:
        assert default.equals(in_bag)
        with pytest.raises(InputError, match='this fit is neither: use training="in-bag"'):
            fit.predict(training="out-of-bag")


def test_leaves_are_those_of_all_trees_in_silence(named_fit, rows):
    name, fit = named_fit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leaves = fit.predict(type="leaf")
        if name in LEAVE_OUT:
            assert leaves.equals(fit.predict(type="leaf", training="out-of-bag"))
        assert leaves.equals(fit.predict(rows, type="leaf"))
        assert leaves.equals(fit.predict(type="leaf", training="in-bag"))


def test_fitted_values_and_residuals_are_those_of_predict(named_fit, rows):
    _, fit = named_fit
    default = quiet(fit.predict)
    assert quiet(lambda: fit.fittedvalues).equals(default)
    resid = quiet(lambda: fit.resid)
    response = rows[fit.design.response.name]
    if fit.kind == "regression":
        np.testing.assert_allclose(resid, response - default)
    else:
        prob = quiet(fit.predict, type="prob")
        observed = [prob.loc[row, label] for row, label in response.items()]
        np.testing.assert_allclose(resid, 1 - np.array(observed))
    assert resid.index.equals(rows.index)


def test_every_type_tells_of_the_same_values(named_fit):
    _, fit = named_fit
    default = quiet(fit.predict)
    if fit.kind == "regression":
        return
    prob = quiet(fit.predict, type="prob")
    missing = default.isna()
    assert prob.isna().any(axis=1).equals(missing)
    np.testing.assert_allclose(prob[~missing].sum(axis=1), 1)
    assert quiet(fit.predict, type="class").equals(default)
    if not fit.fit.ordered:
        assert list(prob[~missing].idxmax(axis=1)) == list(default[~missing])
    even = dict.fromkeys(fit.classes, 1 / len(fit.classes))
    corrected = quiet(fit.predict, type="prob", priors=even)
    assert corrected.isna().any(axis=1).equals(missing)
    if fit.design.response.ordered:
        up_to = quiet(fit.predict, type="cumulative")
        np.testing.assert_allclose(up_to, np.cumsum(prob, axis=1).iloc[:, :-1])


@pytest.mark.parametrize("name", LEAVE_OUT[:2])
@pytest.mark.parametrize("response", RESPONSES)
def test_out_of_bag_is_the_mean_of_the_trees_that_did_not_draw_the_row(fits, name, response):
    fit = fits[name, response]
    unseen = fit.fit.draws.all_unseen().T
    value = fit.forest.value[leaf_nodes(fit.forest, fit.fit.data.X, 1)]
    mean = np.array(
        [of_row[by].mean(axis=0) if by.any() else np.full(value.shape[2], np.nan)
         for of_row, by in zip(value, unseen, strict=True)]
    )  # fmt: skip
    given = "response" if fit.kind == "regression" else "prob"
    found = quiet(fit.predict, type=given).to_numpy().reshape(mean.shape)
    np.testing.assert_allclose(found, mean)
    trees = quiet(fit.predict, type="trees")
    assert (trees.notna().to_numpy() == unseen).all()
    in_bag = fit.predict(type="trees", training="in-bag")
    assert in_bag.notna().all(axis=None)
    assert (trees.to_numpy() == in_bag.to_numpy())[unseen].all()


def test_rows_that_every_tree_drew_are_missing_and_said(rows):
    fit = odrf.odrf("y ~ a + b", rows, n_trees=2, seed=1)
    always = int((~fit.fit.draws.all_unseen().any(axis=0)).sum())
    assert always > 20
    said = f"every tree sampled {always} of 120 rows, .* missing: fit more trees, or use predict"
    for of in (fit.predict, lambda: fit.fittedvalues, lambda: fit.resid):
        with pytest.warns(UserWarning, match=said) as caught:
            assert of().isna().sum() == always
        assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=said):
        ends = fit.predict(interval="prediction", level=0.5)
    assert ends.isna().all(axis=1).sum() == always
    with pytest.warns(UserWarning, match=said):
        assert fit.predict(type="quantile").isna().all(axis=1).sum() == always
    runs = odrf.odbt("c ~ a + b", rows, n_trees=2, n_runs=2, seed=1)
    for type in ("class", "prob", "link"):
        with pytest.warns(UserWarning, match="every run sampled .* fit more runs") as caught:
            assert pd.DataFrame(runs.predict(type=type)).isna().any(axis=None)
        assert caught[0].filename == __file__


def test_a_subsample_of_all_rows_leaves_none_out(rows):
    fit = odrf.odrf("y ~ a", rows, n_trees=3, resample="subsample", sample_fraction=1.0, seed=1)
    assert fit.predict().equals(fit.predict(rows))


@pytest.mark.parametrize(("response", "staged"), [("y", 3), ("c", 3), ("o", 3)])
def test_stages_are_out_of_bag_too(fits, rows, response, staged):
    fit = fits["`odbt(…, n_runs=M)`", response]
    stages = quiet(fit.staged_predict)
    assert stages[2].equals(quiet(fit.predict).rename(2))
    in_bag = fit.staged_predict(training="in-bag")
    assert in_bag.equals(fit.staged_predict(rows))
    assert not in_bag.equals(stages)
    if response == "y":
        losses = ((stages.sub(rows["y"], axis=0)) ** 2).mean() / 2
        np.testing.assert_allclose(losses, fit.loss_path["out-of-bag"].iloc[1:])


def test_refitted_leaves_have_stages_out_of_bag(rows):
    fit = odrf.odbt(
        "y ~ a + b", rows, n_trees=3, n_runs=8, leaf_values="refit", loss="squared_error", seed=1
    )
    losses = ((quiet(fit.staged_predict).sub(rows["y"], axis=0)) ** 2).mean() / 2
    np.testing.assert_allclose(losses, fit.loss_path["out-of-bag"].iloc[1:])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"training": "inbag"}, "did you mean 'in-bag'"),
        ({"training": True}, "training=True is not known"),
    ],
)
def test_unknown_requests(named_fit, asked, message):
    with pytest.raises(InputError, match=message):
        named_fit[1].predict(**asked)


def test_new_rows_are_not_training_rows(named_fit, rows):
    with pytest.raises(InputError, match="training='in-bag' says how training rows"):
        named_fit[1].predict(rows, training="in-bag")


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.random((400, 4)), columns=list("abcd"))
    return data.assign(y=4 * data["a"] + 2 * data["b"] + rng.normal(size=400))


@pytest.fixture(scope="module", params=["one kind", "blend"])
def interval_fit(request, noisy):
    return odrf.odrf("y ~ .", noisy, n_trees=200, blend=request.param == "blend", seed=1)


# quantiles of the few responses in the leaves of a row lie too close together
@pytest.mark.parametrize(("method", "off"), [("conformal", 0.025), ("quantile", 0.08)])
def test_intervals_of_training_rows_cover_their_level(noisy, interval_fit, method, off):
    fit = interval_fit
    for level in (0.95, 0.5):
        ends = fit.predict(interval="prediction", method=method, level=level)
        covered = noisy["y"].between(ends["conf_low"], ends["conf_high"]).mean()
        assert covered == pytest.approx(level, abs=off if level == 0.95 else 0.07)
        assert ends["estimate"].equals(fit.predict().rename("estimate"))
    in_bag = fit.predict(interval="prediction", method=method, training="in-bag")
    assert noisy["y"].between(in_bag["conf_low"], in_bag["conf_high"]).mean() > 0.99


@pytest.mark.parametrize("blend", [False, True])
def test_one_tree_gives_no_standard_error(rows, blend):
    fit = odrf.odrf("y ~ a + b", rows, n_trees=20 if blend else 3, blend=blend, seed=1)
    trees = quiet(fit.predict, type="trees").notna().to_numpy()
    kinds = fit.fit.blend.of_tree if blend else np.zeros(3)
    most = np.max([trees[:, kinds == g].sum(axis=1) for g in np.unique(kinds)], axis=0)
    found = quiet(fit.predict, interval="confidence")
    assert 0 < (most == 1).sum() < 100
    for column in ("conf_low", "conf_high", "std_error"):
        assert found[column].isna().tolist() == (most < 2).tolist()
    assert (found["estimate"].isna() == ~trees.any(axis=1)).all()


def test_confidence_intervals_of_training_rows_are_around_their_predictions(noisy):
    fit = odrf.odrf("y ~ .", noisy[:100], n_trees=600, blend=False, seed=1)
    found = quiet(fit.predict, interval="confidence")
    assert found["estimate"].equals(fit.predict().rename("estimate"))
    in_bag = quiet(fit.predict, interval="confidence", training="in-bag")
    assert in_bag["estimate"].equals(fit.predict(noisy[:100]).rename("estimate"))
    # fewer trees and no own response: about as wide as those of new rows
    new = quiet(fit.predict, noisy[100:], interval="confidence")
    assert found["std_error"].median() == pytest.approx(new["std_error"].median(), rel=0.25)


def table_of_the_docs():
    """The table of docs/training-rows.md: its rows by their first cell."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("|")
    ]
    return cells[0], {row[0]: row[1:] for row in cells[2:]}


def test_the_table_of_the_docs_names_every_kind_of_fit():
    header, by_fit = table_of_the_docs()
    assert list(by_fit) == list(FITS)
    assert header[1:3] == ["`predict()`, `fittedvalues`, `resid`", '`predict(training="in-bag")`']


def test_the_table_of_the_docs_is_true(named_fit, rows):
    name, fit = named_fit
    default, in_bag, intervals, scores = table_of_the_docs()[1][name]
    assert default == ("out of bag" if name in LEAVE_OUT else "in bag")
    out_of_bag = default == "out of bag"
    assert quiet(fit.predict).equals(fit.predict(rows)) != out_of_bag
    assert in_bag == "in bag"
    assert fit.predict(training="in-bag").equals(fit.predict(rows))
    _the_intervals(fit, intervals)
    observed = rows[fit.design.response.name]
    for attribute in re.findall(r"`(\w+)`", scores):
        if attribute == "r_squared" and fit.kind == "classification":
            continue
        if attribute == "confusion_matrix" and fit.kind == "regression":
            continue
        predicted = fit.oob_prediction if attribute == "oob_error" else quiet(fit.predict)
        if attribute == "training_error":
            predicted = fit.predict(training="in-bag")
        known = predicted.notna()
        if fit.kind == "regression":
            error = ((observed - predicted)[known] ** 2).mean()
        else:
            error = (observed.astype(object) != predicted.astype(object))[known].mean()
        value = getattr(fit, attribute)
        if attribute == "r_squared":
            error = 1 - error / observed.var(ddof=0)
        if attribute == "confusion_matrix":
            counts = value.drop(columns="error").to_numpy()
            value = 1 - np.trace(counts) / counts.sum()
        assert value == pytest.approx(error), attribute


def _the_intervals(fit, said):
    if fit.kind != "regression" or not isinstance(fit, odrf.results.ODRFResults):
        return
    if said == "out of bag":
        given = quiet(fit.predict, type="quantile")
        assert not given.equals(fit.predict(type="quantile", training="in-bag"))
    else:
        assert said == 'in bag, `method="quantile"` only'
        with pytest.raises(InputError, match=r"needs? out-of-bag rows"):
            fit.predict(interval="prediction")
        assert fit.predict(interval="prediction", method="quantile").notna().all(axis=None)


def test_reports_take_the_residuals_that_estimate_the_noise(fits, rows):
    """Out of bag where there are any, else of held-out rows, else of training rows; in silence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest, runs = fits["`odrf(…)`", "y"], fits["`odbt(…, n_runs=M)`", "y"]
        for fit in (forest, runs):
            expected = (rows["y"] - fit.oob_prediction).dropna()
            sizes = fit.consistency().normal_quantiles
            assert sizes.tolist() == normal_quantiles(expected.to_numpy()).tolist()
        held = odrf.odbt("y ~ a + b", rows, n_trees=4, validation=0.3, seed=1)
        own = (rows["y"] - held.predict(rows))[held.held_out].to_numpy()
        assert held.consistency().normal_quantiles.tolist() == normal_quantiles(own).tolist()
        for name in ("`odt(…)`", '`odrf(…, resample="none")`'):
            fit = fits[name, "y"]
            left = (rows["y"] - fit.predict(rows)).to_numpy()
            assert fit.consistency().normal_quantiles.tolist() == normal_quantiles(left).tolist()
        with pytest.raises(InputError, match="held out by validation=, or several runs"):
            _ = fits["`odbt(…)`", "y"].consistency().normal_quantiles


def test_nothing_else_that_a_fit_says_warns_of_training_rows(named_fit):
    _, fit = named_fit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(fit.summary()), repr(fit), fit.importance(), fit.consistency().summary()


@pytest.mark.parametrize("rule", ["oob", "min"])
def test_a_forest_that_out_of_bag_rows_have_pruned(noisy, rule):
    fit = odrf.odrf("y ~ .", noisy, n_trees=120, blend=False, seed=1).prune(rule=rule)
    assert fit.predict().equals(fit.oob_prediction)
    assert (fit.resid**2).mean() == pytest.approx(fit.oob_error)
    ends = fit.predict(interval="prediction", level=0.9)
    assert ends["estimate"].equals(fit.predict().rename("estimate"))
    covered = noisy["y"].between(ends["conf_low"], ends["conf_high"]).mean()
    assert covered == pytest.approx(0.9, abs=0.04)


# ------------------------------------------------------------------------------------------------
# The page vignettes/results.md tells what each kind of fit has, and why some lack it.
# ------------------------------------------------------------------------------------------------

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
    assert marked(PAGE_OF_TABLES.read_text(encoding="utf-8")) == tables()


def test_every_gap_has_a_reason_and_every_reason_a_gap():
    has = members()
    for attribute in set.union(*has.values()):
        kinds = {one for name, one in CLASSES.items() if attribute in has[name]}
        if len(kinds) > 1 or attribute in NEED:
            for kind in set(CLASSES.values()) - kinds:
                assert why_absent(kind, attribute), (kind, attribute)
    assert all(all(reasons.values()) for reasons in absent().values())
    for kind in (*CLASSES.values(), *OF_TIMES.values()):
        lacking = {name for name in NEED if name not in dir(kind)}
        assert kind._lacks.keys() <= lacking | {NEED[name] for name in lacking}, kind


@pytest.mark.parametrize("words", CALLS)
def test_what_a_call_answers(named, words):
    name, fits = named
    lacks = name in CALLS_ABSENT[words]
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
    for attribute, reasons in absent().items():
        if name in reasons and attribute.isidentifier():
            with pytest.raises(AttributeError, match=f"^{own} has no '{attribute}': ") as caught:
                getattr(fits["numbers"], attribute)
            assert str(caught.value).endswith(reasons[name])
    for wrong, meant in (("predictt", "predict"), ("feature_importances_", "importance")):
        with pytest.raises(AbsentError, match=f"^{own} has no '{wrong}'; did you mean '{meant}'"):
            getattr(fits["numbers"], wrong)
        assert not hasattr(fits["numbers"], wrong)
    with pytest.raises(AttributeError) as caught:
        fits["numbers"]._no_such_thing  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("_no_such_thing", fits["numbers"])


def test_what_is_gone_says_what_to_use(named):
    for fit in named[1].values():
        with pytest.raises(AttributeError, match=r"has no 'compact': use without_data\(\)"):
            fit.compact()


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
