"""What cannot be combined with a survival time says what can."""

from __future__ import annotations

import re
import warnings

import dask.dataframe as dd
import pytest

import odrf
from odrf import InputError, simulate
from odrf.api import warming
from odrf.cli import main
from odrf.engine import compiling
from odrf.errors import AbsentError
from odrf.results.absent import NEED, why_absent
from tables_of_results import OF_TIMES

DATA = simulate.proportional_hazards(p=3, relevant=2).sample(80, seed=1)
FORMULA = "Surv(time, event) ~ ."
SMALL = {"odrf": {"n_trees": 3}, "odbt": {"n_trees": 3}, "odt": {}}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_weights": "balanced"}, "needs classes, and .* is a survival time: leave it"),
        ({"kind": "regression"}, "which is a survival time: leave it out"),
        ({"kind": "classification"}, "which is a survival time: leave it out"),
    ],
)
def test_options_of_every_function(name, options, message):
    with pytest.raises(InputError, match=message):
        getattr(odrf, name)(FORMULA, DATA, **SMALL[name], **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split_scale": "log"}, "this one is a survival time: leave it out"),
        ({"objective": "brier"}, "is for classes, and the response has none: leave it out"),
        (
            {"criterion": "gini"},
            "is not for survival times: use 'log_rank' or 'gray' or 'exponential'",
        ),
        ({"criterion": "gray"}, 'several causes, and this response has one: use .*"log_rank"'),
        ({"cause": "event"}, "cause='event' is for survival times of several causes.*leave it"),
        ({"projection": "lda"}, "lda"),
    ],
)
def test_options_of_forests(options, message):
    with pytest.raises(InputError, match=message):
        odrf.odrf(FORMULA, DATA, n_trees=3, **options)


def test_frames_of_dask_whose_rows_stay_apart():
    parts = dd.from_pandas(DATA, npartitions=2)
    with pytest.raises(InputError, match=r"use odt\(\), odrf\(\) or odbt\(\) with a data frame in"):
        odrf.odrf(FORMULA, parts, **SMALL["odrf"])
    tree, whole = (odrf.odt(FORMULA, data, seed=1, **SMALL["odt"]) for data in (parts, DATA))
    assert tree.predict(DATA).equals(whole.predict(DATA))


@pytest.fixture(scope="module", params=OF_TIMES)
def fits(request):
    """What a function gives for times, and for numbers."""
    call, small = getattr(odrf, request.param), SMALL[request.param]
    return call(FORMULA, DATA, seed=1, **small), call("time ~ x1 + x2", DATA, seed=1, **small)


def test_whatever_other_responses_have_is_there_or_refused_with_the_way_out(fits):
    of_times, of_numbers = fits
    own = type(of_times).__name__
    for name in (name for name in dir(type(of_numbers)) if not name.startswith("_")):
        if name not in dir(type(of_times)):
            with pytest.raises(AbsentError, match=f"^{own} has no '{name}': ") as caught:
                getattr(of_times, name)
            assert not hasattr(of_times, name)
            assert isinstance(caught.value, InputError)


def test_what_fits_of_other_functions_have_is_there_or_refused_with_a_reason(fits):
    of_times, _ = fits
    known = {name for kind in OF_TIMES.values() for name in dir(kind) if name[0] != "_"}
    known |= set(NEED)
    known -= {"held_out", "loss_path", "n_rounds"}  # of boosted trees alone, for any response
    for name in sorted(known - set(dir(type(of_times)))):
        with pytest.raises(AbsentError, match=f" has no '{name}': "):
            getattr(of_times, name)


def test_without_training_rows_new_rows_are_not_scored_and_the_way_out_is_named(fits):
    of_times, _ = fits
    with pytest.raises(InputError, match=r"this needs the training rows.*by without_data\(\)"):
        of_times.without_data().score(DATA)


def test_what_forests_lack_is_there_for_one_number_of_their_curves():
    forest = odrf.odrf(FORMULA, DATA, n_trees=20, seed=1)
    of_one_number = forest.estimand("survival", time=0.5)
    for name in set(NEED) - set(dir(type(forest))):
        reason = why_absent(type(forest), name)
        with pytest.raises(AttributeError, match=re.escape(f"no '{name}': {reason}")):
            getattr(forest, name)
        assert "estimand" not in reason or name in dir(type(of_one_number))


# ------------------------------------------------------------------------------------------------
# What `odrf.load` refuses before it reads a file.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trusted", ["no", 0, 1, None])
def test_trusted_is_true_or_false(trusted, tmp_path):
    path = tmp_path / "tree.odrf"
    odrf.odt("cultivar ~ alcohol", odrf.load_data("wine"), alpha=None, seed=1).save(path)
    with pytest.raises(InputError, match=r"^trusted=.*: use True or False"):
        odrf.load(path, trusted=trusted)


def test_a_name_that_the_system_refuses_is_named():
    with pytest.raises(InputError, match=r"^path='aaaa"):
        odrf.load("a" * 5000)


# ------------------------------------------------------------------------------------------------
# Compiling before the first fit.
# ------------------------------------------------------------------------------------------------


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


def test_the_bar_is_all_that_it_shows(monkeypatch, capsys):
    def fit():
        warnings.warn("few rows", UserWarning, stacklevel=1)
        compiling.announce_compilation(doubled)

    doubled = compiling.kernel(lambda x: 2 * x)
    monkeypatch.delenv(compiling.QUIET, raising=False)
    compiling.announce_compilation(doubled)
    assert "compiling functions" in capsys.readouterr().err
    monkeypatch.setattr(warming, "_fits", lambda: {"one": fit, "two": fit})
    with pytest.raises(SystemExit):
        main(["--warm"])
    captured = capsys.readouterr()
    lines = [line for line in captured.err.replace("\r", "\n").splitlines() if line.strip()]
    assert captured.out == "" and all(line.startswith("compiling: ") for line in lines)
    assert "2/2" in lines[-1]


def test_trees_of_lines_are_compiled_beforehand():
    fits = warming._fits()
    assert [words for words in fits if words.startswith("tree of lines")] == [
        "tree of lines",
        "tree of lines, with a factor and missing cells",
    ]
    for words in fits:
        if words.startswith("tree of lines"):
            fits[words]()
