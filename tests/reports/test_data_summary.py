"""What every kind of column was taken as, and what is said of missing values and new levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf

N = 60
rng = np.random.default_rng(0)
LEVELS = ["low", "middle", "high"]


def table() -> pd.DataFrame:
    data = pd.DataFrame(
        {
            "size": rng.permutation(np.r_[0.5, 9.5, rng.uniform(1, 9, N - 2)]),
            "smoker": rng.permutation(np.arange(N) % 2 == 0),
            "town": pd.Categorical(np.array(list("abcdef"))[np.arange(N) % 6], list("abcdefgh")),
            "dose": pd.Categorical(np.array(LEVELS)[np.arange(N) % 3], LEVELS, ordered=True),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), "D"),
            "wait": pd.to_timedelta(np.arange(N), "min"),
            "id": 2**60 + np.arange(N),
            "same": 3.0,
        }
    )
    return data.assign(y=data["size"] + rng.normal(size=N))


FITS = {
    "tree": lambda *args, **options: odrf.odt(*args, seed=1, **options),
    "forest": lambda *args, **options: odrf.odrf(*args, n_trees=3, seed=1, **options),
    "boosted": lambda *args, **options: odrf.odbt(*args, n_trees=3, seed=1, **options),
    "guided": lambda *args, **options: odrf.graf(*args, n_trees=3, seed=1, **options),
}
every_kind = pytest.mark.parametrize("grow", FITS.values(), ids=FITS)


@every_kind
def test_every_kind_of_column(grow):
    data = table()
    found = grow("y ~ . + log(size) + C(smoker) + size:wait + town:C(smoker)", data).data_summary()
    lines = found.table
    assert lines["taken_as"].to_dict() == {
        "size": "number",
        "smoker": "True or False",
        "town": "factor",
        "dose": "ordered factor",
        "day": "date",
        "wait": "duration",
        "id": "number (by rank)",
        "same": "number",
        "log(size)": "number (computed)",
        "C(smoker)": "factor (computed)",
        "size:wait": "product",
        "town:C(smoker)": "combinations of levels",
    }
    assert lines["values"].tolist()[:8] == [
        "0.5 to 9.5",
        "0 to 1",
        "6 levels: a, b, c, d, … (2 without rows)",
        "3 levels: low < middle < high",
        "2020-01-01 to 2020-02-29",
        "0 s to 3540 s",
        f"{2**60} to {2**60 + N - 1}",
        "3",
    ]
    assert lines["columns"].tolist() == [1, 1, 6, 1, 1, 1, 1, 1, 1, 2, 1, 12]
    assert (lines["missing"] == 0).all()
    assert (lines["empty_cell"] == lines["empty_cell"].iloc[0]).all()
    assert lines["new_level"].map(bool).tolist() == [
        *(False, False, True, True, False, False, False, False, False, True, False, True)
    ]
    low, high = (f"{end:.4g}" for end in (data["y"].min(), data["y"].max()))
    assert found.summary().facts["Response"] == f"y: number, {low} to {high}"


def test_the_first_levels_of_the_response():
    data = table()
    tree = odrf.odt("dose ~ size + town", data, seed=1)
    facts = tree.data_summary().summary().facts
    assert facts["Response"] == "dose: 3 ordered classes: low < middle < high"
    assert facts["Rows"] == "60"


@pytest.mark.parametrize(
    ("missing", "size", "town", "whole"),
    [
        ("split", "the fill of each split", "the fill of each split", "the node's mean"),
        ("median", "filled: 2", "filled: b", "filled: 7"),
        ("drop", "no prediction", "no prediction", "no prediction"),
    ],
)
def test_empty_cells(missing, size, town, whole):
    data = pd.DataFrame(
        {
            "size": [1.0, 2.0, 3.0, np.nan] * 5,
            "town": ["a", "b", "b", "b", None] * 4,
            "whole": 7.0 + np.arange(20) % 3 - 1,
            "y": np.arange(20.0),
        }
    )
    lines = odrf.odt("y ~ .", data, missing=missing, alpha=None, seed=1).data_summary().table
    assert lines["empty_cell"].tolist() == [size, town, whole]
    expected = [0, 0, 0] if missing == "drop" else [5, 4, 0]
    assert lines["missing"].tolist() == expected
    assert lines["values"].iloc[0] == "1 to 3"


def test_ends_of_columns_with_empty_cells_have_no_noise():
    rng = np.random.default_rng(4)
    data = table().assign(up=np.r_[0, 8, rng.uniform(0, 8, N - 2)], down=lambda data: -data["up"])
    data["share"] = data["up"] / 8
    data["wait"] *= 1000
    data.loc[5, ["up", "down", "share", "day", "wait"]] = None
    values = odrf.odt("y ~ up + down + share + day + wait", data, seed=1).data_summary().table
    assert values["values"].tolist() == [
        "0 to 8",
        "-8 to 0",
        "0 to 1",
        "2020-01-01 to 2020-02-29",
        "0 s to 3540000 s",
    ]


def test_missing_cells_are_an_error_where_they_are_refused():
    data = table()
    tree = odrf.odt("y ~ size + town + dose", data, missing="raise", unseen="raise", seed=1)
    lines = tree.data_summary().table
    assert lines["empty_cell"].tolist() == ["an error"] * 3
    assert lines["new_level"].tolist() == ["", "an error", "an error"]
    tree = odrf.odt("y ~ size + town + dose", data, missing="raise", seed=1)
    new_level = tree.data_summary().table["new_level"]
    assert new_level.tolist() == ["", "as missing", "an error"]


@every_kind
def test_summaries_in_detail_have_the_table(grow):
    fit = grow("y ~ .", table())
    short, long = fit.summary(), fit.summary(detail=True)
    assert "Predictors as they were taken" not in str(short)
    assert "Predictors as they were taken" in str(long)
    assert long.tables[-1].equals(fit.data_summary().table)
    assert long.facts == short.facts
    text = str(long)
    assert "A date counts as the seconds since the first one" in text
    assert "By rank: 32 bits cannot tell the values apart" in text
    with pytest.raises(odrf.InputError, match="detail"):
        fit.summary(detail="yes")


def test_updated_and_loaded_fits(tmp_path):
    data = table()
    fit = odrf.odrf("y ~ size", data[:40], n_trees=2, seed=1).update(data[40:])
    low, high = (f"{end:.4g}" for end in (data["size"].min(), data["size"].max()))
    assert fit.data_summary().table["values"].tolist() == [f"{low} to {high}"]
    fit.save(tmp_path / "fit")
    assert odrf.load(tmp_path / "fit").data_summary().table.equals(fit.data_summary().table)


def test_types_are_counted_in_words():
    data = pd.DataFrame({"a": [1.0, 2, 3, 4] * 5, "b": [True, False] * 10, "c": list("xyzz") * 5})
    data["y"] = data["a"] + data["b"]
    tree = odrf.odt("y ~ log(a) + sqrt(a) + a + b + c + c:C(b)", data, kind="regression", seed=1)
    of_all = tree.data_summary()
    assert "2 numbers (computed)" in repr(of_all) and "1 True or False" in repr(of_all)
    assert "1 number," in repr(of_all) and "1 factor," in repr(of_all)


@pytest.mark.parametrize("name", ["tree", "forest", "boosted"])
def test_times_to_an_event_are_no_number(name):
    data = table()
    data = data.assign(days=data["size"].rank(), event=data["smoker"])
    facts = FITS[name]("Surv(days, event) ~ dose + y", data).data_summary().summary().facts
    assert facts["Response"] == "Surv(days, event): survival time, 1 to 60"
    late = FITS[name]("Surv(days / 2, days, event) ~ dose + y", data).data_summary().summary().facts
    assert late["Response"] == "Surv(days / 2, days, event): survival time, 0.5 to 60"


def test_a_number_of_curves_is_a_number():
    data = table()
    data = data.assign(days=data["size"].rank(), event=data["smoker"])
    forest = odrf.odrf("Surv(days, event) ~ dose + y", data, n_trees=5, inference=True, seed=1)
    facts = forest.estimand("survival", time=30).data_summary().summary().facts
    assert facts["Response"].startswith("S(30): number, ")


def test_factors_alone_are_refused_at_once_without_the_training_rows():
    """Their table is known without rows, what is said of the response is not."""
    fit = odrf.odbt("y ~ town", table(), n_trees=3, seed=1).without_data()
    with pytest.raises(odrf.InputError, match="this needs the training rows"):
        fit.data_summary()


def test_planes_have_no_fills():
    rows = np.arange(60.0)
    data = pd.DataFrame({"up": np.where(rows < 10, np.nan, rows), "b": rows, "y": rows % 7})
    cells = odrf.graf("y ~ .", data, n_trees=2, seed=1).data_summary().table["empty_cell"]
    assert cells.tolist() == ["the mean, and a column that marks it", "the node's mean"]
