"""Compiling before the first fit."""

from __future__ import annotations

import pytest

from odrf.api import warming
from odrf.cli import main


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("with_both", [False, True])
def test_tables_have_what_they_are_said_to_have(K, with_both):
    table = warming._table(K, with_both)
    assert table["y"].nunique() == (warming.ROWS if K == 1 else K)
    assert ("f" in table) == table.isna().any(axis=None) == with_both


def test_the_command_needs_no_formula(monkeypatch, capsys):
    fitted = []
    monkeypatch.setattr(warming, "_fits", lambda: {"one": lambda: fitted.append(1)})
    with pytest.raises(SystemExit) as end:
        main(["--warm"])
    assert end.value.code == 0 and fitted == [1]
    assert "one" in capsys.readouterr().err
