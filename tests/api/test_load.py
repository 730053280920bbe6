"""What `odrf.load` refuses before it reads a file."""

from __future__ import annotations

import pytest

import odrf
from odrf import InputError


@pytest.mark.parametrize("trusted", ["no", 0, 1, None])
def test_trusted_is_true_or_false(trusted, tmp_path):
    path = tmp_path / "tree.odrf"
    odrf.odt("cultivar ~ alcohol", odrf.load_data("wine"), alpha=None, seed=1).save(path)
    with pytest.raises(InputError, match=r"^trusted=.*: use True or False"):
        odrf.load(path, trusted=trusted)


def test_a_name_that_the_system_refuses_is_named():
    with pytest.raises(InputError, match=r"^path='aaaa"):
        odrf.load("a" * 5000)
