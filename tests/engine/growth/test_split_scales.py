"""Splits chosen on a transformed response, and nodes with the means of the response itself."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import odrf
from blends import with_few_pilots
from forests import same_bits
from odrf import InputError
from odrf.engine.growth.split_scales import box_cox_power, splitting_response
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.growth.tree_update import Update, update_trees
from odrf.engine.kernel_params import ON_BOX_COX, ON_LOG, ON_NORMAL, ON_RANKS, ON_RESPONSE
from odrf.engine.resamples import BOOTSTRAP, Batch, Sampling
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.routing import leaf_nodes
from odrf.projections.mixture import Mixture, Share
from odrf.projections.regression import LOGISTIC
from odrf.projections.rotation import PrincipalComponents, Rotation
from problems import grow_one, noisy, problems, response
from reference.honesty import filled
from reference.randomness import Stream, draw_halves
from reference.split_scales import scaled

SCALES = [ON_LOG, ON_NORMAL, ON_RANKS, ON_BOX_COX]
SHAPE = ("root", "left", "threshold", "start", "index", "coef", "order")
NUMBERS = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
)
ROWS = st.lists(st.tuples(NUMBERS, st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])), min_size=1)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.sampled_from(SCALES), st.booleans())
def test_scales_are_those_of_their_definition(rows, scale, positive):
    y, weights = np.array(rows).T
    y = np.exp(y / 200) if positive else y
    found = splitting_response(y, weights, scale)
    np.testing.assert_allclose(found, scaled(y, weights, scale), rtol=1e-9, atol=1e-9)


@given(ROWS)
def test_the_response_itself_is_not_copied(rows):
    y, weights = np.array(rows).T
    assert splitting_response(y, weights, ON_RESPONSE) is None


@given(ROWS, st.sampled_from(SCALES))
def test_scales_keep_order_and_ties(rows, scale):
    y, weights = np.array(rows).T
    y, weights = y[weights > 0], weights[weights > 0]
    assume(len(y))
    found = splitting_response(y, weights, scale)
    order = np.argsort(y, kind="stable")
    steps = np.diff(found[order])
    assert (steps[np.diff(y[order]) > 0] > 0).all()
    assert (steps[np.diff(y[order]) == 0] == 0).all()
    assert np.isfinite(found).all()


@given(st.lists(st.tuples(NUMBERS, st.integers(0, 4)), min_size=1), st.sampled_from(SCALES))
def test_a_weight_of_two_is_the_row_twice(rows, scale):
    y, times = np.array(rows)[:, 0], np.array(rows)[:, 1].astype(int)
    assume(times.any())
    weighted = splitting_response(y, times.astype(float), scale)
    repeated = splitting_response(np.repeat(y, times), np.ones(times.sum()), scale)
    np.testing.assert_allclose(np.repeat(weighted, times), repeated, rtol=1e-12, atol=1e-12)
    assert (weighted[times == 0] == 0).all()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "y", [[5.0, 5.0], [0.0, 0.0], [-1e60, 0.0, 1e60], [1e-320, 1.0, 1e60], [-1e-60, 0.0]]
)
def test_extreme_responses_have_finite_scales(y, scale):
    y = np.array(y)
    assert np.isfinite(splitting_response(y, np.ones(len(y)), scale)).all()


@pytest.mark.parametrize(("power", "seed"), [(0.0, 0), (0.5, 1), (-1.0, 2), (1.0, 3)])
def test_the_power_is_the_nearest_to_that_of_scipy(power, seed):
    normal = 10 + np.random.default_rng(seed).normal(size=400)
    y = np.exp(normal / 10) if power == 0 else normal ** (1 / power)
    z = np.log(y) - np.log(y).mean()
    scipys = scipy.stats.boxcox_normmax(y, method="mle", brack=(-2.0, 2.0))
    assert box_cox_power(z, np.ones(400)) == pytest.approx(np.clip(scipys, -2, 2), abs=0.0501)


def test_light_rows_have_finite_normal_scores():
    y, weights = np.arange(3.0), np.array([1e-200, 1.0, 1e-200])
    assert np.isfinite(splitting_response(y, weights, ON_NORMAL)).all()


@st.composite
def regressions(draw):
    """Problems of a numeric response, their splits chosen on one of the scales."""
    problem = draw(problems(max_rows=72))
    rng = np.random.default_rng(problem.seed)
    options = problem.settings._replace(
        criterion=SQUARED_ERROR,
        n_classes=1,
        family=LOGISTIC,
        split_scale=draw(st.sampled_from(SCALES)),
    )
    sampling = problem.sampling._replace(honest=draw(st.booleans()))
    y = response(problem.X, 1, rng)
    return replace(problem, y=y, settings=options, sampling=sampling)


def on_scale(problem):
    """The problem whose response is the transformed one."""
    y = splitting_response(problem.y, problem.weights, problem.settings.split_scale)
    return replace(problem, y=y).but(split_scale=ON_RESPONSE)


def shape(forest):
    return [getattr(forest, name).astype(np.float64).tobytes() for name in SHAPE]


def require_node_values(tree, problem, sampling):
    """The numbers of the nodes are those of the responses of the rows that reach them."""
    _, filling = draw_halves(Stream(problem.streams()[0]), problem.weights, sampling)
    expected = filled(tree, problem.X, problem.y, problem.weights, filling, SQUARED_ERROR, 1)
    nodes = [expected[i] for i in range(tree.n_nodes)]
    assert tree.count.tolist() == [node.count for node in nodes]
    for name in ("weight", "value", "impurity", "gain"):
        values = np.array([getattr(node, name) for node in nodes])
        np.testing.assert_allclose(getattr(tree, name), values, rtol=1e-9, atol=1e-10)
    assert (tree.gain >= 0).all()


@settings(max_examples=150, deadline=None)
@given(regressions())
def test_splits_are_those_of_the_scale_and_values_those_of_the_response(problem):
    tree = problem.grow()
    assert shape(tree) == shape(on_scale(problem).grow())
    require_node_values(tree, problem, problem.sampling)


@settings(max_examples=40, deadline=None)
@given(regressions())
def test_so_it_is_with_surrogates(problem):
    problem = problem.but(surrogates=True)
    tree, other = problem.grow(), on_scale(problem).grow()
    assert shape(tree) == shape(other)
    for name in set(tree.surrogates._fields) - {"marks"}:
        np.testing.assert_array_equal(
            getattr(tree.surrogates, name), getattr(other.surrogates, name)
        )
    require_node_values(tree, problem, problem.sampling)


@pytest.mark.parametrize("family", [Rotation(), PrincipalComponents()])
@pytest.mark.parametrize("honest", [False, True])
def test_so_it_is_with_rotated_columns(family, honest):
    problem = replace(noisy(n=120), sampling=Sampling(BOOTSTRAP, 1.0, honest))
    problem = problem.but(split_scale=ON_RANKS)
    mixture, state = Mixture((Share(family, 5),)), problem.streams()[0]

    def grown(some, splitting):
        data = some.X, some.y, some.weights, some.feature_groups, some.sampling
        options = some.settings.settings, mixture, state.copy(), True
        return grow_one(*data, *options, splitting=splitting)

    other = on_scale(problem)
    tree = grown(problem, other.y)
    assert shape(tree) == shape(grown(other, None))
    _, filling = draw_halves(Stream(state), problem.weights, problem.sampling)
    filled_by = problem.y[filling > 0], filling[filling > 0]
    assert tree.value[0, 0] == pytest.approx(np.average(filled_by[0], weights=filled_by[1]))


@pytest.mark.parametrize("scale", SCALES)
def test_neither_threads_nor_a_copy_change_a_bit(scale):
    problem = replace(noisy(n=200, n_projections=3), sampling=Sampling(BOOTSTRAP, 1.0))
    problem = problem.but(split_scale=scale)
    assert same_bits(problem.grow(8, n_jobs=1), problem.grow(8, n_jobs=4))
    splitting, state = on_scale(problem).y, problem.streams()[0]
    one, other = (
        grow_one(*problem.growth, state.copy(), copied, splitting=splitting)
        for copied in (False, True)
    )
    for name in ARRAYS:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def updated(problem, tree, n):
    """A tree of the first n rows, updated by the others."""
    sampling = problem.sampling._replace(later=(Batch(n, problem.sampling.fraction),))
    options, feature_groups = problem.settings, problem.feature_groups
    update = Update(
        *read_by_growth(problem.X, feature_groups, options.mixture),
        *(problem.y, problem.weights, feature_groups, sampling, options.settings, options.mixture),
        *(options.max_leaves, 10),
    )
    [now] = update_trees([(tree, tree.count)], update, problem.streams(), 1, lambda: None)
    return now.tree


@settings(max_examples=100, deadline=None)
@given(regressions(), st.data())
def test_updates_choose_splits_on_the_scale_of_all_rows(problem, data):
    y, weights = problem.y, problem.weights
    assume(len(y) > 1)
    n = data.draw(st.integers(int(np.argmax(weights > 0)) + 1, len(y)))
    first = replace(problem, X=problem.X[:, :n].copy(), y=y[:n], weights=weights[:n]).grow()
    now = updated(problem, first, n)
    assert shape(now) == shape(updated(on_scale(problem), first, n))
    sampling = problem.sampling._replace(later=(Batch(n, problem.sampling.fraction),))
    require_node_values(now, problem, sampling)


# ------------------------------------------------------------------------------------------------
# The option `split_scale`: splits chosen on a transformed response.
# ------------------------------------------------------------------------------------------------

SCALES_OF_SPLIT_SCALE = ["log", "normal", "ranks"]
RNG = np.random.default_rng(8)
DATA = pd.DataFrame(RNG.normal(size=(150, 3)), columns=["a", "b", "c"])
DATA["f"] = RNG.choice(["u", "v", "w"], 150)
DATA["y"] = np.exp(2 * DATA["a"] + DATA["b"] * (DATA["f"] == "u") + RNG.normal(size=150) / 3)
DATA["side"] = np.where(DATA["a"] > 0, "over", "below")


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("y ~ a + b + f", DATA, n_trees=12, split_scale="ranks", seed=1)


def shape_of_split_scale(fit):
    return [getattr(fit.forest, name).astype(float).tobytes() for name in SHAPE]


@pytest.mark.parametrize("options", [{}, {"honest": True}, {"max_leaves": 7, "penalty": "aic"}])
def test_a_tree_has_the_splits_of_the_logarithm_and_means_of_the_response(options):
    tree = odrf.odt("y ~ a + b + f", DATA, split_scale="log", alpha=None, seed=1, **options)
    other = odrf.odt("np.log(y) ~ a + b + f", DATA, alpha=None, seed=1, **options)
    assert shape_of_split_scale(tree) == shape_of_split_scale(other)
    if not tree.control.honest:
        leaf = leaf_nodes(tree.forest, tree.fit.data.X, 1)[:, 0]
        means = DATA["y"].groupby(leaf).mean()
        np.testing.assert_allclose(tree.fittedvalues, means[leaf], rtol=1e-12)
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_so_has_every_tree_of_a_forest():
    grown = odrf.odrf("y ~ a + b", DATA, n_trees=6, split_scale="log", seed=1)
    assert shape_of_split_scale(grown) == shape_of_split_scale(
        odrf.odrf("np.log(y) ~ a + b", DATA, n_trees=6, seed=1)
    )


@pytest.mark.parametrize("scale", SCALES_OF_SPLIT_SCALE)
def test_scales_keep_no_unit(scale):
    one, other = (
        odrf.odt("y ~ a + b + f", DATA.assign(y=unit * DATA["y"]), split_scale=scale, seed=1)
        for unit in (1.0, 2.0**20)
    )
    np.testing.assert_allclose(other.fittedvalues, 2.0**20 * one.fittedvalues, rtol=1e-6)


@pytest.mark.parametrize("scale", SCALES_OF_SPLIT_SCALE)
def test_a_weight_of_two_is_the_row_twice_of_split_scale(scale):
    weights = np.arange(150) % 3
    options = {"split_scale": scale, "alpha": None, "min_leaf": 1, "projection": "axis", "seed": 1}
    weighted = odrf.odt("y ~ a + b", DATA, weights=weights, **options)
    repeated = odrf.odt("y ~ a + b", DATA.loc[DATA.index.repeat(weights)], **options)
    rows = DATA[weights > 0]
    np.testing.assert_allclose(weighted.predict(rows), repeated.predict(rows), rtol=1e-9)


def test_pruning_is_by_errors_of_the_response():
    tree = odrf.odt("y ~ a + b + f", DATA, split_scale="log", alpha=None, seed=1)
    path = tree.pruning_path()
    sizes = path.table.set_index("leaves")
    smaller = tree.prune(alpha=float(path.table["alpha"].iloc[-1]))
    assert smaller.n_leaves == 1
    error = ((DATA["y"] - DATA["y"].mean()) ** 2).mean()
    assert smaller.training_error == pytest.approx(error)
    assert sizes["error"].iloc[0] < sizes["error"].iloc[-1]
    assert odrf.odt("y ~ a + b + f", DATA, split_scale="log", seed=1).n_leaves < tree.n_leaves


@pytest.mark.parametrize("options", [{"alpha": "oob"}, {"alpha": 0.01}, {"honest": True}])
def test_threads_change_no_bit(options):
    one, other = (
        odrf.odrf(
            "y ~ a + b + f", DATA, n_trees=8, split_scale="normal", seed=1, n_jobs=jobs, **options
        )
        for jobs in (1, 4)
    )
    assert same_bits(one.forest, other.forest)


def test_it_is_kept_by_more_trees_and_in_files(forest, tmp_path):
    at_once = odrf.odrf("y ~ a + b + f", DATA, n_trees=20, split_scale="ranks", seed=1)
    assert same_bits(forest.grow(8).forest, at_once.forest)
    forest.save(tmp_path / "forest.odrf")
    for again in (odrf.load(tmp_path / "forest.odrf"), pickle.loads(pickle.dumps(forest))):
        assert again.control.split_scale == "ranks"
        assert again.predict(DATA).equals(forest.predict(DATA))
        assert same_bits(again.grow(8).forest, at_once.forest)


def test_forests_of_two_scales_are_not_combined(forest):
    other = odrf.odrf("y ~ a + b + f", DATA, n_trees=12, seed=2)
    with pytest.raises(InputError, match="split_scale"):
        forest.combine(other)
    alike = odrf.odrf("y ~ a + b + f", DATA, n_trees=12, split_scale="ranks", seed=2)
    assert forest.combine(alike).forest.n_trees == 24


@pytest.mark.parametrize("honest", [False, True])
def test_updates_stay_on_the_scale(honest):
    first = odrf.odt("y ~ a + b", DATA[:100], split_scale="log", honest=honest, alpha=None, seed=1)
    other = odrf.odt("np.log(y) ~ a + b", DATA[:100], honest=honest, alpha=None, seed=1)
    tree = first.update(DATA[100:])
    assert shape_of_split_scale(tree) == shape_of_split_scale(other.update(DATA[100:]))
    if not honest:
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_surrogates_and_empty_cells_go_together_with_it():
    holes = DATA.mask(RNG.random(DATA.shape) < 0.1, other=np.nan)
    holes["y"] = DATA["y"]
    for missing in ("split", "surrogate"):
        options = {"missing": missing, "alpha": None, "seed": 1}
        tree = odrf.odt("y ~ a + b + c", holes, split_scale="log", **options)
        assert shape_of_split_scale(tree) == shape_of_split_scale(
            odrf.odt("np.log(y) ~ a + b + c", holes, **options)
        )
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_splits_are_evaluated_by_trees_on_the_same_scale(forest):
    tree = odrf.odt("y ~ a + b + f", DATA, split_scale="log", seed=1)
    for fit in (tree, forest):
        assert fit.importance()["importance"].idxmax() == "a"
    loco = forest.importance("loco", groups={"a": ["a"]})
    assert np.isfinite(loco["importance"] if "importance" in loco else loco.iloc[:, -1]).all()


def test_the_scale_is_chosen_out_of_bag_for_a_blend():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    rows["y"] = np.exp((rows["a"] + rows["b"] + rng.normal(size=600)) / 2)

    def grown(n_trees=20, split_scale="auto", seed=1):
        return odrf.odrf(
            "y ~ .", rows, n_trees=n_trees, blend=True, split_scale=split_scale, seed=seed
        )

    fit = grown()
    chosen = fit.control.split_scale
    assert chosen in SCALES_OF_SPLIT_SCALE and fit.fit.request.split_scale == chosen
    said = "out-of-bag rows chose this scale"
    assert said in str(fit.summary())
    given = grown(split_scale=chosen)
    assert same_bits(fit.forest, given.forest)
    assert "Splits chosen on" in str(given.summary()) and said not in str(given.summary())
    assert fit.combine(grown(seed=2)).forest.n_trees == 40
    assert same_bits(fit.grow(10).forest, grown(n_trees=30).forest)


def test_files_hold_the_errors_by_which_the_scale_was_chosen(tmp_path):
    with with_few_pilots():
        fit = odrf.odrf("y ~ a + b", DATA, n_trees=20, blend=True, split_scale="auto", seed=1)
    fit.save(tmp_path / "forest.odrf")
    again = odrf.load(tmp_path / "forest.odrf")
    assert again.fit.scale_errors == fit.fit.scale_errors != {}
    assert str(again.summary()) == str(fit.summary())


def test_the_consistency_report_says_that_no_theorem_covers_it(forest):
    report = forest.consistency()
    assert "splits chosen on the response itself, not on ranks of the response" in report.conclusion
    first = report.table.iloc[0]
    assert first["condition"] == "splits chosen on the response"
    assert first["verdict"] == "does not hold"
    honest = odrf.odt("y ~ a", DATA, split_scale="log", honest=True, seed=1).consistency()
    assert honest.table.iloc[0]["quantity"] == "on the logarithm of the response"


@pytest.mark.parametrize(("function", "options"), [(odrf.odt, {}), (odrf.odrf, {"blend": False})])
def test_bad_input_is_refused(function, options):
    with pytest.raises(InputError, match=r"^split_scale='sqrt' is not known: use one of"):
        function("y ~ a", DATA, split_scale="sqrt")
    with pytest.raises(InputError, match="this one has classes"):
        function("side ~ a", DATA, split_scale="log")
    with pytest.raises(InputError, match="a single kind: use blend=True"):
        function("y ~ a", DATA, split_scale="auto", **options)


def test_standard_errors_need_the_response_itself():
    with pytest.raises(InputError, match=r"^split_scale='log' with inference=True"):
        odrf.odrf("y ~ a", DATA, split_scale="log", inference=True)
    fit = odrf.odrf("y ~ a", DATA, n_trees=5, inference=True, seed=1)
    assert fit.control.split_scale == "response"
