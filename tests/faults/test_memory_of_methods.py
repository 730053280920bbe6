"""What grows with rows × rows, rows × trees, levels × rows or columns² is refused beforehand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import projections
from odrf.engine import memory
from odrf.engine.boosting.runs import added_up_by_run
from odrf.engine.numeric import streams
from odrf.pruning.validation import held_out_sums
from odrf.statistics.curves import similarity_order
from odrf.statistics.importance_tests import gaussian_knockoffs


@pytest.fixture
def free(monkeypatch):
    """Return a function that leaves so many bytes free."""

    def leave(size):
        monkeypatch.setattr(memory, "SMALL", 0)
        monkeypatch.setattr(memory, "available_memory", lambda: size)

    return leave


def trees_of(fit):
    """Return trees, rows and starts of boosting runs."""
    return fit.fit.boosted.forest, fit.fit.data.X, fit.fit.boosted.starts


@pytest.fixture(scope="module")
def fits(rows):
    grown = {
        "forest": odrf.odrf("y ~ .", rows, n_trees=12, seed=1),
        "coarse": odrf.odrf("y ~ .", rows, n_trees=12, min_leaf=40, seed=1),
        "boosted": odrf.odbt("y ~ .", rows, n_trees=20, seed=1),
        "runs": odrf.odbt("y ~ .", rows, n_trees=3, n_runs=12, seed=1),
        "guided": odrf.graf("y ~ .", rows, n_trees=12, seed=1),
    }
    return SimpleNamespace(**grown, near=grown["coarse"].proximity(), rows=rows)


OF_RESULTS = {
    "draws": (3599, lambda fits: fits.forest.fit.draws.all_unseen(),
              "which of 300 rows each of 12 trees drew"),
    "leaves": (40_000, lambda fits: fits.coarse.proximity(), "the leaves of 300 rows in 12 trees"),
    "plain": (60_000, lambda fits: fits.coarse.proximity(),
              "the proximities of 300 rows to 300 rows"),
    "oob": (60_000, lambda fits: fits.coarse.proximity(type="oob"),
            "the proximities of 300 rows to 300 rows"),
    "weights": (60_000, lambda fits: fits.coarse.proximity(type="weights"),
                "the proximities of 300 rows to 300 rows"),
    "frame": (8 * 300 * 300 - 1, lambda fits: fits.near.to_frame(),
              "a data frame of 300 rows and 300 columns"),
    "rounds": (20_000, lambda fits: fits.boosted.staged_predict(fits.rows),
               "the scores of 300 rows for 20 rounds"),
    "trees": (24 * 300 * 12 - 1, lambda fits: fits.forest.predict(fits.rows, type="trees"),
              "300 predictions of each of 12 trees"),
    "strength": (32 * 300 * 12 - 1, lambda fits: fits.forest.strength_correlation(),
                 "the errors of 300 rows in 12 trees"),
    "runs": (28_799, lambda fits: added_up_by_run(*trees_of(fits.runs), 1),
             "the scores of 300 rows for 12 runs"),
    "shares": (3_199, lambda fits: fits.forest.shap(fits.rows[:50]),
               "the 4 × 1 values of each of 50 rows and their errors"),
    "interactions": (5_000, lambda fits: fits.forest.shap_interactions(fits.rows[:20]),
                     "the 4 × 4 × 1 values of each of 20 rows and their errors"),
    "planes": (10_000, lambda fits: fits.guided.predict(fits.rows),
               "12 guided trees with a plane for each region"),
    "permutation": (5_000, lambda fits: fits.forest.importance(type="permutation"),
                    "the losses of 300 rows for 4 predictors"),
    "sizes": (10_000, lambda fits: fits.forest.pruning_path(), r"the losses of 300 rows at \d+"),
    "curves": (1_500, lambda fits: fits.forest.partial("a"), r"curves of 12 trees at \d+ points"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_RESULTS)
def test_a_method_is_refused(fits, free, name):
    size, work, words = OF_RESULTS[name]
    free(size)
    with pytest.raises(MemoryError, match=f"{words}.* would take .* are free: "):
        work(fits)


def test_guided_trees_are_refused_when_the_first_is_known(rows, free):
    free(400_000)
    with pytest.raises(MemoryError, match="1000 trees like the first would take"):
        odrf.graf("y ~ .", rows, n_trees=1000, seed=1)


def test_means_of_many_groups_are_refused(fits, free):
    newdata = fits.rows.assign(group=np.arange(300) % 100)
    free(16 * 12 * 100 - 1)
    with pytest.raises(MemoryError, match="the means of 12 trees in 100 groups would take"):
        fits.forest.predictions(newdata=newdata, by="group")


COMPONENTS, RNG = projections.PrincipalComponents(), np.random.default_rng(0)
OF_ARRAYS = {
    "rotation": (lambda: projections.Rotation().rotation(streams(1, 0, 1)[0], OF_COLUMNS, None),
                 12, "a rotation of 60 columns"),
    "components": (lambda: COMPONENTS.rotation(streams(1, 0, 1)[0], OF_COLUMNS, None),
                   4, "a rotation of 60 columns"),
    "knockoffs": (lambda: gaussian_knockoffs(RNG.normal(size=(90, 60)), RNG),
                  40, "the covariance of 60 columns"),
    "levels": (lambda: similarity_order(np.arange(60), 60, [pd.Series(np.arange(20), name="a")]),
               8, "the shares of 20 values of 'a' in 60 levels"),
    "groups": (lambda: held_out_sums(np.ones((60, 60)), np.ones(60), np.arange(60)),
               8, "the errors of 60 subtrees in 60 groups"),
}  # fmt: skip
OF_COLUMNS = SimpleNamespace(X=np.empty((60, 1)))


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_an_array_is_refused(free, name):
    work, of_each, words = OF_ARRAYS[name]
    free(of_each * 60 * 60 - 1)
    with pytest.raises(MemoryError, match=f"{words} would take"):
        work()


def test_proximities_that_fit_are_not_refused_by_what_is_only_possible(fits, free):
    """Rows share a leaf in several trees: there are fewer pairs than shared leaves."""
    near = fits.near.matrix
    free(13 * near.nnz)
    assert (fits.coarse.proximity().matrix != near).nnz == 0
