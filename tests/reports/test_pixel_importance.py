"""How often splits use each pixel, as a result and drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, Patch


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def images(C=1, H=4, W=5, n=60):
    pixels = np.random.default_rng(1).random((n, C, H, W))
    return odrf.from_images(pixels, pixels[:, -1, 0, :2].sum(axis=1), channel_axis=1)


@pytest.mark.parametrize("projection", ["patch", "sparse", "axis", "logistic"])
def test_counts_are_those_of_the_tables_of_splits(projection):
    data = images()
    forest = odrf.odrf("y ~ .", data, projection=projection, n_trees=6, blend=False, seed=1)
    found = forest.pixel_importance()
    splits = pd.concat([forest.tree(i).splits.assign(tree=i) for i in range(6)])
    counts = splits["column"].value_counts()
    assert found.table.index.tolist() == list(data.columns[:-1])
    assert found.table["count"].tolist() == [counts.get(name, 0) for name in found.table.index]
    assert found.n_splits == splits.groupby("tree")["node"].nunique().sum()
    np.testing.assert_allclose(found.table["share"], found.table["count"] / found.n_splits)


def test_pixels_stand_where_they_are():
    found = odrf.odrf("y ~ .", images(C=3), projection="patch", n_trees=5, seed=1)
    found = found.pixel_importance()
    assert found.images.shape == (3, 4, 5)
    assert tuple(found.table.loc["ch2_r3c1", ["channel", "row", "column"]]) == (2, 3, 1)
    assert found.images[2, 3, 1] == found.table.loc["ch2_r3c1", "share"]


def test_the_pixels_that_matter_are_used_most_and_pruned_splits_do_not_count():
    tree = odrf.odt("y ~ .", images(), projection=Patch(height=(1, 2), width=(1, 2)), seed=1)
    small = tree.prune(leaves=2)
    found = small.pixel_importance()
    assert found.n_splits == 1
    assert found.table["count"].max() == 1
    used = found.table[found.table["count"] > 0]
    assert used["row"].min() == 0 and used["column"].min() <= 1
    root = tree.prune(leaves=1).pixel_importance()
    assert root.n_splits == 0
    assert not root.table["share"].any()


def test_the_shape_is_given_or_known_from_patches_or_data():
    data = images(C=2)
    bare = pd.DataFrame(data)
    bare.attrs.clear()
    assert odrf.odt("y ~ .", data, seed=1).pixel_importance().images.shape == (2, 4, 5)
    tree = odrf.odt("y ~ .", bare, projection=Patch((4, 5), channels=2), seed=1)
    assert tree.pixel_importance().images.shape == (2, 4, 5)
    other = tree.pixel_importance(shape=(2, 20), channels=1)
    assert other.images.shape == (1, 2, 20)
    plain = odrf.odt("y ~ .", bare, seed=1)
    with pytest.raises(InputError, match="does not know the shape of its images: use"):
        plain.pixel_importance()
    with pytest.raises(InputError, match=r"shape=\(4, 5\) are 20 pixels, .* 40 predictors: use"):
        plain.pixel_importance(shape=(4, 5))


def test_in_words():
    found = odrf.odt("y ~ .", images(C=2), projection="patch", seed=1).pixel_importance()
    text = str(found.summary())
    assert "4 × 5, 2 channels" in text
    lines = repr(found).split("\n")
    assert lines[1].split() == ["Pixels", "4", "×", "5,", "2", "channels"]
    assert lines[2].split() == ["Splits", str(found.n_splits)]


def test_an_image_for_each_channel_on_one_scale():
    found = odrf.odt("y ~ .", images(C=2), projection="patch", seed=1).pixel_importance()
    panels = found.plot_image()
    assert [ax.get_title() for ax in panels] == ["channel 0", "channel 1"]
    for channel, ax in enumerate(panels):
        (image,) = ax.images
        np.testing.assert_allclose(image.get_array(), found.images[channel])
        assert image.get_clim() == (0, found.images.max())
        assert ax.get_aspect() == 1
    with pytest.raises(InputError, match="ax holds 1 axes: 2 are drawn on"):
        found.plot_image(ax=panels[0])


def test_one_image_on_axes_of_ones_own():
    found = odrf.odt("y ~ .", images(), projection="patch", seed=1).pixel_importance()
    _, ax = plt.subplots()
    assert found.plot_image(ax=ax) is ax
    assert ax.images[0].get_array().shape == (4, 5)


@pytest.mark.parametrize("C", [1, 3])
def test_a_series_is_a_curve_and_several_are_lines_of_an_image(C):
    found = odrf.odt("y ~ .", images(C=C, H=1, W=20), projection="patch", seed=1)
    found = found.pixel_importance()
    ax = found.plot_image()
    assert ax.get_xlabel() == "point of the series"
    if C == 1:
        np.testing.assert_allclose(ax.lines[0].get_ydata(), found.images[0, 0])
    else:
        np.testing.assert_allclose(ax.images[0].get_array(), found.images[:, 0])
