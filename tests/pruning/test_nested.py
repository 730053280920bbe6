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
