"""Studies of rows that belong together: groups, an order in time, strata."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import odrf
from odrf import InputError, bias_variance, compare, learning_curve, tune

SUBJECTS, EACH = 12, 6
N = SUBJECTS * EACH


@pytest.fixture(scope="module")
def table():
    """12 subjects with 6 rows each, which are alike, in random order; a time, a stratum."""
    rng = np.random.default_rng(5)
    subject = rng.permutation(np.repeat(np.arange(SUBJECTS), EACH))
    own = rng.normal(size=(SUBJECTS, 3))
    data = pd.DataFrame(own[subject, :2] + rng.normal(size=(N, 2)) / 20, columns=["a", "b"])
    data["y"] = own[subject, 2] + rng.normal(size=N) / 20
    data["c"] = np.where(rng.random(N) < 0.5, "no", "yes")
    data["subject"] = [f"s{number}" for number in subject]
    data["time"] = rng.permutation(N)
    data["site"] = np.where(subject < 3, "small", "large")
    return data


class Watching:
    """A model that remembers what it was fitted to, and predicts the mean."""

    def __init__(self):
        self.fits = []

    def __call__(self, formula, data, groups=None, order=None, strata=None, seed=None):
        self.groups, self.order, self.strata = groups, order, strata
        self.train = data
        self.mean = data["y"].mean()
        self.fits.append(self)
        watched = Watching()
        watched.__dict__.update(self.__dict__)
        self.fits[-1] = watched
        return watched

    def predict(self, newdata):
        self.test = newdata
        return np.full(len(newdata), self.mean)


def watched(study, table, **options):
    model = Watching()
    study("y ~ a + b", table, {"one": model, "two": Watching()}, n_jobs=1, seed=1, **options)
    return model.fits


def test_groups_are_in_one_fold(table):
    fits = watched(compare, table, groups="subject", cv=4)
    tested = [set(table["subject"][fit.test.index]) for fit in fits]
    assert [len(names) for names in tested] == [3, 3, 3, 3]
    assert len(set.union(*tested)) == SUBJECTS
    for fit in fits:
        assert not set(table["subject"][fit.train.index]) & set(table["subject"][fit.test.index])
        # models get the groups of their training rows
        assert len(fit.groups) == len(fit.train) and fit.order is None
        names = table["subject"][fit.train.index].to_numpy()
        assert len(set(zip(names, fit.groups, strict=True))) == SUBJECTS - 3


def test_values_do_as_well_as_a_column(table):
    one, other = (
        watched(compare, table, groups=groups, cv=3)
        for groups in ("subject", table["subject"].sample(frac=1, random_state=1))
    )
    assert [list(fit.test.index) for fit in one] == [list(fit.test.index) for fit in other]


def test_in_time_later_rows_are_tested(table):
    for fit in watched(compare, table, order="time", cv=3):
        assert table["time"][fit.train.index].max() < table["time"][fit.test.index].min()
        assert (np.argsort(fit.order) == np.argsort(table["time"][fit.train.index])).all()


def test_strata_keep_their_shares(table):
    small = table["site"] == "small"
    for fit in watched(compare, table, strata="site", cv=6):
        assert small[fit.test.index].sum() == 3
        assert len(set(fit.strata)) == 2


def test_such_columns_are_no_predictors_unless_they_are_named(table):
    fits = watched(compare, table, groups="subject", strata="site", cv=3)
    assert not {"subject", "site"} & set(fits[0].train.columns)
    models = {"all": odrf.odt, "sites": ("y ~ a + site", odrf.odt)}
    compare("y ~ .", table, models, groups="subject", strata="site", cv=3, seed=1)


@pytest.mark.parametrize("formula", ["y ~ . - subject", "y ~ a + b + subject:a"])
def test_a_formula_may_name_the_column_of_the_groups(table, formula):
    models = {"one": odrf.odt, "two": partial(odrf.odt, max_leaves=3)}
    compare(formula, table, models, groups="subject", cv=3, seed=1)
    learning_curve(formula, table, models, groups="subject", sizes=[10, 20, 40], repeats=1)


def test_errors_of_new_subjects_are_larger(table):
    models = {"forest": partial(odrf.odrf, n_trees=30), "line": LinearRegression()}
    by_rows = compare("y ~ a + b", table, models, cv=4, seed=1)
    by_groups = compare("y ~ a + b", table, models, cv=4, seed=1, groups="subject")
    assert by_groups.table["estimate"]["forest"] > 5 * by_rows.table["estimate"]["forest"]
    assert by_groups.folds.by == "4-fold cross-validation of whole groups"
    assert by_groups.folds.by in str(by_groups.summary())
    assert "cv=4, groups='subject', metric=" in by_groups.call


def least(tuning):
    return tuning.table.drop(columns="std_error").select_dtypes("number").iloc[:, -1].min()


def test_tune_follows_groups_out_of_bag_and_in_folds(table):
    grid, fixed = {"min_leaf": [1, 20]}, {"n_trees": 30, "seed": 1}
    by_rows = tune("y ~ a + b", table, grid, **fixed)
    for options in ({}, {"method": "cv", "cv": 4}):
        tuned = tune("y ~ a + b", table, grid, groups="subject", **options, **fixed)
        assert least(tuned) > 5 * least(by_rows)
        best = tuned.best()
        assert best.fit.data.structure.n_groups == SUBJECTS


def test_out_of_bag_errors_need_a_model_that_takes_groups(table):
    def forest(formula, data, min_leaf=1, seed=None):
        return odrf.odrf(formula, data, min_leaf=min_leaf, n_trees=5, seed=seed)

    with pytest.raises(InputError, match="model has no argument 'groups'"):
        tune("y ~ a", table, {"min_leaf": [1, 5]}, model=forest, groups="subject")


def test_learning_curves_hold_out_whole_groups(table):
    for fit in watched(learning_curve, table, groups="subject", sizes=[10, 20, 40], repeats=2):
        train, test = table["subject"][fit.train.index], table["subject"][fit.test.index]
        assert not set(train) & set(test)
        assert len(test) == 3 * EACH
        # all but the last group are whole
        assert (train.value_counts() < EACH).sum() <= 1


def test_learning_curves_in_time_test_the_last_rows(table):
    for fit in watched(learning_curve, table, order="time", sizes=[10, 20, 40], repeats=2):
        assert table["time"][fit.train.index].max() < table["time"][fit.test.index].min()
        assert len(fit.test) == N // 4


def test_learning_curves_keep_the_shares_of_strata(table):
    small = table["site"] == "small"
    for fit in watched(learning_curve, table, strata="site", sizes=[12, 24, 48], repeats=2):
        assert abs(small[fit.train.index].mean() - 0.25) < 0.1
        assert abs(small[fit.test.index].mean() - 0.25) < 0.1


def test_bias_and_variance_of_new_groups(table):
    model = Watching()
    source = ("y ~ a + b", table)
    result = bias_variance(source, model, [12, 20], repeats=3, groups="subject", seed=1, n_jobs=1)
    assert result.experiment.test_rows == N // 2
    for fit in model.fits:
        train, test = table["subject"][fit.train.index], table["subject"][fit.test.index]
        assert not set(train) & set(test)
        assert (train.value_counts() < EACH).sum() <= 1
        assert len(fit.groups) == len(train)
    with pytest.raises(InputError, match="groups= is for a table"):
        bias_variance(odrf.simulate.friedman1(), odrf.odt, 50, groups="subject")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "subjects"}, "groups='subjects' is not a column.*did you mean 'subject'"),
        ({"groups": "subject", "cv": 13}, r"cv=13 is not a number of folds: use 2 to 12 \(the gr"),
        ({"order": "site"}, "order= must be numbers"),
        ({"groups": "subject", "order": "time"}, "groups= and order= say two things"),
        ({"groups": [1, 2]}, "groups has length 2"),
        ({"order": "time", "repeats": 2}, "every repeat has the same folds"),
    ],
)
def test_structures_that_cannot_be(table, options, message):
    with pytest.raises(InputError, match=message):
        compare("y ~ a + b", table, {"one": odrf.odt, "two": odrf.odt}, **options)


def test_several_tables_have_columns_of_one_name(table):
    models = {"one": odrf.odt, "two": odrf.odt}
    tables = {"first": table, "second": table.drop(columns="subject")}
    with pytest.raises(InputError, match="table 'second': groups='subject' is not a column"):
        compare("y ~ a + b", tables, models, groups="subject")


@pytest.mark.parametrize("kind", ["groups", "order", "strata"])
def test_a_tree_is_pruned_by_the_structure_of_its_rows(table, kind):
    column = {"groups": "subject", "order": "time", "strata": "site"}[kind]
    tree = odrf.odt("y ~ a + b", table, alpha=None, seed=1, **{kind: column})
    path = tree.pruning_path(cv=4)
    words = {"groups": " of whole groups", "order": " in time", "strata": ""}[kind]
    assert f"4-fold cross-validation{words}" in str(path.summary())
    labels = np.arange(N) % 4
    assert "4 given folds" in str(tree.pruning_path(cv=labels).summary())


def test_the_size_of_a_tree_is_that_for_new_groups(table):
    by_rows = odrf.odt("y ~ a + b", table, seed=1)
    by_groups = odrf.odt("y ~ a + b", table, seed=1, groups="subject")
    assert by_groups.n_leaves < by_rows.n_leaves


def test_selections_of_variables_are_evaluated_by_other_groups(table):
    forests = [
        odrf.odrf("y ~ a + b", table, n_trees=30, seed=1, **more)
        for more in ({}, {"groups": "subject"})
    ]
    by_rows, by_groups = (forest.select_variables() for forest in forests)
    assert by_groups.table["error"].min() > 5 * by_rows.table["error"].min()
    assert by_groups.best().fit.data.structure.n_groups == SUBJECTS
    assert (by_groups.table["std_error"] > by_rows.table["std_error"]).all()


@pytest.mark.parametrize("fit", [odrf.odt, odrf.graf, odrf.odbt])
def test_importances_are_evaluated_by_other_groups(table, fit):
    options = {} if fit is odrf.odt else {"n_trees": 20}
    made = [
        fit("y ~ a + b", table, seed=1, **options, **more).importance()
        for more in ({}, {"groups": "subject"}, {"order": "time"})
    ]
    first, second, third = (table.iloc[:, 0].sum() for table in made)
    assert second < first
    assert np.isfinite(third)
