"""Widths of texts."""

from __future__ import annotations

import matplotlib.pyplot as plt

from odrf.plots.style import text_width


def test_a_text_is_measured_in_the_font_of_the_settings():
    widths = []
    for family in ("sans-serif", "monospace", "sans-serif"):
        with plt.rc_context({"font.family": family}):
            widths.append(text_width("illicit millilitres", 10.0))
    assert widths[0] == widths[2] < widths[1]
