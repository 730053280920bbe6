"""What a comparison says follows from its scores."""

from __future__ import annotations

import pickle
from math import sqrt

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon

from odrf.evaluation.compare import Comparison, FoldsUsed, critical_difference
from odrf.evaluation.metrics import METRICS


def made(metric="error", tables=("data",), cv=5, repeats=2):
    index = pd.MultiIndex.from_product(
        [tables, range(1, repeats + 1), range(1, cv + 1)], names=["table", "repeat", "fold"]
    )
    rng = np.random.default_rng(4)
    scores = rng.random((len(index), 3)) + np.array([0.3, 0.0, 0.6])
    frame = pd.DataFrame(scores, index, pd.Index(["mid", "low", "high"], name="model"))
    folds = FoldsUsed(cv, f"cv={cv}", f"{cv}-fold cross-validation", 1 / (cv - 1))
    return Comparison(frame, METRICS[metric], "y ~ .", dict.fromkeys(tables, 50), folds, 7)


@pytest.fixture
def alone():
    return made()


@pytest.fixture
def several():
    return made(tables=tuple("abcdefgh"))


def test_table(alone):
    assert alone.table.index.tolist() == ["low", "mid", "high"]
    low = alone.scores["low"]
    row = alone.table.loc["low"]
    assert row["estimate"] == pytest.approx(low.mean())
    assert row["std_error"] == pytest.approx(low.std() * sqrt(1 / 10 + 10 / 40))
    assert row["rank"] == pytest.approx(alone.scores.rank(axis=1).mean()["low"])
    assert row["wins"] == (alone.scores.idxmin(axis=1) == "low").sum()


def test_pairs(alone):
    assert len(alone.pairs) == 6
    d = alone.scores["low"] - alone.scores["high"]
    row = alone.pairs.loc[("low", "high")]
    assert row["difference"] == pytest.approx(d.mean())
    assert row["p_value_wilcoxon"] == pytest.approx(wilcoxon(d, alternative="less").pvalue)
    assert row["p_adjusted_wilcoxon"] == pytest.approx(min(1, 6 * row["p_value_wilcoxon"]))
    t = d.mean() / sqrt((1 / 10 + 1 / 4) * d.var())
    assert row["statistic_t"] == pytest.approx(t)
    assert row["p_value_t"] == pytest.approx(student.cdf(t, 9))
    assert row["p_adjusted_t"] == pytest.approx(min(1, 6 * row["p_value_t"]))
    back = alone.pairs.loc[("high", "low")]
    assert (back["statistic_t"], back["p_value_t"]) == pytest.approx(
        (-row["statistic_t"], 1 - row["p_value_t"])
    )


def test_where_more_is_better_signs_turn_and_nothing_else():
    less, more = made("error"), made("accuracy")
    assert more.table.index.tolist() == less.table.index.tolist()[::-1]
    np.testing.assert_allclose(more.table["estimate"], less.table["estimate"][::-1])
    one, other = less.pairs.loc[("low", "high")], more.pairs.loc[("high", "low")]
    assert one["difference"] == pytest.approx(-other["difference"])
    assert one["p_value_wilcoxon"] == pytest.approx(other["p_value_wilcoxon"])
    assert one["statistic_t"] == pytest.approx(-other["statistic_t"])
    assert one["p_value_t"] == pytest.approx(other["p_value_t"])


def test_several_tables_are_compared_by_their_means(several):
    means = several.scores.groupby("table").mean()
    pd.testing.assert_frame_equal(several.means, means)
    row = several.table.loc["low"]
    assert row["estimate"] == pytest.approx(means["low"].mean())
    assert row["std_error"] == pytest.approx(means["low"].sem())
    assert row["rank"] == pytest.approx(means.rank(axis=1).mean()["low"])
    assert several.table["rank"].is_monotonic_increasing
    columns = ["difference", "p_value_wilcoxon", "p_adjusted_wilcoxon"]
    assert several.pairs.columns.tolist() == columns
    d = means["low"] - means["high"]
    p = wilcoxon(d, alternative="less").pvalue
    assert several.pairs.loc[("low", "high"), "p_value_wilcoxon"] == pytest.approx(p)
    assert several.critical_difference == critical_difference(3, 8)


def test_one_table_has_no_critical_difference(alone):
    assert alone.critical_difference is None


def test_equal_models():
    found = made()
    found.scores["mid"] = found.scores["low"]
    row = found.pairs.loc[("mid", "low")]
    assert row[["difference", "statistic_t"]].tolist() == [0, 0]
    assert row[["p_value_wilcoxon", "p_value_t"]].tolist() == [1, 1]
    assert str(row["difference"]) == "0.0"


def test_models_that_differ_by_the_same_in_all_folds_have_no_t_test(alone):
    scores = alone.scores.assign(low=alone.scores["mid"] + 0.25)
    found = Comparison(scores, alone.metric, "y ~ .", {"data": 50}, alone.folds, 7)
    assert found.pairs["p_value_t"].isna().sum() == 2
    said = str(found.summary())
    assert "there is no t-test" in said and not any(word in said for word in ("inf", "nan"))
    assert "there is no t-test" not in str(alone.summary())


def test_summary(alone, several):
    text = " ".join(str(alone.summary()).split())
    for words in ("error rate", "5 × 2 repeats", "low / high", "Nadeau and Bengio", "6 one-sided"):
        assert words in text
    assert "repeats=2, metric='error', seed=7" in text
    models, pairs = alone.summary().tables[1:]
    assert len(pairs) == 3 and models["estimate"].is_monotonic_increasing
    assert {"Tables", "Critical difference"} <= set(several.summary().tables[0].index)
    assert several.summary().tables[-1].equals(several.means)
    assert several.summary().as_latex() and several.summary().as_html()


def test_repr(alone, several):
    assert repr(alone).startswith("Comparison of models\n  Models  3\n")
    assert "Tables               8\n" in repr(several)


def test_plots(alone, several):
    ax = alone.plot()
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots.get_xdata(), alone.table["estimate"])
    assert dots.get_ydata().tolist() == [2, 1, 0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["low", "mid", "high"]
    (bars,) = [part for part in ax.collections if hasattr(part, "get_segments")]
    lengths = [segment[1, 0] - segment[0, 0] for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * alone.table["std_error"])
    given = plt.subplots()[1]
    assert several.plot(ax=given) is given
    assert any("critical difference" in text.get_text() for text in given.texts)
    plt.close("all")


def test_it_can_be_kept(alone):
    again = pickle.loads(pickle.dumps(alone))
    pd.testing.assert_frame_equal(again.pairs, alone.pairs)
