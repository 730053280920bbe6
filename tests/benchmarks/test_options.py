"""The benchmark of families, on small tables of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import (
    boosted_sizes,
    boosted_survival,
    families,
    honesty,
    learning_rates,
    objectives,
    ordinal,
    sizes,
    split_scales,
)
from benchmarks.options.learning_rates import Timed
from benchmarks.shared import simulated
from blends import with_few_pilots
from odrf import load_data
from odrf.simulate import proportional_hazards


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script with few rows and trees, and return what its csv then holds."""
    data = tmp_path / "tables"
    data.mkdir()
    wine = load_data("wine").rename(columns={"cultivar": "y"})
    wine[[*wine.columns.drop("y"), "y"]].to_csv(data / "sonar.csv.gz", index=False)
    index = pd.DataFrame(
        {"name": ["sonar"], "task": ["classification"], "n": [len(wine)], "p": [13]}
    )
    index.to_csv(data / "index.csv", index=False)
    monkeypatch.setattr(simulated, "TEST_ROWS", 200)
    monkeypatch.setattr(families, "NOISE", (0, 5))
    small = {name: (problem, 60) for name, (problem, _) in families.MISTUNED.items()}
    monkeypatch.setattr(families, "MISTUNED", small)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {data} --out {tmp_path / 'out.csv'} --trees 5 --repeats 1"
        monkeypatch.setattr(sys, "argv", ["families.py", *always.split(), *options])
        assert families.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


@pytest.mark.usefixtures("few_pilots")
def test_kappa(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--parts", "kappa")
    every = [*families.TUNED, *families.OTHERS, *families.SAME]
    assert lines.groupby("method")["repeat"].nunique().to_dict() == dict.fromkeys(every, 5)
    assert lines["value"].between(0.5, 1).all()
    assert "SPORF against the others on 1 tables" in capsys.readouterr().out


@pytest.mark.usefixtures("few_pilots")
def test_noise_and_tuning(run: Callable[..., pd.DataFrame]) -> None:
    lines = run("--parts", "noise,tuning")
    noise, tuning = (lines[lines["part"] == part] for part in ("noise", "tuning"))
    assert len(noise) == 2 * families.NOISY_FOLDS * len(families.NOISY_METHODS)
    assert len(tuning) == 2 * 4 * 2
    assert tuning["value"].between(0, 1).all()
    assert run("--parts", "noise,tuning").equals(lines)


@pytest.mark.usefixtures("few_pilots")
def test_speed(
    run: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    two = {name: families.FAMILIES[name] for name in ("sparse", "axis")}
    monkeypatch.setattr(families, "FAMILIES", two)
    monkeypatch.setattr(families, "TIMED_ROWS", 60)
    lines = run("--parts", "speed")
    assert (lines["value"] > 0).all()
    assert "| sparse |" in capsys.readouterr().out


@pytest.mark.usefixtures("few_pilots")
def test_noise_is_added_beside_what_there_is() -> None:
    wine = load_data("wine").rename(columns={"cultivar": "y"})
    rows = families.Partition(wine[:100], wine[100:])
    found = families.noisy(rows, 3, 1)
    assert found.train.shape == (100, 17)
    kept = found.test.drop(columns=["noise0", "noise1", "noise2"])
    pd.testing.assert_frame_equal(kept[wine.columns], rows.test)
    assert np.isfinite(found.train.filter(like="noise")).all().all()


# ------------------------------------------------------------------------------------------------
# The benchmark of learning rates on small tables.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=list("ab"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    data.assign(y=np.where(score > 0, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score", "sides"], "task": ["regression", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    for name, few in {"ONE_RUNS_ROUNDS": 2, "ROUNDS": 4, "RUNS": 2}.items():
        monkeypatch.setattr(learning_rates, name, few)
    out = folder / "out.csv"
    words = ["learning_rates.py", "--data", str(folder), "--repeats", "1", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert learning_rates.main() == 0
    lines = pd.read_csv(out)
    assert lines["way"].nunique() == 6
    assert lines["table"].unique().tolist() == ["score", "sides"]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["learning_rates.py", "--report", str(out)])
    assert learning_rates.main() == 0
    assert capsys.readouterr().out == told
    for measure in ("rpe", "error_percent", "log_loss"):
        assert f"{measure} beside runs, 1 tables:" in told


class Rounds:
    """Stands for a fit with so many rounds."""

    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds


@pytest.mark.parametrize(
    ("gains", "rate", "seconds"),
    [
        ((1.0, 1.0), 0.025, 7.0),  # 30, 60 and 120 rounds
        ((1.0, 0.0), 0.05, 7.0),
        ((0.0, 0.0), 0.1, 3.0),
    ],
)
def test_the_rate_is_halved_while_the_loss_clearly_falls(monkeypatch, gains, rate, seconds):
    losses = {30: 2.0, 60: 2.0 - gains[0], 120: 2.0 - sum(gains)}
    noise = np.random.default_rng(1).normal(0.0, 0.1, (3, 50))

    def out_of_bag(fit, task, y):
        return losses[fit.n_rounds] + noise[list(losses).index(fit.n_rounds)]

    def boosted(rows, task, seed, rate):
        return Timed(Rounds(round(3.0 / rate)), rate, 0.2 / rate)

    class Rows:
        train = pd.DataFrame({"y": np.zeros(50)})

    monkeypatch.setattr(learning_rates, "losses_out_of_bag", out_of_bag)
    monkeypatch.setattr(learning_rates, "runs_at", boosted)
    usual = boosted(Rows, "regression", 0, 0.1)._replace(seconds=1.0)
    monkeypatch.setattr(
        learning_rates, "runs_at", lambda *a: boosted(*a)._replace(seconds=0.1 / a[3])
    )
    found = learning_rates.halved(Rows, "regression", 0, usual)
    assert (found.rate, found.seconds) == (rate, seconds)


# ------------------------------------------------------------------------------------------------
# The benchmark of honest forests runs, resumes, and knows a calibrated probability.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def run_of_honesty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on two small tables and return what its csv then holds."""
    few = {name: honesty.METHODS[name] for name in ("plain", "honest", "honest, s = n^0.7")}
    monkeypatch.setattr(honesty, "METHODS", few)
    rng = np.random.default_rng(1)
    names = ["german_credit", "low_birth_weight"]
    kinds = ["classification", "regression"]
    pd.DataFrame({"name": names, "task": kinds}).to_csv(tmp_path / "index.csv", index=False)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    late = data["a"] + rng.normal(size=90) > 0
    data.assign(y=np.where(late, "late", "paid")).to_csv(
        tmp_path / f"{names[0]}.csv.gz", index=False
    )
    data.assign(LOW=late.astype(int), y=data["a"]).to_csv(
        tmp_path / f"{names[1]}.csv.gz", index=False
    )

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 20 --rows 50"
        monkeypatch.setattr(sys, "argv", ["honesty.py", *always.split(), *options])
        assert honesty.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(
    run_of_honesty: Callable[..., pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run_of_honesty("--repeats", "2", "--plot", str(tmp_path / "plot.png"))
    methods = len(honesty.METHODS) + len(honesty.TREES)
    assert len(lines) == 2 * 2 * methods
    assert capsys.readouterr().out.count("\n| ") == 2 * (methods + 2)
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert (lines["n"] == 50).all() and lines["error"].between(0.1, 0.6).all()
    rows = lines[[f"rows_{i}" for i in range(honesty.BINS)]].sum(axis=1)
    assert (rows == 30).all()
    assert run_of_honesty("--repeats", "2").equals(lines)


def test_slope_and_error_of_probabilities_that_are_right_or_too_extreme() -> None:
    rng = np.random.default_rng(0)
    right = rng.uniform(0.05, 0.95, 20_000)
    came = rng.random(20_000) < right
    odds = np.log(right / (1 - right))
    extreme = 1 / (1 + np.exp(-2 * odds))
    slopes = [honesty.calibration(said, came)["slope"] for said in (right, extreme)]
    assert slopes == pytest.approx([1.0, 0.5], abs=0.05)
    errors = [
        honesty.calibration_error(pd.DataFrame([honesty.calibration(said, came)]))
        for said in (right, extreme)
    ]
    assert errors[0] < 0.02 < 0.08 < errors[1]


# ------------------------------------------------------------------------------------------------
# The benchmark of limits of the size of boosted trees.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_boosted_sizes(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=list("ab"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    sides = {
        "score": score,
        "sides": np.where(score > 0, "high", "low"),
        "thirds": np.select([score < -0.7, score > 0.7], ["low", "high"], "mid"),
    }
    for name, y in sides.items():
        data.assign(y=y).to_csv(tmp_path / f"{name}.csv.gz", index=False)
    index = {"name": list(sides), "task": ["regression", "classification", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report_of_boosted_sizes(folder_of_boosted_sizes, capsys, monkeypatch):
    monkeypatch.setattr(boosted_sizes, "LIMITS", {"default": {}, "depth 1": {"max_depth": 1}})
    out = folder_of_boosted_sizes / "out.csv"
    words = [
        "boosted_sizes.py",
        "--data",
        str(folder_of_boosted_sizes),
        "--repeats",
        "1",
        "--out",
        str(out),
    ]
    monkeypatch.setattr("sys.argv", words)
    assert boosted_sizes.main() == 0
    lines = pd.read_csv(out)
    limits = lines.groupby("table")["limit"].unique()
    assert limits["score"].tolist() == ["default", "depth 1"]
    assert len(limits["sides"]) == len(limits["thirds"]) == 4
    assert lines.groupby("table")["classes"].first().tolist() == [1, 2, 3]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["boosted_sizes.py", "--report", str(out)])
    assert boosted_sizes.main() == 0
    assert capsys.readouterr().out == told
    for title in ("numbers, rpe", "two classes, log_loss", "more classes, error_percent"):
        assert f"{title}, 1 tables:" in told


def test_seconds_are_compared_with_the_default_s():
    lines = pd.DataFrame(
        {
            "table": ["a", "a", "b", "b"],
            "place": [1, 1, 2, 2],
            "partition": 0,
            "limit": ["default", "depth 3"] * 2,
            "classes": 1,
            "seconds": [2.0, 1.0, 8.0, 1.0],
            "rpe": [0.1, 0.2, 0.2, 0.2],
            "error_percent": np.nan,
            "log_loss": np.nan,
        }
    )
    (line,) = [row for row in boosted_sizes.report(lines).splitlines() if "depth 3" in row]
    assert line.split("|")[-2].strip() == "0.25"  # of 1/2 and 1/8
    assert line.split("|")[2].strip() == "+95.2"  # 0.205 / 0.105


# ------------------------------------------------------------------------------------------------
# The benchmark of ordered classes runs, resumes, and scores by its definitions.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def run_of_ordinal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on the simulated table and a small one and return what its csv holds."""
    few = {name: ordinal.KINDS[name] for name in ("tree", "forest")}
    monkeypatch.setattr(ordinal, "KINDS", few)
    rng = np.random.default_rng(1)
    pd.DataFrame({"name": ["strike"], "task": ["regression"]}).to_csv(
        tmp_path / "index.csv", index=False
    )
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    data.assign(y=data["a"] + rng.normal(size=90)).to_csv(tmp_path / "strike.csv.gz", index=False)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 12 --rows 60"
        monkeypatch.setattr(sys, "argv", ["ordinal.py", *always.split(), *options])
        assert ordinal.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run_of_ordinal(
    run_of_ordinal: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run_of_ordinal("--repeats", "2")
    assert len(lines) == 2 * 2 * 2 * 2
    assert capsys.readouterr().out.count("\n| ") == 2 * (2 + 2)
    assert (lines["n"] == 60).all()
    assert lines["rank_error"].between(0.3, 2).all() and lines["rps"].between(0.05, 0.4).all()
    assert (lines["rank_error"] >= lines["error"]).all()
    own = lines[lines["classes"] == "ordinal"]
    assert (own["rank_error"] == own["median_rank_error"]).all()
    assert run_of_ordinal("--repeats", "2").equals(lines)


def test_scores_by_hand() -> None:
    shares = np.array([[0.5, 0.25, 0.25], [0.0, 0.2, 0.8]])
    found = ordinal.scores(np.array([2, 2]), shares, np.array([0, 1]))
    assert found["error"] == 1.0
    assert found["rank_error"] == 1.5
    assert found["median_rank_error"] == 0.5
    # (.5 - 1)² and (.75 - 1)²; (0 - 0)² and (.2 - 1)²
    assert found["rps"] == pytest.approx((0.25 + 0.0625 + 0 + 0.64) / 4)


def test_numbers_are_cut_into_classes_alike_in_size() -> None:
    found = ordinal.cut(np.arange(100.0))
    assert found.value_counts().tolist() == [20] * 5
    assert found.ordered
    assert len(ordinal.cut(np.repeat([1.0, 2.0], 50)).categories) == 2


# ------------------------------------------------------------------------------------------------
# The benchmark of the scales of splits on a small table.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_split_scales(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = np.exp(data["a"] + data["b"] + rng.normal(size=90))
    data.assign(y=np.where(score > 1, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["sides", "score"], "task": ["classification", "regression"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report_of_split_scales(folder_of_split_scales, capsys, monkeypatch):
    out = folder_of_split_scales / "out.csv"
    words = [
        "split_scales.py",
        "--data",
        str(folder_of_split_scales),
        "--trees",
        "20",
        "--repeats",
        "2",
    ]
    monkeypatch.setattr("sys.argv", [*words, "--out", str(out)])
    with with_few_pilots():
        assert split_scales.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["score"]
    assert lines["scale"].tolist() == 2 * split_scales.SCALES
    assert lines["place"].unique().tolist() == [2]
    for _, of_partition in lines.groupby("partition"):
        by_scale = of_partition.set_index("scale")
        assert by_scale.loc["auto", "rpe"] == by_scale.loc[by_scale.loc["auto", "chosen"], "rpe"]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["split_scales.py", "--report", str(out)])
    assert split_scales.main() == 0
    assert capsys.readouterr().out == told
    assert "1 tables, in per cent:" in told and '"auto" chose' in told


def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["split_scales.py", "--data", str(tmp_path)])
    assert split_scales.main() == 0
    assert "nothing to do" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------
# The benchmark of early stopping of boosted trees for survival times.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("read_anew")
def test_a_run_and_its_report_of_boosted_survival(tmp_path, capsys, monkeypatch):
    data = proportional_hazards(p=2, relevant=1).sample(90, seed=1)
    data = data.assign(status=data.pop("event").astype(int), fold=data.index % 3)
    data["group"] = data.index.map(lambda row: "ab"[row % 2])
    data.to_csv(tmp_path / "lives.csv.gz", index=False)
    pd.DataFrame({"name": ["lives"]}).to_csv(tmp_path / "index.csv", index=False)
    ways = {name: how | {"n_trees": 2} for name, how in boosted_survival.WAYS.items()}
    monkeypatch.setattr(boosted_survival, "WAYS", ways)
    out = tmp_path / "out.csv"
    words = ["boosted_survival.py", "--data", str(tmp_path), "--repeats", "2", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert boosted_survival.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * (len(ways) + 1)
    by_curve = lines[lines["way"] == boosted_survival.KAPLAN_MEIER]["brier"].mean()
    told = capsys.readouterr().out
    assert f"| {boosted_survival.KAPLAN_MEIER} | {by_curve:.4f} | 0 |" in told
    monkeypatch.setattr("sys.argv", ["boosted_survival.py", "--report", str(out)])
    assert boosted_survival.main() == 0
    assert capsys.readouterr().out == told


@pytest.mark.usefixtures("read_anew")
def test_means_count_tables_that_are_worse_than_the_curve():
    ways = ["one run", boosted_survival.KAPLAN_MEIER]
    lines = pd.DataFrame(
        {"table": ["a", "a", "b", "b"], "fold": 0, "way": ways * 2, "harrell": 0.6, "seconds": 1.0}
    ).assign(brier=[0.2, 0.1, 0.2, 0.3])
    found = boosted_survival.report(lines)
    assert "| one run | 0.2000 | 1 | 0.6000 | 1.00 |" in found
    assert "Means of 2 tables" in found


@pytest.fixture
def read_anew():
    yield
    boosted_survival.rows_of.cache_clear()


# ------------------------------------------------------------------------------------------------
# The benchmark of objectives on a small table.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_objectives(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    data.assign(y=np.where(score > 0, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score", "sides"], "task": ["regression", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report_of_objectives(folder_of_objectives, capsys, monkeypatch):
    out = folder_of_objectives / "out.csv"
    words = [
        "objectives.py",
        "--data",
        str(folder_of_objectives),
        "--trees",
        "12",
        "--out",
        str(out),
    ]
    monkeypatch.setattr("sys.argv", words)
    assert objectives.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["sides"]
    assert lines["objective"].tolist() == ["error", "brier", "log_loss"]
    assert lines["place"].unique().tolist() == [2]
    assert lines["log_loss"].nunique() == 3
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["objectives.py", "--report", str(out)])
    assert objectives.main() == 0
    assert capsys.readouterr().out == told
    for measure in objectives.MEASURED:
        for base in ("error", "brier"):
            assert f"{measure} beside {base}, 1 tables:" in told


def test_without_tables_there_is_nothing_to_do_of_objectives(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["objectives.py", "--data", str(tmp_path)])
    assert objectives.main() == 0
    assert "nothing to do" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------
# The benchmark of sizes of a single tree runs, resumes, and says where there is nothing to do.
# ------------------------------------------------------------------------------------------------


def test_three_sizes_of_each_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.random((150, 3)), columns=list("abc"))
    noisy = data["a"] + rng.normal(size=150) / 3
    out = tmp_path / "sizes.csv"

    def run() -> str:
        argv = f"sizes.py --data {tmp_path} --out {out} --rows 150 --partitions 2"
        monkeypatch.setattr(sys, "argv", argv.split())
        assert sizes.main() == 0
        return capsys.readouterr().out

    assert run() == ""
    data.assign(y=noisy).to_csv(tmp_path / "number.csv.gz", index=False)
    data.assign(y=np.where(noisy > 0.5, "u", "v")).to_csv(tmp_path / "class.csv.gz", index=False)
    rows = ["number,regression,150", "class,classification,150", "large,regression,151"]
    (tmp_path / "index.csv").write_text("\n".join(["name,task,n", *rows]))
    printed = run()
    assert printed.count("\n| ") == 3 * 3 + 1 + 2 + 2
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["number", "class"]
    leaves = lines.pivot_table(index=["table", "partition"], columns="size", values="leaves")
    assert (leaves["grown"] >= leaves["min"]).all()
    assert (leaves["min"] >= leaves["1se"]).all()
    assert run() == printed
