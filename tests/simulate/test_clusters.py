"""Problems of clusters, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, norm

from odrf import InputError, simulate
from reference import simulation as naive


@pytest.mark.parametrize("labels", ["parity", "ones"])
def test_rows_near_vertices(labels):
    problem = simulate.hypercube(p=4, labels=labels)
    data = problem.sample(4000, seed=1)
    rows, classes = data[problem.predictors].to_numpy().tolist(), data["y"].tolist()
    assert classes == [naive.vertex(row, labels) for row in rows]
    X = np.array(rows)
    assert ((X > -0.5) & (X < 1.5)).all()
    code = (X > 0.5) @ [1, 2, 4, 8]
    np.testing.assert_allclose(np.bincount(code) / 4000, 1 / 16, atol=0.02)
    number = 2 if labels == "parity" else 5
    assert problem.classes == tuple(str(k) for k in range(number))


def test_predictors_near_a_vertex_are_cut_normals():
    problem = simulate.hypercube(p=2, layout=7)
    mean, sd = (problem.draw_predictors.keywords[name] for name in ("mean", "sd"))
    x = problem.sample(6000, seed=2)["x2"].to_numpy()
    for bit, (low, high) in enumerate([(-0.5, 0.5), (0.5, 1.5)]):
        law = norm(mean[bit, 1], sd[bit, 1])
        own = x[(x > low) & (x < high)]
        cut = (law.cdf(own) - law.cdf(low)) / (law.cdf(high) - law.cdf(low))
        assert kstest(cut, "uniform").pvalue > 0.001
        assert low <= mean[bit, 1] <= high
    assert ((sd[0] > 0) & (sd[0] < 0.5)).all()
    assert ((sd[1] > 0.5) & (sd[1] < 1.5)).all()


def test_mixed_predictors_depend_on_each_other_and_keep_their_labels():
    problems = [simulate.hypercube(p=8, mixed=mix) for mix in (False, True)]
    plain, mixed = (problem.sample(3000, seed=5) for problem in problems)
    X, Z = (data.drop(columns="y").to_numpy() for data in (plain, mixed))
    assert (plain["y"] == mixed["y"]).all()
    assert np.linalg.matrix_rank(np.column_stack([X, Z]), tol=1e-6) == 8

    def held_by_three(X):
        variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
        return variances[:3].sum() / variances.sum()

    assert held_by_three(Z) > 0.85 > 0.6 > held_by_three(X)


def test_predictors_that_are_not_mixed_need_no_matrix():
    problem = simulate.hypercube(p=20_000)
    assert problem.sample(2, seed=1).shape == (2, 20_001)


def test_clusters_against_rows_drawn_one_by_one():
    problem = simulate.random_rbf(p=2, classes=3, centroids=6, layout=4)
    known = problem.noiseless_truth.keywords
    drawn = naive.around_centroids(
        np.random.default_rng(1), 20_000, known["centroid"], known["weight"], known["sd"]
    )
    X, label = drawn[0], known["of_class"][drawn[1]]
    data = pd.DataFrame(X, columns=["x1", "x2"])
    truth = problem.truth(data)
    ours = problem.sample(20_000, seed=9)

    def cell(frame):
        """Which of 64 squares a row is in."""
        at = np.clip(np.floor((frame[["x1", "x2"]].to_numpy() + 0.5) * 4), 0, 7)
        return (at @ [8, 1]).astype(int)

    own, other = cell(data), cell(ours)
    for k in range(64):
        here = own == k
        assert abs(here.mean() - (other == k).mean()) < 5 * np.sqrt(0.02 / 20_000 + 1e-6)
        if here.sum() >= 300:
            shares = np.bincount(label[here], minlength=3) / here.sum()
            np.testing.assert_allclose(
                truth[here].mean(axis=0), shares, atol=4.5 * 0.5 / np.sqrt(here.sum())
            )


def test_every_class_has_a_centroid():
    problem = simulate.random_rbf(classes=5, centroids=5)
    assert sorted(problem.noiseless_truth.keywords["of_class"]) == [0, 1, 2, 3, 4]
    centre = pd.DataFrame(problem.noiseless_truth.keywords["centroid"], columns=problem.predictors)
    assert problem.truth(centre).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


def test_layouts_belong_to_the_problem():
    for maker in (simulate.random_rbf, simulate.hypercube):
        one, same, other = (maker(layout=layout).sample(20, seed=1) for layout in (3, 3, 4))
        pd.testing.assert_frame_equal(one, same)
        assert not one.equals(other)


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("hypercube", {"labels": "one"}, "labels='one' is not known: .*did you mean 'ones'"),
        ("hypercube", {"mixed": 1}, "mixed=1 is not known: use one of True, False"),
        ("hypercube", {"layout": -1}, "^layout=-1: use a whole number of at least 0"),
        ("hypercube", {"layout": "3"}, "^layout='3': use a whole number .* or a Generator"),
        ("random_rbf", {"layout": True}, "^layout=True: use a whole number"),
        ("random_rbf", {"classes": 3, "centroids": 2}, "centroids=2: use .* at least 3"),
        ("random_rbf", {"classes": 1}, "classes=1: use a whole number of at least 2"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
