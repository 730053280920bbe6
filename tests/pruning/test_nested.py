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


def test_a_saved_tree_has_the_same_held_out_error(tmp_path):
    tree = odrf.odt("y ~ .", noise(5, "classes"), alpha="cv", seed=5)
    tree.save(tmp_path / "tree.odrf")
    assert odrf.load(tmp_path / "tree.odrf").summary().facts == tree.summary().facts


def test_a_survival_tree_of_one_leaf_says_why():
    rng = np.random.default_rng(1)
    data = noise(2, "numbers").assign(y=rng.exponential(size=N), d=1)
    tree = odrf.odt("Surv(y, d) ~ .", data, alpha="1se", seed=1)
    assert tree.n_leaves == 1 < tree.parent.n_leaves
    assert "no subtree is better than the root" in " ".join(str(tree.summary()).split())
    assert "nested" in tree.summary().facts["Held-out deviance"]
