"""The held-out error of a tree whose size held-out rows chose: of rows that did not choose it."""

import numpy as np
import pandas as pd
import pytest

import odrf

N = 100


def noise(seed: int, kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    if kind == "classes":
        return data.assign(y=rng.permutation(np.repeat(["no", "yes"], N // 2)))
    return data.assign(y=rng.normal(size=N))


def held_out(tree, name: str) -> float:
    return float(tree.summary().facts[f"Held-out {name}"].split(" ")[0])


@pytest.mark.parametrize("rule", ["cv", "1se"])
def test_held_out_error_of_noise_is_that_of_guessing(rule):
    errors = [
        held_out(odrf.odt("y ~ .", noise(seed, "classes"), alpha=rule, seed=seed), "error rate")
        for seed in range(30)
    ]
    assert abs(np.mean(errors) - 0.5) < 3 * np.std(errors, ddof=1) / np.sqrt(30)


def test_a_fold_is_evaluated_at_the_choice_of_the_others():
    tree = odrf.odt("y ~ .", noise(3, "numbers"), alpha=None, seed=3)
    path = tree.pruning_path()
    small = tree.prune(rule="min", path=path)
    folds = path.subtrees.folds
    losses = np.array([fold.loss for fold in folds])
    weights = np.array([fold.weight for fold in folds])
    total = 0.0
    for f in range(len(folds)):
        others = np.delete(losses, f, axis=0).sum(axis=0)
        best = len(others) - 1 - np.argmin(others[::-1])
        total += losses[f, best]
    assert held_out(small, "MSE") == pytest.approx(total / weights.sum(), rel=1e-3)
    assert "nested" in small.summary().facts["Held-out MSE"]


def test_a_given_size_has_the_error_of_the_path():
    tree = odrf.odt("y ~ .", noise(3, "numbers"), alpha=None, seed=3)
    path = tree.pruning_path()
    small = tree.prune(leaves=2, path=path)
    of_path = path.table.set_index("leaves")["xerror"][2] * np.var(noise(3, "numbers")["y"])
    assert held_out(small, "MSE") == pytest.approx(of_path, rel=1e-3)
    assert "nested" not in small.summary().facts["Held-out MSE"]


def test_new_rows_that_chose_the_size_are_said_to_give_too_small_an_error():
    tree = odrf.odt("y ~ .", noise(3, "numbers"), alpha=None, seed=3)
    small = tree.prune(rule="min", path=tree.pruning_path(newdata=noise(4, "numbers")))
    assert "they chose the size" in small.summary().facts["Held-out MSE"]


def test_a_saved_tree_has_the_same_held_out_error(tmp_path):
    tree = odrf.odt("y ~ .", noise(5, "classes"), alpha="cv", seed=5)
    tree.save(tmp_path / "tree.odrf")
    assert odrf.load(tmp_path / "tree.odrf").summary().facts == tree.summary().facts


def test_a_tree_of_one_leaf_says_why():
    tree = odrf.odt("y ~ .", noise(1, "classes"), alpha="1se", seed=1)
    assert tree.n_leaves == 1 < tree.parent.n_leaves
    text = " ".join(str(tree.summary()).split())
    assert "no subtree is better than the root" in text
    assert f"tree.parent has {tree.parent.n_leaves} leaves" in text
    assert "one leaf" not in str(tree.parent.summary())


def test_a_survival_tree_of_one_leaf_says_why():
    rng = np.random.default_rng(1)
    data = noise(2, "numbers").assign(y=rng.exponential(size=N), d=1)
    tree = odrf.odt("Surv(y, d) ~ .", data, alpha="1se", seed=1)
    assert tree.n_leaves == 1 < tree.parent.n_leaves
    assert "no subtree is better than the root" in " ".join(str(tree.summary()).split())
    assert "nested" in tree.summary().facts["Held-out deviance"]
