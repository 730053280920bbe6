"""Words in annotations are those that the checks know, and annotations are true."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, get_args

import pytest

import odrf
from odrf.api.load import RESULTS
from odrf.design.encoding import UNSEEN
from odrf.design.missing import MISSING
from odrf.design.response import KINDS
from odrf.engine.boosting.losses import LOSSES
from odrf.options import words
from odrf.options.criteria import CRITERIA_OF, SPLIT_SCALES
from odrf.options.tree import PENALTIES, RESAMPLES
from odrf.pruning.complexity import RULES
from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES
from odrf.public.arguments import BACKENDS
from odrf.reports.checks import CalibratedFit

FUNCTIONS = [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf, odrf.auto]
KNOWN = {
    "Criterion": {"auto"}.union(*CRITERIA_OF.values()),
    "SplitScale": {"auto", *SPLIT_SCALES},
    "Penalty": {*PENALTIES} - {None},
    "Resample": {"auto", *RESAMPLES},
    "Pruning": {*RULES},
    "Missing": {*MISSING},
    "Unseen": {*UNSEEN},
    "Kind": {*KINDS},
    "BackendName": {*BACKENDS},
    "LossName": {"auto", *LOSSES},
    "LeafRule": {*LEAF_RATES},
    "AlphaRule": {"auto", "cv", "1se", "oob", *ALPHA_RATES},
}


def annotation(function: Callable[..., Any], name: str) -> Any:
    """Return the annotation of an argument, or of what is returned."""
    inner = inspect.unwrap(function)
    return eval(inner.__annotations__[name], inner.__globals__)


def words_of(hint: Any) -> set[Any]:
    """Return the words of an annotation, also of unions."""
    if typing.get_origin(hint) is typing.Literal:
        return set(get_args(hint))
    return set().union(*(words_of(part) for part in get_args(hint)), set())


@pytest.mark.parametrize("name", KNOWN)
def test_annotations_have_the_words_that_the_checks_know(name):
    assert words_of(getattr(words, name)) == KNOWN[name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_defaults_are_among_the_words_of_their_annotations(function):
    for name, parameter in inspect.signature(function).parameters.items():
        if isinstance(parameter.default, str) and name != "projection":
            assert parameter.default in words_of(annotation(function, name)), name


@pytest.mark.parametrize("function", FUNCTIONS[:3], ids=lambda function: function.__name__)
def test_what_is_promised_holds_for_numbers_and_is_open_for_times(function, tmp_path):
    usual, other = get_args(annotation(function, "return"))
    data = odrf.simulate.proportional_hazards(p=2, relevant=1).sample(60, seed=1)
    small = {} if function is odrf.odt else {"n_trees": 2}
    assert type(function("time ~ x1 + x2", data, seed=1, **small)) is usual
    fit = function("Surv(time, event) ~ .", data, seed=1, **small)
    assert not isinstance(fit, usual)
    assert other is Any
    fit.save(tmp_path / "fit.odrf")
    loaded = odrf.load(tmp_path / "fit.odrf")
    assert type(loaded) in get_args(annotation(odrf.load, "return"))


def test_load_promises_all_classes_that_it_makes():
    assert set(RESULTS.values()) == set(get_args(annotation(odrf.load, "return")))
    assert CalibratedFit in RESULTS.values()
