"""The design of rows in chunks is that of the same rows in one data frame."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.design.blocks import ChunkBlocks
from odrf.design.chunks import learn_streamed_design
from odrf.design.ranks import OwnRanks
from odrf.engine.factors import layout_of, stored
from odrf.errors import InputError
from odrf.public.chunks import Chunks

OPTIONS = {"kind": "auto", "missing": "split", "unseen": "missing"}
FORMULAS = (
    "y ~ .",
    "c ~ . - when",
    "y ~ a + b + log(a + 9) + f:g + a:f + I(a * b) + when",
    "log(y + 20) ~ a:b + f:g:a + t + C(k) + C(k):a",
    "o ~ h + a:h + f + np.where(a > 0, 1, 0)",
    "y ~ o + flag + late + span",
    "y ~ np.column_stack((a, t)) + f.str.upper() + span:a",
)


def table(seed: int, n: int, holes: bool) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "y": rng.normal(size=n).round(2),
            "a": rng.normal(size=n).round(3),
            "b": rng.integers(-5, 6, n),
            "c": rng.choice(["no", "yes", "perhaps"], n),
            "f": rng.choice(list("xyz"), n),
            "g": pd.Categorical(rng.choice(list("uv"), n), list("wvu")),
            "h": rng.choice([f"level {i}" for i in range(12)], n),
            "k": rng.integers(0, 4, n),
            "o": pd.Categorical(
                rng.choice(["low", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "t": rng.integers(0, 3, n) * 1.5,
            "flag": rng.random(n) < 0.5,
            "when": pd.Timestamp("2020-03-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "late": pd.Timestamp("2020-03-01", tz="Europe/Zurich")
            + pd.to_timedelta(rng.integers(0, 9000, n), "h"),
            "span": pd.to_timedelta(rng.integers(0, 900, n), "min"),
        }
    )
    if holes:
        for name in ("a", "f", "h", "t", "when", "y"):
            data[name] = data[name].mask(rng.random(n) < 0.2)
    return data


def learned(formula: str, frames: list[pd.DataFrame], **options):
    arguments = {**OPTIONS, "weights": None, "class_weights": None, **options}
    env = EvalEnvironment.capture()
    source = ChunkBlocks(Chunks(frames), arguments["weights"])
    return learn_streamed_design(formula, source, env=env, **arguments)


def in_one_frame(formula: str, data: pd.DataFrame, **options):
    return build_design(formula, data, env=EvalEnvironment.capture(), **{**OPTIONS, **options})


def assert_same(rows, design, training) -> None:
    found = rows.design
    assert found.columns == design.columns
    assert found.predictors == design.predictors
    assert found.first.tolist() == design.first.tolist()
    assert found.types.tolist() == design.types.tolist()
    assert found.recipe.holes.tolist() == design.recipe.holes.tolist()
    assert found.schema == design.schema
    assert found.response.kind == design.response.kind
    if design.response.classes is not None:
        assert found.response.classes.equals(design.response.classes)
        assert found.response.ordered == design.response.ordered
    for mine, other in zip(found.recipe.variables, design.recipe.variables, strict=True):
        if hasattr(other.encoding, "levels"):
            assert mine.encoding.levels.equals(other.encoding.levels)
        if hasattr(other.encoding, "absent"):
            assert mine.encoding.absent.equals(other.encoding.absent)
    scaling = found.scaling
    assert np.array_equal(scaling.range, design.scaling.range)
    assert np.array_equal(scaling.holes, design.scaling.holes)
    means = scaling.holes
    assert np.array_equal(scaling.low[~means], design.scaling.low[~means])
    assert np.allclose(scaling.low[means], design.scaling.low[means], rtol=1e-12, atol=1e-12)
    blocks = list(rows.blocks())
    X = np.concatenate([stored(block.X) for block in blocks], axis=1)
    assert np.allclose(X, stored(training.X), rtol=0, atol=1e-6, equal_nan=True)
    layout, other = layout_of(blocks[0].X), layout_of(training.X)
    assert (layout is None) == (other is None)
    assert layout is None or layout.place.tolist() == other.place.tolist()
    assert np.array_equal(np.concatenate([block.y for block in blocks]), training.y)
    weights = np.concatenate([block.weights for block in blocks])
    assert np.allclose(weights, training.weights, rtol=1e-12)
    assert (rows.n, rows.n_dropped) == (training.n_rows, training.n_dropped)
    assert rows.missing_columns == training.missing_columns
    assert rows.empty_cells == training.empty_cells


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small tables have several."""
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 16)


@settings(max_examples=15)
@given(
    formula=st.sampled_from(FORMULAS),
    seed=st.integers(0, 99),
    n=st.integers(40, 90),
    cuts=st.lists(st.integers(0, 90), max_size=4),
    holes=st.booleans(),
)
def test_the_design_is_that_of_one_data_frame(formula, seed, n, cuts, holes):
    data = table(seed, n, holes)
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    frames = [data[a:b] for a, b in pairwise(ends)]
    design, training = in_one_frame(formula, data)
    if any(isinstance(each.encoding, OwnRanks) for each in design.recipe.variables):
        return
    assert_same(learned(formula, frames), design, training)


@pytest.mark.parametrize("cuts", [[], [20, 41]])
def test_levels_that_meet_only_where_the_number_is_empty_have_their_column(cuts):
    formula, data = FORMULAS[3], table(49, 67, holes=True)
    frames = [data[a:b] for a, b in pairwise([0, *cuts, 67])]
    assert_same(learned(formula, frames), *in_one_frame(formula, data))


@settings(max_examples=6)
@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_the_chunks_change_no_bit(seed, cuts):
    data = table(seed, 60, holes=True)
    ends = [0, *sorted(cuts), 60]
    frames = [data[a:b] for a, b in pairwise(ends)]
    one, other = learned("y ~ .", [data]), learned("y ~ .", frames)
    assert np.array_equal(one.design.scaling.low, other.design.scaling.low)
    for mine, its in zip(one.blocks(), other.blocks(), strict=True):
        assert np.array_equal(stored(mine.X), stored(its.X), equal_nan=True)
        assert np.array_equal(mine.numbers, its.numbers)


@pytest.mark.parametrize("response", ["k", "flag", "np.sign(b)", "C(b)"])
def test_numbers_as_classes(response):
    data = table(5, 80, holes=False)
    rows = learned(f"{response} ~ a + f", [data[:30], data[30:]], kind="classification")
    assert_same(rows, *in_one_frame(f"{response} ~ a + f", data, kind="classification"))


@pytest.mark.parametrize("missing", ["split", "drop"])
@pytest.mark.parametrize("class_weights", [None, "balanced", {"no": 2.0}])
def test_weights_and_rows_left_out(missing, class_weights):
    data = table(5, 80, holes=True).assign(w=np.arange(80) % 5 * 1e-15)
    data.loc[7, "w"] = np.nan
    options = {"missing": missing, "class_weights": class_weights, "weights": "w"}
    formula = "c ~ a + f + b"
    rows = learned(formula, [data[:30], data[30:]], **options)
    assert_same(rows, *in_one_frame(formula, data, **options))
    assert rows.n_positive == (np.concatenate([b.weights for b in rows.blocks()]) > 0).sum()


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ center(a)", "'center\\(a\\)' learns from all rows at once"),
        ("y ~ bs(a, 4)", "learns from all rows"),
        ("standardize(y) ~ a", "learns from all rows"),
        ("y ~ I(a - a.mean())", "depends on other rows than its own"),
        ("y ~ when:a", "'when' holds dates, whose products"),
        ("y ~ nothing", "'nothing' is not a column"),
        ("y ~ empty", "'empty' is missing in every training row"),
        ("y ~ name", "'name' is text with 64 different values in 64 rows"),
        ("y ~ half", "'half' is text with 32 different values in 32 rows"),
        ("same ~ a", "'same' is constant"),
        ("y ~ far", "'far' is infinite or not a number"),
        ("y ~ mixed", "'mixed' holds mixed values"),
    ],
)
def test_what_chunks_cannot_give_is_refused_by_name(formula, words):
    data = table(1, 64, holes=False).assign(empty=np.nan, same=1.0, far=1.0, mixed=1)
    data["name"] = [f"name {i}" for i in range(64)]
    data["half"] = data["name"].where(np.arange(64) % 2 == 0, None)
    data.loc[40, "far"] = np.inf
    data["mixed"] = data["mixed"].astype(object)
    data.loc[50, "mixed"] = "one"
    with pytest.raises(InputError, match=words):
        learned(formula, [data[:20], data[20:]])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"missing": "median"}, "all values of a column at once"),
        ({"missing": "raise"}, "rows have missing values"),
        ({"weights": "no"}, "weights='no' is not a column"),
        ({"weights": "b"}, "weights of rows 0 to 15 has . negative values"),
        ({"weights": "zero"}, "0 rows with response .* and a weight above 0"),
        ({"kind": "numbers"}, "kind='numbers' is not known"),
    ],
)
def test_options_that_do_not_go(options, words):
    data = table(1, 64, holes=True).assign(zero=0.0)
    with pytest.raises(InputError, match=words):
        learned("c ~ a + f", [data], **options)


def test_columns_that_would_be_ranked_are_named():
    data = table(1, 64, holes=False).assign(id=10**17 + np.arange(64))
    data.loc[0, "id"] = 0
    with pytest.warns(UserWarning, match="32 bits cannot tell many values of 'id' apart"):
        rows = learned("y ~ a + id", [data[:16], data[16:]])
    assert rows.design.scaling.range[1] == 10**17 + 63


def test_too_many_levels(monkeypatch):
    monkeypatch.setattr("odrf.design.column_profile.MOST", 20)
    data = table(1, 64, holes=False)
    with pytest.raises(InputError, match="'h:f' has more than 20 levels in 32 rows"):
        learned("y ~ a + h + h:f", [data])


@pytest.mark.parametrize("size", [64, 16], ids=["in one block", "in several blocks"])
def test_pieces_of_text_whose_types_differ(monkeypatch, size):
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", size)
    data = table(1, 64, holes=False)
    odd = data[32:].assign(b=["n.a.", *data["b"][33:].astype(str)])
    said = r"'b' holds numbers in some chunks and text in others, such as 'n\.a\.' in chunk 2"
    with pytest.raises(InputError, match=said):
        learned("y ~ a + b", [data[:32], odd])
    empty = data[32:].assign(f=np.nan, b=data["b"][32:] + 0.5)
    assert learned("y ~ a + b + f", [data[:32], empty]).n == 64


@pytest.mark.parametrize("size", [64, 16], ids=["in one block", "in several blocks"])
def test_an_order_that_differs_between_chunks_is_refused(monkeypatch, size):
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", size)
    data = table(1, 64, holes=False)
    data["o"] = pd.Categorical(["low", "mid", "high", "low"] * 16, ["low", "mid", "high"], True)
    fewer = data[data["o"] != "mid"].copy()
    fewer["o"] = fewer["o"].cat.remove_unused_categories()
    said = r"'o' is an ordered factor with the levels 'low', .* in some chunks, and not in others"
    for chunks in ([data, fewer], [fewer, data], [data, fewer.astype({"o": str})]):
        with pytest.raises(InputError, match=said):
            learned("y ~ a + o", chunks)
    plain = [chunk.astype({"o": str}).astype({"o": "category"}) for chunk in (data, fewer)]
    assert learned("y ~ a + o", plain).n == 112
    unknown = data.assign(o=np.nan)
    assert learned("y ~ a + o", [data, unknown], missing="split").n == 128


TEXTS = {
    "price": [f"{i}.5 €" for i in range(64)],
    "day": pd.date_range("2020-01-01", periods=64).strftime("%d.%m.%Y").to_list(),
    "place": ["north", "North ", "south", "west"] * 16,
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_warned_of_as_in_memory(name):
    data = table(1, 64, holes=False).assign(text=TEXTS[name])
    data = pd.concat([data, data], ignore_index=True)
    with pytest.warns(UserWarning) as there:
        build_design("y ~ a + text", data, env=EvalEnvironment.capture(), **OPTIONS)
    for size in (128, 16):
        parts = [data[first : first + size] for first in range(0, 128, size)]
        with pytest.warns(UserWarning) as here:
            learned("y ~ a + text", parts)
        assert [str(each.message) for each in here] == [str(each.message) for each in there]


def test_too_few_rows():
    data = table(1, 3, holes=False)
    with pytest.raises(InputError, match="data has 1 rows"):
        learned("y ~ a", [data[:1]])
    with pytest.raises(InputError, match="no chunk"):
        learned("y ~ a", [])


def test_other_rows_in_the_next_pass_are_noticed():
    data, walks = table(1, 64, holes=False), []

    def chunks():
        walks.append(1)
        return [data if len(walks) < 4 else data[::-1]]

    arguments = {**OPTIONS, "weights": None, "class_weights": None}
    rows = learn_streamed_design(
        "y ~ a + b", ChunkBlocks(Chunks(chunks)), env=EvalEnvironment.capture(), **arguments
    )
    assert len(list(rows.blocks())) == 4
    with pytest.raises(InputError, match="another order"):
        list(rows.blocks())


def test_a_pass_of_fewer_rows_is_noticed():
    data, walks = table(1, 64, holes=False), []

    def chunks():
        walks.append(1)
        return [data if len(walks) < 3 else data[:32]]

    arguments = {**OPTIONS, "weights": None, "class_weights": None}
    env = EvalEnvironment.capture()
    rows = learn_streamed_design("y ~ a + b", ChunkBlocks(Chunks(chunks)), env=env, **arguments)
    with pytest.raises(InputError, match="other rows"):
        list(rows.blocks())


def test_chunks_without_a_column():
    data = table(1, 40, holes=False)
    with pytest.raises(InputError, match="chunk 2 of data lacks column 'a'"):
        learned("y ~ a + b", [data[:20], data[20:].drop(columns="a")])


@pytest.mark.parametrize("text_at", [0, 1, 2])
def test_the_chunk_with_text_among_numbers_is_named(text_at):
    data = table(5, 90, holes=False)
    frames = [data[:30], data[30:60], data[60:]]
    frames[text_at] = frames[text_at].assign(a=["n.a.", *frames[text_at]["a"].astype(str)[1:]])
    with pytest.raises(InputError, match=rf"'n\.a\.'.* in chunk {text_at + 1} of data"):
        learned("y ~ a + f", frames)


def test_the_file_with_text_among_numbers_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    data = table(5, 60, holes=False)[["y", "a"]]
    data[:30].to_parquet(tmp_path / "one.parquet")
    data[30:].assign(a="n.a.").to_parquet(tmp_path / "two.parquet")
    source = ChunkBlocks(Chunks(tmp_path))
    with pytest.raises(InputError, match=r"'a'.*two\.parquet"):
        learn_streamed_design(
            "y ~ a", source, env=EvalEnvironment.capture(), weights=None, class_weights=None,
            **OPTIONS,
        )  # fmt: skip
