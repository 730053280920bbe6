"""Fits written to files and read again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.fits.saving import MARK


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "f": rng.choice(["u", "v"], 80)})
    return frame.assign(y=frame.a + (frame.f == "u"), c=np.where(frame.a > 0, "up", "down"))


@pytest.mark.parametrize(
    "fit",
    [
        lambda data: odrf.odt("np.exp(y) ~ bs(a, 4) + f", data, seed=1),
        lambda data: odrf.odt("y ~ .", data, alpha="1se", max_leaves=lambda n: n**0.9, seed=1),
        lambda data: odrf.odrf("c ~ a + f", data, n_trees=30, blend=True, seed=1),
        lambda data: odrf.odrf("y ~ a + f", data, n_trees=5, seed=1).prune(rule="oob"),
    ],
)
def test_a_fit_comes_back_as_it_was(data, tmp_path, fit):
    before = fit(data)
    before.save(tmp_path / "fit.odrf")
    after = odrf.load(str(tmp_path / "fit.odrf"))
    assert after.predict(data).equals(before.predict(data))
    assert after.call == before.call
    assert str(after.consistency().summary()) == str(before.consistency().summary())
    if before.parent is not None:
        assert (after.parent.n_leaves == before.parent.n_leaves).all()


def test_a_function_that_cannot_be_pickled_is_named(data, tmp_path):
    twice = lambda column: 2 * column  # noqa: E731
    tree = odrf.odt("y ~ twice(a)", data, seed=1)
    with pytest.raises(InputError, match="'twice'"):
        tree.save(tmp_path / "fit.odrf")
    assert not (tmp_path / "fit.odrf").exists()
    assert twice(1) == 2


def test_another_version_warns(data, tmp_path):
    file = tmp_path / "fit.odrf"
    odrf.odt("y ~ a", data, max_leaves=3, seed=1).save(file)
    file.write_bytes(file.read_bytes().replace(odrf.__version__.encode(), b"0.0.0", 1))
    with pytest.warns(UserWarning, match=r"written by odrf 0\.0\.0"):
        assert odrf.load(file).n_leaves[0] == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"a,b\n1,2\n", "is not a fit"),
        (MARK + odrf.__version__.encode() + b"\nno pickle", "cannot be loaded"),
    ],
)
def test_files_without_a_fit(tmp_path, content, message):
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        odrf.load(file)
