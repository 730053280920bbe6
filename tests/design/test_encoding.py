from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from odrf.design.columns import Values
from odrf.design.encoding import (
    BASIS,
    INDICATORS,
    PLAIN,
    GatheredLevels,
    learn_encoding,
    observed_levels,
    unseen_levels_expected,
    unseen_levels_refused,
)
from odrf.errors import InputError


def values(data, name="x", **marks):
    data = data if isinstance(data, pd.DataFrame) else pd.Series(data)
    return Values(name, data, **marks)


@pytest.mark.parametrize(
    "data", [[0, 1], [False, True], pd.array([0, 1], dtype="Int8"), pd.Series([0, 1], dtype=object)]
)
def test_numbers_stay(data):
    encoding = learn_encoding(values(data))
    assert (encoding.type, encoding.suffixes) == (PLAIN, ("",))
    np.testing.assert_array_equal(encoding.encode(values(data)), [[0.0, 1.0]])


def test_text_becomes_one_indicator_per_level():
    encoding = learn_encoding(values(["b", "a", "b"]))
    assert (encoding.type, encoding.suffixes) == (INDICATORS, ("[a]", "[b]"))
    np.testing.assert_array_equal(encoding.encode(values(["a", "b"])), [[1, 0], [0, 1]])


def test_categories_keep_their_order_and_unobserved_ones_go():
    data = pd.Categorical(["mid", "low"], categories=["low", "never", "mid"])
    assert learn_encoding(values(data)).suffixes == ("[low]", "[mid]")


def test_a_category_without_a_row_may_come_and_has_no_indicator():
    data = pd.Categorical(["mid", "low"], categories=["low", "never", "mid"])
    encoding = learn_encoding(values(data))
    new = pd.Series(["never", "mid", "low", "other"])
    with pytest.warns(UserWarning, match=r"has: 'never', 'other' in 2 rows .* 'low', 'mid'\. They"):
        found = encoding.encode(values(new))
    np.testing.assert_array_equal(found, [[0, 0, 1, 0], [0, 1, 0, 0]])


def test_of_given_levels_those_without_a_row_have_an_indicator_that_is_never_1():
    encoding = learn_encoding(values(["a", "b"], nominal=True, levels=("c", "b", "a")))
    with pytest.warns(UserWarning, match="has: 'c' in 1 row .* known are 'b', 'a'"):
        found = encoding.encode(values(["a", "c"]))
    np.testing.assert_array_equal(found, [[0, 0], [0, 0], [1, 0]])
    with pytest.raises(InputError, match="'x' has values that are not among its levels: 'b'"):
        learn_encoding(values(["a", "b"], nominal=True, levels=("c", "a")))


def test_nothing_is_said_where_unseen_levels_are_expected():
    encoding = learn_encoding(values(["a", "b"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with unseen_levels_expected():
            found = encoding.encode(values(["c", "a"]))
    np.testing.assert_array_equal(found, [[0, 1], [0, 0]])


def test_levels_match_by_value_whatever_the_type_that_holds_them():
    encoding = learn_encoding(values(pd.Categorical([1, 2])))
    np.testing.assert_array_equal(encoding.encode(values([2.0, 1.0])), [[0, 1], [1, 0]])
    text = learn_encoding(values(["a", "b"]))
    for same in (pd.Categorical(["b"]), pd.array(["b"], "string"), pd.Series(["b"], dtype=object)):
        np.testing.assert_array_equal(text.encode(values(same)), [[0], [1]])


def test_ordered_categories_become_ranks():
    dtype = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    encoding = learn_encoding(values(pd.Series(["high", "low"], dtype=dtype)))
    assert (encoding.type, encoding.suffixes) == (PLAIN, ("",))
    np.testing.assert_array_equal(encoding.encode(values(["low", "mid", "high"])), [[1, 2, 3]])


def test_marked_categories():
    assert learn_encoding(values([3, 1], nominal=True)).suffixes == ("[1]", "[3]")
    ordered = pd.Categorical(["b", "a"], categories=["b", "a"], ordered=True)
    assert learn_encoding(values(ordered, nominal=True)).suffixes == ("[b]", "[a]")
    given = learn_encoding(values(["a"], nominal=True, levels=("c", "a")))
    assert given.suffixes == ("[c]", "[a]")


def test_several_columns_are_a_basis():
    encoding = learn_encoding(values(pd.DataFrame([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])))
    assert (encoding.type, encoding.suffixes) == (BASIS, ("[0]", "[1]"))
    block = encoding.encode(values(pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])))
    np.testing.assert_array_equal(block, [[1, 3], [2, 4]])
    assert learn_encoding(values(pd.DataFrame([[1.0], [3.0]]))).type == PLAIN


def test_observed_levels_are_sorted_not_in_order_of_appearance():
    assert observed_levels(pd.Series(["b", "c", "a", "b"])).tolist() == ["a", "b", "c"]


def test_unseen_levels():
    encoding = learn_encoding(values(["a", "b"]))
    new = pd.Series(["z", "a", "z"], index=[4, 5, 6])
    message = r"'x' has levels that .* has: 'z' in 2 rows \(index 4, 6\); known are 'a', 'b'"
    with pytest.warns(UserWarning, match=message):
        encoding.encode(values(new))


def test_many_unseen_levels_are_cut_short():
    encoding = learn_encoding(values([f"k{i}" for i in range(30)] * 2))
    with pytest.warns(UserWarning, match=r"and 15 more in 20 rows.*'k17' and 20 more\. They"):
        encoding.encode(values([f"u{i}" for i in range(20)]))


def test_unseen_levels_of_several_factors_are_said_together():
    encodings = [learn_encoding(values(["a", "b"], name=f"x{j}")) for j in range(5)]

    def encode(number):
        with GatheredLevels(as_missing=True):
            for j, encoding in enumerate(encodings[:number]):
                encoding.encode(values(["z", "a"], name=f"x{j}"))

    both = r"^2 factors have levels .*: 'x0' has 'z' in 1 row \(index 0\); 'x1' has .*\)\. They"
    with pytest.warns(UserWarning, match=both) as said:
        encode(2)
    assert len(said) == 1
    with pytest.warns(UserWarning, match=r"^5 factors .*'x2' has .*; and 2 more factors\. They"):
        encode(5)
    with pytest.warns(UserWarning, match=r"^4 factors .*; and 1 more factor\. They"):
        encode(4)
    with pytest.warns(UserWarning, match=r"^'x0' has levels .*known are 'a', 'b'\. They"):
        encode(1)
    refused = r"^5 factors .* more factors\. Recode these rows, or fit with unseen="
    with unseen_levels_refused(), pytest.raises(InputError, match=refused):
        encode(5)


def test_a_number_of_columns_that_changes():
    encoding = learn_encoding(values(pd.DataFrame(np.ones((3, 2)))))
    with pytest.raises(InputError, match="gave 2 columns in training and gives 3 now"):
        encoding.encode(values(pd.DataFrame(np.ones((3, 3)))))


def test_several_columns_that_are_not_numbers():
    with pytest.raises(InputError, match="'u' is not numeric"):
        learn_encoding(values(pd.DataFrame({"u": ["a", "b"]})))


def test_a_level_given_twice():
    with pytest.raises(InputError, match="a level twice"):
        learn_encoding(values(["a"], nominal=True, levels=("a", "a")))
