""""""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections import namedtuple
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pandas as pd
import pytest
from llvmlite import ir
from numba import njit, typeof, types
from numba._dispatcher import compute_fingerprint
from numba.core import config
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
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from patsy import desc, eval, parse_formula, splines
from patsy.categorical import _CategoricalBox

from odrf.engine import compiling
from odrf.engine.compiling import (
    OPTIONS,
    PLACE,
    QUIET,
    ROOM,
    address_for,
    address_of,
    address_within,
    allocating,
    called_at,
    called_with,
    compiled_at_ease,
    kernel,
    part,
    prefetch,
    read_tuple,
    write_tuple,
)


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


# ------------------------------------------------------------------------------------------------
# Compiled kernels on disk, where the disk is of no use or damaged.
# ------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]


def doubling():
    """A kernel, as a new process would see it."""

    @kernel
    def doubled(x):
        return 2 * x

    return doubled


def called():
    """Call the kernel; return whether its code came from the disk, and what was said."""
    doubled = doubling()
    with (
        warnings.catch_warnings(),
        pytest.MonkeyPatch.context() as changed,
        io.StringIO() as screen,
    ):
        warnings.simplefilter("error")
        changed.setattr(sys, "stderr", screen)
        assert doubled(21) == 42
        assert doubled(0.5) == 1.0
        said = screen.getvalue().splitlines()
    hits = sum(doubled.stats.cache_hits.values())
    return hits == 2, said


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_said", [])
    return tmp_path


def files(folder, ending):
    return sorted(folder.rglob(f"*.{ending}"))


def test_code_is_kept_and_found_again(folder):
    assert called() == (False, [])
    assert called() == (True, [])
    assert len(files(folder, "nbi")) == 1 and len(files(folder, "nbc")) == 2


def test_code_of_a_file_that_was_changed_since_its_import_is_not_kept(folder, monkeypatch):
    doubled = doubling()
    monkeypatch.setattr(compiling, "_stamp", lambda file: (0.0, 0))
    assert doubled(21) == 42
    assert not files(folder, "nbi") and not files(folder, "nbc")


def flipped(content, rng):
    damaged = bytearray(content)
    damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
    return bytes(damaged)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    ("damaged", "times"),
    [
        (flipped, 10),
        (lambda content, rng: content[: rng.integers(len(content))], 10),
        (lambda content, rng: b"", 1),
        (lambda content, rng: b"no pickle at all", 1),
    ],
)
def test_damaged_files_are_written_anew(folder, monkeypatch, ending, damaged, times):
    rng = np.random.default_rng(1)
    called()
    for _ in range(times):
        monkeypatch.setattr(compiling, "_said", [])
        for file in files(folder, ending):
            file.write_bytes(damaged(file.read_bytes(), rng))
        _, said = called()
        assert len(said) <= 1
        assert all(f"{folder}" in words and "clear the folder" in words for words in said)
        assert called() == (True, [])


class Gone:
    """A class of which a later version knows nothing."""


def test_what_an_older_version_left_is_compiled_anew_without_a_word(folder, monkeypatch):
    called()
    (index,) = files(folder, "nbi")
    version = pickle.dumps(numba.__version__, protocol=-1)
    assert index.read_bytes().startswith(version)
    content = pickle.dumps(("stamp", {Gone: "name"}), protocol=4)
    index.write_bytes(version + content + compiling.MARK + compiling._checksum(content))
    monkeypatch.delattr(sys.modules[__name__], "Gone")
    assert called() == (False, [])
    assert called() == (True, [])


def test_a_list_names_no_file_that_is_not_there(folder, monkeypatch):
    """Else it could name one of an older version of the kernel."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiling._CheckedFiles, "_save_data", full)
    _, said = called()
    assert len(said) == 1
    assert "No space left on device" in said[0] and str(folder) in said[0]
    assert not files(folder, "nbi")


def test_code_of_another_process_is_not_taken_for_what_was_asked_for(folder, monkeypatch):
    """Two processes may write the first code of a function at once, each for other types."""
    one, other = (compiling._CheckedFiles(str(folder), "doubled", "stamp") for _ in range(2))
    write_list = one._save_index

    def late(overloads):
        other.save("float64", "code for float64")
        write_list(overloads)

    with monkeypatch.context() as changed:
        changed.setattr(one, "_save_index", late)
        one.save("int64", "code for int64")
    for files_of in (one, other):
        for kind in ("int64", "float64"):
            assert files_of.load(kind) in (None, f"code for {kind}")
    for kind in ("int64", "float64"):
        one.save(kind, f"code for {kind}")
    assert [other.load(kind) for kind in ("int64", "float64")] == [
        "code for int64",
        "code for float64",
    ]


def test_code_that_does_not_say_what_it_is_for_is_compiled_anew_without_a_word(folder):
    """So older versions wrote it."""
    called()
    for file in files(folder, "nbc"):
        payload = pickle.loads(file.read_bytes())[1]
        content = pickle.dumps(payload, protocol=4)
        file.write_bytes(content + compiling.MARK + compiling._checksum(content))
    assert called() == (False, [])
    assert called() == (True, [])


def test_a_full_disk_is_told_once(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiling._CheckedFiles, "_open_for_write", full)
    assert len(called()[1]) == 1
    assert called() == (False, [])


NOWHERE = """
import warnings
from numba.core import caching

def refused(self):
    raise OSError(30, "Read-only file system")

caching._CacheLocator.ensure_cache_path = refused
import odrf, numpy as np
from odrf.engine.compiling import kernel

@kernel
def doubled(x):
    return 2 * x

print("imported")
warnings.simplefilter("error")
doubled(1), doubled(0.5)
"""


def test_the_package_works_where_no_folder_can_be_written():
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "imported\n"
    assert done.stderr.startswith("odrf: there is no folder") and done.stderr.count("\n") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


# ------------------------------------------------------------------------------------------------
# What the package uses of Numba, llvmlite, patsy and pandas beyond what these promise to keep.
#
# Where a new version breaks the package, the test that fails here says where to look.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# Functions called by their address do and raise what they do and raise when they are called.
# ------------------------------------------------------------------------------------------------

KINDS = types.float64[::1], types.int64
first_of = called_at(types.float64, *KINDS)


def largest(numbers, m):
    if m > len(numbers):
        raise ValueError("too many rows")
    return numbers[:m].max()


@kernel
def called_of_pointers(address, numbers, m):
    return first_of(address, (numbers, m))


@kernel
def write_twice(number, out):
    out[0] = 2 * number


@kernel
def called_for_nothing(address, number, out):
    called_with(address, (number, out))


LARGEST, NUMBERS = njit(largest), np.array([1.0, 3.0, 2.0, 7.0])


@pytest.mark.parametrize("m", [1, 2, 4])
def test_a_call_by_address_is_a_call(m):
    address = address_of(LARGEST, KINDS)
    assert isinstance(address, int) and address == address_of(LARGEST, KINDS)
    assert called_of_pointers(address, NUMBERS, m) == largest(NUMBERS, m)


def test_what_it_raises_is_raised():
    with pytest.raises(ValueError, match="too many rows"):
        called_of_pointers(address_of(LARGEST, KINDS), NUMBERS, 6)


def test_one_kernel_serves_all_functions():
    @njit
    def seven(numbers, m):
        return 7.0

    called_of_pointers(address_of(LARGEST, KINDS), NUMBERS, 1)
    before = len(called_of_pointers.signatures)
    assert called_of_pointers(address_of(seven, KINDS), NUMBERS, 1) == 7
    assert len(called_of_pointers.signatures) == before


def test_arguments_of_another_type_are_refused():
    with pytest.raises(TypingError):
        called_of_pointers(address_of(LARGEST, KINDS), NUMBERS.astype(np.float32), 1)


Scores = namedtuple("Scores", ["total", "flag", "matrix", "absent"])


@part
def _sum_at(place, factor):
    name, scores, cells = read_tuple(place)
    cells[0] += 1
    if scores.absent is not None or not scores.flag:
        raise ValueError("cells")
    return factor * (name + scores.total[0] + scores.matrix[1, 0] + scores.matrix.shape[1])


address_of_sum = address_within(_sum_at, types.int64)
sum_at = called_at(types.float64, PLACE, types.int64)


@kernel
def put(values, memory):
    return write_tuple(values, memory), address_of_sum(values)


@kernel
def take(place, address, factor):
    return sum_at(address, (place, factor))


def scores(flag):
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    return 2, Scores((0.5, np.int8(1)), flag, matrix, None), np.zeros(1, dtype=np.int32)


def test_what_is_stored_is_what_is_called_with():
    values, memory = scores(True), np.empty(ROOM, dtype=np.int64)
    place, address = put(values, memory)
    assert memory.ctypes.data == place
    assert [take(place, address, factor) for factor in (1, 10)] == [8.5, 85.0]
    assert values[2][0] == 2
    values[1].matrix[1, 0] = 100
    assert take(place, address, 1) == 105.5


def test_what_a_stored_call_raises_is_raised():
    values, memory = scores(False), np.empty(ROOM, dtype=np.int64)
    place, address = put(values, memory)
    with pytest.raises(ValueError, match="cells"):
        take(place, address, 1)


def test_a_tuple_that_is_too_long_is_refused():
    values = tuple(NUMBERS for _ in range(150))
    with pytest.raises(Exception, match="bytes"):
        put_long(values, np.empty(ROOM, dtype=np.int64))


@kernel
def put_long(values, memory):
    return write_tuple(values, memory)


def test_a_kernel_that_returns_nothing_is_called_with_any_arguments():
    out = np.zeros(1)
    for number in (3, 1.5):
        called_for_nothing(address_for(write_twice, (number, out)), number, out)
        assert out[0] == 2 * number


# ------------------------------------------------------------------------------------------------
# Functions that only kernels call.
# ------------------------------------------------------------------------------------------------

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


# ------------------------------------------------------------------------------------------------
# With NUMBA_DISABLE_JIT=1 everything runs as plain Python, and predicts the same.
# ------------------------------------------------------------------------------------------------

# Leaves in `found` what fits of all families and functions predict.
SCRIPT = """
import odrf
from odrf.projections import FAMILIES

data = odrf.load_data("penguins").dropna()[::12]
right = "bill_length_mm + bill_depth_mm + body_mass_g + sex + island"
found = {}
for name, family in FAMILIES.items():
    # numbers only: other tests compile the same kernels
    fit = odrf.odt("species ~ bill_length_mm + bill_depth_mm + body_mass_g", data,
                   projection=family(shape=(1, 3)) if name == "patch" else name, seed=1)
    found[name] = fit.predict(data, type="prob").to_numpy().tolist()
for function in (odrf.odrf, odrf.odbt, odrf.graf):
    for left in ("species", "flipper_length_mm"):
        fit = function(f"{left} ~ {right}", data, n_trees=3, seed=1)
        kind = "response" if left != "species" else "prob"
        found[f"{function.__name__} {left}"] = fit.predict(data, type=kind).to_numpy().tolist()
forest = odrf.odrf(f"species ~ {right}", data, n_trees=3, seed=1)
found["pruned"] = forest.prune(rule="oob").predict(data, type="prob").to_numpy().tolist()
found["updated"] = forest.update(data).predict(data, type="prob").to_numpy().tolist()
found["permutation"] = forest.importance("permutation")["importance"].tolist()
"""


def without_compiler() -> dict[str, list]:
    code = f"{SCRIPT}\nimport json, sys\njson.dump(found, sys.stdout)"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compiled() -> dict[str, list]:
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        exec(SCRIPT, names)
    return names["found"]


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="plain Python needs the rules of NumPy 2 for sums of signed and unsigned integers",
)
def test_everything_runs_and_predicts_the_same():
    plain, expected = without_compiler(), compiled()
    assert plain.keys() == expected.keys()
    for name in plain:
        np.testing.assert_allclose(plain[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=name)


# ------------------------------------------------------------------------------------------------
# What is said before the first compilation.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return what a process says that calls the kernel."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(QUIET, raising=False)

    def of_new_process(function=None):
        function = doubling() if function is None else function
        with compiled_at_ease(function):
            assert function(21) == 42
        return capsys.readouterr().err

    return of_new_process


def test_it_is_said_once_on_a_machine(said):
    assert "`odrf --warm`" in said()
    assert said() == ""


def test_it_is_said_once_in_a_process(said, tmp_path):
    doubled = doubling()
    assert said(doubled).count("\n") == 1
    for file in tmp_path.rglob("*.nb?"):
        file.unlink()
    assert said(doubled) == ""


def test_an_environment_variable_hides_it(said, monkeypatch):
    monkeypatch.setenv(QUIET, "1")
    assert said() == ""


def test_a_process_without_stderr_compiles(said, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert said() == ""


# ------------------------------------------------------------------------------------------------
# Prefetching changes nothing, wherever it points.
# ------------------------------------------------------------------------------------------------


@njit
def read(array, index):
    prefetch(array, np.uint64(index))
    return array[0]


@pytest.mark.parametrize("index", [0, 2, 3, 10**9, -1, -(10**12)])
def test_any_index_will_do(index):
    array = np.array([5, 6, 7], dtype=np.int32)
    assert read(array, index) == 5
    assert array.tolist() == [5, 6, 7]
