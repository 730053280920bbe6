"""A part of the golden table, in numbers that hold on any machine.

``record.py`` compares all models bit by bit on one machine.  Here splits that rounding decides may
fall otherwise: sizes, errors and mean predictions must be about the same.
"""

from __future__ import annotations

import json

import numba
import pytest

from golden.figures import EXPECTED, figures

TABLE = json.loads(EXPECTED.read_text(encoding="utf-8"))
# An older compiler adds numbers in another order, and more splits are decided by rounding.
TOLERANCE = 0.03 if numba.version_info[:2] >= (0, 68) else 0.25


@pytest.mark.parametrize("name", TABLE)
def test_a_model_is_as_it_was(name):
    assert figures(name) == pytest.approx(TABLE[name], rel=TOLERANCE, abs=1e-6)


def test_every_function_and_response_is_among_them():
    for word in ("tree", "forest", "blend", "boosted", "guided", "ordered", "updated", "saved"):
        assert any(word in name for name in TABLE)
