from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

from odrf.engine.compiling import compiled_at_ease


def test_the_collector_rests_only_for_a_first_compilation():
    with compiled_at_ease(SimpleNamespace(overloads=[])):
        assert not gc.isenabled()
    assert gc.isenabled()
    with compiled_at_ease(SimpleNamespace(overloads=["compiled"])):
        assert gc.isenabled()


def test_the_collector_works_again_after_an_error():
    with pytest.raises(ValueError, match="stop"), compiled_at_ease(SimpleNamespace(overloads=[])):
        raise ValueError("stop")
    assert gc.isenabled()
