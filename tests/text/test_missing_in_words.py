"""Where missing values go, in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

import odrf
from odrf.text.splits import SplitWriter


def tree_on(data: pd.DataFrame, formula: str, **options):
    return odrf.odt(formula, data, missing="split", seed=1, **options)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"age": rng.uniform(20, 80, 300), "bmi": rng.uniform(18, 40, 300)})
    data["y"] = (data["age"] > 50) * 5.0 + data["bmi"] / 10
    data.loc[rng.random(300) < 0.2, "age"] = np.nan
    return data


def test_a_single_predictor_says_where_missing_values_go():
    tree = tree_on(table(), "y ~ age", projection="axis", max_leaves=2)
    split = SplitWriter(tree.forest, tree.design).split(0)
    assert split.missing in ("left", "right")
    missing_left = split.missing == "left"
    assert split.to_left.endswith("or missing") == missing_left
    assert split.to_right.endswith("or missing") != missing_left
    assert split.to_left.startswith("age <= ")
    empty = tree.predict(pd.DataFrame({"age": [np.nan]}), type="leaf")[0]
    assert empty == tree.forest.left[0] + (not missing_left)
    side = "or missing" if missing_left else "> "
    assert side in tree.rules()


def test_missing_or_not():
    data = table().assign(y=lambda d: d["age"].isna() * 2.0 + d["bmi"].round() % 1)
    tree = tree_on(data, "y ~ age", projection="axis", max_leaves=2)
    split = SplitWriter(tree.forest, tree.design).split(0)
    assert {split.to_left, split.to_right} == {"age is known", "age is missing"}
    assert tree.predict(data).tolist() == data["y"].tolist()


def test_a_sum_says_what_missing_values_count_as():
    tree = tree_on(table(), "y ~ age + bmi", max_leaves=8)
    splits = tree.splits
    assert "age[missing]" not in set(splits["column"])
    sums = splits.groupby("node").filter(lambda rows: len(rows) > 1)
    of_age = sums[sums["column"] == "age"].iloc[0]
    split = SplitWriter(tree.forest, tree.design).split(int(of_age["node"]))
    assert split.fills[0].startswith("age as ")
    assert abs(float(split.fills[0].split()[-1]) - of_age["fill"]) < 0.01
    assert "(missing age as " in split.to_left
    # the fill is what an empty cell counts as
    node = int(of_age["node"])
    rows = splits[splits["node"] == node].set_index("column")
    forest, design = tree.forest, tree.design
    data = pd.DataFrame({"age": [np.nan], "bmi": [25.0]})
    X, _ = design.matrix(data)
    terms = slice(*forest.start[node : node + 2])
    scaled = float(forest.coef[terms] @ X[forest.index[terms], 0] - forest.threshold[node])
    told = rows["coefficient"]["age"] * of_age["fill"] + rows["coefficient"]["bmi"] * 25.0
    size = forest.coef[terms][0] / (
        rows["coefficient"][design.columns[forest.index[terms][0]]]
        * design.scaling.range[forest.index[terms][0]]
    )
    assert abs(scaled - size * (told - of_age["threshold"])) < 1e-5


def test_a_factor_has_missing_as_a_level():
    data = table().assign(f=lambda d: np.where(d["bmi"] > 29, "high", "low"))
    data.loc[data["age"].isna(), "f"] = None
    tree = tree_on(data.assign(y=data["f"].isna() * 99.0 + data["bmi"]), "y ~ f", max_leaves=2)
    assert "{missing}" in tree.rules()


def test_the_drawn_tree_says_it():
    tree = tree_on(table(), "y ~ age", projection="axis", max_leaves=2)
    axes = tree.plot(kind="tree")
    words = " ".join(text.get_text() for text in axes.texts).replace("\n", " ")
    assert "missing left" in words or "missing right" in words
