"""Laws of variables from which other variables tell little: labels of rows, empty columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from odrf.fits.importance_tests import LabelLaw, NumberLaw, laws_given_others


def test_a_factor_of_a_level_for_nearly_each_row_has_a_law():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=42)})
    frame["g"] = pd.Categorical([f"u{i % 40}" for i in range(42)])
    law = laws_given_others(frame, ["g"], 1, 1)["g"]
    assert isinstance(law, LabelLaw)
    assert law.shares.shape == (42, 40)
    np.testing.assert_allclose(law.shares.sum(axis=1), 1.0)


def test_a_variable_that_is_empty_where_another_is_known_tells_nothing_of_it():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["a"], frame["b"] = frame["a"][:30], frame["b"][30:]
    law = laws_given_others(frame, ["a"], 1, 1)["a"]
    assert isinstance(law, NumberLaw)
    np.testing.assert_allclose(law.mean, frame["a"].mean())
    law = laws_given_others(frame.assign(c=frame["a"].fillna(0.0)), ["a"], 1, 1)["a"]
    np.testing.assert_allclose(law.mean, frame["a"][:30])


def test_text_that_the_fit_has_taken_as_a_factor_is_one_here_without_a_word():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "name": [f"n{i % 38}" for i in range(40)]})
    frame["answer"] = rng.choice(["yes", "yes ", "no"], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = laws_given_others(frame, ["x"], 1, 1)["x"]
    assert len(law.mean) == 40
