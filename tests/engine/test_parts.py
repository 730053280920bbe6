"""Functions that only kernels call."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from textwrap import dedent

import numpy as np
import pytest
from numba import types
from numba.core import config

from odrf.engine import compiling

SOURCE = dedent("""
    from odrf.engine.compiling import kernel, merged, part, summing

    @summing
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    @part
    def scaled(values, factor):
        return factor * total(values)

    @merged
    def shifted(values, shift):
        return total(values) + shift

    @kernel
    def both(values):
        return scaled(values, 2.0) + shifted(values, 1.0)
""")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import the source, each time as a new process would."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_said", [])
    path = tmp_path / "some_parts.py"
    path.write_text(SOURCE)

    def imported():
        spec = spec_from_file_location("some_parts", path)
        fresh = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "some_parts", fresh)
        spec.loader.exec_module(fresh)
        return fresh

    return imported


def only(function):
    (overload,) = function.overloads.values()
    return overload


def hits(function):
    return sum(function.stats.cache_hits.values())


def test_a_part_becomes_machine_code_only_inside_the_kernels_that_call_it(module):
    code = module()
    for function in (code.total, code.scaled, code.shifted, code.both):
        function.compile((types.float64[::1], types.float64)[: len(signature(function).parameters)])
        compiled = only(function)
        engine, name = compiled.library._codegen._engine, compiled.fndesc.llvm_func_name
        assert engine.is_symbol_defined(name) == (function is code.both)
    assert code.both(np.arange(5.0)) == 31.0


def test_a_part_on_disk_serves_kernels_that_are_not(module, tmp_path):
    first = module()
    assert first.both(np.arange(5.0)) == 31.0
    for file in tmp_path.rglob("*both*"):
        file.unlink()
    code = module()
    assert code.both(np.arange(5.0)) == 31.0
    assert hits(code.both) == 0 and hits(code.scaled) == hits(code.shifted) == 1
    for name in ("scaled", "shifted"):
        before, after = (only(getattr(m, name)).library for m in (first, code))
        assert [f.name for f in before.get_defined_functions()] == [
            f.name for f in after.get_defined_functions()
        ]


def test_a_kernel_on_disk_needs_no_parts(module):
    module().both(np.arange(5.0))
    code = module()
    assert code.both(np.arange(5.0)) == 31.0
    assert hits(code.both) == 1 and not code.scaled.overloads
