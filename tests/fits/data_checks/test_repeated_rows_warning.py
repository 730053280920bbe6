"""The warning about repeated measurements: where it is right, and only there."""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.survival_times import SurvivalTimes
from odrf.fits.data_warnings import (
    candidate_groups,
    column_of_subjects,
    numbers_or_labels,
    warned_of_data,
)


def recordings(subjects=20, each=8, seed=0):
    """Subjects with age, sex and three measures, which differ little within a subject."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(subjects), each))
    own = rng.normal(size=(subjects, 4))
    data = pd.DataFrame(own[who] + 0.3 * rng.normal(size=(len(who), 4)), columns=list("abcy"))
    data["age"] = rng.integers(40, 80, subjects)[who].astype(float)
    data["sex"] = rng.choice(["f", "m"], subjects)[who]
    data["subject"] = rng.permutation(subjects)[who]
    return data


def series(n=300, seed=0, follow=0.95):
    """Rows in time, whose errors follow each other."""
    rng = np.random.default_rng(seed)
    errors = np.zeros(n)
    for t in range(1, n):
        errors[t] = follow * errors[t - 1] + rng.normal()
    data = pd.DataFrame({"x": rng.normal(size=n), "z": rng.normal(size=n)})
    data["y"] = data["x"] + errors
    data["day"] = pd.date_range("2020-01-01", periods=n)
    return data


def messages(formula, data, fit=odrf.odrf, **options):
    """What a small fit warns of."""
    options = {"seed": 1, **({} if fit is odrf.odt else {"n_trees": 20}), **options}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(formula, data, **options)
    found = [str(each.message) for each in caught]
    return [message for message in found if message.startswith("rows ")]


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
def test_a_column_of_subjects_is_named_once(fit):
    (message,) = messages("y ~ .", recordings(), fit)
    assert "6 of 6 columns hardly vary within the values of 'subject'" in message
    assert "groups='subject'" in message


@pytest.mark.parametrize("kind", [str, float, "category", "Int64", "string"])
def test_subjects_may_be_labels_or_whole_numbers(kind):
    data = recordings().astype({"subject": kind})
    assert len(messages("y ~ .", data)) == 1
    # whether they are predictors or not
    assert len(messages("y ~ a + b + c + age", data)) == 1


def test_many_subjects_with_few_rows_are_found():
    assert len(messages("y ~ .", recordings(3000, 3), n_trees=3)) == 1
    assert len(messages("y ~ .", recordings(60, 2))) == 1


def test_rows_with_an_empty_response_do_not_matter():
    data = recordings()
    data.loc[:9, "y"] = np.nan
    assert len(messages("y ~ .", data)) == 1


def test_who_has_said_so_is_not_warned():
    data = recordings()
    assert messages("y ~ .", data, groups="subject") == []
    assert messages("y ~ x + z", series(), order="day") == []


def test_independent_rows_are_not_warned_of():
    data = recordings()
    rng = np.random.default_rng(1)
    for name in "abcy":
        data[name] = rng.permutation(data[name])
    assert messages("y ~ .", data) == []
    assert messages("y ~ .", recordings(160, 1)) == []


def test_series_are_found_by_dates_or_numbers():
    data = series()
    for frame in (data, data[::-1], data.assign(day=np.arange(300) / 7)):
        (message,) = messages("y ~ x + z", frame)
        assert "in the order of 'day'" in message
        assert "order='day'" in message
    assert len(messages("y ~ x + z", data, odrf.odt, max_leaves=4)) == 1
    assert messages("y ~ x + z", data.sample(frac=1, random_state=1)) == []
    assert messages("y ~ x + z", series(follow=0.0)) == []


def test_a_table_sorted_by_its_response_is_no_series():
    data = series(follow=0.0).sort_values("y", ignore_index=True)
    data["day"] = np.arange(300)
    assert messages("y ~ x + z", data) == []
    data["y"] = np.where(data["y"] > 0, "more", "less")
    assert messages("y ~ x + z", data) == []


def test_classes_follow_each_other_too():
    data = series()
    data["y"] = np.where(data["y"] > data["y"].median(), "more", "less")
    assert len(messages("y ~ x + z", data)) == 1


@pytest.mark.parametrize(
    ("name", "response"),
    [
        ("auto_mpg", "mpg"),
        ("breast_cancer", "diagnosis"),
        ("diabetes", "progression"),
        ("hitters", "Salary"),
        ("penguins", "species"),
        ("wine", "cultivar"),
    ],
)
def test_no_bundled_table_is_warned_of(name, response):
    data = odrf.load_data(name)
    response = response if response in data else data.columns[0]
    assert messages(f"{response} ~ .", data) == []


def test_it_takes_less_than_two_hundredths_of_the_time_of_a_fit():
    data = recordings(60, 8).drop(columns="subject").assign(week=np.arange(480) % 50)
    options = {"n_trees": 500, "n_jobs": 1, "seed": 1}
    odrf.odrf("y ~ .", data, **options | {"n_trees": 2})
    begin = time.process_time()
    fit = odrf.odrf("y ~ .", data, **options).fit
    middle = time.process_time()
    for _ in range(5):
        warned_of_data(fit, data)
    assert (time.process_time() - middle) / 5 < 0.02 * (middle - begin)


def test_columns_become_numbers():
    assert numbers_or_labels(pd.Series([1.0, np.nan, 3.0])).tolist() == [1, 2, 3]
    assert numbers_or_labels(pd.Series([True, False])).tolist() == [1, 0]
    assert numbers_or_labels(pd.Series(["u", "v", None, "v"])).tolist() == [0, 1, 0, 1]
    assert numbers_or_labels(pd.Series(pd.date_range("2020", periods=3))) is None
    assert numbers_or_labels(pd.Series([np.nan, np.nan])).tolist() == [0, 0]
    assert numbers_or_labels(pd.Series([None, None], dtype=object)).tolist() == [0, 0]


def test_candidates_have_few_values_and_no_holes():
    rng = np.random.default_rng(1)
    n = 400
    data = pd.DataFrame(
        {
            "float": rng.normal(size=n),
            "binary": rng.integers(0, 2, n),
            "groups": rng.integers(0, 40, n),
            "holes": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 40, n)),
            "number": np.arange(n),
            "lists": [[1]] * n,
            "label": rng.choice(list("abcdefgh"), n),
        }
    )
    found = list(candidate_groups(data, list(data.columns), np.arange(n)))
    assert [(each.name, each.numbered) for each in found] == [("groups", True), ("label", False)]
    assert list(candidate_groups(data, list(data.columns), np.arange(20))) == []


def intervals(n=60, seed=0):
    """Return rows of subjects, each of which begins when the one before ends; and their number."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"subject": rng.permutation(np.repeat(np.arange(n // 2), 2))})
    length = rng.integers(1, 9, n)
    second = data.groupby("subject").cumcount().to_numpy() == 1
    before = pd.Series(length[~second], data["subject"][~second])
    data["start"] = np.where(second, data["subject"].map(before), 0)
    data["stop"] = data["start"] + length
    return data.assign(event=second & (rng.random(n) < 0.7), x=rng.normal(size=n), half=second)


TIMES = "Surv(start, stop, event) ~ x + half"


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt])
def test_rows_that_go_on_with_a_subject_are_repeated(fit):
    (message,) = messages(TIMES, intervals(), fit)
    assert "each begins when another of the same 'subject' ends" in message
    assert "use groups='subject'" in message
    assert not messages(TIMES, intervals(), fit, groups="subject")


def test_rows_that_only_enter_late_are_not_repeated():
    data = intervals()
    assert not messages(TIMES, data.assign(subject=np.arange(len(data))))
    assert not messages(TIMES, data.drop(columns="subject"))
    # of two that overlap one cannot go on with the other
    assert not messages(TIMES, data.assign(stop=data["stop"] + 1))


def test_missing_cells_of_subjects_are_no_subject():
    data = intervals().astype({"subject": "Int64"})
    data.loc[data.index[:40], "subject"] = pd.NA
    assert not messages(TIMES, data)


def test_cells_that_are_lists_name_no_subjects():
    times = SurvivalTimes(
        np.tile([1.0, 2.0], 6), np.ones(12, dtype=np.int64), np.tile([0.0, 1.0], 6)
    )
    data = pd.DataFrame({"cells": [[1]] * 12, "subject": np.repeat(np.arange(6), 2)})
    rows = SimpleNamespace(times=times, complete=np.ones(12, dtype=bool))
    response = SimpleNamespace(columns=("start", "stop", "event"))
    fit = SimpleNamespace(data=rows, design=SimpleNamespace(response=response))
    assert column_of_subjects(fit, data) == "subject"
