from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from odrf.datasets import data_names, load_data
from odrf.errors import InputError

ROOT = Path(__file__).parents[2]

TABLES = {
    # name: shape, factors, missing cells by column
    "auto_mpg": ((397, 8), {"origin"}, {"horsepower": 5}),
    "breast_cancer": ((569, 31), {"diagnosis"}, {}),
    "diabetes": ((442, 11), set(), {}),
    "gbsg2": ((686, 10), {"hormones", "menopause", "grade"}, {}),
    "hitters": ((322, 20), {"league", "division", "new_league"}, {"salary": 59}),
    "melanoma": ((205, 7), {"sex", "ulcer", "event"}, {}),
    "penguins": (
        (344, 8),
        {"species", "island", "sex"},
        {
            "bill_length_mm": 2,
            "bill_depth_mm": 2,
            "flipper_length_mm": 2,
            "body_mass_g": 2,
            "sex": 11,
        },
    ),
    "publication": ((244, 9), {"mechanism"}, {}),
    "wine": ((178, 14), {"cultivar"}, {}),
}


def test_names_are_the_tables_described_here():
    assert data_names() == sorted(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_table_is_as_described(name):
    shape, factors, missing = TABLES[name]
    table = load_data(name)
    assert table.shape == shape
    assert set(table.select_dtypes("category")) == factors
    assert set(table.select_dtypes(exclude=["category", "number"])) == set()
    counts = table.isna().sum()
    assert counts[counts > 0].to_dict() == missing
    assert table.index.equals(pd.RangeIndex(len(table)))


@pytest.mark.parametrize(("name", "events"), [("gbsg2", 299), ("publication", 156)])
def test_times_end_in_events_or_not(name, events):
    table = load_data(name)
    assert (table["time"] > 0).all()
    assert table["event"].value_counts().to_dict() == {1: events, 0: len(table) - events}


def test_melanoma_has_two_causes_of_death():
    event = load_data("melanoma")["event"]
    assert list(event.cat.categories) == ["censored", "melanoma", "other"]
    assert event.value_counts(sort=False).tolist() == [134, 57, 14]


@pytest.mark.parametrize("name", TABLES)
def test_every_column_stands_in_the_readme(name):
    readme = (ROOT / "data" / "README.md").read_text(encoding="utf-8")
    chapter = readme.split(f"\n## {name}\n")[1].split("\n## ")[0]
    for column in load_data(name):
        feature = column.removeprefix("mean_").removeprefix("worst_").removesuffix("_error")
        assert f"`{feature}`" in chapter, column


def test_plain_read_csv_gives_the_same_numbers():
    plain = pd.read_csv(ROOT / "data" / "auto_mpg.csv")
    pd.testing.assert_frame_equal(
        plain.drop(columns="origin"), load_data("auto_mpg").drop(columns="origin")
    )


@pytest.mark.parametrize("name", ["penguin", "../data/wine", "wine.csv", ""])
def test_unknown_name_lists_the_names(name):
    with pytest.raises(InputError, match="'auto_mpg', 'breast_cancer'"):
        load_data(name)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'penguins'"):
        load_data("penguin")


def test_installed_package_brings_its_own_tables(tmp_path):
    package = tmp_path / "odrf"
    shutil.copytree(ROOT / "odrf", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "data", package / "_data")
    command = "from odrf.datasets import load_data; print(load_data('diabetes').shape)"
    found = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "(442, 11)"
