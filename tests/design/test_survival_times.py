"""What a response of survival times is refused for, in words that lead on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError

DATA = pd.DataFrame({"days": np.arange(1.0, 31.0), "x": np.arange(30) % 7})
DATA["status"] = 1 + DATA["x"] % 2


@pytest.mark.parametrize(
    ("formula", "data", "message"),
    [
        ("Surv(days, status) ~ x", DATA, r"values 1, 2, .*: write Surv\(days, status == 2\) if 2"),
        ("Surv(status, days) ~ x", DATA, r"30 different values, .*: the order is Surv\(time, ev"),
        (
            "Surv(days, status) ~ x", DATA.assign(status=0),
            r"no events .*censored in your data, write Surv\(days, status == 0\)",
        ),
        ("Surv(days, status == 5) ~ x", DATA, r"no events .*, write Surv\(time, event == 0\)"),
    ],
)  # fmt: skip
def test_refusals_name_the_columns_and_a_way_out(formula, data, message):
    with pytest.raises(InputError, match=message):
        odrf.odt(formula, data)


def test_what_is_suggested_works():
    assert odrf.odt("Surv(days, status == 2) ~ x", DATA, seed=1).fit.times.n_events == 13


CAUSES = pd.Categorical(np.array(["none", "relapse", "death"])[DATA["x"] % 3])


def test_new_rows_are_read_by_the_names_of_causes_where_none_is_censored():
    data = DATA.assign(event=CAUSES.reorder_categories(["none", "relapse", "death"]))
    response = odrf.odt("Surv(days, event) ~ x", data, seed=1).design.response
    happened = data[data["event"] != "none"]
    without = happened.assign(event=happened["event"].astype(str).astype("category"))
    assert list(without["event"].cat.categories) == ["death", "relapse"]
    np.testing.assert_array_equal(response.times(without).event, response.times(happened).event)


def test_text_as_the_event_is_told_how_to_make_a_categorical():
    with pytest.raises(InputError, match=r'as in pd\.Categorical\(status, \["censored"'):
        odrf.odt("Surv(days, event) ~ x", DATA.assign(event=CAUSES.astype(str)))


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, partial(odrf.odbt, n_trees=5)])
def test_what_counts_as_censored_is_shown(fit):
    event = np.where(DATA["x"] < 3, "lost", "relapse")
    data = DATA.assign(event=pd.Categorical(event, ["lost", "relapse"]))
    shown = fit("Surv(days, event) ~ x", data, seed=1)
    assert "censored: 'lost'" in str(shown)
    assert shown.summary().facts["Events"].endswith("censored: 'lost'")
    of_booleans = fit("Surv(days, event == 'relapse') ~ x", data, seed=1)
    assert "censored" not in str(of_booleans)


def test_categories_in_the_order_of_the_alphabet_warn_if_censored_rows_are_not_the_first():
    data = DATA.assign(event=CAUSES)
    with pytest.warns(UserWarning, match="'death', means censored, and 'none' an event: put"):
        odrf.odt("Surv(days, event) ~ x", data, seed=1)


def test_arguments_of_surv_have_no_names():
    with pytest.raises(InputError, match=r"Surv\(\) takes no argument by name, such as 'time'"):
        odrf.odt("Surv(time=days, event=status == 2) ~ x", DATA)


def test_a_tree_with_one_event_is_told_to_grow_without_folds():
    data = DATA.assign(event=DATA["days"] == 12)
    with pytest.raises(InputError, match=r"no events, .*prunes by cross-validation.*alpha=None"):
        odrf.odt("Surv(days, event) ~ x", data, seed=1)
    assert odrf.odt("Surv(days, event) ~ x", data, alpha=None, seed=1).nobs == len(data)


START = pd.Timestamp("2020-01-01")
DATED = DATA.assign(
    begin=START,
    end=START + pd.to_timedelta(DATA["days"], "D") + pd.Timedelta(hours=6),
    event=DATA["status"] == 2,
)
DATED["lasted"] = DATED["end"] - DATED["begin"]
DATED["late"] = DATED["lasted"] / 2


def test_dates_are_told_how_to_become_durations():
    with pytest.raises(InputError, match=r"write Surv\(end - start, …\)"):
        odrf.odt("Surv(end, event) ~ x", DATED)


@pytest.mark.parametrize(
    "lasted",
    [
        DATED["lasted"],
        DATED["lasted"].dt.as_unit("s"),
        DATED["lasted"].dt.to_pytimedelta(),
        DATED["lasted"].astype("duration[ns][pyarrow]"),
    ],
    ids=["nanoseconds", "seconds", "objects", "Arrow"],
)
def test_durations_are_days_with_parts(lasted):
    data = DATED.assign(lasted=lasted)
    fit = odrf.odt("Surv(lasted, event) ~ x", data, seed=1)
    np.testing.assert_allclose(fit.fit.times.time, DATA["days"] + 0.25)
    assert fit.design.response.unit == "days"
    assert "times in days" in fit.summary().facts["Events"]
    assert "times in days" in str(fit)
    assert fit.score(data).loc["harrell_c", "estimate"] >= 0


def test_differences_of_dates_are_durations():
    by_dates = odrf.odt("Surv(end - begin, event) ~ x", DATED, seed=1)
    np.testing.assert_allclose(by_dates.fit.times.time, DATA["days"] + 0.25)
    late = odrf.odt("Surv(late, lasted, event) ~ x", DATED, seed=1)
    np.testing.assert_allclose(late.fit.times.start, (DATA["days"] + 0.25) / 2)
    boosted = odrf.odbt("Surv(lasted, event) ~ x", DATED, n_trees=3, seed=1)
    assert "times in days" in boosted.summary().facts["Events"]
    assert "times in" not in str(odrf.odt("Surv(days, event) ~ x", DATED, seed=1))


def test_durations_and_numbers_are_not_mixed(tmp_path):
    with pytest.raises(InputError, match="of start and stop one is a duration"):
        odrf.odt("Surv(x, lasted, event) ~ late", DATED)
    odrf.odt("Surv(lasted, event) ~ x", DATED, seed=1).save(tmp_path / "fit.odrf")
    fit = odrf.load(tmp_path / "fit.odrf")
    with pytest.raises(InputError, match="times of the training rows were durations"):
        fit.score(DATED.assign(lasted=DATED["days"]))
    fit = odrf.odt("Surv(days, event) ~ x", DATED, seed=1)
    with pytest.raises(InputError, match="times of the training rows were numbers"):
        fit.score(DATED.assign(days=DATED["lasted"]))


def test_times_alone_all_end_with_the_event():
    alone = odrf.odt("Surv(days) ~ x", DATA, seed=1)
    named = odrf.odt("Surv(days, happened) ~ x", DATA.assign(happened=True), seed=1)
    assert alone.fit.times.n_events == len(DATA)
    assert alone.predict(DATA).tolist() == named.predict(DATA).tolist()
    assert alone.score(DATA).equals(named.score(DATA.assign(happened=True)))


@pytest.mark.parametrize("kind", ["interval", "interval2", "left", "mstate", "counting"])
def test_other_types_of_censoring_are_refused_by_name(kind):
    with pytest.raises(InputError, match=rf"type='{kind}' of Surv\(\) is not known for 2 columns"):
        odrf.odt(f"Surv(days, status == 2, type='{kind}') ~ x", DATA)


def test_types_that_are_meant_change_nothing():
    for columns, kind in [("days, status == 2", "right"), ("x, days, status == 2", "counting")]:
        data = DATA.assign(x=DATA["days"] - 1, z=DATA["x"])
        plain, named = (
            odrf.odt(f"Surv({columns}{words}) ~ z", data, seed=1)
            for words in ("", f", type='{kind}'")
        )
        assert plain.predict(data).tolist() == named.predict(data).tolist()


@pytest.mark.parametrize("columns", ["", "days, days, status == 2, 'interval'"])
def test_too_many_or_too_few_columns_are_refused(columns):
    with pytest.raises(InputError, match=r"Surv\(\) takes \(time\), |no column of the data"):
        odrf.odt(f"Surv({columns}) ~ x", DATA)


class OfOthers:
    """As `sksurv.util.Surv`: a class without arguments."""


@pytest.mark.parametrize("other", [OfOthers, lambda *columns: columns[0], 5, "text"])
def test_surv_is_that_of_this_package_whatever_else_has_its_name(other):
    Surv = other  # noqa: F841 - formulas look names up here
    for fit in (odrf.odt, partial(odrf.odrf, n_trees=2), partial(odrf.odbt, n_trees=2)):
        assert fit("Surv(days, status == 2) ~ x", DATA, seed=1).fit.times.n_events == 13
    models = {"tree": odrf.odt, "stump": partial(odrf.odt, max_leaves=2)}
    found = odrf.compare("Surv(days, status == 2) ~ x", DATA, models, cv=2, seed=1)
    assert len(found.scores) > 0


def test_surv_may_have_the_name_of_the_package_before_it():
    from odrf import odrf as grown  # noqa: PLC0415

    def by_function(odrf):
        return grown("odrf.Surv(days, status == 2) ~ x", DATA, n_trees=2, seed=1)

    assert by_function(grown).design.response.name == "Surv(days, status == 2)"
