"""Results of guided random forests."""

from __future__ import annotations

import re
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, simulate


@pytest.fixture(scope="module")
def weighted(table):
    """Unbalanced classes and case weights, some of them 0."""
    rare = np.where(table["a"] > 1, "rare", np.where(table["b"] > 0, "some", "most"))
    weights = np.random.default_rng(5).integers(0, 5, len(table)) / 2
    return table.assign(r=rare, w=weights)


@pytest.fixture(scope="module")
def classes(weighted):
    formula = "r ~ a + b + f"
    return odrf.graf(formula, weighted, n_trees=15, min_split=20, weights="w", seed=1)


@pytest.fixture(scope="module")
def numbers(table):
    return odrf.graf("y ~ a + b + f", table, n_trees=15, min_split=10, seed=1)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def values_of_rows(fit):
    """The values (n, B, K) of the leaves that the training rows reach."""
    return fit.guided.value[fit.predict(type="leaf").to_numpy() + fit.guided.root[:-1]]


def test_leaves_vote_by_equations_18_to_22(classes, weighted):
    w, r = weighted["w"].to_numpy(), weighted["r"].to_numpy()
    labels = classes.classes.tolist()
    inverse = {c: w.sum() / w[r == c].sum() for c in labels}
    assert max(inverse.values()) > 3 * min(inverse.values())
    leaves = classes.predict(type="leaf")
    impure = 0
    for b in leaves:
        for leaf in leaves[b].unique():
            here = (leaves[b] == leaf).to_numpy()
            if w[here].sum() == 0:
                continue
            share = {c: w[here & (r == c)].sum() / w[here].sum() for c in labels}
            total = sum(share[c] * inverse[c] for c in labels)
            h = np.array([share[c] * inverse[c] / total for c in labels])
            impure += h.max() < 1
            found = classes.guided.value[classes.guided.root[b] + leaf]
            np.testing.assert_allclose(found, np.log2(1 + h), rtol=1e-12)
    assert impure > 15


def test_the_class_has_the_largest_sum_of_votes(classes):
    """Equation (22)."""
    votes = values_of_rows(classes).sum(axis=1)
    one, other = np.sort(votes, axis=1)[:, -1], np.sort(votes, axis=1)[:, -2]
    assert (one - other > 1e-9).all()
    predicted = classes.classes[votes.argmax(axis=1)]
    assert (
        classes.predict().tolist() == classes.predict(type="class").tolist() == predicted.tolist()
    )
    prob = classes.predict(type="prob")
    assert list(prob.columns) == ["most", "rare", "some"]
    np.testing.assert_allclose(prob.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(prob, votes / votes.sum(axis=1, keepdims=True), rtol=1e-12)


def test_trees_predict_what_their_leaves_vote_for(classes, numbers):
    predicted = classes.classes.to_numpy()[values_of_rows(classes).argmax(axis=2)]
    trees = classes.predict(type="trees")
    assert trees.to_numpy().tolist() == predicted.tolist()
    assert trees.columns.name == "tree"
    values = values_of_rows(numbers)[:, :, 0]
    np.testing.assert_array_equal(numbers.predict(type="trees"), values)
    np.testing.assert_allclose(numbers.predict(), values.mean(axis=1), rtol=1e-12)


def test_leaves_of_numbers_hold_their_means(numbers, table):
    leaves = numbers.predict(type="leaf")
    for b in range(3):
        mean = table["y"].groupby(leaves[b]).mean()
        found = numbers.guided.value[numbers.guided.root[b] + mean.index, 0]
        np.testing.assert_allclose(found, mean, rtol=1e-12)
        assert numbers.codes(b)["value"].loc[mean.index].tolist() == found.tolist()


def test_training_error_and_residuals(classes, numbers, weighted):
    wrong = classes.predict() != weighted["r"]
    assert classes.training_error == pytest.approx(np.average(wrong, weights=weighted["w"]))
    assert numbers.training_error == pytest.approx((numbers.resid**2).mean())
    prob = classes.predict(type="prob")
    observed = [prob.loc[row, c] for row, c in weighted["r"].items()]
    np.testing.assert_allclose(classes.resid, 1 - np.array(observed), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("type", ["response", "class", "prob"])
def test_one_row_at_a_time(classes, weighted, type):
    predict_row = classes.row_predictor(type)
    rows = weighted[["a", "b", "f"]].to_numpy(object).tolist()
    expected = classes.predict(weighted, type)
    expected = expected.to_dict("records") if type == "prob" else expected.tolist()
    assert [predict_row(row) for row in rows] == expected


def test_one_row_of_numbers_at_a_time(numbers, table):
    predict_row = numbers.row_predictor()
    rows = table[["a", "b", "f"]].to_numpy(object).tolist()
    assert [predict_row(row) for row in rows] == numbers.predict(table).tolist()
    with pytest.raises(InputError, match="type='prob' needs classes"):
        numbers.row_predictor("prob")


def raw_columns(fit, data):
    """The columns of the design in the user's units, by their names."""
    indicators = {f"f[{level}]": (data["f"] == level) * 1.0 for level in "xyz"}
    return pd.DataFrame({"a": data["a"], "b": data["b"], **indicators})[list(fit.design.columns)]


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_codes_lead_rows_to_their_leaves(request, weighted, name):
    fit = request.getfixturevalue(name)
    raw, leaves = raw_columns(fit, weighted), fit.predict(type="leaf")
    for b in range(5):
        codes, planes = fit.codes(b), fit.planes(b)
        assert codes["code"].is_unique
        assert not any(two.startswith(one) for one, two in pairwise(sorted(codes["code"])))
        columns = list(planes.columns[:-2])
        beyond = raw[columns] @ planes[columns].T - planes["threshold"]
        # rounding may decide on which side of a plane a row lies that is on it
        clear = (beyond.abs() > 1e-5).all(axis=1)
        assert clear.mean() > 0.9
        for leaf, code in codes.iterrows():
            assert len(code["code"]) == len(code["planes"])
            assert all(one < two for one, two in pairwise(code["planes"]))
            bits = np.array(list(code["code"]), dtype=int)
            here = ((beyond[list(code["planes"])] > 0) == bits).all(axis=1)
            assert (here[clear] == (leaves[b] == leaf)[clear]).all()


def test_codes_count_rows_and_predict_classes(classes, weighted):
    drawn = weighted["w"] > 0
    for b in (0, 14):
        codes = classes.codes(b)
        counts = classes.predict(type="leaf")[b][drawn].value_counts()
        assert codes["count"].to_dict() == counts.to_dict()
        predicted = (
            classes.predict(type="trees")[b].groupby(classes.predict(type="leaf")[b]).first()
        )
        assert codes["prediction"].loc[predicted.index].tolist() == predicted.tolist()
        assert codes.index.name == "leaf"
        assert len(codes) == classes.n_leaves[b]


def test_planes_keep_the_coefficients_of_columns_with_names_of_theirs(table):
    named = table.rename(columns={"a": "threshold", "b": "divides"})
    planes = odrf.graf("y ~ threshold + divides", named, n_trees=1, subspace=2, seed=1).planes()
    plain = odrf.graf("y ~ a + b", table, n_trees=1, subspace=2, seed=1).planes()
    assert planes.columns[:2].tolist() == ["coefficient of threshold", "coefficient of divides"]
    assert (planes.to_numpy() == plain.to_numpy()).all()


def test_planes_count_what_they_divide(numbers):
    for b in (0, 14):
        planes = numbers.planes(b)
        assert planes.index.tolist() == list(range(1, numbers.n_planes[b] + 1))
        used = [plane for code in numbers.codes(b)["planes"] for plane in code]
        assert set(used) == set(planes.index)
        assert planes["divides"].sum() == numbers.n_inner[b] == numbers.n_leaves[b] - 1
        assert (planes["divides"] >= 1).all()


@pytest.mark.parametrize("tree", [15, -1, 1.0, True, "0"])
def test_no_such_tree(numbers, tree):
    for ask in (numbers.codes, numbers.planes):
        with pytest.raises(
            InputError, match=re.escape(f"tree={tree!r} is not a tree") + ".*0 to 14"
        ):
            ask(tree)


def test_size_of_the_model(numbers):
    columns = [len(numbers.planes(b).columns) - 2 for b in range(15)]
    sizes = [
        numbers.n_planes[b] * (M + 1) + 3 * numbers.n_inner[b] + numbers.n_leaves[b]
        for b, M in enumerate(columns)
    ]
    assert numbers.model_size == sum(sizes)


def test_growth_goes_from_all_impurity_to_that_of_the_leaves(numbers):
    growth, guided = numbers.growth, numbers.guided
    assert growth.index.tolist() == list(range(numbers.n_planes.max() + 1))
    assert growth.loc[0].tolist() == [1.0, 1.0, 1.0]
    assert (np.diff(growth["mean"]) <= 1e-12).all()
    total = guided.weight * guided.impurity
    last = [
        total[lo:hi][guided.left[lo:hi] < 0].sum() / total[lo] for lo, hi in pairwise(guided.root)
    ]
    assert growth["mean"].iloc[-1] == pytest.approx(np.mean(last))
    assert growth["high"].iloc[-1] == pytest.approx(np.quantile(last, 0.9))
    assert growth["low"].iloc[-1] == pytest.approx(np.quantile(last, 0.1))


def test_importances_add_up_to_the_impurity_removed(classes, numbers):
    for fit in (classes, numbers):
        guided, importance = fit.guided, fit.importance("impurity")
        removed = 0.0
        for lo, hi in pairwise(guided.root):
            total = guided.weight[lo:hi] * guided.impurity[lo:hi]
            removed += (total[0] - total[guided.left[lo:hi] < 0].sum()) / guided.weight[lo]
        assert importance["importance"].sum() == pytest.approx(removed / 15)
        assert importance["share"].sum() == pytest.approx(1)
        assert set(importance.index) == {"a", "b", "f"}
    with pytest.raises(InputError, match=r'type="permutation" needs out-of-bag rows.*"held_out"'):
        numbers.importance(type="permutation")
    with pytest.raises(InputError, match="type='gain' is not known"):
        numbers.importance(type="gain")


def test_noise_is_of_no_importance():
    data = simulate.friedman1(8).sample(200, seed=1)
    fit = odrf.graf("y ~ .", data.assign(x9=1.0), n_trees=60, subspace="all", seed=1)
    importance = fit.importance()["share"]
    assert importance["x9"] == 0
    assert importance[["x6", "x7", "x8"]].abs().max() < 0.1
    assert set(importance.index[:2]) < {"x1", "x2", "x4"}


def test_a_summary_counts_one_plane(table):
    one = odrf.graf("y ~ a + b", table, n_trees=2, trials=1, seed=1)
    assert re.search(r"Trials +1 plane per step", str(one.summary()))


def test_summary(classes, numbers, weighted):
    text = str(classes.summary())
    assert "Guided random forest: classification" in text
    assert "r (3 classes)" in text
    assert "2 predictors (sqrt)" in text
    assert re.search(r"Trials +2 planes per step", text)
    assert re.search(r"Min. split +20", text)
    assert f"{classes.training_error:.4g}" in text
    assert f"{classes.model_size} numbers" in text
    assert f"{classes.n_inner.sum() / classes.n_planes.sum():.1f}" in text
    assert "no row is out of bag" in " ".join(text.split())
    assert "Training MSE" in str(numbers.summary())
    assert "from the mean of the data" in text
    other = odrf.graf("r ~ a", weighted, n_trees=2, origin="region", subspace=1, seed=1)
    text = str(other.summary())
    assert "from the mean of the region" in text
    assert "1 predictor (fixed)" in text
    assert "ordered classes" not in text


def test_the_summary_says_that_the_order_of_classes_is_not_used(table):
    ordered = table.assign(c=pd.Categorical(table["c"], ["low", "mid", "top"], ordered=True))
    assert ordered["c"].notna().all()
    text = " ".join(str(odrf.graf("c ~ a", ordered, n_trees=2, seed=1).summary()).split())
    assert "The planes treat ordered classes as unordered." in text


def test_planes_say_what_empty_cells_count_as(table):
    holed = table.assign(b=table["b"].mask(np.arange(len(table)) % 4 == 0))
    fit = odrf.graf("c ~ a + b", holed, n_trees=2, subspace="all", seed=1)
    told = " ".join(str(fit.summary()).split())
    assert "count as the mean, with a coefficient of their own in planes: b 30." in told
    numbers = holed[["a", "b"]].fillna(holed["b"].mean())
    numbers["b[missing]"] = holed["b"].isna()
    for b in range(2):
        planes, codes = fit.planes(b), fit.codes(b)
        columns = planes.columns[:-2]
        sums = numbers[columns].to_numpy(float) @ planes[columns].to_numpy().T
        beyond = sums > planes["threshold"].to_numpy()
        leaves = codes.loc[fit.predict(type="leaf")[b]]
        for row, code, numbered in zip(beyond, leaves["code"], leaves["planes"], strict=True):
            assert code == "".join(str(int(row[number - 1])) for number in numbered)


def test_card(classes, numbers):
    assert repr(classes).startswith("Guided random forest of 15 trees: classification")
    assert "Training error rate" in repr(classes)
    lines = repr(numbers).splitlines()
    assert [line.split("  ")[1] for line in lines[1:]] == [
        "Formula", "Rows", "Predictors", "Planes", "Leaves", "Training MSE"
    ]  # fmt: skip
    leaves = numbers.n_leaves
    assert f"{leaves.mean():.1f} ({leaves.min()} to {leaves.max()})" in lines[5]


def test_no_theorem_covers_guided_planes(classes, numbers):
    for fit in (classes, numbers):
        report = fit.consistency()
        assert "not those of guided planes" in report.conclusion
        assert len(report.plot()) == 4
        assert report.conclusion in " ".join(str(report.summary()).split())
        table = report.table.set_index("condition")
        for condition in ("best direction is found", "best cut of a direction"):
            assert table.loc[condition, "verdict"] == "does not hold"
        assert table.loc["leaves of bounded size", "quantity"] == "down to min_split"
    verdict = classes.consistency().table.set_index("condition")["verdict"]
    assert verdict["variance or Gini index"] == "does not hold"


def test_residuals_of_training_rows_are_not_used_for_tails(table):
    """Leaves are pure: residuals of training rows are rounding errors."""
    report = odrf.graf("y ~ a + b", table, n_trees=3, subspace="all", seed=1).consistency()
    assert "tail index" not in report.evidence
    assert "tails are" not in str(report.summary())
    with pytest.raises(InputError, match="normal_quantiles needs a regression"):
        _ = report.normal_quantiles
    assert "no residuals" in report.plot()[1].texts[0].get_text()


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_a_saved_forest_comes_back(request, weighted, tmp_path, name):
    before = request.getfixturevalue(name)
    before.save(tmp_path / "guided.odrf")
    after = odrf.load(tmp_path / "guided.odrf")
    assert isinstance(after, odrf.results.GRAFResults)
    assert after.predict(weighted).equals(before.predict(weighted))
    assert after.codes(3).equals(before.codes(3))
    assert str(after.summary()) == str(before.summary())
    assert after.control == before.control


def test_a_forest_without_planes(table):
    data = table.assign(k=1.0)
    fit = odrf.graf("c ~ k", data, n_trees=3, seed=1)
    assert fit.n_planes.tolist() == [0, 0, 0]
    assert fit.codes()["code"].tolist() == [""]
    assert fit.planes().shape == (0, 2)
    assert fit.growth.to_numpy().tolist() == [[1.0, 1.0, 1.0]]
    # every class counts alike
    np.testing.assert_allclose(fit.predict(type="prob"), 1 / 3)
    assert "0.0" in str(fit.summary())
    assert len(fit.plot()) == 2
    assert "not those of guided planes" in fit.consistency().conclusion
