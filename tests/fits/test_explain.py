"""Trees with surrogates: which they are, and that every way through the code goes by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.explain import predicted_at
from odrf.fits.fit import raw_rows
from reference.surrogates import sent, surrogates

N = 200
PROJECTIONS = ["axis", "logistic", "least_squares", "sparse"]


def table(seed: int = 0, holes: str = "abefg", share: float = 0.3, n: int = N) -> pd.DataFrame:
    """Numbers that predict each other, a factor of three levels, and one of twelve."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    data["b"] += data["a"]
    data["c"] -= data["a"]
    data["f"] = np.where(data["a"] + rng.normal(size=n) / 2 > 0, "u", rng.choice(list("uvw"), n))
    data["g"] = rng.choice([f"level {k}" for k in range(12)], n)
    signal = data["a"] + 2 * data["d"] + (data["f"] == "v")
    data["y"] = signal + rng.normal(size=n) / 4
    data["k"] = np.where(signal > 1, "high", np.where(signal < -1, "low", "mid"))
    for name in holes:
        data.loc[rng.random(n) < share, name] = np.nan
    return data


def grown(data: pd.DataFrame, response: str = "y", **options) -> odrf.ODTResults:
    data = data.drop(columns={"y": "k", "k": "y"}[response])
    return odrf.odt(f"{response} ~ .", data, **{"missing": "surrogate", "seed": 1, **options})


def columns_of(data: pd.DataFrame, design) -> list:
    """Return the predictors as the reference takes them, numbers scaled as by the design."""
    out = []
    for j, name in enumerate(design.predictors):
        column = data[name]
        if column.dtype.kind == "f":
            low, span = design.scaling.low[design.first[j]], design.scaling.range[design.first[j]]
            out.append(((column - low) / span).to_numpy(np.float32).astype(float))
        else:
            out.append([None if pd.isna(level) else level for level in column])
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(PROJECTIONS), st.booleans(), st.integers(20, 90))
def test_surrogates_of_the_root_agree_most_and_send_rows_as_the_reference(
    seed, projection, weighted, n
):
    data = table(seed, n=n)
    weights = np.random.default_rng(seed).integers(1, 4, n).astype(float) if weighted else None
    tree = grown(data, projection=projection, max_leaves=2, weights=weights, split_search="exact")
    forest, design = tree.forest, tree.fit.design
    if forest.left[0] < 0:
        return
    weights = np.ones(n) if weights is None else weights
    columns, X = columns_of(data, design), tree.fit.data.X
    index = forest.index[: forest.start[1]]
    used = set((np.searchsorted(design.first, index, side="right") - 1).tolist())
    known = [all(pd.notna(data[design.predictors[j]].iloc[i]) for j in used) for i in range(n)]
    dense = np.array([X[int(column)] for column in index])
    projected = np.zeros(n, dtype=np.float32)
    for coef, column in zip(forest.coef[: forest.start[1]], dense, strict=True):
        projected += coef * column
    side = [
        bool(value <= forest.threshold[0]) if k else None
        for value, k in zip(projected, known, strict=True)
    ]
    expected = surrogates(columns, side, weights, used)
    splits = forest.surrogates
    alone = [
        s
        for s in range(splits.first[1])
        if len(set(splits.marks.predictor[splits.column[splits.start[s] : splits.start[s + 1]]]))
        == 1
    ]
    # an oblique surrogate may have taken the place of the last
    expected = expected[: len(alone)] if len(used) > 1 else expected
    np.testing.assert_allclose([splits.adj[s] for s in alone], [adj for adj, _ in expected])
    np.testing.assert_allclose(
        [splits.agree[s] for s in alone], [surrogate.agreement for _, surrogate in expected]
    )
    assert [int(splits.marks.predictor[splits.column[splits.start[s]]]) for s in alone] == [
        surrogate.predictors[0] for _, surrogate in expected
    ]
    if len(alone) == splits.first[1]:
        rows, counts = sent(side, weights, [surrogate for _, surrogate in expected])
        assert (leaf_nodes(forest, X, 1)[:, 0] == 1).tolist() == rows
        assert splits.n_split.tolist() == counts


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("response", ["y", "k"])
def test_rows_are_routed_as_in_growth_and_one_by_one(projection, response):
    data = table()
    tree = grown(data, response, projection=projection, alpha=None)
    forest = tree.forest
    leaf = leaf_nodes(forest, tree.fit.data.X, 1)[:, 0]
    counts = np.bincount(leaf, minlength=forest.n_nodes)
    assert (counts == forest.count)[forest.is_leaf()].all()
    assert forest.surrogates.n_split.sum() > 0
    new = table(seed=5, holes="abcdefg")
    predicted, one = tree.predict(new), tree.row_predictor()
    assert predicted.notna().all()
    assert predicted.tolist() == [one(row) for row in new[list("abcdefg")].to_dict("records")]


@pytest.mark.parametrize("projection", PROJECTIONS)
def test_complete_tables_give_the_same_bits_as_without_surrogates(projection):
    data = table(holes="")
    new = table(seed=5, holes="")
    trees = [
        grown(data, missing=choice, projection=projection) for choice in ("surrogate", "raise")
    ]
    one, other = (tree.predict(new) for tree in trees)
    assert one.to_numpy().tobytes() == other.to_numpy().tobytes()
    assert trees[0].rules() == trees[1].rules()


def test_a_row_takes_the_first_surrogate_that_it_has_values_for():
    data = table(holes="")
    data["d2"], data["d3"] = data["d"] * 2, np.round(data["d"])
    tree = grown(data, projection="axis", max_leaves=2)
    first = tree.splits["predictor"][0]
    twin = {"d": "d2", "d2": "d"}[first]
    assert tree.surrogates["surrogate"].str.split().str[0].tolist()[:2] == [twin, "d3"]
    assert tree.surrogates["agree"][0] == tree.surrogates["adj"][0] == 1.0
    complete = tree.predict(data)
    assert tree.predict(data.assign(**{first: np.nan})).equals(complete)
    by_third = tree.predict(data.assign(d=np.nan, d2=np.nan))
    assert (by_third == complete).mean() == pytest.approx(tree.surrogates["agree"][1])
    nothing = data.assign(**dict.fromkeys(["d", "d2", "d3", *"abcefg"], np.nan))
    larger = tree.nodes.loc[[1, 2]].sort_values("count")["value"].iloc[-1]
    assert (tree.predict(nothing) == larger).all()


def test_an_oblique_split_has_an_oblique_surrogate():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(400, 2)), columns=list("ab"))
    data["u"] = data["a"] + rng.normal(size=400) / 10
    data["v"] = data["b"] + rng.normal(size=400) / 10
    data["y"] = np.where(data["a"] + data["b"] > 0, 1.0, -1.0)
    tree = odrf.odt(
        "y ~ .", data, projection="least_squares", n_singles=0, subset_size=2, n_projections=60,
        max_leaves=2, kind="regression", missing="surrogate", seed=1,
    )  # fmt: skip
    used = set(tree.splits["predictor"])
    best = tree.surrogates.iloc[0]
    other = {"a", "b", "u", "v"} - used
    assert len(used) == 2 and all(f"*{name}" in best["surrogate"] for name in other)
    assert best["agree"] > 0.9
    hidden = data.assign(**dict.fromkeys(used, np.nan))
    same = tree.predict(hidden) == tree.predict(data)
    assert same.mean() == pytest.approx(best["agree"])


@pytest.mark.parametrize("options", [{"honest": True}, {"alpha": "1se"}, {"class": True}])
def test_trees_with_a_third_of_the_cells_empty_predict_much_better_than_a_constant(options):
    response = "k" if options.pop("class", False) else "y"
    data, new = table(n=600), table(seed=9, n=600)
    tree = grown(data, response, **options)
    if response == "k":
        chance = (new["k"] != data["k"].mode()[0]).mean()
        assert (tree.predict(new) != new["k"]).mean() < 0.8 * chance
    else:
        chance = ((new["y"] - data["y"].mean()) ** 2).mean()
        assert ((tree.predict(new) - new["y"]) ** 2).mean() < 0.8 * chance


def test_surrogates_live_through_pruning_saving_and_any_number_of_threads(tmp_path):
    data = table()
    tree = grown(data, alpha=None, n_jobs=1)
    small = tree.prune(leaves=4)
    kept = set(small.nodes.index[~small.nodes["leaf"]])
    assert set(small.surrogates["node"]) <= kept
    tree.save(tmp_path / "tree.odrf")
    again = odrf.load(tmp_path / "tree.odrf")
    assert again.surrogates.equals(tree.surrogates)
    assert again.predict(data).equals(tree.predict(data))
    other = grown(data, alpha=None, n_jobs=3)
    assert other.surrogates.equals(tree.surrogates)
    assert other.predict(data).equals(tree.predict(data))


@pytest.mark.parametrize("honest", [False, True])
def test_an_updated_tree_sends_rows_by_surrogates(honest):
    tree = grown(table(), alpha=None, honest=honest)
    more = tree.update(table(seed=3, n=300))
    forest, data = more.forest, more.fit.data
    assert len(forest.surrogates.first) == forest.n_nodes + 1
    leaf = leaf_nodes(forest, data.X, 1)[:, 0]
    if not honest:
        counts = np.bincount(leaf, minlength=forest.n_nodes)
        assert (counts == forest.count)[forest.is_leaf()].all()
    assert set(more.surrogates["node"]) <= set(np.flatnonzero(forest.is_split()))


def test_splits_and_rules_say_nothing_of_empty_cells():
    tree = grown(table(), alpha=None)
    assert "missing" not in tree.rules() and "fill" not in tree.splits
    assert "missing" not in "".join(tree.surrogates["surrogate"])


def test_the_summary_lists_surrogates():
    tree = grown(table(), max_leaves=8)
    text = str(tree.summary())
    assert "Surrogates (rows go left if" in text and "for which surrogates decide" in text
    first = tree.surrogates.iloc[0]
    assert f"{first['agree']:.3f}" in text
    (section,) = [table for table in tree.summary().tables if "n_split" in table]
    assert (section["split"] != "").sum() == section.index.nunique()
    many = grown(table(), alpha=None)
    assert "further surrogate" in str(many.summary())


@pytest.mark.parametrize("fit", [odrf.odrf, odrf.odbt, odrf.graf])
def test_other_fits_refuse_surrogates(fit):
    with pytest.raises(odrf.InputError, match=r'missing="surrogate" is for single trees.*use'):
        fit("y ~ a + b", table(), missing="surrogate")
    with pytest.raises(odrf.InputError, match="missing='surogate' is not known") as caught:
        fit("y ~ a + b", table(), missing="surogate")
    assert "surrogate" not in str(caught.value)


def test_families_that_rotate_all_predictors_refuse_surrogates():
    with pytest.raises(odrf.InputError, match=r'missing="surrogate".*use another projection='):
        grown(table()[list("abcdyk")], projection="rotation")


def test_a_tree_without_surrogates_says_how_to_get_them():
    tree = odrf.odt("y ~ a", pd.DataFrame({"a": range(9), "y": range(9)}), seed=1)
    with pytest.raises(odrf.InputError, match=r'fit with missing="surrogate"'):
        _ = tree.surrogates


# ------------------------------------------------------------------------------------------------
# The nearest values that change a prediction.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [False, True])
def test_a_row_with_its_own_category_alone_can_be_set_to_others(ordered):
    rng = np.random.default_rng(1)
    g = pd.Categorical(rng.choice(list("abc"), 90), ordered=ordered)
    data = pd.DataFrame({"x": rng.normal(size=90), "g": g})
    data["y"] = data["g"].cat.codes * 2.0 + data["x"]
    fit = odrf.odrf("y ~ x + g", data, n_trees=3, blend=False, seed=1)
    row = data[:1].assign(g=pd.Categorical([data["g"].iloc[0]], ordered=ordered))
    others = data[:1].loc[[0, 0, 0]].assign(g=pd.Categorical(list("abc"), ordered=ordered))
    found = predicted_at(fit.fit, raw_rows(fit.fit, row), {"g": list("abc")})
    np.testing.assert_array_equal(found[:, 0], fit.predict(others))


# ------------------------------------------------------------------------------------------------
# Which splits decide on one row.
# ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*no training row has:UserWarning")
def test_a_row_with_an_empty_cell_has_the_rules_of_the_tree():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=120), "f": rng.choice(["u", "v"], 120)})
    data["y"] = data["x"] + 2 * (data["f"] == "u") + rng.normal(size=120) / 5
    tree = odrf.odt("y ~ x + f", data, alpha=None, max_depth=2, seed=1)
    root = tree.explain(data.iloc[[0]]).rules[0].split(" <= ")[0].split(" > ")[0]
    for cells in ({"x": np.nan}, {"f": None}, {"f": "new"}):
        rules = tree.explain(data.iloc[[0]].assign(**cells)).rules
        assert len(rules) == 2
        assert rules[0].startswith(root)


# ------------------------------------------------------------------------------------------------
# Missing values filled by the values of near rows.
# ------------------------------------------------------------------------------------------------


def test_rows_may_have_fewer_categories_than_fill_them_or_no_value_at_all():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=90), "f": rng.choice(["u", "v"], 90)})
    data["g"] = pd.Categorical(np.where(data["x"] > 0.5, "a", "b"))
    data["y"] = data["x"] + (data["g"] == "a") + (data["f"] == "u")
    fit = odrf.odrf("y ~ x + f + g", data, n_trees=3, blend=False, seed=1)
    rows = pd.DataFrame({"x": [-1.0, -1.0], "f": [np.nan, np.nan]})
    rows["g"] = pd.Categorical(["a", None])
    found = fit.impute(rows)
    assert found["g"].tolist() == ["a", "b"]
    assert found["f"].isin(["u", "v"]).all()
    assert rows["g"].isna().tolist() == [False, True]
