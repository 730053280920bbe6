"""One rule where none is given: the best fit, its row, its size and the mark of the plot agree."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf


@pytest.fixture(scope="module")
def paths():
    data = odrf.load_data("diabetes")
    tree = odrf.odt("progression ~ .", data, seed=1)
    forest = odrf.odrf("progression ~ .", data, n_trees=25, seed=1)
    return [
        tree.pruning_path(cv=5), tree.growth_path(cv=5), forest.growth_path(along="depth"),
        forest.pruning_path(), forest.select_variables(),
    ]  # fmt: skip


def marked(ax: plt.Axes) -> float:
    """Return where the circle stands that marks the choice."""
    (circle,) = [line for line in ax.lines if line.get_marker() == "o" and line.get_mew() >= 1.5]
    return float(np.ravel(circle.get_ydata())[0])


def test_the_plot_marks_what_the_rule_chooses(paths):
    for path in paths:
        error = next(name for name in ("xerror", "test", "error") if name in path.table)
        for given in ({}, {"rule": "min"}, {"rule": "1se"}):
            chosen = path.table[error].iloc[path.row(**given)]
            assert marked(path.plot(**given)) == pytest.approx(chosen), type(path)
            plt.close("all")


def test_the_best_fit_is_that_of_the_row(paths):
    pruning, growth, depth, forests, steps = paths
    for given in ({}, {"rule": "min"}, {"rule": "1se"}):
        rows = [path.row(**given) for path in paths]
        assert pruning.best(**given).n_leaves[0] == pruning.table["leaves"][rows[0]]
        assert growth.best_size(**given) == growth.table["leaves"][rows[1]]
        assert depth.best_size(**given) == depth.table["depth"][rows[2]]
        found = forests.best(**given).n_leaves.mean()
        assert found == pytest.approx(forests.table["leaves"][rows[3]])
        assert len(steps.selected(**given)) == steps.table["predictors"][rows[4]]


def test_a_tree_is_pruned_by_an_alpha_as_a_forest_is(paths):
    pruning, *_, forests, _ = paths
    for path in (pruning, forests):
        alpha = float(path.table["alpha"].iloc[len(path.table) // 2])
        fit = path.best("min").parent
        assert np.array_equal(fit.prune(alpha).n_leaves, fit.prune(alpha=alpha).n_leaves)
