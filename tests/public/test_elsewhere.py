"""Names of other packages: one table answers them, and the page shows the same."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import odrf
from odrf.api.load import RESULTS
from odrf.errors import AbsentError, InputError
from odrf.public.elsewhere import NAMES, PARTS, as_markdown, entry_of
from signatures import callables

PAGE = (Path(__file__).parents[2] / "vignettes" / "from-r.md").read_text(encoding="utf-8")
ARGUMENTS = {name for each in callables().values() for name in inspect.signature(each).parameters}
MEMBERS = {name for kind in RESULTS.values() for name in dir(kind)}
DATA = odrf.load_data("penguins")
PACKAGES = ("randomForest", "ranger", "rpart", "party and partykit", "ODRF", "aorsf", "grf")


def test_the_page_shows_the_table():
    assert PAGE.endswith(f"\n\n{as_markdown()}\n")


def test_each_name_has_one_entry():
    assert all(entry_of(name) is entry for name, entry in NAMES.items())


def test_each_name_here_exists():
    for name, entry in NAMES.items():
        assert entry.here or entry.write, name
        assert entry.here.keys() <= {*ARGUMENTS, *MEMBERS, "random_state"}, name
        for method in re.findall(r"\b(?:fit|tree|forest|boosted)\.(\w+)", entry.write):
            assert method in MEMBERS, (name, method)
        for argument in re.findall(r"(\w+)=", entry.write):
            assert argument in {*ARGUMENTS, "axis"}, (name, argument)


def names_of_r():
    """Of each row of the page's tables: the package, each name on the left, and the right side."""
    for package in PACKAGES:
        for line in PAGE.split(f"\n## {package}\n")[1].split("\n## ")[0].splitlines():
            cells = line.strip("| ").split(" | ")
            if line.startswith("| `") and len(cells) == 2:
                for code in re.findall(r"`([^`]+)`", cells[0]):
                    name = re.fullmatch(r"(?:fit\$)?([A-Za-z][\w.]*)(?: = .*)?", code)
                    if name:
                        yield package.split()[0], name[1], cells[1]


def test_the_page_says_of_each_package_what_errors_say():
    checked, differ = 0, []
    for package, name, right in names_of_r():
        entry = entry_of(name)
        if entry is None or right[0] == "–":  # a function, or the same name here, with dots there
            continue
        assert package in entry.packages, (package, name)
        text = "".join([*entry.here.values(), entry.write])
        words = {*entry.here, *re.findall(r"\.(\w+)", text), *text.split("`")[1::2]}
        words = words or {text.partition(":")[0]}
        differ += [(package, name)] * (not any(word.strip("=") in right for word in words))
        checked += 1
    assert differ == []
    assert checked > 50


def test_arguments_of_the_page_are_in_the_table_or_have_the_same_name():
    functions = {"tuneRF", "rpart_rules", "survival_forest", "lmtree", "M5P", "cubist"}
    known = {*ARGUMENTS, *MEMBERS, *functions}
    unknown = [
        name
        for _, name, right in names_of_r()
        if entry_of(name) is None and name.replace(".", "_") not in known and right[0] != "–"
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("function", "name", "said"),
    [
        (odrf.odt, "prior", "did you mean 'class_weights'? They are factors"),
        (odrf.odt, "cost", "predictors have no costs here"),
        (odrf.odt, "minsplit", "did you mean 'min_leaf'? It counts the rows of a leaf"),
        (odrf.graf, "minsplit", "did you mean 'min_split'?"),
        (odrf.odt, "parms", "use criterion= for its split"),
        (odrf.odt, "xval", "of a fit use tree.pruning_path(cv=10)"),
        (odrf.odrf, "ntree", "did you mean 'n_trees'?"),
        (odrf.odt, "ntree", "it is n_trees of other functions or fits"),
        (odrf.odt, "control", "its parts are arguments here: min_leaf="),
        (odrf.odt, "loss", "use class_weights=, or choose the class with the least mean loss"),
        (odrf.odrf, "sample.fraction", "did you mean 'sample_fraction'?"),
        (odrf.odrf, "num.trees", "did you mean 'n_trees'?"),
        (odrf.odrf, "leaf_min_obs", "did you mean 'min_leaf'?"),
        (odrf.odrf, "MinLeaf", "did you mean 'min_leaf'?"),
        (odrf.odrf, "cutoff", "/ cutoff).idxmax(axis=1)"),
        (odrf.odrf, "proximity", "use fit.proximity()"),
        (odrf.odbt, "n_iter_no_change", "did you mean 'patience'?"),
    ],
)
def test_a_name_of_another_package_is_answered_by_what_it_is_here(function, name, said):
    with pytest.raises(InputError) as caught:
        function("species ~ .", DATA, **{name: 1})
    assert said in str(caught.value)


@pytest.fixture(scope="module")
def tree():
    return odrf.odt("species ~ bill_length_mm + bill_depth_mm", DATA, max_leaves=3, seed=1)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cptable", ": use fit.pruning_path().table"),
        ("where", ': use tree.predict(type="leaf")'),
        ("err", ": use forest.error_path"),
        ("frame", "; did you mean 'nodes'?"),
        ("importance_", "; did you mean 'importance'?"),
        ("feature_importances_", "; did you mean 'importance'? It is a method."),
        ("confusion", "; did you mean 'confusion_matrix'?"),
        ("predict_proba", ': use fit.predict(new, type="prob")'),
        ("prdict", "; did you mean 'predict'?"),
        ("ntree", ": it is n_trees of other functions or fits"),
        ("of_no_package", ""),
    ],
)
def test_a_part_of_other_fits_is_answered_by_what_it_is_here(tree, name, said):
    with pytest.raises(AbsentError) as caught:
        getattr(tree, name)
    assert str(caught.value) == f"ODTResults has no {name!r}{said}"
    assert caught.value.name is None  # Python adds no guess of its own
    assert not hasattr(tree, name)


def test_what_a_fit_lacks_is_said_in_the_words_of_its_kind(tree):
    with pytest.raises(AbsentError, match=r"^ODTResults has no 'oob_error': it is of forests"):
        tree.oob_error  # noqa: B018


def test_parts_are_not_those_of_any_result_here():
    assert not [name for name in PARTS if name in MEMBERS]
