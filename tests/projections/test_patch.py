"""The sampler of patches: manifold-aware forests."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import odrf
from drawing import directions
from odrf.engine.numeric import streams
from odrf.errors import InputError
from odrf.projections import Patch
from odrf.projections.base import Table
from problems import plain
from reference.patches import patch
from reference.randomness import Stream

ROWS = 4


def drawn(family, n_channels=1, number=1, n_nodes=1, ranges=None):
    """Directions of the family on the pixels of its shape, as (columns, θ)."""
    p = n_channels * family.shape[0] * family.shape[1]
    table = Table(P=p, p=p, n_classes=1, single_tree=False, ranges=ranges)
    problem = plain(np.zeros((p, ROWS)), np.zeros(ROWS))
    return list(chain(*directions(family.settled(table), problem, number, n_nodes)))


def pixels(family, columns):
    """The rows and columns of the grid that the columns of the design are, and their channels."""
    H, W = family.shape
    return columns // (H * W), columns // W % H, columns % W


@st.composite
def patches(draw):
    """Any patches on small grids, the ranges of their pixels, and the channels."""
    shape = draw(st.tuples(st.integers(1, 5), st.integers(1, 6)))
    ends = [tuple(sorted(draw(st.tuples(*[st.integers(1, most)] * 2)))) for most in shape]
    n_channels = draw(st.integers(1, 3))
    family = Patch(shape, *ends, wrap=draw(st.booleans()), channels=n_channels)
    p = n_channels * shape[0] * shape[1]
    seed = draw(st.integers(0, 2**32 - 1))
    return family, np.random.default_rng(seed).choice([0.0, 1.0, 255.0, 1e-3], p)


@settings(deadline=None)  # the first example compiles
@given(patches())
def test_patches_are_those_of_the_twin(of):
    family, ranges = of
    found = drawn(family, family.channels, 40, 2, ranges)
    stream, order = Stream(streams(3, 0, 1)[0]), list(range(family.channels))
    stream.shuffle_front(list(range(ROWS)), ROWS)  # the tree's rows
    counts = list(ranges / max(ranges.max(), 1e-300))
    expected = [
        patch(stream, family.shape, family.height, family.width, family.wrap, order, counts)
        for _ in range(80)
    ]
    expected = [coefficients for coefficients in expected if coefficients is not None]
    assert len(found) == len(expected)
    for (columns, theta), coefficients in zip(found, expected, strict=True):
        assert columns.tolist() == list(coefficients)
        np.testing.assert_allclose(theta, list(coefficients.values()), rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "size", "wrap"),
    [((1, 20), (1, 7), False), ((5, 6), (2, 3), False), ((5, 6), (4, 6), True)],
)
def test_every_pixel_is_equally_likely(shape, size, wrap):
    height, width = size
    family = Patch(shape, (height, height), (width, width), wrap=wrap)
    rng, counts = np.random.default_rng(1), np.zeros(shape[0] * shape[1])
    # of each patch one of its h·w places, those beyond the border included: independent draws
    for columns, _ in drawn(family, number=40, n_nodes=500):
        place = rng.integers(height * width)
        if place < len(columns):
            counts[columns[place]] += 1
    assert chisquare(counts).pvalue > 0.001


def test_heights_and_widths_are_uniform_and_independent_and_wrap_around():
    family = Patch((6, 7), (2, 4), (3, 5), wrap=True)
    sizes, corners = Counter(), Counter()
    for columns, theta in drawn(family, number=40, n_nodes=100):
        _, row, column = pixels(family, columns)
        height, width = len(set(row)), len(set(column))
        assert len(set(columns)) == height * width
        sizes[height, width] += 1
        corners[row[0], column[0]] += 1
        cyclic = (row[0] + np.arange(height)) % 6, (column[0] + np.arange(width)) % 7
        np.testing.assert_array_equal(np.unique(row), np.unique(cyclic[0]))
        np.testing.assert_array_equal(np.unique(column), np.unique(cyclic[1]))
        np.testing.assert_allclose(theta, 1 / np.sqrt(height * width), rtol=1e-6)
    assert set(sizes) == {(h, w) for h in (2, 3, 4) for w in (3, 4, 5)}
    assert len(corners) == 42
    for counts in (sizes, corners):
        assert chisquare(list(counts.values())).pvalue > 0.001


def test_patches_that_do_not_wrap_are_rectangles():
    family = Patch((5, 6), (1, 3), (2, 4))
    for columns, _ in drawn(family, number=40, n_nodes=20):
        _, row, column = pixels(family, columns)
        height, width = np.ptp(row) + 1, np.ptp(column) + 1
        assert len(set(columns)) == height * width
        assert height <= 3 and width <= 4


def test_any_set_of_channels_on_the_same_patch():
    family = Patch((1, 9), width=(2, 3), channels=3)
    sets = Counter()
    for columns, _ in drawn(family, n_channels=3, number=40, n_nodes=100):
        channel, _, time = pixels(family, columns)
        chosen = tuple(np.unique(channel))
        sets[chosen] += 1
        for one in chosen:
            np.testing.assert_array_equal(time[channel == one], np.unique(time))
    of_size = Counter()
    for chosen, count in sets.items():
        of_size[len(chosen)] += count
    assert len(sets) == 7
    assert chisquare([of_size[k] for k in (1, 2, 3)]).pvalue > 0.001
    for k in (1, 2):
        assert chisquare([sets[s] for s in sets if len(s) == k]).pvalue > 0.001


def test_pixels_are_summed_in_their_own_units_and_constant_ones_left_out():
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (80, 5, 5)) * np.linspace(0, 4, 5)  # the first column is black
    data = odrf.from_images(images, images[:, 1:3, 1:4].sum(axis=(1, 2)))
    tree = odrf.odt("y ~ .", data, projection=Patch(width=(2, 3)), n_projections=60, seed=1)
    splits = tree.splits[tree.splits["node"].map(tree.splits["node"].value_counts()) > 1]
    assert splits["node"].nunique() > 3
    assert (splits.groupby("node")["coefficient"].agg(np.ptp) < 1e-9).all()
    assert (splits["coefficient"] > 0).all()
    assert not splits["column"].str.endswith("c0").any()


def test_images_that_are_all_alike_are_not_split():
    data = odrf.from_images(np.full((9, 3, 3), 7.0), np.arange(9.0))
    assert odrf.odt("y ~ .", data, projection="patch", seed=1).n_leaves == 1


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("least", [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_single_pixels_are_drawn_where_it_is_said(shape, least, wrap):
    ends = [(min(a, length), length) for a, length in zip(least, shape, strict=True)]
    family = Patch(shape, *ends, wrap=wrap, channels=2)
    alone = {columns[0] for columns, _ in drawn(family, 2, 40, 60) if len(columns) == 1}
    p = 2 * shape[0] * shape[1]
    assert family.single_columns(40, p, "random") == (len(alone) == p)


def test_the_shape_comes_from_the_data_unless_it_is_given():
    data = odrf.simulate.bars(size=6).sample(60, seed=1)
    from_data = odrf.odrf("y ~ .", data, projection="patch", n_trees=3, seed=1)
    given = odrf.odrf("y ~ .", data, projection=Patch((6, 6)), n_trees=3, seed=1)
    assert from_data.control.mixture == given.control.mixture
    assert from_data.predict(type="prob").equals(given.predict(type="prob"))
    series = odrf.odrf("y ~ .", data, projection=Patch((1, 36)), n_trees=3, seed=1)
    assert series.control.mixture.shares[0].family._heights(1) == (1, 1)


def test_beside_other_families_and_saved_and_loaded(tmp_path):
    data = odrf.simulate.bars(size=6).sample(60, seed=1)
    mixed = {Patch(): 2, "axis": 1}
    forest = odrf.odrf("y ~ .", data, projection=mixed, n_projections=9, n_trees=4, seed=1)
    assert (forest.control.mixture.n_directions, forest.control.mixture.n_singles) == (6, 3)
    forest.save(tmp_path / "forest")
    again = odrf.load(tmp_path / "forest")
    assert again.predict(data, type="prob").equals(forest.predict(data, type="prob"))
    assert again.control.mixture == forest.control.mixture


@pytest.mark.parametrize(("p", "number"), [(9, 9), (100, 50), (784, 50), (3600, 60)])
def test_how_many_candidates_there_are(p, number):
    assert Patch().n_default(Table(P=p, p=p, n_classes=2, single_tree=False)) == number


def test_the_same_for_any_number_of_threads():
    data = odrf.simulate.circle(p=30).sample(80, seed=1)
    ring = Patch(width=(3, 9), wrap=True)
    one, two = (
        odrf.odrf("y ~ .", data, projection=ring, n_trees=7, seed=1, n_jobs=n_jobs).forest
        for n_jobs in (1, 2)
    )
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))


def test_patches_tell_segments_apart_that_single_pixels_cannot():
    problem, errors = odrf.simulate.circle(p=40), {}
    data, test = problem.sample(200, seed=1), problem.sample(1000, seed=2)
    for projection in (Patch(width=(3, 12), wrap=True), "axis", "sparse"):
        fit = odrf.odrf("y ~ .", data, projection=projection, n_trees=50, seed=1)
        errors[fit.control.mixture.name] = np.mean(fit.predict(test) != test["y"])
    assert errors["patch"] < 0.15
    assert min(errors["axis"], errors["sparse"]) > 0.3


@pytest.mark.parametrize("fit", [odrf.odrf, odrf.odbt])
def test_pixels_may_be_missing(fit):
    data = odrf.simulate.impulse(height=4.0).sample(150, seed=1)
    rng, pixels = np.random.default_rng(2), data.columns.drop("y")
    holes = data.copy()
    holes[pixels] = data[pixels].mask(rng.random((150, len(pixels))) < 0.1)
    holes.attrs = data.attrs
    filled = fit("y ~ .", holes, projection="patch", n_trees=60, seed=1)
    assert np.mean(filled.predict(data) != data["y"]) < 0.1
    table = filled.pixel_importance().table
    assert table.index.tolist() == pixels.tolist()
    assert table["share"].between(0, 1).all()
    assert table["share"].idxmax() in ("x19", "x20", "x21")


def test_a_number_fixes_a_length():
    assert Patch(height=2, width=(2, 9)) == Patch(height=(2, 2), width=(2, 9))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shape": 28}, r"shape=28: use \(height, width\)"),
        ({"shape": (0, 5)}, r"shape=\(0, 5\): use"),
        ({"height": 0}, r'height=0: use "auto", a whole number of at least 1'),
        ({"width": (3, 2)}, r"width=\(3, 2\): use"),
        ({"width": (0, 2)}, r"width=\(0, 2\): use"),
        ({"width": "wide"}, "width='wide': use"),
        ({"wrap": 1}, "wrap=1: use True or False"),
        ({"channels": 0}, "channels=0: use a whole number"),
        ({"shape": (1, 9), "height": (2, 2)}, r"height=\(2, 2\) is larger than .* at most 1"),
        ({"shape": (4, 4), "width": (1, 5)}, r"width=\(1, 5\) is larger than .* at most 4"),
    ],
)
def test_no_other_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        Patch(**parameters)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Patch(), "the shape of the images is not known: use .*Patch"),
        (Patch((2, 2)), r"shape=\(2, 2\) are 4 pixels, .* 3 predictors of 5 columns: use"),
        (Patch((1, 5)), r"shape=\(1, 5\) are 5 pixels, .* 3 predictors of 5 columns: use"),
        (Patch((1, 4), channels=2), r"2 channels of shape=\(1, 4\) are 8 pixels"),
    ],
)
def test_what_does_not_go_with_the_data(family, message):
    data = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [0.0, 1, 0, 1], "f": list("xyzx")})
    data["y"] = [1.0, 2, 3, 4]
    with pytest.raises(InputError, match=message):
        odrf.odt("y ~ .", data, projection=family)


def test_patches_larger_than_the_images_of_the_data():
    data = odrf.from_images(np.eye(4).reshape(2, 2, 4), ["a", "b"])
    with pytest.raises(InputError, match=r"width=\(2, 9\) is larger than images of shape \(2, 4\)"):
        odrf.odt("y ~ .", data, projection=Patch(width=(2, 9)))
