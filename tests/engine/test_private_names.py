"""What the package uses of Numba, llvmlite, patsy and pandas beyond what these promise to keep.

Where a new version breaks the package, the test that fails here says where to look.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pandas as pd
from llvmlite import ir
from numba import njit, typeof
from numba._dispatcher import compute_fingerprint
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    _CacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CR_FIELDS, Compiler
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from patsy import desc, eval, parse_formula, splines
from patsy.categorical import _CategoricalBox

from odrf.engine.compiling import OPTIONS, allocating


def test_numba_knows_the_options_of_our_kernels():
    known = dir(cpu_target.options)
    for option in ("_nrt", "no_cfunc_wrapper", "no_cpython_wrapper"):
        assert option in known, f"engine/compiling.py passes {option} to numba.njit"
    assert OPTIONS["_nrt"] is False


def test_numba_tells_which_named_tuple_a_type_is_of():
    pair = namedtuple("pair", ["a", "b"])
    kind = typeof(pair(1, 2.0)).instance_class
    assert kind is pair, "engine/directions/samplers.py finds kernels by instance_class"


def test_numba_s_dispatchers_list_what_they_have_compiled():
    function = njit(lambda x: x + 1)
    assert isinstance(function, Dispatcher), "projections/custom.py tells compiled functions so"
    assert function.overloads == {}, "engine/compiling.py, pointers.py look up what is compiled"
    assert hasattr(function._cache, "save_overload"), "engine/compiling.py replaces it"
    function(1)
    assert function.overloads
    assert [type(result.library).__name__ for result in function.overloads.values()] == [
        "JITCodeLibrary"
    ], "engine/pointers.py links libraries and asks for their addresses"
    entry = function.overloads[(typeof(1),)].entry_point
    assert entry(2) == 3, "engine/compiling.py calls compiled code without asking for types"
    assert isinstance(allocating(lambda x: np.zeros(x)), Dispatcher)


def test_numba_s_cache_has_the_pieces_that_are_replaced():
    cache = FunctionCache(test_numba_knows_the_options_of_our_kernels)
    assert {"_cache_path", "_source_stamp", "_index_path", "_version"} <= set(
        vars(cache._cache_file)
    )
    assert hasattr(cache._impl, "filename_base")
    names = ("_load_index", "_save_index", "_load_data", "_save_data", "_data_name", "_dump")
    assert all(hasattr(IndexDataCacheFile, name) for name in names), "engine/machine_code.py"
    assert NullCache().load_overload(None, None) is None
    assert hasattr(_CacheLocator, "ensure_cache_path"), "engine/machine_code.py replaces it"


def test_numba_s_libraries_have_the_steps_that_parts_leave_out():
    assert FunctionCache._impl_class is CompileResultCacheImpl
    assert hasattr(Compiler, "define_pipelines")
    names = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals")
    names += ("get_pointer_to_function", "serialize_using_object_code", "serialize_using_bitcode")
    assert all(hasattr(JITCodeLibrary, name) for name in names), (
        "engine/linked_functions.py overrides them"
    )
    assert {"library", "entry_point", "fndesc", "environment", "referenced_envs"} <= set(CR_FIELDS)


def test_llvmlite_builds_what_prefetching_does():
    pointer = ir.IntType(8).as_pointer()
    number = ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    function = ir.Module().declare_intrinsic("llvm.prefetch", [pointer], kind)
    assert "llvm.prefetch" in str(function), "engine/trees/prefetching.py declares it"


def test_patsy_has_the_pieces_of_formulas():
    assert all(hasattr(desc, name) for name in ("Evaluator", "IntermediateExpr", "ParseNode"))
    assert hasattr(eval, "ast_names") and hasattr(parse_formula, "parse_formula")
    assert hasattr(splines, "BS") and _CategoricalBox is not None


def test_pandas_keeps_columns_in_blocks_of_one_type():
    blocks = pd.DataFrame({"a": [1.5], "b": [1], "c": [2.5]})._mgr.blocks
    assert sorted(block.dtype.kind for block in blocks) == ["f", "i"], "public/types_of_columns.py"


def test_numba_s_short_name_of_types_tells_all_apart_that_kernels_do():
    pair, other = namedtuple("pair", ["a", "b"]), namedtuple("other", ["a", "b"])
    numbers = np.zeros((3, 2))
    fixed = numbers.copy()
    fixed.flags.writeable = False
    kinds = [
        pair(numbers, 1),
        other(numbers, 1),
        pair(numbers, 1.0),
        pair(numbers, True),
        pair(numbers, None),
        pair((numbers,), 1),
        pair(numbers.T, 1),
        pair(numbers[:, :1], 1),
        pair(numbers[0], 1),
        pair(numbers.astype(np.float32), 1),
        pair(fixed, 1),
    ]
    names = [compute_fingerprint((kind,)) for kind in kinds]
    assert len(set(names)) == len(set(map(typeof, kinds))) == len(kinds), (
        "engine/compiling.py looks up compiled code by it"
    )
    assert compute_fingerprint((pair(np.ones((5, 4)), 7),)) == names[0]
