""""""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import odrf
from odrf.design.structure import read_structure, require_usable
from odrf.errors import InputError

DATA = pd.DataFrame(
    {
        "y": [1.0, 2.0, 4.0, 3.0, 5.0, 0.5],
        "x": [0.1, 0.2, 0.3, 0.5, 0.4, 0.0],
        "id": ["b", "b", "a", "c", "a", "c"],
        "day": pd.to_datetime(["2020-01-03", "2020-01-01", "2020-01-03", *["2020-02-01"] * 3]),
        "site": pd.Categorical([2, 2, 1, 1, 1, 1]),
        "hole": [1, None, 2, 1, 2, 2],
    },
    index=list("uvwxyz"),
)


def test_codes_follow_first_rows_and_times_follow_time():
    structure = read_structure(DATA, groups="id", strata="site")
    assert structure.groups.tolist() == [0, 0, 1, 2, 1, 2]
    assert structure.strata.tolist() == [0, 0, 1, 1, 1, 1]
    assert structure.labels["groups"].tolist() == ["b", "a", "c"]
    assert structure.labels["strata"].tolist() == [2, 1]
    assert structure.columns == {"groups": "id", "strata": "site"}
    assert structure.n_groups == 3
    assert read_structure(DATA, order="day").order.tolist() == [1, 0, 1, 2, 2, 2]
    assert read_structure(DATA) is None


@pytest.mark.parametrize(
    "values",
    [
        DATA["id"].to_list(),
        DATA["id"].to_numpy(),
        pd.Categorical(DATA["id"]),
        DATA["id"].iloc[::-1],
        DATA["id"].astype("category"),
    ],
)
def test_values_are_read_as_the_column(values):
    structure = read_structure(DATA, groups=values)
    assert structure.groups.tolist() == [0, 0, 1, 2, 1, 2]
    assert structure.labels["groups"].tolist() == ["b", "a", "c"]
    assert structure.columns == {}


@given(st.lists(st.integers(0, 4), min_size=2, max_size=20), st.data())
def test_rows_that_are_kept_keep_their_labels(values, draw):
    table = pd.DataFrame({"g": [0, 1, *values]})
    rows = np.array(draw.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    structure = read_structure(table, groups="g", strata="g").keeping(rows)
    expected = table["g"][rows].tolist()
    for name in ("groups", "strata"):
        codes, labels = getattr(structure, name), structure.labels[name]
        assert labels[codes].tolist() == expected
        assert sorted(set(codes)) == list(range(len(labels)))


def test_rows_that_are_added_keep_known_codes():
    structure = read_structure(DATA, groups="id", strata="site")
    new = pd.DataFrame({"id": ["c", "d", "e", "d"], "site": [1, 2, 3, 2]})
    more = structure.with_more(new, np.array([True, True, False, True]))
    assert more.groups.tolist() == [0, 0, 1, 2, 1, 2, 2, 3, 3]
    assert more.strata.tolist() == [0, 0, 1, 1, 1, 1, 1, 0, 0]
    assert more.labels["groups"].tolist() == ["b", "a", "c", "d"]
    with pytest.raises(InputError, match="groups= of the fit was given as values"):
        read_structure(DATA, groups=list("aabbcc")).with_more(new, np.ones(4, dtype=bool))
    with pytest.raises(InputError, match=r"update\(\) cannot add rows to a fit with order="):
        read_structure(DATA, order="day").with_more(new, np.ones(4, dtype=bool))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": "di"}, "groups='di' is not a column of the data; did you mean 'id'"),
        ({"order": "time"}, "order='time' is not a column"),
        ({"groups": "id", "order": "day"}, "groups= and order= say two things"),
        ({"groups": "hole"}, "groups= has 1 missing value:"),
        ({"groups": [1] * 6}, "groups= has one group only"),
        ({"order": [1] * 6}, "order= has one time only"),
        ({"order": "id"}, "order= must be numbers, dates or times"),
        ({"order": [True, False] * 3}, "order= must be numbers, dates or times"),
        ({"strata": [1, 2, 3]}, "strata has length 3 and the data 6 rows"),
        ({"groups": pd.Series(range(6))}, "groups= is a Series with other row labels"),
        ({"groups": [[1], [2], [1], [2], [1], [2]]}, "groups must be the name of a column"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        read_structure(DATA, **arguments)


@pytest.mark.parametrize(
    ("arguments", "weights", "message"),
    [
        ({"groups": "id"}, [1, 1, 0, 0, 0, 0], "one group only in the rows of positive weight"),
        ({"order": "day"}, [0, 0, 0, 1, 1, 1], "one time only in the rows of positive weight"),
        ({"strata": [1, 2, 2, 2, 2, 2]}, [1] * 6, "stratum 1 has one of the rows"),
        ({"groups": "id", "strata": "site"}, [1] * 6, "stratum 2 has one of the groups"),
        ({"groups": "id", "strata": [1, 2] * 3}, [1] * 6, "group 'b' has rows in several strata"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, weights, message):
    structure = read_structure(DATA, **arguments)
    with pytest.raises(InputError, match=message):
        require_usable(structure, np.array(weights, dtype=float))


def test_a_dot_leaves_the_columns_out_and_rows_without_response_may_have_no_group():
    data = DATA.assign(y=DATA["y"].where(DATA["hole"].notna()))
    tree = odrf.odt("y ~ . - day", data, groups="hole", min_leaf=1, seed=1)
    assert tree.design.predictors == ("x", "id", "site")
    assert tree.fit.data.structure.groups.tolist() == [0, 1, 0, 1, 1]


def test_a_file_has_the_structure_unless_it_has_no_rows(tmp_path):
    data = DATA.drop(columns=["hole", "site"])
    tree = odrf.odt("y ~ x", data, groups="id", seed=1)
    tree.save(tmp_path / "all.odrf")
    tree.save(tmp_path / "none.odrf", data=False)
    kept = odrf.load(tmp_path / "all.odrf").fit.data.structure
    assert kept.groups.tolist() == [0, 0, 1, 2, 1, 2]
    assert kept.labels["groups"].tolist() == ["b", "a", "c"]
    assert odrf.load(tmp_path / "none.odrf").rows is None
