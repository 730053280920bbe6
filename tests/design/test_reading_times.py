"""What a response of times to an event is refused for, in words that lead on."""

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


@pytest.mark.parametrize("response", ["Surv(end - start, event)", "Surv(end, event)"])
def test_dates_and_durations_are_told_how_to_become_days(response):
    start = pd.Timestamp("2020-01-01")
    end = start + pd.to_timedelta(DATA["days"], "D")
    data = DATA.assign(start=start, end=end, event=DATA["status"] == 2)
    with pytest.raises(InputError, match=r"write Surv\(\(end - start\)\.dt\.days, …\)"):
        odrf.odt(f"{response} ~ x", data)
    assert odrf.odt("Surv((end - start).dt.days, event) ~ x", data, seed=1).nobs == len(data)
