"""Images and series as data frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, from_images


def test_images_become_a_row_each_pixel_by_pixel():
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = from_images(images, pd.Series(["a", "b"], index=[7, 8]))
    assert list(data.columns[[0, 3, 4, 11, 12]]) == ["r0c0", "r0c3", "r1c0", "r2c3", "y"]
    for i in range(3):
        for j in range(4):
            assert data[f"r{i}c{j}"].tolist() == images[:, i, j].tolist()
    assert data["y"].tolist() == ["a", "b"]
    assert (data.dtypes.iloc[:12] == np.uint8).all()
    assert data.attrs == {"shape": (3, 4)}


def test_the_frame_is_a_copy():
    images = np.zeros((2, 2, 2))
    data = from_images(images)
    images[:] = 1.0
    assert not data.to_numpy().any()


def test_series():
    data = from_images(np.arange(6).reshape(2, 3))
    assert list(data.columns) == ["t0", "t1", "t2"]
    assert data.attrs == {"shape": (1, 3)}


@pytest.mark.parametrize("axis", [1, 2, 3, -1, -3])
def test_channels_come_first_wherever_they_are(axis):
    images = np.arange(48).reshape(2, 4, 2, 3)  # channels, rows, columns
    data = from_images(np.moveaxis(images, 1, axis), channel_axis=axis)
    assert data.attrs == {"shape": (2, 3), "channels": 4}
    np.testing.assert_array_equal(data.to_numpy(), images.reshape(2, 24))
    assert data["ch2_r1c0"].tolist() == images[:, 2, 1, 0].tolist()


def test_series_of_several_channels():
    series = np.arange(12).reshape(2, 3, 2)
    data = from_images(series, channel_axis=2)
    assert list(data.columns) == ["ch0_t0", "ch0_t1", "ch0_t2", "ch1_t0", "ch1_t1", "ch1_t2"]
    assert data["ch1_t2"].tolist() == series[:, 2, 1].tolist()
    assert data.attrs == {"shape": (1, 3), "channels": 2}


def test_rows_taken_from_the_frame_keep_the_shape_and_new_images_are_predicted():
    rng = np.random.default_rng(1)
    images = rng.random((60, 3, 5, 2))
    data = from_images(images, images[:, :, :2, 1].sum(axis=(1, 2)), channel_axis=-1)
    forest = odrf.odrf("y ~ .", data.iloc[:40], projection="patch", n_trees=20, seed=1)
    new = forest.predict(from_images(images[40:], channel_axis=-1))
    assert np.corrcoef(new, data["y"][40:])[0, 1] > 0.5
    table = odrf.compare("y ~ .", data, {"patches": dict_fit, "points": axis_fit}, cv=3, seed=1)
    assert len(table.table) == 2


def dict_fit(formula, data, **options):
    return odrf.odrf(formula, data, projection="patch", n_trees=5, **options)


def axis_fit(formula, data, **options):
    return odrf.odrf(formula, data, projection="axis", n_trees=5, **options)


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros(3), {}, "array has 1 dimension: use"),
        (np.zeros((2, 2, 2, 2)), {}, "array has 4 dimensions: use .*channel_axis"),
        (np.zeros((2, 2)), {"channel_axis": 1}, "array has 2 dimensions: with channel_axis= use 4"),
        (np.zeros((2, 2, 2)), {"channel_axis": 0}, "channel_axis=0 is not an axis .* use 1 to 2"),
        (np.zeros((2, 2, 2)), {"channel_axis": 3}, "channel_axis=3 is not an axis"),
        (np.zeros((2, 2, 2)), {"channel_axis": True}, "channel_axis=True is not an axis"),
        (np.array([["a", "b"]]), {}, "array holds <U1: use numbers"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], {}, "array has images of several sizes: bring"),
        (np.array([[1.0, np.nan]]), {}, "array holds missing or infinite values: fill"),
        (np.array([[1.0, np.inf]]), {}, "array holds missing or infinite values: fill"),
        (np.zeros((0, 3)), {}, r"array of shape \(0, 3\) is empty"),
        (np.zeros((3, 4)), {"y": [1, 2]}, r"y has shape \(2,\), but there are 3 images"),
        (np.zeros((3, 4)), {"y": np.zeros((3, 1))}, r"y has shape \(3, 1\), but there are 3"),
    ],
)
def test_what_is_no_array_of_images(array, options, message):
    with pytest.raises(InputError, match=message):
        from_images(array, **options)
