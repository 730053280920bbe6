"""How many candidates of which family a node tries."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.errors import InputError
from odrf.projections import (
    FAMILIES,
    Axis,
    Custom,
    Discriminant,
    LeastSquares,
    Logistic,
    RandomCombination,
    Sparse,
)
from odrf.projections.base import Table
from odrf.projections.mixture import mixture_for, read_projection

TABLE = Table(P=9, p=12, n_classes=3, single_tree=False)


def shares(projection, n_singles="auto", n_projections="auto", table=TABLE):
    found = mixture_for(read_projection(projection), n_singles, n_projections, table)
    return [tuple(share) for share in found.shares]


@pytest.mark.parametrize(
    ("projection", "expected"),
    [
        ("axis", [(Axis(), 3)]),
        ("logistic", [(Axis(), 9), (Logistic(), 5)]),
        (LeastSquares(), [(Axis(), 9), (LeastSquares(), 5)]),
        ("rc", [(RandomCombination(), 12)]),
        (Sparse(0.1), [(Sparse(0.1), 12)]),
        ({"logistic": 1, "axis": 3}, [(Axis(), 6), (Logistic(), 2)]),
        ({"logistic": 0.5, "lda": 0.5}, [(Logistic(), 5), (Discriminant(), 5)]),
    ],
)
def test_the_defaults(projection, expected):
    assert shares(projection) == expected


def test_given_numbers():
    assert shares("logistic", 2, 7) == [(Axis(), 2), (Logistic(), 7)]
    assert shares("logistic", 99) == [(Axis(), 9), (Logistic(), 5)]
    assert shares({"sparse": 60, "lda": 1}, n_projections=61) == [
        (Sparse(), 60),
        (Discriminant(), 1),
    ]
    assert shares({"axis": 1, "rc": 1}, n_projections=40)[0] == (Axis(), 9)
    assert shares("axis", 99) == [(Axis(), 9)]
    assert shares("rc", n_projections=10**6) == [(RandomCombination(), 10**6)]
    assert shares({"axis": 1e-9, "rc": 1}, n_projections=4) == [
        (Axis(), 1),
        (RandomCombination(), 4),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sparce",), "projection='sparce' is not known: use one of .*did you mean 'sparse'"),
        ((None,), "projection=None is not known"),
        ((Sparse,), r"projection=Sparse is a class: write Sparse\(\)"),
        (({},), "projection={} is empty: give families and their shares"),
        (({"axis": 0},), "the share of 'axis' is 0: use a number above 0"),
        (({"axis": True},), "the share of 'axis' is True"),
        (({"axis": float("inf")},), "the share of 'axis' is inf"),
        (("axis", "auto", 3), 'n_projections=3 does not go with projection="axis"'),
        (("sparse", 3), 'n_singles=3 does not go with projection="sparse"'),
        (({"axis": 1, "rc": 1}, 3), "n_singles=3 does not go with several families"),
        (({"axis": 1, "rc": 1}, "auto", 1), "n_projections=1: use a whole number of at least 2"),
        (("logistic", 1.5), "n_singles=1.5: use a whole number"),
        (("axis", 0), "n_singles=0: use a whole number of at least 1"),
        (("logistic", "auto", 0), "n_projections=0: use a whole number of at least 1"),
    ],
)
def test_what_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        shares(*arguments)


def test_discriminants_need_classes():
    with pytest.raises(InputError, match='projection="lda" is for classification'):
        shares("lda", table=TABLE._replace(n_classes=1))


def test_estimated_families_of_two_sorts_are_mixed():
    data = odrf.load_data("wine")
    fit = odrf.odrf("cultivar ~ .", data, projection={"logistic": 1, "lda": 1}, n_trees=30, seed=1)
    assert "logistic + lda" in str(fit.summary())
    assert fit.oob_error < 0.05


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_described(name):
    family = FAMILIES[name]
    assert family.name == name
    assert family.sampling_in_words
    assert family.source
    assert set(family.tasks) <= {"regression", "classification"}


@pytest.mark.parametrize(
    ("projection", "n_singles", "subset_size", "expected"),
    [
        ("axis", "auto", "random", True),
        ("logistic", "auto", 4, True),
        ("logistic", 0, "random", True),
        ("logistic", 0, 1, True),
        ("logistic", 0, 4, False),
        ("sparse", "auto", "random", True),
        (Sparse(1.0), "auto", "random", False),
        ("rc", "auto", "random", False),
        (RandomCombination(1), "auto", "random", True),
        ("sphere", "auto", "random", False),
        ("rotation", "auto", "random", False),
        ({"rc": 1, "axis": 1}, "auto", "random", True),
        ({"rc": 1, "logistic": 1}, "auto", 3, False),
    ],
)
def test_which_mixtures_try_single_columns(projection, n_singles, subset_size, expected):
    mixture = mixture_for(read_projection(projection), n_singles, "auto", TABLE)
    assert mixture.single_columns(TABLE.p, subset_size) is expected


def test_whether_a_user_s_family_tries_single_columns_is_unknown():
    def first(X, y, weights, rng):
        return np.array([0]), np.ones(1)

    mixture = mixture_for(read_projection(first), "auto", "auto", TABLE)
    assert mixture.single_columns(TABLE.p, "random") is None
    mixture = mixture_for(read_projection({Custom(first): 1, "axis": 1}), "auto", "auto", TABLE)
    assert mixture.single_columns(TABLE.p, "random") is True


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sparse(densty=0.2), "Sparse.. has no argument 'densty'; did you mean 'density'"),
        (lambda: Axis(size=1), "Axis.. takes no argument by name, such as 'size'"),
        (lambda: Axis(1), "Axis.. takes none by position, not 1 values"),
        (lambda: RandomCombination(2, 3), "takes size by position, not 2 values"),
    ],
)
def test_parameters_that_a_family_does_not_have_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
