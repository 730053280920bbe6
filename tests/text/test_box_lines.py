"""Lines in the boxes of drawn trees."""

from __future__ import annotations

import pytest

from odrf.text.splits import SplitText, split_lines


@pytest.mark.parametrize(
    ("left", "drawn"),
    [
        ("<= 3", "x ≤ 3"),
        (">= 3", "x ≥ 3"),
        ("in {<=30, >=50}", "x in {<=30, >=50}"),
        ("not in {<=30}", "x not in {<=30}"),
    ],
)
def test_levels_keep_their_names(left, drawn):
    assert split_lines(SplitText(("x",), left, "")) == (drawn,)
