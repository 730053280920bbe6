"""Bars that end before they are made."""

from __future__ import annotations

import gc
import sys

from odrf.public.progress import ProgressBar


def test_a_bar_that_is_interrupted_while_it_is_made_is_closed_quietly(monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    drawn = ProgressBar.refresh

    def interrupted(*_, **__):
        monkeypatch.setattr(ProgressBar, "refresh", drawn)
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "refresh", interrupted)
    try:
        ProgressBar(total=3)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("the bar was not drawn")
    gc.collect()
    assert ignored == []
