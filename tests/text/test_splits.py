"""Splits in words."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from patsy import EvalEnvironment

import odrf
from odrf.design import build_design
from odrf.design.encoding import Moments
from odrf.design.ranks import OwnRanks
from odrf.engine.trees.forest import node_of_terms
from odrf.options.sizes import Rule
from odrf.text.layouts import in_latex
from odrf.text.names import names_in_sums
from odrf.text.splits import (
    MOST_LEVELS,
    SplitText,
    SplitWriter,
    _rounded,
    moment,
    number,
    rank_label,
    split_lines,
    two_sets,
    user_splits,
    with_limits,
)
from odrf.text.summary import rule_in_words
from stumps import stump

COLUMNS = {"age": 0, "rate": 1, "sex[f]": 2, "sex[m]": 3, "size": 4, "plan[a]": 5, "plan[d]": 8}


@pytest.fixture(scope="module")
def data():
    return pd.DataFrame(
        {
            "y": range(8),
            "age": [20, 30, 40, 50, 60, 70, 80, 45],
            "rate": np.linspace(0, 1e-4, 8),
            "sex": list("fmfmfmfm"),
            "size": pd.Categorical(
                ["low", "mid", "high", "top"] * 2, ["low", "mid", "high", "top"], ordered=True
            ),
            "plan": list("abcdabcd"),
        }
    )


@pytest.fixture(scope="module")
def built(data):
    return build_design("y ~ age + rate + sex + size + plan", data, env=EvalEnvironment.capture())


@pytest.fixture(scope="module")
def design(built):
    return built[0]


def words(design, theta, threshold, **options):
    tree = stump({COLUMNS[name]: value for name, value in theta.items()}, threshold)
    split = SplitWriter(tree, design, **options).split(0)
    return split.to_left, split.to_right


def test_columns_are_where_these_tests_think(design):
    assert all(design.columns[at] == name for name, at in COLUMNS.items())


@pytest.mark.parametrize(
    "theta, threshold, left, right",
    [
        ({"age": 1.0}, 0.4083, "age <= 44.498", "age > 44.498"),
        ({"age": -1.0}, -0.5, "age >= 50", "age < 50"),
        ({"rate": 1.0}, 0.25, "rate <= 0.000025", "rate > 0.000025"),
        ({"size": 1.0}, 0.5, "size <= mid", "size > mid"),
        ({"size": -1.0}, -0.5, "size >= high", "size < high"),
        ({"sex[f]": 1.0}, 0.5, "sex in {m}", "sex in {f}"),
        ({"sex[f]": -1.0}, -0.5, "sex in {f}", "sex in {m}"),
        ({"plan[a]": 0.6, "plan[d]": -0.8}, -0.1, "plan in {d}", "plan in {a, others}"),
        ({"plan[a]": 0.6, "plan[d]": -0.8}, 0.1, "plan in {d, others}", "plan in {a}"),
        ({"age": 0.6, "sex[f]": -0.8}, 0.25, "-0.8*(sex in {f}) + 0.01*age <= 0.45", None),
        (
            {"age": 0.6, "sex[f]": -0.4, "sex[m]": 0.4},
            0.25,
            "-0.8*(sex in {f}) + 0.01*age <= 0.05",
            None,
        ),
        ({"age": 0.6, "sex[f]": 0.4, "sex[m]": 0.4}, 0.7, "age <= 50", "age > 50"),
        ({"age": 0.6, "plan[a]": -0.8}, 0.25, "-0.8*plan[a] + 0.01*age <= 0.45", None),
    ],
)
def test_a_split_in_words(design, theta, threshold, left, right):
    written = words(design, theta, threshold)
    assert written[0] == left
    assert written[1] == (right or left.replace("<=", ">"))


def test_digits(design):
    assert words(design, {"age": 1.0}, 0.40833, digits=2)[0] == "age <= 44.5"
    theta = {"age": 1 / 3, "plan[a]": 2 / 3, "sex[f]": -2 / 3}
    text = words(design, theta, 0.123456, digits=2)[0]
    assert text == "0.67*plan[a] - 0.67*(sex in {f}) + 0.0056*age <= 0.23"


def test_long_splits_keep_the_largest_terms(design):
    theta = {"age": 0.1, "plan[a]": 0.7, "sex[f]": -0.7, "rate": 0.1}
    text = words(design, theta, 0.5, digits=2, max_terms=2)[0]
    assert text == "0.7*plan[a] - 0.7*(sex in {f}) + 2 more <= 0.53"
    assert words(design, {"plan[a]": 1.0}, 0.5, max_terms=2)[0] == "plan not in {a}"


@pytest.mark.parametrize(
    "value, text",
    [
        (1234567.0, "1234567"),
        (0.00012345, "0.0001234"),
        (-31.4159, "-31.42"),
        (1e15, "1e+15"),
        (9999.7, "10000"),
        (-9999.5, "-10000"),
        (9999.4, "9999"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def goes_left(text, data):
    """Evaluate a split's text on the rows of the data."""
    text = re.sub(r"\(sex in {(\w)}\)", r"(data['sex'] == '\1')", text)
    text = re.sub(r"plan\[(\w)\]", r"(data['plan'] == '\1')", text)
    text = re.sub(r"\bsize\b", "(data['size'].cat.codes + 1)", text)
    text = re.sub(r"\b(age|rate)\b", r"data['\1']", text)
    return eval(text)


@given(
    st.dictionaries(st.integers(0, 8), st.floats(-1, -0.0101) | st.floats(0.0101, 1), min_size=3),
    st.integers(1, 7),
)
def test_the_words_of_a_sum_send_rows_where_the_split_does(built, data, theta, place):
    design, training = built
    projected = sum(np.float32(value) * training.X[column] for column, value in theta.items())
    threshold = float(np.sort(projected)[place - 1 : place + 1].mean())
    text = SplitWriter(stump(theta, threshold), design, digits=12).split(0).to_left
    assert text.count("sex") <= 1
    if " in {" in text.replace("(sex in {", "") or "*" not in text:
        return
    clear = np.abs(projected - threshold) > 1e-6
    left = goes_left(text, data)
    np.testing.assert_array_equal(left[clear], (projected <= threshold)[clear])


NAMES = {"a-b": "`a-b`", "dose (mg)": "dose (mg)", "np.sqrt(age)": "np.sqrt(age)"}
NAMES |= {"I(age / 2)": "I(age / 2)", "age > 40": "(age > 40)", "age:rate": "age:rate"}
NAMES |= {"a-b:rate": "`a-b`:rate", "plan=x[u]": "`plan=x`[u]"}


def test_expressions_and_names_with_operators_are_set_apart(data):
    data = data.assign(**{"a-b": 1.5, "dose (mg)": 2.5, "plan=x": list("uvwuvwuv")})
    formula = (
        "y ~ `a-b` + `dose (mg)` + np.sqrt(age) + I(age / 2) + (age > 40) + age:rate"
        " + `a-b`:rate + `plan=x`"
    )
    design = build_design(formula, data, env=EvalEnvironment.capture())[0]
    _, columns = names_in_sums(design)
    assert {name: columns[design.columns.index(name)] for name in NAMES} == NAMES


def test_names_are_shortened_before_they_are_quoted(data):
    data = data.rename(columns={"age": "age-at-the-first-visit", "plan": "plan of the insurance"})
    design = build_design("y ~ .", data, env=EvalEnvironment.capture())[0]
    predictors, columns = names_in_sums(design, 12)
    assert predictors[0] == "`age-at…visit`"
    assert columns[-4:] == [f"pla…ce[{level}]" for level in "abcd"]


def test_ranks_of_ordered_factors_in_sums(design):
    def summed(theta):
        tree = stump({COLUMNS[name]: value for name, value in theta.items()}, 0.5)
        return SplitWriter(tree, design).summed(0)

    assert summed({"size": 1.0}) == {}
    assert list(summed({"age": 0.6, "plan[a]": 0.8})) == ["age", "plan"]
    assert summed({"age": 0.6, "size": 0.8})["size"].levels.tolist() == [
        "low",
        "mid",
        "high",
        "top",
    ]


# ------------------------------------------------------------------------------------------------
# Sets of levels in words: where each level goes can be read from either side.
# ------------------------------------------------------------------------------------------------

LETTERS = [f"s{k}" for k in range(20)]


def contains(words, level, named):
    """Whether a set in words holds a level; one that is not `named` is among the others."""
    listed = re.search(r"{(.*)}", words)[1].split(", ")
    inside = level in listed or ("others" in listed and level not in named)
    return inside != words.startswith("not in")


def mask(flags):
    return np.array(flags, dtype=bool)


@given(st.data())
def test_both_sides_tell_where_each_level_goes(data):
    L = data.draw(st.integers(2, len(LETTERS)))
    flags = st.lists(st.booleans(), min_size=L, max_size=L)
    has, others_left = mask(data.draw(flags)), data.draw(st.booleans())
    left = np.where(has, mask(data.draw(flags)), others_left)
    words = two_sets(LETTERS[:L], has, left, others_left)
    named = set(np.array(LETTERS[:L])[has])
    if (left == others_left).all():
        return
    for level, goes in zip(LETTERS, left, strict=False):
        assert contains(words[0], level, named) == goes
        assert contains(words[1], level, named) == (not goes)
    assert "others" not in words[1 if others_left else 0]


@pytest.mark.parametrize(
    "has, left, others_left, most, expected",
    [
        ([1, 1, 1], [1, 0, 0], False, None, ("in {s0}", "in {s1, s2}")),
        ([1, 1, 0], [1, 0, 0], False, None, ("in {s0}", "in {s1, others}")),
        ([1, 1, 0], [1, 0, 1], True, None, ("in {s0, others}", "in {s1}")),
        ([1, 0, 0], [1, 0, 0], False, None, ("in {s0}", "not in {s0}")),
        ([1, 0], [1, 0], False, None, ("in {s0}", "in {s1}")),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 0], False, 2, ("in {s0, s1, +2 more}", "in {s4}")),
        ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1], True, 2, ("not in {s0}", "in {s0}")),
        ([1, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 0], False, 1,
         ("in {s3, +1 more}", "in {s0, +2 more, others}")),
    ],
)  # fmt: skip
def test_sets(has, left, others_left, most, expected):
    assert two_sets(LETTERS[: len(has)], mask(has), mask(left), others_left, most) == expected


def test_a_long_side_is_what_is_not_on_the_other():
    has, left = np.ones(20, dtype=bool), np.arange(20) < 20 - MOST_LEVELS
    assert two_sets(LETTERS, has, left, False)[1].startswith("in {s8")
    words = two_sets(LETTERS, has, np.arange(20) < 3, False)
    assert words == ("in {s0, s1, s2}", "not in {s0, s1, s2}")


def test_a_fitted_tree_says_where_absent_levels_go():
    rng = np.random.default_rng(5)
    region = np.repeat(["n", "s"], [150, 90])
    states = ["CA", "NV", "OR", "TX"]
    state = np.where(region == "n", rng.choice(states[:3], 240), rng.choice(states, 240))
    y = 9.0 * (region == "s") + 2 * (state == "CA") + rng.normal(size=240) / 10
    data = pd.DataFrame({"y": y, "region": region, "state": state})
    tree = odrf.odt("y ~ .", data, projection="axis", max_leaves=4, seed=1)
    rules = tree.rules()
    assert "state in {NV, OR, others}" in rules and "state in {NV, OR, TX}" in rules
    assert rules.count("state in {CA}") == 2
    new = pd.DataFrame({"region": ["n"], "state": ["TX"]})
    assert tree.predict(new)[0] == pytest.approx(tree.predict(new.assign(state="NV"))[0])
    lines = [text.get_text() for text in tree.plot().texts]
    assert any("state" in line for line in lines)


# ------------------------------------------------------------------------------------------------
# Where missing values go, in words.
# ------------------------------------------------------------------------------------------------


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
    term = next(term for term in split.terms if "age is missing" in term)
    sign, amount = term.strip("(").split()[:2]
    added = float(f"{sign}{amount}")
    assert abs(added - of_age["coefficient"] * of_age["fill"]) < 1e-3 * max(1.0, abs(added))
    assert f" {term} <= " in split.to_left and f" {term} > " in split.to_right
    # the fill is what a missing value counts as
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


# ------------------------------------------------------------------------------------------------
# A split in the units of the data sends rows where the engine sends the scaled rows.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data_of_units():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "y": rng.normal(size=40),
            "year": rng.integers(1970, 2000, 40),
            "tiny": rng.normal(size=40) * 1e-6,
            "fixed": 7.0,
            "huge": rng.normal(size=40) * 1e9 + 1e9,
        }
    )


@pytest.fixture(scope="module")
def design_of_units(data_of_units):
    return build_design(
        "y ~ year + tiny + fixed + huge", data_of_units, env=EvalEnvironment.capture()
    )


def unit(values):
    return np.array(values) / np.linalg.norm(values)


@given(st.lists(st.floats(-1, 1).filter(lambda x: abs(x) > 0.01), min_size=4, max_size=4))
def test_both_units_agree_on_every_row(data_of_units, design_of_units, values):
    recipe, training = design_of_units
    theta = unit(values)
    projected = theta @ training.X
    threshold = float(np.sort(projected)[19:21].mean())
    user = user_splits(stump(dict(enumerate(theta)), threshold), recipe)
    raw = data_of_units[["year", "tiny", "fixed", "huge"]].to_numpy()
    left = raw @ user.coef <= user.threshold[0]
    clear = np.abs(projected - threshold) > 1e-9
    np.testing.assert_array_equal(left[clear], (projected <= threshold)[clear])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_single_column_has_coefficient_one(data_of_units, design_of_units, sign):
    recipe, _ = design_of_units
    user = user_splits(stump({0: sign}, sign * 0.5), recipe)
    year = data_of_units["year"]
    assert user.coef[0] == pytest.approx(sign)
    assert user.threshold[0] == pytest.approx(sign * (year.min() + year.max()) / 2)


def test_a_constant_column_has_coefficient_zero(data_of_units, design_of_units):
    recipe, _ = design_of_units
    user = user_splits(stump({0: 0.6, 2: 0.8}, 0.3), recipe)
    year = data_of_units["year"]
    np.testing.assert_allclose(user.coef, [1.0, 0.0])
    assert user.threshold[0] == pytest.approx(year.min() + 0.5 * np.ptp(year))


def test_leaves_have_no_threshold(design_of_units):
    user = user_splits(stump({0: 1.0}, 0.5), design_of_units[0])
    assert np.isnan(user.threshold[1:]).all()


def test_terms_know_their_node():
    np.testing.assert_array_equal(node_of_terms(stump({0: 0.6, 2: 0.8}, 0.3)), [0, 0])


# ------------------------------------------------------------------------------------------------
# Numbers, dates and rules in words where the usual digits do not do.
# ------------------------------------------------------------------------------------------------


def test_a_cut_between_neighbouring_floats_has_all_digits():
    ranks = OwnRanks(np.array([0.3, 0.1 + 0.2]), base=None)
    assert rank_label(ranks, 0.5, increasing=True) == "0.3"
    assert rank_label(ranks, 0.5, increasing=False) == "0.30000000000000004"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (86400.0, "2024-03-01"),
        (60.0, "2024-02-29 13:46"),
        (1.0, "2024-02-29 13:45:40"),
        (0.01, "2024-02-29 13:45:40.250000"),
    ],
)
def test_a_date_is_as_fine_as_its_steps(step, words):
    dates = Moments(pd.Timestamp("2024-01-01").as_unit("us"))
    seconds = (pd.Timestamp("2024-02-29 13:45:40.25") - dates.origin).total_seconds()
    assert moment(dates, seconds, step) == words


def test_numbers_of_a_tiny_or_huge_range_have_significant_digits():
    assert _rounded(1998.53, 30.0, 2) == "1998.5"
    assert _rounded(1.23456e-20, 1e-19, 4) == "1.235e-20"
    assert _rounded(-1.23456e25, 1e26, 4) == "-1.235e+25"


def test_rules_that_found_nothing_are_named_at_most():
    assert rule_in_words(Rule("none"), 100) == ""
    assert rule_in_words(Rule("rate", "sqrt"), 100) == "sqrt(n)"


def test_control_characters_are_spaces_in_latex():
    assert in_latex("a\x07b\tc") == "a b c"


def test_greek_capitals_that_look_latin_are_latin_in_latex():
    assert in_latex("\N{GREEK CAPITAL LETTER ALPHA}\N{GREEK CAPITAL LETTER RHO}") == "AP"


# ------------------------------------------------------------------------------------------------
# Lines in the boxes of drawn trees.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "drawn"),
    [
        ("<= 3", "x ≤ 3"),
        (">= 3", "x ≥ 3"),
        ("in {<=30, >=50}", "x in {<=30, >=50}"),
        ("not in {<=30}", "x not in {<=30}"),
    ],
)
def test_levels_keep_their_names(left, drawn):
    assert split_lines(SplitText(("x",), left, "")) == (drawn,)


def test_an_estimate_that_is_not_known_says_so():
    assert with_limits(0.5, 0.25, 0.75) == "0.500 (0.250 to 0.750)"
    assert with_limits(0.5, np.nan, np.nan) == "0.500 (no limits)"
    assert with_limits(np.nan, np.nan, np.nan) == "unknown (no rows to compare)"
