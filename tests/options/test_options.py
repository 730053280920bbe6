"""Signatures, the table of checks, documentation and the command line agree."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import fields, replace
from types import ModuleType, SimpleNamespace
from typing import Any

import array_api_compat.numpy
import numpy as np
import pytest
from numba import cuda

import odrf
from odrf import graf, simulate
from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.cli.commands import COMMANDS, parser_of
from odrf.cli.settings import ELSEWHERE, KINDS_OF_FITS, read_options
from odrf.design.missing import MISSING
from odrf.design.response import KINDS
from odrf.engine.guided.device import running_sums
from odrf.errors import InputError
from odrf.options import guided as devices
from odrf.options.boosting import BoostingOptions, ResolvedBoostingOptions
from odrf.options.guided import (
    GuidedOptions,
    ResolvedGuidedOptions,
    device_for,
    device_if_there,
)
from odrf.options.options import NAMES, DataOptions, Options
from odrf.options.stack import StackOptions
from odrf.options.tree import ResolvedOptions

FUNCTIONS = {"odt": odrf.odt, "odrf": odrf.odrf, "odbt": odrf.odbt, "graf": odrf.graf}
OPTIONS = {
    "odrf": Options,
    "odbt": BoostingOptions,
    "graf": GuidedOptions,
    "auto": StackOptions,
}
OUTSIDE = {"formula", "data", "backend", "progress", "offset", *DESIGN_ARGUMENTS}
# Options that a single tree does not have.
FIXED_OF_TREES = {
    "n_trees", "blend", "objective", "resample", "sample_fraction", "inference",
}  # fmt: skip
# Options that a forest does not have.
FIXED_OF_FORESTS = {"leaves"}
# Options that are checked with the data at hand.
BY_DATA = {
    "odt": {
        "projection", "subset_size", "n_projections", "n_singles", "max_leaves", "alpha",
        "criterion", "cause", "n_thresholds",
    },
    "odrf": {
        "projection", "subset_size", "n_projections", "n_singles", "max_leaves", "alpha",
        "criterion", "cause", "n_thresholds", "sample_fraction",
    },
    "odbt": {
        "loss", "projection", "subset_size", "n_projections", "n_singles", "n_thresholds",
        "validation",
    },
    "graf": {"subspace"},
}  # fmt: skip
# Options that the controls hold under another name.
HELD_AS = {
    "projection": "mixture", "n_projections": "mixture", "n_singles": "mixture",
    "predictor_fraction": "tree_predictors",
}  # fmt: skip
CONTROLS = {
    "odt": ResolvedOptions,
    "odrf": ResolvedOptions,
    "odbt": ResolvedBoostingOptions,
    "graf": ResolvedGuidedOptions,
}


def options(name: str) -> set[str]:
    return set(inspect.signature(FUNCTIONS[name]).parameters) - OUTSIDE


def made_of(name: str) -> Any:
    """The default options of a function, with a number of trees."""
    made = OPTIONS.get(name, Options)()
    return replace(made, n_trees=500) if isinstance(made, Options) else made


@pytest.mark.parametrize("name", OPTIONS)
def test_dataclasses_of_options_have_the_defaults_of_their_function(name):
    parameters = inspect.signature(getattr(odrf, name)).parameters
    for made in (OPTIONS[name], DataOptions):
        for option in fields(made):
            if option.name in parameters:
                assert option.default == parameters[option.name].default, option.name
    known = {option.name for made in (OPTIONS[name], DataOptions) for option in fields(made)}
    assert parameters.keys() - known == set(parameters) & {"formula", "data", "backend", "progress"}


@pytest.mark.parametrize("name", OPTIONS)
def test_defaults_pass_their_checks(name):
    assert OPTIONS[name]().checked() == made_of(name)


def test_the_number_of_trees_is_resolved_when_options_are_checked():
    assert Options(inference=True).checked().n_trees == 4000
    assert Options(n_trees=500, inference=True).checked().n_trees == 500
    for options in (Options(), Options(inference=True)):
        assert options.trees == options.checked().n_trees


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_checked_before_the_data_or_with_them(name):
    for option in options(name):
        made = replace(made_of(name), **{option: "no such value"})
        if option in BY_DATA[name]:
            assert made.checked() == made
        elif option not in ("seed", "n_jobs"):
            with pytest.raises(InputError, match=f"^{option}="):
                made.checked()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("option", ["seed", "n_jobs"])
def test_seeds_and_threads_are_checked_where_they_are_resolved(name, option, data):
    with pytest.raises(InputError, match=f"^{option}="):
        FUNCTIONS[name]("y ~ .", data, **{option: "no such value"})


def test_a_request_holds_the_options_of_trees_and_forests():
    assert set(NAMES) == options("odrf") | FIXED_OF_FORESTS == options("odt") | FIXED_OF_TREES


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_control_has_every_option(name):
    known = set(dir(CONTROLS[name])) | set(CONTROLS[name].__dataclass_fields__)
    for option in options(name) - {"blend", "objective"}:
        assert HELD_AS.get(option, option) in known


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_documented_with_its_default(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    section = text.split("Parameters\n----------\n")[1].split("\nReturns\n")[0]
    heads = [line for line in section.split("\n") if line and not line.startswith(" ")]
    documented = {
        argument.strip(): line for line in heads for argument in line.split(" : ")[0].split(",")
    }
    assert set(documented) == set(parameters)
    for argument, line in documented.items():
        default = parameters[argument].default
        if " : " in line and default not in (None, inspect.Parameter.empty):
            written = re.search(r"default (\S+)$", line)
            assert written and written[1] == repr(default).replace("'", '"'), line


def test_the_command_line_offers_the_same():
    actions = {action.dest: action for action in parser_of("")._actions}
    forest = inspect.signature(odrf.odrf).parameters
    assert actions["trees"].default == forest["n_trees"].default
    assert actions["trees"].help == f"default: {Options().trees}"
    for argument, choices in (("kind", KINDS), ("missing", MISSING)):
        assert actions[argument].default == forest[argument].default
        assert set(actions[argument].choices) == set(choices)
    for argument in ("seed", "progress"):
        assert argument in forest and argument in actions


COMMAND_FUNCTIONS = {**FUNCTIONS, "compare": odrf.compare, "tune": odrf.tune}


def test_every_function_that_fits_is_a_command():
    assert set(KINDS_OF_FITS.values()) == {*FUNCTIONS.values(), odrf.auto}
    assert KINDS_OF_FITS.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMAND_FUNCTIONS)
def test_the_command_line_reaches_every_option(name):
    function = COMMAND_FUNCTIONS[name]
    names = set(inspect.signature(function).parameters) - ELSEWHERE.keys()
    assert options(name) <= names if name in FUNCTIONS else names
    assert read_options([f"{option}=x" for option in names], [function]).keys() == names
    for option in set(inspect.signature(function).parameters) & ELSEWHERE.keys():
        with pytest.raises(InputError, match=f"^--set {option}: "):
            read_options([f"{option}=x"], [function])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does_and_how_it_ends(command, capsys):
    with pytest.raises(SystemExit) as end:
        parser_of(command).parse_args(["--help"])
    assert end.value.code == 0
    written = " ".join(capsys.readouterr().out.split())
    assert f"usage: odrf {command}" in written
    assert "130 interrupted by Ctrl-C" in written
    assert f"odrf {command} " in parser_of("").epilog or command in (
        "tree",
        "boost",
        "graf",
        "auto",
    )


# ------------------------------------------------------------------------------------------------
# Which device guided forests are grown on, and what is said where there is none.
# ------------------------------------------------------------------------------------------------


def library(finds: bool) -> ModuleType:
    """A module in the place of CuPy or PyTorch."""
    module = ModuleType("cupy")
    module.cuda = SimpleNamespace(is_available=lambda: finds)
    return module


@pytest.fixture
def no_library(monkeypatch):
    for name in devices.LIBRARIES:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture
def numpy_as_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", library(finds=True))
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", array_api_compat.numpy)


@pytest.fixture(scope="module")
def data():
    return simulate.hypercube(4).sample(120, seed=1)


def test_the_processor_needs_no_library(no_library):
    assert device_for("cpu") is None


def test_what_is_to_be_installed_is_said(monkeypatch, no_library, data):
    with pytest.raises(InputError, match=r"needs CuPy or PyTorch: .*pip install \"odrf\[cuda\]\""):
        graf("y ~ .", data, device="cuda")
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(InputError, match=r"needs array-api-compat: .*\"odrf\[cuda\]\""):
        graf("y ~ .", data, device="cuda")


def test_a_library_without_a_device_is_named(monkeypatch, no_library, data):
    monkeypatch.setitem(sys.modules, "torch", library(finds=False))
    message = 'device="cuda": PyTorch found no device for CUDA here.  Use device="cpu"'
    with pytest.raises(InputError, match=message):
        graf("y ~ .", data, device="cuda")
    monkeypatch.setitem(sys.modules, "cupy", library(finds=False))
    with pytest.raises(InputError, match="CuPy and PyTorch found no device"):
        graf("y ~ .", data, device="cuda")


def test_planes_are_evaluated_together(numpy_as_cupy, data):
    with pytest.raises(InputError, match='device="cuda" evaluates planes together: leave out'):
        graf("y ~ .", data, device="cuda", batched=False)
    assert graf("y ~ .", data, n_trees=2, device="cuda", seed=1).control.batched


def test_forests_of_a_device_are_those_of_the_processor(numpy_as_cupy):
    cars, birds = odrf.load_data("auto_mpg"), odrf.load_data("penguins")
    for formula, table in (("mpg ~ .", cars), ("species ~ .", birds)):
        options = {"n_trees": 8, "min_split": 5, "subspace": "all", "seed": 3}
        one, other = graf(formula, table, **options), graf(formula, table, device="cuda", **options)
        assert other.control.device == "cuda"
        assert one.codes(3).equals(other.codes(3))
        assert one.planes(3).equals(other.planes(3))
        assert np.array_equal(one.predict(), other.predict())


def test_a_fit_of_a_device_grows_on_the_processor_elsewhere(monkeypatch, numpy_as_cupy, data):
    fit = graf("y ~ .", data, n_trees=2, device="cuda", seed=1)
    assert device_if_there("cuda") is not None
    monkeypatch.setitem(sys.modules, "cupy", library(finds=False))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert device_if_there("cuda") is None
    more = fit.grow(2)
    assert np.array_equal(more.predict(data), graf("y ~ .", data, n_trees=4, seed=1).predict(data))


def test_sums_are_by_our_kernel_where_numba_finds_the_device(monkeypatch, numpy_as_cupy):
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert device_for("cuda").add_up is running_sums
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    assert device_for("cuda").add_up.__name__ == "sums_by_blocks"


def test_sums_need_no_numba_for_cuda(monkeypatch, numpy_as_cupy):
    monkeypatch.setitem(sys.modules, "numba.cuda", None)
    assert device_for("cuda").add_up is running_sums
