"""Subjects in several rows: follow-up, events and sizes of leaves are theirs, not those of rows."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import simulate
from odrf.statistics.survival.curves import kaplan_meier

FORMULA = "Surv(start, time, event) ~ x1 + x2 + x3"


def whole_subjects(n: int = 240) -> pd.DataFrame:
    data = simulate.proportional_hazards(p=3, relevant=2).sample(n, seed=3)
    return data.assign(start=0.0, event=data["event"].astype(int), subject=np.arange(n))


def in_several_rows(data: pd.DataFrame, length: float) -> pd.DataFrame:
    """The same subjects, their rows cut at each multiple of a length of time."""
    pieces = np.ceil(data["time"] / length).astype(int)
    rows = data.loc[data.index.repeat(pieces)].reset_index(drop=True)
    number = rows.groupby("subject").cumcount()
    last = ~rows["subject"].duplicated(keep="last")
    ends = np.where(last, rows["time"], (number + 1) * length)
    return rows.assign(start=number * length, time=ends, event=rows["event"] * last)


@pytest.fixture(scope="module")
def whole():
    return whole_subjects()


@pytest.fixture(scope="module")
def cut(whole):
    return in_several_rows(whole, float(whole["time"].median() / 3))


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf], ids=["tree", "forest"])
def test_summaries_are_of_subjects(whole, cut, grow):
    options = {"groups": "subject", "seed": 1, "max_leaves": 3}
    options |= {"n_trees": 5, "blend": False} if grow is odrf.odrf else {}
    facts, of_rows = (grow(FORMULA, data, **options).summary().facts for data in (whole, cut))
    for name in ("Median follow-up", "Median survival time", "Person-time"):
        assert of_rows[name] == facts[name]
    n, events = len(whole), whole["event"].sum()
    assert of_rows["Events"] == f"{events} of {n} subjects ({100 * events / n:.3g}%)"
    assert of_rows["Min. leaf"].endswith("subjects have")
    lost = kaplan_meier(whole["time"].to_numpy(), whole["event"].to_numpy() == 0)
    assert float(of_rows["Median follow-up"]) == pytest.approx(lost.quantile(), rel=1e-3)


def test_events_that_come_again_are_told_apart_from_subjects(whole, cut):
    again = cut.assign(event=1)
    facts = odrf.odt(FORMULA, again, groups="subject", seed=1, max_leaves=2).summary().facts
    n = len(whole)
    assert facts["Events"] == f"{len(cut)}, in {n} of {n} subjects (100%)"


def test_leaves_are_as_large_as_of_whole_subjects(whole, cut):
    options = {"groups": "subject", "n_trees": 5, "blend": False, "seed": 1}
    rows = len(cut) / len(whole)
    for given in ({}, {"min_leaf": 12}):
        sizes = [
            odrf.odrf(FORMULA, data, **options, **given).fit.control.min_leaf
            for data in (whole, cut)
        ]
        assert sizes[1] == round(sizes[0] * rows)
    blends = [
        odrf.odrf(FORMULA, data, groups="subject", n_trees=20, blend=True, seed=1)
        for data in (whole, cut)
    ]
    leaves, of_rows = (fit.kinds["min_leaf"] for fit in blends)
    assert of_rows.tolist() == (leaves * rows).round().tolist()
    with pytest.raises(odrf.InputError, match=f"number of subjects, {len(whole)}"):
        odrf.odt(FORMULA, cut, groups="subject", min_leaf=len(whole) + 1)


def test_groups_whose_rows_overlap_are_no_subjects(whole):
    data = whole.assign(clinic=whole["subject"] % 40)
    control = odrf.odt(FORMULA, data, groups="clinic", min_leaf=9, seed=1).fit.control
    assert control.min_leaf == 9
    facts = odrf.odt(FORMULA, data, groups="clinic", max_leaves=2, seed=1).summary().facts
    assert "subjects" not in facts["Events"]


def test_rows_of_weight_0_make_no_groups_of_subjects(whole, cut):
    none = cut.head(3).assign(w=0.0, start=0.0, time=float(cut["time"].max()))
    data = pd.concat([cut.assign(w=1.0), none], ignore_index=True)
    tree = odrf.odt(FORMULA, data, groups="subject", weights="w", max_leaves=3, seed=1)
    facts = odrf.odt(FORMULA, whole, groups="subject", max_leaves=3, seed=1).summary().facts
    assert tree.summary().facts["Median follow-up"] == facts["Median follow-up"]


def test_late_entries_without_groups_are_said_to_be_subjects_of_their_own(cut):
    alone = odrf.odt(FORMULA, cut, max_leaves=2, seed=1).summary()
    named = odrf.odt(FORMULA, cut, groups="subject", max_leaves=2, seed=1).summary()
    assert "subjects by groups=" in " ".join(alone.notes)
    assert "subjects by groups=" not in " ".join(named.notes)


def test_nodes_count_subjects_beside_rows(whole, cut):
    tree = odrf.odt(FORMULA, cut, groups="subject", max_leaves=4, seed=1)
    nodes, leaf = tree.nodes, tree.predict(type="leaf")[0]
    for node in nodes.index[nodes["leaf"]]:
        assert nodes.loc[node, "subjects"] == cut["subject"][(leaf == node).to_numpy()].nunique()
    assert nodes.loc[0, "subjects"] == len(whole) < nodes.loc[0, "count"]
    assert f"n = {len(cut)}  subjects = {len(whole)}" in tree.rules()
    (leaves,) = (t for name, t in tree.summary().sections.items() if name.startswith("Leaves"))
    assert list(leaves)[:3] == ["count", "subjects", "events"]
    ax = tree.plot()
    written = {text.get_text() for text in ax.texts}
    assert {f"{number} subjects" for number in leaves["subjects"]} <= written
    plt.close(ax.figure)
    assert "subjects" not in odrf.odt(FORMULA, whole, groups="subject", seed=1).nodes
