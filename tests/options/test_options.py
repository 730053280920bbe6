"""Signatures, the table of checks, documentation and the command line agree."""

from __future__ import annotations

import inspect
import re

import pytest

import odrf
from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.cli.command import ELSEWHERE, KINDS_OF_FITS, read_options
from odrf.cli.running import COMMANDS, parser_of
from odrf.design.missing import MISSING
from odrf.design.response import KINDS
from odrf.errors import InputError
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.guided import ResolvedGuidedOptions
from odrf.options.options import NAMES
from odrf.options.table import CHECKS, checked_options
from odrf.options.tree import ResolvedOptions

FUNCTIONS = {"odt": odrf.odt, "odrf": odrf.odrf, "odbt": odrf.odbt, "graf": odrf.graf}
OUTSIDE = {"formula", "data", "backend", "progress", "offset", *DESIGN_ARGUMENTS}
# Options that a single tree does not have.
FIXED_OF_TREES = {
    "n_trees", "blend", "objective", "resample", "sample_fraction", "inference",
}  # fmt: skip
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


def checked(name: str) -> set[str]:
    return {row.name for row in CHECKS if name in row.functions}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_is_checked_in_one_place(name):
    assert len([row for row in CHECKS if name in row.functions]) == len(checked(name))
    assert checked(name) | BY_DATA[name] == options(name)
    assert not checked(name) & BY_DATA[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_pass_their_checks(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    defaults = {option: parameters[option].default for option in options(name)}
    assert checked_options(name, defaults).keys() == defaults.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_check_refuses_something_and_names_the_option(name):
    for row in CHECKS:
        if name in row.functions:
            with pytest.raises(InputError, match=f"^{row.name}="):
                row.check(row.name, "no such value")


def test_a_request_holds_the_options_of_trees_and_forests():
    assert set(NAMES) == options("odrf") == options("odt") | FIXED_OF_TREES


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
