"""Numbers for rows, given as a Series, go by labels in every function that takes them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

pytestmark = pytest.mark.usefixtures("few_pilots")

FITS = {
    "tree": odrf.odt,
    "forest": partial(odrf.odrf, n_trees=4),
    "blend": partial(odrf.odrf, n_trees=30, blend=True),
    "boosted": partial(odrf.odbt, n_trees=3),
    "guided": partial(odrf.graf, n_trees=3),
}


@pytest.fixture(scope="module")
def numbers(table):
    rng = np.random.default_rng(7)
    return pd.Series(rng.integers(1, 4, len(table)).astype(float), index=table.index)


def predictions(name, table, response, weights):
    fit = FITS[name](f"{response} ~ a + b + f", table, weights=weights, seed=1)
    return fit.predict(table, type="response" if response == "y" else "prob")


@pytest.mark.parametrize("response", ["y", "c"])
@pytest.mark.parametrize("name", FITS)
def test_weights(table, numbers, name, response):
    expected = predictions(name, table, response, numbers.to_numpy())
    for given in (numbers, numbers[::-1], numbers.sample(frac=1, random_state=1)):
        assert predictions(name, table, response, given).equals(expected)
    if (name, response) != ("guided", "c"):  # the votes of pure leaves have no weights
        assert not predictions(name, table, response, numbers[::-1].to_numpy()).equals(expected)
    with pytest.raises(InputError, match="weights= is a Series with other row labels"):
        predictions(name, table, response, numbers.reset_index(drop=True))


@pytest.mark.parametrize("name", ["tree", "forest"])
def test_weights_of_new_rows(table, numbers, name):
    first = FITS[name]("y ~ a + b", table[:80], weights=numbers[:80], seed=1)
    new, given = table[80:], numbers[80:]
    expected = first.update(new, weights=given.to_numpy()).predict(table)
    assert first.update(new, weights=given[::-1]).predict(table).equals(expected)
    with pytest.raises(InputError, match="weights= is a Series with other row labels"):
        first.update(new, weights=given.reset_index(drop=True))


@pytest.mark.parametrize("response", ["y", "two"])
def test_offsets(table, numbers, response):
    data = table.assign(two=np.where(table["y"] > 0.4, "above", "below"))
    offset, formula = numbers / 10, f"{response} ~ a + b"
    fit = odrf.odbt(formula, data, offset=offset.to_numpy(), n_trees=3, seed=1)
    turned = odrf.odbt(formula, data, offset=offset[::-1], n_trees=3, seed=1)
    assert turned.predict(type="link").equals(fit.predict(type="link"))
    for predict in (partial(fit.predict, type="link"), fit.staged_predict):
        expected = predict(data, offset=offset.to_numpy())
        assert predict(data, offset=offset[::-1]).equals(expected)
        with pytest.raises(InputError, match="offset= is a Series with other row labels"):
            predict(data, offset=offset.reset_index(drop=True))
    with pytest.raises(InputError, match="offset= is a Series with other row labels"):
        odrf.odbt(formula, data, offset=offset.reset_index(drop=True), seed=1)


def test_a_part_of_the_rows_with_the_labels_of_the_whole(table, numbers):
    part = table[table["a"] > 0]
    with pytest.raises(InputError, match="weights has length 120 and the data"):
        odrf.odt("y ~ a", part, weights=numbers)
    assert odrf.odt("y ~ a", part, weights=numbers[part.index], seed=1).nobs == len(part)
