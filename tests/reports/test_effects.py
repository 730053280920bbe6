"""Averaged predictions, comparisons and slopes against the same done by hand with `predict`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy

import odrf
from odrf import InputError
from odrf.errors import InputError as InputErrorInfiniteRatios
from odrf.fits.estimands import deviation_of
from odrf.statistics.effects import functional_covariance, with_errors

NUMBERS = ["estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high"]


def means(fit, data):
    """The mean response or class probabilities of rows, (n, K)."""
    if fit.kind == "regression":
        return fit.predict(data).to_numpy()[:, None]
    return fit.predict(data, type="prob").to_numpy()


def tree_means(fit, data):
    """What each tree of a forest for numbers predicts on average, (B,)."""
    return fit.predict(data, type="trees").to_numpy().mean(axis=0)


def error_by_hand(fit, *values):
    """The standard error of the first functional minus the second, from their values by tree."""
    functional = values[0] if len(values) == 1 else values[0] - values[1]
    kinds = (
        np.zeros(len(functional), dtype=np.int64)
        if fit.fit.blend is None
        else (fit.fit.blend.of_tree)
    )
    return np.sqrt(functional_covariance(functional[:, None], kinds, fit.fit.draws).total[0, 0])


@pytest.fixture(scope="module")
def fits(number_tree, class_tree, number_forest, class_forest, table):
    return {
        "tree": number_tree,
        "tree of classes": class_tree,
        "forest": number_forest,
        "forest of classes": class_forest,
        "boosted": odrf.odbt("y ~ a + b + f", table, n_trees=6, seed=1),
        "guided": odrf.graf("c ~ a + b + f", table, n_trees=6, seed=1),
    }


KINDS = ["tree", "tree of classes", "forest", "forest of classes", "boosted", "guided"]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("kind", KINDS)
def test_differences_and_ratios_are_those_of_predictions(fits, table, kind):
    fit = fits[kind]
    low, high = (means(fit, table.assign(f=level)).mean(axis=0) for level in ("x", "z"))
    for comparison, expected in (("difference", high - low), ("ratio", high / low)):
        found = fit.comparisons("f", contrast=("x", "z"), comparison=comparison).table
        np.testing.assert_allclose(found["estimate"], expected, rtol=1e-6, atol=1e-7)
        assert (found["contrast"] == "z - x").all()
        assert ("class" in found) == (fit.kind == "classification")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("kind", KINDS)
def test_averages_at_values_and_by_groups_are_those_of_predictions(fits, table, kind):
    fit = fits[kind]
    found = fit.predictions(by="f", at={"a": [-1.0, 1.0]}).table
    expected = np.concatenate(
        [
            means(fit, table[table["f"] == level].assign(a=a)).mean(axis=0)
            for a in (-1.0, 1.0)
            for level in ("x", "y", "z")
        ]
    )
    np.testing.assert_allclose(found["estimate"], expected, rtol=1e-6, atol=1e-7)
    assert found["a"].unique().tolist() == [-1.0, 1.0]
    assert found["f"].unique().tolist() == ["x", "y", "z"]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_contrasts_of_numbers(number_forest, table):
    fit, a = number_forest, table["a"]
    sd, (low, high) = a.std(ddof=0), a.quantile([0.25, 0.75], interpolation="nearest")
    expected = {
        "unit": (a, a + 1),
        "sd": (a - sd / 2, a + sd / 2),
        (-0.5, 0.75): (-0.5, 0.75),
    }
    for contrast, (lower, upper) in expected.items():
        by_hand = fit.predict(table.assign(a=upper)) - fit.predict(table.assign(a=lower))
        found = fit.comparisons("a", contrast=contrast).table["estimate"]
        np.testing.assert_allclose(found, by_hand.mean(), rtol=1e-5)
    iqr = fit.comparisons("a", contrast="iqr").table
    assert iqr["estimate"].iloc[0] > 0
    assert iqr["contrast"].str.startswith("Q3 - Q1").all()
    assert low < high


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_slopes_are_differences_over_a_bandwidth_within_the_range(number_forest, table):
    fit, a, h = number_forest, table["a"], 0.3
    middle = a.clip(a.min() + h / 2, a.max() - h / 2)
    rise = fit.predict(table.assign(a=middle + h / 2)) - fit.predict(table.assign(a=middle - h / 2))
    found = fit.slopes("a", bandwidth=h).table
    np.testing.assert_allclose(found["estimate"], (rise / h).mean(), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_slopes_are_between_values_of_training_rows(number_forest, table):
    fit, a = number_forest, table["a"]
    far = 0.25 * a.std(ddof=0)
    low = [max([v for v in a if v <= x - far], default=a.min()) for x in a]
    high = [min([v for v in a if v >= x + far], default=a.max()) for x in a]
    rise = fit.predict(table.assign(a=high)) - fit.predict(table.assign(a=low))
    by_hand = (rise / (np.array(high) - low)).mean()
    np.testing.assert_allclose(fit.slopes("a").table["estimate"], by_hand, rtol=1e-4)


@pytest.fixture(scope="module")
def few_values():
    """A response that rises by 1 with each of a number of two values and one of five."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"t": rng.integers(0, 2, 400), "k": rng.integers(1, 6, 400)})
    return data.assign(y=data["t"] + data["k"] + 0.1 * rng.normal(size=400))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("fit", [odrf.odt, odrf.odbt])
def test_slopes_of_numbers_with_few_values_are_right(fit, few_values):
    slopes = fit("y ~ t + k", few_values, projection="axis", seed=1).slopes().table["estimate"]
    np.testing.assert_allclose(slopes, 1.0, atol=0.1)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_number_of_two_values_is_compared_at_these(few_values):
    tree = odrf.odt("y ~ t + k", few_values, projection="axis", seed=1)
    found, asked = tree.comparisons().table, tree.comparisons("t", contrast=(0, 1)).table
    assert found["contrast"].iloc[0] == "1 - 0"
    assert found["contrast"].iloc[1].startswith("+1 sd")
    assert found["estimate"].iloc[0] == asked["estimate"].iloc[0] == pytest.approx(1.0, abs=0.1)
    assert tree.comparisons("t", contrast="sd").table["contrast"].iloc[0].startswith("+1 sd")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_standard_errors_are_those_of_the_jackknife(number_forest, table):
    fit = number_forest
    high, low = (tree_means(fit, table.assign(f=level)) for level in ("z", "x"))
    found = fit.comparisons("f", contrast=("x", "z")).table.iloc[0]
    assert found["std_error"] == pytest.approx(error_by_hand(fit, high, low), rel=1e-6)
    assert found["statistic"] == pytest.approx(found["estimate"] / found["std_error"])
    p_value = 2 * scipy.stats.norm.sf(abs(found["statistic"]))
    assert found["p_value"] == pytest.approx(p_value)
    half = scipy.stats.norm.ppf(0.975) * found["std_error"]
    assert found["conf_low"] == pytest.approx(found["estimate"] - half)
    assert found["conf_high"] == pytest.approx(found["estimate"] + half)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_the_error_of_a_ratio_is_by_the_delta_method(number_forest, table):
    fit, data = number_forest, table.assign(y=table["y"] + 10)
    fit = odrf.odrf("y ~ a + b + f", data, n_trees=12, seed=1)
    high, low = (tree_means(fit, table.assign(f=level)) for level in ("z", "x"))
    ratio = high.mean() / low.mean()
    found = fit.comparisons("f", contrast=("x", "z"), comparison="ratio")
    expected = error_by_hand(fit, (high - ratio * low) / low.mean())
    assert found.table["std_error"].iloc[0] == pytest.approx(expected, rel=1e-5)
    assert found.null == 1.0
    # as by the test of the two averages
    averages = fit.predictions(at={"f": ["x", "z"]}).hypotheses("b2 / b1 = 1")
    assert averages.table["std_error"].iloc[0] == pytest.approx(expected, rel=1e-4)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_population_adds_the_variance_of_the_rows(number_forest, table):
    fit = number_forest
    off = fit.predict(table.assign(f="z")) - fit.predict(table.assign(f="x"))
    alone, of_all = (
        fit.comparisons("f", contrast=("x", "z"), population=population).table["std_error"].iloc[0]
        for population in (False, True)
    )
    assert of_all**2 - alone**2 == pytest.approx(off.var(ddof=0) / len(off), rel=1e-6)
    slopes = fit.slopes("a", population=True).table["std_error"].iloc[0]
    assert slopes > fit.slopes("a").table["std_error"].iloc[0]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_groups_of_rows_are_the_units_of_a_population(table):
    groups = np.arange(len(table)) % 20
    fit = odrf.odrf("y ~ a + b + f", table, groups=groups, n_trees=12, seed=1)
    off = fit.predict(table.assign(f="z")) - fit.predict(table.assign(f="x"))
    sums = (off - off.mean()).groupby(groups).sum() / len(off)
    for rows, expected in ((None, (sums**2).sum()), (table, off.var(ddof=0) / len(off))):
        alone, of_all = (
            fit.comparisons("f", contrast=("x", "z"), newdata=rows, population=population)
            for population in (False, True)
        )
        added = of_all.covariance - alone.covariance
        np.testing.assert_allclose(added[0, 0], expected, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("structure", [{}, {"groups": np.arange(60) % 12}])
def test_where_all_trees_agree_hypotheses_have_no_joint_test(structure):
    steps = pd.DataFrame({"a": np.arange(60.0) % 2, "b": np.arange(60.0) % 7})
    steps["y"] = 3 * steps["a"]
    how = {"n_trees": 12, "projection": "axis", "n_singles": 2, "max_leaves": 2, "blend": False}
    fit = odrf.odrf("y ~ a + b", steps, kind="regression", seed=1, **how, **structure)
    tests = fit.comparisons("b").hypotheses("b1 = 0", joint=True)
    assert tests.joint.df == 0 and np.isnan(tests.joint.p_value)
    assert "unknown, as all trees agree" in repr(tests)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_few_groups_have_tests_and_intervals_by_students_t(table):
    groups, strata = np.arange(len(table)) % 12, np.arange(len(table)) % 12 // 6
    for options, df in (({}, 11), ({"strata": strata}, 10)):
        fit = odrf.odrf("y ~ a + f", table, groups=groups, n_trees=12, seed=1, **options)
        effects = fit.comparisons("f")
        row = effects.table.iloc[0]
        half = scipy.stats.t.ppf(0.975, df) * row["std_error"]
        assert row["conf_high"] - row["estimate"] == pytest.approx(half)
        assert row["p_value"] == pytest.approx(2 * scipy.stats.t.sf(abs(row["statistic"]), df))
        assert f"Student's t with {df} degrees" in " ".join(effects.notes)
        one = effects.hypotheses("b1 = 0", joint=True)
        assert one.table["p_value"].iloc[0] == pytest.approx(row["p_value"], rel=1e-6)
        assert one.joint.p_value == pytest.approx(row["p_value"], rel=1e-6)
        assert f"F = {row['statistic'] ** 2:.4g}, df = 1 and {df}, p = " in repr(one)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_case_weights_are_those_of_the_average(table):
    weights = np.arange(len(table)) % 3.0
    fit = odrf.odrf("y ~ a + b + f", table, weights=weights, n_trees=12, seed=1)
    found = fit.predictions().table["estimate"].iloc[0]
    expected = np.average(fit.predict(table), weights=weights)
    assert found == pytest.approx(expected, rel=1e-6)
    new = fit.predictions(newdata=table).table["estimate"].iloc[0]
    assert new == pytest.approx(fit.predict(table).mean(), rel=1e-6)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_terms_follow_the_variable(table):
    fit = odrf.odrf("y ~ log(b + 1000) + a:f + a", table, n_trees=6, seed=1)
    found = fit.comparisons(["b", "a"], contrast="unit").table.set_index("term")["estimate"]
    for name in ("a", "b"):
        by_hand = fit.predict(table.assign(**{name: table[name] + 1})) - fit.predict(table)
        assert found[name] == pytest.approx(by_hand.mean(), abs=1e-6)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_the_same_bits_for_any_number_of_threads(table):
    one, four = (
        odrf.odrf("y ~ a + b + f", table, n_trees=12, seed=1, n_jobs=jobs).comparisons()
        for jobs in (1, 4)
    )
    pd.testing.assert_frame_equal(one.table, four.table, check_exact=True)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_without_standard_errors_the_report_says_why(number_tree):
    effects = number_tree.comparisons("a")
    assert effects.table[NUMBERS[1:]].isna().all(axis=None)
    assert "There are no standard errors" in str(effects.summary())
    with pytest.raises(InputError, match="hypotheses need standard errors"):
        effects.hypotheses()


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"order": "b"}, "with order= they sample early rows more often"),
        ({"resample": "none", "blend": False}, "sampled all rows, or all but one"),
        ({"inference": True, "sample_fraction": 1.0}, "sampled all rows, or all but one"),
    ],
)
def test_forests_whose_trees_do_not_tell_how_they_vary_say_why(table, options, reason):
    data = table.assign(b=np.arange(len(table)))
    effects = odrf.odrf("y ~ a + f", data, n_trees=6, seed=1, **options).comparisons("f")
    assert effects.table["std_error"].isna().all()
    assert reason in " ".join(effects.notes)
    with pytest.raises(InputError, match="hypotheses need standard errors"):
        effects.hypotheses()


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_report_says_whether_the_forest_was_grown_for_inference(number_forest, table):
    grown = odrf.odrf("y ~ a + f", table, n_trees=12, inference=True, seed=1)
    for fit, said in ((number_forest, True), (grown, False)):
        text = " ".join(str(fit.comparisons("f", target="forest").summary()).split())
        assert ("not grown for inference" in text) == said
        assert "the forest's expectation over training samples" in text


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_hypotheses(number_forest):
    effects = number_forest.comparisons("f")
    estimate, covariance = effects.table["estimate"].to_numpy(), effects.covariance
    pairs = effects.hypotheses(joint=True)
    assert pairs.table["hypothesis"].tolist() == ["b2 - b1 = 0"]
    trees = effects.estimates.uncertainty.of_trees
    error = error_by_hand(number_forest, trees[:, 1], trees[:, 0])
    row = pairs.table.iloc[0]
    assert row["estimate"] == pytest.approx(estimate[1] - estimate[0])
    assert row["std_error"] == pytest.approx(error, rel=1e-6)
    assert pairs.joint.statistic == pytest.approx(row["statistic"] ** 2, rel=1e-6)
    assert pairs.joint.p_value == pytest.approx(row["p_value"], rel=1e-6)
    both = effects.hypotheses(np.eye(2), joint=True)
    expected = estimate @ np.linalg.solve(covariance, estimate)
    assert both.joint.statistic == pytest.approx(expected, rel=1e-6)
    assert both.joint.df == 2
    assert f"χ² = {both.joint.statistic:.4g}, df = 2, p = " in repr(both)
    said = effects.hypotheses(["b1 = 0", "2 * b2 - b1 ** 2 = 0.5"])
    assert said.table["estimate"].tolist() == pytest.approx(
        [estimate[0], 2 * estimate[1] - estimate[0] ** 2 - 0.5]
    )
    error = error_by_hand(number_forest, trees @ [-2 * estimate[0], 2.0])
    assert said.table["std_error"].iloc[1] == pytest.approx(error, rel=1e-5)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_hypotheses_that_follow_from_others_do_not_count_twice(class_forest):
    effects = class_forest.predictions(at={"f": ["x", "y", "z"]})
    low = [0, 3, 6]  # the rows of the first class
    pairs = [f"b{i + 1} = b{j + 1}" for i in low for j in low if i < j]
    some, every = (effects.hypotheses(texts, joint=True).joint for texts in (pairs[:2], pairs))
    assert some.df == every.df == 2
    assert every == some
    assert effects.hypotheses(np.eye(9)[[0, 0]], joint=True).joint.df == 1


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_the_probability_of_the_last_class_is_no_hypothesis_of_its_own(class_forest, table):
    """The probabilities of a row add up to 1, so that those of two classes say the third."""
    effects = class_forest.comparisons("a", by="f", newdata=table)
    first = [3 * i + k for i in range(3) for k in range(2)]  # two of the three classes
    some = effects.hypotheses(np.eye(9)[first], joint=True).joint
    every = effects.hypotheses(np.eye(9), joint=True).joint
    assert some.df == every.df == 6
    assert every == pytest.approx(some, rel=1e-4)
    assert effects.hypotheses("pairwise", joint=True).joint.df == 6
    sums = effects.hypotheses(np.kron(np.eye(3), np.ones(3)), joint=True).joint
    assert sums.df == 0
    assert np.isnan(sums.p_value)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        ("b3 = 0", "'b3' is none of b1 to b2"),
        ("b1 = b2 = 0", "one = at most"),
        ("b1 +", "no sum, product or quotient"),
        ("__import__('os').system('ls')", "may have numbers"),
        ("b1 < b2", "may have numbers"),
        ("b1 / (b2 - b2)", "no finite value"),
        ("(0 - 1 - b1 ** 2) ** 0.5", "no finite value"),
        (" b1" * 1000, "cannot be read"),
        ([], "neither text"),
        (7, "neither text"),
        ([[1, 2, 3]], "an array with 2 columns"),
        ([["a", "b"]], "an array with 2 columns"),
        ([[0, 0]], "without any estimate"),
    ],
)
def test_hypotheses_that_cannot_be_read(number_forest, hypothesis, message):
    with pytest.raises(InputError, match=message):
        number_forest.comparisons("f").hypotheses(hypothesis)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("comparisons", {"variables": "aa"}, "no predictor is computed from 'aa': use .*'a'[?]$"),
        ("comparisons", {"variables": []}, "names no column"),
        ("comparisons", {"variables": {"a": (0, 1)}}, r"write variables='a', contrast=\(0, 1\)"),
        ("comparisons", {"contrast": "sdd"}, "did you mean 'sd'"),
        ("comparisons", {"variables": "a", "contrast": "pairwise"}, "is for factors"),
        ("comparisons", {"variables": "a", "contrast": (1, 2, 3)}, "two values such as"),
        ("comparisons", {"comparison": "odds"}, "comparison='odds' is not known"),
        ("comparisons", {"variables": "a", "at": {"a": 1}}, "compared and set by at="),
        ("slopes", {"variables": "f"}, "'f' is no number in the fit"),
        ("slopes", {"bandwidth": -1.0}, "bandwidth="),
        ("slopes", {"bandwidth": 0}, "bandwidth=0: use a finite number above 0"),
        ("predictions", {"by": "g"}, "by='g' is not a variable of the fit"),
        ("predictions", {"by": "a"}, "more than 100"),
        ("predictions", {"by": []}, "names no column"),
        ("predictions", {"at": {}}, "no mapping of variables"),
        ("predictions", {"at": {"a": []}}, "no value for 'a'"),
        ("predictions", {"at": {"g": 1}}, "no predictor is computed from 'g'"),
        ("predictions", {"level": 1.5}, "level="),
        ("predictions", {"population": "yes"}, "population="),
    ],
)
def test_bad_arguments_are_named(number_forest, method, options, message):
    with pytest.raises(InputError, match=message):
        getattr(number_forest, method)(**options)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_groups_of_new_rows_may_be_any_column(number_forest, table):
    data = table.assign(ward=np.arange(len(table)) % 2)
    found = number_forest.predictions(by=["ward", "f"], newdata=data).table
    assert len(found) == 6
    expected = number_forest.predict(data[(data["ward"] == 1) & (data["f"] == "y")]).mean()
    row = found[(found["ward"] == 1) & (found["f"] == "y")]
    assert row["estimate"].iloc[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_fit_saved_without_its_rows_needs_new_ones(number_forest, table, tmp_path):
    number_forest.save(tmp_path / "fit.odrf", data=False)
    fit = odrf.load(tmp_path / "fit.odrf")
    with pytest.raises(InputError, match="saved without"):
        fit.predictions()


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_plots_have_a_point_for_each_estimate(class_forest):
    effects = class_forest.comparisons()
    ax = effects.plot()
    assert len(ax.lines[-1].get_xdata()) == len(effects.table)
    assert len(ax.get_yticklabels()) == len(effects.table)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("n", [24, 40, 44, 60])
def test_a_quarter_of_the_rows_reaches_a_quarter_of_the_weight(n):
    """Sums of shares such as 1/24 + … may be below a quarter by rounding."""
    data = pd.DataFrame({"a": np.arange(1.0, n + 1), "b": np.arange(n) % 7})
    data["y"] = data["a"] + data["b"]
    fit = odrf.odrf("y ~ a + b", data, n_trees=4, seed=1)
    contrast = fit.comparisons("a", contrast="iqr").table["contrast"]
    assert contrast.tolist() == [f"Q3 - Q1 ({n // 4} to {3 * n // 4})"]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_standard_deviation_is_that_of_known_numbers_by_their_weights():
    numbers = pd.Series([1.0, 2.0, np.nan, 4.0, 9.0])
    found = deviation_of(numbers, np.array([1.0, 2.0, 5.0, 3.0, 0.0]))
    assert found == pytest.approx(np.repeat([1.0, 2.0, 4.0], [1, 2, 3]).std())
    rng = np.random.default_rng(1)
    for n in range(2, 40):
        assert deviation_of(pd.Series(np.full(n, 0.3)), rng.random(n)) == 0
    assert deviation_of(pd.Series([np.nan]), np.ones(1)) == 0


def with_weights(results, weights):
    """Return results of a fit of an older version, which has rows of weight 0 among its rows."""
    data = replace(results.fit.data, weights=weights)
    return type(results)(replace(results.fit, training=data))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_variable_known_in_rows_of_weight_zero_only_has_no_effect():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    data["y"] = data["a"] + data["b"] / 9
    weights = np.ones(60)
    weights[:3] = 0.0
    data.loc[3:, "b"] = np.nan
    with pytest.raises(InputError, match="'b' is missing in every training row"):
        odrf.odrf("y ~ a + b", data, weights=weights, n_trees=8, seed=1)
    fit = with_weights(odrf.odrf("y ~ a + b", data, n_trees=8, seed=1), weights)
    assert list(fit.slopes().table["term"]) == ["a"]
    assert list(fit.explain(data.iloc[[0]]).slopes.index) == ["a"]
    assert fit.comparisons("b").table["estimate"].tolist() == [0.0]
    with pytest.raises(InputError, match="'b' has the same value"):
        fit.slopes("b")
    with pytest.raises(InputError, match="'b' is empty in all training rows of positive weight"):
        fit.comparisons("b", contrast="iqr")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_summary_says_why_there_is_no_test_where_all_trees_agree():
    data = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40.0)})
    fit = odrf.odrf("y ~ a", data, n_trees=20, resample="subsample", max_leaves=1, seed=1)
    found = fit.comparisons("a", target="forest")
    assert found.table["std_error"].iloc[0] == 0
    assert found.table["p_value"].isna().all()
    for text in (str(found.summary()), str(found.hypotheses("b1 = 0").summary())):
        assert "all trees agree" in text and " inf " not in text


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_ratio_to_0_has_a_reason():
    data = pd.DataFrame({"a": np.arange(40.0), "y": np.repeat([0.0, 1.0], 20)})
    fit = odrf.odt("y ~ a", data, alpha=None, projection="axis", seed=1)
    found = fit.comparisons("a", contrast=[5.0, 35.0], comparison="ratio")
    assert np.isinf(found.table["estimate"].iloc[0])
    assert "inf where it divides by a prediction of 0" in str(found.summary())


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_too_many_pairs_are_refused_at_once():
    data = pd.DataFrame({"f": [f"l{k}" for k in range(70)] * 3, "y": np.arange(210.0) % 7})
    fit = odrf.odrf("y ~ f", data, n_trees=9, inference=True, seed=1)
    found = fit.comparisons("f", contrast="reference")
    with pytest.raises(InputError, match="would test 2346 differences of 69 estimates: name"):
        found.hypotheses()
    assert len(found.hypotheses("b1 = b2").table) == 1


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_group_of_empty_cells_is_called_missing():
    data = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40.0)})
    data["day"] = pd.to_datetime(["2020-01-01", None] * 20)
    fit = odrf.odt("y ~ a + day", data, seed=1)
    shown = str(fit.predictions(by="day").summary())
    assert "missing" in shown and "NaT" not in shown


@pytest.fixture(scope="module")
def timed():
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(size=60), "f": rng.choice(["u", "v"], 60)})
    data["day"] = pd.date_range("2020-01-01", periods=60)
    data["zone"] = data["day"].dt.tz_localize("Europe/Vienna")
    data["date"] = data["day"].dt.date
    data["wait"] = pd.to_timedelta(np.arange(60), "D")
    data["month"] = pd.period_range("2020-01", periods=60, freq="M")
    return data.assign(y=data["a"] + np.arange(60) / 30)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_dates_and_durations_are_compared_only_if_they_are_asked_for(timed):
    fit = odrf.odt("y ~ .", timed, seed=1)
    assert fit.comparisons().table["term"].tolist() == ["a", "f"]
    assert fit.comparisons(contrast="iqr").table["term"].tolist() == ["a", "f"]
    for name, held in {"day": "dates", "wait": "durations", "month": "periods"}.items():
        with pytest.raises(InputError, match=rf"'{name}' holds {held}: give two .*contrast=\("):
            fit.comparisons(["a", name])
    alone = odrf.odt("y ~ day + wait", timed, seed=1)
    with pytest.raises(InputError, match=r"'day' holds dates: give two .*contrast=\("):
        alone.comparisons()


TEXTS = {
    "day": ("2020-01-05", "2020-02-20", pd.Timestamp),
    "zone": ("2020-01-05", "2020-02-20", lambda text: pd.Timestamp(text, tz="Europe/Vienna")),
    "date": ("2020-01-05", "2020-02-20", lambda text: pd.Timestamp(text).date()),
    "wait": ("3 days", "50 days", pd.Timedelta),
    "month": ("2020-03", "2023-05", lambda text: pd.Period(text, "M")),
}


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("name", TEXTS)
def test_dates_and_durations_may_be_written_as_text(name, timed):
    *pair, parsed = TEXTS[name]
    fit = odrf.odt(f"y ~ {name}", timed, alpha=None, seed=1)
    found = fit.comparisons(name, contrast=pair).table
    assert found["contrast"].tolist() == [f"{pair[1]} - {pair[0]}"]
    assert found["estimate"].iloc[0] > 0
    expected = fit.comparisons(name, contrast=[parsed(text) for text in pair]).table
    assert found["estimate"].equals(expected["estimate"])
    at_text = fit.predictions(at={name: pair}).table["estimate"]
    assert at_text.iloc[1] - at_text.iloc[0] == pytest.approx(found["estimate"].iloc[0])
    for misfit in ("yesterday evening", 3):
        with pytest.raises(InputError, match=f"{misfit!r} is none of the .* that '{name}' holds"):
            fit.comparisons(name, contrast=(pair[0], misfit))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_decimals_of_arrow_have_slopes():
    pa = pytest.importorskip("pyarrow")
    numbers = np.arange(40) / 4
    data = pd.DataFrame({"y": numbers, "a": numbers})
    decimal = data.assign(a=data["a"].astype(pd.ArrowDtype(pa.decimal128(9, 2))))
    given, plain = (odrf.odt("y ~ a", each, seed=1) for each in (decimal, data))
    pd.testing.assert_frame_equal(given.slopes("a").table, plain.slopes("a").table)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_objects_with_empty_cells_have_effects(number_forest, table):
    rows = table.head(20)
    holes = rows.assign(a=rows["a"].where(rows["b"] > rows["b"].median()))
    objects = holes.assign(a=holes["a"].astype(object).where(holes["a"].notna(), pd.NA))
    for method in ("comparisons", "slopes"):
        found = getattr(number_forest, method)("a", newdata=objects).table
        pd.testing.assert_frame_equal(
            found, getattr(number_forest, method)("a", newdata=holes).table
        )


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.parametrize("dtype", ["boolean", object])
def test_truths_with_an_empty_cell_remain_truths(table, dtype):
    data = table.reset_index(drop=True).assign(t=lambda data: (data["b"] > 0).astype(dtype))
    data.loc[3, "t"] = pd.NA
    fit = odrf.odrf("y ~ a + t", data, n_trees=20, seed=1)
    assert fit.comparisons("t").table["contrast"].tolist() == ["True - False"]
    assert fit.slopes().table["term"].unique().tolist() == ["a"]
    assert fit.partial("t").table["value"].tolist() == [False, True]
    with pytest.raises(InputError, match="'t' is no number in the fit"):
        fit.slopes("t")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_errors_of_slopes_whose_squares_are_beyond_the_range_of_floats_are_known(table):
    unit = 2.0**-980
    fits = [
        odrf.odrf("y ~ a + f", table.assign(a=table["a"] * u), n_trees=8, seed=1, n_jobs=1)
        for u in (1.0, unit)
    ]
    usual, huge = (
        fit.slopes("a", bandwidth=0.5 * u, by="f") for fit, u in zip(fits, (1, unit), strict=True)
    )
    assert huge.table["std_error"].notna().all()
    for name in ("estimate", "std_error"):
        np.testing.assert_allclose(huge.table[name] * unit, usual.table[name], rtol=1e-9)
    pairs = [each.hypotheses(joint=True) for each in (usual, huge)]
    np.testing.assert_allclose(*(each.table["statistic"] for each in pairs), rtol=1e-6)
    assert pairs[0].joint.statistic == pytest.approx(pairs[1].joint.statistic, rel=1e-6)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.filterwarnings("error")
def test_what_does_not_vary_in_a_sample_has_no_negative_variance(class_forest):
    effects = class_forest.predictions(by="f", population=True)
    K = len(class_forest.classes)
    sums = np.kron(np.eye(len(effects.table) // K), np.ones(K))  # of probabilities: 1
    tests = effects.hypotheses(np.concatenate([sums, sums / 3, sums * 0.7]))
    np.testing.assert_allclose(tests.table["std_error"], 0.0, atol=1e-8)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_cards_have_both_ends_of_intervals_and_the_names_of_hypotheses(class_forest):
    for effects in (class_forest.comparisons("a", by="f"), class_forest.predictions(by="f")):
        heading, first = repr(effects).splitlines()[2:4]
        assert "conf_low" in heading and "conf_high" in heading
        assert first.startswith("b1 ")
    assert "term" not in heading


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_levels_are_shown_with_all_digits_and_only_where_there_are_intervals(fits):
    found = fits["forest"].predictions(level=0.975)
    assert "97.5%" in repr(found) and "97.5%" in str(found.summary())
    without = fits["boosted"].predictions()
    assert "Intervals" not in repr(without) and "Intervals" not in str(without.summary())
    assert "none: summary() says why" in repr(without) and "p_value" not in repr(without)


@pytest.fixture(scope="module", params=["C(k)", "factor(k, levels=[3, 1, 2])", "C(`a number`)"])
def fit_on_levels(request):
    """A forest on numbers that are levels, and the name of their column."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"k": rng.integers(1, 4, 150), "b": rng.normal(size=150)})
    data = data.assign(**{"a number": data["k"]}, y=data["k"] + data["b"])
    name = "a number" if "number" in request.param else "k"
    return odrf.odrf(f"y ~ {request.param} + b", data, n_trees=20, inference=True, seed=1), name


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
@pytest.mark.filterwarnings("error:.* has levels that no training row has")
def test_numbers_that_are_levels_have_the_effects_of_a_factor(fit_on_levels):
    fit, name = fit_on_levels
    found = fit.comparisons().table
    assert found.loc[found["term"] == name, "contrast"].tolist() == ["2 - 1", "3 - 1"]
    pairs = fit.comparisons(name, contrast="pairwise").table
    assert pairs["contrast"].tolist() == ["2 - 1", "3 - 1", "3 - 2"]
    assert (pairs["estimate"] > 0.4).all()
    assert fit.slopes().table["term"].tolist() == ["b"]
    with pytest.raises(InputError, match=f"{name!r} is no number in the fit, .* comparisons"):
        fit.slopes(name)
    assert fit.partial(name, points=2).table["value"].tolist() == [1, 2, 3]
    assert set(fit.ale(name).table["value"]) == {1, 2, 3}
    nearest = fit.explain({name: 1, "b": 0.0}, change=0.3).changes
    assert fit.explain({name: 1, "b": 0.0}).slopes.index.tolist() == ["b"]
    assert nearest.loc[nearest["variables"] == name, "values"].tolist() == ["2"]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_summary_without_standard_errors_has_no_empty_columns(number_tree):
    text = str(number_tree.comparisons().summary())
    assert "estimate" in text
    assert not any(name in text for name in ("std_error", "p_value", "conf_low"))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_columns_named_like_those_of_the_table_are_beside_them(class_forest, table):
    named = table.rename(columns={"f": "class", "b": "estimate"})
    fit = odrf.odrf("c ~ a + estimate + class", named, n_trees=12, seed=1)
    found = fit.predictions(by="class", at={"estimate": [0.0, 50.0]})
    expected = class_forest.predictions(by="f", at={"b": [0.0, 50.0]}).table
    names = ["term", "contrast", "estimate_", "class_", "class", *NUMBERS]
    assert list(found.table.columns) == names
    assert found.table["estimate"].tolist() == expected["estimate"].tolist()
    assert found.table["class_"].tolist() == expected["f"].tolist()
    assert found.table["estimate_"].tolist() == expected["b"].tolist()
    assert "class_" in str(found.summary())
    ward = table.assign(term=np.arange(120) % 2)
    assert "term_" in str(class_forest.predictions(by="term", newdata=ward).summary())


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_column_that_is_set_makes_no_groups(number_forest):
    for method in (number_forest.predictions, number_forest.slopes):
        with pytest.raises(InputError, match="'f' is in by= and in at="):
            method(by="f", at={"f": ["x", "y"]})


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_a_number_that_is_constant_in_the_rows_that_count_has_no_slope(table):
    weights = np.r_[np.zeros(40), np.ones(80)]
    data = table.assign(k=np.r_[np.arange(40.0), np.full(80, 0.3)])
    fit = with_weights(odrf.odrf("y ~ a + k", data, n_trees=12, seed=1), weights)
    assert fit.slopes().table["term"].tolist() == ["a"]
    assert fit.comparisons("k").table["contrast"].tolist() == ["+1 sd (0)"]
    with pytest.raises(InputError, match="group of training rows that all have the weight 0"):
        fit.predictions(by="k")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_of_two_classes_contrasts_are_those_of_the_event_alone():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=100), "f": rng.choice(list("uvw"), 100)})
    table["c"] = np.where(table["a"] + rng.normal(size=100) > 0, "yes", "no")
    fit = odrf.odrf("c ~ a + f", table, n_trees=60, seed=1)
    effects = fit.comparisons("f", population=True)
    assert effects.table["class"].tolist() == ["yes", "yes"]
    assert effects.covariance.shape == (2, 2) and (effects.table["std_error"] > 0).all()
    shares = fit.predictions(at={"f": ["u", "v"]}).table
    share = shares.loc[shares["class"] == "yes", "estimate"].to_numpy()
    assert effects.table["estimate"][0] == pytest.approx(share[1] - share[0])
    (tested,) = effects.hypotheses().table["estimate"]
    between = effects.table["estimate"]
    assert abs(tested) == pytest.approx(abs(between[1] - between[0]))
    assert fit.slopes("a").table["class"].tolist() == ["yes"]


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_an_error_that_rounding_leaves_is_0():
    labels = pd.DataFrame({"term": ["a", "b", "c"]})
    found = with_errors(labels, np.array([0.5, 0.5, 0.0]), np.array([9e-17, 9e-3, np.nan]), 0.95)
    assert found["std_error"].tolist() == pytest.approx([0.0, 9e-3, np.nan], nan_ok=True)
    assert found["p_value"].isna().tolist() == [True, False, True]


# ------------------------------------------------------------------------------------------------
# Ratios of averages, some of which divide by 0.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ratios():
    """Ratios of the probabilities of u and v, of which the second and the fourth are infinite."""
    rng = np.random.default_rng(1)
    level = np.repeat(["a", "b", "c"], 40)
    y = np.where((level == "a") | (rng.random(120) < 0.5), "u", "v")
    data = pd.DataFrame({"f": level, "y": y})
    fit = odrf.odrf("y ~ f", data, n_trees=20, blend=False, seed=1)
    return fit.comparisons("f", comparison="ratio", target="forest")


@pytest.mark.filterwarnings(
    "ignore:.* trees are few for standard errors:UserWarning", "ignore::RuntimeWarning"
)
def test_covariances_with_infinite_ratios_are_unknown(ratios):
    finite = np.isfinite(ratios.table["estimate"].to_numpy())
    assert finite.tolist() == [True, False, True, False]
    known = ratios.covariance[np.ix_(finite, finite)]
    errors = ratios.table["std_error"].to_numpy()
    np.testing.assert_allclose(np.diagonal(known), errors[finite] ** 2)
    assert np.isfinite(known).all() and known[0, 1] != 0
    assert np.isnan(ratios.covariance[~finite]).all()
    assert np.isnan(ratios.covariance[:, ~finite]).all()


@pytest.mark.filterwarnings(
    "ignore:.* trees are few for standard errors:UserWarning", "ignore::RuntimeWarning"
)
@pytest.mark.parametrize("hypothesis", [["b1 = 1", "b3 = 1"], [[1, 0, 0, 0], [0, 0, 1, 0]]])
def test_finite_ratios_are_tested_beside_infinite_ones(ratios, hypothesis):
    tests = ratios.hypotheses(hypothesis, joint=True)
    alone = ratios.table.iloc[[0, 2]]
    np.testing.assert_allclose(tests.table["std_error"], alone["std_error"])
    off = isinstance(hypothesis[0], str)
    np.testing.assert_allclose(tests.table["estimate"], alone["estimate"] - off)
    assert tests.joint.df == 2 and np.isfinite(tests.joint.statistic)
    assert np.isfinite(tests.covariance).all()


@pytest.mark.filterwarnings(
    "ignore:.* trees are few for standard errors:UserWarning", "ignore::RuntimeWarning"
)
@pytest.mark.parametrize("hypothesis", ["pairwise", np.eye(4), [[0, 1, 0, 0]]])
def test_hypotheses_about_infinite_ratios_are_refused(ratios, hypothesis):
    with pytest.raises(InputErrorInfiniteRatios, match="b2 has no finite value"):
        ratios.hypotheses(hypothesis)


@pytest.mark.filterwarnings(
    "ignore:.* trees are few for standard errors:UserWarning", "ignore::RuntimeWarning"
)
def test_a_ratio_of_0_to_0_has_a_reason(ratios):
    assert "NaN where both" not in str(ratios.summary())
    data = pd.DataFrame({"a": np.arange(40.0), "y": np.repeat([0.0, 1.0], 20)})
    fit = odrf.odt("y ~ a", data, alpha=None, projection="axis", seed=1)
    found = fit.comparisons("a", contrast=[5.0, 6.0], comparison="ratio")
    assert np.isnan(found.table["estimate"].iloc[0])
    assert "NaN where both predictions are 0" in str(found.summary())


# ------------------------------------------------------------------------------------------------
# Numbers that variables are set to, beyond those of the training rows, are warned of.
# ------------------------------------------------------------------------------------------------

WARNING = "'a' is set to 2, but the training rows have 0.*predictions beyond"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"a": rng.random(80), "k": rng.integers(1, 4, 80), "b": rng.random(80) > 0.5}
    )
    return rows.assign(y=rows["a"] + rows["k"])


@pytest.fixture(scope="module")
def forest(data):
    return odrf.odrf("y ~ a + C(k) + b", data, n_trees=40, inference=True, seed=1)


CALLS = {
    "predictions": lambda fit, a: fit.predictions(at={"a": [0.5, a]}),
    "comparisons": lambda fit, a: fit.comparisons("a", contrast=(0.5, a)),
    "at": lambda fit, a: fit.comparisons("b", at={"a": a}),
    "partial": lambda fit, a: fit.partial("a", values=[0.5, a]),
}


@pytest.mark.filterwarnings("ignore:.*trees are few")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_number_beyond_the_training_rows_warns(forest, call):
    with pytest.warns(UserWarning, match=WARNING):
        call(forest, 2.0)


@pytest.mark.filterwarnings("error:.*is set to")
@pytest.mark.filterwarnings("ignore:.*trees are few")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_ends_of_the_range_do_not(forest, data, call):
    call(forest, data["a"].max())
    call(forest, data["a"].min())


@pytest.mark.filterwarnings("error:.*is set to")
@pytest.mark.filterwarnings("ignore:.*trees are few")
def test_levels_and_truths_are_left_alone(forest):
    forest.predictions(at={"k": [1, 3], "b": [True, False]})
    forest.predictions(at={"b": True})
    forest.comparisons("k", contrast=(1, 3))


@pytest.mark.filterwarnings("ignore:.*trees are few")
def test_rows_without_weight_do_not_count(data):
    data = pd.concat([data, data.head(1).assign(a=9.0)]).assign(w=[1.0] * len(data) + [0.0])
    fit = odrf.odrf("y ~ a", data, weights="w", n_trees=40, inference=True, seed=1)
    with pytest.warns(UserWarning, match=WARNING):
        fit.predictions(at={"a": 2})
