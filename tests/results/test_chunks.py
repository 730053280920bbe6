"""What a forest on rows in chunks can do, and what it says of the rest."""

from __future__ import annotations

import pickle
import re
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design import blocks
from odrf.errors import InputError
from odrf.results.chunks import StreamedResults

FRAME = odrf.load_data("penguins").dropna().reset_index(drop=True)
CHUNKS = [FRAME[:100], FRAME[100:101], FRAME[101:]]


@pytest.fixture(scope="module")
def numbers():
    return odrf.odrf("body_mass_g ~ .", CHUNKS, n_trees=5, seed=1)


@pytest.fixture(scope="module")
def classes():
    return odrf.odrf("species ~ bill_length_mm + bill_depth_mm + island", CHUNKS, n_trees=5, seed=1)


def test_a_folder_of_parquet_files_is_a_table(tmp_path, classes):
    for number, frame in enumerate(CHUNKS):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    formula = "species ~ bill_length_mm + bill_depth_mm + island"
    for data in (tmp_path, str(tmp_path)):
        fit = odrf.odrf(formula, data, n_trees=5, seed=1)
        assert isinstance(fit, StreamedResults)
        assert fit.predict(FRAME).equals(classes.predict(FRAME))


def test_functions_and_numbers_of_the_formula(numbers):
    def twice(column):
        return 2 * column

    own = odrf.odrf("body_mass_g ~ twice(bill_length_mm)", CHUNKS, n_trees=2, seed=1)
    assert own.predict(FRAME).notna().all()
    fit = odrf.odrf(
        "np.log(body_mass_g) ~ I(bill_length_mm * 2) + island:sex", CHUNKS, n_trees=3, seed=1
    )
    assert fit.predict(FRAME).between(7, 10).all()
    assert numbers.nobs == len(FRAME)
    assert numbers.formula == "body_mass_g ~ ."
    assert numbers.seed == 1


def test_predictions_of_all_types(numbers, classes):
    for type in ("response", "leaf", "trees"):
        assert len(numbers.predict(FRAME, type)) == len(FRAME)
    for type in ("response", "class", "prob", "leaf", "trees"):
        assert len(classes.predict(FRAME, type)) == len(FRAME)
    assert np.allclose(classes.predict(FRAME, "prob").sum(axis=1), 1)
    assert (classes.predict(FRAME).astype(str) == FRAME["species"]).mean() > 0.95


def test_chunks_are_predicted_as_their_rows(numbers, classes):
    for fit, type in ((numbers, "response"), (classes, "prob"), (classes, "leaf")):
        found = list(fit.predict_chunks(CHUNKS, type))
        assert [len(part) for part in found] == [len(frame) for frame in CHUNKS]
        assert pd.concat(found).equals(fit.predict(FRAME, type))
    with pytest.raises(InputError, match="type="):
        list(numbers.predict_chunks(CHUNKS, "nothing"))
    with pytest.raises(InputError, match="needs classes"):
        list(numbers.predict_chunks(CHUNKS, "prob"))
    with pytest.raises(InputError, match="lacks column"):
        list(classes.predict_chunks([FRAME.drop(columns="island")]))


def test_an_iterator_of_chunks_is_predicted(numbers, tmp_path):
    def parts():
        return (frame for frame in CHUNKS)

    found = list(numbers.predict_chunks(parts()))
    assert [len(part) for part in found] == [len(frame) for frame in CHUNKS]
    assert pd.concat(found).equals(numbers.predict(FRAME))
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    assert numbers.predict_to_parquet(parts(), tmp_path / "parts.parquet") == len(FRAME)
    with pd.read_csv(tmp_path / "rows.csv", chunksize=50) as reader:
        assert sum(map(len, numbers.predict_chunks(reader))) == len(FRAME)
    with pytest.raises(InputError, match="there is no chunk: give one data frame or more"):
        list(numbers.predict_chunks(iter([])))


@pytest.mark.parametrize(
    "values",
    [(1, "text"), (None, "text"), (1, 1.5), ([1, "text"], [1, "text"])],
    ids=["numbers and text", "nothing and text", "whole and not", "in one chunk"],
)
def test_kept_columns_of_several_types_are_refused_by_name(numbers, tmp_path, values):
    parts = [FRAME[:2].assign(tag=value) for value in values]
    if isinstance(values[0], list):
        parts = [FRAME[:2].assign(tag=pd.Series(value, dtype=object)) for value in values]
    with pytest.raises(InputError, match=r"keep=\['tag'\] do not have one type .* in each chunk"):
        numbers.predict_to_parquet(parts, tmp_path / "predicted.parquet", keep=["tag"])
    assert list(tmp_path.iterdir()) == []


def test_a_level_that_no_training_row_has_is_said_in_one_chunk_only(classes):
    parts = [FRAME[:5].assign(island=name) for name in ("Elba", "Elba", "Skye", "Elba")]
    with pytest.warns(UserWarning) as said:
        found = list(classes.predict_chunks(parts))
    assert [len(part) for part in found] == [5] * 4
    assert ["'Elba'" in str(each.message) for each in said] == [True, False]
    refusing = odrf.odrf("species ~ island", CHUNKS, n_trees=2, seed=1, unseen="raise")
    with pytest.raises(InputError, match="'Elba' in 5 rows"):
        list(refusing.predict_chunks(parts))


def test_predictions_in_a_file(numbers, classes, tmp_path, capsys):
    path = tmp_path / "predicted.parquet"
    assert classes.predict_to_parquet(CHUNKS, path, "prob", keep=["sex"]) == len(FRAME)
    found = pd.read_parquet(path)
    assert found.columns.tolist() == ["sex", *classes.classes]
    assert np.array_equal(found[list(classes.classes)], classes.predict(FRAME, "prob"))
    classes.predict_to_parquet(CHUNKS, path, progress=True)
    assert (
        "rows: 100%" in (shown := capsys.readouterr().err) and f"{len(FRAME)}/{len(FRAME)}" in shown
    )
    assert (
        pd.read_parquet(path)["species"]
        .astype(str)
        .equals(classes.predict(FRAME).astype(str).rename("species"))
    )
    before = path.read_bytes()
    wrongs = [{"keep": keep} for keep in ("sex", ["sexx"], [1], ["sex", "sex"])]
    for wrong in (*wrongs, {"type": "nothing"}):
        with pytest.raises(InputError, match=r"keep=|type="):
            classes.predict_to_parquet(CHUNKS, path, **wrong)
    level = classes.classes[0]
    named = [frame.rename(columns={"island": "isle"}) for frame in CHUNKS]
    named = [frame.assign(**{level: 1, "island": frame["isle"]}) for frame in named]
    with pytest.raises(InputError, match=f"keep= names '{level}', which is the name of a predict"):
        classes.predict_to_parquet(named, path, "prob", keep=[level])
    named = [frame.assign(prediction=1) for frame in CHUNKS]
    with pytest.raises(InputError, match=r"keep= names 'prediction', .* rename this column"):
        classes.predict_to_parquet(named, path, keep=["species", "prediction"])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["predicted.parquet"]


def test_truth_and_prediction_are_in_one_file(numbers, classes, tmp_path):
    path = tmp_path / "predicted.parquet"
    for fit in (numbers, classes):
        truth = fit.formula.partition(" ")[0]
        assert fit.predict_to_parquet(CHUNKS, path, keep=[truth, "year"]) == len(FRAME)
        found = pd.read_parquet(path)
        assert found.columns.tolist() == [truth, "year", "prediction"]
        assert found[truth].astype(str).equals(FRAME[truth].astype(str))
        expected = fit.predict(FRAME).astype(str).rename("prediction")
        assert found["prediction"].astype(str).equals(expected)


def test_bars_of_rows_end_at_their_total_where_it_is_known(numbers, tmp_path, capsys):
    FRAME.to_parquet(tmp_path / "rows.parquet")
    known = (CHUNKS, tmp_path / "rows.parquet", str(tmp_path), odrf.Chunks(FRAME))
    for source in known:
        list(numbers.predict_chunks(source, progress=True))
        last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
        assert last.startswith("rows: 100%") and f"{len(FRAME)}/{len(FRAME)}" in last
    list(numbers.predict_chunks(iter(CHUNKS), progress=True))
    last = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()[-1]
    assert last.startswith(f"rows: {len(FRAME)}row [")


@pytest.mark.parametrize("function", [odrf.odrf, odrf.odt])
def test_bars_of_passes_over_blocks_end_at_their_total(function, monkeypatch, capsys):
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 50)
    few = {"n_trees": 3} if function is odrf.odrf else {}
    function("body_mass_g ~ sex + year", CHUNKS, seed=1, progress=True, **few)
    shown = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()
    last = {line.partition(":")[0]: line for line in shown if line.strip()}
    assert "blocks" in last
    for line in last.values():
        done, total = re.search(r"(\d+)/(\d+) \[", line).groups()
        assert done == total != "0"


def test_chunks_that_cannot_be_read_are_not_called_a_full_disk(numbers, tmp_path):
    def chunks():
        yield FRAME[:50]
        raise FileNotFoundError("rows.csv")

    with pytest.raises(InputError, match=r"chunk 2 .* cannot be read .*rows\.csv"):
        numbers.predict_to_parquet(chunks(), tmp_path / "predicted.parquet")
    assert list(tmp_path.iterdir()) == []


def test_words_and_pictures(numbers, classes):
    text = str(numbers.summary())
    assert "rows in chunks" in text
    assert f"about {0.632 * len(FRAME):.0f}" in text
    assert "OOB R²" in text
    assert "OOB log loss" in str(classes.summary())
    assert "Confusion matrix" in str(classes.summary())
    assert "rows in chunks, 5 trees" in repr(numbers)
    assert numbers.importance()["share"].clip(lower=0).sum() == pytest.approx(1)
    with pytest.raises(InputError, match="type='nothing'"):
        numbers.importance("nothing")
    for kind in ("error", "importance", None):
        assert numbers.plot(kind) is not None
        plt.close("all")
    assert numbers.error_path.iloc[-1] == numbers.oob_error
    assert len(numbers.error_path) == 5


def test_trees_are_read_and_exported(numbers, classes):
    tree = numbers.tree(2)
    assert len(tree.nodes) == numbers.forest.root[3] - numbers.forest.root[2]
    assert sum(line.endswith(" *") for line in tree.rules().splitlines()) == numbers.n_leaves[2]
    assert "read in chunks" in repr(tree)
    assert set(numbers.splits["tree"]) == set(range(5))
    there: dict = {}
    exec(classes.to_python(), there)
    assert there["predict"](FRAME.loc[0]) == classes.predict(FRAME)[0]
    assert classes.projection_importance().table is not None
    assert numbers.consistency().conclusion
    assert (numbers.prune(1e9).n_leaves == 1).all()


@pytest.mark.parametrize("data", [True, False])
def test_it_is_saved_and_loaded(numbers, classes, tmp_path, data):
    for fit in (numbers, classes):
        fit.save(tmp_path / "fit", data=data)
        again = odrf.load(tmp_path / "fit")
        assert isinstance(again, StreamedResults)
        assert again.predict(FRAME).equals(fit.predict(FRAME))
        assert again.oob_scores.equals(fit.oob_scores)
        assert str(again.summary()) == str(fit.summary())
        with pytest.raises(InputError, match="rows in chunks keeps none"):
            again.predict()
    assert pickle.loads(pickle.dumps(numbers)).oob_error == numbers.oob_error
    with pytest.raises(InputError, match=r"cannot be loaded|is not a fit"):
        spoil(tmp_path / "fit")


def spoil(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    odrf.load(path)


@pytest.mark.parametrize(
    "ask",
    [
        lambda fit: fit.predict(),
        lambda fit: fit.fittedvalues,
        lambda fit: fit.resid,
        lambda fit: fit.training_error,
        lambda fit: fit.oob_prediction,
        lambda fit: fit.predict(FRAME, interval="prediction"),
        lambda fit: fit.predict(FRAME, quantiles=0.5),
        lambda fit: fit.importance("held_out"),
        lambda fit: fit.importance("permutation"),
        lambda fit: fit.grow(2),
        lambda fit: fit.update(FRAME),
        lambda fit: fit.combine(fit),
        lambda fit: fit.pruning_path(),
        lambda fit: fit.prune(rule="oob"),
        lambda fit: fit.growth_path(),
        lambda fit: fit.select_variables(),
        lambda fit: fit.strength_correlation(),
        lambda fit: fit.partial("bill_length_mm"),
        lambda fit: fit.comparisons(),
        lambda fit: fit.shap(FRAME[:2]),
        lambda fit: fit.surrogate(),
        lambda fit: fit.proximity(),
        lambda fit: fit.row_predictor(),
        lambda fit: fit.data_summary(),
    ],
)
def test_what_needs_training_rows_says_so(numbers, ask):
    with pytest.raises(InputError, match=r"training rows, and a fit on rows in chunks keeps none"):
        ask(numbers)


def test_effects_on_new_rows_have_no_standard_errors(numbers, classes):
    for fit in (numbers, classes):
        found = fit.predictions(newdata=FRAME, at={"bill_length_mm": [40, 50]})
        new = [FRAME.assign(bill_length_mm=value) for value in (40, 50)]
        if fit is numbers:
            expected = [fit.predict(rows).mean() for rows in new]
        else:
            expected = np.concatenate([fit.predict(rows, "prob").mean() for rows in new])
        assert np.allclose(found.table["estimate"], expected)
        assert "the fit has no training rows" in str(found.summary())
        curve = fit.partial("bill_length_mm", values=[40, 50], newdata=FRAME)
        assert np.allclose(np.sort(curve.table["estimate"]), np.sort(expected))
        assert "the fit has no training rows" in str(curve.summary())
        assert len(fit.ale("bill_length_mm", points=5, newdata=FRAME).table) > 0


def test_what_it_has_not_for_other_reasons(numbers, classes):
    with pytest.raises(InputError, match="all of one kind"):
        _ = numbers.kinds
    with pytest.raises(InputError, match="estimators of scikit-learn"):
        numbers.to_sklearn()
    with pytest.raises(InputError, match="for classes see confusion_matrix"):
        _ = classes.r_squared
    with pytest.raises(InputError, match="for a regression see r_squared"):
        _ = numbers.confusion_matrix
    pruned = odrf.odrf("body_mass_g ~ sex", CHUNKS, n_trees=2, seed=1, alpha=1.0)
    with pytest.raises(InputError, match="only the pruned forest has been evaluated"):
        _ = StreamedResults(pruned.fit.pruning.grown).oob_error


def test_a_pruned_forest_does_not_claim_the_errors_of_its_parent(numbers, classes, tmp_path):
    for fit in (numbers, classes):
        pruned = fit.prune(alpha=0.01)
        assert isinstance(pruned, StreamedResults) and pruned.parent is fit
        assert sum(map(len, pruned.predict_chunks(CHUNKS))) == len(FRAME)
        text = str(pruned.summary())
        assert "OOB error" in text and "unknown (the rows evaluated" in text
        assert "Confusion" not in text and "also evaluate their importances" in text
        assert "unknown" in repr(pruned)
        for ask in (
            lambda fit: fit.oob_error,
            lambda fit: fit.oob_scores,
            lambda fit: fit.error_path,
            lambda fit: fit.importance(),
        ):
            with pytest.raises(
                InputError, match=r"before prune\(\), which is its parent: .*alpha="
            ):
                ask(pruned)
        assert pruned.importance("impurity")["share"].sum() == pytest.approx(1)
        pruned.save(tmp_path / "fit")
        assert str(odrf.load(tmp_path / "fit").summary()) == text
    by_option = odrf.odrf("body_mass_g ~ .", CHUNKS, n_trees=5, seed=1, alpha=1e4)
    assert "OOB MSE" in str(by_option.summary())
    assert "unknown" in str(by_option.parent.summary())


def test_an_empty_cell_of_a_new_row_counts_as_the_mean(numbers):
    holed = pd.concat([FRAME, FRAME.assign(sex=None)[:40]])
    fit = odrf.odrf("body_mass_g ~ bill_length_mm + sex + island", [holed], n_trees=3, seed=1)
    new = FRAME[:5]
    assert fit.predict(new.assign(sex=None)).notna().all()
    mean = new.assign(bill_length_mm=holed["bill_length_mm"].mean())
    found = fit.predict(new.assign(bill_length_mm=np.nan))
    assert np.allclose(found, fit.predict(mean))
    assert fit.predict(new.assign(island=None)).notna().all()
    grown = odrf.odrf("body_mass_g ~ bill_length_mm", CHUNKS, n_trees=2, seed=1, alpha=1.0).parent
    with pytest.raises(InputError, match="'bill_length_mm' is missing in new rows and in no"):
        grown.predict(new.assign(bill_length_mm=np.nan))


def test_levels_that_no_training_row_has(classes):
    new = FRAME[:3].assign(island="Elsewhere")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        classes.predict(new)
    assert "no training row has" in str(said[0].message)


def test_progress(capsys):
    odrf.odrf("body_mass_g ~ sex", CHUNKS, n_trees=2, seed=1, progress=True)
    shown = capsys.readouterr().err
    assert all(unit in shown for unit in ("block", "tree", "row"))


def test_ordered_classes():
    order = pd.CategoricalDtype(["Adelie", "Chinstrap", "Gentoo"], ordered=True)
    frames = [frame.assign(species=frame["species"].astype(order)) for frame in CHUNKS]
    fit = odrf.odrf("species ~ bill_length_mm", frames, n_trees=3, seed=1)
    assert fit.control.criterion == "ordinal"
    assert fit.predict(FRAME, "cumulative").shape == (len(FRAME), 2)


# ------------------------------------------------------------------------------------------------
# A tree of rows in chunks: of all of them, or of a random sample that fits into memory.
# ------------------------------------------------------------------------------------------------

SPECIES = "species ~ bill_length_mm + bill_depth_mm + island"


def test_a_tree_of_chunks_is_that_of_their_rows_in_one_frame(tmp_path):
    for number, frame in enumerate(CHUNKS):
        frame.to_parquet(tmp_path / f"{number}.parquet")
    whole = odrf.odt(SPECIES, FRAME, seed=1)
    for source in (CHUNKS, tmp_path):
        tree = odrf.odt(SPECIES, source, seed=1)
        assert tree.nobs == len(FRAME) and tree.fit.data.sampled_from == 0
        assert tree.predict(FRAME, "prob").equals(whole.predict(FRAME, "prob"))
        assert str(tree.pruning_path(cv=5).table) == str(whole.pruning_path(cv=5).table)


def test_times_groups_and_weights_of_chunks_are_those_of_the_frame():
    data = odrf.load_data("gbsg2")
    chunks = [data[:200], data[200:]]
    times = "Surv(time, event) ~ age + size"
    assert (
        odrf.odt(times, chunks, seed=1)
        .predict(data)
        .equals(odrf.odt(times, data, seed=1).predict(data))
    )
    options = {"groups": "oestrogen", "weights": "nodes", "seed": 1}
    tree, whole = (odrf.odt("age ~ size + menopause", d, **options) for d in (chunks, data))
    assert tree.predict(data).equals(whole.predict(data))


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS_PER_BLOCK", 50)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("formula", [SPECIES, "body_mass_g ~ ."])
def test_a_tree_has_a_random_sample_of_the_rows_that_do_not_fit(formula, tmp_path):
    memory = FRAME.memory_usage(deep=True).sum()
    trees = []
    for source in (CHUNKS, [FRAME]):
        with pytest.warns(
            UserWarning, match=rf"grows on \d+ of {len(FRAME)} rows, a random sample"
        ):
            trees.append(odrf.odt(formula, odrf.Chunks(source, memory=memory), seed=1))
    one, other = trees
    assert 0.1 * len(FRAME) < one.nobs < 0.6 * len(FRAME)
    assert one.fit.data.index.equals(other.fit.data.index)
    assert one.predict(FRAME).equals(other.predict(FRAME))
    assert f"{one.nobs}, a random sample of {len(FRAME)}" in str(one.summary())
    one.save(tmp_path / "tree.odrf")
    again = odrf.load(tmp_path / "tree.odrf")
    assert str(again.summary()) == str(one.summary())


@pytest.mark.usefixtures("little_memory")
def test_samples_of_other_seeds_have_other_rows():
    source = odrf.Chunks(CHUNKS, memory=FRAME.memory_usage(deep=True).sum())
    with pytest.warns(UserWarning, match="a random sample"):
        rows = [odrf.odt(SPECIES, source, seed=seed).fit.data.index for seed in (1, 2)]
    assert len(rows[0].intersection(rows[1])) < 0.8 * len(rows[0])


def test_arguments_of_rows_are_columns_of_the_chunks():
    with pytest.raises(InputError, match="weights= with rows in chunks: make it a column"):
        odrf.odt(SPECIES, CHUNKS, weights=np.ones(len(FRAME)))


def test_any_result_predicts_chunks(tmp_path):
    fits = [odrf.odt(SPECIES, FRAME, seed=1), odrf.graf(SPECIES, FRAME, n_trees=2, seed=1)]
    for fit in fits:
        parts = list(fit.predict_chunks(CHUNKS, "prob"))
        assert [len(part) for part in parts] == [100, 1, len(FRAME) - 101]
        assert np.array_equal(np.concatenate(parts), fit.predict(FRAME, "prob"))
        path = tmp_path / "predicted.parquet"
        assert fit.predict_to_parquet(CHUNKS, path, keep=["island"]) == len(FRAME)
        assert list(pd.read_parquet(path).columns) == ["island", "species"]
    with pytest.raises(InputError, match="type="):
        list(fits[0].predict_chunks(CHUNKS, "nothing"))
