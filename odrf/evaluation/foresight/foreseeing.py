"""Foresee what a fit takes, from a few pilot trees."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, cast

import pandas as pd

from odrf.api.automatic import auto, models_of_stack
from odrf.api.boosting import odbt
from odrf.api.calling import boosting_of, default_options, design_of, options_of, spelled_call
from odrf.api.growth_request import TREE, requested
from odrf.api.guided_forests import graf, guided_control
from odrf.api.oblique_forests import odrf
from odrf.api.streamed_forests import OF_DESIGN
from odrf.api.trees import odt
from odrf.checks import checked_truth
from odrf.design import Design, TrainingData
from odrf.design.columns.frame import check_frame
from odrf.design.columns.missing import require_no_surrogates
from odrf.design.formulas.lookup import environment
from odrf.design.offset import offset_of
from odrf.design.streamed.blocks import ChunkBlocks
from odrf.design.streamed.streamed_design import learn_streamed_design
from odrf.engine.memory import times_available
from odrf.errors import InputError, UnknownArgumentError
from odrf.evaluation.foresight.forecast import Forecast
from odrf.evaluation.foresight.foresight import Foresight
from odrf.evaluation.foresight.of_all_rows import forecast_of_all_rows
from odrf.evaluation.foresight.of_boosting import forecast_of_boosting
from odrf.evaluation.foresight.of_forests import forecast_of_forest
from odrf.evaluation.foresight.of_guided import forecast_of_guided
from odrf.evaluation.foresight.of_stacks import forecast_of_stack
from odrf.evaluation.foresight.of_streamed import forecast_of_streamed
from odrf.evaluation.foresight.of_trees import forecast_of_tree
from odrf.evaluation.foresight.sampled_blocks import SampledBlocks
from odrf.fits.survival.boosted_survival_fit import require_boostable_times
from odrf.options.streamed_options import require_no_structure
from odrf.public.chunks import Chunks, ChunkSource, chunks_of
from odrf.public.decorating import in_partitions
from odrf.public.frames import in_pandas
from odrf.public.names_elsewhere import suggestion
from odrf.public.partitions import is_partitioned

__all__ = ["foresee"]


@in_partitions("data")
def foresee(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    model: Callable[..., Any] = odrf,
    progress: bool = False,
    **options: Any,
) -> Foresight:
    """Foresee the memory, the file and the time of a fit, without making it.

    A few pilot trees are grown: of a large forest on all rows, of a tree or a small forest on some
    of the rows.  In a forest of several kinds of trees they also tell how many trees of each kind
    there will be.  Everything else follows from the sizes of the arrays that growth makes.  It took
    6 to 48 % of the time of 27 fits; the largest share was that of a blend of few trees
    (``benchmarks/speed/foresight.py``).

    Rows in chunks are read only to learn the design, once or twice, as the fit does.  Meanwhile a
    random sample of up to 262,144 rows is kept, on which the pilot trees grow.  How often the fit
    reads all rows follows from the memory that is free or that ``Chunks(memory=)`` allows.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame, path or Chunks
        The rows of the fit: a data frame, or for `odrf.odrf` and `odrf.odt` any other source of
        rows that they take, but for a data frame of Dask.
    model : {odrf.odrf, odrf.odt, odrf.odbt, odrf.graf, odrf.auto}, default odrf.odrf
        The function that would make the fit.
    progress : bool, default False
        Show a progress bar of the pilot trees, or of the rounds of boosting.
    **options
        Its arguments.  Trees are taken to grow in the threads of `n_jobs`, whatever `backend` is.

    Returns
    -------
    Foresight
        With ``peak_bytes``, ``fit_bytes``, ``file_bytes``, ``seconds``, ``fits``, ``table`` and
        ``summary()``.

    Raises
    ------
    InputError
        If `model` is another function, an option is invalid, boosted trees have
        ``leaf_values="refit"``, or `data` is a data frame of Dask, whose trees may grow on other
        machines.
    MemoryError
        If not even the table fits into memory, or of rows in chunks one tree.

    Notes
    -----
    Not counted are the data frame itself, and what compilation takes in the first fit of a process.
    Of `odrf.auto`, the models are foreseen that every fit has; the notes say which ones only the
    fit itself can tell.

    Of rows in chunks, the time that they take to come is that of the first passes: a disk that is
    slower or faster later is not counted.  What reading them takes of memory is what the process
    has grown by meanwhile, so that it is small if it has read such rows before.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> odrf.foresee("cultivar ~ .", data, model=odrf.odbt, n_trees=50, seed=1).fits
    True

    Rows in chunks:

    >>> parts = [data[:90], data[90:]]
    >>> print(odrf.foresee("cultivar ~ .", parts, n_trees=50, seed=1).notes[0])
    Rows of trees are gathered from all chunks once, and judged once.
    """
    if model not in (odt, odrf, odbt, graf, auto):
        raise InputError(
            f"model={model!r}: use odrf.odrf, odrf.odt, odrf.odbt, odrf.graf or odrf.auto"
        )
    given, shown = _with_defaults(model, options), checked_truth("progress", progress)
    env, chunks = environment(2), chunks_of(data) if model in (odt, odrf) else None
    call = spelled_call(model, formula, given)
    table = cast("pd.DataFrame", in_pandas(data) if chunks is None else data)
    began = perf_counter()
    if chunks is not None:
        forecast = _of_chunks(model, formula, chunks, given, env, shown)
    elif model is odbt:
        forecast = _of_boosting(formula, table, given, env, shown)
    else:
        if model is not odt:
            require_no_surrogates(given["missing"])
        grown = model in (odt, odrf)
        design, training = design_of(formula, table, given, env, with_times=grown)
        forecast = _of_design(model, given, design, training, table, began, shown)
    return Foresight.of(call, forecast, times_available(1.0), given)


def _of_design(
    model: Callable[..., Any],
    given: dict[str, Any],
    design: Design,
    training: TrainingData,
    data: pd.DataFrame,
    began: float,
    shown: bool,
) -> Forecast:
    if model is graf:
        control = guided_control(given, design)
        frame = data if training.complete.all() else data[training.complete]
        return forecast_of_guided(design, training, frame, control, perf_counter() - began, shown)
    if model is auto:
        models = models_of_stack(given, design, training)
        return forecast_of_stack(design, training, *models, perf_counter() - began, shown)
    request = requested(model, given, TREE if model is odt else {})
    of = forecast_of_tree if request.is_single_tree else forecast_of_forest
    return of(design, training, request, perf_counter() - began, shown)


def _of_chunks(
    model: Callable[..., Any],
    formula: str,
    chunks: Chunks,
    given: dict[str, Any],
    env: Any,
    shown: bool,
) -> Forecast:
    began = perf_counter()
    if is_partitioned(chunks.source):
        raise InputError(
            "a data frame of Dask is not foreseen, as trees may grow on other machines: write it "
            "to a folder of Parquet files, and give the path"
        )
    require_no_structure(given)
    if model is not odt:
        require_no_surrogates(given["missing"])
    request = requested(model, given, TREE if model is odt else {})
    seen = SampledBlocks(ChunkBlocks(chunks, given["weights"]))
    arguments = {name: given[name] for name in OF_DESIGN}
    rows = learn_streamed_design(formula, seen, env=env, progress=shown, **arguments)
    of = forecast_of_all_rows if model is odt else forecast_of_streamed
    return of(rows, request, seen, perf_counter() - began - seen.sampling, shown)


def _of_boosting(
    formula: str, data: pd.DataFrame, options: dict[str, Any], env: Any, progress: bool
) -> Forecast:
    began = perf_counter()
    check_frame(data)
    offsets = offset_of(options["offset"], data)
    require_no_surrogates(options["missing"])
    design, training = design_of(formula, data, options, env, offsets.column, with_times=True)
    control = boosting_of(options, design, training)
    if training.times is not None:
        require_boostable_times(design, training, control)
    if control.plan.refit:
        raise InputError(
            'leaf_values="refit" is not foreseen: the time of its rounds grows with their number'
        )
    offsets = offsets.keeping(training.complete)
    seconds = perf_counter() - began
    return forecast_of_boosting(design, training, offsets, control, seconds, progress)


def _with_defaults(model: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return all options of a model; raise `InputError` for a name that it does not have."""
    defaults = default_options(model)
    for name in options:
        if name not in defaults:
            raise UnknownArgumentError(
                f"{model.__name__}() has no argument {name!r}{suggestion(name, defaults)}"
            )
    return options_of({**defaults, **options})
