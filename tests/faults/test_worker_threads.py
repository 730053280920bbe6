"""What goes wrong in a thread that works reaches the caller, and the session goes on."""

from __future__ import annotations

import pytest

import odrf
from odrf.engine.growth import forest_builder
from odrf.engine.trees import routing

SMALL = {"projection": "axis", "blend": False, "seed": 1}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("error", [MemoryError("no room"), FloatingPointError(), SystemError("x")])
def test_an_error_in_growth_reaches_the_caller(rows, monkeypatch, n_jobs, error):
    expected = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL).predict(rows)
    grow, calls = forest_builder.grow_one, []

    def failing(*arguments, **options):
        calls.append(1)
        if len(calls) == 5:
            raise error
        return grow(*arguments, **options)

    with monkeypatch.context() as changed:
        changed.setattr(forest_builder, "grow_one", failing)
        with pytest.raises(type(error)) as raised:
            odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL)
    assert raised.value is error
    again = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL)
    assert again.predict(rows).equals(expected)


def test_an_error_in_a_prediction_reaches_the_caller(rows, monkeypatch):
    fit = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=3, **SMALL)
    expected = fit.predict(rows)

    def failing(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as changed:
        changed.setattr(routing, "leaves_of", failing)
        with pytest.raises(MemoryError, match="no room"):
            fit.predict(rows)
    assert fit.predict(rows).equals(expected)
