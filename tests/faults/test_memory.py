"""Work that memory cannot hold is refused beforehand, with the figures; nothing is killed."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from apart import python
from odrf import projections
from odrf.engine import memory
from odrf.engine.boosting.runs import added_up_by_run
from odrf.engine.growth import forest_builder
from odrf.engine.numeric import streams
from odrf.pruning.validation import held_out_sums
from odrf.statistics.curves import similarity_order
from odrf.statistics.importance_tests import gaussian_knockoffs

MB = 2**20


@pytest.fixture
def little(monkeypatch):
    """Half a gigabyte is free."""
    monkeypatch.setattr(memory, "available_memory", lambda: 512 * MB)


FIGURES = r"would take [\d.,]+ [GM]B of memory, and 536\.9 MB are free: use fewer "


@pytest.fixture(scope="module")
def many_classes():
    """500 trees of so many classes take several gigabytes."""
    n = 3000
    frame = pd.DataFrame({"a": np.arange(n) % 7, "b": np.arange(n) % 11, "c": np.arange(n) % 13})
    return frame.assign(y=[f"c{k}" for k in np.random.default_rng(0).integers(500, size=n)])


def test_large_trees_are_refused_when_the_first_is_known(little, many_classes):
    options = {"blend": False, "min_leaf": 1, "projection": "axis", "seed": 1}
    with pytest.raises(MemoryError, match="500 trees like the first " + FIGURES):
        odrf.odrf("y ~ .", many_classes, n_trees=500, **options)


def test_the_refusal_says_what_would_fit(rows, monkeypatch):
    """As many trees as it says can be grown, more cannot."""
    monkeypatch.setattr(memory, "SMALL", 0)
    options = {"blend": False, "min_leaf": 1, "seed": 1}
    of_tree = odrf.odrf("y ~ .", rows, n_trees=1, **options).forest.nbytes
    monkeypatch.setattr(memory, "available_memory", lambda: 60 * of_tree)
    with pytest.raises(MemoryError) as refused:
        odrf.odrf("y ~ .", rows, n_trees=300, **options)
    said = re.search(
        r"\(n_trees=(\d+)\), fewer leaves \(max_leaves=(\d+)\), larger ones \(min_leaf= about "
        r"([\d.]+) times as large\), or .* \(sample_fraction= times ([\d.]+)\)",
        str(refused.value),
    )
    assert said is not None
    n_trees, leaves, times, share = (float(number) for number in said.groups())
    assert 50 <= n_trees <= 60
    assert share == pytest.approx(1 / times, abs=0.02)
    assert odrf.odrf("y ~ .", rows, n_trees=int(n_trees), **options).forest.n_trees == n_trees
    smaller = odrf.odrf("y ~ .", rows, n_trees=300, **options | {"max_leaves": int(leaves)})
    assert smaller.forest.nbytes < 60 * of_tree


def test_a_blend_is_refused_after_one_tree_of_each_kind(rows, monkeypatch):
    grown, grow = [], forest_builder.TreeGrower.__call__
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 100_000)

    def counted(grower, stream):
        grown.append(stream)
        return grow(grower, stream)

    monkeypatch.setattr(forest_builder.TreeGrower, "__call__", counted)
    with pytest.raises(MemoryError, match="2000 trees like the smallest of the first would take"):
        odrf.odrf("y ~ .", rows, n_trees=2000, n_jobs=1, seed=1)
    assert len(grown) == 4


def test_a_large_tree_is_refused_while_it_grows(many_classes, monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * MB)
    with pytest.raises(MemoryError, match=r"a tree of more than \d+ nodes would take"):
        odrf.odt("y ~ .", many_classes, min_leaf=1, projection="axis", alpha=None, seed=1)


def test_boosted_trees_are_refused_when_the_first_are_known(rows, monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 300_000)
    with pytest.raises(MemoryError, match="1000 trees like the first would take"):
        odrf.odbt("y ~ .", rows, n_trees=1000, seed=1)


def test_a_table_that_does_not_fit_is_refused(rows, monkeypatch):
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 4 * 300 * 4 - 1)
    with pytest.raises(MemoryError, match="300 rows and 4 columns would take"):
        odrf.odt("y ~ .", rows)


@pytest.mark.parametrize(
    "work",
    [
        lambda fit, rows: fit.predict(rows),
        lambda fit, rows: fit.predict(rows, type="leaf"),
        lambda fit, rows: fit.grow(500),
    ],
)
def test_what_follows_a_fit_is_refused(rows, monkeypatch, work):
    fit = odrf.odrf("y ~ .", rows, n_trees=12, seed=1)
    before = fit.predict(rows)
    with monkeypatch.context() as changed:
        changed.setattr(memory, "SMALL", 0)
        changed.setattr(memory, "available_memory", lambda: 1000)
        with pytest.raises(MemoryError, match="would take"):
            work(fit, rows)
    assert fit.predict(rows).equals(before)


def test_trees_do_not_copy_a_table_that_memory_cannot_hold_twice(rows, monkeypatch):
    """They are the same trees, grown more slowly."""
    options = {"projection": "axis", "blend": False, "n_trees": 4, "seed": 1}
    usual, copies = odrf.odrf("y ~ .", rows, **options).predict(rows), []
    grow = forest_builder.TreeBuilder.tree

    def recorded(builder, *arguments):
        copies.append(builder.copied)
        return grow(builder, *arguments)

    monkeypatch.setattr(forest_builder, "pays_to_copy", lambda p, columns_read: True)
    monkeypatch.setattr(forest_builder.TreeBuilder, "tree", recorded)
    assert odrf.odrf("y ~ .", rows, **options).predict(rows).equals(usual)
    monkeypatch.setattr(forest_builder, "is_available", lambda needed: False)
    assert odrf.odrf("y ~ .", rows, **options).predict(rows).equals(usual)
    assert copies == [True] * 4 + [False] * 4


def test_a_copy_of_few_rows_needs_little_memory(rows, monkeypatch):
    """It is of the rows that a tree draws, and not of all."""
    asked = []

    def noted(needed):
        asked.append(needed)
        return True

    monkeypatch.setattr(forest_builder, "is_available", noted)
    monkeypatch.setattr(forest_builder, "pays_to_copy", lambda p, columns_read: True)
    options = {"blend": False, "n_trees": 4, "n_jobs": 2, "resample": "subsample", "seed": 1}
    fit = odrf.odrf("y ~ .", rows, sample_fraction=0.1, **options).fit
    assert asked == [pytest.approx(2 * 0.1 * fit.data.X.nbytes)]


def system(root, **files):
    """Write what Linux tells about memory."""
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


MEMINFO = "MemTotal: 900 kB\nMemAvailable:   500 kB\nSwapFree: 100 kB\n"
SECOND = "sys__fs__cgroup__"


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, float("inf")),
        ({"proc__meminfo": MEMINFO}, 600 * 1024),
        ({"proc__meminfo": "nothing that is known\n"}, float("inf")),
        (
            {
                "proc__meminfo": MEMINFO,
                "proc__self__cgroup": "0::/a/b\n",
                f"{SECOND}a__b__memory.max": "max\n",
                f"{SECOND}a__b__memory.current": "1\n",
                f"{SECOND}a__memory.max": "5000\n",
                f"{SECOND}a__memory.current": "3000\n",
                f"{SECOND}a__memory.stat": "anon 1\ninactive_file 700\n",
            },
            2700,
        ),
        (
            {
                "proc__self__cgroup": "5:cpu,cpuacct:/\n4:memory:/elsewhere\n0::/\n",
                f"{SECOND}memory__memory.limit_in_bytes": "4000\n",
                f"{SECOND}memory__memory.usage_in_bytes": "5000\n",
                f"{SECOND}memory__memory.stat": "total_inactive_file 10\n",
            },
            0,
        ),
    ],
)
def test_the_least_of_what_the_system_allows_is_free(tmp_path, files, free):
    assert memory.available_memory(system(tmp_path, **files)) == free


LARGE = ["--set=n_trees=500", "--set=blend=False", "--set=min_leaf=1", "--set=projection=axis"]
LIMITED = """
import resource, sys
from odrf.cli import main
from odrf.engine.memory import available_memory
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, resource.RLIM_INFINITY))
print(available_memory())
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_the_command_refuses_what_its_limit_does_not_allow(many_classes, tmp_path):
    path = tmp_path / "table.csv"
    many_classes.to_csv(path, index=False)
    done = python(LIMITED, "fit", "y ~ .", path, *LARGE)
    assert abs(float(done.stdout) - 2**29) < 2**26
    assert done.returncode == 2
    assert re.match("odrf: error: 500 trees like the first would take .* free: use", done.stderr)


# ------------------------------------------------------------------------------------------------
# What grows with rows × rows, rows × trees, levels × rows or columns² is refused beforehand.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def free(monkeypatch):
    """Return a function that leaves so many bytes free."""

    def leave(size):
        monkeypatch.setattr(memory, "SMALL", 0)
        monkeypatch.setattr(memory, "available_memory", lambda: size)

    return leave


def trees_of(fit):
    """Return trees, rows and starts of boosting runs."""
    return fit.fit.boosted.forest, fit.fit.data.X, fit.fit.boosted.starts


@pytest.fixture(scope="module")
def fits(rows):
    grown = {
        "forest": odrf.odrf("y ~ .", rows, n_trees=12, seed=1),
        "coarse": odrf.odrf("y ~ .", rows, n_trees=12, min_leaf=40, seed=1),
        "boosted": odrf.odbt("y ~ .", rows, n_trees=20, seed=1),
        "runs": odrf.odbt("y ~ .", rows, n_trees=3, n_runs=12, seed=1),
        "guided": odrf.graf("y ~ .", rows, n_trees=12, seed=1),
    }
    return SimpleNamespace(**grown, near=grown["coarse"].proximity(), rows=rows)


OF_RESULTS = {
    "draws": (3599, lambda fits: fits.forest.fit.draws.all_unseen(),
              "which of 300 rows each of 12 trees drew"),
    "leaves": (40_000, lambda fits: fits.coarse.proximity(), "the leaves of 300 rows in 12 trees"),
    "plain": (60_000, lambda fits: fits.coarse.proximity(),
              "the proximities of 300 rows to 300 rows"),
    "oob": (60_000, lambda fits: fits.coarse.proximity(type="oob"),
            "the proximities of 300 rows to 300 rows"),
    "weights": (60_000, lambda fits: fits.coarse.proximity(type="weights"),
                "the proximities of 300 rows to 300 rows"),
    "frame": (8 * 300 * 300 - 1, lambda fits: fits.near.to_frame(),
              "a data frame of 300 rows and 300 columns"),
    "rounds": (20_000, lambda fits: fits.boosted.staged_predict(fits.rows),
               "the scores of 300 rows for 20 rounds"),
    "trees": (24 * 300 * 12 - 1, lambda fits: fits.forest.predict(fits.rows, type="trees"),
              "300 predictions of each of 12 trees"),
    "strength": (32 * 300 * 12 - 1, lambda fits: fits.forest.strength_correlation(),
                 "the errors of 300 rows in 12 trees"),
    "runs": (28_799, lambda fits: added_up_by_run(*trees_of(fits.runs), 1),
             "the scores of 300 rows for 12 runs"),
    "shares": (3_199, lambda fits: fits.forest.shap(fits.rows[:50]),
               "the 4 × 1 values of each of 50 rows and their errors"),
    "interactions": (5_000, lambda fits: fits.forest.shap_interactions(fits.rows[:20]),
                     "the 4 × 4 × 1 values of each of 20 rows and their errors"),
    "planes": (10_000, lambda fits: fits.guided.predict(fits.rows),
               "12 guided trees with a plane for each region"),
    "permutation": (5_000, lambda fits: fits.forest.importance(type="permutation"),
                    "the losses of 300 rows for 4 predictors"),
    "sizes": (10_000, lambda fits: fits.forest.pruning_path(), r"the losses of 300 rows at \d+"),
    "curves": (1_500, lambda fits: fits.forest.partial("a"), r"curves of 12 trees at \d+ points"),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_RESULTS)
def test_a_method_is_refused(fits, free, name):
    size, work, words = OF_RESULTS[name]
    free(size)
    with pytest.raises(MemoryError, match=f"{words}.* would take .* are free: "):
        work(fits)


def test_guided_trees_are_refused_when_the_first_is_known(rows, free):
    free(400_000)
    with pytest.raises(MemoryError, match="1000 trees like the first would take"):
        odrf.graf("y ~ .", rows, n_trees=1000, seed=1)


def test_means_of_many_groups_are_refused(fits, free):
    newdata = fits.rows.assign(group=np.arange(300) % 100)
    free(16 * 12 * 100 - 1)
    with pytest.raises(MemoryError, match="the means of 12 trees in 100 groups would take"):
        fits.forest.predictions(newdata=newdata, by="group")


COMPONENTS, RNG = projections.PrincipalComponents(), np.random.default_rng(0)
OF_ARRAYS = {
    "rotation": (lambda: projections.Rotation().rotation(streams(1, 0, 1)[0], OF_COLUMNS, None),
                 12, "a rotation of 60 columns"),
    "components": (lambda: COMPONENTS.rotation(streams(1, 0, 1)[0], OF_COLUMNS, None),
                   4, "a rotation of 60 columns"),
    "knockoffs": (lambda: gaussian_knockoffs(RNG.normal(size=(90, 60)), RNG),
                  40, "the covariance of 60 columns"),
    "levels": (lambda: similarity_order(np.arange(60), 60, [pd.Series(np.arange(20), name="a")]),
               8, "the shares of 20 values of 'a' in 60 levels"),
    "groups": (lambda: held_out_sums(np.ones((60, 60)), np.ones(60), np.arange(60)),
               8, "the errors of 60 subtrees in 60 groups"),
}  # fmt: skip
OF_COLUMNS = SimpleNamespace(X=np.empty((60, 1)))


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_an_array_is_refused(free, name):
    work, of_each, words = OF_ARRAYS[name]
    free(of_each * 60 * 60 - 1)
    with pytest.raises(MemoryError, match=f"{words} would take"):
        work()


def test_proximities_that_fit_are_not_refused_by_what_is_only_possible(fits, free):
    """Rows share a leaf in several trees: there are fewer pairs than shared leaves."""
    near = fits.near.matrix
    free(13 * near.nnz)
    assert (fits.coarse.proximity().matrix != near).nnz == 0
