"""Long names: short enough, and still told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odrf.text.names import shortened, shortened_names


@given(st.text(max_size=40), st.integers(3, 30))
def test_a_shortened_name_keeps_both_ends(name, most):
    short = shortened(name, most)
    assert len(short) <= most
    if len(name) <= most:
        assert short == name
    else:
        begin, end = short.split("…", 1) if "…" not in name else (short[:1], short[-1:])
        assert name.startswith(begin) and name.endswith(end)


def test_names_that_differ_in_the_middle_stay_different():
    names = [f"answer_of_the_household_to_question_{k}_of_the_poll_of_2020" for k in range(170)]
    short = shortened_names(names, 20)
    assert len(set(short)) == 170
    assert max(map(len, short)) <= 20


def test_names_that_differ_at_an_end_are_cut_in_the_middle():
    names = [f"{k}_answer_of_the_household_to_question" for k in range(20)]
    assert shortened_names(names, 20)[7] == shortened(names[7], 20)


def test_equal_names_stay_equal():
    names = ["the_same_name_for_two_things"] * 2
    assert shortened_names(names, 12) == [shortened(names[0], 12)] * 2


def test_names_that_differ_in_two_places_are_numbered():
    names = [f"{'a' * 20}{x}{'b' * 20}{y}{'c' * 20}" for x in "pq" for y in "rs"]
    short = shortened_names(names, 15)
    assert len(set(short)) == 4
    assert max(map(len, short)) <= 15


def test_numbers_are_not_cut():
    names = [f"spectrum_channel_{k}_absorbance" for k in (112, 119, 169)]
    short = shortened_names(names, 20)
    assert [text.split("…")[1][:4] for text in short] == ["112_", "119_", "169_"]
