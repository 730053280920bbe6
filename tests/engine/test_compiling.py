from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest
from numba import njit

from odrf.engine.compiling import compiled_at_ease, kernel


@kernel
def applied(function, x):
    return function(x)


@kernel
def doubled(x):
    return 2 * x


@njit
def of_a_user(x):
    return x + 1


def listed(function):
    """Return for how many types of arguments a kernel is kept on disk."""
    return len(function._cache._cache_file._load_index())


def test_what_is_compiled_for_functions_of_a_user_is_not_kept():
    """A later process may not find the module of the function, and could read nothing at all."""
    assert applied(of_a_user, 1) == 2 and doubled(1) == 2
    assert applied(njit(lambda x: -x), 1) == -1
    assert len(applied.signatures) == 2
    assert listed(applied) == 0
    assert listed(doubled) >= 1


def test_the_collector_rests_only_for_a_first_compilation():
    with compiled_at_ease(SimpleNamespace(signatures=[])):
        assert not gc.isenabled()
    assert gc.isenabled()
    with compiled_at_ease(SimpleNamespace(signatures=["compiled"])):
        assert gc.isenabled()


def test_the_collector_works_again_after_an_error():
    with pytest.raises(ValueError, match="stop"), compiled_at_ease(SimpleNamespace(signatures=[])):
        raise ValueError("stop")
    assert gc.isenabled()
