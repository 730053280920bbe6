"""A part of the golden table, in numbers that hold on any machine.

``record.py`` compares all models bit by bit on one machine.  Here splits that rounding decides may
fall otherwise: each figure may lie as far from its centre as rounding moved it where it was
recorded (``figures.py``), and a little further.
"""

from __future__ import annotations

import json

import numba
import pytest

from golden.figures import EXPECTED, figures, figures_of
from golden.models import MODELS

TABLE = json.loads(EXPECTED.read_text(encoding="utf-8"))
# An older compiler adds numbers in another order, and more splits are decided by rounding.
OLD = numba.version_info[:2] < (0, 68)
TOLERANCE = 0.25 if OLD else 0.03


def moved(name, found):
    """Return the figures of a model that lie further from their centres than rounding puts them."""
    return {
        figure: (found[figure], *expected)
        for figure, expected in TABLE[name].items()
        if found[figure] != pytest.approx(expected[0], abs=allowed(*expected))
    }


def allowed(centre, half_width):
    return half_width + TOLERANCE * abs(centre) + 1e-6


@pytest.mark.parametrize("name", TABLE)
def test_a_model_is_as_it_was(name):
    assert not moved(name, figures(name))


def test_every_function_and_response_is_among_them():
    for word in ("tree", "forest", "blend", "boosted", "guided", "ordered", "updated", "saved"):
        assert any(word in name for name in TABLE)


@pytest.mark.skipif(OLD, reason="the tolerance is wide")
@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("min_leaf", "tree, axis"),
        ("min_leaf", "tree, ordered"),
        ("min_leaf", "forest, regression"),
        ("min_leaf", "boosted, regression"),
        ("n_trees", "forest, classes"),
        ("n_trees", "boosted, two classes"),
        ("n_trees", "guided, classes"),
    ],
)
def test_another_model_is_noticed(option, name):
    other = {"min_leaf": 4, "n_trees": 7}[option]
    assert moved(name, figures_of(MODELS[name](**{option: other})))


def test_few_figures_are_decided_by_rounding():
    """Where it moves a figure far, a change of the code is not seen in it."""
    ranges = [
        (centre, half_width) for model in TABLE.values() for centre, half_width in model.values()
    ]
    far = [centre for centre, half_width in ranges if half_width > 0.1 * abs(centre)]
    assert len(far) < 0.1 * len(ranges)
