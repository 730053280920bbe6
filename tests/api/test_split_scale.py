"""The option `split_scale`: splits chosen on a transformed response."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots
from forests import same_bits
from odrf import InputError
from odrf.engine.trees.routing import leaf_nodes

SHAPE = ("root", "left", "threshold", "start", "index", "coef", "order")
SCALES = ["log", "normal", "ranks"]
RNG = np.random.default_rng(8)
DATA = pd.DataFrame(RNG.normal(size=(150, 3)), columns=["a", "b", "c"])
DATA["f"] = RNG.choice(["u", "v", "w"], 150)
DATA["y"] = np.exp(2 * DATA["a"] + DATA["b"] * (DATA["f"] == "u") + RNG.normal(size=150) / 3)
DATA["side"] = np.where(DATA["a"] > 0, "over", "below")


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("y ~ a + b + f", DATA, n_trees=12, split_scale="ranks", seed=1)


def shape(fit):
    return [getattr(fit.forest, name).astype(float).tobytes() for name in SHAPE]


@pytest.mark.parametrize("options", [{}, {"honest": True}, {"max_leaves": 7, "penalty": "aic"}])
def test_a_tree_has_the_splits_of_the_logarithm_and_means_of_the_response(options):
    tree = odrf.odt("y ~ a + b + f", DATA, split_scale="log", alpha=None, seed=1, **options)
    other = odrf.odt("np.log(y) ~ a + b + f", DATA, alpha=None, seed=1, **options)
    assert shape(tree) == shape(other)
    if not tree.control.honest:
        leaf = leaf_nodes(tree.forest, tree.fit.data.X, 1)[:, 0]
        means = DATA["y"].groupby(leaf).mean()
        np.testing.assert_allclose(tree.fittedvalues, means[leaf], rtol=1e-12)
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_so_has_every_tree_of_a_forest():
    grown = odrf.odrf("y ~ a + b", DATA, n_trees=6, split_scale="log", seed=1)
    assert shape(grown) == shape(odrf.odrf("np.log(y) ~ a + b", DATA, n_trees=6, seed=1))


@pytest.mark.parametrize("scale", SCALES)
def test_scales_keep_no_unit(scale):
    one, other = (
        odrf.odt("y ~ a + b + f", DATA.assign(y=unit * DATA["y"]), split_scale=scale, seed=1)
        for unit in (1.0, 2.0**20)
    )
    np.testing.assert_allclose(other.fittedvalues, 2.0**20 * one.fittedvalues, rtol=1e-6)


@pytest.mark.parametrize("scale", SCALES)
def test_a_weight_of_two_is_the_row_twice(scale):
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
    assert smaller.n_leaves[0] == 1
    error = ((DATA["y"] - DATA["y"].mean()) ** 2).mean()
    assert smaller.training_error == pytest.approx(error)
    assert sizes["error"].iloc[0] < sizes["error"].iloc[-1]
    assert odrf.odt("y ~ a + b + f", DATA, split_scale="log", seed=1).n_leaves[0] < tree.n_leaves[0]


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
    assert shape(tree) == shape(other.update(DATA[100:]))
    if not honest:
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_surrogates_and_empty_cells_go_together_with_it():
    holes = DATA.mask(RNG.random(DATA.shape) < 0.1, other=np.nan)
    holes["y"] = DATA["y"]
    for missing in ("split", "surrogate"):
        options = {"missing": missing, "alpha": None, "seed": 1}
        tree = odrf.odt("y ~ a + b + c", holes, split_scale="log", **options)
        assert shape(tree) == shape(odrf.odt("np.log(y) ~ a + b + c", holes, **options))
        assert tree.forest.value[0, 0] == pytest.approx(DATA["y"].mean())


def test_splits_are_judged_by_trees_on_the_same_scale(forest):
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
    assert chosen in SCALES and fit.fit.request.split_scale == chosen
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
