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
    code_for_missing,
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


def growth(seed=0, subjects=27):
    """Measures of subjects at the same four ages, as in studies of growth."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(subjects), 4)
    data = pd.DataFrame({"age": np.tile([8.0, 10, 12, 14], subjects)})
    data["subject"] = [f"M{each:02d}" for each in rng.permutation(subjects)[who]]
    data["sex"] = np.where(who < 16, "male", "female")
    level = rng.normal(size=subjects) * 1.9
    data["y"] = 22 + 0.66 * (data["age"] - 8) + level[who] + 1.4 * rng.normal(size=len(who))
    return data


def reactions(seed=0, subjects=18, days=10):
    """Reaction times of numbered subjects on successive days without sleep."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(subjects), days)
    data = pd.DataFrame({"day": np.tile(np.arange(days), subjects), "subject": 308 + who * 3})
    slope, level = 10 + 6 * rng.normal(size=subjects), 250 + 25 * rng.normal(size=subjects)
    data["y"] = level[who] + slope[who] * data["day"] + 25 * rng.normal(size=len(who))
    return data


@pytest.mark.parametrize("seed", range(5))
def test_few_columns_of_measured_subjects_are_enough(seed):
    for data, formulas in [
        (growth(seed), ["y ~ .", "y ~ age + sex", "y ~ age"]),
        (reactions(seed), ["y ~ .", "y ~ day"]),
    ]:
        for formula in formulas:
            (message,) = messages(formula, data)
            assert "responses of the same 'subject' are much more alike" in message
            assert "groups='subject'" in message
        assert messages("y ~ . - subject", data, groups="subject") == []


def test_subjects_without_an_effect_are_no_subjects():
    for data in (growth(), reactions()):
        data["y"] = np.random.default_rng(1).normal(size=len(data)) + data.iloc[:, 0]
        for formula in ("y ~ .", "y ~ . - subject"):
            assert messages(formula, data) == []


@pytest.mark.parametrize("levels", [6, 20, 60])
@pytest.mark.parametrize("effect", [0.0, 1.0, 3.0])
def test_factors_are_no_subjects(levels, effect):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        code = rng.integers(0, levels, 300)
        data = pd.DataFrame({"x": rng.normal(size=300), "z": rng.integers(0, 5, 300)})
        data["own"] = effect * rng.normal(size=levels)[code]
        data["y"] = data.pop("own") + data["x"] + rng.normal(size=300)
        for factor in (code, [f"level {each}" for each in code]):
            for formula in ("y ~ .", "y ~ x + z"):
                assert messages(formula, data.assign(factor=factor)) == []


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
    rng = np.random.default_rng(1)
    for _ in range(6):
        kept = rng.choice([each for each in data if each != response], 2, replace=False)
        assert messages(f"{response} ~ {' + '.join(kept)}", data) == []


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


# ------------------------------------------------------------------------------------------------
# The warning about predictors that tell the response: where it is right, and only there.
# ------------------------------------------------------------------------------------------------


def table(n=120, seed=0):
    """Two numbers, two counts, a factor and a response with noise."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    data["casual"], data["registered"] = rng.poisson(5, n), rng.poisson(20, n)
    data["colour"] = rng.choice(["red", "green", "blue"], n)
    return data.assign(y=data["x"] + rng.normal(size=n))


def messages_of_leaking_predictors(formula, data, fit=odrf.odt, **options):
    """What a fit says of predictors that tell the response."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(formula, data, seed=1, **options)
    return [str(each.message) for each in caught if "exactly" in str(each.message)]


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
def test_a_copy_of_the_response_is_named(fit):
    options = {} if fit is odrf.odt else {"n_trees": 5}
    (message,) = messages_of_leaking_predictors(
        "y ~ .", table().assign(copy=lambda d: d.y), fit, **options
    )
    assert message.startswith("'copy' tells the response exactly")
    assert "leave it out (in a formula with - copy)" in message


FUNCTIONS = {"exp": np.exp, "minus": np.negative, "line": lambda y: 3 * y + 2, "atan": np.arctan}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_rise_or_fall_tell(name):
    data, function = table(), FUNCTIONS[name]
    assert len(messages_of_leaking_predictors("y ~ .", data.assign(f=function(data["y"])))) == 1
    # a rounded response, too
    assert (
        len(
            messages_of_leaking_predictors(
                "y ~ .", data.assign(f=function(data["y"]), y=data["y"].round(1))
            )
        )
        == 1
    )
    assert (
        messages_of_leaking_predictors("y ~ .", data.assign(f=function(data["y"].round(1)))) == []
    )


def test_two_numbers_may_tell_together():
    data = table().assign(count=lambda d: d.casual + d.registered)
    (message,) = messages_of_leaking_predictors("count ~ . - y", data)
    assert message.startswith("'casual' and 'registered' together tell the response exactly")
    assert "- casual - registered" in message
    assert messages_of_leaking_predictors("count ~ . - y - casual", data) == []


def test_odd_names_are_quoted():
    (message,) = messages_of_leaking_predictors(
        "y ~ .", table().assign(**{"the same": lambda d: d.y})
    )
    assert "(in a formula with - `the same`)" in message


@pytest.mark.parametrize("names", [["a", "b", "c"], [1, 2, 3], [1.5, 2.5, 3.5]])
def test_labels_of_classes_tell(names):
    data = table()
    code = data["colour"].map(dict(zip(["red", "green", "blue"], names, strict=True)))
    assert len(messages_of_leaking_predictors("colour ~ . - y", data.assign(code=code))) == 1
    code[0] = names[0] if code[0] != names[0] else names[1]
    assert messages_of_leaking_predictors("colour ~ . - y", data.assign(code=code)) == []


def test_what_leaves_doubt_is_not_warned_of():
    data = table().assign(copy=lambda d: d.y)
    assert messages_of_leaking_predictors("y ~ .", table()) == []
    # one predictor alone is what the user wants to see
    assert messages_of_leaking_predictors("y ~ copy", data) == []
    assert messages_of_leaking_predictors("y ~ .", data.iloc[:25]) == []
    # a noiseless sum of all predictors
    assert messages_of_leaking_predictors("y ~ x + z", data.assign(y=data["x"] + data["z"])) == []
    # the response is another one
    assert messages_of_leaking_predictors("copy ~ . - y", data) == []
    # a bound of a number separates the classes
    assert (
        messages_of_leaking_predictors(
            "side ~ .", data.assign(side=np.where(data["y"] > 0, "a", "b"))
        )
        == []
    )


def test_rows_without_a_response_do_not_matter():
    data = table().assign(copy=lambda d: d.y)
    data.loc[:9, "y"] = np.nan
    assert len(messages_of_leaking_predictors("y ~ .", data)) == 1


@pytest.mark.parametrize("fit", [odrf.odrf, odrf.odt])
def test_first_rows_of_chunks_are_looked_at(fit):
    data = table(n=300).assign(copy=lambda d: d.y, kind=lambda d: d.colour.str.upper())
    data.loc[:9, "y"] = np.nan
    options = {"n_trees": 2} if fit is odrf.odrf else {"max_leaves": 4}
    chunks = [data[:150], data[150:]]
    (message,) = messages_of_leaking_predictors("y ~ .", chunks, fit, **options)
    assert message.startswith("'copy' tells the response exactly")
    (message,) = messages_of_leaking_predictors("colour ~ . - y - copy", chunks, fit, **options)
    assert message.startswith("'kind' tells the response exactly")
    assert messages_of_leaking_predictors("y ~ . - copy", chunks, fit, **options) == []


# ------------------------------------------------------------------------------------------------
# The warning about numbers that stand for missing values: where it is right, and only there.
# ------------------------------------------------------------------------------------------------


def table_of_codes_for_missing(n=100):
    """Two numbers and a response."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    return data.assign(y=data["x"] + rng.normal(size=n))


def messages_of_codes_for_missing(data, formula="y ~ .", **options):
    """What a tree says of numbers that stand for missing values."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odrf.odt(formula, data, seed=1, **options)
    return [str(each.message) for each in caught if "missing value" in str(each.message)]


@pytest.mark.parametrize("code", [-99, 99.0, -999, 9999])
def test_a_code_far_from_the_others_is_named(code):
    data = table_of_codes_for_missing()
    data.loc[:3, "z"] = code
    (message,) = messages_of_codes_for_missing(data)
    assert f"'z' has {code:.0f} in several rows" in message
    assert f"data['z'] = data['z'].replace({code:.0f}, np.nan)" in message


def test_a_code_in_the_first_rows_of_chunks_is_named():
    data = table_of_codes_for_missing(n=300)
    data.loc[:3, "z"] = -999
    (message,) = messages_of_codes_for_missing([data[:100], data[100:]])
    assert message.startswith("'z' has -999")


def test_the_code_that_is_proposed_silences_the_warning():
    data = table_of_codes_for_missing()
    data.loc[:3, "z"] = -999
    data["z"] = data["z"].replace(-999, np.nan)
    assert messages_of_codes_for_missing(data) == []


def test_the_response_is_looked_at_and_others_are_listed():
    data = table_of_codes_for_missing()
    data.loc[:3, "y"] = -999
    data.loc[5:7, "z"] = -999
    (message,) = messages_of_codes_for_missing(data)
    assert message.startswith("'y' has -999")
    assert "so it is in 'z'" in message
    assert messages_of_codes_for_missing(data, "x ~ z")[0].startswith("'z' has -999")


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([1, 2, 3, 4, -99, -99], -99),
        ([1, 2, 3, 4, 999, 999, 999], 999),
        ([1, np.nan, 3, 4, np.inf, -99, -99], -99),
        ([0, 20, 300, 400, -99, -99], -99),
        # one cell, a value of no code, others as far apart, too few others
        ([1, 2, 3, 4, -99], None),
        ([1, 2, 3, 4, -98, -98], None),
        ([1, 2, 3, 60, 99, 99], None),
        ([1, 2, 99, 99], None),
        ([-1, 20, 300, 400, -99, -99], None),
        ([99, 99, 99], None),
        ([np.nan], None),
        ([], None),
    ],
)
def test_codes_are_told_from_values(values, code):
    assert code_for_missing(np.array(values, dtype=float)) == code


# ------------------------------------------------------------------------------------------------
# The warning about text with few rows a level: where it is right, and only there.
# ------------------------------------------------------------------------------------------------


def said_of(name, formula, data):
    """What a tree says of a column of text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        odrf.odt(formula, data, seed=1)
    return [str(each.message) for each in caught if f"{name!r} is text" in str(each.message)]


def table_of_rare_levels(rows_each, n=120):
    """A number, names that so many rows share, and a response without relation to them."""
    rng = np.random.default_rng(0)
    of_row = rng.permutation(np.repeat(np.arange(n // rows_each), rows_each))
    name = [f"P{i:03d}x" for i in of_row]
    return pd.DataFrame({"x": rng.normal(size=n), "name": name, "y": rng.normal(size=n)})


@pytest.mark.parametrize(("rows_each", "warned"), [(2, True), (4, False)])
def test_text_with_few_rows_a_level_is_warned_of(rows_each, warned):
    found = said_of("name", "y ~ .", table_of_rare_levels(rows_each))
    assert len(found) == warned
    assert all("groups='name'" in each and "C(name)" in each for each in found)


def test_who_says_that_it_is_a_factor_hears_nothing():
    data = table_of_rare_levels(rows_each=2)
    assert said_of("name", "y ~ x + C(name)", data) == []
    assert said_of("name", "y ~ .", data.astype({"name": "category"})) == []
    assert said_of("name", "y ~ x", data) == []


def test_rows_without_a_response_do_not_count():
    data = table_of_rare_levels(rows_each=4, n=240)
    data.loc[data.index % 2 == 0, "y"] = np.nan
    (message,) = said_of("name", "y ~ .", data)
    assert "in 120 rows" in message


def test_rows_in_chunks_are_counted_in_all():
    rng = np.random.default_rng(1)
    town = [f"town {k}" for k in rng.integers(60, size=4000)]
    data = pd.DataFrame({"town": town, "x": rng.normal(size=4000), "y": rng.normal(size=4000)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.odrf("y ~ .", [data[:2000], data[2000:]], n_trees=2, seed=1)


# ------------------------------------------------------------------------------------------------
# Which columns of a table could name groups of rows.
# ------------------------------------------------------------------------------------------------


def test_groups_are_named_by_labels_and_whole_numbers():
    codes = np.arange(60) // 5
    first = np.arange(60) == 0
    table = pd.DataFrame(
        {
            "whole": codes * 1.0,
            "single": codes.astype(np.float32),
            "integer": codes,
            "nullable": pd.array(codes, dtype="Float64"),
            "label": [f"subject {code}" for code in codes],
            "fraction": codes + np.where(first, 0.5, 0.0),
            "nullable fraction": pd.array(codes + np.where(first, 0.5, 0.0), dtype="Float64"),
            "with a hole": np.where(first, np.nan, codes),
            "infinite": np.where(first, -np.inf, codes),
            "few": codes % 2 * 1.0,
            "truth": codes % 2 == 0,
            "complex": codes + 1j,
        }
    )
    names = list(table.columns)
    found = list(candidate_groups(table, names, np.arange(60)))
    assert [each.name for each in found] == names[:5]
    for each in found:
        assert each.codes.tolist() == codes.tolist()
        assert each.numbered == (each.name != "label")
    others = list(candidate_groups(table, names[5:], np.arange(60)))
    assert others == []
    # the other rows of these columns are whole numbers
    rest = [each.name for each in candidate_groups(table, names[5:9], np.arange(1, 60))]
    assert rest == names[5:9]
