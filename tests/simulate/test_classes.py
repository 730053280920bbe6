"""Problems with classes, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from odrf import InputError, simulate
from reference import simulation as naive


def rows_of(problem, n, seed=1):
    """Rows as lists, and their labels."""
    data = problem.sample(n, seed=seed)
    return data[problem.predictors].to_numpy().tolist(), data["y"].tolist()


@given(st.integers(2, 9), st.data())
@settings(deadline=None, max_examples=30)
def test_parity_of_the_relevant(p, data):
    relevant = data.draw(st.integers(1, p))
    problem = simulate.sparse_parity(p, relevant)
    rows, labels = rows_of(problem, 20, data.draw(st.integers(0, 99)))
    assert labels == [naive.parity(row, relevant) for row in rows]


@given(st.integers(2, 6), st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_orthants_are_numbered(p, seed):
    rows, labels = rows_of(simulate.orthant(p), 20, seed)
    assert labels == [naive.orthant(row) for row in rows]


@pytest.mark.parametrize("problem", [simulate.sparse_parity(), simulate.orthant(p=3)])
def test_cubes_are_uniform_and_classes_alike(problem):
    data = problem.sample(8000, seed=3)
    for name in problem.predictors[:3]:
        assert kstest(data[name], "uniform", args=(-1, 2)).pvalue > 0.001
    shares = data["y"].value_counts(normalize=True)
    np.testing.assert_allclose(shares, 1 / len(problem.classes), atol=0.02)


def test_trunk_has_normal_classes():
    problem = simulate.trunk(p=4)
    data = problem.sample(20_000, seed=4)
    mean = 1 / np.sqrt([1, 2, 3, 4])
    for label, sign in (("0", -1), ("1", 1)):
        own = data.loc[data["y"] == label, problem.predictors]
        assert len(own) / 20_000 == pytest.approx(0.5, abs=0.015)
        np.testing.assert_allclose(own.mean(), sign * mean, atol=0.05)
        np.testing.assert_allclose(own.cov(), np.eye(4), atol=0.06)
        assert kstest(own["x1"] - sign, norm.cdf).pvalue > 0.001
    few = data.head(50)
    shares = [
        naive.normal_share(row, (-mean).tolist(), mean.tolist())
        for row in few[problem.predictors].to_numpy().tolist()
    ]
    np.testing.assert_allclose(problem.truth(few)[:, 1], shares, rtol=1e-9)


def test_error_of_trunk_falls_as_predictors_come():
    harmonic = sum(1 / j for j in range(1, 11))
    assert simulate.trunk().bayes_error == pytest.approx(norm.cdf(-np.sqrt(harmonic)))
    errors = [simulate.trunk(p).bayes_error for p in (2, 10, 100, 1000)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("stripes", [None, 2, 7])
def test_stripes_and_the_board(stripes):
    problem = simulate.biau(stripes)
    rows, labels = rows_of(problem, 2000)
    assert labels == [naive.biau(row, stripes) for row in rows]
    squares = np.floor(np.array(rows))
    assert (squares[:, 0] == squares[:, 1]).all()
    np.testing.assert_allclose(np.bincount(squares[:, 0].astype(int)) / 2000, 1 / 3, atol=0.05)
    for axis in (0, 1):
        within = np.array(rows)[:, axis] % 1
        assert kstest(within, "uniform").pvalue > 0.001


@given(st.floats(-1, 4), st.floats(-1, 4))
@settings(deadline=None)
def test_no_truth_beside_the_squares(x1, x2):
    shares = simulate.biau().truth(pd.DataFrame({"x1": [x1], "x2": [x2]}))[0]
    label = naive.biau([x1, x2], None)
    if label is None:
        assert np.isnan(shares).all()
    else:
        assert shares[int(label)] == 1


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("sparse_parity", {"p": 1}, "p=1: use a whole number of at least 2"),
        ("sparse_parity", {"p": 4, "relevant": 5}, "relevant=5: use .* at most 4, all predictors"),
        ("sparse_parity", {"relevant": 0}, "relevant=0: use a whole number of at least 1"),
        ("sparse_parity", {"noise": 0.5}, "noise=0.5: use a number from 0 to below 0.5"),
        ("orthant", {"p": 13}, "p=13: use a whole number of at most 12, which makes 4096"),
        ("trunk", {"p": 2.5}, "p=2.5: use a whole number"),
        ("biau", {"stripes": 1}, "stripes=1: use a whole number of at least 2"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)


# ------------------------------------------------------------------------------------------------
# Problems of clusters, against their definitions.
# ------------------------------------------------------------------------------------------------


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
def test_arguments_that_make_no_problem_of_clusters(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)


# ------------------------------------------------------------------------------------------------
# Patterns on a plane, against their definitions.
# ------------------------------------------------------------------------------------------------

NAIVE = {
    "rings": naive.ring,
    "pie": naive.slice_of_pie,
    "checkerboard": naive.square_of_board,
}


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize(("classes", "number"), [(2, 2), (2, 5), (3, 4), (5, 9)])
def test_classes_lie_where_the_pattern_has_them(name, classes, number):
    problem = getattr(simulate, name)(classes=classes, number=number)
    data = problem.sample(1500, seed=1)
    rows = data[["x1", "x2"]].to_numpy().tolist()
    assert data["y"].tolist() == [NAIVE[name](row, number, classes) for row in rows]
    assert data["y"].nunique() == classes
    assert problem.classes == tuple(str(k + 1) for k in range(classes))


@pytest.mark.parametrize(("name", "number"), [("rings", 6), ("pie", 9), ("checkerboard", 3)])
def test_pieces_by_default(name, number):
    data, same = (
        getattr(simulate, name)(classes=3, number=pieces).sample(500, seed=4)
        for pieces in (None, number)
    )
    pd.testing.assert_frame_equal(data, same)


def test_rows_are_uniform():
    disc = simulate.rings().sample(8000, seed=2)
    far = np.hypot(disc["x1"], disc["x2"])
    shares = np.histogram(far, [0, 0.25, 0.5, 0.75, 1])[0] / 8000
    np.testing.assert_allclose(shares, [1 / 16, 3 / 16, 5 / 16, 7 / 16], atol=0.025)
    slices = simulate.pie(classes=4, number=4).sample(8000, seed=2)["y"].value_counts() / 8000
    np.testing.assert_allclose(slices, 0.25, atol=0.025)
    squares = simulate.checkerboard(classes=3).sample(8000, seed=2)["y"].value_counts() / 8000
    np.testing.assert_allclose(squares, 1 / 3, atol=0.025)


@pytest.mark.parametrize("name", ["rings", "pie"])
def test_beside_the_disc_nothing_is_known(name):
    problem = getattr(simulate, name)(noise=0.1)
    truth = problem.truth(pd.DataFrame({"x1": [0.9, 1.0, -0.1], "x2": [0.9, 0.0, 0.9]}))
    assert np.isnan(truth[0]).all()
    np.testing.assert_allclose(truth[1:].max(axis=1), 0.9)


def test_exclusive_or():
    data = simulate.checkerboard().sample(300, seed=3)
    differ = (data["x1"] > 0) != (data["x2"] > 0)
    assert (data["y"] == np.where(differ, "2", "1")).all()


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("rings", {"classes": 1}, "classes=1: use a whole number of at least 2"),
        ("rings", {"classes": 3, "number": 2}, "number=2: use a whole number of at least 3"),
        ("pie", {"classes": 4, "number": 3}, "number=3: use a whole number of at least 4"),
        ("checkerboard", {"classes": 5, "number": 2}, "number=2: use .* at least 3"),
        ("checkerboard", {"noise": 0.5}, r"noise=0\.5: use a number from 0 to below 0\.5"),
    ],
)
def test_arguments_that_make_no_problem_of_patterns(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
