"""The pruning path as a result."""

from __future__ import annotations

import pytest

from odrf import InputError


@pytest.fixture
def path(number_tree):
    return number_tree.pruning_path()


def test_table(path, number_tree):
    table = path.table
    assert list(table.columns) == ["alpha", "leaves", "error", "relative_error"]
    assert table["alpha"].iloc[0] == 0
    assert table["leaves"].iloc[-1] == 1
    assert table["relative_error"].iloc[-1] == 1
    assert table["error"].iloc[-1] == pytest.approx(number_tree.nodes.loc[0, "impurity"])


def test_every_row_is_a_tree(path, number_tree):
    for k, row in path.table.iterrows():
        tree = path.tree(k)
        assert tree.n_leaves[0] == row["leaves"]
        assert tree.training_error == pytest.approx(row["error"])
        assert tree.parent is number_tree


def test_copied_calls_give_the_same_tree(path, number_tree):
    tree = path.tree(len(path.table) - 2)
    alpha = float(tree.call.rsplit("alpha=", 1)[1].rstrip(")"))
    assert number_tree.prune(alpha=alpha).n_leaves[0] == tree.n_leaves[0]


@pytest.mark.parametrize("k", [-1, 99, 1.0])
def test_rows_out_of_range(path, k):
    with pytest.raises(InputError, match=f"k={k} is no row of the table: use 0 to"):
        path.tree(k)


def test_summary_holds_the_table(path):
    summary = path.summary()
    assert summary.tables[1].equals(path.table)
    assert "growth order" in str(summary)
    assert repr(path).startswith(f"PruningPath: {len(path.table)} subtrees")


def test_classes_are_judged_by_misclassification(class_tree):
    path = class_tree.pruning_path()
    assert path.errors[-1] == pytest.approx(class_tree.training_error)
    assert "error rate" in str(path.summary())
