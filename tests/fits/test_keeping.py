"""Fits that are compact, or have no training rows: what they still do, and what they refuse."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.rows.coded import layout_of
from odrf.errors import InputError
from odrf.fits.files.soundness import require_sound_forest

ABSENT = "the training rows|the nodes of the trees"


def table(n=200):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.random((n, 3)), columns=list("abc"))
    data["f"] = pd.Categorical([f"l{k:02d}" for k in rng.integers(12, size=n)])
    data["g"] = pd.Categorical(rng.choice(["u", "v"], n))
    y = 3 * data.a + data.b * data.c + (data.f == "l03") + rng.normal(size=n) / 5
    return data.assign(y=y, k=np.where(y > y.median(), "high", "low"))


DATA = table()
NUMBERS, CLASSES = DATA.drop(columns="k"), DATA.drop(columns="y")
CASES = {
    "forest": lambda **o: odrf.odrf("y ~ .", NUMBERS, n_trees=8, seed=1, **o),
    "forest of classes": lambda **o: odrf.odrf("k ~ .", CLASSES, n_trees=8, seed=1, **o),
    "blend": lambda **o: odrf.odrf("k ~ .", CLASSES, n_trees=20, blend=True, seed=1, **o),
    "tree": lambda: odrf.odt("y ~ .", NUMBERS, seed=1),
    "boosted": lambda: odrf.odbt("y ~ .", NUMBERS, n_trees=8, seed=1),
    "boosted classes": lambda: odrf.odbt("k ~ .", CLASSES, n_trees=5, n_runs=3, seed=1),
}


@pytest.fixture(scope="module")
def fits():
    return {name: make() for name, make in CASES.items()}


def numbers_of(fit, rows):
    kind = "prob" if fit.kind == "classification" else "response"
    return fit.predict(rows, type=kind).to_numpy(dtype=float)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("bits", [32, 16])
def test_predictions_change_by_no_more_than_is_said(fits, name, bits):
    fit = fits[name]
    small = fit.compact(bits=bits)
    assert type(small) is type(fit)
    change = np.abs(numbers_of(small, DATA) - numbers_of(fit, DATA)).max()
    said = small.compaction().changes.loc["prediction", "largest change"]
    assert change == pytest.approx(said, abs=1e-12)
    assert said <= 1e-3
    assert small.n_leaves.tolist() == fit.n_leaves.tolist()
    sizes = small.compaction().table["MB"]
    assert sizes["compact trees"] < sizes["trees before"] / 1.5
    assert "Compact trees" in repr(small) and "Values of leaves" in str(small.summary())
    shown = f"{small.compaction().summary()} {small.compaction()!r}"
    assert " kB" in shown and not re.search(r"(?<![\d,.])0\.0(?![\d.])", shown)


@pytest.mark.parametrize("name", CASES)
def test_files_hold_compact_fits(fits, name, tmp_path):
    small = fits[name].compact()
    small.save(tmp_path / "small.odrf")
    again = odrf.load(tmp_path / "small.odrf")
    assert (numbers_of(again, DATA) == numbers_of(small, DATA)).all()
    assert again.compaction().changes.equals(small.compaction().changes)
    fits[name].save(tmp_path / "whole.odrf")
    sizes = [(tmp_path / f"{which}.odrf").stat().st_size for which in ("small", "whole")]
    assert sizes[0] < sizes[1]


def test_out_of_bag_predictions_and_those_of_each_tree_are_the_same(fits):
    fit = fits["forest"]
    small = fit.compact()
    assert small.oob_error == pytest.approx(fit.oob_error)
    assert small.error_path.to_numpy() == pytest.approx(fit.error_path.to_numpy())
    trees = [each.predict(DATA, type="trees").to_numpy() for each in (small, fit)]
    assert trees[0] == pytest.approx(trees[1])
    with pytest.raises(InputError, match=ABSENT):
        small.predict(DATA, type="leaf")


@pytest.mark.parametrize("name", ["forest", "forest of classes", "blend"])
@pytest.mark.parametrize("bits", [32, 16])
def test_a_forest_that_grows_compact_is_one_made_so(fits, name, bits):
    grown = CASES[name](compact=bits)
    made = fits[name].compact(bits=bits)
    tolerance = 2e-4 if bits == 16 else 1e-6
    assert numbers_of(grown, DATA) == pytest.approx(numbers_of(made, DATA), abs=tolerance)
    assert (grown.fit.streams == made.fit.streams).all()
    assert grown.oob_error == pytest.approx(made.oob_error, abs=0.01)
    changes = grown.compaction().changes
    assert changes.loc["value of a leaf", "largest change"] < 1e-4
    assert list(changes.index) == ["value of a leaf"]


def test_what_a_compact_fit_lacks_is_refused_with_the_reason(fits):
    small = fits["forest"].compact()
    for ask in (
        lambda: small.importance("impurity"),
        lambda: small.tree(0),
        lambda: small.grow(3),
        lambda: small.prune(alpha=0.1),
        lambda: small.projection_importance(),
        lambda: small.proximity(),
        lambda: small.predict(DATA.head(3), type="quantile"),
        lambda: small.update(NUMBERS),
        lambda: small.splits,
    ):
        with pytest.raises(InputError, match=r"compact\(\) has kept only what predicts"):
            ask()
    with pytest.raises(InputError, match=r"'a' is missing .* compact\(\) has not kept"):
        small.predict(DATA.assign(a=np.nan).head(2))
    with pytest.raises(InputError, match="are compact already"):
        small.compact()
    with pytest.raises(InputError, match="is not compact: use compact"):
        fits["forest"].compaction()
    with pytest.raises(InputError, match="bits=8: use 32 or 16"):
        fits["forest"].compact(bits=8)
    with pytest.raises(InputError, match="compact=8: use 32, 16 or None"):
        odrf.odrf("y ~ .", NUMBERS, n_trees=2, compact=8)
    with pytest.raises(InputError, match="compact=32 keeps only what predicts, and alpha="):
        odrf.odrf("y ~ .", NUMBERS, n_trees=2, compact=32, alpha=0.1)
    refitted = odrf.odbt("y ~ .", NUMBERS, n_trees=2, leaf_values="refit", seed=1)
    with pytest.raises(InputError, match="each round has values of its own"):
        refitted.compact()


def test_a_forest_pruned_out_of_bag_is_compact_without_its_rows():
    fit = odrf.odrf("y ~ .", NUMBERS, n_trees=8, alpha="oob", seed=1)
    with pytest.raises(InputError, match=r"use without_data\(\)\.compact\(\)"):
        fit.compact()
    small = fit.without_data().compact()
    assert numbers_of(small, DATA) == pytest.approx(numbers_of(fit, DATA), abs=1e-6)
    assert list(small.compaction().changes.index) == ["value of a leaf"]


def test_surrogates_are_refused():
    holes = NUMBERS.assign(a=NUMBERS.a.where(np.arange(len(NUMBERS)) % 5 > 0))
    tree = odrf.odt("y ~ .", holes, missing="surrogate", seed=1)
    with pytest.raises(InputError, match="keeps no surrogates"):
        tree.compact()


@pytest.mark.parametrize("name", CASES)
def test_a_fit_without_rows_predicts_and_refuses_the_rest(fits, name):
    fit = fits[name]
    bare = fit.without_data()
    assert (numbers_of(bare, DATA) == numbers_of(fit, DATA)).all()
    assert bare.nobs == len(DATA) and "left out" in repr(bare)
    for ask in (lambda: bare.predict(), lambda: bare.resid, lambda: bare.summary()):
        with pytest.raises(InputError, match=r"or made without them, by without_data\(\)"):
            ask()
    assert fit.fit.data.has_rows


@pytest.mark.parametrize("formula", ["y ~ .", "y ~ a + f + g + f:g", "y ~ a:b + f"])
@pytest.mark.parametrize("holes", [False, True])
def test_the_layout_of_no_rows_is_that_of_the_training_rows(formula, holes):
    data = NUMBERS.mask(NUMBERS["b"] < 0.1, other=np.nan) if holes else NUMBERS
    data = data.assign(y=NUMBERS.y)
    fit = odrf.odt(formula, data, max_depth=1, seed=1).fit
    own, blank = layout_of(fit.data.X), layout_of(fit.design.no_rows())
    assert fit.design.no_rows().shape == (len(fit.design.columns), 0)
    assert (own is None) == (blank is None)
    if own is not None and blank is not None:
        assert all(np.array_equal(a, b) for a, b in zip(own, blank, strict=True))


def test_unsound_compact_trees_are_refused(fits):
    fit = fits["forest"].compact().fit
    forest, p = fit.forest, len(fit.design.columns)
    require_sound_forest(forest, p, 1, 8)
    wrong = {
        "at": forest.at + 1,
        "words": forest.words[:-1],
        "level_words": forest.level_words[:3],
        "value": forest.value[:1],
        "n_of_tree": forest.n_of_tree[:-1],
        "layout": None,
        "n_stored": forest.n_stored - 1,
    }
    for name, value in wrong.items():
        state = forest.__getstate__() | {name: value}
        with pytest.raises(InputError, match="do not fit together"):
            require_sound_forest(type(forest)(**state), p, 1, 8)
