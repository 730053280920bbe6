"""The kinds of trees in a blend."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest

import odrf
from forests import same_bits
from odrf.errors import InputError
from odrf.options.blend import kinds_of_trees
from odrf.options.options import Options
from odrf.projections import FAMILIES, Axis

KINDS = ["best", "random", "extra", "smooth", "few", "sparse", "axis"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.random((250, 4)), columns=list("abcd"))
    frame["y"] = frame.a + 2 * frame.b + rng.normal(size=250) / 4
    frame["side"] = np.where(frame.y > 1.5, "over", "below")
    return frame


@pytest.fixture(scope="module")
def fit(data):
    return odrf.odrf("side ~ a + b + c + d", data, n_trees=40, blend=True, seed=1)


def test_the_kinds_have_a_table(fit):
    assert fit.kinds.index.tolist() == KINDS
    assert fit.kinds.trees.sum() == fit.forest.n_trees == 40
    assert fit.kinds.weight.sum() == pytest.approx(1.0)
    assert fit.kinds.rows.tolist() == [0.8, 0.9, 0.9, 0.632, 0.9, 0.9, 0.632]
    assert fit.kinds.cuts.tolist() == ["all", "3", "1", "all", "1", "3", "all"]
    assert fit.kinds.min_leaf.tolist() == [2, 1, 1, 10, 1, 1, 1]
    assert fit.kinds.singles.tolist() == [4, 4, 2, 4, 1, 0, 2]
    assert fit.kinds.directions.tolist() == [5, 5, 1, 5, 1, 5, 0]
    assert (fit.kinds.pilot_error > 0).all()


def test_the_summary_shows_the_kinds(fit):
    text = str(fit.summary())
    assert "Kinds of trees" in text
    for fact in ("Criterion", "Resampling", "Tried per node", "Min. leaf"):
        assert re.search(rf"{fact} +by kind of tree", text)
    assert "blend=True" in text
    assert "pilot_error is the out-of-bag Brier score" in " ".join(text.split())


def test_a_tree_keeps_the_options_of_its_kind(fit):
    for i in (0, 7, 39):
        kind = fit.fit.blend.of_tree[i]
        tree = fit.tree(i)
        assert tree.control.min_leaf == fit.kinds.min_leaf.iloc[kind]
        assert tree.fit.blend is None
        assert tree.forest.threshold.tobytes() == fit.forest.tree(i).threshold.tobytes()


def test_it_predicts_prunes_and_pickles_as_any_forest(fit, data):
    again = pickle.loads(pickle.dumps(fit))
    assert again.predict(data).equals(fit.predict(data))
    assert again.kinds.equals(fit.kinds)
    assert fit.oob_error < 0.25
    assert fit.prune(0.01).n_leaves.mean() < fit.n_leaves.mean()


@pytest.mark.parametrize(
    ("formula", "objective"), [("y ~ a + b", "error"), ("side ~ a + b", "log_loss")]
)
def test_a_seed_repeats_it_for_any_number_of_threads(data, few_pilots, formula, objective):
    one, other = (
        odrf.odrf(formula, data, n_trees=25, blend=True, objective=objective, seed=9, n_jobs=jobs)
        for jobs in (1, 3)
    )
    assert one.kinds.equals(other.kinds)
    assert one.predict(data).equals(other.predict(data))


def test_what_is_given_holds_for_all_kinds(data, few_pilots):
    fit = odrf.odrf("y ~ a + b", data, n_trees=20, blend=True, min_leaf=7, seed=1)
    assert fit.kinds.min_leaf.unique().tolist() == [7]
    assert fit.kinds.index.tolist() == ["best", "random", "extra"]


def request(*given, **options):
    return Options(**options, given=frozenset(given))


def options_of(*given, classification=True, **options):
    return kinds_of_trees(request(*given, **options), 99, 9, 12, classification)


def test_each_kind_draws_its_share_of_the_rows():
    for classification in (True, False):
        kinds = options_of(classification=classification)
        assert {kind.resample for kind in kinds.values()} == {"subsample"}
        shares = {name: kind.sample_fraction for name, kind in kinds.items()}
        assert shares["smooth"] < shares["best"] < shares["random"] == shares["extra"] < 1


def test_resampling_that_is_given_holds_for_all_kinds():
    for kind in options_of("resample", resample="bootstrap").values():
        assert (kind.resample, kind.sample_fraction) == ("bootstrap", "auto")
    for kind in options_of("sample_fraction", sample_fraction=0.5).values():
        assert (kind.resample, kind.sample_fraction) == ("subsample", 0.5)


def test_a_regression_has_fewer_kinds():
    assert list(options_of(classification=False)) == ["best", "random", "extra", "smooth"]


@pytest.mark.parametrize("given", ["n_singles", "n_projections", "subset_size"])
def test_options_of_the_candidates_drop_kinds(given):
    assert not {"sparse", "axis"}.intersection(options_of(given, **{given: 3}))


def test_the_projection_holds_for_all_kinds():
    kinds = options_of("projection", projection="lda")
    assert "axis" not in kinds
    assert kinds.pop("sparse").projection == {"sparse": 12, "lda": 1}
    assert {kind.projection for kind in kinds.values()} == {"lda"}


@pytest.mark.parametrize("response", ["y", "side"])
@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.blended])
def test_a_mapping_of_one_family_is_that_family(data, few_pilots, name, response):
    if FAMILIES[name].tasks == ("classification",) and response == "y":
        with pytest.raises(InputError, match=name):
            odrf.odrf("y ~ a + b", data, projection={name: 1}, n_trees=100)
        return
    options = {"max_leaves": 5, "seed": 1}
    for family, share, size in (
        (name, 3.5, {"n_trees": 100}),
        (FAMILIES[name](), 1, {"n_trees": 20, "blend": True}),
    ):
        one, other = (
            odrf.odrf(f"{response} ~ a + b", data[:60], projection=projection, **options, **size)
            for projection in (family, {family: share})
        )
        assert one.kinds.index.tolist() == other.kinds.index.tolist()
        assert same_bits(one.forest, other.forest)


def test_the_axis_kind_is_the_ordinary_random_forest(fit):
    axis = fit.fit.kinds["axis"]
    assert (axis.mixture.shares, axis.min_leaf) == (((Axis(), 2),), 1)


def test_a_few_predictors_are_half_of_the_root_of_their_number():
    for P, half in ((9, 1), (25, 2), (100, 5)):
        few = kinds_of_trees(request(), 99, P, P, True)["few"]
        assert (few.n_singles, few.n_projections) == (half, half)


def test_sparse_directions_have_estimated_ones_beside():
    kind = options_of()["sparse"]
    assert (kind.projection, kind.n_projections) == ({"sparse": 12, "logistic": 1}, 13)
    many = kinds_of_trees(request(projection="lda"), 99, 5000, 5000, True)["sparse"]
    assert many.criterion == "entropy"
    ranked = kinds_of_trees(request(projection="lda"), 99, 5000, 5000, True, ordinal=True)
    assert ranked["sparse"].criterion == "auto"
    assert (many.projection, many.n_projections) == ({"sparse": 71, "lda": 1}, 72)


@pytest.mark.parametrize(
    ("options", "several"),
    [
        ({"n_trees": 100}, True),
        ({"n_trees": 99}, False),
        ({"n_trees": 20, "blend": True}, True),
        ({"n_trees": 100, "blend": False}, False),
        ({"n_trees": 100, "projection": "least_squares"}, True),
        ({"n_trees": 100, "projection": "sparse"}, False),
        ({"n_trees": 100, "projection": "axis"}, False),
        ({"n_trees": 100, "resample": "none"}, False),
    ],
)
def test_large_forests_are_blends_by_default(data, few_pilots, options, several):
    fit = odrf.odrf("y ~ a + b", data[:40], max_leaves=4, seed=1, **options)
    assert (fit.fit.blend is not None) == several
    assert fit.forest.n_trees == options["n_trees"]


@pytest.mark.parametrize("n", [3, 6])
@pytest.mark.parametrize("response", ["y", "side"])
def test_a_few_rows_are_enough(data, n, response):
    rows = data.sort_values("y").iloc[:: len(data) // n][:n]
    fit = odrf.odrf(f"{response} ~ a + b", rows, n_trees=100, seed=1)
    assert fit.predict(rows).notna().all()
    assert fit.kinds.trees.sum() == 100


@pytest.mark.parametrize("objective", ["brier", "log_loss"])
def test_an_objective_needs_classes_and_several_kinds(data, objective):
    with pytest.raises(InputError, match="the response has none: leave it out"):
        odrf.odrf("y ~ a + b", data, n_trees=100, objective=objective)
    with pytest.raises(InputError, match="use blend=True, or n_trees=100 or more"):
        odrf.odrf("side ~ a + b", data, n_trees=20, objective=objective)


@pytest.mark.parametrize("objective", ["auc", "log loss", None, 1])
def test_other_objectives_are_not_known(data, objective):
    message = r"objective=.* is not known: use one of .*'brier', 'log_loss'"
    with pytest.raises(InputError, match=message):
        odrf.odrf("side ~ a + b", data, objective=objective)


def test_shares_of_kinds_are_chosen_for_the_objective(data, few_pilots):
    shares = {}
    for objective in ("error", "brier", "log_loss"):
        forest = odrf.odrf(
            "side ~ a + b", data, n_trees=20, blend=True, objective=objective, seed=1
        )
        assert forest.kinds.trees.sum() == 20
        shares[objective] = forest.kinds.weight.tolist()
        larger = forest.grow(10)
        assert larger.fit.request.objective == objective
    assert len({tuple(one) for one in shares.values()}) == 3


def test_a_forest_for_log_loss_is_saved_updated_and_enlarged(data, few_pilots, tmp_path):
    options = {"n_trees": 20, "blend": True, "objective": "log_loss", "seed": 1}
    forest = odrf.odrf("side ~ a + b", data, **options)
    forest.save(tmp_path / "forest.odrf")
    again = odrf.load(tmp_path / "forest.odrf")
    assert again.fit.request == forest.fit.request
    assert again.kinds.equals(forest.kinds)
    larger = odrf.odrf("side ~ a + b", data, **options | {"n_trees": 60})
    assert again.grow(40).kinds.equals(larger.kinds)
    assert again.grow(40).predict().equals(larger.predict())
    updated = again.update(data[:50])
    assert updated.nobs == len(data) + 50
    assert updated.kinds.weight.equals(forest.kinds.weight)


def test_blend_must_be_auto_true_or_false(data):
    with pytest.raises(InputError, match="blend='yes': use \"auto\", True or False"):
        odrf.odrf("y ~ a + b", data, blend="yes")


def test_trees_of_one_kind_have_no_table(data):
    with pytest.raises(InputError, match="blend=True"):
        _ = odrf.odrf("y ~ a + b", data, n_trees=3, seed=1).kinds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 19}, "n_trees=19 with blend=True: use at least 20"),
        ({"n_trees": 30, "resample": "none"}, 'resample="none" with blend=True'),
        ({"n_trees": 30, "projection": "axis"}, "projection='axis' with blend=True"),
        ({"n_trees": 30, "projection": "sparse"}, "projection='sparse' with blend=True"),
        (
            {"n_trees": 30, "projection": {"sparse": 2, "logistic": 1}},
            "projection={'sparse': 2, 'logistic': 1} with blend=True.*of one family",
        ),
        ({"n_trees": 30, "projection": {"axis": 1}}, "projection='axis' with blend=True"),
    ],
)
def test_what_a_blend_needs(data, options, message):
    with pytest.raises(InputError, match=message):
        odrf.odrf("y ~ a + b", data, blend=True, **options)
