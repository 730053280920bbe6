"""What a tree of all rows in chunks can do, and what it says of the rest."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError
from odrf.fits.all_rows import growing_all_rows
from odrf.results.chunks import AllRowsResults

FRAME = odrf.load_data("penguins").dropna().reset_index(drop=True)
CHUNKS = [FRAME[:100], FRAME[100:101], FRAME[101:]]


@pytest.fixture(scope="module", autouse=True)
def little_memory():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing_all_rows, "rows_that_fit", lambda stored, classes: 90)
        yield


@pytest.fixture(scope="module")
def numbers():
    return odrf.odt("body_mass_g ~ .", CHUNKS, seed=1)


@pytest.fixture(scope="module")
def classes():
    formula = "species ~ bill_length_mm + bill_depth_mm + island"
    return odrf.odt(formula, CHUNKS, seed=1, alpha=None)


def test_a_folder_of_parquet_files_is_a_table(tmp_path, classes):
    for number, frame in enumerate(CHUNKS):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    formula = "species ~ bill_length_mm + bill_depth_mm + island"
    fit = odrf.odt(formula, tmp_path, seed=1, alpha=None)
    assert isinstance(fit, AllRowsResults)
    assert fit.predict(FRAME).equals(classes.predict(FRAME))


def test_it_reads_as_any_tree(numbers, classes):
    assert numbers.nobs == len(FRAME)
    for type in ("response", "class", "prob", "leaf"):
        assert len(classes.predict(FRAME, type)) == len(FRAME)
    assert sum(line.endswith(" *") for line in numbers.rules().splitlines()) == numbers.n_leaves[0]
    there: dict = {}
    exec(classes.to_python(), there)
    assert there["predict"](FRAME.loc[0]) == classes.predict(FRAME)[0]
    assert list(numbers.importance().columns) == ["importance", "share"]
    assert numbers.importance().equals(numbers.importance("impurity"))
    assert numbers.plot() is not None
    assert numbers.plot("importance") is not None


def test_predictions_of_chunks(numbers, tmp_path):
    parts = list(numbers.predict_chunks(CHUNKS))
    assert [len(part) for part in parts] == [100, 1, len(FRAME) - 101]
    assert np.array_equal(np.concatenate(parts), numbers.predict(FRAME))
    path = tmp_path / "predicted.parquet"
    assert numbers.predict_to_parquet(CHUNKS, path, keep=["species"]) == len(FRAME)
    assert list(pd.read_parquet(path).columns) == ["species", "body_mass_g"]


def test_its_errors_are_those_of_its_rows(numbers, classes):
    grown = odrf.odt("body_mass_g ~ .", CHUNKS, seed=1, alpha=None)
    error = np.mean((grown.predict(FRAME) - FRAME["body_mass_g"]) ** 2)
    assert grown.training_error == pytest.approx(error, rel=1e-9)
    variance = FRAME["body_mass_g"].var(ddof=0)
    assert grown.r_squared == pytest.approx(1 - error / variance, rel=1e-9)
    assert "Training R²" in grown.summary().facts
    wrong = (classes.predict(FRAME).astype(str) != FRAME["species"].astype(str)).mean()
    assert classes.training_error == pytest.approx(wrong, abs=1e-12)
    of_frame = pd.crosstab(FRAME["species"], classes.predict(FRAME))
    assert np.array_equal(classes.confusion_matrix.drop(columns="error"), of_frame)


def test_errors_of_a_pruned_tree_are_those_of_its_own_leaves(numbers, classes):
    small = odrf.odt("body_mass_g ~ .", CHUNKS, seed=1, alpha=None).prune(leaves=4)
    error = np.mean((small.predict(FRAME) - FRAME["body_mass_g"]) ** 2)
    assert small.training_error == pytest.approx(error, rel=1e-9)
    assert 0 < numbers.r_squared < 1
    few = classes.prune(leaves=2)
    assert few.training_error == pytest.approx((few.predict(FRAME) != FRAME["species"]).mean())
    of_frame = pd.crosstab(FRAME["species"], few.predict(FRAME))[["Adelie", "Gentoo"]]
    assert np.array_equal(few.confusion_matrix[["Adelie", "Gentoo"]], of_frame)
    assert "training rows" in str(classes.summary())
    assert "Training error rate" in repr(classes)
    assert "rows held out" in numbers.summary().facts["Held-out MSE"]


def test_it_is_pruned_without_rows(numbers):
    grown = numbers.parent
    assert (grown.prune(1e9).n_leaves == 1).all()
    leaves = grown.pruning_path(cv=None).table["leaves"].iloc[-2]
    assert 1 < grown.prune(leaves=int(leaves)).n_leaves[0] <= leaves
    assert grown.prune(leaves=1).parent is grown
    by_rows = grown.pruning_path(newdata=FRAME)
    assert isinstance(by_rows.best("1se"), AllRowsResults)
    assert numbers.path.best("1se").n_leaves[0] <= numbers.n_leaves[0]


@pytest.mark.parametrize("data", [True, False])
def test_it_is_saved_and_loaded(numbers, classes, tmp_path, data):
    for fit in (numbers, classes):
        fit.save(tmp_path / "fit", data=data)
        again = odrf.load(tmp_path / "fit")
        assert isinstance(again, AllRowsResults)
        assert again.predict(FRAME).equals(fit.predict(FRAME))
        assert str(again.summary()) == str(fit.summary())
        assert again.fit.levels == fit.fit.levels > 0
    assert pickle.loads(pickle.dumps(numbers)).predict(FRAME).equals(numbers.predict(FRAME))


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.predict(),
        lambda fit: fit.fittedvalues,
        lambda fit: fit.resid,
        lambda fit: fit.importance("held_out"),
        lambda fit: fit.update(FRAME),
        lambda fit: fit.pruning_path(),
        lambda fit: fit.prune(rule="1se"),
        lambda fit: fit.growth_path(),
        lambda fit: fit.partial("bill_length_mm"),
        lambda fit: fit.comparisons(),
        lambda fit: fit.shap(FRAME[:2]),
        lambda fit: fit.proximity(),
        lambda fit: fit.data_summary(),
    ],
)
def test_what_needs_training_rows_says_so(numbers, ask):
    with pytest.raises(InputError, match=r"training rows, and a fit on rows in chunks keeps none"):
        ask(numbers)


def test_scores_of_the_other_kind_are_refused(numbers, classes):
    with pytest.raises(InputError, match="for classes see confusion_matrix"):
        _ = classes.r_squared
    with pytest.raises(InputError, match="for a regression see r_squared"):
        _ = numbers.confusion_matrix
    assert numbers.consistency().conclusion


def test_there_is_no_estimator_of_it(numbers):
    with pytest.raises(InputError, match="estimators of scikit-learn"):
        numbers.to_sklearn()


def test_an_empty_cell_of_a_new_row_counts_as_the_mean(numbers):
    new = FRAME.assign(bill_length_mm=np.nan)
    mean = FRAME.assign(bill_length_mm=FRAME["bill_length_mm"].mean())
    grown = odrf.odt("body_mass_g ~ bill_length_mm + bill_depth_mm", CHUNKS, seed=1, alpha=None)
    assert grown.predict(new).equals(grown.predict(mean))


def test_predictions_and_files_that_are_spoilt_are_refused(numbers, tmp_path):
    with pytest.raises(InputError, match="type="):
        list(numbers.predict_chunks(CHUNKS, "prob"))
    with pytest.raises(InputError, match="type="):
        numbers.importance("best")
