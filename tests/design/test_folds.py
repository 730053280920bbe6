"""Folds."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    block_of_times,
    check_held_out_once,
    fold_numbers,
    fold_of_groups,
    fold_of_rows,
    folds_apart,
    held_out_share,
    last_times,
    most_folds,
    read_division,
    rolling_origin,
    strata_cells,
    structured_folds,
)
from odrf.design.structure import RowStructure
from odrf.errors import InputError as InputErrorStructured
from reference import folds as reference


@pytest.mark.parametrize("k", [2, 5, 10])
def test_folds_are_of_one_size_and_classes_dealt_out_evenly(k):
    y = np.repeat([0.0, 1.0, 2.0], [50, 33, 4])
    fold = fold_of_rows(y, 3, k, 7)
    assert np.ptp(np.bincount(fold, minlength=k)) <= 1
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label], minlength=k)) <= 1
    assert (fold_of_rows(y, 3, k, 7) == fold).all()
    assert (fold_of_rows(y, 3, k, 8) != fold).any()


def test_folds_of_numbers_do_not_follow_them():
    y = np.arange(1000.0)
    fold = fold_of_rows(y, 1, 10, 3)
    assert np.bincount(fold).tolist() == [100] * 10
    assert abs(np.corrcoef(fold, y)[0, 1]) < 0.1


@given(st.integers(2, 30), st.integers(0, 30), st.integers(2, 10), st.sampled_from([1, 3]))
def test_rows_of_weight_are_divided_evenly(positive, none, k, n_classes):
    rng = np.random.default_rng(1)
    weights = rng.permutation(np.repeat([1.0, 0.0], [positive, none]))
    y = rng.integers(0, n_classes, len(weights)).astype(float)
    fold = fold_of_rows(y, n_classes, k, 5, weights)
    for each in (weights > 0, weights >= 0):
        sizes = np.bincount(fold[each], minlength=k)
        assert sizes.max() - sizes.min() <= 1
    if none == 0:
        assert fold.tolist() == fold_of_rows(y, n_classes, k, 5).tolist()


def codes(least=1, most=40):
    """Codes 0, 1, … of rows, each of which occurs."""
    drawn = st.lists(st.integers(0, 9), min_size=least, max_size=most)
    return drawn.map(lambda numbers: np.unique(numbers, return_inverse=True)[1].astype(np.int64))


def two_codes(least=2):
    pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=least, max_size=40)
    return pairs.map(
        lambda pairs: [
            np.unique(numbers, return_inverse=True)[1].astype(np.int64)
            for numbers in zip(*pairs, strict=True)
        ]
    )


@given(two_codes(), st.integers(2, 6), st.integers(0, 99))
def test_groups_are_dealt_out_as_the_plain_twin_does(drawn, k, seed):
    groups, strata = drawn
    fold = fold_of_groups(groups, strata, k, seed)
    assert fold.tolist() == reference.dealt_groups(groups.tolist(), strata.tolist(), k, seed)


@given(two_codes(), st.integers(2, 6), st.integers(0, 99))
def test_groups_stay_whole_and_no_fold_is_empty(drawn, k, seed):
    groups, strata = drawn
    fold = fold_of_groups(groups, strata, k, seed)
    for group in np.unique(groups):
        assert len(set(fold[groups == group])) == 1
    if k <= groups.max() + 1:
        assert set(fold) == set(range(k))


@given(codes(), st.integers(2, 6), st.integers(0, 99))
def test_without_strata_folds_differ_by_no_more_than_the_largest_group(groups, k, seed):
    fold = fold_of_groups(groups, np.zeros_like(groups), k, seed)
    assert np.ptp(np.bincount(fold, minlength=k)) <= np.bincount(groups).max()


def test_strata_keep_their_shares_in_folds_of_whole_groups():
    rng = np.random.default_rng(2)
    size = rng.integers(1, 12, 200)
    groups = np.repeat(np.arange(200), size)
    strata = np.repeat(rng.choice(3, 200, p=[0.7, 0.2, 0.1]), size)
    fold = fold_of_groups(groups, strata, 5, 1)
    share = np.array([np.bincount(strata[fold == f]) / np.bincount(strata) for f in range(5)])
    assert np.abs(share - 0.2).max() < 0.02
    assert (fold_of_groups(groups, strata, 5, 2) != fold).any()


@given(codes(2), st.integers(1, 6))
def test_blocks_of_time_are_those_of_the_plain_twin(order, k):
    k = min(k, int(order.max()) + 1)
    block = block_of_times(order, k)
    assert block.tolist() == reference.blocks(order.tolist(), k)
    assert set(block) == set(range(k))
    assert (np.diff(block[np.argsort(order)]) >= 0).all()
    for time in np.unique(order):
        assert len(set(block[order == time])) == 1


def test_blocks_of_different_times_are_of_one_size():
    order = np.random.default_rng(1).permutation(103)
    assert np.ptp(np.bincount(block_of_times(order, 10))) <= 1


@given(codes(6), st.integers(1, 5))
def test_in_time_only_rows_after_the_training_rows_are_tested(order, k):
    k = min(k, int(order.max()))
    folds = rolling_origin(order, k)
    for (train, test), twin in zip(folds, reference.rolled(order.tolist(), k), strict=True):
        assert (np.flatnonzero(train).tolist(), np.flatnonzero(test).tolist()) == twin
        assert test.any() and train.any()
        assert order[train].max() < order[test].min()
    tested = np.sum([test for _, test in folds] + [np.zeros_like(order)], axis=0)
    assert (tested == (block_of_times(order, k + 1) > 0)).all()


@given(codes(1), st.floats(0.01, 0.99))
def test_the_last_rows_are_those_of_the_plain_twin(order, share):
    held = last_times(order, share)
    assert held.tolist() == reference.last(order.tolist(), share)
    assert held.any()
    if order.max() > 0:
        assert order[~held].max() < order[held].min()


def test_a_fold_holds_out_the_rows_of_one_number():
    folds = folds_apart(np.array([0, 1, 2, 1]), 3)
    assert [test.tolist() for _, test in folds][1] == [False, True, False, True]
    assert all((train != test).all() for train, test in folds)


# ------------------------------------------------------------------------------------------------
# Folds that the argument `cv` asks for.
# ------------------------------------------------------------------------------------------------

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


# ------------------------------------------------------------------------------------------------
# Folds of rows with strata, groups and classes, beside rows of weight 0.
#
# A fit has none of these now; one of an older version may have.
# ------------------------------------------------------------------------------------------------


def rows(weights, n_classes=1, y=None, events=None, **codes) -> RowsToDivide:
    weights = np.array(weights, dtype=float)
    y = np.zeros(len(weights)) if y is None else np.array(y, dtype=float)
    return RowsToDivide(y, n_classes, weights, RowStructure(**codes), events)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_weight_of_each_stratum_are_divided_evenly(seed):
    strata = np.repeat([0, 1], [9, 11])
    weights = np.r_[np.ones(4), np.zeros(5), np.ones(2), np.zeros(9)]
    fold = fold_numbers(rows(weights, strata=strata), 3, seed)
    assert np.bincount(fold[weights > 0]).tolist() == [2, 2, 2]
    assert np.ptp(np.bincount(fold[(weights > 0) & (strata == 0)], minlength=3)) == 1
    assert np.ptp(np.bincount(fold)) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_rows_of_weight_are_divided_evenly(seed):
    groups = np.arange(48) // 4
    weights = (groups < 4).astype(float)
    fold = fold_numbers(rows(weights, groups=groups), 4, seed)
    assert np.bincount(fold[weights > 0]).tolist() == [4] * 4
    assert np.bincount(fold).tolist() == [12] * 4


def test_cells_are_those_of_stratum_class_and_whether_there_is_weight():
    strata, y = np.array([0, 0, 0, 1, 1, 1, 0]), np.array([0, 1, 0, 0, 0, 1, 0])
    given = rows([1, 2, 0, 1, 0, 3, 5], 2, y, strata=strata)
    cells = strata_cells(given)
    labels = list(zip(strata.tolist(), y.tolist(), [1, 1, 0, 1, 0, 1, 1], strict=True))
    for i, one in enumerate(labels):
        assert [label == one for label in labels] == (cells == cells[i]).tolist()
    assert sorted(set(cells.tolist())) == list(range(len(set(labels))))


def test_there_are_as_many_folds_as_units():
    ones = np.ones(6)
    assert most_folds(rows(ones)) == 6
    assert most_folds(rows(ones, groups=np.array([4, 4, 9, 9, 9, 2]))) == 3
    # the first time is trained on only
    assert most_folds(rows(ones, order=np.array([0, 0, 1, 2, 2, 3]))) == 3


def test_folds_without_events_or_classes_in_training_are_refused():
    events = np.array([True, False, False, False])
    with pytest.raises(InputErrorStructured, match=r"no events.* use more rows with events"):
        structured_folds(rows(np.ones(4), events=events), 2, 1)
    # an event without weight is none
    with pytest.raises(InputErrorStructured, match="no events"):
        structured_folds(rows([1, 0, 1, 1], events=np.array([True, True, False, False])), 2, 1)
    with pytest.raises(InputErrorStructured, match=r"all of one class.* groups="):
        structured_folds(rows(np.ones(4), 2, [0, 0, 1, 1], groups=np.array([0, 0, 1, 1])), 2, 1)
    with pytest.raises(
        InputErrorStructured, match=r"all have weight 0.* leave out rows of weight 0"
    ):
        structured_folds(rows([1, 0, 0, 0]), 2, 1)
    order = np.array([0, 0, 1, 1])
    with pytest.raises(InputErrorStructured, match="so that more rows come first"):
        structured_folds(rows(np.ones(4), 2, [0, 0, 1, 1], order=order), 1, 1)


# ------------------------------------------------------------------------------------------------
# A share of the rows held out once.
# ------------------------------------------------------------------------------------------------

N_OF_HELD_OUT_SHARE = 200
RNG = np.random.default_rng(1)
Y_OF_HELD_OUT_SHARE = RNG.normal(size=N_OF_HELD_OUT_SHARE)


def held(rows, share=0.25, seed=3):
    return held_out_share(rows, share, np.random.default_rng(seed))


def test_rows_are_drawn_at_random():
    rows = RowsToDivide(Y_OF_HELD_OUT_SHARE, 1)
    assert held(rows).sum() == 50
    assert (held(rows) == held(rows)).all() and (held(rows) != held(rows, seed=4)).any()


def test_groups_are_held_out_whole():
    groups = RNG.integers(0, 20, N_OF_HELD_OUT_SHARE)
    out = held(RowsToDivide(Y_OF_HELD_OUT_SHARE, 1, structure=RowStructure(groups=groups)))
    assert not set(groups[out]) & set(groups[~out])
    assert len(set(groups[out])) == 5


def test_the_last_rows_are_held_out():
    order = RNG.permutation(N_OF_HELD_OUT_SHARE) // 2
    out = held(RowsToDivide(Y_OF_HELD_OUT_SHARE, 1, structure=RowStructure(order=order)))
    assert out.sum() == 50
    assert order[~out].max() < order[out].min()


@pytest.mark.parametrize("groups", [None, np.arange(N_OF_HELD_OUT_SHARE)])
def test_strata_and_classes_keep_their_shares_of_held_out_share(groups):
    strata, classes = (
        np.arange(N_OF_HELD_OUT_SHARE) % 4 // 3,
        np.arange(N_OF_HELD_OUT_SHARE) // 4 % 2,
    )
    structure = RowStructure(groups=groups, strata=strata)
    out = held(RowsToDivide(classes.astype(float), 2, structure=structure))
    cells = 2 * strata + classes
    assert np.abs(np.bincount(cells[out]) - np.bincount(cells) / 4).max() <= 1


def test_rows_without_weight_are_not_held_out():
    weights = (np.arange(N_OF_HELD_OUT_SHARE) % 3 > 0).astype(float)
    for structure in (
        None,
        RowStructure(groups=np.arange(N_OF_HELD_OUT_SHARE) // 5),
        RowStructure(order=np.arange(N_OF_HELD_OUT_SHARE)),
    ):
        out = held(RowsToDivide(Y_OF_HELD_OUT_SHARE, 1, weights, structure))
        assert out.any() and not out[weights == 0].any()


def test_the_same_share_of_events_is_held_out():
    events = np.arange(N_OF_HELD_OUT_SHARE) % 5 == 0
    out = held(RowsToDivide(Y_OF_HELD_OUT_SHARE, 1, events=events))
    assert out[events].sum() == 10
    assert out.sum() == 50
