"""Progress bars know their end, and reach it."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
from functools import partial
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread

import pytest

import odrf
from odrf import load_data
from odrf.public.progress import progress_bar
from signatures import callables

ROOT = Path(__file__).parents[1] / "odrf"


def bars():
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "progress_bar(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "progress_bar":
                yield path.relative_to(ROOT), node


def test_every_bar_has_a_total():
    found = list(bars())
    without = [
        f"{path}:{node.lineno}"
        for path, node in found
        if not node.args and not any(option.arg == "total" for option in node.keywords)
    ]
    assert not without
    assert len(found) > 10


@pytest.mark.parametrize("name", ["ODTResults", "ODRFResults", "ODBTResults", "GRAFResults"])
@pytest.mark.parametrize("method", ["summary", "plot", "importance", "save"])
def test_each_kind_of_fit_has_bars(name, method):
    assert "progress" in signature(callables()[f"{name}.{method}"]).parameters


@pytest.fixture(scope="module")
def data():
    return load_data("diabetes")[:200]


@pytest.fixture(scope="module")
def forest(data):
    return odrf.odrf("progression ~ .", data, n_trees=12, blend=False, seed=1)


@pytest.fixture(scope="module")
def tree(data):
    return odrf.odt("progression ~ .", data, min_leaf=40, seed=1)


FORMULA = "progression ~ ."
WORK = {
    "odrf": lambda d, f, t: odrf.odrf(FORMULA, d, n_trees=20, blend=False, progress=True, seed=1),
    "a blend": lambda d, f, t: odrf.odrf(
        FORMULA, d, n_trees=90, blend=True, progress=True, seed=1
    ),
    "a blend of few": lambda d, f, t: odrf.odrf(
        FORMULA, d, n_trees=30, blend=True, progress=True, seed=1
    ),
    "a blend that grows": lambda d, f, t: odrf.odrf(
        FORMULA, d, n_trees=60, blend=True, seed=1
    ).grow(60, progress=True),
    "odbt": lambda d, f, t: odrf.odbt(FORMULA, d, n_trees=20, progress=True, seed=1),
    "graf": lambda d, f, t: odrf.graf(FORMULA, d, n_trees=5, progress=True, seed=1),
    "grow": lambda d, f, t: f.grow(5, progress=True),
    "update": lambda d, f, t: f.update(d[:20], progress=True),
    "foresight": lambda d, f, t: odrf.foresee(FORMULA, d, n_trees=5, progress=True, seed=1),
    "foresight of a tree": lambda d, f, t: odrf.foresee(
        FORMULA, d, model=odrf.odt, progress=True, seed=1
    ),
    "foresight of rows in chunks": lambda d, f, t: odrf.foresee(
        FORMULA, [d], n_trees=5, progress=True, seed=1
    ),
    "foresight of a tree in chunks": lambda d, f, t: odrf.foresee(
        FORMULA, [d], model=odrf.odt, progress=True, seed=1
    ),
    "importance": lambda d, f, t: f.importance("permutation", progress=True),
    "out-of-bag importance": lambda d, f, t: f.importance(progress=True),
    "a summary": lambda d, f, t: odrf.odt(FORMULA, d, seed=1).summary(progress=True),
    "a plot": lambda d, f, t: odrf.odbt(FORMULA, d, n_trees=9, seed=1).plot(progress=True),
    "a file": lambda d, f, t: f.save(Path(mkdtemp()) / "forest.odrf", progress=True),
    "held-out importance": lambda d, f, t: t.importance(progress=True),
    "of boosted trees": lambda d, f, t: odrf.odbt(
        FORMULA, d, n_trees=9, seed=1
    ).importance(progress=True),
    "of guided trees": lambda d, f, t: odrf.graf(
        FORMULA, d, n_trees=9, seed=1
    ).importance(progress=True),
    "elimination": lambda d, f, t: f.select_variables(progress=True),
    "elimination of shares": lambda d, f, t: f.select_variables(drop=0.4, progress=True),
    "strength": lambda d, f, t: f.strength_correlation([2, 3], progress=True),
    "pruning path": lambda d, f, t: t.pruning_path(cv=3, progress=True),
    "growth path": lambda d, f, t: t.growth_path(cv=3, progress=True),
    "pruning path of a forest": lambda d, f, t: f.pruning_path(progress=True),
    "growth path of a forest": lambda d, f, t: f.growth_path(progress=True),
    "confidence intervals": lambda d, f, t: f.predict(d, interval="confidence", progress=True),
    "new rows": lambda d, f, t: f.predict(d, progress=True),
    "prediction intervals": lambda d, f, t: f.predict(d, interval="prediction", progress=True),
    "of training rows": lambda d, f, t: f.predict(interval="prediction", progress=True),
    "quantiles": lambda d, f, t: f.predict(d, type="quantile", progress=True),
    "summary of boosted trees": lambda d, f, t: odrf.odbt(
        FORMULA, d, n_trees=9, seed=1
    ).summary(progress=True),
    "plot": lambda d, f, t: odrf.graf(FORMULA, d, n_trees=9, seed=1).plot(progress=True),
    "plot of a tree": lambda d, f, t: odrf.odt(FORMULA, d, min_leaf=40, seed=1).plot(
        "importance", progress=True
    ),
    "pruning": lambda d, f, t: t.prune(rule="1se", progress=True),
    "pruning of a forest": lambda d, f, t: f.prune(rule="1se", progress=True),
    "pruning out of bag": lambda d, f, t: f.prune(rule="oob", progress=True),
    "leaves": lambda d, f, t: f.predict(d, type="leaf", progress=True),
    "predictions of each tree": lambda d, f, t: t.predict(d, type="trees", progress=True),
    "selected predictors": lambda d, f, t: f.select_variables().best(progress=True),
    "best of a grid": lambda d, f, t: odrf.tune(
        FORMULA, d, {"min_leaf": [2, 30]}, n_trees=10, blend=False, seed=1
    ).best(progress=True),
    "directions": lambda d, f, t: f.projection_importance(3, resamples=2, progress=True),
    "compare": lambda d, f, t: odrf.compare(
        FORMULA, d, {"a": odrf.odt, "b": partial(odrf.odt, max_leaves=4)}, cv=3, progress=True
    ),
    "tune": lambda d, f, t: odrf.tune(
        FORMULA, d, {"min_leaf": range(2, 7)}, n_trees=400, projection="axis", halving=True,
        blend=False, max_leaves=3, progress=True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_a_bar_reaches_its_end(name, data, forest, tree, capsys):
    WORK[name](data, forest, tree)
    shown = capsys.readouterr().err.replace("\r", "\n").strip().splitlines()
    assert re.match(r"[a-z][a-z -]*: ", shown[-1])  # what is counted
    done, total = re.search(r"([\d.]+[kM]?)/([\d.]+[kM]?) \[", shown[-1]).groups()
    assert done == total != "0"


def test_a_notebook_without_widgets_has_a_bar_of_text():
    code = """
import sys, types, warnings
warnings.simplefilter("error")
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipywidgets"] = None
from odrf.public.progress import progress_bar
for _ in progress_bar(range(3), unit="tree", progress=True): pass
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "trees: 100%" in done.stderr and "3/3" in done.stderr


def test_tqdm_is_loaded_for_the_first_bar_only():
    code = "import odrf, sys; print('tqdm' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT.parent, capture_output=True, text=True, check=False
    )
    assert done.stdout == "False\n"


def in_thread(work):
    """Return whether the work ends in another thread, which would wait for a locked bar."""
    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    return not thread.is_alive()


class Interrupted(io.StringIO):
    """A screen: Ctrl-C comes while its third line is drawn."""

    lines = 0

    def write(self, text):
        self.lines += 1
        if self.lines == 3:
            raise KeyboardInterrupt
        return super().write(text)


def test_ctrl_c_while_a_bar_is_drawn_locks_no_other_bar():
    options = {"total": 9, "unit": "tree", "progress": True, "mininterval": 0}
    bar = progress_bar(file=Interrupted(), **options)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(9):
            bar.update()
    assert in_thread(progress_bar(file=io.StringIO(), **options).update)


def test_a_fit_without_a_bar_waits_for_no_bar():
    bar = progress_bar(total=1, unit="tree", progress=True, file=io.StringIO())
    with bar.get_lock():
        assert in_thread(lambda: progress_bar(total=1, unit="tree", progress=False).update())


def test_a_bar_that_cannot_be_written_does_not_end_the_work():
    class Full(io.StringIO):
        def write(self, text):
            raise OSError("no room")

    closed = io.StringIO()
    for file in (Full(), closed):
        with progress_bar(total=3, progress=True, unit="step", file=file) as bar:
            bar.update()
            closed.close()
            bar.update(2)
        assert bar.n == 3
