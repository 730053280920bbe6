"""Results of boosted oblique trees."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, odbt
from odrf.statistics.calibration import estimated_priors


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "noise"])
    frame["f"] = rng.choice(["x", "z"], 150)
    score = frame["a"] + 2 * frame["b"] + (frame["f"] == "x")
    frame["y"] = score + rng.normal(size=150) / 5
    frame["n"] = rng.poisson(np.exp(score / 3))
    frame["two"] = np.where(score > 0, "up", "down")
    frame["c"] = np.select([score < -1, score < 1.5], ["low", "mid"], "top")
    return frame.set_index(frame.index + 10)


@pytest.fixture(scope="module")
def numbers(data):
    return odbt("y ~ a + b + noise + f", data, n_trees=12, validation=0.2, seed=1)


@pytest.fixture(scope="module")
def classes(data):
    return odbt("c ~ a + b + noise + f", data, n_trees=6, seed=1)


def test_predictions_of_numbers(data, numbers):
    predicted = numbers.predict()
    assert predicted.name == "y"
    assert predicted.index.equals(data.index)
    assert numbers.predict(data).equals(predicted)
    assert numbers.predict(type="link").tolist() == predicted.tolist()
    assert numbers.fittedvalues.equals(predicted)
    assert numbers.resid.to_numpy() == pytest.approx(data["y"] - predicted)
    assert numbers.training_error == pytest.approx(((data["y"] - predicted) ** 2).mean())
    assert numbers.predict(type="leaf").shape == (150, numbers.n_rounds)


def test_predictions_of_classes(data, classes):
    prob, link = classes.predict(type="prob"), classes.predict(type="link")
    assert list(prob) == list(link) == ["low", "mid", "top"]
    assert prob.sum(axis=1).to_numpy() == pytest.approx(np.ones(150))
    odds = np.log(prob["low"] / prob["top"])
    assert (link["low"] - link["top"]).to_numpy() == pytest.approx(odds.to_numpy())
    assert classes.predict().equals(classes.predict(type="class"))
    assert classes.predict().tolist() == prob.idxmax(axis=1).tolist()
    assert classes.predict(type="leaf").shape == (150, 18)
    assert classes.training_error == (classes.predict() != data["c"]).mean()
    observed = prob.to_numpy()[np.arange(150), prob.columns.get_indexer(data["c"])]
    assert classes.resid.to_numpy() == pytest.approx(1 - observed)


def test_links_of_two_classes_and_of_counts(data):
    two = odbt("two ~ a + b", data, n_trees=5, seed=1)
    odds = np.exp(two.predict(type="link"))
    assert two.predict(type="prob")["up"].to_numpy() == pytest.approx(odds / (1 + odds))
    assert two.predict(type="leaf").shape == (150, 5)
    counts = odbt("n ~ a + b", data, loss="poisson", n_trees=5, seed=1)
    assert counts.predict().to_numpy() == pytest.approx(np.exp(counts.predict(type="link")))


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_staged_predictions_end_in_the_prediction(data, name, request):
    fit = request.getfixturevalue(name)
    staged = fit.staged_predict(data)
    assert staged.columns.tolist() == list(range(1, fit.n_rounds + 1))
    assert staged.index.equals(data.index)
    assert staged[fit.n_rounds].tolist() == fit.predict(data).tolist()
    assert (staged[1] != staged[fit.n_rounds]).any()


def test_a_fit_is_shown_if_only_rows_of_no_weight_are_out_of_bag(data):
    fit = odbt("y ~ a", data[:3], n_trees=4, n_runs=2, weights=[1, 1, 0], groups=[0, 1, 2], seed=0)
    with pytest.raises(InputError, match="every run sampled every row"):
        _ = fit.oob_error
    assert "OOB MSE" in repr(fit)
    assert "–" in str(fit.summary())


def test_missing_rows_stay_missing(data):
    holed = data.copy()
    holed.loc[12, "a"] = np.nan
    for response in ("y", "c"):
        fit = odbt(f"{response} ~ a + b", holed, missing="drop", n_trees=3, seed=1)
        assert fit.nobs == 149
        assert "a 1" in str(fit.summary())
        for predicted in (
            fit.predict(holed),
            fit.predict(holed, "link"),
            fit.staged_predict(holed),
        ):
            missing = pd.DataFrame(predicted).isna().any(axis=1)
            assert missing[missing].index.tolist() == [12]


def test_wrong_predictions_are_refused(numbers, classes):
    with pytest.raises(InputError, match="type='trees' is not known"):
        classes.predict(type="trees")
    with pytest.raises(InputError, match="type='prob' needs classes"):
        numbers.predict(type="prob")
    assert not hasattr(numbers, "row_predictor")


def test_the_path_of_the_loss(data, numbers, classes):
    path, held = numbers.loss_path, numbers.held_out
    assert path.index.tolist() == list(range(13))
    left = data["y"] - numbers.predict()
    for name, rows in [("training", ~held), ("validation", held)]:
        assert path[name][numbers.n_rounds] == pytest.approx((left[rows] ** 2).mean() / 2)
    assert list(classes.loss_path) == ["training"]
    assert not classes.held_out.any()


def test_importances_find_what_matters(numbers, classes):
    for fit in (numbers, classes):
        table = fit.importance()
        assert table.index[0] == "b"
        assert table.index[-1] == "noise"
        assert table["share"].clip(lower=0).sum() == pytest.approx(1)
    with pytest.raises(InputError, match="which only forests of"):
        numbers.importance("permutation")
    with pytest.raises(InputError, match="type='gain' is not known"):
        numbers.importance("gain")


def test_importances_add_up_to_what_all_trees_remove(classes):
    forest = classes.forest
    split = forest.is_split()
    total = (forest.weight * forest.gain)[split].sum()
    assert classes.importance("impurity")["importance"].sum() == pytest.approx(total)


def test_summaries_and_cards(data, numbers, classes):
    text = str(numbers.summary())
    assert f"{numbers.n_rounds} of 12, by 30 rows held out" in text
    assert "Mean loss (half the squared error)" in text
    assert "Validation loss" in repr(numbers)
    # of the rows that are in the losses, each
    facts = numbers.summary().facts
    for rows in ("Training", "Validation"):
        assert float(facts[f"{rows} MSE"]) == pytest.approx(
            2 * float(facts[f"{rows} loss"]), rel=2e-3
        )
    assert "multinomial loss: classification" in repr(classes)
    assert classes.summary().facts["Trees"] == "18"
    assert "Subset size" in str(classes.summary())
    axis = odbt(
        "y ~ a + b", data, projection="axis", loss="huber", n_trees=2, sample_fraction=0.5, seed=1
    )  # fmt: skip
    text = str(axis.summary())
    assert "Subset size" not in text
    assert "(no effect)" in text
    assert "50% at random" in text


def test_no_theorem_covers_it(data, numbers, classes):
    for fit in (numbers, classes):
        report = fit.consistency()
        assert report.conclusion.startswith("No result of [Z] or [P] applies: they are about a")
        verdicts = report.table.set_index("condition")["verdict"]
        assert set(verdicts["trees alike, averaged"]) == {"does not hold"}
        assert verdicts["t_n → ∞"] == "does not hold"
        assert "Conditions" in str(report.summary())
        assert "2211.12653v4" not in str(report.summary())
    refitted = odbt("y ~ a + b", data, leaf_values="refit", n_trees=2, seed=1)
    note = 'orthogonal matching pursuit, as leaf_values="refit" is'
    assert note in " ".join(str(refitted.consistency().summary()).split())
    # only residuals of held-out rows estimate the noise
    assert len(numbers.consistency().normal_quantiles) == 30
    with pytest.raises(InputError, match="normal_quantiles needs a regression"):
        _ = classes.consistency().normal_quantiles


def test_plots(numbers, classes):
    first, second = numbers.plot()
    assert [line.get_label() for line in first.lines] == [
        "training rows", "validation rows", f"{numbers.n_rounds} rounds kept",
    ]  # fmt: skip
    assert first.lines[2].get_xdata()[0] == numbers.n_rounds
    assert second.get_xlabel() == "share of covariance of response and score, held out"
    alone = classes.plot("loss")
    assert len(alone.lines) == 1
    assert alone.get_ylabel() == "mean loss (multinomial)"
    _, ax = plt.subplots()
    assert classes.plot("importance", ax=ax) is ax
    with pytest.raises(InputError, match="kind='trees' is not known"):
        classes.plot("trees")
    with pytest.raises(InputError, match="ax holds 1 axes"):
        classes.plot(ax=ax)
    plt.close("all")


def test_files_keep_the_fit(data, classes, tmp_path):
    classes.save(tmp_path / "fit.odrf")
    again = odrf.load(tmp_path / "fit.odrf")
    assert again.predict(data, "prob").equals(classes.predict(data, "prob"))
    assert again.loss_path.equals(classes.loss_path)
    assert pickle.loads(pickle.dumps(again)).control == classes.control


def test_several_runs_are_evaluated_out_of_bag(data):
    fit = odbt("c ~ a + b + f", data, n_runs=4, n_trees=6, seed=1)
    assert list(fit.loss_path) == ["training", "out-of-bag"]
    predicted = fit.oob_prediction
    known = predicted.notna()
    missed = np.array([run.counts == 0 for run in fit.fit.boosted.drawn])
    assert known.tolist() == missed.any(axis=0).tolist()
    assert fit.oob_error == pytest.approx((predicted[known] != data["c"][known]).mean())
    assert "OOB error rate" in str(fit.summary())
    assert "4, each of a bootstrap sample and all predictors" in str(fit.summary())


def test_rows_out_of_bag_choose_the_rounds(data):
    options = {"n_runs": 3, "n_trees": 60, "learning_rate": 0.5, "seed": 1}
    fit = odbt("y ~ a + noise + f", data, validation="oob", patience=3, **options)
    path = fit.loss_path["out-of-bag"]
    assert fit.n_rounds == path.idxmin() < len(path) - 1 < 60
    assert "by rows out of bag" in str(fit.summary())
    # half the mean squared error, of the runs' mean at the rounds that are kept
    assert fit.oob_error == pytest.approx(2 * path.min())


def test_held_out_rows_are_out_of_every_bag(data):
    fit = odbt("y ~ a + b", data, n_runs=3, n_trees=4, validation=0.2, seed=1)
    held = fit.held_out
    np.testing.assert_allclose(fit.oob_prediction[held], fit.predict()[held])


def test_one_run_has_no_rows_out_of_bag(numbers):
    with pytest.raises(InputError, match="fit with n_runs=10"):
        _ = numbers.oob_error


def test_more_rounds_later(data, numbers):
    formula, options = "two ~ a + b + f", {"seed": 1, "sample_fraction": 0.7, "n_runs": 2}
    grown = odbt(formula, data, n_trees=4, **options).grow(3, n_jobs=1)
    once = odbt(formula, data, n_trees=7, **options)
    assert grown.predict(type="link").equals(once.predict(type="link"))
    assert grown.loss_path.equals(once.loss_path)
    assert grown.control == once.control
    assert grown.call.endswith(".grow(3)")
    with pytest.raises(InputError, match="has chosen the number of rounds"):
        numbers.grow(2)
    with pytest.raises(InputError, match="k=0"):
        grown.grow(0)


def test_ordered_classes_are_predicted_by_their_median(data):
    ordered = data.assign(c=pd.Categorical(data["c"], ["low", "mid", "top"], ordered=True))
    fit = odbt("c ~ a + b", ordered, n_trees=10, seed=1)
    assert fit.control.loss == "ordinal"
    below = fit.predict(type="cumulative")
    expected = np.where(below["low"] >= 0.5, "low", np.where(below["mid"] >= 0.5, "mid", "top"))
    assert fit.predict().tolist() == expected.tolist()
    link = fit.predict(type="link")
    assert list(link) == ["low", "mid"]
    assert (1 / (1 + np.exp(link["low"]))).to_numpy() == pytest.approx(below["low"].to_numpy())


def test_shares_of_classes_are_estimated_from_the_probabilities(data, classes):
    found = classes.estimate_priors(data[:90])
    prob = classes.predict(data[:90], type="prob").to_numpy()
    trained = data["c"].value_counts(normalize=True)[classes.classes].to_numpy()
    expected = estimated_priors(prob, trained, 1000, 1e-8).priors
    np.testing.assert_allclose(found, expected)
