"""Folds that the argument `cv` asks for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from odrf import InputError
from odrf.design.folds import (
    RowsToDivide,
    check_held_out_once,
    fold_numbers,
    fold_of_rows,
    folds_apart,
    most_folds,
    read_division,
)
from odrf.design.structure import RowStructure

N = 20
Y = np.random.default_rng(1).normal(size=N)
LABELS = np.arange(N) % 2
ROWS, CLASSES = RowsToDivide(Y, 1), RowsToDivide(LABELS.astype(float), 2)
INDEX = pd.RangeIndex(N)


def read(cv, rows=ROWS, **more):
    return read_division(cv, rows, INDEX, **more)


def same(folds, pairs):
    assert [np.flatnonzero(fold.train).tolist() for fold in folds] == [list(a) for a, _ in pairs]
    assert [np.flatnonzero(fold.test).tolist() for fold in folds] == [list(b) for _, b in pairs]


def test_a_number_gives_random_folds():
    division = read(np.int64(5))
    expected = folds_apart(fold_of_rows(Y, 1, 5, 3), 5)
    for fold, other in zip(division.folds(ROWS, 3), expected, strict=True):
        assert (fold.test == other.test).all() and (fold.train == other.train).all()
    assert division.words(5, ROWS) == "5-fold cross-validation"


@pytest.mark.parametrize("cv", [1, 21, 2.0, "10", True, None, {"k": 5}, object()])
def test_what_is_no_number_of_folds(cv):
    with pytest.raises(InputError, match=r"use 2 to 20 \(the rows\).*, or None"):
        read(cv, otherwise=", or None")


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pd.Categorical])
def test_labels_are_folds(kind):
    labels = np.array(list("cab"))[np.arange(N) % 3]
    division = read(kind(labels))
    folds = division.folds(ROWS, 1)
    assert [set(labels[fold.test]) for fold in folds] == [{"c"}, {"a"}, {"b"}]
    assert all((fold.train != fold.test).all() for fold in folds)
    assert division.words(3, ROWS) == "cross-validation on 3 given folds"


def test_labels_of_a_series_belong_to_rows_by_its_index():
    labels = pd.Series(LABELS).sample(frac=1, random_state=1)
    assert (read(labels).labels == LABELS).all()


def test_labels_can_be_those_of_all_rows_of_the_table():
    used = np.arange(N + 5) >= 5
    labels = [None] * 5 + list(LABELS)
    assert (read(labels, used=used).labels == LABELS).all()
    assert (read(list(LABELS), used=used).labels == LABELS).all()


def test_labels_of_a_series_for_all_rows_belong_to_them_by_its_index():
    used = np.arange(N + 5) >= 5
    of_all = pd.Series([0] * 5 + list(LABELS), index=np.arange(N + 5) - 5)
    for labels in (of_all, of_all.sample(frac=1, random_state=1)):
        assert (read(labels, used=used).labels == LABELS).all()
    with pytest.raises(InputError, match="other row labels than the data"):
        read(of_all.set_axis(np.arange(N + 5)[::-1] + 7), used=used)


def test_labels_can_be_a_column():
    data = pd.DataFrame({"site": np.array(["x", "y"])[LABELS]})
    assert (read("site", data=data, used=np.ones(N, dtype=bool)).labels == LABELS).all()
    with pytest.raises(InputError, match=r"cv='sit' is not a column.*did you mean 'site'"):
        read("sit", data=data)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1] * N, "cv has one label, 1, for all rows"),
        ([1, 2], "cv has length 2 and the data 20 rows"),
        ([None, *range(N - 1)], "cv leaves 1 rows without a fold"),
        ([[1], [2]] * 10, "cv holds values that are no labels"),
    ],
)
def test_labels_that_are_no_folds(labels, message):
    with pytest.raises(InputError, match=message):
        read(labels)


def test_folds_without_which_one_class_is_left():
    with pytest.raises(InputError, match=r"training rows of fold 1 are all of one class.*cv="):
        read(LABELS, CLASSES).folds(CLASSES, 1)


@pytest.mark.parametrize(
    ("weighted", "structure", "way_out"),
    [
        (slice(12, None), RowStructure(order=np.arange(N)), "order=: use fewer folds"),
        (slice(5), RowStructure(groups=np.arange(N) // 5), "groups=: use fewer folds"),
        (slice(1), None, "weights=: leave out rows"),
    ],
)
def test_folds_without_which_no_row_has_weight(weighted, structure, way_out):
    weights = np.zeros(N)
    weights[weighted] = 1.0
    rows = RowsToDivide(ROWS.y, 1, weights, structure)
    with pytest.raises(InputError, match=f"fold [1-4] all have weight 0.*{way_out}"):
        read(4, rows).folds(rows, 1)


def test_splitters_of_scikit_learn():
    X = np.zeros((N, 1))
    splitter = KFold(4, shuffle=True, random_state=1)
    same(read(splitter).folds(ROWS, 9), list(splitter.split(X)))
    splitter = TimeSeriesSplit(3)
    same(read(splitter).folds(ROWS, 9), list(splitter.split(X)))
    splitter = StratifiedKFold(3)
    same(read(splitter, CLASSES).folds(CLASSES, 9), list(splitter.split(X, LABELS)))
    groups = np.arange(N) // 4
    rows = ROWS._replace(structure=RowStructure(groups=groups))
    same(read(GroupKFold(3), rows).folds(rows, 1), list(GroupKFold(3).split(X, Y, groups)))
    assert read(splitter).words(3, ROWS) == "cross-validation by StratifiedKFold"


def test_a_splitter_without_a_seed_gets_one_and_stays_as_it_is():
    splitter = KFold(4, shuffle=True)
    division = read(splitter)
    first, again, other = (division.folds(ROWS, seed) for seed in (1, 1, 2**40))
    assert all((a.test == b.test).all() for a, b in zip(first, again, strict=True))
    assert any((a.test != b.test).any() for a, b in zip(first, other, strict=True))
    assert splitter.random_state is None


class Splitting:
    """A splitter that returns what it is given."""

    def __init__(self, *pairs):
        self.pairs = pairs

    def split(self, X, y=None, groups=None):
        return iter(self.pairs)


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (GroupKFold(3), r"cv=GroupKFold\(\) does not divide the 20 rows: .*groups"),
        (KFold(30), r"cv=KFold\(\) does not divide the 20 rows: .*n_splits=30"),
        (KFold, "cv=KFold is a class"),
        (Splitting(([0, 1], [2])), "makes 1 folds"),
        (Splitting(([0, 1], [2]), ([0], [0, 1])), "1 rows of fold 2 both train and test"),
        (Splitting(([0, 1], [2]), ([0], [])), "fold 2 has no rows to train, or none to test"),
        (Splitting(([0, 1], [2]), ([0], [40])), "does not divide the 20 rows"),
        (Splitting([0, 1, 2]), "does not divide the 20 rows"),
    ],
)
def test_splitters_that_do_not_fit_the_rows(splitter, message):
    with pytest.raises(InputError, match=message):
        read(splitter).folds(ROWS, 1)


@pytest.mark.parametrize(
    "splitter", [ShuffleSplit(5, random_state=0), RepeatedKFold(n_splits=2, n_repeats=2)]
)
def test_rows_held_out_more_than_once_are_counted(splitter):
    with pytest.raises(InputError, match="rows out more than once"):
        check_held_out_once(read(splitter).folds(ROWS, 1))
    check_held_out_once(read(TimeSeriesSplit(3)).folds(ROWS, 1))


def test_folds_follow_the_structure_of_the_rows():
    groups, times = np.arange(N) // 5 + 7, np.arange(N)[::-1] // 2
    grouped = ROWS._replace(structure=RowStructure(groups=groups))
    for fold in read(4, grouped).folds(grouped, 1):
        assert len(set(groups[fold.test])) == 1 and (fold.train != fold.test).all()
    timed = ROWS._replace(structure=RowStructure(order=times))
    for fold in read(4, timed).folds(timed, 1):
        assert times[fold.train].max() < times[fold.test].min()
    assert (most_folds(ROWS), most_folds(grouped), most_folds(timed)) == (20, 4, 9)
    assert read(4, grouped).words(4, grouped) == "4-fold cross-validation of whole groups"
    assert read(4, timed).words(4, timed) == "4-fold cross-validation in time"
    with pytest.raises(InputError, match=r"use 2 to 4 \(the groups\)"):
        read(5, grouped)
    with pytest.raises(InputError, match=r"use 2 to 9 \(the times after the first\)"):
        read(10, timed)
    one = ROWS._replace(structure=RowStructure(groups=np.zeros(N, dtype=np.int64)))
    with pytest.raises(InputError, match="the groups are 1, too few for 2 folds"):
        read(2, one)


def test_strata_and_classes_keep_their_shares():
    strata = np.arange(40) % 2
    classes = np.arange(40) // 2 % 2
    rows = RowsToDivide(classes.astype(float), 2, None, RowStructure(strata=strata))
    for fold in read_division(5, rows, pd.RangeIndex(40)).folds(rows, 1):
        cells = np.bincount(2 * strata[fold.test] + rows.y[fold.test].astype(int))
        assert cells.tolist() == [2, 2, 2, 2]


def test_a_structure_without_contents_changes_nothing():
    empty = CLASSES._replace(structure=RowStructure(), weights=np.arange(N) % 3 * 1.0)
    plain = empty._replace(structure=None)
    assert (fold_numbers(empty, 3, 1) == fold_numbers(plain, 3, 1)).all()


def test_a_table_can_be_divided_by_what_only_looks_like_a_splitter():
    splitter = SimpleNamespace(split=lambda X, y, groups: [([0], [1]), ([1], [0])])
    assert len(read(splitter).folds(ROWS, 1)) == 2


def of_times(events, **more):
    return RowsToDivide(Y, 1, events=events, **more)


def test_folds_have_the_same_share_of_events():
    events = np.arange(N) % 4 == 0
    fold = fold_numbers(of_times(events), 5, 1)
    assert np.bincount(fold[events]).tolist() == [1] * 5
    assert np.bincount(fold).tolist() == [4] * 5
    groups = np.arange(N) // 2
    fold = fold_numbers(of_times(events, structure=RowStructure(groups=groups)), 5, 1)
    assert np.bincount(fold[events]).tolist() == [1] * 5
    same(
        read(StratifiedKFold(5), of_times(events)).folds(of_times(events), 1),
        list(StratifiedKFold(5).split(np.zeros(N), events)),
    )


def test_without_censoring_folds_are_those_of_numbers():
    rows = of_times(np.ones(N, dtype=bool))
    assert fold_numbers(rows, 5, 1).tolist() == fold_numbers(ROWS, 5, 1).tolist()
    assert len(read(5, rows).folds(rows, 1)) == 5


@pytest.mark.parametrize(
    ("cv", "weights"), [(5, None), (LABELS, None), (5, np.where(np.arange(N) < 2, 0.0, 1.0))]
)
def test_training_rows_without_events_are_refused(cv, weights):
    events = np.arange(N) == (4 if weights is None else 0)
    rows = of_times(events, weights=weights)
    with pytest.raises(InputError, match="have no events"):
        read(cv, rows).folds(rows, 1)
