"""What is foreseen of a fit is what the fit takes, without the fit being made."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine import memory
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.growth.growth_scratch import ScratchPool
from odrf.engine.memory import in_bytes
from odrf.engine.randomness import streams
from odrf.engine.rows.sampling import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Sampling,
    draw_counts,
    rows_drawn_once,
)
from odrf.errors import InputError
from odrf.evaluation.foresight import of_forests, of_trees
from odrf.evaluation.foresight.foresight import in_time
from odrf.evaluation.foresight.pilot_rows import (
    OF_SIZES,
    OF_TIME,
    at_all_rows,
    pilot_rows,
    random_rows,
)
from odrf.fits.files.costs import bytes_in_memory


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((n, 5))).add_prefix("x")
    data["f"] = pd.Categorical([f"l{k}" for k in rng.integers(9, size=n)])
    y = data.x0 + data.x1 * data.x2 + rng.normal(size=n) / 4
    return data.assign(y=y, k=pd.qcut(y, 3, labels=list("abc")).astype(str))


DATA = table()
LIVES = odrf.simulate.proportional_hazards(p=5).sample(1500, seed=1)
RISKS = odrf.simulate.competing_risks(p=4).sample(1500, seed=1)
TIMES = "Surv(time, event) ~ ."
NUMBERS, CLASSES = DATA.drop(columns="k"), DATA.drop(columns="y")
COMMON = {"seed": 1, "n_jobs": 1}
CASES = {
    "one kind": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 60, "blend": False}),
    "few trees": ("k ~ .", CLASSES, odrf.odrf, {"n_trees": 12}),
    "blend": ("y ~ .", NUMBERS[:400], odrf.odrf, {"n_trees": 40, "blend": True}),
    "tree": ("y ~ .", NUMBERS, odrf.odt, {"alpha": None}),
    "pruned tree": ("k ~ .", CLASSES, odrf.odt, {}),
    "guided": ("k ~ .", CLASSES, odrf.graf, {"n_trees": 60}),
    "boosted": ("y ~ .", NUMBERS, odrf.odbt, {"n_trees": 40}),
    "boosted classes": ("k ~ .", CLASSES, odrf.odbt, {"n_trees": 30, "n_runs": 2}),
    "curves": (TIMES, LIVES, odrf.odrf, {"n_trees": 60, "blend": False}),
    "curves of causes": (TIMES, RISKS, odrf.odrf, {"n_trees": 60, "blend": False}),
    "blended curves": (TIMES, LIVES[:400], odrf.odrf, {"n_trees": 40, "blend": True}),
    "tree of times": (TIMES, LIVES, odrf.odt, {"alpha": None}),
    "boosted times": (
        TIMES,
        LIVES,
        odrf.odbt,
        {"n_trees": 40, "n_runs": 1, "validation": None},
    ),
}
# The fit, and its file, are foreseen to within these shares.
FEW = "few trees", "tree", "pruned tree", "boosted", "tree of times"
WITHIN = dict.fromkeys(FEW, 0.25)
OF_FILES = {"boosted": 0.45, "curves": 0.35, "curves of causes": 0.4}


@pytest.mark.parametrize("name", CASES)
def test_fit_and_file_are_as_large_as_foreseen(name, tmp_path):
    formula, data, model, options = CASES[name]
    foresight = odrf.foresee(formula, data, model=model, **options, **COMMON)
    fit = model(formula, data, **options, **COMMON)
    within = WITHIN.get(name, 0.1)
    assert foresight.fit_bytes == pytest.approx(bytes_in_memory(fit.fit), rel=within)
    fit.save(tmp_path / "fit.odrf")
    size = (tmp_path / "fit.odrf").stat().st_size
    assert foresight.file_bytes == pytest.approx(size, rel=OF_FILES.get(name, within + 0.1))
    if name != "pruned tree":
        assert foresight.leaves == pytest.approx(fit.n_leaves.mean(), rel=within)
    assert foresight.n_trees == fit.forest.n_trees
    assert foresight.peak_bytes >= foresight.fit_bytes
    assert 0 < foresight.seconds < 60
    assert foresight.fits
    assert foresight.call == fit.call


def test_curves_are_a_part_of_the_fit():
    foresight = odrf.foresee(TIMES, LIVES, n_trees=60, blend=False, **COMMON)
    fit = odrf.odrf(TIMES, LIVES, n_trees=60, blend=False, **COMMON).fit
    curves = foresight.table.loc["curves"]
    assert curves.iloc[1] * 1e6 == pytest.approx(bytes_in_memory(fit.curves), rel=0.1)
    assert curves.iloc[0] >= 2 * curves.iloc[1]


def test_rows_of_few_events_have_pilot_trees():
    rare = LIVES.assign(event=LIVES["time"] <= np.sort(LIVES["time"])[2])
    for model, options in ((odrf.odrf, {"n_trees": 5}), (odrf.odt, {}), (odrf.odbt, {})):
        assert odrf.foresee(TIMES, rare, model=model, **options, **COMMON).fits


def test_what_times_do_not_have_is_refused_as_by_the_fit():
    with pytest.raises(InputError, match=r"events of 2 causes, and odbt\(\) takes one"):
        odrf.foresee(TIMES, RISKS, model=odrf.odbt)


def test_a_stack_is_foreseen_by_its_models():
    foresight = odrf.foresee("y ~ .", NUMBERS[:300], model=odrf.auto, n_trees=40, **COMMON)
    names = ["training rows", "forest", "forest on splines", "smoothers", "boosted runs"]
    assert list(foresight.parts)[:5] == names
    assert (
        foresight.peak_bytes
        > foresight.fit_bytes
        > bytes_in_memory(odrf.odrf("y ~ .", NUMBERS[:300], n_trees=40, blend=True, **COMMON).fit)
    )
    assert "few predictors" in foresight.notes[0]
    budget = odrf.foresee(
        "k ~ .", CLASSES[:300], model=odrf.auto, n_trees=20, budget=9, groups="f", **COMMON
    )
    assert list(budget.parts)[1:3] == ["forest", "boosted runs"]
    assert "budget=" in budget.notes[-1]


def test_no_forest_is_grown(monkeypatch):
    grown, grow = [], of_forests.TreeGrower

    def counted(*arguments):
        grower = grow(*arguments)
        return lambda stream: grown.append(len(arguments[1])) or grower(stream)

    monkeypatch.setattr(of_forests, "TreeGrower", counted)
    odrf.foresee("y ~ .", NUMBERS, n_trees=400, blend=False, **COMMON)
    assert sorted(grown) == [200, 1500, 1500, 1500]
    grown.clear()
    odrf.foresee("y ~ .", NUMBERS, n_trees=5, blend=False, **COMMON)
    assert sum(grown) < 5 * 1500
    trees = []
    fit_of = of_trees.grow_fit

    def seen(call, design, data, request):
        trees.append(len(data.y))
        return fit_of(call, design, data, request)

    monkeypatch.setattr(of_trees, "grow_fit", seen)
    odrf.foresee("y ~ .", pd.concat([NUMBERS] * 20, ignore_index=True), model=odrf.odt, **COMMON)
    assert max(trees) <= 0.05 * 30_000


def test_what_does_not_fit_is_said_beforehand(monkeypatch):
    foresight = odrf.foresee("y ~ .", NUMBERS, n_trees=300, blend=False, **COMMON)
    monkeypatch.setattr(memory, "available_memory", lambda: foresight.peak_bytes / 2)
    again = odrf.foresee("y ~ .", NUMBERS, n_trees=300, blend=False, **COMMON)
    assert not again.fits
    text = str(again.summary())
    assert "It does not fit into memory: about 150 trees would (n_trees=)" in text


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (odrf.odt, {}, r": a tree of about [\d,]+ leaves would \(max_leaves=, min_leaf=\)\."),
        (odrf.graf, {"n_trees": 3}, r": about 1 tree would \(n_trees=\), .* \(min_split=\)\."),
        (odrf.odbt, {"n_trees": 3}, r": about 1 tree would .* \(max_leaves=, min_leaf=\)\."),
        (odrf.auto, {"n_trees": 20}, r": about \d+ trees would \(n_trees=\)\.$"),
    ],
)
def test_what_does_not_fit_is_made_smaller_by_options_that_there_are(model, options, said):
    foresight = odrf.foresee("y ~ .", NUMBERS[:200], model=model, **options, **COMMON)
    less = replace(foresight, free_bytes=foresight.peak_bytes / 2)
    assert any(re.search(said, note) for note in less.summary().notes)


def test_options_are_those_of_the_model():
    with pytest.raises(InputError, match=r"model=.*: use odrf.odrf, .*, odrf.graf or odrf.auto"):
        odrf.foresee("y ~ .", NUMBERS, model=odrf.load)
    with pytest.raises(InputError, match=r"odt\(\) has no argument 'n_trees'"):
        odrf.foresee("y ~ .", NUMBERS, model=odrf.odt, n_trees=3)
    with pytest.raises(InputError, match="did you mean 'min_leaf'"):
        odrf.foresee("y ~ .", NUMBERS, min_leafs=3)
    with pytest.raises(InputError, match='leaf_values="refit" is not foreseen'):
        odrf.foresee("y ~ .", NUMBERS, model=odrf.odbt, leaf_values="refit")
    with pytest.raises(InputError, match="min_leaf=0"):
        odrf.foresee("y ~ .", NUMBERS, min_leaf=0)


def test_notes_say_what_is_not_counted():
    pruned = odrf.foresee("y ~ .", NUMBERS, n_trees=40, blend=False, alpha=0.1, **COMMON)
    assert "alpha=" in pruned.notes[0]
    held = odrf.foresee("y ~ .", NUMBERS, model=odrf.odbt, validation=0.2, n_trees=20, **COMMON)
    assert "validation=" in held.notes[0]


@pytest.mark.parametrize(
    ("n", "n_pilots", "n_trees", "rows"),
    [
        (10**6, 3, 500, [10**6]),
        (10**6, 1, 1, [8000, 24_000, 48_000]),
        (10**5, 3, 12, [3200, 9600, 19_200]),
        (2000, 1, 1, [500]),
        (300, 1, 1, [300]),
    ],
)
def test_pilot_trees_are_a_small_share_of_the_work(n, n_pilots, n_trees, rows):
    assert pilot_rows(n, n_pilots, n_trees) == rows


def test_sizes_follow_a_power_law():
    rows = [100, 300, 600]
    values = [5 * k**0.8 for k in rows]
    assert at_all_rows(rows, values, 10_000, OF_SIZES) == pytest.approx(5 * 10_000**0.8)
    assert at_all_rows(rows, values, 10_000, OF_TIME) == pytest.approx(
        values[-1] * (10_000 / 600) ** 1.02
    )
    assert at_all_rows([10_000], [7.0], 10_000, OF_SIZES) == 7.0
    assert at_all_rows([500], [7.0], 1000, OF_SIZES) == 14.0
    assert at_all_rows(rows, [0.0, 0.0, 0.0], 1000, OF_SIZES) == 0.0


def test_random_rows_have_weight_if_there_are_enough():
    fit = odrf.odt("y ~ .", NUMBERS.assign(w=np.arange(1500) % 2), weights="w", seed=1).fit
    some = random_rows(fit.data, 600, 3)
    assert len(some.y) == 600 and (some.weights > 0).all()
    assert random_rows(fit.data, 1500, 3) is fit.data


@pytest.mark.parametrize("resample", [ALL_ROWS, BOOTSTRAP, SUBSAMPLE])
def test_rows_drawn_once_are_those_that_are_drawn(resample):
    sampling = Sampling(resample, 0.4)
    drawn = [
        np.count_nonzero(draw_counts(stream, np.ones(4000), sampling))
        for stream in streams(5, 0, 20)
    ]
    assert rows_drawn_once(sampling, 4000) == pytest.approx(np.mean(drawn), rel=0.02)


def test_bytes_of_growth_are_those_of_the_arrays():
    fit = odrf.odrf("y ~ .", NUMBERS, n_trees=1, blend=False, resample="none", seed=1).fit
    groups, control = fit.design.feature_groups, fit.control
    made = fit.data.X, groups, control.sampling, control.settings, control.mixture
    found = bytes_of_growth(*made, 1, fit.forest.n_nodes, len(fit.forest.index))
    pool = ScratchPool(groups, control.settings, control.mixture)
    scratch = pool.take(1500, 1500).scratch
    largest = max(array.nbytes for array in scratch if isinstance(array, np.ndarray))
    assert found.scratch > largest
    # number, response, weight and multiplicity of a row, its draw, and five columns and a code
    assert found.rows == 1500 * (24 + 8 + 24)
    of_nodes = fit.forest.n_nodes * (4 + 4 + 8 + 8 + 4 + 8 + 8 + 8 + 4 + 12)
    assert found.buffers == pytest.approx(of_nodes + 8 * len(fit.forest.index), rel=0.1)


def test_small_sizes_and_times_are_told():
    foresight = odrf.foresee("y ~ .", NUMBERS[:60], model=odrf.odt, **COMMON)
    shown = f"{foresight.summary()} {foresight!r}"
    assert " kB" in shown and "in the fit" in shown
    assert not re.search(r"(?<![\d,.])0\.0(?![\d.])", shown)


def test_sizes_and_times_are_in_units_that_suit_them():
    assert [in_bytes(size) for size in (0, 1, 500, 4.2e4, 2.5e6, 3e9, float("inf"))] == [
        "0 bytes", "1 byte", "500 bytes", "42.0 kB", "2.5 MB", "3.0 GB", "unknown",
    ]  # fmt: skip
    assert [in_time(seconds) for seconds in (0.02, 3, 90, 7200)] == [
        "less than 0.1 s", "3.0 s", "1.5 min", "2.0 h",
    ]  # fmt: skip


def test_rounds_of_boosting_are_counted_as_the_option_counts_them():
    options = {"model": odrf.odbt, "n_trees": 40, "n_runs": 2}
    foresight = odrf.foresee("k ~ .", CLASSES[:200], **options, **COMMON)
    assert foresight.n_trees == 40 * 2 * 3
    less = replace(foresight, free_bytes=foresight.peak_bytes / 2)
    assert ": about 20 rounds would (n_trees=)" in less.summary().notes[0]


def test_an_argument_that_the_model_lacks_is_refused():
    with pytest.raises(InputError, match=r"odbt\(\) has no argument 'backend'"):
        odrf.foresee("y ~ .", NUMBERS, model=odrf.odbt, backend="threads")
